"""Detail: how much of the prose a profile shows, sentence by sentence.

Every sentence is ranked by ``tscg.prose.classify``; a profile names the ranks that it keeps. Whole sentences stay or
go, in their order; the only cut inside a sentence is the gloss, the first clause of a parameter's first sentence.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from tscg.prose.classify import BARE, SIGNALS, Of, Rank, Sentence, outline, quotes, rank
from tscg.prose.gloss import TELLING, gloss, is_word, spoken, unsaid
from tscg.prose.policy import known, stressed, words_of
from tscg.prose.sentences import split

if TYPE_CHECKING:
    from collections.abc import Mapping


class Keep(NamedTuple):
    """What a profile keeps of the prose of tools, of parameters, and of all else (items, branches, shared types).

    ``news`` is how many words a parameter's first sentence must say that its name and type do not, to be shown at all;
    ``gloss`` the most words of its first clause, 0 for the whole sentence; with it, only a name that is no word has
    one. ``binds``: of policies only those that are one by their own words or by the words of the heading above them.
    """

    tool: tuple[Rank, ...]
    parameter: tuple[Rank, ...]
    other: tuple[Rank, ...]
    news: int = 0
    gloss: int = 0
    binds: bool = False


class Parts(NamedTuple):
    """What a profile can show of a text: ``whole``, if the words of each of ``judged`` tell something, else ``rest``.

    A text of one sentence has no ``rest`` yet: that is the text itself where it turns out to be a policy.
    """

    judged: tuple[tuple[str, ...], ...]
    whole: str
    rest: str | None


#: A text of more characters is no prose that could be told apart: it is shown whole, or its first sentence alone.
LONGEST = 50_000
_NOTHING = Parts((), "", "")
_POLICY = (Rank.POLICY,)
_PURPOSE = (Rank.PURPOSE, Rank.POLICY)
_VALUES = (Rank.PURPOSE, Rank.POLICY, Rank.CONSTRAINT, Rank.HINT)

#: Profiles that hide prose, by name. ``lossless`` and ``conservative`` hide nothing and have no row.
KEEP: Mapping[str, Keep] = {
    "balanced": Keep(tool=_PURPOSE, parameter=_VALUES, other=_VALUES, news=1),
    "brief": Keep(tool=_PURPOSE, parameter=_PURPOSE, other=_POLICY, news=2, gloss=7, binds=True),
    "signature": Keep(tool=(Rank.PURPOSE,), parameter=(), other=()),
}


def select(text: str, of: Of, keep: Keep, *, name: str = "", says: tuple[str, ...] = ()) -> str:
    """The part of ``text`` that ``keep`` shows: sentences in their order, or ``""``.

    ``name`` is the parameter's name and ``says`` what the reader sees beside it (its types, the tool's name).

    >>> select("Delete an order. Cannot be undone. Used by the shop.", "tool", KEEP["balanced"])
    'Delete an order. Cannot be undone.'
    >>> select("Owner of the repository. Never guess.", "parameter", KEEP["brief"], name="owner", says=("repository",))
    'Never guess.'
    """
    return chosen(parts(text, of, keep), of, keep, name, "".join([spoken(each) for each in says]))


def chosen(found: Parts, of: Of, keep: Keep, name: str, said: str) -> str:
    """The parts that are shown beside ``name`` and the names that are ``said``, as ``spoken`` gives them."""
    if found.judged and keep.gloss and is_word(name):
        return found.rest or ""
    for words in found.judged:
        fresh = _beside(words, name, keep.news > 1)
        if len(fresh) < keep.news or (said and len(unsaid(fresh, said, None)) < keep.news):
            if found.rest is None:
                return found.whole if _binds(found.whole, of, keep) else ""
            return found.rest
    return found.whole


@lru_cache(maxsize=2048)
def _beside(words: tuple[str, ...], name: str, strict: bool) -> tuple[str, ...]:
    """What ``words`` say beside a name: many tools have a parameter with the same name and prose."""
    return unsaid(words, spoken(name), strict)


def parts(text: str, of: Of, keep: Keep) -> Parts:
    """What ``keep`` shows of a text, whatever stands beside it.

    Nothing is ranked that cannot be shown: most texts are one sentence, and of most others the first one alone stays.
    """
    ranks = _ranks(of, keep)
    if not (ranks and text):
        return _NOTHING
    if len(text) > LONGEST:
        said = text if Rank.POLICY in ranks else split(text[:LONGEST])[0].rstrip()
        return Parts((), said, said)
    pieces = split(text)
    one = len(pieces) == 1
    if not one and ("\n" in text or text.lower().startswith(BARE)):
        return _of_lines(text, of, keep)
    first = pieces[0]
    if Rank.PURPOSE not in ranks:
        kept = [piece for piece in pieces if _shows(piece, of, keep)]
    else:
        kept = [] if one else [piece for piece in pieces[1:] if _shows(piece, of, keep)]
        if of != "tool" and (keep.gloss or len(first) <= keep.news * TELLING):
            if one and not keep.gloss:
                return Parts((words_of(text.lower()),), text, None)
            if not _binds(first, of, keep):
                whole = text if len(kept) == len(pieces) - 1 else "".join([first, *kept]).rstrip()
                return _judged(first, whole, "".join(kept).rstrip(), keep)
        if one:
            return Parts((), text, text)
        kept = [first, *kept]
    said = text if len(kept) == len(pieces) else "".join(kept).rstrip()
    return Parts((), said, said)


def _shows(piece: str, of: Of, keep: Keep) -> bool:
    """Whether a piece behind the first one is shown."""
    ranks = _ranks(of, keep)
    if Rank.HINT not in ranks:
        return Rank.POLICY in ranks and _binds(piece, of, keep)
    low, words, binds = known(piece)
    if not binds and SIGNALS.keys().isdisjoint(words) and not quotes(low):
        return False
    return rank(piece, 1, of) in ranks


def _binds(piece: str, of: Of, keep: Keep) -> bool:
    return known(piece)[2] and rank(piece, 1, of) is Rank.POLICY and not (keep.binds and stressed(piece))


def _of_lines(text: str, of: Of, keep: Keep) -> Parts:
    """Parts of a text with lines, whose headings hand ranks on, or with a first sentence that is no purpose."""
    ranks = _ranks(of, keep)
    opens = Rank.PURPOSE in ranks
    sentences = outline(text, of)
    shown = [
        each
        for each in sentences
        if (each.opens and opens)
        or (each.rank in ranks and (each.binds or not keep.binds or each.rank is not Rank.POLICY))
    ]
    whole = text if len(shown) == len(sentences) else _join(shown)
    if (
        of == "tool"
        or not shown
        or not shown[0].opens
        or (shown[0].rank is Rank.POLICY and (shown[0].binds or not keep.binds))
    ):
        return Parts((), whole, whole)
    return _judged(shown[0].text, whole, _join(shown[1:]), keep)


def _judged(first: str, whole: str, rest: str, keep: Keep) -> Parts:
    """Parts of a text whose ``first`` sentence is shown only where it tells something."""
    judged = () if len(first) > keep.news * TELLING and not keep.gloss else (known(first)[1],)
    if not keep.gloss:
        return Parts(judged, whole, rest)
    brief = gloss(first, keep.gloss, stop=bool(rest))
    if not brief:
        return Parts((), rest, rest)
    return Parts((*judged, known(brief)[1]), f"{brief} {rest}" if rest else brief, rest)


def hidden(text: str, kept: str) -> tuple[str, ...]:
    """The sentences of ``text`` that do not stand whole in ``kept``, what ``select`` made of it.

    >>> hidden("Delete it. Fast. Cannot be undone.", "Delete it. Cannot be undone.")
    ('Fast.',)
    """
    if text == kept:
        return ()
    missing = []
    at = 0
    for each in outline(text[:LONGEST], "other"):
        said = each.text.strip()
        if kept.startswith(said, at):
            at += len(said)
            while at < len(kept) and kept[at].isspace():
                at += 1
        else:
            missing.append(said)
    return tuple(missing)


def policy_hidden(text: str, of: Of, keep: Keep) -> tuple[str, ...]:
    """The policy sentences of ``text`` that ``keep`` does not show.

    >>> policy_hidden("Delete an order. Cannot be undone.", "tool", KEEP["signature"])
    ('Cannot be undone.',)
    """
    ranks = _ranks(of, keep)
    return tuple(
        each.text.strip()
        for each in outline(text[:LONGEST], of)
        if each.rank is Rank.POLICY and Rank.POLICY not in ranks and not (each.opens and Rank.PURPOSE in ranks)
    )


def _ranks(of: Of, keep: Keep) -> tuple[Rank, ...]:
    return keep.tool if of == "tool" else keep.parameter if of == "parameter" else keep.other


def _join(sentences: list[Sentence]) -> str:
    """The sentences one after the other; what began a line in the text still does, but for the first."""
    said: list[str] = []
    for each in sentences:
        if said and each.starts and not said[-1].endswith("\n"):
            said[-1] = said[-1].rstrip() + "\n"
        said.append(each.text)
    return "".join(said).rstrip()
