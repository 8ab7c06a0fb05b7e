"""Native and passthrough mode, wire names, providers' forms."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tscg
from tests.conftest import read_tools, shared_catalog_paths
from tests.strategies import catalogs
from tscg.ir import Catalog
from tscg.modes.names import wire_names
from tscg.modes.options import agent_mode

LEGAL = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}\Z")
ODD = [
    "get_user",
    "admin.tools.list",
    "user-profile/update",
    "a" * 80,
    "\u65e5\u672c",
    "1st",
    "-x",
    "a.b",
    "a/b",
    "a_b",
    "a b",
    "!!!",
]


def test_wire_names_are_legal_unique_and_stable() -> None:
    names = wire_names(ODD)
    wire = [names.get(name, name) for name in ODD]
    assert len(set(wire)) == len(ODD)
    assert all(map(LEGAL.match, wire)), wire
    assert "get_user" not in names
    assert names["admin.tools.list"] == "admin_tools_list"
    assert names["1st"] == "_1st"
    assert wire_names([*reversed(ODD), "unrelated"]) == names


@given(st.lists(st.text(min_size=1, max_size=90), unique=True, max_size=12))
def test_any_names_get_wire_names(given_names: list[str]) -> None:
    names = wire_names(given_names)
    wire = [names.get(name, name) for name in given_names]
    assert len(set(wire)) == len(wire)
    assert all(map(LEGAL.match, wire))


TOOL = {
    "name": "admin.find", "description": "Finds things.\n\nNever guess.",
    "inputSchema": {
        "type": "object", "title": "Args", "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {
            "title": {"type": "string", "title": "Title", "description": "Title to look for"},
            "description": {"type": "object", "properties": {"text": {"type": "string", "maxLength": 9, "description": "Inner words"}}},
            "n": {"type": "integer", "minimum": 1, "default": 3},
        },
        "required": ["title"],
    },
}  # fmt: skip


def test_a_native_tool_has_its_prose_in_the_description_and_its_bounds_in_the_schema() -> None:
    (tool,) = tscg.compile([TOOL], mode="native", profile="lossless").wire_tools
    assert tool["name"] == "admin_find"
    assert tool["description"] == (
        "(title description?:{text?} n?) Finds things.\nNever guess.\n.title Title to look for\n..text Inner words\nOriginal name: admin.find"
    )
    assert tool["parameters"] == {
        "type": "object",
        "properties": {
            "title": {"type": "string"},
            "description": {"type": "object", "properties": {"text": {"type": "string", "maxLength": 9}}},
            "n": {"type": "integer", "minimum": 1, "default": 3},
        },
        "required": ["title"],
    }


def test_a_composed_root_goes_out_as_an_object_with_its_rule() -> None:
    schema = {
        "type": "object", "properties": {"file_id": {"type": "string"}, "url": {"type": "string"}},
        "oneOf": [{"required": ["file_id"]}, {"required": ["url"]}],
    }  # fmt: skip
    compiled = tscg.compile([{"name": "analyse", "description": "Analyse.", "inputSchema": schema}], mode="native")
    (tool,) = compiled.to_anthropic(cache=False)
    assert tool["input_schema"] == {
        "type": "object",
        "properties": {"file_id": {"type": "string"}, "url": {"type": "string"}},
    }
    assert "Exactly one of: file_id, url." in tool["description"]
    both = compiled.resolve("analyse", {"file_id": "f", "url": "u"})
    assert isinstance(both, tscg.CallError)


@settings(max_examples=max(settings().max_examples // 2, 1))
@given(catalogs)
def test_native_keeps_count_order_and_names(raw: list[dict[str, Any]]) -> None:
    catalog = Catalog.from_tools(raw, on_error="passthrough")
    compiled = tscg.compile(catalog, mode="native")
    wire = compiled.wire_tools
    assert [compiled.wire_names.get(tool.name, tool.name) for tool in compiled.catalog] == [
        tool["name"] for tool in wire
    ]
    assert all(tool["parameters"]["type"] == "object" for tool in wire)
    assert compiled.prompt == compiled.text == ""


@pytest.mark.parametrize("path", shared_catalog_paths(), ids=lambda path: path.stem)
def test_passthrough_sends_what_came(path: Path) -> None:
    tools = read_tools(path)
    compiled = tscg.compile(tools, mode="passthrough", order="given")
    sent = compiled.to_openai()
    for tool, item in zip(tools, sent, strict=True):
        body = tool.get("function", tool)
        if compiled.catalog[0].format == "openai":
            assert item == tool
        assert item["function"]["description"] == body["description"]
        assert item["function"]["parameters"] == body.get("inputSchema", body.get("parameters"))


# --- providers ------------------------------------------------------------------------------------------------------------------

WEATHER = {
    "name": "get_weather",
    "description": "Forecast.",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}},
}


def test_each_provider_gets_its_shape() -> None:
    compiled = tscg.compile([WEATHER, {"name": "ping"}], mode="native")
    (chat, _), (flat, _) = compiled.to_openai(), compiled.to_openai_responses()
    assert set(chat) == {"type", "function"}
    assert "strict" not in chat["function"]
    assert flat["strict"] is False
    assert flat["type"] == "function"
    first, last = compiled.to_anthropic(ttl="1h")
    assert "cache_control" not in first
    assert last["cache_control"] == {"type": "ephemeral", "ttl": "1h"}
    assert all("cache_control" not in tool for tool in compiled.to_anthropic(cache=False))
    (wrapper,) = compiled.to_gemini()
    assert [tool["name"] for tool in wrapper["functionDeclarations"]] == ["get_weather", "ping"]


def test_the_prompt_in_each_providers_shape() -> None:
    compiled = tscg.compile([WEATHER])
    assert compiled.system() == compiled.prompt
    assert compiled.system("anthropic") == [
        {"type": "text", "text": compiled.prompt, "cache_control": {"type": "ephemeral"}}
    ]
    assert compiled.system("gemini") == {"parts": [{"text": compiled.prompt}]}
    with pytest.raises(tscg.ConfigError, match="gemini"):
        compiled.system("other")


@pytest.mark.parametrize(
    ("builtin", "own"),
    [
        ({"type": "web_search_20250305", "name": "web_search", "max_uses": 3}, "anthropic"),
        ({"type": "web_search_preview"}, "openai_responses"),
        ({"type": "file_search", "vector_store_ids": ["a"]}, "openai_responses"),
        ({"google_search": {}}, "gemini"),
    ],
    ids=["anthropic", "openai search", "openai files", "gemini"],
)
def test_a_built_in_goes_untouched_to_its_own_provider_alone(builtin: dict[str, Any], own: str) -> None:
    compiled = tscg.compile([builtin, WEATHER], mode="native")
    assert [tool["name"] for tool in compiled.wire_tools] == ["get_weather"]
    for provider in ("openai", "openai_responses", "anthropic", "gemini"):
        render = getattr(compiled, f"to_{provider}")
        if provider == own:
            assert builtin in json.loads(json.dumps(render()))
        else:
            with pytest.raises(tscg.ConfigError, match="built-in"):
                render()


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("txt", "unknown mode 'txt'; allowed: auto, native, text, dispatch, passthrough; did you mean 'text'?"),
        (None, "unknown mode None; allowed: auto, native, text, dispatch, passthrough"),
        ("code", "would bypass its hooks; allowed: auto, native, text, dispatch, passthrough"),
        (tscg.Code(), "code mode is not offered here"),
        (tscg.Dispatch(map="all"), "dispatch: map is 'all'; allowed: "),
    ],
    ids=["misspelt", "none", "code", "code-options", "wrong-option"],
)
def test_a_mode_that_an_agent_cannot_use_is_told(mode: Any, says: str) -> None:
    with pytest.raises(tscg.ConfigError) as told:
        agent_mode(mode, "hooks")
    assert says in str(told.value)
    assert ("passthrough" in str(told.value)) == (not isinstance(mode, tscg.Dispatch))
