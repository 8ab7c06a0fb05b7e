"""The command ``tscg bench``: run, resume, compare, report."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from tscg import ConfigError
from tscg.console import note, write, write_json
from tscg_bench.catalogs import Collections, Contexts, collections_of
from tscg_bench.conditions import DEFAULT, condition_of
from tscg_bench.sampling import Sampling
from tscg_bench.tasks import SCENARIOS, Task, load_tasks, read_tasks

if TYPE_CHECKING:
    from tscg_bench.harness import Plan
    from tscg_bench.logs import Run

__all__ = ["main"]

SETTINGS = "tab.json"
"""What a run was started with, beside its logs: ``resume`` goes on with just that."""


def main(arguments: Sequence[str]) -> int:
    """Run the command; 0, or 1 where something was left undone."""
    if "--usage" in arguments:
        from tscg_bench import usage

        return usage.main([one for one in arguments if one != "--usage"])
    options = _parser().parse_args(list(arguments))
    if options.action == "resume":
        kept = _settings(options.folder)
        return _run(_parser().parse_args(kept), options.folder, kept)
    if options.action == "run":
        return _run(options, Path(options.log_dir), list(arguments))
    if options.action == "compare":
        from tscg_bench.report import compare_runs

        write(compare_runs(_read(options.first), _read(options.second)))
        return 0
    _report(_read(options.folder), options)
    return 0


# --- run and resume ---------------------------------------------------------------------------------------------------


def _run(options: argparse.Namespace, folder: Path, arguments: list[str]) -> int:
    for name in options.condition:
        condition_of(name)  # a wrong name is told before the work
    from tscg_bench.bridge import model_for
    from tscg_bench.harness import run

    sampling = Sampling(
        temperature=options.temperature, seed=options.seed, max_tokens=options.max_tokens, num_ctx=options.num_ctx
    )
    plans = list(_plans(options, sampling))
    model = model_for(options.model, base_url=options.base_url, threads=options.threads, sampling=sampling)
    _keep(folder, arguments)
    sizes = [len(plan.tasks) for plan in plans for _ in plan.all_conditions()]
    note(f"{sum(sizes)} tasks in {len(sizes)} cells; logs in {folder}", "bench")
    done, _ = run(plans, model, folder, display=options.display, max_connections=options.max_connections)
    _report(_read(folder), options)
    if not done:
        note(f"some tasks failed; tscg bench resume {folder} tries them again", "bench")
    return 0 if done else 1


def _plans(options: argparse.Namespace, sampling: Sampling) -> Iterator[Plan]:
    from tscg_bench.harness import Plan

    for label, tasks, collections, size in _asked(options):
        chosen = _limited(tasks, options.limit)
        yield Plan(
            label=label, tasks=chosen, contexts=Contexts(collections, size=size, seed=options.seed),
            conditions=tuple(options.condition) or DEFAULT, controls=options.controls, sampling=sampling,
            tokenizer=options.tokenizer,
        )  # fmt: skip


def _asked(options: argparse.Namespace) -> Iterator[tuple[str, Sequence[Task], Collections, int | None]]:
    """Label, tasks, tools and size of each plan."""
    collections = collections_of(options.catalog)
    sizes: list[int | None] = options.size or [None]
    sets: list[tuple[str, Sequence[Task]]]
    sets = [(name, _answerable(load_tasks(name), collections)) for name in options.scenario]
    if options.tasks:
        sets.append((Path(options.tasks).stem, _answerable(read_tasks(options.tasks), collections)))
    if options.bfcl:
        from tscg_bench.bfcl import CATEGORIES, load_bfcl, pool_of, unsound

        found = load_bfcl(options.bfcl, options.bfcl_category or CATEGORIES)
        refused = set(unsound(found))
        if refused:
            note(f"{len(refused)} BFCL tasks are left out: their own functions refuse the accepted answer", "bench")
        sets.append(("BFCL", tuple(task for task in found if task.id not in refused)))
        collections = {**collections, "bfcl": pool_of(load_bfcl(options.bfcl))}
    if not sets:
        raise ConfigError("nothing to ask", hint="give --scenario, --bfcl or --tasks")
    for name, tasks in sets:
        for size in sizes:
            fitting = [task for task in tasks if size is None or _needed(task) <= size]
            yield name if size is None else f"{name}@{size}", fitting, collections, size


def _needed(task: Task) -> int:
    return len(task.functions) or len(task.tools)


def _answerable(tasks: Sequence[Task], collections: Collections) -> list[Task]:
    """Tasks whose tools are given: those of B name catalogs of real servers, which come by path."""
    found = [task for task in tasks if not task.collection or task.collection in collections]
    if len(found) < len(tasks):
        missing = sorted({task.collection for task in tasks} - {"", *collections})
        note(f"{len(tasks) - len(found)} tasks need catalogs that are not given: {', '.join(missing)}", "bench")
    return found


def _limited(tasks: Sequence[Task], limit: int | None) -> Sequence[Task]:
    """So many tasks, spread evenly: the files are in order of category."""
    if limit is None or limit >= len(tasks):
        return tasks
    return [tasks[place * len(tasks) // limit] for place in range(limit)]


def _keep(folder: Path, arguments: list[str]) -> None:
    """The arguments beside the logs. ConfigError where a run with others is there: their figures would be mixed."""
    path = folder / SETTINGS
    if path.exists() and _settings(folder) != arguments:
        raise ConfigError(f"{folder} holds another run", hint=f"tscg bench resume {folder}, or give another --log-dir")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(arguments) + "\n", encoding="utf-8")


def _settings(folder: Path) -> list[str]:
    path = Path(folder) / SETTINGS
    if not path.is_file():
        raise ConfigError(f"{folder} holds no run of tscg bench")
    found: list[str] = json.loads(path.read_text(encoding="utf-8"))
    return found


# --- report -----------------------------------------------------------------------------------------------------------


def _read(folder: str | Path) -> Run:
    from tscg_bench.logs import read_run

    return read_run(folder)


def _report(run: Run, options: argparse.Namespace) -> None:
    from tscg_bench.page import page
    from tscg_bench.report import as_dict, markdown

    if options.html:
        Path(options.html).write_text(page(run), encoding="utf-8")
    if options.markdown:
        Path(options.markdown).write_text(markdown(run), encoding="utf-8")
    if options.json:
        write_json(as_dict(run))
    elif not (options.html or options.markdown):
        write(markdown(run))


# --- options ----------------------------------------------------------------------------------------------------------


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise ConfigError(message, hint="see tscg bench --help")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="tscg bench", description="Measure how well a model calls tools, by what is put before it.",
        epilog="tscg bench --usage CATALOG --model M compares text tokens with those that a provider bills. Inspect's "
        "own viewer opens the logs: inspect view --log-dir FOLDER.",
    )  # fmt: skip
    actions = parser.add_subparsers(dest="action", required=True, parser_class=_Parser)
    _run_options(actions.add_parser("run", help="run tasks in conditions, or go on with the same run"))
    resume = actions.add_parser("resume", help="go on with a run that was stopped")
    resume.add_argument("folder", type=Path, metavar="FOLDER")
    compare = actions.add_parser("compare", help="compare two runs task by task")
    compare.add_argument("first", metavar="FOLDER")
    compare.add_argument("second", metavar="OTHER")
    report = actions.add_parser("report", help="tables and page of a run")
    report.add_argument("folder", metavar="FOLDER")
    _outputs(report)
    return parser


def _run_options(run: argparse.ArgumentParser) -> None:
    run.add_argument(
        "--model", required=True, help="PROVIDER/NAME as Inspect has it, openai:NAME or ollama:NAME with --base-url, "
        "a .gguf file, or oracle/right, wrong, blind, breaking"
    )  # fmt: skip
    run.add_argument("--base-url", help="where openai:NAME or ollama:NAME is served")
    run.add_argument("--scenario", type=_scenarios, default=[], metavar="A,B", help="of A to F")
    run.add_argument(
        "--size", type=_numbers, default=[], metavar="N,N", help="tools in one context; several give a curve"
    )
    run.add_argument(
        "--catalog", action="append", default=[], metavar="FILE", help="tools of a real server; repeatable"
    )
    run.add_argument("--tasks", metavar="FILE", help="tasks of one's own, a JSON object a line")
    run.add_argument("--bfcl", metavar="PATH", help="BFCL: folder with tasks/ and gold/, or the wheel of bfcl-eval")
    run.add_argument("--bfcl-category", type=_names, default=[], metavar="NAME,NAME", help="of BFCL's; all by default")
    run.add_argument("--condition", type=_names, default=[], metavar="NAME,NAME", help=f"default: {', '.join(DEFAULT)}")
    run.add_argument("--no-controls", dest="controls", action="store_false", help="leave out the controls")
    run.add_argument("--limit", type=int, metavar="N", help="at most so many tasks of each scenario, spread evenly")
    run.add_argument("--log-dir", default="tab-logs", metavar="FOLDER", help="default: %(default)s")
    run.add_argument("--seed", type=int, default=0, help="of the choice of tools, and sent with each request")
    run.add_argument("--temperature", type=float, default=0.0)
    run.add_argument("--max-tokens", type=int, default=1024, help="of one answer")
    run.add_argument("--num-ctx", type=int, help="context that a local server shall open")
    run.add_argument("--threads", type=int, help="of a .gguf file; all cores by default")
    run.add_argument("--max-connections", type=int, default=10, help="requests at a time")
    run.add_argument("--tokenizer", help="counts the catalog: an encoding, or the path of a tokenizer.json")
    run.add_argument("--display", default="none", help="of Inspect: full, rich, plain, log, none")
    _outputs(run)


def _outputs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--html", metavar="FILE", help="write one page that needs nothing else")
    parser.add_argument("--markdown", metavar="FILE")
    parser.add_argument("--json", action="store_true", help="print JSON")


def _names(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _numbers(text: str) -> list[int]:
    return [int(part) for part in _names(text)]


def _scenarios(text: str) -> list[str]:
    found = [name.upper() for name in _names(text)]
    if unknown := [name for name in found if name not in SCENARIOS]:
        raise argparse.ArgumentTypeError(f"unknown scenario {unknown[0]!r}, there are {', '.join(SCENARIOS)}")
    return found
