"""Rungs: what becomes of the prose of each tool in each profile, and where none of it is shown."""

from __future__ import annotations

from collections.abc import Callable

from tscg.fates import Fate, Said, fate_of, said_by
from tscg.ir import JSON, Catalog
from tscg.modes.compiled import CompiledCatalog
from tscg.profiles import PROFILES, Profile
from tscg.stats import minified, openai_form

__all__ = ["UNTOLD", "Rungs"]

UNTOLD = "name"
"""The rung that shows no prose: where a budget leaves the name alone, and in a map."""


class Rungs:
    """The fate of every sentence of a catalog on every rung."""

    def __init__(self, catalog: Catalog, own: Profile) -> None:
        self.catalog = catalog
        self.said: list[Said] = [said_by(tool) for tool in catalog]
        self.profiles = {**PROFILES, own.name: own}
        self.fates: dict[str, list[Fate]] = {UNTOLD: [said.untold for said in self.said]}
        for name, profile in self.profiles.items():
            self.fates[name] = self._alike(profile) or [fate_of(said, profile) for said in self.said]

    def _alike(self, profile: Profile) -> list[Fate]:
        """The fates of a profile before this one that does the same to prose."""
        for name, other in self.profiles.items():
            if name in self.fates and (other.kept, other.sdm, other.dro) == (profile.kept, profile.sdm, profile.dro):
                return self.fates[name]
        return []

    def of(self, compiled: CompiledCatalog) -> JSON:
        """The place of each tool's rung in ``table()``; one number where it is the same for all."""
        names = list(self.fates)
        found = [names.index(_rung(compiled, tool.name)) for tool in self.catalog]
        return found[0] if len(set(found)) == 1 else list(found)

    def table(self, count: Callable[[str], int]) -> JSON:
        """By rung, for each tool: sentences left out, their tokens, policy among them, sentences shortened."""
        return [
            {
                "name": name,
                "left": [len(fate.left) for fate in fates],
                "tokens": [sum(map(count, fate.left)) for fate in fates],
                "lost": [
                    sum(each in said.policy for each in fate.left) for said, fate in zip(self.said, fates, strict=True)
                ],
                "short": [fate.short for fate in fates],
            }
            for name, fates in self.fates.items()
        ]

    def sources(self) -> list[dict[str, JSON]]:
        """By tool: its JSON, its sentences, which are policy, their states on each rung.

        ``wordings`` are the policy sentences as they may be shown: in their own words, and without filler.
        """
        found: list[dict[str, JSON]] = []
        for place, (tool, said) in enumerate(zip(self.catalog, self.said, strict=True)):
            found.append({
                "json": minified(openai_form(tool)),
                "says": list(said.counts),
                "policy": [int(each in said.policy) for each in said.counts],
                "states": [fates[place].states for fates in self.fates.values()],
                "wordings": list(dict.fromkeys([*said.policies(), *said.policies(PROFILES["conservative"])])),
            })  # fmt: skip
        return found


def _rung(compiled: CompiledCatalog, name: str) -> str:
    if compiled.mode == "passthrough":
        return "lossless"
    if compiled.mode == "dispatch":  # a map shows no prose
        return compiled.profile if name in compiled.sent.native else UNTOLD
    return compiled.details.get(name, compiled.profile)
