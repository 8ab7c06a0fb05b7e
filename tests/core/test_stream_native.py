"""Streams: native deltas of every kind, bytes, events, and what is never taken back."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.core.decode_samples import native, surface
from tscg.calls import Call, Decoded, ItemEvent, TextEvent
from tscg.decoders import Stream, decode
from tscg.errors import ConfigError


def run(
    chunks: Sequence[Any], finish_reason: str | None = None, mode: str = "native", **options: Any
) -> tuple[Decoded, list[list[Any]]]:
    stream = Stream(surface(mode=mode, **options))
    events = [list(stream.feed(chunk)) for chunk in chunks]
    return stream.close(finish_reason), events


def rows(decoded: Decoded) -> list[tuple[str, str, Any]]:
    return [(call.id, call.name, call.arguments) for call in decoded.calls]


def delta(index: int | None = 0, arguments: Any = None, **fields: Any) -> dict[str, Any]:
    function = {key: fields.pop(key) for key in ("name",) if key in fields}
    if arguments is not None:
        function["arguments"] = arguments
    entry: dict[str, Any] = {**fields, "function": function}
    if index is not None:
        entry["index"] = index
    return {"tool_calls": [entry]}


CITY = {"city": "Oslo"}
CHUNKS: list[Any] = [
    pytest.param(
        [delta(id="a", name="get_weather", arguments=""), delta(arguments='{"city":'), delta(arguments='"Oslo"}')],
        [("a", "get_weather", CITY)],
        id="one call",
    ),
    pytest.param(
        [
            delta(id="a", name="ping", arguments="{}"),
            delta(id="b", name="get_weather", arguments='{"ci'),
            delta(arguments='ty":"Oslo"}'),
        ],
        [("a", "ping", {}), ("b", "get_weather", CITY)],
        id="a new id under a used index",
    ),
    pytest.param(
        [
            delta(0, id="a", name="get_weather", arguments='{"city":'),
            delta(1, id="b", name="ping", arguments="{"),
            delta(0, arguments='"Oslo"}'),
            delta(1, arguments="}"),
        ],
        [("a", "get_weather", CITY), ("b", "ping", {})],
        id="turn about",
    ),
    pytest.param(
        [
            delta(id="a", name="get_weather", arguments='{"city"'),
            delta(id="a", name="get_weather", arguments=':"Oslo"}'),
        ],
        [("a", "get_weather", CITY)],
        id="id and name in each delta",
    ),
    pytest.param(
        [
            delta(None, id="a", name="get_weather", arguments='{"city":'),
            delta(None, arguments='"Oslo"}'),
            delta(None, id="b", name="ping", arguments="{}"),
        ],
        [("a", "get_weather", CITY), ("b", "ping", {})],
        id="no index",
    ),
    pytest.param([delta(id="a", name="ping")], [("a", "ping", {})], id="no arguments"),
    pytest.param([delta(id="a", name="get_weather", arguments=CITY)], [("a", "get_weather", CITY)], id="a mapping"),
    pytest.param(
        [
            {"choices": [{"index": 0, "delta": delta(id="a", name="ping", arguments="{}")}]},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
            {"choices": [], "usage": {}},
        ],
        [("a", "ping", {})],
        id="whole chunks",
    ),
    pytest.param(
        [
            {"function_call": {"name": "get_weather", "arguments": '{"city":'}},
            {"function_call": {"arguments": '"Oslo"}'}},
        ],
        [(None, "get_weather", CITY)],
        id="function_call",
    ),
    pytest.param(
        [
            {"type": "message_start", "message": {}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "I look."}},
            {"type": "content_block_stop", "index": 0},
            {
                "type": "content_block_start",
                "index": 1,
                "content_block": {"type": "tool_use", "id": "a", "name": "get_weather", "input": {}},
            },
            {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ""}},
            {
                "type": "content_block_delta",
                "index": 1,
                "delta": {"type": "input_json_delta", "partial_json": '{"city": "Oslo"}'},
            },
            {"type": "content_block_stop", "index": 1},
            {
                "type": "content_block_start",
                "index": 2,
                "content_block": {"type": "tool_use", "id": "b", "name": "ping", "input": {}},
            },
            {"type": "content_block_stop", "index": 2},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
            {"type": "message_stop"},
        ],
        [("a", "get_weather", CITY), ("b", "ping", {})],
        id="messages events",
    ),
    pytest.param(
        [
            {
                "type": "response.output_item.added",
                "output_index": 0,
                "item": {"type": "function_call", "id": "fc", "call_id": "a", "name": "get_weather", "arguments": ""},
            },
            {"type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": 0, "delta": '{"city":'},
            {"type": "response.function_call_arguments.delta", "item_id": "fc", "output_index": 0, "delta": '"Oslo"}'},
            {
                "type": "response.function_call_arguments.done",
                "item_id": "fc",
                "output_index": 0,
                "arguments": '{"city":"Oslo"}',
            },
            {
                "type": "response.output_item.done",
                "output_index": 0,
                "item": {
                    "type": "function_call",
                    "id": "fc",
                    "call_id": "a",
                    "name": "get_weather",
                    "arguments": '{"city":"Oslo"}',
                },
            },
            {"type": "response.completed", "response": {}},
        ],
        [("a", "get_weather", CITY)],
        id="responses events",
    ),
    pytest.param(
        [
            {"candidates": [{"content": {"parts": [{"text": "I "}]}}]},
            {
                "candidates": [
                    {
                        "content": {"parts": [{"functionCall": {"id": "a", "name": "get_weather", "args": CITY}}]},
                        "finishReason": "STOP",
                    }
                ]
            },
        ],
        [("a", "get_weather", CITY)],
        id="gemini chunks",
    ),
    pytest.param(
        [
            {
                "message": {
                    "role": "assistant",
                    "content": "",
                    "tool_calls": [{"function": {"name": "get_weather", "arguments": CITY}}],
                },
                "done": False,
            },
            {"message": {"role": "assistant", "content": ""}, "done": True, "done_reason": "stop"},
        ],
        [(None, "get_weather", CITY)],
        id="ollama chunks",
    ),
]


@pytest.mark.parametrize(("chunks", "wanted"), CHUNKS)
def test_deltas(chunks: list[Any], wanted: list[Any]) -> None:
    decoded, events = run(chunks)
    assert [
        (None if want[0] is None else id, name, given)
        for want, (id, name, given) in zip(wanted, rows(decoded), strict=True)
    ] == wanted
    assert all(call.repairs == () for call in decoded.calls)
    given = [event.item for some in events for event in some if isinstance(event, ItemEvent)]
    assert given == list(decoded.items[: len(given)])


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_any_cutting_of_arguments(size: int) -> None:
    text = json.dumps({"city": 'Os"lo }{', "days": 3})
    pieces = [text[i : i + size] for i in range(0, len(text), size)]
    chunks = [
        delta(id="a", name="get_weather", arguments=""),
        *[delta(arguments=piece) for piece in pieces],
        delta(1, id="b", name="ping"),
    ]
    decoded, _ = run(chunks)
    whole = decode(surface(mode="native"), native(("get_weather", text), ("ping", ""), ids=("a", "b")))
    assert decoded.items == whole.items


def test_no_call_before_its_end_and_no_later_than_that() -> None:
    _, events = run(
        [
            delta(id="a", name="get_weather", arguments='{"city":"Oslo"'),
            delta(arguments="}"),
            delta(1, id="b", name="ping"),
        ]
    )
    found = [any(event.call is not None for event in some) for some in events]
    assert found == [False, False, True]


def test_a_stream_that_was_cut() -> None:
    decoded, _ = run(
        [delta(id="a", name="ping", arguments="{}"), delta(1, id="b", name="get_weather", arguments='{"city":"O')],
        "length",
    )
    assert [call.name for call in decoded.calls] == ["ping"]
    assert [(error.kind, error.id) for error in decoded.errors] == [("truncated", "b")]
    cut, _ = run(
        [
            {
                "type": "content_block_start",
                "index": 0,
                "content_block": {"type": "tool_use", "id": "a", "name": "ping", "input": {}},
            },
            {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}},
        ]
    )
    assert [error.kind for error in cut.errors] == ["truncated"]


def test_done_events_replace_what_the_deltas_gave() -> None:
    decoded, _ = run(
        [
            {
                "type": "response.output_item.added",
                "output_index": 0,
                "item": {"type": "function_call", "id": "fc", "call_id": "a", "name": "ping"},
            },
            {"type": "response.function_call_arguments.delta", "item_id": "fc", "delta": '{"x":'},
            {"type": "response.function_call_arguments.done", "item_id": "fc", "arguments": "{}"},
        ]
    )
    assert rows(decoded) == [("a", "ping", {})]


def test_text_and_reasoning_deltas() -> None:
    decoded, events = run(
        [{"content": "He"}, {"reasoning_content": "hm"}, {"content": "llo"}, {"role": "assistant", "content": None}]
    )
    assert (decoded.text, decoded.reasoning) == ("Hello", "hm")
    assert [[event.text for event in some if isinstance(event, TextEvent)] for some in events] == [
        ["He"],
        [],
        ["llo"],
        [],
    ]


def test_calls_in_text_wait_where_native_tools_were_sent() -> None:
    text = '<tool_call>{"name":"ping","arguments":{}}</tool_call>'
    for mode, early in (("native", False), ("text", True)):
        stream = Stream(surface(mode=mode, reasoning="none"))
        events = stream.feed(text)
        assert any(event.call for event in events) is early
        assert [call.name for call in stream.close().calls] == ["ping"]
    decoded, _ = run([{"content": text}, delta(id="a", name="ping", arguments="{}")])
    assert [call.dialect for call in decoded.calls] == ["openai"]


def test_calls_in_text_wait_while_the_output_may_have_begun_in_reasoning() -> None:
    text = '<tool_call>{"name":"ping","arguments":{}}</tool_call>'
    stream = Stream(surface())
    assert not any(event.call for event in stream.feed(text))
    after = Stream(surface())
    after.feed("<think>hm</think>")
    assert any(event.call for event in after.feed(text))


def test_text_passes_at_once_and_markers_wait() -> None:
    stream = Stream(surface())
    assert [event.text for event in stream.feed("Let me <b>see</b>") if isinstance(event, TextEvent)] == [
        "Let me <b>see</b>"
    ]
    assert stream.feed(" <tool_ca") == [TextEvent(text=" ")]
    assert stream.feed("ke>") == [TextEvent(text="<tool_cake>")]
    assert stream.close().text == "Let me <b>see</b> <tool_cake>"


def test_bytes_cut_anywhere() -> None:
    data = '<tool_call>{"name":"get_weather","arguments":{"city":"文😀"}}</tool_call> é'.encode()
    for size in (1, 2, 3, 5, 100):
        stream = Stream(surface())
        for i in range(0, len(data), size):
            stream.feed(data[i : i + size])
        decoded = stream.close()
        assert [call.arguments for call in decoded.calls] == [{"city": "文😀"}]
        assert decoded.text == " é"
        assert decode(surface(), data) == decoded


def test_bytes_that_are_no_text() -> None:
    bad = b'<tool_call>{"name":"get_weather","arguments":{"city":"\xff"}}</tool_call>'
    decoded = decode(surface(), bad + b'\xfe<tool_call>{"name":"ping","arguments":{}}</tool_call>\xe6')
    assert [error.kind for error in decoded.errors] == ["invalid_utf8"]
    assert [call.name for call in decoded.calls] == ["ping"]
    assert decoded.text == "\ufffd\ufffd"
    assert [notice.kind for notice in decoded.warnings] == ["invalid_utf8"]


def test_halves_of_a_character_wait_for_each_other() -> None:
    stream = Stream(surface())
    events = [*stream.feed("a\ud83d"), *stream.feed("\ude00b")]
    assert [event.text for event in events if isinstance(event, TextEvent)] == ["a", "\U0001f600b"]
    assert stream.close().text == "a\U0001f600b"


def test_a_closed_stream_takes_no_more() -> None:
    stream = Stream(surface())
    stream.close()
    with pytest.raises(ConfigError, match="closed"):
        stream.feed("x")
    with pytest.raises(ConfigError, match="closed"):
        stream.close()


@pytest.mark.parametrize(
    "chunk", [5, ["x"], {"foo": 1}, {"choices": [{"index": 0, "delta": {}}, {"index": 1, "delta": {}}]}]
)
def test_unknown_chunks_are_the_developers(chunk: Any) -> None:
    with pytest.raises(ConfigError):
        Stream(surface()).feed(chunk)


def test_an_item_is_given_once() -> None:
    stream = Stream(surface(reasoning="none"))
    text = '<tool_call>{"name":"ping","arguments":{}}</tool_call>' * 3
    items = [event.item for piece in text for event in stream.feed(piece) if isinstance(event, ItemEvent)]
    assert items == list(stream.close().items)
    assert len(items) == 3
    assert all(isinstance(item, Call) for item in items)
