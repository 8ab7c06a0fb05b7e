"""Notes: which are shown, which are refused and why."""

from __future__ import annotations

from typing import Any

import pytest

import tscg
from tscg.modes.notes import note, tool_fingerprint

TOOLS: list[dict[str, Any]] = [
    {
        "name": "list_issues",
        "description": "Lists issues; created_at is in each.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "repo": {"type": "string"},
                "per_page": {"type": "integer"},
                "state": {"enum": ["open", "not_planned"]},
                "filter": {"type": "object", "properties": {"byUser": {"type": "string"}}},
            },
            "required": ["repo"],
        },
    },
    {"name": "get_me", "inputSchema": {"type": "object"}},
]


def compiled(notes: dict[str, object] | None, **options: Any) -> tscg.CompiledCatalog:
    return tscg.compile(TOOLS, mode=tscg.Dispatch(**options), notes=notes)


def of(name: str) -> tscg.Tool:
    return next(tool for tool in tscg.Catalog.from_tools(TOOLS) if tool.name == name)


GOOD = [
    "Newest first, 30 a page.",
    "Use `per_page` for more; see get_me for the owner.",
    "state=open by default; not_planned counts as closed.",
    "Set byUser to filter; created_at tells the age.",
    "Works on GitHub, iOS and macOS issue(s): no write access.",
    "x" * 110,
    "Ends </tools> and ^1 in one line",
]
REFUSED = [
    pytest.param("One line.\nAnother", "several lines", id="c48-lines"),
    pytest.param("One line.\u2028Another", "several lines", id="c48-line-separator"),
    pytest.param("x" * 111, "111 characters", id="c48-long"),
    pytest.param("  ", "empty", id="empty"),
    pytest.param("Set `repository`.", "repository is no parameter", id="c48-quoted-rename"),
    pytest.param("Set page_size to 100.", "page_size is no parameter", id="c48-rename"),
    pytest.param("pageSize is 30.", "pageSize is no parameter", id="c48-camel-case"),
    pytest.param("Pass query=x.", "query is no parameter", id="c48-invented"),
    pytest.param("Better call list_pulls first.", "list_pulls is no parameter", id="c48-unknown-tool"),
    pytest.param("Better than fetch().", "fetch is no parameter", id="c48-unknown-call"),
]


@pytest.mark.parametrize("text", GOOD, ids=range(len(GOOD)))
def test_c15_a_note_follows_its_line(text: str) -> None:
    plain, found = compiled(None), compiled({"list_issues": text})
    line = plain.sent.entries["list_issues"]
    assert found.sent.entries["list_issues"].startswith(f"{line}\n ")
    assert len(found.text.splitlines()) == len(plain.text.splitlines()) + 1
    assert found.sent.entries["get_me"] == plain.sent.entries["get_me"]
    assert found.stats.notes == 1
    assert found.prompt.count("</tools>") == 1
    assert found.warnings == ("1 of 2 tools have no note",)


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_c48_a_note_is_refused_with_a_reason(text: str, reason: str) -> None:
    found = compiled({"list_issues": text})
    assert reason in found.sent.refused["list_issues"]
    assert found.text == compiled(None).text
    assert found.stats.notes == 0
    assert any("list_issues is refused" in warning and reason in warning for warning in found.warnings)


def test_c15_mn_a_stale_note_is_dropped_and_named() -> None:
    stored = note(of("list_issues"), "Newest first.")
    assert "Newest first." in compiled({"list_issues": stored}).text
    changed = [{**TOOLS[0], "description": "Lists issues, oldest first."}, TOOLS[1]]
    found = tscg.compile(changed, mode="dispatch", notes={"list_issues": stored})
    assert "Newest" not in found.prompt
    assert found.sent.refused == {"list_issues": "stale: its tool has changed"}


def test_the_fingerprint_does_not_depend_on_the_format() -> None:
    anthropic = [
        {"name": one["name"], "description": one.get("description", ""), "input_schema": one["inputSchema"]}
        for one in TOOLS
    ]
    assert [tool_fingerprint(tool) for tool in tscg.Catalog.from_tools(anthropic)] == [
        tool_fingerprint(tool) for tool in tscg.Catalog.from_tools(TOOLS)
    ]


def test_c48_orphans_are_counted() -> None:
    found = compiled({"gone": "Nobody has this.", "get_me": "The caller."})
    assert found.sent.refused == {"gone": "there is no such tool"}
    pinned = tscg.compile(TOOLS, mode="dispatch", notes={"get_me": "The caller."}, pin=["get_me"])
    assert pinned.sent.refused == {"get_me": "its tool has a wire tool of its own"}


def test_c48_notes_may_be_required() -> None:
    whole: dict[str, object] = {"list_issues": "Newest first.", "get_me": "The caller."}
    assert compiled(whole, require_notes=True).stats.notes == 2
    with pytest.raises(tscg.ConfigError, match=r"get_me \(it has several lines\)"):
        compiled({**whole, "get_me": "a\nb"}, require_notes=True)
    with pytest.raises(tscg.ConfigError, match="list_issues"):
        compiled(None, require_notes=True)


@pytest.mark.parametrize("given", [3, {"text": 1}, {"line": "x"}, None], ids=str)
def test_what_is_no_note(given: object) -> None:
    with pytest.raises(tscg.ConfigError, match="the note of 'get_me'"):
        compiled({"get_me": given})


@pytest.mark.parametrize("mode", ["text", "native", "passthrough"])
def test_c15_other_modes_take_no_notes(mode: str) -> None:
    with pytest.raises(tscg.ConfigError, match="dispatch"):
        tscg.compile(TOOLS, mode=mode, notes={"get_me": "The caller."})
    assert tscg.compile(TOOLS, mode=mode, notes=None).prompt == tscg.compile(TOOLS, mode=mode).prompt


def test_notes_in_groups() -> None:
    found = compiled({"get_me": "The caller."}, group="namespace")
    assert "get_me()\n The caller." in found.wire_tools[0]["description"]
