"""CrewAI's ReAct prompt: its list of tools, written anew in the catalog language."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from crewai.utilities.string_utils import sanitize_tool_name

import tscg
from crewai_tscg.convert import CrewTool, Toolset, named, relaxed
from tscg.modes.text import LEGEND

__all__ = ["BEGIN", "END", "Rewritten", "rewritten"]

# The texts around the list in CrewAI 1.15 (`slices.tools` and `lite_agent_system_prompt_with_tools` of its prompts).
# They are no interface: a test fails when they move.
BEGIN = "tools that are not listed here:"
END = "IMPORTANT: Use the following format"
ENTRY = re.compile(r"Tool Name: ([^\n]*)\nTool Arguments: ")
DESCRIPTION = "\nTool Description: "
NEXT = re.compile(r"\n(?=Tool Name: [^\n]*\nTool Arguments: \{)")
UNREAD = "the list of tools in the prompt was not recognised, and is sent as it is"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewritten:
    """A conversation with the list of tools in the catalog language, and what that did."""

    messages: list[dict[str, Any]]
    report: tscg.CompressionReport


def rewritten(
    messages: Sequence[Mapping[str, Any]], sources: Iterable[Iterable[Any]], check: Callable[[Toolset], None],
    compiled: Callable[[Toolset], tscg.CompiledCatalog],
) -> Rewritten | None:  # fmt: skip
    """The messages with each list of tools written anew; None where no message has one.

    ``sources`` are lists of tools of agents, from which the schemas are taken; ``check`` is given the tools of each
    list, ``compiled`` compiles in text mode.
    """
    known = [{sanitize_tool_name(tool.name): tool for tool in tools} for tools in sources]
    out, report = list(map(dict, messages)), tscg.CompressionReport()
    for message in out:
        block = _block(message.get("content"))
        if block is None:
            continue
        tools = _tools(block, known)
        if tools is None:
            report += tscg.CompressionReport(mode="react", reason=UNREAD, requests=1, rounds=1)
            continue
        check(Toolset(tools))
        # The name is the one that must stand behind "Action:".
        catalog = compiled(Toolset(replace(tool, name=tool.key) for tool in tools))
        written = f"{LEGEND}\n{catalog.text}"
        message["content"] = message["content"].replace(block, f"\n\n{written}\n\n", 1)
        report += _report(catalog, block.strip(), written)
    return Rewritten(messages=out, report=report) if report.rounds else None


def _block(content: Any) -> str | None:
    """The list of tools in a text, with the blank lines around it."""
    if not isinstance(content, str) or BEGIN not in content:
        return None
    rest = content.partition(BEGIN)[2]
    return rest.partition(END)[0] if END in rest else rest


def _tools(block: str, known: Sequence[Mapping[str, Any]]) -> list[CrewTool] | None:
    """The tools of a list; None if one of its entries is not as CrewAI writes them."""
    found = [_entry(entry) for entry in NEXT.split(block.strip())]
    tools: dict[str, CrewTool] = {}
    for one in found:
        if one is None or one.key in tools:  # of two tools of one name CrewAI runs the last
            return None
        tool = next((names[one.key] for names in known if one.key in names), None)
        tools[one.key] = one if tool is None else named(one.key, tool)
    return list(tools.values())


def _entry(text: str) -> CrewTool | None:
    head = ENTRY.match(text)
    if head is None:
        return None
    try:
        schema, end = json.JSONDecoder().raw_decode(text, head.end())
    except ValueError:
        return None
    if not isinstance(schema, dict) or not text.startswith(DESCRIPTION, end):
        return None
    description = text[end + len(DESCRIPTION) :]
    return CrewTool(key=head[1], name=head[1], description=description, parameters=relaxed(schema))


def _report(compiled: tscg.CompiledCatalog, before: str, after: str) -> tscg.CompressionReport:
    """What the new list saves against the one that CrewAI wrote."""
    count = compiled.tokenizer.count
    plain, sent = count(before), count(after)
    return replace(
        tscg.CompressionReport.of(compiled), mode="react", tokens=sent, baseline_tokens=plain, sent_tokens=sent,
        plain_tokens=plain, requests=1, rounds=1,
    )  # fmt: skip
