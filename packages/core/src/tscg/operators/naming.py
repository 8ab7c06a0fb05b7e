"""Names of tools and parameters as words: what a tool does, to what thing, and of what thing a parameter is the key.

Words are lower-cased and singular, whatever case style and separators a name has; common short forms are written out,
so that ``repoId`` and ``list_repositories`` speak of one thing. All knowledge is in the tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from tscg.prose.gloss import words_of

__all__ = ["BARE_KEYS", "LABELS", "MAKING", "Named", "named", "suffixes", "thing_of", "words"]

FINDING = frozenset(
    "list search find query browse lookup get fetch retrieve read show view describe load scan discover "
    "enumerate".split()
)
"""Verbs whose tool gives things that exist."""

MAKING = frozenset(
    "create add new make open register insert start upload generate duplicate copy clone fork import draft book "
    "init".split()
)
"""Verbs whose tool gives a new thing; its key is not needed before."""

USING = frozenset(
    "update delete remove close reopen edit set modify change patch put write save archive restore cancel assign "
    "unassign move rename send submit approve reject merge comment reply respond link unlink enable disable run "
    "rerun execute call trigger stop pause resume return exchange process confirm manage transition resolve lock "
    "unlock mark unmark tag untag grant revoke attach detach share unshare export download publish deploy scale "
    "restart schedule reschedule replace clear append push follow unfollow star unstar pin unpin invite accept "
    "decline transfer pay refund upgrade rollback click".split()
)
"""Verbs whose tool works on a thing that must be known."""

_VERBS = FINDING | MAKING | USING
_JOINTS = frozenset("for by to from in on of with as and or at via into using per within under about".split())
_FILLERS = frozenset("a an the all my new multiple many single one batch bulk api".split())

KEYS = frozenset("id identifier key number num no iid uuid guid slug handle arn name".split())
"""Last words of a parameter that is the key of what the words before it name."""

BARE_KEYS = KEYS - {"name", "key", "handle", "no", "num"}
"""Keys that need no other word: the tool's own thing is meant."""

LABELS = frozenset("name slug handle".split())
"""Keys that a person chooses: a tool that makes a thing asks for the new one's."""

_IDS = frozenset("id identifier uuid guid".split())
_ASPECTS = frozenset("detail info information summary metadata".split())

_COUNTED = frozenset("page line row column phone version port step attempt serial build".split())
"""Things whose number is a count and no key."""

_IRREGULAR = {
    "aliases": "alias", "analyses": "analysis", "caches": "cache", "calories": "calorie", "children": "child",
    "cookies": "cookie", "indices": "index", "matrices": "matrix", "men": "man", "movies": "movie", "news": "news",
    "people": "person", "series": "series", "species": "species", "statuses": "status", "vertices": "vertex",
}  # fmt: skip
_HISSING = ("sses", "xes", "ches", "shes", "zzes")
_WHOLE = ("ss", "us", "is")
_SHORT = {
    "repo": ("repository",), "doc": ("document",), "org": ("organization",), "msg": ("message",), "dir": ("directory",),
    "env": ("environment",), "pr": ("pull", "request"), "mr": ("merge", "request"),
}  # fmt: skip
_LONGEST = 3


class Named(NamedTuple):
    """What a name says: its verb, the thing that it works on (the last word is what kind of thing), does it give
    things."""

    verb: str
    thing: tuple[str, ...]
    gives: bool


def singular(word: str) -> str:
    """The singular of an English word, near enough for one word to have one form.

    >>> [singular(word) for word in ("issues", "branches", "policies", "status", "boxes", "databases")]
    ['issue', 'branch', 'policy', 'status', 'box', 'database']
    """
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 3 or word[-1] != "s" or word.endswith(_WHOLE):
        return word
    if word.endswith("ies"):
        return f"{word[:-3]}y" if len(word) > 4 else word[:-1]
    return word[:-2] if word.endswith(_HISSING) else word[:-1]


@lru_cache(maxsize=32_768)
def words(name: str) -> tuple[str, ...]:
    """The words of a name, singular and with short forms written out.

    >>> words("listPRs"), words("repos/list-for-org"), words("issueIDs")
    (('list', 'pull', 'request'), ('repository', 'list', 'for', 'organization'), ('issue', 'id'))
    """
    plain = name.replace("IDs", "Ids").replace("PRs", "Prs").replace("MRs", "Mrs")
    found: list[str] = []
    for word in words_of(plain):
        one = singular(word)
        found += _SHORT.get(one, (one,))
    return tuple(found)


@lru_cache(maxsize=32_768)
def named(name: str) -> Named:
    """What the name of a tool says.

    >>> named("list_issue_comments"), named("issues.get").thing, named("findUserIdByEmail").thing
    (Named(verb='list', thing=('issue', 'comment'), gives=True), ('issue',), ('user',))
    """
    spoken = words(name)
    at = next((i for i, word in enumerate(spoken) if word in _VERBS), None)
    if at is None:
        return Named("", _phrase(spoken), False)
    verb, after = spoken[at], spoken[at + 1 :]
    thing = _phrase(after)
    if not thing and after and verb in USING:
        thing = _phrase(after[1:])  # comment_on_issue
    thing = thing or _phrase(spoken[:at])  # issues.list
    return Named(verb, thing, bool(thing) and (verb in FINDING or verb in MAKING))


def _phrase(spoken: Sequence[str]) -> tuple[str, ...]:
    """The words up to the first preposition, without articles and the like."""
    found: list[str] = []
    for word in spoken:
        if word in _JOINTS:
            break
        if word not in _FILLERS:
            found.append(word)
    # get_order_details gives the order, find_user_id the user.
    while len(found) > 1 and (found[-1] in _ASPECTS or found[-1] in _IDS):
        found.pop()
    return tuple(found)


def thing_of(spoken: Sequence[str]) -> tuple[str, ...]:
    """The thing of which a parameter, given as words, is the key; empty when it is none.

    >>> thing_of(words("parentIssueId")), thing_of(words("pull_number")), thing_of(words("title"))
    (('parent', 'issue'), ('pull', 'request'), ())
    """
    if len(spoken) < 2 or spoken[-1] not in KEYS:
        return ()
    thing = tuple(word for word in spoken[:-1] if word not in _FILLERS)
    if spoken[-1] in ("number", "no", "num") and thing and thing[-1] in _COUNTED:
        return ()
    return ("pull", "request") if thing == ("pull",) else thing


def suffixes(thing: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """The last words of a thing, the longest first: what it can be called for short.

    >>> suffixes(("pull", "request"))
    (('pull', 'request'), ('request',))
    """
    return tuple(thing[-size:] for size in range(min(_LONGEST, len(thing)), 0, -1))
