"""What is sent with every request beside messages and tools: it is part of a run, and stands in its log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from inspect_ai.model import GenerateConfig

__all__ = ["SAMPLING", "Sampling"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampling:
    """``max_tokens`` is of one answer; ``num_ctx`` the context that a local server shall open, None leaves it to it."""

    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 1024
    num_ctx: int | None = None

    def config(self) -> GenerateConfig:
        """The same as Inspect takes it."""
        from inspect_ai.model import GenerateConfig

        extra = {"options": {"num_ctx": self.num_ctx}} if self.num_ctx else None
        return GenerateConfig(
            temperature=self.temperature, seed=self.seed, max_tokens=self.max_tokens, extra_body=extra
        )


SAMPLING = Sampling()
"""Temperature 0 and seed 0."""
