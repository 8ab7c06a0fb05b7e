"""Typed stubs of tools: a function each, keyword arguments only, ``...`` where one may be left out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from tscg.code.naming import RESERVED, Naming
from tscg.code.types import NO_NOTE, Types, comment, facts, shared_literals
from tscg.ir import Catalog, Never, Object, Tool
from tscg.language.spelling import prose_line
from tscg.record import Record
from tscg.schema import minified

if TYPE_CHECKING:
    from tscg.ir import Param

__all__ = ["CHECK_HEAD", "Stubs", "stubs"]

CHECK_HEAD = """\
from typing import Any, Literal, NotRequired, TypedDict
class ToolError(Exception): ...
"""
"""What the type checker is told before the stubs; the model knows it."""
HEAD = "# Parameters, where a function says nothing else:"
ENVELOPE = 40  # characters that the JSON form of a tool has beside its texts, more than a function has
DEFINED = re.compile(r"^(?:(?:class|def) (\w+)|(\w+) = )", re.MULTILINE)
SILENT = 8  # functions that say so, for each one that says nothing
COMMON = 3  # functions that say the same of a parameter, from which on it is said once


class Stubs(Record):
    """The stub file, its part of each tool by name, and the names in it."""

    text: str
    entries: Mapping[str, str]
    naming: Naming


def stubs(shown: Catalog, naming: Naming | None = None, before: str = "") -> Stubs:
    """The stubs of a catalog with the prose that it holds; ``before`` is a stub file that they will stand behind.

    >>> from tscg.ir import Integer, Param, String
    >>> root = Object(params=(Param(name="q", required=True, type=String()), Param(name="from", type=Integer(low=0))))
    >>> print(stubs(Catalog(tools=(Tool(name="find", description="Finds.", root=root),))).text)
    def find(*, q: str, from_: int = ...) -> Any:
        \"\"\"Finds.
        from_: named "from", >= 0\"\"\"
    """
    naming = Naming(shown) if naming is None else naming
    taken = {name for pair in DEFINED.findall(before) for name in pair}
    types = Types({*RESERVED, *naming.function.values(), *taken}, shared_literals(shown))
    drafts = [_draft(tool, naming, types) for tool in shown]
    common = {} if before else _common(drafts)
    entries = {draft.tool: draft.written(common) for draft in drafts}
    head = [HEAD, *(f"# {alias}: {said}" for alias, said in common.items())] if common else []
    return Stubs(text="\n".join([*head, *entries.values()]), entries=entries, naming=naming)


class _Draft(Record):
    """One function: classes before it, its head, lines about it, and what is said of its parameters by alias."""

    tool: str
    classes: tuple[str, ...]
    head: str
    lines: tuple[str, ...]
    said: Mapping[str, str]

    def written(self, common: Mapping[str, str]) -> str:
        own = [f"{alias}: {said}" for alias, said in self.said.items() if said and common.get(alias) != said]
        return "\n".join([*self.classes, _function(self.head, [*self.lines, *own])])


def _common(drafts: Sequence[_Draft]) -> dict[str, str]:
    """What most functions say of a parameter of this name, said once; only where nearly each says something of it."""
    saids: dict[str, Counter[str]] = {}
    for draft in drafts:
        for alias, said in draft.said.items():
            saids.setdefault(alias, Counter())[said] += 1
    common: dict[str, str] = {}
    for alias, counter in saids.items():
        silent = counter.pop("", 0)
        said, times = counter.most_common(1)[0] if counter else ("", 0)
        if times >= COMMON and silent * SILENT <= times:
            common[alias] = said
    return common


def _draft(tool: Tool, naming: Naming, types: Types) -> _Draft:
    from tscg.modes.native import object_root

    function, names = naming.function[tool.name], naming.params(tool.name)
    root, rule = object_root(tool)
    types.enter(function, tool.types)
    parts: dict[str, str] = {}
    said: dict[str, str] = {}
    for param in root.params if isinstance(root, Object) else ():
        if not isinstance(param.type, Never):
            alias = names.get(param.name, param.name)
            parts[alias] = f"{alias}: {types.of(param.type, param.name)}{'' if param.required else ' = ...'}"
            said[alias] = _said(param, alias)
    rest = _rest(root, types) or ("" if parts or isinstance(tool.root, Object) else "Any")
    star = [] if not parts else ["*"]
    more = [f"**{_free(parts)}: {rest}"] if rest else []
    classes, result = types.taken(), "Any"
    spent = sum(map(len, (*classes, *parts.values(), *said.values(), *said, tool.description)))
    if tool.output_schema is not None:
        room = len(minified(tool.schema)) + len(tool.original_description) + ENVELOPE - spent
        more_classes, result = _result(tool, function, types, room)
        classes += more_classes
    origin = f"Original name: {tool.name}" if function != tool.name else ""
    return _Draft(
        tool=tool.name, classes=tuple(classes),
        head=f"def {function}({', '.join([*star, *parts.values(), *more])}) -> {result}:",
        lines=tuple(line for line in [*tool.description.split("\n"), rule, origin] if line), said=said,
    )  # fmt: skip


def _free(taken: Mapping[str, str]) -> str:
    name = "more"
    while name in taken:
        name += "_"
    return name


def _said(param: Param, alias: str) -> str:
    if param.type is None:
        return ""
    known = [f'named "{param.name}"'] if alias != param.name else []
    return comment(", ".join([*known, *facts(param.type)]), param.description)


def _rest(root: object, types: Types) -> str:
    """The type of arguments that have no name of their own, empty where there are none."""
    if not isinstance(root, Object):
        return "Any"
    if "patternProperties" in root.extra:
        return "Any"
    return types.of(root.rest, "more") if root.rest is not None else ""


def _result(tool: Tool, function: str, types: Types, room: int) -> tuple[list[str], str]:
    """Classes and type of the result; anything where it cannot be read, or would cost more than ``room`` characters."""
    from tscg.schema import SchemaTooLarge, walk

    try:
        walked = walk(tool.output_schema, tool.name)
    except SchemaTooLarge:
        return [], "Any"
    before = types.kept()
    types.enter(function, walked.types, prose=False)
    result = types.of(walked.root, f"{function}_result")
    classes = types.taken()
    if sum(map(len, classes)) > room:
        types.back(before)
        return [], "Any"
    return classes, result


def _function(head: str, lines: list[str]) -> str:
    if not lines:
        return f"{head} ..."
    said = "\n    ".join(_in_docstring(line) for line in lines)
    before = said[:-1]
    if said.endswith('"') and (len(before) - len(before.rstrip("\\"))) % 2 == 0:  # no backslash escapes it yet
        said = f'{before}\\"'
    return f'{head}\n    """{said}"""'


def _in_docstring(line: str) -> str:
    """A line of prose that cannot end the docstring, and that no line break follows."""
    text = prose_line(line, NO_NOTE).replace("\\", "\\\\")
    return text.replace('"""', '\\"\\"\\"')
