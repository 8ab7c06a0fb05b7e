"""Real calls in every mode and in every provider's form: what comes back is what was sent.

    python -m benchmarks.corpora FOLDER            # the folder holds catalogs, calls, bfcl; prints a count per mode
    python -m benchmarks.corpora FOLDER --only native,code --every 10

Calls are those recorded in `calls` (as the model wrote them) and the accepted answers of BFCL (`bfcl`) that are valid
under the schemas of their own tools. In code mode a call is written as a program, and the program is run.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tscg
from tscg.modes.options import Code, Dispatch, Mode, Native, Passthrough, Text
from tscg.taught import TAUGHT

MODES: dict[str, tuple[Mode, str]] = {
    "passthrough": (Passthrough(), "balanced"),
    "native": (Native(), "balanced"),
    "native-brief": (Native(), "brief"),
    "native-strict": (Native(strict="auto"), "balanced"),
    **{f"text-{name}": (Text(), name) for name in ("lossless", "conservative", "balanced", "brief", "signature")},
    "text-aggressive": (Text(), "aggressive"),
    **{f"text-in-{name}": (Text(dialect=name), "balanced") for name in TAUGHT if name != "tool_call"},
    "text-constrained": (Text(constrained=True), "balanced"),
    **{
        f"dispatch-{map}-{handles}-{arguments}": (Dispatch(map=map, handles=handles, arguments=arguments), "balanced")
        for map in ("names", "hybrid", "signature")
        for handles in ("names", "codes")
        for arguments in ("object", "json")
    },
    "dispatch-typed": (Dispatch(map="signature", typed=True), "balanced"),
    "grouped": (Dispatch(group="namespace"), "balanced"),
    "grouped-codes": (Dispatch(group="namespace", handles="codes"), "balanced"),
    "grouped-json": (Dispatch(group="namespace", arguments="json", map="hybrid"), "balanced"),
    "code": (Code(), "balanced"),
    "code-text": (Code(transport="text"), "balanced"),
}
"""Every mode, map, profile, handle and taught dialect: options and profile by a short name."""

FORMS = ("own", "openai", "openai_responses", "anthropic", "gemini", "bedrock")
"""The mode's own encoding, and the blocks of the providers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Raw tools and the calls that were made with them."""

    name: str
    tools: Sequence[Any]
    calls: tuple[tscg.Call, ...]


def lines(path: Path) -> list[Any]:
    """The values of a file of JSON lines. Some strings hold U+2028, so lines end at a line feed alone."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def recorded(folder: Path) -> Corpus:
    """The recorded calls of `calls` with their catalog."""
    raw = json.loads((folder / "catalogs" / "tau-bench-airline.json").read_text(encoding="utf-8"))
    found = lines(folder / "calls" / "tau-bench-airline.jsonl")
    calls = tuple(
        tscg.Call(id=f"call_{number}", name=one["name"], arguments=json.loads(one["arguments"]))
        for number, one in enumerate(found)
    )
    return Corpus(name="tau-bench-airline", tools=raw["tools"], calls=calls)


def accepted(folder: Path) -> Iterator[Corpus]:
    """The accepted answers of BFCL, task by task, as far as their own schemas accept them."""
    for path in sorted((folder / "bfcl" / "gold").glob("*.json")):
        tasks = {task["id"]: task for task in lines(folder / "bfcl" / "tasks" / path.name)}
        for answer in lines(path):
            tools = tasks[answer["id"]]["function"]
            try:
                compiled = tscg.compile(tools, mode="passthrough")
            except tscg.CompileError:  # one name twice
                continue
            calls = [
                tscg.Call(id=f"call_{number}", name=name, arguments=_picked(given))
                for number, (name, given) in enumerate(_pairs(answer["ground_truth"]))
            ]
            valid = [call for call in calls if _is_valid(compiled, call)]
            if valid:
                yield Corpus(name=answer["id"], tools=tools, calls=tuple(valid))


def _is_valid(compiled: tscg.CompiledCatalog, call: tscg.Call) -> bool:
    found = compiled.resolve(call.name, call.arguments)
    return isinstance(found, tscg.Call) and not found.repairs


def _pairs(truth: list[dict[str, dict[str, list[Any]]]]) -> Iterator[tuple[str, dict[str, list[Any]]]]:
    for call in truth:
        yield from call.items()


def _picked(given: dict[str, list[Any]]) -> dict[str, Any]:
    """The first accepted value of each parameter; an empty text among them alone means that it is left out."""
    picked = {name: _first(values) for name, values in given.items()}
    return {name: value for name, value in picked.items() if value is not None}


def _first(values: Any) -> Any:
    if not isinstance(values, list):
        return values
    value = next((one for one in values if one != ""), None)
    if isinstance(value, list):
        return [_members(one) for one in value]
    return _members(value)


def _members(value: Any) -> Any:
    """An object with the first accepted value of each member; anything else as it is."""
    if not isinstance(value, dict):
        return value
    return {key: found for key, inner in value.items() if (found := _first(inner)) is not None}


def output(compiled: tscg.CompiledCatalog, call: tscg.Call, form: str) -> Any:
    """The call as a whole answer of the model: a text, or a message in the form of a provider."""
    if form == "own":
        written = compiled.encode_call(call)
        return written if isinstance(written, str) else {"role": "assistant", "tool_calls": [written]}
    block = compiled.encode_call(call, form)
    if form == "openai":
        return {"role": "assistant", "content": None, "tool_calls": [block]}
    if form == "openai_responses":
        return {"output": [block]}
    if form == "gemini":
        return {"role": "model", "parts": [block]}
    return {"role": "assistant", "content": [block]}


def same(left: object, right: object) -> bool:
    """Are two JSON values the same, in any order of members? 1 and 1.0 are one number, 1 and true are not.

    >>> same({"a": [1.0], "b": True}, {"b": True, "a": [1]}), same(1, True)
    (True, False)
    """
    return json.dumps(_whole(left), sort_keys=True) == json.dumps(_whole(right), sort_keys=True)


def _whole(value: object) -> object:
    """The value with its whole floats as integers."""
    if isinstance(value, dict):
        return {key: _whole(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_whole(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def fault(compiled: tscg.CompiledCatalog, call: tscg.Call, form: str) -> str:
    """What is wrong with a call that went out and came back; empty where nothing is. No program is run."""
    written = output(compiled, call, form)
    decoded = compiled.decode(written)
    items = decoded.programs if compiled.mode == "code" else decoded.calls
    if len(items) != 1 or decoded.errors or decoded.text:
        return f"{form}: {written!r} gave {decoded!r}"
    (item,) = items
    if isinstance(item, tscg.Program):
        return ""
    if item.name != call.name or not same(item.arguments, call.arguments) or item.repairs:
        return f"{form}: {written!r} gave {item!r}"
    return ""


def program_fault(compiled: tscg.CompiledCatalog, call: tscg.Call, pool: Any) -> str:
    """What is wrong with the calls that a written program makes when it is run; empty where nothing is."""
    from tscg.code import run

    (program,) = compiled.decode(output(compiled, call, "own")).programs
    made: list[tscg.Call] = []
    result = run(compiled, program, made.append, pool=pool)
    if result.error is not None:
        return f"{program.code!r} gave {result.error.message!r}"
    if len(made) != 1 or made[0].name != call.name or not same(made[0].arguments, call.arguments) or made[0].repairs:
        return f"{program.code!r} made {made!r}"
    return ""


def check(name: str, corpora: Sequence[Corpus], forms: Sequence[str], pool: Any) -> tuple[Counter[str], list[str]]:
    """One mode over corpora: how many calls were sent in how many forms, and what was wrong."""
    mode, profile = MODES[name]
    counts: Counter[str] = Counter()
    faults: list[str] = []
    for corpus in corpora:
        compiled = tscg.compile(corpus.tools, mode, profile)
        for call in corpus.calls:
            found = [fault(compiled, call, form) for form in forms]
            if compiled.mode == "code" and pool is not None:
                found.append(program_fault(compiled, call, pool))
                counts["programs"] += 1
            counts["calls"] += 1
            counts["forms"] += len(forms)
            faults += [f"{corpus.name}: {one}" for one in found if one]
    return counts, faults


def main() -> int:
    """Print the counts of each mode; 1 where a call came back as another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="modes of the table, with commas")
    parser.add_argument("--every", type=int, default=1, help="take each n-th task and each n-th recorded call")
    given = parser.parse_args()
    real = recorded(given.folder)
    corpora = [
        Corpus(name=real.name, tools=real.tools, calls=real.calls[:: given.every]),
        *list(accepted(given.folder))[:: given.every],
    ]
    failed = False
    with ExitStack() as stack:
        pool = None
        for name in given.only.split(",") if given.only else MODES:
            if name.startswith("code") and pool is None:
                from pydantic_monty import Monty

                pool = stack.enter_context(Monty(max_processes=1, max_checkouts_per_worker=100, request_timeout=60))
            start = time.perf_counter()
            counts, faults = check(name, corpora, FORMS, pool)
            figures = ", ".join(f"{count} {what}" for what, count in counts.items())
            print(f"{name}: {figures}, {len(faults)} wrong, {time.perf_counter() - start:.1f} s", flush=True)
            for line in faults[:5]:
                print(f"  {line[:400]}")
            failed = failed or bool(faults)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
