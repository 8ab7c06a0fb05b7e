"""Serving the proxy: to one client over standard input and output, or to many over streamable HTTP."""

from __future__ import annotations

import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Any
from uuid import uuid4

import anyio
from anyio.abc import TaskGroup, TaskStatus

from tscg.errors import ConfigError, leaves
from tscg.proxy import sdk
from tscg.proxy.servers import Server
from tscg.proxy.session import Session

__all__ = ["address_of", "serve_http", "serve_stdio"]

PATH = "/mcp"
SESSION = "mcp-session-id"
LOOPBACK = ("127.0.0.1", "::1", "localhost")
ENDING_SECONDS = 1  # open streams of clients get so long when the proxy ends
STOPPING_SECONDS = 10  # and the servers so long, of which the SDK gives each some


async def serve_stdio(servers: Sequence[Server], options: Mapping[str, Any], note: Callable[[str, str], None]) -> None:
    """Serve one client until it closes our standard input; servers are stopped then, and at SIGINT and SIGTERM."""
    session = Session(servers, options, note)
    async with sdk.stdio() as streams, anyio.create_task_group() as group:
        done = anyio.Event()
        if sys.platform != "win32":  # there is no such receiver there
            await group.start(_leave_at_signal, session, done)
        try:
            await session.run(*streams)
        except Exception as error:  # noqa: BLE001  # a fault of ours: the client must not wait for it
            _tell(error, note)
            _exit(1)
        done.set()
        group.cancel_scope.cancel()


async def _leave_at_signal(session: Session, done: anyio.Event, *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for number in signals:
            session.stop()
            with anyio.CancelScope(shield=True):
                await done.wait()
            _exit(128 + number)


def _tell(error: Exception, note: Callable[[str, str], None]) -> None:
    """A line about a fault of ours, and where it is if somebody wants to know."""
    cause = next(leaves(error))
    note(f"unexpected {type(cause).__name__}; TSCG_TRACEBACK=1 shows where", "error")
    if os.environ.get("TSCG_TRACEBACK"):
        traceback.print_exception(cause)


def _exit(code: int) -> None:
    """End at once: a thread of the SDK waits for a line of standard input, and Python would wait for the thread."""
    sys.stderr.flush()
    os._exit(code)


def address_of(given: str) -> tuple[str, int]:
    """Host and port of ``--http``; ConfigError for what is none.

    >>> address_of("127.0.0.1:8000"), address_of("[::1]:0"), address_of(":8000")
    (('127.0.0.1', 8000), ('::1', 0), ('127.0.0.1', 8000))
    """
    host, colon, port = given.rpartition(":")
    if not colon or not port.isdecimal() or int(port) > 65_535:
        raise ConfigError(f"--http {given!r} is no address", allowed=("HOST:PORT",), hint="port 0 takes a free one")
    return host.strip("[]") or LOOPBACK[0], int(port)


async def serve_http(
    host: str, port: int, servers: Sequence[Server], options: Mapping[str, Any], note: Callable[[str, str], None]
) -> None:
    """Serve clients over HTTP until SIGINT or SIGTERM, each with servers of its own."""
    uvicorn = import_module("uvicorn")
    with _bound(host, port) as listening:
        place = f"[{host}]" if ":" in host else host
        note(f"serving at http://{place}:{listening.getsockname()[1]}{PATH}", "tscg")
        if host not in LOOPBACK:
            note(
                f"whoever reaches {place} may use the servers: put something before it that asks who they are",
                "warning",
            )
        async with anyio.create_task_group() as group:
            front = Front(group, lambda: Session(servers, options, note), note, host)
            config = uvicorn.Config(
                front, lifespan="off", log_level="warning", timeout_graceful_shutdown=ENDING_SECONDS
            )
            server = uvicorn.Server(config)
            if sys.platform != "win32":
                # Its own handlers would let the signal end the process before the servers are stopped.
                server.capture_signals = nullcontext
                await group.start(_end_at_signal, server)
            await server.serve(sockets=[listening])
            front.stop()
            group.cancel_scope.deadline = anyio.current_time() + STOPPING_SECONDS


async def _end_at_signal(server: Any, *, task_status: TaskStatus[None]) -> None:
    with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
        task_status.started()
        async for _ in signals:
            server.should_exit = True
            return


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except OSError as error:
        raise ConfigError(f"cannot listen at {host}:{port}: {error.strerror or error}") from error


class Front:
    """The HTTP side: finds the session that a request belongs to, and opens one for a client that has none."""

    def __init__(
        self, group: TaskGroup, make: Callable[[], Session], note: Callable[[str, str], None], host: str
    ) -> None:
        self._group, self._make, self._note = group, make, note
        # Pages of a browser must not reach servers of this machine by a name that they point to it.
        self._hosts = [f"{name}:*" for name in ("127.0.0.1", "[::1]", "localhost")] if host in LOOPBACK else []
        self._open: dict[str, tuple[Any, Session]] = {}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """An ASGI application."""
        if scope["type"] != "http":
            return
        responses = import_module("starlette.responses")
        id = next((value.decode("latin-1") for name, value in scope["headers"] if name == SESSION.encode()), None)
        if scope["path"].rstrip("/") != PATH:
            await responses.PlainTextResponse(f"the proxy is at {PATH}", status_code=404)(scope, receive, send)
        elif id is None:
            await self._begin(scope, receive, send)
        elif id in self._open:
            await self._open[id][0].handle_request(scope, receive, send)
        else:
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Session not found"}}
            await responses.JSONResponse(error, status_code=404)(scope, receive, send)

    async def _begin(self, scope: Any, receive: Any, send: Any) -> None:
        """A first request; a session whose first request is refused is forgotten again."""
        id, status = uuid4().hex, 500
        transport = sdk.http_session(id, self._hosts)

        async def watched(message: Any) -> None:
            nonlocal status
            status = message.get("status", status)
            await send(message)

        await self._group.start(self._live, id, transport)
        try:
            await transport.handle_request(scope, receive, watched)
        finally:
            if status >= 400:
                await transport.terminate()

    async def _live(self, id: str, transport: Any, *, task_status: TaskStatus[None]) -> None:
        """One session, until the client ends it or is gone for long."""
        session = self._make()
        try:
            async with transport.connect() as streams, anyio.create_task_group() as group:
                self._open[id] = (transport, session)
                idle = getattr(transport, "idle_scope", None)
                if idle is not None:
                    group.start_soon(_stop_when_idle, idle, session)
                task_status.started()
                await session.run(*streams)
                group.cancel_scope.cancel()
        except Exception as error:  # noqa: BLE001  # the others go on
            _tell(error, self._note)
        finally:
            self._open.pop(id, None)

    def stop(self) -> None:
        """End all sessions."""
        for _, session in self._open.values():
            session.stop()


async def _stop_when_idle(idle: anyio.CancelScope, session: Session) -> None:
    with idle:
        await anyio.sleep_forever()
    if idle.cancelled_caught:
        session.stop()
