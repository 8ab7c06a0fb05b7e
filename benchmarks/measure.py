"""Measurements that need a process of their own: first compile, memory, import.

Times are in milliseconds and the best of several, for a machine is only ever slower than it can be. Each stands beside
a JSON round trip (`json.loads(json.dumps(tools))`) of the same tools in the same process, and ratios to that are what
the limits are about: they carry over from machine to machine.

    python -m benchmarks.measure cold 1000 balanced      # 1,000 generated tools
    python -m benchmarks.measure cold FILE lossless      # a catalog file
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from benchmarks import generate

ROOT = Path(__file__).resolve().parent.parent
Row = dict[str, float]


def timed(work: Callable[[], object]) -> float:
    """Milliseconds of processor time of one run: one thread that waits for nothing, while others may be busy."""
    begin = time.process_time()
    work()
    return (time.process_time() - begin) * 1_000


def best(work: Callable[[], object], times: int = 5) -> float:
    """Milliseconds of the fastest of several runs."""
    return min(timed(work) for _ in range(times))


def round_trip(value: object, times: int = 5) -> float:
    """Milliseconds of a JSON round trip of a value: the unit of every ratio."""
    return best(lambda: json.loads(json.dumps(value)), times)


def unseen(tools: list[generate.Tool], mark: int) -> list[generate.Tool]:
    """The same tools with other content: each description says one number more, so no cache knows them.

    >>> unseen([{"name": "a", "description": "Do it."}], 7)
    [{'name': 'a', 'description': 'Do it. Revision 7.'}]
    """
    return [item | {"description": f"{item.get('description', '')} Revision {mark}."} for item in tools]


def load(source: str) -> list[generate.Tool]:
    """That many generated tools, or those of a file."""
    if source.isdecimal():
        return generate.catalog(int(source))
    raw = json.loads(Path(source).read_text(encoding="utf-8"))
    tools: list[generate.Tool] = raw["tools"] if isinstance(raw, dict) else raw
    return tools


def cold(source: str, profile: str) -> Row:
    """The first compile of this process, then of the tools that it knows by then."""
    tools = load(source)
    row = {"tools": float(len(tools)), "json": round_trip(tools)}

    import tscg

    def compile_(given: Any) -> str:
        return tscg.compile(given, profile=profile).prompt

    row["cold"] = timed(lambda: compile_(tools))
    known = tscg.Catalog.from_tools(tools)
    compile_(known)
    row["known"] = best(lambda: compile_(known))
    copies = [json.loads(json.dumps(tools)) for _ in range(3)]
    row["equal"] = min(timed(lambda copy=copy: compile_(copy)) for copy in copies)  # type: ignore[misc]
    return row


def memory(source: str, profile: str) -> Row:
    """Megabytes: the most that this process ever held, before and after compiling and reading back."""
    import resource

    # Bytes on macOS, kibibytes elsewhere.
    per_megabyte = 2**20 if sys.platform == "darwin" else 2**10

    def peak() -> float:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / per_megabyte

    tools = load(source)
    before = peak()

    import tscg

    compiled = tscg.compile(tools, profile=profile)
    characters = len(compiled.prompt)
    return {"before": before, "peak": peak(), "characters": float(characters)}


def imports() -> Row:
    """The import of the core, the first of its process."""

    def bring() -> None:
        import tscg  # noqa: F401

    return {"import": timed(bring)}


KINDS: dict[str, Callable[..., Row]] = {"cold": cold, "memory": memory, "imports": imports}


def fresh(kind: str, *arguments: str) -> Row:
    """A measurement in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.measure", kind, *arguments]
    # An installed package has its bytecode beside it: a process must be able to leave it for the next one.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command[2:])} failed:\n{done.stderr}")
    row: Row = json.loads(done.stdout)
    return row


def least(rows: Iterable[Row]) -> Row:
    """The best value of each column of several runs."""
    every = list(rows)
    return {name: min(row[name] for row in every) for name in every[0]}


if __name__ == "__main__":
    print(json.dumps(KINDS[sys.argv[1]](*sys.argv[2:])))
