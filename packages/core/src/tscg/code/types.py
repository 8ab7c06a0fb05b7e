"""Types of the IR as Python writes them: builtins, ``Literal``, and a ``TypedDict`` for each object with fields."""

from __future__ import annotations

import json
import re
from collections import Counter
from keyword import iskeyword
from typing import TYPE_CHECKING

from tscg.ir import (
    AllOf,
    AnyType,
    Array,
    Boolean,
    Enum,
    Integer,
    Never,
    Node,
    Null,
    Number,
    Object,
    Ref,
    String,
    Tool,
    Union,
    children,
)
from tscg.language.spelling import UNSAFE, prose_line

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Types", "comment", "facts", "is_record", "quoted", "shared_literals"]

TEXT_LIMIT = 2_000  # characters of a type that is written in place: a longer one is Any
DEFAULT_LIMIT = 60  # characters of a default that is told
SHARED = 48  # characters of a Literal that gets a name when it is needed twice
SCALARS = {String: "str", Integer: "int", Number: "float", Boolean: "bool", Null: "None"}
SHADOWED = frozenset({"str", "int", "float", "bool", "list", "dict", "Any", "Literal", "NotRequired"})
_unsafe = re.compile(f'[{UNSAFE}"\\\\]')
NO_NOTE = "\0"  # prose here holds no references to shared sentences


def quoted(text: str) -> str:
    r"""A string literal of one line that nothing can leave.

    >>> print(quoted('a "b"\n\\'))
    "a \"b\"\n\\"
    """
    return f'"{_unsafe.sub(_escape, text)}"'


SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    return SHORT.get(char) or (
        f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    )


def comment(*parts: str) -> str:
    """Texts as one line of prose, joined by full stops."""
    said = [" ".join(part.split()).rstrip(".") for part in parts if part]
    return ". ".join(prose_line(part, NO_NOTE) for part in said if part)


def is_record(node: Node) -> bool:
    """Is an object written as a ``TypedDict``: are all its fields declared?"""
    return (
        isinstance(node, Object) and bool(node.params) and node.rest is None and "patternProperties" not in node.extra
    )


class Types:
    """Writes types; classes that they need wait in ``waiting`` until :meth:`taken` gives them."""

    def __init__(self, taken: Iterable[str], shared: frozenset[str] = frozenset()) -> None:
        self.names = set(taken)
        self.shared = shared  # texts of Literals that get a name
        self.classes: set[str] = set()
        self.bodies: dict[str, str] = {}  # body to class
        self.waiting: list[str] = []
        self.prose = True
        self.tool = ""
        self.types: dict[str, Node] = {}
        self.refs: dict[str, str] = {}
        self.done: dict[int, tuple[Node, str]] = {}

    def enter(self, function: str, types: Iterable[tuple[str, Node]], prose: bool = True) -> None:
        """Begin with a tool, or with its result: ``types`` are its named types."""
        self.tool, self.types, self.prose = function, dict(types), prose
        self.refs, self.done = {}, {}

    def taken(self) -> list[str]:
        """The classes that were needed since the last time."""
        out, self.waiting = self.waiting, []
        return out

    def kept(self) -> tuple[dict[str, str], set[str], set[str]]:
        """What :meth:`back` goes back to."""
        return dict(self.bodies), set(self.names), set(self.classes)

    def back(self, before: tuple[dict[str, str], set[str], set[str]]) -> None:
        """Forget the classes that were made since."""
        self.bodies, self.names, self.classes = before
        self.waiting = []

    def of(self, node: Node | None, hint: str) -> str:
        """The type of a node; ``hint`` is what a class for it would be called."""
        if node is None:
            return "Any"
        found = self.done.get(id(node))
        if found is not None:
            return found[1]
        text = self.written(node, hint)
        if len(text) > TEXT_LIMIT and not isinstance(node, Enum):
            text = "Any"
        self.done[id(node)] = (node, text)  # the node is kept, so that its id stays its own
        return text

    def written(self, node: Node, hint: str) -> str:
        """The type of a node that was not written before."""
        if isinstance(node, Enum):
            return self.enum(node, hint)
        if isinstance(node, Array):
            return self.array(node, hint)
        if isinstance(node, Object):
            return self.object(node, hint)
        if isinstance(node, Union):
            return _either(self.of(branch, hint) for branch in node.branches)
        if isinstance(node, AllOf):
            return self.of(self.merged(node), hint)
        if isinstance(node, Ref):
            return self.ref(node)
        return SCALARS.get(type(node), "Any") if getattr(node, "typed", True) else "Any"

    def enum(self, node: Enum, hint: str) -> str:
        """The listed values, under a name where they are needed twice."""
        text = _literal(node)
        if text not in self.shared:
            return text
        name = self.bodies.get(text)
        if name is None:
            name = self.bodies[text] = self.named(_camel(hint))
            self.waiting.append(f"{name} = {text}")
        return name

    def array(self, node: Array, hint: str) -> str:
        """A list; by position, any of its types."""
        one = hint[:-1] if hint.endswith("s") and not hint.endswith("ss") else hint
        parts = [self.of(part, one) for part in node.prefix]
        if node.items is not None:
            parts.append(self.of(node.items, one))
        elif not node.closed or not parts:
            parts = ["Any"]
        return f"list[{_either(parts)}]"

    def object(self, node: Object, hint: str) -> str:
        """A class for an object with fields, else a dict."""
        if not is_record(node):
            inner = "Any" if node.params or node.rest is None or node.extra else self.of(node.rest, hint)
            return f"dict[str, {inner}]"
        return self.record(node, hint, "")

    def merged(self, node: AllOf) -> Node:
        """An object for an intersection of objects; the only part; else anything."""
        if len(node.parts) == 1:
            return node.parts[0]
        from tscg.modes.native import object_root

        parts = [self.types.get(part.name, part) if isinstance(part, Ref) else part for part in node.parts]
        if not all(isinstance(part, Object) for part in parts):
            return AnyType()
        return object_root(Tool(name=self.tool, root=node, types=tuple(self.types.items())))[0]

    def ref(self, node: Ref) -> str:
        """A type that holds itself: a class, or anything where it is no object."""
        target = self.types.get(node.name)
        known = self.refs.get(node.name)
        if known is not None:
            return known
        if target is None or not is_record(target) or not isinstance(target, Object):
            return "Any"
        name = self.refs[node.name] = self.named(_camel(node.name))
        self.record(target, node.name, name)
        return name

    def record(self, node: Object, hint: str, name: str) -> str:
        """The class of an object: the one that has the same fields, else a new one; ``name`` if it has one already."""
        fields = [
            (param.name, self.of(param.type, param.name), param.required, self.said(param.type))
            for param in node.params
        ]
        plain = all(self.spelled(key) for key, *_ in fields)
        body = _body(fields) if plain else _mapping(fields)
        known = self.bodies.get(body)
        if known is not None and not name:
            return known
        name = name or self.named(_camel(hint))
        self.bodies.setdefault(body, name)
        head = f"class {name}(TypedDict" if plain else f"{name} = TypedDict({quoted(name)}, "
        self.waiting.append(head + body)
        return name

    def said(self, node: Node | None) -> str:
        """What a comment says of a field."""
        if node is None or not self.prose:
            return ""
        return comment(", ".join(facts(node)), node.note.description if node.note is not None else "")

    def spelled(self, key: str) -> bool:
        """May a key stand as a name in the body of a class, where it hides what else has this name?"""
        hides = key in SHADOWED or key in self.classes or key.startswith("__")
        return key.isascii() and key.isidentifier() and not iskeyword(key) and not hides

    def named(self, wanted: str) -> str:
        """A new name for a class."""
        tries = [wanted, _camel(self.tool) + wanted]
        name = next((one for one in tries if one not in self.names), "")
        number = 2
        while not name:
            name = "" if f"{tries[1]}{number}" in self.names else f"{tries[1]}{number}"
            number += 1
        self.names.add(name)
        self.classes.add(name)
        return name


def _camel(text: str) -> str:
    words = re.findall(r"[A-Za-z0-9]+", text)
    name = "".join(word[:1].upper() + word[1:] for word in words)[:64]
    if iskeyword(name):  # None, True, False
        name = f"{name}_"
    return name if name[:1].isalpha() else f"Type{name}"


def _body(fields: list[tuple[str, str, bool, str]]) -> str:
    """What stands behind the base of a class."""
    some = any(required for _, _, required, _ in fields)
    lines = [
        f"    {key}: {text if required or not some else f'NotRequired[{text}]'}{f'  # {said}' if said else ''}"
        for key, text, required, said in fields
    ]
    return "\n".join([f"{'' if some else ', total=False'}):", *lines])


def _mapping(fields: list[tuple[str, str, bool, str]]) -> str:
    """What stands behind the name in a call of ``TypedDict``."""
    pairs = [f"{quoted(key)}: {text if required else f'NotRequired[{text}]'}" for key, text, required, _ in fields]
    if not any(said for *_, said in fields):
        return f"{{{', '.join(pairs)}}})"
    lines = [f"    {pair},{f'  # {field[3]}' if field[3] else ''}" for pair, field in zip(pairs, fields, strict=True)]
    return "\n".join(["{", *lines, "})"])


def _literal(node: Enum) -> str:
    members: list[str] = []
    for text in node.values:
        value = json.loads(text)
        if isinstance(value, float | list | dict):
            return "Any"
        members.append(quoted(value) if isinstance(value, str) else repr(value))
    return f"Literal[{', '.join(dict.fromkeys(members))}]" if members else "Any"


def shared_literals(tools: Iterable[Tool]) -> frozenset[str]:
    """Long Literals that more than one tool, or more than one place of a tool, needs."""
    uses: Counter[str] = Counter()
    for tool in tools:
        seen: set[int] = set()
        todo: list[Node] = [tool.root, *(node for _, node in tool.types)]
        while todo:
            node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            if isinstance(node, Enum) and len(node.values) > 2:
                uses[_literal(node)] += 1
            todo.extend(children(node))
    return frozenset(text for text, times in uses.items() if times > 1 and len(text) > SHARED)


def _either(texts: Iterable[str]) -> str:
    parts = dict.fromkeys(texts)
    if "Any" in parts or not parts:
        return "Any"
    none = parts.pop("None", "") is None
    return " | ".join([*parts, *(["None"] if none else [])])


# --- what a type of Python does not say -------------------------------------------------------------------------------


def facts(node: Node) -> list[str]:
    """Bounds, formats, patterns and the default in a few words.

    >>> facts(Integer(low=1, high=100)), facts(Array(items=String(min_length=1), max_items=3))
    (['1..100'], ['at most 3 items', 'each at least 1 characters'])
    """
    out = _own(node)
    default = node.note.default if node.note is not None else None
    if default is not None and default != "null" and len(default) <= DEFAULT_LIMIT:
        out.append(f"default {default}")
    if node.note is not None and node.note.deprecated:
        out.append("deprecated")
    return out


def _own(node: Node) -> list[str]:
    if isinstance(node, AllOf):
        out = [fact for part in node.parts for fact in _own(part)]
    elif isinstance(node, Union):
        branches = [branch for branch in node.branches if not isinstance(branch, Null)]
        out = _own(branches[0]) if len(branches) == 1 else []
    elif isinstance(node, String):
        out = [_range(node.min_length or None, node.max_length, "characters"), node.format]
        out.append(f"matches {node.pattern}" if node.pattern is not None else "")
    elif isinstance(node, Number):
        out = _bounds(node)
    elif isinstance(node, Array):
        out = [_range(node.min_items or None, node.max_items, "items"), "unique" if node.unique else ""]
        if node.items is not None and not isinstance(node.items, Object | Array):
            out += [f"each {fact}" for fact in _own(node.items)]
    elif isinstance(node, Object):
        out = [_range(node.min_properties or None, node.max_properties, "keys")]
    else:
        out = ["not allowed"] if isinstance(node, Never) else []
    if node.extra:
        out.append(f"also {node.extra}")
    return [fact for fact in out if fact]


def _bounds(node: Number) -> list[str]:
    low, high = node.low, node.high
    if low is not None and high is not None and not node.low_open and not node.high_open:
        out = [f"{low}..{high}"]
    else:
        out = [f"{'>' if node.low_open else '>='} {low}" if low is not None else ""]
        out.append(f"{'<' if node.high_open else '<='} {high}" if high is not None else "")
    out.append(f"multiple of {node.multiple_of}" if node.multiple_of is not None else "")
    return [*out, node.format]


def _range(low: int | None, high: int | None, what: str) -> str:
    if low is not None and high is not None:
        return f"{low}..{high} {what}" if low != high else f"exactly {low} {what}"
    return f"at least {low} {what}" if low is not None else f"at most {high} {what}" if high is not None else ""
