"""Tools against the lock: which were checked, and the error that ends a run with one that is not as approved."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING
from weakref import WeakSet

from crewai.hooks.dispatch import HookAborted

import tscg
from crewai_tscg.calls import reroutes
from crewai_tscg.convert import Toolset
from tscg.errors import DriftError

if TYPE_CHECKING:
    from tscg.lock import Drift

__all__ = ["Approval", "ToolDriftError"]

UNTOLD = "tools are not as approved, see drifts of this error"


class ToolDriftError(DriftError, HookAborted):
    """A :class:`tscg.DriftError` that CrewAI lets pass. Of other errors it tries the task again, goes on with the next
    step of a plan, or writes them to the model."""

    def __init__(self, drifts: Sequence[Drift]) -> None:
        super().__init__(drifts)
        self.reason = str(self)

    def __str__(self) -> str:
        text = super().__str__()
        return UNTOLD if reroutes(text) else text  # the names in it are those of a server


class Approval:
    """The tools that were let through, by name: each is checked once, without a lock just remembered. Thread-safe."""

    def __init__(self, lock: tscg.Lock | None, on_drift: str) -> None:
        self.lock, self.on_drift = lock, on_drift
        self._known: dict[str, tscg.Tool] = {}
        self._seen: WeakSet[Toolset] = WeakSet()
        self._held = threading.Lock()

    def check(self, toolset: Toolset) -> None:
        """Let tools through, or raise ToolDriftError; each time, for what is refused is not remembered."""
        with self._held:
            if toolset in self._seen:
                return
            catalog = toolset.catalog()[0]
            fresh = tuple(tool for tool in catalog if self._known.get(tool.name) != tool)
        if self.lock is not None:
            try:
                # An agent has some of the tools of its crew.
                self.lock.guard(tscg.Catalog(tools=fresh), self.on_drift, partial=True)
            except DriftError as error:
                raise ToolDriftError(error.drifts) from None
        with self._held:
            self._known |= {tool.name: tool for tool in fresh}
            self._seen.add(toolset)

    @property
    def known(self) -> dict[str, tscg.Tool]:
        """What was let through so far, the newest of each name."""
        with self._held:
            return dict(self._known)
