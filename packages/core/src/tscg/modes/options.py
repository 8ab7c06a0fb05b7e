"""Options of the modes: a name stands for the defaults of its options object."""

from __future__ import annotations

from typing import TypeAlias

from tscg.errors import ConfigError
from tscg.record import Record

__all__ = ["MODES", "Mode", "Native", "Passthrough", "Text", "mode_of"]


class Passthrough(Record):
    """Tools as they are, one wire tool each; calls are decoded and validated."""

    name = "passthrough"


class Native(Record):
    """One wire tool each: a signature line and prose in the description, a schema without prose."""

    name = "native"


class Text(Record):
    """The catalog in the prompt and no wire tools; the model writes calls as text.

    ``dialect`` is a row of the taught syntaxes (None: the model's).
    """

    name = "text"

    dialect: str | None = None


Mode: TypeAlias = "Passthrough | Native | Text"

MODES: dict[str, type[Passthrough] | type[Native] | type[Text]] = {
    "text": Text,
    "native": Native,
    "passthrough": Passthrough,
}
"""The modes by name."""


def mode_of(given: object) -> Mode:
    """The options of a mode given by name or as an options object; ConfigError naming the valid ones.

    >>> mode_of("text")
    Text()
    """
    if isinstance(given, Passthrough | Native | Text):
        return given
    found = MODES.get(given) if isinstance(given, str) else None
    if found is None:
        raise ConfigError(f"unknown mode {given!r}", allowed=("auto", *MODES))
    return found()
