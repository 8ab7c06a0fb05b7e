"""``tscg demo --framework llamaindex``: the demo's server, requests and models under an agent of LlamaIndex."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    LLMMetadata,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool, FunctionTool
from pydantic import PrivateAttr

import tscg
from llama_index_tscg.binding import compress_llm
from llama_index_tscg.convert import SchemaMetadata
from tscg.demo.client import Session, ToolAnswer, connect, server_command
from tscg.demo.database import changes, snapshot
from tscg.demo.models import ChatModel, ReplayModel
from tscg.demo.requests import REQUESTS, SITUATION, Request
from tscg.demo.run import run_on
from tscg.demo.screen import Screen
from tscg.errors import ConfigError

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["DemoLLM", "run_demo"]

MEMORY = 100_000  # tokens that a conversation may have


class DemoLLM(FunctionCallingLLM):
    """A model of the demo (recorded answers, or a server of chat completions) as an LLM of LlamaIndex."""

    answers: Any  # a tscg.demo.ChatModel
    _asked: Counter[str] = PrivateAttr(default_factory=Counter)

    @property
    def metadata(self) -> LLMMetadata:
        """The model's name, and that it takes tools."""
        name = self.answers.catalog_model or "unknown"
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True, model_name=name)

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """The model's answer."""
        sent: list[Mapping[str, Any]] = [chat_form(message) for message in messages]
        if isinstance(self.answers, ReplayModel):
            sent = self._numbered(sent)
        answer = self.answers.answer(sent, kwargs.get("tools", ()), kwargs.get("stop", ()))
        return ChatResponse(message=message_of(answer.output), raw={"finish_reason": answer.finish_reason})

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """The model's answer."""
        return await asyncio.to_thread(self.chat, messages, **kwargs)

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        """Nothing: the wrapper around this LLM reads the calls."""
        return []

    def _prepare_chat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> dict[str, Any]:
        sent = [tool.metadata.to_openai_tool(skip_length_check=True) for tool in tools]
        return {"messages": kwargs["chat_history"], "tools": sent}

    def _numbered(self, sent: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
        """The request with as many answers as there were. Recorded ones are numbered by them, and a round that the
        adapter has with the model leaves no message in the conversation."""
        asked = next(one for one in sent if one["role"] == "user")
        done = self._asked[asked["content"]]
        self._asked[asked["content"]] += 1
        return [asked, *[{"role": "assistant", "content": ""}] * done]

    def _chat_alone(self, *args: Any, **kwargs: Any) -> Any:
        raise ConfigError("the demo's LLM answers whole conversations alone")

    stream_chat = astream_chat = complete = acomplete = stream_complete = astream_complete = _chat_alone


def chat_form(message: ChatMessage) -> dict[str, Any]:
    """A message in the form of a chat completion."""
    calls = [
        {
            "id": block.tool_call_id, "type": "function",
            "function": {"name": block.tool_name, "arguments": json.dumps(block.tool_kwargs, ensure_ascii=False)},
        }
        for block in message.blocks if isinstance(block, ToolCallBlock)
    ]  # fmt: skip
    form: dict[str, Any] = {"role": message.role.value, "content": message.content or ""}
    if message.role == MessageRole.TOOL:
        form["tool_call_id"] = message.additional_kwargs["tool_call_id"]
    return {**form, "tool_calls": calls} if calls else form


def message_of(output: str | Mapping[str, Any]) -> ChatMessage:
    """A raw answer as a message, its calls with their arguments as the model wrote them.

    >>> message_of({"role": "assistant", "content": None}).blocks
    []
    """
    if isinstance(output, str):
        return ChatMessage(role=MessageRole.ASSISTANT, content=output)
    blocks: list[Any] = [TextBlock(text=output["content"])] if output.get("content") else []
    blocks += [
        ToolCallBlock(
            tool_call_id=one["id"], tool_name=one["function"]["name"], tool_kwargs=one["function"]["arguments"]
        )
        for one in output.get("tool_calls") or ()
    ]
    return ChatMessage(role=MessageRole.ASSISTANT, blocks=blocks)


def run_demo(
    console: Console,
    *,
    model: ChatModel | None = None,
    mode: str = "text",
    profile: str = "balanced",
    db: str | Path | None = None,
    keep: bool = False,
) -> int:
    """Run the demo with a ``FunctionAgent`` and a compressed LLM; the arguments are those of the core's demo.

    0, or 1 after one line on standard error. ConfigError for a wrong option.

    Example: `run_demo(rich.console.Console(), mode="native")`.
    """
    chosen = ReplayModel(mode) if model is None else model
    tscg.compile([], mode=mode, profile=profile)  # a wrong option is told before all else

    def work(database: Path, folder: Path) -> None:
        asyncio.run(_run(Screen(console), chosen, (mode, profile), database, folder / "server.log"))

    return run_on(console, work, needs={"mcp": "tscg[mcp]"}, db=db, keep=keep)


async def _run(screen: Screen, model: ChatModel, form: tuple[str, str], database: Path, log: Path) -> None:
    from llama_index.core.agent.workflow import FunctionAgent

    async with AsyncExitStack() as stack:
        errors = stack.enter_context(log.open("w", encoding="utf-8"))
        session = await stack.enter_async_context(connect(server_command(database), log=errors))
        tools = [_tool(session, raw) for raw in await session.tools()]
        screen.heading(f"LlamaIndex: a FunctionAgent with {len(tools)} tools of a real MCP server, compressed")
        llm = compress_llm(DemoLLM(answers=model), *form)
        agent = FunctionAgent(tools=list(tools), llm=llm, system_prompt=SITUATION, streaming=False)
        screen.line(f"The model: {model.label}")
        before = snapshot(database)
        for request in REQUESTS:
            await _converse(screen, agent, request)
        screen.heading("What was sent")
        screen.line(str(llm.report()))
        screen.heading("The database after")
        screen.changes(changes(before, snapshot(database)))


async def _converse(screen: Screen, agent: Any, request: Request) -> None:
    from llama_index.core.agent.workflow import AgentOutput, ToolCall, ToolCallResult
    from llama_index.core.memory import ChatMemoryBuffer

    memory = ChatMemoryBuffer.from_defaults(token_limit=MEMORY)
    for prompt in (request.prompt, *request.replies):
        screen.line(prompt, label="user", style="bold")
        handler = agent.run(user_msg=prompt, memory=memory)
        async for event in handler.stream_events():
            if isinstance(event, ToolCallResult):
                output = event.tool_output
                screen.answer(ToolAnswer(text=output.content, failed=output.is_error))
            elif isinstance(event, ToolCall):
                screen.call(event.tool_name, event.tool_kwargs, ())
            elif isinstance(event, AgentOutput) and (event.response.content or "").strip():
                screen.line((event.response.content or "").strip(), label="model", style="bold")
        await handler


def _tool(session: Session, raw: Mapping[str, Any]) -> BaseTool:
    """A tool of the server, with the server's own schema."""

    async def call(**arguments: Any) -> str:
        answer = await session.call(raw["name"], arguments)
        if answer.failed:
            raise RuntimeError(answer.text)
        return answer.text

    metadata = SchemaMetadata(name=raw["name"], description=raw.get("description") or "", schema=raw["inputSchema"])
    return FunctionTool(async_fn=call, metadata=metadata)
