"""The rounds of one model call as values: an answer goes in, a final answer or the messages of another round come out.

No request is made here. The host sends what :attr:`Turn.wire_tools` says, decodes what comes back, and hands it to
:meth:`Turn.take`; there are at most ``1 + max_lookups + max_repairs`` requests.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from tscg.calls import Call, CallError, Decoded, Item, Lookup, Program
from tscg.errors import ConfigError

if TYPE_CHECKING:
    from tscg.decoders.objects import Raw
    from tscg.ir import JSON
    from tscg.modes.compiled import CompiledCatalog

__all__ = ["Again", "Final", "Put", "Reply", "Step", "Turn", "turn_of"]

NOT_RUN = "Not run, since another call of this message was wrong. Send it again, with the corrected one."
OTHER_TOOL = "Not run. Call {name}."
LAST_LOOKUP = "No more lookups now: call a tool or answer."
MUST_CALL = "An answer without a call is not taken here: call {name}."
EMPTY = "The answer was empty: call a tool or answer."
WRITTEN = 200  # characters that are quoted of arguments that cannot be put back
ILLEGAL = re.compile(r"[^A-Za-z0-9_-]+")
LONGEST_NAME = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Put:
    """A native call put back into the conversation, always well-formed: its name on the wire, its arguments an
    object."""

    id: str
    name: str
    arguments: dict[str, JSON]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What answers one native call, under its id."""

    id: str
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """Another round: what the model said goes back, with an answer to each of its calls.

    ``text`` is what it said, its calls in text as it wrote them; ``calls`` are its native ones, each of which has its
    answer in ``replies``. ``say`` is the one user message that answers calls in text, "" where there is none.
    """

    turn: Turn
    text: str = ""
    calls: tuple[Put, ...] = ()
    replies: tuple[Reply, ...] = ()
    say: str = ""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The same in the form of a chat completion, to be appended to the request."""
        from tscg.encode import minified

        out: list[dict[str, Any]] = []
        if self.text or self.calls:
            out.append({"role": "assistant", "content": self.text or None if self.calls else self.text})
        if self.calls:
            out[0]["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": minified(call.arguments)},
                }
                for call in self.calls
            ]
        out += [{"role": "tool", "tool_call_id": reply.id, "content": reply.text} for reply in self.replies]
        return [*out, {"role": "user", "content": self.say}] if self.say else out


@dataclass(frozen=True, slots=True, kw_only=True)
class Final:
    """The answer to hand over: calls or programs to run, or text.

    ``errors`` are calls of the last round that stayed wrong, ``dropped`` what was left out of it (lookups beside
    calls, further calls where one is allowed). ``failure`` says why there is nothing to hand over: raise it, since an
    answer without calls and text would end an agent without a word.
    """

    turn: Turn
    text: str = ""
    calls: tuple[Call, ...] = ()
    programs: tuple[Program, ...] = ()
    errors: tuple[CallError, ...] = ()
    dropped: tuple[Item, ...] = ()
    failure: str = ""


Step: TypeAlias = "Again | Final"


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """Where one model call stands. Immutable: :meth:`take` gives the next one with what to do.

    ``must_call`` is True where a call is required, or the name of the tool that must be called; ``parallel`` is False
    where one call alone is kept. ``rounds`` counts answers, ``without_lookup`` those to requests that offered no
    lookups any more; ``lookups`` and ``errors`` count what was answered in them, ``repairs`` and ``asked`` the rounds
    spent on wrong answers and on lookups alone.

    >>> import tscg
    >>> tools = [{"name": "f", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}]
    >>> compiled = tscg.compile(tools)
    >>> output = '<tool_call>{"name":"f","arguments":{"n":"x"}}</tool_call>'
    >>> step = compiled.turn().take(compiled.decode(output), output)
    >>> [message["role"] for message in step.messages], step.turn.repairs
    (['assistant', 'user'], 1)
    >>> step.turn.take(compiled.decode("Done."), "Done.").text
    'Done.'
    """

    compiled: CompiledCatalog = field(repr=False)
    max_lookups: int = 3
    max_repairs: int = 2
    must_call: bool | str = False
    parallel: bool = True
    rounds: int = 0
    without_lookup: int = 0
    asked: int = 0
    lookups: int = 0
    repairs: int = 0
    errors: int = 0

    @property
    def may_look_up(self) -> bool:
        """Whether the next request may offer lookups: it may not once the budget is used up."""
        return self.asked < self.max_lookups

    @property
    def wire_tools(self) -> tuple[dict[str, Any], ...]:
        """The wire tools of the next request: those of the catalog, without the lookup tool in the last round."""
        if self.may_look_up:
            return self.compiled.wire_tools
        lookup = self.compiled.lookup_tool
        return tuple(tool for tool in self.compiled.wire_tools if tool["name"] != lookup)

    def take(self, decoded: Decoded, output: object = None) -> Step:
        """What to do with an answer: hand it over, or ask again.

        ``output`` is what was decoded (a text or a message): what the model wrote goes back as it wrote it. Without it
        the answer is put together from ``decoded``.
        """
        counted = replace(
            self,
            rounds=self.rounds + 1,
            without_lookup=self.without_lookup + (not self.may_look_up),
            lookups=self.lookups + len(decoded.lookups),
            errors=self.errors + len(decoded.errors),
        )
        good, dropped = self._kept(decoded)
        if decoded.errors and self._may_repair:
            return _Round(counted, decoded, output).again(repair=True)
        if good:
            return _final(counted, decoded, good, dropped)
        if decoded.calls:  # calls of another tool than the one that must be called
            return self._required(counted, decoded, output)
        if decoded.errors:
            return _final(counted, decoded, (), dropped, failure=_wrong(decoded.errors, self.repairs))
        if decoded.lookups:
            return self._asked(counted, decoded, output)
        if self.must_call:
            return self._required(counted, decoded, output)
        if self.rounds and not decoded.text.strip():  # an answer to us that says nothing
            if self._may_repair:
                return _Round(counted, decoded, output).again(repair=True, say=EMPTY)
            return _final(counted, decoded, (), (), failure="the model said nothing")
        return _final(counted, decoded, (), ())

    @property
    def _may_repair(self) -> bool:
        return self.repairs < self.max_repairs

    def _kept(self, decoded: Decoded) -> tuple[tuple[Call | Program, ...], tuple[Item, ...]]:
        """Calls and programs to hand over, and what is left out beside them."""
        wanted = self.must_call if isinstance(self.must_call, str) else ""
        good: list[Call | Program] = []
        dropped: list[Item] = []
        for item in decoded.items:
            if isinstance(item, CallError):
                continue
            runs = isinstance(item, Program) or (isinstance(item, Call) and item.name == (wanted or item.name))
            if runs and isinstance(item, Call | Program) and (self.parallel or not good):
                good.append(item)
            else:
                dropped.append(item)
        return tuple(good), tuple(dropped)

    def _asked(self, counted: Turn, decoded: Decoded, output: object) -> Step:
        """Lookups alone: they are answered; beyond their budget that is a wrong answer."""
        if self.may_look_up:
            return _Round(counted, decoded, output).again(repair=False)
        if self._may_repair:
            return _Round(counted, decoded, output).again(repair=True, reply=LAST_LOOKUP)
        failure = f"the model made lookups alone, {self.max_lookups} of which were answered"
        return _final(counted, decoded, (), decoded.lookups, failure=failure)

    def _required(self, counted: Turn, decoded: Decoded, output: object) -> Step:
        """No call, or not the one that is required."""
        name = self.must_call if isinstance(self.must_call, str) else "a tool"
        if not self._may_repair:
            return _final(counted, decoded, (), decoded.calls, failure=f"the model did not call {name}")
        if decoded.calls:
            return _Round(counted, decoded, output).again(repair=True, reply=OTHER_TOOL.format(name=name))
        return _Round(counted, decoded, output).again(repair=True, say=MUST_CALL.format(name=name))


def turn_of(
    compiled: CompiledCatalog, max_lookups: int, max_repairs: int, must_call: bool | str | None, parallel: bool | None
) -> Turn:
    """A turn that has not begun; ``must_call`` and ``parallel`` are those of the catalog where they are None."""
    bounds: tuple[tuple[str, object], ...] = (("max_lookups", max_lookups), ("max_repairs", max_repairs))
    for name, value in bounds:
        if not isinstance(value, int) or isinstance(value, bool) or value < 0:
            raise ConfigError(f"{name} is {value!r}", hint="give a whole number, 0 or more")
    if isinstance(must_call, str) and all(tool.name != must_call for tool in compiled.catalog):
        names = tuple(tool.name for tool in compiled.catalog)
        raise ConfigError(f"must_call names {must_call!r}, which is no tool of the catalog", allowed=names[:20])
    return Turn(
        compiled=compiled, max_lookups=max_lookups, max_repairs=max_repairs,
        must_call=compiled.must_call if must_call is None else must_call,
        parallel=compiled.parallel if parallel is None else parallel,
    )  # fmt: skip


def _final(
    turn: Turn, decoded: Decoded, good: Sequence[Call | Program], dropped: tuple[Item, ...], failure: str = ""
) -> Final:
    return Final(
        turn=turn, text=decoded.text, errors=decoded.errors, dropped=dropped, failure=failure,
        calls=tuple(item for item in good if isinstance(item, Call)),
        programs=tuple(item for item in good if isinstance(item, Program)),
    )  # fmt: skip


def _wrong(errors: Sequence[CallError], repairs: int) -> str:
    kinds = ", ".join(f"{error.tool or 'unknown'} ({error.kind})" for error in errors[:5])
    return f"no call of the model was valid after {repairs} repairs: {kinds}"


# --- what goes back ---------------------------------------------------------------------------------------------------


class _Round:
    """One answer and what is said to it."""

    def __init__(self, turn: Turn, decoded: Decoded, output: object) -> None:
        self.turn, self.compiled, self.decoded = turn, turn.compiled, decoded
        self.text, self.raws = _said(output)
        self.given = output is not None

    def again(self, *, repair: bool, reply: str = "", say: str = "") -> Again:
        """The next round. ``reply`` answers calls and lookups that were not wrong, ``say`` an answer without any."""
        turn = self.turn
        turn = replace(turn, repairs=turn.repairs + 1) if repair else replace(turn, asked=turn.asked + 1)
        texts, native, spoken = [], [], []
        for place, item in enumerate(self.decoded.items):
            answer = self.answer(item, reply)
            if not turn.may_look_up and isinstance(item, Lookup) and answer != LAST_LOOKUP:
                answer = f"{answer}\n{LAST_LOOKUP}"
            put = self.put(item, place)
            if isinstance(put, Put):
                answer += self.quoted(item, place)
                native.append((put, Reply(id=put.id, name=put.name, text=answer)))
                continue
            if put:
                texts.append(put)
            spoken.append(self.compiled.encode_result(item, answer))
        said = self.text if self.given else self.decoded.text
        return Again(
            turn=turn,
            text="\n".join(part for part in (said, *texts) if part),
            calls=tuple(put for put, _ in native),
            replies=tuple(answered for _, answered in native),
            say="\n".join([*spoken, *([say] if say else [])]),
        )

    def answer(self, item: Item, reply: str) -> str:
        """What answers one item."""
        if isinstance(item, CallError):
            return item.message
        if isinstance(item, Lookup):
            return reply or item.reply
        return reply or NOT_RUN

    def put(self, item: Item, place: int) -> Put | str:
        """The item as it goes back: a native call, a text, or "" where it stands in the text already."""
        if not self.raws and (self.given or self.compiled.mode == "text"):
            return "" if self.given else self.spelled(item)
        raw = self.raw(item, place)
        if isinstance(item, Call):
            written = self.compiled.encode_call(item)
            if isinstance(written, str):
                return written
            return Put(id=item.id, name=written["name"], arguments=written["arguments"])
        if isinstance(item, Lookup) and raw is None:
            asked: dict[str, JSON] = {"tools": list(item.tools)} if item.tools else {"query": item.query}
            return Put(id=item.id, name=self.compiled.lookup_tool, arguments=asked)
        if isinstance(item, Program) and raw is None:
            return Put(id=item.id, name=self.compiled.surface.run_tool, arguments={"code": item.code})
        name = raw.name if raw is not None else _tool(item)
        legal = ILLEGAL.sub("_", name)[:LONGEST_NAME] or "call"
        return Put(id=item.id, name=legal, arguments=(_object(raw.arguments) if raw is not None else None) or {})

    def quoted(self, item: Item, place: int) -> str:
        """What was written, where it cannot be put back as an object."""
        raw = self.raw(item, place) if isinstance(item, CallError) else None
        if raw is None or _object(raw.arguments) is not None:
            return ""
        from tscg.messages import quoted

        return f"\nThe arguments were written as {quoted(raw.arguments, WRITTEN)}."

    def raw(self, item: Item, place: int) -> Raw | None:
        """The native call that an item came from: by its id, else by its place where each call gave one item."""
        found = next((raw for raw in self.raws if raw.id and raw.id == item.id), None)
        if found is None and len(self.raws) == len(self.decoded.items) and not self.raws[place].id:
            found = self.raws[place]
        return found

    def spelled(self, item: Item) -> str:
        """A call in text, where what the model wrote was not handed over."""
        written = self.compiled.encode_call(item) if isinstance(item, Call) else ""
        return written if isinstance(written, str) else ""


def _tool(item: Item) -> str:
    return (item.tool or "") if isinstance(item, CallError) else ""


def _said(output: object) -> tuple[str, list[Raw]]:
    """The visible text of an output, and its native calls."""
    if output is None:
        return "", []
    if isinstance(output, str):
        return output, []
    if isinstance(output, bytes | bytearray):
        return bytes(output).decode("utf-8", "replace"), []
    from tscg.decoders.native import message_of
    from tscg.decoders.objects import Raw

    parts = message_of(output).parts
    text = "".join(part for part in parts if isinstance(part, str))
    return text, [part for part in parts if isinstance(part, Raw)]


def _object(arguments: object) -> dict[str, JSON] | None:
    """Arguments as an object that can be written as JSON; None where they are none."""
    import json

    from tscg.encode import minified

    if arguments is None or arguments == "":
        return {}
    try:
        found = json.loads(arguments) if isinstance(arguments, str) else arguments
        if isinstance(found, Mapping):
            minified(dict(found))
            return dict(found)
    except (ValueError, TypeError, RecursionError):
        return None
    return None
