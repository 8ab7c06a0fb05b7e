"""``previous=``: what was sent stays a prefix, byte for byte; names, codes and places never change."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tscg
from tests.strategies import catalogs
from tscg.errors import ConfigError, ParseError

MODES = ("text", "native", "dispatch", "code", "passthrough")


def tool(name: str, description: str = "Does it.", /, **properties: Any) -> dict[str, Any]:
    return {"name": name, "description": description, "inputSchema": {"type": "object", "properties": properties}}


STEPS = [
    [tool("b"), tool("d", q={"type": "string"})],
    [tool("b"), tool("d", q={"type": "integer"}), tool("a", "New.")],
    [tool("d", q={"type": "integer"}), tool("a", "New.")],
    [tool("d", q={"type": "integer"}), tool("b"), tool("a", "New.")],
    [],
    [tool("b"), tool("e", x={"type": "object", "properties": {"y": {"type": "string"}}})],
]
"""A conversation: tools come, change, go and come back."""


def run(mode: Any, steps: list[list[dict[str, Any]]], **options: Any) -> list[tscg.CompiledCatalog]:
    made = [tscg.compile(steps[0], mode=mode, **options)]
    for tools in steps[1:]:
        made.append(tscg.compile(tools, mode=mode, previous=made[-1], **options))
    return made


@pytest.mark.parametrize("mode", [*MODES, tscg.Dispatch(handles="codes"), tscg.Dispatch(map="signature")], ids=repr)
def test_c51_the_old_text_is_a_byte_prefix(mode: Any) -> None:
    made = run(mode, STEPS)
    for old, new in pairwise(made):
        assert new.text.startswith(old.text)
        assert list(new.wire_tools)[: len(old.wire_tools)] == [
            next(one for one in new.wire_tools if one["name"] == was["name"]) for was in old.wire_tools
        ]
        assert old.codes.items() <= new.codes.items()


@pytest.mark.parametrize("mode", MODES)
def test_c51_a_removed_tool_is_unavailable_and_a_returned_one_is_not(mode: str) -> None:
    made = run(mode, STEPS)
    for compiled, tools in zip(made, STEPS, strict=True):
        names = {one["name"] for one in tools}
        for name in ("a", "b", "d"):
            found = compiled.resolve(name, {})
            if name in names:
                assert isinstance(found, tscg.Call), (name, found)
            elif isinstance(found, tscg.CallError):
                seen = any(name in {one["name"] for one in step} for step in STEPS[: made.index(compiled) + 1])
                assert found.kind == ("unavailable_tool" if seen else "unknown_tool")
            else:
                pytest.fail(f"{name} was called")


@pytest.mark.parametrize("mode", MODES)
def test_the_same_tools_again_give_the_same_bytes(mode: str) -> None:
    for compiled, tools in zip(run(mode, STEPS), STEPS, strict=True):
        again = tscg.compile(list(reversed(tools)), mode=mode, previous=compiled)
        assert (again.prompt, again.wire, again.fingerprint) == (compiled.prompt, compiled.wire, compiled.fingerprint)


def test_a_changed_tool_supersedes_its_line_and_the_prompt_says_so() -> None:
    _, second, *_ = run("text", STEPS)
    assert second.text == "b() Does it.\nd(q?) Does it.\n%added\nd(q?:int) Does it.\na() New."
    assert "replaces" in second.prompt.rsplit("</tools>", 1)[1]
    read = tscg.decompile(second.text)
    assert [one.name for one in read] == ["b", "d", "a"]
    assert read[1] == second.catalog[1]


@given(catalogs, catalogs, st.sampled_from(["lossless", "balanced", "signature"]))
def test_any_catalog_goes_on_to_any_other(old: list[dict[str, Any]], new: list[dict[str, Any]], profile: str) -> None:
    first = tscg.compile(old, profile=profile, on_error="skip")
    second = tscg.compile(new, profile=profile, on_error="skip", previous=first)
    assert second.text.startswith(first.text)
    if profile == "lossless":
        listed = {one.name: one for one in tscg.decompile(second.text)}
        assert listed == {**{one.name: one for one in first.catalog}, **{one.name: one for one in second.catalog}}
    again = tscg.compile(new, profile=profile, on_error="skip", previous=second)
    assert (again.text, again.fingerprint) == (second.text, second.fingerprint)


def test_only_the_newcomer_is_renamed() -> None:
    one = tscg.Catalog.from_tools([tool("search")], server="A")
    two = tscg.Catalog.from_tools([tool("search", "Other.")], server="B")
    first = tscg.compile(one)
    both = tscg.compile(tscg.Catalog.join(one, two), previous=first)
    assert [(t.name, t.server) for t in both.catalog] == [("search", "A"), ("B__search", "B")]
    left = tscg.compile(two, previous=both)
    assert [t.name for t in left.catalog] == ["B__search"]
    error = left.resolve("search", {})
    assert isinstance(error, tscg.CallError)
    assert error.kind == "unavailable_tool"


def test_wire_names_stay() -> None:
    first = tscg.compile([tool("a.b")], mode="native")
    second = tscg.compile([tool("a.b"), tool("a_b"), tool("a/b")], mode="native", previous=first)
    assert [one["name"] for one in first.wire_tools] == ["a_b"]
    names = [one["name"] for one in second.wire_tools]
    assert names[0] == "a_b"
    assert len(set(names)) == 3
    assert [item.name for one in names if isinstance(item := second.resolve(one, {}), tscg.Call)] == [
        "a.b",
        "a/b",
        "a_b",
    ]


@pytest.mark.parametrize(
    ("options", "named"),
    [({"mode": "native"}, "mode"), ({"profile": "brief"}, "profile"), ({"budget": 100}, "budget")],
    ids=["mode", "profile", "budget"],
)
def test_other_options_are_refused(options: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        tscg.compile(STEPS[1], previous=tscg.compile(STEPS[0]), **options)


def test_grouped_tools_cannot_be_appended_to() -> None:
    grouped = tscg.Dispatch(group="namespace")
    tools = [tool("x_a"), tool("x_b")]
    with pytest.raises(ConfigError, match="grouped"):
        tscg.compile([*tools, tool("x_c")], mode=grouped, previous=tscg.compile(tools, mode=grouped))


@pytest.mark.parametrize("text", ["a()\n%addedclosed\nb()", "a()\n%added", "a()\n%added unknown\nb()"])
def test_a_section_that_is_none_is_a_parse_error(text: str) -> None:
    if text.endswith("%added"):
        assert [one.name for one in tscg.decompile(text)] == ["a"]
        return
    with pytest.raises(ParseError) as caught:
        tscg.decompile(text)
    assert caught.value.line == 2


def test_the_order_operators_are_off() -> None:
    first = tscg.compile(STEPS[0], profile="aggressive")
    second = tscg.compile([tool("a"), *STEPS[0]], profile="aggressive", previous=first)
    assert second.text.startswith(first.text)
