"""``tscg demo --framework crewai``: the demo's server, requests and models under an agent of CrewAI."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import tscg
from tscg.demo.database import Database
from tscg.demo.models import ChatModel, ReplayModel
from tscg.demo.run import fail
from tscg.demo.screen import Screen
from tscg.errors import TscgError, leaves

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
    for package, extra in (("mcp", "tscg[mcp]"), ("crewai", "crewai-tscg")):
        if find_spec(package) is None:
            return fail(f"the demo needs the package {package}; install {extra}")
    folder = Path(tempfile.mkdtemp(prefix="tscg-demo-"))
    path = Path(db) if db is not None else folder / "demo.db"
    os.environ.update({**QUIET, "CREWAI_STORAGE_DIR": str(folder / "storage")})
    failures: list[str] = []
    try:
        Database(path).close()
        from crewai_tscg.demo_agent import converse

        with console.status("Importing CrewAI"):
            asyncio.run(converse(Screen(console), chosen, (mode, profile), path, folder / "server.log"))
    except* TscgError as group:  # alone, or inside the group that the client's tasks raise
        failures.extend(str(error) for error in leaves(group))
    except* (sqlite3.Error, ValueError) as group:
        failures.extend(f"cannot use {path} as the demo's database: {error}" for error in leaves(group))
    finally:
        if keep and db is None:
            console.print(f"The database was kept: {path}", markup=False, highlight=False, soft_wrap=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return fail(failures[0]) if failures else 0
