"""Names of tools in all their spellings: the ladder from what a model wrote to one tool.

The first rung that fits exactly one tool wins; a rung with several stops with all of them. Similarity finds nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tscg.calls import Fault
from tscg.messages import quoted

if TYPE_CHECKING:
    from tscg.ir import Tool
    from tscg.resolve import Surface
    from tscg.validate import Validator

__all__ = ["Entry", "Found", "Index", "find", "undecorated"]

PREFIXES = ("functions.", "function.", "tools.", "tool.", "tool:", "default_api.", "default_api:")
QUOTES = " \t\r\n\"'`"
NEAR_NAMES = 3


class Entry:
    """A tool with what its calls need, made at its first call."""

    __slots__ = ("_names", "_validator", "formats", "keys", "tool")

    def __init__(self, tool: Tool, aliases: Mapping[str, str], formats: tuple[str, ...]) -> None:
        self.tool, self.formats = tool, formats
        self.keys = {name: alias for name, alias in aliases.items() if alias != name}  # original to alias
        self._validator: Validator | None = None
        self._names: frozenset[str] | None = None

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
            from tscg.shapes import declared, deref

            copy = self.validator.copy
            root = deref(copy, copy)
            rest = root.get("additionalProperties")
            open_names = "patternProperties" in root or isinstance(rest, dict)
            self._names = frozenset() if open_names else frozenset(declared(copy, (), {}))
        return self._names

    @property
    def has_rest(self) -> bool:
        """Whether names beyond the declared ones have a type of their own, so that none is undeclared."""
        from tscg.shapes import deref

        root = deref(self.validator.copy, self.validator.copy)
        return "patternProperties" in root or isinstance(root.get("additionalProperties"), dict)


def fold(name: str) -> str:
    """Letters and digits alone, without case."""
    return "".join(char for char in name.casefold() if char.isalnum())


class Index:
    """All spellings of the names of one surface."""

    def __init__(self, surface: Surface) -> None:
        formats = surface.decoding.formats
        self.entries = {
            tool.name: Entry(tool, surface.wire_keys.get(tool.name, {}), formats) for tool in surface.catalog
        }
        self.exact = dict(self.entries)  # rungs 1 and 2
        for name, entry in self.entries.items():
            wire = surface.wire_names.get(name, name)
            self.exact.setdefault(wire, entry)
        self.local: dict[str, list[str]] = {}  # rung 3: names at their servers
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
        self.gone = {fold(name): name for name in surface.gone}
        self.lowered: list[str] | None = None

    def near(self, name: str) -> list[str]:
        """Up to three names like a given one."""
        from rapidfuzz import fuzz, process

        names = list(self.entries)
        if self.lowered is None:
            self.lowered = [one.lower() for one in names]
        given = name.lower()[:256]
        scored = process.extract(given, self.lowered, scorer=fuzz.ratio, limit=NEAR_NAMES, score_cutoff=50)
        return [names[i] for _, _, i in scored]


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
    if fold(name) in index.gone:
        hint = _near_hint(index, name)
        return Found(fault=Fault(kind="unavailable_tool", found=quoted(name), hint=hint))
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


def _unknown(index: Index, name: object) -> Found:
    text = name if isinstance(name, str) else ""
    hint = "There are no tools." if not index.entries else _near_hint(index, text)
    return Found(fault=Fault(kind="unknown_tool", found=quoted(name if isinstance(name, str) else ""), hint=hint))


def _near_hint(index: Index, name: str) -> str:
    near = index.near(undecorated(name)) if name and index.entries else []
    return f"Near names: {', '.join(near)}." if near else ""
