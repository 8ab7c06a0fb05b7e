"""The tools of the calendars, as data."""

from __future__ import annotations

from typing import Final

from tscg.demo.tools.shapes import (
    ATTENDEES,
    CALENDAR_ID,
    CURSOR,
    EMAIL,
    EVENT_ID,
    FROM,
    LIMIT,
    NOTIFY,
    REASON,
    TIME_ZONE,
    TO,
    Schema,
    ToolSpec,
    described,
    without_default,
)

TITLE: Final[Schema] = {
    "type": "string",
    "minLength": 2,
    "maxLength": 140,
    "description": "What the event is called in the calendar of everybody who is invited.",
}
DESCRIPTION: Final[Schema] = {
    "type": "string",
    "maxLength": 8000,
    "description": "The agenda or other details, in plain text. Attendees outside the company read it, too.",
}
LOCATION: Final[Schema] = {
    "type": "string",
    "maxLength": 200,
    "description": "A room, an address or a link to a video call.",
}
VISIBILITY: Final[Schema] = {
    "type": "string",
    "enum": ["default", "public", "private"],
    "default": "default",
    "description": (
        "Who sees the details: those who may read the calendar, everybody, or the attendees alone. A private event "
        "blocks the time but shows no title to others."
    ),
}
WINDOW: Final[Schema] = {
    "type": "object",
    "description": "The period in which to look. It must not be longer than 31 days.",
    "properties": {"from": FROM, "to": TO},
    "required": ["from", "to"],
    "additionalProperties": False,
}

CALENDAR: Final = (
    ToolSpec(
        name="list_calendars",
        title="List calendars",
        description=(
            "List the calendars that the user may see, with their owners and whether the user may write to them. There "
            "are only a few of them and they rarely change, so call this once in a conversation at most."
        ),
        properties={
            "writable_only": {
                "type": "boolean",
                "default": False,
                "description": "Whether to leave out calendars that can only be read. Defaults to false.",
            }
        },
        read_only=True,
    ),
    ToolSpec(
        name="list_events",
        title="List events of a period",
        description=(
            "List all events of one calendar in a period, in the order in which they begin. An event belongs to the "
            "period if it overlaps it by any amount, so an event that began earlier is listed as well. Repeating "
            "events are listed once, at their first date. To find an event by its title when the date is unknown, use "
            "search_events; to find a time at which several people are free, use find_free_slots, which knows their "
            "private events, while this tool shows only what the user may see."
        ),
        properties={
            "calendar_id": CALENDAR_ID,
            "from": FROM,
            "to": TO,
            "include_cancelled": {
                "type": "boolean",
                "default": False,
                "description": "Whether cancelled events are listed as well. Defaults to false.",
            },
            "time_zone": TIME_ZONE,
            "limit": LIMIT,
            "cursor": CURSOR,
        },
        required=("from", "to"),
        read_only=True,
    ),
    ToolSpec(
        name="search_events",
        title="Search events",
        description=(
            "Find events by words in title, description or location, or by an attendee, in all calendars that the user "
            "may see. At least one of query and attendee is needed. If the date is known and everything on that day is "
            "of interest, list_events is the better tool."
        ),
        properties={
            "query": {
                "type": "string",
                "minLength": 2,
                "maxLength": 200,
                "description": "Words that all have to occur, in any order and regardless of case.",
            },
            "attendee": described(EMAIL, "Only events to which the person with this e-mail address is invited."),
            "upcoming_only": {
                "type": "boolean",
                "default": True,
                "description": "Whether to leave out events that are over. Defaults to true.",
            },
            "limit": LIMIT,
            "cursor": CURSOR,
        },
        rules={"anyOf": [{"required": ["query"]}, {"required": ["attendee"]}]},
        read_only=True,
    ),
    ToolSpec(
        name="get_event",
        title="Read an event",
        description=(
            "Read one event with all details: attendees and their answers, how it repeats, and the user's reminders. "
            "The identifier comes from list_events or search_events. Details of a private event to which the user is "
            "not invited are withheld, only its times are returned."
        ),
        properties={"event_id": EVENT_ID, "time_zone": TIME_ZONE},
        required=("event_id",),
        read_only=True,
    ),
    ToolSpec(
        name="create_event",
        title="Create an event",
        description=(
            "Create an event with the user as organizer and send the invitations. Check first with find_free_slots "
            "that the required people have time; the calendar itself accepts overlapping events without a warning. "
            "Times carry their own offset. An event may repeat, end after a number of times or on a date, but not "
            "both. Never invite people from outside the company unless the user has named them, because the invitation "
            "shows the addresses of all attendees."
        ),
        properties={
            "calendar_id": CALENDAR_ID,
            "title": TITLE,
            "description": DESCRIPTION,
            "from": FROM,
            "to": TO,
            "location": LOCATION,
            "attendees": ATTENDEES,
            "visibility": VISIBILITY,
            "recurrence": {
                "type": "object",
                "description": "How the event repeats. Leave it out for an event that takes place once.",
                "properties": {
                    "frequency": {
                        "type": "string",
                        "enum": ["daily", "weekly", "monthly"],
                        "description": "The unit of the repetition.",
                    },
                    "interval": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": 52,
                        "default": 1,
                        "description": "How many units lie between two events, 2 with weekly for every other week.",
                    },
                    "weekdays": {
                        "type": "array",
                        "items": {"type": "string", "enum": ["mo", "tu", "we", "th", "fr", "sa", "su"]},
                        "uniqueItems": True,
                        "description": "Only with weekly: the days of the week. Defaults to that of the first event.",
                    },
                    "ends": {
                        "description": "When the repetition ends. Leave it out if it goes on for ever.",
                        "oneOf": [
                            {
                                "type": "object",
                                "properties": {
                                    "on": {"type": "string", "format": "date", "description": "The last possible day."}
                                },
                                "required": ["on"],
                                "additionalProperties": False,
                            },
                            {
                                "type": "object",
                                "properties": {
                                    "after": {
                                        "type": "integer",
                                        "minimum": 1,
                                        "maximum": 365,
                                        "description": "The number of events in total.",
                                    }
                                },
                                "required": ["after"],
                                "additionalProperties": False,
                            },
                        ],
                    },
                },
                "required": ["frequency"],
                "additionalProperties": False,
            },
            "reminders": {
                "type": "array",
                "maxItems": 5,
                "description": "When the user is reminded. Other attendees have their own settings.",
                "items": {
                    "type": "object",
                    "properties": {
                        "method": {
                            "type": "string",
                            "enum": ["popup", "email"],
                            "description": "How the reminder is shown.",
                        },
                        "minutes_before": {
                            "type": "integer",
                            "minimum": 0,
                            "maximum": 40320,
                            "description": "Minutes between the reminder and the beginning of the event.",
                        },
                    },
                    "required": ["method", "minutes_before"],
                    "additionalProperties": False,
                },
            },
        },
        required=("title", "from", "to"),
    ),
    ToolSpec(
        name="update_event",
        title="Change an event",
        description=(
            "Change an event of which the user is the organizer. Only the fields that you send are changed. The list "
            "of attendees is changed by adding and removing people, so that the answers of those who stay are kept. "
            "When the times change, all answers are reset and everybody is asked again. To call the event off use "
            "cancel_event; to accept or decline an invitation use respond_to_event."
        ),
        properties={
            "event_id": EVENT_ID,
            "title": TITLE,
            "description": DESCRIPTION,
            "from": FROM,
            "to": TO,
            "location": LOCATION,
            "visibility": without_default(VISIBILITY),
            "add_attendees": ATTENDEES,
            "remove_attendees": {
                "type": "array",
                "items": EMAIL,
                "uniqueItems": True,
                "description": "E-mail addresses of people who are no longer invited.",
            },
            "notify": NOTIFY,
        },
        required=("event_id",),
        rules={"minProperties": 2, "dependentRequired": {"from": ["to"], "to": ["from"]}},
        idempotent=True,
    ),
    ToolSpec(
        name="cancel_event",
        title="Cancel an event",
        description=(
            "Call an event off for everybody. The event stays in the calendars, marked as cancelled, and all attendees "
            "get a message with the reason. This cannot be taken back: a cancelled event has to be created anew. Never "
            "cancel an event that has attendees other than the user without the user's explicit consent. If only the "
            "user does not take part, use respond_to_event with declined."
        ),
        properties={"event_id": EVENT_ID, "reason": REASON, "notify": NOTIFY},
        required=("event_id", "reason"),
        destructive=True,
    ),
    ToolSpec(
        name="respond_to_event",
        title="Answer an invitation",
        description=(
            "Accept or decline an invitation in the name of the user, or answer that it is not yet certain. The "
            "organizer gets a message. An earlier answer is replaced. Fails if the user is not invited."
        ),
        properties={
            "event_id": EVENT_ID,
            "response": {
                "type": "string",
                "enum": ["accepted", "declined", "tentative"],
                "description": "The user's answer.",
            },
        },
        required=("event_id", "response"),
        idempotent=True,
    ),
    ToolSpec(
        name="find_free_slots",
        title="Find a time for a meeting",
        description=(
            "Find times at which all the given people are free, earliest first. The tool looks into all calendars, "
            "private events included, but returns nothing about what people do at other times. Slots begin at full and "
            "half hours and lie within the working hours given. If nothing is found, make the window larger or the "
            "meeting shorter before you ask the user to move something else."
        ),
        properties={
            "attendees": {
                "type": "array",
                "items": EMAIL,
                "minItems": 1,
                "maxItems": 20,
                "uniqueItems": True,
                "description": "E-mail addresses of all who have to be free. Include the user if the user takes part.",
            },
            "duration_minutes": {
                "type": "integer",
                "minimum": 15,
                "maximum": 480,
                "multipleOf": 15,
                "description": "How long the meeting takes, in steps of a quarter of an hour.",
            },
            "window": WINDOW,
            "working_hours": {
                "type": "object",
                "description": "The hours of the day to stay within, in UTC. Defaults to 07:00 to 17:00.",
                "properties": {
                    "start": {
                        "type": "string",
                        "pattern": "^([01][0-9]|2[0-3]):(00|30)$",
                        "default": "07:00",
                        "description": "The earliest beginning, as HH:MM at a full or half hour.",
                    },
                    "end": {
                        "type": "string",
                        "pattern": "^([01][0-9]|2[0-3]):(00|30)$",
                        "default": "17:00",
                        "description": "The latest end, as HH:MM at a full or half hour.",
                    },
                },
                "additionalProperties": False,
            },
            "limit": described({**LIMIT, "maximum": 20, "default": 5}, "The most slots to return. Defaults to 5."),
        },
        required=("attendees", "duration_minutes", "window"),
        read_only=True,
    ),
)
