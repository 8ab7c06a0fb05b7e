"""The tools of a proxy: what the client is shown of them, and what becomes of a call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import tscg
from tscg.calls import Call, Item
from tscg.errors import ConfigError

__all__ = ["MODES", "Toolset", "catalog_of", "toolset"]

MODES = ("native", "dispatch", "passthrough")
"""The modes whose calls are native, as those of MCP are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Toolset:
    """Tools compiled, and as they are listed."""

    compiled: tscg.CompiledCatalog
    listed: tuple[dict[str, Any], ...]

    def judge(self, name: str, arguments: object) -> Item:
        """What a call of the client is: a call to make, a lookup to answer, or an error to send back."""
        return self.compiled.resolve(name, arguments)

    def home(self, call: Call) -> tuple[str, str]:
        """The label of the server that has the tool, and the tool's name there."""
        tool = self.compiled.catalog.by_name[call.name]
        return tool.server, tool.local_name or tool.name

    @property
    def saved(self) -> str:
        """What is saved, in one line; counts tokens, which takes a while."""
        stats, mode = self.compiled.stats, self.compiled.mode
        counted = f"{'counted' if stats.exact else 'estimated'} with {stats.tokenizer}"
        return (
            f"{stats.baseline_tokens:,} tokens as JSON, {stats.tokens:,} in {mode} ({stats.saved:.1%} saved, {counted})"
        )


def catalog_of(tools: Sequence[Mapping[str, Any]], label: str) -> tscg.Catalog:
    """The tools that a server lists. One that cannot be read goes on as it is."""
    return tscg.Catalog.from_tools(list(tools), server=label, on_error="passthrough")


def toolset(catalogs: Sequence[tscg.Catalog], options: Mapping[str, Any], previous: Toolset | None = None) -> Toolset:
    """Compile the tools of all servers; ``previous`` is what the client has been shown, which stays as it is.

    >>> shown = toolset([catalog_of([{"name": "ping", "inputSchema": {"type": "object"}}], "")], {"mode": "native"})
    >>> [tool["name"] for tool in shown.listed], shown.judge("ping", {}).arguments
    (['ping'], {})
    """
    catalog = catalogs[0] if len(catalogs) == 1 else tscg.Catalog.join(*catalogs)
    compiled = None
    if previous is not None:
        try:
            compiled = tscg.compile(catalog, **options, previous=previous.compiled)
        except ConfigError:
            compiled = None  # grouped tools and a budget cannot be appended to; what else is wrong is raised below
    if compiled is None:
        compiled = tscg.compile(catalog, **options)
    return Toolset(compiled=compiled, listed=tuple(_listed(compiled)))


def _listed(compiled: tscg.CompiledCatalog) -> list[dict[str, Any]]:
    """The wire tools in the form of MCP: all fields that the server gave, under the smaller description and schema."""
    tools = {compiled.wire_names.get(tool.name, tool.name): tool for tool in (*compiled.gone, *compiled.catalog)}
    listed = []
    for wire in compiled.wire_tools:
        shown = {"name": wire["name"], "description": wire["description"], "inputSchema": wire["parameters"]}
        tool = tools.get(wire["name"])
        if tool is not None and tool.name in compiled.sent.native:
            shown = {**(tool.raw or {}), **shown}
        elif wire["name"] == compiled.sent.call_tool:
            # Not every client shows a server's instructions to the model, so the map goes where it is always seen.
            shown["description"] += f"\n{compiled.prompt}"
        elif wire["name"] == compiled.lookup_tool:
            shown["annotations"] = {"readOnlyHint": True}
        listed.append(shown)
    return listed
