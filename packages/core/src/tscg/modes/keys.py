"""Wire keys: property names that every provider takes, for those that one refuses, at any depth."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tscg.ir import (
    AllOf,
    Array,
    Boolean,
    Catalog,
    Enum,
    Integer,
    Island,
    Node,
    Null,
    Number,
    Object,
    Param,
    String,
    Tool,
    Union,
)
from tscg.modes.names import stamp
from tscg.modes.rows import GEMINI, ROWS
from tscg.record import replace
from tscg.schema import minified

__all__ = ["WireKeys", "keys_for", "refused_keys", "renamed", "wire_keys"]

LIMIT = 64
SCHEMA_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")
SCHEMA_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
SCHEMAS = (
    "items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames", "unevaluatedProperties",
    "unevaluatedItems", "additionalItems",
)  # fmt: skip
_LEAVES = frozenset({String, Integer, Number, Boolean, Enum, Null})
_run = re.compile(r"[^A-Za-z0-9_]+")
_taken_by_all = re.compile(GEMINI.keys).match


def wire_keys(tool: Tool) -> Mapping[str, str]:
    """Aliases of the property names that some provider refuses, by their original; each is unique in the tool.

    It depends on the tool alone, and is worked out once.

    >>> schema = {"properties": {"$top": {}, "filter[id]": {}, "n": {}}}
    >>> wire_keys(Catalog.from_tools([{"name": "a", "parameters": schema}])[0])
    {'$top': 'top', 'filter[id]': 'filter_id'}
    """
    kept: dict[str, str] | None = tool.__dict__.get("_wire_keys")
    if kept is None:
        kept = tool.__dict__["_wire_keys"] = _wire_keys(tool)
    return kept


def _wire_keys(tool: Tool) -> dict[str, str]:
    names = dict.fromkeys(_names(tool))
    refused = [name for name in names if not _taken_by_all(name)]
    if not refused:
        return {}
    wanted = {name: _clean(name) for name in refused}
    claims: dict[str, int] = {}
    for alias in wanted.values():
        claims[alias] = claims.get(alias, 0) + 1
    out: dict[str, str] = {}
    for name, alias in wanted.items():
        plain = alias and len(alias) <= LIMIT and alias not in names and claims[alias] == 1
        out[name] = alias if plain else stamp(name, alias or "key")
    return out


def _clean(name: str) -> str:
    text = _run.sub("_", name)
    text = text.strip("_") if _run.search(name) else text
    return f"_{text}" if text[:1].isdigit() else text


def refused_keys(tool: Tool, pattern: str) -> Mapping[str, str]:
    """Of the aliases those whose original a provider's pattern refuses."""
    keys = wire_keys(tool)
    if not keys:
        return keys
    takes = re.compile(pattern).match
    return {name: alias for name, alias in keys.items() if not takes(name)}


def keys_for(tool: Tool, provider: str) -> Mapping[str, str]:
    """The aliases that a provider's form of a tool has; none where it takes any name, or is not known.

    >>> tool = Catalog.from_tools([{"name": "a", "parameters": {"properties": {"$top": {}, "x-y": {}}}}])[0]
    >>> keys_for(tool, "anthropic"), keys_for(tool, "openai")
    ({'$top': 'top'}, {})
    """
    row = ROWS.get(provider)
    return refused_keys(tool, row.keys) if row is not None and row.keys else {}


class WireKeys(Mapping[str, Mapping[str, str]]):
    """Wire keys by tool, for the tools that are sent natively; each is worked out when it is asked for."""

    __slots__ = ("catalog", "native")

    def __init__(self, catalog: Catalog, native: frozenset[str]) -> None:
        self.catalog, self.native = catalog, native

    def __getitem__(self, name: str) -> Mapping[str, str]:
        if name not in self.native:
            raise KeyError(name)
        return wire_keys(self.catalog.by_name[name])

    def __iter__(self) -> Iterator[str]:
        return (tool.name for tool in self.catalog if tool.name in self.native)

    def __len__(self) -> int:
        return sum(1 for _ in self)


# --- names in a tool --------------------------------------------------------------------------------------------------


def _names(tool: Tool) -> Iterator[str]:
    """Names of properties, at every depth."""
    seen: set[int] = set()
    waiting: list[Node] = [tool.root, *(node for _, node in tool.types)]
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Object):
            for param in node.params:
                yield param.name
                inner = param.type
                if inner is not None and (inner.extra or type(inner) not in _LEAVES):
                    waiting.append(inner)
            if node.rest is not None:
                waiting.append(node.rest)
        elif isinstance(node, Array):
            waiting.extend(node.prefix if node.items is None else (*node.prefix, node.items))
        elif isinstance(node, Union):
            waiting.extend(node.branches)
        elif isinstance(node, AllOf):
            waiting.extend(node.parts)
        elif isinstance(node, Island):
            yield from _names_of(json.loads(node.schema))
        if node.extra:
            yield from _names_of(json.loads(node.extra))


def _names_of(schema: Any) -> Iterator[str]:
    """Declared names; one that is only required, in a condition say, stays as it is: nobody maps its alias back."""
    if not isinstance(schema, dict):
        return
    found = schema.get("properties")
    yield from found if isinstance(found, dict) else ()
    for below in _below(schema):
        yield from _names_of(below)


def _below(schema: dict[str, Any]) -> Iterator[Any]:
    for word, value in schema.items():
        if word in SCHEMA_MAPS and isinstance(value, dict):
            yield from value.values()
        elif word in SCHEMA_LISTS and isinstance(value, list):
            yield from value
        elif word in SCHEMAS:
            yield from value if isinstance(value, list) else (value,)


# --- a tool under its aliases -----------------------------------------------------------------------------------------


def renamed(tool: Tool, keys: Mapping[str, str]) -> Tool:
    """The tool with its properties under their aliases, ``required`` and every rule about names in step."""
    work = _Renaming(keys)
    types = tuple((name, work.node(node)) for name, node in tool.types)
    # Without the original: what is sent as it came would hold the names that are refused.
    return replace(tool, root=work.node(tool.root), types=types, _raw=b"", _schema=b"")


class _Renaming:
    def __init__(self, keys: Mapping[str, str]) -> None:
        self.keys = keys
        self.done: dict[int, Node] = {}

    def node(self, node: Node) -> Node:
        found = self.done.get(id(node))
        if found is None:
            found = self.done[id(node)] = self.made(node)
        return found

    def made(self, node: Node) -> Node:
        extra = node.extra and minified(self.schema(json.loads(node.extra)))
        if isinstance(node, Object):
            params = tuple(self.param(param) for param in node.params)
            if any(new.name != old.name for new, old in zip(params, node.params, strict=True)):
                return self.opened(node, params, extra)
            rest = None if node.rest is None else self.node(node.rest)
            return replace(node, params=params, rest=rest, extra=extra)
        if isinstance(node, Array):
            items = None if node.items is None else self.node(node.items)
            return replace(node, items=items, prefix=tuple(map(self.node, node.prefix)), extra=extra)
        if isinstance(node, Union):
            return replace(node, branches=tuple(map(self.node, node.branches)), extra=extra)
        if isinstance(node, AllOf):
            return replace(node, parts=tuple(map(self.node, node.parts)), extra=extra)
        if isinstance(node, Island):
            return replace(node, schema=minified(self.schema(json.loads(node.schema))), extra=extra)
        return node if extra == node.extra else replace(node, extra=extra)

    def opened(self, node: Object, params: tuple[Param, ...], extra: str) -> Object:
        """An object with other names: rules on the spelling of names go, since an alias may be spelled otherwise."""
        spelled = json.loads(extra) if extra else {}
        by_spelling = {"patternProperties", "propertyNames"} & spelled.keys()
        left = {key: value for key, value in spelled.items() if key not in by_spelling}
        rest = None if node.rest is None or by_spelling else self.node(node.rest)
        closed = node.closed and not by_spelling
        return replace(node, params=params, rest=rest, closed=closed, extra=minified(left) if left else "")

    def param(self, param: Param) -> Param:
        node = None if param.type is None else self.node(param.type)
        return replace(param, name=self.keys.get(param.name, param.name), type=node)

    def schema(self, schema: Any) -> Any:
        """The same in JSON Schema, by position."""
        if not isinstance(schema, dict):
            return schema
        return {word: self.keyword(word, value) for word, value in schema.items()}

    def keyword(self, word: str, value: Any) -> Any:
        keys = self.keys
        if word in ("properties", "dependentSchemas") and isinstance(value, dict):
            return {keys.get(name, name): self.schema(inner) for name, inner in value.items()}
        if word == "required" and isinstance(value, list):
            return [keys.get(name, name) if isinstance(name, str) else name for name in value]
        if word == "dependentRequired" and isinstance(value, dict):
            return {keys.get(name, name): self.keyword("required", names) for name, names in value.items()}
        if word in SCHEMA_MAPS and isinstance(value, dict):
            return {name: self.schema(inner) for name, inner in value.items()}
        if (word in SCHEMA_LISTS or word in SCHEMAS) and isinstance(value, list):
            return [self.schema(inner) for inner in value]
        return self.schema(value) if word in SCHEMAS else value
