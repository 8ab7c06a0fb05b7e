"""From JSON values to raw calls: the keys that name a tool and its arguments, and what may stand around them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from tscg.calls import Fault, Notice
from tscg.decoders.lexer import Extent

__all__ = ["ARGUMENT_KEYS", "NAME_KEYS", "WRAPPERS", "Raw", "calls_of", "cut_list", "ended_early", "looks_like_call"]

NAME_KEYS = ("name", "tool", "tool_name", "function", "action", "recipient_name")
ARGUMENT_KEYS = ("arguments", "args", "parameters", "params", "input", "tool_input", "action_input", "kwargs")
WRAPPERS = ("tool_call", "tool_calls", "function", "function_call", "tool_uses")
ID_KEYS = ("id", "tool_call_id", "call_id")
NAMED = re.compile(rf"[\"'](?:{'|'.join(NAME_KEYS)})[\"']\s*:\s*[\"']([^\"'\n]{{1,256}})[\"']")
CUT_LIST = re.compile(r"\s*(?:\{\s*\"tool_calls\"\s*:\s*)?\[")
BETWEEN = re.compile(r"[\s,]*")
BESIDE = frozenset({*ID_KEYS, "type", "index"})


@dataclass(slots=True, kw_only=True)
class Raw:
    """A call as it was written: a name and arguments that nothing looked at yet, or what is wrong with it."""

    name: str = ""
    arguments: Any = None
    id: str = ""
    repairs: tuple[str, ...] = ()
    warnings: tuple[Notice, ...] = ()
    dialect: str = ""
    fault: Fault | None = None
    opaque: dict[str, Any] | None = None
    whole: bool = True  # it has a bag of arguments
    strict: bool = False  # arguments were read as strict JSON already
    raw_texts: bool = False  # arguments are texts that the schema gives their types
    sources: dict[float, str] | None = None  # numbers as they were spelled
    source: str | None = None  # the text that it was read from; what its id depends on, where there is one
    bare: tuple[Any, ...] | None = None  # arguments without names, in the order of the prompt


def ended_early(found: str = "") -> Fault:
    """The fault of a call whose end was not seen."""
    return Fault(kind="truncated", found=found, hint="Send less: split the content or the call. Close every bracket.")


def calls_of(value: Any, wrappers: int = 2) -> list[Raw]:
    """The calls that a JSON value holds: an object, a list of them, or a wrapper around either.

    An object that is no call gives one :class:`Raw` with a fault.

    >>> [raw.name for raw in calls_of({"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]})]
    ['f']
    """
    if isinstance(value, list):
        return [raw for one in value for raw in calls_of(one, wrappers)] or [_no_call("an empty list")]
    if not isinstance(value, dict):
        return [_no_call("a value without a name")]
    if len(value) == 2 and "arguments" in value and type(value.get("name")) is str:  # the taught form
        return [Raw(name=value["name"], arguments=value["arguments"])]
    names = [key for key in NAME_KEYS if isinstance(value.get(key), str)]
    inner = [key for key in WRAPPERS if isinstance(value.get(key), dict | list)]
    if inner and not names:
        if len(inner) > 1 or not wrappers:
            return [_no_call("several wrappers" if wrappers else "wrappers in wrappers")]
        found = calls_of(value[inner[0]], wrappers - 1)
        for raw in found if len(found) == 1 else ():
            raw.id = raw.id or _id(value)
            if raw.arguments is None and not raw.whole:  # name inside, arguments beside
                bags = [key for key in ARGUMENT_KEYS if key in value]
                raw.arguments, raw.whole = (value[bags[0]], True) if len(bags) == 1 else (None, False)
        return found
    if not names:
        return [_no_call("an object without a name")]
    if len({value[key] for key in names}) > 1:
        fault = Fault(kind="ambiguous_call", expected=" or ".join(f"{key} as name" for key in names))
        return [Raw(name=value[names[0]], fault=fault, id=_id(value))]
    bags = [key for key in ARGUMENT_KEYS if key in value]
    if len(bags) > 1:
        fault = Fault(kind="ambiguous_arguments", expected=" or ".join(bags))
        return [Raw(name=value[names[0]], fault=fault, id=_id(value))]
    if not bags and (value.keys() - BESIDE - set(names)):
        fault = Fault(kind="unparsed_call", found='put the arguments into "arguments"')
        return [Raw(name=value[names[0]], fault=fault, id=_id(value), whole=False)]
    return [Raw(name=value[names[0]], arguments=value[bags[0]] if bags else None, id=_id(value), whole=bool(bags))]


def cut_list(text: str) -> tuple[list[str], str]:
    """The whole elements of a list that does not end, and what is left; the list may stand under ``tool_calls``.

    >>> cut_list('[{"name":"f"}, {"name":"g"')
    (['{"name":"f"}'], '{"name":"g"')
    """
    head = CUT_LIST.match(text)
    at = head.end() if head else 0
    whole: list[str] = []
    while head:
        between = BETWEEN.match(text, at)
        at = between.end() if between else at
        end = Extent().feed(text, at) if text[at : at + 1] == "{" else None
        if end is None:
            break
        whole.append(text[at:end])
        at = end
    return whole, text[at:]


def _no_call(what: str) -> Raw:
    return Raw(fault=Fault(kind="unparsed_call", found=what), whole=False)


def _id(value: dict[str, Any]) -> str:
    found = next((value[key] for key in ID_KEYS if isinstance(value.get(key), str)), "")
    return str(found)


def looks_like_call(text: str, known: Any) -> str:
    """The tool that a broken text names under a call key, empty where it names none."""
    for match in NAMED.finditer(text[:4096]):
        if match.group(1) in known:
            return match.group(1)
    return ""
