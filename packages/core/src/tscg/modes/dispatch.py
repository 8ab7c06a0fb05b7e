"""Dispatch mode: two wire tools for any number of tools, and a map of them in the prompt.

``call`` takes the name of a tool and its arguments, ``lookup`` gives whole entries back. Grouped, there is one wire
tool for each namespace instead of ``call``, and its lines of the map stand in the description.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tscg.errors import CompileError, Fragment
from tscg.ir import Tool
from tscg.language.spelling import name, prose_line
from tscg.modes.codes import grown
from tscg.modes.groups import Group, groups_of
from tscg.modes.map import Lines, lines_of, map_text
from tscg.modes.names import wire_names
from tscg.modes.notes import Judged, judge
from tscg.modes.options import MAPS, Dispatch
from tscg.modes.parts import Parts
from tscg.modes.sent import Sent
from tscg.modes.text import CLOSE, OPEN
from tscg.record import replace
from tscg.schema import minified

__all__ = ["PAIRS", "dispatch", "fitted"]

PAIRS = (("call", "lookup"), ("call_tool", "lookup_tool"), ("tscg_call", "tscg_lookup"))
"""Names of the dispatcher and of the lookup: the first pair of which no tool has either name."""

LEGENDS = {
    "names": "Tools for `{call}`, one a line, with required arguments: () takes none, ? only optional ones.",
    "hybrid": "Tools for `{call}`, one a line, with required arguments, or in () with all: ? is optional.",
    "signature": "Tools for `{call}`, one a line, with their arguments: ? is optional.",
}
CODED = "Lines begin with a code, which may stand for the name."
REST = "`{lookup}` shows all of a tool."
OPERATIONS = {
    "names": "A line: operation, required args; () none, ? only optional",
    "hybrid": "A line: operation, required args, or all in (); ? optional",
    "signature": "A line: operation, args; ? optional",
}
"""How the lines of groups are read: said once, with the first group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """All that the lines of one catalog may say; what they do say is chosen by tool."""

    options: Dispatch
    parts: Parts
    map: str
    lines: Sequence[Lines]
    notes: Judged
    book: Mapping[str, str]
    groups: Sequence[Group]
    call_tool: str
    lookup_tool: str

    @property
    def tools(self) -> tuple[Tool, ...]:
        return self.parts.tools.tools


def dispatch(options: Dispatch, parts: Parts) -> Sent:
    """What dispatch mode sends of a catalog: prompt, map, wire tools, and what the way back must know.

    Raises ConfigError for notes, codes or groups that cannot be.
    """
    plan = _planned(options, parts)
    if plan is None:
        return Sent()
    return _sent(plan, [plan.map] * len(plan.tools), frozenset(plan.notes.accepted))


def fitted(options: Dispatch, parts: Parts, budget: int, count: Callable[[str], int]) -> Sent:
    """The map that says most within ``budget`` tokens of prompt and wire tools, as ``count`` counts a text.

    From names alone the lines climb to the map asked for, tool by tool, those that cost least first: to ``hybrid``,
    then notes, then to ``signature``. Raises CompileError where the names do not fit, with the tokens that are missing.
    """
    plan = _planned(options, parts)
    if plan is None:
        return Sent()
    steps = list(_climb(plan))

    def at(length: int) -> Sent:
        maps = dict.fromkeys((tool.name for tool in plan.tools), "names")
        noted = set()
        for tool, rung in steps[:length]:
            if rung == "note":
                noted.add(tool)
            else:
                maps[tool] = rung
        return _sent(plan, list(maps.values()), frozenset(noted))

    least = _size(at(0), count)
    if least > budget:
        reason = f"the names alone take {least} tokens, {least - budget} more than the budget of {budget}"
        raise CompileError(
            [Fragment(tool="the catalog", pointer="", reason=reason)], hint="raise the budget or leave tools out"
        )
    low, high = 0, len(steps)
    while low < high:
        middle = (low + high + 1) // 2
        if _size(at(middle), count) <= budget:
            low = middle
        else:
            high = middle - 1
    return at(low)


def _size(sent: Sent, count: Callable[[str], int]) -> int:
    wire = [{"type": "function", "function": tool} for tool in sent.wire]
    return count(sent.prompt) + (count(minified(wire)) if wire else 0)


def _climb(plan: _Plan) -> Iterator[tuple[str, str]]:
    """Tools with the rung that each goes up to, in the order in which they do."""
    rungs = MAPS[1 : MAPS.index(plan.map) + 1]
    for rung in (*rungs[:1], "note", *rungs[1:]):
        if rung == "note":
            yield from ((tool.name, rung) for tool in plan.tools if tool.name in plan.notes.accepted)
            continue
        below = MAPS[MAPS.index(rung) - 1]
        more = [(len(own.of(rung)) - len(own.of(below)), place) for place, own in enumerate(plan.lines)]
        yield from ((plan.tools[place].name, rung) for _, place in sorted(more))


def _planned(options: Dispatch, parts: Parts) -> _Plan | None:
    """Names, codes, groups and lines of a catalog; None where there is none."""
    alone = options.lines == "names"
    tools = parts.tools.tools
    notes = judge(parts.tools, parts.notes, taken=parts.taken, required=options.require_notes)
    if not tools:
        return None
    named = {tool.name for tool in tools}
    taken = {*named, *parts.taken, *wire_names(named).values(), *(tool.local_name for tool in tools if tool.local_name)}
    groups: Sequence[Group] = ()
    if options.group is not None:
        groups = groups_of(tools, None if isinstance(options.group, str) else options.group, taken)
    call_tool, lookup_tool = parts.pair or _pair(taken | {group.wire_name for group in groups})
    book: Mapping[str, str] = {}
    if options.handles == "codes":
        book = grown(parts.codes, named, {*taken, call_tool, lookup_tool, *(group.wire_name for group in groups)})
    return _Plan(
        options=options, parts=parts, map=options.lines, notes=notes, book=book, groups=groups,
        lines=lines_of(tools, parts.spelling, typed=options.typed, names_alone=alone),
        call_tool="" if groups else call_tool, lookup_tool="" if parts.must_call else lookup_tool,
    )  # fmt: skip


def _pair(taken: set[str]) -> tuple[str, str]:
    """Names of dispatcher and lookup that no tool has."""
    free = next((pair for pair in PAIRS if taken.isdisjoint(pair)), None)
    if free is not None:
        return free
    number = 2
    while not taken.isdisjoint({f"tscg_call_{number}", f"tscg_lookup_{number}"}):
        number += 1
    return f"tscg_call_{number}", f"tscg_lookup_{number}"


# --- what is sent -----------------------------------------------------------------------------------------------------


def _sent(plan: _Plan, maps: Sequence[str], noted: frozenset[str]) -> Sent:
    """What is sent with a map line for each tool, and the notes of some."""
    said = {tool.name: own.of(map) for tool, own, map in zip(plan.tools, plan.lines, maps, strict=True)}
    entries = {tool: _entry(plan, name(tool), line, tool, noted) for tool, line in said.items()}
    live = {plan.book[tool.name] for tool in plan.tools} if plan.book else set()
    sent = Sent(
        wire=_wire(plan), entries=entries, call_tool=plan.call_tool, lookup_tool=plan.lookup_tool,
        codes=plan.book, retired=frozenset(plan.book.values()) - live,
        notes={tool: text for tool, text in plan.notes.accepted.items() if tool in noted},
        refused=plan.notes.refused, warnings=_warnings(plan),
        details=dict(zip((tool.name for tool in plan.tools), maps, strict=True)),
        lookalikes=sum(own.lookalike and map == "names" for own, map in zip(plan.lines, maps, strict=True)),
    )  # fmt: skip
    if plan.groups:
        return _grouped(plan, sent, said, noted, _read(maps))
    text = map_text((tool.server, entries[tool.name]) for tool in plan.tools)
    prompt = "\n".join([_legend(plan, _read(maps)), OPEN, text, CLOSE])
    return replace(sent, prompt=prompt, text=text)


def _entry(plan: _Plan, handle: str, line: str, tool: str, noted: frozenset[str]) -> str:
    """A tool's line, behind its code where it has one, and its note on the next, which begins with a blank."""
    code = f"{plan.book[tool]} " if plan.book else ""
    note = f"\n {prose_line(plan.notes.accepted[tool], plan.parts.spelling.note)}" if tool in noted else ""
    return f"{code}{handle}{line}{note}"


def _read(maps: Sequence[str]) -> str:
    """The map whose legend explains lines of these: lines of several are read as those of ``hybrid``."""
    return maps[0] if len(set(maps)) == 1 else "hybrid"


def _legend(plan: _Plan, map: str) -> str:
    parts = [
        LEGENDS[map].format(call=plan.call_tool),
        CODED if plan.book else "",
        REST.format(lookup=plan.lookup_tool) if plan.lookup_tool else "",
        "You must call a tool." if plan.parts.must_call else "",
        "" if plan.parts.parallel else "Make one call at a time.",
    ]
    return " ".join(part for part in parts if part)


def _wire(plan: _Plan) -> tuple[dict[str, Any], ...]:
    """The dispatcher and the lookup: the same whatever the catalog holds."""
    parameters = {
        "type": "object",
        "properties": {"tool": {"type": "string"}, "args": _arguments(plan.options)},
        "required": ["tool", "args"],
    }
    call = {"name": plan.call_tool, "description": "Calls a tool of the list", "parameters": parameters}
    return (*([call] if plan.call_tool else []), *_lookup(plan))


def _arguments(options: Dispatch) -> dict[str, Any]:
    if options.arguments == "json":
        return {"type": "string", "description": "JSON object"}
    return {"type": "object"}


def _lookup(plan: _Plan) -> list[dict[str, Any]]:
    if not plan.lookup_tool:
        return []
    properties = {"tools": {"type": "array", "items": {"type": "string"}}, "query": {"type": "string"}}
    return [
        {
            "name": plan.lookup_tool,
            "description": "Shows tools in full, by name or by words",
            "parameters": {"type": "object", "properties": properties},
        }
    ]


def _grouped(plan: _Plan, sent: Sent, said: Mapping[str, str], noted: frozenset[str], map: str) -> Sent:
    """One wire tool for each namespace, with its lines in the description."""
    wire: list[dict[str, Any]] = []
    entries: dict[str, str] = {}
    for group in plan.groups:
        for operation, tool in group.operations.items():
            entries[tool] = _entry(plan, name(operation), said[tool], tool, noted)
        head = [] if wire else [OPERATIONS[map]]
        lines = [entries[tool] for tool in group.operations.values()]
        properties = {
            "op": {"type": "string", "enum": list(group.operations)},
            "args": _arguments(plan.options),
        }
        wire.append(
            {
                "name": group.wire_name,
                "description": "\n".join([*head, *lines]),
                "parameters": {"type": "object", "properties": properties, "required": ["op", "args"]},
            }
        )
    groups = {group.wire_name: dict(group.operations) for group in plan.groups}
    return replace(sent, wire=(*wire, *_lookup(plan)), entries=entries, groups=groups)


def _warnings(plan: _Plan) -> tuple[str, ...]:
    notes = plan.notes
    out = [f"the note of {tool} is refused: {reason}" for tool, reason in notes.refused.items()]
    if plan.parts.notes and notes.missing:
        out.append(f"{len(notes.missing)} of {len(plan.tools)} tools have no note")
    return tuple(out)
