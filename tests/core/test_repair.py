"""Repairs: each with its proof, its negative controls, and its switch."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.decode_samples import kinds, resolved, surface, tool
from tscg.calls import Call, CallError
from tscg.decoding import REPAIR_KINDS, decoding_of
from tscg.resolve import resolve

INT = {"type": "integer"}
NUM = {"type": "number"}
STR = {"type": "string"}
BOOL = {"type": "boolean"}
INTS = {"type": "array", "items": INT}
OR_NULL = {"anyOf": [{"type": "array", "items": STR}, {"type": "null"}]}
OBJECT = {"type": "object", "properties": {"x": INT}}
REGION = {"enum": ["AP", "EU", "NA"]}

# What is declared, what came, what is made of it, by which repair.
REPAIRS: list[Any] = [
    pytest.param({"a": INT}, {"a": "673"}, {"a": 673}, "number_text", id="integer"),
    pytest.param({"a": NUM}, {"a": "1.50"}, {"a": 1.5}, "number_text", id="number"),
    pytest.param(
        {"a": INT}, {"a": "12345678901234567890"}, {"a": 12345678901234567890}, "number_text", id="big integer"
    ),
    pytest.param({"a": INTS}, {"a": ["1", 2]}, {"a": [1, 2]}, "number_text", id="in a list"),
    pytest.param({"a": OBJECT}, {"a": {"x": "1"}}, {"a": {"x": 1}}, "number_text", id="in an object"),
    pytest.param(
        {"a": {"anyOf": [INT, {"enum": ["auto"]}]}}, {"a": "5"}, {"a": 5}, "number_text", id="number or a word"
    ),
    pytest.param({"a": BOOL}, {"a": "true"}, {"a": True}, "bool_text", id="boolean"),
    pytest.param({"a": OR_NULL}, {"a": "null"}, {"a": None}, "null_text", id="the word null"),
    pytest.param({"a": INT}, {"a": "null"}, {}, "null_text", id="the word null for nothing"),
    pytest.param({"a": INT}, {"a": None}, {}, "null_dropped", id="null"),
    pytest.param({"a": OBJECT}, {"a": {"x": None}}, {"a": {}}, "null_dropped", id="null inside"),
    pytest.param({"a": INT}, {"a": ""}, {}, "empty_dropped", id="empty text"),
    pytest.param({"a": OR_NULL}, {"a": '["p","q"]'}, {"a": ["p", "q"]}, "json_text", id="list as text"),
    pytest.param({"a": OBJECT}, {"a": '{"x": 1}'}, {"a": {"x": 1}}, "json_text", id="object as text"),
    pytest.param({"a": REGION}, {"a": "eu"}, {"a": "EU"}, "enum_case", id="case"),
    pytest.param({"a": REGION}, {"a": " EU\n"}, {"a": "EU"}, "enum_case", id="blanks"),
    pytest.param({"a": {"enum": [7, 14, 30]}}, {"a": "14"}, {"a": 14}, "enum_type", id="member as text"),
    pytest.param({"a": {"enum": ["x", True]}}, {"a": "true"}, {"a": True}, "enum_type", id="boolean member as text"),
    pytest.param({"a": INT}, {"a": 3.0}, {"a": 3}, "integral_float", id="whole float"),
    pytest.param({"a": INTS}, {"a": [1, 2.0]}, {"a": [1, 2]}, "integral_float", id="whole float in a list"),
    pytest.param({"a": INT}, {"properties": {"a": 1}}, {"a": 1}, "wrapper_removed", id="properties"),
    pytest.param({"a": INT}, {"type": "object", "properties": {"a": 1}}, {"a": 1}, "wrapper_removed", id="typed"),
    pytest.param({"a": INT}, {"f": {"a": 1}}, {"a": 1}, "wrapper_removed", id="the tool's name"),
    pytest.param({"a": INT}, '"{\\"a\\": 1}"', {"a": 1}, "double_encoded", id="encoded twice"),
    pytest.param({"a": INT}, '[{"a": 1}]', {"a": 1}, "list_unwrapped", id="object in a list"),
    pytest.param({"a": STR}, '{"a": "x\ny"}', {"a": "x\ny"}, "control_char", id="raw line break"),
    pytest.param({"a": STR}, r'{"a": "\d+\."}', {"a": r"\d+\."}, "bad_escape", id="escape of nothing"),
    pytest.param({"a": INT}, '{"a": 1,}', {"a": 1}, "trailing_comma", id="trailing comma"),
    pytest.param({"a": INT}, '{"a": 1 /* one */}', {"a": 1}, "comment", id="comment"),
    pytest.param({"a": INT}, "{a: 1}", {"a": 1}, "unquoted_key", id="bare key"),
    pytest.param({"a": STR}, "{'a': 'it\\'s'}", {"a": "it's"}, "single_quotes", id="single quotes"),
    pytest.param({"a": BOOL}, '{"a": True}', {"a": True}, "python_word", id="Python's word"),
    pytest.param({"a": {"type": "object"}}, '{"a": {1: 2}}', {"a": {"1": 2}}, "int_key", id="number as key"),
    pytest.param({"a": INT, "b": INT}, '{"a": 1 "b": 2}', {"a": 1, "b": 2}, "punctuation", id="comma missing"),
]


def required(properties: dict[str, Any], wanted: dict[str, Any]) -> list[str]:
    """Wrappers are told by what is missing."""
    return list(properties) if wanted else []


@pytest.mark.parametrize(("properties", "given", "wanted", "kind"), REPAIRS)
def test_repaired(properties: dict[str, Any], given: Any, wanted: dict[str, Any], kind: str) -> None:
    item = resolved(properties, given, required=required(properties, wanted))
    assert isinstance(item, Call), item
    assert item.arguments == wanted
    assert repr(item.arguments) == repr(wanted)  # 1 is not 1.0 and not True
    assert set(kinds(item)) == {kind}
    assert kind in REPAIR_KINDS


@pytest.mark.parametrize(("properties", "given", "wanted", "kind"), REPAIRS)
def test_switched_off(properties: dict[str, Any], given: Any, wanted: dict[str, Any], kind: str) -> None:
    for options in ({kind: False}, {"decoding": decoding_of("strict")}):
        if kind == "integral_float":
            item = resolved(properties, given, options)
            assert isinstance(item, Call)  # a whole float is valid as it stands
            assert repr(item.arguments) == repr(given)
            continue
        item = resolved(properties, given, options, required=required(properties, wanted))
        if isinstance(item, Call) and kind == "enum_type" and "decoding" not in options:
            # The text of a number or of a boolean is two repairs at once: either switch leaves the other.
            assert kinds(item) in (["number_text"], ["bool_text"])
            continue
        assert isinstance(item, CallError), item


VALID: list[Any] = [
    pytest.param({"a": STR}, {"a": '{"x":1}'}, id="JSON text for a string"),
    pytest.param({"a": STR}, {"a": "5"}, id="digits for a string"),
    pytest.param({"a": {"type": ["string", "integer"]}}, {"a": "5"}, id="digits for a string or a number"),
    pytest.param({"a": STR}, {"a": ""}, id="empty text for a string"),
    pytest.param({"a": STR}, {"a": "null"}, id="the word null for a string"),
    pytest.param({"a": {"type": ["integer", "null"]}}, {"a": None}, id="null for a nullable"),
    pytest.param({"a": NUM}, {"a": 3.0}, id="a float for a number"),
    pytest.param({"a": {"enum": ["m", "M"]}}, {"a": "m"}, id="members that differ by case"),
    pytest.param({"a": {"enum": ["1", 1]}}, {"a": "1"}, id="a member that is text"),
    pytest.param({"args": {"type": "object"}}, {"args": {"x": 1}}, id="a parameter with a wrapper's name"),
    pytest.param({"properties": OBJECT}, {"properties": {"x": 1}}, id="a parameter called properties"),
    pytest.param({}, {"args": {"x": 1}}, id="an open tool"),
    pytest.param({"a": {"type": "array"}}, {"a": [{"b": "1"}]}, id="free values"),
    pytest.param({"a": STR}, {"a": "  padded \u202e\u200b\x00 "}, id="odd characters"),
]


@pytest.mark.parametrize(("properties", "given"), VALID)
def test_valid_values_are_never_touched(properties: dict[str, Any], given: dict[str, Any]) -> None:
    item = resolved(properties, given)
    assert isinstance(item, Call), item
    assert repr(item.arguments) == repr(given)
    assert item.repairs == ()


REFUSED: list[Any] = [
    pytest.param({"a": INT}, {"a": "1,000"}, "wrong_type", id="thousands"),
    pytest.param({"a": INT}, {"a": "0x10"}, "wrong_type", id="hexadecimal"),
    pytest.param({"a": INT}, {"a": "10abc"}, "wrong_type", id="digits and letters"),
    pytest.param({"a": INT}, {"a": "1.5"}, "wrong_type", id="a fraction for an integer"),
    pytest.param({"a": INT}, {"a": " 1"}, "wrong_type", id="a blank"),
    pytest.param({"a": INT}, {"a": "1e999"}, "wrong_type", id="infinity"),
    pytest.param({"a": BOOL}, {"a": "yes"}, "wrong_type", id="yes"),
    pytest.param({"a": BOOL}, {"a": "True"}, "wrong_type", id="True as text"),
    pytest.param({"a": BOOL}, {"a": 1}, "wrong_type", id="one for true"),
    pytest.param({"a": STR}, {"a": 5}, "wrong_type", id="number for a string"),
    pytest.param({"a": {"type": "array", "items": STR}}, {"a": "a,b"}, "wrong_type", id="never split"),
    pytest.param({"a": {"type": "array", "items": STR}}, {"a": "a"}, "wrong_type", id="scalar for a list"),
    pytest.param({"a": {"type": "array", "items": OBJECT}}, {"a": {"x": 1}}, "wrong_type", id="object for a list"),
    pytest.param({"a": INTS}, {"a": '["x"]'}, "wrong_type", id="text of a list that does not fit"),
    pytest.param({"a": REGION}, {"a": "europe"}, "enum", id="a likely member"),
    pytest.param({"a": {"enum": ["m", "M"]}}, {"a": "m "}, "enum", id="two members fit"),
    pytest.param({"a": {"enum": ["1.10"]}}, {"a": 1.1}, "enum", id="number for a member that is text"),
]


@pytest.mark.parametrize(("properties", "given", "kind"), REFUSED)
def test_not_guessed(properties: dict[str, Any], given: dict[str, Any], kind: str) -> None:
    item = resolved(properties, given, required=["a"])
    assert isinstance(item, CallError), item
    assert kinds(item) == [kind]


@pytest.mark.parametrize("value", [None, "", "null"])
def test_required_ones_are_never_dropped(value: Any) -> None:
    item = resolved({"a": INT}, {"a": value}, required=["a"])
    assert isinstance(item, CallError)
    assert item.path == ("a",)


def test_nothing_is_repaired_if_the_call_stays_invalid() -> None:
    item = resolved({"a": INT, "b": BOOL}, {"a": "5", "b": "yes"})
    assert isinstance(item, CallError)
    assert [(fault.path, fault.found) for fault in item.faults] == [(("a",), '"5"'), (("b",), '"yes"')]


def test_a_wrapper_with_an_invalid_inside_stays() -> None:
    item = resolved({"a": INT}, {"arguments": {"b": 1}}, required=["a"])
    assert isinstance(item, CallError)
    assert item.kind == "missing_required"


def test_closed_tools_have_wrappers_too() -> None:
    item = resolved({"a": INT}, {"kwargs": {"a": 1}}, additionalProperties=False)
    assert isinstance(item, Call)
    assert item.arguments == {"a": 1}


def test_at_most_so_many_repairs() -> None:
    given = {"a": [str(i) for i in range(70)]}
    assert isinstance(resolved({"a": INTS}, given), CallError)
    assert isinstance(resolved({"a": INTS}, given, {"max_repairs": 70}), Call)


def test_arguments_given_are_not_changed() -> None:
    given = {"a": ["1"], "b": {"x": "2"}}
    item = resolved({"a": INTS, "b": OBJECT}, given)
    assert isinstance(item, Call)
    assert given == {"a": ["1"], "b": {"x": "2"}}
    free: dict[str, Any] = {"a": [{"b": []}]}
    item = resolved({"a": {"type": "array"}}, free)
    item.arguments["a"][0]["b"].append(1)
    assert free == {"a": [{"b": []}]}


# --- options --------------------------------------------------------------------------------------------------------

OPTIONS: list[Any] = [
    pytest.param(
        {"a": STR}, '{"a": 1.50}', {"number_to_text": True}, {"a": "1.50"}, "number_to_text", id="digits of the source"
    ),
    pytest.param(
        {"a": STR}, '{"a": 12}', {"number_to_text": True}, {"a": "12"}, "number_to_text", id="integer to text"
    ),
    pytest.param({"a": INTS}, {"a": 1}, {"wrap_scalars": True}, {"a": [1]}, "scalar_wrapped", id="scalar to list"),
    pytest.param({"a": INT}, {"a": 1, "z": 2}, {"extras": "drop"}, {"a": 1}, "extra_dropped", id="extras dropped"),
    pytest.param({"a": {**INT, "default": 7}}, {}, {"fill_defaults": True}, {"a": 7}, "default_filled", id="defaults"),
]


@pytest.mark.parametrize(("properties", "given", "options", "wanted", "kind"), OPTIONS)
def test_options(properties: dict[str, Any], given: Any, options: dict[str, Any], wanted: Any, kind: str) -> None:
    item = resolved(properties, given, options)
    assert isinstance(item, Call), item
    assert item.arguments == wanted
    assert kinds(item) == [kind]
    plain = resolved(properties, given)
    assert not (isinstance(plain, Call) and plain.arguments == wanted)


def test_extras_of_a_closed_tool() -> None:
    made = resolved({"a": INT}, {"a": 1, "z": 2}, {"extras": "drop"}, additionalProperties=False)
    assert isinstance(made, Call)
    assert made.arguments == {"a": 1}
    refused = resolved({"a": INT}, {"a": 1, "z": 2}, additionalProperties=False)
    assert isinstance(refused, CallError)
    assert refused.path == ("z",)
    assert isinstance(resolved({"a": INT}, {"a": 1, "z": 2}, {"extras": "error"}), CallError)


def test_extras_of_an_open_tool_pass_with_a_warning() -> None:
    item = resolved({"a": INT}, {"a": 1, "z": 2})
    assert isinstance(item, Call)
    assert [(notice.kind, notice.path) for notice in item.warnings] == [("extra_argument", ("z",))]
    typed = resolved({"a": INT}, {"a": 1, "z": 2}, additionalProperties={"type": "integer"})
    assert isinstance(typed, Call)
    assert typed.warnings == ()


def test_formats_are_checked_on_request() -> None:
    properties = {"a": {"type": "string", "format": "date"}, "b": {"type": "string", "format": "uri"}}
    given = {"a": "tomorrow", "b": "not a uri"}
    assert isinstance(resolved(properties, given), Call)
    item = resolved(properties, given, {"formats": ("date",)})
    assert isinstance(item, CallError)
    assert [(fault.kind, fault.path) for fault in item.faults] == [("format", ("a",))]


def test_unchecked_keywords_warn_or_refuse() -> None:
    properties = {"a": {"type": "string", "pattern": "(("}}
    item = resolved(properties, {"a": "x"})
    assert isinstance(item, Call)
    assert [notice.kind for notice in item.warnings] == ["unchecked"]
    assert isinstance(resolved(properties, {"a": "x"}, {"unchecked": "error"}), CallError)


def test_strict_mode_nulls_mean_left_out() -> None:
    properties = {"a": STR, "b": {"type": ["integer", "null"]}, "o": {"type": "object", "properties": {"c": STR}}}
    made = surface([tool(properties, required=["a"])], "native", strict=frozenset({"f"}))
    item = resolve(made, "f", {"a": "x", "b": None, "o": {"c": None}})
    assert isinstance(item, Call)
    assert item.arguments == {"a": "x", "o": {}}
    assert kinds(item) == ["unstrict", "unstrict"]
    off = surface([tool(properties, required=["a"])], "native", strict=frozenset({"f"}), unstrict=False)
    item = resolve(off, "f", {"a": "x", "b": None})
    assert isinstance(item, Call)
    assert item.arguments == {"a": "x", "b": None}
