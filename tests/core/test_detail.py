"""Detail: whole sentences stay or go; policy stays in balanced and brief; what is hidden is known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tscg import compile
from tscg.operators import detail
from tscg.operators.detail import KEEP, LONGEST, policy_hidden, select
from tscg.prose.classify import Of, Rank, outline
from tscg.prose.gloss import gloss, tells
from tscg.prose.policy import POLICY
from tscg.trace import hidden_of

TOOL = (
    "Delete an order of the shop. It is used by the web shop. Cannot be undone. For example, an old order.\n"
    "Use it when an order is old.\nImportant:\n- ask the user first\n- two at a time"
)
PARAMETER = (
    "Key of the order to delete from the shop. Keys have a history. E.g. 'A-17'. At most 8 characters. Never guess it."
)

LONG = "Lists " + "names, " * 200 + "sizes."

SELECTED: dict[str, tuple[str, Of, str, str]] = {
    "tool-balanced": (
        TOOL, "tool", "balanced",
        "Delete an order of the shop. Cannot be undone.\nImportant:\n- ask the user first\n- two at a time",
    ),
    "tool-brief": (TOOL, "tool", "brief", "Delete an order of the shop. Cannot be undone.\n- ask the user first"),
    "tool-brief-heading-forbids": (
        "Saves it.\nDo not use when:\n- it is full", "tool", "brief", "Saves it.\nDo not use when:\n- it is full",
    ),
    "tool-brief-warning": (
        "Saves it.\n> [!WARNING]\n> It is slow.", "tool", "brief", "Saves it.\n> It is slow.",
    ),
    "tool-brief-stress": ("Saves it. Important: it is slow. IMPORTANT: never stop it.", "tool", "brief",
        "Saves it. IMPORTANT: never stop it."),
    "tool-title": (
        "Attach a configuration to all repositories of a team\nAttaches a configuration. It is quick.", "tool", "balanced",
        "Attach a configuration to all repositories of a team",
    ),
    "tool-signature": (TOOL, "tool", "signature", "Delete an order of the shop."),
    "tool-purpose-is-policy": ("Never call it. Sends mail.", "tool", "signature", "Never call it."),
    "tool-long-purpose": (LONG + " It is slow.", "tool", "brief", LONG),
    "tool-heading": ("# Orders\nLists orders. It is quick.", "tool", "brief", "Lists orders."),
    "tool-callout": ("> [!NOTE]\n> In preview.\nLists orders.", "tool", "balanced", "Lists orders."),
    "parameter-balanced": (
        PARAMETER, "parameter", "balanced",
        "Key of the order to delete from the shop. E.g. 'A-17'. At most 8 characters. Never guess it.",
    ),
    "parameter-brief": (PARAMETER, "parameter", "brief", "Never guess it."),
    "parameter-signature": (PARAMETER, "parameter", "signature", ""),
    "other-balanced": (
        PARAMETER, "other", "balanced",
        "Key of the order to delete from the shop. E.g. 'A-17'. At most 8 characters. Never guess it.",
    ),
    "other-brief": (PARAMETER, "other", "brief", "Never guess it."),
    "restated": ("The key.", "parameter", "balanced", ""),
    "optional-first": (
        "Optional. Where the file is saved on disk.", "parameter", "balanced", "Where the file is saved on disk.",
    ),
    "empty": ("", "tool", "balanced", ""),
    "tool-lines": ("Lists orders.\n\nReturns:\n- a list\n- a count", "tool", "balanced", "Lists orders."),
    "tool-lines-wrapped": (
        "Lists all of the orders that were made in the\nshop. It is quick.", "tool", "balanced",
        "Lists all of the orders that were made in the\nshop.",
    ),
    "tool-lines-marked-heading": (
        "Lists orders.\n# Rules__\n- it is slow", "tool", "balanced", "Lists orders.\n# Rules__\n- it is slow",
    ),
    "tool-sentences": ("Lists orders. It is slow. It is new.", "tool", "balanced", "Lists orders."),
}  # fmt: skip


def test_what_is_shortened_is_not_hidden() -> None:
    text = "A very simple way to list things in order to see. Second one stays. Third one stays."
    assert compile([{"name": "a", "description": text}], profile="conservative").stats.hidden.sentences == 0


def test_a_note_that_goes_shifts_no_other() -> None:
    said = {"type": "object", "properties": {"id": {"type": "string", "description": "The id."}}}
    more = {"type": "object", "properties": {"id": {"type": "string", "description": "Shelf, never a box."}}}
    tool = {"name": "a", "inputSchema": {"type": "object", "properties": {"x": said, "y": more}}}
    assert hidden_of(compile([tool], profile="brief")) == {"a": ("The id.",)}


@pytest.mark.parametrize(("text", "of", "profile", "shown"), SELECTED.values(), ids=SELECTED)
def test_select(text: str, of: Of, profile: str, shown: str) -> None:
    assert select(text, of, KEEP[profile], name="key", says=("str",)) == shown


@pytest.mark.parametrize(
    ("text", "name", "shown"),
    [
        ("The owner of the repository.", "owner", ""),
        ("Repository owner", "owner", ""),
        ("Folder for screenshots and recorded videos of the run", "output", ""),
        ("Folder for screenshots and recorded videos of the run", "o", "Folder for screenshots and recorded videos"),
        ("The folder for it, at last. Never a file.", "o", "Never a file."),
        ("Folder for screenshots and videos. Never a file.", "o", "Folder for screenshots and videos. Never a file."),
        ("Folder for screenshots and videos. Never a file.", "folder", "Never a file."),
        ("IMPORTANT: the slow one.", "folder", ""),
        ("Directory for screenshots and videos, unless one is configured", "x", ""),
    ],
)
def test_gloss_of_a_parameter_in_brief(text: str, name: str, shown: str) -> None:
    assert select(text, "parameter", KEEP["brief"], name=name, says=("str",)) == shown


@pytest.mark.parametrize(
    ("sentence", "most", "expected"),
    [
        ("The branch to merge into, which must exist", 8, "branch to merge into"),
        ("(Optional) A page of results", 8, "page of results"),
        ("Words " * 12, 8, ""),
        ("Number of results to skip before the first one is returned", 5, "Number of results"),
        ("Sorts names, except those of users", 8, ""),
        ("Use `a", 8, ""),
        ("Ref (a branch or tag)", 8, "Ref"),
        ("Name: the login", 8, "Name"),
        ("Time 10:30 of a day", 8, "Time 10:30 of a day"),
    ],
)
def test_gloss(sentence: str, most: int, expected: str) -> None:
    assert gloss(sentence, most) == expected


@pytest.mark.parametrize(
    ("sentence", "name", "says", "news", "expected"),
    [
        ("Repository owner", "owner", ("repository",), 1, False),
        ("Repository owner", "owner", (), 1, True),
        ("Repository owner", "owner", ("repo",), 1, False),
        ("Page number", "page", ("int",), 1, False),
        ("The pull request's number", "pullNumber", ("pull_request_read",), 1, False),
        ("Cities to leave out", "exclude", (), 2, True),
        ("Anything", "x", (), 0, True),
        ("", "x", (), 1, False),
    ],
)
def test_tells(sentence: str, name: str, says: tuple[str, ...], news: int, expected: bool) -> None:
    assert tells(sentence, name, says, news) is expected


def test_hidden_and_policy_hidden() -> None:
    tool = {"name": "a", "description": TOOL}
    assert hidden_of(compile([tool], profile="balanced")) == {
        "a": ("It is used by the web shop.", "For example, an old order.", "Use it when an order is old.")
    }
    assert hidden_of(compile([tool], profile="lossless")) == {}
    assert len(hidden_of(compile([tool], mode="dispatch"))["a"]) == len(outline(TOOL, "tool"))
    assert policy_hidden(TOOL, "tool", KEEP["balanced"]) == ()
    assert policy_hidden(TOOL, "tool", KEEP["signature"]) == (
        "Cannot be undone.",
        "Important:",
        "- ask the user first",
        "- two at a time",
    )


WORDS = st.sampled_from(
    [*"lists orders of the shop Note: e.g. 'a' Examples: - 1. # > up to 8".split(), *POLICY, "\n", ". ", "\n- "]
)
TEXTS = st.one_of(st.lists(WORDS, max_size=40).map(" ".join), st.text())
KINDS: st.SearchStrategy[Of] = st.sampled_from(["tool", "parameter", "other"])


@given(TEXTS, KINDS, st.sampled_from(["balanced", "signature"]))
def test_shown_is_sentences_of_the_text_in_their_order(text: str, of: Of, profile: str) -> None:
    left = {
        select(text, of, KEEP[profile], name="key").strip()
    }  # what may be left to find; a dash begins many sentences
    for each in outline(text, of):
        said = each.text.strip()
        left |= {rest[len(said) :].lstrip() for rest in left if rest.startswith(said)}
    assert "" in left


@given(TEXTS, KINDS, st.sampled_from(["balanced", "brief"]))
def test_policy_is_kept(text: str, of: Of, profile: str) -> None:
    shown = select(text, of, KEEP[profile], name="key")
    for each in outline(text, of):
        if each.rank is Rank.POLICY and (each.binds or profile == "balanced"):
            assert each.text.strip() in shown
    assert policy_hidden(text, of, KEEP[profile]) == ()


LINES = st.lists(
    st.sampled_from(
        "Lists orders. It is slow. Never must must_ # Orders\n # Rules__\n Rules_ Important:\n Rules:\n > [!WARNING]\n "
        "Note: Parameters:\n - - \n \n \n \n name: Optional. ! ? 。 “a” 必须 Lists\n wrapped in the\n".split(" ")
    ),
    max_size=16,
).map(" ".join)


@given(st.one_of(LINES, LINES.map(lambda text: text.replace("\n ", "\n")), TEXTS), KINDS, st.sampled_from([*KEEP]))
def test_a_text_without_a_word_of_policy_is_told_at_a_glance(text: str, of: Of, profile: str) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr(detail, "_never_binds", lambda _: False)
        thorough = select(text, of, KEEP[profile], name="key")
    assert select(text, of, KEEP[profile], name="key") == thorough


@given(TEXTS, KINDS)
def test_profiles_show_less_and_less(text: str, of: Of) -> None:
    sizes = [len(select(text, of, KEEP[profile], name="key")) for profile in ("balanced", "brief", "signature")]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] <= len(text)


def test_share_of_prose_shown_of_real_catalogs(shared_catalogs: dict[str, list[dict[str, Any]]]) -> None:
    whole = {"balanced": 0, "brief": 0, "signature": 0}
    total = 0
    for tools in shared_catalogs.values():
        for tool in tools:
            text = tool.get("function", tool).get("description") or ""
            total += len(text)
            for profile in whole:
                whole[profile] += len(select(text, "tool", KEEP[profile]))
    assert whole["balanced"] < 0.4 * total
    assert whole["brief"] <= whole["balanced"]
    assert whole["signature"] < 0.2 * total


@pytest.mark.parametrize("profile", ["balanced", "brief"])
@pytest.mark.parametrize("text", ["\ud800", "x\udfff", "Size \ud83d of it.", "🎉", "列出"], ids=ascii)
def test_what_is_no_known_word_tells_something(text: str, profile: str) -> None:
    assert select(text, "tool", KEEP[profile]) == text
    assert select(text, "parameter", KEEP["balanced"], name="key") == text


def test_text_that_is_too_long_to_be_prose_is_shown_whole() -> None:
    text = "Lists it. " + "It is used by the shop. " * 4_000
    assert len(text) > LONGEST
    assert select(text, "tool", KEEP["balanced"]) == text
    assert select(text, "tool", KEEP["signature"]) == "Lists it."
