"""A demonstration on real input: an MCP server over a real database, compiled, put before a model, and called."""

from __future__ import annotations

from tscg.demo.models import ChatModel, ModelError, OpenAIModel, ReplayModel, model_from_spec
from tscg.demo.run import run_demo

__all__ = ["ChatModel", "ModelError", "OpenAIModel", "ReplayModel", "model_from_spec", "run_demo"]
