"""The types of the policy table: a row of a model, where its figures come from, and what is known to do badly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["LOOKUPS", "MIN_EFFECT", "MIN_RUNS", "OPENAI_STRICT", "Bad", "Evidence", "ModelRow"]

MIN_RUNS = 36
"""Runs that a finding of one's own needs to be a row: fewer say nothing about differences of a few points."""
MIN_EFFECT = 0.05
"""Effect (share of tasks) that such a finding needs."""

WIRE_NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
"""The spelling of names that all providers take."""
LOOKUPS: tuple[tuple[str, float], ...] = (("names", 0.77), ("hybrid", 0.77), ("signature", 0.31))
"""Lookups that a request is expected to make, by map: published for bare names and for signatures (48 runs each, four
models); ``hybrid`` was not measured and gets the figure of ``names``, which is the cautious one."""

# Keywords that a provider enforces in strict mode, beside type, properties, required, items, enum and closed objects.
OPENAI_STRICT = frozenset(
    "anyOf $ref $defs const pattern format multipleOf maximum exclusiveMaximum minimum exclusiveMinimum minItems "
    "maxItems".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where figures of a row come from. ``of`` names the fields; ``n`` runs per condition and ``effect`` where it is a
    finding.

    ``paper`` and ``report`` are findings that others published, ``vendor`` what the maker says, ``seen`` an error that
    users reported, ``measured`` a finding of one's own with its ``record``.
    """

    of: tuple[str, ...]
    kind: Literal["paper", "report", "vendor", "seen", "measured"]
    source: str
    says: str
    n: int = 0
    effect: float = 0.0
    date: str = ""
    record: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bad:
    """A combination that is known to do badly: it applies where all that is given here is so; ``n`` runs, 0 unknown."""

    modes: tuple[str, ...] = ()
    profile: str = ""
    map: str = ""
    handles: str = ""
    says: str
    source: str
    n: int = 0
    date: str = ""

    def meets(self, mode: str, profile: str, map: str = "", handles: str = "") -> bool:
        """Whether a combination is this one."""
        return (
            (not self.modes or mode in self.modes)
            and self.profile in ("", profile)
            and self.map in ("", map)
            and self.handles in ("", handles)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One row. ``id`` is an exact id, or ``family`` with ``version`` ("" any, "4.7" that one, "3..4" from 3 to before
    4).

    ``variants`` says that mini, codex and the like take the row too. ``encoding`` is the tokenizer whose table of
    spellings is taken (o200k_base where the model's own is not published). Of ``cfl`` ... ``ccp``, True asks for an
    operator, False forbids it, None leaves it to the profile.

    What the provider takes: ``native`` calls (tools in a field of the request), at most ``tool_limit`` tools, a
    description of ``description_limit`` characters, names of ``name_pattern``; ``schema`` is its dialect (``json`` or
    ``openapi``), ``strict_keywords`` what it enforces in strict mode (empty: not known), ``strict`` what it does with
    a tool that does not say; ``defer`` says that it loads deferred tools on demand.

    What the model does: ``dispatch`` calls through a dispatcher are reliable, with a ``map`` and ``handles`` of one's
    preference ("" none) and ``lookups`` a request by map; ``code`` that programs are an alternative. ``dialect``: the
    call syntax that the prompt teaches; ``reasoning``: how thoughts show in the text; ``decoding``: a preset.
    ``context``: tokens, None where unknown; ``size``: billions of parameters where the id gives none. ``mode`` is
    the one that was found best, "" where none was. ``bad`` lists what is known to do badly.
    """

    id: str = ""
    family: str = ""
    version: str = ""
    variants: bool = False
    archetype: str = ""
    encoding: str = "o200k_base"
    mode: str = ""
    profile: str = "balanced"
    cfl: bool | None = None
    cfo: bool | None = None
    cas: bool | None = None
    sad: bool | None = None
    ccp: bool | None = None
    answer_tag: bool = False
    native: bool = True
    tool_limit: int | None = None
    description_limit: int | None = None
    name_pattern: str = WIRE_NAME
    schema: Literal["json", "openapi"] = "json"
    strict_keywords: frozenset[str] = frozenset()
    strict: bool = False
    defer: bool = False
    dispatch: bool = True
    map: str = ""
    handles: str = ""
    lookups: tuple[tuple[str, float], ...] = LOOKUPS
    code: bool = False
    dialect: str = "tool_call"
    reasoning: Literal["none", "tags", "prefilled"] = "none"
    decoding: str = "safe"
    context: int | None = None
    size: float | None = None
    bad: tuple[Bad, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""

    def expected_lookups(self, map: str) -> float:
        """Lookups that a request is expected to make with a map.

        >>> ModelRow().expected_lookups("signature")
        0.31
        """
        return dict(self.lookups).get(map, 0.0)
