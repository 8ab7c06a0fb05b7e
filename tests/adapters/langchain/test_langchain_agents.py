"""Agents and graphs with the real clients against a strict provider: what a framework's own parts still see."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    LLMToolSelectorMiddleware,
    ModelFallbackMiddleware,
    ModelRequest,
    TodoListMiddleware,
    ToolCallLimitMiddleware,
)
from langchain.agents.structured_output import AutoStrategy, ProviderStrategy, ToolStrategy
from langchain.chat_models import init_chat_model
from langchain.tools import InjectedState, InjectedToolCallId, ToolRuntime
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langgraph import prebuilt
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.types import Command
from pydantic import BaseModel

import tscg
from langchain_tscg import CompressedChatModel, CompressedToolkit, ToolCompressionMiddleware
from tests.adapters.langchain.models import ScriptedChatModel, TextOnlyModel, client
from tests.adapters.provider import Answer, Model, Provider, View
from tests.adapters.worker import RAW, work

MODES = ("native", "text", "dispatch")
ALL = pytest.mark.parametrize("mode", MODES)
BOTH = pytest.mark.parametrize("dialect", ["openai", "anthropic"])
CORE = version("langchain-core")
Serve = Callable[[Model], Provider]
pytestmark = pytest.mark.filterwarnings(
    "ignore:.* mode sends .* as JSON:tscg.TscgWarning", "ignore:create_react_agent has been moved"
)


@tool
def read_page(number: int) -> str:
    """Read a page of the book. Counts from 1."""
    return f"page {number}"


@tool
def find_word(word: str, most: int = 5) -> str:
    """Find a word in the book."""
    return f"{word} {most}"


@tool(return_direct=True)
def finish(verdict: str) -> str:
    """Give the verdict and end."""
    return f"verdict: {verdict}"


@tool(response_format="content_and_artifact")
def chart(width: int) -> tuple[str, dict[str, int]]:
    """Draw a chart."""
    return "drawn", {"width": width}


@tool
def break_it(part: str) -> str:
    """Break a part."""
    raise RuntimeError(f"{part} broke")


TOOLS = [read_page, find_word, finish, chart]


def results(state: Any) -> list[tuple[str | None, Any]]:
    return [(one.name, one.content) for one in state["messages"] if isinstance(one, ToolMessage)]


def ask(text: str) -> Any:
    return {"messages": [HumanMessage(text)]}


# --- ways to build an agent ------------------------------------------------------------------------------------------


def with_middleware(model: Any, toolkit: CompressedToolkit, mode: str) -> Any:
    return create_agent(model, TOOLS, middleware=[ToolCompressionMiddleware(mode)])


def with_toolkit(model: Any, toolkit: CompressedToolkit, mode: str) -> Any:
    return create_agent(model, toolkit.get_tools(), middleware=[toolkit.middleware()])


def wrapped(model: Any, toolkit: CompressedToolkit, mode: str) -> Any:
    return create_agent(toolkit.wrap(model), toolkit.get_tools())


def graph(model: Any, toolkit: CompressedToolkit, mode: str) -> Any:
    llm = toolkit.bind(model)
    made = StateGraph(MessagesState)
    made.add_node("model", lambda state: {"messages": [llm.invoke(state["messages"])]})
    made.add_node("tools", ToolNode(toolkit.get_tools()))
    made.add_edge(START, "model")
    made.add_conditional_edges("model", tools_condition)
    made.add_edge("tools", "model")
    return made.compile()


def react_wrapped(model: Any, toolkit: CompressedToolkit, mode: str) -> Any:
    return prebuilt.create_react_agent(toolkit.wrap(model), toolkit.get_tools())  # type: ignore[deprecated]


def react_bound(model: Any, toolkit: CompressedToolkit, mode: str) -> Any:
    return prebuilt.create_react_agent(toolkit.bind(model), toolkit.get_tools())  # type: ignore[deprecated]


@ALL
@BOTH
@pytest.mark.parametrize("build", [with_middleware, with_toolkit, wrapped, graph, react_wrapped, react_bound])
def test_every_way_to_build_an_agent(serve: Serve, build: Any, mode: str, dialect: str) -> None:
    provider = serve(work)
    toolkit = CompressedToolkit(TOOLS, mode, "balanced")
    state = build(client(provider, dialect), toolkit, mode).invoke(
        ask('read_page {"number": 3}\nfind_word {"word": "sea"}')
    )
    assert results(state) == [("read_page", "page 3"), ("find_word", "sea 5")]
    assert state["messages"][-1].text == "Done. sea 5"


# --- streams and events ----------------------------------------------------------------------------------------------


@ALL
@BOTH
@pytest.mark.parametrize("version", ["v2", "v3"])
@pytest.mark.filterwarnings("ignore:.*beta", "ignore:.*experimental")
def test_c3_events_hold_nothing_raw(serve: Serve, mode: str, dialect: str, version: str) -> None:
    if version == "v3" and not hasattr(BaseChatModel, "_chat_model_stream_v3"):
        pytest.skip("this langchain-core has no events of version 3")
    agent = create_agent(client(serve(work), dialect), TOOLS, middleware=[ToolCompressionMiddleware(mode)])
    prompt = ask('SAY Let me look. && read_page {"number": 3}')

    async def collect() -> list[Any]:
        if version == "v2":
            return [event async for event in agent.astream_events(prompt, version="v2")]
        stream = await agent.astream_events(prompt, version="v3")
        return [event async for event in stream]

    events = asyncio.run(collect())
    if version == "v2":
        kinds = [event["event"] for event in events]
        assert kinds.count("on_chat_model_start") == kinds.count("on_chat_model_end") == 2
        outputs = [event["data"]["output"] for event in events if event["event"] == "on_chat_model_end"]
        assert [call["name"] for call in outputs[0].tool_calls] == ["read_page"]
        shown = repr([event["data"] for event in events if event["event"] == "on_chat_model_stream"])
    else:
        shown = repr(events)
    assert "read_page" in shown
    assert [mark for mark in RAW if mark in shown] == []


@ALL
@BOTH
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_output_version_v1(serve: Serve, mode: str, dialect: str, streamed: bool) -> None:
    model = client(serve(work), dialect, output_version="v1")
    llm = CompressedToolkit(TOOLS, mode, "balanced").bind(model)
    prompt = 'SAY Let me look. && read_page {"number": 3}'

    def asked(llm: Any) -> Any:
        if not streamed:
            return llm.invoke(prompt)
        answer = None
        for chunk in llm.stream(prompt):
            answer = chunk if answer is None else answer + chunk
        return answer

    answer = asked(llm)
    assert [(call["name"], call["args"]) for call in answer.tool_calls] == [("read_page", {"number": 3})]
    kinds = [(block["type"], block.get("name")) for block in answer.content_blocks]
    if streamed and dialect == "openai" and CORE.startswith(("1.0.", "1.1.")):
        pytest.skip("this langchain-core gives no blocks of calls of a stream of text, without compression neither")
    assert kinds == [("text", None), ("tool_call", "read_page")]
    assert answer.content_blocks[0]["text"].strip() == "Let me look."
    history = [HumanMessage(prompt), answer, ToolMessage("page 3", tool_call_id=answer.tool_calls[0]["id"])]
    assert llm.invoke(history).text.startswith("Done.")


# --- semantics of tools ----------------------------------------------------------------------------------------------


@ALL
def test_c15_return_direct_ends_the_run(serve: Serve, mode: str) -> None:
    provider = serve(work)
    agent = create_agent(client(provider, "openai"), TOOLS, middleware=[ToolCompressionMiddleware(mode)])
    state = agent.invoke(ask('finish {"verdict": "good"}'))
    assert state["messages"][-1].content == "verdict: good"
    assert len(provider.bodies) == 1


@ALL
def test_c15_artifacts_stay(serve: Serve, mode: str) -> None:
    agent = create_agent(client(serve(work), "openai"), TOOLS, middleware=[ToolCompressionMiddleware(mode)])
    state = agent.invoke(ask('chart {"width": 7}'))
    (one,) = [message for message in state["messages"] if isinstance(message, ToolMessage)]
    assert (one.content, one.artifact) == ("drawn", {"width": 7})


@ALL
def test_c15_an_exception_of_a_tool_passes_untouched(serve: Serve, mode: str) -> None:
    agent = create_agent(client(serve(work), "openai"), [break_it], middleware=[ToolCompressionMiddleware(mode)])
    with pytest.raises(RuntimeError, match="wheel broke"):
        agent.invoke(ask('break_it {"part": "wheel"}'))


@ALL
@BOTH
def test_c15_approval_by_real_name(serve: Serve, mode: str, dialect: str) -> None:
    agent = create_agent(
        client(serve(work), dialect), TOOLS, checkpointer=InMemorySaver(),
        middleware=[HumanInTheLoopMiddleware(interrupt_on={"read_page": True}), ToolCompressionMiddleware(mode)],
    )  # fmt: skip
    config: Any = {"configurable": {"thread_id": "1"}}
    state = agent.invoke(ask('read_page {"number": 3}'), config)
    (request,) = state["__interrupt__"][0].value["action_requests"]
    assert (request["name"], request["args"]) == ("read_page", {"number": 3})
    edited = {"type": "edit", "edited_action": {"name": "read_page", "args": {"number": 4}}}
    state = agent.invoke(Command(resume={"decisions": [edited]}), config)
    (answer,) = [content for _, content in results(state)]
    assert answer.endswith("page 4")


@ALL
def test_c15_call_limits_by_real_name(serve: Serve, mode: str) -> None:
    limit = ToolCallLimitMiddleware(tool_name="read_page", run_limit=2, exit_behavior="error")
    agent = create_agent(client(serve(work), "openai"), TOOLS, middleware=[limit, ToolCompressionMiddleware(mode)])
    assert results(agent.invoke(ask('read_page {"number": 1}\nfind_word {"word": "sea"}'))) == [
        ("read_page", "page 1"), ("find_word", "sea 5"),
    ]  # fmt: skip
    with pytest.raises(Exception, match="limit"):
        agent.invoke(ask('read_page {"number": 1}\nread_page {"number": 2}\nread_page {"number": 3}'))


@ALL
@BOTH
def test_c14_injected_arguments_are_injected(serve: Serve, mode: str, dialect: str) -> None:
    @tool
    def recall(
        topic: str,
        state: Annotated[dict[str, Any], InjectedState],
        call_id: Annotated[str, InjectedToolCallId],
        runtime: ToolRuntime,
    ) -> str:
        """Recall a topic."""
        return f"{topic} {len(state['messages'])} {call_id == runtime.tool_call_id}"

    provider = serve(work)
    agent = create_agent(client(provider, dialect), [recall], middleware=[ToolCompressionMiddleware(mode)])
    state = agent.invoke(ask('recall {"topic": "sea"}'))
    assert results(state) == [("recall", "sea 2 True")]
    wire = json.dumps(provider.bodies)
    assert [word for word in ("runtime", "call_id:", '"state"', "messages:") if word in wire] == []


# --- structured output -----------------------------------------------------------------------------------------------


class Verdict(BaseModel):
    """The verdict."""

    title: str
    stars: int


def structured(view: View) -> Answer:
    """A model that gives the verdict in the form that the request asks for."""
    if "Verdict" in json.dumps(list(view.tools)) or "Verdict" in view.system:
        return work(
            View(
                system=view.system,
                tools=view.tools,
                turns=[type(view.turns[0])(role="user", text='Verdict {"title": "Sea", "stars": 4}')],
            )
        )
    return Answer(text='{"title": "Sea", "stars": 4}')


@ALL
@BOTH
def test_c11_tool_strategy_works_in_all_modes(serve: Serve, mode: str, dialect: str) -> None:
    agent = create_agent(
        client(serve(structured), dialect),
        TOOLS,
        response_format=ToolStrategy(Verdict),
        middleware=[ToolCompressionMiddleware(mode)],
    )
    assert agent.invoke(ask("Judge."))["structured_response"] == Verdict(title="Sea", stars=4)


@ALL
@pytest.mark.skipif(
    "profile" not in BaseChatModel.model_fields, reason="this langchain-core has no table of capabilities"
)
def test_c11_a_bare_schema_chooses_by_the_mode(serve: Serve, mode: str) -> None:
    provider = serve(structured)
    model = client(provider, "openai", profile={"structured_output": True, "tool_calling": True})
    agent = create_agent(
        model, TOOLS, response_format=AutoStrategy(Verdict), middleware=[ToolCompressionMiddleware(mode)]
    )
    assert agent.invoke(ask("Judge."))["structured_response"] == Verdict(title="Sea", stars=4)
    assert ("response_format" in provider.bodies[0]) == (mode != "text")


@ALL
def test_c11_provider_strategy(serve: Serve, mode: str) -> None:
    provider = serve(structured)
    agent = create_agent(
        client(provider, "openai"),
        TOOLS,
        response_format=ProviderStrategy(Verdict),
        middleware=[ToolCompressionMiddleware(mode)],
    )
    if mode == "text":
        with pytest.raises(tscg.ConfigError, match="response_format"):
            agent.invoke(ask("Judge."))
        return
    assert agent.invoke(ask("Judge."))["structured_response"] == Verdict(title="Sea", stars=4)
    if mode == "dispatch":
        schema = provider.bodies[0]["tools"][0]["function"]["parameters"]
        assert schema["properties"]["args"]["type"] == "string"


@ALL
def test_c11_with_structured_output_is_the_models_own(serve: Serve, mode: str) -> None:
    provider = serve(structured)
    llm = CompressedChatModel(inner=client(provider, "openai"), mode=mode).with_structured_output(
        Verdict, method="function_calling"
    )
    assert llm.invoke("Judge.") == Verdict(title="Sea", stars=4)


# --- other middleware ------------------------------------------------------------------------------------------------


@ALL
def test_tools_that_are_selected_by_request(serve: Serve, mode: str) -> None:
    class Dynamic(AgentMiddleware):  # two parameters in langchain 1.0, later three
        def wrap_model_call(self, request: ModelRequest[Any], handler: Any) -> Any:
            return handler(
                request.override(tools=[one for one in request.tools if getattr(one, "name", "") != "find_word"])
            )

    provider = serve(work)
    agent = create_agent(client(provider, "openai"), TOOLS, middleware=[Dynamic(), ToolCompressionMiddleware(mode)])
    agent.invoke(ask('read_page {"number": 3}'))
    assert "read_page" in json.dumps(provider.bodies[0])
    assert "find_word" not in json.dumps(provider.bodies[0])


def test_the_selector_in_front(serve: Serve) -> None:
    selector = LLMToolSelectorMiddleware(model=ScriptedChatModel(script=[]), always_include=["read_page"], max_tools=1)

    class Chosen(ScriptedChatModel):
        def with_structured_output(self, schema: Any, **kwargs: Any) -> Any:
            from langchain_core.runnables import RunnableLambda

            return RunnableLambda(lambda _: {"tools": ["find_word"]})

    selector.model = Chosen(script=[])
    provider = serve(work)
    agent = create_agent(
        client(provider, "openai"), TOOLS, middleware=[selector, ToolCompressionMiddleware("dispatch")]
    )
    agent.invoke(ask('find_word {"word": "sea"}'))
    system = provider.bodies[0]["messages"][0]["content"]
    assert "find_word" in system
    assert "chart" not in system


@ALL
def test_a_fallback_in_front_gets_compressed_tools_too(serve: Serve, mode: str) -> None:
    class Broken(ScriptedChatModel):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            raise ConnectionError("down")

    provider = serve(work)
    agent = create_agent(
        Broken(),
        TOOLS,
        middleware=[ModelFallbackMiddleware(client(provider, "openai")), ToolCompressionMiddleware(mode)],
    )
    state = agent.invoke(ask('read_page {"number": 3}'))
    assert results(state) == [("read_page", "page 3")]
    if mode != "native":
        assert '"name": "read_page"' not in json.dumps([body.get("tools") for body in provider.bodies])


def test_a_fallback_without_tool_calling_works_in_text() -> None:
    class Broken(ScriptedChatModel):
        def _generate(self, *args: Any, **kwargs: Any) -> Any:
            raise ConnectionError("down")

    written = '<tool_call>{"name": "read_page", "arguments": {"number": 3}}</tool_call>'
    spare = TextOnlyModel(script=[AIMessage(written), AIMessage("Read.")])
    compression = ToolCompressionMiddleware()
    agent = create_agent(Broken(), TOOLS, middleware=[ModelFallbackMiddleware(spare), compression])
    state = agent.invoke(ask("Page 3"))
    assert results(state) == [("read_page", "page 3")]
    assert state["messages"][-1].text == "Read."
    assert (compression.report().mode, compression.report().requests) == ("text", 2)


def test_a_wrong_call_that_stays_goes_on_to_the_fallback() -> None:
    wrong = AIMessage("", tool_calls=[{"name": "read_page", "args": {}, "id": "c"}])
    spare = ScriptedChatModel(script=[AIMessage("I cannot.")])
    agent = create_agent(
        ScriptedChatModel(script=[wrong] * 3), TOOLS,
        middleware=[ModelFallbackMiddleware(spare), ToolCompressionMiddleware("native")],
    )  # fmt: skip
    assert agent.invoke(ask("Page"))["messages"][-1].text == "I cannot."


@ALL
def test_tools_that_come_and_go_are_read_once_each(mode: str) -> None:
    """Two sets in turn: the system text of a set is the same bytes each time."""
    model = ScriptedChatModel(script=[AIMessage("Hi")] * 6)
    wrapped = CompressedChatModel(inner=model, mode=mode)
    for turn in range(6):
        wrapped.bind_tools(TOOLS if turn % 2 else TOOLS[:2]).invoke([SystemMessage("S"), HumanMessage("x")])
    seen = [(str(got["messages"][0].content), repr(got.get("tools"))) for got in model.got]
    assert len(set(seen)) == 2
    assert seen[0] == seen[2] == seen[4]
    report = wrapped.report()
    assert [part.requests for part in report.parts] == [3, 3]


@ALL
def test_tools_of_other_middleware_are_compressed(serve: Serve, mode: str) -> None:
    provider = serve(work)
    agent = create_agent(
        client(provider, "openai"), TOOLS, middleware=[TodoListMiddleware(), ToolCompressionMiddleware(mode)]
    )
    state = agent.invoke(ask('write_todos {"todos": [{"content": "read", "status": "pending"}]}'))
    assert state["todos"] == [{"content": "read", "status": "pending"}]


@ALL
def test_prompt_caching_marks_the_catalog(serve: Serve, mode: str) -> None:
    from langchain_anthropic.middleware import AnthropicPromptCachingMiddleware, prompt_caching

    if not hasattr(prompt_caching, "_tag_system_message"):
        pytest.skip("this langchain-anthropic marks messages alone")
    provider = serve(work)
    agent = create_agent(
        client(provider, "anthropic"), TOOLS, system_prompt="You read.",
        middleware=[AnthropicPromptCachingMiddleware(), ToolCompressionMiddleware(mode)],
    )  # fmt: skip
    agent.invoke(ask('read_page {"number": 3}'))
    system = provider.bodies[0]["system"]
    assert [("cache_control" in block) for block in system] == ([True] if mode == "native" else [False, True])
    if mode != "native":
        assert "read_page" in system[-1]["text"]


def test_a_configurable_model_is_resolved(serve: Serve) -> None:
    """Guard: `_ConfigurableModel._model(config)` is private."""
    provider = serve(work)
    model: Any = init_chat_model(
        "openai:fake-1", configurable_fields=("model",), base_url=f"{provider.url}/v1", api_key="none", max_retries=0
    )
    agent = create_agent(model, TOOLS, middleware=[ToolCompressionMiddleware("dispatch")])
    state = agent.invoke(ask('read_page {"number": 3}'), {"configurable": {"model": "openai:fake-9"}})
    assert results(state) == [("read_page", "page 3")]
    assert {body["model"] for body in provider.bodies} == {"fake-9"}
    with pytest.raises(tscg.ConfigError, match="ToolCompressionMiddleware"):
        CompressedChatModel(inner=model)


def test_deferred_tools_are_refused(serve: Serve) -> None:
    deferred = read_page.model_copy(update={"extras": {"defer_loading": True}})
    with pytest.raises(tscg.ConfigError, match="defers"):
        CompressedChatModel(inner=ScriptedChatModel()).bind_tools([deferred])


def test_a_wrapped_model_passes_the_middleware_unchanged(serve: Serve) -> None:
    provider = serve(work)
    toolkit = CompressedToolkit(TOOLS, "dispatch", "balanced")
    agent = create_agent(
        toolkit.wrap(client(provider, "openai")), TOOLS, middleware=[ToolCompressionMiddleware("text")]
    )
    agent.invoke(ask('read_page {"number": 3}'))
    assert [one["function"]["name"] for one in provider.bodies[0]["tools"]] == ["call", "lookup"]


# --- history ---------------------------------------------------------------------------------------------------------


@BOTH
@ALL
def test_c18_a_history_with_an_image_and_another_tool(serve: Serve, mode: str, dialect: str) -> None:
    call = {"name": "was.here", "args": {"x": 1}, "id": "old1", "type": "tool_call"}
    image = {"type": "image", "base64": "iVBORw0KGgo=", "mime_type": "image/png"}
    history = [
        SystemMessage("You read."), HumanMessage("Before"), AIMessage("I look.", tool_calls=[call]),
        ToolMessage([{"type": "text", "text": "A map"}, image], tool_call_id="old1") if dialect == "anthropic" or mode == "text" else ToolMessage("A map", tool_call_id="old1"),
        AIMessage("I saw it."), HumanMessage('read_page {"number": 3}'),
    ]  # fmt: skip
    llm = CompressedToolkit(TOOLS, mode, "balanced").bind(client(serve(work), dialect))
    answer: Any = llm.invoke(history)
    assert [one["name"] for one in answer.tool_calls] == ["read_page"]


def test_anthropic_takes_text_history_without_tools(serve: Serve) -> None:
    history = [
        HumanMessage("Hi"),
        AIMessage("", tool_calls=[{"name": "read_page", "args": {"number": 3}, "id": "old1"}]),
        ToolMessage("page 3", tool_call_id="old1"),
        HumanMessage("And?"),
    ]
    llm = CompressedChatModel(inner=client(serve(lambda view: Answer(text="Good.")), "anthropic"), mode="text")
    assert llm.invoke(history).text == "Good."
