"""Packages of npm beside ours: each is run by Node in the folder that holds it, in one process."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import tscg
from benchmarks.contenders import RawTools, Shown, by_tool, show_toon

__all__ = ["NODE_PEERS", "NodeAnswer", "NodePeer", "run_node"]

PROGRAM = Path(__file__).with_suffix(".mjs")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodePeer:
    """A row: the npm package and the options that its ``compress`` takes."""

    name: str
    package: str
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeAnswer:
    """What a package made of each catalog, and the times of `benchmarks.peers`."""

    shown: Sequence[Shown]
    times: dict[str, float | None]


NODE_PEERS: tuple[NodePeer, ...] = (
    NodePeer(name="TOON (Node)", package="@toon-format/toon"),
    *(
        NodePeer(name=f"@tscg/core, {profile}", package="@tscg/core", options={"profile": profile, "model": "gpt-5"})
        for profile in ("conservative", "balanced", "aggressive")
    ),
    *(NodePeer(name=f"toolgz, level {level}", package="toolgz", options={"level": level}) for level in (1, 2, 3)),
    NodePeer(name="toolgz, level 3, signature", package="toolgz", options={"level": 3, "mapStyle": "signature"}),
)


def run_node(peer: NodePeer, folder: Path, catalogs: Sequence[RawTools]) -> NodeAnswer | None:
    """The answer of a package, None where Node or the package is absent."""
    node = shutil.which("node")
    if node is None or not (folder / "node_modules" / peer.package).is_dir():
        return None
    request = {
        "package": peer.package, "options": dict(peer.options), "catalogs": list(catalogs),
        "calls": [_calls(tools) for tools in catalogs],
    }  # fmt: skip
    command = [node, "--input-type=module", "-e", PROGRAM.read_text(encoding="utf-8")]
    done = subprocess.run(
        command, cwd=folder, input=json.dumps(request), capture_output=True, text=True, check=False, timeout=300
    )
    if done.returncode:
        raise RuntimeError(f"{peer.name} failed:\n{done.stderr}")
    answer = json.loads(done.stdout)
    shown = [_shown(peer, made, tools) for made, tools in zip(answer["shown"], catalogs, strict=True)]
    return NodeAnswer(shown=shown, times=answer["times"])


def _calls(tools: RawTools) -> list[dict[str, Any]]:
    """A valid call of each tool, where one is found."""
    from tests.core.made_values import valid_arguments

    found = []
    for tool in tscg.Catalog.from_tools(list(tools)):
        found += [{"name": tool.name, "arguments": arguments} for arguments in valid_arguments(tool, most=1)]
    return found


def _shown(peer: NodePeer, made: Mapping[str, Any], tools: RawTools) -> Shown:
    """Wire tools are told apart by their names, entries of a text by their first lines; a tool that is found in neither
    is searched for in all of it."""
    catalog = made["catalog"]
    if peer.package == "@toon-format/toon":
        return show_toon(catalog, tools)
    try:
        wire = [one["function"] for one in json.loads(catalog)]
    except ValueError:
        wire = []
    own = {function["name"]: json.dumps(function, ensure_ascii=False) for function in wire} or by_tool(catalog, tools)
    return Shown(
        catalog=catalog, sent=made["sent"],
        schemas={function["name"]: function["parameters"] for function in wire},
        texts={tool["name"]: own.get(tool["name"], catalog) for tool in tools},
    )  # fmt: skip
