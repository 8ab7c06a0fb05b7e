"""A graph of one's own: a bound model, a ToolNode with the real tools, tokens as they come.

python examples/langchain_graph.py                  # recorded answers, no model is called
python examples/langchain_graph.py openai:gpt-5.2   # any model that init_chat_model knows
"""

from __future__ import annotations

import sys
from typing import Any

from langchain.chat_models import init_chat_model
from langchain_core.language_models import BaseChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage
from langchain_core.tools import tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition

from langchain_tscg import CompressedToolkit


@tool
def convert(amount: float, unit: str, into: str) -> str:
    """Convert an amount between units of length."""
    metres = {"m": 1.0, "km": 1000.0, "mi": 1609.344}
    return f"{amount * metres[unit] / metres[into]:.3f} {into}"


def recorded() -> BaseChatModel:
    """A model without tool calling, which says what was written down here."""
    answers = (
        'I convert it. <tool_call>{"name":"convert","arguments":{"amount":26.2,"unit":"mi","into":"km"}}</tool_call>',
        "A marathon is about 42.165 km.",
    )
    return GenericFakeChatModel(messages=iter(AIMessage(answer) for answer in answers))


def main() -> None:
    """Build the graph, stream one run of it, and print what was sent."""
    toolkit = CompressedToolkit([convert])
    llm = toolkit.bind(init_chat_model(sys.argv[1]) if len(sys.argv) > 1 else recorded())
    graph = StateGraph(MessagesState)
    graph.add_node("model", lambda state: {"messages": [llm.invoke(state["messages"])]})
    graph.add_node("tools", ToolNode(toolkit.get_tools()))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    question = MessagesState(messages=[HumanMessage("How long is a marathon in kilometres?")])
    compiled: Any = graph.compile()
    for chunk, _ in compiled.stream(question, stream_mode="messages"):
        print(f"\n[{chunk.name}] {chunk.text}" if not isinstance(chunk, AIMessageChunk) else chunk.text, end="")
    print(f"\n\n{toolkit.report()}")


if __name__ == "__main__":
    main()
