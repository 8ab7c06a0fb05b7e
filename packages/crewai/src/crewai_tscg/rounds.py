"""One model call: rounds with the model until there is an answer to hand over, and what is heard of each round."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any

from crewai.events.event_bus import crewai_event_bus
from crewai.llm import LLM
from crewai.llms.base_llm import call_stop_override, call_stream_override
from crewai.types.usage_metrics import UsageMetrics

import tscg
from crewai_tscg.calls import MalformedToolCallError, answered, encoded, executable, put_back, said, with_prompt
from crewai_tscg.convert import refuses
from crewai_tscg.events import event_of
from crewai_tscg.plan import Plan

__all__ = ["AGAIN", "Exchange", "Ledger", "Round", "heard"]

AGAIN = object()
"""The answer of :meth:`Exchange.finished` that asks for another round."""

_round: ContextVar[Round | None] = ContextVar("crewai_tscg_round", default=None)


class Ledger:
    """What was sent so far, summed, with a part for each agent. Thread-safe; a copy is the same ledger."""

    def __init__(self) -> None:
        self._total = tscg.CompressionReport()
        self._lock = threading.Lock()

    def add(self, report: tscg.CompressionReport) -> None:
        """Count one model call."""
        with self._lock:
            self._total = self._total + report

    @property
    def total(self) -> tscg.CompressionReport:
        """The sum; an empty one before the first call."""
        with self._lock:
            return self._total


def heard(llm: Any) -> Round | None:
    """The round that a language model is in, in this context."""
    found = _round.get()
    return found if found is not None and found.llm is llm else None


class Round:
    """What a provider tells while it answers: pieces of a stream, why the answer ended, what it used.

    Text is shown as soon as it cannot be the beginning of a call.
    """

    def __init__(self, llm: Any, compiled: tscg.CompiledCatalog) -> None:
        self.llm = llm
        self.hides_calls = compiled.mode in ("text", "dispatch")
        self.finish_reason: str | None = None
        self.used = UsageMetrics()
        self._stream: Any = compiled.stream()
        self._fed = False
        self._shown = 0

    def feed(self, text: str) -> str:
        """What of a piece can be shown already."""
        if self._stream is None:
            return ""
        self._fed = True
        shown = "".join(event.text for event in self._stream.feed(text) if isinstance(event, tscg.TextEvent))
        self._shown += len(shown)
        return shown

    def rest(self) -> str:
        """What is left to show of a stream that has ended."""
        stream, self._stream = self._stream, None
        if stream is None or not self._fed:
            return ""
        return str(stream.close(self.finish_reason).text[self._shown :])

    def use(self, usage: Mapping[str, Any]) -> None:
        """Add what a request used."""
        found = UsageMetrics.from_provider_dict(dict(usage))
        if found is not None:
            self.used.add_usage_metrics(found)


@dataclass(slots=True, kw_only=True)
class Exchange:
    """The rounds of one model call, without any I/O: ask with ``messages`` and ``tools``, hand over the answer."""

    llm: Any
    plan: Plan
    messages: list[dict[str, Any]]
    turn: tscg.Turn
    seed: str
    ledger: Ledger
    agent: Any = None
    task: Any = None
    sent: int = 0
    used: UsageMetrics = field(default_factory=UsageMetrics)
    round: Round | None = None

    @classmethod
    def begin(
        cls, llm: Any, plan: Plan, messages: Sequence[Mapping[str, Any]], *, max_lookups: int, max_repairs: int,
        **fields: Any,
    ) -> Exchange:  # fmt: skip
        """The conversation in the form of the plan."""
        compiled = plan.compiled
        sent = with_prompt(encoded(compiled, messages, plan.names), compiled.prompt)
        return cls(llm=llm, plan=plan, messages=sent, turn=compiled.turn(max_lookups, max_repairs), **fields)

    @property
    def tools(self) -> list[Any] | None:
        """The tools field of this round."""
        return self.plan.tools(self.turn)

    @contextmanager
    def listening(self) -> Iterator[None]:
        """A round with the provider."""
        llm, compiled = self.llm, self.plan.compiled
        self.round = Round(llm, compiled)
        with ExitStack() as stack:
            stack.callback(_round.reset, _round.set(self.round))
            if compiled.stop and llm.supports_stop_words():
                stack.enter_context(call_stop_override(llm, list(dict.fromkeys([*llm.stop_sequences, *compiled.stop]))))
            if self.whole:
                stack.enter_context(call_stream_override(llm, False))
            yield

    @property
    def whole(self) -> bool:
        """Whether an answer must come whole: CrewAI's way to LiteLLM sends the pieces of a stream where no one can
        look at them first."""
        round = self.round
        return round is not None and round.hides_calls and isinstance(self.llm, LLM)

    def finished(self, answer: Any) -> Any:
        """What to hand over after a round, or AGAIN. MalformedToolCallError where nothing can be."""
        plan, round = self.plan, self.round
        assert round is not None
        self.sent += plan.tokens(self.llm, self.turn)
        self.used.add_usage_metrics(round.used)
        output = said(answer)
        if output is None:
            return answer
        seed = f"{self.seed}-{self.turn.rounds}"
        decoded = plan.compiled.decode(output, finish_reason=round.finish_reason, seed=seed)
        step = self.turn.take(decoded, output)
        self.turn = step.turn
        if isinstance(step, tscg.Again):
            self.messages = [*self.messages, *put_back(step)]
            return AGAIN
        handed = self._handed(step, output, seed)
        ids = {one["id"] for one in handed if one is not None}
        dropped = [_named(one) for one in step.dropped]
        dropped += [error.tool or "unknown" for error in step.errors if error.id not in ids]
        self._count(step, dropped)
        if step.failure and not ids:  # CrewAI would coerce what is wrong, and run it
            raise MalformedToolCallError(step.failure, step.errors)
        if isinstance(answer, str) and not decoded.items and plan.compiled.mode in ("native", "passthrough"):
            return answer
        return answered(step, answer, plan.keys, [one for one in handed if one is not None])

    def _handed(self, final: tscg.Final, output: Any, seed: str) -> list[dict[str, Any] | None]:
        """Wrong calls as the executor gets them, None for each that it does not get."""
        if not final.errors:
            return []
        plan = self.plan
        loose = plan.loose.decode(output, seed=seed)

        def refused(key: str, arguments: dict[str, Any]) -> bool:
            return refuses(plan.toolset.by_key[key], arguments)

        return [executable(error, loose, plan.keys, refused) for error in final.errors]

    def _count(self, final: tscg.Final, dropped: list[str]) -> None:
        """Put the call into the ledger, and on the bus."""
        plan, turn = self.plan, final.turn
        tokens, plain = plan.tokens(self.llm), plan.baseline(self.llm)
        report = replace(
            tscg.CompressionReport.of(
                plan.compiled, turn, label=str(getattr(self.agent, "role", None) or ""), dropped=len(dropped),
                input_tokens=self.used.prompt_tokens, output_tokens=self.used.completion_tokens,
            ),
            tokens=tokens, baseline_tokens=plain, sent_tokens=self.sent, plain_tokens=plain,
        )  # fmt: skip
        self.ledger.add(report)
        crewai_event_bus.emit(self.llm, event=event_of(report, final, dropped, self.task, self.agent))


def _named(item: object) -> str:
    """What an item is called in an event."""
    return item.name if isinstance(item, tscg.Call) else type(item).__name__.lower()
