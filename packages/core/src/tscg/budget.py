"""Budget: the best catalog that fits so many tokens.

Detail is a ladder for each tool: name, signature, brief, balanced, and so on up to the profile's own rung. The climb is
greedy by value per token, constraints before prose; how far it goes is found by counting what is really sent.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from tscg.errors import CompileError, Fragment
from tscg.ir import Catalog, Object, Tool
from tscg.pipeline import rewritten
from tscg.profiles import PROFILES, Profile
from tscg.record import replace

__all__ = ["LADDER", "Fitted", "fit"]

LADDER = ("name", "signature", "brief", "balanced", "conservative", "lossless")
"""Rungs of detail, from the name alone to all that there is."""

VALUE = {"signature": 16.0, "brief": 4.0, "balanced": 2.0, "conservative": 1.0, "lossless": 0.5}
"""What a rung is worth: constraints most, then policy, value hints, background."""


class Fitted(NamedTuple):
    """The catalog as it is shown, and the rung of each tool by name."""

    shown: Catalog
    rungs: Mapping[str, str]


def fit(
    catalog: Catalog,
    profile: Profile,
    budget: int,
    size: Callable[[Catalog], int],
    count: Callable[[Sequence[Tool]], Sequence[int]],
) -> Fitted:
    """The catalog with as much detail as ``budget`` tokens allow, at most that of ``profile``.

    ``size`` counts everything that is sent of a catalog; ``count`` the tokens of single entries. Raises CompileError
    where not even the names fit, with the tokens that are missing.
    """
    top = LADDER.index(profile.name) if profile.name in LADDER else LADDER.index("brief")
    names = LADDER[: top + 1]
    rungs = {name: list(rewritten(catalog, PROFILES[name])) for name in names if name != "name"}
    if profile.name in LADDER:
        whole = Fitted(
            shown=catalog.replace(rungs[profile.name]),
            rungs=dict.fromkeys((tool.name for tool in catalog), profile.name),
        )
        if size(whole.shown) <= budget:
            return whole
    rungs["name"] = [_name_only(tool) for tool in catalog]
    steps = _climb(names, {name: count(rungs[name]) for name in names})
    low, high = 0, len(steps)
    least = size(catalog.replace(rungs["name"]))
    if least > budget:
        reason = f"the names alone take {least} tokens, {least - budget} more than the budget of {budget}"
        raise CompileError(
            [Fragment(tool="the catalog", pointer="", reason=reason)], hint="raise the budget or leave tools out"
        )
    while low < high:  # the most steps that fit
        middle = (low + high + 1) // 2
        if size(_at(catalog, rungs, names, steps[:middle]).shown) <= budget:
            low = middle
        else:
            high = middle - 1
    return _at(catalog, rungs, names, steps[:low])


def _name_only(tool: Tool) -> Tool:
    return replace(tool, description="", root=Object(), types=(), opaque=True)


def _climb(names: Sequence[str], costs: Mapping[str, Sequence[int]]) -> list[int]:
    """Places of tools in the order in which each goes up one rung: signatures first, then by value per token."""
    level = [0] * len(costs["name"])
    heap: list[tuple[int, float, int]] = []

    def offer(place: int) -> None:
        up = level[place] + 1
        if up < len(names):
            more = max(costs[names[up]][place] - costs[names[up - 1]][place], 0)
            worth = VALUE[names[up]] / (more + 1)
            heapq.heappush(heap, (0 if up == 1 else 1, -worth, place))

    for place in range(len(level)):
        offer(place)
    steps: list[int] = []
    while heap:
        _, _, place = heapq.heappop(heap)
        level[place] += 1
        steps.append(place)
        offer(place)
    return steps


def _at(catalog: Catalog, rungs: Mapping[str, Sequence[Tool]], names: Sequence[str], steps: Sequence[int]) -> Fitted:
    level = [0] * len(catalog)
    for place in steps:
        level[place] += 1
    shown = [rungs[names[up]][place] for place, up in enumerate(level)]
    return Fitted(
        shown=catalog.replace(shown), rungs={tool.name: names[up] for tool, up in zip(catalog, level, strict=True)}
    )
