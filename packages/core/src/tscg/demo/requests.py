"""What the demo asks of a model: three requests of one user, and what the user answers when asked back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

SITUATION: Final = (
    "You are the assistant of Sam Okafor (handle sam, sam@fernhill.example), who does customer support in a small tea "
    "shop. It is Monday, 16 March 2026, 09:00 UTC. Do what Sam asks with the tools, then say in one or two sentences "
    "what you did."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One task for the model; `replies` are the user's next messages, one for each answer without a call."""

    name: str
    prompt: str
    replies: Sequence[str] = ()


REQUESTS: Final[Sequence[Request]] = (
    Request(
        name="triage",
        prompt=(
            "Customers say that paying by card never finishes at the checkout. Find the issue about it, make it "
            "critical and give it to Mira. Then book half an hour with her and me tomorrow morning to talk about it."
        ),
    ),
    Request(
        name="address",
        prompt=(
            "Jonas Weber has moved to Lindenweg 8, 50667 Köln in Germany. Change his order that is not shipped yet, "
            "and add a line to /warehouse/packing-notes.md that its label has to be printed anew."
        ),
    ),
    Request(
        name="cancel",
        prompt="Please cancel the order ord-50234, the customer ordered it by mistake.",
        replies=("Yes, cancel it and send the money back to her card.",),
    ),
)
