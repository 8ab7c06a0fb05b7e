"""Lines of a map: a tool's name and what it takes, in the words of the catalog language.

A line says less than an entry of the language and is not meant to be parsed. It is safe in its place all the same:
names, listed values and servers that could break a line are JSON strings.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tscg.ir import (
    AllOf,
    AnyType,
    Array,
    Boolean,
    Enum,
    Integer,
    Node,
    Null,
    Number,
    Object,
    Param,
    Ref,
    String,
    Tool,
    Union,
)
from tscg.language.spelling import FORMATS, Spelling, literal, name
from tscg.modes.lookalike import lookalikes
from tscg.modes.takes import Takes, taken, takes_of

__all__ = ["Lines", "label", "lines_of", "map_text"]

LISTED = 6  # members of an enum that a signature lists
LONG = 600  # characters of one type: what is longer shows names alone, and a lookup the rest

NAMED = 2  # named types inside one another that are spelled out


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """What a line may say of one tool behind its name: three rungs, and whether a lookalike stands beside it.

    ``names`` holds the required names, ``shaped`` those with the shapes of lists and objects, ``signature`` all.
    """

    names: str
    shaped: str
    signature: str
    lookalike: bool

    @property
    def hybrid(self) -> str:
        """The signature where the name does not decide, else required names, with shapes where there are any."""
        return self.signature if self.lookalike else self.shaped

    def of(self, map: str) -> str:
        """The line of a map: ``names``, ``hybrid`` or ``signature``."""
        return {"names": self.names, "hybrid": self.hybrid, "signature": self.signature}[map]


def lines_of(
    tools: Sequence[Tool], spelling: Spelling, *, typed: bool = False, names_alone: bool = False
) -> list[Lines]:
    """The lines of tools, in their order. ``typed`` adds types of scalars and nested optional members to signatures.

    ``names_alone`` leaves out what a map of names does not say: all three rungs are the names.

    >>> import tscg
    >>> schema = {"properties": {"repo": {}, "state": {"enum": ["open", "closed"]}}, "required": ["repo"]}
    >>> catalog = tscg.Catalog.from_tools([{"name": "list_issues", "parameters": schema}])
    >>> lines = lines_of(tuple(catalog), tscg.language.spelling.DEFAULT)[0]
    >>> lines.names, lines.signature
    (' repo', '(repo state?(open closed))')
    """
    found = [takes_of(tool) for tool in tools]
    alike = lookalikes([(tool.name, takes.required) for tool, takes in zip(tools, found, strict=True)])
    out = []
    for tool, takes, lookalike in zip(tools, found, alike, strict=True):
        plain = _Types(tool.types, spelling, typed=False)
        full = _Types(tool.types, spelling, typed=True) if typed else plain
        names = _names(takes, plain, shaped=False)
        shaped = names if names_alone else _names(takes, plain, shaped=True)
        signature = names if names_alone else full.signature(takes)
        out.append(Lines(names=names, shaped=shaped, signature=signature, lookalike=lookalike))
    return out


def label(server: str) -> str:
    """The line above the tools of a server.

    >>> label("github"), label("a\\nb"), label("")
    ('# github', '# "a\\\\nb"', '#')
    """
    return f"# {name(server)}" if server else "#"


def map_text(entries: Iterable[tuple[str, str]]) -> str:
    """The map of entries, each with its server, in the order given: a label wherever the server changes.

    >>> print(map_text([("", "ping()"), ("github", "get_me()"), ("github", "get_issue owner")]))
    ping()
    # github
    get_me()
    get_issue owner
    """
    lines: list[str] = []
    last = ""
    for server, entry in entries:
        if server != last:
            lines.append(label(server))
            last = server
        lines.append(entry)
    return "\n".join(lines)


def _names(takes: Takes, types: _Types, *, shaped: bool) -> str:
    """Required names; ``()`` where there is nothing to give, `` ?`` where all is optional."""
    if takes.nothing:
        return "()"
    words = []
    for param in takes.params:
        if param.required:
            shape = types.shape(param.type) if shaped and param.type is not None and types.holds(param.type) else ""
            words.append(name(param.name) + (f":{shape}" if shape else ""))
    words += _choices(takes)
    if takes.more:
        words.append("*")
    return f" {' '.join(words)}" if words else " ?"


def _choices(takes: Takes) -> list[str]:
    """Sets of names of which one must be given, as objects of a union."""
    return [
        ("^" if either.exclusive else "|").join(f"{{{' '.join(map(name, names))}}}" for names in either.sets)
        for either in takes.either
    ]


class _Types:
    """Types of one tool as words; a node that is reached twice is spelled once."""

    def __init__(self, types: Iterable[tuple[str, Node]], spelling: Spelling, *, typed: bool) -> None:
        self.types: Mapping[str, Node] = dict(types)
        self.spelling, self.typed = spelling, typed
        self.words: dict[tuple[tuple[str, ...], int], str] = {}
        self.holding: dict[int, bool] = {}
        self.open: tuple[str, ...] = ()  # named types that are being spelled: one that holds itself ends there

    def signature(self, takes: Takes) -> str:
        """All parameters, optional ones marked."""
        words = [self.param(param) for param in takes.params]
        if takes.rest is not None or takes.more or (takes.free and not words):
            words.append("*")
        return "&".join([f"({self.spelling.gap.join(words)})", *_choices(takes)])

    def param(self, param: Param) -> str:
        mark = "" if param.required else "?"
        text = self.shape(param.type) if param.type is not None else ""
        gap = "" if not text or text[0] == "(" else ":"
        return f"{name(param.name)}{mark}{gap}{text}"

    # --- types --------------------------------------------------------------------------------------------------------

    def shape(self, node: Node) -> str:
        """What stands behind a parameter's name: nothing for a text, and without ``typed`` for any scalar."""
        word = self.word(node)
        if word == "str" or (not self.typed and not word.startswith("(") and not self.holds(node)):
            return ""
        return word

    def word(self, node: Node) -> str:
        """The type, never empty and never much longer than the limit."""
        key = (self.open, id(node))
        found = self.words.get(key)
        if found is None:
            found = self._word(node)
            if len(found) > LONG:
                found = self.short(node)
            self.words[key] = found
        return found

    def short(self, node: Node) -> str:
        """A type without the types inside it."""
        if isinstance(node, Array):
            return "any[]"
        if isinstance(node, Object):
            text = self.braces([name(param.name) for param in node.params if param.required])
            return text if len(text) <= LONG else "obj"
        return "obj" if self.holds(node) else "any"

    def _word(self, node: Node) -> str:
        if isinstance(node, Array):
            return self.array(node)
        if isinstance(node, Object):
            return self.object(node)
        if isinstance(node, Union):
            return self.union(node)
        if isinstance(node, AllOf):
            return self.all_of(node)
        if isinstance(node, Ref):
            return self.named(node)
        if isinstance(node, Enum):
            return self.enum(node)
        return self.scalar(node)

    def scalar(self, node: Node) -> str:
        if isinstance(node, String):
            return node.format if node.format in FORMATS else "str"
        if isinstance(node, Number):
            return "int" if isinstance(node, Integer) else "num"
        if isinstance(node, Boolean):
            return self.spelling.flag
        return "null" if isinstance(node, Null) else "any"

    def enum(self, node: Enum) -> str:
        if len(node.values) <= LISTED:
            return f"({self.spelling.enum.join(map(literal, node.values))})"
        kinds = {_kind(value) for value in node.values} - {"null"}
        return kinds.pop() if len(kinds) == 1 else "any"

    def array(self, node: Array) -> str:
        if node.prefix:
            return f"[{' '.join(self.word(part) for part in node.prefix)}]"
        if node.items is None:
            return "any[]"
        word = self.word(node.items)
        return f"<{word}>[]" if self.composed(node.items) and ("|" in word or "&" in word) else f"{word}[]"

    def composed(self, node: Node) -> bool:
        return isinstance(node, Union | AllOf | Ref)

    def object(self, node: Node) -> str:
        takes = taken(node, self.types)
        if self.typed:
            words = [self.param(param) for param in takes.params]
        else:
            words = [self.param(param) for param in takes.params if param.required]
        if takes.rest is not None and (self.typed or self.holds(takes.rest)):
            words.append(f"*:{self.word(takes.rest)}")
        if not words and not takes.either:
            return "{?}" if takes.params else "obj"
        return "&".join([self.braces(words), *_choices(takes)] if words else _choices(takes))

    def braces(self, words: Sequence[str]) -> str:
        return f"{{{' '.join(words)}}}" if words else "obj"

    def union(self, node: Union) -> str:
        """The branches without null, each once; a list of values beside a scalar of any value says nothing."""
        branches = [branch for branch in node.branches if not isinstance(branch, Null)]
        words = list(dict.fromkeys(self.word(branch) for branch in branches))
        if self.typed and len(branches) < len(node.branches):
            words.append("null")
        if not self.typed and len(words) > 1 and not self.holds(node):
            return "any"
        return "|".join(words) or "null"

    def all_of(self, node: AllOf) -> str:
        """Parts that are objects as one; else the first part that says something."""
        if any(isinstance(part, Object) for part in node.parts):
            return self.object(node)
        words = [self.word(part) for part in node.parts]
        return next((word for word in words if word not in ("any", "str")), words[0] if words else "any")

    def named(self, node: Ref) -> str:
        target = self.types.get(node.name)
        if target is None or node.name in self.open or len(self.open) == NAMED:
            return "obj"
        outer = self.open
        self.open = (*outer, node.name)
        word = self.word(target)
        self.open = outer
        return word

    def holds(self, node: Node) -> bool:
        """Is there a list or an object in this type, at its top?"""
        found = self.holding.get(id(node))
        if found is None:
            self.holding[id(node)] = False
            found = self.holding[id(node)] = self._holds(node)
        return found

    def _holds(self, node: Node) -> bool:
        if isinstance(node, Union):
            return any(self.holds(branch) for branch in node.branches)
        if isinstance(node, AllOf):
            return any(self.holds(part) for part in node.parts)
        if isinstance(node, Ref):
            return self.holds(self.types.get(node.name) or AnyType())
        return isinstance(node, Array | Object)


def _kind(value: str) -> str:
    """The type word of a value given as minified JSON."""
    if value in ("true", "false"):
        return "boolean"
    if value[0] in "-0123456789":
        return "num" if any(char in value for char in ".eE") else "int"
    return {'"': "str", "[": "any[]", "{": "obj", "n": "null"}.get(value[0], "any")
