"""What breaks a call: a table of changes, and the law that what is called harmless is."""

from __future__ import annotations

import copy
import random
from typing import Any

import pytest
from hypothesis import given

from tests.core.made_values import valid_arguments
from tests.strategies import tools
from tscg.breaking import breaking
from tscg.ir import Catalog, Tool
from tscg.validate import validator_of


def tool(schema: dict[str, Any]) -> Tool:
    return Catalog.from_tools([{"name": "t", "inputSchema": schema}], on_error="passthrough")[0]


def of(value: Any, **more: Any) -> Tool:
    """A tool with one parameter of a type."""
    return tool({"type": "object", "properties": {"x": value}, **more})


TEXT, NUMBER, INTEGER = {"type": "string"}, {"type": "number"}, {"type": "integer"}
AB, ABC = {"enum": ["a", "b"]}, {"enum": ["a", "b", "c"]}
OBJECT = {"type": "object", "properties": {"a": TEXT}, "required": ["a"]}
NODE = {"type": "object", "properties": {"v": TEXT, "next": {"$ref": "#/$defs/N"}}}
NODES = {"N": NODE}
SHORTER = {
    "N": {"type": "object", "properties": {"v": {"type": "string", "maxLength": 3}, "next": {"$ref": "#/$defs/N"}}}
}

#: name, type before, type after, and whether it breaks; the other way round is the last column.
CHANGES: list[tuple[str, Any, Any, bool, bool]] = [
    ("a description", {**TEXT, "description": "A."}, {**TEXT, "description": "B."}, False, False),
    ("a default", {**TEXT, "default": "a"}, {**TEXT, "default": "b"}, False, False),
    ("an integer becomes a number", INTEGER, NUMBER, False, True),
    ("a text becomes anything", TEXT, {}, False, True),
    ("a text becomes null too", TEXT, {"type": ["string", "null"]}, False, True),
    ("a longer enum", AB, ABC, False, True),
    ("an enum becomes a text", AB, TEXT, False, True),
    ("an enum of numbers becomes bounds", {"enum": [1, 5]}, {"type": "integer", "minimum": 1, "maximum": 5}, False, True),
    ("a higher minimum", {**INTEGER, "minimum": 1}, {**INTEGER, "minimum": 2}, True, False),
    ("an open bound", {**NUMBER, "minimum": 1}, {**NUMBER, "exclusiveMinimum": 1}, True, False),
    ("a maximum", INTEGER, {**INTEGER, "maximum": 9}, True, False),
    ("a step", NUMBER, {**NUMBER, "multipleOf": 2}, True, False),
    ("a length", TEXT, {**TEXT, "maxLength": 9}, True, False),
    ("a pattern", TEXT, {**TEXT, "pattern": "^a"}, True, False),
    ("another pattern", {**TEXT, "pattern": "^b"}, {**TEXT, "pattern": "^a"}, True, True),
    ("a format", TEXT, {**TEXT, "format": "uuid"}, True, False),
    ("another kind", TEXT, {"type": "boolean"}, True, True),
    ("items", {"type": "array", "items": INTEGER}, {"type": "array", "items": NUMBER}, False, True),
    ("fewer items", {"type": "array", "maxItems": 9}, {"type": "array", "maxItems": 5}, True, False),
    ("unique items", {"type": "array"}, {"type": "array", "uniqueItems": True}, True, False),
    ("a first item", {"type": "array", "prefixItems": [TEXT]}, {"type": "array", "prefixItems": [ABC]}, True, False),
    ("no more items", {"type": "array", "prefixItems": [TEXT]}, {"type": "array", "prefixItems": [TEXT], "items": False}, True, False),
    ("an optional member more", OBJECT, {**OBJECT, "properties": {"a": TEXT, "b": TEXT}}, False, True),
    ("a required member more", OBJECT, {**OBJECT, "properties": {"a": TEXT, "b": TEXT}, "required": ["a", "b"]}, True, True),
    ("nothing is required", OBJECT, {**OBJECT, "required": []}, False, True),
    ("closed", OBJECT, {**OBJECT, "additionalProperties": False}, False, False),
    ("typed rest", {"type": "object", "additionalProperties": INTEGER}, {"type": "object", "additionalProperties": TEXT}, True, True),
    ("a wider rest", {"type": "object", "additionalProperties": INTEGER}, {"type": "object", "additionalProperties": NUMBER}, False, True),
    ("members counted", OBJECT, {**OBJECT, "maxProperties": 3}, True, False),
    ("a branch more", {"anyOf": [TEXT, INTEGER]}, {"anyOf": [TEXT, INTEGER, {"type": "null"}]}, False, True),
    ("exactly one of more", {"oneOf": [OBJECT, AB]}, {"oneOf": [OBJECT, AB, TEXT]}, True, True),
    ("all of more", {"allOf": [OBJECT]}, {"allOf": [OBJECT, {"required": ["b"]}]}, True, False),
    ("a keyword that is kept as it stands", {"not": TEXT}, {"not": INTEGER}, True, True),
    ("what nothing can meet", False, TEXT, False, True),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "there", "back"), [row[1:] for row in CHANGES], ids=[row[0] for row in CHANGES])
def test_a_change_breaks_or_does_not(old: Any, new: Any, there: bool, back: bool) -> None:
    assert breaking(of(old), of(new)) is there
    assert breaking(of(new), of(old)) is back


def test_a_parameter_that_is_gone_breaks_though_undeclared_names_are_let_through() -> None:
    assert breaking(of(TEXT), tool({"type": "object", "properties": {}}))
    assert not breaking(tool({"type": "object", "properties": {}}), of(TEXT))
    assert breaking(tool({"type": "object", "properties": {}}), of(TEXT, required=["x"]))


def test_recursive_types_end() -> None:
    old, new = (of({"$ref": "#/$defs/N"}, **{"$defs": defs}) for defs in (NODES, SHORTER))
    assert breaking(old, new)
    assert not breaking(new, old)
    assert not breaking(old, old)


def test_what_relied_on_a_pair_that_did_not_hold_is_judged_again() -> None:
    """The inner pair holds only as long as the outer one is taken to hold."""
    narrow = {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}, "v": {"type": "string", "maxLength": 3}}}
    wide = {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}, "v": TEXT}}}
    old = of({"$ref": "#/$defs/N"}, **{"$defs": wide})
    new = of(
        {
            "anyOf": [
                {"$ref": "#/$defs/N"},
                {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}, "v": TEXT}},
            ]
        },
        **{"$defs": {"N": narrow}},
    )
    assert breaking(old, new)


@given(tools)
def test_the_same_breaks_nothing(raw: dict[str, Any]) -> None:
    (one,) = Catalog.from_tools([raw], on_error="passthrough")
    (two,) = Catalog.from_tools([copy.deepcopy(raw)], on_error="passthrough")
    assert not breaking(one, two)


MUTATIONS = (
    lambda rng, schema: schema["properties"].pop(rng.choice([*schema["properties"]])),
    lambda rng, schema: schema["properties"].update(new_one={"type": "boolean"}),
    lambda rng, schema: schema.setdefault("required", []).append(rng.choice([*schema["properties"]])),
    lambda rng, schema: schema.update(required=[]),
    lambda rng, schema: schema.update(additionalProperties=False),
    lambda rng, schema: schema["properties"].update({rng.choice([*schema["properties"]]): {"type": "string", "maxLength": 1}}),
    lambda rng, schema: schema["properties"].update({rng.choice([*schema["properties"]]): {}}),
    lambda rng, schema: schema["properties"].update({rng.choice([*schema["properties"]]): {"type": ["string", "null", "object"]}}),
    lambda rng, schema: schema["properties"].update({rng.choice([*schema["properties"]]): {"type": "integer", "minimum": 0}}),
)  # fmt: skip


def test_what_is_called_harmless_takes_every_call_of_before(shared_catalogs: dict[str, list[dict[str, Any]]]) -> None:
    rng = random.Random(5)
    harmless = calls = 0
    for raw in (one for raws in shared_catalogs.values() for one in raws[:12]):
        old = Catalog.from_tools([raw])[0]
        schema = old.schema
        if not schema.get("properties"):
            continue
        rng.choice(MUTATIONS)(rng, schema)
        new = tool(schema)
        if not breaking(old, new):
            is_valid = validator_of(new, ()).is_valid
            made = valid_arguments(old, most=4)
            assert all(is_valid(arguments) for arguments in made), (old.name, schema)
            harmless, calls = harmless + 1, calls + len(made)
    assert harmless > 40
    assert calls > 100
