"""Grouped dispatch: namespaces, their wire tools, and mappings that cannot be."""

from __future__ import annotations

from typing import Any

import pytest

import tscg
from tscg.ir import Catalog
from tscg.modes.groups import namespace

GROUPED = tscg.Dispatch(group="namespace")


def tools(*names: str) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}
    return [{"name": name, "inputSchema": schema} for name in names]


def groups(given: Any, **options: Any) -> dict[str, dict[str, str]]:
    compiled = tscg.compile(given, mode=tscg.Dispatch(**{"group": "namespace", **options}))
    return {name: dict(operations) for name, operations in compiled.sent.groups.items()}


SPACES = [
    ("github_get_me", "github"),
    ("github__get_me", "github"),
    ("repos/list-for-user", "repos"),
    ("admin.tools.list", "admin"),
    ("fs:read", "fs"),
    ("_private", "other"),
    ("foo_", "other"),
    ("__x_y", "__x"),
    ("ping", "other"),
    ("getIssue", "other"),
]


@pytest.mark.parametrize(("name", "space"), SPACES, ids=[name for name, _ in SPACES])
def test_namespace_of_a_name(name: str, space: str) -> None:
    assert namespace(Catalog.from_tools(tools(name))[0]) == space


def test_c16_one_tool_for_each_namespace_and_a_lookup() -> None:
    compiled = tscg.compile(tools("git_log", "git_status", "mail_send", "mail_read", "ping", "pong"), mode=GROUPED)
    git, mail, other, lookup = compiled.wire_tools
    assert [git["name"], mail["name"], other["name"], lookup["name"]] == ["git", "mail", "other", "lookup"]
    assert git["parameters"]["properties"]["op"] == {"type": "string", "enum": ["log", "status"]}
    assert git["parameters"]["properties"]["args"] == {"type": "object"}
    assert git["description"].split("\n")[1:] == ["log x", "status x"]
    assert mail["description"].split("\n") == ["read x", "send x"]
    assert (compiled.prompt, compiled.text) == ("", "")
    assert compiled.sent.groups["mail"] == {"read": "mail_read", "send": "mail_send"}
    assert set(compiled.sent.entries) == {tool.name for tool in compiled.catalog}


def test_c21_the_first_group_says_how_lines_are_read() -> None:
    compiled = tscg.compile(tools("a_x", "a_y"), mode=GROUPED, must_call=True)
    assert [item["name"] for item in compiled.wire_tools] == ["a"]
    assert compiled.wire_tools[0]["description"].split("\n")[0].endswith("() none, ? only optional")


C16 = [
    pytest.param(["a_x", "a_y", "b_x"], {"other": 3}, id="the-smallest-joins-a-lonely-one"),
    pytest.param(["a_x", "a_y", "b_x", "c_x"], {"a": 2, "other": 2}, id="singles-join-other"),
    pytest.param(["a_x", "a_y", "a_z", "b_x", "b_y", "c"], {"a": 3, "other": 3}, id="the-smaller-namespace-joins"),
    pytest.param(["a_x"], {"other": 1}, id="one-tool"),
    pytest.param(["_private", "foo_", "a"], {"other": 3}, id="c04-names-without-two-halves"),
]


@pytest.mark.parametrize(("names", "sizes"), C16)
def test_c16_no_group_of_one(names: list[str], sizes: dict[str, int]) -> None:
    assert {name: len(operations) for name, operations in groups(tools(*names)).items()} == sizes


def test_servers_are_namespaces() -> None:
    catalog = Catalog.join(
        Catalog.from_tools(tools("send_mail", "read_mail"), server="mail server"),
        Catalog.from_tools(tools("files_send", "send_mail"), server="files"),
    )
    assert groups(catalog) == {
        "files": {"send": "files_send", "send_mail": "files__send_mail"},
        "mail_server": {"read_mail": "read_mail", "send_mail": "mail server__send_mail"},
    }


def test_an_operation_is_short_only_where_it_is_unique() -> None:
    assert groups(tools("a_x", "a.x", "a_y"))["a"] == {"a.x": "a.x", "a_x": "a_x", "y": "a_y"}
    catalog = Catalog.from_tools(tools("git_log", "log"), server="git")
    assert groups(catalog)["git"] == {"git_log": "git_log", "log": "log"}


def test_a_mapping_is_followed() -> None:
    mapping = {"list_issues": "issues", "get_issue": "issues"}
    assert groups(tools("list_issues", "get_issue", "list_files", "list_users"), group=mapping) == {
        "issues": {"get_issue": "get_issue", "list_issues": "list_issues"},
        "list": {"files": "list_files", "users": "list_users"},
    }


BAD = [
    pytest.param({"a_x": ""}, "gives 'a_x' the namespace ''.*{'a_x': 'tasks'}", id="c04-empty"),
    pytest.param({"a_x": "_"}, "gives 'a_x' the namespace '_'", id="c04-empty-half"),
    pytest.param({"nope": "a"}, "names 'nope'", id="unknown-tool"),
    pytest.param({"a_x": "a_y", "a_y": "a_y"}, "'a_y', which is taken.*group={'a_x': 'a_y_tools'", id="name-of-a-tool"),
]


@pytest.mark.parametrize(("mapping", "message"), BAD)
def test_mappings_that_cannot_be(mapping: dict[str, str], message: str) -> None:
    with pytest.raises(tscg.ConfigError, match=message):
        groups(tools("a_x", "a_y", "b_x", "c_x"), group=mapping)


def test_mn_no_two_groups_have_one_wire_name() -> None:
    mapping = {"p": "a b", "q": "a b", "r": "a.b", "s": "a.b"}
    found = groups(tools(*mapping), group=mapping)
    assert len(found) == 2
    assert sorted(len(operations) for operations in found.values()) == [2, 2]


def test_mn_a_namespace_called_lookup_keeps_its_name() -> None:
    compiled = tscg.compile(tools("lookup_a", "lookup_b", "call_a", "call_b"), mode=GROUPED)
    assert [item["name"] for item in compiled.wire_tools] == ["call", "lookup", "lookup_tool"]
    assert compiled.lookup_tool == "lookup_tool"


def test_a_group_named_like_a_pinned_tool_is_refused_with_a_mapping_that_works() -> None:
    given = tools("git", "git_log", "git_status")
    with pytest.raises(tscg.ConfigError, match="git_tools") as caught:
        tscg.compile(given, mode=GROUPED, pin=["git"])
    mapping = dict.fromkeys(("git_log", "git_status"), "git_tools")
    assert str(mapping) in str(caught.value)
    compiled = tscg.compile(given, mode=tscg.Dispatch(group=mapping), pin=["git"])
    assert [item["name"] for item in compiled.wire_tools] == ["git_tools", "lookup", "git"]


def test_richer_lines_on_request() -> None:
    compiled = tscg.compile(tools("a_x", "a_y"), mode=tscg.Dispatch(group="namespace", map="signature"))
    assert compiled.wire_tools[0]["description"].split("\n")[1:] == ["x(x)", "y(x)"]
