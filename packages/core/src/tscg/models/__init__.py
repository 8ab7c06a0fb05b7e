"""What is known of models, as data: a row per model or family, with the source of each figure.

A row is found by the exact id of a model, else by its family and version; parts of names are never guessed at ("opus"
in a name says nothing). A variant (mini, codex, a fine-tuned one) is another model than the one that was tested: it
takes the row of its family and not the row of the tested model. What no row says has its default, and the reason says
so.

Findings on the operators come from others' measurements (kind ``paper`` and ``report``); they choose defaults and
nothing else. A row of one's own measurements goes before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tscg.models.ids import FAMILIES, Spoken, read_id, version_of
from tscg.models.rows import BAD_SMALL, ROWS, SMALL_MODELS
from tscg.models.table import MIN_EFFECT, MIN_RUNS, Bad, Evidence, ModelRow

if TYPE_CHECKING:
    from tscg.modes.options import Mode

__all__ = [
    "CAUSAL_TOOLS",
    "FAMILIES",
    "MIN_EFFECT",
    "MIN_RUNS",
    "ROWS",
    "SMALL",
    "Bad",
    "Evidence",
    "ModelRow",
    "Spoken",
    "active",
    "choose_profile",
    "known_bad",
    "read_id",
    "row_of",
]

CAUSAL_TOOLS = 30
"""From this number of tools on CFL and CFO are off: the paper found them harmful with 43 tools, and not with 20."""
SMALL = 10.0
"""Billions of parameters below which a model is small: it gets ``conservative``, since it copies values out of the
prose."""
TIGHT = 0.25
"""Share of a known context that the catalog should not exceed; beyond it ``auto`` takes ``brief``."""
TOKENS_PER_TOOL = 84
"""Tokens of a tool in ``balanced``: 300 in minified JSON over catalogs of 18 real servers, of which 28 % stay."""


def row_of(model: str | None, rows: Sequence[ModelRow] = ()) -> ModelRow:
    """The row of a model, with the reason in words; ``rows`` of one's own go before those of the package.

    >>> row_of("openai/gpt-5.2").cfo, row_of("gpt-5.2-mini").cfo, row_of("my-gpt-5.2-clone").reason
    (False, None, "no row for the model 'my-gpt-5.2-clone': defaults")
    """
    if not model:
        return ModelRow(reason="no model named: defaults")
    every = (*rows, *ROWS)
    last = model.rpartition("/")[2]
    exact = next((row for row in every if row.id and row.id in (model, last, last.partition(":")[2])), None)
    spoken = read_id(model)
    if exact is not None:
        return _sized(replace(exact, reason=f"the row of {exact.id}"), spoken.size)
    found = next((row for row in every if row.family and spoken.family and fits(row, spoken)), None)
    if found is None:
        return _sized(ModelRow(reason=f"no row for the model {model!r}: defaults"), spoken.size)
    if found.id and not spoken.variant:
        return _sized(replace(found, reason=f"the row of {found.id}"), spoken.size)
    version = f" {found.version}" if found.version else ""
    return _sized(replace(found, reason=f"the row of the family {found.family}{version}"), spoken.size)


def fits(row: ModelRow, spoken: Spoken) -> bool:
    """Whether a row of a family is one for a model."""
    if row.family != spoken.family or (spoken.variant and not row.variants):
        return False
    if not row.version:
        return True
    low, ranged, high = row.version.partition("..")
    if not ranged:
        return spoken.version == version_of(low)
    return bool(spoken.version) and version_of(low) <= spoken.version < version_of(high)


def _sized(row: ModelRow, size: float | None) -> ModelRow:
    """The row for a size: a small model is treated as one, whatever its family."""
    size = row.size if size is None else size
    if size is None or size >= SMALL or any(one.kind == "measured" for one in row.evidence):
        return replace(row, size=size)
    known = row.evidence if SMALL_MODELS in row.evidence else (*row.evidence, SMALL_MODELS)
    reason = f"{row.reason}; {size:g} B parameters, below {SMALL:g} B"
    bad = row.bad if BAD_SMALL[0] in row.bad else (*row.bad, *BAD_SMALL)
    return replace(row, size=size, profile="conservative", dispatch=False, bad=bad, evidence=known, reason=reason)


def known_bad(row: ModelRow, model: str, mode: Mode, profile: str) -> tuple[str, ...]:
    """What is known to be bad in a combination, one sentence each with the model, the source and the number of runs.

    >>> from tscg.modes.options import Native
    >>> known_bad(row_of("gemma3"), "gemma3", Native(), "balanced")[0][:70]
    "known to do badly with gemma3 (mode 'native'): its template has no pla"
    """
    out = []
    map, handles = getattr(mode, "lines", ""), getattr(mode, "handles", "")
    for bad in row.bad:
        if not bad.meets(mode.name, profile, map, handles):
            continue
        given = {"mode": mode.name if bad.modes else "", "map": bad.map, "handles": bad.handles, "profile": bad.profile}
        what = ", ".join(f"{name} {value!r}" for name, value in given.items() if value)
        runs = f"n = {bad.n}" if bad.n else "n not published"
        out.append(f"known to do badly with {model} ({what}): {bad.says} ({bad.source}; {runs})")
    return tuple(out)


def choose_profile(
    model: str | None, tools: int, context: int | None = None, rows: Sequence[ModelRow] = ()
) -> tuple[str, str]:
    """The profile of ``auto`` for a model and a number of tools, and the reason in words.

    ``context`` is the tokens that the model reads, where they are known.

    >>> choose_profile(None, 10)
    ('balanced', 'no model named: defaults')
    >>> choose_profile("ollama/llama3.1:8b", 10)[0], choose_profile("claude-opus-4-7", 10)[0]
    ('conservative', 'aggressive')
    """
    row = row_of(model, rows)
    name, reason = row.profile, row.reason
    if name == "aggressive" and tools >= CAUSAL_TOOLS:
        reason += f"; {tools} tools: no CFL and CFO from {CAUSAL_TOOLS} on"
    if name == "balanced" and context and tools * TOKENS_PER_TOOL > context * TIGHT:
        share = f"{TIGHT:.0%}".replace("%", " %")
        return (
            "brief",
            f"{reason}; about {tools * TOKENS_PER_TOOL:,} tokens are more than {share} of a context of {context:,}",
        )
    return name, reason


def active(asked: frozenset[str], row: ModelRow, tools: int) -> frozenset[str]:
    """Of the operators that a profile asks for (``"cfl"``, ``"cfo"``, ``"cas"``, ``"sad"``, ``"ccp"`` ...) those that
    run.

    Left out are those that the model's row forbids, and CFL and CFO from 30 tools on.

    >>> sorted(active(frozenset({"sdm", "cfl", "cfo"}), row_of("gpt-5.2"), tools=12))
    ['cfl', 'sdm']
    """
    forbidden = {name for name in ("cfl", "cfo", "cas", "sad", "ccp") if getattr(row, name) is False}
    if tools >= CAUSAL_TOOLS:
        forbidden |= {"cfl", "cfo"}
    return asked - forbidden
