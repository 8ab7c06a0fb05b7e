"""The options of ``tscg tune``, what it shows before it starts, and what it writes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import NoReturn

from tscg import Catalog, ConfigError
from tscg.console import note, write, write_json
from tscg.demo.models import ChatModel
from tscg.sources import read_source, source_of
from tscg_bench.tasks import Task, read_tasks
from tscg_bench.tune import MODES, STAGES, Plan, Tuning, plan_of, tune
from tscg_bench.tune_models import model_of
from tscg_bench.tune_report import as_dict, found_line, report_lines
from tscg_bench.tune_run import Log, Runner, attempter_of
from tscg_bench.tune_tasks import make_tasks
from tscg_bench.tune_write import TunedRow, write_row

__all__ = ["price", "run"]

TASKS = 120


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(message, hint="see tscg tune --help")


def _parser() -> _Parser:
    parser = _Parser(prog="tscg tune", description="Find the mode, profile and operators of a model on a catalog.")
    parser.add_argument("catalog", nargs="?", metavar="CATALOG", help="JSON file with tools; - is standard input")
    parser.add_argument("--mcp", metavar="COMMAND", help="read the tools of the MCP server that this starts")
    parser.add_argument("--url", help="read the tools of an MCP server over HTTP")
    parser.add_argument(
        "--model", required=True, help="PROVIDER/NAME as Inspect has it, openai:NAME, ollama:NAME, or a .gguf file"
    )
    parser.add_argument("--base-url", help="where openai:NAME or ollama:NAME is served")
    parser.add_argument("--modes", help=f"of {', '.join(MODES)}; by default those that the model's row allows")
    parser.add_argument("--stages", default=",".join(STAGES), help="of modes, levels, operators; by default all")
    parser.add_argument("--tasks", type=int, default=TASKS, help="how many tasks are made (default: %(default)s)")
    parser.add_argument("--given", type=Path, metavar="FILE", help="tasks of one's own, a JSON object a line")
    parser.add_argument("--seed", type=int, default=0, help="of the tasks and of their halves")
    parser.add_argument("--tokenizer", help="an encoding, or the path of a tokenizer.json")
    parser.add_argument("--parallel", type=int, default=1, help="requests at a time (default: 1)")
    parser.add_argument("--log", type=Path, default=Path("tscg-tune.jsonl"), help="what it resumes from")
    parser.add_argument("--out", type=Path, default=Path("tscg.toml"), help="the policy file (default: %(default)s)")
    parser.add_argument("--yes", action="store_true", help="start without asking")
    parser.add_argument("--json", action="store_true", help="print JSON")
    return parser


def run(arguments: Sequence[str]) -> int:
    """The whole command."""
    options = _parser().parse_args(arguments)
    if options.parallel < 1 or options.tasks < 1:
        raise ConfigError("--parallel and --tasks are 1 or more")
    catalog = Catalog.from_tools(read_source(source_of(options.catalog, options.mcp, options.url)))
    model = model_of(options.model, base_url=options.base_url)
    tasks = _given(options.given) if options.given else make_tasks(catalog, options.tasks, seed=options.seed)
    name = model.catalog_model or options.model
    plan = plan_of(
        catalog, tasks, model=name, modes=_listed(options.modes), stages=_listed(options.stages), seed=options.seed,
        tokenizer=options.tokenizer,
    )  # fmt: skip
    log = Log(options.log)
    for line in plan_lines(plan, options.model, len(log.scores)):
        note(line)
    if not options.yes and not _agreed():
        note("nothing was sent; --yes starts without asking")
        return 0
    runner = Runner(attempt=attempter_of(model), model=name, log=log, parallel=options.parallel, told=note)
    result = tune(plan, runner)
    _tell(result, runner, as_json=options.json)
    if result.confirmed:
        write_row(options.out, _row(result, plan, model))
        note(f"written to {options.out}: give it as tscg.Policy.load({str(options.out)!r})")
    else:
        note(f"{options.out} was left as it is")
    return 0


def plan_lines(plan: Plan, model: str, known: int) -> list[str]:
    """What is about to be done, and what it costs."""
    cost = price(model, plan.input_tokens, plan.output_tokens)
    money = "the price of the model is not known" if cost is None else f"about {cost:.2f} US dollars"
    return [
        f"{model} on {len(plan.catalog)} tools: {', '.join(plan.stages)}",
        *([f"modes: {', '.join(plan.modes)}"] if "modes" in plan.stages else []),
        f"{len(plan.tasks)} tasks to choose on, {len(plan.held_out)} held out",
        f"about {plan.attempts:,} attempts, a request each or more where tools are looked up or calls repaired",
        f"about {plan.input_tokens:,} tokens in and {plan.output_tokens:,} out: {money}",
        *([f"{known:,} attempts are in the log"] if known else []),
    ]


def price(model: str, input_tokens: int, output_tokens: int) -> float | None:
    """US dollars, 0 for a model of this machine, None where no price is known.

    >>> price("model.gguf", 1_000, 10), price("nobody/nothing-of-that-name", 1_000, 10)
    (0.0, None)
    """
    if model.endswith(".gguf") or model.startswith("ollama"):
        return 0.0
    try:
        from genai_prices import Usage, calc_price
    except ImportError:
        return None
    provider, _, name = model.replace(":", "/", 1).partition("/")
    try:
        found = calc_price(Usage(input_tokens=input_tokens, output_tokens=output_tokens), name, provider_id=provider)
    except LookupError:
        return None
    return float(found.total_price)


def _given(path: Path) -> tuple[Task, ...]:
    try:
        return read_tasks(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path} cannot be read: {error}") from error


def _listed(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())


def _agreed() -> bool:
    if not sys.stdin.isatty():
        return False
    sys.stderr.write("start? [y/N] ")
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _tell(result: Tuning, runner: Runner, *, as_json: bool) -> None:
    if as_json:
        write_json({**as_dict(result), "attempts": runner.made, "failed": runner.failed})
        return
    for line in report_lines(result):
        write(line)
    if runner.failed:
        write(f"{runner.failed} requests failed and are not counted")


def _row(result: Tuning, plan: Plan, model: ChatModel) -> TunedRow:
    source = (
        f"tscg tune, {len(plan.catalog)} tools, exact calls on {len(plan.held_out)} held-out tasks, "
        f"against {result.reference.name}"
    )
    found = [f"archetype: {result.archetype}", *map(found_line, result.found)] if result.found else []
    return TunedRow(
        model=model.catalog_model or model.label, arm=result.winner, source=source, date=date.today().isoformat(),
        comparison=result.confirmation,
        notes=(f"{model.label}; chosen on {result.n} tasks", *found),
    )  # fmt: skip
