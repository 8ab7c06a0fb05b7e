"""Text mode: how to call, then the catalog block, in one prompt."""

from __future__ import annotations

from collections.abc import Sequence

from tscg.language.spelling import ADDED

__all__ = ["LEGEND", "SHARED", "block_of", "prompt"]

LEGEND = "A tool a line, its parameters in brackets or on lines with a dot: ? optional, = default."
SHARED = "Parameters, @types and ^notes under `shared` are defined there once."
REPLACES = f"What stands below {ADDED} is newer and replaces lines of the same name above it."
OPEN, CLOSE = "<tools>", "</tools>"


def prompt(before: Sequence[str], parts: Sequence[str], behind: Sequence[str], *, shares: bool, adds: bool) -> str:
    """The whole prompt: what stands before (how to call), the legend, the block, and what stands behind it.

    ``parts`` are those of the catalog's text; ``shares`` and ``adds`` say what the legend must tell of it.
    """
    legend = f"{LEGEND} {SHARED}" if shares else LEGEND
    return "\n".join([*before, legend, OPEN, *parts, CLOSE, *([REPLACES] if adds else []), *behind])


def block_of(text: str) -> str:
    """The catalog's text in a whole prompt; any other text as it is, without a line break at its end.

    >>> block_of("How to call.\\n<tools>\\nping()\\n</tools>\\n"), block_of("ping()\\n")
    ('ping()', 'ping()')
    """
    start = text.find(f"\n{OPEN}\n")
    end = text.rfind(f"\n{CLOSE}")
    if 0 <= start < end:
        return text[start + len(OPEN) + 2 : end]
    return text.removesuffix("\n")
