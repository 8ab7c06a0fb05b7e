"""tscg: a compiler of agent tool schemas.

JSON Schema of an agent's tools in, a small exact text for the language model out; what the model answers is decoded
into real, validated calls. See ``compile``, ``decompile`` and ``Catalog``.
"""

from __future__ import annotations

from tscg.compiler import compile
from tscg.errors import (
    CompileError,
    ConfigError,
    DriftError,
    Fragment,
    ParseError,
    RegistryError,
    TscgError,
    TscgWarning,
)
from tscg.ir import Catalog, Param, Tool
from tscg.language import LANGUAGE_VERSION
from tscg.modes.compiled import CompiledCatalog
from tscg.modes.options import Code, Dispatch, Native, Passthrough, Text
from tscg.profiles import PROFILES, Profile

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import Any

    from tscg.calls import Call, CallError, Decoded, Fault, ItemEvent, Lookup, Notice, Program, TextEvent
    from tscg.compression import CompressionReport
    from tscg.decoding import Decoding
    from tscg.differences import Diff, diff
    from tscg.language.parse import decompile
    from tscg.linting import Finding, lint
    from tscg.lock import Drift, Lock
    from tscg.policy import Policy
    from tscg.recommendation import Recommendation, recommend
    from tscg.registry import Registry
    from tscg.stats import Stats
    from tscg.tokenizers import Tokenizer
    from tscg.turns import Again, Final, Reply, Turn

__version__ = "0.1.0"

__all__ = [
    "LANGUAGE_VERSION", "PROFILES", "Again", "Call", "CallError", "Catalog", "Code", "CompileError",
    "CompiledCatalog", "CompressionReport", "ConfigError", "Decoded", "Decoding", "Diff", "Dispatch", "Drift",
    "DriftError", "Fault", "Final", "Finding", "Fragment", "ItemEvent", "Lock", "Lookup", "Native", "Notice",
    "Param", "ParseError", "Passthrough", "Policy", "Profile", "Program", "Recommendation", "Registry",
    "RegistryError", "Reply", "Stats", "Text", "TextEvent", "Tokenizer", "Tool", "TscgError", "TscgWarning", "Turn",
    "compile", "decompile", "diff", "lint", "recommend",
]  # fmt: skip

_LATER = {
    **dict.fromkeys(
        ("Call", "CallError", "Decoded", "Fault", "ItemEvent", "Lookup", "Notice", "Program", "TextEvent"), "tscg.calls"
    ),
    "Decoding": "tscg.decoding", "decompile": "tscg.language.parse",
    "Diff": "tscg.differences", "diff": "tscg.differences", "Recommendation": "tscg.recommendation",
    "recommend": "tscg.recommendation",
    "Stats": "tscg.stats", "Tokenizer": "tscg.tokenizers",
    **dict.fromkeys(("Again", "Final", "Reply", "Turn"), "tscg.turns"),
    "CompressionReport": "tscg.compression", "Policy": "tscg.policy",
    "Drift": "tscg.lock", "Lock": "tscg.lock", "Finding": "tscg.linting", "lint": "tscg.linting",
    "Registry": "tscg.registry",
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Names that are loaded when first used."""
    from importlib import import_module

    if name == "code":
        return import_module("tscg.code")
    if name not in _LATER:
        raise AttributeError(f"module 'tscg' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_LATER[name]), name)
    return found
