"""Tools in the order in which they answer a query: BM25 over the words of their names, parameters and prose."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from tscg.ir import Catalog, Node, Object, Tool, children

__all__ = ["Ranking", "words"]

# What a word counts by where it stands; the server and the description of the tool count 1.
NAME, PARAMETER, PARAMETER_PROSE = 3.0, 1.5, 0.5
K1, B = 1.2, 0.75  # the usual constants of BM25: how fast a repeated word saturates, how much a long text is discounted
DEPTH = 8  # levels of a tool's type tree that are read
NODES = 2_000  # nodes of one level
STOP = frozenset("a an and as at by for from i in is it me my of on or that the this to with".split())
"""Words of a query that tell nothing, where others stand beside them."""
PLURALS = (("sses", "ss"), ("shes", "sh"), ("ches", "ch"), ("xes", "x"), ("ies", "y"))
"""Ends of plurals beside the plain ``s``, and what takes their place."""
CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
UPPER = "A-Z\u00c0-\u00d6\u00d8-\u00de\u0391-\u03a9\u0410-\u042f\u0401"  # Latin, Greek, Cyrillic
LOWER = rf"[^\W\d_{UPPER}{CJK}]"
PIECE = re.compile(rf"[{CJK}]+|[{UPPER}]+s?(?!{LOWER})|[{UPPER}]?{LOWER}+|\d+")
IDEOGRAPH = re.compile(f"[{CJK}]")


def words(text: str) -> list[str]:
    """Words of a text: split at case and separators, lower-case and singular; CJK as pairs of characters.

    >>> words("createIssue for HTTPServers"), words("\u521b\u5efa\u95ee\u9898")
    (['create', 'issue', 'for', 'http', 'server'], ['\u521b\u5efa', '\u5efa\u95ee', '\u95ee\u9898'])
    """
    return [word for piece in PIECE.findall(text) for word in _words(piece)]


@lru_cache(maxsize=1 << 14)
def _words(piece: str) -> tuple[str, ...]:
    if IDEOGRAPH.match(piece):
        return tuple(piece[i : i + 2] for i in range(len(piece) - 1)) or (piece,)
    word = piece.casefold()
    if len(word) > 2 and word[-1] == "s" and word[-2] not in "su":
        word = next((word[: -len(end)] + single for end, single in PLURALS if word.endswith(end)), word[:-1])
    return (word,)


class Ranking:
    """The index of one catalog: for each word, what it adds to the score of each tool that has it.

    >>> tools = (Tool(name="github_create_issue", root=Object()), Tool(name="list_files", root=Object()))
    >>> Ranking(Catalog(tools=tools)).search("create issue")
    ['github_create_issue']
    """

    def __init__(self, catalog: Catalog) -> None:
        self.names = [tool.name for tool in catalog]
        weights = [_weights(tool) for tool in catalog]
        lengths = [sum(found.values()) for found in weights]
        mean = sum(lengths) / len(lengths) if lengths else 1.0
        found: dict[str, list[tuple[int, float]]] = {}
        for at, (weighed, length) in enumerate(zip(weights, lengths, strict=True)):
            damping = K1 * (1 - B + B * length / (mean or 1.0))
            for word, weight in weighed.items():
                found.setdefault(word, []).append((at, weight * (K1 + 1) / (weight + damping)))
        total = len(self.names)
        self.scores = {
            word: [(at, score * _rarity(len(hits), total)) for at, score in hits] for word, hits in found.items()
        }

    def search(self, query: str) -> list[str]:
        """Names of all tools with a word of the query, best first; equal scores by name."""
        asked = dict.fromkeys(words(query))
        scores: dict[int, float] = {}
        for word in [word for word in asked if word not in STOP] or asked:
            for at, score in self.scores.get(word, ()):
                scores[at] = scores.get(at, 0.0) + score
        names = self.names
        return [names[at] for at in sorted(scores, key=lambda at: (-scores[at], names[at]))]


def _rarity(hits: int, total: int) -> float:
    return math.log(1 + (total - hits + 0.5) / (hits + 0.5))


def _weights(tool: Tool) -> dict[str, float]:
    """Words of a tool with what they count together."""
    parameters, prose = _below(tool)
    weighed: dict[str, float] = {}
    for weight, text in (
        (NAME, tool.local_name or tool.name),
        (1.0, f"{tool.server} {tool.description}"),
        (PARAMETER, " ".join(parameters)),
        (PARAMETER_PROSE, " ".join(prose)),
    ):
        for word, times in Counter(words(text)).items():
            weighed[word] = weighed.get(word, 0.0) + weight * times
    return weighed


def _below(tool: Tool) -> tuple[list[str], list[str]]:
    """Names of parameters, and what is said of them, at any depth."""
    names: list[str] = []
    prose: list[str] = []
    level: Sequence[Node] = (tool.root, *(node for _, node in tool.types))
    for _ in range(DEPTH):
        for node in level:
            if node.note is not None and node.note.description:
                prose.append(node.note.description)
            if isinstance(node, Object):
                names += [param.name for param in node.params]
        level = [below for node in level for below in children(node)][:NODES]
        if not level:
            break
    return names, prose
