"""CrewAI under the common rows: an agent that is compressed, over CrewAI's own providers."""

from __future__ import annotations

import asyncio
import importlib.util
import inspect
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import tests.adapters.crewai.environment  # noqa: F401  # before CrewAI itself

# isort: split
import pytest
from crewai import Agent
from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.llm_events import LLMStreamChunkEvent
from crewai.tools import BaseTool
from pydantic import BaseModel, ConfigDict

from crewai_tscg import compress
from tests.adapters.crewai.models import client
from tests.adapters.provider import Provider, View
from tests.conformance.harness import Outcome, Spec

TASK = "Current Task:"


class SpecTool(BaseTool):
    """A tool whose class of arguments gives the schema and validates nothing: what reaches it was validated by us."""

    spec: Any

    def _run(self, **arguments: Any) -> str:
        return str(self.spec(arguments))


def tool_of(spec: Spec) -> SpecTool:
    class Arguments(BaseModel):
        model_config = ConfigDict(extra="allow")

        @classmethod
        def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
            # Without arguments it is us who ask. CrewAI cannot make a prompt of a reference to nothing.
            return dict(spec.schema) if not kwargs else without_lost(spec.schema)

    return SpecTool(name=spec.name, description=spec.description, args_schema=Arguments, spec=spec)


def without_lost(schema: Any) -> Any:
    """A schema without references to what is not there."""
    if isinstance(schema, list):
        return [without_lost(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {key: without_lost(value) for key, value in schema.items() if value != "#/$defs/nowhere"}


def unframed(view: View) -> View:
    """A request without the words that CrewAI puts around a task."""
    turns = [
        replace(turn, text=turn.text.partition(TASK)[2].partition("\n\nThis is the expected criteria")[0].strip())
        if turn.role == "user" and TASK in turn.text
        else turn
        for turn in view.turns
    ]
    return replace(view, turns=turns)


class CrewAIHarness:
    name = "crewai"

    def run(
        self, specs: Sequence[Spec], prompts: Sequence[str], *, provider: Provider, dialect: str,
        modes: Sequence[Any], streamed: bool = False, asynchronous: bool = False, system: str = "You work.",
        **options: Any,
    ) -> Outcome:  # fmt: skip
        if dialect == "anthropic" and importlib.util.find_spec("anthropic") is None:
            pytest.skip("the package anthropic is not installed")
        asked = provider.model
        provider.model = lambda view: asked(unframed(view))
        settings = {name: options[name] for name in ("max_lookups", "max_repairs", "pin") if name in options}
        messages: list[Any] = list(options.pop("history", ()))
        outcome = Outcome(text="")
        shown: list[str] = []
        with crewai_event_bus.scoped_handlers():
            crewai_event_bus.register_handler(LLMStreamChunkEvent, lambda _, event: shown.append(event.chunk))
            try:
                for prompt, mode in zip(prompts, modes, strict=True):
                    agent: Any = Agent(
                        role=system.removeprefix("You are ").rstrip("."), goal="Help.", backstory="Careful.",
                        tools=[tool_of(spec) for spec in specs], llm=client(provider, dialect, stream=streamed),
                        # Else CrewAI has Anthropic count each request and each result before it is sent, by requests
                        # that the server here would take for calls.
                        respect_context_window=dialect == "openai", use_better_compaction=dialect == "openai",
                    )  # fmt: skip
                    handle = compress(agent, mode, options.get("profile", "balanced"), **settings) if mode else None
                    said = self.played(agent, [*messages, {"role": "user", "content": prompt}], asynchronous)
                    messages = said.messages[1:]
                    outcome = Outcome(
                        text=said.raw, streamed="".join(shown), history=repr(said.messages),
                        input_tokens=outcome.input_tokens + said.usage_metrics["prompt_tokens"],
                        report=handle.report() if handle else None, system=said.messages[0]["content"],
                    )  # fmt: skip
            except Exception as error:  # noqa: BLE001  # what failed is told
                return Outcome(text="", streamed="".join(shown), history=repr(messages), error=error)
        return outcome

    def played(self, agent: Any, messages: list[Any], asynchronous: bool) -> Any:
        if not asynchronous:
            return agent.kickoff(messages)
        found = agent.kickoff_async(messages)
        assert inspect.isawaitable(found)

        async def wait() -> Any:
            return await found

        return asyncio.run(wait())


HARNESS = CrewAIHarness()
