"""docs/crewai.md, the README of the package, the examples and the demo: all of them run, with no network."""

from __future__ import annotations

import doctest
import re
import runpy
import sys
from pathlib import Path

import pytest
from crewai.events.event_bus import crewai_event_bus

from crewai_tscg.demo import QUIET
from tests.adapters.provider import Answer, Provider, View
from tscg.cli import main

ROOT = Path(__file__).resolve().parents[3]
MAIN = ROOT / "README.md"
PAGE = ROOT / "docs" / "crewai.md"
README = ROOT / "packages" / "crewai" / "README.md"
EXAMPLES = sorted((ROOT / "examples").glob("crewai_*.py"))
SAYS = {
    "crewai_crew.py": "Clerk: Two quiet seats are reserved in the 08:12 to Basel.",
    "crewai_class.py": "A marathon is 42.165 km long.",
}


@pytest.mark.filterwarnings("ignore:.* mode sends .* tokens for tools:tscg.TscgWarning")
def test_the_page_runs() -> None:
    with crewai_event_bus.scoped_handlers():
        found = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert found.attempted > 25
    assert found.failed == 0


def test_the_quick_start_of_the_readme_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the model that it names, at an address of this machine."""

    def model(view: View) -> Answer:
        if view.turns[-1].role == "user":
            return Answer(calls=(("get_order", '{"number": 7}'),))
        return Answer(text="Two teapots, and they are paid.")

    provider = Provider(model).start()
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    try:
        exec(compile(code, str(README), "exec"), {"__name__": "__main__"})
    finally:
        provider.close()
    said = capsys.readouterr().out
    assert "Two teapots, and they are paid." in said
    assert re.search(r"^Clerk +\w+, balanced +1 ", said, re.MULTILINE)
    assert provider.broken == []
    assert len(provider.bodies) == 2


def test_the_section_of_the_main_readme_runs(capsys: pytest.CaptureFixture[str]) -> None:
    """Its model is scripted; the comment says what it prints."""
    section = re.search(r"^## CrewAI\n(.*?)(?=^## |\Z)", MAIN.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert section is not None
    (code,) = re.findall(r"```python\n(.*?)```", section[1], re.DOTALL)
    said = re.findall(r"^# > (.*)$", code, re.MULTILINE)
    exec(compile(code, str(MAIN), "exec"), {"__name__": "__main__"})
    assert said
    assert said[0] in capsys.readouterr().out.splitlines()


@pytest.mark.filterwarnings("ignore:.* mode sends .* tokens for tools:tscg.TscgWarning")
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_example(path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """In this process: importing CrewAI once more takes seconds."""
    monkeypatch.setattr(sys, "argv", [str(path)])
    with crewai_event_bus.scoped_handlers():
        runpy.run_path(str(path), run_name="__main__")
    said = capsys.readouterr().out
    assert SAYS[path.name] in said
    assert "requests" in said


@pytest.mark.mcp
@pytest.mark.parametrize("mode", ["text", "dispatch"])
def test_demo(mode: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in QUIET:
        monkeypatch.setenv(name, "true")
    monkeypatch.setenv("CREWAI_STORAGE_DIR", "set anew by the demo")
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--framework", "crewai", "--mode", mode])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert 'priority: "medium" -> "urgent"' in said
    assert "requests" in said


@pytest.mark.mcp
def test_demo_without_records_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--framework", "crewai", "--mode", "code"])
    assert ended.value.code == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
