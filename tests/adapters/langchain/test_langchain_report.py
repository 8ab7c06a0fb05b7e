"""The report against what the server received: to the token, in every round of every kind of call."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.tools import tool

import tscg
from langchain_tscg import CompressedChatModel, CompressedToolkit, MalformedToolCallError
from tests.adapters.langchain.harness import tool_of
from tests.adapters.langchain.models import ScriptedChatModel, StreamingChatModel, client
from tests.adapters.provider import INPUT_TOKENS, Answer, Provider, View, text_of
from tests.conformance.harness import Spec, basic, object_schema

SYSTEM = "You work."
STEPS = {"good": '{"number": 7}', "wrong": '{"number": "x"}', "broken": '{"number": 7,, '}
SPECS = [*basic(), Spec(name="a.b", description="A dot.", schema={"type": "object"})]
DIALECTS = ("openai", "anthropic", "responses")
COUNT = tscg.compile([]).tokenizer.count
pytestmark = pytest.mark.filterwarnings("ignore::tscg.TscgWarning")


@tool
def measure(part: str, unit: str = "mm") -> str:
    """Measure a part. Ask for the unit first."""
    return f"{part} {unit}"


# Dict schemas, as of MCP servers, a model of pydantic's, and a tool of the provider's own, which no one counts.
TOOLS: list[Any] = [*(tool_of(spec) for spec in SPECS), measure]
BUILTIN: dict[str, Any] = {
    "openai": None, "anthropic": {"type": "web_search_20250305", "name": "web_search"}, "responses": {"type": "web_search"},
}  # fmt: skip


class Script:
    """A model that takes its steps one after another; the last one again and again. `said` are those it took."""

    def __init__(self) -> None:
        self.steps: list[str] = ["text"]

    def __call__(self, view: View) -> Answer:
        step = self.steps.pop(0) if len(self.steps) > 1 else self.steps[0]
        if step == "text":
            return Answer(text="Done.")
        if step == "empty":
            return Answer()
        if step == "lookup":
            return self.lookup(view)
        return self.call(view, STEPS[step])

    def lookup(self, view: View) -> Answer:
        if "lookup" in view.tools:
            return Answer(calls=(("lookup", '{"tools": ["move"]}'),))
        return Answer(text='<tool_call>{"name": "lookup", "arguments": {"tools": ["move"]}}</tool_call>')

    def call(self, view: View, arguments: str) -> Answer:
        if "call" in view.tools:
            return Answer(calls=(("call", f'{{"tool": "get_order", "args": {arguments}}}'),))
        if "get_order" in view.tools:
            return Answer(calls=(("get_order", arguments),))
        return Answer(text=f'<tool_call>{{"name": "get_order", "arguments": {arguments}}}</tool_call>')


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[Provider, Script, dict[str, Any]]]:
    script = Script()
    provider = Provider(script).start()
    yield provider, script, {dialect: client(provider, dialect) for dialect in DIALECTS}
    provider.close()
    assert provider.broken == []


def chat_form(tool: dict[str, Any]) -> dict[str, Any] | None:
    """A tool of a request in OpenAI's chat form, None for the provider's own."""
    if "function" in tool:
        return tool
    if "input_schema" in tool:
        named = {"name": tool["name"], "description": tool.get("description", ""), "parameters": tool["input_schema"]}
        return {"type": "function", "function": named}
    if "parameters" in tool:
        return {"type": "function", "function": {key: value for key, value in tool.items() if key != "type"}}
    return None


def received(body: dict[str, Any]) -> int:
    """Tokens of all that a request says of tools."""
    system = text_of(body.get("system")) or next(
        (text_of(one["content"]) for one in body.get("messages") or body["input"] if one.get("role") == "system"), ""
    )
    tools = [form for form in map(chat_form, body.get("tools") or ()) if form is not None]
    written = json.dumps(tools, ensure_ascii=False, separators=(",", ":")) if tools else ""
    return COUNT(system.removeprefix(SYSTEM).removeprefix("\n\n")) + COUNT(written)


def asked(llm: Any, way: str) -> None:
    """One call in one of the ways; what stays wrong is an error, and is paid for."""
    messages = [SystemMessage(SYSTEM), HumanMessage("Go")]

    async def stream() -> None:
        async for _ in llm.astream(messages):
            pass

    try:
        if way == "stream":
            list(llm.stream(messages))
        elif way == "astream":
            asyncio.run(stream())
        else:
            llm.invoke(messages)
    except MalformedToolCallError:
        return


CHOICES = st.sampled_from([None, "any", "none", "get_order", "a.b"])
PLAYS = st.lists(st.sampled_from(["lookup", "wrong", "broken", "empty", "good", "text"]), min_size=1, max_size=5)


@given(
    mode=st.sampled_from(["native", "text", "dispatch", "passthrough", "auto"]),
    profile=st.sampled_from(["balanced", "signature"]),
    dialect=st.sampled_from(DIALECTS),
    choice=CHOICES,
    play=PLAYS,
    bounds=st.tuples(st.integers(0, 2), st.integers(0, 2)),
    way=st.sampled_from(["invoke", "invoke", "stream", "astream"]),
    strict=st.booleans(),
    pinned=st.booleans(),
    builtin=st.booleans(),
)
def test_c17_the_report_is_what_the_server_received(  # noqa: PLR0917  # the factors of one product
    server: tuple[Provider, Script, dict[str, Any]], mode: str, profile: str, dialect: str, choice: str | None,
    play: list[str], bounds: tuple[int, int], way: str, strict: bool, pinned: bool, builtin: bool,
) -> None:  # fmt: skip
    provider, script, clients = server
    provider.bodies.clear()
    script.steps = list(play)
    # A tool named `a.b` reaches no provider natively as it is, with or without us.
    specs = TOOLS if mode != "passthrough" else [one for one in TOOLS if one.name != "a.b"]
    llm = CompressedChatModel(
        inner=clients[dialect], mode=mode, compression_profile=profile, max_lookups=bounds[0], max_repairs=bounds[1],
        pin=("ping",) if pinned and mode in ("text", "dispatch") else (),
    )  # fmt: skip
    tools = [*specs, *([BUILTIN[dialect]] if builtin and BUILTIN[dialect] else [])]
    options: dict[str, Any] = {"strict": True} if strict and dialect != "anthropic" and choice != "a.b" else {}
    if choice is not None and not (choice == "a.b" and mode == "passthrough"):
        options["tool_choice"] = choice
    asked(llm.bind_tools(tools, **options), way)
    report = llm.report()
    assert report.sent_tokens == sum(map(received, provider.bodies))
    assert (report.requests, report.rounds) == (1, len(provider.bodies))
    assert report.input_tokens == INPUT_TOKENS * len(provider.bodies)
    assert report.plain_tokens == report.baseline_tokens == whole(specs)
    assert report.tools == len(specs)
    assert report.repairs <= bounds[1]


_whole: dict[int, int] = {}


def whole(specs: list[Any]) -> int:
    """Tokens of all tools as minified JSON."""
    return _whole.setdefault(len(specs), CompressedToolkit(specs, "passthrough").report().baseline_tokens)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_baseline_is_the_unwrapped_request(server: tuple[Provider, Script, dict[str, Any]], dialect: str) -> None:
    provider, script, clients = server
    provider.bodies.clear()
    script.steps = ["text"]
    tools = [one for one in TOOLS if one.name not in ("a.b",)]
    clients[dialect].bind_tools(tools).invoke([SystemMessage(SYSTEM), HumanMessage("Go")])
    assert received(provider.bodies[0]) == whole(tools)


# --- single cases ----------------------------------------------------------------------------------------------------


def test_a_last_round_without_lookups_does_not_count_the_lookup_tool(
    server: tuple[Provider, Script, dict[str, Any]],
) -> None:
    provider, script, clients = server
    provider.bodies.clear()
    script.steps = ["lookup", "good"]
    toolkit = CompressedToolkit([tool_of(spec) for spec in basic()], "dispatch", max_lookups=1)
    toolkit.bind(clients["openai"]).invoke([SystemMessage(SYSTEM), HumanMessage("Go")])
    report = toolkit.report()
    first, last = map(received, provider.bodies)
    assert last < first == report.tokens
    assert report.sent_tokens == first + last < 2 * report.tokens


@pytest.mark.parametrize("mode", ["native", "text", "dispatch"])
def test_a_forced_tool_is_compared_with_all_of_them(server: tuple[Provider, Script, dict[str, Any]], mode: str) -> None:
    provider, script, clients = server
    provider.bodies.clear()
    script.steps = ["good"]
    toolkit = CompressedToolkit([tool_of(spec) for spec in basic()], mode)
    before = toolkit.report()
    answer: Any = toolkit.bind(clients["openai"], tool_choice="get_order").invoke(
        [SystemMessage(SYSTEM), HumanMessage("Go")]
    )
    report = toolkit.report()
    assert (report.tools, report.plain_tokens) == (6, before.baseline_tokens)
    assert report.sent_tokens == received(provider.bodies[0]) == report.tokens < report.plain_tokens / 4
    record = answer.response_metadata["tscg"]
    assert (record["sent_tokens"], record["baseline_tokens"]) == (report.sent_tokens, before.baseline_tokens)


@pytest.mark.parametrize("way", ["stream", "astream"])
def test_a_stream_that_is_left_was_paid_for(server: tuple[Provider, Script, dict[str, Any]], way: str) -> None:
    provider, script, clients = server
    provider.bodies.clear()
    script.steps = ["lookup", "text"]
    toolkit = CompressedToolkit([tool_of(spec) for spec in basic()], "dispatch")
    llm = toolkit.bind(clients["openai"])
    messages = [SystemMessage(SYSTEM), HumanMessage("Go")]

    async def leave() -> None:
        stream: Any = llm.astream(messages)
        async for chunk in stream:
            if chunk.text:
                break
        await stream.aclose()

    if way == "astream":
        asyncio.run(leave())
    else:
        stream: Any = llm.stream(messages)
        next(chunk for chunk in stream if chunk.text)
        stream.close()
    report = toolkit.report()
    assert (report.requests, report.rounds, report.lookups) == (1, 2, 1)
    assert report.sent_tokens == sum(map(received, provider.bodies)) == 2 * report.tokens


def test_a_call_that_broke_off_counts_what_was_answered() -> None:
    script = [one for one in [_lookup()] if one]
    model = ScriptedChatModel(script=script)  # a second answer is an IndexError
    toolkit = CompressedToolkit([measure], "dispatch")
    with pytest.raises(IndexError):
        toolkit.bind(model).invoke("Go")
    report = toolkit.report()
    assert (report.requests, report.rounds, report.sent_tokens) == (1, 1, report.tokens)
    with pytest.raises(IndexError):
        toolkit.bind(ScriptedChatModel(script=[])).invoke("Go")
    assert toolkit.report() == report, "a request without an answer is none"


def _lookup() -> Any:
    from langchain_core.messages import AIMessage

    return AIMessage("", tool_calls=[{"name": "lookup", "args": {"tools": ["measure"]}, "id": "c"}])


@pytest.mark.parametrize("kind", [ScriptedChatModel, StreamingChatModel], ids=["whole", "stream"])
def test_an_answer_that_is_not_read_is_counted_and_says_so(kind: type[ScriptedChatModel]) -> None:
    from langchain_core.messages import AIMessage

    usage = {"input_tokens": 3, "output_tokens": 1, "total_tokens": 4}
    toolkit = CompressedToolkit([measure], "text")
    llm = toolkit.bind(kind(script=[AIMessage("Hi", usage_metadata=usage)]), tool_choice="none")
    answer: Any = None
    for chunk in llm.stream("Go"):
        answer = chunk if answer is None else answer + chunk
    report = toolkit.report()
    assert (answer.text, answer.usage_metadata["total_tokens"]) == ("Hi", 4)
    assert (report.requests, report.sent_tokens, report.input_tokens, report.saved) == (1, 0, 3, 1.0)
    assert answer.response_metadata["tscg"]["mode"] == "text"


# --- warnings --------------------------------------------------------------------------------------------------------

LOST = Spec(name="lost", description="Lost.", schema=object_schema({"y": {"$ref": "#/$defs/nowhere"}}))


@pytest.mark.parametrize("mode", ["auto", "native", "text", "dispatch", "passthrough"])
def test_warnings_of_the_catalog_are_told_once_and_reported(mode: str) -> None:
    from langchain_core.messages import AIMessage

    toolkit = CompressedToolkit([tool_of(LOST), measure], mode)
    llm = toolkit.bind(ScriptedChatModel(script=[AIMessage("Hi")] * 3))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for _ in range(2):
            llm.invoke("Go")
        llm.with_config(tags=["x"]).invoke("Go")
    texts = [str(one.message) for one in told if issubclass(one.category, tscg.TscgWarning)]
    assert [text for text in texts if "unchecked" in text] == [
        "unchecked: lost at /properties/y/$ref: dangling $ref '#/$defs/nowhere'"
    ]
    report = toolkit.report()
    assert report.warnings == CompressedToolkit([tool_of(LOST), measure], mode).report().warnings == (texts[0],)
    assert str(report).splitlines()[-1] == f"warning: {texts[0]}"


def test_many_warnings_are_told_in_one() -> None:
    from langchain_core.messages import AIMessage

    many = [Spec(name=f"lost_{n}", description="Lost.", schema=LOST.schema) for n in range(9)]
    toolkit = CompressedToolkit([tool_of(spec) for spec in many], "native")
    with pytest.warns(tscg.TscgWarning, match=r"lost_4 .*; and 4 more, see warnings of report\(\)$") as told:
        toolkit.bind(ScriptedChatModel(script=[AIMessage("Hi")])).invoke("Go")
    assert "lost_5" not in str(told[0].message)
    assert len(toolkit.report().warnings) == 9


def test_what_is_known_of_a_model_is_told() -> None:
    from langchain_core.messages import AIMessage

    class Phi(ScriptedChatModel):
        model: str = "ollama/phi4"

    llm = CompressedToolkit([measure], "native").bind(Phi(script=[AIMessage("Hi")]))
    with pytest.warns(tscg.TscgWarning, match=r"known to do badly with ollama/phi4"):
        llm.invoke("Go")
