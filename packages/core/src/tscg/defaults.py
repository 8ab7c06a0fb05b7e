"""Defaults of the command, from the file ``tscg.toml`` of the working folder. The library itself never reads it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path

from tscg.errors import ConfigError

__all__ = ["FILE", "Defaults", "read_defaults"]

FILE = "tscg.toml"
# Tables of the file that others read: `[[model]]` are rows of `tscg.Policy.load`.
OTHER_TABLES = ("model",)


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """The table ``[defaults]``: what an option of the command is when it is not given; None leaves it to the core."""

    mode: str | None = None
    profile: str | None = None
    model: str | None = None
    tokenizer: str | None = None
    budget: int | None = None


def read_defaults(folder: Path) -> Defaults:
    """The defaults of a folder, empty where it has no file. Raises ConfigError for what the file may not hold."""
    path = folder / FILE
    if not path.is_file():
        return Defaults()
    import tomllib

    try:
        found = tomllib.loads(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ConfigError(f"{FILE} cannot be read: {error}") from error
    _known(found, ("defaults", *OTHER_TABLES), "table")
    table = found.get("defaults", {})
    if not isinstance(table, dict):
        raise ConfigError(f"'defaults' of {FILE} is no table", hint='write [defaults] and below it mode = "text"')
    kinds = {field.name: int if field.name == "budget" else str for field in fields(Defaults)}
    _known(table, tuple(kinds), "key")
    for name, value in table.items():
        if type(value) is not kinds[name]:
            raise ConfigError(
                f"{name!r} of {FILE} is {value!r}; expected {'a number' if kinds[name] is int else 'a text'}"
            )
    return Defaults(**table)


def _known(table: dict[str, object], allowed: tuple[str, ...], what: str) -> None:
    for name in table:
        if name not in allowed:
            raise ConfigError(f"unknown {what} {name!r} in {FILE}", allowed=allowed)
