"""Wire names: one spelling of a tool's name that every provider takes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = ["LIMIT", "wire_names"]

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


def _hashed(name: str, text: str) -> str:
    return f"{text[: LIMIT - SUFFIX - 1]}_{_hash(name)}"


def wire_names(names: Iterable[str]) -> Mapping[str, str]:
    """The wire name of each name that is not legal itself; stable whatever else is in the catalog, but for collisions.

    >>> dict(wire_names(["get_user", "admin.tools.list"]))
    {'admin.tools.list': 'admin_tools_list'}
    """
    given = list(names)
    legal = {name for name in given if _legal(name)}
    wanted = {name: _clean(name) for name in given if name not in legal}
    claims: dict[str, int] = {}
    for text in wanted.values():
        claims[text[:LIMIT]] = claims.get(text[:LIMIT], 0) + 1
    out: dict[str, str] = {}
    for name, text in wanted.items():
        cut = len(text) > LIMIT or not any(c.isalpha() for c in text)
        out[name] = _hashed(name, text) if cut or text in legal or claims[text[:LIMIT]] > 1 else text
    return out
