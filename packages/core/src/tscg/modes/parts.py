"""What a mode is given to work on."""

from __future__ import annotations

from collections.abc import Mapping

from tscg.costs import Costs
from tscg.ir import Catalog
from tscg.language.spelling import Spelling
from tscg.record import Record

__all__ = ["Parts"]


class Parts(Record):
    """The tools of one compilation as the modes with a dispatcher or a program need them.

    ``tools`` are the originals in the order shown, ``shown`` the same with the prose that the profile keeps; pinned
    tools are in neither, and ``taken`` holds the wire names of those. ``notes`` are as given; ``codes``
    and ``pair`` (the names of dispatcher and lookup) are those of an earlier compilation that this one goes on from.
    """

    tools: Catalog
    shown: Catalog
    spelling: Spelling
    costs: Costs
    taken: frozenset[str] = frozenset()
    notes: Mapping[str, object] | None = None
    codes: Mapping[str, str] | None = None
    pair: tuple[str, str] | None = None
    must_call: bool = False
    parallel: bool = True
