"""Code mode: stubs for the model, programs back, and a sandbox that runs them (extra ``tscg[code]``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tscg.code.results import Made, ProgramResult
    from tscg.code.running import arun, run

__all__ = ["Made", "ProgramResult", "arun", "run"]

_LATER = {"Made": "results", "ProgramResult": "results", "arun": "running", "run": "running"}


def __getattr__(name: str) -> Any:
    """Names that are loaded when first used: compiling needs none of them."""
    if name not in _LATER:
        raise AttributeError(f"module 'tscg.code' has no attribute {name!r}")
    from importlib import import_module

    found = globals()[name] = getattr(import_module(f"tscg.code.{_LATER[name]}"), name)
    return found
