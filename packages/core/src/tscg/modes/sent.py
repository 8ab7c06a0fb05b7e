"""What a mode sends, and what the way back must know of it."""

from __future__ import annotations

from collections.abc import Mapping

from tscg.language.emit import Emitted
from tscg.record import Record

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Sent"]

NONE: Mapping[str, Any] = {}


class Sent(Record):
    """Texts and wire tools of one mode.

    ``prompt`` goes into the system message, ``text`` is its part that holds the catalog, unless ``emitted`` has that
    in its parts. ``wire`` are neutral tools; ``native`` names the tools that have one of their own. ``entries`` holds
    what reaches the model of each other tool, by original name, unless ``emitted`` does. ``call_tool``, ``lookup_tool``
    and ``run_tool`` are the wire names of the dispatcher, of the lookup and of the program; ``groups`` maps the wire
    name of a namespace to its operations and their tools. ``codes`` maps tools to codes, ``retired`` holds codes of
    tools that are gone. ``notes`` are those accepted by tool, ``refused`` those that were not, with the reason.
    ``details`` says, by tool, which rung of the map its line stands on. ``lookalikes`` counts map lines that another
    one differs from by a word of the name alone.
    """

    prompt: str = ""
    text: str = ""
    emitted: Emitted | None = None
    wire: tuple[dict[str, Any], ...] = ()
    entries: Mapping[str, str] = NONE
    native: frozenset[str] = frozenset()
    call_tool: str = ""
    lookup_tool: str = ""
    run_tool: str = ""
    groups: Mapping[str, Mapping[str, str]] = NONE
    codes: Mapping[str, str] = NONE
    retired: frozenset[str] = frozenset()
    notes: Mapping[str, str] = NONE
    refused: Mapping[str, str] = NONE
    details: Mapping[str, str] = NONE
    lookalikes: int = 0
    warnings: tuple[str, ...] = ()
