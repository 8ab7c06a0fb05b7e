"""Tasks: what a person asks, and which calls are right. Read from the JSON-lines files of the folder ``data``."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from tscg import ConfigError

__all__ = ["CATEGORIES", "SCENARIOS", "Expected", "Task", "load_tasks", "read_tasks"]

JSON: TypeAlias = "bool | int | float | str | list[Any] | dict[str, Any] | None"

SCENARIOS = ("A", "B", "C", "D", "E", "F")
"""A coding agent, B real catalogs, C scaling, D small contexts, E all collections at once, F several turns."""

CATEGORIES = ("single", "sequence", "parameters", "none", "ambiguous", "followup", "policy")
"""One tool; several in order; nested or many parameters; no tool fits; tools that are alike; a value from an earlier
turn; a rule that must be kept."""

FIELDS = (
    "id", "category", "query", "expect", "collection", "today", "policy", "history", "results", "ordered", "trouble",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """A call that is right. ``arguments`` holds what is accepted for each parameter, see :mod:`tscg_bench.accept`."""

    tool: str
    arguments: Mapping[str, JSON] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task. Its expected calls are all and the only ones that should be made; none where no tool fits.

    ``collection`` names the tools that it is written for (``tool`` names are those of the collection's own list),
    ``today`` is the stated date, ``policy`` a rule of the operator, ``history`` what was said before in the form of
    OpenAI's chat API, ``results`` what the tools answer, one for each expected call. ``ordered`` is False where calls
    may come in any order. ``functions`` are tools that come with the task itself (BFCL). ``trouble`` names what goes
    wrong on the way in scenario F: ``"error"`` lets the first right call fail once.
    """

    id: str
    scenario: str
    category: str
    query: str
    expected: tuple[Expected, ...] = ()
    collection: str = ""
    today: str = ""
    policy: str = ""
    history: tuple[dict[str, Any], ...] = ()
    results: tuple[JSON, ...] = ()
    ordered: bool = True
    trouble: str = ""
    functions: tuple[dict[str, Any], ...] = ()

    @property
    def tools(self) -> tuple[str, ...]:
        """Names of the tools that are needed: those of the expected calls and of the calls in the history."""
        past = [call["function"]["name"] for said in self.history for call in said.get("tool_calls", ())]
        return tuple(dict.fromkeys([*(call.tool for call in self.expected), *past]))


def load_tasks(scenario: str) -> tuple[Task, ...]:
    """The tasks of a scenario that come with the package.

    >>> tasks = load_tasks("A")
    >>> len(tasks) >= 120, len({task.query for task in tasks}) == len(tasks)
    (True, True)
    """
    if scenario not in SCENARIOS:
        raise ConfigError(f"unknown scenario {scenario!r}", allowed=SCENARIOS)
    return _shipped(scenario)


@cache
def _shipped(scenario: str) -> tuple[Task, ...]:
    text = (files("tscg_bench") / "data" / f"{scenario.lower()}.jsonl").read_text(encoding="utf-8")
    return parse_tasks(text.split("\n"), scenario)


def read_tasks(path: str | Path, scenario: str = "own") -> tuple[Task, ...]:
    """Tasks of one's own, from a file of the same form, a JSON object a line; ConfigError names a wrong one."""
    return parse_tasks(Path(path).read_text(encoding="utf-8").split("\n"), scenario)


def parse_tasks(lines: Iterable[str], scenario: str) -> tuple[Task, ...]:
    """Tasks from lines; empty ones are passed over."""
    found = tuple(_task(line, place, scenario) for place, line in enumerate(lines, 1) if line.strip())
    seen: set[str] = set()
    for task in found:
        if task.id in seen:
            raise ConfigError(f"two tasks are named {task.id!r}")
        seen.add(task.id)
    return found


def _task(line: str, place: int, scenario: str) -> Task:
    try:
        raw = json.loads(line)
    except ValueError as error:
        raise ConfigError(f"line {place} is no JSON: {error}") from error
    if not isinstance(raw, dict) or not {"id", "category", "query", "expect"} <= raw.keys():
        raise ConfigError(f"line {place} lacks id, category, query or expect")
    if unknown := raw.keys() - set(FIELDS):
        raise ConfigError(f"line {place}: unknown field {sorted(unknown)[0]!r}", allowed=FIELDS)
    if raw["category"] not in CATEGORIES:
        raise ConfigError(f"line {place}: unknown category {raw['category']!r}", allowed=CATEGORIES)
    return Task(
        id=raw["id"], scenario=scenario, category=raw["category"], query=raw["query"],
        expected=_expected(raw["expect"]), collection=raw.get("collection", ""), today=raw.get("today", ""),
        policy=raw.get("policy", ""), history=tuple(raw.get("history", ())), results=tuple(raw.get("results", ())),
        ordered=raw.get("ordered", True), trouble=raw.get("trouble", ""),
    )  # fmt: skip


def _expected(calls: Sequence[Mapping[str, Mapping[str, JSON]]]) -> tuple[Expected, ...]:
    """Calls are written ``[{"TOOL": {"PARAMETER": ACCEPTED}}]``."""
    return tuple(Expected(tool=name, arguments=arguments) for call in calls for name, arguments in call.items())
