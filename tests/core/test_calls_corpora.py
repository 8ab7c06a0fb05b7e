"""Recorded calls and accepted answers of public benchmarks in every mode, where the shared data is present.

Each mode takes another sample, the same at every run; ``python -m benchmarks.corpora`` takes them all.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tscg
from benchmarks.corpora import FORMS, MODES, Corpus, accepted, fault, output, program_fault, recorded

EVERY = 40  # a mode takes each so-manieth task
PROGRAMS = 20  # programs that a mode runs


@pytest.fixture(scope="module")
def real(shared: Path) -> Corpus:
    return recorded(shared)


@pytest.fixture(scope="module")
def tasks(shared: Path) -> list[Corpus]:
    return list(accepted(shared))


@pytest.fixture(scope="module")
def pool() -> Iterator[Any]:
    """One pool for all programs."""
    monty = pytest.importorskip("pydantic_monty", reason="the extra `code` is not installed")
    with monty.Monty(max_processes=1, max_checkouts_per_worker=50, request_timeout=60) as opened:
        yield opened


def sample(found: list[Corpus], name: str, every: int = EVERY) -> list[Corpus]:
    """The tasks of a mode: another part of them for each mode."""
    return found[list(MODES).index(name) % every :: every]


def test_the_corpora_are_whole(real: Corpus, tasks: list[Corpus]) -> None:
    assert len(real.calls) == 605
    assert len(tasks) >= 1_350
    assert sum(len(task.calls) for task in tasks) == 2_201


def test_modes_are_told_apart(real: Corpus) -> None:
    sent = {(c.prompt, str(c.wire_tools), c.text) for c in (tscg.compile(real.tools, *MODES[name]) for name in MODES)}
    assert len(sent) >= len(MODES) - 3  # strict is the adapters', and two profiles may say the same of a few tools


@pytest.mark.parametrize("name", MODES)
def test_c23_each_recorded_call_comes_back(name: str, real: Corpus) -> None:
    compiled = tscg.compile(real.tools, *MODES[name])
    assert [found for call in real.calls if (found := fault(compiled, call, "own"))] == []


@pytest.mark.parametrize("name", ["passthrough", "native", "dispatch-hybrid-names-object", "dispatch-names-codes-json"])
@pytest.mark.parametrize("form", FORMS[1:])
def test_c23_each_recorded_call_comes_back_in_the_form_of_a_provider(name: str, form: str, real: Corpus) -> None:
    compiled = tscg.compile(real.tools, *MODES[name])
    assert [found for call in real.calls[::2] if (found := fault(compiled, call, form))] == []


@pytest.mark.parametrize("name", MODES)
def test_c23_accepted_answers_come_back_in_each_form(name: str, tasks: list[Corpus]) -> None:
    for task in sample(tasks, name):
        compiled = tscg.compile(task.tools, *MODES[name])
        assert [found for call in task.calls for form in FORMS if (found := fault(compiled, call, form))] == []


@pytest.mark.parametrize("name", ["code", "code-text"])
def test_c23_programs_make_the_call(name: str, real: Corpus, tasks: list[Corpus], pool: Any) -> None:
    compiled = tscg.compile(real.tools, *MODES[name])
    for call in real.calls[:: len(real.calls) // PROGRAMS]:
        assert program_fault(compiled, call, pool) == ""
    for task in sample(tasks, name, len(tasks) // PROGRAMS):
        compiled = tscg.compile(task.tools, *MODES[name])
        assert [found for call in task.calls if (found := program_fault(compiled, call, pool))] == []


@pytest.mark.parametrize("name", ["text-balanced", "text-in-mistral", "dispatch-hybrid-names-object", "code-text"])
@pytest.mark.parametrize("size", [1, 3, 7])
def test_c23_recorded_calls_in_pieces(name: str, size: int, real: Corpus) -> None:
    compiled = tscg.compile(real.tools, *MODES[name])
    for call in real.calls[::30]:
        # In dispatch mode a call may come as text as well.
        native = compiled.encode_call(call)
        text = native if isinstance(native, str) else tscg.compile(real.tools).encode_call(call)
        stream = compiled.stream()
        for at in range(0, len(text), size):
            stream.feed(text[at : at + size])
        whole = compiled.decode(text)
        assert stream.close() == whole
        assert len(whole.items) == 1


@pytest.mark.parametrize("name", MODES)
def test_c23_siblings_of_one_message_come_back_in_order(name: str, real: Corpus) -> None:
    compiled = tscg.compile(real.tools, *MODES[name])
    calls = real.calls[:60:20]
    canonical = [output(tscg.compile(real.tools, "native"), call, "openai")["tool_calls"][0] for call in calls]
    results = [{"role": "tool", "tool_call_id": call.id, "content": "done"} for call in calls]
    message, *_ = compiled.encode_history([{"role": "assistant", "content": None, "tool_calls": canonical}, *results])
    decoded = compiled.decode(message)
    assert decoded.errors == ()
    if compiled.mode == "code":
        assert len(decoded.programs) == len(calls)
    else:
        assert [(call.name, call.arguments) for call in decoded.calls] == [(one.name, one.arguments) for one in calls]


@pytest.mark.parametrize("form", FORMS)
def test_a_call_that_was_changed_is_seen(form: str, real: Corpus) -> None:
    compiled = tscg.compile(real.tools, "native")
    call = next(call for call in real.calls if call.name == "calculate")
    other = tscg.Call(id=call.id, name=call.name, arguments={"expression": "1 + 1"})
    assert fault(compiled, call, form) == ""
    assert output(compiled, call, form) != output(compiled, other, form)
    assert fault(tscg.compile([{"name": "think"}], "native"), call, form) != ""
