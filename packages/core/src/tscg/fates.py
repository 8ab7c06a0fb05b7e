"""What becomes of each sentence of a tool's prose: shown, shortened, or left out; and which sentences are policy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from tscg.ir import Note, Tool
from tscg.operators.detail import LONGEST
from tscg.operators.prose import Site, map_notes, told
from tscg.profiles import Profile
from tscg.prose.classify import Of, Rank, outline
from tscg.record import replace

__all__ = ["Fate", "Said", "fate_of", "said_by"]

SHOWN, SHORT, SOME, LEFT = ".", "r", "~", "x"
"""A sentence is shown word for word; shortened; left out in some places of the tool; left out of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """A state for each sentence of a tool under one profile, what is left out, and how many are shortened."""

    states: str
    left: tuple[str, ...] = ()
    short: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The texts of a tool with their places, its sentences with how often each is said, the policy ones among them."""

    texts: tuple[tuple[Site, str], ...]
    counts: Counter[str]
    policy: frozenset[str]

    @property
    def untold(self) -> Fate:
        """The fate of the sentences where no prose is shown."""
        return Fate(states=LEFT * len(self.counts), left=tuple(self.counts.elements()))

    def policies(self, profile: Profile | None = None) -> Iterator[str]:
        """The policy sentences, in the words of the author or in those that a profile shows."""
        for site, text in self.texts if self.policy else ():
            shown = text if profile is None else told(text, site, profile)
            yield from (sentence for sentence, policy in _outlined(shown, site.of) if policy)


def said_by(tool: Tool) -> Said:
    """The sentences of a tool's prose at every depth. Policy obliges, forbids or warns by its own words.

    >>> from tscg import Catalog
    >>> said = said_by(Catalog.from_tools([{"name": "a", "description": "Deletes it. Ask the user first."}])[0])
    >>> list(said.counts), list(said.policy)
    (['Deletes it.', 'Ask the user first.'], ['Ask the user first.'])
    """
    texts: list[tuple[Site, str]] = []

    def read(note: Note, site: Site) -> Note:
        texts.append((site, note.description))
        return note

    map_notes(tool, read)
    every = [each for site, text in texts for each in _outlined(text, site.of)]
    return Said(
        texts=tuple(texts),
        counts=Counter(sentence for sentence, _ in every),
        policy=frozenset(sentence for sentence, policy in every if policy),
    )


@lru_cache(maxsize=8_192)
def _outlined(text: str, of: Of) -> tuple[tuple[str, bool], ...]:
    """The sentences of a text, each with whether it is policy. Catalogs say the same of many parameters."""
    return tuple([
        (sentence, each.rank is Rank.POLICY and each.binds)
        for each in outline(text[:LONGEST], of)
        if (sentence := each.text.strip())
    ])  # fmt: skip


def fate_of(said: Said, profile: Profile) -> Fate:
    """What a profile makes of the sentences of a tool.

    The detail operator alone says what is left out: it comes first, and SDM and DRO rewrite only what it shows.

    >>> from tscg import Catalog
    >>> from tscg.profiles import PROFILES
    >>> text = "Deletes an order. Ask the user first. Used by the shop."
    >>> said = said_by(Catalog.from_tools([{"name": "a", "description": text}])[0])
    >>> [fate_of(said, PROFILES[name]).states for name in ("lossless", "conservative", "balanced", "signature")]
    ['...', '..r', '..x', '.xx']
    """
    if profile.kept is None and not (profile.sdm or profile.dro):
        return Fate(states=SHOWN * len(said.counts))
    detail = replace(profile, sdm=False, dro=False)
    left: list[str] = []
    short: Counter[str] = Counter()
    for site, text in said.texts:
        sentences = tuple([sentence for sentence, _ in _outlined(text, site.of)])
        kept = told(text, site, detail)
        first = _states(sentences, text, kept)
        later = _states(sentences, text, told(text, site, profile)) if kept else first
        for sentence, state, then in zip(sentences, first, later, strict=True):
            if state == LEFT:
                left.append(sentence)
            elif then != SHOWN:
                short[sentence] += 1
    gone = Counter(left)
    states = [
        LEFT if gone[each] == times else SOME if gone[each] else SHORT if short[each] else SHOWN
        for each, times in said.counts.items()
    ]
    return Fate(states="".join(states), left=tuple(left), short=short.total())


def _states(sentences: tuple[str, ...], text: str, kept: str) -> list[str]:
    """Which sentences of a text stand in ``kept``, in order.

    Of those missing in a row the first is shortened where words stand in their place.

    >>> "".join(_states(("One.", "Very two.", "Three."), "One. Very two. Three.", "Two. Three."))
    'rx.'
    """
    if kept == text:
        return [SHOWN] * len(sentences)
    states = [LEFT] * len(sentences)
    at = gap = 0
    for i, sentence in enumerate(sentences):
        found = _find(kept, sentence, at)
        if found >= 0:
            if gap < i and kept[at:found].strip():
                states[gap] = SHORT
            states[i], gap, at = SHOWN, i + 1, found + len(sentence)
    if gap < len(sentences) and kept[at:].strip():
        states[gap] = SHORT
    return states


def _find(kept: str, sentence: str, at: int) -> int:
    """Where a sentence stands in a text, from ``at`` on, between blanks; else -1."""
    found = kept.find(sentence, at)
    while found >= 0:
        end = found + len(sentence)
        if (found == at or kept[found - 1].isspace()) and (end == len(kept) or kept[end].isspace()):
            return found
        found = kept.find(sentence, found + 1)
    return -1
