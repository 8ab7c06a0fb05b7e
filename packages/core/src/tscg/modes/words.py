"""Constraints in words: what an adapter leaves out of a schema, said in the description of the tool."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, NamedTuple

from tscg.language.spelling import json_text
from tscg.language.spelling import name as spelled
from tscg.schema import minified

__all__ = ["Said", "in_words", "rules_line"]

PHRASES = {
    "minimum": "at least {}", "maximum": "at most {}", "exclusiveMinimum": "over {}", "exclusiveMaximum": "under {}",
    "multipleOf": "a multiple of {}", "minLength": "at least {} characters", "maxLength": "at most {} characters",
    "minItems": "at least {} items", "maxItems": "at most {} items", "minProperties": "at least {} keys",
    "maxProperties": "at most {} keys", "pattern": "matches {}", "format": "format {}", "default": "default {}",
    "const": "always {}",
}  # fmt: skip


class Said(NamedTuple):
    """A constraint that a schema no longer holds: the place (names of parameters, ``[]`` for items), keyword, words."""

    path: tuple[str, ...]
    keyword: str
    words: str


def in_words(keyword: str, value: Any) -> str:
    """A keyword of JSON Schema with its value, in a few words on one line.

    >>> in_words("multipleOf", 5), in_words("enum", [1, 2]), in_words("not", {"const": "x"})
    ('a multiple of 5', 'one of 1, 2', 'not {"const":"x"}')
    """
    if keyword in PHRASES:
        shown = value if isinstance(value, str) and keyword == "format" else json.dumps(value, ensure_ascii=False)
        return PHRASES[keyword].format(json_text(shown))
    if keyword == "enum":
        return f"one of {', '.join(json_text(minified(member)) for member in value)}"
    if keyword == "additionalProperties" and value is False:
        return "no other keys"
    if keyword == "additionalProperties":
        return f"other keys {json_text(minified(value))}"
    if keyword == "uniqueItems":
        return "no item twice"
    if keyword == "oneOf":
        return "exactly one of the forms"
    if keyword == "dependentRequired" and all(isinstance(names, list) for names in value.values()):
        return ", ".join(f"{spelled(key)} needs {' and '.join(map(spelled, names))}" for key, names in value.items())
    return f"{keyword} {json_text(minified(value))}"


def rules_line(said: Iterable[Said]) -> str:
    """What was left out, place by place, as one line; empty for nothing.

    >>> rules_line([Said(("n",), "multipleOf", "a multiple of 5"), Said((), "not", "not {}")])
    'Rules: n a multiple of 5; not {}'
    """
    by_place: dict[tuple[str, ...], dict[str, None]] = {}
    for one in said:
        by_place.setdefault(one.path, {})[one.words] = None
    places = [" ".join(part for part in (_place(path), ", ".join(words)) if part) for path, words in by_place.items()]
    return f"Rules: {'; '.join(places)}" if places else ""


def _place(path: tuple[str, ...]) -> str:
    out = ""
    for step in path:
        out += step if step[:1] == "[" and step[-1:] == "]" else f"{'.' if out else ''}{spelled(step)}"
    return out
