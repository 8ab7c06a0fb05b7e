"""A compiled catalog: what is sent, and everything that the way back needs, in one immutable object."""

from __future__ import annotations

import marshal
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tscg.costs import Costs, costs_of
from tscg.errors import ConfigError, Fragment
from tscg.ir import JSON, Catalog
from tscg.language.emit import Emitted
from tscg.modes import providers
from tscg.modes.options import Mode
from tscg.profiles import Profile
from tscg.record import Record
from tscg.schema import minified

if TYPE_CHECKING:
    from tscg.calls import Call, CallError, Decoded, Lookup
    from tscg.decoders import Stream
    from tscg.decoding import Decoding
    from tscg.resolve import Surface
    from tscg.stats import Stats
    from tscg.tokenizers import Tokenizer
    from tscg.trace import Trace

__all__ = ["CompiledCatalog"]


class CompiledCatalog(Record):
    """What :func:`tscg.compile` gives: texts and wire tools out, calls back. Immutable, picklable, thread-safe.

    ``catalog`` holds the tools in the order shown, ``shown`` the same with the prose that the profile keeps.
    """

    catalog: Catalog
    shown: Catalog
    options: Mode
    profile_used: Profile
    encoding: str
    counting: object = None
    model: str | None = None
    emitted: Emitted | None = None
    prompt: str = ""
    wire: bytes = b""
    wire_names: Mapping[str, str]
    details: Mapping[str, str]
    dialect: str = "tool_call"
    active: frozenset[str] = frozenset()
    decoding_used: str | Decoding = "safe"
    warnings: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    budget: int | None = None
    given_order: bool = False
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
        """Strings at which generation should end, so that the model invents no result; empty but for text mode."""
        if self.mode != "text":
            return ()
        from tscg.encode import stops

        return stops(self.surface)

    @property
    def lookup_tool(self) -> str:
        """Wire name of the lookup tool, empty where the mode has none."""
        return ""

    @property
    def codes(self) -> Mapping[str, str]:
        """Codes of tools, empty where the mode has none."""
        return {}

    @cached_property
    def text(self) -> str:
        """The catalog in the language; empty in native and passthrough mode."""
        return self.emitted.text if self.emitted is not None and self.mode == "text" else ""

    @property
    def wire_tools(self) -> tuple[dict[str, Any], ...]:
        """Neutral tools ``{"name", "description", "parameters"}`` for the provider's tools field: fresh values."""
        return tuple(marshal.loads(self.wire)) if self.wire else ()

    def to_openai(self, strict: bool | None = None) -> list[dict[str, Any]]:
        """The tools field of OpenAI's chat API and compatibles."""
        return self._native("openai") or providers.to_openai(list(self.wire_tools), self.catalog.builtins, strict)

    def to_openai_responses(self, strict: bool = False) -> list[dict[str, Any]]:
        """The tools field of OpenAI's Responses API."""
        return self._native("openai_responses") or providers.to_openai_responses(
            list(self.wire_tools), self.catalog.builtins, strict
        )

    def to_anthropic(self, cache: bool = True, ttl: str | None = None) -> list[dict[str, Any]]:
        """The tools field of Anthropic's Messages API, with one cache breakpoint."""
        return providers.to_anthropic(list(self.wire_tools), self.catalog.builtins, cache, ttl)

    def to_gemini(self) -> list[dict[str, Any]]:
        """The tools field of the Gemini API."""
        return providers.to_gemini(list(self.wire_tools), self.catalog.builtins)

    def _native(self, form: str) -> list[dict[str, Any]]:
        """Passthrough in the format that the tools came in: deep copies of the originals, else nothing."""
        if self.mode != "passthrough" or not len(self.catalog) or any(tool.format != form for tool in self.catalog):
            return []
        from tscg.formats.write import render

        return [*(render(tool, form) for tool in self.catalog), *providers.held(self.catalog.builtins, form)]

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
        from tscg.trace import hidden_sentences

        entries = (
            dict(zip((tool.name for tool in self.shown), self.emitted.entries, strict=True))
            if self.emitted and self.mode == "text"
            else {}
        )
        back = {wire: name for name, wire in self.wire_names.items()}
        for item in self.wire_tools:
            entries[back.get(item["name"], item["name"])] = minified({"type": "function", "function": item})
        wire: list[dict[str, JSON]] = [{"type": "function", "function": item} for item in self.wire_tools]
        return stats_of(StatsInput(
            prompt=self.prompt, text=self.text, entries=entries, wire=wire, catalog=self.catalog,
            tokenizer=self.tokenizer, fixed=self.prompt.replace(self.text, "", 1) if self.text else self.prompt,
            details=self.details, hidden=hidden_sentences(self.catalog, self.shown),
        ))  # fmt: skip

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
        from tscg.resolve import Surface

        native = frozenset() if self.mode == "text" else frozenset(tool.name for tool in self.catalog)
        return Surface(
            catalog=self.catalog, mode=self.mode, wire_names=self.wire_names, wire_keys={}, native=native,
            dialect=self.dialect, decoding=self.decoding, gone=frozenset(),
        )  # fmt: skip

    def decode(self, output: object, finish_reason: str | None = None, *, seed: str = "") -> Decoded:
        """Read the model's newest output: text, bytes, a message, a list of messages, or a provider's response.

        Never raises for what the model did; ConfigError for an input shape that is not known.
        """
        from tscg.decoders import decode

        return decode(self.surface, output, finish_reason=finish_reason, seed=seed)

    def stream(self) -> Stream:
        """A reader of one streamed answer: ``feed`` chunks, then ``close``."""
        from tscg.decoders import Stream

        return Stream(self.surface)

    def resolve(self, name: str, arguments: object, id: str = "") -> Call | Lookup | CallError:
        """One native call: the call to make, or the error to send back."""
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

    def output_schema(self) -> dict[str, Any]:
        """JSON Schema for constrained decoding: one or more calls, or an answer."""
        from tscg.constrain import output_schema

        return output_schema(self.surface)

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"CompiledCatalog({len(self.catalog)} tools, mode={self.mode!r}, profile={self.profile!r})"
