"""Reading in bulk gives what the walker gives for one schema after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import catalogs
from tscg.errors import CompileError, ConfigError
from tscg.ir import Array, Catalog, Node, Note, String, same
from tscg.leaves import read_flat
from tscg.prose_form import normalise, normalised
from tscg.record import fields, records
from tscg.schema import ENUM_LIMIT, NODE_LIMIT, PROSE_LIMIT, Placed, walk

BULK: dict[str, dict[str, Any]] = {
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
    "listed texts": {
        "type": "array",
        "description": "States.",
        "items": {"type": "string", "enum": ["open", "closed", "open"]},
    },
}
WALKED: dict[str, dict[str, Any]] = {
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
    "items listed empty": {"type": "array", "description": "Labels.", "items": {"type": "string", "enum": []}},
    "items of numbers": {"type": "array", "description": "Sizes.", "items": {"type": "integer", "enum": [1]}},
    "items of false": {"type": "array", "description": "Labels.", "items": False},
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
    found = read_flat([of(part), of(part, required=True)], {})
    assert [root and [(param.name, param.required) for param in root.params] for root in found] == [
        [("a", False)], [("a", True)],
    ]  # fmt: skip


@pytest.mark.parametrize("part", WALKED.values(), ids=WALKED.keys())
def test_left_to_the_walker(part: Any) -> None:
    placed: Placed = {}
    assert read_flat([of(part)], placed) == [None]
    assert placed == {}


def test_what_does_not_fit_leaves_its_like_to_bulk() -> None:
    parts = [part for _, part in sorted({**BULK, **WALKED}.items())]
    schema = {"type": "object", "properties": {f"p{i}": part for i, part in enumerate(parts)}}
    placed: Placed = {}
    assert read_flat([schema], placed) == [None]
    assert len(placed) == len(BULK)
    found, walked = Catalog.from_tools([tool("x", schema)], on_error="passthrough")[0], walk(schema, "x")
    assert same(found.root, walked.root)


def test_the_same_in_many_tools_is_one_object() -> None:
    part = {**BULK["enum"], "description": "Read by no other test."}
    other = {"description": part["description"], **part}  # the order of keys says nothing
    catalog = Catalog.from_tools([
        tool("x", of(part)), tool("y", of(other)), tool("z", of(part, required=True)),
        tool("walked", {**of(part), "additionalProperties": False}),
    ])  # fmt: skip
    x, y, z, walked = (found.params[0] for found in catalog)
    assert x is y
    assert x is walked
    assert x is not z


@pytest.mark.parametrize("parts", [BULK, WALKED], ids=["bulk", "walked"])
def test_a_list_of_tools_and_what_holds_one_are_read_alike(parts: dict[str, Any]) -> None:
    tools = [tool(name, of(part)) for name, part in parts.items()]
    whole = Catalog.from_tools(tools, server="s", on_error="passthrough")
    held = Catalog.from_tools({"tools": [dict(raw) for raw in tools]}, server="s", on_error="passthrough")
    labelled = Catalog.from_tools({"tools": tools, "server": "s"}, on_error="passthrough")
    assert whole == held == labelled
    assert [found.server for found in (*held, *labelled)] == ["s"] * (2 * len(tools))


@pytest.mark.parametrize("default", [1, 1.0, True, 0.0, -0.0], ids=repr)
def test_values_that_compare_equal_stay_apart(default: Any) -> None:
    others = [1, 1.0, True, 0, 0.0, -0.0, False, "1"]
    parts = [{"type": "number", "description": "Sum.", "default": value} for value in (*others, default)]
    catalog = Catalog.from_tools([tool(f"x{i}", of(part)) for i, part in enumerate(parts)])
    for found, part in zip(catalog, parts, strict=True):
        assert same(found.root, walk(of(part), "x").root)


@pytest.mark.parametrize(
    "odd",
    [True, None, [], {"type": "object", "properties": {"b": True}}, {"properties": {1: {}}}, {"properties": []},
     {"type": "object", "properties": {"b": {}}, "required": "b"},
     {"type": "object", "properties": {"b": {}}, "required": [1, {}]}],
    ids=["true", "null", "list", "property true", "number as a name", "list of properties", "required a text",
         "required no texts"],
)  # fmt: skip
def test_one_odd_tool_leaves_the_others_to_bulk(odd: Any) -> None:
    assert [root is not None for root in read_flat([odd, of(BULK["text"])], {})] == [False, True]
    catalog = Catalog.from_tools([tool("odd", odd), tool("x", of(BULK["text"]))], on_error="passthrough")
    assert same(catalog[0].root, walk(odd, "odd").root)
    assert same(catalog[1].root, walk(of(BULK["text"]), "x").root)


def test_what_a_tool_requires_but_does_not_declare() -> None:
    schema = {**of(BULK["text"]), "required": ["b", "a"]}
    found = Catalog.from_tools([tool("x", schema)])[0]
    assert [(param.name, param.required, param.type is None) for param in found.params] == [
        ("a", True, False), ("b", True, True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "outer",
    [
        lambda inner: inner,
        lambda inner: {"type": "array", "items": inner},
        lambda inner: {"anyOf": [{"type": "null"}, {"type": "array", "items": inner}]},
        lambda inner: {"type": "array", "items": {"oneOf": [True, {"type": "string"}, inner]}},
        lambda inner: {"properties": {"b": inner}},
    ],
    ids=["object", "list", "branch", "branch of a list", "object of objects"],
)
def test_below_objects_and_lists(outer: Any) -> None:
    schema = of(outer({**of(BULK["text"]), "description": "Inner."}))
    placed: Placed = {}
    assert read_flat([schema], placed) == [None]
    assert [(param.name, param.description) for param in placed.values()] == [("a", "A name.")]
    assert same(Catalog.from_tools([tool("x", schema)])[0].root, walk(schema, "x").root)


@pytest.mark.parametrize("depth", [2, 7, 8, 9, 30])
def test_deeper_than_bulk(depth: int) -> None:
    schema = of(BULK["text"])
    for _ in range(depth):
        schema = of({**schema, "description": "Inner."}, required=True)
    assert same(Catalog.from_tools([tool("x", schema)])[0].root, walk(schema, "x").root)


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


LEAVES = st.sampled_from([*BULK.values(), *WALKED.values(), True, {"type": "string", "description": 1}])
NAMES = st.sampled_from(["a", "b", "c", "d"])


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.dictionaries(NAMES, LEAVES), st.lists(NAMES), st.sampled_from(["A.", 1, None, " x  y\n"])))
)
def test_law_columns_as_one_by_one(given: list[tuple[dict[str, Any], list[str], Any]]) -> None:
    tools = [
        {"name": f"x{i}", "description": said,
         "inputSchema": {"type": "object", "properties": {"in": {"properties": parts}, **parts}, "required": needed}}
        for i, (parts, needed, said) in enumerate(given)
    ]  # fmt: skip
    for found, raw in zip(Catalog.from_tools(tools, on_error="passthrough"), tools, strict=True):
        walked = walk(raw["inputSchema"], "x")
        assert same(found.root, walked.root)
        assert [fault.pointer for fault in found.faults] == [fault.pointer for fault in walked.faults]
        said = raw["description"]
        assert found.description == (normalise(said) if isinstance(said, str) else "")
        assert (found.name, found.local_name, found.server, found.format) == (raw["name"], raw["name"], "", "mcp")
        assert found.raw == raw


BLANKS = st.sampled_from(["a", "B.", "- c", "long enough a line that it may be wrapped, and", " ", "  ", *"\n\t\r\v\f",
                          *"\x1c\x1d\x1e\x1f\x00\x7f\x85\xa0\u2028\u200b", "\r\n", "\n\n", "```"])  # fmt: skip


@settings(max_examples=200)
@given(st.lists(st.lists(BLANKS).map("".join)))
def test_law_texts_at_once_as_one_by_one(texts: list[str]) -> None:
    assert normalised(texts) == [*map(normalise, texts)]


def test_records_of_columns_are_those_made_one_by_one() -> None:
    notes = [Note(description="a"), Note(description="b")]
    found: list[Node] = records([String, Array], note=notes, typed=[True, False])
    assert same(tuple(found), (String(note=notes[0], typed=True), Array(note=notes[1], typed=False)))
    assert [vars(record).keys() for record in found] == [{"note", "typed"}, {"note", "typed"}]
    assert all(getattr(Array(), name) == getattr(Array, name) for name in fields(Array))


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


NO_JSON: dict[str, Any] = {
    "tuple": ("x",), "no tuple": (), "set": {"x"}, "frozenset": frozenset("x"), "bytes": b"x", "buffer": bytearray(b"x"),
    "nan": float("nan"), "infinite": float("-inf"), "in a list": [["x", ("y",)]], "in an object": {"x": {"y": b""}},
    "as a key": {("x",): 1}, "number as a key": {1: "x"}, "plain": {"x": [1.5, None, True, {"y": "z"}]},
}  # fmt: skip
STANDS: dict[str, Callable[[Any], dict[str, Any]]] = {
    "description": lambda value: {"description": value},
    "member": lambda value: {"_meta": value},
    "hint": lambda value: {"annotations": {"title": "T", "more": value}},
    "schema": lambda value: {"inputSchema": value},
    "default": lambda value: {"inputSchema": of({**BULK["whole"], "default": value})},
    "text": lambda value: {"inputSchema": of({"type": "string", "description": value})},
    "type": lambda value: {"inputSchema": of({"type": value, "description": "x"})},
    "enum": lambda value: {"inputSchema": of({**BULK["text"], "enum": ["a", value]})},
    "enum itself": lambda value: {"inputSchema": of({**BULK["text"], "enum": value})},
    "items": lambda value: {"inputSchema": of({**BULK["list"], "items": value})},
    "items' enum": lambda value: {"inputSchema": of({**BULK["list"], "items": {"type": "string", "enum": value}})},
    "bound": lambda value: {"inputSchema": of({**BULK["whole"], "minimum": value})},
    "required": lambda value: {"inputSchema": {**of(BULK["text"]), "required": value}},
    "property": lambda value: {"inputSchema": of(value)},
    "keyword": lambda value: {"inputSchema": {**of(BULK["text"]), "x-more": value}},
    "built in": lambda value: {"type": "web_search", "more": value},
    "name": lambda value: {"name": value},
}  # fmt: skip


@pytest.mark.parametrize("value", NO_JSON.values(), ids=NO_JSON.keys())
@pytest.mark.parametrize("stands", STANDS.values(), ids=STANDS.keys())
def test_what_is_no_json_is_seen_in_bulk(stands: Callable[[Any], dict[str, Any]], value: Any) -> None:
    raws = [{"name": "x", "inputSchema": of(BULK["text"]), **stands(value)}, tool("y", of(BULK["whole"]))]
    if "type" in raws[0]:
        del raws[0]["inputSchema"]

    def read(tools: Any, server: str = "") -> Any:
        try:
            catalog = Catalog.from_tools(tools, server=server, on_error="passthrough")
        except (CompileError, ConfigError) as error:
            return type(error), str(error)
        says = [(one.name, one.description, repr(one.raw), one.faults) for one in catalog]
        return (says, catalog.builtins, catalog.skipped), tuple(one.root for one in catalog)

    bulk, rows = read(raws, "s"), read({"tools": raws, "server": "t"})
    assert bulk[0] == rows[0]
    assert same(bulk[1], rows[1])
