"""CCP, closure: the names of the tools with their required parameters once more at the end, inside a budget.

Where not all tools fit, those of the greatest importance (see CAS) stay, in the order of the catalog, and the head says
so. Class E: it adds tokens, at most the budget. The text stands behind the catalog, in the prompt and never in the
catalog's own text.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from tscg.ir import Catalog
from tscg.operators.cas import importance
from tscg.operators.recap import entry, fit, required

__all__ = ["ALL", "CLASS", "SOME", "closure"]

CLASS: Literal["R", "S", "E"] = "E"

ALL = "All tools:"
SOME = "Main tools:"


def closure(
    catalog: Catalog, *, budget: int, count: Callable[[str], float], uses: Mapping[str, int] | None = None
) -> str:
    """One line of at most ``budget`` tokens, as ``count`` counts them; empty when nothing fits.

    >>> from tscg.ir import Object, Param, Tool
    >>> get = Tool(name="get", root=Object(params=(Param(name="id", required=True),)))
    >>> both = Catalog(tools=(get, Tool(name="ping", root=Object())))
    >>> closure(both, budget=40, count=len), closure(both, budget=20, count=len)
    ('All tools: get(id) ping()', 'Main tools: get(id)')
    """
    if budget <= 0 or not len(catalog):
        return ""
    entries = [entry(tool, required(tool)) for tool in catalog]
    whole = fit(ALL, entries)
    if count(whole) <= budget:
        return whole
    weight = importance(catalog, uses)
    ranked = sorted(range(len(catalog)), key=lambda place: (-weight[catalog[place].name], catalog[place].name))
    taken: list[int] = []
    left = budget - count(SOME)
    for place in ranked:
        cost = count(f" {entries[place]}")
        if cost <= left:
            left -= cost
            taken.append(place)
    while taken:
        text = fit(SOME, (entries[place] for place in sorted(taken)))
        if count(text) <= budget:
            return text
        taken.pop()  # tokens do not add up exactly: give back the least important
    return ""
