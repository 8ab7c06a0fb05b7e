"""Cutting normalised prose into sentences without losing a character.

Normalised prose has single blanks and single line feeds (a paragraph or a list item begins after one). The cutter only
decides where a sentence may end; it never changes text, so ``"".join(split(text)) == text``.
"""

from __future__ import annotations

import re
from functools import lru_cache

#: Words after whose full stop a sentence always goes on (lower case, without the last stop).
INSIDE_ABBREVIATIONS = frozenset(
    "e.g i.e eg ie vs cf approx incl excl resp viz mr mrs ms dr prof fig figs eq ver".split()
)

#: Abbreviations that may also end a sentence: it goes on unless the next word begins with a capital.
OPEN_ABBREVIATIONS = frozenset(
    "etc min max no nr num opt inc ltd corp co dept est vol sec ref refs al ca pp jr sr".split()
)

#: Words that begin a sentence even after an initial ("in the U.S. Never call it").
STARTERS = frozenset(
    "A An The This That These Those It Its If When While For To In On At By With Without Use Do Don't Never "
    "Always Must Only Cannot Note Returns Return See You Your Please Warning Important Requires Required Default "
    "Defaults Then Also Not No Each All Any Every Before After Call Ask Confirm Ensure Make Set Provide Pass "
    "Avoid Optional Example".split()
)

#: Brackets hold a sentence together over at most this many characters, so that one that is never closed holds nothing.
BRACKET_REACH = 2_000
#: Brackets that are open at one time; the oldest are forgotten (keeps the scan linear on hostile text).
BRACKET_DEPTH = 16
#: How far back the word before a stop is looked at.
WORD_REACH = 24
#: How far back the item before an inline list number is looked for.
LIST_REACH = 400

#: A text of more characters is cut the thorough way, which is linear.
ORDINARY = 2_000
#: Ends of sentences in brackets, quotes or emphasis.
_CLOSED = (".)", '."', ".'", ".`", ".*", "._", ".]", ".}")

# One leading class, so that the regex engine skips to the next candidate; a line feed is a candidate of its own.
_CUT = re.compile(r"""[.!?…。！？\n](?:(?<!\n)[.!?…。！？]*[)\]}"'”’»*_`」』）]*[ \n]*)?""")
_LITERAL = r"""(?<=")[^"\n]*"|(?<=`)(?:``[\s\S]*?```|[^`\n]+`)|(?<=“)[^”\n]*”|(?<=(?<!\w)')[^'\n]+'(?!\w)"""
#: Literals, and brackets on one line that hold no other brackets: what nearly all texts have.
_SIMPLE = re.compile(rf"""[`"“'(\[](?:{_LITERAL}|(?<=\()[^()\n]*\)|(?<=\[)[^\[\]\n]*\])""")
_QUOTED = re.compile(rf"""[`"“'](?:{_LITERAL})""")
_NESTED = re.compile(r"[{]|\([^)\n]*\(|\[[^\]\n]*(?:\[|\n)")
_BRACKET = re.compile(r"[()\[\]{}\n]")
_OPENER = {")": "(", "]": "[", "}": "{"}
_HOLDERS = "\"'`[{(“"
_INITIALS = re.compile(r"(?:[^\W\d_]\.)*[^\W\d_]")
_LONG_WORD = 7


@lru_cache(maxsize=2048)
def split(text: str) -> tuple[str, ...]:
    """Cut ``text`` into sentences; every piece keeps the white space that follows it.

    A line is a piece of its own. Not cut: after abbreviations, initials and list numbers, inside quotes, code, brackets
    and JSON, and where no full stop stands at all.

    >>> split("Find orders, e.g. open ones. Never delete.")
    ('Find orders, e.g. open ones. ', 'Never delete.')
    >>> split("Reads config.json of v1.2.\\n1. First\\n2. Second")
    ('Reads config.json of v1.2.\\n', '1. First\\n', '2. Second')
    """
    if "\n" in text or "!" in text or "?" in text or len(text) > ORDINARY or not text.isascii():
        return _cut(text)
    for mark in _CLOSED:
        if mark in text:
            return _cut(text)
    at = text.find(". ")
    return _cut_at_stops(text, at) if at >= 0 else (text,) if text else ()


def _cut_at_stops(text: str, at: int) -> tuple[str, ...]:
    """The pieces of an ordinary text, whose sentences end with a full stop and a blank alone, the first at ``at``."""
    pieces: list[str] = []
    start = 0
    last = len(text) - 2
    while 0 <= at < last:
        end = at + 2
        if not _shortens(text, start, at, end):
            if _opens(text[start:at]):
                return _cut(text)
            pieces.append(text[start:end])
            start = end
        at = text.find(". ", end)
    pieces.append(text[start:])
    return tuple(pieces)


def _shortens(text: str, start: int, at: int, end: int) -> bool:
    """Whether the stop at ``at`` ends no sentence that began at ``start``, but a word, a number or a row of stops."""
    word = text[text.rfind(" ", start, at) + 1 : at] if start else text[text.rfind(" ", 0, at) + 1 : at]
    if len(word) > 1 and word.isalpha():
        lower = word.lower()
        return lower in INSIDE_ABBREVIATIONS or (lower in OPEN_ABBREVIATIONS and not text[end].isupper())
    return word[-1:] == "." or _goes_on(text, start, at, end)


def _opens(said: str) -> bool:
    """Whether a quote or bracket that is opened in ``said`` may still be open at its end."""
    return (
        "{" in said
        or (" '" in said or "('" in said or said[:1] == "'")
        or ("(" in said and said.rfind("(") > said.rfind(")"))
        or (")" in said and said.count("(") != said.count(")"))
        or ("[" in said and (said.rfind("[") > said.rfind("]") or said.count("[") != said.count("]")))
        or ('"' in said and said.count('"') % 2 == 1)
        or ("`" in said and said.count("`") % 2 == 1)
    )


def _cut(text: str) -> tuple[str, ...]:
    pieces: list[str] = []
    start = 0
    holder = -1
    spans: list[tuple[int, int]] | None = None
    for match in _CUT.finditer(text):
        at, end = match.span()
        if end == len(text):
            break
        if text[end - 1] not in " \n" and text[at] not in "。！？":
            continue
        if text[at] != "\n" and text[end - 1] != "\n" and _goes_on(text, start, at, end):
            continue
        if spans is None and at > holder:
            if holder < 0:
                # What does not stand there is as good as at the end.
                holder = min([text.find(mark) % (len(text) + 1) for mark in _HOLDERS])
            spans = _merged(text) if at > holder else None
        while spans and spans[-1][1] <= at:
            spans.pop()
        if spans and spans[-1][0] < at and end <= spans[-1][1]:
            continue
        pieces.append(text[start:end])
        start = end
    if start < len(text):
        pieces.append(text[start:])
    return tuple(pieces)


def _goes_on(text: str, start: int, at: int, end: int) -> bool:
    """Whether the sentence that began at ``start`` goes on behind the stop that stands at ``at``."""
    stop = text[at:end].rstrip()
    if stop == ".":
        floor = max(start, at - WORD_REACH)
        word = text[max(text.rfind(" ", floor, at) + 1, floor) : at].lstrip("([{\"'“`*_")
        return (len(word) < _LONG_WORD or "." in word) and _abbreviates(text, start, at, end, word)
    if stop[0] in "。！？":
        return False
    if stop.startswith(("..", "…")):
        return True
    closed = stop.strip(" .!?…")
    return bool(closed) and ("`" in closed or text[end].islower())


def _abbreviates(text: str, start: int, at: int, end: int, word: str) -> bool:
    """Whether ``word`` with the stop behind it is an abbreviation, an initial or a list number."""
    lower = word.lower()
    if lower in INSIDE_ABBREVIATIONS:
        return True
    if lower in OPEN_ABBREVIATIONS:
        return not text[end].isupper()
    if (len(word) == 1 and word.isupper()) or ("." in word and _INITIALS.fullmatch(word)):
        return text[end : end + WORD_REACH].split(None, 1)[0].rstrip(",.:;") not in STARTERS
    return word.isdecimal() and _numbers_a_list(text, start, at, len(word))


def _numbers_a_list(text: str, start: int, at: int, digits: int) -> bool:
    """Whether the number before ``at`` begins a list item: it opens the piece, follows a colon, or counts on."""
    number = at - digits
    before = text[max(start, number - LIST_REACH) : number].rstrip()
    if not before or before[-1] in ":-*•(#":
        return True
    return f" {int(text[number:at]) - 1}. " in " " + before


def holds(text: str) -> bool:
    """Whether a quote or bracket stands in ``text``.

    >>> holds("Sort by 'name'."), holds("Sort by name.")
    (True, False)
    """
    for mark in _HOLDERS:  # noqa: SIM110 - a generator costs more than the tests
        if mark in text:
            return True
    return False


def literals(text: str) -> list[tuple[int, int]]:
    """Spans of quotes, code, square brackets and braces: text that no rewrite may touch.

    >>> literals('Sort by "the name".')
    [(8, 18)]
    """
    return [span for span in _spans(text) if text[span[0]] != "("] if holds(text) else []


def _spans(text: str) -> list[tuple[int, int]]:
    if not _NESTED.search(text):
        return [match.span() for match in _SIMPLE.finditer(text)]
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    return sorted(quoted + _bracketed(text, quoted))


def _merged(text: str) -> list[tuple[int, int]]:
    """Spans in which no sentence ends, disjoint, the last one first."""
    merged: list[tuple[int, int]] = []
    for low, high in _spans(text):
        if merged and low < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    merged.reverse()
    return merged


def _bracketed(text: str, quoted: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of brackets that close: on their line, or over several lines where they hold JSON."""
    spans = []
    stack: list[tuple[str, int, bool]] = []
    quote = 0
    for match in _BRACKET.finditer(text):
        at, char = match.start(), match.group()
        while quote < len(quoted) and quoted[quote][1] <= at:
            quote += 1
        if quote < len(quoted) and quoted[quote][0] < at:
            continue
        if char == "\n":
            stack = [entry for entry in stack if entry[2]]
        elif char in "([{":
            crosses = char != "(" and text[at + 1 : at + 3].lstrip(" ")[:1] in ("\n", '"', "{", "[")
            stack = [*stack[-BRACKET_DEPTH:], (char, at, crosses)]
        elif any(entry[0] == _OPENER[char] for entry in stack):
            while stack:
                opener, low, _ = stack.pop()
                if opener == _OPENER[char]:
                    if at - low <= BRACKET_REACH:
                        spans.append((low, at + 1))
                    break
    return spans
