"""A compiled catalog: what is sent, and everything that the way back needs, in one immutable object."""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from functools import cached_property

from tscg.costs import Costs, costs_of
from tscg.errors import ConfigError, Fragment
from tscg.ir import JSON, Catalog, Tool
from tscg.modes.options import Mode
from tscg.modes.sent import Sent
from tscg.profiles import Profile
from tscg.record import Record
from tscg.schema import minified

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import Any

    from tscg.calls import Call, Decoded, Item
    from tscg.decoders import Stream
    from tscg.decoding import Decoding
    from tscg.language.emit import Emitted
    from tscg.resolve import Surface
    from tscg.stats import Stats
    from tscg.tokenizers import Tokenizer
    from tscg.trace import Trace
    from tscg.turns import Turn

__all__ = ["CompiledCatalog"]

NOTHING: Mapping[str, Tool] = {}


class CompiledCatalog(Record):
    """What :func:`tscg.compile` gives: texts and wire tools out, calls back. Immutable, picklable, thread-safe.

    ``catalog`` holds the tools in the order shown, ``shown`` the same with the prose that the profile keeps. ``gone``
    are tools of an earlier compilation (``previous``) that are no more, ``before`` those that its text lists.
    """

    catalog: Catalog
    shown: Catalog
    options: Mode
    profile_used: Profile
    encoding: str
    counting: object = None
    model: str | None = None
    sent: Sent
    wire: bytes = b""
    gone: tuple[Tool, ...] = ()
    before: Mapping[str, Tool] = NOTHING
    wire_names: Mapping[str, str]
    details: Mapping[str, str]
    dialect: str = "tool_call"
    active: frozenset[str] = frozenset()
    decoding_used: str | Decoding = "safe"
    warnings: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    budget: int | None = None
    given_order: bool = False
    must_call: bool = False
    parallel: bool = True
    anchors: str = ""
    closure: str = ""

    # --- what is sent -------------------------------------------------------------------------------------------------

    @property
    def mode(self) -> str:
        """Name of the mode."""
        return self.options.name

    @property
    def profile(self) -> str:
        """Name of the profile."""
        return self.profile_used.name

    @property
    def skipped(self) -> tuple[Fragment, ...]:
        """Tools that were left out, with the place and the reason."""
        return self.catalog.skipped

    @property
    def stop(self) -> tuple[str, ...]:
        """Strings at which generation should end, so that the model invents no result; empty where calls are native."""
        if self.mode != "text" and getattr(self.options, "transport", "native") != "text":
            return ()
        from tscg.encode import stops

        return stops(self.surface)

    @property
    def prompt(self) -> str:
        """What goes into the system message; empty in native and passthrough mode."""
        return self.sent.prompt

    @cached_property
    def text(self) -> str:
        """The catalog alone: in the language, as a map (dispatch), as stubs (code); empty in native and passthrough."""
        return self.sent.text if self.emitted is None else self.emitted.text

    @property
    def emitted(self) -> Emitted | None:
        """The text in its parts, where it is one in the language."""
        return self.sent.emitted

    @property
    def lookup_tool(self) -> str:
        """Name of the lookup tool, empty where there is none."""
        return self.sent.lookup_tool

    @cached_property
    def listed(self) -> Mapping[str, Tool]:
        """The tools that stand in the text, as they are shown: those of ``previous`` too, superseded ones aside."""
        return {**self.before, **{tool.name: tool for tool in self.shown}}

    @cached_property
    def entries(self) -> Mapping[str, str]:
        """What the text says of each tool, by name."""
        if self.emitted is None:
            return self.sent.entries
        listed = (tool.name for tool in self.shown if tool.name not in self.sent.native)
        return dict(zip(listed, self.emitted.entries, strict=True))

    @property
    def codes(self) -> Mapping[str, str]:
        """Codes of tools by name (``handles="codes"``); in code mode the names of their functions; else empty."""
        return dict(self.sent.codes)

    @property
    def wire_tools(self) -> tuple[dict[str, Any], ...]:
        """Neutral tools ``{"name", "description", "parameters"}`` for the provider's tools field: fresh values."""
        return tuple(marshal.loads(self.wire)) if self.wire else ()

    def to_openai(self, strict: bool | str | None = None) -> list[dict[str, Any]]:
        """The tools field of OpenAI's chat API and of those that speak its form.

        ``strict=True`` puts every tool into strict mode and raises :class:`tscg.ConfigError` for one of which it would
        block calls; ``"auto"`` decides per tool; False says that none is; None writes nothing, unless the options of
        native mode say otherwise. ConfigError also for more tools than the row of the model allows.
        """
        from tscg.modes import adapt

        return adapt.openai(self, strict).tools

    def to_openai_responses(self, strict: bool | str | None = None, defer: Sequence[str] = ()) -> list[dict[str, Any]]:
        """The tools field of OpenAI's Responses API. ``strict`` is written always, false unless asked for.

        ``defer`` names tools that the model finds with the provider's tool search, whose entry is then added; at least
        one tool must stay.
        """
        from tscg.modes import adapt

        return adapt.openai_responses(self, strict, defer).tools

    def to_anthropic(
        self, cache: bool = True, ttl: str | None = None, defer: Sequence[str] = (), strict: Sequence[str] = ()
    ) -> list[dict[str, Any]]:
        """The tools field of Anthropic's Messages API, with one cache breakpoint on the last tool that is not deferred.

        ``ttl`` is ``"5m"`` or ``"1h"``. ``defer`` is as for the Responses API. ``strict`` names the tools for strict
        mode; ConfigError for one that cannot be.
        """
        from tscg.modes import adapt

        return adapt.anthropic(self, cache, ttl, defer, strict).tools

    def to_gemini(self, dialect: str = "auto") -> list[dict[str, Any]]:
        """The tools field of the Gemini API.

        ``dialect`` is ``"json_schema"``, ``"openapi"`` (a subset, which every model takes), or ``"auto"``: the first
        where the row of the model has it.
        """
        from tscg.modes import adapt

        return adapt.gemini(self, dialect).tools

    def system(self, provider: str = "openai") -> JSON:
        """The prompt in a provider's shape: a text, Anthropic's blocks, Gemini's instruction; None when it is empty."""
        shapes = ("openai", "openai_responses", "anthropic", "gemini")
        if provider not in shapes:
            raise ConfigError(f"unknown provider {provider!r}", allowed=shapes)
        if not self.prompt:
            return None
        if provider == "anthropic":
            return [{"type": "text", "text": self.prompt, "cache_control": {"type": "ephemeral"}}]
        return {"parts": [{"text": self.prompt}]} if provider == "gemini" else self.prompt

    @property
    def costs(self) -> Costs:
        """The cost table of the encoding."""
        return costs_of(self.encoding)

    @cached_property
    def fingerprint(self) -> str:
        """``sha256:`` and the hash of everything that reaches the model and of the options."""
        import hashlib  # loads a library of its own: not before it is needed

        sent = minified([repr(self.options), self.prompt, list(self.wire_tools), list(self.catalog.builtins)])
        return f"sha256:{hashlib.sha256(sent.encode('utf-8', 'surrogatepass')).hexdigest()}"

    # --- figures ------------------------------------------------------------------------------------------------------

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """What counts ``stats``: as given, else that of the model, else o200k_base."""
        from tscg.tokenizers import tokenizer_of

        return tokenizer_of(self.counting, self.model)

    @cached_property
    def stats(self) -> Stats:
        """Tokens of all that is sent beside the baselines; counted when first asked for."""
        from tscg.stats import StatsInput, stats_of
        from tscg.trace import hidden_of

        names = {wire: name for name, wire in self.wire_names.items()}
        entries, fixed = dict(self.entries), [self.prompt.replace(self.text, "", 1) if self.text else self.prompt]
        wire: list[dict[str, JSON]] = []
        for item in self.wire_tools:
            wire.append({"type": "function", "function": item})
            name = names.get(item["name"], item["name"])
            if name in self.sent.native:
                entries[name] = minified(wire[-1])
            elif item["name"] not in self.sent.groups:
                fixed.append(minified(wire[-1]))
        return stats_of(StatsInput(
            prompt=self.prompt, text=self.text, entries=entries, wire=wire, catalog=self.catalog,
            tokenizer=self.tokenizer, fixed="".join(fixed), details=self.details,
            hidden=hidden_of(self), lookalikes=self.sent.lookalikes,
            notes=len(self.sent.notes),
        ))  # fmt: skip

    @property
    def _told(self) -> Catalog:
        """The tools with the prose that reaches the model: none in a map."""
        if self.mode != "dispatch":
            return self.shown
        from tscg.operators.prose import without_prose

        native = self.sent.native
        return self.shown.replace([tool if tool.name in native else without_prose(tool) for tool in self.shown])

    @cached_property
    def trace(self) -> Trace:
        """What each operator did, tool by tool, with token deltas and the bound; made when first asked for."""
        from tscg.trace import trace_of

        return trace_of(self)

    # --- the way back -------------------------------------------------------------------------------------------------

    @cached_property
    def decoding(self) -> Decoding:
        """The options of decoding."""
        from tscg.decoding import decoding_of

        return decoding_of(self.decoding_used)

    @cached_property
    def surface(self) -> Surface:
        """What the model was shown, as the decoder needs it."""
        from tscg.modes import adapt
        from tscg.resolve import Surface

        sent = self.sent
        return Surface(
            catalog=self.catalog, mode=self.mode, wire_names=self.wire_names, wire_keys=adapt.wire_keys(self),
            native=sent.native, strict=adapt.strict_names(self), dialect=self.dialect, decoding=self.decoding,
            gone=frozenset(tool.name for tool in self.gone),
            options=self.options, constrained=getattr(self.options, "constrained", False), call_tool=sent.call_tool,
            lookup_tool=sent.lookup_tool, run_tool=sent.run_tool, groups=sent.groups, codes=sent.codes,
            retired=sent.retired,
        )  # fmt: skip

    def decode(self, output: object, finish_reason: str | None = None, *, seed: str = "") -> Decoded:
        """Read the model's newest output: text, bytes, a message, a list of messages, or a provider's response.

        Never raises for what the model did; ConfigError for an input shape that is not known.
        """
        from tscg.decoders import decode

        return decode(self.surface, output, finish_reason=finish_reason, seed=seed)

    def stream(self, *, seed: str = "") -> Stream:
        """A reader of one streamed answer: ``feed`` chunks, then ``close``."""
        from tscg.decoders import Stream

        return Stream(self.surface, seed=seed)

    def resolve(self, name: str, arguments: object, id: str = "") -> Item:
        """One native call: the call to make, the lookup to answer, the program to run, or the error to send back."""
        from tscg.resolve import resolve

        return resolve(self.surface, name, arguments, id)

    def encode_call(self, call: Call, to: str | None = None) -> Any:
        """A call as the model would write it: a text in text mode, else the neutral ``{"id", "name", "arguments"}``."""
        from tscg.encode import encode_call

        return encode_call(self.surface, call, to)

    def encode_result(self, item: Any, content: object) -> str:
        """The text that answers a call, a lookup or an error."""
        from tscg.encode import encode_result

        return encode_result(self.surface, item, content)

    def encode_history(self, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """A conversation with canonical native calls in the form of this mode; the messages given stay as they are."""
        from tscg.encode import encode_history

        return encode_history(self.surface, messages)

    def turn(
        self, max_lookups: int = 3, max_repairs: int = 2, *, must_call: bool | str | None = None,
        parallel: bool | None = None,
    ) -> Turn:  # fmt: skip
        """The rounds of one model call as values: hand it each answer, and it says what to do."""
        from tscg.turns import turn_of

        return turn_of(self, max_lookups, max_repairs, must_call, parallel)

    def output_schema(self) -> dict[str, Any]:
        """JSON Schema for constrained decoding: one or more calls, or an answer."""
        from tscg.constrain import output_schema

        return output_schema(self.surface, must_call=self.must_call, parallel=self.parallel)

    def output_grammar(self) -> str:
        """GBNF, the grammar notation of llama.cpp, for constrained decoding: one or more calls, or an answer."""
        from tscg.gbnf import output_grammar

        return output_grammar(self.surface, must_call=self.must_call, parallel=self.parallel)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"CompiledCatalog({len(self.catalog)} tools, mode={self.mode!r}, profile={self.profile!r})"
