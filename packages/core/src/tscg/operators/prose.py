"""Lifting operators on prose onto the IR: one walk over a tool's notes, whatever number of operators rewrites them.

Detail, DRO and SDM are functions on a text and what the schema says beside it. One walk applies them all, detail first,
on the author's own words, so that the others rewrite only what is shown. What does not depend on the place of a text is
kept for the next place that has the same one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import is_
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from tscg.ir import AllOf, Array, Boolean, Enum, Integer, Node, Note, Null, Number, Object, Param, String, Tool, Union
from tscg.operators.detail import Parts, chosen, parts, select
from tscg.operators.dro import ABSENT, Facts, applies, restructure
from tscg.operators.sdm import densify, filler_words
from tscg.prose.gloss import spoken
from tscg.record import Record, replace
from tscg.schema import noted

if TYPE_CHECKING:
    from tscg.ir import JSON
    from tscg.profiles import Profile
    from tscg.prose.classify import Of

__all__ = ["Rewrite", "Site", "facts", "map_notes", "rewriter", "told", "without_prose"]


class Site(NamedTuple):
    """Where a note stands: of the tool itself, a parameter or another type; its name, its type, and what is around.

    ``names`` are the lower-cased names of the tool and its parameters, which are no filler here.
    """

    of: Of
    name: str
    node: Node
    required: bool | None
    tool: str
    names: frozenset[str]


R = TypeVar("R", bound=Record)
Rewrite = Callable[[Note, Site], "Note | None"]
Visit = Callable[[Note, "Of", str, Node, "bool | None"], "Note | None"]
LEAVES = frozenset((String, Integer, Number, Boolean, Null, Enum))


def map_notes(tool: Tool, rewrite: Rewrite) -> Tool:
    """The tool with every note rewritten; the same object where nothing changed."""
    name, names = tool.name, frozenset([tool.name.lower(), *[param.name.lower() for param in tool.params]])

    def visit(note: Note, of: Of, here: str, node: Node, required: bool | None) -> Note | None:
        return rewrite(note, Site(of, here, node, required, name, names))

    return _Walk(visit).tool(tool)


class _Walk:
    """Rewrites the notes of a tool from the top down."""

    def __init__(self, visit: Visit) -> None:
        self.visit = visit
        self.done: dict[object, Node] = {}

    def tool(self, tool: Tool) -> Tool:
        self.done = {}
        description = tool.description
        if description:
            note = self.visit(Note(description=description), "tool", tool.name, tool.root, None)
            description = note.description if note is not None else ""
        root = self.node(tool.root, "other", "", None)
        types = tool.types and tuple([(name, self.node(node, "other", name, None)) for name, node in tool.types])
        same_types = all(new[1] is old[1] for new, old in zip(types, tool.types, strict=True))
        if description == tool.description and root is tool.root and same_types:
            return tool
        return replace(tool, description=description, root=root, types=types)

    def node(self, node: Node, of: Of, name: str, required: bool | None) -> Node:
        """A node; it is rewritten once for each way it is referred to (a parameter counts with its name)."""
        if type(node) in LEAVES:
            return self.inner(node, of, name, required)
        key = id(node) if of == "other" else (id(node), of, name, required)
        found = self.done.get(key)
        if found is None:
            found = self.done[key] = self.inner(node, of, name, required)
        return found

    def inner(self, node: Node, of: Of, name: str, required: bool | None) -> Node:
        note = node.note
        if note is not None:
            note = self.visit(note, of, name, node, required)
        new = node
        if isinstance(node, Object):
            params = self.params(node.params)
            rest = None if node.rest is None else self.node(node.rest, "other", "", None)
            if params is not node.params or rest is not node.rest:
                new = replace(node, params=params, rest=rest)
        elif isinstance(node, Array):
            items = None if node.items is None else self.node(node.items, "other", name, None)
            prefix = self.several(node.prefix)
            if items is not node.items or prefix is not node.prefix:
                new = replace(node, items=items, prefix=prefix)
        elif isinstance(node, Union):
            branches = self.several(node.branches)
            if branches is not node.branches:
                new = replace(node, branches=branches)
        elif isinstance(node, AllOf):
            below = self.several(node.parts)
            if len(below) == 1:  # it stands for its note alone
                return node if below is node.parts and note is node.note else noted(below[0], note)
            if below is not node.parts:
                new = replace(node, parts=below)
        return new if note is node.note else _with(new, "note", note)

    def several(self, nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        if not nodes:
            return nodes
        out = tuple([self.node(node, "other", "", None) for node in nodes])
        return nodes if all(map(is_, out, nodes)) else out

    def params(self, params: tuple[Param, ...]) -> tuple[Param, ...]:
        out = []
        changed = False
        for param in params:
            node = param.type
            if node is not None and (type(node) not in LEAVES or node.note is not None):
                # Through the memo: what refers to itself many times over stays small.
                new = self.node(node, "parameter", param.name, param.required)
                if new is not node:
                    changed = True
                    out.append(_with(param, "type", new))
                    continue
            out.append(param)
        return tuple(out) if changed else params


def _with(record: R, name: str, value: object) -> R:
    """``replace`` for one field of a record that works out nothing; it runs for each note that changes."""
    new: R = object.__new__(type(record))
    fields = new.__dict__
    fields.update(record.__dict__)
    fields[name] = value
    return new


# --- what the profile's operators make of a note ----------------------------------------------------------------------


def rewriter(profile: Profile) -> Callable[[Tool], Tool] | None:
    """The profile's operators on prose as one function on the tools of one catalog; None where there are none."""
    if profile.shows_all:
        return None
    return _Rewriter(profile).tool


class _Rewriter:
    """Rewrites the notes of tools; keeps by text what does not depend on its place."""

    def __init__(self, profile: Profile) -> None:
        self.keep, self.sdm, self.dro = profile.kept, profile.sdm, profile.dro
        self.titles, self.examples = profile.titles, profile.examples
        self.parts: dict[tuple[str, str], Parts] = {}
        self.structured: dict[tuple[object, ...], str] = {}
        self.dense: dict[tuple[str, frozenset[str]], str] = {}
        self.filler = filler_words() if profile.sdm else frozenset()
        self.walk = _Walk(self.note)
        self.said = ""
        self.names: frozenset[str] = frozenset()

    def tool(self, tool: Tool) -> Tool:
        """The tool as the profile shows it."""
        params = tool.root.params if isinstance(tool.root, Object) else tool.params
        self.said = spoken(tool.name)
        self.names = self.filler.intersection([tool.name.lower(), *[param.name.lower() for param in params]])
        return self.walk.tool(tool)

    def note(self, note: Note, of: Of, name: str, node: Node, required: bool | None) -> Note | None:
        given = note.description
        text = self.text(given, of, name, node, required) if given else ""
        title = note.title if self.titles else ""
        examples = note.examples if self.examples else ()
        if text == given and title == note.title and examples == note.examples:
            return note
        flags = note.deprecated or note.read_only or note.write_only
        if not (text or title or examples or flags) and note.default is None:
            return None
        new = _with(note, "description", text)
        return (
            new if title == note.title and examples == note.examples else replace(new, title=title, examples=examples)
        )

    def text(self, text: str, of: Of, name: str, node: Node, required: bool | None) -> str:
        keep = self.keep
        if keep is not None:
            found = self.parts.get((text, of))
            if found is None:
                found = self.parts[text, of] = parts(text, of, keep)
            text = chosen(found, of, keep, name, self.said) if found.judged else found.whole
        if text and self.dro and of == "parameter" and _structured(text, node, required):
            text = self.restructured(text, node, required)
        if not (text and self.sdm):
            return text
        said = self.dense.get((text, self.names))
        if said is None:
            said = self.dense[text, self.names] = densify(text, self.names)
        return said

    def restructured(self, text: str, node: Node, required: bool | None) -> str:
        """DRO; parameters of one type often come with one text."""
        key: tuple[object, ...]
        default = node.note.default if node.note is not None else None
        if isinstance(node, Number) and not (node.low_open or node.high_open or node.format):
            key = (text, type(node), required, default, node.low, node.high, node.typed)
        elif isinstance(node, String) and _plain(node):
            key = (text, String, required, default, node.typed)
        elif isinstance(node, Boolean):
            key = (text, Boolean, required, default)
        else:
            return restructure(text, facts(node, required))
        said = self.structured.get(key)
        if said is None:
            said = self.structured[key] = restructure(text, facts(node, required))
        return said


def told(text: str, site: Site, profile: Profile) -> str:
    """What a profile makes of one text: its operators one after the other.

    >>> from tscg.profiles import PROFILES
    >>> site = Site("parameter", "size", Integer(), False, "list_orders", frozenset())
    >>> told("Number of the orders to show (optional). It is new.", site, PROFILES["balanced"])
    'Number of orders to show.'
    """
    if profile.kept is not None:
        text = select(text, site.of, profile.kept, name=site.name, says=(site.tool,))
    if profile.dro and site.of == "parameter":
        text = restructure(text, facts(site.node, site.required))
    return densify(text, site.names) if profile.sdm else text


def without_prose(tool: Tool) -> Tool:
    """The tool with types, bounds and defaults alone."""
    return map_notes(tool, _bare)


def _bare(note: Note, site: Site) -> Note | None:
    if note.default is None:
        return None
    return Note(default=note.default)


# --- what the schema says beside a text -------------------------------------------------------------------------------

_TYPES: dict[type, tuple[str, ...]] = {
    String: ("string",), Integer: ("integer",), Number: ("number",), Boolean: ("boolean",), Null: ("null",),
    Array: ("array",), Object: ("object",),
}  # fmt: skip


def _types(node: Node) -> tuple[str, ...]:
    found = _TYPES.get(type(node))
    if found is not None:
        return found if getattr(node, "typed", True) else ()
    if isinstance(node, Union):
        return tuple([kind for branch in node.branches for kind in _types(branch) if kind != "null"])
    if isinstance(node, Enum):
        return ("string",) if node.values and node.values[0][0] == '"' else ()
    if isinstance(node, AllOf) and len(node.parts) == 1:
        return _types(node.parts[0])
    return ()


def _structured(text: str, node: Node, required: bool | None) -> bool:
    """Whether the text may say what the schema says: a cheap test, which spares most texts their facts."""
    if "efault" in text and (node.note is None or node.note.default is not None):
        return True
    if ("equired" in text) if required else ("ptional" in text):
        return True
    if isinstance(node, String):
        return applies(text) if not _plain(node) else "(" in text and "str" in text
    if isinstance(node, Number):
        if node.low is not None or node.high is not None:
            return applies(text)
        return "(" in text and ("num" in text or "int" in text or "float" in text)
    if isinstance(node, Enum) and node.values:
        return "(str" in text or (node.values[0].strip('"') in text and node.values[-1].strip('"') in text)
    return "ool" in text if isinstance(node, Boolean) else applies(text)


def _plain(node: String) -> bool:
    return not (node.format or node.min_length or node.max_length is not None)


def _value(minified: str) -> JSON:
    """The value of minified JSON; a plain text is read without a parser."""
    if minified[0] == '"' and "\\" not in minified:
        return minified[1:-1]
    found: JSON = json.loads(minified)
    return found


def facts(node: Node, required: bool | None) -> Facts:
    """What the schema says of a parameter."""
    note = node.note
    default = ABSENT if note is None or note.default is None else _value(note.default)
    types = _types(node)
    if isinstance(node, Union):
        plain = [branch for branch in node.branches if not isinstance(branch, Null)]
        node = plain[0] if len(plain) == 1 else node
    if isinstance(node, Enum):
        return Facts(
            types=types, enum=tuple([_value(each) for each in node.values]), default=default, required=required
        )
    if isinstance(node, Number):
        low = None if node.low_open else node.low
        high = None if node.high_open else node.high
        return Facts(
            types=types, default=default, required=required, minimum=low, maximum=high, format=node.format or None
        )
    if isinstance(node, String):
        return Facts(
            types=types, default=default, required=required, min_length=node.min_length or None,
            max_length=node.max_length, format=node.format or None,
        )  # fmt: skip
    if isinstance(node, Array):
        items = _types(node.items) if node.items is not None else ()
        return Facts(
            types=types, item_types=items, default=default, required=required, min_items=node.min_items or None,
            max_items=node.max_items,
        )  # fmt: skip
    return Facts(types=types, default=default, required=required)
