"""Scores and statistics against figures that are known."""

from __future__ import annotations

import math
from typing import Any

import pytest

import tscg

pytest.importorskip("tscg_bench", reason="tscg-bench is not installed")
pytest.importorskip("scipy", reason="tscg-bench is not installed")

from scipy import stats as scipy_stats

from tscg_bench.score import Attempt, Made, score_attempt, summarize
from tscg_bench.stats import (
    Interval,
    bca,
    compare,
    detectable,
    family,
    holm,
    mcnemar,
    oldham,
    paired_interval,
    sample_size,
    wilson,
)
from tscg_bench.tasks import Expected, Task


def task(*expected: Expected, ordered: bool = True) -> Task:
    return Task(id="t", scenario="A", category="single", query="", expected=expected, ordered=ordered)


def call(name: str, **arguments: Any) -> Expected:
    return Expected(tool=name, arguments=arguments)


ONE = task(call("f", a=1, b="x"))
TWO = task(call("f", a=1), call("g", b=2))
NONE = task()


@pytest.mark.parametrize(
    ("asked", "made", "selection", "exact", "counts"),
    [
        pytest.param(ONE, [Made(name="f", arguments={"a": 1, "b": "X"})], 1, 1, (2, 2, 2), id="right"),
        pytest.param(ONE, [Made(name="f", arguments={"a": 1, "b": "y"})], 1, 0, (1, 2, 2), id="a wrong value"),
        pytest.param(ONE, [Made(name="f", arguments={"a": 1})], 1, 0, (1, 1, 2), id="one missing"),
        pytest.param(ONE, [Made(name="f", arguments={"a": 1, "b": "x", "c": 0})], 1, 0, (2, 3, 2), id="one too many"),
        pytest.param(ONE, [Made(name="g", arguments={"a": 1, "b": "x"})], 0, 0, (0, 2, 2), id="another tool"),
        pytest.param(ONE, [], 0, 0, (0, 0, 2), id="nothing"),
        pytest.param(ONE, [Made(name="f", valid=False)], 1, 0, (0, 0, 2), id="refused"),
        pytest.param(
            TWO, [Made(name="f", arguments={"a": 1}), Made(name="g", arguments={"b": 2})], 1, 1, (2, 2, 2), id="both"
        ),
        pytest.param(
            TWO, [Made(name="g", arguments={"b": 2}), Made(name="f", arguments={"a": 1})], 0, 0, (2, 2, 2), id="order"
        ),
        pytest.param(TWO, [Made(name="f", arguments={"a": 1})], 0, 0, (1, 1, 2), id="one of two"),
        pytest.param(NONE, [], 1, 1, (0, 0, 0), id="rightly nothing"),
        pytest.param(NONE, [Made(name="f", arguments={"a": 1})], 0, 0, (0, 1, 0), id="something for nothing"),
    ],
)
def test_one_attempt(
    asked: Task, made: list[Made], selection: float, exact: float, counts: tuple[int, int, int]
) -> None:
    found = score_attempt(asked, Attempt(calls=tuple(made)))
    assert (found.selection, found.exact) == (selection, exact)
    assert (found.right, found.given, found.wanted) == counts


def test_calls_of_one_tool_are_paired_by_what_fits() -> None:
    asked = task(call("f", a=1), call("f", a=2), ordered=False)
    made = (Made(name="f", arguments={"a": 2}), Made(name="f", arguments={"a": 1}))
    assert score_attempt(asked, Attempt(calls=made)).exact == 1


def test_a_default_and_a_null_are_as_good_as_left_out() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}, "n": {"type": "integer", "default": 10}}}
    catalog = tscg.Catalog.from_tools([{"name": "f", "inputSchema": schema}])
    made = (Made(name="f", arguments={"a": 1, "n": 10, "z": None}),)
    assert score_attempt(task(call("f", a=1)), Attempt(calls=made), catalog).exact == 1
    other = (Made(name="f", arguments={"a": 1, "n": 11}),)
    assert score_attempt(task(call("f", a=1)), Attempt(calls=other), catalog).exact == 0


def test_what_may_be_left_out_counts_only_where_it_is_given() -> None:
    asked = task(call("f", a=1, b={"$opt": 2}))
    for arguments, exact, counts in (
        ({"a": 1}, 1, (1, 1, 1)),
        ({"a": 1, "b": 2}, 1, (2, 2, 2)),
        ({"a": 1, "b": 3}, 0, (1, 2, 2)),
    ):
        found = score_attempt(asked, Attempt(calls=(Made(name="f", arguments=arguments),)))
        assert (found.exact, (found.right, found.given, found.wanted)) == (exact, counts)


def test_a_summary_is_micro_over_parameters() -> None:
    long = task(call("f", **{f"p{place}": place for place in range(9)}))
    good = score_attempt(long, Attempt(calls=(Made(name="f", arguments={f"p{place}": place for place in range(9)}),)))
    bad = score_attempt(ONE, Attempt())
    found = summarize([good, bad])
    assert found.selection == 0.5
    assert found.f1 == pytest.approx(2 * 9 / (9 + 11))
    assert found.overall == pytest.approx(0.6 * 0.5 + 0.4 * found.f1)
    assert found.validity == 1.0
    assert summarize([]).validity is None


def test_validity_counts_refused_calls_too() -> None:
    found = score_attempt(ONE, Attempt(calls=(Made(name="f", arguments={"a": 1, "b": "x"}),), refused=3, repairs=2))
    assert (found.exact, found.extra, summarize([found]).validity) == (1, 2, 0.25)


# --- statistics -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("successes", "n"), [(0, 20), (7, 20), (20, 20), (1, 3)])
def test_wilson_is_scipys(successes: int, n: int) -> None:
    wanted = scipy_stats.binomtest(successes, n).proportion_ci(method="wilson")
    found = wilson(successes, n)
    assert (found.low, found.high) == pytest.approx((wanted.low, wanted.high))


def test_mcnemar_is_the_binomial_on_the_discordant() -> None:
    assert mcnemar(0, 0) == 1.0
    assert mcnemar(10, 0) == pytest.approx(2 * 0.5**10)
    assert mcnemar(3, 8) == mcnemar(8, 3)


def test_holm_keeps_order_and_never_shrinks() -> None:
    given = [0.04, 0.001, 0.03, 0.5]
    found = holm(given)
    assert found == pytest.approx((0.09, 0.004, 0.09, 0.5))
    assert all(after >= before for before, after in zip(given, found, strict=True))
    assert holm([]) == ()


def test_the_bootstrap_covers_the_mean_and_repeats_itself() -> None:
    values = [0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 0.0] * 4
    found = bca(values)
    assert found == bca(values)
    assert found.low < 0.6 < found.high
    assert bca([1.0, 1.0]) == Interval(low=1.0, high=1.0)
    assert bca([1.0]).high == math.inf


def test_pairs_that_never_differ_still_have_an_interval() -> None:
    found = paired_interval([1.0] * 30, [1.0] * 30)
    assert found.low == -found.high < 0


def test_a_comparison_pairs_by_task_and_judges_by_both() -> None:
    names = [f"t{place}" for place in range(60)]
    same = compare(dict.fromkeys(names, 1.0), dict.fromkeys(names, 1.0))
    assert (same.n, same.difference, same.p, same.verdict) == (60, 0.0, 1.0, "no difference found")
    better = dict.fromkeys(names, 1.0)
    worse = {name: float(place % 3 > 0) for place, name in enumerate(names)}
    found = compare(better, worse)
    assert (found.only_a, found.only_b, found.verdict) == (20, 0, "better")
    assert compare(worse, better).verdict == "worse"
    assert family([found, found])[0].adjusted == pytest.approx(2 * found.p)
    assert compare({"a": 1.0}, {"b": 1.0}).n == 0


def test_power_as_it_is_known() -> None:
    assert sample_size(0.10, 0.15) in range(110, 121)
    assert sample_size(0.05, 0.10) in range(300, 321)
    assert detectable(5, discordant=0.1) == 1.0 or detectable(5, discordant=0.1) > 0.5
    assert detectable(1000, discordant=0.1) < detectable(100, discordant=0.1)


def test_oldham_sees_no_relation_where_there_is_none() -> None:
    """Two scores that know nothing of each other: the difference falls with the baseline, and not with the mean."""
    import numpy as np

    random = np.random.default_rng(3)
    a, b = random.normal(0.6, 0.1, 200), random.normal(0.6, 0.1, 200)
    found = oldham(a.tolist(), b.tolist())
    assert found.naive_r < -0.5
    assert abs(found.r) < 0.2
    assert found.null.holds(found.naive_r)
    assert math.isnan(oldham([1.0], [1.0]).r)
