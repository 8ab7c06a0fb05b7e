"""Sentences: nothing is lost, nothing is cut in the middle."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tscg.prose.sentences import literals, split

CUTS: dict[str, tuple[str, ...]] = {
    "two": ("Find orders. ", "Never delete."),
    "eg": ("Find e.g. orders. ", "Never delete."),
    "ie-etc": ("Lists names, i.e. logins, e-mails, etc. and sizes. ", "Done."),
    "etc-ends": ("Lists names, etc. ", "Never delete."),
    "vs": ("Compares old vs. new lists. ", "Done."),
    "initials": ("Works in the U.S. Treasury by J. Smith. ", "Done."),
    "initials-end": ("Works in the U.S. ", "Never call it abroad."),
    "version": ("Reads config.json of v1.2 in .env files. ", "Done."),
    "number": ("Takes 1 to 10. ", "At most 3."),
    "ellipsis": ("Wait... then go. ", "Done."),
    "url": ("See https://example.com/a.b?c=d. ", "Done."),
    "code": ("Run `a. B` first. ", "Done."),
    "code-fence": ("Run this:\n", "```\na. B\nc. D\n```\n", "Done."),
    "quotes": ('Say "Stop. Now" twice. ', "Done."),
    "quote-ends": ('Say "Stop." ', "Then go."),
    "brackets": ("Sort it (see above. Always) twice. ", "Done."),
    "bracket-ends": ("(See above.) ", "Done."),
    "json": ('Example: {"a": "b. C", "d": [1. 2]}. ', "Done."),
    "json-lines": ("Example:\n", '{\n "a": "b. C"\n}\n', "Done."),
    "list": ("Do:\n", "- one. ", "Two\n", "- three\n", "End"),
    "numbers": ("1. First\n", "2. Second. ", "More\n", "10. Tenth"),
    "numbers-inline": ("Steps: 1. Sort it 2. Send it. ", "Done."),
    "question": ("Is it open? ", "Close it! ", "Done."),
    "cjk": ("列出订单。", "切勿删除！", "好"),
    "unclosed": ("Sort (by name. ", "Then go."),
    "one-word": ("Owner",),
    "stop-only": (".",),
}


@pytest.mark.parametrize("pieces", CUTS.values(), ids=CUTS)
def test_cuts(pieces: tuple[str, ...]) -> None:
    assert split("".join(pieces)) == pieces


def test_text_without_stop_is_one_sentence() -> None:
    text = "name, size, owner; " * 60
    assert split(text) == (text,)


def test_empty_text_has_no_sentence() -> None:
    assert split("") == ()


PIECES = st.sampled_from(
    [
        "e.g. ",
        "etc. ",
        "1. ",
        "word ",
        "Word. ",
        "(",
        ")",
        "`",
        '"',
        "'",
        "{",
        "}",
        "[",
        "]",
        "\n",
        "- ",
        "...",
        "U.S. ",
        "。",
        "!",
    ]
)
PROSE = st.one_of(st.text(), st.lists(PIECES, max_size=40).map("".join))


@given(PROSE)
def test_joined_sentences_are_the_text(text: str) -> None:
    pieces = split(text)
    assert "".join(pieces) == text
    assert all(pieces)


@given(PROSE)
def test_literals_lie_in_the_text(text: str) -> None:
    assert all(0 <= low < high <= len(text) for low, high in literals(text))


@pytest.mark.parametrize("unit", ["(", '"a', "[\n", "`", "'", "(\n", "{\n", "a. ", "1. ", "。", '" '], ids=repr)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    split(unit * 100)
    began = time.process_time()
    split(unit * (200_000 // len(unit)))
    assert time.process_time() - began < 2
