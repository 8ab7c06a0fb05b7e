"""Lookalikes: tools that a line of names alone does not tell apart.

Two tools are lookalikes when they require the same names and their own names differ by at most one word each way
(``list_issues`` and ``list_branches`` of one repository).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

__all__ = ["lookalikes", "words_of"]

_parts = re.compile(r"[^\W_]+")
_case = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def words_of(name: str) -> frozenset[str]:
    """The words of a name: split at case and separators, in lower case, without a plural ``s``.

    >>> sorted(words_of("listOpen_issues")), sorted(words_of("getHTTPStatus"))
    (['issue', 'list', 'open'], ['get', 'http', 'statu'])
    """
    found = [word.lower() for part in _parts.findall(name) for word in _case.split(part)]
    return frozenset(word.removesuffix("s") or word for word in found)


def lookalikes(tools: Sequence[tuple[str, Iterable[str]]]) -> list[bool]:
    """Whether each tool, given as its name and its required names, has a lookalike among the others.

    Names that differ by at most one word each way share a set of words that is one of them or lacks one of its words,
    so each tool is put under those sets and no pairs are compared.

    >>> lookalikes([("list_issues", "r"), ("list_branches", "r"), ("get_issue", "rn"), ("create_new_label", "r")])
    [True, True, False, False]
    """
    keys = []
    for name, required in tools:
        words, needed = words_of(name), frozenset(required)
        keys.append([(needed, words), *[(needed, words - {word}) for word in words]])
    counts = Counter(key for own in keys for key in own)
    return [any(counts[key] > 1 for key in own) for own in keys]
