"""What a sentence of prose is for: a policy, the purpose, a constraint, a value hint, usage, an example, background.

Sentences are ranked one by one from tables of words; headings hand their rank on to the list below them.
"""

from __future__ import annotations

from enum import IntEnum

from tscg.prose.policy import POLICY, POLICY_HEADINGS, is_policy, known, stressed, words_of
from tscg.prose.sentences import split

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Literal

    Of = Literal["tool", "parameter", "other"]
else:
    Of = str


class Rank(IntEnum):
    """What a sentence is for; the smaller, the more it matters.

    >>> Rank.POLICY < Rank.PURPOSE < Rank.BACKGROUND
    True
    """

    POLICY = 0
    PURPOSE = 1
    CONSTRAINT = 2
    HINT = 3
    USAGE = 4
    EXAMPLE = 5
    BACKGROUND = 6


#: The members, looked up once: each time costs a call.
_AS_POLICY, _AS_PURPOSE, _AS_CONSTRAINT, _AS_HINT, _AS_USAGE, _AS_EXAMPLE, _AS_BACKGROUND = Rank

#: Sentences that only point to a document begin so.
POINTERS = (
    "for more information", "for more details", "for more detail", "for details", "for further information",
    "learn more",
    "see also", "see the documentation", "see the docs", "more information", "> for more information",
)  # fmt: skip

#: Sentences under a policy heading that only say where else to look or what the vendor would like.
ASIDES = (*POINTERS, "refer to", "we recommend", "please use [", "> we recommend", "> refer to", "see ",
    "for details")  # fmt: skip
#: Headings of lists that only name things, whatever else they say.
_INVENTORIES = frozenset("parameters arguments args options fields columns".split())
#: Titles under which every line warns.
WARNINGS = frozenset("warning warnings caution cautions danger".split())
EXAMPLE_HEADINGS = frozenset("example examples sample samples format formats".split())

_CONSTRAINT = frozenset(
    "max maximum min minimum between least most limited allowed valid accepts accepted supported possible range "
    "rejected characters exceed exceeds required".split()
)
_HINT = frozenset(
    "example examples format formats formatted default defaults iso iso8601 8601 rfc3339 yyyy utc timezone separated absolute "
    "base64 encoded insensitive wildcard wildcards glob regex regexp syntax unit units timestamp epoch "
    "based".split()
)
_UNITS = frozenset(
    "seconds milliseconds ms minutes hours days weeks months years bytes kb mb kilobytes megabytes pixels px "
    "percent".split()
)
#: With a quoted value beside them these words list what a parameter takes.
_TAKES = frozenset("can be either options option values value one like as accept means types any set for".split())
_USES = (
    "use this",
    "use it",
    "use when",
    "use with",
    "you can find",
    "you can check",
    "to learn",
    "see ",
    "see:",
    "pass the ",
)
_LISTS = ("one of", "available:", "available values", "options:", "choices:", "values:", "supports:", "can contain")
#: An example of more characters is more than a hint.
LONG_EXAMPLE = 160
_USAGE = frozenset("use useful when call helps recommended prefer instead consider if".split())
_EXAMPLE = frozenset(("example", "examples"))

#: Marks of list items, and what stands in the key of a line "key: ..." beside letters and digits.
BULLETS = frozenset("-*+•>")
_KEY_MARKS = frozenset("_`'\"*.-")
#: First sentences that are no purpose: a second one follows.
BARE = ("optional. ", "required. ", "deprecated. ", "optional.\n", "required.\n", "deprecated.\n")
_CLOSERS = ")]}\"'”’»*_`"
#: A heading of at most this many words can be the title of an inventory, of one of these many the title of examples.
_SHORT_TITLE = 5
_SHORT_HEADING = 12
_TERMINATORS = (".", "!", "?", ":", ";", "。", "！", "？")
#: Most lines end with one: a test before ``endswith``.
_ENDS = frozenset(_TERMINATORS)
#: Words that a sentence does not end with: what stands below belongs to it, even with a capital.
_JOINTS = frozenset(
    "a an the and or nor of in on at to for from by with as is are be must not only via your its".split()
)
#: A line of at least this many characters that has no stop at its end was broken by hand: the next one goes on.
WRAPPED_LINE = 48


def rank(sentence: str, position: int, of: Of) -> Rank:
    """Rank one sentence by itself; ``position`` is its place in the text (0: first), ``of`` what the text describes.

    >>> rank("Never call it twice.", 3, "tool").name, rank("Read-only.", 3, "tool").name
    ('POLICY', 'BACKGROUND')
    >>> rank("ISO format, e.g. 2024-05-01.", 1, "parameter").name
    'HINT'
    """
    low, words, binds = known(sentence)
    pointer = low.startswith(POINTERS)
    if pointer:
        # The title of a document is no policy, whatever words it has.
        low = _untitled(low)
        words = words_of(low)
    if binds and (
        (of == "tool" and not pointer and not _keyed(low)) or is_policy(low, words, tells=of != "tool" or _keyed(low))
    ):
        return _AS_POLICY
    if pointer:
        return _AS_BACKGROUND
    if position == 0:
        return _AS_PURPOSE
    if of == "tool":
        return _rank_of_tool(words)
    if low.startswith(_USES):
        return _AS_USAGE
    if not _CONSTRAINT.isdisjoint(words) or low.startswith(_LISTS):
        return _AS_CONSTRAINT
    if not _HINT.isdisjoint(words) or "e.g." in low or ("in" in words and not _UNITS.isdisjoint(words)):
        return _AS_HINT if len(sentence) <= LONG_EXAMPLE else _AS_EXAMPLE
    if ("`" in sentence or '"' in sentence or "'" in sentence) and not _TAKES.isdisjoint(words) and "if" not in words:
        return _AS_USAGE if begins_item(sentence) else _AS_HINT
    return _AS_USAGE if not _USAGE.isdisjoint(words) else _AS_BACKGROUND


def _untitled(low: str) -> str:
    """``low`` without the titles of documents in square brackets, their quotes and their addresses.

    >>> _untitled('see "[must read](https://example.com)" and [more]')
    'see   and  '
    """
    said = ""
    done = 0
    at = low.find("[")
    while at >= 0 and (close := low.find("]", at)) >= 0:
        line = low.find("\n", at, close)
        if line >= 0:
            at = low.find("[", line)
            continue
        end = close + 1
        if low[end : end + 1] == "(" and (address := low.find(")", end)) >= 0 and "\n" not in low[end:address]:
            end = address + 1
        start = at - 1 if at > done and low[at - 1] == '"' else at
        said += f"{low[done:start]} "
        done = end + 1 if low[end : end + 1] == '"' else end
        at = low.find("[", done)
    return said + low[done:]


def begins_item(piece: str, *, letters: bool = True) -> bool:
    """Whether a piece begins with the mark of a list item: a bullet, a number or (with ``letters``) a letter.

    >>> begins_item("- one"), begins_item("12. one"), begins_item("a) one"), begins_item("one")
    (True, True, True, False)
    """
    mark, found, _ = piece[:5].partition(" ")
    if not found or not mark:
        return False
    if len(mark) == 1:
        return mark in BULLETS
    return mark[-1] in ".)" and (mark[:-1].isdecimal() or (letters and len(mark) == 2 and "a" <= mark[0] <= "z"))


def key_of(piece: str) -> str:
    """The key that a line "key: ..." or "key (string): ..." begins with, to its colon; else nothing.

    >>> key_of("sort (string): by what"), key_of("sort by: it")
    ('sort (string):', '')
    """
    at = piece.find(":")
    if at < 1:
        return ""
    end = 0
    while end < at and (piece[end].isalnum() or piece[end] in _KEY_MARKS):
        end += 1
    if not end or end == at:
        return piece[: at + 1] if end else ""
    opens = end + 1 if piece[end] == " " else end
    close = piece.find(")", opens) if piece[opens] == "(" else -1
    if close < 0 or "\n" in piece[opens:close]:
        return ""
    end = close + 1
    while piece[end : end + 1] == "*":
        end += 1
    return piece[: end + 1] if piece[end : end + 1] == ":" else ""


def _keyed(low: str) -> bool:
    """Whether a sentence of a tool's prose speaks of a parameter: "- only_open: ..."."""
    key = key_of(low.lstrip("-*+• ")) if ":" in low else ""
    return key != "" and POLICY_HEADINGS.isdisjoint(words_of(key)) and "note" not in key


def _rank_of_tool(words: Sequence[str]) -> Rank:
    if not _EXAMPLE.isdisjoint(words):
        return _AS_EXAMPLE
    if not _CONSTRAINT.isdisjoint(words):
        return _AS_CONSTRAINT
    return _AS_USAGE if not _USAGE.isdisjoint(words) else _AS_BACKGROUND


#: A sentence of a parameter with none of these words and no ``quotes`` is usage or background.
SIGNALS = (
    frozenset(POLICY)
    | _CONSTRAINT
    | _HINT
    | _UNITS
    | frozenset("one available options choices values supports contain".split())
)


def quotes(low: str) -> bool:
    """Whether a text quotes a value or says "e.g.".

    >>> quotes("can be 'a' or 'b'"), quotes("can be open")
    (True, False)
    """
    return "'" in low or '"' in low or "`" in low or "e.g." in low


class Sentence:
    """One sentence of a text: its characters, its rank, whether it opens the text and whether it begins a line.

    A sentence that was broken by hand over several lines is one; ``pieces`` says how many pieces of ``split`` it takes.
    ``binds``: it is a policy by its own words, or by those of the heading above it ("Do not use when:"), and not because
    it stands under a title ("Important:").
    """

    __slots__ = ("binds", "opens", "pieces", "rank", "starts", "text")

    def __init__(self, text: str, rank: Rank, *, opens: bool, starts: bool, pieces: int, binds: bool) -> None:
        self.text, self.rank, self.opens = text, rank, opens
        self.starts, self.pieces, self.binds = starts, pieces, binds


def ranks(text: str, of: Of) -> tuple[Rank, ...]:
    """Rank every piece of ``split(text)``; headings hand their rank to their lists, wrapped lines share one rank.

    >>> [each.name for each in ranks("Saves a file.\\nDo not use when:\\n- the disk is full\\nSee the docs.", "tool")]
    ['PURPOSE', 'POLICY', 'POLICY', 'BACKGROUND']
    """
    return tuple(each.rank for each in outline(text, of) for _ in range(each.pieces))


def outline(text: str, of: Of) -> tuple[Sentence, ...]:
    """The sentences of ``text`` with their ranks; their texts joined are ``text``.

    >>> [(each.text, each.rank.name) for each in outline("Sends mail. Ask the user first.", "tool")]
    [('Sends mail. ', 'PURPOSE'), ('Ask the user first.', 'POLICY')]
    """
    pieces = split(text)
    found = []
    if "\n" not in text:
        bare = len(pieces) > 1 and text.lower().startswith(BARE)
        for place, each in enumerate(pieces):
            own = rank(each, place - bare, of)
            binds = own is _AS_POLICY and not stressed(each)
            found.append(Sentence(each, own, opens=place == bare, starts=place == 0, pieces=1, binds=binds))
        return tuple(found)
    section = _Section(of)
    begun = False
    for first, last, starts in _groups(pieces):
        said = pieces[first] if last - first == 1 else "".join(pieces[first:last])
        opens = not begun and not (
            last < len(pieces) and (said.startswith(("#", ">")) or said.lower().startswith(BARE))
        )
        own = rank(said, 0 if opens else 1, of)
        placed = section.place(said, own, starts)
        binds = (own is _AS_POLICY and not stressed(said)) or (placed is _AS_POLICY and section.binds)
        if binds and said[:4] == "> [!":
            binds = False  # the mark of a callout says nothing itself
        found.append(Sentence(said, placed, opens=opens, starts=starts, pieces=last - first, binds=binds))
        begun = begun or opens
    return tuple(found)


def _groups(pieces: tuple[str, ...]) -> Iterator[tuple[int, int, bool]]:
    """Pieces that are one sentence, broken by hand over lines: first, end, and whether the first begins a line."""
    first = line = 0
    starts = begins = True
    before = ""
    for index, piece in enumerate(pieces):
        if index and not (begins and before[-2:-1] not in _ENDS and _wrapped(before, line, piece)):
            yield first, index, starts
            first, starts = index, begins
        line = len(piece) if begins else line + len(piece)
        begins = piece[-1] == "\n"
        before = piece
    yield first, len(pieces), starts


def _wrapped(previous: str, line: int, piece: str) -> bool:
    """Whether ``piece`` goes on with the sentence of the line before it, which is ``line`` characters long."""
    before = previous.rstrip()
    if before.endswith(_TERMINATORS) or before.rstrip(_CLOSERS).endswith(_TERMINATORS) or before.startswith("#"):
        return False
    if begins_item(piece) or key_of(piece) or piece.startswith(("#", "```", "{", "[", "Option ")):
        return False
    if piece[0].islower() or piece[0] in "('`\"":
        return line >= WRAPPED_LINE // 2
    return line >= WRAPPED_LINE and before.rsplit(" ", 1)[-1] in _JOINTS


class _Section:
    """The heading that the lines of a text stand under, and the rank that it hands to them."""

    def __init__(self, of: Of) -> None:
        self.of = of
        self.carried: Rank | None = None
        self.kind = ""
        self.fresh = self.inside = self.binds = False

    def place(self, piece: str, own: Rank, starts: bool) -> Rank:
        """The rank of ``piece`` in its section; ``starts`` says whether it begins a line."""
        if "#" in piece or ">" in piece or ":" in piece or "：" in piece:
            bare = piece.strip().rstrip("*_").rstrip()
            heading = "#" if starts and bare.startswith("#") else ">" if bare.startswith("> [!") else ""
            heading = heading or (":" if bare.endswith((":", "：")) and piece.endswith("\n") else "")
            if heading:
                return self._open(heading, bare, own, starts and begins_item(piece))
        carried = self.carried
        if carried is None:
            return own
        if starts:
            self.inside = self._holds(piece)
        first, self.fresh = self.fresh, False
        if not self.inside or piece.lower().startswith(ASIDES):
            return own
        if carried is _AS_EXAMPLE:
            hints = first and self.of != "tool"
            return own if own is _AS_POLICY else _AS_HINT if hints else _AS_EXAMPLE
        return min(own, carried)

    def _open(self, heading: str, bare: str, own: Rank, item: bool) -> Rank:
        if item and self.carried is _AS_POLICY and self.kind != ">":
            # An item of the list that is a heading itself: what stands below it is judged by its own words.
            self.carried = own if own is _AS_POLICY else None
            return _AS_POLICY
        words = words_of(bare.lower())
        self.binds = (own is _AS_POLICY and not stressed(bare)) or not WARNINGS.isdisjoint(words)
        titled = not POLICY_HEADINGS.isdisjoint(words) and _INVENTORIES.isdisjoint(words)
        if titled and own is not _AS_PURPOSE:
            own = _AS_POLICY
        elif own is _AS_POLICY and not titled and not _INVENTORIES.isdisjoint(words) and len(words) <= _SHORT_TITLE:
            own = _AS_BACKGROUND
        examples = own is not _AS_POLICY and not EXAMPLE_HEADINGS.isdisjoint(words) and len(words) <= _SHORT_HEADING
        hands_on = own is _AS_POLICY or (self.of != "tool" and own in (_AS_CONSTRAINT, _AS_HINT))
        self.carried = _AS_EXAMPLE if examples else own if hands_on else None
        self.kind, self.fresh, self.inside = heading, True, False
        return own

    def _holds(self, piece: str) -> bool:
        """Whether the line still belongs to the open section; closes it if not."""
        if self.fresh or self.kind == "#" or (piece.startswith(">") if self.kind == ">" else begins_item(piece)):
            return True
        self.carried = None
        return False
