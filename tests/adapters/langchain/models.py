"""Chat models for tests: the real clients against a provider on the loopback address, and scripted ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import ToolCallChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field, SecretStr

from tests.adapters.provider import Provider


def client(provider: Provider, dialect: str, **options: Any) -> BaseChatModel:
    """The real client of a dialect."""
    if dialect == "responses":
        options = {"use_responses_api": True, **options}
    if dialect in ("openai", "responses"):
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            model="fake-1", base_url=f"{provider.url}/v1", api_key=SecretStr("none"), max_retries=0, stream_usage=True,
            **options,
        )  # fmt: skip
    from langchain_anthropic import ChatAnthropic

    fixed: dict[str, Any] = {"model": "fake-2", "base_url": provider.url, "max_retries": 0, "max_tokens": 64}
    return ChatAnthropic(api_key=SecretStr("none"), **fixed, **options)


class TextOnlyModel(BaseChatModel):
    """Says what it was told to, answer after answer, and records what it got. It takes no tools and has no stream."""

    model: str = "scripted-1"
    script: list[AIMessage] = Field(default_factory=list)
    got: list[dict[str, Any]] = Field(default_factory=list)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _next(self, messages: list[BaseMessage], stop: list[str] | None, kwargs: dict[str, Any]) -> AIMessage:
        self.got.append({"messages": list(messages), "stop": stop, **kwargs})
        return self.script[len(self.got) - 1]

    def _generate(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages, stop, kwargs))])


class ScriptedChatModel(TextOnlyModel):
    """The same with tools. It has no stream of its own."""

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: Any = None, **kwargs: Any) -> Any:
        return self.bind(tools=list(tools), **({} if tool_choice is None else {"tool_choice": tool_choice}), **kwargs)


class StreamingChatModel(ScriptedChatModel):
    """The same as a stream: text and arguments in pieces of `size` characters."""

    size: int = 5

    def _stream(
        self, messages: list[BaseMessage], stop: list[str] | None = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        said = self._next(messages, stop, kwargs)
        for chunk in chunks(said, self.size):
            yield ChatGenerationChunk(message=chunk)


def chunks(said: AIMessage, size: int) -> Iterator[AIMessageChunk]:
    text = str(said.text)
    for start in range(0, len(text), size):
        yield AIMessageChunk(content=text[start : start + size])
    for index, raw in enumerate(raw_calls(said)):
        yield piece(raw["name"], "", raw["id"], index)
        for start in range(0, len(raw["args"]), size):
            yield piece(None, raw["args"][start : start + size], None, index)
    if said.usage_metadata or said.response_metadata:
        yield AIMessageChunk(content="", usage_metadata=said.usage_metadata, response_metadata=said.response_metadata)


def piece(name: str | None, args: str, id: str | None, index: int) -> AIMessageChunk:
    return AIMessageChunk(content="", tool_call_chunks=[ToolCallChunk(name=name, args=args, id=id, index=index)])


def raw_calls(said: AIMessage) -> list[dict[str, Any]]:
    import json

    calls = [{"name": call["name"], "id": call["id"], "args": json.dumps(call["args"])} for call in said.tool_calls]
    return [
        *calls,
        *({"name": bad["name"], "id": bad["id"], "args": bad["args"] or ""} for bad in said.invalid_tool_calls),
    ]
