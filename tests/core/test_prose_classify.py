"""Ranks: policy is never missed, headings hand on, the rest falls where a profile expects it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tscg.prose.classify import Of, Rank, outline, rank, ranks
from tscg.prose.policy import POLICY, is_policy, words_of
from tscg.prose.sentences import split

POLICIES = [
    "You must send the key.",
    "NEVER delete a branch.",
    "Do not call it twice.",
    "Don't call it twice.",
    "Don’t call it twice.",
    "**DO NOT** call it twice.",
    "Only admins may call it.",
    "An order can only be changed once.",
    "The list cannot be empty.",
    "Approval is required before the call.",
    "Confirm with the user first.",
    "Ask for explicit confirmation (yes/no).",
    "Needs the consent of the user.",
    "This is irreversible.",
    "A destructive operation.",
    "`a` and `b` are mutually exclusive.",
    "Permanently removes the file.",
    "This action can't be undone.",
    "You may not share it.",
    "Sharing is not allowed.",
    "Give at most one of `a` and `b`.",
    "Exactly one of them counts.",
    "Warning: it is slow.",
    "IMPORTANT: use full paths.",
    "Always use full paths.",
    "Ensure that the file exists.",
    "Make sure the file exists.",
    "Ask the user for the name.",
    "List them before calling this tool.",
    "Requires admin rights.",
    "It should not be used twice.",
    "Use with caution.",
    "切勿删除文件。",
    "Nunca borre el archivo.",
]
NO_POLICIES = [
    "A read-only list.",
    "This is the only list.",
    "Not only names, sizes too.",
    "Lists orders, newest first.",
    "Non-destructive.",
    "Whether or not it is open.",
    "Names that do not match.",
    "Parameter `only_open` filters.",
    "The number of required reviews.",
    "The list is always sorted.",
    "To avoid duplicates.",
    "To ensure order.",
    "A mustard dish.",
]


@pytest.mark.parametrize("of", ["tool", "parameter", "other"])
@pytest.mark.parametrize("sentence", POLICIES)
def test_policy(sentence: str, of: Of) -> None:
    assert rank(sentence, 3, of) is Rank.POLICY
    assert rank(sentence, 0, of) is Rank.POLICY


@pytest.mark.parametrize("of", ["tool", "parameter", "other"])
@pytest.mark.parametrize("sentence", NO_POLICIES)
def test_no_policy(sentence: str, of: Of) -> None:
    assert rank(sentence, 3, of) is not Rank.POLICY


def test_only_tells_what_a_parameter_does_but_obliges_of_a_tool() -> None:
    sentence = "Only return open orders."
    assert rank(sentence, 1, "parameter") is not Rank.POLICY
    assert rank(sentence, 1, "tool") is Rank.POLICY


@pytest.mark.parametrize(
    ("sentence", "of", "expected"),
    [
        ("Lists orders.", "tool", Rank.BACKGROUND),
        ("Use this when you have an ID.", "tool", Rank.USAGE),
        ("For example, an open order.", "tool", Rank.EXAMPLE),
        ("At most 20 characters.", "parameter", Rank.CONSTRAINT),
        ("Required when `b` is given.", "parameter", Rank.CONSTRAINT),
        ("One of: open, closed.", "parameter", Rank.CONSTRAINT),
        ("ISO 8601 format.", "parameter", Rank.HINT),
        ("E.g. 'Paris, FR'.", "parameter", Rank.HINT),
        ("Defaults to 30.", "parameter", Rank.HINT),
        ("Timeout in seconds.", "parameter", Rank.HINT),
        ("Can be `a` or `b`.", "parameter", Rank.HINT),
        ("Useful for large lists.", "parameter", Rank.USAGE),
        ("It belongs to the team.", "parameter", Rank.BACKGROUND),
        ("For more information, see [Only once](https://example.com/only).", "parameter", Rank.BACKGROUND),
        ("For more information, never ask.", "parameter", Rank.POLICY),
    ],
)
def test_ranks_of_one_sentence(sentence: str, of: Of, expected: Rank) -> None:
    assert rank(sentence, 1, of) is expected


def test_first_sentence_is_the_purpose() -> None:
    assert rank("Lists orders.", 0, "tool") is Rank.PURPOSE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Saves it.\nImportant:\n- the disk is small\n- it is slow\nSee it.", "Pu Po Po Po Ba"),
        ("Saves it.\nDo not use when:\n* it is full\n* it is slow", "Pu Po Po Po"),
        ("Saves it.\nWarning:\nIt is slow.\nIt is big.", "Pu Po Po Ba"),
        ("Saves it.\n## Restrictions\nIt is slow. It is big.\n## More\nIt is nice.", "Pu Po Po Po Ba Ba"),
        ("> [!WARNING]\n> It is slow.\nSaves it.", "Po Po Pu"),
        ("# Save\nSaves it.", "Ba Pu"),
        ("Optional. Where to save it.", "Ba Pu"),
        ("Saves it.\nFields:\n- a size\n- a name", "Pu Ba Ba Ba"),
        ("Saves it.\nImportant parameters:\n- a size", "Pu Ba Ba"),
    ],
)  # fmt: skip
def test_headings_hand_on_their_rank(text: str, expected: str) -> None:
    # Written short: the first letters of each rank.
    assert [each.name[:2].title() for each in ranks(text, "tool")] == expected.split()


def test_sentence_broken_over_lines_has_one_rank() -> None:
    text = "Saves a file in the folder of the user who asked for it and\nnever anywhere else at all.\nIt is quick."
    assert [each.name for each in ranks(text, "tool")] == ["POLICY", "POLICY", "BACKGROUND"]


def test_first_of_the_examples_of_a_parameter_is_a_hint() -> None:
    text = "A query.\nExamples:\n- a = 1\n- b = 2"
    assert [each.name for each in ranks(text, "parameter")] == ["PURPOSE", "HINT", "HINT", "EXAMPLE"]


WORDS = st.sampled_from(
    [
        *"lists orders of the shop Note: e.g. Examples: - 1. # ## > [!WARNING]".split(),
        *POLICY,
        "\n",
        ". ",
        ": ",
        "\n- ",
        "\n## ",
    ]
)


@given(st.lists(WORDS, max_size=40).map(" ".join), st.sampled_from(["tool", "parameter", "other"]))
def test_each_piece_has_a_rank_and_policy_keeps_it(text: str, of: Of) -> None:
    given_ranks = ranks(text, of)
    assert len(given_ranks) == len(split(text))
    assert "".join(each.text for each in outline(text, of)) == text
    for each in outline(text, of):
        if rank(each.text, 1, of) is Rank.POLICY:
            assert (
                each.rank is Rank.POLICY
                or not each.text.strip().strip("-#>* ").removesuffix(":").strip()
                or ":" in each.text
            )


@pytest.mark.parametrize(
    "word", [word for word, sign in POLICY.items() if not (sign.needs or sign.unless or sign.beside)]
)
def test_each_plain_policy_word_makes_a_policy(word: str) -> None:
    assert is_policy(f"it {word} it", words_of(f"it {word} it"))


@pytest.mark.parametrize("word", [word for word, sign in POLICY.items() if sign.needs or sign.unless])
def test_phrases_of_the_table_hold_their_word(word: str) -> None:
    sign = POLICY[word]
    for phrase in sign.needs + sign.unless + sign.tells:
        assert word in phrase.split(), phrase
    for phrase in sign.needs:
        assert is_policy(phrase, words_of(phrase)), phrase


LISTED = (
    "must",
    "never",
    "cannot",
    "irreversible",
    "destructive",
    "consent",
    "confirm",
    "mutually exclusive",
    "do not",
)


def test_sentences_of_real_catalogs_with_a_listed_word_are_policy(
    shared_catalogs: dict[str, list[dict[str, Any]]],
) -> None:
    missed = []
    seen = 0
    for tools in shared_catalogs.values():
        for raw in tools:
            for each in outline(raw.get("function", raw).get("description") or "", "tool"):
                said = f" {' '.join(words_of(each.text.lower()))} "
                if any(f" {word} " in said for word in LISTED):
                    seen += 1
                    if each.rank is not Rank.POLICY:
                        missed.append(each.text)
    assert seen > 100
    # What is left: conditions and descriptions ("if you do not pass any"), links to a document.
    assert all(" do not " in f" {each.lower()} " or each.lower().startswith("for more") for each in missed), missed
