"""What the command prints of results: tables for people, and the same as plain JSON values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tscg.ir import JSON
from tscg.record import replace

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from tscg.calls import Decoded
    from tscg.differences import Diff
    from tscg.ir import Catalog
    from tscg.modes.compiled import CompiledCatalog
    from tscg.recommendation import Recommendation
    from tscg.stats import Stats
    from tscg.trace import Trace

__all__ = [
    "Report", "catalog_table", "decoded_dict", "decoded_text", "diff_text", "recommendation_table", "report_of",
    "report_tables",
]  # fmt: skip

MOST_NAMES = 20  # tools that a remark names


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Token figures of a compiled catalog, and of the same catalog in each profile, in one mode.

    ``profiles`` maps each profile to the tokens of all that is sent, and ``maps`` each map of dispatch, where no
    profile changes anything; ``trace`` says what each operator did.
    """

    mode: str
    profile: str
    map: str = ""
    stats: Stats
    profiles: Mapping[str, int]
    maps: Mapping[str, int] = field(default_factory=dict)
    trace: Trace

    def to_dict(self) -> dict[str, JSON]:
        """The same as plain JSON values."""
        found = self.trace.bound
        bound = {**asdict(found), "limit": round(found.limit, 1), "holds": found.holds}
        return {
            "mode": self.mode,
            "profile": self.profile,
            "map": self.map,
            "stats": self.stats.to_dict(),
            "profiles": dict(self.profiles),
            "maps": dict(self.maps),
            "trace": {**asdict(self.trace), "bound": bound},
        }


def report_of(catalog: Catalog, compiled: CompiledCatalog, options: Mapping[str, Any]) -> Report:
    """Compile a catalog in every profile with the options of ``compiled``, and count."""
    import tscg
    from tscg.modes.options import MAPS, Dispatch
    from tscg.profiles import PROFILES

    mode = compiled.options
    profiles: dict[str, int] = {}
    maps: dict[str, int] = {}
    if isinstance(mode, Dispatch):
        for name in MAPS:
            other = {**options, "mode": replace(mode, map=name), "profile": compiled.profile_used}
            maps[name] = (compiled if name == mode.lines else tscg.compile(catalog, **other)).stats.tokens
    elif compiled.mode != "passthrough":  # no profile changes anything there
        for name in PROFILES:
            made = compiled if name == compiled.profile else tscg.compile(catalog, **{**options, "profile": name})
            profiles[name] = made.stats.tokens
    return Report(
        mode=compiled.mode, profile=compiled.profile, map=getattr(mode, "lines", ""), stats=compiled.stats,
        profiles=profiles, maps=maps, trace=compiled.trace,
    )  # fmt: skip


def report_tables(report: Report) -> Iterator[RenderableType]:
    """The tables of a report: what is sent in each profile, what each operator did, what each tool costs."""
    stats = report.stats
    counted = f"counted with {stats.tokenizer}" if stats.exact else f"estimated for {stats.tokenizer}"
    baseline = stats.baseline_tokens
    table = _table(f"Tokens of {len(stats.per_tool)} tools ({counted})", "what is sent", "tokens", "saved")
    table.add_row("JSON, pretty", _number(stats.pretty_tokens), "")
    table.add_row("JSON, minified (the baseline)", _number(baseline), "")
    rows = report.maps or report.profiles or {"as given": stats.tokens}
    for name, tokens in rows.items():
        chosen = " (this one)" if name == (report.map or report.profile) else ""
        table.add_row(f"{report.mode}, {name}{chosen}", _number(tokens), _share(tokens, baseline))
    yield table
    fixed = f"Of the {stats.tokens:,} tokens {stats.fixed_tokens:,} are fixed, whatever the tools."
    hidden = f" Prose left out: {stats.hidden.sentences:,} sentences, {stats.hidden.tokens:,} tokens."
    yield fixed + (hidden if stats.hidden.sentences else "")
    if report.trace.steps:
        yield _step_table(report.trace)
        yield _bound(report.trace)
    yield from _remarks(report.trace)
    yield _tool_table(stats)


def _step_table(trace: Trace) -> Table:
    table = _table("What each operator did", "operator", "class", "before", "after", "change", "touched", "tools")
    for step in trace.steps:
        change = f"{step.after - step.before:+,}" if step.after != step.before else "0"
        row = (step.operator, step.kind, _number(step.before), _number(step.after), change, f"{step.touched:.0%}")
        table.add_row(*row, _number(len(step.per_tool)))
    return table


def _bound(trace: Trace) -> str:
    bound = trace.bound
    outcome = "holds" if bound.holds else "does NOT hold"
    return (
        f"Bound: {bound.source:,} tokens (1 - {bound.sum_rf:.3f}) = {bound.limit:,.0f}; "
        f"measured {bound.result:,}: it {outcome}."
    )


def _remarks(trace: Trace) -> Iterator[RenderableType]:
    for reason in trace.reasons:
        yield _plain(f"Reason: {reason}")
    if trace.passed_through:
        yield _plain(f"Passed through as JSON, which is smaller: {_listed(trace.passed_through)}")
    if trace.hidden_policy:
        yield _plain(f"Policy sentences are left out of: {_listed(trace.hidden_policy)}")


def _listed(names: Iterable[str]) -> str:
    """Names in a row, the first of many."""
    every = list(names)
    more = f" and {len(every) - MOST_NAMES} more" if len(every) > MOST_NAMES else ""
    return ", ".join(every[:MOST_NAMES]) + more


def _tool_table(stats: Stats) -> Table:
    table = _table("Tokens of each tool", "tool", "detail", "JSON", "sent", "saved", "sentences left out")
    ranked = sorted(stats.per_tool.items(), key=lambda item: (item[1].tokens - item[1].baseline_tokens, item[0]))
    for name, tool in ranked:
        hidden = _number(tool.hidden.sentences) if tool.hidden.sentences else ""
        figures = (_number(tool.baseline_tokens), _number(tool.tokens), _share(tool.tokens, tool.baseline_tokens))
        table.add_row(_plain(name), tool.detail, *figures, hidden)
    return table


def recommendation_table(found: Recommendation) -> Iterator[RenderableType]:
    """The advice with its reason, and the candidates."""
    advice = [f"mode {found.mode}", f"profile {found.profile}"]
    advice += [f"map {found.map}"] if found.map else []
    advice += [f"handles {found.handles}"] if found.handles not in ("", "names") else []
    advice += [f"budget {found.budget:,}"] if found.budget is not None else []
    yield _plain(f"{', '.join(advice)}: {found.reason}")
    if not found.choices:
        return
    counted = "counted" if found.exact else "estimated"
    columns = ("mode", "profile", f"tokens ({counted})", "saved", "of context", "provider enforces", "alike", "lookups")
    table = _table("Candidates", *columns)
    for choice in found.choices:
        mode = f"{choice.mode}, {choice.map}" if choice.map else choice.mode
        share = "" if choice.share is None else f"{choice.share:.1%}"
        figures = (_number(choice.tokens), f"{choice.saved:.1%}", share)
        alike, lookups = (f"{choice.lookalikes:,}", f"{choice.lookups:g}") if choice.map else ("", "")
        table.add_row(mode, choice.profile, *figures, choice.enforced, alike, lookups)
    yield table


def catalog_table(catalog: Catalog) -> Table:
    """The tools of a catalog with their parameters."""
    table = _table(f"{len(catalog)} tools", "tool", "parameters", "description")
    for tool in catalog:
        params = ", ".join(param.name if param.required else f"{param.name}?" for param in tool.params)
        table.add_row(_plain(tool.name), _plain(params), _plain(tool.description.split("\n")[0]))
    return table


def diff_text(diff: Diff) -> str:
    """The differences, one a line.

    >>> from tscg.differences import Diff
    >>> diff_text(Diff(added=("ping",))), diff_text(Diff())
    ('+ ping', 'no difference')
    """
    lines = [f"- {name}" for name in diff.removed]
    lines += [f"+ {name}" for name in diff.added]
    for tool in diff.changed:
        lines.append(f"~ {tool.name}")
        for change in tool.changes:
            place = ".".join(change.path)
            what = f"{change.kind} of {place}" if place else change.kind
            lines.append(f"    {what}: {_quoted(change.before)} -> {_quoted(change.after)}")
    return "\n".join(lines) or "no difference"


def decoded_dict(decoded: Decoded) -> dict[str, JSON]:
    """What was decoded as plain JSON values; each item has a ``type``: call, lookup, error or program."""
    types = {"Call": "call", "Lookup": "lookup", "CallError": "error", "Program": "program"}
    items = [{"type": types[type(item).__name__], **asdict(item)} for item in decoded.items]
    found: dict[str, JSON] = json.loads(json.dumps({
        "items": items, "text": decoded.text, "reasoning": decoded.reasoning,
        "warnings": [asdict(notice) for notice in decoded.warnings], "finish_reason": decoded.finish_reason,
    }))  # fmt: skip
    return found


def decoded_text(decoded: Decoded) -> str:
    """What was decoded, one item after the other."""
    lines: list[str] = []
    for item in decoded_dict(decoded)["items"]:  # type: ignore[union-attr]
        assert isinstance(item, dict)
        lines.append(_item_line(item))
        repairs = item.get("repairs")
        lines += [f"    repaired: {repair}" for repair in repairs] if isinstance(repairs, list) else []
    if decoded.text.strip():
        lines.append(f"text: {decoded.text.strip()}")
    return "\n".join(lines) or "nothing was said"


def _item_line(item: Mapping[str, JSON]) -> str:
    if item["type"] == "call":
        return f"call {item['name']} {json.dumps(item['arguments'], ensure_ascii=False)}"
    if item["type"] == "lookup":
        tools = item["tools"]
        return f"lookup {', '.join(map(str, tools)) if isinstance(tools, list) and tools else item['query']}"
    return f"error {item['message']}" if item["type"] == "error" else f"program {item['code']}"


def _table(title: str, *columns: str) -> Table:
    from rich.table import Table

    numbers = {
        "tokens", "saved", "JSON", "sent", "of context", "sentences left out", "before", "after", "change", "touched",
        "tools", "alike", "lookups",
    }  # fmt: skip
    table = Table(title=title, title_justify="left")
    for column in columns:
        right = column in numbers or column.startswith("tokens (")
        table.add_column(column, justify="right" if right else "left", overflow="fold")
    return table


def _plain(text: str) -> RenderableType:
    """A text of somebody else's: brackets in it are no markup."""
    from rich.text import Text

    return Text(text)


def _number(value: int) -> str:
    return f"{value:,}"


def _share(tokens: int, baseline: int) -> str:
    return f"{1 - tokens / baseline:.1%}" if baseline else ""


def _quoted(text: str) -> str:
    shown = text if len(text) <= 200 else f"{text[:200]}..."
    return json.dumps(shown, ensure_ascii=False) if shown else "(none)"
