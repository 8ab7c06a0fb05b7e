"""Messages: a conversation in the form of a mode, an answer as the core reads it, and the message handed over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from llama_index.core.base.llms.types import (
    CachePoint,
    ChatMessage,
    ChatResponse,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)

from tscg import Call, CallError
from tscg.decoders.native import TRUNCATING

if TYPE_CHECKING:
    from tscg import Again, CompiledCatalog

__all__ = [
    "MalformedToolCallError", "answered", "copied", "encoded", "finish_reason", "put_back", "said", "usage_of",
    "with_prompt",
]  # fmt: skip

CALL_FIELDS = ("tool_calls", "function_call")  # of `additional_kwargs`, where integrations keep the raw calls
SYSTEM = (MessageRole.SYSTEM, MessageRole.DEVELOPER)
RESULT = (MessageRole.TOOL, MessageRole.FUNCTION)
ILLEGAL, LONGEST_NAME = re.compile(r"[^A-Za-z0-9_-]+"), 64
LIST_OPEN, LIST_CLOSE = '{"tool_calls":[', "]}"  # calls in text where the output is constrained
Block: TypeAlias = Any  # one of LlamaIndex's ten


class MalformedToolCallError(ValueError):
    """The model's calls stayed wrong after all repairs: there is nothing that an agent could run or show.

    ``errors`` are the calls that were refused (:class:`tscg.CallError`), ``raw`` is what the model wrote last.
    """

    def __init__(self, reason: str, errors: Sequence[CallError] = (), raw: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.errors, self.raw = tuple(errors), raw


# --- what is sent -----------------------------------------------------------------------------------------------------


def copied(messages: Iterable[ChatMessage]) -> list[ChatMessage]:
    """Copies that an integration may write into: some mark messages for the cache, or append to the list."""
    return [
        one.model_copy(update={"blocks": [block.model_copy() for block in one.blocks], "additional_kwargs": dict(more)})
        for one, more in ((one, one.additional_kwargs) for one in messages)
    ]


def with_prompt(messages: Sequence[ChatMessage], prompt: str) -> list[ChatMessage]:
    """The messages with the prompt as last text of the first system message, or in a new one in front.

    A cache point at the end of that message stays there, behind the prompt.

    >>> with_prompt([ChatMessage("Be brief.", role="system"), ChatMessage("Hi")], "Tools: none")[0].blocks[1].text
    '\\n\\nTools: none'
    """
    out = list(messages)
    if not prompt:
        return out
    place = next((place for place, one in enumerate(out) if one.role in SYSTEM), None)
    if place is None:
        return [ChatMessage(role=MessageRole.SYSTEM, content=prompt), *out]
    blocks = list(out[place].blocks)
    end = len(blocks) - (1 if blocks and isinstance(blocks[-1], CachePoint) else 0)
    # Some integrations join texts with nothing between them.
    said = any(isinstance(block, TextBlock) and block.text for block in blocks)
    blocks.insert(end, TextBlock(text=f"\n\n{prompt}" if said else prompt))
    out[place] = out[place].model_copy(update={"blocks": blocks})
    return out


def encoded(compiled: CompiledCatalog, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """A conversation with canonical calls in the form of the catalog's mode, in messages of its own.

    Each message depends on itself and on the calls before it alone, so what was sent stays a prefix of what will be.
    Whether a tool exists is never asked: a history of other tools is written too.
    """
    if compiled.mode == "passthrough":
        return copied(messages)
    writer = _Writer(compiled)
    for message in copied(messages):
        writer.add(message)
    writer.settle()
    return writer.out


class _Writer:
    def __init__(self, compiled: CompiledCatalog) -> None:
        self.compiled = compiled
        self.out: list[ChatMessage] = []
        self.names: dict[str, str] = {}  # ids of calls that were written as text, with their tool
        self.native: set[str] = set()  # ids of calls that were written natively
        self.texts: list[str] = []  # results in text that are not written yet
        self.blocks: list[Block] = []  # what else they hold, such as images

    def add(self, message: ChatMessage) -> None:
        if message.role in RESULT:
            self.result(message)
            return
        self.settle()
        calls = _calls(message) if message.role == MessageRole.ASSISTANT else []
        self.out.append(self.assistant(message, calls) if calls else message)

    def assistant(self, message: ChatMessage, calls: Sequence[Call]) -> ChatMessage:
        texts: list[str] = []
        native: list[Block] = []
        spelled = _is_spelled(message)
        for call in calls:
            written = self.compiled.encode_call(call)
            if isinstance(written, str):
                texts.append(written)
                self.names[call.id] = call.name
            else:
                # A tool that is no more has no wire name; its call still needs one that a provider takes.
                legal = ILLEGAL.sub("_", written["name"])[:LONGEST_NAME] or "call"
                native.append(_call_block(call.id, legal, written["arguments"], spelled))
                self.native.add(call.id)
        blocks = [block for block in message.blocks if not isinstance(block, ToolCallBlock)]
        if texts:
            blocks = _with_text(blocks, _in_a_row(texts))
        return _called(message, [*blocks, *native])

    def result(self, message: ChatMessage) -> None:
        id = str(message.additional_kwargs.get("tool_call_id", message.additional_kwargs.get("call_id")) or "")
        if id in self.native or (id not in self.names and self.compiled.mode != "text"):
            self.out.append(message)  # directly behind its call; one without a call is passed on as it is
            return
        name = self.names.get(id) or message.additional_kwargs.get("name") or ""
        text = message.content or ""
        self.texts.append(self.compiled.encode_result(Call(id=id, name=name, arguments={}), text))
        self.blocks += [block for block in message.blocks if not isinstance(block, TextBlock)]

    def settle(self) -> None:
        """Write the results in text as one message, so that turns go on to alternate."""
        if not self.texts:
            return
        blocks = [TextBlock(text="\n".join(self.texts)), *self.blocks]
        self.out.append(ChatMessage(role=MessageRole.USER, blocks=blocks))
        self.texts, self.blocks = [], []


def _calls(message: ChatMessage) -> list[Call]:
    """The calls of a message: its blocks, or in an older memory what an integration kept of them."""
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if blocks:
        return [
            Call(id=one.tool_call_id or "", name=one.tool_name, arguments=_object(one.tool_kwargs)) for one in blocks
        ]
    return [_old_call(one) for one in message.additional_kwargs.get("tool_calls") or ()]


def _old_call(one: Any) -> Call:
    """A call as OpenAI's or Anthropic's client gives it, or as it was written to a file."""
    given = one if isinstance(one, Mapping) else one.model_dump()
    function = given.get("function") or given
    arguments = function.get("arguments", function.get("input"))
    return Call(id=str(given.get("id") or ""), name=function.get("name") or "call", arguments=_object(arguments))


def _object(arguments: object) -> dict[str, Any]:
    """Arguments as an object; those that are none are nobody's, and left out."""
    try:
        found = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return {}
    return dict(found) if isinstance(found, Mapping) else {}


def _called(message: ChatMessage, blocks: list[Block]) -> ChatMessage:
    """A copy with other blocks, and no raw calls beside them: an integration would send those too."""
    kept = {key: value for key, value in message.additional_kwargs.items() if key not in CALL_FIELDS}
    return message.model_copy(update={"blocks": blocks, "additional_kwargs": kept})


def _in_a_row(texts: Sequence[str]) -> str:
    """Calls in text as one answer would hold them."""
    if len(texts) > 1 and all(text.startswith(LIST_OPEN) and text.endswith(LIST_CLOSE) for text in texts):
        return f"{LIST_OPEN}{','.join(text[len(LIST_OPEN) : -len(LIST_CLOSE)] for text in texts)}{LIST_CLOSE}"
    return "\n".join(texts)


def _with_text(blocks: Sequence[Block], text: str) -> list[Block]:
    """Blocks with a text behind them, in the last block where that is one of text."""
    last = blocks[-1] if blocks else None
    if not isinstance(last, TextBlock):
        return [*blocks, TextBlock(text=text)]
    return [*blocks[:-1], TextBlock(text=f"{last.text}\n{text}" if last.text.strip() else text)]


# --- what comes back --------------------------------------------------------------------------------------------------

# What providers call the same thing.
REASONS = ("finish_reason", "stop_reason", "done_reason", "stopReason")
INPUT = ("prompt_tokens", "input_tokens", "prompt_eval_count", "prompt_token_count")
OUTPUT = ("completion_tokens", "output_tokens", "eval_count", "candidates_token_count")


def said(response: ChatResponse, reason: str | None = None) -> dict[str, Any]:
    """An answer as the core reads it: its text, and its native calls with their arguments as the model wrote them."""
    calls = [block for block in response.message.blocks if isinstance(block, ToolCallBlock)]
    raws = [_raw(one.tool_call_id, one.tool_name, one.tool_kwargs) for one in calls]
    if raws and reason in TRUNCATING and not isinstance(calls[-1].tool_kwargs, str):
        # The integration has closed what was cut: half a call would pass as a whole one.
        raws[-1]["function"]["arguments"] = raws[-1]["function"]["arguments"][:-1]
    return {"role": "assistant", "content": response.message.content or "", "tool_calls": raws}


def _raw(id: str | None, name: str, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else _minified(arguments)
    return {"id": id or "", "type": "function", "function": {"name": name, "arguments": text}}


def _minified(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def finish_reason(response: ChatResponse) -> str | None:
    """Why the model stopped, wherever an integration keeps it."""
    choices = _get(response.raw, "choices")
    places = (choices[0] if choices else None, response.raw, response.message.additional_kwargs)
    return next(
        (found for place in places for name in REASONS if isinstance(found := _get(place, name), str)), None
    )  # fmt: skip


def usage_of(response: ChatResponse) -> tuple[int, int] | None:
    """Tokens that the provider counted, of the request and of the answer; None where it said nothing."""
    more = response.message.additional_kwargs
    for place in (_get(response.raw, "usage"), more.get("usage"), response.raw, response.additional_kwargs):
        sent, got = _count(place, INPUT), _count(place, OUTPUT)
        if sent is not None:
            return sent, got or 0
    return None


def _count(place: Any, names: Sequence[str]) -> int | None:
    return next((found for name in names if isinstance(found := _get(place, name), int)), None)


def _get(place: Any, name: str) -> Any:
    return place.get(name) if isinstance(place, Mapping) else getattr(place, name, None)


def put_back(again: Again, answer: ChatMessage) -> list[ChatMessage]:
    """The messages of another round: what the model said, and what answers it. Thinking goes back with its calls."""
    out: list[ChatMessage] = []
    if again.text or again.calls:
        blocks = with_visible(answer.blocks, again.text)
        blocks += [_call_block(one.id, one.name, one.arguments, _is_spelled(answer)) for one in again.calls]
        out.append(_called(answer, blocks))
    out += [
        ChatMessage(role=MessageRole.TOOL, content=reply.text, additional_kwargs={"tool_call_id": reply.id})
        for reply in again.replies
    ]
    return [*out, ChatMessage(role=MessageRole.USER, content=again.say)] if again.say else out


def answered(message: ChatMessage, text: str, calls: Sequence[Call], *, verbatim: bool = False) -> ChatMessage:
    """The message that is handed over: visible text, real calls, nothing of how they were written.

    ``verbatim`` leaves the arguments of a call that needed no change as the model wrote them.
    """
    written = {one.tool_call_id: one for one in message.blocks if verbatim and isinstance(one, ToolCallBlock)}
    blocks, spelled = with_visible(message.blocks, text), _is_spelled(message)
    for call in calls:
        made = _call_block(call.id, call.name, call.arguments, spelled)
        old = written.get(call.id)
        same = old is not None and old.tool_name == call.name and _object(old.tool_kwargs) == call.arguments
        blocks.append(old if same else made)
    return _called(message, blocks)


def _is_spelled(message: ChatMessage) -> bool:
    """Whether the calls of a message hold their arguments as JSON text. Some integrations write them so and take no
    object, others the other way round: each gets them back as it gave them."""
    blocks = [block for block in message.blocks if isinstance(block, ToolCallBlock)]
    if not blocks:  # an older memory: OpenAI's client has a function in a call, Anthropic's has none
        return any(_get(one, "function") for one in message.additional_kwargs.get("tool_calls") or ())
    return any(isinstance(block.tool_kwargs, str) for block in blocks)


def _call_block(id: str, name: str, arguments: dict[str, Any], spelled: bool) -> ToolCallBlock:
    return ToolCallBlock(
        tool_call_id=id, tool_name=name, tool_kwargs=json.dumps(arguments, ensure_ascii=False) if spelled else arguments
    )


def with_visible(blocks: Sequence[Block], text: str) -> list[Block]:
    """Blocks without calls and with another text: in place of the first one that is text."""
    kept = [block for block in blocks if not isinstance(block, ToolCallBlock)]
    if "\n".join(block.text for block in kept if isinstance(block, TextBlock)) == text:
        return kept
    out: list[Block] = []
    for block in kept:
        if not isinstance(block, TextBlock):
            out.append(block)
        elif text:
            out.append(TextBlock(text=text))
            text = ""
    return [*out, TextBlock(text=text)] if text else out
