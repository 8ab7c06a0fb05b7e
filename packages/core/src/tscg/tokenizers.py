"""Tokenizers: who counts tokens for `stats` and `budget`, and what stands in where a vocabulary is absent.

Nothing here reads a file before the first count, and nothing ever reaches the network: a vocabulary is taken from the
folders where tiktoken keeps it or from packages that carry it, else the count is an estimate (:mod:`tscg.estimator`),
and says so.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from tscg.errors import ConfigError, TscgWarning
from tscg.estimator import Estimator

__all__ = [
    "DEFAULT_ENCODING", "ENCODINGS", "Counted", "Encoding", "HuggingFace", "Tokenizer", "encoding_of_model", "is_exact",
    "tokenizer_of",
]  # fmt: skip

DEFAULT_ENCODING = "o200k_base"


@runtime_checkable
class Tokenizer(Protocol):
    """Counts the tokens of a text. A tokenizer whose counts are estimates has an attribute ``exact`` that is False."""

    @property
    def name(self) -> str:
        """Name of the encoding: it also chooses the cost table by which texts are spelled."""
        ...

    def count(self, text: str) -> int:
        """Tokens of a text, special tokens read as plain text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """A byte-pair vocabulary: its file in a cache of tiktoken, the SHA-256 of it, and the pattern of its pieces."""

    file: str
    sha256: str
    pattern: str


_GPT2 = r"""'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"""
_CL100K = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
    r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s"""
)
_O200K = (
    r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"""
    r"""|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"""
    r"""|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"""
)
_O200K_BASE = Vocabulary(
    file="fb374d419588a4632f3f557e76b4b70aebbca790",
    sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    pattern=_O200K,
)
# As tiktoken defines them; a test compares. tiktoken names a cached file by the SHA-1 of where it came from.
ENCODINGS: dict[str, Vocabulary] = {
    "o200k_base": _O200K_BASE,
    "o200k_harmony": _O200K_BASE,  # differs in special tokens alone, and those are plain text here
    "cl100k_base": Vocabulary(
        file="9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        pattern=_CL100K,
    ),
    "p50k_base": Vocabulary(
        file="ec7223a39ce59f226a68acc30dc1af2788490e15",
        sha256="94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069",
        pattern=_GPT2,
    ),
    "r50k_base": Vocabulary(
        file="0ea1e91bbb3a60f729a8dc8f777fd2fc07cd8df4",
        sha256="306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930",
        pattern=_GPT2,
    ),
}

# Packages that carry vocabularies, and the folder inside them.
CARRIERS: tuple[tuple[str, str], ...] = (
    ("llama_index", "core/_static/tiktoken_cache"),
    ("litellm", "litellm_core_utils/tokenizers"),
    ("litellm", "llms/tokenizers"),
)


def tokenizer_of(spec: object = None, model: str | None = None) -> Tokenizer:
    """The tokenizer that ``tokenizer=`` and ``model=`` name; the model counts where no tokenizer is given.

    ``spec`` is the name of an encoding, the path of a Hugging Face ``tokenizer.json``, an object with ``count(text)``,
    a function that counts, or a tokenizer of tiktoken, ``tokenizers`` or ``transformers``. A model without a published
    encoding gets o200k_base as a stand-in, whose ``exact`` is False. Raises :class:`tscg.ConfigError` for all else.

    >>> tokenizer_of("cl100k_base").name, tokenizer_of(model="openai/gpt-5.2").name, tokenizer_of(len).count("four")
    ('cl100k_base', 'o200k_base', 4)
    >>> is_exact(tokenizer_of(model="ollama/phi4"))
    False
    """
    if spec is None:
        encoding = encoding_of_model(model) if model else DEFAULT_ENCODING
        return Encoding(name=encoding or DEFAULT_ENCODING, stand_in=encoding is None)
    if isinstance(spec, str):
        return _named(spec)
    for method, wrap in OBJECTS:
        # Sequences of text have a `count` too, and it counts something else.
        if callable(getattr(spec, method, None)) and not isinstance(spec, bytes | list | tuple):
            return wrap(spec)
    if callable(spec):
        return Counted(name=getattr(spec, "__name__", type(spec).__name__), function=spec)
    raise ConfigError(
        f"a tokenizer of type {type(spec).__name__} cannot count",
        allowed=(*ENCODINGS, "an object with count(text)", "a function that counts"),
    )


def encoding_of_model(model: str) -> str | None:
    """The published encoding of a model, or None.

    >>> encoding_of_model("gpt-4.1-mini"), encoding_of_model("openai:gpt-4-turbo"), encoding_of_model("gpt-4all")
    ('o200k_base', 'cl100k_base', None)
    """
    from tscg.models import row_of

    row = row_of(model)
    # A row without a source for its encoding has the one by which texts are spelled, not the model's own.
    return row.encoding if any("encoding" in evidence.of for evidence in row.evidence) else None


def is_exact(tokenizer: Tokenizer) -> bool:
    """Whether a tokenizer's counts are those of the model it is meant for. May read a vocabulary."""
    return bool(getattr(tokenizer, "exact", True))


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """An encoding of tiktoken by name, loaded at the first count, once per process; an estimate where it is absent.

    ``stand_in`` marks that it counts for a model with another vocabulary.

    >>> Encoding(name="o200k_base").count("")
    0
    """

    name: str
    stand_in: bool = False

    @property
    def exact(self) -> bool:
        """Whether the vocabulary is there and is the model's own."""
        return not self.stand_in and isinstance(_counter(self.name), _Vocabulary)

    def count(self, text: str) -> int:
        """Tokens of a text; a run of 4,096 letters, blanks or symbols is counted in parts, which bounds the time."""
        return _counter(self.name).count(text) if text else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """A function from a text to its tokens, under a name. ``exact`` is what its owner says of it."""

    name: str
    function: Callable[[str], int] = field(repr=False)
    exact: bool = True

    def count(self, text: str) -> int:
        """Tokens of a text."""
        return int(self.function(text))


@dataclass(frozen=True, slots=True, kw_only=True)
class HuggingFace:
    """A ``tokenizer.json`` of Hugging Face, loaded at the first count (needs the extra ``tokenizers``)."""

    path: str

    @property
    def name(self) -> str:
        """The file's path."""
        return self.path

    def count(self, text: str) -> int:
        """Tokens of a text, without those that a template adds."""
        return len(_hugging_face(self.path).encode(text, add_special_tokens=False).ids)


def _named(spec: str) -> Tokenizer:
    if spec in ENCODINGS:
        return Encoding(name=spec)
    if spec.endswith(".json") or os.sep in spec:
        return _file(spec)
    known = encoding_of_model(spec)
    hint = f"the model {spec} is counted in {known}" if known else "or the path of a tokenizer.json"
    raise ConfigError(f"unknown tokenizer {spec!r}", allowed=tuple(ENCODINGS), hint=hint)


def _file(path: str) -> HuggingFace:
    from importlib.util import find_spec

    if not Path(path).is_file():
        raise ConfigError(
            f"tokenizer file {path!r} does not exist", hint=f"or name an encoding: {', '.join(ENCODINGS)}"
        )
    if find_spec("tokenizers") is None:
        raise ConfigError(f"tokenizer file {path!r} needs the package tokenizers", hint="install tscg[tokenizers]")
    return HuggingFace(path=path)


def _counting(spec: Any) -> Tokenizer:
    return spec if isinstance(spec, Tokenizer) else Counted(name=type(spec).__name__, function=spec.count)


def _tiktoken(spec: Any) -> Tokenizer:
    return Counted(name=str(getattr(spec, "name", type(spec).__name__)), function=partial(_count_ordinary, spec))


def _encoding(spec: Any) -> Tokenizer:
    name = getattr(spec, "name_or_path", None) or type(spec).__name__
    return Counted(name=str(name), function=partial(_count_encoded, spec))


# What a foreign object is recognised by, first match first.
OBJECTS: tuple[tuple[str, Callable[[Any], Tokenizer]], ...] = (
    ("encode_ordinary", _tiktoken),
    ("count", _counting),
    ("encode", _encoding),
)


def _count_ordinary(encoding: Any, text: str) -> int:
    return len(encoding.encode_ordinary(text))


def _count_encoded(tokenizer: Any, text: str) -> int:
    found = tokenizer.encode(text, add_special_tokens=False)
    return len(getattr(found, "ids", found))


@cache
def _hugging_face(path: str) -> Any:
    from importlib import import_module

    try:
        return import_module("tokenizers").Tokenizer.from_file(path)
    except Exception as error:  # a bare Exception is what the library raises for a file that it cannot read
        raise ConfigError(f"{path} is no tokenizer file: {error}") from error


class _Counter(Protocol):
    def count(self, text: str) -> int: ...


_lock = threading.RLock()
_counters: dict[str, _Counter] = {}


def _counter(name: str) -> _Counter:
    """The counter of an encoding, made once per process."""
    found = _counters.get(name)
    if found is not None:
        return found
    with _lock:
        found = _counters.get(name)
        if found is not None:
            return found
        vocabulary = _load(name)
        _counters[name] = found = Estimator(name) if vocabulary is None else vocabulary
    if vocabulary is None:
        import warnings

        text = f"no vocabulary of {name} is installed, so tokens are estimates"
        warnings.warn(f"{text}; set TIKTOKEN_CACHE_DIR to a folder that has it", TscgWarning, stacklevel=3)
    return found


# tiktoken's pattern engine fails on a million blanks, and its merges take seconds on a million letters.
LONG_RUN = 4_096
_RUNS = re.compile(rf"(\s{{{LONG_RUN}}}|[^\W_]{{{LONG_RUN}}}|[^\w\s]{{{LONG_RUN}}})")


class _Vocabulary:
    """Counts with a loaded vocabulary."""

    def __init__(self, encode: Callable[[str], list[int]]) -> None:
        self._encode = encode

    def count(self, text: str) -> int:
        if len(text) <= LONG_RUN:
            return len(self._encode(text))
        return sum(len(self._encode(part)) for part in _RUNS.split(text) if part)


def _load(name: str) -> _Vocabulary | None:
    """The vocabulary of an encoding from the first folder that has it whole."""
    vocabulary = ENCODINGS[name]
    for folder in _folders():
        data = _read(folder / vocabulary.file, vocabulary.sha256)
        if data is not None:
            # Not `tiktoken.get_encoding`: it looks in one folder alone, and goes to the network for the rest.
            import tiktoken

            encoding = tiktoken.Encoding(
                name, pat_str=vocabulary.pattern, mergeable_ranks=_ranks(data), special_tokens={}
            )
            return _Vocabulary(encoding.encode_ordinary)
    return None


def _folders() -> Iterator[Path]:
    """Where a vocabulary may lie: the folders of tiktoken, then those of packages, which are found and not imported."""
    import tempfile
    from importlib.util import find_spec

    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    yield Path(tempfile.gettempdir()) / "data-gym-cache"
    for package, folder in CARRIERS:
        spec = find_spec(package)
        for place in (spec.submodule_search_locations or ()) if spec else ():
            yield Path(place) / folder


def _read(path: Path, sha256: str) -> bytes | None:
    from hashlib import sha256 as digest

    try:
        data = path.read_bytes()
    except OSError:
        return None
    return data if digest(data).hexdigest() == sha256 else None


def _ranks(data: bytes) -> dict[bytes, int]:
    from binascii import a2b_base64

    pairs = (line.split() for line in data.splitlines() if line)
    return {a2b_base64(token): int(rank) for token, rank in pairs}
