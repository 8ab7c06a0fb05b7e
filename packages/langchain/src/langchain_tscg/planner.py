"""From the tools and the choice of a call to the plan of what is sent: mode, profile, and which tools how."""

from __future__ import annotations

import marshal
import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel

import tscg
from langchain_tscg.convert import BoundTool, Snapshot
from langchain_tscg.plan import Choice, Plan, chat_form, choice_of, note
from tscg.errors import ConfigError
from tscg.modes.options import agent_mode

if TYPE_CHECKING:
    from tscg.modes.options import Mode

__all__ = ["Planner", "Settings", "model_name", "options_of"]

KEPT = 32  # plans of one model
SHOWN = 5  # warnings of a catalog that are told
MANY = 128  # tools that some endpoints take at most
LEGAL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
REFUSED_ROOTS = frozenset({"anyOf", "oneOf", "allOf", "enum", "not"})  # what some providers take no arguments with


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How tools are sent: the options that the caller gave."""

    mode: str | Mode = "auto"
    profile: str | tscg.Profile | tscg.Policy = "auto"
    pin: tuple[str, ...] = ()
    tokenizer: object = None
    lock: tscg.Lock | None = None
    on_drift: str = "error"


class Planner:
    """Plans for one model. Thread-safe."""

    def __init__(self, inner: BaseChatModel, settings: Settings) -> None:
        self.inner, self.settings = inner, settings
        self.model = model_name(inner)
        self.calls = type(inner).bind_tools is not BaseChatModel.bind_tools
        self._plans: OrderedDict[tuple[Any, ...], tuple[Snapshot, Plan]] = OrderedDict()
        self._modes: OrderedDict[tuple[Any, ...], tuple[tscg.Catalog, tuple[Any, ...]]] = OrderedDict()
        self._warned: set[str] = set()
        self._lock = threading.Lock()

    def plan(self, snapshot: Snapshot, tool_choice: Any, options: Mapping[str, Any]) -> Plan:
        """The plan for a set of tools, made once for the same set, choice and options."""
        try:
            # The address of a snapshot that is kept beside its plan: no other one can have it.
            key = (id(snapshot), marshal.dumps([tool_choice, dict(options)], 2))
        except ValueError:  # options that are objects, such as a pydantic class
            return self._made(snapshot, tool_choice, options)
        with self._lock:
            kept = self._plans.get(key)
        if kept is not None:
            return kept[1]
        plan = self._made(snapshot, tool_choice, options)
        with self._lock:
            self._plans[key] = (snapshot, plan)
            while len(self._plans) > KEPT:
                self._plans.popitem(last=False)
        return plan

    def compiled(
        self, catalog: tscg.Catalog, *, provider_format: bool = False, strict: bool = False, must_call: bool = False,
        parallel: bool = True,
    ) -> tscg.CompiledCatalog:  # fmt: skip
        """A catalog compiled under the settings, if it is as approved.

        ``provider_format`` says that the provider holds the answer to a schema of its own, ``strict`` that it holds
        calls to theirs.
        """
        mode, profile, budget = self._mode(catalog, provider_format, strict)
        native = isinstance(mode, tscg.Native | tscg.Passthrough)
        pin = () if native and self.settings.mode == "auto" else self.settings.pin
        return tscg.compile(
            catalog, mode=mode, profile=profile, model=self.model, tokenizer=self.settings.tokenizer, budget=budget,
            pin=pin, must_call=must_call, parallel=parallel,
        )  # fmt: skip

    # --- mode ---------------------------------------------------------------------------------------------------------

    def _mode(self, catalog: tscg.Catalog, provider_format: bool, strict: bool) -> tuple[Any, Any, int | None]:
        """Mode, profile and budget; chosen once for each catalog."""
        key = (id(catalog), provider_format, strict)
        with self._lock:
            kept = self._modes.get(key)
        if kept is None:
            if self.settings.lock is not None:  # a request may show some of the tools
                self.settings.lock.guard(catalog, self.settings.on_drift, partial=True)
            kept = (catalog, self._chosen(catalog, provider_format, strict))
            with self._lock:
                self._modes[key] = kept
                while len(self._modes) > KEPT:
                    self._modes.popitem(last=False)
        return kept[1]

    def _chosen(self, catalog: tscg.Catalog, provider_format: bool, strict: bool) -> tuple[Any, Any, int | None]:
        mode, profile = self.settings.mode, self.settings.profile
        budget: int | None = None
        if mode == "auto":
            advice = self._advice(catalog, provider_format)
            mode, budget = advice.options, advice.budget
            if isinstance(mode, tscg.Passthrough) and not all(map(_is_plain, catalog)):
                mode = tscg.Native()  # the same in a spelling that every provider takes
            if isinstance(profile, str) or advice.profile != getattr(profile, "name", None):
                profile = advice.profile
        else:
            mode = options_of(mode)
        if isinstance(mode, tscg.Text) and provider_format:
            raise ConfigError(
                "text mode and a response_format of the provider are given together: calls in text would break it",
                hint="use mode='native' or 'dispatch', or ToolStrategy(schema) as response_format",
            )
        if not isinstance(mode, tscg.Text) and not self.calls:
            raise ConfigError(
                f"{type(self.inner).__name__} has no bind_tools, and {mode.name} mode needs native calls",
                hint="use mode='text'",
            )
        # Strict mode closes an object that takes any keys, and Gemini's API refuses it: its client makes it a text.
        closed = strict or provider_format or "gemini" in (self.model or "").lower()
        if isinstance(mode, tscg.Dispatch) and mode.arguments == "object" and closed:
            from tscg.record import replace

            mode = replace(mode, arguments="json")
        return mode, profile, budget

    def _advice(self, catalog: tscg.Catalog, provider_format: bool) -> tscg.Recommendation:
        from tscg.recommendation import advise_on

        given = self.settings.profile
        policy = given if isinstance(given, tscg.Policy) else None
        profile = "auto" if isinstance(given, tscg.Policy) else given
        if not self.calls and provider_format:
            raise ConfigError(f"{type(self.inner).__name__} takes no tools, and so no response_format beside tools")
        return advise_on(
            catalog, self.model, native=self.calls, text=not provider_format, tokenizer=self.settings.tokenizer,
            policy=policy, profile=None if profile == "auto" else profile,
        )  # fmt: skip

    def _warn(self, compiled: tscg.CompiledCatalog) -> None:
        """What is known of a catalog, and what a mode that was named costs or risks, is said once."""
        if compiled.fingerprint in self._warned:
            return
        named = self.settings.mode != "auto" and compiled.mode != "passthrough"
        if named and compiled.mode == "native":
            compiled.to_openai()  # ConfigError for more tools than the model's row allows
        self._warned.add(compiled.fingerprint)
        if compiled.warnings:
            more = len(compiled.warnings) - SHOWN
            note(
                "; ".join(compiled.warnings[:SHOWN])
                + (f"; and {more} more, see warnings of report()" if more > 0 else "")
            )
        if not named:
            return
        stats, count = compiled.stats, len(compiled.catalog)
        if stats.tokens > stats.baseline_tokens:
            note(f"{compiled.mode} mode sends {stats.tokens} tokens for tools that are {stats.baseline_tokens} as JSON")
        if compiled.mode == "native" and count > MANY:
            note(f"{count} tools are sent natively, and some endpoints take {MANY} at most")

    # --- plans --------------------------------------------------------------------------------------------------------

    def _made(self, snapshot: Snapshot, tool_choice: Any, options: Mapping[str, Any]) -> Plan:
        if not snapshot.by_name:
            return self._without_tools(snapshot, tool_choice, options)
        choice = choice_of(tool_choice, snapshot.by_name)
        parallel = options.get("parallel_tool_calls") is not False and not (
            isinstance(choice.given, dict) and choice.given.get("disable_parallel_tool_use")
        )
        form = {
            "provider_format": bool(options.get("response_format")),
            "strict": bool(options.get("strict")),
        }
        compiled = self.compiled(snapshot.catalog, must_call=choice.kind == "any", parallel=parallel, **form)
        self._warn(compiled)
        if compiled.mode == "passthrough":
            return Plan(
                compiled=compiled, given=_sources(snapshot.tools), forms=tuple(snapshot.by_name.values()),
                choice=choice.given, options=options,
            )  # fmt: skip
        options = self._loose(snapshot, options)
        if choice.kind == "tool":
            return self._forced(snapshot, compiled, choice, options)
        must_call: bool | str = choice.kind == "any"
        if compiled.mode != "text":
            return Plan(
                compiled=compiled, writer=compiled, prompt=compiled.prompt, beside=_sources(snapshot.builtins),
                choice=choice.given, options=options, must_call=must_call, parallel=parallel,
            )  # fmt: skip
        rest = self._loose(snapshot, _without(options, "strict", "parallel_tool_calls"))
        wired = bool(compiled.wire_tools or snapshot.builtins)
        if choice.kind == "none":
            return Plan(
                compiled=compiled, reads=False, writer=compiled, beside=_sources(snapshot.builtins),
                choice=choice.given if wired else None, options=rest,
            )  # fmt: skip
        if choice.kind == "other" and not wired:  # natively the provider would say so
            raise ConfigError(
                f"tool_choice is {choice.given!r}, which is no tool that is bound", allowed=tuple(snapshot.by_name)[:20]
            )
        return Plan(
            compiled=compiled, writer=compiled, prompt=compiled.prompt, beside=_sources(snapshot.builtins),
            choice=choice.given if choice.kind == "other" else None, options=rest, must_call=must_call,
            parallel=parallel,
        )  # fmt: skip

    def _loose(self, snapshot: Snapshot, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Options that say that tools are not strict, where the caller left it out and the provider would take them as
        strict then: OpenAI's Responses API would close the arguments of a dispatcher, and ask for all optional ones.

        `_use_responses_api(payload)` is private (langchain-openai 1.0 to 1.7): the field of that name says nothing of
        the other reasons to use this API. A test fails when it moves.
        """
        uses = getattr(self.inner, "_use_responses_api", None)
        if options.get("strict") is not None or uses is None:
            return options
        own = [one for one in _sources(snapshot.builtins) if isinstance(one, Mapping)]
        tools = [*own, *snapshot.by_name.values()]
        return {**options, "strict": False} if uses({**options, "tools": tools}) else options

    def _without_tools(self, snapshot: Snapshot, tool_choice: Any, options: Mapping[str, Any]) -> Plan:
        """No tool of the caller's: an explicit text mode still writes the history as text, since some providers refuse
        calls in a request that defines no tools."""
        text = self.settings.mode != "auto" and isinstance(options_of(self.settings.mode), tscg.Text)
        writer = tscg.compile([], mode=self.settings.mode, model=self.model) if text else None
        return Plan(writer=writer, given=_sources(snapshot.builtins), choice=tool_choice, options=options)

    def _forced(
        self, snapshot: Snapshot, compiled: tscg.CompiledCatalog, choice: Choice, options: Mapping[str, Any]
    ) -> Plan:
        """One tool alone, in full, under the provider's own force; in text where the model has none."""
        tool = snapshot.by_name[choice.name]
        alone = compiled.catalog.replace([one for one in compiled.catalog if one.name == choice.name])
        if not self.calls:
            single = tscg.compile(
                alone, mode=compiled.options, profile=compiled.profile_used, model=self.model,
                tokenizer=self.settings.tokenizer, must_call=True, parallel=compiled.parallel,
            )  # fmt: skip
            rest = _without(options, "strict", "parallel_tool_calls")
            return Plan(
                compiled=single, whole=compiled, writer=compiled, prompt=single.prompt, options=rest,
                must_call=choice.name, parallel=compiled.parallel,
            )  # fmt: skip
        if _is_plain(alone[0]):
            single = tscg.compile(alone, mode="passthrough", tokenizer=self.settings.tokenizer)
            given, form, chosen = tool.source, dict(tool), choice.given
            if tool["function"].get("strict") is not None:  # it says so itself
                options = _without(options, "strict")
        else:
            single = tscg.compile(alone, mode="native", profile="lossless", tokenizer=self.settings.tokenizer)
            given = single.wire_tools[0]
            form, chosen = chat_form(given), choice.renamed(given["name"])
        return Plan(
            compiled=single, whole=compiled, writer=compiled, given=(given,), forms=(form,), options=options,
            choice=chosen, must_call=choice.name, parallel=compiled.parallel,
        )  # fmt: skip


def model_name(model: BaseChatModel) -> str | None:
    """The provider's name of a model, as integrations spell it."""
    for name in ("model_name", "model", "model_id"):
        found = getattr(model, name, None)
        if isinstance(found, str) and found:
            return found
    return None


def options_of(mode: object) -> Mode:
    """The options of a mode that an agent can use. ConfigError for any other.

    >>> options_of("text")
    Text()
    """
    return agent_mode(mode, "approvals and limits")


def _is_plain(tool: tscg.Tool) -> bool:
    """Whether every provider takes a tool as it is: its name, and an object that lists its properties."""
    schema = tool.schema
    whole = schema.get("type") == "object" and "properties" in schema and REFUSED_ROOTS.isdisjoint(schema)
    return whole and LEGAL_NAME.fullmatch(tool.name) is not None


def _sources(tools: Sequence[BoundTool]) -> tuple[Any, ...]:
    return tuple(one.source for one in tools)


def _without(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}
