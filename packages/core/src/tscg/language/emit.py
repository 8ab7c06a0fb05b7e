"""Layout: from tools in pieces and what they share to the text of the catalog.

A tool is a head line with its signature and prose. A parameter without prose of its own stands in the signature; the
others have a line each below it, which begins with a dot (two dots for the parameters of an object, and so on). A
further line of prose begins with a blank. So only a head line begins with a name, and no text can end an entry or open
another.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import compress, count, repeat
from operator import contains

from tscg.costs import Costs
from tscg.ir import Catalog, Tool
from tscg.language.cells import Cell, Drawn, Item, Laid, Pieces
from tscg.language.draw import Drawing
from tscg.language.share import Shared, batches, chunks, share
from tscg.language.spelling import DEFAULT, Spelling, is_plain, json_text, name, prose_line
from tscg.record import Record
from tscg.schema import minified

__all__ = ["Emitted", "emit", "emit_tool"]

ENDS = tuple(".:;!?")
"""Behind these the blank before a reference to a shared sentence is left out: ``.^`` is one token."""

_ROW = "\n."  # what parts lines of parameters


class Emitted(Record):
    """The text of a catalog in parts, joined by line breaks: ``head`` (header and shared block), one entry a tool."""

    head: str
    entries: tuple[str, ...]
    shared: Shared

    @property
    def parts(self) -> Sequence[str]:
        """What the whole text is made of, line breaks apart."""
        return [self.head, *self.entries] if self.head else self.entries

    @property
    def text(self) -> str:
        """The whole text."""
        return "\n".join(self.parts)


class _Layout:
    def __init__(self, shared: Shared, spelling: Spelling) -> None:
        self.shared, self.spelling = shared, spelling
        self.laid = [""] * len(shared.contents)  # what stands for each parameter, empty where that depends on the tool
        self.lined = bytearray(len(shared.contents))  # is it a line of its own, without its dot?
        self.local: dict[int, str] = {}
        self.pending: list[Cell] = []
        self.taken = False  # has the line in hand given its one place for lines below?
        self.below = ""
        self.prose: dict[str, str] = {}  # what is written in place of a text
        self.calm = False  # is there nothing to escape in all of them?

    # --- prose --------------------------------------------------------------------------------------------------------

    def write(self, lone: Sequence[str]) -> None:
        """Every text of the catalog as it is written, where that is not as it stands.

        ``lone`` are texts that were not asked what they share.
        """
        texts, cut, note = [*self.shared.texts, *lone], self.shared.chunks, self.spelling.note
        for text in lone:
            parts = chunks(text)
            if not self.shared.runs.keys().isdisjoint(parts):
                cut[text] = parts
        self.calm = all(is_plain(" ".join(group).replace("\n", " "), note) for group in batches(texts))
        special = {*cut, *compress(texts, map(contains, texts, repeat("\n")))} if self.calm else texts
        self.prose = {text: self.written(text) for text in special}

    def written(self, text: str) -> str:
        """A text with shared sentences as references and the rest escaped; further lines begin with a blank."""
        parts = self.shared.chunks.get(text)
        return (self.said(parts) if parts is not None else self.escaped(text)).replace("\n", "\n ")

    def escaped(self, text: str) -> str:
        """Plain prose, in lines."""
        note = self.spelling.note
        if self.calm:
            return text
        return "\n".join([prose_line(line, note) for line in text.split("\n")])

    def said(self, parts: list[str]) -> str:
        """The sentences of a text, shared ones as references."""
        runs, notes, note = self.shared.runs, self.shared.notes, self.spelling.note
        out: list[str] = []
        done = 0
        for i, part in enumerate(parts):
            for run, text in runs.get(part, ()) if i >= done else ():
                if tuple(parts[i : i + len(run)]) == run:
                    ahead = parts[done:i]
                    if ahead and (text[0] == "\n" or (ahead[-1] == " " and len(ahead) > 1 and ahead[-2][-1:] in ENDS)):
                        del ahead[-1]  # the reference stands for the gap too
                    out += ahead if self.calm else [self.escaped("".join(ahead))]
                    out.append(f"{note}{notes[text]}")
                    done = i + len(run)
                    break
        out += parts[done:] if self.calm else [self.escaped("".join(parts[done:]))]
        return "".join(out)

    # --- types --------------------------------------------------------------------------------------------------------

    def show(self, cells: Iterable[Cell]) -> None:
        """What stands for each cell wherever it is used; what is in a cell comes before it."""
        types, local = self.shared.types, self.shared.local
        for cell in cells:
            if cell.ident in types:
                cell.shown = f"@{types[cell.ident]}"
            elif cell.items is None and cell.ident not in local:
                texts = [piece if isinstance(piece, str) else piece.shown for piece in cell.pieces]
                cell.shown = "" if "" in texts else "".join(texts)

    def type(self, pieces: Pieces) -> str:
        return "".join([piece if isinstance(piece, str) else piece.shown or self.cell(piece) for piece in pieces])

    def cell(self, cell: Cell) -> str:
        if cell.ident in self.shared.local or cell.ident in self.local:
            return f"@{self.local_name(cell)}"
        return self.inline(cell)

    def inline(self, cell: Cell) -> str:
        if cell.items is None:
            return self.type(cell.pieces)
        taken, self.taken, below, self.below = self.taken, False, self.below, ""
        inner, lines = self.object(cell.items, nested=True)
        rows = f".{_ROW.join(lines)}" if lines else ""
        self.taken = taken
        if rows and taken:  # the line has one place for lines below: this object gets a name and a line of its own
            self.below = below
            return f"@{self.local_name(cell)}"
        self.below = f"{below}\n{rows}" if below and rows else below or rows
        self.taken = taken or rows != ""
        mark = "!" if cell.closed is not self.shared.closed else ""
        return f"{cell.head}{{{inner}}}{mark}{cell.text}"

    def local_name(self, cell: Cell) -> str:
        found = self.local.get(cell.ident)
        if found is None:
            found = self.local[cell.ident] = _letters(len(self.local))
            self.pending.append(cell)
        return found

    # --- parameters ---------------------------------------------------------------------------------------------------

    def lay(self, items: Collection[Item]) -> None:
        """What stands for each parameter, where that does not depend on the tool."""
        contents, names, written = self.shared.contents, self.shared.names, self.prose.get
        laid, lined = self.laid, self.lined
        types: dict[Pieces, str | None] = {}
        for item, (bare, pieces, tail, said) in zip(items, map(contents.__getitem__, items), strict=True):
            kind = types.get(pieces)
            if kind is None:
                kind = types[pieces] = _shown(pieces)
                if kind is None:
                    continue
            if tail:
                mark, kind = _marked(item & 1, tail), _tailed(kind, tail)
            else:
                mark = "" if item & 1 else "?"
            if said:
                laid[item], lined[item] = f"{bare}{mark}{kind} {written(said, said)}", 1
            elif kind or bare not in names:
                laid[item] = f"{bare}{mark}{kind}"
            else:  # the bare name is that of a shared parameter
                laid[item] = f"{bare}{mark}:str"
        for key, label in self.shared.items.items():
            plain = key if self.shared.optional[key] else key + 1
            laid[plain], laid[plain ^ 1] = label, f"{label}!" if plain == key else f"{label}?"
            lined[plain] = lined[plain ^ 1] = 0

    def item(self, item: Item) -> Laid:
        """A parameter whose type may depend on the tool."""
        if self.laid[item]:
            return self.laid[item], self.lined[item]
        name, pieces, tail, prose = self.shared.contents[item]
        self.taken, self.below = False, ""
        word = f"{name}{_marked(item & 1, tail)}{_tailed(_typed(self.type(pieces)), tail)}"
        below, self.below, self.taken = self.below, "", False
        return (self.row(word, prose, below), 1) if prose or below else (word, 0)

    def row(self, word: str, prose: str, below: str) -> str:
        """A line with its prose and the lines below it, each a dot deeper."""
        line = f"{word} {self.prose.get(prose, prose)}" if prose else word
        return line + f"\n{below}".replace("\n.", "\n..") if below else line

    def object(self, items: Sequence[Item], nested: bool = False) -> tuple[str, Sequence[str]]:
        """What stands between the brackets, and the lines below, without their dots."""
        if not items:
            return "", ()
        laid, lined = [*map(self.laid.__getitem__, items)], [*map(self.lined.__getitem__, items)]
        if "" in laid:
            laid, lined = map(list, zip(*map(self.item, items), strict=True))
        gap = self.spelling.gap
        if 1 not in lined:
            return gap.join(laid), ()
        first = lined.index(1)
        if not nested and 1 in lined[-2:]:  # one word behind the lines gets a line too
            return gap.join(laid[:first]), laid[first:]
        behind = len(lined) - lined[::-1].index(1)
        return gap.join([*laid[:first], self.spelling.lines, *laid[behind:]]), laid[first:behind]

    # --- entries ------------------------------------------------------------------------------------------------------

    def entry(self, drawn: Drawn, tags: str = "") -> str:
        if self.local:
            self.local = {}
        after = self.type(drawn.after) if drawn.after else ""
        rows: Sequence[str] = ()
        if drawn.items is None:
            text = f"{drawn.name}:{after}{tags}"
        else:
            inner, rows = self.object(drawn.items)
            mark = "" if drawn.closed is self.shared.closed else "!"
            after = f"{mark}{drawn.text}{after}{tags}"
            brackets = inner or after or not rows or drawn.name == "shared"
            text = f"{drawn.name}({inner}){after}" if brackets else drawn.name
        if drawn.prose:
            text = f"{text} {self.prose.get(drawn.prose, drawn.prose)}"
        if drawn.note is not None:
            text = f"{text}\n{self.row(f'.{drawn.note[0]}', drawn.note[1], '')}"
        if rows:
            text = _ROW.join([text, *rows])
        if drawn.types:
            types = [self.named(item) for name, item in drawn.types if name not in self.shared.recursive]
            text = "\n".join([text, *types])
        return "\n".join([text, *self.local_types()]) if self.pending else text

    def local_types(self) -> list[str]:
        out: list[str] = []
        while self.pending:
            cell = self.pending.pop(0)
            out.append(self.cell_definition(cell, self.local[cell.ident]))
        return out

    def cell_definition(self, cell: Cell, name: str) -> str:
        self.taken, self.below = False, ""
        text = self.inline(cell)
        below, self.below, self.taken = self.below, "", False
        return self.row(f"@{name}{_tailed(_typed(text), cell.tail)}", cell.prose, below)

    def named(self, item: Item) -> str:
        name, pieces, tail, prose = self.shared.contents[item]
        return self.definition(name, pieces or ("str",), tail, prose)

    def definition(self, label: str, pieces: Pieces, tail: str, prose: str) -> str:
        """The line that defines a shared parameter (its name with a mark) or a named type."""
        self.taken, self.below = False, ""
        word = f"{label}{_tailed(_typed(self.type(pieces)), tail)}"
        below, self.below, self.taken = self.below, "", False
        return self.row(word, prose, below)

    def head(self) -> str:
        """The header and the block of shared definitions."""
        shared = self.shared
        words = [word for word in ("closed" if shared.closed else "", self.spelling.header(DEFAULT)) if word]
        out = [f"%{' '.join(words)}"] if words else []
        block = [self.note(text) for text in shared.notes]
        block += [self.cell_definition(cell, shared.types[cell.ident]) for cell in shared.type_cells]
        block += map(self.named, shared.recursive.values())
        for key, label in shared.items.items():
            _, pieces, tail, prose = shared.contents[key]
            word = f".{label}{_marked(not shared.optional[key], tail)}"
            block.append(self.definition(word, pieces or (() if prose or tail else ("str",)), tail, prose))
        block += self.local_types()
        if block:
            out += ["shared", *block]
        return "\n".join(out)

    def note(self, text: str) -> str:
        first, *more = self.escaped(text).split("\n")
        head = f"{self.spelling.note}{self.shared.notes[text]}"
        return "\n ".join([f"{head} {first}" if first else head, *more])


def _marked(required: int, tail: str) -> str:
    """The mark of necessity: a parameter with a default is optional unless marked, another one required."""
    if tail[:1] == "=":
        return "!" if required else ""
    return "" if required else "?"


def _shown(pieces: Pieces) -> str | None:
    """A type as it stands behind a name; None where that depends on the tool."""
    if len(pieces) == 1:
        piece = pieces[0]
        return _typed(piece if isinstance(piece, str) else piece.shown) or None
    texts = [piece if isinstance(piece, str) else piece.shown for piece in pieces]
    return None if "" in texts else _typed("".join(texts))


def _typed(text: str) -> str:
    """A type behind a name."""
    return text if text[:1] == "(" or not text else f":{text}"


def _tailed(text: str, tail: str) -> str:
    """A type with its default and tags; a blank parts "int>" from "=1", which would read as a bound."""
    if tail[:1] == "=" and text.endswith(("int>", "num>")):
        return f"{text[:-1]} >{tail}"
    return text + tail


def _letters(index: int) -> str:
    """a, b, ... z, aa, ab, ...: names of types that one tool defines for itself."""
    first, last = divmod(index, 26)
    return f"{chr(96 + first) if first else ''}{chr(97 + last)}" if first <= 26 else f"t{index}"


def emit(catalog: Catalog, spelling: Spelling, costs: Costs, *, sharing: bool = True) -> Emitted:
    """The catalog as text, in the order of its tools; without ``sharing`` every entry says all of its own.

    Linear in the size of the catalog. A tool whose entry would be longer than its minified JSON is passed through as
    JSON.
    """
    drawing = Drawing(spelling)
    drawn = [None if tool.opaque else drawing.tool(tool) for tool in catalog.tools]
    shared = share(drawing, list(filter(None, drawn)), costs, everything=sharing)
    _number(shared)
    layout = _Layout(shared, spelling)
    layout.write([tool.description for tool in catalog.tools if tool.opaque and tool.description])
    layout.show(drawing.unique)
    layout.lay(set(drawing.seen))
    head = layout.head()
    entries = [
        _opaque(layout, tool) if one is None else layout.entry(one, "%rules" if tool.hides_policy else "")
        for tool, one in zip(catalog.tools, drawn, strict=True)
    ]
    # Each construct is shorter than its JSON: only escapes can make an entry grow.
    for i in compress(count(), map(contains, entries, repeat("\\"))):
        if "\\u" in entries[i] and drawn[i] is not None:
            entries[i] = min(entries[i], passed_through(catalog.tools[i]), key=len)
    return Emitted(head=head, entries=tuple(entries), shared=shared)


def _number(shared: Shared) -> None:
    for i, text in enumerate(shared.notes, 1):
        shared.notes[text] = i
    for i, cell in enumerate(shared.type_cells, 1):
        shared.types[cell.ident] = str(i)


def _opaque(layout: _Layout, tool: Tool) -> str:
    """The entry of a tool of which a budget left the name alone."""
    head = f"{name(tool.name)}(...)"
    return f"{head} {layout.prose.get(tool.description, tool.description)}" if tool.description else head


def passed_through(tool: Tool) -> str:
    """The entry of a tool as minified JSON."""
    described = {"name": tool.name, "description": tool.description, "parameters": tool.to_json_schema()}
    return json_text(minified(described))


def emit_tool(tool: Tool, spelling: Spelling, costs: Costs) -> str:
    """One tool as a text of its own, lossless (what a lookup by name replies)."""
    return emit(Catalog(tools=(tool,)), spelling, costs).text
