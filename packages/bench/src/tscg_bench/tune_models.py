"""Models that a tuning or a count of billed tokens converses with: a file, an endpoint, any model of Inspect."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

from tscg import ConfigError
from tscg.demo.models import Answer, ChatModel, Message, ModelError, model_from_spec

__all__ = ["InspectModel", "model_of"]

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectModel:
    """A model of Inspect (``openai/gpt-5.2``, ``ollama/phi4``, ``openai-api/NAME/MODEL`` ...) as the demo's models are
    spoken to. Its keys and addresses are those that Inspect reads from the environment; ``most_tokens`` are those of an
    answer."""

    spec: str
    model: Any = field(repr=False, compare=False)
    most_tokens: int | None = None

    @property
    def label(self) -> str:
        """The model as Inspect calls it."""
        return self.spec

    @property
    def catalog_model(self) -> str:
        """The same, which names family and version."""
        return self.spec

    def answer(self, messages: Sequence[Message], tools: Sequence[Message], stop: Sequence[str] = ()) -> Answer:
        """The next message at temperature 0; ModelError where there is none."""
        try:
            return _loop().run(self._answer(messages, tools, stop))
        except ModelError:
            raise
        except Exception as error:  # each provider has errors of its own
            raise ModelError(f"{self.spec}: {type(error).__name__}: {' '.join(str(error).split())[:300]}") from error

    async def _answer(self, messages: Sequence[Message], tools: Sequence[Message], stop: Sequence[str]) -> Answer:
        from inspect_ai.model import GenerateConfig

        from tscg_bench.wire import message_of, tool_info

        offered = [tool_info(tool["function"]) for tool in tools]
        config = GenerateConfig(temperature=0, seed=0, stop_seqs=list(stop) or None, max_tokens=self.most_tokens)
        output = await self.model.generate([_to_inspect(message) for message in messages], tools=offered, config=config)
        if output.error or not output.choices:
            raise ModelError(f"{self.spec}: {output.error or 'no answer'}")
        usage = output.usage
        return Answer(
            output=message_of(output), finish_reason="length" if output.stop_reason == "max_tokens" else "stop",
            input_tokens=usage and _all_input(usage), output_tokens=usage and usage.output_tokens,
        )  # fmt: skip


def _to_inspect(message: Message) -> Any:
    """A message of OpenAI's chat API as one of Inspect. Its own converter needs a version of openai that not every
    framework allows."""
    from inspect_ai.model import ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser
    from inspect_ai.tool import ToolCall

    content = message.get("content") or ""
    if message["role"] == "tool":
        return ChatMessageTool(content=content, tool_call_id=message["tool_call_id"])
    if message["role"] == "assistant":
        calls = [
            ToolCall(
                id=call["id"], function=call["function"]["name"], arguments=json.loads(call["function"]["arguments"])
            )
            for call in message.get("tool_calls") or ()
        ]
        return ChatMessageAssistant(content=content, tool_calls=calls or None)
    return (ChatMessageSystem if message["role"] == "system" else ChatMessageUser)(content=content)


def model_of(spec: str, *, base_url: str | None = None) -> ChatModel:
    """A model by its name: the path of a ``.gguf`` file, ``openai:NAME`` or ``ollama:NAME`` for an endpoint of
    OpenAI's chat API (``base_url`` says where), else ``PROVIDER/NAME`` as Inspect has it.

    >>> model_of("ollama:phi4").label
    'phi4 at http://localhost:11434/v1'
    """
    if spec.endswith(".gguf"):
        from tscg_bench.local import load_model

        return load_model(spec)
    if "/" not in spec.partition(":")[0]:
        return model_from_spec(spec, base_url=base_url)
    from inspect_ai.model import get_model

    try:
        return InspectModel(spec=spec, model=get_model(spec, base_url=base_url))
    except Exception as error:  # a missing key or package is told in the provider's own way
        raise ConfigError(f"{spec}: {' '.join(str(error).split())[:300]}") from error


def _all_input(usage: Any) -> int:
    """Tokens of the whole prompt: some providers count what came from a cache apart."""
    cached = (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
    apart = usage.total_tokens - usage.output_tokens - usage.input_tokens == cached
    return int(usage.input_tokens + (cached if apart else 0))


class _Loop:
    """One event loop in a thread of its own: the clients of providers are bound to the loop that first used them."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        threading.Thread(target=self._loop.run_forever, daemon=True, name="tscg-models").start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


@cache
def _loop() -> _Loop:
    return _Loop()
