"""The short gloss of a parameter: whether its prose says more than its name, and the first clause of what it says."""

from __future__ import annotations

from functools import cache, lru_cache

from tscg.prose.policy import words_of as words_in

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    import re
    from collections.abc import Sequence

#: A sentence of more characters for each word of news that is asked for tells something; it is not looked at.
TELLING = 60
#: A first clause is looked for among so many characters.
LONGEST = 1_000
#: Words of fewer characters are no shortened form of another.
SHORT = 3
#: Words that say nothing about a parameter that its place among the parameters does not.
EMPTY_WORDS = frozenset(
    "a an the this that these those its it of for to in on at by with from as and or be is are was which who "
    "whose you your any each all one when will can should whether if used use using given specified specific "
    "provided desired particular certain optional required parameter param argument arg field property value "
    "values input object type data set get name names named id ids identifier identifiers unique number numbers "
    "string text list array integer boolean item items entry entries e.g i.e eg ie etc such like via per into".split()
)
#: More words of the kind for the first clause, where only what a reader could not guess counts.
VAGUE_WORDS = frozenset(
    "return returned returns include included including filter filters filtering retrieve retrieved fetch query "
    "request response result results show display displayed want wanted create created creating update updated "
    "updating delete deleted deleting add added new existing current associated related corresponding containing "
    "contains contain belongs located default enabled enable true false perform operation operations handle slug "
    "only search specify specifies indicates determines defines represents content contents account user users "
    "numeric".split()
)
_VAGUE = EMPTY_WORDS | VAGUE_WORDS
VOWELS = frozenset("aeiouy")
#: Words of one or two letters, or without a vowel, that need no gloss.
SHORT_WORDS = frozenset(
    "id ids to by of in on or is no up at as db ip os ui url html css xml pdf csv http md mcp key".split()
)
_ENDINGS = {"s": ("'s", "ies", "es", "s"), "g": ("ing",), "d": ("ed",)}
_CAMEL = {ord(letter): f" {letter.lower()}" for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"} | {ord("_"): " "}
#: Words before which a long clause may be cut.
_JOINTS = frozenset(
    "to in for of when that which where from by with on at using as into via whose if and or while".split()
)
#: A clause that goes on with one of these would say something else when cut.
_TURNS = frozenset("unless except without not but instead rather otherwise never no excluding other than if".split())


def tells(sentence: str, name: str, says: tuple[str, ...], news: int) -> bool:
    """Whether ``sentence`` says at least ``news`` words that ``name`` and ``says`` do not.

    >>> tells("The owner of the repository.", "owner", ("repository",), 1), tells("Git ref to compare.", "base", (), 2)
    (False, True)
    """
    said = "".join([spoken(each) for each in (name, *says)])
    words = words_in(sentence.lower())
    return len(sentence) > news * TELLING or says_more(words, said, news, strict=news > 1)


def says_more(words: Sequence[str], said: str, news: int, *, strict: bool) -> bool:
    """Whether ``words`` hold at least ``news`` stems that say something and are not among the ``said`` (``spoken``) ones.

    >>> says_more(("owner", "of", "the", "repository"), " owner", 1, strict=False)
    True
    """
    empty = _VAGUE if strict else EMPTY_WORDS
    names = said.split()
    found: tuple[str, ...] = ()
    for word in words:
        if word in empty or word in names:
            continue
        if word[-1] in "sgd":
            word = _stem(word)  # noqa: PLW2901 - a word is what it stems from
            if word in empty:
                continue
        if (f" {word[:SHORT]}" not in said or not _explained(word, said)) and word not in found:
            if len(found) + 1 >= news:
                return True
            found = (*found, word)
    return len(found) >= news


def fresh(words: Sequence[str], said: str) -> str:
    """What the first of ``words`` that says something, and is not among the ``said`` ones, begins with, behind a blank.

    >>> fresh(("owner", "of", "the", "repository"), " owner"), fresh(("the", "owner"), " owner")
    (' rep', '')
    """
    empty = EMPTY_WORDS
    for word in words:
        if word in empty or (word in said and word in said.split()):  # few are left
            continue
        if word[-1] in "sgd":
            word = _stem(word)  # noqa: PLW2901 - a word is what it stems from
            if word in empty:
                continue
        start = f" {word[:SHORT]}"
        if start not in said or not _explained(word, said):
            return start
    return ""


def _explained(stem: str, said: str) -> bool:
    """Whether ``stem`` and a word that is ``said`` are one word, one of them perhaps shortened ("repo", "repository")."""
    if f" {stem} " in f"{said} ":
        return True
    if len(stem) < SHORT:
        return False
    if stem[-1] == "y":
        stem = stem[:-1]  # "repository" of "repositories"
    if f" {stem}" in said:
        return True
    for each in said.split():  # noqa: SIM110 - a generator costs more than the tests
        if len(each) >= SHORT and stem.startswith(each):
            return True
    return False


@lru_cache(maxsize=2048)
def spoken(name: str) -> str:
    """The words of a name with a blank before each.

    >>> spoken("pullRequest_number")
    ' pull request number'
    """
    if name.islower() and name.isidentifier():
        said = f" {name.replace('_', ' ')}"
        if "  " not in said and said[-1] != " ":
            return said
    return "".join([f" {word}" for word in words_of(name)])


@cache
def _lead() -> re.Pattern[str]:
    """What stands before the first clause: a bracket on its necessity, an article."""
    import re

    return re.compile(
        r"(?:\((?:optional|required)\)|optional[:.,]|required[:.,])\s*|(?:the|an?)\s+(?=\S)", re.IGNORECASE
    )


@cache
def _clause() -> re.Pattern[str]:
    """Where a first clause ends for good."""
    import re

    return re.compile(r"[,;:](?=\s)|\s[(\[{]|[.!?。](?:\s|$)| [-–—] |\n| (?:e\.g|i\.e)\b")


def gloss(sentence: str, most: int, *, stop: bool = False) -> str:
    """The first clause of ``sentence``, at most ``most`` words, or ``""`` where a cut would change what it says.

    >>> gloss("The branch to merge into, which must exist", 8)
    'branch to merge into'
    >>> gloss("Delete all, unless kept", 8)
    ''
    """
    said = sentence[:LONGEST].strip()
    while lead := _lead().match(said):
        said = said[lead.end() :]
    end = _clause().search(said)
    clause, rest = (said[: end.start()], said[end.end() :]) if end else (said, "")
    words = clause.split()
    if rest and (following := rest.split(None, 1)) and following[0].lower() in _TURNS:
        return ""
    if len(words) > most:
        joint = next((place for place in range(most, 1, -1) if words[place].lower() in _JOINTS), 0)
        if not joint or not _TURNS.isdisjoint(word.lower() for word in words[joint:]):
            return ""
        words = words[:joint]
    short = " ".join(words).rstrip(".!?:;,")
    if any(short.count(mark) % 2 for mark in '`"*'):
        return ""
    return f"{short}." if short and stop else short


@lru_cache(maxsize=2048)
def is_word(name: str) -> bool:
    """Whether a name has a word that a reader knows: one of more than two letters, a vowel among them, or a common one.

    >>> is_word("pullNumber"), is_word("q"), is_word("cql_query")
    (True, False, True)
    """
    return any([(len(part) > 2 and not VOWELS.isdisjoint(part)) or part in SHORT_WORDS for part in words_of(name)])  # noqa: C419


def words_of(name: str) -> tuple[str, ...]:
    """The lower-cased words of an identifier in any case style.

    >>> words_of("pullRequest_number"), words_of("HTMLUrl")
    (('pull', 'request', 'number'), ('html', 'url'))
    """
    if name.isidentifier():
        if name.islower():
            return tuple([word for word in name.split("_") if word])
        words = name.translate(_CAMEL).split() if name.isascii() else [""]
        if words and min(map(len, words)) > 1:  # no row of capitals
            return tuple(words)
    parts = [""]
    before = ""
    for at, char in enumerate(name):
        if "A" <= char <= "Z" and (
            _ends_word(before) or ("A" <= before <= "Z" and "a" <= name[at + 1 : at + 2] <= "z")
        ):
            parts.append("")
        before = char
        parts[-1] += char
    low = " ".join(parts).lower()
    return tuple("".join([char if char.isalnum() else " " for char in low]).split())


def _ends_word(char: str) -> bool:
    return "a" <= char <= "z" or "0" <= char <= "9"


def _stem(word: str) -> str:
    """A crude stem: enough to see that "owners" and "owner", "filtering" and "filter" are one word."""
    for end in _ENDINGS[word[-1]]:
        if word.endswith(end) and len(word) - len(end) > 2:
            return word[: -len(end)] + ("y" if end == "ies" else "")
    return word
