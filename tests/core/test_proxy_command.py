"""``tscg proxy``: its options and files, and the command itself with the SDK's client at its standard streams."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tscg.cli import main
from tscg.errors import ConfigError
from tscg.proxy.servers import Server, from_file, from_line, from_url, pairs, variables

# --- options ----------------------------------------------------------------------------------------------------------

WRONG: list[tuple[list[str], str]] = [
    ([], "no server was given"),
    (["--mcp", ""], "--mcp is empty"),
    (["--mcp", "'"], "is no command line"),
    (["--url", "ftp://x"], "is no URL of a server"),
    (["--config", "nothing.json"], "cannot read nothing.json"),
    (["--header", "k3y", "--url", "http://x"], "--header is no header"),
    (["--env", "=k3y", "--", "x"], "--env without a name"),
    (["--env", "NOT_SET_ANYWHERE", "--", "x"], "--env NOT_SET_ANYWHERE: no value"),
    (["--mode", "text", "--", "x"], "calls over MCP are native ones; allowed: native, dispatch, passthrough"),
    (["--mode", "wrong", "--", "x"], "unknown mode 'wrong'"),
    (["--map", "names", "--mode", "native", "--", "x"], "--map given with --mode native"),
]


@pytest.mark.parametrize(
    ("arguments", "says"), WRONG, ids=lambda value: " ".join(value) if isinstance(value, list) else ""
)
def test_a_wrong_use_is_one_line(
    arguments: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as caught:
        main(["proxy", *arguments])
    out, err = capsys.readouterr()
    assert (caught.value.code, out) == (2, "")
    assert says in err
    assert len(err.splitlines()) == 1
    assert "k3y" not in err


def test_without_the_sdk_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import importlib.util

    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as caught:
        main(["proxy", "--", "x"])
    assert caught.value.code == 1
    assert "install tscg[mcp]" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["8000", "x:", ":x", "127.0.0.1:99999"])
def test_an_address_must_be_one(address: str, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mcp")
    with pytest.raises(SystemExit) as caught:
        main(["proxy", "--http", address, "--", "x"])
    assert caught.value.code == 2
    assert "is no address" in capsys.readouterr().err


def test_variables_and_headers_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SET", "here")
    assert variables(["A=b=c", "EMPTY=", "SET"]) == {"A": "b=c", "EMPTY": "", "SET": "here"}
    assert pairs(["A: b: c", "X-Empty:"]) == {"A": "b: c", "X-Empty": ""}


def test_keys_are_never_shown() -> None:
    server = Server(name="a", url="http://x/?key=k3y", headers={"Authorization": "k3y"}, env={"KEY": "k3y"})
    assert "Authorization" not in repr(server)
    assert server.label == "a"
    assert from_url("http://x/mcp?key=k3y").label == "http://x/mcp"
    assert from_line("run 'a b'").command == ("run", "a b")


# --- files ------------------------------------------------------------------------------------------------------------


def written(tmp_path: Path, value: Any) -> str:
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps(value))
    return str(path)


@pytest.mark.parametrize("group", ["mcpServers", "servers"])
def test_a_file_names_servers(group: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "k3y")
    monkeypatch.delenv("HOST", raising=False)
    far = {"type": "http", "url": "https://${HOST:-example.com}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}
    near = {"type": "stdio", "command": "run", "args": ["-y", "${TOKEN}"], "env": {"A": "${HOST:-}"}, "cwd": "/there"}
    path = written(tmp_path, {group: {"far": far, "near": near, "off": {"command": "x", "disabled": True}}})
    assert from_file(path) == [
        Server(name="far", url="https://example.com/mcp", headers={"Authorization": "Bearer k3y"}),
        Server(name="near", command=("run", "-y", "k3y"), env={"A": ""}, cwd="/there"),
    ]


BAD: list[tuple[Any, str]] = [
    ([], "names no servers"),
    ({"mcpServers": {}}, "names no servers"),
    ({"mcpServers": {"a": {}}}, "server 'a' needs a command or a url"),
    ({"mcpServers": {"a": {"command": "x", "url": "http://x"}}}, "server 'a' needs a command or a url"),
    ({"mcpServers": {"a": {"command": "x", "args": "y"}}}, "args is no list"),
    ({"mcpServers": {"a": {"command": "x", "args": [1]}}}, "command and args holds int, not text"),
    ({"mcpServers": {"a": {"command": "x", "env": []}}}, "env is no object"),
    ({"mcpServers": {"a": {"url": "http://x", "type": "sse"}}}, "is of type 'sse'; allowed: http"),
    ({"mcpServers": {"a": {"url": "x"}}}, "is no URL of a server"),
    ({"mcpServers": {"a": {"command": "${NOT_SET_ANYWHERE}"}}}, "there is no such variable"),
]


@pytest.mark.parametrize(("value", "says"), BAD, ids=[says for _, says in BAD])
def test_a_file_that_cannot_be_used_says_why(value: Any, says: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=says.replace("'", ".")):
        from_file(written(tmp_path, value))


# --- the command ------------------------------------------------------------------------------------------------------


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "tscg", "proxy", *arguments]


def test_it_serves_standard_streams_with_the_sdks_client(tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp")
    import anyio
    from mcp.client.stdio import StdioServerParameters, stdio_client

    from tests.core.proxy_client import SCRIPT

    one = {"command": sys.executable, "args": ["-S", str(SCRIPT)], "env": {"SERVER_NAME": "x"}}
    path = written(tmp_path, {"mcpServers": {"first": one, "second": one}})
    (tmp_path / "tscg.toml").write_text('[defaults]\nmode = "text"\nprofile = "brief"\n')
    log = (tmp_path / "log").open("w+")
    arguments = ["-m", "tscg", "proxy", "--config", path, "--mode", "dispatch"]

    async def used() -> list[str]:
        parameters = StdioServerParameters(command=sys.executable, args=arguments, cwd=tmp_path)
        async with stdio_client(parameters, errlog=log) as streams, mcp.ClientSession(*streams) as session:
            await session.initialize()
            names = [tool.name for tool in (await session.list_tools()).tools]
            called = {"tool": "second__paint", "args": {"thing": "s3cret", "color": "red"}}
            names.append((await session.call_tool("call", called)).content[0].text)
            called["args"] = {"thing": "s3cret", "color": "s3cret"}
            names.append((await session.call_tool("call", called)).content[0].text.partition(":")[0])
            return names

    assert anyio.run(used) == ["call", "lookup", "größe", "second__paint"]
    log.seek(0)
    said = log.read()
    log.close()
    assert "tools of first, second: " in said
    assert "in dispatch (" in said
    assert "tscg: refused second__paint: enum" in said
    assert "tscg: in all: 1 calls, 1 calls refused" in said
    assert "s3cret" not in said


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["SIGTERM", "SIGINT"])
def test_a_signal_ends_it_and_its_servers(number: signal.Signals, tmp_path: Path) -> None:
    pytest.importorskip("mcp")
    from tests.core.proxy_client import HELLO, SCRIPT

    with subprocess.Popen(
        command("--", sys.executable, "-S", str(SCRIPT)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None

        def ask(id: int, method: str, params: Any) -> Any:
            assert process.stdin is not None
            assert process.stdout is not None
            print(
                json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}),
                file=process.stdin,
                flush=True,
            )
            return json.loads(process.stdout.readline())["result"]

        assert ask(1, "initialize", HELLO)["serverInfo"]["name"] == "tscg-proxy"
        pid = json.loads(ask(2, "tools/call", {"name": "say"})["content"][0]["text"])["pid"]
        process.send_signal(number)
        assert process.wait(20) == 128 + number
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


# --- the page ---------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).resolve().parents[2] / "docs" / "proxy.md"
TEXT = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""


@pytest.mark.skipif(not TEXT, reason="the docs are not beside these tests")
def test_commands_and_files_of_the_page_are_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from typer.main import get_command

    from tscg.cli import app

    monkeypatch.delenv("USER", raising=False)
    lines = [line for block in re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL) for line in block.splitlines()]
    files = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)]
    assert len(lines) == 4
    for line in lines:
        words = shlex.split(line)
        assert words[:2] == ["tscg", "proxy"]
        found: Any = get_command(app)
        context = found.commands["proxy"].make_context("proxy", words[2:])
        assert any(context.params[name] for name in ("command", "mcp", "url", "config"))
    servers = [server for value in files for server in from_file(written(tmp_path, value))]
    assert [server.name for server in servers] == ["work", "git", "issues"]
    assert servers[1].env == {"GIT_AUTHOR_NAME": "nobody"}
