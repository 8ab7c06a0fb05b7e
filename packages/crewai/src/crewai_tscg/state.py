"""What the models of one compressed crew share: settings, plans, and what was sent."""

from __future__ import annotations

import itertools
import threading
import uuid
import weakref
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import tscg
from crewai_tscg import react
from crewai_tscg.approval import Approval, ToolDriftError
from crewai_tscg.calls import calls_in, encoded, with_prompt
from crewai_tscg.convert import Toolset, read_tools, toolset_of
from crewai_tscg.plan import Facts, Plan, Planner, Settings
from crewai_tscg.rounds import Exchange, Ledger, heard

__all__ = ["State"]

KEPT = 256  # conversations whose newest plan is remembered


class State:
    """Shared by all models of a handle, and by all their copies: a copy of a state is the state itself."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.active = True
        self.restored = False
        self.handle: Any = None
        self.planner = Planner(settings)
        self.ledger = Ledger()
        self.approval = Approval(settings.lock, settings.on_drift)
        self._refused: dict[int, ToolDriftError] = {}  # by the crew that runs
        self._owners: list[weakref.ref[Any]] = []
        self._newest: OrderedDict[tuple[str, str], Plan] = OrderedDict()
        self._seed, self._numbers = uuid.uuid4().hex, itertools.count()
        self._lock = threading.Lock()

    def __copy__(self) -> State:
        return self

    def __deepcopy__(self, memo: object) -> State:
        return self

    # --- models and agents --------------------------------------------------------------------------------------------

    def in_text(self, llm: Any) -> bool:
        """Whether an agent with this model calls in text."""
        from crewai_tscg.binding import takes_calls

        if not self.active:
            return False
        return self.settings.in_text or (self.settings.mode == "auto" and not takes_calls(llm))

    def know(self, owner: Any) -> None:
        """Remember an agent or a task, for its tools."""
        with self._lock:
            self._owners = [one for one in self._owners if one() is not None and one() is not owner]
            self._owners.append(weakref.ref(owner))

    def owners(self) -> list[Any]:
        """The agents and tasks that are known and still there."""
        with self._lock:
            return [owner for owner in (one() for one in self._owners) if owner is not None]

    def agents(self) -> list[Any]:
        """The agents among them."""
        return [owner for owner in self.owners() if hasattr(owner, "role")]

    def sources(self, agent: Any = None) -> Iterator[list[Any]]:
        """Lists of tools of agents: first those of the one that calls."""
        for one in ([] if agent is None else [agent]) + [known for known in self.agents() if known is not agent]:
            yield from _tools_of(one)

    # --- approval -----------------------------------------------------------------------------------------------------

    @property
    def catalog(self) -> tscg.Catalog:
        """The tools that agents and tasks have, and those that calls brought."""
        declared = {
            tool.name: tool
            for owner in self.owners() for tools in _tools_of(owner) for tool in toolset_of(tools).catalog()[0]
        }  # fmt: skip
        return tscg.Catalog(tools=tuple((self.approval.known | declared).values()))

    def starts(self, crew: Any) -> None:
        """A crew starts: all tools that it has by now are checked before any of its models is called."""
        self._refused.pop(id(crew), None)
        if self.active and self.settings.lock is not None:
            agents = [*crew.agents, *(task.agent for task in crew.tasks), crew.manager_agent]
            for owner in (*agents, *crew.tasks):
                self.approval.check(toolset_of(getattr(owner, "tools", None) or ()))

    def _approve(self, toolset: Toolset, agent: Any) -> None:
        """Check the tools of a call. One that is refused ends the whole run: a coworker's error would be a result."""
        crew = getattr(agent, "crew", None)
        refused = self._refused.get(id(crew))
        if refused is not None:
            raise ToolDriftError(refused.drifts)
        try:
            self.approval.check(toolset)
        except ToolDriftError as error:
            if crew is not None:
                self._refused[id(crew)] = error
            raise

    def _approve_unlisted(self, agent: Any) -> None:
        """Check the tools of an agent whose call offers none: its prompt may tell of them, in whatever words."""
        if self.settings.lock is not None and agent is not None:
            for tools in _tools_of(agent):
                self._approve(toolset_of(tools), agent)

    # --- calls --------------------------------------------------------------------------------------------------------

    def begin(self, llm: Any, messages: Any, given: Mapping[str, Any]) -> Any:
        """The rounds of a call with tools; else the messages to send, in one request that is as CrewAI made it."""
        # A model that calls itself again within a round, as LiteLLM's does, has the messages of the round.
        if not self.active or heard(llm) is not None:
            return messages
        tools, agent, task = given.get("tools"), given.get("from_agent"), given.get("from_task")
        if not tools or given.get("available_functions"):
            self._approve_unlisted(agent)
        if given.get("available_functions"):  # then the provider runs the tool itself
            return messages
        if not tools:
            return messages if isinstance(messages, str) else self._without_tools(llm, messages, agent)
        talk = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        plan = self._plan(llm, tools, talk, agent, task)
        if plan.compiled.mode == "text" and given.get("response_model") is not None:
            return messages  # its answer is an object, and no text with calls
        return Exchange.begin(
            llm, plan, talk, max_lookups=self.settings.max_lookups, max_repairs=self.settings.max_repairs,
            seed=f"{self._seed}-{next(self._numbers)}", ledger=self.ledger, agent=agent, task=task,
        )  # fmt: skip

    def counted(self, llm: Any, messages: Any, tools: Any) -> tuple[Any, Any]:
        """Messages and tools of a request as they would be sent, to be counted."""
        if not self.active or not tools or heard(llm) is not None:
            return messages, tools
        talk = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
        toolset = read_tools(tools, self.sources())
        known = [plan for plan in self._recent() if plan.toolset is toolset]
        plan = known[0] if known else self.planner.plan(llm, self._facts(llm), toolset)
        return with_prompt(encoded(plan.compiled, talk, plan.names), plan.compiled.prompt), plan.wire or None

    def _plan(self, llm: Any, tools: Sequence[Any], talk: Sequence[Any], agent: Any, task: Any) -> Plan:
        """The plan of a call. Where tools came in mid-conversation, it goes on from what was sent."""
        toolset, facts = read_tools(tools, self.sources(agent)), self._facts(llm)
        self._approve(toolset, agent)
        key = (str(getattr(agent, "id", "")), str(getattr(task, "id", "")))
        begun = agent is not None and any(message.get("role") == "assistant" for message in talk)
        with self._lock:
            last = self._newest.get(key) if begun else None
        previous = None
        if last is not None and last.facts == facts and last.compiled.prompt:
            if last.toolset is toolset:
                return last
            if last.toolset.by_key.keys() < toolset.by_key.keys():
                previous = last
        plan = self.planner.plan(llm, facts, toolset, previous)
        with self._lock:
            self._newest[key] = plan
            self._newest.move_to_end(key)
            while len(self._newest) > KEPT:
                self._newest.popitem(last=False)
        return plan

    def _facts(self, llm: Any) -> Facts:
        from crewai_tscg.binding import takes_calls

        return Facts.of(llm, takes_calls(llm))

    def _recent(self) -> list[Plan]:
        with self._lock:
            return list(reversed(self._newest.values()))

    def _without_tools(self, llm: Any, messages: Sequence[Mapping[str, Any]], agent: Any) -> Any:
        """Messages of a call that offers no tools: a conversation may hold calls, and a prompt the list of tools."""
        called = calls_in(messages)
        if called:
            facts = self._facts(llm)
            plan = next((p for p in self._recent() if p.facts == facts and not called.isdisjoint(p.names)), None)
            if plan is not None and plan.compiled.mode in ("text", "dispatch"):
                messages = encoded(plan.compiled, messages, plan.names)
            elif plan is None and self.settings.in_text:
                messages = encoded(tscg.compile([], mode=self.settings.mode), messages, {})
        if self.settings.passes and self.settings.lock is None:
            return messages

        def compiled(toolset: Toolset) -> tscg.CompiledCatalog:
            return tscg.compile(
                toolset.catalog()[0], mode="text", profile=self.settings.profile, model=str(llm.model),
                tokenizer=self.settings.tokenizer,
            )  # fmt: skip

        found = react.rewritten(messages, self.sources(agent), lambda toolset: self._approve(toolset, agent), compiled)
        if found is None or self.settings.passes:
            return messages
        self.ledger.add(replace(found.report, label=str(getattr(agent, "role", None) or "")))
        return found.messages

    # --- report -------------------------------------------------------------------------------------------------------

    def report(self) -> tscg.CompressionReport:
        """What was sent so far; before the first call what one request of each agent would send."""
        total = self.ledger.total
        if total.requests:
            return total
        return sum(self._previews(), tscg.CompressionReport())

    def _previews(self) -> Iterable[tscg.CompressionReport]:
        from crewai.utilities.agent_utils import convert_tools_to_openai_schema

        for agent in self.agents():
            tools = list(getattr(agent, "tools", None) or ())
            if not tools:
                continue
            given = convert_tools_to_openai_schema(tools)[0]
            toolset = toolset_of(tools, given)
            plan = self.planner.plan(agent.llm, self._facts(agent.llm), toolset)
            yield replace(
                tscg.CompressionReport.of(plan.compiled, label=str(agent.role)), tokens=plan.tokens(agent.llm),
                baseline_tokens=plan.baseline(agent.llm),
            )  # fmt: skip


def _tools_of(owner: Any) -> Iterator[list[Any]]:
    """The lists of tools of an agent or a task: those that it runs with, and its own."""
    yield list(getattr(getattr(owner, "agent_executor", None), "original_tools", None) or ())
    yield list(getattr(owner, "tools", None) or ())
