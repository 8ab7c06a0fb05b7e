"""Validation: the original schema in all its spellings, patterns, references, what cannot be checked."""

from __future__ import annotations

import marshal
import pickle
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.core.decode_samples import tool
from tscg import Catalog
from tscg.calls import Fault
from tscg.ir import Object, Tool
from tscg.validate import Validator, validator_of


def validator(schema: Any) -> Validator:
    return Validator(Tool(name="f", root=Object(), _schema=marshal.dumps(schema)))


def props(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


SPELLINGS: list[Any] = [
    pytest.param(props(a={"type": "string", "nullable": True}), {"a": None}, {"a": 1}, id="nullable"),
    pytest.param(
        props(a={"type": "string", "nullable": True, "enum": ["x"]}), {"a": "x"}, {"a": None}, id="nullable enum"
    ),
    pytest.param(props(a={"nullable": True, "enum": ["x"]}), {"a": None}, {"a": "y"}, id="nullable enum without type"),
    pytest.param(
        props(a={"anyOf": [{"type": "string"}], "nullable": True}), {"a": "x"}, {"a": None}, id="nullable beside anyOf"
    ),
    pytest.param(props(a={"minimum": 0, "exclusiveMinimum": True}), {"a": 0.5}, {"a": 0}, id="boolean exclusive bound"),
    pytest.param(props(a={"minimum": 0, "exclusiveMinimum": False}), {"a": 0}, {"a": -1}, id="false exclusive bound"),
    pytest.param(props(a={"maximum": 5, "exclusiveMaximum": 4}), {"a": 3}, {"a": 4}, id="both upper bounds"),
    pytest.param(props(a={"items": [{"type": "string"}, {}]}), {"a": ["x", 1]}, {"a": [1]}, id="items as list"),
    pytest.param(
        props(a={"items": [{}], "additionalItems": False}),
        {"a": [1]},
        {"a": [1, 2]},
        id="additionalItems beside a list",
    ),
    pytest.param(props(a={"type": "dict"}), {"a": {}}, {"a": []}, id="dict"),
    pytest.param(props(a={"type": "float"}), {"a": 3}, {"a": "3"}, id="float takes a whole number"),
    pytest.param(props(a={"type": "tuple", "items": {"type": "String"}}), {"a": ["x"]}, {"a": [1]}, id="tuple"),
    pytest.param(props(a={"type": "any", "minLength": 2}), {"a": 1}, {"a": "x"}, id="any"),
    pytest.param(props(a={"type": ["STRING", "NULL"]}), {"a": None}, {"a": 1}, id="upper case"),
    pytest.param(props(a={"type": "string", "required": True}), {}, {"a": 1}, id="stray required true"),
    pytest.param(
        {**props(a={"$ref": "#/definitions/K"}), "definitions": {"K": {"type": "string"}}},
        {"a": "x"},
        {"a": 1},
        id="definitions",
    ),
    pytest.param(
        {**props(a={"$ref": "#/definitions/a%25b~1c"}), "definitions": {"a%b/c": {"type": "string"}}},
        {"a": "x"},
        {"a": 1},
        id="escaped pointer",
    ),
    pytest.param(
        props(a={"type": "string"}, b={"$ref": "#/properties/a"}), {"b": "x"}, {"b": 1}, id="pointer into properties"
    ),
    pytest.param(
        {**props(a={"$ref": "#k"}), "$defs": {"K": {"$anchor": "k", "type": "string"}}},
        {"a": "x"},
        {"a": 1},
        id="anchor",
    ),
    pytest.param(
        props(a={"items": [{"type": "integer"}]}, b={"$ref": "#/properties/a/items/0"}),
        {"b": 1},
        {"b": "x"},
        id="pointer into a list of items",
    ),
    pytest.param(
        {**props(a={"$ref": "#"}), "additionalProperties": False}, {"a": {"a": {}}}, {"a": {"b": 1}}, id="root"
    ),
    pytest.param(
        {"$schema": "http://json-schema.org/draft-04/schema#", **props(a={"type": "integer"})},
        {"a": 1},
        {"a": "x"},
        id="draft 4",
    ),
    pytest.param(
        {"$schema": "http://nobody.example/x", **props(a={"type": "integer"})}, {"a": 1}, {"a": "x"}, id="unknown draft"
    ),
    pytest.param({"$id": "not a uri [", **props(a={"type": "integer"})}, {"a": 1}, {"a": "x"}, id="broken id"),
    pytest.param({**props(a={}), "dependencies": {"a": ["b"]}}, {"a": 1, "b": 1}, {"a": 1}, id="dependencies as names"),
    pytest.param(
        {**props(a={}), "dependencies": {"a": {"required": ["b"]}}}, {"a": 1, "b": 1}, {"a": 1}, id="dependencies"
    ),
    pytest.param(
        {
            "if": {"properties": {"k": {"const": 1}}, "required": ["k"]},
            "then": {"required": ["x"]},
            "else": {"required": ["y"]},
        },
        {"k": 1, "x": 1},
        {"k": 2, "x": 1},
        id="if then else",
    ),
    pytest.param(
        props(a={"type": "integer", "minLength": "x", "anyOf": []}), {"a": 1}, {"a": "x"}, id="wrong values dropped"
    ),
    pytest.param({"type": "object", "properties": None, "required": None}, {"a": 1}, [], id="null for keywords"),
    pytest.param(
        {
            **props(root={"$ref": "#/$defs/N"}),
            "$defs": {"N": props(kids={"type": "array", "items": {"$ref": "#/$defs/N"}})},
        },
        {"root": {"kids": [{"kids": []}]}},
        {"root": {"kids": [{"kids": [1]}]}},
        id="recursive",
    ),
    pytest.param(
        props(a={"$ref": "#/$defs/s", "minLength": 2}, s={}) | {"$defs": {"s": {"type": "string"}}},
        {"a": "xy"},
        {"a": "x"},
        id="beside $ref",
    ),
]


@pytest.mark.parametrize(("schema", "good", "bad"), SPELLINGS)
def test_spellings(schema: Any, good: Any, bad: Any) -> None:
    made = validator(schema)
    assert made.is_valid(good), made.faults(good)
    assert made.faults(good) == ()
    assert not made.is_valid(bad)
    assert made.faults(bad)


def test_the_original_stays() -> None:
    schema = props(a={"type": "String", "nullable": True, "items": [{"type": "dict"}]})
    before = repr(schema)
    made = validator(schema)
    made.is_valid({})
    assert repr(schema) == before
    assert repr(made.schema) == before


@pytest.mark.parametrize(
    ("schema", "word"),
    [
        pytest.param(props(a={"$ref": "#/$defs/Missing"}), "leads nowhere", id="dangling"),
        pytest.param(props(a={"$ref": "https://nobody.example/x.json"}), "leads nowhere", id="external"),
        pytest.param(props(a="string"), "no schema", id="no schema"),
        pytest.param(props(a={"type": "Quux"}), "unknown type", id="unknown type"),
        pytest.param(props(a={"pattern": "(("}), "no engine", id="broken pattern"),
        pytest.param({"patternProperties": {"((": {}}, "additionalProperties": False}, "no engine", id="names"),
    ],
)
def test_what_cannot_be_checked_is_said(schema: Any, word: str) -> None:
    made = validator(schema)
    assert made.is_valid({"a": 5})
    assert [notice.kind for notice in made.unchecked] == ["unchecked"]
    assert word in made.unchecked[0].message


PATTERNS = [
    ("^[a-z]+$", "abc", "ABC"),
    ("^(?<y>[0-9]{4})$", "2026", "26"),
    (r"^\p{L}+$", "été", "a1"),
    ("^(?=.*[0-9])[a-z0-9]+$", "a1", "ab"),
    (r"^(a|b)\1$", "aa", "ab"),
    ("^(a+)+$", "aaa", "a" * 40 + "!"),
    ("^(?=a)(a+)+$", "aaa", "a" * 40 + "!"),
]


@pytest.mark.parametrize(("pattern", "good", "bad"), PATTERNS, ids=[row[0] for row in PATTERNS])
def test_patterns(pattern: str, good: str, bad: str) -> None:
    made = validator(props(a={"type": "string", "pattern": pattern}))
    assert made.unchecked == ()
    assert made.is_valid({"a": good})
    assert [fault.kind for fault in made.faults({"a": bad})] == ["pattern"]


def test_big_integers_are_exact() -> None:
    made = validator(props(a={"type": "integer", "maximum": 2**70}))
    assert made.is_valid({"a": 2**70})
    assert not made.is_valid({"a": 2**70 + 1})


def test_doubling_references_stay_linear() -> None:
    levels = {f"a{i}": props(l={"$ref": f"#/$defs/a{i + 1}"}, r={"$ref": f"#/$defs/a{i + 1}"}) for i in range(30)}
    made = validator({**props(x={"$ref": "#/$defs/a0"}), "$defs": {**levels, "a30": {"type": "string"}}})
    assert made.is_valid({"x": {"l": {"r": {}}}})
    assert not made.is_valid({"x": {"l": {"r": 1}}})


FAULTS: list[Any] = [
    pytest.param(props(a={"type": "string"}), {"a": 3}, [("wrong_type", ("a",), "a string", "3")], id="type"),
    pytest.param(
        props(a={"type": ["integer", "null"]}),
        {"a": "x"},
        [("wrong_type", ("a",), "an integer or null", '"x"')],
        id="types",
    ),
    pytest.param(
        props(a={"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        {"a": "x"},
        [("wrong_type", ("a",), "an integer or null", '"x"')],
        id="union of types",
    ),
    pytest.param(props(a={"enum": ["b", 1]}), {"a": 2}, [("enum", ("a",), "b, 1", "2")], id="enum"),
    pytest.param(
        props(a={"anyOf": [{"enum": ["x", "y"]}, {"type": "null"}]}),
        {"a": "z"},
        [("enum", ("a",), "x, y", '"z"')],
        id="enum or null",
    ),
    pytest.param(props(a={"const": "k"}), {"a": "z"}, [("const", ("a",), '"k"', '"z"')], id="const"),
    pytest.param(props(a={"minimum": 1}), {"a": 0}, [("minimum", ("a",), "at least 1", "0")], id="minimum"),
    pytest.param(props(a={"exclusiveMaximum": 1}), {"a": 1}, [("maximum", ("a",), "less than 1", "1")], id="maximum"),
    pytest.param(
        props(a={"multipleOf": 5}), {"a": 7}, [("multiple_of", ("a",), "a multiple of 5", "7")], id="multiple"
    ),
    pytest.param(
        props(a={"minLength": 2}), {"a": ""}, [("length", ("a",), "at least 2 characters", '""')], id="length"
    ),
    pytest.param(props(a={"maxItems": 1}), {"a": [1, 2]}, [("items", ("a",), "at most 1 items", "[1,2]")], id="items"),
    pytest.param(
        props(a={"uniqueItems": True}), {"a": [1, 1]}, [("unique", ("a",), "no item twice", "[1,1]")], id="unique"
    ),
    pytest.param(
        props(a={"not": {"type": "string"}}),
        {"a": "x"},
        [("forbidden", ("a",), "anything but a string", '"x"')],
        id="not",
    ),
    pytest.param(props(a=False), {"a": 1}, [("forbidden", ("a",), "nothing here", "1")], id="false"),
    pytest.param(
        {**props(a={}), "additionalProperties": False},
        {"b": 1, "c": 2},
        [("unexpected_argument", ("b",), "a", '"b"'), ("unexpected_argument", ("c",), "a", '"c"')],
        id="closed",
    ),
    pytest.param(
        {**props(a={}, b={}), "required": ["a", "b"]},
        {},
        [("missing_required", (), "a, b", "")],
        id="one fault per object",
    ),
    pytest.param(
        props(o={"type": "object", "required": ["k"]}),
        {"o": {}},
        [("missing_required", ("o", "k"), "k", "")],
        id="nested",
    ),
    pytest.param(
        {**props(a={}), "dependentRequired": {"a": ["b"]}},
        {"a": 1},
        [("missing_required", ("b",), "b", "because a is given")],
        id="dependent",
    ),
    pytest.param(
        {"if": {"properties": {"k": {"const": 1}}}, "then": {"required": ["x"]}},
        {"k": 1},
        [("missing_required", ("x",), "x", "when k is 1")],
        id="then",
    ),
    pytest.param(
        {**props(a={}, b={}), "oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
        {"a": 1, "b": 1},
        [("one_of", (), "exactly one of a, b", '{"a":1,"b":1}')],
        id="exactly one",
    ),
    pytest.param(
        props(
            s={
                "anyOf": [
                    {
                        "type": "object",
                        "properties": {"t": {"const": "c"}, "r": {"type": "number"}},
                        "required": ["t", "r"],
                    },
                    {
                        "type": "object",
                        "properties": {"t": {"const": "q"}, "w": {"type": "number"}},
                        "required": ["t", "w"],
                    },
                ]
            }
        ),
        {"s": {"t": "q", "w": "x"}},
        [("wrong_type", ("s", "w"), "a number", '"x"')],
        id="the tagged branch",
    ),
    pytest.param(
        props(
            s={
                "anyOf": [
                    {"type": "object", "properties": {"c": {}}, "required": ["a", "b"]},
                    {"type": "object", "required": ["a"]},
                ]
            }
        ),
        {"s": {}},
        [("missing_required", ("s", "a"), "a", "")],
        id="the branch with fewest faults",
    ),
    pytest.param(
        props(s={"anyOf": [{"type": "string", "minLength": 3}, {"type": "string", "pattern": "^x"}]}),
        {"s": "a"},
        [("no_variant", ("s",), "a string", '"a"')],
        id="no branch stands out",
    ),
    pytest.param(
        {**props(z={"type": "string"}, a={"type": "string"})},
        {"a": 1, "z": 2},
        [("wrong_type", ("z",), "a string", "2"), ("wrong_type", ("a",), "a string", "1")],
        id="order of the schema",
    ),
]


@pytest.mark.parametrize(("schema", "arguments", "wanted"), FAULTS)
def test_faults(schema: Any, arguments: Any, wanted: list[Any]) -> None:
    found = validator(schema).faults(arguments)
    assert [(fault.kind, fault.path, fault.expected, fault.found) for fault in found] == wanted


def test_hints_name_likely_keys() -> None:
    made = validator({**props(title={"type": "string"}, limit={"type": "integer"}), "required": ["title"]})
    fault = made.faults({"name": "x"})[0]
    assert fault.hint == 'You sent "name": if that is meant, call it "title".'
    assert made.faults({"zzz": 1})[0].hint == ""
    assert made.faults({})[0].hint == ""


def test_nearest_member_is_a_hint() -> None:
    faults = validator(props(a={"enum": ["open", "closed"]})).faults({"a": "opened"})
    assert faults == (
        Fault(kind="enum", path=("a",), expected="open, closed", found='"opened"', hint="Nearest: open."),
    )


def test_long_values_and_enums_are_cut() -> None:
    made = validator(props(a={"enum": [f"member{i}" for i in range(100)]}))
    fault = made.faults({"a": "member7" + "x" * 500})[0]
    assert len(fault.found) <= 80
    assert "member7" in fault.expected
    assert fault.expected.endswith("and 92 more")


def test_one_validator_for_equal_schemas_and_none_before_use() -> None:
    one, two = Catalog.from_tools([tool({"a": {"type": "integer"}}, "x"), tool({"a": {"type": "integer"}}, "y")])
    assert validator_of(one) is validator_of(two)
    fresh = Validator(one)
    assert fresh._engine is None
    fresh.is_valid({})
    assert fresh._engine is not None


def test_pickled_without_its_engine() -> None:
    made = validator(props(a={"type": "integer"}))
    assert made.is_valid({"a": 1})
    again = pickle.loads(pickle.dumps(made))
    assert again._engine is None
    assert again.is_valid({"a": 1})
    assert not again.is_valid({"a": "x"})


def test_threads_share_one() -> None:
    made = validator(props(a={"type": "integer", "minimum": 0}))
    found: list[tuple[bool, bool]] = []

    def check() -> None:
        found.extend((made.is_valid({"a": i}), made.is_valid({"a": -1 - i})) for i in range(200))

    workers = [threading.Thread(target=check) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert found == [(True, False)] * 1600


WORDS = [
    "type",
    "properties",
    "items",
    "required",
    "enum",
    "const",
    "anyOf",
    "oneOf",
    "allOf",
    "not",
    "$ref",
    "minimum",
    "exclusiveMinimum",
    "pattern",
    "patternProperties",
    "additionalProperties",
    "nullable",
    "prefixItems",
    "minLength",
    "$defs",
    "definitions",
    "if",
    "then",
    "dependencies",
    "uniqueItems",
    "format",
    "$id",
    "$anchor",
]
LEAVES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["string", "integer", "object", "array", "null", "#", "#/$defs/a", "#/properties/a", "((", "^a", "x"]
    ),
)
ANY_SCHEMA = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from([*WORDS, "a", "b"]), inner, max_size=4)
    ),
    max_leaves=20,
)


@given(
    st.dictionaries(st.sampled_from(WORDS), ANY_SCHEMA, max_size=5),
    st.dictionaries(st.sampled_from(["a", "b"]), LEAVES),
)
def test_no_schema_breaks_the_validator(schema: dict[str, Any], arguments: dict[str, Any]) -> None:
    made = validator(schema)
    assert made.is_valid(arguments) == (made.faults(arguments) == ())
