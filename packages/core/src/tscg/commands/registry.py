"""``tscg registry``: catalogs compiled ahead, in a static folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer  # noqa: TID253 - the command alone imports this

from tscg.console import working, write, write_json
from tscg.errors import ConfigError
from tscg.lock import escaped

if TYPE_CHECKING:
    from tscg.registry import Registry
    from tscg.registry_check import ServerDrift

__all__ = ["register"]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
MARKS = {"added": "+", "removed": "-", "changed": "~"}


def register(app: typer.Typer) -> None:
    """Add the commands."""
    group = typer.Typer(rich_markup_mode=None)
    group.command(short_help="Compile a folder of catalogs.")(build)
    group.command(short_help="Prove a registry again.")(verify)
    group.command("diff", short_help="Show what changed between two registries.")(diff_command)
    app.add_typer(group, name="registry", short_help="Compile catalogs ahead, and prove them.")


def build(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of JSON files with tools.")],
    *,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where the registry is written.")],
    profile: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A profile; all where none is given.")
    ] = None,
    tokenizer: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="An encoding; o200k_base and cl100k_base if none is given.")
    ] = None,
    on_error: Annotated[
        str, typer.Option(metavar="DO", help="Tools with faults: raise, skip or passthrough.")
    ] = "raise",
    tested_with: Annotated[
        list[str] | None, typer.Option(metavar="NAME=VERSION", help="A model or package that it was tried with.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compile every catalog of a folder in several profiles for several tokenizers, prove each, and write them."""
    from tscg.registry import Registry

    with working(f"Compiling {folder}"):
        made = Registry.build(
            folder, out, profiles=profile or (), tokenizers=tokenizer or (), on_error=on_error,
            tested_with=_versions(tested_with or ()),
        )  # fmt: skip
    if as_json:
        write_json({"digest": made.digest, **made.index})
    else:
        write("\n".join([*_lines(made), f"{out}: {_entries(made):,} entries proved, {made.digest}"]))


def verify(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A registry.")],
    *,
    digest: Annotated[
        str | None, typer.Option(metavar="SHA256", help="What the digest of its index has to be.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Prove every entry of a registry again: exit code 0 when all hold, 1 when not, 2 when it is no registry."""
    from tscg.errors import RegistryError
    from tscg.registry import Registry
    from tscg.registry_check import verify as prove

    with working(f"Proving {folder}"):
        try:
            held = Registry.open(folder, digest)
            problems, entries = prove(held), _entries(held)
        except RegistryError as error:
            problems, entries = (error,), 0
    if as_json:
        write_json({"entries": entries, "problems": [{"part": one.part, "reason": one.reason} for one in problems]})
    else:
        write("\n".join(escaped(str(problem)) for problem in problems) or f"{entries:,} entries proved")
    raise typer.Exit(1 if problems else 0)


def diff_command(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A registry, or a folder of catalogs.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A registry, or a folder of catalogs.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Show what changed between two registries, and what is to be compiled anew: exit code 0 for nothing, else 1."""
    from tscg.registry_check import compare

    with working("Comparing"):
        drifts = compare(old, new)
    if as_json:
        write_json({"servers": [drift.to_dict() for drift in drifts]})
    else:
        write("\n".join(line for drift in drifts for line in _told(drift)) or "no difference")
    raise typer.Exit(1 if drifts else 0)


def _versions(given: Sequence[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in given]
    for name, mark, version in pairs:
        if not (name and mark and version):
            raise ConfigError(f"--tested-with {name!r} has no version", hint="write NAME=VERSION")
    return {name: version for name, _, version in pairs}


def _lines(registry: Registry) -> Iterator[str]:
    """One line for each server: its tokens as JSON, and in each profile for the first tokenizer."""
    for server in registry.servers:
        rows = registry.rows(server)
        costs = ", ".join(
            f"{row['profile']} {row['tokens']:,}" for row in rows if row["tokenizer"] == rows[0]["tokenizer"]
        )
        tools = registry.held(server)["tools"]
        yield escaped(
            f"{server}: {tools:,} tool{'' if tools == 1 else 's'}, JSON {rows[0]['baseline_tokens']:,} tokens, {costs}"
        )


def _entries(registry: Registry) -> int:
    return sum(len(registry.rows(server)) for server in registry.servers)


def _told(drift: ServerDrift) -> Iterator[str]:
    from tscg.report import diff_text

    old, new = drift.versions
    version = f" {old or '?'} -> {new or '?'}" if old != new and drift.kind == "changed" else ""
    todo = {"tools": ", to be compiled anew", "compiler": ", to be compiled anew (another compiler)"}
    yield escaped(f"{MARKS[drift.kind]} {drift.server}{version}{todo.get(drift.recompile, '')}")
    if drift.breaking:
        yield escaped(f"    breaking: {', '.join(drift.breaking)}")
    if drift.diff:
        yield from (escaped(f"    {line}") for line in diff_text(drift.diff).split("\n"))
