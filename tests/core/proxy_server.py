"""A small MCP server for the tests of the proxy, by hand: it does what servers of an SDK never do.

It runs as a script over stdio, and a test may hand it messages. Its name, and where it writes each call that reaches
it, come from the environment.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable
from typing import Any

Message = dict[str, Any]

ANSWER: Message = {
    "content": [{"type": "text", "text": "größe", "annotations": {"audience": ["user"]}}],
    "structuredContent": {"none": None, "nested": {"list": [None, 1.5]}},
    "_meta": {"example.com/kept": [1, None]},
    "isError": False,
    "unknownField": {"kept": True},
}
COLORS = {"type": "string", "enum": ["red", "green", "blue"]}
TOOLS: list[Message] = [
    {
        "name": "paint",
        "title": "Paint it",
        "description": "Paints a thing. Never paint a thing twice. Please make sure that you know what it is.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "thing": {"type": "string", "minLength": 2, "description": "The thing that should be painted."},
                "color": {**COLORS, "description": "The color in which the thing should be painted."},
                "coats": {"type": "integer", "minimum": 1, "maximum": 9},
            },
            "required": ["thing", "color"],
            "additionalProperties": False,
        },
        "outputSchema": {"type": "object"},
        "annotations": {"destructiveHint": True},
        "_meta": {"example.com/tool": None},
    },
    *({"name": name, "inputSchema": {"type": "object"}} for name in ("slow", "die", "ask", "grow", "shrink", "refuse")),
    {"name": "say", "inputSchema": {"type": "object", "properties": {"what": {}}, "additionalProperties": {}}},
]
ASKED: dict[str, Message] = {
    "roots/list": {},
    "sampling/createMessage": {"maxTokens": 3, "messages": [], "_meta": {"progressToken": 7}},
    "elicitation/create": {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}},
}


class Server:
    """Answers messages; ``send`` takes what it says."""

    def __init__(self, send: Callable[[Message], None]) -> None:
        self._send = send
        self._name = os.environ.get("SERVER_NAME", "sample")
        self._tools = list(TOOLS)
        self._level = "none"
        self._heard: list[Message] = []
        self._waiting: dict[object, Message] = {}  # calls that wait for the client, by the id of what it was asked

    def take(self, value: Message) -> None:
        """Answer one message."""
        method, params = value.get("method"), value.get("params") or {}
        if method is None:
            call = self._waiting.pop(value["id"])
            answer = value.get("result", value.get("error"))
            self._reply(call, {"content": [{"type": "text", "text": json.dumps(answer)}]})
        elif "id" not in value:
            self._heard.append(value)
        elif method == "tools/call":
            self._call(value, params)
        else:
            self._answer(value, method, params)

    def _reply(self, value: Message, result: Message) -> None:
        self._send({"id": value["id"], "result": result})

    def _tell(self, method: str, params: Message | None = None) -> None:
        self._send({"method": method, **({} if params is None else {"params": params})})

    def _answer(self, value: Message, method: str, params: Message) -> None:
        answers: dict[str, Callable[[Message], Message]] = {
            "initialize": self._initialize,
            "tools/list": lambda asked: self._page("tools", self._tools, asked),
            "prompts/list": lambda asked: self._page("prompts", [{"name": "p1"}, {"name": f"{self._name}-p"}], asked),
            "resources/list": lambda asked: self._page("resources", self._resources(), asked),
            "resources/templates/list": lambda asked: self._page("resourceTemplates", self._templates(), asked),
            "prompts/get": lambda asked: {"messages": [], "description": f"{self._name}: {asked['name']}"},
            "resources/read": self._read,
            "completion/complete": lambda asked: {"completion": {"values": [self._name, json.dumps(asked["ref"])]}},
        }
        found = answers.get(method)
        if method == "logging/setLevel":
            self._level = params["level"]
            self._reply(value, {})
        elif method == "resources/subscribe":
            self._reply(value, {})
            self._tell("notifications/resources/updated", {"uri": params["uri"]})
        elif found is None:
            self._send({"id": value["id"], "error": {"code": -32601, "message": f"no {method}", "data": params}})
        else:
            try:
                self._reply(value, found(params))
            except KeyError as error:
                self._send({"id": value["id"], "error": {"code": -32002, "message": f"no {error}", "data": [None]}})

    def _initialize(self, params: Message) -> Message:
        self._heard.append({"method": "initialize", "params": params})
        lists = {"listChanged": True}
        return {
            "protocolVersion": os.environ.get("SERVER_VERSION", params["protocolVersion"]),
            "capabilities": {
                **({} if "SERVER_TOOLLESS" in os.environ else {"tools": {}}), "prompts": lists, "resources": {"subscribe": True}, "logging": {}, "completions": {},
            },
            "serverInfo": {"name": self._name, "version": "1"},
            "instructions": f"I am {self._name}.",
        }  # fmt: skip

    def _page(self, member: str, entries: list[Message], params: Message) -> Message:
        """Pages of two; ``SERVER_ENDLESS`` makes the list never end."""
        start = int(params.get("cursor", 0))
        more = start + 2 < len(entries) or "SERVER_ENDLESS" in os.environ
        return {
            member: entries[start : start + 2],
            **({"nextCursor": str(start + 2 if start < 8 else 8)} if more else {}),
        }

    def _resources(self) -> list[Message]:
        return [{"uri": f"test://{self._name}/{n}", "name": f"r{n}", "size": None} for n in range(3)]

    def _templates(self) -> list[Message]:
        return [{"uriTemplate": f"test://{self._name}/t/{{id}}", "name": "t"}]

    def _read(self, params: Message) -> Message:
        if not params["uri"].startswith(f"test://{self._name}/"):
            raise KeyError(params["uri"])
        return {"contents": [{"uri": params["uri"], "text": self._name}]}

    def _call(self, value: Message, params: Message) -> None:
        name, arguments = params["name"], params.get("arguments", {})
        if "SERVER_CALLS" in os.environ:
            with open(os.environ["SERVER_CALLS"], "a") as calls:
                calls.write(json.dumps([name, arguments]) + "\n")
        if name == "paint":
            self._reply(value, {**ANSWER, "_meta": {**ANSWER["_meta"], "given": params.get("_meta")}})
        elif name == "slow":
            token = (params.get("_meta") or {}).get("progressToken")
            self._tell("notifications/progress", {"progressToken": token, "progress": 1, "total": None})
            self._tell("notifications/message", {"level": "info", "data": "slow begins"})
        elif name == "die":
            print("a last word", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGKILL)
        elif name == "ask":
            method = arguments["method"]
            self._waiting[f"q-{value['id']}"] = value
            self._send({"id": f"q-{value['id']}", "method": method, "params": ASKED.get(method, {})})
        elif name in ("grow", "shrink"):
            self._tools = (
                [*TOOLS, {"name": "extra", "inputSchema": {"type": "object"}}] if name == "grow" else TOOLS[:6]
            )
            self._tell("notifications/tools/list_changed")
            self._tell("notifications/prompts/list_changed")
            self._reply(value, {"content": []})
        elif name == "refuse":
            self._send({"id": value["id"], "error": {"code": -32042, "message": "not now", "data": {"why": None}}})
        else:
            said = {"name": name, "pid": os.getpid(), "level": self._level, "heard": self._heard, "given": arguments}
            self._reply(value, {"content": [{"type": "text", "text": json.dumps(said)}]})


def main() -> None:
    """Serve standard input and output."""
    if "SERVER_FAILS" in os.environ:
        sys.exit("no key was given")
    if "SERVER_SLEEPS" in os.environ:
        sys.stdin.read()
        return
    print("no message", flush=True)  # as badly written servers do

    def send(value: Message) -> None:
        print(json.dumps({"jsonrpc": "2.0", **value}), flush=True)

    server = Server(send)
    for line in sys.stdin:
        server.take(json.loads(line))


if __name__ == "__main__":
    main()
