"""Constraint atoms: what a schema demands of a call, place by place, so that two spellings of one thing are one thing.

An atom is a type, a property, a required name, a listed value, a default (but for null), a bound, a format, a pattern,
a closed object, or a rarer keyword as it stands. Its place is the path of properties, items (``[]``) and map values
(``{}``). The branches of a union stand at one place, for every candidate alike. Titles, descriptions, examples and
bounds that bind nothing are no atoms.

The reading is JSON Schema and nothing of the core, so that it judges the core as it judges its peers.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

__all__ = ["Atom", "atoms", "found_in_schema", "found_in_text"]

DEEP = 12
COUNTS = ("minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "multipleOf")
BOUNDS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
RARE = (
    "not", "if", "then", "else", "dependentRequired", "dependentSchemas", "dependencies", "patternProperties",
    "propertyNames", "contains", "minContains", "maxContains", "unevaluatedProperties", "unevaluatedItems",
)  # fmt: skip
TYPE_WORDS = {
    "string": ("str", "string"),
    "integer": ("int", "integer"),
    "number": ("num", "number", "float"),
    "boolean": ("bool", "boolean"),
    "array": ("array", "list", "tuple", "[]"),
    "object": ("object", "obj", "dict", "map", "{"),
    "null": ("null", "none", "nullable", "?"),
}
"""Words that say a type, in any notation that is counted; a sign may stand anywhere, a word alone."""


@dataclass(frozen=True, slots=True, order=True)
class Atom:
    """One demand: where it stands, its kind, and its value as text."""

    place: str
    kind: str
    value: str = ""


def atoms(schema: Mapping[str, Any]) -> frozenset[Atom]:
    """The atoms of a tool's parameters.

    >>> sorted((atom.kind, atom.value) for atom in atoms({"type": "object", "properties": {"a": {"enum": ["x"]}}}))
    [('property', 'a'), ('type', 'object'), ('value', '"x"')]
    """
    return frozenset(_atoms(schema, schema, "", 0))


def found_in_schema(wanted: frozenset[Atom], schema: Mapping[str, Any]) -> int:
    """How many atoms another schema of the tool has too."""
    return len(wanted & atoms(schema))


def found_in_text(wanted: Iterable[Atom], text: str) -> int:
    """How many atoms a text may be said to show, where it has no parser.

    Lenient: an atom counts where its word, its number or any name of its type stands anywhere in the text, prose
    included, and a required name where the name does.
    """
    lower = text.lower()
    return sum(_shown(atom, text, lower) for atom in wanted)


def _shown(atom: Atom, text: str, lower: str) -> bool:
    if atom.kind == "type":
        return any(_word(word, lower) for word in TYPE_WORDS.get(atom.value, (atom.value,)))
    if atom.kind == "closed":
        return "additionalproperties" in lower
    value = atom.value
    if atom.kind in ("value", "default"):
        read = json.loads(value)
        if isinstance(read, bool):
            return _word(value, lower)
        value = read if isinstance(read, str) else value
    return value in text if not re.fullmatch(r"[\w.-]+", value) else _word(value, text)


def _word(word: str, text: str) -> bool:
    if not re.fullmatch(r"[\w.-]+", word):
        return word in text
    return re.search(rf"(?<![\w]){re.escape(word)}(?![\w])", text) is not None


def _atoms(schema: Any, root: Mapping[str, Any], place: str, depth: int) -> Iterator[Atom]:
    if not isinstance(schema, Mapping) or depth > DEEP:
        return
    parts = _parts(schema, root)
    branches = [branch for part in parts for word in ("anyOf", "oneOf") for branch in part.get(word, ())]
    for branch in branches:
        yield from _atoms(branch, root, place, depth + 1)
    yield from _own(_joined(parts), root, place, depth, typed=bool(branches))


def _parts(schema: Mapping[str, Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The keywords beside a `$ref` and an `allOf`, and those that they stand for."""
    found: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    rest: list[Any] = [schema]
    while rest:
        part = rest.pop()
        if not isinstance(part, Mapping):
            continue
        found.append(part)
        rest.extend(part.get("allOf", ()))
        name = part.get("$ref")
        if isinstance(name, str) and name not in seen:
            seen.add(name)
            rest.append(_referred(name, root))
    return found


def _joined(parts: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Parts that hold at once as one: names add up, of other keywords the nearest counts."""
    joined: dict[str, Any] = {}
    for part in reversed(parts):
        properties = {**joined.get("properties", {}), **part.get("properties", {})}
        required = [*joined.get("required", ()), *part.get("required", ())]
        joined |= {
            **part,
            **({"properties": properties} if properties else {}),
            **({"required": required} if required else {}),
        }
    return joined


def _referred(name: str, root: Mapping[str, Any]) -> Any:
    here: Any = root
    for step in name.removeprefix("#").strip("/").split("/") if name != "#" else ():
        key = step.replace("~1", "/").replace("~0", "~")
        here = here.get(key) if isinstance(here, Mapping) else None
    return here


def _own(part: Mapping[str, Any], root: Mapping[str, Any], place: str, depth: int, *, typed: bool) -> Iterator[Atom]:
    types = _types(part)
    values = [part["const"]] if "const" in part else part.get("enum")
    if isinstance(values, list):
        # Listed values imply their types; OpenAPI 3.0 takes null beside them only where it is listed too.
        listed = [value for value in values if value is not None]
        yield from (Atom(place, "value", _text(value)) for value in listed)
        nullable = None in values or (part.get("nullable") is True and "type" not in part)
        types = ["null"] if nullable else []
    elif not types and not typed and "properties" in part:
        types = ["object"]
    yield from (Atom(place, "type", kind) for kind in types)
    if part.get("default") is not None:
        yield Atom(place, "default", _text(part["default"]))
    yield from _numbers(part, place, whole="integer" in types)
    yield from (Atom(place, kind, part[kind]) for kind in ("format", "pattern") if isinstance(part.get(kind), str))
    yield from (Atom(place, kind, _text(_bare(part[kind]))) for kind in RARE if part.get(kind) not in (None, {}, []))
    if part.get("uniqueItems") is True:
        yield Atom(place, "uniqueItems", "unique")
    yield from _members(part, root, place, depth)


def _types(part: Mapping[str, Any]) -> list[str]:
    given = part.get("type", [])
    types = [given] if isinstance(given, str) else [kind for kind in given if isinstance(kind, str)]
    if "number" in types:
        types = [kind for kind in types if kind != "integer"]
    # OpenAPI 3.0: `nullable` widens the type beside it, and says nothing alone.
    return [*types, "null"] if types and part.get("nullable") is True and "null" not in types else types


def _numbers(part: Mapping[str, Any], place: str, *, whole: bool) -> Iterator[Atom]:
    for name in COUNTS:
        value = part.get(name)
        if _is_number(value) and not (name.startswith("min") and value == 0):
            yield Atom(place, name, _text(value))
    for name in BOUNDS:
        value, kind = part.get(name), name
        if not _is_number(value):
            continue
        inclusive = name in ("minimum", "maximum")
        if inclusive and part.get(f"exclusive{name.capitalize()}") is True:  # draft 4 says so with a flag
            kind, inclusive = f"exclusive{name.capitalize()}", False
        if not inclusive and whole and value == int(value):
            lower = kind == "exclusiveMinimum"
            kind, value = ("minimum", value + 1) if lower else ("maximum", value - 1)
        yield Atom(place, kind, _text(value))


def _members(part: Mapping[str, Any], root: Mapping[str, Any], place: str, depth: int) -> Iterator[Atom]:
    properties = part.get("properties")
    for name, inner in properties.items() if isinstance(properties, Mapping) else ():
        yield Atom(place, "property", name)
        yield from _atoms(inner, root, f"{place}.{name}", depth + 1)
    required = part.get("required")
    yield from (Atom(place, "required", name) for name in (required if isinstance(required, list) else ()))
    extra = part.get("additionalProperties")
    if extra is False:
        yield Atom(place, "closed")
    yield from _atoms(extra, root, f"{place}{{}}", depth + 1)
    items = part.get("items")
    row: Sequence[Any] = items if isinstance(items, list) else part.get("prefixItems", ())
    for number, inner in enumerate(row):
        yield from _atoms(inner, root, f"{place}[{number}]", depth + 1)
    yield from _atoms(part.get("additionalItems") if isinstance(items, list) else items, root, f"{place}[]", depth + 1)


def _bare(value: Any) -> Any:
    """A schema without its prose."""
    if isinstance(value, Mapping):
        prose = ("title", "description", "examples", "$comment")
        return {
            key: _bare(inner) for key, inner in value.items() if key not in prose or not isinstance(inner, str | list)
        }
    return [_bare(one) for one in value] if isinstance(value, list) else value


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
