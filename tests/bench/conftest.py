"""What the tests of the benchmark share: catalogs of real servers where they are, and one finished run."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def streams_are_collected() -> Iterator[None]:
    """Inspect leaves streams of anyio to the collector, which complain when they go: here, where the tests that run it
    expect that (``filterwarnings``), and not in whatever comes later."""
    yield
    gc.collect()


@pytest.fixture(scope="session")
def shared_folder() -> Path | None:
    """The folder of shared data, None where there is none."""
    given = os.environ.get("TSCG_SHARED")
    folder = Path(given) if given else Path(__file__).resolve().parents[3] / "shared"
    return folder if (folder / "catalogs").is_dir() else None


@pytest.fixture(scope="session")
def shared_catalog_files(shared_folder: Path | None) -> list[Path]:
    """The catalogs of the servers that tasks of scenario B name; empty without shared data."""
    names = ("github-mcp-server", "mcp-server-git", "playwright-mcp", "server-filesystem", "server-memory")
    return [shared_folder / "catalogs" / f"{name}.json" for name in names] if shared_folder else []


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a finished run: some tasks of C with the oracle that breaks the format."""
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    from tscg_bench.command import main

    folder = tmp_path_factory.mktemp("tab")
    arguments = ["run", "--model", "oracle/breaking", "--scenario", "C", "--size", "10", "--limit", "12"]
    chosen = ["--condition", "json,native,text/balanced", "--log-dir", str(folder / "logs")]
    assert main([*arguments, *chosen, "--html", str(folder / "tab.html"), "--markdown", str(folder / "tab.md")]) == 0
    gc.collect()
    return folder
