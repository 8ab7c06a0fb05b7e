"""Calls through the dispatcher: what is forgiven, what never is, and that nothing vanishes."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given as given_
from hypothesis import settings
from hypothesis import strategies as st

from tests.core.decode_samples import kinds, native, slowness, surface, tool
from tscg.calls import Call, CallError, Lookup
from tscg.decoders import Stream, decode
from tscg.decoding import STRICT, Decoding
from tscg.modes.options import Dispatch
from tscg.resolve import Surface, resolve

TEXT = {"type": "string"}
ISSUE = tool({"title": TEXT, "labels": {"type": "array", "items": TEXT}}, "create_issue", required=["title"])
LIST = tool({"q": TEXT, "per_page": {"type": "integer"}}, "list_issues", required=["q"], additionalProperties=False)
PING = tool({}, "ping")
ODD = tool({"tool": TEXT, "args": {"type": "array"}, "name": TEXT, "query": TEXT}, "odd", required=["tool"])
ENV = tool({}, "set_env", additionalProperties={"type": "string"})
USER = tool({"name": TEXT, "email": TEXT}, "create_user", required=["name"])
RUN = tool({"input": TEXT}, "run", required=["input"])
TOOLS = [ISSUE, LIST, PING, ODD, ENV, USER, RUN]


def dispatch(tools: list[dict[str, Any]] | None = None, **options: Any) -> Surface:
    """A surface with the dispatcher `call` and the lookup `lookup`."""
    options = {"call_tool": "call", "lookup_tool": "lookup", "options": Dispatch(), **options}
    return surface(TOOLS if tools is None else tools, "dispatch", **options)


GROUPS = {"issues": {"create": "create_issue", "list": "list_issues"}, "other": {"ping": "ping", "odd": "odd"}}


def grouped(**options: Any) -> Surface:
    return dispatch(call_tool="", groups=GROUPS, options=Dispatch(group="namespace"), **options)


def called(made: Surface, name: str, arguments: object) -> tuple[str, Any] | str:
    """The call as name and arguments, or the kind of the error, or `lookup`."""
    item = resolve(made, name, arguments)
    if isinstance(item, Call):
        return item.name, item.arguments
    return item.kind if isinstance(item, CallError) else "lookup"


X = ("create_issue", {"title": "x"})
BAG = {"title": "x"}

# --- what was taught ------------------------------------------------------------------------------------------------

TAUGHT: list[Any] = [
    pytest.param({"tool": "create_issue", "args": BAG}, X, id="nested"),
    pytest.param({"tool": "ping", "args": {}}, ("ping", {}), id="no-arguments"),
    pytest.param({"tool": "ping"}, ("ping", {}), id="no-bag"),
    pytest.param({"tool": "ping", "args": None}, ("ping", {}), id="null-bag"),
    pytest.param({"tool": "odd", "args": {"tool": "a", "args": [1], "name": "b", "query": "c"}},
                 ("odd", {"tool": "a", "args": [1], "name": "b", "query": "c"}), id="c28-fields-of-the-dispatcher"),
    pytest.param({"tool": "create_user", "args": {"name": "ping"}}, ("create_user", {"name": "ping"}), id="c28-name"),
    pytest.param({"tool": "set_env", "args": {"tool": "a", "args": "b"}},
                 ("set_env", {"tool": "a", "args": "b"}), id="c28-free-names"),
]  # fmt: skip


@pytest.mark.parametrize("strict", [False, True], ids=["safe", "strict"])
@pytest.mark.parametrize(("given", "wanted"), TAUGHT)
@pytest.mark.parametrize("as_text", [False, True], ids=["object", "text"])
def test_taught_form_is_no_repair(given: dict[str, Any], wanted: Any, as_text: bool, strict: bool) -> None:
    made = dispatch(decoding=STRICT if strict else Decoding())
    item = resolve(made, "call", json.dumps(given) if as_text else given)
    assert isinstance(item, Call), item
    assert ((item.name, item.arguments), item.repairs) == (wanted, ())


# --- what is forgiven -----------------------------------------------------------------------------------------------

NESTED = {"tool": "create_issue", "args": BAG}
FORGIVEN: list[Any] = [
    # The handle as the native tool's own name.
    pytest.param("create_issue", BAG, id="c26-direct-flat"),
    pytest.param("create_issue", {"args": BAG}, id="c26-direct-nested"),
    pytest.param("create_issue", {"arguments": BAG}, id="c26-direct-synonym"),
    pytest.param("create_issue", {"args": json.dumps(BAG)}, id="c26-direct-json-text"),
    pytest.param("create_issue", {"tool": "create_issue", "args": BAG}, id="c26-direct-redundant-nested"),
    pytest.param("create_issue", {"tool": "create_issue", **BAG}, id="c26-direct-redundant-flat"),
    pytest.param("create_issue", {"name": "createIssue", **BAG}, id="c26-direct-redundant-other-spelling"),
    pytest.param("functions.createIssue", BAG, id="c26-direct-decorated"),
    # Flat beside the handle, JSON text, synonyms.
    pytest.param("call", {"tool": "create_issue", **BAG}, id="c26-flat"),
    pytest.param("call", {"tool": "create_issue", "args": {}, **BAG}, id="c26-flat-beside-an-empty-bag"),
    pytest.param("call", {"tool": "create_issue", "args": json.dumps(BAG)}, id="c33-json-text"),
    pytest.param("call", {"tool": "create_issue", "args": json.dumps(json.dumps(BAG))}, id="c33-json-text-twice"),
    *[pytest.param("call", {key: "create_issue", "args": BAG}, id=f"handle-{key}")
      for key in ("name", "tool_name", "function", "code")],
    *[pytest.param("call", {"tool": "create_issue", key: BAG}, id=f"bag-{key}")
      for key in ("arguments", "params", "parameters", "input", "tool_input")],
    pytest.param("call", {"tool_name": "create_issue", "params": json.dumps(BAG)}, id="synonyms-and-json-text"),
    pytest.param("call", {"tool": "create_issue", "name": "create_issue", "args": BAG}, id="redundant-handle"),
    pytest.param("call", {"tool": "create_issue", "args": BAG, "note": "why"}, id="c27-a-key-that-is-no-parameter"),
    # A call in a call.
    pytest.param("call", {"args": NESTED}, id="whole-call-in-args"),
    pytest.param("call", {"args": json.dumps(NESTED)}, id="whole-call-as-json-text"),
    pytest.param("call", {"call": NESTED}, id="whole-call-under-its-name"),
    pytest.param("call", {"tool": NESTED}, id="whole-call-in-tool"),
    pytest.param("call", {"function": {"name": "create_issue", "arguments": json.dumps(BAG)}}, id="function-object"),
    pytest.param("call", {"args": {"create_issue": BAG}}, id="name-as-key-in-args"),
    pytest.param("call", {"create_issue": BAG}, id="name-as-key"),
    pytest.param("call", {"tool": "create_issue", "args": NESTED}, id="whole-call-once-more"),
    pytest.param("call", {"tool": "call", "args": NESTED}, id="c32-call-in-call-nested"),
    pytest.param("call", {"tool": "call", "args": {"tool": "create_issue", **BAG}}, id="c32-call-in-call-flat"),
    pytest.param("call", {"tool": "call", "name": "create_issue", "args": BAG}, id="c32-call-beside-call"),
    pytest.param("call", {"tool": "call", "args": {"tool": "call", "args": NESTED}}, id="c32-two-layers"),
    pytest.param("call_tool", NESTED, id="other-name-of-the-dispatcher"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given"), FORGIVEN)
def test_forgiven_and_listed(name: str, given: Any) -> None:
    for arguments in (given, json.dumps(given)):
        item = resolve(dispatch(), name, arguments)
        assert isinstance(item, Call), item
        assert (item.name, item.arguments) == X
        assert "dispatch_form" in kinds(item)
        off = resolve(dispatch(dispatch_form=False), name, arguments)
        assert isinstance(off, CallError), off
        assert off.message


GROUPED: list[Any] = [
    pytest.param("issues", {"op": "create", "args": BAG}, 0, id="c26-grouped-taught"),
    pytest.param("issues", {"op": "create", **BAG}, 1, id="c26-grouped-flat"),
    pytest.param("issues", {"op": "create", "args": json.dumps(BAG)}, 1, id="c26-grouped-json-text"),
    pytest.param("issues", {"operation": "create", "args": BAG}, 1, id="c26-grouped-synonym"),
    pytest.param("issues", {"tool": "create_issue", "arguments": BAG}, 1, id="c26-grouped-full-name"),
    pytest.param("create_issue", BAG, 1, id="c26-grouped-direct"),
    pytest.param("create_issue", {"op": "create", "args": BAG}, 1, id="c26-grouped-direct-redundant"),
    pytest.param("create", BAG, 1, id="c26-grouped-operation-alone"),
    pytest.param("issues.create", {"args": BAG}, 1, id="c26-grouped-namespace-and-operation"),
    pytest.param("issues_create", BAG, 1, id="c26-grouped-joined"),
    pytest.param("other", {"op": "create_issue", "args": BAG}, 0, id="c26-grouped-exact-name-elsewhere"),
    pytest.param("issues", {"op": "issues", "args": {"op": "create", "args": BAG}}, 1, id="c32-grouped-in-itself"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "repaired"), GROUPED)
def test_grouped_form(name: str, given: Any, repaired: int) -> None:
    item = resolve(grouped(), name, json.dumps(given))
    assert isinstance(item, Call), item
    assert (item.name, item.arguments) == X
    assert ("dispatch_form" in kinds(item)) is bool(repaired)


def test_json_mode_takes_both() -> None:
    made = dispatch(options=Dispatch(arguments="json"), decoding=STRICT)
    for args in (json.dumps(BAG), BAG):
        item = resolve(made, "call", {"tool": "create_issue", "args": args})
        assert isinstance(item, Call)
        assert (item.arguments, item.repairs) == (BAG, ())


# --- what is not ----------------------------------------------------------------------------------------------------

REFUSED: list[Any] = [
    pytest.param({"tool": "create_issue", "args": BAG, "labels": ["a"]}, "ambiguous_arguments", id="c27-nested-and-flat"),
    pytest.param({"tool": "create_issue", "args": BAG, "title": "x"}, "ambiguous_arguments", id="c27-the-same-twice"),
    pytest.param({"tool": "create_issue", "args": BAG, "params": {"title": "y"}}, "ambiguous_arguments", id="two-bags"),
    pytest.param({"tool": "odd", "args": ["x"]}, "ambiguous_arguments", id="mn-flat-args"),
    pytest.param({"tool": "odd", "name": "b"}, "ambiguous_arguments", id="mn-flat-name"),
    pytest.param({"tool": "odd", "query": "b"}, "ambiguous_arguments", id="mn-flat-with-a-parameter-tool"),
    pytest.param({"tool": "run", "input": "ls"}, "ambiguous_arguments", id="mn-flat-input"),
    pytest.param({"tool": "create_user", "name": "Bo"}, "ambiguous_arguments", id="mn-flat-name-of-a-user"),
    pytest.param({"tool": "set_env", "args": {"A": "1"}, "B": "2"}, "ambiguous_arguments", id="mn-flat-free-name"),
    pytest.param({"name": "create_issue", "tool_name": "ping"}, "ambiguous_call", id="two-tools"),
    pytest.param({"tool": "create_issue", "args": {"tool": "ping", "args": {}}}, "ambiguous_call", id="another-call-inside"),
    pytest.param({"tool": "list_issues", "args": {"query": "x"}}, "missing_required", id="c35-no-rename"),
    pytest.param({"tool": "create_issue"}, "missing_required", id="missing-bag"),
    pytest.param({"tool": "create_issue", "args": ""}, "missing_required", id="blank-bag"),
    pytest.param({"tool": "create_issue", "args": "title"}, "not_json", id="c33-other-text"),
    pytest.param({"tool": "create_issue", "args": '{"title":"1"'}, "truncated", id="mn-cut-bag"),
    pytest.param({"tool": "ping", "args": '{"x":1'}, "truncated", id="mn-cut-bag-of-a-tool-without-arguments"),
    pytest.param({"tool": "create_issue", "args": "[1]"}, "not_an_object", id="mn-list-as-text"),
    pytest.param({"tool": "create_issue", "args": [1]}, "not_an_object", id="list"),
    pytest.param({"tool": "create_issue", "args": json.dumps(json.dumps(json.dumps(BAG)))}, "not_an_object", id="three-layers"),
    pytest.param({"tool": "list_issues", "args": {"q": "x"}, "zz": 1, "per_page": 2}, "ambiguous_arguments", id="one-of-two"),
    pytest.param({"tool": "nope", "args": {}}, "unknown_tool", id="c25-unknown"),
    pytest.param({"tool": "create", "args": {}}, "unknown_tool", id="part-of-a-name"),
    pytest.param({"args": BAG}, "missing_required", id="no-name"),
    pytest.param({}, "missing_required", id="nothing"),
    pytest.param({"tool": 3, "args": {}}, "wrong_type", id="number-as-name"),
    pytest.param({"tool": "call", "args": {"tool": "call", "args": {"tool": "call", "args": NESTED}}}, "unparsed_call",
                 id="three-calls-deep"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "kind"), REFUSED)
def test_refused(given: dict[str, Any], kind: str) -> None:
    for arguments in (given, json.dumps(given)):
        item = resolve(dispatch(), "call", arguments, "c1")
        assert isinstance(item, CallError), item
        assert (item.kind, item.id) == (kind, "c1")
        assert "nothing was run" in item.message


def test_c24_all_faults_at_once_with_the_signature() -> None:
    item = resolve(dispatch(), "call", {"tool": "list_issues", "args": {"query": "x", "per_page": "many"}})
    assert isinstance(item, CallError)
    assert sorted(kinds(item)) == ["missing_required", "unexpected_argument", "wrong_type"]
    assert item.tool == "list_issues"
    assert "list_issues(q per_page?:int)" in item.message
    assert '"query"' in item.message


@pytest.mark.parametrize(
    "given",
    [
        '{"tool":"create_issue","args":{"title":',
        '{"tool":"create_issue","args":"{\\"title\\":\\"1\\"',
        '{"name": "create_issue", "ar',
    ],
)
def test_c33_cut_text_names_the_tool(given: str) -> None:
    item = resolve(dispatch(), "call", given)
    assert isinstance(item, CallError)
    assert (item.kind, item.tool) == ("truncated", "create_issue")
    assert item.message.startswith("create_issue")
    decoded = decode(dispatch(), native(("call", given)), finish_reason="length")
    assert [(error.kind, error.tool) for error in decoded.errors] == [("truncated", "create_issue")]


def test_c25_siblings_of_a_hallucinated_tool_are_called() -> None:
    calls = [("call", json.dumps({"tool": name, "args": {}})) for name in ("nope", "ping")]
    decoded = decode(dispatch(), native(*calls))
    assert [(type(item).__name__, item.id) for item in decoded.items] == [("CallError", "c1"), ("Call", "c2")]


# --- law ------------------------------------------------------------------------------------------------------------

VALUES = st.sampled_from([
    "create_issue", "odd", "run", "ping", "call", "lookup", "x", "", None, 1, {}, {"title": "y"}, {"tool": "z"}, ["a"],
    '{"title":"t"}', {"tool": "ping", "args": {}},
])  # fmt: skip
KEYS = st.sampled_from(["tool", "name", "args", "arguments", "input", "title", "labels", "query", "q", "extra", "op"])


def leaves(value: Any) -> list[Any]:
    """Scalars of a value with texts of JSON taken for what they hold."""
    if isinstance(value, str) and value[:1] == "{":
        value = json.loads(value)
    if isinstance(value, dict):
        return [leaf for inner in value.values() for leaf in leaves(inner)]
    return [leaf for inner in value for leaf in leaves(inner)] if isinstance(value, list) else [value]


@settings(max_examples=300)
@given_(name=st.sampled_from(["call", "create_issue", "odd", "run"]), given=st.dictionaries(KEYS, VALUES, max_size=4))
def test_c27_nothing_vanishes(name: str, given: dict[str, Any]) -> None:
    item = resolve(dispatch(null_dropped=False, empty_dropped=False), name, given)
    if not isinstance(item, Call):
        return
    kept = [json.dumps(leaf) for leaf in leaves(item.arguments)]
    listed = " ".join(item.repairs)
    for key, value in given.items():
        for leaf in leaves(value):
            is_handle = isinstance(leaf, str) and leaf in (item.name, "call", "lookup")
            assert leaf in (None, "") or is_handle or json.dumps(leaf) in kept or f": {key}: " in listed, (leaf, item)


# --- names ----------------------------------------------------------------------------------------------------------

SPELLINGS = [
    "create_issue", "create-issue", "create.issue", "create:issue", "create/issue", "create issue", "createIssue",
    "CREATE_ISSUE", "CreateIssue", "functions.create_issue", "`create_issue`", "create_issue()",
]  # fmt: skip


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_c29_spellings_in_call_and_lookup(spelling: str) -> None:
    assert called(dispatch(), "call", {"tool": spelling, "args": BAG}) == X
    asked = resolve(dispatch(), "lookup", {"tools": [spelling]})
    assert isinstance(asked, Lookup)
    assert asked.tools == ("create_issue",)


def test_c29_other_alphabets() -> None:
    made = dispatch([tool({}, "задача_создать"), tool({}, "タスク作成")])
    assert called(made, "call", {"tool": "ЗадачаСоздать"}) == ("задача_создать", {})
    assert called(made, "call", {"tool": "タスク-作成"}) == ("タスク作成", {})


def test_c30_ambiguous_spellings_are_not_guessed() -> None:
    made = dispatch([tool({}, "get_user"), tool({}, "getuser")])
    assert called(made, "call", {"tool": "get_user"}) == ("get_user", {})
    assert called(made, "call", {"tool": "getuser"}) == ("getuser", {})
    assert called(made, "call", {"tool": "Get-User"}) == "ambiguous_tool"


CODES = {"create_issue": "ab", "ping": "ac", "odd": "zu"}


def coded(**options: Any) -> Surface:
    return dispatch(codes=CODES, retired=frozenset({"old"}), options=Dispatch(handles="codes"), **options)


@pytest.mark.parametrize(
    ("handle", "wanted"),
    [("ab", X), ("create_issue", X), (" ab ", X), ("ab create_issue", X), ("ab createIssue", X), ("ad", "unknown_tool"),
     ("abc", "unknown_tool"), ("AB", "unknown_tool"), ("old", "unavailable_tool"), ("ac create_issue", "ambiguous_tool"),
     ("ab nope", "ambiguous_tool"), ("zz create_issue", "unknown_tool")],
)  # fmt: skip
def test_c31_codes(handle: str, wanted: Any) -> None:
    assert called(coded(), "call", {"tool": handle, "args": BAG}) == wanted


def test_c31_a_code_as_the_native_name_and_in_text() -> None:
    assert called(coded(), "ab", BAG) == X
    decoded = decode(coded(), '{"tool":"ab","args":{"title":"x"}}')
    assert [(call.name, call.arguments) for call in decoded.calls] == [X]


def test_an_exact_name_comes_before_a_code() -> None:
    made = dispatch([ISSUE, tool({}, "ab")], codes={"create_issue": "ab", "ab": "zz"})
    assert called(made, "call", {"tool": "ab", "args": {}}) == ("ab", {})
    assert called(made, "call", {"tool": "zz", "args": {}}) == ("ab", {})


def test_c34_unknown_handle_has_near_names_and_the_lookup() -> None:
    item = resolve(dispatch(), "call", {"tool": "creat_isue", "args": {}})
    assert isinstance(item, CallError)
    assert "create_issue" in item.message
    assert "lookup" in item.message
    assert "lookup" not in getattr(resolve(surface(TOOLS), "creat_isue", {}), "message", "lookup")


def test_c34_misspelt_names_are_answered_fast() -> None:
    made = dispatch([tool({}, f"service{i % 40}_verb{i}_thing") for i in range(1223)])
    resolve(made, "call", {"tool": "servce3_verb3_thing", "args": {}})
    best = min(timed(made, {"tool": f"servce{i}_verb{i}_thing", "args": {}}, 3) for i in range(20))
    assert best < 1e-3 * slowness()


def test_c51_tools_that_are_gone() -> None:
    made = dispatch(gone=frozenset({"close_issue", "get_ping"}))
    for handle in ("close_issue", "closeIssue", "functions.close_issue"):
        assert called(made, "call", {"tool": handle, "args": {}}) == "unavailable_tool", handle
        assert called(made, handle, {}) == "unavailable_tool", handle


def test_mn_a_gone_name_is_no_other_spelling_of_a_tool() -> None:
    made = dispatch([tool({}, "getuser")], gone=frozenset({"get_user"}))
    assert called(made, "call", {"tool": "get_user", "args": {}}) == "unavailable_tool"
    assert called(made, "call", {"tool": "getuser", "args": {}}) == ("getuser", {})


# --- the lookup and the dispatcher as names -------------------------------------------------------------------------

LOOKUPS: list[Any] = [
    pytest.param("call", {"tool": "lookup", "args": {"tools": ["ping"]}}, id="c32-lookup-nested"),
    pytest.param("call", {"tool": "lookup", "tools": ["ping"]}, id="c32-lookup-flat"),
    pytest.param("call", {"tool": "lookup", "args": '{"tools":["ping"]}'}, id="c32-lookup-json-text"),
    pytest.param("call", {"tool": "call", "args": {"tool": "lookup", "args": {"tools": ["ping"]}}}, id="c32-two-layers"),
    pytest.param("functions.lookup", {"tools": ["ping"]}, id="decorated"),
    pytest.param("Lookup", {"tools": ["ping"]}, id="case"),
    pytest.param("lookup_tool", {"tools": ["ping"]}, id="other-name"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given"), LOOKUPS)
def test_c32_lookups(name: str, given: Any) -> None:
    item = resolve(dispatch(), name, json.dumps(given), "c9")
    assert item == Lookup(id="c9", tools=("ping",), reply="ping() F")


@pytest.mark.parametrize("name", ["call", "Call", "functions.call", " call", "tools.call"])
def test_mn_spellings_of_the_dispatcher(name: str) -> None:
    assert called(dispatch(), name, NESTED) == X


def test_mn_a_tool_with_the_name_of_the_dispatcher() -> None:
    tools = [tool({"number": TEXT}, "call", required=["number"]), tool({"query": TEXT}, "lookup"), ISSUE]
    made = dispatch(tools)
    assert called(made, "call", {"tool": "call", "args": {"number": "1"}}) == ("call", {"number": "1"})
    assert called(made, "call", {"tool": "lookup", "args": {"query": "x"}}) == ("lookup", {"query": "x"})
    assert called(made, "call", {"number": "1"}) == ("call", {"number": "1"})
    assert called(made, "call", NESTED) == X
    renamed = dispatch(tools, call_tool="call_tool", lookup_tool="lookup_tool")
    assert called(renamed, "call", {"number": "1"}) == ("call", {"number": "1"})
    assert called(renamed, "lookup", {"query": "x"}) == ("lookup", {"query": "x"})
    assert called(renamed, "call_tool", {"tool": "lookup", "args": {"query": "x"}}) == ("lookup", {"query": "x"})
    assert called(renamed, "call_tool", {"tool": "lookup_tool", "args": {"query": "x"}}) == "lookup"


def test_mn_a_pinned_tool_is_called_by_its_name_and_through_the_dispatcher() -> None:
    made = dispatch(native=frozenset({"odd"}), decoding=STRICT)
    given = {"tool": "a", "args": [1]}
    for item in (resolve(made, "odd", given), resolve(made, "call", {"tool": "odd", "args": given})):
        assert isinstance(item, Call)
        assert (item.name, item.arguments, item.repairs) == ("odd", given, ())


@pytest.mark.parametrize("mode", ["native", "passthrough", "text"])
def test_c32_other_modes_know_no_dispatcher(mode: str) -> None:
    made = surface(TOOLS, mode)
    assert called(made, "call", NESTED) == "unknown_tool"
    assert called(made, "lookup", {"tools": ["ping"]}) == "unknown_tool"
    assert called(made, "create_issue", {"tool": "create_issue", "args": BAG}) == "missing_required"


def test_an_empty_catalog_has_no_dispatcher() -> None:
    made = surface([], "dispatch", options=Dispatch())
    assert called(made, "call", NESTED) == "unknown_tool"


# --- text -----------------------------------------------------------------------------------------------------------

IN_TEXT: list[Any] = [
    '<tool_call>{"name":"call","arguments":{"tool":"create_issue","args":{"title":"x"}}}</tool_call>',
    '<tool_call>{"name":"create_issue","arguments":{"title":"x"}}</tool_call>',
    '{"tool":"create_issue","args":{"title":"x"}}',
    '```json\n{"tool":"create_issue","args":{"title":"x"}}\n```',
    '{"name":"call","arguments":{"tool":"create_issue","args":{"title":"x"}}}',
    '[TOOL_CALLS]call[ARGS]{"tool":"create_issue","args":{"title":"x"}}',
    'Action: call\nAction Input: {"tool": "create_issue", "args": {"title": "x"}}',
    '[call(tool="create_issue", args={"title": "x"})]',
    "<function=call><parameter=tool>create_issue</parameter><parameter=args>{\"title\":\"x\"}</parameter></function>",
    "<function=create_issue><parameter=title>x</parameter></function>",
]  # fmt: skip


@pytest.mark.parametrize("text", IN_TEXT)
def test_dialects_of_text(text: str) -> None:
    decoded = decode(dispatch(), text)
    assert [(call.name, call.arguments) for call in decoded.calls] == [X], decoded
    for size in (1, 2, 3, 7):
        stream = Stream(dispatch())
        for at in range(0, len(text), size):
            stream.feed(text[at : at + size])
        assert stream.close() == decoded


def test_text_mode_with_lookups() -> None:
    made = surface(TOOLS, lookup_tool="lookup")
    decoded = decode(made, '<tool_call>{"name":"lookup","arguments":{"tools":["ping"]}}</tool_call>')
    assert [item.reply for item in decoded.lookups] == ["ping() F"]
    assert called(made, "call", NESTED) == "unknown_tool"
    assert called(made, "create_issue", {"tool": "create_issue", "args": BAG}) == "missing_required"
    own = surface([tool({"query": TEXT}, "lookup"), PING], lookup_tool="lookup")
    assert called(own, "lookup", {"query": "x"}) == ("lookup", {"query": "x"})


# --- speed ----------------------------------------------------------------------------------------------------------


def timed(made: Surface, given: Any, rounds: int = 200) -> float:
    start = time.perf_counter()
    for _ in range(rounds):
        resolve(made, "call", given)
    return (time.perf_counter() - start) / rounds


def test_a_warm_dispatched_call_is_fast() -> None:
    made = dispatch([{**ISSUE, "name": f"create_issue_{i}"} for i in range(1000)])
    given = '{"tool":"create_issue_5","args":{"title":"x","labels":["a"]}}'
    resolve(made, "call", given)
    assert min(timed(made, given, 50) for _ in range(40)) < 50e-6 * slowness()
