"""The proxy over HTTP, on both of its sides; the processes are real, the network is loopback."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

pytest.importorskip("mcp")  # the extra `mcp`

import anyio
import mcp
from mcp import types
from mcp.client.streamable_http import streamable_http_client

from tests.core.proxy_client import HELLO, SCRIPT, SECONDS, Bare, bare, plays, proxied
from tests.core.proxy_server import TOOLS
from tests.core.proxy_server import Server as Sample
from tscg.proxy.servers import from_url

Message = dict[str, Any]


class Served:
    """A proxy in a process of its own that serves over HTTP; it can be killed, and started at the same port."""

    def __init__(self, folder: Path) -> None:
        self._log = folder / "log"
        self._port = 0
        self.url = ""
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "tscg", "proxy", "--http", f"127.0.0.1:{self._port}"]
        sample = ["--env", "SERVER_NAME=far", "--", sys.executable, "-S", str(SCRIPT)]
        with self._log.open("w") as log:
            self._process = subprocess.Popen([*command, *sample], stderr=log)
        end = time.monotonic() + SECONDS
        while not (found := re.search(r"serving at (http://127\.0\.0\.1:(\d+)/mcp)", self._log.read_text())):
            assert time.monotonic() < end, self._log.read_text()
            time.sleep(0.02)
        self.url, self._port = found[1], int(found[2])

    def end(self) -> int:
        self._process.terminate()
        return self._process.wait(20)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(20)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    running = Served(tmp_path_factory.mktemp("served"))
    yield running
    running.end()


@pytest.fixture
def far(tmp_path: Path) -> Iterator[Served]:
    running = Served(tmp_path)
    yield running
    running.kill()


@asynccontextmanager
async def connected(url: str, **callbacks: Any) -> AsyncIterator[Any]:
    """The SDK's client over HTTP, greeted."""
    async with (
        streamable_http_client(url) as streams,
        mcp.ClientSession(streams[0], streams[1], **callbacks) as session,
    ):
        await session.initialize()
        yield session


def said(result: Any) -> Any:
    return json.loads(result.content[0].text)


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@plays
async def test_the_sdks_client_uses_the_proxy_over_http(served: Served) -> None:
    progress: list[float] = []

    async def told(now: float, total: float | None, message: str | None) -> None:
        progress.append(now)

    async def rooted(context: Any) -> Any:
        return types.ListRootsResult.model_validate({"roots": [{"uri": "file:///here"}]})

    async with connected(served.url, list_roots_callback=rooted) as session:
        assert {tool.name for tool in (await session.list_tools()).tools} == {tool["name"] for tool in TOOLS}
        painted = await session.call_tool("paint", {"thing": "door", "color": "red"})
        assert painted.content[0].text == "größe"
        refused = (await session.call_tool("paint", {"thing": "door"})).model_dump(by_alias=True)
        assert refused["isError"] is True
        # What the server asks and tells in a call comes in the call's own stream.
        assert said(await session.call_tool("ask", {"method": "roots/list"}))["roots"][0]["uri"] == "file:///here"
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: session.call_tool("slow", {}, progress_callback=told))
            with anyio.fail_after(20):
                while not progress:
                    await anyio.sleep(0.01)
            group.cancel_scope.cancel()
        assert said(await session.call_tool("say", {}))["name"] == "say"


@plays
async def test_each_client_has_servers_of_its_own_that_end_with_its_session(served: Served) -> None:
    async with connected(served.url) as one, connected(served.url) as other:
        pids = [said(await session.call_tool("say", {}))["pid"] for session in (one, other)]
        assert len(set(pids)) == 2
        assert all(map(is_alive, pids))
    with anyio.fail_after(20):
        while any(map(is_alive, pids)):
            await anyio.sleep(0.02)


def post(url: str, headers: dict[str, str], body: Message) -> tuple[int, str]:
    accepts = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    try:
        with urlopen(Request(url, json.dumps(body).encode(), accepts), timeout=20) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


REFUSED: list[tuple[str, dict[str, str], Message, int]] = [
    ("/mcp", {"Mcp-Session-Id": "unknown"}, {"method": "ping", "id": 1}, 404),
    ("/mcp", {}, {"method": "ping", "id": 1}, 400),
    ("/mcp", {"Host": "evil.example"}, {"method": "initialize", "id": 1, "params": HELLO}, 421),
    ("/other", {}, {"method": "ping", "id": 1}, 404),
]


@pytest.mark.parametrize(
    ("path", "headers", "body", "status"),
    REFUSED,
    ids=["unknown session", "no session", "another name", "another path"],
)
def test_what_is_no_session_is_refused(
    served: Served, path: str, headers: dict[str, str], body: Message, status: int
) -> None:
    found, _ = post(served.url.replace("/mcp", path), headers, {"jsonrpc": "2.0", **body})
    assert found == status


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@plays
async def test_a_signal_ends_it_and_its_servers(far: Served) -> None:
    async with connected(far.url) as session:
        pid = said(await session.call_tool("say", {}))["pid"]
        assert await anyio.to_thread.run_sync(far.end) == 0
    assert not is_alive(pid)


# --- servers at a URL -------------------------------------------------------------------------------------------------


@plays
async def test_a_server_at_a_url_that_is_killed_in_a_call_gives_one_error_and_the_next_call_works(far: Served) -> None:
    async with bare(from_url(far.url)) as at:
        id = await at.begin("tools/call", {"name": "slow", "arguments": {}, "_meta": {"progressToken": 1}})
        await at.heard("notifications/progress")
        begin = time.monotonic()
        far.kill()
        answer = await at.answer(id)
        assert time.monotonic() - begin < 2
        # Version 2 of the SDK answers for the server that is gone.
        assert re.search("stopped before it answered|SSE stream", json.dumps(answer))
        down = await at.call("paint", {"thing": "door", "color": "red"})
        assert down["result"]["isError"] is True
        far.start()
        painted = await at.call("paint", {"thing": "door", "color": "red"})
        assert painted["result"]["content"][0]["text"] == "größe"


@plays
async def test_a_session_that_a_server_forgot_is_opened_again_unseen(far: Served) -> None:
    async with bare(from_url(far.url)) as at:
        far.kill()
        far.start()
        painted = await at.call("paint", {"thing": "door", "color": "red"})
        assert painted["result"]["content"][0]["text"] == "größe"
        await at.logged("started again")


@contextmanager
def guarded(token: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """A server over HTTP that wants a token; its URL, and the headers of each request."""
    seen: list[dict[str, str]] = []
    said: list[Message] = []
    sample = Sample(said.append)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            seen.append({name.lower(): value for name, value in self.headers.items()})
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if self.headers.get("Authorization") != f"Bearer {token}":
                self.send_error(401, "Unauthorized")
                return
            said.clear()
            sample.take(asked)
            body = json.dumps({"jsonrpc": "2.0", **said[-1]}).encode() if "id" in asked else b""
            self.send_response(200 if body else 202)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self) -> None:
            self.send_error(405)

        def log_message(self, format: str, *arguments: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/mcp", seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@plays
async def test_headers_reach_the_server_and_the_version_with_them() -> None:
    with guarded("k3y") as (url, seen):
        async with bare(from_url(url, {"Authorization": "Bearer k3y"})) as at:
            painted = await at.call("paint", {"thing": "door", "color": "red"})
            assert painted["result"]["content"][0]["text"] == "größe"
            assert not any("k3y" in line for line in at.log)
    assert {headers["authorization"] for headers in seen} == {"Bearer k3y"}
    assert {headers.get("mcp-protocol-version") for headers in seen[1:]} == {HELLO["protocolVersion"]}


async def greeting(url: str, **headers: str) -> Message:
    """What `initialize` answers."""
    async with proxied(from_url(url, headers)) as (streams, log), anyio.create_task_group() as group:
        at = Bare(streams, log)
        group.start_soon(at.listen)
        answer = await at.ask("initialize", HELLO)
        group.cancel_scope.cancel()
    return answer


@plays
async def test_a_server_that_refuses_us_is_an_error_that_says_how() -> None:
    with guarded("k3y") as (url, _):
        message = (await greeting(f"{url}?key=wr0ng", Authorization="Bearer wr0ng"))["error"]["message"]
    assert "cannot be started" in message
    assert "401" in message
    assert "wr0ng" not in message


@plays
async def test_a_server_that_nobody_serves_is_an_error() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    message = (await greeting(f"http://127.0.0.1:{port}/mcp"))["error"]["message"]
    assert f"the MCP server http://127.0.0.1:{port}/mcp cannot be started" in message
