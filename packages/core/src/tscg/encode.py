"""The way a call goes back into the conversation: what the model would have written, and the answers to it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tscg.calls import Call, CallError, Item, Lookup
from tscg.errors import ConfigError
from tscg.taught import TAUGHT, Taught, how_to_call

if TYPE_CHECKING:
    from tscg.resolve import Surface

__all__ = ["TAUGHT", "Taught", "encode_call", "encode_history", "encode_result", "how_to_call", "stops"]


def taught(surface: Surface) -> Taught:
    """The taught row of a surface; raises :class:`tscg.ConfigError` for a dialect that is only read."""
    row = TAUGHT.get(surface.dialect)
    if row is None:
        raise ConfigError(f"the dialect {surface.dialect!r} is read and not taught", allowed=tuple(TAUGHT))
    return row


def stops(surface: Surface) -> tuple[str, ...]:
    """Strings at which generation should end, so that a model cannot invent a result.

    >>> from tscg.ir import Catalog
    >>> from tscg.resolve import Surface
    >>> stops(Surface(catalog=Catalog()))
    ('<tool_response>',)
    """
    return (taught(surface).answer[0],)


# --- calls ----------------------------------------------------------------------------------------------------------


def minified(value: Any) -> str:
    """Minified JSON, UTF-8 as it is: integers in full, floats in shortest form."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def escape_marks(text: str) -> str:
    """A text in which the first character of each marker is written as an escape of JSON."""
    from tscg.decoders.marks import neutralise

    return neutralise(text)


def encode_call(surface: Surface, call: Call, to: str | None = None) -> str | dict[str, Any]:
    """A call as the model would have written it: text, or a neutral ``{"id", "name", "arguments"}`` for a native one.

    ``to`` names the block of a provider instead: ``"openai"``, ``"openai_responses"``, ``"anthropic"``, ``"gemini"``,
    ``"bedrock"``. Raises :class:`tscg.ConfigError` for another name.

    >>> from tscg.ir import Catalog
    >>> from tscg.resolve import Surface
    >>> encode_call(Surface(catalog=Catalog()), Call(name="ping", arguments={}))
    '<tool_call>{"name":"ping","arguments":{}}</tool_call>'
    """
    if to is not None:
        return _block(surface, call, to)
    if is_native(surface, call.name):
        name, arguments = wire(surface, call)
        return {"id": call.id, "name": name, "arguments": arguments}
    row = taught(surface)
    body = escape_marks(minified({row.name: call.name, row.arguments: call.arguments}))
    return f"{row.opener}{body}{row.closer}"


def is_native(surface: Surface, name: str) -> bool:
    """Whether calls of a tool are native: decided per tool, since a pinned one is native beside text."""
    return surface.mode in ("native", "passthrough") or name in surface.native


def wire(surface: Surface, call: Call) -> tuple[str, dict[str, Any]]:
    """Name and arguments as they stand on the wire."""
    arguments = dict(call.arguments)
    entry = surface.index.entries.get(call.name)
    if entry is not None and entry.keys:
        from tscg.aliases import to_wire

        arguments = to_wire(arguments, entry.validator.copy, entry.keys)
    return surface.wire_names.get(call.name, call.name), arguments


def _block(surface: Surface, call: Call, to: str) -> dict[str, Any]:
    name, arguments = wire(surface, call) if is_native(surface, call.name) else (call.name, dict(call.arguments))
    opaque = dict(call.opaque or {})
    if to in ("openai", "mistral"):
        function = {"name": name, "arguments": minified(arguments)}
        return {"id": call.id, "type": "function", "function": function, **opaque}
    if to == "openai_responses":
        return {"type": "function_call", "call_id": call.id, "name": name, "arguments": minified(arguments), **opaque}
    if to == "anthropic":
        return {"type": "tool_use", "id": call.id, "name": name, "input": arguments, **opaque}
    if to == "gemini":
        return {"functionCall": {"id": call.id, "name": name, "args": arguments}, **opaque}
    if to == "bedrock":
        return {"toolUse": {"toolUseId": call.id, "name": name, "input": arguments}, **opaque}
    raise ConfigError(
        f"unknown provider {to!r}", allowed=("openai", "openai_responses", "anthropic", "gemini", "bedrock")
    )


# --- results --------------------------------------------------------------------------------------------------------


def encode_result(surface: Surface, item: Item | str, content: Any = None) -> str:
    """The text that answers a call, a lookup or an error.

    ``content`` is the tool's own answer, text or JSON; left out for a lookup and an error, which bring theirs. In text
    mode the answer stands in the syntax of the dialect, its markers made harmless.

    >>> from tscg.ir import Catalog
    >>> from tscg.resolve import Surface
    >>> encode_result(Surface(catalog=Catalog(), mode="native"), Call(name="f", arguments={}), {"rows": [1, 2]})
    '{"rows":[1,2]}'
    """
    text = answer_text(item, content)
    name = item.name if isinstance(item, Call) else item.tool or "" if isinstance(item, CallError) else ""
    if is_native(surface, name) or surface.mode == "dispatch":
        return text
    row = taught(surface)
    return f"{row.answer[0]}\n{escape_marks(text)}\n{row.answer[1]}"


def answer_text(item: Item | str, content: Any) -> str:
    """The answer without any syntax around it; JSON is encoded once, a text is left as it is."""
    if content is None:
        if isinstance(item, CallError):
            return item.message
        if isinstance(item, Lookup):
            return item.reply
    if isinstance(content, str):
        return content
    if isinstance(content, bytes):
        return content.decode("utf-8", "replace")
    if (
        isinstance(content, Sequence)
        and content
        and all(isinstance(part, Mapping) and "type" in part for part in content)
    ):
        return "\n".join(part["text"] if isinstance(part.get("text"), str) else minified(part) for part in content)
    try:
        return minified(content)
    except (TypeError, ValueError, RecursionError):
        return str(content)


# --- history --------------------------------------------------------------------------------------------------------


def encode_history(surface: Surface, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A conversation of chat messages in the form of the mode: native calls and results as text, or with wire names.

    No call stays without an answer and no answer without a call. The messages given are not changed.
    """
    from tscg.history import encoded

    return encoded(surface, messages)
