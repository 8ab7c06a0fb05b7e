"""Bounds: every output gives its result in time that grows with its length, and no exception."""

from __future__ import annotations

import time
from typing import Any

import pytest

from tests.core.decode_samples import kinds, native, surface, tool
from tscg.calls import CallError
from tscg.decoders import Stream, decode
from tscg.resolve import resolve

MANY = 100_000
LONG: list[Any] = [
    pytest.param("<" * 1_000_000, None, id="a megabyte of <"),
    pytest.param("[" * 1_000_000, None, id="a megabyte of ["),
    pytest.param("{" * 1_000_000, None, id="a megabyte of {"),
    pytest.param("<a" * 500_000, None, id="tags"),
    pytest.param("\n[a(" * 200_000, None, id="bare calls"),
    pytest.param("```json\n" * 20_000, None, id="fences"),
    pytest.param("\n>>>x" * 20_000, None, id="arrows"),
    pytest.param("\nAction: x" * 20_000, None, id="actions"),
    pytest.param("</think>" * MANY, None, id="closers of reasoning"),
    pytest.param("<tool_call>" + "[" * MANY, "too_deep", id="brackets"),
    pytest.param('<tool_call>{"name":"ping","arguments":' + '{"a":' * MANY, "too_deep", id="objects"),
    pytest.param("<tool_call>" * MANY, "unparsed_call", id="calls in calls"),
    pytest.param("<tool_call>{" * MANY, "truncated", id="open calls"),
    pytest.param("<function=bash>" * MANY, "truncated", id="functions in functions"),
    pytest.param("<function=bash><parameter=command>" + "</function>" * MANY, "truncated", id="ends inside a value"),
    pytest.param(
        "<function=bash>" + "<parameter=command>x</parameter>" * 20_000 + "</function>",
        "ambiguous_call",
        id="parameters",
    ),
    pytest.param('<tool_call>{"name":"bash","arguments":{"command":"' + "\\" * MANY, "truncated", id="backslashes"),
    pytest.param("[ping(" + "(" * MANY, None, id="parentheses"),
    pytest.param("<|tool_call_start|>[ping(x=" + "-" * MANY + "1)]<|tool_call_end|>", "unparsed_call", id="signs"),
    pytest.param("<|tool_call_start|>[ping(x=" + "not " * 50_000 + "1)]<|tool_call_end|>", "unparsed_call", id="nots"),
    pytest.param(
        "<|tool_call_start|>[ping(x=" + "+".join("1" * MANY) + ")]<|tool_call_end|>", "unparsed_call", id="sums"
    ),
    pytest.param(
        "<|tool_call_start|>[ping(x=" + ".".join("a" * 50_000) + ")]<|tool_call_end|>", "unparsed_call", id="attributes"
    ),
    pytest.param("\ud800" * MANY, None, id="surrogates"),
]


@pytest.mark.parametrize(("text", "kind"), LONG)
def test_long_outputs(text: str, kind: str | None) -> None:
    made = surface()
    decode(made, "warm up")
    start = time.process_time()
    decoded = decode(made, text)
    assert time.process_time() - start < 4  # about one second at most; machines differ
    assert decoded.calls == ()
    if kind is not None:
        assert decoded.errors[0].kind == kind


@pytest.mark.parametrize("size", [1, 64])
def test_a_long_argument_in_small_pieces_is_linear(size: int) -> None:
    def spent(length: int) -> float:
        text = '<tool_call>{"name":"bash","arguments":{"command":"' + "x" * length + '"}}</tool_call>'
        stream = Stream(surface())
        start = time.process_time()
        for i in range(0, len(text), size):
            stream.feed(text[i : i + size])
        assert len(stream.close().calls) == 1
        return time.process_time() - start

    spent(1000)
    assert spent(80_000) < 30 * spent(8_000) + 0.05  # ten times the length; a hundred times would be quadratic


def test_output_beyond_the_bound() -> None:
    made = surface(max_output=100)
    text = '<tool_call>{"name":"ping","arguments":{}}</tool_call>' + "x" * 200
    decoded = decode(made, text)
    assert [call.name for call in decoded.calls] == ["ping"]
    assert [error.kind for error in decoded.errors] == ["too_large"]
    stream = Stream(made)
    for char in text:
        stream.feed(char)
    assert stream.close() == decoded
    cut = decode(surface(max_output=30), text)
    assert [error.kind for error in cut.errors] == ["truncated", "too_large"]
    long = resolve(made, "bash", '{"command":"' + "x" * 200 + '"}')
    assert isinstance(long, CallError)
    assert long.kind == "too_large"


def test_calls_beyond_the_bound() -> None:
    text = '<tool_call>{"name":"ping","arguments":{}}</tool_call>' * 200
    decoded = decode(surface(), text)
    assert len(decoded.calls) == 128
    assert [error.kind for error in decoded.errors] == ["too_many_calls"]


def test_depth_is_bounded_at_the_option() -> None:
    def nested(levels: int) -> str:
        return '{"env":' * levels + "{}" + "}" * levels

    deep = {"command": "x"}
    made = surface(mode="native")
    assert decode(made, native(("bash", '{"command":"x",' + nested(61)[1:]))).calls
    item = resolve(made, "bash", '{"command":"x",' + nested(70)[1:])
    assert isinstance(item, CallError)
    assert kinds(item) == ["too_deep"]
    inner: dict[str, Any] = {}
    for _ in range(70):
        inner = {"env": inner}
    again = resolve(made, "bash", {**deep, **inner})
    assert isinstance(again, CallError)
    assert kinds(again) == ["too_deep"]


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
def test_layers_of_encoding_are_bounded(layers: int) -> None:
    import json

    text = '{"city": "x"}'
    for _ in range(layers):
        text = json.dumps(text)
    item = resolve(surface(), "get_weather", text)
    assert isinstance(item, CallError) == (layers > 2)


def test_wrappers_are_bounded() -> None:
    inner = '{"name":"ping","arguments":{}}'
    for depth in range(4):
        decoded = decode(surface(), f"<tool_call>{inner}</tool_call>")
        assert bool(decoded.calls) == (depth <= 2), depth
        inner = f'{{"tool_call":{inner}}}'


@pytest.mark.parametrize("item", ["x", "1", {"k": 1}, None])
def test_thousands_of_faults_are_told_in_time(item: Any) -> None:
    raw = tool({"a": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}}})
    made = surface([raw])
    start = time.process_time()
    refused = resolve(made, "f", {"a": [item] * 5_000})
    assert time.process_time() - start < 4
    assert isinstance(refused, CallError)
    assert len(refused.faults) == 5_000
