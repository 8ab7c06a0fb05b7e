"""Tools that the prose of another tool names, and which of the two comes first.

Only a name of two or more words, or one in backquotes, is taken for a tool. A sentence ties two tools only when it says
in which order: "the id from list_x", "call `get_x` first", "before calling delete_x". "Use x instead" ties nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from tscg.ir import Catalog, Node, Tool, children
from tscg.operators.naming import words
from tscg.prose.sentences import split

__all__ = ["mentions"]

_BLANKS = str.maketrans(dict.fromkeys("`\"'()[]{}<>,;!?*“”‘’…\n", " "))
_ENDS = ".:/-"

AFTER = frozenset("from after via requires require following".split())
"""Shortly before a name: that tool comes first."""
GIVEN = frozenset("returned provided given obtained retrieved listed produced created found fetched".split())
"""Shortly before a name, with a preposition: that tool comes first."""
BEFORE = frozenset("before then prior followed precedes".split())
"""Shortly before a name: this tool comes first."""
ELSE = frozenset("instead rather unlike alternative alternatively prefer different differs distinct versus vs".split())
"""A sentence with one of these compares tools and orders none."""

REACH = 3  # words before a name in which a cue counts
DEPTH = 4  # levels of a tool's type tree that are looked at
NODES = 400  # nodes of one such level
TEXT = 4_000  # characters of one text that are looked at
MENTIONS = 16  # names that are followed up in one tool


def mentions(catalog: Catalog) -> Iterator[tuple[int, int, str]]:
    """Pairs of places (before, after) with the reason, in the order of the catalog.

    >>> from tscg.ir import Object
    >>> edit = Tool(name="edit_page", description="Takes the id from list_pages.", root=Object())
    >>> list(mentions(Catalog(tools=(edit, Tool(name="list_pages", root=Object())))))
    [(1, 0, "named in prose: 'the id from list_pages'")]
    """
    places = _places(catalog)
    if not places:
        return
    names = places.keys()
    for place, tool in enumerate(catalog):
        texts = _texts(tool)
        # One look at all words of a tool: most name no other, and the sentences of those are not cut.
        together = f"{' '.join(texts)} ".translate(_BLANKS).replace(". ", " ").replace(": ", " ")
        if names.isdisjoint(together.split()):
            continue
        found = (one for text in texts for one in _ordered(text, places) if one[0] != place)
        for other, first, said in islice(found, MENTIONS):
            pair = (other, place) if first else (place, other)
            yield (*pair, f"named in prose: '{said}'")


def _places(catalog: Catalog) -> Mapping[str, int]:
    """Places by every name that can only mean one tool."""
    found: dict[str, int] = {}
    for place, tool in enumerate(catalog):
        for name in {tool.name, tool.local_name} - {""}:
            found[name] = -1 if name in found and found[name] != place else place
    return {name: place for name, place in found.items() if place >= 0}


def _texts(tool: Tool) -> list[str]:
    """The prose of a tool, its parameters, and what is in them."""
    found = [tool.description[:TEXT]]
    level: Sequence[Node] = (tool.root, *(node for _, node in tool.types))
    for _ in range(DEPTH):
        found += [node.note.description[:TEXT] for node in level if node.note is not None and node.note.description]
        level = [below for node in level for below in children(node)][:NODES]
    return found


def _ordered(text: str, places: Mapping[str, int]) -> Iterable[tuple[int, bool, str]]:
    """Named tools with whether they come first, and the words that say so."""
    for sentence in split(text):
        plain = sentence.translate(_BLANKS).split()
        spoken = [word for each in plain if (word := each.rstrip(_ENDS))]
        low = [word.lower() for word in spoken]
        if not ELSE.isdisjoint(low):
            continue
        for i, word in enumerate(spoken):
            other = places.get(word)
            if other is None or not (len(words(word)) > 1 or f"`{word}`" in sentence):
                continue
            first = _comes_first(low, i)
            if first is not None:
                yield other, first, " ".join(spoken[max(0, i - REACH) : i + 2])


def _comes_first(low: Sequence[str], at: int) -> bool | None:
    """Does the tool at a place of a sentence come before the tool whose prose it is? None where nothing is said."""
    before, after = low[max(0, at - REACH) : at], low[at + 1 : at + 1 + REACH]
    if not BEFORE.isdisjoint(before):
        return False
    if not AFTER.isdisjoint(before) or not GIVEN.isdisjoint(before):
        return True
    if "first" in after or "first" in before or "before" in after or "beforehand" in after:
        return True
    return None
