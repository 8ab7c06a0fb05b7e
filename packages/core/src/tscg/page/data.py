"""What the page shows, as plain JSON values: figures of the catalog and of each choice, and the texts of each tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tscg.ir import JSON, Catalog
from tscg.modes.compiled import CompiledCatalog
from tscg.page.choices import MANY, choices_of
from tscg.page.figures import Figures
from tscg.page.rungs import Rungs
from tscg.page.spent import spent_of
from tscg.record import replace
from tscg.stats import minified, openai_form
from tscg.tokenizers import Tokenizer, is_exact

__all__ = ["TEXTS", "PageData", "page_data"]

TEXTS = 40_000_000
"""Most characters of entries in a page: those of the first choices that fit, that of the command before all."""

LONG = 1_000_000
"""Characters of a text that is counted anew each time: kept, those of a large catalog would fill the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageData:
    """``figures`` is read at once. The others are read when asked for, and stand in the order of tools and choices.

    ``sources`` holds each tool's JSON with its sentences and what becomes of them; ``texts`` each tool's compiled
    texts by choice; ``around`` for each choice what stands around the entries: how to call, the shared block.
    """

    figures: dict[str, JSON]
    sources: list[dict[str, JSON]]
    texts: list[dict[str, JSON]]
    around: list[dict[str, JSON]]


@dataclass(frozen=True, slots=True, eq=False)
class _Memo:
    """A tokenizer that counts a text once: the choices of a page have most of their texts in common."""

    inner: Tokenizer
    known: dict[str, int] = field(default_factory=dict, repr=False)

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def exact(self) -> bool:
        return is_exact(self.inner)

    def count(self, text: str) -> int:
        if len(text) > LONG:
            return self.inner.count(text)
        found = self.known.get(text)
        if found is None:
            found = self.known[text] = self.inner.count(text)
        return found


def page_data(catalog: Catalog, own: CompiledCatalog, options: Mapping[str, Any]) -> PageData:
    """Compile and count everything that the page shows; ``options`` gave ``own``."""
    # Sorted: the page does not depend on the order in which the tools came.
    catalog = catalog.replace(sorted(catalog, key=lambda tool: (tool.server, tool.name)))
    counter = _Memo(own.tokenizer)
    rungs = Rungs(catalog, own.profile_used)
    choices: list[JSON] = []
    around: list[dict[str, JSON]] = []
    texts: list[dict[str, JSON]] = [{} for _ in catalog]
    bare: dict[str, int] = {}
    room = TEXTS
    for choice in choices_of(catalog, own, options):
        shown: dict[str, JSON] = {
            "mode": choice.mode, "profile": choice.profile, "map": choice.map, "budget": choice.budget,
        }  # fmt: skip
        if choice.compiled is None:
            choices.append({**shown, "error": choice.error})
            around.append({})
            continue
        found = Figures(choice.compiled, catalog, counter, bare)
        shown |= {**found.to_dict(), "rungs": rungs.of(choice.compiled)}
        if not choices or (choice.budget is None and len(catalog) <= MANY):
            shown |= found.operators(replace(choice.compiled, counting=counter).trace)
        room -= sum(map(len, found.entries.values()))
        shown["texts"] = room >= 0
        for held, pair in zip(texts, found.texts(), strict=True) if room >= 0 else ():
            held[str(len(choices))] = list(pair)
        choices.append(shown)
        around.append(found.around())
    figures: dict[str, JSON] = {
        "tokenizer": counter.name,
        "exact": counter.exact,
        **_totals(replace(own, counting=counter)),
        "many": MANY,
        "tools": _tools(catalog, rungs, counter),
        "rungs": rungs.table(counter.count),
        "choices": choices,
    }
    return PageData(figures=figures, sources=rungs.sources(), texts=texts, around=around)


def _totals(own: CompiledCatalog) -> dict[str, JSON]:
    return {
        "baseline": own.stats.baseline_tokens,
        "pretty": own.stats.pretty_tokens,
        "reasons": list(own.reasons),
        "skipped": [str(fragment) for fragment in own.skipped],
    }


def _tools(catalog: Catalog, rungs: Rungs, counter: Tokenizer) -> dict[str, JSON]:
    """Columns: what is told of each tool, whatever the choice."""
    spent = spent_of(catalog, counter.count)
    return {
        "name": [tool.name for tool in catalog],
        "server": [tool.server for tool in catalog] if any(tool.server for tool in catalog) else [],
        "json": [counter.count(minified(openai_form(tool))) for tool in catalog],
        "prose": [one.prose for one in spent],
        "structure": [one.structure for one in spent],
        "repeats": [one.repeats for one in spent],
        "sentences": [one.counts.total() for one in rungs.said],
        "policy": [sum(one.counts[each] for each in one.policy) for one in rungs.said],
    }
