"""What one call sends: the compiled catalog, the tools on the wire, and what the answer must hold."""

from __future__ import annotations

import marshal
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from llama_index.core.constants import DEFAULT_CONTEXT_WINDOW
from llama_index.core.llms import LLM
from llama_index.core.llms.function_calling import FunctionCallingLLM

import tscg
from llama_index_tscg.cache import Cache
from llama_index_tscg.convert import Snapshot
from tscg.errors import ConfigError, TscgWarning
from tscg.modes.options import agent_mode

if TYPE_CHECKING:
    from tscg.modes.options import Mode

__all__ = ["Choice", "Facts", "Plan", "Planner", "Settings", "choice_of", "facts_of", "note", "options_of"]

KEPT = 64  # plans
SHOWN = 5  # warnings of a catalog that are told
MANY = 128  # tools that some endpoints take at most
ANY = frozenset({"any", "required"})
# What an LLM is not told where no tool is sent: some providers refuse it then.
OF_TOOLS = ("allow_parallel_tool_calls", "strict", "tool_choice", "tool_required", "verbose")


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

    def __post_init__(self) -> None:
        if self.mode != "auto":
            options_of(self.mode)
        compiled = tscg.compile([], profile=self.profile, tokenizer=self.tokenizer)
        compiled.turn(self.max_lookups, self.max_repairs)
        if self.tokenizer is not None:
            _ = compiled.tokenizer


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of an LLM: the provider's name of its model, whether it has native calls, how much it reads."""

    name: str | None = None
    calls: bool = True
    context: int | None = None


def facts_of(llm: LLM) -> Facts:
    """The facts of an LLM. Values that its class has for want of a better one say nothing."""
    metadata = llm.metadata
    name, context = metadata.model_name, metadata.context_window
    return Facts(
        name=name if name and name != "unknown" else None,
        calls=isinstance(llm, FunctionCallingLLM) and metadata.is_function_calling_model,
        context=context if context != DEFAULT_CONTEXT_WINDOW and context > 0 else None,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the caller asks for: ``kind`` is ``auto``, ``none``, ``any`` or ``tool`` with its ``name``; ``given`` is how
    it was said, for the provider."""

    kind: str = "auto"
    name: str = ""
    given: Any = None

    def renamed(self, name: str) -> Any:
        """The choice of a tool under another name."""
        if not isinstance(self.given, dict):
            return name
        inner = self.given.get("function")
        return {**self.given, **({"function": {**inner, "name": name}} if isinstance(inner, dict) else {"name": name})}


def choice_of(given: Any, required: bool, names: Mapping[str, object]) -> Choice:
    """A tool choice in any of the forms that integrations take; what is not known is passed on as it is.

    >>> choice_of({"type": "function", "function": {"name": "ping"}}, False, {"ping": 1}).name
    'ping'
    >>> choice_of(None, True, {}).kind
    'any'
    """
    if isinstance(given, Mapping):
        inner = given.get("function")
        name = inner.get("name") if isinstance(inner, Mapping) else given.get("name")
        if name in names:
            return Choice(kind="tool", name=str(name), given=dict(given))
        word = str(given.get("type"))
        return Choice(kind="any" if word in ANY else "none" if word == "none" else "auto", given=dict(given))
    if given in names:
        return Choice(kind="tool", name=given, given=given)
    if given == "none":
        return Choice(kind="none", given=given)
    return Choice(kind="any" if given in ANY or (given is None and required) else "auto", given=given)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """One way to send a set of tools.

    ``compiled`` is what is sent, None where there are no tools; where ``sends`` is False, its history alone. ``reads``
    says whether it reads the answers too, which else are handed over as they are. ``whole`` is what the call would have
    sent without compression, where that is another catalog, and ``writer`` writes the history. The tools are those on
    the wire of ``compiled``, or where ``originals`` is set the caller's own: all, or the one that is ``forced``.
    ``choice`` takes the place of the caller's; ``dropped`` are arguments that are not passed on.
    """

    compiled: tscg.CompiledCatalog | None = None
    whole: tscg.CompiledCatalog | None = None
    sends: bool = True
    reads: bool = True
    writer: tscg.CompiledCatalog
    prompt: str = ""
    originals: bool = False
    forced: str = ""
    choice: Any = None
    dropped: tuple[str, ...] = ()
    must_call: bool | str = False
    parallel: bool = True


class Planner:
    """Plans under some settings. Thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._plans = Cache[Plan](KEPT)
        self._modes = Cache[tuple[Any, Any, int | None]](KEPT)
        self._warned: set[str] = set()

    def plan(self, read: Snapshot, facts: Facts, choice: Choice, *, parallel: bool, strict: bool) -> Plan:
        """The plan for a set of tools, made once. ConfigError for what cannot be."""
        try:
            asked = marshal.dumps([choice.kind, choice.name, choice.given], 2)
        except ValueError:
            asked = repr(choice).encode()
        # The address of catalogs that are kept beside their plan: no other ones can have it.
        key = (id(read.catalog), id(read.plain), facts, asked, parallel, strict)
        held = (read.catalog, read.plain)
        return self._plans.get(key, held, lambda: self._whole(read, facts, choice, parallel, strict))

    def compiled(
        self, catalog: tscg.Catalog, facts: Facts, *, strict: bool = False, must_call: bool = False,
        parallel: bool = True,
    ) -> tscg.CompiledCatalog:  # fmt: skip
        """A catalog compiled under the settings; ``strict`` says that the provider holds calls to the schemas."""
        key = (id(catalog), facts, strict)
        mode, profile, budget = self._modes.get(key, catalog, lambda: self._chosen(catalog, facts, strict))
        native = isinstance(mode, tscg.Native | tscg.Passthrough)
        pin = () if native and self.settings.mode == "auto" else self._pins(catalog)
        return tscg.compile(
            catalog, mode=mode, profile=profile, model=facts.name, tokenizer=self.settings.tokenizer, budget=budget,
            pin=pin, must_call=must_call, parallel=parallel,
        )  # fmt: skip

    def empty(self, facts: Facts) -> Plan | None:
        """The plan for no tools: an explicit text mode still writes the history as text, for some providers refuse
        calls in a request that defines no tools. None leaves the call alone."""
        if self.settings.mode == "auto" or not isinstance(options_of(self.settings.mode), tscg.Text):
            return None
        return Plan(writer=tscg.compile([], mode=self.settings.mode, model=facts.name), dropped=OF_TOOLS)

    def _pins(self, catalog: tscg.Catalog) -> tuple[str, ...]:
        """The pins that a set of tools has: one manager serves agents with different ones."""
        names = {tool.name for tool in catalog}
        return tuple(name for name in self.settings.pin if name in names)

    # --- mode ---------------------------------------------------------------------------------------------------------

    def _chosen(self, catalog: tscg.Catalog, facts: Facts, strict: bool) -> tuple[Any, Any, int | None]:
        """Mode, profile and budget."""
        mode, profile = self.settings.mode, self.settings.profile
        budget: int | None = None
        if mode == "auto":
            advice = self._advice(catalog, facts)
            mode, budget = advice.options, advice.budget
            if isinstance(profile, str) or advice.profile != getattr(profile, "name", None):
                profile = advice.profile
        else:
            mode = options_of(mode)
        if not isinstance(mode, tscg.Text) and not facts.calls:
            raise ConfigError(
                f"{facts.name or 'the LLM'} has no function calling, and {mode.name} mode needs it",
                hint="use mode='text'",
            )  # fmt: skip
        if isinstance(mode, tscg.Dispatch) and mode.arguments == "object" and strict:
            from tscg.record import replace as with_fields

            mode = with_fields(mode, arguments="json")  # strict mode closes an object that takes any keys
        return mode, profile, budget

    def _advice(self, catalog: tscg.Catalog, facts: Facts) -> tscg.Recommendation:
        from tscg.recommendation import advise_on

        given = self.settings.profile
        policy, named = (given, None) if isinstance(given, tscg.Policy) else (None, given)
        return advise_on(
            catalog, facts.name, context=facts.context, native=facts.calls, tokenizer=self.settings.tokenizer,
            policy=policy, profile=None if named == "auto" else named,
        )  # fmt: skip

    def _warn(self, compiled: tscg.CompiledCatalog, baseline: int) -> None:
        """What is known of a catalog, and what a mode that was named costs or risks, is said once."""
        if compiled.fingerprint in self._warned:
            return
        named = self.settings.mode != "auto" and compiled.mode != "passthrough"
        if named and compiled.mode == "native":
            compiled.to_openai()  # ConfigError for more tools than the model's row allows
        self._warned.add(compiled.fingerprint)
        if compiled.warnings:
            more = len(compiled.warnings) - SHOWN
            note("; ".join(compiled.warnings[:SHOWN]) + (f"; and {more} more, see report()" if more > 0 else ""))
        tokens, count = compiled.stats.tokens, len(compiled.catalog)
        if named and tokens > baseline:
            note(f"{compiled.mode} mode sends {tokens} tokens for tools that are {baseline} as JSON")
        if named and compiled.mode == "native" and count > MANY:
            note(f"{count} tools are sent natively, and some endpoints take {MANY} at most")

    # --- plans --------------------------------------------------------------------------------------------------------

    def _whole(self, read: Snapshot, facts: Facts, choice: Choice, parallel: bool, strict: bool) -> Plan:
        """The plan, with what LlamaIndex itself would send beside it."""
        plan = self._made(read.catalog, facts, choice, parallel, strict)
        if read.plain is not read.catalog or plan.forced:
            if plan.originals:  # sent as they are, signatures too
                plan = self._made(read.plain, facts, choice, parallel, strict)
            whole = tscg.compile(read.plain, mode="passthrough", model=facts.name, tokenizer=self.settings.tokenizer)
            plan = replace(plan, whole=whole)
        self._warn(plan.writer, (plan.whole or plan.writer).stats.baseline_tokens)
        return plan

    def _made(self, catalog: tscg.Catalog, facts: Facts, choice: Choice, parallel: bool, strict: bool) -> Plan:
        must_call, reads = choice.kind == "any", choice.kind != "none"
        compiled = self.compiled(catalog, facts, strict=strict, must_call=must_call, parallel=parallel)
        if compiled.mode == "passthrough":
            return Plan(
                compiled=compiled, reads=reads, writer=compiled, originals=True, choice=choice.given,
                must_call=must_call, parallel=parallel,
            )  # fmt: skip
        if choice.kind == "tool":
            return self._forced(compiled, facts, choice)
        if compiled.mode != "text":
            return Plan(
                compiled=compiled, reads=reads, writer=compiled, prompt=compiled.prompt, choice=choice.given,
                must_call=must_call, parallel=parallel,
            )  # fmt: skip
        if not reads:
            return Plan(compiled=compiled, sends=False, reads=False, writer=compiled, dropped=OF_TOOLS)
        # A pinned tool is on the wire, and no call of it is forced because one in text would do.
        dropped = ("strict", "tool_choice", "tool_required") if compiled.wire_tools else OF_TOOLS
        return Plan(
            compiled=compiled, writer=compiled, prompt=compiled.prompt, dropped=dropped, must_call=must_call,
            parallel=parallel,
        )  # fmt: skip

    def _forced(self, compiled: tscg.CompiledCatalog, facts: Facts, choice: Choice) -> Plan:
        """One tool alone, in full, under the provider's own force; in text where the LLM has none."""
        alone = compiled.catalog.replace([one for one in compiled.catalog if one.name == choice.name])
        if not facts.calls:
            single = tscg.compile(
                alone, mode=compiled.options, profile=compiled.profile_used, model=facts.name,
                tokenizer=self.settings.tokenizer, must_call=True, parallel=compiled.parallel,
            )  # fmt: skip
            return Plan(
                compiled=single, writer=compiled, prompt=single.prompt, forced=choice.name, dropped=OF_TOOLS,
                must_call=choice.name, parallel=compiled.parallel,
            )  # fmt: skip
        single = tscg.compile(alone, mode="passthrough", tokenizer=self.settings.tokenizer)
        wire = single.wire_tools[0]["name"]
        legal = wire == choice.name
        return Plan(
            compiled=single, writer=compiled, originals=legal, forced=choice.name,
            choice=choice.given if legal else choice.renamed(wire), must_call=choice.name, parallel=compiled.parallel,
        )  # fmt: skip


def options_of(mode: object) -> Mode:
    """The options of a mode that an agent can use. ConfigError for any other.

    >>> options_of("text")
    Text()
    """
    return agent_mode(mode, "events and handoffs")


def note(message: str) -> None:
    """Tell the developer, once for each message and place."""
    warnings.warn(message, TscgWarning, stacklevel=2)
