"""What a sweep compares: arms, each a mode with a profile, and the stages that they are compared in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import tscg
from tscg import Catalog, Profile
from tscg.errors import TscgError
from tscg.modes.options import MAPS
from tscg.policy import OPERATORS, Tuned
from tscg_bench.conditions import Prepared, compiled_condition

__all__ = [
    "LEVELS", "SWITCHED", "Arm", "Effect", "Shown", "arm_of", "effect_arms", "level_arms", "mode_arms", "prepare",
]  # fmt: skip

LEVELS = ("lossless", "conservative", "balanced", "brief", "signature")
"""Profiles from the one that hides nothing to the one that shows least."""
SWITCHED = tuple(name for name in OPERATORS if name != "tas")
"""Operators that can be turned off; the spelling always runs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """One way of showing the catalog: what a row of a policy file can say.

    ``operators`` of None are those of the profile.
    """

    mode: str = "text"
    map: str = ""
    profile: str = "balanced"
    operators: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        """In words.

        >>> Arm(mode="dispatch", map="names").name, Arm(operators=("sdm",)).name
        ('dispatch/names', 'text/balanced with sdm')
        """
        base = f"{self.mode}/{self.map or self.profile}"
        return base if self.operators is None else f"{base} with {'+'.join(self.operators) or 'no operator'}"

    @property
    def resolved(self) -> Profile:
        """The profile that it compiles with, as a row of a policy would choose it."""
        return Tuned(id="tuned", profile=self.profile, operators=self.operators).resolved(self.profile)


@dataclass(frozen=True, slots=True, kw_only=True)
class Effect:
    """What an operator does: the arm with it against the arm without. ``design`` says which of the two is the base."""

    operator: str
    design: Literal["leave one in", "leave one out"]
    on: Arm
    off: Arm


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """An arm applied to the catalog. ``fingerprint`` is equal where a model is sent the same."""

    arm: Arm
    prepared: Prepared = field(repr=False)

    @property
    def fingerprint(self) -> str:
        """Of everything that reaches the model."""
        return self.prepared.compiled.fingerprint

    @property
    def tokens(self) -> int:
        """All that is sent of the catalog."""
        return self.prepared.tokens


def level_arms(mode: str = "text", map: str = "") -> tuple[Arm, ...]:
    """The detail levels in a mode."""
    return tuple(Arm(mode=mode, map=map, profile=name) for name in LEVELS)


def mode_arms(profile: str, modes: Iterable[str]) -> tuple[Arm, ...]:
    """The modes in a profile; dispatch with each of its maps."""
    arms = []
    for mode in modes:
        maps = tuple(MAPS) if mode == "dispatch" else ("",)
        arms += [Arm(mode=mode, map=name, profile=profile) for name in maps]
    return tuple(arms)


def arm_of(base: Arm, operators: Iterable[str]) -> Arm:
    """The same arm with other operators.

    >>> arm_of(Arm(), {"sad", "sdm"}).operators
    ('sdm', 'tas', 'sad')
    """
    on = {"tas", *operators}
    return replace(base, operators=tuple(name for name in OPERATORS if name in on))


def effect_arms(base: Arm) -> tuple[Effect, ...]:
    """Each operator added to none, and each taken from all of them, in the profile of an arm."""
    none, every = arm_of(base, ()), arm_of(base, SWITCHED)
    alone = [Effect(operator=name, design="leave one in", on=arm_of(base, (name,)), off=none) for name in SWITCHED]
    rest = {name: [other for other in SWITCHED if other != name] for name in SWITCHED}
    return (
        *alone,
        *(Effect(operator=name, design="leave one out", on=every, off=arm_of(base, rest[name])) for name in SWITCHED),
    )


def prepare(
    arms: Sequence[Arm], catalog: Catalog, *, model: str | None = None, tokenizer: object = None
) -> tuple[dict[Arm, Shown], Mapping[Arm, str]]:
    """Arms applied to a catalog, and those that cannot be, with the reason."""
    shown: dict[Arm, Shown] = {}
    impossible: dict[Arm, str] = {}
    for arm in dict.fromkeys(arms):
        mode = tscg.Dispatch(map=arm.map) if arm.mode == "dispatch" else arm.mode
        condition = compiled_condition(arm.name, mode=mode, profile=arm.resolved)
        try:
            shown[arm] = Shown(arm=arm, prepared=condition.prepare(catalog, model=model, tokenizer=tokenizer))
        except TscgError as error:
            impossible[arm] = str(error)
    return shown, impossible
