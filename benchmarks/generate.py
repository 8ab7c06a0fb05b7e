"""A seeded generator of tool lists that look like those of real MCP servers, of any size.

Names are made of a verb, a thing and sometimes a qualifier, in clusters that are easily confused (`list_open_invoices`,
`search_invoices`). Parameters repeat over the tools of one thing, as they do in real servers; a third of the tools nest
objects or arrays. The same count and seed give the same list, and a longer list begins with the shorter one.
"""

from __future__ import annotations

import random
from typing import Any

Tool = dict[str, Any]

VERBS = {
    "list": "List {things} that match the given filters, newest first. Returns at most one page.",
    "get": "Get one {thing} by its id, with all of its fields.",
    "search": "Search {things} by free text. Use this tool when the id of the {thing} is not known.",
    "create": "Create a new {thing}. This tool returns the id of the {thing} that was created.",
    "update": "Update fields of an existing {thing}. Fields that are not given keep their values.",
    "delete": "Delete a {thing} permanently. You MUST ask the user for confirmation before calling this tool.",
    "archive": "Archive a {thing}, so that it no longer appears in lists. It can be restored later.",
    "assign": "Assign a {thing} to one or more members of the team. Do not assign it to members who have left.",
    "export": "Export {things} to a file in the given format. This may take a while for large exports.",
    "comment_on": "Add a comment to a {thing}. Please note that comments are visible to every member.",
}
QUALIFIERS = ("", "open", "team", "draft", "overdue", "shared", "linked", "external", "scheduled", "legacy")
THINGS = (
    "issue", "invoice", "order", "customer", "shipment", "contract", "meeting", "calendar", "document", "folder",
    "deployment", "cluster", "pipeline", "release", "incident", "alert", "dashboard", "report", "ticket", "payment",
    "refund", "subscription", "campaign", "contact", "lead", "message", "channel", "thread", "project", "milestone",
    "branch", "commit", "review", "webhook", "token", "role", "policy", "asset", "warehouse", "supplier",
)  # fmt: skip
SERVERS = ("core", "billing", "ops", "support", "sales", "media", "legal", "lab", "field", "archive")


def _filters(rng: random.Random, thing: str) -> dict[str, Any]:
    return {
        "query": {"type": "string", "description": f"Text to look for in the title and body of the {thing}"},
        "status": {
            "type": "string",
            "enum": rng.sample(["open", "closed", "pending", "archived", "in progress", "blocked"], 4),
            "description": f"Only {_plural(thing)} with this status",
        },
        "created_after": {"type": "string", "format": "date-time", "description": "Start of the time range (ISO 8601)"},
        "sort": {"type": "string", "enum": ["created", "updated", "priority"], "default": "created"},
        "page": {"type": "integer", "minimum": 1, "default": 1, "description": "Page number for pagination (min 1)"},
        "per_page": {"type": "integer", "minimum": 1, "maximum": 100, "description": "Results per page (max 100)"},
    }


def _fields(rng: random.Random, thing: str) -> dict[str, Any]:
    return {
        "title": {"type": "string", "minLength": 1, "maxLength": 200, "description": f"The title of the {thing}"},
        "body": {"type": "string", "description": "Contents in Markdown. For example: '## Steps\n1. Open the page'"},
        "priority": {"type": "string", "enum": ["low", "normal", "high", "urgent"], "default": "normal"},
        "amount": {"type": "number", "exclusiveMinimum": 0, "description": "Amount in euros, at most two decimals"},
        "labels": {"type": "array", "items": {"type": "string"}, "maxItems": rng.choice([5, 10, 20])},
        "due_date": {"type": ["string", "null"], "format": "date", "description": "Due date (YYYY-MM-DD), or null"},
        "notify": {"type": "boolean", "description": "Whether to notify the watchers. Defaults to false."},
    }


def _nested(rng: random.Random, thing: str) -> dict[str, Any]:
    member = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": "^[A-Z]{2}-[0-9]+$", "description": "Member id, such as AB-12"},
            "role": {"type": "string", "enum": ["owner", "editor", "viewer"]},
            "since": {"type": "string", "format": "date"},
        },
        "required": ["id"],
        "additionalProperties": False,
    }
    target = {
        "anyOf": [{"type": "string"}, {"type": "integer", "minimum": 1}],
        "description": f"Id or number of one {thing}",
    }
    options = {
        "type": "object",
        "description": "How to carry it out",
        "properties": {"dry_run": {"type": "boolean", "default": False}, "retries": {"type": "integer", "maximum": 9}},
    }
    return {
        "members": {"type": "array", "items": member, "minItems": 1, "description": "Members and their roles"},
        "related": {"type": "array", "items": target, "maxItems": rng.choice([3, 8])},
        "options": options,
        "metadata": {"type": "object", "additionalProperties": {"type": "string"}},
    }


def _plural(thing: str) -> str:
    """More than one thing.

    >>> _plural("policy"), _plural("branch"), _plural("order")
    ('policies', 'branches', 'orders')
    """
    if thing.endswith("y"):
        return f"{thing[:-1]}ies"
    return f"{thing}es" if thing.endswith("ch") else f"{thing}s"


def _name(index: int) -> tuple[str, str, str]:
    """Verb, qualifier and thing of the tool at a place; tools that follow each other share the thing."""
    verbs = list(VERBS)
    verb, rest = verbs[index % len(verbs)], index // len(verbs)
    thing, rest = THINGS[rest % len(THINGS)], rest // len(THINGS)
    qualifier, rest = QUALIFIERS[rest % len(QUALIFIERS)], rest // len(QUALIFIERS)
    # Beyond verbs x things x qualifiers (4,000) the names go on with the part of the company.
    scope = SERVERS[(rest - 1) % len(SERVERS)] + ("" if rest <= len(SERVERS) else str(rest)) if rest else ""
    return verb, "_".join(part for part in (scope, qualifier) if part), thing


def tool(index: int, seed: int = 7) -> Tool:
    """The tool at a place of the endless list of a seed, in MCP form.

    >>> tool(0)["name"], tool(41)["name"]
    ('list_issues', 'get_shipment')
    """
    verb, qualifier, thing = _name(index)
    things = _plural(thing)
    rng = random.Random(f"{seed}/{index}")
    many = verb in {"list", "search", "export"}
    pool = _filters(rng, thing) if many else _fields(rng, thing)
    chosen = dict(rng.sample(sorted(pool.items()), rng.randint(2, len(pool))))
    if index % 3 == 0:
        chosen |= dict(rng.sample(sorted(_nested(rng, thing).items()), rng.randint(1, 3)))
    properties = {"workspace": {"type": "string", "description": "Name of the workspace"}}
    if not many and verb != "create":
        properties[f"{thing}_id"] = {"type": "string", "description": f"The unique identifier of the {thing}"}
    required = [*properties, *rng.sample(sorted(chosen), 1)]
    description = VERBS[verb].format(thing=thing, things=things)
    if qualifier:
        description += f" Applies to {qualifier.replace('_', ' ')} {things} only."
    return {
        "name": "_".join(part for part in (verb, qualifier, things if many else thing) if part),
        "description": description,
        "inputSchema": {"type": "object", "properties": properties | chosen, "required": required},
        "annotations": {"readOnlyHint": many or verb == "get", "destructiveHint": verb == "delete"},
    }


def catalog(count: int, seed: int = 7) -> list[Tool]:
    """The first tools of the list of a seed; their names are all different.

    >>> tools = catalog(10_000)
    >>> len({tool["name"] for tool in tools})
    10000
    >>> catalog(3) == tools[:3]
    True
    """
    return [tool(index, seed) for index in range(count)]


def arguments(schema: dict[str, Any]) -> dict[str, Any]:
    """Valid arguments for a generated tool: one value for each parameter.

    >>> arguments({"properties": {"n": {"type": "integer", "minimum": 1}, "s": {"enum": ["a", "b"]}}})
    {'n': 1, 's': 'a'}
    """
    return {name: _value(part) for name, part in schema.get("properties", {}).items()}


SAMPLES = {"date": "2026-03-04", "date-time": "2026-03-04T05:06:07Z"}


def _value(schema: dict[str, Any]) -> Any:
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _value(schema["anyOf"][0])
    kind = schema["type"][0] if isinstance(schema["type"], list) else schema["type"]
    if kind == "string":
        return (
            "AB-12" if "pattern" in schema else SAMPLES.get(schema.get("format", ""), 'Two words, "quoted"\nand a line')
        )
    if kind == "array":
        return [_value(schema["items"])] * max(2, schema.get("minItems", 0))
    if kind == "object":
        return arguments(schema) or {"key": "value"}
    if kind == "boolean":
        return True
    return schema.get("minimum", 1)
