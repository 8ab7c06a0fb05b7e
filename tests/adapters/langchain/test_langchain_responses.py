"""OpenAI's Responses API with the real client: items in place of messages, strict tools by default, both stream forms."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from langchain_tscg import CompressedChatModel, CompressedToolkit, MalformedToolCallError
from tests.adapters.langchain.harness import HARNESS, tool_of
from tests.adapters.langchain.models import client
from tests.adapters.provider import Answer, Model, Provider
from tests.adapters.responses import constrained, functions_of, items_of, responses_faults
from tests.adapters.worker import RAW, work
from tests.conformance.harness import Spec, basic, executed, object_schema

MODES = ("native", "text", "dispatch", "passthrough")
ALL = pytest.mark.parametrize("mode", MODES)
FORMS = pytest.mark.parametrize("form", [None, "responses/v1", "v1"], ids=["default", "responses-v1", "v1"])
STREAMED = pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
Serve = Callable[[Model], Provider]
pytestmark = pytest.mark.filterwarnings("ignore:.* mode sends .* as JSON:tscg.TscgWarning")
TWO = 'SAY Let me see. && get_order {"number": 7} && list_orders {"customer": "Ann", "limit": 3}\nping && cancel_order {"number": 7, "reason": "stock"}'


def bound(provider: Provider, mode: Any, specs: list[Spec], form: str | None = None, **options: Any) -> Any:
    chosen = {} if form is None else {"output_version": form}
    settings = {name: options.pop(name) for name in ("pin", "max_lookups", "max_repairs") if name in options}
    toolkit = CompressedToolkit([tool_of(spec) for spec in specs], mode, "balanced", **settings)
    return toolkit.bind(client(provider, "responses", **chosen), **options)


def asked(llm: Any, messages: Any, streamed: bool) -> Any:
    if not streamed:
        return llm.invoke(messages)
    answer = None
    for chunk in llm.stream(messages):
        answer = chunk if answer is None else answer + chunk
    return answer


def calls_of(message: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(call["name"], call["args"]) for call in message.tool_calls]


@ALL
@FORMS
@STREAMED
def test_a_conversation_of_two_rounds(serve: Serve, mode: str, form: str | None, streamed: bool) -> None:
    llm = bound(serve(work), mode, basic(), form)
    history: list[Any] = [SystemMessage("You work."), HumanMessage(TWO)]
    made = []
    for _ in range(2):
        answer = asked(llm, history, streamed)
        made.append(calls_of(answer))
        blocks = [(one["type"], one.get("name")) for one in answer.content_blocks if one["type"] != "text"]
        assert blocks == [("tool_call", name) for name, _ in made[-1]]
        assert [mark for mark in RAW if mark in repr(answer.content)] == []
        results = [ToolMessage(f"r{n}", tool_call_id=call["id"]) for n, call in enumerate(answer.tool_calls)]
        history += [answer, *results]
    assert made == [
        [("get_order", {"number": 7}), ("list_orders", {"customer": "Ann", "limit": 3})],
        [("ping", {}), ("cancel_order", {"number": 7, "reason": "stock"})],
    ]
    last = asked(llm, history, streamed)
    assert last.text.strip().startswith("Done.")
    assert last.usage_metadata["total_tokens"] == 12


@ALL
@STREAMED
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_an_agent(serve: Serve, mode: str, streamed: bool, asynchronous: bool) -> None:
    specs = basic()
    outcome = HARNESS.run(
        specs, [TWO], provider=serve(work), dialect="responses", modes=[mode], streamed=streamed,
        asynchronous=asynchronous,
    )  # fmt: skip
    assert outcome.error is None
    assert executed(specs) == {
        "get_order": [{"number": 7}], "list_orders": [{"customer": "Ann", "limit": 3}], "ping": [{}],
        "cancel_order": [{"number": 7, "reason": "stock"}],
    }  # fmt: skip
    assert [mark for mark in RAW if mark in outcome.streamed or mark in outcome.history] == []


@pytest.mark.parametrize("first", MODES)
@pytest.mark.parametrize("second", MODES)
def test_pairing_holds_after_a_change_of_mode(serve: Serve, first: str, second: str) -> None:
    specs, provider = basic(), serve(work)
    prompts = [TWO, 'get_order {"number": 8}']
    outcome = HARNESS.run(specs, prompts, provider=provider, dialect="responses", modes=[first, second])
    assert outcome.error is None
    assert executed(specs)["get_order"] == [{"number": 7}, {"number": 8}]


@pytest.mark.parametrize("mode", ["native", "text", "dispatch"])
def test_a_conversation_moves_between_the_apis(serve: Serve, mode: str) -> None:
    specs, history, provider = basic(), [HumanMessage('get_order {"number": 7}')], serve(work)
    for dialect in ("responses", "openai", "anthropic", "responses"):
        agent: Any = create_agent(
            client(provider, dialect), tools := [tool_of(spec) for spec in specs],
            middleware=[CompressedToolkit(tools, mode, "balanced").middleware()],
        )  # fmt: skip
        history = [*agent.invoke({"messages": history})["messages"], HumanMessage('get_order {"number": 7}')]
    assert executed(specs) == {"get_order": [{"number": 7}] * 4}


# --- strict by default -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["native", "dispatch"])
def test_tools_are_not_strict_unless_asked(serve: Serve, mode: str) -> None:
    provider = serve(work)
    assert calls_of(bound(provider, mode, basic()).invoke('list_orders {"customer": "Ann"}')) == [
        ("list_orders", {"customer": "Ann"})
    ]
    assert {tool["strict"] for tool in functions_of(provider.bodies[0])} == {False}


def test_strict_that_is_asked_for_is_sent(serve: Serve) -> None:
    provider = serve(work)
    llm = bound(provider, "dispatch", basic(), strict=True)
    assert calls_of(llm.invoke('get_order {"number": 7}')) == [("get_order", {"number": 7})]
    assert {tool["strict"] for tool in functions_of(provider.bodies[0])} == {True}


def test_a_pinned_tool_beside_text_is_not_strict_either(serve: Serve) -> None:
    provider = serve(work)
    llm = bound(provider, "text", basic(), pin=["ping"])
    assert calls_of(llm.invoke("ping")) == [("ping", {})]
    assert calls_of(llm.invoke('get_order {"number": 7}')) == [("get_order", {"number": 7})]
    assert [tool["strict"] for tool in provider.bodies[0]["tools"]] == [False]


@ALL
@pytest.mark.parametrize("own", [None, True], ids=["silent", "strict-itself"])
def test_a_forced_tool(serve: Serve, mode: str, own: bool | None) -> None:
    schema = object_schema({"word": {"type": "string"}}, ["word"])
    given = {"name": "find", "description": "Find.", "parameters": schema, **({} if own is None else {"strict": own})}
    provider = serve(lambda view: Answer(calls=(("find", '{"word": "sea"}'),)))
    llm = CompressedChatModel(inner=client(provider, "responses"), mode=mode).bind_tools([given], tool_choice="find")
    assert calls_of(llm.invoke("Sea?")) == [("find", {"word": "sea"})]
    (tool,) = provider.bodies[0]["tools"]
    assert provider.bodies[0]["tool_choice"] == {"type": "function", "name": "find"}
    assert tool.get("strict") == (own if own or mode == "passthrough" else False)


def test_passthrough_sends_the_same_bytes(serve: Serve) -> None:
    bodies = []
    for mode in (None, "passthrough"):
        provider = serve(work)
        outcome = HARNESS.run(basic(), [TWO], provider=provider, dialect="responses", modes=[mode])
        assert outcome.error is None
        bodies.append([json.dumps(body) for body in provider.bodies])
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize(
    ("options", "asked_", "used"),
    [
        ({"use_responses_api": True}, {}, True),
        ({"use_responses_api": False, "output_version": "responses/v1"}, {}, False),
        ({"output_version": "responses/v1"}, {}, True),
        ({}, {"reasoning": {"effort": "low"}}, True),
        ({}, {}, False),
    ],
    ids=["on", "off", "by-form", "by-option", "plain"],
)  # fmt: skip
def test_guard_which_api_is_used(serve: Serve, options: Any, asked_: Any, used: bool) -> None:
    """Guard: `ChatOpenAI._use_responses_api(payload)` is private. The request must agree with what it says."""
    provider = serve(lambda view: Answer(text="Hi"))
    model = client(provider, "openai", **options)
    assert hasattr(model, "_use_responses_api")
    spec = Spec(name="ping", description="Ping.", schema=object_schema({}))
    CompressedToolkit([tool_of(spec)], "native").bind(model, **asked_).invoke("Hi")
    (body,) = provider.bodies
    assert ("input" in body) == used
    assert [tool.get("strict") for tool in body["tools"]] == ([False] if used else [None])


def test_a_builtin_tool_asks_for_this_api(serve: Serve) -> None:
    provider = serve(lambda view: Answer(text="Hi"))
    search = {"type": "web_search"}
    llm = CompressedChatModel(inner=client(provider, "openai"), mode="dispatch").bind_tools(
        [tool_of(basic()[0]), search]
    )
    llm.invoke("Hi")
    assert provider.bodies[0]["tools"][-1] == search
    assert all(tool["strict"] is False for tool in functions_of(provider.bodies[0]))


# --- rounds ----------------------------------------------------------------------------------------------------------


def scripted(*answers: Answer) -> Model:
    said = iter(answers)
    return lambda view: next(said)


def call(mode: str, name: str, arguments: str, **more: Any) -> Answer:
    if mode == "text":
        return Answer(text=f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>', **more)
    if mode == "dispatch":
        return Answer(calls=(("call", f'{{"tool": "{name}", "args": {arguments}}}'),), **more)
    return Answer(calls=((name, arguments),), **more)


@ALL
@STREAMED
@pytest.mark.parametrize("bad", ['{"number": "x"}', '{"number": 7,, "x'], ids=["type", "not-json"])
def test_a_wrong_call_is_fed_back_under_its_id(serve: Serve, mode: str, streamed: bool, bad: str) -> None:
    provider = serve(scripted(call(mode, "get_order", bad, reasoning="Hm."), call(mode, "get_order", '{"number": 7}')))
    answer = asked(bound(provider, mode, basic()), "Order 7", streamed)
    assert calls_of(answer) == [("get_order", {"number": 7})]
    assert answer.invalid_tool_calls == []
    again = items_of(provider.bodies[1])[len(items_of(provider.bodies[0])) :]
    kinds = [item.get("role") or item["type"] for item in again]
    assert kinds == [
        "reasoning",
        *(["assistant", "user"] if mode == "text" else ["function_call", "function_call_output"]),
    ]
    assert answer.usage_metadata["total_tokens"] == 24


@STREAMED
def test_a_lookup_is_answered_inside(serve: Serve, streamed: bool) -> None:
    provider = serve(
        scripted(Answer(calls=(("lookup", '{"tools": ["cancel_order"]}'),)), call("dispatch", "ping", "{}"))
    )
    answer = asked(bound(provider, "dispatch", basic()), "Cancel", streamed)
    assert calls_of(answer) == [("ping", {})]
    assert "stock" in items_of(provider.bodies[1])[-1]["output"]
    assert "lookup" not in repr(answer.content)


@pytest.mark.parametrize("mode", ["native", "dispatch"])
@STREAMED
def test_an_answer_that_was_cut_is_no_call(serve: Serve, mode: str, streamed: bool) -> None:
    whole = call(mode, "list_orders", '{"customer": "An', finish="length")
    provider = serve(lambda view: whole)
    with pytest.raises(MalformedToolCallError):
        asked(bound(provider, mode, basic(), max_repairs=0), "Ann's", streamed)


@pytest.mark.parametrize("mode", ["native", "text", "dispatch"])
@FORMS
@STREAMED
def test_reasoning_stays_with_its_call(serve: Serve, mode: str, form: str | None, streamed: bool) -> None:
    """The provider refuses a thought without the item that it led to, and two items of one id."""
    provider = serve(scripted(call(mode, "ping", "{}", reasoning="It may be down."), Answer(text="Up.")))
    llm = bound(provider, mode, basic(), form)
    answer = asked(llm, "Is it up?", streamed)
    assert [one["reasoning"] for one in answer.content_blocks if one["type"] == "reasoning"] == ["It may be down."]
    assert not [one for one in answer.content_blocks if one["type"] == "text" and not one["text"].strip()]
    history = [HumanMessage("Is it up?"), answer, ToolMessage("yes", tool_call_id=answer.tool_calls[0]["id"])]
    assert asked(llm, history, streamed).text == "Up."
    kinds = [item["type"] for item in items_of(provider.bodies[1])]
    assert "reasoning" in kinds
    if mode != "text":
        (item,) = [item for item in items_of(provider.bodies[1]) if item["type"] == "function_call"]
        assert item["id"] == "fc_call_0001"


def test_a_change_of_the_arguments_by_a_person_is_what_is_sent(serve: Serve) -> None:
    provider = serve(lambda view: Answer(text="Fine."))
    extras = {"item_id": "fc_1", "arguments": '{"number":7}'}
    content: Any = [{"type": "tool_call", "id": "c1", "name": "get_order", "args": {"number": 7}, "extras": extras}]
    edited = [{"type": "tool_call", "id": "c1", "name": "get_order", "args": {"number": 8}}]
    message = AIMessage(content, tool_calls=edited, response_metadata={"output_version": "v1"})
    bound(provider, "dispatch", basic(), "v1").invoke([HumanMessage("7"), message, ToolMessage("x", tool_call_id="c1")])
    (item,) = [item for item in items_of(provider.bodies[0]) if item["type"] == "function_call"]
    assert json.loads(item["arguments"]) == {"tool": "get_order", "args": {"number": 8}}
    assert message.content == content


# --- the provider itself ---------------------------------------------------------------------------------------------

CALL = {"type": "function_call", "call_id": "c", "id": "fc", "name": "f", "arguments": "{}"}
OUTPUT = {"type": "function_call_output", "call_id": "c", "output": "x"}


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ({"input": [CALL]}, "no tool output"), ({"input": [OUTPUT]}, "no open tool call"),
        ({"input": [CALL, OUTPUT, OUTPUT]}, "no open tool call"), ({"input": [{**CALL, "name": "a b"}, OUTPUT]}, "illegal name"),
        ({"input": [{**CALL, "arguments": {}}, OUTPUT]}, "no text"), ({"input": "hi", "messages": []}, "unknown parameter"),
        ({"input": [CALL, OUTPUT, {**CALL, "call_id": "d"}, {**OUTPUT, "call_id": "d"}]}, "one id"),
        ({"input": [{"type": "reasoning", "id": "r"}, {"role": "user", "content": "x"}]}, "without the item"),
        ({"input": "hi", "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}]}, "no object with properties"),
        ({"input": "hi", "tool_choice": "auto"}, "tool_choice without tools"),
    ],
)  # fmt: skip
def test_the_provider_refuses(body: dict[str, Any], fault: str) -> None:
    assert any(fault in one for one in responses_faults(body))
    assert list(responses_faults({"input": [CALL, OUTPUT, {"role": "user", "content": "x"}]})) == []


def test_a_strict_object_is_closed() -> None:
    schema = object_schema({"tool": {"type": "string"}, "args": {"type": "object"}})
    assert constrained(schema, {"tool": "f", "args": {"a": 1}, "more": 2}) == {"tool": "f", "args": {}}
