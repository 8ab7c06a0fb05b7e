"""What a program came to: its value, what it printed, the calls it made, and what stopped it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tscg.calls import Call, CallError, Fault
from tscg.messages import TOKEN_LIMIT, count

if TYPE_CHECKING:
    from tscg.ir import JSON

__all__ = ["Made", "ProgramResult", "stopped"]

FAULTS = 20
LEAST = 24  # characters of a call that are shown whatever there is to say
HINTS = {
    "program_invalid": "Send the corrected program.",
    "program_failed": "Send a program for what is left.",
    "program_limit": "Send a smaller program for what is left.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """A call that a program made: the host's answer, or the words with which the tool failed."""

    call: Call
    result: JSON = None
    error: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramResult:
    """What a program came to. ``value`` is that of its last expression; ``error`` is None when it ran to its end.

    >>> ProgramResult(printed="2 found\\n", value=[1, 2]).text
    '2 found\\n[1,2]'
    """

    value: JSON = None
    printed: str = ""
    calls: tuple[Made, ...] = ()
    error: CallError | None = None

    @property
    def text(self) -> str:
        """The text for the model: the error, else what was printed and the value of the last expression."""
        if self.error is not None:
            return self.error.message
        return self.printed + ("" if self.value is None else _text(self.value)) or "(no output)"

    def __str__(self) -> str:
        return self.text


def _text(value: JSON) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def stopped(
    kind: str,
    reasons: Sequence[str],
    calls: Sequence[Made],
    *,
    id: str,
    function: Callable[[str], str],
    printed: str = "",
) -> ProgramResult:
    """The result of a program that did not run to its end: an error that lists the calls already made."""
    from tscg.decoders.marks import neutralise

    message = neutralise(_message(kind, reasons, calls, function))
    faults = tuple(Fault(kind=kind, found=reason[:80]) for reason in reasons[:FAULTS])
    error = CallError(id=id, kind=kind, faults=faults, message=message)
    return ProgramResult(printed=printed, calls=tuple(calls), error=error)


def _message(kind: str, reasons: Sequence[str], calls: Sequence[Made], function: Callable[[str], str]) -> str:
    if kind == "program_invalid":
        head = [f"The program has {len(reasons)} problem{'s' if len(reasons) != 1 else ''}, nothing was run."]
        head += [f"- {reason}" for reason in reasons[:FAULTS]]
        head += [f"- and {len(reasons) - FAULTS} more."] if len(reasons) > FAULTS else []
    else:
        head = [f"The program {'failed' if kind == 'program_failed' else 'was stopped'}: {reasons[0]}"]
    behind = ["Calls already made, do not repeat them:" if calls else "No call was made."] if len(head) == 1 else []
    tail = [HINTS[kind]]
    size = 1200
    while True:
        shown = [_cut(line, size) for line in head]
        made = [_cut(_line(one, function), max(size // 2, LEAST)) for one in calls]
        text = "\n".join([*shown, *behind, *made, *tail])
        if count(text) <= TOKEN_LIMIT or size <= LEAST:
            return text
        size = size * 3 // 4


def _line(made: Made, function: Callable[[str], str]) -> str:
    given = ", ".join(f"{key}={_json(value)}" for key, value in made.call.arguments.items())
    answer = f"failed: {made.error}" if made.error else _json(made.result)
    return f"- {function(made.call.name)}({given}) -> {answer}"


def _json(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _cut(line: str, size: int) -> str:
    """A line with its middle left out; the front names the call, the end holds its result."""
    line = line.replace("\n", " ")
    if len(line) <= size:
        return line
    front = size * 2 // 3
    return f"{line[:front]}…{line[len(line) - (size - front) :]}"
