"""An MCP server over stdio with some forty tools, for demonstration: `python -m tscg.demo.server [--db PATH]`.

The tools work on a SQLite file, which is made and filled if it does not exist. Without `--db` the data lives in
memory and is gone with the server. The hand-written schemas are sent exactly as they stand in `tscg.demo.tools`.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sqlite3
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final

from tscg.demo.database import Database
from tscg.demo.handlers import HANDLERS, Arguments, ToolFailure
from tscg.demo.tools import TOOLS

NAME: Final = "fernhill-demo"
INSTRUCTIONS: Final = "Tracker, calendars, files and orders of a small tea shop. All data is made up."
# Small enough that a client has to ask for more than one page.
PAGE_SIZE: Final = 20


class Toolbox:
    """The tools over one database: what `tools/list` and `tools/call` answer, as JSON values.

    >>> database = Database(":memory:")
    >>> toolbox = Toolbox(database)
    >>> toolbox.call("respond_to_event", {"event_id": "evt-1004", "response": "accepted"})
    ('{"event_id": "evt-1004", "response": "accepted"}', False)
    >>> toolbox.call("get_order", {"order_id": "ord-99999"})
    ('There is no order ord-99999.', True)
    >>> database.close()
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._validators: dict[str, Any] = {}

    def page(self, cursor: str | None) -> dict[str, Any]:
        """One page of the list of tools; an unknown cursor is a ValueError."""
        start = int(cursor) if cursor else 0
        if start not in range(0, len(TOOLS), PAGE_SIZE):
            raise ValueError(f"unknown cursor {cursor!r}")
        result: dict[str, Any] = {"tools": [tool.to_mcp() for tool in TOOLS[start : start + PAGE_SIZE]]}
        if start + PAGE_SIZE < len(TOOLS):
            result["nextCursor"] = str(start + PAGE_SIZE)
        return result

    def call(self, name: str, arguments: Arguments) -> tuple[str, bool]:
        """Run a tool: its answer as text, and whether that is an error of the tool."""
        handler = HANDLERS.get(name)
        if handler is None:
            return f"There is no tool {name}.", True
        faults = self._faults(name, arguments)
        if faults:
            return "Invalid arguments. " + " ".join(faults), True
        try:
            with self._database.transaction():
                result = handler(self._database, arguments)
        except ToolFailure as failure:
            return str(failure), True
        except sqlite3.Error as error:
            return f"The database refused it: {error}.", True
        return json.dumps(result, ensure_ascii=False), False

    def _faults(self, name: str, arguments: Arguments) -> Sequence[str]:
        if name not in self._validators:
            from jsonschema_rs import Draft202012Validator

            schema = next(tool for tool in TOOLS if tool.name == name).to_mcp()["inputSchema"]
            self._validators[name] = Draft202012Validator(schema)
        errors = self._validators[name].iter_errors(dict(arguments))
        return [f"{'.'.join(str(step) for step in error.instance_path) or name}: {error.message}." for error in errors]


def build(database: Database) -> Any:
    """The SDK's low-level server around a database, with either major version of the SDK."""
    toolbox = Toolbox(database)
    lowlevel, types = import_module("mcp.server.lowlevel"), import_module("mcp.types")

    def listed(params: Any) -> Any:
        return types.ListToolsResult.model_validate(toolbox.page(getattr(params, "cursor", None)))

    def called(params: Any) -> Any:
        text, failed = toolbox.call(params.name, params.arguments or {})
        content = [{"type": "text", "text": text}]
        return types.CallToolResult.model_validate({"content": content, "isError": failed})

    # Version 2 takes handlers as arguments. Version 1 wraps them in decorators that cannot page a list; the table
    # behind the decorators can, and its entries are asked for by the type of the request.
    if not hasattr(lowlevel.Server, "list_tools"):

        async def on_list_tools(_context: Any, params: Any) -> Any:
            return listed(params)

        async def on_call_tool(_context: Any, params: Any) -> Any:
            return called(params)

        return lowlevel.Server(NAME, instructions=INSTRUCTIONS, on_list_tools=on_list_tools, on_call_tool=on_call_tool)

    async def list_tools(request: Any) -> Any:
        return types.ServerResult(listed(request.params))

    async def call_tool(request: Any) -> Any:
        return types.ServerResult(called(request.params))

    server = lowlevel.Server(NAME, instructions=INSTRUCTIONS)
    server.request_handlers[types.ListToolsRequest] = list_tools
    server.request_handlers[types.CallToolRequest] = call_tool
    return server


async def serve(database: Database) -> None:
    """Answer requests on standard input and output until the input ends."""
    stdio = import_module("mcp.server.stdio")
    server = build(database)
    async with stdio.stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve until the client goes; 1 with a line on standard error where that is impossible."""
    parser = argparse.ArgumentParser(prog="python -m tscg.demo.server", description="A demo MCP server over stdio.")
    parser.add_argument("--db", default=":memory:", metavar="PATH", help="SQLite file, made if absent")
    path = parser.parse_args(arguments).db
    try:
        database = Database(path)
    except (sqlite3.Error, ValueError) as error:
        print(f"error: cannot use {path} as the demo's database: {error}", file=sys.stderr)
        return 1
    try:
        asyncio.run(serve(database))
    except ImportError:
        print("error: the demo server needs the MCP SDK; install tscg[mcp]", file=sys.stderr)
        return 1
    finally:
        database.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
