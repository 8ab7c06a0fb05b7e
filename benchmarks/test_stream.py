"""How fast a stream is read: `uv run pytest benchmarks/test_stream.py`.

Each row carries the megabytes a second and the ratio to a JSON round trip of the same text, taken beside it; the ratio
of a long text to one of a quarter of its length says whether the work is linear.
"""

from __future__ import annotations

import json
import random

import pytest

import tscg
from benchmarks import generate, measure
from benchmarks.conftest import Step

TOOLS = generate.catalog(100)
WORDS = "the quick brown <b>fox</b> jumps over [1] lazy dogs, then {x} and 2 < 3.".split()


def prose(size: int) -> str:
    """Text with few markers: words, tags of HTML, brackets, lines."""
    pick = random.Random(1)
    return " ".join(pick.choice(WORDS) + ("\n" if pick.random() < 0.1 else "") for _ in range(size // 5))


def calls(size: int) -> str:
    """Text that holds nothing but calls, in the taught form."""
    compiled, tool = tscg.compile(TOOLS), TOOLS[5]
    call = tscg.Call(name=tool["name"], arguments=generate.arguments(tool["inputSchema"]))
    return "\n".join([str(compiled.encode_call(call))] * (size // 300))


def long_call(size: int) -> str:
    """One call with a long text in its arguments."""
    tool = {"name": "write", "arguments": {"text": 'lorem "ipsum"\n dolor' * (size // 24)}}
    return f"<tool_call>{json.dumps(tool)}</tool_call>"


TEXTS = {"prose": prose, "calls": calls, "long call": long_call}
COMPILED = tscg.compile(
    [*TOOLS, {"name": "write", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}],
    decoding=tscg.Decoding(max_calls=1_000_000),
)


AIM = 5  # MB/s
IDLE_JSON = 75  # MB/s of `json.loads` for the calls of these texts, on an idle machine of 2 cores


def streamed(text: str, size: int) -> tscg.Decoded:
    """A text read in pieces of a size."""
    stream = COMPILED.stream()
    for at in range(0, len(text), size):
        stream.feed(text[at : at + size])
    return stream.close()


@pytest.mark.parametrize("size", [4, 64, 4_096], ids=lambda size: f"pieces of {size}")
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.benchmark(group="read a stream")
def test_stream(step: Step, name: str, size: int) -> None:
    text = TEXTS[name](200_000)
    assert not streamed(text, size).errors
    step(lambda: streamed(text, size), text)


@pytest.mark.parametrize("name", TEXTS)
def test_reading_is_linear(name: str) -> None:
    short, long = TEXTS[name](50_000), TEXTS[name](200_000)
    for size in (64, 4_096):
        quarter = measure.best(lambda size=size: streamed(short, size), 3)  # type: ignore[misc]
        whole = measure.best(lambda size=size: streamed(long, size), 3)  # type: ignore[misc]
        assert whole < 4 * quarter * len(long) / len(short) / 2, (quarter, whole)


@pytest.mark.parametrize("name", TEXTS)
def test_megabytes_a_second(name: str) -> None:
    """At least 5 MB/s with pieces of 4,096 characters, on a machine that does nothing else.

    The unit beside it is `json.loads` of the calls alone, one after another, which the same machine does at 75 MB/s
    when it is idle: 5 MB/s is 15 units. A busy machine is slow at both.
    """
    text = TEXTS[name](200_000)
    bodies = [line.removeprefix("<tool_call>").removesuffix("</tool_call>") for line in calls(200_000).split("\n")]
    size = sum(map(len, bodies))
    ratios = []
    for _ in range(5):
        unit = measure.best(lambda: [json.loads(body) for body in bodies]) / size
        took = measure.best(lambda: streamed(text, 4_096)) / len(text)
        ratios.append(took / unit)
    assert min(ratios) < IDLE_JSON / AIM, f"{min(ratios):.1f} units"
