"""May a call that was right be refused after a tool has changed? Judged on the types alone, on the side of care.

A call is one that the old tool describes: made of its declared parameters. So a new optional parameter breaks nothing,
and a declared one that is gone does, even where undeclared names are let through. What cannot be proved to be accepted
(another pattern, a keyword that the IR keeps as it stands) counts as breaking.
"""

from __future__ import annotations

import json
from itertools import zip_longest

from tscg.ir import (
    JSON,
    AllOf,
    AnyType,
    Array,
    Boolean,
    Enum,
    Integer,
    Never,
    Node,
    Null,
    Number,
    Object,
    Param,
    Ref,
    String,
    Tool,
    Union,
    same,
)
from tscg.operators.prose import without_prose

__all__ = ["breaking"]

NEVER = Never()


def breaking(old: Tool, new: Tool) -> bool:
    """May the new tool refuse a call that the old one describes?

    >>> from tscg import Catalog
    >>> def tool(**number):
    ...     return Catalog.from_tools([{"name": "get", "parameters": {"properties": {"id": number}}}])[0]
    >>> breaking(tool(type="integer"), tool(type="number")), breaking(tool(type="number"), tool(type="integer"))
    (False, True)
    """
    return not _Judge(without_prose(old), without_prose(new)).holds()


class _Judge:
    """Does every value of an old type fit a new one? Each pair of nodes is judged once; recursive types end."""

    def __init__(self, old: Tool, new: Tool) -> None:
        self.old, self.new = old, new
        self.before, self.after = dict(old.types), dict(new.types)
        self.steady = self.before.keys() == self.after.keys() and all(
            same(node, self.after[name]) for name, node in self.before.items()
        )
        self.found: dict[tuple[int, int], bool] = {}
        self.open: set[tuple[int, int]] = set()  # pairs in hand: taken to hold until the contrary is found
        self.relied: set[tuple[int, int]] = set()

    def holds(self) -> bool:
        return self.fits(self.old.root, self.new.root)

    def fits(self, old: Node | None, new: Node | None) -> bool:
        if new is None or (type(new) is AnyType and not new.extra):
            return True
        key = (id(old), id(new))
        if key in self.open:
            self.relied.add(key)
            return True
        if key not in self.found:
            self.open.add(key)
            self.found[key] = self.judged(old, new)
            self.open.discard(key)
            if not self.found[key] and key in self.relied:  # what was concluded from it is open again
                self.found = {pair: False for pair, held in self.found.items() if not held}
        return self.found[key]

    def judged(self, old: Node | None, new: Node) -> bool:
        """The choice over the kinds of types; wrappers are opened first, the new type's before the old one's."""
        if type(old) is Never or (old is not None and self.steady and same(old, new)):
            return True
        if new.extra and (old is None or new.extra != old.extra):
            return False
        if isinstance(new, Ref):
            return self.fits(old, self.after.get(new.name, NEVER))
        if isinstance(old, Ref):
            return self.fits(self.before.get(old.name), new)
        if isinstance(new, Union) and new.exclusive:  # a value may come to fit two branches
            return False
        if isinstance(new, AllOf):
            return all(self.fits(old, part) for part in new.parts)
        if isinstance(old, Union):
            return all(self.fits(branch, new) for branch in old.branches)
        if isinstance(new, Union):
            return any(self.fits(old, branch) for branch in new.branches)
        if isinstance(old, AllOf):
            return any(self.fits(part, new) for part in old.parts)
        if isinstance(old, Enum):
            return all(_takes(new, json.loads(value), value) for value in old.values)
        return old is not None and self.plain(old, new)

    def plain(self, old: Node, new: Node) -> bool:
        """Two types that are neither wrappers nor lists of values."""
        if not getattr(old, "typed", True) and getattr(new, "typed", True):
            return False
        if isinstance(old, String) and isinstance(new, String):
            return _text_fits(old, new)
        if isinstance(old, Number) and isinstance(new, Number):
            return _number_fits(old, new)
        if isinstance(old, Array) and isinstance(new, Array):
            return self.array(old, new)
        if isinstance(old, Object) and isinstance(new, Object):
            return self.object(old, new)
        if isinstance(old, Boolean | Null) and type(old) is type(new):
            return True
        known = isinstance(old, String | Number | Array | Object | Boolean | Null)
        return known and getattr(old, "typed", True) and not getattr(new, "typed", True)  # it judges other kinds alone

    def array(self, old: Array, new: Array) -> bool:
        if not _within(old.min_items, old.max_items, new.min_items, new.max_items) or (new.unique and not old.unique):
            return False
        rest = NEVER if old.closed else old.items
        other = NEVER if new.closed else new.items
        pairs = [
            (rest if one is None else one, other if two is None else two)
            for one, two in zip_longest(old.prefix, new.prefix)
        ]
        return all(self.fits(one, two) for one, two in [*pairs, (rest, other)])

    def object(self, old: Object, new: Object) -> bool:
        if not _within(old.min_properties, old.max_properties, new.min_properties, new.max_properties):
            return False
        before, after = {param.name: param for param in old.params}, {param.name: param for param in new.params}
        needed = [param.name for param in new.params if param.required]
        if not all(name in before and before[name].required for name in needed):
            return False
        if not all(self.param(param, after.get(param.name), new) for param in old.params):
            return False
        return old.rest is None or (not new.closed and self.fits(old.rest, new.rest))

    def param(self, old: Param, new: Param | None, holder: Object) -> bool:
        if new is not None and new.type is not None:
            return self.fits(old.type, new.type)
        if holder.rest is not None:
            return self.fits(old.type, holder.rest)
        return not holder.closed and (old.type is None or new is not None)


def _takes(new: Node, value: JSON, text: str) -> bool:
    """Does a type surely take a listed value? Only what is plain to see."""
    if isinstance(new, Enum):
        return text in new.values
    if isinstance(new, String):
        length = len(value) if isinstance(value, str) else 0
        fits = _within(length, length, new.min_length, new.max_length) and new.pattern is None and not new.format
        return isinstance(value, str) and fits
    if isinstance(new, Number):
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return _number_fits((Integer if isinstance(value, int) else Number)(low=value, high=value), new)
    return isinstance(value, bool) if isinstance(new, Boolean) else isinstance(new, Null) and value is None


def _text_fits(old: String, new: String) -> bool:
    within = _within(old.min_length, old.max_length, new.min_length, new.max_length)
    return within and new.pattern in (None, old.pattern) and new.format in ("", old.format)


def _number_fits(old: Number, new: Number) -> bool:
    if isinstance(new, Integer) and not isinstance(old, Integer):
        return False
    if new.low is not None and not (
        old.low is not None and (old.low > new.low or (old.low == new.low and (old.low_open or not new.low_open)))
    ):
        return False
    if new.high is not None and not (
        old.high is not None
        and (old.high < new.high or (old.high == new.high and (old.high_open or not new.high_open)))
    ):
        return False
    return new.multiple_of in (None, old.multiple_of) and new.format in ("", old.format)


def _within(low: int, high: int | None, least: int, most: int | None) -> bool:
    return low >= least and (most is None or (high is not None and high <= most))
