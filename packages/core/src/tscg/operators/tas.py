"""TAS, tokenizer-aligned spelling: each delimiter of the language in the spelling that takes the fewest tokens.

A delimiter alone says nothing, for tokens merge across it. So every combination of admissible spellings was counted in
context on a corpus, for each encoding, and the best one is a row of a table; ``python -m benchmarks.spelling`` counts
again. Class R: the default spelling is among the candidates, so the chosen one takes no more tokens on that corpus.
"""

from __future__ import annotations

from typing import Literal

from tscg.language.spelling import Spelling, spelling_of

__all__ = ["CLASS", "spelling"]

CLASS: Literal["R", "S", "E"] = "R"


def spelling(encoding: str) -> Spelling:
    """The spelling for an encoding; one without a row takes that of o200k_base.

    >>> spelling("o200k_base") == spelling("an encoding without a row")
    True
    """
    return spelling_of(encoding)
