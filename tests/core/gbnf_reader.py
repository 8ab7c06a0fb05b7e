"""A small reader of GBNF for tests: it parses a grammar, checks its names, and says whether a text is in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

TOKEN = re.compile(
    r'\s+|(?P<text>"(?:[^"\\]|\\.)*")|(?P<set>\[(?:[^\]\\]|\\.)*\])|(?P<name>[A-Za-z][A-Za-z0-9-]*)'
    r"|(?P<times>\{\d+(?:,\d*)?\})|(?P<sign>[()|*+?])"
)
RULE = re.compile(r"([A-Za-z][A-Za-z0-9-]*) ::= (.+)")
ESCAPE = re.compile(r'\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([nrt\\"\[\]]))')
SIGNS = {"*": (0, None), "+": (1, None), "?": (0, 1)}
Node = tuple[Any, ...]


def unescaped(text: str) -> str:
    """A terminal without its escapes; a backslash before anything else is an error, as in llama.cpp."""
    assert not re.search(r"\\", ESCAPE.sub("", text)), text

    def char(match: re.Match[str]) -> str:
        code = match.group(1) or match.group(2) or match.group(3)
        return chr(int(code, 16)) if code else {"n": "\n", "r": "\r", "t": "\t"}.get(match.group(4), match.group(4))

    return ESCAPE.sub(char, text)


@dataclass
class Grammar:
    """Rules as trees; ``takes`` says whether a text is derived from ``root``."""

    rules: dict[str, Node] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Grammar:
        """Read a grammar: a rule a line."""
        made = cls()
        for line in text.splitlines():
            match = RULE.fullmatch(line)
            assert match, line
            name, body = match.groups()
            assert name not in made.rules, name
            made.rules[name] = _Parser(body).whole()
        for body in made.rules.values():
            for used in _names(body):
                assert used in made.rules, used
        assert not made.left_recursive()
        return made

    def left_recursive(self) -> list[str]:
        """Rules that may begin with themselves."""
        nullable: set[str] = set()
        while True:
            more = {name for name, body in self.rules.items() if name not in nullable and _empty(body, nullable)}
            if not more:
                break
            nullable |= more
        begins = {name: _begins(body, nullable) for name, body in self.rules.items()}
        closed = {name: set(found) for name, found in begins.items()}
        out = []
        for name in closed:
            seen: set[str] = set()
            waiting = list(begins[name])
            while waiting:
                one = waiting.pop()
                if one not in seen:
                    seen.add(one)
                    waiting += begins[one]
            if name in seen:
                out.append(name)
        return out

    def takes(self, text: str) -> bool:
        """Whether the whole text is in the grammar."""
        return len(text) in _Matcher(self.rules, text).ends(("name", "root"), 0)


class _Parser:
    def __init__(self, body: str) -> None:
        self.tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(body):
            match = TOKEN.match(body, at)
            assert match, body[at:]
            at = match.end()
            if match.lastgroup:
                self.tokens.append((match.lastgroup, match.group()))
        self.at = 0

    def whole(self) -> Node:
        node = self.either()
        assert self.at == len(self.tokens), self.tokens[self.at :]
        return node

    def peek(self) -> tuple[str, str]:
        return self.tokens[self.at] if self.at < len(self.tokens) else ("", "")

    def either(self) -> Node:
        ways = [self.row()]
        while self.peek() == ("sign", "|"):
            self.at += 1
            ways.append(self.row())
        return ways[0] if len(ways) == 1 else ("either", tuple(ways))

    def row(self) -> Node:
        items: list[Node] = []
        while self.peek()[0] and self.peek()[1] not in ("|", ")"):
            items.append(self.item())
        assert items, "an empty alternative"
        return items[0] if len(items) == 1 else ("row", tuple(items))

    def item(self) -> Node:
        kind, text = self.tokens[self.at]
        self.at += 1
        node: Node
        if kind == "text":
            node = ("text", unescaped(text[1:-1]))
        elif kind == "set":
            node = ("set", re.compile(text))
        elif kind == "name":
            node = ("name", text)
        else:
            assert text == "(", text
            node = self.either()
            assert self.peek() == ("sign", ")")
            self.at += 1
        kind, text = self.peek()
        if kind == "times" or text in SIGNS:
            self.at += 1
            if kind == "times":
                least, comma, most = text[1:-1].partition(",")
                bounds = (int(least), int(most) if most else None if comma else int(least))
            else:
                bounds = SIGNS[text]
            node = ("times", node, *bounds)
        return node


def _names(node: Node) -> list[str]:
    if node[0] == "name":
        return [node[1]]
    inner = node[1] if node[0] in ("either", "row") else (node[1],) if node[0] == "times" else ()
    return [name for one in inner for name in _names(one)]


def _empty(node: Node, nullable: set[str]) -> bool:
    kind = node[0]
    if kind == "name":
        return node[1] in nullable
    if kind == "either":
        return any(_empty(one, nullable) for one in node[1])
    if kind == "row":
        return all(_empty(one, nullable) for one in node[1])
    if kind == "times":
        return node[2] == 0 or _empty(node[1], nullable)
    return kind == "text" and not node[1]


def _begins(node: Node, nullable: set[str]) -> set[str]:
    kind = node[0]
    if kind == "name":
        return {node[1]}
    if kind == "either":
        return {name for one in node[1] for name in _begins(one, nullable)}
    if kind == "times":
        return _begins(node[1], nullable)
    out: set[str] = set()
    for one in node[1] if kind == "row" else ():
        out |= _begins(one, nullable)
        if not _empty(one, nullable):
            break
    return out


class _Matcher:
    def __init__(self, rules: dict[str, Node], text: str) -> None:
        self.rules, self.text = rules, text
        self.known: dict[tuple[str, int], frozenset[int]] = {}

    def ends(self, node: Node, at: int) -> frozenset[int]:
        """All places where the node may end that begins at a place."""
        kind = node[0]
        if kind == "text":
            return frozenset([at + len(node[1])]) if self.text.startswith(node[1], at) else frozenset()
        if kind == "set":
            return frozenset([at + 1]) if node[1].match(self.text, at) else frozenset()
        if kind == "name":
            key = (node[1], at)
            if key not in self.known:
                self.known[key] = self.ends(self.rules[node[1]], at)
            return self.known[key]
        if kind == "either":
            return frozenset().union(*(self.ends(one, at) for one in node[1]))
        places = frozenset([at])
        if kind == "row":
            for one in node[1]:
                places = frozenset().union(*(self.ends(one, place) for place in places))
            return places
        _, inner, least, most = node
        found = places if least == 0 else frozenset()
        count, new = 0, places
        while new and (most is None or count < most):
            count += 1
            new = frozenset().union(*(self.ends(inner, place) for place in new)) - (
                found if count > least else frozenset()
            )
            if count >= least:
                found |= new
        return found
