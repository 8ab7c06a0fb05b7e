"""tscg for LangChain: tools reach the model compressed, and what it answers becomes real, validated tool calls.

``CompressedToolkit`` binds tools to a model, ``CompressedChatModel`` is a model that compresses whatever is bound to
it, ``ToolCompressionMiddleware`` does the same inside ``create_agent`` (it needs ``langchain``: extra ``agents``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_tscg.binding import CompressedChatModel
from langchain_tscg.calls import MalformedToolCallError
from langchain_tscg.toolkit import CompressedToolkit

if TYPE_CHECKING:
    from langchain_tscg.middleware import ToolCompressionMiddleware

__all__ = ["CompressedChatModel", "CompressedToolkit", "MalformedToolCallError", "ToolCompressionMiddleware"]


def __getattr__(name: str) -> Any:
    """The middleware, when it is first used: it needs the package ``langchain``."""
    if name != "ToolCompressionMiddleware":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        from langchain_tscg.middleware import ToolCompressionMiddleware
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in ("langchain", "langgraph"):
            raise
        raise ImportError(
            "ToolCompressionMiddleware needs the package langchain: install langchain-tscg[agents]", name=missing.name
        ) from missing
    return ToolCompressionMiddleware
