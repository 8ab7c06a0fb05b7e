"""Crews whose models come later: an overlay gives an agent a fresh one, and a clone may have been built with it.

Two hooks on CrewAI's own interception points, registered with the first handle and removed with the last, look at every
crew that starts and at every agent that gets a task. A crew is one of ours if one of its models is.
"""

from __future__ import annotations

import threading
from typing import Any

from crewai.hooks.dispatch import InterceptionPoint, get_hooks, register, unregister

__all__ = ["hold", "release"]

_held = 0
_lock = threading.Lock()


def _starts(context: Any) -> None:
    """A crew starts. Under an overlay CrewAI now chooses the models of its agents, of which it asks the class."""
    from crewai.llm_overlay import active

    state = _state(context.crew)
    if state is None:
        return
    if active.get() is None:
        state.handle.take(context.crew)
    else:
        state.handle.strip(context.crew)
    state.starts(context.crew)


def _steps(context: Any) -> None:
    """An agent gets a task: by now every model is the one that is used."""
    crew = getattr(context.agent, "crew", None)
    target = crew if hasattr(crew, "agents") else context.agent
    state = _state(target)
    if state is not None:
        state.handle.take(target)


def _state(target: Any) -> Any:
    from crewai_tscg.binding import states_in

    states = states_in(target) if target is not None else []
    return states[0] if states else None


HOOKS = {InterceptionPoint.EXECUTION_START: _starts, InterceptionPoint.PRE_STEP: _steps}


def hold() -> None:
    """One more handle is in use."""
    global _held  # noqa: PLW0603  # the points are global too
    with _lock:
        _held += 1
        for point, hook in HOOKS.items():
            if hook not in get_hooks(point):
                register(point, hook)


def release() -> None:
    """One handle fewer is in use."""
    global _held  # noqa: PLW0603
    with _lock:
        _held -= 1
        if _held == 0:
            for point, hook in HOOKS.items():
                unregister(point, hook)
