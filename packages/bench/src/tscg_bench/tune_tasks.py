"""Tasks for a catalog of one's own, made by templates: a request for each tool, with values that its schema takes.

They are easier than what a person asks, since the words of the tools are in them; that is so for every form alike, so
differences between forms still show. Tasks of one's own (``--given``) say more.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tscg import Catalog, Tool
from tscg.validate import validator_of
from tscg_bench.tasks import Expected, Task

__all__ = ["halves", "make_tasks", "words"]

HELD_OUT = 0.4
"""Share of the tasks that no choice is made on."""
NONE_SHARE = 12  # of so many tasks one fits no tool
DEEP = 4
OPTIONAL = 2  # most optional parameters in one request
OPENINGS = ("Please help me with this: {}", "I need the following. {}", "{}", "Could you do this for me? {}")
UNRELATED = (
    "What would be a good name for a grey cat?",
    "Write two lines that rhyme about the sea.",
    "Which is heavier, a litre of water or a litre of oil?",
    "Explain in one sentence why the sky is blue.",
    "How do I say good morning in Portuguese?",
    "Tell me a joke about penguins.",
    "What is the plural of the word ox?",
    "Is a tomato a fruit or a vegetable?",
)
PHRASES = (
    "spring garden", "blue lantern", "north gate", "quiet river", "paper boat", "winter coat", "open door", "red fox",
    "lemon tree", "old bridge", "silver spoon", "morning train",
)  # fmt: skip
FORMATS = {
    "date": ("2026-04-02", "2026-05-17", "2026-06-09"),
    "date-time": ("2026-04-02T09:30:00Z", "2026-05-17T14:00:00Z", "2026-06-09T18:45:00Z"),
    "time": ("09:30:00Z", "14:00:00Z"),
    "email": ("rosa@example.org", "tom@example.net", "ines@example.com"),
    "uri": ("https://example.org/report", "https://example.net/a"),
    "uuid": ("7d44a1c2-93f5-4a65-9d52-5f6f0f2b1c11", "0b8e6a8f-52c1-4c7e-8a39-2f7f4bb0a5d3"),
    "ipv4": ("192.0.2.17", "198.51.100.4"),
    "hostname": ("mail.example.org", "www.example.net"),
}


def make_tasks(catalog: Catalog, n: int, *, seed: int = 0) -> tuple[Task, ...]:
    """At most ``n`` distinct tasks, the same for the same seed; fewer where the tools do not give so many.

    >>> tools = [{"name": "find", "description": "Finds a thing.", "inputSchema": {"type": "object",
    ...           "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}}]
    >>> for task in make_tasks(Catalog.from_tools(tools), 2):
    ...     print(task.query, dict(task.expected[0].arguments))
    Finds a thing. Colour: red. {'colour': 'red'}
    Could you do this for me? Finds a thing. Colour: blue. {'colour': 'blue'}
    """
    draw = random.Random(seed)
    unrelated = UNRELATED[: min(len(UNRELATED), n // NONE_SHARE)]
    found: dict[str, Task] = {}
    idle = 0
    while len(found) < n - len(unrelated) and idle < 4:
        before = len(found)
        for tool in draw.sample(tuple(catalog), len(catalog)):
            task = _task(tool, draw)
            if task is not None and len(found) < n - len(unrelated):
                found.setdefault(f"{tool.name} {task.expected[0].arguments}", task)
        idle = idle + 1 if len(found) == before else 0
    asked = [*found.values(), *(Task(id="", scenario="own", category="none", query=text) for text in unrelated)]
    return tuple(_numbered(task, place) for place, task in enumerate(asked, 1))


def halves(
    tasks: Sequence[Task], *, seed: int = 0, share: float = HELD_OUT
) -> tuple[tuple[Task, ...], tuple[Task, ...]]:
    """Tasks to choose on, and those held out to confirm the choice."""
    mixed = random.Random(seed).sample(tuple(tasks), len(tasks))
    cut = round(len(mixed) * (1 - share))
    return tuple(mixed[:cut]), tuple(mixed[cut:])


def words(name: str) -> str:
    """A name in plain words.

    >>> words("dueDate"), words("order_id")
    ('due date', 'order id')
    """
    return re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)).strip().lower()


def _numbered(task: Task, place: int) -> Task:
    return Task(id=f"t{place:04}", scenario="own", category=task.category, query=task.query, expected=task.expected)


def _task(tool: Tool, draw: random.Random) -> Task | None:
    """One request for a tool, None where no values were found that it takes."""
    schema = tool.to_json_schema()
    arguments = _object(schema, schema, draw, 0)
    if not validator_of(tool, ()).is_valid(arguments):
        return None
    purpose = re.split(r"(?<=[.!?])\s", tool.description.strip(), maxsplit=1)[0]
    purpose = purpose.replace(tool.name, words(tool.name)) if purpose else words(tool.name).capitalize()
    said = [f"{_place(place).capitalize()}: {value}." for place, value in _said("", arguments)]
    query = " ".join([f"{purpose.rstrip('.')}.", *said])
    expected = (Expected(tool=tool.name, arguments=arguments),)
    text = draw.choice(OPENINGS).format(query)
    return Task(id="", scenario="own", category="parameters", query=text, expected=expected)


def _place(path: str) -> str:
    return words(path) or "value"


def _said(path: str, value: Any) -> Iterator[tuple[str, str]]:
    """Each plain value with the words that lead to it."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _said(f"{path} {key}", inner)
    elif isinstance(value, list) and any(isinstance(one, Mapping | list) for one in value):
        for number, inner in enumerate(value, 1):
            yield from _said(f"{path} {number}", inner)
    elif isinstance(value, list):
        yield path, " and ".join(map(_spoken, value))
    else:
        yield path, _spoken(value)


def _spoken(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "nothing" if value is None else str(value)


# --- values -----------------------------------------------------------------------------------------------------------


def _value(schema: Any, root: Mapping[str, Any], draw: random.Random, depth: int) -> Any:
    """A value that the schema may take; the validator has the last word."""
    if not isinstance(schema, Mapping) or depth > DEEP:
        return draw.choice(PHRASES)
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return draw.choice([one for one in schema["enum"] if one is not None] or schema["enum"])
    if "$ref" in schema:
        return _value(_referred(schema["$ref"], root), root, draw, depth + 1)
    branches = schema.get("anyOf") or schema.get("oneOf")
    if branches:
        real = [one for one in branches if not (isinstance(one, Mapping) and one.get("type") == "null")]
        return _value(draw.choice(real or branches), root, draw, depth + 1)
    kinds = schema.get("type", "object" if "properties" in schema else "string")
    kind = next((one for one in kinds if one != "null"), "null") if isinstance(kinds, list) else kinds
    if kind == "object":
        return _object(schema, root, draw, depth)
    if kind == "array":
        return _array(schema, root, draw, depth)
    if kind in ("integer", "number"):
        return _number(schema, draw, whole=kind == "integer")
    if kind == "string":
        return _string(schema, draw)
    return draw.random() < 0.5 if kind == "boolean" else None


def _referred(name: str, root: Mapping[str, Any]) -> Any:
    key = name.rsplit("/", 1)[-1].replace("~1", "/").replace("~0", "~")
    return root if name == "#" else root.get("$defs", {}).get(key)


def _object(schema: Mapping[str, Any], root: Mapping[str, Any], draw: random.Random, depth: int) -> dict[str, Any]:
    properties: Mapping[str, Any] = schema.get("properties", {})
    required = [name for name in schema.get("required", ()) if name in properties]
    others = [name for name in properties if name not in required and "default" not in (properties[name] or {})]
    few = draw.sample(others, min(len(others), draw.randint(0, OPTIONAL))) if depth == 0 else []
    return {name: _value(properties[name], root, draw, depth + 1) for name in properties if name in {*required, *few}}


def _array(schema: Mapping[str, Any], root: Mapping[str, Any], draw: random.Random, depth: int) -> list[Any]:
    if isinstance(schema.get("prefixItems"), list):
        return [_value(one, root, draw, depth + 1) for one in schema["prefixItems"]]
    least = max(1, int(schema.get("minItems", 1)))
    most = min(int(schema.get("maxItems", least + 1)), least + 1)
    out: list[Any] = []
    for _ in range(4 * draw.randint(least, max(least, most))):
        value = _value(schema.get("items", {}), root, draw, depth + 1)
        if value not in out and len(out) < most:
            out.append(value)
    return out


def _number(schema: Mapping[str, Any], draw: random.Random, *, whole: bool) -> float:
    low = schema.get("minimum", schema.get("exclusiveMinimum", 0) + (1 if "exclusiveMinimum" in schema else 0))
    high = schema.get("maximum", schema.get("exclusiveMaximum", low + 50) - (1 if "exclusiveMaximum" in schema else 0))
    step = schema.get("multipleOf", 1)
    first, last = -(-low // step), max(high // step, -(-low // step))
    value = draw.randint(int(first), int(min(last, first + 60))) * step
    return int(value) if whole or value == int(value) else value


def _string(schema: Mapping[str, Any], draw: random.Random) -> str:
    examples = [one for one in schema.get("examples", ()) if isinstance(one, str)]
    if examples:
        return draw.choice(examples)
    if schema.get("format") in FORMATS:
        return draw.choice(FORMATS[schema["format"]])
    return _matching(schema["pattern"], draw) if "pattern" in schema else draw.choice(PHRASES)


def _matching(pattern: str, draw: random.Random) -> str:
    """A short text of a pattern, "" where none is found: what is refused then is no task."""
    from rstr import Rstr

    try:
        short = re.sub(r"(?<!\\)[+*](?!\?)", "{1,4}", pattern)  # a person's keys and names are short
        made: list[str] = [Rstr(draw).xeger(short) for _ in range(3)]
    except (re.error, ValueError, OverflowError, RecursionError):
        return ""
    return min((text for text in made if text.isprintable()), key=len, default="")
