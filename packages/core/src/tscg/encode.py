"""The way a call goes back into the conversation: what the model would have written, and the answers to it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tscg.calls import Call, CallError, Item, Lookup
from tscg.errors import ConfigError
from tscg.taught import TAUGHT, Taught, how_to_call, written

if TYPE_CHECKING:
    from tscg.names import Entry
    from tscg.resolve import Surface

__all__ = ["TAUGHT", "Taught", "encode_call", "encode_history", "encode_result", "how_to_call", "stops"]


def taught(surface: Surface) -> Taught:
    """The taught row of a surface; raises :class:`tscg.ConfigError` for a dialect that is only read."""
    row = TAUGHT.get("tool_call" if surface.run_tool else surface.dialect)
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


def _copied(value: Any) -> Any:
    """A value that shares no object with this one: what is written into a message does not reach back into a call."""
    if isinstance(value, dict):
        return {key: _copied(inner) for key, inner in value.items()}
    return [_copied(inner) for inner in value] if isinstance(value, list) else value


def escape_marks(text: str) -> str:
    """A text in which the first character of each marker is written as an escape of JSON."""
    from tscg.decoders.marks import neutralise

    return neutralise(text)


def encode_call(surface: Surface, call: Call | Lookup, to: str | None = None) -> str | dict[str, Any]:
    """A call or a lookup as the model would have written it, in the form of the mode.

    A text, or a neutral ``{"id", "name", "arguments"}`` where the call is native: of a tool, of the dispatcher or of a
    namespace. ``to`` names the block of a provider instead: ``"openai"``, ``"openai_responses"``, ``"anthropic"``,
    ``"gemini"``, ``"bedrock"``. Raises :class:`tscg.ConfigError` for another name.

    >>> from tscg.ir import Catalog
    >>> from tscg.resolve import Surface
    >>> encode_call(Surface(catalog=Catalog()), Call(name="ping", arguments={}))
    '<tool_call>{"name":"ping","arguments":{}}</tool_call>'
    >>> encode_call(Surface(catalog=Catalog(), mode="dispatch", call_tool="call"), Call(name="ping", arguments={}))
    {'id': '', 'name': 'call', 'arguments': {'tool': 'ping', 'args': {}}}
    """
    if to is not None:
        return provider_block(surface, call, to)
    if is_native(surface, call):
        name, arguments = wire(surface, call)
        return {"id": call.id, "name": name, "arguments": arguments}
    return written(surface, [wire(surface, call)])


def is_native(surface: Surface, item: Call | Lookup | str) -> bool:
    """Whether a call is native: decided per tool, since a pinned one is native beside text."""
    if surface.mode in ("native", "passthrough", "dispatch"):
        return True
    if surface.run_tool:
        from tscg.code.writing import is_text

        if not is_text(surface):
            return True
    return (item.name if isinstance(item, Call) else item) in surface.native


def wire(surface: Surface, call: Call | Lookup, to: str = "") -> tuple[str, dict[str, Any]]:
    """Name and arguments as they stand on the wire (to a provider, or to any) or in the text."""
    if isinstance(call, Lookup):
        asked: dict[str, Any] = {"tools": list(call.tools)} if call.tools or not call.query else {}
        return surface.lookup_tool, {**asked, "query": call.query} if call.query else asked
    name, arguments = call.name, _copied(call.arguments)
    if name in surface.native or surface.mode in ("native", "passthrough"):
        entry = surface.index.entries.get(name)
        keys = _keys(entry, to) if entry is not None else {}
        if entry is not None and keys:
            from tscg.aliases import to_wire

            arguments = to_wire(arguments, entry.validator.copy, keys)
        return surface.wire_names.get(name, name), arguments
    if surface.run_tool and (name != surface.run_tool or name in surface.index.entries):
        from tscg.code.writing import as_program

        return surface.run_tool, {"code": as_program(surface, call)}
    index = surface.index
    if surface.mode != "dispatch" or (name in index.words and name not in index.entries):
        return name, arguments
    args: Any = minified(arguments) if getattr(surface.options, "arguments", "") == "json" else arguments
    if name in index.operations:
        group, operation = index.operations[name]
        return group, {"op": operation, "args": args}
    if surface.call_tool:
        return surface.call_tool, {"tool": surface.codes.get(name, name), "args": args}
    return surface.wire_names.get(name, name), arguments


def _keys(entry: Entry, to: str) -> Mapping[str, str]:
    """The aliases of a tool's keys: those that a provider's form has, or all where it is not known."""
    if not to or not entry.keys:
        return entry.keys
    from tscg.modes.keys import keys_for

    return keys_for(entry.tool, to)


def provider_block(surface: Surface, call: Call | Lookup, to: str) -> dict[str, Any]:
    """A call as the block of a provider."""
    name, arguments = wire(surface, call, to)
    opaque = _copied(dict(call.opaque or {})) if isinstance(call, Call) else {}
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
    if is_native(surface, name):
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
