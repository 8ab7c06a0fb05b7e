"""Does a question give its answer away? What a task must not say, and a solver that sees no schema.

A benchmark whose questions hold the names of tools, parameters and values measures copying. :func:`leaks` names what a
query says word for word; :func:`solve` is what can be had by rules from the query and bare names alone.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any

from tscg import Catalog
from tscg_bench.accept import leaves
from tscg_bench.score import Attempt, Made
from tscg_bench.tasks import Task

__all__ = ["leaks", "solve"]

# Parameters whose names are words that no sentence does without.
PREPOSITIONS = frozenset({"from", "to", "on", "in", "at", "by", "first", "last", "after", "name", "place"})
# Members of enums that are names of their own: there is no other word for them.
PROPER = frozenset({
    "MX", "api", "cargo", "dhl", "go", "graz", "jest", "lisbon", "mx", "npm", "oslo", "png", "posten", "pytest",
    "royal_mail",     "SHOP", "shop", "ups", "WARE", "ware",
})  # fmt: skip
SYNONYMS = (
    "get show view open read see look give tell what fetch details", "list which all", "find search locate where grep",
    "create add make new put write", "delete remove drop cancel scrap trash", "update change set amend edit modify",
    "send mail write tell", "buy order purchase", "move shift rename transfer", "run start execute restart",
    "commit record save",
)  # fmt: skip
WORD = re.compile(r"[a-z]+|\d+")
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
PAIR = re.compile(r"\b([a-z_]+) ?(?:=|:|is|as|to|of) ?(\"[^\"]+\"|'[^']+'|\S+)", re.IGNORECASE)
PATH = re.compile(r"(?<!\w)(?:/?[\w.-]+/)+[\w.-]*|\b[\w-]+\.[a-z]{2,4}\b")
IDENTIFIER = re.compile(r"\b[A-Za-z]{1,4}-?\d{2,}\b")
QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"")
NUMBER = re.compile(r"(?<![\w.-])\d+(?:\.\d+)?(?![\w.-])")
ARTICLES = frozenset({"the", "a", "of", "to", "and", "by", "on", "with", "for", "in", "it", "is"})

ALIKE = {word: tuple(group.split()) for group in SYNONYMS for word in group.split()}


def words(text: str) -> list[str]:
    """The words of a text or name, in lower case and without the s of a plural.

    >>> words("listOpen_Invoices")
    ['list', 'open', 'invoice']
    """
    found = WORD.findall(CAMEL.sub(" ", text).casefold())
    return [word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in found]


def leaks(task: Task, catalog: Catalog) -> tuple[str, ...]:
    """What the query gives away: names of the expected tools and parameters, and members of enums, word for word.

    >>> import tscg
    >>> from tscg_bench.tasks import Expected
    >>> schema = {"type": "object", "properties": {"urgency": {"enum": ["high", "low"]}}}
    >>> catalog = tscg.Catalog.from_tools([{"name": "open_ticket", "inputSchema": schema}])
    >>> expected = (Expected(tool="open_ticket", arguments={"urgency": "high"}),)
    >>> query = "Open ticket with urgency high"
    >>> leaks(Task(id="t", scenario="A", category="single", query=query, expected=expected), catalog)
    ('tool open_ticket', 'parameter urgency', 'value high')
    """
    said = words(task.query)
    tools = {tool.name: tool for tool in catalog}
    found: list[str] = []
    for call in task.expected:
        tool = tools[call.tool]
        if _says(said, tool.local_name):
            found.append(f"tool {tool.local_name}")
        found += [f"parameter {name}" for name in call.arguments if name not in PREPOSITIONS and _says(said, name)]
        members = set(_members(tool.schema)) - PROPER
        given = [value for accepted in call.arguments.values() for value in leaves(accepted)]
        found += [
            f"value {value}" for value in given if isinstance(value, str) and value in members and _says(said, value)
        ]
    return tuple(dict.fromkeys(found))


def _says(said: Sequence[str], name: str) -> bool:
    """Do the words of a name stand in the text, one behind the other?"""
    wanted = words(name)
    return bool(wanted) and any(
        list(said[place : place + len(wanted)]) == wanted for place in range(len(said) - len(wanted) + 1)
    )


def _members(schema: Any) -> Iterable[str]:
    if isinstance(schema, Mapping):
        yield from (one for one in schema.get("enum") or () if isinstance(one, str))
        for one in schema.values():
            yield from _members(one)
    elif isinstance(schema, list):
        for one in schema:
            yield from _members(one)


# --- the solver -------------------------------------------------------------------------------------------------------


def solve(task: Task, names: Sequence[str]) -> Attempt:
    """The call that rules find without a schema: the tool whose name shares most with the query, rare words counting
    more and common verbs standing for each other, and parameters read off the query (``word: value``, paths, ids,
    numbers, quoted texts) under likely names.

    >>> task = Task(id="t", scenario="A", category="single", query="cancel order ord-55501, reason: late")
    >>> solve(task, ["list_orders", "cancel_order", "get_order"]).calls[0]
    Made(name='cancel_order', arguments={'reason': 'late', 'order_id': 'ord-55501'}, valid=True, repairs=())
    """
    said = {alike for word in words(task.query) for alike in (word, *ALIKE.get(word, ()))} - ARTICLES
    parts = {name: [word for word in words(name.rpartition("__")[2]) if word not in ARTICLES] for name in names}
    often = Counter(word for held in parts.values() for word in set(held))
    rarity = {word: log(1 + len(names) / count) for word, count in often.items()}

    def shared(name: str) -> float:
        held = parts[name]
        score = sum(rarity[word] for word in held if word in said)
        return score / (sum(rarity[word] for word in held) ** 0.5) if score else 0.0

    best = max(sorted(names), key=shared, default="")
    if not best or shared(best) == 0:
        return Attempt()
    return Attempt(calls=(Made(name=best, arguments=_read_off(task.query, parts[best])),))


def _read_off(query: str, name: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {key.casefold(): _plain(value) for key, value in PAIR.findall(query) if key.islower()}
    found = {key: value for key, value in found.items() if key not in ARTICLES and len(key) > 2}
    if path := PATH.search(query):
        found["path"] = path.group()
    if identifier := IDENTIFIER.search(query):
        found[f"{name[-1] if name else 'item'}_id"] = identifier.group()
    if quoted := QUOTED.search(query):
        found["text" if "path" in found else "query"] = quoted.group(1) or quoted.group(2)
    if number := NUMBER.search(query):
        found["limit"] = float(number.group()) if "." in number.group() else int(number.group())
    return found


def _plain(value: str) -> Any:
    value = value.strip("\"',.;")
    return int(value) if value.isdecimal() else value
