"""Namespaces: tools put together under one wire tool each, by server, by the head of their names, or as told."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tscg.errors import ConfigError
from tscg.ir import Tool
from tscg.modes.names import wire_names

__all__ = ["OTHER", "Group", "groups_of", "namespace"]

OTHER = "other"
_separator = re.compile(r"[_\-./: ]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """A namespace: the wire name of its tool, and its tools by operation, in the order of the catalog."""

    name: str
    wire_name: str
    operations: Mapping[str, str]


def namespace(tool: Tool) -> str:
    """The server, else what stands before the first separator with something on both sides, else ``other``.

    >>> import tscg
    >>> tools = [{"name": name} for name in ("github_get_me", "_private", "foo_", "ping")]
    >>> [namespace(tool) for tool in tscg.Catalog.from_tools(tools)]
    ['github', 'other', 'other', 'other']
    """
    if tool.server:
        return tool.server
    for found in _separator.finditer(tool.name):
        if found.start() and found.end() < len(tool.name):
            return tool.name[: found.start()]
    return OTHER


def groups_of(tools: Sequence[Tool], given: Mapping[str, str] | None, taken: Iterable[str]) -> list[Group]:
    """The groups of tools, ordered by name. ``given`` maps tools to namespaces and is followed where it says something.

    A namespace of one tool joins ``other``; were that a group of one, the smallest namespace joins it too. ``taken``
    are names that no group may have. Raises ConfigError for a wrong mapping, and for two groups of one wire name or
    one that is taken, with a mapping that works.
    """
    chosen = _chosen(tools, given)
    spaces = _joined(chosen)
    names = sorted(set(spaces.values()))
    wired = wire_names(names)
    wire = {name: wired.get(name, name) for name in names}
    _check(spaces, wire, frozenset(taken))
    out = []
    for name in names:
        members = [tool for tool in tools if spaces[tool.name] == name]
        out.append(Group(name=name, wire_name=wire[name], operations=_operations(name, members)))
    return out


def _chosen(tools: Sequence[Tool], given: Mapping[str, str] | None) -> dict[str, str]:
    """Namespaces as told, else as found."""
    spaces = {tool.name: namespace(tool) for tool in tools}
    for name, told in (given or {}).items():
        if name not in spaces:
            raise ConfigError(f"group names {name!r}, which is no tool of the map", allowed=tuple(sorted(spaces)[:20]))
        if not any(char.isalnum() for char in told):
            raise ConfigError(
                f"group gives {name!r} the namespace {told!r}", hint=f"name it, for example {{{name!r}: 'tasks'}}"
            )
        spaces[name] = told.strip()
    return spaces


def _joined(chosen: Mapping[str, str]) -> dict[str, str]:
    sizes = Counter(chosen.values())
    spaces = {tool: space if sizes[space] > 1 else OTHER for tool, space in chosen.items()}
    sizes = Counter(spaces.values())
    if sizes[OTHER] == 1 and len(sizes) > 1:
        smallest = min((size, name) for name, size in sizes.items() if name != OTHER)[1]
        spaces = {tool: OTHER if space == smallest else space for tool, space in spaces.items()}
    return spaces


def _operations(space: str, members: Sequence[Tool]) -> dict[str, str]:
    """Tools by operation: the name without its namespace where what is left is unique, else the whole name."""
    short = {tool.name: _short(space, tool) for tool in members}
    counts = Counter([*short.values(), *(tool.name for tool in members if short[tool.name] != tool.name)])
    return {(short[tool.name] if counts[short[tool.name]] == 1 else tool.name): tool.name for tool in members}


def _short(space: str, tool: Tool) -> str:
    text = tool.local_name or tool.name
    if len(text) > len(space) and text.startswith(space):
        found = _separator.match(text, len(space))
        if found is not None and found.end() < len(text):
            return text[found.end() :]
    return text


def _check(spaces: Mapping[str, str], wire: Mapping[str, str], taken: frozenset[str]) -> None:
    """Each group has a wire name of its own."""
    counts = Counter(wire.values())
    for name, wired in wire.items():
        if counts[wired] == 1 and wired not in taken:
            continue
        tools = [tool for tool, space in spaces.items() if space == name]
        free = next(
            f"{wired}_{more}"
            for more in ("tools", "group", *map(str, range(2, 10_000)))
            if f"{wired}_{more}" not in taken and f"{wired}_{more}" not in counts
        )
        shown = ", ".join(f"{tool!r}: {free!r}" for tool in tools[:5])
        raise ConfigError(
            f"the namespace {name!r} would be the wire tool {wired!r}, which is taken",
            hint=f"give it another name: group={{{shown}{', ...' if len(tools) > 5 else ''}}}",
        )
