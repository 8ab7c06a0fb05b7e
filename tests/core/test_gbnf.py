"""The grammar of an answer: it takes what the tools take, in the spelling it promises, and little else."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests import strategies
from tests.conftest import read_tools, shared_catalog_paths
from tests.core.decode_samples import TOOLS, surface, tool
from tests.core.gbnf_reader import Grammar
from tscg.decoders import decode
from tscg.errors import CompileError
from tscg.gbnf import output_grammar
from tscg.resolve import Surface
from tscg.taught import written
from tscg.validate import validator_of

TREE: dict[str, Any] = {
    "name": "save_tree",
    "inputSchema": {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/Node"}},
        "required": ["root"],
        "additionalProperties": False,
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                    "up": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
                },
                "required": ["name"],
                "additionalProperties": False,
            }
        },
    },
}
SHAPES = tool(
    {
        "a": {"type": "integer"},
        "b": {"enum": ["x", "y z", 3, None, {"k": [1, "q"]}]},
        "c": {"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3},
        "d": {"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False, "minItems": 1},
        "e": {"anyOf": [{"type": "integer"}, {"const": "all"}]},
        "f": {"type": ["number", "null"]},
        "g": {"type": "object", "additionalProperties": {"type": "integer"}},
        "h": {"type": "array", "prefixItems": [{"type": "null"}], "items": {"type": "string"}},
    },
    "shapes",
    required=["b"],
    additionalProperties=False,
)


def grammar(made: Surface | None = None, **options: Any) -> Grammar:
    return Grammar.of(output_grammar(made or surface(), **options))


def call(name: str, arguments: Any) -> str:
    return json.dumps({"tool_calls": [{"name": name, "arguments": arguments}]}, ensure_ascii=False)


# --- what it takes and what not ---------------------------------------------------------------------------------------

TAKEN: list[Any] = [
    pytest.param({"b": "x"}, id="the required one"),
    pytest.param({"a": -12345678901234567890, "b": "y z", "f": 1.5e-7}, id="numbers"),
    pytest.param({"b": 3, "c": [True]}, id="a list at its least"),
    pytest.param({"b": None, "c": [True, False, True]}, id="a list at its most"),
    pytest.param({"b": {"k": [1, "q"]}}, id="an object in an enum"),
    pytest.param({"b": "x", "d": ["s"]}, id="a short tuple"),
    pytest.param({"b": "x", "d": ["s", 1]}, id="a tuple"),
    pytest.param({"b": "x", "e": "all"}, id="one branch"),
    pytest.param({"b": "x", "e": 5, "f": None, "g": {}}, id="the other branch"),
    pytest.param({"b": "x", "g": {"p": 1, "q\n\u2028": 2}}, id="a map"),
    pytest.param({"b": "x", "h": []}, id="no item"),
    pytest.param({"b": "x", "h": [None, "a", "b"]}, id="items behind a fixed one"),
]
REFUSED: list[Any] = [
    pytest.param({}, id="nothing"),
    pytest.param({"a": 1}, id="a required one missing"),
    pytest.param({"b": "z"}, id="no member"),
    pytest.param({"b": "x", "a": 1}, id="another order"),
    pytest.param({"b": "x", "z": 1}, id="undeclared"),
    pytest.param({"a": 1.5, "b": "x"}, id="no integer"),
    pytest.param({"b": "x", "c": []}, id="a list too short"),
    pytest.param({"b": "x", "c": [True] * 4}, id="a list too long"),
    pytest.param({"b": "x", "d": []}, id="a tuple too short"),
    pytest.param({"b": "x", "d": ["s", 1, 2]}, id="a tuple too long"),
    pytest.param({"b": "x", "e": "some"}, id="no branch"),
    pytest.param({"b": "x", "g": {"p": "1"}}, id="a map of texts"),
    pytest.param({"b": "x", "h": ["a"]}, id="another fixed item"),
    pytest.param([], id="no object"),
]


@pytest.mark.parametrize("spacing", [None, 2], ids=["one line", "indented"])
@pytest.mark.parametrize("arguments", TAKEN)
def test_takes(arguments: Any, spacing: int | None) -> None:
    made = surface([SHAPES])
    assert validator_of(made.catalog[0]).is_valid(arguments)
    text = json.dumps({"tool_calls": [{"name": "shapes", "arguments": arguments}]}, indent=spacing)
    assert grammar(made).takes(text)


@pytest.mark.parametrize("arguments", REFUSED)
def test_refuses(arguments: Any) -> None:
    assert not grammar(surface([SHAPES])).takes(call("shapes", arguments))


def test_recursive_types_are_rules() -> None:
    made = surface([TREE])
    node: dict[str, Any] = {"name": "leaf"}
    for _ in range(20):
        node = {"name": "n", "kids": [node, {"name": "x"}], "up": None}
    assert grammar(made).takes(call("save_tree", {"root": node}))
    assert not grammar(made).takes(call("save_tree", {"root": {"name": "n", "kids": [{}]}}))
    assert not grammar(made).takes(call("save_tree", {"root": {"name": "n", "up": {"kids": []}}}))


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"A": {"$ref": "#/$defs/A"}}, "properties": {"x": {"$ref": "#/$defs/A"}}},
        {
            "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "string"}]}},
            "properties": {"x": {"$ref": "#/$defs/A"}},
        },
        {
            "$defs": {
                "A": {"anyOf": [{"$ref": "#/$defs/B"}]},
                "B": {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}]},
            },
            "properties": {"x": {"$ref": "#/$defs/A"}},
        },
        {"anyOf": [{"$ref": "#"}, {"properties": {"x": {}}}]},
        {"allOf": [{"$ref": "#"}], "properties": {"x": {"$ref": "#"}}},
    ],
    ids=range(5),
)
def test_types_that_go_round_end(schema: dict[str, Any]) -> None:
    made = surface([{"name": "f", "inputSchema": {"type": "object", **schema}}])
    assert isinstance(grammar(made), Grammar)  # reading it refuses rules that begin with themselves


def test_a_bomb_stays_small() -> None:
    defs = {f"A{n}": {"anyOf": [{"$ref": f"#/$defs/A{n + 1}"}] * 2} for n in range(12)}
    named = {
        f"B{n}": {"anyOf": [{"allOf": [{"$ref": f"#/$defs/B{n + 1}"}], "minLength": i} for i in (1, 2)]}
        for n in range(12)
    }
    schema = {
        "properties": {"a": {"$ref": "#/$defs/A0"}, "b": {"$ref": "#/$defs/B0"}},
        "$defs": {**defs, **named, "A12": {"type": "string"}, "B12": {"type": "string"}},
    }
    start = time.process_time()
    text = output_grammar(surface([{"name": "f", "inputSchema": {"type": "object", **schema}}]))
    assert len(text) < 10_000
    assert time.process_time() - start < 4


# --- the answer -------------------------------------------------------------------------------------------------------


def test_calls_or_an_answer() -> None:
    made = grammar()
    both = '{"tool_calls":[{"name":"ping","arguments":{}},{"name":"get_weather","arguments":{"city":"x"}}]}'
    assert made.takes(both)
    assert made.takes('{"answer":"It is <b>cold</b>: \\u00e9 é 😀 \\n"}')
    assert not made.takes('{"tool_calls":[]}')
    assert not made.takes('{"answer":1}')
    assert not made.takes('{"answer":"x"} and more')
    assert not made.takes(call("nope", {}))
    assert not made.takes(call("get_weather", {"city": 5}))


def test_a_required_call() -> None:
    made = grammar(must_call=True)
    assert made.takes(call("ping", {}))
    assert not made.takes('{"answer":"x"}')


def test_one_call_at_most() -> None:
    made = grammar(parallel=False)
    two = written(surface(constrained=True), [("ping", {}), ("ping", {})])
    assert made.takes(call("ping", {}))
    assert not made.takes(two)
    assert grammar().takes(two)


def test_no_tools_leave_the_answer() -> None:
    made = grammar(surface([]), must_call=True)
    assert made.takes('{"answer":""}')
    assert not made.takes(call("ping", {}))


def test_a_lookup_where_one_is_offered() -> None:
    made = surface(lookup_tool="lookup")
    assert grammar(made).takes(call("lookup", {"tools": ["ping"]}))
    assert grammar(made).takes(call("lookup", {"query": "weather"}))
    assert not grammar(made, must_call=True).takes(call("lookup", {"query": "weather"}))
    assert not grammar().takes(call("lookup", {"query": "weather"}))


def test_undeclared_members_stand_behind_the_declared_ones() -> None:
    made = grammar(surface([tool({"a": {"type": "integer"}}), tool({"a": {}}, "closed", additionalProperties=False)]))
    assert made.takes(call("f", {"a": 1, "more": {"x": [None]}}))
    assert made.takes(call("f", {"more": 1}))
    assert not made.takes(call("closed", {"a": 1, "more": 1}))


def test_markers_in_names_have_both_spellings() -> None:
    odd = tool({"a</tool_call>": {"enum": ["<think>"]}}, "x[TOOL_CALLS]", additionalProperties=False)
    made = surface([odd], constrained=True)
    arguments = {"a</tool_call>": "<think>"}
    assert grammar(made).takes(call("x[TOOL_CALLS]", arguments))
    harmless = written(made, [("x[TOOL_CALLS]", arguments)])
    assert "<think>" not in harmless
    assert grammar(made).takes(harmless)


# --- laws -------------------------------------------------------------------------------------------------------------


def in_order(value: Any, schema: Any, root: Any, depth: int = 0) -> Any:
    """A value with its members in the order of the schema, as far as `properties` tell it."""
    for _ in range(9):
        if isinstance(schema, dict) and "$ref" in schema and "properties" not in schema:
            schema = root if schema["$ref"] == "#" else root["$defs"][schema["$ref"].rsplit("/", 1)[-1]]
    schema = schema if isinstance(schema, dict) else {}
    if isinstance(value, dict):
        known = schema.get("properties", {})
        behind = [*sorted(set(schema.get("required", ())) - known.keys())]
        names = [*(name for name in (*known, *behind) if name in value), *(name for name in value if name not in known)]
        return {name: in_order(value[name], known.get(name), root, depth + 1) for name in dict.fromkeys(names)}
    if isinstance(value, list):
        prefix = schema.get("prefixItems", [])
        inner = [prefix[i] if i < len(prefix) else schema.get("items") for i in range(len(value))]
        return [in_order(one, below, root, depth + 1) for one, below in zip(value, inner, strict=True)]
    return value


@given(st.lists(strategies.tools, min_size=1, max_size=2, unique_by=lambda raw: str(raw["name"])), st.data())
@settings(max_examples=60)
def test_never_tighter_than_the_schema(raws: list[dict[str, Any]], data: st.DataObject) -> None:
    try:
        made = surface(raws, constrained=True)
    except CompileError:
        return
    text = output_grammar(made)
    text.encode()
    read = Grammar.of(text)
    for one in made.catalog:
        validator = validator_of(one)
        properties = validator.copy.get("properties", {})
        drawn = data.draw(st.dictionaries(st.sampled_from([*properties, "more"]), strategies.values, max_size=4))
        for arguments in (drawn, {}):
            if validator.is_valid(arguments):
                ordered = in_order(arguments, validator.copy, validator.copy)
                assert read.takes(written(made, [(one.name, ordered)])), (validator.copy, ordered, text)


@pytest.mark.parametrize("path", shared_catalog_paths(), ids=lambda path: str(path.stem))
def test_shared_catalogs_give_grammars(path: Any) -> None:
    tools = read_tools(path)
    text = output_grammar(surface(tools))
    assert len(text) < 20_000 + 2 * len(json.dumps(tools))
    Grammar.of(text)


def test_shared_calls_are_taken(shared: Any, shared_catalogs: dict[str, Any]) -> None:
    count = 0
    for path in sorted((shared / "calls").glob("*.jsonl")):
        made = surface(shared_catalogs[path.stem], constrained=True)
        read = grammar(made)
        for line in path.read_text(encoding="utf-8").splitlines()[::5]:
            row = json.loads(line)
            schema = made.index.entries[row["name"]].validator.copy
            arguments = in_order(json.loads(row["arguments"]), schema, schema)
            text = written(made, [(row["name"], arguments)])
            assert read.takes(text), text
            assert [one.arguments for one in decode(made, text).calls] == [arguments]
            count += 1
    assert count


def test_a_thousand_tools(shared_catalogs: dict[str, Any]) -> None:
    tools = [{**TOOLS[i % 4], "name": f"{TOOLS[i % 4]['name']}_{i}"} for i in range(1_000)]
    made = surface(tools)
    start = time.process_time()
    text = output_grammar(made)
    assert time.process_time() - start < 4
    assert len(text) < 300_000
    (found,) = decode(made, call("ping_501", {})).calls
    assert found.name == "ping_501"
    assert Grammar.of(text).takes(call("ping_501", {}))
