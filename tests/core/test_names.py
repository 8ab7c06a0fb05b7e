"""The name ladder: which spellings reach a tool, and which never do."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.core.decode_samples import WEATHER, surface
from tscg import Catalog
from tscg.decoding import SAFE, decoding_of
from tscg.names import find
from tscg.resolve import Surface


def tools(*names: str) -> list[dict[str, Any]]:
    return [{"name": name, "description": "", "inputSchema": {"type": "object", "properties": {}}} for name in names]


REACH = [
    ("get_weather", ()),
    ("functions.get_weather", ("name_prefix",)),
    ("function.get_weather", ("name_prefix",)),
    ("tools.get_weather", ("name_prefix",)),
    ("tool.get_weather", ("name_prefix",)),
    ("tool:get_weather", ("name_prefix",)),
    ("default_api.get_weather", ("name_prefix",)),
    ("default_api:get_weather", ("name_prefix",)),
    ("mcp__srv__get_weather", ("name_prefix",)),
    ("mcp__a__b__get_weather", ("name_prefix",)),
    ("get_weather()", ("name_prefix",)),
    (" get_weather\n", ("name_prefix",)),
    ('"get_weather"', ("name_prefix",)),
    ("`get_weather`", ("name_prefix",)),
    ("get_weather<|channel|>commentary", ("name_prefix",)),
    ("getWeather", ("name_case",)),
    ("GET-WEATHER", ("name_case",)),
    ("get weather", ("name_case",)),
    ("functions.GetWeather", ("name_prefix", "name_case")),
]


@pytest.mark.parametrize(("name", "kinds"), REACH, ids=[repr(row[0]) for row in REACH])
def test_reaches(name: str, kinds: tuple[str, ...]) -> None:
    found = find(surface(), name)
    assert found.entry is not None
    assert found.entry.tool.name == "get_weather"
    assert tuple(repair.split(":")[0] for repair in found.repairs) == kinds


def switched(kind: str) -> dict[str, Any]:
    return {kind: False}


@pytest.mark.parametrize(("name", "kinds"), [row for row in REACH if row[1]], ids=[repr(r[0]) for r in REACH if r[1]])
def test_repairs_of_names_have_switches(name: str, kinds: tuple[str, ...]) -> None:
    for kind in kinds:
        assert not any(
            repair.startswith(kind) for repair in find(surface(decoding=replace(SAFE, **switched(kind))), name).repairs
        )
    assert find(surface(name_prefix=False, name_case=False), name).entry is None
    assert find(surface(decoding=decoding_of("strict")), name).entry is None


NEVER = [
    "creating:get_weather",
    "weather",
    "get_weather_now",
    "get_forecast",
    "functions.",
    "",
    " ",
    "()",
    "x.get_weather",
    "functions.tools.get_weather",
    "get_weather.",
    "mcp__get_weather",
    "a" * 300,
]


@pytest.mark.parametrize("name", NEVER)
def test_never_reaches(name: str) -> None:
    found = find(surface(), name)
    if name == "get_weather.":  # case and separators aside it is the name
        assert found.repairs
        return
    assert found.entry is None
    assert found.fault is not None
    assert found.fault.kind == "unknown_tool"


@pytest.mark.parametrize("name", [None, 5, ["get_weather"], {"name": "get_weather"}])
def test_a_name_that_is_no_text(name: object) -> None:
    fault = find(surface(), name).fault
    assert fault is not None
    assert fault.kind == "unknown_tool"


def test_the_exact_name_wins() -> None:
    made = surface(tools("get_weather", "functions.get_weather", "getweather"))
    for name in ("get_weather", "functions.get_weather", "getweather"):
        found = find(made, name)
        assert found.entry is not None
        assert (found.entry.tool.name, found.repairs) == (name, ())


def test_two_tools_without_case_are_ambiguous() -> None:
    made = surface(tools("get_user", "getUser"))
    fault = find(made, "GETUSER").fault
    assert fault is not None
    assert fault.kind == "ambiguous_tool"
    assert fault.expected == "getUser, get_user"


def test_other_letters_count() -> None:
    made = surface(tools("погода_сейчас", "天気"))
    found = find(made, "ПогодаСейчас")
    assert found.entry is not None
    assert found.entry.tool.name == "погода_сейчас"
    assert find(made, "天").entry is None


def test_wire_names() -> None:
    made = surface(tools("user-profile/update"), "native", wire_names={"user-profile/update": "user-profile_update"})
    for name in ("user-profile/update", "user-profile_update"):
        found = find(made, name)
        assert found.entry is not None
        assert found.repairs == ()


def servers() -> Surface:
    one = Catalog.from_tools(tools("search", "open_page"), server="web")
    two = Catalog.from_tools(tools("search"), server="mail")
    return Surface(catalog=Catalog.join(one, two))


def test_a_name_on_two_servers() -> None:
    made = servers()
    assert find(made, "web__search").entry is not None
    fault = find(made, "search").fault
    assert fault is not None
    assert (fault.kind, fault.expected) == ("ambiguous_tool", "mail__search, web__search")


@pytest.mark.parametrize("name", ["web.search", "web/search", "web:search", "Web__Search", "mcp__web__search"])
def test_server_and_name_in_other_spellings(name: str) -> None:
    found = find(servers(), name)
    assert found.entry is not None, found.fault
    assert found.entry.tool.name == "web__search"


def test_the_server_of_another_tool_is_no_prefix() -> None:
    assert find(servers(), "mcp__mail__open_page").entry is None
    found = find(servers(), "mcp__web__open_page")
    assert found.entry is not None
    assert found.entry.tool.name == "open_page"


def test_tools_that_are_gone() -> None:
    made = surface([WEATHER], gone=frozenset({"get_tides"}))
    fault = find(made, "getTides").fault
    assert fault is not None
    assert fault.kind == "unavailable_tool"


def test_near_names_are_hints() -> None:
    fault = find(surface(), "get_wether").fault
    assert fault is not None
    assert fault.hint == "Near names: get_weather."
    empty = find(surface([]), "x").fault
    assert empty is not None
    assert empty.hint == "There are no tools."
