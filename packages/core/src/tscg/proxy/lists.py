"""Prompts and resources of several servers as one list, and which server each of them is on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tscg.proxy.sdk import Message
from tscg.proxy.upstream import Gone, Refused, Upstream

__all__ = ["LISTS", "Lists", "all_pages"]

#: For each list its method's capability, the member of the result, and what an entry is known by.
LISTS: Final[Mapping[str, tuple[str, str, str]]] = {
    "prompts/list": ("prompts", "prompts", "name"),
    "resources/list": ("resources", "resources", "uri"),
    "resources/templates/list": ("resources", "resourceTemplates", "uriTemplate"),
}
PAGES = 1_000  # most pages of one list
NO_METHOD, NOT_FOUND = -32601, -32602


async def all_pages(upstream: Upstream, method: str, member: str) -> list[Any]:
    """All entries of a server's list. Raises Gone for one that does not end."""
    found: list[Any] = []
    params: Message = {}
    seen: set[object] = set()
    while True:
        result = await upstream.request(method, params)
        found += result.get(member, [])
        cursor = result.get("nextCursor")
        if not cursor:
            return found
        if cursor in seen or len(seen) >= PAGES:
            raise Gone(f"the answer of {upstream.name} to {method} does not end: cursor {cursor!r} came again")
        seen.add(cursor)
        params = {"cursor": cursor}


class Lists:
    """What servers list beside tools. Prompts of one name on two servers become ``server__name`` on both."""

    def __init__(self, upstreams: Sequence[Upstream]) -> None:
        self._upstreams = upstreams
        self._owners: dict[str, dict[str, tuple[Upstream, str]]] = {}

    async def listed(self, method: str) -> Message:
        """One list of those of all servers. A server that cannot be asked is left out, and the log says so."""
        capability, member, key = LISTS[method]
        pages: list[tuple[Upstream, list[Any]]] = []
        trouble: list[Gone | Refused] = []
        having = self.having(capability)
        if not having:
            raise Refused({"code": NO_METHOD, "message": "Method not found"})
        for upstream in having:
            try:
                pages.append((upstream, await all_pages(upstream, method, member)))
            except (Gone, Refused) as error:
                upstream.note(f"{method}: {error}")
                trouble.append(error)
        if trouble and not pages:
            raise trouble[0]
        return {member: self._joined(method, pages, key)}

    def _joined(self, method: str, pages: list[tuple[Upstream, list[Any]]], key: str) -> list[Any]:
        owners: dict[str, tuple[Upstream, str]] = {}
        names = [entry[key] for _, page in pages for entry in page]
        entries = []
        for upstream, page in pages:
            for entry in page:
                local = shown = entry[key]
                if names.count(local) > 1 and method == "prompts/list":
                    shown = f"{upstream.name}__{local}"
                if shown in owners:
                    upstream.note(f"{method}: {shown!r} is on {owners[shown][0].name} too, which is asked for it")
                    continue
                owners[shown] = (upstream, local)
                entries.append({**entry, key: shown})
        self._owners[method] = owners
        return entries

    def having(self, capability: str) -> list[Upstream]:
        """The servers with a capability. One that is alone is asked in any case: it knows best what it refuses."""
        if len(self._upstreams) == 1:
            return list(self._upstreams)
        return [upstream for upstream in self._upstreams if upstream.offers(capability)]

    async def _owner(self, method: str, name: str) -> tuple[Upstream, str] | None:
        """Server and local name of an entry; lists that were never asked for, or are old, are read first."""
        found = self._owners.get(method, {}).get(name)
        if found is None:
            await self.listed(method)
            found = self._owners[method].get(name)
        return found

    async def of_prompt(self, name: str) -> tuple[Upstream, str]:
        """The server of a prompt and its name there. Raises Refused where no server has it."""
        having = self.having("prompts")
        if len(having) == 1:
            return having[0], name
        found = await self._owner("prompts/list", name) if having else None
        if found is None:
            raise Refused({"code": NOT_FOUND, "message": f"Unknown prompt: {name}"})
        return found

    async def of_resource(self, uri: str) -> list[Upstream]:
        """The servers to ask for a resource: the one that lists it, else all, since a template may make any URI."""
        having = self.having("resources")
        if len(having) < 2:
            return having
        found = await self._owner("resources/list", uri)
        return having if found is None else [found[0]]

    async def of_template(self, template: str) -> list[Upstream]:
        """The servers to ask about a template of resources, as of a resource."""
        having = self.having("resources")
        if len(having) < 2:
            return having
        found = await self._owner("resources/templates/list", template)
        return having if found is None else [found[0]]
