"""LLMs without any patch: one without function calling drives an agent in text, and a ReAct agent reads a catalog.

python examples/llamaindex_llm.py   # recorded answers, no model is called
"""

from __future__ import annotations

import asyncio
from typing import Any

from llama_index.core.agent.workflow import FunctionAgent, ReActAgent
from llama_index.core.llms import CompletionResponse, CustomLLM, LLMMetadata
from llama_index.core.tools import FunctionTool
from pydantic import Field

from llama_index_tscg import compress_llm, compress_react


class Recorded(CustomLLM):
    """An LLM that only completes text: it says what was written down."""

    answers: list[str] = Field(default_factory=list)

    @property
    def metadata(self) -> LLMMetadata:
        """It has no function calling."""
        return LLMMetadata(model_name="recorded")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        """The next answer."""
        return CompletionResponse(text=self.answers.pop(0))

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        """The next answer, in pieces."""
        text = self.answers.pop(0)
        ends = [*range(4, len(text), 4), len(text)]
        return (CompletionResponse(text=text[:end], delta=text[max(0, end - 4) : end]) for end in ends)


def convert(amount: float, unit: str, into: str) -> str:
    """Convert an amount between units of length."""
    metres = {"m": 1.0, "km": 1000.0, "mi": 1609.344}
    return f"{amount * metres[unit] / metres[into]:.3f} {into}"


CALL = '<tool_call>{"name":"convert","arguments":{"amount":26.2,"unit":"mi","into":"km"}}</tool_call>'
STEP = 'Thought: I convert it.\nAction: convert\nAction Input: {"amount": 26.2, "unit": "mi", "into": "km"}'


async def main() -> None:
    """Run both agents, and print what the first one sent."""
    tools = [FunctionTool.from_defaults(convert)]
    question = "How long is a marathon in kilometres?"
    llm = compress_llm(Recorded(answers=[f"I convert it. {CALL}", "A marathon is about 42.165 km."]), mode="text")
    print("FunctionAgent:", await FunctionAgent(tools=list(tools), llm=llm).run(user_msg=question))
    thinker = Recorded(answers=[STEP, "Thought: I know it.\nAnswer: It is 42.165 km."])
    agent = ReActAgent(tools=list(tools), llm=thinker, **compress_react())
    print("ReActAgent:", await agent.run(user_msg=question))
    print(f"\n{llm.report()}")


if __name__ == "__main__":
    asyncio.run(main())
