from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tscg import tokenizers
from tscg.errors import ConfigError, TscgWarning
from tscg.estimator import Estimator
from tscg.ir import Catalog
from tscg.stats import minified, openai_form
from tscg.tokenizers import ENCODINGS, Counted, Encoding, Tokenizer, encoding_of_model, is_exact, tokenizer_of

SOURCE = Path(tokenizers.__file__).parents[1]
TEXT = '{"name":"create_issue","description":"Creates an issue. Never close it without asking."}'

# Hides every package that carries a vocabulary, as in an environment that has none of them.
WITHOUT_CARRIERS = "import tscg.tokenizers as t; t.CARRIERS = ()\n"


@pytest.fixture(scope="module")
def vocabulary() -> Path:
    """The file of o200k_base; skips where none is installed."""
    for folder in tokenizers._folders():
        path = folder / ENCODINGS["o200k_base"].file
        if path.is_file():
            return path
    pytest.skip("no vocabulary of o200k_base is installed")


def run(code: str, folder: Path, **environment: str) -> list[str]:
    """Run code in a fresh interpreter whose caches lie in a folder; the lines it prints."""
    keep = {
        name: value for name, value in os.environ.items() if name not in {"TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"}
    }
    env = {**keep, "PYTHONPATH": str(SOURCE), "TMPDIR": str(folder), "TEMP": str(folder), **environment}
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", code], env=env, capture_output=True, text=True, check=True
    )
    return (done.stdout + done.stderr).splitlines()


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-5.2", "o200k_base"),
        ("openai/gpt-4o-mini", "o200k_base"),
        ("gpt-4.1-nano", "o200k_base"),
        ("o4-mini", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("openai:gpt-3.5-turbo", "cl100k_base"),
        ("ollama/gpt-oss:20b", "o200k_harmony"),
        ("claude-sonnet-4", None),
        ("ollama/phi4", None),
        ("my-gpt-4o-clone", None),
    ],
)
def test_the_encoding_of_a_model_is_the_published_one(model: str, encoding: str | None) -> None:
    assert encoding_of_model(model) == encoding
    assert tokenizer_of(model=model).name == (encoding or "o200k_base")
    if encoding is None:
        assert not is_exact(tokenizer_of(model=model))


def test_a_tokenizer_goes_before_the_model() -> None:
    assert tokenizer_of("cl100k_base", model="gpt-5.2") == Encoding(name="cl100k_base")
    assert tokenizer_of() == Encoding(name="o200k_base")


class WithCount:
    name = "mine"

    def count(self, text: str) -> int:
        return len(text.split())


class Nameless:
    def count(self, text: str) -> int:
        return 7


class Ids:
    def __init__(self, text: str) -> None:
        self.ids = list(text.encode())


class Fast:
    """As a tokenizer of the package `tokenizers` looks."""

    def encode(self, text: str, *, add_special_tokens: bool) -> Ids:
        return Ids(f"{text}!!") if add_special_tokens else Ids(text)


class Slow:
    """As a tokenizer of `transformers` looks."""

    name_or_path = "acme/model"

    def encode(self, text: str, *, add_special_tokens: bool) -> list[int]:
        return [1] * (len(text) + 2 * add_special_tokens)


class Ordinary:
    """As an encoding of tiktoken looks."""

    name = "p50k_base"

    def encode_ordinary(self, text: str) -> list[int]:
        return [0] * len(text)

    def encode(self, text: str) -> list[int]:
        raise ValueError("a special token in the text")


def count_words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("spec", "name", "tokens"),
    [
        (WithCount(), "mine", 2),
        (Nameless(), "Nameless", 7),
        (Fast(), "Fast", 4),
        (Slow(), "acme/model", 4),
        (Ordinary(), "p50k_base", 4),
        (count_words, "count_words", 2),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_object_that_counts_is_a_tokenizer(spec: object, name: str, tokens: int) -> None:
    found = tokenizer_of(spec)
    assert isinstance(found, Tokenizer)
    assert (found.name, found.count("ab c")) == (name, tokens)
    assert is_exact(found)
    assert pickle.loads(pickle.dumps(found)).count("ab c") == tokens


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("o200k", "unknown tokenizer 'o200k'; allowed: o200k_base"),
        ("gpt-4", "the model gpt-4 is counted in cl100k_base"),
        ("missing.json", "does not exist"),
        (17, "a tokenizer of type int cannot count"),
        (["a"], "a tokenizer of type list cannot count"),
    ],
)
def test_what_cannot_count_is_refused(spec: object, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        tokenizer_of(spec)


def test_a_tokenizer_file_needs_its_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util

    path = tmp_path / "tokenizer.json"
    path.write_text("{}")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ConfigError, match=r"install tscg\[tokenizers\]"):
        tokenizer_of(str(path))


def test_a_tokenizer_file_counts(tmp_path: Path) -> None:
    fast = pytest.importorskip("tokenizers")
    words = fast.Tokenizer(fast.models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"))
    words.pre_tokenizer = fast.pre_tokenizers.Whitespace()
    words.save(str(tmp_path / "tokenizer.json"))
    found = tokenizer_of(str(tmp_path / "tokenizer.json"))
    assert (found.count("a b c"), is_exact(found)) == (3, True)


def test_counts_are_those_of_tiktoken(vocabulary: Path) -> None:
    """In a fresh interpreter, so that tiktoken reads its own cache; patterns and file names are compared as well."""
    code = f"""
import hashlib, tiktoken
from tiktoken_ext import openai_public as public
from tscg.ir import Catalog
from tscg.stats import minified, openai_form
from tscg.tokenizers import ENCODINGS, Encoding
texts = [{TEXT!r}, "  two  blanks\\n\\n\\tand a tab", "größe 査問 🚀 <|endoftext|>", "x" * 9, "a\\r\\n" * 40]
for name in ("o200k_base", "cl100k_base"):
    true = tiktoken.get_encoding(name)
    assert true._pat_str == ENCODINGS[name].pattern, name
    mine = [Encoding(name=name).count(text) for text in texts]
    print(name, Encoding(name=name).exact, mine == [len(true.encode(text, disallowed_special=())) for text in texts])
"""
    assert run(code, vocabulary.parent, TIKTOKEN_CACHE_DIR=str(vocabulary.parent)) == [
        "o200k_base True True",
        "cl100k_base True True",
    ]


def test_without_a_vocabulary_it_estimates_and_says_so_once(tmp_path: Path) -> None:
    code = f"""{WITHOUT_CARRIERS}
tokenizer = t.tokenizer_of()
print(tokenizer.count({TEXT!r}) > 10, tokenizer.exact, tokenizer.count("a"), t.Encoding(name="o200k_base").exact)
"""
    lines = run(code, tmp_path)
    assert lines[0] == "True False 1 False"
    assert sum("TscgWarning" in line for line in lines) == 1
    assert not list(tmp_path.rglob("*")), "nothing is downloaded"


def test_a_damaged_vocabulary_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / ENCODINGS["o200k_base"].file
    file.write_bytes(b"IQ== 0\n")
    code = f"{WITHOUT_CARRIERS}print(t.Encoding(name='o200k_base').exact)"
    assert run(code, tmp_path, TIKTOKEN_CACHE_DIR=str(tmp_path))[0] == "False"
    assert file.read_bytes() == b"IQ== 0\n"


def test_nothing_is_imported_or_read_before_the_first_count(tmp_path: Path) -> None:
    code = """
import sys
from tscg.tokenizers import tokenizer_of
tokenizer_of(), tokenizer_of("cl100k_base"), tokenizer_of(model="gpt-5.2")
print([name for name in ("tiktoken", "tokenizers", "llama_index", "litellm") if name in sys.modules])
tokenizer_of().count("a")
print([name for name in ("llama_index", "litellm") if name in sys.modules])
"""
    assert run(code, tmp_path)[:2] == ["[]", "[]"]


@pytest.mark.parametrize(
    "text",
    ["a" * 300_000, " " * 300_000 + "x", "^" * 300_000, "\n" * 300_000, "ab " * 50_000, "\ud800" * 3],
    ids=["letters", "blanks", "symbols", "breaks", "words", "surrogates"],
)
def test_hostile_texts_are_counted(text: str, vocabulary: Path) -> None:
    assert 0 < Encoding(name="o200k_base").count(text) <= len(text)
    assert 0 < Estimator("o200k_base").count(text) <= 2 * len(text)


def test_a_run_is_cut_only_where_it_is_long(vocabulary: Path) -> None:
    counter = tokenizers._counter("o200k_base")
    assert isinstance(counter, tokenizers._Vocabulary)
    for text in ("word " * 3_000, TEXT * 200, "\n" * 4_000 + "x"):
        assert counter.count(text) == len(counter._encode(text))
    runs = "x" * 10_000
    assert 0 <= counter.count(runs) - len(counter._encode(runs)) <= len(runs) // tokenizers.LONG_RUN


@given(st.text())
def test_an_estimate_is_between_nothing_and_three_tokens_a_character(text: str) -> None:
    for encoding in ("o200k_base", "cl100k_base", "p50k_base"):
        assert min(1, len(text)) <= Estimator(encoding).count(text) <= 3 * len(text)


def test_an_estimate_grows_with_the_text() -> None:
    estimate = Estimator("o200k_base").count
    assert estimate(TEXT) < estimate(TEXT + TEXT) <= 2 * estimate(TEXT) + 1


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base"])
def test_the_error_of_the_estimate_is_what_is_documented(
    encoding: str, shared_catalogs: dict[str, list[dict[str, object]]], vocabulary: Path
) -> None:
    true, estimate = Encoding(name=encoding).count, Estimator(encoding).count
    low, high = {"o200k_base": (-0.016, 0.032), "cl100k_base": (-0.008, 0.059)}[encoding]
    for name, tools in shared_catalogs.items():
        text = minified([openai_form(tool) for tool in Catalog.from_tools(tools)])
        assert low - 0.005 <= estimate(text) / true(text) - 1 <= high + 0.005, name


def test_threads_share_one_vocabulary() -> None:
    found: list[object] = []
    threads = [threading.Thread(target=lambda: found.append(tokenizers._counter("r50k_base"))) for _ in range(8)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TscgWarning)
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(found) == 8
    assert len(set(map(id, found))) == 1


def test_tokenizers_are_values() -> None:
    for one in (Encoding(name="o200k_base"), Counted(name="n", function=count_words), tokenizer_of(model="phi4")):
        assert pickle.loads(pickle.dumps(one)) == one
