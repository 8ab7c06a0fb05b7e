"""How a request of the demo ends, also with a model that gets nowhere; and errors inside the demo's group of tasks."""

from __future__ import annotations

import asyncio
import importlib.metadata
import io
import json
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from importlib.util import find_spec
from typing import Any, Final

import pytest
from rich.console import Console

import tscg
from tscg.cli import main
from tscg.demo import ModelError, run_demo
from tscg.demo.client import ToolAnswer
from tscg.demo.conversation import Conversation
from tscg.demo.database import Database
from tscg.demo.models import Answer, ContextFullError, Message, Report
from tscg.demo.requests import Request
from tscg.demo.screen import Screen
from tscg.demo.server import Toolbox
from tscg.demo.tools import TOOLS

pytestmark = pytest.mark.filterwarnings("ignore:no vocabulary of:tscg.TscgWarning")
needs_mcp = pytest.mark.skipif(find_spec("mcp") is None, reason="the MCP SDK is not installed")

Said = str | Exception


def call(name: str, **arguments: Any) -> str:
    return f"<tool_call>{json.dumps({'name': name, 'arguments': arguments})}</tool_call>"


GET: Final = call("get_order", order_id="ord-50234")
CANCEL: Final = call("cancel_order", order_id="ord-50234", reason="customer_request", confirm=True)
GONE: Final = call("get_order", order_id="ord-00000")
WRONG: Final = call("get_order", number=1)
READS: Final = [call("get_order_history", order_id=f"ord-{number}") for number in (50231, 50232, 50234)] * 4
FAILS: Final = [call("get_order", order_id=f"ord-0000{digit}") for digit in range(10)]
CUT: Final = GET[:40]
LOOKUP: Final = call("lookup", tools=["get_order"])
AGAIN: Final = "Stopped: the model made the same call again."
NONE: Final = "The model made no valid call for this request."


def held(*said: Said, replies: Sequence[str] = ()) -> tuple[list[str], int]:
    """The lines of the screen for a model that says this, and how often it was asked."""
    compiled = tscg.compile([tool.to_mcp() for tool in TOOLS], profile="brief")
    database, screen, left = Database(":memory:"), io.StringIO(), list(said)
    toolbox = Toolbox(database)

    async def ask(messages: Sequence[Message]) -> Answer:
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return Answer(output=answer, finish_reason="length" if answer == CUT else "stop")

    async def run(name: str, arguments: Mapping[str, Any]) -> ToolAnswer:
        text, failed = toolbox.call(name, arguments)
        return ToolAnswer(text=text, failed=failed)

    console = Console(file=screen, width=400)
    conversation = Conversation(screen=Screen(console), compiled=compiled, ask=ask, call=run)
    with closing(database):
        asyncio.run(conversation.hold(Request(name="r", prompt="Do it.", replies=replies)))
    lines = [" ".join(line.split()) for line in screen.getvalue().splitlines()]
    return [line for line in lines if line], len(said) - len(left)


def told(lines: Sequence[str]) -> list[str]:
    return [line.removeprefix("demo ") for line in lines if line.startswith("demo ")]


@pytest.mark.parametrize(
    ("said", "asked", "says"),
    [
        ([GET, "Done."], 2, []),
        ([GET, CANCEL, GET, "Done."], 4, []),
        ([WRONG, GET, "Done."], 3, []),
        (["I cannot do that."], 1, [NONE]),
        ([LOOKUP, "I see."], 2, [NONE]),
        ([WRONG, WRONG], 2, [AGAIN, NONE]),
        ([CUT, CUT], 2, [AGAIN, NONE]),
        ([GONE, GONE], 2, [AGAIN, "Its calls for this request: 1 failed."]),
        ([CANCEL, CANCEL], 2, [AGAIN, "Its calls for this request: 1 done."]),
        ([GONE, GET, GONE], 3, [AGAIN, "Its calls for this request: 1 done, 1 failed."]),
        ([LOOKUP, LOOKUP], 2, [AGAIN, NONE]),
        (FAILS, 3, ["Stopped: 3 answers in a row got nothing done.", "Its calls for this request: 3 failed."]),
        (
            [WRONG, *FAILS[:1], GET, *FAILS[1:]],
            6,
            ["Stopped: 3 answers in a row got nothing done.", "Its calls for this request: 1 done, 4 failed, 1 sent back."],
        ),
        (READS, 10, ["Stopped: the model was not done after 10 answers.", "Its calls for this request: 10 done."]),
        (
            [GET, ContextFullError("m: too long")],
            2,
            [
                "Stopped: the conversation no longer fits into the context of the model.",
                "Its calls for this request: 1 done.",
            ],
        ),
    ],
    ids=[
        "done", "reads-again-after-a-change", "corrected", "words-alone", "lookup-alone", "wrong-again", "cut-again",
        "failed-again", "done-again", "failed-before", "lookup-again", "failures", "failures-after-one-done", "never-done",
        "context-full",
    ],
)  # fmt: skip
def test_how_a_request_ends(said: list[Said], asked: int, says: list[str]) -> None:
    lines, times = held(*said)
    assert (times, told(lines)) == (asked, says)


def test_what_was_repeated_is_not_run_again() -> None:
    lines, _ = held(GONE, GONE)
    assert [line.partition(" ")[0] for line in lines] == ["user", "call", "failed", "demo", "demo"]


def test_what_was_cut_off_is_shown() -> None:
    lines, _ = held(CUT, GET, "Done.")
    assert f"cut off {CUT}" in lines
    assert "sent back get_order: 1 problem, nothing was run." in lines


def test_a_reply_of_the_user_goes_on() -> None:
    lines, times = held("Shall I?", CANCEL, "Done.", replies=["Yes."])
    assert (times, told(lines)) == (3, [])
    assert "user Yes." in lines


def test_a_prompt_that_is_too_long_is_no_end_but_an_error() -> None:
    with pytest.raises(ContextFullError):
        held(ContextFullError("m: too long"))


# ---- the demo as a whole, with models that fail ----


class Failing:
    """A model that raises, as one of this machine: it is watched."""

    label = "failing"
    catalog_model = None

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def answer(self, messages: Sequence[Message], tools: Sequence[Message], stop: Sequence[str] = ()) -> Answer:
        raise self.error


class Entry:
    """An entry point of another package."""

    def __init__(self, found: Callable[..., object]) -> None:
        self.load = lambda: found


@pytest.fixture
def offer(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[..., object]], None]:
    """Stands in for what another package offers to the command, under any name."""
    installed = importlib.metadata.entry_points

    def put(found: Callable[..., object]) -> None:
        def entry_points(**selection: str) -> object:
            return (Entry(found),) if selection.get("group", "").startswith("tscg") else installed(**selection)

        monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)

    return put


@needs_mcp
@pytest.mark.parametrize(
    ("error", "says"),
    [
        (ModelError("m on this machine: no memory"), "error: m on this machine: no memory\n"),
        (
            ContextFullError("m: 9,000 tokens are too many"),
            "error: m: 9,000 tokens are too many; --profile brief or signature takes fewer tokens\n",
        ),
        (
            RuntimeError("out of\nmemory"),
            "error: unexpected RuntimeError: out of memory; TSCG_TRACEBACK=1 shows where\n",
        ),
        (MemoryError(), "error: unexpected MemoryError; TSCG_TRACEBACK=1 shows where\n"),
    ],
    ids=["ours", "too-long", "of-the-engine", "without-words"],
)
def test_an_error_in_the_group_of_tasks_is_one_line(
    offer: Callable[[Callable[..., object]], None], capsys: pytest.CaptureFixture[str], error: Exception, says: str
) -> None:
    offer(lambda path: Failing(error))
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--gguf", "m.gguf"])
    said = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("warning: no vocabulary")]
    assert (ended.value.code, said) == (1, [says.rstrip()])


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (ExceptionGroup("g", [KeyError("a"), tscg.TscgError("ours")]), 1, "error: ours\n"),
        (
            ExceptionGroup("g", [ExceptionGroup("h", [tscg.ConfigError("wrong", hint="do this")])]),
            2,
            "error: wrong; do this\n",
        ),
        (
            ExceptionGroup("g", [ValueError("a"), KeyError("b")]),
            1,
            "error: unexpected ValueError: a; TSCG_TRACEBACK=1 shows where\n",
        ),
        (BaseExceptionGroup("g", [KeyboardInterrupt()]), 130, "error: interrupted\n"),
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (BaseExceptionGroup("g", [BrokenPipeError()]), 1, ""),
    ],
    ids=["ours-among-others", "deep", "others", "interrupted-in-a-group", "interrupted", "reader-gone"],
)
def test_a_group_of_errors_is_one_line(
    *,
    offer: Callable[[Callable[..., object]], None],
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    error: BaseException,
    code: int,
    says: str,
) -> None:
    def command(arguments: list[str]) -> int:
        raise error

    monkeypatch.setattr("os.dup2", lambda *numbers: None)  # standard output of the tests stays what it is
    offer(command)
    with pytest.raises(SystemExit) as ended:
        main(["tune"])
    assert (ended.value.code, capfd.readouterr().err) == (code, says)


def test_a_traceback_is_that_of_the_group(
    offer: Callable[[Callable[..., object]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    def command(arguments: list[str]) -> int:
        raise ExceptionGroup("g", [ValueError("a")])

    offer(command)
    monkeypatch.setenv("TSCG_TRACEBACK", "1")
    with pytest.raises(ExceptionGroup):
        main(["tune"])


class Watched:
    """A model that says what it is at, and goes on until it is stopped."""

    label = "watched"
    catalog_model = None

    def __init__(self) -> None:
        self.report: Report = lambda doing: True
        self.ended = False

    def watched(self, report: Report) -> Watched:
        self.report = report
        return self

    def answer(self, messages: Sequence[Message], tools: Sequence[Message], stop: Sequence[str] = ()) -> Answer:
        pause = threading.Event()
        pause.wait(0.3)  # till the main thread waits for this answer
        main = threading.main_thread().ident
        assert main is not None
        signal.pthread_kill(
            main, signal.SIGINT
        )  # as the terminal does: a signal to this thread would not wake that one
        while self.report("It works"):
            pause.wait(0.01)
        self.ended = True
        raise ModelError("stopped")


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Python's own handling of an interruption, whatever the runner of the tests has put there."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@needs_mcp
@pytest.mark.usefixtures("interruptible")
def test_an_interruption_stops_the_model() -> None:
    model, screen = Watched(), io.StringIO()
    with pytest.raises(KeyboardInterrupt):
        run_demo(Console(file=screen, width=200), model=model, profile="brief")
    assert model.ended
    assert "The first answer takes longest" in screen.getvalue()
