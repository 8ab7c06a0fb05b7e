"""What arguments a tool takes, as far as a map says: names, which are required, and where one of several sets is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tscg.ir import AllOf, AnyType, Node, Object, Param, Ref, Tool, Union
from tscg.record import replace

__all__ = ["Either", "Takes", "takes_of"]

DEEP = 16  # composed roots below composed roots


@dataclass(frozen=True, slots=True, kw_only=True)
class Either:
    """Sets of names of which one must be given; exactly one where ``exclusive``."""

    sets: tuple[tuple[str, ...], ...]
    exclusive: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Takes:
    """The members of an object, put together from all the parts of its type.

    ``params`` keep the author's order; ``rest`` types undeclared members, ``more`` says that some must be given beyond
    the required ones, ``free`` that there is a rule which names do not tell.
    """

    params: tuple[Param, ...] = ()
    either: tuple[Either, ...] = ()
    rest: Node | None = None
    more: bool = False
    free: bool = False

    @property
    def required(self) -> tuple[str, ...]:
        """Names that every call gives."""
        return tuple(param.name for param in self.params if param.required)

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to give."""
        return not (self.params or self.either or self.rest is not None or self.more or self.free)


def takes_of(tool: Tool) -> Takes:
    """What a tool takes.

    >>> import tscg
    >>> tool = tscg.Catalog.from_tools([{"name": "a", "parameters": {"allOf": [{"required": ["id"]}]}}])[0]
    >>> takes_of(tool).required, takes_of(tool).nothing
    (('id',), False)
    """
    return taken(tool.root, dict(tool.types))


def taken(root: Node, types: Mapping[str, Node]) -> Takes:
    """What an object takes whose type may be composed; ``types`` are the named ones."""
    if type(root) is Object and not root.extra:
        return Takes(params=root.params, rest=root.rest, more=_more(root))
    gathering = _Gathering(types)
    needed = gathering.visit(root, 0)
    params = tuple(replace(param, required=param.name in needed) for param in gathering.params.values())
    return Takes(
        params=params,
        either=tuple(gathering.either),
        rest=gathering.rest,
        more=gathering.more,
        free=gathering.free,
    )


def _more(node: Object) -> bool:
    return node.min_properties > sum(param.required for param in node.params)


class _Gathering:
    def __init__(self, types: Mapping[str, Node]) -> None:
        self.types = types
        self.params: dict[str, Param] = {}
        self.either: list[Either] = []
        self.rest: Node | None = None
        self.more = self.free = False
        self.seen: dict[int, frozenset[str]] = {}

    def visit(self, node: Node, depth: int) -> frozenset[str]:
        """The names that a part requires; what it declares is gathered. A shared part is visited once."""
        found = self.seen.get(id(node))
        if found is None:
            self.seen[id(node)] = frozenset()  # what holds itself requires nothing more by that
            found = self.seen[id(node)] = self._visit(node, depth) if depth < DEEP else frozenset()
        return found

    def _visit(self, node: Node, depth: int) -> frozenset[str]:
        self.free = self.free or bool(node.extra)
        if isinstance(node, Ref):
            return self.visit(self.types.get(node.name) or AnyType(), depth + 1)
        if isinstance(node, Object):
            return self._object(node)
        if isinstance(node, AllOf):
            return frozenset(name for part in node.parts for name in self.visit(part, depth + 1))
        if isinstance(node, Union):
            return self._union(node, depth)
        self.free = self.free or not isinstance(node, AnyType)
        return frozenset()

    def _object(self, node: Object) -> frozenset[str]:
        for param in node.params:
            known = self.params.get(param.name)
            if known is None or known.type is None:
                self.params[param.name] = param
            elif param.type is not None and param.type is not known.type:
                self.params[param.name] = replace(known, type=AllOf(parts=(known.type, param.type)))
        if node.rest is not None and self.rest is None:
            self.rest = node.rest
        self.more = self.more or _more(node)
        return frozenset(param.name for param in node.params if param.required)

    def _union(self, node: Union, depth: int) -> frozenset[str]:
        """What every branch requires; what only one of them does is a choice."""
        branches = [branch for branch in node.branches if isinstance(branch, Object | Ref | AllOf | Union | AnyType)]
        needs = [self.visit(branch, depth + 1) for branch in branches]
        if not needs:
            self.free = True
            return frozenset()
        shared = frozenset.intersection(*needs)
        order = {name: place for place, name in enumerate(self.params)}
        sets = dict.fromkeys(
            tuple(sorted(need - shared, key=lambda name: (order.get(name, 0), name))) for need in needs
        )
        if all(sets):
            self.either.append(Either(sets=tuple(sets), exclusive=node.exclusive))
        else:
            self.free = self.free or node.exclusive
        return shared
