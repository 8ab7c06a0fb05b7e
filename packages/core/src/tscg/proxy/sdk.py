"""What the proxy takes from the official SDK, of either major version: its transports and its messages.

Messages are plain JSON objects everywhere else. What differs between the versions stands here alone.
"""

from __future__ import annotations

import inspect  # noqa: TID253  # a proxy loads all of the SDK anyway
import json
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import IO, Any, Protocol, TypeAlias

import anyio

from tscg.proxy.servers import Server

__all__ = ["Message", "Watch", "connect", "http_session", "packed", "stdio", "unpacked", "version_for", "versioned"]

Message: TypeAlias = "dict[str, Any]"

IDLE_SECONDS = 30 * 60  # after so long without a request a client over HTTP is taken for gone
EVENT_ID = re.compile(rb"^id:", re.MULTILINE)


class Watch(Protocol):
    """Who is told what an HTTP transport sees and the SDK does not pass on."""

    def failed(self, id: object, status: int, reason: str, in_session: bool) -> None:
        """The response to a request (None: to another message) has a status of 400 or more; was it in a session?"""

    def unanswered(self, id: object) -> None:
        """The response to a request has ended; its answer may have come or not."""


def _is_second() -> bool:
    """Whether this is version 2 of the SDK."""
    return hasattr(import_module("mcp.types"), "jsonrpc_message_adapter")


def packed(value: Message, related: object = None) -> Any:
    """A message for a transport. ``related`` is the request of the client in whose stream it goes over HTTP."""
    shared, types = import_module("mcp.shared.message"), import_module("mcp.types")
    if _is_second():
        message = types.jsonrpc_message_adapter.validate_python(value)
    else:
        message = types.JSONRPCMessage.model_validate(value)
    metadata = None if related is None else shared.ServerMessageMetadata(related_request_id=related)
    return shared.SessionMessage(message, metadata)


def unpacked(item: Any) -> Message:
    """The JSON object of a message that a transport gave."""
    found: Message = item.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return found


def version_for(asked: object) -> str:
    """The protocol version to go on with: the one asked for, where the SDK's transports speak it, else their newest."""
    if _is_second():
        known = import_module("mcp.types.version").HANDSHAKE_PROTOCOL_VERSIONS
    else:
        known = import_module("mcp.shared.version").SUPPORTED_PROTOCOL_VERSIONS
    return asked if isinstance(asked, str) and asked in known else max(known)


def versioned(value: Message, version: str) -> Any:
    """A message after which an HTTP transport names the version in each request, as version 1 does by itself."""
    item = packed(value)
    kind = import_module("mcp.shared.message").ClientMessageMetadata
    if "headers" in inspect.signature(kind).parameters:
        item.metadata = kind(headers={"mcp-protocol-version": version})
    return item


# --- to the servers -------------------------------------------------------------------------------------------------


@asynccontextmanager
async def connect(server: Server, log: IO[str], watch: Watch) -> AsyncIterator[tuple[Any, Any]]:
    """The streams of a connection to a server; its process, if it is ours, ends with the block."""
    transport = _http(server, watch) if server.url else _process(server, log)
    # Version 1 gives a third value over HTTP, and leaves it to us to close the streams.
    async with transport as streams, streams[0], streams[1]:
        yield streams[0], streams[1]


def _process(server: Server, log: IO[str]) -> AbstractAsyncContextManager[Any]:
    module = import_module("mcp.client.stdio")
    # The SDK starts servers with a bare environment; the command is the user's own, as are its keys.
    parameters = module.StdioServerParameters(
        command=server.command[0], args=list(server.command[1:]), env={**os.environ, **server.env}, cwd=server.cwd
    )
    transport: AbstractAsyncContextManager[Any] = module.stdio_client(parameters, errlog=log)
    return transport


@asynccontextmanager
async def _http(server: Server, watch: Watch) -> AsyncIterator[Any]:
    module = import_module("mcp.client.streamable_http")
    client = module.create_mcp_http_client(headers=dict(server.headers))
    client.event_hooks = {"response": [_watched(watch)]}
    async with AsyncExitStack() as stack:
        if hasattr(module, "streamable_http_client"):
            await stack.enter_async_context(client)
            transport = module.streamable_http_client(server.url, http_client=client)
        else:  # before 1.24 the transport opens and closes the client that a factory gives it
            transport = module.streamablehttp_client(server.url, httpx_client_factory=lambda **_: client)
        yield await stack.enter_async_context(transport)


def _watched(watch: Watch) -> Callable[[Any], Any]:
    """A hook for the client's responses."""
    # Version 2 answers a request itself whose response breaks off; version 1 leaves it waiting for ever.
    resolves = _is_second()

    async def seen(response: Any) -> None:
        asked = json.loads(response.request.content) if response.request.method == "POST" else {}
        id = asked.get("id") if "method" in asked else None
        if response.status_code >= 400:
            in_session = "mcp-session-id" in response.request.headers
            watch.failed(id, response.status_code, response.reason_phrase, in_session)
        if id is not None and not resolves:
            response.stream = _noticed(response.stream, lambda: watch.unanswered(id))

    return seen


def _noticed(stream: Any, ended: Callable[[], None]) -> Any:
    """The stream of a response, with a word at its end, unless it has event ids: by those the SDK resumes it."""

    class Noticed(import_module("httpx").AsyncByteStream):  # type: ignore[misc]  # no type: it is the SDK's
        resumable = False

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for chunk in stream:
                self.resumable = self.resumable or EVENT_ID.search(chunk) is not None
                yield chunk

        async def aclose(self) -> None:
            await stream.aclose()
            if not self.resumable:
                ended()

    return Noticed()


# --- to the client --------------------------------------------------------------------------------------------------


def stdio() -> AbstractAsyncContextManager[Any]:
    """The streams of a client that talks over standard input and output."""
    module = import_module("mcp.server.stdio")
    transport: AbstractAsyncContextManager[Any]
    if _is_second():
        transport = module.stdio_server()
    else:  # version 1 would close our own standard streams when it is done
        reading = os.fdopen(0, encoding="utf-8", errors="replace", closefd=False)
        writing = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        transport = module.stdio_server(anyio.wrap_file(reading), anyio.wrap_file(writing))
    return transport


def http_session(id: str, hosts: list[str]) -> Any:
    """The transport of one client's session over HTTP; ``hosts`` are the names by which we are reached."""
    security = import_module("mcp.server.transport_security")
    kind = import_module("mcp.server.streamable_http").StreamableHTTPServerTransport
    settings = security.TransportSecuritySettings(
        enable_dns_rebinding_protection=bool(hosts),
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")],
    )
    # Old versions of the SDK do not end sessions that clients left behind.
    idle = {"idle_timeout": IDLE_SECONDS} if "idle_timeout" in inspect.signature(kind).parameters else {}
    return kind(mcp_session_id=id, security_settings=settings, **idle)
