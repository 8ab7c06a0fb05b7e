"""The demo itself: read the tools of a server, compile them, let a model work, execute its calls, show what changed."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import tscg
from tscg.demo.client import connect, server_command
from tscg.demo.conversation import Conversation
from tscg.demo.database import Database, changes, snapshot
from tscg.demo.models import (
    Answer,
    ChatModel,
    ContextFullError,
    Message,
    ReplayModel,
    SchemaModel,
    WatchedModel,
)
from tscg.demo.requests import REQUESTS
from tscg.demo.screen import Screen
from tscg.errors import TscgError, leaves
from tscg.modes.options import MAPS

if TYPE_CHECKING:
    from rich.console import Console
    from rich.status import Status

    from tscg import CompiledCatalog

__all__ = ["Demo", "fail", "run_demo", "run_on"]

PROFILES: Final = ("lossless", "balanced", "brief", "signature")
MAP: Final = "hybrid"
# A tool with bounds, an enum, a default and a policy sentence, small enough to be read.
SHOWN_TOOL: Final = "cancel_order"
HELD: Final = "It is held to the schema of the catalog: what it writes is a call of one of these tools, or an answer."
SLOW: Final = "The first answer takes longest, for the catalog has to be read; after that only what is new is read."


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
    used = db is not None and Path(db).exists()
    demo = Demo(console, chosen, mode=mode, profile=profile)

    def work(database: Path, folder: Path) -> None:
        asyncio.run(demo.run(database, folder / "server.log", used=used))

    return run_on(console, work, needs={"mcp": "tscg[mcp]"}, db=db, keep=keep)


def run_on(
    console: Console,
    work: Callable[[Path, Path], None],
    *,
    needs: Mapping[str, str],
    db: str | Path | None = None,
    keep: bool = False,
) -> int:
    """Run a demo on a database: `db`, or one in a temporary folder, which `keep` leaves where it is.

    `work` takes the database and the folder, and `needs` says what to install for each package that has to be there.
    0, or 1 after one line on standard error: an error of ours in what `work` raises, alone or in a group of tasks.
    """
    for package, requirement in needs.items():
        if find_spec(package) is None:
            return fail(f"the demo needs the package {package}; install {requirement}")
    folder = Path(tempfile.mkdtemp(prefix="tscg-demo-"))
    path = Path(db) if db is not None else folder / "demo.db"
    try:
        try:
            Database(path).close()
        except (sqlite3.Error, ValueError) as error:
            return fail(f"cannot use {path} as the demo's database: {error}")
        work(path, folder)
    except (TscgError, BaseExceptionGroup) as error:
        ours = next((one for one in leaves(error) if isinstance(one, TscgError)), None)
        if ours is None:
            raise
        return fail(str(ours))
    finally:
        if keep and db is None:
            console.print(f"The database was kept: {path}", markup=False, highlight=False, soft_wrap=True)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


class Demo:
    """One run: the model, the compiled catalog, and the screen on which it is told."""

    def __init__(self, console: Console, model: ChatModel, *, mode: str, profile: str) -> None:
        self._console = console
        self._screen = Screen(console)
        self._model = model
        self._mode = mode
        self._profile = profile
        self._held = mode == "text" and isinstance(model, SchemaModel)
        self._status: Status | None = None
        self._going = True

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
                with self._console.status("Holding the model to the schema"):
                    self._model = await asyncio.to_thread(self._model.held_to, compiled.output_schema())
            self._screen.heading(f"The model: {self._model.label}")
            if self._held:
                self._screen.line(HELD)
            if isinstance(self._model, WatchedModel):
                self._model = self._model.watched(self._progress)
                self._screen.line(SLOW)
            if used and isinstance(self._model, ReplayModel):
                self._screen.line("The recorded answers were made for a new database; this one has been used before.")
            before = snapshot(database)
            ask = partial(self._ask, compiled)
            talk = Conversation(screen=self._screen, compiled=compiled, ask=ask, call=session.call)
            for request in REQUESTS:
                self._console.print()
                await talk.hold(request)
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

    async def _ask(self, compiled: CompiledCatalog, messages: Sequence[Message]) -> Answer:
        with self._console.status("Waiting for the model") as self._status:
            try:
                return await asyncio.to_thread(self._model.answer, messages, compiled.to_openai(), compiled.stop)
            except asyncio.CancelledError:
                # The thread of the model is waited for at the end: it has to come to one.
                self._going = False
                raise
            except ContextFullError as error:
                hint = "--profile brief or signature takes fewer tokens"
                raise ContextFullError(f"{error}; {hint}") from error

    def _progress(self, doing: str) -> bool:
        """Show what the model is at, from its own thread; false where nobody waits for it any more."""
        if self._status is not None:
            self._status.update(doing)
        return self._going


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


def fail(message: str) -> int:
    """Say an error; the exit status of a failure."""
    print(f"error: {message}", file=sys.stderr)
    return 1
