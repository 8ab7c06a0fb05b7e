"""tscg for LlamaIndex: tools reach the LLM compressed, and what it answers becomes real, validated tool calls.

``CompressionCallbackManager`` does so for every LLM that it is a callback manager of, ``compress_llm`` for one LLM
without any patch, ``compress_react`` for a ``ReActAgent``. ``SchemaMetadata`` and ``mcp_tools`` make tools of JSON
Schemas, ``catalog_of`` gives tools as they are compiled, ``ToolCompressionEvent`` tells of each call.
"""

from __future__ import annotations

from llama_index_tscg.binding import CompressedLLM, compress_llm
from llama_index_tscg.callbacks import CompressionCallbackManager
from llama_index_tscg.calls import MalformedToolCallError
from llama_index_tscg.convert import SchemaMetadata, catalog_of, mcp_tools
from llama_index_tscg.events import ToolCompressionEvent
from llama_index_tscg.react import compress_react

__all__ = [
    "CompressedLLM", "CompressionCallbackManager", "MalformedToolCallError", "SchemaMetadata", "ToolCompressionEvent",
    "catalog_of", "compress_llm", "compress_react", "mcp_tools",
]  # fmt: skip
