"""The proxy over a server of our own: what the client sees, what reaches the server, and what passes between."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")  # the extra `mcp`

import anyio
from mcp import types

import tscg
from tests.core.proxy_client import HELLO, Bare, bare, client, plays, proxied, sample
from tests.core.proxy_server import ANSWER, ASKED, TOOLS

Message = dict[str, Any]


def text_of(answer: Message) -> str:
    return str(answer["result"]["content"][0]["text"])


def said(answer: Message) -> Any:
    """What the server's `say` told of itself."""
    return json.loads(text_of(answer))


# --- what is listed ---------------------------------------------------------------------------------------------------


@plays
async def test_native_lists_every_tool_smaller_and_with_all_its_fields() -> None:
    async with bare(sample()) as at:
        listed = (await at.ask("tools/list"))["result"]
    assert "nextCursor" not in listed
    shown = {tool["name"]: tool for tool in listed["tools"]}
    assert shown.keys() == {tool["name"] for tool in TOOLS}  # all pages of the server
    paint = shown["paint"]
    original = TOOLS[0]
    for kept in ("title", "outputSchema", "annotations", "_meta"):
        assert paint[kept] == original[kept]
    assert len(json.dumps(paint)) < len(json.dumps(original))
    assert "Never paint a thing twice." in paint["description"]
    assert "description" not in paint["inputSchema"]["properties"]["thing"]
    assert paint["inputSchema"]["properties"]["color"]["enum"] == ["red", "green", "blue"]


@plays
async def test_dispatch_lists_two_tools_with_the_map_and_pinned_ones_beside() -> None:
    async with client(sample(), mode="dispatch", pin=("say",)) as session:
        tools = {tool.name: tool for tool in (await session.list_tools()).tools}
        assert list(tools) == ["call", "lookup", "say"]
        assert "paint thing color" in tools["call"].description
        assert tools["lookup"].annotations.model_dump(by_alias=True)["readOnlyHint"] is True
        assert "paint" not in session.welcome["instructions"]
        shown = await session.call_tool("lookup", {"tools": ["paint"]})
        assert tscg.decompile(shown.content[0].text)[0].name == "paint"
        done = await session.call_tool("call", {"tool": "paint", "args": {"thing": "door", "color": "red"}})
        assert done.content[0].text == "größe"
        assert json.loads((await session.call_tool("say", {"what": 1})).content[0].text)["given"] == {"what": 1}


@plays
async def test_passthrough_lists_tools_as_they_are() -> None:
    async with bare(sample(), mode="passthrough") as at:
        listed = (await at.ask("tools/list"))["result"]["tools"]
        assert sorted(listed, key=lambda tool: str(tool["name"])) == sorted(
            ({"description": "", **tool} for tool in TOOLS), key=lambda tool: str(tool["name"])
        )
        refused = await at.ask("tools/list", {"cursor": "2"})
    assert refused["error"]["code"] == -32602


@plays
async def test_a_catalog_of_real_size_is_listed_as_it_compiles() -> None:
    from tscg.demo.client import server_command
    from tscg.demo.tools import TOOLS as SHOP
    from tscg.proxy.servers import from_command

    compiled = tscg.compile([tool.to_mcp() for tool in SHOP], mode="native", profile="brief")
    wanted = {tool["name"]: tool["parameters"] for tool in compiled.wire_tools}
    command = server_command(Path(":memory:"))  # a server of the SDK, with pages
    async with client(from_command(command), profile="brief") as session:
        listed = (await session.list_tools()).tools
        assert {tool.name: tool.model_dump(by_alias=True)["inputSchema"] for tool in listed} == wanted
        answer = await session.call_tool("respond_to_event", {"event_id": "evt-1004", "response": "accepted"})
    assert answer.content[0].text == '{"event_id": "evt-1004", "response": "accepted"}'


# --- calls ------------------------------------------------------------------------------------------------------------


@plays
async def test_a_result_comes_back_with_everything_in_it() -> None:
    async with bare(sample()) as at:
        meta = {"progressToken": "t", "example.com/mine": {"none": None}}
        answer = await at.call("paint", {"thing": "door", "color": "red"}, _meta=meta)
    assert answer["result"] == {**ANSWER, "_meta": {**ANSWER["_meta"], "given": meta}}


@plays
async def test_each_of_many_calls_at_once_gets_its_own_answer() -> None:
    async with bare(sample()) as at:
        ids = [await at.begin("tools/call", {"name": "say", "arguments": {"what": number}}) for number in range(60)]
        assert [said(await at.answer(id))["given"] for id in ids] == [{"what": number} for number in range(60)]


INVALID: list[tuple[str, Message, str]] = [
    ("paint", {"thing": "door"}, "color: required, missing"),
    ("paint", {"thing": "d", "color": "red"}, "thing: expected"),
    ("paint", {"thing": "door", "color": "pink"}, '"pink" is not one of red, green, blue'),
    ("pant", {"thing": "door", "color": "red"}, "pant"),
]


@pytest.mark.parametrize(("tool", "arguments", "says"), INVALID, ids=["missing", "short", "enum", "unknown tool"])
@pytest.mark.parametrize("mode", ["native", "dispatch", "passthrough"])
@plays
async def test_an_invalid_call_never_reaches_the_server(
    mode: str, tool: str, arguments: Message, says: str, tmp_path: Path
) -> None:
    calls = tmp_path / "calls"
    async with bare(sample(SERVER_CALLS=str(calls)), mode=mode) as at:
        dispatched = ("call", {"tool": tool, "args": arguments})
        answer = await at.call(*(dispatched if mode == "dispatch" else (tool, arguments)))
        assert answer["result"]["isError"] is True
        assert says in text_of(answer)
        assert not calls.exists()
        at.log[:] = [line for line in at.log if "refused" in line]
    assert at.log
    assert not any("door" in line or "pink" in line for line in at.log)


@plays
async def test_a_call_that_can_be_repaired_is_and_the_log_says_how_without_its_values(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    async with bare(sample(SERVER_CALLS=str(calls))) as at:
        answer = await at.call("paint", {"thing": "door", "color": "RED", "coats": "2"})
        assert answer["result"]["isError"] is False
        assert json.loads(calls.read_text()) == ["paint", {"thing": "door", "color": "red", "coats": 2}]
        assert any("paint: repaired" in line and "enum_case" in line for line in at.log)
        assert not any("RED" in line or "door" in line for line in at.log)


@plays
async def test_an_error_of_the_server_passes_as_it_is() -> None:
    async with bare(sample()) as at:
        assert (await at.call("refuse"))["error"] == {"code": -32042, "message": "not now", "data": {"why": None}}


@plays
async def test_the_log_names_no_tool_that_is_none() -> None:
    async with bare(sample()) as at:
        assert (await at.call("s3cret", {"a": 1}))["result"]["isError"] is True
        await at.logged("tscg: refused a call: unknown_tool")
        assert not any("s3cret" in line for line in at.log)


@plays
async def test_the_log_says_what_is_saved() -> None:
    async with bare(sample()) as at:
        await at.logged("tokens as JSON")
        line = next(line for line in at.log if "tokens as JSON" in line)
    assert line.startswith(f"tscg: {len(TOOLS)} tools of sample: ")
    assert "in native (" in line


# --- what passes on the way -------------------------------------------------------------------------------------------


@plays
async def test_progress_and_log_messages_pass_and_cancelling_reaches_the_server() -> None:
    async with bare(sample()) as at:
        id = await at.begin("tools/call", {"name": "slow", "arguments": {}, "_meta": {"progressToken": "p-1"}})
        told = await at.heard("notifications/progress")
        assert told["params"] == {"progressToken": "p-1", "progress": 1, "total": None}
        assert (await at.heard("notifications/message"))["params"]["data"] == "slow begins"
        await at.send({"method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}})
        assert (await at.answer(id))["error"]["message"] == "Request cancelled"
        heard = [one["method"] for one in said(await at.call("say"))["heard"]]
    assert heard == ["initialize", "notifications/initialized", "notifications/cancelled"]


@plays
async def test_the_sdks_client_sees_progress() -> None:
    seen: list[float] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async with client(sample()) as session:
        with anyio.move_on_after(5):
            async with anyio.create_task_group() as group:
                group.start_soon(lambda: session.call_tool("slow", {}, progress_callback=told))
                while not seen:
                    await anyio.sleep(0.01)
                group.cancel_scope.cancel()
        assert seen == [1]
        assert (await session.call_tool("paint", {"thing": "door", "color": "red"})).content[0].text == "größe"


@pytest.mark.parametrize("method", list(ASKED))
@plays
async def test_what_a_server_asks_of_the_client_goes_there_and_back(method: str) -> None:
    async with bare(sample()) as at:
        id = await at.begin("tools/call", {"name": "ask", "arguments": {"method": method}})
        asked = await at.heard(method)
        assert asked["params"] == ASKED[method]
        answer = {"roots": [{"uri": "file:///here"}], "none": None}
        await at.send({"id": asked["id"], "result": answer})
        assert said(await at.answer(id)) == answer


@plays
async def test_the_sdks_client_samples_elicits_and_lists_roots() -> None:
    async def sampled(context: Any, params: Any) -> Any:
        content = {"type": "text", "text": "hi"}
        return types.CreateMessageResult.model_validate({"role": "assistant", "content": content, "model": "m"})

    async def elicited(context: Any, params: Any) -> Any:
        return types.ElicitResult(action="decline")

    async def rooted(context: Any) -> Any:
        return types.ListRootsResult.model_validate({"roots": [{"uri": "file:///here"}]})

    callbacks = {"sampling_callback": sampled, "elicitation_callback": elicited, "list_roots_callback": rooted}
    async with client(sample(), callbacks=callbacks) as session:
        found = [json.loads((await session.call_tool("ask", {"method": one})).content[0].text) for one in ASKED]
    assert [one.get("roots", one.get("model", one.get("action"))) for one in found] == [
        [{"uri": "file:///here"}], "m", "decline",
    ]  # fmt: skip


@plays
async def test_the_server_hears_of_the_client_and_the_client_of_the_server() -> None:
    async with bare(sample(), hello={**HELLO, "_meta": {"mine": 1}}) as at:
        await at.send({"method": "notifications/roots/list_changed"})
        heard = said(await at.call("say"))["heard"]
    assert heard[0]["params"] == {**HELLO, "_meta": {"mine": 1}}
    assert heard[2] == {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
    async with client(sample()) as session:
        assert session.welcome["instructions"] == "I am sample."
        assert session.welcome["serverInfo"]["name"] == "tscg-proxy"
        assert session.welcome["capabilities"]["resources"]["subscribe"] is True
        assert session.welcome["capabilities"]["tools"]["listChanged"] is True


@plays
async def test_prompts_resources_completion_and_the_log_level_pass() -> None:
    async with bare(sample()) as at:
        assert [one["name"] for one in (await at.ask("prompts/list"))["result"]["prompts"]] == ["p1", "sample-p"]
        assert (await at.ask("prompts/get", {"name": "p1"}))["result"]["description"] == "sample: p1"
        resources = (await at.ask("resources/list"))["result"]["resources"]
        assert resources == [{"uri": f"test://sample/{n}", "name": f"r{n}", "size": None} for n in range(3)]
        assert len((await at.ask("resources/templates/list"))["result"]["resourceTemplates"]) == 1
        read = await at.ask("resources/read", {"uri": "test://sample/1"})
        assert read["result"]["contents"][0]["text"] == "sample"
        missing = await at.ask("resources/read", {"uri": "test://nothing"})
        assert missing["error"] == {"code": -32002, "message": "no 'test://nothing'", "data": [None]}
        ref = {"type": "ref/prompt", "name": "p1"}
        completed = await at.ask("completion/complete", {"ref": ref, "argument": {"name": "a", "value": ""}})
        assert json.loads(completed["result"]["completion"]["values"][1]) == ref
        assert (await at.ask("logging/setLevel", {"level": "warning"}))["result"] == {}
        assert said(await at.call("say"))["level"] == "warning"
        assert (await at.ask("resources/subscribe", {"uri": "test://sample/1"}))["result"] == {}
        assert (await at.heard("notifications/resources/updated"))["params"] == {"uri": "test://sample/1"}
        assert (await at.ask("ping"))["result"] == {}
        assert (await at.ask("x/unknown", {"a": None}))["error"]["data"] == {"a": None}


@plays
async def test_requests_before_initialize_are_refused_and_a_second_one_too() -> None:
    async with proxied(sample()) as (streams, log), anyio.create_task_group() as group:
        at = Bare(streams, log)
        group.start_soon(at.listen)
        assert (await at.ask("ping"))["result"] == {}
        assert (await at.ask("tools/list"))["error"]["message"] == "tools/list before initialize"
        assert (await at.ask("initialize", HELLO))["result"]["protocolVersion"] == "2025-06-18"
        assert "second time" in (await at.ask("initialize", HELLO))["error"]["message"]
        group.cancel_scope.cancel()


# --- tools that change ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["native", "dispatch"])
@plays
async def test_new_tools_come_behind_the_old_ones(mode: str) -> None:
    async with bare(sample(), mode=mode) as at:
        before = (await at.ask("tools/list"))["result"]["tools"]
        await (at.call("call", {"tool": "grow", "args": {}}) if mode == "dispatch" else at.call("grow"))
        await at.heard("notifications/tools/list_changed")
        assert await at.heard("notifications/prompts/list_changed")
        after = (await at.ask("tools/list"))["result"]["tools"]
        if mode == "native":
            assert after[:-1] == before
            assert after[-1]["name"] == "extra"
            assert said(await at.call("extra"))["name"] == "extra"
        else:
            old, new = before[0]["description"], after[0]["description"]
            assert new.startswith(old.removesuffix("\n</tools>"))
            assert "extra" in new.removeprefix(old.removesuffix("\n</tools>"))
            assert said(await at.call("call", {"tool": "extra", "args": {}}))["name"] == "extra"


@plays
async def test_a_tool_that_is_gone_is_refused() -> None:
    async with bare(sample()) as at:
        await at.call("shrink")
        await at.until(lambda: True)
        answer = await at.call("refuse")
        with anyio.fail_after(10):
            while "result" not in answer:  # the list is read again beside the calls
                answer = await at.call("refuse")
    assert answer["result"]["isError"] is True
    assert "refuse" in text_of(answer)


@plays
async def test_grouped_tools_are_compiled_anew() -> None:
    options = tscg.Dispatch(group={tool["name"]: "things" for tool in TOOLS})
    async with bare(sample(), mode=options) as at:
        await at.call("things", {"op": "grow", "args": {}})
        await at.heard("notifications/tools/list_changed")
        listed = (await at.ask("tools/list"))["result"]["tools"]
    assert any("extra" in tool["description"] for tool in listed)


# --- crashes ----------------------------------------------------------------------------------------------------------


@plays
async def test_a_server_that_is_killed_in_a_call_gives_one_error_and_the_next_call_works() -> None:
    async with bare(sample()) as at:
        await at.ask("logging/setLevel", {"level": "error"})
        first = said(await at.call("say"))["pid"]
        begin = time.monotonic()
        answer = await at.call("die")
        assert time.monotonic() - begin < 2
        assert answer["result"]["isError"] is True
        assert text_of(answer) == (
            "The MCP server sample stopped before it answered (its process ended). Whether it did what was asked is not known. "
            "The next request starts it again."
        )
        now = said(await at.call("say"))
        assert now["pid"] != first
        await at.logged("sample: stopped: its process ended")
        await at.logged("sample: started again")
        with anyio.fail_after(10):
            while said(await at.call("say"))["level"] != "error":  # it is told what it was told before
                await anyio.sleep(0.01)
        assert not any(one["method"] == "notifications/tools/list_changed" for one in at.told)


@plays
async def test_all_calls_under_way_end_with_the_server_and_other_requests_with_an_error() -> None:
    async with bare(sample()) as at:
        slow = await at.begin("tools/call", {"name": "slow", "arguments": {}})
        asking = await at.begin("tools/call", {"name": "ask", "arguments": {"method": "roots/list"}})
        asked = await at.heard("roots/list")
        assert (await at.call("die"))["result"]["isError"] is True
        assert (await at.answer(slow))["result"]["isError"] is True
        assert (await at.answer(asking))["result"]["isError"] is True
        withdrawn = await at.heard("notifications/cancelled")
        assert withdrawn["params"] == {"requestId": asked["id"]}
        await at.send({"id": asked["id"], "result": {"roots": []}})  # too late, and no harm
        assert (await at.ask("prompts/get", {"name": "p1"}))["result"]["description"] == "sample: p1"


@plays
async def test_a_server_that_does_not_start_is_one_error_with_its_last_words() -> None:
    async with proxied(sample(SERVER_FAILS="1")) as (streams, log), anyio.create_task_group() as group:
        at = Bare(streams, log)
        group.start_soon(at.listen)
        error = (await at.ask("initialize", HELLO))["error"]
        group.cancel_scope.cancel()
    assert "cannot be started" in error["message"]
    assert "its last words: no key was given" in error["message"]
    assert "\n" not in error["message"]


@plays
async def test_a_client_that_leaves_while_servers_start_leaves_nothing_behind() -> None:
    with anyio.fail_after(20):
        async with proxied(sample("quick"), sample(SERVER_SLEEPS="1")) as (streams, log):
            at = Bare(streams, log)
            await at.begin("initialize", HELLO)
            await at.logged("it sent what is no message")  # then the quick one is up
            await anyio.sleep(0.1)


@plays
async def test_a_server_without_tools_is_served() -> None:
    async with bare(sample(SERVER_TOOLLESS="1"), mode="dispatch") as at:
        assert (await at.ask("tools/list"))["result"] == {"tools": []}
        assert (await at.ask("prompts/get", {"name": "p1"}))["result"]["description"] == "sample: p1"
        assert (await at.call("paint"))["result"]["isError"] is True


@plays
async def test_a_list_that_does_not_end_is_an_error() -> None:
    async with proxied(sample(SERVER_ENDLESS="1")) as (streams, log), anyio.create_task_group() as group:
        at = Bare(streams, log)
        group.start_soon(at.listen)
        error = (await at.ask("initialize", HELLO))["error"]
        group.cancel_scope.cancel()
    assert "tools/list does not end" in error["message"]


# --- several servers --------------------------------------------------------------------------------------------------


@plays
async def test_several_servers_are_one() -> None:
    async with bare(sample("left"), sample("right", SERVER_VERSION="2024-11-05"), sample("left")) as at:
        names = {tool["name"] for tool in (await at.ask("tools/list"))["result"]["tools"]}
        assert names == {f"{server}__{tool['name']}" for server in ("left", "right", "left-2") for tool in TOOLS}
        pids = [said(await at.call(f"{server}__say"))["pid"] for server in ("left", "right", "left-2")]
        assert len(set(pids)) == 3
        prompts = {one["name"] for one in (await at.ask("prompts/list"))["result"]["prompts"]}
        assert prompts == {
            "left__p1", "right__p1", "left-2__p1", "left__left-p", "left-2__left-p", "right-p",
        }  # fmt: skip
        got = await at.ask("prompts/get", {"name": "right__p1"})
        assert got["result"]["description"] == "right: p1"
        uris = [one["uri"] for one in (await at.ask("resources/list"))["result"]["resources"]]
        assert uris == [f"test://{server}/{n}" for server in ("left", "right") for n in range(3)]
        for uri in ("test://right/1", "test://right/t/unlisted"):
            read = await at.ask("resources/read", {"uri": uri})
            assert read["result"]["contents"][0]["text"] == "right"
        for ref in ({"type": "ref/resource", "uri": "test://right/t/{id}"}, {"type": "ref/prompt", "name": "right-p"}):
            completed = await at.ask("completion/complete", {"ref": ref, "argument": {"name": "id", "value": ""}})
            assert completed["result"]["completion"]["values"] == ["right", json.dumps(ref)]
        assert (await at.ask("prompts/get", {"name": "nothing"}))["error"]["message"] == "Unknown prompt: nothing"
        assert (await at.ask("resources/read", {"uri": "test://no"}))["error"]["code"] == -32002
        assert (await at.ask("x/unknown"))["error"]["code"] == -32601
        await at.ask("logging/setLevel", {"level": "debug"})
        levels = [said(await at.call(f"{server}__say"))["level"] for server in ("left", "right", "left-2")]
        assert levels == ["debug"] * 3


@plays
async def test_one_of_several_that_does_not_start_is_left_out_and_told() -> None:
    async with client(sample("good"), sample("bad", SERVER_FAILS="1")) as session:
        assert session.welcome["instructions"].startswith("I am good.")
        assert "Not available: the MCP server" in session.welcome["instructions"]
        assert {tool.name for tool in (await session.list_tools()).tools} == {tool["name"] for tool in TOOLS}
        assert (await session.call_tool("paint", {"thing": "door", "color": "red"})).content[0].text == "größe"


@plays
async def test_the_oldest_version_of_several_is_spoken() -> None:
    async with client(sample("new"), sample("old", SERVER_VERSION="2024-11-05")) as session:
        assert session.welcome["protocolVersion"] == "2024-11-05"
        assert session.welcome["instructions"] == "# new\nI am new.\n\n# old\nI am old."
