"""Ids of models: family, version and size are read word by word, never guessed from parts of words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["FAMILIES", "Spoken", "read_id", "version_of"]

#: Words that begin the ids of a family, the longest first; a second name of a family stands beside it.
FAMILIES: dict[tuple[str, ...], str] = {
    ("claude", "opus"): "claude-opus", ("claude", "sonnet"): "claude-sonnet", ("claude", "haiku"): "claude-haiku",
    ("gpt", "4o"): "gpt-4o", ("chatgpt", "4o"): "gpt-4o", ("gpt", "oss"): "gpt-oss", ("gpt",): "gpt", ("o",): "o",
    ("gemini",): "gemini", ("qwen",): "qwen", ("meta", "llama"): "llama", ("llama",): "llama", ("mistral",): "mistral",
    ("gemma",): "gemma", ("phi",): "phi", ("deepseek", "r1"): "deepseek-r1", ("deepseek",): "deepseek",
    ("grok",): "grok",
}  # fmt: skip
#: Words of an id that make no other model: how it was packed, and that it was trained to answer.
PLAIN = frozenset(
    "instruct it chat latest preview v hf gguf awq gptq mlx fp8 fp16 bf16 int4 int8 q2 q3 q4 q5 q6 q8 k s m l 0 "
    "1".split()
)


class Spoken(NamedTuple):
    """What the id of a model says: family ("" for one that is not known), version, billions of parameters, is it a
    variant."""

    family: str
    version: tuple[int, ...]
    size: float | None
    variant: bool


def read_id(model: str) -> Spoken:
    """Read an id, with or without the prefix of a provider.

    >>> read_id("ollama/qwen3:4b"), read_id("claude-3-5-sonnet-20241022").version
    (Spoken(family='qwen', version=(3,), size=4.0, variant=False), (3, 5))
    >>> read_id("openai:gpt-5.2-2025-12-11") == read_id("gpt-5.2"), read_id("gpt-5.2-mini").variant
    (True, True)
    """
    name = model.strip().lower().rpartition("/")[2]
    behind = name.partition(":")[2]
    if behind and (found := _read(behind)).family:  # openai:gpt-5.2; in qwen3:4b no family stands behind the colon
        return found
    return _read(name)


def _read(name: str) -> Spoken:
    parts = _parts(name)
    names = [part for part in parts if not _is_number(part) and _size(part) is None]
    key = next((key for length in (2, 1) if (key := tuple(names[:length])) in FAMILIES), ())
    size = next((found for part in parts if (found := _size(part)) is not None), None)
    rest = [part for part in names[len(key) :] if part not in PLAIN]
    return Spoken(FAMILIES.get(key, ""), _version(parts), size, bool(rest))


def _parts(name: str) -> list[str]:
    """The words of an id; the first one, and a ``v`` before a number, are cut from the number that is glued to them."""
    for mark in "-_:@ ":
        name = name.replace(mark, " ")
    parts: list[str] = []
    for i, part in enumerate(name.split()):
        letters = part.rstrip("0123456789.")
        glued = letters != part and letters.isalpha() and (i == 0 or letters == "v")
        parts += [letters, part[len(letters) :]] if glued else [part]
    return parts


def _is_number(part: str) -> bool:
    return part.replace(".", "").isdecimal()


def _version(parts: Sequence[str]) -> tuple[int, ...]:
    """The first numbers in a row, without dates: claude-opus-4-7, gpt-5.2, qwen3."""
    found: list[int] = []
    for part in parts:
        if not _is_number(part) or len(part) > 4:
            if found:
                break
            continue
        numbers = [int(number) for number in part.split(".") if number]
        if max(numbers) > 99:  # a year, or a month and day
            break
        found += numbers
        if "." in part:
            break
    while len(found) > 1 and found[-1] == 0:
        found.pop()
    return tuple(found[:3])


def _size(part: str) -> float | None:
    """Billions of parameters of a word like 4b or 1.5b."""
    number = part[:-1]
    return float(number) if part.endswith("b") and _is_number(number) and number.count(".") < 2 else None


def version_of(spelled: str) -> tuple[int, ...]:
    """A version of the table as numbers.

    >>> version_of("4.10")
    (4, 10)
    """
    return tuple(int(number) for number in spelled.split("."))
