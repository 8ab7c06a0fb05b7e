"""Native mode: one wire tool each, compressed.

The description is a signature line (arguments only) and the prose that the profile keeps; the schema holds types,
bounds, enums and nesting without prose. A root that providers refuse is sent as an object, with its rule in words.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from tscg.costs import Costs
from tscg.ir import (
    AllOf,
    AnyType,
    Array,
    Boolean,
    Catalog,
    Enum,
    Island,
    Node,
    Note,
    Number,
    Object,
    Param,
    Ref,
    String,
    Tool,
    Union,
    children,
)  # fmt: skip
from tscg.language.emit import emit
from tscg.language.spelling import Spelling, json_text, name, prose_line
from tscg.modes.names import wire_names
from tscg.operators.prose import without_prose
from tscg.record import replace
from tscg.render import json_schema
from tscg.schema import minified

__all__ = ["native_tool", "object_root", "with_properties"]

_SCALARS = (String, Number, Boolean, Enum)
SAID = frozenset({
    "title", "description", "examples", "example", "deprecated", "readOnly", "writeOnly", "$comment", "$schema", "$id",
})  # fmt: skip
MAPS = ("properties", "patternProperties", "dependentSchemas", "$defs")
LISTS = ("anyOf", "oneOf", "allOf", "prefixItems")
BELOW = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
ELSEWHERE = frozenset({"anyOf", "oneOf", "allOf", "$ref", "$dynamicRef", "enum", "const", "not", "if"})
UNTYPED = ("enum", "const", "not", "if", "allOf", "anyOf", "oneOf", "$ref")  # they would judge the null as well
REFUSED = '"not"'  # of what may stand beside an object, the keyword that providers refuse at a root
ORIGIN = "Original name: "
SMALLER = 0.9  # of the characters: names in a signature are short tokens, so fewer characters alone may be more tokens


def native_tool(tool: Tool, shown: Tool, wire_name: str, spelling: Spelling, costs: Costs) -> dict[str, Any]:
    """The neutral wire tool of one tool: ``shown`` holds the prose that the profile keeps."""
    root, rule = object_root(shown)
    sent = replace(shown, root=root)
    head = signature(sent, spelling, costs)
    origin = f"{ORIGIN}{tool.name}" if wire_name != tool.name else ""
    parts = [describe(sent, head, spelling), rule, origin]
    wire: dict[str, Any] = {
        "name": wire_name,
        "description": "\n".join(part for part in parts if part),
        "parameters": with_properties(compact(json_schema(without_prose(sent)))),
    }
    if root is not shown.root:
        return wire
    given = tool.original_description
    if tool.schema.get("type") != "object":
        return wire
    plain = {
        "name": wire_name,
        "description": f"{given}\n{origin}" if origin else given,
        "parameters": with_properties(tool.schema),
    }
    if _names_its_origin(given, wire_name) or (_is_ours(given, head) and plain["parameters"] == wire["parameters"]):
        return plain  # it was made here: made once more it would only grow
    return wire if len(minified(wire)) < SMALLER * len(minified(plain)) else plain


def _is_ours(description: str, head: str) -> bool:
    """Does a description begin with the signature, as those that were made here do?"""
    first = head.partition("\n")[0]
    return bool(first) and description.startswith(first) and description[len(first) : len(first) + 1] in ("", " ", "\n")


def _names_its_origin(description: str, wire_name: str) -> bool:
    """Does a description end with the original name that stands for this wire name?"""
    last = description.rpartition("\n")[2]
    return last.startswith(ORIGIN) and wire_name in wire_names([last.removeprefix(ORIGIN)]).values()


def signature(tool: Tool, spelling: Spelling, costs: Costs) -> str:
    """The arguments on one line: names, ``?`` for what is optional, shapes of containers; empty for no arguments."""
    if isinstance(tool.root, Object) and not tool.types and all(map(_is_flat, tool.root.params)):
        said = [name(param.name) if param.required else f"{name(param.name)}?" for param in tool.root.params]
        return f"({spelling.gap.join(said)})" if said else ""
    done: dict[int, Node] = {}
    types = tuple((title, _shape(node, done)) for title, node in tool.types)
    plain = Tool(name="f", root=_shape(tool.root, done), types=types)
    text = emit(Catalog(tools=(plain,)), spelling, costs, sharing=False).text
    head = text.removeprefix("%closed\n").removeprefix("f")
    return "" if head == "()" else head


def _is_flat(param: Param) -> bool:
    """A declared scalar, as most are: a signature shows its name alone."""
    return isinstance(param.type, _SCALARS)


def describe(tool: Tool, head: str, spelling: Spelling) -> str:
    """The signature, and the prose of the tool, its parameters and what they hold."""
    lines = [prose_line(line, spelling.note) for line in tool.description.split("\n")] if tool.description else []
    arguments, _, types = head.partition("\n")
    first = " ".join(part for part in (arguments, *lines[:1]) if part)
    return "\n".join(part for part in (first, types, *lines[1:], *_proses(tool, spelling)) if part)


def _proses(tool: Tool, spelling: Spelling) -> list[str]:
    """A line for each place that has prose: dots for its depth, its name, the prose.

    Items of a list are ``name[]``, the second branch of a union ``name|2``, undeclared members ``name*``.
    """
    out: list[str] = []
    seen: set[int] = set()

    def say(note: Note | None, place: str) -> None:
        said = _said(note, spelling) if note is not None else ""
        if said:
            out.append(f"{place} {said}" if place else said)

    def visit(node: Node, depth: int, place: str) -> None:
        """What is below a node; its own prose has been said."""
        if id(node) in seen:
            return
        seen.add(id(node))
        if isinstance(node, Object):
            for param in node.params:
                if param.type is not None:
                    named = f"{'.' * (depth + 1)}{name(param.name)}"
                    say(param.type.note, named)
                    visit(param.type, depth + 1, named)
        for child, mark in _unnamed(node):
            say(child.note, f"{place}{mark}")
            visit(child, depth, f"{place}{mark}")
        for text in (node.extra, node.schema if isinstance(node, Island) else ""):
            for words, said in _proses_of(json.loads(text), ()) if '"description"' in text else ():
                out.append(f"{place or '.'}{'.'.join(words)} {prose_line(said, spelling.note)}")

    say(tool.root.note, "")
    visit(tool.root, 0, "")
    for title, node in tool.types:
        say(node.note, f".{name(title)}")
        visit(node, 1, f".{name(title)}")
    return list(dict.fromkeys(out))


def _proses_of(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    """Prose of a part that is kept as JSON Schema, with keywords and names as the path to it."""
    if not isinstance(schema, dict):
        return
    if path and isinstance(schema.get("description"), str):
        yield path, " ".join(schema["description"].split())
    for word, value in schema.items():
        if word in MAPS and isinstance(value, dict):
            for key, inner in value.items():
                yield from _proses_of(inner, (*path, key))
        elif word in LISTS and isinstance(value, list):
            for inner in value:
                yield from _proses_of(inner, (*path, word))
        elif word in BELOW:
            yield from _proses_of(value, (*path, word))


def _unnamed(node: Node) -> list[tuple[Node, str]]:
    """The nodes below one that are no parameters, with the mark of their place."""
    if isinstance(node, Object):
        return [] if node.rest is None else [(node.rest, "*")]
    if isinstance(node, Array):
        items = [] if node.items is None else [(node.items, "[]")]
        return [*((part, f"[{i}]") for i, part in enumerate(node.prefix)), *items]
    if isinstance(node, Union):
        return [(branch, f"|{i}") for i, branch in enumerate(node.branches, 1)]
    return [(part, "") for part in children(node)]


def _said(note: Note, spelling: Spelling) -> str:
    """What a note says, but for the default, which stands in the schema."""
    said = (
        " ".join(prose_line(line, spelling.note) for line in note.description.split("\n")) if note.description else ""
    )
    if note.title:
        said = f"{prose_line(note.title, spelling.note)}{': ' if said else ''}{said}"
    tags = (("deprecated", note.deprecated), ("read only", note.read_only), ("write only", note.write_only))
    marks = [word for word, on in tags if on]
    examples = f"e.g. {', '.join(json_text(value) for value in note.examples)}" if note.examples else ""
    return " ".join(part for part in (said, examples, f"({', '.join(marks)})" if marks else "") if part)


def _shape(node: Node, done: dict[int, Node]) -> Node:
    """The type with scalars as bare words: what a signature shows when the schema stands beside it."""
    found = done.get(id(node))
    if found is not None:
        return found
    if isinstance(node, Object):
        params = tuple(
            replace(param, type=None if param.type is None else _shape(param.type, done)) for param in node.params
        )
        new: Node = Object(params=params)
    elif isinstance(node, Array):
        items = node.items if node.items is not None else (node.prefix[0] if node.prefix else None)
        new = Array(items=String() if items is None else _shape(items, done))
    elif isinstance(node, Union):
        containers = [_shape(branch, done) for branch in node.branches if _holds(branch)]
        new = String() if not containers else containers[0]
    elif isinstance(node, AllOf):
        containers = [_shape(part, done) for part in node.parts if _holds(part)]
        new = String() if not containers else containers[0]
    elif isinstance(node, Ref):
        new = replace(node, extra="", note=None)
    else:
        new = String()
    done[id(node)] = new
    return new


def _holds(node: Node, seen: set[int] | None = None) -> bool:
    """Is there a container in this union or intersection? Each shared part is looked at once."""
    if not isinstance(node, Union | AllOf):
        return isinstance(node, Object | Array | Ref)
    seen = set() if seen is None else seen
    if id(node) in seen:
        return False
    seen.add(id(node))
    return any(_holds(part, seen) for part in children(node))


# --- the schema -------------------------------------------------------------------------------------------------------


def compact(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema with a union with null as a list of types or as a member of an enum, where that says it.

    What it says beside constraints and defaults is left out, at every depth.

    >>> compact({"properties": {"n": {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "title": "N"}}})
    {'properties': {'n': {'type': ['integer', 'null'], 'minimum': 1}}}
    """
    out = {word: _compacted(word, value) for word, value in schema.items() if word not in SAID}
    branches = out.get("anyOf")
    if isinstance(branches, list) and len(branches) == 2 and branches[1] == {"type": "null"}:
        first = {key: value for key, value in out.items() if key != "anyOf"}
        typed = branches[0]
        if first.keys().isdisjoint(typed) and first.keys() <= {"default"} and isinstance(typed, dict):
            if isinstance(typed.get("type"), str) and typed.keys().isdisjoint(UNTYPED):
                return {**typed, "type": [typed["type"], "null"], **first}
            if list(typed) == ["enum"] and None not in typed["enum"]:
                return {"enum": [*typed["enum"], None], **first}
    return out


def _compacted(word: str, value: Any) -> Any:
    if word in MAPS and isinstance(value, dict):
        return {name: compact(inner) if isinstance(inner, dict) else inner for name, inner in value.items()}
    if word in LISTS and isinstance(value, list):
        return [compact(inner) if isinstance(inner, dict) else inner for inner in value]
    return compact(value) if word in BELOW and isinstance(value, dict) else value


# --- roots that providers refuse --------------------------------------------------------------------------------------


def with_properties(schema: dict[str, Any]) -> dict[str, Any]:
    """A schema of arguments as an object that lists its properties, were it none: some providers refuse it otherwise.

    A root that says what it takes in another way (a union, a reference) stays as it is.

    >>> with_properties({"type": "object", "additionalProperties": False})
    {'type': 'object', 'properties': {}, 'additionalProperties': False}
    >>> with_properties({}), with_properties({"anyOf": []})
    ({'type': 'object', 'properties': {}}, {'anyOf': []})
    """
    if schema.get("properties") is not None or schema.get("type", "object") != "object":
        return schema
    if "type" not in schema and not ELSEWHERE.isdisjoint(schema):
        return schema
    rest = {word: value for word, value in schema.items() if word not in ("type", "properties")}
    return {"type": "object", "properties": {}, **rest}


def object_root(tool: Tool) -> tuple[Node, str]:
    """An object to stand for the arguments, and in words what it cannot say."""
    root = tool.root
    if isinstance(root, Object):
        if not root.extra or REFUSED not in root.extra:
            return root, ""
        rest = json.loads(root.extra)
        rule = rest.pop(REFUSED.strip('"'), None)
        if rule is None:  # it stands deeper
            return root, ""
        return replace(root, extra=minified(rest) if rest else ""), f"Must not fit: {json_text(minified(rule))}"
    types = dict(tool.types)
    params: dict[str, Param] = {}
    rules: list[str] = []
    needed = _collect(root, params, types, rules, 0)
    merged = tuple(replace(param, required=param.name in needed) for param in params.values())
    return Object(params=merged, note=root.note), " ".join(rules)


def _collect(node: Node, params: dict[str, Param], types: dict[str, Node], rules: list[str], depth: int) -> set[str]:
    """Parameters of all parts and branches into ``params``; the names that every one of them requires."""
    if depth > 8:
        return set()
    if isinstance(node, Ref):
        return _collect(types.get(node.name, AnyType()), params, types, rules, depth + 1)
    if isinstance(node, Object):
        for param in node.params:
            known = params.get(param.name)
            if known is None or (known.type is None and param.type is not None):
                params[param.name] = param
            elif param.type is not None and known.type is not param.type:
                params[param.name] = replace(known, type=_either(known.type, param.type))
        if node.extra:
            rules.append(f"Also holds: {node.extra}")
        return {param.name for param in node.params if param.required}
    if isinstance(node, AllOf):
        return {name for part in node.parts for name in _collect(part, params, types, rules, depth + 1)}
    if isinstance(node, Union):
        needs = [_collect(branch, params, types, rules, depth + 1) for branch in node.branches]
        shared = set.intersection(*needs) if needs else set()
        rules.append(_rule([sorted(need - shared) for need in needs], node.exclusive))
        return shared
    return set()


def _either(left: Node | None, right: Node) -> Node:
    if left is None:
        return right
    mine = left.branches if isinstance(left, Union) and left.note is None else (left,)
    return left if any(branch is right for branch in mine) else Union(branches=(*mine, right))


def _rule(needs: list[list[str]], exclusive: bool) -> str:
    shown = [" with ".join(need) for need in needs if need]
    if not shown:
        return ""
    return f"{'Exactly' if exclusive else 'At least'} one of: {', '.join(shown)}."
