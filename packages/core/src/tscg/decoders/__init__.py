"""From model output to calls: one answer whole, or a stream of it, with the same result."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING, Any

from tscg.calls import Call, Decoded, Fault, Item, ItemEvent, Notice, TextEvent
from tscg.decoders.assemble import SURROGATE, Assembler
from tscg.decoders.deltas import Deltas, Thought
from tscg.decoders.lexer import Extent
from tscg.decoders.native import MALFORMED, TRUNCATING, Message, message_of
from tscg.decoders.objects import Raw, ended_early
from tscg.decoders.rows import ROWS
from tscg.decoders.scan import Certain, LoneCloser, Outcome, TextScan
from tscg.errors import ConfigError
from tscg.messages import quoted

if TYPE_CHECKING:
    from tscg.resolve import Surface

__all__ = ["Stream", "decode"]


def decode(surface: Surface, output: Any, finish_reason: str | None = None, seed: str = "") -> Decoded:
    """Read an answer: text, bytes, a message, a list of messages, or a provider's response.

    Raises :class:`tscg.ConfigError` for a shape that is not known; what the model did wrong is in ``errors``.

    >>> from tscg.ir import Catalog, Object, Tool
    >>> from tscg.resolve import Surface
    >>> surface = Surface(catalog=Catalog(tools=(Tool(name="ping", root=Object()),)))
    >>> decode(surface, 'Hi <tool_call>{"name": "ping", "arguments": {}}</tool_call>').calls[0].name
    'ping'
    """
    stream = Stream(surface, seed=seed)
    if isinstance(output, str | bytes | bytearray):
        stream.feed(output if isinstance(output, str) else bytes(output))
        return stream.close(finish_reason)
    message = message_of(output)
    stream.take(message)
    return stream.close(finish_reason or message.finish_reason)


class Stream:
    """Reads an answer that comes in pieces. ``close`` gives what :func:`decode` gives for the whole.

    It belongs to one thread.

    >>> from tscg.ir import Catalog, Object, Tool
    >>> from tscg.resolve import Surface
    >>> stream = Stream(Surface(catalog=Catalog(tools=(Tool(name="ping", root=Object()),))))
    >>> [event.text for event in stream.feed("a <b> <tool")]
    ['a <b> ']
    >>> stream.close().text
    'a <b> <tool'
    """

    def __init__(self, surface: Surface, *, seed: str = "") -> None:
        self.surface, self.options = surface, surface.decoding
        self._scan = TextScan(surface)
        self._assembler = Assembler(surface, seed)
        self._bytes: codecs.IncrementalDecoder | None = None
        self._half = ""  # a high surrogate that waits for its other half
        self._size = 0
        self._too_large = False
        self._deltas: Deltas | None = None
        self._text: list[str] = []
        self._thoughts: list[str] = []
        self._in_text: list[Raw] = []  # calls of the text that something later could change
        self._in_thought: list[Raw] = []  # calls that turned out to be reasoning
        self._native: list[Raw] = []  # native calls that are not made items yet
        self._has_native = False
        self._may_be_native = surface.sends_native
        self._certain = self.options.reasoning != "auto"
        self._items: list[Item] = []
        self._warnings: list[Notice] = []
        self._finish: str | None = None
        self._refused = False
        self._closed = False

    # --- input ------------------------------------------------------------------------------------------------------

    def feed(self, chunk: Any) -> list[TextEvent | ItemEvent]:
        """Take a piece and give what is certain.

        A piece is text, bytes, the delta of a chat completion, or an event of a messages, responses or Gemini stream.
        Raises :class:`tscg.ConfigError` for anything else and after ``close``.
        """
        if self._closed:
            raise ConfigError("the stream is closed", hint="open one stream for each answer")
        if isinstance(chunk, str):
            return self._read(chunk)
        if isinstance(chunk, bytes | bytearray):
            return self._read(self._decoded(bytes(chunk), final=False))
        self._may_be_native = True
        if self._deltas is None:
            self._deltas = Deltas()
        events = [event for part in self._deltas.feed(chunk) for event in self._part(part)]
        self._finish = self._deltas.finish_reason or self._finish
        self._refused = self._refused or self._deltas.refused
        return events

    def take(self, message: Message) -> None:
        """Take a whole message."""
        self._may_be_native = True
        self._thoughts += message.reasoning
        self._refused = self._refused or message.refused
        for part in message.parts:
            self._part(part)

    def _part(self, part: str | Raw | Thought) -> list[TextEvent | ItemEvent]:
        if isinstance(part, str):
            return self._read(part)
        if isinstance(part, Thought):
            self._thoughts.append(part.text)
            return []
        self._has_native = True
        if self._refused and part.fault is None:  # a refusal has no calls
            part.fault = ended_early("the model refused")
        self._native.append(part)
        return self._settled(final=False)

    def _settled(self, final: bool) -> list[TextEvent | ItemEvent]:
        """Native calls whose arguments are whole, in order; at the end all of them."""
        events: list[TextEvent | ItemEvent] = []
        while self._native and (final or len(self._native) > 1 or _is_closed(self._native[0])):
            events += self._made(self._native.pop(0))
        return events

    def _decoded(self, data: bytes, final: bool) -> str:
        """Bytes as text; bad ones become lone surrogates, which no reader takes for text."""
        if self._bytes is None:
            self._bytes = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        return self._bytes.decode(data, final)

    def _read(self, text: str) -> list[TextEvent | ItemEvent]:
        text = self._half + text
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        if not text.isascii() and SURROGATE.search(text):
            text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
        text = self._bounded(text)
        return self._events(self._scan.feed(text)) if text else []

    def _bounded(self, text: str) -> str:
        """What of a text is within the bound, in bytes of UTF-8; nothing more once it was reached."""
        room = 0 if self._too_large else self.options.max_output - self._size
        size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
        if size > room:
            self._too_large = True
            data = text.encode("utf-8", "surrogatepass")
            while room and data[room] & 0xC0 == 0x80:  # inside a character
                room -= 1
            text = data[:room].decode("utf-8", "surrogatepass")
        self._size += size
        return text

    # --- output -----------------------------------------------------------------------------------------------------

    def _events(self, outcomes: list[Outcome]) -> list[TextEvent | ItemEvent]:
        events: list[TextEvent | ItemEvent] = []
        for outcome in outcomes:
            if isinstance(outcome, str):
                events.append(TextEvent(text=self._shown(outcome)))
            elif isinstance(outcome, LoneCloser):
                self._in_thought += self._in_text
                self._in_text = []
            elif isinstance(outcome, Certain):
                self._certain = True
            else:
                self._in_text.append(outcome)
        if self._certain and not self._may_be_native:
            events += self._released()
        return events

    def _shown(self, text: str) -> str:
        if not text.isascii() and SURROGATE.search(text):
            text = SURROGATE.sub("\ufffd", text)
            if not any(notice.kind == "invalid_utf8" for notice in self._warnings):
                self._warnings.append(Notice(kind="invalid_utf8", message="the text holds bytes that are no Unicode"))
        self._text.append(text)
        return text

    def _released(self) -> list[TextEvent | ItemEvent]:
        waiting, self._in_text = self._in_text, []
        return [event for raw in waiting for event in self._made(raw)]

    def _made(self, raw: Raw) -> list[TextEvent | ItemEvent]:
        items = self._assembler.items(raw)
        self._items += items
        return [ItemEvent(item=item) for item in items]

    def close(self, finish_reason: str | None = None) -> Decoded:
        """The answer as a whole. Required: without it there is no result."""
        if self._closed:
            raise ConfigError("the stream is closed", hint="keep what close() gave")
        reason = finish_reason or self._finish
        cut = reason in TRUNCATING or self._refused or self._too_large
        for part in self._deltas.close() if self._deltas else ():
            self._part(part)
        rest = self._half + (self._decoded(b"", final=True) if self._bytes else "")
        self._half = ""
        outcomes = self._scan.feed(self._bounded(rest)) if rest else []
        self._closed = True
        self._events([*outcomes, *self._scan.close(cut, self._has_native)])
        if self._has_native:
            self._end_native(cut)
        else:
            self._released()
        if self._too_large:
            limit = f"at most {self.options.max_output} bytes of output"
            self._items.append(self._assembler.error(Fault(kind="too_large", expected=limit)))
        elif cut and self._items and isinstance(self._items[-1], Call):
            self._warnings.append(
                Notice(kind="complete_at_limit", message=f"the output was cut ({reason}) behind a whole call")
            )
        if reason in MALFORMED and not self._items:
            self._items.append(self._assembler.error(Fault(kind="unparsed_call", found=f"finish reason {reason}")))
        self._think()
        return Decoded(
            items=tuple(self._items),
            text="".join(self._text),
            reasoning=SURROGATE.sub("\ufffd", self._reasoning()),
            warnings=(*self._warnings, *self._scan.warnings, *self._assembler.warnings),
            finish_reason=reason,
        )

    def _end_native(self, cut: bool) -> None:
        last = self._native[-1] if self._native else None
        if cut and last is not None and not _is_closed(last):
            last.fault = ended_early()
        self._settled(final=True)
        for raw in self._in_text:
            name = quoted(raw.name) if raw.name else "a tool"
            self._warnings.append(Notice(kind="call_like_text", message=f"text beside native calls: a call of {name}"))
        self._in_text = []

    def _reasoning(self) -> str:
        return "".join([*self._thoughts, *self._scan.reasoning])

    def _think(self) -> None:
        """Calls in reasoning are not made; that is said, or they are made where the option asks for it."""
        thoughts = self._reasoning()
        found = list(self._in_thought)
        if any(mark in thoughts for mark in STRONG_MARKS):
            scan = TextScan(self.surface, weak="never", reasoning="none")
            found += [one for one in [*scan.feed(thoughts), *scan.close(False)] if isinstance(one, Raw)]
        if found and self.options.calls_in_reasoning and not self._items:
            for raw in found:
                self._made(raw)
        elif found or self._scan.thought_calls:
            self._warnings.append(Notice(kind="call_in_reasoning", message="a call in the reasoning was not made"))


STRONG_MARKS = tuple(opener.strip() for row in ROWS for opener in row.openers)


def _is_closed(raw: Raw) -> bool:
    """Was the end of a native call's arguments seen?"""
    if raw.fault is not None:
        return True
    if not isinstance(raw.arguments, str):
        return False
    text = raw.arguments.strip()
    if text.startswith('"'):
        return len(text) > 1 and text.endswith('"')
    return text[:1] in ("{", "[") and Extent().feed(text) is not None
