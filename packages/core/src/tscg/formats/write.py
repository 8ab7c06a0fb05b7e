"""From a tool back to each format."""

from __future__ import annotations

from typing import Any

from tscg.errors import ConfigError
from tscg.formats.forms import is_gemini
from tscg.ir import Tool

__all__ = ["FORMATS", "render"]

FORMATS = ("openai", "openai_responses", "anthropic", "mcp", "gemini", "plain")

# Members beside name, description and schema that a format knows; the plain form takes any.
FIELDS: dict[str, frozenset[str]] = {
    "openai": frozenset({"strict"}),
    "openai_responses": frozenset({"strict", "defer_loading"}),
    "anthropic": frozenset(
        {"strict", "defer_loading", "cache_control", "input_examples", "allowed_callers", "eager_input_streaming"}
    ),
    "mcp": frozenset({"title", "annotations", "outputSchema", "_meta", "icons", "execution"}),
    "gemini": frozenset({"response", "responseJsonSchema", "behavior"}),
}
SCHEMA_KEY = {"anthropic": "input_schema", "mcp": "inputSchema", "gemini": "parametersJsonSchema"}


def render(tool: Tool, form: str) -> dict[str, Any]:
    """The tool in a format, as fresh JSON values.

    In the format that it came in the result equals the original, every field of it (but the name, where the catalog had
    to tell it apart by its server); in another one the members that it knows are kept. A Gemini tool is one function
    declaration. Raises ConfigError for an unknown format.

    >>> from tscg.ir import Catalog
    >>> given = {"name": "ping", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
    >>> tool = Catalog.from_tools([given])[0]
    >>> render(tool, "mcp")["annotations"], render(tool, "anthropic")
    ({'readOnlyHint': True}, {'name': 'ping', 'description': '', 'input_schema': {'type': 'object'}})
    """
    if form not in FORMATS:
        raise ConfigError(f"unknown format {form!r}", allowed=FORMATS)
    raw = tool.raw
    if raw is not None and tool.format == form:
        return _renamed(raw, tool.name)
    known = FIELDS.get(form)
    extra = {key: value for key, value in tool.extra.items() if known is None or key in known}
    schema: Any = tool.schema
    if is_gemini(schema):  # the dialect of the OpenAPI form is none of the others' own
        schema = tool.to_json_schema()
    described: dict[str, Any] = {"name": tool.name, "description": _description(tool)}
    if form == "openai":
        return {"type": "function", "function": {**described, "parameters": schema, **extra}}
    if form == "openai_responses":
        return {"type": "function", **described, "parameters": schema, **extra}
    return {**described, SCHEMA_KEY.get(form, "parameters"): schema, **extra}


def _renamed(raw: dict[str, Any], name: str) -> dict[str, Any]:
    inner = raw.get("function")
    holder = inner if isinstance(inner, dict) else raw
    if holder["name"] != name:
        holder["name"] = name
    return raw


def _description(tool: Tool) -> str:
    """The prose as it came, its line breaks included."""
    raw = tool.raw or {}
    inner = raw.get("function")
    found = (inner if isinstance(inner, dict) else raw).get("description")
    return found if isinstance(found, str) else tool.description
