"""The 43 tools of the demo's MCP server, read with langchain-mcp-adapters, in an agent with compression.

python examples/langchain_mcp.py                  # recorded answers, no model is called
python examples/langchain_mcp.py openai:gpt-5.2   # any model that init_chat_model knows
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, HumanMessage
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools

from langchain_tscg import CompressedToolkit


def recorded() -> BaseChatModel:
    """A model without tool calling, which says what was written down here."""
    answers = (
        '<tool_call>{"name": "search_issues", "arguments": {"query": "card payment", "project": "SHOP"}}</tool_call>',
        '<tool_call>{"name": "update_issue", "arguments": {"key": "SHOP-14", "priority": "critical"}}</tool_call>',
        '<tool_call>{"name": "update_issue", "arguments": {"key": "SHOP-14", "priority": "urgent"}}</tool_call>',
        "SHOP-14 is urgent now.",
    )
    return GenericFakeChatModel(messages=iter(AIMessage(answer) for answer in answers))


async def main() -> None:
    """Start the server, run the agent, and print its conversation and what was sent."""
    model = init_chat_model(sys.argv[1]) if len(sys.argv) > 1 else recorded()
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "tscg.demo.server", "--db", str(Path(folder) / "demo.db")]
        server: Any = {"transport": "stdio", "command": sys.executable, "args": command}
        client = MultiServerMCPClient({"demo": server})
        async with client.session("demo") as session:
            toolkit = CompressedToolkit(await load_mcp_tools(session))
            agent = create_agent(model, toolkit.get_tools(), middleware=[toolkit.middleware()])
            task = HumanMessage("Paying by card hangs at the checkout. Find the issue about it and make it critical.")
            state = await agent.ainvoke({"messages": [task]})
    for message in state["messages"]:
        message.pretty_print()
    print(f"\n{toolkit.report()}")


if __name__ == "__main__":
    asyncio.run(main())
