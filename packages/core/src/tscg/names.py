"""Names of tools in all their spellings: the ladder from what a model wrote to one tool.

The first rung that fits exactly one tool wins; a rung with several stops with all of them. Similarity finds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tscg.calls import Fault
from tscg.messages import quoted, short_signature
from tscg.taught import LOOKUPS

if TYPE_CHECKING:
    from tscg.decoding import Decoding
    from tscg.ir import Tool
    from tscg.ranking import Ranking
    from tscg.resolve import Surface
    from tscg.validate import Validator

__all__ = ["Entry", "Found", "Index", "find", "undecorated"]

PREFIXES = ("functions.", "function.", "tools.", "tool.", "tool:", "default_api.", "default_api:")
QUOTES = " \t\r\n\"'`"
NEAR_NAMES = 3


CALL_WORDS = ("call", "call_tool", "tscg_call")
"""What a dispatcher may be called."""


class Entry:
    """A tool with what its calls need, made at its first call."""

    __slots__ = ("_declared", "_has_rest", "_keys", "_names", "_validator", "_wire_keys", "formats", "tool")

    def __init__(self, tool: Tool, wire_keys: Mapping[str, Mapping[str, str]], formats: tuple[str, ...]) -> None:
        self.tool, self.formats, self._wire_keys = tool, formats, wire_keys
        self._keys: Mapping[str, str] | None = None
        self._validator: Validator | None = None
        self._names: frozenset[str] | None = None
        self._declared: frozenset[str] | None = None
        self._has_rest: bool | None = None

    @property
    def keys(self) -> Mapping[str, str]:
        """Names of properties and their aliases on the wire, where they differ."""
        if self._keys is None:
            given = self._wire_keys.get(self.tool.name, {})
            self._keys = {name: alias for name, alias in given.items() if alias != name}
        return self._keys

    @property
    def validator(self) -> Validator:
        """The validator of the tool."""
        if self._validator is None:
            from tscg.validate import validator_of

            self._validator = validator_of(self.tool, self.formats)
        return self._validator

    @property
    def names(self) -> frozenset[str]:
        """Declared parameters; with patterns or typed rests of names, every name is declared (empty set)."""
        if self._names is None:
            self._names = frozenset() if self.has_rest else self.declared
        return self._names

    @property
    def declared(self) -> frozenset[str]:
        """Declared parameters, whatever other names the schema takes."""
        if self._declared is None:
            from tscg.shapes import declared

            self._declared = frozenset(declared(self.validator.copy, (), {}))
        return self._declared

    @property
    def has_rest(self) -> bool:
        """Whether names beyond the declared ones have a type of their own, so that none is undeclared."""
        if self._has_rest is None:
            from tscg.shapes import deref

            root = deref(self.validator.copy, self.validator.copy)
            self._has_rest = "patternProperties" in root or isinstance(root.get("additionalProperties"), dict)
        return self._has_rest

    def is_parameter(self, name: str) -> bool:
        """Whether a name may be one of the tool's own."""
        return name in self.declared or self.has_rest


def fold(name: str) -> str:
    """Letters and digits alone, without case."""
    return "".join(char for char in name.casefold() if char.isalnum())


class Index:
    """All spellings of the names of one surface."""

    def __init__(self, surface: Surface) -> None:
        formats = surface.decoding.formats
        self.catalog, self.lookup_tool = surface.catalog, surface.lookup_tool
        self.entries = {tool.name: Entry(tool, surface.wire_keys, formats) for tool in surface.catalog}
        self.exact = dict(self.entries)  # rungs 1 and 2
        for name, entry in self.entries.items():
            wire = surface.wire_names.get(name, name)
            if name in surface.native:  # it was sent under this name: before a newcomer that is called so
                self.exact[wire] = entry
            self.exact.setdefault(wire, entry)
        gone = {surface.wire_names.get(name, name) for name in surface.gone}
        if surface.native:
            self.exact = {name: entry for name, entry in self.exact.items() if name not in gone}
        self.local: dict[str, list[str]] = {}  # rung 3: codes, names at their servers, operations of namespaces
        self.folded: dict[str, set[str]] = {}  # rung 5
        self.servers = {tool.server for tool in surface.catalog if tool.server}
        for name, entry in self.entries.items():
            tool = entry.tool
            local = tool.local_name
            if local and local != name:
                self.local.setdefault(local, []).append(name)
            spellings = [name, surface.wire_names.get(name, name)]
            if tool.server:
                spellings.append(f"{tool.server}.{local or name}")
            for spelling in spellings:
                self.folded.setdefault(fold(spelling), set()).add(name)
        self.codes = {code: self.entries[name] for name, code in surface.codes.items() if name in self.entries}
        for code, entry in self.codes.items():
            self.local[code] = [entry.tool.name]
        self.operations: dict[str, tuple[str, str]] = {}  # tool -> its namespace and operation
        for group, operations in surface.groups.items():
            self._add_group(group, operations)
        self.gone = {fold(name): name for name in surface.gone}
        self.dead = surface.gone | surface.retired | gone
        self.words = _words(surface)
        shown = {word for word in (surface.call_tool, surface.lookup_tool, *surface.groups) if word}
        self.known = self.exact.keys() | self.codes.keys() | shown
        self.lowered: list[str] | None = None
        self._ranking: Ranking | None = None
        self._lines: dict[str, str] = {}

    def _add_group(self, group: str, operations: Mapping[str, str]) -> None:
        for operation, name in operations.items():
            if name not in self.entries:
                continue
            self.operations[name] = (group, operation)
            self.folded.setdefault(fold(f"{group}.{operation}"), set()).add(name)
            if operation not in self.exact and name not in self.local.get(operation, ()):
                self.local.setdefault(operation, []).append(name)

    def near(self, name: str) -> list[str]:
        """Up to three names like a given one."""
        from rapidfuzz import fuzz, process

        names = list(self.entries)
        if self.lowered is None:
            self.lowered = [one.lower() for one in names]
        given = name.lower()[:256]
        scored = process.extract(given, self.lowered, scorer=fuzz.ratio, limit=NEAR_NAMES, score_cutoff=50)
        return [names[i] for _, _, i in scored]

    def word(self, name: str, decoding: Decoding) -> tuple[str, tuple[str, ...]]:
        """The wire word of the dispatcher that a name spells and the repairs of its spelling; empty for no such word.

        A tool with the name comes first: ask for it before.
        """
        if name in self.words:
            word = self.words[name]
            return (word, ()) if word == name else (word, (f"dispatch_form: : {name} for {word}",))
        for plain in _plain_names(undecorated(name)):
            if plain in self.words and decoding.name_prefix:
                return self.words[plain], (f"name_prefix: : {quoted(name)}",)
            hits = {word for spelling, word in self.words.items() if fold(spelling) == fold(plain)}
            if len(hits) == 1 and decoding.name_case:
                return hits.pop(), (f"name_case: : {quoted(name)}",)
        return "", ()

    @property
    def ranking(self) -> Ranking:
        """The order of the tools for a query, made at the first one."""
        if self._ranking is None:
            from tscg.ranking import Ranking

            self._ranking = Ranking(self.catalog)
        return self._ranking

    def line(self, name: str) -> str:
        """The signature line of a tool, made once; of a long one what is required, and a mark that there is more."""
        found = self._lines.get(name)
        if found is None:
            found = self._lines[name] = short_signature(self.entries[name].tool)
        return found


def _words(surface: Surface) -> dict[str, str]:
    """Names of the wire tools that are no tool of the catalog, and what else the dispatcher may be called."""
    words = {word: surface.call_tool for word in CALL_WORDS if surface.call_tool}
    words |= {word: surface.lookup_tool for word in LOOKUPS if surface.lookup_tool}
    words |= {word: word for word in (surface.call_tool, surface.lookup_tool, *surface.groups) if word}
    return words


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The rung of the ladder that a name was found on: a tool with repairs, or the fault."""

    entry: Entry | None = None
    repairs: tuple[str, ...] = ()
    fault: Fault | None = None
    exact: bool = False


def find(surface: Surface, name: object) -> Found:
    """Look a name up; similarity never finds anything.

    >>> from tscg.ir import Catalog, Object, Tool
    >>> from tscg.resolve import Surface
    >>> surface = Surface(catalog=Catalog(tools=(Tool(name="get_user", root=Object()),)))
    >>> find(surface, "functions.get_user").repairs
    ('name_prefix: : "functions.get_user"',)
    """
    index, options = surface.index, surface.decoding
    if isinstance(name, str):
        entry = index.exact.get(name)
        if entry is not None:
            return Found(entry=entry, exact=True)
    if not isinstance(name, str) or len(name) > options.max_name:
        return _unknown(index, name)
    if name in index.dead:
        return _gone(index, name)
    hit = _local(index, name)
    if hit is not None:
        return hit
    bare = undecorated(name)
    for plain in _plain_names(bare) if options.name_prefix else ():
        if plain == name:
            continue
        entry = index.exact.get(plain)
        if entry is not None and _server_fits(index, bare, plain, entry):
            return Found(entry=entry, repairs=(f"name_prefix: : {quoted(name)}",))
        hit = _local(index, plain, _server(bare, plain))
        if hit is not None:
            return hit
    for plain in dict.fromkeys((name, bare, *_plain_names(bare))) if options.name_case else ():
        if not options.name_prefix and plain != name:
            continue
        hits = sorted(index.folded.get(fold(plain), ())) if fold(plain) else []
        if len(hits) > 1:
            return Found(fault=Fault(kind="ambiguous_tool", expected=", ".join(hits[:8]), found=quoted(name)))
        if hits and _server_fits(index, bare, plain, index.entries[hits[0]]):
            prefix = (f"name_prefix: : {quoted(name)}",) if fold(plain) != fold(name) else ()
            return Found(entry=index.entries[hits[0]], repairs=(*prefix, f"name_case: : {quoted(name)}"))
    if any(fold(plain) in index.gone or plain in index.dead for plain in (name, *_plain_names(bare))):
        return _gone(index, name)
    return _unknown(index, name)


def _local(index: Index, name: str, server: str = "") -> Found | None:
    """Rung 3: the name at its server, if one server has it, or the one that was named."""
    hits = index.local.get(name, [])
    if server in index.servers:
        hits = [hit for hit in hits if index.entries[hit].tool.server == server]
    if not hits:
        return None
    if len(hits) > 1:
        return Found(fault=Fault(kind="ambiguous_tool", expected=", ".join(sorted(hits)[:8]), found=quoted(name)))
    return Found(entry=index.entries[hits[0]], exact=True)


def undecorated(name: str) -> str:
    """Without outer blanks and quotes, a tail of channel tokens, and empty parentheses."""
    bare = name.split("<|", 1)[0].strip(QUOTES)
    return bare.removesuffix("()").strip(QUOTES)


def _plain_names(bare: str) -> list[str]:
    """The name, and the name without one prefix of the fixed list."""
    out = [bare]
    out += [bare[len(prefix) :] for prefix in PREFIXES if bare.startswith(prefix) and len(bare) > len(prefix)]
    if bare.startswith("mcp__"):
        rest = bare[5:]
        at = rest.find("__")
        while at >= 0:
            if at and rest[at + 2 :]:
                out.append(rest[at + 2 :])
            at = rest.find("__", at + 1)
    return out


def _server(bare: str, plain: str) -> str:
    """The server that ``mcp__server__name`` names, empty for other spellings."""
    return bare[5 : len(bare) - len(plain) - 2] if bare.startswith("mcp__") and plain != bare else ""


def _server_fits(index: Index, bare: str, plain: str, entry: Entry) -> bool:
    """``mcp__x__name`` is no other spelling of ``name`` if x is the server of another tool."""
    server = _server(bare, plain)
    return server not in index.servers or entry.tool.server == server


def _gone(index: Index, name: str) -> Found:
    return Found(fault=Fault(kind="unavailable_tool", found=quoted(name), hint=_near_hint(index, name)))


def _unknown(index: Index, name: object) -> Found:
    text = name if isinstance(name, str) else ""
    hint = "There are no tools." if not index.entries else _near_hint(index, text)
    if index.entries and index.lookup_tool:
        hint = f"{hint} Search with {index.lookup_tool}.".lstrip()
    return Found(fault=Fault(kind="unknown_tool", found=quoted(text), hint=hint))


def _near_hint(index: Index, name: str) -> str:
    near = index.near(undecorated(name)) if name and index.entries else []
    return f"Near names: {', '.join(near)}." if near else ""
