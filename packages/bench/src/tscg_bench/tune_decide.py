"""What follows from scores: which arm wins, what an operator does, and what kind of model that makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tscg_bench.stats import Comparison, compare, family
from tscg_bench.tune_arms import Arm, Effect, Shown
from tscg_bench.tune_run import Scores

__all__ = ["Choice", "Found", "archetype", "choose", "effects_of", "operators_for"]

SAME = "changes nothing here"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The outcome of a stage: the winner, and every arm against the one with the most right answers.

    ``tied`` are those that could not be told from the best; of them the winner sends the fewest tokens.
    """

    winner: Arm
    best: Arm
    tied: tuple[Arm, ...]
    against_best: Mapping[Arm, Comparison]
    tokens: Mapping[Arm, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What was found of one operator in one design. ``comparison`` is None where the model is sent the same."""

    effect: Effect
    comparison: Comparison | None = None

    @property
    def verdict(self) -> str:
        """``better``, ``worse``, ``no difference found`` or ``changes nothing here``."""
        return SAME if self.comparison is None else self.comparison.verdict


def choose(shown: Sequence[Shown], scores: Mapping[str, Scores]) -> Choice:
    """Paired intervals decide, ties go to fewer tokens.

    An arm is out where its own interval against the best lies below 0, before any adjustment: what looks worse is not
    taken for being shorter.
    """

    def mean(one: Shown) -> float:
        found = scores[one.fingerprint]
        return sum(found.values()) / max(len(found), 1)

    best = max(shown, key=lambda one: (mean(one), -one.tokens))
    others = [one for one in shown if one.fingerprint != best.fingerprint]
    found = family([compare(scores[one.fingerprint], scores[best.fingerprint]) for one in others])
    against = dict(zip((one.arm for one in others), found, strict=True))
    tied = [one for one in shown if one.arm not in against or against[one.arm].interval.high >= 0]
    winner = min(tied, key=lambda one: one.tokens)
    return Choice(
        winner=winner.arm, best=best.arm, tied=tuple(one.arm for one in tied), against_best=against,
        tokens={one.arm: one.tokens for one in shown},
    )  # fmt: skip


def effects_of(
    effects: Sequence[Effect], shown: Mapping[Arm, Shown], scores: Mapping[str, Scores]
) -> tuple[Found, ...]:
    """Each operator's effect, the p values adjusted over all that were really compared."""
    possible = [effect for effect in effects if effect.on in shown and effect.off in shown]
    pairs = [(shown[effect.on].fingerprint, shown[effect.off].fingerprint) for effect in possible]
    differ = [(on, off) for on, off in pairs if on != off]
    compared = iter(family([compare(scores[on], scores[off]) for on, off in differ]))
    return tuple(
        Found(effect=effect, comparison=None if on == off else next(compared))
        for effect, (on, off) in zip(possible, pairs, strict=True)
    )


def operators_for(base: Arm, found: Sequence[Found], shown: Mapping[Arm, Shown]) -> tuple[str, ...]:
    """The operators that run: those of the profile, with those that help and without those that hurt or only cost.

    One that helps in one design and hurts in the other is left to the profile.
    """
    asked = base.resolved.asks
    on = []
    for name in dict.fromkeys(one.effect.operator for one in found):
        mine = [one for one in found if one.effect.operator == name]
        verdicts = {one.verdict for one in mine}
        costs = sum(shown[one.effect.on].tokens - shown[one.effect.off].tokens for one in mine)
        if {"better", "worse"} <= verdicts:
            runs = name in asked
        elif "better" in verdicts or "worse" in verdicts:
            runs = "better" in verdicts
        else:
            runs = costs < 0 or (costs == 0 and name in asked)
        on += [name] if runs else []
    return tuple(on)


def archetype(found: Sequence[Found]) -> str:
    """``sensitive`` where an operator hurts, else ``hungry`` where one helps, else ``robust``: none was seen to matter.

    >>> archetype([])
    'robust'
    """
    verdicts = {one.verdict for one in found}
    return "sensitive" if "worse" in verdicts else "hungry" if "better" in verdicts else "robust"
