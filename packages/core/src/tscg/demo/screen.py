"""What the demo prints: tables of tokens, one tool before and after, the calls, and the changed rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rich.console import Console

    from tscg.demo.client import ToolAnswer
    from tscg.demo.database import Change
    from tscg.stats import Stats, ToolStats

# Longer answers of tools and arguments are cut on the screen; the model gets them whole.
SHOWN: Final = 220
TOP_SAVERS: Final = 8


class Screen:
    """The demo's output on one console; everything that tools or models say is printed as plain text."""

    def __init__(self, console: Console) -> None:
        self._console = console

    def heading(self, text: str) -> None:
        """Begin a part of the output."""
        self._console.print()
        self._console.rule(text, align="left", style="bold")

    def line(self, text: str, *, label: str = "", style: str = "") -> None:
        """One paragraph, behind an aligned label where it has one."""
        from rich.table import Table
        from rich.text import Text

        grid = Table.grid(padding=(0, 1))
        if label:
            grid.add_column(width=9, style=style, no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(*([label] if label else []), Text(text))
        self._console.print(grid)

    def tokens(self, rows: Sequence[tuple[str, int]], stats: Stats) -> None:
        """Tokens of each way to send the catalog, and what each saves against minified JSON."""
        from rich.table import Table

        counted = f"counted with {stats.tokenizer}" if stats.exact else "estimated, no vocabulary is at hand"
        self.line(f"Tokens that the catalog takes in each request, {counted}:")
        table = Table()
        for name in ("what is sent", "tokens", "saved"):
            table.add_column(name, justify="left" if name == "what is sent" else "right")
        for name, tokens in rows:
            table.add_row(name, f"{tokens:,}", f"{1 - tokens / stats.baseline_tokens:.1%}")
        self._console.print(table)

    def savers(self, per_tool: Mapping[str, ToolStats], form: str) -> None:
        """The tools whose entries shrink most, in tokens."""
        from rich.table import Table

        self.line(f"The tools that shrink most, {form}:")
        table = Table()
        for name in ("tool", "JSON", "compiled", "saved"):
            table.add_column(name, justify="left" if name == "tool" else "right")
        ranked = sorted(per_tool.items(), key=lambda item: (item[1].tokens - item[1].baseline_tokens, item[0]))
        for name, cost in ranked[:TOP_SAVERS]:
            table.add_row(name, f"{cost.baseline_tokens:,}", f"{cost.tokens:,}", f"{cost.saved:.1%}")
        self._console.print(table)

    def before_and_after(self, name: str, before: Mapping[str, Any], after: str) -> None:
        """One tool as its server sends it, and as the model sees it."""
        from rich.panel import Panel
        from rich.text import Text

        text = json.dumps(before, ensure_ascii=False, separators=(",", ":"))
        self._console.print(Panel(Text(text), title=f"{name} as its server sends it", title_align="left"))
        self._console.print(Panel(Text(after), title=f"{name} as the model sees it", title_align="left"))

    def call(self, name: str, arguments: Mapping[str, Any], repairs: Sequence[str]) -> None:
        """A decoded and validated call, before it is executed."""
        shown = ", ".join(f"{key}={_short(value)}" for key, value in arguments.items())
        self.line(f"{name}({shown})", label="call", style="cyan")
        for repair in repairs:
            self.line(repair, label="repaired", style="yellow")

    def answer(self, answer: ToolAnswer) -> None:
        """What the tool answered."""
        if answer.failed:
            self.line(_cut(answer.text), label="failed", style="red")
        else:
            self.line(_cut(answer.text), label="result", style="green")

    def lookup(self, tools: Sequence[str], query: str | None) -> None:
        """A question about the catalog, which the compiled catalog answers itself."""
        self.line(", ".join(tools) or query or "", label="lookup", style="cyan")

    def cut_off(self, output: str) -> None:
        """What a model wrote of a call that it did not end."""
        self.line(_cut(output), label="cut off", style="yellow")

    def refusal(self, message: str) -> None:
        """The sentences that go back to the model instead of a result."""
        self.line(message, label="sent back", style="red")

    def changes(self, found: Sequence[Change]) -> None:
        """The rows of the database that differ from before."""
        from rich.table import Table
        from rich.text import Text

        table = Table()
        for name in ("table", "row", "change"):
            table.add_column(name, overflow="fold")
        for change in found:
            row = change.after or change.before or {}
            table.add_row(change.table, Text(str(next(iter(row.values()), ""))), Text(_change(change)))
        if found:
            self.line("Rows that differ from before the requests:")
            self._console.print(table)
        else:
            self.line("No row of the database changed.")


def _change(change: Change) -> str:
    if change.after is None:
        return "deleted"
    if change.before is None:
        shown = [f"{name} {_short(value)}" for name, value in list(change.after.items())[1:] if value is not None]
        return "new: " + ", ".join(shown)
    return "\n".join(f"{name}: {_short(change.before[name])} -> {_short(change.after[name])}" for name in change.fields)


def _short(value: object) -> str:
    return _cut(json.dumps(value, ensure_ascii=False))


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]} [{len(text) - SHOWN:,} characters more]"
