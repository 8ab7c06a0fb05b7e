"""A registry: catalogs compiled ahead, in a static folder that any web server or package can carry.

``index.json`` names, by server, the source and an entry for each profile and tokenizer; each is a file of ``objects``
whose name is the SHA-256 of its bytes. So an entry that was changed is found out when it is read, and the digest of the
index stands for all.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from tscg.errors import ConfigError, ParseError, RegistryError
from tscg.ir import Catalog
from tscg.registry_entry import ENTRY_FORMAT, load, source_catalog

if TYPE_CHECKING:
    from tscg.modes.compiled import CompiledCatalog

T = TypeVar("T")

__all__ = ["INDEX", "INDEX_FORMAT", "Folder", "Registry", "digest_of", "object_path"]

INDEX = "index.json"
INDEX_FORMAT = 1
DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
ROW = ("profile", "tokenizer", "fingerprint", "exact", "tokens", "baseline_tokens")


class Folder(Protocol):
    """Where a registry lies: a path, or what ``importlib.resources.files`` gives."""

    def joinpath(self, *parts: str) -> Any:
        """What lies below, which has ``read_bytes()``."""
        ...


def digest_of(data: bytes) -> str:
    """The name of bytes: ``sha256:`` and the hash."""
    return f"sha256:{hashlib.sha256(data).hexdigest()}"


def object_path(name: str) -> str:
    """Where the object of a digest lies; RegistryError for what is no digest."""
    match = DIGEST.fullmatch(name)
    if match is None:
        raise RegistryError(INDEX, f"holds {name!r}, which is no digest")
    return f"objects/{match[1]}.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Registry:
    """An open registry. Only the index has been read; ``digest`` is that of its bytes."""

    folder: Folder
    index: Mapping[str, Any]
    digest: str

    @staticmethod
    def open(path: str | PathLike[str] | Folder, digest: str | None = None) -> Registry:
        """Open the registry in a folder; ``digest`` is what that of the index has to be, where it is known.

        Raises ConfigError for a folder that is no registry, and RegistryError for an index that is damaged or another.
        """
        folder: Folder = Path(path) if isinstance(path, str | PathLike) else path
        try:
            data: bytes = folder.joinpath(INDEX).read_bytes()
        except OSError as error:
            raise ConfigError(
                f"{path} is no registry: {INDEX} cannot be read ({error.strerror or error})",
                hint="tscg registry build makes one",
            ) from error
        found = digest_of(data)
        if digest is not None and digest != found:
            raise RegistryError(INDEX, f"is {found}, and {digest} was expected")
        index = _json(data, INDEX)
        if index.get("tscg_registry") != INDEX_FORMAT:
            raise RegistryError(INDEX, f"is no index of format {INDEX_FORMAT}")
        _read(INDEX, lambda: _check(index))
        return Registry(folder=folder, index=index, digest=found)

    @staticmethod
    def build(
        folder: str | PathLike[str],
        out: str | PathLike[str],
        *,
        profiles: Sequence[str] = (),
        tokenizers: Sequence[str] = (),
        on_error: str = "raise",
        tested_with: Mapping[str, str] | None = None,
    ) -> Registry:
        """Compile every catalog of a folder in each profile and for each tokenizer, prove each, and write the registry.

        A catalog is a JSON file in any accepted form; its label is its own (``{"server": ..., "tools": [...]}``), else
        the name of the file. Without ``profiles`` all are taken, without ``tokenizers`` o200k_base and cl100k_base.
        ``tested_with`` are versions of models and packages that the entries were tried with. The same input gives the
        same bytes, where the same vocabularies are installed. Raises ConfigError for a folder that is not fit,
        CompileError for tools that cannot be compiled, and RegistryError for a text that is not equivalent to its
        source.
        """
        from tscg.registry_build import TOKENIZERS, build, read_folder

        return build(
            read_folder(folder), out, profiles=profiles, tokenizers=tokenizers or TOKENIZERS, on_error=on_error,
            tested_with=tested_with,
        )  # fmt: skip

    def verify(self) -> tuple[RegistryError, ...]:
        """Prove every entry again; what does not hold, empty where all does.

        Every object is there with the bytes of its name, the index says of each entry what it says itself, each text
        read back is equivalent to its source, and, where this is the version that made them, each is what compiling
        gives now.
        """
        from tscg.registry_check import verify

        return verify(self)

    @property
    def servers(self) -> tuple[str, ...]:
        """Labels of the servers."""
        return tuple(self.index["servers"])

    @property
    def made_with(self) -> Mapping[str, str]:
        """Versions of the compiler and of the language."""
        made: Mapping[str, str] = self.index["made_with"]
        return made

    def rows(self, server: str) -> tuple[Mapping[str, Any], ...]:
        """The entries of a server as the index lists them: profile, tokenizer, tokens, fingerprint, digest."""
        return tuple(self.held(server)["entries"])

    def get(self, server: str, profile: str = "balanced", tokenizer: str | None = None) -> CompiledCatalog:
        """The compiled catalog of a server, read and not compiled; equal to a fresh one in all that it sends and takes.

        Without a ``tokenizer`` it is that of o200k_base, else the first. Raises ConfigError for an entry that is not
        there, with those that are, and RegistryError for one that is damaged.
        """
        row = self._row(server, profile, tokenizer)
        part, entry = self.entry(server, row)
        return _read(part, lambda: load(entry, self.source(server)))

    def catalog(self, server: str) -> Catalog:
        """The tools of a server as it gave them."""
        held = self.held(server)
        return _read(object_path(held["source"]), lambda: source_catalog(self.source(server), held["on_error"]))

    def source(self, server: str) -> Mapping[str, Any]:
        """What a server gave, with its label and the version of its file."""
        return self._object(self.held(server)["source"])

    def entry(self, server: str, row: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """The file of a row of the index, and what it holds; RegistryError where the two do not agree."""
        part = object_path(row["entry"])
        found = self._object(row["entry"])
        if found.get("tscg_entry") != ENTRY_FORMAT:
            raise RegistryError(part, f"is no entry of format {ENTRY_FORMAT}")
        wanted = {**row, "server": server, "source": self.held(server)["source"]}
        for field in ("server", "source", *ROW):
            if found.get(field) != wanted.get(field):
                said = f"its {field} is {found.get(field)!r}, and the index says {wanted.get(field)!r}"
                raise RegistryError(part, f"is not what the index says: {said}")
        return part, found

    def held(self, server: str) -> Mapping[str, Any]:
        """What the index says of a server; ConfigError for one that it does not have."""
        found: Mapping[str, Any] | None = self.index["servers"].get(server)
        if found is None:
            raise ConfigError(f"the registry has no server {server!r}", allowed=self.servers[:20])
        return found

    def _row(self, server: str, profile: str, tokenizer: str | None) -> Mapping[str, Any]:
        rows = self.rows(server)
        found = [row for row in rows if row["profile"] == profile and tokenizer in (None, row["tokenizer"])]
        if not found:
            wanted = f"{profile} for {tokenizer}" if tokenizer else profile
            offered = tuple(f"{row['profile']} for {row['tokenizer']}" for row in rows)
            raise ConfigError(f"the registry has no entry {wanted} of {server!r}", allowed=offered)
        return next((row for row in found if row["tokenizer"] == "o200k_base"), found[0])

    def _object(self, name: str) -> Mapping[str, Any]:
        part = object_path(name)
        try:
            data: bytes = self.folder.joinpath(*part.split("/")).read_bytes()
        except OSError as error:
            raise RegistryError(part, f"cannot be read: {error.strerror or error}") from error
        if digest_of(data) != name:
            raise RegistryError(part, "is damaged: its bytes are not those of its name")
        return _json(data, part)


def _check(index: Mapping[str, Any]) -> None:
    """All that is read of an index later is there."""
    dict(index["made_with"])
    for held in index["servers"].values():
        object_path(held["source"])
        str(held["on_error"])
        for row in held["entries"]:
            object_path(row["entry"])
            [row[field] for field in ROW]


def _json(data: bytes, part: str) -> Mapping[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise RegistryError(part, f"is no JSON: {error}") from error
    if not isinstance(found, dict):
        raise RegistryError(part, "is no JSON object")
    return found


def _read(part: str, read: Callable[[], T]) -> T:
    """What a function makes of a part; what is missing in it is the registry's fault."""
    try:
        return read()
    except (KeyError, TypeError, AttributeError, ParseError) as error:
        raise RegistryError(part, f"cannot be read: {type(error).__name__} {error}") from error
