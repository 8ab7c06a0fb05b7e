"""A FunctionAgent of LlamaIndex under the callback manager: one line compresses the tools of every LLM.

python examples/llamaindex_agent.py           # recorded answers, no model is called
python examples/llamaindex_agent.py gpt-5.2   # a model of OpenAI's (llama-index-llms-openai)
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from llama_index.core import Settings
from llama_index.core.agent.workflow import FunctionAgent, ToolCallResult
from llama_index.core.base.llms.types import ChatMessage, ToolCallBlock
from llama_index.core.llms import LLM
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.tools import FunctionTool

from llama_index_tscg import CompressionCallbackManager


def find_trains(start: str, goal: str, day: str, most: int = 3) -> str:
    """Find trains between two stations on a day (YYYY-MM-DD). Sorted by departure."""
    return f"1: {start} 08:12 - {goal} 11:40, {day}\n2: {start} 09:12 - {goal} 12:38, {day}"[: most * 60]


def reserve_seat(train: int, seats: int, quiet: bool = False) -> str:
    """Reserve seats in a train of the last search. At most 8 seats."""
    return f"reserved {seats} {'quiet ' if quiet else ''}seats in train {train}"


def recorded() -> LLM:
    """An LLM that says what was written down here, its calls in the form of native mode."""
    answers = iter((
        call("1", "find_trains", start="Bonn", goal="Basel", day="2026-05-02"),
        call("2", "reserve_seat", train=1, seats="two"),  # is sent back: no integer
        call("3", "reserve_seat", train=1, seats=2, quiet=True),
        ChatMessage("Two quiet seats are reserved in the 08:12 to Basel.", role="assistant"),
    ))  # fmt: skip
    return MockFunctionCallingLLM(response_generator=lambda messages, **options: next(answers))


def call(id: str, name: str, **arguments: Any) -> ChatMessage:
    """An answer that calls a tool."""
    block = ToolCallBlock(tool_call_id=id, tool_name=name, tool_kwargs=json.dumps(arguments))
    return ChatMessage(role="assistant", blocks=[block])


def model(name: str) -> LLM:
    """A real model."""
    from llama_index.llms.openai import OpenAI

    return OpenAI(model=name)


async def main() -> None:
    """Run the agent and print its conversation, and what was sent."""
    # With a real model, leave the mode out: "auto" takes what fits.
    mode = "auto" if len(sys.argv) > 1 else "native"
    manager = CompressionCallbackManager(mode)
    Settings.callback_manager = manager
    llm = model(sys.argv[1]) if len(sys.argv) > 1 else recorded()
    tools = [FunctionTool.from_defaults(find_trains), FunctionTool.from_defaults(reserve_seat)]
    agent: Any = FunctionAgent(tools=list(tools), llm=llm, system_prompt="You book trains.")
    handler = agent.run(user_msg="Two quiet seats from Bonn to Basel on 2 May 2026, early.")
    async for event in handler.stream_events():
        if isinstance(event, ToolCallResult):
            print(f"[{event.tool_name}] {event.tool_output.content}")
    print(await handler)
    print(f"\n{manager.report()}")
    manager.uninstall()


if __name__ == "__main__":
    asyncio.run(main())
