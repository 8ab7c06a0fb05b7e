"""The official single-turn tasks of BFCL, read from a folder (``tasks`` and ``gold``) or out of the wheel of
``bfcl-eval``, a zip that is read and never installed.

Its schema dialect becomes JSON Schema, its accepted answers become accepted values (:mod:`tscg_bench.accept`) with its
checker's comparison of texts: each task stands among its own functions, or among those of other tasks too
(:class:`tscg_bench.catalogs.Contexts` with a size).
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import ZipFile

import tscg
from tscg import Call, ConfigError
from tscg_bench.accept import is_optional, one_accepted
from tscg_bench.catalogs import Contexts
from tscg_bench.tasks import Expected, Task

__all__ = ["CATEGORIES", "load_bfcl", "pool_of", "unsound"]

CATEGORIES = {
    "simple_python": "single", "simple_java": "single", "simple_javascript": "single", "multiple": "ambiguous",
    "parallel": "sequence", "parallel_multiple": "sequence", "irrelevance": "none",
    "live_simple": "single", "live_multiple": "ambiguous", "live_parallel": "sequence",
    "live_parallel_multiple": "sequence", "live_irrelevance": "none",
}  # fmt: skip
"""Their categories, and ours for each."""

PREFIX = "BFCL_v4_"
IN_WHEEL = "bfcl_eval/data/"

TYPES = {
    "dict": "object", "HashMap": "object", "float": "number", "double": "number", "long": "integer", "short": "integer",
    "byte": "integer", "tuple": "array", "ArrayList": "array", "Array": "array", "list": "array", "String": "string",
    "char": "string", "Boolean": "boolean", "Integer": "integer", "any": None, "": None, "Any": None,
}  # fmt: skip
"""Their types and ours; None leaves the type out. In the Java files most things are written as texts, see ``LOOSE``."""

LOOSE = ("simple_java", "simple_javascript")
"""Files whose answers hold values of the language as texts: types bind nobody there."""


def load_bfcl(source: str | Path, categories: Iterable[str] = CATEGORIES) -> tuple[Task, ...]:
    """The tasks of these categories that the source holds. ConfigError where it holds none, or for an unknown one."""
    wanted = tuple(categories)
    if unknown := [name for name in wanted if name not in CATEGORIES]:
        raise ConfigError(f"BFCL has no category {unknown[0]!r}", allowed=tuple(CATEGORIES))
    texts = _texts(Path(source))
    found = tuple(task for name in wanted for task in _tasks(name, texts))
    if not found:
        raise ConfigError(
            f"{source} holds no tasks of BFCL", hint="give the folder with tasks/ and gold/, or the wheel"
        )
    return found


def unsound(tasks: Iterable[Task]) -> tuple[str, ...]:
    """The tasks whose accepted answer is refused by their own functions: a required parameter that it leaves out, say.

    Nobody can score there, for a call that its schema refuses is none.
    """
    found = []
    contexts = Contexts({})
    for task in tasks:
        context = contexts.of(task)
        compiled = tscg.compile(context.catalog, "passthrough")
        calls = [(call.tool, _required(call)) for call in context.task.expected]
        if not all(isinstance(compiled.resolve(name, arguments), Call) for name, arguments in calls):
            found.append(task.id)
    return tuple(found)


def _required(call: Expected) -> dict[str, Any]:
    return {key: one_accepted(one) for key, one in call.arguments.items() if not is_optional(one)}


def pool_of(tasks: Iterable[Task]) -> list[dict[str, Any]]:
    """All functions of the tasks, the first of each name: the others among which a task is pooled."""
    named: dict[str, dict[str, Any]] = {}
    for task in tasks:
        for function in task.functions:
            named.setdefault(function["name"], function)
    return list(named.values())


def _texts(source: Path) -> Mapping[str, str]:
    """The files by ``tasks/NAME`` and ``gold/NAME``."""
    if source.is_dir():
        paths = [path for folder in ("tasks", "gold") for path in sorted((source / folder).glob(f"{PREFIX}*.json"))]
        return {
            f"{path.parent.name}/{path.stem.removeprefix(PREFIX)}": path.read_text(encoding="utf-8") for path in paths
        }
    if not source.is_file():
        raise ConfigError(f"there is no {source}", hint="pip download --no-deps bfcl-eval gives the wheel")
    found = {}
    with ZipFile(source) as wheel:
        for name in wheel.namelist():
            path = PurePosixPath(name)
            if path.name.startswith(PREFIX) and path.suffix == ".json" and IN_WHEEL in name:
                kind = "gold" if path.parent.name == "possible_answer" else "tasks"
                found[f"{kind}/{path.stem.removeprefix(PREFIX)}"] = wheel.read(name).decode("utf-8")
    return found


def _rows(text: str) -> Iterator[dict[str, Any]]:
    # Only at \n: some texts hold U+2028, which str.splitlines takes for the end of a line.
    return (json.loads(line) for line in text.split("\n") if line.strip())


def _tasks(category: str, texts: Mapping[str, str]) -> Iterator[Task]:
    gold = {row["id"]: row["ground_truth"] for row in _rows(texts.get(f"gold/{category}", ""))}
    for row in _rows(texts.get(f"tasks/{category}", "")):
        said = row["question"][0]
        functions = tuple(_function(function, category in LOOSE) for function in row["function"])
        schemas = {function["name"]: function["inputSchema"] for function in functions}
        yield Task(
            id=row["id"], scenario="BFCL", category=CATEGORIES[category], query=said[-1]["content"],
            history=tuple(said[:-1]), functions=functions, collection=category,
            ordered=False, expected=_expected(gold.get(row["id"], ()), schemas),
        )  # fmt: skip


def _function(function: Mapping[str, Any], loose: bool) -> dict[str, Any]:
    schema = _schema(function["parameters"])
    if loose:
        for one in schema.get("properties", {}).values():
            for key in ("type", "items", "properties", "required"):
                one.pop(key, None)
    return {"name": function["name"], "description": function.get("description", ""), "inputSchema": schema}


def _schema(node: Mapping[str, Any]) -> dict[str, Any]:
    out: dict[str, Any] = {key: node[key] for key in ("description", "enum", "required") if key in node}
    kind = node.get("type", "")
    name = TYPES.get(kind, kind)
    if name is not None:
        out["type"] = name
    if isinstance(node.get("properties"), Mapping):
        out["properties"] = {key: _schema(one) for key, one in node["properties"].items()}
    if isinstance(node.get("items"), Mapping):
        out["items"] = _schema(node["items"])
    return out


def _expected(truth: Sequence[Mapping[str, Any]], schemas: Mapping[str, Any]) -> tuple[Expected, ...]:
    return tuple(
        Expected(tool=name, arguments={key: _accepted(values) for key, values in arguments.items()})
        for call in truth
        for name, arguments in call.items()
    )


def _accepted(values: Any) -> Any:
    """One of a list of values is accepted; an empty text among them means that the parameter may be left out."""
    if not isinstance(values, list):
        return _value(values)
    kept = [_value(value) for value in values if value != ""]
    one = kept[0] if len(kept) == 1 else {"$any": kept or [""]}
    return {"$opt": one} if "" in values else one


def _value(value: Any) -> Any:
    """An object has a list of accepted values for each key, an array is accepted as it stands."""
    if isinstance(value, Mapping):
        return {key: _accepted(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_value(one) for one in value]
    return {"$std": value} if isinstance(value, str) else value
