"""Figures and texts of one choice."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property

from tscg.compiler import compile
from tscg.ir import JSON, Catalog
from tscg.language.emit import emit
from tscg.language.spelling import spelling_of
from tscg.modes.compiled import CompiledCatalog
from tscg.operators.detail import Keep
from tscg.operators.prose import without_prose
from tscg.profiles import Profile
from tscg.stats import minified, tokens_of
from tscg.tokenizers import Tokenizer
from tscg.trace import Trace

__all__ = ["Figures"]

BARE = Profile(name="bare", keep=Keep(tool=(), parameter=(), other=()), titles=False, examples=False)
"""Shows no prose: what is left of the tokens is structure."""


class Figures:
    """One compiled form of a catalog, counted.

    ``compiled.stats`` counts the baselines anew each time, and a page has some 35 forms of one catalog; a test holds
    the two together. ``bare`` keeps the tokens of structure by mode, for the forms that come after.
    """

    def __init__(self, compiled: CompiledCatalog, catalog: Catalog, counter: Tokenizer, bare: dict[str, int]) -> None:
        self.compiled, self.catalog, self.counter, self.bare = compiled, catalog, counter, bare

    def to_dict(self) -> dict[str, JSON]:
        """Tokens of all that is sent, what they are for, and those of each tool."""
        compiled, count = self.compiled, self.counter.count
        figures: dict[str, JSON] = {
            "tokens": self.tokens,
            "spent": dict(self._spent()),
            "shared": count(compiled.emitted.head) if compiled.emitted is not None else 0,
            "sent": [count(self.entries.get(tool.name, "")) for tool in self.catalog],
            "warnings": list(compiled.warnings),
        }
        if compiled.mode == "dispatch":
            figures["lines"] = [compiled.details.get(tool.name, "") for tool in self.catalog]
        return figures

    def operators(self, trace: Trace) -> dict[str, JSON]:
        """What each operator did, in all and by tool, and the bound."""
        steps: list[JSON] = [
            {
                "operator": step.operator, "kind": step.kind, "before": step.before, "after": step.after,
                "tools": [step.per_tool.get(tool.name, 0) for tool in self.catalog],
            }
            for step in trace.steps
        ]  # fmt: skip
        bound = trace.bound
        shown: JSON = {"limit": round(bound.limit), "result": bound.result, "holds": bound.holds}
        return {"steps": steps, "bound": shown}

    # --- texts --------------------------------------------------------------------------------------------------------

    @cached_property
    def entries(self) -> Mapping[str, str]:
        """What reaches the model of each tool, by name."""
        native = self.compiled.sent.native
        return {**self.compiled.entries, **{name: text for name, text, _ in self._wire if name in native}}

    def texts(self) -> list[tuple[str, str]]:
        """The entry of each tool, and the same with all that it shares written out, where that differs."""
        compiled, whole = self.compiled, dict[str, str]()
        if compiled.emitted is not None:
            listed = compiled.shown.replace([tool for tool in compiled.shown if tool.name in compiled.entries])
            alone = emit(listed, spelling_of(compiled.encoding), compiled.costs, sharing=False).entries
            whole = dict(zip([tool.name for tool in listed], alone, strict=True))
        pairs = [(self.entries.get(tool.name, ""), whole.get(tool.name, "")) for tool in self.catalog]
        return [(sent, alone if alone != sent else "") for sent, alone in pairs]

    def around(self) -> dict[str, JSON]:
        """What stands around the entries: all that is fixed, and the block of what is said once for several tools."""
        compiled = self.compiled
        prompt = compiled.prompt.replace(compiled.text, "[the tools]", 1) if compiled.text else compiled.prompt
        wire = [text for name, text, _ in self._wire if name not in compiled.sent.native]
        shared = compiled.emitted.head if compiled.emitted is not None else ""
        return {"fixed": "\n\n".join(text for text in (prompt, *wire) if text), "shared": shared}

    @cached_property
    def _wire(self) -> list[tuple[str, str, bool]]:
        """The wire tools as minified JSON: name of the tool, text, and whether it stands for a namespace."""
        names = {wire: name for name, wire in self.compiled.wire_names.items()}
        return [
            (
                names.get(item["name"], item["name"]), minified({"type": "function", "function": item}),
                item["name"] in self.compiled.sent.groups,
            )
            for item in self.compiled.wire_tools
        ]  # fmt: skip

    # --- tokens -------------------------------------------------------------------------------------------------------

    @cached_property
    def tokens(self) -> int:
        """Tokens of all that is sent."""
        return tokens_of(self.compiled.prompt, self.compiled.wire_tools, self.counter)

    @cached_property
    def fixed(self) -> int:
        """Tokens of what does not depend on the tools, and of what a profile says once more behind them."""
        compiled = self.compiled
        prompt = compiled.prompt.replace(compiled.text, "", 1) if compiled.text else compiled.prompt
        wire = [text for name, text, group in self._wire if not group and name not in compiled.sent.native]
        return self.counter.count("".join([prompt, *wire]))

    def _spent(self) -> Iterator[tuple[str, int]]:
        """What the tokens of all that is sent are for; nothing in passthrough, which sends the JSON."""
        if self.compiled.mode == "passthrough":
            return
        again = sum(map(self.counter.count, (self.compiled.anchors, self.compiled.closure)))
        rest = self.tokens - self.fixed
        yield "fixed", self.fixed - again
        if again:
            yield "again", again
        structure = self._structure()
        if structure is None:
            yield "catalog", rest
        else:
            yield "structure", min(structure, rest)
            yield "prose", max(rest - structure, 0)

    def _structure(self) -> int | None:
        """Tokens of the catalog's part with no prose in it, where that can be told."""
        compiled = self.compiled
        if compiled.mode != "native" and compiled.sent.native:
            return None
        if compiled.mode == "dispatch":
            return self.tokens - self.fixed
        if compiled.emitted is not None:
            bare = compiled.shown.replace([without_prose(tool) for tool in compiled.shown])
            spelling, sharing = spelling_of(compiled.encoding), compiled.profile_used.cse
            return self.counter.count(emit(bare, spelling, compiled.costs, sharing=sharing).text)
        if compiled.budget is not None:
            return None
        if compiled.mode not in self.bare:
            made = compile(compiled.catalog, compiled.options, BARE, model=compiled.model, order="given")
            figures = Figures(made, self.catalog, self.counter, {})
            self.bare[compiled.mode] = figures.tokens - figures.fixed
        return self.bare[compiled.mode]
