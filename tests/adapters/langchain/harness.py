"""LangChain under the common rows: an agent of `create_agent` with the compression middleware."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from langchain.agents import create_agent
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.tools import BaseTool, StructuredTool

from langchain_tscg import CompressedToolkit
from tests.adapters.langchain.models import client
from tests.adapters.provider import Provider
from tests.conformance.harness import Outcome, Spec


def tool_of(spec: Spec) -> StructuredTool:
    """A tool with a dict schema, as adapters of MCP servers make them: LangChain itself validates nothing."""
    return StructuredTool(
        name=spec.name, description=spec.description, args_schema=spec.schema, func=lambda **arguments: spec(arguments)
    )


class LangChainHarness:
    name = "langchain"

    def run(
        self, specs: Sequence[Spec], prompts: Sequence[str], *, provider: Provider, dialect: str,
        modes: Sequence[Any], streamed: bool = False, asynchronous: bool = False, system: str = "You work.",
        **options: Any,
    ) -> Outcome:  # fmt: skip
        model = client(provider, dialect)
        tools: list[BaseTool] = [tool_of(spec) for spec in specs]
        settings = {name: options[name] for name in ("max_lookups", "max_repairs", "pin") if name in options}
        messages: list[BaseMessage] = list(options.pop("history", ()))
        shown: list[str] = []
        report: Any = None
        try:
            for prompt, mode in zip(prompts, modes, strict=True):
                extra: list[Any] = []
                if mode is not None:
                    toolkit = CompressedToolkit(tools, mode, options.get("profile", "balanced"), **settings)
                    extra, tools = [toolkit.middleware()], toolkit.get_tools()
                agent: Any = create_agent(model, tools, system_prompt=system, middleware=extra)
                state = {"messages": [*messages, HumanMessage(prompt)]}
                messages = self.played(agent, state, shown, streamed, asynchronous)
                report = extra[0].report() if extra else None
        except Exception as error:  # noqa: BLE001  # what failed is told
            return Outcome(text="", streamed="".join(shown), history=repr(messages), error=error)
        used = [
            message.usage_metadata for message in messages if isinstance(message, AIMessage) and message.usage_metadata
        ]
        return Outcome(
            text=str(messages[-1].text), streamed="".join(shown), history=repr([as_kept(one) for one in messages]),
            input_tokens=sum(one["input_tokens"] for one in used), report=report,
        )  # fmt: skip

    def played(self, agent: Any, state: Any, shown: list[str], streamed: bool, asynchronous: bool) -> list[BaseMessage]:
        if not streamed:
            result = asyncio.run(agent.ainvoke(state)) if asynchronous else agent.invoke(state)
            messages: list[BaseMessage] = result["messages"]
            return messages
        last: list[BaseMessage] = []

        def take(kind: str, value: Any) -> None:
            if kind == "values":
                last[:] = value["messages"]
            elif isinstance(value[0], AIMessageChunk):
                shown.append(str(value[0].text))

        async def follow() -> None:
            async for kind, value in agent.astream(state, stream_mode=["messages", "values"]):
                take(kind, value)

        if asynchronous:
            asyncio.run(follow())
        else:
            for kind, value in agent.stream(state, stream_mode=["messages", "values"]):
                take(kind, value)
        return last


def as_kept(message: BaseMessage) -> Any:
    """A message as a checkpoint holds it, without what a trace tells of it."""
    return message.model_dump(exclude={"response_metadata"})


HARNESS = LangChainHarness()
