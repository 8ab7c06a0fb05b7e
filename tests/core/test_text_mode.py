"""Text mode: what is taught, the constrained form, lookups of hidden prose."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tscg
from tests.core.decode_samples import TOOLS, cuttings, kinds, surface
from tests.core.gbnf_reader import Grammar
from tscg.calls import Call, Decoded, ItemEvent, TextEvent
from tscg.decoders import Stream, decode
from tscg.decoders.marks import neutralise
from tscg.decoders.rows import ROWS
from tscg.modes.options import Text
from tscg.resolve import Surface
from tscg.taught import LOOKUPS, TAUGHT, hides, how_to_call, lookup_name, written
from tscg.tokenizers import tokenizer_of

OSLO: tuple[str, dict[str, Any]] = ("get_weather", {"city": "Oslo"})
PING: tuple[str, dict[str, Any]] = ("ping", {})


def read(text: str, made: Surface, finish_reason: str | None = None) -> Decoded:
    """The whole; every cutting must give the same, and no event may be taken back."""
    whole = decode(made, text, finish_reason)
    for pieces in cuttings(text):
        stream = Stream(made)
        events = [event for piece in pieces for event in stream.feed(piece)]
        assert stream.close(finish_reason) == whole, pieces[:4]
        assert whole.text.startswith("".join(event.text for event in events if isinstance(event, TextEvent)))
        given_items = [event.item for event in events if isinstance(event, ItemEvent)]
        assert list(whole.items[: len(given_items)]) == given_items
    return whole


def named(decoded: Decoded) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in decoded.calls]


# --- the taught rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
@pytest.mark.parametrize("constrained", [False, True], ids=["as text", "constrained"])
@pytest.mark.parametrize("dialect", TAUGHT)
def test_how_to_call_has_at_most_70_tokens(dialect: str, constrained: bool, encoding: str) -> None:
    count = tokenizer_of(encoding).count
    for must_call in (False, True):
        for parallel in (False, True):
            for lookup in ("", *LOOKUPS):
                text = how_to_call(
                    dialect, must_call=must_call, parallel=parallel, lookup=lookup, constrained=constrained
                )
                assert count(text) <= 70, text
                assert (lookup in text) if lookup and not must_call else ("query" not in text)


@pytest.mark.parametrize("dialect", TAUGHT)
def test_rows_are_read_as_they_are_taught(dialect: str) -> None:
    made = surface(dialect=dialect)
    text = written(made, [OSLO, PING])
    decoded = read(f"I look.\n{text}", made)
    assert named(decoded) == [OSLO, PING]
    assert all(call.repairs == () for call in decoded.calls)
    assert decoded.text.strip() == "I look."


@pytest.mark.parametrize("dialect", TAUGHT)
def test_markers_of_rows_are_made_harmless(dialect: str) -> None:
    row = TAUGHT[dialect]
    for mark in (row.opener, row.closer.removeprefix("]"), *row.answer):
        if mark:
            assert not neutralise(f"a {mark} b").startswith(f"a {mark}")


def test_dialects_of_rows_are_read() -> None:
    openers = [opener for row in ROWS for opener in row.openers]
    assert all(any(row.opener.startswith(opener) for opener in openers) for row in TAUGHT.values())


def test_a_dialect_is_taught_by_name() -> None:
    compiled = tscg.compile(TOOLS, mode=Text(dialect="mistral"))
    assert '[TOOL_CALLS][{"name":"NAME","arguments":{...}}]' in compiled.prompt
    assert compiled.stop == ("[TOOL_RESULTS]",)
    assert compiled.encode_call(Call(name="ping", arguments={})) == '[TOOL_CALLS][{"name":"ping","arguments":{}}]'
    with pytest.raises(tscg.ConfigError, match="react"):
        tscg.compile(TOOLS, mode=Text(dialect="react"))


# --- constrained ------------------------------------------------------------------------------------------------------

FORCED = surface(constrained=True)


def test_the_constrained_form_is_taught_and_read() -> None:
    compiled = tscg.compile(TOOLS, mode=Text(constrained=True))
    assert '{"tool_calls":[{"name":"NAME","arguments":{...}}]} or {"answer":"TEXT"}' in compiled.prompt
    assert "<tool_call>" not in compiled.prompt
    assert compiled.prompt.endswith("</tools>")
    call = Call(name="get_weather", arguments={"city": "Oslo"})
    text = compiled.encode_call(call)
    assert text == '{"tool_calls":[{"name":"get_weather","arguments":{"city":"Oslo"}}]}'
    assert named(compiled.decode(text)) == [OSLO]
    assert Grammar.of(compiled.output_grammar()).takes(str(text))
    assert compiled.decode('{"answer":"It is <b>cold</b>."}').text == "It is <b>cold</b>."
    assert tscg.compile(TOOLS).decode('{"answer":"x"}').text == '{"answer":"x"}'


def test_required_and_single_calls_are_said() -> None:
    compiled = tscg.compile(TOOLS, mode=Text(constrained=True), must_call=True, parallel=False)
    assert "answer" not in compiled.prompt.split("<tools>")[0]
    assert not Grammar.of(compiled.output_grammar()).takes('{"answer":"x"}')
    assert Grammar.of(tscg.compile(TOOLS).output_grammar()).takes('{"answer":"x"}')


@pytest.mark.parametrize("weak", ["end", "anywhere", "never"])
def test_every_text_mode_reads_calls_and_constrained_ones_always(weak: str) -> None:
    text = written(FORCED, [OSLO, PING])
    assert named(read(text, surface(constrained=True, weak=weak))) == [OSLO, PING]
    assert named(read(text, surface(weak=weak))) == ([] if weak == "never" else [OSLO, PING])


FAULTS: list[Any] = [
    pytest.param('{"tool_calls":[{"name":"nope","arguments":{}}]}', None, [], ["unknown_tool"], id="unknown"),
    pytest.param(
        '{"tool_calls":[{"name":"nope","arguments":{}},{"name":"ping","arguments":{}}]}',
        None,
        [PING],
        ["unknown_tool"],
        id="a sibling",
    ),
    pytest.param('{"tool_calls":[{"name":"ping","arguments":{}},{"na', "length", [PING], ["truncated"], id="cut"),
    pytest.param('{"tool_calls":[{"name":"ping","arguments":{"x":"', None, [], ["truncated"], id="cut in a string"),
    pytest.param('{"tool_calls":[{"name":"ping","arguments":{}}]', "length", [PING], [], id="cut behind a call"),
    pytest.param('{"tool_calls":[]}', None, [], ["unparsed_call"], id="no calls"),
    pytest.param(
        '{"tool_calls":[{"name":"get_weather","arguments":{}}]}', None, [], ["missing_required"], id="missing"
    ),
    pytest.param('{"tool_calls":[{"name":"ping","arguments":{x}}]}', None, [], ["not_json"], id="broken"),
]


@pytest.mark.parametrize(("text", "reason", "calls", "faults"), FAULTS)
def test_faults_of_the_constrained_form(text: str, reason: str | None, calls: list[Any], faults: list[str]) -> None:
    decoded = read(text, FORCED, reason)
    assert named(decoded) == calls
    assert [error.kind for error in decoded.errors] == faults
    assert decoded.text == ""


TEXT: list[Any] = [
    pytest.param('{"answer":1}', id="no text"),
    pytest.param('{"answer":"x","more":1}', id="more members"),
    pytest.param('{"answer":"x"} and', id="more text"),
    pytest.param('{"answer":"x', id="cut"),
    pytest.param("Sorry.", id="prose"),
    pytest.param("{", id="a brace"),
]


@pytest.mark.parametrize("weak", ["end", "never"])
@pytest.mark.parametrize("text", TEXT)
def test_another_message_is_text(text: str, weak: str) -> None:
    decoded = read(text, surface(constrained=True, weak=weak))
    assert (decoded.text, decoded.items) == (text, ())


def test_calls_are_given_before_the_end() -> None:
    stream = Stream(surface(constrained=True, reasoning="none"))
    events = stream.feed(written(FORCED, [OSLO]))
    assert [event.call.name for event in events if isinstance(event, ItemEvent) and event.call] == ["get_weather"]
    assert named(stream.close()) == [OSLO]


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"]), max_size=5))
@settings(max_examples=60)
def test_any_answer_comes_through(answer: str, key: str) -> None:
    text = json.dumps({"answer": answer}, ensure_ascii=False)
    assert read(text, FORCED).text == answer
    call = Call(name="bash", arguments={"command": answer, "env": {key: answer}})
    assert named(read(written(FORCED, [("bash", call.arguments)]), FORCED)) == [("bash", call.arguments)]


# --- cut lists --------------------------------------------------------------------------------------------------------

CUT: list[Any] = [
    pytest.param('[TOOL_CALLS][{"name":"ping","arguments":{}},{"name":"ba', 1, ["truncated"], id="mistral"),
    pytest.param('<tool_call>[{"name":"ping"},{"name":"ping","arguments":{', 1, ["truncated"], id="tool_call"),
    pytest.param('[TOOL_CALLS][{"name":"ping","arguments":{}}', 1, [], id="the list alone is open"),
    pytest.param('[TOOL_CALLS][{"name":"ping","arguments":{"a":{}}', 0, ["truncated"], id="a brace short"),
]


@pytest.mark.parametrize(("text", "calls", "faults"), CUT)
def test_earlier_calls_of_a_cut_list_are_whole(text: str, calls: int, faults: list[str]) -> None:
    decoded = read(text, surface(), "length")
    assert named(decoded) == [PING] * calls
    assert [error.kind for error in decoded.errors] == faults


def test_an_open_list_is_a_listed_repair() -> None:
    (call,) = read('[TOOL_CALLS][{"name":"ping","arguments":{}}', surface()).calls
    assert kinds(call) == ["marker_missing"]
    refused = read('[TOOL_CALLS][{"name":"ping","arguments":{}}', surface(marker_missing=False))
    assert refused.errors[-1].kind == "truncated"


# --- lookups ----------------------------------------------------------------------------------------------------------


def test_hidden_prose_is_seen() -> None:
    full = tscg.Catalog.from_tools(
        [{"name": "ping", "description": "Health check. It takes a while.", "inputSchema": {"type": "object"}}]
    )
    brief = tscg.compile(full, profile="signature").shown
    assert hides(full, brief)
    assert not hides(full, full)
    assert not hides(full, full.replace(list(full)))


def test_names_of_the_lookup_are_those_of_the_dispatcher() -> None:
    from tscg.modes.dispatch import PAIRS

    assert tuple(lookup for _, lookup in PAIRS) == LOOKUPS
    assert [lookup_name(LOOKUPS[:count]) for count in range(4)] == [*LOOKUPS, ""]


@pytest.mark.parametrize("constrained", [False, True], ids=["as text", "constrained"])
def test_a_lookup_in_the_taught_syntax(constrained: bool) -> None:
    made = surface(lookup_tool="lookup", constrained=constrained)
    text = written(made, [("lookup", {"tools": ["ping", "bash"]})])
    decoded = read(text, made)
    (found,) = decoded.lookups
    assert found.tools == ("ping", "bash")
    assert "Health check" in found.reply
    assert decoded.calls == ()
    assert read(written(made, [("lookup", {"query": "weather"})]), made).lookups[0].query == "weather"
