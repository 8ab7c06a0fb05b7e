"""Messages of providers, taken apart: text, reasoning and native calls, in their order.

One function per shape, found by the keys that it has. A shape that none of them knows is the developer's fault.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tscg.decoders.objects import Raw
from tscg.errors import ConfigError

__all__ = ["TRUNCATING", "Message", "message_of"]

# Finish reasons after which the output may lack its end.
TRUNCATING = frozenset(
    {
        "length",
        "max_tokens",
        "MAX_TOKENS",
        "incomplete",
        "max_output_tokens",
        "content_filter",
        "content_filtered",
        "refusal",
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "model_context_window_exceeded",
        "MAX_TOKEN",
        "guardrail_intervened",
        "model_length",
        "error",
        "cancelled",
        "failed",
    }
)
MALFORMED = frozenset({"MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL"})
TEXT_TYPES = frozenset({"text", "output_text", "input_text"})
THOUGHT_TYPES = frozenset({"thinking", "reasoning", "redacted_thinking", "reasoning_text", "summary_text"})


@dataclass(slots=True)
class Message:
    """The newest answer of the model: its parts in order, and why it ended."""

    parts: list[str | Raw] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    refused: bool = False

    def say(self, text: Any) -> None:
        """Add visible text, if it is one."""
        if isinstance(text, str) and text:
            self.parts.append(text)

    def think(self, text: Any) -> None:
        """Add reasoning, if it is text or parts with text."""
        if isinstance(text, str):
            if text:
                self.reasoning.append(text)
        elif isinstance(text, Sequence):
            for part in text:
                self.think(part.get("text") if isinstance(part, Mapping) else part)

    def call(self, name: Any, arguments: Any, id: Any, dialect: str, opaque: dict[str, Any] | None = None) -> None:
        """Add a native call."""
        self.parts.append(
            Raw(
                name=name if isinstance(name, str) else "",
                arguments=arguments,
                id=id if isinstance(id, str) else "",
                dialect=dialect,
                opaque=opaque or None,
            )
        )


def message_of(output: Any) -> Message:
    """Take an output apart; raises :class:`tscg.ConfigError` for a shape that is not known, with the keys it has.

    >>> call = {"id": "c1", "function": {"name": "f", "arguments": "{}"}}
    >>> message_of({"role": "assistant", "tool_calls": [call]}).parts[0].name
    'f'
    """
    message = Message()
    _read(output, message, 0)
    return message


def _read(output: Any, message: Message, depth: int) -> None:
    if output is None:
        return
    if isinstance(output, str):
        message.say(output)
        return
    if not isinstance(output, Mapping | list | tuple):
        dump = getattr(output, "model_dump", None) or getattr(output, "to_dict", None)
        if not callable(dump):
            raise ConfigError(
                f"cannot decode {type(output).__name__}", allowed=("text", "bytes", "a message", "a response")
            )
        output = dump()
    if isinstance(output, Mapping):
        for key, reader in SHAPES:
            if key in output and reader(output, message, depth):
                return
        raise ConfigError(f"no message of a known shape: keys {', '.join(map(str, list(output)[:12])) or 'none'}")
    _list(output, message, depth)


def _list(output: Sequence[Any], message: Message, depth: int) -> None:
    if not output:
        return
    last = output[-1]
    if isinstance(last, Mapping) and "role" in last and last.get("type", "message") == "message" and _is_chat(output):
        if last["role"] in ("assistant", "model", "ai"):
            _read(last, message, depth + 1)
        return
    for item in output:
        if isinstance(item, Mapping):
            _block(item, message)
        elif isinstance(item, str):
            message.say(item)
        else:
            raise ConfigError(f"no message of a known shape: a list that holds {type(item).__name__}")


def _is_chat(output: Sequence[Any]) -> bool:
    return all(isinstance(item, Mapping) and "role" in item and "type" not in item for item in output) or (
        len({item.get("role") for item in output if isinstance(item, Mapping)} - {"assistant", None}) > 0
    )


# --- shapes ---------------------------------------------------------------------------------------------------------


def _choices(output: Mapping[str, Any], message: Message, depth: int) -> bool:
    choices = output["choices"]
    if not isinstance(choices, list):
        return False
    if len(choices) != 1:
        raise ConfigError(f"a response with {len(choices)} choices", hint="decode each choice's message by itself")
    choice = choices[0]
    if isinstance(choice.get("message"), Mapping):
        _read(choice["message"], message, depth + 1)
    else:
        message.say(choice.get("text"))
    message.finish_reason = choice.get("finish_reason") or message.finish_reason
    return True


def _candidates(output: Mapping[str, Any], message: Message, depth: int) -> bool:
    candidates = output["candidates"]
    if not isinstance(candidates, list):
        return False
    if len(candidates) != 1:
        raise ConfigError(f"a response with {len(candidates)} candidates", hint="decode each candidate by itself")
    candidate = candidates[0]
    content = candidate.get("content") or {}
    _parts({"parts": content.get("parts") or []}, message, depth)
    message.finish_reason = candidate.get("finishReason") or candidate.get("finish_reason")
    return True


def _parts(output: Mapping[str, Any], message: Message, depth: int) -> bool:
    parts = output["parts"]
    if not isinstance(parts, list):
        return False
    for part in parts:
        if isinstance(part, Mapping):
            _block(part, message)
        else:
            message.say(part)
    message.finish_reason = output.get("finishReason") or message.finish_reason
    return True


def _output(output: Mapping[str, Any], message: Message, depth: int) -> bool:
    items = output["output"]
    if isinstance(items, Mapping) and isinstance(items.get("message"), Mapping):  # Bedrock
        _read(items["message"], message, depth + 1)
        message.finish_reason = output.get("stopReason") or message.finish_reason
        return True
    if not isinstance(items, list):
        return False
    for item in items:
        _block(item, message)
    if output.get("status") in ("incomplete", "failed", "cancelled"):
        details = output.get("incomplete_details")
        reason = details.get("reason") if isinstance(details, Mapping) else None
        message.finish_reason = reason if isinstance(reason, str) else "incomplete"
    return True


def _inner(output: Mapping[str, Any], message: Message, depth: int) -> bool:
    """Ollama and Cohere: the message under its own key."""
    if not isinstance(output["message"], Mapping) or depth > 2:
        return False
    _read(output["message"], message, depth + 1)
    for key in ("done_reason", "finish_reason", "stop_reason"):
        message.finish_reason = output.get(key) or message.finish_reason
    return True


def _chat(output: Mapping[str, Any], message: Message, depth: int) -> bool:
    """A chat message: OpenAI and compatibles, Anthropic, Cohere, Ollama."""
    if output.get("type") in BLOCKS or (output.get("role") not in (None, "assistant", "model", "ai")):
        return output.get("type") not in BLOCKS
    for key in ("reasoning_content", "reasoning", "thinking", "tool_plan"):
        message.think(output.get(key))
    content = output.get("content")
    if isinstance(content, str):
        message.say(content)
    elif isinstance(content, Sequence):
        for part in content:
            if isinstance(part, Mapping):
                _block(part, message)
            else:
                message.say(part)
    if isinstance(output.get("refusal"), str) and output["refusal"]:
        message.refused = True
        message.say(output["refusal"])
    for one in output.get("tool_calls") or ():
        if isinstance(one, Mapping):
            _tool_call(one, message)
    old = output.get("function_call")
    if isinstance(old, Mapping):
        message.call(old.get("name"), old.get("arguments"), "", "function_call")
    for key in ("finish_reason", "stop_reason", "stopReason", "done_reason"):
        if isinstance(output.get(key), str):
            message.finish_reason = output[key]
    return True


def _neutral(output: Mapping[str, Any], message: Message, depth: int) -> bool:
    """What ``encode_call`` writes for a native call."""
    if "arguments" not in output or output.get("type", "function") not in ("function", "function_call", "tool_call"):
        return _block(output, message)
    message.call(
        output.get("name"), output["arguments"], output.get("call_id") or output.get("id"), "native", _opaque(output)
    )
    return True


def _block_shape(output: Mapping[str, Any], message: Message, depth: int) -> bool:
    return _block(output, message)


SHAPES: tuple[tuple[str, Any], ...] = (
    ("choices", _choices),
    ("candidates", _candidates),
    ("output", _output),
    ("parts", _parts),
    ("message", _inner),
    ("tool_calls", _chat),
    ("function_call", _chat),
    ("role", _chat),
    ("content", _chat),
    ("arguments", _neutral),
    ("type", _block_shape),
    ("functionCall", _block_shape),
    ("function_call", _block_shape),
    ("toolUse", _block_shape),
    ("function", _block_shape),
)


# --- blocks ---------------------------------------------------------------------------------------------------------


def _opaque(block: Mapping[str, Any]) -> dict[str, Any]:
    """Fields of a provider that must travel back with the call."""
    names = ("thoughtSignature", "thought_signature", "extra_content", "provider_specific_fields", "caller")
    return {name: block[name] for name in names if block.get(name) is not None}


def _tool_call(block: Mapping[str, Any], message: Message) -> None:
    """An entry of ``tool_calls``: the function under its own key, or flat."""
    function = block.get("function") if isinstance(block.get("function"), Mapping) else block.get("custom")
    function = function if isinstance(function, Mapping) else block
    arguments = next((function[key] for key in ("arguments", "args", "parameters", "input") if key in function), None)
    message.call(function.get("name"), arguments, block.get("id"), "openai", _opaque(block))


def _response_call(block: Mapping[str, Any], message: Message) -> None:
    name, space = block.get("name"), block.get("namespace")
    if isinstance(space, str) and space and isinstance(name, str):
        name = f"{space}.{name}"
    opaque = {**_opaque(block), **({"id": block["id"]} if isinstance(block.get("id"), str) else {})}
    arguments = block.get("arguments") if "arguments" in block else block.get("input")
    message.call(name, arguments, block.get("call_id") or block.get("id"), "responses", opaque)


def _tool_use(block: Mapping[str, Any], message: Message) -> None:
    message.call(block.get("name"), block.get("input"), block.get("id"), "anthropic", _opaque(block))


def _inner_message(block: Mapping[str, Any], message: Message) -> None:
    content = block.get("content")
    if isinstance(content, str):
        message.say(content)
    for part in content if isinstance(content, list) else ():
        _block(part, message)


def _refusal(block: Mapping[str, Any], message: Message) -> None:
    message.refused = True
    message.say(block.get("refusal"))


# Blocks that are calls; what is neither here nor text goes through untouched and is no call of ours.
BLOCKS: dict[str, Any] = {
    "tool_use": _tool_use,
    "function_call": _response_call,
    "custom_tool_call": _response_call,
    "message": _inner_message,
    "function": _tool_call,
    "refusal": _refusal,
    "tool_call": _tool_call,
}


def _block(block: Any, message: Message) -> bool:
    """One block of content, or one output item; False for a mapping that is none."""
    if not isinstance(block, Mapping):
        message.say(block)
        return True
    kind = block.get("type")
    if kind in BLOCKS:
        BLOCKS[kind](block, message)
        return True
    if kind in TEXT_TYPES:
        text = block.get("text")
        message.say(text if isinstance(text, str) else None)
        return True
    if kind in THOUGHT_TYPES:
        for key in ("thinking", "text", "reasoning", "summary", "content"):
            message.think(block.get(key))
        return True
    for key in ("functionCall", "function_call"):
        call = block.get(key)
        if isinstance(call, Mapping):
            message.call(
                call.get("name"), call.get("args", call.get("arguments")), call.get("id"), "gemini", _opaque(block)
            )
            return True
    if isinstance(block.get("toolUse"), Mapping):
        use = block["toolUse"]
        message.call(use.get("name"), use.get("input"), use.get("toolUseId"), "bedrock", _opaque(block))
        return True
    if isinstance(block.get("reasoningContent"), Mapping):
        inner = block["reasoningContent"].get("reasoningText")
        message.think(inner.get("text") if isinstance(inner, Mapping) else inner)
        return True
    if kind is None and "text" in block:
        if block.get("thought") is True:
            message.think(block["text"])
        else:
            message.say(block["text"])
        return True
    if kind is None and "function" in block:
        _tool_call(block, message)
        return True
    return isinstance(kind, str) or bool(
        block.keys() & {"executableCode", "codeExecutionResult", "inlineData", "thought"}
    )
