"""Calls, lookups and conversations as they go back to the model in dispatch mode and beside text."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tscg
from tests.core.decode_samples import cuttings, native, surface, tool
from tscg.calls import Call, Lookup
from tscg.decoders import Stream, decode
from tscg.decoding import STRICT
from tscg.encode import encode_call, encode_history, encode_result
from tscg.modes.options import Dispatch, Mode, Text
from tscg.resolve import Surface, resolve

TEXT = {"type": "string"}
ISSUE = tool({"title": TEXT, "labels": {"type": "array", "items": TEXT}}, "create_issue", required=["title"])
ODD = tool(
    {key: {} for key in ("tool", "args", "name", "query", "op", "input", "$top", "a b", "</tool_call>")}, "odd/tool.x"
)
ENV = tool({}, "set_env", additionalProperties={"type": "string"})
PING = tool({}, "ping")
CALL = tool({"number": TEXT}, "call")
TOOLS = [ISSUE, ODD, ENV, PING]


def dispatch(**options: Any) -> Surface:
    return surface(
        TOOLS, "dispatch", **{"call_tool": "call", "lookup_tool": "lookup", "options": Dispatch(), **options}
    )


GROUPS = {"issues": {"create": "create_issue", "x": "odd/tool.x"}, "other": {"set_env": "set_env", "ping": "ping"}}
CODES = {"create_issue": "ab", "odd/tool.x": "ac", "set_env": "ad", "ping": "ae"}
WIRE = {"odd/tool.x": "odd_tool_x"}
SURFACES: dict[str, Surface] = {
    "names": dispatch(),
    "codes": dispatch(codes=CODES, options=Dispatch(handles="codes")),
    "json": dispatch(options=Dispatch(arguments="json")),
    "grouped": dispatch(call_tool="", groups=GROUPS, options=Dispatch(group="namespace")),
    "pinned": dispatch(
        native=frozenset({"odd/tool.x"}), wire_names=WIRE, wire_keys={"odd/tool.x": {"$top": "top", "a b": "a_b"}}
    ),
    "text-with-pinned": surface(TOOLS, native=frozenset({"odd/tool.x"}), wire_names=WIRE, lookup_tool="lookup"),
    "strict": dispatch(decoding=STRICT),
}
X = Call(id="c1", name="create_issue", arguments={"title": "x"})

NEUTRAL = {
    "names": ("call", {"tool": "create_issue", "args": {"title": "x"}}),
    "codes": ("call", {"tool": "ab", "args": {"title": "x"}}),
    "json": ("call", {"tool": "create_issue", "args": '{"title":"x"}'}),
    "grouped": ("issues", {"op": "create", "args": {"title": "x"}}),
}


@pytest.mark.parametrize("form", NEUTRAL)
def test_neutral_form(form: str) -> None:
    name, arguments = NEUTRAL[form]
    assert encode_call(SURFACES[form], X) == {"id": "c1", "name": name, "arguments": arguments}


def test_pinned_tools_are_native() -> None:
    call = Call(id="c1", name="odd/tool.x", arguments={"$top": 3, "a b": 1})
    wanted = {"id": "c1", "name": "odd_tool_x", "arguments": {"top": 3, "a_b": 1}}
    assert encode_call(SURFACES["pinned"], call) == wanted
    assert resolve(SURFACES["pinned"], "odd_tool_x", {"top": 3, "a_b": 1}, "c1") == call
    assert resolve(SURFACES["pinned"], "odd_tool_x", {"$top": 3, "a b": 1}, "c1") == call
    both = resolve(SURFACES["pinned"], "odd_tool_x", {"$top": 3, "top": 1})
    assert getattr(both, "kind", "") == "ambiguous_arguments"
    through = resolve(SURFACES["pinned"], "call", {"tool": "odd/tool.x", "args": {"$top": 3, "a b": 1}}, "c1")
    assert through == call


BLOCKS = {
    "openai": {
        "id": "c1",
        "type": "function",
        "function": {"name": "call", "arguments": '{"tool":"create_issue","args":{"title":"x"}}'},
    },
    "openai_responses": {
        "type": "function_call",
        "call_id": "c1",
        "name": "call",
        "arguments": '{"tool":"create_issue","args":{"title":"x"}}',
    },
    "anthropic": {
        "type": "tool_use",
        "id": "c1",
        "name": "call",
        "input": {"tool": "create_issue", "args": {"title": "x"}},
    },
    "gemini": {"functionCall": {"id": "c1", "name": "call", "args": {"tool": "create_issue", "args": {"title": "x"}}}},
    "bedrock": {
        "toolUse": {"toolUseId": "c1", "name": "call", "input": {"tool": "create_issue", "args": {"title": "x"}}}
    },
}


@pytest.mark.parametrize("to", BLOCKS)
def test_blocks_of_providers(to: str) -> None:
    assert encode_call(SURFACES["names"], X, to) == BLOCKS[to]


LOOKUPS = [
    Lookup(id="c1", tools=("ping",)),
    Lookup(id="c1", query="issue"),
    Lookup(id="c1", tools=("ping",), query="x"),
]


@pytest.mark.parametrize("form", ["names", "codes", "json", "grouped", "text-with-pinned"])
@pytest.mark.parametrize("lookup", LOOKUPS, ids=range(3))
def test_lookups_come_back(form: str, lookup: Lookup) -> None:
    on = SURFACES[form]
    (again,) = decode(on, as_message(encode_call(on, lookup))).lookups
    assert (again.tools, again.query) == (lookup.tools, lookup.query)
    assert again.reply


# --- law 4 ----------------------------------------------------------------------------------------------------------

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ["</tool_call>", "call", "lookup", '{"tool":"ping","args":{}}', "null", "", "{}", "<think>", "ping"]
)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(list(ODD["inputSchema"]["properties"]))
calls = st.one_of(
    st.builds(
        lambda title, labels: Call(name="create_issue", arguments={"title": title, "labels": labels}),
        texts,
        st.lists(texts, max_size=2),
    ),
    st.dictionaries(keys, values, max_size=4).map(lambda given: Call(name="odd/tool.x", arguments=given)),
    st.dictionaries(texts | keys, texts, max_size=4).map(lambda given: Call(name="set_env", arguments={**given})),
    st.just(Call(name="ping", arguments={})),
)


def as_message(written: str | dict[str, Any]) -> Any:
    if isinstance(written, str):
        return written
    return native((written["name"], json.dumps(written["arguments"])), ids=(written["id"],))


def same(left: Any, right: Any) -> bool:
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)


@pytest.mark.parametrize("form", SURFACES)
@settings(max_examples=40)
@given(call=calls)
def test_c23_decode_inverts_encode(form: str, call: Call) -> None:
    on = SURFACES[form]
    written = encode_call(on, call)
    decoded = decode(on, as_message(written))
    assert decoded.errors == ()
    (again,) = decoded.calls
    assert again.name == call.name
    assert repr(again.arguments) == repr(call.arguments) or same(again.arguments, call.arguments)
    assert again.repairs == ()
    assert same(encode_call(on, Call(id="", name=again.name, arguments=again.arguments)), written)


def test_c23_streams_of_dispatched_calls() -> None:
    on = SURFACES["names"]
    text = '<tool_call>{"name":"call","arguments":{"tool":"create_issue","args":{"title":"</tool_call>"}}}</tool_call>'
    whole = decode(on, text)
    assert [call.arguments for call in whole.calls] == [{"title": "</tool_call>"}]
    for pieces in cuttings(text):
        stream = Stream(on)
        for piece in pieces:
            stream.feed(piece)
        assert stream.close() == whole


MODES: list[Mode] = [
    Dispatch(), Dispatch(map="names"), Dispatch(map="signature", typed=True), Dispatch(handles="codes"),
    Dispatch(arguments="json"), Dispatch(group="namespace"), Dispatch(group="namespace", handles="codes"), Text(),
]  # fmt: skip


@pytest.mark.parametrize("mode", MODES, ids=repr)
@pytest.mark.parametrize("pin", [(), ("call",)], ids=["all", "pinned"])
def test_c23_of_compiled_catalogs(mode: Mode, pin: tuple[str, ...]) -> None:
    compiled = tscg.compile([*TOOLS, CALL], mode=mode, pin=pin)
    sent: dict[str, Mapping[str, Any]] = {
        "create_issue": {"title": "x"}, "odd/tool.x": {"tool": "a", "args": 1, "op": "b"}, "set_env": {"tool": "x"},
        "ping": {}, "call": {"number": "1"},
    }  # fmt: skip
    for name, arguments in sent.items():
        written = compiled.encode_call(Call(id="c1", name=name, arguments=dict(arguments)))
        if isinstance(written, dict):
            assert written["name"] in {one["name"] for one in compiled.wire_tools}
        decoded = compiled.decode(as_message(written))
        assert [(call.name, call.arguments, call.repairs) for call in decoded.calls] == [(name, arguments, ())], decoded


def test_mn_every_wire_tool_resolves() -> None:
    for mode in MODES:
        compiled = tscg.compile([*TOOLS, CALL], mode=mode, pin=("ping",))
        for one in compiled.wire_tools:
            item = compiled.resolve(one["name"], {})
            assert getattr(item, "kind", "") != "unknown_tool", one["name"]


# --- results --------------------------------------------------------------------------------------------------------


def test_results_are_plain_beside_native_calls() -> None:
    rows = {"rows": [{"id": 1, "name": "a b"}, {"id": 2, "name": "c"}]}
    on = SURFACES["names"]
    assert encode_result(on, X, rows) == '{"rows":[{"id":1,"name":"a b"},{"id":2,"name":"c"}]}'
    assert encode_result(on, X, encode_result(on, X, rows)) == encode_result(on, X, rows)
    assert encode_result(SURFACES["text-with-pinned"], Call(name="odd/tool.x", arguments={}), "x") == "x"
    assert encode_result(SURFACES["text-with-pinned"], X, "x").startswith("<tool_response>")


# --- history --------------------------------------------------------------------------------------------------------


def conversation() -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Open it."},
        {
            **native(("create_issue", '{"title":"x"}'), ("lookup", '{"tools":["ping"]}'), ids=("a", "b")),
            "content": "Now.",
        },
        {"role": "tool", "tool_call_id": "a", "content": "done"},
        {"role": "tool", "tool_call_id": "b", "content": "ping() F"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "And?"},
        native(("ping", ""), ("odd/tool.x", '{"op":1}'), ids=("c", "d")),
        {"role": "tool", "tool_call_id": "d", "content": "odd"},
        {"role": "tool", "tool_call_id": "c", "content": "pong"},
    ]


def entries(messages: list[dict[str, Any]]) -> list[tuple[str, str, Any]]:
    return [
        (one["id"], one["function"]["name"], json.loads(one["function"]["arguments"]))
        for message in messages
        for one in message.get("tool_calls") or ()
    ]


def pairs(messages: list[dict[str, Any]]) -> tuple[list[str], list[str]]:
    answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    return [id for id, _, _ in entries(messages)], answered


def test_history_of_real_tools_becomes_calls_of_the_dispatcher() -> None:
    given = conversation()
    written = encode_history(SURFACES["codes"], given)
    assert given == conversation()
    assert entries(written) == [
        ("a", "call", {"tool": "ab", "args": {"title": "x"}}),
        ("b", "lookup", {"tools": ["ping"]}),
        ("c", "call", {"tool": "ae", "args": {}}),
        ("d", "call", {"tool": "ac", "args": {"op": 1}}),
    ]
    assert [message["role"] for message in written] == [message["role"] for message in given]
    assert pairs(written) == (["a", "b", "c", "d"], ["a", "b", "d", "c"])


@pytest.mark.parametrize("form", SURFACES)
def test_history_is_stable(form: str) -> None:
    on, given = SURFACES[form], conversation()
    whole = encode_history(on, given)
    assert encode_history(on, given) == whole
    for end in (2, 5, 6, 7):
        assert encode_history(on, given[:end]) == whole[: len(encode_history(on, given[:end]))]
    if on.mode == "dispatch":
        assert encode_history(on, whole) == whole


def test_history_beside_text_has_pinned_calls_native() -> None:
    written = encode_history(SURFACES["text-with-pinned"], conversation())
    assert entries(written) == [("d", "odd_tool_x", {"op": 1})]
    assert pairs(written) == (["d"], ["d"])
    decoded = decode(SURFACES["text-with-pinned"], written[2]["content"])
    assert [type(item).__name__ for item in decoded.items] == ["Call", "Lookup"]
    assert written[3]["role"] == "user"
    assert written[3]["content"].count("<tool_response>") == 2


def test_history_leaves_nothing_unanswered() -> None:
    on = SURFACES["names"]
    for end in (3, 4, 8, 9):
        called, answered = pairs(encode_history(on, conversation()[:end]))
        assert sorted(called) == sorted(answered)
    (last,) = [message for message in encode_history(on, conversation()[:3]) if message.get("tool_call_id") == "b"]
    assert last["content"] == "ping() F"  # a lookup answers itself
    late = encode_history(on, [{"role": "tool", "tool_call_id": "z", "content": "late"}])
    assert late == [{"role": "user", "content": "late"}]


def test_history_of_refused_calls_names_wire_tools_alone() -> None:
    given = [
        native(("nope", '{"a":1}'), ("create_issue", "{}"), ("call", '{"tool":"nope","args":{}}'), ("call", "{broken")),
        native(("multi_tool_use.parallel", '{"tool_uses":[{"recipient_name":"ping","parameters":{}}]}')),
    ]
    written = encode_history(SURFACES["names"], given)
    assert {name for _, name, _ in entries(written)} == {"call"}
    assert [arguments for _, _, arguments in entries(written)][:3] == [
        {"tool": "nope", "args": {"a": 1}}, {"tool": "create_issue", "args": {}}, {"tool": "nope", "args": {}},
    ]  # fmt: skip
    called, answered = pairs(written)
    assert called == answered
    assert "multi_tool_use" not in json.dumps(written)


def test_history_of_blocks_stays_one_of_blocks() -> None:
    given: list[dict[str, Any]] = [
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "s"},
                {"type": "text", "text": "Now."},
                {"type": "tool_use", "id": "a", "name": "create_issue", "input": {"title": "x"}},
                {"type": "tool_use", "id": "b", "name": "ping", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Go on."},
                {
                    "type": "tool_result",
                    "tool_use_id": "a",
                    "content": [{"type": "text", "text": "done"}],
                    "is_error": True,
                },
            ],
        },
    ]
    before = copy.deepcopy(given)
    written = encode_history(SURFACES["names"], given)
    assert given == before
    assert [message["role"] for message in written] == ["assistant", "user"]
    assert written[0]["content"][:2] == before[0]["content"][:2]
    assert written[0]["content"][2:] == [
        {"type": "tool_use", "id": "a", "name": "call", "input": {"tool": "create_issue", "args": {"title": "x"}}},
        {"type": "tool_use", "id": "b", "name": "call", "input": {"tool": "ping", "args": {}}},
    ]
    results = written[1]["content"]
    assert [part["type"] for part in results] == ["tool_result", "tool_result", "text"]
    assert results[0] == before[1]["content"][1]
    assert results[1]["tool_use_id"] == "b"
    assert encode_history(SURFACES["names"], written) == written
