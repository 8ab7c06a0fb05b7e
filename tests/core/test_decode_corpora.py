"""Recorded and accepted calls of public benchmarks, where the shared data is present."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from tests.core.decode_samples import native, surface
from tscg import Catalog, CompileError
from tscg.decoders import decode
from tscg.encode import encode_call
from tscg.resolve import Surface

# What accepted answers of the benchmark break in the schemas of their own tools.
OWN_FAULTS = {"enum", "wrong_type", "missing_required"}


def lines(path: Path) -> list[dict[str, Any]]:
    # Not splitlines: some strings hold U+2028.
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


def test_recorded_calls_need_no_repair(shared: Path) -> None:
    raw = json.loads((shared / "catalogs" / "tau-bench-airline.json").read_text(encoding="utf-8"))["tools"]
    wire, text = surface(raw, "native"), surface(raw)
    count = 0
    for recorded in lines(shared / "calls" / "tau-bench-airline.jsonl"):
        decoded = decode(wire, native((recorded["name"], recorded["arguments"])))
        assert [(call.name, call.arguments) for call in decoded.calls] == [
            (recorded["name"], json.loads(recorded["arguments"]))
        ]
        again = decode(text, encode_call(text, decoded.calls[0]))
        assert [call.arguments for call in again.calls] == [decoded.calls[0].arguments]
        assert [call.repairs for call in (*decoded.calls, *again.calls)] == [(), ()]
        count += 1
    assert count == 605


def first(values: list[Any]) -> Any:
    """The first accepted value; members of objects are lists of accepted values too."""
    value = next((one for one in values if one != ""), None)
    if isinstance(value, dict):
        picked = {key: first(inner) if isinstance(inner, list) and inner else inner for key, inner in value.items()}
        return {key: inner for key, inner in picked.items() if inner is not None}
    return value


def test_accepted_answers_written_as_python(shared: Path) -> None:
    found: Counter[str] = Counter()
    for path in sorted((shared / "bfcl" / "gold").iterdir()):
        tasks = {task["id"]: task for task in lines(shared / "bfcl" / "tasks" / path.name)}
        for answer in lines(path):
            try:
                made = Surface(catalog=Catalog.from_tools(tasks[answer["id"]]["function"]))
            except CompileError:
                found["no catalog"] += 1
                continue
            wanted = [
                (name, {key: first(values) for key, values in given.items() if first(values) is not None})
                for call in answer["ground_truth"]
                for name, given in call.items()
            ]
            written = ", ".join(
                f"{name}({', '.join(f'{k}={v!r}' for k, v in given.items())})" for name, given in wanted
            )
            decoded = decode(made, f"[{written}]")
            if [(call.name, call.arguments) for call in decoded.calls] == wanted:
                found["equal"] += 1
            else:
                assert decoded.errors, (answer["id"], written, decoded.text)
                assert {error.kind for error in decoded.errors} <= OWN_FAULTS, (answer["id"], decoded.errors)
                found["own fault"] += 1
    assert found["equal"] >= 1_390
    assert found["own fault"] <= 60
