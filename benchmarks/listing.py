"""An MCP server over stdio that lists the tools of a file and runs none: what a proxy is put in front of.

python benchmarks/listing.py FILE
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def answer(request: dict[str, Any], tools: list[dict[str, Any]]) -> dict[str, Any]:
    """The result of a request; empty for what is not known.

    >>> answer({"method": "tools/list"}, [{"name": "ping"}])
    {'tools': [{'name': 'ping'}]}
    """
    if request["method"] == "initialize":
        version = request["params"]["protocolVersion"]
        return {
            "protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": "listing", "version": "1"}
        }  # fmt: skip
    return {"tools": tools} if request["method"] == "tools/list" else {}


def main(path: str) -> None:
    """Answer each request that comes in, until the input ends."""
    tools = json.loads(Path(path).read_text(encoding="utf-8"))
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:  # notifications have none, and want no answer
            result = answer(request, tools)
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
