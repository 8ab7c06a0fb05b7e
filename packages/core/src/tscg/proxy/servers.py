"""Which servers a proxy stands before: from command lines, URLs, and files in the form of ``mcp.json``."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tscg.errors import ConfigError
from tscg.sources import read_json

__all__ = ["Server", "from_command", "from_file", "from_line", "from_url", "pairs", "variables"]

GROUPS = ("mcpServers", "servers")
HTTP = (None, "http", "streamable-http", "streamableHttp")
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """How one server is reached: a command that starts it, or the URL where it listens.

    ``name`` is what the user calls it, empty where it is called as it calls itself. Environment and headers may hold
    keys, and are never shown.
    """

    name: str = ""
    command: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def label(self) -> str:
        """What messages call it before it has said its name: of a command two words, for others may be keys.

        >>> Server(command=("/usr/bin/npx", "-y", "server-git", "--token", "abc")).label
        'npx server-git'
        """
        words = [word for word in self.command[1:] if not word.startswith("-") and "=" not in word]
        return (
            self.name or self.url.partition("?")[0] or " ".join([*map(os.path.basename, self.command[:1]), *words[:1]])
        )


def from_command(command: Sequence[str], env: Mapping[str, str] | None = None) -> Server:
    """A server that a command starts.

    >>> from_command(["uvx", "mcp-server-time"]).label
    'uvx mcp-server-time'
    """
    return Server(command=tuple(command), env=env or {})


def from_line(line: str, env: Mapping[str, str] | None = None) -> Server:
    """A server that a command line starts; ConfigError for what is none."""
    try:
        words = shlex.split(line, posix=os.name != "nt")
    except ValueError as error:
        raise ConfigError(f"--mcp {line!r} is no command line: {error}") from error
    if not words:
        raise ConfigError("--mcp is empty", hint='give the command that starts a server: --mcp "COMMAND ARGS"')
    return from_command(words, env)


def from_url(url: str, headers: Mapping[str, str] | None = None) -> Server:
    """A server that listens at a URL; ConfigError for another scheme than HTTP."""
    if not re.match(r"https?://[^/]", url):
        raise ConfigError(f"{url!r} is no URL of a server", allowed=("http://...", "https://..."))
    return Server(url=url, headers=headers or {})


def from_file(path: str) -> list[Server]:
    """The servers of a file in the form of ``mcp.json``: ``{"mcpServers": {NAME: {"command": ...} | {"url": ...}}}``.

    ``${NAME}`` and ``${NAME:-DEFAULT}`` stand for variables of the environment. Raises ConfigError for what cannot be
    used, with the name of the server.
    """
    found = read_json(path)
    group = next((found[key] for key in GROUPS if key in found), None) if isinstance(found, dict) else None
    if not isinstance(group, dict) or not group:
        raise ConfigError(f"{path} names no servers", hint='it is of the form {"mcpServers": {"NAME": {...}}}')
    return [_server(path, name, entry) for name, entry in group.items() if not _is_off(entry)]


def _is_off(entry: object) -> bool:
    return isinstance(entry, dict) and entry.get("disabled") is True


def _server(path: str, name: str, entry: Any) -> Server:
    where = f"{path}: server {name!r}"
    if not isinstance(entry, dict) or ("command" in entry) == ("url" in entry):
        raise ConfigError(f"{where} needs a command or a url, one of them")
    if "url" in entry:
        if entry.get("type") not in HTTP:
            raise ConfigError(f"{where} is of type {entry['type']!r}", allowed=("http",))
        headers = _texts(where, "headers", entry.get("headers", {}))
        return Server(name=name, url=from_url(_text(where, "url", entry["url"])).url, headers=headers)
    arguments = entry.get("args", [])
    if not isinstance(arguments, list):
        raise ConfigError(f"{where}: args is no list")
    words = [_text(where, "command and args", word) for word in (entry["command"], *arguments)]
    cwd = entry.get("cwd")
    return Server(
        name=name, command=tuple(words), env=_texts(where, "env", entry.get("env", {})),
        cwd=None if cwd is None else _text(where, "cwd", cwd),
    )  # fmt: skip


def _texts(where: str, key: str, given: Any) -> dict[str, str]:
    if not isinstance(given, dict):
        raise ConfigError(f"{where}: {key} is no object")
    return {name: _text(where, key, value) for name, value in given.items()}


def _text(where: str, key: str, given: Any) -> str:
    """A text of the file with the variables in it filled in."""
    if not isinstance(given, str):
        raise ConfigError(f"{where}: {key} holds {type(given).__name__}, not text")

    def value(match: re.Match[str]) -> str:
        found = os.environ.get(match[1], match[2])
        if found is None:
            raise ConfigError(f"{where}: {key} asks for {match[0]}, and there is no such variable")
        return found

    return VARIABLE.sub(value, given)


def variables(given: Sequence[str]) -> dict[str, str]:
    """``NAME=VALUE`` of ``--env``, or ``NAME`` alone for a variable of our own environment.

    >>> variables(["TOKEN=a=b"])
    {'TOKEN': 'a=b'}
    """
    out = {}
    for item in given:
        name, is_given, value = item.partition("=")
        if not name or (not is_given and name not in os.environ):
            raise ConfigError(
                f"--env {name or 'without a name'}: no value", allowed=("NAME=VALUE", "NAME of one that is set")
            )
        out[name] = value if is_given else os.environ[name]
    return out


def pairs(given: Sequence[str]) -> dict[str, str]:
    """``NAME: VALUE`` of ``--header``. A value is never repeated in an error: it may be a key.

    >>> pairs(["Authorization: Bearer abc"])
    {'Authorization': 'Bearer abc'}
    """
    out = {}
    for item in given:
        name, is_given, value = item.partition(":")
        if not is_given or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name.strip()):
            raise ConfigError("--header is no header", allowed=('"NAME: VALUE"',))
        out[name.strip()] = value.strip()
    return out
