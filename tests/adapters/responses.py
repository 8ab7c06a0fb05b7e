"""OpenAI's Responses API for the provider of tests: what a request holds, what is refused, and how answers are written.

An input is a list of items, not of messages: a call is an item, and so is what answers it, paired by `call_id`. A
function without `strict` is strict there: objects are closed, so what is not declared cannot be written.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

from tests.adapters.provider import (
    INPUT_TOKENS,
    LEGAL_NAME,
    OUTPUT_TOKENS,
    Answer,
    Turn,
    View,
    pieces,
    text_of,
    tool_faults,
)

STOPPED = {"length": "max_output_tokens", "content_filter": "content_filter"}


def items_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The input as items, each with its type."""
    given = body["input"]
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    return [{"type": "message", **item} for item in items]


def functions_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [tool for tool in body.get("tools") or () if tool["type"] == "function"]


# --- what a request holds --------------------------------------------------------------------------------------------


def responses_view(body: dict[str, Any]) -> View:
    turns: list[Turn] = []
    system = [body["instructions"]] if body.get("instructions") else []
    for item in items_of(body):
        kind, role = item["type"], item.get("role")
        if role in ("system", "developer"):
            system.append(text_of(item["content"]))
        elif kind == "function_call_output":
            turns.append(Turn(role="tool", text=text_of(item["output"]), results=(item["call_id"],)))
        elif role == "user":
            turns.append(Turn(role="user", text=text_of(item["content"])))
        elif role == "assistant" or kind == "function_call":
            # What a model says at once comes as several items.
            before = turns.pop() if turns and turns[-1].role == "assistant" else Turn(role="assistant")
            calls = [(item["name"], json.loads(item["arguments"]))] if kind == "function_call" else []
            said = text_of(item.get("content"))
            turns.append(Turn(role="assistant", text=before.text + said, calls=(*before.calls, *calls)))
    tools = {tool["name"]: tool.get("parameters") or {} for tool in functions_of(body)}
    return View(system="\n".join(system), tools=tools, turns=turns)


# --- rules that the provider enforces --------------------------------------------------------------------------------


def responses_faults(body: dict[str, Any]) -> Iterator[str]:
    calls: dict[str, bool] = {}
    items = items_of(body)
    for item, after in zip(items, [*items[1:], {}], strict=True):
        kind = item["type"]
        if kind == "function_call":
            yield from call_faults(item, calls)
            calls[item["call_id"]] = False
        elif kind == "function_call_output":
            if calls.get(item["call_id"], True):
                yield f"no open tool call for the output {item['call_id']!r}"
            calls[item["call_id"]] = True
        elif kind == "reasoning" and after.get("role") != "assistant" and after.get("type") != "function_call":
            yield f"reasoning {item.get('id')!r} without the item that it led to"
        elif kind not in ("message", "reasoning"):
            yield f"an input of the type {kind!r}"
    yield from (f"no tool output for the call {id!r}" for id, answered in calls.items() if not answered)
    ids = [item["id"] for item in items if item.get("id")]
    if len(set(ids)) < len(ids):
        yield "two items of one id"
    functions = functions_of(body)
    yield from (
        f"a tool in the form of chat completions: {tool}" for tool in body.get("tools") or () if "function" in tool
    )
    yield from tool_faults([(tool["name"], tool.get("parameters")) for tool in functions])
    if body.get("tool_choice") is not None and not body.get("tools"):
        yield "tool_choice without tools"
    yield from (f"unknown parameter {name!r}" for name in ("messages", "stop", "response_format") if name in body)


def call_faults(item: dict[str, Any], calls: dict[str, bool]) -> Iterator[str]:
    if item["call_id"] in calls:
        yield f"two calls of one call_id {item['call_id']!r}"
    if not LEGAL_NAME.match(item["name"]):
        yield f"illegal name {item['name']!r}"
    if not isinstance(item["arguments"], str):
        yield f"arguments of {item['name']!r} are no text"


# --- answers ---------------------------------------------------------------------------------------------------------


def constrained(schema: Any, value: Any) -> Any:
    """What strict mode lets a model write: objects are closed."""
    if isinstance(value, list):
        return [constrained(schema.get("items", {}), one) for one in value]
    if not isinstance(value, dict) or schema.get("type") != "object":
        return value
    known = schema.get("properties", {})
    return {name: constrained(known[name], one) for name, one in value.items() if name in known}


def written(body: dict[str, Any], name: str, arguments: str) -> str:
    """Arguments as the model can write them under the tool of the request."""
    tool = next((one for one in functions_of(body) if one["name"] == name), None)
    if tool is None or tool.get("strict") is False:
        return arguments
    try:
        return json.dumps(constrained(tool["parameters"], json.loads(arguments)))
    except ValueError:
        return arguments


def response(body: dict[str, Any], said: Answer, ids: Sequence[str], *, number: int) -> dict[str, Any]:
    """A whole answer. `number` is that of the request: no two items have one id, and no two answers."""
    output: list[dict[str, Any]] = []
    if said.reasoning:
        summary = [{"type": "summary_text", "text": said.reasoning}]
        output.append({"type": "reasoning", "id": f"rs_{number}", "summary": summary})
    if said.text:
        content = [{"type": "output_text", "text": said.text, "annotations": []}]
        output.append({
            "type": "message", "id": f"msg_{number}", "status": "completed", "role": "assistant", "content": content,
        })  # fmt: skip
    for (name, arguments), id in zip(said.calls, ids, strict=True):
        output.append({
            "type": "function_call", "id": f"fc_{id}", "call_id": id, "name": name, "status": "completed",
            "arguments": written(body, name, arguments),
        })  # fmt: skip
    stopped = STOPPED.get(said.finish)
    usage = {
        "input_tokens": INPUT_TOKENS, "input_tokens_details": {"cached_tokens": 0}, "output_tokens": OUTPUT_TOKENS,
        "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
    }  # fmt: skip
    return {
        "id": f"resp_{number}", "object": "response", "created_at": 0, "model": body["model"], "output": output,
        "status": "incomplete" if stopped else "completed", "error": None, "instructions": None, "metadata": {},
        "incomplete_details": {"reason": stopped} if stopped else None, "parallel_tool_calls": True, "usage": usage,
        "temperature": 1.0, "top_p": 1.0, "tool_choice": "auto", "tools": [], "text": {"format": {"type": "text"}},
    }  # fmt: skip


def response_events(
    body: dict[str, Any], said: Answer, ids: Sequence[str], *, number: int, size: int
) -> Iterator[tuple[str, Any]]:
    whole = response(body, said, ids, number=number)
    numbers = itertools.count()

    def event(kind: str, **fields: Any) -> tuple[str, Any]:
        name = f"response.{kind}"
        return name, {"type": name, "sequence_number": next(numbers), **fields}

    yield event("created", response={**whole, "output": [], "status": "in_progress", "usage": None})
    for index, item in enumerate(whole["output"]):
        place = {"output_index": index, "item_id": item["id"]}
        empty = {name: type(item[name])() for name in ("content", "summary", "arguments") if name in item}
        yield event("output_item.added", output_index=index, item={**item, **empty})
        if item["type"] == "message":
            part, place = item["content"][0], {**place, "content_index": 0}
            yield event("content_part.added", **place, part={**part, "text": ""})
            for piece in pieces(part["text"], size):
                yield event("output_text.delta", **place, delta=piece, logprobs=[])
            yield event("output_text.done", **place, text=part["text"], logprobs=[])
            yield event("content_part.done", **place, part=part)
        elif item["type"] == "reasoning":
            part, place = item["summary"][0], {**place, "summary_index": 0}
            yield event("reasoning_summary_part.added", **place, part={**part, "text": ""})
            for piece in pieces(part["text"], size):
                yield event("reasoning_summary_text.delta", **place, delta=piece)
            yield event("reasoning_summary_text.done", **place, text=part["text"])
        else:
            for piece in pieces(item["arguments"], size):
                yield event("function_call_arguments.delta", **place, delta=piece)
            yield event("function_call_arguments.done", **place, name=item["name"], arguments=item["arguments"])
        yield event("output_item.done", output_index=index, item=item)
    yield event("completed" if whole["status"] == "completed" else "incomplete", response=whole)
