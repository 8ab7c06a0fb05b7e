"""How long one call takes on its way back, at 1,000 tools: `uv run pytest benchmarks/test_resolve.py`.

Every row carries its ratio to a JSON round trip of the call, taken beside it.
"""

from __future__ import annotations

import json

import pytest

import tscg
from benchmarks import generate
from benchmarks.conftest import Step
from tscg.calls import Call
from tscg.ir import JSON

MODES = ("native", "dispatch")


@pytest.fixture(scope="module")
def catalog() -> tscg.Catalog:
    return tscg.Catalog.from_tools(generate.catalog(1_000))


def least(tool: tscg.Tool) -> dict[str, JSON]:
    """Arguments for a tool that takes texts alone."""
    return {param.name: "x" for param in tool.params if param.required}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.benchmark(group="resolve a valid call, validation included")
def test_valid_call(step: Step, catalog: tscg.Catalog, mode: str) -> None:
    compiled = tscg.compile(catalog, mode=mode)
    for tool in catalog:
        written = compiled.encode_call(Call(name=tool.name, arguments=least(tool)))
        name, arguments = written["name"], json.dumps(written["arguments"])
        if isinstance(compiled.resolve(name, arguments), Call):
            break
    assert isinstance(compiled.resolve(name, arguments), Call)
    step(lambda: compiled.resolve(name, arguments), written)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.benchmark(group="resolve a name that no tool has")
def test_unknown_name(step: Step, catalog: tscg.Catalog, mode: str) -> None:
    compiled = tscg.compile(catalog, mode=mode)
    name = f"{catalog[500].name[:-2]}zz"
    given = (name, {}) if mode == "native" else ("call", {"tool": name, "args": {}})
    assert getattr(compiled.resolve(*given), "kind", "") == "unknown_tool"
    step(lambda: compiled.resolve(*given), [name, {}])


@pytest.mark.parametrize("query", ["create an issue", "list the files of the project"])
@pytest.mark.benchmark(group="answer a lookup by query")
def test_query(step: Step, catalog: tscg.Catalog, query: str) -> None:
    compiled = tscg.compile(catalog, mode="dispatch")
    step(lambda: compiled.resolve("lookup", {"query": query}), {"query": query})
