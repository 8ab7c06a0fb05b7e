"""Keys of the wire: aliases of property names that a provider refuses, there and back, at any depth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tscg.calls import Path
from tscg.shapes import below, declared_in, flat

__all__ = ["Conflict", "from_wire", "to_wire"]


class Conflict(Exception):
    """A key and its alias stand in one object: where, and which."""

    def __init__(self, path: Path, name: str, alias: str) -> None:
        super().__init__(name)
        self.path, self.name, self.alias = path, name, alias


def to_wire(value: Any, root: dict[str, Any], keys: Mapping[str, str]) -> Any:
    """Arguments with the aliases of ``keys`` (original to alias) where the schema declares the original.

    >>> schema = {"properties": {"a": {"items": {"properties": {"$x": {}}}}}}
    >>> to_wire({"a": [{"$x": 1}], "$x": 2}, schema, {"$x": "x"})
    {'a': [{'x': 1}], '$x': 2}
    """
    return _Renaming(root, dict(keys), {}).of(value, [root], ())


def from_wire(value: Any, root: dict[str, Any], keys: Mapping[str, str]) -> Any:
    """The inverse; raises :class:`Conflict` where an object holds both spellings of one key."""
    return _Renaming(root, {}, {alias: name for name, alias in keys.items() if alias != name}).of(value, [root], ())


@dataclass(frozen=True, slots=True)
class _Renaming:
    root: dict[str, Any]
    out: dict[str, str]  # original to alias
    back: dict[str, str]  # alias to original

    def of(self, value: Any, nodes: list[Any], path: Path) -> Any:
        """A copy of a value that some schemas describe."""
        if isinstance(value, list):
            return [self.of(one, self.below(nodes, i), (*path, i)) for i, one in enumerate(value)]
        if not isinstance(value, dict):
            return value
        names = declared_in(flat(nodes, self.root))
        made: dict[str, Any] = {}
        for key, inner in value.items():
            original = self.back.get(key, key)
            if key in names or original not in names:
                original = key
            elif original in value:
                raise Conflict(path, original, key)
            written = self.out.get(original, original) if original in names else original
            made[written] = self.of(inner, self.below(nodes, original), (*path, original))
        return made

    def below(self, nodes: list[Any], step: str | int) -> list[Any]:
        """The schemas of a member or an item."""
        return [part for node in nodes for part in below(node, step, self.root)]
