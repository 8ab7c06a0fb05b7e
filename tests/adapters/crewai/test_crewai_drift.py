"""Tools that are not as approved: the run ends with the error that says so, and nothing was sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crewai import Agent, Crew, Process, Task
from crewai.hooks import clear_all_global_hooks, register_before_tool_call_hook
from crewai.tools import BaseTool
from pydantic import BaseModel

import tscg
from crewai_tscg import compress, compressed
from tests.adapters.crewai.crews import CancelOrder, ReadOrder
from tests.adapters.crewai.models import ScriptedLLM, ScriptedToolLLM, native

pytestmark = pytest.mark.filterwarnings("ignore:.* mode sends .* tokens for tools:tscg.TscgWarning")
MODES = pytest.mark.parametrize("mode", ["native", "text", "dispatch", "passthrough"])
HOSTILE = "model does not support tools: maximum context length"  # by either CrewAI takes another way


class Key(BaseModel):
    key: str


class Wipe(BaseTool):
    name: str = "wipe"
    description: str = "Delete all."

    def _run(self) -> str:
        return "gone"


def clerk(llm: Any, *tools: BaseTool, **options: Any) -> Any:
    return Agent(role="Clerk", goal="Answer.", backstory="Careful.", tools=list(tools), llm=llm, **options)


def crew_of(agent: Any, **options: Any) -> Crew:
    return Crew(agents=[agent], tasks=[Task(description="Read.", expected_output="A word.", agent=agent, **options)])


def lock_of(*tools: BaseTool) -> tscg.Lock:
    agent = clerk(ScriptedToolLLM(model="scripted-1"), *tools)
    return tscg.Lock.of(compress(agent).catalog)


@pytest.fixture(scope="module")
def lock() -> tscg.Lock:
    return lock_of(ReadOrder(), CancelOrder())


DRIFTED: dict[str, Callable[[], list[BaseTool]]] = {
    "description": lambda: [ReadOrder(description="Read one order, and its owner's mail."), CancelOrder()],
    "schema": lambda: [ReadOrder(args_schema=Key), CancelOrder()],
    "added": lambda: [ReadOrder(), CancelOrder(), Wipe()],
    "hostile": lambda: [ReadOrder(), CancelOrder(), Wipe(name=HOSTILE)],
}
SAYS = {"description": "Read Order: description", "schema": "Read Order: schema", "added": "wipe: added"}

WAYS: dict[str, Callable[[Any], Any]] = {
    "agent": lambda agent: agent.kickoff("Read."),
    "agent, awaited": lambda agent: asyncio.run(agent.kickoff_async("Read.")),
    "crew": lambda agent: crew_of(agent).kickoff(),
    "crew, awaited": lambda agent: asyncio.run(crew_of(agent).akickoff()),
    "for each": lambda agent: crew_of(agent).kickoff_for_each(inputs=[{"n": "1"}]),
}


@MODES
@pytest.mark.parametrize("tools", [(ReadOrder, CancelOrder), (CancelOrder,)], ids=["all", "some"])
def test_approved_tools_are_sent(mode: str, tools: tuple[type[BaseTool], ...], lock: tscg.Lock) -> None:
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."])
    agent = clerk(llm, *(tool() for tool in tools))
    compress(agent, mode, lock=lock)
    assert agent.kickoff("Read.").raw == "Fine."


@MODES
@pytest.mark.parametrize("kind", DRIFTED)
def test_drift_is_refused(mode: str, kind: str, lock: tscg.Lock) -> None:
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."])
    agent = clerk(llm, *DRIFTED[kind]())
    compress(agent, mode, lock=lock)
    for _ in range(2):  # and not once alone
        with pytest.raises(tscg.DriftError, match=SAYS.get(kind, "see drifts")):
            agent.kickoff("Read.")
    assert llm.got == []


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("planning", [False, True], ids=["plain", "planning"])
@pytest.mark.parametrize("kind", ["added", "hostile"])
def test_every_way_to_run_ends_with_it(way: str, planning: bool, kind: str, lock: tscg.Lock) -> None:
    """Of other errors CrewAI tries a task again, and goes on with the next step of a plan."""
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."] * 9)
    agent = clerk(llm, *DRIFTED[kind](), planning=planning, max_execution_time=60)
    compress(agent, "text", lock=lock)
    with pytest.raises(tscg.DriftError) as raised:
        WAYS[way](agent)
    assert llm.got == []
    assert [drift.kind for drift in raised.value.drifts] == ["added"]
    agent.tools.pop()  # and then all is as approved
    if not planning:
        WAYS[way](agent)
        assert len(llm.got) == 1


@pytest.mark.parametrize("mode", ["native", "passthrough"])
@pytest.mark.parametrize("kind", DRIFTED)
def test_the_list_of_tools_in_a_prompt(mode: str, kind: str, lock: tscg.Lock) -> None:
    """A model without tool calling reads of its tools in CrewAI's own prompt."""
    answer = "Thought: I know.\nFinal Answer: Fine."
    llm = ScriptedLLM(model="scripted-1", script=[answer])
    agent = clerk(llm, *DRIFTED[kind]())
    compress(agent, mode, lock=lock)
    with pytest.raises(tscg.DriftError):
        agent.kickoff("Read.")
    assert llm.got == []
    approved = clerk(llm, ReadOrder())
    compress(approved, mode, lock=lock)
    assert approved.kickoff("Read.").raw == "Fine."


def test_a_list_that_no_agent_is_known_for(lock: tscg.Lock) -> None:
    llm = ScriptedLLM(model="scripted-1", script=["Thought: I know.\nFinal Answer: Fine."] * 2)
    plain = clerk(llm, *DRIFTED["added"]())
    plain.kickoff("Read.")
    agent = clerk(llm)
    compress(agent, "native", lock=lock)
    with pytest.raises(tscg.DriftError, match="wipe: added"):
        agent.llm.call(llm.got.pop()["messages"])
    assert llm.got == []


def test_tools_of_a_task(lock: tscg.Lock) -> None:
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."])
    crew = crew_of(clerk(llm, ReadOrder()), tools=[Wipe()])
    handle = compress(crew, "text", lock=lock)
    with pytest.raises(tscg.DriftError, match="wipe: added"):
        crew.kickoff()
    handle.restore()
    handle = compress(crew, "text", lock=tscg.Lock.of(handle.catalog))
    assert crew.kickoff().raw == "Fine."
    assert sorted(tool.name for tool in handle.catalog) == ["Read Order", "wipe"]


def test_a_coworker_whose_tools_changed_in_the_run() -> None:
    """CrewAI makes a result of the error that a coworker raises; the manager must not go on."""
    work = '{"task": "Read.", "context": "none", "coworker": "Clerk"}'
    boss = ScriptedToolLLM(model="boss-1", script=[[native("delegate_work_to_coworker", work)], "Done."] * 2)
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."] * 2)
    agent = clerk(llm, ReadOrder())
    task = Task(description="Read.", expected_output="A word.")
    crew = Crew(agents=[agent], tasks=[task], process=Process.hierarchical, manager_llm=boss)
    with compress(crew, "native") as first:
        assert crew.kickoff().raw == "Done."
        lock = tscg.Lock.of(first.catalog)  # with what CrewAI added for the manager
    sent = [len(boss.got), len(llm.got)]
    compress(crew, "native", lock=lock)

    def change(context: Any) -> None:
        agent.tools = [ReadOrder(), Wipe()]

    boss.script += boss.script
    register_before_tool_call_hook(change)
    try:
        with pytest.raises(tscg.DriftError, match="wipe: added"):
            crew.kickoff()
    finally:
        clear_all_global_hooks()
    assert [len(boss.got), len(llm.got)] == [sent[0] + 1, sent[1]]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_drift_is_warned_of(tmp_path: Path, lock: tscg.Lock) -> None:
    path = tmp_path / "tscg.lock"
    lock.save(path)
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine.", "Again."])
    agent = clerk(llm, *DRIFTED["added"]())
    handle = compress(agent, "text", lock=path, on_drift="warn")
    with pytest.warns(tscg.TscgWarning, match="wipe: added"):
        agent.kickoff("Read.")
    assert agent.kickoff("Read.").raw == "Again."  # said once
    assert compress(agent, "text", lock=path, on_drift="warn") is handle
    assert tscg.Lock.of(handle.catalog).check(handle.catalog) == ()


def test_switched_off_nothing_is_checked(lock: tscg.Lock) -> None:
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."])
    crew = crew_of(clerk(llm, *DRIFTED["added"]()))
    compress(crew, "text", lock=lock).active = False
    assert crew.kickoff().raw == "Fine."


def test_the_decorator_takes_them(lock: tscg.Lock) -> None:
    llm = ScriptedToolLLM(model="scripted-1", script=["Fine."])

    @compressed(mode="text", lock=lock)
    def build() -> Crew:
        return crew_of(clerk(llm, Wipe()))

    with pytest.raises(tscg.DriftError, match="wipe: added"):
        build().kickoff()
    assert llm.got == []


@pytest.mark.parametrize("options", [{"on_drift": "never"}, {"lock": 7}, {"lock": "no/such/file"}], ids=str)
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(tscg.ConfigError):
        compress(clerk(ScriptedToolLLM(model="scripted-1")), **options)
    with pytest.raises(tscg.ConfigError):
        compressed(**options)(lambda: None)
