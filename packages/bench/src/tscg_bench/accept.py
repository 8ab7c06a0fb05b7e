"""What is accepted for one parameter, and whether a value is.

An accepted value is written as JSON. Beside a plain value there are five forms, alone in an object:

====================  ===============================================================
``{"$any": [A, B]}``  one of these, each in any form
``{"$has": ["a|b"]}`` a text that holds each of these, ``|`` between equal choices
``{"$opt": A}``       may be left out, and is ``A`` where given
``{"$set": [A, B]}``  an array of just these in any order
``{"$std": TEXT}``    this text by the rule of BFCL: case, spaces and ``,./-_*^()`` aside
====================  ===============================================================

Texts are compared without regard to case, to runs of white space and to a full stop at the end, moments of ISO 8601 by
the instant (UTC where they name no offset), numbers by value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

__all__ = ["accepts", "is_optional", "leaves", "normal", "one_accepted"]

FORMS = ("$any", "$has", "$opt", "$set", "$std")
STANDARD = re.compile(r"[ ,./\-_*^()]")
SPACE = re.compile(r"\s+")
MOMENT = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?", re.IGNORECASE)


def accepts(accepted: Any, given: Any) -> bool:
    """Is the value one that is accepted?

    >>> accepts({"$any": ["high", "urgent"]}, "High"), accepts({"$has": ["leak|drip", "roof"]}, "The roof drips.")
    (True, True)
    >>> accepts({"a": 1, "b": {"$opt": True}}, {"a": 1.0}), accepts([1, 2], [2, 1])
    (True, False)
    """
    form = _form(accepted)
    if form == "$any":
        return any(accepts(one, given) for one in accepted[form])
    if form == "$has":
        return isinstance(given, str) and all(_holds(given, part) for part in accepted[form])
    if form == "$opt":
        return accepts(accepted[form], given)
    if form == "$set":
        return isinstance(given, list) and _matches(accepted[form], given)
    if form == "$std":
        return isinstance(given, str) and _standard(accepted[form]) == _standard(given)
    if isinstance(accepted, Mapping):
        return isinstance(given, Mapping) and _object(accepted, given)
    if isinstance(accepted, list):
        return (
            isinstance(given, list)
            and len(given) == len(accepted)
            and all(accepts(one, value) for one, value in zip(accepted, given, strict=True))
        )
    return bool(normal(accepted) == normal(given)) and isinstance(accepted, bool) == isinstance(given, bool)


def is_optional(accepted: Any) -> bool:
    """May the parameter be left out?"""
    return _form(accepted) == "$opt" or (_form(accepted) == "$any" and any(map(is_optional, accepted["$any"])))


def normal(value: Any) -> Any:
    """A text as it is compared, any other value as it is.

    >>> normal("  Buy  Milk. "), normal("2026-03-17T10:00:00+01:00") == normal("2026-03-17T09:00Z")
    ('buy milk', True)
    """
    if not isinstance(value, str):
        return value
    if MOMENT.fullmatch(value):
        return _instant(value)
    return SPACE.sub(" ", value).strip().rstrip(".").casefold()


def one_accepted(accepted: Any) -> Any:
    """One value that is accepted: the first of several, an object without what may be left out.

    >>> one_accepted({"to": {"$any": ["a", "b"]}, "text": {"$has": ["hi|hello", "Bob"]}})
    {'to': 'a', 'text': 'hi Bob'}
    """
    form = _form(accepted)
    if form == "$any":
        return one_accepted(accepted[form][0])
    if form == "$has":
        return " ".join(part.split("|")[0] for part in accepted[form]).strip() or "a text"
    if form in ("$opt", "$std"):
        return one_accepted(accepted[form])
    if form == "$set":
        return [one_accepted(one) for one in accepted[form]]
    if isinstance(accepted, Mapping):
        return {key: one_accepted(one) for key, one in accepted.items() if not is_optional(one)}
    return [one_accepted(one) for one in accepted] if isinstance(accepted, list) else accepted


def leaves(accepted: Any) -> Iterable[Any]:
    """All plain values that are accepted somewhere.

    >>> list(leaves({"a": {"$any": ["x", 1]}, "b": ["y"]}))
    ['x', 1, 'y']
    """
    if isinstance(accepted, Mapping):
        for key, one in accepted.items():
            yield from () if key == "$has" else leaves(one)
    elif isinstance(accepted, list):
        for one in accepted:
            yield from leaves(one)
    else:
        yield accepted


def _standard(text: str) -> str:
    return STANDARD.sub("", text).casefold().replace("'", '"')


def _instant(value: str) -> str:
    try:
        moment = datetime.fromisoformat(value.upper())
    except ValueError:  # the 31st of a shorter month, say: compared as it is written
        return value
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat()


def _form(accepted: Any) -> str:
    if isinstance(accepted, Mapping) and len(accepted) == 1:
        name = next(iter(accepted))
        return name if name in FORMS else ""
    return ""


def _holds(given: str, part: str) -> bool:
    text = SPACE.sub(" ", given).casefold()
    return any(choice.casefold() in text for choice in part.split("|"))


def _object(accepted: Mapping[str, Any], given: Mapping[str, Any]) -> bool:
    if given.keys() - accepted.keys():
        return False
    return all(accepts(one, given[key]) if key in given else is_optional(one) for key, one in accepted.items())


def _matches(accepted: list[Any], given: list[Any]) -> bool:
    """Is there a value for each accepted one? Tried in turn: the lists are short."""
    if not accepted:
        return not given
    return any(
        accepts(accepted[0], value) and _matches(accepted[1:], [*given[:place], *given[place + 1 :]])
        for place, value in enumerate(given)
    )
