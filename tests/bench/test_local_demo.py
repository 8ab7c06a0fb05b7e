"""The seam through which the demo finds a model of this machine, and holds it to the schema of the catalog."""

from __future__ import annotations

import importlib.metadata
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from rich.console import Console

from tscg.cli import main
from tscg.demo import run_demo
from tscg.demo.models import Answer, Message, SchemaModel


class Scripted:
    """A model that can be held to a schema and says what is written down, one answer a request."""

    label = "scripted"
    catalog_model = None

    def __init__(self) -> None:
        self.schema: Mapping[str, Any] = {}
        self.systems: list[str] = []

    def held_to(self, schema: Mapping[str, Any]) -> Scripted:
        self.schema = schema
        return self

    def answer(self, messages: Sequence[Message], tools: Sequence[Message], stop: Sequence[str] = ()) -> Answer:
        self.systems.append(str(messages[0]["content"]))
        first = not any(message["role"] == "assistant" for message in messages)
        call = {"name": "get_order", "arguments": {"order_id": "ord-50234"}}
        return Answer(output=json.dumps({"tool_calls": [call]} if first else {"answer": "That is all."}))


def test_the_demo_holds_a_model_to_the_schema() -> None:
    pytest.importorskip("mcp", reason="the demo needs the MCP SDK")
    scripted, screen = Scripted(), io.StringIO()
    assert isinstance(scripted, SchemaModel)
    assert run_demo(Console(file=screen, width=200), model=scripted, profile="brief") == 0
    shown = screen.getvalue()
    assert shown.count("get_order(") == 3
    assert "That is all." in shown
    assert "tool_calls" in scripted.schema["anyOf"][0]["properties"]
    assert scripted.schema["anyOf"][0]["properties"]["tool_calls"]["maxItems"] == 1
    assert all('{"tool_calls"' in system for system in scripted.systems)


def test_in_native_mode_it_is_not_held() -> None:
    pytest.importorskip("mcp", reason="the demo needs the MCP SDK")
    scripted = Scripted()
    assert run_demo(Console(file=io.StringIO(), width=200), model=scripted, mode="native") == 0
    assert scripted.schema == {}


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("--gguf", "m.gguf"), 1, "model gguf is not installed; install tscg-bench[local]"),
        (("--gguf", "m.gguf", "--model", "ollama:phi4"), 2, "--gguf given with --model"),
    ],
)
def test_option_of_the_demo(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    code: int,
    says: str,
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **selection: ())
    with pytest.raises(SystemExit) as ended:
        main(["demo", *arguments])
    assert ended.value.code == code
    assert says in capsys.readouterr().err
