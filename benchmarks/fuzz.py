"""A fuzzer of the way back: mutated answers to the decoder, mutated texts to the decompiler.

    python -m benchmarks.fuzz --minutes 10           # both, in turn; --only decode or decompile for one of them
    python -m benchmarks.fuzz --seed 1234567         # the case of one seed again
    python -m benchmarks.fuzz --atheris              # coverage-guided, where atheris is installed

A case is made of its seed alone. It fails on an exception that is not ours, on a second of processor time, on a call
that the schema refuses, and where an answer in pieces gives another result than the whole.
"""

from __future__ import annotations

import argparse
import importlib
import itertools
import json
import random
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import tscg
from benchmarks import generate
from tscg.decoders import Stream, decode
from tscg.decoders.rows import NOISE, REASONING, ROWS
from tscg.modes.options import Text
from tscg.resolve import Surface
from tscg.taught import TAUGHT, written
from tscg.validate import validator_of

LIMIT = 1.0  # seconds of processor time of one case
SIZE = 20_000  # characters of a case

TOOLS: list[dict[str, Any]] = [
    {"name": "ping", "inputSchema": {"type": "object", "properties": {}, "additionalProperties": False}},
    {
        "name": "bash",
        "description": "Run a command. Never as root.",
        "inputSchema": {
            "type": "object",
            "properties": {"command": {"type": "string"}, "timeout": {"type": "integer", "minimum": 1}, "env": {}},
            "required": ["command"],
        },
    },
    {
        "name": "save.tree",
        "inputSchema": {
            "type": "object",
            "properties": {
                "root": {"$ref": "#/$defs/Node"},
                "mode": {"enum": ["fast", "Safe", 3, None]},
                "at": {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "integer"}, "maxItems": 2}]},
            },
            "required": ["root"],
            "additionalProperties": False,
            "$defs": {
                "Node": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string"},
                        "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                    },
                    "required": ["name"],
                }
            },
        },
    },
    {
        "name": "odd name",
        "inputSchema": {
            "type": "object",
            "properties": {"a b": {"type": "boolean"}, "$ref": {"type": ["string", "null"]}, "tool": {}, "args": {}},
            "oneOf": [{"required": ["a b"]}, {"required": ["$ref"]}],
        },
    },
]
CALLS: list[tuple[str, Any]] = [
    ("ping", {}),
    ("bash", {"command": 'echo "</tool_call>" && [1]', "timeout": 5}),
    ("save.tree", {"root": {"name": "a", "kids": [{"name": "b"}]}, "mode": "fast", "at": [1, 2]}),
    ("odd name", {"a b": True}),
    ("save_tree", {"root": '{"name": "x"}', "mode": "FAST", "at": "1.5"}),
    ("bash", {"command": None, "timeout": "x"}),
    ("nope", {"x": [[[{}]]]}),
]
FORMS = (
    '<tool_call>{{"name":"{name}","arguments":{body}}}</tool_call>',
    '[TOOL_CALLS][{{"name":"{name}","arguments":{body}}}]',
    "[TOOL_CALLS]{name}[CALL_ID]c1[ARGS]{body}",
    '<|python_tag|>{{"name":"{name}","parameters":{body}}}<|eom_id|>',
    "<|channel|>commentary to=functions.{name}<|message|>{body}<|call|>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{body}\n```<｜tool▁call▁end｜>",
    "<|tool_call_begin|>functions.{name}:0<|tool_call_argument_begin|>{body}<|tool_call_end|>",
    '<|START_ACTION|>[{{"tool_name":"{name}","parameters":{body}}}]<|END_ACTION|>',
    '<|action_start|><|plugin|>{{"name":"{name}","parameters":{body}}}<|action_end|>',
    "<|recipient|>{name}\n<|content|>{body}<|stop|>",
    ">>>{name}\n{body}\n",
    "[Calling tool: {name}({body})]",
    "<|tool_call_start|>[{name}(command='x', timeout={body})]<|tool_call_end|>",
    "[{name}(root={body})]",
    "Thought: t\nAction: {name}\nAction Input: {body}\nObservation: invented\n",
    "<function={name}>\n<parameter=command>\n{body}\n</parameter>\n</function>",
    '<function_calls><invoke name="{name}"><parameter name="command">{body}</parameter></invoke></function_calls>',
    "<tool_call>{name}\n<arg_key>command</arg_key><arg_value>{body}</arg_value></tool_call>",
    "<{name}><command>{body}</command></{name}>",
    '{{"tool_calls":[{{"name":"{name}","arguments":{body}}}]}}',
    '```json\n{{"tool":"{name}","args":{body}}}\n```',
    '{{"answer":"{name}"}}',
    '<tool_call>{{"name":"multi_tool_use.parallel","arguments":{{"tool_uses":[{{"recipient_name":"{name}","parameters":{body}}}]}}}}'
    "</tool_call>",
    '<tool_call>{{"name":"lookup","arguments":{{"tools":["{name}"],"query":"x"}}}}</tool_call>',
    '<tool_call>{{"name":"call","arguments":{{"tool":"{name}","args":{body}}}}}</tool_call>',
    "<think>{name} {body}</think>",
    "Well, 2 < 3.\n",
)
BITS = (
    *(mark for row in ROWS for mark in (*row.openers, *row.closers)), *NOISE, *REASONING, *REASONING.values(),
    "{", "}", "[", "]", "(", ")", '"', "'", '"""', "\\", "\\u", "\\ud83d", "\ud83d", "\udcff", "\x00", ",", ":",
    "\n", " ", "//", "/*",
    "null", "None", "True", "NaN", "1e999", "-0", "9" * 400, "```", "```json\n", "<a:invoke name=", "</a:parameter>",
    "<bash>", "</bash>",
    "😀", "é", "\u2028", '{"', '":', "name", "arguments", "-" * 50, "[" * 70, '{"a":' * 70, "<" * 30,
)  # fmt: skip


# --- cases ------------------------------------------------------------------------------------------------------------


def answer(pick: random.Random) -> str:
    """A few calls in any form, with damage done to them."""
    parts = []
    for _ in range(pick.choice((1, 1, 1, 2, 3, 6))):
        name, arguments = pick.choice(CALLS)
        body = json.dumps(arguments, ensure_ascii=pick.random() < 0.5, indent=pick.choice((None, None, 1)))
        parts.append(pick.choice(FORMS).format(name=name, body=damaged(pick, body) if pick.random() < 0.3 else body))
        parts.append(pick.choice(("", "\n", " and ", pick.choice(BITS))))
    return damaged(pick, "".join(parts))[:SIZE]


def damaged(pick: random.Random, text: str) -> str:
    """A text with some of it cut out, doubled, moved, or with something put in."""
    for _ in range(pick.choice((0, 1, 1, 2, 4))):
        start, end = sorted(pick.randrange(len(text) + 1) for _ in range(2))
        end = min(end, start + pick.choice((1, 3, 20, 200)))
        way = pick.randrange(6)
        if way == 0:
            text = text[:start] + text[end:]
        elif way == 1:
            text = text[:end] + text[start:end] * pick.choice((1, 2, 30)) + text[end:]
        elif way == 2:
            text = text[:start] + pick.choice(BITS) * pick.choice((1, 1, 2, 40)) + text[start:]
        elif way == 3:
            text = text[:start] + text[start:end][::-1] + text[end:]
        elif way == 4:
            text = text[:start]
        else:
            text = text[:start] + chr(pick.choice((pick.randrange(128), pick.randrange(0x3000)))) + text[start + 1 :]
        text = text[: 2 * SIZE]
    return text


@cache
def surfaces() -> tuple[Surface, ...]:
    """What models may have been shown."""
    modes: list[Any] = ["text", "native", Text(constrained=True), "dispatch", *(Text(dialect=name) for name in TAUGHT)]
    made = [tscg.compile(TOOLS, mode=mode).surface for mode in modes]
    options = [
        tscg.Decoding(weak="anywhere", reasoning="tags", number_to_text=True, wrap_scalars=True, extras="drop"),
        tscg.Decoding(weak="never", reasoning="prefilled", calls_in_reasoning=True, fill_defaults=True),
        tscg.Decoding(max_output=500, max_calls=2, max_depth=4, marker_missing=False, extras="error"),
        tscg.decoding.STRICT,
    ]
    return (*made, *(tscg.compile(TOOLS, decoding=one).surface for one in options))


def decoding(pick: random.Random) -> None:
    """One answer, whole and in pieces, to one surface."""
    surface, text = pick.choice(surfaces()), answer(pick)
    reason = pick.choice((None, None, "stop", "length"))
    whole = decode(surface, text, reason)
    stream = Stream(surface)
    size = pick.choice((1, 2, 3, 7, 64, 1_000))
    said = ""
    for at in range(0, len(text), size):
        said += "".join(
            event.text for event in stream.feed(text[at : at + size]) if isinstance(event, tscg.calls.TextEvent)
        )
    assert stream.close(reason) == whole, "in pieces it is another answer"
    assert whole.text.startswith(said), "text was taken back"
    for call in whole.calls:
        tool = surface.catalog.by_name[call.name]
        assert validator_of(tool).is_valid(call.arguments), f"the schema refuses {call}"
    ids = [item.id for item in whole.items]
    assert all(ids), "an item has no id"
    assert len(set(ids)) == len(ids), "an id is given twice"
    native = {
        "role": "assistant",
        "content": text[:50],
        "tool_calls": [_native(pick, text) for _ in range(pick.randrange(3))],
    }
    for call in decode(surface, native, reason).calls:
        assert validator_of(surface.catalog.by_name[call.name]).is_valid(call.arguments)
    for call in whole.calls:
        if surface.mode == "text" and surface.decoding.max_depth > 10:  # the law holds within the bounds
            again = decode(surface, written(surface, [(call.name, call.arguments)]))
            assert [one.arguments for one in again.calls] == [call.arguments], "it does not come through"


def _native(pick: random.Random, text: str) -> dict[str, Any]:
    name, arguments = pick.choice(CALLS)
    given: Any = pick.choice(
        (arguments, json.dumps(arguments), damaged(pick, json.dumps(arguments)), text[:200], None, [], 5)
    )
    return {"id": pick.choice(("c1", "", "x y")), "type": "function", "function": {"name": name, "arguments": given}}


@cache
def texts() -> tuple[str, ...]:
    """Catalogs in the language, as they are compiled."""
    catalogs: list[Any] = [TOOLS, *(generate.catalog(count) for count in (3, 10))]
    return tuple(
        part
        for tools in catalogs
        for profile in ("lossless", "balanced", "signature")
        for compiled in [tscg.compile(tools, profile=profile)]
        for part in (compiled.text, compiled.prompt)
    )


def decompiling(pick: random.Random) -> None:
    """One damaged text: a ParseError, or a catalog that compiles to a text of the same catalog."""
    text = damaged(pick, pick.choice(texts())[: pick.choice((200, 2_000, SIZE))])
    if pick.random() < 0.3:
        text = damaged(pick, text.replace("(", pick.choice(("{", "@a:{", "shared\n.", "^1", "|", "?="))))
    try:
        catalog = tscg.decompile(text)
    except tscg.ParseError:
        return
    try:
        again = tscg.compile(catalog, profile="lossless").text
    except tscg.CompileError:
        return
    assert tscg.decompile(again) == catalog, "it does not come through"


TARGETS: dict[str, Callable[[random.Random], None]] = {"decode": decoding, "decompile": decompiling}


# --- running ----------------------------------------------------------------------------------------------------------


def case(seed: int, names: tuple[str, ...] = tuple(TARGETS)) -> str:
    """Run the case of a seed; what went wrong, empty if nothing did."""
    pick = random.Random(seed)
    name = names[seed % len(names)]
    begin = time.process_time()
    try:
        TARGETS[name](pick)
    except Exception:  # noqa: BLE001  # whatever comes out is the finding
        return f"{name}, seed {seed}:\n{traceback.format_exc()}"
    took = time.process_time() - begin
    return f"{name}, seed {seed}: {took:.1f} s" if took > LIMIT else ""


def seeds(minutes: float, start: int) -> Iterator[int]:
    """Seeds one after another until the time is over."""
    end = time.monotonic() + 60 * minutes
    for seed in itertools.count(start):
        if time.monotonic() > end:
            return
        yield seed


def coverage_guided(names: tuple[str, ...]) -> None:
    """Let atheris choose the seeds' successors: its bytes are the numbers that a case is made of."""
    atheris = importlib.import_module("atheris")

    def target(data: bytes) -> None:
        pick = random.Random(int.from_bytes(data, "big"))
        TARGETS[names[len(data) % len(names)]](pick)

    atheris.instrument_all()
    atheris.Setup(sys.argv[:1], target)
    atheris.Fuzz()


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, help="the case of this seed alone")
    parser.add_argument("--start", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--only", choices=tuple(TARGETS))
    parser.add_argument("--atheris", action="store_true")
    given = parser.parse_args()
    names = (given.only,) if given.only else tuple(TARGETS)
    if given.atheris:
        coverage_guided(names)
        return 0
    for name in names:  # what is made once is not a case's time
        case(names.index(name), names)
    count, found = 0, []
    for seed in [given.seed] if given.seed is not None else seeds(given.minutes, given.start):
        count += 1
        wrong = case(seed, names)
        if wrong:
            found.append(wrong)
            print(wrong, flush=True)
        if len(found) >= 20:
            break
    print(f"{count} cases from seed {given.seed if given.seed is not None else given.start}, {len(found)} failed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
