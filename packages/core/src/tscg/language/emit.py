"""Layout: from tools in pieces and what they share to the text of the catalog.

A tool is a head line with its signature and prose. A parameter without prose of its own stands in the signature; the
others have a line each below it, which begins with a dot (two dots for the parameters of an object, and so on). A
further line of prose begins with a blank. So only a head line begins with a name, and no text can end an entry or open
another.
"""

from __future__ import annotations

from collections.abc import Sequence

from tscg.costs import Costs
from tscg.ir import Catalog, Tool
from tscg.language.cells import Cell, Drawn, Item, Pieces, draw
from tscg.language.share import Shared, chunks, share
from tscg.language.spelling import DEFAULT, Spelling, json_text, prose_line
from tscg.record import Record
from tscg.schema import minified

__all__ = ["Emitted", "emit", "emit_tool"]

ENDS = tuple(".:;!?")
"""Behind these the blank before a reference to a shared sentence is left out: ``.^`` is one token."""

Lines = list[tuple[int, str]]  # (depth, text): so many dots before it; depth 0 is a further line of prose


class Emitted(Record):
    """The text of a catalog in parts, joined by line breaks: ``head`` (header and shared block), one entry a tool."""

    head: str
    entries: tuple[str, ...]
    shared: Shared

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join([self.head, *self.entries] if self.head else self.entries)


class _Layout:
    def __init__(self, shared: Shared, spelling: Spelling) -> None:
        self.shared, self.spelling = shared, spelling
        self.local: dict[int, str] = {}
        self.pending: list[Cell] = []
        self.taken = False  # has the line in hand given its one place for lines below?
        self.below: Lines = []
        self.known: dict[str, tuple[str, Lines]] = {}

    # --- prose --------------------------------------------------------------------------------------------------------

    def prose(self, text: str) -> tuple[str, Lines]:
        """The first line, and further lines."""
        said = self.said(text) if self.shared.notes else text
        if "\n" not in said:
            return (said if said is not text else prose_line(text, self.spelling.note)), []
        if said is text:
            said = "\n".join([prose_line(line, self.spelling.note) for line in text.split("\n")])
        first, *more = said.split("\n")
        return first, [(0, line) for line in more]

    def said(self, text: str) -> str:
        """The prose with shared sentences as references and the rest escaped; the same object where none is shared."""
        parts = self.shared.chunks.get(text) or chunks(text)
        runs = self.shared.runs
        if runs.keys().isdisjoint(parts):
            return text
        out: list[str] = []
        i = 0
        while i < len(parts):
            for run, note in runs.get(parts[i], ()) if i % 2 == 0 else ():
                if tuple(parts[i : i + len(run)]) == run:
                    if out and (note[0] == "\n" or (out[-1] == " " and out[-2][-1:] in ENDS)):
                        out.pop()  # the reference stands for the gap too
                    out.append(f"{self.spelling.note}{self.shared.notes[note]}")
                    i += len(run)
                    break
            else:
                out.append(prose_line(parts[i], self.spelling.note) if i % 2 == 0 else parts[i])
                i += 1
        return "".join(out)

    # --- types --------------------------------------------------------------------------------------------------------

    def type(self, pieces: Pieces) -> str:
        if len(pieces) == 1 and isinstance(pieces[0], str):
            return pieces[0]
        return "".join(piece if isinstance(piece, str) else self.cell(piece) for piece in pieces)

    def cell(self, cell: Cell) -> str:
        number = self.shared.idents[id(cell)]
        if number in self.shared.types:
            return f"@{self.shared.types[number]}"
        if number in self.shared.local or number in self.local:
            return f"@{self.local_name(number, cell)}"
        return self.inline(cell, number)

    def inline(self, cell: Cell, number: int) -> str:
        if cell.items is None:
            return self.type(cell.pieces)
        taken, self.taken, below, self.below = self.taken, False, self.below, []
        inner, lines = self.object(cell.items, nested=True)
        self.taken = taken
        if lines and taken:  # the line has one place for lines below: this object gets a name and a line of its own
            self.below = below
            return f"@{self.local_name(number, cell)}"
        self.below = [*below, *lines]
        self.taken = taken or bool(lines)
        mark = "!" if cell.closed is not self.shared.closed else ""
        return f"{cell.head}{{{inner}}}{mark}{cell.text}"

    def local_name(self, number: int, cell: Cell) -> str:
        found = self.local.get(number)
        if found is None:
            found = self.local[number] = _letters(len(self.local))
            self.pending.append(cell)
        return found

    # --- parameters ---------------------------------------------------------------------------------------------------

    def reference(self, item: Item) -> str | None:
        """The word for a shared parameter, None for one that is not shared."""
        items = self.shared.items
        if not items:
            return None
        key = item.key if item.key is not None else self.shared.keys.get(id(item))
        label = items.get(key)
        if label is None:
            return None
        if self.shared.optional[key] is item.required:
            return f"{label}{'!' if item.required else '?'}"
        return label

    def item(self, item: Item) -> tuple[str, Lines]:
        """A parameter without its prose, and the lines below it. One with a default is optional unless marked."""
        has_default = item.tail.startswith("=")
        mark = ("!" if has_default else "") if item.required else ("" if has_default else "?")
        if not item.pieces:
            plain = not item.tail and not item.prose and item.name in self.shared.names
            return f"{item.name}{mark}{':str' if plain else ''}{item.tail}", []
        self.taken, self.below = False, []
        text = self.type(item.pieces)
        lines, self.below, self.taken = self.below, [], False
        gap = "" if text.startswith("(") else ":"
        return f"{item.name}{mark}{gap}{_tailed(text, item.tail)}", lines

    def object(self, items: Sequence[Item], nested: bool) -> tuple[str, Lines]:
        """What stands between the brackets, and the lines below."""
        words: list[str] = []
        lines: dict[int, Lines] = {}
        for i, item in enumerate(items):
            word = self.reference(item)
            if word is None:
                word, below = self.item(item)
                if item.prose or below:
                    lines[i] = self.lined(word, item.prose, below)
            words.append(word)
        gap = self.spelling.gap
        if not lines:
            return gap.join(words), []
        first, last = min(lines), max(lines)
        trail = words[last + 1 :]
        if not nested and len(trail) < 2:
            last, trail = len(words) - 1, []
        out: Lines = []
        for i in range(first, last + 1):
            out += lines.get(i) or [(1, words[i])]
        inner = words[:first]
        if nested or trail:
            inner = [*inner, self.spelling.lines, *trail]
        return gap.join(inner), out

    def lined(self, word: str, prose: str, below: Lines) -> Lines:
        if not prose:
            return [(1, word), *[(depth + 1 if depth else 0, text) for depth, text in below]]
        first, more = self.prose(prose)
        return [(1, f"{word} {first}"), *more, *[(depth + 1 if depth else 0, text) for depth, text in below]]

    # --- entries ------------------------------------------------------------------------------------------------------

    def entry(self, drawn: Drawn, tags: str = "") -> str:
        self.local, self.pending = {}, []
        lines: Lines = []
        after = ""
        signature = ""
        if drawn.cell is not None:
            inner, lines = self.object(drawn.cell.items or (), nested=False)
            mark = "!" if drawn.cell.closed is not self.shared.closed else ""
            after = f"{mark}{drawn.cell.text}{self.type(drawn.after) if drawn.after else ''}{tags}"
            bare = lines and not inner and not after and drawn.name != "shared"
            signature = "" if bare else f"({inner}){after}"
        else:
            signature = f":{self.type(drawn.after)}{tags}"
        first, more = self.prose(drawn.prose) if drawn.prose else ("", [])
        out = [f"{drawn.name}{signature} {first}" if drawn.prose else f"{drawn.name}{signature}"]
        out += _texts(more)
        if drawn.note is not None:
            out += _texts(self.lined(drawn.note[0], drawn.note[1], []))
        out += _texts(lines)
        for name, item in drawn.types:
            if name not in self.shared.recursive:
                out += _texts(self.definition(item))
        return "\n".join([*out, *self.local_types()])

    def local_types(self) -> list[str]:
        out: list[str] = []
        while self.pending:
            cell = self.pending.pop(0)
            out += _texts(self.cell_definition(cell, self.local[self.shared.idents[id(cell)]]))
        return out

    def cell_definition(self, cell: Cell, name: str) -> Lines:
        self.taken, self.below = False, []
        text = self.inline(cell, self.shared.idents[id(cell)])
        below, self.below, self.taken = self.below, [], False
        gap = "" if text.startswith("(") else ":"
        return self.lined(f"@{name}{gap}{_tailed(text, cell.tail)}", cell.prose, below)

    def definition(self, item: Item) -> Lines:
        text, below = self.item(Item(item.name, True, item.pieces or ("str",), "", ""))
        return self.lined(_tailed(text, item.tail), item.prose, below)

    def head(self) -> str:
        """The header and the block of shared definitions."""
        shared = self.shared
        words = [word for word in ("closed" if shared.closed else "", self.spelling.header(DEFAULT)) if word]
        out = [f"%{' '.join(words)}"] if words else []
        block: list[str] = []
        for text in shared.notes:
            block += self.note(text)
        for cell in shared.type_cells:
            block += _texts(self.cell_definition(cell, shared.types[shared.idents[id(cell)]]))
        for item in shared.recursive.values():
            block += _texts(self.definition(item))
        for item in shared.definitions:
            key = item.key if item.key is not None else shared.keys[id(item)]
            label, optional = shared.items[key], shared.optional[key]
            text, below = self.item(
                Item(
                    label,
                    not optional,
                    item.pieces or (("str",) if not item.prose and not item.tail else ()),
                    item.tail,
                    item.prose,
                )
            )
            block += _texts(self.lined(text, item.prose, below))
        block += self.local_types()
        if block:
            out += ["shared", *block]
        return "\n".join(out)

    def note(self, text: str) -> list[str]:
        first, *more = [prose_line(line, self.spelling.note) for line in text.split("\n")]
        head = f"{self.spelling.note}{self.shared.notes[text]}"
        return [f"{head} {first}" if first else head, *[f" {line}" for line in more]]


def _tailed(text: str, tail: str) -> str:
    """A type with its default and tags; a blank parts "int>" from "=1", which would read as a bound."""
    if tail[:1] == "=" and text.endswith(("int>", "num>")):
        return f"{text[:-1]} >{tail}"
    return text + tail


def _texts(lines: Lines) -> list[str]:
    return [f"{'.' * depth or ' '}{text}" if text[:1] != "@" or not depth else text for depth, text in lines]


def _letters(index: int) -> str:
    """a, b, ... z, aa, ab, ...: names of types that one tool defines for itself."""
    first, last = divmod(index, 26)
    return f"{chr(96 + first) if first else ''}{chr(97 + last)}" if first <= 26 else f"t{index}"


def emit(catalog: Catalog, spelling: Spelling, costs: Costs, *, sharing: bool = True) -> Emitted:
    """The catalog as text, in the order of its tools; without ``sharing`` every entry says all of its own.

    Linear in the size of the catalog. A tool whose entry would be longer than its minified JSON is passed through as
    JSON.
    """
    pieces = [draw(tool, spelling) for tool in catalog]
    shared = share(
        [one for one, tool in zip(pieces, catalog, strict=True) if not tool.opaque], costs, everything=sharing
    )
    _number(shared)
    layout = _Layout(shared, spelling)
    head = layout.head()
    layout.local, layout.pending = {}, []
    entries = [_entry(layout, tool, one) for tool, one in zip(catalog, pieces, strict=True)]
    return Emitted(head=head, entries=tuple(entries), shared=shared)


def _number(shared: Shared) -> None:
    for i, text in enumerate(shared.notes, 1):
        shared.notes[text] = i
    for i, cell in enumerate(shared.type_cells, 1):
        shared.types[shared.idents[id(cell)]] = str(i)


def _entry(layout: _Layout, tool: Tool, drawn: Drawn) -> str:
    if tool.opaque:
        first, more = layout.prose(drawn.prose) if drawn.prose else ("", [])
        return "\n".join([f"{drawn.name}(...) {first}" if drawn.prose else f"{drawn.name}(...)", *_texts(more)])
    text = layout.entry(drawn, "%rules" if tool.hides_policy else "")
    if "\\u" not in text:  # each construct is shorter than its JSON; only escapes can make an entry grow
        return text
    plain = passed_through(tool)
    return plain if len(plain) < len(text) else text


def passed_through(tool: Tool) -> str:
    """The entry of a tool as minified JSON."""
    described = {"name": tool.name, "description": tool.description, "parameters": tool.to_json_schema()}
    return json_text(minified(described))


def emit_tool(tool: Tool, spelling: Spelling, costs: Costs) -> str:
    """One tool as a text of its own, lossless (what a lookup by name replies)."""
    return emit(Catalog(tools=(tool,)), spelling, costs).text
