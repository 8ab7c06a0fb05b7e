"""Tools of an agent as the core reads them: under two names each, with the schemas that CrewAI's own dicts lose."""

from __future__ import annotations

import copy
import functools
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from crewai.tools.structured_tool import strip_composite_description_prefix
from crewai.utilities.string_utils import sanitize_tool_name

import tscg

__all__ = ["CrewTool", "Toolset", "named", "read_tools", "refuses", "toolset_of"]

KEPT = 64  # sets of tools
LEGAL = re.compile(r"[a-z_][a-z0-9_]*\Z")  # what CrewAI's providers take
_schemas: WeakKeyDictionary[type, dict[str, Any]] = WeakKeyDictionary()
_toolsets: OrderedDict[tuple[Any, ...], tuple[Toolset, list[Any]]] = OrderedDict()
_lock = threading.Lock()
_spelled = functools.lru_cache(maxsize=4096)(sanitize_tool_name)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CrewTool:
    """A tool of a model call. ``key`` is the executor's name for it, ``name`` its own; ``parameters`` is its schema
    before CrewAI made it strict, ``args_schema`` the class that CrewAI validates with, None where it was not found."""

    key: str
    name: str
    description: str
    parameters: Mapping[str, Any]
    args_schema: type | None = None


class Toolset:
    """The tools of a model call, read once for the same content."""

    def __init__(self, tools: Iterable[CrewTool], given: Sequence[Mapping[str, Any]] = ()) -> None:
        self.tools = tuple(tools)
        self.given = list(given)
        self.by_key = {tool.key: tool for tool in self.tools}
        self._catalogs: dict[frozenset[str] | None, tuple[tscg.Catalog, dict[str, str]]] = {}

    def catalog(self, native: frozenset[str] | None = frozenset()) -> tuple[tscg.Catalog, dict[str, str]]:
        """The catalog, and the name of each tool in it by the executor's key.

        A model reads the tool's own name. ``native`` holds the keys of tools that have a wire tool each, None for all
        of them: those have the key itself as their name, for providers get no other. Where a key is none that they
        take, it is ``tool_`` and a number.
        """
        found = self._catalogs.get(native)
        if found is None:
            names = self._names(native)
            forms = [_form(names[tool.key], tool.description, tool.parameters) for tool in self.tools]
            found = self._catalogs[native] = (tscg.Catalog.from_tools(forms, on_error="passthrough"), names)
        return found

    def _names(self, native: frozenset[str] | None) -> dict[str, str]:
        safe = {
            tool.key: tool.key if LEGAL.match(tool.key) else f"tool_{place}" for place, tool in enumerate(self.tools, 1)
        }
        names = {
            tool.key: safe[tool.key] if native is None or tool.key in native or not tool.name else tool.name
            for tool in self.tools
        }
        times = Counter([*names.values(), *(key for key, name in safe.items() if names[key] != name)])
        return {key: safe[key] if times[name] > 1 else name for key, name in names.items()}


def read_tools(given: Sequence[Mapping[str, Any]], sources: Iterable[Iterable[Any]]) -> Toolset:
    """The tools that ``call`` got as dicts, with the schemas of the objects that they came from.

    ``sources`` are lists of tools of agents, the likeliest first; a dict is taken for the tool that has its key and
    its description there. Of one that is found nowhere the dict itself is read, its parameters optional where they
    have a default or may be null: CrewAI lists all of them as required.
    """
    known = [dict(keyed(tools)) for tools in sources]
    found = [_found(one["function"], known) for one in given]
    classes = [getattr(tool, "args_schema", None) for tool in found]
    key = tuple(
        (one["function"]["name"], one["function"].get("description"), getattr(tool, "name", None), id(made))
        for one, tool, made in zip(given, found, classes, strict=True)
    )
    with _lock:
        kept, copied = _toolsets.get(key, (None, None))
        # Equality with a copy takes a fraction of the time of any hash, and sees a dict that was written into.
        if kept is not None and copied == list(given) and all(
            tool.args_schema is one for tool, one in zip(kept.tools, classes, strict=True)
        ):  # fmt: skip
            _toolsets.move_to_end(key)
            return kept
    made = Toolset([_read(one["function"], tool) for one, tool in zip(given, found, strict=True)], given)
    with _lock:
        _toolsets[key] = (made, copy.deepcopy(list(given)))
        while len(_toolsets) > KEPT:
            _toolsets.popitem(last=False)
    return made


def toolset_of(tools: Iterable[Any], given: Sequence[Mapping[str, Any]] = ()) -> Toolset:
    """Tools of an agent, before CrewAI made dicts of them."""
    return Toolset([named(key, tool) for key, tool in keyed(tools)], given)


def keyed(tools: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Each tool under the key that CrewAI 1.15 gives it in ``convert_tools_to_openai_schema``: its name in the letters
    that providers take, numbered where it comes twice."""
    seen: set[str] = set()
    for tool in tools:
        plain = key = _spelled(tool.name)
        number = 2
        while key in seen:
            key = _spelled(f"{plain}_{number}")
            number += 1
        seen.add(key)
        yield key, tool


def named(key: str, tool: Any) -> CrewTool:
    """A tool under its key.

    >>> from crewai.tools import tool
    >>> @tool("Read File")
    ... def read(path: str) -> str:
    ...     "Read a file."
    ...     return path
    >>> made = named("read_file", read)
    >>> made.name, made.parameters["required"]
    ('Read File', ['path'])
    """
    description = strip_composite_description_prefix(tool.description)
    return _read({"name": key, "description": description, "parameters": {}}, tool)


def own_name(tool: Any) -> str:
    """What a tool is called where it comes from: an MCP tool's key is a command line with its name cut off."""
    name = getattr(tool, "original_tool_name", None) or getattr(tool, "name", None)
    return name if isinstance(name, str) else ""


def refuses(tool: CrewTool, arguments: Mapping[str, Any]) -> bool:
    """Does CrewAI itself refuse these arguments, before the tool runs? It coerces what it can."""
    made: Any = tool.args_schema
    if made is None or not getattr(made, "model_fields", None):
        return False
    from pydantic import ValidationError

    try:
        made.model_validate(dict(arguments))
    except (ValidationError, ValueError, TypeError):
        return True
    return False


def _found(function: Mapping[str, Any], known: Iterable[Mapping[str, Any]]) -> Any:
    for tools in known:
        tool = tools.get(function["name"])
        if tool is None:
            continue
        text = function.get("description")
        if tool.description == text or strip_composite_description_prefix(tool.description) == text:
            return tool
    return None


def _read(function: Mapping[str, Any], tool: Any) -> CrewTool:
    made = getattr(tool, "args_schema", None)
    return CrewTool(
        key=function["name"], name=own_name(tool) or function["name"], description=function.get("description") or "",
        parameters=relaxed(function.get("parameters") or {}) if made is None else schema_of(made), args_schema=made,
    )  # fmt: skip


def schema_of(model: type) -> dict[str, Any]:
    """The JSON Schema of a pydantic class, without the class's own text: the tool has a description."""
    found = _schemas.get(model)
    if found is None:
        made: Any = model
        raw = dict(made.model_json_schema())
        raw.pop("description", None)
        found = _schemas[model] = raw
    return found


def relaxed(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A schema in which what has a default or may be null is optional.

    >>> relaxed({"properties": {"a": {"type": "string"}, "b": {"default": 1}}, "required": ["a", "b"]})["required"]
    ['a']
    """
    properties = schema.get("properties") or {}
    required = [name for name in schema.get("required") or () if not _optional(properties.get(name))]
    return {**schema, "required": required}


def _optional(schema: Any) -> bool:
    if not isinstance(schema, Mapping):
        return False
    forms = [schema, *(schema.get("anyOf") or ())]
    return "default" in schema or any(
        isinstance(form, Mapping) and (form.get("type") == "null" or "null" in _types(form)) for form in forms
    )


def _types(schema: Mapping[str, Any]) -> Sequence[Any]:
    kinds = schema.get("type")
    return kinds if isinstance(kinds, list) else ()


def _form(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    schema = parameters if parameters else {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
