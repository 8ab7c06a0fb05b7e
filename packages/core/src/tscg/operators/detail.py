"""Detail: how much of the prose a profile shows, sentence by sentence.

Every sentence is ranked by ``tscg.prose.classify``; a profile names the ranks that it keeps. Whole sentences stay or
go, in their order; the only cut inside a sentence is the gloss, the first clause of a parameter's first sentence.
"""

from __future__ import annotations

from tscg.prose.classify import BARE, SIGNALS, Of, Rank, Sentence, outline, quotes, rank
from tscg.prose.gloss import TELLING, gloss, is_word, says_more, spoken
from tscg.prose.policy import POLICY, POLICY_HEADINGS, known, stressed, words_of
from tscg.prose.sentences import split
from tscg.record import Record

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Keep(Record):
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


class Parts:
    """What a profile can show of a text: ``whole``, if the words of each of ``judged`` tell something, else ``rest``.

    A text of one sentence has no ``rest`` yet: that is the text itself where it turns out to be a policy.
    """

    __slots__ = ("judged", "rest", "whole")

    def __init__(self, judged: tuple[Sequence[str], ...], whole: str, rest: str | None) -> None:
        self.judged, self.whole, self.rest = judged, whole, rest


#: Members of an enumeration are looked up once: each time costs a call.
_OBLIGES, _OPENS, _HINTS = Rank.POLICY, Rank.PURPOSE, Rank.HINT
#: The longest opening that is no purpose.
_BARE_REACH = max(map(len, BARE))
_BARE_STARTS = frozenset([mark for each in BARE for mark in (each[0], each[0].upper())])
_BINDING_WORDS = frozenset(POLICY) | POLICY_HEADINGS
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
    return found.whole if not found.judged or shows_whole(found, keep, name, said) else shortened(found, of, keep)


def shows_whole(found: Parts, keep: Keep, name: str, said: str) -> bool:
    """Whether a text is shown whole beside ``name`` and the names that are ``said``."""
    if not found.judged:
        return True
    if keep.gloss and is_word(name):
        return False
    beside = spoken(name) + said
    for words in found.judged:  # noqa: SIM110 - a generator costs more than the tests
        if not says_more(words, beside, keep.news, strict=keep.news > 1):
            return False
    return True


def shortened(found: Parts, of: Of, keep: Keep) -> str:
    """What is shown of a text whose first sentence tells nothing."""
    if found.rest is None:
        return found.whole if obliges(found.whole, of, keep) else ""
    return found.rest


def parts(text: str, of: Of, keep: Keep) -> Parts:
    """What ``keep`` shows of a text, whatever stands beside it.

    Nothing is ranked that cannot be shown: most texts are one sentence, and of most others the first one alone stays.
    """
    ranks = keep.parameter if of == "parameter" else keep.tool if of == "tool" else keep.other
    if not (ranks and text):
        return _NOTHING
    if len(text) > LONGEST:
        said = text if _OBLIGES in ranks else split(text[:LONGEST])[0].rstrip()
        return Parts((), said, said)
    pieces = split(text)
    behind = len(pieces) - 1
    if behind:
        bare = text[0] in _BARE_STARTS and text[:_BARE_REACH].lower().startswith(BARE)
        if bare or "\n" in text:
            if of == "tool" and ranks == _PURPOSE and not bare and _stands_alone(pieces[0]) and _never_binds(text):
                said = pieces[0].rstrip()
                return Parts((), said, said)
            return _of_lines(text, of, keep)
    if _OPENS not in ranks:
        kept = _shown(pieces, ranks, of, keep)
        said = text if len(kept) == len(pieces) else "".join(kept).rstrip()
        return Parts((), said, said)
    if not behind:
        if of == "tool" or not (keep.gloss or len(text) <= keep.news * TELLING):
            return Parts((), text, text)
        if not keep.gloss:
            return Parts((known(text)[1],), text, None)
        return Parts((), text, text) if obliges(text, of, keep) else _judged(text, text, "", keep)
    first = pieces[0]
    kept = _shown(pieces[1:], ranks, of, keep)
    if rest := "".join(kept).rstrip() if kept else "":
        said = first
        whole = text if len(kept) == behind else f"{first}{rest}"
    else:
        said = first.rstrip()  # as it is shown: what is known of it is asked for again
        whole = text if len(kept) == behind else said
    if of != "tool" and (keep.gloss or len(first) <= keep.news * TELLING):
        _, words, binds = known(said)
        if not (binds and obliges(said, of, keep)):
            return _judged(said, whole, rest, keep) if keep.gloss else Parts((words,), whole, rest)
    return Parts((), whole, whole)


def _shown(pieces: Sequence[str], ranks: tuple[Rank, ...], of: Of, keep: Keep) -> list[str]:
    """Those of the pieces behind the first one that are shown."""
    if _HINTS not in ranks:
        if _OBLIGES not in ranks or _never_binds("".join(pieces)):
            return []
        return [piece for piece in pieces if obliges(piece, of, keep)]
    kept = []
    signals = SIGNALS
    for piece in pieces:
        low, words, binds = known(piece)
        if (binds or not signals.isdisjoint(words) or quotes(low)) and rank(piece, 1, of) in ranks:
            kept.append(piece)
    return kept


def _never_binds(text: str) -> bool:
    """Whether a text, be it with lines, has no word of policy: then none of its sentences is looked at by itself."""
    return text.isascii() and _BINDING_WORDS.isdisjoint(words_of(text.lower().replace("_", " ")))


def _stands_alone(piece: str) -> bool:
    """Whether the first piece of a text with lines is at a glance its first sentence: no title, not broken by hand."""
    return piece[0] not in "#>" and (piece[-1] != "\n" or piece.rstrip().endswith((".", "!", "?")))


def obliges(piece: str, of: Of, keep: Keep) -> bool:
    """Whether a sentence is a policy that ``keep`` shows as one."""
    return known(piece)[2] and rank(piece, 1, of) is _OBLIGES and not (keep.binds and stressed(piece))


def _of_lines(text: str, of: Of, keep: Keep) -> Parts:
    """Parts of a text with lines, whose headings hand ranks on, or with a first sentence that is no purpose."""
    ranks = _ranks(of, keep)
    opens, strict, policy = _OPENS in ranks, keep.binds, _OBLIGES
    sentences = outline(text, of)
    shown = [
        each
        for each in sentences
        if (each.opens and opens) or (each.rank in ranks and (not strict or each.binds or each.rank is not policy))
    ]
    whole = text if len(shown) == len(sentences) else _join(shown)
    if of == "tool" or not shown or not shown[0].opens or (shown[0].rank is policy and (shown[0].binds or not strict)):
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
