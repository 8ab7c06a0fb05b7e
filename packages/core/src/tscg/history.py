"""A conversation in the form of a mode: every call with its answer, every name one that the provider knows."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tscg.calls import Call
from tscg.decoders.native import message_of
from tscg.decoders.objects import Raw
from tscg.encode import answer_text, encode_call, encode_result, is_native, minified, wire
from tscg.resolve import PARALLEL, Written, resolve_all

if TYPE_CHECKING:
    from tscg.resolve import Surface

__all__ = ["encoded"]

NO_RESULT = "No result: the call was not answered."
ABOVE = "Answered above."
ILLEGAL = re.compile(r"[^A-Za-z0-9_-]+")
ASSISTANT = ("assistant", "model", "ai")


def encoded(surface: Surface, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Chat messages in the form of the surface; see :func:`tscg.encode.encode_history`."""
    writer = _Writer(surface)
    for message in messages:
        role = message.get("role")
        if role in ASSISTANT:
            writer.assistant(message)
        elif role in ("tool", "function"):
            writer.result(str(message.get("tool_call_id") or message.get("id") or ""), message.get("content"), message)
        else:
            writer.other(message)
    writer.settle()
    return writer.out


class _Writer:
    def __init__(self, surface: Surface) -> None:
        self.surface = surface
        self.out: list[dict[str, Any]] = []
        self.open: dict[str, Call] = {}  # calls without an answer, by id
        self.wrappers: dict[str, list[str]] = {}  # id of an invented wrapper -> ids of its calls
        self.results: list[str] = []  # answers in text that are not written yet

    # --- messages ---------------------------------------------------------------------------------------------------

    def assistant(self, message: Mapping[str, Any]) -> None:
        self.settle()
        parts = message_of({**message, "role": "assistant"}).parts
        raws = [part for part in parts if isinstance(part, Raw)]
        if not raws:
            self.out.append(copy.deepcopy(dict(message)))
            return
        calls = [call for raw in raws for call in self.calls(raw)]
        native = [call for call in calls if is_native(self.surface, call.name)]
        said = "".join(part for part in parts if isinstance(part, str))
        texts = [encode_call(self.surface, call) for call in calls if call not in native]
        content = "\n".join(part for part in (said, *map(str, texts)) if part)
        written = {
            key: copy.deepcopy(value)
            for key, value in message.items()
            if key not in ("tool_calls", "function_call", "content")
        }
        written["content"] = content or None if native else content
        if native:
            written["tool_calls"] = [self.block(call) for call in native]
        self.out.append(written)
        for call in calls:
            self.open[call.id] = call

    def calls(self, raw: Raw) -> list[Call]:
        """The calls of one raw call; written repaired where that is possible, else as they came."""
        items = resolve_all(self.surface, raw.name, raw.arguments, Written(id=raw.id, opaque=raw.opaque))
        if raw.name.endswith(PARALLEL) and len(items) >= 1 and all(isinstance(item, Call) for item in items):
            self.wrappers[raw.id] = [item.id for item in items]
        found = [item for item in items if isinstance(item, Call)]
        if len(found) == len(items):
            return found
        name = "call" if raw.name.endswith(PARALLEL) else raw.name
        return [Call(id=raw.id, name=name, arguments=_arguments(raw.arguments), opaque=raw.opaque)]

    def block(self, call: Call) -> dict[str, Any]:
        name, arguments = wire(self.surface, call)
        function = {"name": ILLEGAL.sub("_", name)[:64], "arguments": minified(arguments)}
        return {"id": call.id, "type": "function", "function": function, **(call.opaque or {})}

    def result(self, id: str, content: Any, message: Mapping[str, Any] | None = None) -> None:
        """An answer; one under a wrapper's id answers the first of its calls, and the others point to it."""
        if id in self.wrappers:
            first, *others = self.wrappers.pop(id)
            self.result(first, content)
            for other in others:
                self.result(other, ABOVE)
            return
        call = self.open.pop(id, None)
        if call is not None and is_native(self.surface, call.name):
            kept = copy.deepcopy(dict(message)) if message else {}
            self.out.append({**kept, "role": "tool", "tool_call_id": id, "content": answer_text(call, content)})
            return
        if call is None and self.surface.mode in ("native", "passthrough"):
            self.settle()  # an answer without a call: said as text, since no provider takes it as an answer
            self.out.append({"role": "user", "content": answer_text("", content)})
            return
        self.results.append(
            encode_result(self.surface, call or Call(name="", arguments={}), "" if content is None else content)
        )

    def other(self, message: Mapping[str, Any]) -> None:
        """A user's or the system's message, which may hold results as blocks."""
        content = message.get("content")
        blocks = [part for part in content if _is_result(part)] if isinstance(content, list) else []
        for part in blocks:
            self.result(str(part.get("tool_use_id") or ""), part.get("content"))
        if blocks and isinstance(content, list):
            rest = [copy.deepcopy(part) for part in content if not _is_result(part)]
            self.settle()
            if rest:
                self.out.append({**{key: value for key, value in message.items() if key != "content"}, "content": rest})
            return
        self.settle()
        self.out.append(copy.deepcopy(dict(message)))

    def settle(self) -> None:
        """Answer what has no answer, and write the answers in text as one message."""
        for id in list(self.open):
            self.result(id, NO_RESULT)
        self.wrappers.clear()
        if self.results:
            self.out.append({"role": "user", "content": "\n".join(self.results)})
            self.results = []


def _is_result(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "tool_result"


def _arguments(given: Any) -> dict[str, Any]:
    """Arguments of a call that was refused, as an object, for the record."""
    from tscg.decoders.values import Bad, read_arguments
    from tscg.decoding import SAFE

    try:
        value: dict[str, Any] = read_arguments(given, SAFE).value
    except Bad:
        return {"unreadable": given if isinstance(given, str) else repr(type(given).__name__)}
    return value
