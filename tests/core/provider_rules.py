"""Validators of what providers publish about the tools field: each gives the places that the provider would refuse."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

__all__ = ["anthropic_faults", "gemini_faults", "openai_faults", "strict_faults"]

Faults = Iterator[str]
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z").match
ANTHROPIC_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}\Z").match
GEMINI_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.-]{0,63}\Z").match
GEMINI_KEY = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]{0,63}\Z").match
# The fields of Gemini's Schema message that an adapter may write.
GEMINI_FIELDS = frozenset({
    "type", "format", "title", "description", "nullable", "enum", "items", "minItems", "maxItems", "properties", "required",
    "minProperties", "maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern", "anyOf",
})  # fmt: skip
STRICT_FIELDS = frozenset({
    "type", "properties", "required", "additionalProperties", "items", "enum", "anyOf", "$ref", "$defs", "pattern", "format",
    "multipleOf", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "minItems", "maxItems", "description",
})  # fmt: skip


def nodes(schema: Any, at: str = "#") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema in a schema with its place; only where schemas stand."""
    if not isinstance(schema, dict):
        return
    yield at, schema
    for word, value in schema.items():
        if word in ("properties", "patternProperties", "dependentSchemas", "$defs") and isinstance(value, dict):
            for name, inner in value.items():
                yield from nodes(inner, f"{at}/{word}/{name}")
        elif word in ("anyOf", "oneOf", "allOf", "prefixItems") and isinstance(value, list):
            for i, inner in enumerate(value):
                yield from nodes(inner, f"{at}/{word}/{i}")
        elif word in ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"):
            yield from nodes(value, f"{at}/{word}")


def gemini_faults(tools: list[dict[str, Any]]) -> Faults:
    """What Gemini refuses in function declarations whose parameters are its subset of OpenAPI."""
    if len([tool for tool in tools if "functionDeclarations" in tool]) != 1:
        yield "there is not one wrapper of function declarations"
    for declaration in (one for tool in tools for one in tool.get("functionDeclarations", ())):
        name = declaration["name"]
        if not GEMINI_NAME(name):
            yield f"{name!r}: the name"
        if declaration["parameters"].get("type") != "object":
            yield f"{name}: parameters are no object"
        for at, node in nodes(declaration["parameters"]):
            for fault in gemini_node_faults(node):
                yield f"{name} {at}: {fault}"


def gemini_node_faults(node: dict[str, Any]) -> Faults:
    """What the message Schema does not take in one node."""
    yield from (f"field {word}" for word in node.keys() - GEMINI_FIELDS)
    if "anyOf" in node:
        yield from (f"{word} beside anyOf" for word in node if word != "anyOf")
        return
    kind = node.get("type")
    if kind not in ("string", "number", "integer", "boolean", "array", "object"):
        yield f"type {kind!r}"
    if kind == "array" and not isinstance(node.get("items"), dict):
        yield "an array without items"
    if "enum" in node and (
        kind != "string" or not all(isinstance(member, str) and member for member in node["enum"]) or not node["enum"]
    ):
        yield f"enum of {kind}: {node['enum']}"
    formats = {"string": ("enum", "date-time"), "integer": ("int32", "int64"), "number": ("float", "double")}
    if "format" in node and node["format"] not in formats.get(str(kind), ()):
        yield f"format {node['format']} of {kind}"
    yield from (f"key {key!r}" for key in node.get("properties", {}) if not GEMINI_KEY(key))
    yield from (f"required {key!r}" for key in node.get("required", ()) if key not in node.get("properties", {}))


def anthropic_faults(tools: list[dict[str, Any]]) -> Faults:
    """What Anthropic refuses: names, keys at any depth, composed roots, breakpoints beyond one."""
    marked = [tool for tool in tools if "cache_control" in tool]
    if len(marked) > 1:
        yield f"{len(marked)} breakpoints"
    yield from (f"{tool['name']}: a deferred tool with a breakpoint" for tool in marked if tool.get("defer_loading"))
    for tool in tools:
        if "input_schema" not in tool:
            continue
        schema = tool["input_schema"]
        if not NAME(tool["name"]):
            yield f"{tool['name']!r}: the name"
        if schema.get("type") != "object" or {"anyOf", "oneOf", "allOf"} & schema.keys():
            yield f"{tool['name']}: the root"
        for at, node in nodes(schema):
            yield from (
                f"{tool['name']} {at}: key {key!r}" for key in node.get("properties", {}) if not ANTHROPIC_KEY(key)
            )


def openai_faults(tools: list[dict[str, Any]]) -> Faults:
    """What OpenAI refuses in function tools: names, roots, and in strict mode much more."""
    for tool in tools:
        body = tool.get("function", tool)
        if "parameters" not in body:
            continue
        schema = body["parameters"]
        if not NAME(body["name"]):
            yield f"{body['name']!r}: the name"
        if schema.get("type") != "object" or {"anyOf", "oneOf", "allOf", "enum", "not"} & schema.keys():
            yield f"{body['name']}: the root"
        if body.get("strict"):
            yield from (f"{body['name']} {fault}" for fault in strict_faults(schema))


def strict_faults(schema: dict[str, Any]) -> Faults:
    """What OpenAI's strict mode refuses in a schema of parameters."""
    for at, node in nodes(schema):
        yield from (f"{at}: {word}" for word in node.keys() - STRICT_FIELDS)
        if "$ref" in node:
            if not node.keys() <= {"$ref"}:
                yield f"{at}: keywords beside $ref"
            continue
        if "type" not in node and "anyOf" not in node:
            yield f"{at}: no type"
        kinds = node.get("type", ())
        kinds = kinds if isinstance(kinds, list) else [kinds]
        if "object" in kinds:
            if node.get("additionalProperties") is not False:
                yield f"{at}: not closed"
            if sorted(node.get("required", ())) != sorted(node.get("properties", ())):
                yield f"{at}: not all are required"
        if "array" in kinds and not isinstance(node.get("items"), dict):
            yield f"{at}: no items"
