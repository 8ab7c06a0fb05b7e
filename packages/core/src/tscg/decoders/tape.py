"""A text that arrives in pieces, and what readers ask of it.

Readers are generators: they ``yield`` when they need more text and go on when it came. What a reader took leaves the
tape, so that the window stays small and the work linear in the output, however it is cut.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable
from functools import lru_cache
from typing import Any, TypeAlias, TypeVar

from tscg.decoders.lexer import Extent

__all__ = ["Steps", "Tape", "held"]

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]


SPACE = re.compile(r"\s+")


def trie(marks: Iterable[str]) -> str:
    """An expression for one of several texts, the longest first, that decides by one character after another."""
    tree: dict[str, Any] = {}
    for mark in marks:
        at = tree
        for char in mark:
            at = at.setdefault(char, {})
        at[""] = {}

    def written(at: dict[str, Any]) -> str:
        branches = [re.escape(char) + written(below) for char, below in at.items() if char]
        if not branches:
            return ""
        inner = branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"
        return f"(?:{inner})?" if "" in at else inner

    return written(tree) or r"(?!)"


@lru_cache(maxsize=512)
def any_of(marks: tuple[str, ...]) -> re.Pattern[str]:
    """The earliest of several markers, the longest at one place."""
    return re.compile(trie(marks))


@lru_cache(maxsize=512)
def starts(marks: tuple[str, ...]) -> frozenset[str]:
    """All that a text may end with if a marker is cut there."""
    return frozenset(mark[:size] for mark in marks for size in range(1, len(mark)))


def fronts(marks: Iterable[str]) -> str:
    """An expression for the front of one of several texts, shorter than the whole, as long as it goes on."""
    tree: dict[str, Any] = {}
    for mark in marks:
        at = tree
        for char in mark[:-1]:
            at = at.setdefault(char, {})

    def written(at: dict[str, Any]) -> str:
        branches = [re.escape(char) + (f"(?:{written(below)})?" if below else "") for char, below in at.items()]
        return "|".join(branches)

    return f"(?:{written(tree)})" if tree else r"(?!)"


@lru_cache(maxsize=512)
def cut_off(marks: tuple[str, ...]) -> re.Pattern[str]:
    """The front of a marker at the end of a text."""
    return re.compile(rf"{fronts(marks)}\Z")


@lru_cache(maxsize=512)
def _longest(marks: tuple[str, ...]) -> int:
    return max(map(len, marks), default=1)


def held(text: str, marks: tuple[str, ...], at: int = 0) -> int:
    """How many characters at the end of a text may be the start of a marker; the part before ``at`` does not count.

    >>> held("see <tool", ("<tool_call>",)), held("a <b>", ("<tool_call>",))
    (5, 0)
    """
    match = cut_off(marks).search(text, max(at, len(text) - _longest(marks) + 1))
    return len(text) - match.start() if match else 0


class Tape:
    """The window of a text: ``text[at:]`` is not read yet; ``final`` says that no more will come."""

    __slots__ = ("at", "final", "text")

    def __init__(self) -> None:
        self.text, self.at, self.final = "", 0, False

    def feed(self, piece: str) -> None:
        """Add a piece behind what is not read yet."""
        self.text, self.at = self.text[self.at :] + piece, 0

    def take(self, size: int) -> str:
        """The next characters; they leave the tape."""
        part = self.text[self.at : self.at + size]
        self.at += len(part)
        return part

    def back(self, text: str) -> None:
        """Put text back in front: what was just taken is still there, unless a piece came in between."""
        if self.text.endswith(text, 0, self.at):
            self.at -= len(text)
        else:
            self.text, self.at = text + self.text[self.at :], 0

    def peek(self, size: int = 1) -> Steps[str]:
        """The next characters, fewer only at the end; they stay."""
        while len(self.text) - self.at < size and not self.final:
            yield
        return self.text[self.at : self.at + size]

    def blanks(self) -> Steps[str]:
        """White space, taken."""
        parts = []
        while True:
            match = SPACE.match(self.text, self.at)
            parts.append(self.take(match.end() - self.at if match else 0))
            if self.at < len(self.text) or self.final:
                return "".join(parts)
            yield

    def mark(self, marks: tuple[str, ...]) -> Steps[str]:
        """The marker that stands here, taken; empty where there is none."""
        if not marks:
            return ""
        found = any_of(marks)
        longest = _longest(marks)
        while True:
            match = found.match(self.text, self.at)
            window = len(self.text) - self.at
            if match and (window >= longest or self.final or not self._longer(marks, match.group())):
                self.at = match.end()
                return match.group()
            if self.final or (
                match is None and (window >= longest or self.text[self.at :] not in starts(marks) | {""})
            ):
                return ""
            yield

    @staticmethod
    def _longer(marks: tuple[str, ...], found: str) -> bool:
        return any(mark != found and mark.startswith(found) for mark in marks)

    def until(self, marks: tuple[str, ...], limit: int | None = None) -> Steps[tuple[str, str]]:
        """Text up to the earliest marker, and the marker, both taken; the marker is empty at the end of the text.

        With ``limit``, at most so many characters are taken, and the marker is empty there too.
        """
        found = any_of(marks)
        parts: list[str] = []
        size = 0
        while True:
            match = found.search(self.text, self.at)
            end = match.start() if match else len(self.text) - (0 if self.final else held(self.text, marks, self.at))
            if limit is not None and size + end - self.at > limit:
                parts.append(self.take(limit - size))
                return "".join(parts), ""
            size += end - self.at
            parts.append(self.take(end - self.at))
            if match:
                self.at = match.end()
                return "".join(parts), match.group()
            if self.final:
                return "".join(parts), ""
            yield

    def value(self, stops: tuple[str, ...] = ()) -> Steps[tuple[str, bool]]:
        """A bracketed value, taken, and whether its last bracket was seen.

        It ends early at a marker that stands outside its strings.
        """
        extent = Extent()
        parts: list[str] = []
        found = any_of(stops) if stops else None
        while True:
            end = extent.feed(self.text, self.at, found, stops, self.final)
            if end is None:
                keep = extent.held
                parts.append(self.take(len(self.text) - self.at - keep))
                if self.final:
                    parts.append(self.take(keep))
                    return "".join(parts), False
                yield
                continue
            parts.append(self.take(end - self.at))
            return "".join(parts), extent.done

    def rest(self) -> Steps[str]:
        """All that comes, taken."""
        parts = []
        while True:
            parts.append(self.take(len(self.text) - self.at))
            if self.final:
                return "".join(parts)
            yield


def flatten(groups: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """Markers of several groups, each once."""
    return tuple(dict.fromkeys(mark for group in groups for mark in group))
