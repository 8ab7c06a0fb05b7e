"""A run as tables: Markdown, and the figures that the page of :mod:`tscg_bench.page` draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tscg_bench.conditions import CONTROLS
from tscg_bench.logs import Cell, Run
from tscg_bench.score import Summary
from tscg_bench.stats import Comparison, Interval, Oldham, compare, family, oldham, wilson

__all__ = [
    "BASELINES",
    "Line",
    "as_dict",
    "baseline_of",
    "cells_of",
    "compare_runs",
    "lines_of",
    "markdown",
    "oldham_of",
    "warnings_of",
]

BASELINES = ("json", "native", "json-pretty")
"""The first of these that was run is what the others are compared with."""

HEAD = (
    "condition", "n", "failed", "catalog tokens", "overall", "selection", "F1", "exact [95 %]", "vs baseline [95 %]",
    "p (Holm)", "verdict", "valid calls", "extra turns", "tokens in", "tokens out", "seconds", "US$",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line of the table: a cell, its figures, and how it stands to the baseline (None for the baseline itself)."""

    cell: Cell
    summary: Summary
    exact: Interval
    against: Comparison | None

    @property
    def control(self) -> bool:
        """Is it one of the controls that see no schema?"""
        return self.cell.condition in CONTROLS


def lines_of(cells: Sequence[Cell]) -> list[Line]:
    """The lines of one plan and model; the p values of all its comparisons are adjusted together."""
    baseline = baseline_of(cells)
    others = [cell for cell in cells if cell is not baseline]
    found = family([compare(cell.exact, baseline.exact) for cell in others])
    against = {cell.condition: one for cell, one in zip(others, found, strict=True)}
    lines = []
    for cell in cells:
        summary = cell.summary
        exact = wilson(round(summary.exact * summary.n), summary.n)
        lines.append(Line(cell=cell, summary=summary, exact=exact, against=against.get(cell.condition)))
    return lines


def baseline_of(cells: Sequence[Cell]) -> Cell:
    """What the other cells are compared with."""
    named = {cell.condition: cell for cell in cells}
    return next((named[name] for name in BASELINES if name in named), cells[0])


def warnings_of(lines: Sequence[Line]) -> list[str]:
    """What the reader must know before he believes the figures."""
    found = []
    control = max((line.summary.overall for line in lines if line.control), default=None)
    for line in lines:
        name = line.cell.condition
        if line.cell.failed:
            found.append(f"{name}: {line.cell.failed} tasks failed and are not in the figures")
        if line.cell.cut:
            found.append(f"{name}: the provider counted far fewer tokens than were sent; its context is too small")
        if control is not None and not line.control and line.summary.overall <= control:
            found.append(f"{name}: not above the control without a schema ({control:.3f})")
    if control is None:
        found.append("run without a control: how much the questions give away is not known")
    return found


def markdown(run: Run) -> str:
    """The whole run as Markdown."""
    parts = ["# TAB"]
    for plan, model, cells in run.groups():
        lines = lines_of(cells)
        baseline = baseline_of(cells).condition
        power = max((line.against.detectable for line in lines if line.against and not line.control), default=None)
        parts.append(f"## {plan}, {model}")
        parts.append("\n".join(_rows(lines)))
        said = [f"Baseline: {baseline}. Unit is the task; exact McNemar, BCa bootstrap, Wilson."]
        if power is not None:
            said.append(f"A difference of {power:.0%} or more would be seen in each condition with power 0.8.")
        parts.append(" ".join(said))
        parts.append("\n".join(f"- {warning}" for warning in warnings_of(lines)))
        parts.append("\n".join(_categories(lines)))
    if (found := oldham_of(run)) is not None:
        parts.append(_oldham(found))
    return "\n\n".join(part for part in parts if part) + "\n"


def cells_of(line: Line) -> list[str]:
    """The figures of a line as texts, in the order of the table's head."""
    summary, cell, against = line.summary, line.cell, line.against
    share = [f"{value:.3f}" for value in (summary.overall, summary.selection, summary.f1)]
    exact = f"{summary.exact:.3f} [{line.exact.low:.3f}, {line.exact.high:.3f}]"
    versus = ["", "", ""]
    if against is not None:
        interval = against.interval
        versus = [
            f"{against.difference:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]",
            f"{against.adjusted:.3g}",
            against.verdict,
        ]
    cost = "" if cell.cost is None else f"{cell.cost:.4f}"
    name = f"{cell.condition} (control)" if line.control else cell.condition
    return [
        name, str(summary.n), str(cell.failed), f"{cell.mean('catalog_tokens'):,.0f}", *share, exact, *versus,
        "" if summary.validity is None else f"{summary.validity:.3f}", f"{summary.extra:.2f}",
        f"{cell.mean('input_tokens'):,.0f}", f"{cell.mean('output_tokens'):,.0f}", f"{cell.mean('seconds'):.2f}", cost,
    ]  # fmt: skip


def _rows(lines: Sequence[Line]) -> list[str]:
    rule = ["---", *["--:"] * (len(HEAD) - 1)]
    return [f"| {' | '.join(row)} |" for row in (list(HEAD), rule, *map(cells_of, lines))]


def _categories(lines: Sequence[Line]) -> list[str]:
    """Exact answers by category."""
    names = sorted({row.category for line in lines for row in line.cell.scored})
    if len(names) < 2:
        return []
    out = [f"| exact by category | {' | '.join(names)} |", f"| --- |{' --: |' * len(names)}"]
    for line in lines:
        shares = []
        for name in names:
            held = [row.score.exact for row in line.cell.scored if row.category == name and row.score is not None]
            shares.append(f"{sum(held) / len(held):.2f} ({len(held)})" if held else "")
        out.append(f"| {line.cell.condition} | {' | '.join(shares)} |")
    return out


def oldham_of(run: Run) -> Oldham | None:
    """Whether the gain of ``text/balanced`` depends on how well the baseline does, over plans and models; None for
    fewer than five of them."""
    pairs = []
    for _, _, cells in run.groups():
        named = {cell.condition: cell for cell in cells}
        if "text/balanced" in named:
            pairs.append((named["text/balanced"].summary.overall, baseline_of(cells).summary.overall))
    return oldham([a for a, _ in pairs], [b for _, b in pairs]) if len(pairs) >= 5 else None


def _oldham(found: Oldham) -> str:
    return (
        f"Gain of text/balanced against level, over {found.n} plans and models (Oldham): r {found.r:+.2f}, "
        f"p {found.p:.2g}. "
        f"Correlated with the baseline itself it would be {found.naive_r:+.2f}, where two unrelated scores give "
        f"[{found.null.low:+.2f}, {found.null.high:+.2f}]."
    )


def compare_runs(first: Run, second: Run) -> str:
    """Two runs as Markdown: the first minus the second, condition by condition, on the tasks that both have."""
    other = {(cell.plan, cell.condition): cell for cell in second.cells}
    pairs = [(cell, other[cell.plan, cell.condition]) for cell in first.cells if (cell.plan, cell.condition) in other]
    found = family([compare(a.exact, b.exact) for a, b in pairs])
    head = ("plan", "condition", "models", "n", "difference [95 %]", "only first", "only second", "p (Holm)", "verdict")
    rows = [f"| {' | '.join(head)} |", f"| --- | --- | --- |{' --: |' * (len(head) - 3)}"]
    for (a, b), one in zip(pairs, found, strict=True):
        models = a.model if a.model == b.model else f"{a.model} - {b.model}"
        shown = f"{one.difference:+.3f} [{one.interval.low:+.3f}, {one.interval.high:+.3f}]"
        cells = (a.plan, a.condition, models, one.n, shown, one.only_a, one.only_b, f"{one.adjusted:.3g}", one.verdict)
        rows.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(rows) + "\n"


def as_dict(run: Run) -> dict[str, Any]:
    """The run as JSON values: every cell with its figures, intervals and comparison."""
    return {"cells": [_line_dict(line) for _, _, cells in run.groups() for line in lines_of(cells)]}


def _line_dict(line: Line) -> dict[str, Any]:
    cell = line.cell
    means = ("catalog_tokens", "input_tokens", "output_tokens", "seconds", "tools")
    return {
        "plan": cell.plan, "condition": cell.condition, "model": cell.model, "control": line.control,
        "failed": cell.failed, "cut": cell.cut, "cost": cell.cost, **{name: cell.mean(name) for name in means},
        **asdict(line.summary), "overall": line.summary.overall, "exact_interval": asdict(line.exact),
        "against": None if line.against is None else {**asdict(line.against), "verdict": line.against.verdict},
    }  # fmt: skip
