"""The schema of the whole answer for constrained decoding: it takes what the validator takes, and nothing else."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import pytest

from tests.core.decode_samples import TOOLS, surface, tool
from tscg.constrain import output_schema
from tscg.decoders import decode
from tscg.resolve import Surface

TREE = {
    "name": "save_tree",
    "description": "Save",
    "inputSchema": {
        "type": "object",
        "properties": {"root": {"$ref": "#/$defs/Node"}, "$ref": {"type": "string"}},
        "required": ["root"],
        "$defs": {
            "Node": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
                },
                "required": ["name"],
            }
        },
    },
}
OTHER = {**TREE, "name": "other_tree", "inputSchema": {**TREE["inputSchema"], "$defs": {"Node": {"type": "integer"}}}}  # type: ignore[dict-item]
SELF = tool({"again": {"$ref": "#"}}, "again", additionalProperties=False)


def made() -> Surface:
    return surface([*TOOLS, TREE, OTHER, SELF])


def checker(**options: Any) -> Any:
    schema = output_schema(made(), **options)
    jsonschema_rs.meta.validate(schema)
    return jsonschema_rs.validator_for(schema)


def calls(*given: tuple[str, Any]) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments} for name, arguments in given]}


GOOD: list[Any] = [
    calls(("ping", {})),
    calls(("get_weather", {"city": "x"}), ("bash", {"command": "x", "timeout": 1})),
    calls(("save_tree", {"root": {"name": "a", "kids": [{"name": "b"}]}, "$ref": "r"})),
    calls(("other_tree", {"root": 5})),
    calls(("again", {"again": {"again": {}}})),
    {"answer": "text"},
]
BAD: list[Any] = [
    calls(),
    calls(("nope", {})),
    calls(("get_weather", {})),
    calls(("get_weather", {"city": 1})),
    calls(("save_tree", {"root": {"name": "a", "kids": [{}]}})),
    calls(("save_tree", {"root": 5})),
    calls(("other_tree", {"root": {"name": "a"}})),
    calls(("again", {"again": {"x": 1}})),
    calls(("ping", [])),
    {"answer": 1},
    {"answer": "x", "tool_calls": []},
    {},
]


@pytest.mark.parametrize("value", GOOD, ids=range(len(GOOD)))
def test_takes(value: Any) -> None:
    assert checker().is_valid(value)


@pytest.mark.parametrize("value", BAD, ids=range(len(BAD)))
def test_refuses(value: Any) -> None:
    assert not checker().is_valid(value)


def test_what_it_takes_is_read() -> None:
    import json

    text = json.dumps(calls(("get_weather", {"city": "x"}), ("ping", {})))
    assert [call.name for call in decode(made(), text).calls] == ["get_weather", "ping"]


def test_required_and_single_calls() -> None:
    assert not checker(must_call=True).is_valid({"answer": "x"})
    assert not checker(parallel=False).is_valid(calls(("ping", {}), ("ping", {})))
    assert checker(parallel=False).is_valid(calls(("ping", {})))


def test_no_tools() -> None:
    schema = output_schema(surface([]))
    assert jsonschema_rs.validator_for(schema).is_valid({"answer": "x"})
    assert not jsonschema_rs.validator_for(schema).is_valid(calls(("ping", {})))
