"""From the validator's errors to faults in plain words, all at once and in the order of the schema."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tscg.calls import Fault, Path
from tscg.shapes import MEMBERS_LIMIT, declared, deref, found, members, near, schema_at, shape, value_at

__all__ = ["Leaf", "explain", "leaves"]

UNION_DEPTH = 8


# --- errors to faults -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Leaf:
    """One error that no union explains away: the keyword, the place in the arguments and in the schema."""

    word: str
    path: Path
    at: tuple[str | int, ...]
    error: Any


def leaves(errors: Sequence[Any], root: dict[str, Any], value: Any, depth: int = 0) -> Iterator[Leaf]:
    """Errors with unions replaced by the errors of the branch that was meant, where one was."""
    for error in errors:
        leaf = Leaf(error.kind.name, tuple(error.instance_path), tuple(error.schema_path), error)
        if leaf.word == "anyOf" or (leaf.word == "oneOf" and _none_fits(error)):
            chosen = _meant(leaf, root, value, depth) if depth < UNION_DEPTH else None
            if chosen is not None:
                yield from leaves(chosen, root, value, depth + 1)
                continue
        yield leaf


def _none_fits(error: Any) -> bool:
    return all(branch for branch in getattr(error.kind, "context", []))


def _meant(leaf: Leaf, root: dict[str, Any], value: Any, depth: int) -> list[Any] | None:
    """The errors of the branch that was meant: its tag fits, else it alone takes the type, else fewest faults."""
    branches: list[list[Any]] = list(leaf.error.kind.context)
    here = value_at(value, leaf.path)
    schemas = schema_at(root, leaf.at)
    if isinstance(schemas, list) and len(schemas) == len(branches) and isinstance(here, dict):
        tagged = [i for i, part in enumerate(schemas) if _tag_fits(part, here, root)]
        if len(tagged) == 1:
            return branches[tagged[0]]
    typed = [
        branch
        for branch in branches
        if not any(e.kind.name == "type" and tuple(e.instance_path) == leaf.path for e in branch)
    ]
    if len(typed) == 1:
        return typed[0]
    if not typed or _only_required(leaf, root):
        return None
    sizes = [sum(1 for _ in leaves(branch, root, value, depth + 1)) for branch in typed]
    return typed[sizes.index(min(sizes))] if sizes.count(min(sizes)) == 1 else None


def _tag_fits(part: Any, value: dict[str, Any], root: dict[str, Any]) -> bool:
    properties = deref(part, root).get("properties")
    tags = {}
    for name, given in properties.items() if isinstance(properties, dict) else ():
        inner = deref(given, root)
        if "const" in inner:
            tags[name] = inner["const"]
        elif isinstance(inner.get("enum"), list) and len(inner["enum"]) == 1:
            tags[name] = inner["enum"][0]
    return bool(tags) and all(
        name in value and type(value[name]) is type(tag) and value[name] == tag for name, tag in tags.items()
    )


def _only_required(leaf: Leaf, root: dict[str, Any]) -> list[str]:
    """Names of a union whose branches do nothing but require them, one each at least."""
    branches = schema_at(root, leaf.at)
    if not isinstance(branches, list):
        return []
    sets = [
        part.get("required") for part in branches if isinstance(part, dict) and not set(part) - {"required", "type"}
    ]
    if len(sets) != len(branches) or not all(sets):
        return []
    return [" and ".join(names) for names in sets if names]


def explain(errors: Sequence[Any], root: dict[str, Any], value: Any) -> tuple[Fault, ...]:
    """All faults of the arguments, one for each place and rule; missing names of one object are one fault."""
    missing: dict[tuple[Path, str], list[str]] = {}
    found_: list[Fault] = []
    for leaf in leaves(errors, root, value):
        if leaf.word == "required":
            reason = _condition(leaf, root)
            missing.setdefault((leaf.path, reason), [])
            name = leaf.error.kind.property
            if name not in missing[leaf.path, reason]:
                missing[leaf.path, reason].append(name)
            continue
        found_.extend(_faults(leaf, root, value))
    for (path, reason), names in missing.items():
        here = value_at(value, path)
        place = (*path, names[0]) if len(names) == 1 else path
        hint = renames(names, here, declared(root, path, value)) if isinstance(here, dict) else ""
        found_.append(Fault(kind="missing_required", path=place, expected=", ".join(names), found=reason, hint=hint))
    order = {name: i for i, name in enumerate(declared(root, (), value))}
    unique = list(dict.fromkeys(found_))
    return tuple(sorted(unique, key=lambda fault: _position(fault, order)))


def _position(fault: Fault, order: dict[str, int]) -> tuple[int, int]:
    first = fault.path[0] if fault.path else fault.expected.split(", ")[0]
    return order.get(first, len(order)) if isinstance(first, str) else len(
        order
    ), 0 if fault.kind == "missing_required" else 1


def _condition(leaf: Leaf, root: dict[str, Any]) -> str:
    """Why a name is required, where it is not always."""
    if "dependentRequired" in leaf.at[-2:]:
        asked = schema_at(root, leaf.at[: leaf.at.index("dependentRequired") + 1])
        name = leaf.error.kind.property
        given = [key for key, names in asked.items() if name in names] if isinstance(asked, dict) else []
        return f"because {', '.join(given)} is given" if given else ""
    for word in ("then", "else", "dependentSchemas"):
        if word in leaf.at:
            at = leaf.at[: len(leaf.at) - leaf.at[::-1].index(word) - 1]
            rule = schema_at(root, (*at, "if")) if word != "dependentSchemas" else None
            names = list(rule.get("properties") or rule.get("required") or ()) if isinstance(rule, dict) else []
            said = {
                name: _told(rule["properties"][name])
                for name in names
                if isinstance(rule, dict) and "properties" in rule
            }
            text = ", ".join(f"{name} is {said[name]}" if said.get(name) else name for name in names)
            return (f"when {text}" if word == "then" else f"unless {text}") if text else "because of what else is given"
    return ""


def _told(node: Any) -> str:
    return found(node["const"]) if isinstance(node, dict) and "const" in node else ""


# Names that mean the same to many models; a hint only, never a repair.
SYNONYMS = (
    ("query", "q", "search", "text", "term", "keyword", "keywords"),
    ("limit", "per_page", "page_size", "max_results", "count", "size", "top_k", "num", "n"),
    ("path", "file", "filename", "file_path", "filepath"),
    ("title", "name", "subject", "summary"),
    ("body", "content", "text", "message", "description"),
    ("id", "identifier", "key", "number"),
    ("url", "uri", "link", "href"),
    ("old_string", "search", "old_text", "find"),
    ("new_string", "replace", "new_text", "replacement"),
    ("repo", "repository"),
    ("owner", "org", "organization", "user"),
    ("city", "location", "place", "town"),
    ("since", "after", "from", "start"),
    ("until", "before", "to", "end"),
    ("command", "cmd", "script"),
    ("language", "lang", "locale"),
)


def renames(missing: Sequence[str], given: dict[str, Any], known: Sequence[str]) -> str:
    """A hint for each missing name that one unexpected key, and no other, comes near to."""
    extra = [key for key in given if key not in known]
    hints = []
    for name in missing:
        same = _fold(name)
        close = [key for key in extra if any(same in row and _fold(key) in row for row in _ROWS)]
        close = close or [key for key in extra if _alike(same, _fold(key))]
        if len(close) == 1:
            hints.append(f"You sent {found(close[0])}: if that is meant, call it {found(name)}.")
    return " ".join(hints)


def _fold(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())


_ROWS = tuple(frozenset(_fold(word) for word in row) for row in SYNONYMS)


def _alike(left: str, right: str) -> bool:
    if not left or not right or len(right) > 256:
        return False
    from rapidfuzz import fuzz

    return fuzz.ratio(left, right) >= 60


# --- one fault ------------------------------------------------------------------------------------------------------


def _faults(leaf: Leaf, root: dict[str, Any], value: Any) -> Iterator[Fault]:
    here = value_at(value, leaf.path)
    writer = WRITERS.get(leaf.word)
    if leaf.word in ("additionalProperties", "unevaluatedProperties"):
        known = declared(root, leaf.path, value)
        for name in leaf.error.kind.unexpected:
            yield Fault(
                kind="unexpected_argument",
                path=(*leaf.path, name),
                expected=", ".join(known[:MEMBERS_LIMIT]) or "no arguments",
                found=found(name),
                hint=_near_missing(name, known, here),
            )
        return
    if writer is not None:
        kind, expected = writer(leaf, root)
        yield Fault(kind=kind, path=leaf.path, expected=expected, found=found(here))
        return
    if leaf.word == "const":
        yield Fault(kind="const", path=leaf.path, expected=found(leaf.error.kind.expected_value), found=found(here))
        return
    if leaf.word == "enum":
        values = leaf.error.kind.options
        shown, nearest = members(values, here)
        hint = f"Nearest: {nearest}." if nearest and len(values) > 1 else ""
        yield Fault(kind="enum", path=leaf.path, expected=shown, found=found(here), hint=hint)
        return
    if leaf.word in ("anyOf", "oneOf"):
        yield _union(leaf, root, here)
        return
    yield Fault(kind="no_variant", path=leaf.path, expected=f"a value that satisfies {leaf.word}", found=found(here))


def _near_missing(name: str, known: Sequence[str], here: Any) -> str:
    absent = [one for one in known if isinstance(here, dict) and one not in here]
    close = near(absent, name, limit=1) if absent else []
    return f"Near: {close[0]}." if close else ""


def _union(leaf: Leaf, root: dict[str, Any], here: Any) -> Fault:
    branches = schema_at(root, leaf.at)
    names = _only_required(leaf, root)
    if names:
        many = "exactly one of" if leaf.word == "oneOf" else "at least one of"
        return Fault(kind="one_of", path=leaf.path, expected=f"{many} {', '.join(names)}", found=found(here))
    if leaf.word == "oneOf" and not _none_fits(leaf.error):
        return Fault(
            kind="one_of", path=leaf.path, expected="a value that fits exactly one of the shapes", found=found(here)
        )
    shapes = list(dict.fromkeys(shape(branch, root, 1) for branch in branches)) if isinstance(branches, list) else []
    expected = " or ".join(shapes[:6]) or "one of several shapes"
    kinds = {
        error.kind.name
        for branch in leaf.error.kind.context
        for error in branch
        if tuple(error.instance_path) == leaf.path
    }
    if kinds == {"type"}:
        return Fault(kind="wrong_type", path=leaf.path, expected=expected, found=found(here))
    if kinds <= {"type", "enum", "const"} and kinds:
        return Fault(kind="enum", path=leaf.path, expected=expected, found=found(here))
    return Fault(kind="no_variant", path=leaf.path, expected=expected, found=found(here))


def _limit(kind: str, words: str, field: str = "limit") -> Callable[[Leaf, dict[str, Any]], tuple[str, str]]:
    return lambda leaf, root: (kind, words.format(getattr(leaf.error.kind, field)))


def _type(leaf: Leaf, root: dict[str, Any]) -> tuple[str, str]:
    node = schema_at(root, leaf.at[:-1])
    bare = {key: part for key, part in node.items() if key not in ("enum", "const")} if isinstance(node, dict) else node
    return "wrong_type", shape(bare, root)


WRITERS: dict[str, Callable[[Leaf, dict[str, Any]], tuple[str, str]]] = {
    "type": _type,
    "minimum": _limit("minimum", "at least {}"),
    "maximum": _limit("maximum", "at most {}"),
    "exclusiveMinimum": _limit("minimum", "more than {}"),
    "exclusiveMaximum": _limit("maximum", "less than {}"),
    "multipleOf": _limit("multiple_of", "a multiple of {}", "multiple_of"),
    "minLength": _limit("length", "at least {} characters"),
    "maxLength": _limit("length", "at most {} characters"),
    "minItems": _limit("items", "at least {} items"),
    "maxItems": _limit("items", "at most {} items"),
    "minProperties": _limit("properties", "at least {} members"),
    "maxProperties": _limit("properties", "at most {} members"),
    "uniqueItems": lambda leaf, root: ("unique", "no item twice"),
    "additionalItems": lambda leaf, root: ("items", "no more items"),
    "unevaluatedItems": lambda leaf, root: ("items", "no more items"),
    "contains": lambda leaf, root: ("items", f"an item that is {shape(schema_at(root, leaf.at), root)}"),
    "pattern": lambda leaf, root: ("pattern", f"a text that matches {schema_at(root, leaf.at)}"[:160]),
    "format": lambda leaf, root: ("format", f"a text in the format {schema_at(root, leaf.at)}"),
    "propertyNames": lambda leaf, root: ("properties", "other names of members"),
    "not": lambda leaf, root: ("forbidden", f"anything but {shape(schema_at(root, leaf.at), root)}"),
    "falseSchema": lambda leaf, root: ("forbidden", "nothing here"),
}
