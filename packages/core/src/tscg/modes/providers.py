"""Wire tools in the shape of each provider's tools field: pure functions, fresh values at each call."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tscg.errors import ConfigError

__all__ = ["to_anthropic", "to_gemini", "to_openai", "to_openai_responses"]

Wire = list[dict[str, Any]]

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


def owner_of(builtin: dict[str, Any]) -> str:
    """The provider whose own entry this is, empty for none that is known."""
    kind = builtin.get("type")
    if kind is None:
        return "gemini" if len(builtin) == 1 and next(iter(builtin)) in GEMINI_KEYS else ""
    for provider in ("anthropic", "openai_responses"):
        dated = kind.rsplit("_", 1)[-1].isdigit()
        known = BUILTINS[provider]
        if kind in known or (str(kind).startswith(known) and dated is (provider == "anthropic")):
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


def to_openai(wire: Wire, builtins: Iterable[str], strict: bool | None = None) -> Wire:
    """OpenAI's chat form; ``strict`` is written only when given."""
    extra = {} if strict is None else {"strict": strict}
    tools = [
        {
            "type": "function",
            "function": {"name": t["name"], "description": t["description"], "parameters": t["parameters"], **extra},
        }
        for t in wire
    ]
    return [*tools, *held(builtins, "openai")]


def to_openai_responses(wire: Wire, builtins: Iterable[str], strict: bool = False) -> Wire:
    """OpenAI's Responses form, flat; ``strict`` is always written, since an omitted one turns strict mode on."""
    tools = [
        {
            "type": "function",
            "name": t["name"],
            "description": t["description"],
            "parameters": t["parameters"],
            "strict": strict,
        }
        for t in wire
    ]
    return [*tools, *held(builtins, "openai_responses")]


def to_anthropic(wire: Wire, builtins: Iterable[str], cache: bool = True, ttl: str | None = None) -> Wire:
    """Anthropic's form, with one ephemeral cache breakpoint on the last tool of the catalog."""
    tools: Wire = [{"name": t["name"], "description": t["description"], "input_schema": t["parameters"]} for t in wire]
    if cache and tools:
        tools[-1]["cache_control"] = {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}
    return [*held(builtins, "anthropic"), *tools]


def to_gemini(wire: Wire, builtins: Iterable[str]) -> Wire:
    """Gemini's form: one wrapper of function declarations with JSON Schema parameters."""
    own = held(builtins, "gemini")
    if not wire:
        return own
    declared = [
        {"name": t["name"], "description": t["description"], "parametersJsonSchema": t["parameters"]} for t in wire
    ]
    return [{"functionDeclarations": declared}, *own]
