"""A client of an MCP server over stdio, with either major version of the official SDK."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, Final, TextIO

from tscg.errors import TscgError

START_SECONDS: Final = 30


class ServerError(TscgError):
    """A server does not start, or the connection to it breaks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnswer:
    """What a tool answered: its text, and whether the tool calls it an error."""

    text: str
    failed: bool


class Session:
    """An open connection to one server."""

    def __init__(self, session: Any, types: Any) -> None:
        self._session = session
        self._types = types

    async def tools(self) -> list[dict[str, Any]]:
        """All tools of all pages, each as the JSON object that the server sent."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            with _connection_errors("tools/list"):
                result = await self._page(cursor)
            found.extend(tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in result.tools)
            cursor = result.model_dump(by_alias=True).get("nextCursor")
            if not cursor:
                return found

    async def call(self, name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        """Execute one tool; a failure of the tool is an answer, a failure of the connection an exception."""
        with _connection_errors(name):
            answer = await self._session.call_tool(name, dict(arguments))
        result = answer.model_dump(by_alias=True)
        text = "\n".join(part["text"] for part in result["content"] if part["type"] == "text")
        return ToolAnswer(text=text, failed=bool(result.get("isError")))

    async def _page(self, cursor: str | None) -> Any:
        if cursor is None:
            return await self._session.list_tools()
        # From 1.24 on the cursor travels inside `params`; the older spelling is gone in 2.
        if "params" in inspect.signature(self._session.list_tools).parameters:
            return await self._session.list_tools(params=self._types.PaginatedRequestParams(cursor=cursor))
        return await self._session.list_tools(cursor=cursor)


@asynccontextmanager
async def connect(command: Sequence[str], *, log: TextIO | None = None) -> AsyncIterator[Session]:
    """Start a server by its command line and open a session; the process ends with the block.

    `log` takes what the server writes to standard error; by default that goes to our own.
    """
    mcp, stdio, types = (import_module(name) for name in ("mcp", "mcp.client.stdio", "mcp.types"))
    parameters = stdio.StdioServerParameters(
        command=command[0], args=list(command[1:]), env={**stdio.get_default_environment(), **_python_path()}
    )
    timeout = _seconds(mcp, START_SECONDS)
    async with (
        stdio.stdio_client(parameters, errlog=log or sys.stderr) as (reading, writing),
        mcp.ClientSession(reading, writing, read_timeout_seconds=timeout) as session,
    ):
        with _connection_errors(" ".join(command)):
            await session.initialize()
        yield Session(session, types)


def server_command(database: Path) -> list[str]:
    """The command line of the demo server for a database file."""
    return [sys.executable, "-m", "tscg.demo.server", "--db", str(database)]


@contextmanager
def _connection_errors(doing: str) -> Iterator[None]:
    """Turn the exceptions about a connection into ours: the SDK's, whose name differs between its versions, and those
    of the streams under it."""
    exceptions, streams = import_module("mcp.shared.exceptions"), import_module("anyio")
    kind: type[Exception] = getattr(exceptions, "MCPError", None) or exceptions.McpError
    try:
        yield
    except (kind, streams.ClosedResourceError, streams.BrokenResourceError) as error:
        raise ServerError(f"the MCP server failed at {doing}: {str(error) or 'the connection is closed'}") from error


def _python_path() -> dict[str, str]:
    # The SDK starts servers with a bare environment; ours must import the same tscg as we do.
    package = str(Path(__file__).resolve().parents[2])
    inherited = os.environ.get("PYTHONPATH")
    return {"PYTHONPATH": os.pathsep.join([package, *([inherited] if inherited else [])])}


def _seconds(mcp: Any, seconds: int) -> Any:
    # Version 1 takes a timedelta, version 2 a number.
    annotation = str(inspect.signature(mcp.ClientSession.__init__).parameters["read_timeout_seconds"].annotation)
    return timedelta(seconds=seconds) if "timedelta" in annotation else float(seconds)
