"""One call of an LLM: rounds with it until there is an answer to hand over, whole or as a stream."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.tools import BaseTool

import tscg
from llama_index_tscg.calls import (
    MalformedToolCallError,
    answered,
    encoded,
    finish_reason,
    put_back,
    said,
    usage_of,
    with_prompt,
)
from llama_index_tscg.convert import Snapshot, wire_tool
from llama_index_tscg.events import ToolCompressionEvent, dispatcher
from llama_index_tscg.plan import Plan, Settings

__all__ = ["Exchange", "Ledger", "Reader"]


class Ledger:
    """What was sent so far, summed. Thread-safe."""

    def __init__(self) -> None:
        self._total: tscg.CompressionReport | None = None
        self._lock = threading.Lock()

    def add(self, report: tscg.CompressionReport) -> None:
        """Count one call."""
        with self._lock:
            self._total = report if self._total is None else self._total + report

    @property
    def total(self) -> tscg.CompressionReport:
        """The sum; an empty report before the first call."""
        with self._lock:
            return self._total or tscg.CompressionReport()


@dataclass(slots=True, kw_only=True)
class Exchange:
    """The rounds of one call, without any I/O: ask with ``messages``, ``tools`` and ``options``, then hand the answer
    over; ``close`` it in the end."""

    plan: Plan
    snapshot: Snapshot
    messages: list[ChatMessage]
    options: Mapping[str, Any]
    ledger: Ledger
    turn: tscg.Turn | None
    seed: str
    usage: tuple[int, int] = (0, 0)
    shown: str = ""  # visible text of all rounds of a stream
    reading: Reader | None = None  # the stream that is not read to its end
    done: bool = False

    @classmethod
    def begin(
        cls, plan: Plan, snapshot: Snapshot, messages: Sequence[ChatMessage], options: Mapping[str, Any], *,
        settings: Settings, ledger: Ledger,
    ) -> Exchange:  # fmt: skip
        """The conversation in the form of the plan."""
        passed = {key: value for key, value in options.items() if key not in plan.dropped}
        if plan.choice is not None and "tool_choice" in passed:
            passed["tool_choice"] = plan.choice
        turn = None
        if plan.compiled is not None:
            turn = plan.compiled.turn(
                settings.max_lookups, settings.max_repairs, must_call=plan.must_call, parallel=plan.parallel
            )
            if passed.get("stop"):
                passed["stop"] = _joined(passed["stop"], plan.compiled.stop)
        return cls(
            plan=plan, snapshot=snapshot, messages=with_prompt(encoded(plan.writer, messages), plan.prompt),
            options=passed, ledger=ledger, turn=turn, seed=_seed(messages),
        )  # fmt: skip

    @property
    def tools(self) -> list[BaseTool]:
        """The tools of this round; the last one goes without the lookup tool."""
        plan = self.plan
        if plan.originals:
            return [self.snapshot.by_name[plan.forced]] if plan.forced else list(self.snapshot.tools)
        return list(_wire(self.turn.compiled, self.turn.may_look_up)) if self.turn is not None and plan.sends else []

    @property
    def round_seed(self) -> str:
        """Ids of calls in text are made from it: none comes twice in a conversation."""
        return f"{self.seed} {self.turn.rounds if self.turn is not None else 0}"

    def finished(self, response: ChatResponse) -> ChatResponse | None:
        """What to hand over after a round; None asks for another one."""
        compiled = self.plan.compiled
        if compiled is None:
            return response
        if not self.plan.reads:
            self._passed(usage_of(response))
            return response
        reason = finish_reason(response)
        output = said(response, reason)
        decoded = compiled.decode(output, finish_reason=reason, seed=self.round_seed)
        self._use(usage_of(response))
        final = self._taken(decoded, output, response.message)
        return None if final is None else self._handed(response, final.text, final.calls)

    def _taken(
        self, decoded: tscg.Decoded, output: Mapping[str, Any], message: ChatMessage
    ) -> tscg.Final | None:  # fmt: skip
        """The last answer; None after the messages of another round were appended. MalformedToolCallError where
        nothing can be handed over."""
        assert self.turn is not None
        step = self.turn.take(decoded, output)
        self.turn = step.turn
        if isinstance(step, tscg.Again):
            self.messages = [*self.messages, *put_back(step, message)]
            return None
        self._tell(step)
        if step.failure:
            raise MalformedToolCallError(step.failure, step.errors, output)
        return step

    def _handed(self, response: ChatResponse, text: str, calls: Sequence[tscg.Call], **update: Any) -> ChatResponse:
        assert self.plan.compiled is not None
        verbatim = self.plan.compiled.mode == "passthrough"
        message = answered(response.message, text, calls, verbatim=verbatim)
        counts = dict(response.additional_kwargs)
        if "prompt_tokens" in counts:  # of all rounds
            sent, got = self.usage
            counts |= {"prompt_tokens": sent, "completion_tokens": got, "total_tokens": sent + got}
        return response.model_copy(update={"message": message, "additional_kwargs": counts, **update})

    def _use(self, usage: tuple[int, int] | None) -> None:
        if usage is not None:
            self.usage = (self.usage[0] + usage[0], self.usage[1] + usage[1])

    def close(self) -> None:
        """The call is over. One that broke off, or whose stream was not read to its end, was paid for all the same."""
        if self.turn is None or self.done:
            return
        rounds = self.turn.rounds
        if self.reading is not None and self.reading.last is not None:
            self._use(self.reading.usage)
            rounds += 1
        if rounds:
            self._tell(tscg.Final(turn=replace(self.turn, rounds=rounds)))

    def _passed(self, usage: tuple[int, int] | None) -> None:
        """Count an answer that is handed over as it is."""
        assert self.turn is not None
        self._use(usage)
        self._tell(tscg.Final(turn=replace(self.turn, rounds=1)))

    def _tell(self, final: tscg.Final) -> None:
        """Put the call into the ledger, and tell it as an event."""
        plan, compiled = self.plan, self.plan.compiled
        assert compiled is not None
        self.done = True
        sent, got = self.usage
        report = tscg.CompressionReport.of(
            compiled, final.turn, whole=plan.whole, sent_tokens=None if plan.sends else 0, dropped=len(final.dropped),
            input_tokens=sent, output_tokens=got,
        )  # fmt: skip
        report = replace(report, warnings=compiled.warnings)
        self.ledger.add(report)
        dispatcher.event(ToolCompressionEvent(
            mode=report.mode, profile=report.profile, fingerprint=report.fingerprint, tools=report.tools,
            baseline_tokens=report.baseline_tokens, tokens=report.tokens, rounds=report.rounds, lookups=report.lookups,
            repairs=report.repairs, errors=[{"kind": one.kind, "tool": one.tool or ""} for one in final.errors],
            dropped=[_named(one) for one in final.dropped], input_tokens=sent, output_tokens=got,
        ))  # fmt: skip

    # --- stream -------------------------------------------------------------------------------------------------------

    def reader(self) -> Reader:
        """A reader of the stream of this round."""
        compiled = self.plan.compiled if self.plan.reads else None
        stream = compiled.stream(seed=self.round_seed) if compiled is not None else None
        self.reading = Reader(exchange=self, stream=stream)
        return self.reading

    def ended(self, reader: Reader) -> Iterator[ChatResponse]:
        """What is left to show when a round's stream has ended; `done` is set when the whole has."""
        last, self.reading = reader.last, None
        if last is None or reader.stream is None:  # nothing at all was said, or it was shown already
            if last is not None and self.plan.compiled is not None:
                self._passed(reader.usage)
            self.done = True
            return
        message = answered(last.message, reader.text, ())
        blocks = [block for block in last.message.blocks if block.block_type == "tool_call"]
        whole = last.model_copy(update={"message": message.model_copy(update={"blocks": [*message.blocks, *blocks]})})
        output = said(whole, reader.reason)
        if output["tool_calls"]:
            calls = [{"index": place, **one} for place, one in enumerate(output["tool_calls"])]
            reader.stream.feed({"tool_calls": calls})
        decoded = reader.stream.close(reader.reason)
        rest = decoded.text[reader.shown :]
        self.shown += rest
        self._use(reader.usage)
        final = self._taken(decoded, output, whole.message)
        if final is None:
            if rest:
                yield reader.chunk(last, rest)
            return
        if rest and final.calls:
            yield reader.chunk(last, rest)
            rest = ""
        yield self._handed(last, self.shown, final.calls, delta=rest)


@dataclass(slots=True, kw_only=True)
class Reader:
    """The stream of one round: visible text goes on at once, calls are held until the round is over."""

    exchange: Exchange
    stream: Any
    text: str = ""  # as the LLM wrote it
    shown: int = 0  # characters of it that are visible
    last: ChatResponse | None = None
    reason: str | None = None
    usage: tuple[int, int] | None = None

    def feed(self, chunk: ChatResponse) -> ChatResponse | None:
        """The visible part of a chunk, None where there is none."""
        self.last = chunk
        self.reason = finish_reason(chunk) or self.reason
        self.usage = usage_of(chunk) or self.usage
        if self.stream is None:
            return chunk
        new = self._new(chunk)
        self.text += new
        visible = ""
        if new:
            visible = "".join(one.text for one in self.stream.feed(new) if isinstance(one, tscg.TextEvent))
        self.shown += len(visible)
        self.exchange.shown += visible
        if not visible and not chunk.additional_kwargs.get("thinking_delta"):
            return None
        return self.chunk(chunk, visible)

    def chunk(self, chunk: ChatResponse, delta: str) -> ChatResponse:
        """A chunk as it is shown: the text so far, and no call."""
        message = answered(chunk.message, self.exchange.shown, ())
        return chunk.model_copy(update={"message": message, "delta": delta})

    def _new(self, chunk: ChatResponse) -> str:
        """The text that a chunk adds. Content is cumulative, but for integrations that list finished blocks alone."""
        content, delta = chunk.message.content or "", chunk.delta or ""
        if content.startswith(self.text) and len(content) > len(self.text):
            return content[len(self.text) :]
        return "" if content and content == self.text == delta else delta


@lru_cache(maxsize=64)
def _wire(compiled: tscg.CompiledCatalog, looks_up: bool) -> tuple[BaseTool, ...]:
    """The wire tools of a catalog, made once: LlamaIndex looks into each of them when it is made."""
    left_out = "" if looks_up else compiled.lookup_tool
    return tuple(wire_tool(one) for one in compiled.wire_tools if one["name"] != left_out)


def _seed(messages: Sequence[ChatMessage]) -> str:
    """A text that no two conversations share, nor two places of one."""
    digest = hashlib.blake2b(digest_size=12)
    for message in messages:
        id = message.additional_kwargs.get("tool_call_id")
        digest.update(f"{message.role.value}{message.content}{id}".encode("utf-8", "surrogatepass"))
    return f"{len(messages)} {digest.hexdigest()}"


def _joined(given: str | Sequence[str], words: Sequence[str]) -> list[str]:
    stop = [given] if isinstance(given, str) else list(given)
    return [*stop, *(word for word in words if word not in stop)]


def _named(item: object) -> str:
    return item.name if isinstance(item, tscg.Call) else type(item).__name__.lower()
