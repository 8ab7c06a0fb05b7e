"""The reader of calls written as Python: between markers, in a fence, or bare in brackets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tscg.calls import Fault
from tscg.decoders.bodies import READERS
from tscg.decoders.lexer import Extent
from tscg.decoders.objects import Raw
from tscg.decoders.rows import Row
from tscg.decoders.tape import Steps, Tape, any_of

if TYPE_CHECKING:
    from tscg.decoders.scan import TextScan

__all__ = ["bracketed", "python", "read_python"]


def bracketed(tape: Tape, call: bool = False, stops: tuple[str, ...] = ()) -> Steps[tuple[str, bool]]:
    """A bracketed expression, taken, and whether its last bracket was seen; ``call``: a name stands in front of it."""
    extent = Extent(triple=True)
    parts: list[str] = []
    found = any_of(stops) if stops else None
    while True:
        end = extent.feed(tape.text, tape.at, found, stops, tape.final)
        if end is not None:
            parts.append(tape.take(end - tape.at))
            return "".join(parts), extent.done
        keep = 0 if tape.final else extent.held
        parts.append(tape.take(len(tape.text) - tape.at - keep))
        if tape.final:
            return "".join(parts), False
        yield


def read_python(text: str, scan: TextScan) -> list[Raw]:
    """The calls of an expression, arguments without names put under their names where the prompt showed the order."""
    from tscg.decoders.literals import python_calls

    raws = python_calls(text, scan.options.max_depth)
    for raw in raws:
        raw.dialect = "pythonic"
        if raw.bare is not None:
            _name(raw, scan)
    return raws


def _name(raw: Raw, scan: TextScan) -> None:
    from tscg.resolve import find

    entry = find(scan.surface, raw.name).entry
    order = [param.name for param in entry.tool.params] if entry is not None and scan.surface.mode == "text" else []
    bare = raw.bare or ()
    if len(bare) != len(order) or raw.arguments:
        raw.fault = Fault(kind="unparsed_call", found="arguments without names", hint="Give each argument its name.")
        return
    raw.arguments = dict(zip(order, bare, strict=True))


def python(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
    """Calls between markers."""
    tape = scan.tape
    yield from tape.blanks()
    char = yield from tape.peek()
    if char in ("{", '"'):  # JSON in the place of Python
        return (yield from READERS["objects"](scan, row, opener))
    if (yield from tape.mark(row.closers)) or not char:
        scan.add(Raw(dialect=row.id, fault=scan.no_call(ended=not char)), closed=True)
        return True
    text, done = yield from bracketed(tape, call=char != "[", stops=row.closers)
    yield from tape.blanks()
    closed = bool((yield from tape.mark(row.closers)))
    if not done:
        scan.add(Raw(dialect=row.id, fault=scan.no_call(ended=not closed)), closed=True)
        return True
    for raw in read_python(text, scan):
        raw.dialect = row.id
        scan.add(raw, closed=closed)
    return True
