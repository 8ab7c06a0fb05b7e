"""The model with compressed tools."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.language_models.base import LangSmithParams
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig
from pydantic import ConfigDict, PrivateAttr, field_validator, model_validator

import tscg
from langchain_tscg.convert import BoundTools, ToolLike, bound_tools, full, listed
from langchain_tscg.plan import Plan, Target
from langchain_tscg.planner import Planner, Settings, options_of
from langchain_tscg.rounds import Exchange, Ledger, chunk_of
from tscg.errors import ConfigError
from tscg.lock import approved

__all__ = ["CompressedChatModel", "check_options"]

# What a model has beside its provider: callbacks, caches and limits fire for our run, since there is one run alone.
COPIED = (
    "cache", "callbacks", "tags", "metadata", "rate_limiter", "disable_streaming", "output_version", "verbose", "name",
    "custom_get_token_ids", "streaming",
)  # fmt: skip
NOSTREAM: RunnableConfig = {"tags": ["nostream"]}  # tokens of a run below ours are no part of the answer


class CompressedChatModel(BaseChatModel):
    """A chat model whose tools reach the provider compressed, and whose answers hold real, validated calls.

    ``inner`` is any chat model. ``mode``, ``compression_profile``, ``pin`` and ``tokenizer`` are those of
    :func:`tscg.compile`, ``"auto"`` asks :func:`tscg.recommend` once for each set of tools; ``code`` is not offered.
    ``max_lookups`` and ``max_repairs`` bound the rounds of one call, so that there are at most
    ``1 + max_lookups + max_repairs`` requests. ``lock``, a :class:`tscg.Lock` or its file, holds the tools that were
    approved: others raise :class:`tscg.DriftError` before anything is sent; ``on_drift="warn"`` says it once.

    Raises :class:`tscg.ConfigError` for wrong options and for what is no chat model.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    inner: BaseChatModel
    mode: Any = "auto"
    compression_profile: Any = "auto"
    pin: tuple[str, ...] = ()
    tokenizer: Any = None
    max_lookups: int = 3
    max_repairs: int = 2
    lock: Any = None
    on_drift: str = "error"
    streaming: bool = False

    _kept: Planner | None = PrivateAttr(default=None)
    _ledger: Ledger = PrivateAttr(default_factory=Ledger)
    _bound: tuple[tuple[Any, ...], BoundTools] | None = PrivateAttr(default=None)

    @model_validator(mode="before")
    @classmethod
    def _take_settings(cls, values: Any) -> Any:
        inner = values.get("inner")
        check_model(inner)
        values = dict(values)
        if values.get("profile") is not None and not isinstance(values["profile"], Mapping):
            raise ConfigError(
                f"profile is {values['profile']!r}, and stands for the model's table of capabilities",
                hint="the profile of the compression is compression_profile",
            )
        for name in COPIED:
            if name not in values and name in type(inner).model_fields and name in inner.model_fields_set:
                values[name] = getattr(inner, name)
        return values

    @field_validator("mode")
    @classmethod
    def _check_mode(cls, mode: Any) -> Any:
        if mode != "auto":
            options_of(mode)
        return mode

    @field_validator("compression_profile")
    @classmethod
    def _check_profile(cls, profile: Any) -> Any:
        tscg.compile([], profile=profile)
        return profile

    @field_validator("pin", mode="before")
    @classmethod
    def _check_pin(cls, pin: Any) -> Any:
        return (pin,) if isinstance(pin, str) else tuple(pin)

    def model_post_init(self, context: Any, /) -> None:
        """Make what the calls share."""
        super().model_post_init(context)
        self.lock = approved(self.lock, self.on_drift)
        tscg.compile([]).turn(self.max_lookups, self.max_repairs)  # ConfigError for what are no bounds

    @property
    def _planner(self) -> Planner:
        """The plans of this model: new ones for a copy with other settings, which else would share them."""
        settings = Settings(
            mode=self.mode, profile=self.compression_profile, pin=self.pin, tokenizer=self.tokenizer, lock=self.lock,
            on_drift=self.on_drift,
        )  # fmt: skip
        kept = self._kept
        if kept is None or kept.inner is not self.inner or kept.settings != settings:
            kept = self._kept = Planner(self.inner, settings)
        return kept

    # --- tools --------------------------------------------------------------------------------------------------------

    def bind_tools(
        self,
        tools: Sequence[ToolLike],
        *,
        tool_choice: Any = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with tools: the binding lists them in full under their real names, the provider gets them
        compressed.

        Raises :class:`tscg.CompileError` for two tools of one name, and :class:`tscg.ConfigError` for pins that name
        none.
        """
        bound = self._tools(tools)
        names = bound.read().by_name
        unknown = [name for name in self.pin if name not in names]
        if unknown:
            raise ConfigError(f"pin names {unknown[0]!r}, which is no tool that is bound", allowed=tuple(names)[:20])
        if tool_choice is not None:
            kwargs["tool_choice"] = tool_choice
        # The list is one that remembers what it was read as; to whoever looks at the binding it is a list of dicts.
        return self.bind(tools=bound, **kwargs)

    def _tools(self, tools: Sequence[ToolLike]) -> BoundTools:
        """The tools of a binding; an agent binds the same ones at each call, and they are read once."""
        if isinstance(tools, BoundTools):
            return tools
        listed(tools)
        # The values are kept beside their identity, so that it cannot become another's.
        marks = tuple(
            (one, *(getattr(one, name, None) for name in ("name", "description", "args_schema", "extras")))
            for one in tools
        )
        kept = self._bound
        if kept is not None and len(kept[0]) == len(marks) and all(
            all(a is b for a, b in zip(old, new, strict=True)) for old, new in zip(kept[0], marks, strict=True)
        ):  # fmt: skip
            return kept[1]
        for one in tools:
            if (getattr(one, "extras", None) or {}).get("defer_loading"):
                raise ConfigError(
                    "tools that the provider's tool search defers and compression are two means for one end",
                    hint="leave out ProviderToolSearchMiddleware, or the compression",
                )
        made = bound_tools(tools)
        if not any(isinstance(one, Mapping) for one in tools):  # a dict can be changed in place
            self._bound = (marks, made)
        return made

    def with_structured_output(self, schema: Any, **kwargs: Any) -> Runnable[LanguageModelInput, Any]:
        """The inner model's own: one schema that is forced, nothing to compress. In text where it has no calls."""
        if self._planner.calls:
            return self.inner.with_structured_output(schema, **kwargs)
        return super().with_structured_output(schema, **kwargs)

    def report(self) -> tscg.CompressionReport:
        """What was sent so far by this model, tokens and rounds; an empty one before the first call."""
        return self._ledger.total or tscg.CompressionReport()

    def get_num_tokens_from_messages(self, messages: list[BaseMessage], tools: Sequence[Any] | None = None) -> int:
        """Tokens of what is really sent for messages and tools, by the inner model's own count."""
        exchange = self._exchange(messages, None, {"tools": self._tools(tools or ())})
        sent = list(exchange.target.kwargs.get("tools") or ())
        inner = self.inner
        if type(inner).get_num_tokens_from_messages is not BaseChatModel.get_num_tokens_from_messages:
            return inner.get_num_tokens_from_messages(exchange.messages, sent or None)
        import json

        count = inner.get_num_tokens_from_messages(exchange.messages)
        return count + (inner.get_num_tokens(json.dumps(sent, separators=(",", ":"), default=repr)) if sent else 0)

    # --- calls --------------------------------------------------------------------------------------------------------
    # The four methods below are what an integration implements: underscored, and documented for it. The inner model's
    # are called in the same way as langchain-core 1.0 to 1.8 calls ours, without a run manager (ours reports alone).

    def _plan(self, kwargs: dict[str, Any]) -> Plan:
        """What the keywords of a call ask for; takes tools and choice out of them."""
        tools = kwargs.pop("tools", None) or ()
        choice = kwargs.pop("tool_choice", None)
        bound = tools if isinstance(tools, BoundTools) else BoundTools(full(one) for one in tools)
        return self._planner.plan(bound.read(), choice, kwargs)

    def _exchange(
        self, messages: Sequence[BaseMessage], stop: Sequence[str] | None, kwargs: Mapping[str, Any]
    ) -> Exchange:
        return Exchange.begin(
            self.inner, self._plan(dict(kwargs)), messages, stop, ledger=self._ledger, max_lookups=self.max_lookups,
            max_repairs=self.max_repairs,
        )  # fmt: skip

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with closing(self._exchange(messages, stop, kwargs)) as exchange:
            while True:
                target = exchange.target
                if target.runnable is not None:
                    result = _result(target.runnable.invoke(exchange.messages, NOSTREAM, stop=exchange.stop))
                else:
                    result = target.model._generate(exchange.messages, stop=exchange.stop, **target.kwargs)
                done = exchange.finished(result)
                if done is not None:
                    return done
                if self.rate_limiter is not None:
                    self.rate_limiter.acquire(blocking=True)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        with closing(self._exchange(messages, stop, kwargs)) as exchange:
            while True:
                target = exchange.target
                if target.runnable is not None:
                    result = _result(await target.runnable.ainvoke(exchange.messages, NOSTREAM, stop=exchange.stop))
                else:
                    result = await target.model._agenerate(exchange.messages, stop=exchange.stop, **target.kwargs)
                done = exchange.finished(result)
                if done is not None:
                    return done
                if self.rate_limiter is not None:
                    await self.rate_limiter.aacquire(blocking=True)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        if type(self.inner)._stream is BaseChatModel._stream:
            yield chunk_of(self._generate(messages, stop, **kwargs))
            return
        with closing(self._exchange(messages, stop, kwargs)) as exchange:
            while True:
                reader = exchange.reader()
                for chunk in self._chunks(exchange.target, exchange):
                    shown = reader.feed(_without_end(chunk))
                    if shown is not None:
                        yield shown
                yield from exchange.ended(reader)
                if exchange.turn is None or exchange.final is not None:
                    return
                if self.rate_limiter is not None:
                    self.rate_limiter.acquire(blocking=True)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        kind = type(self.inner)
        if kind._stream is BaseChatModel._stream and kind._astream is BaseChatModel._astream:
            yield chunk_of(await self._agenerate(messages, stop, **kwargs))
            return
        with closing(self._exchange(messages, stop, kwargs)) as exchange:
            while True:
                reader = exchange.reader()
                async for chunk in self._achunks(exchange.target, exchange):
                    shown = reader.feed(_without_end(chunk))
                    if shown is not None:
                        yield shown
                for rest in exchange.ended(reader):
                    yield rest
                if exchange.turn is None or exchange.final is not None:
                    return
                if self.rate_limiter is not None:
                    await self.rate_limiter.aacquire(blocking=True)

    def _chunks(self, target: Target, exchange: Exchange) -> Iterator[ChatGenerationChunk]:
        if target.runnable is None:
            yield from target.model._stream(exchange.messages, stop=exchange.stop, **target.kwargs)
            return
        for message in target.runnable.stream(exchange.messages, NOSTREAM, stop=exchange.stop):
            yield ChatGenerationChunk(message=_chunk(message))

    async def _achunks(self, target: Target, exchange: Exchange) -> AsyncIterator[ChatGenerationChunk]:
        if target.runnable is None:
            async for chunk in target.model._astream(exchange.messages, stop=exchange.stop, **target.kwargs):
                yield chunk
            return
        async for message in target.runnable.astream(exchange.messages, NOSTREAM, stop=exchange.stop):
            yield ChatGenerationChunk(message=_chunk(message))

    # --- what the model is --------------------------------------------------------------------------------------------

    @property
    def _llm_type(self) -> str:
        return f"compressed-{self.inner._llm_type}"

    @property
    def _identifying_params(self) -> Mapping[str, Any]:
        """The inner model's with the form of the tools: an answer cached in one form is none of another."""
        form = {
            "version": tscg.__version__, "mode": repr(self.mode), "profile": repr(self.compression_profile),
            "pin": list(self.pin), "max_lookups": self.max_lookups, "max_repairs": self.max_repairs,
        }  # fmt: skip
        return {**self.inner._identifying_params, "_inner_type": self.inner._llm_type, "tscg": form}

    @property
    def model_name(self) -> str | None:
        """The inner model's name; None in text mode, for it is read to find out what the provider can enforce."""
        return None if self._in_text else self._planner.model

    @property
    def use_responses_api(self) -> bool | None:
        """The inner model's, where it has one."""
        return cast("bool | None", getattr(self.inner, "use_responses_api", None))

    @property
    def _in_text(self) -> bool:
        return self.mode != "auto" and isinstance(options_of(self.mode), tscg.Text)

    def _resolve_model_profile(self) -> Any:
        known = getattr(self.inner, "profile", None)
        if known is None or not self._in_text:
            return known
        return {**known, "structured_output": False}

    def _get_ls_params(self, stop: list[str] | None = None, **kwargs: Any) -> LangSmithParams:
        """The inner model's, with the form of the tools for whoever reads the trace."""
        params: dict[str, Any] = {**self.inner._get_ls_params(stop=stop, **kwargs)}
        params.pop("ls_integration", None)
        compiled = self._plan(dict(kwargs)).compiled if kwargs.get("tools") else None
        if compiled is not None:
            params |= {
                "tscg_mode": compiled.mode, "tscg_profile": compiled.profile, "tscg_fingerprint": compiled.fingerprint,
            }  # fmt: skip
        return cast("LangSmithParams", params)


def check_model(model: object) -> None:
    """ConfigError for what is no chat model, with what to do instead."""
    if isinstance(model, CompressedChatModel):
        raise ConfigError("the model is compressed already", hint="wrap the model itself")
    if isinstance(model, BaseChatModel):
        return
    hint = "put .bind(...), .with_retry() and .with_fallbacks() around the compressed model, not inside"
    if isinstance(model, str):
        hint = f"make a model of its name: init_chat_model({model!r})"
    elif type(model).__name__ == "_ConfigurableModel":
        hint = "a configurable model of init_chat_model goes with ToolCompressionMiddleware alone"
    elif isinstance(model, RunnableBinding):
        hint = "give the model itself, and bind tools and settings to the compressed one"
    raise ConfigError(f"{type(model).__name__} is no BaseChatModel", hint=hint)


def check_options(mode: Any, profile: Any, max_lookups: int, max_repairs: int) -> None:
    """ConfigError for options that no call could use."""
    if mode != "auto":
        options_of(mode)
    tscg.compile([], profile=profile).turn(max_lookups, max_repairs)


def _result(message: AIMessage) -> ChatResult:
    return ChatResult(generations=[ChatGeneration(message=message)])


def _chunk(message: BaseMessage) -> AIMessageChunk:
    if isinstance(message, AIMessageChunk):
        return message
    made = chunk_of(_result(cast("AIMessage", message))).message
    assert isinstance(made, AIMessageChunk)
    return made


def _without_end(chunk: ChatGenerationChunk) -> ChatGenerationChunk:
    """A chunk that is not the last of the stream, since another round may follow: core adds the end itself."""
    if getattr(chunk.message, "chunk_position", None) is None:
        return chunk
    return ChatGenerationChunk(
        message=chunk.message.model_copy(update={"chunk_position": None}), generation_info=chunk.generation_info
    )
