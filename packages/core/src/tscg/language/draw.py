"""Drawing: from the types of a catalog to pieces of text and cells.

One :class:`Drawing` holds the pieces of a whole catalog: equal cells are one object in it, and equal parameters have
one key, so that whatever is asked of them later is asked once.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import count

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
    Null,
    Number,
    Object,
    Param,
    Ref,
    String,
    Tool,
    Union,
)
from tscg.language.cells import Cell, Content, Drawn, Item, Pieces, implied_word, note_tail, type_name
from tscg.language.spelling import FORMATS, Spelling, json_text, listed, name, quoted

__all__ = ["Drawing"]

MANY = 12  # pieces from which a list, union or intersection may be shared
LONG = 14  # characters from which a type without parts may be shared
_AFTER_BOUND = tuple("=-.0123456789")
_format = re.compile(r"[A-Za-z0-9-]+\Z").match
_SAYS_NOTHING = frozenset({"note"})
_COMPOSED = frozenset((Array, Union, AllOf))


def number(value: int | float) -> str:
    """A number as JSON writes it."""
    return str(value) if type(value) is int else json.dumps(value)


class _Types(dict[Param, Item]):
    """The types of one catalog, and its parameters: the item of each that was drawn.

    A node that is reached twice is drawn once.
    """

    def __init__(self, spelling: Spelling) -> None:
        self.gap, self.flag = spelling.enum, spelling.flag
        self.unique: list[Cell] = []  # by number: what is in a cell comes before it
        self.seen: list[Item] = []  # the parameters of each tool, and of each object once, in their order
        self.cells: dict[int, Cell] = {}  # by node
        self.noted: dict[int, Cell] = {}
        self.contents: dict[object, Cell] = {}
        self.numbers: defaultdict[Content, int] = defaultdict(count(0, 2).__next__)  # even, in the order of first use
        self.enums: dict[tuple[str, ...], Pieces] = {}
        self.words: dict[type, Pieces] = {
            String: (), Number: ("num",), Integer: ("int",), Boolean: (spelling.flag,), AnyType: ("any",),
        }  # fmt: skip

    # --- parameters ---------------------------------------------------------------------------------------------------

    def draw(self, params: Sequence[Param], seen: list[Item]) -> tuple[Item, ...]:
        """The items of parameters; they join ``seen``, each behind what drawing it adds there."""
        get, words, numbers, begin = self.get, self.words, self.numbers, len(seen)
        for param in params:
            item = get(param)
            if item is None:
                spelled, kind = param.name, param.type
                if not (spelled.isidentifier() and spelled.isascii()):
                    spelled = name(spelled)
                tail = prose = ""
                if kind is None:
                    item = self.item(f"!{spelled}", ())
                else:
                    note, given = kind.note, kind.__dict__  # a record stores what is given, most often a note alone
                    pieces = words.get(type(kind))
                    if pieces is None or len(given) > 1 or (note is None and given and "note" not in given):
                        pieces = self.typed(kind)
                    if note is not None:
                        prose = note.description
                        if len(note.__dict__) > 1 or not prose:
                            if note.default is not None:
                                pieces = self.implied(pieces, note.default)
                            tail = note_tail(note)
                    item = numbers[spelled, pieces, tail, prose]
                    if param.required:
                        item += 1
                self[param] = item
            seen.append(item)
        return tuple(seen[begin:] if len(seen) - begin == len(params) else map(self.__getitem__, params))

    def item(self, name: str, pieces: Pieces, tail: str = "", prose: str = "") -> Item:
        """What stands in the place of a parameter."""
        return self.numbers[name, pieces, tail, prose] + 1

    def parameters(self, node: Object, seen: list[Item]) -> tuple[Item, ...]:
        """The parameters of an object, which join ``seen`` too."""
        found = self.draw(node.params, seen)
        if node.rest is None:
            return found
        rest = self.item("*", self.anonymous(node.rest))
        seen.append(rest)
        return (*found, rest)

    def implied(self, pieces: Pieces, default: str) -> Pieces:
        """The type where a default stands: none where the default says it."""
        word = pieces[0] if len(pieces) == 1 else ""
        if word and word == implied_word(default, self.flag):
            return ()
        return pieces or ("str",) if default[0] != '"' else pieces

    # --- types --------------------------------------------------------------------------------------------------------

    def typed(self, node: Node) -> Pieces:
        """A type on the line of a parameter, which carries its note; none is a plain text."""
        if type(node) is Enum and not node.extra:
            found = self.enums.get(node.values)
            if found is None:
                text = f"({listed(node.values, self.gap)})"
                found = self.enums[node.values] = (text if len(text) < LONG else self.cell((text,)),)
            return found
        if type(node) is String and _plain(node):
            return ()
        word = _WORD.get(type(node))
        if word is None or node.extra:
            out: list[str | Cell] = []
            self.type(node, out)
            return _joined(out)
        text = word(self, node)
        return (text if len(text) < LONG else self.cell((text,)),)

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
                cell = self.noted[id(node)] = self.cell(_joined(own), note_tail(node.note), node.note.description)
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
        kind = type(node)
        if kind not in _COMPOSED:
            word = _WORD.get(kind)
            if word is None:
                _DRAW[kind](self, node, out)
            else:
                text = word(self, node)  # a long one (a pattern, listed values) may be shared
                out.append(text if len(text) < LONG else self.cell((text,)))
            if node.extra and kind is not Object:
                out.append(f"${json_text(node.extra)}")
            return
        found = self.cells.get(id(node))
        if found is not None:
            out.append(found)
            return
        begin = len(out)
        self.composed(node, out)
        if len(out) - begin > MANY:  # a long type may be shared, and is drawn once however often it is referred to
            self.cells[id(node)] = cell = self.cell(_joined(out[begin:]))
            out[begin:] = [cell]

    def composed(self, node: Node, out: list[str | Cell]) -> None:
        grouped = node.extra and type(node) is not Array
        if grouped:
            out.append("<")
        start = len(out)
        _DRAW[type(node)](self, node, out)
        if grouped:
            _spaced(out, start)
        if node.extra:
            out.append(f"{'>' if grouped else ''}${json_text(node.extra)}")

    def string(self, node: String) -> str:
        word = node.format if node.format in FORMATS else "str"
        if node.format and word == "str":
            word = f"str~{_spelled_format(node.format)}"
        if node.min_length or node.max_length is not None:
            word += f"{{{node.min_length or ''}..{'' if node.max_length is None else node.max_length}}}"
        if node.pattern is not None:
            word += _pattern(node.pattern)
        return word if node.typed else f"?{word}"

    def number(self, node: Number) -> str:
        word, low, high, step = "int" if isinstance(node, Integer) else "num", node.low, node.high, node.multiple_of
        if word == "int" and _is_range(node):
            word = f"{'' if low is None else int(low)}..{'' if high is None else int(high)}"
        else:
            if word == "num" and (low is not None or high is not None):
                word = ""  # a bound alone says number
            if low is not None:
                word += f">{number(low)}" if node.low_open else f">={number(low)}"
            if high is not None:
                word += f"<{number(high)}" if node.high_open else f"<={number(high)}"
            if step is not None:
                word += f"*{number(step)}"
            if node.format:
                word += f"~{_spelled_format(node.format)}"
        return word if node.typed else f"?{word}"

    def enum(self, node: Enum) -> str:
        return f"({listed(node.values, self.gap)})"

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
        after = _after(node)
        if not node.params and node.rest is None and not node.closed:
            out.append(f"{'' if node.typed else '?'}obj{after}")
            return
        cell = self.cells.get(id(node))
        if cell is None:
            head, items = "" if node.typed else "?", self.parameters(node, [])
            content = (head, items, node.closed, after)
            cell = self.contents.get(content)
            if cell is None:
                cell = Cell(len(self.unique), (), "", "", head, items, node.closed, after)
                self.contents[content] = cell
                self.unique.append(cell)
                self.seen += items
            self.cells[id(node)] = cell
        out.append(cell)

    def union(self, node: Union, out: list[str | Cell]) -> None:
        for i, branch in enumerate(node.branches):
            out.append(("^" if node.exclusive else "|") if i else "")
            self.inner(branch, out, group=True)

    def all_of(self, node: AllOf, out: list[str | Cell]) -> None:
        for i, part in enumerate(node.parts):
            out.append("&" if i else "")
            self.inner(part, out, group=True)

    def cell(self, pieces: Pieces, tail: str = "", prose: str = "") -> Cell:
        """The one cell of these pieces."""
        content = (pieces, tail, prose)
        found = self.contents.get(content)
        if found is None:
            found = self.contents[content] = Cell(len(self.unique), pieces, tail, prose)
            self.unique.append(found)
        return found

    def named(self, given: str, node: Node) -> Item:
        """A named type of a tool."""
        pieces: list[str | Cell] = []
        self.type(node, pieces)
        note = node.note
        return self.item(
            f"@{type_name(given)}", _joined(pieces), note_tail(note), note.description if note is not None else ""
        )

    def after(self, root: Node, lead: Object | None) -> Pieces:
        """What follows the signature that leads a composed root; all of a root that none leads."""
        if lead is None or not isinstance(root, AllOf):
            out: list[str | Cell] = []
            self.type(root, out)
            return _joined(out)
        after = _joined([piece for part in root.parts[1:] for piece in ("&", *self.grouped(part))])
        return (*after, f"${json_text(root.extra)}") if root.extra else after

    def grouped(self, part: Node) -> Pieces:
        out: list[str | Cell] = []
        self.inner(part, out, group=True)
        return _joined(out)


class Drawing(_Types):
    """The tools of one catalog, which must outlive it, in pieces."""

    def tool(self, tool: Tool) -> Drawn:
        """A tool in pieces."""
        root = tool.root
        given = root.__dict__
        if type(root) is Object and len(given) == 1 and "params" in given and not tool.types:  # most often
            return Drawn(name(tool.name), tool.description, self.draw(given["params"], self.seen))
        own = root.note
        note = None if own is None else (note_tail(own), own.description)
        lead: Object | None = None
        if isinstance(root, Object):
            lead = root
        elif isinstance(root, AllOf) and len(root.parts) > 1:
            first = root.parts[0]
            if isinstance(first, Object) and first.typed and first.note is None:  # it can stand as a signature
                lead = first
        items, closed, text = None, False, ""
        if lead is not None:
            items, closed, text = self.parameters(lead, self.seen), lead.closed, _after(lead)
        after = self.after(root, lead) if lead is not root else ()
        types = tuple([(given, self.named(given, node)) for given, node in tool.types]) if tool.types else ()
        return Drawn(name(tool.name), tool.description, items, closed, text, after, note, types)


def _needs_group(node: Node) -> bool:
    """Could what follows this type be read as a part of it?"""
    if isinstance(node, (Union, AllOf)):  # "|" would make a new type each time
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


def _always(text: str) -> Callable[[_Types, Node, list[str | Cell]], None]:
    return lambda drawing, node, out: out.append(text)


_WORD: dict[type, Callable[..., str]] = {
    String: _Types.string, Number: _Types.number, Integer: _Types.number, Enum: _Types.enum,
}  # fmt: skip
_DRAW: dict[type, Callable[..., None]] = {
    Array: _Types.array, Object: _Types.object, Union: _Types.union, AllOf: _Types.all_of,
    AnyType: _always("any"), Never: _always("never"), Null: _always("null"),
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
    texts = [piece for piece in out if type(piece) is str]
    if len(texts) == len(out):
        text = "".join(texts)
        return (text,) if text else ()
    joined: list[str | Cell] = []
    for piece in out:
        if piece == "":
            continue
        if joined and isinstance(piece, str) and isinstance(joined[-1], str):
            joined[-1] += piece
        else:
            joined.append(piece)
    return tuple(joined)


def _after(node: Object) -> str:
    """What follows the parameters of an object: how many it may have, and what no field holds."""
    least, most, extra = node.min_properties, node.max_properties, node.extra
    bounds = f"#{least or ''}..{'' if most is None else most}" if least or most is not None else ""
    return f"{bounds}${json_text(extra)}" if extra else bounds
