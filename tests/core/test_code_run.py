"""Code mode, the way back: programs are read and not run; run, they go through the resolver and stay within bounds."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import pickle
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import tscg
from tests.conftest import read_tools, shared_catalog_paths
from tests.core.test_code_stubs import samples, tool
from tscg.code import ProgramResult, arun, run
from tscg.code.checking import faults, may_fit
from tscg.code.naming import naming_of
from tscg.code.writing import program
from tscg.messages import TOKEN_LIMIT, count
from tscg.record import fields

if TYPE_CHECKING:
    from pydantic_monty import Monty

TOOLS = [
    tool(
        "create_issue", "Creates an issue.",
        properties={
            "title": {"type": "string"}, "from": {"type": "string"}, "n": {"type": "integer", "minimum": 1},
            "state": {"enum": ["open", "closed"]},
            "labels": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": False}},
        },
        required=["title"], additionalProperties=False,
    ),
    tool("any.thing", properties={"v": {}}),
    tool("plain", properties={"n": {"type": "integer", "maximum": 9}, "s": {"type": "string"}}),
    {**tool("user", properties={"n": {"type": "integer", "description": "A number that stands for nothing.", "title": "The title of the number."}}), "outputSchema": {"type": "object", "properties": {"mail": {"type": ["string", "null"]}}, "required": ["mail"]}},
]  # fmt: skip
COMPILED = tscg.compile(TOOLS, "code")


@pytest.fixture(scope="module")
def pool() -> Iterator[Monty]:
    """One pool for all programs here: what a limit ends must leave it usable."""
    monty = pytest.importorskip("pydantic_monty", reason="the extra `code` is not installed")
    with monty.Monty(max_processes=1, max_checkouts_per_worker=1, request_timeout=60) as opened:
        yield opened


class Host:
    """What the program reaches: it records calls, and fails where it is told to."""

    def __init__(self, fails: str = "") -> None:
        self.calls: list[tscg.Call] = []
        self.fails = fails

    def __call__(self, call: tscg.Call) -> Any:
        self.calls.append(call)
        if call.name == self.fails:
            raise ValueError("the server is down")
        return {"number": len(self.calls), "got": call.arguments}


def ran(code: str, pool: Monty | None, fails: str = "", **options: Any) -> tuple[ProgramResult, list[tscg.Call]]:
    host = Host(fails)
    compiled = tscg.compile(TOOLS, tscg.Code(**options)) if options else COMPILED
    result = run(compiled, tscg.Program(id="p1", code=code), host, pool=pool)
    assert [made.call for made in result.calls] == host.calls
    if result.error is not None:
        assert result.error.id == "p1"
        assert count(result.error.message) <= TOKEN_LIMIT
    return result, host.calls


# --- reading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["run_python", "functions.run_python", "RunPython", "`run_python`"])
@pytest.mark.parametrize("arguments", [{"code": "1 + 1"}, '{"code": "1 + 1"}'], ids=["mapping", "text"])
def test_a_program_is_read_and_not_run(name: str, arguments: Any) -> None:
    message = {
        "role": "assistant",
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": name, "arguments": arguments}}],
    }
    decoded = COMPILED.decode(message)
    assert decoded.programs == decoded.items == (tscg.Program(id="c1", code="1 + 1"),)
    assert COMPILED.resolve(name, arguments, id="c1") == decoded.programs[0]


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [({}, "missing_required"), ({"code": 3}, "wrong_type"), ('{"code": "pri', "truncated"), ("print(1)", "not_json"), ("[1]", "not_an_object"), (None, "missing_required")],
    ids=str,
)  # fmt: skip
def test_what_is_no_program_is_an_error(arguments: Any, kind: str) -> None:
    error = COMPILED.resolve("run_python", arguments, id="c1")
    assert isinstance(error, tscg.CallError)
    assert (error.kind, error.id) == (kind, "c1")


@pytest.mark.parametrize("name", ["any", "python", "run", "Python.run"])
def test_an_invented_name_runs_nothing(name: str) -> None:
    error = COMPILED.resolve(name, {"code": "1"})
    assert isinstance(error, tscg.CallError)
    assert error.kind == "unknown_tool"


TEXT = tscg.compile(TOOLS, tscg.Code(transport="text"))
FENCES = [
    ("I look.\n```python\nx = 1\nx\n```\nThen more.", ["x = 1\nx"], "I look.\n\nThen more."),
    ("```python\n```", [""], ""),
    ("```python\na = '''\n```not the end\n'''\n```", ["a = '''\n```not the end\n'''"], ""),
    ("```py\n1\n```\n```python\n2\n```\n", ["1", "2"], "\n\n"),
    ("```json\n{}\n```", [], "```json\n{}\n```"),
    ("Say ```python here.", [], "Say ```python here."),
    ("```python\ncreate_issue(title='<tool_call>')\n```", ["create_issue(title='<tool_call>')"], ""),
    ("<think>```python\n1\n```</think>ok", [], "ok"),
]


@pytest.mark.parametrize(("output", "codes", "text"), FENCES, ids=range(len(FENCES)))
@pytest.mark.parametrize("size", [0, 1, 2, 7])
def test_fenced_programs_whole_and_in_pieces(output: str, codes: list[str], text: str, size: int) -> None:
    decoded = TEXT.decode(output)
    assert [one.code for one in decoded.programs] == codes
    assert decoded.text == text
    assert not decoded.calls
    if size:
        stream = TEXT.stream()
        for at in range(0, len(output), size):
            stream.feed(output[at : at + size])
        assert stream.close() == decoded


@pytest.mark.parametrize("output", ["```python\ndelete(1)", "```python\ndelete(1)\n``"])
def test_a_block_that_does_not_end_is_truncated(output: str) -> None:
    decoded = TEXT.decode(output)
    assert [error.kind for error in decoded.errors] == ["truncated"]
    assert not decoded.programs


def test_where_programs_come_natively_a_block_is_text() -> None:
    output = "For example:\n```python\ncreate_issue(title='x')\n```"
    decoded = COMPILED.decode(output)
    assert decoded.text == output
    assert not decoded.items


def test_results_go_back() -> None:
    result = ProgramResult(printed="2 found\n", value={"a": ["</tool_response>"]})
    assert COMPILED.encode_result(tscg.Program(code="1"), result) == '2 found\n{"a":["</tool_response>"]}'
    answer = TEXT.encode_result(tscg.Program(code="1"), result)
    assert answer.startswith("<tool_response>\n2 found\n")
    assert answer.endswith("\n</tool_response>")
    assert answer.count("</tool_response>") == 1
    assert ProgramResult().text == "(no output)"
    assert pickle.loads(pickle.dumps(result)) == result


def test_history_shows_calls_as_programs() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "create_issue", "arguments": '{"title":"a"}'}}
    given: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "done"},
    ]
    assistant, answer = COMPILED.encode_history(given)
    function = assistant["tool_calls"][0]["function"]
    assert function["name"] == "run_python"
    assert json.loads(function["arguments"]) == {"code": 'create_issue(title="a")'}
    assert answer == {"role": "tool", "tool_call_id": "c1", "content": "done"}
    said, answer = TEXT.encode_history(given)
    assert said["content"] == '```python\ncreate_issue(title="a")\n```'
    assert answer == {"role": "user", "content": "<tool_response>\ndone\n</tool_response>"}
    assert (
        COMPILED.encode_history([assistant, {"role": "tool", "tool_call_id": "c1", "content": "done"}])[0] == assistant
    )


# --- running --------------------------------------------------------------------------------------------------------


def test_calls_reach_the_host_with_their_own_names(pool: Monty) -> None:
    result, calls = ran(
        'print("go")\na = create_issue(title="x", from_="me", labels=[{"name": "bug"}])\nany_thing(v=[a["number"], None])',
        pool,
    )
    assert [(call.name, call.arguments) for call in calls] == [
        ("create_issue", {"title": "x", "from": "me", "labels": [{"name": "bug"}]}), ("any.thing", {"v": [1, None]}),
    ]  # fmt: skip
    assert (result.printed, result.value, result.error) == ("go\n", {"number": 2, "got": {"v": [1, None]}}, None)
    assert result.text == 'go\n{"number":2,"got":{"v":[1,null]}}'


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("1", 1), ("x = 1", None), ("", None), ("'text'", "text"), ("(1, {2})", [1, [2]]), ("{1: 2.5}", {"1": 2.5}), ("2**200", 2**200),
        ("float('nan')", "nan"), ("import datetime\ndatetime.date(2024, 5, 1)", "2024-05-01"),
        ("any_thing(v=2**100)['got']['v'] == 2**100", True), ("fs = [plain]\nfs[0](n=3)['got']['n']", 3),
        ("[plain(n=i)['got']['n'] for i in range(3)]", [0, 1, 2]), ("import json\njson.loads(json.dumps({'a': [1]}))", {"a": [1]}),
        ("any_thing(v=(1, 2))['got']['v']", [1, 2]), ("import re, math\nre.sub('a', 'b', 'aa') + str(math.floor(2.5))", "bb2"),
    ],
    ids=lambda value: None,
)  # fmt: skip
def test_values(code: str, value: Any, pool: Monty) -> None:
    result, _ = ran(code, pool)
    assert result.error is None, result.text
    assert result.value == value


def test_clock_and_chance_are_closed_unless_opened(pool: Monty) -> None:
    code = "import datetime, random\n[datetime.datetime.now().year, random.random()]"
    first, second = ran(code, pool)[0].value, ran(code, pool)[0].value
    assert first == second
    assert isinstance(first, list)
    assert first[0] == 2000
    opened = ran(code, pool, clock=True, random=True)[0].value
    assert isinstance(opened, list)
    assert opened[0] != 2000
    assert opened[1] != first[1]


REFUSED = [
    ('create_issue(title="x", n=0)', ["create_issue: 1 problem, nothing was run.", "- n: expected at least 1, got 0."]),
    ('create_issue(title="x", **{"nn": 1})', ["- nn: no such argument. Accepted:", "from_"]),
    ('create_issue(**{"from": 1})', ["- from_: expected a string, got 1.", "title"]),
    ('create_issue(title="x", **{"from": "a", "from_": "b"})', ["from_ and 'from' are the same argument"]),
    ("plain(n=10)", ["plain: 1 problem", "plain(n?:"]),
    ("any_thing(v={1})", ["v: a set is no JSON value"]),
    ("any_thing(v={1: 2})", ["the key 1 is no text"]),
    ("any_thing(v=float('inf'))", ["Infinity"]),
    ("f = any_thing\nf(*[1])", ["by name only"]),
]


@pytest.mark.parametrize(("code", "said"), REFUSED, ids=[code[:30] for code, _ in REFUSED])
def test_an_invalid_call_is_a_tool_error_that_the_program_may_catch(code: str, said: list[str], pool: Monty) -> None:
    lines = code.split("\n")
    caught = "\n".join([*lines[:-1], "try:", f"    {lines[-1]}", "except ToolError as e:", "    print(e)", "7"])
    result, calls = ran(caught, pool, type_check=False)
    assert (result.value, calls) == (7, [])
    assert all(part in result.printed for part in said), result.printed
    failed, calls = ran(code, pool, type_check=False)
    assert failed.error is not None
    assert failed.error.kind == "program_failed"
    assert "ToolError" in failed.text
    assert "No call was made." in failed.text
    assert calls == []


def test_repairs_apply_inside_a_program(pool: Monty) -> None:
    result, calls = ran('create_issue(title="x", n="3", state="OPEN")', pool, type_check=False)
    assert result.error is None
    assert calls[0].arguments == {"title": "x", "n": 3, "state": "open"}
    assert len(calls[0].repairs) == 2


def test_a_tool_that_fails_is_a_tool_error(pool: Monty) -> None:
    code = "plain(n=1)\ntry:\n    plain(n=2)\nexcept ToolError as e:\n    print(e)\nany_thing(v=1)"
    result, calls = ran(code, pool, fails="any.thing")
    assert len(calls) == 3
    assert result.error is not None
    assert result.error.kind == "program_failed"
    assert "line 6: ToolError: any_thing: the server is down" in result.text
    assert '- plain(n=1) -> {"number":1,"got":{"n":1}}' in result.text
    assert "- any_thing(v=1) -> failed: the server is down" in result.text
    assert result.calls[2].error == "the server is down"


@pytest.mark.parametrize(
    ("code", "kind"),
    [("x = [1]\nx[3]", "line 2: IndexError"), ("any_thing(v=1)['zz']", "KeyError"), ("raise ValueError('my own')", "ValueError: my own"), ("assert any_thing(v=1) == 2", "AssertionError")],
    ids=range(4),
)  # fmt: skip
def test_a_failure_tells_where_and_what_was_done(code: str, kind: str, pool: Monty) -> None:
    result, calls = ran(f'plain(s="done")\n{code}' if "any_thing" in code else code, pool)
    assert result.error is not None
    assert result.error.kind == "program_failed"
    assert kind in result.text
    assert ("do not repeat them" in result.text) is bool(calls)
    assert not calls or '- plain(s="done") -> ' in result.text


# --- limits ---------------------------------------------------------------------------------------------------------

LIMITS = [
    ("calls", 'for i in range(9):\n    any_thing(v=i)', {"max_calls": 3}, "at most 3 calls", 3),
    ("refused-calls", "for i in range(99):\n    try:\n        plain(n=99)\n    except ToolError:\n        plain(n=1) if i == 0 else None", {"max_calls": 3}, "at most 3 calls", 1),
    ("seconds", 'plain(n=1)\nwhile True:\n    pass', {"seconds": 0.3}, "more than 0.3 s", 1),
    ("seconds-caught", 'plain(n=1)\nwhile True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass', {"seconds": 0.3}, "more than 0.3 s", 1),
    ("memory", 'plain(n=1)\nx = "a" * 10**9', {}, "of memory", 1),
    ("memory-caught", 'plain(n=1)\ntry:\n    x = "a" * 10**9\nexcept MemoryError:\n    pass', {}, "of memory", 1),
    ("recursion", 'plain(n=1)\ndef f(n):\n    return f(n + 1)\nf(0)', {}, "deeper than 200", 1),
    ("printed", 'plain(n=1)\nprint("a" * 30000)', {}, "more than 20000 characters", 1),
    ("printed-often", 'plain(n=1)\nwhile True:\n    print("abc")', {"seconds": 0.5, "printed": 50}, "more than 50 characters", 1),
    ("result", 'plain(n=1)\n"a" * 500', {"result": 400}, "more than 400", 1),
    ("names", 'plain(n=1)\nfor i in range(3000):\n    try:\n        nothing_here\n    except NameError:\n        pass', {"type_check": False}, "too many names", 1),
]  # fmt: skip


@pytest.mark.parametrize(
    ("code", "options", "said", "calls"), [row[1:] for row in LIMITS], ids=[f"c50-{row[0]}" for row in LIMITS]
)
def test_c50_a_limit_ends_the_program(code: str, options: dict[str, Any], said: str, calls: int, pool: Monty) -> None:
    result, made = ran(code, pool, **options)
    assert result.error is not None
    assert result.error.kind == "program_limit"
    assert said in result.text
    assert len(made) == calls
    assert result.text.count(" -> {") == calls
    after, _ = ran("plain(n=2)['got']", pool)
    assert after.value == {"n": 2}
    assert len(result.printed) <= 20_000


def test_as_many_calls_as_allowed(pool: Monty) -> None:
    result, calls = ran("[plain(n=1)['number'] for _ in range(20)][-1]", pool)
    assert (result.value, len(calls)) == (20, 20)


def test_waiting_for_tools_does_not_count(pool: Monty) -> None:
    import time

    compiled = tscg.compile(TOOLS, tscg.Code(seconds=0.2))
    result = run(compiled, "plain(n=1)", lambda call: time.sleep(0.4), pool=pool)
    assert result.error is None


def test_twenty_calls_with_large_results_fit_an_error(pool: Monty) -> None:
    compiled = tscg.compile(TOOLS, "code")
    result = run(compiled, "for i in range(30):\n    plain(s=str(i))", lambda call: "x" * 5000, pool=pool)
    assert result.error is not None
    assert count(result.text) <= TOKEN_LIMIT
    assert result.text.count("- plain(s=") == 20
    assert [made.result for made in result.calls] == ["x" * 5000] * 20


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "code",
    [
        'open("/etc/passwd").read()', 'import pathlib\npathlib.Path("/etc/passwd").read_text()', 'import os\nos.listdir("/")',
        'import os\nos.environ["PATH"]', "import socket", "import subprocess", 'import os\nos.system("true")', "import ctypes",
        'eval("__import__(\'os\').system")("true")', "undefined(1)", "().__class__.__mro__[1].__subclasses__()",
    ],
)  # fmt: skip
def test_files_network_processes_and_environment_are_refused(code: str, pool: Monty) -> None:
    result, calls = ran(code, pool, type_check=False)
    assert result.error is not None
    assert result.error.kind in ("program_failed", "program_invalid"), result.text
    assert calls == []


def test_a_tool_named_like_a_request_of_the_sandbox_is_a_tool(pool: Monty) -> None:
    raw = [tool("open", properties={"path": {"type": "string"}}), tool("Path.read_text"), tool("os.listdir")]
    host = Host()
    result = run(
        tscg.compile(raw, "code"), 'import os\nopen_(path="a")\nPath_read_text()\nos.listdir("/")', host, pool=pool
    )
    assert [call.name for call in host.calls] == ["open", "Path.read_text"]
    assert result.error is not None


# --- the type check -------------------------------------------------------------------------------------------------

INVALID = {
    "nope(a=1)": "Name `nope` used when not defined",
    "create_issue()": "No argument provided for required parameter `title`",
    'create_issue(titel="x")': "Argument `titel` does not match",
    'create_issue("x")': "Too many positional arguments",
    "create_issue(title=3)": "Expected `str`, found `Literal[3]`",
    'create_issue(title="x", state="opened")': 'found `Literal["opened"]`',
    'create_issue(title="x", labels=[{"nme": "a"}])': "name",
    'create_issue(title="x", labels=["bug"])': "labels",
    "f(": "unexpected EOF",
    'user()["nme"]': "Unknown key",
    "import requests": "requests",
    "class A(Exception): pass": "inheritance",
}


@pytest.mark.parametrize(("code", "said"), INVALID.items(), ids=INVALID)
def test_faults_come_back_before_anything_has_run(code: str, said: str, pool: Monty) -> None:
    result, calls = ran(f"plain(n=1)\n{code}", pool)
    assert result.error is not None
    assert (result.error.kind, calls) == ("program_invalid", []), result.text
    assert "nothing was run" in result.text
    assert "line 2: " in result.text
    assert said in result.text or said == "labels"


def test_all_faults_come_at_once(pool: Monty) -> None:
    result, _ = ran("\n".join(INVALID), pool)
    assert result.error is not None
    assert len(result.error.faults) >= 9


FITTING = [
    'xs = ["open", "closed"]\nfor x in xs:\n    create_issue(title=x, state=x)',
    'labels = [{"name": n} for n in ["a", "b"]]\ncreate_issue(title="x", labels=labels)',
    'args = {"title": "x", "n": 2}\ncreate_issue(**args)',
    'u = {"mail": None}\ncreate_issue(title=u["mail"] or "x")',
    'm = user().get("mail", "x")\ncreate_issue(title=str(m))',
    'create_issue(title="x", n=4 / 2)',
    'import pathlib\ntry:\n    pathlib.Path("a").read_text()\nexcept PermissionError:\n    print("closed")',
    'r = any_thing(v=1)\nr["got"]["v"] + 1',
]


@pytest.mark.parametrize("code", FITTING, ids=range(len(FITTING)))
def test_what_the_checker_cannot_be_sure_of_is_left_to_validation(code: str, pool: Monty) -> None:
    result, _ = ran(code, pool)
    assert result.error is None, result.text


@pytest.mark.parametrize(
    ("found", "expected", "fits"),
    [
        ("str", 'Literal["a"]', True), ('Literal["b"]', 'Literal["a", "c"]', False), ('Literal["a"]', 'Literal["a", "c"]', True), ("int", "str", False),
        ("int", "float", True), ("float", "int", True), ("Literal[True]", "int", True), ("str", "int | None", False), ("None", "str", False),
        ("str | None", "str", True), ("list[str]", "list[int]", False), ("list[str]", "str", False), ("list[dict[str, str]]", "list[Label]", True),
        ("list[Label | int]", "list[Label]", False), ("dict[str, int]", "Label", True), ("dict[str, int]", "str", False), ("Unknown", "str", True),
        ("tuple[int, str]", "list[int | str]", True), ("<class 'x'>", "str", True), ("list[Unknown]", "list[str]", True), ("Label", "list[Label]", False),
    ],
)  # fmt: skip
def test_may_fit(found: str, expected: str, fits: bool) -> None:
    assert may_fit(found, expected) is fits


def test_warnings_and_other_lines_are_no_faults() -> None:
    assert faults("main.py:1:1: warning[x] something\nFound 1 diagnostic\n", "x") == []


# --- law 4, in the sandbox ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", shared_catalog_paths(), ids=lambda path: path.stem)
def test_law_4_the_host_gets_each_call(path: Path, pool: Monty) -> None:
    """All programs of a catalog as one: type-checked, run, and each call as it was."""
    compiled = tscg.compile(read_tools(path), tscg.Code(max_calls=1000), on_error="passthrough")
    naming = naming_of(compiled.surface)
    calls = [call for call in samples(compiled) if len(json.dumps(call.arguments)) < 2000]
    host = Host()
    result = run(compiled, "\n".join(program(naming, call) for call in calls), host, pool=pool)
    assert result.error is None, result.text
    assert [(call.name, call.arguments, call.repairs) for call in host.calls] == [
        (call.name, call.arguments, ()) for call in calls
    ]


# --- the two ways to run --------------------------------------------------------------------------------------------


def test_arun_awaits_the_host() -> None:
    pytest.importorskip("pydantic_monty", reason="the extra `code` is not installed")

    async def host(call: tscg.Call) -> Any:
        await asyncio.sleep(0)
        if call.arguments["n"] == 2:
            raise ValueError("two")
        return call.arguments["n"]

    async def both() -> list[ProgramResult]:
        program = "out = []\nfor n in (1, 2, 3):\n    try:\n        out.append(plain(n=n))\n    except ToolError as e:\n        out.append(str(e))\nout"
        return list(await asyncio.gather(arun(COMPILED, program, host), arun(COMPILED, "plain(n=5)", lambda call: 6)))

    first, second = asyncio.run(both())
    assert first.value == [1, "plain: two", 3]
    assert second.value == 6


def test_arun_can_be_cancelled() -> None:
    pytest.importorskip("pydantic_monty", reason="the extra `code` is not installed")

    async def host(call: tscg.Call) -> Any:
        await asyncio.sleep(60)

    async def cancelled() -> None:
        await asyncio.wait_for(arun(COMPILED, "plain(n=5)", host), 0.5)

    with pytest.raises(TimeoutError):
        asyncio.run(cancelled())


def test_mistakes_of_the_developer(pool: Monty) -> None:
    async def host(call: tscg.Call) -> None: ...

    with pytest.raises(tscg.ConfigError, match="arun"):
        run(COMPILED, "plain(n=1)", host, pool=pool)
    with pytest.raises(tscg.ConfigError, match="text mode"):
        run(tscg.compile(TOOLS), "1", Host(), pool=pool)
    with pytest.raises(KeyboardInterrupt):
        run(COMPILED, "plain(n=1)", interrupted, pool=pool)
    assert ran("1", pool)[0].value == 1


def interrupted(call: tscg.Call) -> None:
    raise KeyboardInterrupt


def test_without_the_extra_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pydantic_monty", None)
    with pytest.raises(tscg.ConfigError, match=r"pip install 'tscg\[code\]'"):
        run(COMPILED, "1", Host())
    assert COMPILED.decode(
        {
            "role": "assistant",
            "tool_calls": [{"id": "1", "function": {"name": "run_python", "arguments": '{"code":"1"}'}}],
        }
    ).programs


# --- append ---------------------------------------------------------------------------------------------------------


def test_c51_stubs_go_on_and_functions_keep_their_tools(pool: Monty) -> None:
    shape = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    states = {"enum": [f"a-long-state-number-{n}" for n in range(4)]}
    raw = [tool(f"t{n}", "Does it.", properties={"label": shape, "state": states}) for n in range(3)]
    old = tscg.compile([*raw, tool("a.b"), tool("odd", properties={"n": {"type": "integer"}})], "code")
    changed = tool("odd", properties={"n": {"type": "integer"}, "label": {**shape, "required": []}, "state": states})
    new = tscg.compile([*raw[1:], tool("a.b"), tool("a_b"), changed, tool("run_python")], "code", previous=old)
    assert new.text.startswith(f"{old.text}\n")
    assert new.wire_tools == old.wire_tools
    assert old.codes["a.b"] == new.codes["a.b"] == "a_b"
    again = tscg.compile([*raw[1:], tool("a.b"), tool("a_b"), changed, tool("run_python")], "code", previous=new)
    assert again.prompt == new.prompt
    host = Host()
    code = f"a_b()\n{new.codes['a_b']}()\nodd(n=1, label={{}})\nrun_python()\nt0()"
    result = run(new, code, host, pool=pool)
    assert [call.name for call in host.calls] == ["a.b", "a_b", "odd", "run_python"], result.text
    assert result.error is not None
    assert 'line 5: ToolError: t0: 1 problem, nothing was run. - the tool "t0" is gone.' in result.text
    assert isinstance(new.resolve("run_python", {"code": "1"}), tscg.Program)


# --- the page -------------------------------------------------------------------------------------------------------

PAGE = Path(__file__).resolve().parents[2] / "docs" / "code.md"


@pytest.mark.skipif(not PAGE.is_file(), reason="the docs are not beside these tests")
def test_the_examples_of_the_page_run() -> None:
    pytest.importorskip("pydantic_monty", reason="the extra `code` is not installed")
    names: dict[str, Any] = {}
    for block in re.findall(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(block, names)
        assert out.getvalue().splitlines() == [line[4:] for line in block.splitlines() if line.startswith("# > ")]


@pytest.mark.skipif(not PAGE.is_file(), reason="the docs are not beside these tests")
def test_the_page_names_every_option() -> None:
    listed = re.findall(r"^\| `(\w+)` \| .* \| .* \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == list(fields(tscg.Code))
