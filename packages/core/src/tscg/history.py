"""A conversation in the form of a mode: every call with its answer, every name one that the provider knows."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tscg.calls import Call, Lookup
from tscg.decoders.native import message_of
from tscg.decoders.objects import Raw
from tscg.encode import answer_text, encode_result, escape_marks, is_native, minified, provider_block, wire
from tscg.resolve import PARALLEL, Written, resolve_all
from tscg.taught import written

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
        self.open: dict[str, Call | Lookup] = {}  # calls without an answer, by id
        self.wrappers: dict[str, list[str]] = {}  # id of an invented wrapper -> ids of its calls
        self.results: list[str] = []  # answers in text that are not written yet
        self.in_blocks: set[str] = set()  # ids of calls that came as blocks: their answers go back as blocks
        self.blocks: list[dict[str, Any]] = []  # such answers that are not written yet

    # --- messages ---------------------------------------------------------------------------------------------------

    def assistant(self, message: Mapping[str, Any]) -> None:
        self.settle()
        parts = message_of({**message, "role": "assistant"}).parts
        raws = [part for part in parts if isinstance(part, Raw)]
        if not raws:
            self.out.append(self.as_answer(message, "".join(part for part in parts if isinstance(part, str))))
            return
        made = [(raw, self.calls(raw)) for raw in raws]
        calls = [call for _, some in made for call in some]
        native = [call for call in calls if is_native(self.surface, call)]
        content = message.get("content")
        if len(native) == len(calls) and isinstance(content, list) and any(map(_is_use, content)):
            self.as_blocks(message, content, [some for _, some in made])
        else:
            said = "".join(part for part in parts if isinstance(part, str))
            self.as_calls(message, said, calls, native)
        for call in calls:
            self.open[call.id] = call

    def as_answer(self, message: Mapping[str, Any], said: str) -> dict[str, Any]:
        """A message without calls, as it is; under constrained decoding in the form that was taught for a text."""
        out = copy.deepcopy(dict(message))
        if self.surface.constrained and said and not _is_constrained(said):
            out["content"] = escape_marks(minified({"answer": said}))
        return out

    def as_calls(
        self, message: Mapping[str, Any], said: str, calls: Sequence[Call | Lookup], native: Sequence[Call | Lookup]
    ) -> None:
        """A chat message: native calls in their field, the others as text."""
        texts = [wire(self.surface, call) for call in calls if call not in native]
        content = "\n".join(part for part in (said, written(self.surface, texts) if texts else "") if part)
        kept = {key: value for key, value in message.items() if key not in ("tool_calls", "function_call", "content")}
        out: dict[str, Any] = {**copy.deepcopy(kept), "content": content or None if native else content}
        if native:
            out["tool_calls"] = [self.block(call, "openai") for call in native]
        self.out.append(out)

    def as_blocks(self, message: Mapping[str, Any], content: list[Any], made: list[list[Call | Lookup]]) -> None:
        """A message of blocks stays one: each use of a tool is written anew, every other block stays as it is."""
        blocks: list[Any] = []
        uses = iter(made)
        for part in content:
            calls = next(uses, []) if _is_use(part) else None
            blocks += [copy.deepcopy(part)] if calls is None else [self.block(call, "anthropic") for call in calls]
        self.in_blocks |= {call.id for calls in made for call in calls}
        self.out.append(
            {**copy.deepcopy({key: message[key] for key in message if key != "content"}), "content": blocks}
        )

    def calls(self, raw: Raw) -> list[Call | Lookup]:
        """The calls of one raw call; written repaired where that is possible, else as they came."""
        items = resolve_all(self.surface, raw.name, raw.arguments, Written(id=raw.id, opaque=raw.opaque))
        if raw.name.endswith(PARALLEL) and len(items) >= 1 and all(isinstance(item, Call) for item in items):
            self.wrappers[raw.id] = [item.id for item in items]
        found = [item for item in items if isinstance(item, Call | Lookup)]
        if len(found) == len(items):
            return found
        name = "call" if raw.name.endswith(PARALLEL) else raw.name
        word = self.surface.index.word(name, self.surface.decoding)[0]
        return [Call(id=raw.id, name=word or name, arguments=_arguments(raw.arguments), opaque=raw.opaque)]

    def block(self, call: Call | Lookup, to: str) -> dict[str, Any]:
        block = provider_block(self.surface, call, to)
        named = block["function"] if to == "openai" else block
        named["name"] = ILLEGAL.sub("_", named["name"])[:64]
        return block

    def result(self, id: str, content: Any, message: Mapping[str, Any] | None = None) -> None:
        """An answer; one under a wrapper's id answers the first of its calls, and the others point to it."""
        if id in self.wrappers:
            first, *others = self.wrappers.pop(id)
            self.result(first, content)
            for other in others:
                self.result(other, ABOVE)
            return
        call = self.open.pop(id, None)
        if call is not None and id in self.in_blocks:
            kept = copy.deepcopy(dict(message)) if message and _is_result(message) else {}
            answer = kept.get("content") or answer_text(call, content)
            self.blocks.append({**kept, "type": "tool_result", "tool_use_id": id, "content": answer})
            return
        if call is not None and is_native(self.surface, call):
            kept = copy.deepcopy(dict(message)) if message and not _is_result(message) else {}
            self.out.append({**kept, "role": "tool", "tool_call_id": id, "content": answer_text(call, content)})
            return
        if call is None and self.surface.mode in ("native", "passthrough", "dispatch"):
            self.settle()  # an answer without a call: said as text, since no provider takes it as an answer
            self.out.append({"role": "user", "content": answer_text("", content)})
            return
        answer = "" if content is None and not isinstance(call, Lookup) else content
        self.results.append(encode_result(self.surface, call or Call(name="", arguments={}), answer))

    def other(self, message: Mapping[str, Any]) -> None:
        """A user's or the system's message, which may hold results as blocks."""
        content = message.get("content")
        found = [part for part in content if _is_result(part)] if isinstance(content, list) else []
        for part in found:
            self.result(str(part.get("tool_use_id") or ""), part.get("content"), part)
        if not found or not isinstance(content, list):
            self.settle()
            self.out.append(copy.deepcopy(dict(message)))
            return
        rest = [copy.deepcopy(part) for part in content if not _is_result(part)]
        beside = {key: value for key, value in message.items() if key != "content"}
        self.settle(beside, rest)

    def settle(self, message: Mapping[str, Any] | None = None, rest: Sequence[Any] = ()) -> None:
        """Answer what has no answer, and write the answers in text and in blocks as one message each.

        ``rest`` is what a message of the user holds behind its answers.
        """
        for id, call in list(self.open.items()):
            self.result(id, call.reply if isinstance(call, Lookup) else NO_RESULT)
        self.wrappers.clear()
        if self.results:
            self.out.append({"role": "user", "content": "\n".join(self.results)})
            self.results = []
        blocks, self.blocks = [*self.blocks, *rest], []
        self.in_blocks.clear()
        if blocks:
            self.out.append({**(copy.deepcopy(dict(message)) if message else {"role": "user"}), "content": blocks})


def _is_constrained(said: str) -> bool:
    """Does a text stand in the form of constrained decoding already, as a model wrote it?"""
    try:
        value = json.loads(said)
    except ValueError:
        return False
    return isinstance(value, dict) and list(value) in (["answer"], ["tool_calls"])


def _is_use(part: Any) -> bool:
    return isinstance(part, Mapping) and part.get("type") == "tool_use"


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
