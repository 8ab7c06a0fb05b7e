"""Collections of tools, and the context of a task: which tools stand before the model when it is asked.

Three collections come with the packages: ``workbench`` (a coding agent's), ``bureau`` (private life and office) and
``demo`` (the server of ``tscg demo``). Others are catalogs of real servers, in files: a collection is called as the
file's ``server``, else as the file.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from typing import Any, TypeAlias

from tscg import Catalog, ConfigError
from tscg_bench.generate import MOST, generated_tools
from tscg_bench.tasks import Expected, Task

__all__ = ["SIZES", "Collections", "Context", "Contexts", "collections_of", "context_of"]

Collections: TypeAlias = Mapping[str, Sequence[dict[str, Any]]]
Labelled: TypeAlias = tuple[str, dict[str, Any]]

SIZES = (3, 5, 10, 15, 20, 30, 50, 75, 100, 200, 400, 800)
"""Sizes of scenario C; D has those up to 15."""

SHIPPED = ("workbench", "bureau", "demo")
DEFAULT_SIZE = {"C": 20, "D": 10}
BFCL = "bfcl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The tools before the model, and the task with the names that its tools have there."""

    task: Task
    catalog: Catalog


def collections_of(paths: Iterable[str | Path] = ()) -> dict[str, list[dict[str, Any]]]:
    """The shipped collections and those in the files. ConfigError for a file without tools, or a name given twice.

    >>> {name: len(tools) for name, tools in collections_of().items()}
    {'workbench': 16, 'bureau': 65, 'demo': 43}
    """
    found = {name: list(_shipped(name)) for name in SHIPPED}
    for path in map(Path, paths):
        raw = json.loads(path.read_text(encoding="utf-8"))
        tools = raw.get("tools") if isinstance(raw, dict) else raw
        if not isinstance(tools, list) or not tools:
            raise ConfigError(f"{path} holds no list of tools")
        name = path.stem
        if name in found:
            raise ConfigError(f"two collections are called {name!r}", hint="rename a file")
        found[name] = [tool.get("function", tool) for tool in tools]
    return found


@cache
def _shipped(name: str) -> tuple[dict[str, Any], ...]:
    if name == "demo":
        from tscg.demo.tools import TOOLS

        return tuple(tool.to_mcp() for tool in TOOLS)
    return tuple(_file(name)["tools"])


@cache
def _more() -> tuple[dict[str, Any], ...]:
    return tuple(generated_tools(MOST))


@cache
def _file(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files("tscg_bench") / "data" / f"{name}.json").read_text(encoding="utf-8"))
    return found


class Contexts:
    """The contexts of many tasks: tasks that are asked among the same tools share one catalog."""

    def __init__(self, collections: Collections, *, size: int | None = None, seed: int = 0) -> None:
        self.collections, self.size, self.seed = collections, size, seed
        self._catalogs: dict[tuple[tuple[str, str], ...], Catalog] = {}

    def of(self, task: Task) -> Context:
        """The tools that a task is asked among.

        A has ``workbench``, B the collection of the task, C and D the tools that the task needs among ``bureau`` and
        the generator's, E all collections, F as B. A size makes it just so many, of which the task's own come first,
        then those that are most like them; BFCL's tasks come with their own functions and take the others from
        ``collections["bfcl"]``. The choice depends on the tools that are needed and the seed alone, and a smaller one
        is part of a larger one.
        """
        labelled = self._labelled(task)
        if task.functions:  # functions of one name differ between tasks
            return _located(task, _catalog(labelled))
        key = tuple((label, tool["name"]) for label, tool in labelled)
        if key not in self._catalogs:
            self._catalogs[key] = _catalog(labelled)
        return _located(task, self._catalogs[key])

    def _labelled(self, task: Task) -> list[Labelled]:
        size = DEFAULT_SIZE.get(task.scenario) if self.size is None else self.size
        own = [(BFCL, tool) for tool in task.functions] or _own(task, self.collections)
        if size is not None:
            return _chosen(task, own, self.collections, size, self.seed)
        if task.scenario == "E":
            return [(name, tool) for name, tools in self.collections.items() for tool in tools]
        return own


def context_of(task: Task, collections: Collections, *, size: int | None = None, seed: int = 0) -> Context:
    """The context of one task, see :meth:`Contexts.of`.

    >>> from tscg_bench.tasks import load_tasks
    >>> task = load_tasks("C")[0]
    >>> len(context_of(task, collections_of(), size=5).catalog)
    5
    """
    return Contexts(collections, size=size, seed=seed).of(task)


def _own(task: Task, collections: Collections) -> list[Labelled]:
    names = {name for name, _ in map(_split, task.tools) if name} or {_home(task)}
    for name in names - collections.keys():
        raise ConfigError(f"task {task.id} is written for the collection {name!r}, which is not given")
    return [(name, tool) for name in sorted(names) for tool in collections[name]]


def _home(task: Task) -> str:
    if task.functions:
        return BFCL
    if task.collection:
        return task.collection
    return {"A": "workbench", "C": "bureau", "D": "bureau"}.get(task.scenario, SHIPPED[0])


def _split(name: str) -> tuple[str, str]:
    """``server:tool`` in its parts, the first empty where there is none."""
    server, colon, local = name.partition(":")
    return (server, local) if colon and server.isidentifier() else ("", name)


def _chosen(task: Task, own: Sequence[Labelled], collections: Collections, size: int, seed: int) -> list[Labelled]:
    """So many tools: needed ones, a half of near ones, then any."""
    needed_names = {local for _, local in map(_split, task.tools)}
    needed = list(own) if task.functions else [pair for pair in own if pair[1]["name"] in needed_names]
    if len(needed) > size:
        raise ConfigError(f"task {task.id} needs {len(needed)} tools, and {size} are asked for")
    related = _related(needed_names) if _home(task) == "bureau" else set()
    close = [pair for pair in own if pair not in needed and pair[1]["name"] in related]
    rest = [pair for pair in own if pair not in needed and pair not in close]
    # Drawn by what is needed and near it, so that tasks of one domain share their tools, and a provider its cache.
    family = sorted(tool["name"] for _, tool in (*needed, *close))
    random_ = random.Random(f"{seed}:{','.join(family)}")
    far = _far(task, own, collections)
    for part in (close, rest, far):
        random_.shuffle(part)
    mixed = [pair for both in zip_longest(rest, far) for pair in both if pair is not None]
    found = [*needed, *close, *mixed][:size]
    if len(found) < size:
        raise ConfigError(f"there are only {len(found)} tools for {size}", hint="give more catalogs")
    return sorted(found, key=lambda pair: (pair[0], pair[1]["name"]))


def _far(task: Task, own: Sequence[Labelled], collections: Collections) -> list[Labelled]:
    """Tools of elsewhere, none of which has the name of one of the task's own."""
    names = {tool["name"] for _, tool in own}
    if task.functions:
        others = [(BFCL, tool) for tool in collections.get(BFCL, ())]
    elif task.scenario in DEFAULT_SIZE:
        others = [(_home(task), tool) for tool in _more()]
    else:
        labels = {name for name, _ in own}
        others = [(name, tool) for name, tools in collections.items() if name not in labels for tool in tools]
    return [pair for pair in others if pair[1]["name"] not in names]


def _related(needed: set[str]) -> set[str]:
    """Tools of ``bureau`` that belong to the domains of those that are needed."""
    domains: dict[str, list[str]] = _file("bureau")["domains"]
    return {name for names in domains.values() if needed & set(names) for name in names}


def _catalog(labelled: Sequence[Labelled]) -> Catalog:
    by_server: dict[str, list[dict[str, Any]]] = {}
    for name, tool in labelled:
        by_server.setdefault(name, []).append(tool)
    parts = [Catalog.from_tools(tools, server=name) for name, tools in sorted(by_server.items())]
    return parts[0] if len(parts) == 1 else Catalog.join(*parts)


def _located(task: Task, catalog: Catalog) -> Context:
    """The task with the names that its tools have in the catalog."""
    names = {(tool.server, tool.local_name): tool.name for tool in catalog}

    def name_of(written: str) -> str:
        server, local = _split(written)
        found = names.get((server or _home(task), local))
        if found is None:
            raise ConfigError(f"task {task.id} names {written!r}, which is no tool of its catalog")
        return found

    history = tuple(_renamed(said, name_of) for said in task.history)
    expected = tuple(Expected(tool=name_of(call.tool), arguments=call.arguments) for call in task.expected)
    return Context(task=replace(task, expected=expected, history=history), catalog=catalog)


def _renamed(said: dict[str, Any], name_of: Callable[[str], str]) -> dict[str, Any]:
    if "tool_calls" not in said:
        return said
    called = [(call, call["function"]) for call in said["tool_calls"]]
    calls = [{**call, "function": {**function, "name": name_of(function["name"])}} for call, function in called]
    return {**said, "tool_calls": calls}
