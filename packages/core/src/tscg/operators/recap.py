"""What a recap after the catalog says of one tool, on a single line: its name, required parameters, listed values.

The spelling is that of the language, so a name or value that could end the line or open another is a JSON string in it.
"""

from __future__ import annotations

from collections.abc import Iterable

from tscg.ir import Enum, Param, Tool
from tscg.language.spelling import literal, name

__all__ = ["entry", "fit", "listed", "required"]


def required(tool: Tool) -> tuple[Param, ...]:
    """Required parameters of a tool, top level."""
    return tuple(param for param in tool.params if param.required)


def listed(param: Param) -> tuple[str, ...]:
    """Listed values of a parameter as minified JSON, empty where it has none."""
    return param.type.values if isinstance(param.type, Enum) else ()


def entry(tool: Tool, params: Iterable[Param] | None = None, values: Iterable[str] = ()) -> str:
    """The recap of one tool: its name alone, or with ``params``, of which those named in ``values`` show their listed
    values.

    >>> from tscg.ir import Object
    >>> state = Param(name="state", required=True, type=Enum(values=('"open"', '"closed"')))
    >>> tool = Tool(name="set_state", root=Object(params=(state,)))
    >>> entry(tool), entry(tool, tool.params), entry(tool, tool.params, ["state"])
    ('set_state', 'set_state(state)', 'set_state(state(open closed))')
    """
    if params is None:
        return name(tool.name)
    shown = frozenset(values)
    words = []
    for param in params:
        word = name(param.name)
        if param.name in shown:
            word += f"({' '.join(map(literal, listed(param)))})"
        words.append(word)
    return f"{name(tool.name)}({' '.join(words)})"


def fit(head: str, entries: Iterable[str]) -> str:
    """One line of the head and its entries, empty when there are none."""
    line = " ".join(entries)
    return f"{head} {line}" if line else ""
