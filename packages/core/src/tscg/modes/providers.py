"""Wire tools in the shape of each provider's tools field: pure functions, fresh values at each call.

Each takes neutral tools (``{"name", "description", "parameters"}``, which become the caller's: give copies) and the
provider's own entries, and returns an :class:`Adapted`: the list to send, and what the provider's form could not hold.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tscg.errors import ConfigError
from tscg.record import Record

if TYPE_CHECKING:
    from tscg.modes.rows import ProviderRow

__all__ = [
    "Adapted", "Original", "check_count", "deferring", "held", "marked", "to_anthropic", "to_gemini", "to_openai",
    "to_openai_responses",
]  # fmt: skip

Wire = list[dict[str, Any]]
NONE: Mapping[str, Any] = {}
TTL = ("5m", "1h")
DIALECTS = ("auto", "json_schema", "openapi")
STRICT = (None, False, True, "auto")
SEARCH = {
    "openai_responses": {"type": "tool_search"},
    "anthropic": {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"},
}
"""The entry with which a provider searches deferred tools."""

# Provider built-ins are known by how their type begins, or by Gemini's single key; anything else is refused by all.
BUILTINS: dict[str, tuple[str, ...]] = {
    "anthropic": (
        "web_search_2", "web_fetch_2", "computer_2", "bash_2", "text_editor_2", "code_execution_2", "tool_search_tool",
        "memory_2", "advisor_2", "mcp_toolset",
    ),
    "openai_responses": (
        "web_search", "file_search", "computer", "code_interpreter", "image_generation", "mcp", "local_shell", "shell",
        "apply_patch", "tool_search", "custom",
    ),
}  # fmt: skip
GEMINI_KEYS = (
    "google_search", "googleSearch", "google_search_retrieval", "googleSearchRetrieval", "code_execution",
    "codeExecution", "url_context", "urlContext", "google_maps", "googleMaps", "computer_use", "computerUse",
    "file_search", "fileSearch",
)  # fmt: skip


class Adapted(Record):
    """The tools field of one provider.

    ``dropped`` holds by wire name the constraints that the form has no place for: they are said in the description and
    still hold for every call. ``reasons`` says by wire name why a tool is not in strict mode.
    """

    tools: Wire
    dropped: Mapping[str, tuple[str, ...]] = NONE
    reasons: Mapping[str, str] = NONE


class Original(Record):
    """What strict mode asks of the tools as they came, by wire name.

    ``free`` is the place of an object that says that it takes undeclared names; ``schemas`` has the schemas that are
    sent in another spelling than ours, in ours.
    """

    free: Mapping[str, str] = NONE
    schemas: Mapping[str, dict[str, Any]] = NONE


UNKNOWN = Original()


# --- built-ins --------------------------------------------------------------------------------------------------------


def owner_of(builtin: dict[str, Any]) -> str:
    """The provider whose own entry this is, empty for none that is known."""
    kind = builtin.get("type")
    if not isinstance(kind, str):
        return "gemini" if kind is None and len(builtin) == 1 and next(iter(builtin)) in GEMINI_KEYS else ""
    for provider in ("anthropic", "openai_responses"):
        dated = kind.rsplit("_", 1)[-1].isdigit()
        known = BUILTINS[provider]
        if kind in known or (kind.startswith(known) and dated is (provider == "anthropic")):
            return provider
    return ""


def held(builtins: Iterable[str], provider: str) -> Wire:
    """The provider's own entries, untouched; ConfigError for one of another provider."""
    out: Wire = []
    for text in builtins:
        entry = json.loads(text)
        owner = owner_of(entry)
        if owner != provider:
            shown = entry.get("type") or next(iter(entry), "")
            whose = f"an entry of {owner}" if owner else "of no provider that is known"
            raise ConfigError(
                f"the built-in tool {shown!r} is {whose} and cannot go to {provider}",
                hint="give it to that provider's adapter alone",
            )
        out.append(entry)
    return out


# --- checks -----------------------------------------------------------------------------------------------------------


def check_count(count: int, limit: int | None, provider: str) -> None:
    """ConfigError with count, limit and the mode that fits, where a provider takes fewer tools."""
    if limit is not None and count > limit:
        raise ConfigError(
            f"{count} tools, and {provider} takes {limit} at most",
            hint="mode='dispatch' sends two tools for any number, mode='text' sends none",
        )


def _named(names: Sequence[str], wire: Wire, option: str, known: Mapping[str, str]) -> frozenset[str]:
    """Wire names of the tools that an option names; ``known`` maps original names to wire names."""
    have = {tool["name"] for tool in wire}
    out = set()
    for name in (names,) if isinstance(names, str) else names:
        found = known.get(name, name)
        if found not in have:
            raise ConfigError(f"{option} names {name!r}, which is no tool that is sent", allowed=sorted(have)[:20])
        out.add(found)
    return frozenset(out)


def _deferred(names: Sequence[str], wire: Wire, known: Mapping[str, str]) -> frozenset[str]:
    found = _named(names, wire, "defer", known)
    if found and len(found) == len(wire):
        raise ConfigError("defer names every tool", hint="leave at least one tool that the model sees from the start")
    return found


def _search(own: Wire, deferred: frozenset[str], provider: str) -> Wire:
    """The search entry, where tools are deferred and the provider's own entries hold none."""
    if not deferred or any(str(entry.get("type", "")).startswith("tool_search") for entry in own):
        return []
    return [dict(SEARCH[provider])]


def deferring(tools: Wire, count: int, defer: Sequence[str], known: Mapping[str, str], provider: str) -> Wire:
    """Finished entries, the first ``count`` of them tools: those that ``defer`` names are marked as deferred."""
    mine, own = tools[:count], tools[count:]
    deferred = _deferred(defer, mine, known)
    for body in mine:
        if body["name"] in deferred:
            body["defer_loading"] = True
    return [*mine, *own, *_search([*mine, *own], deferred, provider)]


def marked(tools: Wire, among: frozenset[str] | set[str], ttl: str | None) -> Wire:
    """Finished entries of Anthropic's: a breakpoint, where none has one and the last tool is one of ``among``."""
    _check_ttl(ttl)
    if any("cache_control" in body for body in tools):
        return tools
    last = next((body for body in reversed(tools) if "input_schema" in body and not body.get("defer_loading")), None)
    if last is not None and last["name"] in among:
        _mark([last], ttl)
    return tools


def _check_ttl(ttl: str | None) -> None:
    if ttl is not None and ttl not in TTL:
        raise ConfigError(f"ttl is {ttl!r}", allowed=TTL)


# --- strict mode ------------------------------------------------------------------------------------------------------


def _strict(
    wire: Wire, strict: bool | str | None, original: Original
) -> tuple[dict[str, bool], dict[str, str], dict[str, tuple[str, ...]]]:
    """Which tools are strict (their parameters are rewritten in place), why others are not, what is said instead."""
    if strict not in STRICT:
        raise ConfigError(f"strict is {strict!r}", allowed=tuple(map(str, STRICT)))
    if not strict:
        return {}, {}, {}
    from tscg.modes.rows import OPENAI

    found, reasons, dropped = {}, {}, {}
    for tool in wire:
        reason, said = _closed(tool, OPENAI, original)
        found[tool["name"]] = not reason
        if reason:
            reasons[tool["name"]] = reason
        elif said:
            dropped[tool["name"]] = said
    if strict is True and reasons:
        listed = "; ".join(f"{name}: {reason}" for name, reason in list(reasons.items())[:8])
        raise ConfigError(f"strict mode would block calls of {len(reasons)} tools ({listed})", hint="strict='auto'")
    return found, reasons, dropped


def _closed(tool: dict[str, Any], row: ProviderRow, original: Original) -> tuple[str, tuple[str, ...]]:
    """A tool rewritten for strict mode in place: the reason why not, or what is said instead."""
    from tscg.modes.strict import strict_schema

    name = tool["name"]
    if row.strict is None:
        return f"{row.name} has no strict mode", ()
    made = strict_schema(original.schemas.get(name, tool["parameters"]), row.strict, original.free.get(name, ""))
    if made.schema is None:
        return made.reason, ()
    tool["parameters"] = made.schema
    return "", _say(tool, made.said)


def _say(tool: dict[str, Any], said: Iterable[Any]) -> tuple[str, ...]:
    """Say in the description what the schema lost; the list of it."""
    from tscg.modes.words import rules_line

    every = tuple(said)
    line = rules_line(every)
    if line:
        tool["description"] = f"{tool['description']}\n{line}" if tool["description"] else line
    return tuple(rules_line([one]).removeprefix("Rules: ") for one in every)


# --- providers --------------------------------------------------------------------------------------------------------


def to_openai(
    wire: Wire, builtins: Iterable[str], strict: bool | str | None = None, *, original: Original = UNKNOWN
) -> Adapted:
    """OpenAI's chat form; ``strict`` is written only when it is given."""
    found, reasons, dropped = _strict(wire, strict, original)
    tools = []
    for tool in wire:
        body = {key: tool[key] for key in ("name", "description", "parameters")}
        if strict is not None:
            body["strict"] = found.get(tool["name"], False)
        tools.append({"type": "function", "function": body})
    return Adapted(tools=[*tools, *held(builtins, "openai")], dropped=dropped, reasons=reasons)


def to_openai_responses(
    wire: Wire,
    builtins: Iterable[str],
    strict: bool | str | None = None,
    defer: Sequence[str] = (),
    *,
    original: Original = UNKNOWN,
    known: Mapping[str, str] = NONE,
) -> Adapted:
    """OpenAI's Responses form, flat; ``strict`` is always written, since an omitted one turns strict mode on."""
    found, reasons, dropped = _strict(wire, strict, original)
    deferred = _deferred(defer, wire, known)
    own = held(builtins, "openai_responses")
    tools: Wire = []
    for tool in wire:
        body = {"type": "function", **{key: tool[key] for key in ("name", "description", "parameters")}}
        body["strict"] = found.get(tool["name"], False)
        if tool["name"] in deferred:
            body["defer_loading"] = True
        tools.append(body)
    tools = [*tools, *own, *_search(own, deferred, "openai_responses")]
    return Adapted(tools=tools, dropped=dropped, reasons=reasons)


def to_anthropic(
    wire: Wire,
    builtins: Iterable[str],
    cache: bool = True,
    *,
    ttl: str | None = None,
    defer: Sequence[str] = (),
    strict: Sequence[str] = (),
    original: Original = UNKNOWN,
    known: Mapping[str, str] = NONE,
) -> Adapted:
    """Anthropic's form, with one ephemeral cache breakpoint on the last tool that is not deferred."""
    _check_ttl(ttl)
    deferred = _deferred(defer, wire, known)
    closed = _named(strict, wire, "strict", known)
    own = held(builtins, "anthropic")
    dropped: dict[str, tuple[str, ...]] = {}
    tools: Wire = []
    for tool in wire:
        name = tool["name"]
        if name in closed:
            from tscg.modes.rows import ANTHROPIC

            reason, said = _closed(tool, ANTHROPIC, original)
            if reason:
                raise ConfigError(f"strict names {name!r}, which strict mode would block: {reason}")
            if said:
                dropped[name] = said
        body = {"name": name, "description": tool["description"], "input_schema": tool["parameters"]}
        if name in closed:
            body["strict"] = True
        if name in deferred:
            body["defer_loading"] = True
        tools.append(body)
    if cache:
        _mark(tools, ttl)
    return Adapted(tools=[*own, *_search(own, deferred, "anthropic"), *tools], dropped=dropped)


def _mark(tools: Wire, ttl: str | None) -> None:
    """One breakpoint, on the last tool that is part of the cached prefix."""
    for body in reversed(tools):
        if not body.get("defer_loading"):
            body["cache_control"] = {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}
            return


def to_gemini(
    wire: Wire, builtins: Iterable[str], dialect: str = "openapi", *, original: Original = UNKNOWN
) -> Adapted:
    """Gemini's form: one wrapper of function declarations, with JSON Schema or its subset of OpenAPI."""
    own = held(builtins, "gemini")
    if not wire:
        return Adapted(tools=own)
    dropped: dict[str, tuple[str, ...]] = {}
    declared: Wire = []
    for tool in wire:
        if dialect == "json_schema":
            key, parameters = "parametersJsonSchema", tool["parameters"]
        else:
            from tscg.modes.gemini import subset

            made = subset(original.schemas.get(tool["name"], tool["parameters"]))
            key, parameters = "parameters", made.schema
            said = _say(tool, made.said)
            if said:
                dropped[tool["name"]] = said
        declared.append({"name": tool["name"], "description": tool["description"], key: parameters})
    return Adapted(tools=[{"functionDeclarations": declared}, *own], dropped=dropped)
