"""SAD-F, selective anchors: within a budget, the most fragile atoms of the catalog once more at its end.

An atom is a tool's name, its required parameters, or the listed values of one of them. Each is worth the fragility F of
its tool
(see CAS) times a weight, and those with the most worth a token are taken. Class E: it adds tokens, at most the budget.

The text stands behind the catalog, in the prompt and never in the catalog's own text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from typing import Literal, NamedTuple

from tscg.ir import Catalog, Tool
from tscg.operators.cas import ALPHA, fragility
from tscg.operators.recap import entry, fit, listed, required

__all__ = ["CLASS", "HEAD", "anchors"]

CLASS: Literal["R", "S", "E"] = "E"

HEAD = "Key tools:"
#: Worth of a name, of the required parameters together, and of the listed values of one, as parts of the tool's F. A
#: wrong name loses the whole call, a missing argument is named by the validator and costs a turn, a wrong value is
#: often repaired.
WORTH = (1.0, 0.8, 0.4)
#: Lists of more values than this are no anchor: they would take the budget of several tools.
VALUES = 12


class _Atom(NamedTuple):
    """What can be taken next: worst first value is the best (heap order), ``kind`` 0 name, 1 parameters, 2 values of
    ``param``."""

    loss: float
    place: int
    kind: int
    param: str
    cost: float


class _Taken(NamedTuple):
    params: bool
    values: tuple[str, ...]


def anchors(
    catalog: Catalog, *, budget: int, k: int, count: Callable[[str], float], uses: Mapping[str, int] | None = None
) -> str:
    """One line of at most ``budget`` tokens, as ``count`` counts them, over at most ``k`` tools; empty when nothing
    fits.

    The order of the catalog is taken for the order of its entries in the prompt.

    >>> from tscg.ir import Object, Param, String
    >>> tool = Tool(name="get_issue", root=Object(params=(Param(name="issue_id", required=True, type=String()),)))
    >>> anchors(Catalog(tools=(tool,)), budget=12, k=5, count=lambda text: len(text) / 4)
    'Key tools: get_issue(issue_id)'
    """
    if budget <= 0 or k <= 0 or not len(catalog):
        return ""
    worth = fragility(catalog, alpha=ALPHA, uses=uses, places={tool.name: place for place, tool in enumerate(catalog)})
    ranked = sorted(range(len(catalog)), key=lambda place: (-worth[catalog[place].name], catalog[place].name))
    picked = _pick(catalog, ranked[:k], worth, budget - count(HEAD), count)
    while picked:
        text = fit(HEAD, _entries(catalog, picked))
        if count(text) <= budget:
            return text
        picked.pop()  # tokens do not add up exactly: give back what was taken last
    return ""


def _pick(
    catalog: Catalog, places: list[int], worth: Mapping[str, float], left: float, count: Callable[[str], float]
) -> list[_Atom]:
    """Atoms in the order taken: the most worth a token first, a tool's name before its parameters, these before
    values."""
    heap: list[_Atom] = []
    taken: list[_Atom] = []

    def offer(place: int, kind: int, text: str, param: str = "") -> None:
        cost = max(count(text), 1e-9)
        heappush(heap, _Atom(-worth[catalog[place].name] * WORTH[kind] / cost, place, kind, param, cost))

    for place in places:
        offer(place, 0, f" {entry(catalog[place])}")
    while heap:
        atom = heappop(heap)
        if atom.cost > left:
            continue
        left -= atom.cost
        taken.append(atom)
        tool = catalog[atom.place]
        params = required(tool)
        if atom.kind == 0 and params:
            offer(atom.place, 1, entry(tool, params)[len(entry(tool)) :])
        if atom.kind == 1:
            for param in params:
                values = listed(param)
                if values and len(values) <= VALUES:
                    plain, full = entry(tool, [param]), entry(tool, [param], [param.name])
                    offer(atom.place, 2, full[len(plain) - 1 : -1], param.name)
    return taken


def _entries(catalog: Catalog, picked: list[_Atom]) -> list[str]:
    """The entries of what was taken, in the order of the catalog."""
    found: dict[int, _Taken] = {}
    for atom in picked:
        before = found.get(atom.place, _Taken(False, ()))
        values = (*before.values, atom.param) if atom.kind == 2 else before.values
        found[atom.place] = _Taken(before.params or atom.kind == 1, values)
    return [_entry(catalog[place], found[place]) for place in sorted(found)]


def _entry(tool: Tool, taken: _Taken) -> str:
    return entry(tool, required(tool) if taken.params else None, taken.values)
