"""Native mode: what is sent of each tool, that nothing of it is lost, and that it says what the original says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings

import tscg
from tests.conftest import read_tools, shared_catalog_paths
from tests.core.made_values import valid_arguments
from tests.strategies import catalogs
from tscg.costs import costs_of
from tscg.ir import Catalog, Object
from tscg.language.spelling import DEFAULT
from tscg.modes import native
from tscg.modes.native import object_root
from tscg.modes.overflow import continued
from tscg.record import replace

FEW = settings(max_examples=max(settings().max_examples // 4, 1))
EVERY = pytest.mark.parametrize("path", shared_catalog_paths(), ids=lambda path: path.stem)


def wire(schema: dict[str, Any], profile: str = "lossless", **more: Any) -> dict[str, Any]:
    (tool,) = tscg.compile(
        [{"name": "f", "description": "Does it.", "inputSchema": schema, **more}], mode="native", profile=profile
    ).wire_tools
    return tool


# --- what is said -------------------------------------------------------------------------------------------------------------

LONG = " In the words of the documentation of this tool, which is long enough to be worth a shorter form."
NOTED: dict[str, Any] = {
    "type": "object",
    "description": "Arguments of the search.",
    "properties": {
        "tags": {"type": "array", "items": {"type": "string", "description": f"One tag each.{LONG}"}},
        "where": {
            "anyOf": [{"type": "string", "description": f"A path.{LONG}"}, {"type": "integer", "description": f"A line.{LONG}"}]
        },
        "labels": {"type": "object", "additionalProperties": {"type": "string", "description": f"A value.{LONG}"}},
        "size": {"type": "integer", "description": f"In bytes.{LONG}", "examples": [512, 1024], "deprecated": True, "default": 7},
        "node": {"$ref": "#/$defs/Node"},
    },
    "$defs": {"Node": {"type": "object", "description": f"A node.{LONG}", "properties": {"next": {"$ref": "#/$defs/Node"}}}},
}  # fmt: skip


def test_prose_of_every_place_is_in_the_description() -> None:
    (tool,) = Catalog.from_tools([{"name": "f", "description": "Does it.", "inputSchema": NOTED}])
    head = native.signature(tool, DEFAULT, costs_of("o200k_base"))
    assert native.describe(tool, head, DEFAULT).split("\n") == [
        f"{head.partition(chr(10))[0]} Does it.",
        "@Node:{next?:@Node}",
        "Arguments of the search.",
        f".tags[] One tag each.{LONG}",
        f".where|1 A path.{LONG}",
        f".where|2 A line.{LONG}",
        f".labels* A value.{LONG}",
        f".size In bytes.{LONG} e.g. 512, 1024 (deprecated)",
        f".Node A node.{LONG}",
    ]
    assert head.startswith("(tags?:str[] where? labels?:obj size? node?:@Node")
    assert wire(NOTED, "signature")["parameters"]["properties"]["size"] == {"type": "integer", "default": 7}


def test_c14_parameters_named_like_keywords_survive() -> None:
    names = [
        "description",
        "title",
        "default",
        "type",
        "properties",
        "$ref",
        "examples",
        "$comment",
        "required",
        "items",
    ]
    inner: dict[str, Any] = {
        "type": "object",
        "properties": {name: {"type": "string", "description": f"About it.{LONG}"} for name in names},
    }
    schema = {**inner, "properties": {**inner["properties"], "deep": inner}, "required": names}
    for profile in ("brief", "signature"):
        sent = wire(schema, profile)["parameters"]
        assert list(sent["properties"]) == [*names, "deep"]
        assert sent["required"] == names
        assert list(sent["properties"]["deep"]["properties"]) == names
        assert all(node == {"type": "string"} for node in sent["properties"]["deep"]["properties"].values())


def test_c13_prose_goes_below_types_and_root_combinators_too() -> None:
    said = {"description": f"Words.{LONG}", "title": "Title", "examples": ["e"], "$comment": "c"}
    schema = {
        "type": "object", "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"node": {"$ref": "#/$defs/N"}, "pair": {"type": "array", "prefixItems": [{"type": "string", **said}]}},
        "$defs": {"N": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}, "t": {"type": "string", **said}}, **said}},
        "if": {"properties": {"pair": {"minItems": 1, **said}}}, "not": {"required": ["x"], **said},
        "patternProperties": {"^x-": {"type": "string", **said}},
    }  # fmt: skip
    tool = wire(schema, "signature")
    text = json.dumps(tool["parameters"])
    assert "patternProperties" in text  # of a rule that the walker keeps as it stands
    assert f".^x- Words.{LONG}" in tool["description"]
    assert not [word for word in ("Words", "Title", "examples", "comment", "$schema") if word in text], text


ROOTS: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "one of": (
        {"type": "object", "properties": {"file_id": {"type": "string"}, "url": {"type": "string"}}, "oneOf": [{"required": ["file_id"]}, {"required": ["url"]}]},
        "Exactly one of: file_id, url.", [],
    ),
    "all of": ({"allOf": [{"type": "object", "properties": {"a": {"type": "integer"}}}, {"required": ["a"]}]}, "", ["a"]),
    "any of two objects": (
        {"anyOf": [{"type": "object", "properties": {"id": {"type": "string"}, "k": {"type": "integer"}}, "required": ["id", "k"]},
                   {"type": "object", "properties": {"id": {"type": "string"}, "q": {"type": "string"}}, "required": ["id", "q"]}]},
        "At least one of: k, q.", ["id"],
    ),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "rule", "required"), ROOTS.values(), ids=ROOTS)
def test_a_root_that_providers_refuse_is_an_object_with_its_rule_in_words(
    schema: dict[str, Any], rule: str, required: list[str]
) -> None:
    tool = wire(schema)
    assert tool["parameters"]["type"] == "object"
    assert not {"anyOf", "oneOf", "allOf"} & tool["parameters"].keys()
    assert rule in tool["description"]
    assert tool["parameters"].get("required", []) == required


def test_mn_only_required_names_are_not_shown_as_no_arguments() -> None:
    tool = wire({"allOf": [{"required": ["id"]}]})
    assert "id" in tool["description"]
    assert tool["parameters"]["required"] == ["id"]


NULLABLE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "typed": ({"type": ["integer", "null"], "minimum": 1, "default": 2}, {"type": ["integer", "null"], "minimum": 1, "default": 2}),
    "union": ({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]}, {"type": ["array", "null"], "items": {"type": "string"}}),
    "enum": ({"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, {"enum": ["a", None]}),
    "a rule that null must not meet": ({"anyOf": [{"type": "string", "not": {"const": "x"}}, {"type": "null"}]},
                                       {"anyOf": [{"type": "string", "not": {"const": "x"}}, {"type": "null"}]}),
}  # fmt: skip


@pytest.mark.parametrize(("given_", "sent"), NULLABLE.values(), ids=NULLABLE)
def test_null_is_a_type_in_a_list_where_that_says_it(given_: dict[str, Any], sent: dict[str, Any]) -> None:
    (tool,) = Catalog.from_tools([{"name": "f", "inputSchema": {"type": "object", "properties": {"p": given_}}}])
    assert native.compact(tool.to_json_schema())["properties"]["p"] == sent


# --- laws ---------------------------------------------------------------------------------------------------------------------


def check_looser(raw: list[dict[str, Any]], profile: str) -> int:
    """Whatever the original accepts, the sent schema accepts: c12. How many arguments were tried."""
    compiled = tscg.compile(Catalog.from_tools(raw, on_error="passthrough"), mode="native", profile=profile)
    tried = 0
    for tool, sent in zip(compiled.catalog, compiled.wire_tools, strict=True):
        try:
            takes = jsonschema_rs.validator_for(sent["parameters"])
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError):
            with pytest.raises((jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError)):
                jsonschema_rs.validator_for(tool.schema)  # the original is no schema, and what is sent is none either
            continue
        for arguments in valid_arguments(tool):
            tried += 1
            assert takes.is_valid(arguments), (tool.name, arguments, sent["parameters"])
    return tried


@EVERY
def test_c12_what_the_original_accepts_the_sent_schema_accepts(path: Path) -> None:
    assert check_looser(read_tools(path), "brief") >= len(read_tools(path))


@FEW
@given(catalogs)
def test_c12_of_any_catalog(raw: list[dict[str, Any]]) -> None:
    check_looser(raw, "signature")


@EVERY
def test_c12_count_order_names_required_and_enums_stay(path: Path) -> None:
    compiled = tscg.compile(read_tools(path), mode="native", profile="brief")
    assert [tool["name"] for tool in compiled.wire_tools] == [
        compiled.wire_names.get(t.name, t.name) for t in compiled.catalog
    ]
    for tool, sent in zip(compiled.catalog, compiled.wire_tools, strict=True):
        given, shown = tool.to_json_schema(), sent["parameters"]
        if isinstance(tool.root, Object) and not tool.root.extra:
            assert list(shown.get("properties") or {}) == list(given.get("properties", {}))  # type: ignore[arg-type]
            assert set(shown.get("required") or ()) == set(given.get("required", ()))  # type: ignore[arg-type]
        assert enums(shown) == enums(given)


def enums(schema: Any) -> list[str]:
    if isinstance(schema, list):
        return [one for inner in schema for one in enums(inner)]
    if not isinstance(schema, dict):
        return []
    own = (
        [json.dumps([member for member in schema["enum"] if member is not None])]
        if isinstance(schema.get("enum"), list)
        else []
    )
    return sorted(
        [*own, *(one for key, inner in schema.items() if key not in ("default", "examples") for one in enums(inner))]
    )


@pytest.mark.parametrize("profile", ["balanced", "signature"])
@EVERY
def test_c13_native_is_idempotent_and_never_larger(path: Path, profile: str) -> None:
    first = tscg.compile(read_tools(path), mode="native", profile=profile, order="given")
    second = tscg.compile(list(first.wire_tools), mode="native", profile=profile, order="given")
    assert second.wire_tools == first.wire_tools
    assert first.stats.tokens <= first.stats.baseline_tokens


def test_c13_a_tool_without_its_prose_is_strictly_smaller() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "description": LONG}, "b": {"type": "integer", "description": LONG}},
    }
    as_given = {"name": "f", "description": "Does it.", "parameters": schema}
    assert len(json.dumps(wire(schema, "signature"))) < len(json.dumps(wire(schema))) <= len(json.dumps(as_given))


@EVERY
def test_a_flat_signature_is_what_the_language_writes(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools = [replace(tool, root=object_root(tool)[0]) for tool in Catalog.from_tools(read_tools(path))]
    quick = [native.signature(tool, DEFAULT, costs_of("o200k_base")) for tool in tools]
    monkeypatch.setattr(native, "_SCALARS", ())
    assert [native.signature(tool, DEFAULT, costs_of("o200k_base")) for tool in tools] == quick


def test_c9_changing_what_was_given_out_changes_nothing() -> None:
    raw = {
        "name": "f",
        "description": "Does it.",
        "parameters": {"type": "object", "properties": {"a": {"enum": ["x"]}}},
    }
    before = json.dumps(raw)
    for mode in ("native", "passthrough"):
        compiled = tscg.compile([raw], mode=mode)
        for render in (compiled.to_openai, compiled.to_openai_responses, compiled.to_anthropic, compiled.to_gemini):
            first = json.dumps(render())
            spoil(render())
            assert json.dumps(render()) == first
    assert json.dumps(raw) == before


def spoil(value: Any) -> None:
    for inner in value if isinstance(value, list) else list(value.values()) if isinstance(value, dict) else ():
        spoil(inner)
    if isinstance(value, list | dict):
        value.clear()


# --- descriptions that are too long -------------------------------------------------------------------------------------------


def test_a_description_that_is_too_long_goes_on_in_the_prompt() -> None:
    tools: list[dict[str, Any]] = [
        {"name": "short", "description": "Fits.", "parameters": {}},
        {"name": "long", "description": "One sentence. " * 20 + "\nshort: NEVER without asking.", "parameters": {}},
    ]
    sent, prompt = continued(tools, 120)
    assert sent[0] == tools[0]
    assert len(sent[1]["description"]) <= 120
    assert sent[1]["description"].endswith("sentence.\n(more in the system message)")
    whole = sent[1]["description"].removesuffix("(more in the system message)") + prompt.partition("long: ")[2]
    assert whole.split() == tools[1]["description"].split()
    assert [line.partition(":")[0] for line in prompt.split("\n") if line[0] != " "] == [
        "Descriptions of tools, continued",
        "long",
    ]
    assert continued(tools, 2_000) == (tuple(tools), "")
