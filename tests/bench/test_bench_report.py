"""Tables, page and command of a run."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import tscg
from tscg.cli import main as tscg_main

pytest.importorskip("tscg_bench", reason="tscg-bench is not installed")
pytest.importorskip("scipy", reason="tscg-bench is not installed")
pytest.importorskip("genai_prices", reason="tscg-bench is not installed")

from tscg_bench.command import main
from tscg_bench.logs import Cell, Row, Run
from tscg_bench.page import page
from tscg_bench.report import compare_runs, lines_of, markdown, oldham_of, warnings_of
from tscg_bench.score import Score

# All are of Inspect itself: streams and (0.3.205) logs that it leaves to the collector, and how it calls tenacity.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
    pytest.mark.filterwarnings(r"ignore:unclosed file .*\.eval:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]


def row(name: str, exact: float, tokens: int = 1_000, **more: Any) -> Row:
    score = Score(selection=exact, exact=exact, right=int(exact), given=1, wanted=1, valid=1, made=1)
    given: dict[str, Any] = {
        "category": "single", "query": "<script>alert(1)</script> & co", "expected": "[]", "score": score,
        "catalog_tokens": tokens, "input_tokens": 2 * tokens, "output_tokens": 50, "first_input": tokens, "requests": 1,
    }  # fmt: skip
    return Row(task=name, **{**given, **more})


def cell(
    condition: str, exact: list[float], tokens: int = 1_000, model: str = "openai/gpt-4o", plan: str = "A"
) -> Cell:
    rows = {f"t{place}": row(f"t{place}", share, tokens) for place, share in enumerate(exact)}
    return Cell(plan=plan, condition=condition, model=model, rows=rows)


GOOD, HALF, BAD = [1.0] * 40, [1.0, 0.0] * 20, [0.0] * 40
RUN = Run(
    folder="x",
    cells=(cell("json", HALF, 4_000), cell("text/balanced", GOOD, 1_500), cell("native", HALF), cell("names", BAD, 90)),
)


def test_lines_compare_with_the_baseline_under_one_family() -> None:
    lines = {line.cell.condition: line for line in lines_of(RUN.cells)}
    assert lines["json"].against is None
    text = lines["text/balanced"].against
    assert text is not None
    assert (text.difference, text.only_a, text.only_b, text.verdict) == (0.5, 20, 0, "better")
    assert text.adjusted >= 3 * text.p or text.adjusted >= 2 * text.p
    native = lines["native"].against
    assert native is not None
    assert native.verdict == "no difference found"
    assert lines["names"].control
    assert 0.3 < lines["json"].exact.low < 0.5 < lines["json"].exact.high < 0.7


def test_cost_is_by_list_price_where_there_is_one() -> None:
    cost = RUN.cells[0].cost
    assert cost is not None
    assert cost == pytest.approx(40 * (8_000 * 2.5 + 50 * 10) / 1e6, rel=0.5)
    assert cell("json", GOOD, model="ollama/nobody-knows-it").cost is None


def test_the_reader_is_warned() -> None:
    failed = Cell(
        plan="A", condition="text/balanced", model="m/x",
        rows={"t0": row("t0", 0.0), "t1": row("t1", 0.0, score=None, error="away")},
    )  # fmt: skip
    cut = Cell(plan="A", condition="json", model="m/x", rows={"t0": row("t0", 1.0, first_input=200)})
    said = "\n".join(warnings_of(lines_of((cut, failed, cell("names", [0.0], model="m/x")))))
    assert "1 tasks failed" in said
    assert "context is too small" in said
    assert "text/balanced: not above the control" in said
    assert "run without a control" in "\n".join(warnings_of(lines_of(RUN.cells[:2])))


def test_markdown_holds_every_figure() -> None:
    text = markdown(RUN)
    assert "| text/balanced | 40 | 0 | 1,500 | 1.000 |" in text
    assert "names (control)" in text
    assert "Baseline: json" in text
    assert "with power 0.8" in text


def test_oldham_needs_several_cells() -> None:
    assert oldham_of(RUN) is None
    shares = ([0.2] * 5, [0.4] * 5, [0.6] * 5, [0.8] * 5, [0.9] * 5)
    cells = []
    for place, held in enumerate(shares):
        base = [float(share > number / 5) for number, share in enumerate(held)]
        cells += [cell("json", base, plan=f"p{place}"), cell("text/balanced", [*base[::-1][:4], 1.0], plan=f"p{place}")]
    found = oldham_of(Run(folder="x", cells=tuple(cells)))
    assert found is not None
    assert found.n == 5
    assert "Oldham" in markdown(Run(folder="x", cells=tuple(cells)))


class _Outside(HTMLParser):
    """What a page would load or run, and whether its elements close."""

    VOID = ("meta", "line", "circle")

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.open: list[str] = []
        self.data: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [tag] if tag in ("script", "link", "img", "iframe", "a") else []
        self.found += [name for name, _ in attrs if name in ("src", "href") or name.startswith("on")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found += [name for name, _ in attrs if name in ("src", "href")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.data.append(data)


def test_the_page_needs_nothing_else_and_escapes() -> None:
    text = page(RUN)
    parser = _Outside()
    parser.feed(text)
    assert (parser.found, parser.open) == ([], [])
    said = "".join(parser.data)
    assert "<script>alert(1)</script> & co" in said
    assert text.count("<details>") == 40
    assert text.count("<circle") == len(RUN.cells)
    assert "text/balanced: 1.000 [0.912, 1.000], 1,500 tokens" in said


def test_the_page_of_nothing_scored_is_drawn() -> None:
    rows = {"t0": row("t0", 0.0, score=None, error="away")}
    empty = Run(folder="x", cells=(Cell(plan="A", condition="json", model="m/x", rows=rows),))
    assert "away" in page(empty)
    assert "1 tasks failed" in markdown(empty)


def test_two_runs_are_compared_task_by_task() -> None:
    other = Run(folder="y", cells=(cell("json", BAD, model="openai/other"), cell("toon", GOOD)))
    text = compare_runs(RUN, other)
    assert "| A | json | openai/gpt-4o - openai/other | 40 | +0.500" in text
    assert text.count("\n") == 3


# --- the command ------------------------------------------------------------------------------------------------------


def test_a_run_writes_page_and_markdown(finished: Path) -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    assert "mockllm/breaking" in (finished / "tab.md").read_text(encoding="utf-8")
    assert (finished / "tab.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_report_and_compare(finished: Path, capsys: pytest.CaptureFixture[str]) -> None:
    logs = str(finished / "logs")
    assert main(["report", logs, "--json"]) == 0
    held = json.loads(capsys.readouterr().out)
    assert {one["condition"] for one in held["cells"]} == {"json", "native", "text/balanced", "names", "free"}
    assert main(["report", logs]) == 0
    assert capsys.readouterr().out == (finished / "tab.md").read_text(encoding="utf-8")
    assert main(["compare", logs, logs]) == 0
    assert capsys.readouterr().out.count("no difference found") == 5


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["run"],
        ["run", "--model", "oracle/right"],
        ["run", "--model", "oracle/nope", "--scenario", "A"],
        ["run", "--model", "oracle/right", "--scenario", "Z"],
        ["run", "--model", "oracle/right", "--scenario", "A", "--condition", "nope"],
        ["run", "--model", "oracle/right", "--scenario", "A", "--size", "x"],
        ["report", "nowhere"],
    ],
    ids=lambda found: " ".join(found) or "nothing",
)
def test_a_wrong_use_is_one_line_and_exit_2(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(tscg.ConfigError):
        main(arguments)
    with pytest.raises(SystemExit) as ended:
        tscg_main(["bench", *arguments])
    assert ended.value.code == 2
    assert capsys.readouterr().err.count("\n") <= 2
