"""Messages and responses of providers: calls, ids, what goes through untouched."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.decode_samples import kinds, native, surface
from tscg.calls import Call, CallError, Decoded
from tscg.decoders import decode
from tscg.errors import ConfigError


def read(output: Any, finish_reason: str | None = None, **options: Any) -> Decoded:
    return decode(surface(mode="native", **options), output, finish_reason)


def rows(decoded: Decoded) -> list[tuple[str, str, Any]]:
    return [(call.id, call.name, call.arguments) for call in decoded.calls]


OSLO = {"city": "Oslo"}
TEXT = '{"city": "Oslo"}'
SHAPES: list[Any] = [
    pytest.param(native(("get_weather", TEXT)), "c1", id="openai chat"),
    pytest.param(native(("get_weather", OSLO)), "c1", id="mapping arguments"),
    pytest.param(
        {"choices": [{"message": native(("get_weather", TEXT)), "finish_reason": "tool_calls"}]},
        "c1",
        id="openai response",
    ),
    pytest.param(
        {"role": "assistant", "function_call": {"name": "get_weather", "arguments": TEXT}}, None, id="function_call"
    ),
    pytest.param(
        {
            "object": "response",
            "status": "completed",
            "output": [
                {"type": "reasoning", "id": "rs_1", "summary": [{"type": "summary_text", "text": "hm"}]},
                {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "get_weather", "arguments": TEXT},
            ],
        },
        "c1",
        id="responses",
    ),
    pytest.param(
        [{"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "get_weather", "arguments": TEXT}],
        "c1",
        id="items",
    ),
    pytest.param(
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "get_weather", "input": OSLO},
            ],
            "stop_reason": "tool_use",
        },
        "c1",
        id="anthropic",
    ),
    pytest.param(
        {
            "candidates": [
                {
                    "content": {"parts": [{"functionCall": {"name": "get_weather", "args": OSLO}}]},
                    "finishReason": "STOP",
                }
            ]
        },
        None,
        id="gemini",
    ),
    pytest.param(
        {"parts": [{"functionCall": {"id": "c1", "name": "get_weather", "args": OSLO}}]}, "c1", id="gemini content"
    ),
    pytest.param(
        {
            "output": {
                "message": {
                    "role": "assistant",
                    "content": [{"toolUse": {"toolUseId": "c1", "name": "get_weather", "input": OSLO}}],
                }
            },
            "stopReason": "tool_use",
        },
        "c1",
        id="bedrock",
    ),
    pytest.param(
        {
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": "get_weather", "arguments": OSLO}}],
            },
            "done": True,
        },
        None,
        id="ollama",
    ),
    pytest.param({"id": "c1", "name": "get_weather", "arguments": OSLO}, "c1", id="neutral"),
    pytest.param({"type": "tool_use", "id": "c1", "name": "get_weather", "input": OSLO}, "c1", id="one block"),
    pytest.param([{"role": "user", "content": "hi"}, native(("get_weather", TEXT))], "c1", id="messages"),
]


@pytest.mark.parametrize(("output", "id"), SHAPES)
def test_shapes(output: Any, id: str | None) -> None:
    decoded = read(output)
    assert [(name, arguments) for _, name, arguments in rows(decoded)] == [("get_weather", OSLO)]
    if id is not None:
        assert decoded.calls[0].id == id
    else:
        assert len(decoded.calls[0].id) == 9
        assert decoded.calls[0].id.isalnum()
    assert decoded.calls[0].repairs == ()


class Answer:
    """What a client library gives: an object with its fields under model_dump."""

    def model_dump(self) -> dict[str, Any]:
        return native(("get_weather", TEXT))


def test_objects_of_client_libraries() -> None:
    assert rows(read(Answer())) == [("c1", "get_weather", OSLO)]


@pytest.mark.parametrize(
    ("output", "words"),
    [
        pytest.param({"foo": 1, "bar": 2}, "foo, bar", id="keys"),
        pytest.param({}, "none", id="empty"),
        pytest.param({"choices": [{"message": {}}, {"message": {}}]}, "2 choices", id="choices"),
        pytest.param(5, "int", id="number"),
        pytest.param([3], "int", id="list"),
    ],
)
def test_unknown_shapes_are_the_developers(output: Any, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        read(output)


def test_reasoning_and_text_of_messages() -> None:
    decoded = read({"role": "assistant", "content": "hi", "reasoning_content": "hm", "finish_reason": "stop"})
    assert (decoded.text, decoded.reasoning, decoded.finish_reason, decoded.items) == ("hi", "hm", "stop", ())


def test_server_side_blocks_are_no_calls() -> None:
    blocks = [
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
        {"type": "text", "text": "found"},
        {"executableCode": {"code": "1"}},
    ]
    decoded = read({"role": "assistant", "content": blocks})
    assert (decoded.items, decoded.text) == ((), "found")


def test_opaque_fields_travel_with_their_call() -> None:
    part = {"functionCall": {"name": "ping", "args": {}}, "thoughtSignature": "sig"}
    thought = {"text": "hm", "thought": True}
    decoded = read({"parts": [thought, part]})
    assert decoded.calls[0].opaque == {"thoughtSignature": "sig"}
    assert decoded.reasoning == "hm"


def test_namespaces_of_responses_are_joined() -> None:
    item = {"type": "function_call", "call_id": "c1", "namespace": "functions", "name": "ping", "arguments": "{}"}
    assert rows(read([item])) == [("c1", "ping", {})]


def test_a_malformed_call_of_gemini() -> None:
    decoded = read({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL"}]})
    assert [error.kind for error in decoded.errors] == ["unparsed_call"]


# --- whose message --------------------------------------------------------------------------------------------------

MARKED = '<tool_call>{"name":"ping","arguments":{}}</tool_call>'


@pytest.mark.parametrize(
    "output",
    [
        pytest.param([{"role": "user", "content": MARKED}], id="user last"),
        pytest.param(
            [native(("ping", "{}")), {"role": "tool", "tool_call_id": "c1", "content": MARKED}], id="result last"
        ),
        pytest.param({"role": "user", "content": MARKED}, id="a user's message"),
        pytest.param({"role": "system", "content": MARKED}, id="a system message"),
        pytest.param([], id="no message"),
        pytest.param(None, id="nothing"),
    ],
)
def test_only_the_assistants_newest_output_is_read(output: Any) -> None:
    for mode in ("native", "text"):
        decoded = decode(surface(mode=mode), output)
        assert (decoded.items, decoded.text) == ((), "")


def test_calls_in_text_beside_native_ones_are_not_made() -> None:
    message = {**native(("ping", "{}")), "content": f"I look. {MARKED}"}
    for mode in ("native", "text"):
        decoded = decode(surface(mode=mode), message)
        assert [call.dialect for call in decoded.calls] == ["openai"]
        assert decoded.text == "I look. "
        assert [notice.kind for notice in decoded.warnings] == ["call_like_text"]


def test_calls_in_text_alone_are_read_in_native_mode_too() -> None:
    assert [call.name for call in read({"role": "assistant", "content": MARKED}).calls] == ["ping"]


# --- errors and ids -------------------------------------------------------------------------------------------------


def test_one_item_for_each_id_in_order() -> None:
    decoded = read(native(("nope", "{}"), ("ping", "{}"), ("get_weather", "{"), ids=("a", "b", "c")))
    assert [(type(item), item.id) for item in decoded.items] == [(CallError, "a"), (Call, "b"), (CallError, "c")]


@pytest.mark.parametrize(
    ("arguments", "reason", "kind"),
    [
        ('{"city":"Os', None, "truncated"),
        ('{"city":"Oslo"', "length", "truncated"),
        ("", "length", "truncated"),
        ({"city": "Oslo"}, "max_tokens", "truncated"),
        ({}, "content_filter", "truncated"),
    ],
)
def test_native_calls_that_were_cut(arguments: Any, reason: str | None, kind: str) -> None:
    decoded = read(native(("ping", "{}"), ("get_weather", arguments)), reason)
    assert [type(item) for item in decoded.items] == [Call, CallError]
    assert (decoded.errors[0].kind, decoded.errors[0].tool) == (kind, "get_weather")
    assert "Send less" in decoded.errors[0].message


def test_a_whole_call_at_the_limit_is_returned_with_a_warning() -> None:
    decoded = read(native(("get_weather", TEXT)), "length")
    assert len(decoded.calls) == 1
    assert [notice.kind for notice in decoded.warnings] == ["complete_at_limit"]


def test_refusals_are_cut_output() -> None:
    decoded = read({**native(("get_weather", OSLO)), "refusal": "I will not."})
    assert decoded.calls == ()
    assert decoded.text == "I will not."


def test_a_repeated_id_is_made_new() -> None:
    decoded = read(
        native(("ping", "{}"), ("get_weather", TEXT), ("get_weather", '{"city":"B"}'), ids=("c1", "c1", "c1"))
    )
    assert [call.id for call in decoded.calls] == ["c1", "c1-2", "c1-3"]
    assert [notice.kind for notice in decoded.warnings] == ["duplicate_id", "duplicate_id"]


def test_the_same_call_twice() -> None:
    twice = native(("ping", "{}"), ("ping", "{}"), ids=("c1", "c1"))
    assert [call.id for call in read(twice).calls] == ["c1"]
    assert len(read(native(("ping", "{}"), ("ping", "{}"))).calls) == 2


def test_ids_that_were_not_given() -> None:
    message = native(("ping", "{}"), ("ping", "{}"), ids=("", ""))
    first, again = read(message), read(message)
    assert [call.id for call in first.calls] == [call.id for call in again.calls]
    assert len({call.id for call in first.calls}) == 2
    other = decode(surface(mode="native"), message, seed="turn 2")
    assert {call.id for call in other.calls}.isdisjoint(call.id for call in first.calls)
    odd = read(native(("ping", "{}"), ids=("no good\n",)))
    assert odd.calls[0].id.isalnum()


def test_too_many_calls() -> None:
    decoded = read(native(*[("ping", "{}")] * 5), max_calls=3)
    assert len(decoded.calls) == 3
    assert [(error.kind, error.id) for error in decoded.errors] == [("too_many_calls", "c4"), ("too_many_calls", "c5")]


def test_repairs_are_on_their_call() -> None:
    decoded = read(native(("functions.get_weather", "{'city': 'Oslo', 'days': '2',}")))
    assert sorted(kinds(decoded.calls[0])) == ["name_prefix", "number_text", "single_quotes", "trailing_comma"]


def test_the_message_is_not_changed() -> None:
    message = native(("get_weather", {"city": "Oslo", "days": "2"}))
    before = repr(message)
    read(message)
    assert repr(message) == before
