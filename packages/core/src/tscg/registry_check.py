"""Prove a registry again, and compare two."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from tscg.breaking import breaking
from tscg.differences import Diff, diff
from tscg.errors import RegistryError, TscgError
from tscg.ir import JSON, Catalog
from tscg.registry import INDEX, Registry
from tscg.registry_build import SAID, compile_entry, made_with, read_folder
from tscg.registry_entry import Home, baseline_of, prove, source_catalog
from tscg.tokenizers import tokenizer_of

__all__ = ["ServerDrift", "compare", "verify"]

FIGURES = ("exact", "tokens", "baseline_tokens", "fixed_tokens")


def verify(registry: Registry) -> tuple[RegistryError, ...]:
    """See :meth:`tscg.Registry.verify`."""
    found: list[RegistryError] = []
    for server in registry.servers:
        try:
            catalog = registry.catalog(server)
            _prove_server(registry, server, catalog)
        except TscgError as error:
            found.append(_problem(server, error))
            continue
        for row in registry.rows(server):
            try:
                _prove_entry(registry, server, row, catalog)
            except TscgError as error:
                found.append(_problem(f"{server}, {row.get('profile')} for {row.get('tokenizer')},", error))
    return tuple(found)


def _problem(part: str, error: TscgError) -> RegistryError:
    return error if isinstance(error, RegistryError) else RegistryError(part, f"cannot be proved: {error}")


def _prove_server(registry: Registry, server: str, catalog: Catalog) -> None:
    held, source = registry.held(server), registry.source(server)
    said = {"tools": len(catalog), **{key: source[key] for key in SAID if key in source}}
    for key in ("tools", *SAID):
        if held.get(key) != said.get(key):
            raise RegistryError(INDEX, f"says {held.get(key)!r} of {server} as {key}, and its source {said.get(key)!r}")


def _prove_entry(registry: Registry, server: str, row: Mapping[str, Any], catalog: Catalog) -> None:
    part, entry = registry.entry(server, row)
    stored = registry.get(server, row["profile"], row["tokenizer"])
    if stored.fingerprint != entry["fingerprint"]:
        raise RegistryError(part, "has another fingerprint than its text")
    prove(stored, part)
    if entry["made_with"] != made_with():
        return
    tokenizer = entry["tokenizer"]
    home = Home(
        server=server, source=entry["source"], on_error=entry["on_error"], made_with=entry["made_with"],
        baseline=baseline_of(catalog, tokenizer_of(tokenizer)),
    )  # fmt: skip
    fresh = compile_entry(catalog, entry["profile"], tokenizer, home)
    if fresh["exact"] is not entry["exact"]:  # counted with another vocabulary, or with an estimate
        fresh, entry = _uncounted(fresh), _uncounted(entry)
    if fresh != entry:
        wrong = next(key for key in fresh if fresh[key] != entry.get(key))
        raise RegistryError(part, f"is not what compiling its source gives: its {wrong} is another")


def _uncounted(entry: Mapping[str, Any]) -> dict[str, Any]:
    tools = [{"name": row["name"], "text": row["text"]} for row in entry["tools"]]
    return {**{key: value for key, value in entry.items() if key not in FIGURES}, "tools": tools}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDrift:
    """What changed at one server: ``added``, ``removed`` or ``changed``, and whether to compile anew.

    ``diff`` names the tools, ``breaking`` those that may refuse calls which were right. ``recompile`` is empty where
    texts compiled from the old registry still stand, else the reason: ``tools`` or ``compiler``.
    """

    server: str
    kind: str
    versions: tuple[str, str] = ("", "")
    diff: Diff = field(default_factory=Diff)
    breaking: tuple[str, ...] = ()
    recompile: str = ""

    def to_dict(self) -> dict[str, JSON]:
        """The same as plain JSON values."""
        found: dict[str, JSON] = json.loads(json.dumps(asdict(self)))
        return found


def compare(old: str | PathLike[str], new: str | PathLike[str]) -> tuple[ServerDrift, ...]:
    """What changed between two registries, server by server; ``new`` may be a folder of catalogs too."""
    before, after = _View.of(old), _View.of(new)
    made = "compiler" if before.made_with != after.made_with else ""
    return tuple(_drifts(before, after, made))


@dataclass(frozen=True, slots=True, kw_only=True)
class _View:
    """The sources of a registry, or of a folder of catalogs as this version would compile them."""

    made_with: Mapping[str, str]
    sources: Mapping[str, tuple[Mapping[str, Any], str]]

    @staticmethod
    def of(path: str | PathLike[str]) -> _View:
        if (Path(path) / INDEX).is_file():
            held = Registry.open(path)
            sources = {name: (held.source(name), held.held(name)["on_error"]) for name in held.servers}
            return _View(made_with=held.made_with, sources=sources)
        return _View(made_with=made_with(), sources={name: (raw, "raise") for name, raw in read_folder(path).items()})

    def catalog(self, server: str) -> Catalog:
        return source_catalog(*self.sources[server])

    def version(self, server: str) -> str:
        return str(self.sources[server][0].get("version", ""))


def _drifts(before: _View, after: _View, made: str) -> Iterator[ServerDrift]:
    for server in sorted(before.sources.keys() | after.sources.keys()):
        if server not in before.sources:
            yield ServerDrift(server=server, kind="added", versions=("", after.version(server)), recompile="tools")
        elif server not in after.sources:
            yield ServerDrift(server=server, kind="removed", versions=(before.version(server), ""))
        else:
            old, new = before.catalog(server), after.catalog(server)
            changed = diff(old, new)
            versions = (before.version(server), after.version(server))
            if changed or made or versions[0] != versions[1]:
                broken = (name for name, tool in new.by_name.items() if _breaks(old, name, new))
                yield ServerDrift(
                    server=server, kind="changed", versions=versions, diff=changed,
                    breaking=tuple(sorted([*changed.removed, *broken])), recompile="tools" if changed else made,
                )  # fmt: skip


def _breaks(old: Catalog, name: str, new: Catalog) -> bool:
    return name in old.by_name and breaking(old.by_name[name], new.by_name[name])
