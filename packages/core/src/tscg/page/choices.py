"""What a page can switch to: each mode with each profile or map, and steps of the budget, compiled ahead."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tscg.compiler import compile
from tscg.errors import CompileError, TscgError
from tscg.ir import Catalog
from tscg.modes.compiled import CompiledCatalog
from tscg.modes.options import MAPS, MODES, Dispatch, Mode, Native, Passthrough
from tscg.profiles import PROFILES, Profile
from tscg.record import replace

__all__ = ["MANY", "Choice", "choices_of"]

MANY = 1_000
"""Above so many tools budgets are wider apart, and only the choice of the command has its operators traced."""

FINE = (8_000, 6_400, 5_000, 4_000, 3_200, 2_500, 2_000, 1_600, 1_250, 1_000)
COARSE = (5_000, 2_000, 1_000)
"""Budgets within a factor of ten: each about a fifth, or a half, below the one before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One way to compile the catalog, or why it cannot be compiled that way. ``profile`` is empty where none counts."""

    mode: str
    profile: str = ""
    map: str = ""
    budget: int | None = None
    compiled: CompiledCatalog | None = None
    error: str = ""


def choices_of(catalog: Catalog, own: CompiledCatalog, options: Mapping[str, Any]) -> Iterator[Choice]:
    """The choice of ``own``, which ``options`` gave, then every other one."""
    yield _choice(own.options, own.profile_used, own.budget, compiled=own)
    for mode, profile in _grid(own):
        if (mode, profile, None) != (own.options, own.profile_used, own.budget):
            yield _made(catalog, options, mode, profile)
    if not isinstance(own.options, Passthrough):
        yield from _budgets(catalog, own, options)


def _grid(own: CompiledCatalog) -> Iterator[tuple[Mode, Profile]]:
    """Each mode with each profile or map; those of ``own`` with the options that it has."""
    profiles = {**PROFILES, own.profile: own.profile_used}
    for name, kind in MODES.items():
        mode = own.options if name == own.mode else kind()
        if isinstance(mode, Dispatch):
            # The map in use is left as it is: it may be the default of its options.
            for lines in MAPS:
                yield (mode if lines == mode.lines else replace(mode, map=lines)), own.profile_used
        elif isinstance(mode, Passthrough):
            yield mode, own.profile_used
        else:
            for profile in profiles.values():
                yield mode, profile


def _budgets(catalog: Catalog, own: CompiledCatalog, options: Mapping[str, Any]) -> Iterator[Choice]:
    """The mode and profile of ``own`` in ever smaller budgets, down to the first that not even the names fit."""
    from tscg.stats import tokens_of

    whole = own if own.budget is None else _made(catalog, options, own.options, own.profile_used).compiled
    if whole is None or not len(catalog):
        return
    below = tokens_of(whole.prompt, whole.wire_tools, own.tokenizer)
    for budget in _steps(below, COARSE if len(catalog) > MANY else FINE):
        if budget != own.budget:
            found = _made(catalog, options, own.options, own.profile_used, budget)
            yield found
            if found.compiled is None:
                return


def _steps(below: int, steps: tuple[int, ...]) -> Iterator[int]:
    scale = 10 ** len(str(below))
    while scale:
        for step in steps:
            budget, part = divmod(step * scale, 1_000)
            if not part and 0 < budget < below:
                yield budget
        scale //= 10


def _made(
    catalog: Catalog, options: Mapping[str, Any], mode: Mode, profile: Profile, budget: int | None = None
) -> Choice:
    given = {**options, "mode": mode, "profile": profile, "budget": budget}
    if isinstance(mode, Native | Passthrough):
        given.pop("pin", None)  # every tool is native there
    if not isinstance(mode, Dispatch):
        given.pop("notes", None)
    try:
        # A catalog of its own: compiled forms are kept beside the catalog, and those of a page are many.
        compiled = compile(catalog.replace(catalog.tools), **given)
    except CompileError as error:
        reason = "; ".join(fragment.reason for fragment in error.fragments) if budget else str(error)
        return _choice(mode, profile, budget, error=reason)
    except TscgError as error:
        return _choice(mode, profile, budget, error=str(error))
    return _choice(mode, profile, budget, compiled=compiled)


def _choice(
    mode: Mode, profile: Profile, budget: int | None, *, compiled: CompiledCatalog | None = None, error: str = ""
) -> Choice:
    lines = mode.lines if isinstance(mode, Dispatch) else ""
    named = "" if isinstance(mode, Dispatch | Passthrough) else profile.name
    return Choice(mode=mode.name, profile=named, map=lines, budget=budget, compiled=compiled, error=error)
