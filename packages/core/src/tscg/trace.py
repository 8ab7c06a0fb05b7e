"""Trace: what each operator did, tool by tool, with token deltas, and the paper's bound checked on this catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from tscg.ir import Tool
from tscg.language.emit import emit
from tscg.language.spelling import DEFAULT, SLOTS, Spelling, spelling_of
from tscg.operators.detail import Keep
from tscg.pipeline import OPERATORS, policies_hidden, rewritten
from tscg.profiles import Profile
from tscg.record import replace as changed

if TYPE_CHECKING:
    from tscg.modes.compiled import CompiledCatalog

NOTHING = Profile(name="name", keep=Keep(tool=(), parameter=(), other=()))

__all__ = ["Bound", "Step", "Trace", "hidden_of", "trace_of"]


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
    """The steps in the order of the pipeline, the bound, reasons, hidden policy by tool, tools passed through.

    ``adapters`` says what the forms of providers change: constraints that are only said, tools without a strict form.
    """

    steps: tuple[Step, ...]
    bound: Bound
    reasons: tuple[str, ...]
    hidden_policy: Mapping[str, tuple[str, ...]]
    passed_through: tuple[str, ...]
    shortened: tuple[str, ...]
    adapters: tuple[str, ...] = ()


def trace_of(compiled: CompiledCatalog) -> Trace:
    """Run the pipeline again operator by operator and count between.

    In text mode the catalog's text is counted; in the other modes all that is sent. Passthrough has no steps.
    """
    from tscg.modes.adapt import adapter_notes
    from tscg.stats import baseline_tokens, minified, openai_form

    count = compiled.tokenizer.count
    source = {tool.name: count(minified(openai_form(tool))) for tool in compiled.catalog}
    total = first = baseline_tokens(compiled.catalog, compiled.tokenizer)
    steps: list[Step] = []
    before: Mapping[str, int] = source
    rf = 0.0
    for stage in _text_stages(compiled) if compiled.mode == "text" else _mode_stages(compiled):
        step = _step(stage, before, total)
        rf += max(total - stage.total, 0) / first if first else 0.0
        steps.append(step)
        before, total = stage.per_tool, stage.total
    if compiled.mode == "text":
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
        shortened=tuple(name for name, found in hidden_of(compiled).items() if found),
        adapters=adapter_notes(compiled),
    )


class _Stage(NamedTuple):
    """The catalog behind one operator: tokens of all, and of each tool."""

    name: str
    total: int
    per_tool: Mapping[str, int]


def _step(stage: _Stage, before: Mapping[str, int], total: int) -> Step:
    after = stage.per_tool
    delta = {tool: after[tool] - before.get(tool, 0) for tool in after if after[tool] != before.get(tool, 0)}
    touched = sum(before.get(tool, 0) for tool in delta)
    share = min(1.0, touched / sum(before.values())) if touched else 0.0
    return Step(
        operator=stage.name, before=total, after=stage.total, per_tool=delta, touched=share,
        kind=next((operator.kind for operator in OPERATORS if operator.name == stage.name), "R"),
        taken=(total - stage.total) / (share * total) if share and total else 0.0,
    )  # fmt: skip


def _prose_profiles(profile: Profile) -> Iterator[tuple[str, Profile]]:
    """The operators on prose that a profile has, each with the profile that ends at it."""
    bare = Profile(name=profile.name)
    if profile.sdm:
        yield "SDM", changed(bare, sdm=True)
    if profile.dro:
        yield "DRO", changed(bare, sdm=profile.sdm, dro=True)
    kept = {"keep": profile.keep, "titles": profile.titles, "examples": profile.examples}
    yield "detail", changed(bare, sdm=profile.sdm, dro=profile.dro, **kept)


def _text_stages(compiled: CompiledCatalog) -> Iterator[_Stage]:
    """The text of the catalog behind each operator."""
    count, chosen = compiled.tokenizer.count, spelling_of(compiled.encoding)
    stages = [("parse and emit", compiled.catalog, _plain(), False), ("TAS", compiled.catalog, chosen, False)]
    stages += [
        (name, rewritten(compiled.catalog, profile), chosen, False)
        for name, profile in _prose_profiles(compiled.profile_used)
    ]
    if compiled.budget is not None:
        stages.append(("budget", compiled.shown, chosen, False))
    stages.append(("CSE", compiled.shown, chosen, True))
    for name, catalog, spelling, sharing in stages:
        emitted = emit(catalog, spelling, compiled.costs, sharing=sharing)
        tools = {tool.name: count(entry) for tool, entry in zip(catalog, emitted.entries, strict=True)}
        yield _Stage(name, count(emitted.text), tools)


def _mode_stages(compiled: CompiledCatalog) -> Iterator[_Stage]:
    """All that is sent behind each operator: those on prose where the mode shows prose, and the map of dispatch."""
    if compiled.mode == "passthrough":
        return
    last = "budget" if compiled.budget is not None else "map"
    if compiled.mode in ("native", "code"):
        import tscg

        pin = [tool.name for tool in compiled.catalog if tool.name in compiled.sent.native]
        pin = pin if compiled.mode == "code" else []
        names = [("form", Profile(name="form")), *_prose_profiles(compiled.profile_used)]
        last = last if compiled.budget is not None else names.pop()[0]
        for name, profile in names:
            made = tscg.compile(
                compiled.catalog, mode=compiled.options, profile=profile, tokenizer=compiled.tokenizer, pin=pin,
                order="given",
            )  # fmt: skip
            yield _sent(name, made)
    yield _sent(last, compiled)


def _sent(name: str, compiled: CompiledCatalog) -> _Stage:
    tools = compiled.stats.per_tool
    return _Stage(name, compiled.stats.tokens, {tool: found.tokens for tool, found in tools.items()})


def _policy(tool: Tool, compiled: CompiledCatalog) -> tuple[str, ...]:
    """The policy sentences that the tool's rung of the ladder hides; a map shows none."""
    if compiled.mode == "dispatch" and tool.name not in compiled.sent.native:
        return policies_hidden(tool, NOTHING)
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


def hidden_of(compiled: CompiledCatalog) -> Mapping[str, tuple[str, ...]]:
    """By tool, the sentences that the model does not see: the map of dispatch has none of a tool's own.

    What detail leaves out counts; what SDM and DRO shorten does not.
    """
    if compiled.mode == "passthrough":
        return {}
    found = {tool.name: _left_out(tool, compiled) for tool in compiled.catalog}
    return {name: sentences for name, sentences in found.items() if sentences}


def _left_out(tool: Tool, compiled: CompiledCatalog) -> tuple[str, ...]:
    from tscg.fates import fate_of, said_by
    from tscg.profiles import PROFILES

    said = said_by(tool)
    rung = compiled.details.get(tool.name, "")
    if rung == "name" or (compiled.mode == "dispatch" and tool.name not in compiled.sent.native):
        return said.untold.left
    used = compiled.profile_used
    return fate_of(said, used if rung in ("", used.name) else PROFILES[rung]).left
