"""From JSON Schema to the IR: one walker, by position and never by the name of a key.

It reads draft 4 to 2020-12, the OpenAPI dialect (``nullable``, boolean exclusive bounds, ``example``) and the type
words of benchmark dialects. It follows local ``$ref`` to any pointer, recursive ones included, and never fetches
anything. Depth, nodes and enum members are bounded before recursion starts. What no field of the IR holds is kept as it
stands in ``extra``.
"""

from __future__ import annotations

import json
import marshal
import math
from itertools import compress
from json.encoder import encode_basestring
from operator import attrgetter, not_

from tscg.errors import Fragment
from tscg.ir import (
    AllOf,
    AnyType,
    Array,
    Boolean,
    Enum,
    Integer,
    Island,
    Never,
    Node,
    Note,
    Null,
    Number,
    Object,
    Param,
    Ref,
    String,
    Union,
)
from tscg.prose_form import normalise
from tscg.record import Record, replace

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import Any

    Place = Any  # None, or (place above, key): a pointer that costs nothing until it is shown

__all__ = [
    "DEPTH_LIMIT",
    "ENUM_LIMIT",
    "NODE_LIMIT",
    "PROSE_LIMIT",
    "TYPE_WORDS",
    "SchemaTooLarge",
    "Walked",
    "minified",
    "walk",
]

NODE_LIMIT = 50_000  # schema nodes a tool; the largest real one has about 600
DEPTH_LIMIT = 64  # the deepest real schema has 8 levels
ENUM_LIMIT = 10_000  # members of one enum
PROSE_LIMIT = 250_000  # characters of one description; the longest real one has about 8,000

# Type words beside JSON Schema's own: BFCL (Python, Java, JavaScript), Gemini's upper case is folded before the
# look-up.
TYPE_WORDS = {
    "dict": "object", "hashmap": "object", "map": "object", "struct": "object",
    "float": "number", "double": "number", "long": "integer", "int": "integer", "short": "integer", "byte": "integer",
    "tuple": "array", "list": "array", "arraylist": "array", "set": "array",
    "str": "string", "char": "string", "bool": "boolean",
}  # fmt: skip
ANY_WORDS = frozenset({"any"})
ANNOTATIONS = frozenset({
    "description", "title", "default", "examples", "example", "deprecated", "readOnly", "writeOnly",
    "$schema", "$id", "id", "$comment", "$anchor", "$defs", "definitions", "nullable",
})  # fmt: skip
NOTED = frozenset({"default", "title", "examples", "example", "deprecated", "readOnly", "writeOnly"})
COMBINED = frozenset({"$ref", "allOf", "anyOf", "oneOf", "type"})
SAID = ANNOTATIONS | COMBINED
BY_TYPE: dict[str, frozenset[str]] = {
    "string": frozenset({"minLength", "maxLength", "pattern", "format"}),
    "integer": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"}),
    "number": frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "format"}),
    "array": frozenset({"items", "prefixItems", "additionalItems", "minItems", "maxItems", "uniqueItems"}),
    "object": frozenset({"properties", "required", "additionalProperties", "minProperties", "maxProperties"}),
}
# What may stand in a schema of one type that has nothing but its own keywords.
OWN = {
    word: (ANNOTATIONS - {"nullable"}) | {"type"} | BY_TYPE.get(word, frozenset())
    for word in ("string", "integer", "number", "boolean", "null", "array", "object")
}
IMPLIED = (
    ("object", BY_TYPE["object"] | {
        "patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "dependencies",
        "unevaluatedProperties",
    }),
    ("array", BY_TYPE["array"] | {"contains", "minContains", "maxContains", "unevaluatedItems"}),
    ("string", BY_TYPE["string"] - {"format"}),
    ("number", BY_TYPE["number"] - {"format"}),
)  # fmt: skip
# Keywords that hold no schema: what has no others stands for itself, wherever it stands.
SCALAR = frozenset({
    "type", "description", "enum", "const", "default", "title", "examples", "example", "deprecated", "readOnly",
    "writeOnly", "nullable", "format", "pattern", "minLength", "maxLength", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf",
})  # fmt: skip
PLAIN_OBJECT = OWN["object"] - NOTED - {"description"}  # the schema of most tools: an object, and nothing to say of it
MORE_OF_ARRAY = BY_TYPE["array"] - {"items"}
MORE_OF_OBJECT = frozenset({"minProperties", "maxProperties"})
KNOWN_DEPTH = 8  # levels whose parameters are looked up by content, which is written out once for each level above it
# Keywords whose value is a schema, a list of schemas, or a map of names to schemas (for islands).
SCHEMA_AT = frozenset({
    "items", "additionalItems", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames",
    "unevaluatedProperties", "unevaluatedItems",
})  # fmt: skip
SCHEMAS_AT = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
SCHEMA_MAP_AT = frozenset(
    {"properties", "patternProperties", "dependentSchemas", "$defs", "definitions", "dependencies"}
)

ANY = AnyType()
NEVER = Never()
BESIDE = frozenset({"note", "typed"})
STRING = String()
_dumps = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), allow_nan=False, check_circular=False).encode


def minified(value: Any) -> str:
    """Minified JSON, UTF-8 as it is."""
    return encode_basestring(value) if type(value) is str else _dumps(value)


class SchemaTooLarge(Exception):
    """Internal: a bound was passed; becomes a CompileError with the tool's name."""

    def __init__(self, pointer: str, reason: str) -> None:
        super().__init__(pointer, reason)
        self.pointer, self.reason = pointer, reason


class Walked(Record):
    """A schema in the IR: the type of the arguments, the types that hold themselves, the places that are no schema."""

    root: Node
    types: tuple[tuple[str, Node], ...]
    faults: tuple[Fragment, ...]


def pointer_of(place: Place) -> str:
    """JSON pointer of a place."""
    parts: list[str] = []
    while place is not None:
        place, key = place
        parts.append(str(key).replace("~", "~0").replace("/", "~1"))
    return "".join(f"/{part}" for part in reversed(parts))


WIDEST = 10**4300  # Python writes and reads no larger number as text
Known = dict[object, Param]
"""Parameters by name, necessity and content: many tools of a catalog have the same ones, which are read once."""
Placed = dict[tuple[str, bool, int], Param]
"""Parameters that were read in bulk, by name, necessity and the identity of their schema while that lives."""


def content_of(part: Any) -> object:
    """What tells a schema from another one: types and order count in it, so that 1, 1.0 and true stay apart.

    >>> content_of({"description": "City.", "type": "string"})
    ('string', 'City.')
    """
    if type(part) is dict and len(part) == 2:
        word, said = part.get("type"), part.get("description")
        if type(word) is str and type(said) is str:
            return word, said
    return marshal.dumps(part, 2)


def walk(schema: Any, tool: str, known: Known | None = None) -> Walked:
    """Read the schema of a tool's arguments.

    A missing, null or empty schema is an object without parameters. Raises :class:`SchemaTooLarge` past the bounds;
    everything else that is wrong is listed in ``faults`` and read as "anything". ``known`` are the parameters that the
    catalog has so far; those without a schema below them are one object wherever they stand.
    """
    walker = Walker(schema, tool, {} if known is None else known)
    root = walker.arguments()
    return Walked(root=root, types=tuple(walker.types.items()), faults=tuple(walker.faults))


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "a boolean", type(None): "null"}
    return names.get(type(value), "a number" if isinstance(value, int | float) else type(value).__name__)


class Walker:
    """One walk through the schema of a tool's arguments; :func:`walk` is its plain form.

    Most of a first compile's reading is done in :meth:`arguments`, :meth:`object` and :meth:`params`: they are written
    for few steps of the interpreter, and leave what is rare to the others.
    """

    def __init__(self, given: Any, tool: str, known: Known, placed: Placed | None = None) -> None:
        self.given, self.tool, self.known, self.placed = given, tool, known, placed or {}
        self.root: dict[str, Any] = given if isinstance(given, dict) else {}
        self.nodes = 0
        self.faults: list[Fragment] = []
        self.types: dict[str, Node] = {}
        self.names: dict[str, str] = {}  # pointer -> name of a type that holds itself or that an island refers to
        self.done: dict[str, Node] = {}  # pointer -> node
        self.open: set[str] = set()
        self.asked: list[str] = []  # pointers that islands refer to

    def fault(self, place: Place, reason: str) -> None:
        self.faults.append(Fragment(tool=self.tool, pointer=pointer_of(place), reason=reason))

    def arguments(self) -> Node:
        """The type of the arguments; ``types`` and ``faults`` are complete after it."""
        given = self.given
        if type(given) is dict and given.get("type") == "object" and PLAIN_OBJECT.issuperset(given):
            self.nodes = 1
            root = self.object(given, None, 0, True, None)
        else:
            if given is not None and given is not True and not isinstance(given, dict):
                self.fault(None, f"the schema of the arguments is {_kind(given)}, not an object")
            root = self.schema(self.root, None, 0, self.tool, at_root=True)
            if isinstance(root, AnyType) and not root.extra:
                root = Object(note=root.note)
            elif isinstance(root, Object) and not root.typed:
                root = replace(root, typed=True)
        if self.asked or self.names:
            self.finish()
        return root

    # --- one schema -------------------------------------------------------------------------------------------------

    def schema(self, given: Any, place: Place, depth: int, name: str = "", at_root: bool = False) -> Node:
        if given is True:
            return ANY
        if given is False:
            return NEVER
        if type(given) is not dict and not isinstance(given, dict):
            self.fault(place, f"expected a schema, found {_kind(given)}")
            return ANY
        self.nodes += 1
        if depth > DEPTH_LIMIT:
            raise SchemaTooLarge(pointer_of(place)[:200], f"nested deeper than {DEPTH_LIMIT} levels")
        if self.nodes > NODE_LIMIT:
            raise SchemaTooLarge(pointer_of(place)[:200], f"more than {NODE_LIMIT:,} schema nodes")
        try:
            word = given.get("type")
            keys = len(given)
            if keys == 2 and type(word) is str and type(given.get("description")) is str and word in PLAIN_TYPES:
                said = self.prose(given["description"])
                return _described(PLAIN_TYPES[word], said) if said else PLAIN_TYPES[word]()
            if keys == 1 and word == "string":
                return STRING
            note = self.note(given, name, at_root)
            if type(word) is str and word in OWN and OWN[word].issuperset(given):
                return self.typed(word, given, place, depth, note)
            if _COMBINATORS.isdisjoint(given):
                return self.own(given, word, place, depth, note) or (ANY if note is None else AnyType(note=note))
            parts = self.parts(given, word, place, depth)
            if not parts:
                return ANY if note is None else AnyType(note=note)
            if len(parts) == 1:
                return noted(parts[0], note)
            return AllOf(parts=tuple(parts), note=note)
        except SchemaTooLarge as error:
            if error.pointer or place is None:
                raise
            raise SchemaTooLarge(pointer_of(place)[:200], error.reason) from None

    def parts(self, given: dict[str, Any], word: Any, place: Place, depth: int) -> list[Node]:
        own = self.own(given, word, place, depth, None)
        parts = [] if own is None else [own]
        ref = given.get("$ref")
        if isinstance(ref, str):
            parts.append(self.ref(ref, (place, "$ref"), depth))
        for key in ("allOf", "anyOf", "oneOf"):
            branches = given.get(key)
            if not branches:
                continue
            if not isinstance(branches, list):
                self.fault((place, key), f"expected a list of schemas, found {_kind(branches)}")
                continue
            found = tuple(self.schema(b, ((place, key), i), depth + 1) for i, b in enumerate(branches))
            if key == "allOf":
                parts += found
            elif len(found) == 1:
                parts.append(found[0])
            else:
                parts.append(Union(branches=found, exclusive=key == "oneOf" and not _apart(found)))
        return parts

    def note(self, given: dict[str, Any], name: str, at_root: bool) -> Note | None:
        if NOTED.isdisjoint(given):
            said = given.get("description")
            said = self.prose(said) if isinstance(said, str) else ""
            return _said(said)
        said = title = ""
        default: str | None = None
        shown: tuple[str, ...] = ()
        flags = False
        for key, value in given.items():
            if key == "description":
                if isinstance(value, str):
                    said = self.prose(value)
            elif key == "default":
                if value is not None:
                    default = self.value(value)
            elif key == "title":
                if isinstance(value, str) and not _restates(value, name, at_root):
                    title = " ".join(value.split())
            elif key in ("examples", "example"):
                shown = self.examples(given)
            elif key in ("deprecated", "readOnly", "writeOnly"):
                flags = flags or value is True
        if not (default is not None or title or shown or flags):
            return _said(said)
        return Note(
            description=said, default=default, title=title, examples=shown, deprecated=given.get("deprecated") is True,
            read_only=given.get("readOnly") is True, write_only=given.get("writeOnly") is True,
        )  # fmt: skip

    def prose(self, text: str) -> str:
        if len(text) > PROSE_LIMIT:
            raise SchemaTooLarge("", f"a description of {len(text):,} characters, at most {PROSE_LIMIT:,}")
        return normalise(text)

    def examples(self, given: dict[str, Any]) -> tuple[str, ...]:
        listed = given.get("examples")
        if isinstance(listed, dict):  # OpenAPI: named examples
            listed = [v.get("value", v) if isinstance(v, dict) else v for v in listed.values()]
        shown = list(listed) if isinstance(listed, list) else []
        if given.get("example") is not None:
            shown.append(given["example"])
        return tuple(self.value(value) for value in shown)

    def value(self, value: Any) -> str:
        try:
            return minified(value)
        except (ValueError, TypeError, RecursionError) as error:
            raise SchemaTooLarge("", f"a value is no JSON ({error})") from None

    # --- keywords of the schema itself --------------------------------------------------------------------------------

    def own(self, given: dict[str, Any], word: Any, place: Place, depth: int, note: Note | None) -> Node | None:
        """The node that the keywords beside combinators say, None where they say nothing."""
        rest = given.keys() - SAID
        if type(word) is str and word in JSON_TYPES:
            types: tuple[str, ...] = (word,)
        else:
            types = self.types_of(word, (place, "type")) if word is not None else ()
        if given.get("nullable") is True and types and "null" not in types:
            listed = given.get("enum")
            if not isinstance(listed, list) or None in listed:
                types = (*types, "null")
        if "enum" in rest or "const" in rest:
            node, used = self.enum(given, types, given.get("nullable") is True, place, note)
            if node is not None:
                rest -= used
                return self.with_extra(node, given, rest, place) if rest else node
        if not types:
            return self.untyped(given, rest, place, depth, note)
        if len(types) == 1:
            node = self.typed(types[0], given, place, depth, note)
            rest -= BY_TYPE.get(types[0], NO_WORDS)
            return self.with_extra(node, given, rest, place) if rest else node
        node = Union(branches=tuple(self.typed(kind, given, place, depth, None) for kind in types), note=note)
        rest = rest.difference(*(BY_TYPE.get(kind, NO_WORDS) for kind in types))
        return self.with_extra(node, given, rest, place) if rest else node

    def types_of(self, word: Any, place: Place) -> tuple[str, ...]:
        if type(word) is str and word in JSON_TYPES:
            return (word,)
        found: list[str] = []
        for one in word if isinstance(word, list) else [word]:
            if not isinstance(one, str):
                self.fault(place, f"expected a type, found {_kind(one)}")
                continue
            low = one.lower()
            low = TYPE_WORDS.get(low, low)
            if low in ANY_WORDS:
                return ()
            if low not in JSON_TYPES:
                self.fault(place, f"unknown type {one[:40]!r}")
                return ()
            if low not in found:
                found.append(low)
        return tuple(kind for kind in found if not (kind == "integer" and "number" in found))

    def enum(
        self, given: dict[str, Any], types: tuple[str, ...], nullable: bool, place: Place, note: Note | None
    ) -> tuple[Node | None, set[str]]:  # fmt: skip
        """Listed values; a const is a list of one. The type is implied by the values it leaves."""
        values = [given["const"]] if "const" in given else given["enum"]
        used = {"const"} if "const" in given else {"enum"}
        if not isinstance(values, list):
            self.fault((place, "enum"), f"expected a list of values, found {_kind(values)}")
            return None, used
        if len(values) > ENUM_LIMIT:
            raise SchemaTooLarge(
                pointer_of((place, "enum"))[:200], f"an enum of {len(values):,} members, at most {ENUM_LIMIT:,}"
            )
        if "string" in types and {str}.issuperset(map(type, values)):
            fitting = values
        else:
            fitting = [v for v in values if _fits(v, types)] if types else list(values)
        if not fitting:  # nothing is valid: keep it as it stands
            kept = {k: given[k] for k in ("type", "enum", "const") if k in given}
            return Island(schema=self.value(kept), note=note), {"enum", "const"}
        texts = list(dict.fromkeys(map(self.value, fitting)))
        if nullable and not types and "null" not in texts:
            texts.append("null")
        return Enum(values=tuple(texts), note=note), used

    def untyped(
        self, given: dict[str, Any], rest: set[str], place: Place, depth: int, note: Note | None
    ) -> Node | None:
        rest -= {"enum", "const"}
        if not rest:
            return None
        for kind, words in IMPLIED:
            if not words.isdisjoint(rest) and not BY_TYPE[kind].isdisjoint(rest):
                node = self.typed(kind, given, place, depth, note, typed=False)
                if all(value == getattr(type(node), name) for name, value in vars(node).items() if name not in BESIDE):
                    node = ANY if note is None else AnyType(note=note)  # bounds that bind nothing
                return self.with_extra(node, given, rest - (BY_TYPE[kind] - {"format"}), place)
        return self.with_extra(ANY if note is None else AnyType(note=note), given, rest, place)

    def typed(
        self, kind: str, given: dict[str, Any], place: Place, depth: int, note: Note | None, *, typed: bool = True
    ) -> Node:
        if kind == "string":
            return self.string(given, typed, note)
        if kind == "object":
            return self.object(given, place, depth, typed, note)
        if kind == "array":
            return self.array(given, place, depth, typed, note)
        if kind == "boolean":
            return Boolean(note=note)
        return Null(note=note) if kind == "null" else self.number(given, kind, typed, note)

    def string(self, given: dict[str, Any], typed: bool, note: Note | None) -> Node:
        if BY_TYPE["string"].isdisjoint(given):
            return String(note=note) if typed else String(note=note, typed=False)
        pattern, shape = given.get("pattern"), given.get("format")
        return String(
            note=note, typed=typed, min_length=_count(given.get("minLength")) or 0,
            max_length=_count(given.get("maxLength")), pattern=pattern if isinstance(pattern, str) else None,
            format=shape if typed and isinstance(shape, str) else "",
        )  # fmt: skip

    def number(self, given: dict[str, Any], kind: str, typed: bool, note: Note | None) -> Node:
        if BY_TYPE["number"].isdisjoint(given):
            return (Integer if kind == "integer" else Number)(note=note, typed=typed)
        low, low_open = _bound(given.get("minimum"), given.get("exclusiveMinimum"), 1)
        high, high_open = _bound(given.get("maximum"), given.get("exclusiveMaximum"), -1)
        shape = given.get("format")
        return (Integer if kind == "integer" else Number)(
            note=note, typed=typed, low=low, high=high, low_open=low_open, high_open=high_open,
            multiple_of=_number(given.get("multipleOf")), format=shape if typed and isinstance(shape, str) else "",
        )  # fmt: skip

    def array(self, given: dict[str, Any], place: Place, depth: int, typed: bool, note: Note | None) -> Node:
        items = given.get("items")
        if type(items) is dict and MORE_OF_ARRAY.isdisjoint(given):
            below = self.schema(items, (place, "items"), depth + 1)
            array = new(Array)
            put(array, "note", note)
            put(array, "typed", typed)
            put(array, "items", None if below is ANY else below)
            return array
        prefix = given.get("prefixItems")
        at: Place = (place, "prefixItems")
        if isinstance(items, list):  # the spelling of draft 4 to 2019-09
            prefix, items, at = items, given.get("additionalItems"), (place, "items")
        if not isinstance(prefix, list):
            prefix = []
        first = tuple(self.schema(part, (at, i), depth + 1) for i, part in enumerate(prefix))
        rest = None if items is None or items is False else self.schema(items, (place, "items"), depth + 1)
        return Array(
            note=note, typed=typed, prefix=first, items=None if rest is ANY else rest, closed=items is False,
            min_items=_count(given.get("minItems")) or 0, max_items=_count(given.get("maxItems")),
            unique=given.get("uniqueItems") is True,
        )  # fmt: skip

    def object(self, given: dict[str, Any], place: Place, depth: int, typed: bool, note: Note | None) -> Node:
        properties, required, extra = given.get("properties"), given.get("required"), given.get("additionalProperties")
        if type(properties) is not dict and properties is not None and not isinstance(properties, dict):
            self.fault((place, "properties"), f"expected an object of schemas, found {_kind(properties)}")
            properties = None
        needed: dict[str, None] = {}
        if required and isinstance(required, list):
            needed = dict.fromkeys(required if TEXT.issuperset(map(type, required)) else filter(_is_text, required))
        params = self.params(properties, needed, place, depth) if properties else []
        if needed and (not properties or not properties.keys() >= needed.keys()):
            known = properties or {}
            params += [Param(name=name, required=True) for name in needed if name not in known]
        node = new(Object)
        put(node, "params", tuple(params))
        if note is not None:
            put(node, "note", note)
        if not typed:
            put(node, "typed", False)
        if extra is False:
            put(node, "closed", True)
        elif extra is not None and extra is not True:
            rest = self.schema(extra, (place, "additionalProperties"), depth + 1)
            put(node, "rest", None if rest is ANY else rest)
        if not MORE_OF_OBJECT.isdisjoint(given):
            put(node, "min_properties", _count(given.get("minProperties")) or 0)
            put(node, "max_properties", _count(given.get("maxProperties")))
        return node

    def params(self, properties: dict[str, Any], needed: dict[str, None], place: Place, depth: int) -> list[Param]:
        """Declared parameters; those without a schema below them are read once in a catalog."""
        at = (place, "properties")
        try:
            if depth >= KNOWN_DEPTH:
                raise ValueError("read one by one")
            # Without ``strict``: to read a keyword takes `zip` longer than all the rest.
            places = zip(properties, map(needed.__contains__, properties), map(id, properties.values()))  # noqa: B905
            params: list[Any] = [*map(self.placed.get, places)]
            missing = [*compress(enumerate(properties.items()), map(not_, params))]
            keys: dict[int, object] = {}
            for i, (name, part) in missing:
                if type(part) is dict and SCALAR.issuperset(part):
                    keys[i] = key = name, name in needed, content_of(part)
                    params[i] = self.known.get(key)
            # A list that was read before has a schema below it, which counts too.
            nodes = self.nodes + len(params) + [*map(type, map(_type_of, filter(None, params)))].count(Array)
            if nodes > NODE_LIMIT:
                raise ValueError("read one by one")
        except ValueError:  # also: no plain JSON
            names = [*map(str, properties)]
            return [
                Param(name=name, required=name in needed, type=self.schema(part, (at, name), depth + 1, name))
                for name, part in zip(names, properties.values(), strict=True)
            ]
        self.nodes = nodes
        for i, (given, part) in missing:
            if params[i] is None:
                self.nodes -= 1  # it counts itself
                name, faults = str(given), len(self.faults)
                node = self.schema(part, (at, name), depth + 1, name)
                params[i] = _param(name, name in needed, node)
                if i in keys and len(self.faults) == faults and type(given) is str:
                    self.known[keys[i]] = params[i]
        return params

    def with_extra(self, node: Node, given: dict[str, Any], keys: set[str], place: Place) -> Node:
        """Keywords that no field holds, as they stand but for references, which get the names of types."""
        kept = {}
        for key in sorted(keys, key=str):
            if key == "required" and not isinstance(given[key], list):
                continue  # draft 3's boolean: demands nothing in any later draft
            kept[str(key)] = self.island(key, given[key], (place, key), 0)
        if not kept:
            return node
        return replace(node, extra=self.value(kept))

    def island(self, key: str, value: Any, place: Place, depth: int) -> Any:
        if depth > DEPTH_LIMIT:
            raise SchemaTooLarge(pointer_of(place)[:200], f"nested deeper than {DEPTH_LIMIT} levels")
        self.nodes += 1
        if self.nodes > NODE_LIMIT:
            raise SchemaTooLarge(pointer_of(place)[:200], f"more than {NODE_LIMIT:,} schema nodes")
        if key in SCHEMAS_AT and isinstance(value, list):
            return [self.island_schema(part, (place, i), depth) for i, part in enumerate(value)]
        if key in SCHEMA_MAP_AT and isinstance(value, dict):
            return {k: self.island_schema(part, (place, k), depth) for k, part in value.items()}
        return self.island_schema(value, place, depth) if key in SCHEMA_AT else value

    def island_schema(self, given: Any, place: Place, depth: int) -> Any:
        if not isinstance(given, dict):
            return given
        out = {key: self.island(key, value, (place, key), depth + 1) for key, value in given.items()}
        ref = given.get("$ref")
        if isinstance(ref, str):
            pointer = self.pointer(ref, (place, "$ref"))
            if pointer is not None:
                self.asked.append(pointer)
                out["$ref"] = f"#/$defs/{self.named(pointer).replace('~', '~0').replace('/', '~1')}"
        return out

    # --- references ---------------------------------------------------------------------------------------------------

    def pointer(self, ref: str, place: Place) -> str | None:
        """A local pointer that resolves, else a fault."""
        if not ref.startswith("#"):
            self.fault(place, f"external $ref {ref[:80]!r} is never fetched")
            return None
        pointer = ref[1:]
        if "%" in pointer:
            from urllib.parse import unquote

            pointer = unquote(pointer)
        if self.target(pointer) is not _NOTHING:
            return pointer
        self.fault(place, f"dangling $ref {ref[:80]!r}")
        return None

    def target(self, pointer: str) -> Any:
        at: Any = self.root
        if pointer and not pointer.startswith("/"):
            return self.anchored(pointer)
        for escaped in pointer.split("/")[1:]:
            part = escaped.replace("~1", "/").replace("~0", "~")
            if isinstance(at, dict) and part in at:
                at = at[part]
            elif isinstance(at, list) and part.isdigit() and int(part) < len(at):
                at = at[int(part)]
            else:
                return _NOTHING
        return at

    def anchored(self, name: str) -> Any:
        for key in ("$defs", "definitions"):
            listed = self.root.get(key)
            for part in listed.values() if isinstance(listed, dict) else ():
                if isinstance(part, dict) and name in (
                    part.get("$anchor"),
                    part.get("$id"),
                    str(part.get("$id", ""))[1:],
                ):
                    return part
        return _NOTHING

    def ref(self, ref: str, place: Place, depth: int) -> Node:
        pointer = self.pointer(ref, place)
        if pointer is None:
            return ANY
        if pointer in self.names:
            return Ref(name=self.names[pointer])
        if pointer in self.open or pointer == "":
            return Ref(name=self.named(pointer))
        if pointer in self.done:
            return self.done[pointer]
        self.open.add(pointer)
        node = self.schema(self.target(pointer), place, depth + 1, pointer.rsplit("/", 1)[-1])
        self.open.discard(pointer)
        if pointer in self.names:
            self.types[self.names[pointer]] = node
            return Ref(name=self.names[pointer])
        self.done[pointer] = node
        return node

    def named(self, pointer: str) -> str:
        """The name of the type at a pointer: its last word, told apart where two share it."""
        if pointer in self.names:
            return self.names[pointer]
        last = pointer.rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~") if pointer else "Arguments"
        taken, name, i = set(self.names.values()), last or "Type", 1
        while name in taken:
            i += 1
            name = f"{last or 'Type'}{i}"
        self.names[pointer] = name
        return name

    def finish(self) -> None:
        """Types that were named but not walked: the root, and what only islands refer to."""
        for pointer in self.asked:
            self.named(pointer)
        while missing := [p for p, name in self.names.items() if name not in self.types]:
            for pointer in missing:
                name = self.names[pointer]
                if pointer in self.done:
                    self.types[name] = self.done[pointer]
                else:
                    self.types[name] = self.schema(self.target(pointer), None, 1, pointer.rsplit("/", 1)[-1])
        self.types = dict(sorted(self.types.items()))


new, put = object.__new__, object.__setattr__
_NOTHING = object()
_type_of = attrgetter("type")
TEXT = frozenset({str})
NO_WORDS: frozenset[str] = frozenset()
_COMBINATORS = frozenset({"$ref", "allOf", "anyOf", "oneOf"})
PLAIN_TYPES: dict[str, type[Node]] = {"string": String, "boolean": Boolean, "integer": Integer, "number": Number}
JSON_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})


def _said(said: str) -> Note | None:
    """``Note(description=said)`` in a third of the time, None where nothing is said: most notes are one of these."""
    if not said:
        return None
    note = new(Note)
    put(note, "description", said)
    return note


def _described(kind: type[Node], said: str) -> Node:
    """The same of ``kind(note=Note(description=said))``: most nodes are one of these."""
    node = new(kind)
    put(node, "note", _said(said))
    return node


def _param(name: str, required: bool, node: Node) -> Param:
    """The same of ``Param(name=name, required=required, type=node)``."""
    param = new(Param)
    put(param, "name", name)
    put(param, "required", required)
    put(param, "type", node)
    return param


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def noted(node: Node, note: Note | None) -> Node:
    """The node with a note: its own place for it, or around it where it has one already."""
    if note is None:
        return node
    return replace(node, note=note) if node.note is None else AllOf(parts=(node,), note=note)


def _apart(branches: tuple[Node, ...]) -> bool:
    """Can no value fit two of these types? Then "exactly one" says no more than "at least one"."""
    kinds: set[str] = set()
    listed: set[str] = set()
    values: set[str] = set()
    for branch in branches:
        if isinstance(branch, Enum):
            members = set(branch.values)
            if not values.isdisjoint(members) or not all(v[0] == '"' for v in members):
                return False
            values |= members
            listed.add("String")
            continue
        kind = _kind_of(branch)
        if kind is None or kind in kinds:
            return False
        kinds.add(kind)
    return kinds.isdisjoint(listed)


def _kind_of(node: Node) -> str | None:
    if isinstance(node, Null | Boolean):
        return type(node).__name__
    if isinstance(node, Number):
        return "Number" if node.typed else None
    return type(node).__name__ if isinstance(node, String | Array | Object) and node.typed else None


def _fits(value: Any, types: tuple[str, ...]) -> bool:
    if value is None:
        return "null" in types
    if isinstance(value, bool):
        return "boolean" in types
    if isinstance(value, int | float):
        return "number" in types or ("integer" in types and (isinstance(value, int) or value.is_integer()))
    if isinstance(value, str):
        return "string" in types
    return ("array" if isinstance(value, list) else "object") in types


def _number(value: Any) -> int | float | None:
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or (isinstance(value, float) and not math.isfinite(value))
    ):
        return None
    if isinstance(value, int) and not -WIDEST < value < WIDEST:
        raise SchemaTooLarge("", "a number of more than 4,300 digits")
    return value


def _count(value: Any) -> int | None:
    number = _number(value)
    return int(number) if number is not None and number == int(number) else None


def _bound(plain: Any, exclusive: Any, sign: int) -> tuple[int | float | None, bool]:
    """The tighter of the inclusive and the exclusive bound, in both drafts' spelling, and whether it is exclusive."""
    limit = _number(plain)
    if exclusive is True:
        return limit, limit is not None
    other = _number(exclusive)
    if other is not None and (limit is None or (other - limit) * sign >= 0):
        return other, True
    return limit, False


def _words(text: str) -> str:
    return "".join(c for c in text.lower() if c.isalnum())


ROOT_WORDS = (
    "arguments",
    "args",
    "params",
    "parameters",
    "input",
    "inputs",
    "request",
    "schema",
    "model",
    "dictoutput",
)


def _restates(title: str, name: str, at_root: bool) -> bool:
    """Does a title say no more than the name of the property (or, at the root, of the tool)?"""
    words, mine = _words(title), _words(name)
    if words == mine or not words:
        return True
    if not at_root:
        return False
    return any(words.endswith(word) and words[: -len(word)] in mine for word in ROOT_WORDS)
