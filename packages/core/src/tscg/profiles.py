"""Profiles: which operators run and what they hide, as data."""

from __future__ import annotations

from tscg.errors import ConfigError
from tscg.record import Record, replace

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from tscg.operators.detail import Keep

__all__ = ["PROFILES", "Profile", "profile_of"]


class Profile(Record):
    """A set of operators.

    ``keep`` is a row of the detail operator or its name (None hides nothing); ``titles`` and ``examples`` stay where
    true. ``cfl``, ``cfo`` and ``cas`` run unless the model's row forbids them or there are too many tools. ``anchors``
    (most tokens, over at most ``anchor_tools`` tools) and ``closure`` (most tokens) stand behind the catalog.

    >>> PROFILES["balanced"].sdm, PROFILES["lossless"].sdm
    (True, False)
    """

    name: str
    sdm: bool = False
    dro: bool = False
    keep: Keep | str | None = None
    titles: bool = True
    examples: bool = True
    cfl: bool = False
    cfo: bool = False
    cas: bool = False
    anchors: int = 0
    anchor_tools: int = 0
    closure: int = 0
    cse: bool = True

    def checked(self) -> Profile:
        """Itself; ConfigError where a number makes no sense."""
        for field in ("anchors", "anchor_tools", "closure"):
            if getattr(self, field) < 0:
                given = f"profile {self.name!r}: {field} is {getattr(self, field)}"
                raise ConfigError(given, hint="it counts tokens or tools: 0 or more")
        return self

    @property
    def shows_all(self) -> bool:
        """Does no operator touch the prose?"""
        return self.titles and self.examples and self.keep is None and not (self.sdm or self.dro)

    @property
    def kept(self) -> Keep | None:
        """The row of the detail operator, loaded when first asked for."""
        if not isinstance(self.keep, str):
            return self.keep
        from tscg.operators.detail import KEEP

        if self.keep not in KEEP:
            raise ConfigError(f"profile {self.name!r}: unknown detail {self.keep!r}", allowed=tuple(KEEP))
        return KEEP[self.keep]

    @property
    def asks(self) -> frozenset[str]:
        """The operators that it asks for, by their short names."""
        switches = {
            "sdm": self.sdm, "dro": self.dro, "detail": self.keep is not None, "cfl": self.cfl, "cfo": self.cfo,
            "cas": self.cas, "sad": self.anchors > 0, "ccp": self.closure > 0, "cse": self.cse,
        }  # fmt: skip
        return frozenset(name for name, on in switches.items() if on)


def _profiles() -> dict[str, Profile]:
    conservative = Profile(name="conservative", sdm=True, dro=True)
    brief = replace(conservative, name="brief", keep="brief", titles=False, examples=False)
    rows = (
        Profile(name="lossless"),
        conservative,
        replace(conservative, name="balanced", keep="balanced", titles=False),
        brief,
        replace(brief, name="signature", keep="signature"),
        replace(brief, name="aggressive", cfl=True, cfo=True, cas=True, anchors=120, anchor_tools=12, closure=160),
    )
    return {row.name: row for row in rows}


PROFILES: dict[str, Profile] = _profiles()
"""The profiles by name, from the one that hides nothing to the one that keeps constraints alone."""


def profile_of(given: object) -> Profile:
    """The profile of a name; raises ConfigError naming the valid ones."""
    if isinstance(given, Profile):
        return given.checked()
    found = PROFILES.get(given) if isinstance(given, str) else None
    if found is None:
        raise ConfigError(f"unknown profile {given!r}", allowed=("auto", *PROFILES))
    return found
