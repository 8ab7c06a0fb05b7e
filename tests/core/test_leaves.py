"""Reading in bulk gives what the walker gives for one schema after the other."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings

from tests.strategies import catalogs
from tscg.ir import Catalog, same
from tscg.leaves import Placed, read_flat, read_leaves
from tscg.schema import ENUM_LIMIT, NODE_LIMIT, PROSE_LIMIT, Known, walk

BULK = {
    "text": {"type": "string", "description": "A name."},
    "other order": {"description": "A name.", "type": "string"},
    "blanks around": {"type": "string", "description": "  A name. \n"},
    "wrapped": {"type": "string", "description": "Names of the repositories that the user may read,\n  newest first."},
    "listed": {"type": "number", "description": "One of:\n- 1\n\n\n- 2"},
    "whole": {"type": "integer", "description": "Page."},
    "enum": {"type": "string", "description": "State.", "enum": ["open", "closed", "open", "\ud800", '"']},
    "enum default": {"type": "string", "description": "State.", "enum": ["a", "b"], "default": "a"},
    "default": {"type": "boolean", "description": "Draft.", "default": True},
    "default null": {"type": "boolean", "description": "Draft.", "default": None},
    "bounds": {"type": "integer", "description": "Page.", "minimum": 1, "maximum": 10**30, "default": 1.0},
    "lengths": {"type": "string", "description": "Code.", "minLength": 0, "maxLength": 8},
    "texts": {"type": "array", "description": "Labels.", "items": {"type": "string"}},
    "numbers": {"type": "array", "description": "Sizes.", "items": {"type": "number"}},
    "list": {"type": "array", "description": "Anything."},
}
WALKED = {
    "no text": {"type": "string"},
    "blank text": {"type": "string", "description": " \n "},
    "text of no text": {"type": "string", "description": ["x"]},
    "two types": {"type": ["string", "null"], "description": "A name."},
    "another word": {"type": "str", "description": "A name."},
    "no type": {"description": "A name."},
    "nothing": {},
    "empty enum": {"type": "string", "description": "State.", "enum": []},
    "enum of no texts": {"type": "string", "description": "State.", "enum": ["a", 1]},
    "enum of no list": {"type": "string", "description": "State.", "enum": {"a": 1}},
    "enum of numbers": {"type": "integer", "description": "State.", "enum": [1, 2]},
    "default of parts": {"type": "array", "description": "Labels.", "default": ["a"]},
    "true as a bound": {"type": "integer", "description": "Page.", "minimum": True},
    "part as a bound": {"type": "number", "description": "Share.", "minimum": 0.5},
    "bound of another type": {"type": "string", "description": "Page.", "minimum": 1},
    "items of another type": {"type": "string", "description": "Page.", "items": {"type": "string"}},
    "items with more": {"type": "array", "description": "Labels.", "items": {"type": "string", "minLength": 1}},
    "items by position": {"type": "array", "description": "Labels.", "items": [{"type": "string"}]},
    "items of anything": {"type": "array", "description": "Labels.", "items": {}},
    "title": {"type": "string", "description": "A name.", "title": "Owner of the repository"},
    "union": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "A name."},
}


def tool(name: str, schema: Any) -> dict[str, Any]:
    return {"name": name, "inputSchema": schema}


def of(part: Any, *, required: bool = False) -> dict[str, Any]:
    return {"type": "object", "properties": {"a": part}, **({"required": ["a"]} if required else {})}


@pytest.mark.parametrize("required", [False, True], ids=["optional", "required"])
@pytest.mark.parametrize("part", [*BULK.values(), *WALKED.values()], ids=[*BULK, *WALKED])
def test_the_same_as_walked(part: Any, required: bool) -> None:
    schema = of(part, required=required)
    found = Catalog.from_tools([tool("x", schema)], on_error="passthrough")[0]
    walked = walk(schema, "x")
    assert same(found.root, walked.root)
    assert found.faults == walked.faults


@pytest.mark.parametrize("part", BULK.values(), ids=BULK.keys())
def test_read_in_bulk(part: Any) -> None:
    known: Known = {}
    placed: Placed = {}
    read_leaves([of(part), of(part, required=True)], known, placed)
    assert [(found.name, found.required) for found in known.values()] == [("a", False), ("a", True)]
    assert None not in read_flat([of(part), of(part, required=True)], placed)


@pytest.mark.parametrize("part", WALKED.values(), ids=WALKED.keys())
def test_left_to_the_walker(part: Any) -> None:
    known: Known = {}
    placed: Placed = {}
    read_leaves([of(part)], known, placed)
    assert known == {}
    assert read_flat([of(part)], placed) == [None]


@pytest.mark.parametrize(
    "odd",
    [True, None, [], {"type": "object", "properties": {"b": True}}, {"properties": {1: {}}}, {"properties": []},
     {"type": "object", "properties": {"b": {}}, "required": "b"},
     {"type": "object", "properties": {"b": {}}, "required": [1, {}]}],
    ids=["true", "null", "list", "property true", "number as a name", "list of properties", "required a text",
         "required no texts"],
)  # fmt: skip
def test_one_odd_tool_leaves_the_others_to_bulk(odd: Any) -> None:
    known: Known = {}
    read_leaves([odd, of(BULK["text"])], known, {})
    assert [found.name for found in known.values()] == ["a"]
    catalog = Catalog.from_tools([tool("odd", odd), tool("x", of(BULK["text"]))], on_error="passthrough")
    assert same(catalog[0].root, walk(odd, "odd").root)
    assert same(catalog[1].root, walk(of(BULK["text"]), "x").root)


def test_what_a_tool_requires_but_does_not_declare() -> None:
    schema = {**of(BULK["text"]), "required": ["b", "a"]}
    found = Catalog.from_tools([tool("x", schema)])[0]
    assert [(param.name, param.required, param.type is None) for param in found.params] == [
        ("a", True, False), ("b", True, True),
    ]  # fmt: skip


def test_below_objects_and_lists() -> None:
    known: Known = {}
    inner = {**of(BULK["text"]), "description": "Inner."}
    read_leaves([of({"type": "array", "items": {**inner, "properties": {"b": inner}}})], known, {})
    assert [found.name for found in known.values()] == ["a"]


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (of({"type": "string", "description": "x" * (PROSE_LIMIT + 1)}), "a description of"),
        (of({"type": "string", "description": "x", "enum": [str(i) for i in range(ENUM_LIMIT + 1)]}), "an enum of"),
        ({"type": "object", "properties": {f"p{i}": BULK["text"] for i in range(NODE_LIMIT)}}, "more than"),
        ({"type": "object", "properties": {f"p{i}": BULK["texts"] for i in range(NODE_LIMIT // 2)}}, "more than"),
    ],
    ids=["prose", "enum", "nodes", "nodes of lists"],
)  # fmt: skip
def test_bounds_hold(schema: Any, reason: str) -> None:
    found = Catalog.from_tools([tool("x", schema)], on_error="skip")
    assert [fault.reason.startswith(reason) for fault in found.skipped] == [True]


@settings(max_examples=25)
@given(catalogs)
def test_law_same_as_walked(raws: list[dict[str, Any]]) -> None:
    catalog = Catalog.from_tools(raws, on_error="skip")
    skipped = {fault.tool for fault in catalog.skipped}
    for raw in raws:
        if raw["name"] in skipped:
            continue
        found = catalog.by_name[raw["name"]]
        walked = walk(raw["inputSchema"], raw["name"])
        assert dict(found.types).keys() == dict(walked.types).keys()
        for a, b in zip(found.params, getattr(walked.root, "params", ()), strict=False):
            assert same(a, b)


@pytest.mark.parametrize(
    "schema",
    [
        {"exclusiveMinimum": False},
        {"minLength": 0},
        {"uniqueItems": False},
        {"minItems": 0},
        {"required": []},
        {"items": {}},
    ],
    ids=repr,
)
def test_bounds_that_bind_nothing_are_any(schema: dict[str, Any]) -> None:
    catalog = Catalog.from_tools([tool("x", {"type": "object", "properties": {"a": schema}})])
    assert same(catalog[0].params[0], Catalog.from_tools([tool("x", {"properties": {"a": {}}})])[0].params[0])
    again = Catalog.from_tools([tool("x", dict(catalog[0].to_json_schema()))])
    assert again == catalog
