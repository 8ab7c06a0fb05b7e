"""docs/langchain.md, the examples and the demo: all of them run, with no network."""

from __future__ import annotations

import doctest
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "langchain.md"
EXAMPLES = sorted((ROOT / "examples").glob("langchain_*.py"))
SAYS = {
    "langchain_agent.py": "reserved 2 quiet seats in train 1",
    "langchain_graph.py": "[convert] 42.165 km",
    "langchain_mcp.py": "SHOP-14 is urgent now.",
}


@pytest.mark.filterwarnings("ignore:.* mode sends .* as JSON:tscg.TscgWarning")
def test_the_page_runs() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 20
    assert found.failed == 0


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example(path: Path) -> None:
    if path.name == "langchain_mcp.py":
        pytest.importorskip("langchain_mcp_adapters")
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    assert SAYS[path.name] in done.stdout
    assert "requests" in done.stdout


@pytest.mark.mcp
@pytest.mark.parametrize("mode", ["text", "native"])
def test_demo(mode: str) -> None:
    command = [sys.executable, "-m", "tscg", "demo", "--framework", "langchain", "--mode", mode]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    assert 'priority: "medium" -> "urgent"' in done.stdout
    assert "requests" in done.stdout


@pytest.mark.mcp
def test_demo_without_records_says_so() -> None:
    command = [sys.executable, "-m", "tscg", "demo", "--framework", "langchain", "--mode", "code"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
