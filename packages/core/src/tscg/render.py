"""From the IR to JSON Schema 2020-12."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tscg.ir import (
    AllOf,
    AnyType,
    Array,
    Boolean,
    Enum,
    Integer,
    Island,
    Never,
    Node,
    Note,
    Null,
    Number,
    Object,
    Ref,
    String,
    Tool,
    Union,
    children,
)

__all__ = ["json_schema"]

EXPANDED_LIMIT = 20_000  # nodes: a schema that would be larger when written out keeps its shared parts in $defs


def json_schema(tool: Tool) -> dict[str, Any]:
    """The arguments of a tool as JSON Schema 2020-12; named types, and shared parts that explode, in ``$defs``."""
    work = _Rendering(tool)
    schema = work.node(tool.root)
    for name, node in tool.types:
        work.defs[name] = work.node(node)
    while work.waiting:
        node = work.waiting.pop()
        work.defs[work.names[id(node)]] = work.written(node)
    out: dict[str, Any] = schema if isinstance(schema, dict) else {"not": {}}
    if work.defs:
        out["$defs"] = work.defs
    return out


class _Rendering:
    def __init__(self, tool: Tool) -> None:
        self.defs: dict[str, Any] = {}
        self.names: dict[int, str] = {}
        self.waiting: list[Node] = []
        self.taken = {name for name, _ in tool.types}
        uses: Counter[int] = Counter()
        sizes: dict[int, int] = {}
        total = sum(self.size(node, uses, sizes) for node in (tool.root, *(node for _, node in tool.types)))
        self.shared = {i for i, n in uses.items() if n > 1} if total > EXPANDED_LIMIT else set()

    def size(self, node: Node, uses: Counter[int], sizes: dict[int, int]) -> int:
        """Nodes of the schema when written out, each reached once."""
        uses[id(node)] += 1
        found = sizes.get(id(node))
        if found is None:
            found = sizes[id(node)] = 1 + sum(self.size(child, uses, sizes) for child in children(node))
        return found

    def node(self, node: Node) -> Any:
        if id(node) not in self.shared or not isinstance(node, Object | Union | AllOf):
            return self.written(node)
        name = self.names.get(id(node))
        if name is None:
            name = f"T{len(self.names) + 1}"
            while name in self.taken:
                name += "_"
            self.names[id(node)] = name
            self.taken.add(name)
            self.waiting.append(node)
        return {"$ref": f"#/$defs/{name}"}

    def written(self, node: Node) -> Any:
        if isinstance(node, Never):
            return False
        out = self.own(node)
        if node.extra:
            for key, value in json.loads(node.extra).items():
                out.setdefault(key, value)
        if node.note is not None:
            out.update(_note(node.note))
        return out

    def own(self, node: Node) -> dict[str, Any]:
        if isinstance(node, String):
            return _string(node)
        if isinstance(node, Number):
            return _number(node)
        if isinstance(node, Enum):
            return {"enum": [json.loads(value) for value in node.values]}
        if isinstance(node, Array):
            return self.array(node)
        if isinstance(node, Object):
            return self.object(node)
        if isinstance(node, Union):
            return {"oneOf" if node.exclusive else "anyOf": [self.node(branch) for branch in node.branches]}
        if isinstance(node, AllOf):
            return {"allOf": [self.node(part) for part in node.parts]}
        if isinstance(node, Ref):
            return {"$ref": f"#/$defs/{node.name.replace('~', '~0').replace('/', '~1')}"}
        if isinstance(node, Island):
            found: dict[str, Any] = json.loads(node.schema)
            return found
        if isinstance(node, AnyType):
            return {}
        return {"type": "boolean" if isinstance(node, Boolean) else "null"} if isinstance(node, Boolean | Null) else {}

    def array(self, node: Array) -> dict[str, Any]:
        out: dict[str, Any] = {"type": "array"} if node.typed else {}
        if node.prefix:
            out["prefixItems"] = [self.node(part) for part in node.prefix]
        if node.closed:
            out["items"] = False
        elif node.items is not None:
            out["items"] = self.node(node.items)
        if node.min_items or (not node.typed and not out):
            out["minItems"] = node.min_items
        if node.max_items is not None:
            out["maxItems"] = node.max_items
        if node.unique:
            out["uniqueItems"] = True
        return out

    def object(self, node: Object) -> dict[str, Any]:
        out: dict[str, Any] = {"type": "object"} if node.typed else {}
        declared = {param.name: self.node(param.type) for param in node.params if param.type is not None}
        if (
            declared
            or (node.typed and not node.params and node.rest is None and not node.closed)
            or not (node.typed or node.params)
        ):
            out["properties"] = declared
        required = [param.name for param in node.params if param.required]
        if required:
            out["required"] = required
        if node.closed:
            out["additionalProperties"] = False
        elif node.rest is not None:
            out["additionalProperties"] = self.node(node.rest)
        if node.min_properties:
            out["minProperties"] = node.min_properties
        if node.max_properties is not None:
            out["maxProperties"] = node.max_properties
        return out


def _string(node: String) -> dict[str, Any]:
    out: dict[str, Any] = {"type": "string"} if node.typed else {}
    if node.min_length or (not node.typed and node.max_length is None and node.pattern is None):
        out["minLength"] = node.min_length
    if node.max_length is not None:
        out["maxLength"] = node.max_length
    if node.pattern is not None:
        out["pattern"] = node.pattern
    if node.format:
        out["format"] = node.format
    return out


def _number(node: Number) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if node.typed:
        out["type"] = "integer" if isinstance(node, Integer) else "number"
    if node.low is not None:
        out["exclusiveMinimum" if node.low_open else "minimum"] = node.low
    if node.high is not None:
        out["exclusiveMaximum" if node.high_open else "maximum"] = node.high
    if node.multiple_of is not None:
        out["multipleOf"] = node.multiple_of
    if node.format:
        out["format"] = node.format
    return out


def _note(note: Note) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if note.title:
        out["title"] = note.title
    if note.description:
        out["description"] = note.description
    if note.default is not None:
        out["default"] = json.loads(note.default)
    if note.examples:
        out["examples"] = [json.loads(value) for value in note.examples]
    for key, on in (("deprecated", note.deprecated), ("readOnly", note.read_only), ("writeOnly", note.write_only)):
        if on:
            out[key] = True
    return out
