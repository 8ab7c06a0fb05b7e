"""Middleware for ``create_agent``: the only module that needs the package ``langchain`` (extra ``agents``)."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

import tscg
from langchain_tscg.binding import CompressedChatModel, check_options
from langchain_tscg.rounds import Ledger
from tscg.lock import approved

__all__ = ["ToolCompressionMiddleware"]

if TYPE_CHECKING:
    Middleware = AgentMiddleware[Any, Any, Any]
else:
    Middleware = AgentMiddleware  # langchain 1.0 has two parameters, later ones have three

KEPT = 16  # models with compression; a fallback or a router brings several


class ToolCompressionMiddleware(Middleware):
    """Compresses the tools of each model call of an agent. Put it last, so that it is the innermost one.

    The arguments are those of :class:`langchain_tscg.CompressedChatModel`. The tools come from each request, so tools
    that other middleware adds or selects are compressed too; a ``pin`` that a request does not have is left out of it.
    """

    def __init__(
        self,
        mode: Any = "auto",
        profile: Any = "auto",
        *,
        pin: Sequence[str] | str = (),
        tokenizer: object = None,
        max_lookups: int = 3,
        max_repairs: int = 2,
        lock: tscg.Lock | str | PathLike[str] | None = None,
        on_drift: str = "error",
    ) -> None:
        super().__init__()
        self.lock, self.on_drift = approved(lock, on_drift), on_drift
        check_options(mode, profile, max_lookups, max_repairs)
        self.mode, self.profile, self.tokenizer = mode, profile, tokenizer
        self.pin = (pin,) if isinstance(pin, str) else tuple(pin)
        self.max_lookups, self.max_repairs = max_lookups, max_repairs
        self.tools = []
        self.ledger = Ledger()
        self._models: OrderedDict[tuple[int, tuple[str, ...]], CompressedChatModel] = OrderedDict()
        self._lock = threading.Lock()

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any] | AIMessage]
    ) -> ModelResponse[Any] | AIMessage:
        """Call the model with compression."""
        return handler(self._compressed(request))

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any] | AIMessage]],
    ) -> ModelResponse[Any] | AIMessage:
        """Call the model with compression."""
        return await handler(self._compressed(request))

    def report(self) -> tscg.CompressionReport:
        """What was sent so far, tokens and rounds; an empty one before the first call."""
        return self.ledger.total or tscg.CompressionReport()

    def _compressed(self, request: ModelRequest[Any]) -> ModelRequest[Any]:
        model: Any = request.model
        if isinstance(model, CompressedChatModel):
            return request
        if type(model).__name__ == "_ConfigurableModel":
            model = _configured(model)
        names = {one.get("name") if isinstance(one, dict) else one.name for one in request.tools}
        return request.override(model=self._wrapped(model, tuple(name for name in self.pin if name in names)))

    def _wrapped(self, model: BaseChatModel, pin: tuple[str, ...]) -> CompressedChatModel:
        """The model with compression, the same one for the same model: it remembers the tools it has read."""
        key = (id(model), pin)
        with self._lock:
            kept = self._models.get(key)
        if kept is not None and kept.inner is model:
            return kept
        made = CompressedChatModel(
            inner=model, mode=self.mode, compression_profile=self.profile, pin=pin, tokenizer=self.tokenizer,
            max_lookups=self.max_lookups, max_repairs=self.max_repairs, lock=self.lock, on_drift=self.on_drift,
        )  # fmt: skip
        made._ledger = self.ledger
        with self._lock:
            self._models[key] = made
            while len(self._models) > KEPT:
                self._models.popitem(last=False)
        return made


def _configured(model: Any) -> Any:
    """The model that a configurable one stands for in this run.

    `_ConfigurableModel._model(config)` is private (langchain 1.0 to 1.5): there is no public way to ask for it. A test
    fails when it moves.
    """
    from langgraph.config import get_config

    return model._model(get_config())
