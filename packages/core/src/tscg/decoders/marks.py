"""Markers of all dialects, as one expression: to make them harmless in a text that is no call."""

from __future__ import annotations

import re
from functools import cache

from tscg.decoders.rows import NOISE, REASONING, ROWS

__all__ = ["marks", "neutralise"]

# Beside what the rows hold: fronts of markers, markers of results, and tokens of chat templates.
MORE = (
    "<tool_call",
    "</tool_call",
    "<function_call",
    "</function_call",
    "<|tool_call",
    "<|/tool_call",
    "<TOOLCALL",
    "</TOOLCALL",
    "<tool_response",
    "</tool_response",
    "<|tool_response",
    "<|/tool_response",
    "<|START_TOOL_RESULT|>",
    "<|END_TOOL_RESULT|>",
    "<tool_result",
    "</tool_result",
    "<function_results",
    "</function_results",
    "<tools>",
    "</tools>",
    "[ARGS]",
    "[CALL_ID]",
    "[TOOL_RESULTS]",
    "[/TOOL_RESULTS]",
    "[AVAILABLE_TOOLS]",
    "<function=",
    "</function",
    "<parameter=",
    "</parameter",
    "<invoke",
    "</invoke",
    "<arg_key",
    "</arg_key",
    "<arg_value",
    "</arg_value",
    "<|start|>",
    "<|message|>",
    "<|constrain|>",
    "<|im_start|>",
    "<｜tool",
    "<｜DSML｜",
    "<|plugin|>",
    "<|content|>",
    "```tool_code",
    "<reasoning>",
    "</reasoning>",
)
# These count at the start of a line.
LINES = ("Action:", "Action Input:", "ActionInput:", "Observation:", ">>>")
PREFIXED = r"</?[A-Za-z][\w.-]{0,32}:(?:invoke|parameter|function_calls)"


def marks() -> tuple[str, ...]:
    """All literal markers but those that count at the start of a line only."""
    rows = [mark for row in ROWS for mark in (*row.openers, *row.closers) if not mark.startswith("\n")]
    return tuple(dict.fromkeys((*rows, *NOISE, *REASONING, *REASONING.values(), *MORE)))


@cache
def _pattern() -> re.Pattern[str]:
    from tscg.decoders.tape import trie

    return re.compile(f"{trie(marks())}|{PREFIXED}|^[ \\t]*{trie(LINES)}", re.IGNORECASE | re.MULTILINE)


def neutralise(text: str) -> str:
    """The text with the first character of every marker written as an escape.

    >>> neutralise("see <tool_call> and <b>")
    'see \\\\u003ctool_call> and <b>'
    """

    def escape(match: re.Match[str]) -> str:
        found = match.group()
        body = found.lstrip(" \t")
        return f"{found[: len(found) - len(body)]}\\u{ord(body[0]):04x}{body[1:]}"

    return _pattern().sub(escape, text)
