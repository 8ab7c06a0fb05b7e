"""Tools that are not as approved: refused or warned of, before anything is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.tools import StructuredTool

import tscg
from langchain_tscg import CompressedChatModel, CompressedToolkit
from tests.adapters.langchain.models import ScriptedChatModel

MODES = ("native", "text", "dispatch", "passthrough")
pytestmark = pytest.mark.filterwarnings("ignore:.* mode sends .* as JSON:tscg.TscgWarning")


def made(name: str, said: str, **properties: Any) -> StructuredTool:
    schema = {"type": "object", "properties": properties}
    return StructuredTool(name=name, description=said, args_schema=schema, func=lambda **_: "ok")


NUMBER, TEXT = {"type": "integer"}, {"type": "string"}
APPROVED = [made("read", "Read an order.", number=NUMBER), made("send", "Send a mail.", to=TEXT)]
LOCK = tscg.Lock.of(CompressedToolkit(APPROVED, mode="text").catalog)
DRIFTED = {
    "description": [made("read", "Read an order, and its owner's mail.", number=NUMBER), APPROVED[1]],
    "schema": [made("read", "Read an order.", number=NUMBER, key=TEXT), APPROVED[1]],
    "added": [*APPROVED, made("wipe", "Delete all.")],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("tools", [APPROVED, APPROVED[:1]], ids=["all", "some"])
def test_approved_tools_are_sent(mode: str, tools: list[StructuredTool]) -> None:
    model = ScriptedChatModel(script=[AIMessage("done")])
    assert CompressedToolkit(tools, mode=mode, lock=LOCK).bind(model).invoke("go").text == "done"


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", DRIFTED)
def test_drift_is_refused(mode: str, kind: str) -> None:
    model = ScriptedChatModel(script=[AIMessage("done")])
    bound = CompressedToolkit(DRIFTED[kind], mode=mode, lock=LOCK).bind(model)
    for _ in range(2):  # and not once alone
        with pytest.raises(tscg.DriftError, match="wipe" if kind == "added" else f"read: {kind}"):
            bound.invoke("go")
    assert model.got == []


def test_drift_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "tscg.lock"
    LOCK.save(path)
    model = ScriptedChatModel(script=[AIMessage("done"), AIMessage("again")])
    bound = CompressedToolkit(DRIFTED["added"], mode="text", lock=path, on_drift="warn").bind(model)
    with pytest.warns(tscg.TscgWarning, match="wipe: added"):
        bound.invoke("go")
    assert bound.invoke("go").text == "again"  # said once


@pytest.mark.parametrize("options", [{"on_drift": "never"}, {"lock": 7}, {"lock": "no/such/file"}], ids=str)
def test_wrong_options(options: dict[str, Any]) -> None:
    with pytest.raises(tscg.ConfigError):
        CompressedToolkit(APPROVED, mode="text", **options)
    with pytest.raises(tscg.ConfigError):
        CompressedChatModel(inner=ScriptedChatModel(), **options)
