"""The tools field of each provider: shapes, limits, cache breakpoints, deferred tools, keys, strict mode, Gemini's subset."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tscg
from tests.conftest import read_tools, shared_catalog_paths
from tests.core.made_values import valid_arguments
from tests.core.provider_rules import anthropic_faults, gemini_faults, openai_faults, strict_faults
from tests.strategies import catalogs
from tscg.ir import Catalog
from tscg.modes import adapt
from tscg.modes.gemini import anything, subset
from tscg.modes.keys import keys_for, wire_keys
from tscg.modes.names import wire_names
from tscg.modes.providers import owner_of
from tscg.modes.rows import ANTHROPIC, OPENAI
from tscg.modes.strict import strict_schema

FEW = settings(max_examples=max(settings().max_examples // 4, 1))
EVERY = pytest.mark.parametrize("path", shared_catalog_paths(), ids=lambda path: path.stem)
MODES: list[Any] = ["native", "text", "dispatch", tscg.Dispatch(map="names"), tscg.Dispatch(arguments="json")]


def obj(properties: dict[str, Any], *required: str, **more: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {}), **more}


def nested(levels: int) -> dict[str, Any]:
    return obj({"y": nested(levels - 1)}, "y") if levels else {"type": "string"}


def tool(name: str, schema: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", **({} if schema is None else {"inputSchema": schema}), **more}


def native(*tools: dict[str, Any], mode: Any = "native", **options: Any) -> tscg.CompiledCatalog:
    return tscg.compile(list(tools), mode=mode, **options)


A, B, C = (tool(name, obj({"x": {"type": "string"}}, "x")) for name in "abc")

# --- golden files -------------------------------------------------------------------------------------------------------------

GOLDEN = Path(__file__).parent / "golden"
SENT: dict[str, Callable[[tscg.CompiledCatalog], list[dict[str, Any]]]] = {
    "openai": lambda c: c.to_openai(), "openai_strict": lambda c: c.to_openai(strict="auto"),
    "openai_responses": lambda c: c.to_openai_responses(defer=["list_issues"]),
    "anthropic": lambda c: c.to_anthropic(ttl="1h", defer=["ping"]),
    "gemini_openapi": lambda c: c.to_gemini(), "gemini_json_schema": lambda c: c.to_gemini(dialect="json_schema"),
}  # fmt: skip


@pytest.mark.parametrize("provider", SENT)
def test_golden(provider: str) -> None:
    """With `TSCG_WRITE_GOLDEN=1` the files are written anew: read the difference before it is kept."""
    raw = json.loads((GOLDEN / "native.json").read_text(encoding="utf-8"))
    sent = SENT[provider](tscg.compile(raw, mode="native", profile="brief"))
    file = GOLDEN / f"native_{provider}.json"
    if os.environ.get("TSCG_WRITE_GOLDEN"):
        file.write_text(json.dumps(sent, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    assert sent == json.loads(file.read_text(encoding="utf-8"))


# --- passthrough --------------------------------------------------------------------------------------------------------------

FIELDS = {"description": "Does it.\n\n  As it came. "}
AS_IT_CAME: dict[str, list[dict[str, Any]]] = {
    "openai": [{"type": "function", "function": {"name": "a.b", "strict": True, "parameters": {"type": "object", "title": "T", "properties": {}}, **FIELDS}}],
    "openai_responses": [{"type": "function", "name": "a", "strict": None, "defer_loading": True, "parameters": {"$schema": "x", "type": "object"}, **FIELDS}],
    "anthropic": [{"name": "a", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}, "input_examples": [{}], **FIELDS},
                  {"name": "b", "input_schema": {"type": "object"}}],
    "gemini": [{"name": "a", "parameters": {"type": "OBJECT", "properties": {"x": {"type": "STRING", "nullable": True}}}, "response": {"type": "STRING"}, **FIELDS}],
}  # fmt: skip


@pytest.mark.parametrize("form", AS_IT_CAME)
def test_c11_passthrough_in_the_format_that_it_came_in_is_a_deep_copy(form: str) -> None:
    raw = AS_IT_CAME[form]
    before = copy.deepcopy(raw)
    compiled = native(*raw, mode="passthrough", order="given")
    sent = getattr(compiled, f"to_{form}")()
    declared = sent[0]["functionDeclarations"] if form == "gemini" else sent
    assert declared == before
    for item in declared:
        item.clear()
    assert raw == before
    assert getattr(compiled, f"to_{form}")() != sent


def test_c11_passthrough_keeps_the_fields_that_another_format_knows() -> None:
    given = {
        "name": "a",
        "description": "D",
        "parameters": obj({}),
        "strict": True,
        "type": "function",
        "defer_loading": True,
    }
    compiled = native(given, mode="passthrough")
    assert compiled.to_openai()[0]["function"] == {
        "name": "a",
        "description": "D",
        "parameters": obj({}),
        "strict": True,
    }
    anthropic = {"name": "a", "description": "D", "input_schema": obj({}), "strict": True, "defer_loading": True}
    assert compiled.to_anthropic() == [anthropic]
    (shown,) = native(
        tool("x.y", obj({}), annotations={"readOnlyHint": True}, title="T"), mode="passthrough"
    ).to_openai_responses()
    assert shown == {
        "type": "function",
        "name": "x_y",
        "description": "Does x.y.",
        "parameters": obj({}),
        "strict": False,
    }
    assert compiled.catalog[0].extra["defer_loading"] is True


def test_passthrough_rewrites_nothing() -> None:
    compiled = native(A, mode="passthrough")
    asked: list[Callable[[], object]] = [
        lambda: compiled.to_openai(strict=True),
        lambda: compiled.to_openai_responses(strict="auto"),
        lambda: compiled.to_anthropic(strict=["a"]),
    ]
    for sends in asked:
        with pytest.raises(tscg.ConfigError, match="passthrough"):
            sends()


# --- OpenAI -------------------------------------------------------------------------------------------------------------------


def test_c45_chat_is_nested_responses_are_flat_and_say_strict() -> None:
    compiled = native(A)
    assert set(compiled.to_openai()[0]["function"]) == {"name", "description", "parameters"}
    assert compiled.to_openai_responses()[0]["strict"] is False
    assert set(compiled.to_openai_responses()[0]) == {"type", "name", "description", "parameters", "strict"}
    assert compiled.to_openai(strict=False)[0]["function"]["strict"] is False


@pytest.mark.parametrize("mode", ["native", "passthrough"])
def test_more_tools_than_the_provider_takes_is_an_error_with_the_mode_that_fits(mode: str) -> None:
    tools = [tool(f"op_{i}") for i in range(129)]
    compiled = native(*tools, mode=mode, model="gpt-5.2")
    for sends in (compiled.to_openai, compiled.to_openai_responses):
        with pytest.raises(tscg.ConfigError, match=r"129 tools.* 128 at most.*dispatch"):
            sends()
    assert len(native(*tools[:128], mode=mode, model="gpt-5.2").to_openai()) == 128
    with pytest.raises(tscg.ConfigError, match="128"):
        native(*tools, mode=mode).to_openai_responses()
    assert len(native(*tools, mode=mode, model="ollama/qwen3:32b").to_openai()) == 129
    assert len(native(*tools, mode="dispatch", model="gpt-5.2").to_openai()) == 2


def test_c45_deferred_tools_and_their_search() -> None:
    compiled = native(A, B, tool("c.d"))
    sent = compiled.to_openai_responses(defer=["a", "c.d"])
    assert [item.get("defer_loading", False) for item in sent] == [True, False, True, False]
    assert sent[-1] == {"type": "tool_search"}
    own = {"type": "tool_search", "execution": "client"}
    assert native(A, B, own).to_openai_responses(defer=["a"])[2:] == [own]
    search, *tools = compiled.to_anthropic(defer=["c_d"])
    assert search["type"].startswith("tool_search_tool")
    assert [("defer_loading" in item, "cache_control" in item) for item in tools] == [
        (False, False),
        (False, True),
        (True, False),
    ]
    for sends in (compiled.to_openai_responses, compiled.to_anthropic):
        with pytest.raises(tscg.ConfigError, match="every tool"):
            sends(defer=["a", "b", "c.d"])
        with pytest.raises(tscg.ConfigError, match="'nope'"):
            sends(defer=["nope"])


# --- strict mode --------------------------------------------------------------------------------------------------------------

LOOSE = {
    "free object": (obj({"bag": {"type": "object"}}), "bag: an object of free keys"),
    "map": (obj({"bag": {"type": "object", "additionalProperties": {"type": "string"}}}), "bag: an object of free keys"),
    "open": (obj({"x": {"type": "string"}}, additionalProperties=True), "the arguments: an object of free keys"),
    "open below": (obj({"x": {"type": "array", "items": obj({"y": {"type": "string"}}, additionalProperties={})}}), "x: an object of free keys"),
    "patterns": (obj({"x": obj({"y": {"type": "string"}}, patternProperties={"^z": {}})}), "x: the keyword patternProperties"),
    "optional null": (obj({"x": {"type": ["string", "null"]}}), "x: optional, and may be null"),
    "any value": (obj({"x": {}}, "x"), "x: any value"),
    "any items": (obj({"x": {"type": "array"}}), "x: a list of any values"),
    "not": (obj({"x": {"type": "string", "not": {"const": "y"}}}, "x"), "x: the keyword not"),
    "if": (obj({"x": {"type": "string"}}, **{"if": {"required": ["x"]}, "then": {"minProperties": 2}}), "the arguments: the keyword if"),
    "dependent": (obj({"x": {"type": "string"}, "y": {"type": "string"}}, dependentRequired={"x": ["y"]}), "the keyword dependentRequired"),
    "deep": (obj({"x": nested(12)}), "more than 10 levels"),
    "members": (obj({"x": {"enum": [f"m{i}" for i in range(1001)]}}), "1001 enum members"),
    "undeclared": (obj({"x": {"type": "string"}}, "x", "y"), "required names that are not declared"),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "reason"), LOOSE.values(), ids=LOOSE)
def test_c53_a_tool_that_strict_mode_would_block_stays_and_leaves_the_others(
    schema: dict[str, Any], reason: str
) -> None:
    compiled = native(tool("loose", schema), A, tool("ping"))
    adapted = adapt.openai(compiled, "auto")
    assert {item["function"]["name"]: item["function"]["strict"] for item in adapted.tools} == {
        "a": True,
        "loose": False,
        "ping": True,
    }
    assert reason in adapted.reasons["loose"]
    assert compiled.to_openai("auto")[1]["function"]["parameters"] == compiled.wire_tools[1]["parameters"]
    with pytest.raises(tscg.ConfigError, match="loose"):
        compiled.to_openai(strict=True)
    assert not list(openai_faults(adapted.tools))


def test_strict_rewrites_what_is_optional_and_says_what_it_leaves_out() -> None:
    schema = obj({
        "a": {"type": "string", "minLength": 2}, "b": {"enum": ["x", "y"], "default": "x"}, "c": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]},
        "d": {"type": "array", "uniqueItems": True, "items": obj({"e": {"type": "number", "maximum": 5}})}, "f": {"const": 3},
        "g": {"$ref": "#/$defs/G"},
    }, "a", **{"$defs": {"G": obj({"more": {"$ref": "#/$defs/G"}})}})  # fmt: skip
    (sent,) = native(tool("f", schema)).to_openai(strict=True)
    parameters = sent["function"]["parameters"]
    assert parameters["properties"] == {
        "a": {"type": "string"}, "b": {"type": ["string", "null"], "enum": ["x", "y", None]},
        "c": {"anyOf": [{"type": "integer"}, {"type": "boolean"}, {"type": "null"}]},
        "d": {"type": ["array", "null"], "items": {"type": "object", "properties": {"e": {"type": ["number", "null"], "maximum": 5}},
                                                   "required": ["e"], "additionalProperties": False}},
        "f": {"type": ["integer", "null"], "enum": [3, None]}, "g": {"anyOf": [{"$ref": "#/$defs/G"}, {"type": "null"}]},
    }  # fmt: skip
    assert parameters["required"] == list("abcdfg")
    assert sent["function"]["description"].endswith('Rules: a at least 2 characters; b default "x"; d no item twice')
    assert not list(strict_faults(parameters))


def test_strict_is_the_default_that_native_mode_was_given() -> None:
    compiled = native(A, tool("loose", obj({"bag": {"type": "object"}})), mode=tscg.Native(strict="auto"))
    assert [item["function"]["strict"] for item in compiled.to_openai()] == [True, False]
    assert [item["strict"] for item in compiled.to_openai_responses()] == [True, False]
    assert "strict" not in native(A).to_openai()[0]["function"]
    with pytest.raises(tscg.ConfigError, match="loose"):
        native(tool("loose", obj({"bag": {"type": "object"}})), mode=tscg.Native(strict=True)).to_openai()
    with pytest.raises(tscg.ConfigError, match="auto"):
        native(A).to_openai(strict="yes")


def strictly(value: Any, schema: Any, root: dict[str, Any]) -> Any:
    """A value as strict mode makes a model write it: null for what is left out."""
    if not isinstance(schema, dict):
        return value
    for branch in schema.get("anyOf", ()):
        made = strictly(value, branch, root)
        if jsonschema_rs.validator_for({**branch, "$defs": root.get("$defs", {})}).is_valid(made):
            return made
    if "$ref" in schema:
        return strictly(value, root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], root)
    if isinstance(value, list):
        return [strictly(inner, schema.get("items"), root) for inner in value]
    if isinstance(value, dict) and "properties" in schema:
        return {
            name: strictly(value[name], inner, root) if name in value else None
            for name, inner in schema["properties"].items()
        }
    return value


@pytest.mark.parametrize("told", [True, False], ids=["the option of the mode", "asked for at the adapter"])
@EVERY
def test_strict_blocks_no_declared_call_and_its_null_means_left_out(path: Path, told: bool) -> None:
    compiled = tscg.compile(
        read_tools(path), mode=tscg.Native(strict="auto") if told else "native", profile="signature"
    )
    sent = {item["function"]["name"]: item["function"] for item in compiled.to_openai(strict="auto")}
    for one in list(compiled.catalog)[:40]:
        body = sent[compiled.wire_names.get(one.name, one.name)]
        if not body["strict"]:
            continue
        takes = jsonschema_rs.validator_for(body["parameters"])
        for arguments in valid_arguments(one, most=4):
            if not set(arguments) <= set(body["parameters"]["properties"]):
                continue
            written = strictly(arguments, body["parameters"], body["parameters"])
            assert takes.is_valid(written), (one.name, arguments, written)
            call = compiled.resolve(body["name"], json.dumps(written))
            assert isinstance(call, tscg.Call), call
            assert call.arguments == arguments


def test_anthropic_strict_is_by_name_and_keeps_what_is_optional() -> None:
    compiled = native(
        A, tool("n", obj({"n": {"type": "integer", "minimum": 1}})), tool("loose", obj({"bag": {"type": "object"}}))
    )
    _, _, sent = compiled.to_anthropic(strict=["n"])
    assert sent["strict"] is True
    assert sent["input_schema"] == {**obj({"n": {"type": "integer"}}), "required": [], "additionalProperties": False}
    assert sent["description"].endswith("Rules: n at least 1")
    assert "strict" not in compiled.to_anthropic()[0]
    for names, words in ((["loose"], "free keys"), (["nope"], "'nope'")):
        with pytest.raises(tscg.ConfigError, match=words):
            compiled.to_anthropic(strict=names)
    schema = {**obj({"g": {"$ref": "#/$defs/G"}}), "$defs": {"G": obj({"g": {"$ref": "#/$defs/G"}})}}
    assert ANTHROPIC.strict is not None
    assert "holds itself" in strict_schema(schema, ANTHROPIC.strict).reason


@FEW
@given(catalogs)
def test_strict_schemas_of_any_catalog_are_what_the_provider_takes(raw: list[dict[str, Any]]) -> None:
    compiled = tscg.compile(Catalog.from_tools(raw, on_error="passthrough"), mode="native")
    for item in compiled.to_openai(strict="auto"):
        if item["function"]["strict"]:
            assert not list(strict_faults(item["function"]["parameters"]))
    assert OPENAI.strict is not None


# --- Anthropic ----------------------------------------------------------------------------------------------------------------


def test_c44_one_breakpoint_on_the_last_tool_that_is_not_deferred() -> None:
    compiled = native(A, B, C)
    assert [item.get("cache_control") for item in compiled.to_anthropic()] == [None, None, {"type": "ephemeral"}]
    assert compiled.to_anthropic(ttl="1h")[-1]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert not [item for item in compiled.to_anthropic(cache=False) if "cache_control" in item]
    deferred = compiled.to_anthropic(defer=["b", "c"])
    assert [item["name"] for item in deferred if "cache_control" in item] == ["a"]
    with pytest.raises(tscg.ConfigError, match="1h"):
        compiled.to_anthropic(ttl="2h")
    assert compiled.system("anthropic") is None
    blocks = native(A, mode="text").system("anthropic")
    assert isinstance(blocks, list)
    assert [block["cache_control"] for block in blocks if isinstance(block, dict)] == [{"type": "ephemeral"}]


def test_mn_all_tools_deferred_is_no_request_without_a_breakpoint_or_a_tool() -> None:
    for defer in (["a"], "a"):
        with pytest.raises(tscg.ConfigError, match="at least one"):
            native(A).to_anthropic(defer=defer)


# --- wire names and keys --------------------------------------------------------------------------------------------------------


@FEW
@given(st.lists(st.text(min_size=1, max_size=80), unique=True, max_size=10), st.randoms(use_true_random=False))
def test_c52_wire_names_are_stable_under_permutation_and_unrelated_tools(names: list[str], random: Any) -> None:
    found = wire_names(names)
    shuffled = [*names, "an_unrelated_tool_of_another_server"]
    random.shuffle(shuffled)
    assert wire_names(shuffled) == found


@pytest.mark.parametrize("name", ["_private", "foo_", "admin.tools.list", "a" * 90, "\u65e5\u672c", "1st", "-x", "a b"])
def test_c52_a_call_by_wire_name_is_a_call_of_the_tool(name: str) -> None:
    compiled = native(tool(name, obj({"x": {"type": "string"}})), A)
    wire = compiled.wire_names.get(name, name)
    call = compiled.resolve(wire, {"x": "1"})
    assert isinstance(call, tscg.Call)
    assert call.name == name
    assert wire == name or compiled.wire_tools[[item["name"] for item in compiled.wire_tools].index(wire)][
        "description"
    ].endswith(f"Original name: {name}")


ODD = obj({
    "$top": {"type": "integer"}, "filter[id]": {"type": "string"}, "@x.y": {"type": "string"}, "top": {"type": "string"},
    "rows": {"type": "array", "items": obj({"Account Number": {"type": "string"}, "\u540d\u524d": {"type": "string"}}, "Account Number")},
    "either": {"anyOf": [obj({"$a": {"type": "string"}}, "$a"), obj({"b": {"type": "integer"}}, "b")]},
}, "filter[id]", dependentRequired={"$top": ["filter[id]"]})  # fmt: skip
GIVEN = {"filter[id]": "7", "$top": 5, "rows": [{"Account Number": "1", "\u540d\u524d": "n"}], "either": {"$a": "x"}}


def test_c09_keys_that_a_provider_refuses_have_an_alias_at_any_depth() -> None:
    compiled = native(tool("list_items", ODD), profile="brief")
    keys = compiled.surface.wire_keys["list_items"]
    assert len(set(keys.values())) == len(keys) == 6
    assert not set(keys.values()) & {"top", "rows", "either", "b"}
    assert keys["filter[id]"] == "filter_id"
    assert keys["$top"].startswith("top_")  # "top" is taken
    (sent,) = compiled.to_anthropic()
    assert not list(anthropic_faults([sent]))
    assert sent["input_schema"]["required"] == ["filter_id"]
    assert sent["input_schema"]["dependentRequired"] == {keys["$top"]: ["filter_id"]}
    assert sent["input_schema"]["properties"]["rows"]["items"]["required"] == [keys["Account Number"]]
    if sent["description"].startswith("("):
        assert "filter_id" in sent["description"].partition(")")[0]
        assert "filter[id]" not in sent["description"]
    assert not list(gemini_faults(compiled.to_gemini()))
    assert list(compiled.to_openai()[0]["function"]["parameters"]["properties"]) == list(ODD["properties"])


def test_c09_aliases_are_mapped_back_and_originals_taken() -> None:
    compiled = native(tool("list_items", ODD))
    keys = compiled.surface.wire_keys["list_items"]
    aliased = {
        keys["filter[id]"]: "7", keys["$top"]: 5, "rows": [{keys["Account Number"]: "1", keys["\u540d\u524d"]: "n"}], "either": {keys["$a"]: "x"},
    }  # fmt: skip
    for sent in (GIVEN, aliased):
        call = compiled.resolve("list_items", sent)
        assert isinstance(call, tscg.Call), call
        assert call.arguments == GIVEN
        assert not call.repairs
    both = compiled.resolve("list_items", {**GIVEN, "filter_id": "8"})
    assert isinstance(both, tscg.CallError)
    assert both.kind == "ambiguous_arguments"


def test_aliases_depend_on_the_tool_alone() -> None:
    (one,) = Catalog.from_tools([tool("list_items", ODD)])
    many = Catalog.from_tools([A, tool("list_items", ODD), B])
    assert wire_keys(many.by_name["list_items"]) == wire_keys(one)


# --- Gemini -------------------------------------------------------------------------------------------------------------------


def check_gemini(compiled: tscg.CompiledCatalog) -> None:
    faults = list(gemini_faults(compiled.to_gemini(dialect="openapi"))) if compiled.wire_tools else []
    assert not faults, faults[:5]


@pytest.mark.parametrize("mode", MODES, ids=str)
@EVERY
def test_c46_gemini_takes_every_catalog_in_every_mode(path: Path, mode: Any) -> None:
    raw = read_tools(path)
    check_gemini(tscg.compile(raw, mode=mode, profile="brief"))


@FEW
@given(catalogs)
def test_c46_gemini_takes_any_catalog(raw: list[dict[str, Any]]) -> None:
    check_gemini(tscg.compile(Catalog.from_tools(raw, on_error="passthrough"), mode="native"))


def test_gemini_takes_tools_of_other_formats_in_passthrough() -> None:
    compiled = native(
        tool(
            "f",
            obj(
                {"n": {"type": ["integer", "null"]}, "k": {"const": 1}},
                oneOf=[{"required": ["n"]}, {"required": ["k"]}],
            ),
        ),
        mode="passthrough",
    )
    check_gemini(compiled)
    assert "Exactly one of: n, k." in compiled.to_gemini()[0]["functionDeclarations"][0]["description"]


ANY = anything()
SUBSET: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "null in a list of types": ({"type": ["string", "null"]}, {"type": "string", "nullable": True}, []),
    "two types": ({"type": ["string", "integer"]}, {"anyOf": [{"type": "string"}, {"type": "integer"}]}, []),
    "constant": ({"const": "a"}, {"type": "string", "enum": ["a"]}, []),
    "enum of numbers": ({"enum": [1, 2]}, {"type": "integer"}, ["one of 1, 2"]),
    "enum with null": ({"enum": ["a", None]}, {"type": "string", "enum": ["a"], "nullable": True}, []),
    "enum with an empty text": ({"enum": ["", "a"]}, {"type": "string"}, ['one of "", "a"']),
    "array without items": ({"type": "array"}, {"type": "array", "items": ANY}, []),
    "anything": ({}, ANY, []),
    "true": (True, ANY, []),  # type: ignore[dict-item]
    "union with siblings": (
        {"anyOf": [{"required": ["a"]}, {"required": ["b"]}], **obj({"a": {"type": "string"}, "b": {"type": "string"}})},
        {"anyOf": [obj({"a": {"type": "string"}, "b": {"type": "string"}}, "a"), obj({"a": {"type": "string"}, "b": {"type": "string"}}, "b")]}, [],
    ),
    "union with null": ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "integer", "nullable": True}, []),
    "exactly one": ({"oneOf": [{"type": "integer"}, {"type": "string"}]}, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, ["exactly one of the forms"]),
    "intersection": ({"allOf": [obj({"a": {"type": "string"}}), {"required": ["a"]}]}, obj({"a": {"type": "string"}}, "a"), []),
    "bounds": ({"type": "integer", "minimum": 1, "exclusiveMaximum": 9, "multipleOf": 2}, {"type": "integer", "minimum": 1}, ["under 9", "a multiple of 2"]),
    "format": ({"type": "string", "format": "email"}, {"type": "string"}, ["format email"]),
    "date": ({"type": "string", "format": "date-time"}, {"type": "string", "format": "date-time"}, []),
    "closed map": ({"type": "object", "additionalProperties": {"type": "integer"}}, {"type": "object"}, ['other keys {"type":"integer"}']),
    "rules": ({**obj({"a": {"type": "string"}}), "not": {"required": ["b"]}, "patternProperties": {"^x": {}}}, obj({"a": {"type": "string"}}),
              ['not {"required":["b"]}', 'patternProperties {"^x":{}}']),
    "undeclared": ({"type": "object", "required": ["a"]}, obj({"a": ANY}, "a"), []),
    "tuple": ({"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
              {"type": "array", "maxItems": 2, "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}}, ["2 items in this order of types"]),
    "never": (False, {"type": "string", "nullable": True}, ["never given"]),  # type: ignore[dict-item]
}  # fmt: skip


@pytest.mark.parametrize(("given_", "made", "words"), SUBSET.values(), ids=SUBSET)
def test_geminis_subset(given_: dict[str, Any], made: dict[str, Any], words: list[str]) -> None:
    found = subset(obj({"p": given_}, "p"))
    assert found.schema["properties"]["p"] == made
    assert [one.words for one in found.said] == words
    assert all(one.path[:1] == ("p",) for one in found.said)


def test_gemini_writes_references_out_and_cuts_what_holds_itself() -> None:
    node = obj({"name": {"type": "string"}, "next": {"$ref": "#/$defs/Node"}})
    found = subset({**obj({"a": {"$ref": "#/$defs/Node"}, "b": {"$ref": "#/$defs/Node"}}), "$defs": {"Node": node}})
    cut = obj({"name": {"type": "string"}, "next": {"type": "object"}})
    assert found.schema["properties"] == {"a": cut, "b": cut}
    assert [(one.path, one.words) for one in found.said] == [
        (("a", "next"), "again Node"),
        (("b", "next"), "again Node"),
    ]
    doubling = {
        f"T{i}": obj({"l": {"$ref": f"#/$defs/T{i + 1}"}, "r": {"$ref": f"#/$defs/T{i + 1}"}}) for i in range(24)
    }
    large = subset({**obj({"x": {"$ref": "#/$defs/T0"}}), "$defs": {**doubling, "T24": {"type": "string"}}})
    assert len(json.dumps(large.schema)) < 3_000_000


def test_c47_what_an_adapter_leaves_out_is_said_listed_and_still_enforced() -> None:
    compiled = native(
        tool(
            "f",
            obj({"n": {"type": "integer", "multipleOf": 5}, "k": {"enum": [1, 2]}}, "n", additionalProperties=False),
        )
    )
    adapted = adapt.gemini(compiled, "openapi")
    (declaration,) = adapted.tools[0]["functionDeclarations"]
    assert declaration["description"].endswith("Rules: no other keys; n a multiple of 5; k one of 1, 2")
    assert adapted.dropped == {"f": ("no other keys", "n a multiple of 5", "k one of 1, 2")}
    assert isinstance(compiled.resolve("f", {"n": 5, "k": 1}), tscg.Call)
    for wrong in ({"n": 4}, {"n": 5, "k": 3}, {"n": 5, "z": 1}):
        assert isinstance(compiled.resolve("f", wrong), tscg.CallError), wrong


@pytest.mark.parametrize(
    ("model", "dialect", "key"),
    [
        (None, "auto", "parameters"), ("gemini-2.5-pro", "auto", "parametersJsonSchema"), ("gemini-1.5-pro", "auto", "parameters"),
        ("gpt-5.2", "auto", "parameters"), (None, "json_schema", "parametersJsonSchema"), ("gemini-2.5-pro", "openapi", "parameters"),
    ],
)  # fmt: skip
def test_the_dialect_of_gemini(model: str | None, dialect: str, key: str) -> None:
    (wrapper,) = native(A, model=model).to_gemini(dialect=dialect)
    assert [key in declaration for declaration in wrapper["functionDeclarations"]] == [True]
    with pytest.raises(tscg.ConfigError, match="openapi"):
        native(A).to_gemini(dialect="other")


BARE: dict[str, tuple[Any, dict[str, Any]]] = {
    "none": (None, {}), "empty": ({}, {}), "object": ({"type": "object"}, {}), "null": ({"type": "object", "properties": None}, {}),
    "untyped": ({"properties": None}, {}), "closed": ({"type": "object", "additionalProperties": False}, {"additionalProperties": False}),
    "map": ({"type": "object", "additionalProperties": {"type": "string"}}, {"additionalProperties": {"type": "string"}}),
    "bounded": ({"minProperties": 1}, {"minProperties": 1}), "required": ({"type": "object", "required": ["x"]}, {"required": ["x"]}),
}  # fmt: skip


@pytest.mark.parametrize(("schema", "rest"), BARE.values(), ids=BARE)
@pytest.mark.parametrize("mode", ["native", "text", "dispatch"])
def test_c06_a_tool_without_parameters_is_an_object_with_empty_properties(
    mode: str, schema: Any, rest: dict[str, Any]
) -> None:
    listed = {"type": "object", "properties": {}, **rest}
    pin = () if mode == "native" else ("ping",)
    compiled = tscg.compile([{"name": "ping", "inputSchema": schema}, tool("b", obj({}))], mode=mode, pin=pin)
    (wire,) = [one for one in compiled.wire_tools if one["name"] == "ping"]
    assert wire["parameters"] == listed
    assert [one["function"]["parameters"] for one in compiled.to_openai() if one["function"]["name"] == "ping"] == [
        listed
    ]
    assert [one["parameters"] for one in compiled.to_openai_responses() if one["name"] == "ping"] == [listed]
    assert [one["input_schema"] for one in compiled.to_anthropic() if one["name"] == "ping"] == [listed]
    for form in ("openapi", "json_schema"):
        (wrapper,) = compiled.to_gemini(dialect=form)
        (found,) = [one for one in wrapper["functionDeclarations"] if one["name"] == "ping"]
        assert "properties" in (found.get("parameters") or found["parametersJsonSchema"])


@pytest.mark.parametrize(("schema", "rest"), BARE.values(), ids=BARE)
def test_c06_passthrough_lists_properties_where_it_writes_another_form(schema: Any, rest: dict[str, Any]) -> None:
    listed = {"type": "object", "properties": {}, **rest}
    given = {"name": "ping", "inputSchema": schema}
    compiled = native(given, mode="passthrough")
    assert compiled.to_openai()[0]["function"]["parameters"] == listed
    assert compiled.to_openai_responses()[0]["parameters"] == listed
    assert compiled.to_anthropic()[0]["input_schema"] == listed
    if schema is None:
        return
    own = {"type": "function", "function": {"name": "ping", "description": "", "parameters": schema}}
    assert native(own, mode="passthrough").to_openai() == [own], "in its own form it is sent as it came"
    assert native(own, mode="passthrough").wire_tools[0]["parameters"] == schema


def test_a_root_that_is_a_union_gets_no_properties_in_passthrough() -> None:
    union = {"anyOf": [obj({"a": {}}), obj({"b": {}})]}
    assert (
        native({"name": "f", "inputSchema": union}, mode="passthrough").to_openai()[0]["function"]["parameters"]
        == union
    )


def translated(node: Any) -> Any:
    """Gemini's subset as JSON Schema: what its schema takes."""
    if isinstance(node, list):
        return [translated(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    if node == ANY or node == anything(0):
        return {}
    out = {
        key: {name: translated(inner) for name, inner in value.items()} if key == "properties" else translated(value)
        for key, value in node.items()
    }
    if out.pop("nullable", False) is True:
        return {"anyOf": [out, {"type": "null"}]}
    return out


@EVERY
def test_geminis_schema_takes_what_the_original_takes(path: Path) -> None:
    compiled = tscg.compile(read_tools(path), mode="native", profile="signature")
    (wrapper,) = compiled.to_gemini(dialect="openapi")
    for one, declaration in list(zip(compiled.catalog, wrapper["functionDeclarations"], strict=True))[:60]:
        if wire_keys(one):
            continue
        takes = jsonschema_rs.validator_for(translated(declaration["parameters"]))
        for arguments in valid_arguments(one, most=4):
            assert takes.is_valid(arguments), (one.name, arguments, declaration["parameters"])


# --- every mode ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["text", "dispatch"])
def test_all_providers_take_pinned_tools_and_the_dispatcher(mode: str) -> None:
    compiled = native(tool("list_items", ODD), A, B, mode=mode, pin=["list_items"])
    assert not list(gemini_faults(compiled.to_gemini()))
    assert not list(anthropic_faults(compiled.to_anthropic()))
    assert not list(openai_faults(compiled.to_openai(strict="auto")))
    by_name = {item["name"]: item for item in compiled.to_openai_responses(strict="auto")}
    assert not {name for name in ("call", compiled.sent.call_tool) if name in by_name and by_name[name]["strict"]}
    assert compiled.surface.wire_keys["list_items"]["filter[id]"] == "filter_id"
    assert "a" not in compiled.surface.wire_keys


@EVERY
def test_mn_every_wire_tool_that_is_sent_can_be_called(path: Path) -> None:
    for mode in ("native", "passthrough"):
        compiled = tscg.compile(read_tools(path), mode=mode)
        for one, sent in list(zip(compiled.catalog, compiled.wire_tools, strict=True))[:50]:
            for arguments in valid_arguments(one, most=1):
                call = compiled.resolve(sent["name"], arguments)
                assert isinstance(call, tscg.Call), (sent["name"], call)
                assert call.name == one.name


def test_mn_changing_what_passthrough_gave_leaves_the_schema_of_the_caller() -> None:
    given = tool("a", obj({"x": {"enum": ["p"]}}))
    before = copy.deepcopy(given)
    native(given, mode="passthrough").wire_tools[0]["parameters"]["properties"].clear()
    assert given == before


def test_mn_a_property_that_may_be_anything_or_nothing() -> None:
    compiled = native(tool("a", obj({"x": True, "y": False})))
    assert not list(gemini_faults(compiled.to_gemini()))
    assert isinstance(compiled.resolve("a", {"x": [1]}), tscg.Call)
    refused = compiled.resolve("a", {"y": 1})
    assert isinstance(refused, tscg.CallError)
    assert "did you mean" not in refused.message


def test_a_wire_key_is_written_for_the_providers_that_need_it() -> None:
    (one,) = Catalog.from_tools([tool("f", obj({"x-y": {}, "$z": {}}))])
    assert keys_for(one, "anthropic") == {"$z": "z"}
    assert keys_for(one, "gemini") == {"x-y": "x_y", "$z": "z"}
    assert keys_for(one, "openai") == keys_for(one, "some server") == {}


def test_the_trace_names_what_adapters_change() -> None:
    compiled = native(
        tool("f", obj({"n": {"type": "integer", "multipleOf": 5}})), tool("loose", obj({"bag": {"type": "object"}}))
    )
    assert compiled.trace.adapters == (
        "gemini: f: n a multiple of 5 is said, not in the schema",
        "strict: loose: not strict, bag: an object of free keys",
    )
    assert native(A, mode="text").trace.adapters == ()
    assert native(A, {"type": "web_search"}, mode="passthrough").trace.adapters == ()


@pytest.mark.parametrize("kind", [{}, [], 7, True], ids=repr)
def test_a_builtin_whose_type_is_no_word_belongs_to_no_provider(kind: object) -> None:
    assert owner_of({"type": kind}) == ""


def test_a_keyword_that_strict_mode_does_not_know_keeps_the_tool_as_it_is() -> None:
    base: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    tools = [
        {"name": "x", "inputSchema": {**base, "x-order": 1}},
        {"name": "y", "inputSchema": {**base, "vendorWord": 1}},
    ]
    strict = {t["function"]["name"]: t["function"] for t in tscg.compile(tools, mode="native").to_openai(strict="auto")}
    assert strict["x"]["strict"] is True
    assert not list(strict_faults(strict["x"]["parameters"]))
    assert strict["y"]["strict"] is False
