"""``previous=``: what was sent stays as it was, byte for byte, and what is new goes behind it.

So a prompt cache holds when tools come and go in mid-conversation. A changed tool supersedes its earlier line, a tool
that is gone stays listed and its calls are answered with ``unavailable_tool``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tscg.errors import ConfigError
from tscg.ir import Catalog, Tool
from tscg.language.spelling import ADDED
from tscg.modes.map import label
from tscg.modes.sent import Sent
from tscg.record import Record, replace

if TYPE_CHECKING:
    from tscg.language.emit import Emitted
    from tscg.modes.compiled import CompiledCatalog

__all__ = ["Past", "lines_after", "past_of", "text_after", "wire_after"]


class Past(Record):
    """A catalog beside the one compiled before: its tools, those of before first and under the names they had.

    ``gone`` holds the tools that are no more.
    """

    catalog: Catalog
    gone: tuple[Tool, ...]
    previous: CompiledCatalog

    @property
    def wire_names(self) -> dict[str, str]:
        """The wire names given out so far."""
        given = self.previous.wire_names
        return {tool.name: given.get(tool.name, tool.name) for tool in (*self.previous.catalog, *self.previous.gone)}

    @property
    def pair(self) -> tuple[str, str] | None:
        """The names of dispatcher and lookup that were sent."""
        was = self.previous.sent
        return (was.call_tool, was.lookup_tool) if was.call_tool else None


def past_of(catalog: Catalog, previous: CompiledCatalog) -> Past:
    """Compare a catalog with the one compiled before, which may itself have had a past."""
    before = {tool.name: tool for tool in (*previous.catalog, *previous.gone)}
    places = {name: at for at, name in enumerate(before)}
    tools = sorted(
        _named(catalog, before), key=lambda tool: (places.get(tool.name, len(places)), tool.server, tool.name)
    )
    names = {tool.name for tool in tools}
    gone = tuple(tool for tool in before.values() if tool.name not in names)
    return Past(catalog=catalog.replace(tools), gone=gone, previous=previous)


def _named(catalog: Catalog, before: dict[str, Tool]) -> list[Tool]:
    """The tools under the names they had: a newcomer with the name of another server's tool renames only itself."""
    had = {_home(tool): tool.name for tool in before.values()}
    taken = {tool.name for tool in catalog}
    out: list[Tool] = []
    for tool in catalog:
        name = had.get(_home(tool), tool.name)
        if tool.server and name in before and _home(before[name]) != _home(tool):
            name = f"{tool.server}__{tool.local_name or tool.name}"  # the bare name was that of another server's tool
        free = name != tool.name and name not in taken
        taken.add(name)
        out.append(replace(tool, name=name, local_name=tool.local_name or tool.name) if free else tool)
    return out


def _home(tool: Tool) -> tuple[str, str]:
    """The server of a tool and its name there."""
    return tool.server, tool.local_name or tool.name


def text_after(previous: CompiledCatalog, shown: Catalog, emit: Callable[[Catalog], Emitted]) -> Sent:
    """Text mode: the old text, and behind it a section for the tools that are new or shown otherwise."""
    listed = previous.listed
    new = shown.replace([tool for tool in shown if listed.get(tool.name) != tool])
    emitted = emit(new)
    entries = {**previous.entries, **dict(zip((tool.name for tool in new), emitted.entries, strict=True))}
    text = previous.text
    if emitted.entries and text:
        head = emitted.head
        section = f"{ADDED} {head[1:]}" if head.startswith("%") else f"{ADDED}\n{head}" if head else ADDED
        text = "\n".join([text, section, *emitted.entries])
    return Sent(text=text or emitted.text, entries=entries)


def lines_after(previous: CompiledCatalog, whole: Sent, servers: Mapping[str, str]) -> Sent:
    """Dispatch: the old map, and behind it the lines of what is new; ``whole`` is what the present catalog alone gives.

    ``servers`` holds the server of each tool of a map, which labels the lines of several.
    """
    if whole.groups or previous.sent.groups:
        raise ConfigError(
            "grouped tools stand in the descriptions of their namespaces, which cannot be appended to",
            hint="compile anew, or use dispatch without group",
        )
    old = previous.entries
    if not previous.text:
        return whole
    lines = [previous.text]
    last = next((line for line in reversed(previous.text.split("\n")) if line.startswith("#")), label(""))
    for name, line in whole.entries.items():
        if old.get(name) == line:
            continue
        if servers and label(servers[name]) != last:
            last = label(servers[name])
            lines.append(last)
        lines.append(line)
    text = "\n".join(lines)
    head, _, tail = previous.prompt.partition(previous.text)
    was = previous.sent
    codes = {**was.codes, **whole.codes}
    live = {codes[name] for name in whole.entries} if codes else set()
    return replace(
        whole, prompt=f"{head}{text}{tail}", text=text, entries={**old, **whole.entries}, codes=codes,
        retired=frozenset(codes.values()) - live, call_tool=was.call_tool, lookup_tool=was.lookup_tool,
    )  # fmt: skip


def wire_after(previous: CompiledCatalog, wire: Sequence[dict[str, Any]]) -> tuple[dict[str, Any], ...]:
    """The wire tools in the places they had, what is gone among them, and new ones at the end."""
    now = {tool["name"]: tool for tool in wire}
    kept = [now.pop(tool["name"], tool) for tool in previous.wire_tools]
    return (*kept, *now.values())
