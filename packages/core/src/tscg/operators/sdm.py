"""SDM, semantic density: takes filler out of English prose and keeps every semantic atom.

Class R. A rewrite takes out whole words together with their blank and puts in only words of one token, so the number of
tokens never grows. Policy sentences, quotes, code, brackets and names stay as they are.

It runs over all the prose of a catalog, so a text is cut into words once, and no pattern is tried unless a word of it
stands there.
"""

from __future__ import annotations

from itertools import chain

from tscg.prose.filler import ARTICLE_STAYS, NOUNS, PLAIN, ROWS, SERVICES
from tscg.prose.policy import known, words_of
from tscg.prose.sentences import literals, opens, split

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Texts of more characters are no prose and pass untouched; the longest description seen has 6,400.
LONGEST = 10_000
#: Rows of the table that are a rule of their own below: an article goes by what stands beside it.
ARTICLE_ROWS = frozenset(("article", "opening-article"))
ARTICLES = ("the ", "a ", "an ")
#: Marks that may stand behind the last word of a phrase.
MARKS = ".,;:!?)"
BULLETS = frozenset("-*+•")
#: Characters in which a word that matters here ends.
WORD_REACH = 24
_OPENS = frozenset("TtAa")

Phrase = tuple[str, str, bool]  # words, what they are replaced by, whether only at the start of a sentence
#: Part of a phrase, by which many of them are looked for at once, and the phrases.
Signed = tuple[str, tuple[Phrase, ...]]


def densify(text: str, protected: frozenset[str] = frozenset()) -> str:
    """``text`` without filler; ``protected`` are lower-cased names, which no rewrite takes out.

    >>> densify("This tool allows you to list orders in order to check them.")
    'List orders to check them.'
    >>> densify("Never use this tool for payments")
    'Never use this tool for payments'
    """
    if len(text) > LONGEST:
        return text
    pieces = split(text)
    if len(pieces) == 1:  # as below
        low, words, binds = known(text)
        return text if binds else dense(text, low, words, protected)
    said = lead = ""
    for piece in pieces:
        low, words, binds = known(piece)
        if binds:
            said += piece
        elif found := TRIGGERS.intersection(words):
            said += _settled(piece, low, found, protected, lead)
        else:
            said += _bare(piece, first=not lead) if " the " in piece or not lead else piece
        lead = piece
    return said


def dense(text: str, low: str, words: Sequence[str], protected: frozenset[str]) -> str:
    """A text of one sentence that is no policy, without filler; ``low`` and ``words`` are what is ``known`` of it."""
    found = TRIGGERS.intersection(words)
    if found:
        return _settled(text, low, found, protected, "")
    if " the " in low:
        text = _without_articles(text)
    return _opened(text) if text[:1] in _OPENS else text


def _settled(text: str, low: str, found: frozenset[str], protected: frozenset[str], lead: str) -> str:
    """A sentence with the words ``found`` without filler; ``lead`` is the sentence before."""
    hits = _hits(low, found)
    while True:
        said = text
        if hits and len(low) == len(text):
            for phrase in hits:
                if not protected or protected.isdisjoint(phrase[0].split()):
                    said = _without(said, phrase, lead[-1:] == "\n")
        said = _bare(said, first=not lead)
        if said == text:
            return said
        text, low = said, said.lower()
        if hits:  # what is left may be another phrase
            found = TRIGGERS.intersection(words_of(low))
            hits = _hits(low, found)
        else:  # where an article went, others of its words stand side by side
            hits = _hits(low, found)
            if not hits:
                return said


def _bare(text: str, *, first: bool) -> str:
    """A sentence without the articles that it does not need."""
    if " the " in text:
        text = _without_articles(text)
    return _opened(text) if first and text[:1] in _OPENS else text


def _hits(low: str, found: frozenset[str]) -> list[Phrase]:
    """The phrases of the words ``found`` that stand in ``low``, the longest first."""
    hits: list[Phrase] = []
    for word in found:
        for sign, phrases in PHRASES[word]:
            if sign in low:
                hits += [phrase for phrase in phrases if phrase[0] in low]
    if len(hits) > 1:
        hits.sort(key=_longest_first)
    return hits


def _longest_first(phrase: Phrase) -> tuple[int, Phrase]:
    return -len(phrase[0]), phrase


def _without_articles(text: str) -> str:
    """``text`` without the articles between plain words that do not need one."""
    marked = "'" in text or '"' in text or "`" in text or "[" in text or "{" in text or "“" in text
    parts = text.split(" the ")
    said = left = parts[0]
    at = 0
    for right in parts[1:]:
        word = right[:WORD_REACH].split(" ", 1)[0]
        if not (word.isalpha() and word.islower() and word.isascii()):
            word = _plain(word)
        before = left[-1:]
        goes = len(word) > 2 and ("a" <= before <= "z" or before == ",") and word not in ARTICLE_STAYS
        if marked:
            at += len(left) + 5
            goes = goes and not _quoted(text, at)
        said = f"{said} {right}" if goes else f"{said} the {right}"
        left = right
    return said


def _quoted(text: str, at: int) -> bool:
    """Whether the word before ``at`` stands in a quote or bracket."""
    return opens(text[:at]) and any(start < at <= end for start, end in literals(text))


def _plain(text: str) -> str:
    """The word of small letters that ``text`` begins with, which only a mark may follow; else nothing."""
    if not "a" <= text[:1] <= "z":
        return ""
    word = text[:WORD_REACH].split(None, 1)[0].rstrip(MARKS)
    return word if word.isascii() and word.isalpha() and word.islower() else ""


def _opened(text: str) -> str:
    """A text that begins with "The", "A" or "An" and a plain word, without the article."""
    article, _, rest = text.partition(" ")
    if article not in ("The", "the", "A", "a", "An", "an"):
        return text
    word = rest[:WORD_REACH].split(" ", 1)[0]
    if not (word.isalpha() and word.islower() and word.isascii()):
        word = _plain(word)
    if len(word) < 2 or word in ARTICLE_STAYS or word in ("the", "an"):
        return text
    return rest[0].upper() + rest[1:] if word in PLAIN and article[0].isupper() else rest


def _without(text: str, phrase: Phrase, breaks: bool) -> str:
    """``text`` with every use of ``phrase`` replaced where that keeps words, marks and tokens apart.

    ``breaks``: a line ends before ``text``.
    """
    low = text.lower()
    at = low.rfind(phrase[0])
    fixed = literals(text) if at >= 0 else []
    while at >= 0:
        if not any(start <= at < end for start, end in fixed):
            text = _replaced(text, at, phrase, breaks and not at)
        at = low.rfind(phrase[0], 0, at)
    return text


def _replaced(text: str, at: int, phrase: Phrase, breaks: bool) -> str:
    """``text`` with the words at ``at`` replaced, unless they are no whole words, or where it might cost tokens."""
    words, after, opening = phrase
    before, behind = text[:at], text[at + len(words) :]
    breaks = breaks or before.endswith("\n")
    opens = breaks or not before or before.endswith((". ", "! ", "? ")) or _begins_item(before)
    if not (opens or before.endswith(" ")) or (opening and not opens):
        return text
    follows = behind[:1]
    word = _plain(behind[1 : WORD_REACH + 1].lower()) if follows == " " else ""
    capital = text[at].isupper()
    if after:
        lead = after.split(" ", 1)[0]
        if (follows and follows not in " " + MARKS) or (breaks and lead not in PLAIN):
            return text
        if after == "a" and word[:1] in tuple("aeiou"):
            after = "an"
        return before + (after[0].upper() + after[1:] if capital and lead in PLAIN else after) + behind
    comma = words.endswith(",")
    if opens or comma:
        stays = (breaks and word not in PLAIN) or (comma and before.endswith(", "))
        if follows != " " or not behind[1:2].isalpha() or stays:
            return text
        return before + (behind[1].upper() + behind[2:] if capital and word in PLAIN else behind[1:])
    if follows == " ":
        return before + behind[1:]
    return before[:-1] + behind if follows and follows in ".;:!?" else text


def _begins_item(before: str) -> bool:
    """Whether the line that ``before`` ends in is the mark of a list item: "- ", "12. "."""
    line = before[before.rfind("\n") + 1 :]
    if not 2 <= len(line) <= 5 or line[-1] != " ":
        return False
    return line[:-1] in BULLETS or (line[-2] in ".)" and line[:-2].isdecimal())


def _by_word() -> dict[str, tuple[Signed, ...]]:
    """The phrases under a word of each, and there under their signs: that word and what stands behind it."""
    found: dict[str, dict[str, list[Phrase]]] = {
        "this": {f"this {noun}": [(f"this {noun} {service}", "", True) for service in SERVICES] for noun in NOUNS}
    }
    for each, least, before, after, opening, _, _ in ROWS:
        for phrase in before if each not in ARTICLE_ROWS else ():
            words = words_of(phrase)
            word = next(word for word in least.split() if word in words)
            rest = phrase[phrase.index(word) :].split()
            sign = " ".join(rest[:2]) if len(rest) > 1 else phrase
            found.setdefault(word, {}).setdefault(sign, []).append((phrase, after, opening))
    return {word: tuple([(sign, tuple(each)) for sign, each in signs.items()]) for word, signs in found.items()}


PHRASES = _by_word()
#: The words that are looked for first: one of each phrase.
TRIGGERS = frozenset(PHRASES)
#: Every word of a phrase: no other name needs protection.
FILLER = frozenset(" ".join(["this", *NOUNS, *SERVICES, *chain.from_iterable([row[2] for row in ROWS])]).split())
