"""The compressed model itself: what it sends, what it hands over, and the private points of CrewAI that it stands on."""

from __future__ import annotations

import asyncio
import copy
import inspect
import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from crewai import Agent
from crewai.events.event_bus import crewai_event_bus
from crewai.llms.base_llm import BaseLLM
from crewai.tools import BaseTool
from crewai.tools import tool as tool_of
from crewai.utilities.agent_utils import convert_tools_to_openai_schema
from crewai.utilities.i18n import I18N_DEFAULT
from pydantic import BaseModel, Field

import tscg
from crewai_tscg import MalformedToolCallError, ToolCompressionEvent, compress
from crewai_tscg.convert import keyed
from crewai_tscg.react import BEGIN, END
from tests.adapters.crewai.crews import CancelOrder, ReadOrder
from tests.adapters.crewai.models import ScriptedLLM, ScriptedToolLLM, native

pytestmark = pytest.mark.filterwarnings("ignore:.* mode sends .* tokens for tools:tscg.TscgWarning")
EITHER = pytest.mark.parametrize("mode", ["text", "dispatch"])
MODES = pytest.mark.parametrize("mode", ["native", "text", "dispatch"])


def clerk(llm: Any, *tools: BaseTool, **options: Any) -> Any:
    return Agent(role="Clerk", goal="Answer.", backstory="Careful.", tools=list(tools), llm=llm, **options)


def call(mode: str, name: str, key: str, arguments: str, id: str = "c1") -> Any:
    """A call as a model writes it in a mode; in text mode several are joined by the caller."""
    if mode == "text":
        return f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'
    if mode == "dispatch":
        return native("call", json.dumps({"tool": name, "args": arguments}), id)
    return native(key, arguments, id)


def said(mode: str, *calls: Any) -> Any:
    return "\n".join(calls) if mode == "text" else list(calls)


def read(mode: str, arguments: str, id: str = "c1") -> Any:
    return call(mode, "Read Order", "read_order", arguments, id)


def told(llm: ScriptedLLM, number: int = -1) -> str:
    return json.dumps(llm.got[number]["messages"], ensure_ascii=False)


# --- rounds -----------------------------------------------------------------------------------------------------------


@MODES
def test_a_wrong_call_is_sent_back_and_seen_by_no_one(mode: str) -> None:
    tool, llm = ReadOrder(), ScriptedToolLLM(model="scripted-1")
    llm.script = [said(mode, read(mode, '{"number": 0}')), said(mode, read(mode, '{"number": 7}')), "Fine."]
    agent = clerk(llm, tool)
    handle = compress(agent, mode)
    found = agent.kickoff("Read it.")
    assert found.raw == "Fine."
    assert [one["number"] for one in tool.done] == [7]
    assert "number: expected at least 1, got 0" in told(llm, 1)
    assert "expected at least 1" not in repr(found.messages) + told(llm, 2)
    report = handle.report()
    assert (report.requests, report.rounds, report.repairs, report.errors) == (2, 3, 1, 1)
    assert found.usage_metrics["prompt_tokens"] == report.input_tokens == 30
    assert report.sent_tokens == 3 * report.tokens


@MODES
def test_the_same_awaited(mode: str) -> None:
    llm = ScriptedToolLLM(model="scripted-1")
    llm.script = [said(mode, read(mode, '{"number": 0}')), said(mode, read(mode, '{"number": 7}', "c2"))]
    agent = clerk(llm, ReadOrder())
    handle = compress(agent, mode)
    given, *_ = convert_tools_to_openai_schema(agent.tools)
    (one,) = asyncio.run(agent.llm.acall([{"role": "user", "content": "Read it."}], tools=given, from_agent=agent))
    assert (one["function"]["name"], json.loads(one["function"]["arguments"])) == ("read_order", {"number": 7})
    assert handle.report().repairs == 1
    llm.script.append("Hi.")
    assert asyncio.run(agent.llm.acall("Say hi.")) == "Hi."
    assert llm.got[-1]["messages"] == "Say hi."


REFUSED = {
    "not json": ('{"number": 7', "Failed to parse tool arguments as JSON"),
    "refused by CrewAI": ('{"number": "seven"}', "arguments validation failed"),
}


@MODES
@pytest.mark.parametrize("fault", REFUSED)
def test_c7_what_crewai_is_sure_to_refuse_goes_to_it_at_last(mode: str, fault: str) -> None:
    """Then the executor tells the model, and its own loop goes on."""
    arguments, answer = REFUSED[fault]
    tool, llm = ReadOrder(), ScriptedToolLLM(model="scripted-1")
    wrong = said(mode, read(mode, arguments))
    llm.script = [wrong, wrong, wrong, said(mode, read(mode, '{"number": 7}', "c2")), "Fine."]
    agent = clerk(llm, tool)
    compress(agent, mode)
    assert agent.kickoff("Read it.").raw == "Fine."
    assert answer in told(llm, 3)
    assert [one["number"] for one in tool.done] == [7]


@MODES
def test_c7_a_tool_that_is_not_there(mode: str) -> None:
    tool, llm = ReadOrder(), ScriptedToolLLM(model="scripted-1")
    wrong = said(mode, call(mode, "burn", "burn", '{"number": 7}'))
    llm.script = [wrong, wrong, wrong, said(mode, read(mode, '{"number": 7}', "c2")), "Fine."]
    agent = clerk(llm, tool)
    compress(agent, mode)
    assert agent.kickoff("Read it.").raw == "Fine."
    assert "Tool not found" in told(llm, 3)


@MODES
def test_c9_what_crewai_would_coerce_and_run_is_an_error(mode: str) -> None:
    """A boolean is no integer; CrewAI would make 1 of it."""
    tool, llm = ReadOrder(), ScriptedToolLLM(model="scripted-1")
    llm.script = [said(mode, read(mode, '{"number": true}'))] * 3
    agent = clerk(llm, tool)
    compress(agent, mode)
    with pytest.raises(MalformedToolCallError, match=r"Read Order|read_order") as raised:
        agent.kickoff("Read it.")
    assert raised.value.errors[0].kind == "wrong_type"
    assert tool.done == []
    assert len(llm.got) == 3


@MODES
def test_c8_good_calls_run_and_bad_ones_are_listed(mode: str) -> None:
    tool, cancel, llm = ReadOrder(), CancelOrder(), ScriptedToolLLM(model="scripted-1")
    good, coerced = read(mode, '{"number": 7}', "c1"), read(mode, '{"number": true}', "c2")
    refused = call(mode, "Cancel Order", "cancel_order", '{"number": 7, "reason": "mood"}', "c3")
    llm.script = [said(mode, good, coerced, refused), "Fine."]
    agent = clerk(llm, tool, cancel)
    handle = compress(agent, mode, max_repairs=0)
    events: list[Any] = []
    with crewai_event_bus.scoped_handlers():
        crewai_event_bus.register_handler(ToolCompressionEvent, lambda _, event: events.append(event))
        agent.kickoff("Read it.")
        crewai_event_bus.flush()
    assert [one["number"] for one in tool.done] == [7]
    assert cancel.done == []
    assert "arguments validation failed" in told(llm)
    first = events[0]
    assert first.dropped == [first.errors[0]["tool"]]
    assert len(first.errors) == 2
    assert handle.report().dropped == 1


def test_c8_lookups_are_answered_inside_and_dropped_beside_calls() -> None:
    tool, llm = ReadOrder(), ScriptedToolLLM(model="scripted-1")
    ask = native("lookup", '{"tools": ["Read Order"], "query": null}', "l1")
    llm.script = [[ask], [ask, read("dispatch", '{"number": 7}')], "Fine."]
    agent = clerk(llm, tool)
    handle = compress(agent, "dispatch")
    assert agent.kickoff("Read it.").raw == "Fine."
    assert "as customer reads it" in told(llm, 1) or "as the customer reads it" in told(llm, 1)
    assert "lookup" not in json.dumps(llm.got[2]["messages"][1:])
    report = handle.report()
    assert (report.rounds, report.lookups, report.dropped) == (3, 2, 1)


def test_lookups_alone_are_bounded_and_then_an_error() -> None:
    llm = ScriptedToolLLM(model="scripted-1")
    ask = native("lookup", '{"query": "order"}', "l1")
    llm.script = [[ask]] * 9
    agent = clerk(llm, ReadOrder())
    compress(agent, "dispatch", max_lookups=1, max_repairs=1)
    with pytest.raises(MalformedToolCallError, match="lookups alone"):
        agent.kickoff("Read it.")
    assert len(llm.got) == 3
    assert [[one["function"]["name"] for one in got["tools"]] for got in llm.got] == [
        ["call", "lookup"],
        ["call"],
        ["call"],
    ]


@MODES
def test_an_empty_text_of_arguments_runs_nothing(mode: str) -> None:
    """CrewAI would run the tool with no arguments at all."""
    done: list[Any] = []

    class Loose(BaseModel):
        number: int = Field(ge=1, json_schema_extra={"default": None})

    class Any_(BaseTool):
        name: str = "any"
        description: str = "Take anything."
        args_schema: type[BaseModel] = Loose

        def _run(self, **arguments: Any) -> str:
            done.append(arguments)
            return "ran"

    llm = ScriptedToolLLM(model="scripted-1")
    empty = "<tool_call>any()</tool_call>" if mode == "text" else call(mode, "any", "any", "")
    llm.script = [said(mode, empty)] * 3 + ["Fine."]
    agent = clerk(llm, Any_())
    compress(agent, mode)
    assert agent.kickoff("Do it.").raw == "Fine."
    assert done == []


@MODES
def test_no_word_of_a_model_sends_crewai_another_way(mode: str) -> None:
    """CrewAI gives up native tools where an error says "does not support tools"."""
    from crewai.utilities.agent_utils import is_native_tool_calling_unsupported_error

    name = "a model that does not support tools"
    error = MalformedToolCallError(f"no call of the model was valid: {name}")
    assert not is_native_tool_calling_unsupported_error(error)
    assert "no call" in str(error)


def test_c16_what_is_as_the_model_made_it_stays_the_same_object() -> None:
    class Function:
        name, arguments = "read_order", '{"number": 7}'

    class Whole:
        id, type, function = "c1", "function", Function()

    llm = ScriptedToolLLM(model="scripted-1", script=[[Whole()], "Fine."])
    agent = clerk(llm, ReadOrder())
    for mode in ("native", "passthrough"):
        handle = compress(agent, mode)
        llm.got.clear()
        given, *_ = convert_tools_to_openai_schema(agent.tools)
        messages = [{"role": "user", "content": "Read it."}]
        (one,) = agent.llm.call(messages, tools=given, from_agent=agent)
        assert isinstance(one, Whole)
        assert messages == [{"role": "user", "content": "Read it."}]
        handle.restore()


def test_a_rate_limit_is_waited_for_as_often_as_without_us() -> None:
    class Busy(Exception):
        status_code = 429
        headers: dict[str, str] = {"retry-after": "0"}  # noqa: RUF012  # read as an attribute

    plain = ScriptedToolLLM(model="scripted-1", script=[Busy()] * 9)
    with pytest.raises(Busy):
        plain.call([])
    llm = ScriptedToolLLM(model="scripted-1", script=[Busy()] * 9)
    agent = clerk(llm, ReadOrder())
    compress(agent, "text")
    with pytest.raises(Busy):
        agent.kickoff("Read it.")
    assert len(llm.got) == len(plain.got) == 3


# --- what is sent -----------------------------------------------------------------------------------------------------


@EITHER
def test_c5_one_system_text_and_a_prefix_that_stays(mode: str) -> None:
    llm = ScriptedToolLLM(model="scripted-1")
    llm.script = [said(mode, read(mode, f'{{"number": {n}}}', f"c{n}")) for n in (7, 8)] + ["Fine."]
    agent = clerk(llm, ReadOrder())
    compress(agent, mode)
    agent.kickoff("Read it.")
    for earlier, later in zip(llm.got, llm.got[1:], strict=False):
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]
        assert later["tools"] == earlier["tools"]
    assert [one["role"] for one in llm.got[0]["messages"]] == ["system", "user"]
    assert llm.got[0]["messages"][0]["content"].startswith("You are Clerk.")
    assert llm.got[0]["messages"][0]["cache_breakpoint"] is True


@EITHER
def test_without_a_system_message_the_text_stands_before_the_first_of_the_user(mode: str) -> None:
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."])
    agent = clerk(llm, ReadOrder(), use_system_prompt=False)
    compress(agent, mode)
    agent.kickoff("Read it.")
    (message,) = llm.got[0]["messages"]
    assert message["role"] == "user"
    assert message["content"].index('"Read Order"') < message["content"].index("Read it.")


@EITHER
def test_c18_a_conversation_of_any_origin(mode: str) -> None:
    image = [
        {"type": "text", "text": "See this."},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}},
    ]
    talk: list[Any] = [
        {"role": "user", "content": "Read it."},
        {"role": "assistant", "content": None, "tool_calls": [native("read_order", '{"number": 1}', "a"), native("gone", "{broken", "b")], "raw_tool_call_parts": [object()]},
        {"role": "tool", "tool_call_id": "a", "name": "read_order", "content": "one"},
        {"role": "tool", "tool_call_id": "lost", "name": "x", "content": "an orphan"},
        {"role": "user", "content": image, "files": {"a": object()}},
        {"role": "assistant", "content": "Seen."},
        {"role": "user", "content": "Go on."},
    ]  # fmt: skip
    before = copy.copy(talk)
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."])
    agent = clerk(llm, ReadOrder())
    compress(agent, mode)
    given, *_ = convert_tools_to_openai_schema(agent.tools)
    llm.got.clear()
    # Files are objects that a deep copy may not touch: the scripted model copies what it records.
    talk[4] = {**talk[4], "files": {"a": 1}}
    agent.llm.call(talk, tools=given, from_agent=agent)
    sent = llm.got[0]["messages"]
    assert before[:4] == talk[:4]
    assert [part for one in sent if isinstance(one["content"], list) for part in one["content"]][-2:] == image
    assert "raw_tool_call_parts" not in json.dumps(sent)
    open_calls: list[str] = []
    for one in sent:
        if one["role"] == "tool":
            open_calls.remove(one["tool_call_id"])
            continue
        assert open_calls == []
        open_calls = [made["id"] for made in one.get("tool_calls") or ()]
        assert all(made["function"]["name"] == "call" for made in one.get("tool_calls") or ())
    assert ("tool_calls" in json.dumps(sent)) == (mode == "dispatch")
    assert any(one.get("files") == {"a": 1} for one in sent)


def test_stop_words_of_text_join_those_of_the_agent() -> None:
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."], stop=["END"])
    agent = clerk(llm, ReadOrder())
    compress(agent, "text")
    agent.kickoff("Read it.")
    assert set(llm.got[0]["stop"]) == {"END", "\nObservation:", "<tool_response>"}
    assert llm.stop == ["END"]


@EITHER
def test_what_is_counted_is_what_is_sent(mode: str) -> None:
    counted: list[Any] = []

    class Counting(ScriptedToolLLM):
        def get_input_tokens_count(self, messages: Any, tools: Any = None, response_model: Any = None) -> int:
            counted.append((copy.deepcopy(messages), tools))
            return 1

    llm = Counting(model="scripted-1", script=["Fine."])
    agent = clerk(llm, ReadOrder())
    compress(agent, mode)
    agent.kickoff("Read it.")
    assert counted[0] == (llm.got[0]["messages"], llm.got[0]["tools"])


def test_an_answer_that_is_an_object_is_asked_for_as_without_us() -> None:
    class Shape(BaseModel):
        n: int

    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."])
    agent = clerk(llm, ReadOrder())
    compress(agent, "text")
    given, *_ = convert_tools_to_openai_schema(agent.tools)
    agent.llm.call("Read it.", tools=given, from_agent=agent, response_model=Shape)
    assert llm.got[0]["messages"] == "Read it."
    assert llm.got[0]["tools"] == given


def test_a_plain_text_is_a_message_of_the_user() -> None:
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."])
    agent = clerk(llm, ReadOrder())
    compress(agent, "text")
    given, *_ = convert_tools_to_openai_schema(agent.tools)
    assert agent.llm.call("Read it.", given) == "Fine."
    (message,) = llm.got[0]["messages"]
    assert message["content"].endswith("Read it.")
    assert llm.got[0]["tools"] is None


@EITHER
def test_tools_that_come_in_the_middle_of_a_run(mode: str) -> None:
    """A large result is put into a file, and the agent gets a tool to read it: what was sent stays a prefix."""

    class Small(ScriptedToolLLM):
        def get_context_window_size(self) -> int:
            return 4_000

        def get_input_tokens_count(self, messages: Any, tools: Any = None, response_model: Any = None) -> int:
            return len(messages) // 4 if isinstance(messages, str) else 10

    @tool_of("dump")
    def dump() -> str:
        """Dump all orders."""
        return "\n".join(f"order {n}: two teapots, and a cup for each of them" for n in range(400))

    llm = Small(model="scripted-1")
    llm.script = [said(mode, call(mode, "dump", "dump", "{}")), "Fine."]
    agent = clerk(llm, dump)
    compress(agent, mode)
    agent.kickoff("Dump it.")
    first, second = (got["messages"] for got in llm.got)
    assert "stored as temporary artifact" in json.dumps(second)
    shown = first[0]["content"].removesuffix("\n</tools>")
    assert second[0]["content"].startswith(shown)
    assert len(second[0]["content"]) > len(first[0]["content"])
    assert second[1] == first[1]


@MODES
def test_c12_names_that_crewai_cannot_spell_and_double_ones(mode: str) -> None:
    """A model reads names; the executor gets its own."""
    done: list[str] = []

    def made(name: str, mark: str) -> Any:
        def run(number: int) -> str:
            done.append(mark)
            return mark

        run.__doc__ = f"Search in {mark}."
        return tool_of(name)(run)

    tools = [made("搜索工具", "a"), made("ping", "b"), made("ping", "c"), made("Ping", "d")]
    llm = ScriptedToolLLM(model="scripted-1")
    agent = clerk(llm, *tools)
    handle = compress(agent, mode)
    names = sorted(handle.report().per_tool)
    assert len(names) == 4
    assert all(names)
    assert ("搜索工具" in names) == (mode != "native")
    if mode == "native":
        assert names == ["ping", "ping_2", "ping_3", "tool_1"]
    llm.script += [said(mode, call(mode, name, name, '{"number": 1}', f"c{n}")) for n, name in enumerate(names)]
    llm.script.append("Fine.")
    assert agent.kickoff("Do all.").raw == "Fine."
    assert sorted(done) == ["a", "b", "c", "d"]


def test_keys_are_those_of_crewai() -> None:
    names = ["Read Order", "read order", "搜索", "readOrder", "x" * 80, "搜", "a.b", "read_order_2"]
    tools = [tool_of(name)(_documented) for name in names]
    _, _, mapping = convert_tools_to_openai_schema(tools)
    assert dict(keyed(tools)) == mapping


def _documented(number: int) -> str:
    """Read."""
    return str(number)


def test_schemas_are_the_tools_own_not_those_that_crewai_made_strict() -> None:
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."])
    agent = clerk(llm, ReadOrder())
    compress(agent, tscg.Native())
    agent.kickoff("Read it.")
    (sent,) = (one["function"] for one in llm.got[0]["tools"])
    assert sent["parameters"]["required"] == ["number"]
    assert sent["parameters"]["properties"]["number"]["minimum"] == 1
    assert "additionalProperties" not in json.dumps(sent)


def test_c14_what_crewai_adds_to_arguments_is_never_asked_for() -> None:
    """The ReAct path adds `security_context` to what a tool gets."""
    llm = ScriptedLLM(model="scripted-1")
    tool = ReadOrder()
    llm.script = [
        'Thought: read\nAction: read_order\nAction Input: {"number": 7}',
        "Thought: done\nFinal Answer: Fine.",
    ]
    agent = clerk(llm, tool)
    compress(agent, "native")
    agent.kickoff("Read it.")
    assert [one["number"] for one in tool.done] == [7]
    assert "security_context" not in json.dumps([got["messages"] for got in llm.got])


# --- ReAct ------------------------------------------------------------------------------------------------------------

ACTION = 'Thought: I read it.\nAction: read_order\nAction Input: {"number": 7}'
FINAL = "Thought: I know.\nFinal Answer: Fine."


@pytest.mark.parametrize("mode", ["native", "dispatch"])
def test_react_stays_with_a_shorter_list(mode: str) -> None:
    tool, llm = ReadOrder(), ScriptedLLM(model="scripted-1", script=[ACTION, FINAL])
    agent = clerk(llm, tool, CancelOrder())
    handle = compress(agent, mode)
    assert agent.kickoff("Read it.").raw == "Fine."
    assert [one["number"] for one in tool.done] == [7]
    prompt = llm.got[0]["messages"][0]["content"]
    assert "Tool Arguments" not in prompt
    assert "read_order" in prompt.partition(BEGIN)[2].partition(END)[0]
    assert "one name of [read_order, cancel_order]" in prompt
    assert llm.got[0]["tools"] is None
    assert "\nObservation:" in llm.got[0]["stop"]
    report = handle.report()
    assert (report.mode, report.label, report.requests) == ("react", "Clerk", 2)
    assert report.saved > 0.6


@pytest.mark.parametrize("mode", ["text", "auto"])
def test_react_is_left_where_calls_are_text(mode: str) -> None:
    tool, llm = ReadOrder(), ScriptedLLM(model="scripted-1")
    llm.script = ['<tool_call>{"name": "Read Order", "arguments": {"number": 7}}</tool_call>', "Fine."]
    agent = clerk(llm, tool)
    compress(agent, mode)
    assert agent.kickoff("Read it.").raw == "Fine."
    assert [one["number"] for one in tool.done] == [7]
    assert BEGIN not in told(llm, 0)


def test_a_list_that_is_not_recognised_is_left_and_said() -> None:
    llm = ScriptedLLM(model="scripted-1", script=[FINAL])
    agent = clerk(llm, ReadOrder())
    handle = compress(agent, "native")
    strange = f"You have {BEGIN}\n\nTool Name: a\nTool Arguments: none at all\n\n{END}: ..."
    agent.llm.call([{"role": "system", "content": strange}], from_agent=agent)
    assert llm.got[0]["messages"][0]["content"] == strange
    assert "not recognised" in handle.report().reason


@EITHER
def test_the_way_back_from_native_tools(mode: str) -> None:
    """A provider says that it takes none: CrewAI tells the model its tools in a message of the user."""
    tool, llm = ReadOrder(), ScriptedToolLLM(model="scripted-1")
    llm.script = [ValueError("this model does not support tools"), ACTION, FINAL]
    agent = clerk(llm, tool)
    compress(agent, mode)
    assert agent.kickoff("Read it.").raw == "Fine."
    assert [one["number"] for one in tool.done] == [7]
    assert "Tool Arguments" not in told(llm, 1)
    assert BEGIN in llm.got[1]["messages"][-1]["content"]
    assert llm.got[1]["messages"][-1]["role"] == "user"


# --- the object -------------------------------------------------------------------------------------------------------


@pytest.fixture
def made() -> Iterator[tuple[Any, Any, Any]]:
    llm = ScriptedToolLLM(model="scripted-1", temperature=0.5, stop=["END"])
    agent = clerk(llm, ReadOrder())
    handle = compress(agent, "text")
    yield llm, agent, handle
    handle.restore()


def test_no_trace_of_us_in_a_dump(made: tuple[Any, Any, Any]) -> None:
    llm, agent, _ = made
    assert agent.llm.model_dump() == llm.model_dump()
    assert agent.llm.model_dump_json() == llm.model_dump_json()
    assert agent.llm.to_config_dict() == llm.to_config_dict()
    assert "tscg" not in agent.model_dump_json()


def test_copies_keep_the_compression(made: tuple[Any, Any, Any]) -> None:
    llm, agent, handle = made
    for one in (copy.copy(agent.llm), copy.deepcopy(agent.llm)):
        assert type(one) is type(agent.llm)
        assert one.supports_function_calling()
        assert compress(clerk(one, ReadOrder())) is handle
    assert copy.copy(agent.llm)._token_usage is llm._token_usage


@pytest.mark.parametrize(
    "options", [{"mode": "code"}, {"mode": "tekst"}, {"profile": "nice"}, {"max_repairs": -1}, {"max_lookups": 1.5}],
    ids=repr,
)  # fmt: skip
def test_options_that_no_call_could_use(options: dict[str, Any]) -> None:
    agent = clerk(ScriptedToolLLM(model="scripted-1"), ReadOrder())
    with pytest.raises(tscg.ConfigError):
        compress(agent, **options)
    assert type(agent.llm) is ScriptedToolLLM


def test_what_is_no_crew() -> None:
    llm: Any = ScriptedToolLLM(model="scripted-1")
    with pytest.raises(tscg.ConfigError, match="no crew and no agent"):
        compress(llm)


def test_a_mode_that_costs_more_is_obeyed_and_said() -> None:
    agent = clerk(ScriptedToolLLM(model="scripted-1", script=["Fine."]), ReadOrder())
    handle = compress(agent, "dispatch")
    with pytest.warns(tscg.TscgWarning, match="dispatch mode sends"):
        assert handle.report().saved < 0


@pytest.mark.parametrize("strict", [True, False])
def test_c13_auto_sends_no_more_than_without_us(strict: bool) -> None:
    llm = ScriptedToolLLM(model="gemini-2.5-pro" if strict else "scripted-1", script=["Fine."])
    agent = clerk(llm, ReadOrder(), CancelOrder())
    report = compress(agent).report()
    assert report.tokens <= report.baseline_tokens
    assert report.mode in ("native", "passthrough")


def test_auto_rewrites_no_call_for_gemini() -> None:
    """A rewritten call loses the signature that Gemini wants back."""
    tools = [tool_of(f"tool {n}")(_many) for n in range(150)]
    agents = {model: clerk(ScriptedToolLLM(model=model), *tools) for model in ("scripted-1", "gemini-2.5-pro")}
    modes = {model: compress(agent).report().mode for model, agent in agents.items()}
    assert modes["scripted-1"] == "dispatch"
    assert modes["gemini-2.5-pro"] in ("text", "native")


def _many(owner: str, repository: str, page: int = 1, labels: list[str] | None = None, state: str = "open") -> str:
    """List the entries of a repository, page after page. Never list those of a repository that is archived. The newest
    ones come first, and closed ones are left out where the state says so; ask for few at a time, and go on from there."""
    return "x"


# --- points of CrewAI that are private --------------------------------------------------------------------------------

PRIVATE = {
    "_emit_stream_chunk_event": ["chunk", "from_task", "from_agent", "tool_call", "call_type", "response_id"],
    "_emit_call_completed_event": ["response", "call_type", "from_task", "from_agent", "messages", "usage", "finish_reason", "response_id"],
    "_track_token_usage_internal": ["usage_data"],
    "_convert_tools_for_interference": ["tools"],
    "_effective_stream": [],
}  # fmt: skip


@pytest.mark.parametrize("name", PRIVATE)
def test_private_methods_are_where_they_were(name: str) -> None:
    assert list(inspect.signature(getattr(BaseLLM, name)).parameters)[1:] == PRIVATE[name]


def test_providers_call_them() -> None:
    from crewai.llms.providers.openai.completion import OpenAICompletion

    source = inspect.getsource(OpenAICompletion)
    for name in PRIVATE:
        assert f"self.{name}(" in source


def test_private_fields_of_agents_are_where_they_were() -> None:
    agent = clerk(ScriptedToolLLM(model="scripted-1"), ReadOrder())
    assert agent._declared_llm is agent.llm
    agent.create_agent_executor()
    assert [tool.name for tool in agent.agent_executor.original_tools] == ["Read Order"]


def test_the_words_around_the_list_of_tools_are_what_they_were() -> None:
    for name in ("tools", "lite_agent_system_prompt_with_tools"):
        text = I18N_DEFAULT.slice(name)
        assert text.index(BEGIN) < text.index("{tools}") < text.index(END)


def test_importing_the_package_imports_no_crewai() -> None:
    code = "import sys, crewai_tscg; print('crewai' in sys.modules, callable(crewai_tscg.compress))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "True"]
