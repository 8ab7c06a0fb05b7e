"""Common subschema elimination: what is said in several places is said once.

Three things are shared, each only where it pays in the cost table of the encoding: whole parameters (name, type,
default, prose), types, and sentences of prose. A parameter that is shared is one word in the signature; a type is
``@1``; a sentence is ``^1``. Shared things refer to nothing but types and sentences, so the reader looks up one line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from tscg.costs import Costs
from tscg.language.cells import Cell, Drawn, Item, Pieces

__all__ = ["Shared", "chunks", "share"]

GAIN = 1.0  # tokens that sharing must save by the table, so that its error never makes a text larger
REF = 2.2  # tokens of a reference to a type or sentence: its mark and number
EXPLODES = 300.0  # tokens: where nothing is to be shared, a part that would repeat more than that is named all the same
VARIANT = 2.0  # tokens that every use of a second definition of one name must save beyond its longer label
SHORT = 6  # characters below which a sentence is not worth counting
_split = re.compile(r"((?<=[.!?:;]) |\n)").split
_cut, _keep = "\0", "\1"


class Shared:
    """What is shared: labels of parameters by their key, names of types by cell, numbers of sentences."""

    __slots__ = (
        "chunks", "closed", "definitions", "idents", "items", "keys", "local", "names", "notes", "optional",
        "recursive", "runs", "type_cells", "types",
    )  # fmt: skip

    def __init__(self) -> None:
        self.items: dict[object, str] = {}
        self.optional: dict[object, bool] = {}
        self.definitions: list[Item] = []
        self.names: set[str] = set()
        self.types: dict[int, str] = {}
        self.type_cells: list[Cell] = []
        self.local: set[int] = set()
        self.recursive: dict[str, Item] = {}
        self.notes: dict[str, int] = {}
        self.runs: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self.idents: dict[int, int] = {}
        self.keys: dict[int, object] = {}
        self.closed = False
        self.chunks: dict[str, list[str]] = {}


def chunks(prose: str) -> list[str]:
    """Sentences and what parts them (a blank or a line break), by a plain rule: sentence, gap, sentence ...

    >>> chunks("One. Two: three")
    ['One.', ' ', 'Two:', ' ', 'three']
    """
    if _cut in prose or _keep in prose:
        return _split(prose)
    held = "e.g. " in prose or "i.e. " in prose
    if held:  # no sentence ends there
        prose = prose.replace("e.g. ", f"e.g.{_keep}").replace("i.e. ", f"i.e.{_keep}")
    for end in (". ", ": ", "; ", "! ", "? "):  # five replacements are much faster than one regular expression
        if end in prose:
            prose = prose.replace(end, f"{end[0]}{_cut} {_cut}")
    if "\n" in prose:
        prose = prose.replace("\n", f"{_cut}\n{_cut}")
    return (prose.replace(_keep, " ") if held else prose).split(_cut)


class _Sharing:
    def __init__(self, tools: Sequence[Drawn], costs: Costs) -> None:
        self.tools, self.costs, self.out = tools, costs, Shared()
        self.cells: dict[object, int] = {}
        self.unique: list[Cell] = []
        self.count: dict[object, int] = {}
        self.needed: dict[object, int] = {}
        self.first: dict[object, Item] = {}

    # --- identity: equal cells get one number, equal parameters one key -----------------------------------------------

    def ident(self, cell: Cell) -> int:
        found = self.out.idents.get(id(cell))
        if found is not None:
            return found
        if cell.items is None:
            key: object = (self.pieces_key(cell.pieces), cell.tail, cell.prose)
        else:
            parts = tuple((self.item_key(item), item.required) for item in cell.items)
            key = (cell.head, parts, cell.closed, cell.text, cell.tail, cell.prose)
        number = self.cells.get(key)
        if number is None:
            number = self.cells[key] = len(self.unique)
            self.unique.append(cell)
            for item in cell.items or ():
                self.seen(item)
        self.out.idents[id(cell)] = number
        return number

    def pieces_key(self, pieces: Pieces) -> object:
        if not pieces:
            return ""
        if len(pieces) == 1 and isinstance(pieces[0], str):
            return pieces[0]
        return tuple(piece if isinstance(piece, str) else self.ident(piece) for piece in pieces)

    def item_key(self, item: Item) -> object:
        key = item.key
        if key is None:
            key = self.out.keys.get(id(item))
            if key is None:
                key = (item.name, self.pieces_key(item.pieces), item.tail, item.prose)
                if all(isinstance(piece, str) for piece in item.pieces):
                    item.key = key
                else:
                    self.out.keys[id(item)] = key
        return key

    def seen(self, item: Item) -> None:
        if item.name[0] in "!*@":
            return
        key = item.key or self.item_key(item)
        count = self.count.get(key)
        if count is None:
            self.count[key] = 1
            self.first[key] = item
        else:
            self.count[key] = count + 1
        if item.required:
            self.needed[key] = self.needed.get(key, 0) + 1

    def read(self) -> None:
        closed = opened = 0
        for tool in self.tools:
            if tool.cell is not None:
                for item in tool.cell.items or ():
                    self.seen(item)
                closed += tool.cell.closed
                opened += not tool.cell.closed
            self.pieces_key(tool.after)
            for _, item in tool.types:
                self.item_key(item)
        for cell in self.unique:
            if cell.items is not None:
                closed += cell.closed
                opened += not cell.closed
        self.out.closed = closed > opened + 4  # the header that says so costs about four marks

    # --- parameters ---------------------------------------------------------------------------------------------------

    def size(self, pieces: Pieces, memo: dict[int, float]) -> float:
        total = 0.0
        for piece in pieces:
            if isinstance(piece, str):
                total += self.costs.structure(piece)
            else:
                total += self.cell_size(piece, memo)
        return total

    def cell_size(self, cell: Cell, memo: dict[int, float]) -> float:
        number = self.out.idents[id(cell)]
        if number in memo:
            return memo[number]
        if number in self.out.types:
            return REF
        memo[number] = REF
        if cell.items is None:
            total = self.size(cell.pieces, memo)
        else:
            total = 2.0 + self.costs.structure(cell.text)
            for item in cell.items:
                if self.item_key(item) in self.out.items:
                    total += 1.0
                else:
                    total += self.costs.structure(item.name) + self.item_size(item, memo) + (not item.required)
        memo[number] = total
        return total

    def item_size(self, item: Item, memo: dict[int, float]) -> float:
        prose = self.costs.prose(item.prose) + 0.6 if item.prose else 0.0
        return self.size(item.pieces, memo) + self.costs.structure(item.tail) + prose

    def share_items(self) -> None:
        memo: dict[int, float] = {}
        by_name: dict[str, list[tuple[float, int, object]]] = {}
        for order, (key, count) in enumerate(self.count.items()):
            if count < 2:
                continue
            item = self.first[key]
            each = self.item_size(item, memo)
            needed = self.needed.get(key, 0)
            agree = max(needed, count - needed)
            marks = count - needed
            gain = (count - 1) * each + marks - (count - agree) - self.costs.structure(item.name) - 1.5
            if gain > GAIN:
                by_name.setdefault(item.name, []).append((gain, order, key))
        for name, found in by_name.items():
            found.sort(key=lambda row: (-self.count[row[2]], row[1]))  # the most used has the bare name
            taken = 0
            for gain, _, key in found:
                if taken and gain - (REF + VARIANT) * self.count[key] <= GAIN:
                    continue
                taken += 1
                label = name if taken == 1 else f"{name}~{taken}"
                self.out.items[key] = label
                self.out.names.add(label)
                self.out.optional[key] = self.needed.get(key, 0) * 2 < self.count[key]
                self.out.definitions.append(self.first[key])

    # --- types --------------------------------------------------------------------------------------------------------

    def share_types(self, forced_only: bool = False) -> None:
        users: dict[int, set[int]] = {}
        uses: Counter[int] = Counter()
        below: dict[int, list[int]] = {}

        def use(pieces: Pieces, tool: int, into: list[int] | None) -> None:
            for piece in pieces:
                if not isinstance(piece, str):
                    number = self.out.idents[id(piece)]
                    uses[number] += 1
                    users.setdefault(number, set()).add(tool)
                    if into is not None:
                        into.append(number)

        def use_item(item: Item, tool: int, into: list[int] | None) -> None:
            if item.key is None and self.item_key(item) not in self.out.items:
                use(item.pieces, tool, into)

        for i, tool in enumerate(self.tools):
            for item in (tool.cell.items or ()) if tool.cell is not None else ():
                use_item(item, i, None)
            use(tool.after, i, None)
            for _, item in tool.types:
                use(item.pieces, i, None)
        for item in self.out.definitions:
            use(item.pieces, -1, None)
        for number, cell in enumerate(self.unique):
            into = below.setdefault(number, [])
            use(cell.pieces, -2 - number, into)
            for item in cell.items or ():
                use_item(item, -2 - number, into)
        self.spread(users, below)
        memo: dict[int, float] = {}
        for number, cell in enumerate(self.unique):  # children come before their parents
            forced = bool(cell.prose or cell.tail)
            gain = (uses[number] - 1) * self.cell_size(cell, memo) - uses[number] * REF - 3.0
            if not forced and (uses[number] < 2 or gain <= (EXPLODES if forced_only else GAIN)):
                continue
            memo[number] = REF
            if not forced_only and (len(users.get(number, ())) > 1 or -1 in users.get(number, ())):
                self.out.types[number] = ""
                self.out.type_cells.append(cell)
            else:
                self.out.local.add(number)

    def spread(self, users: dict[int, set[int]], below: dict[int, list[int]]) -> None:
        """Tools that use a cell use what is in it: parents come after their children, so walk backwards."""
        for number in range(len(self.unique) - 1, -1, -1):
            mine = {tool for tool in users.get(number, ()) if tool >= -1}
            users[number] = mine
            if len(mine) > 2:
                mine = set(sorted(mine)[:2])
            for child in below.get(number, ()):
                users.setdefault(child, set()).update(mine)

    def share_recursive(self) -> None:
        found: dict[str, list[tuple[object, Item]]] = {}
        for tool in self.tools:
            for name, item in tool.types:
                found.setdefault(name, []).append((self.item_key(item), item))
        for name, rows in found.items():
            if len(rows) > 1 and all(key == rows[0][0] for key, _ in rows):
                self.out.recursive[name] = rows[0][1]

    # --- sentences ----------------------------------------------------------------------------------------------------

    def proses(self) -> Iterator[str]:
        for tool in self.tools:
            if tool.prose:
                yield tool.prose
            if tool.note is not None and tool.note[1]:
                yield tool.note[1]
            for item in (tool.cell.items or ()) if tool.cell is not None else ():
                if item.prose and self.item_key(item) not in self.out.items:
                    yield item.prose
            for name, item in tool.types:
                if item.prose and name not in self.out.recursive:
                    yield item.prose
        for item in (*self.out.definitions, *self.out.recursive.values()):
            if item.prose:
                yield item.prose
        for cell in self.unique:
            if cell.prose:
                yield cell.prose
            for item in cell.items or ():
                if item.prose and self.item_key(item) not in self.out.items:
                    yield item.prose

    def share_notes(self) -> None:
        split = [self.out.chunks.setdefault(prose, chunks(prose)) for prose in self.proses()]
        count = Counter(part for parts in split for part in parts[::2] if len(part) >= SHORT)
        again = {part: n for part, n in count.items() if n > 1}
        if not again:
            return
        broken = Counter(
            parts[i] for parts in split for i in range(2, len(parts), 2) if parts[i - 1] == "\n" and parts[i] in again
        )
        for run in _runs(split, again):
            text, n = "".join(run), again[run[0]]
            if n > 2 and broken[run[0]] == n:
                text = f"\n{text}"  # it always starts a line: the break is part of it
            if (n - 1) * self.costs.prose(text) - n * REF - 3.0 > GAIN:
                self.out.notes[text] = 0
                self.out.runs.setdefault(run[0], []).append((run, text))


def _runs(split: Iterable[list[str]], again: dict[str, int]) -> list[tuple[str, ...]]:
    """Sentences that are said again, those that always follow one another as one run (with the gaps between)."""
    follow: Counter[tuple[str, str, str]] = Counter()
    for parts in split:
        for i in range(0, len(parts) - 2, 2):
            if parts[i] in again and parts[i + 2] in again:
                follow[parts[i], parts[i + 1], parts[i + 2]] += 1
    after = {a: (gap, b) for (a, gap, b), n in follow.items() if n == again[a] == again[b] and a != b}
    begun = {b for _, b in after.values()}
    runs: list[tuple[str, ...]] = []
    placed: set[str] = set()
    for part in (*(part for part in again if part not in begun), *again):
        if part in placed:
            continue
        run = [part]
        placed.add(part)
        while run[-1] in after and after[run[-1]][1] not in placed:
            run += after[run[-1]]
            placed.add(run[-1])
        runs.append(tuple(run))
    return runs


def share(tools: Sequence[Drawn], costs: Costs, everything: bool = True) -> Shared:
    """Decide what these tools share; not ``everything``: only types that need a name of their own."""
    work = _Sharing(tools, costs)
    work.read()
    if not everything:
        work.share_types(forced_only=True)
        return work.out
    work.share_items()
    work.share_types()
    work.share_recursive()
    work.share_notes()
    return work.out
