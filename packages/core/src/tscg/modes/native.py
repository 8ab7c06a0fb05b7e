"""Native mode: one wire tool each, compressed.

The description is a signature line (arguments only) and the prose that the profile keeps; the schema holds types,
bounds, enums and nesting without prose. A root that providers refuse is sent as an object, with its rule in words.
"""

from __future__ import annotations

from typing import Any

from tscg.costs import Costs
from tscg.ir import AllOf, AnyType, Array, Catalog, Node, Note, Object, Param, Ref, String, Tool, Union, children
from tscg.language.emit import emit
from tscg.language.spelling import Spelling, name, prose_line
from tscg.operators.prose import map_notes, without_prose
from tscg.record import replace
from tscg.render import json_schema
from tscg.schema import minified

__all__ = ["native_tool"]


SMALLER = 0.9  # of the characters: names in a signature are short tokens, so fewer characters alone may be more tokens


def native_tool(tool: Tool, shown: Tool, wire_name: str, spelling: Spelling, costs: Costs) -> dict[str, Any]:
    """The neutral wire tool of one tool: ``shown`` holds the prose that the profile keeps."""
    root, rule = object_root(shown)
    sent = replace(shown, root=root)
    said = describe(sent, spelling, costs)
    origin = f"Original name: {tool.name}" if wire_name != tool.name else ""
    parts = [said, rule, origin]
    wire: dict[str, Any] = {
        "name": wire_name,
        "description": "\n".join(part for part in parts if part),
        "parameters": json_schema(without_prose(sent)),
    }
    if root is not shown.root:
        return wire
    given = tool.original_description
    plain = {**wire, "description": f"{given}\n{origin}" if origin else given, "parameters": tool.schema}
    if plain["parameters"].get("type") != "object":
        return wire
    return wire if len(minified(wire)) < SMALLER * len(minified(plain)) else plain


def describe(tool: Tool, spelling: Spelling, costs: Costs) -> str:
    """A signature line (names, what is optional, shapes of containers) and the prose of the tool and its parameters."""
    plain = replace(
        tool,
        name="f",
        description="",
        root=_shape(tool.root, {}),
        types=tuple((n, _shape(node, {})) for n, node in tool.types),
    )
    signature = emit(Catalog(tools=(map_notes(plain, _silent),)), spelling, costs, sharing=False).text
    head = signature.removeprefix("%closed\n").removeprefix("f")
    lines = [prose_line(line, spelling.note) for line in tool.description.split("\n")] if tool.description else []
    first = "" if head == "()" else head
    return "\n".join(
        part
        for part in (" ".join(part for part in (first, *lines[:1]) if part), *lines[1:], *_proses(tool, spelling))
        if part
    )


def _silent(note: Note, site: object) -> None:
    return None


def _proses(tool: Tool, spelling: Spelling) -> list[str]:
    """A line for each parameter that has prose: dots for its depth, its name, the prose."""
    out: list[str] = []
    seen: set[int] = set()

    def visit(node: Node, depth: int) -> None:
        if id(node) in seen:
            return
        seen.add(id(node))
        for param in node.params if isinstance(node, Object) else ():
            if param.description:
                said = " ".join(prose_line(line, spelling.note) for line in param.description.split("\n"))
                out.append(f"{'.' * (depth + 1)}{name(param.name)} {said}")
            if param.type is not None:
                visit(param.type, depth + 1)
        for child in () if isinstance(node, Object) else children(node):
            visit(child, depth)

    visit(tool.root, 0)
    for _, node in tool.types:
        visit(node, 1)
    return out


def _shape(node: Node, done: dict[int, Node]) -> Node:
    """The type with scalars as bare words: what a signature shows when the schema stands beside it."""
    found = done.get(id(node))
    if found is not None:
        return found
    if isinstance(node, Object):
        params = tuple(
            replace(param, type=None if param.type is None else _shape(param.type, done)) for param in node.params
        )
        new: Node = Object(params=params, note=node.note)
    elif isinstance(node, Array):
        items = node.items if node.items is not None else (node.prefix[0] if node.prefix else None)
        new = Array(items=String() if items is None else _shape(items, done), note=node.note)
    elif isinstance(node, Union):
        containers = [_shape(branch, done) for branch in node.branches if _holds(branch)]
        new = String(note=node.note) if not containers else replace(containers[0], note=node.note)
    elif isinstance(node, AllOf):
        containers = [_shape(part, done) for part in node.parts if _holds(part)]
        new = String(note=node.note) if not containers else replace(containers[0], note=node.note or containers[0].note)
    elif isinstance(node, Ref):
        new = replace(node, extra="")
    else:
        new = String(note=node.note)
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


# --- roots that providers refuse --------------------------------------------------------------------------------------


def object_root(tool: Tool) -> tuple[Node, str]:
    """An object to stand for the arguments, and in words what it cannot say."""
    root = tool.root
    if isinstance(root, Object) and not root.extra:
        return root, ""
    types = dict(tool.types)
    params: dict[str, Param] = {}
    rules: list[str] = []
    needed = _collect(root, params, types, rules, 0)
    merged = tuple(replace(param, required=param.name in needed) for param in params.values())
    closed = isinstance(root, Object) and root.closed
    return Object(params=merged, note=root.note, closed=closed), " ".join(rules)


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
