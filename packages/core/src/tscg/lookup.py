"""Lookups: what a model asks about tools, and the text that answers it.

Tools asked for by name are given whole, in the catalog language; a query gives signature lines, best first. Whatever
finds nothing is answered with what helps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from tscg.calls import CallError, Fault, Lookup
from tscg.messages import call_error, quoted

if TYPE_CHECKING:
    from tscg.ir import Catalog, Tool
    from tscg.resolve import Surface

__all__ = ["ask", "entries", "namespaces", "reply"]

TOOL_LIMIT = 10  # tools of one lookup that are given whole
HIT_LIMIT = 8  # signature lines of one query
GROUP_LIMIT = 12  # namespaces that are named where nothing was found
QUERY_LIMIT = 1_000  # characters of a query that are read
TOOL_KEYS = ("tools", "tool", "names", "name", "handles", "handle", "tool_names", "tool_name", "codes", "code")
QUERY_KEYS = ("query", "q", "search", "keywords", "text")
SEPARATORS = "._-/:"


# --- what is asked --------------------------------------------------------------------------------------------------


def ask(surface: Surface, given: object, id: str = "") -> Lookup | CallError:
    """A lookup from its arguments as they were written: ``{"tools": [...], "query": ...}`` in any tolerated spelling.

    >>> from tscg.ir import Catalog, Object, Tool
    >>> from tscg.resolve import Surface
    >>> surface = Surface(catalog=Catalog(tools=(Tool(name="ping", root=Object()),)), lookup_tool="lookup")
    >>> ask(surface, {"tool": "ping"}).reply
    'ping()'
    """
    from tscg.decoders.values import Bad

    try:
        value = _value(surface, given)
    except Bad as bad:
        return _refused(surface, bad.fault, id)
    if not surface.decoding.dispatch_form:
        fault = _strictly(value)
        if fault is not None:
            return _refused(surface, fault, id)
    tools, query = _asked(surface, value)
    names, text = reply(surface, tools, query)
    return Lookup(id=id, tools=tuple(names), query=query, reply=text)


def _refused(surface: Surface, fault: Fault, id: str) -> CallError:
    return call_error(surface.lookup_tool, [fault], id=id, closing='Send {"tools": [NAMES]} or {"query": WORDS}.')


def _value(surface: Surface, given: object) -> Any:
    """The arguments as an object, or the names alone."""
    from tscg.decoders.values import plain, read_arguments, read_value

    if isinstance(given, list):
        return {"tools": plain(given, surface.decoding, [])}
    if isinstance(given, str):
        text = given.strip()
        if text[:1] in ('"', "[") and text not in ('""', '"null"'):
            value = read_value(text, surface.decoding).value
            if not isinstance(value, str) or not value.strip().startswith("{"):
                return {"tools": value}
        elif surface.index.exact.get(text) is not None:
            return {"tools": [text]}
    return read_arguments(given, surface.decoding).value


def _strictly(value: dict[str, Any]) -> Fault | None:
    """The fault of arguments that are not as the schema of the lookup has them."""
    for key, inner in value.items():
        if key not in ("tools", "query"):
            return Fault(kind="unexpected_argument", path=(key,), expected="tools, query", found=quoted(key))
        if key == "query" and not isinstance(inner, str | None):
            return Fault(kind="wrong_type", path=(key,), expected="a string", found=quoted(inner))
        if key == "tools" and not (
            inner is None or (isinstance(inner, list) and all(isinstance(one, str) for one in inner))
        ):
            return Fault(kind="wrong_type", path=(key,), expected="a list of strings", found=quoted(inner))
    return None


def _asked(surface: Surface, value: dict[str, Any]) -> tuple[list[str], str]:
    """Handles and query, from any key that may hold them."""
    from tscg.fields import BAGS, mapping

    tools: list[str] = []
    queries: list[str] = []
    for key in TOOL_KEYS:
        tools += _texts(value.get(key))
    for key in QUERY_KEYS:
        queries += [text.strip() for text in _texts(value.get(key)) if text.strip()]
    if not tools and not queries:
        inner = next((value[key] for key in BAGS if isinstance(value.get(key), dict | str | list)), None)
        whole = mapping(inner, surface.decoding) if not isinstance(inner, list) else None
        if whole is not None:
            return _asked(surface, {key: one for key, one in whole.items() if key not in BAGS})
        tools = _texts(inner)
    if len(tools) == 1:
        tools = _split(surface, tools[0])
    return [tool for tool in tools if tool.strip()], " ".join(queries)[:QUERY_LIMIT]


def _texts(value: Any) -> list[str]:
    if isinstance(value, list):
        return [text for one in value for text in (_texts(one) if not isinstance(one, list) else ())]
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return _texts(next((value[key] for key in TOOL_KEYS if isinstance(value.get(key), str)), None))
    return [] if value is None else [str(value)]


def _split(surface: Surface, text: str) -> list[str]:
    """One text may be a list: as JSON, or with commas where no tool has the whole for its name."""
    from tscg.decoders.values import Bad, read_value

    if text.strip().startswith("["):
        try:
            return _texts(read_value(text, surface.decoding).value)
        except Bad:
            return [text]
    if "," in text and text not in surface.index.exact:
        return [part.strip() for part in text.split(",")]
    return [text]


# --- what is answered -----------------------------------------------------------------------------------------------


def reply(surface: Surface, tools: Iterable[str], query: str) -> tuple[list[str], str]:
    """The text that answers handles and a query, and the names of the tools that were asked for.

    The answer to known handles alone is the catalog language. A handle that finds nothing stays as it was written.
    """
    names: dict[str, bool] = {}  # asked for, in order; does the tool exist?
    helps: list[str] = []
    for handle in tools:
        found, help = _found(surface, handle)
        names.setdefault(found or handle, bool(found))
        if help and help not in helps:
            helps.append(help)
    known = [name for name, exists in names.items() if exists]
    parts = [entries(surface.index.entries[name].tool for name in known[:TOOL_LIMIT])] if known else []
    if len(known) > TOOL_LIMIT:
        helps.append(f"{TOOL_LIMIT} tools at a time. Ask again for: {', '.join(known[TOOL_LIMIT:][:40])}.")
    if query.strip():
        parts.append(_hits(surface, query))
    elif not names:
        helps.append(f'Give "tools" (names) or "query" (words). {_groups(surface.catalog)}'.rstrip())
    parts += ["\n".join(helps[:TOOL_LIMIT])] if helps else []
    return list(names), "\n\n".join(parts)


def entries(tools: Iterable[Tool]) -> str:
    """Tools whole, in the catalog language: :func:`tscg.decompile` gives them back.

    >>> from tscg.ir import Object, Tool
    >>> entries([Tool(name="a", root=Object()), Tool(name="b", root=Object())])
    'a()\\nb()'
    """
    from tscg.costs import costs_of
    from tscg.ir import Catalog
    from tscg.language.emit import emit
    from tscg.language.spelling import DEFAULT

    return emit(Catalog(tools=tuple(tools)), DEFAULT, costs_of("o200k_base")).text


def _found(surface: Surface, handle: str) -> tuple[str, str]:
    """The name of the tool that a handle means, or what helps."""
    from tscg.dispatching import handle_of

    found = handle_of(surface, handle)
    if found.entry is not None:
        return found.entry.tool.name, ""
    fault = found.fault
    if fault is not None and fault.kind == "ambiguous_tool":
        return "", f"{quoted(handle)} may be several tools: {fault.expected}."
    near = surface.index.near(handle) if surface.index.entries else []
    said = "is gone" if fault is not None and fault.kind == "unavailable_tool" else "is no tool"
    return "", " ".join(
        filter(
            None, [f"{quoted(handle)} {said}.", f"Near names: {', '.join(near)}." if near else _groups(surface.catalog)]
        )
    )


def _hits(surface: Surface, query: str) -> str:
    index = surface.index
    hits = index.ranking.search(query)
    if not hits:
        near = index.near(query) if index.entries else []
        names = [f"Near names: {', '.join(near)}."] if near else []
        return " ".join(filter(None, [f"Nothing matches {quoted(query)}.", *names, _groups(surface.catalog)]))
    lines = [index.line(name) for name in hits[:HIT_LIMIT]]
    more = len(hits) - len(lines)
    return "\n".join([*lines, f"{more} more. Narrow the query."] if more else lines)


def namespaces(catalog: Catalog) -> dict[str, int]:
    """Counts of tools by server, else by the first part of the name; those that stand alone are ``other``.

    >>> from tscg.ir import Catalog, Object, Tool
    >>> namespaces(Catalog(tools=tuple(Tool(name=name, root=Object()) for name in ("git_add", "git_rm", "ping"))))
    {'git': 2, 'other': 1}
    """
    counted = Counter(tool.server or _front(tool.name) for tool in catalog)
    alone = sum(count for name, count in counted.items() if count < 2 or not name)
    groups = {name: count for name, count in sorted(counted.items()) if count > 1 and name}
    return {**groups, "other": groups.get("other", 0) + alone} if alone else groups


def _front(name: str) -> str:
    at = next((i for i, char in enumerate(name) if char in SEPARATORS and i and i + 1 < len(name)), 0)
    return name[:at]


def _groups(catalog: Catalog) -> str:
    counted = namespaces(catalog)
    if not counted:
        return "There are no tools."
    shown = [f"{name} {count}" for name, count in list(counted.items())[:GROUP_LIMIT]]
    more = f" and {len(counted) - GROUP_LIMIT} more groups" if len(counted) > GROUP_LIMIT else ""
    return f"There are: {', '.join(shown)}{more}."
