"""From raw calls to items: ids, bounds, resolution, in the order of the output."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tscg.calls import CallError, Fault, Item, Notice
from tscg.decoders.objects import Raw
from tscg.messages import call_error
from tscg.resolve import Written, resolve_all

if TYPE_CHECKING:
    from tscg.ir import Tool
    from tscg.resolve import Surface

__all__ = ["Assembler"]

LEGAL_ID = re.compile(r"[!-~]{1,256}\Z")
DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
PAIRS = [low + high for high in DIGITS for low in DIGITS]  # two digits of base 36 at a time
ID_LENGTH = 9
SORTED = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=repr)
SURROGATE = re.compile("[\ud800-\udfff]")


class Assembler:
    """Makes items of raw calls, one after another."""

    def __init__(self, surface: Surface, seed: str) -> None:
        self.surface, self.seed = surface, seed
        self.used: set[str] = set()
        self.seen: set[tuple[str, str, str]] = set()
        self.count = 0
        self.warnings: list[Notice] = []
        self.full = False

    def items(self, raw: Raw) -> list[Item]:
        """The items of one raw call: one; several for a wrapper; none for an exact repetition."""
        limit = self.surface.decoding.max_calls
        if self.count >= limit:
            if self.full and not raw.id:
                return []
            self.full = True
            fault = Fault(kind="too_many_calls", expected=f"at most {limit}")
            return [self.named(call_error(raw.name or "call", [fault], id=raw.id), raw)]
        self.count += 1
        if raw.id and raw.fault is None:
            mark = (raw.id, raw.name, _text(raw.arguments))
            if mark in self.seen:
                return []
            self.seen.add(mark)
        return [self.named(item, raw) for item in self.resolved(raw)]

    def resolved(self, raw: Raw) -> tuple[Item, ...]:
        """The items as the resolver gives them."""
        if raw.fault is not None:
            tool = self.named_tool(raw)
            return (call_error(tool.name if tool else raw.name or "call", [raw.fault], id=raw.id, tool=tool),)
        arguments = raw.arguments
        if raw.raw_texts:
            arguments = _typed(self.surface, raw)
        plain = raw.name in self.surface.index.exact and self.surface.mode != "dispatch"
        if plain and raw.strict and isinstance(arguments, dict):
            from tscg.decoders.values import Reading

            arguments = Reading(value=arguments)  # read strictly with the whole call: once is enough
        written = Written(
            id=raw.id or (self.made(raw) if plain else ""),
            repairs=raw.repairs,
            warnings=raw.warnings,
            dialect=raw.dialect,
            opaque=raw.opaque,
            sources=raw.sources,
        )
        return resolve_all(self.surface, raw.name, arguments, written)

    def named_tool(self, raw: Raw) -> Tool | None:
        """The tool that a call with a fault names, also in what there is of a dispatcher's arguments."""
        index = self.surface.index
        entry = index.exact.get(raw.name)
        if entry is not None or raw.name not in index.words:
            return entry.tool if entry else None
        from tscg.dispatching import named_tool

        return named_tool(self.surface, raw.arguments)

    def named(self, item: Item, raw: Raw) -> Item:
        """The item under an id that is legal and new."""
        given = item.id
        if not LEGAL_ID.match(given):
            given = self.made(raw)
        if given in self.used:
            number = 2
            while f"{given}-{number}" in self.used:
                number += 1
            self.warnings.append(
                Notice(kind="duplicate_id", message=f"{given[:80]} is given twice, now {given[:80]}-{number}")
            )
            given = f"{given}-{number}"
        self.used.add(given)
        return item if item.id == given else replace(item, id=given)

    def made(self, raw: Raw) -> str:
        """Nine letters and digits that depend on the seed, the position and the call alone."""
        source = raw.source
        if source is None:
            source = f"{raw.name}\0{_text(raw.arguments)}"
        data = f"{self.seed}\0{len(self.used)}\0{source}".encode("utf-8", "surrogatepass")
        number = int.from_bytes(hashlib.sha256(data).digest()[:8], "big")
        out = ""
        while len(out) < ID_LENGTH:
            number, digits = divmod(number, len(PAIRS))
            out += PAIRS[digits]
        return out[:ID_LENGTH]

    def error(self, fault: Fault) -> CallError:
        """An error about the output as a whole."""
        item = self.named(call_error("call", [fault]), Raw(name=fault.kind))
        assert isinstance(item, CallError)
        return item


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return SORTED.encode(value)
    except (ValueError, TypeError, RecursionError):
        return repr(type(value))


def _typed(surface: Surface, raw: Raw) -> dict[str, Any]:
    """Raw texts under the types of the schema: a text where a text is valid, else the JSON value that it spells."""
    from tscg.decoders.values import Bad, read_value
    from tscg.repair import wrong_at
    from tscg.resolve import find

    arguments: dict[str, Any] = dict(raw.arguments)
    entry = find(surface, raw.name).entry
    if entry is None or any(SURROGATE.search(text) for pair in arguments.items() for text in pair):
        return arguments  # the resolver says what is wrong
    for key, text in raw.arguments.items():
        if not wrong_at(entry.validator, arguments, (key,)):
            continue
        try:
            reading = read_value(text.strip(), surface.decoding)
        except Bad:
            continue
        changed = {**arguments, key: reading.value}
        if reading.repairs or isinstance(reading.value, str):
            continue
        if isinstance(reading.value, dict | list) or not wrong_at(entry.validator, changed, (key,)):
            arguments = changed
    return arguments
