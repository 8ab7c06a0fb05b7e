"""What a text says beside a name: the quick answers agree with the thorough ones."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tscg.prose.gloss import fresh, says_more, spoken, words_of

WORDS = st.lists(
    st.sampled_from(
        "owner owners repo repository repositories pr pull the of id ids using filtered filter names key keyed s".split()
    ),
    max_size=6,
)
NAMES = st.lists(st.sampled_from(["owner", "_", "__", "Request", "HTML", "x9", "é", "7", "-", " "]), max_size=5)


@given(WORDS, WORDS)
def test_a_text_says_more_where_it_has_a_fresh_word(words: list[str], names: list[str]) -> None:
    said = "".join(f" {name}" for name in names)
    assert bool(fresh(tuple(words), said)) == says_more(tuple(words), said, 1, strict=False)


@given(NAMES.map("".join))
def test_a_name_is_spoken_word_by_word(name: str) -> None:
    assert spoken(name) == "".join(f" {word}" for word in words_of(name))
