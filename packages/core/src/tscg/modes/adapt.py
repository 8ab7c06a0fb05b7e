"""From a compiled catalog to the tools field of one provider: which tools, under which keys, with which limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tscg.errors import ConfigError
from tscg.modes import providers
from tscg.modes.providers import DIALECTS, Adapted, Original, Wire, check_count

if TYPE_CHECKING:
    from tscg.ir import Tool
    from tscg.modes.compiled import CompiledCatalog

__all__ = ["adapter_notes", "anthropic", "gemini", "openai", "openai_responses", "strict_names", "wire_keys"]

OPENAI_TOOLS = 128  # most tools that OpenAI's own API takes, whatever the model


def openai(compiled: CompiledCatalog, strict: bool | str | None = None) -> Adapted:
    """The tools field of OpenAI's chat API and of those that speak its form; the model's row says how many it takes."""
    check_count(len(compiled.wire_tools), _limit(compiled), compiled.model or "the provider")
    if compiled.mode == "passthrough":
        return Adapted(tools=_as_they_came(compiled, "openai", strict))
    strict = _strict(compiled, strict)
    wire, builtins = list(compiled.wire_tools), compiled.catalog.builtins
    return providers.to_openai(wire, builtins, strict, original=_original(compiled, wire, bool(strict)))


def openai_responses(compiled: CompiledCatalog, strict: bool | str | None = None, defer: Sequence[str] = ()) -> Adapted:
    """The tools field of OpenAI's Responses API."""
    check_count(len(compiled.wire_tools), _limit(compiled) or OPENAI_TOOLS, "OpenAI")
    builtins, known = compiled.catalog.builtins, compiled.wire_names
    if compiled.mode == "passthrough":
        tools = _as_they_came(compiled, "openai_responses", strict, known)
        return Adapted(tools=providers.deferring(tools, len(compiled.catalog), defer, known, "openai_responses"))
    strict = _strict(compiled, strict)
    wire = list(compiled.wire_tools)
    original = _original(compiled, wire, bool(strict))
    return providers.to_openai_responses(wire, builtins, strict, defer, original=original, known=known)


def anthropic(
    compiled: CompiledCatalog, cache: bool = True, ttl: str | None = None, defer: Sequence[str] = (),
    strict: Sequence[str] = (),
) -> Adapted:  # fmt: skip
    """The tools field of Anthropic's Messages API."""
    builtins, known = compiled.catalog.builtins, compiled.wire_names
    if compiled.mode != "passthrough":
        from tscg.modes.rows import ANTHROPIC

        wire = _aliased(compiled, ANTHROPIC.keys)
        original = _original(compiled, wire, bool(strict))
        return providers.to_anthropic(
            wire, builtins, cache, ttl=ttl, defer=defer, strict=strict, original=original, known=known
        )
    if strict:
        raise _untouched("strict")
    tools = _as_they_came(compiled, "anthropic", None, known)
    tools = providers.deferring(tools, len(compiled.catalog), defer, known, "anthropic")
    foreign = {known.get(tool.name, tool.name) for tool in compiled.catalog if tool.format != "anthropic"}
    return Adapted(tools=providers.marked(tools, foreign, ttl) if cache else tools)


def gemini(compiled: CompiledCatalog, dialect: str = "auto", *, entries: bool = True) -> Adapted:
    """The tools field of the Gemini API; ``entries`` says whether with the provider's own."""
    if dialect not in DIALECTS:
        raise ConfigError(f"dialect is {dialect!r}", allowed=DIALECTS)
    from tscg.modes.rows import GEMINI, gemini_dialect

    dialect = gemini_dialect(compiled.model) if dialect == "auto" else dialect
    if compiled.mode != "passthrough":
        wire = _aliased(compiled, GEMINI.keys)
        original = _original(compiled, wire, dialect == "openapi", free=False)
        return providers.to_gemini(wire, compiled.catalog.builtins if entries else (), dialect, original=original)
    return _gemini_as_it_came(compiled, dialect, entries)


def strict_names(compiled: CompiledCatalog) -> frozenset[str]:
    """The tools that the option of native mode sends in strict mode, by original name: null there means left out."""
    if not getattr(compiled.options, "strict", None):
        return frozenset()
    back = {wire: name for name, wire in compiled.wire_names.items()}
    wire = list(compiled.wire_tools)
    found = providers.to_openai(wire, (), _strict(compiled, None), original=_original(compiled, wire, True))
    names = (tool["function"]["name"] for tool in found.tools if tool["function"].get("strict"))
    return frozenset(back.get(name, name) for name in names)


def wire_keys(compiled: CompiledCatalog) -> Mapping[str, Mapping[str, str]]:
    """By tool the aliases of its property names, for tools that are sent natively; worked out when asked for."""
    if compiled.mode == "passthrough" or not compiled.sent.native:
        return {}
    from tscg.modes.keys import WireKeys

    return WireKeys(compiled.catalog, compiled.sent.native)


def adapter_notes(compiled: CompiledCatalog) -> tuple[str, ...]:
    """What the adapters change: constraints that Gemini's subset only says, and why a tool has no strict form."""
    if not compiled.wire_tools:
        return ()
    dropped = gemini(compiled, "openapi", entries=False).dropped
    notes = [
        f"gemini: {name}: {words} is said, not in the schema" for name, every in dropped.items() for words in every
    ]
    if compiled.mode != "passthrough":
        wire = list(compiled.wire_tools)
        reasons = providers.to_openai(wire, (), "auto", original=_original(compiled, wire, True)).reasons
        notes += [f"strict: {name}: not strict, {reason}" for name, reason in reasons.items()]
    return tuple(notes)


# --- parts ------------------------------------------------------------------------------------------------------------


def _limit(compiled: CompiledCatalog) -> int | None:
    if compiled.model is None:
        return None
    from tscg.models import row_of

    return row_of(compiled.model).tool_limit


def _strict(compiled: CompiledCatalog, strict: bool | str | None) -> bool | str | None:
    """Strict mode as given, else as the options of native mode say."""
    found: bool | str | None = getattr(compiled.options, "strict", None) if strict is None else strict
    return found


def _original(compiled: CompiledCatalog, wire: Wire, wanted: bool, free: bool = True) -> Original:
    """What an adapter that rewrites schemas asks of the originals; nothing where it is not ``wanted``.

    A tool that went through as it came (it would have grown) still has the spelling of its author, of any draft.
    """
    if not wanted:
        return providers.UNKNOWN
    from tscg.modes.native import with_properties
    from tscg.modes.strict import free_keys

    places, schemas = {}, {}
    for sent, tool in zip(wire, _natives(compiled, wire), strict=True):
        if tool is None:
            continue
        given = tool.schema
        if sent["parameters"] == with_properties(given):
            schemas[sent["name"]] = tool.to_json_schema()
        place = free_keys(given) if free else ""
        if place:
            places[sent["name"]] = place
    return Original(free=places, schemas=schemas)


def _natives(compiled: CompiledCatalog, wire: Wire) -> list[Tool | None]:
    """The tool of each wire tool, None for a dispatcher and for tools that are gone."""
    back = {sent: name for name, sent in compiled.wire_names.items()}
    tools, native = compiled.catalog.by_name, compiled.sent.native
    names = [back.get(sent["name"], sent["name"]) for sent in wire]
    return [tools.get(name) if name in native else None for name in names]


def _aliased(compiled: CompiledCatalog, pattern: str) -> Wire:
    """The wire tools with an alias for each property name that the provider refuses."""
    wire = list(compiled.wire_tools)
    if not compiled.sent.native:
        return wire
    from tscg.modes.keys import refused_keys

    for at, tool in enumerate(_natives(compiled, wire)):
        keys = refused_keys(tool, pattern) if tool is not None else {}
        if tool is not None and keys:
            wire[at] = _rebuilt(compiled, tool, wire[at]["name"], keys)
    return wire


def _rebuilt(compiled: CompiledCatalog, tool: Tool, wire_name: str, keys: Mapping[str, str]) -> dict[str, Any]:
    """One wire tool anew, so that its signature names the same keys as its schema."""
    from tscg.language.spelling import spelling_of
    from tscg.modes.keys import renamed
    from tscg.modes.native import native_tool

    shown = compiled.shown.by_name[tool.name]
    spelling = spelling_of(compiled.encoding)
    return native_tool(renamed(tool, keys), renamed(shown, keys), wire_name, spelling, compiled.costs)


# --- passthrough ------------------------------------------------------------------------------------------------------


def _untouched(option: str) -> ConfigError:
    return ConfigError(f"{option} rewrites schemas, and passthrough sends them as they are", hint="use mode='native'")


def _as_they_came(
    compiled: CompiledCatalog, form: str, strict: bool | str | None, names: Mapping[str, str] | None = None
) -> Wire:
    """Each tool in a format: a deep copy where it came in it, else all its fields that the format knows."""
    if strict:
        raise _untouched("strict")
    from tscg.formats.write import SCHEMA_KEY, render
    from tscg.modes.native import with_properties

    names = compiled.wire_names if names is None else names
    tools: Wire = []
    for tool in compiled.catalog:
        made: dict[str, Any] = render(tool, form)
        if tool.format != form:
            body = made["function"] if form == "openai" else made
            body["name"] = names.get(tool.name, tool.name)
            key = SCHEMA_KEY.get(form, "parameters")
            body[key] = with_properties(body[key])
            if form == "openai_responses" or (form == "openai" and strict is False):
                body.setdefault("strict", False)
        tools.append(made)
    return [*tools, *providers.held(compiled.catalog.builtins, form)]


def _gemini_as_it_came(compiled: CompiledCatalog, dialect: str, entries: bool) -> Adapted:
    from tscg.formats.write import render
    from tscg.modes.native import object_root
    from tscg.record import replace

    dropped: dict[str, tuple[str, ...]] = {}
    declared: Wire = []
    for tool in compiled.catalog:
        made: dict[str, Any] = render(tool, "gemini")
        if tool.format != "gemini":
            made["name"] = compiled.wire_names.get(tool.name, tool.name)
            if dialect == "openapi":
                root, rule = object_root(tool)
                schema = replace(tool, root=root).to_json_schema()
                plain = {"name": made["name"], "description": made["description"], "parameters": schema}
                found = providers.to_gemini([plain], (), dialect)
                made = {**found.tools[0]["functionDeclarations"][0], **_beside(made)}
                if rule:
                    made["description"] = "\n".join(part for part in (made["description"], rule) if part)
                dropped.update(found.dropped)
        declared.append(made)
    own = providers.held(compiled.catalog.builtins if entries else (), "gemini")
    return Adapted(tools=[{"functionDeclarations": declared}, *own] if declared else own, dropped=dropped)


def _beside(declaration: dict[str, Any]) -> dict[str, Any]:
    written = ("name", "description", "parameters", "parametersJsonSchema", "parameters_json_schema")
    return {key: value for key, value in declaration.items() if key not in written}
