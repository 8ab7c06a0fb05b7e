"""Codes: one token each, drawn from the name, in a book that only grows."""

from __future__ import annotations

import random
from typing import Any

import pytest

import tscg
from tscg.costs import costs_of
from tscg.language.spelling import spelling_of
from tscg.modes.code_words import CODE_WORDS
from tscg.modes.codes import RESERVED, grown
from tscg.modes.dispatch import dispatch
from tscg.modes.parts import Parts
from tscg.tokenizers import is_exact, tokenizer_of

CODES = tscg.Dispatch(handles="codes")


def tools(*names: str) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    return [{"name": name, "inputSchema": schema} for name in names]


def test_the_words_are_one_token_each() -> None:
    tokenizer = tokenizer_of("o200k_base")
    if not is_exact(tokenizer):
        pytest.skip("no vocabulary of o200k_base is installed")
    assert len(CODE_WORDS) == len(set(CODE_WORDS)) > 2_500
    assert all(word.isascii() and word.islower() and 2 <= len(word) <= 4 for word in CODE_WORDS)
    assert [word for word in CODE_WORDS if tokenizer.count(word) != 1 or tokenizer.count(f" {word}") != 1] == []
    assert tokenizer.count(f"{CODE_WORDS[0]}999") == 2  # what comes when the words are used up


def test_lines_begin_with_the_code() -> None:
    compiled = tscg.compile(tools("list_issues", "get_me_now"), mode=CODES)
    codes = compiled.codes
    assert compiled.text.split("\n") == [f"{codes['get_me_now']} get_me_now x", f"{codes['list_issues']} list_issues x"]
    assert "code" in compiled.prompt.split("\n")[0]
    assert tscg.compile(tools("list_issues"), mode="dispatch").codes == {}


def test_codes_come_from_the_names() -> None:
    names = [f"tool_{i}" for i in range(300)]
    book = grown(None, names, [])
    assert grown(None, random.Random(1).sample(names, 300), []) == book
    kept = sum(grown(None, names[:150], [])[name] == book[name] for name in names[:150])
    assert kept >= 140  # only where two names fall on one word does a third tool matter


@pytest.mark.parametrize("size", [760, 10_000])
def test_mn_many_tools_have_codes_of_their_own(size: int) -> None:
    names = [f"tool{i:05}Do" for i in range(size)]
    book = grown(None, names, names)
    assert len(set(book.values())) == size
    assert all(code.isascii() and code.isalnum() and code == code.lower() and len(code) <= 6 for code in book.values())
    words = set(CODE_WORDS)
    assert sum(code in words for code in book.values()) == min(size, len(words - RESERVED))


def test_codes_go_on_behind_a_thousand_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tscg.modes.code_words.CODE_WORDS", ("qx",))
    book = grown(None, [f"t{i}" for i in range(1_010)], [])
    assert len(set(book.values())) == 1_010
    assert "qx" in book.values()
    assert "qx1008" in book.values()


def test_c51_mn_the_book_only_grows() -> None:
    book = grown(None, ["gh_close", "gh_delete"], [])
    later = grown(book, ["gh_close", "gh_comment", "gh_delete"], [])
    assert {name: later[name] for name in book} == book
    without = grown(later, ["gh_close"], [])
    assert without == later  # a code of a tool that is gone stays in the book
    again = grown(without, ["gh_close", "gh_new"], [])
    assert again["gh_new"] not in later.values()


def test_a_code_of_a_tool_that_is_gone_is_retired() -> None:
    book = grown(None, ["gone_tool", "kept_tool"], [])
    catalog = tscg.Catalog.from_tools(tools("kept_tool", "new_tool"))
    parts = Parts(
        tools=catalog,
        shown=catalog,
        spelling=spelling_of("o200k_base"),
        costs=costs_of("o200k_base"),
        codes=book,
    )
    sent = dispatch(CODES, parts)
    assert sent.retired == {book["gone_tool"]}
    assert sent.codes["kept_tool"] == book["kept_tool"]
    assert sent.codes.keys() == {"gone_tool", "kept_tool", "new_tool"}
    assert "gone_tool" not in sent.text


def test_codes_are_no_names_and_no_words_of_the_dispatcher() -> None:
    free = grown(None, ["some_tool"], [])["some_tool"]
    assert grown(None, ["some_tool"], [free.upper()])["some_tool"] != free
    compiled = tscg.compile(tools("some_tool", free), mode=CODES)
    assert set(compiled.codes.values()).isdisjoint({"some_tool", free, "call", "lookup"})
    assert RESERVED.isdisjoint(CODE_WORDS) or RESERVED.isdisjoint(grown(None, map(str, range(3_000)), []).values())


@pytest.mark.parametrize("book", [{"a": "qx", "b": "qx"}, {"a": ""}], ids=["twice", "empty"])
def test_a_broken_book_is_refused(book: dict[str, str]) -> None:
    with pytest.raises(tscg.ConfigError, match="book of codes"):
        grown(book, ["a"], [])
