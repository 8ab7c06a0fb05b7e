"""Build a registry from a folder of catalogs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from tscg.errors import ConfigError
from tscg.ir import JSON, Catalog
from tscg.registry import INDEX, INDEX_FORMAT, ROW, Registry, digest_of, object_path
from tscg.registry_entry import Home, baseline_of, content, dump, prove, source_catalog
from tscg.tokenizers import tokenizer_of

__all__ = ["SAID", "TOKENIZERS", "build", "compile_entry", "made_with", "read_folder"]

TOKENIZERS = ("o200k_base", "cl100k_base")
SAID = ("version", "licence", "license")  # what a file says of itself beside its tools
OBJECT = re.compile(r"[0-9a-f]{64}\.json")


def made_with() -> dict[str, str]:
    """Versions of the compiler and of the language."""
    import tscg

    return {"tscg": tscg.__version__, "language": tscg.LANGUAGE_VERSION}


def read_folder(folder: str | PathLike[str]) -> dict[str, dict[str, Any]]:
    """The sources in a folder by server: each file of JSON is a catalog in any accepted form.

    The label is the file's own (``{"server": ..., "tools": [...]}``), else its name. Raises ConfigError for a folder
    without catalogs and for two of one label, and CompileError for what cannot be read.
    """
    from tscg.sources import read_json

    paths = sorted(Path(folder).glob("*.json"))
    if not paths:
        raise ConfigError(f"{folder} holds no catalogs", hint="give a folder of JSON files with tools")
    found: dict[str, dict[str, Any]] = {}
    for path in paths:
        raw = read_json(str(path))
        held = raw if isinstance(raw, dict) else {}
        label = held.get("server")
        server = label if isinstance(label, str) and label else path.stem
        if server in found:
            raise ConfigError(f"{path.name} holds the server {server!r}, as another file does")
        said = {key: held[key] for key in SAID if isinstance(held.get(key), str)}
        found[server] = {"server": server, **said, "raw": raw}
    return dict(sorted(found.items()))


def build(
    sources: Mapping[str, Mapping[str, Any]],
    out: str | PathLike[str],
    *,
    profiles: Sequence[str] = (),
    tokenizers: Sequence[str] = TOKENIZERS,
    on_error: str = "raise",
    tested_with: Mapping[str, str] | None = None,
) -> Registry:
    """See :meth:`tscg.Registry.build`; ``sources`` are those of :func:`read_folder`."""
    folder = Path(out)
    _check_empty(folder)
    names = _named(profiles, tokenizers)
    made = made_with()
    objects: dict[str, bytes] = {}
    servers: dict[str, JSON] = {}
    for server, source in sorted(sources.items()):
        servers[server], held = _entries(source, names, on_error=on_error, made=made)
        objects |= held
    index = {
        "tscg_registry": INDEX_FORMAT, "made_with": made, "tested_with": dict(sorted((tested_with or {}).items())),
        "servers": servers,
    }  # fmt: skip
    _write(folder, objects, content(index))
    return Registry.open(folder)


def _entries(
    source: Mapping[str, Any], names: Sequence[tuple[str, str]], *, on_error: str, made: Mapping[str, str]
) -> tuple[dict[str, JSON], dict[str, bytes]]:
    """What the index says of a server, and the objects that it names."""
    objects: dict[str, bytes] = {}

    def put(value: object) -> str:
        data = content(value)
        objects[digest_of(data)] = data
        return digest_of(data)

    home, catalog = put(source), source_catalog(source, on_error)
    homes = {
        tokenizer: Home(
            server=source["server"], source=home, on_error=on_error, made_with=made,
            baseline=baseline_of(catalog, tokenizer_of(tokenizer)),
        )
        for tokenizer in dict.fromkeys(tokenizer for _, tokenizer in names)
    }  # fmt: skip
    rows: list[JSON] = []
    for profile, tokenizer in names:
        entry = compile_entry(catalog, profile, tokenizer, homes[tokenizer])
        rows.append({**{field: entry[field] for field in ROW}, "entry": put(entry)})
    said = {key: source[key] for key in SAID if key in source}
    return {**said, "source": home, "on_error": on_error, "tools": len(catalog), "entries": rows}, objects


def compile_entry(catalog: Catalog, profile: str, tokenizer: str, home: Home) -> dict[str, JSON]:
    """Compile, prove and dump one entry."""
    import tscg

    compiled = tscg.compile(catalog, profile=profile, tokenizer=tokenizer)
    prove(compiled, f"{home.server}, {profile} for {tokenizer},")
    return dump(compiled, home)


def _named(profiles: Sequence[str], tokenizers: Sequence[str]) -> list[tuple[str, str]]:
    from tscg.profiles import PROFILES
    from tscg.tokenizers import ENCODINGS

    for given, known, what in ((profiles, PROFILES, "profile"), (tokenizers, ENCODINGS, "tokenizer")):
        for name in given:
            if name not in known:
                raise ConfigError(f"unknown {what} {name!r}", allowed=tuple(known))
    chosen = [name for name in PROFILES if name in profiles or not profiles]
    return [(profile, tokenizer) for profile in chosen for tokenizer in ENCODINGS if tokenizer in tokenizers]


def _check_empty(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise ConfigError(f"{folder} is no folder")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / INDEX).is_file():
        raise ConfigError(f"{folder} is not empty and no registry", hint="name a new folder")


def _write(folder: Path, objects: Mapping[str, bytes], index: bytes) -> None:
    """The objects first and the index last, so that no index names what is not there; then what none names goes."""
    try:
        (folder / "objects").mkdir(parents=True, exist_ok=True)
        for name, data in objects.items():
            (folder / object_path(name)).write_bytes(data)
        (folder / INDEX).write_bytes(index)
        kept = {folder / object_path(name) for name in objects}
        for path in (folder / "objects").iterdir():
            if OBJECT.fullmatch(path.name) and path not in kept:
                path.unlink()
    except OSError as error:
        raise ConfigError(f"cannot write {folder}: {error.strerror or error}") from error
