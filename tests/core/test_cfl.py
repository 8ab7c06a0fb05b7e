"""CFL: policy sentences in front, each sentence once, nothing torn apart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tscg.ir import Catalog
from tscg.models import ROWS, ModelRow, row_of
from tscg.operators import cfl
from tscg.prose.classify import Rank, ranks
from tscg.prose.sentences import split
from tscg.prose_form import normalise
from tscg.tokenizers import Encoding


def lead(text: str) -> str:
    return cfl.lead(text, ranks(text, "tool"))


def test_class_is_declared() -> None:
    assert cfl.CLASS == "S"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("", "", id="empty"),
        pytest.param("Deletes a file.", "Deletes a file.", id="no policy"),
        pytest.param("Never call it twice.", "Never call it twice.", id="policy alone"),
        pytest.param(
            "Deletes a file. Never call it twice.", "Never call it twice. Deletes a file.", id="behind the purpose"
        ),
        pytest.param(
            "Deletes a file. Fast. You must ask the user. Slow on disks. Only for admins.",
            "You must ask the user. Only for admins. Deletes a file. Fast. Slow on disks.",
            id="in their order",
        ),
        pytest.param(
            "Sends mail. Fast. It cannot be undone.",
            "Fast. It cannot be undone. Sends mail.",
            id="with the sentence it leans on",
        ),
        pytest.param("Sends mail. Otherwise never.", "Sends mail. Otherwise never.", id="leans on the first"),
        pytest.param(
            "Sends mail. This tool must not be called twice.",
            "This tool must not be called twice. Sends mail.",
            id="this tool stands alone",
        ),
        pytest.param(
            "Sends mail\nSends one mail to each.\nYou must ask the user.",
            "You must ask the user.\nSends mail\nSends one mail to each.",
            id="a title keeps its line",
        ),
        pytest.param(
            "Sends mail. Never twice.\nRules:\n- must be short\n- only text",
            "Never twice. Sends mail.\nRules:\n- must be short\n- only text",
            id="lists stay",
        ),
        pytest.param("Sends mail.\n# Rules\nNever twice.", "Sends mail.\n# Rules\nNever twice.", id="headings stay"),
        pytest.param("Sends mail.\n```\nnever()\n```", "Sends mail.\n```\nnever()\n```", id="code stays"),
        pytest.param("Sends mail, e.g. now. Never twice.", "Never twice. Sends mail, e.g. now.", id="abbreviations"),
    ],
)
def test_lead(text: str, expected: str) -> None:
    assert lead(text) == expected


def test_ranks_of_the_caller_decide() -> None:
    assert cfl.lead("One. Two.", (Rank.PURPOSE, Rank.POLICY)) == "Two. One."


def test_first_lifts_it_to_tools_and_leaves_the_rest() -> None:
    schema = {"type": "object", "properties": {"x": {"type": "string", "description": "Name. Never empty."}}}
    given_ = [{"name": "a", "description": "Drops it. Never call it twice.", "inputSchema": schema}, {"name": "b"}]
    catalog = Catalog.from_tools(given_)
    found = cfl.first(catalog)
    assert found[0].description == "Never call it twice. Drops it."
    assert found[0].params[0].description == "Name. Never empty."
    assert found[0].schema == schema
    assert found[1] is catalog[1]
    assert catalog[0].description == "Drops it. Never call it twice.", "the input is not changed"


PIECES = st.lists(
    st.sampled_from(
        [
            "Sends mail.",
            "Fast.",
            "Never call it twice.",
            "You must ask the user.",
            "It cannot be undone.",
            "See v1.2 e.g. here.",
            "A title without a stop",
            "Only for admins!",
            "- an item",
            "Rules:",
            "# Heading",
            "Это нельзя.",
            "if it fails, retry.",
        ]
    ),
    max_size=8,
)
TEXTS = st.tuples(PIECES, st.lists(st.sampled_from([" ", "\n"]), min_size=8, max_size=8)).map(
    lambda drawn: normalise("".join(piece + gap for piece, gap in zip(*drawn, strict=False)))
)


@given(TEXTS)
def test_laws(text: str) -> None:
    found = lead(text)
    assert sorted(found.split()) == sorted(text.split()), "the same words"
    assert lead(found) == found, "idempotent"
    assert normalise(found) == found, "normal form"


@given(TEXTS)
def test_every_sentence_stays_whole(text: str) -> None:
    found = lead(text)
    assert all(piece.strip() in found for piece in split(text))


def test_shared_catalogs_keep_their_sentences_and_tokens(shared_catalogs: dict[str, list[dict[str, Any]]]) -> None:
    tokenizer = Encoding(name="o200k_base")
    moved = 0
    for tools in shared_catalogs.values():
        catalog = Catalog.from_tools(tools)
        found = cfl.first(catalog)
        assert [tool.description for tool in cfl.first(found)] == [tool.description for tool in found]
        for before, after in zip(catalog, found, strict=True):
            if after.description == before.description:
                continue
            moved += 1
            assert sorted(after.description.split()) == sorted(before.description.split())
            if tokenizer.exact:
                # Where a line ends, a break may merge with the full stop before it: one token at most.
                change = tokenizer.count(f" {after.description}") - tokenizer.count(f" {before.description}")
                assert abs(change) <= 1, before.name
    assert moved > 100


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.family} {row.version}")
def test_answer_tag_only_where_the_row_asks(row: ModelRow) -> None:
    assert cfl.answer_tag(row) == (f"[ANSWER:{row.dialect}]" if row.answer_tag else "")


def test_answer_tag_of_models() -> None:
    assert cfl.answer_tag(row_of("claude-opus-4-7")) == "[ANSWER:tool_call]"
    assert cfl.answer_tag(row_of(None)) == ""
