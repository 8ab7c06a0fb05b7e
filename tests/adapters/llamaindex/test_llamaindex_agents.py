"""Agents and workflows with the real client against a strict provider: what the framework's own parts still see."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import (
    AgentOutput,
    AgentStream,
    AgentWorkflow,
    FunctionAgent,
    ReActAgent,
    ToolCall,
    ToolCallResult,
)
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool, QueryEngineTool, ToolMetadata
from llama_index.core.workflow import Context
from pydantic import BaseModel

from llama_index_tscg import MalformedToolCallError, ToolCompressionEvent, compress_llm, compress_react
from tests.adapters.llamaindex.harness import hearing, manager
from tests.adapters.llamaindex.models import CompletionLLM, ScriptedLLM, client
from tests.adapters.provider import Answer, Model, Provider, Turn, View
from tests.adapters.worker import RAW, work

ROOT = Path(__file__).resolve().parents[3]
MODES = ("native", "text", "dispatch")
ALL = pytest.mark.parametrize("mode", MODES)
FORMS = pytest.mark.parametrize("form", ["wrapper", "manager"])
Serve = Callable[[Model], Provider]
pytestmark = [
    pytest.mark.filterwarnings("ignore:.* mode sends .* as JSON:tscg.TscgWarning"),
    # An agent is a pydantic model, and the workflow that it is too looks at all of its attributes.
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_running called from within a step"),  # by ReActAgent
]


@pytest.fixture
def serve() -> Iterator[Serve]:
    started: list[Provider] = []

    def start(model: Model) -> Provider:
        started.append(Provider(model).start())
        return started[-1]

    yield start
    for provider in started:
        provider.close()
    assert [fault for provider in started for fault in provider.broken] == []


def read_page(number: int) -> str:
    """Read a page of the book. Counts from 1."""
    return f"page {number}"


def find_word(word: str, most: int = 5) -> str:
    """Find a word in the book."""
    return f"{word} {most}"


def finish(verdict: str) -> str:
    """Give the verdict and end."""
    return f"verdict: {verdict}"


def break_it(part: str) -> str:
    """Break a part."""
    raise RuntimeError(f"{part} broke")


async def recall(ctx: Context, topic: str, limit: int) -> str:
    """Recall a topic."""
    count = await ctx.store.get("recalled", default=0)
    await ctx.store.set("recalled", count + 1)
    return f"{topic} {limit} {count}"


recall.__annotations__["ctx"] = Context  # LlamaIndex looks for the class, and here it is a text

TOOLS = [
    FunctionTool.from_defaults(read_page), FunctionTool.from_defaults(find_word),
    FunctionTool.from_defaults(finish, return_direct=True), FunctionTool.from_defaults(break_it),
    FunctionTool.from_defaults(async_fn=recall, partial_params={"limit": 9}),
]  # fmt: skip


class Run:
    """What an agent's run gave: its result, its events, its context."""

    def __init__(self, result: AgentOutput, events: list[Any], context: Context) -> None:
        self.result, self.events, self.context = result, events, context

    @property
    def text(self) -> str:
        return self.result.response.content or ""

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if type(event) is kind]

    @property
    def results(self) -> list[tuple[str, str]]:
        return [(one.tool_name, one.tool_output.content) for one in self.of(ToolCallResult)]


def run(agent: Any, *prompts: str, context: Context | None = None) -> Run:
    """A conversation, in one event loop: a context does not leave its own."""

    async def played() -> Run:
        done: Run | None = None
        for prompt in prompts:
            handler = agent.run(user_msg=prompt, ctx=context if done is None else done.context)
            events = [event async for event in handler.stream_events()]
            done = Run(await handler, events, handler.ctx)
        assert done is not None
        return done

    return asyncio.run(played())


def compressed(form: str, llm: Any, mode: str, build: Callable[[Any], Any], *prompts: str) -> Run:
    """A conversation of an agent with an LLM, under one of the two entry points."""
    if form == "wrapper":
        return run(build(compress_llm(llm, mode, "balanced")), *prompts)
    with manager(mode):
        return run(build(llm), *prompts)


def function_agent(llm: Any, **options: Any) -> FunctionAgent:
    return FunctionAgent(tools=list(TOOLS), llm=llm, system_prompt="You read.", **options)


# --- agents -----------------------------------------------------------------------------------------------------------


@ALL
@FORMS
def test_c3_events_state_and_memory_hold_nothing_raw(serve: Serve, mode: str, form: str) -> None:
    prompt = 'SAY Let me see if 3 < 4. && read_page {"number": 3} && find_word {"word": "sea"}'
    done = compressed(form, client(serve(work), "openai"), mode, function_agent, prompt)
    assert sorted(done.results) == [("find_word", "sea 5"), ("read_page", "page 3")]
    streams = done.of(AgentStream)
    assert "Let me see if 3 < 4." in "".join(event.delta for event in streams)
    named = [[call.tool_name for call in event.tool_calls] for event in streams]
    assert [one for one in named if one] == [["read_page", "find_word"]]  # in one chunk, the last
    ids = [call.tool_id for event in streams for call in event.tool_calls]
    assert ids == [event.tool_id for event in done.of(ToolCall)][: len(ids)]
    shown = json.dumps([event.response for event in streams]) + repr(done.context.to_dict())
    assert [mark for mark in RAW if mark in shown] == []
    assert "'call'" not in shown


@ALL
def test_c14_context_and_preset_arguments_are_injected_and_never_sent(serve: Serve, mode: str) -> None:
    provider = serve(work)
    build = function_agent
    prompts = ('recall {"topic": "sea"}\nrecall {"topic": "sky"}', 'recall {"topic": "sun"}')
    done = compressed("manager", client(provider, "openai"), mode, build, *prompts)
    assert done.results == [("recall", "sun 9 2")]
    sent = json.dumps([[body.get("tools"), body["messages"][0]] for body in provider.bodies])
    assert '"limit"' not in sent
    assert "ctx" not in sent


@ALL
@FORMS
def test_c15_return_direct_ends_the_run(serve: Serve, mode: str, form: str) -> None:
    provider = serve(work)
    done = compressed(form, client(provider, "openai"), mode, function_agent, 'finish {"verdict": "good"}')
    assert done.text == "verdict: good"
    assert len(provider.bodies) == 1


@ALL
def test_c15_an_error_of_a_tool_goes_to_the_model(serve: Serve, mode: str) -> None:
    done = compressed("manager", client(serve(work), "openai"), mode, function_agent, 'break_it {"part": "wheel"}')
    assert done.of(ToolCallResult)[0].tool_output.is_error
    assert "wheel broke" in done.text


@ALL
@FORMS
def test_handoffs_keep_their_name_and_their_long_description(serve: Serve, mode: str, form: str) -> None:
    def build(llm: Any) -> AgentWorkflow:
        long = "Reads pages. " + "Knows every book. " * 80
        reader = FunctionAgent(name="reader", description=long, tools=[TOOLS[0]], llm=llm, system_prompt="You read.")
        clerk = FunctionAgent(
            name="clerk", description="Takes orders.", tools=[TOOLS[1]], llm=llm, system_prompt="You ask."
        )
        return AgentWorkflow(agents=[clerk, reader], root_agent="clerk")

    plan = iter(['handoff {"to_agent": "reader", "reason": "a page"}', 'read_page {"number": 3}', ""])

    def model(view: View) -> Answer:
        step = next(plan)
        if not step:
            return Answer(text="Read.")
        return work(View(system=view.system, tools=view.tools, turns=[Turn(role="user", text=step)]))

    provider = serve(model)
    done = compressed(form, client(provider, "openai"), mode, build, "A page, please.")
    assert [name for name, _ in done.results] == ["handoff", "read_page"]
    assert (done.text, done.result.current_agent_name) == ("Read.", "reader")


@ALL
def test_initial_tool_choice_is_the_first_turns_alone(serve: Serve, mode: str) -> None:
    provider = serve(work)
    prompt = 'find_word {"word": "sea"}\nread_page {"number": 3}'
    done = compressed(
        "wrapper", client(provider, "openai"), mode,
        lambda llm: function_agent(llm, initial_tool_choice="find_word"), prompt,
    )  # fmt: skip
    assert done.results == [("find_word", "sea 5"), ("read_page", "page 3")]
    choices = [body.get("tool_choice") for body in provider.bodies]
    assert choices[0] == {"type": "function", "function": {"name": "find_word"}}
    assert choices[1:] == ([None, None] if mode == "text" else ["auto", "auto"])
    assert [one["function"]["name"] for one in provider.bodies[0]["tools"]] == ["find_word"]


def test_a_query_engine_is_a_tool_like_others(serve: Serve) -> None:
    from llama_index.core.base.response.schema import Response
    from llama_index.core.query_engine import CustomQueryEngine

    class Library(CustomQueryEngine):
        def custom_query(self, query_str: str) -> Response:
            return Response(f"found {query_str}")

    metadata = ToolMetadata(name="library", description="Answers from the library.")
    tool = QueryEngineTool(query_engine=Library(), metadata=metadata)
    done = compressed(
        "manager", client(serve(work), "openai"), "text", lambda llm: FunctionAgent(tools=[tool, *TOOLS], llm=llm),
        'library {"input": "whales"}',
    )  # fmt: skip
    assert done.results == [("library", "found whales")]


@ALL
def test_a_completion_llm_drives_an_agent_in_text(mode: str) -> None:
    inner = CompletionLLM(script=[
        'Wait. <tool_call>{"name": "read_page", "arguments": {"number": "x"}}</tool_call>',
        '<tool_call>{"name": "read_page", "arguments": {"number": 3}}</tool_call>', "It says page 3.",
    ])  # fmt: skip
    if mode != "text":
        inner.callback_manager.handlers.clear()
    agent = function_agent(compress_llm(inner, "auto" if mode == "native" else "text"), streaming=mode != "dispatch")
    done = run(agent, "Page 3?")
    assert done.results == [("read_page", "page 3")]
    assert done.text == "It says page 3."
    assert "read_page" in inner.prompts[0]


def test_a_call_that_stays_wrong_ends_the_run_with_its_error(serve: Serve) -> None:
    wrong = Answer(text='<tool_call>{"name": "read_page", "arguments": {"number": []}}</tool_call>')
    with pytest.raises(MalformedToolCallError, match="read_page"):
        compressed("wrapper", client(serve(lambda view: wrong), "openai"), "text", function_agent, "Page?")


# --- structured output ------------------------------------------------------------------------------------------------


class Verdict(BaseModel):
    """The verdict."""

    title: str = ""
    stars: int = 0


def judge(view: View) -> Answer:
    if "Verdict" in view.tools:
        return Answer(calls=(("Verdict", '{"title": "Sea", "stars": 4}'),))
    return work(view)


@ALL
@FORMS
def test_c11_an_agent_with_an_output_class(serve: Serve, mode: str, form: str) -> None:
    provider = serve(judge)
    done = compressed(
        form, client(provider, "openai", should_use_structured_outputs=False), mode,
        lambda llm: function_agent(llm, output_cls=Verdict), 'read_page {"number": 3}',
    )  # fmt: skip
    assert done.results == [("read_page", "page 3")]
    assert done.result.get_pydantic_model(Verdict) == Verdict(title="Sea", stars=4)
    last = provider.bodies[-1]
    assert [one["function"]["name"] for one in last["tools"]] == ["Verdict"]
    assert "read_page" not in json.dumps(last["tools"])


@ALL
@FORMS
def test_c11_structured_streams_show_objects_as_they_grow(serve: Serve, mode: str, form: str) -> None:
    llm: Any = client(serve(judge), "openai", should_use_structured_outputs=False)
    prompt = PromptTemplate("Judge {thing}.")

    async def grown(llm: Any) -> list[Any]:
        return [one async for one in await llm.astream_structured_predict(Verdict, prompt, thing="it")]

    with manager(mode):
        used = compress_llm(llm, mode) if form == "wrapper" else llm
        for partial in (list(used.stream_structured_predict(Verdict, prompt, thing="it")), asyncio.run(grown(used))):
            assert partial[-1].model_dump() == {"title": "Sea", "stars": 4}
            assert len(partial) > 3


def test_c11_a_json_schema_is_the_providers_own(serve: Serve) -> None:
    def model(view: View) -> Answer:
        return Answer(text='{"title": "Sea", "stars": 4}')

    provider = serve(model)
    llm: Any = compress_llm(client(provider, "openai", should_use_structured_outputs=True), "text")
    assert llm.structured_predict(Verdict, PromptTemplate("Judge.")) == Verdict(title="Sea", stars=4)
    assert provider.bodies[0]["response_format"]["type"] == "json_schema"


# --- a context in another process -------------------------------------------------------------------------------------

RESUME = """
import asyncio, json, sys
from llama_index.core.workflow import Context
from tests.adapters.llamaindex.models import ScriptedLLM
from tests.adapters.llamaindex.test_llamaindex_agents import TOOLS, function_agent, run
from llama_index.core.base.llms.types import ChatMessage
from llama_index_tscg import compress_llm

inner = ScriptedLLM(ChatMessage("Again page 3.", role="assistant"))
agent = function_agent(compress_llm(inner, "dispatch", "balanced"))
context = Context.from_dict(agent, json.load(sys.stdin))
done = run(agent, "And again?", context=context)
calls = [(b.tool_name, b.tool_kwargs) for m in inner.got[0]["messages"] for b in m.blocks if b.block_type == "tool_call"]
print(json.dumps([done.text, calls]))
"""


def test_a_context_goes_on_in_another_process_and_another_mode(serve: Serve) -> None:
    llm = client(serve(work), "openai")
    done = compressed("wrapper", llm, "text", function_agent, 'recall {"topic": "sea"}\nread_page {"number": 3}')
    state = json.dumps(done.context.to_dict())
    assert [mark for mark in RAW if mark in state] == []
    command = [sys.executable, "-W", "ignore", "-c", RESUME]
    other = subprocess.run(command, input=state, capture_output=True, text=True, timeout=90, check=False, cwd=ROOT)
    assert other.returncode == 0, other.stderr
    text, calls = json.loads(other.stdout)
    assert text == "Again page 3."
    assert calls == [
        ["call", {"tool": "recall", "args": {"topic": "sea"}}], ["call", {"tool": "read_page", "args": {"number": 3}}],
    ]  # fmt: skip


# --- ReAct ------------------------------------------------------------------------------------------------------------

ODD = FunctionTool.from_defaults(read_page, name="book (page)")
BRACES = FunctionTool.from_defaults(find_word, name="find", description='Find {word} in "{book}".')


def thought(action: str, given: str) -> ChatMessage:
    return ChatMessage(f"Thought: I need it.\nAction: {action}\nAction Input: {given}", role="assistant")


ANSWER = ChatMessage("Thought: I can answer.\nAnswer: Page 3 it is.", role="assistant")


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "streamed"])
def test_a_react_agent_with_names_that_need_an_alias(streaming: bool) -> None:
    inner = ScriptedLLM(
        thought("book_page_", '{"number": "three"}'), thought("book_page_", "{'number': 3}"),
        thought("find", '{"word": "sea"}\nObservation: {"made": "up"}'), ANSWER,
    )  # fmt: skip
    parts = compress_react("balanced")
    agent = ReActAgent(tools=[ODD, BRACES, *TOOLS], llm=inner, system_prompt="Be kind.", streaming=streaming, **parts)
    with manager("dispatch") as compression, hearing() as heard:  # nothing to compress there
        done = run(agent, "Page 3?")
        assert compression.report().requests == 0
        assert heard.of(ToolCompressionEvent) == []
    assert done.results == [("book (page)", "page 3"), ("find", "sea 5")]
    assert done.text == "Page 3 it is."
    header = inner.got[0]["messages"][0].content
    assert "Be kind." in header
    assert "book_page_(number:int)" in header
    assert '{word} in "{book}"' in header
    assert "properties" not in header  # no JSON Schema
    again = inner.got[1]["messages"]
    assert "integer" in again[-1].content  # the error of the core, told by the agent itself
    assert "Action: book_page_" in inner.got[-1]["messages"][-4].content


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("Thought: x\nAction: nothing\nAction Input: {}", "nothing"), ("Thought: x\nAction: find", "Could not extract"),
        ('Thought: x\nAction: find\nAction Input: {"word": 3}', "word"),
        ('Thought: x\nAction: find\nAction Input: {"most": 3}', "word"),
    ],
)  # fmt: skip
def test_a_wrong_step_is_told(text: str, match: str) -> None:
    parts = compress_react()
    with pytest.raises(ValueError, match="No tools"):
        parts["output_parser"].parse("Thought: x\nAction: find\nAction Input: {}")
    parts["formatter"].format(TOOLS, [ChatMessage("Hi")])
    parts["formatter"].format([BRACES, FunctionTool.from_defaults(finish)], [ChatMessage("Hi")])
    with pytest.raises(ValueError, match=match):
        parts["output_parser"].parse(text)


def test_two_runs_with_different_tools_do_not_mix() -> None:
    parts = compress_react()
    parts["formatter"].format([TOOLS[0]], [ChatMessage("Hi")])
    parts["formatter"].format([TOOLS[1]], [ChatMessage("Hi")])
    step: Any = parts["output_parser"].parse('Thought: x\nAction: read_page\nAction Input: {"number": 3}')
    assert (step.action, step.action_input, step.thought) == ("read_page", {"number": 3}, "x")
    answer: Any = parts["output_parser"].parse("Just an answer.")
    assert answer.response == "Just an answer."


def test_the_react_prompt_is_smaller() -> None:
    from llama_index.core.agent.react.formatter import ReActChatFormatter

    with_it = compress_react()["formatter"].format(TOOLS, [ChatMessage("Hi")])
    without = ReActChatFormatter().format(TOOLS, [ChatMessage("Hi")])
    assert with_it[1:] == without[1:]
    assert len(with_it[0].content or "") < 0.8 * len(without[0].content or "")
