"""The catalog language: lossless, contained, the same bytes everywhere; over generated and real catalogs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tscg
from tests.conftest import read_tools, shared_catalog_paths
from tests.strategies import catalogs, schemas, texts, tools, values
from tscg.costs import costs_of
from tscg.ir import Catalog
from tscg.language import emit
from tscg.language.spelling import DEFAULT, SLOTS, Spelling

PROFILES = ("lossless", "conservative", "balanced", "brief", "signature", "aggressive")
COSTS = costs_of("o200k_base")


def read(raw: list[dict[str, Any]]) -> Catalog:
    return Catalog.from_tools(raw, on_error="passthrough")


FEW = settings(max_examples=max(settings().max_examples // 2, 1))  # of whole catalogs, in several profiles

# --- law 1: lossless --------------------------------------------------------------------------------------------------


@FEW
@given(catalogs)
def test_generated_catalogs_come_back_equal(raw: list[dict[str, Any]]) -> None:
    catalog = read(raw)
    assert tscg.decompile(tscg.compile(catalog, profile="lossless").text) == catalog


@FEW
@given(tools, tools, st.builds(Spelling, **{slot: st.sampled_from(spelled) for slot, spelled in SLOTS.items()}))
def test_every_spelling_can_be_read(one: Any, two: Any, spelling: Spelling) -> None:
    catalog = read([{**one, "name": "one"}, {**two, "name": "two"}, {**one, "name": "three"}])
    text = emit(catalog, spelling, COSTS).text
    assert tscg.decompile(text) == catalog


@FEW
@given(tools)
def test_a_tool_that_is_said_twice_shares_and_comes_back(raw: dict[str, Any]) -> None:
    catalog = read([{**raw, "name": f"tool_{i}"} for i in range(5)])
    shared, alone = emit(catalog, DEFAULT, COSTS), emit(catalog, DEFAULT, COSTS, sharing=False)
    assert len(shared.text) <= len(alone.text) + 16
    assert tscg.decompile(shared.text) == tscg.decompile(alone.text) == catalog


@pytest.mark.parametrize("default", [5, -1.5, "5", [1], {"a": 1}, True, None], ids=ascii)
@pytest.mark.parametrize("types", [["string", "integer"], ["string", "number"], ["number", "null"]], ids="-".join)
def test_a_group_before_a_default_comes_back(types: list[str], default: Any) -> None:
    inner = {"allOf": [{"pattern": "x"}, {"type": types}], "default": default}
    schema = {"type": "object", "properties": {"a": inner, "b": {"type": "array", "items": inner}}}
    catalog = Catalog.from_tools([{"name": "f", "inputSchema": schema}])
    assert tscg.decompile(tscg.compile(catalog, profile="lossless").text) == catalog


ODD = {"not": {"type": "null"}}


@pytest.mark.parametrize(
    "schema",
    [
        {"items": {"type": "object", **ODD}},
        {"items": {"type": "object", **ODD}, **ODD},
        {"type": "array", "items": {"minProperties": 1, **ODD}},
        {"items": {"items": {"minLength": 2, **ODD}}},
        {"items": {"type": "array", "items": {"type": "string", **ODD}, "contains": {}}},
    ],
    ids=["list of objects", "both with more", "objects or else", "list in list", "contains"],
)
def test_a_list_or_anything_else_comes_back(schema: Any) -> None:
    catalog = Catalog.from_tools([{"name": "f", "inputSchema": {"type": "object", "properties": {"a": schema}}}])
    assert tscg.decompile(tscg.compile(catalog, profile="lossless").text) == catalog


@given(tools)
def test_the_ir_as_json_schema_reads_as_the_same_ir(raw: dict[str, Any]) -> None:
    catalog = read([raw])
    again = read([{"name": t.name, "description": t.description, "inputSchema": t.to_json_schema()} for t in catalog])
    assert again == catalog


@pytest.mark.parametrize("path", shared_catalog_paths(), ids=lambda path: path.stem)
def test_real_catalogs_come_back_equal(path: Path) -> None:
    catalog = Catalog.from_tools(read_tools(path))
    back = tscg.decompile(tscg.compile(catalog, profile="lossless").text)
    assert back == catalog
    assert {t.name: t.description for t in back} == {t.name: t.description for t in catalog}


# --- law 2: constraints -------------------------------------------------------------------------------------------------


def accepts(schema: Any, value: Any) -> bool | None:
    try:
        return jsonschema_rs.validator_for(schema).is_valid(value)
    except jsonschema_rs.ValidationError:
        return None


@FEW
@given(schemas, st.lists(values, max_size=8))
def test_what_is_shown_accepts_what_the_original_accepts(schema: Any, tried: list[Any]) -> None:
    from tests.strategies import DEFS
    from tscg.draft import copy_for_validator

    original = {"type": "object", "properties": {"v": schema}, "$defs": DEFS}
    catalog = read([{"name": "f", "inputSchema": original}])
    if catalog[0].faults:
        return
    source = copy_for_validator(original).schema
    for profile in PROFILES:
        shown = tscg.decompile(tscg.compile(catalog, profile=profile).text)[0].to_json_schema()
        again = copy_for_validator(shown).schema
        for value in tried:
            wanted = accepts(source, {"v": value})
            assert wanted is None or accepts(again, {"v": value}) == wanted, (profile, value, shown)


@pytest.mark.parametrize("path", shared_catalog_paths(), ids=lambda path: path.stem)
@pytest.mark.parametrize("profile", PROFILES)
def test_each_profile_keeps_each_constraint_of_real_tools(path: Path, profile: str) -> None:
    catalog = Catalog.from_tools(read_tools(path))
    bare = {tool.name: bare_schema(tool.to_json_schema()) for tool in catalog}
    shown = tscg.decompile(tscg.compile(catalog, profile=profile).text)
    assert {tool.name: bare_schema(tool.to_json_schema()) for tool in shown} == bare


WORDS = ("description", "title", "examples", "deprecated", "readOnly", "writeOnly")


def bare_schema(value: Any, names: bool = False) -> Any:
    """A schema without what it says beside its constraints (by position)."""
    if isinstance(value, list):
        return [bare_schema(part) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {k: v for k, v in value.items() if names or k not in WORDS}
    out = {
        k: v if k in ("enum", "default") and not names else bare_schema(v, not names and k in ("properties", "$defs"))
        for k, v in kept.items()
    }
    return out["allOf"][0] if not names and list(out) == ["allOf"] and len(out["allOf"]) == 1 else out


# --- law 3: determinism -------------------------------------------------------------------------------------------------


@FEW
@given(catalogs, st.randoms(use_true_random=False), st.sampled_from(PROFILES))
def test_the_order_of_the_input_does_not_matter(raw: list[dict[str, Any]], random: Any, profile: str) -> None:
    turned = list(raw)
    random.shuffle(turned)
    one, two = (tscg.compile(read(part), profile=profile) for part in (raw, turned))
    assert (one.prompt, one.fingerprint) == (two.prompt, two.fingerprint)


# --- law 5: containment -------------------------------------------------------------------------------------------------


@given(texts, st.sampled_from(("description", "parameter", "enum", "default", "property", "title", "nested")))
def test_no_text_opens_or_changes_another_tool(text: str, place: str) -> None:
    other = {
        "name": "city_facts",
        "description": "Facts.",
        "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
    }
    properties: dict[str, Any] = {"q": {"type": "string", "description": "Query"}}
    carrier: dict[str, Any] = {
        "name": "finder",
        "description": "Find.",
        "inputSchema": {"type": "object", "properties": properties},
    }
    if place == "description":
        carrier["description"] = text
    elif place == "property":
        properties[text] = {"type": "string", "description": text}
    elif place == "nested":
        properties["n"] = {
            "type": "array",
            "items": {"type": "object", "properties": {"k": {"type": "string", "description": text}}},
        }
    else:
        properties["q"][{"parameter": "description"}.get(place, place)] = ["x", text] if place == "enum" else text
    for profile in PROFILES:
        compiled = tscg.compile([carrier, other], profile=profile)
        lines = compiled.text.split("\n")
        heads = [line for line in lines if line[:1] not in (" ", ".", "@", "^", "%") and line != "shared"]
        assert len(heads) == 2
        assert compiled.text.splitlines() == lines
        back = tscg.decompile(compiled.text)
        assert sorted(tool.name for tool in back) == ["city_facts", "finder"]  # some profiles choose an order
        assert back.by_name["city_facts"] == read([other])[0] or profile != "lossless"
        assert "</tools>" not in compiled.text


# --- the parser -----------------------------------------------------------------------------------------------------------


def place_of_error(text: str) -> tuple[int, int] | None:
    """Line and column of what is wrong with a text, None for the text of a catalog."""
    try:
        tscg.decompile(text)
    except tscg.ParseError as error:
        return error.line, error.column
    return None


@given(st.text(max_size=200))
@settings(max_examples=200)
def test_any_text_is_a_catalog_or_a_parse_error(text: str) -> None:
    place = place_of_error(text)
    assert place is None or min(place) >= 1


@FEW
@given(catalogs, st.data())
def test_a_damaged_text_is_a_catalog_or_a_parse_error(raw: list[dict[str, Any]], data: Any) -> None:
    text = tscg.compile(read(raw), profile="lossless").text
    at = data.draw(st.integers(0, len(text)))
    cut = data.draw(st.integers(0, 5))
    put = data.draw(st.sampled_from(("", "(", "{", "|", "@z", "^9", "\n", "\n..x", " ", '"', "=", "<", "$")))
    place = place_of_error(text[:at] + put + text[at + cut :])
    assert place is None or place[0] >= 1


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a(b", (1, 4)),
        ("a(x:nothing)", (1, 5)),
        ("a(x:@1)", (1, 7)),
        ("a x\n..b", (2, 1)),
        (" a", (1, 1)),
        ("a()\na()", (2, 1)),
        ("a(x:str{1..)", (1, 12)),
        ('a(x("open)', (1, 5)),
    ],
    ids=["bracket", "type", "named type", "dots", "no head", "twice", "bounds", "string"],
)
def test_errors_name_the_place(text: str, place: tuple[int, int]) -> None:
    with pytest.raises(tscg.ParseError) as caught:
        tscg.decompile(text)
    assert (caught.value.line, caught.value.column) == place


# --- golden text ------------------------------------------------------------------------------------------------------------

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("profile", ["lossless", "balanced", "signature"])
def test_the_text_of_a_small_catalog(profile: str) -> None:
    raw = json.loads((GOLDEN / "releases.json").read_text(encoding="utf-8"))
    wanted = (GOLDEN / f"releases.{profile}.txt").read_text(encoding="utf-8").rstrip("\n")
    assert tscg.compile(raw, profile=profile).text == wanted
