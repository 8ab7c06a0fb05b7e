"""Tools of the demo's MCP server, each with the server's own schema: the first page, all that McpToolSpec reads.

python examples/llamaindex_mcp.py           # recorded answers, no model is called
python examples/llamaindex_mcp.py gpt-5.2   # a model of OpenAI's (llama-index-llms-openai)
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.llms import LLM
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.tools.mcp import BasicMCPClient, McpToolSpec

from llama_index_tscg import compress_llm, mcp_tools


def recorded() -> LLM:
    """An LLM that says what was written down here, its calls in text."""
    answers = iter((
        '<tool_call>{"name": "search_issues", "arguments": {"query": "card payment", "project": "SHOP"}}</tool_call>',
        '<tool_call>{"name": "update_issue", "arguments": {"key": "SHOP-14", "priority": "critical"}}</tool_call>',
        '<tool_call>{"name": "update_issue", "arguments": {"key": "SHOP-14", "priority": "urgent"}}</tool_call>',
        "SHOP-14 is urgent now.",
    ))  # fmt: skip
    return MockFunctionCallingLLM(
        response_generator=lambda messages, **options: ChatMessage(next(answers), role="assistant")
    )


def model(name: str) -> LLM:
    """A real model."""
    from llama_index.llms.openai import OpenAI

    return OpenAI(model=name)


async def main() -> None:
    """Start the server, run the agent, and print what it said and what was sent."""
    llm = compress_llm(model(sys.argv[1])) if len(sys.argv) > 1 else compress_llm(recorded(), "text")
    with tempfile.TemporaryDirectory() as folder:
        command = ["-m", "tscg.demo.server", "--db", str(Path(folder) / "demo.db")]
        spec = McpToolSpec(client=BasicMCPClient(sys.executable, args=command))
        agent = FunctionAgent(tools=list(await mcp_tools(spec)), llm=llm, system_prompt="You keep issues in order.")
        task = "Paying by card hangs at the checkout. Find the issue about it and make it critical."
        print(await agent.run(user_msg=task))
    print(f"\n{llm.report()}")


if __name__ == "__main__":
    asyncio.run(main())
