"""The demo itself: read the tools of a server, compile them, let a model work, execute its calls, show what changed."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from contextlib import AsyncExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tscg
from tscg.demo.client import Session, connect, server_command
from tscg.demo.database import Database, changes, snapshot
from tscg.demo.models import ChatModel, Message, ReplayModel, SchemaModel
from tscg.demo.requests import REQUESTS, SITUATION, Request
from tscg.demo.screen import Screen
from tscg.errors import TscgError
from tscg.modes.options import MAPS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from tscg import Call, CallError, CompiledCatalog, Lookup, Program

    Item = Call | Lookup | CallError | Program

# How often a model may answer within one request; a model that is not done then has lost its way.
MOST_ANSWERS: Final = 10
PROFILES: Final = ("lossless", "balanced", "brief", "signature")
MAP: Final = "hybrid"
# A tool with bounds, an enum, a default and a policy sentence, small enough to be read.
SHOWN_TOOL: Final = "cancel_order"


def run_demo(
    console: Console,
    *,
    model: ChatModel | None = None,
    mode: str = "text",
    profile: str = "balanced",
    db: str | Path | None = None,
    keep: bool = False,
) -> int:
    """Run the demo and print it on `console`; 0, or 1 after one line on standard error.

    `model` continues the conversations, by default one that replays recorded answers. The database is `db`, made if
    absent, or a file in a temporary folder, which is left where it is if `keep` is true. A ConfigError says that an
    option is wrong, or that no answers are recorded for the mode.

    Example: `run_demo(rich.console.Console(), mode="native")`.
    """
    chosen = ReplayModel(mode) if model is None else model
    tscg.compile([], mode=mode, profile=profile, model=chosen.catalog_model)  # a wrong option is told before all else
    if find_spec("mcp") is None:
        return fail("the demo needs the MCP SDK; install tscg[mcp]")
    folder = Path(tempfile.mkdtemp(prefix="tscg-demo-"))
    path = Path(db) if db is not None else folder / "demo.db"
    used = path.exists()
    failures: list[str] = []
    try:
        try:
            Database(path).close()
        except (sqlite3.Error, ValueError) as error:
            return fail(f"cannot use {path} as the demo's database: {error}")
        demo = Demo(console, chosen, mode=mode, profile=profile)
        asyncio.run(demo.run(path, folder / "server.log", used=used))
    except* TscgError as group:  # Alone, or inside the group that the client's tasks raise.
        failures.extend(str(error) for error in leaves(group))
    finally:
        if keep and db is None:
            console.print(f"The database was kept: {path}", markup=False, highlight=False, soft_wrap=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return fail(failures[0]) if failures else 0


class Demo:
    """One run: the model, the compiled catalog, and the screen on which it is told."""

    def __init__(self, console: Console, model: ChatModel, *, mode: str, profile: str) -> None:
        self._console = console
        self._screen = Screen(console)
        self._model = model
        self._mode = mode
        self._profile = profile
        self._held = mode == "text" and isinstance(model, SchemaModel)

    async def run(self, database: Path, log: Path, *, used: bool) -> None:
        """Everything, from the start of the server to the state of the database after."""
        async with AsyncExitStack() as stack:
            errors = stack.enter_context(log.open("w", encoding="utf-8"))
            with self._console.status("Starting the demo's MCP server"):
                session = await stack.enter_async_context(connect(server_command(database), log=errors))
                tools = await session.tools()
            self._screen.heading(f"The catalog: {len(tools)} tools of a real MCP server over stdio")
            compiled = self._show_catalog(tools)
            if self._held and isinstance(self._model, SchemaModel):
                self._model = self._model.held_to(compiled.output_schema())
            self._screen.heading(f"The model: {self._model.label}")
            if used and isinstance(self._model, ReplayModel):
                self._screen.line("The recorded answers were made for a new database; this one has been used before.")
            before = snapshot(database)
            for request in REQUESTS:
                await self._converse(session, compiled, request)
            self._screen.heading("The database after")
            self._screen.changes(changes(before, snapshot(database)))

    def _show_catalog(self, tools: Sequence[dict[str, Any]]) -> CompiledCatalog:
        with self._console.status("Compiling the catalog in each profile"):
            catalog = tscg.Catalog.from_tools(list(tools))
            made = self._compiled(catalog)
            used_one = MAP if self._mode == "dispatch" else self._profile
            chosen = made[used_one]
            stats = chosen.stats
            rows = [("JSON, pretty", stats.pretty_tokens), ("JSON, minified", stats.baseline_tokens)]
            for name, compiled in made.items():
                used = " (used below)" if name == used_one else ""
                rows.append((f"{self._mode}, {name}{used}", compiled.stats.tokens))
        self._screen.tokens(rows, stats)
        self._screen.savers(stats.per_tool, f"{'map' if self._mode == 'dispatch' else 'profile'} {used_one}")
        shown = next((tool for tool in tools if tool["name"] == SHOWN_TOOL), tools[0])
        self._screen.before_and_after(shown["name"], shown, _entry(chosen, shown["name"]))
        if chosen.mode == "text":
            self._screen.line(
                "Bare parameters, @types and ^notes are said once, above all tools, for every tool that uses them."
            )
        return chosen

    def _compiled(self, catalog: tscg.Catalog) -> dict[str, CompiledCatalog]:
        """The catalog in several profiles, or with each map where no profile changes anything."""
        model = self._model.catalog_model
        if self._mode == "dispatch":
            return {
                name: tscg.compile(catalog, mode=tscg.Dispatch(map=name), profile=self._profile, model=model)
                for name in MAPS
            }
        profiles = dict.fromkeys([*PROFILES, self._profile])
        # One call at a time: a small model that is held to a list of calls does not end it.
        mode, parallel = (tscg.Text(constrained=True), False) if self._held else (self._mode, True)
        return {
            name: tscg.compile(catalog, mode=mode, profile=name, model=model, parallel=parallel) for name in profiles
        }

    async def _converse(self, session: Session, compiled: CompiledCatalog, request: Request) -> None:
        self._console.print()
        self._screen.line(request.prompt, label="user", style="bold")
        system = f"{SITUATION}\n\n{compiled.prompt}".strip()
        messages: list[Message] = [
            {"role": "system", "content": system},
            {"role": "user", "content": request.prompt},
        ]
        replies = iter(request.replies)
        tools = compiled.to_openai()
        for _ in range(MOST_ANSWERS):
            with self._console.status("Waiting for the model"):
                answer = await asyncio.to_thread(self._model.answer, messages, tools, compiled.stop)
            decoded = compiled.decode(answer.output, finish_reason=answer.finish_reason)
            if decoded.text.strip():
                self._screen.line(decoded.text.strip(), label="model", style="bold")
            messages.append(_said(answer.output))
            if decoded.items:
                results = [(item, await self._do(session, compiled, item)) for item in decoded.items]
                messages.extend(_results(answer.output, results))
                continue
            reply = next(replies, None)
            if reply is None:
                return
            self._screen.line(reply, label="user", style="bold")
            messages.append({"role": "user", "content": reply})
        self._screen.line(f"Stopped: the model was not done after {MOST_ANSWERS} answers.", label="demo", style="red")

    async def _do(self, session: Session, compiled: CompiledCatalog, item: Item) -> str:
        """Execute one decoded item, and give the text that answers it."""
        if isinstance(item, tscg.CallError):
            self._screen.refusal(item.message)
            return compiled.encode_result(item, item.message)
        if isinstance(item, tscg.Lookup):
            self._screen.lookup(item.tools, item.query)
            return compiled.encode_result(item, item.reply)
        if isinstance(item, tscg.Program):
            refusal = "This host runs no programs, so nothing was run. Call one tool at a time."
            self._screen.refusal(refusal)
            return compiled.encode_result(item, refusal)
        self._screen.call(item.name, item.arguments, item.repairs)
        answer = await session.call(item.name, item.arguments)
        self._screen.answer(answer)
        return compiled.encode_result(item, f"Error: {answer.text}" if answer.failed else answer.text)


def _entry(compiled: CompiledCatalog, name: str) -> str:
    """What reaches the model for one tool: its lines in the catalog's text, or its entry in the tools field."""
    names = {tool.name for tool in compiled.catalog}
    head, entry = "", []
    for line in compiled.text.splitlines():
        first = re.split(r"[( ]", line, maxsplit=1)[0]
        head = first if first in names else head
        if head == name:
            entry.append(line)
    if entry:
        return "\n".join(entry)
    sent = next((tool for tool in compiled.to_openai() if tool["function"]["name"] == name), None)
    return json.dumps(sent, ensure_ascii=False, separators=(",", ":"))


def _said(output: str | Message) -> Message:
    return {"role": "assistant", "content": output} if isinstance(output, str) else output


def _results(output: str | Message, results: Sequence[tuple[Item, str]]) -> list[Message]:
    """The messages that answer calls: one each where the calls were native, one for all where they were text."""
    if isinstance(output, str) or not output.get("tool_calls"):
        return [{"role": "user", "content": "\n".join(text for _, text in results)}]
    return [{"role": "tool", "tool_call_id": item.id, "content": text} for item, text in results]


def leaves(group: BaseExceptionGroup[Any]) -> Iterator[BaseException]:
    """The errors of a group, those of groups in it too."""
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from leaves(error)
        else:
            yield error


def fail(message: str) -> int:
    """Say an error; the exit status of a failure."""
    print(f"error: {message}", file=sys.stderr)
    return 1
