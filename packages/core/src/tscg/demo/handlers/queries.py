"""What the functions behind the tools share: failures, filters, words and pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tscg.demo.database import Database, Record
from tscg.demo.seed import Value

# The server has checked the arguments against the tool's schema, which says what stands under each name.
Arguments = Mapping[str, Any]
Handler = Callable[[Database, Arguments], Any]


class ToolFailure(Exception):
    """A tool cannot do what was asked; the text is the answer of the tool and is read by the model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Conditions of a WHERE clause and the values for their marks."""

    conditions: tuple[str, ...] = ()
    values: tuple[Value, ...] = ()

    def also(self, condition: str, *values: Value) -> Filter:
        """A filter with one more condition."""
        return Filter(conditions=(*self.conditions, condition), values=(*self.values, *values))

    @property
    def sql(self) -> str:
        """The conditions joined by AND; true when there are none."""
        return " AND ".join(self.conditions) or "1"


def by_arguments(arguments: Arguments, conditions: Mapping[str, str]) -> Filter:
    """The filter of those arguments that were given, by a table from argument to condition.

    >>> by_arguments({"status": "open", "limit": 5}, {"status": "status = ?", "assignee": "assignee = ?"}).sql
    'status = ?'
    """
    found = Filter()
    for name, condition in conditions.items():
        if name in arguments:
            found = found.also(condition, arguments[name])
    return found


def by_words(query: str, columns: Sequence[str]) -> Filter:
    """The filter that asks for every word of a query in one of the columns, regardless of case."""
    found = Filter()
    for word in query.split():
        # instr takes % and _ as plain characters, LIKE would not.
        condition = " OR ".join(f"instr(lower({column}), ?) > 0" for column in columns)
        found = found.also(f"({condition})", *[word.lower()] * len(columns))
    return found


def page(database: Database, arguments: Arguments, sql: str, *values: Value, size: int = 20) -> dict[str, Any]:
    """One page of a query: its entries, and the cursor of the next page if there is one."""
    limit = int(arguments.get("limit", size))
    start = int(str(arguments.get("cursor", "p0"))[1:])
    rows = database.rows(f"{sql} LIMIT ? OFFSET ?", *values, limit + 1, start)
    result: dict[str, Any] = {"items": rows[:limit]}
    if len(rows) > limit:
        result["next_cursor"] = f"p{start + limit}"
    return result


def existing(database: Database, table: str, key: str, identity: str, noun: str) -> Record:
    """The row with this key, or a failure that says what is missing."""
    row = database.row(f"SELECT * FROM {table} WHERE {key} = ?", identity)
    if row is None:
        raise ToolFailure(f"There is no {noun} {identity}.")
    return row


def utc(moment: str) -> str:
    """A moment of ISO 8601 as the database writes it, in UTC and to the second.

    >>> utc("2026-03-17T10:30:00+01:00")
    '2026-03-17T09:30:00Z'
    """
    try:
        read = datetime.fromisoformat(moment)
    except ValueError as error:
        raise ToolFailure(f"{moment!r} is not a moment of ISO 8601, such as 2026-03-17T09:00:00Z.") from error
    if read.tzinfo is None:
        raise ToolFailure(f"{moment!r} has no offset. Write for example {moment}Z.")
    return read.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def next_id(database: Database, table: str, prefix: str, digits: int) -> str:
    """The first free identifier of a table, one above the largest number in use."""
    largest = database.number(f"SELECT max(CAST(substr(id, ?) AS INTEGER)) FROM {table}", len(prefix) + 1)
    return f"{prefix}{largest + 1:0{digits}d}"
