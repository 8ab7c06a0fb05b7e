"""Where the command finds a catalog: a JSON file, standard input, or an MCP server over stdio or streamable HTTP.

The MCP client is the official SDK, of either major version (extra ``mcp``).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any, NoReturn

from tscg.errors import CompileError, ConfigError, Fragment, TscgError, leaves
from tscg.ir import JSON

__all__ = ["Source", "Unavailable", "parse_json", "read_json", "read_source", "read_text", "source_of"]

# A server that is installed at its first start (npx, uvx) takes a while until it answers.
ANSWER_SECONDS = 120
PAGES = 1_000  # most pages of one list of tools


class Unavailable(ConfigError):
    """Another package has to be installed first; the message names it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A place that holds a catalog: ``kind`` is ``file``, ``stdin``, ``mcp`` or ``url``."""

    kind: str
    where: str

    @property
    def label(self) -> str:
        """What messages call it."""
        return "standard input" if self.kind == "stdin" else self.where


def source_of(file: str | None, mcp: str | None = None, url: str | None = None) -> Source:
    """The one source that the arguments of a command name; a ConfigError for none or several.

    >>> source_of("-"), source_of(None, url="http://localhost:8000/mcp").kind
    (Source(kind='stdin', where='-'), 'url')
    """
    given = [(kind, where) for kind, where in (("file", file), ("mcp", mcp), ("url", url)) if where is not None]
    if len(given) != 1:
        found = " and ".join(where for _, where in given)
        problem = f"one source is read, and {found} were given" if given else "no catalog was given"
        raise ConfigError(problem, allowed=("FILE", "-", '--mcp "COMMAND ARGS"', "--url URL"))
    kind, where = given[0]
    return Source(kind="stdin" if (kind, where) == ("file", "-") else kind, where=where)


def read_source(source: Source, stdin: IO[bytes] | None = None) -> JSON:
    """The catalog's raw JSON: what the file holds, or ``{"tools": [...]}`` of all pages that a server gives.

    Raises ConfigError for a file that cannot be opened or a wrong command line, and CompileError for what holds no
    catalog and for a server that fails.
    """
    if source.kind in ("file", "stdin"):
        return read_json(source.where, stdin)
    return {"tools": _served(source)}


def read_json(path: str, stdin: IO[bytes] | None = None) -> JSON:
    """The JSON value in a file, or in standard input for ``-``."""
    return parse_json(read_text(path, stdin), path)


def parse_json(text: str, path: str) -> JSON:
    """The JSON value of a text that was read from a path; a CompileError says in one line why there is none."""
    label = "standard input" if path == "-" else path
    if not text.strip():
        _refuse(label, "it is empty")
    try:
        found: JSON = json.loads(text, parse_constant=_no_constant)
    except json.JSONDecodeError as error:
        _refuse(label, f"line {error.lineno}, column {error.colno} is no JSON: {error.msg}")
    except RecursionError:
        _refuse(label, "the JSON is nested too deeply to be read")
    except ValueError as error:
        _refuse(label, f"it is no JSON: {error}")
    return found


def read_text(path: str, stdin: IO[bytes] | None = None) -> str:
    """The text of a file, or of standard input for ``-``: UTF-8, a byte order mark is dropped."""
    try:
        if path == "-":
            import sys

            data = (stdin or sys.stdin.buffer).read()
        else:
            with open(path, "rb") as file:
                data = file.read()
    except OSError as error:
        raise ConfigError(f"cannot read {path}: {error.strerror or error}") from error
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        _refuse("standard input" if path == "-" else path, f"byte {error.start} is no UTF-8")


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON value")


def _refuse(label: str, reason: str) -> NoReturn:
    raise CompileError([Fragment(tool=label, pointer="", reason=reason)]) from None


def _served(source: Source) -> list[JSON]:
    """All tools of an MCP server, each as the JSON object that it sent."""
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise Unavailable("reading from an MCP server needs the MCP SDK", hint="install tscg[mcp]")
    import asyncio
    import tempfile

    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as log, _failures(source, log):
        return asyncio.run(_list(source, log))


async def _list(source: Source, log: IO[str]) -> list[JSON]:
    from importlib import import_module

    mcp, types = import_module("mcp"), import_module("mcp.types")
    async with (
        _transport(source, log) as streams,
        # Version 2 gives two streams, version 1 a third value.
        mcp.ClientSession(streams[0], streams[1], read_timeout_seconds=_seconds(mcp.ClientSession)) as session,
    ):
        await session.initialize()
        return await _pages(source, session, types)


def _transport(source: Source, log: IO[str]) -> Any:
    from importlib import import_module

    if source.kind == "url":
        http = import_module("mcp.client.streamable_http")
        # The name without the second underscore is that of versions before 1.24.
        client = getattr(http, "streamable_http_client", None) or http.streamablehttp_client
        return client(source.where)
    import shlex

    try:
        command = shlex.split(source.where, posix=os.name != "nt")
    except ValueError as error:
        raise ConfigError(f"--mcp {source.where!r} is no command line: {error}") from error
    if not command:
        raise ConfigError("--mcp is empty", hint='give the command that starts a server: --mcp "COMMAND ARGS"')
    stdio = import_module("mcp.client.stdio")
    # The SDK starts servers with a bare environment; this command line is the user's own, as are its keys.
    parameters = stdio.StdioServerParameters(command=command[0], args=command[1:], env=dict(os.environ))
    return stdio.stdio_client(parameters, errlog=log)


async def _pages(source: Source, session: Any, types: Any) -> list[JSON]:
    found: list[JSON] = []
    cursor: str | None = None
    seen: set[str] = set()
    while True:
        result = await _page(session, types, cursor)
        found.extend(tool.model_dump(mode="json", by_alias=True, exclude_unset=True) for tool in result.tools)
        cursor = result.model_dump(by_alias=True).get("nextCursor")
        if not cursor:
            return found
        if cursor in seen or len(seen) >= PAGES:
            _refuse(source.label, f"the list of tools does not end: cursor {cursor!r} came again")
        seen.add(cursor)


async def _page(session: Any, types: Any, cursor: str | None) -> Any:
    import inspect

    if cursor is None:
        return await session.list_tools()
    # From 1.24 on the cursor travels inside `params`; the older spelling is gone in 2.
    if "params" in inspect.signature(session.list_tools).parameters:
        return await session.list_tools(params=types.PaginatedRequestParams(cursor=cursor))
    return await session.list_tools(cursor=cursor)


def _seconds(session: Any) -> object:
    import inspect
    from datetime import timedelta

    # Version 1 takes a timedelta, version 2 a number.
    annotation = str(inspect.signature(session.__init__).parameters["read_timeout_seconds"].annotation)
    return timedelta(seconds=ANSWER_SECONDS) if "timedelta" in annotation else float(ANSWER_SECONDS)


@contextmanager
def _failures(source: Source, log: IO[str]) -> Iterator[None]:
    """Turn what the SDK raises, alone or in groups, into one error of ours that names the source and the cause."""
    try:
        yield
    except Exception as error:
        causes = list(leaves(error))
        ours = next((cause for cause in causes if isinstance(cause, TscgError)), None)
        if ours is not None:
            raise ours from None
        log.flush()
        log.seek(0)
        last = next((line.strip() for line in reversed(log.read().splitlines()) if line.strip()), "")
        said = " ".join(str(causes[0]).split())[:300] or type(causes[0]).__name__
        reason = f"the MCP server cannot be read: {said}"
        hint = f"its last words: {last[:300]}" if last else ""
        raise CompileError([Fragment(tool=source.where, pointer="", reason=reason)], hint=hint) from error
