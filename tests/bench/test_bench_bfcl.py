"""BFCL: its dialect, its checker's way to compare, as it is and pooled, from a folder and out of a wheel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

import tscg

pytest.importorskip("tscg_bench", reason="tscg-bench is not installed")

from tscg_bench.accept import is_optional, one_accepted
from tscg_bench.bfcl import load_bfcl, pool_of, unsound
from tscg_bench.catalogs import Contexts
from tscg_bench.score import Attempt, Made, score_attempt
from tscg_bench.tasks import Task

TASKS: list[dict[str, Any]] = [
    {
        "id": "multiple_0",
        "question": [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "How far is it?\u2028Please."}]],
        "function": [
            {
                "name": "geo.distance",
                "description": "Distance",
                "parameters": {
                    "type": "dict",
                    "required": ["a", "points"],
                    "properties": {
                        "a": {"type": "string", "description": "From"},
                        "points": {"type": "tuple", "items": {"type": "float"}},
                        "opts": {"type": "dict", "properties": {"unit": {"type": "string"}, "n": {"type": "integer"}}},
                        "more": {"type": "any"},
                    },
                },
            },
            {"name": "geo.area", "parameters": {"type": "dict", "properties": {}}},
        ],
    },
    {
        "id": "multiple_1",
        "question": [[{"role": "user", "content": "Twice."}]],
        "function": [
            {"name": "twice", "parameters": {"type": "dict", "required": ["n"], "properties": {"n": {"type": "integer"}}}},
        ],
    },
    {
        "id": "multiple_2",
        "question": [[{"role": "user", "content": "Broken."}]],
        "function": [
            {"name": "broken", "parameters": {"type": "dict", "required": ["n"], "properties": {"n": {"type": "integer"}}}},
        ],
    },
]  # fmt: skip
GOLD: list[dict[str, Any]] = [
    {
        "id": "multiple_0",
        "ground_truth": [
            {
                "geo.distance": {
                    "a": ["New York, USA", "NYC"],
                    "points": [[1, 2.5]],
                    "opts": [{"unit": ["km", ""], "n": [3]}, ""],
                    "more": [""],
                }
            }
        ],
    },
    {"id": "multiple_1", "ground_truth": [{"twice": {"n": [1]}}, {"twice": {"n": [2]}}]},
    {"id": "multiple_2", "ground_truth": [{"broken": {"n": [""]}}]},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for kind, rows in (("tasks", TASKS), ("gold", GOLD)):
        (tmp_path / kind).mkdir()
        text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        (tmp_path / kind / "BFCL_v4_multiple.json").write_text(text, encoding="utf-8")
    return tmp_path


def score(task: Task, *calls: tuple[str, dict[str, Any]]) -> float:
    made = tuple(Made(name=name, arguments=arguments) for name, arguments in calls)
    return score_attempt(task, Attempt(calls=made)).exact


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        ({"a": "new york usa", "points": [1, 2.5]}, True),
        ({"a": "NYC", "points": [1.0, 2.5], "opts": {"unit": "KM", "n": 3}}, True),
        ({"a": "NYC", "points": [1, 2.5], "opts": {"n": 3}}, True),
        ({"a": "NYC", "points": [1, 2.5], "opts": {"unit": "km"}}, False),
        ({"a": "NYC", "points": [1, 2.5], "opts": {"n": 3, "other": 1}}, False),
        ({"a": "NYC", "points": [2.5, 1]}, False),
        ({"a": "York", "points": [1, 2.5]}, False),
        ({"a": "NYC"}, False),
        ({"a": "NYC", "points": [1, 2.5], "unheard": 1}, False),
    ],
)
def test_answers_are_judged_as_its_checker_does(folder: Path, arguments: dict[str, Any], right: bool) -> None:
    task = load_bfcl(folder)[0]
    assert score(task, ("geo.distance", arguments)) == float(right)


def test_parallel_calls_may_come_in_any_order(folder: Path) -> None:
    task = load_bfcl(folder)[1]
    assert score(task, ("twice", {"n": 2}), ("twice", {"n": 1})) == 1
    assert score(task, ("twice", {"n": 1}), ("twice", {"n": 1})) == 0


def test_the_dialect_becomes_json_schema(folder: Path) -> None:
    task = load_bfcl(folder)[0]
    assert task.query == "How far is it?\u2028Please."
    assert task.history == ({"role": "system", "content": "Be brief."},)
    schema = task.functions[0]["inputSchema"]
    assert schema["type"] == "object"
    assert schema["properties"]["points"] == {"type": "array", "items": {"type": "number"}}
    assert "type" not in schema["properties"]["more"]
    assert len(tscg.Catalog.from_tools(task.functions)) == 2


def test_answers_that_their_own_functions_refuse_are_found(folder: Path) -> None:
    assert unsound(load_bfcl(folder)) == ("multiple_2",)


def test_a_wheel_is_read_and_not_installed(folder: Path, tmp_path: Path) -> None:
    wheel = tmp_path / "bfcl_eval-1-py3-none-any.whl"
    with ZipFile(wheel, "w") as archive:
        archive.write(folder / "tasks" / "BFCL_v4_multiple.json", "bfcl_eval/data/BFCL_v4_multiple.json")
        archive.write(folder / "gold" / "BFCL_v4_multiple.json", "bfcl_eval/data/possible_answer/BFCL_v4_multiple.json")
        archive.writestr("bfcl_eval/data/unused/BFCL_v4_other.json", "{}")
    assert load_bfcl(wheel) == load_bfcl(folder)


def test_what_is_not_there_is_told(tmp_path: Path, folder: Path) -> None:
    for source in (tmp_path / "nothing", tmp_path / "tasks"):
        with pytest.raises(tscg.ConfigError):
            load_bfcl(source)
    with pytest.raises(tscg.ConfigError, match="nope"):
        load_bfcl(folder, ["nope"])


# --- the official data ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def official(shared_folder: Path | None) -> tuple[Task, ...]:
    if shared_folder is None or not (shared_folder / "bfcl").is_dir():
        pytest.skip("no BFCL data beside the repository")
    return load_bfcl(shared_folder / "bfcl")


def test_all_official_tasks_are_read_and_nearly_all_are_sound(official: tuple[Task, ...]) -> None:
    assert len(official) == 1_448
    assert len(unsound(official)) == 11


@pytest.mark.parametrize("size", [10, 30, 50, 100])
def test_pooled_tasks_are_answered_as_alone(official: tuple[Task, ...], size: int) -> None:
    """Each task's functions among those of others: the same choice at every run, and its answer is still right."""
    pool = pool_of(official)
    contexts, again = (Contexts({"bfcl": pool}, size=size) for _ in range(2))
    refused = set(unsound(official[::73]))
    for task in official[::73]:
        context = contexts.of(task)
        names = [tool.name for tool in context.catalog]
        assert len(set(names)) == size
        assert names == [tool.name for tool in again.of(task).catalog]
        if task.id in refused:
            continue
        calls = [
            (call.tool, {key: one_accepted(one) for key, one in call.arguments.items() if not is_optional(one)})
            for call in context.task.expected
        ]
        assert score(context.task, *calls) == 1, task.id
