"""The accepted forms of a tool, as a table: how each is recognised, where its name, prose and schema stand."""

from __future__ import annotations

from collections.abc import Mapping

from tscg.errors import ConfigError
from tscg.record import Record
from tscg.schema import JSON_TYPES, minified

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import Any

__all__ = ["Form", "form_of", "is_gemini"]

SCHEMA_KEYS = (
    ("inputSchema", "mcp"), ("input_schema", "anthropic"), ("parametersJsonSchema", "gemini"),
    ("parameters_json_schema", "gemini"), ("parameters", "plain"), ("schema", "plain"), ("args_schema", "plain"),
)  # fmt: skip
"""Where the schema of the arguments stands, and the format that says so."""


class Form(Record):
    """A raw tool taken apart.

    ``builtin`` is a provider's own entry, as minified JSON, which is no tool of ours. ``raw`` is the JSON object that
    an object of an SDK stands for. A ``closed`` tool takes no arguments beside its parameters, and its text does not
    say so.
    """

    format: str
    name: Any = None
    description: Any = None
    schema: Any = None
    extra: dict[str, Any] = {}  # noqa: RUF012 - never written to
    builtin: str | None = None
    raw: dict[str, Any] | None = None
    closed: bool = False


def form_of(raw: Any) -> Form:
    """Take a raw tool apart. Raises ConfigError for a form that is not known, with the keys that were seen."""
    if isinstance(raw, Mapping):
        return _mapping(raw)
    from tscg.formats.objects import object_form

    return object_form(raw)


def _mapping(raw: Mapping[str, Any]) -> Form:
    kind = raw.get("type")
    inner = raw.get("function")
    if isinstance(inner, Mapping) and kind in (None, "function"):
        extra = {**{k: v for k, v in raw.items() if k not in ("type", "function")}, **_rest(inner, "parameters")}
        return Form(
            format="openai", name=inner.get("name"), description=inner.get("description"),
            schema=inner.get("parameters"), extra=extra,
        )  # fmt: skip
    if kind == "function":
        return Form(
            format="openai_responses", name=raw.get("name"), description=raw.get("description"),
            schema=raw.get("parameters"), extra={k: v for k, v in _rest(raw, "parameters").items() if k != "type"},
        )  # fmt: skip
    found = next(((key, form) for key, form in SCHEMA_KEYS if key in raw), None)
    if found is None:
        if _is_builtin(raw):
            return Form(format="builtin", name=raw.get("name"), builtin=minified(dict(raw)))
        _check(raw)
    key, form = found or ("parameters", "plain")
    if form == "plain" and key == "parameters" and raw.get(key) and is_gemini(raw[key]):
        form = "gemini"
    return Form(
        format=form,
        name=raw.get("name"),
        description=raw.get("description"),
        schema=raw.get(key),
        extra=_rest(raw, key),
    )


def _is_builtin(raw: Mapping[str, Any]) -> bool:
    """A provider's own entry: a type that is no kind of schema, or Gemini's single key."""
    kind = raw.get("type")
    if isinstance(kind, str):
        # "custom" without a grammar is Anthropic's word for a tool of ours.
        return kind.lower() not in JSON_TYPES and (kind != "custom" or "custom" in raw or "format" in raw)
    return (
        len(raw) == 1
        and raw.keys().isdisjoint(("name", "result", "tools", "params"))
        and isinstance(next(iter(raw.values())), Mapping)
    )


def _check(raw: Mapping[str, Any]) -> None:
    """Without a schema, a name or prose makes a tool; anything else is no form of one."""
    kind = raw.get("type")
    if isinstance(kind, str) and kind.lower() in JSON_TYPES:
        raise ConfigError(
            f"a JSON Schema is no tool (keys {_keys(raw)})",
            hint="give {'name': ..., 'description': ..., 'parameters': <the schema>}",
        )
    if not {"name", "description", "title"} & set(raw):
        raise ConfigError(
            f"unknown form of a tool with the keys {_keys(raw)}",
            hint="expected name, description and parameters, inputSchema or input_schema",
        )


def _keys(raw: Mapping[str, Any]) -> str:
    names = sorted(str(key)[:40] for key in raw)
    return ", ".join([*names[:12], *(["..."] if len(names) > 12 else [])]) or "(none)"


def _rest(raw: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {k: v for k, v in raw.items() if k not in ("name", "description", key)}


def is_gemini(schema: Any) -> bool:
    """Is this Gemini's own dialect of a schema, with types in upper case?"""
    return isinstance(schema, Mapping) and isinstance(schema.get("type"), str) and schema["type"].isupper()
