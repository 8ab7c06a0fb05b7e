"""Tools that are no JSON: pydantic models, dataclasses, callables, and objects that are tools by their shape.

No framework is imported: an object is known by its attributes. This module, and pydantic with it, is loaded at the
first tool that is no mapping.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect  # noqa: TID253  # this module is loaded at the first tool that is no mapping
import warnings
from collections.abc import Mapping
from typing import Any

from tscg.errors import CompileError, ConfigError, Fragment
from tscg.formats.forms import Form, form_of
from tscg.record import replace

__all__ = ["ACCEPTED", "dumped", "object_form"]

ACCEPTED = (
    "a dict in OpenAI, Anthropic, Gemini, MCP or plain form", "a pydantic model class", "a function",
    "an object with name and inputSchema",
)  # fmt: skip
SCHEMAS = ("inputSchema", "input_schema", "parameters", "args_schema")
MEMBERS = (
    ("title", "title"), ("annotations", "annotations"), ("outputSchema", "outputSchema"),
    ("output_schema", "outputSchema"), ("icons", "icons"), ("execution", "execution"), ("meta", "_meta"),
)  # fmt: skip
"""Attributes beside name, description and schema that are kept, and the member of MCP's form that they are."""


def object_form(raw: Any) -> Form:
    """Take apart a tool that is no mapping.

    Raises ConfigError for an object of another kind, and CompileError for one that has no schema.

    >>> def ping(host: str, port: int = 80) -> bool:
    ...     '''Check a host.'''
    >>> object_form(ping).schema["required"]
    ['host']
    """
    if isinstance(raw, type):
        return _class_form(raw)
    if inspect.isroutine(raw) or isinstance(raw, functools.partial):
        return _function_form(raw)
    plain = dumped(raw)
    if plain is not None:
        return replace(form_of(plain), raw=plain)
    found = _shape_form(raw)
    if found is not None:
        return found
    if callable(raw):
        return _function_form(raw)
    raise ConfigError(f"{_article(type(raw).__name__)} is no tool", hint=f"accepted are {', '.join(ACCEPTED)}")


def _function_form(raw: Any) -> Form:
    from tscg.formats.functions import function_form

    return function_form(raw)


def dumped(raw: Any) -> dict[str, Any] | None:
    """An object of an SDK as the JSON object that it stands for, None for one that is no such thing.

    It needs ``model_dump`` (pydantic) and a tool's, or a list of tools', attributes; what cannot be dumped whole, such
    as a tool that holds its function, is read by its attributes instead.
    """
    if not callable(getattr(raw, "model_dump", None)) or isinstance(raw, type):
        return None
    if callable(raw) or any(callable(getattr(raw, key, None)) for key in ("fn", "func", "run", "invoke")):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = raw.model_dump(mode="json", by_alias=True, exclude_none=True)
    except (TypeError, ValueError, AttributeError):  # pydantic's own errors are ValueErrors
        return None
    return found if isinstance(found, dict) else None


def _class_form(raw: type) -> Form:
    if callable(getattr(raw, "model_json_schema", None)):
        schema = _schema_of(raw)
        holder = schema
        if "$ref" in schema:  # a model that holds itself stands in $defs
            holder = schema.get("$defs", {}).get(str(schema["$ref"]).rsplit("/", 1)[-1], schema)
        return Form(format="pydantic", name=raw.__name__, description=holder.get("description", ""), schema=schema)
    if dataclasses.is_dataclass(raw) or hasattr(raw, "__required_keys__"):  # a TypedDict has those
        doc = raw.__doc__ or ""
        if doc.startswith((f"{raw.__name__}(", "dict(")):  # written by the library, not by the author
            doc = ""
        return Form(format="pydantic", name=raw.__name__, description=inspect.cleandoc(doc), schema=_schema_of(raw))
    hint = f"accepted are {', '.join(ACCEPTED)}; of classes: pydantic models, dataclasses and TypedDicts"
    raise ConfigError(f"the class {raw.__name__} is no tool", hint=hint)


def _schema_of(model: type) -> dict[str, Any]:
    """JSON Schema of a model's input, by alias."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a default that is no JSON is not shown
            if hasattr(model, "model_json_schema"):
                found: dict[str, Any] = model.model_json_schema(by_alias=True, mode="validation")
            else:
                from pydantic import TypeAdapter

                found = TypeAdapter(model).json_schema(by_alias=True, mode="validation")
    except Exception as error:  # models are foreign code: pydantic hands on whatever their hooks raise
        line = (str(error).splitlines() or [type(error).__name__])[0][:160]
        raise CompileError(
            [Fragment(tool=model.__name__, pointer="", reason=f"the model has no JSON Schema ({line})")]
        ) from error
    return found


def _shape_form(raw: Any) -> Form | None:
    """A tool by its attributes: a name, and a schema as a dict or as a pydantic class."""
    name = getattr(raw, "name", None)
    if not isinstance(name, str):
        return None
    for key in SCHEMAS:
        schema = getattr(raw, key, None)
        if isinstance(schema, type) and hasattr(schema, "model_json_schema"):
            schema = _schema_of(schema)
        if not isinstance(schema, Mapping):
            continue
        extra = {
            member: value
            for attribute, member in MEMBERS
            if (value := _value(getattr(raw, attribute, None))) is not None
        }
        return Form(
            format="mcp" if key.startswith("input") else "plain", name=name,
            description=getattr(raw, "description", None), schema=schema, extra=extra,
        )  # fmt: skip
    return None


def _value(given: Any) -> Any:
    """A JSON value of an attribute, None for anything else."""
    plain = dumped(given)
    given = given if plain is None else plain
    if isinstance(given, list):
        return [one if (one := dumped(item)) is not None else item for item in given]
    return given if isinstance(given, str | dict) else None


def _article(name: str) -> str:
    return f"an {name}" if name[:1].lower() in "aeiou" else f"a {name}"
