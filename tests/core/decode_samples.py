"""Tools and surfaces that the tests of decoding share."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

from tscg import Catalog
from tscg.calls import Call, CallError
from tscg.decoding import Decoding
from tscg.resolve import Surface, resolve

ROUND_TRIP = 7e-6  # seconds of the round trip in `slowness` on a free machine of today

WEATHER: dict[str, Any] = {
    "name": "get_weather",
    "description": "Weather forecast for a city",
    "inputSchema": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
    },
}
PING: dict[str, Any] = {
    "name": "ping",
    "description": "Health check",
    "inputSchema": {"type": "object", "properties": {}},
}
SHELL: dict[str, Any] = {
    "name": "bash",
    "description": "Run a command",
    "inputSchema": {
        "type": "object",
        "properties": {"command": {"type": "string"}, "timeout": {"type": "integer"}, "env": {"type": "object"}},
        "required": ["command"],
    },
}
WRITE: dict[str, Any] = {
    "name": "write_file",
    "description": "Write a text file",
    "inputSchema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
}
TOOLS = [WEATHER, PING, SHELL, WRITE]


def tool(properties: dict[str, Any], name: str = "f", **keywords: Any) -> dict[str, Any]:
    """A raw tool with these properties."""
    return {"name": name, "description": "F", "inputSchema": {"type": "object", "properties": properties, **keywords}}


def surface(tools: list[dict[str, Any]] | None = None, mode: str = "text", **options: Any) -> Surface:
    """A surface of raw tools; options are fields of `Decoding` or of `Surface`."""
    catalog = Catalog.from_tools(TOOLS if tools is None else tools)
    fields = {name: options.pop(name) for name in list(options) if name in Surface.__dataclass_fields__}
    fields.setdefault("decoding", Decoding(**options))
    if mode == "native":
        fields.setdefault("native", frozenset(one.name for one in catalog))
    return Surface(catalog=catalog, mode=mode, **fields)


def resolved(
    properties: dict[str, Any], arguments: object, options: dict[str, Any] | None = None, **keywords: Any
) -> Any:
    """What becomes of one native call of a tool `f` with these properties."""
    return resolve(surface([tool(properties, **keywords)], "native", **(options or {})), "f", arguments)


def kinds(item: Call | CallError) -> list[str]:
    """The kinds of repairs of a call, or of faults of an error."""
    if isinstance(item, Call):
        return [repair.split(":", 1)[0] for repair in item.repairs]
    return [fault.kind for fault in item.faults]


def native(*calls: tuple[str, Any], ids: tuple[str, ...] = ()) -> dict[str, Any]:
    """An assistant's message with native calls."""
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": ids[i] if i < len(ids) else f"c{i + 1}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for i, (name, arguments) in enumerate(calls)
        ],
    }


def cuttings(text: str) -> Iterator[list[str]]:
    """Ways to cut a text: in pieces of 1, 2, 3 and 7 characters, and in two at each place of a short one."""
    for size in (1, 2, 3, 7):
        yield [text[i : i + size] for i in range(0, len(text), size)]
    if len(text) <= 160:
        for i in range(1, len(text)):
            yield [text[:i], text[i:]]


def slowness() -> float:
    """How much slower this machine is at the moment than a free one: limits in seconds are to be multiplied by it."""
    text = json.dumps({"tool": "create_issue", "args": {"title": "x", "labels": ["a", "b"], "draft": False}})

    def best() -> float:
        start = time.perf_counter()
        for _ in range(50):
            json.dumps(json.loads(text))
        return (time.perf_counter() - start) / 50

    return max(1.0, min(best() for _ in range(20)) / ROUND_TRIP)
