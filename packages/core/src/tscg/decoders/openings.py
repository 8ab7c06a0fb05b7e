"""All that may open something in a text, as expressions: markers, tags with a prefix or a tool's name, bare calls."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from tscg.decoders.rows import NOISE, REASONING, ROWS
from tscg.decoders.tape import flatten, fronts, trie

__all__ = [
    "ANYWHERE",
    "AT_LINE_START",
    "BARE",
    "BARE_CUT",
    "BRACKETED",
    "CUT_TAG",
    "LINES",
    "LINE_ONLY",
    "LITERALS",
    "OPENERS",
    "SAYS",
    "THINK_CLOSERS",
    "cut_openings",
    "is_mark",
    "openings",
]

OPENERS = {opener: row for row in ROWS for opener in row.openers}
CLOSERS = flatten(row.closers for row in ROWS)
LINES = tuple(opener[1:] for opener in OPENERS if opener.startswith("\n"))
AT_LINE_START = (*LINES, "Observation:")
THINK_CLOSERS = tuple(REASONING.values())
LITERALS = flatten(
    (
        tuple(opener for opener in OPENERS if not opener.startswith("\n")),
        (*CLOSERS, *NOISE, *REASONING, *THINK_CLOSERS, *LINES, "Observation:", "```"),
    )
)
LINE_ONLY = (*AT_LINE_START, "```")
ANYWHERE = tuple(mark for mark in LITERALS if mark not in LINE_ONLY)
BRACKETED = tuple(mark for mark in LITERALS if mark.startswith("["))
BRACKET = r"\["
PREFIXED = (  # behind the bracket
    r"[A-Za-z][\w.-]{0,32}:(?:invoke\s{1,8}name=|function_calls>)"
    r"|/[A-Za-z][\w.-]{0,32}:(?:invoke|function_calls|parameter)>"
)
CUT_TAG = re.compile(r"<(?:/?[A-Za-z_][\w.-]{0,255}(?::[a-z_]{0,16}(?:\s{1,8}[a-z]{0,4})?)?)?\Z")
BARE = re.compile(r"\[\s{0,8}[^\W\d][\w.]{0,255}\s{0,8}\(")
BARE_CUT = re.compile(r"\[\s{0,8}(?:[^\W\d][\w.]{0,255}\s{0,8})?\Z")


SAYS = re.compile(f"[{re.escape(''.join(sorted({mark[0] for mark in LITERALS})))}]")


@cache
def openings() -> re.Pattern[str]:
    """All that may say something where it stands. The group that matched last tells which: see `is_mark`."""
    more = {
        "<": rf"(?P<prefixed>{PREFIXED})|(?P<tag>(?P<tool>[A-Za-z_][\w.-]{{0,255}})>)",
        "[": rf"(?P<bare>{BARE.pattern.removeprefix(BRACKET)})",
    }
    # Each branch begins with a letter of its own: the engine skips to the next of them in one step.
    return re.compile("|".join(_branch(first, rest, more.get(first)) for first, rest in _by_first(LITERALS).items()))


def _by_first(marks: Iterable[str]) -> dict[str, list[str]]:
    """What follows the first character of each marker, by that character."""
    out: dict[str, list[str]] = {}
    for mark in marks:
        out.setdefault(mark[0], []).append(mark[1:])
    return out


def _branch(first: str, rest: list[str], more: str | None) -> str:
    mark = f"(?P<mark{ord(first)}>{trie(rest)})"
    return f"{re.escape(first)}(?:{mark}|{more})" if more else f"{re.escape(first)}{mark}"


@cache
def cut_openings() -> re.Pattern[str]:
    """What :meth:`TextScan.holding` may keep, at the end of a window: most windows end with nothing of it."""
    more = {"<": CUT_TAG.pattern.removeprefix("<"), "[": BARE_CUT.pattern.removeprefix(BRACKET)}
    branches = []
    for first, rest in _by_first((*ANYWHERE, *LINE_ONLY)).items():
        cut = rf"{fronts(rest)}?\Z"
        branches.append(re.escape(first) + (f"(?:{cut}|{more[first]})" if first in more else cut))
    return re.compile("|".join(branches))


def is_mark(match: re.Match[str]) -> bool:
    """A literal marker, and neither a tag nor a bare call."""
    return (match.lastgroup or "").startswith("mark")
