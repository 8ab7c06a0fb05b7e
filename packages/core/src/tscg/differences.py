"""What changed between two catalogs, by what they say and accept: formats, key order and titles do not count."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tscg.ir import (
    JSON,
    AllOf,
    AnyType,
    Array,
    Boolean,
    Catalog,
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
    Tool,
    Union,
    same,
)
from tscg.record import fields

__all__ = ["Change", "Diff", "ToolChange", "diff"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference inside a tool.

    ``kind`` is ``description``, ``added`` or ``removed`` (a parameter), ``required``, ``type``, ``enum``, ``default``,
    ``constraint``, ``order`` (of parameters) or ``annotation`` (examples, deprecated, read-only). ``path`` leads to
    the place: names of properties, ``*`` for items and undeclared properties, numbers for branches. ``before`` and
    ``after`` are texts, empty for none.
    """

    kind: str
    path: tuple[str, ...] = ()
    before: str = ""
    after: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolChange:
    """A tool that both catalogs have and that is not the same in them."""

    name: str
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """Names of tools that came and went, and the tools that changed, each sorted by name. False when nothing did."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[ToolChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def to_dict(self) -> dict[str, JSON]:
        """The same as plain JSON values."""
        from dataclasses import asdict

        found: dict[str, JSON] = json.loads(json.dumps(asdict(self)))
        return found


def diff(old: Catalog, new: Catalog) -> Diff:
    """Compare two catalogs tool by tool.

    >>> old = Catalog.from_tools([{"name": "get", "parameters": {"properties": {"id": {"type": "string"}}}}])
    >>> new = Catalog.from_tools([{"name": "get", "parameters": {"properties": {"id": {"type": "integer"}}}}])
    >>> diff(old, new).changed[0].changes[0]
    Change(kind='type', path=('id',), before='string', after='integer')
    >>> bool(diff(old, old))
    False
    """
    before, after = old.by_name, new.by_name
    changed = (
        ToolChange(name=name, changes=tuple(_tool_changes(tool, after[name])))
        for name, tool in sorted(before.items())
        if name in after and tool != after[name]
    )
    return Diff(
        added=tuple(sorted(after.keys() - before.keys())),
        removed=tuple(sorted(before.keys() - after.keys())),
        changed=tuple(changed),
    )


def _tool_changes(old: Tool, new: Tool) -> Iterator[Change]:
    if old.description != new.description:
        yield Change(kind="description", before=old.description, after=new.description)
    seen: set[tuple[int, int]] = set()
    yield from _node_changes(old.root, new.root, (), seen)
    before, after = dict(old.types), dict(new.types)
    for name in sorted(before.keys() | after.keys()):
        path = (f"${name}",)
        if name not in after:
            yield Change(kind="removed", path=path, before=_type(before[name]))
        elif name not in before:
            yield Change(kind="added", path=path, after=_type(after[name]))
        else:
            yield from _node_changes(before[name], after[name], path, seen)


def _node_changes(
    old: Node | None, new: Node | None, path: tuple[str, ...], seen: set[tuple[int, int]]
) -> Iterator[Change]:
    """The differences of two types. Each pair of nodes is looked at once, so shared nodes do not multiply the work."""
    if old is new or (id(old), id(new)) in seen:
        return
    seen.add((id(old), id(new)))
    yield from _note_changes(old.note if old else None, new.note if new else None, path)
    if old is None or new is None or type(old) is not type(new):
        kind = "enum" if isinstance(old, Enum) and isinstance(new, Enum) else "type"
        yield Change(kind=kind, path=path, before=_type(old), after=_type(new))
    elif isinstance(old, Enum) and isinstance(new, Enum):
        if old.values != new.values:
            yield Change(kind="enum", path=path, before=", ".join(old.values), after=", ".join(new.values))
    elif isinstance(old, Object) and isinstance(new, Object):
        yield from _object_changes(old, new, path, seen)
    elif isinstance(old, Array) and isinstance(new, Array):
        yield from _constraints(old, new, path)
        yield from _list_changes(old.prefix, new.prefix, path, seen)
        yield from _node_changes(old.items, new.items, (*path, "*"), seen)
    elif isinstance(old, Union) and isinstance(new, Union):
        yield from _constraints(old, new, path)
        yield from _list_changes(old.branches, new.branches, path, seen)
    elif isinstance(old, AllOf) and isinstance(new, AllOf):
        yield from _list_changes(old.parts, new.parts, path, seen)
    else:
        yield from _constraints(old, new, path)


def _object_changes(old: Object, new: Object, path: tuple[str, ...], seen: set[tuple[int, int]]) -> Iterator[Change]:
    yield from _constraints(old, new, path)
    before, after = {p.name: p for p in old.params}, {p.name: p for p in new.params}
    for name, param in before.items():
        if name not in after:
            yield Change(kind="removed", path=(*path, name), before=_param(param))
            continue
        other = after[name]
        if param.required != other.required:
            yield Change(kind="required", path=(*path, name), before=_needed(param), after=_needed(other))
        yield from _node_changes(param.type, other.type, (*path, name), seen)
    for name, param in after.items():
        if name not in before:
            yield Change(kind="added", path=(*path, name), after=_param(param))
    if list(before) != list(after) and before.keys() == after.keys():
        yield Change(kind="order", path=path, before=", ".join(before), after=", ".join(after))
    yield from _node_changes(old.rest, new.rest, (*path, "*"), seen)


def _list_changes(
    old: tuple[Node, ...], new: tuple[Node, ...], path: tuple[str, ...], seen: set[tuple[int, int]]
) -> Iterator[Change]:
    for index in range(max(len(old), len(new))):
        place = (*path, str(index))
        if index >= len(new):
            yield Change(kind="removed", path=place, before=_type(old[index]))
        elif index >= len(old):
            yield Change(kind="added", path=place, after=_type(new[index]))
        else:
            yield from _node_changes(old[index], new[index], place, seen)


def _note_changes(old: Note | None, new: Note | None, path: tuple[str, ...]) -> Iterator[Change]:
    before, after = old or Note(), new or Note()
    if before.description != after.description:
        yield Change(kind="description", path=path, before=before.description, after=after.description)
    if before.default != after.default:
        yield Change(kind="default", path=path, before=before.default or "", after=after.default or "")
    for name in ("title", "examples", "deprecated", "read_only", "write_only"):
        one, two = getattr(before, name), getattr(after, name)
        if one != two:
            yield Change(kind="annotation", path=path, before=f"{name}: {_text(one)}", after=f"{name}: {_text(two)}")


# Fields that are walked on their own, not compared as constraints.
WALKED = frozenset({"note", "params", "rest", "items", "prefix", "branches", "parts", "values"})


def _constraints(old: Node, new: Node, path: tuple[str, ...]) -> Iterator[Change]:
    for name in (name for name in fields(old) if name not in WALKED):
        before, after = getattr(old, name), getattr(new, name)
        if not same(before, after):
            yield Change(kind="constraint", path=path, before=_said(name, before), after=_said(name, after))


def _said(name: str, value: object) -> str:
    return "" if value in (None, "", False) else name if value is True else f"{name}: {_text(value)}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _param(param: Param) -> str:
    return f"{_type(param.type)}, {_needed(param)}"


def _needed(param: Param) -> str:
    return "required" if param.required else "optional"


NAMES: Mapping[type[Node], str] = {
    String: "string", Boolean: "boolean", Null: "null", AnyType: "any", Never: "nothing", AllOf: "all of",
    Object: "object",
}  # fmt: skip


def _type(node: Node | None, depth: int = 3) -> str:
    """A type in a few words, to a depth of unions and arrays."""
    if node is None:
        return "any"
    if depth == 0:
        return "..."
    if isinstance(node, Enum):
        return f"one of {', '.join(node.values[:8])}{', ...' if len(node.values) > 8 else ''}"
    if isinstance(node, Number):
        return "integer" if isinstance(node, Integer) else "number"
    if isinstance(node, Array):
        return f"array of {_type(node.items, depth - 1)}" if node.items is not None else "array"
    if isinstance(node, Union):
        return " or ".join(_type(branch, depth - 1) for branch in node.branches[:8])
    if isinstance(node, Ref):
        return node.name
    return node.schema if isinstance(node, Island) else NAMES.get(type(node), type(node).__name__.lower())
