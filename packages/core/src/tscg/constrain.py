"""A JSON Schema of the whole answer, for servers that constrain decoding: calls, or an answer in text.

:mod:`tscg.gbnf` writes the same answer as a grammar.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tscg.resolve import Surface

__all__ = ["arguments_of", "output_schema"]

MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs")
LISTS = ("allOf", "anyOf", "oneOf", "prefixItems")
SCHEMAS = (
    "items",
    "additionalProperties",
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
)
LOOKUP: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tools": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 10},
        "query": {"type": "string"},
    },
    "additionalProperties": False,
}
"""Arguments of the lookup where how to call offers one."""


def arguments_of(surface: Surface, must_call: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
    """Names that a call may have with the schemas of their arguments: all tools, and the lookup where there is one.

    The schemas are those of the validators, with all that they check. Read them only.
    """
    for name, entry in surface.index.entries.items():
        yield name, entry.validator.copy
    if surface.lookup_tool and not must_call:
        yield surface.lookup_tool, LOOKUP


def output_schema(surface: Surface, *, must_call: bool = False, parallel: bool = True) -> dict[str, Any]:
    """The schema (2020-12) of ``{"tool_calls": [{"name", "arguments"}, ...]}`` or ``{"answer": TEXT}``.

    The arguments of each tool stand under ``$defs`` with all that the validator checks. With ``must_call`` there is no
    answer in text and no lookup, without ``parallel`` there is one call at most.

    >>> from tscg.ir import Catalog, Object, Tool
    >>> from tscg.resolve import Surface
    >>> schema = output_schema(Surface(catalog=Catalog(tools=(Tool(name="ping", root=Object()),))))
    >>> schema["anyOf"][0]["properties"]["tool_calls"]["items"]["anyOf"][0]["properties"]["name"]
    {'const': 'ping'}
    """
    defs: dict[str, Any] = {}
    branches = []
    for number, (name, schema) in enumerate(arguments_of(surface, must_call)):
        key = f"t{number}"
        arguments = moved(copy.deepcopy(schema), f"#/$defs/{key}")
        defs[key] = {"type": "object", **arguments}
        branches.append(_closed(name={"const": name}, arguments={"$ref": f"#/$defs/{key}"}))
    calls: dict[str, Any] = {"type": "array", "minItems": 1, "items": {"anyOf": branches}}
    if not parallel:
        calls["maxItems"] = 1
    answers = [] if must_call and branches else [_closed(answer={"type": "string"})]
    shapes = [*([_closed(tool_calls=calls)] if branches else []), *answers]
    return {"anyOf": shapes, "$defs": defs} if defs else {"anyOf": shapes}


def _closed(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def moved(node: Any, base: str) -> Any:
    """A schema whose references count from another place; changed where it stands.

    >>> moved({"properties": {"$ref": {"$ref": "#/$defs/r0"}}}, "#/$defs/t1")
    {'properties': {'$ref': {'$ref': '#/$defs/t1/$defs/r0'}}}
    """
    if not isinstance(node, dict):
        return node
    if isinstance(node.get("$ref"), str):
        node["$ref"] = base + node["$ref"].removeprefix("#")
    for key in MAPS:
        for inner in node.get(key, {}).values():
            moved(inner, base)
    for key in LISTS:
        for inner in node.get(key, ()):
            moved(inner, base)
    for key in SCHEMAS:
        moved(node.get(key), base)
    return node
