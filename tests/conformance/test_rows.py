"""The common rows of conformance: one suite, every adapter, every mode, real clients against a strict provider."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest

import tscg
from tests.adapters.provider import INPUT_TOKENS, Answer, Model, Provider, View
from tests.adapters.worker import RAW, work
from tests.conformance.harness import DIALECTS, MODES, Harness, Spec, basic, executed, object_schema

Serve = Callable[[Model], Provider]
ALL = pytest.mark.parametrize("mode", MODES)
BOTH = pytest.mark.parametrize("dialect", DIALECTS)
WAYS = pytest.mark.parametrize(
    "way",
    [(False, False), (False, True), (True, False), (True, True)],
    ids=["invoke", "ainvoke", "stream", "astream"],
)
ONE = 'get_order {"number": 7}'
TWO = 'get_order {"number": 7} && list_orders {"customer": "Ann", "limit": 3}\nping && cancel_order {"number": 7, "reason": "stock"}'


def scripted(*answers: Answer | Callable[[View], Answer]) -> Model:
    """A model that says one answer after another; the last one again and again."""
    said = iter(answers)
    last: list[Any] = []

    def model(view: View) -> Answer:
        last[:] = [next(said, *last)]
        answer: Answer = last[0](view) if callable(last[0]) else last[0]
        return answer

    return model


@ALL
@BOTH
@WAYS
def test_c1_the_right_tool_runs_once(
    harness: Harness, serve: Serve, mode: str, dialect: str, way: tuple[bool, bool]
) -> None:
    streamed, asynchronous = way
    specs = basic()
    outcome = harness.run(
        specs, [ONE], provider=serve(work), dialect=dialect, modes=[mode], streamed=streamed, asynchronous=asynchronous
    )
    assert outcome.error is None
    assert executed(specs) == {"get_order": [{"number": 7}]}
    assert outcome.text == 'Done. {"number": 7}'


@ALL
@BOTH
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_c2_parallel_calls_over_two_rounds(
    harness: Harness, serve: Serve, mode: str, dialect: str, streamed: bool
) -> None:
    specs = basic()
    outcome = harness.run(specs, [TWO], provider=serve(work), dialect=dialect, modes=[mode], streamed=streamed)
    assert outcome.error is None
    assert executed(specs) == {
        "get_order": [{"number": 7}], "list_orders": [{"customer": "Ann", "limit": 3}], "ping": [{}],
        "cancel_order": [{"number": 7, "reason": "stock"}],
    }  # fmt: skip
    ids = re.findall(r"'tool_call_id': '([^']+)'", outcome.history)
    assert len(ids) == len(set(ids)) == 4


@ALL
@BOTH
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_c3_nothing_raw_is_seen_or_kept(
    harness: Harness, serve: Serve, mode: str, dialect: str, asynchronous: bool
) -> None:
    specs = basic()
    prompt = f"SAY Let me see if 3 < 4. && {ONE} && ping"
    outcome = harness.run(
        specs, [prompt], provider=serve(work), dialect=dialect, modes=[mode], streamed=True, asynchronous=asynchronous
    )
    assert outcome.error is None
    assert "Let me see if 3 < 4." in outcome.streamed
    assert "Done. " in outcome.streamed
    assert [mark for mark in RAW if mark in outcome.streamed or mark in outcome.history] == []
    assert "'name': 'call'" not in outcome.history


@BOTH
@pytest.mark.parametrize("first", MODES)
@pytest.mark.parametrize("second", MODES)
def test_c4_pairing_holds_after_a_change_of_mode(
    harness: Harness, serve: Serve, first: str, second: str, dialect: str
) -> None:
    specs = basic()
    provider = serve(work)
    outcome = harness.run(specs, [TWO, ONE], provider=provider, dialect=dialect, modes=[first, second])
    assert outcome.error is None
    assert executed(specs)["get_order"] == [{"number": 7}, {"number": 7}]
    assert len(provider.bodies) == 5


@ALL
def test_c5_the_prefix_of_a_request_stays(harness: Harness, serve: Serve, mode: str) -> None:
    provider = serve(work)
    outcome = harness.run(
        basic(), [TWO, ONE], provider=provider, dialect="openai", modes=[mode, mode], system="You are kind."
    )
    assert outcome.error is None
    for earlier, later in zip(provider.bodies, provider.bodies[1:], strict=False):
        assert earlier.get("tools") == later.get("tools")
        assert later["messages"][: len(earlier["messages"])] == earlier["messages"]
        assert len(later["messages"]) > len(earlier["messages"])
    systems = [m for m in provider.bodies[-1]["messages"] if m["role"] == "system"]
    assert len(systems) == 1
    assert systems[0]["content"].startswith("You are kind.")
    assert ("get_order" in systems[0]["content"]) == (mode in ("text", "dispatch"))


def asks_lookup(view: View) -> Answer:
    if any({"tools", "query"} <= schema.get("properties", {}).keys() for schema in view.tools.values()):
        return Answer(calls=(("lookup", '{"tools": ["cancel_order"]}'),))
    return work(view)


@BOTH
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_c6_lookups_are_answered_inside(harness: Harness, serve: Serve, dialect: str, streamed: bool) -> None:
    specs = basic()
    provider = serve(
        scripted(
            asks_lookup, lambda view: Answer(calls=(("call", '{"tool": "ping", "args": {}}'),)), Answer(text="Fine.")
        )
    )
    outcome = harness.run(specs, ["Do it"], provider=provider, dialect=dialect, modes=["dispatch"], streamed=streamed)
    assert outcome.error is None
    assert executed(specs) == {"ping": [{}]}
    assert "cancel_order" in json.dumps(provider.bodies[1]["messages"][-1])
    assert "stock" in json.dumps(provider.bodies[1]["messages"][-1])
    assert "lookup" not in outcome.history
    assert outcome.input_tokens == 3 * INPUT_TOKENS
    assert (outcome.report.requests, outcome.report.rounds, outcome.report.lookups) == (2, 3, 1)


@BOTH
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_c6_the_last_round_has_no_lookup(harness: Harness, serve: Serve, dialect: str, streamed: bool) -> None:
    specs = basic()

    def model(view: View) -> Answer:
        if "lookup" in view.tools:
            return asks_lookup(view)
        return Answer(text="I am done.")

    provider = serve(model)
    outcome = harness.run(
        specs, ["Do it"], provider=provider, dialect=dialect, modes=["dispatch"], streamed=streamed, max_lookups=2
    )
    assert outcome.error is None
    assert outcome.text == "I am done."
    assert len(provider.bodies) == 3
    names = [[(tool.get("function") or tool)["name"] for tool in body["tools"]] for body in provider.bodies]
    assert names == [["call", "lookup"], ["call", "lookup"], ["call"]]


FAULTS = {
    "not-json": ("get_order", '{"number": 7,, "x'),
    "unknown-tool": ("get_odrers", '{"number": 7}'),
    "wrong-type": ("get_order", '{"number": [7]}'),
    "missing": ("cancel_order", '{"number": 7}'),
    "bound": ("get_order", '{"number": 0}'),
    "nested": ("move", '{"to": {"shelf": "a"}}'),
}


@ALL
@BOTH
@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_c7_a_wrong_call_is_fed_back(harness: Harness, serve: Serve, mode: str, dialect: str, fault: str) -> None:
    if dialect == "anthropic" and fault == "not-json" and mode != "text":
        pytest.skip("this dialect sends arguments as a value")
    name, arguments = FAULTS[fault]
    specs = basic()
    provider = serve(scripted(lambda view: wrong(view, name, arguments), right, Answer(text="Fine.")))
    outcome = harness.run(specs, [ONE], provider=provider, dialect=dialect, modes=[mode])
    assert outcome.error is None
    assert executed(specs) == {"get_order": [{"number": 7}]}
    assert outcome.text == "Fine."
    assert outcome.report.repairs == 1
    assert len(provider.bodies) == 3


def wrong(view: View, name: str, arguments: str) -> Answer:
    if "get_order" in view.tools:
        return Answer(calls=((name, arguments),))
    if view.tools:
        return Answer(calls=(("call", f'{{"tool": "{name}", "args": {arguments}}}'),))
    return Answer(text=f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>')


def right(view: View) -> Answer:
    return wrong(view, "get_order", '{"number": 7}')


@ALL
@BOTH
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_c7_repairs_are_bounded_and_then_seen(
    harness: Harness, serve: Serve, mode: str, dialect: str, streamed: bool
) -> None:
    specs = basic()
    provider = serve(lambda view: wrong(view, "cancel_order", '{"number": 7}'))
    outcome = harness.run(specs, [ONE], provider=provider, dialect=dialect, modes=[mode], streamed=streamed)
    assert outcome.error is not None
    assert "cancel_order" in str(outcome.error)
    assert executed(specs) == {}
    assert len(provider.bodies) == 3


@ALL
@BOTH
def test_c8_good_and_bad_call_in_one_turn(harness: Harness, serve: Serve, mode: str, dialect: str) -> None:
    specs = basic()

    def both(view: View) -> Answer:
        one, two = wrong(view, "ping", "{}"), wrong(view, "get_order", '{"number": "x"}')
        return Answer(text="\n".join(part.text for part in (one, two) if part.text), calls=(*one.calls, *two.calls))

    provider = serve(scripted(both, right, Answer(text="Fine.")))
    outcome = harness.run(specs, [ONE], provider=provider, dialect=dialect, modes=[mode])
    assert outcome.error is None
    assert executed(specs) == {"get_order": [{"number": 7}]}


@ALL
@BOTH
def test_c8_bad_calls_beside_good_ones_do_not_stop_them(
    harness: Harness, serve: Serve, mode: str, dialect: str
) -> None:
    specs = basic()

    def both(view: View) -> Answer:
        one, two = wrong(view, "ping", "{}"), wrong(view, "get_order", '{"number": "x"}')
        return Answer(text="\n".join(part.text for part in (one, two) if part.text), calls=(*one.calls, *two.calls))

    provider = serve(scripted(both, Answer(text="Fine.")))
    outcome = harness.run(specs, [ONE], provider=provider, dialect=dialect, modes=[mode], max_repairs=0)
    assert outcome.error is None
    assert executed(specs) == {"ping": [{}]}


def test_c8_a_lookup_beside_a_call_is_dropped(harness: Harness, serve: Serve) -> None:
    specs = basic()
    provider = serve(
        scripted(
            Answer(calls=(("lookup", '{"query": "order"}'), ("call", '{"tool": "ping", "args": {}}'))),
            Answer(text="Fine."),
        )
    )
    outcome = harness.run(specs, [ONE], provider=provider, dialect="openai", modes=["dispatch"])
    assert outcome.error is None
    assert executed(specs) == {"ping": [{}]}
    assert len(provider.bodies) == 2


@ALL
@BOTH
def test_c9_nothing_invalid_reaches_a_tool(harness: Harness, serve: Serve, mode: str, dialect: str) -> None:
    specs = basic()
    closed = {**object_schema({"id": {"type": "string", "pattern": "^[a-z]+$"}}, ["id"]), "additionalProperties": False}
    specs.append(Spec(name="strict_one", description="Closed.", schema=closed))
    bad = ('{"id": "ABC"}', '{"id": "abc", "more": 1}', "{}")
    provider = serve(scripted(*(lambda view, one=one: wrong(view, "strict_one", one) for one in bad)))
    outcome = harness.run(specs, [ONE], provider=provider, dialect=dialect, modes=[mode])
    assert outcome.error is not None
    assert executed(specs) == {}


NODE: dict[str, Any] = {
    "type": "object",
    "properties": {"label": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
    "required": ["label"],
}
ODD = [
    Spec(name="a.b", description="A dot.", schema=object_schema({"x": {"type": "string"}}, ["x"])),
    Spec(name="with space", description="A blank.", schema=object_schema({})),
    Spec(name="größe", description="Not ASCII.", schema=object_schema({"wert": {"type": "number"}}, ["wert"])),
    Spec(name="n" * 70, description="Long.", schema=object_schema({})),
    Spec(name="empty", description="No schema.", schema={}),
    Spec(name="bare", description="An object.", schema={"type": "object"}),
    Spec(name="tree", description="Recursive.", schema={**object_schema({"root": {"$ref": "#/$defs/node"}}, ["root"]), "$defs": {"node": NODE}}),
    Spec(name="pick", description="Many values.", schema=object_schema({"v": {"enum": [f"value{n}" for n in range(600)]}}, ["v"])),
    Spec(name="lost", description="A missing reference.", schema=object_schema({"y": {"$ref": "#/$defs/nowhere"}})),
    Spec(name="one_of", description="A union at the root.", schema={"anyOf": [object_schema({"p": {"type": "string"}}, ["p"]), object_schema({"q": {"type": "string"}}, ["q"])]}),
    Spec(name="titled", description="A property named title.", schema=object_schema({"title": {"type": "string"}, "type": {"type": "string"}}, ["title"])),
]  # fmt: skip
ODD_CALLS = {
    "a.b": {"x": "1"}, "with space": {}, "größe": {"wert": 1.5}, "n" * 70: {}, "empty": {}, "bare": {},
    "tree": {"root": {"label": "r", "children": [{"label": "c"}]}}, "pick": {"v": "value599"}, "lost": {},
    "one_of": {"q": "z"}, "titled": {"title": "t"},
}  # fmt: skip


# A union is folded and told in words; a reference to nothing is not checked.
@pytest.mark.filterwarnings(
    "ignore:native mode sends .* as JSON:tscg.TscgWarning", "ignore:unchecked. lost:tscg.TscgWarning"
)
@pytest.mark.parametrize("mode", ["native", "text", "dispatch"])
@BOTH
def test_c12_odd_names_and_schemas(harness: Harness, serve: Serve, mode: str, dialect: str) -> None:
    specs = [Spec(name=spec.name, description=spec.description, schema=spec.schema) for spec in ODD]
    by_name = dict(zip([re.sub(r"[^A-Za-z0-9_-]+", "_", name)[:64] for name in ODD_CALLS], ODD_CALLS, strict=True))
    done: list[str] = []

    def model(view: View) -> Answer:
        todo = [name for name in ODD_CALLS if name not in done]
        if not todo:
            return Answer(text="Fine.")
        done.append(todo[0])
        arguments = json.dumps(ODD_CALLS[todo[0]])
        if mode == "text":
            return Answer(text=f'<tool_call>{{"name": {json.dumps(todo[0])}, "arguments": {arguments}}}</tool_call>')
        if mode == "dispatch":
            return Answer(calls=(("call", f'{{"tool": {json.dumps(todo[0])}, "args": {arguments}}}'),))
        prefix = next(short for short, name in by_name.items() if name == todo[0])[:50]
        plain = unicodedata.normalize("NFKD", todo[0]).encode("ascii", "ignore").decode()  # as CrewAI writes it
        return Answer(calls=((next(name for name in view.tools if name.startswith((prefix, plain))), arguments),))

    outcome = harness.run(specs, ["All of them"], provider=serve(model), dialect=dialect, modes=[mode])
    assert outcome.error is None
    assert executed(specs) == {name: [arguments] for name, arguments in ODD_CALLS.items()}


@pytest.mark.parametrize("mode", MODES)
def test_c12_two_tools_of_one_name_are_refused(harness: Harness, serve: Serve, mode: str) -> None:
    if harness.name == "crewai":
        pytest.skip("CrewAI numbers them: its own tests show that both can be called")
    specs = [*basic(), Spec(name="ping", description="Another.", schema=object_schema({}))]
    outcome = harness.run(specs, [ONE], provider=serve(work), dialect="openai", modes=[mode])
    assert isinstance(outcome.error, tscg.CompileError)
    assert "ping" in str(outcome.error)


@BOTH
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "streamed"])
def test_c13_passthrough_sends_the_same_bytes(harness: Harness, serve: Serve, dialect: str, streamed: bool) -> None:
    bodies = []
    for mode in (None, "passthrough"):
        provider = serve(work)
        outcome = harness.run(basic(), [TWO], provider=provider, dialect=dialect, modes=[mode], streamed=streamed)
        assert outcome.error is None
        bodies.append([json.dumps(body) for body in provider.bodies])
    assert bodies[0] == bodies[1]


def size(provider: Provider) -> int:
    count = tscg.compile([]).tokenizer.count
    body = provider.bodies[0]
    tools = [{"type": "function", "function": one} if "input_schema" in one else one for one in body.get("tools", ())]
    system = body.get("system") or next((m["content"] for m in body["messages"] if m["role"] == "system"), "")
    return count(json.dumps(tools, separators=(",", ":"))) + count(json.dumps(system))


@BOTH
def test_c13_auto_never_sends_more_than_json(harness: Harness, serve: Serve, dialect: str) -> None:
    sizes = []
    for mode in (None, "auto"):
        provider = serve(work)
        outcome = harness.run(basic(), [ONE], provider=provider, dialect=dialect, modes=[mode], profile="auto")
        assert outcome.error is None
        sizes.append(size(provider))
    assert sizes[1] <= sizes[0]


@ALL
def test_c17_the_report_says_what_was_sent(harness: Harness, serve: Serve, mode: str) -> None:
    provider = serve(work)
    system = "You work."
    outcome = harness.run(basic(), [TWO], provider=provider, dialect="openai", modes=[mode], system=system)
    count = tscg.compile([]).tokenizer.count
    sent = 0
    for body in provider.bodies:
        told = body["messages"][0]["content"].removeprefix(outcome.system or system).removeprefix("\n\n")
        tools = getattr(harness, "as_written", list)(body.get("tools", ()))  # without what a client itself adds
        sent += count(told) + count(json.dumps(tools, separators=(",", ":")) if "tools" in body else "")
    assert outcome.report.sent_tokens == sent
    assert outcome.report.requests == outcome.report.rounds == len(provider.bodies) == 3
    assert outcome.report.input_tokens == outcome.input_tokens == 3 * INPUT_TOKENS
