"""Strict mode: the schema that a provider can hold a model to, where that blocks no call with declared parameters."""

from __future__ import annotations

from typing import Any, NamedTuple

from tscg.modes.rows import StrictRow
from tscg.modes.words import Said, in_words

__all__ = ["Strict", "free_keys", "strict_schema"]

COMPOSED = ("anyOf", "oneOf")
MEMBERS = ("properties", "required", "additionalProperties", "items", "$defs")
ANNOTATIONS = frozenset({"title", "examples", "deprecated", "readOnly", "writeOnly"})
KEPT = frozenset(
    "type description enum const format pattern multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems "
    "maxItems minLength maxLength".split()
)
SCHEMA_MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs", "definitions")


class Strict(NamedTuple):
    """The schema for strict mode and what it no longer says; or the reason why there is none."""

    schema: dict[str, Any] | None
    said: tuple[Said, ...] = ()
    reason: str = ""


class _Loose(Exception):
    """Why a schema has no strict form."""


def strict_schema(schema: dict[str, Any], row: StrictRow, open_at: str = "") -> Strict:
    """A schema of arguments rewritten for a provider's strict mode. Fresh values; the schema given stays as it is.

    ``open_at`` names an object of the original that allows undeclared names, where there is one (it is never closed).

    >>> from tscg.modes.rows import OPENAI
    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    >>> strict_schema(schema, OPENAI.strict).schema["properties"]["n"]
    {'type': ['integer', 'null']}
    >>> strict_schema({"type": "object", "properties": {"bag": {"type": "object"}}}, OPENAI.strict).reason
    'bag: an object of free keys'
    """
    if open_at:
        return Strict(None, reason=open_at)
    work = _Closing(schema, row)
    try:
        made = work.node(schema, (), 0)
        for name, inner in work.types.items():
            made.setdefault("$defs", {})[name] = work.node(inner, (), 1)
        work.limits()
    except _Loose as loose:
        return Strict(None, reason=str(loose))
    return Strict(made, tuple(dict.fromkeys(work.said)))


def free_keys(schema: Any, path: tuple[str, ...] = (), depth: int = 0) -> str:
    """The first object of an original schema that says that it takes undeclared names, as a reason; else empty."""
    if not isinstance(schema, dict) or depth > 64:
        return ""
    more = schema.get("additionalProperties")
    if more is True or isinstance(more, dict):
        return f"{'.'.join(path) or 'the arguments'}: an object of free keys"
    for word, value in schema.items():
        if word in SCHEMA_MAPS and isinstance(value, dict):
            inner = [(name, one) for name, one in value.items()]
        elif isinstance(value, dict) and word not in ("default", "const", "example"):
            inner = [("", value)]
        elif isinstance(value, list) and word not in ("enum", "examples", "required", "type"):
            inner = [("", one) for one in value]
        else:
            continue
        for name, one in inner:
            found = free_keys(one, (*path, name) if name else path, depth + 1)
            if found:
                return found
    return ""


class _Closing:
    def __init__(self, root: dict[str, Any], row: StrictRow) -> None:
        self.root, self.row = root, row
        found = root.get("$defs")
        self.types: dict[str, Any] = found if isinstance(found, dict) else {}
        self.said: list[Said] = []
        self.properties = self.members = 0

    def limits(self) -> None:
        row = self.row
        for word, count, most in (
            ("properties", self.properties, row.properties), ("enum members", self.members, row.members),
        ):  # fmt: skip
            if count > most:
                raise _Loose(f"{count} {word}, and {most} are allowed")

    def node(self, given: Any, path: tuple[str, ...], depth: int) -> dict[str, Any]:
        place = ".".join(path) or "the arguments"
        if not isinstance(given, dict) or not given:
            raise _Loose(f"{place}: any value")
        if depth > self.row.levels:
            raise _Loose(f"{place}: more than {self.row.levels} levels")
        for word in given:
            if word in self.row.refused:
                raise _Loose(f"{place}: the keyword {word}")
        if "$ref" in given:
            return self.reference(given, place)
        out = self.keywords(given, path, depth)
        kinds = out.get("type")
        if kinds is None and "anyOf" not in out:
            raise _Loose(f"{place}: any type")
        holds = kinds if isinstance(kinds, list) else [kinds]
        if "array" in holds:
            if not isinstance(given.get("items"), dict):
                raise _Loose(f"{place}: a list of any values")
            out["items"] = self.node(given["items"], (*path, "[]"), depth)
        if "object" in holds:
            self.object(given, path, depth, out)
        elif not {"properties", "required", "additionalProperties"}.isdisjoint(given):
            raise _Loose(f"{place}: any type")
        return out

    def keywords(self, given: dict[str, Any], path: tuple[str, ...], depth: int) -> dict[str, Any]:
        """What stays of a node but its members and items; what strict mode refuses is said."""
        out: dict[str, Any] = {}
        for word, value in given.items():
            if word in self.row.said or (word == "format" and value not in self.row.formats):
                if value is not False:  # an explicit "uniqueItems: false" says nothing
                    self.said.append(Said(path, word, in_words(word, value)))
            elif word in COMPOSED:
                self.union(word, value, path, depth, out)
            elif word in MEMBERS or word in ANNOTATIONS or word.startswith("x-"):
                continue
            elif word not in KEPT:
                raise _Loose(f"{'.'.join(path) or 'the arguments'}: the keyword {word}")
            else:
                out[word] = value
        if "const" in out and "enum" not in out:
            out["enum"] = [out.pop("const")]
        if "enum" in out:
            self.listed(out)
        return out

    def reference(self, given: dict[str, Any], place: str) -> dict[str, Any]:
        if len(given) > 1 and not given.keys() <= {"$ref", "$defs"}:
            raise _Loose(f"{place}: keywords beside a reference")
        if not self.row.recursion:  # references are left only where a type holds itself
            raise _Loose(f"{place}: a type that holds itself")
        return {"$ref": given["$ref"]}

    def union(self, word: str, value: Any, path: tuple[str, ...], depth: int, out: dict[str, Any]) -> None:
        if not isinstance(value, list) or "anyOf" in out or not path:
            raise _Loose(f"{'.'.join(path) or 'the arguments'}: the keyword {word}")
        out["anyOf"] = [self.node(branch, path, depth) for branch in value]
        if word == "oneOf" and len(value) > 1:
            self.said.append(Said(path, word, in_words(word, value)))

    def listed(self, out: dict[str, Any]) -> None:
        members = list(out["enum"])
        out["enum"] = members
        self.members += len(members)
        if "type" not in out:
            kinds = list(dict.fromkeys(_kind(member) for member in members))
            out["type"] = kinds[0] if len(kinds) == 1 else kinds
        if {"array", "object"} & set(out["type"] if isinstance(out["type"], list) else [out["type"]]):
            raise _Loose("an enum of lists or objects")

    def object(self, given: dict[str, Any], path: tuple[str, ...], depth: int, out: dict[str, Any]) -> None:
        place = ".".join(path) or "the arguments"
        found = given.get("properties")
        properties: dict[str, Any] = found if isinstance(found, dict) else {}
        rest = given.get("additionalProperties")
        if rest not in (None, False) or (not properties and rest is None and path):
            raise _Loose(f"{place}: an object of free keys")
        needed = given.get("required")
        required = list(needed) if isinstance(needed, list) else []
        if not set(required) <= properties.keys():
            raise _Loose(f"{place}: required names that are not declared")
        self.properties += len(properties)
        made: dict[str, Any] = {}
        for name, inner in properties.items():
            made[name] = self.node(inner, (*path, name), depth + 1)
            if name not in required and not self.row.optional:
                if self.takes_null(inner):
                    # The null for "left out" and a null that is meant could not be told apart.
                    raise _Loose(f"{'.'.join((*path, name))}: optional, and may be null")
                made[name] = _nullable(made[name])
        out["properties"] = made
        out["required"] = required if self.row.optional else list(made)
        out["additionalProperties"] = False

    def takes_null(self, schema: Any, depth: int = 0) -> bool:
        if not isinstance(schema, dict) or depth > 16:
            return True
        ref = schema.get("$ref")
        if isinstance(ref, str):
            name = ref.rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~")
            return self.takes_null(self.root if ref == "#" else self.types.get(name), depth + 1)
        kinds = schema.get("type")
        if kinds is not None and "null" not in (kinds if isinstance(kinds, list) else [kinds]):
            return False
        if "const" in schema:
            return schema["const"] is None
        if isinstance(schema.get("enum"), list):
            return None in schema["enum"]
        for word in COMPOSED:
            if isinstance(schema.get(word), list):
                return any(self.takes_null(branch, depth + 1) for branch in schema[word])
        return True


def _nullable(schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema or "$ref" in schema:
        branches = schema["anyOf"] if list(schema) == ["anyOf"] else [schema]
        return {"anyOf": [*branches, {"type": "null"}]}
    kinds = schema["type"]
    out = {**schema, "type": [*(kinds if isinstance(kinds, list) else [kinds]), "null"]}
    if "enum" in schema:
        out["enum"] = [*schema["enum"], None]
    return out


def _kind(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if value is None:
        return "null"
    return {int: "integer", float: "number", str: "string", list: "array"}.get(type(value), "object")
