"""Native calls that arrive in pieces: chat deltas, messages events, responses events, chunks of whole parts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from tscg.decoders.lexer import Extent
from tscg.decoders.native import Message, message_of
from tscg.decoders.objects import Raw
from tscg.errors import ConfigError

__all__ = ["Deltas", "Part", "Thought"]


@dataclass(frozen=True, slots=True)
class Thought:
    """A piece of reasoning."""

    text: str


DELTA_KEYS = frozenset(
    {
        "tool_calls",
        "content",
        "role",
        "function_call",
        "reasoning_content",
        "reasoning",
        "refusal",
    }
)
EMPTY_KEYS = frozenset({"usage", "id", "model", "created", "object", "error"})

Part: TypeAlias = "str | Raw | Thought"


@dataclass(slots=True)
class Open:
    """A call that is being written."""

    key: Any
    name: str = ""
    id: str = ""
    parts: list[str] = field(default_factory=list)
    extent: Extent = field(default_factory=Extent)
    value: Any = None  # arguments that came as a mapping
    dialect: str = "openai"
    opaque: dict[str, Any] = field(default_factory=dict)
    done: bool = False

    def add(self, text: str) -> None:
        """More of the arguments' text."""
        self.parts.append(text)
        if not self.extent.done:
            self.extent.feed(text)

    def set(self, text: str) -> None:
        """The whole text, in place of what came before."""
        self.parts, self.extent = [], Extent()
        self.add(text)

    @property
    def complete(self) -> bool:
        """Whether the last bracket of the arguments was seen."""
        return self.extent.done or self.value is not None

    def raw(self) -> Raw:
        """The call as it was written."""
        text = "".join(self.parts)
        arguments = self.value if self.value is not None and not text.strip() else text
        return Raw(name=self.name, id=self.id, arguments=arguments, dialect=self.dialect, opaque=self.opaque or None)


class Deltas:
    """Puts the pieces together, in the order in which the calls began."""

    def __init__(self) -> None:
        self.open: list[Open] = []
        self.finish_reason: str | None = None
        self.refused = False

    def feed(self, chunk: Any) -> list[Part]:
        """What a chunk adds: text, reasoning, and calls that are whole."""
        if not isinstance(chunk, Mapping):
            dump = getattr(chunk, "model_dump", None) or getattr(chunk, "to_dict", None)
            if not callable(dump):
                raise ConfigError(
                    f"cannot read a chunk of type {type(chunk).__name__}",
                    allowed=("text", "bytes", "a delta", "an event"),
                )
            chunk = dump()
        kind = chunk.get("type")
        if isinstance(kind, str) and kind.startswith("response."):
            out = self._response(kind, chunk)
        elif isinstance(kind, str) and kind in EVENTS:
            out = self._event(kind, chunk)
        elif "choices" in chunk:
            out = self._choices(chunk)
        elif chunk.keys() & DELTA_KEYS and not chunk.keys() & {"candidates", "parts"}:
            out = self._delta(chunk)
        elif not chunk or chunk.keys() <= EMPTY_KEYS:
            out = []
        else:
            out = self._whole(message_of(chunk))
        return [*out, *self._ready()]

    def close(self) -> list[Part]:
        """The calls that were still open."""
        rest, self.open = self.open, []
        return [one.raw() for one in rest]

    def _ready(self) -> list[Part]:
        out: list[Part] = []
        while self.open and (
            self.open[0].done or (self.open[0].complete and len(self.open) > 1 and self.open[0].dialect == "openai")
        ):
            out.append(self.open.pop(0).raw())
        return out

    def _whole(self, message: Message) -> list[Part]:
        """A chunk that holds whole parts, as Gemini and Ollama send them."""
        self.finish_reason = message.finish_reason or self.finish_reason
        self.refused = self.refused or message.refused
        return [*(Thought(text) for text in message.reasoning), *message.parts]

    def find(self, key: Any) -> Open | None:
        """The newest call under a key."""
        return next((one for one in reversed(self.open) if one.key == key), None)

    def start(self, key: Any, **fields: Any) -> Open:
        """Begin a call."""
        self.open.append(Open(key=key, **fields))
        return self.open[-1]

    # --- chat completions -------------------------------------------------------------------------------------------

    def _choices(self, chunk: Mapping[str, Any]) -> list[Part]:
        out: list[Part] = []
        choices = chunk["choices"] or []
        if len(choices) > 1 or any(choice.get("index", 0) not in (0, None) for choice in choices):
            raise ConfigError("a stream with several choices", hint="feed one choice to each stream")
        for choice in choices:
            delta = choice.get("delta") or choice.get("message") or {}
            if isinstance(delta, Mapping):
                out += self._delta(delta)
            if isinstance(choice.get("text"), str):
                out.append(choice["text"])
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
        return out

    def _delta(self, delta: Mapping[str, Any]) -> list[Part]:
        out: list[Part] = []
        thoughts = [delta.get(key) for key in ("reasoning_content", "reasoning")]
        out += [Thought(text) for text in thoughts if isinstance(text, str) and text]
        content = delta.get("content")
        if isinstance(content, str) and content:
            out.append(content)
        elif isinstance(content, list) and content:
            out += self._whole(message_of({"role": "assistant", "content": content}))
        if isinstance(delta.get("refusal"), str) and delta["refusal"]:
            self.refused = True
            out.append(delta["refusal"])
        for entry in delta.get("tool_calls") or ():
            if isinstance(entry, Mapping):
                self._entry(entry)
        old = delta.get("function_call")
        if isinstance(old, Mapping):
            self._entry({"index": "function_call", "function": old})
        if isinstance(delta.get("finish_reason"), str):
            self.finish_reason = delta["finish_reason"]
        return out

    def _entry(self, entry: Mapping[str, Any]) -> None:
        """One entry of ``tool_calls``: a new id is a new call, also under a used index."""
        function = entry.get("function") if isinstance(entry.get("function"), Mapping) else {}
        assert isinstance(function, Mapping)
        index, id, name = entry.get("index"), entry.get("id") or "", function.get("name") or ""
        arguments = function.get("arguments")
        known = next((one for one in self.open if id and one.id == id), None)
        at_index = self.find(index) if index is not None else (self.open[-1] if self.open else None)
        target = known or (at_index if at_index is not None and (not id or not at_index.id) else None)
        begins = isinstance(arguments, str) and arguments.strip()[:1] in ("{", "[")
        if (
            target is not None
            and target.complete
            and (begins or (name and name != target.name) or isinstance(arguments, Mapping))
        ):
            target = None
        elif (
            target is not None
            and known is None
            and name
            and target.name
            and name != target.name
            and (begins or not target.parts)
        ):
            target = None  # no ids, no index: another name begins another call
        if target is None:
            target = self.start(index if index is not None else len(self.open), id=id)
        target.id = target.id or id
        target.name = target.name or name
        for key in ("extra_content", "provider_specific_fields"):
            if entry.get(key) is not None:
                target.opaque[key] = entry[key]
        if isinstance(arguments, Mapping):
            target.value = arguments
        elif isinstance(arguments, str) and arguments and not (target.complete and not arguments.strip()):
            target.add(arguments)

    # --- messages events --------------------------------------------------------------------------------------------

    def _event(self, kind: str, event: Mapping[str, Any]) -> list[Part]:
        index, delta = event.get("index"), event.get("delta") or {}
        if kind == "content_block_start":
            block = event.get("content_block") or {}
            if block.get("type") == "tool_use":
                started = self.start(index, id=block.get("id") or "", name=block.get("name") or "", dialect="anthropic")
                given = block.get("input")
                if isinstance(given, Mapping) and given:  # whole already; the empty one is no data
                    started.value = given
                return []
            return self._whole(message_of({"role": "assistant", "content": [block]})) if block else []
        if kind == "content_block_delta":
            if delta.get("type") == "input_json_delta":
                target = self.find(index)
                if target is not None and isinstance(delta.get("partial_json"), str):
                    target.add(delta["partial_json"])
            elif isinstance(delta.get("text"), str):
                return [delta["text"]]
            elif isinstance(delta.get("thinking"), str):
                return [Thought(delta["thinking"])]
        elif kind == "content_block_stop":
            target = self.find(index)
            if target is not None:
                target.done = True
        elif kind == "message_delta":
            self.finish_reason = delta.get("stop_reason") or self.finish_reason
        return []

    # --- responses events -------------------------------------------------------------------------------------------

    def _response(self, kind: str, event: Mapping[str, Any]) -> list[Part]:
        word = kind.removeprefix("response.")
        item = event.get("item")
        key = (
            event.get("item_id") or (item.get("id") if isinstance(item, Mapping) else None) or event.get("output_index")
        )
        if (
            word == "output_item.added"
            and isinstance(item, Mapping)
            and item.get("type") in ("function_call", "custom_tool_call")
        ):
            self._item(self.start(key, dialect="responses"), item)
        elif (
            word == "output_item.done"
            and isinstance(item, Mapping)
            and item.get("type") in ("function_call", "custom_tool_call")
        ):
            target = self.find(key) or self.start(key, dialect="responses")
            self._item(target, item)
            target.done = True
        elif word in ("function_call_arguments.delta", "custom_tool_call_input.delta"):
            target = self.find(key) or self.find(event.get("output_index")) or self.start(key, dialect="responses")
            target.add(event.get("delta") or "")
        elif word in ("function_call_arguments.done", "custom_tool_call_input.done"):
            target = self.find(key) or self.find(event.get("output_index")) or self.start(key, dialect="responses")
            text = event.get("arguments", event.get("input"))
            if isinstance(text, str):
                target.set(text)
            target.name = target.name or event.get("name") or ""
        elif word == "output_text.delta":
            return [event.get("delta") or ""]
        elif word in ("reasoning_text.delta", "reasoning_summary_text.delta"):
            return [Thought(event.get("delta") or "")]
        elif word == "refusal.delta":
            self.refused = True
            return [event.get("delta") or ""]
        elif word in ("incomplete", "failed"):
            response = event.get("response")
            details = response.get("incomplete_details") if isinstance(response, Mapping) else None
            self.finish_reason = (details.get("reason") if isinstance(details, Mapping) else None) or "incomplete"
        return []

    @staticmethod
    def _item(target: Open, item: Mapping[str, Any]) -> None:
        name, space = item.get("name") or "", item.get("namespace")
        target.name = f"{space}.{name}" if isinstance(space, str) and space else name or target.name
        target.id = item.get("call_id") or target.id
        if isinstance(item.get("id"), str):
            target.opaque["id"] = item["id"]
        text = item.get("arguments", item.get("input"))
        if isinstance(text, str) and text:
            target.set(text)


EVENTS = frozenset(
    {
        "message_start",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
        "ping",
    }
)
