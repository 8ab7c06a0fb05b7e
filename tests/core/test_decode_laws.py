"""Laws of decoding over generated tools, values and texts."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.decode_samples import surface
from tscg.calls import Call, CallError, ItemEvent, TextEvent
from tscg.decoders import Stream, decode
from tscg.decoders.openings import LITERALS
from tscg.decoders.rows import ROWS
from tscg.encode import encode_call
from tscg.resolve import Surface, resolve
from tscg.validate import validator_of

# --- what is generated ----------------------------------------------------------------------------------------------

TRICKY = [
    "</tool_call>",
    '<tool_call>{"name":"a"}',
    "[TOOL_CALLS]",
    "```json",
    "\nAction: x\nAction Input: {}",
    "Observation:",
    "<think>",
    "</think>",
    "</parameter>",
    "'",
    '"',
    "\\",
    "\\n",
    "{",
    "}]",
    "null",
    "é",
    "😀",
    "\u202e",
    "\x00",
    "<|channel|>",
    "%s",
    "C:\\new",
    "[f(a=1)]",
]
# Lone surrogates are no Unicode text and are excepted.
CHARACTERS = st.characters(exclude_categories=["Cs"])
TEXTS = st.one_of(st.text(CHARACTERS, max_size=8), st.lists(st.sampled_from(TRICKY), max_size=3).map("".join))
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**80), 2**80), st.floats(allow_nan=False, allow_infinity=False), TEXTS
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)
NAMES = st.from_regex(r"[a-zA-Z_$][a-zA-Z0-9_$.-]{0,8}", fullmatch=True)


def schema_of(value: Any) -> dict[str, Any]:
    """A schema that holds for a value."""
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, dict):
        return {
            "type": "object",
            "properties": {key: schema_of(one) for key, one in value.items()},
            "required": list(value),
        }
    if isinstance(value, list):
        return {"type": "array", "items": {"anyOf": [schema_of(one) for one in value]}} if value else {"type": "array"}
    if value is None:
        return {"type": ["string", "null"]}
    kinds = {str: "string", int: "integer", float: "number"}
    return {"type": kinds[type(value)]}


@st.composite
def called(draw: st.DrawFn) -> tuple[list[dict[str, Any]], str, dict[str, Any]]:
    """Tools, the name of one of them, and arguments that it takes."""
    arguments = draw(st.dictionaries(TEXTS, VALUES, max_size=4))
    names = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    schema = schema_of(arguments)
    loose = draw(st.lists(st.sampled_from(list(arguments)), unique=True)) if arguments else []
    schema["required"] = [key for key in arguments if key not in loose]
    if draw(st.booleans()):
        schema["additionalProperties"] = False
    tools = [
        {"name": name, "description": "", "inputSchema": schema if name == names[0] else {"type": "object"}}
        for name in names
    ]
    return tools, names[0], arguments


def same(left: Any, right: Any) -> bool:
    """Equal, with 1, 1.0 and true kept apart but for integral floats."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


def cut(text: str, seed: int) -> list[str]:
    pick = random.Random(seed)
    places = sorted(pick.sample(range(1, len(text)), min(len(text) - 1, pick.randint(1, 9)))) if len(text) > 1 else []
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


# --- law 4 ----------------------------------------------------------------------------------------------------------


@given(called(), st.integers(0, 2**32))
@settings(max_examples=150)
def test_decode_inverts_encode(sample: tuple[list[dict[str, Any]], str, dict[str, Any]], seed: int) -> None:
    tools, name, arguments = sample
    call = Call(id="c1", name=name, arguments=arguments)
    for made in (
        surface(tools),
        surface(tools, "native"),
        surface(tools, dialect="mistral"),
        surface(tools, dialect="llama"),
    ):
        written = encode_call(made, call)
        decoded = decode(made, written)
        assert [one.name for one in decoded.calls] == [name], (written, decoded)
        assert same(decoded.calls[0].arguments, arguments)
        assert decoded.calls[0].repairs == ()
        assert encode_call(made, decoded.calls[0]) == (
            written if isinstance(written, str) else {**written, "id": decoded.calls[0].id}
        )
        if isinstance(written, str):
            stream = Stream(made)
            for piece in cut(written, seed):
                stream.feed(piece)
            assert stream.close() == decoded


@given(called(), called())
@settings(max_examples=50)
def test_several_calls_in_a_row(one: tuple[Any, str, Any], two: tuple[Any, str, Any]) -> None:
    tools, name, arguments = one
    made = surface(tools)
    call = Call(name=name, arguments=arguments)
    text = f"{encode_call(made, call)}\n{encode_call(made, call)}"
    assert [found.arguments for found in decode(made, text).calls] == [arguments, arguments]


# --- law 7 ----------------------------------------------------------------------------------------------------------

PARAMETERS = st.dictionaries(
    st.sampled_from("abcd"),
    st.sampled_from(
        [
            {"type": "integer"},
            {"type": "string", "minLength": 2},
            {"enum": ["x", 1, None]},
            {"type": "array", "items": {"type": "number"}},
            {"type": "boolean"},
            {
                "type": "object",
                "properties": {"k": {"type": "integer"}},
                "required": ["k"],
                "additionalProperties": False,
            },
            {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            {"type": "integer", "minimum": 3},
            {"const": "k"},
            {"not": {"type": "string"}},
        ]
    ),
)
SENT = st.dictionaries(
    st.sampled_from(["a", "b", "c", "d", "z", "args", "f", "properties"]),
    st.one_of(
        st.sampled_from(["", "1", "x", "X", "null", "true", "[1]", '{"k":1}', "2.5", " x "]),
        st.none(),
        st.integers(-1, 5),
        st.floats(allow_nan=False, allow_infinity=False),
        st.lists(st.sampled_from(["1", 2, 2.0, None]), max_size=2),
        st.fixed_dictionaries({"k": st.sampled_from([1, "1", 1.0])}),
    ),
    max_size=4,
)


@given(PARAMETERS, SENT, st.booleans(), st.booleans())
@settings(max_examples=300)
def test_nothing_invalid_is_returned(
    properties: dict[str, Any], sent: dict[str, Any], closed: bool, needed: bool
) -> None:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties) if needed else [],
        "additionalProperties": not closed,
    }
    raw = [{"name": "f", "description": "", "inputSchema": schema}]
    made = surface(raw, "native")
    validator = validator_of(made.catalog[0])
    item = resolve(made, "f", sent)
    if isinstance(item, Call):
        assert validator.is_valid(item.arguments)
        if validator.is_valid(sent) and not any(repair.startswith("integral_float") for repair in item.repairs):
            assert same(item.arguments, sent)
            assert item.repairs == ()
        if item.arguments != sent:
            assert item.repairs
    else:
        assert isinstance(item, CallError)
        assert not validator.is_valid(sent)
        assert item.faults == validator.faults(sent)  # the errors describe what the model sent
        assert item.message
    strict = resolve(surface(raw, "native", decoding=_strict()), "f", sent)
    assert isinstance(strict, Call) == validator.is_valid(sent)


def _strict() -> Any:
    from tscg.decoding import decoding_of

    return decoding_of("strict")


# --- any text -------------------------------------------------------------------------------------------------------

SOUP = st.lists(
    st.one_of(
        st.sampled_from(
            [
                *LITERALS,
                "\n",
                " ",
                "\n\n",
                "Action Input:",
                "get_weather",
                "ping",
                "bash",
                "(",
                ")",
                "{",
                "}",
                "[",
                "]",
                '"',
                "'",
                ":",
                ",",
                "\\",
                '{"city":"Oslo"}',
                '{"name":"get_weather","arguments":{"city":"A"}}',
                '{"name":"ping","arguments":{}}',
                "[get_weather(city='x')]",
                "[ping()]",
                "<bash>",
                "</bash>",
                "<parameter=command>",
                "<parameter=timeout>",
                '<invoke name="bash">',
                '<a:invoke name="bash">',
                '<a:parameter name="command">',
                "</a:parameter>",
                "</a:invoke>",
                "<arg_key>",
                "</arg_key>",
                "<arg_value>",
                "<function=bash>",
                " to=functions.get_weather",
                "commentary",
                "analysis",
                "final",
                "assistant",
                "5",
                "//",
                "None",
                "😀",
                "\ud83d",
                "\udcff",
                "```json\n",
                "```tool_code\n",
                "\nAction: ping\nAction Input: {}\n",
                "multi_tool_use.parallel",
                ">>>ping\n",
            ]
        ),
        st.text(max_size=4),
    ),
    max_size=12,
).map("".join)
SURFACES: dict[str, Surface] = {
    "default": surface(),
    "tags, weak anywhere": surface(reasoning="tags", weak="anywhere"),
    "prefilled": surface(reasoning="prefilled", marker_missing=False, calls_in_reasoning=True),
    "native": surface(mode="native", constrained=True),
}


@pytest.mark.parametrize("name", SURFACES)
@given(text=SOUP, seed=st.integers(0, 2**32), reason=st.sampled_from([None, "stop", "length"]))
@settings(max_examples=150)
def test_any_text_gives_a_result_and_any_cutting_the_same(name: str, text: str, seed: int, reason: str | None) -> None:
    made = SURFACES[name]
    whole = decode(made, text, reason)
    for pieces in ([text], list(text), cut(text, seed)):
        stream = Stream(made)
        events = [event for piece in pieces for event in stream.feed(piece)]
        assert stream.close(reason) == whole
        said = "".join(event.text for event in events if isinstance(event, TextEvent))
        assert whole.text.startswith(said)
        given_items = [event.item for event in events if isinstance(event, ItemEvent)]
        assert list(whole.items[: len(given_items)]) == given_items
    json.dumps(asdict(whole), ensure_ascii=False).encode()  # everything is text that can be written
    ids = [item.id for item in whole.items]
    assert len(set(ids)) == len(ids)
    assert all(ids)
    for call in whole.calls:
        assert validator_of(made.catalog.by_name[call.name]).is_valid(call.arguments)
    for row in ROWS:
        for opener in row.openers:
            assert not any(opener.strip() in error.message for error in whole.errors if not opener.startswith("\n"))


@given(
    st.one_of(
        SOUP,
        st.text(),
        st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=5),
    )
)
@settings(max_examples=200)
def test_any_arguments_give_a_result(given_arguments: Any) -> None:
    for name in ("get_weather", "ping", "functions.bash", "nope"):
        item = resolve(SURFACES["native"], name, given_arguments)
        assert isinstance(item, Call | CallError)


@pytest.mark.parametrize(
    "text",
    ['<|action_start|><|plugin|>[]<|tool_call_start|>[""{""<|tool_call_end|>', "<|tool_call_start|>[<|tool_call_end|>"],
    ids=["behind another", "alone"],
)
@pytest.mark.parametrize("reason", ["length", "stop", None])
@pytest.mark.parametrize("size", [1, 7, 1_000])
def test_what_was_closed_was_not_cut(text: str, reason: str | None, size: int) -> None:
    """A broken call with its end before the limit is the same fault, whole and in pieces."""
    shown = surface()
    whole, stream = decode(shown, text, reason), Stream(shown)
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    assert stream.close(reason) == whole
    assert whole.errors[-1].kind == "unparsed_call"
