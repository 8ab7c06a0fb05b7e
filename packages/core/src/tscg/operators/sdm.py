"""SDM, semantic density: takes filler out of English prose and keeps every semantic atom.

Class R. A rewrite takes out whole words together with their blank and puts in only words of one token, so the number of
tokens never grows. Policy sentences, quotes, code, brackets and names stay as they are.

It runs over all the prose of a catalog, so a text is cut into words once, and no pattern is tried unless a word of it
stands there.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import chain, pairwise

from tscg.prose.filler import ARTICLE_STAYS, NOUNS, PLAIN, ROWS, SERVICES
from tscg.prose.policy import known, words_of
from tscg.prose.sentences import literals, opens, split

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
#: What stands in a text wherever a phrase does: its only word, or its last two.
Sign = str | tuple[str, ...]


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
        if binds:
            return text
        if TRIGGERS.isdisjoint(words):
            if " the " in low or low.startswith(ARTICLES):
                return _bare(text, first=True)
            return text
        return _settled(text, low, words, protected, "")
    said = lead = ""
    for piece in pieces:
        low, words, binds = known(piece)
        if binds:
            said += piece
        elif TRIGGERS.isdisjoint(words):
            said += _bare(piece, first=not lead) if " the " in low or not lead else piece
        else:
            said += _settled(piece, low, words, protected, lead)
        lead = piece
    return said


def _settled(text: str, low: str, words: tuple[str, ...], protected: frozenset[str], lead: str) -> str:
    """A sentence without filler; ``lead`` is the sentence before."""
    signs = SIGNS.intersection((*words, *pairwise(words)))
    # Where an article goes, others of its words stand side by side.
    goes_on = bool(signs) or ("the" in words and not SIGNS.isdisjoint(pairwise([*filter("the".__ne__, words)])))
    while True:
        said = text
        if signs and len(low) == len(text):
            for phrase in _hits(low, signs):
                if not protected or protected.isdisjoint(phrase[0].split()):
                    said = _without(said, phrase, lead[-1:] == "\n")
        said = _bare(said, first=not lead)
        if not goes_on or said == text:
            return said
        text, low = said, said.lower()
        words = words_of(low)  # what is left may be a phrase
        signs = SIGNS.intersection((*words, *pairwise(words)))


def _bare(text: str, *, first: bool) -> str:
    """A sentence without the articles that it does not need."""
    if " the " in text:
        text = _without_articles(text)
    return _opened(text) if first and text[:1] in _OPENS else text


def _hits(low: str, signs: frozenset[Sign]) -> list[Phrase]:
    """The phrases that stand in ``low``, the longest first."""
    hits = [phrase for sign in signs for phrase in PHRASES[sign] if phrase[0] in low]
    if len(hits) > 1:
        hits.sort(key=_longest_first)
    return hits


def _longest_first(phrase: Phrase) -> tuple[int, Phrase]:
    return -len(phrase[0]), phrase


def _without_articles(text: str) -> str:
    """``text`` without the articles between plain words that do not need one."""
    marked: bool | None = None
    parts = text.split(" the ")
    said = left = parts[0]
    at = 0
    for right in parts[1:]:
        at += len(left) + 5
        before = left[-1:]
        left = right
        word = _plain(right[:WORD_REACH].split(" ", 1)[0])
        if len(word) > 2 and word not in ARTICLE_STAYS and ("a" <= before <= "z" or before == ","):
            if marked is None:
                marked = "'" in text or '"' in text or "`" in text or "[" in text or "{" in text or "“" in text
            if not marked or not opens(text[:at]) or not any(start < at <= end for start, end in literals(text)):
                said = f"{said} {right}"
                continue
        said = f"{said} the {right}"
    return said


@lru_cache(maxsize=2048)
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
    word = _plain(rest[:WORD_REACH].split(" ", 1)[0])
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


def _by_sign() -> dict[Sign, list[Phrase]]:
    """The phrases under their signs."""
    found: dict[Sign, list[Phrase]] = {
        ("this", noun): [(f"this {noun} {service}", "", True) for service in SERVICES] for noun in NOUNS
    }
    for each, _, before, after, opening, _, _ in ROWS:
        if each not in ARTICLE_ROWS:
            for phrase in before:
                words = phrase.replace(",", " ").replace("-", " ").split()
                sign = words[0] if len(words) == 1 else (words[-2], words[-1])
                found.setdefault(sign, []).append((phrase, after, opening))
    return found


PHRASES = _by_sign()
SIGNS = frozenset(PHRASES)
#: The words that are looked for first: one of each phrase.
TRIGGERS = frozenset(" ".join(["this", *[row[1] for row in ROWS if row[0] not in ARTICLE_ROWS]]).split())
#: Every word of a phrase: no other name needs protection.
FILLER = frozenset(" ".join(["this", *NOUNS, *SERVICES, *chain.from_iterable([row[2] for row in ROWS])]).split())
