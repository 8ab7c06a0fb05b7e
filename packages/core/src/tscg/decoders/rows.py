"""The dialects of text as data: what opens a call, what closes it, which reader reads the body.

Reading is one pass from left to right: the earliest opener wins, and its reader decides where the body ends, so that a
marker inside a string is text.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["NOISE", "REASONING", "ROWS", "Row", "by_id"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One dialect.

    ``openers`` and ``closers`` are literal markers (an opener that starts with a line break counts at the start of a
    line only); ``reader`` names the function of the body; ``unclosed`` says that the closer is often not in the text,
    so that its absence is no repair; ``families`` are models that write it unasked. All openers say "call"; calls
    without a marker are in :mod:`tscg.decoders.candidates`.
    """

    id: str
    openers: tuple[str, ...] = ()
    closers: tuple[str, ...] = ()
    reader: str = "objects"
    unclosed: bool = False
    families: tuple[str, ...] = ()


ROWS = (
    Row(
        id="tool_call",
        openers=("<tool_call>", "<tool_calls>", "<function_call>", "<TOOLCALL>"),
        closers=("</tool_call>", "</tool_calls>", "</function_call>", "</TOOLCALL>"),
        families=("qwen", "hermes", "glm", "nemotron"),
    ),
    Row(
        id="tool_call",
        openers=("<|tool_call|>",),
        closers=("<|/tool_call|>",),
        unclosed=True,
        families=("granite", "phi"),
    ),
    Row(
        id="mistral",
        openers=("[TOOL_CALLS]",),
        closers=("[/TOOL_CALLS]",),
        reader="mistral",
        unclosed=True,
        families=("mistral",),
    ),
    Row(
        id="llama",
        openers=("<|python_tag|>",),
        closers=("<|eom_id|>", "<|eot_id|>"),
        unclosed=True,
        families=("llama",),
    ),
    Row(
        id="harmony",
        openers=("<|start|>assistant", "<|channel|>"),
        closers=("<|call|>", "<|end|>", "<|return|>"),
        reader="harmony",
        unclosed=True,
        families=("gpt-oss",),
    ),
    Row(
        id="deepseek",
        openers=("<｜tool▁call▁begin｜>", "<｜tool▁calls▁begin｜>", "<｜tool▁calls▁section▁begin｜>"),
        closers=("<｜tool▁call▁end｜>", "<｜tool▁calls▁end｜>"),
        reader="deepseek",
        families=("deepseek",),
    ),
    Row(
        id="kimi",
        openers=("<|tool_call_begin|>", "<|tool_calls_section_begin|>"),
        closers=("<|tool_call_end|>", "<|tool_calls_section_end|>"),
        reader="kimi",
        families=("kimi",),
    ),
    Row(id="cohere", openers=("<|START_ACTION|>",), closers=("<|END_ACTION|>",), families=("command",)),
    Row(
        id="internlm",
        openers=("<|action_start|><|plugin|>", "<|action_start|> <|plugin|>"),
        closers=("<|action_end|>",),
        families=("internlm",),
    ),
    Row(
        id="functionary",
        openers=("<|recipient|>",),
        closers=("<|stop|>",),
        reader="recipient",
        unclosed=True,
        families=("functionary",),
    ),
    Row(id="functionary", openers=("\n>>>",), reader="arrows", unclosed=True, families=("functionary",)),
    Row(id="calling", openers=("[Calling tool:",), reader="calling"),
    Row(
        id="pythonic",
        openers=("<|tool_call_start|>", "<|python_start|>"),
        closers=("<|tool_call_end|>", "<|python_end|>"),
        reader="python",
        families=("lfm2", "llama-4"),
    ),
    Row(id="react", openers=("\nAction:",), reader="react", unclosed=True),
    Row(
        id="xml",
        openers=("<function=",),
        closers=("</function>",),
        reader="function",
        families=("qwen3-coder", "llama"),
    ),
    Row(
        id="xml",
        openers=("<invoke name=", "<｜DSML｜invoke name="),
        closers=("</invoke>", "</｜DSML｜invoke>"),
        reader="invoke",
    ),
)

# What surrounds calls and says nothing by itself: it leaves the text.
NOISE = (
    "<function_calls>",
    "</function_calls>",
    "<｜DSML｜function_calls>",
    "</｜DSML｜function_calls>",
    "</parameter>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|call|>",
    "<|end|>",
    "<|return|>",
    "<|stop|>",
    "<|tool_calls_section_end|>",
    "<｜tool▁calls▁end｜>",
    "<｜end▁of▁sentence｜>",
    "<|endoftext|>",
    "[/TOOL_CALLS]",
    "<|START_RESPONSE|>",
    "<|END_RESPONSE|>",
)

# Spans of reasoning: opener to closers.
REASONING = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "[THINK]": "[/THINK]",
    "<|START_THINKING|>": "<|END_THINKING|>",
    "◁think▷": "◁/think▷",
}


def by_id(name: str) -> Row:
    """The first row of a dialect; raises :class:`tscg.ConfigError` for an unknown one.

    >>> by_id("tool_call").closers[0]
    '</tool_call>'
    """
    from tscg.errors import ConfigError

    for row in ROWS:
        if row.id == name:
            return row
    raise ConfigError(f"unknown dialect {name!r}", allowed=tuple(dict.fromkeys(row.id for row in ROWS)))
