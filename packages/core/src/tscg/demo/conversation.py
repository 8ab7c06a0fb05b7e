"""One request of the demo: a model answers, its calls are run, and what it did is told, also where it got nowhere."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import tscg
from tscg.demo.client import ToolAnswer
from tscg.demo.models import Answer, ContextFullError, Message
from tscg.demo.requests import SITUATION, Request
from tscg.demo.screen import Screen

if TYPE_CHECKING:
    from tscg import Call, CallError, CompiledCatalog, Lookup, Program

    Item = Call | Lookup | CallError | Program

# How often a model may answer within one request; a model that is not done then has lost its way.
MOST_ANSWERS: Final = 10
# So many answers in a row that got nothing done: neither a call that went well nor a lookup.
MOST_FAILURES: Final = 3

AGAIN: Final = "the model made the same call again"
FAILED: Final = f"{MOST_FAILURES} answers in a row got nothing done"
FULL: Final = "the conversation no longer fits into the context of the model"
LOST: Final = f"the model was not done after {MOST_ANSWERS} answers"
PROGRAMS: Final = "This host runs no programs, so nothing was run. Call one tool at a time."


@dataclass(slots=True, kw_only=True)
class Tally:
    """What came of the calls of one request: done, failed in the tool, or sent back to the model as wrong.

    >>> str(Tally(done=1, refused=2))
    'Its calls for this request: 1 done, 2 sent back.'
    """

    done: int = 0
    failed: int = 0
    refused: int = 0

    def __str__(self) -> str:
        counts = {"done": self.done, "failed": self.failed, "sent back": self.refused}
        return f"Its calls for this request: {', '.join(f'{n} {what}' for what, n in counts.items() if n)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """What all requests share: the screen, the catalog, how the model is asked, and how a tool is called."""

    screen: Screen
    compiled: CompiledCatalog
    ask: Callable[[Sequence[Message]], Awaitable[Answer]]
    call: Callable[[str, Mapping[str, Any]], Awaitable[ToolAnswer]]

    async def hold(self, request: Request) -> None:
        """One request, to its end or to where the model gets nowhere, which is said."""
        tally = Tally()
        stopped = await self._talk(request, tally)
        if stopped:
            self.screen.line(f"Stopped: {stopped}.", label="demo", style="red")
        if not tally.done + tally.failed:
            self.screen.line("The model made no valid call for this request.", label="demo", style="red")
        elif stopped:
            self.screen.line(str(tally), label="demo", style="red")

    async def _talk(self, request: Request, tally: Tally) -> str:
        """Why the request was stopped, empty where the model came to its end."""
        self.screen.line(request.prompt, label="user", style="bold")
        begin: list[Message] = [
            {"role": "system", "content": f"{SITUATION}\n\n{self.compiled.prompt}".strip()},
            {"role": "user", "content": request.prompt},
        ]
        messages, replies = list(begin), iter(request.replies)
        last, failures, row = "", set[str](), 0
        for _ in range(MOST_ANSWERS):
            try:
                answer = await self.ask(messages)
            except ContextFullError:
                if messages == begin:
                    raise
                return FULL
            decoded = self.compiled.decode(answer.output, finish_reason=answer.finish_reason)
            if decoded.text.strip():
                self.screen.line(decoded.text.strip(), label="model", style="bold")
            elif answer.finish_reason == "length" and isinstance(answer.output, str):
                self.screen.cut_off(answer.output)
            messages.append(_said(answer.output))
            if not decoded.items:
                reply = next(replies, None)
                if reply is None:
                    return ""
                self.screen.line(reply, label="user", style="bold")
                messages.append({"role": "user", "content": reply})
                continue
            wanted = _wanted(decoded.items)
            if wanted == last or wanted in failures:
                return AGAIN
            before = tally.done
            results = [(item, await self._do(item, tally)) for item in decoded.items]
            messages.extend(_results(answer.output, results))
            last, row = wanted, row + 1
            if tally.done > before or any(isinstance(item, tscg.Lookup) for item in decoded.items):
                row = 0
            else:
                failures.add(wanted)
            if row == MOST_FAILURES:
                return FAILED
        return LOST

    async def _do(self, item: Item, tally: Tally) -> str:
        """Execute one decoded item, and give the text that answers it."""
        if isinstance(item, tscg.Lookup):
            self.screen.lookup(item.tools, item.query)
            return self.compiled.encode_result(item, item.reply)
        if not isinstance(item, tscg.Call):
            tally.refused += 1
            message = PROGRAMS if isinstance(item, tscg.Program) else item.message
            self.screen.refusal(message)
            return self.compiled.encode_result(item, message)
        self.screen.call(item.name, item.arguments, item.repairs)
        answer = await self.call(item.name, item.arguments)
        self.screen.answer(answer)
        if answer.failed:
            tally.failed += 1
            return self.compiled.encode_result(item, f"Error: {answer.text}")
        tally.done += 1
        return self.compiled.encode_result(item, answer.text)


def _wanted(items: Iterable[Item]) -> str:
    """What an answer wants done, in a form that is the same where that is the same: ids are left out."""
    return json.dumps([_key(item) for item in items], ensure_ascii=False, sort_keys=True)


def _key(item: Item) -> Sequence[object]:
    if isinstance(item, tscg.Call):
        return ("call", item.name, item.arguments)
    if isinstance(item, tscg.Lookup):
        return ("lookup", item.tools, item.query)
    if isinstance(item, tscg.Program):
        return ("program", item.code)
    return ("error", item.message)


def _said(output: str | Message) -> Message:
    return {"role": "assistant", "content": output} if isinstance(output, str) else output


def _results(output: str | Message, results: Sequence[tuple[Item, str]]) -> list[Message]:
    """The messages that answer calls: one each where the calls were native, one for all where they were text."""
    if isinstance(output, str) or not output.get("tool_calls"):
        return [{"role": "user", "content": "\n".join(text for _, text in results)}]
    return [{"role": "tool", "tool_call_id": item.id, "content": text} for item, text in results]
