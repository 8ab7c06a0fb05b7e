"""Clients of the proxy for its tests: the SDK's, and a bare one that sends whatever it is told."""

from __future__ import annotations

import functools
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import mcp
from mcp.shared.memory import create_client_server_memory_streams

from tscg.proxy import sdk
from tscg.proxy.servers import Server, from_command
from tscg.proxy.session import Session

Message = dict[str, Any]
SCRIPT = Path(__file__).parent / "proxy_server.py"
SECONDS = 60  # how long a test may wait for what should come at once
HELLO: Message = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"roots": {}, "sampling": {}, "elicitation": {}},
    "clientInfo": {"name": "bare", "version": "0"},
}


def sample(name: str = "sample", **env: str) -> Server:
    """The server of these tests, under a name of its own."""
    return from_command([sys.executable, "-S", str(SCRIPT)], {"SERVER_NAME": name, **env})


class Bare:
    """A client that speaks messages. ``told`` holds what came and was no answer."""

    def __init__(self, streams: Any, log: list[str]) -> None:
        self._reading, self._writing = streams
        self._ids = count(1)
        self._answers: dict[object, Message] = {}
        self._came = anyio.Condition()
        self.told: list[Message] = []
        self.log = log

    async def listen(self) -> None:
        async for item in self._reading:
            value = sdk.unpacked(item)
            if "method" in value:
                self.told.append(value)
            else:
                self._answers[value["id"]] = value
            async with self._came:
                self._came.notify_all()

    async def send(self, value: Message) -> None:
        await self._writing.send(sdk.packed({"jsonrpc": "2.0", **value}))

    async def begin(self, method: str, params: Message | None = None) -> object:
        """Send a request and do not wait."""
        id = next(self._ids)
        await self.send({"id": id, "method": method, **({} if params is None else {"params": params})})
        return id

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until something holds; it is looked at whenever a message comes."""
        with anyio.fail_after(SECONDS):
            async with self._came:
                while not holds():
                    await self._came.wait()

    async def answer(self, id: object) -> Message:
        await self.until(lambda: id in self._answers)
        return self._answers.pop(id)

    async def ask(self, method: str, params: Message | None = None) -> Message:
        """The answer to a request: the message with its ``result`` or ``error``."""
        return await self.answer(await self.begin(method, params))

    async def call(self, tool: str, arguments: Message | None = None, **more: Any) -> Message:
        return await self.ask("tools/call", {"name": tool, "arguments": arguments or {}, **more})

    async def heard(self, method: str) -> Message:
        """The first notification or request with a method."""
        await self.until(lambda: any(value["method"] == method for value in self.told))
        return next(value for value in self.told if value["method"] == method)

    async def logged(self, text: str) -> None:
        """Wait for a line of the log."""
        with anyio.fail_after(SECONDS):
            while not any(text in line for line in self.log):
                await anyio.sleep(0.01)


@asynccontextmanager
async def proxied(*servers: Server, **options: Any) -> AsyncIterator[tuple[Any, list[str]]]:
    """The client's streams to a proxy in this process, and the lines of its log."""
    log: list[str] = []
    session = Session(servers, {"mode": "native", **options}, lambda text, label: log.append(f"{label}: {text}"))
    async with create_client_server_memory_streams() as (ours, its), anyio.create_task_group() as group:
        group.start_soon(session.run, *its)
        yield ours, log
        await ours[1].aclose()


@asynccontextmanager
async def bare(*servers: Server, hello: Message = HELLO, **options: Any) -> AsyncIterator[Bare]:
    """A bare client, greeted and ready."""
    async with proxied(*servers, **options) as (streams, log), anyio.create_task_group() as group:
        client = Bare(streams, log)
        group.start_soon(client.listen)
        answer = await client.ask("initialize", hello)
        assert "result" in answer, answer
        await client.send({"method": "notifications/initialized"})
        yield client
        group.cancel_scope.cancel()


@asynccontextmanager
async def client(*servers: Server, callbacks: Mapping[str, Any] | None = None, **options: Any) -> AsyncIterator[Any]:
    """The SDK's client, greeted; its initialize result is kept as ``welcome``."""
    async with (
        proxied(*servers, **options) as (streams, _),
        mcp.ClientSession(*streams, **(callbacks or {})) as session,
    ):
        session.welcome = (await session.initialize()).model_dump(by_alias=True)  # type: ignore[attr-defined]
        yield session


def plays(test: Callable[..., Coroutine[Any, Any, None]]) -> Any:
    """Run a test that is a coroutine function, with its fixtures and parameters."""

    @functools.wraps(test)
    def played(**given: Any) -> None:
        anyio.run(functools.partial(test, **given))

    return played
