"""Whole crews with compression: every way to start one, and everything of CrewAI that must go on to work."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from crewai import Agent, Crew, Process, Task, project
from crewai.events.event_bus import crewai_event_bus
from crewai.events.types.llm_events import LLMStreamChunkEvent
from crewai.events.types.tool_usage_events import ToolUsageFinishedEvent, ToolUsageStartedEvent
from crewai.flow.flow import Flow, start
from crewai.hooks import (
    clear_all_global_hooks,
    register_after_llm_call_hook,
    register_before_tool_call_hook,
)
from crewai.llm_overlay import llm_overlay
from crewai.mcp import MCPServerStdio
from pydantic import BaseModel

import tscg
from crewai_tscg import ToolCompressionEvent, compress, compressed
from tests.adapters.crewai.crews import KEYS, READ, SEVEN, office, worker
from tests.adapters.crewai.models import client
from tests.adapters.provider import Answer, Provider, View
from tests.adapters.worker import RAW

MODES = pytest.mark.parametrize("mode", ["native", "text", "dispatch"])
EITHER = pytest.mark.parametrize("mode", ["text", "dispatch"])
pytestmark = pytest.mark.filterwarnings("ignore:.* mode sends .* tokens for tools:tscg.TscgWarning")
COMPRESSED = {"native": ["cancel_order", "read_order"], "text": [], "dispatch": ["call", "lookup"]}


def each(crew: Any) -> list[str]:
    return [output.raw for output in crew.kickoff_for_each(inputs=[{"n": "1"}, {"n": "2"}])]


def each_threads(crew: Any) -> list[str]:
    found: Any = asyncio.run(crew.kickoff_for_each_async(inputs=[{"n": "1"}, {"n": "2"}]))
    return [output.raw for output in found]


def each_async(crew: Any) -> list[str]:
    found: Any = asyncio.run(crew.akickoff_for_each(inputs=[{"n": "1"}, {"n": "2"}]))
    return [output.raw for output in found]


def streamed(crew: Any) -> list[str]:
    crew.stream = True
    stream: Any = crew.kickoff()
    shown = "".join(chunk.content for chunk in stream)
    assert [mark for mark in RAW if mark in shown] == []
    assert shown.endswith(stream.result.raw)
    return [stream.result.raw]


def streamed_async(crew: Any) -> list[str]:
    crew.stream = True

    async def run() -> list[str]:
        stream: Any = await crew.kickoff_async()
        shown = "".join([chunk.content async for chunk in stream])
        assert [mark for mark in RAW if mark in shown] == []
        return [stream.result.raw]

    return asyncio.run(run())


WAYS: dict[str, Callable[[Any], list[str]]] = {
    "kickoff": lambda crew: [crew.kickoff().raw],
    "kickoff_async": lambda crew: [asyncio.run(crew.kickoff_async()).raw],
    "akickoff": lambda crew: [asyncio.run(crew.akickoff()).raw],
    "kickoff_for_each": each,
    "kickoff_for_each_async": each_threads,
    "akickoff_for_each": each_async,
    "stream": streamed,
    "stream_async": streamed_async,
}


@MODES
@pytest.mark.parametrize("way", WAYS)
def test_c1_every_way_to_start_a_crew(provider: Provider, mode: str, way: str) -> None:
    """The tool that the crew holds runs, and the model sees compressed tools alone, also in clones."""
    made = office(provider)
    handle = compress(made.crew, mode)
    said = WAYS[way](made.crew)
    assert set(said) == {"Done. order 7: two teapots"}
    assert made.read.done == [READ] * len(said)
    assert {tuple(sorted(names)) for names in made.names} == {tuple(COMPRESSED[mode])}
    assert handle.report().requests == len(provider.bodies) == 2 * len(said)


@MODES
def test_an_agent_alone_and_in_a_flow(provider: Provider, mode: str) -> None:
    made = office(provider)
    compress(made.agent, mode)

    class Asking(Flow[Any]):
        @start()
        def ask_the_clerk(self) -> Any:
            return made.agent.kickoff(SEVEN)

    assert made.agent.kickoff(SEVEN).raw == "Done. order 7: two teapots"
    assert Asking().kickoff().raw == "Done. order 7: two teapots"
    assert made.read.done == [READ, READ]
    assert {tuple(sorted(names)) for names in made.names} == {tuple(COMPRESSED[mode])}


@MODES
def test_c2_parallel_calls_get_different_ids(provider: Provider, mode: str) -> None:
    made = office(
        provider,
        f'{SEVEN} && Read Order {{"number": 8}}\nRead Order {{"number": 9}} && Cancel Order {{"number": 9, "reason": "stock"}}',
    )
    compress(made.crew, mode)
    made.crew.kickoff()
    assert sorted(one["number"] for one in made.read.done) == [7, 8, 9]
    assert made.cancel.done == [{"number": 9, "reason": "stock"}]
    kept = json.dumps(made.agent.agent_executor.messages)
    ids = [part.split('"')[1] for part in kept.split('"tool_call_id": ')[1:]]
    assert len(ids) == len(set(ids)) == 4


STEPS: list[Any] = []


def note(step: Any) -> None:
    STEPS.append(step)


@EITHER
def test_c3_hooks_events_and_steps_see_the_real_tool(provider: Provider, mode: str) -> None:
    seen: list[Any] = STEPS
    seen.clear()
    made = office(provider, step_callback=note)
    compress(made.crew, mode)

    def before(context: Any) -> None:
        seen.append((context.tool_name, dict(context.tool_input), context.tool.name))

    register_before_tool_call_hook(before)
    with crewai_event_bus.scoped_handlers():
        for kind in (ToolUsageStartedEvent, ToolUsageFinishedEvent):
            crewai_event_bus.register_handler(kind, lambda _, event: seen.append((event.tool_name, event.tool_args)))
        made.crew.kickoff()
        crewai_event_bus.flush()
    clear_all_global_hooks()
    assert ("read_order", {"number": 7}, "Read Order") in seen
    assert seen.count(("read_order", {"number": 7})) == 2
    assert [mark for mark in RAW if mark in repr(seen)] == []
    assert "'call'" not in repr(seen)


@pytest.mark.parametrize("mode", ["native", "text", "dispatch", "passthrough"])
def test_c4_compression_may_be_switched_in_the_middle_of_a_run(provider: Provider, mode: str) -> None:
    """The conversation holds real calls alone: each request is in the form of its moment, and no rule is broken."""
    task = "\n".join(f'Read Order {{"number": {n}}}' for n in (7, 8, 9, 10))
    made = office(provider, task)
    handle = compress(made.crew, mode)

    def switch(context: Any) -> None:
        handle.active = context.tool_input["number"] % 2 == 1

    register_before_tool_call_hook(switch)
    made.crew.kickoff()
    clear_all_global_hooks()
    assert [one["number"] for one in made.read.done] == [7, 8, 9, 10]
    plain = ["cancel_order", "read_order"]
    ours = COMPRESSED.get(mode, plain)
    # 7 switches it on, where it is already; 8 off; 9 on; 10 off.
    assert [sorted(names) for names in made.names] == [ours, ours, plain, ours, plain]


@EITHER
def test_c11_structured_output(provider: Provider, mode: str) -> None:
    class Found(BaseModel):
        what: str

    answers = iter(['{"what": "two teapots"}'])

    def model(view: View) -> Answer:
        said = worker(view)
        return Answer(text=next(answers)) if said.text.startswith("Done.") else said

    provider.model = model
    made = office(provider, details={"output_pydantic": Found})
    compress(made.crew, mode)
    found: Any = made.crew.kickoff()
    assert found.pydantic == Found(what="two teapots")
    assert made.read.done == [READ]
    assert [sorted(names) for names in made.names] == [COMPRESSED[mode]] * 2


@EITHER
def test_c11_a_guardrail_that_sends_back(provider: Provider, mode: str) -> None:
    tries: list[str] = []

    def guard(output: Any) -> Any:
        tries.append(output.raw)
        return (len(tries) > 1, output.raw if len(tries) > 1 else "again, please")

    del guard.__annotations__["return"]  # CrewAI reads it, and knows no text for one
    made = office(provider, details={"guardrail": guard})
    compress(made.crew, mode)
    made.crew.kickoff()
    assert len(tries) == 2
    assert {tuple(sorted(names)) for names in made.names} == {tuple(COMPRESSED[mode])}


@EITHER
def test_c15_limits_caches_and_answers_of_tools(provider: Provider, mode: str) -> None:
    made = office(provider, f'{SEVEN}\n{SEVEN}\nRead Order {{"number": 8}}', cache=True)
    made.read.max_usage_count = 1
    compress(made.crew, mode)
    found: Any = made.crew.kickoff()
    assert made.read.done == [READ]  # the second comes from the cache, the third is one too many
    assert "usage limit of 1" in found.raw


@EITHER
def test_c15_the_result_of_a_tool_as_the_answer(provider: Provider, mode: str) -> None:
    made = office(provider)
    made.read.result_as_answer = True
    compress(made.crew, mode)
    assert made.crew.kickoff().raw == "order 7: two teapots"
    assert len(provider.bodies) == 1


@EITHER
def test_c15_a_hook_that_blocks(provider: Provider, mode: str) -> None:
    made = office(provider)
    compress(made.crew, mode)
    register_before_tool_call_hook(lambda context: context.tool_name != "read_order")
    found: Any = made.crew.kickoff()
    clear_all_global_hooks()
    assert made.read.done == []
    assert "blocked by hook" in found.raw


@EITHER
def test_an_after_hook_that_makes_text_of_the_answer(provider: Provider, mode: str) -> None:
    """A list of calls stays one (CrewAI issue 6529)."""
    made = office(provider)
    compress(made.crew, mode)
    register_after_llm_call_hook(lambda context: str(context.response))
    made.crew.kickoff()
    clear_all_global_hooks()
    assert made.read.done == [READ]


@MODES
def test_c16_restore_puts_all_back(provider: Provider, mode: str) -> None:
    made = office(provider)
    before = (made.llm.model_dump(), made.llm.stop, list(made.agent.tools or ()), made.llm._token_usage.copy())
    with compress(made.crew, mode) as handle:
        assert made.agent.llm is not made.llm
        assert isinstance(made.agent.llm, type(made.llm))
        assert handle.active
        made.crew.kickoff()
        clone = made.crew.copy()
    off: Any = handle
    assert not off.active
    handle.restore()
    assert made.agent.llm is made.llm is made.agent.agent_executor.llm
    assert (made.llm.model_dump(), made.llm.stop, list(made.agent.tools or ())) == before[:3]
    assert made.llm._token_usage["successful_requests"] == 2  # the counter is one
    with pytest.raises(tscg.ConfigError, match="restored"):
        handle.active = True
    sent = len(provider.bodies)
    for crew in (made.crew, clone):  # a clone keeps a compressed model, which is switched off
        crew.kickoff()
    assert [sorted(names) for names in made.names[sent:]] == [["cancel_order", "read_order"]] * 4


def test_compress_twice(provider: Provider) -> None:
    made = office(provider)
    handle = compress(made.crew, "text", pin="Read Order")
    assert compress(made.crew) is handle
    assert compress(made.crew, "text", pin=["Read Order"]) is handle
    assert compress(made.crew.copy()) is handle
    assert compress(made.agent) is handle
    with pytest.raises(tscg.ConfigError, match="other settings"):
        compress(made.crew, "dispatch")
    handle.restore()
    assert compress(made.crew, "dispatch") is not handle


def test_a_pinned_tool_stays_native(provider: Provider) -> None:
    made = office(provider, f'{SEVEN}\nCancel Order {{"number": 7, "reason": "stock"}}')
    compress(made.crew, "dispatch", pin=["Cancel Order", "a tool of another agent"])

    def model(view: View) -> Answer:
        results = sum(turn.role == "tool" for turn in view.turns)
        if results == 0:
            return Answer(calls=(("call", '{"tool": "Read Order", "args": "{\\"number\\": 7}"}'),))
        if results == 1:
            return Answer(calls=(("cancel_order", '{"number": 7, "reason": "stock"}'),))
        return worker(view)

    provider.model = model
    made.crew.kickoff()
    assert made.cancel.done == [{"number": 7, "reason": "stock"}]
    assert [sorted(names) for names in made.names] == [["call", "cancel_order", "lookup"]] * 3


@EITHER
def test_agents_that_share_a_model_go_on_to_share_one(provider: Provider, mode: str) -> None:
    made = office(provider)
    second = Agent(role="Second", goal="Answer.", backstory="Careful.", tools=[made.read], llm=made.llm)
    task = Task(description=SEVEN.replace("7", "8"), expected_output="x", agent=second, async_execution=True)
    crew = Crew(agents=[made.agent, second], tasks=[task, made.crew.tasks[0]])
    handle = compress(crew, mode)
    assert made.agent.llm is second.llm
    crew.kickoff()
    assert sorted(one["number"] for one in made.read.done) == [7, 8]
    report = handle.report()
    assert [(part.label, part.requests) for part in report.parts] == [("Clerk", 2), ("Second", 2)]
    assert crew.usage_metrics is not None


@EITHER
@pytest.mark.parametrize("given", ["object", "name", "agent"])
def test_a_manager_and_what_it_delegates(
    provider: Provider, mode: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{provider.url}/v1")
    made = office(provider)
    task = 'Delegate work to coworker {"task": "Read Order {\\"number\\": 7}", "context": "none", "coworker": "Clerk"}'
    boss: dict[str, Any] = {"manager_llm": "openai/gpt-4o" if given == "name" else client(provider)}
    if given == "agent":
        boss = {
            "manager_agent": Agent(
                role="Boss", goal="Lead.", backstory="Fair.", llm=client(provider), allow_delegation=True
            )
        }
    crew = Crew(
        agents=[made.agent], tasks=[Task(description=task, expected_output="x")], process=Process.hierarchical, **boss
    )  # fmt: skip
    handle = compress(crew, mode)
    found: Any = crew.kickoff()
    assert found.raw == "Done. Done. order 7: two teapots"
    assert made.read.done == [READ]
    assert [sorted(names) for names in made.names] == [COMPRESSED[mode]] * 4
    assert len(handle.report().parts) == 2
    handle.restore()
    if given == "name":
        assert crew.manager_llm == "openai/gpt-4o"
    sent = len(provider.bodies)
    crew.kickoff()
    assert all(not {"call", "lookup"} & set(names) and names for names in made.names[sent:])


@EITHER
@pytest.mark.parametrize("key", ["Clerk", "Clerk for Ann", "model:*"])
@pytest.mark.parametrize("way", ["one", "each"])
def test_an_overlay_brings_fresh_models(provider: Provider, mode: str, key: str, way: str) -> None:
    """They get the settings that CrewAI gives them, and are compressed. After the block all is as it would be."""
    role = "Clerk for {who}" if " " in key else "Clerk"
    made = office(provider, role=role)
    handle = compress(made.crew, mode)
    with llm_overlay({key: "openai/gpt-4o-mini"}):
        if way == "one":
            made.crew.kickoff(inputs={"who": "Ann"})
        else:
            made.crew.kickoff_for_each(inputs=[{"who": "Ann"}])
    # An agent that was built outside reads the overlay where its role changes, and as a clone.
    mapped = way == "each" or " " in key
    assert {body["model"] for body in provider.bodies} == {"gpt-4o-mini" if mapped else "fake-1"}
    assert made.read.done == [READ]
    assert [sorted(names) for names in made.names] == [COMPRESSED[mode]] * 2
    made.crew.kickoff()
    assert [sorted(names) for names in made.names] == [COMPRESSED[mode]] * 4
    handle.restore()
    if way == "each" or " " not in key:
        assert made.agent.llm is made.llm


@EITHER
def test_planning(provider: Provider, mode: str) -> None:
    """A plan is asked for with a tool that the provider runs itself: that call is left alone. Its steps are not."""
    step = {"step_number": 1, "description": SEVEN, "tool_to_use": "read_order", "depends_on": []}
    plan = json.dumps({"plan": "Read it.", "steps": [step], "ready": True})

    def model(view: View) -> Answer:
        if "create_reasoning_plan" in view.tools:
            return Answer(calls=(("create_reasoning_plan", plan),))
        if view.turns[-1].role == "user" and RAW[3] not in view.turns[-1].text and "call" in (*view.tools, mode):
            return Answer(calls=(("call", '{"tool": "Read Order", "args": "{\\"number\\": 7}"}'),))
        if len(view.turns) == 1 and "<tools>" in view.system:
            return Answer(text='<tool_call>{"name": "Read Order", "arguments": {"number": 7}}</tool_call>')
        return Answer(text="Two teapots.")

    provider.model = model
    made = office(provider, agent={"planning": True})
    compress(made.crew, mode)
    assert made.crew.kickoff().raw == "Two teapots."
    assert made.read.done == [READ]
    assert [sorted(names) for names in made.names[:3]] == [["create_reasoning_plan"], *[COMPRESSED[mode]] * 2]


@EITHER
def test_human_input(provider: Provider, mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = iter(["read it again", ""])
    monkeypatch.setattr("builtins.input", lambda *_: next(said))
    made = office(provider, details={"human_input": True})
    compress(made.crew, mode)
    made.crew.kickoff()
    assert next(said, None) is None
    assert {tuple(sorted(names)) for names in made.names} == {tuple(COMPRESSED[mode])}


def test_train_and_test(provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("builtins.input", lambda *_: "good")
    judged = json.dumps(
        {"quality": 8.0, "suggestions": ["go on"], "final_summary": "fine", "entities": [], "relationships": []}
    )
    provider.model = lambda view: worker(view) if view.tools else Answer(text=judged)
    made = office(provider)
    compress(made.crew, "dispatch")
    made.crew.test(n_iterations=1, eval_llm=client(provider))
    assert [sorted(names) for names in made.names][:2] == [["call", "lookup"]] * 2
    assert made.read.done == [READ]
    sent = len(provider.bodies)
    made.crew.train(n_iterations=1, filename="trained.pkl", inputs={})
    assert made.names[sent][:2] == ["call", "lookup"]
    assert len(made.read.done) == 2


@EITHER
def test_the_last_answer_at_max_iter(provider: Provider, mode: str) -> None:
    """It is asked for without tools; the calls of the conversation are in the form of the mode all the same."""
    task = "\n".join(f'Read Order {{"number": {n}}}' for n in range(1, 9))
    made = office(provider, task, agent={"max_iter": 2})
    compress(made.crew, mode)
    made.crew.kickoff()
    last = provider.bodies[-1]
    assert "tools" not in last
    assert '"read_order"' not in json.dumps(last["messages"])
    assert ("<tool_call>" in json.dumps(last["messages"])) == (mode == "text")
    first, *_ = provider.bodies
    assert last["messages"][1] == first["messages"][1]


def test_mcp_servers_of_an_agent(provider: Provider, tmp_path: Path) -> None:
    """The model reads the name that the tool has on its server, not CrewAI's, which is a command line."""
    server = MCPServerStdio(
        command=sys.executable, args=["-m", "tscg.demo.server", "--db", str(tmp_path / "demo.db")], env={"PATH": ""}
    )
    call = '{"tool": "get_issue", "args": "{\\"key\\": \\"SHOP-14\\"}"}'

    def model(view: View) -> Answer:
        last = view.turns[-1]
        return Answer(text=last.text[:400]) if last.role == "tool" else Answer(calls=(("call", call),))

    provider.model = model
    agent = Agent(role="Clerk", goal="Answer.", backstory="Careful.", mcps=[server], llm=client(provider))
    compress(agent, "dispatch")
    found: Any = agent.kickoff("What is SHOP-14?")
    assert "SHOP-14" in found.raw
    assert "error" not in found.raw.lower()
    told = json.dumps(provider.bodies[0])
    assert "get_issue" in told
    assert sys.executable not in told


@EITHER
def test_c17_one_event_for_each_call(provider: Provider, mode: str) -> None:
    made = office(provider)
    handle = compress(made.crew, mode)
    events: list[Any] = []
    with crewai_event_bus.scoped_handlers():
        crewai_event_bus.register_handler(ToolCompressionEvent, lambda _, event: events.append(event))
        made.crew.kickoff()
        crewai_event_bus.flush()
    report = handle.report()
    assert len(events) == report.requests == 2
    assert sum(event.rounds for event in events) == report.rounds
    assert sum(event.saved_tokens for event in events) == report.saved_tokens
    assert {(event.mode, event.agent_role, event.tools) for event in events} == {(mode, "Clerk", 2)}
    assert events[0].agent_id == str(made.agent.id)
    assert "teapots" not in events[0].model_dump_json()
    assert made.crew.usage_metrics is not None
    assert made.crew.usage_metrics.prompt_tokens == report.input_tokens == 20


def test_a_report_before_the_first_call(provider: Provider) -> None:
    made = office(provider)
    report = compress(made.crew, "text").report()
    assert (report.label, report.mode, report.tools, report.requests) == ("Clerk", "text", 2, 0)
    assert report.tokens > 0 < report.baseline_tokens
    assert sorted(report.per_tool) == sorted(name for name in KEYS if name.endswith("Order"))
    assert provider.bodies == []


@pytest.mark.parametrize("size", [1, 5, 7])
@EITHER
def test_a_stream_cut_anywhere_shows_nothing_raw(provider: Provider, mode: str, size: int) -> None:
    provider.size = size
    made = office(provider, f"SAY I look if 3 < 4. && {SEVEN}", client={"stream": True})
    compress(made.crew, mode)
    shown: list[Any] = []
    with crewai_event_bus.scoped_handlers():
        crewai_event_bus.register_handler(LLMStreamChunkEvent, lambda _, event: shown.append(event))
        made.crew.kickoff()
        crewai_event_bus.flush()
    text = "".join(event.chunk for event in shown)
    assert "I look if 3 < 4." in text
    assert text.endswith("Done. order 7: two teapots")
    assert [mark for mark in RAW if mark in text] == []
    assert [event for event in shown if event.tool_call is not None] == []
    assert made.read.done == [READ]


@pytest.mark.parametrize("bare", [True, False], ids=["bare", "with settings"])
def test_a_crew_class_under_the_decorator(provider: Provider, bare: bool) -> None:
    made = office(provider)

    @project.CrewBase
    class Desk:
        agents_config = None
        tasks_config = None

        @project.agent
        def clerk(self) -> Any:
            return made.agent

        @project.task
        def read(self) -> Any:
            return made.crew.tasks[0]

        @project.crew
        def crew(self: Any) -> Any:
            return Crew(agents=self.agents, tasks=self.tasks)

    kind: Any = compressed(Desk) if bare else compressed(mode="dispatch")(Desk)
    assert [kind] == [Desk]
    built = kind().crew()
    handle = compress(built)
    assert handle.active
    built.kickoff()
    assert made.read.done == [READ]
    assert ("call" in made.names[0]) == (not bare)


def test_the_decorator_on_a_function_and_in_the_wrong_place(provider: Provider) -> None:
    @compressed(mode="text")
    def build() -> Any:
        return office(provider).crew

    @compressed
    async def soon() -> Any:
        return office(provider).crew

    assert compress(build()).report().mode == "text"
    assert compress(asyncio.run(soon())).active
    with pytest.raises(tscg.ConfigError, match="above @CrewBase"):

        @compressed
        class Desk: ...

    wrong: Any = {"modus": "text"}
    with pytest.raises(tscg.ConfigError, match="no option 'modus'"):
        compressed(**wrong)


def test_litellm_and_its_clones(provider: Provider) -> None:
    """Its copies are built anew, so that a clone of a crew would lose the compression."""
    pytest.importorskip("litellm")
    from crewai import LLM

    made = office(provider)
    llm = LLM(model="openai/gpt-4o-mini", is_litellm=True, base_url=f"{provider.url}/v1", api_key="none")
    made.agent.llm = llm
    handle = compress(made.crew, "dispatch")
    assert each(made.crew) == ["Done. order 7: two teapots"] * 2
    assert [sorted(names) for names in made.names] == [["call", "lookup"]] * 4
    assert handle.report().input_tokens == 40
    made.crew.kickoff()
    assert llm.get_token_usage_summary().successful_requests == 2
    handle.restore()
    assert made.agent.llm is llm


def test_litellm_streams_an_answer_in_one_piece(provider: Provider) -> None:
    pytest.importorskip("litellm")
    from crewai import LLM

    made = office(provider)
    made.agent.llm = LLM(model="openai/gpt-4o-mini", is_litellm=True, base_url=f"{provider.url}/v1", api_key="none")
    compress(made.crew, "text")
    assert streamed(made.crew) == ["Done. order 7: two teapots"]
