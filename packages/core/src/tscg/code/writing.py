"""A call as the program that makes it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from tscg.code.naming import RESERVED, Naming, aliases, is_spelled, naming_of, top
from tscg.code.types import is_record, quoted
from tscg.ir import AnyType, Array, Boolean, Enum, Integer, Node, Null, Number, Object, String, Union

if TYPE_CHECKING:
    from tscg.calls import Call
    from tscg.ir import JSON
    from tscg.resolve import Surface

__all__ = ["as_program", "fenced", "is_text", "program"]

WHOLE = 2.0**53  # below it a float without a fraction is written as an integer


def is_text(surface: Surface) -> bool:
    """Do programs come as a fenced block, and not as the argument of a tool?"""
    return getattr(surface.options, "transport", "native") == "text"


def as_program(surface: Surface, call: Call) -> str:
    """The program that makes a call, also of a tool that is not there."""
    naming = naming_of(surface)
    if call.name in naming.tools:
        return program(naming, call)
    name = aliases([call.name], RESERVED).get(call.name, call.name)
    return f"import json\n{name}(**{_loaded(call.arguments)})"


def fenced(arguments: Mapping[str, JSON]) -> str:
    """The argument of the tool that takes a program, as the model writes it in text."""
    return f"```python\n{arguments.get('code', '')}\n```"


def program(naming: Naming, call: Call) -> str:
    """The program that makes a call. Run, it gives the host these arguments, exactly.

    >>> from tscg.calls import Call
    >>> from tscg.ir import Param, Tool
    >>> root = Object(params=(Param(name="from", required=True, type=String()),))
    >>> print(program(Naming([Tool(name="mail", root=root)]), Call(name="mail", arguments={"from": "a", "x": [1]})))
    import json
    mail(from_="a", **json.loads("{\\"x\\":[1]}"))
    """
    tool = naming.tools[call.name]
    renamed = naming.params(call.name)
    types = {param.name: param.type for param in top(tool).params}
    named, rest = [], {}
    for name, value in call.arguments.items():
        alias = renamed.get(name, name)
        if name in types and is_spelled(alias):
            plain = _is_plain(value, types[name])
            named.append(f"{alias}={_written(value) if plain else _loaded(value)}")
        else:  # a stub that does not show it cannot take it by name
            rest[name] = value
    if rest:
        named.append(f"**{_loaded(rest)}")
    code = f"{naming.function[call.name]}({', '.join(named)})"
    return f"import json\n{code}" if "json.loads(" in code else code


def _loaded(value: JSON) -> str:
    return f"json.loads({_quoted(json.dumps(value, ensure_ascii=False, separators=(',', ':'), allow_nan=False))})"


def _quoted(text: str) -> str:
    """A string literal in which no marker of a dialect stands."""
    from tscg.decoders.marks import neutralise

    return neutralise(quoted(text))


def _written(value: JSON) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_written, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_quoted(key)}: {_written(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, float) and value.is_integer() and abs(value) < WHOLE and str(value) != "-0.0":
        return repr(int(value))
    return repr(value)


def _is_plain(value: JSON, node: Node | None) -> bool:
    """Is a value certainly what the stub says, so that it can stand as a literal?"""
    if node is None or isinstance(node, AnyType):
        return True
    if not getattr(node, "typed", True):
        return False
    if isinstance(node, Union):
        return any(_is_plain(value, branch) for branch in node.branches)
    if isinstance(value, str):
        return isinstance(node, String) or _is_member(value, node)
    if value is None:
        return isinstance(node, Null) or _is_member(value, node)
    if isinstance(value, bool):
        return isinstance(node, Boolean) or _is_member(value, node)
    if isinstance(value, int | float):
        whole = isinstance(value, int) or (value.is_integer() and abs(value) < WHOLE)
        return _is_member(value, node) or (isinstance(node, Number) and (whole or not isinstance(node, Integer)))
    if isinstance(value, list):
        return _is_plain_list(value, node)
    return _is_plain_object(value, node)


def _is_member(value: JSON, node: Node) -> bool:
    return isinstance(node, Enum) and json.dumps(value, ensure_ascii=False, separators=(",", ":")) in node.values


def _is_plain_list(value: list[JSON], node: Node) -> bool:
    if not isinstance(node, Array) or node.prefix:
        return False
    return all(_is_plain(one, node.items) for one in value)


def _is_plain_object(value: dict[str, JSON], node: Node) -> bool:
    if not isinstance(node, Object):
        return False
    if not is_record(node):
        return not node.params and all(_is_plain(inner, node.rest) for inner in value.values())
    fields = {param.name: param.type for param in node.params}
    needed = {param.name for param in node.params if param.required}
    return needed <= value.keys() <= fields.keys() and all(_is_plain(value[key], fields[key]) for key in value)
