"""``tscg lock``, ``verify`` and ``lint``: approve the tools of servers, see what changed since, read what they say."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer  # noqa: TID253 - the command alone imports this

from tscg.console import note, working, write, write_json
from tscg.errors import ConfigError
from tscg.lock import LOCK_FILE, Lock, escaped
from tscg.sources import read_source, source_of

if TYPE_CHECKING:
    from tscg.ir import Catalog
    from tscg.lock import Drift

__all__ = ["register"]

Files = Annotated[
    list[str] | None, typer.Argument(metavar="FILE...", help="JSON files with tools; - is standard input.")
]
Mcp = Annotated[str | None, typer.Option(metavar="COMMAND", help="Read the tools of the MCP server that this starts.")]
Url = Annotated[str | None, typer.Option(metavar="URL", help="Read the tools of an MCP server over HTTP.")]
Server = Annotated[str, typer.Option(metavar="NAME", help="Label of tools that come without one.")]
Where = Annotated[Path, typer.Option("--lock", metavar="PATH", help="The lock.")]
Ignore = Annotated[
    list[str] | None,
    typer.Option(metavar="RULE[:TOOL]", help="Findings of lint to allow; may be given several times."),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
LOCK = Path(LOCK_FILE)
MARKS = {"added": "+", "removed": "-"}
SHOWN = 200  # characters of a text that changed


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command(short_help="Approve the tools of servers as they are now.")(lock)
    app.command(short_help="Say what changed since tools were approved.")(verify)
    app.command("lint", short_help="Look for instructions and hidden text in tools.")(lint_command)


def lock(
    *,
    files: Files = None,
    mcp: Mcp = None,
    url: Url = None,
    server: Server = "",
    path: Where = LOCK,
    ignore: Ignore = None,
    as_json: AsJson = False,
) -> None:
    """Approve the tools of servers as they are now: write their hashes and texts to the lock.

    What the lock holds of other servers stays.
    """
    from tscg.linting import check_ignored

    old = Lock.load(path) if path.exists() else Lock()
    catalog, servers = _read(files, mcp, url, server)
    allowed = check_ignored((*old.ignore, *(ignore or ())))
    known = [label for label in servers if label in old.servers]
    drifts = old.check([tool for tool in catalog if tool.server in known], known)
    old.pin(catalog, servers, ignore=allowed).save(path)
    if as_json:
        write_json({"lock": str(path), "tools": len(catalog), "drifts": [drift.to_dict() for drift in drifts]})
        return
    if drifts:
        write(_told(drifts))
    write(f"{_count(len(catalog), 'tool')} approved in {path}")


def verify(
    *,
    files: Files = None,
    mcp: Mcp = None,
    url: Url = None,
    server: Server = "",
    path: Where = LOCK,
    as_json: AsJson = False,
) -> None:
    """Say what changed since tools were approved: exit code 0 when nothing did, 1 when something, 2 on trouble."""
    held = Lock.load(path)
    catalog, servers = _read(files, mcp, url, server)
    drifts = held.check(catalog, servers)
    if as_json:
        write_json({"tools": len(catalog), "drifts": [drift.to_dict() for drift in drifts]})
    else:
        write(_told(drifts) if drifts else f"{_count(len(catalog), 'tool')} as approved")
    raise typer.Exit(1 if drifts else 0)


def lint_command(
    *,
    files: Files = None,
    mcp: Mcp = None,
    url: Url = None,
    server: Server = "",
    path: Where = LOCK,
    ignore: Ignore = None,
    errors: Annotated[bool, typer.Option("--errors", help="Leave warnings out.")] = False,
    as_json: AsJson = False,
) -> None:
    """Look for instructions and hidden text in tools: exit code 0 for no findings, 1 for some, 2 on trouble.

    It reports what is known to be done; what it does not find may be there all the same. The lock, where there is one,
    says which findings are allowed.
    """
    from tscg.linting import lint

    held = Lock.load(path).ignore if path.exists() else ()
    catalog, _ = _read(files, mcp, url, server)
    found = lint(catalog, ignore=(*held, *(ignore or ())))
    if errors:
        found = tuple(finding for finding in found if finding.severity == "error")
    if as_json:
        write_json({"tools": len(catalog), "findings": [finding.to_dict() for finding in found]})
    else:
        write("\n".join([*map(str, found), f"{_count(len(found), 'finding')} in {_count(len(catalog), 'tool')}"]))
    raise typer.Exit(1 if found else 0)


def _read(files: Sequence[str] | None, mcp: str | None, url: str | None, server: str) -> tuple[Catalog, frozenset[str]]:
    """One catalog of all sources, and the labels of the servers that were asked, those without tools too."""
    from tscg.ir import Catalog

    sources = [source_of(file) for file in files or ()]
    sources += [source_of(None, mcp, url)] if mcp is not None or url is not None else []
    if not sources:
        source_of(None)
    if sum(source.kind == "stdin" for source in sources) > 1:
        raise ConfigError("standard input can be only one of the files")
    parts, labels = [], set[str]()
    for source in sources:
        with working(f"Reading {source.label}"):
            raw: Any = read_source(source)
        own = raw.get("server") if isinstance(raw, dict) else None
        # A tool that cannot be read is pinned and looked at all the same.
        parts.append(Catalog.from_tools(raw, server=server, on_error="passthrough"))
        labels |= {tool.server for tool in parts[-1]} or {own if isinstance(own, str) else server}
    if len(parts) > 1 and "" in labels:
        note('files without a label are taken as one server: {"server": NAME, "tools": [...]} has one', "note")
    return Catalog.join(*parts), frozenset(labels)


def _told(drifts: Sequence[Drift]) -> str:
    """One line for each tool, and below it what changed."""
    lines: list[str] = []
    for drift in drifts:
        lines.append(f"{MARKS.get(drift.kind, '~')} {drift}")
        for change in drift.changes:
            what = f"{change.kind} of {'.'.join(change.path)}" if change.path else change.kind
            lines.append(escaped(f"    {what}: {_quoted(change.before)} -> {_quoted(change.after)}"))
    return "\n".join(lines)


def _quoted(text: str) -> str:
    shown = text if len(text) <= SHOWN else f"{text[:SHOWN]}..."
    return json.dumps(shown, ensure_ascii=False) if shown else "(none)"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
