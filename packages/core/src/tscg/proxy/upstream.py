"""One server behind the proxy: started when it is needed, and again after a crash."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from typing import IO, Any, Protocol

import anyio
from anyio.abc import TaskGroup, TaskStatus

from tscg.errors import leaves
from tscg.proxy import sdk
from tscg.proxy.sdk import Message
from tscg.proxy.servers import Server

__all__ = ["Gone", "Keeper", "Link", "Refused", "Upstream"]

START_SECONDS = 120  # a server that is installed at its first start (npx, uvx) takes a while until it answers
GRACE_SECONDS = 0.5  # an answer may still be on its way through the SDK when its stream has ended
ENDS, EXPIRED = "the proxy ends", "its session expired"  # reasons that are no trouble
QUERY = re.compile(r"(?<=\w)\?[^\s'\"]*")  # of a URL: it may hold a key
WORDS = 300  # characters of a reason, or of a server's last words


class Refused(Exception):
    """A server answered with an error: the ``error`` of JSON-RPC as it sent it."""

    def __init__(self, error: Message) -> None:
        self.error = error
        super().__init__(error.get("message", ""))


class Expired(Refused):
    """A server at a URL has forgotten the session, as after a restart of its own: it has not seen the request."""


class Gone(Exception):
    """A server is not there (any more): the text says what happened, for whoever asked it something."""


class Keeper(Protocol):
    """Who has servers: is told what they send by themselves, and what becomes of them."""

    async def heard(self, link: Link, value: Message) -> None:
        """A request or notification of the server."""

    async def lost(self, link: Link) -> None:
        """The connection has ended, and nobody had asked for that."""

    def renewed(self, upstream: Upstream) -> None:
        """The server has been started again. Called while others wait for it: nothing may be asked of it in here."""

    def note(self, text: str, label: str = "") -> None:
        """A line for the log."""


@dataclass(slots=True)
class Waiting:
    """A request under way: the answer, or None where the connection ended first."""

    done: anyio.Event = field(default_factory=anyio.Event)
    answer: Message | None = None


class Link:
    """One connection to a server, from its start to its end."""

    def __init__(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self.ended = anyio.Event()
        self.reason = "it ended"
        self.http_error = ""
        self._expired: set[object] = set()
        self.writing: Any = None
        self._ids = count(1)
        self._waiting: dict[object, Waiting] = {}

    async def request(self, method: str, params: Message | None) -> Message:
        """Ask, and wait for the result. Raises Refused for an error, Gone where the connection ends before."""
        id, waiting = next(self._ids), Waiting()
        self._waiting[id] = waiting
        try:
            await self.send({"id": id, "method": method, **({} if params is None else {"params": params})})
            await waiting.done.wait()
        except anyio.get_cancelled_exc_class():
            with anyio.move_on_after(1, shield=True):
                await self._cancel(id)
            raise
        finally:
            self._waiting.pop(id, None)
        if waiting.answer is None:
            raise Gone(self._last_sentence())
        if "error" in waiting.answer:
            raise (Expired if id in self._expired else Refused)(waiting.answer["error"])
        result: Message = waiting.answer.get("result", {})
        return result

    async def _cancel(self, id: int) -> None:
        if not self.ended.is_set():
            try:
                await self.send({"method": "notifications/cancelled", "params": {"requestId": id}})
            except Gone:
                return  # then there is nothing to cancel

    async def send(self, value: Message) -> None:
        """Send a message; Gone where the connection has ended."""
        await self.deliver(sdk.packed({"jsonrpc": "2.0", **value}))

    async def deliver(self, item: Any) -> None:
        """Send a message that is packed already."""
        try:
            await self.writing.send(item)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            self.end("it takes no more messages")
            raise Gone(self._last_sentence()) from None

    def _last_sentence(self) -> str:
        return (
            f"The MCP server {self.upstream.name} stopped before it answered ({self.reason}). Whether it did what was "
            "asked is not known. The next request starts it again."
        )

    async def listen(self, reading: Any) -> None:
        """Take what the server sends until it ends."""
        async for item in reading:
            if isinstance(item, Exception):
                self.upstream.note("it sent what is no message")
                continue
            value = sdk.unpacked(item)
            if "method" in value:
                await self.upstream.keeper.heard(self, value)
            elif (waiting := self._waiting.get(value.get("id"))) is not None:
                waiting.answer = value
                waiting.done.set()
        self.end("its process ended" if self.upstream.server.command else "the connection ended")

    def end(self, reason: str) -> None:
        """Take the connection for ended: whoever waits is told, and the transport is closed."""
        if not self.ended.is_set():
            self.reason = reason
            self.ended.set()
            for waiting in self._waiting.values():
                waiting.done.set()

    # --- what an HTTP transport sees

    def failed(self, id: object, status: int, reason: str, in_session: bool) -> None:
        """See :class:`tscg.proxy.sdk.Watch`."""
        self.http_error = f"HTTP {status} {reason}".strip()
        if status == 404 and in_session:
            self._expired.add(id)

    def unanswered(self, id: object) -> None:
        """See :class:`tscg.proxy.sdk.Watch`."""
        if id in self._waiting and not self.ended.is_set():
            self.upstream.group.start_soon(self._give_up, id)

    async def _give_up(self, id: object) -> None:
        await anyio.sleep(GRACE_SECONDS)
        waiting = self._waiting.get(id)
        if waiting is not None and waiting.answer is None:
            self.reason = "its answer broke off"
            waiting.done.set()


class Upstream:
    """One server, whether it runs or not. ``hello`` are the parameters of the client's ``initialize``."""

    def __init__(self, server: Server, hello: Message, keeper: Keeper, group: TaskGroup) -> None:
        self.server, self.keeper, self.group = server, keeper, group
        self.name = server.label
        self.info: Message = {}
        self._hello = hello
        self._link: Link | None = None
        self._starting = anyio.Lock()
        self._starts = 0

    def note(self, text: str) -> None:
        """A line for the log, with the server's name."""
        self.keeper.note(text, self.name)

    def offers(self, capability: str) -> bool:
        """Whether the server has a capability (``tools``, ``prompts`` ...)."""
        return capability in self.info.get("capabilities", {})

    async def request(self, method: str, params: Message | None = None) -> Message:
        """Ask the server, started if it does not run. Raises Refused for an error, Gone where it is not there."""
        link = await self.started()
        try:
            return await link.request(method, params)
        except Expired:
            link.end(EXPIRED)
        return await (await self.started()).request(method, params)

    async def notify(self, value: Message) -> None:
        """Pass a notification on; a server that does not run needs none."""
        if self._link is not None and not self._link.ended.is_set():
            try:
                await self._link.send(value)
            except Gone:
                return  # that it has ended is told elsewhere

    async def started(self) -> Link:
        """A connection to the server; Gone where it cannot be started."""
        async with self._starting:
            link = self._link
            if link is None or link.ended.is_set():
                link = self._link = await self.group.start(self._live)
                self._starts += 1
                if self._starts > 1:
                    self.note("started again")
                    self.keeper.renewed(self)
            return link

    def stop(self) -> None:
        """Close the connection; the process ends with it."""
        if self._link is not None:
            self._link.end(ENDS)

    async def _live(self, *, task_status: TaskStatus[Link]) -> None:
        """One life of the connection. An error before it stands is raised as Gone, one after is told to the keeper."""
        link, tail = Link(self), Tail(lambda: self.name)
        stands = False
        try:
            with tail as log:
                async with sdk.connect(self.server, log, link) as (reading, link.writing):
                    tail.close_ours()
                    async with anyio.create_task_group() as group:
                        group.start_soon(link.listen, reading)
                        await self._shake_hands(link)
                        stands = True
                        task_status.started(link)
                        await link.ended.wait()
                        group.cancel_scope.cancel()
        except Exception as error:  # the SDK raises anything, alone or in groups; all of it ends the link
            link.end(_said(error))
            if not stands:
                raise Gone(await self._no_start(link, tail)) from error
        finally:
            link.end("it was closed")
        if link.reason not in (ENDS, EXPIRED):
            await self.keeper.lost(link)

    async def _shake_hands(self, link: Link) -> None:
        with anyio.fail_after(START_SECONDS):
            info = await link.request("initialize", self._hello)
            version = str(info.get("protocolVersion"))
            ready = {"jsonrpc": "2.0", "method": "notifications/initialized"}
            await link.deliver(sdk.versioned(ready, version))
        self.info = info

    async def _no_start(self, link: Link, tail: Tail) -> str:
        last = await anyio.to_thread.run_sync(tail.last_words)
        parts = [f"the MCP server {self.name} cannot be started: {link.reason}", link.http_error]
        return "; ".join([*filter(None, parts), *([f"its last words: {last[:WORDS]}"] if last else [])])


class Tail:
    """What a server writes to standard error: each line goes to ours with the server's name, the last is kept."""

    def __init__(self, label: Callable[[], str]) -> None:
        self._label, self._last = label, ""
        self._reader: threading.Thread | None = None
        self._ours: IO[str] | None = None

    def __enter__(self) -> IO[str]:
        reading, writing = os.pipe()
        self._ours = os.fdopen(writing, "w")
        # A thread, since no event loop reads such pipes on every platform; it ends when the last process has closed it.
        self._reader = threading.Thread(target=self._read, args=(reading,), daemon=True)
        self._reader.start()
        return self._ours

    def __exit__(self, *_: object) -> None:
        self.close_ours()

    def close_ours(self) -> None:
        """Close our end of the pipe, when the server's process has its own."""
        if self._ours is not None:
            self._ours.close()

    def last_words(self) -> str:
        """The last line, when all has been read; a process that lives on is not waited for."""
        if self._reader is not None:
            self._reader.join(0.5)
        return self._last

    def _read(self, reading: int) -> None:
        from tscg.console import note

        with os.fdopen(reading, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.strip():
                    self._last = " ".join(line.split())
                    note(line, self._label())


def _said(error: BaseException) -> str:
    """What the SDK or the system said, of which the first cause says most."""
    first = next(leaves(error))
    if isinstance(first, TimeoutError):
        return f"no answer within {START_SECONDS} s"
    return QUERY.sub("", " ".join(str(first).split()))[:WORDS] or type(first).__name__
