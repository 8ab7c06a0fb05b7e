"""Calls written as Python: literals only, read with a limit, never run."""

from __future__ import annotations

import ast
import keyword
import math
import re
from typing import Any

from tscg.calls import Fault
from tscg.decoders.objects import Raw

__all__ = ["python_calls"]

WORDS = {"true": True, "false": False, "null": None}
TEXT_LIMIT = 1_000_000  # characters
SIGNS = re.compile(r"[-+~!]{64}|(?:not){64}|(?:lambda:){64}")
STRINGS = re.compile(r"[rR]?(\"\"\"|'''|\"|')", re.DOTALL)
ENDS = {quote: re.compile(r"\\.|" + quote, re.DOTALL) for quote in ('"""', "'''", '"', "'")}
ESCAPES = re.compile(r"\\(.)", re.DOTALL)
LEGAL = frozenset("\n\r\\'\"abfnrtv01234567xNuU")
MARK = "_keyword_of_python"
KEYWORDS = re.compile(rf"\b({'|'.join(keyword.kwlist)})(\s*=(?!=))")


class NotLiteral(Exception):
    """Something that is no literal: what it is, and the kind of the fault."""

    def __init__(self, what: str, kind: str = "unparsed_call") -> None:
        super().__init__(what)
        self.kind = kind


def python_calls(text: str, max_depth: int = 64) -> list[Raw]:
    """The calls of an expression: one call or a list of them. A :class:`Raw` with a fault where it holds anything else.

    >>> [(raw.name, raw.arguments) for raw in python_calls('[a.f(x=-1, y=[true, None]), g()]')]
    [('a.f', {'x': -1, 'y': [True, None]}), ('g', {})]
    >>> python_calls('[f(x=open("a"))]')[0].fault.kind
    'unparsed_call'
    """
    try:
        tree = _parsed(text, max_depth)
    except NotLiteral as error:
        return [_refused("", str(error), error.kind)]
    body: list[ast.expr] = tree.elts if isinstance(tree, ast.List | ast.Tuple) else [tree]
    return [_call(node) for node in body] or [_refused("", "an empty list")]


def _refused(name: str, found: str, kind: str = "unparsed_call") -> Raw:
    expected = found if kind == "too_deep" else "literals as arguments"
    return Raw(name=name, fault=Fault(kind=kind, found=found[:80], expected=expected), whole=False)


def _parsed(text: str, max_depth: int) -> ast.expr:
    if len(text) > TEXT_LIMIT:
        raise NotLiteral("a text that is too long")
    pieces = _pieces(text)
    bare = "".join(pieces[::2])
    depth = deepest = 0
    for char in bare:
        depth += (char in "([{") - (char in ")]}")
        deepest = max(deepest, depth)
    if deepest > max_depth + 1:  # the parentheses are the first level of the arguments, and a list stands around
        raise NotLiteral(f"at most {max_depth} levels", "too_deep")
    if SIGNS.search("".join(bare.split())):
        raise NotLiteral("nested too deeply")
    # A parameter may be called `from`: no name of Python, but one that models write all the same.
    pieces[::2] = [KEYWORDS.sub(rf"\1{MARK}\2", piece) for piece in pieces[::2]]
    try:
        return ast.parse("".join(pieces).strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError, Warning) as error:
        raise NotLiteral(f"no Python literal ({type(error).__name__})") from None


def _pieces(text: str) -> list[str]:
    """The text cut at its strings: what stands between them, then a string, and so on."""
    out: list[str] = []
    at = 0
    while match := STRINGS.search(text, at):
        out.append(text[at : match.start()])
        start, end = match.start(), ENDS[match.group(1)]
        at = match.end()
        while found := end.search(text, at):
            at = found.end()
            if found.group()[0] != "\\":
                break
        else:
            raise NotLiteral("a string that does not end")
        out.append(text[start:at] if text[start] in "rR" else ESCAPES.sub(_legal, text[start:at]))
    out.append(text[at:])
    if any(not piece.strip() for piece in out[2:-1:2]):
        raise NotLiteral("strings side by side")
    return out


def _legal(match: re.Match[str]) -> str:
    """An escape that Python knows, else the backslash as a letter."""
    return match.group() if match.group(1) in LEGAL else "\\" + match.group()


def _call(node: ast.expr) -> Raw:
    if not isinstance(node, ast.Call):
        return _refused("", f"{_what(node)} instead of a call")
    name = _dotted(node.func)
    if not name:
        return _refused("", f"{_what(node.func)} as name")
    arguments: dict[str, Any] = {}
    try:
        bare = tuple(_literal(part) for part in node.args)
        for part in node.keywords:
            if part.arg is None:
                return _refused(name, "** instead of names")
            key = part.arg.removesuffix(MARK)
            if key in arguments:
                return _refused(name, f'"{key[:76]}"', "duplicate_key")
            arguments[key] = _literal(part.value)
    except NotLiteral as error:
        return _refused(name, str(error))
    if len(bare) == 1 and isinstance(bare[0], dict) and not arguments:
        return Raw(name=name, arguments=bare[0])
    return Raw(name=name, arguments=arguments, bare=bare or None)


def _dotted(node: ast.expr) -> str:
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def _literal(node: ast.expr) -> Any:
    if isinstance(node, ast.Constant):
        if isinstance(node.value, float) and math.isinf(node.value):
            raise NotLiteral("a number that a double cannot hold")
        if isinstance(node.value, str | int | float) or node.value is None:
            return node.value
        raise NotLiteral(_what(node))
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(part) for part in node.elts]
    if isinstance(node, ast.Dict):
        out: dict[Any, Any] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            name = _literal(key) if key is not None else None
            if not isinstance(name, str):
                raise NotLiteral("a key that is no text" if key is not None else "** instead of keys")
            if name in out:
                raise NotLiteral(f"the key {name} twice")
            out[name] = _literal(value)
        return out
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        value = _literal(node.operand)
        if isinstance(value, int | float) and not isinstance(value, bool):
            return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.Name) and node.id in WORDS:
        return WORDS[node.id]
    raise NotLiteral(_what(node))


def _what(node: ast.AST) -> str:
    words: dict[str, str] = {
        "Call": "a call as value",
        "Name": "a name as value",
        "JoinedStr": "a formatted string",
        "Set": "a set",
        "ListComp": "a comprehension",
        "Constant": "a constant that is no JSON value",
        "Starred": "* instead of values",
    }
    return words.get(type(node).__name__, "an expression")
