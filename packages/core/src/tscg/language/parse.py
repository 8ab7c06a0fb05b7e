"""The inverse of the emitter: the text of a catalog back to the catalog. All else is a ParseError with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from tscg.errors import CompileError, ConfigError, ParseError
from tscg.ir import AllOf, Catalog, Node, Note, Object, Param, Ref, Tool, children
from tscg.language.scan import Scanner
from tscg.language.spelling import ADDED, DEFAULT, Spelling, read_slot, unescape
from tscg.prose_form import normalise
from tscg.record import replace
from tscg.schema import noted

__all__ = ["decompile"]

_generated = re.compile(r"(?:[0-9]+|[a-z]{1,2}|t[0-9]+)\Z").match
_island_ref = re.compile(r'"\$ref":"#/\$defs/((?:[^"\\]|\\.)*)"')
_label = re.compile(r'("(?:[^"\\]|\\.)*"|[A-Za-z0-9_$][A-Za-z0-9_$./-]*)(~[0-9]+)?')
RULES = "%rules"


def decompile(text: str) -> Catalog:
    """Read the text of a catalog (``compiled.text`` or a lookup's reply) back.

    Linear in the length of the text. Raises :class:`tscg.ParseError` with line and column for any other text.

    >>> catalog = decompile("ping() Health check\\nadd(a:num b:num)")
    >>> [(tool.name, tool.description, [param.name for param in tool.params]) for tool in catalog]
    [('ping', 'Health check', []), ('add', '', ['a', 'b'])]
    """
    if not text:
        return Catalog()
    lines = text.split("\n")
    starts = [0, *(at for at, line in enumerate(lines) if at and (line == ADDED or line.startswith(f"{ADDED} ")))]
    if len(starts) == 1:
        return _Reader(lines, 0, len(lines)).catalog()
    tools: dict[str, Tool] = {}
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        for tool in _Reader(lines, start, end).catalog():
            tools.pop(tool.name, None)  # what is added supersedes what stands above it
            tools[tool.name] = tool
    return Catalog(tools=tuple(tools.values()))


@dataclass(slots=True)
class _Line:
    """A line of an entry: its depth, text, the further lines of its prose, and the lines below it."""

    number: int
    depth: int
    text: str
    more: list[str] = field(default_factory=list)
    below: list[_Line] = field(default_factory=list)


@dataclass(slots=True)
class _Scope:
    """Named types that a place can see: those of its entry, then those of the shared block."""

    lines: dict[str, _Line]
    outer: _Scope | None = None
    nodes: dict[str, Node] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)


class _Reader:
    """One section: the catalog as it was first, or what was added to it later."""

    def __init__(self, lines: list[str], start: int, end: int) -> None:
        self.lines, self.start, self.end = lines, start, end
        self.spelling: Spelling = DEFAULT
        self.closed = False
        self.shared = _Scope({})
        self.items: dict[str, Param] = {}
        self.labels: dict[str, _Line] = {}
        self.reading: set[str] = set()
        self.notes: dict[str, str] = {}
        self.note = re.compile(r"")

    def catalog(self) -> Catalog:
        at = self.header()
        self.note = re.compile(rf"{re.escape(self.spelling.note)}([0-9]+)")
        if at < self.end and self.lines[at] == "shared":
            block, at = self.block(at + 1)
            self.read_shared(block)
        tools: list[Tool] = []
        names: set[str] = set()
        while at < self.end:
            head = self.lines[at]
            if not head or head[0] in " .@":
                raise ParseError("expected a tool", line=at + 1, column=1)
            if head[0] == "{":
                tool, number = self.passed_through(head, at + 1), at + 1
                at += 1
            else:
                number = at + 1
                block, after = self.block(at + 1, head)
                tool, at = self.entry(head, number, block), after
            if tool.name in names:
                raise ParseError(f"the tool {tool.name!r} stands twice", line=number, column=1)
            names.add(tool.name)
            tools.append(tool)
        return Catalog(tools=tuple(tools))

    def header(self) -> int:
        line, number = self.lines[self.start], self.start + 1
        if not line.startswith("%"):
            return self.start
        for word in re.findall(r'[a-z]+(?:="(?:[^"\\]|\\.)*")?|.', line[len(ADDED) if self.start else 1 :]):
            if word == " ":
                continue
            slot, given, value = word.partition("=")
            if word == "closed":
                self.closed = True
            elif given:
                try:
                    read = read_slot(slot, json.loads(value))
                except (ConfigError, ValueError) as error:
                    raise ParseError(str(error), line=number, column=2) from None
                self.spelling = replace(self.spelling, **{read[0]: read[1]})
            else:
                raise ParseError(f"unknown word {word!r} in the header", line=number, column=2)
        return self.start + 1

    # --- lines --------------------------------------------------------------------------------------------------------

    def block(self, at: int, head: str | None = None) -> tuple[_Line, int]:
        """The indented lines from here on, as a tree below the head."""
        root = _Line(at, 0, head or "")
        stack = [root]
        last = root
        while at < self.end:
            raw = self.lines[at]
            if raw.startswith(" ") and (head is not None or last is not root):
                last.more.append(raw[1:])
            elif raw.startswith((".", "@")) or (head is None and raw.startswith(self.spelling.note)):
                text = raw.lstrip(".")
                depth = len(raw) - len(text) or 1
                if depth == 2 and text.startswith("@"):
                    raise ParseError("expected a parameter", line=at + 1, column=1)
                while stack[-1].depth >= depth:
                    stack.pop()
                if stack[-1].depth != depth - 1:
                    raise ParseError("a parameter of nothing: too many dots", line=at + 1, column=1)
                last = _Line(at + 1, depth, text)
                stack[-1].below.append(last)
                stack.append(last)
            else:
                break
            at += 1
        return root, at

    def prose(self, first: str, line: _Line) -> str:
        if not first and not line.more:
            return ""
        text = "\n".join(self.said(text, line.number + i) for i, text in enumerate((first, *line.more)))
        return text if text.isprintable() else normalise(text)

    def said(self, line: str, number: int) -> str:
        if self.spelling.note not in line:
            return unescape(line)
        out: list[str] = []
        end = 0
        for match in self.note.finditer(line):
            text = self.notes.get(match.group(1))
            if text is None:
                raise ParseError(f"no shared sentence {match.group()!r}", line=number, column=match.start() + 1)
            before = line[end : match.start()]
            gap = " " if match.start() and line[match.start() - 1] != " " and text[0] != "\n" else ""
            out += [unescape(before), gap, text]
            end = match.end()
        return "".join([*out, unescape(line[end:])])

    def scanner(self, line: _Line, scope: _Scope, skip: int = 0) -> Scanner:
        scanner = Scanner(
            line.text, line.number, line.depth + 1, self.spelling, closed=self.closed,
            look=lambda name, at: self.look(name, scope, at), ref=self._ref(line),
            prose=lambda first: self.prose(first, line),
        )  # fmt: skip
        scanner.at = skip
        if line.below:
            scanner.below, scanner.below_rest = self.params(line.below, scope)
        return scanner

    def _ref(self, line: _Line) -> Callable[[str], Param | None]:
        """Look-up of shared parameters; the line that defines one does not mean itself."""
        mine = next((label for label in self.reading if self.labels[label] is line), None)
        return self.item if mine is None else lambda label: None if label == mine else self.item(label)

    def params(self, lines: list[_Line], scope: _Scope) -> tuple[tuple[Param, ...], Node | None]:
        """The parameters of these lines, and the type of undeclared names where the last line says it."""
        rest: Node | None = None
        if lines and lines[-1].text.startswith(("*:", "*(")):
            scanner = self.scanner(lines[-1], scope)
            rest = scanner.rest_type()
            self.finish(scanner, lines[-1])
            lines = lines[:-1]
        params = tuple(self.param(line, scope) for line in lines)
        if len({param.name for param in params}) != len(params):
            raise ParseError("a parameter stands twice", line=lines[-1].number, column=1)
        return params, rest

    def param(self, line: _Line, scope: _Scope) -> Param:
        scanner = self.scanner(line, scope)
        param = scanner.param(alone=True)
        self.finish(scanner, line)
        return param

    def finish(self, scanner: Scanner, line: _Line) -> None:
        if not scanner.done():
            raise scanner.error(f"expected the line to end, found {scanner.text[scanner.at : scanner.at + 12]!r}")
        if line.below and not scanner.used:
            raise ParseError("lines below a line that has no place for them", line=line.below[0].number, column=1)

    # --- named types --------------------------------------------------------------------------------------------------

    def look(self, name: str, scope: _Scope, at: Scanner) -> Node:
        here: _Scope | None = scope
        while here is not None and name not in here.lines:
            here = here.outer
        if here is None:
            raise at.error(f"no type @{name}")
        if not _generated(name) or at.quoted:
            return Ref(name=name)
        if name in here.nodes:
            return here.nodes[name]
        if name in here.open:
            raise at.error(f"the type @{name} holds itself")
        here.open.add(name)
        node = self.definition(here.lines[name], here)
        here.open.discard(name)
        here.nodes[name] = node
        return node

    def definition(self, line: _Line, scope: _Scope) -> Node:
        scanner = self.scanner(line, scope, 1)
        scanner.name()
        if not scanner.peek("("):
            scanner.expect(":")
        node = noted(scanner.type(), scanner.note(alone=True))
        self.finish(scanner, line)
        return node

    def scope(self, lines: list[_Line], outer: _Scope | None) -> tuple[list[_Line], _Scope]:
        """The lines that are parameters, and the scope of those that define types."""
        found: dict[str, _Line] = {}
        rest: list[_Line] = []
        for line in lines:
            if line.text.startswith("@"):
                scanner = Scanner(
                    line.text, line.number, 2, self.spelling, closed=self.closed, look=_no_type, ref=_no_param,
                    prose=str,
                )  # fmt: skip
                scanner.at = 1
                name = scanner.name()
                if name in found:
                    raise scanner.error(f"the type @{name} is defined twice")
                found[name] = line
            else:
                rest.append(line)
        return rest, _Scope(found, outer)

    def read_shared(self, block: _Line) -> None:
        lines: list[_Line] = []
        for line in block.below:
            found = re.match(rf"{re.escape(self.spelling.note)}([0-9]+)(?: |\Z)", line.text)
            if found is None:
                lines.append(line)
            elif line.below:
                raise ParseError("a shared sentence has no parameters", line=line.number, column=1)
            else:
                said = (line.text[found.end() :], *line.more)
                self.notes[found.group(1)] = "\n".join(map(unescape, said))
        params, self.shared = self.scope(lines, None)
        for line in params:
            variant = _label.match(line.text)
            if variant is None:
                raise ParseError(f"expected a parameter, found {line.text[:12]!r}", line=line.number, column=2)
            line.text = variant.group(1) + line.text[variant.end() :]
            name = json.loads(variant.group(1)) if line.text[0] == '"' else variant.group(1)
            self.labels[f"{name}{variant.group(2) or ''}"] = line
        for label in self.labels:
            self.item(label)

    def item(self, label: str) -> Param | None:
        """The shared parameter of a label: read when first asked for, as types and parameters may name each other."""
        found = self.items.get(label)
        if found is None and label in self.labels:
            line = self.labels[label]
            if label in self.reading:
                raise ParseError(f"the shared parameter {label!r} holds itself", line=line.number, column=2)
            self.reading.add(label)
            found = self.items[label] = self.param(line, self.shared)
            self.reading.discard(label)
        return found

    # --- entries ------------------------------------------------------------------------------------------------------

    def passed_through(self, line: str, number: int) -> Tool:
        try:
            return Catalog.from_tools([json.loads(line)], on_error="passthrough")[0]
        except (ValueError, RecursionError, CompileError, ConfigError) as error:
            raise ParseError(f"no tool in JSON ({error})", line=number, column=1) from None

    def entry(self, head: str, number: int, block: _Line) -> Tool:
        block.number = number
        below, scope = self.scope(block.below, self.shared)
        own: Note | None = None
        lines: list[_Line] = []
        for line in below:
            if line.text[:1] in ("=", "%", " ") and own is None:
                scanner = self.scanner(line, scope)
                own = scanner.note(alone=True)
                self.finish(scanner, line)
            else:
                lines.append(line)
        block.below = lines
        scanner = self.scanner(block, scope)
        scanner.column = 1
        name = scanner.name()
        if scanner.take("(...)"):
            return Tool(name=name, description=scanner.rest(), root=Object(), opaque=True)
        root = self.root(scanner)
        rules = scanner.take(RULES)
        description = scanner.rest()
        self.finish(scanner, block)
        root = noted(root, own)
        types = self.types(root, scope)
        return Tool(name=name, description=description, root=root, types=types, hides_policy=rules)

    def root(self, scanner: Scanner) -> Node:
        if scanner.take(":"):
            return scanner.type()
        if not scanner.take("("):
            scanner.used = scanner.below is not None
            return Object(params=scanner.below or (), rest=scanner.below_rest, closed=self.closed)
        params, rest = scanner.params(")")
        if scanner.below is not None and not scanner.used:
            scanner.used = True
            params, rest = scanner.distinct((*params, *scanner.below)), rest or scanner.below_rest
        closed = scanner.take("!") is not self.closed
        node: Node = scanner.properties(Object(params=params, rest=rest, closed=closed))
        if scanner.peek("$"):
            node = scanner.extra(node)
        if not scanner.peek("&"):
            return node
        parts = [node]
        while scanner.take("&"):
            parts.append(scanner.unary())
        return AllOf(parts=tuple(parts))

    def types(self, root: Node, scope: _Scope) -> tuple[tuple[str, Node], ...]:
        """The named types that a tool reaches: those that hold themselves, and those that islands name."""
        found: dict[str, Node] = {}
        todo = [root]
        seen: set[int] = set()
        while todo:
            node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            todo += children(node)
            names = [node.name] if isinstance(node, Ref) else []
            for text in (node.extra, getattr(node, "schema", "")):
                names += (
                    [json.loads(f'"{n}"').replace("~1", "/").replace("~0", "~") for n in _island_ref.findall(text)]
                    if text
                    else []
                )
            for name in names:
                if name not in found:
                    found[name] = self.named(name, scope)
                    todo.append(found[name])
        return tuple(sorted(found.items()))

    def named(self, name: str, scope: _Scope) -> Node:
        here: _Scope | None = scope
        while here is not None and name not in here.lines:
            here = here.outer
        if here is None:
            raise ParseError(f"no type @{name}", line=1, column=1)
        if name not in here.nodes:
            here.nodes[name] = self.definition(here.lines[name], here)
        return here.nodes[name]


def _no_type(name: str, at: Scanner) -> Node:
    raise at.error(f"no type @{name}")


def _no_param(label: str) -> Param | None:
    return None
