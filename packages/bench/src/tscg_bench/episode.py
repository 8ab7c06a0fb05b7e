"""One task worked on, as values: what to send next, until there is an attempt to score. No request is made here.

The host sends :attr:`Episode.messages` and :attr:`Episode.wire_tools`, and hands what comes back to
:meth:`Episode.take`. Calls that are right get the results of the task, wrong ones the message of the resolver, lookups
their reply. It ends when the model answers without a call, or has made as many calls as the
task needs; in scenario F only the model ends it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from tscg import Again, Call, Decoded, Final, Program, Turn
from tscg_bench.conditions import Prepared
from tscg_bench.score import Attempt, Made
from tscg_bench.tasks import Task

__all__ = ["Episode", "begin", "situation"]

MAX_LOOKUPS, MAX_REPAIRS = 3, 2
RULES = (
    "Do what the user asks with the tools. Do not ask back unless a rule below says so; where no tool can do it, "
    "answer without a call."
)
DONE = {"ok": True}
NOT_RUN = "Not run."
FAILED = "Error: the service did not answer in time. Nothing was done."


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """Where one task stands. Immutable: :meth:`take` gives the next one. ``attempt`` is None until it has ended."""

    task: Task
    prepared: Prepared = field(repr=False)
    turn: Turn = field(repr=False)
    messages: tuple[dict[str, Any], ...]
    calls: tuple[Made, ...] = ()
    refused: int = 0
    requests: int = 0
    lookups: int = 0
    repairs: int = 0
    failed_once: bool = False
    attempt: Attempt | None = None

    @property
    def wire_tools(self) -> tuple[dict[str, Any], ...]:
        """The tools of the next request."""
        return self.turn.wire_tools

    def take(self, output: object, finish_reason: str | None = None) -> Episode:
        """The next state, given what the model answered: a text or a message of OpenAI's chat API."""
        decoded = self.prepared.compiled.decode(output, finish_reason=finish_reason, seed=str(self.requests))
        step = self.turn.take(decoded, output)
        here = replace(
            self, turn=step.turn, requests=self.requests + 1,
            lookups=self.lookups + step.turn.asked - self.turn.asked,
            repairs=self.repairs + step.turn.repairs - self.turn.repairs,
        )  # fmt: skip
        if isinstance(step, Again):
            return replace(here, messages=(*self.messages, *step.messages), refused=self.refused + len(decoded.errors))
        return here._finished(step, decoded, output)

    def _finished(self, step: Final, decoded: Decoded, output: object) -> Episode:
        wrong = tuple(Made(name=error.tool or "", valid=False) for error in step.errors)
        if not step.calls and not step.programs:
            return self._ended(step, wrong)
        results: dict[str, str] = {}
        here, broken = self, 0
        for call in step.calls:
            here, results[call.id] = here._answered(call)
        for program in step.programs:
            here, results[program.id], ran = here._run(program)
            broken += not ran
        if broken and here._may_mend:
            here = replace(here, refused=here.refused + broken, repairs=here.repairs + 1)
        elif broken:
            return here._ended(step, (*wrong, *[Made(name="", valid=False)] * broken))
        elif wrong or here._done:
            return here._ended(step, wrong)
        said = _said(self.prepared, decoded, output, results)
        return replace(here, messages=(*self.messages, *said), turn=_turn(self.prepared))

    @property
    def _done(self) -> bool:
        """All calls were made; in scenario F the model has to say so itself. One that goes on and on is stopped."""
        made, wanted = len(self.calls), len(self.task.expected)
        if self.requests > 2 * wanted + MAX_LOOKUPS + MAX_REPAIRS:
            return True
        return made > wanted or (made == wanted and self.task.scenario != "F") or not wanted

    @property
    def _may_mend(self) -> bool:
        """A program that failed is answered with its error, as often as a call that was refused."""
        return self.prepared.told and self.repairs < MAX_REPAIRS

    def _answered(self, call: Call) -> tuple[Episode, str]:
        """The call taken down, and the result that the task has for it."""
        place = self._place(call.name)
        if place is not None and self.task.trouble == "error" and not self.failed_once:
            return replace(self, failed_once=True), FAILED
        made = Made(name=call.name, arguments=call.arguments, repairs=call.repairs)
        results = self.task.results
        result = results[place] if place is not None and place < len(results) else DONE
        text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return replace(self, calls=(*self.calls, made)), text

    def _place(self, name: str) -> int | None:
        """The first expected call of that name that was not made yet."""
        before = sum(made.name == name for made in self.calls)
        places = [place for place, call in enumerate(self.task.expected) if call.tool == name]
        return places[before] if before < len(places) else None

    def _run(self, program: Program) -> tuple[Episode, str, bool]:
        """A program of code mode, run in the sandbox against the results of the task; whether it ran to its end."""
        from tscg.code import run

        here = self

        def host(call: Call) -> Any:
            nonlocal here
            here, text = here._answered(call)
            if text == FAILED:
                raise RuntimeError(FAILED)
            return _value(text)

        result = run(self.prepared.compiled, program, host)
        return here, self.prepared.compiled.encode_result(program, result), result.error is None

    def _ended(self, step: Final, wrong: tuple[Made, ...]) -> Episode:
        attempt = Attempt(
            calls=(*self.calls, *wrong), refused=self.refused, text=step.text, requests=self.requests,
            lookups=self.lookups, repairs=self.repairs, failure=step.failure,
        )  # fmt: skip
        return replace(self, attempt=attempt)


def begin(task: Task, prepared: Prepared) -> Episode:
    """A task before its first request.

    >>> import tscg
    >>> from tscg_bench.conditions import condition_of
    >>> from tscg_bench.tasks import Expected
    >>> catalog = tscg.Catalog.from_tools([{"name": "ping", "inputSchema": {"type": "object"}}])
    >>> expected = (Expected(tool="ping"),)
    >>> task = Task(id="t", scenario="A", category="single", query="Is it alive?", expected=expected)
    >>> episode = begin(task, condition_of("json").prepare(catalog))
    >>> episode.take('<tool_call>{"name":"ping","arguments":{}}</tool_call>').attempt.calls
    (Made(name='ping', arguments={}, valid=True, repairs=()),)
    """
    system = "\n\n".join(part for part in (prepared.system, situation(task)) if part)
    history = prepared.compiled.encode_history(list(task.history))
    messages = ({"role": "system", "content": system}, *history, {"role": "user", "content": task.query})
    return Episode(task=task, prepared=prepared, turn=_turn(prepared), messages=messages)


def situation(task: Task) -> str:
    """What the system message says of the task itself, alike in every condition."""
    said = [RULES, task.policy, f"Today is {task.today}." if task.today else ""]
    return "\n".join(part for part in said if part)


def _turn(prepared: Prepared) -> Turn:
    return prepared.compiled.turn(MAX_LOOKUPS, MAX_REPAIRS if prepared.told else 0)


def _said(
    prepared: Prepared, decoded: Decoded, output: object, results: Mapping[str, str]
) -> tuple[dict[str, Any], ...]:
    """What the model wrote, and the results of its calls, each as an answer to its own."""
    native = output.get("tool_calls") if isinstance(output, Mapping) else None
    if isinstance(output, Mapping) and native:
        answers = [
            {"role": "tool", "tool_call_id": call["id"], "content": results.get(call["id"], NOT_RUN)} for call in native
        ]
        return (dict(output), *answers)
    text = output["content"] if isinstance(output, Mapping) else output
    answered = [prepared.compiled.encode_result(item, results[item.id]) for item in decoded.items if item.id in results]
    return ({"role": "assistant", "content": text}, {"role": "user", "content": "\n".join(answered)})


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
