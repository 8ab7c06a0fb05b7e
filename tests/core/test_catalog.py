"""The catalog: equality, joining, names that two servers share, pickling, threads, and what each tool keeps."""

from __future__ import annotations

import itertools
import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import tscg
from tscg.errors import CompileError, ConfigError, Fragment
from tscg.formats.names import visible
from tscg.ir import Catalog, Node, Object, Tool

PING = {"name": "ping", "description": "Check the server.", "inputSchema": {"type": "object", "properties": {}}}
FIND: dict[str, Any] = {
    "name": "find",
    "title": "Find",
    "description": "Find pages.",
    "inputSchema": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "$comment": "kept",
    },
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True, "destructiveHint": False},
    "_meta": {"team": "wiki"},
    "x-own": [1],
}


def names(catalog: Catalog) -> list[str]:
    return [tool.name for tool in catalog]


def named(name: str, **more: Any) -> dict[str, Any]:
    return {**PING, "name": name, **more}


def served(server: str, *tools: str) -> dict[str, Any]:
    return {"server": server, "tools": [named(name) for name in tools]}


# --- members ----------------------------------------------------------------------------------------------------------


def test_what_a_tool_keeps() -> None:
    tool = Catalog.from_tools([FIND], server="wiki")[0]
    assert (tool.name, tool.local_name, tool.server, tool.format) == ("find", "find", "wiki", "mcp")
    assert tool.schema == FIND["inputSchema"]
    assert tool.raw == FIND
    assert tool.title == "Find"
    assert tool.annotations == FIND["annotations"]
    assert tool.output_schema == {"type": "object"}
    assert tool.extra == {key: FIND[key] for key in ("title", "outputSchema", "annotations", "_meta", "x-own")}


def test_a_catalog_is_a_sequence() -> None:
    catalog = Catalog.from_tools([PING, FIND])
    assert len(catalog) == 2
    assert catalog[-1].name == "find"
    assert catalog[:1] == (catalog[0],)
    assert catalog[0] in catalog
    assert catalog.by_name["find"] is catalog[1]
    assert names(Catalog.from_tools([])) == names(Catalog()) == []


# --- equality ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [
    {"name": "other"}, {"description": "Find books."}, {"inputSchema": {**FIND["inputSchema"], "required": []}},
    {"inputSchema": {**FIND["inputSchema"], "additionalProperties": False}},
    {"inputSchema": {**FIND["inputSchema"], "properties": {"text": {"type": "string", "default": "a"}}}},
    {"inputSchema": {**FIND["inputSchema"], "properties": {"text": {"type": "string", "description": "What to find."}}}},
], ids=["name", "description", "required", "closed", "default", "prose below"])  # fmt: skip
def test_what_makes_catalogs_differ(change: dict[str, Any]) -> None:
    assert Catalog.from_tools([FIND]) != Catalog.from_tools([{**FIND, **change}])


@pytest.mark.parametrize("change", [
    {"title": "Other"}, {"annotations": {}}, {"outputSchema": {}}, {"_meta": None}, {"description": "  Find   pages. "},
    {"inputSchema": {**FIND["inputSchema"], "$schema": "x", "title": "find", "$defs": {"Unused": {}}}},
    {"inputSchema": {"required": ["text"], "properties": {"text": {"title": "Text", "type": ["string"]}}}},
], ids=["title", "annotations", "result", "meta", "blanks", "not kept", "spelling"])  # fmt: skip
def test_what_says_the_same(change: dict[str, Any]) -> None:
    left, right = Catalog.from_tools([FIND]), Catalog.from_tools([{**FIND, **change}])
    assert left == right
    assert hash(left) == hash(right)


def test_order_and_labels_say_nothing() -> None:
    assert Catalog.from_tools([PING, FIND]) == Catalog.from_tools([FIND, PING], server="wiki")
    assert Catalog.from_tools([PING]) != Catalog.from_tools([PING, FIND])
    assert Catalog.from_tools([PING]) != [PING]


# --- pages, labels, duplicates ----------------------------------------------------------------------------------------

PAGES = [
    {"tools": [named("a"), named("b")], "nextCursor": "2"},
    {"jsonrpc": "2.0", "id": 2, "result": {"tools": [named("c")], "nextCursor": "3"}},
    {"tools": []},
    {"tools": [named("d")]},
]


def test_pages_are_joined() -> None:
    assert names(Catalog.from_tools(PAGES)) == ["a", "b", "c", "d"]
    assert {tool.server for tool in Catalog.from_tools(PAGES, server="x")} == {"x"}


def test_an_error_answer_is_a_compile_error() -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "Method not found"}}
    with pytest.raises(CompileError, match="the server answered with an error: Method not found"):
        Catalog.from_tools(answer)
    with pytest.raises(ConfigError, match="unknown form"):
        Catalog.from_tools({"jsonrpc": "2.0", "id": 1, "result": {}})


def test_members_called_like_containers_stay_members() -> None:
    tool = Catalog.from_tools([{**PING, "tools": ["a"], "result": {"tools": []}, "error": None}])[0]
    assert (tool.name, tool.extra["tools"]) == ("ping", ["a"])


def test_labels() -> None:
    catalog = Catalog.from_tools(
        [served("a", "x"), named("y"), Catalog.from_tools([named("z")], server="own")], server="rest"
    )
    assert [tool.server for tool in catalog] == ["a", "rest", "own"]


def test_one_name_on_two_servers_becomes_two() -> None:
    catalog = Catalog.from_tools([served("jira", "find", "move"), served("wiki", "find")])
    assert names(catalog) == ["jira__find", "move", "wiki__find"]
    assert [tool.local_name for tool in catalog] == ["find", "move", "find"]
    assert "jira__find()" in tscg.compile(catalog).text
    unlabelled = Catalog.from_tools([served("jira", "find"), named("find")])
    assert names(unlabelled) == ["jira__find", "find"]


def test_on_duplicate_error_names_both() -> None:
    with pytest.raises(CompileError, match=r"find: one name on 2 servers .jira:find and wiki:find.") as caught:
        Catalog.from_tools([served("jira", "find"), served("wiki", "find")], on_duplicate="error")
    assert caught.value.tool == "find"


@pytest.mark.parametrize("on_duplicate", ["prefix", "error"])
@pytest.mark.parametrize("on_error", ["raise", "skip", "passthrough"])
@pytest.mark.parametrize(("raw", "says"), [
    ([named("find"), PING, named("find", description="Other.")], "2 tools of one name .tool 0 and tool 2."),
    ([served("a", "find", "find")], "2 tools of one name .a:find and a:find."),
    ([served("a", "find"), served("b", "find"), named("find"), named("find")], "4 tools of one name .a:find, b:find, tool 2 and tool 3."),
], ids=["no label", "one label", "some labels"])  # fmt: skip
def test_one_name_twice_is_always_an_error(raw: list[Any], says: str, on_error: str, on_duplicate: str) -> None:
    with pytest.raises(CompileError, match=says) as caught:
        Catalog.from_tools(raw, on_error=on_error, on_duplicate=on_duplicate)
    assert caught.value.tool == "find"


def test_a_made_name_that_is_taken_is_an_error() -> None:
    with pytest.raises(CompileError, match="a__find: find of the server a gets this name, which another tool has"):
        Catalog.from_tools([served("a", "find"), served("b", "find"), named("a__find")])


@pytest.mark.parametrize(
    "other",
    ["fi\u200bnd", "find\u202e", "\ufefffind", "find\x00", "find\ufe0f", "f\u00adind", "find\U000e0041"],
    ids=ascii,
)
def test_names_that_look_the_same_collide(other: str) -> None:
    assert visible(other) == "find"
    with pytest.raises(CompileError, match="by invisible characters alone"):
        Catalog.from_tools([named("find"), named(other)])
    assert names(Catalog.from_tools([named(other), named("finds")])) == [other, "finds"]


def test_many_duplicates_are_told_apart_in_no_time() -> None:
    many = [f"tool_{i}" for i in range(2_000)]
    catalog = Catalog.from_tools([served("a", *many), served("b", *many)])
    assert len(set(names(catalog))) == 4_000


def test_join() -> None:
    left, right = (
        Catalog.from_tools([named("find"), named(f"{label}_own"), {"googleSearch": {}}], server=label)
        for label in ("a", "b")
    )
    both = Catalog.join(left, right)
    assert names(both) == ["a__find", "a_own", "b__find", "b_own"]
    assert len(both.builtins) == 2
    assert names(Catalog.join(both, Catalog.from_tools([named("find")], server="c")))[-1] == "c__find"
    assert Catalog.join(both) == both
    assert names(Catalog.join(left)) == ["find", "a_own"]
    assert Catalog.join() == Catalog()
    with pytest.raises(CompileError, match="one name on 2 servers"):
        Catalog.join(left, right, on_duplicate="error")


def test_join_of_tools_without_an_origin() -> None:
    made = tscg.decompile("a(x)")
    assert names(Catalog.join(made, Catalog(tools=(Tool(name="b", root=Object()),)))) == ["a", "b"]


@pytest.mark.parametrize(
    ("option", "allowed"), [("on_error", "raise, skip, passthrough"), ("on_duplicate", "prefix, error")]
)
def test_unknown_options(option: str, allowed: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown {option} 'no'; allowed: {allowed}"):
        Catalog.from_tools([PING], **{option: "no"})


# --- bad tools among good ones ----------------------------------------------------------------------------------------

DANGLING = named(
    "lost", inputSchema={"type": "object", "properties": {"a": {"$ref": "#/$defs/Gone"}, "b": {"type": "strnig"}}}
)
BAD = [
    PING,
    DANGLING,
    {"inputSchema": {}},
    named(" "),
    {**PING, "name": 7},
    {"name": "wide", "parameters": {"properties": {"e": {"enum": list(range(10_001))}}}},
]
FRAGMENTS = [
    ("lost", "/properties/a/$ref", "dangling $ref '#/$defs/Gone'"), ("lost", "/properties/b/type", "unknown type 'strnig'"),
    ("tool 2", "", "a tool without a name"), ("tool 3", "", "the name is blank"), ("tool 4", "", "the name is no text (int)"),
    ("wide", "/properties/e/enum", "an enum of 10,001 members, at most 10,000"),
]  # fmt: skip


def triples(fragments: tuple[Fragment, ...]) -> list[tuple[str, str, str]]:
    return [(fragment.tool, fragment.pointer, fragment.reason) for fragment in fragments]


def test_one_error_names_all_bad_places() -> None:
    with pytest.raises(CompileError) as caught:
        tscg.compile(BAD)
    assert triples(caught.value.fragments) == FRAGMENTS
    assert (caught.value.tool, caught.value.pointer) == ("lost", "/properties/a/$ref")


def test_skip_compiles_the_others() -> None:
    compiled = tscg.compile(BAD, on_error="skip")
    assert compiled.text.startswith("ping() Check")
    assert names(compiled.catalog) == ["ping"]
    assert triples(compiled.skipped) == FRAGMENTS
    joined = Catalog.join(Catalog.from_tools(BAD, on_error="skip"), Catalog())
    assert triples(joined.skipped) == FRAGMENTS


def test_passthrough_keeps_what_has_a_name() -> None:
    catalog = Catalog.from_tools(BAD, on_error="passthrough")
    assert names(catalog) == ["ping", "lost", "wide"]
    assert triples(tuple(fault for tool in catalog for fault in tool.faults)) == [FRAGMENTS[i] for i in (0, 1, 5)]
    assert triples(catalog.skipped) == FRAGMENTS[2:5]
    assert catalog[2].schema == BAD[5]["parameters"]


# --- sharing ----------------------------------------------------------------------------------------------------------


def test_equal_tools_are_read_once_and_changed_ones_anew() -> None:
    raw = [named("a"), named("b")]
    first = Catalog.from_tools(raw)
    assert Catalog.from_tools([named("a"), named("b")]) is first
    raw[1]["description"] = "Changed."
    second = Catalog.from_tools(raw)
    assert second != first
    assert second[0] is first[0]
    assert Catalog.from_tools(
        [{"name": "n", "inputSchema": {"properties": {"x": {"default": True}}}}]
    ) != Catalog.from_tools([{"name": "n", "inputSchema": {"properties": {"x": {"default": 1}}}}])


def test_pickling() -> None:
    catalog = Catalog.from_tools([FIND, PING, {"googleSearch": {}}], server="wiki")
    text = tscg.compile(catalog).text
    again = pickle.loads(pickle.dumps(catalog))
    assert again == catalog
    assert again.builtins == catalog.builtins
    assert [(tool.server, tool.raw, tool.schema) for tool in again] == [
        (tool.server, tool.raw, tool.schema) for tool in catalog
    ]
    assert tscg.compile(again).text == text


def test_threads() -> None:
    raws = [[named(f"t{i}_{j}", inputSchema=FIND["inputSchema"]) for j in range(20)] for i in range(4)]
    expected = [tscg.compile(raw).text for raw in raws]
    rounds = list(itertools.islice(itertools.cycle(range(4)), 64))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: tscg.compile([dict(tool) for tool in raws[i]]).text, rounds))
        assert found == [expected[i] for i in rounds]


def test_tools_are_values() -> None:
    tool = Catalog.from_tools([FIND])[0]
    with pytest.raises(AttributeError):
        tool.name = "other"  # type: ignore[misc]
    assert isinstance(tool.root, Node)
    assert tool == Catalog.from_tools([tool.raw])[0]
    assert tool != "find"
