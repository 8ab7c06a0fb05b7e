"""Approval pins: what each tool of each server said when it was approved, and what has changed since.

A lock is a JSON file with the same bytes for the same tools. It keeps hashes of all that a server sent of a tool, and
the tool's text in the catalog language, in which people can read what was approved and by which a change is told
exactly. Non-ASCII characters are escaped in the file, so that nothing can hide in it.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from tscg.differences import Change
from tscg.errors import ConfigError, DriftError, ParseError, TscgWarning
from tscg.ir import JSON, Catalog, Tool

__all__ = ["LOCK_FILE", "Drift", "Lock", "Pin", "escaped", "full_name"]

LOCK_FILE = "tscg.lock"
FORMAT = 1
HASHES = ("description", "schema", "annotations")
ON_DRIFT = ("warn", "error")
SAID = {"added": "added", "removed": "removed", "both": "description and schema changed"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One approved tool: hashes of its description, of its schema and of its annotations (empty for none).

    ``text`` is the tool in the catalog language. A hash is that of JSON with sorted keys: their order does not count,
    all else does, white space too.
    """

    description: str
    schema: str
    annotations: str
    text: str

    @staticmethod
    def of(tool: Tool) -> Pin:
        """The pin of a tool as it is now."""
        return Pin(
            description=_hash(tool.original_description), schema=_hash(tool.schema),
            annotations=_hash(tool.annotations) if tool.annotations else "", text=_text(tool),
        )  # fmt: skip

    @property
    def tool(self) -> Tool:
        """The tool that was approved, as far as the language says it; ParseError for a text that was tampered with."""
        from tscg.language.parse import decompile

        return decompile(self.text)[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A tool that is not as approved.

    ``kind`` is ``added``, ``removed``, ``description``, ``schema``, ``both`` (of the two), or ``annotations`` where
    they alone changed. ``breaking`` says that a call which was right may now be refused. ``changes`` are those of
    :func:`tscg.diff`: none for what the language does not say, such as comments and white space.
    """

    server: str
    tool: str
    kind: str
    breaking: bool = False
    changes: tuple[Change, ...] = ()

    def to_dict(self) -> dict[str, JSON]:
        """The same as plain JSON values."""
        found: dict[str, JSON] = json.loads(json.dumps(asdict(self)))
        return found

    def __str__(self) -> str:
        said = SAID.get(self.kind, f"{self.kind} changed")
        return f"{full_name(self.server, self.tool)}: {said}{', breaking' if self.breaking else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lock:
    """The approved tools, by server and by the name there; ``ignore`` are findings of lint that are allowed.

    >>> lock = Lock.of([{"name": "ping", "description": "Health check"}])
    >>> for drift in lock.check([{"name": "ping", "description": "Send mail"}, {"name": "pong", "description": ""}]):
    ...     print(drift)
    ping: description changed
    pong: added
    """

    servers: Mapping[str, Mapping[str, Pin]] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()

    @staticmethod
    def of(tools: Any) -> Lock:
        """A lock of tools as they are now: a catalog, or any mix of the accepted forms."""
        return Lock().pin(tools)

    @staticmethod
    def load(path: str | PathLike[str] = LOCK_FILE) -> Lock:
        """Read a lock. Raises ConfigError for a file that cannot be read or is none."""
        try:
            found = json.loads(Path(path).read_bytes())
        except OSError as error:
            raise ConfigError(f"cannot read {path}: {error.strerror or error}", hint="tscg lock makes it") from error
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"{path} is no JSON: {error}") from error
        try:
            return _lock(found)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ConfigError(f"{path} is no lock of format {FORMAT}: {error}", hint="tscg lock makes it") from error

    def save(self, path: str | PathLike[str] = LOCK_FILE) -> None:
        """Write the lock; ConfigError where that is not possible."""
        try:
            Path(path).write_bytes(self.to_json().encode("ascii"))
        except OSError as error:
            raise ConfigError(f"cannot write {path}: {error.strerror or error}") from error

    def to_json(self) -> str:
        """The text of the file: the same for the same tools, wherever and in whatever order they came."""
        servers = {
            server: {name: {**asdict(pin), "text": pin.text.split("\n")} for name, pin in pins.items()}
            for server, pins in self.servers.items()
        }
        held = {"tscg_lock": FORMAT, "servers": servers, "ignore": list(self.ignore)}
        return json.dumps(held, indent=2, sort_keys=True) + "\n"

    def pin(self, tools: Any, servers: Collection[str] | None = None, ignore: Collection[str] = ()) -> Lock:
        """The lock with the tools as they are now in place of what it held of their servers.

        ``servers`` are the labels that are replaced; by default those of the tools. ``ignore`` is added to what is
        allowed.
        """
        catalog = Catalog.from_tools(tools)
        held = {name: pins for name, pins in self.servers.items() if name not in _servers(catalog, servers)}
        made: dict[str, dict[str, Pin]] = {}
        for tool in catalog:
            made.setdefault(tool.server, {})[_local(tool)] = Pin.of(tool)
        return replace(self, servers={**held, **made}, ignore=tuple(sorted({*self.ignore, *ignore})))

    def check(self, tools: Any, servers: Collection[str] | None = None) -> tuple[Drift, ...]:
        """What is not as approved, by server and name; empty where all is.

        Judged are the ``servers`` named; by default those of the tools, so that a server which is not connected is no
        finding. Tools of a server that the lock does not know are all ``added``.
        """
        catalog = Catalog.from_tools(tools)
        judged = _servers(catalog, servers)
        now = {(tool.server, _local(tool)): tool for tool in catalog if tool.server in judged}
        pins = {(server, name): pin for server in judged for name, pin in self.servers.get(server, {}).items()}
        found = (_drift(*key, pins.get(key), now.get(key)) for key in sorted(pins.keys() | now.keys()))
        return tuple(drift for drift in found if drift is not None)

    def guard(self, tools: Any, on_drift: str = "error", *, partial: bool = False) -> Catalog:
        """The catalog of the tools, if it is as approved.

        Else ``on_drift="error"`` raises :class:`tscg.DriftError`, and ``"warn"`` gives a :class:`tscg.TscgWarning`.
        What compiles tools calls it first, and again when a server says that its tools have changed. ``partial``:
        these are some of the tools, so that one which is not among them is no finding.
        """
        catalog = Catalog.from_tools(tools)
        found = self.check(catalog)
        if partial:
            found = tuple(drift for drift in found if drift.kind != "removed")
        if on_drift not in ON_DRIFT:
            raise ConfigError(f"on_drift is {on_drift!r}", allowed=ON_DRIFT)
        if found:
            error = DriftError(found)
            if on_drift == "error":
                raise error
            warnings.warn(str(error), TscgWarning, stacklevel=2)
        return catalog


def approved(lock: Lock | str | PathLike[str] | None, on_drift: str) -> Lock | None:
    """The lock that an option names: one, or its file. ConfigError for what is none and for an unknown ``on_drift``."""
    if on_drift not in ON_DRIFT:
        raise ConfigError(f"on_drift is {on_drift!r}", allowed=ON_DRIFT)
    if lock is None or isinstance(lock, Lock):
        return lock
    if not isinstance(lock, str | PathLike):
        raise ConfigError(f"lock is of type {type(lock).__name__}", hint="give a tscg.Lock or the path of its file")
    return Lock.load(lock)


def full_name(server: str, tool: str) -> str:
    """What messages call a tool of a server."""
    return escaped(f"{server}/{tool}" if server else tool)


def escaped(text: str) -> str:
    """A text of a server as it is shown: what has no shape, or could move a terminal's cursor, as an escape.

    >>> print(escaped("größe\u202e\x1b[2K"))
    größe\\u202e\\x1b[2K
    """
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def _drift(server: str, name: str, pin: Pin | None, tool: Tool | None) -> Drift | None:
    if pin is None:
        return Drift(server=server, tool=name, kind="added")
    if tool is None:
        return Drift(server=server, tool=name, kind="removed", breaking=True)
    now = Pin.of(tool)
    parts = [part for part in HASHES if getattr(pin, part) != getattr(now, part)]
    if "annotations" in parts and not now.annotations:
        parts.remove("annotations")  # lost on the way through a framework; without them hosts assume the worst
    if not parts:
        return None
    kind = "both" if {"description", "schema"} <= set(parts) else parts[0]
    if now.text == pin.text:
        return Drift(server=server, tool=name, kind=kind)
    from tscg.breaking import breaking
    from tscg.differences import diff

    before, after = _approved(pin, server, name), now.tool
    changed = diff(Catalog(tools=(before,)), Catalog(tools=(after,))).changed
    changes = tuple(change for one in changed for change in one.changes)
    return Drift(server=server, tool=name, kind=kind, breaking=breaking(before, after), changes=changes)


def _approved(pin: Pin, server: str, name: str) -> Tool:
    from tscg.record import replace

    try:
        return replace(pin.tool, name=name)
    except (ParseError, IndexError) as error:
        raise ConfigError(f"the lock's text of {server}/{name} cannot be read: {error}") from error


def _servers(catalog: Catalog, named: Collection[str] | None) -> Collection[str]:
    return {tool.server for tool in catalog} if named is None else named


def _local(tool: Tool) -> str:
    """The name at the server: the catalog's own may carry the server's label."""
    return tool.local_name or tool.name


def _text(tool: Tool) -> str:
    from tscg.costs import costs_of
    from tscg.language.emit import emit_tool
    from tscg.language.spelling import DEFAULT
    from tscg.record import replace

    return emit_tool(replace(tool, name=_local(tool)), DEFAULT, costs_of("o200k_base"))


def _hash(value: object) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"))
    return f"sha256:{hashlib.sha256(text.encode('ascii')).hexdigest()}"


def _lock(found: Any) -> Lock:
    if found["tscg_lock"] != FORMAT:
        raise ValueError(f"its format is {found['tscg_lock']!r}")
    servers = {
        server: {name: Pin(**{**pin, "text": "\n".join(pin["text"])}) for name, pin in pins.items()}
        for server, pins in found["servers"].items()
    }
    return Lock(servers=servers, ignore=tuple(_texts(found["ignore"])))


def _texts(values: Iterable[object]) -> list[str]:
    if not all(isinstance(value, str) for value in values):
        raise ValueError("'ignore' holds what is no text")
    return [str(value) for value in values]
