"""``tscg bench --usage``: what a provider bills for a catalog, beside what its text takes.

A provider renders a tools field in a form of its own before it counts, so the tokens of its JSON are not what is
billed: savings in text and savings on the bill differ. Here each condition is sent once with a short question, and the
provider says how many tokens the prompt had. What the same question takes without any tools is taken off.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NoReturn

from tscg import Catalog, ConfigError
from tscg.console import note, write, write_json
from tscg.demo.models import ChatModel, Message, ModelError
from tscg.sources import read_source, source_of
from tscg.stats import tokens_of
from tscg_bench.conditions import Prepared, condition_of
from tscg_bench.local import LocalModel
from tscg_bench.tune_models import InspectModel, model_of

__all__ = ["CONDITIONS", "Usage", "main", "measure_usage", "usage_table"]

CONDITIONS = ("native", "json", "native/balanced", "native/brief", "text/lossless", "text/balanced", "dispatch/hybrid")
"""The first is the baseline: the tools as they are, in the provider's own tools field."""
FEW = 16  # tokens of an answer: what it says does not matter
QUESTION = "Answer with the single word OK and call no tool."


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """One condition: ``text`` counts what is sent, as our tokenizer reads it; ``billed`` is what the provider counts.

    ``failure`` says why there is no count.
    """

    condition: str
    text: int
    billed: int | None = None
    failure: str = ""

    def saved(self, baseline: Usage) -> tuple[float | None, float | None]:
        """Shares saved against a baseline: in text, and on the bill.

        >>> Usage(condition="b", text=50, billed=90).saved(Usage(condition="a", text=100, billed=100))
        (0.5, 0.1)
        """
        return _saved(self.text, baseline.text), _saved(self.billed, baseline.billed)


def measure_usage(
    model: ChatModel, catalog: Catalog, conditions: Sequence[str] = CONDITIONS, *, tokenizer: object = None
) -> tuple[Usage, ...]:
    """One request for each condition, and one without tools. ModelError where the provider counts nothing."""
    if isinstance(model, LocalModel | InspectModel):
        model = replace(model, most_tokens=FEW)
    empty = _billed(model, [_asked(QUESTION)], [])
    name = model.catalog_model
    prepared = [condition_of(one).prepare(catalog, model=name, tokenizer=tokenizer) for one in conditions]
    return tuple(_measured(model, one, empty) for one in prepared)


def usage_table(rows: Sequence[Usage]) -> str:
    """A Markdown table; the first row is the baseline of both savings."""
    lines = ["| what is sent | text tokens | saved | billed tokens | saved |", "|---|--:|--:|--:|--:|"]
    for row in rows:
        text, billed = row.saved(rows[0])
        told = row.failure if row.billed is None else f"{row.billed:,}"
        lines.append(f"| {row.condition} | {row.text:,} | {_percent(text)} | {told} | {_percent(billed)} |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command, given what stands behind ``--usage``; 0, or 1 where a condition has no count."""
    options = _parser().parse_args(sys.argv[1:] if arguments is None else list(arguments))
    catalog = Catalog.from_tools(read_source(source_of(options.catalog, options.mcp, options.url)))
    conditions = tuple(part for part in options.conditions.split(",") if part)
    for name in conditions:
        condition_of(name)
    model = model_of(options.model, base_url=options.base_url)
    note(f"{model.label}: {len(conditions) + 1} requests for {len(catalog)} tools")
    rows = measure_usage(model, catalog, conditions, tokenizer=options.tokenizer)
    if options.json:
        write_json([_as_dict(row, rows[0]) for row in rows])
    else:
        write(usage_table(rows))
    return int(any(row.billed is None for row in rows))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(message, hint="see tscg bench --usage --help")


def _parser() -> _Parser:
    parser = _Parser(prog="tscg bench --usage", description="Tokens that a provider bills, beside those of the text.")
    parser.add_argument("catalog", nargs="?", metavar="CATALOG", help="JSON file with tools; - is standard input")
    parser.add_argument("--mcp", metavar="COMMAND", help="read the tools of the MCP server that this starts")
    parser.add_argument("--url", help="read the tools of an MCP server over HTTP")
    parser.add_argument("--model", required=True, help="as in tscg tune")
    parser.add_argument("--base-url", help="where openai:NAME or ollama:NAME is served")
    parser.add_argument(
        "--conditions", default=",".join(CONDITIONS), help="separated by commas; the first is the baseline"
    )
    parser.add_argument("--tokenizer", help="counts the text: an encoding, or the path of a tokenizer.json")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def _measured(model: ChatModel, prepared: Prepared, empty: int) -> Usage:
    text = tokens_of(prepared.system, prepared.wire_tools, prepared.compiled.tokenizer)
    row = Usage(condition=prepared.name, text=text)
    messages: list[Message] = [_asked(QUESTION)]
    if prepared.system:
        messages.insert(0, {"role": "system", "content": prepared.system})
    tools = [{"type": "function", "function": tool} for tool in prepared.wire_tools]
    try:
        return replace(row, billed=_billed(model, messages, tools) - empty)
    except ModelError as error:
        return replace(row, failure=str(error))


def _billed(model: ChatModel, messages: Sequence[Message], tools: Sequence[Message]) -> int:
    answer = model.answer(messages, tools)
    if answer.input_tokens is None:
        raise ModelError(f"{model.label} does not say how many tokens the prompt had")
    return answer.input_tokens


def _asked(text: str) -> Message:
    return {"role": "user", "content": text}


def _saved(tokens: int | None, baseline: int | None) -> float | None:
    return None if tokens is None or not baseline else round(1 - tokens / baseline, 6)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _as_dict(row: Usage, baseline: Usage) -> dict[str, Any]:
    text, billed = row.saved(baseline)
    return {**asdict(row), "saved_text": text, "saved_billed": billed}
