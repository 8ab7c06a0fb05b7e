"""What one adapter must be able to do for the common rows: run an agent over a provider, and tell what happened."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from tests.adapters.provider import Provider

MODES = ("native", "text", "dispatch", "passthrough")
DIALECTS = ("openai", "anthropic")


@dataclass(slots=True, kw_only=True)
class Spec:
    """A tool: its JSON Schema, and what runs it. `executed` are the arguments that it got."""

    name: str
    description: str
    schema: dict[str, Any]
    run: Callable[[dict[str, Any]], str] = lambda arguments: json.dumps(arguments, sort_keys=True)
    executed: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, arguments: dict[str, Any]) -> str:
        self.executed.append(arguments)
        return self.run(arguments)


@dataclass(slots=True, kw_only=True)
class Outcome:
    """What an agent's run gave. `streamed` is the text that a user saw, `history` all that the framework keeps, `system`
    what it made of the system text where it puts words around it."""

    text: str
    streamed: str = ""
    history: str = ""
    input_tokens: int = 0
    report: Any = None
    system: str = ""
    error: Exception | None = None


class Harness(Protocol):
    """One adapter under test."""

    name: str

    def run(
        self, specs: Sequence[Spec], prompts: Sequence[str], *, provider: Provider, dialect: str,
        modes: Sequence[Any], streamed: bool = False, asynchronous: bool = False, system: str = "You work.",
        **options: Any,
    ) -> Outcome:  # fmt: skip
        """Run one conversation: each prompt in the mode of its place; None for no adapter at all."""
        ...


def object_schema(properties: dict[str, Any], required: Sequence[str] = ()) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def basic() -> list[Spec]:
    """Six small tools, enough for every row."""
    text, number = {"type": "string"}, {"type": "integer", "minimum": 1}
    return [
        Spec(name="get_order", description="Read one order by its number.", schema=object_schema({"number": number}, ["number"])),
        Spec(name="list_orders", description="List orders of a customer. Newest first.", schema=object_schema({"customer": text, "limit": {**number, "default": 20}}, ["customer"])),
        Spec(name="cancel_order", description="Cancel an order. Never cancel one that was sent.", schema=object_schema({"number": number, "reason": {"type": "string", "enum": ["customer", "stock", "fraud"]}}, ["number", "reason"])),
        Spec(name="send_mail", description="Send a mail to a customer.", schema=object_schema({"to": text, "subject": text, "tags": {"type": "array", "items": text}}, ["to", "subject"])),
        Spec(name="ping", description="Check the service.", schema=object_schema({})),
        Spec(name="move", description="Move something.", schema=object_schema({"to": {"type": "object", "properties": {"row": number, "shelf": text}, "required": ["row"]}}, ["to"])),
    ]  # fmt: skip


def executed(specs: Sequence[Spec]) -> dict[str, list[dict[str, Any]]]:
    return {spec.name: spec.executed for spec in specs if spec.executed}
