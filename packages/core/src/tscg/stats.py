"""What a compiled catalog costs in tokens, beside the two baselines: minified and pretty JSON of the same tools."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tscg.ir import JSON, Catalog, Tool
from tscg.tokenizers import Tokenizer, is_exact

__all__ = ["Hidden", "Stats", "StatsInput", "ToolStats", "baseline_tokens", "openai_form", "stats_of", "tokens_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hidden:
    """Prose that a profile leaves out: how many sentences, and their tokens."""

    sentences: int = 0
    tokens: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolStats:
    """One tool: tokens of its entry as sent, of its minified JSON, the rung of the detail ladder, what is left out."""

    tokens: int
    baseline_tokens: int
    detail: str = ""
    hidden: Hidden = Hidden()

    @property
    def saved(self) -> float:
        """Share of the baseline that is saved, negative where the entry grew."""
        return _saved(self.tokens, self.baseline_tokens)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """Tokens of everything that a compiled catalog sends.

    ``tokens`` counts the prompt and the minified tools field; ``fixed_tokens`` is the part of the prompt that does not
    depend on the catalog. ``baseline_tokens`` is the same catalog as a minified tools field of OpenAI's chat form,
    ``pretty_tokens`` the same with an indent of 2. ``lookalikes`` counts lines that differ from another by one word of
    the name alone, ``notes`` the lines of a person's own. ``exact`` says whether ``tokenizer`` counted truly.
    """

    tokens: int
    baseline_tokens: int
    pretty_tokens: int
    fixed_tokens: int
    hidden: Hidden
    lookalikes: int
    notes: int
    per_tool: Mapping[str, ToolStats]
    exact: bool
    tokenizer: str

    @property
    def saved(self) -> float:
        """Share of ``baseline_tokens`` that is saved: negative where it grew, 0 for no tools."""
        return _saved(self.tokens, self.baseline_tokens) if self.per_tool else 0.0

    def to_dict(self) -> dict[str, JSON]:
        """The same as plain JSON values, with ``saved``."""
        from dataclasses import asdict

        tools = {name: {**asdict(tool), "saved": round(tool.saved, 6)} for name, tool in self.per_tool.items()}
        return {**asdict(self), "saved": round(self.saved, 6), "per_tool": tools}


@dataclass(frozen=True, slots=True, kw_only=True)
class StatsInput:
    """What is counted. ``text`` is the catalog's part of ``prompt``, ``fixed`` the rest of it.

    ``entries`` holds, by the name of the tool, what reaches the model of it: its entry in the text, or its wire tool as
    minified JSON where it has one. ``wire`` is the tools field in OpenAI's chat form; ``hidden`` lists sentences.
    """

    prompt: str
    text: str
    entries: Mapping[str, str]
    wire: Sequence[Mapping[str, JSON]]
    catalog: Catalog
    tokenizer: Tokenizer
    fixed: str = ""
    details: Mapping[str, str] = field(default_factory=dict)
    hidden: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    lookalikes: int = 0
    notes: int = 0


def stats_of(parts: StatsInput) -> Stats:
    """Count everything; reads a vocabulary where the tokenizer needs one.

    >>> from tscg.tokenizers import tokenizer_of
    >>> catalog = Catalog.from_tools([{"name": "ping", "description": "Checks the server", "parameters": {}}])
    >>> text = "ping() Checks the server"
    >>> parts = StatsInput(prompt=text, text=text, entries={"ping": text}, wire=[], catalog=catalog,
    ...                    tokenizer=tokenizer_of(len))
    >>> stats = stats_of(parts)
    >>> stats.tokens, stats.baseline_tokens, round(stats.saved, 2)
    (24, 98, 0.76)
    """
    count = parts.tokenizer.count
    forms = {tool.name: openai_form(tool) for tool in parts.catalog}
    sent = {name: text for name, text in parts.entries.items() if name in forms}
    for item in parts.wire:
        function = item.get("function")
        name = function.get("name") if isinstance(function, dict) else None
        if isinstance(name, str) and name in forms:
            sent.setdefault(name, minified(item))
    small = {name: minified(form) for name, form in forms.items()}
    per_tool = {
        name: ToolStats(
            tokens=count(sent.get(name, "")),
            baseline_tokens=count(small[name]),
            detail=parts.details.get(name, ""),
            hidden=_hidden(parts.hidden.get(name, ()), parts.tokenizer),
        )
        for name in forms
    }
    return Stats(
        tokens=count(parts.prompt) + (count(minified(list(parts.wire))) if parts.wire else 0),
        baseline_tokens=baseline_tokens(parts.catalog, parts.tokenizer),
        pretty_tokens=count(json.dumps(list(forms.values()), ensure_ascii=False, indent=2)) if forms else 0,
        fixed_tokens=count(parts.fixed),
        hidden=Hidden(
            sentences=sum(tool.hidden.sentences for tool in per_tool.values()),
            tokens=sum(tool.hidden.tokens for tool in per_tool.values()),
        ),
        lookalikes=parts.lookalikes,
        notes=parts.notes,
        per_tool=per_tool,
        exact=is_exact(parts.tokenizer),
        tokenizer=parts.tokenizer.name,
    )


def tokens_of(prompt: str, wire_tools: Sequence[Mapping[str, JSON]], tokenizer: Tokenizer) -> int:
    """Tokens of a prompt and of neutral wire tools as a minified tools field of OpenAI's chat form."""
    wire = [{"type": "function", "function": tool} for tool in wire_tools]
    return tokenizer.count(prompt) + (tokenizer.count(minified(wire)) if wire else 0)


def baseline_tokens(catalog: Catalog, tokenizer: Tokenizer) -> int:
    """Tokens of the tools themselves as a minified tools field of OpenAI's chat form, 0 for none."""
    return tokenizer.count(minified([openai_form(tool) for tool in catalog])) if len(catalog) else 0


def openai_form(tool: Tool) -> dict[str, JSON]:
    """A tool as an entry of OpenAI's chat tools field, prose and schema untouched: the unit of the baseline."""
    function: dict[str, JSON] = {"name": tool.name, "description": tool.original_description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def minified(value: object) -> str:
    """JSON without blanks, UTF-8 as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _hidden(sentences: Sequence[str], tokenizer: Tokenizer) -> Hidden:
    return Hidden(sentences=len(sentences), tokens=tokenizer.count(" ".join(sentences)) if sentences else 0)


def _saved(tokens: int, baseline: int) -> float:
    return 1 - tokens / baseline if baseline else 0.0
