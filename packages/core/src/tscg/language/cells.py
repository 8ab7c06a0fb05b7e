"""Types as text, in pieces: what can be shared (objects, listed values, types with prose of their own) stays a cell.

A type of the IR becomes pieces, each a text or a :class:`Cell`, which :mod:`tscg.language.draw` draws. Where a
cell ends up (in its place, as a named type of its tool, or in the block of shared definitions) is decided by
:mod:`tscg.language.share` and laid out by :mod:`tscg.language.emit`.
"""

from __future__ import annotations

import json
import re

from tscg.ir import Note
from tscg.language.spelling import literal, name, quoted

__all__ = ["Cell", "Content", "Drawn", "Item", "Laid", "Pieces", "implied_word", "note_tail", "type_name"]

_generated = re.compile(r"(?:[0-9]+|[a-z]{1,2})\Z").match


class Cell:
    """A part of a type that can be named: an object with its parameters, or other pieces, with or without prose."""

    __slots__ = ("closed", "head", "ident", "items", "pieces", "prose", "shown", "tail", "text")

    def __init__(  # noqa: PLR0917  # by name costs time
        self, ident: int, pieces: Pieces, tail: str = "", prose: str = "", head: str = "",
        items: tuple[Item, ...] | None = None, closed: bool = False, text: str = "",
    ) -> None:  # fmt: skip
        self.ident = ident  # its number among the cells of the catalog
        self.pieces = pieces  # of a cell that is no object
        self.head = head  # of an object: what stands before its brace
        self.items = items  # of an object
        self.closed = closed
        self.text = text  # of an object: what follows its brace (bounds, extra)
        self.tail = tail  # default and tags
        self.prose = prose
        self.shown = ""  # the text that stands for it wherever it is used, where there is one


Pieces = tuple["str | Cell", ...]


Content = tuple[str, Pieces, str, str]
"""What is said of a parameter, or of what stands in its place (``*:T``): name, type, default and tags, prose."""

Item = int
"""A parameter by number: the even number of its content in the catalog, and one more where it is required."""

Laid = tuple[str, int]
"""What stands for a parameter, and whether that is a line of its own (without its dot), not a word in the signature."""


class Drawn:
    """A tool in pieces: ``items`` are its parameters if the root has some, ``after`` what is joined to the root."""

    __slots__ = ("after", "closed", "items", "name", "note", "prose", "text", "types")

    def __init__(  # noqa: PLR0917  # by name costs time
        self, name: str, prose: str, items: tuple[Item, ...] | None, closed: bool = False, text: str = "",
        after: Pieces = (), note: tuple[str, str] | None = None, types: tuple[tuple[str, Item], ...] = (),
    ) -> None:  # fmt: skip
        self.name = name
        self.prose = prose
        self.items = items
        self.closed = closed
        self.text = text  # what follows the bracket (bounds, extra)
        self.after = after
        self.note = note
        self.types = types


def type_name(given: str) -> str:
    """The spelling of a named type; one that looks like a generated name is a JSON string."""
    spelled = name(given)
    return quoted(given) if _generated(given) and spelled == given else spelled


def note_tail(note: Note | None) -> str:
    """Default and tags of a note, in the order of the grammar."""
    if note is None or (len(note.__dict__) == 1 and note.description):
        return ""
    out = "" if note.default is None else f"={literal(note.default)}"
    if note.title or note.examples or note.deprecated or note.read_only or note.write_only:
        out += f"%title={literal(json.dumps(note.title, ensure_ascii=False))}" if note.title else ""
        out += "".join(f"%eg={literal(value)}" for value in note.examples)
        out += "%deprecated" if note.deprecated else ""
        out += "%readonly" if note.read_only else ""
        out += "%writeonly" if note.write_only else ""
    return out


def implied_word(default: str, flag: str) -> str:
    """The type word that a default (as minified JSON) implies; of a text, list, object or null there is none."""
    if default in ("true", "false"):
        return flag
    if default[0] in "-0123456789":
        return "num" if any(c in default for c in ".eE") else "int"
    return ""
