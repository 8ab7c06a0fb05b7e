"""A crew class under the decorator, with a report for each call from CrewAI's event bus.

python examples/crewai_class.py                  # recorded answers, no model is called
python examples/crewai_class.py openai/gpt-5.2   # any model that CrewAI knows
"""

from __future__ import annotations

import sys
from typing import Any

from crewai import LLM, Agent, BaseLLM, Crew, Task
from crewai.events.event_bus import crewai_event_bus
from crewai.project import CrewBase, agent, crew, task
from crewai.tools import tool

from crewai_tscg import ToolCompressionEvent, compressed


@tool
def convert(amount: float, unit: str, to: str) -> str:
    """Convert a length. Units: km, mi."""
    factor = {("mi", "km"): 1.609344, ("km", "mi"): 1 / 1.609344}.get((unit, to), 1.0)
    return f"{amount * factor:.3f} {to}"


class Recorded(BaseLLM):
    """Says what was written down here, with native calls through the dispatcher."""

    answers: list[Any]

    def call(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        """The next answer."""
        return self.answers.pop(0)

    def supports_function_calling(self) -> bool:
        """It makes native calls."""
        return True

    def get_input_tokens_count(self, messages: Any, tools: Any = None, response_model: Any = None) -> int:
        """CrewAI's own estimate, without its warning."""
        return len(str(messages)) // 4


def wire(name: str, arguments: str) -> list[dict[str, Any]]:
    """A native call as a provider returns it."""
    return [{"id": f"call_{name}", "type": "function", "function": {"name": name, "arguments": arguments}}]


def model() -> BaseLLM:
    """The model that was named, or the recorded one."""
    if len(sys.argv) > 1:
        return LLM(model=sys.argv[1])
    answers = [
        wire("lookup", '{"tools": ["convert"]}'),  # is answered inside: no one sees it
        wire("call", '{"tool": "convert", "args": "{\\"amount\\": 26.2, \\"unit\\": \\"mi\\", \\"to\\": \\"km\\"}"}'),
        "A marathon is 42.165 km long.",
    ]
    return Recorded(model="recorded", answers=answers)


@compressed(mode="dispatch")
@CrewBase
class Desk:
    """One agent, one task."""

    agents_config: Any = None
    tasks_config: Any = None

    @agent
    def clerk(self) -> Agent:
        """Who converts."""
        return Agent(role="Clerk", goal="Convert.", backstory="Exact.", tools=[convert], llm=model())

    @task
    def marathon(self) -> Task:
        """What is asked."""
        return Task(description="How many km are 26.2 miles?", expected_output="One sentence.", agent=self.clerk())

    @crew
    def crew(self) -> Crew:
        """The crew, compressed by the decorator."""
        return Crew(agents=self.agents, tasks=self.tasks)


@crewai_event_bus.on(ToolCompressionEvent)
def note(source: Any, event: ToolCompressionEvent) -> None:
    """What one call was."""
    print(f"{event.agent_role}: {event.mode}, requests: {event.rounds}, lookups: {event.lookups}")


def main() -> None:
    """Run the crew."""
    found = Desk().crew().kickoff()
    crewai_event_bus.flush()
    print(found.raw)


if __name__ == "__main__":
    main()
