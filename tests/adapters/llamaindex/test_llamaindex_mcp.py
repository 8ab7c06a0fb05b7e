"""Tools of an MCP server: compiled from the server's own schema, run by its client."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from llama_index.core.tools.calling import call_tool

from llama_index_tscg import mcp_tools
from llama_index_tscg.convert import form, snapshot

NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "_x": {"type": "string"}, "key": {"type": "string"},
        "to": {"type": "object", "properties": {"row": {"type": "integer", "minimum": 1}}, "required": ["row"]},
        "how": {"oneOf": [{"const": "fast"}, {"const": "slow"}]},
    },
    "required": ["to", "key"],
}  # fmt: skip


class Raw:
    """A tool as a client of MCP lists it; the name of the schema's field is that of the major version."""

    def __init__(self, name: str, description: str | None, schema: dict[str, Any], field: str) -> None:
        self.name, self.description = name, description
        setattr(self, field, schema)


class Spec:
    """What a `McpToolSpec` has: raw tools, a client, arguments that are set already."""

    def __init__(self, field: str) -> None:
        self.client: Any = self
        self.global_partial_params = {"key": "secret", "gone": 1}
        self.partial_params_by_tool = {"move": {"gone": None}}
        self.tools = [Raw("move", None, NESTED, field), Raw("bare", "Bare.", {}, field)]
        self.called: list[Any] = []

    async def fetch_tools(self) -> list[Any]:
        return self.tools

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> str:
        self.called.append((name, arguments))
        return "moved"


@pytest.mark.parametrize("field", ["inputSchema", "input_schema"])
def test_the_servers_own_schema_is_kept(field: str) -> None:
    spec = Spec(field)
    tools = asyncio.run(mcp_tools(spec))
    schema = form(tools[0])["function"]["parameters"]
    assert schema["properties"] == {name: one for name, one in NESTED["properties"].items() if name != "key"}
    assert schema["required"] == ["to"]
    assert sorted(tool.name for tool in snapshot(tools).catalog) == ["bare", "move"]
    assert call_tool(tools[0], {"to": {"row": 3}}).content == "moved"
    assert call_tool(tools[1], {}).content == "moved"
    assert spec.called[0] == ("move", {"key": "secret", "to": {"row": 3}})


def test_a_real_spec_and_a_real_server(tmp_path: Path) -> None:
    mcp = pytest.importorskip("llama_index.tools.mcp", reason="llama-index-tools-mcp needs mcp 2, which others cap")
    command = ["-m", "tscg.demo.server", "--db", str(tmp_path / "demo.db")]
    spec = mcp.McpToolSpec(client=mcp.BasicMCPClient(sys.executable, args=command))

    async def listed() -> Any:
        return await mcp_tools(spec), await spec.to_tool_list_async(), await spec.fetch_tools()

    own, rebuilt, raw = asyncio.run(listed())
    assert [tool.metadata.name for tool in own] == [tool.metadata.name for tool in rebuilt]
    assert [tool.metadata.schema for tool in own] == [one.input_schema for one in raw]
    lossy = [tool.metadata.get_parameters_dict() for tool in rebuilt]
    assert lossy != [tool.metadata.get_parameters_dict() for tool in own]
    answers = [asyncio.run(tools[0].acall(**_arguments(own[0]))) for tools in (own, rebuilt)]
    assert answers[0].content == answers[1].content != ""


def _arguments(tool: Any) -> dict[str, Any]:
    required = tool.metadata.schema.get("required", [])
    return {name: 1 if tool.metadata.schema["properties"][name]["type"] == "integer" else "x" for name in required}
