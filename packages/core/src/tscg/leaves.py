"""The plain parameters of a whole catalog, read in bulk.

Nine of ten parameters have a type, a text and nothing else but, perhaps, a default, listed texts or bounds; most tools
have no others. What :class:`tscg.schema.Walker` does for one schema after the other, in many steps of the
interpreter, is done here in one step for all that have the same keys: nearly every line works on a column. What does
not fit is left to the walker, which gives the same for what fits.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import chain, compress, count, islice, repeat
from json.encoder import encode_basestring
from math import isfinite
from operator import contains, eq, itemgetter, ne, not_, setitem

from tscg.ir import Array, Enum, Node, Note, Object, Param
from tscg.prose_form import normalised
from tscg.record import records
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
NUMERIC = frozenset({int, float})


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
        # Without ``strict``: to read a keyword takes `zip` longer than all the rest.
        places = zip(own, map(wanted.__contains__, own), map(id, own.values()))  # noqa: B905
        placed.update(zip(compress(places, group), filter(None, group)))  # noqa: B905
        odd += compress(own.values(), map(not_, group))
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
    words = _texts([*map(dict.get, parts, repeat("type"))])
    says = _texts([*map(dict.get, parts, repeat("description"))])
    # The kind of a node; where other keys say something, a tuple with their shape and what tells their values apart.
    kinds: list[Any] = [*map(TYPES.get, words)]
    groups: dict[int, list[int]] = {}
    others = [*compress(count(), map(ne, map(len, parts), repeat(2)))]  # with a type and a text, two keys are all
    shapes = map(NUMBERS.get, map(frozenset, map(parts.__getitem__, others)), repeat(-1))
    for row, shape in zip(others, shapes, strict=True):
        kinds[row] = kind = KINDS[shape].get(words[row])
        if kind is not None:
            groups.setdefault(shape, []).append(row)
    for shape, rows in groups.items():
        same = [*map(parts.__getitem__, rows)]
        columns = [_column(key, [*map(dict.__getitem__, same, repeat(key))]) for key in KEYS[shape]]
        for row, values in zip(rows, zip(map(kinds.__getitem__, rows), repeat(shape), *columns), strict=True):
            kinds[row] = None if ODD in values else values
    if not all(says):
        for row in compress(count(), map(not_, says)):
            kinds[row] = None
    firsts: dict[Any, int] = {}
    given = (names, needed, says, kinds)
    contents = zip(*[compress(column, kinds) for column in given], strict=True)
    places = [*map(firsts.setdefault, contents, compress(count(), kinds))]
    rows = [*firsts.values()]
    del firsts  # its memory is used again
    made = dict(zip(rows, _made(*[[*map(column.__getitem__, rows)] for column in given]), strict=True))
    found: list[Param | None] = [None] * len(parts)
    deque(map(setitem, repeat(found), compress(count(), kinds), map(made.__getitem__, places)), 0)
    return found


def _made(names: list[str], needed: list[bool], says: list[str], kinds: list[Any]) -> list[Param | None]:
    """The parameters of these columns; None where there is no text."""
    texts = normalised(says)
    notes: list[Note] = records(repeat(Note, len(says)), description=texts)
    types: list[Node] = records([kind[0] if type(kind) is tuple else kind for kind in kinds], note=notes)
    for i, said in enumerate(kinds):
        if type(said) is tuple:
            at = 2
            for field, read in FIELDS[said[1]]:
                value = said[at]
                at += 1
                if field != "default":
                    put(types[i], field, read(value) if read else value)
                elif value is not None:
                    put(notes[i], field, value)
    params: list[Param | None] = [*records(repeat(Param, len(says)), name=names, required=needed, type=types)]
    return params if all(texts) else [param if text else None for text, param in zip(texts, params, strict=True)]


def _texts(column: list[Any]) -> list[str]:
    """Texts, empty for what is none or too long."""
    if TEXT.issuperset(map(type, column)) and max(map(len, column), default=0) <= PROSE_LIMIT:
        return column
    return [value if type(value) is str and len(value) <= PROSE_LIMIT else "" for value in column]


def _column(key: str, column: list[Any]) -> Column:
    """The values of a key beside type and text, ODD where one does not fit."""
    read = READERS[key]
    found = read(column)
    return [(read([value]) or (ODD,))[0] for value in column] if found is None else found


# --- columns: as what tells their values apart; None where one of them is uncommon ------------------------------------


def _defaults(column: Column) -> Column | None:
    """As minified JSON, which tells 1, 1.0 and true apart; null is none."""
    if not SINGLE.issuperset(map(type, column)) or not all(
        -WIDEST < v < WIDEST if type(v) is int else isfinite(v) for v in column if type(v) in NUMERIC
    ):
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
FIELD: dict[str, tuple[str, Callable[[Any], Any] | None]] = {
    "default": ("default", None), "enum": ("values", _members), "items": ("items", _below), "minimum": ("low", None),
    "maximum": ("high", None), "minLength": ("min_length", None), "maxLength": ("max_length", None),
}  # fmt: skip
ODD = object()
put = object.__setattr__
#: Keys of a parameter beside its type and text, and the types that may have them.
MORE = (
    ((), tuple(TYPES)), (("enum",), ("string",)), (("items",), ("array",)),
    (("minimum",), ("integer", "number")), (("maximum",), ("integer", "number")),
    (("minimum", "maximum"), ("integer", "number")),
    (("minLength",), ("string",)), (("maxLength",), ("string",)), (("minLength", "maxLength"), ("string",)),
)  # fmt: skip
SHAPES = [(keys, words) for more, words in MORE for keys in (more, (*more, "default"))]
#: By the number of a shape, of which the first has no more keys: its further keys, and the node of each type word.
KEYS = [keys for keys, _ in SHAPES]
#: The fields of their values, and what is made of one.
FIELDS = [[FIELD[key] for key in keys] for keys in KEYS]
KINDS = [{word: Enum if "enum" in keys else TYPES[word] for word in words} for keys, words in SHAPES] + [{}]
NUMBERS = {frozenset(("type", "description", *keys)): number for number, keys in enumerate(KEYS)}
