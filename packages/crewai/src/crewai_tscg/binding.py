"""The language models of a crew with compression, and the handle that reports and undoes."""

from __future__ import annotations

import copy
import functools
import inspect
import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from crewai.llm_overlay import active as overlay
from crewai.llms.base_llm import BaseLLM, llm_call_context
from crewai.utilities.llm_utils import create_llm
from pydantic import PrivateAttr

import tscg
from crewai_tscg import hooks
from crewai_tscg.plan import Settings
from crewai_tscg.rounds import AGAIN, Exchange, heard
from crewai_tscg.state import State
from tscg.errors import ConfigError

if TYPE_CHECKING:
    from crewai import Agent, Crew

    class _Base:
        """What stands behind the mixin: CrewAI's class, which is not there where its types are not."""

        def call(self, messages: Any, *args: Any, **kwargs: Any) -> Any: ...
        async def acall(self, messages: Any, *args: Any, **kwargs: Any) -> Any: ...
        def get_input_tokens_count(self, *args: Any) -> int: ...
        def _effective_stream(self) -> bool | None: ...
        def _emit_stream_chunk_event(self, chunk: str, *args: Any, **kwargs: Any) -> None: ...
        def _emit_call_completed_event(self, *args: Any, **kwargs: Any) -> None: ...
        def _track_token_usage_internal(self, usage_data: dict[str, Any]) -> None: ...
        def __copy__(self) -> Any: ...
        def __deepcopy__(self, memo: Any) -> Any: ...
else:
    _Base = object

__all__ = ["CompressMixin", "CompressionHandle", "compress", "compressed", "state_of", "swap", "walk"]

PARAMETERS = ("tools", "callbacks", "available_functions", "from_task", "from_agent", "response_model")
PIECE = ("from_task", "from_agent", "tool_call")
_classes: dict[type, type] = {}
_bare: dict[int, tuple[weakref.ref[Any], Any]] = {}


class CompressMixin(_Base):
    """What a language model of a compressed crew does differently. Its class is the model's own with this in front."""

    _tscg: State

    def call(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        """Ask the model, in as many rounds as its answer takes."""
        given = {**dict(zip(PARAMETERS, args, strict=False)), **kwargs}
        found = self._tscg.begin(self, messages, given)
        if not isinstance(found, Exchange):
            return super().call(found, **given)
        while True:
            with found.listening():
                answer = super().call(found.messages, **{**given, "tools": found.tools})
            done = found.finished(answer)
            if done is not AGAIN:
                return self._told(found, done)

    async def acall(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
        """The same, awaited."""
        given = {**dict(zip(PARAMETERS, args, strict=False)), **kwargs}
        found = self._tscg.begin(self, messages, given)
        if not isinstance(found, Exchange):
            return await super().acall(found, **given)
        while True:
            with found.listening():
                answer = await super().acall(found.messages, **{**given, "tools": found.tools})
            done = found.finished(answer)
            if done is not AGAIN:
                return self._told(found, done)

    def _told(self, exchange: Exchange, done: Any) -> Any:
        """An answer; as the one piece of a stream where it had to come whole."""
        if exchange.whole and isinstance(done, str) and done and self._effective_stream():
            with llm_call_context():
                super()._emit_stream_chunk_event(done, exchange.task, exchange.agent)
        return done

    def supports_function_calling(self) -> bool:
        """Whether the agent runs its loop of calls: in text mode with any model, for there calls are text."""
        return self._tscg.in_text(self) or takes_calls(self)

    def get_input_tokens_count(self, messages: Any, tools: Any = None, response_model: Any = None) -> int:
        """Tokens of the request as it is sent."""
        messages, tools = self._tscg.counted(self, messages, tools)
        return super().get_input_tokens_count(messages, tools, response_model)

    # The three methods below are private in CrewAI 1.15, and every provider of its own calls them while it answers.
    # They are the only place where the pieces of a stream can be seen before the user sees them, and where it is told
    # why an answer ended and what one request used. Tests fail when they move.

    def _emit_stream_chunk_event(self, chunk: str, *args: Any, **kwargs: Any) -> None:
        round = heard(self)
        if round is not None:
            part = dict(zip(PIECE, args, strict=False)) | kwargs
            if part.get("tool_call") is None:
                chunk = round.feed(chunk)
                if not chunk:
                    return
            elif round.hides_calls:
                return
        super()._emit_stream_chunk_event(chunk, *args, **kwargs)

    def _emit_call_completed_event(self, *args: Any, **kwargs: Any) -> None:
        round = heard(self)
        if round is not None:
            round.finish_reason = kwargs.get("finish_reason")
            rest = round.rest()
            if rest:
                where = {name: kwargs.get(name) for name in ("from_task", "from_agent", "response_id")}
                super()._emit_stream_chunk_event(rest, **where)
        super()._emit_call_completed_event(*args, **kwargs)

    def _track_token_usage_internal(self, usage_data: dict[str, Any]) -> None:
        round = heard(self)
        if round is not None:
            round.use(usage_data)
        super()._track_token_usage_internal(usage_data)

    # Clones of a crew copy the models of its agents, and LiteLLM's builds a plain one then. Under an overlay a clone
    # gets the model bare, for CrewAI asks for its very class.

    def __copy__(self) -> Any:
        if overlay.get() is not None and not self._tscg.restored:
            return bare(self)
        return _again(super().__copy__(), self._tscg)

    def __deepcopy__(self, memo: Any = None) -> Any:
        return _again(super().__deepcopy__(memo), self._tscg)


def takes_calls(llm: Any) -> bool:
    """Whether a model itself takes native calls."""
    own = getattr(super(CompressMixin, llm), "supports_function_calling", None)
    return bool(own and own())


def swap(llm: Any, state: State) -> Any:
    """A model like the one given, with compression: all that it holds is shared, its counter of tokens too."""
    plain = _plain(type(llm))
    kind = _classes.get(plain)
    if kind is None:
        space = {"__module__": __name__, "__annotations__": {"_tscg": Any}, "_tscg": PrivateAttr()}
        kind = _classes[plain] = type(plain)(f"Compressed{plain.__name__}", (CompressMixin, plain), space)
    new = _like(llm, kind)
    new._tscg = state
    return new


def bare(llm: Any) -> Any:
    """A compressed model without compression, of which :func:`state_of` still knows whose it is."""
    plain = _like(llm, _plain(type(llm)))
    _bare[id(plain)] = (weakref.ref(plain), llm)
    weakref.finalize(plain, _bare.pop, id(plain), None)
    return plain


def clad(llm: Any) -> Any:
    """The compressed model that a bare one comes from; None for any other."""
    found = _bare.get(id(llm))
    return found[1] if found is not None and found[0]() is llm else None


def _like(llm: Any, kind: type) -> Any:
    # Not `copy.copy`: for LiteLLM that is a model built anew, with a counter of its own.
    new: Any = object.__new__(kind)
    held = {name: copy.copy(value) for name, value in llm.__getstate__().items()}
    if held["__pydantic_private__"] is not None:
        held["__pydantic_private__"].pop("_tscg", None)
    new.__setstate__(held)
    return new


def _plain(kind: type) -> type:
    return kind.__mro__[2] if issubclass(kind, CompressMixin) else kind


def _again(made: Any, state: State) -> Any:
    return made if isinstance(made, CompressMixin) else swap(made, state)


def state_of(llm: Any) -> State | None:
    """The state of a model of ours that is in use."""
    llm = clad(llm) or llm
    found = llm._tscg if isinstance(llm, CompressMixin) else None
    return found if found is not None and not found.restored else None


# --- crews ------------------------------------------------------------------------------------------------------------


def walk(target: Any) -> Iterator[tuple[Any, str]]:
    """Each place of a crew or an agent where a model is: its owner, and the name of the field."""
    if not hasattr(target, "agents"):
        yield target, "llm"
        return
    agents = [*target.agents, *(task.agent for task in target.tasks), target.manager_agent]
    for agent in {id(one): one for one in agents if one is not None}.values():
        yield agent, "llm"
    yield target, "manager_llm"


def states_in(target: Any) -> list[State]:
    """The states of the models of a crew or an agent. An agent that was built from one keeps the one it was declared
    with beside the one that an overlay gave it."""
    found: list[State] = []
    for owner, name in walk(target):
        for llm in (getattr(owner, name, None), getattr(owner, "_declared_llm", None)):
            state = state_of(llm)
            if state is not None and all(state is not one for one in found):
                found.append(state)
    return found


class Swapped(NamedTuple):
    """A model that was put in the place of another."""

    owner: weakref.ref[Any]
    name: str
    before: Any
    after: Any


class CompressionHandle:
    """What :func:`compress` gives: a report, a switch, the way back. As a context manager it restores at the end."""

    def __init__(self, state: State) -> None:
        self._state = state
        self._swapped: list[Swapped] = []

    @property
    def active(self) -> bool:
        """Whether compression is on. It may be switched in the middle of a run: histories hold real calls alone."""
        return self._state.active

    @active.setter
    def active(self, value: bool) -> None:
        if value and self._state.restored:
            raise ConfigError("this compression was restored", hint="call compress(...) again")
        self._state.active = bool(value)

    @property
    def catalog(self) -> tscg.Catalog:
        """The tools of all agents and tasks as they are compiled, and what CrewAI added in the calls so far: what
        ``tscg.Lock.of(handle.catalog).save()`` approves. Of two tools of one name the last."""
        return self._state.catalog

    def report(self) -> tscg.CompressionReport:
        """What was sent so far, with a part for each agent; before the first call what one request would send."""
        return self._state.report()

    def restore(self) -> None:
        """Put every model back. Copies that were made in between are switched off too. Twice is harmless."""
        if self._state.restored:
            return
        self._state.restored, self._state.active = True, False
        for one in self._swapped:
            owner = one.owner()
            if owner is not None and getattr(owner, one.name, None) is one.after:
                _put(owner, one.name, one.before)
        self._swapped = []
        hooks.release()

    def take(self, target: Any) -> None:
        """Compress what of a crew or an agent is not compressed yet."""
        for owner, name in walk(target):
            self._take(owner, name)
            if name == "llm":
                self._state.know(owner)
        for task in getattr(target, "tasks", ()):
            self._state.know(task)

    def strip(self, target: Any) -> None:
        """Give a crew its models bare, until :meth:`take` comes again: an overlay looks at their classes."""
        for owner, name in walk(target):
            llm = getattr(owner, name, None)
            if isinstance(llm, CompressMixin) and llm._tscg is self._state:
                _put(owner, name, bare(llm))

    def _take(self, owner: Any, name: str) -> None:
        before = getattr(owner, name, None)
        if clad(before) is not None and clad(before)._tscg is self._state:
            _put(owner, name, clad(before))
            return
        llm = create_llm(before) if isinstance(before, str) else before
        if not isinstance(llm, BaseLLM) or state_of(llm) is not None:
            return
        # Agents that share a model go on to share one. Clones of a crew come and go: what is gone is forgotten.
        self._swapped = [one for one in self._swapped if one.owner() is not None]
        after = next((one.after for one in self._swapped if one.before is llm), None) or swap(llm, self._state)
        _put(owner, name, after)
        self._swapped.append(Swapped(weakref.ref(owner), name, before, after))

    def __enter__(self) -> CompressionHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.restore()

    def __repr__(self) -> str:
        word = "restored" if self._state.restored else "active" if self.active else "switched off"
        return f"CompressionHandle({word}, {len(self._swapped)} models)"


def _put(owner: Any, name: str, llm: Any) -> None:
    """Set a model, and with it that of the executor that an agent keeps from one task to the next."""
    executor = getattr(owner, "agent_executor", None)
    if executor is not None and executor.llm is getattr(owner, name):
        executor.llm = llm
    setattr(owner, name, llm)


def compress(target: Crew | Agent, settings: Mapping[str, Any]) -> CompressionHandle:
    """Compress a crew or an agent in place; see :func:`crewai_tscg.compress`."""
    from crewai.agents.agent_builder.base_agent import BaseAgent
    from crewai.crew import Crew as AnyCrew

    if not isinstance(target, AnyCrew | BaseAgent):
        raise ConfigError(f"{type(target).__name__} is no crew and no agent", allowed=("a Crew", "an Agent"))
    wanted = Settings.of(settings)
    for state in states_in(target):
        if settings and state.settings != wanted:
            raise ConfigError(
                "this crew is compressed already, with other settings", hint="call restore() of its handle first"
            )
        handle = cast("CompressionHandle", state.handle)
        handle.take(target)
        return handle
    state = State(wanted)
    state.handle = handle = CompressionHandle(state)
    handle.take(target)
    hooks.hold()
    return handle


def compressed(made: Any, settings: Mapping[str, Any]) -> Any:
    """A crew class or a function whose crews are compressed; see :func:`crewai_tscg.compressed`."""
    Settings.of(settings)
    if not isinstance(made, type):
        return _wrapped(made, settings)
    if not getattr(made, "is_crew_class", False):
        raise ConfigError(f"{made.__name__} is no crew class yet", hint="put @compressed above @CrewBase")
    kind: Any = made
    kind.crew = _wrapped(kind.crew, settings)
    return kind


def _wrapped(function: Callable[..., Any], settings: Mapping[str, Any]) -> Callable[..., Any]:
    if inspect.iscoroutinefunction(function):

        @functools.wraps(function)
        async def awaited(*args: Any, **kwargs: Any) -> Any:
            crew = await function(*args, **kwargs)
            compress(crew, settings)
            return crew

        return awaited

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        crew = function(*args, **kwargs)
        compress(crew, settings)
        return crew

    return called
