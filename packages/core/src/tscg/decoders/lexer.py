"""Tolerated spellings of JSON, turned into strict JSON text; each change is listed, nothing is guessed.

One pass from left to right. Strings are opaque: what stands in them is never read as structure. Text that the rules do
not cover, or that ends inside a value, is refused with its place; brackets are never closed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import ClassVar

__all__ = ["Extent", "Lexed", "Unreadable", "lex"]

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+])")
INTEGER_KEY = re.compile(r"(-?(?:0|[1-9][0-9]*))\s*(?=:)")
WORD = re.compile(r"[^\W\d][\w$-]*|\$[\w$-]*")
BLANKS = re.compile(r"[ \t\r\n]+")
LEGAL = r"""\\["\\/bfnrt]|\\u[0-9a-fA-F]{4}"""
PLAIN = {
    '"': re.compile(rf"""(?:[^"\\\x00-\x1f]++|{LEGAL})++"""),
    "'": re.compile(rf"""(?:[^'"\\\x00-\x1f]++|{LEGAL})++"""),
}
HEX = re.compile(r"[0-9a-fA-F]{4}")
JSON_WORDS = frozenset({"true", "false", "null"})
PYTHON_WORDS = {"True": "true", "False": "false", "None": "null"}
LEGAL_ESCAPES = frozenset('"\\/bfnrt')
CONTROLS = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
CLOSERS = {"{": "}", "[": "]"}


class Unreadable(Exception):
    """The text is no value: why, where, and whether it ended inside one."""

    def __init__(self, reason: str, at: int, *, ended: bool = False) -> None:
        super().__init__(reason)
        self.reason, self.at, self.ended = reason, at, ended


@dataclass(slots=True)
class Lexed:
    """Strict JSON text, the changes that made it (kind, offset), and the deepest nesting."""

    text: str
    changes: list[tuple[str, int]] = field(default_factory=list)
    depth: int = 0


def lex(text: str, max_depth: int = 64) -> Lexed:
    """Turn a tolerated spelling of one value into strict JSON.

    Raises :class:`Unreadable`; nesting beyond ``max_depth`` has the reason ``"too_deep"``.

    >>> lex("{'a': True, b: 'it\\\\'s', }").text
    '{"a": true, "b": "it\\'s" }'
    >>> [kind for kind, _ in lex("{'a': 1,}").changes]
    ['single_quotes', 'trailing_comma']
    """
    return _Lexer(text, max_depth).run()


class _Lexer:
    def __init__(self, text: str, max_depth: int) -> None:
        self.text, self.max_depth = text, max_depth
        self.at = 0
        self.out: list[str] = []
        self.changes: list[tuple[str, int]] = []
        self.stack: list[str] = []
        self.depth = 0

    def run(self) -> Lexed:
        state = "value"
        text, end = self.text, len(self.text)
        while True:
            self.blanks()
            if self.at >= end:
                break
            if state == "done":
                raise Unreadable("more text after the value", self.at)
            char = text[self.at]
            if state in ("key", "key or close"):
                state = self.key(char, state)
            elif state == "colon":
                self.take(char, ":", "expected a colon")
                state = "value"
            elif state in ("value", "value or close"):
                state = self.value(char, state)
            else:
                state = self.after(char)
        if state != "done":
            raise Unreadable("the text ends inside a value" if self.out else "no value", self.at, ended=bool(self.out))
        return Lexed("".join(self.out), self.changes, self.depth)

    def take(self, char: str, wanted: str, reason: str) -> None:
        if char != wanted:
            raise Unreadable(reason, self.at)
        self.out.append(char)
        self.at += 1

    def blanks(self) -> None:
        text = self.text
        while True:
            match = BLANKS.match(text, self.at)
            if match:
                self.out.append(match.group() if self.out else "")
                self.at = match.end()
            elif text.startswith(("//", "/*", "#"), self.at):
                self.changes.append(("comment", self.at))
                closer = "*/" if text.startswith("/*", self.at) else "\n"
                found = text.find(closer, self.at + 1 if closer == "\n" else self.at + 2)
                if found < 0 and closer == "*/":
                    raise Unreadable("a comment that does not end", self.at, ended=True)
                self.at = len(text) if found < 0 else found + (len(closer) if closer == "*/" else 0)
            else:
                return

    # --- structure --------------------------------------------------------------------------------------------------

    def open(self, char: str) -> str:
        self.stack.append(CLOSERS[char])
        self.depth = max(self.depth, len(self.stack))
        if self.depth > self.max_depth:
            raise Unreadable("too_deep", self.at)
        self.out.append(char)
        self.at += 1
        return "key or close" if char == "{" else "value or close"

    def close(self, char: str) -> str:
        if not self.stack or self.stack[-1] != char:
            raise Unreadable(
                f"expected {self.stack[-1]!r}, found {char!r}" if self.stack else f"a stray {char!r}", self.at
            )
        self.stack.pop()
        self.out.append(char)
        self.at += 1
        return self.ended()

    def ended(self) -> str:
        return "after" if self.stack else "done"

    def after(self, char: str) -> str:
        if char != ",":
            return self.close(char) if char in "}]" else self.refuse("expected a comma")
        start, mark = self.at, len(self.out)
        self.out.append(char)
        self.at += 1
        self.blanks()
        if self.at < len(self.text) and self.text[self.at] in "}]":
            self.changes.append(("trailing_comma", start))
            self.out[mark] = ""
            return "after"
        return "key" if self.stack[-1] == "}" else "value"

    def refuse(self, reason: str) -> str:
        raise Unreadable(reason, self.at)

    def key(self, char: str, state: str) -> str:
        if char == "}" and state == "key or close":
            return self.close(char)
        if char in "\"'":
            self.string(char)
            return "colon"
        match = INTEGER_KEY.match(self.text, self.at)
        kind = "int_key"
        if match is None:
            match, kind = WORD.match(self.text, self.at), "unquoted_key"
        if match is None:
            return self.refuse("expected a key")
        name = match.group(1) if kind == "int_key" else match.group()
        self.changes.append((kind, self.at))
        self.out.append(f'"{name}"')
        self.at += len(name)
        return "colon"

    def value(self, char: str, state: str) -> str:
        if char in "{[":
            return self.open(char)
        if char == "]" and state == "value or close":
            return self.close(char)
        if char in "\"'":
            self.string(char)
            return self.ended()
        match = NUMBER.match(self.text, self.at)
        if match is None:
            match = WORD.match(self.text, self.at)
            word = match.group() if match else ""
            if word in PYTHON_WORDS:
                self.changes.append(("python_word", self.at))
                self.out.append(PYTHON_WORDS[word])
            elif word in JSON_WORDS:
                self.out.append(word)
            else:
                rest = self.at + len(word) >= len(self.text) and (word != "" or char == "-") and bool(self.stack)
                if rest and not any(whole.startswith(word) for whole in (*JSON_WORDS, *PYTHON_WORDS)):
                    rest = False
                raise Unreadable(f"{word or char!r} is no value", self.at, ended=rest)
            self.at += len(word)
        else:
            self.out.append(match.group())
            self.at = match.end()
        return self.ended()

    # --- strings ----------------------------------------------------------------------------------------------------

    def string(self, quote: str) -> None:
        text, out = self.text, self.out
        start = self.at
        if quote == "'":
            self.changes.append(("single_quotes", start))
        out.append('"')
        self.at += 1
        plain = PLAIN[quote]
        while self.at < len(text):
            match = plain.match(text, self.at)
            if match:
                out.append(match.group())
                self.at = match.end()
                continue
            char = text[self.at]
            if char == quote:
                out.append('"')
                self.at += 1
                return
            if char == "\\":
                self.escape(quote)
            elif char == '"':  # inside single quotes
                out.append('\\"')
                self.at += 1
            else:
                self.changes.append(("control_char", self.at))
                out.append(CONTROLS.get(char) or f"\\u{ord(char):04x}")
                self.at += 1
        raise Unreadable("a string that does not end", start, ended=True)

    def escape(self, quote: str) -> None:
        text, at = self.text, self.at
        char = text[at + 1 : at + 2]
        if not char:
            raise Unreadable("a string that does not end", at, ended=True)
        if char in LEGAL_ESCAPES:
            self.out.append(text[at : at + 2])
            self.at += 2
        elif char == "u" and HEX.match(text, at + 2):
            self.out.append(text[at : at + 6])
            self.at += 6
        elif char == "'" and quote == "'":
            self.out.append("'")
            self.at += 2
        else:  # no escape of JSON: the backslash is a letter, what follows is read as it stands
            self.changes.append(("bad_escape", at))
            self.out.append("\\\\")
            self.at += 1


def _shallow(depth: int) -> re.Pattern[str]:
    """A whole value of few levels in strict spelling, in one step; no marker begins with a bracket in it."""
    plain = r"""[^{}\[\]"'<]++|"(?:[^"\\]++|\\.)*+\""""
    opener, closer = r"(?:\{|\[(?![A-Z/]))", r"[}\]]"
    value = f"{opener}(?:{plain})*+{closer}"
    for _ in range(depth):
        value = f"{opener}(?:{plain}|{value})*+{closer}"
    return re.compile(value, re.DOTALL)


MARK_LIMIT = 40  # characters of the longest marker


class Extent:
    """Finds where a value ends, piece by piece: brackets and strings only, each character looked at once.

    >>> extent = Extent()
    >>> extent.feed('{"a": "}'), extent.feed('"} rest'), extent.done
    (None, 2, True)
    """

    __slots__ = ("depth", "done", "escaped", "held", "quote", "triple")

    STOPS = re.compile(r"[{\[(]+|[}\])]+|[\"'<]")
    # What says nothing about the extent of JSON: whole strings, and all but brackets, quotes and "<".
    PASSED = re.compile(r"""(?:[^{}\[\]"'<]++|"(?:[^"\\]++|\\.)*+"|'(?:[^'\\]++|\\.)*+')*+""", re.DOTALL)
    WHOLE = _shallow(4)
    IN: ClassVar[dict[str, re.Pattern[str]]] = {
        '"': re.compile(r'(?:[^"\\]++|\\.)*+', re.DOTALL),
        "'": re.compile(r"(?:[^'\\]++|\\.)*+", re.DOTALL),
    }

    def __init__(self, triple: bool = False) -> None:
        self.depth = 0
        self.quote = ""
        self.escaped = self.done = False
        self.triple = triple  # Python: parentheses count, and three quotes may open a string
        self.held = 0  # characters at the end that may be the start of a marker or of three quotes

    def feed(
        self,
        text: str,
        start: int = 0,
        stop: re.Pattern[str] | None = None,
        marks: tuple[str, ...] = (),
        final: bool = False,
    ) -> int | None:
        """The offset where the value ends, or None while it goes on. Bracketed values only.

        It ends behind its last bracket (``done``), or in front of a marker outside its strings.
        """
        at, end = start, len(text)
        self.held = 0
        whole = None if self.depth or self.quote or self.triple else self.WHOLE.match(text, at)
        if whole:
            self.done = True
            return whole.end()
        while at < end:
            if self.escaped:
                self.escaped = False
                at += 1
                continue
            if self.quote:
                at = self._in_string(text, at, final)
                if self.held:
                    return None
                continue
            match = self.STOPS.search(text, self._passed(text, at))
            if match is None:
                return None
            run, at = match.group(), match.end()
            char = run[-1]
            if stop is not None and char in "<[":
                if stop.match(text, at - 1):
                    self.depth += self._openers(run[:-1])
                    return at - 1
                rest = text[at - 1 :] if end - at < MARK_LIMIT else ""
                if rest and not final and any(mark.startswith(rest) for mark in marks):
                    self.depth += self._openers(run[:-1])
                    self.held = len(rest)
                    return None
            if char in "\"'":
                if self.triple and not final and end - at < 2 and text[at:] in ("", char):
                    self.held = end - at + 1
                    return None
                self.quote = char
                if self.triple and text.startswith(char * 2, at):
                    self.quote, at = char * 3, at + 2
            elif char in "{[(":
                self.depth += self._openers(run)
            elif char != "<":
                closed = self._closed(run)
                if closed:
                    self.done = True
                    return at - len(run) + closed
        return None

    def _passed(self, text: str, at: int) -> int:
        """The offset behind what says nothing."""
        passed = None if self.triple else self.PASSED.match(text, at)
        return passed.end() if passed else at

    def _openers(self, run: str) -> int:
        return len(run) if self.triple else len(run) - run.count("(")

    def _closed(self, run: str) -> int:
        """How many characters of a run of closers the value takes to its end; 0 while it goes on."""
        for number, char in enumerate(run, 1):
            if char != ")" or self.triple:
                self.depth -= 1
                if self.depth <= 0:
                    return number
        return 0

    def _in_string(self, text: str, at: int, final: bool) -> int:
        """The offset behind the string, or behind what is there of it."""
        match = self.IN[self.quote[0]].match(text, at)
        at = match.end() if match else at
        if at >= len(text):
            return at
        if text[at] == "\\":  # the last character, cut from what it escapes
            self.escaped = True
            return at + 1
        if len(self.quote) == 1 or text.startswith(self.quote, at):
            at += len(self.quote)
            self.quote = ""
            return at
        if not final and text[at:] == self.quote[: len(text) - at]:
            self.held = len(text) - at
            return at
        return at + 1
