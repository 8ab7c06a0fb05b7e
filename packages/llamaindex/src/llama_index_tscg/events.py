"""The event that tells what compression did in one call of an LLM."""

from __future__ import annotations

import llama_index.core.instrumentation as instrument
from llama_index.core.instrumentation.events import BaseEvent
from pydantic import Field

__all__ = ["ToolCompressionEvent", "dispatcher"]

dispatcher = instrument.get_dispatcher("llama_index_tscg")  # type: ignore[attr-defined]  # not in its __all__


class ToolCompressionEvent(BaseEvent):
    """One call of an LLM with tools: what they took on the wire, and the rounds that it had.

    ``tokens`` and ``baseline_tokens`` are those of the tool definitions in one request, as sent and as JSON.
    ``errors`` are calls that stayed wrong (``kind`` and ``tool``), ``dropped`` the names of what was left out beside
    good calls. No value of an argument is in it.
    """

    mode: str
    profile: str
    fingerprint: str
    tools: int
    baseline_tokens: int
    tokens: int
    rounds: int
    lookups: int
    repairs: int
    errors: list[dict[str, str]] = Field(default_factory=list)
    dropped: list[str] = Field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0

    @classmethod
    def class_name(cls) -> str:
        """Name of the kind of event."""
        return "ToolCompressionEvent"
