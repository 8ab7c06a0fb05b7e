"""A JSON Schema of the whole answer, for servers that constrain decoding: calls, or an answer in text."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tscg.resolve import Surface

__all__ = ["output_schema"]

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


def output_schema(surface: Surface, *, must_call: bool = False, parallel: bool = True) -> dict[str, Any]:
    """The schema (2020-12) of ``{"tool_calls": [{"name", "arguments"}, ...]}`` or ``{"answer": TEXT}``.

    The arguments of each tool stand under ``$defs`` with all that the validator checks. With ``must_call`` there is no
    answer in text, without ``parallel`` there is one call at most.

    >>> from tscg.ir import Catalog, Object, Tool
    >>> from tscg.resolve import Surface
    >>> schema = output_schema(Surface(catalog=Catalog(tools=(Tool(name="ping", root=Object()),))))
    >>> schema["anyOf"][0]["properties"]["tool_calls"]["items"]["anyOf"][0]["properties"]["name"]
    {'const': 'ping'}
    """
    defs: dict[str, Any] = {}
    branches = []
    for number, (name, entry) in enumerate(surface.index.entries.items()):
        key = f"t{number}"
        arguments = moved(copy.deepcopy(entry.validator.copy), f"#/$defs/{key}")
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
