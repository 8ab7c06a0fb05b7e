"""Messages: a conversation in the form of a mode, an answer as the core reads it, and the message handed over."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from langchain_core.exceptions import OutputParserException
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    message_chunk_to_message,
)  # fmt: skip

from tscg import Call, CallError

if TYPE_CHECKING:
    from tscg import Again, CompiledCatalog, Final

__all__ = [
    "CALL_BLOCKS", "MalformedToolCallError", "answered", "encoded", "finish_reason", "put_back", "said", "with_prompt",
]  # fmt: skip

CALL_BLOCKS = frozenset(
    {"tool_use", "function_call", "tool_call", "input_json_delta", "tool_call_chunk", "invalid_tool_call"}
)
CALL_FIELDS = ("tool_calls", "function_call")  # of `additional_kwargs`, where providers' raw calls are kept
# Providers whose `content_blocks` are read from the content alone: there a call needs a block.
CALLS_IN_CONTENT = frozenset({"anthropic", "bedrock_converse"})
RESPONSES = "openai"  # where its content comes in blocks, it is of the Responses API
ILLEGAL, LONGEST_NAME = re.compile(r"[^A-Za-z0-9_-]+"), 64
LIST_OPEN, LIST_CLOSE = '{"tool_calls":[', "]}"  # calls in text where the output is constrained


class MalformedToolCallError(OutputParserException):
    """The model's calls stayed wrong after all repairs: there is nothing that an agent could run or show.

    ``errors`` are the calls that were refused (:class:`tscg.CallError`), ``llm_output`` what the model wrote last.
    """

    def __init__(self, reason: str, errors: Sequence[CallError] = (), llm_output: str = "") -> None:
        super().__init__(reason, llm_output=llm_output)
        self.errors = tuple(errors)


# --- what is sent -----------------------------------------------------------------------------------------------------


def with_prompt(messages: Sequence[BaseMessage], prompt: str) -> list[BaseMessage]:
    """The messages with the prompt at the end of the first system message, or in a new one in front.

    A cache mark on the last block of that message moves to the prompt, which then is the last one.

    >>> with_prompt([SystemMessage("Be brief."), HumanMessage("Hi")], "Tools: none")[0].content
    'Be brief.\\n\\nTools: none'
    """
    out = list(messages)
    if not prompt:
        return out
    place = next((place for place, one in enumerate(out) if isinstance(one, SystemMessage)), None)
    if place is None:
        return [SystemMessage(content=prompt), *out]
    content: Any = out[place].content
    if isinstance(content, str):
        content = f"{content}\n\n{prompt}" if content else prompt
    else:
        block: dict[str, Any] = {"type": "text", "text": prompt}
        content = list(content)
        if content and isinstance(content[-1], Mapping) and "cache_control" in content[-1]:
            block["cache_control"] = content[-1]["cache_control"]
            content[-1] = {key: value for key, value in content[-1].items() if key != "cache_control"}
        content.append(block)
    out[place] = out[place].model_copy(update={"content": content})
    return out


def encoded(compiled: CompiledCatalog, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """A conversation with canonical calls in the form of the catalog's mode.

    Each message depends on itself and on the calls before it alone, so what was sent stays a prefix of what will be.
    Whether a tool exists is never asked: a history of other tools is written too.
    """
    if compiled.mode == "passthrough":
        return list(messages)
    writer = _Writer(compiled)
    for message in messages:
        writer.add(message)
    writer.settle()
    return writer.out


class _Writer:
    def __init__(self, compiled: CompiledCatalog) -> None:
        self.compiled = compiled
        self.out: list[BaseMessage] = []
        self.names: dict[str, str] = {}  # ids of calls that were written as text, with their tool
        self.native: dict[str, str] = {}  # ids of calls that were written natively, with their name on the wire
        self.texts: list[str] = []  # results in text that are not written yet
        self.blocks: list[Any] = []  # what else they hold, such as images

    def add(self, message: BaseMessage) -> None:
        if isinstance(message, ToolMessage):
            self.result(message)
            return
        self.settle()
        calls = _calls(message) if isinstance(message, AIMessage) else []
        self.out.append(self.assistant(message, calls) if isinstance(message, AIMessage) and calls else message)

    def assistant(self, message: AIMessage, calls: Sequence[Call]) -> AIMessage:
        texts: list[str] = []
        native: dict[str, dict[str, Any]] = {}
        for call in calls:
            form = self.compiled.encode_call(call)
            if isinstance(form, str):
                texts.append(form)
                self.names[call.id] = call.name
            else:
                # A tool that is no more has no wire name; its call still needs one that a provider takes.
                native[call.id] = {**form, "name": ILLEGAL.sub("_", form["name"])[:LONGEST_NAME] or "call"}
        self.native.update((id, form["name"]) for id, form in native.items())
        if not texts and not message.invalid_tool_calls and all(
            form["name"] == call.name and form["arguments"] == call.arguments
            for call, form in zip(calls, native.values(), strict=True)
        ):  # fmt: skip
            return message
        content: Any = message.content
        if not isinstance(content, str):
            content = [block for block in (_rewritten(block, native) for block in content) if block is not None]
        if texts:
            content = _with_text(content, _in_a_row(texts))
        return _copied(message, content, [_tool_call(form) for form in native.values()])

    def result(self, message: ToolMessage) -> None:
        id = message.tool_call_id
        if id in self.native or (id not in self.names and self.compiled.mode != "text"):
            # Directly behind its call; one without a call is passed on as it is. Some providers pair them by name.
            name = self.native.get(id) or message.name
            renamed = message.name is not None and message.name != name
            self.out.append(message.model_copy(update={"name": name}) if renamed else message)
            return
        text, blocks = _parts(message.content)
        if message.status == "error" and not text.lower().startswith("error"):
            text = f"Error: {text}"
        name = self.names.get(id) or message.name or ""
        self.texts.append(self.compiled.encode_result(Call(id=id, name=name, arguments={}), text))
        self.blocks += blocks

    def settle(self) -> None:
        """Write the results in text as one message, so that turns go on to alternate."""
        if not self.texts:
            return
        text = "\n".join(self.texts)
        self.out.append(HumanMessage(content=[{"type": "text", "text": text}, *self.blocks] if self.blocks else text))
        self.texts, self.blocks = [], []


def _calls(message: AIMessage) -> list[Call]:
    """The calls of a message, those that could not be read among them: their arguments are nobody's, and left out."""
    found = [Call(id=one["id"] or "", name=one["name"], arguments=one["args"]) for one in message.tool_calls]
    bad = [one for one in message.invalid_tool_calls if one.get("id")]
    return found + [
        Call(id=one["id"] or "", name=one.get("name") or "call", arguments=_object(one.get("args")) or {})
        for one in bad
    ]


def _object(text: str | None) -> dict[str, Any] | None:
    try:
        found = json.loads(text or "")
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def _rewritten(block: Any, native: Mapping[str, Mapping[str, Any]]) -> Any:
    """A block of content with its call in the form of the mode; None where it is no block of a native call."""
    kind = block.get("type") if isinstance(block, Mapping) else None
    if kind not in CALL_BLOCKS:
        return block
    form = native.get(str(block.get("call_id") or block.get("id") or ""))
    if form is None:
        return None
    kept = {key: value for key, value in block.items() if key != "partial_json"}
    if kind == "tool_use":
        return {**kept, "name": form["name"], "input": form["arguments"]}
    if kind == "function_call":
        same = _object(kept.get("arguments")) == form["arguments"]  # then in the model's own spelling
        return {**kept, "name": form["name"], **({} if same else {"arguments": _minified(form["arguments"])})}
    if kind == "tool_call":
        if "arguments" in kept.get("extras", ()):  # the text of them, which goes before the value
            kept["extras"] = {**kept["extras"], "arguments": _minified(form["arguments"])}
        return {**kept, "name": form["name"], "args": form["arguments"]}
    return None


def _copied(message: AIMessage, content: Any, tool_calls: list[dict[str, Any]], **more: Any) -> AIMessage:
    """A copy with other calls, none of which is left in a field where a provider's client would look for it."""
    kept = {key: value for key, value in message.additional_kwargs.items() if key not in CALL_FIELDS}
    update = {"content": content, "tool_calls": tool_calls, "invalid_tool_calls": [], "additional_kwargs": kept, **more}
    if isinstance(message, AIMessageChunk):
        update["tool_call_chunks"] = []
    return message.model_copy(update=update)


def _tool_call(form: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": form["name"], "args": form["arguments"], "id": form["id"], "type": "tool_call"}


def _in_a_row(texts: Sequence[str]) -> str:
    """Calls in text as one answer would hold them."""
    if len(texts) > 1 and all(text.startswith(LIST_OPEN) and text.endswith(LIST_CLOSE) for text in texts):
        return f"{LIST_OPEN}{','.join(text[len(LIST_OPEN) : -len(LIST_CLOSE)] for text in texts)}{LIST_CLOSE}"
    return "\n".join(texts)


def _with_text(content: Any, text: str) -> Any:
    if isinstance(content, str):
        return f"{content}\n{text}" if content.strip() else text
    return [*content, {"type": "text", "text": text}]


def _parts(content: Any) -> tuple[str, list[Any]]:
    """The text of a result, and its blocks that are none."""
    if isinstance(content, str):
        return content, []
    texts = [part if isinstance(part, str) else part.get("text", "") for part in content if _is_text(part)]
    return "\n".join(texts), [part for part in content if not _is_text(part)]


def _is_text(part: Any) -> bool:
    return isinstance(part, str) or (isinstance(part, Mapping) and part.get("type") == "text")


def _minified(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# --- what comes back --------------------------------------------------------------------------------------------------


def said(message: AIMessage) -> dict[str, Any]:
    """An answer as the core reads it: its text, and its native calls with their arguments as the model wrote them."""
    return {"role": "assistant", "content": str(message.text), "tool_calls": raw_calls(message)}


def raw_calls(message: AIMessage) -> list[dict[str, Any]]:
    """The native calls of an answer in OpenAI's form, in the order in which the model made them.

    LangChain's own reading is used only where the text is gone: of a stream it closes what was cut, and a call of half
    the arguments would pass as a whole one.
    """
    if isinstance(message, AIMessageChunk) and message.tool_call_chunks:
        return [_raw(one["id"], one["name"], one["args"]) for one in message.tool_call_chunks]
    written = {
        str(one.get("id")): one.get("function", {}).get("arguments")
        for one in message.additional_kwargs.get("tool_calls") or ()
        if isinstance(one, Mapping)
    }
    found = [_raw(one["id"], one["name"], written.get(str(one["id"]), one["args"])) for one in message.tool_calls]
    found += [_raw(one["id"], one["name"], one["args"]) for one in message.invalid_tool_calls]
    if not message.invalid_tool_calls:
        return found
    order = {id: place for place, id in enumerate(written or _block_ids(message.content))}
    return sorted(found, key=lambda one: order.get(str(one["id"]), len(order)))


def _raw(id: str | None, name: str | None, arguments: Any) -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else "" if arguments is None else _minified(arguments)
    return {"id": id or "", "type": "function", "function": {"name": name or "", "arguments": text}}


def _block_ids(content: Any) -> list[str]:
    blocks = content if isinstance(content, list) else []
    return [
        str(block.get("call_id") or block.get("id") or "")
        for block in blocks
        if isinstance(block, Mapping) and block.get("type") in CALL_BLOCKS
    ]


def finish_reason(metadata: Mapping[str, Any]) -> str | None:
    """Why the model stopped, under the names that integrations give it."""
    for name in ("finish_reason", "stop_reason", "done_reason", "stopReason"):
        reason = metadata.get(name)
        if isinstance(reason, str):
            return reason
    details = metadata.get("incomplete_details")  # of the Responses API
    reason = details.get("reason") if isinstance(details, Mapping) else None
    return reason if isinstance(reason, str) else None


def put_back(again: Again, answer: AIMessage) -> list[BaseMessage]:
    """The messages of another round: what the model said, and what answers it. Thinking goes back with its calls."""
    out: list[BaseMessage] = []
    if again.text or again.calls:
        content: Any = again.text
        if isinstance(answer.content, list):
            same = str(answer.text) == again.text
            content = [one for one in answer.content if not _is_call(one) and (same or not _is_text(one))]
            content += [{"type": "text", "text": again.text}] if again.text and not same else []
        calls = [{"name": c.name, "args": c.arguments, "id": c.id, "type": "tool_call"} for c in again.calls]
        whole = message_chunk_to_message(answer) if isinstance(answer, AIMessageChunk) else answer
        assert isinstance(whole, AIMessage)
        out.append(_copied(whole, content or "", calls, id=None, usage_metadata=None))
    out += [ToolMessage(content=reply.text, tool_call_id=reply.id, name=reply.name) for reply in again.replies]
    if again.say:
        out.append(HumanMessage(content=again.say))
    return out


def _is_call(block: Any) -> bool:
    return isinstance(block, Mapping) and block.get("type") in CALL_BLOCKS


def answered(message: AIMessage, final: Final, **update: Any) -> AIMessage:
    """The message that is handed over: visible text, real calls, nothing of how they were written.

    ``update`` are further fields of the message.
    """
    calls = [tool_call(call) for call in final.calls]
    content: Any = message.content
    if isinstance(content, str):
        content = final.text
    else:
        forms = {call.id: {"name": call.name, "arguments": call.arguments} for call in final.calls}
        content = [one for one in (_rewritten(block, forms) for block in content) if one is not None]
        if str(message.text) != final.text:
            content = _with_visible(content, final.text)
    if calls:
        content = with_blocks(content, final.calls, message.response_metadata.get("model_provider"))
    return _copied(message, content, calls, **update)


def tool_call(call: Call) -> dict[str, Any]:
    """A call in LangChain's form."""
    return {"name": call.name, "args": call.arguments, "id": call.id, "type": "tool_call"}


def with_blocks(content: Any, calls: Iterable[Call], provider: object) -> Any:
    """Content with a block for each call that has none, where the provider's content holds its calls."""
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) and content else content or []
    there = set(_block_ids(blocks))
    made = [call_block(call, provider, content) for call in calls if call.id not in there]
    return [*blocks, *made] if any(made) else content


def call_block(call: Call, provider: object, content: Any, written: Any = ()) -> dict[str, Any] | None:
    """A call as a block of a provider's content; None where calls stand beside it.

    ``written`` is the content with the block that the model's own call has, where it made one: its further fields stay.
    """
    form = {"name": call.name, "arguments": call.arguments}
    for one in written if isinstance(written, list) else ():
        if call.id in _block_ids([one]):
            kept: dict[str, Any] | None = _rewritten(one, {call.id: form})
            return kept
    if provider in CALLS_IN_CONTENT:
        return {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
    if provider == RESPONSES and isinstance(content, list):
        return {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": _minified(call.arguments)}
    return None


def _with_visible(content: Sequence[Any], text: str) -> list[Any]:
    """Blocks with another text: in place of the first one that is text."""
    out: list[Any] = []
    for block in content:
        if not _is_text(block):
            out.append(block)
        elif text:
            out.append({"type": "text", "text": text} if isinstance(block, str) else {**block, "text": text})
            text = ""
    return [*out, {"type": "text", "text": text}] if text else out
