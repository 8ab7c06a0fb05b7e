"""The report of compression: what is counted, and that reports add up."""

from __future__ import annotations

import json
import pickle
from dataclasses import fields
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tscg
from tscg import CompressionReport
from tscg.compression import COUNTERS, SIZES, TEXTS
from tscg.stats import minified

TOOLS: list[dict[str, Any]] = [
    {
        "name": f"read_{index}",
        "description": f"Reads record {index} of a list. Never call it for archived lists.",
        "inputSchema": {
            "type": "object",
            "properties": {"id": {"type": "string", "description": "The id of the record that is read."}},
            "required": ["id"],
        },
    }
    for index in range(6)
]


def test_before_any_call_it_is_what_one_request_saves() -> None:
    compiled = tscg.compile(TOOLS, mode=tscg.Dispatch(map="names"))
    report, stats = CompressionReport.of(compiled), compiled.stats
    assert (report.tokens, report.baseline_tokens, report.requests) == (stats.tokens, stats.baseline_tokens, 0)
    assert report.saved == pytest.approx(stats.saved)
    assert report.saved_tokens == stats.baseline_tokens - stats.tokens
    assert (report.mode, report.map, report.profile) == ("dispatch", "names", "balanced")
    assert (report.fingerprint, report.tools, report.exact) == (compiled.fingerprint, 6, stats.exact)


def test_each_round_is_sent_and_each_request_would_have_been() -> None:
    compiled = tscg.compile(TOOLS, mode="native")
    turn = compiled.turn()
    bad = {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "read_1", "arguments": "{}"}}]}
    step = turn.take(compiled.decode(bad), bad)
    assert isinstance(step, tscg.Again)
    ended = step.turn.take(compiled.decode("Done."), "Done.")
    report = CompressionReport.of(compiled, ended.turn, input_tokens=700, output_tokens=30)
    assert (report.requests, report.rounds, report.repairs, report.errors, report.lookups) == (1, 2, 1, 1, 0)
    assert report.sent_tokens == 2 * compiled.stats.tokens
    assert report.plain_tokens == compiled.stats.baseline_tokens
    assert report.saved == pytest.approx(1 - report.sent_tokens / report.plain_tokens)
    assert (report + report).input_tokens == 1_400


def test_a_round_without_lookups_is_sent_without_the_lookup_tool() -> None:
    compiled = tscg.compile(TOOLS, mode="dispatch")
    lookup = {
        "role": "assistant",
        "tool_calls": [{"id": "a", "function": {"name": "lookup", "arguments": '{"query":"x"}'}}],
    }
    turn, sent = compiled.turn(max_lookups=1), []
    for output in (lookup, lookup, "Done."):
        wire = [{"type": "function", "function": one} for one in turn.wire_tools]
        sent.append(compiled.tokenizer.count(compiled.prompt) + compiled.tokenizer.count(minified(wire)))
        turn = turn.take(compiled.decode(output), output).turn
    report = CompressionReport.of(compiled, turn)
    assert (turn.rounds, turn.without_lookup) == (3, 2)
    assert sent[1] == sent[2] < sent[0] == report.tokens
    assert report.sent_tokens == sum(sent)


def test_a_part_is_compared_with_the_whole_catalog() -> None:
    whole, part = tscg.compile(TOOLS, mode="text"), tscg.compile(TOOLS[:1], mode="passthrough")
    turn = part.turn()
    ended = turn.take(part.decode("Done."), "Done.").turn
    report = CompressionReport.of(part, ended, whole=whole)
    assert (report.tools, report.tokens) == (6, part.stats.tokens)
    assert report.plain_tokens == report.baseline_tokens == whole.stats.baseline_tokens
    assert CompressionReport.of(part, ended, sent_tokens=7).sent_tokens == 7


def test_warnings_are_reported_once_each() -> None:
    lost = {"name": "lost", "inputSchema": {"type": "object", "properties": {"x": {"$ref": "#/$defs/nowhere"}}}}
    catalog = tscg.Catalog.from_tools([*TOOLS, lost], on_error="passthrough")
    one, two = (CompressionReport.of(tscg.compile(catalog, mode=mode)) for mode in ("text", "native"))
    assert len(one.warnings) == 1
    assert (one + two).warnings == (one + one).warnings == one.warnings
    assert str(one + two).split("\n")[-1] == f"warning: {one.warnings[0]}"
    assert one.to_dict()["warnings"] == list(one.warnings)


def test_it_says_where_it_grew() -> None:
    compiled = tscg.compile(TOOLS[:1], mode="dispatch")
    assert CompressionReport.of(compiled).saved < 0
    assert "-" in str(CompressionReport.of(compiled)).split("\n")[1]


REPORTS = st.builds(
    CompressionReport,
    label=st.sampled_from(["", "ada", "bob"]),
    fingerprint=st.sampled_from(["one", "two"]),
    mode=st.just("text"),
    requests=st.integers(0, 3),
    rounds=st.integers(0, 9),
    sent_tokens=st.integers(0, 99),
    plain_tokens=st.integers(1, 99),
    tokens=st.just(10),
    baseline_tokens=st.just(30),
)


@given(REPORTS, REPORTS, REPORTS)
def test_reports_add_up_in_any_order(one: CompressionReport, two: CompressionReport, three: CompressionReport) -> None:
    total = one + two + three
    assert total == one + (two + three) == three + two + one == sum([one, two, three])
    for name in ("requests", "rounds", "sent_tokens", "plain_tokens"):
        assert getattr(total, name) == sum(getattr(report, name) for report in (one, two, three))
    assert total + CompressionReport() == total
    leaves = total.parts or (total,)
    assert total.tokens == 10 * len(leaves), "one catalog is one part, whatever the number of calls"


def test_a_sum_of_several_catalogs_keeps_its_parts() -> None:
    text = CompressionReport.of(tscg.compile(TOOLS, mode="text"), label="ada")
    native = CompressionReport.of(tscg.compile(TOOLS, mode="native"), label="bob")
    total = text + native
    assert [part.label for part in total.parts] == ["ada", "bob"]
    assert (total.mode, total.profile, total.tools) == ("several", "balanced", 12)
    assert total.baseline_tokens == 2 * text.baseline_tokens
    assert [line.split()[0] for line in str(total).split("\n")] == ["mode", "ada", "bob", "all"]


def test_to_dict_is_json_and_holds_every_figure() -> None:
    total = CompressionReport.of(tscg.compile(TOOLS)) + CompressionReport.of(tscg.compile(TOOLS, mode="native"))
    found = json.loads(json.dumps(total.to_dict()))
    assert {*TEXTS, *SIZES, *COUNTERS, "saved", "saved_tokens", "parts", "label", "exact"} <= found.keys()
    assert found["parts"][0]["per_tool"]["read_1"]["tokens"] > 0
    assert found["parts"][0]["hidden"].keys() == {"sentences", "tokens"}
    assert "archived" not in json.dumps(found), "no prose of a tool"


def test_every_number_is_counted() -> None:
    numbers = {one.name for one in fields(CompressionReport) if one.type == "int"}
    assert numbers == {*SIZES, *COUNTERS}
    report = CompressionReport.of(tscg.compile(TOOLS))
    assert pickle.loads(pickle.dumps(report)) == report
    assert hash(report) == hash(CompressionReport.of(tscg.compile(TOOLS)))
    with pytest.raises(TypeError):
        _ = report + 1
