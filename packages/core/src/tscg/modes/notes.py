"""Notes: a line of a person's own for a tool in the map, checked against the tool it speaks of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tscg.errors import ConfigError
from tscg.ir import Catalog, Enum, Node, Object, Tool, children
from tscg.schema import minified

__all__ = ["LIMIT", "Judged", "judge", "note", "tool_fingerprint"]

LIMIT = 110  # characters
_quoted_names = re.compile(r"`([^`\s]+)`")
_shaped_names = re.compile(r"(?<![\w$./:-])(?:[A-Za-z]\w*_\w+|[a-z]{2,}[A-Z][a-z]\w*)(?![\w/:-]|\.\w)")
_set_names = re.compile(r"(?<![\w$.])([A-Za-z_$][\w$.-]*)(?==[^=\s]|\(\))")
_words = re.compile(r"[\w$.-]*\w")


def tool_fingerprint(tool: Tool) -> str:
    """``sha256:`` and the hash of what a tool says: its name, prose and types, in whatever format they came."""
    from hashlib import sha256

    said = minified([tool.name, tool.description, tool.to_json_schema()])
    return f"sha256:{sha256(said.encode('utf-8', 'surrogatepass')).hexdigest()}"


def note(tool: Tool, text: str) -> dict[str, str]:
    """A note in the form to be stored: with the fingerprint of its tool, so that it goes stale when the tool changes.

    >>> import tscg
    >>> tool = tscg.Catalog.from_tools([{"name": "ping", "description": "Checks the server."}])[0]
    >>> stored = note(tool, "Cheap: use it before long work.")
    >>> tscg.compile([tool], mode="dispatch", notes={"ping": stored}).text
    'ping()\\n Cheap: use it before long work.'
    """
    return {"text": text, "fingerprint": tool_fingerprint(tool)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """Notes by tool: those to show, and those refused with the reason. ``missing`` names the tools without one."""

    accepted: Mapping[str, str]
    refused: Mapping[str, str]
    missing: tuple[str, ...]


def judge(
    catalog: Catalog, given: Mapping[str, object] | None, *, taken: Iterable[str] = (), required: bool = False
) -> Judged:
    """Read notes, each a text or ``{"text", "fingerprint"}``. ``taken`` are the wire names of pinned tools.

    Raises ConfigError for what is no note, and with ``required`` for tools that have none or one that is refused.
    """
    if given is None and not required:
        return Judged(accepted={}, refused={}, missing=())
    tools = {tool.name: tool for tool in catalog}
    pinned = frozenset(taken)
    known = frozenset(tools) | pinned | {tool.local_name for tool in catalog}
    accepted, refused = {}, {}
    for name in sorted(given or {}):
        text, fingerprint = _read(name, (given or {})[name])
        tool = tools.get(name)
        if tool is None:
            reason = "its tool has a wire tool of its own" if name in pinned else "there is no such tool"
        else:
            reason = _fault(tool, text, fingerprint, known)
        if reason:
            refused[name] = reason
        else:
            accepted[name] = text.strip()
    missing = tuple(name for name in tools if name not in accepted)
    if required and missing:
        shown = [f"{name} ({refused[name]})" if name in refused else name for name in missing[:20]]
        more = f" and {len(missing) - len(shown)} more" if len(missing) > len(shown) else ""
        raise ConfigError(
            f"every tool needs a note, and these have none: {', '.join(shown)}{more}", hint="notes={tool: line}"
        )
    return Judged(accepted=accepted, refused=refused, missing=missing)


def _read(name: str, given: object) -> tuple[str, str]:
    """Text and fingerprint, empty where none is given."""
    if isinstance(given, str):
        return given, ""
    if isinstance(given, Mapping):
        text, fingerprint = given.get("text"), given.get("fingerprint", "")
        if isinstance(text, str) and isinstance(fingerprint, str):
            return text, fingerprint
    raise ConfigError(f"the note of {name!r} is {given!r}", allowed=("a text", '{"text": ..., "fingerprint": ...}'))


def _fault(tool: Tool, text: str, fingerprint: str, tools: frozenset[str]) -> str:
    """Why a note is refused, empty when it is not."""
    said = text.strip()
    if fingerprint and fingerprint != tool_fingerprint(tool):
        return "stale: its tool has changed"
    if not said:
        return "it is empty"
    if len(said.splitlines()) > 1:
        return "it has several lines"
    if len(said) > LIMIT:
        return f"it has {len(said)} characters, {LIMIT} are allowed"
    mentioned = _mentioned(said)
    if mentioned:
        known = _known(tool) | tools
        for word in mentioned:
            if word not in known:
                return f"{word} is no parameter of its tool and no tool"
    return ""


def _mentioned(text: str) -> Sequence[str]:
    """Words that are written as names: in backquotes, with an underscore or a capital inside, or before ``=``."""
    found = [*_quoted_names.findall(text), *_shaped_names.findall(text), *_set_names.findall(text)]
    return list(dict.fromkeys(word.removesuffix("()") for word in found))


def _known(tool: Tool) -> frozenset[str]:
    """Parameters at any depth, listed values, and the words of the author's own prose."""
    out: set[str] = {name for name, _ in tool.types}
    proses = [tool.description]
    stack: list[Node] = [tool.root, *(node for _, node in tool.types)]
    seen: set[int] = set()
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.note is not None:
            proses.append(node.note.description)
        if isinstance(node, Object):
            out.update(param.name for param in node.params)
        if isinstance(node, Enum):
            out.update(value.strip('"') for value in node.values)
        stack += children(node)
    for prose in proses:
        out.update(_words.findall(prose))
    return frozenset(out)
