"""The LLM with compressed tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from os import PathLike
from typing import Any, cast

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseAsyncGen,
    CompletionResponseGen,
    LLMMetadata,
    ToolCallBlock,
)
from llama_index.core.llms import LLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.tools import BaseTool
from pydantic import PrivateAttr
from typing_extensions import override

import tscg
from llama_index_tscg.engine import Engine, Request
from llama_index_tscg.plan import Settings
from tscg.errors import ConfigError
from tscg.lock import approved

__all__ = ["CompressedLLM", "as_it_is", "compress_llm"]

# Fields that the base class reads itself; those of the inner LLM's class alone are reached through it.
SHARED = (
    "callback_manager", "system_prompt", "messages_to_prompt", "completion_to_prompt", "output_parser",
    "pydantic_program_mode",
)  # fmt: skip


def compress_llm(
    llm: LLM,
    mode: Any = "auto",
    profile: Any = "auto",
    *,
    pin: Sequence[str] | str = (),
    tokenizer: object = None,
    max_lookups: int = 3,
    max_repairs: int = 2,
    lock: tscg.Lock | str | PathLike[str] | None = None,
    on_drift: str = "error",
) -> CompressedLLM:
    """An LLM whose tools are compressed; one that is compressed already is returned unchanged.

    The arguments are those of :class:`CompressedLLM`. Raises :class:`tscg.ConfigError` also for an LLM that is
    compressed already, and not under the ``lock``.
    """
    if isinstance(llm, CompressedLLM):
        return as_it_is(llm, approved(lock, on_drift), on_drift)
    return CompressedLLM(
        llm, mode, profile, pin=pin, tokenizer=tokenizer, max_lookups=max_lookups, max_repairs=max_repairs, lock=lock,
        on_drift=on_drift,
    )  # fmt: skip


def as_it_is(llm: CompressedLLM, lock: tscg.Lock | None, on_drift: str) -> CompressedLLM:
    """An LLM that is compressed already. ConfigError for one without the lock that is asked for: nothing would say
    that it is not heeded."""
    own = llm._engine.settings
    if lock is not None and (lock, on_drift) != (own.lock, own.on_drift):
        raise ConfigError("the LLM is compressed already, and not under this lock", hint="wrap the LLM itself")
    return llm


class CompressedLLM(FunctionCallingLLM):
    """An LLM whose tools reach the provider compressed, and whose answers hold real, validated calls.

    ``llm`` is any LLM, also one without function calling, which gets its tools in text. ``mode``, ``profile``, ``pin``
    and ``tokenizer`` are those of :func:`tscg.compile`; ``"auto"`` asks :func:`tscg.recommend` once for each set of
    tools, ``code`` is not offered. ``max_lookups`` and ``max_repairs`` bound the rounds of one call, so that there are
    at most ``1 + max_lookups + max_repairs`` requests. ``lock``, a :class:`tscg.Lock` or its file, holds the tools that
    were approved: others raise :class:`tscg.DriftError` before anything is sent; ``on_drift="warn"`` says it once.

    What is no call with tools goes to ``inner``, the LLM itself, whose fields are reached by their names.

    Raises :class:`tscg.ConfigError` for wrong options and for what is no LLM.

    >>> from llama_index.core.llms import MockLLM
    >>> from llama_index.core.tools import FunctionTool
    >>> llm = CompressedLLM(MockLLM(), mode="text", max_repairs=0)
    >>> llm.metadata.is_function_calling_model, llm.inner.metadata.is_function_calling_model
    (True, False)
    """

    _inner: LLM = PrivateAttr()
    _engine: Engine = PrivateAttr()

    def __init__(
        self,
        llm: LLM,
        mode: Any = "auto",
        profile: Any = "auto",
        *,
        pin: Sequence[str] | str = (),
        tokenizer: object = None,
        max_lookups: int = 3,
        max_repairs: int = 2,
        lock: tscg.Lock | str | PathLike[str] | None = None,
        on_drift: str = "error",
        engine: Engine | None = None,
    ) -> None:
        if isinstance(llm, CompressedLLM):
            raise ConfigError("the LLM is compressed already", hint="wrap the LLM itself")
        if not isinstance(llm, LLM):
            raise ConfigError(f"{type(llm).__name__} is no LLM of LlamaIndex")
        super().__init__(**{name: getattr(llm, name) for name in SHARED})
        self._inner = llm
        self._engine = engine or Engine(Settings(
            mode=mode, profile=profile, pin=(pin,) if isinstance(pin, str) else tuple(pin), tokenizer=tokenizer,
            max_lookups=max_lookups, max_repairs=max_repairs, lock=approved(lock, on_drift), on_drift=on_drift,
        ))  # fmt: skip

    @property
    def inner(self) -> LLM:
        """The LLM itself."""
        return self._inner

    def report(self) -> tscg.CompressionReport:
        """What was sent so far, tokens and rounds; an empty one before the first call."""
        return self._engine.ledger.total

    # --- with tools ---------------------------------------------------------------------------------------------------

    @override
    def chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> ChatResponse:
        """Chat with tools. MalformedToolCallError where the model's calls stay wrong."""
        flags = (verbose, allow_parallel_tool_calls, tool_required)
        request = Request.of(tools, user_msg, chat_history, *flags, **kwargs)
        return self._engine.chat(self._inner, self._method("chat_with_tools"), request)

    @override
    async def achat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> ChatResponse:
        """Chat with tools. MalformedToolCallError where the model's calls stay wrong."""
        flags = (verbose, allow_parallel_tool_calls, tool_required)
        request = Request.of(tools, user_msg, chat_history, *flags, **kwargs)
        return await self._engine.achat(self._inner, self._method("achat_with_tools"), request)

    @override
    def stream_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> ChatResponseGen:
        """Chat with tools; the last chunk holds the calls. MalformedToolCallError where they stay wrong."""
        flags = (verbose, allow_parallel_tool_calls, tool_required)
        request = Request.of(tools, user_msg, chat_history, *flags, **kwargs)
        return self._engine.stream(self._inner, self._method("stream_chat_with_tools"), request)

    @override
    async def astream_chat_with_tools(
        self,
        tools: Sequence[BaseTool],
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        verbose: bool = False,
        allow_parallel_tool_calls: bool = False,
        tool_required: bool = False,
        **kwargs: Any,
    ) -> ChatResponseAsyncGen:
        """Chat with tools; the last chunk holds the calls. MalformedToolCallError where they stay wrong."""
        flags = (verbose, allow_parallel_tool_calls, tool_required)
        request = Request.of(tools, user_msg, chat_history, *flags, **kwargs)
        return await self._engine.astream(self._inner, self._method("astream_chat_with_tools"), request)

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        """The calls of an answer. ValueError for one without any, unless that is allowed."""
        blocks = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
        if not blocks and error_on_no_tool_call:
            raise ValueError("Expected at least one tool call, but got 0 tool calls.")
        try:
            parsed = [
                (one, json.loads(one.tool_kwargs) if isinstance(one.tool_kwargs, str) else one.tool_kwargs)
                for one in blocks
            ]
        except ValueError:  # a chunk of a stream that is none of ours
            inner: Any = self._inner
            return cast("list[ToolSelection]", inner.get_tool_calls_from_response(response, error_on_no_tool_call))
        return [
            ToolSelection(tool_id=block.tool_call_id or "", tool_name=block.tool_name, tool_kwargs=arguments)
            for block, arguments in parsed
        ]

    def _method(self, name: str) -> Any:
        """A method of the inner LLM; without function calling there is none, and no plan asks for it."""
        return getattr(self._inner, name, None)

    def _prepare_chat_with_tools(self, tools: Sequence[BaseTool], *args: Any, **kwargs: Any) -> dict[str, Any]:
        """Abstract upstream: what an integration would send, for whoever asks it for that."""
        prepare = self._method("_prepare_chat_with_tools")
        if prepare is None:
            raise ConfigError(f"{type(self._inner).__name__} has no function calling")
        prepared: dict[str, Any] = prepare(tools, *args, **kwargs)
        return prepared

    # --- without ------------------------------------------------------------------------------------------------------
    # Not decorated with the callbacks of LlamaIndex: the inner LLM fires them already.

    @classmethod
    def class_name(cls) -> str:
        """Name of the class, as LlamaIndex stores it."""
        return "CompressedLLM"

    @property
    def metadata(self) -> LLMMetadata:
        """The inner LLM's; calls are possible in every case."""
        return self._inner.metadata.model_copy(update={"is_function_calling_model": True})

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """The inner LLM's."""
        return self._inner.chat(messages, **kwargs)

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        """The inner LLM's."""
        return await self._inner.achat(messages, **kwargs)

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        """The inner LLM's."""
        return self._inner.stream_chat(messages, **kwargs)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        """The inner LLM's."""
        return await self._inner.astream_chat(messages, **kwargs)

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """The inner LLM's."""
        return self._inner.complete(prompt, formatted=formatted, **kwargs)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """The inner LLM's."""
        return await self._inner.acomplete(prompt, formatted=formatted, **kwargs)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        """The inner LLM's."""
        return self._inner.stream_complete(prompt, formatted=formatted, **kwargs)

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseAsyncGen:
        """The inner LLM's."""
        return await self._inner.astream_complete(prompt, formatted=formatted, **kwargs)

    def structured_predict(self, *args: Any, **kwargs: Any) -> Any:
        """The inner LLM's."""
        return self._inner.structured_predict(*args, **kwargs)

    async def astructured_predict(self, *args: Any, **kwargs: Any) -> Any:
        """The inner LLM's."""
        return await self._inner.astructured_predict(*args, **kwargs)

    def stream_structured_predict(self, *args: Any, **kwargs: Any) -> Any:
        """The inner LLM's."""
        return self._inner.stream_structured_predict(*args, **kwargs)

    async def astream_structured_predict(self, *args: Any, **kwargs: Any) -> Any:
        """The inner LLM's."""
        return await self._inner.astream_structured_predict(*args, **kwargs)

    # --- fields -------------------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)  # type: ignore[misc]  # pydantic hides it from type checkers
        except AttributeError:
            if name.startswith("_"):
                raise
            return getattr(self._inner, name)

    def __setattr__(self, name: str, value: Any) -> None:
        """A field is the inner LLM's too: the getter of `Settings.llm` sets the callback manager at every access."""
        if name.startswith("_"):
            super().__setattr__(name, value)
            return
        setattr(self._inner, name, value)
        if name in type(self).model_fields:
            super().__setattr__(name, value)

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy has the settings and counts anew."""
        settings = self._engine.settings
        return _rebuilt, (self._inner, settings)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> CompressedLLM:
        import copy

        return _rebuilt(copy.deepcopy(self._inner, memo), self._engine.settings)


def _rebuilt(llm: LLM, settings: Settings) -> CompressedLLM:
    return CompressedLLM(llm, engine=Engine(settings))
