"""An agent of LangChain whose tools reach the model compressed.

python examples/langchain_agent.py                              # recorded answers, no model is called
python examples/langchain_agent.py anthropic:claude-sonnet-4-5  # any model that init_chat_model knows
"""

from __future__ import annotations

import json
import sys
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.tools import tool

from langchain_tscg import CompressedToolkit


@tool
def find_trains(start: str, goal: str, day: str, most: int = 3) -> str:
    """Find trains between two stations on a day (YYYY-MM-DD). Sorted by departure."""
    return f"1: {start} 08:12 - {goal} 11:40, {day}\n2: {start} 09:12 - {goal} 12:38, {day}"[: most * 60]


@tool
def reserve_seat(train: int, seats: int, quiet: bool = False) -> str:
    """Reserve seats in a train of the last search. At most 8 seats."""
    return f"reserved {seats} {'quiet ' if quiet else ''}seats in train {train}"


def recorded() -> BaseChatModel:
    """A model without tool calling, which says what was written down here: compression gives it tools in text."""
    answers = (
        call("find_trains", start="Bonn", goal="Basel", day="2026-05-02"),
        call("reserve_seat", train=1, seats="two"),  # is sent back: no integer
        call("reserve_seat", train=1, seats=2, quiet=True),
        "Two quiet seats are reserved in the 08:12 to Basel.",
    )
    return GenericFakeChatModel(messages=iter(AIMessage(answer) for answer in answers))


def call(name: str, **arguments: Any) -> str:
    """A call as such a model writes it."""
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def main() -> None:
    """Run the agent and print its conversation, and what was sent."""
    model = init_chat_model(sys.argv[1]) if len(sys.argv) > 1 else recorded()
    toolkit = CompressedToolkit([find_trains, reserve_seat])
    # The compression middleware comes last: it is the innermost one.
    agent = create_agent(model, toolkit.get_tools(), middleware=[toolkit.middleware()])
    task = HumanMessage("Two quiet seats from Bonn to Basel on 2 May 2026, early.")
    state = agent.invoke({"messages": [task]})
    for message in state["messages"]:
        message.pretty_print()
    print(f"\n{toolkit.report()}")


if __name__ == "__main__":
    main()
