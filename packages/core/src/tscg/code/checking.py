"""What the type checker says of a program, without what it cannot be sure of.

A call is validated when it is made. So a fault counts here only if no value that the checker thinks possible would do:
it takes the list ``["open"]`` for any list of texts, and a dict for anything but the class that it is meant to be.
"""

from __future__ import annotations

import ast
import builtins
import re

__all__ = ["faults", "may_fit"]

LINE = re.compile(r"[^:\n]*:(\d+):(\d+): error\[([a-z-]+)\] (.*)")
TYPES = re.compile(
    r"(?:Expected `(?P<e1>.*?)`, found `(?P<f1>.*)`"
    r"|expected `(?P<e2>.*?)`, found `(?P<f2>.*)`"
    r"|declared type `(?P<e3>.*?)`.*: value of type `(?P<f3>.*)`"
    r"|Object of type `(?P<f4>.*?)` is not assignable to `(?P<e4>.*?)`)"
)
QUOTED = re.compile(r"`([^`]*)`")
NONE_ALONE = frozenset({"not-subscriptable", "unresolved-attribute", "not-iterable"})


def faults(said: str, code: str) -> list[tuple[int, str]]:
    """Line and message of each sure fault in what the checker printed of a program.

    >>> faults("main.py:1:3: error[invalid-argument-type] Argument to function `f` is incorrect: "
    ...        "Expected `str`, found `Literal[1]`", "f(a=1)")
    [(1, 'Argument to function `f` is incorrect: Expected `str`, found `Literal[1]`')]
    """
    lines = code.split("\n")
    found: list[tuple[int, str]] = []
    for match in LINE.finditer(said):
        line, column, rule, message = int(match[1]), int(match[2]), match[3], match[4]
        source = lines[line - 1] if line <= len(lines) else ""
        unpacked = source.encode()[column - 1 :].startswith(b"**")
        if not unpacked and _is_sure(rule, message) and (line, message) not in found:
            found.append((line, message))
    return found


def _is_sure(rule: str, message: str) -> bool:
    types = TYPES.search(message)
    if types is not None:
        found = next(types[name] for name in ("f1", "f2", "f3", "f4") if types[name] is not None)
        expected = next(types[name] for name in ("e1", "e2", "e3", "e4") if types[name] is not None)
        return not may_fit(found, expected)
    told = QUOTED.findall(message)
    if rule == "unresolved-reference":
        return not _is_exception(told)
    if rule in ("invalid-syntax", "unresolved-import"):
        return True
    if rule in NONE_ALONE and "None" in told:
        return False
    return not any(" | " in text for text in told)


def _is_exception(told: list[str]) -> bool:
    """Is it an exception that the sandbox has, and its type checker has not?"""
    found = getattr(builtins, told[0], None) if told else None
    return isinstance(found, type) and issubclass(found, BaseException)


def may_fit(found: str, expected: str) -> bool:
    """May a value of one type be one of the other? Types as the checker prints them; yes where that cannot be read.

    >>> may_fit("list[str]", 'list[Literal["a", "b"]]'), may_fit("str | None", "str"), may_fit("int", "str")
    (True, True, False)
    """
    try:
        left, right = (ast.parse(text.replace("*", "").strip(), mode="eval").body for text in (found, expected))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    return any(_fits(one, other) for one in _branches(left) for other in _branches(right))


NUMBERS = {"bool": ("bool", "int", "float"), "int": ("int", "float"), "float": ("int", "float")}
SCALARS = frozenset({"str", "int", "float", "bool", "None", "bytes"})
OPEN = ("Any", "Unknown", "object", "")
LISTS = frozenset({"list", "tuple", "Sequence", "Iterable"})


def _branches(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return [*_branches(node.left), *_branches(node.right)]
    if isinstance(node, ast.Subscript) and _name(node.value) == "Literal":
        return [ast.Constant(value=_value(one)) for one in _arguments(node)]
    return [node]


def _value(node: ast.expr) -> str | int | None:
    try:
        found: str | int | None = ast.literal_eval(node)
    except ValueError:
        return None
    return found


def _fits(found: ast.expr, expected: ast.expr) -> bool:
    left, right = _head(found), _head(expected)
    if isinstance(found, ast.Constant) and isinstance(expected, ast.Constant) and "None" not in (left, right):
        return type(found.value) is type(expected.value) and found.value == expected.value
    if left in LISTS and right in LISTS:
        return _items_fit(found, expected)
    if left in SCALARS and right in SCALARS:
        return right in NUMBERS.get(left, (left,))
    for kind in (SCALARS, LISTS):
        if (left in kind) != (right in kind):
            return (right if left in kind else left) in OPEN
    return True


def _items_fit(found: ast.expr, expected: ast.expr) -> bool:
    """Is each kind of item a possible one?"""
    if not isinstance(found, ast.Subscript) or not isinstance(expected, ast.Subscript):
        return True
    wanted = [branch for one in _arguments(expected) for branch in _branches(one)]
    return all(any(_fits(branch, other) for other in wanted) for one in _arguments(found) for branch in _branches(one))


def _head(node: ast.expr) -> str:
    """The outermost word of a type; that of a literal is its kind."""
    if isinstance(node, ast.Constant):
        return "None" if node.value is None else type(node.value).__name__
    return _name(node.value) if isinstance(node, ast.Subscript) else _name(node)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else ""


def _arguments(node: ast.Subscript) -> list[ast.expr]:
    return list(node.slice.elts) if isinstance(node.slice, ast.Tuple) else [node.slice]
