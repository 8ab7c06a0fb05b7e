"""CFO, causal order: a tool stands after the tools that give what it requires.

Class S: the entries stay as they are, in another order. Tools that are tied to nothing, and tools that need each other
in a circle, keep the order they were given in.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from tscg.ir import Catalog
from tscg.operators.graph import Edge, acyclic, edges, topological

__all__ = ["CLASS", "order"]

CLASS: Literal["R", "S", "E"] = "S"


def order(catalog: Catalog, links: Iterable[Edge] | None = None) -> Catalog:
    """The catalog in causal order; ``links`` are those of :func:`tscg.operators.graph.edges` when they are known.

    Stable, and doing it twice changes nothing more.

    >>> from tscg.ir import Object, Param, String, Tool
    >>> close = Tool(name="close_issue", root=Object(params=(Param(name="issue_id", required=True, type=String()),)))
    >>> [tool.name for tool in order(Catalog(tools=(close, Tool(name="list_issues", root=Object()))))]
    ['list_issues', 'close_issue']
    """
    count = len(catalog)
    places = topological(count, acyclic(count, edges(catalog) if links is None else links))
    if places == tuple(range(count)):
        return catalog
    return catalog.replace([catalog[place] for place in places])
