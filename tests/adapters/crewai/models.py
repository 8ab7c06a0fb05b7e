"""Language models for tests: CrewAI's real providers against a server on the loopback address, and scripted ones."""

from __future__ import annotations

import copy
from typing import Any

from crewai import LLM
from crewai.llms.base_llm import BaseLLM
from pydantic import Field

from tests.adapters.provider import Provider


def client(provider: Provider, dialect: str = "openai", model: str = "", **options: Any) -> Any:
    """CrewAI's own provider of a dialect."""
    if dialect == "anthropic":
        name, url = model or "anthropic/claude-fake-2", provider.url
    else:
        name, url = model or "openai/fake-1", f"{provider.url}/v1"
    return LLM(model=name, base_url=url, api_key="none", max_retries=0, **options)


class ScriptedLLM(BaseLLM):
    """Says what it was told to, answer after answer, and records what it got. It takes no native calls."""

    script: list[Any] = Field(default_factory=list)
    got: list[dict[str, Any]] = Field(default_factory=list)

    def call(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        # The executor goes on to write into the list that it handed over.
        self.got.append({"messages": copy.deepcopy(messages), "tools": tools, "stop": list(self.stop_sequences)})
        self._track_token_usage_internal({"prompt_tokens": 10, "completion_tokens": 2, "total_tokens": 12})
        said = self.script[len(self.got) - 1]
        if isinstance(said, Exception):
            raise said
        return said(self.got[-1]) if callable(said) else said

    async def acall(self, messages: Any, tools: Any = None, *args: Any, **kwargs: Any) -> Any:
        return self.call(messages, tools, *args, **kwargs)


class ScriptedToolLLM(ScriptedLLM):
    """The same with native calls."""

    def supports_function_calling(self) -> bool:
        return True


def native(name: str, arguments: str, id: str = "c1") -> dict[str, Any]:
    """A native call as a provider returns it."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
