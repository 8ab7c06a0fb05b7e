"""Running a program in the sandbox: calls go through the resolver to the host, everything else is refused.

The work is one generator that yields what is to be done outside (a turn of the sandbox, a call of the host) and takes
what came of it; ``run`` does it at once, ``arun`` awaits it.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from tscg.calls import Call, CallError, Fault, Program
from tscg.code.checking import faults
from tscg.code.naming import Both, naming_of
from tscg.code.results import Made, ProgramResult, stopped
from tscg.code.stubs import CHECK_HEAD, DEFINED
from tscg.code.values import NoJSON, argument, shown
from tscg.errors import ConfigError
from tscg.messages import call_error, quoted
from tscg.modes.options import Code
from tscg.resolve import Written, call_of

if TYPE_CHECKING:
    from pydantic_monty import AsyncMonty, AsyncMontySession, Monty, MontySession

    from tscg.ir import JSON
    from tscg.modes.compiled import CompiledCatalog

__all__ = ["arun", "run"]

PRELUDE = "ToolError = RuntimeError"  # the sandbox has no classes with a base; a host can raise this one
SUSPENSIONS = 1_000  # beside the calls: look-ups of names, imports, requests to the operating system
GRACE = 30.0  # seconds that a turn may take beyond its limit, the type check included, before its worker is ended
ATTEMPTS = 3  # of the calls allowed: how often a stub may be called, refused calls included
log = logging.getLogger("tscg")

Step: TypeAlias = Callable[[], Any]
Host: TypeAlias = "Callable[[Call], Any]"
AsyncHost: TypeAlias = "Callable[[Call], Awaitable[Any] | Any]"


def run(compiled: CompiledCatalog, program: Program | str, call: Host, *, pool: Monty | None = None) -> ProgramResult:
    """Run a program of code mode; ``call`` is the host's function, which makes one call and gives its result.

    ``call`` is the place for approval: what it raises is a ``ToolError`` inside the program. A worker is started for
    the program and ended with it; ``pool`` is an open pool to take it from instead. Raises :class:`tscg.ConfigError`
    for another mode and where the sandbox is not installed; what the program does wrong is in the result::

        compiled = tscg.compile(tools, "code")
        for program in compiled.decode(message).programs:
            result = tscg.code.run(compiled, program, lambda call: functions[call.name](**call.arguments))
            answer = compiled.encode_result(program, result)
    """
    sandbox = _sandbox()
    work = _Work(compiled, program)
    made = _pool(pool, lambda: sandbox.Monty(**work.pool()))
    with made as open_pool, open_pool.checkout(**work.session()) as session:
        return _drive(work.steps(session, call))


async def arun(
    compiled: CompiledCatalog, program: Program | str, call: AsyncHost, *, pool: AsyncMonty | None = None
) -> ProgramResult:
    """As :func:`run`, with a function of the host that may be a coroutine; ``pool`` is an open asynchronous pool."""
    sandbox = _sandbox()
    work = _Work(compiled, program)
    made = _pool(pool, lambda: sandbox.AsyncMonty(**work.pool()))
    async with made as open_pool, open_pool.checkout(**work.session()) as session:
        return await _adrive(work.steps(session, call))


def _sandbox() -> Any:
    try:
        import pydantic_monty
    except ImportError:
        raise ConfigError("programs need a sandbox", hint="pip install 'tscg[code]'") from None
    return pydantic_monty


def _exported(stubs: str) -> str:
    """The stubs for the type checker, which takes no name with an underscore before it unless it is listed."""
    names = [name or other for name, other in DEFINED.findall(stubs)]
    return f"{stubs}\n__all__ = {names!r}\n" if any(name.startswith("_") for name in names) else stubs


class _Kept:
    """A pool that somebody else opened and closes."""

    def __init__(self, pool: Any) -> None:
        self.pool = pool

    def __enter__(self) -> Any:
        return self.pool

    def __exit__(self, *_: object) -> None:
        return None

    async def __aenter__(self) -> Any:
        return self.pool

    async def __aexit__(self, *_: object) -> None:
        return None


def _pool(pool: Any, made: Callable[[], Any]) -> Any:
    return _Kept(pool) if pool is not None else made()


def _drive(steps: Generator[Step, Any, ProgramResult]) -> ProgramResult:
    try:
        step = next(steps)
        while True:
            try:
                got = step()
                if hasattr(got, "__await__"):
                    if hasattr(got, "close"):
                        got.close()
                    raise ConfigError("call() gives an awaitable", hint="await tscg.code.arun(...)")
            except BaseException as error:  # noqa: BLE001  # the generator raises again what is not its own
                step = steps.throw(error)
            else:
                step = steps.send(got)
    except StopIteration as done:
        result: ProgramResult = done.value
        return result


async def _adrive(steps: Generator[Step, Any, ProgramResult]) -> ProgramResult:
    try:
        step = next(steps)
        while True:
            try:
                got = step()
                if hasattr(got, "__await__"):
                    got = await got
            except BaseException as error:  # noqa: BLE001  # the generator raises again what is not its own
                step = steps.throw(error)
            else:
                step = steps.send(got)
    except StopIteration as done:
        result: ProgramResult = done.value
        return result


class _Limit(Exception):
    """Ends a program from inside a callback."""


class _Work:
    """One run of one program."""

    def __init__(self, compiled: CompiledCatalog, program: Program | str) -> None:
        if not isinstance(compiled.options, Code):
            raise ConfigError(f"the catalog is compiled in {compiled.mode} mode", hint="compile it with mode='code'")
        self.compiled, self.options = compiled, compiled.options
        self.program = Program(code=program) if isinstance(program, str) else program
        self.naming = naming_of(compiled.surface)
        self.made: list[Made] = []
        self.attempts = 0
        self.said: list[str] = []
        self.room = self.options.printed
        self.tool_error = ""

    # --- the sandbox ------------------------------------------------------------------------------------------------

    def pool(self) -> dict[str, Any]:
        """Options of a pool that serves one program."""
        return {
            "max_processes": 1, "max_checkouts_per_worker": 1, "request_timeout": self.options.seconds + GRACE,
        }  # fmt: skip

    def session(self) -> dict[str, Any]:
        """Options of the session: limits, stubs, and no clock and no chance unless they are opened."""
        from datetime import UTC, datetime

        options = self.options
        policy: dict[str, Any] = {"sleep": "zero"}
        if not options.clock:
            policy["datetime"] = datetime(2000, 1, 1, tzinfo=UTC)
        if not options.random:
            policy["random_start"] = {"seed": 0}
        return {
            "limits": {
                "max_feed_duration_secs": options.seconds, "max_memory": options.memory,
                "max_recursion_depth": options.recursion, "max_suspensions": SUSPENSIONS + ATTEMPTS * options.max_calls,
            },
            "type_check": options.type_check, "type_check_stubs": _exported(CHECK_HEAD + self.compiled.text),
            "type_check_format": "concise", "os_policy": policy,
        }  # fmt: skip

    def print(self, stream: str, text: str) -> None:
        """Take what the program prints; end it where that is too much."""
        self.said.append(text[: self.room])
        self.room -= len(text)
        if self.room < 0:
            raise _Limit

    # --- the program ------------------------------------------------------------------------------------------------

    def steps(self, session: MontySession | AsyncMontySession, host: AsyncHost) -> Generator[Step, Any, ProgramResult]:
        """The whole run: yields what is to be done, takes what came of it."""
        from pydantic_monty import MontyComplete, MontyError, MontyTypingError

        code, unsure = self.program.code, False
        while True:
            try:
                yield lambda: session.feed_run(PRELUDE, skip_type_check=True)
                start = partial(session.feed_start, code, print_callback=self.print, skip_type_check=unsure)
                snapshot = yield start
                while not isinstance(snapshot, MontyComplete):
                    answer = yield from self.answer(snapshot, host)
                    if answer is None:
                        return self.stop("program_limit", [f"it may make at most {self.options.max_calls} calls."])
                    snapshot = yield answer
            except MontyTypingError as error:  # nothing of the program has run
                sure = faults(error.display(), code)
                if sure or unsure:
                    reasons = [f"line {line}: {message}" for line, message in sure] or [error.display()]
                    return self.stop("program_invalid", reasons)
                unsure = True
            except MontyError as error:
                return self.failed(error)
            else:
                return self.finished(snapshot.output)

    def answer(self, snapshot: Any, host: AsyncHost) -> Generator[Step, Any, Step | None]:
        """How a program that waits goes on; None if it may not."""
        if hasattr(snapshot, "variable_name"):
            return self.name(snapshot)
        if not hasattr(snapshot, "function_name"):  # nothing here is a future
            return lambda: snapshot.resume({})
        if snapshot.is_os_function:
            refuse: Step = snapshot.resume_not_handled
            return refuse
        function: str = snapshot.function_name
        name = self.naming.tool.get(function)
        if function in self.compiled.surface.retired:
            return self.refused(snapshot, call_error(function, [gone(function)]).message)
        if name is None or snapshot.object_id is not None:
            text = f"name '{function}' is not defined"
            return lambda: snapshot.resume({"exc_type": "NameError", "message": text})
        self.attempts += 1
        if len(self.made) >= self.options.max_calls or self.attempts > ATTEMPTS * self.options.max_calls:
            return None
        resolved = self.resolved(name, snapshot.args, snapshot.kwargs)
        if isinstance(resolved, str):
            return self.refused(snapshot, resolved)
        call = resolved
        try:
            given = yield lambda: host(call)
        except (ConfigError, GeneratorExit):
            raise
        except Exception as error:  # noqa: BLE001  # whatever the tool raises is the program's to handle
            log.info("%s raised %s inside a program", name, type(error).__name__)
            said = f"{function}: {str(error) or type(error).__name__}"
            self.made.append(Made(call=call, error=str(error) or type(error).__name__))
            return self.refused(snapshot, said)
        result = shown(given)
        self.made.append(Made(call=call, result=result))
        return lambda: snapshot.resume({"return_value": result})

    def refused(self, snapshot: Any, text: str) -> Step:
        """A ``ToolError`` inside the program."""
        self.tool_error = text
        return lambda: snapshot.resume({"exc_type": "RuntimeError", "message": text})

    def name(self, snapshot: Any) -> Step:
        """A name that the program reads without calling it: a stub, or nothing."""
        wanted = snapshot.variable_name
        if snapshot.object_id is not None or wanted not in {*self.naming.tool, *self.compiled.surface.retired}:
            unknown: Step = snapshot.resume
            return unknown

        def stub() -> None:
            """Only its name crosses."""

        stub.__name__ = wanted
        return lambda: snapshot.resume(value=stub)

    def resolved(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Call | str:
        """The call, or the text of the error that the program gets."""
        function = self.naming.function[name]
        if args:
            return f"{function}: arguments by name only, nothing was run."
        try:
            given = argument(kwargs)
            assert isinstance(given, dict)
            arguments = self.naming.original(name, given)
        except NoJSON as error:
            return f"{function}: {error}, nothing was run."
        except Both as both:
            return f"{function}: {both.alias} and {both.name!r} are the same argument, nothing was run."
        surface = self.compiled.surface
        item = call_of(surface, surface.index.entries[name], arguments, Written())
        return item if isinstance(item, Call) else self.told(name, item)

    def told(self, name: str, error: CallError) -> str:
        """The message of a refused call, with the names that the stubs have."""
        aliases, function = self.naming.params(name), self.naming.function[name]
        if not aliases and function == name:
            return error.message
        entry = self.compiled.sent.entries.get(name, "")
        head = next((line for line in entry.split("\n") if line.startswith(f"def {function}(")), "")
        renamed = [_renamed(fault, aliases) for fault in error.faults]
        message = call_error(function, renamed, closing="").message
        return f"{message}\n{head.removesuffix(' ...').removesuffix(':').removeprefix('def ')}"

    # --- the end ----------------------------------------------------------------------------------------------------

    def stop(self, kind: str, reasons: list[str]) -> ProgramResult:
        return stopped(
            kind, reasons, self.made, id=self.program.id, printed="".join(self.said),
            function=lambda name: self.naming.function.get(name, name),
        )  # fmt: skip

    def finished(self, output: Any) -> ProgramResult:
        """The value of the last expression; a value that is too large ends in an error."""
        from tscg.schema import minified

        value: JSON = shown(output)
        size = len(minified(value).encode("utf-8", "surrogatepass"))
        if size > self.options.result:
            return self.stop("program_limit", [f"its value has {size} bytes, more than {self.options.result}."])
        return ProgramResult(value=value, printed="".join(self.said), calls=tuple(self.made))

    def failed(self, error: Any) -> ProgramResult:
        """What ended the program, told by what the sandbox raised."""
        from pydantic_monty import MontyCrashedError, MontyRuntimeError

        options = self.options
        if self.room < 0:
            return self.stop("program_limit", [f"it printed more than {options.printed} characters."])
        if isinstance(error, MontyCrashedError):
            return self.stop("program_limit", ["the sandbox was ended: it took too long or too much."])
        inner = error.exception()
        message = str(inner)
        limits = {
            TimeoutError: f"it ran for more than {options.seconds:g} s." if "time limit exceeded" in message else "",
            MemoryError: f"it used more than {options.memory} bytes of memory.",
            RecursionError: f"it went deeper than {options.recursion} calls.",
            RuntimeError: "it looked up too many names." if message.startswith("suspension limit") else "",
        }
        reason = limits.get(type(inner), "")
        if reason:
            return self.stop("program_limit", [f"{self.place(error)}{reason}"])
        if not isinstance(error, MontyRuntimeError) or "syntax parser" in message:
            return self.stop("program_invalid", [f"{self.place(error)}{message.replace('The monty', 'the')}"])
        kind = "ToolError" if message and message == self.tool_error else type(inner).__name__
        return self.stop("program_failed", [f"{self.place(error)}{kind}{f': {message}' if message else ''}"])

    def place(self, error: Any) -> str:
        """The line of the program, where one is known: the innermost that is its own."""
        frames = error.traceback() if hasattr(error, "traceback") else []
        return f"line {frames[-1].line}: " if frames else ""


def gone(function: str) -> Fault:
    """The fault of a call of a tool that is no more."""
    return Fault(kind="unavailable_tool", found=quoted(function))


def _renamed(fault: Fault, aliases: Any) -> Fault:
    from dataclasses import replace

    path = fault.path
    if path and isinstance(path[0], str):
        path = (aliases.get(path[0], path[0]), *path[1:])
    expected = fault.expected
    if fault.kind in ("missing_required", "unexpected_argument"):
        expected = ", ".join(aliases.get(one, one) for one in expected.split(", "))
    return replace(fault, path=path, expected=expected)
