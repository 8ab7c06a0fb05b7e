"""Values at the border of the sandbox: what a program passes and returns, as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tscg.ir import JSON

__all__ = ["NoJSON", "argument", "shown"]

DEPTH = 64


class NoJSON(Exception):
    """A value that JSON has no form for: where it is, and what it is."""


def argument(value: object, place: str = "", depth: int = 0) -> JSON:
    """An argument of a call as JSON; tuples are lists. Raises :class:`NoJSON` for anything else that is no JSON.

    >>> argument({"a": (1, 2.5, None)})
    {'a': [1, 2.5, None]}
    """
    if depth > DEPTH:
        raise NoJSON(f"{place[:80]}: nested too deeply")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, list | tuple):
        return [argument(one, f"{place}[{index}]", depth + 1) for index, one in enumerate(value)]
    if isinstance(value, Mapping):
        out: dict[str, JSON] = {}
        for key, inner in value.items():
            if not isinstance(key, str):
                raise NoJSON(f"{place}: the key {key!r} is no text")
            out[key] = argument(inner, f"{place}.{key}" if place else key, depth + 1)
        return out
    raise NoJSON(f"{place}: {_kind(value)} is no JSON value")


def shown(value: object, depth: int = 0) -> JSON:
    """A result as JSON: what JSON has no form for is shown as a text.

    >>> import datetime
    >>> shown({1: {"b", "a"}, "day": datetime.date(2024, 5, 1)})
    {'1': ['a', 'b'], 'day': '2024-05-01'}
    """
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if value - value == 0 else str(value)
    if depth > DEPTH:
        return "..."
    if isinstance(value, list | tuple):
        return [shown(one, depth + 1) for one in value]
    if isinstance(value, set | frozenset):
        return [shown(one, depth + 1) for one in sorted(value, key=repr)]
    if isinstance(value, Mapping):
        return {key if isinstance(key, str) else str(key): shown(inner, depth + 1) for key, inner in value.items()}
    return str(value)


def _kind(value: object) -> str:
    name = type(value).__name__.removeprefix("Monty").removesuffix("Proxy")
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}"
