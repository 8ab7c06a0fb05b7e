"""The tasks that come with the package: right by their own catalogs, of our own wording, and giving nothing away."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import tscg

pytest.importorskip("tscg_bench", reason="tscg-bench is not installed")

from tscg_bench.accept import accepts, is_optional, one_accepted
from tscg_bench.catalogs import SIZES, Contexts, collections_of
from tscg_bench.generate import MOST, generated_tools
from tscg_bench.leak import leaks, solve
from tscg_bench.score import Attempt, Made, Score, score_attempt, summarize
from tscg_bench.tasks import CATEGORIES, SCENARIOS, Task, load_tasks, parse_tasks

BIG = ("A", "B", "C", "D", "E")


@pytest.fixture(scope="session")
def collections(shared_catalog_files: list[Path]) -> dict[str, list[dict[str, Any]]]:
    return collections_of(shared_catalog_files)


@pytest.fixture(scope="session")
def contexts(collections: dict[str, list[dict[str, Any]]]) -> Contexts:
    return Contexts(collections)


def given(task: Task, collections: dict[str, Any]) -> bool:
    return not task.collection or task.collection in collections


@pytest.mark.parametrize("scenario", BIG)
def test_a_scenario_has_enough_distinct_tasks_of_every_category(scenario: str) -> None:
    tasks = load_tasks(scenario)
    assert len(tasks) >= 120
    assert len({task.query.casefold() for task in tasks}) == len(tasks)
    counts = Counter(task.category for task in tasks)
    assert set(counts) == set(CATEGORIES)
    assert min(counts.values()) >= 4


def test_no_query_is_asked_in_two_scenarios() -> None:
    queries = Counter(task.query.casefold() for scenario in SCENARIOS for task in load_tasks(scenario))
    assert [query for query, count in queries.items() if count > 1] == []


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_expected_calls_are_valid_and_score_as_right(
    scenario: str, contexts: Contexts, collections: dict[str, Any]
) -> None:
    """An answer that is written by the task itself is right; less or more than it is not."""
    for task in load_tasks(scenario):
        if not given(task, collections):
            continue
        context = contexts.of(task)
        compiled = tscg.compile(context.catalog, "passthrough")
        calls = []
        for expected in context.task.expected:
            held = expected.arguments.items()
            for arguments in (
                {key: one_accepted(one) for key, one in held},
                {key: one_accepted(one) for key, one in held if not is_optional(one)},
            ):
                call = compiled.resolve(expected.tool, arguments)
                assert isinstance(call, tscg.Call), (task.id, call)
                made = Made(name=call.name, arguments=call.arguments)
            calls.append(made)
        assert score_attempt(context.task, Attempt(calls=tuple(calls)), context.catalog).exact == 1, task.id
        more = Attempt(calls=(*calls, Made(name="other", valid=False)))
        assert score_attempt(context.task, more, context.catalog).selection == 0, task.id


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_query_names_tool_parameter_or_member(
    scenario: str, contexts: Contexts, collections: dict[str, Any]
) -> None:
    found = {}
    for task in load_tasks(scenario):
        if given(task, collections):
            context = contexts.of(task)
            found[task.id] = leaks(context.task, context.catalog)
    assert {name: said for name, said in found.items() if said} == {}


def test_rules_without_a_schema_stay_below_a_quarter(contexts: Contexts, collections: dict[str, Any]) -> None:
    scores: dict[str, list[Score]] = {}
    for scenario in BIG:
        for task in load_tasks(scenario):
            if given(task, collections):
                context = contexts.of(task)
                attempt = solve(context.task, [tool.name for tool in context.catalog])
                scores.setdefault(scenario, []).append(score_attempt(context.task, attempt, context.catalog))
    shares = {scenario: summarize(found).overall for scenario, found in scores.items()}
    assert all(share < 0.25 for share in shares.values()), shares
    assert summarize(score for found in scores.values() for score in found).overall < 0.25


def test_the_rules_do_find_what_is_given_away() -> None:
    """The solver is no straw man: on queries of the other kind it is right."""
    tools = ["list_orders", "cancel_order", "get_weather", "send_mail"]
    wordy = {
        "cancel_order": "Cancel order ord-50001, reason: late",
        "get_weather": "Get the weather of Oslo",
        "send_mail": "Send a mail",
        "list_orders": "List all orders",
    }
    for name, query in wordy.items():
        task = Task(id="t", scenario="A", category="single", query=query)
        assert [call.name for call in solve(task, tools).calls] == [name]


# --- contexts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
def test_a_context_of_any_size_holds_what_the_task_needs(size: int) -> None:
    contexts = Contexts(collections_of(), size=size)
    for task in load_tasks("C")[::25]:
        context = contexts.of(task)
        assert len(context.catalog) == size
        assert set(context.task.tools) <= {tool.name for tool in context.catalog}


def test_contexts_depend_on_task_and_seed_alone_and_grow() -> None:
    task = load_tasks("C")[4]

    def names(size: int, seed: int = 0) -> set[str]:
        return {tool.name for tool in Contexts(collections_of(), size=size, seed=seed).of(task).catalog}

    assert names(20) == names(20)
    assert names(10) < names(20) < names(100)
    assert names(20) != names(20, seed=1)


def test_tasks_of_one_domain_share_their_tools() -> None:
    contexts = Contexts(collections_of(), size=10)
    catalogs = {id(contexts.of(task).catalog) for task in load_tasks("C")}
    assert len(catalogs) < 50


def test_everything_together_keeps_tools_of_one_name_apart() -> None:
    contexts = Contexts(collections_of())
    catalog = contexts.of(load_tasks("E")[0]).catalog
    assert len(catalog) == sum(len(tools) for tools in collections_of().values())
    assert {"demo__write_file", "workbench__write_file"} <= {tool.name for tool in catalog}
    assert contexts.of(load_tasks("E")[1]).catalog is catalog


def test_generated_tools_are_many_distinct_and_valid() -> None:
    tools = generated_tools(MOST)
    assert len({tool["name"] for tool in tools}) == MOST >= 735
    assert generated_tools(50) == tools[:50]
    assert len(tscg.compile(tools[:200], "text").catalog) == 200


@pytest.mark.parametrize(
    ("line", "named"),
    [
        ("{", "no JSON"),
        ('{"id": "a"}', "lacks"),
        ('{"id": "a", "category": "x", "query": "", "expect": []}', "category"),
        ('{"id": "a", "category": "none", "query": "", "expect": [], "more": 1}', "more"),
    ],
    ids=["json", "field", "category", "unknown"],
)
def test_a_wrong_line_is_named(line: str, named: str) -> None:
    with pytest.raises(tscg.ConfigError, match=named):
        parse_tasks([line], "own")


def test_missing_catalogs_and_sizes_are_told() -> None:
    github = next(task for task in load_tasks("B") if task.collection == "github-mcp-server")
    with pytest.raises(tscg.ConfigError, match="github-mcp-server"):
        Contexts(collections_of()).of(github)
    two = next(task for task in load_tasks("C") if len(set(task.tools)) == 2)
    with pytest.raises(tscg.ConfigError, match="needs 2 tools"):
        Contexts(collections_of(), size=1).of(two)
    with pytest.raises(tscg.ConfigError, match="there are only"):
        Contexts(collections_of(), size=5_000).of(two)


# --- what is accepted -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("accepted", "value", "right"),
    [
        ("Buy Milk", " buy  milk. ", True),
        ("a", "b", False),
        (1, 1.0, True),
        (1, True, False),
        (True, True, True),
        ("1", 1, False),
        (None, None, True),
        ([1, 2], [1, 2], True),
        ([1, 2], [1, 2, 3], False),
        ({"$set": ["a", "b", "b"]}, ["b", "a", "b"], True),
        ({"$set": ["a", "b"]}, ["a", "a"], False),
        ({"$any": ["a", {"$has": ["x"]}]}, "wax", True),
        ({"$has": ["roof|top", "leak"]}, "The top leaks", True),
        ({"$has": ["roof", "leak"]}, "The roof", False),
        ({"$has": ["1"]}, 1, False),
        ({"a": 1, "b": {"$opt": 2}}, {"a": 1}, True),
        ({"a": 1, "b": {"$opt": 2}}, {"a": 1, "b": 3}, False),
        ({"a": 1}, {"a": 1, "c": 1}, False),
        ("2026-03-17T09:00:00Z", "2026-03-17T10:00:00+01:00", True),
        ("2026-03-17T09:00:00Z", "2026-03-17T09:00", True),
        ("2026-03-17T09:00:00Z", "2026-03-17T09:30:00Z", False),
        ("2026-02-31T09:00:00Z", "2026-02-31T09:00:00Z", True),
        ({"$std": "New York, USA"}, "new york usa", True),
        ({"$std": "New York"}, "York", False),
    ],
)
def test_accepted_values(accepted: object, value: object, right: bool) -> None:
    assert accepts(accepted, value) is right
