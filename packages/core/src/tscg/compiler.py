"""``compile``: from tools to a compiled catalog."""

from __future__ import annotations

import json
import marshal
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tscg.costs import Costs, costs_of
from tscg.errors import ConfigError
from tscg.formats.read import read_catalog
from tscg.ir import Catalog, Tool
from tscg.language.emit import Emitted, emit
from tscg.language.spelling import DEFAULT, SPELLINGS, Spelling, spelling_of
from tscg.modes.compiled import CompiledCatalog
from tscg.modes.names import wire_names
from tscg.modes.options import Mode, Native, Passthrough, Text, mode_of
from tscg.modes.text import prompt
from tscg.pipeline import arranged, led, rewritten
from tscg.profiles import Profile, profile_of
from tscg.record import Record
from tscg.taught import TAUGHT, how_to_call

if TYPE_CHECKING:
    from tscg.decoding import Decoding

__all__ = ["compile"]

KEPT = 64  # compiled forms kept beside each catalog
_lock = threading.Lock()


def compile(
    tools: Any,
    mode: str | Mode = "text",
    profile: str | Profile = "balanced",
    *,
    model: str | None = None,
    tokenizer: object = None,
    budget: int | None = None,
    order: str | None = None,
    on_error: str = "raise",
    on_duplicate: str = "prefix",
    must_call: bool = False,
    parallel: bool = True,
    decoding: str | Decoding = "safe",
    uses: Mapping[str, int] | None = None,
) -> CompiledCatalog:
    """Compile tools for a model.

    ``tools`` is a list in any mix of the accepted forms, or a :class:`tscg.Catalog`. ``mode`` is a name or an options
    object, ``profile`` a name, ``"auto"`` (chosen by model and size) or a :class:`tscg.Profile`. ``budget`` is the most
    tokens that prompt and wire tools may take. ``order="given"`` keeps the order of the tools (else by server and
    name). ``must_call`` and ``parallel=False`` add the sentence that a call is required, or only one allowed. ``uses``
    are use counts by tool for the profiles that order tools.

    The same input gives the same bytes everywhere. Raises :class:`tscg.CompileError` for tools that cannot be compiled
    and :class:`tscg.ConfigError` for wrong options.

    >>> compiled = compile([{"name": "ping", "description": "Health check"}])
    >>> compiled.text
    'ping() Health check'
    """
    catalog = tools if isinstance(tools, Catalog) else read_catalog(tools, on_error=on_error, on_duplicate=on_duplicate)
    counts = None if uses is None else tuple(sorted(uses.items()))
    key = (mode, profile, model, tokenizer, budget, order, must_call, parallel, decoding, counts)
    kept: OrderedDict[Any, CompiledCatalog] = catalog.__dict__.setdefault("_compiled", OrderedDict())

    def compiled() -> CompiledCatalog:
        return _compile(
            catalog, mode, profile, model, tokenizer, budget=budget, order=order, must_call=must_call,
            parallel=parallel, decoding=decoding, uses=uses,
        )  # fmt: skip

    try:
        found = kept.get(key)
    except TypeError:  # something unhashable, such as a wrong option: it is judged below
        return compiled()
    if found is None:
        found = compiled()
        with _lock:
            kept[key] = found
            while len(kept) > KEPT:
                kept.popitem(last=False)
    return found


class _Fitted(Record):
    """The catalog as it is shown, and the rung of each tool by name."""

    shown: Catalog
    rungs: Mapping[str, str]


class _Choice(Record):
    """Options resolved: what they stand for, and why."""

    mode: Mode
    profile: Profile
    encoding: str
    dialect: str
    active: frozenset[str]
    before: str
    reasons: tuple[str, ...]


def _compile(
    catalog: Catalog, mode: Any, profile: Any, model: str | None, tokenizer: object, *, budget: Any,
    order: str | None, must_call: bool, parallel: bool, decoding: Any, uses: Mapping[str, int] | None,
) -> CompiledCatalog:  # fmt: skip
    if order not in (None, "given"):
        raise ConfigError(
            f"unknown order {order!r}", allowed=("given",), hint="leave it out to order by server and name"
        )
    if budget is not None and (not isinstance(budget, int) or isinstance(budget, bool) or budget < 1):
        raise ConfigError(
            f"budget is {budget!r}", hint="it is the most tokens that prompt and wire tools may take, 1 or more"
        )
    chosen = _choose(catalog, mode, profile, model, tokenizer)
    if budget is not None and isinstance(chosen.mode, Passthrough):
        raise ConfigError(
            "passthrough sends the tools as they are and takes no budget", hint="use mode='text' or 'native'"
        )
    ordered = arranged(catalog, chosen.active, given=order == "given", uses=uses)
    work = _Work(
        catalog=ordered,
        chosen=chosen,
        model=model,
        counting=tokenizer,
        must_call=must_call,
        parallel=parallel,
        uses=uses,
    )
    reasons = chosen.reasons
    if budget is None:
        shown = led(rewritten(ordered, chosen.profile), chosen.active)
        fitted = _Fitted(shown=shown, rungs=dict.fromkeys((tool.name for tool in shown), chosen.profile.name))
    else:
        fitted = work.fitted(budget)
        fitted = _Fitted(shown=led(fitted.shown, chosen.active), rungs=fitted.rungs)
        reasons = (*reasons, f"budget {budget}: what each tool got is in stats.per_tool")
    return work.compiled(fitted, _checked(decoding), reasons, budget, order == "given")


def _choose(catalog: Catalog, mode: Any, profile: Any, model: str | None, tokenizer: object) -> _Choice:
    reasons: list[str] = []
    encoding = tokenizer if isinstance(tokenizer, str) and tokenizer in SPELLINGS else "o200k_base"
    dialect, before = "tool_call", ""
    active: frozenset[str] | None = None
    if (
        model is not None
        or profile == "auto"
        or mode == "auto"
        or getattr(profile, "cfl", False)
        or profile == "aggressive"
    ):
        from tscg.models import active as allowed
        from tscg.models import choose_profile, row_of

        row = row_of(model)
        encoding = encoding if tokenizer is not None or row.encoding not in SPELLINGS else row.encoding
        dialect = row.dialect
        if profile == "auto":
            profile, reason = choose_profile(model, len(catalog), row.context)
            reasons.append(reason)
        resolved = profile_of(profile)
        active = allowed(resolved.asks, row, len(catalog))
        if row.answer_tag and "cfl" in resolved.asks:
            from tscg.operators.cfl import answer_tag

            before = answer_tag(row)
    if mode == "auto":
        from tscg.recommendation import recommend

        advice = recommend(catalog, model=model)
        mode = advice.mode
        reasons.append(advice.reason)
    options = mode_of(mode)
    if isinstance(options, Text) and options.dialect is not None:
        dialect = options.dialect
    if dialect != "tool_call" and isinstance(options, Text) and dialect not in TAUGHT:
        raise ConfigError(f"the dialect {dialect!r} is not taught", allowed=tuple(TAUGHT))
    resolved = profile_of(profile)
    return _Choice(
        mode=options, profile=resolved, encoding=encoding, dialect=dialect,
        active=resolved.asks if active is None else active, before=before, reasons=tuple(reasons),
    )  # fmt: skip


class _Work(Record):
    """One compilation with its options resolved."""

    catalog: Catalog
    chosen: _Choice
    model: str | None
    counting: object
    must_call: bool
    parallel: bool
    uses: Mapping[str, int] | None

    @property
    def costs(self) -> Costs:
        return costs_of(self.chosen.encoding)

    @property
    def spelling(self) -> Spelling:
        return spelling_of(self.chosen.encoding)

    def emitted(self, shown: Catalog) -> Emitted:
        return emit(shown, self.spelling, self.costs, sharing=self.chosen.profile.cse)

    # --- what is sent -------------------------------------------------------------------------------------------------

    def prompt(self, emitted: Emitted, shown: Catalog) -> str:
        """How to call, the catalog block, and what the profile says once more behind it."""
        if not len(shown):
            return ""
        how = how_to_call(self.chosen.dialect, must_call=self.must_call, parallel=self.parallel)
        before = [self.chosen.before] if self.chosen.before else []
        behind = [text for text in (self.anchors(shown), self.closure(shown)) if text]
        return prompt([how, *before], emitted, behind)

    def anchors(self, shown: Catalog) -> str:
        profile = self.chosen.profile
        if "sad" not in self.chosen.active:
            return ""
        from tscg.operators.sad import anchors

        return anchors(
            shown, budget=profile.anchors, k=profile.anchor_tools, count=self.costs.structure, uses=self.uses
        )

    def closure(self, shown: Catalog) -> str:
        if "ccp" not in self.chosen.active:
            return ""
        from tscg.operators.ccp import closure

        return closure(shown, budget=self.chosen.profile.closure, count=self.costs.structure, uses=self.uses)

    def wire(self, shown: Catalog) -> list[dict[str, Any]]:
        names = wire_names(tool.name for tool in self.catalog)
        if isinstance(self.chosen.mode, Passthrough):
            return [
                {"name": names.get(t.name, t.name), "description": t.original_description, "parameters": t.schema}
                for t in self.catalog
            ]
        if not isinstance(self.chosen.mode, Native):
            return []
        from tscg.modes.native import native_tool

        pairs = zip(self.catalog, shown, strict=True)
        return [
            native_tool(tool, kept, names.get(tool.name, tool.name), self.spelling, self.costs) for tool, kept in pairs
        ]

    # --- budget -------------------------------------------------------------------------------------------------------

    def fitted(self, budget: int) -> _Fitted:
        from tscg.budget import fit
        from tscg.tokenizers import tokenizer_of

        counter = tokenizer_of(self.counting, self.model)

        def size(shown: Catalog) -> int:
            if isinstance(self.chosen.mode, Text):
                return counter.count(self.prompt(self.emitted(shown), shown))
            tools = [{"type": "function", "function": tool} for tool in self.wire(shown)]
            return counter.count(json.dumps(tools, ensure_ascii=False, separators=(",", ":")))

        def count(tools: Sequence[Tool]) -> Sequence[int]:
            entries = emit(Catalog(tools=tuple(tools)), DEFAULT, self.costs, sharing=False).entries
            return [counter.count(entry) for entry in entries]

        found = fit(self.catalog, self.chosen.profile, budget, size, count)
        return _Fitted(shown=found.shown, rungs=found.rungs)

    # --- the result ---------------------------------------------------------------------------------------------------

    def compiled(
        self, fitted: _Fitted, decoding: str | Decoding, reasons: tuple[str, ...], budget: int | None, given: bool
    ) -> CompiledCatalog:
        shown, text_mode = fitted.shown, isinstance(self.chosen.mode, Text)
        emitted = self.emitted(shown) if text_mode else None
        wire = self.wire(shown)
        return CompiledCatalog(
            catalog=self.catalog, shown=shown, options=self.chosen.mode, profile_used=self.chosen.profile,
            encoding=self.chosen.encoding, counting=self.counting, model=self.model, emitted=emitted,
            prompt=self.prompt(emitted, shown) if emitted is not None else "",
            wire=marshal.dumps(wire, 2) if wire else b"",
            wire_names=wire_names(tool.name for tool in self.catalog), details=fitted.rungs,
            dialect=self.chosen.dialect, active=self.chosen.active, decoding_used=decoding,
            warnings=_warnings(self.catalog), reasons=reasons, budget=budget, given_order=given,
            anchors=self.anchors(shown) if text_mode else "", closure=self.closure(shown) if text_mode else "",
        )  # fmt: skip


def _checked(decoding: Any) -> str | Decoding:
    """The options of decoding, as given; the default is not even loaded here."""
    if decoding == "safe":
        return "safe"
    from tscg.decoding import decoding_of

    return decoding_of(decoding)


def _warnings(catalog: Catalog) -> tuple[str, ...]:
    """Places of tools that are read as "anything", and so are not checked."""
    return tuple(f"unchecked: {fragment}" for tool in catalog for fragment in tool.faults)
