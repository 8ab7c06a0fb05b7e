"""Call syntaxes that a prompt teaches, one row each, and what the prompt says about calling."""

from __future__ import annotations

from tscg.record import Record

__all__ = ["TAUGHT", "Taught", "how_to_call"]


class Taught(Record):
    """How a dialect is taught: only dialects whose arguments are JSON, since only there their end is decidable.

    ``answer`` stands around a result; ``escaped`` is how a literal ``closer`` is written inside a string, where it
    needs to be (a server's own parser or a stop string would end the call there).
    """

    opener: str
    closer: str
    answer: tuple[str, str]
    name: str = "name"
    arguments: str = "arguments"
    escaped: str = ""


TAUGHT: dict[str, Taught] = {
    "tool_call": Taught(
        opener="<tool_call>",
        closer="</tool_call>",
        answer=("<tool_response>", "</tool_response>"),
        escaped="\\u003c/tool_call>",
    ),
    "mistral": Taught(opener="[TOOL_CALLS][", closer="]", answer=("[TOOL_RESULTS]", "[/TOOL_RESULTS]")),
    "llama": Taught(
        opener="<|python_tag|>", closer="", answer=("<tool_response>", "</tool_response>"), arguments="parameters"
    ),
}


def how_to_call(dialect: str, *, must_call: bool = False, parallel: bool = True, short: bool = False) -> str:
    """What the prompt says about calling: at most 70 tokens. ``short`` is the syntax alone, for an error.

    >>> how_to_call("tool_call", short=True)
    'Write calls as they were shown: a name and an object of arguments, as JSON.'
    """
    row = TAUGHT.get(dialect)
    if short or row is None:
        return "Write calls as they were shown: a name and an object of arguments, as JSON."
    form = f'{row.opener}{{"{row.name}":"NAME","{row.arguments}":{{...}}}}{row.closer}'
    lines = [f"To call a tool, write {form}"]
    if row.escaped:
        lines.append(f"Inside strings write {row.escaped} for {row.closer}.")
    lines.append("Several in a row run in parallel." if parallel else "Make one call at a time.")
    lines.append(f"Results come in {row.answer[0]}.")
    if must_call:
        lines.append("You must call a tool.")
    return "\n".join([lines[0], " ".join(lines[1:])])
