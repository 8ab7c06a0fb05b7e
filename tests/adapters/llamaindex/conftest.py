"""The tests of this folder need LlamaIndex with its clients for OpenAI; where they are not installed there are none."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

NEEDED = ("llama_index_tscg", "llama_index.llms.openai", "llama_index.llms.openai_like")


def _is_installed(name: str) -> bool:
    """Whether a module can be imported; its parents are, but nothing heavy."""
    parts = name.split(".")
    return all(find_spec(".".join(parts[: n + 1])) is not None for n in range(len(parts)))


collect_ignore_glob = [] if all(map(_is_installed, NEEDED)) else ["*.py"]

if find_spec("mcp"):
    # The client for stdio keeps the standard error of the moment of its import: that of a test is no file.
    import_module("mcp.client.stdio")
