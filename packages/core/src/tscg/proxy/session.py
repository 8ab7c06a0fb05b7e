"""One client of the proxy, with servers of its own: what it asks is answered, judged or passed on, and all else passes.

Servers belong to one client, so that its capabilities, log level, subscriptions and progress tokens are theirs as if
nobody stood between.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import anyio
from anyio.abc import TaskGroup

import tscg
from tscg.calls import Call, CallError, Lookup
from tscg.errors import TscgError
from tscg.proxy import sdk
from tscg.proxy.lists import LISTS, Lists, all_pages
from tscg.proxy.sdk import Message
from tscg.proxy.servers import Server
from tscg.proxy.tools import Toolset, catalog_of, toolset
from tscg.proxy.upstream import Gone, Link, Refused, Upstream
from tscg.proxy.welcome import names_for, welcome

__all__ = ["Session"]

INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR = -32600, -32601, -32602, -32603
CANCELLED = 0  # as the SDK answers a cancelled request


@dataclass(slots=True, eq=False)
class Running:
    """A request of the client under way."""

    id: object
    method: str
    token: object = None
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)
    upstream: Upstream | None = None


@dataclass(slots=True, eq=False)
class Asked:
    """A request of a server that the client has been given: who asked, under which id and progress token."""

    link: Link
    id: object
    token: object = None


class Session:
    """Serves one client until it goes.

    ``options`` are those of :func:`tscg.compile`. ``note`` takes the lines of the log, with a label: they name tools
    and servers, and never hold an argument.
    """

    def __init__(self, servers: Sequence[Server], options: Mapping[str, Any], note: Callable[[str, str], None]) -> None:
        self._servers, self._options, self._note = servers, options, note
        self._all: list[Upstream] = []
        self._upstreams: list[Upstream] = []  # those that could be started
        self._catalogs: dict[Upstream, tscg.Catalog] = {}
        self._tools: Toolset | None = None
        self._lists = Lists(())
        self._running: dict[object, Running] = {}
        self._asked: dict[object, Asked] = {}
        self._ids = count(1)
        self._held: list[tuple[Message, Link | None]] | None = []
        self._kept: dict[tuple[str, object], tuple[Upstream, Message]] = {}
        self._compiling = anyio.Lock()
        self._counted: Counter[str] = Counter()
        self._writing: Any = None
        self._lives: TaskGroup
        self._work: TaskGroup
        self._methods: Mapping[str, Callable[[Running, Message], Awaitable[Message]]] = {
            "initialize": self._initialize, "tools/list": self._list_tools, "tools/call": self._call_tool,
            "prompts/get": self._get_prompt, "completion/complete": self._complete,
            "resources/read": self._by_uri, "resources/subscribe": self._by_uri, "resources/unsubscribe": self._by_uri,
            "logging/setLevel": self._set_level,
        }  # fmt: skip

    async def run(self, reading: Any, writing: Any) -> None:
        """Answer until the client's stream ends, or ``stop`` is called; then servers and streams are closed."""
        self._writing = writing
        async with reading, writing, anyio.create_task_group() as self._lives:
            async with anyio.create_task_group() as self._work:
                await self._listen(reading)
                self.stop()
            for upstream in self._all:
                upstream.stop()
        if self._counted:
            said = ", ".join(f"{number} {what}" for what, number in self._counted.items())
            self._note(f"in all: {said}", "tscg")

    async def _listen(self, reading: Any) -> None:
        try:
            async for item in reading:
                if isinstance(item, Exception):
                    self._note("the client sent what is no message", "warning")
                else:
                    await self._take(sdk.unpacked(item))
        except anyio.ClosedResourceError:
            return  # so a session over HTTP ends

    def stop(self) -> None:
        """End the session."""
        self._work.cancel_scope.cancel()

    # --- from the client ----------------------------------------------------------------------------------------------

    async def _take(self, value: Message) -> None:
        if "method" not in value:
            await self._answered(value)
        elif "id" not in value:
            await self._notified(value)
        else:
            # Known before it begins, so that a cancellation right behind it finds it.
            meta = _of(value.get("params"), "_meta")
            running = Running(id=value["id"], method=value["method"], token=_of(meta, "progressToken"))
            self._running[running.id] = running
            self._work.start_soon(self._serve, running, value.get("params"))

    async def _serve(self, running: Running, params: Message | None) -> None:
        answer: Message = {"error": {"code": CANCELLED, "message": "Request cancelled"}}
        with running.scope:
            try:
                answer = {"result": await self._answer(running, params)}
            except Refused as refused:
                answer = {"error": refused.error}
            except (Gone, TscgError) as error:
                answer = {"error": {"code": INTERNAL_ERROR, "message": str(error)}}
            except Exception as error:  # one request must not end the session
                logging.getLogger("tscg").debug("a request failed", exc_info=True)
                self._note(f"unexpected {type(error).__name__} at {running.method}", "error")
                answer = {"error": {"code": INTERNAL_ERROR, "message": f"the proxy failed at {running.method}"}}
        if self._running.get(running.id) is running:
            del self._running[running.id]
        await self._tell({"jsonrpc": "2.0", "id": running.id, **answer})

    async def _answer(self, running: Running, params: Message | None) -> Message:
        method = running.method
        if method == "ping":
            return {}
        if method != "initialize":
            if self._tools is None:
                raise Refused({"code": INVALID_REQUEST, "message": f"{method} before initialize"})
            await self._open()
        answer = self._methods.get(method)
        if answer is not None:
            return await answer(running, params or {})
        if method in LISTS:
            return await self._lists.listed(method)
        if len(self._upstreams) == 1:
            return await _forward(running, self._upstreams[0], params)
        raise _unknown()

    async def _notified(self, value: Message) -> None:
        method, params = value["method"], value.get("params") or {}
        if method == "notifications/initialized":
            await self._open()
        elif method == "notifications/cancelled":
            running = self._running.get(params.get("requestId"))
            if running is not None:
                running.scope.cancel()
        elif method == "notifications/progress":
            for asked in list(self._asked.values()):
                if asked.token == params.get("progressToken"):
                    await asked.link.upstream.notify(value)
        else:
            for upstream in self._upstreams:
                await upstream.notify(value)

    async def _answered(self, value: Message) -> None:
        """The client has answered what a server asked it."""
        asked = self._asked.pop(value.get("id"), None)
        if asked is not None:
            try:
                await asked.link.send({**value, "id": asked.id})
            except Gone:
                return  # whoever asked is not there any more

    async def _tell(self, value: Message, link: Link | None = None) -> None:
        """Send the client a message; until it is ready, only answers."""
        if self._held is not None and "method" in value:
            self._held.append((value, link))
            return
        related = None if link is None else self._related(link.upstream, value)
        try:
            await self._writing.send(sdk.packed(value, related))
        except (anyio.ClosedResourceError, anyio.BrokenResourceError):
            self.stop()  # the client has gone

    async def _open(self) -> None:
        """The client is ready: what servers have said so far goes out."""
        held, self._held = self._held, None
        for value, link in held or ():
            await self._tell(value, link)

    def _related(self, upstream: Upstream, value: Message) -> object:
        """The request of the client in whose stream a message of a server goes over HTTP: None for the general one."""
        token = _of(value.get("params"), "progressToken")
        of_server = [running for running in self._running.values() if running.upstream is upstream]
        told = [running for running in of_server if token is not None and running.token == token]
        return next((running.id for running in (*told, *of_server)), None)

    # --- from the servers: tscg.proxy.upstream.Keeper -----------------------------------------------------------------

    async def heard(self, link: Link, value: Message) -> None:
        """See :class:`tscg.proxy.upstream.Keeper`."""
        method, params = value["method"], value.get("params")
        if "id" not in value:
            if method == "notifications/tools/list_changed":
                self._work.start_soon(self._relist, link.upstream)
            elif method == "notifications/cancelled":
                await self._withdraw(link, _of(params, "requestId"))
            else:
                await self._tell(value, link)
        elif method == "ping":
            await link.send({"id": value["id"], "result": {}})
        else:
            id = next(self._ids)
            self._asked[id] = Asked(link=link, id=value["id"], token=_of(_of(params, "_meta"), "progressToken"))
            await self._tell({**value, "id": id}, link)

    async def _withdraw(self, link: Link, id: object = None) -> None:
        """Tell the client that a server has no use for an answer any more: to one of its requests, or (None) to all."""
        for ours, asked in list(self._asked.items()):
            if asked.link is link and id in (None, asked.id):
                del self._asked[ours]
                params = {"requestId": ours}
                await self._tell({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params}, link)

    async def lost(self, link: Link) -> None:
        """See :class:`tscg.proxy.upstream.Keeper`."""
        self._counted["stops of servers"] += 1
        self.note(f"stopped: {link.reason}; the next request starts it again", link.upstream.name)
        await self._withdraw(link)

    def renewed(self, upstream: Upstream) -> None:
        """See :class:`tscg.proxy.upstream.Keeper`."""
        self._work.start_soon(self._renew, upstream)

    def note(self, text: str, label: str = "") -> None:
        """See :class:`tscg.proxy.upstream.Keeper`."""
        self._note(text, label)

    async def _renew(self, upstream: Upstream) -> None:
        """Say again what a server that was started again has forgotten, and look whether its tools are the same."""
        for (method, _), (owner, params) in list(self._kept.items()):
            if owner is upstream:
                try:
                    await upstream.request(method, params)
                except (Gone, Refused):
                    upstream.note(f"{method} could not be said again")
        await self._relist(upstream)

    # --- initialize ---------------------------------------------------------------------------------------------------

    async def _initialize(self, running: Running, params: Message) -> Message:
        if self._all:
            raise Refused({"code": INVALID_REQUEST, "message": "initialize came a second time"})
        hello = {**params, "protocolVersion": sdk.version_for(params.get("protocolVersion"))}
        troubles: list[str] = []

        async def start(upstream: Upstream) -> None:
            try:
                await upstream.started()
            except (Gone, Refused) as error:
                troubles.append(str(error))
                self._note(str(error), "error")

        self._all = [Upstream(server, hello, self, self._lives) for server in self._servers]
        async with anyio.create_task_group() as group:
            for upstream in self._all:
                group.start_soon(start, upstream)
        self._upstreams = [upstream for upstream in self._all if upstream.info]
        if not self._upstreams:
            self._all = []  # the client may try again
            raise Gone("; ".join(troubles))
        said = [upstream.server.name or _of(upstream.info.get("serverInfo"), "name") for upstream in self._upstreams]
        for upstream, name in zip(self._upstreams, names_for(said), strict=True):
            upstream.name = name
        self._lists = Lists(self._upstreams)
        async with self._compiling:
            for upstream in self._upstreams:
                self._catalogs[upstream] = await self._catalog(upstream)
            compiled = (await self._compile()).compiled
        # A map stands in the description of its tool; else it is descriptions over the limit of the model's provider.
        prompt = compiled.prompt if compiled.mode != "dispatch" else ""
        return welcome([(upstream.name, upstream.info) for upstream in self._upstreams], prompt, troubles)

    # --- tools --------------------------------------------------------------------------------------------------------

    async def _list_tools(self, running: Running, params: Message) -> Message:
        if params.get("cursor") is not None:
            raise Refused({"code": INVALID_PARAMS, "message": "there is one page of tools, and it has no cursor"})
        assert self._tools is not None
        return {"tools": list(self._tools.listed)}

    async def _call_tool(self, running: Running, params: Message) -> Message:
        assert self._tools is not None
        found = self._tools.judge(str(params.get("name")), params.get("arguments"))
        if isinstance(found, Lookup):
            self._counted["lookups"] += 1
            return _text(found.reply)
        if isinstance(found, CallError):
            self._counted["calls refused"] += 1
            known = found.tool in self._tools.compiled.catalog.by_name  # else it may be anything, an argument too
            self._note(f"refused {found.tool if known else 'a call'}: {found.kind}", "tscg")
            return _text(found.message, failed=True)
        assert isinstance(found, Call)  # programs are of code mode alone
        label, name = self._tools.home(found)
        upstream = next(one for one in self._upstreams if not label or one.name == label)
        self._counted["calls"] += 1
        if found.repairs:  # the kind alone: what follows it may quote an argument
            upstream.note(f"{name}: repaired {', '.join(repair.partition(':')[0] for repair in found.repairs)}")
        try:
            asked = {**params, "name": name, "arguments": found.arguments}
            return await _forward(running, upstream, asked)
        except Gone as gone:
            return _text(str(gone), failed=True)

    async def _catalog(self, upstream: Upstream) -> tscg.Catalog:
        tools = await all_pages(upstream, "tools/list", "tools") if upstream.offers("tools") else []
        return catalog_of(tools, upstream.name if len(self._servers) > 1 else "")

    async def _compile(self) -> Toolset:
        catalogs = list(self._catalogs.values())
        made = await anyio.to_thread.run_sync(lambda: toolset(catalogs, self._options, self._tools))
        self._tools = made
        for warning in made.compiled.warnings:
            self._note(warning, "warning")
        self._lives.start_soon(self._tell_savings, made)
        return made

    async def _tell_savings(self, made: Toolset) -> None:
        names = ", ".join(upstream.name for upstream in self._upstreams)
        saved = await anyio.to_thread.run_sync(lambda: made.saved)
        self._note(f"{len(made.compiled.catalog)} tools of {names}: {saved}", "tscg")

    async def _relist(self, upstream: Upstream) -> None:
        """The tools of a server may be others: compile them behind what the client knows, and say so if it matters."""
        async with self._compiling:
            if upstream not in self._catalogs:
                return  # its tools have not been read yet
            try:
                new, old, was = await self._catalog(upstream), self._catalogs[upstream], self._tools
                if [tool.raw for tool in new] == [tool.raw for tool in old]:
                    return
                self._catalogs[upstream] = new
                now = await self._compile()
            except (Gone, Refused, TscgError) as error:
                upstream.note(f"its tools have changed and cannot be taken over: {error}")
                return
        if was is None or was.listed != now.listed:
            await self._tell({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})

    # --- prompts, resources, and the rest -----------------------------------------------------------------------------

    async def _get_prompt(self, running: Running, params: Message) -> Message:
        upstream, name = await self._lists.of_prompt(str(params.get("name")))
        return await _forward(running, upstream, {**params, "name": name})

    async def _by_uri(self, running: Running, params: Message) -> Message:
        """Read, subscribe or unsubscribe: at the server that has the resource."""
        uri = str(params.get("uri"))
        answer = await _first(running, await self._lists.of_resource(uri), params)
        if running.method == "resources/subscribe" and running.upstream is not None:
            self._kept[running.method, uri] = (running.upstream, params)
        elif running.method == "resources/unsubscribe":
            self._kept.pop(("resources/subscribe", uri), None)
        return answer

    async def _complete(self, running: Running, params: Message) -> Message:
        ref = params.get("ref")
        if _of(ref, "type") != "ref/prompt":
            return await _first(running, await self._lists.of_template(str(_of(ref, "uri"))), params)
        upstream, name = await self._lists.of_prompt(str(_of(ref, "name")))
        return await _forward(running, upstream, {**params, "ref": {**params["ref"], "name": name}})

    async def _set_level(self, running: Running, params: Message) -> Message:
        answer = None
        for upstream in self._lists.having("logging"):
            answer = await _forward(running, upstream, params)
            self._kept[running.method, upstream] = (upstream, params)
        if answer is None:
            raise _unknown()
        return answer


async def _forward(running: Running, upstream: Upstream, params: Message | None) -> Message:
    running.upstream = upstream
    return await upstream.request(running.method, params)


async def _first(running: Running, upstreams: Sequence[Upstream], params: Message) -> Message:
    """The answer of the first server that has one; that of the last where none has."""
    trouble: Refused | Gone = _unknown()
    for upstream in upstreams:
        try:
            return await _forward(running, upstream, params)
        except (Refused, Gone) as error:
            trouble = error
    raise trouble


def _unknown() -> Refused:
    return Refused({"code": METHOD_NOT_FOUND, "message": "Method not found"})


def _of(value: object, key: str) -> Any:
    """A member of what should be an object."""
    return value.get(key) if isinstance(value, dict) else None


def _text(text: str, failed: bool = False) -> Message:
    return {"content": [{"type": "text", "text": text}], "isError": failed}
