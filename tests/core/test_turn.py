"""The rounds of a model call: what is handed over, what is asked again, and that each ends within its bounds."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tscg
from tscg import Again, CompiledCatalog, Final, Turn
from tscg.errors import ConfigError
from tscg.turns import EMPTY, LAST_LOOKUP, NOT_RUN, Step

TOOLS: list[dict[str, Any]] = [
    {
        "name": "get_issue",
        "description": "Reads an issue.",
        "inputSchema": {
            "type": "object",
            "properties": {"number": {"type": "integer", "minimum": 1}},
            "required": ["number"],
        },
    },
    {"name": "ping", "inputSchema": {"type": "object"}},
    {"name": "close_issue", "inputSchema": {"type": "object", "properties": {"number": {"type": "integer"}}}},
]
TEXT = tscg.compile(TOOLS, mode="text")
NATIVE = tscg.compile(TOOLS, mode="native")
DISPATCH = tscg.compile(TOOLS, mode="dispatch")


def native(*calls: tuple[str, str, Any], content: str | None = None) -> dict[str, Any]:
    """A message with native calls: id, name, and arguments as JSON text or a value."""
    made = [
        {
            "id": id,
            "type": "function",
            "function": {
                "name": name,
                "arguments": given if isinstance(given, str) else json.dumps(given, separators=(",", ":")),
            },
        }
        for id, name, given in calls
    ]
    return {"role": "assistant", "content": content, "tool_calls": made}


def text(*calls: tuple[str, Any]) -> str:
    return "".join(
        f'<tool_call>{{"name":"{name}","arguments":{json.dumps(given)}}}</tool_call>' for name, given in calls
    )


def take(compiled: CompiledCatalog, output: Any, turn: Turn | None = None, **options: Any) -> Step:
    return (turn or compiled.turn(**options)).take(compiled.decode(output), output)


def again(step: Step) -> Again:
    assert isinstance(step, Again)
    return step


def final(step: Step) -> Final:
    assert isinstance(step, Final)
    return step


# --- what is handed over ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compiled", "output"),
    [
        pytest.param(TEXT, text(("get_issue", {"number": 3})), id="text"),
        pytest.param(NATIVE, native(("a", "get_issue", {"number": 3})), id="native"),
        pytest.param(DISPATCH, native(("a", "call", {"tool": "get_issue", "args": {"number": 3}})), id="dispatch"),
    ],
)
def test_good_calls_are_final(compiled: CompiledCatalog, output: Any) -> None:
    step = final(take(compiled, output))
    assert [(call.name, call.arguments) for call in step.calls] == [("get_issue", {"number": 3})]
    assert (step.failure, step.errors, step.dropped) == ("", (), ())
    assert (step.turn.rounds, step.turn.repairs, step.turn.asked) == (1, 0, 0)


@pytest.mark.parametrize("compiled", [TEXT, NATIVE, DISPATCH], ids=lambda compiled: compiled.mode)
def test_text_is_final_and_an_empty_first_answer_stays_empty(compiled: CompiledCatalog) -> None:
    assert final(take(compiled, "All done.")).text == "All done."
    assert final(take(compiled, "")).failure == ""


def test_lookups_beside_calls_are_dropped_and_listed() -> None:
    output = native(("a", "lookup", {"tools": ["ping"]}), ("b", "call", {"tool": "ping", "args": {}}))
    step = final(take(DISPATCH, output))
    assert [call.id for call in step.calls] == ["b"]
    assert [item.id for item in step.dropped] == ["a"]
    assert step.turn.lookups == 1


def test_where_one_call_is_allowed_the_first_is_kept() -> None:
    output = native(("a", "ping", {}), ("b", "get_issue", {"number": 1}))
    step = final(take(NATIVE, output, parallel=False))
    assert [call.id for call in step.calls] == ["a"]
    assert [item.id for item in step.dropped] == ["b"]
    one = tscg.compile(TOOLS, mode="native", parallel=False)
    assert len(final(take(one, output)).calls) == 1


# --- another round ---------------------------------------------------------------------------------------------------

BAD = native(("a", "get_issue", {"number": 0}), ("b", "ping", {}), content="Two things.")


def test_an_error_is_answered_with_every_call_of_its_message() -> None:
    step = again(take(NATIVE, BAD))
    messages = step.messages
    assert [message["role"] for message in messages] == ["assistant", "tool", "tool"]
    assert messages[0]["content"] == "Two things."
    assert messages[0]["tool_calls"] == BAD["tool_calls"]
    assert [(reply.id, reply.name) for reply in step.replies] == [("a", "get_issue"), ("b", "ping")]
    assert step.replies[0].text == NATIVE.decode(BAD).errors[0].message
    assert step.replies[1].text == NOT_RUN
    assert (step.turn.repairs, step.turn.asked, step.turn.errors) == (1, 0, 1)


def test_in_text_all_answers_are_one_message() -> None:
    output = "Two.\n" + text(("get_issue", {"number": 0}), ("ping", {}))
    step = again(take(TEXT, output))
    said, answered = step.messages
    assert said == {"role": "assistant", "content": output}
    assert answered["role"] == "user"
    assert answered["content"].count("<tool_response>") == 2
    assert "at least 1" in answered["content"]
    assert NOT_RUN in answered["content"]
    assert (step.calls, step.replies) == ((), ())


@pytest.mark.parametrize(
    ("compiled", "name", "given", "put"),
    [
        pytest.param(NATIVE, "get_issue", '{"number":', {}, id="truncated"),
        pytest.param(NATIVE, "get_issue", "[1]", {}, id="no object"),
        pytest.param(NATIVE, "get_issue", '{"number": NaN}', {}, id="NaN"),
        pytest.param(NATIVE, "get_isue!", '{"number": 1}', {"number": 1}, id="unknown name"),
        pytest.param(DISPATCH, "call", '{"tool": "gone", "args": {}}', {"tool": "gone", "args": {}}, id="dispatch"),
        pytest.param(DISPATCH, "call", '{"tool": "get_issue", "args": {', {}, id="dispatch, truncated"),
    ],
)
def test_a_bad_call_goes_back_well_formed(compiled: CompiledCatalog, name: str, given: str, put: Any) -> None:
    output = native(("a", name, given))
    step = again(take(compiled, output))
    assert [(call.id, call.arguments) for call in step.calls] == [("a", put)]
    written = step.messages[0]["tool_calls"][0]["function"]
    assert json.loads(written["arguments"]) == put
    assert written["name"].replace("_", "").isalnum()
    assert (given[:9] in step.replies[0].text.replace("\\", "")) is (put == {})


def test_anthropic_blocks_go_back_under_their_ids() -> None:
    output = {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "Hm."},
            {"type": "tool_use", "id": "toolu_1", "name": "get_issue", "input": {"number": "many"}},
        ],
    }
    step = again(take(NATIVE, output))
    assert (step.text, step.calls[0].id, step.calls[0].arguments) == ("Hm.", "toolu_1", {"number": "many"})


def test_calls_without_ids_are_paired_by_their_place() -> None:
    parts = [
        {"functionCall": {"name": "get_issue", "args": {"number": 0}}},
        {"functionCall": {"name": "ping", "args": {}}},
    ]
    step = again(take(NATIVE, {"role": "model", "parts": parts}))
    assert [(call.name, call.arguments) for call in step.calls] == [("get_issue", {"number": 0}), ("ping", {})]
    assert [reply.id for reply in step.replies] == [call.id for call in step.calls]
    assert len({call.id for call in step.calls}) == 2


def test_repairs_used_up_hand_over_what_is_good() -> None:
    step = final(take(NATIVE, BAD, max_repairs=0))
    assert [call.id for call in step.calls] == ["b"]
    assert [error.id for error in step.errors] == ["a"]
    assert step.failure == ""


@pytest.mark.parametrize("compiled", [TEXT, NATIVE], ids=lambda compiled: compiled.mode)
def test_repairs_used_up_with_nothing_good_is_a_failure(compiled: CompiledCatalog) -> None:
    output = text(("get_issue", {})) if compiled is TEXT else native(("a", "get_issue", {}))
    turn = compiled.turn(max_repairs=1)
    turn = again(take(compiled, output, turn)).turn
    step = final(take(compiled, output, turn))
    assert step.failure == "no call of the model was valid after 1 repairs: get_issue (missing_required)"
    assert len(step.errors) == 1


def test_what_was_wrong_and_is_right_now_is_handed_over() -> None:
    turn = again(take(NATIVE, BAD)).turn
    step = final(take(NATIVE, native(("c", "get_issue", {"number": 1}), ("d", "ping", {})), turn))
    assert [call.name for call in step.calls] == ["get_issue", "ping"]
    assert (step.turn.rounds, step.turn.repairs) == (2, 1)


# --- lookups ---------------------------------------------------------------------------------------------------------

ASKED = native(("a", "lookup", {"tools": ["get_issue"]}))


def test_lookups_alone_are_answered_and_bounded() -> None:
    turn = DISPATCH.turn(max_lookups=2, max_repairs=0)
    assert [tool["name"] for tool in turn.wire_tools] == ["call", "lookup"]
    first = again(take(DISPATCH, ASKED, turn))
    assert first.replies[0].text == DISPATCH.decode(ASKED).lookups[0].reply
    assert first.calls[0].name == "lookup"
    assert [tool["name"] for tool in first.turn.wire_tools] == ["call", "lookup"]
    second = again(take(DISPATCH, ASKED, first.turn))
    assert second.replies[0].text.endswith(LAST_LOOKUP)
    assert [tool["name"] for tool in second.turn.wire_tools] == ["call"], "the last round has no lookup tool"
    third = final(take(DISPATCH, ASKED, second.turn))
    assert third.failure == "the model made lookups alone, 2 of which were answered"
    assert (third.turn.rounds, third.turn.asked, third.turn.lookups) == (3, 2, 3)


def test_a_lookup_beyond_its_budget_costs_a_repair() -> None:
    turn = again(take(DISPATCH, ASKED, max_lookups=1, max_repairs=1)).turn
    step = again(take(DISPATCH, ASKED, turn))
    assert (step.replies[0].text, step.turn.repairs) == (LAST_LOOKUP, 1)
    assert final(take(DISPATCH, "I cannot tell.", step.turn)).text == "I cannot tell."


def test_a_lookup_beside_an_error_gets_its_reply() -> None:
    output = native(("a", "lookup", {"tools": ["ping"]}), ("b", "call", {"tool": "get_issue", "args": {}}))
    step = again(take(DISPATCH, output))
    assert [reply.id for reply in step.replies] == ["a", "b"]
    assert "ping" in step.replies[0].text
    assert (step.turn.repairs, step.turn.asked) == (1, 0)


# --- a call is required ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("must_call", "output", "says"),
    [
        pytest.param(True, "Done.", "call a tool", id="text"),
        pytest.param(True, "", "call a tool", id="nothing"),
        pytest.param("ping", "Done.", "call ping", id="a name"),
        pytest.param("ping", native(("a", "get_issue", {"number": 1})), "Not run. Call ping.", id="another tool"),
    ],
)
def test_a_required_call_that_did_not_come(must_call: bool | str, output: Any, says: str) -> None:
    step = again(take(NATIVE, output, must_call=must_call, max_repairs=1))
    assert says in step.messages[-1]["content"]
    assert step.turn.repairs == 1
    assert (step.messages[0]["role"] == "assistant") is bool(output), "an empty message is not put back"
    ended = final(take(NATIVE, output, step.turn))
    assert ended.failure == f"the model did not call {'ping' if must_call == 'ping' else 'a tool'}"
    assert ended.calls == ()
    assert final(take(NATIVE, native(("b", "ping", {})), step.turn)).calls[0].name == "ping"


def test_what_the_catalog_was_compiled_for_is_the_default() -> None:
    turn = tscg.compile(TOOLS, must_call=True, parallel=False).turn()
    assert (turn.must_call, turn.parallel) == (True, False)
    assert TEXT.turn(must_call=True, parallel=False).must_call is True


def test_an_empty_answer_to_us_is_never_the_end() -> None:
    turn = again(take(NATIVE, BAD)).turn
    step = again(take(NATIVE, "", turn))
    assert step.messages == [{"role": "user", "content": EMPTY}]
    assert final(take(NATIVE, "", step.turn)).failure == "the model said nothing"


# --- bounds and values -----------------------------------------------------------------------------------------------

OUTPUTS = [
    BAD, ASKED, "", "Done.", native(("a", "call", {"tool": "ping", "args": {}})), native(("a", "nothing", {})),
    native(("a", "call", {"tool": "get_issue", "args": {}}), ("b", "lookup", {"query": "close"})),
]  # fmt: skip


@given(
    st.lists(st.sampled_from(range(len(OUTPUTS))), min_size=12, max_size=12),
    st.integers(0, 3),
    st.integers(0, 3),
    st.sampled_from([False, True, "ping"]),
)
def test_every_turn_ends_within_its_bounds(
    places: list[int], lookups: int, repairs: int, must_call: bool | str
) -> None:
    turn = DISPATCH.turn(lookups, repairs, must_call=must_call)
    for rounds, place in enumerate(places, 1):
        output = OUTPUTS[place]
        step = take(DISPATCH, output, turn)
        assert rounds <= 1 + lookups + repairs
        if isinstance(step, Final):
            assert step.calls or step.failure or step.text or rounds == 1
            assert not (step.failure and step.calls)
            return
        turn = step.turn
        ids = [call["id"] for message in step.messages for call in message.get("tool_calls", ())]
        assert ids == [message["tool_call_id"] for message in step.messages if message["role"] == "tool"]
        assert step.messages[-1]["role"] != "assistant"
    raise AssertionError("it did not end")


def test_the_same_answer_gives_the_same_step_and_nothing_is_changed() -> None:
    turn, output = NATIVE.turn(), json.loads(json.dumps(BAD))
    one, two = take(NATIVE, output, turn), take(NATIVE, output, turn)
    assert one == two
    assert output == BAD
    assert turn.rounds == 0
    loaded = pickle.loads(pickle.dumps(again(one)))
    assert loaded.messages == again(one).messages
    assert isinstance(take(loaded.turn.compiled, BAD, loaded.turn), Again)


def test_without_the_output_the_answer_is_put_together_again() -> None:
    step = again(DISPATCH.turn().take(DISPATCH.decode(ASKED)))
    assert [(call.id, call.name, call.arguments) for call in step.calls] == [("a", "lookup", {"tools": ["get_issue"]})]
    spoken = "So. " + text(("ping", {}), ("get_issue", {}))
    told = again(TEXT.turn().take(TEXT.decode(spoken)))
    assert '"name":"ping"' in told.text
    assert told.text.startswith("So. ")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_lookups": -1}, "max_lookups is -1"),
        ({"max_repairs": True}, "max_repairs is True"),
        ({"must_call": "gone"}, "must_call names 'gone'"),
    ],
)
def test_wrong_options_are_refused(options: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        TEXT.turn(**options)


def test_a_pinned_tool_answers_natively_beside_text() -> None:
    compiled = tscg.compile(TOOLS, mode="text", pin=("ping",))
    output = native(("a", "ping", {}), ("b", "get_issue", {"number": 0}))
    step = again(take(compiled, output))
    assert [call.id for call in step.calls][:1] == ["a"]
    answered = {reply.id for reply in step.replies} | ({"b"} if "at least 1" in step.say else set())
    assert answered == {"a", "b"}


# --- lookups in text, and programs -----------------------------------------------------------------------------------


def test_lookups_in_text_are_answered_in_text() -> None:
    tools = [{**TOOLS[0], "description": "Reads an issue. It shows who wrote it, and all that was said about it."}]
    compiled = tscg.compile(tools, mode="text", profile="signature")
    assert compiled.lookup_tool, "the profile hides prose, and the prompt offers lookups of it"
    output = text((compiled.lookup_tool, {"tools": ["get_issue"]}))
    step = again(take(compiled, output, max_lookups=1))
    assert [message["role"] for message in step.messages] == ["assistant", "user"]
    assert "who wrote it" in step.say
    assert LAST_LOOKUP in step.say
    assert not step.turn.may_look_up
    assert step.turn.wire_tools == ()


def test_programs_are_handed_over() -> None:
    compiled = tscg.compile(TOOLS, mode="code")
    name = compiled.surface.run_tool
    output = native(("a", name, {"code": "ping()"}))
    step = final(take(compiled, output))
    assert [(program.id, program.code) for program in step.programs] == [("a", "ping()")]
    assert (step.calls, step.failure) == ((), "")
    both = native(("a", name, {"code": "ping()"}), ("b", name, {"text": 1}))
    assert [reply.id for reply in again(take(compiled, both)).replies] == ["a", "b"]
    assert again(compiled.turn().take(compiled.decode(both))).calls[0].arguments == {"code": "ping()"}
