"""What the tools of the demo share: the form of a tool, and the parameters that many of them repeat.

A parameter that several tools take is written once here and repeated in every schema, as real servers do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

Schema = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """One tool as data; the function that runs it is found by its name in `tscg.demo.handlers`."""

    name: str
    title: str
    description: str
    properties: Mapping[str, Schema]
    required: Sequence[str] = ()
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False
    rules: Schema = field(default_factory=dict)

    def to_mcp(self) -> dict[str, Any]:
        """The tool as one entry of an MCP `tools/list` result, in JSON values."""
        schema = {
            "type": "object",
            "properties": dict(self.properties),
            **({"required": list(self.required)} if self.required else {}),
            **self.rules,
            "additionalProperties": False,
        }
        hints = {
            "title": self.title,
            "readOnlyHint": self.read_only,
            "destructiveHint": self.destructive,
            "idempotentHint": self.idempotent or self.read_only,
            "openWorldHint": False,
        }
        return {"name": self.name, "description": self.description, "inputSchema": schema, "annotations": hints}


LIMIT: Final[Schema] = {
    "type": "integer",
    "minimum": 1,
    "maximum": 100,
    "default": 20,
    "description": (
        "The maximum number of entries to return in a single page. Larger pages take longer and fill the context, "
        "so ask only for as many as you are going to read. Defaults to 20."
    ),
}
CURSOR: Final[Schema] = {
    "type": "string",
    "pattern": "^p[0-9]+$",
    "description": (
        "An opaque position in the list, taken from the field next_cursor of the previous page. Leave it out to get "
        "the first page. A cursor is only valid together with the same filters it was returned for."
    ),
}
DIRECTION: Final[Schema] = {
    "type": "string",
    "enum": ["asc", "desc"],
    "default": "desc",
    "description": "Whether to sort in ascending (asc) or in descending (desc) order. Defaults to desc.",
}
TIME_ZONE: Final[Schema] = {
    "type": "string",
    "minLength": 3,
    "maxLength": 64,
    "default": "UTC",
    "description": (
        "The name of a time zone from the IANA database, for example Europe/Berlin, in which the times of the answer "
        "are written. It has no influence on how the times that you send are read, these carry their own offset."
    ),
}
CONFIRM: Final[Schema] = {
    "type": "boolean",
    "const": True,
    "description": (
        "Must be true. Set it only after you have told the user exactly what is going to be lost and the user has "
        "explicitly agreed in this conversation."
    ),
}
REASON: Final[Schema] = {
    "type": "string",
    "minLength": 3,
    "maxLength": 500,
    "description": "Why this is done, in a sentence that a colleague will understand in a year. It is kept in the log.",
}
NOTIFY: Final[Schema] = {
    "type": "boolean",
    "default": True,
    "description": (
        "Whether the people concerned get a message about this change. Turn it off only for corrections that nobody "
        "needs to hear about. Defaults to true."
    ),
}

PROJECT: Final[Schema] = {
    "type": "string",
    "enum": ["SHOP", "WARE"],
    "description": (
        "The key of the project: SHOP is the web shop with everything that customers see, WARE is the warehouse with "
        "its devices and processes."
    ),
}
ISSUE_KEY: Final[Schema] = {
    "type": "string",
    "pattern": "^(SHOP|WARE)-[1-9][0-9]*$",
    "description": "The key of the issue, which is the project's key, a hyphen and a number, for example SHOP-14.",
}
HANDLE: Final[Schema] = {
    "type": "string",
    "pattern": "^[a-z]{2,20}$",
    "description": "The short lower-case handle of a colleague, for example mira. It is not the full name or e-mail.",
}
PRIORITY: Final[Schema] = {
    "type": "string",
    "enum": ["low", "medium", "high", "urgent"],
    "description": (
        "How soon the issue has to be dealt with. Use urgent only when customers cannot buy or the warehouse cannot "
        "ship, because it alerts the person on call at any hour."
    ),
}
LABELS: Final[Schema] = {
    "type": "array",
    "items": {"type": "string", "pattern": "^[a-z][a-z0-9-]{1,29}$"},
    "uniqueItems": True,
    "maxItems": 10,
    "description": "Labels in lower case, words joined by hyphens, for example good-first.",
}
DUE_ON: Final[Schema] = {
    "type": "string",
    "format": "date",
    "description": "The day by which the work should be done, as YYYY-MM-DD.",
}
RELATION: Final[Schema] = {
    "type": "string",
    "enum": ["blocks", "is_blocked_by", "duplicates", "relates_to", "causes"],
    "description": "How the first issue stands to the second one, read from the first: SHOP-1 blocks SHOP-2.",
}

EVENT_ID: Final[Schema] = {
    "type": "string",
    "pattern": "^evt-[0-9]{4,}$",
    "description": "The identifier of the event as returned by list_events or search_events, for example evt-1001.",
}
CALENDAR_ID: Final[Schema] = {
    "type": "string",
    "enum": ["cal-sam", "cal-mira", "cal-team", "cal-holidays"],
    "default": "cal-sam",
    "description": "The calendar to work on. Defaults to the user's own calendar. Use list_calendars to see them all.",
}
FROM: Final[Schema] = {
    "type": "string",
    "format": "date-time",
    "description": "The beginning of the period, in ISO 8601 with an offset, for example 2026-03-17T09:00:00Z.",
}
TO: Final[Schema] = {
    "type": "string",
    "format": "date-time",
    "description": "The end of the period, in ISO 8601 with an offset. It must be later than the beginning.",
}
EMAIL: Final[Schema] = {"type": "string", "format": "email", "description": "The full e-mail address of a person."}
ATTENDEES: Final[Schema] = {
    "type": "array",
    "minItems": 1,
    "maxItems": 50,
    "description": "The people to invite. The organizer is always part of the event and need not be listed.",
    "items": {
        "type": "object",
        "properties": {
            "email": EMAIL,
            "role": {
                "type": "string",
                "enum": ["required", "optional"],
                "default": "required",
                "description": "Whether the event can take place without this person. Defaults to required.",
            },
        },
        "required": ["email"],
        "additionalProperties": False,
    },
}

PATH: Final[Schema] = {
    "type": "string",
    "pattern": "^/[^\\u0000]*$",
    "maxLength": 400,
    "description": (
        "An absolute path in the shared file store, with forward slashes and a leading one, for example "
        "/warehouse/packing-notes.md. Paths are case-sensitive and are never relative."
    ),
}
MIME_TYPE: Final[Schema] = {
    "type": "string",
    "enum": ["text/plain", "text/markdown", "text/csv", "application/json"],
    "description": "The media type of the file. The store holds text only.",
}

ORDER_ID: Final[Schema] = {
    "type": "string",
    "pattern": "^ord-[0-9]{5}$",
    "description": "The number of the order as printed on the invoice, for example ord-50231.",
}
ORDER_STATUS: Final[Schema] = {
    "type": "string",
    "enum": ["pending_payment", "paid", "shipped", "delivered", "cancelled"],
    "description": (
        "The state of the order. An order that is paid but not yet shipped is still in the warehouse and may be "
        "changed; from shipped on it is in the hands of the carrier."
    ),
}
SKU: Final[Schema] = {
    "type": "string",
    "pattern": "^[A-Z]{3}-[0-9]{4}$",
    "description": "The stock keeping unit, three capitals, a hyphen and four digits, for example TEA-0042.",
}
QUANTITY: Final[Schema] = {
    "type": "integer",
    "minimum": 1,
    "maximum": 999,
    "description": "The number of pieces. Larger quantities are handled by the sales team and are refused here.",
}
LINES: Final[Schema] = {
    "type": "array",
    "minItems": 1,
    "maxItems": 40,
    "description": "The articles concerned. Each article may be listed only once.",
    "items": {
        "type": "object",
        "properties": {"sku": SKU, "quantity": QUANTITY},
        "required": ["sku", "quantity"],
        "additionalProperties": False,
    },
}
ADDRESS: Final[Schema] = {
    "type": "object",
    "description": "A complete postal address. All parts are replaced together, nothing of an older one is kept.",
    "properties": {
        "recipient": {"type": "string", "minLength": 2, "maxLength": 80, "description": "The name on the parcel."},
        "street": {"type": "string", "minLength": 3, "maxLength": 120, "description": "Street and house number."},
        "postal_code": {
            "type": "string",
            "pattern": "^[A-Z0-9][A-Z0-9 -]{2,9}$",
            "description": "The postal code as it is written in the country of destination.",
        },
        "city": {"type": "string", "minLength": 1, "maxLength": 80, "description": "The city or town."},
        "country": {
            "type": "string",
            "pattern": "^[A-Z]{2}$",
            "description": "The country of destination as a two-letter code of ISO 3166, in capitals, for example DE.",
        },
    },
    "required": ["recipient", "street", "postal_code", "city", "country"],
    "additionalProperties": False,
}
REFUND_METHOD: Final[Schema] = {
    "type": "string",
    "enum": ["original_payment", "store_credit"],
    "default": "original_payment",
    "description": "Where the money goes: back the way it came, or to the customer's account. Defaults to the former.",
}


def described(schema: Schema, text: str) -> Schema:
    """The same schema with another description."""
    return {**schema, "description": text}


def without_default(schema: Schema) -> Schema:
    """The same schema for a place where leaving the value out means something else."""
    return {key: value for key, value in schema.items() if key != "default"}
