"""Names that Python can spell: an alias for each tool and parameter that it cannot, there and back.

An alias depends on its name alone, and on the others only where two would be one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cached_property, lru_cache
from keyword import iskeyword
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

if TYPE_CHECKING:
    from tscg.ir import JSON, Tool
    from tscg.resolve import Surface

__all__ = ["RESERVED", "Both", "Naming", "aliases", "is_spelled", "naming_of", "run_tool"]

# What a program needs under its own name; a list of our own, since that of Python changes with its version.
RESERVED = frozenset(
    """
abs aiter all anext any ascii bin bool breakpoint bytearray bytes callable chr classmethod compile complex delattr dict
dir divmod enumerate eval exec exit filter float format frozenset getattr globals hasattr hash help hex id input int
isinstance issubclass iter len list locals map max memoryview min next object oct open ord pow print property quit range
repr reversed round set setattr slice sorted staticmethod str sum super tuple type vars zip
Exception BaseException ArithmeticError AssertionError AttributeError IndexError KeyError LookupError NameError
RuntimeError StopIteration TimeoutError TypeError ValueError ZeroDivisionError Ellipsis NotImplemented
asyncio collections datetime functools itertools json math random re time typing
Any Literal NotRequired ToolError TypedDict
""".split()
)
RUN_TOOLS = ("run_python", "run_program", "tscg_run_python")
HASH = 6  # characters
_other = re.compile(r"\W+")


def is_spelled(name: str) -> bool:
    """Can a program write this name, and does Python read it as it stands?

    >>> is_spelled("state"), is_spelled("from"), is_spelled("per-page"), is_spelled("\\ufb01le")
    (True, False, False, False)
    """
    return (
        name.isidentifier()
        and not iskeyword(name)
        and name != "__debug__"
        and (name.isascii() or normalize("NFKC", name) == name)
    )


def aliases(names: Iterable[str], reserved: frozenset[str] = frozenset()) -> dict[str, str]:
    """The alias of each name that is reserved or that Python cannot spell.

    >>> aliases(["from", "per-page", "state"])
    {'from': 'from_', 'per-page': 'per_page'}
    """
    given = dict.fromkeys(names)
    kept = {name for name in given if is_spelled(name) and name not in reserved}
    wanted = {name: _cleaned(name, reserved) for name in given if name not in kept}
    claims: dict[str, int] = {}
    for alias in wanted.values():
        claims[alias] = claims.get(alias, 0) + 1
    out: dict[str, str] = {}
    for name, alias in wanted.items():
        free = claims[alias] == 1 and alias not in kept and alias not in reserved
        plain = any(char.isalnum() for char in alias) and free
        out[name] = alias if plain else f"{alias}_{_hash(name)}"
    return out


def _cleaned(name: str, reserved: frozenset[str]) -> str:
    alias = _other.sub("_", normalize("NFKC", name))[:64]
    if not alias[:1].isidentifier():
        alias = f"_{alias}"
    if iskeyword(alias) or alias in reserved or alias == "__debug__":
        alias += "_"
    return alias if is_spelled(alias) else f"_{_hash(name)}"


def _hash(name: str) -> str:
    import hashlib

    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:HASH]


def run_tool(taken: Iterable[str]) -> str:
    """The wire name of the tool that takes a program: the first of a fixed list that is no other tool's.

    >>> run_tool([]), run_tool(["run_python"])
    ('run_python', 'run_program')
    """
    names = frozenset(taken)
    number = 2
    for name in RUN_TOOLS:
        if name not in names:
            return name
    while f"run_python_{number}" in names:
        number += 1
    return f"run_python_{number}"


class Both(Exception):
    """A parameter was given under its name and under its alias."""

    def __init__(self, name: str, alias: str) -> None:
        super().__init__(name)
        self.name, self.alias = name, alias


class Naming:
    """Functions of tools and back, parameters of each and back.

    ``book`` holds functions that were shown before: they keep their tools, and no other tool gets one of them.
    """

    def __init__(self, tools: Iterable[Tool], book: Mapping[str, str] | None = None) -> None:
        self.tools = {tool.name: tool for tool in tools}
        kept = dict(book or {})
        made = aliases((name for name in self.tools if name not in kept), RESERVED.union(kept.values()))
        self.function = {name: kept.get(name) or made.get(name, name) for name in self.tools}
        self._params: dict[str, Mapping[str, str]] = {}

    @cached_property
    def tool(self) -> Mapping[str, str]:
        """Names of tools by their functions."""
        return {function: name for name, function in self.function.items()}

    def params(self, tool: str) -> Mapping[str, str]:
        """Aliases of a tool's parameters by their names; only those that have one."""
        found = self._params.get(tool)
        if found is None:
            found = self._params[tool] = aliases(param.name for param in top(self.tools[tool]).params)
        return found

    def original(self, tool: str, given: Mapping[str, JSON]) -> dict[str, JSON]:
        """Arguments under their own names; raises :class:`Both` where a name stands beside its alias."""
        back = {alias: name for name, alias in self.params(tool).items()}
        for key in given:
            if key in back and back[key] in given:
                raise Both(back[key], key)
        return {back.get(key, key): value for key, value in given.items()}


def top(tool: Tool) -> Any:
    """The object that stands for the arguments, whatever the root is composed of."""
    from tscg.modes.native import object_root

    return object_root(tool)[0]


@lru_cache(maxsize=32)
def naming_of(surface: Surface) -> Naming:
    """The names that a surface showed: pinned tools are no functions."""
    return Naming((tool for tool in surface.catalog if tool.name not in surface.native), surface.codes)
