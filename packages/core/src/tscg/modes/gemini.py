"""The subset of OpenAPI that Gemini's ``parameters`` takes, from JSON Schema.

In the result every node has a type, or is an ``anyOf`` alone; there are no references, type lists, constants or enums
of other things than texts. What the subset cannot say is left out, and listed to be said in words.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from tscg.language.spelling import json_text
from tscg.modes.words import Said, in_words

__all__ = ["Subset", "subset"]

DEEP = 40  # levels of a schema that is written out
LARGE = 4_000  # nodes of a tool's schema when its references are written out
NOTHING = Said((), "false", "never given")

#: Keywords by type: those that the subset has.
TAKEN: dict[str, frozenset[str]] = {
    "string": frozenset({"minLength", "maxLength", "pattern"}),
    "integer": frozenset({"minimum", "maximum"}),
    "number": frozenset({"minimum", "maximum"}),
    "array": frozenset({"minItems", "maxItems"}),
    "object": frozenset({"minProperties", "maxProperties"}),
    "boolean": frozenset(),
    "null": frozenset(),
}
#: Keywords by type: those that say something of it; of other types they say nothing.
SPEAKS: dict[str, frozenset[str]] = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "integer": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"}),
    "array": frozenset({
        "items", "prefixItems", "minItems", "maxItems", "uniqueItems", "contains", "minContains", "maxContains",
        "unevaluatedItems",
    }),
    "object": frozenset({
        "properties", "required", "additionalProperties", "patternProperties", "propertyNames", "minProperties",
        "maxProperties", "dependentRequired", "dependentSchemas", "unevaluatedProperties",
    }),
}  # fmt: skip
SPEAKS["number"] = SPEAKS["integer"]
EVERYWHERE = ("default", "not", "if", "then", "else")
FORMATS = {
    "string": frozenset({"date-time", "enum"}),
    "integer": frozenset({"int32", "int64"}),
    "number": frozenset({"float", "double"}),
}
PROSE = ("title", "description")
HANDLED = frozenset({"items", "prefixItems", "properties", "required", "format"})


class Subset(NamedTuple):
    """The schema in the subset, and what it no longer says."""

    schema: dict[str, Any]
    said: tuple[Said, ...]


def subset(schema: dict[str, Any]) -> Subset:
    """A schema of arguments (JSON Schema 2020-12, shared types in ``$defs``) in Gemini's subset. Fresh values.

    >>> subset({"type": "object", "properties": {"n": {"type": ["integer", "null"], "multipleOf": 5}}})
    Subset(schema={'type': 'object', 'properties': {'n': {'type': 'integer', 'nullable': True}}}, \
said=(Said(path=('n',), keyword='multipleOf', words='a multiple of 5'),))
    """
    work = _Writing(schema)
    made = work.node({key: value for key, value in schema.items() if key != "$defs"}, (), ())
    if made.get("type") != "object":
        made = {"type": "object", "properties": {}}
    made.setdefault("properties", {})
    made.pop("nullable", None)  # arguments are never null
    return Subset(made, tuple(dict.fromkeys(work.said)))


def anything(depth: int = 1) -> dict[str, Any]:
    """Any JSON value, as far as the subset can say it: each branch with a type, lists of what is not a list."""
    kinds: list[dict[str, Any]] = [{"type": kind} for kind in ("string", "number", "boolean", "object")]
    if depth:
        kinds.append({"type": "array", "items": anything(depth - 1)})
    kinds[0]["nullable"] = True
    return {"anyOf": kinds}


Path = tuple[str, ...]


class _Writing:
    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root
        found = root.get("$defs")
        self.types: dict[str, Any] = found if isinstance(found, dict) else {}
        self.said: list[Said] = []
        self.count = 0

    def say(self, path: Path, keyword: str, value: Any) -> None:
        self.said.append(Said(path, keyword, in_words(keyword, value)))

    # --- nodes --------------------------------------------------------------------------------------------------------

    def node(self, given: Any, path: Path, inside: tuple[str, ...]) -> dict[str, Any]:
        """One schema at a place; ``inside`` names the types that are being written out."""
        self.count += 1
        if given is False:
            self.said.append(NOTHING._replace(path=path))
            return {"type": "string", "nullable": True}
        if not isinstance(given, dict):
            return anything()
        if self.count > LARGE or len(path) > DEEP:
            self.said.append(Said(path, "size", "as the tool documents it"))
            return anything()
        given, inside, cut = self.plain(given, path, inside)
        if cut:
            return cut
        for word in ("anyOf", "oneOf"):
            if isinstance(given.get(word), list) and given[word]:
                return self.union(given, word, path, inside)
        if "enum" in given or "const" in given:
            return self.listed(given, path, inside)
        kinds = _kinds(given)
        if not kinds:
            made = anything()
            for word in EVERYWHERE:
                if word in given:
                    self.say(path, word, given[word])
            return made
        written = [self.typed(given, kind, path, inside) for kind in kinds if kind != "null"]
        return _either(written, "null" in kinds or given.get("nullable") is True, self.prose(given))

    def prose(self, given: dict[str, Any]) -> dict[str, Any]:
        return {word: given[word] for word in PROSE if isinstance(given.get(word), str)}

    def plain(
        self, given: dict[str, Any], path: Path, inside: tuple[str, ...]
    ) -> tuple[dict[str, Any], tuple[str, ...], dict[str, Any] | None]:
        """A schema with its references and intersections worked in; or the node that stands where a type is cut."""
        waiting: list[Any] = [given]
        out: dict[str, Any] = {}
        while waiting:
            part = waiting.pop(0)
            if part is False:
                self.said.append(NOTHING._replace(path=path))
                continue
            if not isinstance(part, dict):
                continue
            more = part.get("allOf")
            ref = part.get("$ref")
            own = {word: value for word, value in part.items() if word not in ("allOf", "$ref", "$defs")}
            out = self.merged(out, own, path)
            if isinstance(ref, str):
                name = ref.rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~")
                if name in inside:
                    shown = json_text(name if name != "#" else "the arguments")
                    self.said.append(Said(path, "$ref", f"again {shown}"))
                    return out, inside, _outline(self.target(name))
                inside = (*inside, name)
                waiting.insert(0, self.target(name))
            waiting.extend(more if isinstance(more, list) else ())
        return out, inside, None

    def target(self, name: str) -> Any:
        if name == "#":
            return {key: value for key, value in self.root.items() if key != "$defs"}
        return self.types.get(name)

    def merged(self, left: dict[str, Any], right: dict[str, Any], path: Path) -> dict[str, Any]:
        """Both schemas in one; of two rules that differ the first is kept and the other one said."""
        if not left or not right:
            return dict(left or right)
        out = dict(left)
        for word, value in right.items():
            if word not in out:
                out[word] = value
            elif out[word] == value and type(out[word]) is type(value):
                continue
            elif word == "required":
                out[word] = list(dict.fromkeys([*out[word], *value]))
            elif word == "properties":
                both = dict(out[word])
                for name, inner in value.items():
                    both[name] = {"allOf": [both[name], inner]} if name in both else inner
                out[word] = both
            elif word not in PROSE:
                self.say(path, word, value)
        return out

    def union(self, given: dict[str, Any], word: str, path: Path, inside: tuple[str, ...]) -> dict[str, Any]:
        """A union: what stands beside it goes into its branches, null becomes ``nullable``."""
        beside = {key: value for key, value in given.items() if key not in (word, *PROSE)}
        branches = [branch for branch in given[word] if branch is not False]
        rest = [branch for branch in branches if not _is_null(branch)]
        if word == "oneOf" and len(rest) > 1:
            self.say(path, "oneOf", rest)
        made = [self.node(self.merged(dict(branch) if isinstance(branch, dict) else {}, beside, path), path, inside)
                for branch in rest]  # fmt: skip
        return _either(made, len(rest) < len(branches) or not made, self.prose(given))

    # --- values -------------------------------------------------------------------------------------------------------

    def listed(self, given: dict[str, Any], path: Path, inside: tuple[str, ...]) -> dict[str, Any]:
        members = [given["const"]] if "const" in given else given["enum"]
        members = members if isinstance(members, list) else []
        texts = [member for member in members if isinstance(member, str)]
        others = [member for member in members if member is not None and not isinstance(member, str)]
        made: list[dict[str, Any]] = []
        if texts:
            exact = {} if "" in texts else {"enum": texts}  # an empty text is no member that the subset takes
            made.append({"type": "string", **exact})
        for kind in dict.fromkeys(_kind_of(member) for member in others):
            wide = {"items": anything(0)} if kind == "array" else {}
            made.append({"type": kind, **wide})
        if others or "" in texts:
            self.say(path, "enum", members)
        if "default" in given:
            self.say(path, "default", given["default"])
        return _either(made, None in members, self.prose(given))

    def typed(self, given: dict[str, Any], kind: str, path: Path, inside: tuple[str, ...]) -> dict[str, Any]:
        out: dict[str, Any] = {"type": kind}
        speaks = SPEAKS.get(kind, frozenset())
        for word, value in given.items():
            if word in TAKEN[kind]:
                out[word] = value
            elif word in EVERYWHERE or (word in speaks and word not in HANDLED and not _says_nothing(word, value)):
                self.say(path, word, value)
        found = given.get("format")
        if isinstance(found, str) and kind in FORMATS:
            if found in FORMATS[kind]:
                out["format"] = found
            else:
                self.say(path, "format", found)
        if kind == "array":
            out["items"] = self.items(given, path, inside, out)
        elif kind == "object":
            self.members(given, path, inside, out)
        return out

    def items(self, given: dict[str, Any], path: Path, inside: tuple[str, ...], out: dict[str, Any]) -> dict[str, Any]:
        prefix, rest = given.get("prefixItems"), given.get("items")
        if not isinstance(prefix, list) or not prefix:
            if rest is False:
                out["maxItems"] = 0
            return anything() if not isinstance(rest, dict) else self.node(rest, (*path, "[]"), inside)
        if rest is False:
            out["maxItems"] = min(len(prefix), out.get("maxItems", len(prefix)))
        parts = [self.node(part, (*path, f"[{i}]"), inside) for i, part in enumerate(prefix)]
        parts += [] if rest is False else [self.node(rest if isinstance(rest, dict) else {}, (*path, "[]"), inside)]
        if len(prefix) > 1:
            self.said.append(Said(path, "prefixItems", f"{len(prefix)} items in this order of types"))
        return _either(parts, False, {})

    def members(self, given: dict[str, Any], path: Path, inside: tuple[str, ...], out: dict[str, Any]) -> None:
        found = given.get("properties")
        properties = {
            name: self.node(inner, (*path, name), inside)
            for name, inner in (found.items() if isinstance(found, dict) else ())
        }
        needed = given.get("required")
        required = [name for name in needed if isinstance(name, str)] if isinstance(needed, list) else []
        for name in required:
            properties.setdefault(name, anything())
        if properties:
            out["properties"] = properties
        if required:
            out["required"] = required


def _either(made: Iterable[dict[str, Any]], nullable: bool, prose: dict[str, Any]) -> dict[str, Any]:
    """One node of several: itself, or ``anyOf`` alone, whose branches hold all else."""
    flat: list[dict[str, Any]] = []
    for one in made:
        flat += one.get("anyOf", [one])
    kept = [one for i, one in enumerate(flat) if one not in flat[:i]] or [{"type": "string"}]
    if nullable:
        kept[0] = {**kept[0], "nullable": True}
    if prose:
        kept[0] = {**prose, **kept[0]}
    return kept[0] if len(kept) == 1 else {"anyOf": kept}


def _outline(schema: Any) -> dict[str, Any]:
    """What stands for a type where it is cut."""
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "array":
        return {"type": "array", "items": anything(0)}
    return {"type": kind} if kind in TAKEN and kind != "null" else anything(0)


def _says_nothing(word: str, value: Any) -> bool:
    if word == "uniqueItems":
        return value is not True
    return value is True or value == {} or (word == "additionalProperties" and not isinstance(value, bool | dict))


def _is_null(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    return schema.get("type") in ("null", ["null"]) or schema.get("enum") == [None] or schema.get("const", "") is None


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "integer"
    return {float: "number", str: "string", list: "array", dict: "object"}.get(type(value), "string")


def _kinds(schema: dict[str, Any]) -> tuple[str, ...]:
    """Types of a schema: as it says, else those that its keywords speak of, else none."""
    found = schema.get("type")
    if isinstance(found, str):
        return (found,) if found in TAKEN else ()
    if isinstance(found, list):
        return tuple(kind for kind in found if isinstance(kind, str) and kind in TAKEN)
    spoken = [kind for kind, words in SPEAKS.items() if kind != "number" and not words.isdisjoint(schema)]
    if spoken == ["string", "integer"] and "format" in schema:
        return ("string",)
    return ("number",) if spoken == ["integer"] else tuple(spoken[:1])
