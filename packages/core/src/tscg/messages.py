"""The sentences that a model gets for a call that was not made: all that is wrong at once, short enough to act on."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from dataclasses import replace as changed
from functools import cache
from typing import TYPE_CHECKING

from tscg.calls import CallError, Fault, show_path
from tscg.record import replace

if TYPE_CHECKING:
    from tscg.estimator import Estimator
    from tscg.ir import Tool

__all__ = ["TOKEN_LIMIT", "call_error", "count", "fault_line", "message", "quoted", "short_signature"]

TOKEN_LIMIT = 400  # tokens of a message
FAULT_LIMIT = 20  # faults that are shown
SIGNATURE_LIMIT = 120  # tokens of a signature that is shown whole
NAME_LIMIT = 80  # characters of a name that the model sent
MARGIN = 0.8  # an estimate of tokens may be this much too low

# Kinds whose line is not "expected ..., got ...": {e} is what was expected, {f} what was found.
LINES = {
    "missing_required": "required, missing{f}.",
    "unexpected_argument": "no such argument. Accepted: {e}.",
    "enum": "{f} is not one of {e}.",
    "const": "must be {e}, got {f}.",
    "truncated": "the output ended before the call was complete.",
    "unparsed_call": "this looks like a call and cannot be read{f}.",
    "not_json": "the arguments are no JSON: {f}.",
    "duplicate_key": "the key {f} is given twice.",
    "invalid_unicode": "the text holds {f}.",
    "invalid_utf8": "the bytes are no UTF-8.",
    "too_deep": "nested too deeply: {e}.",
    "too_large": "too large: {e}.",
    "too_many_calls": "too many calls in one message: {e}.",
    "not_an_object": "expected {e}, got {f}.",
    "ambiguous_call": "two readings are possible: {e}.",
    "ambiguous_arguments": "two readings are possible: {e}.",
    "unknown_tool": "there is no tool {f}.",
    "ambiguous_tool": "{f} may be several tools. Use one of these names: {e}.",
    "unavailable_tool": "the tool {f} is gone.",
    "one_of": "give {e}.",
    "forbidden": "not allowed: expected {e}, got {f}.",
}
CLOSING = "Send the corrected call."
NO_RETRY = frozenset({"unavailable_tool", "too_many_calls"})


@cache
def _estimator() -> Estimator:
    from tscg.estimator import Estimator

    return Estimator("o200k_base")


def count(text: str) -> int:
    """Tokens of a text, rather too many than too few."""
    wide = sum(not char.isascii() for char in text)
    return int(_estimator().count(text) / MARGIN) + wide


def quoted(name: object, limit: int = NAME_LIMIT) -> str:
    """A text that the model sent, as JSON of bounded length."""
    text = str(name)
    shown = text if len(text) <= limit else text[: limit - 1] + "…"
    return json.dumps(shown.encode("utf-8", "replace").decode(), ensure_ascii=False)


def fault_line(fault: Fault) -> str:
    """One fault as a line.

    >>> fault_line(Fault(kind="wrong_type", path=("labels", 1, "color"), expected="a string", found="3"))
    '- labels[1].color: expected a string, got 3.'
    """
    place = show_path(fault.path)
    found = fault.found
    if fault.kind == "missing_required":
        names = [quoted(name)[1:-1] for name in fault.expected.split(", ")]
        shown = f"{', '.join(names[:20])} and {len(names) - 20} more" if len(names) > 20 else ", ".join(names)
        place = place if len(names) == 1 and place else f"{place}: {shown}" if place else shown
        found = f" {found}" if found else ""
    if fault.kind == "unparsed_call":
        found = f": {found}" if found else ""
    line = LINES.get(fault.kind, "expected {e}, got {f}.").replace("{e}", fault.expected).replace("{f}", found)
    return f"- {place[:200]}{': ' if place else ''}{line}{f' {fault.hint}' if fault.hint else ''}"


def message(name: str, faults: Sequence[Fault], tool: Tool | None = None, closing: str = CLOSING) -> str:
    """The whole text: a head, a line per fault, the signature once, what to do.

    >>> print(message("ping", [Fault(kind="unexpected_argument", path=("x",), expected="no arguments", found='"x"')]))
    ping: 1 problem, nothing was run.
    - x: no such argument. Accepted: no arguments.
    Send the corrected call.
    """
    shown = (
        name
        if name.replace("_", "").replace("-", "").replace(".", "").isalnum() and len(name) <= NAME_LIMIT
        else quoted(name)
    )
    head = f"{shown}: {len(faults)} problem{'' if len(faults) == 1 else 's'}, nothing was run."
    tail = [*filter(None, [_signature(tool, faults) if tool else ""]), closing]
    room = TOKEN_LIMIT - count("\n".join([head, *tail])) - 12
    if room < 60 and len(tail) > 1:  # a signature that leaves no room for the faults says less than they do
        tail = [closing]
        room = TOKEN_LIMIT - count("\n".join([head, *tail])) - 12
    lines: list[str] = []
    for fault in faults[:FAULT_LIMIT]:
        line = fault_line(fault).replace("\n", " ")
        cost = count(line) + 1
        if cost > room:
            if not lines:
                lines.append(_fitting(line, room))
            break
        lines.append(line)
        room -= cost
    if len(lines) < len(faults):
        lines.append(f"- and {len(faults) - len(lines)} more.")
    from tscg.decoders.marks import neutralise

    return neutralise("\n".join([head, *lines, *tail]))


def _fitting(line: str, room: int) -> str:
    while len(line) > 40 and count(line) > room:
        line = line[: len(line) * 3 // 4] + "…"
    return line


def _signature(tool: Tool, faults: Sequence[Fault]) -> str:
    """The tool in one line of the catalog language; if that is long, what is required and what the faults touch."""
    if all(fault.kind in ("truncated", "too_large", "too_many_calls") for fault in faults):
        return ""
    return _within(tool, {fault.path[0] for fault in faults if fault.path})[0]


def _within(tool: Tool, touched: Collection[str | int]) -> tuple[str, bool]:
    """The signature, whether that is all of it; empty where even its required part is too long."""
    from tscg.ir import Object
    from tscg.language import signature

    whole = signature(tool)
    if count(whole) <= SIGNATURE_LIMIT:
        return whole, True
    root = tool.root
    if not isinstance(root, Object):
        return "", False
    kept = tuple(param for param in root.params if param.required or param.name in touched)
    part = signature(replace(tool, root=replace(root, params=kept)))
    return (part, False) if count(part) <= SIGNATURE_LIMIT * 1.5 else ("", False)


def short_signature(tool: Tool) -> str:
    """The signature of a tool for a list: of a long one the required part or the name, with a mark behind it.

    >>> from tscg.ir import Object, Param, String, Tool
    >>> params = tuple(Param(name=f"parameter_{i}", required=not i, type=String()) for i in range(99))
    >>> short_signature(Tool(name="f", root=Object(params=params)))
    'f(parameter_0) …'
    """
    text, whole = _within(tool, ())
    if whole:
        return text
    from tscg.language.spelling import name

    return f"{text or f'{name(tool.name)}(...)'} …"


def _clean(fault: Fault) -> Fault:
    """The fault without lone surrogates, which no text may hold that is written anywhere."""
    texts = (fault.expected, fault.found, fault.hint)
    if all(text.isascii() for text in texts):
        return fault
    expected, found, hint = (text.encode("utf-8", "replace").decode() for text in texts)
    return changed(fault, expected=expected, found=found, hint=hint)


def call_error(
    name: str, faults: Sequence[Fault], *, id: str = "", tool: Tool | None = None, closing: str = CLOSING
) -> CallError:
    """The error of a call with its faults (one at least) and its message."""
    faults = [_clean(fault) for fault in faults]
    first = faults[0]
    if first.kind in NO_RETRY:
        closing = ""
    return CallError(
        id=id,
        kind=first.kind,
        tool=tool.name if tool else None,
        path=first.path,
        faults=tuple(faults),
        message=message(name, faults, tool, closing).rstrip("\n"),
    )
