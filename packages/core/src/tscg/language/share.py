"""Common subschema elimination: what is said in several places is said once.

Three things are shared, each only where it pays in the cost table of the encoding: whole parameters (name, type,
default, prose), types, and sentences of prose. A parameter that is shared is one word in the signature; a type is
``@1``; a sentence is ``^1``. Shared things refer to nothing but types and sentences, so the reader looks up one line.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from itertools import chain, compress, filterfalse, repeat
from operator import contains, itemgetter, not_

from tscg.costs import Costs
from tscg.language.cells import Cell, Content, Drawn, Item, Pieces
from tscg.language.draw import Drawing

__all__ = ["Shared", "batches", "chunks", "parted", "share"]

GAIN = 1.0  # tokens that sharing must save by the table, so that its error never makes a text larger
REF = 2.2  # tokens of a reference to a type or sentence: its mark and number
EXPLODES = 300.0  # tokens: where nothing is to be shared, a part that would repeat more than that is named all the same
VARIANT = 2.0  # tokens that every use of a second definition of one name must save beyond its longer label
BATCH = 80  # texts that are searched in one go: more of them take new memory, which costs more than it saves
SHORT = 6  # characters below which a sentence is not worth counting
_split = re.compile(r"((?<=[.!?:;]) |\n)").split
_cut, _between = "\0", "\1"  # marks that prose does not have
_HELD = frozenset(("e.g", "i.e"))

_pieces, _prose = itemgetter(1), itemgetter(3)  # of the content of a parameter
_above_one = (1).__lt__


class Shared:
    """What is shared: labels of parameters by number, names of types by cell, numbers of sentences.

    The number of a parameter is that of its content. ``contents`` has all of them by item, so each twice; ``texts`` is
    all prose that is shown.
    """

    __slots__ = (
        "chunks", "closed", "contents", "items", "local", "names", "notes", "optional", "recursive", "runs", "texts",
        "type_cells", "types",
    )  # fmt: skip

    def __init__(self) -> None:
        self.contents: list[Content] = []
        self.items: dict[int, str] = {}
        self.optional: dict[int, bool] = {}
        self.names: set[str] = set()
        self.types: dict[int, str] = {}
        self.type_cells: list[Cell] = []
        self.local: set[int] = set()
        self.recursive: dict[str, Item] = {}
        self.notes: dict[str, int] = {}
        self.runs: dict[str, list[tuple[tuple[str, ...], str]]] = {}
        self.texts: dict[str, None] = {}
        self.chunks: dict[str, list[str]] = {}  # of the texts in which a sentence is shared
        self.closed = False


def chunks(prose: str) -> list[str]:
    """Sentences and what parts them (a blank or a line break), by a plain rule: sentence, gap, sentence ...

    >>> chunks("One. Two: three")
    ['One.', ' ', 'Two:', ' ', 'three']
    """
    if _cut in prose or _between in prose:
        return _split(prose)
    return _marked(prose).split(_cut)


def _marked(prose: str) -> str:
    """The prose with a mark before and behind each gap."""
    for end in ".:;!?":  # five splits are much faster than one regular expression, and than replacements
        if end in prose:
            parts = prose.rsplit(f"{end} ")  # from behind, as then the first character is looked for, which is rarer
            if end == ".":  # no sentence ends there
                for i in reversed([i for i, part in enumerate(parts[:-1]) if part[-3:] in _HELD]):
                    parts[i : i + 2] = [f"{parts[i]}. {parts[i + 1]}"]
            prose = f"{end}{_cut} {_cut}".join(parts)
    if "\n" in prose:
        prose = prose.replace("\n", f"{_cut}\n{_cut}")
    return prose


class _Sharing:
    def __init__(self, drawing: Drawing, tools: Sequence[Drawn], costs: Costs) -> None:
        self.drawing, self.tools, self.costs, self.out = drawing, tools, costs, Shared()
        self.contents = self.out.contents = [*drawing.numbers, *drawing.numbers]
        self.contents[::2] = self.contents[1::2] = drawing.numbers
        apart = map(set(drawing.unique).isdisjoint, map(_pieces, drawing.numbers))
        held = list(compress(drawing.numbers.values(), map(not_, apart)))
        self.held = {*held, *map((1).__or__, held)}  # items with a cell in their type

    def read(self) -> None:
        """Are most objects closed? The header that says so costs about four marks."""
        whole = [tool.closed for tool in self.tools if tool.items is not None]
        whole += [cell.closed for cell in self.drawing.unique if cell.items is not None]
        self.out.closed = 2 * sum(whole) > len(whole) + 4

    # --- parameters ---------------------------------------------------------------------------------------------------

    def size(self, pieces: Pieces, memo: dict[int, float]) -> float:
        total, chars = 0.0, self.costs.structure_chars
        for piece in pieces:
            if isinstance(piece, str):
                total += len(piece) / chars
            else:
                total += self.cell_size(piece, memo)
        return total

    def cell_size(self, cell: Cell, memo: dict[int, float]) -> float:
        number = cell.ident
        if number in memo:
            return memo[number]
        if number in self.out.types:
            return REF
        if cell.items is None:
            total = self.size(cell.pieces, memo)
        else:
            total = 2.0 + self.costs.structure(cell.text)
            for item in cell.items:
                if item & -2 in self.out.items:
                    total += 1.0
                else:
                    content = self.contents[item]
                    name = self.costs.structure(content[0])
                    total += name + self.item_size(content, memo) + (not item & 1)
        memo[number] = total
        return total

    def item_size(self, content: Content, memo: dict[int, float]) -> float:
        _, pieces, tail, prose = content
        said = self.costs.prose(prose) + 0.6 if prose else 0.0
        return self.size(pieces, memo) + self.costs.structure(tail) + said

    def share_items(self) -> None:
        out, contents, seen = self.out, self.contents, self.drawing.seen
        uses = [0] * len(contents)
        for item in seen:
            uses[item] += 1
        counts: dict[int, int] = {}  # of the contents that are used more than once, in the order of their first use
        for item in seen:
            used = uses[item] + uses[item ^ 1]
            if used > 1:
                counts[item & -2] = used
        memo: dict[int, float] = {}
        by_name: dict[str, list[tuple[float, int, int]]] = {}
        for order, (key, used) in enumerate(counts.items()):
            name = contents[key][0]
            if name[0] in "!*@":
                continue
            needed = uses[key + 1]
            agree = max(needed, used - needed)
            marks = used - needed
            each = self.item_size(contents[key], memo)
            gain = (used - 1) * each + marks - (used - agree) - self.costs.structure(name) - 1.5
            if gain > GAIN:
                by_name.setdefault(name, []).append((gain, order, key))
        for name, found in by_name.items():
            found.sort(key=lambda row: (-counts[row[2]], row[1]))  # the most used has the bare name
            taken = 0
            for gain, _, key in found:
                if taken and gain - (REF + VARIANT) * counts[key] <= GAIN:
                    continue
                taken += 1
                label = name if taken == 1 else f"{name}~{taken}"
                out.items[key] = label
                out.names.add(label)
                out.optional[key] = uses[key + 1] * 2 < counts[key]
        self.held.difference_update(out.items, map((1).__or__, out.items))

    # --- types --------------------------------------------------------------------------------------------------------

    def share_types(self, forced_only: bool = False) -> None:
        unique, out = self.drawing.unique, self.out
        if not unique:
            return
        uses, users = self.users()
        memo: dict[int, float] = {}
        for number, cell in enumerate(unique):  # children come before their parents
            if not (cell.prose or cell.tail):
                if uses[number] < 2:
                    continue
                gain = (uses[number] - 1) * self.cell_size(cell, memo) - uses[number] * REF - 3.0
                if gain <= (EXPLODES if forced_only else GAIN):
                    continue
            memo[number] = REF
            if not forced_only and (len(users[number]) > 1 or -1 in users[number]):
                out.types[number] = ""
                out.type_cells.append(cell)
            else:
                out.local.add(number)

    def users(self) -> tuple[list[int], list[set[int]]]:
        """How often each cell is used, and by which tools (-1 is the shared block)."""
        unique, held, contents = self.drawing.unique, self.held, self.contents
        uses = [0] * len(unique)
        users: list[set[int]] = [set() for _ in unique]
        below: list[list[int]] = [[] for _ in unique]

        def use(pieces: Pieces, tool: int) -> None:
            for piece in pieces:
                if type(piece) is Cell:
                    uses[piece.ident] += 1
                    users[piece.ident].add(tool)
                    if tool < -1:
                        below[-2 - tool].append(piece.ident)

        for i, tool in enumerate(self.tools):
            for item in held.intersection(tool.items or ()):
                use(contents[item][1], i)
            if tool.after:
                use(tool.after, i)
            for _, item in tool.types:
                use(contents[item][1], i)
        for key in self.out.items:
            use(contents[key][1], -1)
        for number, cell in enumerate(unique):
            use(cell.pieces, -2 - number)
            for item in held.intersection(cell.items or ()):
                use(contents[item][1], -2 - number)
        _spread(users, below)
        return uses, users

    def share_recursive(self) -> None:
        found: dict[str, list[Item]] = {}
        for tool in self.tools:
            for name, item in tool.types:
                found.setdefault(name, []).append(item)
        for name, items in found.items():
            if len(items) > 1 and all(item == items[0] for item in items):
                self.out.recursive[name] = items[0]

    # --- sentences ----------------------------------------------------------------------------------------------------

    def proses(self) -> list[str]:
        """Every text that is shown, as often as it is."""
        recursive, tools = self.out.recursive, self.tools
        texts = list(map(_prose, self.contents))
        shared = [texts[key] for key in self.out.items]
        for key in self.out.items:
            texts[key] = texts[key + 1] = ""
        text = texts.__getitem__
        out: list[str] = []
        for tool in tools:
            out.append(tool.prose)
            if tool.note is not None:
                out.append(tool.note[1])
            if tool.items:
                out += map(text, tool.items)
            if tool.types:
                out += [texts[item] for name, item in tool.types if name not in recursive]
        out += shared
        out += map(text, recursive.values())
        for cell in self.drawing.unique:
            out.append(cell.prose)
            if cell.items:
                out += map(text, cell.items)
        return list(filter(None, out))

    def share_notes(self, proses: list[str]) -> None:
        out = self.out
        several = parted(out.texts)
        counts = Counter(chain.from_iterable(map(several.get, proses, zip(proses))))
        twice = compress(counts, map(_above_one, counts.values()))
        again = {part: counts[part] for part in twice if len(part) >= SHORT}  # what parts two sentences is shorter
        if not again:
            return
        split = list(filter(None, map(several.get, proses)))
        split = list(compress(split, map(not_, map(again.keys().isdisjoint, split))))
        lines = [compress(parts[2::2], map("\n".__eq__, parts[1::2])) for parts in split if "\n" in parts]
        broken = Counter(chain.from_iterable(lines))
        for run in _runs(split, again):
            text, n = "".join(run), again[run[0]]
            if n > 2 and broken[run[0]] == n:
                text = f"\n{text}"  # it always starts a line: the break is part of it
            if (n - 1) * self.costs.prose(text) - n * REF - 3.0 > GAIN:
                out.notes[text] = 0
                out.runs.setdefault(run[0], []).append((run, text))
        apart = map(out.runs.keys().isdisjoint, several.values())
        out.chunks = dict(compress(several.items(), map(not_, apart)))
        out.chunks.update((text, [text]) for text in out.runs if text in out.texts and text not in several)


def _spread(users: list[set[int]], below: list[list[int]]) -> None:
    """Tools that use a cell use what is in it: parents come after their children, so walk backwards."""
    for number in range(len(users) - 1, -1, -1):
        mine = users[number] = {tool for tool in users[number] if tool >= -1}
        if len(mine) > 2:
            mine = set(sorted(mine)[:2])
        for child in below[number]:
            users[child].update(mine)


def batches(texts: Iterable[str]) -> list[list[str]]:
    """The texts in groups, to be joined and searched; those with other than ASCII characters, which is slow, apart."""
    plain, others = list(filter(str.isascii, texts)), list(filterfalse(str.isascii, texts))
    return [every[i : i + BATCH] for every in (plain, others) for i in range(0, len(every), BATCH)]


def parted(texts: Collection[str]) -> dict[str, list[str]]:
    """``chunks`` of each text that has more than one, found in one go over many of them.

    >>> parted(["One. Two", "Three"])
    {'One. Two': ['One.', ' ', 'Two']}
    """
    found: dict[str, list[str]] = {}
    for group in batches(texts):
        joined = _between.join(group)
        marked = [] if _cut in joined else _marked(joined).split(_between)
        if len(marked) == len(group):
            several = list(map(contains, marked, repeat(_cut)))
            parts = map(str.split, compress(marked, several), repeat(_cut))
            found.update(zip(compress(group, several), parts, strict=True))
        else:
            split = zip(group, map(chunks, group), strict=True)
            found.update((text, parts) for text, parts in split if len(parts) > 1)
    return found


def _runs(split: Iterable[list[str]], again: dict[str, int]) -> list[tuple[str, ...]]:
    """Sentences that are said again, those that always follow one another as one run (with the gaps between)."""
    follow: Counter[tuple[str, str, str]] = Counter()
    for parts in split:
        for i in range(0, len(parts) - 2, 2) if len(parts) > 1 else ():
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


def share(drawing: Drawing, tools: Sequence[Drawn], costs: Costs, everything: bool = True) -> Shared:
    """Decide what these tools share; not ``everything``: only types that need a name of their own."""
    work = _Sharing(drawing, tools, costs)
    work.read()
    if everything:
        work.share_items()
        work.share_recursive()
    work.share_types(forced_only=not everything)
    proses = work.proses()
    work.out.texts = dict.fromkeys(proses)
    if everything and proses:
        work.share_notes(proses)
    return work.out
