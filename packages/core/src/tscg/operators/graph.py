"""The dependency graph of a catalog: tool ``a`` before tool ``b`` when ``a`` gives what ``b`` requires.

Three signs count. A required parameter that names a thing (``issue_id``, ``issueNumber``, the bare ``id`` of
``get_issue``) and a tool that lists, searches, creates or gets such things; a field of an output schema of that name; a
tool that the prose of another names ("call `get_x` first", "the id from list_x"). Names are read as words, so snake,
camel, kebab and namespaced names, singular and plural, are one.

All look-ups go through an index by words: time grows with the size of the catalog, not with the number of pairs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import chain, islice, takewhile
from typing import NamedTuple

from tscg.ir import Catalog, Object, Param, Tool
from tscg.operators.mentions import mentions
from tscg.operators.naming import BARE_KEYS, LABELS, MAKING, Named, named, suffixes, thing_of, words

__all__ = ["GIVERS", "Edge", "acyclic", "edges", "topological"]

Edge = tuple[int, int, str]
"""Places of two tools in the catalog, the first before the second, and the reason in words."""

#: Givers that one required parameter is tied to at most. Beyond some the order says nothing more, and a catalog of
#: thousands of tools for one thing would have a graph that grows with the square of its size.
GIVERS = 8
#: Parameters that one tool is asked about at most (the wrapping object of some servers included).
REQUIRED = 24


class _Tool(NamedTuple):
    """What the graph needs to know of one tool."""

    place: int
    server: str
    name: str
    says: Named
    needs: tuple[tuple[tuple[str, ...], str], ...]  # (thing, spelling of the parameter)


def edges(catalog: Catalog) -> tuple[Edge, ...]:
    """Who comes before whom, by place in the catalog, sorted; each pair once, with the strongest reason.

    Which tools are tied depends on what they say and not on their order.

    >>> from tscg.ir import Catalog, Object, Param, String, Tool
    >>> close = Tool(name="close_issue", root=Object(params=(Param(name="issueId", required=True, type=String()),)))
    >>> edges(Catalog(tools=(close, Tool(name="issues.list", root=Object()))))
    ((1, 0, 'gives issueId'),)
    """
    known = [_read(place, tool) for place, tool in enumerate(catalog)]
    found: dict[tuple[int, int], str] = {}
    for before, after, reason in _by_schema(known, catalog):
        found.setdefault((before, after), reason)
    said = {(before, after): reason for before, after, reason in mentions(catalog)}
    # What a schema says wins over prose that says the opposite.
    found = {pair: reason for pair, reason in said.items() if pair[::-1] not in found} | found
    return tuple((before, after, reason) for (before, after), reason in sorted(found.items()))


# --- what a tool gives and needs --------------------------------------------------------------------------------------


def _read(place: int, tool: Tool) -> _Tool:
    says = named(tool.local_name or tool.name)
    needs: dict[tuple[str, ...], str] = {}
    for param in _required(tool):
        thing = _needed(param.name, says)
        # The name that a new thing gets (`cluster_name` of `create_cluster`) is no thing that must exist before.
        new = says.verb in MAKING and words(param.name)[-1] in LABELS and _meets(thing, says.thing)
        if thing and not new:
            needs.setdefault(thing, param.name)
    if says.verb == "add" and any(_meets(thing, says.thing) for thing in needs):  # add_issues_to_sprint makes no issue
        says = says._replace(gives=False)
    return _Tool(place, tool.server, tool.name, says, tuple(needs.items()))


def _required(tool: Tool) -> Iterable[Param]:
    """Required parameters, those of one object that wraps them all included."""
    found = [param for param in tool.params if param.required]
    if len(found) == 1 and isinstance(found[0].type, Object):
        found += [param for param in found[0].type.params if param.required]
    return found[:REQUIRED]


def _needed(param: str, says: Named) -> tuple[str, ...]:
    """The thing that a parameter is the key of; a bare ``id`` is the key of what the tool is about."""
    spoken = words(param)
    if len(spoken) == 1 and spoken[0] in BARE_KEYS:
        return () if says.verb in MAKING else says.thing
    return thing_of(spoken)


def _meets(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    short = min(len(left), len(right))
    return short > 0 and left[-short:] == right[-short:]


# --- schemas ----------------------------------------------------------------------------------------------------------


def _by_schema(known: Sequence[_Tool], catalog: Catalog) -> Iterable[Edge]:
    givers = _index(known, catalog)
    for tool in known:
        for thing, param in tool.needs:
            given = next((found for key in suffixes(thing) if (found := givers.get(key))), None)
            if given is None:
                continue
            here = _usable([given.get(tool.server, [])], tool, thing)
            for giver, word in here or _usable(given.values(), tool, thing):
                yield giver.place, tool.place, f"{word} {param}"


def _usable(servers: Iterable[list[_Giver]], tool: _Tool, thing: tuple[str, ...]) -> list[tuple[_Tool, str]]:
    """The first givers that come before a tool: those that need less of the thing than it does (they stand first)."""
    level = _level(tool, thing)
    before = chain.from_iterable(takewhile(lambda giver: giver[0] < level, givers) for givers in servers)
    return list(islice(((giver, word) for _, giver, word in before if giver.place != tool.place), GIVERS))


_Giver = tuple[int, _Tool, str]
_Givers = dict[str, list[_Giver]]


def _index(known: Sequence[_Tool], catalog: Catalog) -> Mapping[tuple[str, ...], _Givers]:
    """Givers of each thing by server: first those that need no such thing themselves, then by name."""
    found: defaultdict[tuple[str, ...], _Givers] = defaultdict(dict)
    for tool in sorted(known, key=lambda one: (one.server, one.name)):
        spoken: dict[tuple[str, ...], str] = {}
        if tool.says.gives:
            spoken = dict.fromkeys(suffixes(tool.says.thing), "gives")
        for thing in _outputs(catalog[tool.place]):
            if not _needs_itself(tool, thing):  # what it was given it only says again
                spoken.setdefault(thing, "has in its output")
        for thing, word in spoken.items():
            entry = (_needs_itself(tool, thing), tool, word)
            found[thing].setdefault(tool.server, []).append(entry)
    for servers in found.values():
        for listed in servers.values():
            listed.sort(key=lambda entry: entry[0])
    return found


def _needs_itself(tool: _Tool, thing: tuple[str, ...]) -> int:
    return int(any(_meets(need, thing) for need, _ in tool.needs))


def _level(tool: _Tool, thing: tuple[str, ...]) -> int:
    """0: gives a thing and needs none (list); 1: needs one and gives it (get); 2: needs one (close)."""
    gives = tool.says.gives and _meets(tool.says.thing, thing)
    return 1 if gives else 2


def _outputs(tool: Tool) -> Iterable[tuple[str, ...]]:
    """Things whose keys are fields of the result, to a depth of three objects or lists."""
    schema = tool.output_schema
    level: list[object] = [schema] if schema else []
    for _ in range(3):
        below: list[object] = []
        for node in level:
            if not isinstance(node, dict):
                continue
            fields = node.get("properties")
            if isinstance(fields, dict):
                for name, field in fields.items():
                    thing = thing_of(words(name))
                    if thing:
                        yield thing
                    below.append(field)
            below.append(node.get("items"))
        level = below[:256]


# --- order ------------------------------------------------------------------------------------------------------------


def acyclic(count: int, links: Iterable[Edge]) -> tuple[tuple[int, int], ...]:
    """The links without those inside a cycle, so that its members keep the order they have.

    What is left has no cycle, and does not depend on the order of the links.

    >>> acyclic(3, [(0, 1, ""), (1, 0, ""), (1, 2, "")])
    ((1, 2),)
    """
    pairs = {(before, after) for before, after, _ in links if before != after}
    after: list[list[int]] = [[] for _ in range(count)]
    for one, other in sorted(pairs):
        after[one].append(other)
    group = _components(after)
    return tuple(sorted(pair for pair in pairs if group[pair[0]] != group[pair[1]]))


def _components(after: Sequence[Sequence[int]]) -> list[int]:
    """The strongly connected component of each place (Tarjan's algorithm, with a stack of its own)."""
    count = len(after)
    order = [-1] * count
    low = [0] * count
    group = [-1] * count
    stack: list[int] = []
    clock = 0
    for root in range(count):
        if order[root] >= 0:
            continue
        work = [(root, 0)]
        while work:
            node, step = work.pop()
            if step == 0:
                order[node] = low[node] = clock
                clock += 1
                stack.append(node)
            if step and group[after[node][step - 1]] < 0:
                low[node] = min(low[node], low[after[node][step - 1]])
            while step < len(after[node]):
                child = after[node][step]
                step += 1
                if order[child] < 0:
                    work += [(node, step), (child, 0)]
                    break
                if group[child] < 0:
                    low[node] = min(low[node], order[child])
            else:
                if low[node] == order[node]:
                    while group[node] < 0:
                        group[stack.pop()] = node
    return group


def topological(count: int, pairs: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Places in an order that respects the pairs; what is free to stand anywhere keeps its place (Kahn, with a heap).

    >>> topological(3, [(2, 0)])
    (1, 2, 0)
    """
    after: list[list[int]] = [[] for _ in range(count)]
    waits = [0] * count
    for one, other in pairs:
        after[one].append(other)
        waits[other] += 1
    ready = [place for place in range(count) if not waits[place]]
    heapify(ready)
    order: list[int] = []
    while ready:
        place = heappop(ready)
        order.append(place)
        for other in after[place]:
            waits[other] -= 1
            if not waits[other]:
                heappush(ready, other)
    return tuple(order)
