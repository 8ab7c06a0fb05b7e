from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console, RenderableType

from tscg.calls import Call, CallError, Decoded, Fault, Lookup, Notice, Program
from tscg.differences import Change, Diff, ToolChange
from tscg.ir import Catalog
from tscg.recommendation import Choice, Recommendation
from tscg.report import (
    Report,
    catalog_table,
    decoded_dict,
    decoded_text,
    diff_text,
    recommendation_table,
    report_tables,
)
from tscg.stats import Hidden, Stats, ToolStats
from tscg.trace import Bound, Step, Trace


def shown(*parts: RenderableType) -> str:
    console = Console(file=StringIO(), width=140)
    for part in parts:
        console.print(part)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


STEP = Step(operator="SDM", kind="R", before=1_200, after=1_150, per_tool={"a[b]": -50}, touched=0.4, taken=0.1)


HIDDEN = Hidden(sentences=7, tokens=90)
PER_TOOL = {
    "small": ToolStats(tokens=90, baseline_tokens=100),
    "a[b]": ToolStats(tokens=50, baseline_tokens=900, detail="brief", hidden=HIDDEN),
}


def report(*, exact: bool = True, result: int = 700, **trace: object) -> Report:
    stats = Stats(
        tokens=800,
        baseline_tokens=2_000,
        pretty_tokens=3_100,
        fixed_tokens=60,
        hidden=HIDDEN,
        lookalikes=0,
        notes=0,
        per_tool=PER_TOOL,
        exact=exact,
        tokenizer="o200k_base",
    )
    bound = Bound(source=2_000, result=result, sum_rf=0.6)
    lists = {"hidden_policy": {}, "passed_through": (), "shortened": (), **trace}
    found = Trace(steps=(STEP,), bound=bound, reasons=("no model named: defaults",), **lists)  # type: ignore[arg-type]
    return Report(mode="text", profile="brief", stats=stats, profiles={"lossless": 1_400, "brief": 800}, trace=found)


FIGURES = """
Tokens of 2 tools (counted with o200k_base)
2,000
3,100
text, lossless
text, brief (this one)
60.0%
60 are fixed
7 sentences, 90 tokens
SDM
-50
40%
Bound: 2,000 tokens (1 - 0.600) = 800; measured 700: it holds.
Reason: no model named: defaults
94.4%
"""


def test_a_report_shows_every_figure() -> None:
    text = shown(*report_tables(report()))
    for words in FIGURES.strip().split("\n"):
        assert words in text
    assert text.index("a[b]") < text.index("small"), "what saves most comes first"


def test_a_report_says_what_is_not_as_it_should_be() -> None:
    hidden = {"close": ("Never close it.",)}
    trouble = report(exact=False, result=900, hidden_policy=hidden, passed_through=("tiny",))
    text = shown(*report_tables(trouble))
    assert "estimated for o200k_base" in text
    assert "measured 900: it does NOT hold" in text
    assert "Policy sentences are left out of: close" in text
    assert "Passed through as JSON, which is smaller: tiny" in text
    plain = trouble.to_dict()["trace"]
    assert isinstance(plain, dict)
    assert plain["bound"] == {"source": 2_000, "result": 900, "sum_rf": 0.6, "limit": 800.0, "holds": False}


def test_a_recommendation_shows_advice_and_candidates() -> None:
    choice = Choice(
        mode="dispatch", profile="balanced", map="hybrid", tokens=3_000, share=0.03, saved=0.9, enforced="little"
    )
    found = Recommendation(
        mode="dispatch", profile="balanced", map="hybrid", budget=9_000, reason="so", choices=(choice,)
    )
    text = shown(*recommendation_table(found))
    for words in ("mode dispatch, profile balanced, map hybrid, budget 9,000: so", "dispatch, hybrid", "3.0%", "90.0%"):
        assert words in text
    assert "Candidates" not in shown(*recommendation_table(Recommendation(mode="passthrough", profile="balanced")))


def test_texts_of_tools_are_no_markup() -> None:
    tools = [{"name": "a", "description": "[bold]loud[/bold] [/] [red", "parameters": {"properties": {"x[0]": {}}}}]
    text = shown(catalog_table(Catalog.from_tools(tools)))
    assert "[bold]loud[/bold] [/] [red" in text
    assert "x[0]?" in text


def test_a_difference_is_one_line_each() -> None:
    change = Change(kind="type", path=("a", "*"), before="string", after="")
    long = Change(kind="description", before="x" * 500, after='say "hi"\nthere')
    lines = diff_text(
        Diff(added=("n",), removed=("o",), changed=(ToolChange(name="t", changes=(change, long)),))
    ).split("\n")
    assert lines[:4] == ["- o", "+ n", "~ t", '    type of a.*: "string" -> (none)']
    assert lines[4] == f'    description: "{"x" * 200}..." -> "say \\"hi\\"\\nthere"'


ITEMS = (
    Call(id="1", name="go", arguments={"où": [1, None]}, repairs=("enum_case: a: B -> b",)),
    Lookup(id="2", tools=("x", "y")),
    Lookup(id="3", query="how to go"),
    CallError(
        id="4", kind="unknown_tool", tool="gone", faults=(Fault(kind="unknown_tool"),), message="There is no tool gone."
    ),
    Program(id="5", code="go()"),
)


def test_every_kind_of_item_is_shown() -> None:
    decoded = Decoded(items=ITEMS, text=" Done. ", warnings=(Notice(kind="cut", path=("a", 0), message="m"),))
    assert decoded_text(decoded).split("\n") == [
        'call go {"où": [1, null]}',
        "    repaired: enum_case: a: B -> b",
        "lookup x, y",
        "lookup how to go",
        "error There is no tool gone.",
        "program go()",
        "text: Done.",
    ]
    plain = decoded_dict(decoded)
    assert isinstance(plain["items"], list)
    assert [
        item["type"] for item in plain["items"] if isinstance(item, dict)
    ] == "call lookup lookup error program".split()
    assert plain["text"] == " Done. "
    assert plain["warnings"] == [{"kind": "cut", "path": ["a", 0], "message": "m"}]


@pytest.mark.parametrize("decoded", [Decoded(), Decoded(text=" \n")], ids=["nothing", "blank"])
def test_silence_is_said(decoded: Decoded) -> None:
    assert decoded_text(decoded) == "nothing was said"
