"""Calls through the dispatcher: from what the model wrote to one tool and its arguments.

The dispatcher takes ``{"tool": NAME, "args": {...}}``, a namespace ``{"op": NAME, "args": {...}}``. Other shapes are
read where they leave one reading only, and listed as ``dispatch_form``; nothing that may be an argument is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tscg.calls import CallError, Fault, Item
from tscg.fields import BAGS, HANDLES, NOTE, OPERATIONS, Fields, mapping
from tscg.messages import call_error, quoted
from tscg.names import Entry, Found, find, fold

if TYPE_CHECKING:
    from tscg.decoders.values import Reading
    from tscg.ir import Tool
    from tscg.resolve import Surface, Written

__all__ = ["direct", "handle_of", "named_tool", "routed"]

WRAPPERS = frozenset({"tool_call", "tool_calls", "function_call", "call"})
BESIDE = frozenset({"id", "call_id", "type"})  # what may stand beside a whole call and says nothing
NAMED = re.compile(r'\\*"(?:op|operation|tool|tool_name|name|function|code)\\*"\s*:\s*\\*"([^"\\]{1,256})\\*"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A dispatcher as it was shown: its wire name, the fields that may name the tool, the operations of a namespace."""

    wire: str
    keys: tuple[str, ...]
    group: str = ""

    @property
    def shape(self) -> str:
        """How a call is written."""
        return f'{{"{self.keys[0]}": NAME, "args": {{...}}}}'


def routed(surface: Surface, name: object, arguments: object, written: Written) -> tuple[Item, ...] | None:
    """The items of a call by a wire name of the dispatcher or the lookup; None for any other name."""
    index = surface.index
    if not isinstance(name, str):
        return None
    entry = index.exact.get(name)
    # On the wire these names are the dispatcher's; in text a tool of the name comes first.
    first = entry is None or (surface.mode == "dispatch" and entry.tool.name not in surface.native)
    if first and (name in (surface.call_tool, surface.lookup_tool) or name in surface.groups):
        return _by_word(surface, name, arguments, written, 0)
    if entry is not None or name in index.codes or len(name) > surface.decoding.max_name:
        return None
    word, repairs = index.word(name, surface.decoding)
    if not word or find(surface, name).entry is not None:
        return None
    return _by_word(surface, word, arguments, _noted(written, repairs), 0)


def _by_word(surface: Surface, word: str, arguments: object, written: Written, depth: int) -> tuple[Item, ...]:
    if word == surface.lookup_tool:
        from tscg.lookup import ask

        return (ask(surface, arguments, written.id),)
    return _Dispatched(surface, _form(word, word in surface.groups), written, depth).items(arguments)


@lru_cache(maxsize=256)
def _form(wire: str, is_group: bool) -> Form:
    return Form(wire=wire, keys=(*OPERATIONS, *HANDLES) if is_group else HANDLES, group=wire if is_group else "")


def _noted(written: Written, repairs: Iterable[str]) -> Written:
    more = tuple(repairs)
    return replace(written, repairs=(*written.repairs, *more)) if more else written


def _read(written: Written, reading: Reading) -> Written:
    """What came with a call, with what reading its arguments added."""
    if not (reading.repairs or reading.warnings or reading.sources):
        return written
    return replace(
        written,
        repairs=(*written.repairs, *reading.repairs),
        warnings=(*written.warnings, *reading.warnings),
        sources={**(written.sources or {}), **reading.sources},
    )


# --- handles --------------------------------------------------------------------------------------------------------


def handle_of(surface: Surface, handle: str, group: str = "") -> Found:
    """The tool that a handle means: the name ladder, operations of the namespace first, or ``"code name"`` in one text.

    >>> from tscg.ir import Catalog, Object, Tool
    >>> from tscg.resolve import Surface
    >>> surface = Surface(catalog=Catalog(tools=(Tool(name="a_b", root=Object()),)), codes={"a_b": "zz"})
    >>> [handle_of(surface, handle).entry.tool.name for handle in ("a_b", "zz", "zz a_b", "A.B")]
    ['a_b', 'a_b', 'a_b', 'a_b']
    """
    index = surface.index
    operations = surface.groups.get(group, {})
    if handle in operations and operations[handle] in index.entries:
        return Found(entry=index.entries[operations[handle]], exact=True)
    if operations and handle not in index.exact and surface.decoding.name_case and fold(handle):
        hits = {name for operation, name in operations.items() if fold(operation) == fold(handle)}
        if len(hits) == 1 and (hit := hits.pop()) in index.entries:
            return Found(entry=index.entries[hit], repairs=(f"name_case: : {quoted(handle)}",))
    found = find(surface, handle)
    if found.entry is not None or not index.codes or not surface.decoding.dispatch_form:
        return found
    code, _, rest = handle.strip().partition(" ")
    entry = index.codes.get(code)
    if entry is None or not rest.strip():
        return found
    other = find(surface, rest.strip().split("(")[0].split()[0])
    if other.entry is entry:
        return Found(entry=entry, repairs=(f"{NOTE}code and name in one",))
    names = sorted({entry.tool.name, other.entry.tool.name} if other.entry else {entry.tool.name})
    return Found(fault=Fault(kind="ambiguous_tool", expected=", ".join(names), found=quoted(handle)))


def named_tool(surface: Surface, arguments: object) -> Tool | None:
    """The tool that a text names which is no whole call, for the error about it."""
    match = NAMED.search(arguments[:4096]) if isinstance(arguments, str) and surface.index.words else None
    entry = handle_of(surface, match.group(1)).entry if match else None
    return entry.tool if entry else None


# --- the dispatcher -------------------------------------------------------------------------------------------------


class _Dispatched:
    """One call of the dispatcher, read."""

    def __init__(self, surface: Surface, form: Form, written: Written, depth: int) -> None:
        self.surface, self.form, self.written, self.depth = surface, form, written, depth
        self.options = surface.decoding
        self.notes: list[str] = []

    def items(self, arguments: object) -> tuple[Item, ...]:
        from tscg.decoders.values import Bad, read_arguments

        try:
            reading = read_arguments(arguments, self.options, room=1)
        except Bad as bad:
            return (self.error(bad.fault, named_tool(self.surface, arguments)),)
        fields: dict[str, Any] = reading.value
        self.written = _read(self.written, reading)
        if len(fields) == 2 and "args" in fields and isinstance(fields["args"], dict):
            entry = self.canonical(fields)
            if entry is not None and not _inside(entry, fields["args"], self.form):
                reading.value, reading.repairs, reading.warnings = fields["args"], [], []
                return (self.called(entry, reading),)
        return self.loose(fields)

    def canonical(self, fields: dict[str, Any]) -> Entry | None:
        """The tool of a call that is written as it was taught."""
        handle = fields.get(self.form.keys[0])
        if not isinstance(handle, str):
            return None
        index = self.surface.index
        if self.form.group:
            return index.entries.get(self.surface.groups[self.form.group].get(handle, ""))
        return index.exact.get(handle) or index.codes.get(handle)

    def loose(self, fields: dict[str, Any]) -> tuple[Item, ...]:
        key = self.handle_key(fields)
        if isinstance(key, Fault):
            return (self.error(key),)
        if not key:
            return self.nameless(fields)
        handle = str(fields[key])
        if key != self.form.keys[0]:
            self.notes.append(f"{NOTE}{key} for {self.form.keys[0]}")
        rest = {name: value for name, value in fields.items() if name != key}
        index = self.surface.index
        word = index.words.get(handle, "") if handle not in index.exact and handle not in index.codes else ""
        found = Found() if word else handle_of(self.surface, handle, self.form.group)
        if found.entry is None and not word:
            word, repairs = index.word(handle, self.options)
            self.notes += repairs
        if found.entry is None:
            if word and self.options.dispatch_form:
                return self.through(word, rest)
            fault = found.fault or Fault(kind="unknown_tool", found=quoted(handle))
            return (call_error(handle, [fault], id=self.written.id),)
        self.notes += found.repairs
        return self.tool(found.entry, key, rest)

    # --- which field names the tool ---------------------------------------------------------------------------------

    def handle_key(self, fields: dict[str, Any]) -> str | Fault:
        """The field that names the tool; empty where none does."""
        present = [key for key in self.form.keys if isinstance(fields.get(key), str)]
        if len(present) < 2 or present[0] == self.form.keys[0]:
            return present[0] if present else ""
        hits: dict[str, str] = {}  # tool or word -> field
        for key in present:
            target = self.target(fields[key])
            if target:
                hits.setdefault(target, key)
        if len(hits) > 1:
            return Fault(
                kind="ambiguous_call", expected=" or ".join(f"{key} as {self.form.keys[0]}" for key in hits.values())
            )
        return next(iter(hits.values()), present[0])

    def target(self, handle: str) -> str:
        """The name of the tool, or the wire word, that a text means."""
        found = handle_of(self.surface, handle, self.form.group)
        if found.entry is not None:
            return found.entry.tool.name
        return self.surface.index.word(handle, self.options)[0]

    def nameless(self, fields: dict[str, Any]) -> tuple[Item, ...]:
        """No field names a tool: one key may hold the whole call, or be the name of the tool itself."""
        index, options = self.surface.index, self.options
        alone = [key for key in fields if key not in BESIDE] or list(fields)
        if len(alone) == 1 and options.dispatch_form:
            key, value = alone[0], fields[alone[0]]
            whole = mapping(value, options)
            entry = index.exact.get(key) or index.codes.get(key)
            if entry is not None and key not in (*BAGS, *self.form.keys) and (whole is not None or value in (None, "")):
                self.notes.append(f"{NOTE}the name as key of the arguments")
                return (self.called(entry, whole or {}),)
            if whole and (key in (*BAGS, *self.form.keys) or key in WRAPPERS or key in index.words):
                self.notes.append(f"{NOTE}the whole call in {key}")
                return self.again(whole)
        own = index.exact.get(self.form.wire)
        if own is not None:  # a tool has the dispatcher's name, and this is no call of the dispatcher
            return (direct(self.surface, own, fields, self.written),)
        taught = self.form.keys[0]
        if fields.get(taught) is not None:
            fault = Fault(kind="wrong_type", path=(taught,), expected="a name", found=_short(fields[taught]))
        else:
            fault = Fault(kind="missing_required", path=(taught,), expected=taught)
        return (self.error(fault),)

    # --- the dispatcher in itself -------------------------------------------------------------------------------------

    def through(self, word: str, rest: dict[str, Any]) -> tuple[Item, ...]:
        """The handle is the dispatcher or the lookup itself."""
        bag = next((key for key in BAGS if rest.get(key) not in (None, "", {})), "")
        inner = mapping(rest[bag], self.options) if bag else None
        if word == self.surface.lookup_tool:
            from tscg.lookup import ask

            return (ask(self.surface, rest[bag] if inner is None and bag else inner or rest, self.written.id),)
        self.notes.append(f"{NOTE}{word} in {self.form.wire}")
        outer = {key for key in rest if key not in BAGS}
        return self.again(inner if inner is not None and not outer else rest, word)

    def again(self, fields: dict[str, Any], word: str = "") -> tuple[Item, ...]:
        """The same for what stands one layer below."""
        if self.depth >= self.options.max_wrappers:
            return (self.error(Fault(kind="unparsed_call", found="a call in a call in a call")),)
        return _by_word(self.surface, word or self.form.wire, fields, _noted(self.written, self.notes), self.depth + 1)

    # --- the arguments ------------------------------------------------------------------------------------------------

    def tool(self, entry: Entry, key: str, rest: dict[str, Any]) -> tuple[Item, ...]:
        fields = Fields(
            entry=entry, decoding=self.options, handle=key, keys=self.form.keys, notes=self.notes,
            is_text=getattr(self.surface.options, "arguments", "") == "json",
        )  # fmt: skip
        given = fields.arguments(self.without_repetition(entry, rest))
        if isinstance(given, Fault):
            return (self.error(given, entry.tool),)
        if isinstance(given, dict) and (whole := _inside(entry, given, self.form)):
            target = self.target(str(given[whole]))
            if target != entry.tool.name:
                fault = Fault(kind="ambiguous_call", expected=f"{entry.tool.name} or {target or given[whole]}")
                return (self.error(fault, entry.tool),)
            self.notes.append(f"{NOTE}the whole call in args")
            return self.again(given)
        return (self.called(entry, given),)

    def without_repetition(self, entry: Entry, rest: dict[str, Any]) -> dict[str, Any]:
        """Fields that name the tool once more, and are no argument of it, say nothing."""
        out = dict(rest)
        for key in self.form.keys:
            value = out.get(key)
            if isinstance(value, str) and not entry.is_parameter(key) and self.target(value) == entry.tool.name:
                del out[key]
                self.notes.append(f"{NOTE}{key} names the tool again")
        return out

    def called(self, entry: Entry, given: object) -> Item:
        from tscg.resolve import call_of

        written = _noted(self.written, self.notes)
        if not self.options.dispatch_form and any(note.startswith("dispatch_form") for note in written.repairs):
            return self.error(Fault(kind="unparsed_call", found=f"write {self.form.shape}"), entry.tool)
        return call_of(self.surface, entry, given, written)

    def error(self, fault: Fault, tool: Tool | None = None) -> CallError:
        closing = f"Send the corrected call: {self.form.shape}."
        return call_error(
            tool.name if tool else self.form.wire, [fault], id=self.written.id, tool=tool, closing=closing
        )


def _inside(entry: Entry, given: dict[str, Any], form: Form) -> str:
    """The key under which arguments name a tool, where they are a whole call and no arguments; else empty."""
    keys = [key for key in form.keys if key in given]
    if not keys or not any(key in given for key in BAGS) or not given.keys() <= {*form.keys, *BAGS}:
        return ""
    if any(entry.is_parameter(key) for key in given) or not isinstance(given[keys[0]], str):
        return ""
    return keys[0]


def _short(value: Any) -> str:
    from tscg.shapes import found

    return found(value)


# --- tools called by their own name ---------------------------------------------------------------------------------


def direct(surface: Surface, entry: Entry, arguments: object, written: Written) -> Item:
    """A call that uses a tool's own name where only the dispatcher was shown.

    The arguments may stand as they are, nested, as JSON text, or beside a field that names the tool again.
    """
    from tscg.decoders.values import Bad, read_arguments
    from tscg.resolve import call_of

    tool = entry.tool
    if not surface.decoding.dispatch_form:
        hint = f"Call it through {surface.call_tool}." if surface.call_tool else "Call it by its operation."
        return call_error(tool.name, [Fault(kind="unknown_tool", found=quoted(tool.name), hint=hint)], id=written.id)
    try:
        reading = read_arguments(arguments, surface.decoding)
    except Bad as bad:
        return call_error(tool.name, [bad.fault], id=written.id, tool=tool)
    fields: dict[str, Any] = reading.value
    written = _read(written, reading)
    notes = [f"{NOTE}called by its own name"]
    if any(key in fields for key in (*OPERATIONS, *HANDLES, *BAGS)):
        given = _own(surface, entry, fields, notes)
        if isinstance(given, Fault):
            return call_error(tool.name, [given], id=written.id, tool=tool)
    else:
        reading.repairs, reading.warnings, given = [], [], reading
    return call_of(surface, entry, given, _noted(written, notes))


def _own(surface: Surface, entry: Entry, fields: dict[str, Any], notes: list[str]) -> Any:
    rest = dict(fields)
    for key in (*OPERATIONS, *HANDLES):
        value = rest.get(key)
        if not isinstance(value, str) or entry.is_parameter(key):
            continue
        named = handle_of(surface, value, surface.index.operations.get(entry.tool.name, ("", ""))[0]).entry
        if named is entry:
            del rest[key]
            notes.append(f"{NOTE}{key} names the tool again")
        elif named is not None and named.tool.name == value:
            return Fault(kind="ambiguous_call", expected=f"{entry.tool.name} or {named.tool.name}")
    return Fields(entry=entry, decoding=surface.decoding, notes=notes).arguments(rest)
