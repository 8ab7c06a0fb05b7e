"""Repairs of values, each with a proof: invalid where it stands, valid after the change, and no other change fits.

Candidates arise only at the places of validation errors. If the call is still invalid at the end, no repair counts.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tscg.calls import Path, show_path
from tscg.decoding import REPAIR_KINDS
from tscg.explain import Leaf, leaves
from tscg.shapes import below, declared, deref, flat, value_at

if TYPE_CHECKING:
    from tscg.decoding import Decoding
    from tscg.validate import Validator

__all__ = ["fill_defaults", "integral_floats", "repair", "unstrict", "wrong_at"]

WRAPPERS = ("properties", "parameters", "arguments", "args", "kwargs", "input")
NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?\Z")
PLACES_A_REPAIR = 8
DROP = object()  # a candidate: the member is left out


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the arguments where the validator found errors, with the members of enums that were wanted there."""

    path: Path
    words: frozenset[str]
    members: tuple[Any, ...]
    text_allowed: bool


def repair(
    validator: Validator, arguments: dict[str, Any], options: Decoding, tool: str, sources: dict[float, str]
) -> tuple[dict[str, Any], list[str]] | None:
    """Valid arguments with the list of what was changed, or None where proofs do not suffice."""
    unwrapped = _unwrapped(validator, arguments, tool) if options.wrapper_removed else None
    value = copy.deepcopy(arguments)
    made: list[str] = []
    for _ in range(options.max_rounds):
        changed = False
        places = _places(validator, value)
        if len(places) > PLACES_A_REPAIR * options.max_repairs:
            break  # so many faults are no slips, and each proof reads all of them
        for place in places:
            if len(made) >= options.max_repairs:
                break
            change = _only_change(validator, value, place, options, sources)
            if change is None:
                continue
            kind, new, detail = change
            value = _with(value, place.path, new)
            made.append(f"{kind}: {show_path(place.path)}: {detail}")
            changed = True
        if validator.is_valid(value):
            # Two readings of the whole, with and without the wrapper, are no proof.
            return (value, made) if unwrapped is None else None
        if not changed:
            break
    return unwrapped


def _unwrapped(validator: Validator, arguments: dict[str, Any], tool: str) -> tuple[dict[str, Any], list[str]] | None:
    keys = [key for key in arguments if not (key == "type" and arguments[key] == "object")]
    if len(keys) != 1 or keys[0] not in (*WRAPPERS, tool) or keys[0] in _declared(validator):
        return None
    inner = arguments[keys[0]]
    if not isinstance(inner, dict) or not validator.is_valid(inner):
        return None
    return copy.deepcopy(inner), [f"wrapper_removed: : {keys[0]}"]


def _declared(validator: Validator) -> list[str]:
    return declared(validator.copy, (), {})


# --- places and candidates ------------------------------------------------------------------------------------------


def _all(errors: list[Any], depth: int = 0) -> Iterator[Any]:
    """Errors and those in the branches of unions."""
    for error in errors:
        yield error
        if depth < 8:
            for branch in getattr(error.kind, "context", None) or ():
                yield from _all(branch, depth + 1)


def _places(validator: Validator, value: Any) -> list[Place]:
    """Where errors are, deepest first, then in the order of the validator."""
    found: dict[Path, list[Any]] = {}
    for error in _all(validator.errors(value)):
        found.setdefault(tuple(error.instance_path), []).append(error)
        if error.kind.name in ("additionalProperties", "unevaluatedProperties"):
            for name in error.kind.unexpected:
                found.setdefault((*error.instance_path, name), []).append(error)
    places = []
    for path, errors in found.items():
        if not path:
            continue
        members: list[Any] = []
        types: list[list[str]] = []
        for error in errors:
            if error.kind.name == "enum":
                members += error.kind.options
            elif error.kind.name == "const":
                members.append(error.kind.expected_value)
            elif error.kind.name == "type" and tuple(error.instance_path) == path:
                types.append(error.kind.types)
        words = frozenset(error.kind.name for error in errors if tuple(error.instance_path) == path)
        texts = (
            any(isinstance(member, str) for member in members) or not types or any("string" in kinds for kinds in types)
        )
        extra = not words & {"type", "enum", "const", "anyOf", "oneOf"}
        places.append(Place(path, words | ({"extra"} if not words else frozenset()), tuple(members), texts or extra))
    return sorted(places, key=lambda place: -len(place.path))


def wrong_at(validator: Validator, value: Any, path: Path) -> bool:
    """Is anything wrong at a place, below it, or in what it should hold?"""
    return any(_touches(leaf, path) for leaf in leaves(validator.errors(value), validator.copy, value))


def _touches(leaf: Leaf, path: Path) -> bool:
    at = (*leaf.path, leaf.error.kind.property) if leaf.word == "required" else leaf.path
    if at[: len(path)] == path:
        return True
    if leaf.word in ("anyOf", "oneOf") and path[: len(at)] == at:
        return any(tuple(error.instance_path) == path for error in _all([leaf.error]))
    if leaf.word in ("additionalProperties", "unevaluatedProperties"):
        return any((*at, name) == path for name in leaf.error.kind.unexpected)
    return False


def _only_change(
    validator: Validator, value: Any, place: Place, options: Decoding, sources: dict[float, str]
) -> tuple[str, Any, str] | None:
    here = value_at(value, place.path)
    candidates = [
        found
        for rule in RULES
        for found in rule(here, place, options, sources)
        if found[0] not in REPAIR_KINDS or options.allows(found[0])
    ]
    if not candidates or not wrong_at(validator, value, place.path):
        return None
    fitting: list[Candidate] = []
    for kind, new, detail in candidates:
        if any(kind == taken[0] == "null_text" or _same(new, taken[1]) for taken in fitting):
            continue  # null where null fits, left out only where it does not; one change found by two rules is one
        if new is DROP and not _optional(place.path, value):
            continue
        if not wrong_at(validator, _with(value, place.path, new), place.path):
            fitting.append((kind, new, detail))
    return fitting[0] if len(fitting) == 1 else None


def _same(left: Any, right: Any) -> bool:
    return type(left) is type(right) and bool(left == right)


def _optional(path: Path, value: Any) -> bool:
    """Only a member of an object can be left out."""
    return isinstance(path[-1], str) and isinstance(value_at(value, path[:-1]), dict)


def _with(value: Any, path: Path, new: Any) -> Any:
    """A copy with one place changed; what lies beside the path is shared."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, dict):
        if not rest and new is DROP:
            return {key: inner for key, inner in value.items() if key != step}
        return {key: _with(inner, rest, new) if key == step else inner for key, inner in value.items()}
    return [_with(inner, rest, new) if index == step else inner for index, inner in enumerate(value)]


Candidate = tuple[str, Any, str]
Rule = Callable[[Any, Place, "Decoding", "dict[float, str]"], Iterator[Candidate]]


def _scalar_text(here: Any, place: Place, options: Decoding, sources: dict[float, str]) -> Iterator[Candidate]:
    if not isinstance(here, str):
        return
    if NUMBER.match(here) and len(here) <= options.max_digits:
        number = float(here) if set(here) & set(".eE") else int(here)
        if number not in (float("inf"), float("-inf")):
            yield "number_text", number, here[:40]
    elif here in ("true", "false"):
        yield "bool_text", here == "true", here
    elif here == "null":
        yield "null_text", None, "the word null"
        yield "null_text", DROP, "the word null, left out"


def _nothing(here: Any, place: Place, options: Decoding, sources: dict[float, str]) -> Iterator[Candidate]:
    if here is None:
        yield "null_dropped", DROP, "null, left out"
    elif here == "":
        yield "empty_dropped", DROP, "empty text, left out"


def _json_text(here: Any, place: Place, options: Decoding, sources: dict[float, str]) -> Iterator[Candidate]:
    if not isinstance(here, str) or place.text_allowed or here.lstrip()[:1] not in ("{", "["):
        return
    from tscg.decoders.values import Bad, read_value

    try:
        reading = read_value(here, options)
    except Bad:
        return
    if isinstance(reading.value, dict | list) and not reading.repairs:
        yield "json_text", reading.value, "JSON text"


def _enum(here: Any, place: Place, options: Decoding, sources: dict[float, str]) -> Iterator[Candidate]:
    if not isinstance(here, str) or not place.members:
        return
    same = here.strip().casefold()
    folded = list(dict.fromkeys(m for m in place.members if isinstance(m, str) and m.strip().casefold() == same))
    if len(folded) == 1:
        yield "enum_case", folded[0], f"{here[:40]} for {folded[0][:40]}"
    spelled = list(
        dict.fromkeys(m for m in place.members if isinstance(m, bool | int | float) and json.dumps(m) == here)
    )
    if len(spelled) == 1:
        yield "enum_type", spelled[0], here


def _options(here: Any, place: Place, options: Decoding, sources: dict[float, str]) -> Iterator[Candidate]:
    """What only an option allows."""
    if options.number_to_text and type(here) in (int, float):
        text = str(here) if isinstance(here, int) else sources.get(here, repr(here))
        yield "number_to_text", text, text[:40]
    if options.wrap_scalars and not isinstance(here, list | dict):
        yield "scalar_wrapped", [here], "one value as a list"
    if options.extras == "drop" and "extra" in place.words:
        yield "extra_dropped", DROP, "undeclared"


RULES: tuple[Rule, ...] = (_enum, _scalar_text, _nothing, _json_text, _options)


# --- changes to valid calls -----------------------------------------------------------------------------------------


def integral_floats(validator: Validator, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """``3.0`` becomes 3 where an integer is wanted: shown by a fraction being refused there for its type."""
    made: list[str] = []
    value: Any = arguments
    for path, number in list(_floats(arguments, ()))[:64]:
        probe = _with(value, path, number + 0.5 if abs(number) < 2**50 else 0.5)
        wanted = [
            error.kind.types
            for error in _all(validator.errors(probe))
            if error.kind.name == "type" and tuple(error.instance_path) == path
        ]
        if any("integer" in kinds for kinds in wanted):
            changed = _with(value, path, int(number))
            if validator.is_valid(changed):
                value = changed
                made.append(f"integral_float: {show_path(path)}: {number!r}")
    return value, made


def _floats(value: Any, path: Path) -> Iterator[tuple[Path, float]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _floats(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _floats(inner, (*path, index))
    elif type(value) is float and value.is_integer() and repr(value) != "-0.0":
        yield path, value


def fill_defaults(validator: Validator, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Declared defaults for what was left out, where the call stays valid with them."""
    root = deref(validator.copy, validator.copy)
    made: list[str] = []
    value = arguments
    for name, given in root.get("properties", {}).items():
        part = deref(given, validator.copy) if isinstance(given, dict) and "default" not in given else given
        if name not in value and isinstance(part, dict) and "default" in part:
            filled = {**value, name: copy.deepcopy(part["default"])}
            if validator.is_valid(filled):
                value = filled
                made.append(f"default_filled: {show_path((name,))}: {json.dumps(part['default'])[:40]}")
    return value, made


def unstrict(arguments: dict[str, Any], root: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Strict mode's null for "left out": dropped wherever the parameter is optional, at any depth."""
    made: list[str] = []

    def clean(value: Any, nodes: list[Any], path: Path) -> Any:
        if isinstance(value, list):
            return [clean(inner, inside(nodes, i), (*path, i)) for i, inner in enumerate(value)]
        if not isinstance(value, dict):
            return value
        parts = flat(nodes, root)
        out = {}
        for key, inner in value.items():
            if inner is None and any(key in part.get("properties", {}) for part in parts) and optional(key, parts):
                made.append(f"unstrict: {show_path((*path, key))}: null, left out")
                continue
            out[key] = clean(inner, inside(nodes, key), (*path, key))
        return out

    def inside(nodes: list[Any], step: str | int) -> list[Any]:
        return [part for node in nodes for part in below(node, step, root)]

    def optional(key: str, parts: list[dict[str, Any]]) -> bool:
        """May it be left out in every form of a union? Where only some let it, the repairs with a proof decide."""
        return all(key not in part.get("required", ()) for part in parts if key in part.get("properties", {}))

    return clean(arguments, [root], ()), made
