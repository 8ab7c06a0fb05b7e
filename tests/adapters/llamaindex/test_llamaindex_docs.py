"""docs/llamaindex.md, the README's quick start, the examples and the demo: all of them run, with no network."""

from __future__ import annotations

import asyncio
import doctest
import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.tools import FunctionTool

from tests.adapters.llamaindex.models import ScriptedLLM

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "llamaindex.md"
README = ROOT / "packages" / "llamaindex" / "README.md"
EXAMPLES = sorted((ROOT / "examples").glob("llamaindex_*.py"))
SAYS = {
    "llamaindex_agent.py": "reserved 2 quiet seats in train 1",
    "llamaindex_llm.py": "ReActAgent: It is 42.165 km.",
    "llamaindex_mcp.py": "SHOP-14 is urgent now.",
}
pytestmark = [
    pytest.mark.filterwarnings("ignore:.* mode sends .* as JSON:tscg.TscgWarning"),
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
]


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    before = Settings._callback_manager
    yield
    Settings._callback_manager = before


def test_the_page_runs() -> None:
    found = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 25
    assert found.failed == 0


def test_the_quick_start_of_the_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    setup, rest = code.split("...\n")
    tool = FunctionTool.from_defaults(lambda city: "sunny", name="weather", description="Weather of a city.")
    names: dict[str, Any] = {"tools": [tool], "llm": ScriptedLLM(ChatMessage("It is sunny.", role="assistant"))}
    exec(setup, names)

    async def ask() -> Any:
        return await names["agent"].run(user_msg="Weather?")

    assert str(asyncio.run(ask())) == "It is sunny."
    exec(rest, names)
    assert "requests" in capsys.readouterr().out


# In this process: LlamaIndex takes seconds to import.
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
@pytest.mark.filterwarnings("ignore:is_running called from within a step", "ignore:Skipping serialization")
def test_example(path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    if path.name == "llamaindex_mcp.py":
        pytest.importorskip("llama_index.tools.mcp", reason="llama-index-tools-mcp needs mcp 2, which others cap")
    monkeypatch.setattr(sys, "argv", [str(path)])
    runpy.run_path(str(path), run_name="__main__")
    shown = capsys.readouterr().out
    assert SAYS[path.name] in shown
    assert "requests" in shown


@pytest.mark.mcp
def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    from tscg.cli import main

    with pytest.raises(SystemExit) as ended:
        main(["demo", "--framework", "llamaindex", "--mode", "dispatch"])
    shown = capsys.readouterr()
    assert ended.value.code == 0, shown.err
    assert 'priority: "medium" -> "urgent"' in shown.out
    assert "requests" in shown.out


@pytest.mark.mcp
def test_demo_without_records_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    from tscg.cli import main

    with pytest.raises(SystemExit) as ended:
        main(["demo", "--framework", "llamaindex", "--mode", "code"])
    assert ended.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
