"""``tscg demo --framework langchain``: the demo's server, requests and models under an agent of LangChain."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage, convert_to_openai_messages
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool, ToolException
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

import tscg
from langchain_tscg.toolkit import CompressedToolkit
from tscg.demo.client import Session, connect, server_command
from tscg.demo.database import changes, snapshot
from tscg.demo.models import ChatModel, ReplayModel
from tscg.demo.requests import REQUESTS, SITUATION, Request
from tscg.demo.run import run_on
from tscg.demo.screen import Screen

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["DemoChatModel", "run_demo"]


class DemoChatModel(BaseChatModel):
    """A model of the demo (recorded answers, or a server of chat completions) as a chat model of LangChain."""

    answers: Any  # a tscg.demo.ChatModel
    model_name: str | None = None
    _asked: Counter[str] = PrivateAttr(default_factory=Counter)

    @property
    def _llm_type(self) -> str:
        return "tscg-demo"

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any) -> Any:
        """The model with tools in OpenAI's chat form."""
        return self.bind(tools=[convert_to_openai_tool(one) for one in tools], **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        sent: Any = convert_to_openai_messages(messages)
        if isinstance(self.answers, ReplayModel):
            sent = self._numbered(sent)
        answer = self.answers.answer(sent, kwargs.get("tools", ()), stop or ())
        message = message_of(answer.output)
        message.response_metadata["finish_reason"] = answer.finish_reason
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _numbered(self, sent: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The request with as many answers as there were. Recorded ones are numbered by them, and a round that the
        adapter has with the model leaves no message in the conversation."""
        asked = next(one for one in sent if one["role"] == "user")
        done = self._asked[asked["content"]]
        self._asked[asked["content"]] += 1
        return [asked, *[{"role": "assistant", "content": ""}] * done]


def message_of(output: str | Mapping[str, Any]) -> AIMessage:
    """A raw answer as a message; calls whose arguments are no JSON stay apart, as integrations leave them.

    >>> message_of({"role": "assistant", "content": None}).content
    ''
    """
    if isinstance(output, str):
        return AIMessage(content=output)
    calls: list[Any] = []
    bad: list[Any] = []
    for one in output.get("tool_calls") or ():
        name, arguments = one["function"]["name"], one["function"]["arguments"]
        try:
            given = json.loads(arguments)
        except ValueError:
            given = None
        if isinstance(given, dict):
            calls.append({"name": name, "args": given, "id": one["id"], "type": "tool_call"})
        else:
            bad.append({"name": name, "args": arguments, "id": one["id"], "error": None, "type": "invalid_tool_call"})
    return AIMessage(content=output.get("content") or "", tool_calls=calls, invalid_tool_calls=bad)


def run_demo(
    console: Console,
    *,
    model: ChatModel | None = None,
    mode: str = "text",
    profile: str = "balanced",
    db: str | Path | None = None,
    keep: bool = False,
) -> int:
    """Run the demo with ``create_agent`` and the compression middleware; the arguments are those of the core's demo.

    0, or 1 after one line on standard error. ConfigError for a wrong option.

    Example: `run_demo(rich.console.Console(), mode="native")`.
    """
    chosen = ReplayModel(mode) if model is None else model
    tscg.compile([], mode=mode, profile=profile)  # a wrong option is told before all else

    def work(database: Path, folder: Path) -> None:
        asyncio.run(_run(Screen(console), chosen, (mode, profile), database, folder / "server.log"))

    return run_on(console, work, needs={"mcp": "tscg[mcp]", "langchain": "langchain-tscg[agents]"}, db=db, keep=keep)


async def _run(screen: Screen, model: ChatModel, form: tuple[str, str], database: Path, log: Path) -> None:
    from langchain.agents import create_agent

    async with AsyncExitStack() as stack:
        errors = stack.enter_context(log.open("w", encoding="utf-8"))
        session = await stack.enter_async_context(connect(server_command(database), log=errors))
        tools = [_tool(session, raw) for raw in await session.tools()]
        screen.heading(f"LangChain: create_agent with {len(tools)} tools of a real MCP server, compressed")
        toolkit = CompressedToolkit(tools, *form)
        chat = DemoChatModel(answers=model, model_name=model.catalog_model)
        agent = create_agent(chat, toolkit.get_tools(), system_prompt=SITUATION, middleware=[toolkit.middleware()])
        screen.line(f"The model: {model.label}")
        before = snapshot(database)
        for request in REQUESTS:
            await _converse(screen, agent, request)
        screen.heading("What was sent")
        screen.line(str(toolkit.report()))
        screen.heading("The database after")
        screen.changes(changes(before, snapshot(database)))


async def _converse(screen: Screen, agent: Any, request: Request) -> None:
    messages: list[BaseMessage] = []
    for prompt in (request.prompt, *request.replies):
        screen.line(prompt, label="user", style="bold")
        known = len(messages) + 1
        state = await agent.ainvoke({"messages": [*messages, HumanMessage(prompt)]})
        messages = state["messages"]
        for message in messages[known:]:
            _show(screen, message)


def _show(screen: Screen, message: BaseMessage) -> None:
    from tscg.demo.client import ToolAnswer

    if isinstance(message, ToolMessage):
        screen.answer(ToolAnswer(text=str(message.text), failed=message.status == "error"))
        return
    if str(message.text).strip():
        screen.line(str(message.text).strip(), label="model", style="bold")
    for call in message.tool_calls if isinstance(message, AIMessage) else ():
        screen.call(call["name"], call["args"], ())


def _tool(session: Session, raw: Mapping[str, Any]) -> BaseTool:
    """A tool of the server as LangChain's adapter of MCP makes it: a dict schema, and a coroutine."""

    async def call(**arguments: Any) -> str:
        answer = await session.call(raw["name"], arguments)
        if answer.failed:
            raise ToolException(answer.text)
        return answer.text

    return StructuredTool(
        name=raw["name"], description=raw.get("description") or "", args_schema=raw["inputSchema"], coroutine=call,
        handle_tool_error=True,
    )  # fmt: skip
