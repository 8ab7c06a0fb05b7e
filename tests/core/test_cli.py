from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import tscg
from tscg import cli, console
from tscg.cli import main
from tscg.tokenizers import tokenizer_of

TOOLS: list[dict[str, Any]] = [
    {
        "name": "close_issue",
        "description": "Closes an issue. Never close an issue without asking the user first.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "number": {"type": "integer", "minimum": 1, "description": "Number of the issue"},
                "reason": {"type": "string", "enum": ["done", "not planned"]},
            },
            "required": ["number"],
        },
    },
    {"name": "ping", "description": "Checks that the server answers.", "inputSchema": {"type": "object"}},
]


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs the command in an empty folder that holds tools.json."""
    with warnings.catch_warnings():
        # Where no vocabulary is installed the first count of the process says so, whichever test it is in.
        warnings.simplefilter("ignore", tscg.TscgWarning)
        for encoding in ("o200k_base", "cl100k_base"):
            tokenizer_of(encoding).count("a")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))

    def go(*arguments: str) -> Ran:
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        said = capsys.readouterr()
        return Ran(int(ended.value.code or 0), said.out, said.err)

    return go


# --- compile and decompile -------------------------------------------------------------------------------------------


def test_compile_prints_the_prompt(run: Run) -> None:
    ran = run("compile", "tools.json")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.rstrip("\n") == tscg.compile(TOOLS).prompt.rstrip("\n")


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((), {}),
        (("--mode", "native"), {"mode": "native"}),
        (("--profile", "lossless"), {"profile": "lossless"}),
        (("--model", "gpt-4-turbo"), {"model": "gpt-4-turbo"}),
        (("--tokenizer", "cl100k_base"), {"tokenizer": "cl100k_base"}),
        (("--budget", "400"), {"budget": 400}),
        (("--mode", "dispatch"), {"mode": "dispatch"}),
        (("--mode", "code"), {"mode": "code"}),
        (("--map", "names", "--handles", "codes"), {"mode": tscg.Dispatch(map="names", handles="codes")}),
        (("--mode", "dispatch", "--group", "namespace"), {"mode": tscg.Dispatch(group="namespace")}),
        (("--pin", "ping", "--pin", "close_issue"), {"pin": ("ping", "close_issue")}),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else "",
)
def test_compile_as_json_is_what_the_library_gives(
    run: Run, arguments: tuple[str, ...], options: dict[str, Any]
) -> None:
    ran = run("compile", "tools.json", "--json", *arguments)
    compiled = tscg.compile(TOOLS, **options)
    assert ran.code == 0
    assert ran.json == {
        "text": compiled.text,
        "prompt": compiled.prompt,
        "wire_tools": list(compiled.wire_tools),
        "stats": json.loads(json.dumps(compiled.stats.to_dict())),
        "fingerprint": compiled.fingerprint,
    }


def test_without_a_prompt_a_note_says_where_the_tools_are(run: Run) -> None:
    ran = run("compile", "tools.json", "--mode", "native")
    assert (ran.code, ran.out) == (0, "")
    assert ran.err == "note: there is no prompt in mode native; --json prints the tools that are sent\n"


def test_decompile_gives_the_tools_back(run: Run, tmp_path: Path) -> None:
    (tmp_path / "catalog.txt").write_text(tscg.compile(TOOLS, profile="lossless").text)
    (tmp_path / "compiled.json").write_text(run("compile", "tools.json", "--profile", "lossless", "--json").out)
    for file in ("catalog.txt", "compiled.json"):
        ran = run("decompile", file, "--json")
        assert ran.code == 0
        assert tscg.Catalog.from_tools(ran.json) == tscg.Catalog.from_tools(TOOLS)
        assert {tuple(tool) for tool in ran.json["tools"]} == {("name", "description", "inputSchema")}
    assert "close_issue" in run("decompile", "catalog.txt").out


# --- report, recommend, diff, decode ---------------------------------------------------------------------------------


def test_report_shows_tools_profiles_operators_and_the_bound(run: Run) -> None:
    ran = run("report", "tools.json")
    assert (ran.code, ran.err) == (0, "")
    for words in ("close_issue", "ping", "lossless", "balanced (this one)", "signature", "SDM", "CSE", "Bound: "):
        assert words in ran.out


def test_report_as_json(run: Run) -> None:
    ran = run("report", "tools.json", "--json", "--profile", "brief")
    compiled = tscg.compile(TOOLS, profile="brief")
    assert ran.json["profile"] == "brief"
    assert ran.json["profiles"]["brief"] == ran.json["stats"]["tokens"] == compiled.stats.tokens
    assert list(ran.json["profiles"]) == list(tscg.PROFILES)
    bound = ran.json["trace"]["bound"]
    assert bound["holds"] is (bound["result"] <= bound["limit"] + 0.5)
    assert ran.json["trace"]["steps"]


@pytest.mark.parametrize("mode", ["native", "passthrough", "dispatch", "code"])
def test_report_in_other_modes(run: Run, mode: str) -> None:
    ran = run("report", "tools.json", "--mode", mode)
    assert (ran.code, ran.err) == (0, "")
    assert "close_issue" in ran.out


def test_recommend_gives_advice_and_the_candidates(run: Run) -> None:
    ran = run("recommend", "tools.json", "--json", "--context", "100000")
    assert ran.code == 0
    assert {"mode", "profile", "map", "reason", "choices", "exact"} <= ran.json.keys()
    assert ran.json["choices"][0]["share"] == pytest.approx(ran.json["choices"][0]["tokens"] / 100_000)
    assert ran.json["reason"] in " ".join(run("recommend", "tools.json", "--context", "100000").out.split())
    assert run("recommend", "tools.json", "--json", "--no-native").json["mode"] == "text"


def test_recommend_tells_the_map_and_its_price(run: Run, tmp_path: Path) -> None:
    many = [
        {**TOOLS[0], "name": f"close_{index}", "description": f"{index} {'long words ' * 30}"} for index in range(99)
    ]
    (tmp_path / "many.json").write_text(json.dumps(many))
    found = run("recommend", "many.json", "--json", "--context", "20000").json
    assert (found["mode"], found["map"], found["handles"]) == ("dispatch", "hybrid", "names")
    ran = run("recommend", "many.json", "--context", "20000")
    for words in ("mode dispatch, profile", "map hybrid", "dispatch, names", "alike", "lookups", "0.77"):
        assert words in ran.out


def test_report_of_dispatch_compares_the_maps(run: Run) -> None:
    found = run("report", "tools.json", "--map", "names", "--json").json
    assert (found["mode"], found["map"], found["profiles"]) == ("dispatch", "names", {})
    assert found["maps"]["names"] == found["stats"]["tokens"]
    assert found["maps"].keys() == {"names", "hybrid", "signature"}
    assert found["stats"]["per_tool"]["close_issue"]["detail"] == "names"
    assert found["stats"]["per_tool"]["close_issue"]["tokens"] < 8
    out = run("report", "tools.json", "--map", "names").out
    for words in ("dispatch, names (this one)", "dispatch, signature", "Policy sentences are left out of: close_issue"):
        assert words in out


def test_rows_of_the_file_are_used(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tscg.toml").write_text('[[model]]\nid = "mine"\nmode = "dispatch"\nmap = "names"\nprofile = "brief"\n')
    found = run("recommend", "tools.json", "--model", "mine", "--json").json
    assert (found["mode"], found["map"]) == ("dispatch", "names")
    ran = run("compile", "tools.json", "--profile", "auto", "--model", "mine", "--json")
    assert ran.json["fingerprint"] == tscg.compile(TOOLS, profile="brief", model="mine").fingerprint


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--mode", "text", "--map", "names"), "--map given with --mode text; it goes with --mode dispatch"),
        (("--map", "all"), "map is 'all'"),
        (("--handles", "numbers"), "handles is 'numbers'"),
        (("--group", "tools"), "group is 'tools'"),
        (("--mode", "native", "--pin", "ping"), "pin is given and native mode sends every tool natively"),
    ],
)
def test_wrong_options_of_dispatch_are_one_line(run: Run, arguments: tuple[str, ...], says: str) -> None:
    ran = run("compile", "tools.json", *arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert says in ran.err


def test_diff_ends_with_0_for_equal_1_for_not_and_2_on_trouble(run: Run, tmp_path: Path) -> None:
    changed = [{**TOOLS[0], "description": "Closes it."}, {"name": "pong", "inputSchema": {}}]
    (tmp_path / "new.json").write_text(json.dumps({"tools": changed}))
    (tmp_path / "bad.json").write_text("{")
    assert run("diff", "tools.json", "tools.json") == Ran(0, "no difference\n", "")
    ran = run("diff", "tools.json", "new.json")
    assert ran.code == 1
    assert ran.out.splitlines()[:3] == ["- ping", "+ pong", "~ close_issue"]
    found = run("diff", "tools.json", "new.json", "--json").json
    assert (found["added"], found["removed"], found["changed"][0]["name"]) == (["pong"], ["ping"], "close_issue")
    for wrong in ("bad.json", "missing.json"):
        ran = run("diff", "tools.json", wrong)
        assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)


def test_decode_reads_text_and_messages(run: Run, tmp_path: Path) -> None:
    call = tscg.Call(name="close_issue", arguments={"number": 7}, id="c1")
    (tmp_path / "answer.txt").write_text(f"Closing it. {tscg.compile(TOOLS).encode_call(call)}")
    ran = run("decode", "tools.json", "answer.txt", "--json")
    assert ran.code == 0
    assert [(item["type"], item["name"], item["arguments"]) for item in ran.json["items"]] == [
        ("call", "close_issue", {"number": 7})
    ]
    assert run("decode", "tools.json", "answer.txt").out.splitlines()[0] == 'call close_issue {"number": 7}'
    function = {"name": "close_issue", "arguments": '{"number": 0, "reason": "because"}'}
    message = {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "x", "type": "function", "function": function}],
    }
    (tmp_path / "message.json").write_text(json.dumps(message))
    ran = run("decode", "tools.json", "message.json", "--mode", "native", "--json")
    assert ran.code == 0
    (item,) = ran.json["items"]
    assert (item["type"], item["id"], item["tool"], len(item["faults"])) == ("error", "x", "close_issue", 2)


def test_decode_tells_lookups_and_programs(run: Run, tmp_path: Path) -> None:
    asked = {"id": "a", "type": "function", "function": {"name": "lookup", "arguments": '{"tools": ["ping"]}'}}
    made = {"name": "call", "arguments": '{"tool": "close_issue", "args": {"number": 1}}'}
    called = {"id": "b", "type": "function", "function": made}
    (tmp_path / "message.json").write_text(json.dumps({"role": "assistant", "tool_calls": [asked, called]}))
    ran = run("decode", "tools.json", "message.json", "--mode", "dispatch")
    assert ran.out.splitlines() == ["lookup ping", 'call close_issue {"number": 1}']
    (item, _) = run("decode", "tools.json", "message.json", "--map", "names", "--json").json["items"]
    assert (item["type"], item["tools"], "ping" in item["reply"]) == ("lookup", ["ping"], True)
    program = {"name": tscg.compile(TOOLS, mode="code").sent.run_tool, "arguments": '{"code": "ping()"}'}
    message = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": program}]}
    (tmp_path / "message.json").write_text(json.dumps(message))
    assert run("decode", "tools.json", "message.json", "--mode", "code").out.splitlines() == ["program ping()"]


def test_the_tools_of_a_server_are_compiled(run: Run) -> None:
    pytest.importorskip("mcp")
    ran = run("compile", "--mcp", f"{shlex.quote(sys.executable)} -m tscg.demo.server", "--json")
    assert (ran.code, ran.err) == (0, "")
    assert len(ran.json["stats"]["per_tool"]) > 38


def test_the_demo_runs(run: Run) -> None:
    pytest.importorskip("mcp")
    ran = run("demo", "--json")
    assert (ran.code, ran.err, ran.json["exit_code"]) == (0, "", 0)
    assert any("The database after" in line for line in ran.json["shown"])


# --- errors ----------------------------------------------------------------------------------------------------------

BAD_FILES = {
    "empty.json": "",
    "words.json": "not json",
    "number.json": "17",
    "nameless.json": '[{"description": "no name", "inputSchema": {}}]',
    "twice.json": json.dumps([TOOLS[1], TOOLS[1]]),
    "dangling.json": '[{"name": "a", "inputSchema": {"properties": {"x": {"$ref": "#/$defs/none"}}}}]',
    "deep.json": '{"a":' * 4_000 + "1" + "}" * 4_000,
}


@pytest.mark.parametrize("name", BAD_FILES)
@pytest.mark.parametrize("command", ["compile", "report", "recommend"])
def test_a_bad_catalog_is_one_line(run: Run, tmp_path: Path, command: str, name: str) -> None:
    (tmp_path / name).write_text(BAD_FILES[name])
    ran = run(command, name)
    assert ran.code in (1, 2)
    assert ran.out == ""
    assert ran.err.startswith("error: ")
    assert ran.err.count("\n") == 1
    assert "unexpected" not in ran.err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("compile",), 2, "no catalog was given"),
        (("compile", "missing.json"), 2, "cannot read missing.json"),
        (("compile", "tools.json", "--mode", "txt"), 2, "unknown mode 'txt'"),
        (("compile", "tools.json", "--profile", "tiny"), 2, "unknown profile 'tiny'"),
        (("compile", "tools.json", "--tokenizer", "gpt2"), 2, "unknown tokenizer 'gpt2'"),
        (("compile", "tools.json", "--budget", "none"), 2, "--budget"),
        (("compile", "tools.json", "--budget", "0"), 2, "--budget"),
        (("compile", "tools.json", "--budget", "3"), 1, ""),
        (("compile", "tools.json", "--url", "http://127.0.0.1:1/mcp"), 2, "one source is read"),
        (("compile", "tools.json", "--unknown"), 2, "unknown"),
        (("nothing",), 2, "nothing"),
        (("decompile", "tools.json"), 1, "line 1"),
        (("decompile",), 2, "FILE"),
        (("diff", "-", "-"), 2, "standard input can be only one"),
        (("decode", "-", "-"), 2, "standard input can be only one"),
        (("bench",), 1, "command bench is not installed; install tscg-bench"),
        (("tune", "--model", "x", "tools.json"), 1, "install tscg-bench"),
        (("demo", "--framework", "crewai"), 1, "--framework crewai is not installed; install crewai-tscg"),
        (("demo", "--framework", "unknown"), 2, "allowed: langchain, llamaindex, crewai"),
        (("demo", "--mode", "code"), 2, "no answers are recorded for mode 'code'"),
        (("demo", "--base-url", "http://127.0.0.1:1"), 2, "a base URL needs a model"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_an_error_is_one_line_and_a_code(
    run: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], code: int, says: str
) -> None:
    import importlib.metadata

    if arguments[0] == "demo":
        pytest.importorskip("mcp")
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **selection: ())
    ran = run(*arguments)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith("error: ")
    assert says in ran.err
    assert ran.err.count("\n") == 1


def test_what_nobody_expected_is_one_line_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise KeyError("gone")

    monkeypatch.setattr(cli, "source_of", broken)
    ran = run("compile", "tools.json")
    assert (ran.code, ran.err) == (1, "error: unexpected KeyError: 'gone'; TSCG_TRACEBACK=1 shows where\n")
    assert run("diff", "tools.json", "tools.json").code == 2
    monkeypatch.setenv("TSCG_TRACEBACK", "1")
    with pytest.raises(KeyError):
        main(["compile", "tools.json"])


# --- other packages --------------------------------------------------------------------------------------------------


class Entry:
    def __init__(self, found: Callable[..., int]) -> None:
        self.load = lambda: found


def test_commands_and_demos_of_other_packages_are_run(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.metadata

    seen: list[object] = []

    def command(arguments: list[str]) -> int:
        seen.append(arguments)
        return 5

    def demonstrate(console: object, **options: object) -> int:
        seen.append(options)
        return 0

    def entry_points(*, group: str, name: str) -> list[Entry]:
        offered: dict[tuple[str, str], Callable[..., int]] = {
            ("tscg.commands", "bench"): command,
            ("tscg.demos", "langchain"): demonstrate,
        }
        return [Entry(offered[group, name])] if (group, name) in offered else []

    monkeypatch.setattr(importlib.metadata, "entry_points", entry_points)
    assert run("bench", "--help", "x.json", "-n", "3").code == 5
    assert run("demo", "--framework", "langchain", "--mode", "native").code == 0
    assert seen[0] == ["--help", "x.json", "-n", "3"]
    assert seen[1] == {"model": None, "mode": "native", "profile": "balanced", "db": None, "keep": False}


# --- the file of defaults --------------------------------------------------------------------------------------------


def test_the_working_folder_gives_defaults_and_options_go_before_them(run: Run, tmp_path: Path) -> None:
    (tmp_path / "tscg.toml").write_text('[defaults]\nprofile = "lossless"\nmode = "native"\n\n[[model]]\nid = "x"\n')
    native = tscg.compile(TOOLS, mode="native", profile="lossless")
    assert run("compile", "tools.json", "--json").json["fingerprint"] == native.fingerprint
    text = tscg.compile(TOOLS, mode="text", profile="lossless")
    assert run("compile", "tools.json", "--json", "--mode", "text").json["fingerprint"] == text.fingerprint
    assert tscg.compile(TOOLS).mode == "text", "the library does not read the file"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[defaults]\nprofil = 'brief'\n", "unknown key 'profil' in tscg.toml; allowed: mode, profile, model"),
        ("[default]\nprofile = 'brief'\n", "unknown table 'default' in tscg.toml; allowed: defaults, model"),
        ("[defaults]\nbudget = 'much'\n", "'budget' of tscg.toml is 'much'; expected a number"),
        ("[defaults]\nbudget = true\n", "'budget' of tscg.toml is True; expected a number"),
        ("defaults = 3\n", "'defaults' of tscg.toml is no table"),
        ("[defaults\n", "tscg.toml cannot be read"),
    ],
)
def test_a_wrong_file_of_defaults_is_a_wrong_use(run: Run, tmp_path: Path, text: str, says: str) -> None:
    (tmp_path / "tscg.toml").write_text(text)
    ran = run("compile", "tools.json")
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert says in ran.err


# --- the command as a process ----------------------------------------------------------------------------------------


def process(*arguments: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    source = str(Path(tscg.__file__).parents[1])
    env = {**os.environ, "PYTHONPATH": source, **environment}
    return subprocess.run(
        [sys.executable, "-m", "tscg", *arguments], input=stdin, capture_output=True, env=env, check=False
    )


def test_pipes_in_utf_8_whatever_the_locale() -> None:
    tools = [{"name": "größe", "description": "Gibt die Größe. \ud83d", "inputSchema": {}}]
    ran = process("compile", "-", "--json", stdin=json.dumps(tools).encode(), LC_ALL="C", PYTHONIOENCODING="ascii")
    assert ran.returncode == 0
    assert all(line.startswith(b"warning: no vocabulary") for line in ran.stderr.splitlines())
    assert "größe" in json.loads(ran.stdout.decode())["text"]
    back = process("decompile", "-", "--json", stdin=ran.stdout, LC_ALL="C")
    assert json.loads(back.stdout)["tools"][0]["name"] == "größe"


def test_help_names_every_command_and_loads_nothing_heavy() -> None:
    code = """
import sys
from tscg.cli import main
try:
    main(["--help"])
finally:
    heavy = "rich.console tiktoken tokenizers mcp pydantic jsonschema_rs rapidfuzz json_repair sqlite3 asyncio".split()
    print([name for name in heavy if name in sys.modules], file=sys.stderr)
"""
    env = {**os.environ, "PYTHONPATH": str(Path(tscg.__file__).parents[1])}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    for name in ("compile", "decompile", "report", "recommend", "diff", "decode", "demo", "bench", "tune"):
        assert f"\n  {name} " in ran.stdout
    assert ran.stderr == "[]\n"


def test_version_and_completion() -> None:
    assert process("--version").stdout.decode() == f"tscg {tscg.__version__}\n"
    shown = process(_TSCG_COMPLETE="complete_bash", COMP_WORDS="tscg de", COMP_CWORD="1")
    assert shown.stdout.decode().split() == ["decompile", "decode", "demo"]


def test_a_reader_that_goes_away_is_no_error() -> None:
    source = str(Path(tscg.__file__).parents[1])
    many = [{"name": f"tool_{index}", "description": "Words. " * 200, "inputSchema": {}} for index in range(300)]
    command = subprocess.Popen(
        [sys.executable, "-m", "tscg", "compile", "-", "--profile", "lossless"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": source},
    )
    assert command.stdin
    assert command.stdout
    assert command.stderr
    command.stdout.close()
    command.stdin.write(json.dumps(many).encode())
    command.stdin.close()
    assert command.stderr.read() == b""
    assert command.wait() == 1
    command.stderr.close()


def test_progress_is_shown_to_a_terminal_alone(capsys: pytest.CaptureFixture[str]) -> None:
    with console.working("Working"):
        console.note("two\nlines", "warning")
    assert capsys.readouterr().err == "warning: two lines\n"
