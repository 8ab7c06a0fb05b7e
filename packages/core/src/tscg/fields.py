"""The arguments of a dispatched call among its fields: in a field of their own, as JSON text, or beside the name.

Where two readings stand there is a fault. Which of them the schema would take decides nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tscg.calls import Fault
from tscg.shapes import found

if TYPE_CHECKING:
    from tscg.decoding import Decoding
    from tscg.names import Entry

__all__ = ["BAGS", "HANDLES", "NOTE", "OPERATIONS", "Fields", "mapping"]

HANDLES = ("tool", "tool_name", "name", "function", "code")
"""Fields that may name the tool; the first is the one that is taught."""
OPERATIONS = ("op", "operation")
"""The same for the wire tool of a namespace, before those."""
BAGS = ("args", "arguments", "params", "parameters", "input", "tool_input")
"""Fields that may hold the arguments; the first is the one that is taught."""
NOTE = "dispatch_form: : "


@dataclass(slots=True, kw_only=True)
class Fields:
    """What stands beside the name of a tool in one call.

    ``handle`` is the field that holds the name, empty for a call by the tool's own name; ``keys`` are the fields that
    could hold it; ``is_text`` says that the arguments were asked for as JSON text. ``notes`` takes the repairs.

    >>> from tscg.decoding import SAFE
    >>> from tscg.ir import Object, Tool
    >>> from tscg.names import Entry
    >>> ping = Entry(Tool(name="ping", root=Object()), {}, ())
    >>> fields = Fields(entry=ping, decoding=SAFE, handle="tool")
    >>> fields.arguments({"params": '{"deep":true}'}), fields.notes
    ({'deep': True}, ['dispatch_form: : params for args', 'dispatch_form: : params as JSON text'])
    """

    entry: Entry
    decoding: Decoding
    handle: str = ""
    keys: tuple[str, ...] = HANDLES
    is_text: bool = False
    notes: list[str] = field(default_factory=list)

    def arguments(self, rest: dict[str, Any]) -> Any:
        """The arguments as they were written, or a :class:`tscg.Fault`."""
        is_parameter = self.entry.is_parameter
        taught = BAGS[0] if self.handle else ""
        bags = [key for key in BAGS if key in rest and (key == taught or not is_parameter(key))]
        filled = [key for key in bags if not _is_empty(rest[key])]
        strong = [key for key in filled if _is_bag(rest[key])]
        if len(filled) > 1 and strong != filled[:1]:
            return Fault(kind="ambiguous_arguments", expected=" or ".join(filled))
        flat = {key: value for key, value in rest.items() if key not in bags or key in filled[1:]}
        if not filled:
            return self.flat(flat) if flat else {}
        bag = filled[0]
        both = [key for key in flat if is_parameter(key)]
        if both:
            expected = f"{both[0]} beside {bag}, or {bag} alone"
            return Fault(kind="ambiguous_arguments", path=(both[0],), expected=expected)
        if bag != BAGS[0]:
            self.notes.append(f"{NOTE}{bag} for args")
        elif not taught:
            self.notes.append(f"{NOTE}args around the arguments")
        self.notes += [f"dispatch_form: {key}: beside {bag}, dropped" for key in flat]
        return self.nested(bag, rest[bag])

    def flat(self, flat: dict[str, Any]) -> Any:
        """Arguments beside the name. A field of the call that may be an argument too leaves two readings."""
        if not self.handle:
            return flat
        fields = [key for key in flat if key in self.keys or key in BAGS]
        own = [key for key in (self.handle, *fields) if self.entry.is_parameter(key)]
        if own:
            expected = f"{own[0]} as an argument, or as a field of the call"
            return Fault(kind="ambiguous_arguments", path=(own[0],), expected=expected)
        self.notes.append(f"{NOTE}arguments beside the name")
        self.notes += [f"dispatch_form: {key}: a field of the call, dropped" for key in fields]
        return {key: value for key, value in flat.items() if key not in fields}

    def nested(self, bag: str, value: Any) -> Any:
        """The arguments in their field; as JSON text in up to two layers."""
        from tscg.decoders.values import Bad, read_value

        if self.handle and self.entry.is_parameter(bag) and mapping(value, self.decoding) is None:
            expected = f"{bag} as an argument, or as the arguments"
            return Fault(kind="ambiguous_arguments", path=(bag,), expected=expected)
        layers = 0
        try:
            while isinstance(value, str) and layers < self.decoding.max_layers:
                reading = read_value(value, self.decoding)
                value, layers = reading.value, layers + 1
                self.notes += reading.repairs
        except Bad as bad:
            return bad.fault
        if layers > self.is_text:
            self.notes.append(f"{NOTE}{bag} as JSON text")
        if isinstance(value, str):
            return Fault(kind="not_an_object", expected="an object of arguments", found=found(value))
        return value


def mapping(value: Any, decoding: Decoding) -> dict[str, Any] | None:
    """An object, also alone in a list or as JSON text; None for anything else."""
    if isinstance(value, dict):
        return value
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        return value[0]
    if not _is_bag(value):
        return None
    from tscg.decoders.values import Bad, read_arguments

    try:
        read: dict[str, Any] = read_arguments(value, decoding).value
    except Bad:
        return None
    return read


def _is_empty(value: Any) -> bool:
    return value is None or value == {} or (isinstance(value, str) and value.strip() in ("", "null", "{}"))


def _is_bag(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, str) and value.strip()[:1] in ("{", '"'))
