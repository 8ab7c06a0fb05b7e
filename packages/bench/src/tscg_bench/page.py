"""The report as one HTML file that needs nothing else: tables, accuracy against tokens, every task to open."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from math import log10

from tscg_bench.logs import Cell, Row, Run
from tscg_bench.report import HEAD, Line, baseline_of, cells_of, lines_of, warnings_of

__all__ = ["page"]

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 76rem; padding: 0 1rem; color: #1a1a1a }
table { border-collapse: collapse; font-size: 13px; display: block; overflow-x: auto }
th, td { padding: .25rem .6rem; border-bottom: 1px solid #ddd; text-align: right; white-space: nowrap }
th:first-child, td:first-child { text-align: left }
tr.control { color: #777 } .warn { color: #8a4b00 } .bad { color: #a11 } .good { color: #17692b }
details { border-bottom: 1px solid #eee; padding: .2rem 0 } pre { white-space: pre-wrap; margin: .3rem 0 .6rem 1rem }
svg text { font: 12px system-ui, sans-serif; fill: currentColor }
@media (prefers-color-scheme: dark) { body { background: #16181b; color: #e4e4e4 } th, td { border-color: #333 } }
"""

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 900, 380, 60, 44, 16, 150
COLOURS = ("#3b6fb6", "#c2571a", "#2f8f4e", "#8a4fb0", "#b03a48", "#5b7083", "#9a7b1f", "#1f8f8f")


def page(run: Run) -> str:
    """The whole run as one page."""
    parts = []
    for plan, model, cells in run.groups():
        lines = lines_of(cells)
        parts += [
            f"<h2>{escape(plan)}, {escape(model)}</h2>",
            _table(lines),
            f"<p>Baseline: {escape(baseline_of(cells).condition)}. Unit is the task; exact McNemar with Holm, BCa "
            "bootstrap, Wilson.</p>",
            "".join(f'<p class="warn">{escape(warning)}</p>' for warning in warnings_of(lines)),
            _plot(lines),
            "<h3>Task by task</h3>",
            *_tasks(cells),
        ]
    body = "\n".join(parts)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>TAB</title>'
        f"<style>{STYLE}</style></head><body><h1>TAB</h1>{body}</body></html>\n"
    )


def _table(lines: Sequence[Line]) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in HEAD)
    rows = []
    for line in lines:
        cells = "".join(f"<td>{escape(text)}</td>" for text in cells_of(line))
        rows.append(f'<tr class="{"control" if line.control else ""}">{cells}</tr>')
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


# --- the plot ---------------------------------------------------------------------------------------------------------


def _plot(lines: Sequence[Line]) -> str:
    """Exact answers against tokens of the catalog (logarithmic), with Wilson's intervals."""
    tokens = [max(1.0, line.cell.mean("catalog_tokens")) for line in lines]
    low, high = log10(min(tokens)), log10(max(tokens))
    span = (high - low) or 1.0

    def across(value: float) -> float:
        return LEFT + (log10(value) - low) / span * (WIDTH - LEFT - RIGHT)

    def up(value: float) -> float:
        return TOP + (1 - value) * (HEIGHT - TOP - BOTTOM)

    drawn = [*_grid(up), *(_tick(across(count), count) for count in _ticks(low, high))]
    for place, (line, count) in enumerate(zip(lines, tokens, strict=True)):
        colour, x = COLOURS[place % len(COLOURS)], across(count)
        drawn.append(
            f'<g stroke="{colour}" fill="{colour}"><title>{escape(line.cell.condition)}: {line.summary.exact:.3f} '
            f"[{line.exact.low:.3f}, {line.exact.high:.3f}], {count:,.0f} tokens</title>"
            f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{up(line.exact.low):.1f}" y2="{up(line.exact.high):.1f}"/>'
            f'<circle cx="{x:.1f}" cy="{up(line.summary.exact):.1f}" r="4"/></g>'
            f'<text x="{x + 7:.1f}" y="{up(line.summary.exact) + 4:.1f}">{escape(line.cell.condition)}</text>'
        )
    label = f'<text x="{LEFT}" y="{HEIGHT - 6}">tokens of the catalog; bars: 95 % of exact answers</text>'
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="Exact answers against tokens">'
        f"{''.join(drawn)}{label}</svg>"
    )


def _grid(up: Callable[[float], float]) -> Iterable[str]:
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = up(share)
        yield f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#8884"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{share:.0%}</text>'


def _ticks(low: float, high: float) -> list[int]:
    steps = (factor * 10**power for power in range(7) for factor in (1, 2, 5))
    return [step for step in steps if low <= log10(step) <= high]


def _tick(x: float, count: int) -> str:
    return f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{count:,}</text>'


# --- task by task -----------------------------------------------------------------------------------------------------


def _tasks(cells: Sequence[Cell]) -> Iterable[str]:
    names = dict.fromkeys(name for cell in cells for name in cell.rows)
    for name in names:
        held = [(cell.condition, cell.rows[name]) for cell in cells if name in cell.rows]
        first = held[0][1]
        marks = " ".join(_mark(condition, row) for condition, row in held)
        shown = "".join(_answer(condition, row) for condition, row in held)
        yield (
            f"<details><summary>{escape(name)} <small>{escape(first.category)}</small> {marks}</summary>"
            f"<pre>{escape(first.query)}\nexpected: {escape(first.expected)}</pre>{shown}</details>"
        )


def _mark(condition: str, row: Row) -> str:
    if row.score is None:
        return f'<span class="warn" title="{escape(condition)}: failed">&#9888;</span>'
    kind, sign = ("good", "&#10003;") if row.score.exact else ("bad", "&#10007;")
    return f'<span class="{kind}" title="{escape(condition)}">{sign}</span>'


def _answer(condition: str, row: Row) -> str:
    if row.score is None:
        return f"<pre>{escape(condition)}: failed: {escape(row.error)}</pre>"
    score = row.score
    counts = f"{score.right} of {score.wanted} parameters right, {score.given} given; {row.requests} requests"
    text = f"\n{row.text}" if row.text else ""
    return f"<pre>{escape(condition)}: {escape(row.answer)}{escape(text)}\n{counts}</pre>"
