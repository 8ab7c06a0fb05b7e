"""What stands side by side in `benchmarks.peers`: every mode and profile of ours, JSON, and other packages.

A contender makes of a catalog what would reach a model. What has a parser is read back into schemas; what has none is
given per tool as the text that shows it, for the lenient search of `benchmarks.atoms`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import tscg
from tscg.modes.options import MAPS, Code, Dispatch, Mode, Native, Passthrough, Text

__all__ = ["CONTENDERS", "Contender", "Shown", "by_tool", "minified", "neutral", "of_name", "show_toon"]

RawTools = Sequence[Mapping[str, Any]]
LEVELS = ("low", "medium", "high", "max")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What a model is shown: the catalog alone, and all that is sent with it.

    ``schemas`` were read back by the contender's own parser, by the name of the tool; ``texts`` show a tool where
    nothing parses them. Both, where constraints are partly in a schema and partly in prose.
    """

    catalog: str
    sent: Sequence[str]
    schemas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    texts: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A row. ``make`` is what is timed; ``show`` turns its result into what is counted.

    ``package`` is the module that it needs; what is ``ours`` also takes calls back.
    """

    name: str
    make: Callable[[RawTools], Any]
    show: Callable[[Any, RawTools], Shown]
    package: str = ""
    ours: bool = False

    @property
    def present(self) -> bool:
        """Is what it needs installed?"""
        return not self.package or find_spec(self.package) is not None


def minified(value: object) -> str:
    """Compact JSON, UTF-8 as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def neutral(raw: Any) -> list[dict[str, Any]]:
    """The tools of a file in one form: name, description, parameters, all as they are."""
    return [
        {"name": tool.name, "description": tool.original_description, "parameters": tool.schema}
        for tool in tscg.Catalog.from_tools(raw)
    ]


def openai(tools: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Tools in OpenAI's chat form."""
    return [{"type": "function", "function": dict(tool)} for tool in tools]


def _schemas(tools: RawTools) -> dict[str, Any]:
    return {tool["name"]: tool["parameters"] for tool in tools}


# --- JSON and TOON ----------------------------------------------------------------------------------------------------


def _json(indent: int | None) -> Callable[[RawTools], str]:
    separators = (",", ":") if indent is None else None
    return lambda tools: json.dumps(openai(tools), ensure_ascii=False, indent=indent, separators=separators)


def _show_json(text: str, tools: RawTools) -> Shown:
    read = [entry["function"] for entry in json.loads(text)]
    return Shown(catalog=text, sent=[text], schemas=_schemas(read))


def _toon(tools: RawTools) -> str:
    from toon_format import encode

    # Without OpenAI's wrapper around each tool, which TOON would have to repeat.
    return str(encode(list(tools)))


def show_toon(text: str, tools: RawTools) -> Shown:
    """TOON is read back by the parser of its package for Python."""
    from toon_format import decode

    read: Any = decode(text)
    return Shown(catalog=text, sent=[text], schemas=_schemas(read))


# --- mcp-compressor ---------------------------------------------------------------------------------------------------


def _listing(level: str, tools: RawTools) -> str:
    from mcp_compressor.core import ToolSpec, compress_tool_listing

    specs = [
        ToolSpec(name=tool["name"], description=tool["description"], input_schema=tool["parameters"]) for tool in tools
    ]
    return str(compress_tool_listing(level, specs))


def _show_compressor(level: str, listing: str, tools: RawTools) -> Shown:
    """The tools field as its proxy serves it, in front of a server that lists the tools."""
    from mcp_compressor.core import BackendConfig, CompressedSessionConfig, start_compressed_session

    with TemporaryDirectory() as folder:
        file = Path(folder) / "tools.json"
        file.write_text(json.dumps([_mcp(tool) for tool in tools]), encoding="utf-8")
        server = [str(Path(__file__).with_name("listing.py")), str(file)]
        session = start_compressed_session(
            CompressedSessionConfig(compression_level=level, bridge=False),
            [BackendConfig(name="tools", command_or_url=sys.executable, args=server)],
        )
        try:
            served = session.list_tools()
        finally:
            session.close()
    wire = [
        {"name": one["name"], "description": one["description"], "parameters": one["input_schema"]} for one in served
    ]
    return Shown(catalog=listing, sent=[minified(openai(wire))], texts=by_tool(listing, tools))


def _mcp(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": tool["name"], "description": tool["description"], "inputSchema": tool["parameters"]}


def by_tool(text: str, tools: RawTools) -> dict[str, str]:
    """The lines of a listing by the tool that opens them; lines above the first tool are shown with each."""
    names = {tool["name"] for tool in tools}
    lead: list[str] = []
    found: dict[str, list[str]] = {}
    here = lead
    for line in text.splitlines():
        words = re.findall(r"[\w./-]+", line.removeprefix("<tool>"))[:2]
        opened = next((word for word in words if word in names and word not in found), None)
        if opened is not None:
            here = found.setdefault(opened, [])
        here.append(line)
    return {name: "\n".join([*lead, *lines]) for name, lines in found.items()}


# --- ours -------------------------------------------------------------------------------------------------------------


def _ours(mode: Mode, profile: str) -> Callable[[RawTools], tscg.CompiledCatalog]:
    def make(tools: RawTools) -> tscg.CompiledCatalog:
        compiled = tscg.compile(list(tools), mode=mode, profile=profile)
        _ = compiled.prompt, compiled.wire_tools
        return compiled

    return make


def _show_ours(compiled: tscg.CompiledCatalog, tools: RawTools) -> Shown:
    wire = compiled.to_openai()
    sent = [part for part in (compiled.prompt, minified(wire) if wire else "") if part]
    if compiled.mode == "text":
        read = {tool.name: tool.to_json_schema() for tool in tscg.decompile(compiled.text)}
        return Shown(catalog=compiled.text, sent=sent, schemas=read)
    if compiled.mode in ("native", "passthrough"):
        schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in wire}
        names = {tool["name"]: compiled.surface.wire_names.get(tool["name"], tool["name"]) for tool in tools}
        prose = {tool["function"]["name"]: minified(tool["function"]) for tool in wire}
        return Shown(
            catalog=minified(wire), sent=sent, schemas={name: schemas[sent_as] for name, sent_as in names.items()},
            texts={name: prose[sent_as] for name, sent_as in names.items()},
        )  # fmt: skip
    return Shown(catalog=compiled.text, sent=sent, texts=_with_shared(compiled.text, compiled.entries))


def _with_shared(text: str, entries: Mapping[str, str]) -> dict[str, str]:
    """Entries, each with what stands outside of all of them: notes on shared parameters, classes of stubs."""
    for entry in entries.values():
        text = text.replace(entry, "", 1)
    return {name: f"{text}\n{entry}" for name, entry in entries.items()}


def _own_rows() -> list[Contender]:
    everything = ("lossless", "conservative", "balanced", "brief", "signature", "aggressive")
    forms: list[tuple[str, Mode, str]] = [
        ("passthrough", Passthrough(), "lossless"),
        *((f"native, {name}", Native(), name) for name in ("lossless", "conservative", "balanced", "brief")),
        *((f"text, {name}", Text(), name) for name in everything),
        *((f"code, {name}", Code(), name) for name in ("lossless", "balanced", "brief")),
        *((f"dispatch, {map}", Dispatch(map=map), "balanced") for map in reversed(MAPS)),
    ]
    return [
        Contender(name=f"tscg {name}", make=_ours(mode, profile), show=_show_ours, ours=True)
        for name, mode, profile in forms
    ]


CONTENDERS: tuple[Contender, ...] = (
    Contender(name="JSON, minified (the baseline)", make=_json(None), show=_show_json),
    Contender(name="JSON, pretty", make=_json(2), show=_show_json),
    Contender(name="TOON", make=_toon, show=show_toon, package="toon_format"),
    *(
        Contender(
            name=f"mcp-compressor, {level}", make=partial(_listing, level), show=partial(_show_compressor, level),
            package="mcp_compressor",
        )
        for level in LEVELS
    ),
    *_own_rows(),
)  # fmt: skip
"""Every row that needs no Node, in the order of the table."""


def of_name(name: str) -> Contender:
    """The contender of a name."""
    return next(one for one in CONTENDERS if one.name == name)
