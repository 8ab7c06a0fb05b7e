"""Code mode: rules and typed stubs in the prompt; the model writes a program that calls them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tscg.code.naming import Naming, run_tool
from tscg.code.stubs import stubs
from tscg.errors import ConfigError
from tscg.modes.names import wire_names
from tscg.modes.options import Code
from tscg.modes.parts import Parts
from tscg.modes.sent import Sent

if TYPE_CHECKING:
    from tscg.modes.compiled import CompiledCatalog

__all__ = ["code", "code_after", "rules"]

BOUNDS = ("max_calls", "seconds", "memory", "recursion", "printed", "result")


def code(options: Code, parts: Parts) -> Sent:
    """What code mode sends: one wire tool, or none where the program comes as text."""
    _check(options)
    if not len(parts.shown):
        return Sent()
    made = stubs(parts.shown)
    names = [name for tool in parts.tools for name in (tool.name, tool.local_name)]
    name = run_tool({*parts.taken, *names, *wire_names(names).values()})
    native = options.transport == "native"
    return Sent(
        prompt=f"{rules(options, name, must_call=parts.must_call)}\n{made.text}",
        text=made.text,
        entries=made.entries,
        run_tool=name,
        codes=made.naming.function,
        wire=(_wire(name),) if native else (),
    )


def code_after(options: Code, parts: Parts, previous: CompiledCatalog) -> Sent:
    """Code mode behind an earlier compilation: the old stubs, and behind them those of new and changed tools.

    Functions keep their names; those of tools that are gone stay in the text, and their calls are refused.
    """
    was = previous.sent
    if not previous.text:
        return code(options, parts)
    naming = Naming(parts.shown, was.codes)
    listed = previous.listed
    new = parts.shown.replace([tool for tool in parts.shown if listed.get(tool.name) != tool])
    made = stubs(new, naming, previous.text)
    text = "\n".join([previous.text, *made.entries.values()])
    head, _, tail = previous.prompt.partition(previous.text)
    codes = {**was.codes, **naming.function}
    return Sent(
        prompt=f"{head}{text}{tail}",
        text=text,
        entries={**previous.entries, **made.entries},
        run_tool=was.run_tool,
        codes=codes,
        retired=frozenset(codes.values()).difference(naming.function.values()),
        wire=(_wire(was.run_tool),) if options.transport == "native" else (),
    )


def rules(options: Code, name: str, *, must_call: bool = False) -> str:
    """How to act by a program: at most 90 tokens."""
    if options.transport == "native":
        first = f"To act, pass a Python program to {name}; it can call the functions below."
    else:
        first = (
            "To act, write one ```python block; it can call the functions below. Its output comes in <tool_response>."
        )
    return " ".join([
        first,
        "Arguments by name only; leave out those with `...` as you like. A wrong call raises ToolError.",
        "You get back what is printed and the value of the last expression.",
        f"Standard library only: no files, network{'' if options.clock else ', clock'} or class inheritance,",
        f"at most {options.max_calls} calls.",
        *(["You must run a program."] if must_call else []),
    ])  # fmt: skip


def _wire(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"code": {"type": "string"}}, "required": ["code"]}
    return {"name": name, "description": "Runs a Python program.", "parameters": parameters}


def _check(options: Code) -> None:
    for bound in BOUNDS:
        value = getattr(options, bound)
        if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
            raise ConfigError(f"code: {bound} is {value!r}", hint="give a number above 0")
