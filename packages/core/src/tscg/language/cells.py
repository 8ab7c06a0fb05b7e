"""Types as text, in pieces: what can be shared (objects, listed values, types with prose of their own) stays a cell.

A type of the IR becomes a list of pieces, each a text or a :class:`Cell`. Where a cell ends up (in its place, as a
named type of its tool, or in the block of shared definitions) is decided by :mod:`tscg.language.share` and laid out by
:mod:`tscg.language.emit`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from tscg.ir import (
    AllOf,
    AnyType,
    Array,
    Boolean,
    Enum,
    Integer,
    Island,
    Never,
    Node,
    Note,
    Null,
    Number,
    Object,
    Param,
    Ref,
    String,
    Tool,
    Union,
)
from tscg.language.spelling import FORMATS, Spelling, json_text, literal, name, quoted
from tscg.record import Record

__all__ = ["Cell", "Drawn", "Item", "Pieces", "draw", "implied_word", "note_tail", "type_name"]

MANY = 12  # pieces from which a list, union or intersection may be shared
LONG = 14  # characters from which a type without parts may be shared
_AFTER_BOUND = tuple("=-.0123456789")
_format = re.compile(r"[A-Za-z0-9-]+\Z").match
_SAYS_NOTHING = frozenset({"note"})
_generated = re.compile(r"(?:[0-9]+|[a-z]{1,2})\Z").match


class Cell:
    """A part of a type that can be named: an object with its parameters, or other pieces, with or without prose."""

    __slots__ = ("closed", "head", "ident", "items", "pieces", "prose", "tail", "text")

    def __init__(
        self, *, pieces: Pieces = (), head: str = "", items: tuple[Item, ...] | None = None, closed: bool = False,
        text: str = "", tail: str = "", prose: str = "",
    ) -> None:  # fmt: skip
        self.pieces = pieces  # of a cell that is no object
        self.head = head  # of an object: what stands before its brace
        self.items = items  # of an object
        self.closed = closed
        self.text = text  # of an object: what follows its brace (bounds, extra)
        self.tail = tail  # default and tags
        self.prose = prose
        self.ident = -1


Pieces = tuple["str | Cell", ...]


class Item:
    """A parameter, or what stands in its place (``*:T``): ``pieces`` is its type, ``tail`` its default and tags."""

    __slots__ = ("key", "name", "pieces", "prose", "required", "tail")

    def __init__(self, name: str, required: bool, pieces: Pieces, tail: str = "", prose: str = "") -> None:
        self.name, self.required, self.pieces, self.tail, self.prose = name, required, pieces, tail, prose
        self.key: object = None  # what tells it from others; with a cell in it only the catalog can say
        if not pieces:
            self.key = (name, "", tail, prose)
        elif len(pieces) == 1 and isinstance(pieces[0], str):
            self.key = (name, pieces[0], tail, prose)


class Drawn(Record):
    """A tool in pieces: ``cell`` is the object of the arguments if the root has one, ``after`` what is joined to it."""

    name: str
    prose: str
    cell: Cell | None
    after: Pieces
    note: tuple[str, str] | None
    types: tuple[tuple[str, Item], ...]


def type_name(given: str) -> str:
    """The spelling of a named type; one that looks like a generated name is a JSON string."""
    spelled = name(given)
    return quoted(given) if _generated(given) and spelled == given else spelled


def number(value: int | float) -> str:
    """A number as JSON writes it."""
    return json.dumps(value)


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


class _Drawing:
    """One tool's types; a node that is reached twice is drawn once."""

    def __init__(self, spelling: Spelling) -> None:
        self.gap, self.flag = spelling.enum, spelling.flag
        self.cells: dict[int, Cell] = {}
        self.noted: dict[int, Cell] = {}

    # --- parameters ---------------------------------------------------------------------------------------------------

    def item(self, param: Param) -> Item:
        node = param.type
        if node is None:
            return Item(f"!{name(param.name)}", True, ())
        note = node.note
        if type(node) is String and _plain(node):
            pieces: Pieces = ()
        else:
            out: list[str | Cell] = []
            self.type(node, out)
            pieces = _joined(out)
        if note is None:
            return Item(name(param.name), param.required, pieces)
        tail = note_tail(note)
        if note.default is not None:
            pieces = self.implied(node, pieces, note.default)
        return Item(name(param.name), param.required, pieces, tail, note.description)

    def implied(self, node: Node, pieces: Pieces, default: str) -> Pieces:
        """The type where a default stands: none where the default says it."""
        word = pieces[0] if len(pieces) == 1 else ""
        if word and word == implied_word(default, self.flag):
            return ()
        return pieces or ("str",) if default[0] != '"' else pieces

    def items(self, node: Object) -> tuple[Item, ...]:
        found = [self.item(param) for param in node.params]
        if node.rest is not None:
            found.append(Item("*", True, self.anonymous(node.rest)))
        return tuple(found)

    # --- types --------------------------------------------------------------------------------------------------------

    def anonymous(self, node: Node) -> Pieces:
        out: list[str | Cell] = []
        self.inner(node, out)
        return _joined(out)

    def inner(self, node: Node, out: list[str | Cell], group: bool = False) -> None:
        """A type where no parameter's line carries its note: with a note it becomes a cell of its own."""
        if node.note is not None:
            cell = self.noted.get(id(node))
            if cell is None:
                own: list[str | Cell] = []
                self.type(node, own)
                cell = Cell(pieces=_joined(own), tail=note_tail(node.note), prose=node.note.description)
                self.noted[id(node)] = cell
            out.append(cell)
        elif group and _needs_group(node):
            out.append("<")
            start = len(out)
            self.type(node, out)
            _spaced(out, start)
            out.append(">")
        else:
            self.type(node, out)

    def type(self, node: Node, out: list[str | Cell]) -> None:
        if isinstance(node, Array | Union | AllOf):
            found = self.cells.get(id(node))
            if found is not None:
                out.append(found)
                return
            begin = len(out)
            self.drawn(node, out)
            if len(out) - begin > MANY:  # a long type may be shared, and is drawn once however often it is referred to
                self.cells[id(node)] = cell = Cell(pieces=_joined(out[begin:]))
                out[begin:] = [cell]
            return
        self.drawn(node, out)

    def drawn(self, node: Node, out: list[str | Cell]) -> None:
        composed = node.extra and isinstance(node, Union | AllOf)
        if composed:
            out.append("<")
        start = len(out)
        _DRAW[type(node)](self, node, out)
        if composed:
            _spaced(out, start)
        if node.extra and not isinstance(node, Object):
            out.append(f"{'>' if composed else ''}${json_text(node.extra)}")

    def string(self, node: String, out: list[str | Cell]) -> None:
        word = node.format if node.format in FORMATS else "str"
        if node.format and word == "str":
            word = f"str~{_spelled_format(node.format)}"
        if node.min_length or node.max_length is not None:
            word += f"{{{node.min_length or ''}..{'' if node.max_length is None else node.max_length}}}"
        if node.pattern is not None:
            word += _pattern(node.pattern)
        self.scalar(node, word if node.typed else f"?{word}", out)

    def number(self, node: Number, out: list[str | Cell]) -> None:
        word = "int" if isinstance(node, Integer) else "num"
        if word == "int" and _is_range(node):
            word = f"{'' if node.low is None else int(node.low)}..{'' if node.high is None else int(node.high)}"
        else:
            if word == "num" and (node.low is not None or node.high is not None):
                word = ""  # a bound alone says number
            word += "" if node.low is None else f">{'' if node.low_open else '='}{number(node.low)}"
            word += "" if node.high is None else f"<{'' if node.high_open else '='}{number(node.high)}"
            word += "" if node.multiple_of is None else f"*{number(node.multiple_of)}"
            word += f"~{_spelled_format(node.format)}" if node.format else ""
        self.scalar(node, word if node.typed else f"?{word}", out)

    def scalar(self, node: Node, text: str, out: list[str | Cell]) -> None:
        """A short type as it is, a long one (a pattern, listed values) as a cell that may be shared."""
        out.append(text if len(text) < LONG else self.cell(node, lambda: Cell(pieces=(text,))))

    def enum(self, node: Enum, out: list[str | Cell]) -> None:
        self.scalar(node, f"({self.gap.join(map(literal, node.values))})", out)

    def array(self, node: Array, out: list[str | Cell]) -> None:
        if not node.typed:
            out.append("?")
        bounds = (
            ""
            if not node.min_items and node.max_items is None
            else f"{node.min_items or ''}..{'' if node.max_items is None else node.max_items}"
        )
        bounds += "!" if node.unique else ""
        if not node.prefix and not node.closed:
            if node.items is None:
                out.append("any")
            else:
                self.inner(node.items, out, group=True)
            out.append(f"[{bounds}]")
            return
        out.append("[")
        for i, part in enumerate(node.prefix):
            out.append(" " if i else "")
            self.inner(part, out)
        if node.items is not None:
            out.append(" *")
            self.inner(node.items, out)
        out.append(("!" if not node.prefix else " !") if node.closed else "")
        out.append(f"]{{{bounds}}}" if bounds else "]")

    def object(self, node: Object, out: list[str | Cell]) -> None:
        bounds = ""
        if node.min_properties or node.max_properties is not None:
            bounds = f"#{node.min_properties or ''}..{'' if node.max_properties is None else node.max_properties}"
        after = bounds + (f"${json_text(node.extra)}" if node.extra else "")
        if not node.params and node.rest is None and not node.closed:
            out.append(f"{'' if node.typed else '?'}obj{after}")
            return
        out.append(self.cell(node, lambda: Cell(
            head="" if node.typed else "?", items=self.items(node), closed=node.closed, text=after,
        )))  # fmt: skip

    def union(self, node: Union, out: list[str | Cell]) -> None:
        for i, branch in enumerate(node.branches):
            out.append(("^" if node.exclusive else "|") if i else "")
            self.inner(branch, out, group=True)

    def all_of(self, node: AllOf, out: list[str | Cell]) -> None:
        for i, part in enumerate(node.parts):
            out.append("&" if i else "")
            self.inner(part, out, group=True)

    def cell(self, node: Node, make: Callable[[], Cell]) -> Cell:
        found = self.cells.get(id(node))
        if found is None:
            found = self.cells[id(node)] = make()
        return found


def _needs_group(node: Node) -> bool:
    """Could what follows this type be read as a part of it?"""
    if isinstance(node, Union | AllOf):
        return not node.extra  # with extra it brings its own brackets
    return not getattr(node, "typed", True)


def _spaced(out: list[str | Cell], start: int) -> None:
    """A blank behind an opening "<" where what follows begins like a bound: "<5" would read as one."""
    for i in range(start, len(out)):
        piece = out[i]
        if piece == "":
            continue
        if isinstance(piece, str) and piece[0] in _AFTER_BOUND:
            out[i] = f" {piece}"
        return


def _spelled_format(text: str) -> str:
    return text if _format(text) else quoted(text)


def _word(text: str) -> Callable[[_Drawing, Node, list[str | Cell]], None]:
    return lambda drawing, node, out: out.append(text)


_DRAW: dict[type, Callable[..., None]] = {
    String: _Drawing.string, Number: _Drawing.number, Integer: _Drawing.number, Enum: _Drawing.enum,
    Array: _Drawing.array, Object: _Drawing.object, Union: _Drawing.union, AllOf: _Drawing.all_of,
    AnyType: _word("any"), Never: _word("never"), Null: _word("null"),
    Boolean: lambda drawing, node, out: out.append(drawing.flag),
    Ref: lambda drawing, node, out: out.append(f"@{type_name(node.name)}"),
    Island: lambda drawing, node, out: out.append(f"${json_text(node.schema)}"),
}  # fmt: skip


def _plain(node: String) -> bool:
    if not node.__dict__.keys() - _SAYS_NOTHING:  # a record stores what is given, most often a note alone
        return True
    return (
        node.typed and not node.min_length and node.max_length is None and node.pattern is None
        and not node.format and not node.extra
    )  # fmt: skip


def _is_range(node: Number) -> bool:
    if (
        (node.low is None and node.high is None)
        or node.low_open
        or node.high_open
        or node.multiple_of is not None
        or node.format
    ):
        return False
    return all(limit is None or (limit == int(limit) and abs(limit) < 2**63) for limit in (node.low, node.high))


def _pattern(pattern: str) -> str:
    """A pattern between slashes; as a JSON string where a slash or an unsafe character is in it."""
    plain = pattern.isascii() and pattern.isprintable() and "/" not in pattern and pattern[:1] != '"' and pattern != ""
    if plain and "<" not in pattern and "[" in pattern:
        return f"/{pattern}/" if quoted(pattern).count("\\u") == pattern.count("\\u") else f"/{quoted(pattern)}/"
    return f"/{pattern}/" if plain and "<" not in pattern else f"/{quoted(pattern)}/"


def _joined(out: list[str | Cell]) -> Pieces:
    """The pieces with neighbouring texts joined and empty ones gone."""
    if len(out) == 1:
        return (out[0],)
    joined: list[str | Cell] = []
    for piece in out:
        if piece == "":
            continue
        if joined and isinstance(piece, str) and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return tuple(joined)


def draw(tool: Tool, spelling: Spelling) -> Drawn:
    """A tool in pieces."""
    drawing = _Drawing(spelling)
    root, own = tool.root, tool.root.note
    after: Pieces = ()
    cell: Cell | None = None
    if isinstance(root, AllOf) and len(root.parts) > 1 and _leads(root.parts[0]):
        cell, rest = _signature(drawing, root.parts[0]), root.parts[1:]
        after = _joined([piece for part in rest for piece in ("&", *_grouped(drawing, part))])
        if root.extra:
            after = (*after, f"${json_text(root.extra)}")
    elif isinstance(root, Object):
        cell = _signature(drawing, root)
    else:
        out: list[str | Cell] = []
        drawing.type(root, out)
        after = _joined(out)
    note = None if own is None else (note_tail(own), own.description)
    types = []
    for given, node in tool.types:
        pieces: list[str | Cell] = []
        drawing.type(node, pieces)
        said = node.note
        types.append(
            (
                given,
                Item(f"@{type_name(given)}", True, _joined(pieces), note_tail(said), said.description if said else ""),
            )
        )
    return Drawn(name=name(tool.name), prose=tool.description, cell=cell, after=after, note=note, types=tuple(types))


def _leads(node: Node) -> bool:
    """Can the first part of a composed root stand as a signature?"""
    return isinstance(node, Object) and node.typed and node.note is None


def _grouped(drawing: _Drawing, part: Node) -> Pieces:
    out: list[str | Cell] = []
    drawing.inner(part, out, group=True)
    return _joined(out)


def _signature(drawing: _Drawing, node: Node) -> Cell:
    assert isinstance(node, Object)
    bounds = ""
    if node.min_properties or node.max_properties is not None:
        bounds = f"#{node.min_properties or ''}..{'' if node.max_properties is None else node.max_properties}"
    after = bounds + (f"${json_text(node.extra)}" if node.extra else "")
    return Cell(head="" if node.typed else "?", items=drawing.items(node), closed=node.closed, text=after)
