"""The reader of text: one pass from left to right, whole or in pieces, always with the same result.

What it finds goes to ``out``: visible text, and calls as they were written. Text that may be the front of a marker is
held back, no longer than the marker; candidates without a marker are held until something rules them out.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from tscg.calls import Fault, Notice
from tscg.decoders.bodies import CLOSER, READERS, STRICT_LIMIT
from tscg.decoders.objects import Raw, calls_of, cut_list, ended_early, looks_like_call
from tscg.decoders.openings import (
    ANYWHERE,
    AT_LINE_START,
    BARE_CUT,
    CUT_TAG,
    LINE_ONLY,
    LINES,
    OPENERS,
    SAYS,
    THINK_CLOSERS,
    cut_openings,
    is_mark,
    openings,
)  # fmt: skip
from tscg.decoders.rows import REASONING, Row
from tscg.decoders.tape import Steps, Tape, held

if TYPE_CHECKING:
    from tscg.resolve import Surface

__all__ = ["Certain", "LoneCloser", "Outcome", "TextScan", "Weak"]


@dataclass(frozen=True, slots=True)
class LoneCloser:
    """The closer of a span that was opened in the prompt: what came before it was reasoning."""


@dataclass(frozen=True, slots=True)
class Certain:
    """From here on nothing can turn earlier calls into reasoning."""


Outcome: TypeAlias = "str | Raw | LoneCloser | Certain"

RAW_CLOSERS = ("parameter>", "function>", "invoke>", "arg_value>")
TAIL = 300  # characters at the end of a window in which a tag or a bare call may be cut
PREFIX_LIMIT = 33  # characters of a prefix of a tag


@dataclass(slots=True)
class Weak:
    """A candidate without a marker: its text, and the calls in it."""

    text: str
    raws: list[Raw] = field(default_factory=list)
    tool: str = ""
    alone: bool = False  # counts only if the message holds nothing else


class TextScan:
    """Reads the text of one answer."""

    def __init__(self, surface: Surface, *, weak: str | None = None, reasoning: str | None = None) -> None:
        self.surface, self.options = surface, surface.decoding
        self.weak = self.options.weak if weak is None else weak
        self.channel = self.options.reasoning if reasoning is None else reasoning
        self.known: Collection[str] = surface.index.known
        self.tape = Tape()
        self.out: list[Outcome] = []
        self.pending: list[Weak | str] = []
        self.tail: Raw | None = None  # a call whose end another marker may still put in doubt
        self.reasoning: list[str] = []
        self.thought_calls = False  # a call was seen to be addressed inside reasoning
        self.warnings: list[Notice] = []
        self.strong = False  # a call with a marker was seen
        self.found = 0  # calls behind markers
        self.said = False  # visible text other than blanks was seen
        self.line_blank = True  # nothing but blanks since the last line break of the visible text
        self.open_question = self.channel == "auto"
        self.weak_off = 0  # characters in which no candidate may begin
        self.no_weak = self.weak == "never" and not surface.constrained
        self.quick = not self.options.number_to_text and self.options.max_digits >= 15
        self.programs = bool(surface.run_tool) and getattr(surface.options, "transport", "native") == "text"
        self.dropping = False  # behind an invented observation
        self.truncated = False
        self.idle = False  # the tape is empty, and the next piece is looked at for what it says by itself
        self.steps = self.run()
        next(self.steps, None)

    def feed(self, piece: str) -> list[Outcome]:
        """What a piece of text makes certain."""
        if self.idle and self.said and SAYS.search(piece) is None:  # as most pieces of prose are
            self.weak_off = max(0, self.weak_off - len(piece))
            self.text(piece)
            return self.taken()
        self.tape.feed(piece)
        next(self.steps, None)
        return self.taken()

    def close(self, truncated: bool, native: bool = False) -> list[Outcome]:
        """The rest, when the text is over: ``truncated`` if it was cut, ``native`` if native calls stand beside it."""
        self.truncated = truncated
        self.tape.final = True
        for _ in self.steps:
            pass
        self.settle(native)
        self.release()
        return self.taken()

    def taken(self) -> list[Outcome]:
        """What was found since the last time."""
        out, self.out = self.out, []
        return out

    # --- what readers give ------------------------------------------------------------------------------------------

    def text(self, text: str) -> None:
        """Visible text."""
        if not text:
            return
        blank = text.isspace()
        if self.pending and not blank:
            self.flush()
        last = text.rfind("\n")
        self.line_blank = (last >= 0 or self.line_blank) and (blank or not text[last + 1 :].strip())
        if self.dropping:
            return
        if self.pending:
            self.pending.append(text)
            return
        self.out.append(text)
        self.said = self.said or not blank

    def add(self, raw: Raw, closed: bool, open_end: bool = False) -> None:
        """A call behind a marker. ``closed``: its end was seen; ``open_end``: what follows may put it in doubt."""
        if self.dropping:
            return
        self.found += 1
        self.release()
        if not closed and raw.fault is None:
            if not self.options.marker_missing:
                raw.fault = ended_early("the closing marker is missing")
            else:
                raw.repairs = (*raw.repairs, "marker_missing: : the closing marker is missing")
        if open_end:
            self.tail = raw
        else:
            self.out.append(raw)

    def release(self) -> None:
        """Nothing puts the last call in doubt any more."""
        if self.tail is not None:
            self.out.append(self.tail)
            self.tail = None

    def values(self, texts: list[str], row: Row, closed: bool) -> None:
        """The JSON texts of one body."""
        if not texts:
            self.add(Raw(dialect=row.id, fault=self.no_call(ended=not closed)), closed=True)
        shown = texts[: self.options.max_calls + 1]  # the rest would be refused one like the other
        for number, text in enumerate(shown):
            raws = self.read(text, row.id)
            ended = closed or row.unclosed or number < len(shown) - 1
            for raw in raws:
                self.add(raw, closed=ended or raw is not raws[-1])

    def read(self, text: str, dialect: str) -> list[Raw]:
        """The calls in a JSON text; a broken one is a call with a fault, behind those of a cut list that are whole."""
        from tscg.decoders.values import Bad, deeper, read_value

        limit = self.options.max_depth
        try:
            reading = read_value(text, self.options, room=2 * self.options.max_wrappers + 2)
        except Bad as bad:
            whole, rest = cut_list(text) if bad.fault.kind == "truncated" else ([], text)
            raws = [raw for one in whole for raw in self.read(one, dialect)]
            if raws and rest.strip() in ("", "]") and self.options.marker_missing and raws[-1].fault is None:
                raws[-1].repairs = (*raws[-1].repairs, "marker_missing: : the list is not closed")
                return raws
            return [*raws, Raw(name=looks_like_call(rest, self.known), dialect=dialect, fault=bad.fault, whole=False)]
        raws = calls_of(reading.value, self.options.max_wrappers)
        deep = text.count("{") + text.count("[") > limit
        for raw in raws:
            raw.dialect, raw.strict, raw.source = dialect, True, text
            raw.repairs = tuple(reading.repairs)
            raw.warnings = tuple(reading.warnings)
            raw.sources = reading.sources
            if deep and raw.fault is None and deeper(raw.arguments, limit):
                raw.fault = Fault(kind="too_deep", expected=f"at most {limit} levels", found="more")
        return raws

    def strict(self, text: str, dialect: str) -> bool:
        """Add the calls in a JSON text that is strictly spelled; False, with nothing added, for any other text."""
        if not self.quick:
            return False
        from tscg.decoders.values import strict_value

        text = text.strip()
        try:
            value = strict_value(text, self.options)
        except ValueError:
            return False
        if self.pending:
            self.flush()
        for raw in calls_of(value, self.options.max_wrappers):
            raw.dialect, raw.strict, raw.source = dialect, True, text
            self.add(raw, closed=True)
        return True

    def no_call(self, ended: bool | None) -> Fault:
        """The fault of a marker without a readable call; ``ended``: the text did before it was closed.

        None where nothing closes it: then it did, if the text was cut and stops there.
        """
        if ended is None:
            ended = self.tape.final and self.truncated and self.tape.at >= len(self.tape.text)
        if ended:
            return ended_early()
        from tscg.encode import how_to_call

        return Fault(kind="unparsed_call", hint=how_to_call(self.surface.dialect, short=True))

    def think(self, text: str, call: bool = False) -> None:
        """Reasoning; ``call``: it was addressed to a tool."""
        self.reasoning.append(text)
        self.thought_calls = self.thought_calls or call

    def parameters(self, name: str) -> Collection[str]:
        """Declared parameters of a tool, empty for an unknown one."""
        from tscg.resolve import find

        entry = find(self.surface, name).entry
        return entry.names if entry is not None else ()

    # --- candidates without a marker --------------------------------------------------------------------------------

    def flush(self) -> None:
        """Candidates that are no calls: text, with a warning where a tool is named."""
        pending, self.pending = self.pending, []
        for one in pending:
            if isinstance(one, Weak):
                self.warn_like(one.tool)
                self.text(one.text)
            else:
                self.text(one)

    def warn_like(self, tool: str) -> None:
        """Say that a text looks like a call of a tool, if it names one."""
        if tool:
            self.warnings.append(Notice(kind="call_like_text", message=f"text that looks like a call of {tool}"))

    def settle(self, native: bool) -> None:
        """At the end of the text, candidates become calls, unless a stronger call was seen."""
        weak = [one for one in self.pending if isinstance(one, Weak)]
        if self.strong or native or any(one.alone and (self.said or len(weak) > 1) for one in weak):
            self.flush()
            return
        pending, self.pending = self.pending, []
        for one in pending:
            if isinstance(one, Weak):
                self.out.extend(one.raws)
            else:
                self.text(one)

    def candidate(self, weak: Weak) -> None:
        """Keep a candidate until something rules it out, or the text ends."""
        if self.weak == "anywhere" and not weak.alone:
            self.out.extend(weak.raws)
        else:
            self.pending.append(weak)

    def whole(self, raws: list[Raw]) -> bool:
        """Are all of them calls of known tools, with a name, a bag and no fault?"""
        return bool(raws) and all(raw.fault is None and raw.whole and raw.name in self.known for raw in raws)

    # --- the pass ---------------------------------------------------------------------------------------------------

    def run(self) -> Steps[None]:
        """The whole reading."""
        if self.channel == "prefilled":
            yield from self.reason(THINK_CLOSERS)
        tape = self.tape
        while True:
            if self.may_start():
                from tscg.decoders.candidates import message_start

                if (yield from message_start(self)):
                    continue
            match = self.seek()
            if match is None:
                if tape.final:
                    self.pass_text(len(tape.text) - tape.at)
                    return
                keep = self.holding()
                self.pass_text(len(tape.text) - tape.at - keep)
                self.idle = not keep
                yield
                self.idle = False
                continue
            self.pass_text(match.start() - tape.at)
            yield from self.at_mark(match)

    def may_start(self) -> bool:
        """May the message begin with a call here?"""
        if self.said or self.strong or self.no_weak or self.weak_off:
            return False
        char = self.tape.text[self.tape.at : self.tape.at + 1]
        return char in "{[" or char.isspace()

    def seek(self) -> re.Match[str] | None:
        """The next place that says something where it stands; each place is looked at once."""
        text, start = self.tape.text, self.tape.at
        at, blank = start, self.line_blank
        search = openings()
        match = search.search(text, at)
        while match is not None:
            before = text[at : match.start()]
            last = before.rfind("\n")
            blank = (last >= 0 or blank) and not before[last + 1 :].strip()
            if self.says(match, blank, match.start() - start):
                return match
            at = match.start()
            match = search.search(text, match.end() if is_mark(match) else at + 1)
        return None

    def says(self, match: re.Match[str], line_start: bool, offset: int) -> bool:
        """Does a marker count where it stands?"""
        weak = not self.no_weak and offset >= self.weak_off
        kind, mark = match.lastgroup, match.group()
        if kind == "tag":
            return weak and match["tool"] in self.known
        if kind == "bare" or mark == "```":
            return (weak or (self.programs and kind != "bare")) and line_start
        return line_start or mark not in AT_LINE_START

    def pass_text(self, size: int) -> None:
        """The next characters are visible text."""
        if size > 0:
            self.weak_off = max(0, self.weak_off - size)
            self.text(self.tape.take(size))

    def holding(self) -> int:
        """Characters at the end of the window that may be the front of a marker."""
        tape = self.tape
        tail = tape.text[max(tape.at, len(tape.text) - TAIL) :]
        if not cut_openings().search(tail):
            return 0
        keep = held(tape.text, ANYWHERE, tape.at)
        cut = CUT_TAG.search(tail)
        if cut and self.may_be_tag(cut.group()):
            keep = max(keep, len(tail) - cut.start())
        bare = BARE_CUT.search(tail)
        for size in (held(tape.text, LINE_ONLY, tape.at), len(tail) - bare.start() if bare else 0):
            if size > keep and self.at_line_start(len(tape.text) - size):
                keep = size
        return keep

    def at_line_start(self, at: int) -> bool:
        """Do nothing but blanks stand in front of a place, on its line of the visible text?"""
        before = self.tape.text[self.tape.at : at]
        last = before.rfind("\n")
        return (last >= 0 or self.line_blank) and not before[last + 1 :].strip()

    def may_be_tag(self, cut: str) -> bool:
        """May a cut tag become the name of a tool, or a tag with a prefix?"""
        name = cut.lstrip("</")
        if len(name) <= PREFIX_LIMIT or ":" in name:
            return True
        return "/" not in cut and any(tool.startswith(name) for tool in self.known)

    def at_mark(self, match: re.Match[str]) -> Steps[None]:
        """What stands at a place that says something."""
        kind, mark = match.lastgroup, match.group()
        if kind in ("tag", "bare") or mark == "```":
            yield from self.at_candidate(match)
            return
        self.tape.at = match.end()
        self.weak_off = max(0, self.weak_off - len(mark))
        if mark in OPENERS:
            if not self.read_at_once(OPENERS[mark], mark):
                yield from self.strong_call(OPENERS[mark], mark)
        elif kind == "prefixed":
            if mark.endswith("="):
                yield from self.strong_call(OPENERS["<invoke name="], mark)
            else:
                self.stray(mark)
        elif mark == "Observation:":
            self.observation(mark)
        elif mark in LINES:
            yield from self.strong_call(OPENERS[f"\n{mark}"], mark)
        elif mark in REASONING and self.channel != "none":
            self.certain()
            yield from self.reason((REASONING[mark],))
        elif mark in THINK_CLOSERS and self.channel != "none":
            self.lone_closer()
        elif mark in REASONING or mark in THINK_CLOSERS:
            self.text(mark)
        else:
            self.stray(mark)

    def at_candidate(self, match: re.Match[str]) -> Steps[None]:
        """What may be a call without a marker."""
        from tscg.decoders import candidates

        if match.lastgroup == "tag":
            yield from candidates.at_tag(self, match["tool"])
        elif match.lastgroup == "bare":
            yield from candidates.at_bare(self)
        else:
            self.tape.at = match.end()
            self.weak_off = max(0, self.weak_off - len(match.group()))
            yield from candidates.at_fence(self)

    def lone_closer(self) -> None:
        """A closer of reasoning without its opener: the first one means that the output began in reasoning."""
        if self.open_question:
            self.flush()
            self.release()
            self.out.append(LoneCloser())
            self.certain()

    def certain(self) -> None:
        """No later closer turns earlier calls into reasoning."""
        if self.open_question:
            self.open_question = False
            self.out.append(Certain())

    def stray(self, mark: str) -> None:
        """A closer without an opener leaves the text; behind a call of raw values it puts their end in doubt."""
        if self.tail is not None and self.tail.raw_texts and mark.endswith(RAW_CLOSERS):
            self.tail.fault = Fault(kind="ambiguous_call", expected=f"{mark[2:-1]} ends in two places")

    def read_at_once(self, row: Row, opener: str) -> bool:
        """The body behind an opener, where all of it is there in strict JSON, as it is nearly always."""
        tape, closer = self.tape, CLOSER.get(opener)
        if closer is None or self.found > self.options.max_calls:
            return False
        end = tape.text.find(closer, tape.at, tape.at + STRICT_LIMIT)
        if end < 0 or not self.strict(tape.text[tape.at : end], row.id):
            return False
        tape.at = end + len(closer)
        self.strong = True
        return True

    def strong_call(self, row: Row, opener: str) -> Steps[None]:
        """The body behind an opener that says "call"."""
        self.flush()
        if self.found > self.options.max_calls:  # said by an error already: the rest would be refused unread
            yield from self.tape.rest()
            return
        read = yield from READERS[row.reader](self, row, opener)
        if read:
            self.strong = True
        else:
            self.text(opener)

    def reason(self, closers: tuple[str, ...]) -> Steps[None]:
        """A span of reasoning."""
        text, _ = yield from self.tape.until(closers)
        self.think(text)

    def observation(self, mark: str) -> None:
        """What follows a call and an observation was invented."""
        if self.tail is not None and self.tail.dialect == "react" and self.options.observation_dropped:
            self.tail.repairs = (*self.tail.repairs, "observation_dropped: : what follows was invented")
            self.dropping = self.no_weak = True
        else:
            self.text(mark)
