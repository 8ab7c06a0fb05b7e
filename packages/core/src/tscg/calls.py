"""What a model's answer becomes: calls, lookups, programs and errors, as plain values.

Everything here is frozen, compares by value and can be pickled. ``message`` and ``reply`` are texts for the model;
whatever asks for a place (``path``) counts from the arguments: ``("labels", 1, "color")``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from tscg.ir import JSON

__all__ = [
    "Call",
    "CallError",
    "Decoded",
    "Fault",
    "Item",
    "ItemEvent",
    "Lookup",
    "Notice",
    "Path",
    "Program",
    "TextEvent",
    "show_path",
]

Path: TypeAlias = "tuple[str | int, ...]"


def show_path(path: Path) -> str:
    """A place in the arguments as it is shown to the model.

    >>> show_path(("labels", 1, "color")), show_path(("a b",)), show_path(())
    ('labels[1].color', '["a b"]', '')
    """
    out = ""
    for step in path:
        if isinstance(step, int):
            out += f"[{step}]"
        elif step.replace("_", "").replace("-", "").replace("$", "").isalnum():
            out += f".{step}" if out else step
        else:
            from json import dumps

            out += f"[{dumps(step, ensure_ascii=False)}]"
    return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something that stopped nothing: a word for its kind, a place, and a sentence for the developer."""

    kind: str
    path: Path = ()
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong in a call: what was expected, what was found (at most 80 characters), and a hint."""

    kind: str
    path: Path = ()
    expected: str = ""
    found: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A call that is valid under the tool's original schema.

    ``name`` is the original name; ``repairs`` are texts ``"kind: path: detail"``; ``dialect`` names the spelling that
    it was read from; ``opaque`` holds fields of the provider that must travel back unchanged.

    >>> Call(name="ping", arguments={}).repairs
    ()
    """

    id: str = ""
    name: str
    arguments: dict[str, JSON]
    repairs: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()
    dialect: str = ""
    opaque: Mapping[str, JSON] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lookup:
    """A question about tools; ``reply`` is the text that answers it."""

    id: str = ""
    tools: tuple[str, ...] = ()
    query: str = ""
    reply: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallError:
    """A call that was not made: its faults, and the text to send back. ``kind`` and ``path`` are the first fault's."""

    id: str = ""
    kind: str
    tool: str | None = None
    path: Path = ()
    faults: tuple[Fault, ...] = ()
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A program that the model wrote; nothing here runs it."""

    id: str = ""
    code: str


Item: TypeAlias = "Call | Lookup | CallError | Program"


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The newest answer of the model, read.

    ``items`` holds calls, lookups, errors and programs in the order of the output: for every id that the model used
    there is one answer to send back. ``text`` is what was no call, ``reasoning`` what the model thought.
    """

    items: tuple[Item, ...] = ()
    text: str = ""
    reasoning: str = ""
    warnings: tuple[Notice, ...] = ()
    finish_reason: str | None = None

    @property
    def calls(self) -> tuple[Call, ...]:
        """The calls to make, in order."""
        return tuple(item for item in self.items if isinstance(item, Call))

    @property
    def lookups(self) -> tuple[Lookup, ...]:
        """The lookups to answer with their replies."""
        return tuple(item for item in self.items if isinstance(item, Lookup))

    @property
    def errors(self) -> tuple[CallError, ...]:
        """The calls that were refused, to answer with their messages."""
        return tuple(item for item in self.items if isinstance(item, CallError))

    @property
    def programs(self) -> tuple[Program, ...]:
        """The programs to run (code mode)."""
        return tuple(item for item in self.items if isinstance(item, Program))


@dataclass(frozen=True, slots=True, kw_only=True)
class TextEvent:
    """Visible text of a stream; the texts of all events joined are ``Decoded.text``."""

    text: str
    call: None = field(default=None, init=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemEvent:
    """A finished item of a stream: given once, never taken back."""

    item: Item

    @property
    def call(self) -> Call | None:
        """The item if it is a call."""
        return self.item if isinstance(self.item, Call) else None
