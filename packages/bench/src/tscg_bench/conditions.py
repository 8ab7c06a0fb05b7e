"""Conditions: what of a catalog is put before the model, and in which form. Each is named, and says what it sends.

==========================  ===========================================================================================
``native``                  the provider's function calling, every schema untouched
``json``, ``json-pretty``   the tools in OpenAI's form as JSON text, minified or indented
``toon``                    the same in TOON (package ``toon-format``)
``text/PROFILE``            the compiled text; likewise ``native/PROFILE`` and ``code/PROFILE``
``dispatch/MAP``            two wire tools and a map: names, hybrid, signature; ``dispatch/MAP/codes`` with codes
``names``                   control: bare names, no schema
``free``                    control: not even names
==========================  ===========================================================================================

``X@Y`` is X cut to the tokens that Y takes, ``X@900`` to 900: descriptions of ``json``, ``json-pretty`` and ``toon``
lose words from their ends, in the end schemas too; compiled conditions get a budget. Calls in text are taught in the
same syntax everywhere, and every answer is read by the same decoder and judged under the original schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import tscg
from tscg import Catalog, CompiledCatalog, ConfigError
from tscg.errors import CompileError
from tscg.stats import tokens_of
from tscg.taught import how_to_call

__all__ = ["CONTROLS", "DEFAULT", "Condition", "Prepared", "compiled_condition", "condition_of"]

CONTROLS = ("names", "free")
"""The controls without a schema: what a model knows, or a question gives away."""

DEFAULT = ("native", "json", "text/balanced", "native/balanced", "dispatch/hybrid")
"""The conditions of a run that names none; the controls are added to every run."""

GUESS = "There are tools, but they are not described: choose names and arguments as you think they are."
PRETTY = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A condition applied to a catalog: the system text and wire tools to send, and what reads the answers.

    ``tokens`` counts both, in the tokenizer of ``compiled``. ``told`` says whether the model is told what was wrong
    with a call: not in a control, which would learn the schema from it.
    """

    name: str
    system: str
    wire_tools: tuple[dict[str, Any], ...]
    compiled: CompiledCatalog
    tokens: int
    told: bool = True


Build: TypeAlias = "Callable[[Catalog, str | None, object], Prepared]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A named way of showing tools.

    >>> tools = [{"name": "ping", "description": "Health check", "inputSchema": {"type": "object"}}]
    >>> prepared = condition_of("text/balanced").prepare(tscg.Catalog.from_tools(tools))
    >>> prepared.system == prepared.compiled.prompt, prepared.wire_tools
    (True, ())
    """

    name: str
    build: Build = field(repr=False)

    def prepare(self, catalog: Catalog, *, model: str | None = None, tokenizer: object = None) -> Prepared:
        """The condition on a catalog. ConfigError where it cannot be: a cut too deep, a package that is absent."""
        return replace(self.build(catalog, model, tokenizer), name=self.name)


def condition_of(name: str) -> Condition:
    """A condition by its name; ConfigError for an unknown one.

    >>> condition_of("dispatch/names").name
    'dispatch/names'
    """
    base, at, limit = name.partition("@")
    if at:
        return Condition(name=name, build=_cut(base, limit))
    mode, _, detail = name.partition("/")
    if name in TEXTS:
        return Condition(name=name, build=_text_build(TEXTS[name]))
    if name in CONTROLS:
        return Condition(name=name, build=_control(name))
    if name == "native":
        return compiled_condition(name, mode="passthrough")
    if mode == "dispatch" and detail:
        map_, _, handles = detail.partition("/")
        return compiled_condition(name, mode=tscg.Dispatch(map=map_, handles=handles or "names"))
    if mode in ("text", "native", "code") and (detail in tscg.PROFILES or detail == "auto"):
        return compiled_condition(name, mode=mode, profile=detail)
    known = (*TEXTS, "native", *CONTROLS, "text/PROFILE", "native/PROFILE", "code/PROFILE", "dispatch/MAP", "X@Y")
    raise ConfigError(f"unknown condition {name!r}", allowed=known)


def compiled_condition(name: str, **options: Any) -> Condition:
    """A condition that compiles with these options of :func:`tscg.compile`, a profile of one's own included.

    >>> compiled_condition("mine", mode="text", profile=tscg.PROFILES["brief"]).name
    'mine'
    """

    def build(catalog: Catalog, model: str | None, tokenizer: object) -> Prepared:
        compiled = tscg.compile(catalog, **{"model": model, "tokenizer": tokenizer, **options})
        return _prepared(compiled, compiled.prompt, compiled.wire_tools)

    return Condition(name=name, build=build)


def _prepared(
    compiled: CompiledCatalog, system: str, wire_tools: Sequence[dict[str, Any]] = (), told: bool = True
) -> Prepared:
    return Prepared(
        name="", system=system, wire_tools=tuple(wire_tools), compiled=compiled,
        tokens=tokens_of(system, wire_tools, compiled.tokenizer), told=told,
    )  # fmt: skip


# --- texts that are not ours ------------------------------------------------------------------------------------------


def _openai(catalog: Catalog) -> list[dict[str, Any]]:
    """The tools in OpenAI's chat form, schemas untouched."""
    return [{"type": "function", "function": tool} for tool in tscg.compile(catalog, "passthrough").wire_tools]


def _minified(tools: list[dict[str, Any]]) -> str:
    return json.dumps(tools, ensure_ascii=False, separators=(",", ":"))


def _pretty(tools: list[dict[str, Any]]) -> str:
    return json.dumps(tools, ensure_ascii=False, indent=PRETTY)


def _toon(tools: list[dict[str, Any]]) -> str:
    try:
        from toon_format import encode
    except ImportError:
        raise ConfigError("the condition toon needs a package", hint="pip install toon-format") from None
    return str(encode(tools))


Write: TypeAlias = "Callable[[list[dict[str, Any]]], str]"
TEXTS: Mapping[str, Write] = {"json": _minified, "json-pretty": _pretty, "toon": _toon}


def _plain(catalog: Catalog, model: str | None, tokenizer: object) -> CompiledCatalog:
    """What reads answers in text: the syntax is that of text mode, and nothing is hidden that could be looked up."""
    return tscg.compile(catalog, "text", "lossless", model=model, tokenizer=tokenizer)


def _around(compiled: CompiledCatalog, body: str) -> str:
    return f"{how_to_call(compiled.dialect)}\n<tools>\n{body}\n</tools>"


def _text_build(write: Write) -> Build:
    def build(catalog: Catalog, model: str | None, tokenizer: object) -> Prepared:
        compiled = _plain(catalog, model, tokenizer)
        return _prepared(compiled, _around(compiled, write(_openai(catalog))))

    return build


def _control(name: str) -> Build:
    def build(catalog: Catalog, model: str | None, tokenizer: object) -> Prepared:
        compiled = _plain(catalog, model, tokenizer)
        if name == "free":
            return _prepared(compiled, f"{how_to_call(compiled.dialect)}\n{GUESS}", told=False)
        return _prepared(compiled, _around(compiled, "\n".join(tool.name for tool in catalog)), told=False)

    return build


# --- the same number of tokens ----------------------------------------------------------------------------------------


def _cut(base: str, limit: str) -> Build:
    whole = condition_of(base)  # an unknown name is told at once
    other = None if limit.isdecimal() else condition_of(limit)
    if base in CONTROLS or base == "native":
        raise ConfigError(f"{base} cannot be cut to a number of tokens", allowed=(*TEXTS, "compiled conditions"))

    def build(catalog: Catalog, model: str | None, tokenizer: object) -> Prepared:
        most = int(limit) if other is None else other.prepare(catalog, model=model, tokenizer=tokenizer).tokens
        full = whole.prepare(catalog, model=model, tokenizer=tokenizer)
        if full.tokens <= most:
            return full
        return _shortened(TEXTS[base], full, most) if base in TEXTS else _budgeted(full, most)

    return build


def _budgeted(full: Prepared, most: int) -> Prepared:
    given = full.compiled
    try:
        compiled = tscg.compile(
            given.catalog, given.options, given.profile_used, model=given.model, tokenizer=given.counting, budget=most
        )
    except CompileError as error:
        raise ConfigError(f"{full.name} cannot be cut to {most} tokens", hint=str(error)) from error
    return _prepared(compiled, compiled.prompt, compiled.wire_tools)


def _shortened(write: Write, full: Prepared, most: int) -> Prepared:
    """The longest text of at most so many tokens, a step at a time: a step takes one word less of the descriptions of
    one tool, and where none are left its parameters but for their names, then those too."""
    compiled, tools = full.compiled, _openai(full.compiled.catalog)

    def made(step: int) -> Prepared:
        level, ahead = divmod(step, len(tools))
        shown = [_shorter(tool, NAMES + level + (place < ahead)) for place, tool in enumerate(tools)]
        return _prepared(compiled, _around(compiled, write(shown)))

    longest = max((len(text.split()) for tool in tools for text in _texts(tool)), default=0)
    low, high, found = 0, (longest - NAMES) * len(tools), made(0)
    if found.tokens > most:
        raise ConfigError(f"{full.name} takes {found.tokens} tokens for the names alone", hint=f"asked: {most}")
    while high - low > 1:
        middle = (low + high) // 2
        candidate = made(middle)
        if candidate.tokens <= most:
            low, found = middle, candidate
        else:
            high = middle
    return found


NAMES, KEYS = -2, -1
"""Levels below a description of no words: names of tools, and names of tools and parameters."""


def _shorter(tool: dict[str, Any], words: int) -> dict[str, Any]:
    if words >= 0:
        found: dict[str, Any] = _first_words(tool, words)
        return found
    function = tool["function"]
    kept: dict[str, Any] = {"name": function["name"]}
    if words == KEYS:
        kept["parameters"] = {"properties": {key: {} for key in function["parameters"].get("properties", {})}}
    return {"type": "function", "function": kept}


def _first_words(value: Any, words: int) -> Any:
    """A copy whose descriptions keep so many words; a property that is called ``description`` is no description."""
    if isinstance(value, list):
        return [_first_words(one, words) for one in value]
    if not isinstance(value, dict):
        return value
    out: dict[str, Any] = {}
    for key, one in value.items():
        if key == "description" and isinstance(one, str):
            if words:
                out[key] = " ".join(one.split()[:words])
        elif key in ("enum", "const", "default", "examples"):
            out[key] = one
        else:
            out[key] = _first_words(one, words)
    return out


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for one in value for text in _texts(one)]
    if not isinstance(value, dict):
        return []
    own = value.get("description")
    return [*([own] if isinstance(own, str) else []), *(text for one in value.values() for text in _texts(one))]
