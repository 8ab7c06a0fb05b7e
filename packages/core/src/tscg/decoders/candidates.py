"""Calls without a marker that says "call": a JSON message, a fence, a list of Python calls, a tool's name as tag.

Each function takes one candidate whole, or gives its text back, in which then no other candidate may begin: the same
text is read twice at most.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tscg.calls import Fault
from tscg.decoders.objects import Raw, ended_early, looks_like_call
from tscg.decoders.openings import BARE, BARE_CUT, BRACKETED
from tscg.decoders.python import bracketed, read_python
from tscg.decoders.scan import Weak
from tscg.decoders.tape import Steps

if TYPE_CHECKING:
    from tscg.decoders.scan import TextScan

__all__ = ["at_bare", "at_fence", "at_tag", "message_start"]

CODE_CALL = re.compile(r"(?:\[\s*)?[^\W\d][\w.]{0,255}\s*\(")
CALLS = re.compile(r'\{\s*"tool_calls"\s*:')
CODE = frozenset({"tool_code", "python"})
PROGRAM = frozenset({"python", "py", "python3", "tool_code"})
FENCES = CODE | {"", "json", "jsonc", "json5", "tool_call", "tool_calls", "tool_use", "function_call"}
FENCE_LIMIT = 64  # characters of the line that opens a fence


def message_start(scan: TextScan) -> Steps[bool]:
    """A message that begins with a bracket may be nothing but a call; False where no bracket stands here."""
    tape = scan.tape
    scan.text((yield from tape.blanks()))
    char = yield from tape.peek()
    if not char or char not in "{[":
        return False
    if char == "[":
        marker = yield from tape.mark(BRACKETED)
        tape.back(marker)
        if marker or (yield from _bare_follows(scan)):
            return False
    text, done = yield from tape.value()
    if scan.surface.constrained and (yield from _constrained(scan, text, done)):
        return True
    if scan.weak == "never":
        _rewind(scan, text, done)
        scan.no_weak = True
        return True
    raws = scan.read(text, "json") if done else []
    if scan.whole(raws):
        scan.candidate(Weak(text, raws, raws[0].name))
        return True
    tool = looks_like_call(text, scan.known)
    if tool and (yield from _over(scan)):
        fault = _unreadable(scan, raws, done)
        if fault is not None:
            scan.pending.append(Weak(text, [Raw(name=tool, dialect="json", fault=fault)], tool, alone=True))
            return True
    scan.warn_like(tool)
    _rewind(scan, text, done)
    return True


def _constrained(scan: TextScan, text: str, done: bool) -> Steps[bool]:
    """A message in the form of constrained decoding: it was taught, so its calls are as good as behind a marker."""
    if CALLS.match(text):
        for raw in scan.read(text, "json"):
            scan.add(raw, closed=True)
        scan.strong = True
        return True
    said = _answer(scan, text) if done and (yield from _over(scan)) else None
    if said is None:
        return False
    scan.text(said)
    return True


def _answer(scan: TextScan, text: str) -> str | None:
    """The text of a message that is nothing but ``{"answer": TEXT}``."""
    from tscg.decoders.values import Bad, read_value

    try:
        value = read_value(text, scan.options).value
    except Bad:
        return None
    said = value.get("answer") if isinstance(value, dict) and len(value) == 1 else None
    return said if isinstance(said, str) else None


def _unreadable(scan: TextScan, raws: list[Raw], done: bool) -> Fault | None:
    """The fault of a message that names a tool and cannot be read; None if it can, and is no whole call."""
    if not done:
        return ended_early()
    faults = [raw.fault for raw in raws if raw.fault is not None and raw.fault.kind != "unparsed_call"]
    if not faults:
        return None
    return faults[0] if faults[0].kind in ("truncated", "too_deep") else scan.no_call(ended=None)


def _over(scan: TextScan) -> Steps[bool]:
    """Does nothing but blanks follow?"""
    blanks = yield from scan.tape.blanks()
    more = yield from scan.tape.peek()
    scan.tape.back(blanks)
    return not more


def _rewind(scan: TextScan, text: str, done: bool) -> None:
    """No candidate: read the same text once more, with no candidates in it."""
    scan.tape.back(text)
    scan.weak_off = len(text)
    if not done:
        scan.no_weak = True  # it ran to the end: once is enough
    scan.pass_text(1)


def _bare_follows(scan: TextScan) -> Steps[bool]:
    """Is this bracket the front of ``[name(``?"""
    tape = scan.tape
    while True:
        window = tape.text[tape.at : tape.at + 300]
        if BARE.match(window):
            return True
        if tape.final or not BARE_CUT.match(window):
            return False
        yield


def at_bare(scan: TextScan) -> Steps[None]:
    """``[name(...)]`` at the start of a line."""
    text, done = yield from bracketed(scan.tape)
    raws = read_python(text, scan) if done else []
    named = [raw.name for raw in raws if raw.name in scan.known]
    if scan.whole(raws):
        scan.candidate(Weak(text, raws, named[0]))
        return
    if named and len(named) == len(raws) and not scan.said and (yield from _over(scan)):
        # Nothing but calls of known tools, with values that are no literals: an error, never silence.
        scan.pending.append(Weak(text, raws, named[0], alone=True))
        return
    scan.warn_like(named[0] if named else "")
    _rewind(scan, text, done)


def at_fence(scan: TextScan) -> Steps[None]:
    """A fence that holds nothing but calls; its opener was taken."""
    tape = scan.tape
    head, newline = yield from tape.until(("\n",), FENCE_LIMIT)
    if scan.programs and newline and head.strip() in PROGRAM:
        tape.back(newline)
        yield from _program(scan)
        return
    known = FENCES - CODE if scan.surface.run_tool else FENCES
    if not newline or head.strip() not in known:
        tape.back(head + newline)
        scan.text("```")
        return
    blanks = yield from tape.blanks()
    text, raws, whole = yield from _fenced(scan, head.strip() in CODE)
    taken = f"{head}{newline}{blanks}{text}"
    if whole and scan.whole(raws):
        scan.candidate(Weak(f"```{taken}", raws, raws[0].name))
        return
    tape.back(taken)
    scan.weak_off = len(taken)
    if tape.final and not whole and len(text) > FENCE_LIMIT:
        scan.no_weak = True
    scan.warn_like(looks_like_call(text, scan.known))
    scan.text("```")


def _program(scan: TextScan) -> Steps[None]:
    """A program, up to a line that is nothing but the closer of its fence; the tape stands at its first line break."""
    tape = scan.tape
    parts: list[str] = []
    while True:
        body, closer = yield from tape.until(("\n```",))
        parts.append(body)
        if not closer:
            break
        line, newline = yield from tape.until(("\n",), FENCE_LIMIT)
        tape.back(newline if not line.strip() else line + newline)
        if not line.strip():
            break
        parts.append(closer)
    raw = Raw(name=scan.surface.run_tool, arguments={"code": "".join(parts).removeprefix("\n")}, dialect="program")
    if not closer:
        raw.fault = Fault(kind="truncated", hint="End the block with a line of three backquotes.")
    scan.flush()
    scan.add(raw, closed=True)
    scan.strong = True


def _fenced(scan: TextScan, code: bool) -> Steps[tuple[str, list[Raw], bool]]:
    """What a fence holds up to its closer: the text, the calls, and whether it was nothing else."""
    tape = scan.tape
    char = yield from tape.peek()
    parts: list[str] = []
    raws: list[Raw] = []
    done = bool(char)
    if code:
        window = yield from tape.peek(300)
        if not CODE_CALL.match(window):
            return "", [], False
        text, done = yield from bracketed(tape)
        parts.append(text)
        raws = read_python(text, scan) if done else []
    else:
        while done and char and char in "{[" and len(parts) <= 2 * scan.options.max_calls:
            text, done = yield from tape.value()
            parts.append(text)
            raws += scan.read(text, "json") if done else []
            parts.append((yield from tape.blanks()))
            char = yield from tape.peek()
        if not parts:
            return "", [], False
    parts.append((yield from tape.blanks()))
    closer = yield from tape.mark(("```",))
    parts.append(closer)
    return "".join(parts), raws, bool(closer) and done


def at_tag(scan: TextScan, name: str) -> Steps[None]:
    """A tag with the name of a tool."""
    from tscg.decoders.raw import tag_body

    tape = scan.tape
    opener = tape.take(len(name) + 2)
    body, closer = yield from tape.until((f"</{name}>",))
    raw = tag_body(name, body, scan.parameters(name)) if closer else None
    if raw is not None:
        scan.candidate(Weak(opener + body + closer, [raw], name))
        return
    tape.back(body + closer)
    scan.weak_off = len(body + closer)
    scan.no_weak = scan.no_weak or not closer
    scan.text(opener)
