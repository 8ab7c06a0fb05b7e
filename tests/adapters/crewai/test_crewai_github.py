"""An agent with GitHub's 117 tools works through twenty tasks: the same calls, smaller requests, a report that is true."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from crewai import Agent
from crewai.tools import BaseTool
from crewai.utilities.pydantic_schema_utils import create_model_from_schema
from pydantic import BaseModel, Field

import tscg
from crewai_tscg import compress
from tests.adapters.crewai.crews import strict_faults
from tests.adapters.crewai.harness import unframed
from tests.adapters.crewai.models import ScriptedToolLLM, client
from tests.adapters.github_tasks import TASKS, calls, planned
from tests.adapters.provider import Provider
from tests.conftest import read_tools

ROLE = "Keeper"


class Recorded(BaseTool):
    """A tool as CrewAI makes it of one of an MCP server: a class of arguments that it built from the schema."""

    done: list[dict[str, Any]] = Field(default_factory=list)

    def _run(self, **arguments: Any) -> str:
        self.done.append({name: value for name, value in arguments.items() if value is not None})
        return json.dumps(self.done[-1], default=str)


class Arguments(BaseModel):
    """Makes its schema once: CrewAI asks each of the 117 for it several times in every run."""

    @classmethod
    def model_json_schema(cls, *args: Any, **kwargs: Any) -> dict[str, Any]:
        made = cls.__dict__.get("_made")
        if made is None:
            made = super().model_json_schema()
            type.__setattr__(cls, "_made", made)
        return copy.deepcopy(made)


@pytest.fixture(scope="module")
def classes(shared: Path) -> list[tuple[str, str, Any]]:
    raw = read_tools(shared / "catalogs" / "github-mcp-server.json")
    return [
        (one["name"], one.get("description", ""), create_model_from_schema(one["inputSchema"], __base__=Arguments))
        for one in raw
    ]


def worked(classes: list[tuple[str, str, Any]], mode: str | None) -> tuple[Provider, Any, dict[str, Any]]:
    """The requests of all tasks in a mode, None for no compression; the report; what each tool got."""
    model = planned()
    provider = Provider(lambda view: model(unframed(view))).start()
    tools = [Recorded(name=name, description=text, args_schema=schema) for name, text, schema in classes]
    # A model whose context CrewAI knows: of an unknown one it takes a small context, and condenses what fills it.
    llm = client(provider, model="openai/gpt-4o")
    agent: Any = Agent(role=ROLE, goal="Order.", backstory="Tidy.", tools=tools, llm=llm)
    handle = compress(agent, mode, "balanced") if mode else None
    try:
        for task in TASKS:
            agent.kickoff(task)
    finally:
        provider.close()
    assert provider.broken == []
    assert [fault for body in provider.bodies[:2] for fault in strict_faults(body)] == []
    done = {tool.name: sorted(tool.done, key=json.dumps) for tool in tools if tool.done}
    return provider, handle.report() if handle else None, done


def tokens(provider: Provider) -> int:
    """Tokens of all that the requests say of tools."""
    count = tscg.compile([]).tokenizer.count
    total = 0
    for body in provider.bodies:
        told = body["messages"][0]["content"].partition("Order.")[2].removeprefix("\n\n")
        total += count(told) + (
            count(json.dumps(body["tools"], ensure_ascii=False, separators=(",", ":"))) if "tools" in body else 0
        )
    return total


@pytest.fixture(scope="module")
def plain(classes: list[tuple[str, str, Any]]) -> tuple[Provider, Any, dict[str, Any]]:
    return worked(classes, None)


@pytest.mark.parametrize("mode", ["native", "text", "dispatch"])
def test_the_same_calls_in_smaller_requests(
    classes: list[tuple[str, str, Any]], plain: tuple[Provider, Any, dict[str, Any]], mode: str
) -> None:
    without, _, reference = plain
    provider, report, done = worked(classes, mode)
    assert done == reference
    assert sum(len(one) for one in done.values()) == len(calls())
    assert len(provider.bodies) == len(without.bodies) == report.rounds
    assert tokens(without) - tokens(provider) == report.saved_tokens
    assert report.saved > 0.1


def test_what_auto_takes(classes: list[tuple[str, str, Any]]) -> None:
    tools = [Recorded(name=name, description=text, args_schema=schema) for name, text, schema in classes]
    agent: Any = Agent(role=ROLE, goal="Order.", backstory="Tidy.", tools=tools, llm=ScriptedToolLLM(model="gpt-4o"))
    report = compress(agent).report()
    assert (report.mode, report.tools) == ("dispatch", 117)
    assert report.saved > 0.9
