"""The sentences for the model: what they say, and how long they may be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.decode_samples import resolved, surface, tool
from tscg.calls import CallError, Fault, show_path
from tscg.messages import TOKEN_LIMIT, fault_line, message
from tscg.resolve import resolve
from tscg.tokenizers import tokenizer_of

ISSUE = tool(
    {
        "owner": {"type": "string"},
        "repo": {"type": "string"},
        "title": {"type": "string"},
        "labels": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "color": {"type": "string"}},
                "required": ["name"],
            },
        },
        "state": {"type": "string", "enum": ["open", "closed"]},
    },
    "create_issue",
    required=["owner", "repo", "title"],
)


def refused(name: str, arguments: Any, tools: list[dict[str, Any]] | None = None) -> CallError:
    item = resolve(surface(tools), name, arguments)
    assert isinstance(item, CallError), item
    return item


def test_all_faults_at_once_and_the_signature_once() -> None:
    given = {
        "owner": "o",
        "repo": "r",
        "name": "t",
        "labels": [{"name": "a"}, {"name": "b", "color": 3}],
        "state": "opened",
    }
    error = refused("create_issue", given, [ISSUE])
    lines = error.message.split("\n")
    assert lines[:4] == [
        "create_issue: 3 problems, nothing was run.",
        '- title: required, missing. You sent "name": if that is meant, call it "title".',
        "- labels[1].color: expected a string, got 3.",
        '- state: "opened" is not one of open, closed. Nearest: open.',
    ]
    assert lines[4].startswith("create_issue(owner")
    assert lines[-1] == "Send the corrected call."
    assert (error.kind, error.path) == ("missing_required", ("title",))


def test_several_missing_names_are_one_line() -> None:
    error = refused("create_issue", {"owner": "o"}, [ISSUE])
    assert "- repo, title: required, missing." in error.message


@pytest.mark.parametrize(
    ("fault", "line"),
    [
        (Fault(kind="truncated", hint="Send less."), "- the output ended before the call was complete. Send less."),
        (Fault(kind="unknown_tool", found='"x"', hint="Near names: y."), '- there is no tool "x". Near names: y.'),
        (
            Fault(kind="ambiguous_tool", found='"x"', expected="a, b"),
            '- "x" may be several tools. Use one of these names: a, b.',
        ),
        (Fault(kind="minimum", path=("a", 0), expected="at least 1", found="0"), "- a[0]: expected at least 1, got 0."),
        (Fault(kind="missing_required", path=("o", "k"), expected="k"), "- o.k: required, missing."),
        (
            Fault(kind="missing_required", path=("b",), expected="b", found="because a is given"),
            "- b: required, missing because a is given.",
        ),
        (Fault(kind="duplicate_key", path=("a",), found='"a"'), '- a: the key "a" is given twice.'),
    ],
)
def test_lines(fault: Fault, line: str) -> None:
    assert fault_line(fault) == line


def test_paths() -> None:
    assert show_path(("a", 0, "b c", "$top", "")) == 'a[0]["b c"].$top[""]'


def test_markers_of_dialects_never_stand_in_a_message() -> None:
    for text in (
        "<tool_call>",
        "</tool_call>",
        "[TOOL_CALLS]",
        "<|channel|>",
        "<think>",
        "\nAction: x\nAction Input: {}",
    ):
        error = refused("create_issue", {"owner": 1, "repo": text, "title": "t", "state": text}, [ISSUE])
        assert text not in error.message
        assert text not in refused(text, {}).message


HOSTILE: list[Any] = [
    {f"key_{i}" * 9: i for i in range(200)},
    {"owner": "x" * 100_000, "repo": 1, "title": 2},
    {"owner": ["é漢字" * 50] * 50, "repo": {"k" * 90: "v" * 900}, "title": None},
    {"labels": [{"name": i} for i in range(500)]},
    {"state": "a1B2c3" * 40, "owner": "\u202e" * 500, "repo": "🙂" * 200, "title": 1},
]


@pytest.mark.parametrize("given", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("closed", [True, False])
def test_messages_stay_short(given: Any, closed: bool) -> None:
    raw = {**ISSUE, "inputSchema": {**ISSUE["inputSchema"], "additionalProperties": not closed}}
    error = refused("create_issue", given, [raw])
    assert tokenizer_of("o200k_base").count(error.message) <= TOKEN_LIMIT
    assert "Traceback" not in error.message
    assert all(len(fault.found) <= 80 for fault in error.faults)


def test_a_long_signature_is_cut_to_what_matters() -> None:
    many = tool({f"option_number_{i}": {"type": "string"} for i in range(80)}, "wide", required=["option_number_3"])
    error = refused("wide", {"option_number_9": 1}, [many])
    last = error.message.split("\n")[-2]
    assert last.startswith("wide(option_number_3 option_number_9?")
    assert "option_number_10" not in last


def test_names_are_quoted_and_cut() -> None:
    error = refused("no\nsuch " + "tool " * 100, {})
    assert error.message.count("\n") == 2
    assert len(error.message.split("\n")[0]) < 140


def test_more_faults_than_shown_are_counted() -> None:
    item = resolved({"a": {"type": "array", "items": {"type": "integer"}}}, {"a": [{}] * 60})
    assert isinstance(item, CallError)
    assert len(item.faults) == 60
    shown = [line for line in item.message.split("\n") if line.startswith("- a[")]
    assert 5 <= len(shown) <= 20
    assert f"- and {60 - len(shown)} more." in item.message


def test_a_message_can_be_made_without_a_tool() -> None:
    assert message("x", [Fault(kind="unknown_tool", found='"x"')]).startswith("x: 1 problem, nothing was run.")
