"""Tools with the way they are sent: bound to a model, or given to an agent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool, BaseToolkit
from pydantic import ConfigDict, Field, PrivateAttr

import tscg
from langchain_tscg.binding import CompressedChatModel, check_options
from langchain_tscg.convert import BoundTools, bound_tools, tools_of
from langchain_tscg.planner import Planner, Settings
from langchain_tscg.rounds import Ledger
from tscg.errors import ConfigError
from tscg.lock import approved

if TYPE_CHECKING:
    from langchain_tscg.middleware import ToolCompressionMiddleware

__all__ = ["CompressedToolkit"]


class CompressedToolkit(BaseToolkit):
    """Tools, and how they are sent. Bind them to a model, wrap a model, or give an agent the middleware.

    ``tools`` are LangChain tools or functions; the other arguments are those of :class:`CompressedChatModel`. Raises
    :class:`tscg.CompileError` for two tools of one name and :class:`tscg.ConfigError` for wrong options.

    >>> from langchain_core.tools import tool
    >>> @tool
    ... def ping(host: str) -> str:
    ...     "Check a host."
    ...     return "ok"
    >>> toolkit = CompressedToolkit([ping], mode="text")
    >>> toolkit.get_tools()[0] is ping, toolkit.report().mode
    (True, 'text')
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    tools: list[BaseTool] = Field(default_factory=list)
    mode: Any = "auto"
    profile: Any = "auto"
    pin: tuple[str, ...] = ()
    tokenizer: Any = None
    max_lookups: int = 3
    max_repairs: int = 2
    lock: Any = None
    on_drift: str = "error"

    _bound: BoundTools = PrivateAttr()
    _ledger: Ledger = PrivateAttr(default_factory=Ledger)

    def __init__(
        self,
        tools: Sequence[BaseTool | Callable[..., Any]],
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
        pins = (pin,) if isinstance(pin, str) else tuple(pin)
        super().__init__(
            tools=tools_of(tools),
            mode=mode,
            profile=profile,
            pin=pins,
            tokenizer=tokenizer,
            max_lookups=max_lookups,
            max_repairs=max_repairs,
            lock=approved(lock, on_drift),
            on_drift=on_drift,
        )  # type: ignore[call-arg]  # the fields of the model below
        self._bound = bound_tools(self.tools)
        check_options(mode, profile, max_lookups, max_repairs)
        names = self._bound.read().by_name
        unknown = [name for name in pins if name not in names]
        if unknown:
            raise ConfigError(f"pin names {unknown[0]!r}, which is no tool of the toolkit", allowed=tuple(names)[:20])

    @property
    def catalog(self) -> tscg.Catalog:
        """The tools as they are compiled: what ``tscg.Lock.of(toolkit.catalog).save()`` approves."""
        return self._bound.read().catalog

    def get_tools(self) -> list[BaseTool]:
        """The tools themselves, for a ``ToolNode`` or an agent: the same objects."""
        return list(self.tools)

    def wrap(self, model: BaseChatModel) -> CompressedChatModel:
        """The model with compression and no tools bound yet."""
        made = CompressedChatModel(
            inner=model, mode=self.mode, compression_profile=self.profile, pin=self.pin, tokenizer=self.tokenizer,
            max_lookups=self.max_lookups, max_repairs=self.max_repairs, lock=self.lock, on_drift=self.on_drift,
        )  # fmt: skip
        made._ledger = self._ledger
        return made

    def bind(
        self, model: BaseChatModel, *, tool_choice: Any = None, **kwargs: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """``model.bind_tools(tools, ...)``, compressed."""
        return self.wrap(model).bind_tools(self._bound, tool_choice=tool_choice, **kwargs)

    def middleware(self) -> ToolCompressionMiddleware:
        """Middleware for ``create_agent`` with the same settings; the last one of its list. The tools are those of
        each request."""
        from langchain_tscg.middleware import ToolCompressionMiddleware

        made = ToolCompressionMiddleware(
            self.mode, self.profile, pin=self.pin, tokenizer=self.tokenizer, max_lookups=self.max_lookups,
            max_repairs=self.max_repairs, lock=self.lock, on_drift=self.on_drift,
        )  # fmt: skip
        made.ledger = self._ledger
        return made

    def report(self, model: BaseChatModel | None = None) -> tscg.CompressionReport:
        """What is saved: with a model, in one request to it; without, in all calls so far, or in one request."""
        counted = self._ledger.total if model is None else None
        if counted is not None:
            return counted
        settings = Settings(mode=self.mode, profile=self.profile, pin=self.pin, tokenizer=self.tokenizer)
        planner = Planner(_AnyModel() if model is None else model, settings)
        return tscg.CompressionReport.of(planner.compiled(self._bound.read().catalog))


class _AnyModel(BaseChatModel):
    """Stands for a model that is not known yet: it takes native calls, and is never called."""

    @property
    def _llm_type(self) -> str:
        return "unknown"

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any) -> Any:
        return self.bind(tools=list(tools), **kwargs)

    def _generate(self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        raise ConfigError("this model stands for an unknown one and cannot be called")
