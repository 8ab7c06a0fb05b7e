"""Tools are held to a lock before an LLM is told of them."""

from __future__ import annotations

from collections.abc import Sequence

from llama_index.core.agent.workflow.multi_agent_workflow import handoff
from llama_index.core.tools import BaseTool, FunctionTool

import tscg
from llama_index_tscg.cache import Cache
from llama_index_tscg.convert import is_output, snapshot

__all__ = ["Approval"]

KEPT = 64  # sets of tools


class Approval:
    """Checks each set of tools once; without a lock there is nothing to check. Thread-safe.

    >>> from llama_index_tscg import catalog_of
    >>> ping, pong = (FunctionTool.from_defaults(lambda: "", name=name, description="") for name in ("ping", "pong"))
    >>> approval = Approval(tscg.Lock.of(catalog_of([ping])), "error")
    >>> approval.check([ping])
    >>> approval.check([ping, pong])
    Traceback (most recent call last):
    tscg.errors.DriftError: not as approved; pong: added; tscg lock approves the tools as they are now
    """

    def __init__(self, lock: tscg.Lock | None, on_drift: str) -> None:
        self.lock, self.on_drift = lock, on_drift
        self._checked = Cache[tscg.Catalog](KEPT)

    @property
    def refuses(self) -> bool:
        """Whether what was not approved must not be sent."""
        return self.lock is not None and self.on_drift == "error"

    def check(self, tools: Sequence[BaseTool]) -> None:
        """DriftError for tools that are not as approved, at every call; or a warning, once."""
        lock = self.lock
        if lock is None:
            return
        read = snapshot(tools)
        catalog, own = read.catalog, {name for name, tool in read.by_name.items() if _is_upstreams(tool)}

        def guarded() -> tscg.Catalog:
            judged = catalog.replace([one for one in catalog if one.name not in own])
            return lock.guard(judged, self.on_drift, partial=True)  # a call may show some of the tools

        # The address of a catalog that is kept beside it: no other one can have it.
        self._checked.get((id(catalog), frozenset(own)), catalog, guarded)


def _is_upstreams(tool: BaseTool) -> bool:
    """Whether LlamaIndex made a tool itself: the form of an answer, or the handoff of a workflow, whose text names the
    agents that one agent knows and so is another for each."""
    return is_output(tool) or (isinstance(tool, FunctionTool) and tool.real_fn is handoff)
