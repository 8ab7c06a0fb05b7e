"""The plain parameters of a whole catalog, read in bulk.

Nine of ten parameters have a type, a text and nothing else but, perhaps, a default, listed texts or bounds; most tools
have no others. What :class:`tscg.schema.Walker` does for one schema after the other, in many steps of the
interpreter, is done here in one step for all that have the same keys: nearly every line works on a column. What does
not fit is left to the walker, which gives the same for what fits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, compress, islice, repeat
from json.encoder import encode_basestring
from operator import contains, eq, itemgetter, not_, setitem

from tscg.ir import Array, Enum, Node, Note, Object, Param
from tscg.prose_form import normalised
from tscg.record import fill, records
from tscg.schema import ENUM_LIMIT, KNOWN_DEPTH, NODE_LIMIT, PLAIN_TYPES, PROSE_LIMIT, STRING, WIDEST, Placed, minified

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import Any

    Column = Sequence[Any]
    Reader = Callable[[Column], Column | None]

__all__ = ["read_flat"]

TYPES: dict[str, type[Node]] = {**PLAIN_TYPES, "array": Array}
SINGLE = frozenset({str, int, float, bool, type(None)})
FLAT = frozenset(map(frozenset, (("type", "properties"), ("type", "properties", "required"))))
BELOW = ("items", "anyOf", "oneOf")
DICT, LIST, TEXT, WHOLE = frozenset({dict}), frozenset({list}), frozenset({str}), frozenset({int})


def read_flat(schemas: Sequence[Any], placed: Placed, depth: int = 0) -> list[Object | None]:
    """The objects that have plain parameters only and say nothing else; None for each other schema.

    The plain parameters of the others (plain JSON values), and of the objects in them, are added to ``placed``.

    >>> plain = {"type": "number", "description": " Sum. "}
    >>> placed: Placed = {}
    >>> read_flat([{"type": "object", "properties": {"a": plain}}, {"not": {}}], placed)[0].params[0].description
    'Sum.'
    >>> read_flat([{"type": "object", "properties": {"a": plain, "b": {"not": {}}}}], placed), len(placed)
    ([None], 1)
    """
    found: list[Object | None] = [None] * len(schemas)
    rows = [i for i, schema in enumerate(schemas) if type(schema) is dict and type(schema.get("properties")) is dict]
    objects: list[dict[str, Any]] = [*map(schemas.__getitem__, rows)]
    properties: list[dict[str, Any]] = [*map(itemgetter("properties"), objects)]
    required: list[list[str]] = [*map(dict.get, objects, repeat("required"), repeat([]))]
    names = [*chain.from_iterable(properties)]
    parts = [*chain.from_iterable(map(dict.values, properties))]
    if not (DICT.issuperset(map(type, parts)) and LIST.issuperset(map(type, required))) or not TEXT.issuperset(
        map(type, chain(names, *required))
    ):  # one by one, so that one odd tool does not slow the others
        return [read_flat([schema], placed, depth)[0] for schema in schemas] if len(schemas) > 1 else found
    sizes, needed = [*map(len, properties)], [*map(set, required)]
    params = iter(_params(names, [*map(contains, chain.from_iterable(map(repeat, needed, sizes)), names)], parts))
    groups = [*map(tuple, map(islice, repeat(params), sizes))]
    fits = [*map(all, zip(
        map(all, groups),
        map(FLAT.__contains__, map(frozenset, objects)),
        map(eq, map(dict.get, objects, repeat("type")), repeat("object")),
        map(set.issubset, needed, properties),
        map((NODE_LIMIT // 2).__gt__, sizes),  # a list of texts counts as two
        strict=True,
    ))] if depth == 0 else [False] * len(rows)  # fmt: skip
    roots = records(repeat(Object, sum(fits)), params=compress(groups, fits))
    deque(map(setitem, repeat(found), compress(rows, fits), roots), 0)
    odd: list[dict[str, Any]] = []
    for own, wanted, group in compress(zip(properties, needed, groups, strict=True), map(not_, fits)):
        for (name, part), param in zip(own.items(), group, strict=True):
            if param is None:
                odd.append(part)
            else:
                placed[name, name in wanted, id(part)] = param
    below = _objects(odd) if depth < KNOWN_DEPTH else []
    if below:
        read_flat(below, placed, depth + 1)
    return found


def _objects(schemas: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The objects in schemas: themselves, and in their items and branches."""
    found: list[dict[str, Any]] = []
    for _ in range(KNOWN_DEPTH):
        found += [schema for schema in schemas if "properties" in schema]
        inner = [schema[key] for schema in schemas for key in BELOW if key in schema]
        schemas = [one for part in inner for one in (part if type(part) is list else [part]) if type(one) is dict]
    return found


def _params(names: list[str], needed: list[bool], parts: list[dict[str, Any]]) -> list[Param | None]:
    """What fits of these parameters: one of a few shapes, a type word and a text that is not empty."""
    found: list[Param | None] = [None] * len(parts)
    groups: list[list[int]] = [[] for _ in range(len(SHAPES) + 1)]  # the last one has what is of no known shape
    numbers = map(NUMBERS.get, map(frozenset, parts), repeat(-1))
    deque(map(list.append, map(groups.__getitem__, numbers), range(len(parts))), 0)
    for rows, readers in zip(groups, SHAPES.values(), strict=False):
        if rows:
            _alike(rows, (names, needed, parts), readers, found)
    return found


def _alike(
    rows: list[int], given: tuple[list[str], list[bool], list[dict[str, Any]]], readers: dict[str, Reader],
    found: list[Param | None],
) -> None:  # fmt: skip
    """Put the parameters of these rows, which have the same keys, where they belong; equal ones are one object."""
    names, needed, parts = given
    columns: list[Column] = [[*map(names.__getitem__, rows)], [*map(needed.__getitem__, rows)]]
    same = [*map(parts.__getitem__, rows)]
    for key, reader in readers.items():
        column = [*map(dict.__getitem__, same, repeat(key))]
        values = reader(column)
        if values is None:  # once more, without what does not fit
            fitting = [row for row, value in zip(rows, column, strict=True) if reader([value]) is not None]
            return _alike(fitting, given, readers, found) if fitting else None
        columns.append(values)
    contents = [*zip(*columns, strict=True)]
    known: dict[Any, Any] = dict.fromkeys(contents)
    called, wanted, words, says, *more = zip(*known, strict=True)
    notes = records(repeat(Note, len(known)), description=normalised(says))
    fields: dict[str, Column] = {"note": notes}
    for key, values in zip([*readers][2:], more, strict=True):
        if key == "default":
            fill(compress(notes, values), "default", filter(None, values))
        else:
            field, made = FIELDS[key]
            fields[field] = [*map(made, values)] if made else values
    kinds = repeat(Enum, len(known)) if "enum" in readers else map(TYPES.__getitem__, words)
    params = records(repeat(Param, len(known)), name=called, required=wanted, type=records(kinds, **fields))
    known.update(zip(known, params, strict=True))
    deque(map(setitem, repeat(found), rows, map(known.__getitem__, contents)), 0)
    return None


# --- columns: as what tells their values apart; None where one of them is uncommon ------------------------------------


def _words(*allowed: str) -> Reader:
    """A type word."""
    words = frozenset(allowed)

    def read(column: Column) -> Column | None:
        return column if TEXT.issuperset(map(type, column)) and words.issuperset(column) else None

    return read


def _prose(column: Column) -> Column | None:
    if not TEXT.issuperset(map(type, column)) or max(map(len, column)) > PROSE_LIMIT:
        return None
    texts = [*map(str.strip, column)]
    return texts if all(texts) else None


def _defaults(column: Column) -> Column | None:
    """As minified JSON, which tells 1, 1.0 and true apart; null is none."""
    if not SINGLE.issuperset(map(type, column)) or not all(-WIDEST < v < WIDEST for v in column if type(v) is int):
        return None
    return [None if value is None else minified(value) for value in column]


def _listed(column: Column) -> Column | None:
    if not LIST.issuperset(map(type, column)) or not all(column) or max(map(len, column)) > ENUM_LIMIT:
        return None
    return [*map(tuple, column)] if TEXT.issuperset(map(type, chain.from_iterable(column))) else None


def _items(column: Column) -> Column | None:
    """A type word, or the texts that are listed."""
    found = [*map(_item, column)]
    return found if all(found) else None


def _item(value: Any) -> Any:
    word = value.get("type") if type(value) is dict else None
    if type(word) is not str or word not in PLAIN_TYPES:
        return None
    if len(value) == 1:
        return word
    listed = _listed([value["enum"]]) if word == "string" and len(value) == 2 and "enum" in value else None
    return listed and listed[0]


def _whole(column: Column) -> Column | None:
    fits = WHOLE.issuperset(map(type, column)) and -WIDEST < min(column) <= max(column) < WIDEST
    return column if fits else None


def _members(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(encode_basestring, dict.fromkeys(texts)))


def _below(item: Any) -> Node:
    if type(item) is tuple:
        return Enum(values=_members(item))
    return STRING if item == "string" else PLAIN_TYPES[item]()


READERS: dict[str, Reader] = {
    "default": _defaults, "enum": _listed, "items": _items, "minimum": _whole, "maximum": _whole, "minLength": _whole,
    "maxLength": _whole,
}  # fmt: skip
#: Field of the node, and what is made of a value.
FIELDS: dict[str, tuple[str, Callable[[Any], Any] | None]] = {
    "enum": ("values", _members), "items": ("items", _below), "minimum": ("low", None), "maximum": ("high", None),
    "minLength": ("min_length", None), "maxLength": ("max_length", None),
}  # fmt: skip
#: Keys of a parameter beside its type and text, and the types that may have them.
MORE = (
    ((), tuple(TYPES)), (("enum",), ("string",)), (("items",), ("array",)),
    (("minimum",), ("integer", "number")), (("maximum",), ("integer", "number")),
    (("minimum", "maximum"), ("integer", "number")),
    (("minLength",), ("string",)), (("maxLength",), ("string",)), (("minLength", "maxLength"), ("string",)),
)  # fmt: skip
SHAPES: dict[frozenset[str], dict[str, Reader]] = {
    frozenset(("type", "description", *keys)): {
        "type": _words(*words), "description": _prose, **{key: READERS[key] for key in keys},
    }
    for more, words in MORE
    for keys in (more, (*more, "default"))
}  # fmt: skip
NUMBERS = {shape: number for number, shape in enumerate(SHAPES)}
