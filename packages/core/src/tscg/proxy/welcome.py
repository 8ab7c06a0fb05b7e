"""What the proxy says of itself and its servers in answer to ``initialize``: pure functions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import count
from typing import Any

import tscg
from tscg.proxy.sdk import Message

__all__ = ["capabilities", "instructions", "names_for", "welcome"]

TOGETHER = ("logging", "completions", "experimental", "extensions")
"""Capabilities of which the members of several servers are put together."""
LISTED = ("prompts", "resources")


def names_for(said: Sequence[object]) -> list[str]:
    """A name of its own for each server, out of what the user or the server itself calls it.

    >>> names_for(["mcp time", "mcp-git", "mcp-git", None])
    ['mcp_time', 'mcp-git', 'mcp-git-2', 'server']
    """
    names: list[str] = []
    for one in said:
        base = re.sub(r"[^A-Za-z0-9_-]+", "_", str(one or "")).strip("_") or "server"
        spellings = (base if number == 1 else f"{base}-{number}" for number in count(1))
        names.append(next(name for name in spellings if name not in names))
    return names


def welcome(named: Sequence[tuple[str, Message]], prompt: str, troubles: Sequence[str]) -> Message:
    """The result of ``initialize`` over those of the servers, each under its name. Their oldest version is spoken.

    ``prompt`` goes into the instructions, and so do the servers that are not there (``troubles``).
    """
    infos = [info for _, info in named]
    names = ", ".join(name for name, _ in named)
    told = instructions(named, prompt, troubles)
    return {
        "protocolVersion": min(str(info.get("protocolVersion")) for info in infos),
        "capabilities": capabilities([info.get("capabilities", {}) for info in infos]),
        "serverInfo": {"name": "tscg-proxy", "title": f"{names} through tscg", "version": tscg.__version__},
        **({"instructions": told} if told else {}),
    }


def instructions(named: Sequence[tuple[str, Message]], prompt: str, troubles: Sequence[str]) -> str:
    """The instructions of all servers, each below its name where there are several.

    >>> instructions([("a", {"instructions": "Be quick."}), ("b", {})], "", ["b cannot be started"])
    '# a\\nBe quick.\\n\\nNot available: b cannot be started'
    """
    said = [(name, info["instructions"]) for name, info in named if info.get("instructions")]
    parts = [text if len(named) == 1 else f"# {name}\n{text}" for name, text in said]
    return "\n\n".join([*parts, *([prompt] if prompt else []), *(f"Not available: {trouble}" for trouble in troubles)])


def capabilities(given: Sequence[Message]) -> Message:
    """What servers offer together. What is asked by methods that name no server passes for one server alone.

    >>> capabilities([{"prompts": {"listChanged": True}}, {"logging": {}, "tasks": {}}])
    {'logging': {}, 'prompts': {'listChanged': True}, 'tools': {'listChanged': True}}
    """
    out: dict[str, Any] = dict(given[0]) if len(given) == 1 else {}
    for name in TOGETHER:
        members = [one[name] for one in given if name in one]
        if members:
            out[name] = {key: value for member in members for key, value in member.items()}
    for name in LISTED:
        members = [one[name] for one in given if name in one]
        if members:
            out[name] = {key: any(member.get(key) for member in members) for member in members for key in member}
    out["tools"] = {**out.get("tools", {}), "listChanged": True}
    return out
