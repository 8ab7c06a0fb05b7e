"""The SQLite file behind the demo server, and what changed in it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Final

from tscg.demo import seed
from tscg.demo.seed import Value

# The moment at which the demo's world stands still, so that two runs write the same rows.
NOW: Final = "2026-03-16T09:00:00Z"
# The person on whose behalf every tool acts.
ME: Final = "sam"

Record = dict[str, Value]
Snapshot = Mapping[str, Mapping[int, Record]]


class Database:
    """A connection to one demo database; makes tables and rows if the file has none.

    A database of something else is a ValueError, a file that is no database an sqlite3.Error.

    >>> database = Database(":memory:")
    >>> database.rows("SELECT handle FROM people WHERE team = ?", "payments")
    [{'handle': 'mira'}]
    >>> database.close()
    """

    def __init__(self, path: str | Path) -> None:
        self._connection = sqlite3.connect(path)
        self._connection.row_factory = sqlite3.Row
        try:
            self._prepare()
        except (sqlite3.Error, ValueError):
            self.close()
            raise

    def close(self) -> None:
        """Close the file; whatever was not inside a finished transaction is lost."""
        self._connection.close()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Keep all changes of the block, or none of them if it raises."""
        with self._connection:
            yield

    def rows(self, sql: str, *values: Value) -> list[Record]:
        """All rows of a query as dicts."""
        return [dict(row) for row in self._connection.execute(sql, values)]

    def row(self, sql: str, *values: Value) -> Record | None:
        """The first row of a query, or None."""
        found = self.rows(sql, *values)
        return found[0] if found else None

    def number(self, sql: str, *values: Value) -> int:
        """The single integer that a query yields, 0 where it yields NULL."""
        return int(self._connection.execute(sql, values).fetchone()[0] or 0)

    def run(self, sql: str, *values: Value) -> int:
        """Run one statement and say how many rows it touched."""
        return self._connection.execute(sql, values).rowcount

    def insert(self, table: str, values: Mapping[str, Value]) -> None:
        """Insert one row; the names of table and columns come from our code, never from a caller."""
        columns = ", ".join(values)
        marks = ", ".join("?" for _ in values)
        self._connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", tuple(values.values()))

    def update(self, table: str, key: str, identity: str, values: Mapping[str, Value]) -> None:
        """Change columns of the one row whose column `key` equals `identity`."""
        changes = ", ".join(f"{column} = ?" for column in values)
        self._connection.execute(f"UPDATE {table} SET {changes} WHERE {key} = ?", (*values.values(), identity))

    def _prepare(self) -> None:
        self._connection.execute("PRAGMA foreign_keys = ON")
        present = {row["name"] for row in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not present:
            self._create()
        elif not present >= set(seed.TABLES):
            raise ValueError("the file belongs to something else, it lacks tables of the demo")

    def _create(self) -> None:
        self._connection.executescript(files("tscg.demo").joinpath("schema.sql").read_text("utf-8"))
        with self._connection:
            for table, rows in seed.TABLES.items():
                marks = ", ".join("?" for _ in rows[0])
                self._connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One row that differs between two snapshots: `before` is None for a new row, `after` for a deleted one."""

    table: str
    before: Record | None
    after: Record | None

    @property
    def fields(self) -> tuple[str, ...]:
        """The columns that differ, in the order of the table."""
        before, after = self.before or {}, self.after or {}
        return tuple(name for name in (after or before) if before.get(name) != after.get(name))


def snapshot(path: str | Path) -> Snapshot:
    """Every row of every table of a database file, by table and row number, read without locking it."""
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        tables = [
            row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")
        ]
        return {table: _by_row_number(connection, table) for table in tables}


def changes(before: Snapshot, after: Snapshot) -> Sequence[Change]:
    """The rows that were added, changed or deleted, by table in alphabetical order.

    >>> old = {"t": {1: {"a": 1, "b": 2}}}
    >>> [(c.table, c.fields) for c in changes(old, {"t": {1: {"a": 1, "b": 3}}})]
    [('t', ('b',))]
    """
    return [
        Change(table=table, before=old, after=new)
        for table in sorted({*before, *after})
        for number in sorted({*before.get(table, {}), *after.get(table, {})})
        if (old := before.get(table, {}).get(number)) != (new := after.get(table, {}).get(number))
    ]


def _by_row_number(connection: sqlite3.Connection, table: str) -> dict[int, Record]:
    rows = connection.execute(f'SELECT rowid AS "row number", * FROM "{table}"')
    return {row["row number"]: {name: row[name] for name in row.keys()[1:]} for row in rows}
