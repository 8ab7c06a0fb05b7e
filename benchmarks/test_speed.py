"""How long each step takes, over shared catalogs and generated ones: `uv run pytest benchmarks`.

Every row carries its ratio to a JSON round trip of what the step reads (the tools, or the call), taken beside it.
"""

from __future__ import annotations

import itertools
import json

import pytest

import tscg
from benchmarks import generate, measure
from benchmarks.conftest import Step
from tests.conftest import read_tools, shared_catalog_paths

SIZES = (10, 100, 1_000, 10_000)
SHARED = {path.stem: path for path in shared_catalog_paths()}
CATALOGS = [*(str(size) for size in SIZES), *SHARED]
PROFILES = ("lossless", "balanced")
PREPARED: dict[str, list[generate.Tool]] = {}


def tools_of(name: str) -> list[generate.Tool]:
    """The tools of a catalog of the table; made or read once."""
    if name not in PREPARED:
        PREPARED[name] = generate.catalog(int(name)) if name.isdecimal() else read_tools(SHARED[name])
    return PREPARED[name]


@pytest.mark.parametrize("profile", PROFILES)
@pytest.mark.parametrize("name", CATALOGS)
@pytest.mark.benchmark(group="compile tools never seen before")
def test_compile_unseen(step: Step, name: str, profile: str) -> None:
    tools, marks = tools_of(name), itertools.count()

    def setup() -> tuple[tuple[list[generate.Tool]], dict[str, str]]:
        return (measure.unseen(tools, next(marks)),), {"profile": profile}

    step(lambda given, profile: tscg.compile(given, profile=profile).prompt, tools, setup)


@pytest.mark.parametrize("name", CATALOGS)
@pytest.mark.benchmark(group="compile equal raw tools again")
def test_compile_equal(step: Step, name: str) -> None:
    tools = tools_of(name)

    def setup() -> tuple[tuple[list[generate.Tool]], dict[str, str]]:
        return (json.loads(json.dumps(tools)),), {}

    step(lambda given: tscg.compile(given).prompt, tools, setup)


@pytest.mark.parametrize("name", CATALOGS)
@pytest.mark.benchmark(group="compile a known catalog again")
def test_compile_known(step: Step, name: str) -> None:
    catalog = tscg.Catalog.from_tools(tools_of(name))
    step(lambda: tscg.compile(catalog).prompt, tools_of(name))


@pytest.mark.parametrize("name", CATALOGS)
@pytest.mark.benchmark(group="decompile")
def test_decompile(step: Step, name: str) -> None:
    text = tscg.compile(tools_of(name), profile="lossless").text
    assert len(tscg.decompile(text)) == len(tools_of(name))
    step(lambda: tscg.decompile(text), tools_of(name))


@pytest.mark.parametrize("mode", ["text", "native"])
@pytest.mark.parametrize("name", [str(size) for size in SIZES])
@pytest.mark.benchmark(group="decode one call")
def test_decode(step: Step, name: str, mode: str) -> None:
    tools = tools_of(name)
    compiled = tscg.compile(tools, mode=mode)
    tool = tools[len(tools) // 2]
    call = tscg.Call(name=tool["name"], arguments=generate.arguments(tool["inputSchema"]), id="c1")
    output = compiled.encode_call(call)
    (decoded,) = compiled.decode(output).calls
    assert (decoded.name, decoded.arguments) == (call.name, call.arguments)
    step(lambda: compiled.decode(output), {"name": call.name, "arguments": call.arguments})
