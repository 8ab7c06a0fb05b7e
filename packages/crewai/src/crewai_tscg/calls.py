"""Messages and calls: a conversation of CrewAI in the form of a mode, an answer as the core reads it, and the calls
that the executor runs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from crewai.utilities.agent_utils import (
    extract_tool_call_info,
    is_context_length_exceeded,
    is_native_tool_calling_unsupported_error,
    is_tool_call_list,
)
from crewai.utilities.string_utils import sanitize_tool_name

import tscg

__all__ = [
    "MalformedToolCallError", "answered", "calls_in", "encoded", "executable", "put_back", "reroutes", "said",
    "with_prompt",
]  # fmt: skip

RAW_PARTS = "raw_tool_call_parts"  # Gemini's own objects, beside the calls that CrewAI read from them
UNKNOWN = "unknown_tool"  # the name of a call whose tool cannot be told
NO_ARGUMENTS = "no arguments"  # what is written in place of an empty text, which would run the tool


class MalformedToolCallError(ValueError):
    """The model's calls stayed wrong after all repairs, and CrewAI would run them, or there is nothing to hand over.

    ``errors`` are the calls that were refused (:class:`tscg.CallError`).
    """

    def __init__(self, reason: str, errors: Sequence[tscg.CallError] = ()) -> None:
        super().__init__(reason)
        if reroutes(reason):  # a tool's name that the model made up stands in it
            self.args = ("no call of the model was valid",)
        self.errors = tuple(errors)


def reroutes(text: str) -> bool:
    """Whether an error of this text has words by which CrewAI takes another way: tools in the prompt, a summary.

    >>> reroutes("This model does not support tools."), reroutes("wrong")
    (True, False)
    """
    error = Exception(text)
    return bool(is_native_tool_calling_unsupported_error(error) or is_context_length_exceeded(error))


# --- what is sent -----------------------------------------------------------------------------------------------------


def with_prompt(messages: Sequence[Mapping[str, Any]], prompt: str) -> list[dict[str, Any]]:
    """The messages with the prompt at the end of the first system message; without one, before the first text of the
    user. All other fields of that message stay.

    >>> with_prompt([{"role": "system", "content": "Be brief."}], "Tools: none")[0]["content"]
    'Be brief.\\n\\nTools: none'
    >>> with_prompt([{"role": "user", "content": "Hi"}], "Tools: none")[0]["content"]
    'Tools: none\\n\\nHi'
    """
    out = [dict(message) for message in messages]
    if not prompt:
        return out
    for role in ("system", "user"):
        place = next((place for place, one in enumerate(out) if one.get("role") == role), None)
        if place is not None:
            out[place]["content"] = _joined(out[place].get("content"), prompt, first=role == "user")
            return out
    return [{"role": "system", "content": prompt}, *out]


def _joined(content: Any, prompt: str, *, first: bool) -> Any:
    if isinstance(content, list):
        part = {"type": "text", "text": prompt}
        return [part, *content] if first else [*content, part]
    parts = (prompt, content) if first else (content, prompt)
    return "\n\n".join(part for part in parts if part)


def calls_in(messages: Iterable[Mapping[str, Any]]) -> set[str]:
    """Names of the tools that a conversation calls."""
    return {
        str(call.get("function", {}).get("name", ""))
        for message in messages
        for call in message.get("tool_calls") or ()
    }


class _Kept:
    """A value that is handed through a copy as it is: files and objects of providers."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __deepcopy__(self, memo: object) -> _Kept:
        return self


COPIED = frozenset({"role", "content", "tool_calls", "tool_call_id"})


def encoded(
    compiled: tscg.CompiledCatalog, messages: Sequence[Mapping[str, Any]], names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """A conversation of real calls in the form of the catalog's mode. ``names`` are those of the catalog by the
    executor's keys."""
    if compiled.mode == "passthrough":
        return [dict(message) for message in messages]
    written = compiled.encode_history([_renamed(message, names) for message in messages])
    out: list[dict[str, Any]] = []
    called: dict[str, str] = {}
    for message in written:
        whole = {key: value.value if isinstance(value, _Kept) else value for key, value in message.items()}
        for call in whole.get("tool_calls") or ():
            called[call["id"]] = call["function"]["name"]
        if whole.get("role") == "tool" and "name" in whole:
            whole["name"] = called.get(whole["tool_call_id"], whole["name"])
        if compiled.mode != "native":
            whole.pop(RAW_PARTS, None)  # they say the calls as they were before
        whole.setdefault("content", None)
        out.append(whole)
    return out


def _renamed(message: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    out = {key: value if key in COPIED else _Kept(value) for key, value in message.items()}
    calls = message.get("tool_calls")
    if calls:
        out["tool_calls"] = [_under(call, names) for call in calls]
    return out


def _under(call: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """A call under the name that the catalog has for its tool."""
    function = call["function"]
    return {**call, "function": {**function, "name": names.get(function["name"], function["name"])}}


# --- what comes back --------------------------------------------------------------------------------------------------


def said(answer: Any) -> Any:
    """What a provider returned as the core reads it: a text, or a message with the calls as they were written; None for
    anything else, which is no answer to tools."""
    if isinstance(answer, str):
        return answer
    if not isinstance(answer, list) or not is_tool_call_list(answer):
        return None
    calls = []
    for one in answer:
        info = extract_tool_call_info(one)
        if info is not None:
            id, name, arguments = info
            text = arguments if isinstance(arguments, str) else _minified(arguments)
            calls.append({"id": id, "type": "function", "function": {"name": name, "arguments": text}})
    return {"role": "assistant", "content": None, "tool_calls": calls}


def put_back(again: tscg.Again) -> list[dict[str, Any]]:
    """The messages of another round: what the model said, and what answers it."""
    names = {reply.id: reply.name for reply in again.replies}
    return [
        {**message, "name": names.get(message["tool_call_id"], "")} if message["role"] == "tool" else message
        for message in again.messages
    ]


def answered(final: tscg.Final, answer: Any, keys: Mapping[str, str], more: Sequence[Mapping[str, Any]]) -> Any:
    """What the executor gets: a text, or a list of calls under its own keys. The provider's objects stay where a call
    is as the model made it. ``more`` are calls that are handed over as they were written."""
    if not final.calls and not more:
        return final.text
    raw = {} if isinstance(answer, str) else {info[0]: (one, info) for one in answer if (info := _info(one))}
    out: list[Any] = []
    for call in final.calls:
        key = keys.get(call.name, call.name)
        one, info = raw.get(call.id, (None, None))
        same = info is not None and info[1] == key and _object(info[2]) == call.arguments
        out.append(one if same else _call(call.id, key, _minified(call.arguments)))
    return [*out, *more]


def executable(
    error: tscg.CallError, loose: tscg.Decoded, keys: Mapping[str, str], refuses: Callable[[str, dict[str, Any]], bool]
) -> dict[str, Any] | None:
    """A wrong call as the model wrote it, if the executor is certain to refuse it and to tell the model; None if it
    might run it. ``loose`` is the same answer, read with no schema at all."""
    item = next((one for one in loose.items if one.id == error.id), None)
    if isinstance(item, tscg.Call):
        key = keys[item.name]
        return _call(error.id, key, _minified(item.arguments)) if refuses(key, item.arguments) else None
    if error.tool is not None and error.tool in keys:  # its arguments could not be read
        return _call(error.id, keys[error.tool], NO_ARGUMENTS)
    name = sanitize_tool_name(error.faults[0].found) if error.kind == "unknown_tool" and error.faults else ""
    name = name or UNKNOWN
    return None if name in keys.values() else _call(error.id, name, "{}")


def _call(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _info(one: Any) -> Any:
    return extract_tool_call_info(one)


def _object(arguments: Any) -> Any:
    if not isinstance(arguments, str):
        return arguments
    try:
        return json.loads(arguments)
    except ValueError:
        return None


def _minified(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
