"""Crews for tests, over a provider whose model works from what it was sent."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from crewai import Agent, Crew, Task
from crewai.tools import BaseTool
from pydantic import BaseModel, Field

from tests.adapters.crewai.harness import unframed
from tests.adapters.crewai.models import client
from tests.adapters.provider import Answer, Provider, View
from tests.adapters.worker import work


class Order(BaseModel):
    number: int = Field(description="Number of the order, as the customer reads it on the paper.", ge=1)
    parts: list[str] = Field(default_factory=list, description="Which parts of the order to read; all by default.")
    note: str | None = Field(default=None, description="A word on why it is read, for the record.")


class ReadOrder(BaseTool):
    """A tool as users write them: a class of arguments that CrewAI validates."""

    name: str = "Read Order"
    description: str = "Read one order by its number."
    args_schema: type[BaseModel] = Order
    done: list[dict[str, Any]] = Field(default_factory=list)

    def _run(self, **arguments: Any) -> str:
        self.done.append(arguments)
        return f"order {arguments['number']}: two teapots"


class Cancel(BaseModel):
    number: int
    reason: str = Field(pattern="^(stock|customer)$")


class CancelOrder(BaseTool):
    name: str = "Cancel Order"
    description: str = "Cancel an order. Never cancel one that was sent."
    args_schema: type[BaseModel] = Cancel
    done: list[dict[str, Any]] = Field(default_factory=list)

    def _run(self, **arguments: Any) -> str:
        self.done.append(arguments)
        return f"order {arguments['number']} is cancelled"


SEVEN = 'Read Order {"number": 7}'
READ = {"number": 7, "parts": [], "note": None}


@dataclass(slots=True, kw_only=True)
class Office:
    """A crew of one agent with two tools, and the provider that it talks to."""

    provider: Provider
    crew: Any
    agent: Any
    read: ReadOrder
    cancel: CancelOrder
    llm: Any

    @property
    def names(self) -> list[list[str]]:
        """Names in the tools field of each request."""
        return [[tool["function"]["name"] for tool in body.get("tools", ())] for body in self.provider.bodies]


KEYS = {
    "Read Order": "read_order", "Cancel Order": "cancel_order",
    "Delegate work to coworker": "delegate_work_to_coworker",
}  # fmt: skip


def worker(view: View) -> Answer:
    """The model of :mod:`tests.adapters.worker`, for tools whose own names hold blanks: it writes the name that it reads.

    A task names them as their authors do.
    """
    view = unframed(view)

    def by_key(text: str) -> str:
        for own, key in KEYS.items():
            text = text.replace(f'"{own}"', key).replace(own, key)
        return text

    def by_name(text: str) -> str:
        for own, key in KEYS.items():
            text = text.replace(f'"{key}"', f'"{own}"')
        return text

    turns = [replace(turn, text=by_key(turn.text)) if turn.role == "user" else turn for turn in view.turns]
    said = work(replace(view, system=by_key(view.system), turns=turns))
    if not set(KEYS.values()).isdisjoint(view.tools):
        return said
    return replace(said, text=by_name(said.text), calls=tuple((name, by_name(text)) for name, text in said.calls))


def office(provider: Provider, task: str = SEVEN, **options: Any) -> Office:
    read, cancel, llm = ReadOrder(), CancelOrder(), client(provider, **options.pop("client", {}))
    agent = Agent(
        role=options.pop("role", "Clerk"), goal="Answer.", backstory="Careful.", tools=[read, cancel], llm=llm,
        **options.pop("agent", {}),
    )  # fmt: skip
    task_of = Task(description=task, expected_output="An answer.", agent=agent, **options.pop("details", {}))
    crew = Crew(agents=[agent], tasks=[task_of], **options)
    return Office(provider=provider, crew=crew, agent=agent, read=read, cancel=cancel, llm=llm)


def strict_faults(body: dict[str, Any]) -> list[str]:
    """What OpenAI refuses in tools that are strict: objects that are open, or parameters that are not required."""
    return [
        f"{tool['function']['name']}: {fault}"
        for tool in body.get("tools") or ()
        if tool.get("function", {}).get("strict")
        for fault in _open(tool["function"].get("parameters", {}))
    ]


def _open(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [fault for one in schema for fault in _open(one)]
    if not isinstance(schema, dict):
        return []
    found = [fault for value in schema.values() for fault in _open(value)]
    if schema.get("type") == "object" and isinstance(schema.get("properties"), dict):
        if schema.get("additionalProperties") is not False:
            found.append("an open object")
        if set(schema.get("required", ())) != set(schema["properties"]):
            found.append(f"not all of {sorted(schema['properties'])} are required")
    return found
