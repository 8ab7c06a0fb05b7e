"""Formats: any form of a tool in, the same text out; each form back; functions, models and objects by their shape."""

from __future__ import annotations

import copy
import dataclasses
import functools
import json
from collections import OrderedDict
from collections.abc import Callable, Iterable
from enum import StrEnum
from types import MappingProxyType, SimpleNamespace
from typing import Annotated, Any, Literal, NotRequired, Unpack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import SkipJsonSchema
from typing_extensions import TypedDict  # that of typing is read from Python 3.12 on

import tscg
from tests.strategies import catalogs, tools
from tscg.errors import CompileError, ConfigError
from tscg.formats.docstrings import read_docstring
from tscg.formats.write import FORMATS, render
from tscg.ir import JSON, Catalog, Tool
from tscg.validate import Validator

# A strategy of this size is written out by Hypothesis when a draw is given up, which it warns of.
pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")
FEW = settings(max_examples=settings().max_examples // 4)  # of whole catalogs

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Name of the city."},
        "days": {"type": "integer", "default": 3},
        "unit": {"type": "string", "enum": ["metric", "imperial"], "default": "metric"},
    },
    "required": ["city"],
}
DESCRIPTION = "Weather forecast for a city."
NAMED = {"name": "forecast", "description": DESCRIPTION}
UPPER = json.loads(
    json.dumps(SCHEMA).replace('"object"', '"OBJECT"').replace('"string"', '"STRING"').replace('"integer"', '"INTEGER"')
)


class Forecast(BaseModel):
    """Weather forecast for a city."""

    city: str = Field(description="Name of the city.")
    days: int = 3
    unit: Literal["metric", "imperial"] = "metric"


def forecast(city: str, days: int = 3, unit: Literal["metric", "imperial"] = "metric") -> str:
    """Weather forecast for a city.

    Args:
        city: Name of the city.
    """
    return f"{city} {days} {unit}"


async def forecast_later(
    city: Annotated[str, "Name of the city."], days: int = 3, unit: Literal["metric", "imperial"] = "metric"
) -> str:
    """Weather forecast for a city."""
    return forecast(city, days, unit)


class Station:
    def forecast(self, city: str, days: int = 3, unit: Literal["metric", "imperial"] = "metric") -> str:
        """Weather forecast for a city.

        :param city: Name of the city.
        :type city: str
        """
        return f"{self} {city} {days} {unit}"


def named(function: Callable[..., Any], name: str) -> Any:
    """The callable under another name."""
    found: Any = function
    found.__name__ = name
    return found


class forecast_model(Forecast):  # the tool's name
    """Weather forecast for a city."""


forecast_model.__name__ = "forecast"


def keyed(host: str, city: str, days: int = 3, unit: Literal["metric", "imperial"] = "metric", *, key: str) -> str:
    """Weather forecast for a city.

    Parameters
    ----------
    host : str
        Where to ask.
    city : str
        Name of the city.
    key : str
        What opens the host.
    """
    return f"{host} {city} {days} {unit} {key}"


FORMS: dict[str, Any] = {
    "openai": {"type": "function", "function": {**NAMED, "parameters": SCHEMA}},
    "openai without a type": {"function": {**NAMED, "parameters": SCHEMA}},
    "openai_responses": {"type": "function", **NAMED, "parameters": SCHEMA, "strict": False},
    "anthropic": {**NAMED, "input_schema": SCHEMA},
    "anthropic custom": {"type": "custom", **NAMED, "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
    "mcp": {**NAMED, "inputSchema": SCHEMA, "annotations": {"readOnlyHint": True}},
    "gemini": {"functionDeclarations": [{**NAMED, "parameters": UPPER}]},
    "gemini snake": {"function_declarations": [{**NAMED, "parameters_json_schema": SCHEMA}]},
    "gemini declaration": {**NAMED, "parametersJsonSchema": SCHEMA},
    "plain parameters": {**NAMED, "parameters": SCHEMA},
    "plain schema": {**NAMED, "schema": SCHEMA},
    "answer": {"jsonrpc": "2.0", "id": 1, "result": {"tools": [{**NAMED, "inputSchema": SCHEMA}]}},
    "labelled": {"server": "weather", "tools": [{**NAMED, "inputSchema": SCHEMA}]},
    "nested list": [[{**NAMED, "parameters": SCHEMA}]],
    "tuple": ({**NAMED, "parameters": {**SCHEMA, "required": ("city",)}},),
    "ordered": OrderedDict(**NAMED, parameters=OrderedDict(SCHEMA)),
    "proxy": MappingProxyType({**NAMED, "parameters": MappingProxyType(SCHEMA)}),
    "object": SimpleNamespace(**NAMED, inputSchema=SCHEMA),
    "object with a model": SimpleNamespace(**NAMED, args_schema=Forecast),
    "result object": SimpleNamespace(tools=[SimpleNamespace(**NAMED, input_schema=SCHEMA)], nextCursor=None),
    "pydantic": forecast_model,
    "function": forecast,
    "async function": named(forecast_later, "forecast"),
    "method": Station().forecast,
    "unbound method": Station.forecast,
    "partial": named(functools.partial(keyed, "a.example", key="k"), "forecast"),
}


def text_of(given: Any) -> str:
    return tscg.compile(given, profile="lossless").text


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS.keys())
def test_one_tool_says_the_same_in_all_forms(form: Any) -> None:
    expected = text_of([{**NAMED, "parameters": SCHEMA}])
    assert text_of([form]) == expected
    assert text_of(form) == expected


def test_forms_mix_in_one_list() -> None:
    mixed = [
        FORMS["openai"],
        {"name": "a", "inputSchema": {}},
        Catalog.from_tools([{"name": "b"}]),
        [{"functionDeclarations": [{"name": "c"}, {"name": "d"}]}],
    ]
    catalog = Catalog.from_tools(iter(mixed))
    assert [tool.name for tool in catalog] == ["forecast", "a", "b", "c", "d"]
    assert [tool.format for tool in catalog] == ["openai", "mcp", "plain", "gemini", "gemini"]


@pytest.mark.parametrize(
    "schema", [None, {}, {"type": "object"}, {"type": "object", "properties": None}, True], ids=repr
)
def test_no_schema_is_a_tool_without_parameters(schema: Any) -> None:
    for raw in (
        {"name": "ping", "parameters": schema},
        {"name": "ping", "inputSchema": schema},
        {"type": "function", "name": "ping", "parameters": schema},
    ):
        catalog = Catalog.from_tools([raw])
        assert catalog[0].params == ()
        assert catalog == Catalog.from_tools([{"name": "ping"}])


# --- objects of the MCP SDK and of other SDKs -------------------------------------------------------------------------


@pytest.mark.mcp
def test_tools_of_the_mcp_sdk() -> None:
    from mcp import types

    raw = {
        **NAMED, "title": "Forecast", "inputSchema": {**SCHEMA, "properties": {**SCHEMA["properties"], "note": {"type": ["string", "null"], "default": None}}},
        "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}, "_meta": {"team": "sky"},
    }  # fmt: skip
    listed = types.ListToolsResult.model_validate({"tools": [raw], "nextCursor": "2"})
    for given_ in (listed, [listed], listed.tools, listed.tools[0]):
        tool = Catalog.from_tools(given_)[0]
        assert (tool.raw, tool.format) == (raw, "mcp")
        assert tool.annotations == {"readOnlyHint": True}
        assert tool.schema == raw["inputSchema"]


class SdkFunction(BaseModel):
    name: str
    parameters: dict[str, Any]
    strict: bool | None = None


class SdkTool(BaseModel):
    type: str = "function"
    function: SdkFunction


class Declaration(BaseModel):
    model_config = ConfigDict(serialize_by_alias=True)
    name: str
    parameters_json_schema: dict[str, Any] = Field(alias="parametersJsonSchema")


class SdkTools(BaseModel):
    function_declarations: list[Declaration]
    google_search: dict[str, str] | None = None


def test_objects_of_other_sdks_are_what_they_dump() -> None:
    chat = SdkTool(function=SdkFunction(name="f", parameters=SCHEMA))
    assert Catalog.from_tools([chat])[0].raw == {"type": "function", "function": {"name": "f", "parameters": SCHEMA}}
    gemini = SdkTools(function_declarations=[Declaration(name="f", parametersJsonSchema=SCHEMA)], google_search={})
    catalog = Catalog.from_tools([gemini])
    assert (catalog[0].format, catalog.builtins) == ("gemini", ('{"google_search":{}}',))


class Holder(BaseModel):
    """A tool of a framework: it holds its function, and so cannot be dumped whole."""

    model_config = ConfigDict(arbitrary_types_allowed=True)
    name: str
    description: str
    args_schema: type[BaseModel]
    func: Callable[..., Any]


def test_an_object_that_holds_its_function_is_read_by_its_attributes() -> None:
    holder = Holder(**NAMED, args_schema=Forecast, func=forecast)
    assert text_of([holder]) == text_of(holder) == text_of([FORMS["openai"]])


@pytest.mark.parametrize(
    "raw", [3, 2.5, "f", b"f", None, object(), int, Station, SimpleNamespace(name="f"), {"foo": 1, "bar": 2}, {}, SCHEMA, {"name": "f", **SCHEMA}],
    ids=lambda raw: repr(raw)[:30],
)  # fmt: skip
def test_an_unknown_form_is_a_config_error_with_its_place(raw: Any) -> None:
    with pytest.raises(ConfigError, match="tool 1: ") as caught:
        Catalog.from_tools([{"name": "ping"}, raw])
    assert str(caught.value) == str(caught.value).strip()
    skipped = Catalog.from_tools([{"name": "ping"}, raw], on_error="skip")
    assert [tool.name for tool in skipped] == ["ping"]
    assert [fragment.tool for fragment in skipped.skipped] == ["tool 1"]


@pytest.mark.parametrize(("raw", "says"), [
    (object(), "an object is no tool"), (Station, "the class Station is no tool"), ({"foo": 1, "bar": 2}, "bar, foo"), (SCHEMA, "a JSON Schema is no tool"),
])  # fmt: skip
def test_the_error_says_what_was_seen_and_what_is_accepted(raw: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Catalog.from_tools([raw])


@pytest.mark.parametrize("given_", [None, 3, "[]", b"[]"], ids=repr)
def test_what_is_no_list_of_tools(given_: Any) -> None:
    with pytest.raises(ConfigError, match="expected a list of tools"):
        Catalog.from_tools(given_)


# --- models -----------------------------------------------------------------------------------------------------------


class Place(BaseModel):
    type_: str = Field(alias="type")
    items_: list[int] = Field(default=[], alias="items")


class Node(BaseModel):
    """A node of a tree."""

    label: str
    below: list[Node] = []


class Tree(BaseModel):
    root: Node


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict):
    """How to draw."""

    colour: Literal["red", "blue"]
    width: NotRequired[int]


class Unfit(BaseModel):
    then: Callable[[int], int]


def declared(name: str, required: str = "", description: str = "", **properties: Any) -> dict[str, Any]:
    """The same tool as plain JSON; ``required`` names stand in one text."""
    parameters = {"type": "object", "properties": properties, "required": required.split()}
    return {"name": name, "description": description, "parameters": parameters}


COLOUR = {"enum": ["red", "blue"]}
INTEGER = {"type": "integer"}


@pytest.mark.parametrize(("model", "same"), [
    (Place, declared("Place", "type", type={"type": "string"}, items={"type": "array", "items": INTEGER, "default": []})),
    (Point, declared("Point", "x", x=INTEGER, y={**INTEGER, "default": 0})),
    (Options, declared("Options", "colour", "How to draw.", colour=COLOUR, width=INTEGER)),
], ids=["aliases", "dataclass", "TypedDict"])  # fmt: skip
def test_classes(model: type, same: dict[str, Any]) -> None:
    assert text_of([model]) == text_of([same])


def test_a_recursive_model_is_named_once() -> None:
    assert [name for name, _ in Catalog.from_tools([Tree])[0].types] == ["Node"]


def test_a_model_has_no_docstring_but_its_own() -> None:
    assert [Catalog.from_tools([model])[0].description for model in (Place, Node, Point, Options)] == [
        "",
        "A node of a tree.",
        "",
        "How to draw.",
    ]


@pytest.mark.parametrize("size", [0, 1, 3, 40, 255, 256, 300, 9_999, 70_000])
def test_values_of_python_are_seen_whatever_their_size(size: int) -> None:
    """A tuple is a list, and what no JSON has is refused: nothing of it is passed over because it is long."""
    names = [f"p{i}" for i in range(min(size, 2_000))]

    def read(listed: Callable[[Iterable[str]], Any], description: Any = "") -> Tool:
        kind = {"type": "string", "default": listed(["x"] * size)}
        properties = {"kind": kind} | {name: {"type": "string"} for name in names}
        schema = {"type": "object", "properties": properties, "required": listed(names)}
        return Catalog.from_tools([{"name": "a", "description": description, "inputSchema": schema}])[0]

    assert read(tuple) == read(list)
    assert [param.name for param in read(tuple).params if param.required] == names
    for value in (b"x" * size, frozenset(map(str, range(size)))):
        with pytest.raises(CompileError, match="no JSON"):
            read(list, value)


def test_a_model_without_a_json_schema_is_a_compile_error() -> None:
    with pytest.raises(CompileError, match="Unfit: the model has no JSON Schema"):
        Catalog.from_tools([Unfit])


# --- functions --------------------------------------------------------------------------------------------------------


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


def no_hints(a, b=1):  # type: ignore[no-untyped-def]
    return a, b


def odd_names(schema: str, model_config: int = 1, copy: bool = False, json: str = "") -> None:
    """Names that a pydantic model has too."""


def fields(
    n: int = Field(3, ge=1, description="How many."),
    tags: list[str] = Field(default_factory=list),  # noqa: B008  # pydantic's spelling of a default
    key: str = Field(alias="other"),
) -> None: ...


def annotated(n: Annotated[int, Field(ge=1, le=9, description="How many.")], c: Colour = Colour.RED) -> None: ...


def private(x: int, _client: object = None, injected: SkipJsonSchema[int] = 0) -> None: ...


def open_one(x: int, **more: Any) -> None: ...


def open_typed(x: int, **more: int) -> None: ...


def unpacked(x: int, **options: Unpack[Options]) -> None: ...


def unfit_default(x: int, after: Any = object()) -> None: ...  # noqa: B008


@pytest.mark.parametrize(("function", "same"), [
    (no_hints, declared("no_hints", "a", a={}, b={"default": 1})),
    (odd_names, declared("odd_names", "schema", "Names that a pydantic model has too.", schema={"type": "string"},
                         model_config={**INTEGER, "default": 1}, copy={"type": "boolean", "default": False}, json={"type": "string", "default": ""})),
    (annotated, declared("annotated", "n", n={**INTEGER, "minimum": 1, "maximum": 9, "description": "How many."}, c={**COLOUR, "default": "red"})),
    (private, declared("private", "x", x=INTEGER)),
    (open_one, declared("open_one", "x", x=INTEGER)),
    (unpacked, declared("unpacked", "x colour", x=INTEGER, colour=COLOUR, width=INTEGER)),
    (unfit_default, declared("unfit_default", "x", x=INTEGER, after={})),
], ids=lambda value: getattr(value, "__name__", ""))  # fmt: skip
def test_functions(function: Callable[..., Any], same: dict[str, Any]) -> None:
    assert text_of([function]) == text_of([same])


def test_typed_names_at_will() -> None:
    assert Catalog.from_tools([open_typed])[0].to_json_schema()["additionalProperties"] == {"type": "integer"}


def test_a_field_as_default() -> None:
    schema = Catalog.from_tools([fields])[0].schema
    assert schema["properties"] == {
        "n": {"default": 3, "description": "How many.", "minimum": 1, "title": "N", "type": "integer"},
        "tags": {"items": {"type": "string"}, "title": "Tags", "type": "array"},
        "key": {"title": "Key", "type": "string"},
    }
    assert schema["required"] == ["key"]


@pytest.mark.parametrize(("function", "closed"), [(forecast, True), (open_one, False), (open_typed, False), (unpacked, True)],
                         ids=lambda value: getattr(value, "__name__", value))  # fmt: skip
def test_a_function_is_closed_for_the_validator_alone(function: Callable[..., Any], closed: bool) -> None:
    tool = Catalog.from_tools([function])[0]
    assert (tool.schema.get("additionalProperties") is False) is closed
    assert tool.to_json_schema().get("additionalProperties") is not False
    known: dict[str, JSON] = {"city": "Oslo", "x": 1, "colour": "red"}
    arguments = {param.name: known[param.name] for param in tool.params if param.required}
    assert Validator(tool).is_valid(arguments)
    assert Validator(tool).is_valid({**arguments, "undeclared": 1}) is not closed


def star(*cities: str) -> None: ...


def positional(city: str, /) -> None: ...


def private_needed(_client: object) -> None: ...


def unresolved(x: Missing) -> None: ...  # type: ignore[name-defined]  # noqa: F821


def undescribed(ctx: Station) -> None: ...


@pytest.mark.parametrize(("function", "says"), [
    (star, r"star: \*cities takes arguments that have no name"), (positional, "positional: city is positional-only"),
    (private_needed, "_client is private and has no default"), (unresolved, "the type hint of x cannot be resolved .*Missing"),
    (undescribed, "the type of ctx has no JSON Schema"), (lambda x: x, "a lambda has no name"),
], ids=lambda value: getattr(value, "__name__", ""))  # fmt: skip
def test_functions_that_no_call_by_name_can_fill(function: Callable[..., Any], says: str) -> None:
    with pytest.raises(CompileError, match=says):
        tscg.compile([function])
    assert [tool.name for tool in Catalog.from_tools([function, forecast], on_error="skip")] == ["forecast"]


def test_a_callable_object_and_a_local_type() -> None:
    class Local(BaseModel):
        x: int

    class Pinger:
        """Check a host."""

        def __call__(self, host: str) -> bool:
            return bool(host)

    def takes(value: Local) -> Local:
        return Local(x=value.x)

    assert text_of([Pinger()]) == "Pinger(host) Check a host."
    assert text_of([takes]) == "takes(value:{x:int})"


DOCSTRINGS = {
    "google": "Find it.\n\n    More words.\n\n    Args:\n        a (int, optional): The first,\n            and longer.\n        b: The other.\n\n    Returns:\n        A list.",
    "numpy": "Find it.\n\n    More words.\n\n    Parameters\n    ----------\n    a : int, optional\n        The first,\n        and longer.\n    b\n        The other.\n\n"
             "    Returns\n    -------\n        A list.",
    "sphinx": "Find it.\n\n    More words.\n\n    :param int a: The first,\n        and longer.\n    :param b: The other.\n    :type b: str\n    :return: A list.\n    :rtype: list",
}  # fmt: skip


@pytest.mark.parametrize("doc", DOCSTRINGS.values(), ids=DOCSTRINGS.keys())
def test_docstring_styles(doc: str) -> None:
    found = read_docstring(doc, {"a", "b"})
    assert found.params == {"a": "The first, and longer.", "b": "The other."}
    assert found.text.split() == "Find it. More words. Returns: A list.".split()


@pytest.mark.parametrize(("doc", "text", "params"), [
    (None, "", {}), ("", "", {}), ("Just this: a thing.", "Just this: a thing.", {}),
    ("Do.\n\nArgs:\n    a: First.\n    other: Unknown.\n    key: Secret.", "Do.\n\nArgs:\n- other: Unknown.", {"a": "First."}),
    ("Do.\n\nArgs:\n    Whatever is given.", "Do.\n\nArgs:\n    Whatever is given.", {}),
    ("Do.\n\nParameters\n----------\na, b : int\n    Both.", "Do.", {"a": "Both.", "b": "Both."}),
    ("Args:\n    *a: Stars.\n    b:\n        - one\n        - two", "", {"a": "Stars.", "b": "- one\n- two"}),
    (":param key: Secret.\n:raises OSError: When down.\n:note: Keep.", "Raises OSError: When down.\n:note: Keep.", {}),
    ("Do.\n\nArgs:\n\nReturns:\n    x", "Do.\n\n\nReturns:\n    x", {}),
], ids=["none", "empty", "colon", "unknown and hidden", "prose section", "two at once", "stars and items", "fields", "empty section"])  # fmt: skip
def test_docstrings(doc: str | None, text: str, params: dict[str, str]) -> None:
    found = read_docstring(doc, {"a", "b"}, {"key"})
    assert (found.text.split(), found.params) == (text.split(), params)


@given(st.text(alphabet=st.sampled_from("ab:*()-=\n\n    Args:Parameters")), st.sets(st.sampled_from("ab")))
def test_any_docstring_is_read(doc: str, names: set[str]) -> None:
    found = read_docstring(doc, names)
    assert found.params.keys() <= names


# --- built-ins of providers -------------------------------------------------------------------------------------------

BUILTINS: dict[str, dict[str, Any]] = {
    "anthropic": {"type": "web_search_20250305", "name": "web_search", "max_uses": 3},
    "responses": {"type": "file_search", "vector_store_ids": ["v"], "ranking_options": {"ranker": "auto"}},
    "responses mcp": {"type": "mcp", "server_label": "a", "server_url": "u", "require_approval": "never"},
    "grammar": {
        "type": "custom",
        "name": "sql",
        "description": "SQL.",
        "format": {"type": "grammar", "syntax": "lark", "definition": "start: x"},
    },
    "chat custom": {"type": "custom", "custom": {"name": "sql"}},
    "own function": {"type": "builtin_function", "function": {"name": "$web_search"}},
    "gemini": {"googleSearch": {}},
}


@pytest.mark.parametrize("raw", BUILTINS.values(), ids=BUILTINS.keys())
def test_builtins_are_held_aside_untouched(raw: dict[str, Any]) -> None:
    catalog = Catalog.from_tools([{"name": "ping"}, raw])
    assert [tool.name for tool in catalog] == ["ping"]
    assert [json.loads(text) for text in catalog.builtins] == [raw]
    assert Catalog.from_tools([catalog]).builtins == Catalog.join(catalog).builtins == catalog.builtins


# --- back to each format ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMATS)
@FEW
@given(raw=tools)
def test_what_a_format_says_comes_back(form: str, raw: dict[str, Any]) -> None:
    tool = Catalog.from_tools([raw], on_error="passthrough")[0]
    rendered = render(tool, form)
    again = Catalog.from_tools([rendered], on_error="passthrough")[0]
    assert again == tool
    assert again.schema == tool.schema
    assert render(again, form) == rendered


RAW: dict[str, dict[str, Any]] = {
    "openai": {"type": "function", "function": {**NAMED, "parameters": SCHEMA, "strict": True}, "x-own": 1},
    "openai_responses": {"type": "function", **NAMED, "parameters": SCHEMA, "strict": False, "defer_loading": True},
    "anthropic": {"type": "custom", **NAMED, "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
    "mcp": {
        **NAMED,
        "title": "T",
        "inputSchema": SCHEMA,
        "outputSchema": {},
        "annotations": {"readOnlyHint": True},
        "_meta": {"x": [1]},
        "new": None,
    },
    "gemini": {**NAMED, "parameters": UPPER, "behavior": "BLOCKING"},
    "plain": {"parameters": SCHEMA, **NAMED, "description": "Two\n  lines  ", "tags": ["a"]},
}


@pytest.mark.parametrize("form", FORMATS)
def test_the_format_it_came_in_gives_all_of_it(form: str) -> None:
    tool = Catalog.from_tools([RAW[form]])[0]
    assert tool.format == form
    assert render(tool, form) == RAW[form] == tool.raw
    for other in FORMATS:
        again = Catalog.from_tools([render(tool, other)])[0]
        assert again == tool
        assert again.format == other


def test_another_format_keeps_what_it_knows() -> None:
    tool = Catalog.from_tools([RAW["mcp"]])[0]
    assert render(tool, "plain")["annotations"] == {"readOnlyHint": True}
    assert render(tool, "anthropic").keys() == {"name", "description", "input_schema"}
    strict = Catalog.from_tools([RAW["openai"]])[0]
    assert render(strict, "openai_responses")["strict"] is True
    assert render(Catalog.from_tools([RAW["plain"]])[0], "mcp")["description"] == "Two\n  lines  "


def test_a_renamed_tool_keeps_the_rest() -> None:
    catalog = Catalog.from_tools([{"server": "a", "tools": [RAW["openai"]]}, {"server": "b", "tools": [RAW["mcp"]]}])
    assert render(catalog[0], "openai")["function"] == {**RAW["openai"]["function"], "name": "a__forecast"}
    assert render(catalog[1], "mcp") == {**RAW["mcp"], "name": "b__forecast"}


def test_what_is_no_json_is_written_in_each_format() -> None:
    for form in FORMATS:
        assert (
            Catalog.from_tools([render(Catalog.from_tools([Forecast])[0], form)])[0]
            == Catalog.from_tools([Forecast])[0]
        )


def test_an_unknown_format_is_a_config_error() -> None:
    with pytest.raises(ConfigError, match="unknown format 'xml'; allowed: openai"):
        render(Catalog.from_tools([{"name": "a"}])[0], "xml")


# --- law 5: nothing is mutated, nothing is shared ---------------------------------------------------------------------


def spoil(value: Any) -> None:
    """Write into everything that can be written into."""
    if isinstance(value, dict):
        for inner in list(value.values()):
            spoil(inner)
        value["spoiled"] = True
    elif isinstance(value, list):
        for inner in value:
            spoil(inner)
        value.append("spoiled")


@FEW
@given(catalogs)
def test_inputs_are_neither_changed_nor_kept(raw: list[dict[str, Any]]) -> None:
    before = copy.deepcopy(raw)
    catalog = Catalog.from_tools(raw, on_error="passthrough")
    text = text_of(catalog)
    assert raw == before
    spoil(raw)
    assert [tool.schema for tool in catalog] == [tool["inputSchema"] for tool in before]
    assert catalog == Catalog.from_tools(before, on_error="passthrough")
    assert text_of(Catalog(tools=catalog.tools)) == text


@FEW
@given(catalogs)
def test_what_a_tool_gives_is_a_copy(raw: list[dict[str, Any]]) -> None:
    catalog = Catalog.from_tools(raw, on_error="passthrough")
    for tool, given_ in zip(catalog, raw, strict=True):
        for take in _views():
            first = copy.deepcopy(take(tool))
            spoil(take(tool))
            assert take(tool) == first
        assert tool.raw == given_


def _views() -> tuple[Callable[[Tool], Any], ...]:
    return (
        lambda t: t.schema,
        lambda t: t.raw,
        lambda t: t.extra,
        lambda t: t.to_json_schema(),
        lambda t: render(t, "openai"),
    )


def test_an_object_is_not_kept_either() -> None:
    schema = copy.deepcopy(SCHEMA)
    holder = SimpleNamespace(**NAMED, inputSchema=schema, annotations={"readOnlyHint": True})
    tool = Catalog.from_tools([holder])[0]
    spoil(schema)
    spoil(holder.annotations)
    assert (tool.schema, tool.annotations) == (SCHEMA, {"readOnlyHint": True})
