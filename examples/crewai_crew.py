"""A crew of two whose tools reach the model compressed.

python examples/crewai_crew.py                  # recorded answers, no model is called
python examples/crewai_crew.py openai/gpt-5.2   # any model that CrewAI knows
"""

from __future__ import annotations

import json
import sys
from typing import Any

from crewai import LLM, Agent, BaseLLM, Crew, Task
from crewai.tools import tool

from crewai_tscg import compress


@tool
def find_trains(start: str, goal: str, day: str, most: int = 3) -> str:
    """Find trains between two stations on a day (YYYY-MM-DD). Sorted by departure."""
    return f"1: {start} 08:12 - {goal} 11:40, {day}\n2: {start} 09:12 - {goal} 12:38, {day}"[: most * 60]


@tool
def reserve_seat(train: int, seats: int, quiet: bool = False) -> str:
    """Reserve seats in a train of the last search. At most 8 seats."""
    return f"reserved {seats} {'quiet ' if quiet else ''}seats in train {train}"


class Recorded(BaseLLM):
    """Says what was written down here. It has no tool calling: compression gives it tools in text."""

    answers: list[str]

    def call(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> str:
        """The next answer."""
        return self.answers.pop(0)

    def get_input_tokens_count(self, messages: Any, tools: Any = None, response_model: Any = None) -> int:
        """CrewAI's own estimate, without its warning."""
        return len(str(messages)) // 4


def call(name: str, **arguments: Any) -> str:
    """A call as such a model writes it."""
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


def recorded() -> BaseLLM:
    """The answers of one run."""
    answers = [
        call("find_trains", start="Bonn", goal="Basel", day="2026-05-02"),
        "The first train is the 08:12, number 1.",
        call("reserve_seat", train=1, seats="two"),  # is sent back: no integer
        call("reserve_seat", train=1, seats=2, quiet=True),
        "Two quiet seats are reserved in the 08:12 to Basel.",
    ]
    return Recorded(model="recorded", answers=answers)


def main() -> None:
    """Run the crew, and print what its tasks gave and what was sent."""
    llm = LLM(model=sys.argv[1]) if len(sys.argv) > 1 else recorded()
    scout = Agent(role="Scout", goal="Find trains.", backstory="Knows the lines.", tools=[find_trains], llm=llm)
    clerk = Agent(role="Clerk", goal="Reserve seats.", backstory="Careful.", tools=[reserve_seat], llm=llm)
    find = Task(
        description="Find an early train from Bonn to Basel on 2 May 2026.", expected_output="A train.", agent=scout
    )
    book = Task(description="Reserve two quiet seats in it.", expected_output="What was reserved.", agent=clerk)
    crew = Crew(agents=[scout, clerk], tasks=[find, book])
    handle = compress(crew)
    for output in crew.kickoff().tasks_output:
        print(f"{output.agent}: {output.raw}")
    print(f"\n{handle.report()}")


if __name__ == "__main__":
    main()
