"""The catalog language: emitter, parser, and the spelling of one tool (grammar in docs/language.md)."""

from __future__ import annotations

from tscg.costs import costs_of
from tscg.ir import Catalog, Tool
from tscg.language.emit import Emitted, emit, emit_tool
from tscg.language.spelling import DEFAULT, Spelling, spelling_of

__all__ = ["LANGUAGE_VERSION", "Emitted", "Spelling", "decompile", "emit", "emit_tool", "signature", "spelling_of"]

LANGUAGE_VERSION = "1"


def decompile(text: str) -> Catalog:
    """See :func:`tscg.decompile`."""
    from tscg.language.parse import decompile

    return decompile(text)


def signature(tool: Tool) -> str:
    """A tool in one line of the language without any prose: name, parameters, types, bounds, defaults.

    >>> from tscg import Catalog
    >>> properties = {"q": {"type": "string", "description": "Query"}, "n": {"type": "integer"}}
    >>> schema = {"type": "object", "properties": properties, "required": ["q"]}
    >>> signature(Catalog.from_tools([{"name": "find", "description": "Find.", "parameters": schema}])[0])
    'find(q n?:int)'
    """
    from tscg.operators.prose import without_prose

    # Without a shared block: a definition would need a line of its own.
    return emit(Catalog(tools=(without_prose(tool),)), DEFAULT, costs_of("o200k_base"), sharing=False).entries[0]
