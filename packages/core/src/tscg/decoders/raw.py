"""Readers of the tag dialects, in which arguments are raw text that the schema gives its types.

A value ends at the last closer before the next known opener or the end of the call; only one leading and one trailing
line break leave it, and entities stay as they are. Where two readings are possible, the call is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, TypeAlias

from tscg.calls import Fault
from tscg.decoders.objects import Raw, ended_early
from tscg.decoders.rows import Row
from tscg.decoders.tape import Steps

if TYPE_CHECKING:
    from tscg.decoders.scan import TextScan

__all__ = ["function", "invoke", "pairs", "parameters", "tag_body"]

NAME_LIMIT = 512
PARAMETER = re.compile(r"<parameter=([^>\n]{1,256})>")
NAMED = re.compile(r"<(?:[\w.-]{1,32}:|｜DSML｜)?parameter\s+name=[\"']([^\"'\n]{1,256})[\"'][^>]{0,128}>")
PAIR = re.compile(r"<arg_key>([^<]{1,256})</arg_key>\s*<arg_value>")
END = re.compile(r"</(?:[\w.-]{1,32}:|｜DSML｜)?parameter>")
PAIR_END = re.compile(r"</arg_value>")
NAME_ATTRIBUTE = re.compile(r"""\s*["']([^"'\n]{1,256})["']""")


def parameters(
    body: str, opener: re.Pattern[str], closer: re.Pattern[str], known: Collection[str]
) -> dict[str, str] | Fault:
    """Names and raw values of a body.

    >>> parameters("<parameter=a>\\nx\\n</parameter>", PARAMETER, END, ["a"])
    {'a': 'x'}
    """
    found = list(opener.finditer(body))
    out: dict[str, str] = {}
    if (body[: found[0].start()] if found else body).strip():
        return Fault(kind="unparsed_call", found="text in front of the parameters")
    for number, match in enumerate(found):
        name = match.group(1).strip()
        end = found[number + 1].start() if number + 1 < len(found) else len(body)
        segment = body[match.end() : end]
        closers = list(closer.finditer(segment))
        if not closers:
            return _ambiguous(name) if number + 1 < len(found) else ended_early()
        if segment[closers[-1].end() :].strip():
            return Fault(kind="unparsed_call", found=f"text behind the parameter {name}"[:80])
        if name in out or (known and name not in known and number and _holds(known, out)):
            return _ambiguous(name)
        out[name] = _trimmed(segment[: closers[-1].start()])
    return out


def _holds(known: Collection[str], out: dict[str, str]) -> bool:
    return any(name in known for name in out)


def _ambiguous(name: str) -> Fault:
    return Fault(kind="ambiguous_call", expected=f"{name} is a parameter, or stands inside another one's text"[:120])


def _trimmed(value: str) -> str:
    """Without one line break at each end."""
    for first in ("\r\n", "\n"):
        if value.startswith(first):
            value = value[len(first) :]
            break
    for last in ("\r\n", "\n"):
        if value.endswith(last):
            return value[: -len(last)]
    return value


def function(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
    """``<function=name>`` with parameters as tags, or with JSON."""
    tape = scan.tape
    name, mark = yield from tape.until((">", "\n"), NAME_LIMIT)
    name = name.strip()
    if mark != ">":
        scan.add(Raw(name=name, dialect=row.id, fault=scan.no_call(ended=not mark)), closed=True)
        return True
    gap = yield from tape.blanks()
    char = yield from tape.peek()
    if char and char in "{[":
        text, _ = yield from tape.value(("</function>", "<function=", "</tool_call>"))
        yield from tape.blanks()
        closed = bool((yield from tape.mark(("</function>",))))
        scan.add(Raw(name=name, arguments=text, dialect="llama"), closed=closed)
        return True
    tape.back(gap)
    read = yield from _body(scan, ("</function>", "</tool_call>"), "<parameter=", "</parameter>")
    _add(scan, row, name, (PARAMETER, END), read)
    return True


def invoke(scan: TextScan, row: Row, opener: str) -> Steps[bool]:
    """``<invoke name="...">`` with parameters that carry their name as an attribute."""
    tape = scan.tape
    head, mark = yield from tape.until((">",), NAME_LIMIT)
    named = NAME_ATTRIBUTE.match(head)
    if not named or not mark:
        scan.add(Raw(dialect=row.id, fault=scan.no_call(ended=not mark)), closed=True)
        return True
    prefix = opener[1 : opener.index("invoke")]
    ends = (f"</{prefix}invoke>",)
    gap = yield from tape.blanks()
    char = yield from tape.peek()
    if char == "{":
        text, _ = yield from tape.value(ends)
        yield from tape.blanks()
        closed = bool((yield from tape.mark(ends)))
        scan.add(Raw(name=named.group(1), arguments=text, dialect=row.id), closed=closed)
        return True
    tape.back(gap)
    read = yield from _body(scan, ends, f"<{prefix}parameter", f"</{prefix}parameter>")
    _add(scan, row, named.group(1), (NAMED, END), read)
    return True


def pairs(scan: TextScan, row: Row, name: str) -> Steps[bool]:
    """A bare name, then pairs of ``<arg_key>`` and ``<arg_value>``; the first opener was taken."""
    body, closed = yield from _body(scan, row.closers, "<arg_value>", "</arg_value>")
    _add(scan, row, name, (PAIR, PAIR_END), (f"<arg_key>{body}", closed))
    return True


def _body(scan: TextScan, ends: tuple[str, ...], opener: str, closer: str) -> Steps[tuple[str, bool]]:
    """The text up to an end that does not stand inside a value, and whether there was one."""
    tape = scan.tape
    parts: list[str] = []
    inside = False
    while True:
        text, mark = yield from tape.until((*ends, opener, closer))
        parts.append(text)
        if mark in ends and not inside:
            return "".join(parts), True
        parts.append(mark)
        if not mark:
            return "".join(parts), False
        inside = mark == opener if mark in (opener, closer) else inside


Style: TypeAlias = "tuple[re.Pattern[str], re.Pattern[str]]"


def _add(scan: TextScan, row: Row, name: str, style: Style, given: tuple[str, bool]) -> None:
    body, closed = given
    read = parameters(body, *style, scan.parameters(name))
    if isinstance(read, Fault):
        fault = ended_early() if not closed and read.kind != "ambiguous_call" else read
        scan.add(Raw(name=name, dialect=row.id, fault=fault), closed=True)
        return
    arguments: dict[str, Any] = dict(read)
    scan.add(Raw(name=name, arguments=arguments, dialect=row.id, raw_texts=True), closed=closed, open_end=True)


def tag_body(name: str, body: str, known: Collection[str]) -> Raw | None:
    """The call inside the tool's name as tag: JSON, parameters, or one tag per parameter; None for anything else."""
    text = body.strip()
    if text.startswith("{"):
        return Raw(name=name, arguments=text, dialect="xml")
    opener, closer = (PARAMETER, END) if "<parameter=" in text else (NAMED, END)
    if not opener.search(text) and known:
        names = "|".join(re.escape(one) for one in known)
        match = re.compile(rf"<({names})>(.*?)</\1>\s*", re.DOTALL)
        at, out = 0, {}
        while found := match.match(text, at):
            if found.group(1) in out:
                return None
            out[found.group(1)] = _trimmed(found.group(2))
            at = found.end()
        return Raw(name=name, arguments=dict(out), dialect="xml", raw_texts=True) if out and at == len(text) else None
    read = parameters(body, opener, closer, known)
    return (
        None
        if isinstance(read, Fault) or not read
        else Raw(name=name, arguments=dict(read), dialect="xml", raw_texts=True)
    )
