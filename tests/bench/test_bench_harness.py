"""Runs on Inspect: what is logged, what is asked again after a failure and after a kill, and what is not."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import pytest

import tscg

pytest.importorskip("tscg_bench", reason="tscg-bench is not installed")
pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
pytest.importorskip("scipy", reason="tscg-bench is not installed")

from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.model import ChatMessageAssistant, ModelOutput, ModelUsage, get_model
from inspect_ai.tool import ToolCall, ToolInfo

from tscg_bench.catalogs import Contexts, collections_of
from tscg_bench.command import main
from tscg_bench.harness import Plan, run
from tscg_bench.logs import read_run
from tscg_bench.oracles import breaks
from tscg_bench.tasks import load_tasks
from tscg_bench.wire import call_of, message_of, messages_of, tool_info

# All are of Inspect itself: streams and (0.3.205) logs that it leaves to the collector, and how it calls tenacity.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Unclosed <MemoryObject:ResourceWarning"),
    pytest.mark.filterwarnings(r"ignore:unclosed file .*\.eval:ResourceWarning"),
    pytest.mark.filterwarnings("ignore:The 'initial' parameter:DeprecationWarning"),
]


def test_the_log_holds_what_the_oracle_must_score(finished: Path) -> None:
    found = read_run(finished / "logs")
    assert [cell.condition for cell in found.cells] == ["json", "native", "text/balanced", "names", "free"]
    tasks = {task.id: task for task in load_tasks("C")}
    for cell in found.cells:
        assert len(cell.rows) == 12
        assert cell.failed == 0
        for row in cell.rows.values():
            told = cell.condition not in ("names", "free")
            kind = breaks(tasks[row.task])
            assert row.score is not None
            assert row.score.exact == float(kind == "loose" or (kind == "once" and told))
            assert row.requests >= 1
            assert row.catalog_tokens > 0
    sizes = {cell.condition: cell.mean("catalog_tokens") for cell in found.cells}
    assert sizes["text/balanced"] < sizes["json"]
    assert {row.tools for cell in found.cells for row in cell.rows.values()} == {10}


def test_inspect_reads_the_logs_with_sampling_and_messages(finished: Path) -> None:
    logs = [read_eval_log(info) for info in list_eval_logs(str(finished / "logs"))]
    assert len(logs) == 5
    for log in logs:
        assert log.status == "success"
        assert (log.plan.config.temperature, log.plan.config.seed, log.plan.config.max_tokens) == (0.0, 0, 1024)
        assert log.samples is not None
        assert all(sample.messages[0].role == "system" for sample in log.samples)
        assert log.results is not None
        assert {"exact", "selection", "overall"} == {score.name for score in log.results.scores}


@pytest.mark.usefixtures("streams_are_collected")
def test_a_finished_run_asks_nothing_again(finished: Path) -> None:
    before = sorted(str(info.name) for info in list_eval_logs(str(finished / "logs")))
    assert main(["resume", str(finished / "logs")]) == 0
    assert sorted(str(info.name) for info in list_eval_logs(str(finished / "logs"))) == before


def test_another_run_in_the_same_folder_is_refused(finished: Path) -> None:
    with pytest.raises(tscg.ConfigError, match="another run"):
        main(["run", "--model", "oracle/right", "--scenario", "A", "--log-dir", str(finished / "logs")])
    with pytest.raises(tscg.ConfigError, match="no run"):
        main(["resume", str(finished)])


@pytest.mark.usefixtures("streams_are_collected")
def test_failed_requests_are_counted_apart_and_asked_again(tmp_path: Path) -> None:
    tasks = load_tasks("A")[:4]
    plan = Plan(label="A", tasks=tasks, contexts=Contexts(collections_of()), conditions=("json",), controls=False)
    asked: list[str] = []
    down = [True]

    def answer(messages: Sequence[Any], *_: Any) -> ModelOutput:
        query = messages[-1].text
        asked.append(query)
        if down[0] and query == tasks[2].query:
            raise ConnectionError("the server is away")
        output = ModelOutput.from_content("mockllm/model", "I cannot do that.")
        output.usage = ModelUsage(input_tokens=100, output_tokens=5, total_tokens=105)
        return output

    model = get_model("mockllm/model", custom_outputs=answer, memoize=False)
    done, _ = run([plan], model, tmp_path, retries=0)
    (cell,) = read_run(tmp_path).cells
    assert (done, cell.failed, cell.summary.n) == (False, 1, 3)
    assert "the server is away" in cell.rows[tasks[2].id].error
    assert cell.mean("input_tokens") == 100
    down[0] = False
    asked.clear()
    done, _ = run([plan], model, tmp_path, retries=0)
    (cell,) = read_run(tmp_path).cells
    assert (done, cell.failed, cell.summary.n) == (True, 0, 4)
    assert asked == [tasks[2].query]


@pytest.mark.usefixtures("streams_are_collected")
def test_a_killed_run_goes_on_where_it_was(tmp_path: Path) -> None:
    """Nothing is lost and nothing counted twice: samples that were finished before the kill are kept as they are."""
    arguments = ["bench", "run", "--model", "oracle/right", "--scenario", "C", "--size", "5", "--no-controls"]
    arguments += ["--limit", "40"]
    folder = tmp_path / "logs"
    started = [sys.executable, "-m", "tscg", *arguments, "--condition", "json,text/balanced", "--log-dir", str(folder)]
    process = subprocess.Popen(started, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        deadline = time.monotonic() + 120
        while len(kept := samples_in(folder)) < 5 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert 5 <= len(kept) < 80
    assert main(["resume", str(folder)]) == 0
    found = read_run(folder)
    assert [len(cell.rows) for cell in found.cells] == [40, 40]
    assert all(cell.summary.exact == 1 and cell.failed == 0 for cell in found.cells)
    after = {sample.uuid for info in list_eval_logs(str(folder)) for sample in read_eval_log(info).samples or ()}
    assert kept <= after


def samples_in(folder: Path) -> set[str]:
    """Ids of the samples that stand in the logs, which may be half-written."""
    found = set()
    for path in folder.glob("*.eval"):
        try:
            with ZipFile(path) as log:
                names = [name for name in log.namelist() if name.startswith("samples/")]
                found |= {json.loads(log.read(name))["uuid"] for name in names}
        except (BadZipFile, EOFError, KeyError, OSError, ValueError, zlib.error):  # it is just being written
            continue
    return found


# --- between our values and Inspect's ---------------------------------------------------------------------------------


def test_every_schema_reaches_the_provider_untouched(shared_catalog_files: list[Path]) -> None:
    for tools in collections_of(shared_catalog_files).values():
        for tool in tools:
            schema = tool.get("inputSchema", tool.get("parameters"))
            info = tool_info({"name": tool["name"], "description": tool.get("description"), "parameters": schema})
            assert info.parameters.model_dump(exclude_none=True) == schema
            assert info.model_dump(exclude_none=True)["parameters"] == schema
            assert set(info.parameters.properties) == set(schema.get("properties", {}))


def test_messages_go_there_and_back() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    said: list[dict[str, Any]] = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "r"},
    ]
    found = messages_of(said)
    assert [message.role for message in found] == ["system", "user", "assistant", "tool"]
    assert getattr(found[3], "function") == "f"  # noqa: B009
    output = ModelOutput.from_content("m", "")
    assert isinstance(found[2], ChatMessageAssistant)
    output.choices[0].message = found[2]
    assert message_of(output) == {"role": "assistant", "content": None, "tool_calls": [call]}


def test_arguments_that_inspect_cannot_read_reach_our_decoder() -> None:
    from inspect_ai.model._call_tools import parse_tool_call  # what its providers read answers with

    broken = parse_tool_call("c1", "f", '{"a": 1,}', [ToolInfo(name="f", description="")])
    ours = call_of({"id": "c3", "function": {"name": "f", "arguments": '{"a": 1,}'}})
    assert broken.parse_error
    assert ours.parse_error
    output = ModelOutput.for_tool_call("m", "f", {})
    output.choices[0].message.tool_calls = [broken, ToolCall(id="c2", function="g", arguments={}), ours]
    message = message_of(output)
    assert isinstance(message, dict)
    assert [call["function"]["arguments"] for call in message["tool_calls"]] == ['{"a": 1,}', "{}", '{"a": 1,}']
