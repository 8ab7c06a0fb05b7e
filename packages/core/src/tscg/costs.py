"""Cost tables: about how many tokens a text takes, without a vocabulary.

Choices that must not depend on what is installed (sharing, an entry passed through) take these tables; whoever counts
tokens for a person takes a :mod:`tscg.tokenizers` tokenizer.
"""

from __future__ import annotations

from tscg.record import Record

__all__ = ["COSTS", "Costs"]


class Costs(Record):
    """Characters a token, in prose and in structure (types, bounds, JSON), as measured on tool catalogs."""

    prose_chars: float
    structure_chars: float

    def prose(self, text: str) -> float:
        """About the tokens of a piece of prose."""
        return len(text) / self.prose_chars

    def structure(self, text: str) -> float:
        """About the tokens of a piece of structure."""
        return len(text) / self.structure_chars


# Measured by `python benchmarks/costs.py` over the sample catalogs.
COSTS: dict[str, Costs] = {
    "o200k_base": Costs(prose_chars=4.4, structure_chars=2.6),
    "cl100k_base": Costs(prose_chars=4.3, structure_chars=2.6),
}


def costs_of(encoding: str) -> Costs:
    """The table of an encoding, that of o200k_base where it has none."""
    return COSTS.get(encoding, COSTS["o200k_base"])
