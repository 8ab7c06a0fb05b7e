"""Frozen records: the values that `import tscg` defines.

They are what frozen, keyword-only dataclasses are, for a type checker too. They do without the module `dataclasses`,
whose import and class building (it writes and compiles source for each method of each class) cost more time than all
the rest of ``import tscg``, and a record is made in a third of the time: only what differs from the defaults is stored.
"""

from __future__ import annotations

from collections import deque
from itertools import repeat, starmap

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any, ClassVar, TypeVar, dataclass_transform

    R = TypeVar("R", bound="Record")
else:

    def dataclass_transform(**_):
        """What the type checker reads, and nothing at run time."""
        return lambda cls: cls


__all__ = ["Record", "fields", "fill", "records", "replace"]


@dataclass_transform(kw_only_default=True, frozen_default=True)
class Record:
    """Base of frozen records: fields are annotated names, defaults are class attributes, equality is by value.

    >>> class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> Point(x=1), Point(x=1) == Point(x=1, y=0), replace(Point(x=1), y=2)
    (Point(x=1), True, Point(x=1, y=2))
    """

    _fields: ClassVar[tuple[str, ...]] = ()
    _names: ClassVar[frozenset[str]] = frozenset()
    _needed: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        named = cls.__dict__.get("__annotations__", ())  # noqa: RUF063  # `inspect` is slow to import
        own = [name for name in named if name not in cls._fields]
        cls._fields = (*cls._fields, *own)
        cls._names = frozenset(cls._fields)
        cls._needed = frozenset(name for name in cls._fields if not hasattr(cls, name))
        first = object.__new__(cls)
        for name in cls._fields:  # then the records share one table of names, and each holds no more than its values
            object.__setattr__(first, name, None)

    if not TYPE_CHECKING:

        def __init__(self, **given):
            if not (self._names.issuperset(given) and (not self._needed or given.keys() >= self._needed)):
                raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)}, not {', '.join(given)}")
            self.__dict__.update(given)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is frozen: cannot delete {name!r}")

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._fields)

    def __hash__(self) -> int:
        return hash((type(self), *[getattr(self, name) for name in self._fields]))

    def __repr__(self) -> str:
        shown = [(name, self.__dict__[name]) for name in self._fields if name in self.__dict__ and name[0] != "_"]
        given = [
            f"{name}={value!r}"
            for name, value in shown
            if not hasattr(type(self), name) or value != getattr(type(self), name)
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    def __getstate__(self) -> dict[str, Any]:
        """The fields without what was worked out from them."""
        return {name: self.__dict__[name] for name in self._fields if name in self.__dict__}


def fields(record: Record | type[Record]) -> tuple[str, ...]:
    """Names of the fields, in the order of their definition."""
    return record._fields


def records(kinds: Iterable[type[R]], **columns: Iterable[Any]) -> list[R]:
    """New records from the columns of their fields, in a fraction of the time; what is given is not checked.

    >>> class Point(Record):
    ...     x: int
    ...     y: int = 0
    >>> records([Point, Point], x=[1, 2], y=repeat(3))
    [Point(x=1, y=3), Point(x=2, y=3)]
    """
    made: list[R] = [*starmap(object.__new__, zip(kinds))]  # noqa: RUF058 - faster: it takes the tuple, `zip` uses it again
    for name, values in columns.items():
        fill(made, name, values)
    return made


def fill(made: Iterable[Record], field: str, values: Iterable[Any]) -> None:
    """Set a field of records that nobody else has seen yet."""
    deque(starmap(object.__setattr__, zip(made, repeat(field), values)), 0)  # noqa: RUF058 - see above


def replace(record: R, **changes: Any) -> R:
    """The same record with other values in some fields."""
    kind = type(record)
    new: R = object.__new__(kind)
    kept = new.__dict__
    kept.update(record.__dict__)
    kept.update(changes)
    names = kind._names
    if not names.issuperset(kept):
        if not names.issuperset(changes):
            raise TypeError(f"{kind.__name__} takes {', '.join(kind._fields)}, not {', '.join(changes)}")
        for name in kept.keys() - names:  # what was worked out from the fields stays behind
            del kept[name]
    return new
