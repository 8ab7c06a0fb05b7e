"""One call from name and arguments: readings, wrappers, keys of the wire, threads, pickles."""

from __future__ import annotations

import pickle
import threading
import time
from typing import Any

import pytest

from tests.core.decode_samples import TOOLS, WEATHER, kinds, native, resolved, slowness, surface, tool
from tscg import Catalog
from tscg.calls import Call, CallError
from tscg.decoders import decode
from tscg.decoding import decoding_of
from tscg.encode import encode_call
from tscg.errors import ConfigError
from tscg.resolve import Surface, resolve

EMPTY: list[Any] = ["", "  ", "null", '"null"', '""', None, {}, "{}", b"{}"]


@pytest.mark.parametrize("given", EMPTY)
def test_nothing_is_no_arguments(given: Any) -> None:
    assert resolve(surface(), "ping", given) == Call(name="ping", arguments={})
    item = resolve(surface(), "get_weather", given)
    assert isinstance(item, CallError)
    assert (item.kind, item.path, item.tool) == ("missing_required", ("city",), "get_weather")


@pytest.mark.parametrize("given", ['"Bengaluru"', "3", "[1]", '["A"]', "true", 3, ["x"], '"[1]"', "[]"])
def test_no_object(given: Any) -> None:
    item = resolve(surface(), "get_weather", given)
    assert isinstance(item, CallError)
    assert (item.kind, item.tool) == ("not_an_object", "get_weather")


@pytest.mark.parametrize(
    ("given", "kind"),
    [
        ('{"a":1,"a":2}', "duplicate_key"),
        ('{"a":1,"\\u0061":2}', "duplicate_key"),
        ('{1:1,"1":2}', "duplicate_key"),
        ('{"a":NaN}', "not_json"),
        ('{"a":-Infinity}', "not_json"),
        ('{"a":1e400}', "number_out_of_range"),
        ('{"a":' + "1" * 1001 + "}", "number_out_of_range"),
        ('{"s":"\\ud800"}', "invalid_unicode"),
        ('{"\\udfff":1}', "invalid_unicode"),
        ({"s": "\ud800"}, "invalid_unicode"),
        (b'{"s":"\xff"}', "invalid_utf8"),
        ('{"a":', "truncated"),
        ('{"s":"abc', "truncated"),
        ('{"s":"abc"', "truncated"),
        ('"{\\"x\\":1"', "truncated"),
        ('{"a":.5}', "not_json"),
        ('{"a" 1}', "not_json"),
        ('{"s":"x"y"}', "not_json"),
        ("{'s': 'it's'}", "not_json"),
        ('{"a":1} and more', "not_json"),
        ("[" * 100_000, "too_deep"),
        ('{"o":' * 70 + "1" + "}" * 70, "too_deep"),
        ({"a": float("nan")}, "not_json"),
        ({"a": object()}, "not_json"),
        ({("x",): 1}, "not_json"),
        ({1: 1, "1": 2}, "duplicate_key"),
    ],
)
def test_no_value(given: Any, kind: str) -> None:
    item = resolved({"a": {"type": "number"}, "s": {"type": "string"}}, given)
    assert isinstance(item, CallError), item
    assert item.kind == kind
    assert item.message


def test_values_that_hold_themselves() -> None:
    loop: dict[str, Any] = {}
    loop["o"] = loop
    item = resolved({"o": {}}, loop)
    assert isinstance(item, CallError)
    assert item.kind == "too_deep"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1234567890123456789", 1234567890123456789),
        ("-0", -0.0),
        ("0.1", 0.1),
        ("1E2", 100.0),
        ('"\\ud83d\\ude00 %s \\u0000 \\u202e"', "\U0001f600 %s \x00 \u202e"),
        ('"\\u003c/tool_call>"', "</tool_call>"),
    ],
)
def test_values_arrive_as_sent(text: str, value: Any) -> None:
    item = resolved({"a": {}}, f'{{"a":{text}}}')
    assert isinstance(item, Call)
    assert repr(item.arguments) == repr({"a": value})
    assert item.repairs == ()


def test_digits_that_a_double_loses_are_said() -> None:
    item = resolved({"a": {"type": "number"}}, '{"a":0.12345678901234567891}')
    assert isinstance(item, Call)
    assert [notice.kind for notice in item.warnings] == ["number_rounded"]


def test_a_path_that_may_have_lost_its_backslash() -> None:
    item = resolved({"a": {"type": "string"}}, '{"a":"C:\\new"}')
    assert isinstance(item, Call)
    assert [notice.kind for notice in item.warnings] == ["ambiguous_escape"]
    assert resolved({"a": {"type": "string"}}, '{"a":"C:\\\\new"}').warnings == ()


def test_the_word_null_is_kept_with_a_warning() -> None:
    item = resolved({"a": {"type": ["string", "null"]}}, {"a": "null"})
    assert isinstance(item, Call)
    assert item.arguments == {"a": "null"}
    assert [notice.kind for notice in item.warnings] == ["null_word"]


def test_parallel_wrapper() -> None:
    uses = [{"recipient_name": "functions.get_weather", "parameters": {"city": city}} for city in "AB"]
    decoded = decode(surface(mode="native"), native(("multi_tool_use.parallel", {"tool_uses": uses})))
    assert [(call.id, call.arguments) for call in decoded.calls] == [("c1.0", {"city": "A"}), ("c1.1", {"city": "B"})]
    assert {kind for call in decoded.calls for kind in kinds(call)} == {"parallel_unpacked", "name_prefix"}
    off = decode(
        surface(mode="native", parallel_unpacked=False), native(("multi_tool_use.parallel", {"tool_uses": uses}))
    )
    assert [error.kind for error in off.errors] == ["unknown_tool"]
    one = resolve(surface(), "multi_tool_use.parallel", {"tool_uses": uses})
    assert isinstance(one, CallError)
    assert one.kind == "ambiguous_call"


def test_parallel_wrapper_in_itself_is_refused() -> None:
    inner = {"recipient_name": "multi_tool_use.parallel", "parameters": {"tool_uses": []}}
    decoded = decode(surface(mode="native"), native(("multi_tool_use.parallel", {"tool_uses": [inner, 3]})))
    assert decoded.calls == ()
    assert [error.kind for error in decoded.errors] == ["unknown_tool", "unknown_tool"]


KEYS = {"f": {"$top": "top", "filter[id]": "filter_id"}}
ODD = tool({"$top": {"type": "integer"}, "filter[id]": {"type": "string"}}, required=["filter[id]"])


@pytest.mark.parametrize("given", [{"filter_id": "7", "top": 5}, {"filter[id]": "7", "$top": 5}])
def test_keys_of_the_wire(given: dict[str, Any]) -> None:
    item = resolve(surface([ODD], "native", wire_keys=KEYS), "f", given)
    assert isinstance(item, Call)
    assert item.arguments == {"filter[id]": "7", "$top": 5}
    assert item.repairs == ()


def test_key_and_alias_at_once() -> None:
    item = resolve(surface([ODD], "native", wire_keys=KEYS), "f", {"filter_id": "7", "filter[id]": "8"})
    assert isinstance(item, CallError)
    assert item.kind == "ambiguous_arguments"


def test_pickled_surface_resolves_alike() -> None:
    made = surface(mode="native")
    before = [resolve(made, "getWeather", {"city": "x", "days": "2"}), resolve(made, "nope", {})]
    again: Surface = pickle.loads(pickle.dumps(made))
    assert [resolve(again, "getWeather", {"city": "x", "days": "2"}), resolve(again, "nope", {})] == before
    assert pickle.loads(pickle.dumps(before)) == before


def test_eight_threads_share_a_surface() -> None:
    made = surface()
    asked = [
        (name, given) for name in ("get_weather", "GetWeather", "nope") for given in ('{"city":"x"}', {"city": 1}, "{")
    ]
    serial = [resolve(surface(), name, given) for name, given in asked]
    wrong: list[Any] = []

    def work() -> None:
        for _ in range(30):
            found = [resolve(made, name, given) for name, given in asked]
            if found != serial:
                wrong.append(found)

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert wrong == []


def test_one_call_builds_one_validator() -> None:
    made = surface([tool({"a": {"type": "integer", "minimum": i}}, f"t{i}") for i in range(50)])
    resolve(made, "t7", {"a": 9})
    built = [name for name, entry in made.index.entries.items() if entry._validator is not None]
    assert built == ["t7"]


def test_a_warm_call_is_fast() -> None:
    made = surface([{**WEATHER, "name": f"get_weather_{i}"} for i in range(1000)])
    resolve(made, "get_weather_5", '{"city":"x"}')
    best = min(_timed(made) for _ in range(40))
    assert best < 50e-6 * slowness()


def _timed(made: Surface) -> float:
    start = time.perf_counter()
    for _ in range(50):
        resolve(made, "get_weather_5", '{"city":"x","days":3}')
    return (time.perf_counter() - start) / 50


def test_wrong_options_are_the_developers() -> None:
    with pytest.raises(ConfigError, match="unknown decoding"):
        decoding_of("lax")
    with pytest.raises(ConfigError, match="weak"):
        surface(weak="sometimes")
    with pytest.raises(ConfigError, match="max_depth"):
        surface(max_depth=-1)
    with pytest.raises(ConfigError, match="enum_case"):
        surface(enum_case="no")
    with pytest.raises(ConfigError, match="formats"):
        surface(formats="date")


def test_catalogs_of_any_source() -> None:
    made = Surface(catalog=Catalog.from_tools(TOOLS))
    item = resolve(made, "bash", {"command": "ls", "timeout": 5})
    assert isinstance(item, Call)


def test_keys_of_the_wire_at_any_depth() -> None:
    inner = {"type": "object", "properties": {"$top": {"type": "integer"}, "plain": {"type": "object"}}}
    raw = tool({"list": {"type": "array", "items": {"$ref": "#/$defs/I"}}, "map": {"type": "object"}})
    raw["inputSchema"]["$defs"] = {"I": inner}
    made = surface([raw], "native", wire_keys={"f": {"$top": "top"}})
    original: dict[str, Any] = {"list": [{"$top": 1, "plain": {"$top": 2, "top": 3}}], "map": {"$top": 4}}
    written = encode_call(made, Call(id="c1", name="f", arguments=original))
    assert isinstance(written, dict)
    assert written["arguments"] == {"list": [{"top": 1, "plain": {"$top": 2, "top": 3}}], "map": {"$top": 4}}
    item = resolve(made, "f", written["arguments"])
    assert isinstance(item, Call)
    assert item.arguments == original
    both = resolve(made, "f", {"list": [{"top": 1, "$top": 2}]})
    assert isinstance(both, CallError)
    assert (both.kind, both.path) == ("ambiguous_arguments", ("list", 0))
    shown = resolve(surface([raw], wire_keys={"f": {"$top": "top"}}), "f", written["arguments"])
    assert kinds(shown) == ["key_alias"]  # type: ignore[arg-type]
