"""SDM: filler goes, every semantic atom stays, and no rewrite costs tokens."""

from __future__ import annotations

import importlib.util
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tscg.operators.sdm import PHRASES as BY_WORD
from tscg.operators.sdm import TRIGGERS, densify
from tscg.prose.filler import ARTICLE_STAYS, PLAIN, Filler, fillers
from tscg.prose.policy import is_policy, words_of
from tscg.prose.sentences import literals, split

ATOM_WORDS = frozenset(
    "not no never must only cannot without except unless if when while until more less than least most before after "
    "none neither nor".split()
)
FILLER = fillers()
ENCODINGS = ("o200k_base", "cl100k_base")


def test_table_is_large_and_its_names_are_unique() -> None:
    assert len(FILLER) >= 104
    assert len({filler.id for filler in FILLER}) == len(FILLER)


@pytest.mark.parametrize("filler", FILLER, ids=[filler.id for filler in FILLER])
def test_pattern_at_work(filler: Filler) -> None:
    before, after = filler.example
    assert densify(before) == after
    assert any(phrase in before.lower() for phrase in filler.before)


@pytest.mark.parametrize("filler", FILLER, ids=[filler.id for filler in FILLER])
def test_pattern_stays_away(filler: Filler) -> None:
    assert densify(filler.stays) == filler.stays


@pytest.mark.parametrize("filler", FILLER, ids=[filler.id for filler in FILLER])
def test_pattern_takes_no_atom(filler: Filler) -> None:
    for phrase in filler.before:
        words = phrase.rstrip(",").split()
        assert phrase == phrase.lower()
        assert not any(char.isdigit() or char in "`'\"/_." for char in phrase.replace("'s", ""))
        assert not ATOM_WORDS.intersection(words) - set(filler.after.split())
        assert len(filler.after.split()) < len(words)


WHOLE = [
    "Never use this tool for payments",
    "Please note that you must not delete the last key.",
    "Only the owner of the list can please call it.",
    "Run `in order to` first.",
    'Say "in order to" twice.',
    "Pass {'in order to': 1}.",
    "Reads .env in ./the/path",
    "IN_ORDER_TO",
    "très please-note",
    "Pour éviter les erreurs, utilisez la liste.",
    "Um die Liste zu sortieren, ruft man sie auf.",
    "列出所有订单,请注意格式。",
    "Names of the ID_LIST of the `key`",
]


@pytest.mark.parametrize("text", WHOLE)
def test_text_that_stays_whole(text: str) -> None:
    assert densify(text) == text


REWRITES = {
    "start": ("This tool can be used to list orders.", "List orders."),
    "start-unknown-word": ("This tool can be used to kubectl it.", "kubectl it."),
    "middle": ("Sort it in order to see the order.", "Sort it to see order."),
    "two": ("Please note that it is very big.", "It is big."),
    "sentence-by-sentence": ("Never cut the list. Sorts the list.", "Never cut the list. Sorts list."),
    "list-items": ("Do:\n- please sort it\n- please send it", "Do:\n- sort it\n- send it"),
    "line": ("Sorts it.\nPlease note that it is big.", "Sorts it.\nIt is big."),
    "line-unknown-word": ("Sorts it.\nPlease kubectl it.", "Sorts it.\nPlease kubectl it."),
    "a-an": ("Get a specific order.", "Get an order."),
    "capital": ("In order to sort, call it.", "To sort, call it."),
    "paren": ("Sort it (in order to see).", "Sort it (in order to see)."),
    "article-name": ("The GitHub app of the user", "The GitHub app of user"),
    "article-last": ("The last name of the user", "The last name of user"),
    "article-code": ("The `name` of the `user`", "The `name` of the `user`"),
}


@pytest.mark.parametrize(("before", "after"), REWRITES.values(), ids=REWRITES)
def test_rewrites(before: str, after: str) -> None:
    assert densify(before) == after


def test_protected_names_are_not_taken_out() -> None:
    assert densify("Please note that it is sorted.", frozenset({"note"})) != "It is sorted."
    assert densify("Sorts a given list", frozenset({"given"})) == "Sorts a given list"


@pytest.mark.parametrize("filler", FILLER, ids=[filler.id for filler in FILLER])
def test_each_phrase_is_found_by_a_word_of_its_row(filler: Filler) -> None:
    words = set(filler.words.split())
    for phrase in filler.before:
        assert words & set(words_of(phrase)), phrase
    for word in words:
        assert any(word in words_of(phrase) for phrase in filler.before), word
    assert filler.id.endswith("article") or LISTED.issuperset(filler.before)


def test_each_phrase_is_listed_under_a_word_and_a_sign_of_it() -> None:
    assert frozenset(BY_WORD) == TRIGGERS
    for word, signs in BY_WORD.items():
        for sign, phrases in signs:
            for phrase, _, _ in phrases:
                assert word in words_of(phrase)
                assert sign in phrase


WORDS = st.sampled_from(
    sorted(
        {word for filler in FILLER for phrase in filler.before for word in phrase.split()}
        | ATOM_WORDS
        | {
            "list",
            "kubectl",
            "`the name`",
            '"in order to"',
            "42",
            "/a/b",
            "https://e.com/x",
            "order_id",
            ".",
            ",",
            "\n-",
            "\n",
            "(",
            ")",
        }
        | set(sorted(ARTICLE_STAYS)[:5])
    )
)
LISTED = frozenset(phrase for signs in BY_WORD.values() for _, phrases in signs for phrase, _, _ in phrases)
PHRASES = st.sampled_from(sorted({phrase for filler in FILLER for phrase in filler.before}))
PROSE = st.lists(st.one_of(WORDS, PHRASES, PHRASES.map(str.capitalize)), max_size=16).map(" ".join)


@given(st.one_of(PROSE, st.text()))
def test_densify_is_idempotent(text: str) -> None:
    dense = densify(text)
    assert densify(dense) == dense
    assert len(dense) <= len(text)


def atoms(text: str) -> list[str]:
    """What a rewrite may not take: atom words, numbers, literals, paths, URLs, identifiers."""
    held = [text[low:high] for low, high in literals(text)]
    named = re.findall(r"\S*[\d/_]\S*", text)
    return sorted(held) + sorted(named) + sorted(word for word in words_of(text.lower()) if word in ATOM_WORDS)


@given(PROSE)
def test_densify_keeps_every_atom(text: str) -> None:
    before, after = atoms(text), atoms(densify(text))
    for atom in before:
        assert after.count(atom) >= before.count(atom), (text, densify(text))


@given(PROSE)
def test_policy_sentences_stay_word_for_word(text: str) -> None:
    dense = densify(text)
    for piece in split(text):
        if is_policy(piece.lower(), words_of(piece.lower())):
            assert piece.strip() in dense


@given(PROSE)
def test_lines_stay(text: str) -> None:
    assert densify(text).count("\n") == text.count("\n")


Count = Callable[[str], int]


@pytest.fixture(scope="module", params=ENCODINGS)
def count(request: pytest.FixtureRequest) -> Count:
    tiktoken = pytest.importorskip("tiktoken", reason="tiktoken is not installed")
    spec = importlib.util.find_spec("llama_index")
    places = (
        [Path(each) / "core/_static/tiktoken_cache" for each in (spec.submodule_search_locations or ())] if spec else []
    )
    folder = next((place for place in places if place.is_dir()), None)
    if folder is None and not os.environ.get("TIKTOKEN_CACHE_DIR"):
        pytest.skip("no vocabulary on this machine")
    with pytest.MonkeyPatch.context() as patch:
        if folder is not None:
            patch.setenv("TIKTOKEN_CACHE_DIR", str(folder))
        encoding = tiktoken.get_encoding(request.param)
    return lambda text: len(encoding.encode(text, disallowed_special=()))


def test_words_that_are_put_in_are_one_token(count: Count) -> None:
    for filler in FILLER:
        for word in filler.after.split():
            assert count(f" {word}") == 1, word
    assert count(" an") == 1
    for word in PLAIN:
        for form in (word, word.capitalize()):
            assert count(form) == count(f" {form}") == count(f" {word}") == 1, form


def descriptions(node: Any) -> set[str]:
    """Every description at any depth."""
    if isinstance(node, list):
        return {text for each in node for text in descriptions(each)}
    if not isinstance(node, dict):
        return set()
    own = {node["description"]} if isinstance(node.get("description"), str) else set()
    return own.union(*(descriptions(each) for each in node.values()))


def test_no_rewrite_costs_tokens(count: Count, shared_catalogs: dict[str, list[dict[str, Any]]]) -> None:
    before = after = 0
    for text in descriptions(list(shared_catalogs.values())):
        normal = "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())
        for piece in (normal, *split(normal)):
            dense = densify(piece)
            if dense != piece:
                assert count(f" {dense}") <= count(f" {piece}"), piece
        before += count(f" {normal}")
        after += count(f" {densify(normal)}")
    assert after < before * 0.98


@given(text=PROSE)
def test_no_rewrite_of_made_up_text_costs_tokens(count: Count, text: str) -> None:
    assert count(f" {densify(text)}") <= count(f" {text}")
