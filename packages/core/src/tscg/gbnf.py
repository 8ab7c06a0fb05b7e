"""The whole answer as a grammar in GBNF, the notation of llama.cpp, for servers that constrain decoding by grammar.

The grammar is written from what the validators check. It is never tighter than a schema, in one spelling: members
stand in the order of the schema (undeclared ones behind them), between tokens stands nothing, one blank, or a line
break with up to 64 blanks, and what an enum or a name spells is spelled so. What a grammar cannot say (bounds of
numbers, patterns, conditions, ``not``) is looser here and left to the validation of what comes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tscg.constrain import arguments_of

if TYPE_CHECKING:
    from tscg.resolve import Surface

__all__ = ["output_grammar"]

COUNT_LIMIT = 64  # bounds of a list up to which its items are counted: a grammar unfolds every repetition
PLACES_LIMIT = 50_000  # places of a tool that are written: beyond it, anything is taken
DEPTH_LIMIT = 64  # levels of lists, objects and unions in one another, references apart
PARTS_LIMIT = 64  # schemas that hold together at one place
COMMON = {
    "s": r'( " " | "\n" [ \t]{0,64} )?',
    "char": r'[^"\\\x00-\x1F] | "\\" ( ["\\/bfnrt] | "u" [0-9a-fA-F]{4} )',
    "string": r'"\"" char* "\""',
    "integer": '"-"? ( "0" | [1-9] [0-9]* )',
    "number": 'integer ( "." [0-9]+ )? ( [eE] [-+]? [0-9]+ )?',
    "boolean": '"true" | "false"',
    "null": '"null"',
    "member": 'string s ":" s value',
    "object": '"{" s ( member ( s "," s member )* s )? "}"',
    "array": '"[" s ( value ( s "," s value )* s )? "]"',
    "value": "object | array | string | number | boolean | null",
}
UNPRINTED = re.compile(
    "[\x00-\x1f\x7f-\xa0\xad\u0600-\u0605\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff\ufff0-\uffff]"
)
ANY = "value"
KINDS = ("object", "array", "string", "number", "integer", "boolean", "null")


def output_grammar(surface: Surface, *, must_call: bool = False, parallel: bool = True) -> str:
    """GBNF of ``{"tool_calls": [{"name", "arguments"}, ...]}`` or ``{"answer": TEXT}``: rule ``root`` and its parts.

    With ``must_call`` there is no answer in text and no lookup, without ``parallel`` there is one call.

    >>> from tscg.ir import Catalog, Object, Tool
    >>> from tscg.resolve import Surface
    >>> surface = Surface(catalog=Catalog(tools=(Tool(name="ping", root=Object(closed=True)),)))
    >>> print("\\n".join(output_grammar(surface).splitlines()[:4]))
    root ::= s ( calls | answer ) s
    calls ::= "{" s "\\"tool_calls\\"" s ":" s "[" s call ( s "," s call )* s "]" s "}"
    call ::= "{" s "\\"name\\"" s ":" s called s "}"
    called ::= "\\"ping\\"" s "," s "\\"arguments\\"" s ":" s empty
    """
    rules: dict[str, str] = {"root": "", "calls": "", "call": "", "called": ""}
    writer = _Writer(rules)
    called = [
        f'{literal(name)} s "," s "\\"arguments\\"" s ":" s {writer.tool(f"t{number}", schema)}'
        for number, (name, schema) in enumerate(arguments_of(surface, must_call))
    ]
    if called:
        more = ' ( s "," s call )*' if parallel else ""
        rules["calls"] = f'"{{" s "\\"tool_calls\\"" s ":" s "[" s call{more} s "]" s "}}"'
        rules["call"] = '"{" s "\\"name\\"" s ":" s called s "}"'
        rules["called"] = " | ".join(called)
    rules["answer"] = '"{" s "\\"answer\\"" s ":" s string s "}"'
    kinds = ["calls"] if called and must_call else ["calls", "answer"] if called else ["answer"]
    rules["root"] = f"s ( {' | '.join(kinds)} ) s"
    if "answer" not in kinds:
        del rules["answer"]
    return "".join(f"{name} ::= {body}\n" for name, body in {**rules, **COMMON}.items() if body)


def literal(text: str) -> str:
    """A JSON string as a terminal, also in the spelling that makes markers in it harmless.

    >>> print(literal('a"b')), print(literal("<tool_call>"))
    "\\"a\\\\\\"b\\""
    ( "\\"<tool_call>\\"" | "\\"\\\\u003ctool_call>\\"" )
    (None, None)
    """
    from tscg.decoders.marks import neutralise

    plain = json.dumps(text, ensure_ascii=not _is_unicode(text))
    harmless = neutralise(plain)
    return terminal(plain) if plain == harmless else f"( {terminal(plain)} | {terminal(harmless)} )"


def terminal(text: str) -> str:
    """Characters as a terminal of GBNF.

    >>> terminal('say "x"')
    '"say \\\\"x\\\\""'
    """
    quoted = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{UNPRINTED.sub(_escaped, quoted)}"'


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02X}" if code < 256 else f"\\u{code:04X}"


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in text)


@dataclass(slots=True, kw_only=True)
class _Place:
    """What holds at one place of a value: schemas that all must fit, and the types that are left."""

    parts: list[dict[str, Any]] = field(default_factory=list)
    types: tuple[str, ...] = KINDS
    never: bool = False

    def first(self, key: str) -> Any:
        """The value of a keyword in the first schema that has it."""
        return next((part[key] for part in self.parts if key in part), None)


class _Writer:
    """Writes one rule for each shape; equal shapes share it."""

    def __init__(self, rules: dict[str, str]) -> None:
        self.rules = rules
        self.known: dict[str, str] = {}  # body of a rule to its name
        self.root: dict[str, Any] = {}
        self.prefix = ""
        self.refs: dict[str, str] = {}  # target of a reference to the name of its rule
        self.waiting: list[str] = []
        self.branch_of: dict[tuple[str, tuple[str, ...]], str] = {}  # references in unions, by the types left there
        self.depth = self.places = 0

    def tool(self, prefix: str, schema: dict[str, Any]) -> str:
        """The rule of a tool's arguments."""
        self.root, self.prefix, self.refs, self.branch_of, self.places = schema, prefix, {}, {}, 0
        body = self.expression({"allOf": [{"type": "object"}, schema]}, ())
        while self.waiting:  # a worklist, not recursion: references may go round
            ref = self.waiting.pop()
            self.rules[self.refs[ref]] = self.expression(self.target(ref), (ref,))
        return body

    def target(self, ref: str) -> Any:
        return self.root if ref == "#" else self.root.get("$defs", {}).get(ref.rsplit("/", 1)[-1], True)

    def rule(self, body: str) -> str:
        """The name of a rule with this body."""
        if body not in self.known:
            self.known[body] = "empty" if body == '"{" s "}"' else f"r{len(self.known)}"
            self.rules[self.known[body]] = body
        return self.known[body]

    # --- places -------------------------------------------------------------------------------------------------------

    def value(self, node: Any) -> str:
        """A value at a place of its own, behind a bracket or a key: references are rules there."""
        if _only_ref(node):
            ref = node["$ref"]
            if ref not in self.refs:
                self.refs[ref] = f"{self.prefix}-{len(self.refs)}"
                self.waiting.append(ref)
            return self.refs[ref]
        return self.expression(node, ())

    def place(self, node: Any, seen: tuple[str, ...]) -> _Place:
        """All that holds at a place, through references and ``allOf``."""
        place = _Place()
        waiting, met = [node], set(seen)
        while waiting:
            one = waiting.pop(0)
            place.never = place.never or one is False
            if not isinstance(one, dict) or len(place.parts) >= PARTS_LIMIT:
                continue
            place.parts.append(one)
            kinds = one.get("type")
            if kinds is not None:
                listed = [kinds] if isinstance(kinds, str) else kinds
                place.types = tuple(kind for kind in place.types if _has(kind, listed))
            waiting += one.get("allOf", ())
            ref = one.get("$ref")
            if isinstance(ref, str) and ref not in met:
                met.add(ref)
                waiting.append(self.target(ref))
        place.never = place.never or not place.types
        return place

    def expression(self, node: Any, seen: tuple[str, ...]) -> str:
        """A value of a schema, as the name of a rule; ``seen`` are references that led here."""
        self.places += 1
        if self.depth > DEPTH_LIMIT or self.places > PLACES_LIMIT:
            return ANY
        place = self.place(node, seen)
        if place.never:
            return ANY  # nothing fits, which validation will say
        self.depth += 1
        try:
            return (
                self.constants(place)
                or self.union(place, seen)
                or self.either([self.typed(kind, place) for kind in _plain(place.types)])
            )
        finally:
            self.depth -= 1

    def constants(self, place: _Place) -> str:
        """The values that a place lists; empty where it lists none."""
        const = [part["const"] for part in place.parts if "const" in part]
        listed = const[:1] or place.first("enum")
        if listed is None:
            return ""
        kept = [constant(one) for one in listed if _has(_kind(one), place.types)]
        return self.rule(" | ".join(dict.fromkeys(kept))) if kept else ANY

    def union(self, place: _Place, seen: tuple[str, ...]) -> str:
        """One of the branches of a place; empty where it has none."""
        branches = self.branches(place)
        if not branches:
            return ""
        refs = (*seen, *(part["$ref"] for part in place.parts if isinstance(part.get("$ref"), str)))
        types = {"type": list(place.types)}
        return self.either([self.branch({"allOf": [types, one]}, one, place.types, refs) for one in branches])

    def branch(self, node: Any, given: Any, types: tuple[str, ...], seen: tuple[str, ...]) -> str:
        """One branch. A reference is followed once for the same types, and never round in a circle."""
        if not _only_ref(given):
            return self.expression(node, seen)
        key = (given["$ref"], types)
        if key not in self.branch_of:
            self.branch_of[key] = ANY  # what the branch is inside itself
            self.branch_of[key] = self.expression(node, seen)
        return self.branch_of[key]

    def branches(self, place: _Place) -> Sequence[Any]:
        """The branches of a union, where nothing beside it says more than a type."""
        if any(part.keys() & {"properties", "items", "prefixItems", "additionalProperties"} for part in place.parts):
            return ()
        found: Sequence[Any] = next(
            (part[key] for part in place.parts for key in ("anyOf", "oneOf") if key in part), ()
        )
        return found

    def either(self, names: list[str]) -> str:
        """One of several; anything else beside a value of any kind says nothing."""
        names = list(dict.fromkeys(names))
        if ANY in names or not names:
            return ANY
        if set(names) >= {"object", "array", "string", "number", "boolean", "null"}:
            return ANY
        return names[0] if len(names) == 1 else self.rule(" | ".join(names))

    # --- types --------------------------------------------------------------------------------------------------------

    def typed(self, kind: str, place: _Place) -> str:
        """A value of one type."""
        if kind == "object":
            return self.object(place)
        return self.array(place) if kind == "array" else kind

    def array(self, place: _Place) -> str:
        prefix = place.first("prefixItems") or []
        items = place.first("items")
        rest = self.value(items) if isinstance(items, dict) else ANY
        least, most = place.first("minItems") or 0, place.first("maxItems")
        if not prefix and rest == ANY and not least and most is None and items is not False:
            return "array"
        first = [self.value(part) for part in prefix[:COUNT_LIMIT]]
        return self.rule(f'"[" s {self.listed(first, rest, least, most, closed=items is False)}"]"')

    def listed(self, first: list[str], rest: str, least: int, most: int | None, *, closed: bool) -> str:
        """Items between brackets: those of a fixed place, then the others."""
        body = ""
        comma = 's "," s '
        low = max(0, min(least, COUNT_LIMIT) - len(first))
        high = None if most is None or most > COUNT_LIMIT else max(0, most - len(first))
        if not closed and (high is None or high):
            if first:
                body = _times(f"{comma}{rest}", low, high)
            else:
                more = _times(f"{comma}{rest}", max(0, low - 1), None if high is None else high - 1)
                body = f"{rest}{more} s "
                return body if low else f"( {body})? "
        for number in range(len(first) - 1, -1, -1):  # a list may end before its fixed places do
            needed = number < least
            item = f"{comma if number else ''}{first[number]}{body if body.startswith(' ') or not body else ' ' + body}"
            if most is not None and number >= most:
                body = ""
            elif number == 0:
                body = f"{item} s " if needed else f"( {item} s )? "
            else:
                body = f" {item}" if needed else f" ( {item} )?"
        return body

    def object(self, place: _Place) -> str:
        properties: dict[str, Any] = {}
        needed: set[str] = set()
        closed, named, rest = False, True, ANY
        for part in place.parts:
            for name, node in part.get("properties", {}).items():
                properties.setdefault(name, node)
            needed.update(part.get("required", ()))
            extra = part.get("additionalProperties")
            closed = closed or (extra is False and not part.get("patternProperties"))
            if isinstance(extra, dict) and not part.get("patternProperties") and len(place.parts) == 1:
                rest = self.value(extra)
            named = named and not part.keys() & {"patternProperties", "additionalProperties"}
        if not closed:
            properties.update((name, True) for name in sorted(needed) if name not in properties)
        pairs = [
            (f'{literal(name)} s ":" s {self.value(node)}', name in needed)
            for name, node in properties.items()
            if node is not False or name in needed
        ]
        if closed:
            return self.rule('"{" s ' + self.members(pairs, "") + '"}"') if pairs else self.rule('"{" s "}"')
        if not pairs and rest == ANY:
            return "object"
        other = "member" if rest == ANY else self.rule(f'string s ":" s {rest}')
        return self.rule('"{" s ' + self.members(pairs, other) + '"}"')

    def members(self, pairs: list[tuple[str, bool]], other: str) -> str:
        """Members in their order: each optional one may be left out, undeclared ones come last.

        ``tail`` is what may stand behind a member that was written; the first one written takes no comma.
        """
        comma = 's "," s '
        tail = f" ( {comma}{other} )*" if other else ""
        heads = [f"{other}{tail}"] if other else []
        needed = False
        for pair, must in reversed(pairs):
            if must:
                heads, needed = [f"{pair}{tail}"], True
                tail = f" {comma}{pair}{tail}"
            else:
                if len(tail) > 400:  # a tail stands in two places: keep the grammar linear
                    tail = f" {self.rule(tail.strip())}"
                heads.insert(0, f"{pair}{tail}")
                tail = f" ( {comma}{pair} )?{tail}"
        if not heads:
            return ""
        body = heads[0] if len(heads) == 1 else f"( {' | '.join(heads)} )"
        return f"{body} s " if needed else f"( {body} s )? "


# --- constants --------------------------------------------------------------------------------------------------------


def constant(value: Any) -> str:
    """One value as terminals, with the blanks that may stand in it."""
    if isinstance(value, str):
        return literal(value)
    if isinstance(value, list):
        return _between("[", [constant(one) for one in value], "]")
    if isinstance(value, dict):
        return _between("{", [f'{literal(str(key))} s ":" s {constant(one)}' for key, one in value.items()], "}")
    return terminal(json.dumps(value))


def _between(opener: str, inner: Sequence[str], closer: str) -> str:
    body = ' s "," s '.join(inner)
    return f'"{opener}" s {body} s "{closer}"' if inner else f'"{opener}" s "{closer}"'


def _times(body: str, least: int, most: int | None) -> str:
    if most == 0:
        return ""
    if most is None:
        return f" ( {body} )*" if not least else f" ( {body} )+" if least == 1 else f" ( {body} ){{{least},}}"
    return f" ( {body} )?" if (least, most) == (0, 1) else f" ( {body} ){{{least},{most}}}"


def _only_ref(node: Any) -> bool:
    return isinstance(node, dict) and isinstance(node.get("$ref"), str) and not node.keys() - {"$ref", "default"}


def _has(kind: str, listed: Sequence[str]) -> bool:
    return kind in listed or (kind == "integer" and "number" in listed)


def _kind(value: Any) -> str:
    kinds = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}
    if isinstance(value, float) and value.is_integer():
        return "integer"
    return kinds.get(type(value), "null")


def _plain(types: Sequence[str]) -> Iterator[str]:
    """Types, each once: an integer is a number too."""
    return (kind for kind in types if kind != "integer" or "number" not in types)
