"""What compression did, as one value: for a catalog, for a model call, or summed over many of both."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tscg.stats import Hidden, ToolStats, tokens_of

if TYPE_CHECKING:
    from tscg.ir import JSON
    from tscg.modes.compiled import CompiledCatalog
    from tscg.turns import Turn

__all__ = ["CompressionReport"]

COUNTERS = ("requests", "rounds", "lookups", "repairs", "errors", "dropped", "input_tokens", "output_tokens")
SIZES = ("tools", "tokens", "baseline_tokens", "sent_tokens", "plain_tokens")
TEXTS = ("mode", "profile", "map", "fingerprint", "tokenizer", "reason")
SEVERAL = "several"
HEAD = ("", "mode", "tools", "JSON", "sent", "saved", "requests", "rounds", "lookups", "repairs", "errors")


@dataclass(frozen=True, slots=True, kw_only=True)
class CompressionReport:
    """Tokens with and without compression, and what the model calls were.

    ``tokens`` and ``baseline_tokens`` are those of the tool definitions in one request: as sent, and as minified JSON.
    ``requests`` counts model calls as the caller sees them, ``rounds`` the answers of the model in them; so
    ``sent_tokens`` is ``tokens`` for each round (less the lookup tool in rounds without it), and ``plain_tokens`` is
    ``baseline_tokens`` for each request, since without compression there are no rounds for lookups and repairs.
    ``input_tokens`` and ``output_tokens`` are what the provider counted, 0 where it said nothing. ``warnings`` are
    those of the catalog: what of it is not checked, or known to go badly. ``label`` names a part (an agent); ``parts``
    holds the reports that a sum was made of, one for each catalog and label.

    >>> one = CompressionReport(mode="text", fingerprint="a", tokens=40, baseline_tokens=100, requests=1, rounds=2,
    ...                         sent_tokens=80, plain_tokens=100)
    >>> (one + one).requests, (one + one).saved == one.saved, round(one.saved, 2)
    (2, True, 0.2)
    """

    label: str = ""
    mode: str = ""
    profile: str = ""
    map: str = ""
    fingerprint: str = ""
    reason: str = ""
    tokenizer: str = ""
    exact: bool = True
    tools: int = 0
    tokens: int = 0
    baseline_tokens: int = 0
    sent_tokens: int = 0
    plain_tokens: int = 0
    requests: int = 0
    rounds: int = 0
    lookups: int = 0
    repairs: int = 0
    errors: int = 0
    dropped: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    hidden: Hidden = field(default_factory=Hidden)
    per_tool: Mapping[str, ToolStats] = field(default_factory=dict, hash=False)
    warnings: tuple[str, ...] = ()
    parts: tuple[CompressionReport, ...] = ()

    @classmethod
    def of(
        cls,
        compiled: CompiledCatalog,
        turn: Turn | None = None,
        *,
        whole: CompiledCatalog | None = None,
        sent_tokens: int | None = None,
        label: str = "",
        dropped: int = 0,
        input_tokens: int = 0,
        output_tokens: int = 0,
    ) -> CompressionReport:
        """The report of a catalog before any call, or of one model call from the turn that ended it.

        ``whole`` is the catalog of which ``compiled`` is the part that was sent, such as a tool that is forced: the
        call without compression would have sent all of it. ``sent_tokens`` is for a host that knows better what the
        rounds sent, since it writes the tools in a form of its own. Counts tokens, and so reads a vocabulary.
        """
        stats, plain = compiled.stats, (whole or compiled).stats.baseline_tokens
        if sent_tokens is None:
            sent_tokens = 0 if turn is None else _sent(compiled, turn)
        return cls(
            label=label, mode=compiled.mode, profile=compiled.profile, map=str(getattr(compiled.options, "lines", "")),
            fingerprint=compiled.fingerprint, reason="; ".join(compiled.reasons), tokenizer=stats.tokenizer,
            exact=stats.exact, tools=len((whole or compiled).catalog), tokens=stats.tokens, baseline_tokens=plain,
            sent_tokens=sent_tokens, plain_tokens=plain if turn is not None else 0, requests=int(turn is not None),
            rounds=turn.rounds if turn is not None else 0, lookups=turn.lookups if turn is not None else 0,
            repairs=turn.repairs if turn is not None else 0, errors=turn.errors if turn is not None else 0,
            dropped=dropped, input_tokens=input_tokens, output_tokens=output_tokens, hidden=stats.hidden,
            per_tool=stats.per_tool, warnings=(whole or compiled).warnings,
        )  # fmt: skip

    @property
    def saved(self) -> float:
        """Share of the tokens saved: over all that was sent, or of one request before any; negative where it grew."""
        plain, sent = self.plain_tokens, self.sent_tokens
        if not self.requests:
            plain, sent = self.baseline_tokens, self.tokens
        return 1 - sent / plain if plain else 0.0

    @property
    def saved_tokens(self) -> int:
        """Tokens saved, by the same count as :attr:`saved`."""
        if not self.requests:
            return self.baseline_tokens - self.tokens
        return self.plain_tokens - self.sent_tokens

    def __add__(self, other: object) -> CompressionReport:
        """Counters add up; the sizes of one and the same catalog stay, those of different ones add up too."""
        if not isinstance(other, CompressionReport):
            return NotImplemented
        return _sum((*_leaves(self), *_leaves(other)))

    def __radd__(self, other: object) -> CompressionReport:
        """``sum`` begins with 0."""
        return self if other == 0 else NotImplemented

    def to_dict(self) -> dict[str, JSON]:
        """The same as plain JSON values, with what was saved; no text of a tool and no argument is in it."""
        found: dict[str, JSON] = {name: getattr(self, name) for name in ("label", *TEXTS, "exact", *SIZES, *COUNTERS)}
        found |= {"saved": round(self.saved, 6), "saved_tokens": self.saved_tokens}
        found["hidden"] = {"sentences": self.hidden.sentences, "tokens": self.hidden.tokens}
        found["per_tool"] = {
            name: {"tokens": tool.tokens, "baseline_tokens": tool.baseline_tokens, "detail": tool.detail}
            for name, tool in self.per_tool.items()
        }
        found["warnings"] = list(self.warnings)
        if self.parts:
            found["parts"] = [part.to_dict() for part in self.parts]
        return found

    def __str__(self) -> str:
        """A table in plain text: a line for each part, and their sum; under it the warnings."""
        rows: list[tuple[str, ...]] = [HEAD]
        rows += [_row(part) for part in self.parts]
        rows.append(_row(replace(self, label="all") if self.parts else self))
        widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
        lines = [
            "  ".join(
                cell.ljust(width) if column < 2 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([*lines, *(f"warning: {text}" for text in self.warnings)])


def _sent(compiled: CompiledCatalog, turn: Turn) -> int:
    """Tokens of the definitions in all rounds: some of them went without the lookup tool."""
    sent = compiled.stats.tokens * turn.rounds
    if turn.without_lookup:
        fewer = [tool for tool in compiled.wire_tools if tool["name"] != compiled.lookup_tool]
        less = compiled.stats.tokens - tokens_of(compiled.prompt, fewer, compiled.tokenizer)
        sent -= less * turn.without_lookup
    return sent


def _row(report: CompressionReport) -> tuple[str, ...]:
    mode = ", ".join(part for part in (report.mode, report.map, report.profile) if part)
    plain, sent = (report.plain_tokens, report.sent_tokens) if report.requests else (
        report.baseline_tokens, report.tokens
    )  # fmt: skip
    mark = "" if report.exact else "~"
    counts = (report.requests, report.rounds, report.lookups, report.repairs, report.errors)
    figures = (f"{report.tools:,}", f"{mark}{plain:,}", f"{mark}{sent:,}", f"{report.saved:.1%}")
    return (report.label, mode, *figures, *(f"{count:,}" for count in counts))


def _leaves(report: CompressionReport) -> tuple[CompressionReport, ...]:
    if report.parts:
        return report.parts
    return (report,) if report.fingerprint or report.requests else ()


def _sum(leaves: Iterable[CompressionReport]) -> CompressionReport:
    """One report of many: those of one catalog under one label are one part, the parts in the order of their names."""
    parts: dict[tuple[str, str], CompressionReport] = {}
    for leaf in leaves:
        key = (leaf.label, leaf.fingerprint)
        parts[key] = _joined(parts[key], leaf) if key in parts else leaf
    kept = tuple(parts[key] for key in sorted(parts))
    if len(kept) < 2:
        return kept[0] if kept else CompressionReport()
    texts: dict[str, Any] = {name: _shared([getattr(part, name) for part in kept]) for name in TEXTS}
    numbers: dict[str, Any] = {name: sum(getattr(part, name) for part in kept) for name in (*SIZES, *COUNTERS)}
    hidden = Hidden(
        sentences=sum(part.hidden.sentences for part in kept), tokens=sum(part.hidden.tokens for part in kept)
    )
    total = CompressionReport(
        label=_shared([part.label for part in kept]), exact=all(part.exact for part in kept), hidden=hidden, parts=kept,
        warnings=tuple(dict.fromkeys(text for part in kept for text in part.warnings)),
    )  # fmt: skip
    return replace(total, **texts, **numbers)


def _joined(one: CompressionReport, other: CompressionReport) -> CompressionReport:
    """Two reports of the same catalog."""
    names = (*COUNTERS, "sent_tokens", "plain_tokens")
    sums: dict[str, Any] = {name: getattr(one, name) + getattr(other, name) for name in names}
    return replace(one, **sums)


def _shared(values: list[str]) -> str:
    return values[0] if len(set(values)) == 1 else SEVERAL
