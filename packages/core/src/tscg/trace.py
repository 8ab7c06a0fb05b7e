"""Trace: what each operator did, tool by tool, with token deltas, and the paper's bound checked on this catalog."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tscg.ir import Catalog, Note, Tool
from tscg.language.emit import emit
from tscg.language.spelling import DEFAULT, SLOTS, Spelling, spelling_of
from tscg.operators.detail import Keep
from tscg.operators.prose import Site, map_notes
from tscg.pipeline import OPERATORS, policies_hidden, rewritten
from tscg.profiles import Profile
from tscg.record import replace as changed

if TYPE_CHECKING:
    from tscg.modes.compiled import CompiledCatalog

NOTHING = Profile(name="name", keep=Keep(tool=(), parameter=(), other=()))

__all__ = ["Bound", "Step", "Trace", "hidden_sentences", "trace_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operator: its class, tokens of the catalog before and after it, and what it added or took (negative) by tool.

    ``touched`` is the share of the tokens before that stand in tools it changed, ``taken`` the share of those it took.
    """

    operator: str
    kind: str
    before: int
    after: int
    per_tool: Mapping[str, int]
    touched: float
    taken: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Bound:
    """Theorem 3.1 of the paper, |tok(P(S))| <= |tok(S)| (1 - sum r_i f_i), for the class R operators on a catalog."""

    source: int
    result: int
    sum_rf: float

    @property
    def limit(self) -> float:
        """The right side, in tokens."""
        return self.source * (1 - self.sum_rf)

    @property
    def holds(self) -> bool:
        """Does the bound hold? (Half a token for rounding.)"""
        return self.result <= self.limit + 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """The steps in the order of the pipeline, the bound, reasons, hidden policy by tool, tools passed through."""

    steps: tuple[Step, ...]
    bound: Bound
    reasons: tuple[str, ...]
    hidden_policy: Mapping[str, tuple[str, ...]]
    passed_through: tuple[str, ...]
    shortened: tuple[str, ...]


def trace_of(compiled: CompiledCatalog) -> Trace:
    """Run the pipeline again operator by operator and count between."""
    count = compiled.tokenizer.count
    profile, encoding = compiled.profile_used, compiled.encoding
    chosen, plain = spelling_of(encoding), _plain()
    from tscg.stats import openai_form

    source = {tool.name: count(_minified(openai_form(tool))) for tool in compiled.catalog}
    stages: list[tuple[str, Catalog, Spelling, bool]] = [("parse and emit", compiled.catalog, plain, False)]
    stages.append(("TAS", compiled.catalog, chosen, False))
    bare = Profile(name=profile.name)
    kept = compiled.catalog
    for name, switches in (
        ("SDM", {"sdm": profile.sdm}), ("DRO", {"sdm": profile.sdm, "dro": profile.dro}),
        ("detail", {
            "sdm": profile.sdm, "dro": profile.dro, "keep": profile.keep, "titles": profile.titles,
            "examples": profile.examples,
        }),
    ):  # fmt: skip
        if name.lower() in switches and not switches[name.lower()]:
            continue
        kept = rewritten(compiled.catalog, changed(bare, **switches))
        stages.append((name, kept, chosen, False))
    if compiled.budget is not None:
        stages.append(("budget", compiled.shown, chosen, False))
    stages.append(("CSE", compiled.shown, chosen, True))
    steps: list[Step] = []
    before = source
    total = count(_minified([openai_form(tool) for tool in compiled.catalog])) if len(compiled.catalog) else 0
    first = total
    rf = 0.0
    for name, catalog, spelling, sharing in stages:
        emitted = emit(catalog, spelling, compiled.costs, sharing=sharing)
        after = {tool.name: count(entry) for tool, entry in zip(catalog, emitted.entries, strict=True)}
        now = count(emitted.text)
        delta = {tool: after[tool] - before.get(tool, 0) for tool in after if after[tool] != before.get(tool, 0)}
        touched = sum(before.get(tool, 0) for tool in delta)
        share = min(1.0, touched / sum(before.values())) if touched else 0.0
        gone = total - now
        taken = gone / (share * total) if share and total else 0.0
        kind = next((operator.kind for operator in OPERATORS if operator.name == name), "R")
        steps.append(
            Step(operator=name, kind=kind, before=total, after=now, per_tool=delta, touched=share, taken=taken)
        )
        rf += max(gone, 0) / first if first else 0.0
        before, total = after, now
    steps += _added(compiled, total)
    hidden = {tool.name: _policy(tool, compiled) for tool in compiled.catalog}
    return Trace(
        steps=tuple(steps),
        bound=Bound(source=first, result=total, sum_rf=rf),
        reasons=compiled.reasons,
        hidden_policy={name: found for name, found in hidden.items() if found},
        passed_through=tuple(
            tool.name
            for tool, entry in zip(compiled.shown, compiled.emitted.entries if compiled.emitted else (), strict=False)
            if entry[:1] == "{"
        ),
        shortened=tuple(name for name, found in hidden_sentences(compiled.catalog, compiled.shown).items() if found),
    )


def _policy(tool: Tool, compiled: CompiledCatalog) -> tuple[str, ...]:
    """The policy sentences that the tool's rung of the ladder hides."""
    rung = compiled.details.get(tool.name, "")
    if rung not in ("signature", "name"):
        return ()
    from tscg.profiles import PROFILES

    return policies_hidden(tool, PROFILES["signature"]) if rung == "signature" else policies_hidden(tool, NOTHING)


def _added(compiled: CompiledCatalog, total: int) -> list[Step]:
    """The operators that add a text behind the catalog."""
    out = [
        Step(operator=name, kind="S", before=total, after=total, per_tool={}, touched=0.0, taken=0.0)
        for name in ("CFL", "CFO", "CAS")
        if name.lower() in compiled.active and (name == "CFL" or not compiled.given_order)
    ]
    for name, text in (("SAD-F", compiled.anchors), ("CCP", compiled.closure)):
        if text:
            more = compiled.tokenizer.count(text)
            out.append(
                Step(operator=name, kind="E", before=total, after=total + more, per_tool={}, touched=0.0, taken=0.0)
            )
            total += more
    return out


def _plain() -> Spelling:
    """The spelling before TAS: the last admissible one of each slot."""
    return changed(DEFAULT, **{slot: choices[-1] for slot, choices in SLOTS.items()})


def _minified(value: object) -> str:
    from tscg.schema import minified

    return minified(value)


def hidden_sentences(catalog: Catalog, shown: Catalog) -> Mapping[str, tuple[str, ...]]:
    """By tool, the sentences of the catalog that the shown one does not have."""
    from tscg.operators.detail import hidden

    out: dict[str, tuple[str, ...]] = {}
    for tool, kept in zip(catalog, shown, strict=True):
        if tool is kept:
            continue
        before, after = _proses(tool), _proses(kept)
        found = tuple(sentence for place, text in before.items() for sentence in hidden(text, after.get(place, "")))
        if found:
            out[tool.name] = found
    return out


def _proses(tool: Tool) -> dict[tuple[str, str, int], str]:
    """Prose of a tool by place: what it is of, its name, and how often that came before."""
    out: dict[tuple[str, str, int], str] = {}
    seen: dict[tuple[str, str], int] = {}

    def read(note: Note, site: Site) -> Note:
        key = (site.of, site.name)
        seen[key] = seen.get(key, 0) + 1
        if note.description:
            out[(*key, seen[key])] = note.description
        return note

    map_notes(tool, read)
    return out
