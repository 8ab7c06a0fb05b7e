"""Tools of LlamaIndex as the core reads them, and the core's wire tools as LlamaIndex sends them."""

from __future__ import annotations

import hashlib
import inspect
import json
import marshal
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol, TypeAlias

from llama_index.core.tools import BaseTool, FunctionTool, ToolMetadata
from pydantic.fields import FieldInfo

import tscg
from llama_index_tscg.cache import Cache
from tscg.errors import CompileError, Fragment

__all__ = [
    "SchemaMetadata", "Snapshot", "WireMetadata", "catalog_of", "form", "is_output", "mcp_tools", "snapshot",
    "wire_tool",
]  # fmt: skip

Key: TypeAlias = "tuple[int | str, ...]"

KEPT = 1_000  # tools, lists of them, and catalogs
OUTPUT_MODULE = "llama_index.core.program.function_program"
_forms = Cache[tuple[dict[str, Any], dict[str, Any]]](KEPT)
_snapshots = Cache["Snapshot"](KEPT)
_catalogs = Cache[tscg.Catalog](KEPT)


@dataclass
class SchemaMetadata(ToolMetadata):
    """Metadata of a tool whose arguments a JSON Schema describes, such as one of an MCP server.

    ``schema`` is compiled as it is; LlamaIndex itself would rebuild it as a pydantic class and lose what that lacks.

    >>> from llama_index.core.tools import FunctionTool
    >>> port = {"type": "object", "properties": {"port": {"type": "integer", "maximum": 65535}}, "required": ["port"]}
    >>> tool = FunctionTool(fn=lambda port: "open", metadata=SchemaMetadata(name="probe", description="", schema=port))
    >>> tool.metadata.get_parameters_dict()["properties"]["port"]["maximum"]
    65535
    """

    schema: Mapping[str, Any] = field(default_factory=dict)

    def get_parameters_dict(self) -> dict[str, Any]:
        """The schema as an object that lists its properties: LlamaIndex and some providers read that member."""
        found = dict(self.schema)
        for name, value in (("type", "object"), ("properties", {})):
            found.setdefault(name, value)
        return found


class WireMetadata(SchemaMetadata):
    """Metadata of a tool of ours: what carries it is compressed already."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """A list of tools as it was read: the catalog to compile, and ``plain``, what LlamaIndex itself would send."""

    tools: tuple[BaseTool, ...]
    catalog: tscg.Catalog
    plain: tscg.Catalog
    by_name: Mapping[str, BaseTool]


def snapshot(tools: Sequence[BaseTool]) -> Snapshot:
    """The tools as catalogs: read once for the same objects, and the same catalogs for the same content.

    Raises :class:`tscg.CompileError` for two tools of one name.
    """
    marks = [_marks(tool) for tool in tools]
    return _snapshots.get(tuple(key for key, _ in marks), marks, lambda: _read(tools, marks))


def catalog_of(tools: Sequence[BaseTool]) -> tscg.Catalog:
    """The tools as they are compiled: what ``tscg.Lock.of(catalog_of(tools)).save()`` approves.

    Raises :class:`tscg.CompileError` for two tools of one name.

    >>> def ping(host: str) -> str:
    ...     "Health check"
    ...     return host
    >>> catalog_of([FunctionTool.from_defaults(ping)])[0].description
    'Health check'
    """
    return snapshot(tools).catalog


def form(tool: BaseTool) -> dict[str, Any]:
    """A tool in OpenAI's chat form under its real name, with its whole schema but for what is injected.

    >>> form(FunctionTool.from_defaults(lambda n: n, name="f", description="F.", partial_params={"n": 1}))["function"]
    {'name': 'f', 'description': 'F.', 'parameters': {'properties': {}, 'type': 'object'}}
    """
    metadata = tool.metadata
    parameters = dict(_schema(metadata))
    injected = _injected(tool)
    if injected:
        # A schema that the caller gave is not filtered upstream.
        properties = parameters.get("properties") or {}
        parameters["properties"] = {name: one for name, one in properties.items() if name not in injected}
        if "required" in parameters:
            parameters["required"] = [name for name in parameters["required"] if name not in injected]
    return _form(metadata.name or "", metadata.description or "", parameters)


def without_signature(tool: BaseTool) -> str:
    """The description of a tool, without the signature that LlamaIndex puts in front of a docstring: the schema says
    it already, and a profile that keeps the first sentence would keep nothing else.

    >>> def add(a: int, b: int) -> int:
    ...     "Add two numbers."
    ...     return a + b
    >>> without_signature(FunctionTool.from_defaults(add))
    'Add two numbers.'
    """
    tool = getattr(tool, "base_tool", tool)
    description = tool.metadata.description or ""
    name = tool.metadata.name or ""
    if not isinstance(tool, FunctionTool) or not description.startswith(f"{name}("):
        return description
    signature = inspect.signature(tool.real_fn)
    left_out = {"self", *_injected(tool)}
    kept = [
        one.replace(default=inspect.Parameter.empty) if isinstance(one.default, FieldInfo) else one
        for one in signature.parameters.values()
        if one.name not in left_out
    ]
    return description.removeprefix(f"{name}{signature.replace(parameters=kept)}").strip()


def wire_tool(neutral: Mapping[str, Any]) -> BaseTool:
    """A wire tool of the core as one that every integration can send; it is never run."""
    metadata = WireMetadata(
        name=neutral["name"], description=neutral["description"], schema=neutral["parameters"]
    )  # fmt: skip
    return FunctionTool(fn=_never, metadata=metadata)


def is_output(tool: BaseTool) -> bool:
    """Whether a tool is none, but a pydantic class that an answer must have the form of.

    `FunctionCallingProgram` marks it by nothing but the module of its function (llama-index-core 0.14); a test fails
    when that moves.
    """
    return isinstance(tool, FunctionTool) and getattr(tool.fn, "__module__", None) == OUTPUT_MODULE


class Client(Protocol):
    """The session of an MCP client."""

    async def call_tool(self, name: str, arguments: dict[str, Any]) -> Any:
        """Call a tool of the server."""
        ...


class Spec(Protocol):
    """What is needed of a `McpToolSpec` of llama-index-tools-mcp."""

    client: Client

    async def fetch_tools(self) -> list[Any]:
        """The server's tools as it lists them."""
        ...


async def mcp_tools(spec: Spec) -> list[FunctionTool]:
    """The tools of a ``McpToolSpec``, each with the server's own schema.

    ``spec.to_tool_list_async()`` gives the same tools with schemas that are rebuilt as pydantic classes: nested
    objects, ranges and ``oneOf`` are lost there, and one property named ``_x`` fails the whole list. Example:
    ``agent = FunctionAgent(tools=await mcp_tools(McpToolSpec(client=client)), llm=llm)``.
    """
    return [_mcp_tool(spec, raw) for raw in await spec.fetch_tools()]


def _mcp_tool(spec: Spec, raw: Any) -> FunctionTool:
    async def call(**arguments: Any) -> Any:
        return await spec.client.call_tool(raw.name, arguments)

    preset = dict(getattr(spec, "global_partial_params", None) or {})
    preset |= (getattr(spec, "partial_params_by_tool", None) or {}).get(raw.name) or {}
    schema = getattr(raw, "input_schema", None) or getattr(raw, "inputSchema", None) or {}
    metadata = SchemaMetadata(name=raw.name, description=raw.description or "", schema=schema)
    given = {name: value for name, value in preset.items() if value is not None}
    return FunctionTool(async_fn=call, metadata=metadata, partial_params=given)


# --- reading ----------------------------------------------------------------------------------------------------------


def _marks(tool: BaseTool) -> tuple[Key, tuple[object, ...]]:
    """What a tool was read from: a key by identity, and the objects to hold, so that no address becomes another's."""
    metadata = tool.metadata
    held = (getattr(tool, "base_tool", tool), metadata, metadata.name, metadata.description, _source(metadata))
    return (*map(id, held[:4]), *_known(held[4]), *_injected(tool)), held


def _source(metadata: ToolMetadata) -> object:
    """Where the schema comes from; a class of another's may make it anew at each call, so its text alone says."""
    if isinstance(metadata, SchemaMetadata):
        return metadata.schema
    if type(metadata) is ToolMetadata:
        return metadata.fn_schema
    return json.dumps(metadata.get_parameters_dict(), sort_keys=True, default=repr)


def _known(source: object) -> Key:
    return (source if isinstance(source, str) else id(source),)


def _injected(tool: BaseTool) -> tuple[str, ...]:
    """Arguments that LlamaIndex gives itself: the context, and those that are set already."""
    tool = getattr(tool, "base_tool", tool)
    context = getattr(tool, "ctx_param_name", None)
    return (*([context] if context else []), *(getattr(tool, "partial_params", None) or ()))


def _schema(metadata: ToolMetadata) -> Mapping[str, Any]:
    return metadata.schema if isinstance(metadata, SchemaMetadata) else metadata.get_parameters_dict()


def _form(name: str, description: str, parameters: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


def _read(tools: Sequence[BaseTool], marks: Sequence[tuple[Key, object]]) -> Snapshot:
    forms = [_forms.get(key, held, partial(_forms_of, tool)) for tool, (key, held) in zip(tools, marks, strict=True)]
    compiled, plain = [one for one, _ in forms], [one for _, one in forms]
    names = Counter(one["function"]["name"] for one in plain)
    twice = sorted(name for name, count in names.items() if count > 1)
    if twice:
        raise CompileError(
            [Fragment(tool=name, pointer="", reason="two tools have this name") for name in twice],
            hint="give one of them another name: an agent runs the last one alone",
        )
    catalog = _catalog(compiled)
    return Snapshot(
        tools=tuple(tools), catalog=catalog, plain=catalog if compiled == plain else _catalog(plain),
        by_name={one["function"]["name"]: tool for one, tool in zip(plain, tools, strict=True)},
    )  # fmt: skip


def _forms_of(tool: BaseTool) -> tuple[dict[str, Any], dict[str, Any]]:
    """A tool as it is compiled, and as LlamaIndex sends it."""
    plain = form(tool)
    function = plain["function"]
    return _form(function["name"], without_signature(tool), function["parameters"]), plain


def _catalog(forms: list[dict[str, Any]]) -> tscg.Catalog:
    """The catalog of some forms: the same one for the same content, and with it all that is compiled of it."""
    try:
        content = marshal.dumps(forms, 2)  # a fraction of the time of JSON
    except ValueError:  # a value of another type, such as an enum's member
        content = json.dumps(forms, default=repr).encode()
    key = hashlib.sha256(content).digest()
    return _catalogs.get(key, None, lambda: tscg.Catalog.from_tools(forms, on_error="passthrough"))


def _never(**arguments: Any) -> str:
    raise AssertionError("a tool of the wire is never run")
