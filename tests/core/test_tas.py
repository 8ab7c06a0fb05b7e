"""TAS: the shipped spelling is the cheapest one in context, and a shorter text is not always the cheaper one."""

from __future__ import annotations

import pytest

from benchmarks.spelling import best, combinations, sample, total
from tscg.language.spelling import DEFAULT, SLOTS, SPELLINGS, Spelling
from tscg.operators import tas
from tscg.tokenizers import Encoding


def exact(name: str) -> Encoding:
    found = Encoding(name=name)
    if not found.exact:
        pytest.skip(f"the vocabulary of {name} is absent")
    return found


def test_class_is_declared() -> None:
    assert tas.CLASS == "R"


@pytest.mark.parametrize(("encoding", "expected"), [*SPELLINGS.items(), ("of nobody", DEFAULT), ("", DEFAULT)])
def test_spelling(encoding: str, expected: Spelling) -> None:
    assert tas.spelling(encoding) == expected


@pytest.mark.parametrize("row", [*SPELLINGS.values(), DEFAULT])
def test_rows_hold_admissible_spellings(row: Spelling) -> None:
    assert set(row._fields) == SLOTS.keys()
    assert all(getattr(row, slot) in admissible for slot, admissible in SLOTS.items())


def test_every_combination_is_a_candidate() -> None:
    count = 1
    for admissible in SLOTS.values():
        count *= len(admissible)
    found = list(combinations(SLOTS))
    assert len(found) == len({tuple(getattr(each, slot) for slot in SLOTS) for each in found}) == count
    assert DEFAULT in found


@pytest.mark.parametrize("encoding", SPELLINGS)
def test_no_combination_beats_the_shipped_row(encoding: str) -> None:
    count = exact(encoding).count
    corpus = [sample(60)]
    shipped = total(corpus, SPELLINGS[encoding], encoding, count)
    found = best(corpus, encoding, count)
    assert found[0].tokens == shipped, f"{found[0].spelling} takes {found[0].tokens} tokens, the shipped row {shipped}"
    assert shipped <= total(corpus, DEFAULT, encoding, count), "class R"
    assert found[-1].tokens > shipped, "the candidates differ at all"


@pytest.mark.parametrize(
    ("shorter", "longer"),
    [
        pytest.param("dflt", "default", id="an abbreviation"),
        pytest.param("[opt]", "(optional)", id="a mark in brackets"),
        pytest.param("(open|closed|all)", "( open closed all )", id="marks without blanks"),
    ],
)
def test_a_shorter_text_may_cost_more(shorter: str, longer: str) -> None:
    count = exact("o200k_base").count
    assert len(shorter) < len(longer)
    assert count(shorter) > count(longer)


def test_a_delimiter_alone_says_nothing() -> None:
    count = exact("o200k_base").count
    assert count("|") == count(" ") == 1
    assert count("(open|closed|all)") > count("(open closed all)")
