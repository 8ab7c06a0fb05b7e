"""LLMs for tests: the real clients against a provider on the loopback address, and scripted ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any, Self, cast

import pytest
from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms import LLM, CustomLLM
from llama_index.core.llms.callbacks import llm_chat_callback, llm_completion_callback
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from llama_index.core.llms.utils import parse_partial_json
from pydantic import Field
from typing_extensions import override

from tests.adapters.provider import Provider


def client(provider: Provider, dialect: str, **options: Any) -> LLM:
    """The real client of a dialect; skips where it cannot be had."""
    if dialect == "openai":
        from llama_index.llms.openai_like import OpenAILike  # type: ignore[import-untyped]

        made: LLM = OpenAILike(
            model="fake-1", api_base=f"{provider.url}/v1", api_key="none", max_retries=0, is_chat_model=True,
            is_function_calling_model=True, additional_kwargs={"stream_options": {"include_usage": True}}, **options,
        )  # fmt: skip
        return made
    pytest.importorskip("llama_index.llms.anthropic", reason="llama-index-llms-anthropic is not installed")
    if version("anthropic").partition(".")[0] != "0":
        pytest.skip("llama-index-llms-anthropic fails at every message with anthropic 1 and later")
    from llama_index.llms.anthropic import Anthropic  # type: ignore[import-not-found, import-untyped, unused-ignore]

    anthropic: LLM = Anthropic(
        model="claude-sonnet-4-5", base_url=provider.url, api_key="none", max_retries=0, max_tokens=64, **options
    )
    return anthropic


Said = ChatMessage | Callable[[Sequence[ChatMessage], dict[str, Any]], ChatMessage]


class ScriptedLLM(FunctionCallingLLM):
    """Says what it was told to, answer after answer, whole or in pieces of `size` characters, and records what it got.

    Its tools are the objects that it was given.
    """

    script: list[Any] = Field(default_factory=list)
    got: list[dict[str, Any]] = Field(default_factory=list)
    size: int = 5

    def __init__(self, *script: Said, **options: Any) -> None:
        super().__init__(script=list(script), **options)

    @classmethod
    def saying(cls, *script: Said, **options: Any) -> Self:
        """The same of a subclass: type checkers give it a constructor of its own."""
        made: Any = cls
        return cast("Self", made(*script, **options))

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True)

    def answer(self, messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> ChatMessage:
        said: Said = self.script[min(len(self.got), len(self.script) - 1)]
        self.got.append({"messages": [one.model_copy(deep=True) for one in messages], **kwargs})
        answer = said(messages, kwargs) if callable(said) else said
        return answer.model_copy(deep=True)

    @llm_chat_callback()
    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self.answer(messages, kwargs))

    @llm_chat_callback()
    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=self.answer(messages, kwargs))

    @llm_chat_callback()
    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        return pieces(self.answer(messages, kwargs), self.size)

    @llm_chat_callback()
    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        async def chunks() -> ChatResponseAsyncGen:
            for chunk in pieces(self.answer(messages, kwargs), self.size):
                yield chunk

        return chunks()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=prompt)

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return CompletionResponse(text=prompt)

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        yield CompletionResponse(text=prompt, delta=prompt)

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    @override
    def _prepare_chat_with_tools(
        self, tools: Any, user_msg: Any = None, chat_history: Any = None, verbose: bool = False,
        allow_parallel_tool_calls: bool = False, tool_required: bool = False, **kwargs: Any,
    ) -> dict[str, Any]:  # fmt: skip
        last = ChatMessage(user_msg, role="user") if isinstance(user_msg, str) else user_msg
        return {
            "messages": [*(chat_history or ()), *([last] if last else [])], "tools": tools, "tool_required": tool_required,
            "allow_parallel_tool_calls": allow_parallel_tool_calls, **kwargs,
        }  # fmt: skip

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        """As integrations read them: the JSON so far, closed."""
        blocks = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
        return [
            ToolSelection(
                tool_id=one.tool_call_id or "", tool_name=one.tool_name,
                tool_kwargs=_closed(one.tool_kwargs) if isinstance(one.tool_kwargs, str) else one.tool_kwargs,
            )
            for one in blocks
        ]  # fmt: skip


def _closed(written: str) -> Any:
    try:
        return parse_partial_json(written)
    except ValueError:
        return {}


def pieces(said: ChatMessage, size: int) -> ChatResponseGen:
    """A message as a stream gives it: cumulative, arguments as the JSON so far."""
    text = said.content or ""
    calls = [block for block in said.blocks if isinstance(block, ToolCallBlock)]
    for start in range(0, len(text), size):
        piece = text[start : start + size]
        message = ChatMessage(role="assistant", blocks=[TextBlock(text=text[: start + size])])
        yield ChatResponse(message=message, delta=piece)
    done: list[Any] = [TextBlock(text=text)] if text else []
    for call in calls:
        raw = call.tool_kwargs if isinstance(call.tool_kwargs, str) else json.dumps(call.tool_kwargs)
        for end in range(0, len(raw) + size, size):
            block = ToolCallBlock(tool_call_id=call.tool_call_id, tool_name=call.tool_name, tool_kwargs=raw[:end])
            yield ChatResponse(message=ChatMessage(role="assistant", blocks=[*done, block]), delta="")
        done.append(call.model_copy(update={"tool_kwargs": raw}))


class CompletionLLM(CustomLLM):
    """Completes text and nothing else, answer after answer."""

    script: list[str] = Field(default_factory=list)
    prompts: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="scripted-text")

    @llm_completion_callback()
    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        self.prompts.append(prompt)
        return CompletionResponse(text=self.script[len(self.prompts) - 1])

    @llm_completion_callback()
    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        text = self.complete(prompt).text

        def chunks() -> CompletionResponseGen:
            for end in range(3, len(text) + 3, 3):
                yield CompletionResponse(text=text[:end], delta=text[end - 3 : end])

        return chunks()
