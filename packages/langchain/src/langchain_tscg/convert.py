"""Tools of LangChain as the core reads them: OpenAI's chat form with the original schemas, the objects kept beside."""

from __future__ import annotations

import hashlib
import json
import marshal
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from langchain_core.tools import BaseTool, Tool
from langchain_core.tools import tool as tool_of
from langchain_core.utils.function_calling import convert_to_openai_tool

import tscg
from tscg.errors import CompileError, ConfigError, Fragment

__all__ = ["BoundTool", "BoundTools", "ToolLike", "bound_tools", "full", "listed", "tools_of"]

ToolLike: TypeAlias = "BaseTool | Callable[..., Any] | type | Mapping[str, Any]"

# Where schemas stand in a schema. What is not listed here is data, such as `default` or `enum`.
SCHEMA_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
SCHEMA_LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
SCHEMAS = (
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedItems",
    "unevaluatedProperties", "additionalItems",
)  # fmt: skip
FUNCTIONS = ("function", "custom", None)  # values of `type` in a tool that is no built-in one
KEPT = 64  # catalogs, by the hash of what they hold
_schemas: WeakKeyDictionary[type, dict[str, Any]] = WeakKeyDictionary()
_catalogs: OrderedDict[bytes, tscg.Catalog] = OrderedDict()
_lock = threading.Lock()


class BoundTool(dict[str, Any]):
    """A tool as it stands in the binding, in OpenAI's chat form; ``source`` is the object that the caller gave.

    A plain dict to whoever reads the binding: prebuilt agents look for names there, tracers write it down.
    """

    __slots__ = ("source",)

    def __init__(self, form: Mapping[str, Any], source: ToolLike) -> None:
        super().__init__(form)
        self.source = source

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        # The source may hold anything, such as a client. A copy is what the form alone gives.
        return dict, (dict(self),)


@dataclass(slots=True, kw_only=True)
class Snapshot:
    """A list of tools as it was read: the catalog of those that are compiled, and the others."""

    tools: tuple[BoundTool, ...]
    catalog: tscg.Catalog
    builtins: tuple[BoundTool, ...]
    by_name: Mapping[str, BoundTool]


class BoundTools(list[BoundTool]):
    """The tools of one binding. Reading them into a catalog is done once, not at each call."""

    def __init__(self, tools: Iterable[BoundTool]) -> None:
        super().__init__(tools)
        self._read: Snapshot | None = None

    def read(self) -> Snapshot:
        """The tools as a catalog. CompileError for two tools of one name."""
        kept = self._read
        # A list can be changed by whoever holds it; then it is read again.
        if (
            kept is None
            or len(kept.tools) != len(self)
            or any(a is not b for a, b in zip(kept.tools, self, strict=True))
        ):
            kept = self._read = _snapshot(self)
        return kept


def tools_of(tools: Iterable[ToolLike]) -> list[BaseTool]:
    """The tools as objects that a ``ToolNode`` runs: a plain function becomes one, all others stay the same object.

    Raises ConfigError for what cannot be run.
    """
    return [_runnable(one) for one in listed(tools)]


def listed(tools: Iterable[ToolLike]) -> Iterable[ToolLike]:
    """The tools, if they are a list of them. ConfigError for a single one, which could be iterated over too."""
    if isinstance(tools, BaseTool | Mapping | str) or callable(tools):
        raise ConfigError(f"{type(tools).__name__} is given where a list of tools is expected", hint="write [tool]")
    return tools


def _runnable(given: ToolLike) -> BaseTool:
    if isinstance(given, BaseTool):
        return given
    if callable(given) and not isinstance(given, type):
        made: BaseTool = tool_of(given)
        return made
    raise ConfigError(
        f"{type(given).__name__} is no tool that can be run",
        allowed=("a BaseTool", "a function"),
        hint="give bare schemas to CompressedChatModel(...).bind_tools",
    )


def bound_tools(tools: Sequence[ToolLike]) -> BoundTools:
    """The tools in the form of a binding; a list that is one already stays as it is."""
    return tools if isinstance(tools, BoundTools) else BoundTools(full(one) for one in listed(tools))


def full(given: ToolLike) -> BoundTool:
    """A tool in OpenAI's chat form under its real name, with its whole schema; built-in ones as they are.

    >>> from langchain_core.tools import tool
    >>> @tool
    ... def ping(host: str) -> str:
    ...     "Check a host."
    ...     return "ok"
    >>> full(ping)["function"]["name"], full(ping)["function"]["parameters"]["required"]
    ('ping', ['host'])
    >>> full({"type": "web_search"})
    {'type': 'web_search'}
    """
    if isinstance(given, BoundTool):
        return given
    return BoundTool(_form(given), given)


def is_builtin(form: Mapping[str, Any]) -> bool:
    """Whether a tool of a binding is one of the provider's own."""
    return form.get("type") != "function" or not isinstance(form.get("function"), Mapping)


def _form(given: ToolLike) -> Mapping[str, Any]:
    if isinstance(given, BaseTool):
        return _tool_form(given)
    if isinstance(given, Mapping):
        return _dict_form(given)
    if isinstance(given, type) and hasattr(given, "model_json_schema"):
        schema = dict(schema_of(given))
        return _chat_form(given.__name__, (given.__doc__ or "").strip(), schema)
    return convert_to_openai_tool(given)


def _tool_form(tool: BaseTool) -> Mapping[str, Any]:
    own = (getattr(tool, "extras", None) or {}).get("provider_tool_definition")
    if isinstance(own, Mapping):
        return own
    if isinstance(tool, Tool) and (not tool.args_schema or (tool.metadata or {}).get("type") == "custom_tool"):
        return convert_to_openai_tool(tool)  # one text as argument, or a custom tool of OpenAI's
    if isinstance(tool.args_schema, dict):
        # `tool_call_schema` puts the tool's description on top of the schema, where it would be said twice.
        return _chat_form(tool.name, tool.description, tool.args_schema)
    # Not `args_schema`: it holds injected state, store and runtime too.
    made: Any = tool.tool_call_schema
    return _chat_form(tool.name, tool.description, dict(schema_of(made)))


def _dict_form(given: Mapping[str, Any]) -> Mapping[str, Any]:
    if given.get("type") not in FUNCTIONS and not ("title" in given and "properties" in given):
        return given
    function = given.get("function")
    if isinstance(function, Mapping):
        return {"type": "function", "function": dict(function)}
    if "name" in given:
        schema = given.get("parameters", given.get("input_schema", given.get("inputSchema")))
        named = _chat_form(str(given["name"]), str(given.get("description") or ""), schema)
        return {**named, "function": {**named["function"], **({"strict": True} if given.get("strict") else {})}}
    if "title" in given:
        schema = untitled({key: value for key, value in given.items() if key != "description"})
        return _chat_form(str(given["title"]), str(given.get("description") or ""), schema)
    if "toolSpec" in given:
        return convert_to_openai_tool(dict(given))
    return given  # such as {"google_search": {}}


def _chat_form(name: str, description: str, schema: object) -> dict[str, Any]:
    parameters = schema if isinstance(schema, Mapping) and schema else {"type": "object", "properties": {}}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def schema_of(model: type) -> dict[str, Any]:
    """The JSON Schema of a pydantic class (of either major) without what it says twice: its name, its text, titles."""
    found = _schemas.get(model)
    if found is None:
        made: Any = model
        raw = made.model_json_schema() if hasattr(made, "model_json_schema") else made.schema()
        kept = untitled(raw)
        kept.pop("description", None)
        found = _schemas[model] = kept
    return found


def untitled(schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of a schema without the keyword ``title``; a property of that name stays.

    >>> untitled({"title": "T", "properties": {"title": {"title": "Title", "type": "string"}}})
    {'properties': {'title': {'type': 'string'}}}
    """
    out: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "title" and isinstance(value, str):
            continue
        if key in SCHEMA_MAPS and isinstance(value, Mapping):
            out[key] = {name: _untitled(inner) for name, inner in value.items()}
        elif key in SCHEMA_LISTS and isinstance(value, list):
            out[key] = [_untitled(inner) for inner in value]
        elif key in SCHEMAS:
            out[key] = [_untitled(inner) for inner in value] if isinstance(value, list) else _untitled(value)
        else:
            out[key] = value
    return out


def _untitled(schema: Any) -> Any:
    return untitled(schema) if isinstance(schema, Mapping) else schema


def _snapshot(tools: Sequence[BoundTool]) -> Snapshot:
    compiled = _once([one for one in tools if not is_builtin(one)])
    names = Counter(one["function"].get("name") for one in compiled)
    twice = sorted(str(name) for name, count in names.items() if count > 1)
    if twice:
        raise CompileError(
            [Fragment(tool=name, pointer="", reason="two tools have this name") for name in twice],
            hint="give one of them another name: a ToolNode keeps the last one alone",
        )
    return Snapshot(
        tools=tuple(tools), catalog=catalog_of([dict(one) for one in compiled]),
        builtins=tuple(one for one in tools if is_builtin(one)),
        by_name={one["function"]["name"]: one for one in compiled},
    )  # fmt: skip


def _once(tools: Sequence[BoundTool]) -> list[BoundTool]:
    """The tools without schemas that say what another one says: they run nothing, so nothing is lost."""
    out: list[BoundTool] = []
    seen: dict[str, BoundTool] = {}
    for one in tools:
        name = str(one["function"].get("name"))
        if isinstance(one.source, BaseTool) or seen.get(name) != one:
            out.append(one)
        seen[name] = one
    return out


def catalog_of(forms: list[dict[str, Any]]) -> tscg.Catalog:
    """The catalog of tools in OpenAI's chat form: the same one for the same content, and with it all that is compiled
    of it, whatever the objects are that the tools came from."""
    try:
        content = marshal.dumps(forms, 2)  # a fraction of the time of JSON
    except ValueError:  # a value of another type, such as an enum's member
        content = json.dumps(forms, default=repr).encode()
    key = hashlib.sha256(content).digest()
    with _lock:
        found = _catalogs.get(key)
        if found is not None:
            _catalogs.move_to_end(key)
            return found
    made = tscg.Catalog.from_tools(forms, on_error="passthrough")
    with _lock:
        found = _catalogs.setdefault(key, made)
        while len(_catalogs) > KEPT:
            _catalogs.popitem(last=False)
    return found
