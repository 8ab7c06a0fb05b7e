"""Bad input: an error of ours with the place, or a bounded result; within two seconds, never another exception."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tscg
from tests.strategies import values
from tscg.errors import CompileError, ConfigError, TscgError
from tscg.ir import Catalog
from tscg.sources import read_json

pytestmark = pytest.mark.filterwarnings("ignore:Generating overly large repr")

SECONDS = 2.0


def tool(schema: Any, **more: Any) -> dict[str, Any]:
    return {"name": "bad", "description": "Bad.", "inputSchema": schema, **more}


def obj(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties}


def nested(levels: int, step: Callable[[Any], Any], leaf: Any = None) -> Any:
    found: Any = {"type": "string"} if leaf is None else leaf
    for _ in range(levels):
        found = step(found)
    return found


def bomb(levels: int, word: str = "allOf") -> dict[str, Any]:
    """Each definition names the next one twice: 2**levels when written out."""
    defs: dict[str, Any] = {
        f"d{i}": {word: [{"$ref": f"#/$defs/d{i + 1}"}, {"$ref": f"#/$defs/d{i + 1}"}]} for i in range(levels)
    }
    return {**obj(x={"$ref": "#/$defs/d0"}), "$defs": {**defs, f"d{levels}": {"type": "string"}}}


def property_bomb(levels: int) -> dict[str, Any]:
    defs: dict[str, Any] = {
        f"d{i}": obj(a={"$ref": f"#/$defs/d{i + 1}"}, b={"$ref": f"#/$defs/d{i + 1}"}) for i in range(levels)
    }
    return {**obj(x={"$ref": "#/$defs/d0"}), "$defs": {**defs, f"d{levels}": {"type": "string"}}}


def described(schema: dict[str, Any]) -> dict[str, Any]:
    """The same schema with a sentence at each definition and each reference."""
    defs = {name: {**found, "description": f"Text {name}."} for name, found in schema["$defs"].items()}
    for found in defs.values():
        found["properties"] = {
            name: {**prop, "description": f"The {name} (optional)."}
            for name, prop in found.get("properties", {}).items()
        }
    return {**schema, "$defs": defs}


def ring(length: int) -> dict[str, Any]:
    return {
        **obj(x={"$ref": "#/$defs/d0"}),
        "$defs": {f"d{i}": {"$ref": f"#/$defs/d{(i + 1) % length}"} for i in range(length)},
    }


def webbed(width: int) -> dict[str, Any]:
    """Each of some definitions refers to all of them."""
    refs = {f"p{i}": {"$ref": f"#/$defs/d{i}"} for i in range(width)}
    return {**obj(x={"$ref": "#/$defs/d0"}), "$defs": {f"d{i}": obj(**refs) for i in range(width)}}


def chain(length: int) -> dict[str, Any]:
    defs: dict[str, Any] = {f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} for i in range(length)}
    return {**obj(x={"$ref": "#/$defs/d0"}), "$defs": {**defs, f"d{length}": {"type": "string"}}}


NAN, INF = float("nan"), float("inf")
SCHEMAS: dict[str, Any] = {
    "dangling": obj(a={"$ref": "#/$defs/Missing"}),
    "external": obj(a={"$ref": "https://a.example/schema.json"}),
    "pointers that are none": obj(a={"$ref": "#nowhere"}, b={"$ref": "#/properties/a/$ref/x"}, c={"$ref": "#/%zz"}, d={"$ref": "#/properties/~2"}, e={"$ref": ""}),
    "to itself": {**obj(x={"$ref": "#/$defs/a"}), "$defs": {"a": {"$ref": "#/$defs/a"}}},
    "to its own place": obj(x={"$ref": "#/properties/x"}),
    "root to itself": {"$ref": "#"},
    "allOf to itself": {**obj(x={"$ref": "#/$defs/a"}), "$defs": {"a": {"allOf": [{"$ref": "#/$defs/a"}]}}},
    "not to itself": {**obj(x={"$ref": "#/$defs/a"}), "$defs": {"a": {"not": {"$ref": "#/$defs/a"}}}},
    "ring": ring(5),
    "large ring": ring(3_000),
    "chain": chain(3_000),
    "bomb": bomb(20),
    "deep bomb": bomb(40),
    "union bomb": bomb(20, "anyOf"),
    "property bomb": property_bomb(25),
    "described bomb": described(property_bomb(25)),
    "web": webbed(25),
    "described web": described(webbed(25)),
    "levels of objects": nested(3_000, lambda inner: obj(a=inner)),
    "levels of arrays": nested(3_000, lambda inner: {"type": "array", "items": inner}),
    "levels of unions": nested(3_000, lambda inner: {"anyOf": [inner, {"type": "null"}]}),
    "levels of not": obj(a=nested(900, lambda inner: {"not": inner})),
    "levels in a value": obj(a={"default": nested(3_000, lambda inner: [inner], leaf=1)}),
    "levels in an enum": obj(a={"enum": [nested(500, lambda inner: [inner], leaf=1)]}),
    "levels below the bound": nested(60, lambda inner: obj(a=inner)),
    "levels nobody knows": {"x-own": nested(900, lambda inner: {"x": inner})},
    "large enum": obj(a={"enum": [f"value {i}" for i in range(50_000)]}),
    "enum below the bound": obj(a={"enum": [f"value {i}" for i in range(10_000)]}),
    "many properties": obj(**{f"p{i}": {"type": "string"} for i in range(20_000)}),
    "too many properties": obj(**{f"p{i}": {"type": "string"} for i in range(60_000)}),
    "many required": {"required": [f"r{i}" for i in range(50_000)]},
    "many branches": obj(a={"anyOf": [{"const": i} for i in range(5_000)]}),
    "long names": obj(**{"n" * 100_000: {"type": "string"}}),
    "long pattern": obj(a={"type": "string", "pattern": "(a+)+" * 20_000}),
    "no numbers": obj(a={"type": "number", "minimum": NAN, "maximum": INF, "multipleOf": -INF, "exclusiveMinimum": NAN}),
    "NaN default": obj(a={"default": NAN}),
    "NaN in an enum": obj(a={"enum": [NAN, 1]}),
    "NaN elsewhere": {**obj(), "x-own": NAN},
    "huge numbers": obj(a={"type": "integer", "minimum": -(10**400), "maximum": 10**400, "multipleOf": 0}, b={"type": "string", "maxLength": 10**400}),
    "huge numbers in an enum": obj(a={"type": "integer", "enum": [10**400, 1e308]}),
    "strange bounds": obj(a={"type": "string", "minLength": -1, "maxLength": 2.5, "pattern": 3}, b={"type": "array", "minItems": "1", "maxItems": True}),
    "lone surrogate": obj(**{"\ud800": {"description": "\udfff", "default": "\ud800", "enum": ["\ud800"]}}),
    "wrong kinds": obj(a=[{"type": "string"}], b="string", c=None, d={"type": "String"}, e={"type": ""}, f=3, g=1.5),
    "properties a list": {"type": "object", "properties": ["a"]},
    "properties a text": {"type": "object", "properties": "a"},
    "required a text": {**obj(a={}), "required": "a"},
    "required odd": {**obj(a={}), "required": [1, None, ["a"], {}, "a", "a"]},
    "types odd": obj(a={"type": ["string", 3, None, {}]}, b={"type": {}}, c={"type": 3}, d={"type": []}, e={"type": ["null", "null"]}),
    "combinators odd": obj(a={"anyOf": {}}, b={"allOf": [1, None]}, c={"oneOf": "x"}, d={"anyOf": []}, e={"not": 3}, f={"if": [], "then": 1}),
    "items odd": obj(a={"type": "array", "items": 3}, b={"type": "array", "items": [None]}, c={"type": "array", "prefixItems": {}}),
    "maps odd": obj(a={"patternProperties": [], "dependentRequired": 3, "propertyNames": "x"}, b={"additionalProperties": 3}),
    "defs odd": {**obj(a={"$ref": "#/$defs/a"}, b={"$ref": "#/definitions/b"}), "$defs": ["a"], "definitions": 3},
    "refs odd": obj(a={"$ref": 3}, b={"$ref": None}, c={"$ref": ["#"]}),
    "anchors odd": {**obj(a={"$ref": "#x"}), "$defs": ["x"], "definitions": {"x": 3}},
    "texts odd": obj(a={"description": ["x"], "title": 3, "format": {}, "examples": "x", "default": {}}, b={"examples": {"a": 1}, "deprecated": "yes"}),
    "enum odd": obj(a={"enum": "ab"}, b={"enum": []}, c={"enum": {}}, d={"enum": [1, 1.0, True, "1", None, [], {}]}, e={"type": "string", "enum": [1]}),
    "a list": [],
    "a text": "object",
    "a number": 3,
    "true": True,
    "false": False,
    "array at the root": {"type": "array", "items": {"type": "string"}},
    "text at the root": {"type": "string"},
    "keys that are no texts": {1: 2, None: 3, "type": "object", "properties": {1: {"type": "string"}, 2.5: {}}},
    "values that are no JSON": obj(a={"default": {1, 2}}, b={"enum": [b"x"]}),
    "types that are no JSON": obj(a={"default": object()}),
}  # fmt: skip

LARGE = 2_000_000  # refused
LONG = 240_000  # below the bound of a description
PIECES: dict[str, str] = {
    "one word": "a",
    "words": "word ",
    "sentences": "This is a sentence about it. ",
    "policies": "Never delete it without consent! ",
    "wrapped lines": "a line that is long enough to be a wrapped paragraph of prose\n",
    "open brackets": "[\n",
    "brackets": "([{",
    "quotes": "\"'`",
    "backslashes": "\\",
    "blanks": " \n",
    "bullets": "- item\n",
    "fences": "```\n",
    "dots": ".",
    "abbreviations": "e.g. i.e. ",
    "numbers": "1.2.3 ",
    "controls": "\x00\x1b\u202e\u200b",
    "ideographs": "\u6587\u3002",
    "surrogates": "\ud800",
}


def repeated(piece: str, length: int) -> str:
    return piece * (length // len(piece))


class Clock:
    """Fails where its block takes longer than allowed."""

    def __enter__(self) -> None:
        self.start = time.process_time()

    def __exit__(self, *raised: object) -> None:
        spent = time.process_time() - self.start
        if raised[0] is None:
            assert spent < SECONDS, f"{spent:.1f} s"


def compiled_or_refused(raw: Any, **options: Any) -> str | None:
    """The text, or None for an error of ours whose message is bounded."""
    try:
        compiled = tscg.compile(raw, **options)
        sent = compiled.to_openai()  # refuses built-in tools of other providers
    except TscgError as error:
        refusal = str(error)
    else:
        assert isinstance(sent, list)
        assert compiled.fingerprint.startswith("sha256:")
        return compiled.text
    assert 0 < len(refusal) < 5_000
    return None


@pytest.mark.parametrize("on_error", ["raise", "skip", "passthrough"])
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS.keys())
def test_bad_schemas(schema: Any, on_error: str) -> None:
    ping = {"name": "ping", "inputSchema": {}}
    with Clock():
        text = compiled_or_refused([tool(schema), ping], on_error=on_error)
    if on_error != "raise":
        assert text is not None
        assert "ping()" in text


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS.keys())
def test_bad_schemas_in_native_mode(schema: Any) -> None:
    with Clock():
        compiled_or_refused([tool(schema)], mode="native", on_error="passthrough")


REFUSED = {
    "dangling": "bad at /properties/a/$ref: dangling $ref", "external": "is never fetched", "levels of objects": "nested deeper",
    "levels of arrays": "nested deeper", "large enum": "an enum of 50,000 members", "too many properties": "more than 50,000 schema nodes",
    "wrong kinds": "bad at /properties/a: expected a schema, found a list", "properties a list": "expected an object of schemas, found a list",
    "NaN default": "a value is no JSON", "a list": "the schema of the arguments is a list", "chain": "nested deeper",
}  # fmt: skip


@pytest.mark.parametrize(("key", "says"), REFUSED.items(), ids=REFUSED.keys())
def test_the_error_names_tool_and_place(key: str, says: str) -> None:
    with pytest.raises(CompileError) as caught:
        tscg.compile([tool(SCHEMAS[key])])
    assert says in str(caught.value)


BOUNDED = (
    "to itself",
    "ring",
    "bomb",
    "union bomb",
    "property bomb",
    "web",
    "enum below the bound",
    "levels below the bound",
    "huge numbers",
    "many properties",
)


@pytest.mark.parametrize("key", BOUNDED)
def test_what_is_only_large_compiles_and_comes_back(key: str) -> None:
    raw = [tool(SCHEMAS[key])]
    with Clock():
        text = tscg.compile(raw, profile="lossless").text
        assert len(text) <= 2 * len(json.dumps(raw, ensure_ascii=False))
        assert tscg.decompile(text) == Catalog.from_tools(raw)


PROFILE_NAMES = ["lossless", "balanced", "brief", "signature"]


@pytest.mark.parametrize("profile", PROFILE_NAMES)
@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES.keys())
def test_long_texts(piece: str, profile: str) -> None:
    text = repeated(piece, LONG)
    with Clock():
        found = compiled_or_refused([{"name": "bad", "description": text}], profile=profile)
    assert found is not None
    assert len(found) <= 8 * LONG  # a control or a surrogate is at most an escape


@pytest.mark.parametrize("profile", ["balanced", "signature"])
@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES.keys())
def test_long_texts_of_parameters(piece: str, profile: str) -> None:
    text = repeated(piece, LONG)
    with Clock():
        found = compiled_or_refused([tool(obj(a={"type": "string", "description": text}))], profile=profile)
    assert found is not None
    assert len(found) <= 8 * LONG


@pytest.mark.parametrize("where", ["tool", "parameter"])
@pytest.mark.parametrize("piece", PIECES.values(), ids=PIECES.keys())
def test_texts_beyond_the_bound(piece: str, where: str) -> None:
    text = repeated(piece, LARGE)
    raw = {"name": "bad", "description": text} if where == "tool" else tool(obj(a={"description": text}))
    with Clock(), pytest.raises(CompileError, match=r"bad at /\S+: a description of") as caught:
        tscg.compile([raw])
    assert "at most 250,000" in str(caught.value)
    with Clock():
        found = compiled_or_refused([raw, {"name": "ping"}], on_error="skip")
    assert found is not None
    assert "ping()" in found
    with Clock():
        found = compiled_or_refused([raw, {"name": "ping"}], on_error="passthrough")
    assert found is not None
    assert "ping()" in found


@pytest.mark.parametrize(
    "name",
    ["n" * 1_000_000, "\u540d" * 100_000, "a b\n" * 10_000, "\ud800", "\x00", "../" * 1_000],
    ids=lambda name: ascii(name[:6]),
)
@pytest.mark.parametrize("mode", ["text", "native", "passthrough"])
def test_names(name: str, mode: str) -> None:
    with Clock():
        compiled_or_refused([{"name": name, "description": "Bad."}], mode=mode)


TOOLS: dict[str, Any] = {
    "no name": [{"description": "Bad.", "inputSchema": {}}],
    "null name": [{"name": None, "inputSchema": {}}],
    "blank name": [{"name": " \n\u3000", "inputSchema": {}}],
    "name a list": [{"name": ["bad"], "inputSchema": {}}],
    "two of one name": [tool({}), tool({})],
    "list in list": nested(200, lambda inner: [inner], leaf=[]),
    "endless pages": nested(200, lambda inner: {"tools": [inner]}, leaf={}),
    "function a list": [{"type": "function", "function": []}],
    "null": [None],
    "texts": ["bad"],
    "keys that are no texts": [{1: 2}],
}


@pytest.mark.parametrize("raw", TOOLS.values(), ids=TOOLS.keys())
def test_bad_tools_are_refused(raw: Any) -> None:
    with Clock(), pytest.raises(TscgError) as caught:
        tscg.compile(raw)
    assert 0 < len(str(caught.value)) < 1_000


def test_a_tool_that_holds_itself() -> None:
    raw = tool(obj())
    raw["inputSchema"]["properties"]["x"] = raw["inputSchema"]
    with Clock(), pytest.raises(CompileError, match="nested deeper"):
        tscg.compile([raw])


def test_a_generator_that_fails_is_not_hidden() -> None:
    def failing() -> Iterator[dict[str, Any]]:
        yield tool({})
        raise OSError("connection lost")

    with pytest.raises(OSError, match="connection lost"):
        tscg.compile(failing())


@pytest.mark.parametrize(
    "text",
    ["", "{", "[1,]", "no JSON", "\ufeff", "[" * 100_000, '{"a": NaN}', "\x00"],
    ids=lambda text: ascii(text[:8]),
)
def test_a_file_that_is_no_json(text: str, tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CompileError, match=r"tools\.json"):
        read_json(str(path))


@pytest.mark.parametrize(
    "text",
    ["1", '"a"', "null", "{}", "[1]", '{"tools": 3}', '{"result": {}}', "[[[]], 1]", '{"tools": [[], {"tools": 1}]}'],
)
def test_json_that_holds_no_tools(text: str) -> None:
    with pytest.raises(ConfigError):
        tscg.compile(json.loads(text))


@settings(max_examples=settings().max_examples // 2)
@given(
    st.one_of(
        values,
        st.lists(values, max_size=3),
        st.fixed_dictionaries({"name": values, "inputSchema": values, "description": values}),
    )
)
def test_any_json_compiles_or_is_refused(raw: Any) -> None:
    compiled_or_refused(raw)
    compiled_or_refused([raw], on_error="passthrough")


KEYWORDS = (
    "type", "properties", "required", "items", "prefixItems", "additionalProperties", "enum", "const", "anyOf", "allOf", "oneOf", "not", "$ref", "$defs",
    "default", "description", "title", "examples", "format", "pattern", "minimum", "exclusiveMinimum", "multipleOf", "maxLength", "uniqueItems", "nullable",
    "patternProperties", "dependentRequired", "if", "definitions", "discriminator", "deprecated",
)  # fmt: skip
odd_values: st.SearchStrategy[Any] = st.recursive(
    st.sampled_from(
        (
            None,
            True,
            False,
            0,
            -1,
            1.5,
            "",
            "string",
            "object",
            "array",
            ["string", "null"],
            [],
            {},
            "#",
            "#/$defs/a",
            "#/properties/a",
            NAN,
            INF,
        )
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from((*KEYWORDS, "a", "b")), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(KEYWORDS), odd_values, max_size=6))
def test_any_schema_of_wrong_kinds_compiles_or_is_refused(schema: dict[str, Any]) -> None:
    compiled_or_refused([tool(schema)])
    text = compiled_or_refused([tool(schema)], on_error="passthrough", profile="lossless")
    if text is not None:
        assert len(tscg.decompile(text)) <= 1


WIDE = 10**5000  # Python neither writes nor reads that as text


@pytest.mark.parametrize("mode", ["text", "native", "dispatch", "code", "passthrough"])
@pytest.mark.parametrize("number", [WIDE, -WIDE], ids=["large", "small"])
@pytest.mark.parametrize(
    "place",
    ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "maxLength", "maxItems", "maxProperties",
     "default", "const", "x-own"],
)  # fmt: skip
@pytest.mark.parametrize("said", [{}, {"description": "It is."}], ids=["bare", "told"])
def test_a_number_that_is_no_text(mode: str, number: int, place: str, said: dict[str, str]) -> None:
    kind = {"maxLength": "string", "maxItems": "array", "maxProperties": "object"}.get(place, "integer")
    tool = {"name": "a", "inputSchema": {"type": "object", "properties": {"b": {"type": kind, place: number, **said}}}}
    with pytest.raises(CompileError, match=r"a at /properties/b: .*4,?300 digits"):
        tscg.compile([tool], mode=mode)


@pytest.mark.parametrize(
    "text",
    [
        "a(b:1..{})",
        "a(b:num>={})",
        "a(b:num*{})",
        "a(b:str{{..{}}})",
        "a(b:str[{}..])",
        "a(b={})",
        "a(b:({} 2))",
        "a(b:int={})",
    ],
)
@pytest.mark.parametrize("number", ["9" * 5000, "1e999"], ids=["digits", "exponent"])
def test_a_text_with_a_number_that_is_none(text: str, number: str) -> None:
    with pytest.raises(tscg.ParseError):
        tscg.decompile(text.format(number))
