"""``tscg tune``: which mode, detail and operators one model does best with, on a catalog of one's own.

Three stages, each on the winner of the one before: modes, detail levels, operators. Paired intervals decide, ties go to
fewer tokens, and the winner is confirmed on tasks that no choice was made on.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from tscg import Catalog, ConfigError
from tscg.models import choose_profile, row_of
from tscg_bench.stats import Comparison, compare, detectable
from tscg_bench.tasks import Task
from tscg_bench.tune_arms import Arm, Shown, arm_of, effect_arms, level_arms, mode_arms, prepare
from tscg_bench.tune_decide import Choice, Found, archetype, choose, effects_of, operators_for
from tscg_bench.tune_run import Runner, Scores
from tscg_bench.tune_tasks import halves

__all__ = ["MODES", "STAGES", "Plan", "Tuning", "main", "plan_of", "tune"]

STAGES = ("modes", "levels", "operators")
MODES = ("text", "native", "dispatch", "code")
LEAST = 10
"""Fewest held-out tasks: below it an interval says nothing."""
TASK_TOKENS, ANSWER_TOKENS = 120, 60
"""What a request takes beside the catalog, and an answer; for the estimate of the cost alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a tuning is about to do. ``attempts`` and ``input_tokens`` are those of a run that knows nothing yet."""

    model: str | None
    catalog: Catalog = field(repr=False)
    tasks: tuple[Task, ...] = field(repr=False)
    held_out: tuple[Task, ...] = field(repr=False)
    default: Arm
    modes: tuple[str, ...]
    stages: tuple[str, ...]
    tokenizer: object = None
    attempts: int = 0
    input_tokens: int = 0

    @property
    def output_tokens(self) -> int:
        """About what the answers take."""
        return self.attempts * ANSWER_TOKENS


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuning:
    """What came of it. ``winner`` is the arm to use: that of the search where held-out tasks did not speak against it.

    ``reference`` is what it was confirmed against: the default, or, where the default itself won, all prose.
    """

    winner: Arm
    searched: Arm
    reference: Arm
    confirmation: Comparison
    choices: Mapping[str, Choice]
    found: tuple[Found, ...]
    impossible: Mapping[Arm, str]
    archetype: str
    n: int

    @property
    def confirmed(self) -> bool:
        """False where the winner of the search was worse on held-out tasks."""
        return self.winner == self.searched

    @property
    def detectable(self) -> float:
        """The smallest difference that the search would have shown, with one task in five discordant."""
        return detectable(self.n, discordant=0.2)


def plan_of(
    catalog: Catalog,
    tasks: Sequence[Task],
    *,
    model: str | None = None,
    modes: Sequence[str] = (),
    stages: Sequence[str] = STAGES,
    seed: int = 0,
    tokenizer: object = None,
) -> Plan:
    """The plan for a model. Modes that its row rules out are left out, unless they are named."""
    for name, given, allowed in (("mode", modes, MODES), ("stage", stages, STAGES)):
        if wrong := [one for one in given if one not in allowed]:
            raise ConfigError(f"unknown {name} {wrong[0]!r}", allowed=allowed)
    search, held_out = halves(tasks, seed=seed)
    if len(held_out) < LEAST:
        raise ConfigError(f"{len(tasks)} tasks leave {len(held_out)} held out", hint=f"{LEAST} are the least")
    row = row_of(model)
    possible = [mode for mode in MODES if mode == "text" or (row.native and (mode != "code" or row.code))]
    default = Arm(mode="text", profile=choose_profile(model, len(catalog))[0])
    plan = Plan(
        model=model, catalog=catalog, tasks=search, held_out=held_out, default=default,
        modes=tuple(modes or possible), stages=tuple(stages), tokenizer=tokenizer,
    )  # fmt: skip
    return _estimated(plan)


def tune(plan: Plan, runner: Runner) -> Tuning:
    """Run the stages and confirm what they found."""
    sweep = _Sweep(plan=plan, runner=runner, here=plan.default)
    for stage in plan.stages:
        sweep.told(stage)
        RUN[stage](sweep)
    reference = plan.default
    if sweep.here == reference:
        reference = replace(plan.default, profile="lossless")
    sweep.told("held-out tasks")
    shown, scores = sweep.run([sweep.here, reference], plan.held_out)
    confirmation = compare(scores[shown[sweep.here].fingerprint], scores[shown[reference].fingerprint])
    refuted = confirmation.interval.high < 0
    return Tuning(
        winner=reference if refuted else sweep.here, searched=sweep.here, reference=reference,
        confirmation=confirmation, choices=sweep.choices, found=sweep.found, impossible=sweep.impossible,
        archetype=archetype(sweep.found), n=len(plan.tasks),
    )  # fmt: skip


@dataclass(slots=True, kw_only=True)
class _Sweep:
    """A tuning under way: the arm that it stands at, and what it found so far."""

    plan: Plan
    runner: Runner
    here: Arm
    choices: dict[str, Choice] = field(default_factory=dict)
    found: tuple[Found, ...] = ()
    impossible: dict[Arm, str] = field(default_factory=dict)

    def told(self, line: str) -> None:
        self.runner.told(f"{line}, from {self.here.name}")

    def run(self, arms: Sequence[Arm], tasks: Sequence[Task]) -> tuple[dict[Arm, Shown], Mapping[str, Scores]]:
        plan = self.plan
        shown, impossible = prepare(arms, plan.catalog, model=plan.model, tokenizer=plan.tokenizer)
        self.impossible |= impossible
        return shown, self.runner.run(shown.values(), tasks)

    def choose(self, stage: str, arms: Sequence[Arm]) -> None:
        shown, scores = self.run(arms, self.plan.tasks)
        if shown:
            self.choices[stage] = choose(list(shown.values()), scores)
            self.here = self.choices[stage].winner


def _modes(sweep: _Sweep) -> None:
    sweep.choose("modes", mode_arms(sweep.here.profile, sweep.plan.modes))


def _levels(sweep: _Sweep) -> None:
    sweep.choose("levels", level_arms(sweep.here.mode, sweep.here.map))


def _operators(sweep: _Sweep) -> None:
    effects = effect_arms(sweep.here)
    shown, scores = sweep.run([arm for effect in effects for arm in (effect.on, effect.off)], sweep.plan.tasks)
    sweep.found = effects_of(effects, shown, scores)
    chosen = arm_of(sweep.here, operators_for(sweep.here, sweep.found, shown))
    if chosen.resolved != sweep.here.resolved:
        sweep.here = chosen


Stage: TypeAlias = "Callable[[_Sweep], None]"
RUN: Mapping[str, Stage] = {"modes": _modes, "levels": _levels, "operators": _operators}


def _estimated(plan: Plan) -> Plan:
    """The plan with what it takes, as if each stage stayed at the default."""
    arms: list[Arm] = []
    if "modes" in plan.stages:
        arms += mode_arms(plan.default.profile, plan.modes)
    if "levels" in plan.stages:
        arms += level_arms()
    if "operators" in plan.stages:
        arms += [arm for effect in effect_arms(plan.default) for arm in (effect.on, effect.off)]
    shown, _ = prepare(arms, plan.catalog, model=plan.model, tokenizer=plan.tokenizer)
    distinct = {one.fingerprint: one.tokens for one in shown.values()}
    both = 2 * len(plan.held_out)
    tokens = sum(size + TASK_TOKENS for size in distinct.values()) * len(plan.tasks)
    most = max(distinct.values(), default=0) + TASK_TOKENS
    return replace(plan, attempts=len(distinct) * len(plan.tasks) + both, input_tokens=tokens + both * most)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 0, or what the core's command makes of an error."""
    from tscg_bench.tune_command import run

    return run(sys.argv[1:] if arguments is None else list(arguments))
