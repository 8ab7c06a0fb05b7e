"""One model call: rounds with the model until there is an answer to hand over, whole or as a stream."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.ai import UsageMetadata, add_usage
from langchain_core.messages.tool import ToolCallChunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.outputs.chat_generation import merge_chat_generation_chunks

import tscg
from langchain_tscg.calls import (
    CALL_BLOCKS,
    CALL_FIELDS,
    MalformedToolCallError,
    answered,
    call_block,
    encoded,
    finish_reason,
    put_back,
    raw_calls,
    said,
    with_prompt,
)  # fmt: skip
from langchain_tscg.plan import Plan, Target

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

__all__ = ["Exchange", "Ledger", "Reader"]

FIRST_INDEX = 1_000  # of calls in a stream: LangChain numbers blocks of text from 0 and merges what has one index
ROUND_STEP = 100  # between the block indices of two rounds, which else would be merged
TEXT_ALONE = frozenset({"type", "text", "index"})
KEPT_METADATA = ("model_provider", "output_version")  # of each chunk: its blocks are read by them


class Ledger:
    """What was sent so far, summed. Shared by all that one toolkit, wrapper or middleware binds; thread-safe."""

    def __init__(self) -> None:
        self._total: tscg.CompressionReport | None = None
        self._lock = threading.Lock()

    def add(self, report: tscg.CompressionReport) -> None:
        """Count one model call."""
        with self._lock:
            self._total = report if self._total is None else self._total + report

    @property
    def total(self) -> tscg.CompressionReport | None:
        """The sum, None before the first call."""
        with self._lock:
            return self._total

    def __deepcopy__(self, memo: object) -> Ledger:
        return self

    def __reduce__(self) -> tuple[type[Ledger], tuple[()]]:
        return Ledger, ()


@dataclass(slots=True, kw_only=True)
class Exchange:
    """The rounds of one model call, without any I/O: ask ``target`` with ``messages``, then hand the answer over."""

    inner: BaseChatModel
    plan: Plan
    messages: list[BaseMessage]
    stop: list[str] | None
    ledger: Ledger
    turn: tscg.Turn | None
    seed: str
    usage: UsageMetadata | None = None
    sent: int = 0  # tokens of the definitions in all requests that were answered
    counted: bool = False
    reading: Reader | None = None  # the stream that is not read to its end
    final: tscg.Final | None = field(default=None)

    @classmethod
    def begin(
        cls, inner: BaseChatModel, plan: Plan, messages: Sequence[BaseMessage], stop: Sequence[str] | None, *,
        ledger: Ledger, max_lookups: int, max_repairs: int,
    ) -> Exchange:  # fmt: skip
        """The conversation in the form of the plan."""
        sent = list(messages) if plan.writer is None else encoded(plan.writer, messages)
        compiled = plan.compiled
        words = list(stop) if stop is not None else None
        if words is not None and compiled is not None:
            words += [word for word in compiled.stop if word not in words]
        turn = None
        if compiled is not None:
            turn = compiled.turn(max_lookups, max_repairs, must_call=plan.must_call, parallel=plan.parallel)
        last = messages[-1].id if messages else ""
        return cls(
            inner=inner, plan=plan, messages=with_prompt(sent, plan.prompt), stop=words, ledger=ledger, turn=turn,
            seed=f"{len(messages)} {last or ''}",
        )  # fmt: skip

    @property
    def target(self) -> Target:
        """What is called in this round."""
        return self.plan.target(self.inner, self.turn)

    @property
    def round_seed(self) -> str:
        """Ids of calls in text are made from it: none comes twice in a conversation."""
        return f"{self.seed} {self.turn.rounds if self.turn is not None else 0}"

    def finished(self, result: ChatResult) -> ChatResult | None:
        """What to hand over after a round; None asks for another one."""
        message = result.generations[0].message
        if self.turn is None or not isinstance(message, AIMessage):
            return result
        reason = finish_reason({**(result.generations[0].generation_info or {}), **message.response_metadata})
        output = said(message)
        final = self.take(self.decoded(output, reason), output, message)
        if final is None:
            return None
        update = {
            "usage_metadata": self.usage,
            "response_metadata": {**message.response_metadata, "tscg": self.record(final)},
        }
        done = answered(message, final, **update) if self.plan.reads else message.model_copy(update=update)
        first = ChatGeneration(message=done, generation_info=result.generations[0].generation_info)
        return ChatResult(generations=[first, *map(self._other, result.generations[1:])], llm_output=result.llm_output)

    def decoded(self, output: Mapping[str, Any], reason: str | None) -> tscg.Decoded:
        """An answer, read; as a text where nothing is to be read."""
        assert self.plan.compiled is not None
        if not self.plan.reads:
            return tscg.Decoded(text=output["content"])
        return self.plan.compiled.decode(output, finish_reason=reason, seed=self.round_seed)

    def _other(self, generation: ChatGeneration) -> ChatGeneration:
        """A further answer of the same request (`n`): read as it is, since rounds follow the first one alone."""
        message, compiled = generation.message, self.plan.compiled
        if compiled is None or not isinstance(message, AIMessage) or self.turn is None or not self.plan.reads:
            return generation
        decoded = compiled.decode(said(message), seed=f"{self.round_seed} {id(generation)}")
        final = tscg.Final(turn=self.turn, text=decoded.text, calls=decoded.calls)
        bad = [
            {"name": one.tool, "args": None, "id": one.id, "error": one.message, "type": "invalid_tool_call"}
            for one in decoded.errors
        ]
        done = answered(message, final).model_copy(update={"invalid_tool_calls": bad})
        return ChatGeneration(message=done, generation_info=generation.generation_info)

    def take(self, decoded: tscg.Decoded, output: Mapping[str, Any], message: AIMessage) -> tscg.Final | None:
        """The last answer; None after the messages of another round were appended. MalformedToolCallError where
        nothing can be handed over."""
        assert self.turn is not None
        self.paid(message)
        self.reading = None
        step = self.turn.take(decoded, output)
        self.turn = step.turn
        if isinstance(step, tscg.Again):
            self.messages = [*self.messages, *put_back(step, message)]
            return None
        self.count(dropped=len(step.dropped))
        if step.failure:
            raise MalformedToolCallError(step.failure, step.errors, str(message.text))
        return step

    def paid(self, message: AIMessage) -> None:
        """One more request was answered."""
        self.sent += self.target.tokens
        if message.usage_metadata:
            self.usage = add_usage(self.usage, message.usage_metadata)

    def count(self, dropped: int = 0) -> None:
        """Put the call into the ledger."""
        plan = self.plan
        assert plan.compiled is not None
        usage = self.usage or UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)
        self.counted = True
        self.ledger.add(tscg.CompressionReport.of(
            plan.compiled, self.turn, whole=plan.whole, sent_tokens=self.sent, dropped=dropped,
            input_tokens=usage["input_tokens"], output_tokens=usage["output_tokens"],
        ))  # fmt: skip

    def close(self) -> None:
        """The call is over. One that broke off, or whose stream was not read to its end, was paid for all the same."""
        if self.turn is None or self.counted:
            return
        whole = self.reading.whole if self.reading is not None else None
        if whole is not None and isinstance(whole.message, AIMessage):
            self.paid(whole.message)
            self.turn = replace(self.turn, rounds=self.turn.rounds + 1)
        if self.turn.rounds:
            self.count()

    def record(self, final: tscg.Final) -> dict[str, Any]:
        """What the message says of how it came about: no argument's value and no text of a tool."""
        compiled = self.plan.compiled
        assert compiled is not None
        return {
            "mode": compiled.mode,
            "profile": compiled.profile,
            "fingerprint": compiled.fingerprint,
            "tokens": compiled.stats.tokens,
            "baseline_tokens": (self.plan.whole or compiled).stats.baseline_tokens,
            "sent_tokens": self.sent,
            "rounds": final.turn.rounds,
            "lookups": final.turn.lookups,
            "repairs": final.turn.repairs,
            "errors": [{"kind": error.kind, "tool": error.tool} for error in final.errors],
            "dropped": [_named(item) for item in final.dropped],
        }

    # --- stream -------------------------------------------------------------------------------------------------------

    def reader(self) -> Reader:
        """A reader of the stream of this round."""
        compiled = self.plan.compiled
        stream = compiled.stream(seed=self.round_seed) if compiled is not None and self.plan.reads else None
        self.reading = Reader(stream=stream, step=ROUND_STEP * (self.turn.rounds if self.turn is not None else 0))
        return self.reading

    def ended(self, reader: Reader) -> Iterator[ChatGenerationChunk]:
        """What is left to show when a round's stream has ended. `final` is set when the whole has."""
        whole = reader.whole
        if self.turn is None or whole is None:
            self.final = tscg.Final(turn=self.turn) if self.turn is not None else None
            return
        message = whole.message
        assert isinstance(message, AIMessageChunk)
        metadata = {**(whole.generation_info or {}), **message.response_metadata}
        if reader.stream is None:
            self.final = self.take(tscg.Decoded(text=str(message.text)), {}, message)
            assert self.final is not None
            yield reader.chunk("", response_metadata={"tscg": self.record(self.final)})
            return
        calls = raw_calls(message)
        if calls:
            reader.stream.feed({"tool_calls": [{"index": n, **one} for n, one in enumerate(calls)]})
        decoded = reader.stream.close(finish_reason(metadata))
        rest = decoded.text[reader.shown :]
        if rest:
            yield reader.chunk(reader.content(rest))
        final = self.take(decoded, {"role": "assistant", "content": str(message.text), "tool_calls": calls}, message)
        if final is None:
            return
        metadata["tscg"] = self.record(final)
        yield from reader.end(final.calls, metadata, message.content)
        self.final = final


@dataclass(slots=True, kw_only=True)
class Reader:
    """The stream of one round: visible text goes on at once, calls are held until the round is over."""

    stream: Any
    step: int = 0
    shown: int = 0
    chunks: list[ChatGenerationChunk] = field(default_factory=list)
    block: Mapping[str, Any] | None = None  # the newest block of text, where content comes in blocks
    seen: set[Any] = field(default_factory=set)  # the indices of those that were shown
    blocks: bool = False
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None

    @property
    def whole(self) -> ChatGenerationChunk | None:
        """The chunks so far as one."""
        return merge_chat_generation_chunks(self.chunks)

    def feed(self, chunk: ChatGenerationChunk) -> ChatGenerationChunk | None:
        """The visible part of a chunk, None where there is none."""
        self.chunks.append(chunk)
        if self.stream is None:
            return chunk
        message = chunk.message
        self.id = self.id or message.id
        self.metadata |= {
            key: message.response_metadata[key] for key in KEPT_METADATA if key in message.response_metadata
        }
        content: Any = message.content
        if isinstance(content, str):
            visible: Any = self.text(content)
        else:
            self.blocks = self.blocks or bool(content)
            visible = [one for one in map(self.visible, content) if one is not None]
        kept = {key: value for key, value in message.additional_kwargs.items() if key not in CALL_FIELDS}
        usage = message.usage_metadata if isinstance(message, AIMessageChunk) else None
        if not visible and not kept and not usage:
            return None
        return self.chunk(visible, additional_kwargs=kept, usage_metadata=usage)

    def text(self, text: str) -> str:
        """What of a text can be shown already."""
        found = (
            "".join(event.text for event in self.stream.feed(text) if isinstance(event, tscg.TextEvent)) if text else ""
        )
        self.shown += len(found)
        return found

    def visible(self, block: Any) -> Any:
        """The visible part of a block; None where there is none."""
        if isinstance(block, str):
            return self.text(block) or None
        if block.get("type") == "text":
            self.block, index = block, block.get("index")
            text = self.text(block.get("text") or "")
            if text:
                self.seen.add(index)
            # Its id and the like, of a text of which nothing was shown, would be an empty block.
            return self.placed({**block, "text": text}) if text or self._adds(block, index) else None
        return None if block.get("type") in CALL_BLOCKS else self.placed(block)

    def _adds(self, block: Mapping[str, Any], index: Any) -> bool:
        return index in self.seen and bool(block.keys() - TEXT_ALONE)

    def placed(self, block: Mapping[str, Any]) -> dict[str, Any]:
        """A block under an index that no other round has."""
        index = block.get("index")
        if not self.step or index is None:
            return dict(block)
        return {**block, "index": index + self.step if isinstance(index, int) else f"{index}_{self.step}"}

    def content(self, text: str) -> Any:
        """A text as this stream writes content."""
        if not self.blocks:
            return text
        if not text:
            return []
        return [
            self.placed(
                {
                    "type": "text",
                    **({"index": self.block["index"]} if self.block and "index" in self.block else {}),
                    "text": text,
                }
            )
        ]

    def chunk(self, content: Any, **fields: Any) -> ChatGenerationChunk:
        """A chunk of ours."""
        metadata = {**self.metadata, **fields.pop("response_metadata", {})}
        return ChatGenerationChunk(
            message=AIMessageChunk(content=content, id=self.id, response_metadata=metadata, **fields)
        )

    def end(
        self, calls: Sequence[tscg.Call], metadata: Mapping[str, Any], written: Any
    ) -> Iterator[ChatGenerationChunk]:
        """Each call in a chunk of its own, whole, and what the model's answer was in the last chunk."""
        if not calls:
            yield self.chunk(self.content(""), response_metadata=metadata)
        for number, call in enumerate(calls):
            index, empty = FIRST_INDEX + number, self.content("")
            inside = call_block(call, metadata.get("model_provider"), empty, written)
            content: Any = [{**inside, "index": index}] if inside else empty
            last = number == len(calls) - 1
            yield self.chunk(
                content, tool_call_chunks=[call_chunk(call, index)], response_metadata=metadata if last else {}
            )


def call_chunk(call: tscg.Call, index: int) -> ToolCallChunk:
    """A whole call as a piece of a stream."""
    arguments = json.dumps(call.arguments, ensure_ascii=False)
    return ToolCallChunk(name=call.name, args=arguments, id=call.id, index=index, type="tool_call_chunk")


def _named(item: object) -> str:
    """What an item is called in the metadata."""
    if isinstance(item, tscg.Call):
        return item.name
    return type(item).__name__.lower()


def chunk_of(result: ChatResult) -> ChatGenerationChunk:
    """A whole answer as the one chunk of a stream."""
    generation = result.generations[0]
    message = generation.message
    fields: dict[str, Any] = {
        name: getattr(message, name) for name in ("additional_kwargs", "response_metadata", "id", "name")
    }
    if isinstance(message, AIMessage):
        fields["usage_metadata"] = message.usage_metadata
        calls = [tscg.Call(id=one["id"] or "", name=one["name"], arguments=one["args"]) for one in message.tool_calls]
        fields["tool_call_chunks"] = [call_chunk(call, FIRST_INDEX + n) for n, call in enumerate(calls)]
    message = AIMessageChunk(content=message.content, **fields)
    return ChatGenerationChunk(message=message, generation_info=generation.generation_info)
