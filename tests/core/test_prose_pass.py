"""The prose pass: one walk gives what the operators give one after the other, and no text makes it slow."""

from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.strategies import catalogs
from tscg import compile, decompile
from tscg.ir import Catalog, Integer, Note, Object, Param, String, Tool
from tscg.operators.prose import Site, map_notes, rewriter, told
from tscg.pipeline import rewritten
from tscg.profiles import PROFILES

PROSE_PROFILES = ("conservative", "balanced", "brief", "signature")


def prose(tool: Tool) -> list[tuple[str, Site]]:
    """Every text of a tool with its place, in the order of the walk."""
    found: list[tuple[str, Site]] = []

    def read(note: Note, site: Site) -> Note:
        if note.description:
            found.append((note.description, site))
        return note

    assert map_notes(tool, read) is tool
    return found


@pytest.mark.parametrize("profile", PROSE_PROFILES)
def test_one_walk_is_the_operators_one_after_the_other(
    shared_catalogs: dict[str, list[dict[str, Any]]], profile: str
) -> None:
    seen = changed = 0
    for tools in shared_catalogs.values():
        rewrite = rewriter(PROFILES[profile])
        assert rewrite is not None
        for tool in Catalog.from_tools(tools):
            given = prose(tool)
            expected = [told(text, site, PROFILES[profile]) for text, site in given]
            assert [text for text, _ in prose(rewrite(tool))] == [text for text in expected if text], tool.name
            seen += len(given)
            changed += sum(text != before for text, (before, _) in zip(expected, given, strict=True))
    assert seen > 2_000
    assert changed > 400


@pytest.mark.parametrize("profile", PROSE_PROFILES)
def test_law_the_text_is_what_is_shown(shared_catalogs: dict[str, list[dict[str, Any]]], profile: str) -> None:
    """Also where lines went: what is left stays apart, in the form that the parser gives back."""
    for tools in shared_catalogs.values():
        compiled = compile(tools, profile=profile)
        assert decompile(compiled.text) == compiled.shown


@settings(max_examples=60)
@given(catalogs, st.sampled_from(PROSE_PROFILES))
def test_law_the_text_is_what_is_shown_of_made_tools(raws: list[dict[str, Any]], profile: str) -> None:
    compiled = compile(raws, profile=profile, on_error="skip")
    assert decompile(compiled.text) == compiled.shown


def test_lines_that_would_flow_together_stay_apart() -> None:
    text = (
        "Lists the tokens that have access to resources of the organization and its teams\n\nIt lists the tokens.\n\n"
        "Only apps can use it, and you must ask."
    )
    shown = rewritten(Catalog.from_tools([{"name": "a", "description": text}]), PROFILES["balanced"])[0].description
    assert (
        shown
        == "Lists tokens that have access to resources of organization and its teams\n\nOnly apps can use it, and you must ask."
    )


def test_profile_without_operators_on_prose_changes_nothing() -> None:
    catalog = Catalog(tools=(Tool(name="a", description="Please note that it is the list.", root=Object()),))
    assert rewriter(PROFILES["lossless"]) is None
    assert rewritten(catalog, PROFILES["lossless"]) is catalog


def test_name_of_a_parameter_is_no_filler() -> None:
    text = "Please note that it is sorted."
    param = Param(name="note", type=Integer(note=Note(description=text)))
    for name, shown in (("note", "note that it is sorted."), ("size", "It is sorted.")):
        root = Object(params=(Param(name=name, type=param.type),))
        tool = rewritten(Catalog(tools=(Tool(name="t", root=root),)), PROFILES["conservative"])[0]
        assert tool.params[0].description == shown


UNITS = (
    "[\n", "{\n", "a. ", "x", "🎉", "`", '"a', "(", "(a) ", "a (b. ", "e.g. ", "1. ", "。", "You must. ", "- must do\n",
    "Important:\n- a\n", "please ", "in order to ", "the ", "list the ", "\ud800 ", "# a\n", "> a\n", "(optional) ",
    "default 10, ", "... ", "U.S. ", "must not only ", "'a. b' ", "(a.) b ", "! ", "é. ",
)  # fmt: skip


@pytest.mark.parametrize("size", [20_000, 2_000_000])
@pytest.mark.parametrize("unit", UNITS, ids=ascii)
def test_no_text_makes_the_pass_slow(unit: str, size: int) -> None:
    text = (unit * (size // len(unit))).strip()
    note = Note(description=text, default='"a"')
    tool = Tool(name="t", description=text, root=Object(params=(Param(name="p", type=String(note=note)),)))
    catalog = Catalog(tools=(tool,))
    for profile in PROSE_PROFILES:
        taken = []
        for _ in range(2):  # the first may stand in for other work on the machine
            began = time.process_time()
            shown = rewritten(catalog, PROFILES[profile])
            taken.append(time.process_time() - began)
            if taken[-1] < 2:
                break
        assert min(taken) < 2, profile
        assert len(shown[0].description) <= len(text)


@pytest.mark.parametrize("profile", ["conservative", "balanced"])
def test_a_lone_surrogate_is_kept(profile: str) -> None:
    text = "Size \ud800 of it"
    root = Object(params=(Param(name="p", type=String(note=Note(description=text))),))
    tool = rewritten(Catalog(tools=(Tool(name="t", description=text, root=root),)), PROFILES[profile])[0]
    assert tool.description == tool.params[0].description == text
