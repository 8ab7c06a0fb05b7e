"""The callback manager that compresses: a handler that is found, not called, by the methods of every LLM.

Callbacks are observers by contract, so this is a patch of four methods, keyed on the manager. ``compress_llm`` does the
same without one.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any
from weakref import WeakSet

from llama_index.core import Settings as Global
from llama_index.core.base.llms.types import ChatResponse, ToolCallBlock
from llama_index.core.callbacks import CallbackManager, CBEventType, EventPayload
from llama_index.core.callbacks.base_handler import BaseCallbackHandler
from llama_index.core.llms import LLM
from llama_index.core.llms.function_calling import FunctionCallingLLM

import tscg
from llama_index_tscg.binding import CompressedLLM, as_it_is
from llama_index_tscg.engine import Engine, Request, is_inside
from llama_index_tscg.plan import Settings, note
from tscg.errors import ConfigError
from tscg.lock import approved

__all__ = ["CompressionCallbackManager"]

METHODS = {
    "chat_with_tools": "chat", "achat_with_tools": "achat", "stream_chat_with_tools": "stream",
    "astream_chat_with_tools": "astream",
}  # fmt: skip


class CompressionCallbackManager(CallbackManager):
    """A callback manager under which every LLM's tools are compressed; ``handlers`` are those beside it.

    Set it as ``Settings.callback_manager``, before or after an LLM is made, or give it to one LLM, for which it then
    comes before the one in ``Settings``. The other arguments are those of :class:`llama_index_tscg.CompressedLLM`.
    :meth:`uninstall` ends it.

    >>> manager = CompressionCallbackManager(mode="dispatch")
    >>> manager.report().requests
    0
    >>> manager.uninstall()
    """

    def __init__(
        self,
        mode: Any = "auto",
        profile: Any = "auto",
        handlers: list[BaseCallbackHandler] | None = None,
        *,
        pin: Sequence[str] | str = (),
        tokenizer: object = None,
        max_lookups: int = 3,
        max_repairs: int = 2,
        lock: tscg.Lock | str | PathLike[str] | None = None,
        on_drift: str = "error",
    ) -> None:
        settings = Settings(
            mode=mode, profile=profile, pin=(pin,) if isinstance(pin, str) else tuple(pin), tokenizer=tokenizer,
            max_lookups=max_lookups, max_repairs=max_repairs, lock=approved(lock, on_drift), on_drift=on_drift,
        )  # fmt: skip
        self._handler = Handler(Engine(settings))
        super().__init__([self._handler, *(handlers or ())])
        _seam.install(self._handler)

    def report(self) -> tscg.CompressionReport:
        """What was sent so far, tokens and rounds; an empty one before the first call."""
        return self._handler.engine.ledger.total

    @property
    def bypassed(self) -> tuple[str, ...]:
        """Class names of LLMs that sent tools past the compression, each of which a warning told once."""
        return tuple(sorted(self._handler.bypassed))

    def wrap(self, llm: LLM) -> CompressedLLM:
        """The LLM with compression under the same settings and in the same report, with no need of the patch."""
        engine = self._handler.engine
        if isinstance(llm, CompressedLLM):
            return as_it_is(llm, engine.settings.lock, engine.settings.on_drift)
        return CompressedLLM(llm, engine=engine)

    def uninstall(self) -> None:
        """End the compression by this manager. With the last one the methods of LlamaIndex are what they were."""
        _seam.remove(self._handler)
        if self._handler in self.handlers:
            self.remove_handler(self._handler)


class Handler(BaseCallbackHandler):
    """Carries the engine to the LLMs, and sees tools that went past it."""

    def __init__(self, engine: Engine) -> None:
        super().__init__([], [])
        self.engine = engine
        self.active = True
        self.bypassed: set[str] = set()
        self.trusted: set[type] = set()

    def on_event_start(
        self,
        event_type: CBEventType,
        payload: dict[str, Any] | None = None,
        event_id: str = "",
        parent_id: str = "",
        **kwargs: Any,
    ) -> str:
        """Tools in a request that is not ours are told, or refused under a lock: a class sends them without the methods
        of its base."""
        if event_type == CBEventType.LLM and self.active and payload and not is_inside():
            given = (payload.get(EventPayload.ADDITIONAL_KWARGS) or {}).get("tools")
            name = str((payload.get(EventPayload.SERIALIZED) or {}).get("class_name", "an LLM"))
            if given and self.engine.approval.refuses:
                raise ConfigError(
                    f"{name} sends {len(given)} tools past the lock: its class does not come by the methods of "
                    "FunctionCallingLLM",
                    hint="use compress_llm(llm, lock=...)",
                )
            if given and name not in self.bypassed:
                self.bypassed.add(name)
                note(
                    f"{name} sent {len(given)} tools uncompressed: its class does not come by the methods of "
                    "FunctionCallingLLM; use compress_llm(llm)"
                )
        return event_id

    def on_event_end(
        self, event_type: CBEventType, payload: dict[str, Any] | None = None, event_id: str = "", **kwargs: Any
    ) -> None:
        """Nothing: the events of the LLM say it all."""

    def start_trace(self, trace_id: str | None = None) -> None:
        """Nothing."""

    def end_trace(self, trace_id: str | None = None, trace_map: dict[str, list[str]] | None = None) -> None:
        """Nothing."""

    def check(self, llm: FunctionCallingLLM, response: ChatResponse) -> ChatResponse:
        """An integration reads calls by a method of its own; one that ignores their blocks would lose ours."""
        calls = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
        kind = type(llm)
        if calls and kind not in self.trusted:
            self.trusted.add(kind)
            if len(llm.get_tool_calls_from_response(response, error_on_no_tool_call=False)) != len(calls):
                note(f"{kind.__name__} does not read calls from the blocks of a message; use compress_llm(llm)")
        return response


class Seam:
    """The four methods of ``FunctionCallingLLM``, wrapped as long as a manager compresses."""

    def __init__(self) -> None:
        self._handlers: WeakSet[Handler] = WeakSet()
        self._originals: dict[str, Callable[..., Any]] = {}
        self._wrapped: dict[str, Callable[..., Any]] = {}
        self._lock = threading.Lock()

    def install(self, handler: Handler) -> None:
        """Wrap the methods, once."""
        with self._lock:
            self._handlers.add(handler)
            for name in METHODS:
                now = FunctionCallingLLM.__dict__[name]
                if now is not self._wrapped.get(name):
                    if name in self._originals:
                        continue  # ours is inside another library's, and still there
                    self._originals[name], self._wrapped[name] = now, _wrapper(name, now)
                    setattr(FunctionCallingLLM, name, self._wrapped[name])

    def remove(self, handler: Handler) -> None:
        """Unwrap the methods with the last manager, where they are still ours; else ours pass everything through."""
        with self._lock:
            handler.active = False
            self._handlers.discard(handler)
            if any(one.active for one in self._handlers):
                return
            for name in list(self._originals):
                if FunctionCallingLLM.__dict__[name] is self._wrapped[name]:
                    setattr(FunctionCallingLLM, name, self._originals.pop(name))
                    del self._wrapped[name]


_seam = Seam()


def _wrapper(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    """One of the four methods with compression, where a handler is found for the LLM."""

    def begun(llm: Any, args: Any, kwargs: Any) -> tuple[Handler, Request] | None:
        handler = _handler_of(llm)
        if handler is None or isinstance(llm, CompressedLLM):
            return None
        request = Request.of(*args, **kwargs)
        return None if request.is_ours else (handler, request)

    @functools.wraps(original)
    def call(self: FunctionCallingLLM, *args: Any, **kwargs: Any) -> Any:
        found = begun(self, args, kwargs)
        if found is None:
            return original(self, *args, **kwargs)
        handler, request = found
        bound = functools.partial(original, self)
        if name == "stream_chat_with_tools":
            return handler.engine.stream(self, bound, request)
        return handler.check(self, handler.engine.chat(self, bound, request))

    @functools.wraps(original)
    async def acall(self: FunctionCallingLLM, *args: Any, **kwargs: Any) -> Any:
        found = begun(self, args, kwargs)
        if found is None:
            return await original(self, *args, **kwargs)
        handler, request = found
        bound = functools.partial(original, self)
        if name == "astream_chat_with_tools":
            return await handler.engine.astream(self, bound, request)
        return handler.check(self, await handler.engine.achat(self, bound, request))

    return acall if name.startswith("a") else call


def _handler_of(llm: Any) -> Handler | None:
    """The handler of an LLM: of its own manager, else of the one in ``Settings``."""
    # `_callback_manager` is private (llama-index-core 0.14): the property would make a manager where there is none. A
    # test fails when it moves.
    for manager in (llm.callback_manager, Global._callback_manager):
        for handler in manager.handlers if manager is not None else ():
            if isinstance(handler, Handler) and handler.active:
                return handler
    return None
