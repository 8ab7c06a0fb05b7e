"""Both entry points with scripted LLMs: what the LLM gets, what comes back, errors and settings."""

from __future__ import annotations

import asyncio
import copy
import gc
import inspect
import json
import pickle
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from llama_index.core import Settings
from llama_index.core.base.llms.types import (
    CacheControl,
    CachePoint,
    ChatMessage,
    ImageBlock,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)
from llama_index.core.callbacks import CallbackManager, CBEventType, TokenCountingHandler
from llama_index.core.llms import LLM, MockLLM
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.prompts import PromptTemplate
from llama_index.core.tools import FunctionTool, ToolMetadata
from pydantic import BaseModel, Field

import tscg
from llama_index_tscg import (
    CompressedLLM,
    CompressionCallbackManager,
    MalformedToolCallError,
    SchemaMetadata,
    ToolCompressionEvent,
    compress_llm,
)
from llama_index_tscg.callbacks import METHODS
from llama_index_tscg.calls import encoded, finish_reason, said, usage_of, with_prompt
from llama_index_tscg.convert import form, is_output, snapshot, without_signature
from llama_index_tscg.plan import choice_of
from tests.adapters.llamaindex.harness import hearing, manager
from tests.adapters.llamaindex.models import CompletionLLM, ScriptedLLM

MODES = ("native", "text", "dispatch", "passthrough")
ALL = pytest.mark.parametrize("mode", MODES)
FORMS = pytest.mark.parametrize("form", ["wrapper", "manager"])
WAYS = ("chat_with_tools", "achat_with_tools", "stream_chat_with_tools", "astream_chat_with_tools")
WAY = pytest.mark.parametrize("way", WAYS)
# Catalogs of two tools are smaller than what is said about calling.
pytestmark = pytest.mark.filterwarnings("ignore:.* mode sends .* as JSON:tscg.TscgWarning")


def weather(city: str, unit: str = "c") -> str:
    """Weather of a city. Asks a station."""
    return f"{city}: 20 {unit}"


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


TOOLS = [FunctionTool.from_defaults(weather), FunctionTool.from_defaults(add)]


def native(*calls: tuple[str, Any], text: str = "") -> ChatMessage:
    """Native calls; arguments that are a text stand as the model wrote them."""
    blocks: list[Any] = [TextBlock(text=text)] if text else []
    blocks += [
        ToolCallBlock(tool_call_id=f"n{n}", tool_name=name, tool_kwargs=arguments)
        for n, (name, arguments) in enumerate(calls)
    ]
    return ChatMessage(role="assistant", blocks=blocks)


def called(mode: str, name: str, arguments: Any) -> ChatMessage:
    """A call as a model writes it in a mode."""
    raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
    if mode == "text":
        return plain(f'<tool_call>{{"name": "{name}", "arguments": {raw}}}</tool_call>')
    if mode == "dispatch":
        return native(("call", f'{{"tool": "{name}", "args": {raw}}}'))
    return native((name, raw))


def plain(text: str) -> ChatMessage:
    return ChatMessage(text, role="assistant")


@contextmanager
def compressed(form: str, llm: LLM, mode: Any, **options: Any) -> Iterator[Any]:
    """The LLM to call, under one of the two entry points."""
    if form == "wrapper":
        yield compress_llm(llm, mode, "balanced", **options)
        return
    with manager(mode, **options):
        yield llm


def asked(llm: Any, way: str, *args: Any, **kwargs: Any) -> Any:
    """The answer, by one of the four methods: of a stream its last chunk, its deltas beside."""
    chunks = asyncio.run(_collected(llm, way, args, kwargs))
    deltas = "".join(chunk.delta or "" for chunk in chunks)
    if "stream" in way and chunks:
        assert deltas == (chunks[-1].message.content or "")
        assert [one for chunk in chunks[:-1] for one in chunk.message.blocks if isinstance(one, ToolCallBlock)] == []
    return chunks[-1] if chunks else None


async def _collected(llm: Any, way: str, args: Any, kwargs: Any) -> list[Any]:
    result = getattr(llm, way)(*args, **kwargs)
    if way.startswith("a"):
        result = await result
        return [chunk async for chunk in result] if "stream" in way else [result]
    return list(result) if "stream" in way else [result]


def calls_of(response: Any) -> list[tuple[str, Any]]:
    blocks = [one for one in response.message.blocks if isinstance(one, ToolCallBlock)]
    return [(one.tool_name, given(one)) for one in blocks]


def given(block: Any) -> Any:
    """The arguments of a block: an object, or one as JSON text where the LLM itself writes text."""
    return json.loads(block.tool_kwargs) if isinstance(block.tool_kwargs, str) else block.tool_kwargs


def selected(llm: Any, response: Any) -> list[tuple[str, Any]]:
    return [(one.tool_name, one.tool_kwargs) for one in llm.get_tool_calls_from_response(response)]


# --- ways to call -----------------------------------------------------------------------------------------------------


@ALL
@FORMS
@WAY
def test_c1_every_way_to_call_gives_the_same_call(mode: str, form: str, way: str) -> None:
    wanted = [("weather", {"city": "Oslo", "unit": "f"})]
    with compressed(form, ScriptedLLM(called(mode, *wanted[0])), mode) as llm:
        response = asked(llm, way, TOOLS, user_msg="Oslo?")
        assert selected(llm, response) == wanted
        assert response.message.additional_kwargs == {}


@ALL
@FORMS
@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
def test_c1_predict_and_call_runs_the_real_tool(mode: str, form: str, asynchronous: bool) -> None:
    with compressed(form, ScriptedLLM(called(mode, "add", {"a": 2, "b": 3})), mode) as llm:
        if asynchronous:
            answer = asyncio.run(llm.apredict_and_call(TOOLS, user_msg="2 + 3?"))
        else:
            answer = llm.predict_and_call(TOOLS, user_msg="2 + 3?")
    assert (str(answer), answer.sources[0].tool_name) == ("5", "add")


@ALL
@FORMS
@pytest.mark.parametrize("size", [1, 5, 7])
def test_c3_a_stream_in_pieces_shows_text_alone(mode: str, form: str, size: int) -> None:
    said = called(mode, "weather", {"city": "Oslo"})
    words = "I ask <b>now</b>."
    blocks = [TextBlock(text=f"{words}\n{said.content or ''}")]
    blocks += [one for one in said.blocks if isinstance(one, ToolCallBlock)]  # type: ignore[misc]
    with compressed(form, ScriptedLLM(ChatMessage(role="assistant", blocks=blocks), size=size), mode) as llm:
        last = asked(llm, "stream_chat_with_tools", TOOLS, user_msg="Oslo?")
    assert (last.message.content.strip(), last.delta) == (words, "")
    assert calls_of(last)[0][0] == "weather"


def test_c2_ids_of_calls_in_text_are_new_at_each_turn() -> None:
    two = plain('<tool_call>{"name":"add","arguments":{"a":1,"b":2}}</tool_call>\n' * 2)
    llm = compress_llm(ScriptedLLM(two), "text", "balanced")
    history = [ChatMessage("Go", role="user")]
    ids: list[Any] = []
    for _ in range(3):
        answer = llm.chat_with_tools(TOOLS, chat_history=history, allow_parallel_tool_calls=True).message
        ids += [one.tool_call_id for one in answer.blocks if isinstance(one, ToolCallBlock)]
        # A memory of a bounded length drops the first messages: the count of them says nothing.
        history = [answer, *(results(answer))]
    assert len(set(ids)) == 6


def results(answer: ChatMessage) -> list[ChatMessage]:
    ids = [one.tool_call_id for one in answer.blocks if isinstance(one, ToolCallBlock)]
    return [ChatMessage("3", role="tool", additional_kwargs={"tool_call_id": id}) for id in ids]


def test_an_abandoned_stream_closes_the_inner_one_and_is_counted() -> None:
    closed: list[bool] = []

    class Watched(ScriptedLLM):
        def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> Any:
            inner = super().stream_chat(messages, **kwargs)

            def chunks() -> Any:
                try:
                    yield from inner
                finally:
                    closed.append(True)

            return chunks()

    llm = compress_llm(Watched.saying(plain("One two three four five.")), "text", "balanced")
    stream = llm.stream_chat_with_tools(TOOLS, user_msg="Count")
    next(stream)
    assert not closed
    stream.close()
    assert closed == [True]
    assert (llm.report().requests, llm.report().rounds) == (1, 1)

    async def abandoned() -> None:
        chunks = await llm.astream_chat_with_tools(TOOLS, user_msg="Count")
        await anext(chunks)
        await chunks.aclose()

    asyncio.run(abandoned())
    assert llm.report().requests == 2


# --- what is sent -----------------------------------------------------------------------------------------------------


@FORMS
def test_the_llm_gets_a_dispatcher_and_the_map(form: str) -> None:
    inner = ScriptedLLM(plain("Hi"))
    with compressed(form, inner, "dispatch") as llm:
        llm.chat_with_tools(TOOLS, user_msg="Hi")
    got = inner.got[0]
    assert [tool.metadata.name for tool in got["tools"]] == ["call", "lookup"]
    assert {"type", "properties"} <= got["tools"][0].metadata.get_parameters_dict().keys()
    assert got["tools"][0].metadata.to_openai_tool()["function"]["name"] == "call"
    assert [one.role.value for one in got["messages"]] == ["system", "user"]
    assert "weather" in got["messages"][0].content
    with pytest.raises(AssertionError):
        got["tools"][0].call()


@FORMS
def test_text_mode_sends_no_tools_and_nothing_about_them(form: str) -> None:
    inner = ScriptedLLM(plain("Hi"))
    with compressed(form, inner, "text") as llm:
        llm.chat_with_tools(TOOLS, user_msg="Hi", verbose=True, strict=True, temperature=0.5)
    assert inner.got[0].keys() == {"messages", "temperature"}


@ALL
def test_passthrough_alone_sends_the_objects_that_were_given(mode: str) -> None:
    inner = ScriptedLLM(plain("Hi"))
    compress_llm(inner, mode, "balanced").chat_with_tools(TOOLS, user_msg="Hi")
    same = [a is b for a, b in zip(inner.got[0].get("tools", ()), TOOLS, strict=False)]
    assert (same == [True, True]) == (mode == "passthrough")


@ALL
@FORMS
@WAY
def test_c16_what_the_caller_gave_stays_as_it_is(mode: str, form: str, way: str) -> None:
    history = [
        ChatMessage("Be kind.", role="system"), ChatMessage("1 + 2?", role="user"), native(("add", {"a": 1, "b": 2})),
        ChatMessage("3", role="tool", additional_kwargs={"tool_call_id": "n0"}),
    ]  # fmt: skip
    before = copy.deepcopy(history)
    message = ChatMessage("And?", role="user")

    class Careless(ScriptedLLM):
        def _prepare_chat_with_tools(self, *args: Any, **kwargs: Any) -> Any:
            prepared = super()._prepare_chat_with_tools(*args, **kwargs)
            for one in prepared["messages"]:  # as one integration marks messages for the cache
                one.additional_kwargs["cache_control"] = {"type": "ephemeral"}
            prepared["messages"].append(ChatMessage("stray"))
            return prepared

    with compressed(form, Careless.saying(plain("Good.")), mode) as llm:
        asked(llm, way, TOOLS, user_msg=message, chat_history=history)
    assert history == before
    assert message.additional_kwargs == {}


@pytest.mark.parametrize(
    ("system", "texts"),
    [
        pytest.param([], ["PROMPT"], id="none"),
        pytest.param([TextBlock(text="Be kind.")], ["Be kind.", "\n\nPROMPT"], id="text"),
        pytest.param([TextBlock(text="")], ["", "PROMPT"], id="empty"),
        pytest.param([TextBlock(text="Be kind."), CachePoint(cache_control=CacheControl(type="ephemeral"))], ["Be kind.", "\n\nPROMPT", "cache"], id="cache-point"),
    ],
)  # fmt: skip
def test_c5_the_prompt_is_last_in_the_first_system_message(system: list[Any], texts: list[str]) -> None:
    first = [ChatMessage(role="system", blocks=system)] if system else []
    given = [*first, ChatMessage("Hi"), *([ChatMessage("Later.", role="system")] if system else [])]
    before = copy.deepcopy(given)
    out = with_prompt(given, "PROMPT")
    assert [getattr(block, "text", "cache") for block in out[0].blocks] == texts
    assert out[0].role == "system"
    assert out[1:] == given[len(first) :]
    assert given == before


def test_stop_words_join_those_of_the_caller() -> None:
    inner = ScriptedLLM(plain("Hi"))
    llm = compress_llm(inner, "text", "balanced")
    llm.chat_with_tools(TOOLS, user_msg="Hi")
    llm.chat_with_tools(TOOLS, user_msg="Hi", stop=["END"])
    assert [one.get("stop") for one in inner.got] == [None, ["END", "<tool_response>"]]


def test_pinned_tools_stay_native_beside_text() -> None:
    inner = ScriptedLLM(native(("add", {"a": 1, "b": 2})), plain("Hi"))
    llm = compress_llm(inner, "text", "balanced", pin="add")
    answer = llm.chat_with_tools(TOOLS, user_msg="Sum", tool_required=True)
    assert calls_of(answer) == [("add", {"a": 1, "b": 2})]
    assert [tool.metadata.name for tool in inner.got[0]["tools"]] == ["add"]
    assert not inner.got[0]["tool_required"]  # a call in text would do
    both = native(("weather", {"city": "Oslo"}), ("add", {"a": 1, "b": 2}))
    llm.chat_with_tools(TOOLS, chat_history=[ChatMessage("Go"), both, *results(both)])
    _, _, call, pinned, texts = inner.got[1]["messages"]
    assert [one.tool_name for one in call.blocks if isinstance(one, ToolCallBlock)] == ["add"]
    assert "weather" in call.content
    assert (pinned.additional_kwargs["tool_call_id"], texts.role.value) == ("n1", "user")


def test_no_tools_leave_the_call_alone_but_for_a_history_as_text() -> None:
    past = native(("add", {"a": 1, "b": 2}))
    for mode, roles in (("text", ["user", "assistant", "user"]), ("native", ["user", "assistant", "tool"])):
        inner = ScriptedLLM(plain("Hi"))
        compress_llm(inner, mode).chat_with_tools([], chat_history=[ChatMessage("Go"), past, *results(past)])
        assert [one.role.value for one in inner.got[0]["messages"]] == roles


# --- rounds -----------------------------------------------------------------------------------------------------------


@FORMS
@WAY
def test_c6_lookups_are_answered_inside(form: str, way: str) -> None:
    inner = ScriptedLLM(native(("lookup", {"tools": ["add"]}), text="Hm. "), plain("Three."))
    with compressed(form, inner, "dispatch") as llm:
        answer = asked(llm, way, TOOLS, user_msg="1 + 2?")
    assert answer.message.content == ("Hm. Three." if "stream" in way else "Three.")
    assert calls_of(answer) == []
    put, reply = inner.got[1]["messages"][-2:]
    assert (put.blocks[-1].tool_name, reply.additional_kwargs) == ("lookup", {"tool_call_id": "n0"})
    assert inner.got[1]["messages"][:2] == inner.got[0]["messages"]


WRONG = [
    pytest.param({"a": "x", "b": 2}, id="type"),
    pytest.param({"a": 1}, id="missing"),
    pytest.param('{"a": 1, "b"', id="cut"),
    pytest.param({"a": [1], "b": 2}, id="list"),
]


@ALL
@FORMS
@pytest.mark.parametrize("arguments", WRONG)
@pytest.mark.parametrize("way", ["chat_with_tools", "astream_chat_with_tools"])
def test_c7_wrong_arguments_are_answered_and_asked_again(mode: str, form: str, arguments: Any, way: str) -> None:
    inner = ScriptedLLM(called(mode, "add", arguments), called(mode, "add", {"a": 1, "b": 2}))
    with compressed(form, inner, mode) as llm:
        assert selected(llm, asked(llm, way, TOOLS, user_msg="Sum")) == [("add", {"a": 1, "b": 2})]
    again = inner.got[1]["messages"][len(inner.got[0]["messages"]) :]
    assert [one.role.value for one in again] == (["assistant", "user"] if mode == "text" else ["assistant", "tool"])
    if mode != "text":
        assert again[1].additional_kwargs["tool_call_id"] == again[0].blocks[-1].tool_call_id
        assert isinstance(given(again[0].blocks[-1]), dict)


@ALL
@FORMS
@WAY
def test_c7_a_call_that_stays_wrong_is_an_error_that_is_seen(mode: str, form: str, way: str) -> None:
    inner = ScriptedLLM(called(mode, "add", {"a": 1}))
    with compressed(form, inner, mode) as llm, pytest.raises(MalformedToolCallError) as caught:
        asked(llm, way, TOOLS, user_msg="Sum")
    assert isinstance(caught.value, ValueError)
    assert [error.tool for error in caught.value.errors] == ["add"]
    assert caught.value.raw is not None
    assert len(inner.got) == 3


def test_c7_an_answer_shaped_like_a_schema_is_refused() -> None:
    inner = ScriptedLLM(native(("add", '{"type": "object", "properties": {}}')), native(("add", {"a": 1, "b": 2})))
    assert calls_of(compress_llm(inner, "native").chat_with_tools(TOOLS, user_msg="Sum")) == [("add", {"a": 1, "b": 2})]
    assert len(inner.got) == 2


def test_c7_single_quotes_are_repaired_with_their_lists() -> None:
    tool = FunctionTool(fn=len, metadata=SchemaMetadata(name="read", description="", schema=PAGES))
    inner = ScriptedLLM(native(("read", "{'pages': ['Coca-Cola'], 'query_str': ''}")))
    answer = compress_llm(inner, "native").chat_with_tools([tool, *TOOLS], user_msg="Read")
    assert calls_of(answer) == [("read", {"pages": ["Coca-Cola"], "query_str": ""})]


PAGES = {"type": "object", "properties": {"pages": {"type": "array", "items": {"type": "string"}}, "query_str": {"type": "string"}}, "required": ["pages"]}  # fmt: skip


@ALL
@pytest.mark.parametrize("way", ["chat_with_tools", "stream_chat_with_tools"])
def test_c8_repairs_used_up_beside_a_good_call(mode: str, way: str) -> None:
    one, two = called(mode, "add", {"a": 1, "b": 2}), called(mode, "add", {"a": 1})
    second = [
        block.model_copy(update={"tool_call_id": "n1"}) for block in two.blocks if isinstance(block, ToolCallBlock)
    ]
    text = [TextBlock(text=f"{one.content}\n{two.content}")] if mode == "text" else []
    first = [block for block in one.blocks if isinstance(block, ToolCallBlock)]
    llm = compress_llm(ScriptedLLM(ChatMessage(role="assistant", blocks=[*text, *first, *second])), mode, max_repairs=0)
    with hearing() as heard:
        answer = asked(llm, way, TOOLS, user_msg="Sum", allow_parallel_tool_calls=True)
    assert selected(llm, answer) == [("add", {"a": 1, "b": 2})]
    (event,) = heard.of(ToolCompressionEvent)
    assert event.errors == [{"kind": "missing_required", "tool": "add"}]


@FORMS
@WAY
def test_c8_text_beside_calls_stays_and_an_empty_answer_is_one(form: str, way: str) -> None:
    texts = ("I add.", "")
    for text in texts:
        with compressed(form, ScriptedLLM(plain(text)), "text") as llm:
            answer = asked(llm, way, TOOLS, user_msg="Hi")
        assert ((answer.message.content or "") if answer else "") == text
    both = plain('I add.\n<tool_call>{"name":"add","arguments":{"a":1,"b":2}}</tool_call>')
    with compressed(form, ScriptedLLM(both), "text") as llm:
        answer = asked(llm, way, TOOLS, user_msg="Hi")
    assert (answer.message.content.strip(), calls_of(answer)) == ("I add.", [("add", {"a": 1, "b": 2})])


@pytest.mark.parametrize("reason", ["max_tokens", "length"])
def test_c9_half_a_call_that_an_integration_has_closed_is_not_run(reason: str) -> None:
    from llama_index.core.base.llms.types import ChatResponse

    cut = native(("weather", {"city": "Os"}))
    response = ChatResponse(message=cut, raw={"stop_reason": reason})
    assert finish_reason(response) == reason
    arguments = said(response, reason)["tool_calls"][0]["function"]["arguments"]
    decoded = tscg.compile(snapshot(TOOLS).catalog, mode="native").decode(said(response, reason), finish_reason=reason)
    assert (arguments, decoded.calls, decoded.errors[0].kind) == ('{"city":"Os"', (), "truncated")
    assert said(response, "stop")["tool_calls"][0]["function"]["arguments"] == '{"city":"Os"}'


def test_arguments_go_back_in_the_form_in_which_the_llm_writes_them() -> None:
    """Some integrations take JSON text alone, others objects alone."""
    for arguments, kind in (({"a": 1, "b": 2}, dict), ('{"a": 1, "b": 2}', str)):
        for mode in ("native", "dispatch"):
            made = native(("add", arguments)) if mode == "native" else native(
                ("call", {"tool": "add", "args": {"a": 1, "b": 2}} if kind is dict else '{"tool": "add", "args": {"a": 1, "b": 2}}')
            )  # fmt: skip
            inner = ScriptedLLM(made, plain("Three."))
            llm = compress_llm(inner, mode, "balanced")
            answer: Any = llm.chat_with_tools(TOOLS, user_msg="1 + 2?").message
            history = [ChatMessage("1 + 2?"), answer, *results(answer)]
            llm.chat_with_tools(TOOLS, chat_history=history)
            sent = [
                one for message in inner.got[1]["messages"] for one in message.blocks if isinstance(one, ToolCallBlock)
            ]
            assert [type(one.tool_kwargs) for one in (answer.blocks[-1], sent[0])] == [kind, kind]


def test_thinking_goes_back_with_its_calls() -> None:
    thought = ThinkingBlock(content="Hm.", additional_information={"signature": "s"})
    wrong = native(("add", {"a": 1}))
    wrong.blocks.insert(0, thought)
    inner = ScriptedLLM(wrong, native(("add", {"a": 1, "b": 2})))
    compress_llm(inner, "native").chat_with_tools(TOOLS, user_msg="Sum")
    assert inner.got[1]["messages"][-2].blocks[0] == thought


# --- choice -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "required", "kind", "name"),
    [
        (None, False, "auto", ""), (None, True, "any", ""), ("auto", False, "auto", ""), ("none", False, "none", ""),
        ("required", False, "any", ""), ("any", False, "any", ""), ("add", False, "tool", "add"), ("add", True, "tool", "add"),
        ({"type": "function", "function": {"name": "add"}}, False, "tool", "add"),
        ({"type": "tool", "name": "add"}, False, "tool", "add"), ({"type": "any"}, False, "any", ""),
        ({"type": "none"}, False, "none", ""), ({"type": "auto"}, False, "auto", ""), ("file_search", False, "auto", ""),
    ],
)  # fmt: skip
def test_c10_choices_are_read(given: Any, required: bool, kind: str, name: str) -> None:
    choice = choice_of(given, required, {"add": 1})
    assert (choice.kind, choice.name) == (kind, name)


@ALL
@FORMS
@pytest.mark.parametrize("given", ["add", {"type": "tool", "name": "add"}], ids=["name", "dict"])
def test_c10_a_forced_tool_is_sent_alone_and_in_full(mode: str, form: str, given: Any) -> None:
    inner = ScriptedLLM(native(("add", {"a": 1, "b": 2})))
    with compressed(form, inner, mode) as llm:
        assert selected(llm, llm.chat_with_tools(TOOLS, user_msg="Sum", tool_choice=given)) == [
            ("add", {"a": 1, "b": 2})
        ]
    got = inner.got[0]
    assert got["tool_choice"] == given
    assert got["tools"] == (TOOLS if mode == "passthrough" else [TOOLS[1]])
    assert [one.role.value for one in got["messages"]] == ["user"]


def test_c10_a_forced_tool_whose_name_is_illegal() -> None:
    odd = FunctionTool.from_defaults(add, name="math.add")
    inner = ScriptedLLM(native(("math_add", {"a": 1, "b": 2})))
    answer = compress_llm(inner, "native").chat_with_tools([odd, *TOOLS], user_msg="Sum", tool_choice="math.add")
    assert calls_of(answer) == [("math.add", {"a": 1, "b": 2})]
    assert inner.got[0]["tool_choice"] == inner.got[0]["tools"][0].metadata.name == "math_add"


def test_c10_a_forced_tool_without_function_calling() -> None:
    inner = CompletionLLM(script=[text_call("weather", '{"city": "Oslo"}'), text_call("add", '{"a": 1, "b": 2}')])
    answer = compress_llm(inner, "text").chat_with_tools(TOOLS, user_msg="Sum", tool_choice="add")
    assert calls_of(answer) == [("add", {"a": 1, "b": 2})]
    assert len(inner.prompts) == 2


def text_call(name: str, arguments: str) -> str:
    return f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'


@ALL
@WAY
def test_c10_a_required_call_is_asked_for(mode: str, way: str) -> None:
    inner = ScriptedLLM(plain("No."), called(mode, "add", {"a": 1, "b": 2}))
    llm = compress_llm(inner, mode, "balanced")
    assert selected(llm, asked(llm, way, TOOLS, user_msg="Sum", tool_required=True)) == [("add", {"a": 1, "b": 2})]
    assert inner.got[0].get("tool_required") == (None if mode == "text" else True)
    assert len(inner.got) == 2
    if mode == "dispatch":
        assert [tool.metadata.name for tool in inner.got[0]["tools"]] == ["call"]


@ALL
@WAY
def test_c10_none_calls_nothing(mode: str, way: str) -> None:
    inner = ScriptedLLM(plain("Text <tool_call> here."))
    llm = compress_llm(inner, mode, "balanced")
    with hearing() as heard:
        answer = asked(llm, way, TOOLS, user_msg="Hi", tool_choice="none")
    assert len(heard.of(ToolCompressionEvent)) == llm.report().requests == 1
    if mode == "text":
        assert answer.message.content == "Text <tool_call> here."
        assert [one.role.value for one in inner.got[0]["messages"]] == ["user"]
        assert (llm.report().sent_tokens, llm.report().saved) == (0, 1)
    else:
        assert inner.got[0]["tool_choice"] == "none"


@ALL
@FORMS
@WAY
def test_c10_without_parallel_calls_the_first_is_kept(mode: str, form: str, way: str) -> None:
    one, two = called(mode, "add", {"a": 1, "b": 2}), called(mode, "weather", {"city": "Oslo"})
    calls = [block for message in (one, two) for block in message.blocks if isinstance(block, ToolCallBlock)]
    blocks: list[Any] = [block.model_copy(update={"tool_call_id": f"n{n}"}) for n, block in enumerate(calls)]
    if mode == "text":
        blocks = [TextBlock(text=f"{one.content}\n{two.content}")]
    with compressed(form, ScriptedLLM(ChatMessage(role="assistant", blocks=blocks)), mode) as llm, hearing() as heard:
        assert [name for name, _ in selected(llm, asked(llm, way, TOOLS, user_msg="Both"))] == ["add"]
        (event,) = heard.of(ToolCompressionEvent)
        assert event.dropped == ["weather"]
        more = asked(llm, way, TOOLS, user_msg="Both", allow_parallel_tool_calls=True)
        assert [name for name, _ in selected(llm, more)] == ["add", "weather"]


def test_c10_strict_makes_the_dispatchers_arguments_a_text() -> None:
    inner = ScriptedLLM(native(("call", '{"tool": "add", "args": "{\\"a\\": 1, \\"b\\": 2}"}')))
    answer = compress_llm(inner, "dispatch").chat_with_tools(TOOLS, user_msg="Sum", strict=True)
    assert inner.got[0]["tools"][0].metadata.schema["properties"]["args"]["type"] == "string"
    assert inner.got[0]["strict"] is True
    assert calls_of(answer) == [("add", {"a": 1, "b": 2})]


# --- structured output ------------------------------------------------------------------------------------------------


class Verdict(BaseModel):
    """The verdict."""

    title: str = ""
    stars: int = 0


GIVEN = native(("Verdict", '{"title": "Sea", "stars": 4}'))


@ALL
@FORMS
def test_c11_structured_output_is_left_alone(mode: str, form: str) -> None:
    inner = ScriptedLLM(GIVEN)
    prompt = PromptTemplate("Judge {thing}.")
    wanted = Verdict(title="Sea", stars=4)
    with compressed(form, inner, mode) as llm:
        assert llm.structured_predict(Verdict, prompt, thing="it") == wanted
        assert asyncio.run(llm.astructured_predict(Verdict, prompt, thing="it")) == wanted
        assert llm.as_structured_llm(Verdict).complete("Judge.").raw == wanted
    assert {tool.metadata.name for got in inner.got for tool in got["tools"]} == {"Verdict"}
    assert all(len(got["messages"]) == 1 for got in inner.got)


@ALL
@FORMS
def test_c11_a_single_tool_that_is_forced_is_left_alone(mode: str, form: str) -> None:
    inner = ScriptedLLM(native(("add", {"a": 1, "b": 2})))
    with compressed(form, inner, mode) as llm:
        for more in ({"tool_required": True}, {"tool_choice": "add"}, {"tool_choice": "required"}):
            assert selected(llm, llm.chat_with_tools([TOOLS[1]], user_msg="Sum", **more)) == [("add", {"a": 1, "b": 2})]
    assert [got["tools"] for got in inner.got] == [[TOOLS[1]]] * 3


def test_guard_the_tool_of_a_structured_answer_is_known() -> None:
    """`get_function_tool` marks it by nothing but the module of its function."""
    from llama_index.core.program.function_program import get_function_tool

    assert is_output(get_function_tool(Verdict))
    assert not is_output(TOOLS[0])


# --- tools ------------------------------------------------------------------------------------------------------------


def parameters(tool: FunctionTool) -> dict[str, Any]:
    found: dict[str, Any] = form(tool)["function"]["parameters"]
    return found


def preset(city: str, key: str = Field(default="k", description="The key."), *, self_made: bool = False) -> str:
    """Ask."""
    return f"{city} {key} {self_made}"


def test_c14_what_is_injected_is_never_in_a_schema() -> None:
    from llama_index.core.workflow import Context

    class Given(BaseModel):
        city: str
        ctx: str
        key: str

    async def recall(ctx: Context, city: str, key: str) -> str:
        """Recall."""
        return f"{city} {key}"

    recall.__annotations__["ctx"] = Context  # LlamaIndex looks for the class, and here it is a text
    own = FunctionTool.from_defaults(async_fn=recall, partial_params={"key": "secret"})
    given = FunctionTool.from_defaults(async_fn=recall, partial_params={"key": "secret"}, fn_schema=Given)
    for tool in (own, given):
        assert (list(parameters(tool)["properties"]), parameters(tool)["required"]) == (["city"], ["city"])
        assert without_signature(tool) == "Recall."
        assert snapshot([tool]).catalog[0].schema == parameters(tool)


@pytest.mark.parametrize(
    ("tool", "description"),
    [
        (FunctionTool.from_defaults(weather), "Weather of a city. Asks a station."),
        (FunctionTool.from_defaults(preset), "Ask."), (FunctionTool.from_defaults(lambda x: x, name="f"), ""),
        (FunctionTool.from_defaults(add, description="add(a, b) gives the sum"), "add(a, b) gives the sum"),
        (FunctionTool.from_defaults(add, name="sum", description=""), ""),
    ],
)  # fmt: skip
def test_the_signature_in_front_of_a_docstring_is_left_out(tool: FunctionTool, description: str) -> None:
    assert without_signature(tool) == description
    read = snapshot([tool])
    assert read.catalog[0].description == description
    assert read.plain[0].description.strip() == tool.metadata.description.strip()


def test_the_report_compares_with_what_llamaindex_would_send() -> None:
    read = snapshot(TOOLS)
    count = tscg.compile([]).tokenizer.count
    sent = json.dumps([tool.metadata.to_openai_tool() for tool in TOOLS], ensure_ascii=False, separators=(",", ":"))
    llm = compress_llm(ScriptedLLM(plain("Hi")), "text")
    llm.chat_with_tools(TOOLS, user_msg="Hi")
    assert llm.report().plain_tokens == count(sent)
    through = compress_llm(ScriptedLLM(plain("Hi")), "passthrough")
    through.chat_with_tools(TOOLS, user_msg="Hi")
    assert through.report().sent_tokens == through.report().plain_tokens == count(sent)
    assert read.catalog is not read.plain


class Leaf(BaseModel):
    kind: Literal["a", "b"]
    more: list[Leaf] = Field(default_factory=list)


class Plant(BaseModel):
    leaves: list[Leaf]
    any_of: bool | None = None


def test_models_by_reference_reach_the_catalog_and_their_values_stay_json() -> None:
    plant = FunctionTool.from_defaults(lambda leaves: "", name="plant", description="Plant leaves.", fn_schema=Plant)
    inner = ScriptedLLM(called("text", "plant", {"leaves": [{"kind": "a", "more": [{"kind": "b"}]}]}))
    answer = compress_llm(inner, "text").chat_with_tools([plant], user_msg="Plant")
    assert calls_of(answer) == [("plant", {"leaves": [{"kind": "a", "more": [{"kind": "b"}]}]})]
    assert "kind(a b)" in inner.got[0]["messages"][0].content


def test_odd_metadata() -> None:
    class Own(ToolMetadata):
        def get_parameters_dict(self) -> dict[str, Any]:
            return PAGES

    long = FunctionTool.from_defaults(add, name="long", description="Words. " * 5_200)
    bare = FunctionTool(fn=len, metadata=ToolMetadata(name="bare", description=None, fn_schema=None))  # type: ignore[arg-type]
    own = FunctionTool(fn=len, metadata=Own(name="own", description="Own."))
    tools = [long, bare, own]
    for mode in MODES:
        compress_llm(ScriptedLLM(plain("Hi")), mode).chat_with_tools(tools, user_msg="Hi")
    assert parameters(bare)["required"] == ["input"]
    assert parameters(own) == PAGES
    assert snapshot(tools).catalog is snapshot(list(tools)).catalog


def test_tools_are_read_once_and_again_when_they_change() -> None:
    tools = [FunctionTool.from_defaults(weather), FunctionTool.from_defaults(add)]
    first = snapshot(tools)
    assert snapshot(list(tools)) is first
    assert snapshot([FunctionTool.from_defaults(weather), FunctionTool.from_defaults(add)]).catalog is first.catalog
    tools[0].metadata.description = "Another one."
    assert [one.description for one in snapshot(tools).catalog if one.name == "weather"] == ["Another one."]
    tools[0].metadata.fn_schema = Leaf
    assert [one.name for one in snapshot(tools).catalog if "kind" in json.dumps(one.schema)] == ["weather"]


# --- history ----------------------------------------------------------------------------------------------------------


@ALL
def test_c18_foreign_histories_are_written(mode: str) -> None:
    image = ImageBlock(url="https://example.com/a.png")
    old = ChatMessage("I look.", role="assistant", additional_kwargs={"tool_calls": [
        {"id": "o1", "type": "function", "function": {"name": "was.here", "arguments": '{"x": 1}'}}]})  # fmt: skip
    history = [
        ChatMessage("Before"), old,
        ChatMessage(role="tool", blocks=[TextBlock(text="A map"), image], additional_kwargs={"tool_call_id": "o1"}),
        native(("dangling", '{"half'), ("add", {"a": 1, "b": 2})),
        ChatMessage("3", role="tool", additional_kwargs={"tool_call_id": "n1"}),
        ChatMessage("orphan", role="tool", additional_kwargs={"tool_call_id": "gone"}),
    ]  # fmt: skip
    inner = ScriptedLLM(plain("Good."))
    compress_llm(inner, mode).chat_with_tools(TOOLS, user_msg="And?", chat_history=history)
    sent = [one for one in inner.got[0]["messages"] if one.role != "system"]
    if mode == "passthrough":
        assert sent[:-1] == history
        return
    assert all("tool_calls" not in one.additional_kwargs for one in sent)
    shown = repr(sent)
    assert [word for word in ("A map", "orphan", "example.com", "dangling") if word not in shown] == []
    if mode == "text":
        assert {one.role.value for one in sent} == {"user", "assistant"}
        assert not any(isinstance(block, ToolCallBlock) for one in sent for block in one.blocks)
    else:
        names = [block.tool_name for one in sent for block in one.blocks if isinstance(block, ToolCallBlock)]
        assert names == (["call"] * 3 if mode == "dispatch" else ["was_here", "dangling", "add"])
        assert [one.additional_kwargs["tool_call_id"] for one in sent if one.role == "tool"] == ["o1", "n1", "gone"]


def test_an_encoded_history_is_a_prefix_of_what_comes() -> None:
    first = native(("add", {"a": 1, "b": 2}), ("add", {"a": 2, "b": 2}))
    history = [ChatMessage("Go"), first, *results(first), plain("Then?"), native(("weather", {"city": "Oslo"}))]
    for mode in MODES:
        compiled = tscg.compile(snapshot(TOOLS).catalog, mode=mode)
        whole = encoded(compiled, history)
        for end in (1, 4, 5):
            assert whole[: len(encoded(compiled, history[:end]))] == encoded(compiled, history[:end])


# --- report and events ------------------------------------------------------------------------------------------------


@ALL
@FORMS
@WAY
def test_c17_one_event_for_each_call(mode: str, form: str, way: str) -> None:
    inner = ScriptedLLM(called(mode, "add", {"a": 1}), called(mode, "add", {"a": 1, "b": 2}))
    with compressed(form, inner, mode) as llm, hearing() as heard:
        asked(llm, way, TOOLS, user_msg="Sum")
        report = llm.report() if form == "wrapper" else Settings.callback_manager.report()  # type: ignore[attr-defined]
    (event,) = heard.of(ToolCompressionEvent)
    assert (event.mode, event.tools, event.rounds, event.repairs, event.lookups) == (mode, 2, 2, 1, 0)
    assert (report.requests, report.rounds, report.repairs, report.errors) == (1, 2, 1, 1)
    assert (event.tokens, event.baseline_tokens) == (report.tokens, report.baseline_tokens)
    assert (event.fingerprint, event.profile) == (report.fingerprint, report.profile)
    assert ToolCompressionEvent.class_name() == type(event).__name__


@pytest.mark.parametrize(
    ("raw", "more", "usage"),
    [
        ({"usage": {"prompt_tokens": 3, "completion_tokens": 1}}, {}, (3, 1)), (None, {}, None),
        ({"usage": {"input_tokens": 4, "output_tokens": 2}}, {}, (4, 2)), ({"prompt_eval_count": 5}, {}, (5, 0)),
        (None, {"prompt_tokens": 6, "completion_tokens": 7}, (6, 7)), ("text", {}, None),
    ],
)  # fmt: skip
def test_usage_is_found_where_an_integration_keeps_it(raw: Any, more: dict[str, Any], usage: Any) -> None:
    from llama_index.core.base.llms.types import ChatResponse

    assert usage_of(ChatResponse(message=plain("x"), raw=raw, additional_kwargs=more)) == usage


def test_the_llms_own_events_fire_once_for_each_request() -> None:
    seen: list[Any] = []

    class Counter(TokenCountingHandler):
        def on_event_start(self, event_type: Any, *args: Any, **kwargs: Any) -> Any:
            seen.append(event_type)
            return super().on_event_start(event_type, *args, **kwargs)

    with manager("text", handlers=[Counter(tokenizer=str.split)]) as compression:
        inner = ScriptedLLM(called("text", "add", {"a": 1}), plain("Sorry."), callback_manager=compression)
        inner.chat_with_tools(TOOLS, user_msg="Sum")
    assert seen == [CBEventType.LLM, CBEventType.LLM]


# --- the wrapper ------------------------------------------------------------------------------------------------------


def test_the_wrapper_is_the_llm_in_all_else() -> None:
    inner = ScriptedLLM(plain("Hi"), system_prompt="Be kind.")
    llm = compress_llm(inner, "text")
    assert compress_llm(llm) is llm
    assert (llm.inner, llm.size, llm.system_prompt) == (inner, 5, "Be kind.")
    llm.size = 7
    llm.system_prompt = "Be brief."
    assert (inner.size, inner.system_prompt) == (7, "Be brief.")
    before = Settings._callback_manager, Settings._llm
    own = CallbackManager([])
    try:
        Settings.callback_manager = own
        Settings.llm = llm
        assert Settings.llm is llm
        assert inner.callback_manager is llm.callback_manager is own
    finally:
        Settings._callback_manager, Settings._llm = before
    assert llm.chat([ChatMessage("a")]).message.content == "Hi"
    assert asyncio.run(llm.achat([ChatMessage("a")])).message.content == "Hi"
    assert [one.delta for one in llm.stream_chat([ChatMessage("a")])] == ["Hi"]
    assert (llm.complete("Say").text, asyncio.run(llm.acomplete("Say")).text) == ("Say", "Say")
    assert [one.text for one in llm.stream_complete("Say")] == ["Say"]
    assert CompressedLLM.class_name() == "CompressedLLM"
    assert llm._prepare_chat_with_tools(TOOLS, "Hi")["tools"] == TOOLS
    with pytest.raises(AttributeError):
        _ = llm.nothing_of_the_kind
    for other in (
        copy.deepcopy(compress_llm(MockLLM(), "text")),
        pickle.loads(pickle.dumps(compress_llm(MockLLM(), "text"))),
    ):
        assert isinstance(other, CompressedLLM)
        assert other.report().requests == 0
        assert other._engine.settings.mode == "text"


def test_wrong_settings_are_told() -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"mode": "txt"}, "mode"), ({"mode": "code"}, "code mode"), ({"profile": "small"}, "profile"),
        ({"max_lookups": -1}, "max_lookups"), ({"max_repairs": True}, "max_repairs"), ({"tokenizer": "gpt"}, "gpt"),
    ]  # fmt: skip
    for options, match in wrong:
        with pytest.raises(tscg.ConfigError, match=match):
            compress_llm(MockLLM(), **options)
        with pytest.raises(tscg.ConfigError, match=match):
            CompressionCallbackManager(**options)
    with pytest.raises(tscg.ConfigError, match="no LLM"):
        compress_llm("gpt-5.2")  # type: ignore[arg-type]
    with pytest.raises(tscg.ConfigError, match="already"):
        CompressedLLM(compress_llm(MockLLM()))
    for mode in ("native", "dispatch", "passthrough"):
        with pytest.raises(tscg.ConfigError, match="function calling"):
            compress_llm(MockLLM(), mode).chat_with_tools(TOOLS, user_msg="Hi")
    with pytest.raises(tscg.ConfigError, match="function calling"):
        compress_llm(MockLLM())._prepare_chat_with_tools(TOOLS)
    llm = compress_llm(MockLLM(max_tokens=3))
    said = llm.chat([ChatMessage("a")])
    with pytest.raises(ValueError, match="0 tool calls"):
        llm.get_tool_calls_from_response(said)


@FORMS
def test_two_tools_of_one_name_are_refused(form: str) -> None:
    with compressed(form, ScriptedLLM(plain("Hi")), "text") as llm, pytest.raises(tscg.CompileError, match="add"):
        llm.chat_with_tools([*TOOLS, FunctionTool.from_defaults(add)], user_msg="Hi")


def test_auto_never_takes_a_larger_form() -> None:
    inner = ScriptedLLM(plain("Hi"))
    llm = compress_llm(inner)
    llm.chat_with_tools([TOOLS[1]], user_msg="Hi")
    assert llm.report().saved >= 0
    text = compress_llm(MockLLM(max_tokens=3))
    assert text.chat_with_tools(TOOLS, user_msg="Hi").message.content == "text text text"
    assert text.report().mode == "text"


@pytest.mark.filterwarnings("error::tscg.TscgWarning")
def test_a_named_mode_that_costs_more_says_so_once() -> None:
    llm = compress_llm(ScriptedLLM(plain("Hi")), "dispatch")
    with pytest.warns(tscg.TscgWarning, match="dispatch mode sends"):
        llm.chat_with_tools([TOOLS[1]], user_msg="Hi")
    llm.chat_with_tools([TOOLS[1]], user_msg="Hi")
    assert llm.report().saved < 0


def test_an_options_object_is_a_mode() -> None:
    inner = ScriptedLLM(plain("Hi"))
    llm = compress_llm(inner, tscg.Dispatch(map="names"))
    llm.chat_with_tools(TOOLS, user_msg="Hi")
    assert (llm.report().mode, llm.report().map) == ("dispatch", "names")


def test_threads_and_gathered_calls_share_nothing() -> None:
    history = [ChatMessage("Go")]

    def answer(messages: Sequence[ChatMessage], kwargs: dict[str, Any]) -> ChatMessage:
        number = int(messages[-1].content or 0)
        return called("text", "add", {"a": number, "b": 0})

    inner = ScriptedLLM(answer)
    llm = compress_llm(inner, "text")

    def ask(number: int) -> Any:
        return calls_of(llm.chat_with_tools(TOOLS, user_msg=str(number), chat_history=history))[0][1]["a"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(40))) == list(range(40))

    async def gathered() -> list[Any]:
        return await asyncio.gather(
            *(llm.achat_with_tools(TOOLS, user_msg=str(n), chat_history=history) for n in range(10))
        )

    assert [calls_of(one)[0][1]["a"] for one in asyncio.run(gathered())] == list(range(10))
    assert history == [ChatMessage("Go")]
    assert llm.report().requests == 50


# --- the manager ------------------------------------------------------------------------------------------------------


def sent_tools(inner: ScriptedLLM) -> list[list[str]]:
    return [[tool.metadata.name for tool in got.get("tools", ())] for got in inner.got]


def test_the_manager_counts_before_and_after_the_llm_is_made() -> None:
    early = ScriptedLLM(plain("Hi"))
    with manager("dispatch") as compression:
        late = ScriptedLLM(plain("Hi"))
        replaced = ScriptedLLM(
            plain("Hi"), callback_manager=CallbackManager([TokenCountingHandler(tokenizer=str.split)])
        )
        for llm in (early, late, replaced):
            llm.chat_with_tools(TOOLS, user_msg="Hi")
            assert sent_tools(llm) == [["call", "lookup"]]
        assert compression.report().requests == 3
    early.chat_with_tools(TOOLS, user_msg="Hi")
    assert sent_tools(early)[-1] == ["weather", "add"]


def test_an_llms_own_manager_wins() -> None:
    own = CompressionCallbackManager("native", "lossless")
    inner = ScriptedLLM(plain("Hi"), callback_manager=own)
    with manager("dispatch") as outer:
        inner.chat_with_tools(TOOLS, user_msg="Hi")
        assert (own.report().requests, outer.report().requests) == (1, 0)
        assert sent_tools(inner) == [["add", "weather"]]
        own.uninstall()
        inner.chat_with_tools(TOOLS, user_msg="Hi")
        assert outer.report().requests == 1
    assert Settings._callback_manager is None or not isinstance(Settings._callback_manager, CompressionCallbackManager)


def test_c16_uninstall_restores_the_methods() -> None:
    originals = {name: FunctionCallingLLM.__dict__[name] for name in METHODS}
    one, two = CompressionCallbackManager("text"), CompressionCallbackManager("native", handlers=[])
    assert all(FunctionCallingLLM.__dict__[name] is not originals[name] for name in METHODS)
    one.uninstall()
    one.uninstall()
    assert all(FunctionCallingLLM.__dict__[name] is not originals[name] for name in METHODS)
    two.uninstall()
    assert {name: FunctionCallingLLM.__dict__[name] for name in METHODS} == originals
    assert (one.handlers, two.handlers) == ([], [])


def test_c16_another_library_around_the_methods_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    originals = {name: FunctionCallingLLM.__dict__[name] for name in METHODS}
    seen: list[str] = []
    with manager("text"):
        ours = FunctionCallingLLM.__dict__["chat_with_tools"]

        def theirs(self: Any, *args: Any, **kwargs: Any) -> Any:
            seen.append("theirs")
            return ours(self, *args, **kwargs)

        FunctionCallingLLM.chat_with_tools = theirs  # type: ignore[method-assign]
        compressed_once = ScriptedLLM(plain("Hi"))
        compressed_once.chat_with_tools(TOOLS, user_msg="Hi")
        assert sent_tools(compressed_once) == [[]]
    try:
        assert FunctionCallingLLM.__dict__["chat_with_tools"] is theirs
        inner = ScriptedLLM(plain("Hi"))
        inner.chat_with_tools(TOOLS, user_msg="Hi")
        assert sent_tools(inner) == [["weather", "add"]]
        with manager("text"):  # ours is inside theirs, and works again
            inner.chat_with_tools(TOOLS, user_msg="Hi")
        assert sent_tools(inner)[-1] == []
        assert len(seen) == 3
    finally:
        FunctionCallingLLM.chat_with_tools = ours  # type: ignore[method-assign]
        CompressionCallbackManager("text").uninstall()
    assert {name: FunctionCallingLLM.__dict__[name] for name in METHODS} == originals


def test_a_manager_that_is_gone_compresses_nothing() -> None:
    CompressionCallbackManager("text")
    gc.collect()
    inner = ScriptedLLM(plain("Hi"))
    inner.chat_with_tools(TOOLS, user_msg="Hi")
    assert sent_tools(inner) == [["weather", "add"]]
    CompressionCallbackManager("text").uninstall()


@pytest.mark.parametrize("outer", MODES)
@pytest.mark.parametrize("within", MODES)
def test_both_entry_points_compress_once(outer: str, within: str) -> None:
    inner = ScriptedLLM(called(outer, "add", {"a": 1, "b": 2}))
    llm = compress_llm(inner, outer, "balanced")
    with manager(within) as compression:
        for way in WAYS:
            assert selected(llm, asked(llm, way, TOOLS, user_msg="Sum")) == [("add", {"a": 1, "b": 2})]
        assert (compression.report().requests, llm.report().requests) == (0, 4)
        wrapped = compression.wrap(inner)
        assert (compression.wrap(llm), wrapped.inner) == (llm, inner)
    wanted = {"text": [], "dispatch": ["call", "lookup"]}.get(outer)
    assert all(wanted is None or names == wanted for names in sent_tools(inner))


class Bypassing(ScriptedLLM):
    """Sends tools without the methods of its base."""

    @classmethod
    def class_name(cls) -> str:
        return "Bypassing"

    def chat_with_tools(self, tools: Any, *args: Any, **kwargs: Any) -> Any:
        return self.chat([ChatMessage("Hi")], tools=list(tools))


@pytest.mark.filterwarnings("error::tscg.TscgWarning")
def test_a_bypass_is_told_once() -> None:
    inner = Bypassing.saying(plain("Hi"))
    with manager("text") as compression:
        inner.callback_manager = compression
        with pytest.warns(tscg.TscgWarning, match=r"Bypassing sent 2 tools uncompressed.*compress_llm"):
            inner.chat_with_tools(TOOLS, user_msg="Hi")
        inner.chat_with_tools(TOOLS, user_msg="Hi")
        assert compression.bypassed == ("Bypassing",)
        compress_llm(inner, "text").chat_with_tools(TOOLS, user_msg="Hi")  # what the warning says to do
        assert sent_tools(inner)[-1] == []
        honest = ScriptedLLM(GIVEN, callback_manager=compression)
        honest.chat_with_tools(TOOLS[:1], user_msg="Hi", tool_required=True)  # left alone by rule
        honest.chat([ChatMessage("Hi")])
        assert compression.bypassed == ("Bypassing",)


@pytest.mark.filterwarnings("error::tscg.TscgWarning")
def test_an_integration_that_reads_no_blocks_is_told() -> None:
    class Deaf(ScriptedLLM):
        def get_tool_calls_from_response(self, response: Any, error_on_no_tool_call: bool = True, **kwargs: Any) -> Any:
            return response.message.additional_kwargs.get("tool_calls", [])

    with manager("native"):
        with pytest.warns(tscg.TscgWarning, match="Deaf does not read calls from the blocks"):
            Deaf.saying(native(("add", {"a": 1, "b": 2}))).chat_with_tools(TOOLS, user_msg="Sum")
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Deaf.saying(native(("add", {"a": 1, "b": 2}))).chat_with_tools(TOOLS, user_msg="Sum")


# --- guards: what is private upstream, or must not change -------------------------------------------------------------


def test_guard_settings_has_a_private_manager() -> None:
    assert "_callback_manager" in type(Settings).__dataclass_fields__


@pytest.mark.parametrize("name", sorted(METHODS))
def test_guard_the_signatures_of_the_four_methods(name: str) -> None:
    signature = inspect.signature(FunctionCallingLLM.__dict__[name])
    names = ["self", "tools", "user_msg", "chat_history", "verbose", "allow_parallel_tool_calls", "tool_required"]
    assert list(signature.parameters) == [*names, "kwargs"]
    defaults = [one.default for one in signature.parameters.values() if one.default is not inspect.Parameter.empty]
    assert defaults == [None, None, False, False, False]
    assert inspect.iscoroutinefunction(FunctionCallingLLM.__dict__[name]) == name.startswith("a")
    ours: Callable[..., Any] = CompressedLLM.__dict__[name]
    assert list(inspect.signature(ours).parameters) == list(signature.parameters)
