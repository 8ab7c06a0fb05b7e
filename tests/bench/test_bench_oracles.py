"""Models whose answers are known: every condition scores what it must, in every scenario."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tscg

pytest.importorskip("tscg_bench", reason="tscg-bench is not installed")

from tscg_bench.catalogs import Context, Contexts, collections_of
from tscg_bench.conditions import CONTROLS, Prepared, compiled_condition, condition_of
from tscg_bench.episode import begin
from tscg_bench.leak import solve
from tscg_bench.oracles import answer_of, breaks
from tscg_bench.score import Score, score_attempt, summarize
from tscg_bench.tasks import SCENARIOS, Task, load_tasks

CONDITIONS = (
    "native", "json", "json-pretty", "text/balanced", "text/aggressive", "native/balanced",
    "dispatch/names", "dispatch/hybrid", "dispatch/signature/codes", "json@text/balanced", *CONTROLS,
)  # fmt: skip
FEW = 10  # of each scenario, spread over its categories


@pytest.fixture(scope="session")
def asked() -> list[Context]:
    """Some tasks of each scenario, in their contexts."""
    contexts = Contexts(collections_of())
    found = []
    for scenario in SCENARIOS:
        tasks = [
            task for task in load_tasks(scenario) if not task.collection or task.collection in contexts.collections
        ]
        found += [contexts.of(task) for task in tasks[:: max(1, len(tasks) // FEW)]]
    return found


def played(name: str, context: Context, prepared: Prepared) -> Score:
    episode = begin(context.task, prepared)
    while episode.attempt is None:
        episode = episode.take(answer_of(name, episode))
    return score_attempt(context.task, episode.attempt, context.catalog)


@pytest.fixture(scope="session", params=CONDITIONS)
def prepared(request: pytest.FixtureRequest, asked: list[Context]) -> list[tuple[Context, Prepared]]:
    condition = condition_of(request.param)
    made: dict[int, Prepared] = {}
    for context in asked:
        if id(context.catalog) not in made:
            made[id(context.catalog)] = condition.prepare(context.catalog)
    return [(context, made[id(context.catalog)]) for context in asked]


def test_always_right_is_100(prepared: list[tuple[Context, Prepared]]) -> None:
    found = summarize(played("right", *pair) for pair in prepared)
    assert (found.exact, found.selection, found.f1, found.overall) == (1, 1, 1, 1)
    assert (found.validity, found.extra, found.repaired) == (1, 0, 0)


def test_always_wrong_is_0(prepared: list[tuple[Context, Prepared]]) -> None:
    found = summarize(played("wrong", *pair) for pair in prepared)
    assert (found.exact, found.selection, found.f1, found.overall) == (0, 0, 0, 0)


def test_schema_blind_is_the_controls_figure(prepared: list[tuple[Context, Prepared]]) -> None:
    """Whoever looks at no schema has the same tools right in every condition as by the rules alone."""
    blind = prepared[0][1].name == "free"

    def figure(task: Task, catalog: tscg.Catalog) -> float:
        names = [] if blind else [tool.name for tool in catalog]
        return score_attempt(task, solve(task, names), catalog).selection

    wanted = [figure(context.task, context.catalog) for context, _ in prepared]
    assert [played("blind", *pair).selection for pair in prepared] == wanted
    assert sum(wanted) / len(wanted) < 0.25


def test_format_breaking_is_the_repair_rate(prepared: list[tuple[Context, Prepared]]) -> None:
    """What safe repairs mend is right at once, what the model can mend when told costs one round, the rest is wrong."""
    told = prepared[0][1].told
    for context, one in prepared:
        found, kind = played("breaking", context, one), breaks(context.task)
        assert found.exact == float(kind == "loose" or (kind == "once" and told)), context.task.id
        assert found.extra == (0 if kind == "loose" or not told else 1 if kind == "once" else 2), context.task.id
    kinds = [breaks(context.task) for context, _ in prepared]
    assert min(map(kinds.count, ("loose", "once", "ever"))) >= 10


def test_code_mode_runs_the_programs(asked: list[Context]) -> None:
    pytest.importorskip("pydantic_monty", reason="the sandbox is not installed: tscg[code]")
    condition = condition_of("code/balanced")
    few = [context for context in asked if context.task.scenario in ("A", "F")][::4]
    for name, wanted in (("right", 1.0), ("wrong", 0.0)):
        found = [played(name, context, condition.prepare(context.catalog)) for context in few]
        assert summarize(found).exact == summarize(found).selection == wanted
    for context in few:
        kind = breaks(context.task)
        assert played("breaking", context, condition.prepare(context.catalog)).exact == float(kind != "ever")


# --- conditions -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def workbench() -> tscg.Catalog:
    return tscg.Catalog.from_tools(collections_of()["workbench"])


@pytest.mark.parametrize("name", CONDITIONS)
def test_a_condition_says_what_it_sends(name: str, workbench: tscg.Catalog) -> None:
    found = condition_of(name).prepare(workbench)
    assert found.name == name
    assert found.tokens > 0
    assert found.told is (name not in CONTROLS)
    described = "grep_code" in found.system or any("grep_code" in str(tool) for tool in found.wire_tools)
    assert described is (name != "free")


def test_native_sends_every_schema_untouched(workbench: tscg.Catalog) -> None:
    sent = {tool["name"]: tool for tool in condition_of("native").prepare(workbench).wire_tools}
    for tool in collections_of()["workbench"]:
        assert sent[tool["name"]]["parameters"] == tool["inputSchema"]
        assert sent[tool["name"]]["description"] == tool["description"]


def test_controls_hold_no_schema(workbench: tscg.Catalog) -> None:
    for name in CONTROLS:
        found = condition_of(name).prepare(workbench)
        assert not found.wire_tools
        for tool in workbench:
            assert not any(param.name in found.system.split() for param in tool.params)
    assert condition_of("names").prepare(workbench).tokens < 150


@pytest.mark.parametrize("base", ["json", "json-pretty", "text/lossless", "native/balanced"])
@pytest.mark.parametrize("most", [500, 900, 1_200])
def test_a_cut_keeps_its_bound_and_uses_it(base: str, most: int, workbench: tscg.Catalog) -> None:
    name = f"{base}@{most}"
    found = condition_of(name).prepare(workbench)
    whole = condition_of(base).prepare(workbench).tokens
    assert found.name == name
    assert found.tokens <= most
    if base.startswith("json"):
        assert found.tokens > 0.85 * min(most, whole)


def test_a_pair_of_equal_tokens(workbench: tscg.Catalog) -> None:
    text = condition_of("text/balanced").prepare(workbench).tokens
    assert 0.9 * text < condition_of("json@text/balanced").prepare(workbench).tokens <= text


def test_toon_holds_every_tool(workbench: tscg.Catalog) -> None:
    toon = pytest.importorskip("toon_format", reason="toon-format is not installed")
    body = condition_of("toon").prepare(workbench).system.split("<tools>\n")[1].split("\n</tools>")[0]
    assert {tool["function"]["name"] for tool in toon.decode(body)} == {tool.name for tool in workbench}


@pytest.mark.parametrize("name", ["", "nope", "text/", "text/nope", "dispatch", "native@900", "names@10", "json@nope"])
def test_an_unknown_condition_is_told(name: str) -> None:
    with pytest.raises(tscg.ConfigError):
        condition_of(name)


def test_a_cut_below_the_names_is_told(workbench: tscg.Catalog) -> None:
    for name in ("json@20", "text/balanced@20"):
        with pytest.raises(tscg.ConfigError, match="20"):
            condition_of(name).prepare(workbench)


def test_a_condition_of_ones_own(workbench: tscg.Catalog) -> None:
    found = compiled_condition("mine", mode="text", profile="brief").prepare(workbench)
    assert (found.name, found.system) == ("mine", tscg.compile(workbench, "text", "brief").prompt)


# --- episodes ---------------------------------------------------------------------------------------------------------


def test_a_lookup_is_answered_and_counted(workbench: tscg.Catalog) -> None:
    task = load_tasks("A")[0]
    episode = begin(task, condition_of("text/aggressive").prepare(workbench))
    episode = episode.take('<tool_call>{"name":"lookup","arguments":{"tools":["view_file"]}}</tool_call>')
    assert episode.attempt is None
    assert "view_file" in episode.messages[-1]["content"]
    episode = episode.take(answer_of("right", episode))
    assert episode.attempt is not None
    assert (episode.attempt.lookups, score_attempt(task, episode.attempt).exact) == (1, 1)


def test_results_of_the_task_go_back_and_a_failed_call_is_told(workbench: tscg.Catalog) -> None:
    tasks = {task.id: task for task in load_tasks("F")}
    task = next(one for one in tasks.values() if one.trouble == "error" and one.collection == "workbench")
    episode = begin(task, condition_of("native").prepare(workbench))
    episode = episode.take(answer_of("right", episode))
    assert "did not answer in time" in episode.messages[-1]["content"]
    assert episode.messages[-1]["role"] == "tool"
    chain = next(one for one in tasks.values() if one.results and one.collection == "workbench")
    episode = begin(chain, condition_of("json").prepare(workbench))
    episode = episode.take(answer_of("right", episode))
    assert str(chain.results[0]) in episode.messages[-1]["content"]


def test_a_model_that_never_ends_is_stopped(workbench: tscg.Catalog) -> None:
    task = load_tasks("F")[-17]
    episode = begin(task, condition_of("json").prepare(workbench))
    for _ in range(30):
        if episode.attempt is not None:
            break
        episode = episode.take('<tool_call>{"name":"nope","arguments":{}}</tool_call>')
    assert episode.attempt is not None
    assert not any(call.valid for call in episode.attempt.calls)


def test_history_is_told_in_the_form_of_the_mode(workbench: tscg.Catalog) -> None:
    task = next(task for task in load_tasks("A") if task.category == "followup")
    text = begin(task, condition_of("text/balanced").prepare(workbench)).messages
    native: tuple[dict[str, Any], ...] = begin(task, condition_of("native").prepare(workbench)).messages
    assert not any("tool_calls" in said for said in text)
    assert any("tool_calls" in said for said in native)
    assert text[-1] == native[-1] == {"role": "user", "content": task.query}


def test_the_data_of_the_package_is_plain_text() -> None:
    from importlib.resources import files

    folder = Path(str(files("tscg_bench") / "data"))
    assert {path.name for path in folder.iterdir()} == {
        *(f"{scenario.lower()}.jsonl" for scenario in SCENARIOS),
        "bureau.json",
        "workbench.json",
    }
