"""Every mode and profile beside JSON and other packages: tokens, constraints found again, times. One Markdown table.

    python -m benchmarks.peers                           # the 43 tools of the demo
    python -m benchmarks.peers FILE_OR_FOLDER...         # catalogs of one's own, added up
    python -m benchmarks.peers --node FOLDER             # with the npm packages that FOLDER/node_modules holds
    python -m benchmarks.peers --write README.md         # put the table between the marks of a file

Packages that are not installed are left out: `uv pip install toon-format mcp-compressor`, `npm install toolgz`.

- *catalog* counts the tools alone, *all sent* with what explains how to call; *saved* is of all that is sent, against
  minified JSON in OpenAI's chat form. For JSON and TOON nothing is counted that explains how to call.
- *constraints* is the share of the atoms of `benchmarks.atoms` that are found again: read back by the contender's own
  parser, or, with ~, by a search in the text that is lenient to it.
- Times are milliseconds of processor time for all catalogs together, in a process of their own, the import left out:
  the *first* compile, one of *changed* tools that no cache knows, the *same* tools again; *resolve* is one call from
  what the model sent to validated arguments.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tscg
from benchmarks.atoms import atoms, found_in_text
from benchmarks.contenders import CONTENDERS, Contender, RawTools, Shown, neutral, of_name
from benchmarks.measure import ROOT, best, timed, unseen
from benchmarks.node_peers import NODE_PEERS, run_node
from benchmarks.savings import files
from tscg.tokenizers import tokenizer_of

BEGIN, END = "<!-- peers -->", "<!-- /peers -->"
FIXED = ("catalog", "all sent", "saved", "constraints")
TIMES = ("first", "changed", "same", "resolve")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """Figures of a contender that are the same at every run; tokens, atoms found and atoms in all."""

    name: str
    catalog: int
    sent: int
    found: int
    atoms: int
    searched: bool

    def cells(self, baseline: int) -> list[str]:
        """The columns :data:`FIXED`."""
        share = f"{'~ ' if self.searched else ''}{self.found / max(self.atoms, 1):.1%}"
        return [f"{self.catalog:,}", f"{self.sent:,}", f"{1 - self.sent / max(baseline, 1):.1%}", share]


def load(paths: Sequence[Path]) -> list[RawTools]:
    """The catalogs of files and folders, or the demo's where none is given."""
    if not paths:
        from tscg.demo.tools import TOOLS

        return [neutral([tool.to_mcp() for tool in TOOLS])]
    return [neutral(json.loads(path.read_text(encoding="utf-8"))) for path in files(list(paths))]


def figures(name: str, shown: Sequence[Shown], catalogs: Sequence[RawTools], count: Callable[[str], int]) -> Row:
    """Count what was shown of some catalogs."""
    found = wanted = 0
    searched = False
    for one, tools in zip(shown, catalogs, strict=True):
        for tool in tools:
            every = atoms(tool["parameters"])
            rest = every - atoms(one.schemas.get(tool["name"], {}))
            seen = found_in_text(rest, one.texts.get(tool["name"], ""))
            searched = searched or seen > 0 or (bool(rest) and bool(one.texts))
            found, wanted = found + len(every) - len(rest) + seen, wanted + len(every)
    return Row(
        name=name, catalog=sum(count(one.catalog) for one in shown),
        sent=sum(count(part) for one in shown for part in one.sent), found=found, atoms=wanted, searched=searched,
    )  # fmt: skip


def row_of(contender: Contender, catalogs: Sequence[RawTools], count: Callable[[str], int]) -> Row:
    """The row of a contender that needs no Node."""
    shown = [contender.show(contender.make(tools), tools) for tools in catalogs]
    return figures(contender.name, shown, catalogs, count)


def times_of(contender: Contender, catalogs: Sequence[RawTools]) -> dict[str, float | None]:
    """The columns :data:`TIMES` in this process, which must not have compiled anything yet."""

    def make(every: Iterable[RawTools]) -> list[Any]:
        return [contender.make(tools) for tools in every]

    contender.make([])  # its imports
    first = timed(lambda: make(catalogs))
    copies = [[unseen(list(map(dict, tools)), mark) for tools in catalogs] for mark in range(3)]
    changed = min(timed(lambda copy=copy: make(copy)) for copy in copies)  # type: ignore[misc]
    made = make(catalogs)
    back = resolve_time(made) if contender.ours else None
    return {"first": first, "changed": changed, "same": best(lambda: make(catalogs)), "resolve": back}


def resolve_time(compiled: Sequence[tscg.CompiledCatalog]) -> float | None:
    """Milliseconds of one call on its way back, the mean over a valid call of each tool; the best of three rounds.

    None where what comes back is no call: a program is still to be run.
    """
    from tests.core.made_values import valid_arguments

    ways = [
        _back(one, one.encode_call(tscg.Call(name=tool.name, arguments=arguments)))
        for one in compiled
        for tool in one.catalog
        for arguments in valid_arguments(tool, most=1)
    ]
    # The first round builds the validators.
    ways = [way for way in ways if _is_call(way())]
    rounds = [timed(lambda: [way() for way in ways]) for _ in range(3)]
    return min(rounds) / len(ways) if ways else None


def _is_call(found: object) -> bool:
    return bool(found.calls) if isinstance(found, tscg.Decoded) else isinstance(found, tscg.Call)


def _back(compiled: tscg.CompiledCatalog, written: Any) -> Callable[[], object]:
    if isinstance(written, str):
        return lambda: compiled.decode(written)
    arguments = json.dumps(written["arguments"])
    return lambda: compiled.resolve(written["name"], arguments)


def fresh_times(name: str, paths: Sequence[Path]) -> dict[str, float | None]:
    """The times of a contender in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.peers", "--time", name, *(str(path.resolve()) for path in paths)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise RuntimeError(f"{name} failed:\n{done.stderr}")
    found: dict[str, float | None] = json.loads(done.stdout)
    return found


def table(rows: Sequence[Row], times: dict[str, dict[str, float | None]]) -> str:
    """The Markdown table; the first row is the baseline."""
    heads = [*FIXED, *(f"{name}, ms" for name in TIMES)] if times else list(FIXED)
    lines = [f"| what is sent | {' | '.join(heads)} |", f"|---|{'--:|' * len(heads)}"]
    for row in rows:
        cells = row.cells(rows[0].sent)
        if times:
            cells += [_time(times[row.name].get(name)) for name in TIMES]
        lines.append(f"| {row.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _time(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}" if value < 1 else f"{value:.1f}"


def written_into(document: str, block: str) -> str:
    """A document with a block between the marks, in the place of what stood there.

    >>> written_into(f"a {BEGIN} old {END} z", "new")
    'a <!-- peers -->\\nnew\\n<!-- /peers --> z'
    """
    head, begin, rest = document.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"the file has no {BEGIN} and {END}")
    return f"{head}{BEGIN}\n{block}\n{END}{tail}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table, or write it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="*", type=Path)
    parser.add_argument("--tokenizer", default="o200k_base")
    parser.add_argument("--node", type=Path, help="folder with node_modules")
    parser.add_argument("--no-times", action="store_true", help="only what is the same at every run")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write between the marks of a file")
    parser.add_argument("--time", metavar="NAME", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    catalogs = load(options.paths)
    if options.time:
        print(json.dumps(times_of(of_name(options.time), catalogs)))
        return
    rows, times = [], {}
    count = tokenizer_of(options.tokenizer).count
    for contender in CONTENDERS:
        if not contender.present:
            print(f"left out, not installed: {contender.name}", file=sys.stderr)
            continue
        rows.append(row_of(contender, catalogs, count))
        if not options.no_times:
            times[contender.name] = fresh_times(contender.name, options.paths)
    for peer in NODE_PEERS if options.node else ():
        answer = run_node(peer, options.node, catalogs)
        if answer is None:
            print(f"left out, not installed: {peer.name}", file=sys.stderr)
            continue
        rows.append(figures(peer.name, answer.shown, catalogs, count))
        if not options.no_times:
            times[peer.name] = answer.times
    made = table(rows, times)
    if options.write:
        options.write.write_text(written_into(options.write.read_text("utf-8"), made), encoding="utf-8")
    else:
        print(f"{sum(map(len, catalogs))} tools in {len(catalogs)} catalogs, {time.strftime('%Y-%m-%d')}\n\n{made}")


if __name__ == "__main__":
    main()
