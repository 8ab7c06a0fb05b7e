"""Writes a tuned row into a policy file, beside what the file already holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from tscg import ConfigError, Policy
from tscg_bench.stats import Comparison
from tscg_bench.tune_arms import Arm

__all__ = ["TunedRow", "write_row"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TunedRow:
    """What is written: the arm for a model, what it was measured against on held-out tasks, and notes for people."""

    model: str
    arm: Arm
    source: str
    date: str
    comparison: Comparison
    notes: Sequence[str] = ()

    def table(self) -> Any:
        """The ``[[model]]`` table, its notes as comments."""
        table = tomlkit.table()
        for note in self.notes:
            table.add(tomlkit.comment(" ".join(note.split())))
        table.add("id", self.model)
        table.add("mode", self.arm.mode)
        if self.arm.map:
            table.add("map", self.arm.map)
        table.add("profile", self.arm.profile)
        if self.arm.operators is not None:
            table.add("operators", list(self.arm.operators))
        evidence = tomlkit.table()
        interval = self.comparison.interval
        for name, value in {
            "source": self.source, "n": self.comparison.n, "date": self.date,
            "effect": round(self.comparison.difference, 4),
            "interval": [round(interval.low, 4), round(interval.high, 4)],
        }.items():  # fmt: skip
            evidence.add(name, value)
        table.add("evidence", evidence)
        return table


def write_row(path: Path, row: TunedRow) -> None:
    """Put a row into a file, in the place of an older one of the same model; all else stays as it is.

    The file is written whole or not at all. ConfigError for a file that is no policy.
    """
    if not all(map(math.isfinite, (row.comparison.interval.low, row.comparison.interval.high))):
        raise ConfigError(f"n = {row.comparison.n} is too small for an interval", hint="give more tasks")
    try:
        document = tomlkit.parse(path.read_text(encoding="utf-8")) if path.exists() else tomlkit.document()
    except (OSError, UnicodeDecodeError, TOMLKitError) as error:
        raise ConfigError(f"{path.name} cannot be read: {error}") from error
    if path.exists():
        Policy.load(path)  # what others wrote must be right before anything is added
    rows = document.get("model")
    kept = [one for one in rows if one.get("id") != row.model] if rows is not None else []
    made = tomlkit.aot()
    for table in (*kept, row.table()):
        made.append(table)
    document["model"] = made
    text = tomlkit.dumps(document)
    beside = path.with_name(f"{path.name}.new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(path)
