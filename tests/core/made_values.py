"""Values that a schema takes, made from the schema: a few of each form, with declared members alone."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from tscg.ir import Tool
from tscg.validate import validator_of

__all__ = ["valid_arguments"]

DEEP = 6
A_FEW = 6
TEXTS = (
    "",
    "a",
    "aa",
    "x y",
    "AB",
    "/x/1",
    "<b>",
    '"q',
    "2024-05-01T10:00:00Z",
    "3f0c1f9e-0000-4000-8000-000000000000",
    "https://e.org",
)


def valid_arguments(tool: Tool, most: int = 8) -> list[dict[str, Any]]:
    """Arguments that the original of a tool accepts, the least and the fullest first; empty where none was found."""
    schema: Any = tool.to_json_schema()
    is_valid = validator_of(tool, ()).is_valid
    made = (value for value in _values(schema, schema, 0) if isinstance(value, dict))
    return list(islice((value for value in islice(made, most * 4) if is_valid(value)), most))


def _values(node: Any, root: dict[str, Any], depth: int) -> Iterator[Any]:
    if not isinstance(node, dict) or depth > DEEP:
        yield from () if node is False else ("any", 1)
        return
    if "$ref" in node:
        name = node["$ref"].rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~")
        yield from _values(root if node["$ref"] == "#" else root.get("$defs", {}).get(name), root, depth + 1)
        return
    if "enum" in node:
        yield from node["enum"]
    for word in ("anyOf", "oneOf", "allOf"):
        for branch in node.get(word, ()):
            beside = {key: value for key, value in node.items() if key != word}
            yield from islice(_values(_merged(beside, branch), root, depth + 1), A_FEW)
    if {"enum", "anyOf", "oneOf"} & node.keys():
        return
    kinds = node.get("type", "object" if "properties" in node else "string")
    for kind in kinds if isinstance(kinds, list) else [kinds]:
        yield from islice(_of_kind(kind, node, root, depth), A_FEW)


def _merged(left: dict[str, Any], right: Any) -> Any:
    if not isinstance(right, dict) or not left:
        return right
    both = {**left, **right}
    if "properties" in left and "properties" in right:
        both["properties"] = {**left["properties"], **right["properties"]}
    if "required" in left and "required" in right:
        both["required"] = [*left["required"], *right["required"]]
    return both


def _of_kind(kind: str, node: dict[str, Any], root: dict[str, Any], depth: int) -> Iterator[Any]:
    if kind == "object":
        yield from _objects(node, root, depth)
    elif kind == "array":
        yield from _arrays(node, root, depth)
    elif kind in ("integer", "number"):
        low, high = (
            node.get("minimum", node.get("exclusiveMinimum", 0)),
            node.get("maximum", node.get("exclusiveMaximum", 0)),
        )
        for number in (1, low, high, low + 1, high - 1, int(low) + 5, 0, -1, 10):
            yield int(number) if kind == "integer" else number
    elif kind == "boolean":
        yield from (True, False)
    elif kind == "null":
        yield None
    else:
        for length in (node.get("minLength", 0), node.get("maxLength", 1)):
            yield "b" * min(length, 300)
        yield from TEXTS


def _objects(node: dict[str, Any], root: dict[str, Any], depth: int) -> Iterator[Any]:
    properties, needed = node.get("properties", {}), node.get("required", [])
    choices = {name: list(islice(_values(inner, root, depth + 1), A_FEW)) for name, inner in properties.items()}
    choices |= {name: ["any"] for name in needed if name not in choices}
    if any(not choices[name] for name in needed):
        return
    yield {name: choices[name][0] for name in needed}
    full = {name: found for name, found in choices.items() if found}
    for turn in range(A_FEW):
        yield {name: found[turn % len(found)] for name, found in full.items()}
    rest = node.get("additionalProperties")
    if isinstance(rest, dict):
        yield {
            **{name: choices[name][0] for name in needed},
            **{f"k{i}": one for i, one in enumerate(islice(_values(rest, root, depth + 1), 2))},
        }


def _arrays(node: dict[str, Any], root: dict[str, Any], depth: int) -> Iterator[Any]:
    prefix = [list(islice(_values(part, root, depth + 1), 1)) for part in node.get("prefixItems", ())]
    if any(not one for one in prefix):
        return
    first = [one[0] for one in prefix]
    items = list(islice(_values(node.get("items", {}), root, depth + 1), A_FEW))
    least = max(node.get("minItems", 0) - len(first), 0)
    if items or not least:
        yield first + [items[i % len(items)] for i in range(least)]
    for count in range(1, min(len(items), node.get("maxItems", 9)) + 1):
        yield first + items[:count]
