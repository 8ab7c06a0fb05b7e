"""The policy table and rows of one's own: what each figure stands on, what applies when, and that nothing is swapped."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import tscg
from tscg import ConfigError, Policy
from tscg.models import MIN_EFFECT, MIN_RUNS, ROWS, Evidence, ModelRow, row_of
from tscg.modes.options import MAPS, MODES
from tscg.policy import KEYS, OPERATORS, Tuned

ROOT = Path(__file__).resolve().parents[2]
TOOLS: list[dict[str, Any]] = [
    {
        "name": f"read_{index}",
        "description": f"Reads record {index} of a list. Use this tool when the record is known. Never call it twice.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": "The id of the record that is read, as the list has it."},
                "limit": {"type": "integer", "minimum": 1, "description": "How many lines of it are wanted at most."},
            },
            "required": ["id"],
        },
    }
    for index in range(12)
]

FILE = """
[defaults]
mode = "text"

[[model]]
id = "in-house"
mode = "dispatch"
map = "signature"
profile = "brief"
[model.evidence]
source = "runs/in-house.json"
n = 120
date = 2026-06-01
effect = 0.07
interval = [0.02, 0.12]

[[model]]
family = "qwen"
version = "3..4"
mode = "dispatch"
profile = "balanced"
operators = ["sdm", "tas", "dro", "cas", "ccp"]
[model.evidence]
source = "runs/qwen.json"
n = 40
effect = 0.06

[[model]]
id = "gpt-5.2"
profile = "conservative"
"""


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    (tmp_path / "tscg.toml").write_text(FILE)
    return Policy.load(tmp_path / "tscg.toml")


# --- the table of the package ----------------------------------------------------------------------------------------


def meets_the_rule(one: Evidence) -> bool:
    """The rule for a finding of our own: enough runs, an effect that is one, and a record that is here."""
    return one.n >= MIN_RUNS and abs(one.effect) >= MIN_EFFECT and bool(one.record) and (ROOT / one.record).is_file()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.family} {row.version}")
def test_a_measured_row_has_the_runs_and_the_record(row: ModelRow) -> None:
    assert all(meets_the_rule(one) for one in row.evidence if one.kind == "measured")
    if row.mode or row.map:
        assert any(one.kind == "measured" for one in row.evidence), "a mode and a map are advised on our own runs alone"


def test_the_rule_for_measured_rows_can_fail(tmp_path: Path) -> None:
    good = Evidence(of=("mode",), kind="measured", source="s", says="t", n=36, effect=-0.05, record="README.md")
    assert meets_the_rule(good)
    for change in ({"n": 35}, {"effect": 0.049}, {"record": ""}, {"record": "absent.json"}):
        assert not meets_the_rule(replace(good, **change))


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.family} {row.version}")
def test_a_row_names_what_there_is(row: ModelRow) -> None:
    assert row.map in ("", *MAPS)
    assert row.mode in ("", *MODES)
    assert {name for name, _ in row.lookups} == set(MAPS)
    for bad in row.bad:
        assert bad.says
        assert bad.source
        assert set(bad.modes) <= set(MODES)
        assert bad.profile in ("", *tscg.PROFILES)


# --- c43 -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", list(MODES))
def test_c43_no_model_changes_nothing(mode: str) -> None:
    plain, named = tscg.compile(TOOLS, mode=mode), tscg.compile(TOOLS, mode=mode, model=None)
    unknown = tscg.compile(TOOLS, mode=mode, model="nobody/knows")
    assert plain.fingerprint == named.fingerprint == unknown.fingerprint
    assert plain.warnings == unknown.warnings == ()


@pytest.mark.parametrize("model", ["my-gpt-5.2", "gpt-5.2-mini", "gpt-5.20", "gpt-5", None])
def test_c43_a_row_applies_for_its_exact_id_only(model: str | None) -> None:
    assert row_of(model).id == ""
    assert row_of("openai/gpt-5.2").id == "gpt-5.2"


def test_c43_an_explicit_option_wins() -> None:
    compiled = tscg.compile(TOOLS, mode="dispatch", profile="brief", model="qwen3:4b")
    assert (compiled.mode, compiled.profile) == ("dispatch", "brief")


@pytest.mark.parametrize(
    ("model", "options", "says"),
    [
        pytest.param(
            "grok-4.5", {"mode": tscg.Dispatch(map="names")},
            "known to do badly with grok-4.5 (mode 'dispatch', map 'names', handles 'names'): 19 % of the runs ended "
            "without any call, where codes had none such (github.com/dperussina/toolgz; n = 36)",
            id="c43-known-bad-with-n",
        ),
        pytest.param("ollama/phi4", {"mode": "native"}, "issue 9647; n not published)", id="c43-no-tools"),
        pytest.param("llama3.1:8b", {"mode": "dispatch"}, "with llama3.1:8b (mode 'dispatch'): ", id="c43-small"),
        pytest.param("qwen3:32b", {"profile": "aggressive"}, "(profile 'aggressive'): ", id="c43-profile"),
    ],
)  # fmt: skip
def test_c43_a_known_bad_pair_warns_and_nothing_is_swapped(model: str, options: dict[str, Any], says: str) -> None:
    compiled = tscg.compile(TOOLS, model=model, **options)
    assert any(says in warning for warning in compiled.warnings), compiled.warnings
    assert compiled.mode == (getattr(options.get("mode"), "name", options.get("mode")) or "text")
    assert compiled.profile == options.get("profile", "balanced")
    with pytest.raises(ConfigError, match="known to do badly"):
        tscg.compile(TOOLS, model=model, strict_policy=True, **options)


@pytest.mark.parametrize(
    ("model", "options"),
    [
        ("grok-4.5", {"mode": tscg.Dispatch(map="names", handles="codes")}),
        ("grok-4.5", {"mode": "dispatch"}),
        ("ollama/phi4", {"mode": "text"}),
        ("gpt-5.2", {"mode": "dispatch"}),
        (None, {"mode": "dispatch"}),
    ],
)
def test_c43_what_is_not_known_to_be_bad_does_not_warn(model: str | None, options: dict[str, Any]) -> None:
    assert tscg.compile(TOOLS, model=model, strict_policy=True, **options).warnings == ()


@pytest.mark.parametrize("model", ["grok-4.5", "ollama/phi4", "llama3.1:8b", "qwen3:32b", "gemma3", "gpt-5.2", None])
def test_auto_never_takes_what_is_known_to_be_bad(model: str | None) -> None:
    for tools in (TOOLS[:2], TOOLS):
        compiled = tscg.compile(tools, mode="auto", profile="auto", model=model, strict_policy=True)
        assert compiled.warnings == ()


# --- rows of one's own -----------------------------------------------------------------------------------------------


def test_a_file_is_read(policy: Policy) -> None:
    first = policy.rows[0]
    assert (first.id, first.mode, first.map, first.profile) == ("in-house", "dispatch", "signature", "brief")
    assert first.interval == (0.02, 0.12)
    assert first.evidence is not None
    assert (first.evidence.n, first.evidence.effect, first.evidence.date) == (120, 0.07, "2026-06-01")
    assert policy.rows[1].operators == ("sdm", "tas", "dro", "cas", "ccp")
    assert policy.rows[2].evidence is None


def test_it_is_a_value(policy: Policy, tmp_path: Path) -> None:
    assert pickle.loads(pickle.dumps(policy)) == policy == Policy.load(str(tmp_path / "tscg.toml"))
    assert len({policy, Policy.load(tmp_path / "tscg.toml")}) == 1
    (tmp_path / "tscg.toml").unlink()
    assert tscg.compile(TOOLS, profile=policy, model="in-house").profile == "brief", "nothing is read after loading"


def test_as_profile_it_chooses_its_rows_first(policy: Policy) -> None:
    compiled = tscg.compile(TOOLS, profile=policy, model="gateway/in-house")
    assert (compiled.mode, compiled.profile) == ("text", "brief")
    assert compiled.reasons == ("the row of in-house in tscg.toml (n = 120, 2026-06-01)",)
    assert tscg.compile(TOOLS, profile=policy, model="gpt-5.2").profile == "conservative"
    for model in ("claude-sonnet-4", "unknown", None, "llama3.1:8b"):
        mine, auto = (tscg.compile(TOOLS, profile=given, model=model) for given in (policy, "auto"))
        assert (mine.fingerprint, mine.reasons) == (auto.fingerprint, auto.reasons)


def test_what_the_file_does_not_say_stays_as_it_is(policy: Policy) -> None:
    row = policy.row("gpt-5.2")
    assert (row.profile, row.cfo, row.tool_limit) == ("conservative", False, 128)
    assert row.reason == "the row of gpt-5.2 in tscg.toml, without evidence"


def test_operators_are_those_of_the_row(policy: Policy) -> None:
    used = tscg.compile(TOOLS, profile=policy, model="qwen3:32b").profile_used
    assert (used.name, used.sdm, used.dro, used.cas, used.cfl, used.cfo) == (
        "balanced, tuned", True, True, True, False, False,
    )  # fmt: skip
    assert (used.anchors, used.closure) == (0, tscg.PROFILES["aggressive"].closure)
    assert used.keep == tscg.PROFILES["balanced"].keep
    assert Tuned(id="x", profile="brief", operators=("sdm", "dro")).resolved("balanced") == tscg.PROFILES["brief"]


def test_auto_takes_the_mode_of_the_row(policy: Policy) -> None:
    found = tscg.recommend(TOOLS, model="in-house", policy=policy)
    assert (found.mode, found.map, found.profile) == ("dispatch", "signature", "brief")
    assert found.reason.startswith("the row of in-house in tscg.toml (n = 120, 2026-06-01); dispatch with signature")
    compiled = tscg.compile(TOOLS, mode="auto", profile=policy, model="in-house")
    assert (compiled.options, compiled.profile) == (tscg.Dispatch(map="signature"), "brief")
    assert tscg.recommend(TOOLS, model="in-house").mode != "dispatch"


def test_what_was_measured_goes_before_what_others_found(policy: Policy) -> None:
    strict: dict[str, Any] = {"model": "qwen3:32b", "strict_policy": True}
    assert tscg.compile(TOOLS, mode="auto", profile=policy, **strict).mode == "dispatch"
    with pytest.raises(ConfigError, match="known to do badly"):
        tscg.compile(TOOLS, mode="dispatch", **strict)


def test_few_runs_are_said(policy: Policy) -> None:
    row = replace(policy.rows[0], evidence=Evidence(of=(), kind="measured", source="s", says="t", n=20))
    weak = replace(policy, rows=(row,))
    assert weak.choose("in-house", 9)[1] == "the row of in-house in tscg.toml (n = 20, fewer than 36 runs)"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("[[model]", "cannot be read", id="no TOML"),
        pytest.param("[[models]]", "unknown table in tscg.toml: 'models'; allowed: model, defaults", id="table"),
        pytest.param("[model]\nid='a'", "'model' of tscg.toml is no list of tables", id="one table"),
        pytest.param("[[model]]\nid='a'\nmodel='b'", "unknown key in model 1 of tscg.toml: 'model'", id="key"),
        pytest.param("[[model]]\nprofile='brief'", "needs an id or a family", id="no key"),
        pytest.param("[[model]]\nid='a'\nfamily='gpt'", "needs an id or a family", id="two keys"),
        pytest.param("[[model]]\nid='a'\nversion='1'", "a version goes with a family", id="version of an id"),
        pytest.param("[[model]]\nfamily='gtp'", "family of model 1 of tscg.toml is 'gtp'; allowed: ", id="family"),
        pytest.param("[[model]]\nfamily='gpt'\nversion='5.x'", "version of model 1", id="version"),
        pytest.param("[[model]]\nid='a'\n[[model]]\nid='b'\nmode='txt'", "mode of model 2 of tscg.toml is", id="mode"),
        pytest.param("[[model]]\nid='a'\nmode='auto'", "mode of model 1", id="auto is no mode"),
        pytest.param("[[model]]\nid='a'\nmap='all'", "map of model 1", id="map"),
        pytest.param("[[model]]\nid='a'\nmode='text'\nmap='names'", "a map goes with dispatch", id="map of text"),
        pytest.param("[[model]]\nid='a'\nprofile='auto'", "profile of model 1", id="profile"),
        pytest.param("[[model]]\nid=3", "id of model 1 of tscg.toml is 3; expected a text", id="type"),
        pytest.param("[[model]]\nid='a'\noperators=['cse']", "operators of model 1", id="operator"),
        pytest.param("[[model]]\nid='a'\nevidence='runs'", "evidence of model 1 of tscg.toml is no table", id="evidence"),
        pytest.param("[[model]]\nid='a'\n[model.evidence]\nn=4\nrun=1", "unknown key in the evidence", id="evidence key"),
        pytest.param("[[model]]\nid='a'\n[model.evidence]\nsource='s'", "n of the evidence of model 1", id="no n"),
        pytest.param("[[model]]\nid='a'\n[model.evidence]\nn=40", "names no source", id="no source"),
        pytest.param("[[model]]\nid='a'\n[model.evidence]\nn=40\nsource='s'\neffect='x'", "effect of", id="effect"),
        pytest.param("[[model]]\nid='a'\n[model.evidence]\nn=40\nsource='s'\ninterval=[1]", "interval", id="interval"),
    ],
)  # fmt: skip
def test_what_a_file_may_not_hold_is_named(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "tscg.toml").write_text(text)
    with pytest.raises(ConfigError) as error:
        Policy.load(tmp_path / "tscg.toml")
    assert says in str(error.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"absent\.toml cannot be read"):
        Policy.load(tmp_path / "absent.toml")


def test_the_format_is_the_documented_one() -> None:
    page = ROOT / "docs" / "recommend.md"
    if not page.is_file():
        pytest.skip("the docs are not beside these tests")
    text = page.read_text(encoding="utf-8")
    assert [name for name in (*KEYS, *OPERATORS) if f"`{name}`" not in text] == []
    assert json.dumps(MIN_RUNS) in text
