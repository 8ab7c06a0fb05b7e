"""What decoding promises, section by section: each row is one promise, read whole and in every cutting."""

from __future__ import annotations

import json
import multiprocessing
import pickle
import random
import threading
import time
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, fields
from typing import Any

import pytest

import tscg
from tests.core.decode_samples import kinds, native, resolved, slowness, surface, tool
from tscg.calls import Call, CallError, Decoded, ItemEvent, TextEvent
from tscg.decoders import Stream, decode
from tscg.decoders.objects import ARGUMENT_KEYS, NAME_KEYS, WRAPPERS
from tscg.decoding import REPAIR_KINDS, decoding_of
from tscg.encode import encode_call, encode_history, encode_result
from tscg.errors import ConfigError
from tscg.messages import TOKEN_LIMIT
from tscg.resolve import Surface, resolve
from tscg.tokenizers import tokenizer_of

INT, STR, NUM, BOOL = ({"type": name} for name in ("integer", "string", "number", "boolean"))
PING = '<tool_call>{"name":"ping","arguments":{}}</tool_call>'


def marked(name: str, arguments: str) -> str:
    """A call in the taught form, from the text of its arguments."""
    return f'<tool_call>{{"name":{json.dumps(name)},"arguments":{arguments}}}</tool_call>'


def pieces(text: str) -> Iterator[list[str]]:
    """Cuttings of a text: 1, 2, 3 and 7 characters, and three at random that depend on the text alone."""
    for size in (1, 2, 3, 7):
        yield [text[at : at + size] for at in range(0, len(text), size)]
    pick = random.Random(text)
    for _ in range(3):
        places = sorted(pick.sample(range(1, len(text)), min(len(text) - 1, pick.randint(1, 6)))) if text[1:] else []
        yield [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


def read(text: str, made: Surface | None = None, reason: str | None = None) -> Decoded:
    """The whole, which every cutting must give too, with the laws of streams on the way."""
    made = made or surface()
    whole = decode(made, text, reason)
    for cut in pieces(text):
        stream = Stream(made)
        events = [event for piece in cut for event in stream.feed(piece)]
        assert stream.close(reason) == whole, cut[:4]
        assert whole.text.startswith("".join(event.text for event in events if isinstance(event, TextEvent)))
        given = [event.item for event in events if isinstance(event, ItemEvent)]
        assert list(whole.items[: len(given)]) == given
    return whole


def made_of(decoded: Decoded) -> list[Any]:
    """What the items are: a name with arguments, or the kind of an error."""
    return [(item.name, item.arguments) if isinstance(item, Call) else item.kind for item in decoded.items]  # type: ignore[union-attr]


def notices(decoded: Decoded) -> list[str]:
    return [notice.kind for notice in decoded.warnings]


# --- 1: inputs and results ------------------------------------------------------------------------------------------

INPUTS: list[Any] = [
    pytest.param(PING, id="s1-text"),
    pytest.param(PING.encode(), id="s1-bytes"),
    pytest.param({"role": "assistant", "content": PING}, id="s1-message"),
    pytest.param([{"role": "user", "content": "x"}, {"role": "assistant", "content": PING}], id="s1-messages"),
    pytest.param({"choices": [{"message": {"role": "assistant", "content": PING}}]}, id="s1-response"),
]


@pytest.mark.parametrize("output", INPUTS)
def test_s1_inputs(output: Any) -> None:
    assert made_of(decode(surface(), output)) == [("ping", {})]


@pytest.mark.parametrize(
    ("output", "shown"),
    [
        pytest.param({"foo": 1, "bar": 2}, "foo", id="s1-unknown-shape-shows-its-keys"),
        pytest.param({"choices": [{"message": {"role": "assistant"}}] * 2}, "choices", id="s1-two-choices"),
        pytest.param(3, "int", id="s1-a-number"),
    ],
)
def test_s1_only_the_developers_faults_are_raised(output: Any, shown: str) -> None:
    with pytest.raises(ConfigError, match=shown):
        decode(surface(), output)


def test_s1_decoding_is_frozen_and_part_of_the_catalog() -> None:
    compiled = tscg.compile([tool({"a": INT})], decoding="strict")
    assert compiled.decode(marked("f", '{"a":"1"}')).errors[0].kind == "wrong_type"
    safe = tscg.compile([tool({"a": INT})])
    assert safe.decode(marked("f", '{"a":"1"}')).calls[0].arguments == {"a": 1}
    options = tscg.Decoding()
    with pytest.raises(FrozenInstanceError):
        options.weak = "never"  # type: ignore[misc]
    assert not any(getattr(decoding_of("strict"), kind) for kind in REPAIR_KINDS)
    assert all(getattr(decoding_of("safe"), kind) for kind in REPAIR_KINDS)


def test_s1_finish_reason_completes_text_and_is_read_in_messages() -> None:
    assert read("hello", reason="length").finish_reason == "length"
    response = {"choices": [{"message": native(("ping", "{}")), "finish_reason": "tool_calls"}]}
    assert decode(surface(mode="native"), response).finish_reason == "tool_calls"


def test_s1_items_in_order_of_appearance() -> None:
    decoded = read(f"a {PING} b {marked('nope', '{}')} c {PING}")
    assert made_of(decoded) == [("ping", {}), "unknown_tool", ("ping", {})]
    assert decoded.text == "a  b  c "
    assert (len(decoded.calls), len(decoded.errors), decoded.lookups, decoded.programs) == (2, 1, (), ())


def test_s1_repairs_are_kind_path_detail() -> None:
    item = resolved({"a": {"type": "array", "items": INT}}, {"a": ["7"]})
    assert item.repairs == ("number_text: a[0]: 7",)


def test_s1_an_error_bears_kind_and_path_of_its_first_fault() -> None:
    item = resolved({"a": INT, "b": INT}, {"a": "x", "b": "y"})
    assert isinstance(item, CallError)
    assert (item.kind, item.path, item.tool) == (item.faults[0].kind, item.faults[0].path, "f")
    assert len(item.faults) == 2


def test_s1_scan_goes_on_behind_a_broken_call_never_inside() -> None:
    inner = '<tool_call>{"name":"ping","arguments":{}}'
    decoded = read(f'<tool_call>{{"name":"bash","arguments":{{"command":"{inner}" x}}}}</tool_call>{PING}')
    assert [item if isinstance(item, str) else item[0] for item in made_of(decoded)] == ["not_json", "ping"]


def test_s1_no_state_between_answers() -> None:
    compiled = tscg.compile([tool({"a": INT})])
    once = compiled.decode(marked("f", '{"a":1}'))
    assert compiled.decode("<tool_call>{") != once
    assert compiled.decode(marked("f", '{"a":1}')) == once


# --- 2: dialects ----------------------------------------------------------------------------------------------------

CALLED = ("get_weather", {"city": "Oslo"})
OSLO = '{"city":"Oslo"}'


@pytest.mark.parametrize("name", NAME_KEYS)
def test_s2_name_keys(name: str) -> None:
    assert made_of(read(f'<tool_call>{{"{name}":"get_weather","arguments":{OSLO}}}</tool_call>')) == [CALLED]


@pytest.mark.parametrize("bag", ARGUMENT_KEYS)
def test_s2_argument_keys(bag: str) -> None:
    assert made_of(read(f'<tool_call>{{"name":"get_weather","{bag}":{OSLO}}}</tool_call>')) == [CALLED]


@pytest.mark.parametrize("wrapper", WRAPPERS)
def test_s2_wrappers(wrapper: str) -> None:
    inner = f'{{"name":"get_weather","arguments":{OSLO}}}'
    for body in (inner, f"[{inner}]"):
        assert made_of(read(f'<tool_call>{{"{wrapper}":{body}}}</tool_call>')) == [CALLED]


ROWS: list[Any] = [
    pytest.param('{"role":"assistant","tool_calls":[]}', [], id="s2-a-message-as-text-is-text"),
    pytest.param(
        '[TOOL_CALLS][{"name":"ping","arguments":{}} {"name":"get_weather","arguments":{"city":"Oslo"}}]',
        [("ping", {}), CALLED],
        id="s2-mistral-comma-missing",
    ),
    pytest.param(
        f"<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{OSLO}<|tool_call_end|>",
        [CALLED],
        id="s2-kimi-without-section",
    ),
    pytest.param(
        '<|channel|>commentary to=functions.get_weather<|message|>{"city":"Oslo"}<|call|> and more',
        [CALLED],
        id="s2-harmony-call-token",
    ),
    pytest.param('[ping(), get_weather(city="Oslo")]', [("ping", {}), CALLED], id="s2-pythonic-list"),
    pytest.param('[get_weather("Oslo", 3)]', [("get_weather", {"city": "Oslo", "days": 3})], id="s2-python-positions"),
    pytest.param('[get_weather("Oslo")]', ["unparsed_call"], id="s2-python-not-every-position"),
    pytest.param("[get_weather(**{'city': 'Oslo'})]", ["unparsed_call"], id="s2-python-stars"),
    pytest.param("[get_weather(city=f'Oslo')]", ["unparsed_call"], id="s2-python-f-string"),
    pytest.param("[get_weather(city=[c for c in 'x'])]", ["unparsed_call"], id="s2-python-comprehension"),
    pytest.param("[get_weather(city='a', city='b')]", ["duplicate_key"], id="s2-python-repeated-keyword"),
    pytest.param("[get_weather(city=name)]", ["unparsed_call"], id="s2-python-name"),
    pytest.param("[bash(command='x', timeout=-5)]", [("bash", {"command": "x", "timeout": -5})], id="s2-python-sign"),
    pytest.param(
        "[bash(command='x', env={'a': true, 'b': (1, null)})]",
        [("bash", {"command": "x", "env": {"a": True, "b": [1, None]}})],
        id="s2-python-words-and-tuples",
    ),
    pytest.param('Action: get_weather\nAction Input: {"city":"Oslo"}\n', [CALLED], id="s2-react"),
    pytest.param("<get_weather><city>Oslo</city></get_weather>", [CALLED], id="s2-xml-name-as-tag"),
    pytest.param(
        "<function=bash><parameter=command>a &amp; b</parameter></function>",
        [("bash", {"command": "a &amp; b"})],
        id="s2-raw-entities-stay",
    ),
    pytest.param(
        "<function=bash><parameter=command>5</parameter><parameter=timeout>5</parameter></function>",
        [("bash", {"command": "5", "timeout": 5})],
        id="s2-raw-typed-by-the-schema",
    ),
    pytest.param(f'{{"name":"get_weather","arguments":{OSLO}}}\n', [CALLED], id="s2-weak-json"),
    pytest.param(f'```json\n{{"name":"get_weather","arguments":{OSLO}}}\n```', [CALLED], id="s2-weak-fence"),
    pytest.param(f'{{"name":"Get_Weather","arguments":{OSLO}}}', [], id="s2-weak-name-not-exact"),
    pytest.param('{"name":"get_weather"}', [], id="s2-weak-without-bag"),
    pytest.param(f'{{"name":"get_weather","arguments":{OSLO}}} then', [], id="s2-weak-with-text-behind"),
    pytest.param('{"name":"Alice","arguments":{}}', [], id="s2-weak-unknown-name"),
    pytest.param('{"name":"get_weather","arguments":{"city":Oslo}}', ["unparsed_call"], id="s2-message-unreadable"),
    pytest.param("<tool_call>get_wether</tool_call>", ["unknown_tool"], id="s2-strong-unknown-name"),
    pytest.param('<tool_call>{"name":"get_weather"}</tool_call>', ["missing_required"], id="s2-strong-missing"),
    pytest.param("<tool_call>{]</tool_call>", ["not_json"], id="s2-strong-broken"),
]


@pytest.mark.parametrize(("text", "wanted"), ROWS)
def test_s2_text(text: str, wanted: list[Any]) -> None:
    assert made_of(read(text)) == wanted


@pytest.mark.parametrize("opener", ["<tool_call>", "<function_call>", "<TOOLCALL>", "[TOOL_CALLS]", "<|python_tag|>"])
def test_s2_markers_never_stay_in_text(opener: str) -> None:
    decoded = read(f"a {opener}{{broken}} b")
    assert decoded.errors
    assert opener not in decoded.text


@pytest.mark.parametrize(
    ("message", "wanted"),
    [
        pytest.param(
            {"message": {"role": "assistant", "tool_calls": [{"id": "x1", "type": "function", "function": {
                "name": "get_weather", "arguments": OSLO}}], "tool_plan": "I look."}},
            [CALLED],
            id="s2-cohere",
        ),
        pytest.param(
            {"output": [{"type": "custom_tool_call", "id": "i1", "call_id": "c1", "name": "get_weather", "input": OSLO}]},
            [CALLED],
            id="s2-custom-tool-call",
        ),
        pytest.param({"role": "assistant", "content": None, "refusal": "no", "tool_calls": native(("ping", "{}"))[
            "tool_calls"]}, ["truncated"], id="s2-refusal"),
        pytest.param(
            {"candidates": [{"content": {"parts": [{"thought": True, "text": PING}]}, "finishReason": "STOP"}]},
            [],
            id="s2-gemini-thought",
        ),
        pytest.param(
            {"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]},
            ["unparsed_call"],
            id="s2-gemini-malformed",
        ),
        pytest.param(
            {"role": "assistant", "content": "x", "reasoning_content": PING}, [], id="s2-reasoning-content"
        ),
        pytest.param({"role": "assistant", "content": [
            {"type": "server_tool_use", "id": "s1", "name": "ping", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}]}, [], id="s2-server-side-blocks"),
    ],
)  # fmt: skip
def test_s2_native(message: Any, wanted: list[Any]) -> None:
    assert made_of(decode(surface(mode="native"), message)) == wanted


def test_s2_parallel_wrapper_unpacks_with_derived_ids() -> None:
    uses = json.dumps({"tool_uses": [{"recipient_name": "functions.ping", "parameters": {}}] * 2})
    decoded = decode(surface(mode="native"), native(("multi_tool_use.parallel", uses)))
    assert [call.id for call in decoded.calls] == ["c1.0", "c1.1"]


# --- 3: never executed ----------------------------------------------------------------------------------------------

CUT: list[Any] = [
    pytest.param('<tool_call>{"name":"bash","arguments":{"command":"rm -rf /srv', id="string"),
    pytest.param('<tool_call>{"name":"bash","arguments":{"command":"rm -rf /srv"', id="object"),
    pytest.param('<tool_call>{"name":"bash","arguments":{"command":"rm"}', id="one-brace"),
    pytest.param('[TOOL_CALLS]bash[ARGS]{"command":"rm', id="mistral"),
    pytest.param("<function=bash><parameter=command>rm -rf /srv", id="xml"),
    pytest.param('<|channel|>commentary to=functions.bash<|message|>{"command":"rm', id="harmony"),
    pytest.param('Action: bash\nAction Input: {"command":"rm', id="react"),
    pytest.param('{"name":"bash","arguments":{"command":"rm', id="message"),
    pytest.param('<|tool_call_start|>[bash(command="rm', id="pythonic"),
    pytest.param('[Calling tool: bash({"command":"rm', id="calling"),
]
REASONS = ("length", "max_tokens", "MAX_TOKENS", "incomplete", "content_filter", "refusal", "stop", None)


@pytest.mark.parametrize("reason", REASONS, ids=[f"s3.1-truncated-{reason}" for reason in REASONS])
@pytest.mark.parametrize("text", CUT)
def test_s3_1_brackets_are_never_closed(text: str, reason: str | None) -> None:
    for made in (surface(), surface(decoding=decoding_of("strict"))):
        decoded = decode(made, f"{PING}\n{text}" if not text.startswith("{") else text, reason)
        assert made_of(decoded)[-1] == "truncated"
        assert all(call.name == "ping" for call in decoded.calls)
    assert "split the content or the call" in decoded.errors[-1].message


@pytest.mark.parametrize("text", CUT)
def test_s3_1_every_cutting(text: str) -> None:
    assert made_of(read(text, reason="length")) == ["truncated"]


def test_s3_1_the_last_call_counts_if_its_own_end_was_seen() -> None:
    for text in (PING, PING.removesuffix("</tool_call>")):
        decoded = read(f"{PING}{text}", reason="length")
        assert made_of(decoded) == [("ping", {})] * 2
        assert notices(decoded) == ["complete_at_limit"]


IN_REASONING: list[Any] = [
    pytest.param(f"<think>{PING}</think>ok", id="s3.2-span"),
    pytest.param(f"{PING}</think>ok", id="s3.2-only-the-closer"),
    pytest.param(f"<|channel|>analysis<|message|>{PING}<|end|>", id="s3.2-analysis-channel"),
    pytest.param(f"<thinking>{PING}</thinking>ok", id="s3.2-thinking"),
]


@pytest.mark.parametrize("text", IN_REASONING)
def test_s3_2_calls_in_reasoning(text: str) -> None:
    decoded = read(text)
    assert decoded.items == ()
    assert notices(decoded) == ["call_in_reasoning"]
    assert ("ping" in decoded.reasoning) == text.startswith("<think") or "analysis" in text


def test_s3_2_a_marker_of_reasoning_inside_an_argument_opens_none() -> None:
    text = marked("bash", '{"command":"echo \'<think>\'"}') + PING
    assert [item[0] for item in made_of(read(text))] == ["bash", "ping"]


@pytest.mark.parametrize("role", ["user", "system", "tool"])
def test_s3_3_only_the_assistants_newest_output(role: str) -> None:
    said = [{"role": "assistant", "content": PING}, {"role": role, "content": PING, "tool_call_id": "c1"}]
    assert decode(surface(), said).items == ()


def test_s3_4_text_calls_beside_native_ones_are_text_with_a_warning() -> None:
    message = {**native(("get_weather", OSLO)), "content": f"see {PING}"}
    decoded = decode(surface(mode="native"), message)
    assert made_of(decoded) == [CALLED]
    assert notices(decoded) == ["call_like_text"]


AMBIGUOUS: list[Any] = [
    pytest.param('{"name":"ping","tool":"bash","arguments":{}}', "ambiguous_call", ("name", "tool"), id="s3.5-names"),
    pytest.param(
        '{"name":"ping","arguments":{},"input":{"a":1}}', "ambiguous_arguments", ("arguments", "input"), id="s3.5-bags"
    ),
]


@pytest.mark.parametrize(("body", "kind", "readings"), AMBIGUOUS)
def test_s3_5_ambiguity_names_both_readings(body: str, kind: str, readings: tuple[str, str]) -> None:
    decoded = read(f"<tool_call>{body}</tool_call>")
    assert made_of(decoded) == [kind]
    assert all(reading in decoded.errors[0].message for reading in readings)


def test_s3_5_key_and_alias_at_once() -> None:
    made = surface([tool({"a.b": INT})], "native", wire_keys={"f": {"a.b": "a_b"}})
    item = resolve(made, "f", {"a.b": 1, "a_b": 1})
    assert isinstance(item, CallError)
    assert item.kind == "ambiguous_arguments"


def test_s3_6_similarity_is_a_hint() -> None:
    item = resolve(surface(), "get_wether", {"city": "x"})
    assert isinstance(item, CallError)
    assert item.kind == "unknown_tool"
    assert "get_weather" in item.message
    near = resolved({"priority": {"enum": ["low", "high"]}}, {"priority": "hihg"})
    assert near.kind == "enum"
    assert "Nearest: high" in near.message


def test_s3_7_tools_that_are_gone() -> None:
    item = resolve(surface(gone=frozenset({"old_tool"})), "old_tool", {})
    assert isinstance(item, CallError)
    assert item.kind == "unavailable_tool"
    assert "gone" in item.message


# --- 4: the name ladder ---------------------------------------------------------------------------------------------

LADDER: list[Any] = [
    pytest.param("get_weather", (), id="s4.1-exact"),
    pytest.param(' "get_weather" ', ("name_prefix",), id="s4.4-quotes"),
    pytest.param("`get_weather()`", ("name_prefix",), id="s4.4-backquotes-and-parentheses"),
    pytest.param("get_weather<|channel|>commentary", ("name_prefix",), id="s4.4-channel-tail"),
    *[
        pytest.param(f"{prefix}get_weather", ("name_prefix",), id=f"s4.4-{prefix}")
        for prefix in (
            "functions.",
            "function.",
            "tools.",
            "tool.",
            "tool:",
            "default_api.",
            "default_api:",
            "mcp__x__",
        )
    ],
    pytest.param("GetWeather", ("name_case",), id="s4.5-case"),
    pytest.param("get-weather", ("name_case",), id="s4.5-separators"),
    pytest.param("functions.getWeather", ("name_prefix", "name_case"), id="s4.5-both"),
    pytest.param("weather", None, id="s4.6-substring"),
    pytest.param("get_weather_now", None, id="s4.6-longer"),
    pytest.param("functions.functions.get_weather", None, id="s4.6-two-prefixes"),
    pytest.param("api.get_weather", None, id="s4.6-another-prefix"),
]


@pytest.mark.parametrize(("name", "repairs"), LADDER)
def test_s4_ladder(name: str, repairs: tuple[str, ...] | None) -> None:
    decoded = read(marked(name, OSLO))
    if repairs is None:
        assert made_of(decoded) == ["unknown_tool"]
        return
    assert made_of(decoded) == [CALLED]
    assert tuple(kinds(decoded.calls[0])) == repairs
    for kind in repairs:
        switch: dict[str, Any] = {kind: False}
        off = read(marked(name, OSLO), surface(**switch))
        assert all(kind not in kinds(call) for call in off.calls)
    neither = read(marked(name, OSLO), surface(name_prefix=False, name_case=False))
    assert bool(neither.errors) == bool(repairs)


def test_s4_2_wire_names() -> None:
    made = surface([{**tool({}), "name": "a.b/c"}], "native", wire_names={"a.b/c": "a_b_c"})
    assert kinds(resolve(made, "a_b_c", {})) == kinds(resolve(made, "a.b/c", {})) == []  # type: ignore[arg-type]


def test_s4_5_a_rung_with_several_stops_with_the_candidates() -> None:
    made = surface([tool({}, "get_user"), tool({}, "getUser")])
    item = resolve(made, "GETUSER", {})
    assert isinstance(item, CallError)
    assert item.kind == "ambiguous_tool"
    assert "get_user" in item.message
    assert "getUser" in item.message
    assert isinstance(resolve(made, "getUser", {}), Call)


def test_s4_5_all_unicode_letters_count() -> None:
    made = surface([tool({}, "größe"), tool({}, "grösse_x")])
    item = resolve(made, "GRÖSSE", {})
    assert isinstance(item, Call)
    assert item.name == "größe"
    assert isinstance(resolve(made, "gre", {}), CallError)


def test_s4_6_up_to_three_near_names() -> None:
    made = surface([tool({}, f"get_user_{i}") for i in range(9)])
    item = resolve(made, "get_user", {})
    assert isinstance(item, CallError)
    assert item.message.count("get_user_") == 3


def test_s4_the_exact_name_wins_over_every_spelling() -> None:
    made = surface([tool({}, "functions.ping"), tool({}, "ping")])
    for name in ("functions.ping", "ping"):
        item = resolve(made, name, {})
        assert isinstance(item, Call)
        assert (item.name, item.repairs) == (name, ())


def test_s4_names_that_differ_invisibly_collide_at_load() -> None:
    with pytest.raises(tscg.CompileError):
        tscg.compile([tool({}, "ping"), tool({}, "pi\u200bng")])


# --- 5: reading arguments -------------------------------------------------------------------------------------------

FREE = {"type": "object", "properties": {"a": {}}}
READ: list[Any] = [
    pytest.param("", {}, id="s5-nothing"),
    pytest.param("  \n", {}, id="s5-blanks"),
    pytest.param("null", {}, id="s5-null"),
    pytest.param('"null"', {}, id="s5-the-word-null"),
    pytest.param('{"a":{"b":[1,{"c":"d"}]}}', {"a": {"b": [1, {"c": "d"}]}}, id="s5-object"),
    pytest.param(json.dumps('{"a":1}'), {"a": 1}, id="s5-one-layer"),
    pytest.param(json.dumps(json.dumps('{"a":1}')), {"a": 1}, id="s5-two-layers"),
    pytest.param('[{"a":1}]', {"a": 1}, id="s5-list-with-one-object"),
    pytest.param('{"a":1234567890123456789}', {"a": 1234567890123456789}, id="s5-big-integer"),
    pytest.param('{"a":"\\u0000\\u202e%s\\ud83d\\ude00"}', {"a": "\x00\u202e%s😀"}, id="s5-opaque-strings"),
    pytest.param('{"a":"\\\\d"}', {"a": "\\d"}, id="s5-no-second-unescaping"),
    pytest.param('{"a":"e\u0301"}', {"a": "e\u0301"}, id="s5-no-normalisation"),
]


@pytest.mark.parametrize(("text", "value"), READ)
def test_s5_values(text: str, value: Any) -> None:
    item = resolve(surface([tool({"a": {}})], "native"), "f", text)
    assert isinstance(item, Call), item
    assert repr(item.arguments) == repr(value)


REFUSED: list[Any] = [
    pytest.param(json.dumps(json.dumps(json.dumps('{"a":1}'))), "not_an_object", id="s5-three-layers"),
    pytest.param("[1]", "not_an_object", id="s5-another-list"),
    pytest.param('[{"a":1},{"a":2}]', "not_an_object", id="s5-two-objects"),
    pytest.param("3", "not_an_object", id="s5-a-number"),
    pytest.param('"Oslo"', "not_an_object", id="s5-a-bare-string"),
    pytest.param('{"a":1,"a":1}', "duplicate_key", id="s5-duplicate"),
    pytest.param('{1:1,"1":2}', "duplicate_key", id="s5-number-beside-its-text"),
    pytest.param('{"a":1,"\\u0061":2}', "duplicate_key", id="s5-escaped-key"),
    pytest.param('{"a":NaN}', "not_json", id="s5-nan"),
    pytest.param('{"a":Infinity}', "not_json", id="s5-infinity"),
    pytest.param('{"a":1e400}', "number_out_of_range", id="s5-overflow"),
    pytest.param('{"a":"\\ud800"}', "invalid_unicode", id="s5-lone-surrogate"),
    pytest.param('{"a":0x10}', "not_json", id="s5-hexadecimal"),
    pytest.param('{"a":"x" "y"}', "not_json", id="s5-glued-strings"),
    pytest.param('{"a":"x', "truncated", id="s5-cut-string"),
]


@pytest.mark.parametrize(("text", "kind"), REFUSED)
def test_s5_refused(text: str, kind: str) -> None:
    item = resolve(surface([tool({"a": {}})], "native"), "f", text)
    assert isinstance(item, CallError), item
    assert item.kind == kind


def test_s5_not_an_object_also_for_a_single_string() -> None:
    assert resolved({"q": STR}, '"Oslo"', required=["q"]).kind == "not_an_object"
    assert resolved({"q": STR}, "", required=["q"]).kind == "missing_required"


def test_s5_minus_zero_stays() -> None:
    assert repr(resolved({"a": NUM}, '{"a":-0}').arguments) == "{'a': -0.0}"
    assert repr(resolved({"a": NUM}, '{"a":-0.0}').arguments) == "{'a': -0.0}"


def test_s5_integers_come_exact_as_text_too() -> None:
    assert resolved({"a": INT}, {"a": "1234567890123456789"}).arguments == {"a": 1234567890123456789}


def test_s5_rounded_numbers_are_said() -> None:
    item = resolved({"a": NUM}, '{"a":0.12345678901234567890123}')
    assert [notice.kind for notice in item.warnings] == ["number_rounded"]
    assert resolved({"a": NUM}, '{"a":0.5}').warnings == ()


def test_s5_punctuation_keeps_scalars_in_number_and_order() -> None:
    item = resolved({"a": INT, "b": INT}, '{"a":1 "b":2}')
    assert (item.arguments, kinds(item)) == ({"a": 1, "b": 2}, ["punctuation"])
    for text in ('{"a":1 "a":2}', '{"a":1 2}', '{"a":tru "b":1}', '{"a":1 "b":2'):
        assert isinstance(resolved({"a": INT, "b": INT}, text), CallError), text


def test_s5_numbers_are_written_in_full() -> None:
    written = encode_call(surface(), Call(name="f", arguments={"a": 10**30, "b": 0.1, "c": 1e22}))
    assert f'"a":{10**30},"b":0.1,"c":1e+22' in str(written)


# --- 6: repairs -----------------------------------------------------------------------------------------------------

OBJECT = {"type": "object", "properties": {"x": INT}}
# kind, properties, arguments as text, what comes out; then arguments that look alike and stay as they are or are refused
PROOFS: list[Any] = [
    ("control_char", {"a": STR}, '{"a":"x\ty"}', {"a": "x\ty"}, '{"a":"x\\ty"}'),
    ("bad_escape", {"a": STR}, '{"a":"\\d\\."}', {"a": "\\d\\."}, '{"a":"\\n\\t"}'),
    ("trailing_comma", {"a": INT}, '{"a":1,}', {"a": 1}, '{"a":1}'),
    ("comment", {"a": STR}, '{"a":"x" // y\n}', {"a": "x"}, '{"a":"x // y"}'),
    ("unquoted_key", {"a": STR}, '{a:"x"}', {"a": "x"}, '{"a":"{b:1}"}'),
    ("single_quotes", {"a": STR}, "{'a':'x'}", {"a": "x"}, '{"a":"\'x\'"}'),
    ("python_word", {"a": BOOL}, '{"a":True}', {"a": True}, '{"a":true}'),
    ("int_key", {"a": {"type": "object"}}, '{"a":{1:2}}', {"a": {"1": 2}}, '{"a":{"1":2}}'),
    ("punctuation", {"a": INT, "b": INT}, '{"a":1 "b":2}', {"a": 1, "b": 2}, '{"a":1,"b":2}'),
    ("double_encoded", {"a": INT}, json.dumps(json.dumps('{"a":1}')), {"a": 1}, json.dumps('{"a":1}')),
    ("list_unwrapped", {"a": INT}, '[{"a":1}]', {"a": 1}, '{"a":1}'),
    ("wrapper_removed", {"a": INT}, '{"arguments":{"a":1}}', {"a": 1}, '{"a":1}'),
    ("json_text", {"a": OBJECT}, '{"a":"{\\"x\\":1}"}', {"a": {"x": 1}}, '{"a":{"x":1}}'),
    ("number_text", {"a": INT}, '{"a":"673"}', {"a": 673}, '{"a":673}'),
    ("bool_text", {"a": BOOL}, '{"a":"true"}', {"a": True}, '{"a":true}'),
    ("null_text", {"a": {"type": ["integer", "null"]}}, '{"a":"null"}', {"a": None}, '{"a":null}'),
    ("enum_case", {"a": {"enum": ["Open", "Shut"]}}, '{"a":" open "}', {"a": "Open"}, '{"a":"Shut"}'),
    ("enum_type", {"a": {"enum": [7, 14]}}, '{"a":"14"}', {"a": 14}, '{"a":14}'),
    ("null_dropped", {"a": INT}, '{"a":null}', {}, "{}"),
    ("empty_dropped", {"a": INT}, '{"a":""}', {}, "{}"),
]
PROOF_IDS = [f"s6-{row[0]}" for row in PROOFS]


@pytest.mark.parametrize(("kind", "properties", "text", "wanted", "plain"), PROOFS, ids=PROOF_IDS)
def test_s6_repairs(kind: str, properties: dict[str, Any], text: str, wanted: Any, plain: str) -> None:
    required = [] if not wanted else list(properties)
    tools = [tool(properties, required=required, additionalProperties=False)]
    decoded = read(marked("f", text), surface(tools))
    assert [(call.arguments, set(kinds(call))) for call in decoded.calls] == [(wanted, {kind})], decoded
    for options in ({kind: False}, {"decoding": decoding_of("strict")}):
        off = read(marked("f", text), surface(tools, **options))
        number = kind == "enum_type" and "decoding" not in options  # the text of a number: two rules see it
        assert bool(off.errors) != number, off
    valid = read(marked("f", plain), surface(tools, decoding=decoding_of("strict")))
    assert [call.repairs for call in valid.calls] == [()]


def test_s6_every_kind_has_its_switch() -> None:
    assert {field.name for field in fields(tscg.Decoding)} >= set(REPAIR_KINDS)


CONTROLS: list[Any] = [
    pytest.param({"a": STR}, {"a": '{"x":1}'}, id="s6-json_text"),
    pytest.param({"a": {"anyOf": [STR, OBJECT]}}, {"a": '{"x":1}'}, id="s6-json_text-where-text-is-allowed"),
    pytest.param({"a": STR}, {"a": "673"}, id="s6-number_text"),
    pytest.param({"a": STR}, {"a": "true"}, id="s6-bool_text"),
    pytest.param({"a": STR}, {"a": "null"}, id="s6-null_text"),
    pytest.param({"a": {"enum": ["m", "M"]}}, {"a": "m"}, id="s6-enum_case"),
    pytest.param({"a": {"enum": ["14", 14]}}, {"a": "14"}, id="s6-enum_type"),
    pytest.param({"a": {"type": ["integer", "null"]}}, {"a": None}, id="s6-null_dropped"),
    pytest.param({"a": STR}, {"a": ""}, id="s6-empty_dropped"),
    pytest.param({"a": NUM}, {"a": 3.0}, id="s6-integral_float"),
    pytest.param({"args": OBJECT}, {"args": {"x": 1}}, id="s6-wrapper_removed-a-parameter-has-the-name"),
    pytest.param({}, {"args": {"x": 1}}, id="s6-wrapper_removed-outside-valid"),
]


@pytest.mark.parametrize(("properties", "given"), CONTROLS)
def test_s6_a_valid_value_is_never_touched(properties: dict[str, Any], given: dict[str, Any]) -> None:
    decoded = read(marked("f", json.dumps(given)), surface([tool(properties)]))
    assert [(repr(call.arguments), call.repairs) for call in decoded.calls] == [(repr(given), ())]


NO_PROOF: list[Any] = [
    pytest.param({"a": INT}, {"a": "1,000"}, id="s6-thousands"),
    pytest.param({"a": INT}, {"a": "0x10"}, id="s6-hexadecimal"),
    pytest.param({"a": INT}, {"a": "10abc"}, id="s6-letters"),
    pytest.param({"a": BOOL}, {"a": "yes"}, id="s6-yes"),
    pytest.param({"a": INT}, {"a": "1.5"}, id="s6-fraction-for-an-integer"),
    pytest.param({"a": {"enum": ["m", "M"]}}, {"a": " m"}, id="s6-two-members"),
    pytest.param({"a": {"anyOf": [OBJECT, {"type": "object"}]}, "b": INT}, {"a": '{"x":1}', "b": "q"}, id="s6-rest"),
    pytest.param({"a": {"type": "array", "items": INT}}, {"a": '["x"]'}, id="s6-inner-text-does-not-fit"),
    pytest.param({"a": INT}, {"a": None}, id="s6-required-null"),
    pytest.param({"a": INT}, {"arguments": {"a": "x"}}, id="s6-wrapper-inside-invalid"),
]


@pytest.mark.parametrize(("properties", "given"), NO_PROOF)
def test_s6_no_proof_no_repair(properties: dict[str, Any], given: dict[str, Any]) -> None:
    item = resolved(properties, given, required=list(properties))
    assert isinstance(item, CallError), item
    shown = [fault.found for fault in item.faults if fault.kind in ("wrong_type", "enum")]
    assert all(json.dumps(value, separators=(",", ":")) in shown for value in given.values() if isinstance(value, str))


def test_s6_one_candidate_of_all_rules() -> None:
    both = {"anyOf": [INT, BOOL, {"enum": ["TRUE"]}]}
    item = resolved({"a": both}, {"a": "true"}, required=["a"])
    assert isinstance(item, CallError)  # a member in another case, and the word: two changes fit


def test_s6_a_path_that_may_have_lost_its_backslash_warns() -> None:
    item = resolved({"a": STR}, r'{"a":"C:\new"}')
    assert item.arguments == {"a": "C:\new"}
    assert [notice.kind for notice in item.warnings] == ["ambiguous_escape"]


def test_s6_marker_missing() -> None:
    text = f'<tool_call>{{"name":"get_weather","arguments":{OSLO}}}'
    assert kinds(read(text, reason="stop").calls[0]) == ["marker_missing"]
    assert made_of(read(text, surface(marker_missing=False), "stop")) == ["truncated"]
    assert read(f"{text}</tool_call>").calls[0].repairs == ()


def test_s6_observation_dropped() -> None:
    text = f"Action: get_weather\nAction Input: {OSLO}\nObservation: cold\nAction: ping\nAction Input: {{}}"
    decoded = read(text)
    assert (made_of(decoded), kinds(decoded.calls[0])) == ([CALLED], ["observation_dropped"])
    assert "cold" not in decoded.text
    assert len(read(text, surface(observation_dropped=False)).items) == 2
    assert read(text.split("Observation", maxsplit=1)[0]).calls[0].repairs == ()


def test_s6_parallel_unpacked() -> None:
    uses = {"tool_uses": [{"recipient_name": "functions.ping", "parameters": {}}]}
    item = resolve(surface(), "multi_tool_use.parallel", uses)
    assert isinstance(item, Call)
    assert kinds(item)[0] == "parallel_unpacked"
    assert isinstance(resolve(surface(parallel_unpacked=False), "multi_tool_use.parallel", uses), CallError)


def test_s6_key_alias_and_unstrict() -> None:
    keys = {"f": {"a.b": "a_b"}}
    item = resolve(surface([tool({"a.b": INT})], wire_keys=keys), "f", {"a_b": 1})
    assert isinstance(item, Call)
    assert (item.arguments, kinds(item)) == ({"a.b": 1}, ["key_alias"])
    off = surface([tool({"a.b": INT}, additionalProperties=False)], wire_keys=keys, key_alias=False)
    assert isinstance(resolve(off, "f", {"a_b": 1}), CallError)
    strict = surface([tool({"a": INT})], "native", strict=frozenset({"f"}))
    item = resolve(strict, "f", {"a": None})
    assert isinstance(item, Call)
    assert (item.arguments, kinds(item)) == ({}, ["unstrict"])


def test_s6_at_most_64_repairs_and_three_rounds() -> None:
    many = {"a": {"type": "array", "items": INT}}
    assert len(resolved(many, {"a": ["1"] * 64}).repairs) == 64
    assert isinstance(resolved(many, {"a": ["1"] * 65}), CallError)
    assert tscg.Decoding().max_rounds == 3


# --- 7: contested points --------------------------------------------------------------------------------------------


def test_s7_the_only_call_is_in_reasoning() -> None:
    text = f"<think>{PING}</think>"
    assert (read(text).items, notices(read(text))) == ((), ["call_in_reasoning"])
    assert made_of(read(text, surface(calls_in_reasoning=True))) == [("ping", {})]


@pytest.mark.parametrize("options", [{}, {"marker_missing": False}])
def test_s7_a_brace_short_is_truncated_with_any_finish_reason(options: dict[str, Any]) -> None:
    for reason in (None, "stop", "length"):
        assert made_of(read('<tool_call>{"name":"ping","arguments":{}', surface(**options), reason)) == ["truncated"]


@pytest.mark.parametrize(
    ("weak", "count"),
    [
        pytest.param("end", (0, 1), id="s7-weak-end"),
        pytest.param("anywhere", (1, 1), id="s7-weak-anywhere"),
        pytest.param("never", (0, 0), id="s7-weak-never"),
    ],
)
def test_s7_weak(weak: str, count: tuple[int, int]) -> None:
    made = surface(weak=weak)
    fence = '```json\n{"name":"ping","arguments":{}}\n```'
    assert (len(read(f"{fence}\nmore", made).calls), len(read(fence, made).calls)) == count
    if weak == "end":
        assert notices(read(f"{fence}\nmore", made)) == ["call_like_text"]


NOTHING: list[Any] = [
    pytest.param({"a": {"type": ["integer", "null"]}}, None, {"a": None}, {}, id="s7-nullable-keeps-null"),
    pytest.param({"a": STR}, "", {"a": ""}, {}, id="s7-string-keeps-empty"),
    pytest.param({"a": INT}, None, {}, {"null_dropped": False}, id="s7-null-dropped"),
    pytest.param({"a": INT}, "", {}, {"empty_dropped": False}, id="s7-empty-dropped"),
    pytest.param({"a": {"type": ["integer", "null"]}}, "null", {"a": None}, {"null_text": False}, id="s7-word-null"),
    pytest.param({"a": INT}, "null", {}, {"null_text": False}, id="s7-word-dropped"),
]


@pytest.mark.parametrize(("properties", "value", "wanted", "off"), NOTHING)
def test_s7_nothing(properties: dict[str, Any], value: Any, wanted: Any, off: dict[str, Any]) -> None:
    item = resolved(properties, {"a": value})
    assert isinstance(item, Call)
    assert item.arguments == wanted
    if off:
        assert isinstance(resolved(properties, {"a": value}, off), CallError)


def test_s7_the_word_null_may_be_text() -> None:
    item = resolved({"a": {"type": ["string", "null"]}}, {"a": "null"})
    assert item.arguments == {"a": "null"}
    assert [notice.kind for notice in item.warnings] == ["null_word"]


@pytest.mark.parametrize("closed", [False, True], ids=["s7-extra-open", "s7-extra-closed"])
def test_s7_undeclared_arguments(closed: bool) -> None:
    keywords: dict[str, Any] = {"additionalProperties": False} if closed else {}
    item = resolved({"a": INT}, {"a": 1, "z": 2}, **keywords)
    if closed:
        assert item.kind == "unexpected_argument"
        assert "a" in item.message
    else:
        assert item.arguments == {"a": 1, "z": 2}
        assert [notice.kind for notice in item.warnings] == ["extra_argument"]
    assert resolved({"a": INT}, {"a": 1, "z": 2}, {"extras": "drop"}, **keywords).arguments == {"a": 1}
    assert isinstance(resolved({"a": INT}, {"a": 1, "z": 2}, {"extras": "error"}, **keywords), CallError)


def test_s7_functions_without_kwargs_are_closed() -> None:
    def closed(a: int) -> int:
        return a

    def opened(a: int, **kwargs: int) -> int:
        return a

    compiled = tscg.compile([closed, opened])
    assert isinstance(compiled.resolve("closed", {"a": 1, "z": 2}), CallError)
    assert isinstance(compiled.resolve("opened", {"a": 1, "z": 2}), Call)


OPTIONS: list[Any] = [
    pytest.param({"a": {"enum": ["Open"]}}, {"a": "open"}, {"enum_case": False}, ({"a": "Open"}, None), id="s7-enum"),
    pytest.param({"a": STR}, '{"a":1.50}', {"number_to_text": True}, (None, {"a": "1.50"}), id="s7-number-for-text"),
    pytest.param(
        {"a": {"type": "array", "items": STR}},
        {"a": "a,b"},
        {"wrap_scalars": True},
        (None, {"a": ["a,b"]}),
        id="s7-scalar-for-list",
    ),
    pytest.param({"a": {**INT, "default": 3}}, {}, {"fill_defaults": True}, ({}, {"a": 3}), id="s7-defaults"),
    pytest.param(
        {"a": {**STR, "format": "date-time"}},
        {"a": "x"},
        {"formats": ("date-time",)},
        ({"a": "x"}, None),
        id="s7-format",
    ),
    pytest.param(
        {"a": {**STR, "pattern": "(("}}, {"a": "x"}, {"unchecked": "error"}, ({"a": "x"}, None), id="s7-pattern"
    ),
    pytest.param({"a": {"type": "array", "items": OBJECT}}, {"a": ["web"]}, {}, (None, None), id="s7-simplified-items"),
    pytest.param({"a": {"type": "array", "items": OBJECT}}, {"a": {"x": 1}}, {}, (None, None), id="s7-lone-object"),
    pytest.param({"questions": STR}, {"question": "x"}, {}, (None, None), id="s7-question-for-questions"),
]


@pytest.mark.parametrize(("properties", "given", "option", "wanted"), OPTIONS)
def test_s7_options(properties: dict[str, Any], given: Any, option: dict[str, Any], wanted: tuple[Any, Any]) -> None:
    required = [] if "default" in str(properties) else list(properties)
    for options, arguments in zip(({}, option), wanted, strict=True):
        item = resolved(properties, given, options, required=required)
        assert (item.arguments if isinstance(item, Call) else None) == arguments, item


def test_s7_same_call_twice() -> None:
    made = surface(mode="native")
    two = decode(made, native(("ping", "{}"), ("ping", "{}")))
    assert len(two.calls) == 2
    same = decode(made, native(("ping", "{}"), ("ping", "{}"), ids=("c1", "c1")))
    assert len(same.calls) == 1
    other = decode(made, native(("get_weather", OSLO), ("ping", "{}"), ids=("c1", "c1")))
    assert [call.id for call in other.calls] == ["c1", "c1-2"]
    assert notices(other) == ["duplicate_id"]


def test_s7_unchecked_is_said_on_the_call_and_in_the_catalog() -> None:
    compiled = tscg.compile([tool({"a": {**STR, "pattern": "(("}})])
    item = compiled.resolve("f", {"a": "x"})
    assert isinstance(item, Call)
    assert [notice.kind for notice in item.warnings] == ["unchecked"]


# --- 8: validation --------------------------------------------------------------------------------------------------


def test_s8_against_the_original_schema_and_never_against_the_text() -> None:
    raw = tool({"a": {**STR, "minLength": 2, "pattern": "^x"}})
    before = json.dumps(raw)
    for profile in ("lossless", "balanced", "brief"):
        item = tscg.compile([raw], profile=profile).resolve("f", {"a": "y"})
        assert isinstance(item, CallError)
        assert {fault.kind for fault in item.faults} == {"length", "pattern"}
    assert json.dumps(raw) == before


def test_s8_a_pattern_beyond_the_limit_of_steps_is_a_fault() -> None:
    hard = tool({"a": {**STR, "pattern": "(?=x)(x+x+)+y$"}})
    item = resolve(surface([hard]), "f", {"a": "x" * 60})
    assert isinstance(item, CallError)
    assert item.kind == "pattern"


def test_s8_references_bombs_stay_linear() -> None:
    defs: dict[str, Any] = {"d0": {"type": "integer"}}
    keywords: dict[str, Any] = {"$defs": defs}
    for level in range(1, 31):
        ref = {"$ref": f"#/$defs/d{level - 1}"}
        defs[f"d{level}"] = {"type": "object", "properties": {"l": ref, "r": ref}}
    start = time.process_time()
    item = resolve(surface([tool({"a": {"$ref": "#/$defs/d30"}}, **keywords)]), "f", {"a": {"l": 3}})
    assert isinstance(item, CallError)
    assert time.process_time() - start < 2 * slowness()


def test_s8_the_tagged_branch_is_reported() -> None:
    shape = {
        "oneOf": [
            {"type": "object", "properties": {"kind": {"const": "a"}, "n": INT}, "required": ["kind", "n"]},
            {"type": "object", "properties": {"kind": {"const": "b"}, "s": STR}, "required": ["kind", "s"]},
        ]
    }
    item = resolved({"v": shape}, {"v": {"kind": "b", "s": []}})
    assert [(fault.kind, fault.path) for fault in item.faults] == [("wrong_type", ("v", "s"))]


def test_s8_one_of_required_sets_is_told_in_words() -> None:
    item = resolved({"a": INT, "b": INT}, {"a": 1, "b": 2}, oneOf=[{"required": ["a"]}, {"required": ["b"]}])
    assert item.kind == "one_of"
    assert "exactly one of a, b" in item.message


def test_s8_a_dangling_reference_is_anything_and_said() -> None:
    raw = tool({"a": {"$ref": "#/$defs/Missing"}, "b": INT})
    with pytest.raises(tscg.CompileError, match="/properties/a"):
        tscg.compile([raw])
    compiled = tscg.compile([raw], on_error="passthrough")
    item = compiled.resolve("f", {"a": ["anything"], "b": 1})
    assert isinstance(item, Call)
    assert [notice.kind for notice in item.warnings] == ["unchecked"]
    assert isinstance(compiled.resolve("f", {"b": "x"}), CallError)


# --- 9: errors ------------------------------------------------------------------------------------------------------

DEEP = '{"env":' * 66 + "1" + "}" * 66
LIST = {"type": "array", "items": STR}
# what is declared; the text of the arguments, or a whole output; the kind; words that the message holds
KINDS: list[Any] = [
    ("unparsed_call", None, "<tool_call>do it now</tool_call>", ["a name and an object of arguments"]),
    ("not_json", {"a": INT}, '{"a":1 = 2}', ["at character", "= 2"]),
    ("duplicate_key", {"a": INT}, '{"a":1,"a":2}', ['"a"', "twice"]),
    ("number_out_of_range", {"a": NUM}, '{"a":1e400}', ["1e400"]),
    ("invalid_unicode", {"a": STR}, '{"a":"\\ud800"}', ["surrogate"]),
    ("too_deep", {"env": {}}, DEEP, ["64"]),
    ("not_an_object", {"alpha": INT, "beta": INT}, "[1]", ["alpha", "beta"]),
    ("unknown_tool", None, marked("get_wether", OSLO), ["get_weather"]),
    ("missing_required", {"title": STR}, '{"titel":"x"}', ["title", "titel"]),
    ("unexpected_argument", {"title": STR, "body": STR}, '{"title":"x","bodi":"y"}', ["title", "body"]),
    ("wrong_type", {"a": {"type": "array", "items": OBJECT}}, '{"a":[{"x":"q"}]}', ["a[0].x", "integer"]),
    ("enum", {"a": {"enum": ["open", "closed"]}}, '{"a":"opened"}', ["open, closed", "Nearest: open"]),
    ("const", {"a": {"const": "k"}}, '{"a":"z"}', ['"k"']),
    ("minimum", {"a": {**INT, "exclusiveMinimum": 3}}, '{"a":3}', ["3"]),
    ("maximum", {"a": {**INT, "maximum": 3}}, '{"a":4}', ["at most 3"]),
    ("multiple_of", {"a": {**INT, "multipleOf": 5}}, '{"a":4}', ["multiple of 5"]),
    ("length", {"a": {**STR, "maxLength": 2}}, '{"a":"xyz"}', ["at most 2"]),
    ("items", {"a": {**LIST, "maxItems": 1}}, '{"a":["x","y"]}', ["at most 1"]),
    ("unique", {"a": {**LIST, "uniqueItems": True}}, '{"a":["x","x"]}', ["twice"]),
    ("properties", {"a": {"type": "object", "maxProperties": 1}}, '{"a":{"b":1,"c":2}}', ["at most 1"]),
    ("pattern", {"a": {**STR, "pattern": "^[a-c]+$"}}, '{"a":"xyz"}', ["^[a-c]+$"]),
    ("forbidden", {"a": False}, '{"a":1}', ["not allowed"]),
    ("no_variant", {"a": {"anyOf": [{**STR, "minLength": 3}, {**STR, "pattern": "^x"}]}}, '{"a":"q"}', ["a string"]),
]


@pytest.mark.parametrize(("kind", "properties", "text", "words"), KINDS, ids=[f"s9-{row[0]}" for row in KINDS])
def test_s9_kinds_and_hints(kind: str, properties: dict[str, Any] | None, text: str, words: list[str]) -> None:
    if properties is None:
        decoded = read(text)
    else:
        made = surface([tool(properties, required=list(properties)[:1], additionalProperties=False)])
        decoded = read(marked("f", text), made)
    assert made_of(decoded) == [kind], decoded
    message = decoded.errors[0].message
    assert all(word in message for word in words), message
    assert "nothing was run" in message


def test_s9_bounds_are_named() -> None:
    many = decode(surface(), PING * 130).errors
    assert [error.kind for error in many] == ["too_many_calls"]
    assert "at most 128" in many[0].message
    large = decode(surface(max_output=200), "x" * 201).errors
    assert [error.kind for error in large] == ["too_large"]
    assert "at most 200 bytes" in large[0].message


def test_s9_an_unknown_tool_of_a_dispatcher_points_to_the_lookup() -> None:
    compiled = tscg.compile([tool({}, "get_user"), tool({}, "list_users")], mode="dispatch")
    item = compiled.resolve("call", {"tool": "get_usr", "args": {}})
    assert isinstance(item, CallError)
    assert item.kind == "unknown_tool"
    assert "get_user" in item.message
    assert compiled.lookup_tool in item.message


def test_s9_one_fault_for_all_that_is_missing_in_an_object() -> None:
    item = resolved({"a": INT, "b": INT, "c": INT}, {}, required=["a", "b", "c"])
    assert [(fault.kind, fault.expected) for fault in item.faults] == [("missing_required", "a, b, c")]


def test_s9_a_condition_is_told_with_what_it_wants() -> None:
    item = resolved({"a": STR, "b": STR}, {"a": "x"}, dependentRequired={"a": ["b"]})
    assert item.kind == "missing_required"
    assert "b" in item.message
    assert "because a is given" in item.message


def test_s9_all_faults_together_in_the_order_of_the_schema() -> None:
    properties = {"title": STR, "labels": {"type": "array", "items": OBJECT}, "state": {"enum": ["open", "closed"]}}
    given = {"state": "opened", "labels": [{"x": 1}, {"x": "q"}], "name": "t"}
    item = resolved(properties, given, required=["title"])
    assert [fault.kind for fault in item.faults] == ["missing_required", "wrong_type", "enum"]
    lines = item.message.splitlines()
    assert lines[0] == "f: 3 problems, nothing was run."
    assert lines[-1] == "Send the corrected call."
    assert sum(line.startswith("f(") for line in lines) == 1


def test_s9_found_is_quoted_and_cut() -> None:
    item = resolved({"a": INT}, {"a": "x" * 500})
    assert len(item.faults[0].found) <= 80
    assert item.faults[0].found.startswith('"xxx')


def test_s9_at_most_twenty_faults_then_a_count() -> None:
    item = resolved({f"p{i}": INT for i in range(30)}, {f"p{i}": "q" for i in range(30)})
    assert len(item.faults) == 30
    assert item.message.count("\n- ") <= 21
    assert "more." in item.message


def test_s9_long_enums_are_cut_to_the_nearest() -> None:
    item = resolved({"a": {"enum": [f"member_{i}" for i in range(300)]}}, {"a": "membr_7"})
    assert item.message.count("member_") <= 22
    assert "Nearest: " in item.message or "member_7" in item.message
    assert "300" in item.message or "292" in item.message or "280" in item.message


WORST: list[Any] = [
    pytest.param({"a": INT}, {"a": "😀" * 5_000}, id="s9-400-emoji"),
    pytest.param({"名" * 60: INT}, {"名" * 60: "x"}, id="s9-400-long-names"),
    pytest.param(
        {f"parameter_{i}": INT for i in range(400)}, {f"parameter_{i}": "x" for i in range(400)}, id="s9-400-many"
    ),
    pytest.param({f"p{i}": STR for i in range(300)}, {}, id="s9-400-missing"),
    pytest.param({"a": {"enum": ["ü" * 200 + str(i) for i in range(200)]}}, {"a": "x"}, id="s9-400-members"),
    pytest.param({"a": {**STR, "pattern": "[a-z0-9äöü]{1,3}-" * 200}}, {"a": "x"}, id="s9-400-pattern"),
    pytest.param({"a": {"const": "c" * 5_000}}, {"a": "x"}, id="s9-400-const"),
    pytest.param({"a": INT}, {"<tool_call>" * 200: 1}, id="s9-400-markers-in-a-key"),
    pytest.param(
        {"a": {"anyOf": [{"type": "object", "required": [f"k{i}" * 9]} for i in range(60)]}},
        {"a": {}},
        id="s9-400-union",
    ),
]


@pytest.mark.parametrize(("properties", "given"), WORST)
def test_s9_a_message_has_at_most_400_tokens(properties: dict[str, Any], given: dict[str, Any]) -> None:
    item = resolved(properties, given, required=list(properties), additionalProperties=False)
    assert isinstance(item, CallError)
    assert tokenizer_of("o200k_base").count(item.message) <= TOKEN_LIMIT == 400


@pytest.mark.parametrize("name", ["<tool_call>" * 50, "é" * 256, "a" * 100_000, "[TOOL_CALLS]x", "x\ny\tz"])
def test_s9_messages_about_names_are_short_and_hold_no_marker(name: str) -> None:
    item = resolve(surface(), name, {})
    assert isinstance(item, CallError)
    assert tokenizer_of("o200k_base").count(item.message) <= TOKEN_LIMIT
    assert decode(surface(), item.message).items == ()
    assert not any(mark in item.message for mark in ("<tool_call>", "[TOOL_CALLS]", "Traceback", "NoneType"))


WARNED: list[Any] = [
    ("extra_argument", {"a": INT}, '{"a":1,"z":2}'),
    ("unchecked", {"a": {**STR, "pattern": "(("}}, '{"a":"x"}'),
    ("number_rounded", {"a": NUM}, '{"a":0.12345678901234567890123}'),
    ("null_word", {"a": {"type": ["string", "null"]}}, '{"a":"null"}'),
    ("ambiguous_escape", {"a": STR}, '{"a":"C:\\new"}'),
]


@pytest.mark.parametrize(("kind", "properties", "text"), WARNED, ids=[f"s9-{row[0]}" for row in WARNED])
def test_s9_warnings_stop_no_call(kind: str, properties: dict[str, Any], text: str) -> None:
    decoded = read(marked("f", text), surface([tool(properties)]))
    assert [[notice.kind for notice in call.warnings] for call in decoded.calls] == [[kind]]


# --- 10: streams ----------------------------------------------------------------------------------------------------


def test_s10_1_bytes_and_characters_give_the_same() -> None:
    text = f"Grüße 😀 {marked('get_weather', json.dumps({'city': 'Malmö 😀'}, ensure_ascii=False))}ok"
    whole = read(text)
    data = text.encode()
    for size in (1, 2, 3, 7):
        stream = Stream(surface())
        for at in range(0, len(data), size):
            stream.feed(data[at : at + size])
        assert stream.close() == whole


def test_s10_2_a_call_comes_once_when_it_is_closed() -> None:
    stream = Stream(surface(reasoning="tags"))
    seen = [(at, event.call) for at, char in enumerate(PING + "!") for event in stream.feed(char) if event.call]
    assert [at for at, _ in seen] == [len(PING) - 1]
    assert stream.close().calls == (seen[0][1],)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_s10_2_nothing_of_a_call_is_shown_before(size: int) -> None:
    stream = Stream(surface(reasoning="tags"))
    text = marked("bash", '{"command":"secret"}')
    shown = "".join(event.text or "" for at in range(0, len(text), size) for event in stream.feed(text[at : at + size])
                    if isinstance(event, TextEvent))  # fmt: skip
    assert shown == stream.close().text == ""


def test_s10_3_no_half_of_a_pair_is_shown() -> None:
    stream = Stream(surface())
    half = "😀".encode("utf-16-le")
    first, second = (half[at : at + 2].decode("utf-16-le", "surrogatepass") for at in (0, 2))
    assert stream.feed(f"a{first}")[0] == TextEvent(text="a")
    assert "".join(event.text for event in stream.feed(second) if isinstance(event, TextEvent)) == "😀"
    assert stream.close().text == "a😀"


def test_s10_4_text_is_held_back_at_most_a_markers_length() -> None:
    stream = Stream(surface())
    assert [event.text for event in stream.feed("x <b>") if isinstance(event, TextEvent)] == ["x <b>"]
    assert stream.feed(" <tool_cal") == [TextEvent(text=" ")]
    assert "".join(event.text for event in stream.feed("m ") if isinstance(event, TextEvent)) == "<tool_calm "
    assert stream.close().text == "x <b> <tool_calm "


def test_s10_4_weak_candidates_wait_until_a_line_rules_them_out() -> None:
    stream = Stream(surface())
    assert stream.feed('```json\n{"name":"ping","arguments":{}}\n```\n') == []
    events = stream.feed("so")
    assert "".join(event.text for event in events if isinstance(event, TextEvent)).startswith("```json")
    assert stream.close().calls == ()


@pytest.mark.parametrize(
    ("options", "waits"),
    [
        pytest.param({"reasoning": "auto"}, True, id="s10.5-auto"),
        pytest.param({"reasoning": "none"}, False, id="s10.5-none"),
        pytest.param({"reasoning": "tags"}, False, id="s10.5-tags"),
        pytest.param({"reasoning": "tags", "native": frozenset({"ping"})}, True, id="s10.5-native-tools-were-sent"),
    ],
)
def test_s10_5_calls_wait_where_something_could_change_them(options: dict[str, Any], waits: bool) -> None:
    stream = Stream(surface(**options))
    assert bool([event for event in stream.feed(f"{PING} ") if isinstance(event, ItemEvent)]) != waits
    assert len(stream.close().calls) == 1


def test_s10_5_prefilled_reasoning_ends_ahead() -> None:
    stream = Stream(surface(reasoning="prefilled"))
    assert not [event for event in stream.feed(f"hm {PING} hm") if isinstance(event, ItemEvent)]
    assert [event for event in stream.feed(f"</think>{PING}") if isinstance(event, ItemEvent)]
    assert len(stream.close().calls) == 1


def deltas(*parts: dict[str, Any]) -> Decoded:
    stream = Stream(surface(mode="native"))
    for part in parts:
        stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [part]}}]})
    return stream.close()


def part(index: int | None = None, **fields: Any) -> dict[str, Any]:
    function = {name: fields.pop(name) for name in ("name", "arguments") if name in fields}
    return {**({} if index is None else {"index": index}), **fields, "function": function}


DELTAS: list[Any] = [
    pytest.param(
        [part(0, id="a", name="ping", arguments="{}"), part(0, id="b", name="ping", arguments="{}")], ["a", "b"],
        id="s10.6-a-new-id-under-a-used-index",
    ),
    pytest.param(
        [part(0, id="a", name="get_weather", arguments='{"ci'), part(0, arguments='ty":"Oslo"}')], ["a"],
        id="s10.6-no-id-belongs-to-its-index",
    ),
    pytest.param(
        [part(id="a", name="get_weather", arguments='{"ci'), part(arguments='ty":"Oslo"}')], ["a"],
        id="s10.6-no-index-belongs-to-the-open-call",
    ),
    pytest.param(
        [part(0, id="a", name="ping", arguments=""), part(0, name="ping", arguments="{}")], ["a"],
        id="s10.6-a-repeated-name-is-one-name",
    ),
    pytest.param([part(0, id="a", name="ping")], ["a"], id="s10.7-no-delta-no-arguments"),
]  # fmt: skip


@pytest.mark.parametrize(("parts", "ids"), DELTAS)
def test_s10_6_deltas(parts: list[dict[str, Any]], ids: list[str]) -> None:
    decoded = deltas(*parts)
    assert ([call.id for call in decoded.calls], decoded.errors) == (ids, ())


def test_s10_6_after_a_complete_value_a_delta_starts_another() -> None:
    parts = [part(name="ping", arguments="{}"), part(name="get_weather", arguments=OSLO)]
    assert made_of(deltas(*parts)) == [("ping", {}), CALLED]


def test_s10_7_done_replaces_and_empty_input_is_no_data() -> None:
    stream = Stream(surface(mode="native"))
    block = {"type": "tool_use", "id": "c1", "name": "get_weather", "input": {}}
    stream.feed({"type": "content_block_start", "index": 0, "content_block": block})
    stream.feed(
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": OSLO}}
    )
    stream.feed({"type": "content_block_stop", "index": 0})
    assert made_of(stream.close()) == [CALLED]
    stream = Stream(surface(mode="native"))
    item = {"type": "function_call", "id": "f1", "call_id": "c1", "name": "get_weather", "arguments": ""}
    stream.feed({"type": "response.output_item.added", "output_index": 0, "item": item})
    stream.feed({"type": "response.function_call_arguments.delta", "output_index": 0, "item_id": "f1", "delta": '{"x'})
    stream.feed({"type": "response.output_item.done", "output_index": 0, "item": {**item, "arguments": OSLO}})
    assert made_of(stream.close()) == [CALLED]


def test_s10_8_bad_bytes_are_invalid_utf8_for_their_call() -> None:
    data = marked("bash", '{"command":"X"}').encode().replace(b"X", b"\xff") + PING.encode()
    for size in (1, 3, len(data)):
        stream = Stream(surface())
        for at in range(0, len(data), size):
            stream.feed(data[at : at + size])
        decoded = stream.close()
        assert made_of(decoded) == ["invalid_utf8", ("ping", {})]
        assert "\ufffd" not in decoded.errors[0].message


def test_s10_9_close_is_required_and_final() -> None:
    stream = Stream(surface())
    stream.feed(PING)
    stream.close()
    for again in (stream.close, lambda: stream.feed("x")):
        with pytest.raises(ConfigError):
            again()


@pytest.mark.parametrize("size", [8_000, 8_100, 8_192, 8_300, 20_000])
@pytest.mark.parametrize(
    "closer", ["</tool_call>", "", "</tool_calls>"], ids=["closed", "not-closed", "another-closer"]
)
def test_s10_1_bodies_around_the_length_that_is_read_in_one_step(size: int, closer: str) -> None:
    """A short body is read in one step when its closer came, a long one piece by piece: nobody may see which."""
    command = json.dumps({"command": f'{"x" * (size - 60)} </tool_call> {{ "'})
    text = f'<tool_call>\n{{"name":"bash","arguments":{command}}}\n{closer} and {PING} more'
    whole = decode(surface(), text)
    assert [item[0] for item in made_of(whole)] == ["bash", "ping"]
    assert whole.text.lstrip() == "and  more"
    for step in (61, 1_000, 4_096, 8_191):
        stream = Stream(surface())
        for at in range(0, len(text), step):
            stream.feed(text[at : at + step])
        assert stream.close() == whole


def test_s10_2_a_call_without_its_closer_does_not_wait_for_the_end() -> None:
    stream = Stream(surface(reasoning="tags"))
    assert stream.feed(PING.removesuffix("</tool_call>") + "\n") == []
    events = stream.feed("and now some text")
    assert [event.call.name for event in events if event.call] == ["ping"]
    assert stream.close().text.strip() == "and now some text"


# --- 11: ids and history --------------------------------------------------------------------------------------------


def test_s11_ids() -> None:
    made = surface(mode="native")
    kept = decode(made, native(("ping", "{}"), ("ping", "{}"), ("ping", "{}"), ids=("c1", "c1", "c1")))
    assert [call.id for call in kept.calls] == ["c1"]  # id, name and arguments are equal
    other = [("get_weather", json.dumps({"city": city})) for city in "abc"]
    assert [call.id for call in decode(made, native(*other, ids=("c1",) * 3)).calls] == ["c1", "c1-2", "c1-3"]
    empty = decode(made, native(("ping", "{}"), ("ping", "{}"), ids=("", "")))
    assert len({call.id for call in empty.calls}) == 2
    assert all(
        len(call.id) == 9 and call.id.isalnum() and call.id.islower() | call.id.isdecimal() for call in empty.calls
    )


def test_s11_made_ids_depend_on_seed_order_name_and_arguments() -> None:
    text = f"{PING}{PING}{marked('get_weather', OSLO)}"
    ids = [call.id for call in decode(surface(), text).calls]
    assert ids == [call.id for call in decode(surface(), text).calls]
    assert len({*ids, *(call.id for call in decode(surface(), text, seed="turn 2").calls)}) == 6


def test_s11_history_answers_every_id_and_sends_no_invented_name() -> None:
    uses = json.dumps({"tool_uses": [{"recipient_name": "functions.ping", "parameters": {}}] * 2})
    said = [native(("multi_tool_use.parallel", uses), ("ping", "{}"))]
    for made in (surface(mode="native"), surface()):
        out = json.dumps(encode_history(made, said))
        assert "multi_tool_use" not in out
    rows = encode_history(surface(mode="native"), said)
    asked = [call["id"] for row in rows for call in row.get("tool_calls", ())]
    assert asked == ["c1.0", "c1.1", "c2"]
    assert [row["tool_call_id"] for row in rows if row["role"] == "tool"] == asked


def test_s11_results_hold_no_marker() -> None:
    written = encode_result(surface(), Call(id="c1", name="ping", arguments={}), f"see {PING}")
    assert decode(surface(), written).items == ()
    assert encode_result(surface([]), resolve(surface([]), "nope", {}))


def test_s11_repaired_calls_are_written_repaired() -> None:
    made = surface([tool({"a": INT})])
    call = decode(made, "<tool_call>{'name':'F','arguments':{'a':'1'}}</tool_call>").calls[0]
    written = encode_call(made, call)
    assert written == marked("f", '{"a":1}')
    assert decode(made, written).calls[0].repairs == ()


def test_s11_constrained_history_stands_in_the_taught_form() -> None:
    made = surface(constrained=True)
    said = [
        {"role": "assistant", "content": "It is <tool_call> cold."},
        {"role": "assistant", "content": '{"answer":"as written"}'},
        native(("ping", "{}"), ("get_weather", OSLO)),
    ]
    first, second, calls, *_ = [row["content"] for row in encode_history(made, said)]
    assert json.loads(first) == {"answer": "It is <tool_call> cold."}
    assert decode(made, first).text == "It is <tool_call> cold."
    assert second == '{"answer":"as written"}'
    assert [call["name"] for call in json.loads(calls)["tool_calls"]] == ["ping", "get_weather"]
    assert made_of(decode(made, calls)) == [("ping", {}), CALLED]
    assert encode_history(surface(), said[:1]) == said[:1]


# --- 12: bounds -----------------------------------------------------------------------------------------------------


def nested(levels: int) -> dict[str, Any]:
    """Arguments of so many levels, the object of arguments counted."""
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


FORMS: list[Any] = [
    pytest.param('<tool_call>{"name":"f","arguments":%s}</tool_call>', id="s12-depth-tool_call"),
    pytest.param('<tool_call>[{"name":"f","arguments":%s}]</tool_call>', id="s12-depth-list"),
    pytest.param(
        '<tool_call>{"tool_calls":[{"function":{"name":"f","arguments":%s}}]}</tool_call>', id="s12-depth-wrapped"
    ),
    pytest.param("[TOOL_CALLS]f[ARGS]%s", id="s12-depth-mistral"),
    pytest.param('{"name":"f","arguments":%s}', id="s12-depth-json"),
    pytest.param("<function=f>%s</function>", id="s12-depth-llama"),
    pytest.param("<function=f><parameter=a>%s</parameter></function>", id="s12-depth-xml"),
    pytest.param("<|tool_call_start|>[f(a=%s)]<|tool_call_end|>", id="s12-depth-pythonic"),
    pytest.param("<tool_call>{'name':'f','arguments':%s}</tool_call>", id="s12-depth-spelled"),
]


@pytest.mark.parametrize("form", FORMS)
def test_s12_depth_counts_the_arguments(form: str) -> None:
    made = surface([tool({"a": {"type": "object"}})])
    inner = "a=%s" in form or "parameter" in form
    for levels in (64, 65):
        value = nested(levels)["a"] if inner else nested(levels)
        decoded = read(form % json.dumps(value, separators=(",", ":")), made)
        if levels == 64:
            assert [call.arguments for call in decoded.calls] == [nested(64)], decoded
        else:
            assert made_of(decoded) == ["too_deep"]


@pytest.mark.parametrize("mode", ["text", "native", "dispatch", "code", "passthrough"])
def test_s12_deep_calls_go_round_in_every_mode(mode: str) -> None:
    compiled = tscg.compile([tool({"a": {}}), tool({}, "g")], mode=mode)
    call = Call(id="c1", name="f", arguments=nested(64))
    written = compiled.encode_call(call)
    decoded = compiled.decode(written)
    if mode == "code":
        assert len(decoded.programs) == 1
        return
    assert [one.arguments for one in decoded.calls] == [nested(64)]
    item = compiled.resolve("f", nested(65))
    assert isinstance(item, CallError)
    assert item.kind == "too_deep"


BOUNDS: list[Any] = [
    pytest.param({"max_output": len(PING)}, PING, [("ping", {})], id="s12-output"),
    pytest.param({"max_output": len(PING) - 1}, PING, [("ping", {}), "too_large"], id="s12-output-above"),
    pytest.param({"max_output": 40}, PING, ["truncated", "too_large"], id="s12-output-far-above"),
    pytest.param({"max_calls": 2}, PING * 2, [("ping", {})] * 2, id="s12-calls"),
    pytest.param({"max_calls": 2}, PING * 4, [("ping", {})] * 2 + ["too_many_calls"], id="s12-calls-above"),
    pytest.param({}, marked("f", f'{{"a":{"1" * 1_000}}}'), [("f", {"a": int("1" * 1_000)})], id="s12-digits"),
    pytest.param({}, marked("f", f'{{"a":{"1" * 1_001}}}'), ["number_out_of_range"], id="s12-digits-above"),
    pytest.param({}, marked("f" * 257, "{}"), ["unknown_tool"], id="s12-name-above"),
]


@pytest.mark.parametrize(("options", "text", "wanted"), BOUNDS)
def test_s12_bounds(options: dict[str, Any], text: str, wanted: list[Any]) -> None:
    made = surface([tool({"a": {}}), tool({}, "ping")], **options)
    assert made_of(read(text, made)) == wanted


def test_s12_a_name_of_256_characters() -> None:
    name = "f" * 256
    made = surface([tool({}, name)])
    assert isinstance(resolve(made, name.upper(), {}), Call)
    assert isinstance(resolve(made, name.upper(), {}), Call)
    assert isinstance(resolve(surface([tool({}, name + "f")]), (name + "f").upper(), {}), CallError)


@pytest.mark.parametrize(
    "keyword", ["max_output", "max_depth", "max_calls", "max_digits", "max_layers", "max_wrappers", "max_name"]
)
def test_s12_bounds_are_fields_with_the_promised_defaults(keyword: str) -> None:
    promised = {"max_output": 4 * 2**20, "max_depth": 64, "max_calls": 128, "max_digits": 1_000, "max_layers": 2,
                "max_wrappers": 2, "max_name": 256}  # fmt: skip
    assert getattr(tscg.Decoding(), keyword) == promised[keyword]


SCHEMAS: list[Any] = [
    pytest.param({"type": "object", "properties": {f"p{i}": {"anyOf": [{}] * 99} for i in range(600)}}, id="s12-nodes"),
    pytest.param({"type": "object", "properties": {"a": {"enum": list(range(10_001))}}}, id="s12-enum"),
]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_s12_schemas_beyond_the_bound(schema: dict[str, Any]) -> None:
    with pytest.raises(tscg.CompileError, match="big_tool"):
        tscg.compile([{"name": "big_tool", "inputSchema": schema}])


def test_s12_schema_depth() -> None:
    def deep(levels: int) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string"}
        for _ in range(levels):
            schema = {"type": "array", "items": schema}
        return {"name": "big_tool", "inputSchema": {"type": "object", "properties": {"a": schema}}}

    with pytest.raises(tscg.CompileError, match="big_tool"):
        tscg.compile([deep(70)])
    assert isinstance(tscg.compile([deep(50)]).resolve("big_tool", {}), Call)


HARD: list[Any] = [
    pytest.param("[" * 100_000, id="s12-brackets"),
    pytest.param("<" * 1_000_000, id="s12-a-megabyte"),
    pytest.param("<tool_call>" + "[" * 100_000, id="s12-brackets-in-a-call"),
    pytest.param('<tool_call>{"name":' * 3_000, id="s12-calls-in-calls"),
    pytest.param("<tool_call>{" + '"</tool_call>' * 50_000, id="s12-closers-in-strings"),
    pytest.param(('<tool_call>{"a":"' + "x" * 8_000 + "</tool_call>") * 100, id="s12-broken-long-bodies"),
]


@pytest.mark.parametrize("text", HARD)
def test_s12_hard_texts_take_a_second_at_most(text: str) -> None:
    made = surface()
    decode(made, "warm up")
    taken = []
    for _ in range(3):  # other work on the machine slows some of them
        start = time.process_time()
        decoded = decode(made, text)
        taken.append(time.process_time() - start)
        assert decoded.calls == ()
        if taken[-1] < 1:
            break
    assert min(taken) < slowness()


# --- 14: sharing ----------------------------------------------------------------------------------------------------

SAMPLES = [
    *(row.values[0] for row in ROWS),
    *(row.values[0] for row in CUT),
    *(row.values[0] for row in IN_REASONING),
    *(marked(row.values[0], OSLO) for row in LADDER),
    marked("get_weather", '{"city":3,"days":"x"}'),
]


def answers(made: Surface) -> list[Decoded]:
    return [decode(made, str(text), seed=str(number)) for number, text in enumerate(SAMPLES)]


def test_s14_eight_threads_give_the_serial_results() -> None:
    serial, made = answers(surface()), surface()
    out: list[list[Decoded]] = []
    threads = [threading.Thread(target=lambda: out.append(answers(made))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert out == [serial] * 8


def test_s14_pickled_and_unpickled() -> None:
    made = surface()
    before = answers(made)
    assert answers(pickle.loads(pickle.dumps(made))) == before
    assert pickle.loads(pickle.dumps(before)) == before
    compiled = tscg.compile([tool({"a": INT})])
    again = pickle.loads(pickle.dumps(compiled))
    assert again.decode(marked("f", '{"a":"1"}')) == compiled.decode(marked("f", '{"a":"1"}'))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="this system has no fork")
def test_s14_forked() -> None:
    made = surface()
    before = answers(made)
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    child = context.Process(target=lambda: theirs.send(answers(made)))
    child.start()
    assert ours.poll(60)
    assert ours.recv() == before
    child.join(10)
    assert child.exitcode == 0
