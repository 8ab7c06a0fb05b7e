"""Descriptions that are longer than a provider takes: the rest goes on in the prompt, nothing is cut."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tscg.language.spelling import name as spelled

__all__ = ["continued"]

MORE = "(more in the system message)"
HEAD = "Descriptions of tools, continued:"
SHORTEST = 64  # characters that a description keeps at least, where a limit is very low


def continued(wire: Iterable[dict[str, Any]], limit: int) -> tuple[tuple[dict[str, Any], ...], str]:
    """Wire tools whose descriptions have ``limit`` characters at most, and the text for the prompt that holds the rest.

    The text is empty where nothing is too long. A tool's rest begins a line with its wire name, its further lines begin
    with a blank, so that no text can begin the rest of another tool.

    >>> tool = {"name": "a", "description": "First line.\\n" + "word " * 40, "parameters": {}}
    >>> tools, prompt = continued([tool], 100)
    >>> tools[0]["description"], prompt.split("\\n")[1][:12]
    ('First line.\\n(more in the system message)', 'a: word word')
    """
    out, rests = [], []
    for tool in wire:
        said = tool["description"]
        if len(said) <= limit:
            out.append(tool)
            continue
        at = _break(said, max(limit - len(MORE) - 1, SHORTEST))
        kept, rest = said[:at].rstrip(), said[at:].strip()
        out.append({**tool, "description": f"{kept}\n{MORE}"})
        lines = "\n ".join(line for line in rest.splitlines() if line.strip())
        rests.append(f"{spelled(tool['name'])}: {lines}")
    return tuple(out), "\n".join([HEAD, *rests]) if rests else ""


def _break(text: str, most: int) -> int:
    """Where a text is broken: behind the last line, else sentence, else word that fits."""
    for mark, kept in (("\n", 0), (". ", 1), (" ", 0)):
        at = text.rfind(mark, 1, most + 1)
        if at > 0:
            return at + kept
    return most
