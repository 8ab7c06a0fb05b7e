"""A provider on the loopback address: OpenAI's chat completions and responses and Anthropic's messages, as JSON and as
a stream.

It records every request, refuses what the real ones refuse, and answers by a function of the request alone.
"""

from __future__ import annotations

import functools
import itertools
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

LEGAL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
MOST_TOOLS = 128
INPUT_TOKENS, OUTPUT_TOKENS = 10, 2  # of each answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the model says: text, native calls as name and JSON text, and why it stopped.

    `reasoning` is what it thought before; the dialect of responses alone has a place for it.
    """

    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    finish: str = ""
    reasoning: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """A request as a model sees it, whatever the dialect: `turns` are role, text, calls and ids of results."""

    system: str
    tools: dict[str, dict[str, Any]]
    turns: list[Turn]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    role: str
    text: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    results: tuple[str, ...] = ()


Model = Callable[[View], Answer]


# --- what a request holds --------------------------------------------------------------------------------------------


def text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(part if isinstance(part, str) else part.get("text") or "" for part in content or ())


def chat_view(body: dict[str, Any]) -> View:
    turns, system = [], []
    for message in body["messages"]:
        if message["role"] in ("system", "developer"):
            system.append(text_of(message["content"]))
        elif message["role"] == "tool":
            turns.append(Turn(role="tool", text=text_of(message["content"]), results=(message["tool_call_id"],)))
        else:
            calls = [call["function"] for call in message.get("tool_calls") or ()]
            turns.append(
                Turn(
                    role=message["role"],
                    text=text_of(message.get("content")),
                    calls=tuple((call["name"], json.loads(call["arguments"])) for call in calls),
                )
            )
    tools = {
        tool["function"]["name"]: tool["function"].get("parameters", {})
        for tool in body.get("tools") or ()
        if "function" in tool
    }
    return View(system="\n".join(system), tools=tools, turns=turns)


def messages_view(body: dict[str, Any]) -> View:
    turns = []
    for message in body["messages"]:
        content = message["content"]
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        calls = tuple((block["name"], block["input"]) for block in blocks if block["type"] == "tool_use")
        results = [block for block in blocks if block["type"] == "tool_result"]
        said = text_of([block for block in blocks if block["type"] == "text"])
        if results:
            turns.append(
                Turn(
                    role="tool",
                    text="\n".join(text_of(block.get("content")) for block in results),
                    results=tuple(block["tool_use_id"] for block in results),
                )
            )
        if said or not results:
            turns.append(Turn(role=message["role"], text=said, calls=calls))
    tools = {tool["name"]: tool["input_schema"] for tool in body.get("tools") or () if "input_schema" in tool}
    return View(system=text_of(body.get("system")), tools=tools, turns=turns)


# --- rules that providers enforce ------------------------------------------------------------------------------------


def chat_faults(body: dict[str, Any]) -> Iterator[str]:
    open_calls: list[str] = []
    for message in body["messages"]:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                yield f"a tool message answers {message['tool_call_id']!r}, which is no open call"
            else:
                open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            yield f"calls without an answer: {open_calls}"
        calls = message.get("tool_calls") or ()
        open_calls = [call["id"] for call in calls]
        yield from (
            f"illegal name {call['function']['name']!r}"
            for call in calls
            if not LEGAL_NAME.match(call["function"]["name"])
        )
    if open_calls:
        yield f"calls without an answer: {open_calls}"
    tools = body.get("tools")
    functions = [tool["function"] for tool in tools or () if tool.get("type") == "function"]
    yield from tool_faults([(one["name"], one.get("parameters")) for one in functions])
    if (body.get("response_format") or {}).get("type") == "json_schema":
        yield from (f"{one['name']} is not strict beside a JSON schema" for one in functions if not one.get("strict"))
    if body.get("tool_choice") is not None and not tools:
        yield "tool_choice without tools"


def messages_faults(body: dict[str, Any], alternate: bool = True) -> Iterator[str]:
    open_calls: set[str] = set()
    uses = False
    for message in body["messages"]:
        blocks = message["content"] if isinstance(message["content"], list) else []
        results = {block["tool_use_id"] for block in blocks if block["type"] == "tool_result"}
        if results != open_calls:
            yield f"tool_result for {sorted(results)}, open are {sorted(open_calls)}"
        calls = [block for block in blocks if block["type"] == "tool_use"]
        open_calls = {block["id"] for block in calls}
        uses = uses or bool(calls or results)
        yield from (f"illegal name {block['name']!r}" for block in calls if not LEGAL_NAME.match(block["name"]))
    if open_calls:
        yield f"tool_use without tool_result: {sorted(open_calls)}"
    roles = [message["role"] for message in body["messages"]]
    if alternate and any(a == b for a, b in itertools.pairwise(roles)):
        yield "roles do not alternate"
    if uses and not body.get("tools"):
        yield "tool blocks in a request that defines no tools"
    if body.get("tool_choice") is not None and not body.get("tools"):
        yield "tool_choice without tools"
    yield from tool_faults(
        [(tool["name"], tool.get("input_schema")) for tool in body.get("tools") or () if "input_schema" in tool]
    )


def tool_faults(tools: Sequence[tuple[str, Any]]) -> Iterator[str]:
    if len(tools) > MOST_TOOLS:
        yield f"{len(tools)} tools are more than {MOST_TOOLS}"
    for name, schema in tools:
        if not LEGAL_NAME.match(name):
            yield f"illegal name {name!r}"
        if schema is not None and (schema.get("type") != "object" or "properties" not in schema):
            yield f"{name} has no object with properties"
    names = [name for name, _ in tools]
    if len(set(names)) < len(names):
        yield "two tools of one name"


# --- answers ---------------------------------------------------------------------------------------------------------


def pieces(text: str, size: int) -> list[str]:
    return [text[start : start + size] for start in range(0, len(text), size)]


class Dialect(NamedTuple):
    """How one API is spoken: what it refuses and shows, its whole answers and its streams, its ids and its errors."""

    faults: Callable[[dict[str, Any]], Iterator[str]]
    view: Callable[[dict[str, Any]], View]
    whole: Callable[[dict[str, Any], Answer, Sequence[str]], dict[str, Any]]
    events: Callable[[dict[str, Any], Answer, Sequence[str]], Iterator[tuple[str, Any]]]
    prefix: str
    error: dict[str, Any]


@dataclass(slots=True)
class Provider:
    """A server that runs until `close`. `model` answers; `bodies` are the requests, `broken` the rules they broke."""

    model: Model
    size: int = 5  # characters of a piece in a stream
    alternate: bool = True  # are two messages of one role in a row refused? The real one joins them
    bodies: list[dict[str, Any]] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    server: ThreadingHTTPServer | None = None
    counter: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def start(self) -> Provider:
        provider = self

        class Handler(BaseHTTPRequestHandler):
            # A connection ends with its answer: nothing is left open in a client that no one closes.
            protocol_version = "HTTP/1.0"

            def do_POST(self) -> None:
                provider.answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def close(self) -> None:
        assert self.server is not None
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self) -> str:
        assert self.server is not None
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        dialect = self.dialect(handler.path)
        self.bodies.append(body)
        faults = list(dialect.faults(body))
        if faults:
            self.broken += faults
            error = {"message": "; ".join(faults), "type": "invalid_request_error"}
            send_json(handler, 400, {**dialect.error, "error": error})
            return
        said = self.model(dialect.view(body))
        ids = [f"{dialect.prefix}_{next(self.counter):04d}" for _ in said.calls]
        if body.get("stream"):
            send_events(handler, dialect.events(body, said, ids))
        else:
            send_json(handler, 200, dialect.whole(body, said, ids))

    def dialect(self, path: str) -> Dialect:
        """The dialect of a path."""
        if "chat/completions" in path:
            return Dialect(chat_faults, chat_view, chat_completion, self.chat_events, "call", {})
        if "responses" in path:
            from tests.adapters import responses as r  # it is written with the parts of this module

            number = len(self.bodies)
            whole = functools.partial(r.response, number=number)
            events = functools.partial(r.response_events, number=number, size=self.size)
            return Dialect(r.responses_faults, r.responses_view, whole, events, "call", {})
        faults = functools.partial(messages_faults, alternate=self.alternate)
        return Dialect(faults, messages_view, message, self.messages_events, "toolu", {"type": "error"})

    def chat_events(self, body: dict[str, Any], said: Answer, ids: Sequence[str]) -> Iterator[tuple[str, Any]]:
        base = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}

        def chunk(delta: dict[str, Any], finish: str | None = None) -> tuple[str, Any]:
            return "", {**base, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

        yield chunk({"role": "assistant", "content": ""})
        for piece in pieces(said.text, self.size):
            yield chunk({"content": piece})
        for index, ((name, arguments), id) in enumerate(zip(said.calls, ids, strict=True)):
            yield chunk(
                {
                    "tool_calls": [
                        {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}}
                    ]
                }
            )
            for piece in pieces(arguments, self.size):
                yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
        yield chunk({}, said.finish or ("tool_calls" if said.calls else "stop"))
        if (body.get("stream_options") or {}).get("include_usage"):
            yield "", {**base, "choices": [], "usage": chat_usage()}
        yield "", None

    def messages_events(self, body: dict[str, Any], said: Answer, ids: Sequence[str]) -> Iterator[tuple[str, Any]]:
        whole = {**message(body, Answer(), ()), "stop_reason": None}
        yield "message_start", {"type": "message_start", "message": whole}
        blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
        if said.text:
            blocks.append(
                (
                    {"type": "text", "text": ""},
                    [{"type": "text_delta", "text": piece} for piece in pieces(said.text, self.size)],
                )
            )
        for (name, arguments), id in zip(said.calls, ids, strict=True):
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces(arguments, self.size)]
            blocks.append(({"type": "tool_use", "id": id, "name": name, "input": {}}, deltas))
        for index, (block, deltas) in enumerate(blocks):
            yield "content_block_start", {"type": "content_block_start", "index": index, "content_block": block}
            for delta in deltas:
                yield "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}
            yield "content_block_stop", {"type": "content_block_stop", "index": index}
        end = {"stop_reason": said.finish or ("tool_use" if said.calls else "end_turn"), "stop_sequence": None}
        yield "message_delta", {"type": "message_delta", "delta": end, "usage": messages_usage()}
        yield "message_stop", {"type": "message_stop"}


def chat_usage() -> dict[str, int]:
    return {
        "prompt_tokens": INPUT_TOKENS,
        "completion_tokens": OUTPUT_TOKENS,
        "total_tokens": INPUT_TOKENS + OUTPUT_TOKENS,
    }


def messages_usage() -> dict[str, int]:
    return {"input_tokens": INPUT_TOKENS, "output_tokens": OUTPUT_TOKENS}


def chat_completion(body: dict[str, Any], said: Answer, ids: Sequence[str]) -> dict[str, Any]:
    calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}
        for (name, arguments), id in zip(said.calls, ids, strict=True)
    ]
    answer = {"role": "assistant", "content": said.text or None, **({"tool_calls": calls} if calls else {})}
    finish = said.finish or ("tool_calls" if calls else "stop")
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 0, "model": body["model"], "usage": chat_usage(),
        "choices": [{"index": 0, "message": answer, "finish_reason": finish}],
    }  # fmt: skip


def message(body: dict[str, Any], said: Answer, ids: Sequence[str]) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": said.text}] if said.text else []
    for (name, arguments), id in zip(said.calls, ids, strict=True):
        try:
            given = json.loads(arguments)
        except ValueError:  # this dialect sends arguments as a value: what cannot be read never leaves the provider
            given = {}
        content.append({"type": "tool_use", "id": id, "name": name, "input": given})
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": content,
        "stop_reason": said.finish or ("tool_use" if said.calls else "end_turn"), "stop_sequence": None,
        "usage": messages_usage(),
    }  # fmt: skip


def send_json(handler: BaseHTTPRequestHandler, status: int, body: dict[str, Any]) -> None:
    data = json.dumps(body).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)


def send_events(handler: BaseHTTPRequestHandler, events: Iterator[tuple[str, Any]]) -> None:
    handler.send_response(200)
    handler.send_header("Content-Type", "text/event-stream")
    handler.end_headers()
    for name, data in events:
        head = f"event: {name}\n" if name else ""
        handler.wfile.write(f"{head}data: {'[DONE]' if data is None else json.dumps(data)}\n\n".encode())
