"""Names of the tools of a catalog: each its own, told apart by servers where two share one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tscg.errors import CompileError, Fragment
from tscg.ir import Tool
from tscg.record import replace

__all__ = ["distinct", "visible"]

# Characters without a shape that Unicode counts as letters or marks: fillers, joiners, variation selectors.
SHAPELESS = frozenset({0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2065, 0x3164, 0xFFA0})
SELECTORS = (range(0xFE00, 0xFE10), range(0xE0000, 0xE1000))


def distinct(tools: Sequence[Tool], on_duplicate: str) -> tuple[Tool, ...]:
    """Tools with names of their own: one name on two servers becomes ``server__name`` on both.

    Raises CompileError where servers do not tell them apart, where ``on_duplicate`` is ``"error"``, where a name made
    so is taken, and where two names differ by nothing that can be seen.
    """
    out = list(tools)
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        count = Counter(names)
        places: dict[str, list[int]] = {}
        for i, tool in enumerate(tools):
            if count[tool.name] > 1:
                places.setdefault(tool.name, []).append(i)
        for name, found in places.items():
            _check(name, [(i, tools[i].server) for i in found], on_duplicate)
            for i in found:
                out[i] = replace(tools[i], name=f"{tools[i].server}__{name}") if tools[i].server else tools[i]
        _check_made(out, places)
    _check_seen(out)
    return tuple(out)


def visible(name: str) -> str:
    """What can be seen of a name: controls, bidi marks, joiners and the like are left out.

    >>> visible("get\\u200b_issue\\u202e"), visible("plain")
    ('get_issue', 'plain')
    """
    if name.isascii() and name.isprintable():
        return name
    from unicodedata import category

    return "".join(
        c
        for c in name
        if category(c) not in ("Cc", "Cf") and ord(c) not in SHAPELESS and not any(ord(c) in r for r in SELECTORS)
    )


def _check(name: str, found: Sequence[tuple[int, str]], on_duplicate: str) -> None:
    labels = [label for _, label in found]
    shown = [f"{label}:{name}" if label else f"tool {i}" for i, label in found]
    said = f"{', '.join(shown[:-1])} and {shown[-1]}" if len(shown) <= 10 else f"{', '.join(shown[:10])} ..."
    if len(set(labels)) < len(labels):
        raise CompileError(
            [Fragment(tool=name, pointer="", reason=f"{len(found)} tools of one name ({said})")],
            hint="label their servers: give {'server': ..., 'tools': [...]}, "
            "or Catalog.from_tools(tools, server=...) and Catalog.join",
        )
    if on_duplicate == "error":
        hint = "on_duplicate='prefix' names them server__name"
        raise CompileError(
            [Fragment(tool=name, pointer="", reason=f"one name on {len(found)} servers ({said})")], hint=hint
        )


def _check_made(tools: Sequence[Tool], places: dict[str, list[int]]) -> None:
    """Is a name that was made with a server's label that of another tool?"""
    count = Counter(tool.name for tool in tools)
    if len(count) == len(tools):
        return
    made = [tools[i] for found in places.values() for i in found]
    told = "{} of the server {} gets this name, which another tool has"
    raise CompileError([
        Fragment(tool=tool.name, pointer="", reason=told.format(tool.local_name, tool.server))
        for tool in made if count[tool.name] > 1
    ], hint="give a server another label")  # fmt: skip


def _check_seen(tools: Sequence[Tool]) -> None:
    names = "".join([tool.name for tool in tools])
    if names.isascii() and names.isprintable():
        return
    seen: dict[str, str] = {}
    for tool in tools:
        shown = visible(tool.name)
        other = seen.setdefault(shown, tool.name)
        if shown and other != tool.name:
            reason = f"differs from {ascii(other)[:80]} by invisible characters alone ({ascii(tool.name)[:80]})"
            raise CompileError([Fragment(tool=shown, pointer="", reason=reason)], hint="rename one of the two")
