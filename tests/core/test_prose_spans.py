"""What is told at a glance of quotes and brackets agrees with the thorough answer."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tscg
from tscg.operators.sdm import densify
from tscg.prose.classify import _untitled
from tscg.prose.sentences import _closes_all, _cut, literals, opens, split

MARKS = st.sampled_from(
    ["word ", "Word. ", "it's ", "'x' ", "'x y' ", "(a) ", "(", ") ", "'", "`a` ", '"b" ', '"', "users' ", "“c” ", "—"]
)
LINES = st.lists(MARKS, max_size=14).map("".join).filter(lambda text: "  " not in text)


@given(LINES.filter(lambda text: '"' not in text and "(" not in text and ")" not in text))
def test_a_line_is_cut_as_the_thorough_cutter_does(text: str) -> None:
    assert split(text) == _cut(text)


STOPS = st.sampled_from(
    "word |Word. |its |e.g. |etc. |No. |U.S. |J. |1. |2. |approx. |İ. |a.) |... |x.|v1.2 |go! |why? |好。|“c” |`a.b` |it's "
    "|'x. Y' |'x.' |  |\n|\n\n|\n- ".split("|")
)


@given(st.lists(STOPS, max_size=14).map("".join))
def test_lines_with_any_stops_are_cut_as_the_thorough_cutter_does(text: str) -> None:
    assert split(text) == _cut(text)


@given(st.lists(st.sampled_from(["(", ")", "a"]), max_size=8).map("".join))
def test_brackets_that_close(text: str) -> None:
    last_closes = 0 <= text.rfind(")") > text.rfind("(")
    assert _closes_all(text, "(", ")") == (last_closes and text.count("(") == text.count(")"))


@given(LINES)
def test_no_literal_goes_over_a_place_where_nothing_is_open(text: str) -> None:
    for at in [at for at, char in enumerate(text) if char == " "]:
        if not opens(text[: at + 1]) and '"' not in text and "(" not in text:
            assert not any(low <= at < high for low, high in literals(text))


@pytest.mark.parametrize(
    "text",
    [
        "Sort 'by the name' of it.",
        'Sort "by the name" of it.',
        "Sort “by the name” of it.",
        "Sort `by the name` of it.",
    ],
)
def test_articles_stay_in_quotes(text: str) -> None:
    assert densify(text) == text


def test_articles_go_behind_quotes() -> None:
    assert (
        densify("The 'first' of lists of the owner's teams in the shop.")
        == "The 'first' of lists of the owner's teams in shop."
    )


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('see "[must read](https://example.com)" now', "see   now"),
        ("see [a\nb] and [c", "see [a\nb] and [c"),
        ("see [[a] b]", "see   b]"),
    ],
)
def test_titles_of_documents_are_no_words(text: str, left: str) -> None:
    assert _untitled(text) == left


@pytest.mark.parametrize("name", ["_", "__", "___x", "_a", "é_", "$", "7"])
def test_a_name_without_letters_is_compiled(name: str) -> None:
    tool = {
        "name": name,
        "description": "Does it.",
        "inputSchema": {"properties": {name: {"type": "string", "description": "It."}}},
    }
    for profile in ("conservative", "balanced", "brief", "signature"):
        assert [found.name for found in tscg.decompile(tscg.compile([tool], profile=profile).text)] == [name]
