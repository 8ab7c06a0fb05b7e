"""Lifting operators on prose onto the IR: one walk over a tool's notes, whatever number of operators rewrites them.

Detail, DRO and SDM are functions on a text and what the schema says beside it. One walk applies them all, detail first,
on the author's own words, so that the others rewrite only what is shown. What does not depend on the place of a text is
kept for the next place that has the same one.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from operator import attrgetter, is_

from tscg.ir import AllOf, Array, Boolean, Enum, Integer, Node, Note, Null, Number, Object, Param, String, Tool, Union
from tscg.operators.detail import LONGEST, Parts, chosen, obliges, parts, select, shortened, shows_whole
from tscg.operators.dro import Facts, applies, ends_phrase, restructure
from tscg.operators.sdm import FILLER, dense, densify
from tscg.operators.sdm import LONGEST as DENSE
from tscg.prose.classify import Rank
from tscg.prose.gloss import TELLING, fresh, is_word, spoken
from tscg.prose.policy import known
from tscg.prose.sentences import split
from tscg.prose_form import normalise
from tscg.record import Record, replace
from tscg.schema import noted

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import TypeVar

    from tscg.ir import JSON
    from tscg.profiles import Profile
    from tscg.prose.classify import Of
    from tscg.prose.policy import Known

    R = TypeVar("R", bound=Record)

__all__ = ["Rewrite", "Site", "facts", "in_lines", "map_notes", "rewriter", "told", "without_prose"]


class Site(Record):
    """Where a note stands: of the tool itself, a parameter or another type; its name, its type, and what is around.

    ``names`` are the lower-cased names of the tool and its parameters, which are no filler here.
    """

    of: Of
    name: str
    node: Node
    required: bool | None
    tool: str
    names: frozenset[str]


_NAME = attrgetter("name")
_DIGITS = frozenset("0123456789")
_put = object.__setattr__
Rewrite = Callable[[Note, Site], "Note | None"]
LEAVES = frozenset((String, Integer, Number, Boolean, Null, Enum))


def map_notes(tool: Tool, rewrite: Rewrite) -> Tool:
    """The tool with every note rewritten; the same object where nothing changed."""
    return _Sites(tool, rewrite).tool(tool)


class _Walk:
    """Rewrites the notes of a tool from the top down."""

    def __init__(self) -> None:
        self.done: dict[object, Node] = {}

    def visit(self, note: Note, of: Of, name: str, node: Node, required: bool | None) -> Note | None:
        """What becomes of a note; ``name`` is that of the parameter or type, ``node`` what it describes."""
        raise AssertionError  # each walk has its own

    def tool(self, tool: Tool) -> Tool:
        self.done = {}
        description = self.described(tool)
        root = self.node(tool.root, "other", "", None)
        types = tool.types and tuple([(name, self.node(node, "other", name, None)) for name, node in tool.types])
        same_types = not types or all(new[1] is old[1] for new, old in zip(types, tool.types, strict=True))
        if same_types and root is tool.root and description == tool.description:
            return tool
        return replace(tool, description=description, root=root, types=types)

    def described(self, tool: Tool) -> str:
        """What becomes of a tool's own text."""
        if not tool.description:
            return ""
        note = self.visit(Note(description=tool.description), "tool", tool.name, tool.root, None)
        return note.description if note is not None else ""

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
        for param in params:
            node = param.type
            if node is None or (node.note is None and type(node) in LEAVES):
                out.append(param)
            else:  # through the memo: what refers to itself many times over stays small
                new = self.node(node, "parameter", param.name, param.required)
                out.append(param if new is node else _with(param, "type", new))
        return params if all(map(is_, out, params)) else tuple(out)


class _Sites(_Walk):
    """Shows a function each note of a tool with its place."""

    def __init__(self, tool: Tool, rewrite: Rewrite) -> None:
        super().__init__()
        self.rewrite, self.name = rewrite, tool.name
        self.names = frozenset([tool.name.lower(), *[param.name.lower() for param in tool.params]])

    def visit(self, note: Note, of: Of, name: str, node: Node, required: bool | None) -> Note | None:
        return self.rewrite(
            note, Site(of=of, name=name, node=node, required=required, tool=self.name, names=self.names)
        )


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


class _Met:
    """Parameters that were met before (many tools have the same ones), by identity, and what they become.

    ``fixed`` are those that become the same in every tool. For the others, ``news`` is what the first word that the
    name of the parameter does not say begins with: where the name of a tool has no such word, it is shown ``whole``,
    and ``short`` where its text tells nothing.
    """

    __slots__ = ("fixed", "news", "short", "whole")

    def __init__(self) -> None:
        self.fixed: dict[int, Param] = {}
        self.news: dict[int, str] = {}
        self.whole: dict[int, Param] = {}
        self.short: dict[int, Param] = {}


class _Rewriter(_Walk):
    """Rewrites the notes of tools; keeps by text, and by parameter, what does not depend on the tool."""

    def __init__(self, profile: Profile) -> None:
        super().__init__()
        self.keep, self.sdm, self.dro = profile.kept, profile.sdm, profile.dro
        self.titles, self.examples = profile.titles, profile.examples
        self.filler = FILLER if profile.sdm else frozenset()
        self.said = ""
        self.names: frozenset[str] = frozenset()
        self.met = _Met()
        self.by_names = {self.names: self.met}
        keep = self.keep
        #: Whether the first sentence is shown, that of a parameter where it says one new word.
        self.plain = (
            keep is not None
            and keep.news == 1
            and not keep.gloss
            and Rank.PURPOSE in keep.parameter
            and Rank.PURPOSE in keep.tool
        )

    def tool(self, tool: Tool) -> Tool:
        """The tool as the profile shows it."""
        root = tool.root
        params = root.params if isinstance(root, Object) else tool.params
        self.said = spoken(tool.name)
        self.names = self.filler.intersection(map(str.lower, [tool.name, *map(_NAME, params)]))
        met = self.by_names.get(self.names)
        self.met = self.by_names.setdefault(self.names, _Met()) if met is None else met
        if tool.types or type(root) is not Object or root.note is not None or root.rest is not None:
            return super().tool(tool)
        self.done = {}
        description = self.described(tool)
        params = self.params(root.params)
        if params is root.params:
            return tool if description == tool.description else replace(tool, description=description)
        return replace(tool, description=description, root=_with(root, "params", params))

    def described(self, tool: Tool) -> str:
        text, keep = tool.description, self.keep
        if self.plain and 0 < len(text) < DENSE and len(split(text)) == 1:
            low, words, binds = known(text)
            return text if binds or not self.sdm else dense(text, low, words, self.names)
        if text and keep is not None:
            text = chosen(parts(text, "tool", keep), "tool", keep, tool.name, self.said)
        said = densify(text, self.names) if text and self.sdm else text
        return in_lines(said) if "\n" in said and said != tool.description else said

    def params(self, params: tuple[Param, ...]) -> tuple[Param, ...]:
        """Flat, for there is a round for each parameter of a catalog."""
        out: list[Param] = []
        append = out.append
        fixed, judged, whole, said = self.met.fixed, self.met.news, self.met.whole, self.said
        for param in params:
            place = id(param)  # it lives as long as the catalog
            if place in fixed:
                append(fixed[place])
            elif place in judged:
                append(whole[place] if place in whole and judged[place] not in said else self.again(param))
            elif (node := param.type) is None:
                append(param)
            elif type(node) in LEAVES:
                append(self.first(param, node, note) if (note := node.note) is not None else param)
            else:  # through the memo: what refers to itself many times over stays small
                new = self.node(node, "parameter", param.name, param.required)
                append(param if new is node else _with(param, "type", new))
        return params if all(map(is_, out, params)) else tuple(out)

    def first(self, param: Param, node: Node, note: Note) -> Param:
        """A parameter that is met for the first time."""
        text, keep = note.description, self.keep
        if self.plain and 0 < len(text) < LONGEST and len(split(text)) == 1:  # as below, for what is most common
            sentence = known(text)
            if len(text) > TELLING:
                shown = self.one(param, node, note, sentence)
            elif news := fresh(sentence[1], spoken(param.name)):
                self.met.news[id(param)] = news
                if news in self.said:
                    return self.judge(param, node, note, Parts((sentence[1],), text, None))
                shown = self.met.whole[id(param)] = self.one(param, node, note, sentence)
                return shown
            elif sentence[2] and keep is not None and obliges(text, "parameter", keep):
                shown = self.one(param, node, note, sentence)
            else:
                shown = self.showing(param, node, note, "")
        elif keep is None or not text:
            shown = self.told(param, node, note, text)
        else:
            found = parts(text, "parameter", keep)
            said = found.whole
            if found.judged:
                news = fresh(found.judged[0], spoken(param.name)) if self.plain else ""
                if (news or not self.plain) and not (keep.gloss and is_word(param.name)):  # else never whole
                    self.met.news[id(param)] = news
                    if news in self.said:
                        return self.judge(param, node, note, found)
                    shown = self.met.whole[id(param)] = self.told(param, node, note, said)
                    return shown
                said = shortened(found, "parameter", keep)
            shown = self.told(param, node, note, said)
        self.met.fixed[id(param)] = shown
        return shown

    def again(self, param: Param) -> Param:
        """A parameter that was met before, in a tool whose name may say what its text tells."""
        keep, node = self.keep, param.type
        if keep is None or node is None or node.note is None:
            return param
        return self.judge(param, node, node.note, parts(node.note.description, "parameter", keep))

    def judge(self, param: Param, node: Node, note: Note, found: Parts) -> Param:
        """The parameter, shown whole where its text tells something that its name and the tool's do not."""
        keep, place = self.keep, id(param)
        if keep is None or shows_whole(found, keep, param.name, self.said):
            forms, text = self.met.whole, found.whole
        else:
            forms, text = self.met.short, shortened(found, "parameter", keep)
        if place not in forms:
            forms[place] = self.told(param, node, note, text)
        return forms[place]

    def one(self, param: Param, node: Node, note: Note, sentence: Known) -> Param:
        """The parameter with what is shown of its text, which is one sentence."""
        text = said = note.description
        low, words, binds = sentence
        if self.dro and _structured(text, node, note, param.required):
            said = restructure(text, facts(node, param.required))
            if said and said is not text and self.sdm:
                return self.showing(param, node, note, densify(said, self.names))
        if said and self.sdm and not binds and len(text) <= DENSE:
            said = dense(text, low, words, self.names)
        return self.showing(param, node, note, said)

    def told(self, param: Param, node: Node, note: Note, text: str) -> Param:
        """The parameter with what is shown of its text."""
        if text:
            if self.dro and _structured(text, node, note, param.required):
                text = restructure(text, facts(node, param.required))
            if text and self.sdm:
                text = densify(text, self.names)
            if "\n" in text and text != note.description:
                text = in_lines(text)
        return self.showing(param, node, note, text)

    def showing(self, param: Param, node: Node, note: Note, text: str) -> Param:
        """The parameter with another text."""
        new: Note | None = None
        if len(note.__dict__) > 1:
            new = self.noted(note, text)
            if new is note:
                return param
        elif text:
            if text == note.description:
                return param
            new = object.__new__(Note)
            _put(new, "description", text)
        # As ``_with`` does twice: it runs for each note that changes.
        kind: Node = object.__new__(type(node))
        given = node.__dict__
        if len(given) > 1:
            kind.__dict__.update(given)
        _put(kind, "note", new)
        shown: Param = object.__new__(Param)
        _put(shown, "name", param.name)
        _put(shown, "required", param.required)
        _put(shown, "type", kind)
        return shown

    def visit(self, note: Note, of: Of, name: str, node: Node, required: bool | None) -> Note | None:
        text, keep = note.description, self.keep
        if text and keep is not None:
            text = chosen(parts(text, of, keep), of, keep, name, self.said)
        return self.noted(note, self.rewritten(text, of, node, required) if text else "")

    def noted(self, note: Note, text: str) -> Note | None:
        """The note with another text, and what the profile shows beside it; None where nothing is left."""
        if len(note.__dict__) == 1:
            return note if text == note.description else _with(note, "description", text) if text else None
        title = note.title if self.titles else ""
        examples = note.examples if self.examples else ()
        if text == note.description and title == note.title and examples == note.examples:
            return note
        flags = note.deprecated or note.read_only or note.write_only
        if not (text or title or examples or flags) and note.default is None:
            return None
        new = _with(note, "description", text)
        return (
            new if title == note.title and examples == note.examples else replace(new, title=title, examples=examples)
        )

    def rewritten(self, text: str, of: Of, node: Node, required: bool | None) -> str:
        """What is shown, without what the schema says and without filler."""
        if self.dro and of == "parameter" and _structured(text, node, node.note, required):
            text = restructure(text, facts(node, required))
        said = densify(text, self.names) if text and self.sdm else text
        return in_lines(said) if "\n" in said else said


def told(text: str, site: Site, profile: Profile) -> str:
    """What a profile makes of one text: its operators one after the other.

    >>> from tscg.profiles import PROFILES
    >>> site = Site(of="parameter", name="size", node=Integer(), required=False, tool="list_orders", names=frozenset())
    >>> told("Number of the orders to show (optional). It is new.", site, PROFILES["balanced"])
    'Number of orders to show.'
    """
    if profile.kept is not None:
        text = select(text, site.of, profile.kept, name=site.name, says=(site.tool,))
    if profile.dro and site.of == "parameter":
        text = restructure(text, facts(site.node, site.required))
    said = densify(text, site.names) if profile.sdm else text
    return in_lines(said) if "\n" in said else said


def in_lines(text: str) -> str:
    r"""Prose in normal form again, each line on its own: two that would flow together now get a blank line between.

    >>> in_lines("Lists the tokens that have access to resources of the organization\nOnly apps can use it.")
    'Lists the tokens that have access to resources of the organization\n\nOnly apps can use it.'
    """
    return normalise(text.replace("\n", "\n\n"))


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


def _structured(text: str, node: Node, note: Note | None, required: bool | None) -> bool:
    """Whether the text may say what the schema says: a cheap test, which spares most texts their facts."""
    if "efault" in text and (note is None or note.default is not None):
        return True
    if ("equired" if required else "ptional") in text:
        if type(node) is not String or not _plain(node) or "(" in text or "**" in text:
            return True
        return ends_phrase("required" if required else "optional", text.lower())
    if isinstance(node, String):
        if len(node.__dict__) == 1 or _plain(node):  # a note alone
            return "(" in text and "str" in text
        if "(" in text and "str" in text.lower():
            return True
        return not _DIGITS.isdisjoint(text) or (node.format != "" and applies(text))
    if isinstance(node, Number):
        if node.low is not None or node.high is not None:
            return "(" in text or not _DIGITS.isdisjoint(text)
        return "(" in text and ("num" in text or "int" in text or "float" in text)
    if isinstance(node, Enum) and node.values:
        return "(str" in text or (node.values[0].strip('"') in text and node.values[-1].strip('"') in text)
    if isinstance(node, Array):
        if "rray of" in text or "ist of" in text:
            return True
        if "(" in text and ("array" in (low := text.lower()) or "list" in low or "[]" in low):
            return True
        return bool(node.min_items or node.max_items is not None) and not _DIGITS.isdisjoint(text)
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
    said: dict[str, object] = {"types": _types(node), "required": required}
    if note is not None and note.default is not None:
        said["default"] = _value(note.default)
    if isinstance(node, Union):
        plain = [branch for branch in node.branches if not isinstance(branch, Null)]
        node = plain[0] if len(plain) == 1 else node
    if isinstance(node, String):
        if not _plain(node):
            said["min_length"], said["max_length"] = node.min_length or None, node.max_length
            said["format"] = node.format or None
    elif isinstance(node, Enum):
        said["enum"] = tuple([_value(each) for each in node.values])
    elif isinstance(node, Number):
        said["minimum"] = None if node.low_open else node.low
        said["maximum"] = None if node.high_open else node.high
        said["format"] = node.format or None
    elif isinstance(node, Array):
        said["item_types"] = _types(node.items) if node.items is not None else ()
        said["min_items"], said["max_items"] = node.min_items or None, node.max_items
    found = object.__new__(Facts)  # it runs for many notes, and a check of the names takes as long as all the rest
    found.__dict__.update(said)
    return found
