"""The limits that the core keeps: ratios to a JSON round trip of the same tools, growth, memory, import time.

Each measurement runs in a process of its own; where it is short, the best of several counts.
"""

from __future__ import annotations

import sys

import pytest

from benchmarks import measure
from tests.conftest import shared_catalog_paths

PROFILES = ("lossless", "balanced")
#: The largest shared catalog of a server, and a generated one of about its size.
SOURCES = [pytest.param("120", id="generated-120")] + [
    pytest.param(str(path), id=path.stem) for path in shared_catalog_paths() if path.stem == "github-mcp-server"
]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("source", SOURCES)
def test_first_and_later_compiles(source: str, profile: str) -> None:
    row = measure.least(measure.fresh("cold", source, profile) for _ in range(3))
    print({name: round(value, 3) for name, value in row.items()})
    assert row["cold"] <= 15 * row["json"]
    assert row["known"] <= 0.1
    assert row["equal"] <= 0.5 * row["json"]


@pytest.mark.parametrize("profile", PROFILES)
def test_growth_is_linear(profile: str) -> None:
    runs = {"117": 3, "1000": 2, "10000": 1}
    rows = {size: measure.least(measure.fresh("cold", size, profile) for _ in range(n)) for size, n in runs.items()}
    ratios = {size: row["cold"] / row["json"] for size, row in rows.items()}
    print({size: round(ratio, 2) for size, ratio in ratios.items()})
    assert ratios["10000"] <= 15
    assert ratios["10000"] <= 1.25 * ratios["117"]


@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read with `resource`, which Windows has not")
@pytest.mark.parametrize("profile", PROFILES)
def test_memory_of_ten_thousand_tools(profile: str) -> None:
    row = measure.fresh("memory", "10000", profile)
    print({name: round(value) for name, value in row.items()})
    assert row["characters"] > 100_000
    assert row["peak"] < 500


def test_import_is_fast() -> None:
    assert min(measure.fresh("imports")["import"] for _ in range(5)) <= 50
