"""A copy of a schema for the validator: another spelling of the same meaning, in draft 2020-12.

Only what constrains is copied, by position. Targets of references move to ``$defs`` of the copy, so that a pointer to
any place works, cycles included, and nothing is inlined. Old drafts' spellings, OpenAPI's ``nullable`` and the type
words of benchmark dialects are translated; a keyword with a value of the wrong kind constrains nothing and is left out.
Keywords beside ``$ref`` count in every draft, since the text shows them to the model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, TypeGuard
from urllib.parse import unquote

from tscg.calls import Notice
from tscg.schema import ANY_WORDS, DEPTH_LIMIT, JSON_TYPES, NODE_LIMIT, TYPE_WORDS

__all__ = ["Copy", "copy_for_validator"]

COUNTS = (
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "minProperties",
    "maxProperties",
    "minContains",
    "maxContains",
)
SCHEMAS = (
    "not",
    "if",
    "then",
    "else",
    "contains",
    "propertyNames",
    "unevaluatedProperties",
    "unevaluatedItems",
    "additionalProperties",
)
LISTS = ("allOf", "anyOf", "oneOf")
# An engine with look-around and back-references may stop at its limit; where a miss would count as a fit, that is said.
NEGATING = frozenset({"not", "if", "oneOf"})
FANCY = ("(?=", "(?!", "(?<=", "(?<!", *(f"\\{n}" for n in range(1, 10)))


@dataclass(slots=True)
class Copy:
    """The copy, and the places of the original that it could not take over."""

    schema: dict[str, Any]
    unchecked: list[Notice] = field(default_factory=list)


def copy_for_validator(schema: Any, formats: tuple[str, ...] = ()) -> Copy:
    """Translate a schema; ``formats`` names the formats to keep as assertions.

    >>> copy_for_validator({"type": "dict", "properties": {"n": {"minimum": 0, "exclusiveMinimum": True}}}).schema
    {'type': 'object', 'properties': {'n': {'exclusiveMinimum': 0}}}
    """
    writer = _Writer(schema, formats)
    copied = writer.node(schema if isinstance(schema, dict) else {}, "", 0, False)
    out: dict[str, Any] = copied if isinstance(copied, dict) else {}
    moved: dict[str, Any] = {}
    while writer.waiting:  # a worklist, not recursion: references may go round
        pointer, name = writer.waiting.pop()
        moved[name] = writer.node(writer.target(pointer), pointer, 0, True)
    if moved:
        out["$defs"] = moved
    return Copy(out, writer.unchecked)


_NOTHING = object()


class _Writer:
    def __init__(self, root: Any, formats: tuple[str, ...]) -> None:
        self.root, self.formats = root, formats
        self.nodes = 0
        self.names: dict[str, str] = {}
        self.waiting: list[tuple[str, str]] = []
        self.unchecked: list[Notice] = []
        self.anchors: dict[str, str] | None = None

    def drop(self, place: str, reason: str) -> None:
        self.unchecked.append(Notice(kind="unchecked", message=f"{place or '/'}: {reason}"))

    def node(self, given: Any, place: str, depth: int, negated: bool) -> dict[str, Any] | bool:
        if isinstance(given, bool):
            return given
        if not isinstance(given, dict):
            self.drop(place, "is no schema, anything is taken")
            return True
        self.nodes += 1
        if depth > DEPTH_LIMIT or self.nodes > NODE_LIMIT:
            self.drop(place, "the schema is too large, anything is taken")
            return True
        out: dict[str, Any] = {}
        self.types(given, out, place)
        self.values(given, out)
        self.bounds(given, out)
        self.texts(given, out, place, negated)
        self.arrays(given, out, place, depth, negated)
        self.objects(given, out, place, depth, negated)
        self.combined(given, out, place, depth, negated)
        self.reference(given, out, place)
        if "default" in given:
            out["default"] = given["default"]
        return out

    # --- types and values -------------------------------------------------------------------------------------------

    def types(self, given: dict[str, Any], out: dict[str, Any], place: str) -> None:
        word = given.get("type")
        if word is None:
            return None
        found: list[str] = []
        for one in word if isinstance(word, list) else [word]:
            if not isinstance(one, str):
                self.drop(f"{place}/type", "holds no type word")
                continue
            low = TYPE_WORDS.get(one.lower(), one.lower())
            if low in ANY_WORDS:
                return None
            if low not in JSON_TYPES:
                return self.drop(f"{place}/type", f"unknown type {one[:40]!r}, anything is taken")
            if low not in found:
                found.append(low)
        if not found:
            return None
        listed = given.get("enum")
        if given.get("nullable") is True and "null" not in found and (not isinstance(listed, list) or None in listed):
            found.append("null")
        out["type"] = found[0] if len(found) == 1 else found
        return None

    def values(self, given: dict[str, Any], out: dict[str, Any]) -> None:
        listed = given.get("enum")
        if isinstance(listed, list):
            more = given.get("nullable") is True and "type" not in out and None not in listed
            out["enum"] = [*listed, None] if more else listed
        if "const" in given:
            out["const"] = given["const"]

    def bounds(self, given: dict[str, Any], out: dict[str, Any]) -> None:
        for plain, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            limit, other = given.get(plain), given.get(exclusive)
            if other is True and _number(limit):
                out[exclusive] = limit
                continue
            if _number(limit):
                out[plain] = limit
            if _number(other):
                out[exclusive] = other
        step = given.get("multipleOf")
        if _number(step) and step > 0:
            out["multipleOf"] = step
        for key in COUNTS:
            count = given.get(key)
            if _number(count) and count >= 0 and count == int(count):
                out[key] = int(count)

    def texts(self, given: dict[str, Any], out: dict[str, Any], place: str, negated: bool) -> None:
        pattern = given.get("pattern")
        if isinstance(pattern, str):
            out["pattern"] = pattern
            if negated and any(mark in pattern for mark in FANCY):
                self.drop(f"{place}/pattern", "look-around in a negated place may stay unchecked at the engine's limit")
        if given.get("format") in self.formats and isinstance(given["format"], str):
            out["format"] = given["format"]

    # --- containers -------------------------------------------------------------------------------------------------

    def arrays(self, given: dict[str, Any], out: dict[str, Any], place: str, depth: int, negated: bool) -> None:
        items, prefix, at = given.get("items"), given.get("prefixItems"), f"{place}/prefixItems"
        if isinstance(items, list):  # draft 4 to 2019-09
            prefix, items, at = items, given.get("additionalItems"), f"{place}/items"
        if isinstance(prefix, list) and prefix:
            out["prefixItems"] = [self.node(part, f"{at}/{i}", depth + 1, negated) for i, part in enumerate(prefix)]
        if items is not None:
            out["items"] = self.node(items, f"{place}/items", depth + 1, negated)
        if given.get("uniqueItems") is True:
            out["uniqueItems"] = True

    def objects(self, given: dict[str, Any], out: dict[str, Any], place: str, depth: int, negated: bool) -> None:
        for key in ("properties", "patternProperties", "dependentSchemas"):
            parts = given.get(key)
            if isinstance(parts, dict):
                out[key] = {
                    str(k): self.node(v, f"{place}/{key}/{_step(k)}", depth + 1, negated) for k, v in parts.items()
                }
        needed = _names(given.get("required"))
        if needed:
            out["required"] = needed
        wanted = given.get("dependentRequired")
        asked = {str(k): _names(v) for k, v in wanted.items()} if isinstance(wanted, dict) else {}
        old = given.get("dependencies")
        for key, value in old.items() if isinstance(old, dict) else ():
            if isinstance(value, list):
                asked[str(key)] = _names(value)
            else:
                at = f"{place}/dependencies/{_step(key)}"
                out.setdefault("dependentSchemas", {})[str(key)] = self.node(value, at, depth + 1, negated)
        if asked:
            out["dependentRequired"] = asked

    def combined(self, given: dict[str, Any], out: dict[str, Any], place: str, depth: int, negated: bool) -> None:
        for key in SCHEMAS:
            value = given.get(key)
            if value is not None:
                out[key] = self.node(value, f"{place}/{key}", depth + 1, negated or key in NEGATING)
        for key in LISTS:
            value = given.get(key)
            if isinstance(value, list) and value:
                inner = negated or key in NEGATING
                out[key] = [self.node(part, f"{place}/{key}/{i}", depth + 1, inner) for i, part in enumerate(value)]

    # --- references -------------------------------------------------------------------------------------------------

    def reference(self, given: dict[str, Any], out: dict[str, Any], place: str) -> None:
        ref = given.get("$ref", given.get("$recursiveRef"))
        if not isinstance(ref, str):
            return
        pointer = self.pointer(ref)
        if pointer is None:
            self.drop(f"{place}/$ref", f"{ref[:80]!r} leads nowhere, anything is taken")
            return
        if pointer == "":
            out["$ref"] = "#"
            return
        if pointer not in self.names:
            self.names[pointer] = f"r{len(self.names)}"
            self.waiting.append((pointer, self.names[pointer]))
        out["$ref"] = f"#/$defs/{self.names[pointer]}"

    def pointer(self, ref: str) -> str | None:
        if not ref.startswith("#"):
            return None
        pointer = unquote(ref[1:]) if "%" in ref else ref[1:]
        if pointer and not pointer.startswith("/"):
            return self.anchored().get(pointer)
        return pointer if self.target(pointer) is not _NOTHING else None

    def target(self, pointer: str) -> Any:
        at: Any = self.root
        for step in pointer.split("/")[1:]:
            part = step.replace("~1", "/").replace("~0", "~")
            if isinstance(at, dict) and part in at:
                at = at[part]
            elif isinstance(at, list) and part.isascii() and part.isdigit() and int(part[:9]) < len(at):
                at = at[int(part)]
            else:
                return _NOTHING
        return at

    def anchored(self) -> dict[str, str]:
        """Anchors of the named types, with their pointers."""
        if self.anchors is None:
            self.anchors = {}
            for key in ("$defs", "definitions"):
                parts = self.root.get(key)
                for name, part in parts.items() if isinstance(parts, dict) else ():
                    holder = part if isinstance(part, dict) else {}
                    for word in (holder.get("$anchor"), holder.get("$id"), holder.get("id")):
                        if isinstance(word, str):
                            self.anchors.setdefault(word.lstrip("#"), f"/{key}/{_step(name)}")
        return self.anchors


def _step(key: object) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


def _number(value: Any) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _names(value: Any) -> list[str]:
    return list(dict.fromkeys(name for name in value if isinstance(name, str))) if isinstance(value, list) else []
