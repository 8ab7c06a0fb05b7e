"""LlamaIndex under the common rows: a `FunctionAgent`, with the callback manager."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import llama_index.core.instrumentation as instrument
from llama_index.core import Settings
from llama_index.core.agent.workflow import AgentStream, FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.instrumentation.event_handlers import BaseEventHandler
from llama_index.core.instrumentation.events import BaseEvent
from llama_index.core.instrumentation.events.llm import LLMChatEndEvent
from llama_index.core.memory import ChatMemoryBuffer
from llama_index.core.tools import BaseTool, FunctionTool
from pydantic.warnings import PydanticDeprecationWarning

from llama_index_tscg import CompressionCallbackManager, SchemaMetadata, compress_llm
from llama_index_tscg.calls import usage_of
from tests.adapters.llamaindex.models import client
from tests.adapters.provider import Provider
from tests.conformance.harness import Outcome, Spec


def tool_of(spec: Spec) -> FunctionTool:
    """A tool with a JSON Schema, as one of an MCP server: LlamaIndex itself validates nothing."""

    def run(**arguments: Any) -> str:
        return spec(arguments)

    return FunctionTool(
        fn=run, metadata=SchemaMetadata(name=spec.name, description=spec.description, schema=spec.schema)
    )


class Heard(BaseEventHandler):
    """Keeps all events."""

    events: list[Any] = []  # noqa: RUF012  # a field

    def handle(self, event: BaseEvent, **kwargs: Any) -> None:
        self.events.append(event)

    def of(self, kind: type[BaseEvent]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


@contextmanager
def hearing() -> Iterator[Heard]:
    """All events of what runs inside."""
    handler = Heard(events=[])
    root = instrument.get_dispatcher()  # type: ignore[attr-defined]  # not in its __all__
    root.add_event_handler(handler)
    try:
        yield handler
    finally:
        root.event_handlers.remove(handler)


@contextmanager
def manager(mode: Any, profile: Any = "balanced", **options: Any) -> Iterator[CompressionCallbackManager]:
    """A manager in `Settings`, for a while."""
    before = Settings._callback_manager
    made = CompressionCallbackManager(mode, profile, **options)
    Settings.callback_manager = made
    try:
        yield made
    finally:
        made.uninstall()
        Settings._callback_manager = before


class LlamaIndexHarness:
    name = "llamaindex"

    @staticmethod
    def as_written(tools: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Tools of a request without what LlamaIndex's client for OpenAI adds to each."""
        found = json.loads(json.dumps(list(tools)))
        for one in found:
            one["function"].pop("strict", None)
            one["function"]["parameters"].pop("additionalProperties", None)
        return list(found)

    def run(
        self, specs: Sequence[Spec], prompts: Sequence[str], *, provider: Provider, dialect: str,
        modes: Sequence[Any], streamed: bool = False, asynchronous: bool = False, system: str = "You work.",
        **options: Any,
    ) -> Outcome:  # fmt: skip
        llm: Any = client(provider, dialect)
        tools: list[BaseTool] = [tool_of(spec) for spec in specs]
        settings = {name: options[name] for name in ("max_lookups", "max_repairs", "pin") if name in options}
        profile = options.get("profile", "balanced")
        memory = ChatMemoryBuffer.from_defaults(token_limit=10**9)
        shown: list[str] = []
        report: Any = None

        def converse(llm: Any, prompt: str) -> str:
            agent = FunctionAgent(tools=list(tools), llm=llm, system_prompt=system, streaming=streamed)
            return asyncio.run(played(agent, prompt, memory, shown))

        with hearing() as heard, warnings.catch_warnings():
            # An agent is a pydantic model, and the workflow that it is too looks at all of its attributes.
            warnings.simplefilter("ignore", PydanticDeprecationWarning)
            try:
                for prompt, mode in zip(prompts, modes, strict=True):
                    if mode is None:
                        text = converse(llm, prompt)
                    elif asynchronous:  # the other entry point: an agent of LlamaIndex is never synchronous
                        wrapped = compress_llm(llm, mode, profile, **settings)
                        text = converse(wrapped, prompt)
                        report = wrapped.report()
                    else:
                        with manager(mode, profile, **settings) as compression:
                            text = converse(llm, prompt)
                            report = compression.report()
            except Exception as error:  # noqa: BLE001  # what failed is told
                return Outcome(text="", streamed="".join(shown), history=kept(memory), error=error)
        used = [usage_of(event.response) for event in heard.of(LLMChatEndEvent)]
        return Outcome(
            text=text, streamed="".join(shown), history=kept(memory), input_tokens=sum(one[0] for one in used if one),
            report=report,
        )  # fmt: skip


async def played(agent: Any, prompt: str, memory: ChatMemoryBuffer, shown: list[str]) -> str:
    handler = agent.run(user_msg=prompt, memory=memory)
    async for event in handler.stream_events():
        if isinstance(event, AgentStream):
            shown.append(event.delta)
            assert "".join(shown).endswith(event.response)  # deltas add up
    text: str = (await handler).response.content or ""
    return text


def kept(memory: ChatMemoryBuffer) -> str:
    """What a memory holds, in the form that the rows look for."""
    return repr([as_kept(message) for message in memory.get_all()])


def as_kept(message: ChatMessage) -> Any:
    calls = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    return {
        "role": message.role.value, "text": message.content, **message.additional_kwargs,
        "calls": [{"id": one.tool_call_id, "name": one.tool_name, "args": one.tool_kwargs} for one in calls],
    }  # fmt: skip


HARNESS = LlamaIndexHarness()
