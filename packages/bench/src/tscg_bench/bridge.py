"""Models of ours as models of Inspect: a GGUF file on this machine, an endpoint of OpenAI's chat API, an oracle."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from inspect_ai.model import (
    ChatCompletionChoice,
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageTool,
    GenerateConfig,
    Model,
    ModelAPI,
    ModelOutput,
    ModelUsage,
    modelapi,
)
from inspect_ai.tool import ToolChoice, ToolInfo

from tscg.demo.models import ChatModel
from tscg_bench.oracles import oracle
from tscg_bench.sampling import SAMPLING, Sampling
from tscg_bench.wire import call_of

__all__ = ["model_for"]


def model_for(
    spec: str, *, base_url: str | None = None, threads: int | None = None, sampling: Sampling = SAMPLING
) -> str | Model:
    """What ``eval_set`` takes for a name: ``oracle/NAME``, a ``.gguf`` file, ``openai:NAME`` or ``ollama:NAME`` with
    an address of one's own; any other name is Inspect's and stays as it is.

    A file is run in this process by so many ``threads``, with the seed, the context and the length of ``sampling``.
    """
    if spec.startswith("oracle/"):
        return oracle(spec.removeprefix("oracle/"))
    if spec.endswith(".gguf"):
        from tscg_bench.local import CONTEXT, load_model

        loaded = load_model(spec, context=sampling.num_ctx or CONTEXT, threads=threads, seed=sampling.seed)
        return bridged(replace(loaded, most_tokens=sampling.max_tokens))
    if "/" in spec.partition(":")[0]:
        return spec
    from tscg_bench.tune_models import model_of

    return bridged(model_of(spec, base_url=base_url))


def bridged(model: ChatModel) -> Model:
    """A chat model of the demo's kind as a model of Inspect; one request at a time."""
    return Model(_Bridge(model.catalog_model or model.label, model=model), GenerateConfig())


@modelapi(name="tscg")
class _Bridge(ModelAPI):
    def __init__(self, model_name: str, model: ChatModel, **_: Any) -> None:
        super().__init__(model_name)
        self.chat = model

    def max_connections(self) -> int:
        return 1

    async def generate(
        self, input: list[ChatMessage], tools: list[ToolInfo], tool_choice: ToolChoice, config: GenerateConfig
    ) -> ModelOutput:
        from anyio.to_thread import run_sync

        messages = [_said(message) for message in input]
        offered = [{"type": "function", "function": _function(tool)} for tool in tools]
        answer = await run_sync(lambda: self.chat.answer(messages, offered, config.stop_seqs or ()))
        return _output(self.model_name, answer)


def _function(tool: ToolInfo) -> dict[str, Any]:
    parameters = tool.parameters.model_dump(exclude_none=True)
    return {"name": tool.name, "description": tool.description, "parameters": parameters}


def _said(message: ChatMessage) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.text}
    if isinstance(message, ChatMessageTool):
        said["tool_call_id"] = message.tool_call_id
    if isinstance(message, ChatMessageAssistant) and message.tool_calls:
        said["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function, "arguments": json.dumps(call.arguments, ensure_ascii=False)},
            }
            for call in message.tool_calls
        ]
    return said


def _output(name: str, answer: Any) -> ModelOutput:
    said = answer.output
    calls = [] if isinstance(said, str) else [call_of(call) for call in said.get("tool_calls") or ()]
    text = said if isinstance(said, str) else said.get("content") or ""
    message = ChatMessageAssistant(content=text, tool_calls=calls or None)
    given, written = answer.input_tokens or 0, answer.output_tokens or 0
    return ModelOutput(
        model=name,
        choices=[
            ChatCompletionChoice(
                message=message, stop_reason="max_tokens" if answer.finish_reason == "length" else "stop"
            )
        ],
        usage=ModelUsage(input_tokens=given, output_tokens=written, total_tokens=given + written),
    )
