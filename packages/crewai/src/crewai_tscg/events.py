"""The event that tells what compression did, on CrewAI's bus."""

from __future__ import annotations

from typing import Any, Literal

from crewai.events.base_events import BaseEvent

import tscg

__all__ = ["ToolCompressionEvent"]


class ToolCompressionEvent(BaseEvent):
    """One model call as its agent sees it, whatever rounds it took. No argument's value and no text of a tool is in it.

    ``tokens`` and ``baseline_tokens`` are those of the tool definitions in one request, ``saved_tokens`` is what all
    rounds saved; ``errors`` and ``dropped`` name what was left out of the last answer.
    """

    type: Literal["tool_compression"] = "tool_compression"
    mode: str
    profile: str
    fingerprint: str
    tools: int
    baseline_tokens: int
    tokens: int
    saved_tokens: int
    rounds: int
    lookups: int
    repairs: int
    errors: list[dict[str, str | None]]
    dropped: list[str]


def event_of(
    report: tscg.CompressionReport, final: tscg.Final, dropped: list[str], task: Any, agent: Any
) -> ToolCompressionEvent:
    """The event of a model call."""
    return ToolCompressionEvent(
        mode=report.mode, profile=report.profile, fingerprint=report.fingerprint, tools=report.tools,
        baseline_tokens=report.baseline_tokens, tokens=report.tokens, saved_tokens=report.saved_tokens,
        rounds=report.rounds, lookups=report.lookups, repairs=report.repairs,
        errors=[{"kind": error.kind, "tool": error.tool} for error in final.errors], dropped=dropped,
        task_id=_id(task), task_name=getattr(task, "name", None), agent_id=_id(agent),
        agent_role=getattr(agent, "role", None),
    )  # fmt: skip


def _id(one: Any) -> str | None:
    return None if one is None else str(one.id)
