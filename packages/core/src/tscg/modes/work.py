"""One compilation with its options resolved: what is sent, and the compiled catalog made of it."""

from __future__ import annotations

import json
import marshal
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import attrgetter

from tscg.costs import Costs, costs_of
from tscg.ir import Catalog, Tool
from tscg.language.emit import Emitted, emit
from tscg.language.spelling import ADDED, DEFAULT, Spelling, spelling_of
from tscg.modes.compiled import CompiledCatalog
from tscg.modes.names import wire_names
from tscg.modes.options import Code, Dispatch, Mode, Native, Passthrough, Text
from tscg.modes.sent import Sent
from tscg.modes.text import SHARED, prompt
from tscg.pipeline import rewritten
from tscg.profiles import Profile
from tscg.record import Record, replace
from tscg.taught import hides, how_to_call, lookup_name

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import Any

    from tscg.decoding import Decoding
    from tscg.modes.append import Past
    from tscg.tokenizers import Tokenizer

__all__ = ["Choice", "Fitted", "Work"]

_NAME, _FAULTS = attrgetter("name"), attrgetter("faults")


class Fitted(Record):
    """The catalog as it is shown, and the rung of each tool by name."""

    shown: Catalog
    rungs: Mapping[str, str]


class Choice(Record):
    """Options resolved: what they stand for, and why.

    ``active`` are the operators that run, ``before`` is what stands before the legend; ``dialect`` and ``encoding`` are
    those of the model's row. ``budget`` is the advice's where none was given.
    """

    mode: Mode
    profile: Profile
    encoding: str
    dialect: str
    active: frozenset[str]
    before: str = ""
    budget: int | None = None
    reasons: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class Work(Record):
    """One compilation with its options resolved."""

    catalog: Catalog
    chosen: Choice
    model: str | None
    counting: object
    pin: frozenset[str]
    notes: Mapping[str, object] | None
    past: Past | None
    budget: int | None
    must_call: bool
    parallel: bool
    uses: Mapping[str, int] | None

    @property
    def costs(self) -> Costs:
        """The cost table of the encoding."""

        return costs_of(self.chosen.encoding)

    @cached_property
    def wire_names(self) -> Mapping[str, str]:
        """Wire names of the tools; those given out before stay."""

        if self.past is None:
            return wire_names(map(_NAME, self.catalog.tools))
        return wire_names(map(_NAME, self.catalog.tools), kept=self.past.wire_names)

    @property
    def spelling(self) -> Spelling:
        """The spelling for the encoding."""

        return spelling_of(self.chosen.encoding)

    def emitted(self, shown: Catalog, sharing: bool = True) -> Emitted:
        """The tools in the language."""
        return emit(shown, self.spelling, self.costs, sharing=sharing and self.chosen.profile.cse)

    # --- what is sent -------------------------------------------------------------------------------------------------

    def prompt(self, parts: Sequence[str], shown: Catalog, lookup: str, *, shares: bool, adds: bool = False) -> str:
        """How to call, the catalog block, and what the profile says once more behind it."""
        if not any(parts):
            return ""
        how = how_to_call(
            self.chosen.dialect, must_call=self.must_call, parallel=self.parallel,
            lookup=lookup, constrained=getattr(self.chosen.mode, "constrained", False),
        )  # fmt: skip
        before = [self.chosen.before] if self.chosen.before else []
        behind = [text for text in (self.anchors(shown), self.closure(shown)) if text]
        return prompt([how, *before], parts, behind, shares=shares, adds=adds)

    def lookup(self, shown: Catalog) -> str:
        """Name of the lookup in text mode: there is one where prose is hidden and no call is required."""
        if self.past is not None and self.past.previous.prompt:
            return self.past.previous.lookup_tool
        if self.must_call or (self.chosen.profile.kept is None and self.budget is None):
            return ""
        listed = self.catalog
        if self.pin:
            listed = listed.replace([tool for tool in listed if tool.name not in self.pin])
        if not hides(listed, shown):
            return ""
        return lookup_name(list(map(_NAME, self.catalog.tools)))

    def anchors(self, shown: Catalog) -> str:
        """What SAD-F says once more, empty where it is not active."""

        profile = self.chosen.profile
        if "sad" not in self.chosen.active:
            return ""
        from tscg.operators.sad import anchors

        return anchors(
            shown, budget=profile.anchors, k=profile.anchor_tools, count=self.costs.structure, uses=self.uses
        )

    def closure(self, shown: Catalog) -> str:
        """What CCP recalls, empty where it is not active."""

        if "ccp" not in self.chosen.active:
            return ""
        from tscg.operators.ccp import closure

        return closure(shown, budget=self.chosen.profile.closure, count=self.costs.structure, uses=self.uses)

    def sent(self, shown: Catalog) -> Sent:
        """What the mode sends of a catalog as it is shown, pinned tools as wire tools beside it."""
        mode, pinned, past = self.chosen.mode, self.pin, self.past
        if isinstance(mode, Native | Passthrough):
            sent = self.natives(shown)
        else:
            rest = shown.replace([tool for tool in shown if tool.name not in pinned]) if pinned else shown
            wire = self.wire(shown) if pinned else []
            if isinstance(mode, Text):
                sent = self.texts(rest)
            else:
                sent = self.indirect(mode, rest, wire)
            if pinned:
                sent = replace(sent, wire=(*sent.wire, *wire), native=pinned)
        if past is None:
            return sent
        from tscg.modes.append import lines_after, wire_after

        if isinstance(mode, Dispatch):
            sent = lines_after(past.previous, sent, {tool.name: tool.server for tool in self.catalog})
        return replace(sent, wire=wire_after(past.previous, sent.wire))

    def natives(self, shown: Catalog) -> Sent:
        """Native and passthrough mode; the rest of a description that is too long for a provider goes into a prompt."""
        wire, prompt = tuple(self.wire(shown)), ""
        if self.model is not None and isinstance(self.chosen.mode, Native):
            from tscg.models import row_of
            from tscg.modes.overflow import continued

            limit = row_of(self.model).description_limit
            if limit is not None:
                wire, prompt = continued(wire, limit)
        return Sent(wire=wire, native=frozenset(tool.name for tool in shown), prompt=prompt)

    def texts(self, shown: Catalog) -> Sent:
        """Text mode: the catalog in the language, behind that of an earlier compilation where there is one."""
        lookup = self.lookup(shown)
        if self.past is None:
            emitted = self.emitted(shown)
            prompt = self.prompt(emitted.parts, shown, lookup, shares=emitted.head != "")
            return Sent(prompt=prompt, emitted=emitted, lookup_tool=lookup)
        from tscg.modes.append import text_after

        sent = text_after(self.past.previous, shown, lambda new: self.emitted(new, sharing=False))
        shares, adds = SHARED in self.past.previous.prompt, f"\n{ADDED}" in sent.text
        text = self.prompt([sent.text], shown, lookup, shares=shares, adds=adds)
        return replace(sent, prompt=text, lookup_tool=lookup)

    def indirect(self, mode: Dispatch | Code, rest: Catalog, pinned: Sequence[dict[str, Any]]) -> Sent:
        """The dispatcher with its map, or the stubs, beside the wire tools of pinned tools."""
        from tscg.modes.parts import Parts

        original = {tool.name: tool for tool in self.catalog}
        parts = Parts(
            tools=rest.replace([original[tool.name] for tool in rest]), shown=rest, spelling=self.spelling,
            costs=self.costs, taken=frozenset(tool["name"] for tool in pinned), notes=self.notes,
            codes=None if self.past is None else self.past.previous.sent.codes,
            pair=None if self.past is None else self.past.pair, must_call=self.must_call, parallel=self.parallel,
        )  # fmt: skip
        if isinstance(mode, Code):
            from tscg.modes.code import code, code_after

            return code(mode, parts) if self.past is None else code_after(mode, parts, self.past.previous)
        from tscg.modes.dispatch import dispatch, fitted

        if self.budget is None:
            return dispatch(mode, parts)
        return fitted(mode, parts, self.budget - self.counter.count(_form(pinned)), self.counter.count)

    def pinned_alone(self, catalog: Catalog) -> Catalog:
        """The catalog with the profile applied to pinned tools alone: a map is the same under every profile."""
        if not self.pin:
            return catalog
        shown = iter(
            rewritten(catalog.replace([tool for tool in catalog if tool.name in self.pin]), self.chosen.profile)
        )
        return catalog.replace([next(shown) if tool.name in self.pin else tool for tool in catalog])

    def wire(self, shown: Catalog) -> list[dict[str, Any]]:
        """The wire tools of native and passthrough mode, and of pinned tools."""
        names = self.wire_names
        if isinstance(self.chosen.mode, Passthrough):
            return [
                {"name": names.get(t.name, t.name), "description": t.original_description, "parameters": t.schema}
                for t in self.catalog
            ]
        from tscg.modes.native import native_tool

        return [
            native_tool(tool, kept, names.get(tool.name, tool.name), self.spelling, self.costs)
            for tool, kept in zip(self.catalog, shown, strict=True)
            if not self.pin or tool.name in self.pin
        ]

    # --- budget -------------------------------------------------------------------------------------------------------

    @cached_property
    def counter(self) -> Tokenizer:
        """What counts for the budget."""

        from tscg.tokenizers import tokenizer_of

        return tokenizer_of(self.counting, self.model)

    def fitted(self, budget: int) -> Fitted:
        """The tools with the most prose that fits."""

        from tscg.budget import fit

        counter = self.counter

        def size(shown: Catalog) -> int:
            sent = self.sent(shown)
            return counter.count(sent.prompt) + counter.count(_form(sent.wire))

        def count(tools: Sequence[Tool]) -> Sequence[int]:
            entries = emit(Catalog(tools=tuple(tools)), DEFAULT, self.costs, sharing=False).entries
            return [counter.count(entry) for entry in entries]

        found = fit(self.catalog, self.chosen.profile, budget, size, count)
        return Fitted(shown=found.shown, rungs=found.rungs)

    # --- the result ---------------------------------------------------------------------------------------------------

    def compiled(
        self, fitted: Fitted, decoding: str | Decoding, reasons: tuple[str, ...], budget: int | None, given: bool
    ) -> CompiledCatalog:
        """The compiled catalog: what is sent with all that the way back needs."""
        shown, text_mode = fitted.shown, isinstance(self.chosen.mode, Text)
        sent = self.sent(shown)
        wire = sent.wire
        if wire:
            sent = replace(sent, wire=())
        return CompiledCatalog(
            catalog=self.catalog, shown=shown, options=self.chosen.mode, profile_used=self.chosen.profile,
            encoding=self.chosen.encoding, counting=self.counting, model=self.model, sent=sent,
            wire=marshal.dumps(wire, 2) if wire else b"",
            wire_names=self.wire_names, details=sent.details or fitted.rungs,
            dialect=self.chosen.dialect, active=self.chosen.active, decoding_used=decoding,
            warnings=(*_warnings(self.catalog), *self.chosen.warnings, *sent.warnings), reasons=reasons,
            budget=budget, given_order=given,
            must_call=self.must_call, parallel=self.parallel, gone=() if self.past is None else self.past.gone,
            before={} if self.past is None else self.past.previous.listed,
            anchors=self.anchors(shown) if text_mode else "", closure=self.closure(shown) if text_mode else "",
        )  # fmt: skip


def _form(wire: Sequence[dict[str, Any]]) -> str:
    """Wire tools as they are counted: minified, in OpenAI's chat form; empty for none."""
    tools = [{"type": "function", "function": tool} for tool in wire]
    return json.dumps(tools, ensure_ascii=False, separators=(",", ":")) if tools else ""


def _warnings(catalog: Catalog) -> tuple[str, ...]:
    """Places of tools that are read as "anything", and so are not checked."""
    return tuple([f"unchecked: {fragment}" for fragment in chain.from_iterable(map(_FAULTS, catalog.tools))])
