"""The agent of the demo: a model of the demo as a language model of CrewAI, and the server's tools."""

from __future__ import annotations

import asyncio
import warnings
from collections import Counter
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from crewai import Agent
from crewai.events.event_bus import crewai_event_bus
from crewai.llms.base_llm import BaseLLM
from crewai.tools import BaseTool
from pydantic import BaseModel, ConfigDict, Field, PrivateAttr

from crewai_tscg import compress
from tscg.demo.client import Session, ToolAnswer, connect, server_command
from tscg.demo.database import changes, snapshot
from tscg.demo.models import ChatModel, ReplayModel
from tscg.demo.requests import REQUESTS, SITUATION, Request
from tscg.demo.screen import Screen
from tscg.errors import TscgWarning

__all__ = ["DemoLLM", "DemoTool", "converse"]

FAILED = "Error: "


class DemoLLM(BaseLLM):
    """A model of the demo (recorded answers, or a server of chat completions) as CrewAI calls one."""

    answers: Any  # a tscg.demo.ChatModel
    _asked: Counter[str] = PrivateAttr(default_factory=Counter)

    def supports_function_calling(self) -> bool:
        """All of them take native calls."""
        return True

    def get_context_window_size(self) -> int:
        """Enough for the demo, whose models are not known."""
        return 128_000

    def get_input_tokens_count(self, messages: Any, tools: Any = None, response_model: Any = None) -> int:
        """CrewAI's own estimate, which it would tell about at each call."""
        return len(str(messages)) // 4

    def call(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        """The next answer: a text, or a list of calls."""
        sent: Any = self._format_messages(messages)
        if isinstance(self.answers, ReplayModel):
            sent = self._numbered(sent)
        output = self.answers.answer(sent, tools or (), self.stop_sequences).output
        return output if isinstance(output, str) else output.get("tool_calls") or output.get("content") or ""

    def _numbered(self, sent: Any) -> list[Mapping[str, Any]]:
        """The request with as many answers as there were. Recorded ones are numbered by them, and a round that the
        adapter has with the model leaves no message in the conversation."""
        text = next(str(one["content"]) for one in sent if one["role"] == "user")
        asked = next((request.prompt for request in REQUESTS if request.prompt in text), text)
        done = self._asked[asked]
        self._asked[asked] += 1
        return [{"role": "user", "content": asked}, *[{"role": "assistant", "content": ""}] * done]


class DemoTool(BaseTool):
    """A tool of the demo's server, which answers in the event loop that the server was started in."""

    session: Any = Field(exclude=True)
    loop: Any = Field(exclude=True)

    def _run(self, **arguments: Any) -> str:
        given = {name: value for name, value in arguments.items() if value is not None}
        answer = asyncio.run_coroutine_threadsafe(self.session.call(self.name, given), self.loop).result()
        return f"{FAILED}{answer.text}" if answer.failed else str(answer.text)


async def converse(screen: Screen, model: ChatModel, form: tuple[str, str], database: Path, log: Path) -> None:
    """Start the server, let the agent work through the requests, and show what was sent and what changed."""
    async with AsyncExitStack() as stack:
        errors = stack.enter_context(log.open("w", encoding="utf-8"))
        session = await stack.enter_async_context(connect(server_command(database), log=errors))
        # Handlers of CrewAI's own print every step a second time.
        stack.enter_context(crewai_event_bus.scoped_handlers())
        tools = [_tool(session, raw) for raw in await session.tools()]
        screen.heading(f"CrewAI: an agent with {len(tools)} tools of a real MCP server, compressed")
        llm = DemoLLM(model=model.catalog_model or "demo", answers=model)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", category=DeprecationWarning, module="crewai")
            warnings.filterwarnings("ignore", category=TscgWarning)
            agent = Agent(role="the assistant", goal="Do what Sam asks.", backstory=SITUATION, tools=tools, llm=llm)
            handle = compress(agent, *form)
            screen.line(f"The model: {model.label}")
            before = snapshot(database)
            for request in REQUESTS:
                await _play(screen, agent, request)
        screen.heading("What was sent")
        screen.line(str(handle.report()))
        screen.heading("The database after")
        screen.changes(changes(before, snapshot(database)))


async def _play(screen: Screen, agent: Any, request: Request) -> None:
    messages: list[Any] = []
    for prompt in (request.prompt, *request.replies):
        screen.line(prompt, label="user", style="bold")
        # In a thread: the tools are answered by the loop that waits here.
        said = await asyncio.to_thread(agent.kickoff, [*messages, {"role": "user", "content": prompt}])
        known, messages = len(messages) + 1, said.messages[1:]
        for message in messages[known:]:
            _show(screen, message)


def _show(screen: Screen, message: Mapping[str, Any]) -> None:
    import json

    text = str(message.get("content") or "").strip()
    if message["role"] == "tool":
        screen.answer(ToolAnswer(text=text.removeprefix(FAILED), failed=text.startswith(FAILED)))
        return
    if text:
        screen.line(text, label="model", style="bold")
    for call in message.get("tool_calls") or ():
        screen.call(call["function"]["name"], json.loads(call["function"]["arguments"]), ())


def _tool(session: Session, raw: Mapping[str, Any]) -> BaseTool:
    class Arguments(BaseModel):
        """Gives the server's own schema. CrewAI's class for one needs a package more where a format is an e-mail's."""

        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
            return dict(raw["inputSchema"])

    return DemoTool(
        name=raw["name"], description=raw.get("description") or "", session=session, loop=asyncio.get_running_loop(),
        args_schema=Arguments,
    )  # fmt: skip
