"""Model rows: ids are read by words and never by parts of words, and every figure has a source."""

from __future__ import annotations

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tscg.models import (
    CAUSAL_TOOLS,
    FAMILIES,
    MIN_EFFECT,
    MIN_RUNS,
    ROWS,
    SMALL,
    Evidence,
    ModelRow,
    active,
    choose_profile,
    read_id,
    row_of,
)

#: What says which row it is, or how it was found; all else is a figure.
NAMES = {"id", "family", "version", "variants", "evidence", "reason"}


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        ("gpt-5.2", ("gpt", (5, 2), None, False)),
        ("openai:gpt-5.2", ("gpt", (5, 2), None, False)),
        ("openrouter/openai/gpt-5.2-2025-12-11", ("gpt", (5, 2), None, False)),
        ("gpt-5.2-codex", ("gpt", (5, 2), None, True)),
        ("GPT-4o", ("gpt-4o", (), None, False)),
        ("gpt-4-0613", ("gpt", (4,), None, False)),
        ("gpt-oss:20b", ("gpt-oss", (), 20.0, False)),
        ("o3", ("o", (3,), None, False)),
        ("claude-opus-4-7", ("claude-opus", (4, 7), None, False)),
        ("anthropic/claude-opus-4.7", ("claude-opus", (4, 7), None, False)),
        ("claude-opus-4-0", ("claude-opus", (4,), None, False)),
        ("claude-3-5-sonnet-20241022", ("claude-sonnet", (3, 5), None, False)),
        ("ollama/phi4", ("phi", (4,), None, False)),
        ("phi-4-mini-instruct", ("phi", (4,), None, True)),
        ("qwen3:4b", ("qwen", (3,), 4.0, False)),
        ("ollama:qwen2.5:0.5b-instruct-q4_K_M", ("qwen", (2, 5), 0.5, False)),
        ("Qwen/Qwen3-30B-A3B-Instruct-2507", ("qwen", (3,), 30.0, True)),
        ("meta-llama/Meta-Llama-3.1-8B-Instruct", ("llama", (3, 1), 8.0, False)),
        ("mistral-7b-instruct-v0.3", ("mistral", (0, 3), 7.0, False)),
        ("deepseek-r1:14b", ("deepseek-r1", (), 14.0, False)),
        ("my-gpt-5.2", ("", (5, 2), None, True)),
        ("opus", ("", (), None, True)),
        ("", ("", (), None, False)),
    ],
)
def test_read_id(model: str, expected: tuple[str, tuple[int, ...], float | None, bool]) -> None:
    assert tuple(read_id(model)) == expected


@given(st.text(max_size=40))
def test_any_id_can_be_read(model: str) -> None:
    row = row_of(model)
    assert row.reason
    assert row.profile in {"balanced", "conservative", "aggressive"}


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        pytest.param("claude-opus-4-7-20260416", "the row of claude-opus-4-7", id="dated"),
        pytest.param("claude-opus-4-6", "the row of the family claude-opus 4.6..6", id="other version"),
        pytest.param("gpt-5.2-mini", "the row of the family gpt 4.1..6", id="a variant is another model"),
        pytest.param("gpt-5.20", "the row of the family gpt 4.1..6", id="5.20 is not 5.2"),
        pytest.param("not-gpt-5.2", "no row for the model 'not-gpt-5.2': defaults", id="no part of a name"),
        pytest.param("claude-opus-4-7-distilled", "the row of the family claude-opus", id="no beginning of a name"),
        pytest.param(None, "no model named: defaults", id="none"),
        pytest.param(
            "nobody/knows-3b", "no row for the model 'nobody/knows-3b': defaults; 3 B parameters, below 10 B", id="size"
        ),
    ],
)
def test_reason(model: str | None, reason: str) -> None:
    assert row_of(model).reason == reason


@pytest.mark.parametrize(
    ("model", "tools", "profile"),
    [
        pytest.param("claude-opus-4-7", 12, "aggressive", id="hungry"),
        pytest.param("claude-sonnet-4-20250514", 12, "balanced", id="robust"),
        pytest.param("gpt-5.2", 12, "balanced", id="sensitive"),
        pytest.param("qwen3:32b", 12, "conservative", id="qwen of any size"),
        pytest.param("llama3.1:8b", 12, "conservative", id="small"),
        pytest.param("llama3.1", 12, "conservative", id="small when no size is given"),
        pytest.param("llama-3.1-70b-instruct", 12, "balanced", id="large"),
        pytest.param("unknown-9.9b", 12, "conservative", id="small and unknown"),
        pytest.param("unknown-10b", 12, "balanced", id="at the limit"),
        pytest.param("unknown", 12, "balanced", id="unknown"),
        pytest.param(None, 500, "balanced", id="none"),
    ],
)
def test_choose_profile(model: str | None, tools: int, profile: str) -> None:
    assert choose_profile(model, tools)[0] == profile


def test_a_tight_context_takes_brief() -> None:
    assert choose_profile(None, 28, context=8_192) == (
        "brief",
        "no model named: defaults; about 2,352 tokens are more than 25 % of a context of 8,192",
    )
    assert choose_profile(None, 10, context=8_192)[0] == "balanced"
    assert choose_profile("qwen3:4b", 28, context=8_192)[0] == "conservative", "prose is not cut for small models"


def test_large_catalogs_say_that_two_operators_are_off() -> None:
    assert "no CFL and CFO" in choose_profile("claude-opus-4-7", CAUSAL_TOOLS)[1]
    assert "no CFL and CFO" not in choose_profile("claude-opus-4-7", CAUSAL_TOOLS - 1)[1]


EIGHT = frozenset("sdm tas dro cfl cfo cas sad ccp".split())


@pytest.mark.parametrize(
    ("model", "tools", "off"),
    [
        pytest.param("claude-opus-4-7", 29, set(), id="hungry, small catalog"),
        pytest.param("claude-opus-4-7", 30, {"cfl", "cfo"}, id="hungry, large catalog"),
        pytest.param("gpt-5.2", 5, {"cfo"}, id="the row forbids one"),
        pytest.param(None, 5, set(), id="no row"),
    ],
)
def test_active(model: str | None, tools: int, off: set[str]) -> None:
    assert active(EIGHT, row_of(model), tools) == EIGHT - off


def test_active_adds_nothing() -> None:
    assert active(frozenset({"sdm"}), row_of("claude-opus-4-7"), 5) == {"sdm"}


def test_own_rows_go_before_ours() -> None:
    finding = Evidence(
        of=("profile",), kind="measured", source="tune", says="no loss", n=40, effect=0.06, record="a.json"
    )
    mine = ModelRow(family="qwen", version="3", variants=True, profile="brief", evidence=(finding,))
    assert row_of("qwen3:4b", [mine]).profile == "brief", "also against the rule for small models"
    assert choose_profile("qwen3:4b", 5, rows=[mine])[0] == "brief"
    assert row_of("qwen2.5:7b", [mine]).profile == "conservative"
    exact = ModelRow(id="in-house", profile="lossless")
    assert row_of("gateway/in-house", [exact]).reason == "the row of in-house"
    assert row_of("in-house-2", [exact]).profile == "balanced"


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.family} {row.version}")
def test_every_figure_has_a_source(row: ModelRow) -> None:
    default = ModelRow()
    figures = {f.name for f in fields(row)} - NAMES
    told = {name for one in row.evidence for name in one.of}
    assert told <= figures
    assert {name for name in figures if getattr(row, name) != getattr(default, name)} <= told
    assert row.family in FAMILIES.values()
    assert row.reason == "", "the reason is given when a row is found"


@pytest.mark.parametrize(
    "one", dict.fromkeys(one for row in ROWS for one in row.evidence), ids=lambda one: one.source[:40]
)
def test_evidence_is_whole(one: Evidence) -> None:
    assert one.of
    assert one.source
    assert one.says
    if one.kind == "measured":
        assert one.n >= MIN_RUNS
        assert abs(one.effect) >= MIN_EFFECT
        assert one.record
    if one.kind in ("paper", "report", "seen"):
        assert one.date


def test_a_row_of_a_family_never_hides_a_tested_model() -> None:
    for place, row in enumerate(ROWS):
        if row.id:
            assert row_of(row.id).id == row.id
            assert not any(other.family == row.family for other in ROWS[:place] if not other.id)


@pytest.mark.parametrize(
    "model",
    ["gpt-5.2", "gpt-5-mini", "gpt-4.1", "gpt-4o", "gpt-4o-mini", "gpt-4", "gpt-4-0613", "gpt-4-turbo", "gpt-3.5-turbo",
     "gpt-35-turbo", "o1", "o3", "o4-mini", "gpt-oss-120b"],
)  # fmt: skip
def test_encodings_are_those_of_tiktoken(model: str) -> None:
    tiktoken_model = pytest.importorskip("tiktoken.model")
    assert row_of(model).encoding == tiktoken_model.encoding_name_for_model(model)


@pytest.mark.parametrize(("size", "small"), [(SMALL, False), (SMALL - 0.1, True)])
def test_small(size: float, small: bool) -> None:
    row = row_of(f"gemma-3-{size:g}b-it")
    assert (row.profile == "conservative") is small
    assert row.dispatch is not small
    assert not row.native
