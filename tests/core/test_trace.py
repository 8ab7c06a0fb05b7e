"""Figures in every mode: steps that lead to what is sent, the bound, what is hidden, and that savings are never made up."""

from __future__ import annotations

import json
from typing import Any

import pytest

import tscg
from tscg.modes.options import MAPS
from tscg.tokenizers import tokenizer_of

TOOLS: list[dict[str, Any]] = [
    {
        "name": f"{verb}_{thing}",
        "description": f"Will {verb} one {thing}. Use this tool when the user asks for it. Never {verb} it twice.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "id": {"type": "string", "description": f"The id of the {thing}, as the list of them shows it."},
                "reason": {"type": "string", "description": "Why it is done, in the words of the user."},
            },
            "required": ["id"],
        },
    }
    for verb in ("open", "close", "read")
    for thing in ("issue", "order", "file", "event")
]

MODES = [
    "text", "native", "code", "passthrough", tscg.Dispatch(), tscg.Dispatch(map="names"),
    tscg.Dispatch(map="signature", handles="codes"), tscg.Dispatch(group="namespace"),
]  # fmt: skip


def name_of(mode: Any) -> str:
    return mode if isinstance(mode, str) else repr(mode)


@pytest.mark.parametrize("mode", MODES, ids=name_of)
@pytest.mark.parametrize("profile", ["lossless", "balanced", "signature"])
def test_steps_lead_from_json_to_what_is_sent(mode: Any, profile: str) -> None:
    compiled = tscg.compile(TOOLS, mode=mode, profile=profile)
    trace, stats = compiled.trace, compiled.stats
    places = [stats.baseline_tokens, *(step.after for step in trace.steps)]
    assert [step.before for step in trace.steps] == places[:-1]
    assert places[-1] == (compiled.tokenizer.count(compiled.text) if mode == "text" else stats.tokens)
    assert (trace.bound.source, trace.bound.result) == (places[0], places[-1])
    assert trace.bound.holds or not stats.exact  # an estimate may count a smaller text for more


@pytest.mark.parametrize("mode", ["native", "code", tscg.Dispatch()], ids=name_of)
def test_a_budget_is_the_last_step(mode: Any) -> None:
    size = tscg.compile(TOOLS, mode=mode, profile="lossless").stats.tokens
    compiled = tscg.compile(TOOLS, mode=mode, profile="lossless", budget=size - 5)
    last = compiled.trace.steps[-1]
    assert (last.operator, last.after) == ("budget", compiled.stats.tokens)


def test_operators_of_native_are_counted_one_by_one() -> None:
    steps = {step.operator: step for step in tscg.compile(TOOLS, mode="native").trace.steps}
    assert list(steps) == ["form", "SDM", "DRO", "detail"]
    assert steps["detail"].after < steps["detail"].before
    assert steps["detail"].per_tool.keys() == {tool["name"] for tool in TOOLS}


def test_passthrough_does_nothing() -> None:
    trace = tscg.compile(TOOLS, mode="passthrough").trace
    assert (trace.steps, trace.bound.sum_rf, trace.hidden_policy, trace.shortened) == ((), 0.0, {}, ())


def test_what_a_map_leaves_out_is_told() -> None:
    compiled = tscg.compile(TOOLS, mode="dispatch", pin=("open_issue",))
    hidden = compiled.trace.hidden_policy
    assert hidden.keys() == {tool["name"] for tool in TOOLS} - {"open_issue"}
    assert hidden["close_file"] == ("Never close it twice.",)
    assert compiled.stats.per_tool["close_file"].hidden.sentences == 5
    assert compiled.stats.per_tool["open_issue"].hidden.sentences < 5
    assert compiled.stats.hidden.tokens > 0


@pytest.mark.parametrize("mode", MODES, ids=name_of)
def test_c40_saved_follows_from_tokens_that_are_reported(mode: Any) -> None:
    compiled = tscg.compile(TOOLS, mode=mode)
    stats, count = compiled.stats, tokenizer_of("o200k_base").count
    wire = json.dumps(
        [{"type": "function", "function": tool} for tool in compiled.wire_tools],
        ensure_ascii=False,
        separators=(",", ":"),
    )
    assert stats.tokens == count(compiled.prompt) + (count(wire) if compiled.wire_tools else 0)
    assert stats.saved == 1 - stats.tokens / stats.baseline_tokens
    assert (stats.saved > 0) is (stats.tokens < stats.baseline_tokens)


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "passthrough"], ids=name_of)
def test_c40_saved_is_not_positive_where_it_grew(mode: Any) -> None:
    stats = tscg.compile([{"name": "a", "inputSchema": {"type": "object"}}], mode=mode).stats
    assert (stats.saved <= 0) is (stats.tokens >= stats.baseline_tokens)
    if mode not in ("native", "text"):
        assert stats.saved < 0


@pytest.mark.parametrize("mode", MODES, ids=name_of)
def test_fixed_and_entries_make_the_whole(mode: Any) -> None:
    """The fixed part does not grow with the catalog, and what each tool takes adds up to the rest."""
    some, all_ = tscg.compile(TOOLS[:8], mode=mode).stats, tscg.compile(TOOLS, mode=mode).stats
    if not (isinstance(mode, tscg.Dispatch) and mode.group):  # the label of a group is an entry of nobody
        assert some.fixed_tokens == all_.fixed_tokens
        parts = all_.fixed_tokens + sum(tool.tokens for tool in all_.per_tool.values())
        if mode in ("text", "code"):  # what all tools share stands above them
            assert parts <= all_.tokens + len(TOOLS)
        else:
            assert abs(parts - all_.tokens) <= len(TOOLS) * 3, "the joints between entries"
    assert all(tool.tokens > 0 for tool in all_.per_tool.values())


def test_c39_lookalikes_fall_with_a_richer_map() -> None:
    found = {name: tscg.compile(TOOLS, mode=tscg.Dispatch(map=name)).stats.lookalikes for name in MAPS}
    assert found["names"] == len(TOOLS)
    assert (found["hybrid"], found["signature"]) == (0, 0)
