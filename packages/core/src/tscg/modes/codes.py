"""Codes: short handles of tools, one token each as long as there are such, kept in a book that only grows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256

from tscg.errors import ConfigError

__all__ = ["RESERVED", "grown"]

RESERVED = frozenset({
    "args", "arguments", "call", "code", "function", "input", "lookup", "name", "op", "params", "query", "tool",
    "tools",
})  # fmt: skip
"""Words of the dispatcher itself."""


def grown(book: Mapping[str, str] | None, names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """The book of codes by tool name, with new tools added: what is in it is never changed and never given again.

    ``taken`` are names that no code may equal. A code is drawn from the hash of the name; where it is taken, the next
    free one is. New tools are drawn in the order of their names, so the order given does not matter. Behind the words
    of one token come words with a number, of two.

    >>> book = grown(None, ["list_issues"], [])
    >>> grown(book, ["get_issue", "list_issues"], [])["list_issues"] == book["list_issues"]
    True
    """
    from tscg.modes.code_words import CODE_WORDS

    kept = dict(book or {})
    used = set(kept.values())
    if len(used) < len(kept):
        raise ConfigError("the book of codes has one code twice", hint="give the `codes` of one earlier compilation")
    if "" in used:
        raise ConfigError("the book of codes holds an empty code", hint="give the `codes` of one earlier compilation")
    barred = used | {name.lower() for name in taken} | RESERVED
    left = len(set(CODE_WORDS) - barred)
    for name in sorted(set(names) - kept.keys()):
        number = int.from_bytes(sha256(name.encode("utf-8", "surrogatepass")).digest()[:8], "big")
        code = _one(CODE_WORDS, number, barred) if left else _two(CODE_WORDS, number, barred)
        left -= bool(left)
        kept[name] = code
        barred.add(code)
    return kept


def _one(words: Sequence[str], number: int, barred: set[str]) -> str:
    """The first free word from a place on; there is one."""
    place = number % len(words)
    while words[place] in barred:
        place = (place + 1) % len(words)
    return words[place]


def _two(words: Sequence[str], number: int, barred: set[str]) -> str:
    """A word with a number below 1,000, which is one token; with a longer one when all of those are gone."""
    word, limit = words[number % len(words)], 1_000
    digits = number // len(words) % limit
    for step in range(limit):
        code = f"{word}{(digits + step) % limit}"
        if code not in barred:
            return code
    while f"{word}{limit}" in barred:
        limit += 1
    return f"{word}{limit}"
