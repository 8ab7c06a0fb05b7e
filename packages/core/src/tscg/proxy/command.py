"""The command ``tscg proxy``."""

from __future__ import annotations

import os
from typing import Annotated, Any

import typer  # noqa: TID253  # loaded by the command alone

from tscg.console import note
from tscg.errors import ConfigError
from tscg.proxy.servers import Server, from_command, from_file, from_line, from_url, pairs, variables
from tscg.sources import Unavailable

__all__ = ["SETTINGS", "proxy"]

# What stands behind the server's command is the server's, also without `--` before it.
SETTINGS: dict[str, Any] = {
    "short_help": "Stand before MCP servers with compressed tools.",
    "context_settings": {"allow_interspersed_args": False},
}

Texts = list[str] | None


def proxy(
    *,
    command: Annotated[
        Texts, typer.Argument(metavar="COMMAND ARGS", help="What starts a server; write -- before it.")
    ] = None,
    mcp: Annotated[
        Texts, typer.Option(metavar="COMMAND", help="The same in one text; may be given several times.")
    ] = None,
    url: Annotated[Texts, typer.Option(metavar="URL", help="A server over streamable HTTP; several times too.")] = None,
    config: Annotated[Texts, typer.Option(metavar="FILE", help="A file with mcpServers; several times too.")] = None,
    env: Annotated[Texts, typer.Option(metavar="NAME=VALUE", help="For servers started by a command.")] = None,
    header: Annotated[Texts, typer.Option(metavar='"NAME: VALUE"', help="For servers at a --url.")] = None,
    http: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Serve over streamable HTTP instead of stdio.")
    ] = None,
    mode: Annotated[str | None, typer.Option(metavar="MODE", help="native (default), dispatch or passthrough.")] = None,
    map_: Annotated[
        str | None, typer.Option("--map", metavar="NAME", help="Map of dispatch: names, hybrid or signature.")
    ] = None,
    handles: Annotated[
        str | None, typer.Option(metavar="NAME", help="What the map names tools by: names or codes.")
    ] = None,
    group: Annotated[
        str | None, typer.Option(metavar="namespace", help="One wire tool for each namespace (dispatch).")
    ] = None,
    pin: Annotated[Texts, typer.Option(metavar="TOOL", help="Keep a tool native beside dispatch.")] = None,
    profile: Annotated[str | None, typer.Option(metavar="NAME", help="As in compile.")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="The model: picks tokenizer and defaults.")] = None,
    tokenizer: Annotated[str | None, typer.Option(metavar="NAME", help="An encoding, for the counts.")] = None,
    budget: Annotated[int | None, typer.Option(min=1, metavar="N", help="Most tokens that the tools may take.")] = None,
) -> None:
    """Serve MCP with the tools of other servers, compressed, and let only valid calls through to them."""
    servers = [
        *([from_command(command, variables(env or []))] if command else []),
        *(from_line(line, variables(env or [])) for line in mcp or []),
        *(from_url(one, pairs(header or [])) for one in url or []),
        *(server for path in config or [] for server in from_file(path)),
    ]
    if not servers:
        raise ConfigError("no server was given", allowed=("-- COMMAND ARGS", "--mcp", "--url", "--config"))
    options = _options(
        mode=mode, map=map_, handles=handles, group=group, pin=pin, profile=profile, model=model, tokenizer=tokenizer,
        budget=budget,
    )  # fmt: skip
    _run(servers, options, http)


def _options(**given: Any) -> dict[str, Any]:
    """The options of ``compile``; the mode of the working folder's file counts where MCP has its like."""
    from tscg.cli import _options as options_of
    from tscg.modes.options import mode_of
    from tscg.proxy.tools import MODES

    options = options_of(**given)
    if given["mode"] is None and options.get("mode") not in MODES and isinstance(options.get("mode"), str | None):
        options["mode"] = "native"
    name = mode_of(options["mode"]).name
    if name not in MODES:
        raise ConfigError(f"--mode {name}: calls over MCP are native ones", allowed=MODES)
    return options


def _run(servers: list[Server], options: dict[str, Any], http: str | None) -> None:
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise Unavailable("the proxy needs the MCP SDK", hint="install tscg[mcp]")
    import logging

    import anyio

    from tscg.proxy.serve import address_of, serve_http, serve_stdio

    # The SDK logs messages whole where they are broken; the log never holds arguments.
    logging.getLogger("mcp").setLevel(logging.CRITICAL if not os.environ.get("TSCG_TRACEBACK") else logging.DEBUG)
    if http is None:
        anyio.run(serve_stdio, servers, options, note)
    else:
        anyio.run(serve_http, *address_of(http), servers, options, note)
