"""The functions behind the tools of the calendars."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from tscg.demo.database import ME, NOW, Database, Record
from tscg.demo.handlers.queries import (
    Arguments,
    Filter,
    Handler,
    ToolFailure,
    by_words,
    existing,
    next_id,
    page,
    utc,
)

ENTRY: Final = "SELECT id AS event_id, calendar_id, title, starts_at, ends_at, location, status, visibility FROM events"
MY_ADDRESS: Final = "sam@fernhill.example"
HALF_HOUR: Final = timedelta(minutes=30)
LONGEST_WINDOW: Final = timedelta(days=31)


def list_calendars(database: Database, arguments: Arguments) -> Any:
    """The calendars and whether they can be written."""
    only = "WHERE writable = 1" if arguments.get("writable_only", False) else ""
    rows = database.rows(f"SELECT id AS calendar_id, name, owner, writable FROM calendars {only} ORDER BY id")
    return {"items": [{**row, "writable": bool(row["writable"])} for row in rows]}


def list_events(database: Database, arguments: Arguments) -> Any:
    """Events of one calendar that overlap a period."""
    start, end = _period(arguments)
    calendar = arguments.get("calendar_id", "cal-sam")
    chosen = Filter().also("calendar_id = ?", calendar).also("starts_at < ?", end).also("ends_at > ?", start)
    if not arguments.get("include_cancelled", False):
        chosen = chosen.also("status <> 'cancelled'")
    found = page(database, arguments, f"{ENTRY} WHERE {chosen.sql} ORDER BY starts_at, id", *chosen.values)
    zone = _zone(arguments)
    return {**found, "items": [_local(_veiled(database, event), zone) for event in found["items"]]}


def search_events(database: Database, arguments: Arguments) -> Any:
    """Events by words or by an attendee."""
    chosen = by_words(arguments.get("query", ""), ("title", "description", "coalesce(location, '')"))
    # What is private cannot be found by its words either, unless the user is invited.
    chosen = chosen.also(
        "(visibility <> 'private' OR id IN (SELECT event_id FROM attendees WHERE email = ?))", MY_ADDRESS
    )
    if "attendee" in arguments:
        chosen = chosen.also("id IN (SELECT event_id FROM attendees WHERE email = ?)", arguments["attendee"])
    if arguments.get("upcoming_only", True):
        chosen = chosen.also("ends_at >= ?", NOW)
    return page(database, arguments, f"{ENTRY} WHERE {chosen.sql} ORDER BY starts_at, id", *chosen.values)


def get_event(database: Database, arguments: Arguments) -> Any:
    """One event, or only its times if it is private to others."""
    event = existing(database, "events", "id", arguments["event_id"], "event")
    zone = _zone(arguments)
    if _hidden(database, event):
        return _local({"event_id": event["id"], "starts_at": event["starts_at"], "ends_at": event["ends_at"]}, zone)
    attendees = "SELECT email, role, response FROM attendees WHERE event_id = ? ORDER BY email"
    parts = {name: json.loads(str(event[name])) for name in ("recurrence", "reminders") if event[name]}
    return {**_local(event, zone), "attendees": database.rows(attendees, str(event["id"])), **parts}


def create_event(database: Database, arguments: Arguments) -> Any:
    """A new event with its invitations."""
    calendar = existing(database, "calendars", "id", arguments.get("calendar_id", "cal-sam"), "calendar")
    if not calendar["writable"]:
        raise ToolFailure(f"The calendar {calendar['id']} can only be read.")
    start, end = _period(arguments)
    identity = next_id(database, "events", "evt-", 4)
    texts = {name: arguments[name] for name in ("description", "location", "visibility") if name in arguments}
    lists = {name: json.dumps(arguments[name]) for name in ("recurrence", "reminders") if name in arguments}
    event = {"id": identity, "calendar_id": calendar["id"], "title": arguments["title"], "starts_at": start}
    database.insert("events", {**event, "ends_at": end, **texts, **lists})
    database.run("INSERT INTO attendees VALUES (?, ?, 'required', 'accepted')", identity, MY_ADDRESS)
    _invite(database, identity, arguments.get("attendees", ()))
    return get_event(database, {"event_id": identity})


def update_event(database: Database, arguments: Arguments) -> Any:
    """An event of the user with some fields changed."""
    identity = _own_event(database, arguments["event_id"])
    values = {name: arguments[name] for name in ("title", "description", "location", "visibility") if name in arguments}
    if "from" in arguments:
        values["starts_at"], values["ends_at"] = _period(arguments)
        asked = "UPDATE attendees SET response = 'needs_action' WHERE event_id = ? AND email <> ?"
        database.run(asked, identity, MY_ADDRESS)
    if values:
        database.update("events", "id", identity, values)
    _invite(database, identity, arguments.get("add_attendees", ()))
    for email in arguments.get("remove_attendees", ()):
        database.run("DELETE FROM attendees WHERE event_id = ? AND email = ?", identity, email)
    return get_event(database, {"event_id": identity})


def cancel_event(database: Database, arguments: Arguments) -> Any:
    """Mark an event of the user as cancelled."""
    identity = _own_event(database, arguments["event_id"])
    database.update("events", "id", identity, {"status": "cancelled"})
    told = database.rows("SELECT email FROM attendees WHERE event_id = ? AND email <> ?", identity, MY_ADDRESS)
    notified = [row["email"] for row in told] if arguments.get("notify", True) else []
    return {"event_id": identity, "status": "cancelled", "reason": arguments["reason"], "notified": notified}


def respond_to_event(database: Database, arguments: Arguments) -> Any:
    """The user's answer to an invitation."""
    identity, response = arguments["event_id"], arguments["response"]
    existing(database, "events", "id", identity, "event")
    answer = "UPDATE attendees SET response = ? WHERE event_id = ? AND email = ?"
    if not database.run(answer, response, identity, MY_ADDRESS):
        raise ToolFailure(f"{ME} is not invited to {identity}.")
    return {"event_id": identity, "response": response}


def find_free_slots(database: Database, arguments: Arguments) -> Any:
    """Times at which nobody of the attendees has an event."""
    start, end = (datetime.fromisoformat(moment) for moment in _period(arguments["window"]))
    if end - start > LONGEST_WINDOW:
        raise ToolFailure("The window is longer than 31 days.")
    hours = arguments.get("working_hours", {})
    earliest, latest = hours.get("start", "07:00"), hours.get("end", "17:00")
    length = timedelta(minutes=arguments["duration_minutes"])
    busy = [period for email in arguments["attendees"] for period in _busy(database, email, start, end)]
    slots: list[dict[str, str]] = []
    begin = start + (datetime.min.replace(tzinfo=start.tzinfo) - start) % HALF_HOUR
    while begin + length <= end and len(slots) < arguments.get("limit", 5):
        finish = begin + length
        in_hours = (
            begin.date() == finish.date() and begin.strftime("%H:%M") >= earliest and finish.strftime("%H:%M") <= latest
        )
        if in_hours and all(finish <= taken_from or begin >= taken_to for taken_from, taken_to in busy):
            slots.append({"from": utc(begin.isoformat()), "to": utc(finish.isoformat())})
        begin += HALF_HOUR
    return {"slots": slots}


def _period(arguments: Arguments) -> tuple[str, str]:
    start, end = utc(arguments["from"]), utc(arguments["to"])
    if end <= start:
        raise ToolFailure("The end of the period is not later than its beginning.")
    return start, end


def _busy(database: Database, email: str, start: datetime, end: datetime) -> list[tuple[datetime, datetime]]:
    sql = (
        "SELECT starts_at, ends_at FROM events JOIN attendees ON event_id = id WHERE email = ? AND response <> "
        "'declined' AND status <> 'cancelled' AND starts_at < ? AND ends_at > ?"
    )
    rows = database.rows(sql, email, utc(end.isoformat()), utc(start.isoformat()))
    return [(datetime.fromisoformat(str(r["starts_at"])), datetime.fromisoformat(str(r["ends_at"]))) for r in rows]


def _own_event(database: Database, identity: str) -> str:
    event = existing(database, "events", "id", identity, "event")
    calendar = existing(database, "calendars", "id", str(event["calendar_id"]), "calendar")
    if calendar["owner"] != ME:
        raise ToolFailure(f"Only {calendar['owner']}, whose calendar {calendar['id']} is, can change {identity}.")
    if event["status"] == "cancelled":
        raise ToolFailure(f"{identity} has been cancelled.")
    return identity


def _invite(database: Database, identity: str, people: Any) -> None:
    for person in people:
        sql = "INSERT OR IGNORE INTO attendees (event_id, email, role) VALUES (?, ?, ?)"
        database.run(sql, identity, person["email"], person.get("role", "required"))


def _hidden(database: Database, event: Record) -> bool:
    if event["visibility"] != "private":
        return False
    identity = event.get("id", event.get("event_id"))
    return database.row("SELECT 1 FROM attendees WHERE event_id = ? AND email = ?", identity, MY_ADDRESS) is None


def _veiled(database: Database, event: Record) -> Record:
    if _hidden(database, event):
        return {name: event[name] for name in ("event_id", "calendar_id", "starts_at", "ends_at", "visibility")}
    return event


def _zone(arguments: Arguments) -> tzinfo:
    name = arguments.get("time_zone", "UTC")
    if name == "UTC":
        return UTC  # Known without a time zone database, which small containers lack.
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError) as error:
        raise ToolFailure(f"There is no time zone {name!r}. Use an IANA name such as Europe/Berlin.") from error


def _local(event: Record, zone: tzinfo) -> Record:
    if zone is UTC:
        return event
    times = {
        name: datetime.fromisoformat(str(event[name])).astimezone(zone).isoformat() for name in ("starts_at", "ends_at")
    }
    return {**event, **times}


CALENDAR: Final[dict[str, Handler]] = {
    function.__name__: function
    for function in (
        list_calendars,
        list_events,
        search_events,
        get_event,
        create_event,
        update_event,
        cancel_event,
        respond_to_event,
        find_free_slots,
    )
}
