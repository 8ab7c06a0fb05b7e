"""DRO: what the schema says goes, what it does not say stays word for word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tscg.ir import Array, Boolean, Enum, Integer, Node, Note, Null, Number, Object, String, Union
from tscg.operators import dro
from tscg.operators.dro import ABSENT, Facts, restructure
from tscg.operators.prose import _structured, facts
from tscg.prose.policy import is_policy, words_of
from tscg.prose.sentences import split

STRING = Facts(types=("string",))
STRINGS = Facts(types=("array",), item_types=("string",))
FLAG = Facts(types=("boolean",), default=False)
OPTIONAL = Facts(types=("string",), required=False)
REQUIRED = Facts(types=("string",), required=True)
STATE = Facts(types=("string",), enum=("open", "closed", "all"), default="open")
SIZE = Facts(types=("integer",), default=30, minimum=1, maximum=100)
WHEN = Facts(types=("string",), format="date-time")
CODE = Facts(types=("string",), min_length=2, max_length=64)
TAGS = Facts(types=("array",), item_types=("string",), min_items=1, max_items=10)
LEVEL = Facts(types=("integer",), enum=(1, 2, 3))

TOLD: dict[str, tuple[str, Facts, str]] = {
    "optional-bracket": ("Owner (optional)", OPTIONAL, "Owner"),
    "optional-bracket-first": ("(Optional) Owner of it", OPTIONAL, "Owner of it"),
    "optional-sentence": ("Optional. Owner of it.", OPTIONAL, "Owner of it."),
    "optional-colon": ("Optional: owner of it.", OPTIONAL, "owner of it."),
    "optional-last": ("Owner of it. Optional.", OPTIONAL, "Owner of it."),
    "optional-tail": ("Owner of it, optional", OPTIONAL, "Owner of it"),
    "optional-part": ("Owner (optional, a login)", OPTIONAL, "Owner (a login)"),
    "required-bracket": ("Owner (required)", REQUIRED, "Owner"),
    "required-sentence": ("Required. Owner of it.", REQUIRED, "Owner of it."),
    "type": ("Owner (string)", STRING, "Owner"),
    "type-and-optional": ("Owner (string, optional)", OPTIONAL, "Owner"),
    "type-nullable": ("Owner (string)", Facts(types=("string", "null")), "Owner"),
    "type-integer": ("Size (number)", SIZE, "Size"),
    "type-array": ("Names (array of strings)", STRINGS, "Names"),
    "type-array-tail": ("Names as an array of strings.", STRINGS, "Names."),
    "array-lead": ("Array of names to read", STRINGS, "names to read"),
    "list-lead": ("A list of names", STRINGS, "names"),
    "boolean-lead": ("Boolean indicating whether it is open", FLAG, "whether it is open"),
    "format": ("When it ends (ISO 8601)", WHEN, "When it ends"),
    "format-tail": ("When it ends, in ISO 8601 format.", WHEN, "When it ends."),
    "default-bracket": ("State (default: open)", STATE, "State"),
    "default-quoted": ("State. Defaults to 'open'.", STATE, "State."),
    "default-code": ("State. Default is `open`.", STATE, "State."),
    "default-number": ("Size. Default: 30", SIZE, "Size."),
    "default-false": ("Forces it. Defaults to false.", FLAG, "Forces it."),
    "default-tail": ("Page size, defaults to 30", SIZE, "Page size"),
    "default-null": ("State (default: null)", Facts(default=None), "State"),
    "range": ("Size (1-100)", SIZE, "Size"),
    "range-words": ("Size. Between 1 and 100.", SIZE, "Size."),
    "range-tail": ("Size between 1 and 100", SIZE, "Size"),
    "bounds": ("Size (min 1, max 100)", SIZE, "Size"),
    "bounds-default": ("Size (default 30, min: 1, maximum 100)", SIZE, "Size"),
    "bounds-part": ("Size (default 20, max 100)", SIZE, "Size (default 20)"),
    "bounds-sentence": ("Size. Maximum: 100.", SIZE, "Size."),
    "length": ("Code (max 64 characters)", CODE, "Code"),
    "length-range": ("Code (2-64 characters)", CODE, "Code"),
    "items": ("Tags (up to 10 items)", TAGS, "Tags"),
    "items-bold": ("Tags. **Maximum items**: 10.", TAGS, "Tags."),
    "enum-sentence": ("State. One of: open, closed, all.", STATE, "State."),
    "enum-whole": ("One of: open, closed, all.", STATE, ""),
    "enum-order": ("State. Can be one of `all`, `open` or `closed`.", STATE, "State."),
    "enum-bracket": ("State (open, closed, or all)", STATE, "State"),
    "enum-bars": ("State (open|closed|all)", STATE, "State"),
    "enum-numbers": ("Level. Allowed values: 1, 2, 3.", LEVEL, "Level."),
    "enum-one-sentence-of-two": ("State (open, closed, all). Never all.", STATE, "State. Never all."),
    "enum-ends-with-a-joint": ("State (open, closed, all,or `)", STATE, "State"),
    "enum-ends-with-a-tab": ("State (open, closed, all\t)", STATE, "State"),
    "enum-intro-with-two-colons": (
        "State. Values: one of: open, closed, all.",
        Facts(enum=("one of: open", "closed", "all")),
        "State.",
    ),
    "optional-emphasis": ("Owner (**optional** field)", OPTIONAL, "Owner"),
    "optional-emphasis-inside": ("Owner (optional f**ield**)", OPTIONAL, "Owner"),
    "optional-parameter": ("Owner, this is optional parameter", OPTIONAL, "Owner"),
    "optional-capitals": ("OPTIONAL: owner (string)", OPTIONAL, "owner"),
    "array-capitals": ("AN ARRAY OF names (array)", STRINGS, "names"),
    "brackets-side-by-side": ("Owner (string)(a login)(optional)", OPTIONAL, "Owner(a login)"),
    "bracket-first": ("(string) owner (optional) of it", OPTIONAL, "owner of it"),
    "range-dash": ("Size (1–100)", SIZE, "Size"),
    "negative-range": ("Size (-10 to -1)", Facts(minimum=-10, maximum=-1), "Size"),
}


@pytest.mark.parametrize(("text", "facts", "left"), TOLD.values(), ids=TOLD)
def test_what_the_schema_says_goes(text: str, facts: Facts, left: str) -> None:
    assert restructure(text, facts) == left


@pytest.mark.parametrize("text", [text for text, _, _ in TOLD.values()], ids=list(TOLD))
def test_without_the_facts_all_stays(text: str) -> None:
    assert restructure(text, Facts()) == text


STAYS: dict[str, tuple[str, Facts]] = {
    "optional-though-required": ("Owner (optional)", REQUIRED),
    "required-though-optional": ("Owner (required)", OPTIONAL),
    "required-when": ("Owner (required for teams)", REQUIRED),
    "optional-not-known": ("Owner (optional)", STRING),
    "optional-kind": ("Optional filters to use", OPTIONAL),
    "other-default": ("State (default: closed)", STATE),
    "default-with-reason": ("Size. Defaults to 30 for admins.", SIZE),
    "default-text-of-number": ("Size (default: 30)", Facts(types=("string",), default="3")),
    "default-true": ("Forces it. Defaults to true.", FLAG),
    "default-case": ("State (default: Open)", STATE),
    "default-number-no-bool": ("Flag (default: 1)", Facts(default=True)),
    "by-default": ("By default all are shown.", STATE),
    "other-range": ("Size (1-50)", SIZE),
    "half-range": ("Size (1-100)", Facts(types=("integer",), minimum=1)),
    "other-maximum": ("Size (max 99)", SIZE),
    "unit": ("Size (max 100 MB)", SIZE),
    "length-of-number": ("Size (max 100 characters)", SIZE),
    "year": ("Budget (2020-2024)", SIZE),
    "partial-enum": ("State. One of: open, closed.", STATE),
    "wider-enum": ("State. One of: open, closed, all, new.", STATE),
    "explained-enum": ("State. One of: open (new), closed, all.", STATE),
    "example-of-enum": ("State, e.g. open", STATE),
    "other-type": ("Size (string)", SIZE),
    "type-of-union": ("Size (string)", Facts(types=("string", "integer"))),
    "other-items": ("Names (array of numbers)", STRINGS),
    "list-in-text": ("Comma-separated list of names", STRING),
    "array-of-string-type": ("Array of names", STRING),
    "format-not-said": ("When it ends (ISO 8601)", STRING),
    "format-template": ("When it ends (YYYY-MM-DD)", WHEN),
    "policy": ("Never pass it (optional)", OPTIONAL),
    "must": ("Must be one of: open, closed, all.", STATE),
    "nested-key": ("Objects.\n- name (required): the name\n- size (optional): the size", REQUIRED),
    "nested-line": ("Objects.\nname (optional): the name", OPTIONAL),
    "quoted": ("Say 'a (optional' b", OPTIONAL),
    "optional-words": ("Optional filter, required for all (a login).", OPTIONAL),
    "empty-part": ("Owner (optional,) of it", Facts(types=("string",))),
    "range-from": ("Size. From 1 up to 100.", SIZE),
    "list-inside": ("Specific list of names (a few)", STRINGS),
}


@pytest.mark.parametrize(("text", "facts"), STAYS.values(), ids=STAYS)
def test_what_the_schema_does_not_say_stays(text: str, facts: Facts) -> None:
    assert restructure(text, facts) == text


VALUES = st.sampled_from([ABSENT, None, True, False, 1, 30, 0.5, "open", ""])
NUMBERS = st.sampled_from([None, 1, 10, 100])
FACTS = st.builds(
    Facts,
    types=st.sampled_from([(), ("string",), ("integer",), ("array",), ("boolean",), ("string", "null")]),
    item_types=st.sampled_from([(), ("string",)]),
    enum=st.sampled_from([None, ("open", "closed"), (1, 2)]),
    default=VALUES,
    minimum=NUMBERS,
    maximum=NUMBERS,
    max_length=NUMBERS,
    max_items=NUMBERS,
    required=st.sampled_from([None, True, False]),
    format=st.sampled_from([None, "date-time", "uri"]),
)
WORDS = st.sampled_from(
    "Size Owner of the ( ) (optional) (required) Optional. default: Defaults to open closed 1 30 100 max min and "
    "between One of: , . - array list strings (string) must never ISO 8601 format characters : ; (default: 30) "
    "(1-100) `open` 'open' or | / \n".split(" ")
)


@given(st.lists(WORDS, max_size=14).map(" ".join), FACTS)
def test_restructure_only_takes_out(text: str, facts: Facts) -> None:
    left = restructure(text, facts)
    rest = iter(text)
    assert all(char in rest for char in left), "what is left is not in the text, in its order"
    assert restructure(left, facts) == left


@given(st.lists(WORDS, max_size=14).map(" ".join), FACTS)
def test_policy_stays_word_for_word(text: str, facts: Facts) -> None:
    left = restructure(text, facts)
    for piece in split(text):
        if is_policy(piece.lower(), words_of(piece.lower())):
            assert piece.strip() in left


@given(st.text(), FACTS)
def test_any_text(text: str, facts: Facts) -> None:
    assert len(restructure(text, facts)) <= len(text)


@given(st.lists(WORDS, max_size=14).map(" ".join))
def test_nothing_goes_without_facts(text: str) -> None:
    assert restructure(text, Facts()) == text


PHRASES = st.sampled_from(
    "Size, Owner the ( ) (optional) (required) Optional Optional: OPTIONAL: optional, required; optional- default: open "
    "closed 1 30 100 max min at least up to and between from – - .. array Array of AN list lists string strings string[] "
    "number numbers boolean BOOLEAN indicating **optional** p**arameter parameter field this is as a an ISO 8601 "
    "characters items : ; , . _ * ** (default: (1-100) 'open' or | / \n never [] İ ſ K".split(" ")
)
PHRASED = st.lists(PHRASES, max_size=14).map(" ".join)


def _thoroughly(text: str, given: Facts, monkeypatch: pytest.MonkeyPatch) -> str:
    """DRO without its tests at a glance."""
    with monkeypatch.context() as patched:
        patched.setattr(dro, "_may_tell", lambda *_: True)
        patched.setattr(dro, "_lists_all", lambda *_: True)
        patched.setattr(dro, "_OPENINGS", "")
        return restructure(text, given)


@given(PHRASED, FACTS)
def test_tests_at_a_glance_change_nothing(text: str, given: Facts) -> None:
    with pytest.MonkeyPatch.context() as monkeypatch:
        assert restructure(text, given) == _thoroughly(text, given, monkeypatch)


@given(PHRASED.filter(lambda text: "(" not in text), st.sampled_from([None, True, False]))
def test_a_text_that_is_not_structured_needs_no_facts(text: str, required: bool | None) -> None:
    node = String(note=Note(description=text))
    if not _structured(text, node, node.note, required):
        assert restructure(text, facts(node, required)) == text


def test_what_is_remembered_is_told_apart_by_its_facts() -> None:
    assert restructure("Size (max 100)", Facts(types=("integer",), maximum=100)) == "Size"
    assert restructure("Size (max 100)", Facts(types=("integer",), maximum=99)) == "Size (max 100)"
    assert restructure("Flag (default: true)", Facts(default=1)) == "Flag (default: true)"
    assert restructure("Flag (default: true)", Facts(default=True)) == "Flag"
    assert restructure("Flag (default: true)", Facts(default=1)) == "Flag (default: true)"


@pytest.mark.parametrize(
    ("node", "expected"),
    [
        (String(), Facts(types=("string",))),
        (String(note=Note(default='"a"')), Facts(types=("string",), default="a")),
        (String(note=Note(default="null")), Facts(types=("string",), default=None)),
        (String(min_length=1, max_length=9), Facts(types=("string",), min_length=1, max_length=9)),
        (String(format="date"), Facts(types=("string",), format="date")),
        (Integer(low=1, high=9), Facts(types=("integer",), minimum=1, maximum=9)),
        (Number(low=1, low_open=True), Facts(types=("number",))),
        (Boolean(), Facts(types=("boolean",))),
        (Enum(values=('"a"', "1")), Facts(types=("string",), enum=("a", 1))),
        (Array(items=String(), max_items=3), Facts(types=("array",), item_types=("string",), max_items=3)),
        (Array(), Facts(types=("array",))),
        (Object(), Facts(types=("object",))),
        (Union(branches=(String(format="date"), Null())), Facts(types=("string",), format="date")),
        (Union(branches=(String(), Integer())), Facts(types=("string", "integer"))),
    ],
    ids=repr,
)
def test_facts_of_a_node(node: Node, expected: Facts) -> None:
    assert facts(node, None) == expected
    assert facts(node, True) == Facts(**{**expected.__dict__, "required": True})
