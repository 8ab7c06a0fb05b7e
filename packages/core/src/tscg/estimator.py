"""An estimate of tokens by the lengths of words and symbols, where no vocabulary is at hand.

Measured against the true counts over 18 catalogs of real servers (`python benchmarks/costs.py`): minified JSON is off
by -1.6 to +3.2 % in o200k_base and by -0.8 to +5.9 % in cl100k_base, pretty JSON by at most 1.9 %, compiled text by
-4.2 to +3.6 %, prose by -5.0 to +2.6 %. In other encodings and in other languages than English it is rough.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["PIECES", "Estimator", "kind_of"]

# About the pieces that the patterns of o200k_base and cl100k_base cut, in Python's own syntax.
PIECES = (
    r"(?:[^\r\n\w]|_)?[A-Z]*[^\W\d_A-Z]+|(?:[^\r\n\w]|_)?[^\W\d_]+|\d{1,3}| ?(?:[^\s\w]|_)+[\r\n/]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s"
)
# Mean tokens of a piece by its length, measured over the pieces of 18 catalogs (`python benchmarks/costs.py`).
WORD = (0, 1, 1, 1.02, 1.02, 1.02, 1.02, 1.05, 1.06, 1.12, 1.08, 1.03, 1.1, 1.1, 1.3, 2)
AFTER_UNDERSCORE = (0, 1, 1, 1.1, 1.02, 1.06, 1.1, 1.16, 1.4, 1.5, 1.6, 1.9, 1.95, 1.8, 2)
AFTER_SYMBOL = (0, 1, 1.15, 1.13, 1.18, 1.63, 1.35, 1.65, 1.8, 1.8, 1.7, 2.2, 2.1, 2.2, 2.3)
SYMBOLS = (0, 1, 1.01, 1.07, 1.25, 2, 2.8, 2.8, 3.3)
BEYOND = 0.3  # a character beyond the end of a row
ASCII_LETTER = 0.25  # a letter of a word that holds others
# Tokens of a character that takes two bytes, three bytes, four bytes: measured on sentences in nine languages.
WIDE: dict[str, tuple[float, float, float]] = {"o200k_base": (0.3, 0.7, 1.4), "cl100k_base": (0.6, 0.95, 2.6)}
WIDE_ELSEWHERE = (1.0, 2.0, 3.0)


@dataclass(frozen=True, slots=True)
class Estimator:
    """A tokenizer that estimates; `name` is the encoding that it stands for.

    >>> Estimator("o200k_base").count("Lists the open issues of a repository.")
    8
    """

    name: str
    exact: bool = False

    def count(self, text: str) -> int:
        """About the tokens of a text."""
        from collections import Counter

        wide = WIDE.get(self.name.replace("harmony", "base"), WIDE_ELSEWHERE)
        pieces = Counter(re.findall(PIECES, text))
        return round(sum(_cost(piece, wide) * count for piece, count in pieces.items()))


def kind_of(piece: str) -> tuple[str, int]:
    """The kind of a piece, and the length that its tokens depend on.

    >>> kind_of(" issues"), kind_of("_id"), kind_of('":"'), kind_of("\\n  "), kind_of("größe")
    (('word', 6), ('underscore', 2), ('symbols', 3), ('one', 3), ('wide', 5))
    """
    if piece.isspace() or piece[0].isdecimal():
        return "one", len(piece)
    if not piece.isascii():
        return "wide", len(piece)
    if not piece[-1].isalpha():
        return "symbols", len(piece.strip())
    if piece[0].isalpha():
        return "word", len(piece)
    return {" ": "word", "_": "underscore"}.get(piece[0], "symbol"), len(piece) - 1


ROWS = {"word": WORD, "underscore": AFTER_UNDERSCORE, "symbol": AFTER_SYMBOL, "symbols": SYMBOLS}


def _cost(piece: str, wide: tuple[float, float, float]) -> float:
    kind, length = kind_of(piece)
    if kind == "wide":
        return max(1, sum(_character(ord(character), wide) for character in piece))
    row = ROWS.get(kind)
    return 1 if row is None else _at(row, length)


def _character(code: int, wide: tuple[float, float, float]) -> float:
    if code < 0x80:
        return ASCII_LETTER
    return wide[(code >= 0x800) + (code >= 0x10000)]


def _at(row: tuple[float, ...], length: int) -> float:
    return row[length] if length < len(row) else row[-1] + BEYOND * (length + 1 - len(row))
