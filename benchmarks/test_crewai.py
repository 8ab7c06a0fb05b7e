"""What compression costs per model call in CrewAI: `pytest benchmarks/test_crewai.py -s`, where CrewAI is installed.

The same call of the same model with and without compression, in turns, in one run; the difference of the best times is
what compression adds. The model answers at once, so that nothing but the adapter is measured.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks import generate, measure

pytest.importorskip("crewai", reason="crewai-tscg is not installed")

import tests.adapters.crewai.environment  # noqa: F401  # before CrewAI itself

# isort: split
from crewai import Agent
from crewai.llms.base_llm import BaseLLM
from crewai.tools import BaseTool
from crewai.utilities.agent_utils import convert_tools_to_openai_schema
from crewai.utilities.pydantic_schema_utils import create_model_from_schema

from crewai_tscg import compress

TOOLS = 117
MOST_ADDED = 2.0  # milliseconds a call
RAW = generate.catalog(TOOLS)
NAME = RAW[5]["name"]
ARGUMENTS: dict[str, Any] = generate.arguments(RAW[5]["inputSchema"])


class Instant(BaseLLM):
    """A model that makes the same call at once."""

    said: Any

    def call(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        return self.said

    def supports_function_calling(self) -> bool:
        return True


class Anything(BaseTool):
    """A tool that is never run."""

    def _run(self, **arguments: Any) -> str:
        return ""


def agent(said: Any) -> Any:
    tools = [
        Anything(
            name=raw["name"], description=raw["description"], args_schema=create_model_from_schema(raw["inputSchema"])
        )
        for raw in RAW
    ]
    return Agent(role="Clerk", goal="Go on.", backstory="Quick.", tools=tools, llm=Instant(model="instant", said=said))


def answer(mode: str) -> Any:
    arguments = json.dumps(ARGUMENTS)
    if mode == "text":
        return f'<tool_call>{{"name": "{NAME}", "arguments": {arguments}}}</tool_call>'
    name, written = ("call", json.dumps({"tool": NAME, "args": arguments})) if mode == "dispatch" else (NAME, arguments)
    return [{"id": "1", "type": "function", "function": {"name": name, "arguments": written}}]


def called(n: int) -> dict[str, Any]:
    arguments = json.dumps(generate.arguments(RAW[n]["inputSchema"]))
    return {"id": f"h{n}", "type": "function", "function": {"name": RAW[n]["name"], "arguments": arguments}}


HISTORY: list[Any] = [
    {"role": "system", "content": "You are quick."},
    {"role": "user", "content": "Go on."},
    *(
        message
        for n in range(5)
        for message in (
            {
                "role": "assistant", "content": None,
                "tool_calls": [called(n)],
            },
            {"role": "tool", "tool_call_id": f"h{n}", "name": RAW[n]["name"], "content": "done"},
        )
    ),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.* mode sends .* tokens for tools:tscg.TscgWarning")
@pytest.mark.parametrize("mode", ["native", "text", "dispatch", "passthrough"])
def test_added_by_a_call(request: pytest.FixtureRequest, mode: str) -> None:
    one = agent(answer(mode))
    given, *_ = convert_tools_to_openai_schema(one.tools)
    plain: Any = one.llm
    compress(one, mode, "balanced")
    (made,) = one.llm.call(HISTORY, tools=given, from_agent=one)
    assert json.loads(made["function"]["arguments"]) == ARGUMENTS
    if request.config.getoption("benchmark_disable"):
        return  # a timed test is no gate
    without, with_it = [], []
    for _ in range(30):  # in turns: what else the machine does falls on both
        without.append(measure.timed(lambda: plain.call(HISTORY, tools=given, from_agent=one)))
        with_it.append(measure.timed(lambda: one.llm.call(HISTORY, tools=given, from_agent=one)))
    added = min(with_it) - min(without)
    print(f"{mode}: {min(without):.2f} ms, with compression {min(with_it):.2f} ms, added {added:.2f} ms")
    assert added < MOST_ADDED
