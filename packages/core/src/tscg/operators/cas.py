"""CAS, causal access: the tools that a model most often needs, or most easily mistakes, stand where it reads best.

A model reads the ends of a long context better than its middle. The fragility of a tool is

    F(a) = alpha * importance(a) + (1 - alpha) * distance(a)

with both terms from 0 to 1: how much depends on reading it right, and how far from the ends it would stand. The most
fragile tools go to the ends. Class S: the entries stay as they are, in another order.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from math import log1p
from typing import Literal

from tscg.ir import Array, Catalog, Enum, Integer, Node, Number, Object, String, Tool, Union, children
from tscg.operators.graph import Edge, acyclic
from tscg.operators.naming import words

__all__ = ["ALPHA", "CLASS", "accessibility", "arrange", "fragility", "importance"]

CLASS: Literal["R", "S", "E"] = "S"

#: Share of importance in F. Above a half, so that what a tool is weighs more than where it happens to stand; below one,
#: so that of two tools that matter alike the one in the middle is moved.
ALPHA = 0.7
#: Parts of importance without use counts: required parameters, constraints, names that are easily mistaken. A call
#: fails first of all on a missing argument and on the wrong tool; constraints are checked and can be repaired.
WEIGHTS = (0.4, 0.25, 0.35)
#: Where each part is full: more required parameters, constraints or neighbours make a tool no more fragile.
FULL = (6, 12, 8)
#: Nodes of one tool that are looked at for constraints.
NODES = 200


def accessibility(place: int, count: int) -> float:
    """How well a place of a list is read, from 0 in the middle to 1 at both ends (a parabola).

    >>> [round(accessibility(place, 5), 2) for place in range(5)]
    [1.0, 0.25, 0.0, 0.25, 1.0]
    """
    return 1.0 if count < 2 else (2 * place / (count - 1) - 1) ** 2


# --- importance -------------------------------------------------------------------------------------------------------


def importance(catalog: Catalog, uses: Mapping[str, int] | None = None) -> Mapping[str, float]:
    """How much depends on reading each tool right, by name, from 0 to 1.

    ``uses`` are counts of calls by tool name (on a logarithmic scale, since a few tools get most calls); without them
    the required parameters, the constraints and the number of tools with nearly the same name decide.

    >>> pair = Catalog(tools=(Tool(name="ping", root=Object()), Tool(name="pong", root=Object())))
    >>> importance(pair, {"ping": 20})
    {'ping': 1.0, 'pong': 0.0}
    """
    most = max((uses.get(tool.name, 0) for tool in catalog), default=0) if uses else 0
    if uses and most > 0:
        return {tool.name: log1p(max(0, uses.get(tool.name, 0))) / log1p(most) for tool in catalog}
    near = _neighbours(catalog)
    found: dict[str, float] = {}
    for tool in catalog:
        parts = (sum(param.required for param in tool.params), _constraints(tool), near[tool.name])
        found[tool.name] = sum(
            weight * min(part, full) / full for weight, part, full in zip(WEIGHTS, parts, FULL, strict=True)
        )
    return found


def _neighbours(catalog: Catalog) -> Mapping[str, int]:
    """How many tools have a name that differs by at most one word each way, found through the names less one word."""
    keys = {tool.name: _keys(tool.name) for tool in catalog}
    count = Counter(key for each in keys.values() for key in each)
    return {name: sum(count[key] - 1 for key in each) for name, each in keys.items()}


def _keys(name: str) -> tuple[frozenset[str], ...]:
    spoken = frozenset(words(name))
    less = [spoken - {word} for word in spoken] if len(spoken) > 1 else []
    return (spoken, *less)


def _constraints(tool: Tool) -> int:
    """Constraints of a tool at every depth: listed values, bounds, lengths, patterns, formats, unions."""
    found = seen = 0
    level: Sequence[Node] = (tool.root, *(node for _, node in tool.types))
    while level and seen < NODES:
        seen += len(level)
        found += sum(map(_of_node, level))
        level = [below for node in level for below in children(node)][:NODES]
    return found


def _of_node(node: Node) -> int:
    kind = type(node)
    if kind is String and isinstance(node, String):
        return bool(node.min_length) + (node.max_length is not None) + bool(node.pattern) + bool(node.format)
    if kind is Enum or kind is Union:
        return 1
    if isinstance(node, Number | Integer):
        return (node.low is not None) + (node.high is not None) + (node.multiple_of is not None)
    if isinstance(node, Array):
        return bool(node.min_items) + (node.max_items is not None) + node.unique + bool(node.prefix)
    if isinstance(node, Object):
        return bool(node.min_properties) + (node.max_properties is not None)
    return 0


# --- fragility and order ----------------------------------------------------------------------------------------------


def fragility(
    catalog: Catalog,
    *,
    alpha: float = ALPHA,
    uses: Mapping[str, int] | None = None,
    places: Mapping[str, int] | None = None,
) -> Mapping[str, float]:
    """F of each tool by name, from 0 to 1. ``places`` say where each tool stands; without them by (server, name)."""
    count = len(catalog)
    where = _plain_order(catalog) if places is None else places
    return {
        name: alpha * value + (1 - alpha) * (1 - accessibility(where[name], count))
        for name, value in importance(catalog, uses).items()
    }


def _plain_order(catalog: Catalog) -> Mapping[str, int]:
    """Places in the order that a catalog has without order operators."""
    ordered = sorted(catalog, key=lambda tool: (tool.server, tool.name))
    return {tool.name: place for place, tool in enumerate(ordered)}


def arrange(
    catalog: Catalog, *, alpha: float = ALPHA, uses: Mapping[str, int] | None = None, respect: Iterable[Edge] = ()
) -> Catalog:
    """The catalog with the most fragile tools at both ends, the first at the front, the second at the back, and so on.

    ``respect`` are links (places in this catalog) that hold afterwards; those inside a cycle are left out. The result
    depends on the tools and the links, not on the order that they come in, and doing it twice changes nothing more.

    >>> tools = [Tool(name=name, root=Object()) for name in "abcd"]
    >>> [tool.name for tool in arrange(Catalog(tools=tuple(tools)), uses={"b": 9, "c": 5})]
    ['b', 'a', 'd', 'c']
    """
    count = len(catalog)
    value = fragility(catalog, alpha=alpha, uses=uses)
    plain = _plain_order(catalog)
    rank = [(-value[tool.name], plain[tool.name]) for tool in catalog]
    return catalog.replace([catalog[place] for place in _both_ends(rank, acyclic(count, respect))])


def _both_ends(rank: Sequence[tuple[float, int]], pairs: Sequence[tuple[int, int]]) -> list[int]:
    """Places filled from both ends in turn, each time with the best of those that may stand there.

    At the front a tool may stand when all before it stand there, at the back when all after it do. As long as some are
    left, one of them has nothing left before it and one nothing left after it, so that there is always one for either
    end.
    """
    count = len(rank)
    after: list[list[int]] = [[] for _ in range(count)]
    before: list[list[int]] = [[] for _ in range(count)]
    for one, other in pairs:
        after[one].append(other)
        before[other].append(one)
    front, back = _End(rank, before, after), _End(rank, after, before)
    placed = [False] * count
    ends: tuple[list[int], list[int]] = ([], [])
    for turn in range(count):
        end, line = (back, ends[1]) if turn % 2 else (front, ends[0])
        place = end.best(placed)
        placed[place] = True
        line.append(place)
        end.put(place)
    return [*ends[0], *reversed(ends[1])]


class _End:
    """One end of the list: who may stand there next, the most fragile first."""

    def __init__(
        self, rank: Sequence[tuple[float, int]], waits_for: Sequence[list[int]], opens: Sequence[list[int]]
    ) -> None:
        self.rank, self.opens = rank, opens
        self.waits = [len(each) for each in waits_for]
        self.ready = [(rank[place], place) for place, left in enumerate(self.waits) if not left]
        heapify(self.ready)

    def best(self, placed: Sequence[bool]) -> int:
        while placed[self.ready[0][1]]:
            heappop(self.ready)
        return heappop(self.ready)[1]

    def put(self, place: int) -> None:
        for other in self.opens[place]:
            self.waits[other] -= 1
            if not self.waits[other]:
                heappush(self.ready, (self.rank[other], other))
