"""CFL, constraint first: what binds the model comes before what merely informs it.

Inside an entry the policy sentences (must, never, only, confirm before) come before the rest of the tool's prose;
before the catalog stands the form of the answer, for models whose row asks for it. Class S: sentences move and none is
changed.

A sentence that leans on the one before it ("It cannot be undone.") moves together with it. Nothing moves from the first
list, heading or code fence on: there the layout says what belongs together.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

from tscg.ir import Catalog
from tscg.prose.classify import Rank, ranks
from tscg.prose.sentences import split
from tscg.prose_form import normalise
from tscg.record import replace

if TYPE_CHECKING:
    from tscg.models import ModelRow

__all__ = ["CLASS", "answer_tag", "first", "lead"]

CLASS: Literal["R", "S", "E"] = "S"

#: First words of a sentence that says something only together with the one before it.
LEANING = frozenset(
    "it its they them their these those that such then otherwise also however but so and or nor in doing if both "
    "either neither this here there instead furthermore moreover additionally therefore thus hence again else yet "
    "still".split()
)
#: "This tool must ..." and "If a file exists ..." stand on their own.
_STANDS = re.compile(
    r"(?:this|these) (?:tool|function|operation|method|action|endpoint|api|command|call)s?\b"
    r"|if (?:a|an|the|you|no|any|not)\b|in (?:a|an|the|any|all|order)\b",
    re.IGNORECASE,
)
_ITEM = re.compile(r"(?:[-*+•>]|\d{1,3}[.)]|[a-z][.)]) ")
_LAYOUT = ("#", "```", "|", ">", "<")
_TERMINATORS = (".", "!", "?", "。", "！", "？", ".)", '."', ".'", ".`", ".*", ".**")
_FIRST_WORD = re.compile(r"[^\W_]+")


def first(catalog: Catalog) -> Catalog:
    """The catalog with the policy sentences of each tool's prose in front.

    >>> from tscg.ir import Object, Tool
    >>> drop = Tool(name="drop", description="Drops a table. Never call it twice.", root=Object())
    >>> first(Catalog(tools=(drop,)))[0].description
    'Never call it twice. Drops a table.'
    """
    tools = []
    for tool in catalog:
        said = tool.description and lead(tool.description, ranks(tool.description, "tool"))
        tools.append(tool if said == tool.description else replace(tool, description=said))
    return catalog.replace(tools)


def lead(text: str, found: Sequence[Rank]) -> str:
    """Normalised prose with its policy sentences first; ``found`` are the ranks of the pieces of ``split(text)``.

    The sentences are those of the text, each exactly once; applied again it changes nothing more.

    >>> text = "Deletes a file. It cannot be undone. Fast. Only for admins."
    >>> lead(text, ranks(text, "tool"))
    'Deletes a file. It cannot be undone. Only for admins. Fast.'
    """
    if Rank.POLICY not in found:
        return text
    pieces = split(text)
    movable = _movable(pieces)
    groups = _groups(pieces[:movable])
    binding = [group for group in groups if any(found[place] is Rank.POLICY for place in group)]
    rest = [group for group in groups if not any(found[place] is Rank.POLICY for place in group)]
    if groups[: len(binding)] == binding:
        return text
    order = [place for group in (*binding, *rest) for place in group]
    said = _join(pieces, [*order, *range(movable, len(pieces))])
    return said if normalise(said) == said else text  # lines that would now flow together stay where they are


def answer_tag(row: ModelRow) -> str:
    """The line before the catalog that says the form of the answer, empty for models whose row does not ask for it.

    >>> from tscg.models import row_of
    >>> answer_tag(row_of("claude-opus-4-7")), answer_tag(row_of("gpt-5.2"))
    ('[ANSWER:tool_call]', '')
    """
    return f"[ANSWER:{row.dialect}]" if row.answer_tag else ""


def _movable(pieces: Sequence[str]) -> int:
    """How many pieces stand before the first line that is layout."""
    for place, piece in enumerate(pieces):
        if _starts_line(pieces, place) and (piece.startswith(_LAYOUT) or _ITEM.match(piece)):
            return place
        if piece.endswith("\n") and piece.rstrip().endswith((":", "：")):
            return place
    return len(pieces)


def _groups(pieces: Sequence[str]) -> list[list[int]]:
    """Places of pieces that stay together."""
    groups: list[list[int]] = []
    for place, piece in enumerate(pieces):
        if groups and _leans(piece):
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _leans(piece: str) -> bool:
    word = _FIRST_WORD.search(piece)
    if word is None:
        return True
    if piece[word.start()].islower():  # goes on in the middle of something
        return True
    return word.group().lower() in LEANING and not _STANDS.match(piece, word.start())


def _starts_line(pieces: Sequence[str], place: int) -> bool:
    return place == 0 or pieces[place - 1].endswith("\n")


def _join(pieces: Sequence[str], order: Sequence[int]) -> str:
    """The pieces in another order: what began a line still does, and no title flows together with a sentence."""
    said = ""
    apart = False  # does the piece before end its line?
    for place in order:
        piece = pieces[place].rstrip()
        starts = _starts_line(pieces, place)
        finished = piece.endswith(_TERMINATORS)
        if said:
            said += "\n" if apart or (starts and (place or not finished)) else " "
        said += piece
        apart = not finished
    return said
