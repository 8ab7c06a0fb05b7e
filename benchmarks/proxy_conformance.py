"""Real MCP servers, directly and through the proxy: every tool is called, and the results are compared.

    uv run python -m benchmarks.proxy_conformance

The servers are `mcp-server-git` and `mcp-server-time` from the Python index, and `server-everything` and
`server-filesystem` of `@modelcontextprotocol` from npm: whatever is on the path, else by `uvx` and `npx`. What cannot
be started is left out, and said. Exit code 1 if any result differs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mcp
from mcp import types
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

GIT = {f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in (
    ("NAME", "Ann"), ("EMAIL", "ann@example.com"), ("DATE", "1772445600 +0000"),
)}  # fmt: skip
#: What is another thing at each call.
VARIES = re.compile(
    r"\d{4}-\d\d-\d\dT[\d:.]+|\w{3} \w{3} \d\d \d{4} [\d:]+|\d+:\d\d:\d\d [AP]M|[0-9a-f]{8}(-[0-9a-f]{4}){3}-\w{12}"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A server: the name of its command, what installs and runs it, its arguments, and calls of all its tools."""

    name: str
    runner: tuple[str, ...]
    calls: Callable[[Path], list[tuple[str, dict[str, Any]]]]
    arguments: Callable[[Path], list[str]] = lambda folder: []

    def command(self, folder: Path) -> list[str] | None:
        """The command line, None where neither the command nor its runner is there."""
        found = shutil.which(self.name)
        start = [found] if found else list(self.runner) if shutil.which(self.runner[0]) else None
        return None if start is None else [*start, *self.arguments(folder)]


def git_calls(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    repo = {"repo_path": str(folder / "repo")}
    return [
        ("git_status", repo),
        ("git_diff_unstaged", repo),
        ("git_diff_unstaged", {**repo, "context_lines": 0}),
        ("git_add", {**repo, "files": ["a.txt"]}),
        ("git_diff_staged", repo),
        ("git_reset", repo),
        ("git_add", {**repo, "files": ["a.txt", "new.txt"]}),
        ("git_commit", {**repo, "message": "Second"}),
        ("git_log", {**repo, "max_count": 5}),
        ("git_show", {**repo, "revision": "HEAD"}),
        ("git_create_branch", {**repo, "branch_name": "side"}),
        ("git_checkout", {**repo, "branch_name": "side"}),
        ("git_branch", {**repo, "branch_type": "local"}),
        ("git_diff", {**repo, "target": "HEAD~1"}),
        ("git_show", {**repo, "revision": "no-such-revision"}),
        ("git_status", {"repo_path": str(folder / "nothing")}),
    ]


def time_calls(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    zones = {"source_timezone": "Europe/Paris", "target_timezone": "Asia/Tokyo"}
    return [
        ("get_current_time", {"timezone": "Europe/Paris"}),
        ("convert_time", {**zones, "time": "16:30"}),
        ("convert_time", {**zones, "time": "26:30"}),
        ("get_current_time", {"timezone": "Nowhere/Land"}),
    ]


def everything_calls(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    data = "data:text/plain;base64,SGVsbG8="
    return [
        ("echo", {"message": "größe \u2028 <b> & \U0001f600"}),
        ("get-annotated-message", {"messageType": "error", "includeImage": True}),
        ("get-annotated-message", {"messageType": "debug"}),
        ("get-env", {}),
        ("get-resource-links", {"count": 4}),
        ("get-resource-reference", {"resourceType": "Text", "resourceId": 2}),
        ("get-structured-content", {"location": "Chicago"}),
        ("get-sum", {"a": 1.5, "b": -2}),
        ("get-tiny-image", {}),
        ("gzip-file-as-resource", {"name": "a.gz", "data": data, "outputType": "resource"}),
        ("gzip-file-as-resource", {"name": "b.gz", "data": data}),
        ("toggle-simulated-logging", {}),
        ("toggle-simulated-logging", {}),
        ("toggle-subscriber-updates", {}),
        ("toggle-subscriber-updates", {}),
        ("trigger-long-running-operation", {"duration": 0.4, "steps": 4}),
        ("simulate-research-query", {"topic": "tea"}),
        ("get-roots-list", {}),
        ("trigger-sampling-request", {"prompt": "Say hello", "maxTokens": 10}),
        ("trigger-elicitation-request", {}),
        (
            "trigger-url-elicitation",
            {"url": "https://example.com/form", "message": "Fill it in", "elicitationId": "e1"},
        ),
    ]


def file_calls(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    at = folder / "files"
    path = {"path": str(at / "a.txt")}
    return [
        ("list_allowed_directories", {}),
        ("read_file", path),
        ("read_text_file", {**path, "head": 1}),
        ("read_media_file", {"path": str(at / "dot.png")}),
        ("read_multiple_files", {"paths": [str(at / "a.txt"), str(at / "nothing.txt")]}),
        ("write_file", {"path": str(at / "b.txt"), "content": "one\n\ttwo \u00df\n"}),
        ("edit_file", {**path, "edits": [{"oldText": "one", "newText": "eins"}], "dryRun": True}),
        ("edit_file", {**path, "edits": [{"oldText": "one", "newText": "eins"}]}),
        ("create_directory", {"path": str(at / "sub" / "deep")}),
        ("list_directory", {"path": str(at)}),
        ("list_directory_with_sizes", {"path": str(at), "sortBy": "size"}),
        ("directory_tree", {"path": str(at), "excludePatterns": ["*.png"]}),
        ("move_file", {"source": str(at / "b.txt"), "destination": str(at / "sub" / "b.txt")}),
        ("search_files", {"path": str(at), "pattern": "**/*.txt"}),
        ("get_file_info", path),
        ("read_file", {"path": str(at / "nothing.txt")}),
        ("read_file", {"path": "/outside.txt"}),
    ]


SERVERS = (
    Served(
        name="mcp-server-git", runner=("uvx", "mcp-server-git"), calls=git_calls,
        arguments=lambda folder: ["--repository", str(folder / "repo")],
    ),
    Served(name="mcp-server-time", runner=("uvx", "mcp-server-time"), calls=time_calls),
    Served(
        name="mcp-server-everything", runner=("npx", "-y", "@modelcontextprotocol/server-everything"),
        calls=everything_calls,
    ),
    Served(
        name="mcp-server-filesystem", runner=("npx", "-y", "@modelcontextprotocol/server-filesystem"),
        calls=file_calls, arguments=lambda folder: [str(folder / "files")],
    ),
)  # fmt: skip


def fill(folder: Path) -> None:
    """The same repository and files before each pass."""
    shutil.rmtree(folder, ignore_errors=True)
    repo, files = folder / "repo", folder / "files"
    for made in (repo, files):
        made.mkdir(parents=True)
        (made / "a.txt").write_text("one\ntwo\nthree\n")
    (files / "dot.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    for words in (["init", "-q", "-b", "main"], ["add", "a.txt"], ["commit", "-q", "-m", "First"]):
        subprocess.run(["git", *words], cwd=repo, check=True, env={**os.environ, **GIT})
    (repo / "a.txt").write_text("one\n2\nthree\n")
    (repo / "new.txt").write_text("new\n")


# --- a client -------------------------------------------------------------------------------------------------------


async def _sample(context: Any, params: Any) -> Any:
    content = {"type": "text", "text": f"hello to {len(params.messages)}"}
    return types.CreateMessageResult.model_validate({"role": "assistant", "content": content, "model": "none"})


async def _elicit(context: Any, params: Any) -> Any:
    return types.ElicitResult(action="decline")


async def _roots(context: Any) -> Any:
    return types.ListRootsResult.model_validate({"roots": [{"uri": "file:///somewhere", "name": "somewhere"}]})


@asynccontextmanager
async def client(command: Sequence[str], log: Any) -> AsyncIterator[Any]:
    """A session of the SDK's client with all that a server may ask of one."""
    async with (
        _streams(command, log) as streams,
        mcp.ClientSession(
            streams[0], streams[1],
            sampling_callback=_sample, elicitation_callback=_elicit, list_roots_callback=_roots,
        ) as session,
    ):  # fmt: skip
        await session.initialize()
        yield session


@asynccontextmanager
async def _streams(command: Sequence[str], log: Any) -> AsyncIterator[Any]:
    """A connection to what a command starts: over stdio, or over HTTP where it is told to serve that."""
    env = {**os.environ, **GIT}
    if "--http" not in command:
        parameters = StdioServerParameters(command=command[0], args=list(command[1:]), env=env)
        async with stdio_client(parameters, errlog=log) as streams:
            yield streams
        return
    process = await asyncio.create_subprocess_exec(*command, env=env, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    try:
        line = b""
        while b"serving at" not in line:
            line = await process.stderr.readline()
        drained = asyncio.create_task(process.stderr.read())
        async with streamable_http_client(line.split()[-1].decode()) as streams:
            yield streams
    finally:
        process.terminate()
        await process.wait()
    await drained


@dataclass(slots=True, kw_only=True)
class Pass:
    """What one pass over a server gave: an entry for each thing that was asked."""

    answers: dict[str, Any] = field(default_factory=dict)
    tools: set[str] = field(default_factory=set)
    seconds: float = 0.0

    async def ask(self, what: str, asked: Any) -> Any:
        """Keep the answer, or the error, without what varies."""
        try:
            found = await asked
        except Exception as error:  # noqa: BLE001  # what an error is called depends on the SDK's version
            said = getattr(error, "error", error)
            self.answers[what] = f"error {getattr(said, 'code', '')}: {getattr(said, 'message', said)}"
            return None
        self.answers[what] = VARIES.sub("*", found.model_dump_json(by_alias=True, exclude_none=True))
        return found


async def tools_of(session: Any) -> set[str]:
    """The names of the tools, when the server has no more to add: some come only when it knows the client."""
    names: set[str] = set()
    for _ in range(20):
        found = {tool.name for tool in (await session.list_tools()).tools}
        if found == names:
            break
        names = found
        await asyncio.sleep(0.5)
    return names


async def run_pass(served: Served, command: Sequence[str], folder: Path, log: Any, *, dispatch: bool = False) -> Pass:
    """Every call of a server, then its prompts and resources."""
    fill(folder)
    done = Pass()
    async with client(command, log) as session:
        done.tools = await tools_of(session)
        begin = time.perf_counter()
        for number, (tool, arguments) in enumerate(served.calls(folder)):
            progress: list[Any] = []

            async def told(now: float, total: float | None, message: str | None, seen: list[Any] = progress) -> None:
                seen.append((now, total, message))

            name, given = ("call", {"tool": tool, "args": arguments}) if dispatch else (tool, arguments)
            await done.ask(f"{number} {tool}", session.call_tool(name, given, progress_callback=told))
            done.answers[f"{number} {tool}, progress"] = progress
        done.seconds = time.perf_counter() - begin
        await ask_the_rest(done, session)
    return done


async def ask_the_rest(done: Pass, session: Any) -> None:
    """Prompts, resources, completion and the log level."""
    prompts = await done.ask("prompts/list", session.list_prompts())
    given = {"city": "Oslo", "department": "Sales", "name": "Ann", "resourceType": "Text", "resourceId": "1"}
    for prompt in prompts.prompts if prompts else ():
        named = {argument.name: given[argument.name] for argument in prompt.arguments or () if argument.name in given}
        await done.ask(f"prompts/get {prompt.name}", session.get_prompt(prompt.name, named))
    resources = await done.ask("resources/list", session.list_resources())
    uris = [resource.uri for resource in resources.resources] if resources else []
    templates = await done.ask("resources/templates/list", session.list_resource_templates())
    found = templates.model_dump(by_alias=True)["resourceTemplates"] if templates else []
    uris += [type(uri)(f"demo://resource/dynamic/text/{number}") for number, uri in enumerate(uris[:1], 1)]
    for uri in uris:
        await done.ask(f"resources/read {uri}", session.read_resource(uri))
    for template in found:
        ref = types.ResourceTemplateReference.model_validate({"type": "ref/resource", "uri": template["uriTemplate"]})
        asked = session.complete(ref, {"name": "resourceId", "value": "1"})
        await done.ask(f"completion/complete {template['uriTemplate']}", asked)
    await done.ask("logging/setLevel", session.set_logging_level("warning"))


# --- the comparison -------------------------------------------------------------------------------------------------


def proxied(command: Sequence[str], *options: str) -> list[str]:
    return [sys.executable, "-m", "tscg", "proxy", *options, "--", *command]


async def compare(folder: Path, log: Any, config: Path) -> list[str]:
    """Print a line for each server and way, and return what differs."""
    differences: list[str] = []
    found = [(served, command) for served in SERVERS if (command := served.command(folder)) is not None]
    config.write_text(json.dumps({"mcpServers": {
        served.name.removeprefix("mcp-server-"): {"command": command[0], "args": command[1:]}
        for served, command in found
    }}))  # fmt: skip
    for served in SERVERS:
        command = served.command(folder)
        if command is None:
            print(f"{served.name}: left out, neither {served.name} nor {served.runner[0]} is there")
            continue
        direct = await run_pass(served, command, folder, log)
        called = {tool for tool, _ in served.calls(folder)}
        differences += [f"{served.name}: {tool} is called by nothing here" for tool in direct.tools - called]
        ways = {
            "native": proxied(command),
            "native, brief": proxied(command, "--profile", "brief"),
            "dispatch": proxied(command, "--mode", "dispatch"),
            "over HTTP": proxied(command, "--http", "127.0.0.1:0"),
            "all in one": [sys.executable, "-m", "tscg", "proxy", "--config", str(config)],
        }
        for way, through in ways.items():
            done = await run_pass(served, through, folder, log, dispatch=way == "dispatch")
            alone = way != "all in one"  # together they list, and have, more
            asked = [what for what in direct.answers if alone or not what.endswith("/list")]
            asked = [what for what in asked if alone or direct.answers[what] != "error -32601: Method not found"]
            wrong = [what for what in asked if done.answers.get(what) != direct.answers[what]]
            differences += [
                f"{served.name}, {way}: {what}\n"
                f"  direct  {direct.answers[what]!r:.700}\n  through {done.answers.get(what)!r:.700}"
                for what in wrong
            ]
            calls = sum(what[0].isdigit() and not what.endswith("progress") for what in asked)
            print(
                f"{served.name}, {way}: {len(direct.tools)} tools, {calls} calls, {len(asked)} answers compared, "
                f"{len(asked) - len(wrong)} equal; {direct.seconds:.2f} s directly, {done.seconds:.2f} s through"
            )
    return differences


def main() -> int:
    """Run it; 1 where something differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--log", default=os.devnull, help="file for what the servers and the proxy log")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, open(given.log, "w") as log:
        at = Path(temporary)
        differences = asyncio.run(compare(at / "data", log, at / "mcp.json"))
    print(*differences, sep="\n")
    print(f"{len(differences)} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
