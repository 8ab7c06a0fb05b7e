"""Between our values and Inspect's: tools whose schema goes out untouched, and answers as messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolInfo, ToolParams
from pydantic import PrivateAttr, SerializerFunctionWrapHandler, model_serializer

__all__ = ["call_of", "message_of", "messages_of", "tool_info"]


class _Schema(ToolParams):
    """Parameters that are sent as they were given: Inspect's own model of a schema knows some keywords only, and what
    it drops the baseline would lose."""

    _given: dict[str, Any] = PrivateAttr(default_factory=dict)

    @model_serializer(mode="wrap")
    def _as_given(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return deepcopy(self._given) if self._given else handler(self)


class _Tool(ToolInfo):
    parameters: _Schema


def tool_info(tool: Mapping[str, Any]) -> ToolInfo:
    """A neutral tool ``{"name", "description", "parameters"}`` for Inspect's models, its schema kept whole.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer", "multipleOf": 5}}}
    >>> tool_info({"name": "f", "description": "", "parameters": schema}).parameters.model_dump() == schema
    True
    """
    given = dict(tool.get("parameters") or {"type": "object", "properties": {}})
    known: Any = {
        "properties": {name: {} for name in given.get("properties", {})},
        "required": given.get("required", []),
    }
    parameters = _Schema.model_validate(known)
    parameters._given = given
    return _Tool(name=tool["name"], description=tool.get("description") or "", parameters=parameters)


def messages_of(messages: Sequence[Mapping[str, Any]]) -> list[ChatMessage]:
    """Messages of OpenAI's chat API as Inspect's. (Its own conversion wants the package ``openai`` to be there.)

    >>> [message.role for message in messages_of([{"role": "system", "content": "Hi"}])]
    ['system']
    """
    names = {call["id"]: call["function"]["name"] for said in messages for call in said.get("tool_calls") or ()}
    return [_message(said, names) for said in messages]


def _message(said: Mapping[str, Any], names: Mapping[str, str]) -> ChatMessage:
    role, content = said["role"], said.get("content") or ""
    if role == "system":
        return ChatMessageSystem(content=content)
    if role == "user":
        return ChatMessageUser(content=content)
    if role == "tool":
        return ChatMessageTool(
            content=content, tool_call_id=said["tool_call_id"], function=names.get(said["tool_call_id"])
        )
    calls = [
        ToolCall(id=call["id"], function=call["function"]["name"], arguments=_object(call["function"]["arguments"]))
        for call in said.get("tool_calls") or ()
    ]
    return ChatMessageAssistant(content=content, tool_calls=calls or None)


def _object(text: str) -> dict[str, Any]:
    """Arguments that were no JSON object cannot go back to a provider: they stand in the answer to them."""
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def message_of(output: ModelOutput) -> str | dict[str, Any]:
    """An answer as a text, or as a message of OpenAI's chat API where it holds native calls."""
    message = output.message
    text = str(message.text)
    if not message.tool_calls:
        return text
    calls = [
        {"id": call.id, "type": "function", "function": {"name": call.function, "arguments": _arguments(call)}}
        for call in message.tool_calls
    ]
    return {"role": "assistant", "content": text or None, "tool_calls": calls}


BEFORE, BEHIND = "\n\n", "\n\nError details:"
"""What stands around the arguments in Inspect's account of an error."""


def call_of(call: Mapping[str, Any]) -> ToolCall:
    """A call of OpenAI's chat API as Inspect's; arguments that are no JSON object stand in its ``parse_error``.

    >>> call_of({"id": "c", "function": {"name": "f", "arguments": "{"}}).parse_error is None
    False
    """
    function = call["function"]
    text = function["arguments"]
    try:
        found = json.loads(text)
    except ValueError as error:
        told = f"The arguments are no JSON:{BEFORE}{text}{BEHIND} {error}"
        return ToolCall(id=call["id"], function=function["name"], arguments={}, parse_error=told)
    if isinstance(found, dict):
        return ToolCall(id=call["id"], function=function["name"], arguments=found)
    told = f"The arguments are no object:{BEFORE}{text}{BEHIND} none"
    return ToolCall(id=call["id"], function=function["name"], arguments={}, parse_error=told)


def _arguments(call: ToolCall) -> str:
    """The arguments as the model wrote them, where Inspect could not read them: our decoder has a try of its own."""
    if not call.parse_error:
        return json.dumps(call.arguments, ensure_ascii=False)
    _, _, rest = call.parse_error.partition(BEFORE)
    return rest.rpartition(BEHIND)[0] or "{"
