"""Scores of one attempt at one task, and of many.

``selection`` is 1 where the tools called are those that should be, as often and, where the task says so, in that order.
``F1`` is micro over parameters: a parameter that is right counts for both precision and recall, one that is wrong or
not asked for against precision, one that is wrong or missing against recall. ``overall`` is 0.6 of the first and 0.4 of
the second. ``exact`` is 1 where every call is right in name and arguments and nothing else was called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tscg import Catalog
from tscg_bench.accept import accepts, is_optional
from tscg_bench.tasks import Expected, Task

__all__ = ["Attempt", "Made", "Score", "Summary", "score_attempt", "summarize"]

SELECTION, PARAMETERS = 0.6, 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One call that the model made. ``valid`` is False where the resolver refused it; ``arguments`` are then {}."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    valid: bool = True
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What a model did with a task.

    ``calls`` are those that stand at the end, ``refused`` the ones that were refused on the way and sent back.
    ``requests`` counts model calls, ``lookups`` and ``repairs`` the rounds among them that were spent on those.
    ``invented`` is the number of calls that named no tool.
    """

    calls: tuple[Made, ...] = ()
    refused: int = 0
    text: str = ""
    requests: int = 1
    lookups: int = 0
    repairs: int = 0
    failure: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """The score of one attempt. ``right``, ``given`` and ``wanted`` count parameters; ``valid`` and ``made`` calls.

    ``extra`` counts requests beyond the fewest that the task needs when each call is right at once.
    """

    selection: float
    exact: float
    right: int
    given: int
    wanted: int
    valid: int
    made: int
    repaired: int = 0
    extra: int = 0

    @property
    def f1(self) -> float:
        """F1 over the parameters of this task alone; 1 where none are wanted and none given."""
        return _f1(self.right, self.given, self.wanted)

    @property
    def overall(self) -> float:
        """0.6 selection and 0.4 F1."""
        return SELECTION * self.selection + PARAMETERS * self.f1


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """Scores of many tasks. ``f1`` is micro: over all parameters of all tasks. ``validity`` is the share of calls that
    the resolver took, None where no call was made."""

    n: int
    selection: float
    f1: float
    exact: float
    validity: float | None
    repaired: float
    extra: float

    @property
    def overall(self) -> float:
        """0.6 selection and 0.4 F1."""
        return SELECTION * self.selection + PARAMETERS * self.f1


def score_attempt(task: Task, attempt: Attempt, catalog: Catalog | None = None) -> Score:
    """Score an attempt. With the ``catalog`` a parameter that is given its default, or null, is as good as left out.

    >>> expected = (Expected(tool="f", arguments={"a": 1}),)
    >>> task = Task(id="t", scenario="A", category="single", query="", expected=expected)
    >>> found = score_attempt(task, Attempt(calls=(Made(name="f", arguments={"a": 1, "b": 2}),)))
    >>> found.selection, found.exact, found.right, found.given, found.wanted
    (1.0, 0.0, 1, 2, 1)
    """
    defaults = _defaults(catalog, {call.tool for call in task.expected})
    pairs, left = _paired(task, attempt.calls)
    right = given = wanted = 0
    exact = len(attempt.calls) == len(task.expected) and all(call.valid for call in attempt.calls)
    for expected, made in pairs:
        found = _parameters(expected, made, defaults.get(expected.tool, {}))
        right, given, wanted = right + found[0], given + found[1], wanted + found[2]
        exact = exact and made is not None and found[0] == found[1] == found[2]
    given += sum(len(made.arguments) for made in left)
    names, asked = [call.name for call in attempt.calls], [call.tool for call in task.expected]
    selected = names == asked if task.ordered else sorted(names) == sorted(asked)
    return Score(
        selection=float(selected), exact=float(exact and selected), right=right, given=given, wanted=wanted,
        valid=sum(call.valid for call in attempt.calls),
        made=len(attempt.calls) + attempt.refused, repaired=sum(bool(call.repairs) for call in attempt.calls),
        extra=attempt.lookups + attempt.repairs,
    )  # fmt: skip


def summarize(scores: Iterable[Score]) -> Summary:
    """One summary of the scores of many tasks; of none all figures are 0."""
    found = tuple(scores)
    n, made = len(found), sum(score.made for score in found)

    def mean(name: str) -> float:
        return sum(getattr(score, name) for score in found) / n if n else 0.0

    counts = (sum(getattr(score, name) for score in found) for name in ("right", "given", "wanted"))
    return Summary(
        n=n, selection=mean("selection"), f1=_f1(*counts) if n else 0.0, exact=mean("exact"),
        validity=sum(score.valid for score in found) / made if made else None,
        repaired=mean("repaired"), extra=mean("extra"),
    )  # fmt: skip


def _f1(right: int, given: int, wanted: int) -> float:
    return 1.0 if given + wanted == 0 else 2 * right / (given + wanted)


def _paired(task: Task, calls: Sequence[Made]) -> tuple[list[tuple[Expected, Made | None]], list[Made]]:
    """Each expected call with the made one that fits best, and the made ones that are left."""
    left, pairs = list(calls), []
    for expected in task.expected:
        same = [made for made in left if made.name == expected.tool]
        best = max(same, key=lambda made: _parameters(expected, made, {})[0], default=None)
        if best is not None:
            left.remove(best)
        pairs.append((expected, best))
    return pairs, left


def _parameters(expected: Expected, made: Made | None, defaults: Mapping[str, Any]) -> tuple[int, int, int]:
    """Parameters that are right, given and wanted. An optional one that is left out is not wanted."""
    arguments = {} if made is None else made.arguments
    right = given = wanted = 0
    for key, accepted in expected.arguments.items():
        if key not in arguments or (arguments[key] is None and is_optional(accepted)):
            wanted += not is_optional(accepted)
            continue
        given, wanted = given + 1, wanted + 1
        right += accepts(accepted, arguments[key])
    for key in arguments.keys() - expected.arguments.keys():
        given += not (arguments[key] is None or (key in defaults and accepts(defaults[key], arguments[key])))
    return right, given, wanted


def _defaults(catalog: Catalog | None, names: set[str]) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for tool in catalog or ():
        schema = tool.schema
        if tool.name in names and isinstance(schema, Mapping):
            properties = schema.get("properties")
            held = properties.items() if isinstance(properties, Mapping) else ()
            found[tool.name] = {
                key: one["default"] for key, one in held if isinstance(one, Mapping) and "default" in one
            }
    return found
