"""An agent with GitHub's 117 tools works through twenty tasks: the same calls, smaller requests, a report that is true."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.tools import BaseTool

import tscg
from tests.adapters.github_tasks import TASKS, calls, planned
from tests.adapters.llamaindex.harness import HARNESS, manager, tool_of
from tests.adapters.llamaindex.models import client
from tests.adapters.provider import Provider
from tests.conformance.harness import Spec
from tests.conftest import read_tools

SYSTEM = "You keep a repository in order."
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning")


def worked(specs: list[Spec], mode: str | None, dialect: str) -> tuple[Provider, Any]:
    """The requests of all tasks in a mode, None for no compression, and the report."""
    provider = Provider(planned()).start()
    tools: list[BaseTool] = [tool_of(spec) for spec in specs]

    async def work() -> None:
        agent: Any = FunctionAgent(
            tools=list(tools), llm=client(provider, dialect), system_prompt=SYSTEM, streaming=False
        )
        for task in TASKS:
            await agent.run(user_msg=task)

    try:
        with manager(mode) if mode else nullcontext() as compression:
            asyncio.run(work())
    finally:
        provider.close()
    assert provider.broken == []
    return provider, compression.report() if compression else None


def tokens(provider: Provider) -> int:
    """Tokens of all that the requests say of tools."""
    count = tscg.compile([]).tokenizer.count
    total = 0
    for body in provider.bodies:
        system = body["messages"][0]["content"].removeprefix(SYSTEM).removeprefix("\n\n")
        tools = HARNESS.as_written(body.get("tools", ()))
        total += count(system) + (count(json.dumps(tools, ensure_ascii=False, separators=(",", ":"))) if tools else 0)
    return total


@pytest.fixture(scope="module")
def raw(shared: Path) -> list[dict[str, Any]]:
    return read_tools(shared / "catalogs" / "github-mcp-server.json")


@pytest.fixture(scope="module")
def plain(raw: list[dict[str, Any]]) -> tuple[Provider, list[Spec]]:
    specs = specs_of(raw)
    return worked(specs, None, "openai")[0], specs


def specs_of(raw: list[dict[str, Any]]) -> list[Spec]:
    return [Spec(name=one["name"], description=one.get("description", ""), schema=one["inputSchema"]) for one in raw]


def done(specs: list[Spec]) -> dict[str, list[dict[str, Any]]]:
    """What each tool got. Calls of one round run side by side, so their order is nobody's."""
    by: Callable[[Any], str] = json.dumps
    return {spec.name: sorted(spec.executed, key=by) for spec in specs if spec.executed}


@pytest.mark.parametrize("mode", ["native", "text", "dispatch", "auto"])
def test_the_same_calls_in_smaller_requests(
    raw: list[dict[str, Any]], plain: tuple[Provider, list[Spec]], mode: str
) -> None:
    without, reference = plain
    specs = specs_of(raw)
    provider, report = worked(specs, mode, "openai")
    assert done(specs) == done(reference)
    assert sum(len(one) for one in done(specs).values()) == len(calls())
    assert len(provider.bodies) == len(without.bodies) == report.rounds
    assert tokens(without) - tokens(provider) == report.saved_tokens
    assert report.saved > 0.1


def test_the_same_calls_with_anthropic(raw: list[dict[str, Any]], plain: tuple[Provider, list[Spec]]) -> None:
    specs = specs_of(raw)
    worked(specs, "dispatch", "anthropic")
    assert done(specs) == done(plain[1])
