"""Schemas and values in plain words, and what is declared where."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from tscg.calls import Path

__all__ = [
    "FOUND_LIMIT",
    "MEMBERS_LIMIT",
    "below",
    "declared",
    "declared_in",
    "deref",
    "flat",
    "found",
    "members",
    "near",
    "schema_at",
    "shape",
    "value_at",
]

FOUND_LIMIT = 80  # characters of a value that are shown
MEMBERS_LIMIT = 20  # members of an enum that are shown, else the nearest few
NEAREST = 8
NOUNS = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "null": "null",
    "array": "a list",
    "object": "an object",
}


def found(value: Any) -> str:
    """A value as minified JSON of at most 80 characters.

    >>> found("a" * 100)[-4:], found([1, {"a": None}])
    ('aaa…', '[1,{"a":null}]')
    """
    if isinstance(value, str | list | dict) and len(value) > FOUND_LIMIT:
        value = value[:FOUND_LIMIT] if isinstance(value, str | list) else dict(list(value.items())[:FOUND_LIMIT])
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (ValueError, TypeError, RecursionError):
        text = repr(type(value).__name__)
    return text if len(text) <= FOUND_LIMIT else text[: FOUND_LIMIT - 1] + "…"


def deref(node: Any, root: dict[str, Any]) -> dict[str, Any]:
    """The schema itself, behind references and lone ``allOf``."""
    for _ in range(16):
        if not isinstance(node, dict):
            return {}
        ref = node.get("$ref")
        if ref == "#":
            node = root
        elif isinstance(ref, str) and "type" not in node:
            node = root.get("$defs", {}).get(ref.rsplit("/", 1)[-1], {})
        elif list(node) == ["allOf"] and len(node["allOf"]) == 1:
            node = node["allOf"][0]
        else:
            return node
    return {}


def shape(node: Any, root: dict[str, Any], depth: int = 0) -> str:
    """A schema in a few words.

    >>> shape({"type": "array", "items": {"type": ["string", "null"]}}, {})
    'a list of (a string or null)'
    >>> shape({"anyOf": [{"const": "x"}, {"type": "object", "required": ["a"]}]}, {})
    '"x" or an object with a'
    """
    node = deref(node, root)
    if "const" in node:
        return found(node["const"])
    if isinstance(node.get("enum"), list):
        return members(node["enum"], None)[0]
    branches = node.get("anyOf") or node.get("oneOf")
    if branches and "type" not in node:
        parts = [shape(branch, root, depth + 1) for branch in branches] if depth < 3 else []
        return " or ".join(dict.fromkeys(parts[:6])) or "one of several shapes"
    kinds = node.get("type")
    words = [kinds] if isinstance(kinds, str) else kinds if isinstance(kinds, list) else []
    return " or ".join(_noun(kind, node, root, depth) for kind in words) or "another value"


def _noun(kind: str, node: dict[str, Any], root: dict[str, Any], depth: int) -> str:
    word = NOUNS.get(kind, kind)
    if kind == "array" and isinstance(node.get("items"), dict) and depth < 3:
        inner = shape(node["items"], root, depth + 1)
        if inner != "another value":
            return f"{word} of ({inner})" if " or " in inner else f"{word} of {_plural(inner)}"
    if kind == "object" and node.get("required"):
        return f"{word} with {', '.join(node['required'][:8])}"
    return word


def _plural(noun: str) -> str:
    words = {
        "a string": "strings",
        "an integer": "integers",
        "a number": "numbers",
        "a list": "lists",
        "an object": "objects",
    }
    for single, many in words.items():
        if noun == single or noun.startswith(f"{single} "):
            return many + noun[len(single) :]
    return noun


def members(values: Sequence[Any], given: Any) -> tuple[str, str]:
    """The members of an enum as text, and the nearest one to a given text (empty when none is near)."""
    nearest = near([value for value in values if isinstance(value, str)], given) if isinstance(given, str) else []
    if len(values) <= MEMBERS_LIMIT:
        shown = ", ".join(map(_member, values))
    else:
        first = [*nearest, *(value for value in values if value not in nearest)][:NEAREST]
        shown = f"{', '.join(map(_member, first))} and {len(values) - len(first)} more"
    return shown, nearest[0] if nearest else ""


def _member(value: Any) -> str:
    return (
        value
        if isinstance(value, str) and value.replace("_", "").replace("-", "").isalnum() and not _wordlike(value)
        else found(value)
    )


def _wordlike(text: str) -> bool:
    return text[0].isdecimal() or text in ("true", "false", "null")


def near(names: Sequence[str], given: str, limit: int = NEAREST, cutoff: float = 60) -> list[str]:
    """Names like the given one, best first; equal scores in the order given."""
    if not given or len(given) > 256:
        return []
    from rapidfuzz import fuzz, process

    low = [name.lower()[:256] for name in names]
    scored = process.extract(given.lower(), low, scorer=fuzz.ratio, limit=limit, score_cutoff=cutoff)
    return [names[index] for _, _, index in scored]


def value_at(value: Any, path: Path) -> Any:
    """The value at a place; None where there is none."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def schema_at(root: Any, at: Sequence[str | int]) -> Any:
    """The part of a schema at a place; None where there is none."""
    for step in at:
        inside = step in root if isinstance(root, dict) else isinstance(root, list) and -1 < _index(step) < len(root)
        if not inside:
            return None
        root = root[step]
    return root


def _index(step: str | int) -> int:
    return step if isinstance(step, int) else -1


def declared(root: dict[str, Any], path: Path, value: Any) -> list[str]:
    """Names of the properties that are declared at a place, through unions and references, in the author's order."""
    nodes: list[Any] = [root]
    for step in path:
        nodes = [inner for node in nodes for inner in below(node, step, root)]
    return list(declared_in(flat(nodes, root)))


def declared_in(nodes: list[dict[str, Any]]) -> dict[str, None]:
    """Names that some schemas declare or require."""
    names: dict[str, None] = {}
    for node in nodes:
        properties = node.get("properties")
        names.update(dict.fromkeys(properties if isinstance(properties, dict) else ()))
        names.update(dict.fromkeys(node.get("required", ())))
    return names


def flat(nodes: list[Any], root: dict[str, Any]) -> list[dict[str, Any]]:
    """Schemas with what their combinators and references hold; each once."""
    out: dict[int, dict[str, Any]] = {}
    waiting = list(reversed(nodes))
    while waiting and len(out) < 200:
        node = waiting.pop()
        if not isinstance(node, dict) or id(node) in out:
            continue
        out[id(node)] = node
        parts = [part for key in ("allOf", "anyOf", "oneOf") for part in node.get(key, ())]
        parts += [node[key] for key in ("then", "else") if key in node]
        if "$ref" in node:
            parts.append(root if node["$ref"] == "#" else root.get("$defs", {}).get(node["$ref"].rsplit("/", 1)[-1]))
        waiting.extend(reversed(parts))
    return list(out.values())


def below(node: Any, step: str | int, root: dict[str, Any]) -> Iterator[Any]:
    """The schemas of a member or an item of what a schema describes."""
    for part in flat([node], root):
        if isinstance(step, int):
            prefix = part.get("prefixItems", [])
            yield prefix[step] if step < len(prefix) else part.get("items")
        else:
            yield part.get("properties", {}).get(step, part.get("additionalProperties"))
