"""The demo: its server through a real client, its tools on a real database, its models, and a run from end to end."""

from __future__ import annotations

import asyncio
import io
import json
import re
import sqlite3
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any, ClassVar, Final

import jsonschema_rs
import pytest
from rich.console import Console

import tscg
from tscg.demo import ModelError, OpenAIModel, ReplayModel, model_from_spec, run_demo
from tscg.demo.client import ServerError, ToolAnswer, connect, server_command
from tscg.demo.database import Database, Snapshot, changes, snapshot
from tscg.demo.handlers import HANDLERS
from tscg.demo.models import RECORDED_MODES, records
from tscg.demo.requests import REQUESTS
from tscg.demo.server import PAGE_SIZE, Toolbox
from tscg.demo.tools import TOOLS

ADDRESS: Final = {
    "recipient": "Ada Holm",
    "street": "Torget 1",
    "postal_code": "0180",
    "city": "Oslo",
    "country": "NO",
}
HOUR: Final = {"from": "2026-03-18T09:00:00Z", "to": "2026-03-18T10:00:00Z"}
TODAY: Final = {"from": "2026-03-16T00:00:00Z", "to": "2026-03-17T00:00:00Z"}

# One valid call of every tool, in an order in which each of them can succeed, and what its answer holds.
CALLS: Final[tuple[tuple[str, dict[str, Any], str], ...]] = (
    ("list_issues", {"project": "SHOP", "labels": ["checkout"], "sort": "priority", "limit": 1}, '"next_cursor": "p1"'),
    ("search_issues", {"query": "third BANK", "fields": ["comments", "body"]}, "SHOP-14"),
    ("get_issue", {"key": "SHOP-15", "include": ["links", "comments"]}, "relates_to"),
    (
        "create_issue",
        {"project": "WARE", "title": "Gate stuck", "links": [{"relation": "blocks", "target": "WARE-3"}]},
        "WARE-5",
    ),
    ("update_issue", {"key": "SHOP-11", "labels": {"add": ["voucher"], "remove": ["bug"]}}, "voucher"),
    ("assign_issue", {"key": "SHOP-11", "assignee": "aiko", "message": "You know the vouchers."}, '["lena", "aiko"]'),
    ("comment_on_issue", {"key": "SHOP-11", "body": "Seen again.", "mentions": ["aiko"]}, '"comment": 5'),
    ("resolve_issue", {"key": "SHOP-15", "resolution": "duplicate", "duplicate_of": "SHOP-14"}, '"resolved"'),
    ("close_issue", {"key": "SHOP-13", "reason": "Confirmed by Aiko."}, '"notified": ["aiko"]'),
    ("reopen_issue", {"key": "WARE-4", "reason": "It is off again."}, '"status": "open"'),
    ("link_issues", {"source": "SHOP-11", "relation": "causes", "target": "SHOP-12"}, "causes"),
    (
        "bulk_update_issues",
        {"changes": [{"key": "SHOP-12", "priority": "high"}, {"key": "WARE-3", "add_labels": ["printer"]}]},
        '"written": false',
    ),
    ("list_calendars", {"writable_only": True}, "cal-team"),
    ("list_events", {"calendar_id": "cal-team", **TODAY, "time_zone": "UTC"}, "Weekly planning"),
    ("search_events", {"query": "tour warehouse"}, "evt-1004"),
    ("get_event", {"event_id": "evt-1003"}, '"minutes_before": 10'),
    ("create_event", {"title": "Tasting", **HOUR, "recurrence": {"frequency": "weekly", "ends": {"after": 4}}}, "1005"),
    ("update_event", {"event_id": "evt-1005", "add_attendees": [{"email": "lena@fernhill.example"}]}, "lena@"),
    ("cancel_event", {"event_id": "evt-1005", "reason": "No tea left."}, '"notified": ["lena@fernhill.example"]'),
    ("respond_to_event", {"event_id": "evt-1004", "response": "accepted"}, "accepted"),
    (
        "find_free_slots",
        {"attendees": ["mira@fernhill.example"], "duration_minutes": 45, "window": HOUR, "limit": 1},
        "09:45",
    ),
    ("list_files", {"path": "/warehouse", "sort": "size", "direction": "desc"}, "count-2026-02.csv"),
    ("search_files", {"query": "working DAYS", "folder": "/support"}, "Money is back"),
    ("read_file", {"path": "/warehouse/packing-notes.md", "lines": {"first": 3, "last": 3}}, "wrapped twice"),
    ("write_file", {"path": "/support/new.txt", "content": "a_b 100%"}, '"size": 8'),
    ("append_to_file", {"path": "/support/new.txt", "content": "more"}, '"version": 2'),
    ("list_file_versions", {"path": "/support/new.txt"}, '"version": 1'),
    ("move_file", {"source": "/support/new.txt", "target": "/support/old.txt"}, "/support/old.txt"),
    (
        "share_file",
        {"path": "/support/old.txt", "grants": [{"email": "lena@fernhill.example", "role": "viewer"}]},
        "viewer",
    ),
    ("trash_file", {"path": "/support/old.txt"}, "trashed_at"),
    ("delete_file_permanently", {"path": "/support/old.txt", "confirm": True}, '"versions_deleted": 2'),
    ("search_customers", {"query": "web", "tier": "standard"}, "cus-304"),
    ("list_orders", {"status": "paid", "min_total_cents": 6000}, "ord-50234"),
    ("search_orders", {"query": "gyokuro", "fields": ["articles"]}, "ord-50234"),
    ("get_order", {"order_id": "ord-50231"}, '"total_cents": 5100'),
    ("get_order_history", {"order_id": "ord-50231", "kinds": ["paid"]}, "Paid by card."),
    (
        "create_order",
        {"customer_id": "cus-303", "lines": [{"sku": "POT-0007", "quantity": 2}], "address": ADDRESS},
        "ord-50236",
    ),
    ("update_shipping_address", {"order_id": "ord-50236", "address": ADDRESS}, "Oslo"),
    ("add_order_note", {"order_id": "ord-50236", "text": "Fragile.", "audience": "packers"}, "Fragile."),
    ("ship_order", {"order_id": "ord-50231", "carrier": "dhl", "tracking_number": "JD0146009999"}, "shipped"),
    (
        "refund_order",
        {"order_id": "ord-50231", "reason": "damaged", "lines": [{"sku": "TEA-0042", "quantity": 1}]},
        "1450",
    ),
    ("cancel_order", {"order_id": "ord-50236", "reason": "out_of_stock", "confirm": True}, '"restocked"'),
    ("check_stock", {"skus": ["POT-0007", "TEA-9999"]}, '"unknown": ["TEA-9999"]'),
)

# Calls that a tool refuses, and what it says.
REFUSED: Final[tuple[tuple[str, dict[str, Any], str], ...]] = (
    ("get_order", {"order_id": "ord-99999"}, "There is no order ord-99999."),
    ("cancel_order", {"order_id": "ord-50234", "reason": "customer_request"}, '"confirm" is a required property'),
    ("cancel_order", {"order_id": "ord-50234", "reason": "customer_request", "confirm": False}, "confirm:"),
    ("cancel_order", {"order_id": "ord-50232", "reason": "customer_request", "confirm": True}, "is shipped"),
    ("resolve_issue", {"key": "SHOP-14", "resolution": "duplicate"}, "duplicate_of"),
    ("refund_order", {"order_id": "ord-50232", "reason": "late"}, "Invalid arguments"),
    ("refund_order", {"order_id": "ord-50229", "reason": "late", "amount_cents": 1000}, "890 cents"),
    ("delete_file_permanently", {"path": "/support/answers/refunds.md", "confirm": True}, "not in the trash"),
    (
        "share_file",
        {"path": "/support/answers/refunds.md", "grants": [{"email": "a@b.example", "role": "viewer"}]},
        "data of customers",
    ),
    ("update_issue", {"key": "SHOP-14", "assignee": "nobody"}, "Known handles: aiko, lena, mira, sam, tomas."),
    ("create_event", {"title": "x y", "from": HOUR["to"], "to": HOUR["from"]}, "not later than its beginning"),
    ("update_event", {"event_id": "evt-1002", "title": "Mine"}, "Only mira"),
    ("list_events", {"from": "2026-03-16T00:00:00", "to": "2026-03-17T00:00:00Z"}, "has no offset"),
    ("get_event", {"event_id": "evt-1003", "time_zone": "Mars/Base"}, "no time zone 'Mars/Base'"),
    ("drop_tables", {}, "There is no tool drop_tables."),
)

# Where no vocabulary is installed the demo counts by estimate, says so on the screen, and the core warns once.
pytestmark = pytest.mark.filterwarnings("ignore:no vocabulary of:tscg.TscgWarning")
needs_mcp = pytest.mark.skipif(find_spec("mcp") is None, reason="the MCP SDK is not installed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """What the server answered through the real client."""

    tools: list[dict[str, Any]]
    answers: Mapping[str, ToolAnswer]
    refused: tuple[ToolAnswer, ...]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Served:
    """One server process for the module: its tools, one valid call of each, and some that are refused."""
    folder = tmp_path_factory.mktemp("demo")

    async def talk() -> Served:
        with (folder / "log").open("w") as log:
            async with connect(server_command(folder / "demo.db"), log=log) as session:
                tools = await session.tools()
                refused = [await session.call(name, arguments) for name, arguments, _ in REFUSED]
                answers = {name: await session.call(name, arguments) for name, arguments, _ in CALLS}
        return Served(tools=tools, answers=answers, refused=tuple(refused))

    return asyncio.run(talk())


@pytest.fixture
def toolbox() -> Iterator[Toolbox]:
    database = Database(":memory:")
    yield Toolbox(database)
    database.close()


def result_of(toolbox: Toolbox, tool: str, **arguments: Any) -> Any:
    text, failed = toolbox.call(tool, arguments)
    assert not failed, text
    return json.loads(text)


# ---- the tools as data ----


def test_tools_and_functions_are_the_same_set() -> None:
    names = [tool.name for tool in TOOLS]
    assert len(names) == len(set(names)) >= 38
    assert set(names) == set(HANDLERS)
    assert len(names) > PAGE_SIZE, "a client must have to ask for a second page"


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_schema_is_valid_json_schema(tool: Any) -> None:
    entry = tool.to_mcp()
    schema = {**entry["inputSchema"], "$schema": "https://json-schema.org/draft/2020-12/schema"}
    jsonschema_rs.meta.validate(schema)
    assert set(schema.get("required", ())) <= set(schema["properties"])
    assert entry["description"].endswith((".", "!"))


def test_each_tool_has_a_valid_call_in_this_file() -> None:
    assert sorted(name for name, _, _ in CALLS) == sorted(tool.name for tool in TOOLS)


# ---- the server through the client ----


@needs_mcp
def test_all_pages_arrive_as_written(served: Served) -> None:
    assert served.tools == [tool.to_mcp() for tool in TOOLS]


@needs_mcp
@pytest.mark.parametrize(("name", "_arguments", "expected"), CALLS, ids=[call[0] for call in CALLS])
def test_valid_call_executes(served: Served, name: str, _arguments: Any, expected: str) -> None:
    answer = served.answers[name]
    assert not answer.failed, answer.text
    assert expected in answer.text


@needs_mcp
@pytest.mark.parametrize("number", range(len(REFUSED)), ids=lambda number: f"{number}-{REFUSED[number][0]}")
def test_failure_is_an_error_of_the_tool(served: Served, number: int) -> None:
    answer = served.refused[number]
    assert answer.failed
    assert REFUSED[number][2] in answer.text


@needs_mcp
def test_server_that_does_not_start_is_a_server_error(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()

    async def talk(log: io.TextIOWrapper) -> None:
        async with connect(server_command(path), log=log):
            raise AssertionError("the server must not start")

    with (tmp_path / "log").open("w") as log, pytest.raises((ServerError, ExceptionGroup)) as caught:
        asyncio.run(talk(log))
    assert caught.group_contains(ServerError) if isinstance(caught.value, ExceptionGroup) else True
    assert "belongs to something else" in (tmp_path / "log").read_text()


# ---- single tools on the database ----


def test_page_after_page_gives_every_entry_once(toolbox: Toolbox) -> None:
    seen, cursor = [], "p0"
    while cursor:
        page = result_of(toolbox, "list_issues", status="all", limit=3, cursor=cursor)
        seen += [item["key"] for item in page["items"]]
        cursor = page.get("next_cursor", "")
    assert len(seen) == len(set(seen)) == 7


def test_failed_call_leaves_no_trace(tmp_path: Path) -> None:
    database = Database(tmp_path / "demo.db")
    before = snapshot(tmp_path / "demo.db")
    lines = [{"sku": "TEA-0042", "quantity": 1}, {"sku": "POT-0007", "quantity": 13}]
    text, failed = Toolbox(database).call(
        "create_order", {"customer_id": "cus-301", "lines": lines, "address": ADDRESS}
    )
    assert failed
    assert "Only 12 of POT-0007" in text
    assert changes(before, snapshot(tmp_path / "demo.db")) == []
    database.close()


def test_words_are_data_and_not_sql(toolbox: Toolbox) -> None:
    assert result_of(toolbox, "search_issues", query="' OR 1=1 --")["items"] == []
    assert result_of(toolbox, "search_files", query="%%")["items"] == []


def test_dry_run_writes_nothing_and_the_real_one_does(toolbox: Toolbox) -> None:
    change = [{"key": "SHOP-11", "priority": "high"}]
    preview = result_of(toolbox, "bulk_update_issues", changes=change)
    assert preview["changes"][0]["priority"] == {"from": "low", "to": "high"}
    assert result_of(toolbox, "get_issue", key="SHOP-11")["priority"] == "low"
    result_of(toolbox, "bulk_update_issues", changes=change, dry_run=False)
    assert result_of(toolbox, "get_issue", key="SHOP-11")["priority"] == "high"


def test_private_event_of_others_shows_only_its_times(toolbox: Toolbox) -> None:
    assert set(result_of(toolbox, "get_event", event_id="evt-1002")) == {"event_id", "starts_at", "ends_at"}
    assert result_of(toolbox, "search_events", query="bank")["items"] == []
    window = {"from": "2026-03-17T08:00:00Z", "to": "2026-03-17T09:00:00Z"}
    free = {"attendees": ["mira@fernhill.example"], "duration_minutes": 30, "window": window}
    assert result_of(toolbox, "find_free_slots", **free)["slots"] == []


def test_cancelled_order_is_refunded_and_back_in_stock(toolbox: Toolbox) -> None:
    result = result_of(toolbox, "cancel_order", order_id="ord-50234", reason="customer_request", confirm=True)
    assert result["refund"] == {"refund_id": "ref-0002", "cents": 12180, "method": "original_payment"}
    stock = {
        row["sku"]: row["stock"] for row in result_of(toolbox, "check_stock", skus=["POT-0007", "TEA-0051"])["items"]
    }
    assert stock == {"POT-0007": 13, "TEA-0051": 38}
    kinds = [event["kind"] for event in result_of(toolbox, "get_order_history", order_id="ord-50234")["items"]]
    assert kinds == ["placed", "paid", "refunded", "cancelled"]


def test_database_of_something_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "text.db"
    path.write_text("this is no database " * 100)
    with pytest.raises(sqlite3.DatabaseError):
        Database(path)


def test_unknown_page_of_tools_is_an_error(toolbox: Toolbox) -> None:
    with pytest.raises(ValueError, match="unknown cursor"):
        toolbox.page("7")


# ---- recorded answers ----


@pytest.mark.parametrize("mode", RECORDED_MODES)
def test_recorded_answers_decode(mode: str) -> None:
    compiled = tscg.compile([tool.to_mcp() for tool in TOOLS], mode=mode)
    faults = []
    for record in records(mode):
        decoded = compiled.decode(record["output"])
        assert all(not call.repairs for call in decoded.calls), record
        assert "<tool_call>" not in decoded.text
        assert decoded.text.strip() or decoded.items, record
        faults += [(record["request"], record["turn"], error.tool, error.kind) for error in decoded.errors]
    assert [(request, *fault) for request, _, *fault in faults] == [("triage", "update_issue", "enum")]


def test_records_of_all_modes_make_the_same_calls() -> None:
    catalog = [tool.to_mcp() for tool in TOOLS]
    made = []
    for mode in RECORDED_MODES:
        compiled = tscg.compile(catalog, mode=mode)
        decoded = [compiled.decode(record["output"]) for record in records(mode)]
        made.append([(call.name, call.arguments) for one in decoded for call in one.calls])
    assert made[0] == made[1] == made[2]
    assert {record["request"] for record in records("text")} == {request.name for request in REQUESTS}


def test_replay_refuses_what_is_not_recorded() -> None:
    with pytest.raises(tscg.ConfigError, match="code"):
        ReplayModel("code")
    with pytest.raises(ModelError, match="no answer is recorded"):
        ReplayModel("text").answer([{"role": "user", "content": "Something else"}], [])


# ---- from end to end ----


def expected_changes(before: Snapshot, after: Snapshot) -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for change in changes(before, after):
        kind = "new" if change.before is None else "gone" if change.after is None else "changed"
        row = change.after or change.before or {}
        found.setdefault(change.table, []).append((kind, str(next(iter(row.values())))))
    return found


@needs_mcp
@pytest.mark.parametrize("mode", RECORDED_MODES)
def test_replay_runs_end_to_end(mode: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "demo.db"
    Database(path).close()
    before = snapshot(path)
    path.unlink()
    output = io.StringIO()
    assert run_demo(Console(file=output, width=110), mode=mode, db=path) == 0
    assert expected_changes(before, snapshot(path)) == {
        "attendees": [("new", "evt-1005"), ("new", "evt-1005")],
        "events": [("new", "evt-1005")],
        "file_versions": [("new", "/warehouse/packing-notes.md")],
        "files": [("changed", "/warehouse/packing-notes.md")],
        "issues": [("changed", "SHOP-14")],
        "order_events": [("new", "9"), ("new", "10"), ("new", "11")],
        "orders": [("changed", "ord-50231"), ("changed", "ord-50234")],
        "products": [("changed", "TEA-0051"), ("changed", "POT-0007")],
        "refunds": [("new", "ref-0002")],
    }
    shown = output.getvalue()
    assert "no model was called" in shown
    assert "JSON, minified" in shown
    assert '"critical"' in shown, "the sentence that went back to the model is on the screen"
    assert "failed" not in shown
    seen = shown.partition("cancel_order as the model sees it")[2].partition("The model:")[0]
    assert "cancel_order" in seen
    assert "confirm" in seen
    assert "check_stock" not in seen
    assert bool(re.search("lookup +cancel_order", shown)) is (mode == "dispatch")
    assert capsys.readouterr().err == ""


@needs_mcp
def test_unusable_database_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_demo(Console(file=io.StringIO()), db=tmp_path / "absent" / "demo.db") == 1
    error = capsys.readouterr().err
    assert error.startswith("error: cannot use ")
    assert error.count("\n") == 1


@pytest.mark.parametrize("options", [{"mode": "morse"}, {"profile": "loud"}])
def test_wrong_option_is_told_before_all_else(options: dict[str, Any]) -> None:
    output = io.StringIO()
    with pytest.raises(tscg.ConfigError):
        run_demo(Console(file=output), model=OpenAIModel(base_url="http://127.0.0.1:9", name="m"), **options)
    assert output.getvalue() == ""


@needs_mcp
def test_unreachable_model_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    model = OpenAIModel(base_url="http://127.0.0.1:9/v1", name="m")
    assert run_demo(Console(file=io.StringIO()), model=model) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: m at http://127.0.0.1:9/v1 cannot be reached: ")
    assert error.count("\n") == 1


# ---- models behind an endpoint ----


class Endpoint(BaseHTTPRequestHandler):
    """Chat completions with answers that a test has put in the queue."""

    queue: ClassVar[list[tuple[int, bytes]]] = []
    seen: ClassVar[list[dict[str, Any]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).seen.append({"path": self.path, "key": self.headers.get("Authorization"), **body})
        status, answer = type(self).queue.pop(0)
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        """Keep the test's output clean."""


@pytest.fixture
def endpoint() -> Iterator[str]:
    Endpoint.queue.clear()
    Endpoint.seen.clear()
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def completion(message: dict[str, Any], reason: str = "stop") -> tuple[int, bytes]:
    return 200, json.dumps({"choices": [{"message": message, "finish_reason": reason}]}).encode()


QUESTION: Final = [{"role": "user", "content": "Hello"}]


def test_text_answer_of_an_endpoint(endpoint: str) -> None:
    Endpoint.queue.append(completion({"role": "assistant", "content": "Hi"}, "length"))
    answer = OpenAIModel(base_url=endpoint, name="m", api_key="k").answer(QUESTION, [], ["<stop>"])
    assert (answer.output, answer.finish_reason) == ("Hi", "length")
    sent = {"path": "/v1/chat/completions", "key": "Bearer k", "model": "m", "messages": QUESTION, "stop": ["<stop>"]}
    assert Endpoint.seen == [sent]


def test_native_answer_of_an_endpoint(endpoint: str) -> None:
    calls = [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    Endpoint.queue.append(completion({"content": None, "tool_calls": calls}, "tool_calls"))
    answer = OpenAIModel(base_url=endpoint, name="m").answer(QUESTION, [{"type": "function"}])
    assert answer.output == {"role": "assistant", "content": None, "tool_calls": calls}
    assert Endpoint.seen[0]["tools"] == [{"type": "function"}]


def test_endpoint_that_refuses_stop_is_asked_without(endpoint: str) -> None:
    refusal = {"error": {"message": "Unsupported parameter: 'stop' is not supported with this model."}}
    Endpoint.queue += [(400, json.dumps(refusal).encode()), completion({"content": "Hi"})]
    assert OpenAIModel(base_url=endpoint, name="m").answer(QUESTION, [], ["x"]).output == "Hi"
    assert ["stop" in seen for seen in Endpoint.seen] == [True, False]


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (401, b'{"error": {"message": "Wrong\\nkey"}}', "answered 401: Wrong key"),
        (404, b'{"error": "model not found"}', "answered 404: model not found"),
        (500, b"", "answered 500: no reason given"),
        (200, b"<html>", "not JSON"),
        (200, b'{"choices": []}', "no chat completion"),
        (200, b"[1]", "no chat completion"),
    ],
)
def test_bad_answer_of_an_endpoint_is_one_line(endpoint: str, status: int, body: bytes, expected: str) -> None:
    Endpoint.queue.append((status, body))
    with pytest.raises(ModelError) as caught:
        OpenAIModel(base_url=endpoint, name="m").answer(QUESTION, [])
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_unreachable_endpoint_is_one_line() -> None:
    with pytest.raises(ModelError, match=r"cannot be reached: .*refused"):
        OpenAIModel(base_url="http://127.0.0.1:9/v1", name="m").answer(QUESTION, [])


def test_model_of_a_specification(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    openai, ollama = model_from_spec("openai:gpt-x"), model_from_spec("ollama:phi4:latest", base_url="http://box:1/v1")
    assert openai == OpenAIModel(base_url="https://api.openai.com/v1", name="gpt-x", api_key="secret")
    assert ollama == OpenAIModel(base_url="http://box:1/v1", name="phi4:latest")
    assert "secret" not in repr(openai)
    assert isinstance(model_from_spec(None, mode="native"), ReplayModel)


@pytest.mark.parametrize(
    ("spec", "base_url", "expected"),
    [
        ("gpt-x", None, "openai:NAME, ollama:NAME"),
        ("openai:", None, "unknown model"),
        ("openai:gpt-x", None, "OPENAI_API_KEY"),
        ("ollama:phi4", "ftp://x", "http"),
        (None, "http://x", "needs a model"),
    ],
)
def test_bad_specification(
    monkeypatch: pytest.MonkeyPatch, spec: str | None, base_url: str | None, expected: str
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(tscg.ConfigError, match=expected):
        model_from_spec(spec, base_url=base_url)
