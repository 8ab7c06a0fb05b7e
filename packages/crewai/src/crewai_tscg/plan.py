"""What one model call sends: the compiled catalog, the tools in the provider's field, and what they cost."""

from __future__ import annotations

import threading
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import tscg
from crewai_tscg.convert import Toolset
from tscg.errors import TscgWarning
from tscg.lock import approved
from tscg.modes.options import agent_mode
from tscg.record import replace

if TYPE_CHECKING:
    from tscg.modes.options import Mode

__all__ = ["Facts", "Plan", "Planner", "Settings", "options_of", "provider_form"]

KEPT = 64  # plans of one handle
SHOWN = 5  # warnings of a catalog that are told
GEMINI = frozenset({"gemini", "google"})
_strict: dict[type, bool] = {}  # by the class of a model
PROBE = {
    "type": "function",
    "function": {"name": "probe", "description": "", "parameters": {"type": "object", "properties": {"a": {}}}},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How tools are sent: the options that the caller gave. ConfigError for those that no call could use."""

    mode: str | Mode = "auto"
    profile: str | tscg.Profile | tscg.Policy = "auto"
    pin: tuple[str, ...] = ()
    tokenizer: object = None
    max_lookups: int = 3
    max_repairs: int = 2
    lock: tscg.Lock | None = None
    on_drift: str = "error"

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Settings:
        """Settings from options as they were given: a lock may be the path of its file."""
        return cls(**{**given, "lock": approved(given.get("lock"), given.get("on_drift", "error"))})

    def __post_init__(self) -> None:
        if self.mode != "auto":
            options_of(self.mode)
        tscg.compile([], profile=self.profile, tokenizer=self.tokenizer).turn(self.max_lookups, self.max_repairs)

    @property
    def in_text(self) -> bool:
        """Whether text mode was named."""
        return self.mode != "auto" and isinstance(options_of(self.mode), tscg.Text)

    @property
    def passes(self) -> bool:
        """Whether passthrough was named."""
        return self.mode != "auto" and isinstance(options_of(self.mode), tscg.Passthrough)


class Facts(NamedTuple):
    """What of a language model decides how tools are sent: ``native`` says that it takes native calls, ``strict`` that
    its provider makes every tool strict."""

    model: str | None
    native: bool
    strict: bool
    gemini: bool
    context: int | None

    @classmethod
    def of(cls, llm: Any, native: bool) -> Facts:
        """The facts of a language model."""
        from crewai.llms.base_llm import BaseLLM

        known = type(llm).get_context_window_size is not BaseLLM.get_context_window_size
        size = llm.get_context_window_size() if known else None
        model = str(llm.model)
        return cls(
            model=model, native=native, strict=_forces_strict(llm),
            gemini=str(llm.provider) in GEMINI or "gemini" in model.lower(),
            context=size if isinstance(size, int) and size > 0 else None,
        )  # fmt: skip


class Choice(NamedTuple):
    """Mode, profile and budget of a compilation."""

    mode: Mode
    profile: Any
    budget: int | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class Plan:
    """One way to send a set of tools: ``names`` are those of the catalog by the executor's keys, ``wire`` is the tools
    field with lookups, as it is handed to CrewAI."""

    toolset: Toolset
    facts: Facts
    compiled: tscg.CompiledCatalog
    names: Mapping[str, str]
    wire: list[Any]
    previous: Plan | None = None
    keys: Mapping[str, str] = field(init=False)
    _sizes: dict[Any, int] = field(default_factory=dict)
    _loose: tscg.CompiledCatalog | None = None

    def __post_init__(self) -> None:
        self.keys = {name: key for key, name in self.names.items()}

    def tools(self, turn: tscg.Turn) -> list[Any] | None:
        """The tools of a round; None where there are none. The last one goes without the lookup tool."""
        if turn.may_look_up or not self.compiled.lookup_tool:
            return self.wire or None
        kept = [one for one in self.wire if one["function"]["name"] != self.compiled.lookup_tool]
        return kept or None

    def tokens(self, llm: Any, turn: tscg.Turn | None = None) -> int:
        """Tokens of what a round sends for tools, in the provider's form."""
        whole = turn is None or turn.may_look_up
        if whole not in self._sizes:
            sent = self.wire if turn is None else self.tools(turn) or []
            self._sizes[whole] = self._count(self.compiled.prompt) + self._size(llm, sent)
        return self._sizes[whole]

    def baseline(self, llm: Any) -> int:
        """Tokens of the same tools without compression, in the provider's form."""
        if "baseline" not in self._sizes:
            self._sizes["baseline"] = self._size(llm, self.toolset.given)
        return self._sizes["baseline"]

    def _size(self, llm: Any, tools: Sequence[Any]) -> int:
        from tscg.encode import minified

        return self._count(minified(provider_form(llm, tools))) if tools else 0

    def _count(self, text: str) -> int:
        return self.compiled.tokenizer.count(text) if text else 0

    @property
    def loose(self) -> tscg.CompiledCatalog:
        """A reader of the same answers that takes any arguments: it tells what the model wrote."""
        if self._loose is None:
            tools = [{"name": tool.name, "inputSchema": {"type": "object"}} for tool in self.compiled.catalog]
            pin = tuple(sorted(self.compiled.sent.native)) if self.compiled.mode in ("text", "dispatch") else ()
            self._loose = tscg.compile(tools, mode=self.compiled.options, pin=pin)
        return self._loose


class Planner:
    """Makes plans, once for the same tools and facts. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._plans: OrderedDict[Any, Plan] = OrderedDict()
        self._warned: set[str] = set()
        self._lock = threading.Lock()

    def plan(self, llm: Any, facts: Facts, toolset: Toolset, previous: Plan | None = None) -> Plan:
        """The plan for a set of tools; with ``previous`` one that leaves what was sent as it is."""
        # The addresses are those of objects that the plan keeps: no other one can have them.
        key = (id(toolset), facts, id(previous))
        with self._lock:
            found = self._plans.get(key)
        if found is None:
            found = self._made(llm, facts, toolset, previous)
            with self._lock:
                self._plans[key] = found
                while len(self._plans) > KEPT:
                    self._plans.popitem(last=False)
        return found

    def _made(self, llm: Any, facts: Facts, toolset: Toolset, previous: Plan | None) -> Plan:
        if previous is not None:
            was = previous.compiled
            return self._compiled(facts, toolset, Choice(was.options, was.profile_used), previous)
        chosen = self._chosen(facts, toolset)
        made = self._compiled(facts, toolset, chosen)
        if self.settings.mode == "auto" and facts.native and made.tokens(llm) > made.baseline(llm):
            made = self._compiled(facts, toolset, Choice(tscg.Passthrough(), chosen.profile))
        self._warn(llm, made)
        return made

    def _chosen(self, facts: Facts, toolset: Toolset) -> Choice:
        given = self.settings.profile
        if self.settings.mode != "auto":
            return Choice(_fitting(options_of(self.settings.mode), facts), given)
        from tscg.recommendation import advise_on

        policy = given if isinstance(given, tscg.Policy) else None
        named = None if isinstance(given, tscg.Policy) or given == "auto" else given

        def advise(native: bool) -> tscg.Recommendation:
            return advise_on(
                toolset.catalog()[0], facts.model, context=facts.context, native=native,
                tokenizer=self.settings.tokenizer, policy=policy, profile=named,
            )  # fmt: skip

        advice = advise(facts.native)
        if advice.mode == "dispatch" and facts.gemini:
            advice = advise(False)  # a rewritten call loses the signature that Gemini wants back
        profile = advice.profile if advice.profile != getattr(given, "name", None) else given
        return Choice(_fitting(advice.options, facts), profile, advice.budget)

    def _compiled(self, facts: Facts, toolset: Toolset, chosen: Choice, previous: Plan | None = None) -> Plan:
        native = isinstance(chosen.mode, tscg.Native | tscg.Passthrough)
        pinned = frozenset() if native else frozenset(
            tool.key for tool in toolset.tools if not {tool.key, tool.name}.isdisjoint(self.settings.pin)
        )  # fmt: skip
        catalog, names = toolset.catalog(None if native else pinned)
        compiled = tscg.compile(
            catalog, mode=chosen.mode, profile=chosen.profile, model=facts.model, tokenizer=self.settings.tokenizer,
            budget=chosen.budget, pin=tuple(sorted(names[key] for key in pinned)),
            previous=previous.compiled if previous is not None else None,
        )  # fmt: skip
        if compiled.mode == "passthrough":
            wire: list[Any] = toolset.given
        else:
            wire = [_whole(one) for one in compiled.to_openai("auto" if facts.strict else None)]
        if previous is not None:
            names = {**previous.names, **names}
        return Plan(toolset=toolset, facts=facts, compiled=compiled, names=names, wire=wire, previous=previous)

    def _warn(self, llm: Any, plan: Plan) -> None:
        """What of a catalog is not checked or known to go badly, and what a mode that was named costs, is said once."""
        compiled = plan.compiled
        if compiled.fingerprint in self._warned:
            return
        self._warned.add(compiled.fingerprint)
        if compiled.warnings:
            more = len(compiled.warnings) - SHOWN
            _note(
                "; ".join(compiled.warnings[:SHOWN])
                + (f"; and {more} more, see warnings of report()" if more > 0 else "")
            )
        if self.settings.mode == "auto" or compiled.mode == "passthrough":
            return
        sent, plain = plan.tokens(llm), plan.baseline(llm)
        if sent > plain:
            _note(f"{compiled.mode} mode sends {sent} tokens for tools that are {plain} without it")


def _fitting(mode: Mode, facts: Facts) -> Mode:
    """A mode as CrewAI's providers can send it."""
    if isinstance(mode, tscg.Dispatch):
        # The one for OpenAI makes every tool strict, and strict closes an object that takes any key.
        return replace(mode, arguments="json")
    if isinstance(mode, tscg.Native) and mode.strict is None and facts.strict:
        return replace(mode, strict="auto")
    return mode


def options_of(mode: object) -> Mode:
    """The options of a mode that an agent can use. ConfigError for any other.

    >>> options_of("text")
    Text()
    """
    return agent_mode(mode, "hooks and limits")


def provider_form(llm: Any, tools: Sequence[Any]) -> list[Any]:
    """Tools as the provider's request holds them; as they are where that cannot be told.

    `_convert_tools_for_interference` is private (CrewAI 1.15). It is used to count alone, and to find out whether the
    provider makes every tool strict; a test fails when it moves.
    """
    import json

    convert = getattr(llm, "_convert_tools_for_interference", None)
    if convert is None or not tools:
        return list(tools)
    found = convert(list(tools))
    try:
        json.dumps(found)
    except TypeError:  # objects of a provider's own
        return list(tools)
    return list(found)


def _forces_strict(llm: Any) -> bool:
    kind = type(llm)
    if kind not in _strict:
        form = provider_form(llm, [PROBE])[0]
        function = form.get("function", form) if isinstance(form, Mapping) else {}
        _strict[kind] = function.get("strict") is True
    return _strict[kind]


def _whole(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A wire tool as every provider takes it: some refuse an object that does not list its properties."""
    function = dict(tool["function"])
    schema = function.get("parameters") or {}
    if "properties" not in schema:
        function["parameters"] = {**schema, "type": "object", "properties": {}}
    if function.get("strict") is False:
        del function["strict"]
    return {**tool, "function": function}


def _note(message: str) -> None:
    warnings.warn(message, TscgWarning, stacklevel=2)
