"""Calls in text: every dialect, whole and in pieces, and what is no call."""

from __future__ import annotations

from typing import Any

import pytest

from tests.core.decode_samples import cuttings, kinds, surface
from tscg.calls import Call, CallError, Decoded, ItemEvent, TextEvent
from tscg.decoders import Stream, decode
from tscg.resolve import Surface

OSLO = ("get_weather", {"city": "Oslo"})
LS = ("bash", {"command": "ls", "timeout": 5})
TRICKY = ("bash", {"command": 'grep -n "a<b" f && echo "</tool_call> })] [TOOL_CALLS]"'})


def read(text: str, made: Surface | None = None, finish_reason: str | None = None) -> Decoded:
    """The whole; every cutting must give the same, and no event may be taken back."""
    made = made or surface()
    whole = decode(made, text, finish_reason)
    for pieces in cuttings(text):
        stream = Stream(made)
        events = [event for piece in pieces for event in stream.feed(piece)]
        assert stream.close(finish_reason) == whole, pieces[:4]
        said = "".join(event.text for event in events if isinstance(event, TextEvent))
        assert whole.text.startswith(said)
        given = [event.item for event in events if isinstance(event, ItemEvent)]
        assert list(whole.items[: len(given)]) == given
    return whole


def calls(decoded: Decoded) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in decoded.calls]


DIALECTS: list[Any] = [
    pytest.param(
        '<tool_call>{"name":"get_weather","arguments":{"city":"Oslo"}}</tool_call>', [OSLO], "tool_call", id="tool_call"
    ),
    pytest.param('<tool_call>\n{"name": "ping"}\n</tool_call>', [("ping", {})], "tool_call", id="no bag"),
    pytest.param(
        '<tool_call>{"name":"ping","arguments":{}}\n{"name":"get_weather","arguments":{"city":"Oslo"}}</tool_call>',
        [("ping", {}), OSLO],
        "tool_call",
        id="glued objects",
    ),
    pytest.param(
        '<tool_call>[{"name":"ping","arguments":{}}, {"name":"ping"}]</tool_call>',
        [("ping", {})] * 2,
        "tool_call",
        id="a list",
    ),
    pytest.param(
        '<function_call>{"name":"ping","arguments":{}}</function_call>', [("ping", {})], "tool_call", id="function_call"
    ),
    pytest.param('<TOOLCALL>[{"name":"ping","arguments":{}}]</TOOLCALL>', [("ping", {})], "tool_call", id="TOOLCALL"),
    pytest.param('<|tool_call|>[{"name":"ping","arguments":{}}]', [("ping", {})], "tool_call", id="opener alone"),
    pytest.param(
        '<tool_call>{"function":{"name":"ping","arguments":"{}"}}</tool_call>',
        [("ping", {})],
        "tool_call",
        id="wrapped",
    ),
    pytest.param('<tool_call>{"tool":"ping","args":{}}</tool_call>', [("ping", {})], "tool_call", id="other keys"),
    pytest.param('<tool_call>get_weather{"city":"Oslo"}</tool_call>', [OSLO], "tool_call", id="name in front"),
    pytest.param(
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n</tool_call>",
        [OSLO],
        "tool_call",
        id="pairs",
    ),
    pytest.param(
        '[TOOL_CALLS][{"name":"get_weather","arguments":{"city":"Oslo"}},{"name":"ping","arguments":{}}]',
        [OSLO, ("ping", {})],
        "mistral",
        id="mistral list",
    ),
    pytest.param(
        '[TOOL_CALLS]get_weather[ARGS]{"city":"Oslo"}[TOOL_CALLS]ping[CALL_ID]123456789[ARGS]{}',
        [OSLO, ("ping", {})],
        "mistral",
        id="mistral names",
    ),
    pytest.param('[TOOL_CALLS]get_weather{"city":"Oslo"}', [OSLO], "mistral", id="mistral bare name"),
    pytest.param(
        '<|python_tag|>{"name":"get_weather","parameters":{"city":"Oslo"}}<|eom_id|>', [OSLO], "llama", id="python tag"
    ),
    pytest.param('<function=get_weather>{"city":"Oslo"}</function>', [OSLO], "llama", id="function with JSON"),
    pytest.param(
        "<|channel|>analysis<|message|>functions.get_weather it is<|end|><|start|>assistant<|channel|>commentary "
        'to=functions.get_weather <|constrain|>json<|message|>{"city":"Oslo"}<|call|>',
        [OSLO],
        "harmony",
        id="harmony",
    ),
    pytest.param(
        '<|channel|>commentary to=functions.get_weather<|message|>{"city":"Oslo"}',
        [OSLO],
        "harmony",
        id="harmony, no end",
    ),
    pytest.param(
        '<|start|>assistant to=functions.get_weather<|channel|>commentary<|message|>{"city":"Oslo"}<|call|>',
        [OSLO],
        "harmony",
        id="harmony, recipient first",
    ),
    pytest.param(
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n{"city":"Oslo"}\n```'
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        [OSLO],
        "deepseek",
        id="deepseek fenced",
    ),
    pytest.param(
        '<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city":"Oslo"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
        [OSLO],
        "deepseek",
        id="deepseek bare",
    ),
    pytest.param(
        '<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{"city":"Oslo"}'
        "<|tool_call_end|><|tool_calls_section_end|>",
        [OSLO],
        "kimi",
        id="kimi",
    ),
    pytest.param(
        '<|START_ACTION|>[{"tool_call_id":"0","tool_name":"get_weather","parameters":{"city":"Oslo"}}]<|END_ACTION|>',
        [OSLO],
        "cohere",
        id="cohere",
    ),
    pytest.param(
        '<|action_start|><|plugin|>\n{"name":"get_weather","parameters":{"city":"Oslo"}}<|action_end|>',
        [OSLO],
        "internlm",
        id="internlm",
    ),
    pytest.param('<|recipient|>get_weather\n<|content|>{"city":"Oslo"}', [OSLO], "functionary", id="functionary"),
    pytest.param('>>>get_weather\n{"city":"Oslo"}', [OSLO], "functionary", id="functionary arrows"),
    pytest.param('[Calling tool: get_weather({"city":"Oslo"})]', [OSLO], "calling", id="calling"),
    pytest.param("[Calling tool: ping()]", [("ping", {})], "calling", id="calling without arguments"),
    pytest.param("[get_weather(city='Oslo'), ping()]", [OSLO, ("ping", {})], "pythonic", id="bare list"),
    pytest.param("```tool_code\nget_weather(city='Oslo')\n```", [OSLO], "pythonic", id="tool_code"),
    pytest.param(
        "<|tool_call_start|>[get_weather(city='Oslo')]<|tool_call_end|>", [OSLO], "pythonic", id="python markers"
    ),
    pytest.param(
        "[bash(command='it\\'s [1, 2)', timeout=-3)]",
        [("bash", {"command": "it's [1, 2)", "timeout": -3})],
        "pythonic",
        id="quotes",
    ),
    pytest.param('[bash(command="""a\n"b" ]""")]', [("bash", {"command": 'a\n"b" ]'})], "pythonic", id="three quotes"),
    pytest.param('Thought: hm\nAction: get_weather\nAction Input: {"city": "Oslo"}', [OSLO], "react", id="react"),
    pytest.param(
        "<function=bash>\n<parameter=command>\nls\n</parameter>\n<parameter=timeout>\n5\n</parameter>\n</function>",
        [LS],
        "xml",
        id="xml",
    ),
    pytest.param(
        "<tool_call>\n<function=bash>\n<parameter=command>\nls\n</parameter>\n</function>\n</tool_call>",
        [("bash", {"command": "ls"})],
        "xml",
        id="xml in tool_call",
    ),
    pytest.param(
        '<function_calls><invoke name="bash"><parameter name="command">ls</parameter></invoke></function_calls>',
        [("bash", {"command": "ls"})],
        "xml",
        id="invoke",
    ),
    pytest.param(
        '<x:invoke name="bash">\n<x:parameter name="command">ls</x:parameter>\n'
        '<x:parameter name="timeout">5</x:parameter>\n</x:invoke>',
        [LS],
        "xml",
        id="invoke with a prefix",
    ),
    pytest.param(
        "<bash>\n<parameter=command>\nls\n</parameter>\n</bash>", [("bash", {"command": "ls"})], "xml", id="name as tag"
    ),
    pytest.param("<bash><command>ls</command><timeout>5</timeout></bash>", [LS], "xml", id="tag per parameter"),
    pytest.param('{"name":"get_weather","arguments":{"city":"Oslo"}}', [OSLO], "json", id="the message"),
    pytest.param(
        '{"tool_calls":[{"name":"ping","arguments":{}},{"name":"ping","arguments":{}}]}',
        [("ping", {})] * 2,
        "json",
        id="tool_calls",
    ),
    pytest.param('```json\n{"name":"get_weather","arguments":{"city":"Oslo"}}\n```', [OSLO], "json", id="a fence"),
    pytest.param('```\n[{"name":"ping","arguments":{}}]\n```\n', [("ping", {})], "json", id="a fence without a word"),
]


@pytest.mark.parametrize(("text", "wanted", "dialect"), DIALECTS)
def test_dialects(text: str, wanted: list[Any], dialect: str) -> None:
    decoded = read(text)
    assert calls(decoded) == wanted, decoded
    assert {call.dialect for call in decoded.calls} == {dialect}
    assert all(call.repairs == () for call in decoded.calls)
    assert decoded.errors == ()
    assert decoded.text.strip() in ("", "Thought: hm")
    assert len({call.id for call in decoded.calls}) == len(wanted)


@pytest.mark.parametrize(("text", "wanted", "dialect"), DIALECTS)
def test_dialects_behind_text(text: str, wanted: list[Any], dialect: str) -> None:
    if dialect == "json" and not text.startswith("```"):
        return  # only a message that is nothing else
    decoded = read("Well, 2 < 3.\n" + text)
    assert calls(decoded) == wanted
    assert decoded.text.startswith("Well, 2 < 3.\n")


@pytest.mark.parametrize(
    ("text", "wanted", "dialect"), [row for row in DIALECTS if row.values[2] not in ("json", "pythonic")]
)
def test_a_fault_never_touches_the_sibling(text: str, wanted: list[Any], dialect: str) -> None:
    if dialect == "react" or "<bash>" in text:
        return
    decoded = read('<tool_call>{"name":"nope","arguments":{"x":[1}}</tool_call>\n' + text)
    assert calls(decoded) == wanted
    assert len(decoded.errors) == 1


SAME_BODY: list[str] = [
    '<tool_call>{{"name":"bash","arguments":{body}}}</tool_call>',
    '[TOOL_CALLS][{{"name":"bash","arguments":{body}}}]',
    "[TOOL_CALLS]bash[ARGS]{body}",
    '<|python_tag|>{{"name":"bash","parameters":{body}}}',
    "<|channel|>commentary to=functions.bash<|message|>{body}<|call|>",
    "<｜tool▁call▁begin｜>bash<｜tool▁sep｜>{body}<｜tool▁call▁end｜>",
    "<|tool_call_begin|>functions.bash:0<|tool_call_argument_begin|>{body}<|tool_call_end|>",
    "[Calling tool: bash({body})]",
    "<function=bash>{body}</function>",
    "Action: bash\nAction Input: {body}",
    '{{"name":"bash","arguments":{body}}}',
    '```json\n{{"name":"bash","arguments":{body}}}\n```',
]


@pytest.mark.parametrize("form", SAME_BODY)
def test_markers_inside_strings_are_text(form: str) -> None:
    import json

    decoded = read(form.format(body=json.dumps(TRICKY[1])))
    assert calls(decoded) == [TRICKY]


TEXT: list[Any] = [
    pytest.param("No tool is needed: 2 < 3 and [1, 2] {ok}.", id="prose"),
    pytest.param('{"name":"Alice","arguments":{}}', id="an object with the keys"),
    pytest.param('The form is\n```json\n{"name":"ping","arguments":{}}\n```\nas you see.', id="an example in a fence"),
    pytest.param("[ping()] is how it is written.", id="an example in Python"),
    pytest.param('So: {"name":"ping","arguments":{}}', id="an object behind text"),
    pytest.param("[get_weather(city=open('x').read())] no", id="no literal"),
    pytest.param("```python\nprint('x')\n```", id="code"),
    pytest.param("Action: think about it\n\nThen act.", id="a line that begins with Action"),
    pytest.param("> quote\n>>> print(1)\n1\n", id="a Python prompt"),
    pytest.param("<b>bold</b> and <br> and <unknown>x</unknown>", id="tags"),
    pytest.param("Use <bash> for that.", id="a tag with a tool's name"),
    pytest.param('{"city": "Oslo"}', id="arguments alone"),
    pytest.param("{'a': 'it's'} and <", id="broken object"),
    pytest.param("[", id="a bracket"),
    pytest.param("{", id="a brace"),
]


@pytest.mark.parametrize("text", TEXT)
def test_text_stays_text(text: str) -> None:
    decoded = read(text)
    assert decoded.items == ()
    assert decoded.text == text


def test_likely_calls_in_text_are_said() -> None:
    decoded = read('The form is\n```json\n{"name":"ping","arguments":{}}\n```\nas you see.')
    assert [notice.kind for notice in decoded.warnings] == ["call_like_text"]


@pytest.mark.parametrize(
    ("weak", "count"), [("end", 0), ("anywhere", 1), ("never", 0)], ids=["end", "anywhere", "never"]
)
def test_weak_calls_in_mid_message(weak: str, count: int) -> None:
    assert len(read("[ping()]\nand then", surface(weak=weak)).calls) == count
    assert len(read("[ping()]\n", surface(weak=weak)).calls) == (0 if weak == "never" else 1)


def test_a_weak_call_beside_a_strong_one_is_text() -> None:
    decoded = read('[ping()]\n<tool_call>{"name":"ping","arguments":{}}</tool_call>')
    assert [call.dialect for call in decoded.calls] == ["tool_call"]
    assert decoded.text == "[ping()]\n"


ERRORS: list[Any] = [
    pytest.param("<tool_call></tool_call> x", "unparsed_call", " x", id="empty"),
    pytest.param("<tool_call>please</tool_call> x", "unknown_tool", " x", id="a word"),
    pytest.param("<tool_call>do it now</tool_call> x", "unparsed_call", " x", id="words"),
    pytest.param('<tool_call>{"city":"Oslo"}</tool_call>', "unparsed_call", "", id="no name"),
    pytest.param(
        '<tool_call>{"name":"get_weather","city":"Oslo"}</tool_call>',
        "unparsed_call",
        "",
        id="arguments beside the name",
    ),
    pytest.param('<tool_call>{"name":"nope","arguments":{}}</tool_call>', "unknown_tool", "", id="unknown"),
    pytest.param('<tool_call>{"name":"get_weather","arguments":{}}</tool_call>', "missing_required", "", id="missing"),
    pytest.param(
        '<tool_call>{"name":"get_weather","arguments":{"city":}}</tool_call> x', "not_json", " x", id="broken"
    ),
    pytest.param(
        '<tool_call>{"name":"ping","arguments":{},"args":{}}</tool_call>', "ambiguous_arguments", "", id="two bags"
    ),
    pytest.param(
        '<tool_call>{"name":"ping","tool":"bash","arguments":{}}</tool_call>', "ambiguous_call", "", id="two names"
    ),
    pytest.param('<tool_call>{"name":"ping","arguments":{}', "truncated", "", id="a brace short"),
    pytest.param('<tool_call>{"name":"ping","arguments":{"x":"', "truncated", "", id="cut in a string"),
    pytest.param("<tool_call>", "truncated", "", id="cut behind the opener"),
    pytest.param("[TOOL_CALLS]ping[ARGS]", "truncated", "", id="mistral, cut"),
    pytest.param("<|channel|>commentary to=functions.ping<|mess", "truncated", "", id="harmony, cut"),
    pytest.param("<function=bash>\n<parameter=command>\nrm -rf /tmp", "truncated", "", id="xml, cut"),
    pytest.param(
        "<function=bash>\n<parameter=command>\nx\n</parameter>\n<param", "truncated", "", id="xml, cut in a tag"
    ),
    pytest.param('{"name":"get_weather","arguments":{"city":"Os', "truncated", "", id="message, cut"),
    pytest.param('{"name":"get_weather","arguments":{"city":oslo}}', "unparsed_call", "", id="message, broken"),
    pytest.param("[bash(command=open('x'))]", "unparsed_call", "", id="Python, no literal"),
    pytest.param("[bash(command='a', command='b')]", "duplicate_key", "", id="Python, twice"),
    pytest.param("[bash('ls')]", "unparsed_call", "", id="Python, no names"),
    pytest.param("[Calling tool: ping", "truncated", "", id="calling, cut"),
    pytest.param("<|tool_call_start|>[ping(]<|tool_call_end|>", "unparsed_call", "", id="python markers, broken"),
    pytest.param('Action: get_weather\nAction Input: {"city": 1}', "wrong_type", "", id="react"),
]


@pytest.mark.parametrize(("text", "kind", "left"), ERRORS)
def test_errors(text: str, kind: str, left: str) -> None:
    decoded = read(text)
    assert [type(item) for item in decoded.items] == [CallError], decoded
    assert decoded.errors[0].kind == kind
    assert decoded.text == left


RAW_VALUES: list[Any] = [
    pytest.param("\n5\n", "5", id="digits for a string"),
    pytest.param("\n\n x \n\n", "\n x \n", id="one line break at each end"),
    pytest.param("a &lt; b", "a &lt; b", id="entities stay"),
    pytest.param("x</parameter>y", "x</parameter>y", id="a closer inside"),
    pytest.param("see <parameter=other>", None, id="an unclosed opener inside"),
    pytest.param("a</parameter><parameter=other>b", None, id="another parameter, or text"),
    pytest.param('{"a": "</function>"}', '{"a": "</function>"}', id="the end inside"),
]


@pytest.mark.parametrize(("raw", "value"), RAW_VALUES)
def test_raw_values(raw: str, value: str | None) -> None:
    decoded = read(f"<function=bash>\n<parameter=command>{raw}</parameter>\n</function>")
    if value is None:
        assert [error.kind for error in decoded.errors] in (["ambiguous_call"], ["unparsed_call"])
    else:
        assert calls(decoded) == [("bash", {"command": value})]


def test_raw_values_take_the_types_of_the_schema() -> None:
    body = "<parameter=command>5</parameter><parameter=timeout>5</parameter>"
    text = f'<function=bash>{body}<parameter=env>{{"A": 1}}</parameter></function>'
    assert calls(read(text)) == [("bash", {"command": "5", "timeout": 5, "env": {"A": 1}})]
    wrong = read("<function=bash><parameter=command>x</parameter><parameter=timeout>soon</parameter></function>")
    assert [(error.kind, error.path) for error in wrong.errors] == [("wrong_type", ("timeout",))]


def test_an_end_that_may_stand_inside_a_value_is_ambiguous() -> None:
    text = "<function=bash><parameter=command>a</parameter></function> b</parameter></function>"
    assert [error.kind for error in read(text).errors] == ["ambiguous_call"]


def test_invented_observations_are_dropped() -> None:
    text = 'Action: get_weather\nAction Input: {"city": "Oslo"}\nObservation: 3\nAction: ping\nAction Input: {}\nbye'
    decoded = read(text)
    assert calls(decoded) == [OSLO]
    assert kinds(decoded.calls[0]) == ["observation_dropped"]
    assert "bye" not in decoded.text
    kept = read(text, surface(observation_dropped=False))
    assert calls(kept) == [OSLO, ("ping", {})]


@pytest.mark.parametrize("closer", ["", " and so on", "\n\nDone."])
def test_a_missing_closer_behind_a_whole_value(closer: str) -> None:
    text = '<tool_call>{"name":"ping","arguments":{}}' + closer
    decoded = read(text, finish_reason="stop")
    assert kinds(decoded.calls[0]) == ["marker_missing"]
    assert decoded.text.strip() == closer.strip()
    off = read(text, surface(marker_missing=False), "stop")
    assert [error.kind for error in off.errors] == ["truncated"]


@pytest.mark.parametrize("reason", ["length", "max_tokens", "MAX_TOKENS", "incomplete", "content_filter", "refusal"])
def test_output_that_was_cut(reason: str) -> None:
    whole = '<tool_call>{"name":"ping","arguments":{}}</tool_call>'
    decoded = read(whole + '<tool_call>{"name":"bash","arguments":{"command":"rm -rf /srv', None, reason)
    assert [type(item) for item in decoded.items] == [Call, CallError]
    assert decoded.errors[0].kind == "truncated"
    last = read(whole, None, reason)
    assert len(last.calls) == 1
    assert [notice.kind for notice in last.warnings] == ["complete_at_limit"]
    assert read(whole, None, "stop").warnings == ()


# --- reasoning ------------------------------------------------------------------------------------------------------

DRAFT = '<tool_call>{"name":"bash","arguments":{"command":"rm"}}</tool_call>'
REAL = '<tool_call>{"name":"ping","arguments":{}}</tool_call>'


@pytest.mark.parametrize(
    ("opener", "closer"), [("<think>", "</think>"), ("[THINK]", "[/THINK]"), ("◁think▷", "◁/think▷")]
)
def test_calls_in_reasoning_are_not_made(opener: str, closer: str) -> None:
    decoded = read(f"{opener}maybe {DRAFT} hm{closer}\n{REAL} ok")
    assert calls(decoded) == [("ping", {})]
    assert decoded.text == "\n ok"
    assert decoded.reasoning == f"maybe {DRAFT} hm"
    assert [notice.kind for notice in decoded.warnings] == ["call_in_reasoning"]


def test_reasoning_that_was_opened_in_the_prompt() -> None:
    decoded = read(f"maybe {DRAFT} hm</think>\n{REAL}")
    assert calls(decoded) == [("ping", {})]
    assert [notice.kind for notice in decoded.warnings] == ["call_in_reasoning"]
    ahead = read(f"maybe {DRAFT} hm</think>\n{REAL}", surface(reasoning="prefilled"))
    assert calls(ahead) == [("ping", {})]
    assert (ahead.text, ahead.reasoning) == ("\n", f"maybe {DRAFT} hm")


def test_the_only_call_is_in_reasoning() -> None:
    decoded = read(f"<think>{REAL}</think>")
    assert decoded.items == ()
    assert [notice.kind for notice in decoded.warnings] == ["call_in_reasoning"]
    wanted = read(f"<think>{REAL}</think>", surface(calls_in_reasoning=True))
    assert calls(wanted) == [("ping", {})]
    assert calls(read(f"<think>{DRAFT}</think>{REAL}", surface(calls_in_reasoning=True))) == [("ping", {})]


def test_reasoning_that_never_ends() -> None:
    decoded = read(f"<think>hm {REAL}")
    assert decoded.items == ()
    assert decoded.text == ""


def test_a_tag_inside_an_argument_opens_no_reasoning() -> None:
    text = '<tool_call>{"name":"bash","arguments":{"command":"echo <think>"}}</tool_call>' + REAL
    assert calls(read(text)) == [("bash", {"command": "echo <think>"}), ("ping", {})]


def test_rows_decide_ahead() -> None:
    text = f"{DRAFT}</think>{REAL}"
    assert len(read(text, surface(reasoning="tags")).calls) == 2
    assert read("a <think> b", surface(reasoning="none")).text == "a <think> b"


@pytest.mark.parametrize("channel", ["analysis", "final"])
def test_a_recipient_in_another_channel_is_no_call(channel: str) -> None:
    decoded = read(f'<|channel|>{channel} to=functions.ping<|message|>{{"x":1}}<|end|>')
    assert decoded.items == ()


# --- the message as a whole -----------------------------------------------------------------------------------------


def test_constrained_answers() -> None:
    made = surface(constrained=True)
    assert read('{"answer": "It is <b>cold</b>."}', made).text == "It is <b>cold</b>."
    assert read('{"answer": "x"}').text == '{"answer": "x"}'
    assert calls(read('{"tool_calls":[{"name":"ping","arguments":{}}]}', made)) == [("ping", {})]


def test_text_around_calls_stays_as_it_is() -> None:
    decoded = read(f"  Let me <b>see</b>.\n{REAL}\n\n ok {REAL}!\n")
    assert decoded.text == "  Let me <b>see</b>.\n\n\n ok !\n"
    assert len(decoded.calls) == 2


def test_stray_closers_leave_the_text() -> None:
    assert read("a </tool_call> b<|im_end|>").text == "a  b"


def test_repairs_of_the_body_are_on_its_call() -> None:
    decoded = read("<tool_call>{'name': 'ping', 'arguments': {}}</tool_call>")
    assert kinds(decoded.calls[0]) == ["single_quotes"]
