"""What compression costs per model call in LangChain: `uv run pytest benchmarks/test_langchain.py -s`.

The same call of the same model with and without compression, in turns, in one run; the difference of the best times is
what compression adds. The model answers at once, so that nothing but the framework and the adapter is measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from benchmarks import generate, measure

pytest.importorskip("langchain_core", reason="langchain-tscg is not installed")

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import BaseTool, StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from langchain_tscg import CompressedToolkit

TOOLS = 117
MOST_ADDED = 2.0  # milliseconds a call
RAW = generate.catalog(TOOLS)
ARGUMENTS: dict[str, Any] = generate.arguments(RAW[5]["inputSchema"])


class Instant(BaseChatModel):
    """A model that makes the same call at once."""

    said: AIMessage

    @property
    def _llm_type(self) -> str:
        return "instant"

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(one) for one in tools], **kwargs)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.said.model_copy())])


def tools() -> list[BaseTool]:
    return [
        StructuredTool(name=raw["name"], description=raw["description"], args_schema=raw["inputSchema"], func=len)
        for raw in RAW
    ]


def answer(mode: str) -> AIMessage:
    name = RAW[5]["name"]
    if mode == "text":
        return AIMessage(f'<tool_call>{{"name": "{name}", "arguments": {json.dumps(ARGUMENTS)}}}</tool_call>')
    if mode == "dispatch":
        return AIMessage("", tool_calls=[{"name": "call", "args": {"tool": name, "args": ARGUMENTS}, "id": "1"}])
    return AIMessage("", tool_calls=[{"name": name, "args": ARGUMENTS, "id": "1"}])


HISTORY = [
    HumanMessage("Go on."),
    *(
        message
        for n in range(5)
        for message in (
            AIMessage("", tool_calls=[{"name": RAW[n]["name"], "args": {}, "id": f"h{n}"}]),
            ToolMessage("done", tool_call_id=f"h{n}"),
        )
    ),
]


@pytest.mark.parametrize("mode", ["native", "text", "dispatch", "passthrough"])
def test_added_by_a_call_of_a_bound_model(request: pytest.FixtureRequest, mode: str) -> None:
    given = tools()
    plain = Instant(said=answer("native")).bind_tools(given)
    compressed = CompressedToolkit(given, mode, "balanced").bind(Instant(said=answer(mode)))
    assert compressed.invoke(HISTORY).tool_calls[0]["args"] == ARGUMENTS
    check(request, f"bound model, {mode}", lambda: plain.invoke(HISTORY), lambda: compressed.invoke(HISTORY))


@pytest.mark.parametrize("mode", ["native", "text", "dispatch", "passthrough"])
def test_added_by_a_step_of_an_agent(request: pytest.FixtureRequest, mode: str) -> None:
    """An agent binds all of its tools anew at each call, with and without compression."""
    given = tools()
    model, wrapped = (
        Instant(said=answer("native")),
        CompressedToolkit(given, mode, "balanced").wrap(Instant(said=answer(mode))),
    )
    assert wrapped.bind_tools(given).invoke(HISTORY).tool_calls[0]["args"] == ARGUMENTS
    check(
        request, f"step of an agent, {mode}", lambda: model.bind_tools(given).invoke(HISTORY),
        lambda: wrapped.bind_tools(given).invoke(HISTORY),
    )  # fmt: skip


def check(
    request: pytest.FixtureRequest, what: str, plain: Callable[[], object], compressed: Callable[[], object]
) -> None:
    if request.config.getoption("benchmark_disable"):
        return  # a timed test is no gate
    without, with_it = [], []
    for _ in range(30):  # in turns: what else the machine does falls on both
        without.append(measure.timed(plain))
        with_it.append(measure.timed(compressed))
    added = min(with_it) - min(without)
    print(f"{what}: {min(without):.2f} ms, with compression {min(with_it):.2f} ms, added {added:.2f} ms")
    assert added < MOST_ADDED
