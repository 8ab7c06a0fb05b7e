"""From a name and arguments to a call: the name ladder, the arguments, validation, repair.

``resolve`` is the only way to a :class:`tscg.Call`, for native calls, for every dialect of text and for callers.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from tscg.calls import Call, CallError, Fault, Item, Notice
from tscg.decoding import SAFE, Decoding
from tscg.messages import call_error, quoted
from tscg.names import Entry, Found, Index, find, undecorated

if TYPE_CHECKING:
    from tscg.ir import JSON, Catalog, Tool
    from tscg.modes.options import Mode

__all__ = ["Entry", "Found", "Surface", "Written", "call_of", "find", "resolve", "resolve_all"]

PARALLEL = "multi_tool_use.parallel"
PLAIN = frozenset({str, int, bool, type(None)})


@dataclass(frozen=True, kw_only=True, eq=False)
class Surface:
    """What the model was shown, as far as the way back needs it.

    ``wire_names`` maps original names to those on the wire (missing: itself); ``wire_keys`` maps, per tool, original
    property names, at any depth, to their aliases; ``native`` names the tools that were sent in the provider's tools
    field, ``strict`` those of them sent in strict mode; ``gone`` names tools that are no more; ``dialect`` is the one
    that was taught; ``constrained`` says that a whole message ``{"answer": TEXT}`` is its text.
    """

    catalog: Catalog
    mode: str = "text"
    wire_names: Mapping[str, str] = field(default_factory=dict)
    wire_keys: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    native: frozenset[str] = frozenset()
    strict: frozenset[str] = frozenset()
    dialect: str = "tool_call"
    decoding: Decoding = SAFE
    gone: frozenset[str] = frozenset()
    constrained: bool = False
    options: Mode | None = None
    call_tool: str = ""
    lookup_tool: str = ""
    run_tool: str = ""
    groups: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    codes: Mapping[str, str] = field(default_factory=dict)
    retired: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "_lock", threading.Lock())
        object.__setattr__(self, "_index", None)

    @property
    def index(self) -> Index:
        """Names in all their spellings, made once."""
        made: Index | None = self._index  # type: ignore[attr-defined]
        if made is None:
            with self._lock:  # type: ignore[attr-defined]
                made = self._index  # type: ignore[attr-defined]
                if made is None:
                    made = Index(self)
                    object.__setattr__(self, "_index", made)
        return made

    @property
    def sends_native(self) -> bool:
        """Whether any tool was sent natively, so that native calls may come beside text."""
        if self.mode == "code" and getattr(self.options, "transport", "native") == "native":
            return True
        return bool(self.native) or self.mode in ("native", "passthrough", "dispatch")

    def __getstate__(self) -> dict[str, Any]:
        return {option.name: getattr(self, option.name) for option in fields(self)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, value)
        self.__post_init__()


# --- a call ---------------------------------------------------------------------------------------------------------


def resolve(surface: Surface, name: str, arguments: object = None, id: str = "") -> Item:
    """One native call: its name and its arguments as a mapping, as JSON text, or None.

    >>> from tscg.ir import Catalog, Object, Tool
    >>> surface = Surface(catalog=Catalog(tools=(Tool(name="ping", root=Object()),)))
    >>> resolve(surface, "ping", "{}").arguments, resolve(surface, "pong", {}).kind
    ({}, 'unknown_tool')
    """
    items = resolve_all(surface, name, arguments, Written(id=id))
    if len(items) == 1:
        return items[0]
    fault = Fault(kind="ambiguous_call", expected=f"{len(items)} calls in one")
    return call_error(name, [fault], id=id, closing="Send the calls one by one.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """What came with a call as it was written: its id, what was repaired on the way, where it was read."""

    id: str = ""
    repairs: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()
    dialect: str = ""
    opaque: Mapping[str, JSON] | None = None
    sources: Mapping[float, str] | None = None  # numbers as they were spelled


def resolve_all(surface: Surface, name: object, arguments: object, written: Written) -> tuple[Item, ...]:
    """The items of one call as it was written: one, or several where it is a wrapper around parallel calls."""
    index = surface.index
    entry = index.exact.get(name) if isinstance(name, str) else None
    if index.words and (entry is None or surface.mode == "dispatch"):
        from tscg.dispatching import routed

        items = routed(surface, name, arguments, written)
        if items is not None:
            return items
    if surface.run_tool and (entry is None or name == surface.run_tool):
        from tscg.code.reading import program_of

        program = program_of(surface, name, arguments, written.id)
        if program is not None:
            return (program,)
    if entry is not None:
        return (_by_name(surface, entry, arguments, written),)
    if isinstance(name, str) and len(name) < 64 and undecorated(name).endswith(PARALLEL):
        return _unpacked(surface, name, arguments, written)
    found = find(surface, name)
    if found.entry is None:
        return (call_error(str(name), [found.fault or Fault(kind="unknown_tool")], id=written.id),)
    written = replace(written, repairs=(*written.repairs, *found.repairs))
    return (_by_name(surface, found.entry, arguments, written),)


def _by_name(surface: Surface, entry: Entry, arguments: object, written: Written) -> Item:
    """A call by the name of a tool, which only the dispatcher may stand for."""
    if surface.mode == "dispatch" and surface.index.words and entry.tool.name not in surface.native:
        from tscg.dispatching import direct

        return direct(surface, entry, arguments, written)
    return call_of(surface, entry, arguments, written)


def _unpacked(surface: Surface, name: str, arguments: object, written: Written) -> tuple[Item, ...]:
    """An invented wrapper of parallel calls: its calls, with ids derived from the wrapper's."""
    from tscg.decoders.values import Bad, read_arguments

    options, id = surface.decoding, written.id
    if not options.parallel_unpacked:
        return (call_error(name, [Fault(kind="unknown_tool", found=quoted(name))], id=id),)
    try:
        reading = read_arguments(arguments, options, room=3)
    except Bad as bad:
        return (call_error(name, [bad.fault], id=id),)
    uses = reading.value.get("tool_uses")
    if not isinstance(uses, list) or not uses:
        fault = Fault(kind="unparsed_call", found="no list of tool_uses", hint="Send the calls one by one.")
        return (call_error(name, [fault], id=id),)
    items: list[Item] = []
    note = "parallel_unpacked: : one of several calls in a wrapper"
    for number, use in enumerate(uses[: options.max_calls]):
        inner = use if isinstance(use, dict) else {}
        one = Written(
            id=f"{id}.{number}" if id else "",
            repairs=(*written.repairs, note, *reading.repairs),
            dialect=written.dialect,
        )
        called = _first(inner, ("recipient_name", "name", "tool"))
        if not isinstance(called, str) or called.endswith(PARALLEL):
            items.append(call_error(str(called), [Fault(kind="unknown_tool", found=quoted(called))], id=one.id))
            continue
        items += resolve_all(surface, called, _first(inner, ("parameters", "arguments", "args")), one)
    return tuple(items)


def _first(value: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((value[key] for key in keys if key in value), None)


def call_of(surface: Surface, entry: Entry, given: object, written: Written) -> Call | CallError:
    """The call of a tool that is found, from its arguments as they were written or already read."""
    from tscg.decoders.values import Bad, Reading, read_arguments

    options, tool, validator = surface.decoding, entry.tool, entry.validator
    try:
        reading = given if isinstance(given, Reading) else read_arguments(given, options)
    except Bad as bad:
        return _refused(tool, [bad.fault], written.id)
    arguments: dict[str, Any] = reading.value
    notes = [*written.repairs, *reading.repairs]
    shown = tool.name in surface.native or surface.mode == "native"
    if entry.keys and (shown or options.key_alias):
        from tscg.aliases import Conflict, from_wire

        try:
            original = from_wire(arguments, validator.copy, entry.keys)
        except Conflict as both:
            expected = f"{both.alias} and {both.name} are the same argument"
            return _refused(tool, [Fault(kind="ambiguous_arguments", path=both.path, expected=expected)], written.id)
        if original != arguments and not shown:
            notes.append("key_alias: : keys of the wire, which this surface never showed")
        arguments = original
    if tool.name in surface.strict and options.unstrict:
        from tscg.repair import unstrict

        arguments, dropped = unstrict(arguments, validator.copy)
        notes += dropped
    if not validator.is_valid(arguments):
        from tscg.repair import repair

        mended = repair(validator, arguments, options, tool.name, {**(written.sources or {}), **reading.sources})
        if mended is None:
            return _refused(tool, list(validator.faults(arguments)), written.id)
        arguments, made = mended
        notes += made
    finished = _finish(entry, arguments, options, notes)
    if isinstance(finished, Fault):
        return _refused(tool, [finished], written.id)
    arguments, more = finished
    return Call(
        id=written.id,
        name=tool.name,
        arguments=arguments,
        repairs=tuple(notes),
        warnings=(*written.warnings, *reading.warnings, *more, *validator.unchecked),
        dialect=written.dialect,
        opaque=written.opaque,
    )


def _finish(
    entry: Entry, arguments: dict[str, Any], options: Decoding, notes: list[str]
) -> tuple[dict[str, Any], list[Notice]] | Fault:
    """What a valid call may still need: undeclared names, equal spellings of numbers, defaults, warnings."""
    warnings: list[Notice] = []
    validator = entry.validator
    if validator.unchecked and options.unchecked == "error":
        return Fault(
            kind="no_variant", expected="a schema that can be checked", found=validator.unchecked[0].message[:80]
        )
    if not arguments.keys() <= entry.names and not entry.has_rest:
        extra = [key for key in arguments if key not in entry.names]
        if options.extras == "error":
            accepted = ", ".join(sorted(entry.names)) or "no arguments"
            return Fault(kind="unexpected_argument", path=(extra[0],), expected=accepted, found=quoted(extra[0]))
        kept = {key: value for key, value in arguments.items() if key in entry.names}
        if options.extras == "drop" and validator.is_valid(kept):
            arguments = kept
            notes += [f"extra_dropped: {key}: undeclared" for key in extra]
        else:
            warnings += [Notice(kind="extra_argument", path=(key,), message="undeclared, passed on") for key in extra]
    if "null" in arguments.values():
        for key, value in arguments.items():
            if value == "null" and validator.is_valid({**arguments, key: None}):
                warnings.append(Notice(kind="null_word", path=(key,), message='the word "null" is kept as text'))
    if options.integral_float and _has_float(arguments):
        from tscg.repair import integral_floats

        arguments, made = integral_floats(validator, arguments)
        notes += made
    if options.fill_defaults:
        from tscg.repair import fill_defaults

        arguments, made = fill_defaults(validator, arguments)
        notes += made
    return arguments, warnings


def _has_float(value: Any) -> bool:
    """Whether a value holds a float that is a whole number, at any depth; most calls hold none."""
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            if type(inner) not in PLAIN and _has_float(inner):
                return True
        return False
    return type(value) is float and value.is_integer()


def _refused(tool: Tool, faults: list[Fault], id: str) -> CallError:
    return call_error(tool.name, faults, id=id, tool=tool)
