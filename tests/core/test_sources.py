from __future__ import annotations

import io
import json
import shlex
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tscg.errors import CompileError, ConfigError
from tscg.sources import Source, Unavailable, parse_json, read_json, read_source, read_text, source_of

TOOLS = [
    {"name": "ping", "inputSchema": {"type": "object"}},
    {
        "name": "get",
        "description": "Gets it.",
        "inputSchema": {"type": "object", "properties": {"id": {"default": None}}},
    },
    {"name": "put", "inputSchema": {"type": "object"}, "annotations": {"destructiveHint": True}},
]


def answer(message: dict[str, Any], paging: str) -> dict[str, Any] | None:
    """What a small MCP server answers: three tools, two pages, or a cursor that never ends."""
    method, params = message["method"], message.get("params") or {}
    if "id" not in message:
        return None
    result: dict[str, Any]
    if method == "initialize":
        version = params["protocolVersion"]
        result = {
            "protocolVersion": version,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "s", "version": "1"},
        }
    elif method == "tools/list" and paging == "refused":
        error = {"code": -32603, "message": "the license\nhas expired"}
        return {"jsonrpc": "2.0", "id": message["id"], "error": error}
    elif method == "tools/list":
        second = params.get("cursor") == "next"
        result = {"tools": TOOLS[2:] if second else TOOLS[:2]}
        if not second or paging == "endless":
            result["nextCursor"] = "next"
    else:
        return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "unknown method"}}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


STDIO = """
import json, sys
sys.path.insert(0, {folder!r})
from test_sources import answer
print("ready", file=sys.stderr)
for line in sys.stdin:
    reply = answer(json.loads(line), {paging!r})
    if reply is not None:
        print(json.dumps(reply), flush=True)
"""


def command(paging: str) -> Source:
    code = STDIO.format(folder=str(Path(__file__).parent), paging=paging)
    return source_of(None, mcp=shlex.join([sys.executable, "-c", code]))


@contextmanager
def served(paging: str) -> Iterator[Source]:
    """The same server over streamable HTTP, on loopback."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            reply = answer(json.loads(body), paging)
            data = b"" if reply is None else json.dumps(reply).encode()
            self.send_response(202 if reply is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self.send_error(405)

        do_DELETE = do_GET

        def log_message(self, format: str, *arguments: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield source_of(None, url=f"http://127.0.0.1:{server.server_port}/mcp")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def started(paging: str) -> Iterator[Source]:
    yield command(paging)


transports = pytest.mark.parametrize("transport", [started, served], ids=["stdio", "http"])
Transport = Callable[[str], Any]


@transports
def test_all_pages_of_a_server_are_read_as_it_sent_them(transport: Transport) -> None:
    pytest.importorskip("mcp")
    with transport("pages") as source:
        assert read_source(source) == {"tools": TOOLS}


@transports
def test_a_cursor_that_comes_again_is_an_error(transport: Transport) -> None:
    pytest.importorskip("mcp")
    with transport("endless") as source, pytest.raises(CompileError, match="does not end: cursor 'next' came again"):
        read_source(source)


@transports
def test_a_server_that_refuses_is_one_line(transport: Transport) -> None:
    pytest.importorskip("mcp")
    with transport("refused") as source, pytest.raises(CompileError) as caught:
        read_source(source)
    assert "cannot be read: the license has expired" in str(caught.value)
    if source.kind == "mcp":
        assert "its last words: ready" in str(caught.value)


@pytest.mark.parametrize(
    ("source", "says"),
    [
        (Source(kind="mcp", where="no-such-command-of-mine --x"), "no-such-command-of-mine"),
        (
            Source(kind="mcp", where=f"{shlex.quote(sys.executable)} -c 'raise SystemExit(\"no key\")'"),
            "its last words: no key",
        ),
        (Source(kind="url", where="http://127.0.0.1:1/mcp"), "cannot be read"),
    ],
    ids=["no command", "a command that ends", "nobody listens"],
)
def test_a_server_that_does_not_start_is_one_line(source: Source, says: str) -> None:
    pytest.importorskip("mcp")
    with pytest.raises(CompileError) as caught:
        read_source(source)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("where", ["'", ""], ids=["open quote", "empty"])
def test_a_command_line_must_be_one(where: str) -> None:
    pytest.importorskip("mcp")
    with pytest.raises(ConfigError, match="--mcp"):
        read_source(Source(kind="mcp", where=where))


def test_without_the_sdk_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Unavailable, match=r"install tscg\[mcp\]"):
        read_source(Source(kind="url", where="http://127.0.0.1:1/mcp"))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it is empty"),
        (" \n", "it is empty"),
        ('[{"name" "a"}]', "line 1, column 10 is no JSON"),
        ("not json", "line 1, column 1 is no JSON"),
        ("[1, NaN]", "NaN is no JSON value"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),  # Python 3.13 reads some thousands
        ("9" * 5_000, "it is no JSON"),
    ],
    ids=["empty", "blank", "colon", "words", "nan", "brackets", "braces", "digits"],
)
def test_what_is_no_json_is_one_line(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(text)
    with pytest.raises(CompileError) as caught:
        read_json(str(path))
    assert str(caught.value).startswith(f"{path}: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_and_standard_input_are_utf_8_with_or_without_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(b'\xef\xbb\xbf["gr\xc3\xb6\xc3\x9fe"]')
    assert read_json(str(path)) == ["größe"]
    assert read_json("-", io.BytesIO(b'["gr\xc3\xb6\xc3\x9fe"]')) == ["größe"]
    assert read_source(source_of("-"), io.BytesIO(b"[]")) == []
    with pytest.raises(CompileError, match="standard input: byte 1 is no UTF-8"):
        read_text("-", io.BytesIO(b"a\xff"))


def test_a_file_that_is_not_there_is_the_users_turn(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"cannot read .*nothing\.json: No such file"):
        read_json(str(tmp_path / "nothing.json"))
    with pytest.raises(ConfigError, match="cannot read"):
        read_json(str(tmp_path))


def test_exactly_one_source_is_read() -> None:
    assert source_of("a.json") == Source(kind="file", where="a.json")
    assert source_of("-").label == "standard input"
    with pytest.raises(ConfigError, match="no catalog was given; allowed: FILE, -"):
        source_of(None)
    with pytest.raises(ConfigError, match="a and b were given"):
        source_of("a", mcp="b")


def test_a_text_is_named_by_where_it_came_from() -> None:
    with pytest.raises(CompileError, match="standard input: it is empty"):
        parse_json("", "-")
