"""The MCP proxy: one server over others, that lists compressed tools and lets only valid calls through.

``tscg proxy`` runs it. It speaks JSON-RPC messages over the transports of the official SDK (extra ``mcp``), of either
major version, and reads no message further than it must: what it does not know passes as it is.
"""

from __future__ import annotations
