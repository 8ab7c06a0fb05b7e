"""What a tuning found, as lines for people and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tscg_bench.stats import Comparison
from tscg_bench.tune_decide import Choice, Found

if TYPE_CHECKING:
    from tscg_bench.tune import Tuning

__all__ = ["as_dict", "found_line", "report_lines", "said"]


def report_lines(result: Tuning) -> list[str]:
    """What was found, in lines for people."""
    lines: list[str] = []
    for stage, choice in result.choices.items():
        lines += [f"{stage}: {choice.winner.name}", *_choice_lines(choice)]
    if result.found:
        lines += [f"operators: the model is {result.archetype}", *map(found_line, result.found)]
    lines += [f"left out: {arm.name}: {reason}" for arm, reason in result.impossible.items()]
    told = said(result.confirmation)
    lines.append(f"held-out tasks: {result.searched.name} against {result.reference.name}: {told}")
    seen = (
        f"differences of {100 * result.detectable:.0f} points" if result.detectable < 1 else "gross differences alone"
    )
    lines.append(f"{result.n} tasks to choose on show {seen}, where one task in five falls out otherwise")
    verdict = "" if result.confirmed else f", since {result.searched.name} was worse on held-out tasks"
    lines.append(f"use {result.winner.name}{verdict}")
    return lines


def found_line(found: Found) -> str:
    """One operator in one design."""
    effect = found.effect
    told = found.verdict if found.comparison is None else said(found.comparison)
    return f"  {effect.operator} ({effect.design}): {told}"


def said(comparison: Comparison) -> str:
    """A comparison in words: difference, interval, verdict.

    >>> from tscg_bench.stats import compare
    >>> said(compare({"a": 1.0, "b": 0.0}, {"a": 1.0, "b": 0.0}))
    '+0.0 points [-65.8, +65.8], no difference found at n = 2'
    """
    low, high = 100 * comparison.interval.low, 100 * comparison.interval.high
    points = f"{100 * comparison.difference:+.1f} points [{low:+.1f}, {high:+.1f}]"
    return f"{points}, {comparison.verdict} at n = {comparison.n}"


def _choice_lines(choice: Choice) -> list[str]:
    lines = []
    for arm, tokens in choice.tokens.items():
        against = choice.against_best.get(arm)
        told = "the most right answers, or the same text" if against is None else said(against)
        lines.append(f"  {arm.name} ({tokens:,} tokens): {told}{', tied' if arm in choice.tied else ''}")
    return lines


def as_dict(result: Tuning) -> dict[str, Any]:
    """The same as plain JSON values."""

    def compared(one: Comparison | None) -> Any:
        return None if one is None else {**asdict(one), "verdict": one.verdict}

    return {
        "winner": asdict(result.winner), "searched": asdict(result.searched), "reference": asdict(result.reference),
        "confirmed": result.confirmed, "confirmation": compared(result.confirmation), "archetype": result.archetype,
        "n": result.n, "detectable": result.detectable,
        "stages": {
            stage: [
                {"arm": arm.name, "tokens": tokens, "against_best": compared(choice.against_best.get(arm))}
                for arm, tokens in choice.tokens.items()
            ]
            for stage, choice in result.choices.items()
        },
        "operators": [
            {"operator": one.effect.operator, "design": one.effect.design, "verdict": one.verdict,
             "comparison": compared(one.comparison)}
            for one in result.found
        ],
        "impossible": {arm.name: reason for arm, reason in result.impossible.items()},
    }  # fmt: skip
