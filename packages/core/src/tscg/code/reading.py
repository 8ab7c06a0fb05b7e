"""What a model wrote as a program: the argument of the tool that takes one, or a fenced block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tscg.calls import CallError, Fault, Program
from tscg.messages import call_error
from tscg.names import fold, undecorated

if TYPE_CHECKING:
    from tscg.resolve import Surface

__all__ = ["program_of"]

CLOSING = "Send the program as the argument code, a text."


def program_of(surface: Surface, name: object, arguments: object, id: str) -> Program | CallError | None:
    """The program in the arguments of one native call, None if it is a call of something else; nothing is run.

    >>> from tscg.ir import Catalog
    >>> from tscg.resolve import Surface
    >>> surface = Surface(catalog=Catalog(), mode="code", run_tool="run_python")
    >>> program_of(surface, "functions.run_python", '{"code": "1 + 1"}', "c1")
    Program(id='c1', code='1 + 1')
    """
    from tscg.decoders.values import Bad, read_arguments
    from tscg.shapes import found

    if not isinstance(name, str) or not _is_meant(name, surface):
        return None
    name = surface.run_tool
    try:
        given = read_arguments(arguments, surface.decoding).value
    except Bad as bad:
        return call_error(name, [bad.fault], id=id, closing=CLOSING)
    if "code" not in given:
        fault = Fault(kind="missing_required", path=("code",), expected="code")
    elif not isinstance(given["code"], str):
        fault = Fault(kind="wrong_type", path=("code",), expected="a text", found=found(given["code"]))
    else:
        return Program(id=id, code=given["code"])
    return call_error(name, [fault], id=id, closing=CLOSING)


def _is_meant(name: str, surface: Surface) -> bool:
    """Is it the name of the tool, in any case, with or without a prefix?"""
    if name == surface.run_tool:
        return True
    if len(name) > surface.decoding.max_name:
        return False
    bare = undecorated(name)
    plain = bare.replace(":", ".").rpartition(".")[2] if surface.decoding.name_prefix else bare
    return plain == surface.run_tool or (surface.decoding.name_case and fold(plain) == fold(surface.run_tool))
