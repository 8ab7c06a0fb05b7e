"""``tscg demo --framework crewai``: the demo's server, requests and models under an agent of CrewAI."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

import tscg
from tscg.demo.models import ChatModel, ReplayModel
from tscg.demo.run import run_on
from tscg.demo.screen import Screen

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["run_demo"]

# The demo reaches nothing but its own server: no telemetry, no look-up of a newer version.
QUIET = {
    "CREWAI_DISABLE_TELEMETRY": "true",
    "OTEL_SDK_DISABLED": "true",
    "CREWAI_TRACING_ENABLED": "false",
    "CREWAI_DISABLE_VERSION_CHECK": "true",
}


def run_demo(
    console: Console,
    *,
    model: ChatModel | None = None,
    mode: str = "text",
    profile: str = "balanced",
    db: str | Path | None = None,
    keep: bool = False,
) -> int:
    """Run the demo with a compressed agent; the arguments are those of the core's demo.

    0, or 1 after one line on standard error. ConfigError for a wrong option.

    Example: `run_demo(rich.console.Console(), mode="native")`.
    """
    chosen = ReplayModel(mode) if model is None else model
    tscg.compile([], mode=mode, profile=profile)  # a wrong option is told before all else

    def work(database: Path, folder: Path) -> None:
        os.environ.update({**QUIET, "CREWAI_STORAGE_DIR": str(folder / "storage")})
        from crewai_tscg.demo_agent import converse

        with console.status("Importing CrewAI"):
            asyncio.run(converse(Screen(console), chosen, (mode, profile), database, folder / "server.log"))

    return run_on(console, work, needs={"mcp": "tscg[mcp]", "crewai": "crewai-tscg"}, db=db, keep=keep)
