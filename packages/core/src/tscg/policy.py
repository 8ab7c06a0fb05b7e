"""Rows of one's own: what was measured for one's models, read from a file and put before the rows of the package."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

from tscg.errors import ConfigError
from tscg.models import FAMILIES, MIN_RUNS, Evidence, ModelRow, choose_profile, fits, read_id, row_of
from tscg.modes.options import MAPS, MODES
from tscg.profiles import PROFILES, Profile
from tscg.record import replace as changed

__all__ = ["OPERATORS", "Policy", "Tuned"]

OPERATORS = ("sdm", "tas", "dro", "cfl", "cfo", "cas", "sad", "ccp")
"""Operators that a row may list; ``tas``, the spelling, always runs."""
KEYS = ("id", "family", "version", "mode", "map", "profile", "operators", "evidence")
EVIDENCE = ("source", "n", "date", "effect", "interval")
OTHER_TABLES = ("defaults",)  # read by the command


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """A row of a file: an exact ``id``, or a ``family`` with its variants and a ``version`` ("4.7", "3..4", "" any).

    What is "" or None is left to the row of the package. ``operators`` lists those that run, of :data:`OPERATORS`;
    ``interval`` is that of the effect.
    """

    id: str = ""
    family: str = ""
    version: str = ""
    mode: str = ""
    map: str = ""
    profile: str = ""
    operators: tuple[str, ...] | None = None
    evidence: Evidence | None = None
    interval: tuple[float, float] | None = None

    @property
    def name(self) -> str:
        """What the row is for, in words."""
        return self.id or f"the family {self.family} {self.version}".rstrip()

    def is_for(self, model: str) -> bool:
        """Whether the row is one for a model."""
        last = model.rpartition("/")[2]
        if self.id:
            return self.id in (model, last, last.partition(":")[2])
        return fits(ModelRow(family=self.family, version=self.version, variants=True), read_id(model))

    def resolved(self, name: str) -> Profile:
        """The profile of that name with the operators of the row: the amounts of ``sad`` and ``ccp`` are those of
        ``aggressive`` where the profile has none."""
        profile = PROFILES[self.profile or name]
        if self.operators is None:
            return profile
        on, most = self.operators, PROFILES["aggressive"]
        made = changed(
            profile, sdm="sdm" in on, dro="dro" in on, cfl="cfl" in on, cfo="cfo" in on, cas="cas" in on,
            anchors=(profile.anchors or most.anchors) if "sad" in on else 0,
            anchor_tools=(profile.anchor_tools or most.anchor_tools) if "sad" in on else 0,
            closure=(profile.closure or most.closure) if "ccp" in on else 0,
        )  # fmt: skip
        return profile if made == profile else changed(made, name=f"{profile.name}, tuned")


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Rows of one's own. Given as ``profile`` it chooses as ``"auto"`` does, its rows first.

    >>> policy = Policy(rows=(Tuned(id="in-house", profile="brief"),))
    >>> policy.choose("in-house", 12)[0].name, policy.choose("gpt-4o", 12)[0].name
    ('brief', 'balanced')
    """

    rows: tuple[Tuned, ...] = ()
    file: str = ""

    @classmethod
    def load(cls, path: str | PathLike[str]) -> Policy:
        """The ``[[model]]`` tables of a TOML file. ConfigError for a file that cannot be read and for what it may not
        hold."""
        import tomllib
        from pathlib import Path

        name = Path(path).name
        try:
            found = tomllib.loads(Path(path).read_text("utf-8"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ConfigError(f"{name} cannot be read: {error}") from error
        _known(found, ("model", *OTHER_TABLES), f"table in {name}")
        tables = found.get("model", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise ConfigError(f"'model' of {name} is no list of tables", hint="begin each row with [[model]]")
        return cls(
            rows=tuple(_row(table, f"model {place} of {name}") for place, table in enumerate(tables, 1)), file=name
        )

    def tuned(self, model: str | None) -> Tuned | None:
        """The row for a model: one of its exact id, else the first of its family."""
        if not model:
            return None
        fitting = [row for row in self.rows if row.is_for(model)]
        return next((row for row in fitting if row.id), fitting[0] if fitting else None)

    def row(self, model: str | None) -> ModelRow:
        """The row of the package with what the file says of the model in its place."""
        base, mine = row_of(model), self.tuned(model)
        if mine is None:
            return base
        found = replace(base, reason=self._reason(mine), mode=mine.mode or base.mode, map=mine.map or base.map)
        found = replace(found, profile=mine.profile or base.profile, dispatch=base.dispatch or mine.mode == "dispatch")
        if mine.evidence is None:
            return found
        known = replace(found, evidence=(mine.evidence, *base.evidence))
        if mine.evidence.n < MIN_RUNS or not mine.mode:
            return known
        # What was measured here goes before what was found elsewhere.
        bad = tuple(one for one in base.bad if not one.meets(mine.mode, found.profile, found.map, found.handles))
        return replace(known, bad=bad)

    def choose(self, model: str | None, tools: int, context: int | None = None) -> tuple[Profile, str]:
        """The profile for a model and a number of tools, and the reason in words."""
        mine = self.tuned(model)
        if mine is not None and (mine.profile or mine.operators is not None):
            return mine.resolved(row_of(model).profile), self._reason(mine)
        name, reason = choose_profile(model, tools, context)
        return PROFILES[name], reason

    def _reason(self, row: Tuned) -> str:
        said = f"the row of {row.name} in {self.file}" if self.file else f"a row of one's own for {row.name}"
        if row.evidence is None:
            return f"{said}, without evidence"
        weak = f", fewer than {MIN_RUNS} runs" if row.evidence.n < MIN_RUNS else ""
        return f"{said} (n = {row.evidence.n}{f', {row.evidence.date}' if row.evidence.date else ''}{weak})"


def _row(table: Mapping[str, Any], where: str) -> Tuned:
    _known(table, KEYS, f"key in {where}")
    texts = {name: _text(table, name, where) for name in ("id", "family", "version", "mode", "map", "profile")}
    if bool(texts["id"]) == bool(texts["family"]):
        raise ConfigError(f"{where} needs an id or a family", hint='write id = "..." or family = "..."')
    if texts["id"] and texts["version"]:
        raise ConfigError(f"{where} has an id and a version", hint="a version goes with a family")
    modes = tuple(name for name in MODES)
    for name, allowed in (("mode", modes), ("map", MAPS), ("profile", tuple(PROFILES))):
        if texts[name] and texts[name] not in allowed:
            raise ConfigError(f"{name} of {where} is {texts[name]!r}", allowed=allowed)
    if texts["family"] and texts["family"] not in FAMILIES.values():
        raise ConfigError(f"family of {where} is {texts['family']!r}", allowed=tuple(dict.fromkeys(FAMILIES.values())))
    if texts["map"] and texts["mode"] not in ("", "dispatch"):
        raise ConfigError(f"{where} has a map and the mode {texts['mode']}", hint="a map goes with dispatch")
    _check_version(texts["version"], where)
    evidence, interval = _evidence(table, where, tuple(name for name in ("mode", "map", "profile") if texts[name]))
    return Tuned(**texts, operators=_operators(table, where), evidence=evidence, interval=interval)


def _check_version(version: str, where: str) -> None:
    parts = version.split("..") if version else []
    if len(parts) > 2 or not all(number.isdecimal() for part in parts for number in part.split(".")):
        raise ConfigError(f"version of {where} is {version!r}", allowed=("4.7", "3..4 (from 3 to before 4)"))


def _operators(table: Mapping[str, Any], where: str) -> tuple[str, ...] | None:
    if "operators" not in table:
        return None
    found = table["operators"]
    if not isinstance(found, list) or not all(name in OPERATORS for name in found):
        raise ConfigError(f"operators of {where} is {found!r}", allowed=OPERATORS, hint="list those that run")
    return tuple(name for name in OPERATORS if name in found)


def _evidence(
    table: Mapping[str, Any], where: str, of: tuple[str, ...]
) -> tuple[Evidence | None, tuple[float, float] | None]:
    if "evidence" not in table:
        return None, None
    found = table["evidence"]
    if not isinstance(found, dict):
        raise ConfigError(f"evidence of {where} is no table", hint="write [model.evidence] below the row")
    where = f"the evidence of {where}"
    _known(found, EVIDENCE, f"key in {where}")
    n, effect, date = found.get("n"), found.get("effect", 0.0), found.get("date", "")
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise ConfigError(f"n of {where} is {n!r}", hint="it is the number of runs, 1 or more")
    if not _is_number(effect):
        raise ConfigError(f"effect of {where} is {effect!r}", hint="it is a share, such as 0.06")
    interval = found.get("interval")
    if interval is not None and not (
        isinstance(interval, list) and len(interval) == 2 and all(map(_is_number, interval))
    ):
        raise ConfigError(f"interval of {where} is {interval!r}", hint="it is two numbers, such as [0.02, 0.1]")
    source = _text(found, "source", where)
    if not source:
        raise ConfigError(f"{where} names no source", hint='write source = "..."')
    made = Evidence(
        of=of, kind="measured", source=source, says="a measurement of one's own", n=n, effect=float(effect),
        date=str(date), record=source,
    )  # fmt: skip
    return made, None if interval is None else (float(interval[0]), float(interval[1]))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _text(table: Mapping[str, Any], name: str, where: str) -> str:
    value = table.get(name, "")
    if not isinstance(value, str):
        raise ConfigError(f"{name} of {where} is {value!r}", hint="expected a text")
    return value


def _known(table: Mapping[str, Any], allowed: tuple[str, ...], what: str) -> None:
    for name in table:
        if name not in allowed:
            raise ConfigError(f"unknown {what}: {name!r}", allowed=allowed)
