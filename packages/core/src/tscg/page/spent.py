"""Where the tokens of a catalog go: prose, structure, and what is said again.

Of the JSON: prose is what the tokens fall by when descriptions, titles and examples are taken out, structure is the
rest. Of both, what was met before in the catalog (a named schema, word for word, or a sentence) is a repeat instead.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from tscg.ir import JSON, Catalog, Tool
from tscg.language.share import chunks
from tscg.prose_form import normalise
from tscg.schema import DEPTH_LIMIT, SCHEMA_AT, SCHEMA_MAP_AT, SCHEMAS_AT
from tscg.stats import minified, openai_form

__all__ = ["Spent", "spent_of"]

PROSE = frozenset(("description", "title", "examples", "example", "$comment"))
SHORT = 12
"""Characters below which a sentence said again is not worth the name."""

Count = Callable[[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Tokens of one tool's minified JSON by what they are for."""

    prose: int
    structure: int
    repeats: int


@dataclass(slots=True)
class _Met:
    """What was said so far in the catalog."""

    schemas: set[str] = field(default_factory=set)
    sentences: set[str] = field(default_factory=set)


def spent_of(catalog: Catalog, count: Count) -> list[Spent]:
    """What the tokens of each tool go into, in the order of the catalog.

    >>> properties = {"owner": {"type": "string", "description": "Who owns it"}}
    >>> rows = [{"name": name, "parameters": {"type": "object", "properties": properties}} for name in "ab"]
    >>> first, second = spent_of(Catalog.from_tools(rows), len)
    >>> first.repeats, second.repeats == len('"owner":{"type":"string","description":"Who owns it"}')
    (0, True)
    """
    met = _Met()
    return [_spent(tool, met, count) for tool in catalog]


def _spent(tool: Tool, met: _Met, count: Count) -> Spent:
    bare = {"type": "function", "function": {"name": tool.name, "parameters": _bare(tool.schema, 0)}}
    whole, structure = count(minified(openai_form(tool))), count(minified(bare))
    prose = max(whole - structure, 0)
    again_prose = again_structure = 0
    for said, form in _again(tool, met):
        tokens, kept = count(said), count(form)
        again_prose += tokens - kept
        again_structure += kept
    # Pieces are counted alone, so their sum may pass the whole by a token or two.
    again_prose, again_structure = min(again_prose, prose), min(again_structure, structure)
    return Spent(
        prose=prose - again_prose,
        structure=whole - prose - again_structure,
        repeats=again_prose + again_structure,
    )


def _again(tool: Tool, met: _Met) -> Iterator[tuple[str, str]]:
    """What the tool says that was said before, and the same without prose."""
    yield from _sentences(tool.original_description, met)
    yield from _in_schema(tool.schema, met, 0)


def _sentences(text: JSON, met: _Met) -> Iterator[tuple[str, str]]:
    if not isinstance(text, str):
        return
    for sentence in chunks(normalise(text))[::2]:
        if len(sentence) < SHORT:
            continue
        if sentence in met.sentences:
            yield sentence, ""
        met.sentences.add(sentence)


def _in_schema(schema: JSON, met: _Met, depth: int) -> Iterator[tuple[str, str]]:
    if not isinstance(schema, dict) or depth > DEPTH_LIMIT:
        return
    yield from _sentences(schema.get("description"), met)
    for named, below in _below(schema):
        if named:
            said = f"{json.dumps(named, ensure_ascii=False)}:{minified(below)}"
            if said in met.schemas:
                yield said, f"{json.dumps(named, ensure_ascii=False)}:{minified(_bare(below, depth))}"
                continue
            met.schemas.add(said)
        yield from _in_schema(below, met, depth + 1)


def _below(schema: Mapping[str, JSON]) -> Iterator[tuple[str, JSON]]:
    """The schemas directly below one, with their names where they have one."""
    for key, value in schema.items():
        if key in SCHEMA_MAP_AT and isinstance(value, dict):
            yield from value.items()
        elif key in SCHEMAS_AT and isinstance(value, list):
            for one in value:
                yield "", one
        elif key in SCHEMA_AT:
            yield "", value


def _bare(schema: JSON, depth: int) -> JSON:
    """A schema without its prose; by position, for a parameter may be called ``title``."""
    if not isinstance(schema, dict) or depth > DEPTH_LIMIT:
        return schema
    out: dict[str, JSON] = {}
    for key, value in schema.items():
        if key in SCHEMA_MAP_AT and isinstance(value, dict):
            out[key] = {name: _bare(below, depth + 1) for name, below in value.items()}
        elif key in SCHEMAS_AT and isinstance(value, list):
            out[key] = [_bare(one, depth + 1) for one in value]
        elif key in SCHEMA_AT:
            out[key] = _bare(value, depth + 1)
        elif key not in PROSE:
            out[key] = value
    return out
