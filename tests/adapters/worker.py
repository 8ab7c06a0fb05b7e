"""A model that works from what it was sent: it looks a tool up in the request and calls it in the form it finds there.

A user's message is a task: a line for each round, each with calls `name {"argument": ...}` joined by ` && `. Words
behind `SAY` are said beside the calls. When all rounds are done the model says `Done.` and what the last results were.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.adapters.provider import Answer, Turn, View

TAUGHT = re.compile(r'write (\S+?)\{"name":"NAME","arguments":\{\.\.\.\}\}(\S*)')
RESULT = "<tool_response>"
RAW = ("<tool_call>", "</tool_call>", '"tool":', RESULT, "NOTES:")


def work(view: View) -> Answer:
    """The next answer of the worker."""
    place = max(n for n, turn in enumerate(view.turns) if is_task(turn))
    done = sum(turn.role == "assistant" for turn in view.turns[place + 1 :])
    rounds = view.turns[place].text.strip().splitlines()
    if done >= len(rounds):
        return Answer(text=f"Done. {last_result(view.turns)}".strip())
    said, texts, native = [], [], []
    for step in rounds[done].split(" && "):
        if step.startswith("SAY "):
            said.append(step[4:])
            continue
        name, _, arguments = step.strip().partition(" ")
        made = call(view, name, arguments or "{}")
        if isinstance(made, str):
            texts.append(made)
        else:
            native.append(made)
    return Answer(text="\n".join([*said, *texts]), calls=tuple(native))


def call(view: View, name: str, arguments: str) -> str | tuple[str, str]:
    """A call in the form that the request shows: natively, in text, or through a dispatcher."""
    if name in view.tools:
        return name, arguments
    wire = re.sub(r"[^A-Za-z0-9_-]+", "_", name)
    if wire in view.tools:
        return wire, arguments
    listed = re.search(
        rf"^{re.escape(name)}\b|^{re.escape(json.dumps(name, ensure_ascii=False))}", view.system, re.MULTILINE
    )
    taught = TAUGHT.search(view.system)
    if listed and taught:
        return f'{taught[1]}{{"name": {json.dumps(name)}, "arguments": {arguments}}}{taught[2]}'
    for dispatcher, schema in view.tools.items():
        if listed and {"tool", "args"} <= schema.get("properties", {}).keys():
            bag = json.dumps(arguments) if schema["properties"]["args"].get("type") == "string" else arguments
            return dispatcher, f'{{"tool": {json.dumps(name)}, "args": {bag}}}'
    return f"I was shown no tool {name}."


def is_task(turn: Turn) -> bool:
    return turn.role == "user" and RESULT not in turn.text


def last_result(turns: list[Turn]) -> str:
    text = turns[-1].text
    found: list[Any] = re.findall(rf"{RESULT}\n(.*?)\n</tool_response>", text, re.DOTALL)
    return " | ".join(found) if found else text
