"""Reading one line of the language: names, literals, types. The inverse of :mod:`tscg.language.cells`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

from tscg.errors import ParseError
from tscg.ir import (
    AllOf,
    AnyType,
    Array,
    Boolean,
    Enum,
    Integer,
    Island,
    Never,
    Node,
    Note,
    Null,
    Number,
    Object,
    Param,
    String,
    Union,
)
from tscg.language.cells import implied_word
from tscg.language.spelling import FORMATS, RESERVED, Spelling
from tscg.record import replace
from tscg.schema import minified, noted

__all__ = ["Scanner"]

DEPTH = 100  # nested brackets; the emitter never goes beyond the walker's bound
_name = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_$./-]*")
_word = re.compile(r"[A-Za-z0-9_$][A-Za-z0-9_$./:+-]*")
_number = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_range = re.compile(r"(-?(?:0|[1-9][0-9]*))?\.\.(-?(?:0|[1-9][0-9]*))?")
_format = re.compile(r"[A-Za-z0-9-]+")
_type_word = re.compile(r"[a-z][a-z0-9-]*")
_json = json.JSONDecoder(strict=False).raw_decode


class Scanner:
    """A position in one line.

    ``look`` gives the node of a named type; ``ref`` the parameter behind a label of the shared block, or None;
    ``prose`` the whole prose that begins with the rest of the line; ``below`` the parameters of the lines under this
    one, for the one object of the line that has a place for them.
    """

    def __init__(
        self, text: str, line: int, column: int, spelling: Spelling, *, closed: bool,
        look: Callable[[str, Scanner], Node], ref: Callable[[str], Param | None], prose: Callable[[str], str],
    ) -> None:  # fmt: skip
        self.text, self.at, self.line, self.column = text, 0, line, column
        self.spelling, self.closed, self.look, self.ref, self.prose = spelling, closed, look, ref, prose
        self.below: tuple[Param, ...] | None = None
        self.below_rest: Node | None = None
        self.used = False
        self.depth = 0
        self.quoted = False  # was the last name a JSON string?

    def error(self, message: str) -> ParseError:
        """The error of a text that goes wrong here: raise it."""
        return ParseError(message, line=self.line, column=self.column + self.at)

    def peek(self, text: str) -> bool:
        """Does ``text`` follow?"""
        return self.text.startswith(text, self.at)

    def take(self, text: str) -> bool:
        """Step over ``text`` if it follows; did it?"""
        if self.text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def expect(self, text: str) -> None:
        """Step over ``text``; a ParseError where something else follows."""
        if not self.take(text):
            found = self.text[self.at : self.at + 12]
            raise self.error(
                f"expected {text!r}, found {found!r}" if found else f"expected {text!r} before the line ends"
            )

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Step over what ``pattern`` matches here; None where it matches nothing."""
        found = pattern.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def done(self) -> bool:
        """Is the line at its end?"""
        return self.at >= len(self.text)

    # --- words --------------------------------------------------------------------------------------------------------

    def json(self) -> Any:
        """A JSON value of any kind."""
        try:
            value, end = _json(self.text, self.at)
        except (ValueError, RecursionError) as error:
            raise self.error(f"expected JSON ({error})") from None
        self.at = end
        return value

    def name(self) -> str:
        """A name, bare or as a JSON string; ``quoted`` tells which."""
        self.quoted = self.peek('"')
        if self.quoted:
            return str(self.json())
        found = self.match(_name)
        if found is None:
            raise self.error(f"expected a name, found {self.text[self.at : self.at + 12]!r}")
        return found.group()

    def literal(self) -> str:
        """A value, as minified JSON."""
        start = self.text[self.at : self.at + 1]
        if start in ('"', "[", "{"):
            return minified(self.json())
        number = _number.match(self.text, self.at)
        word = _word.match(self.text, self.at)
        if number is not None and (word is None or number.end() >= word.end()):
            self.at = number.end()
            self.read(number.group())
            return number.group()
        if word is None:
            raise self.error(f"expected a value, found {self.text[self.at : self.at + 12]!r}")
        self.at = word.end()
        text = word.group()
        if text in ("true", "false", "null"):
            return text
        if text in RESERVED:
            raise self.error(f"the word {text!r} must be a JSON string here")
        return f'"{text}"'

    # --- types --------------------------------------------------------------------------------------------------------

    def type(self) -> Node:
        """A type: one, or several joined by one of the marks of AllOf and Union."""
        self.depth += 1
        if self.depth > DEPTH:
            raise self.error(f"nested deeper than {DEPTH} levels")
        first = self.unary()
        for mark in ("&", "|", "^"):
            if not self.peek(mark):
                continue
            branches = [first]
            while self.take(mark):
                branches.append(self.unary())
            first = (
                AllOf(parts=tuple(branches)) if mark == "&" else Union(branches=tuple(branches), exclusive=mark == "^")
            )
            break
        self.depth -= 1
        return first

    def unary(self) -> Node:
        """A type without such a mark, with the brackets and keywords that follow it."""
        node = self.atom()
        while True:
            if self.peek("["):
                node = self.array_of(node)
            elif self.peek("$"):
                node = self.extra(node)
            else:
                return node

    def array_of(self, items: Node) -> Node:
        """The brackets that make an array of the type before them."""
        self.expect("[")
        low, high, unique = self.bounds("]")
        rest = None if type(items) is AnyType and items.note is None and not items.extra else items
        return Array(items=rest, min_items=low, max_items=high, unique=unique)

    def bounds(self, close: str) -> tuple[int, int | None, bool]:
        """Least and greatest count, and whether items are unique, up to ``close``."""
        found = self.match(_range)
        low, high = (found.group(1), found.group(2)) if found else (None, None)
        unique = self.take("!")
        self.expect(close)
        return self.count(low or "0"), None if high is None else self.count(high), unique

    def extra(self, node: Node) -> Node:
        """The type with the keywords that no field of the IR holds."""
        self.expect("$")
        value = self.json()
        if not isinstance(value, dict) or node.extra:
            raise self.error("expected one JSON object of keywords")
        return replace(node, extra=minified(value))

    def atom(self) -> Node:
        """One type, told by its first character."""
        here = self.text[self.at : self.at + 1]
        if here == "(":
            return self.enum()
        if here == "{":
            return self.object()
        if here == "[":
            return self.row()
        if here in ("<", ">") and self.text[self.at + 1 : self.at + 2] in _AFTER_BOUND:
            return self.number("num")
        if here == "<":
            self.at += 1
            self.take(" ")  # stands before a range, which would else read as a bound
            node = self.type()
            self.take(" ")  # stands behind a number, which would else take "=" for a bound
            self.expect(">")
            return node
        if here == "@":
            self.at += 1
            return self.look(self.name(), self)
        if here == "$":
            self.at += 1
            return Island(schema=minified(self.json()))
        if here == "?":
            return self.untyped()
        found = self.match(_range)
        if found is not None:
            low, high = found.groups()
            return Integer(
                low=None if low is None else self.count(low), high=None if high is None else self.count(high)
            )
        return self.word()

    def word(self) -> Node:
        """A type that is a word: its name or that of a format."""
        found = self.match(_type_word)
        word = found.group() if found else ""
        if word == "str" or word in FORMATS:
            return self.string(word)
        if word in ("int", "num"):
            return self.number(word)
        if word == self.spelling.flag:
            return Boolean()
        if word in _OTHERS:
            node = _WORDS[word]()
            return self.properties(node) if word == "obj" and isinstance(node, Object) else node
        self.at -= len(word)
        raise self.error(f"expected a type, found {self.text[self.at : self.at + 12]!r}")

    def format(self) -> str:
        """The format behind ``~``, empty where none follows."""
        if not self.take("~"):
            return ""
        found = self.match(_format)
        return found.group() if found is not None else self.name()

    def string(self, word: str) -> Node:
        """The rest of a string type: format, lengths, pattern."""
        shape = self.format() if word == "str" else word
        low, high = 0, None
        if self.peek("{"):
            self.at += 1
            low, high, _ = self.bounds("}")
        pattern = None
        if self.take("/"):
            if self.peek('"'):
                pattern = str(self.json())
                self.expect("/")
            else:
                end = self.text.find("/", self.at)
                if end < 0:
                    raise self.error("a pattern that does not end")
                pattern, self.at = self.text[self.at : end], end + 1
        return String(min_length=low, max_length=high, pattern=pattern, format=shape)

    def value(self) -> int | float:
        """A number; it is a float where it is written with a point or an exponent."""
        found = self.match(_number)
        if found is None:
            raise self.error("expected a number")
        return self.read(found.group())

    def read(self, number: str) -> int | float:
        """The value of a number as JSON writes it; an error for one that readers of JSON do not take."""
        try:
            value = float(number) if any(c in number for c in ".eE") else int(number)
        except ValueError:  # Python reads no integer of more than 4,300 digits
            raise self.error(f"a number of {len(number):,} digits") from None
        if value in (math.inf, -math.inf):
            raise self.error(f"the number {number[:20]} is too large")
        return value

    def count(self, number: str) -> int:
        """The same of a whole number."""
        return int(self.read(number))

    def number(self, word: str) -> Node:
        """The rest of a number type: bounds, step, format."""
        low = high = multiple = None
        low_open = high_open = False
        if self.peek(">") and self.text[self.at + 1 : self.at + 2] in _AFTER_BOUND:
            self.at += 1
            low_open = not self.take("=")
            low = self.value()
        if self.peek("<") and self.text[self.at + 1 : self.at + 2] in _AFTER_BOUND:
            self.at += 1
            high_open = not self.take("=")
            high = self.value()
        if self.take("*"):
            multiple = self.value()
        return (Integer if word == "int" else Number)(
            low=low, high=high, low_open=low_open, high_open=high_open, multiple_of=multiple, format=self.format()
        )

    def untyped(self) -> Node:
        """Bounds that hold for one kind of value and let every other kind through."""
        self.expect("?")
        node = self.unary()  # the mark is of the whole: "?obj${}[]" is a list of objects, or anything else
        if isinstance(node, String | Number | Object | Array):
            return replace(node, typed=False)
        raise self.error("expected a type with bounds behind '?'")

    def enum(self) -> Node:
        """A list of values in round brackets."""
        self.expect("(")
        values = [self.literal()]
        while self.take(self.spelling.enum):
            values.append(self.literal())
        self.expect(")")
        return Enum(values=tuple(values))

    def row(self) -> Node:
        """An array in square brackets: the types of its first items, and of the others."""
        self.expect("[")
        prefix: list[Node] = []
        items: Node | None = None
        closed = self.take("!")
        while not closed and not self.peek("]"):
            if self.take("*"):
                items = self.type()
                break
            prefix.append(self.type())
            if not self.take(" "):
                break
            closed = self.take("!")
        self.expect("]")
        low, high, unique = 0, None, False
        if self.take("{"):
            low, high, unique = self.bounds("}")
        return Array(prefix=tuple(prefix), items=items, closed=closed, min_items=low, max_items=high, unique=unique)

    # --- objects ------------------------------------------------------------------------------------------------------

    def object(self) -> Node:
        """An object in braces."""
        self.expect("{")
        params, rest = self.params("}")
        closed = self.take("!") is not self.closed
        return self.properties(Object(params=params, rest=rest, closed=closed))

    def properties(self, node: Object) -> Node:
        """The object with the bounds on the number of its properties, where they follow."""
        if self.take("#"):
            found = self.match(_range)
            if found is None:
                raise self.error("expected bounds")
            low, high = found.groups()
            most = None if high is None else self.count(high)
            node = replace(node, min_properties=self.count(low or "0"), max_properties=most)
        return node

    def params(self, close: str) -> tuple[tuple[Param, ...], Node | None]:
        """Parameters up to the closing bracket, those on the lines below in their place, and the type of the rest."""
        found: list[Param] = []
        rest: Node | None = None
        gap = self.spelling.gap
        while not self.take(close):
            if found or rest is not None or self.text[self.at - 1 : self.at] not in ("(", "{"):
                self.expect(gap)
            if self.rest_next():
                rest = self.rest_type()
            elif self.take(self.spelling.lines):
                if self.below is None or self.used:
                    raise self.error("no lines below for this place")
                self.used = True
                found += self.below
                rest = self.below_rest if rest is None else rest
            else:
                found.append(self.param())
        return self.distinct(tuple(found)), rest

    def distinct(self, params: tuple[Param, ...]) -> tuple[Param, ...]:
        """The parameters; an error if a name stands twice."""
        if len({param.name for param in params}) != len(params):
            raise self.error("a parameter stands twice")
        return params

    def rest_next(self) -> bool:
        """Does the type of undeclared names follow?"""
        return self.peek("*:") or self.peek("*(")

    def rest_type(self) -> Node:
        """The type of undeclared names."""
        self.at += 2 if self.peek("*:") else 1
        return self.type()

    def param(self, alone: bool = False) -> Param:
        """A parameter; ``alone`` on a line of its own, where prose may follow."""
        if self.take("!"):
            return Param(name=self.name(), required=True)
        start = self.at
        label = name = self.name()
        if self.take("~"):
            number = self.match(_number)
            label = f"{name}~{number.group() if number else ''}"
        mark = "?" if self.take("?") else "!" if self.take("!") else ""
        if self.done() if alone else self.text[self.at : self.at + 1] in (" ", ")", "}", ","):
            shared = self.ref(label)
            if shared is not None:
                return replace(shared, name=name, required=shared.required if not mark else mark == "!")
        node = self.type() if self.take(":") or self.peek("(") else None
        note = self.note(alone)
        has_default = note is not None and note.default is not None
        if label != name or (mark == "!" and not has_default) or (mark == "?" and has_default):
            self.at = start
            raise self.error(f"{label!r} is no shared parameter")
        if node is None:
            node = self.implied(note.default if note is not None else None)
        return Param(name=name, required=mark == "!" if has_default else not mark, type=noted(node, note))

    def implied(self, default: str | None) -> Node:
        """The type of a parameter without one: what its default is, else a text."""
        word = "" if default is None else implied_word(default, self.spelling.flag)
        return _WORDS[word]() if word else String()

    def note(self, alone: bool) -> Note | None:
        """Default, tags and, on a line of its own, prose."""
        default = self.literal() if self.take("=") else None
        title, examples, flags = "", [], set()
        while self.take("%"):
            found = self.match(_type_word)
            word = found.group() if found else ""
            if word == "title":
                self.expect("=")
                title = str(json.loads(self.literal()))
            elif word == "eg":
                self.expect("=")
                examples.append(self.literal())
            elif word in FLAGS:
                flags.add(word)
            else:
                raise self.error(f"unknown tag {word!r}")
        description = self.rest() if alone else ""
        if default is None and not title and not examples and not flags and not description:
            return None
        return Note(
            description=description, default=default, title=title, examples=tuple(examples),
            deprecated="deprecated" in flags, read_only="readonly" in flags, write_only="writeonly" in flags,
        )  # fmt: skip

    def rest(self) -> str:
        """The prose that the line ends with."""
        if not self.done():
            self.expect(" ")
        text, self.at = self.text[self.at :], len(self.text)
        return self.prose(text)


_WORDS: dict[str, Callable[[], Node]] = {
    "bool": Boolean, "boolean": Boolean, "null": Null, "any": AnyType, "never": Never, "obj": Object, "int": Integer,
    "num": Number,
}  # fmt: skip
_OTHERS = ("null", "any", "never", "obj")
_AFTER_BOUND = tuple("=-0123456789")
FLAGS = ("deprecated", "readonly", "writeonly")
