"""Readers of the bodies whose arguments are JSON, one function each. A reader takes its call from the tape.

It returns False, with the tape as it was, where its opener turns out to open nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from tscg.decoders.objects import Raw
from tscg.decoders.rows import ROWS, Row
from tscg.decoders.tape import Steps

if TYPE_CHECKING:
    from tscg.decoders.scan import TextScan

__all__ = ["CLOSER", "READERS", "STRICT_LIMIT", "Reader"]

Reader: TypeAlias = "Callable[[TextScan, Row, str], Steps[bool]]"

NAME = re.compile(r"[^\W\d][\w.:/-]*\Z")
NAME_LIMIT = 512  # characters of a header
STRICT_LIMIT = 8_192  # characters of a body that is waited for as a whole
CLOSER = {
    opener: row.closers[min(number, len(row.closers) - 1)]
    for row in ROWS
    if row.reader == "objects" and not row.unclosed
    for number, opener in enumerate(row.openers)
}
RECIPIENT = re.compile(r"\bto=([^\s<]+)")
CHANNEL = re.compile(r"\b(analysis|commentary|final)\b")


def objects(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
    """JSON objects: one, glued, in lines, or in a list; else what other dialects put behind the same opener."""
    tape = scan.tape
    if opener in CLOSER and (yield from _strict(scan, row, CLOSER[opener])):
        return True
    stops = (*row.closers, *row.openers)
    values: list[str] = []
    closed = False
    while True:
        yield from tape.blanks()
        if (yield from tape.mark(row.closers)):
            closed = True
            break
        char = yield from tape.peek()
        if char and char in "{[" and not (yield from _at(scan, row.openers)):
            text, done = yield from tape.value(stops)
            values.append(text)
            if len(values) > scan.options.max_calls:  # the rest would be refused: nobody reads it
                closed = bool((yield from tape.until(row.closers))[1])
                break
            if not done and not (yield from _at(scan, row.closers)):
                break
        elif char and char in ",;" and values:
            tape.take(1)
        elif char and char in "}])" and values:
            values[-1] += tape.take(1)  # a stray bracket: the reader of values judges it
        elif not values and char:
            return (yield from _other(scan, row))
        else:
            break
    scan.values(values, row, closed)
    return True


def _strict(scan: TextScan, row: Row, closer: str) -> Steps[bool]:
    """What nearly all calls are, in one step: strict JSON up to the closer; all else stays on the tape.

    The text up to the first closer is strict JSON only where that closer stands outside its strings.
    """
    tape = scan.tape
    looked = depth = 0
    while True:
        text, at = tape.text, tape.at
        end = text.find(closer, max(at, at + looked - len(closer)), at + STRICT_LIMIT)
        if end >= 0:
            if not scan.strict(text[at:end], row.id):
                return False
            tape.at = end + len(closer)
            return True
        size = len(text) - at
        if tape.final or size > STRICT_LIMIT:
            return False
        more = text[at + looked :] if looked else text[at:].lstrip()
        if more:
            if not looked and more[0] not in "{[":
                return False
            depth += more.count("{") + more.count("[") - more.count("}") - more.count("]")
            ended = text[max(text.rfind("}"), text.rfind("]")) + 1 :].strip() if depth <= 0 else ""
            if not closer.startswith(ended):  # the value may be over, and no closer follows
                return False
            looked = size
        yield


def _at(scan: TextScan, marks: tuple[str, ...]) -> Steps[bool]:
    found = yield from scan.tape.mark(marks)
    scan.tape.back(found)
    return bool(found)


def _other(scan: TextScan, row: Row) -> Steps[bool]:
    """A body that does not begin with a bracket: tags, a bare name, or JSON text in quotes."""
    from tscg.decoders.raw import function, invoke, pairs

    tape = scan.tape
    tags = {"<function=": function, "<invoke name=": invoke}
    mark = yield from tape.mark(tuple(tags))
    if mark:
        from tscg.decoders.rows import by_id

        while mark:
            yield from tags[mark](scan, by_id("xml"), mark)
            yield from tape.blanks()
            mark = yield from tape.mark(tuple(tags))
        yield from tape.mark(row.closers)
        return True
    char = yield from tape.peek()
    if char in ('"', "'"):
        text, mark = yield from tape.until(row.closers)
        scan.values([text], row, bool(mark))
        return True
    head, mark = yield from tape.until(("{", "<arg_key>", *row.closers), NAME_LIMIT)
    name = head.strip()
    if mark == "{" and NAME.match(name):
        tape.back(mark)
        text, _ = yield from tape.value((*row.closers, *row.openers))
        yield from tape.blanks()
        closed = bool((yield from tape.mark(row.closers)))
        scan.add(Raw(name=name, arguments=text, dialect=row.id), closed=closed or row.unclosed)
        return True
    if mark == "<arg_key>" and NAME.match(name):
        return (yield from pairs(scan, row, name))
    if mark in row.closers and NAME.match(name):
        scan.add(Raw(name=name, dialect=row.id, whole=False), closed=True)
        return True
    if mark not in row.closers:
        _, mark = yield from tape.until(row.closers)
    scan.add(Raw(dialect=row.id, fault=scan.no_call(ended=not mark and not head.strip())), closed=True)
    return True


def mistral(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
    """A list of objects, or a name with its arguments, with or without markers between them."""
    tape = scan.tape
    yield from tape.blanks()
    char = yield from tape.peek()
    if char and char in "[{":
        return (yield from objects(scan, row, opener))
    head, mark = yield from tape.until(("[ARGS]", "[CALL_ID]", "{", *row.openers), NAME_LIMIT)
    id = ""
    if mark == "[CALL_ID]":
        id, mark = yield from tape.until(("[ARGS]", "{", *row.openers), NAME_LIMIT)
    if mark in row.openers:
        tape.back(mark)
        mark = ""
    if mark == "{":
        tape.back(mark)
    return (yield from _named(scan, row, head.strip(), id.strip(), bool(mark)))


def _named(scan: TextScan, row: Row, name: str, id: str, has_body: bool) -> Steps[bool]:
    """The value behind a name, and the closer."""
    tape = scan.tape
    if not has_body:
        ended = tape.final and tape.at >= len(tape.text)
        scan.add(Raw(name=name, id=id, dialect=row.id, fault=scan.no_call(ended=ended)), closed=True)
        return True
    yield from tape.blanks()
    fence = yield from tape.mark(("```json", "```"))
    yield from tape.blanks()
    char = yield from tape.peek()
    if char and char in "{[":
        text, _ = yield from tape.value((*row.closers, *row.openers))
    else:
        text, mark = yield from tape.until((*row.closers, *row.openers, "\n"), NAME_LIMIT)
        tape.back(mark)
        if not text.strip():
            text = '{"'  # a body was announced and none came: cut
    yield from tape.blanks()
    if fence:
        yield from tape.mark(("```",))
        yield from tape.blanks()
    closed = bool((yield from tape.mark(row.closers)))
    scan.add(Raw(name=name, arguments=text, id=id, dialect=row.id), closed=closed or row.unclosed)
    return True


def harmony(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
    """A message with a header: reasoning in the channel ``analysis``, a call in ``commentary`` with a recipient."""
    tape = scan.tape
    header, mark = yield from tape.until(("<|message|>",), NAME_LIMIT)
    recipient, channel = RECIPIENT.search(header), CHANNEL.search(RECIPIENT.sub("", header))
    where = channel.group(1) if channel else ""
    if not mark:
        if recipient and where == "commentary":
            scan.add(
                Raw(name=_function(scan, recipient.group(1)), dialect=row.id, fault=scan.no_call(ended=True)),
                closed=True,
            )
        return True
    if where == "analysis":
        text, mark = yield from tape.until((*row.closers, *row.openers))
        if mark in row.openers:
            tape.back(mark)
        scan.think(text, call=recipient is not None)
        return True
    if recipient is None or where != "commentary":
        return True  # text for the user follows; its closer is noise
    return (yield from _named(scan, row, _function(scan, recipient.group(1)), "", True))


def _function(scan: TextScan, name: str) -> str:
    """The name in a dialect that writes ``functions.`` in front of it."""
    return name if name in scan.known else name.removeprefix("functions.")


def deepseek(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
    """``function`` and the name, or the name alone, in front of a separator; the JSON fenced or bare."""
    if "call▁begin" not in opener:
        return True
    tape = scan.tape
    head, mark = yield from tape.until(("<｜tool▁sep｜>", *row.closers), NAME_LIMIT)
    if mark in row.closers or not mark:
        fault = scan.no_call(ended=not mark)
        scan.add(Raw(name=head.strip(), dialect=row.id, fault=fault), closed=True)
        return True
    yield from tape.blanks()
    char = yield from tape.peek()
    name = head.strip()
    if char not in ("{", "`"):
        name, mark = yield from tape.until(("\n", "```", "{", *row.closers), NAME_LIMIT)
        tape.back(mark)
    return (yield from _named(scan, row, name.strip(), "", True))


def kimi(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
    """``functions.name:0``, which is the id too, a marker, the JSON."""
    if "section" in opener:
        return True
    tape = scan.tape
    head, mark = yield from tape.until(("<|tool_call_argument_begin|>", *row.closers), NAME_LIMIT)
    id = head.strip()
    name = _function(scan, re.sub(r":\d+\Z", "", id) if id not in scan.known else id)
    return (yield from _named(scan, row, name, id, mark == "<|tool_call_argument_begin|>"))


def recipient(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
    """A recipient and its content; the recipient ``all`` is the user."""
    tape = scan.tape
    name, mark = yield from tape.until(("<|content|>",), NAME_LIMIT)
    if name.strip() == "all":
        return True
    return (yield from _named(scan, row, name.strip(), "", bool(mark)))


def arrows(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
    """A line of the recipient's name, then the JSON."""
    tape = scan.tape
    name, mark = yield from tape.until(("\n",), NAME_LIMIT)
    if name.strip() == "all":
        return True
    if name.strip() not in scan.known or not mark:
        tape.back(name + mark)
        return False
    return (yield from _named(scan, row, name.strip(), "", True))


def calling(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
    """``name({...})]``."""
    tape = scan.tape
    name, mark = yield from tape.until(("(", "]", "\n"), NAME_LIMIT)
    if mark != "(":
        scan.add(Raw(name=name.strip(), dialect=row.id, fault=scan.no_call(ended=not mark)), closed=True)
        return True
    yield from tape.blanks()
    char = yield from tape.peek()
    text: str | None = None
    if char and char in "{[":
        text, _ = yield from tape.value(row.openers)
        rest, mark = yield from tape.until((")]", "\n", *row.openers))
        tape.back(mark if mark != ")]" else "")
        text += rest.rstrip()
    else:
        text, mark = yield from tape.until((")]", "\n"))
        if not mark and not text.strip():
            text = '{"'
    scan.add(Raw(name=name.strip(), arguments=text, dialect=row.id), closed=mark == ")]")
    return True


def react(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
    """A line with the name, a line with the input; what follows an observation was invented."""
    tape = scan.tape
    name, mark = yield from tape.until(("\n",), NAME_LIMIT)
    gap = (yield from tape.blanks()) if mark else ""
    label = yield from tape.mark(("Action Input:", "ActionInput:"))
    if not label or not name.strip():
        tape.back(name + mark + gap + label)
        return False
    yield from tape.blanks()
    fence = yield from tape.mark(("```json", "```"))
    yield from tape.blanks()
    char = yield from tape.peek()
    if char and char in "{[":
        text, _ = yield from tape.value()
    else:
        text, mark = yield from tape.until(("\n",))
        tape.back(mark)
        if text.startswith(("Observation:", "Action:", "Thought:")):
            tape.back(text)
            text = ""
    if fence:
        yield from tape.blanks()
        yield from tape.mark(("```",))
    scan.add(Raw(name=name.strip(), arguments=text.strip(), dialect=row.id), closed=True, open_end=True)
    return True


def _late(module: str, name: str) -> Reader:
    """A reader of another module, imported when its marker is first seen."""

    def read(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
        from importlib import import_module

        reader: Reader = getattr(import_module(module), name)
        return (yield from reader(scan, row, opener))

    return read


READERS: dict[str, Reader] = {
    "objects": objects,
    "mistral": mistral,
    "harmony": harmony,
    "deepseek": deepseek,
    "kimi": kimi,
    "recipient": recipient,
    "arrows": arrows,
    "calling": calling,
    "react": react,
    "python": _late("tscg.decoders.python", "python"),
    "function": _late("tscg.decoders.raw", "function"),
    "invoke": _late("tscg.decoders.raw", "invoke"),
}
