"""tscg for CrewAI: the tools of a whole crew reach its models compressed, and what comes back becomes the real calls
that CrewAI runs.

``compress(crew)`` does it in place and gives a handle that reports and undoes; ``@compressed`` above ``@CrewBase`` does
it for every crew of a class. CrewAI itself is imported by the first of them that is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from os import PathLike

    from crewai import Agent, Crew

    import tscg
    from crewai_tscg.binding import CompressionHandle
    from crewai_tscg.calls import MalformedToolCallError
    from crewai_tscg.events import ToolCompressionEvent
    from tscg.modes.options import Mode

__all__ = ["CompressionHandle", "MalformedToolCallError", "ToolCompressionEvent", "compress", "compressed"]

T = TypeVar("T")
LATER = {"CompressionHandle": "binding", "MalformedToolCallError": "calls", "ToolCompressionEvent": "events"}
DEFAULTS: dict[str, Any] = {
    "mode": "auto", "profile": "auto", "pin": (), "tokenizer": None, "max_lookups": 3, "max_repairs": 2,
    "lock": None, "on_drift": "error",
}  # fmt: skip


def compress(
    target: Crew | Agent,
    mode: str | Mode = "auto",
    profile: str | tscg.Profile | tscg.Policy = "auto",
    *,
    pin: Sequence[str] | str = (),
    tokenizer: object = None,
    max_lookups: int = 3,
    max_repairs: int = 2,
    lock: tscg.Lock | str | PathLike[str] | None = None,
    on_drift: str = "error",
) -> CompressionHandle:
    """Compress the tools of a crew, or of one agent, on the way to its models. In place; the models given stay as they
    are, and ``restore()`` of the handle puts them back.

    ``mode``, ``profile``, ``pin`` and ``tokenizer`` are those of :func:`tscg.compile`; ``"auto"`` asks
    :func:`tscg.recommend` once for each agent and set of tools; ``code`` is not offered. ``max_lookups`` and
    ``max_repairs`` bound the rounds of one call, so that there are at most ``1 + max_lookups + max_repairs`` requests.
    ``lock``, a :class:`tscg.Lock` or its file, holds the tools that were approved: others raise
    :class:`tscg.DriftError` before anything is sent; ``on_drift="warn"`` says it once.

    On a target that is compressed already it gives the handle that there is, and :class:`tscg.ConfigError` for other
    settings; that is also raised for wrong options and for what is no crew and no agent.

    Example: `compress(crew, mode="dispatch")`.
    """
    from crewai_tscg.binding import compress as apply

    given = {
        "mode": mode, "profile": profile, "pin": pin, "tokenizer": tokenizer, "max_lookups": max_lookups,
        "max_repairs": max_repairs, "lock": lock, "on_drift": on_drift,
    }  # fmt: skip
    return apply(target, _settings(given))


@overload
def compressed(made: T, /) -> T: ...
@overload
def compressed(
    *, mode: str | Mode = ..., profile: str | tscg.Profile | tscg.Policy = ..., pin: Sequence[str] | str = ...,
    tokenizer: object = ..., max_lookups: int = ..., max_repairs: int = ...,
    lock: tscg.Lock | str | PathLike[str] | None = ..., on_drift: str = ...,
) -> Callable[[T], T]: ...  # fmt: skip
def compressed(made: Any = None, /, **settings: Any) -> Any:
    """Compress every crew that a class or a function makes: put it above ``@CrewBase``, or on a function that returns
    a crew. The keywords are those of :func:`compress`.

    Raises :class:`tscg.ConfigError` for a class that is no crew class, that is, where it stands below ``@CrewBase``.

    >>> @compressed
    ... def build():
    ...     return crew
    >>> build.__name__
    'build'
    """
    from crewai_tscg.binding import compressed as apply
    from tscg.errors import ConfigError

    for name in settings:
        if name not in DEFAULTS:
            raise ConfigError(f"compressed has no option {name!r}", allowed=tuple(DEFAULTS))
    given = _settings(settings)
    if made is None:
        return lambda one: apply(one, given)
    return apply(made, given)


def _settings(given: dict[str, Any]) -> dict[str, Any]:
    """The settings that are not the defaults."""
    pin = given.get("pin", ())
    values = {**given, "pin": (pin,) if isinstance(pin, str) else tuple(pin)}
    return {name: value for name, value in values.items() if value != DEFAULTS[name]}


def __getattr__(name: str) -> Any:
    """The types, when they are first used: they need CrewAI, which takes seconds to import."""
    if name not in LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"crewai_tscg.{LATER[name]}"), name)
