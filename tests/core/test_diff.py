from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest

from tscg.differences import Change, Diff, ToolChange, diff
from tscg.ir import Catalog


def tool(properties: dict[str, Any], required: tuple[str, ...] = (), **more: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"name": "t", "description": "Does it.", "inputSchema": schema, **more}


BASE = tool({"a": {"type": "string"}, "b": {"type": "integer", "minimum": 1}}, ("a",))


@pytest.mark.parametrize(
    ("new", "change"),
    [
        (tool({"a": {"type": "string"}, "b": {"type": "integer", "minimum": 1}}, ("a",), description="Does that."),
         Change(kind="description", before="Does it.", after="Does that.")),
        (tool({"a": {"type": "string"}}, ("a",)), Change(kind="removed", path=("b",), before="integer, optional")),
        (tool({"a": {"type": "string"}, "b": {"type": "integer", "minimum": 1}, "c": {"type": "array"}}, ("a", "c")),
         Change(kind="added", path=("c",), after="array, required")),
        (tool({"a": {"type": "string"}, "b": {"type": "number", "minimum": 1}}, ("a",)),
         Change(kind="type", path=("b",), before="integer", after="number")),
        (tool({"a": {"type": "string"}, "b": {"type": "integer", "minimum": 1}}, ("a", "b")),
         Change(kind="required", path=("b",), before="optional", after="required")),
        (tool({"a": {"type": "string"}, "b": {"type": "integer", "minimum": 2}}, ("a",)),
         Change(kind="constraint", path=("b",), before="low: 1", after="low: 2")),
        (tool({"a": {"type": "string", "format": "uuid"}, "b": {"type": "integer", "minimum": 1}}, ("a",)),
         Change(kind="constraint", path=("a",), before="", after="format: uuid")),
        (tool({"a": {"enum": ["x", "y"]}, "b": {"type": "integer", "minimum": 1}}, ("a",)),
         Change(kind="type", path=("a",), before="string", after='one of "x", "y"')),
        (tool({"a": {"type": "string", "default": "q"}, "b": {"type": "integer", "minimum": 1}}, ("a",)),
         Change(kind="default", path=("a",), before="", after='"q"')),
        (tool({"b": {"type": "integer", "minimum": 1}, "a": {"type": "string"}}, ("a",)),
         Change(kind="order", before="a, b", after="b, a")),
        (tool({"a": {"type": "string", "examples": ["q"]}, "b": {"type": "integer", "minimum": 1}}, ("a",)),
         Change(kind="annotation", path=("a",), before="examples: []", after='examples: ["\\"q\\""]')),
    ],
    ids="description removed added type required bound format enum default order examples".split(),
)  # fmt: skip
def test_each_kind_of_change(new: dict[str, Any], change: Change) -> None:
    found = diff(Catalog.from_tools([BASE]), Catalog.from_tools([new]))
    assert found == Diff(changed=(ToolChange(name="t", changes=(change,)),))


def test_places_are_named_at_every_depth() -> None:
    def nested(leaf: dict[str, Any]) -> Catalog:
        inner = {"type": "object", "properties": {"deep": leaf}}
        return Catalog.from_tools([tool({"list": {"type": "array", "items": inner}})])

    found = diff(nested({"enum": ["x"]}), nested({"enum": ["x", "y"]}))
    assert found.changed[0].changes == (
        Change(kind="enum", path=("list", "*", "deep"), before='"x"', after='"x", "y"'),
    )


def test_tools_that_came_and_went() -> None:
    def catalog(*names: str) -> Catalog:
        return Catalog.from_tools([{"name": name, "parameters": {}} for name in names])

    found = diff(catalog("b", "a"), catalog("c", "b"))
    assert found == Diff(added=("c",), removed=("a",))
    assert found
    assert found.to_dict() == {"added": ["c"], "removed": ["a"], "changed": []}


def test_formats_and_order_of_tools_are_no_difference() -> None:
    openai = {
        "type": "function",
        "function": {"name": "t", "description": "Does it.", "parameters": BASE["inputSchema"]},
    }
    ping: dict[str, Any] = {"name": "ping", "parameters": {}}
    assert not diff(Catalog.from_tools([BASE, ping]), Catalog.from_tools([ping, openai]))


def test_recursive_types_end() -> None:
    def tree(leaf: str) -> Catalog:
        schema = {
            "type": "object",
            "properties": {"root": {"$ref": "#/$defs/node"}},
            "$defs": {
                "node": {
                    "type": "object",
                    "properties": {
                        "value": {"type": leaf},
                        "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                    },
                }
            },
        }
        return Catalog.from_tools([{"name": "t", "inputSchema": schema}])

    changes = diff(tree("string"), tree("integer")).changed[0].changes
    assert [change.kind for change in changes] == ["type"]
    assert changes[0].path[-1] == "value"


MUTATIONS = (
    lambda rng, schema: schema.update(description=f"Other words {rng.random()}."),
    lambda rng, schema: schema.setdefault("properties", {}).update(new_one={"type": "boolean"}),
    lambda rng, schema: schema.setdefault("required", []).append(f"needed{rng.randrange(9)}"),
    lambda rng, schema: schema.update(additionalProperties=not schema.get("additionalProperties", True)),
    lambda rng, schema: schema.update(minProperties=schema.get("minProperties", 0) + 3),
)


def test_catalogs_differ_exactly_when_a_difference_is_listed(shared_catalogs: dict[str, list[dict[str, Any]]]) -> None:
    rng = random.Random(3)
    for name, tools in shared_catalogs.items():
        old = Catalog.from_tools(tools)
        assert not diff(old, Catalog.from_tools(json.loads(json.dumps(tools)))), name
        changed = copy.deepcopy(tools)
        inner = rng.choice(changed)
        inner = inner.get("function", inner)
        schema = inner.get("inputSchema") or inner.get("parameters")
        rng.choice(MUTATIONS)(rng, schema)
        new = Catalog.from_tools(changed)
        found = diff(old, new)
        assert bool(found) == (old != new), name
        assert all(change.changes for change in found.changed), name
        assert {change.name for change in found.changed} <= {inner["name"]}
