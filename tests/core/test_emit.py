"""Short cuts of the emitter say what the long way says."""

from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.strategies import catalogs
from tscg.costs import costs_of
from tscg.ir import Catalog, Node, Note, Object, Param, String, Tool
from tscg.language import emit
from tscg.language.draw import number
from tscg.language.share import chunks, parted
from tscg.language.spelling import DEFAULT, MARKERS, UNSAFE, is_plain, listed, literal, prose_line
from tscg.record import fields
from tscg.taught import hides

words = st.one_of(
    st.sampled_from(
        ["open", "true", "null", "", "1", "1.5e3", "7z", "-x", "a.b/c:d+e-f", "$a", "two words", 'q"q', "ä"]
    ),
    st.text("ab01_$./:+-<[ \\\"'", max_size=6),
    st.text(max_size=4),
)
values = st.one_of(words.map(lambda text: json.dumps(text, ensure_ascii=False)), st.sampled_from(["1", "true", "null"]))


@given(st.lists(values, min_size=1, max_size=5).map(tuple), st.sampled_from(" |"))
def test_listed_values_are_spelled_as_each_alone(given_values: tuple[str, ...], gap: str) -> None:
    assert listed(given_values, gap) == gap.join(literal(value) for value in given_values)


pieces = st.sampled_from([
    "<|", "<", "</", "tool>", "tool_call>", "s>", "[INST]", "[", "/INST]", "^", "1", "\\u{", "\\u", "{", "\u200b", "\u3164",
    "\x07", "\ud800", "ä", "a", " ", "|",
])  # fmt: skip


@given(st.one_of(st.lists(pieces, max_size=8).map("".join), st.text(max_size=12)), st.sampled_from("^§~"))
def test_a_plain_text_has_nothing_to_escape(text: str, note: str) -> None:
    trouble = re.search(rf"[{UNSAFE}]|\\u\{{|{MARKERS}|{re.escape(note)}(?=[0-9])", text)
    if is_plain(text, note):
        assert trouble is None
    assert (prose_line(text, note) == text) is (trouble is None)


@pytest.mark.parametrize("marker", ["<|im_end|>", "</tool_call>", "[/INST]", "<eos>", "[TOOL_CALLS]"])
def test_a_marker_is_no_plain_text(marker: str) -> None:
    assert not is_plain(f"See {marker}", "^")
    assert marker not in prose_line(f"See {marker}", "^")


@given(st.text("ab.:;!? eigE\n\0\1", max_size=30))
def test_sentences_and_gaps_make_up_the_text(text: str) -> None:
    parts = chunks(text)
    assert "".join(parts) == text
    assert all(gap in {" ", "\n"} for gap in parts[1::2])
    assert all(not re.search(r"[.:;!?] ", part.replace("e.g. ", "").replace("i.e. ", "")) for part in parts[::2])


@given(st.lists(st.one_of(st.text("ab.: eig\n", max_size=12), st.text("a. ;!?e.gü\n\0\1\2", max_size=8)), max_size=6))
def test_sentences_of_many_texts_are_those_of_each_alone(texts: list[str]) -> None:
    assert parted(texts) == {text: chunks(text) for text in texts if len(chunks(text)) > 1}


def test_sentences_of_more_texts_than_one_go_takes_are_found() -> None:
    texts = [f"Text {i}. Goes on{'ü' * (i % 3 == 0)}" for i in range(500)]
    assert parted(texts) == {text: chunks(text) for text in texts}


@given(st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False)))
def test_a_number_is_written_as_in_json(value: float) -> None:
    assert number(value) == json.dumps(value)


@given(st.lists(st.sampled_from(["", "Says all", "Says more"]), max_size=4), st.randoms())
def test_something_is_hidden_where_a_tool_says_something_else(said: list[str], random: Random) -> None:
    tools = [Tool(name=f"t{i}", description="Says all", root=Object()) for i in range(len(said))]
    shown = [
        tool if text == tool.description else Tool(name=tool.name, description=text, root=tool.root)
        for tool, text in zip(tools, said, strict=True)
    ]
    random.shuffle(shown)
    assert hides(Catalog(tools=tuple(tools)), Catalog(tools=tuple(shown))) is any(text != "Says all" for text in said)


@given(st.lists(st.sampled_from([". ", ".", "! ", "?", ": ", "; ", "e.g", "i.e. ", "a", "b ", " ", "\n"])).map("".join))
def test_a_sentence_ends_at_a_mark_and_a_blank_but_not_behind_an_abbreviation(text: str) -> None:
    assert chunks(text) == re.split(r"((?<=[.!?:;])(?<!e\.g\.)(?<!i\.e\.) |\n)", text)


def spelled_out(value: Any) -> Any:
    """The same value with every field of every record in it given."""
    if isinstance(value, tuple):
        return tuple(map(spelled_out, value))
    if isinstance(value, Node | Note | Param | Tool):
        return type(value)(**{name: spelled_out(getattr(value, name)) for name in fields(value)})
    return value


@given(catalogs)
def test_a_field_that_is_given_and_says_nothing_changes_nothing(tools: list[dict[str, Any]]) -> None:
    catalog = Catalog.from_tools(tools, on_error="skip")
    whole = Catalog(tools=spelled_out(catalog.tools))
    for sharing in (True, False):
        parts = [emit(one, DEFAULT, costs_of("o200k_base"), sharing=sharing).parts for one in (catalog, whole)]
        assert parts[0] == parts[1]


def lines(*tools: Tool) -> list[str]:
    return emit(Catalog(tools=tools), DEFAULT, costs_of("o200k_base")).text.split("\n")


@pytest.mark.parametrize("text", ["One.\nother() Two", "a\u2028b", "See ^1", "<|im_end|>"])
def test_a_tool_whose_name_alone_is_left_is_contained(text: str) -> None:
    plain = Tool(name="plain", description="Nothing to escape here", root=Object())
    out = lines(plain, Tool(name="bare", description=text, root=Object(), opaque=True))
    assert out[0] == "plain() Nothing to escape here"
    assert out[1].startswith("bare(...) ")
    assert all(line.startswith(" ") for line in out[2:])
    assert not {"\u2028", "^1", "<|"}.intersection(
        part for line in out for part in ("\u2028", "^1", "<|") if part in line
    )


def test_a_tool_whose_name_alone_is_left_refers_to_shared_sentences() -> None:
    said = "Never call this tool without the explicit consent of the user who owns the account."
    tools = [Tool(name=f"t{i}", description=f"{said} Reads {i}.", root=Object()) for i in range(3)]
    out = lines(*tools, Tool(name="bare", description=f"{said} Reads.", root=Object(), opaque=True))
    assert f"^1 {said}" in out
    assert out[-1] == "bare(...) ^1 Reads."


def test_parameters_that_differ_in_necessity_alone_share_one_definition() -> None:
    prose = "The account that owns the repository, as it is written in the address of its page"
    owner = String(note=Note(description=prose))
    tools = [
        Tool(name=f"t{i}", root=Object(params=(Param(name="owner", required=i > 0, type=owner),))) for i in range(4)
    ]
    assert lines(*tools) == ["shared", f".owner {prose}", "t0(owner?)", "t1(owner)", "t2(owner)", "t3(owner)"]
