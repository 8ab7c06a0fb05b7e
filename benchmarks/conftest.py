"""The fixture that times a step beside a JSON round trip, and the table of ratios at the end of a run."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks import measure


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """What a step took: its group and name, milliseconds, and how many round trips of its unit that is."""

    group: str
    name: str
    taken: float
    ratio: float


RATIOS = pytest.StashKey[list[Ratio]]()


class Step(Protocol):
    """Times some work; `unit` is what is round-tripped beside it, and `setup` gives each round its arguments."""

    def __call__(self, work: Callable[..., object], unit: object, setup: Callable[[], Any] | None = None) -> None: ...


@pytest.fixture
def step(benchmark: BenchmarkFixture, request: pytest.FixtureRequest) -> Step:
    """Time a step; the best of its rounds goes into the table with its ratio to a round trip of `unit`."""

    def run(work: Callable[..., object], unit: object, setup: Callable[[], Any] | None = None) -> None:
        text = len(json.dumps(unit))
        rounds = 3 if text > 1_000_000 else 10 if text > 20_000 else 50
        # What earlier rows prepared is not for the garbage collector to walk through during this one.
        gc.collect()
        gc.freeze()
        benchmark.pedantic(work, setup=setup, rounds=rounds, warmup_rounds=1)  # type: ignore[no-untyped-call]
        if benchmark.stats is None:  # --benchmark-disable: the step ran once, untimed
            return
        taken = benchmark.stats.stats.min * 1_000
        ratio = taken / measure.round_trip(unit)
        benchmark.extra_info["round trips"] = round(ratio, 3)
        row = Ratio(group=benchmark.group or "", name=benchmark.name, taken=taken, ratio=ratio)
        request.config.stash.setdefault(RATIOS, []).append(row)

    return run


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    rows = terminalreporter.config.stash.get(RATIOS, [])
    if not rows:
        return
    width = max(len(row.name) for row in rows)
    terminalreporter.section("ratio to a JSON round trip (best of each)")
    for group in dict.fromkeys(row.group for row in rows):
        terminalreporter.write_line(f"\n{group}")
        for row in (row for row in rows if row.group == group):
            terminalreporter.write_line(f"  {row.name:<{width}} {row.taken:>10.3f} ms {row.ratio:>9.3f}")
