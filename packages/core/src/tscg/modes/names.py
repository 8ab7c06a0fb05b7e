"""Wire names: one spelling of a tool's name that every provider takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = ["LIMIT", "stamp", "wire_names"]

LIMIT = 64  # characters: the smallest limit of the providers
SUFFIX = 6  # base-32 characters of a hash of the original name
_legal = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z").match
_run = re.compile(r"[^A-Za-z0-9_-]+")
_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"


def _hash(name: str) -> str:
    import hashlib

    number = int.from_bytes(hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()[:8], "big")
    return "".join(_LETTERS[number >> 5 * i & 31] for i in range(SUFFIX))


def _clean(name: str) -> str:
    text = _run.sub("_", name)
    return f"_{text}" if text[:1].isdigit() or text[:1] == "-" else text


def stamp(name: str, text: str) -> str:
    """A spelling made unique by a hash of the name that it stands for."""
    return f"{text[: LIMIT - SUFFIX - 1]}_{_hash(name)}"


def wire_names(names: Iterable[str], kept: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """The wire name of each name that is not legal itself; stable whatever else is in the catalog, but for collisions.

    ``kept`` holds the wire names given out before, by name, also those of tools that are gone: they stay.

    >>> dict(wire_names(["get_user", "admin.tools.list"]))
    {'admin.tools.list': 'admin_tools_list'}
    >>> dict(wire_names(["a.b", "a_b"], kept={"a.b": "a_b"}))
    {'a.b': 'a_b', 'a_b': 'a_b_637p4n'}
    """
    kept = kept or {}
    taken = set(kept.values())
    given = [name for name in names if name not in kept] if kept else [*names]
    legal = set(filter(_legal, given))
    if len(legal) == len(given) and not kept:
        return {}
    cleaned = {name: _clean(name) for name in given if name not in legal}
    claims: dict[str, int] = {}
    for text in cleaned.values():
        claims[text[:LIMIT]] = claims.get(text[:LIMIT], 0) + 1
    out = {name: wire for name, wire in kept.items() if name != wire}
    out |= {name: stamp(name, name) for name in legal if name in taken}
    for name, text in cleaned.items():
        cut = len(text) > LIMIT or not any(c.isalpha() for c in text)
        clash = text in legal or text in taken or claims[text[:LIMIT]] > 1
        out[name] = stamp(name, text) if cut or clash else text
    return out
