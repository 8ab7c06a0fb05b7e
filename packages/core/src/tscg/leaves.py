"""The plain parameters of a whole catalog, read in bulk.

Nine of ten parameters have a type, a text and nothing else but, perhaps, a default, listed texts or bounds; most tools
have no others. What :class:`tscg.schema.Walker` does for one schema after the other, in many steps of the
interpreter, is done here in one step for all of them: nearly every line works on a column. What does not fit is left to
the walker, which gives the same for what fits.
"""

from __future__ import annotations

import marshal
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, compress, islice, repeat
from json.encoder import encode_basestring
from operator import contains, eq, itemgetter, not_, or_, setitem

from tscg.ir import Array, Enum, Integer, Node, Note, Number, Object, Param, String
from tscg.prose_form import normalise
from tscg.schema import ENUM_LIMIT, KNOWN_DEPTH, NODE_LIMIT, PLAIN_TYPES, PROSE_LIMIT, STRING, WIDEST, Known, minified

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Placed", "read_flat", "read_leaves"]

PLAINEST = frozenset({"type", "description"})
SHAPES = frozenset(
    PLAINEST.union(more, default)
    for default in ((), ("default",))
    for more in (
        (), ("enum",), ("items",), ("minimum",), ("maximum",), ("minimum", "maximum"), ("minLength",), ("maxLength",),
        ("minLength", "maxLength"),
    )
)  # fmt: skip
TYPES: dict[str, type[Node]] = {**PLAIN_TYPES, "array": Array}
BOUNDS: dict[str, tuple[str, frozenset[type[Node]]]] = {
    "minimum": ("low", frozenset({Integer, Number})), "maximum": ("high", frozenset({Integer, Number})),
    "minLength": ("min_length", frozenset({String})), "maxLength": ("max_length", frozenset({String})),
}  # fmt: skip
SINGLE = frozenset({str, int, float, bool})
FLAT = frozenset(map(frozenset, (("type", "properties"), ("type", "properties", "required"))))
DICT, LIST, TEXT = frozenset({dict}), frozenset({list}), frozenset({str})
#: Parameters by name, necessity and the identity of their schema while that lives; None where it is not plain.
Placed = dict[tuple[str, bool, int], Param | None]
_new = object.__new__
_fields: Callable[[Any], dict[str, Any]] = vars  # those of a record may be written
_description, _type, _properties = itemgetter("description"), itemgetter("type"), itemgetter("properties")


def read_leaves(schemas: Iterable[Any], known: Known, placed: Placed, depth: int = 0) -> None:
    """Add the plain parameters of schemas (plain JSON values), and of the objects in them, to ``known`` and ``placed``.

    >>> known: Known = {}
    >>> read_leaves([{"properties": {"a": {"type": "string", "description": " City. "}, "b": {"not": {}}}}], known, {})
    >>> [(param.name, param.required, param.description) for param in known.values()]
    [('a', False, 'City.')]
    """
    objects = [*schemas]
    objects = [*compress(objects, map(DICT.__contains__, map(type, objects)))]
    properties: list[Any] = [*map(dict.get, objects, repeat("properties"))]
    declared = [*map(DICT.__contains__, map(type, properties))]
    objects, properties = [*compress(objects, declared)], [*compress(properties, declared)]
    required: list[Any] = [*map(dict.get, objects, repeat("required"), repeat([]))]
    names: list[Any] = [*chain.from_iterable(properties)]
    parts: list[Any] = [*chain.from_iterable(map(dict.values, properties))]
    if not (DICT.issuperset(map(type, parts)) and LIST.issuperset(map(type, required))) or not TEXT.issuperset(
        map(type, chain(names, *required))
    ):
        for one in objects if len(objects) > 1 else ():  # so that one odd tool does not slow the others
            read_leaves([one], known, placed, depth)
        return
    _columns(names, [*_needed(required, properties)], parts, known, placed)
    below = [*filter(None, map(dict.get, parts, repeat("items")))]
    below += compress(parts, map(dict.__contains__, parts, repeat("properties")))
    if below and depth < KNOWN_DEPTH:
        read_leaves(below, known, placed, depth + 1)


def read_flat(schemas: Sequence[Any], placed: Placed) -> list[Object | None]:
    """The objects that have ``placed`` parameters only and say nothing else; None for each other schema.

    >>> placed: Placed = {}
    >>> schemas = [{"type": "object", "properties": {"a": {"type": "number", "description": "Sum."}}}, {"not": {}}]
    >>> read_leaves(schemas, {}, placed)
    >>> [found and found.params[0].name for found in read_flat(schemas, placed)]
    ['a', None]
    """
    nothing: list[Object | None] = [None] * len(schemas)
    if not DICT.issuperset(map(type, schemas)):
        return nothing
    rows = [*compress(range(len(schemas)), map(FLAT.__contains__, map(frozenset, schemas)))]
    flat = [*map(schemas.__getitem__, rows)]
    properties: list[Any] = [*map(_properties, flat)]
    required: list[Any] = [*map(dict.get, flat, repeat("required"), repeat([]))]
    if not (
        all(map(eq, map(_type, flat), repeat("object")))
        and DICT.issuperset(map(type, properties))
        and LIST.issuperset(map(type, required))
        and TEXT.issuperset(map(type, chain(*properties, *required)))
        and max(map(len, properties), default=0) < NODE_LIMIT // 2  # a list of texts counts as two
    ):
        return nothing
    parts = chain.from_iterable(map(dict.values, properties))
    places = zip(chain(*properties), _needed(required, properties), map(id, parts), strict=True)
    params = iter([*map(placed.get, places)])
    groups = [*map(tuple, map(islice, repeat(params), map(len, properties)))]
    fits = [*map(all, zip(map(all, groups), map(set.issubset, map(set, required), properties), strict=True))]
    objects: list[Object] = [*map(_new, repeat(Object, sum(fits)))]
    _set(objects, "params", compress(groups, fits))
    return [*map(dict(zip(compress(rows, fits), objects, strict=True)).get, range(len(schemas)))]


def _needed(required: list[Any], properties: list[Any]) -> Iterable[bool]:
    """Is it required? For each property of each object."""
    sets = chain.from_iterable(map(repeat, map(set, required), map(len, properties)))
    return map(set.__contains__, sets, chain.from_iterable(properties))


def _columns(names: list[Any], needed: list[bool], parts: list[Any], known: Known, placed: Placed) -> None:
    """Add what fits of these parameters: one of a few shapes, a type word and a text that is not empty."""
    says: list[Any] = [*map(dict.get, parts, repeat("description"))]
    fits = [*map(all, zip(
        map(SHAPES.__contains__, map(frozenset, parts)),
        map(TYPES.__contains__, map(str, map(dict.get, parts, repeat("type")))),
        map(TEXT.__contains__, map(type, says)),
        map(PROSE_LIMIT.__ge__, map(len, map(str, says))),
        map(str.strip, map(str, says)),
        strict=True,
    ))]  # fmt: skip
    names, needed, fitting = [*compress(names, fits)], [*compress(needed, fits)], [*compress(parts, fits)]
    contents: list[object] = [*zip(map(_type, fitting), map(_description, fitting), strict=True)]
    for i in [*compress(range(len(fitting)), map((2).__lt__, map(len, fitting)))]:
        contents[i] = marshal.dumps(fitting[i], 2)
    keys = [*zip(names, needed, contents, strict=True)]
    found: dict[Any, Any] = dict(zip(keys, fitting, strict=True))
    parts = [*found.values()]
    says = [*map(str.strip, map(_description, parts))]
    # One line of single blanks, as most are, is normal as it stands.
    odd = map(or_, map(not_, map(str.isprintable, says)), map(contains, says, repeat("  ")))
    for i in [*compress(range(len(says)), odd)]:
        says[i] = normalise(says[i])
    notes: list[Note] = [*map(_new, repeat(Note, len(parts)))]
    _set(notes, "description", says)
    nodes: list[Node | None] = [*map(_new, map(TYPES.__getitem__, map(_type, parts)))]
    _set(nodes, "note", notes)
    for i in [*compress(range(len(parts)), map((2).__lt__, map(len, parts)))]:
        nodes[i] = _more(parts[i], nodes[i], notes[i])
    params: list[Param] = [*map(_new, repeat(Param, len(parts)))]
    deque(map(dict[str, object].update, map(_fields, params), map(zip, repeat(("name", "required")), found)), 0)
    _set(params, "type", nodes)
    known.update(compress(zip(found, params, strict=True), nodes))
    placed.update(zip(zip(names, needed, map(id, fitting), strict=True), map(known.get, keys), strict=True))


def _set(records: Iterable[Any], field: str, values: Iterable[Any]) -> None:
    """Fill a field of new records."""
    deque(map(setitem, map(_fields, records), repeat(field), values), 0)


def _more(given: dict[str, Any], node: Node | None, note: Note) -> Node | None:
    """The node with its other keywords, None where one of them has an uncommon value."""
    for key in given.keys() - PLAINEST:
        value, kind = given[key], type(node)
        if key == "default":
            if value is not None:
                if type(value) not in SINGLE or (type(value) is int and not -WIDEST < value < WIDEST):
                    return None
                _fields(note)["default"] = minified(value)
        elif key == "enum":
            if kind is not String or type(value) is not list or not 0 < len(value) <= ENUM_LIMIT:
                return None
            if not TEXT.issuperset(map(type, value)):
                return None
            node = Enum(note=note, values=tuple(map(encode_basestring, dict.fromkeys(value))))
        elif key == "items":
            word = value.get("type") if type(value) is dict and len(value) == 1 else None
            if kind is not Array or type(word) is not str or word not in PLAIN_TYPES:
                return None
            node = Array(note=note, items=STRING if word == "string" else PLAIN_TYPES[word]())
        else:
            field, kinds = BOUNDS[key]
            if type(value) is not int or kind not in kinds or not -WIDEST < value < WIDEST:
                return None
            _fields(node)[field] = value
    return node
