"""Cutting normalised prose into sentences without losing a character.

Normalised prose has single blanks and single line feeds (a paragraph or a list item begins after one). The cutter only
decides where a sentence may end; it never changes text, so ``"".join(split(text)) == text``.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from collections.abc import Iterator

#: Words after whose full stop a sentence always goes on (lower case, without the last stop).
INSIDE_ABBREVIATIONS = frozenset(
    "e.g i.e eg ie vs cf approx incl excl resp viz mr mrs ms dr prof fig figs eq ver".split()
)

#: Abbreviations that may also end a sentence: it goes on unless the next word begins with a capital.
OPEN_ABBREVIATIONS = frozenset(
    "etc min max no nr num opt inc ltd corp co dept est vol sec ref refs al ca pp jr sr".split()
)

_ABBREVIATIONS = INSIDE_ABBREVIATIONS | OPEN_ABBREVIATIONS
#: What the last word of a sentence may not be to be no abbreviation or initial at a glance.
_SHORTENED = _ABBREVIATIONS | frozenset("abcdefghijklmnopqrstuvwxyz")
#: Marks behind a word that is no abbreviation then.
_AFTER_WORDS = frozenset(")'\"`")

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

#: Texts whose cuts are remembered: each is asked for a few times in a row, and a small memory stays near.
MOST = 64
#: A text of more characters is cut the thorough way, which is linear.
ORDINARY = 2_000
#: Ends of sentences in brackets, quotes or emphasis.
_closed = re.compile(r"\.[)\"'`*_\]}]").findall
_CLOSED_WIDE = (".”", ".’", ".»", ".」", ".』", ".）")

#: What may close a quote or bracket behind a stop.
_CLOSERS = ")]}'\"’”»*_`」』）"
#: What may open one before a word.
_OPENERS = "([{\"'“`*_"
_FULL_WIDTH = "。！？"
_STOPS = f".!?…{_FULL_WIDTH}"
_STOPPED = tuple(_STOPS)
_STOPS_AND_LINES = f"{_STOPS}\n"
#: What begins or ends a span.
_SPANNING = "\"'`“”()[]{}\n"
_OPENER = {")": "(", "]": "[", "}": "{"}
_QUOTES = "\"'`“"
_HOLDERS = "\"'`[{(“"
#: What ends the span that a mark opens, and what stands in its way.
_CLOSED_BY = {'"': '"', "'": "'", "`": "`", "“": "”", "(": ")", "[": "]"}
_STOPPED_BY = {'"': "\n", "'": "\n", "`": "\n", "“": "\n", "(": "(\n", "[": "[\n"}
#: Marks of what may go on over the end of a line, and stops and quotes beside the ASCII ones.
_OVER_LINES = ("{", "[", "``", "\n ", " \n", "  ")
_WIDE = ("…", "。", "！", "？", "“", "``")
#: What may not stand between two single quotes that are taken for a pair at a glance.
_BRACKETS = frozenset('"`“”()[]{}')
_LONG_WORD = 7


_CUTS: dict[str, tuple[str, ...]] = {}


def split(text: str) -> tuple[str, ...]:
    r"""Cut ``text`` into sentences; every piece keeps the white space that follows it.

    A line is a piece of its own. Not cut: after abbreviations, initials and list numbers, inside quotes, code, brackets
    and JSON, and where no full stop stands at all.

    >>> split("Find orders, e.g. open ones. Never delete.")
    ('Find orders, e.g. open ones. ', 'Never delete.')
    >>> split("Reads config.json of v1.2.\n1. First\n2. Second")
    ('Reads config.json of v1.2.\n', '1. First\n', '2. Second')
    """
    pieces = _CUTS.get(text)
    if pieces is not None:
        return pieces
    if "\n" in text:
        pieces = _of_lines(text)
    elif "." not in text[:-1] and "!" not in text and "?" not in text and text.isascii():
        return (text,) if text else ()
    else:
        pieces = _of_line(text)
    if len(_CUTS) >= MOST:
        _CUTS.clear()
    _CUTS[text] = pieces
    return pieces


def _of_lines(text: str) -> tuple[str, ...]:
    """The pieces of a text with lines; each line is cut by itself where nothing can go on over its end."""
    for mark in _OVER_LINES:
        if mark in text:
            return _cut(text)
    if text[0] == "\n" or text[-1] == "\n":
        return _cut(text)
    pieces: list[str] = []
    before = ""
    for line in text.split("\n"):
        if not line:  # goes with the stop before it, if there is one
            if before.rstrip(_CLOSERS).endswith(_STOPPED):
                pieces[-1] += "\n"
            else:
                pieces.append("\n")
            continue
        before = line
        if "." in line[:-1] or "!" in line or "?" in line or not line.isascii():
            pieces += _of_line(line)
            pieces[-1] += "\n"
        else:
            pieces.append(f"{line}\n")
    pieces[-1] = pieces[-1][:-1]
    return tuple(pieces)


def _of_line(text: str) -> tuple[str, ...]:
    """The pieces of a text without lines. One whose sentences end with a full stop and a blank alone is cut there.

    It runs for most texts (and ``in``, ``split`` and ``rpartition`` take half the time of ``find`` and ``count``).
    """
    if "!" in text or "?" in text or "  " in text or len(text) > ORDINARY:
        return _cut(text)
    wide = not text.isascii()
    if wide:
        for mark in _WIDE:
            if mark in text:
                return _cut(text)
    segments = text.split(". ")
    rest = segments.pop()
    said = "".join(segments)  # what the last sentence opens goes over no end
    if not rest:
        return _cut(text)
    if "." in said or "." in rest[:-1]:  # a stop with something other than a blank behind
        marks = _closed(text)
        for mark in (*marks, *_CLOSED_WIDE) if wide else marks:
            if mark in text and not (text.endswith(f"{mark}.") and text.count(mark) == 1):
                return _cut(text)
    marked = "'" in said or "(" in said or '"' in said or "`" in said or "[" in said or "{" in said
    pieces: list[str] = []
    begun = ""
    for segment in segments:
        piece = f"{begun}{segment}. "
        word = segment.rpartition(" ")[2].lower()
        if (word in _SHORTENED or not word.isalpha()) and _holds_on(text, pieces, piece, word):
            begun = piece
            continue
        if marked and opens(piece):
            return _cut(text)
        pieces.append(piece)
        begun = ""
    pieces.append(begun + rest)
    return tuple(pieces)


def _holds_on(text: str, pieces: list[str], piece: str, word: str) -> bool:
    """Whether the sentence behind ``pieces`` goes on behind ``piece``, whose last word is no plain one."""
    mark = word[-1:]
    if mark in _AFTER_WORDS:
        return False
    if mark == "." or word.lstrip(_OPENERS) in INSIDE_ABBREVIATIONS:
        return True
    start = sum(map(len, pieces))
    end = start + len(piece)
    return _goes_on(text, start, end - 2, end)


def opens(said: str) -> bool:
    """Whether a quote or bracket that is opened in ``said`` may still be open at its end, where no word stands.

    >>> opens("Sort by 'name'. "), opens("Sort by 'the ")
    (False, True)
    """
    if "'" in said and not _paired(said):
        return True
    if ("(" in said or ")" in said) and not _closes_all(said, "(", ")"):
        return True
    if '"' in said and said.count('"') % 2:
        return True
    return (
        "{" in said
        or "“" in said
        or ("`" in said and said.count("`") % 2 == 1)
        or ("[" in said and not _closes_all(said, "[", "]"))
    )


def _closes_all(said: str, opener: str, closer: str) -> bool:
    """Whether there are as many openers as closers in ``said``, and the last one is a closer."""
    inside, last, behind = said.rpartition(closer)
    if not last or opener in behind:
        return False
    before, first, inside = inside.partition(opener)
    if first and not (opener in inside or closer in inside or closer in before):  # one of each, as in most
        return True
    return said.count(opener) == said.count(closer)


def _paired(said: str) -> bool:
    """Whether single quotes open and close one after the other in ``said``, with no other marks between them."""
    parts = iter(said.split("'"))
    before = next(parts)
    for part in parts:
        mark = before[-1:]
        if mark.isalnum() or mark == "_":  # an apostrophe
            before = part
            continue
        before = next(parts, "_")
        mark = before[:1]
        if mark.isalnum() or mark == "_" or not (part.isidentifier() or (part and _BRACKETS.isdisjoint(part))):
            return False
    return True


def _places(text: str, marks: str) -> list[tuple[int, str]]:
    """Where each of ``marks`` stands. (A regular expression of marks beyond Latin-1 takes a millisecond to compile.)"""
    found = []
    for mark in marks:
        at = text.find(mark)
        while at >= 0:
            found.append((at, mark))
            at = text.find(mark, at + 1)
    found.sort()
    return found


def _ends(text: str) -> Iterator[tuple[int, int]]:
    """Where a sentence may end: the first stop or a line feed, and the end of the stops, marks and blanks behind."""
    end, last = 0, len(text)
    for at, mark in _places(text, _STOPS_AND_LINES):
        if at < end:
            continue
        end = at + 1
        if mark != "\n" and end < last:
            if text[end] != " ":
                for marks in (_STOPS, _CLOSERS):
                    while end < last and text[end] in marks:
                        end += 1
            while end < last and text[end] in " \n":
                end += 1
        yield at, end


def _cut(text: str) -> tuple[str, ...]:
    pieces: list[str] = []
    start = 0
    holder = -1
    spans: list[tuple[int, int]] | None = None
    for at, end in _ends(text):
        if end == len(text):
            break
        if text[end - 1] not in " \n" and text[at] not in _FULL_WIDTH:
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
        word = text[max(text.rfind(" ", floor, at) + 1, floor) : at].lstrip(_OPENERS)
        return (len(word) < _LONG_WORD or "." in word) and _abbreviates(text, start, at, end, word)
    if stop[0] in _FULL_WIDTH:
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
    if (len(word) == 1 and word.isupper()) or ("." in word and _initials(word)):
        following = text[end : end + WORD_REACH].split(None, 1)
        return bool(following) and following[0].rstrip(",.:;") not in STARTERS
    return word.isdecimal() and _numbers_a_list(text, start, at, len(word))


def _initials(word: str) -> bool:
    """Whether a word is letters with stops between them ("U.S")."""
    return all(len(letter) == 1 and letter.isalnum() and not letter.isdecimal() for letter in word.split("."))


def _numbers_a_list(text: str, start: int, at: int, digits: int) -> bool:
    """Whether the number before ``at`` begins a list item: it opens the piece, follows a colon, or counts on."""
    number = at - digits
    before = text[max(start, number - LIST_REACH) : number].rstrip()
    if not before or before[-1] in ":-*•(#":
        return True
    return f" {int(text[number:at]) - 1}. " in " " + before


def literals(text: str) -> list[tuple[int, int]]:
    """Spans of quotes, code, square brackets and braces: text that no rewrite may touch.

    >>> literals('Sort by "the name".')
    [(8, 18)]
    """
    if not ("'" in text or '"' in text or "`" in text or "[" in text or "{" in text or "“" in text):
        return []
    return [span for span in _spans(text) if text[span[0]] != "("]


def _spans(text: str) -> list[tuple[int, int]]:
    marks = _places(text, _SPANNING)
    if not _nests(marks):
        return _held(text, marks, _HOLDERS)
    quoted = _held(text, marks, _QUOTES)
    return sorted(quoted + _bracketed(text, marks, quoted))


def _nests(marks: list[tuple[int, str]]) -> bool:
    """Whether brackets may stand in each other, or square ones go on over a line."""
    inside = {"(": False, "[": False}
    for _, mark in marks:
        if mark in "([":
            if inside[mark]:
                return True
            inside[mark] = True
        elif mark in ")]":
            inside[_OPENER[mark]] = False
        elif mark == "\n":
            if inside["["]:
                return True
            inside["("] = False
        elif mark == "{":
            return True
    return False


def _held(text: str, marks: list[tuple[int, str]], openers: str) -> list[tuple[int, int]]:
    """Spans of quotes, code and, where ``openers`` say so, brackets on one line that hold no others."""
    spans: list[tuple[int, int]] = []
    end = hopeless = 0
    for place, (at, mark) in enumerate(marks):
        if at < end or mark not in openers or (mark == "“" and at < hopeless):
            continue
        if text.startswith("```", at):
            close = text.find("```", at + 3)
            found = close + 3 if close >= 0 else 0
        else:
            found = _closes(text, marks, place)
        if found:
            end = found
            spans.append((at, end))
        elif mark == "“":  # nor do the others on its line
            hopeless = text.find("\n", at) % (len(text) + 1)
    return spans


def _closes(text: str, marks: list[tuple[int, str]], place: int) -> int:
    """The end of the span that the mark at ``place`` opens, 0 where it opens none."""
    at, opener = marks[place]
    if opener == "'" and at and (text[at - 1].isalnum() or text[at - 1] == "_"):
        return 0
    closer, stops = _CLOSED_BY.get(opener, ""), _STOPPED_BY.get(opener, "")
    for each in range(place + 1, len(marks)):
        close, mark = marks[each]
        if mark == closer:
            break
        if mark in stops:
            return 0
    else:
        return 0
    end = close + 1
    if opener in "'`" and end == at + 2:
        return 0
    return 0 if opener == "'" and (text[end : end + 1].isalnum() or text[end : end + 1] == "_") else end


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


def _bracketed(text: str, marks: list[tuple[int, str]], quoted: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans of brackets that close: on their line, or over several lines where they hold JSON."""
    spans = []
    stack: list[tuple[str, int, bool]] = []
    quote = 0
    for at, char in marks:
        if char in "\"'`“”":
            continue
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
