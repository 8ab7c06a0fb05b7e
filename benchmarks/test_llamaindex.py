"""What compression costs per call of an LLM in LlamaIndex: `uv run pytest benchmarks/test_llamaindex.py -s`.

The same call of the same LLM with and without compression, in turns, in one run; the difference of the best times is
what compression adds. The LLM answers at once, so that nothing but the framework and the adapter is measured. It
prepares its tools as LlamaIndex's clients do; that these are fewer may make up for what compression costs.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from benchmarks import generate, measure

pytest.importorskip("llama_index.core", reason="llama-index-tscg is not installed")

from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import BaseTool, FunctionTool

from llama_index_tscg import CompressionCallbackManager, SchemaMetadata, compress_llm

TOOLS = 117
MOST_ADDED = 2.0  # milliseconds a call
MODES = ["native", "text", "dispatch", "passthrough"]
RAW = generate.catalog(TOOLS)
ARGUMENTS: dict[str, Any] = generate.arguments(RAW[5]["inputSchema"])


class Instant(MockFunctionCallingLLM):
    """An LLM that makes the same call at once."""

    def _prepare_chat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> dict[str, Any]:
        prepared = super()._prepare_chat_with_tools(tools, *args, **kwargs)
        return {**prepared, "tools": [tool.metadata.to_openai_tool(skip_length_check=True) for tool in tools]}


def llm(mode: str) -> Instant:
    said = answer(mode)
    made = Instant()
    made.response_generator = lambda messages, **kwargs: said
    return made


def tools() -> list[BaseTool]:
    return [
        FunctionTool(
            fn=lambda **arguments: "",
            metadata=SchemaMetadata(name=raw["name"], description=raw["description"], schema=raw["inputSchema"]),
        )
        for raw in RAW
    ]


def answer(mode: str) -> ChatMessage:
    name = RAW[5]["name"]
    if mode == "text":
        text = f'<tool_call>{{"name": "{name}", "arguments": {json.dumps(ARGUMENTS)}}}</tool_call>'
        return ChatMessage(role="assistant", blocks=[TextBlock(text=text)])
    if mode == "dispatch":
        return called("call", {"tool": name, "args": ARGUMENTS})
    return called(name, ARGUMENTS)


def called(name: str, arguments: dict[str, Any], id: str = "1") -> ChatMessage:
    return ChatMessage(
        role="assistant", blocks=[ToolCallBlock(tool_call_id=id, tool_name=name, tool_kwargs=json.dumps(arguments))]
    )


HISTORY = [
    ChatMessage("Go on."),
    *(
        message
        for n in range(5)
        for message in (
            called(RAW[n]["name"], {}, f"h{n}"),
            ChatMessage("done", role="tool", additional_kwargs={"tool_call_id": f"h{n}"}),
        )
    ),
]


def ask(llm: Any, given: Sequence[BaseTool]) -> Any:
    return llm.chat_with_tools(given, chat_history=list(HISTORY)).message.blocks[-1].tool_kwargs


@pytest.mark.parametrize("mode", MODES)
def test_added_by_the_wrapper(request: pytest.FixtureRequest, mode: str) -> None:
    given, plain, compressed = tools(), llm("native"), compress_llm(llm(mode), mode, "balanced")
    assert ask(compressed, given) in (ARGUMENTS, json.dumps(ARGUMENTS))
    check(request, f"wrapper, {mode}", lambda: ask(plain, given), lambda: ask(compressed, given))


@pytest.mark.parametrize("mode", MODES)
def test_added_by_the_manager(request: pytest.FixtureRequest, mode: str) -> None:
    before = Settings._callback_manager
    manager = CompressionCallbackManager(mode, "balanced")
    given, plain, compressed = tools(), llm("native"), llm(mode)
    compressed.callback_manager = manager
    try:
        assert ask(compressed, given) in (ARGUMENTS, json.dumps(ARGUMENTS))
        check(request, f"manager, {mode}", lambda: ask(plain, given), lambda: ask(compressed, given))
    finally:
        manager.uninstall()
        Settings._callback_manager = before


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
