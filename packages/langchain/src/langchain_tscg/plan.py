"""What one model call sends: the compiled catalog, what is bound to the model, and what the answer must hold."""

from __future__ import annotations

import marshal
import threading
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding

import tscg
from langchain_tscg.convert import BoundTool, Snapshot
from tscg.errors import ConfigError, TscgWarning

if TYPE_CHECKING:
    from tscg.modes.options import Mode

__all__ = ["Choice", "Plan", "Planner", "Settings", "Target", "choice_of", "model_name", "options_of"]

KEPT = 32  # plans of one model
MANY = 128  # tools that some endpoints take at most
ANY = frozenset({"any", "required"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How tools are sent: the options that the caller gave."""

    mode: str | Mode = "auto"
    profile: str | tscg.Profile | tscg.Policy = "auto"
    pin: tuple[str, ...] = ()
    tokenizer: object = None


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
        if isinstance(inner, dict):
            return {**self.given, "function": {**inner, "name": name}}
        return {**self.given, "name": name}


def choice_of(given: Any, names: Mapping[str, object]) -> Choice:
    """A tool choice in any of the forms that integrations take; what is not known is passed on as it is.

    >>> choice_of({"type": "function", "function": {"name": "ping"}}, {"ping": 1}).name, choice_of(True, {}).kind
    ('ping', 'any')
    """
    if given is None or given is False or given == "auto":
        return Choice(given=None if given is False else given)
    if given is True:
        return Choice(kind="any", given=given)
    if isinstance(given, str):
        kind = "any" if given in ANY else given if given == "none" else "tool" if given in names else "auto"
        return Choice(kind=kind, name=given if kind == "tool" else "", given=given)
    if isinstance(given, Mapping):
        kind = str(given.get("type"))
        inner = given.get("function")
        name = inner.get("name") if isinstance(inner, Mapping) else given.get("name")
        if kind in ("function", "tool") and name in names:
            return Choice(kind="tool", name=str(name), given=dict(given))
        return Choice(kind="any" if kind in ANY else "none" if kind == "none" else "auto", given=dict(given))
    raise ConfigError(
        f"tool_choice is {given!r}", allowed=("a tool's name", "auto", "none", "any", "required", "the provider's dict")
    )


@dataclass(slots=True, kw_only=True)
class Target:
    """What is called: the model with keywords, or what its ``bind_tools`` gave where that is no plain binding."""

    model: BaseChatModel
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    runnable: Runnable[Any, Any] | None = None


@dataclass(slots=True, kw_only=True)
class Plan:
    """One way to send a set of tools.

    ``compiled`` reads the answers (None: they are handed over as they are) and ``writer`` writes the history (None: as
    it is). ``prompt`` goes into the system message. ``given`` are the objects to bind in place of the wire tools;
    ``beside`` are bound with them. ``choice`` and ``options`` are further arguments of ``bind_tools``.
    """

    compiled: tscg.CompiledCatalog | None = None
    writer: tscg.CompiledCatalog | None = None
    prompt: str = ""
    given: tuple[Any, ...] | None = None
    beside: tuple[Any, ...] = ()
    choice: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    must_call: bool | str = False
    parallel: bool = True
    targets: dict[bool, Target] = field(default_factory=dict)

    def target(self, inner: BaseChatModel, turn: tscg.Turn | None) -> Target:
        """What is called in a round; the last one goes without the lookup tool."""
        looks_up = turn is None or turn.may_look_up
        found = self.targets.get(looks_up)
        if found is None:
            tools: Sequence[Any] = self.given or ()
            if self.given is None and turn is not None:
                tools = [_whole(tool) for tool in turn.wire_tools]
            found = self.targets[looks_up] = _bound(inner, [*tools, *self.beside], self.choice, self.options)
        return found


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
        """A catalog compiled under the settings; ``provider_format`` says that the provider holds the answer to a
        schema of its own, ``strict`` that it holds calls to theirs."""
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
        if isinstance(mode, tscg.Dispatch) and mode.arguments == "object" and (strict or provider_format):
            from tscg.record import replace

            mode = replace(mode, arguments="json")  # strict mode closes an object that takes any keys
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
        """What a mode that was named costs or risks is said once."""
        if self.settings.mode == "auto" or compiled.mode == "passthrough" or compiled.fingerprint in self._warned:
            return
        if compiled.mode == "native":
            compiled.to_openai()  # ConfigError for more tools than the model's row allows
        self._warned.add(compiled.fingerprint)
        stats, count = compiled.stats, len(compiled.catalog)
        if stats.tokens > stats.baseline_tokens:
            _note(
                f"{compiled.mode} mode sends {stats.tokens} tokens for tools that are {stats.baseline_tokens} as JSON"
            )
        if compiled.mode == "native" and count > MANY:
            _note(f"{count} tools are sent natively, and some endpoints take {MANY} at most")

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
                compiled=compiled, given=_sources(snapshot.tools), choice=choice.given, options=options,
                parallel=True,
            )  # fmt: skip
        if choice.kind == "tool":
            return self._forced(snapshot, compiled, choice, options)
        must_call: bool | str = choice.kind == "any"
        if compiled.mode != "text":
            return Plan(
                compiled=compiled, writer=compiled, prompt=compiled.prompt, beside=_sources(snapshot.builtins),
                choice=choice.given, options=options, must_call=must_call, parallel=parallel,
            )  # fmt: skip
        rest = _without(options, "strict", "parallel_tool_calls")
        if choice.kind == "none":
            wired = bool(compiled.wire_tools or snapshot.builtins)
            given = (*map(_whole, compiled.wire_tools), *_sources(snapshot.builtins))
            return Plan(writer=compiled, given=given, choice=choice.given if wired else None, options=rest)
        return Plan(
            compiled=compiled, writer=compiled, prompt=compiled.prompt, beside=_sources(snapshot.builtins),
            options=rest, must_call=must_call, parallel=parallel,
        )  # fmt: skip

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
                compiled=single, writer=compiled, prompt=single.prompt, options=rest, must_call=choice.name,
                parallel=compiled.parallel,
            )  # fmt: skip
        single = tscg.compile(alone, mode="passthrough", tokenizer=self.settings.tokenizer)
        wire = single.wire_tools[0]
        legal = wire["name"] == choice.name
        return Plan(
            compiled=single, writer=compiled, given=(tool.source if legal else _whole(wire),), options=options,
            choice=choice.given if legal else choice.renamed(wire["name"]), must_call=choice.name,
            parallel=compiled.parallel,
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
    from tscg.modes.options import mode_of

    found = mode_of(mode)
    if isinstance(found, tscg.Code):
        raise ConfigError(
            "code mode is not offered here: an agent runs calls, and a program would bypass its approvals and limits",
            allowed=("auto", "native", "text", "dispatch", "passthrough"),
        )
    return found


def _bound(inner: BaseChatModel, tools: list[Any], choice: Any, options: Mapping[str, Any]) -> Target:
    """The model with its tools in its own form, as its `bind_tools` writes them."""
    if not tools:
        return Target(model=inner, kwargs={**options, **({} if choice is None else {"tool_choice": choice})})
    chosen = {} if choice is None else {"tool_choice": choice}
    bound = inner.bind_tools(tools, **chosen, **options)
    if isinstance(bound, RunnableBinding) and bound.bound is inner:
        return Target(model=inner, kwargs=dict(bound.kwargs))
    _note(
        f"{type(inner).__name__}.bind_tools gives no plain binding of the model, so it is called as a whole: its own "
        "run shows in traces, and its usage is counted twice"
    )
    return Target(model=inner, runnable=bound)


def _whole(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A wire tool as every provider takes it: some refuse an object that does not list its properties."""
    schema = tool["parameters"]
    return {**tool, "parameters": schema if "properties" in schema else {**schema, "type": "object", "properties": {}}}


def _sources(tools: Sequence[BoundTool]) -> tuple[Any, ...]:
    return tuple(one.source for one in tools)


def _without(options: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in names}


def _note(message: str) -> None:
    warnings.warn(message, TscgWarning, stacklevel=2)
