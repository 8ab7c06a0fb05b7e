"""README.md and the pages of docs: code runs, commands print what they say, the grammar matches the parser."""

from __future__ import annotations

import ast
import contextlib
import doctest
import importlib.util
import io
import json
import os
import re
import shlex
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tscg
from tscg.cli import main
from tscg.decoding import REPAIR_KINDS
from tscg.demo.tools import TOOLS
from tscg.language.spelling import FORMATS, SLOTS
from tscg.messages import LINES
from tscg.tokenizers import is_exact, tokenizer_of

ROOT = Path(__file__).resolve().parents[2]
NOT_HERE = {"code.md", "crewai.md", "langchain.md", "llamaindex.md", "operators.md"}  # each has a test of its own
PAGES = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
    if page.is_file() and page.name not in NOT_HERE
]
FRAMEWORK = re.compile(
    r"^from (langchain|langchain_tscg|llama_index|llama_index_tscg|crewai|crewai_tscg)\b", re.MULTILINE
)
LANGUAGE = ROOT / "docs" / "language.md"
TEXT = LANGUAGE.read_text(encoding="utf-8") if LANGUAGE.is_file() else ""

pytestmark = pytest.mark.skipif(not TEXT, reason="the docs are not beside these tests")


def blocks(page: Path, *languages: str) -> list[str]:
    """The fenced blocks of a page in these languages, in order."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [body for language, body in found if language in languages]


def rows(text: str, columns: int) -> list[list[str]]:
    """Rows of the tables with so many columns: cells without their backquotes."""
    found = []
    for line in text.splitlines():
        cells = [cell.strip().replace(r"\|", "|") for cell in re.split(r"(?<!\\)\|", line.strip())[1:-1]]
        if len(cells) == columns and not set(cells[0]) <= set("-:"):
            found.append(cells)
    return found


def code(cell: str) -> str:
    return cell[1:-1] if cell.startswith("`") and cell.endswith("`") else ""


@pytest.fixture(autouse=True)
def counted() -> Iterator[None]:
    """Where no vocabulary is installed the first count of the process says so, whichever test it is in."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", tscg.TscgWarning)
        for encoding in ("o200k_base", "cl100k_base"):
            tokenizer_of(encoding).count("a")
        yield


# --- code ------------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.* attribute .*is deprecated")  # inside LlamaIndex
@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: str(page.relative_to(ROOT))
)
def test_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page, "python"):
        if not all(map(importlib.util.find_spec, FRAMEWORK.findall(block))):
            continue  # the core alone, or CrewAI, whose tests have an environment of their own
        if ">>>" in block:
            run_examples(block, names, page.name)
        else:
            run_code(block, names)


def run_examples(block: str, names: dict[str, Any], page: str) -> None:
    examples = doctest.DocTestParser().get_doctest(block, names, page, page, 0)
    said = io.StringIO()
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    runner.run(examples, out=said.write, clear_globs=False)
    assert runner.summarize(verbose=False).failed == 0, said.getvalue()
    names.update(examples.globs)


def run_code(block: str, names: dict[str, Any]) -> None:
    """Code whose output stands below the line that prints it, behind `# > `."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, "block", "exec"), names)
    told = [line.lstrip()[4:] for line in block.splitlines() if line.lstrip().startswith("# > ")]
    assert out.getvalue().splitlines() == told


# --- commands --------------------------------------------------------------------------------------------------------

FRAME = re.compile("[━─┏┳┓┡╇┩└┴┘]+")
SERVER = '--mcp "python -m tscg.demo.server"'
SAID: dict[str, str] = {}  # what commands on the server's tools have printed
NETWORK = re.compile(r"pip install|openai:|ollama:|https?://|^tscg demo|^uv run pytest|^\.ci/|--install-completion")


def commands(page: Path) -> list[tuple[str, str]]:
    """Commands of the console blocks with the output below each: `$ ` begins a command, `...` stands for more."""
    found: list[tuple[str, str]] = []
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.partition("\n")
            found.append((command, output))
    return found


def told_commands(page: Path) -> list[tuple[str, str]]:
    """Those that a test can run: no network, no other test's work."""
    return [pair for pair in commands(page) if not NETWORK.search(pair[0].removeprefix("uv run "))]


@pytest.mark.parametrize("page", [page for page in PAGES if told_commands(page)], ids=lambda page: page.name)
def test_commands_print_what_the_page_says(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`TSCG_WRITE_DOCS=1` writes the present output into the page instead of comparing."""
    monkeypatch.chdir(tmp_path)
    # The server's tools as a file: that the command reads them from the server is another test's.
    Path("served.json").write_text(json.dumps({"tools": [tool.to_mcp() for tool in TOOLS]}))
    told = told_commands(page)
    said = [run_command(command, capsys) for command, _ in told]
    if os.environ.get("TSCG_WRITE_DOCS"):
        text = page.read_text(encoding="utf-8")
        for (command, expected), now in zip(told, said, strict=True):
            text = text.replace(f"$ {command}\n{expected}", f"$ {command}\n{cut_like(expected, now)}")
        page.write_text(text, encoding="utf-8")
        return
    for (command, expected), now in zip(told, said, strict=True):
        assert agrees(now, expected), f"$ {command}\n{now[:3_000]}\nTSCG_WRITE_DOCS=1 writes it into the page"


def cut_like(expected: str, said: str) -> str:
    """The output with as many lines in front of `...` and behind it as the page shows; of several cuts, as it is."""
    wanted, lines = expected.splitlines(), [line.rstrip() for line in said.splitlines()]
    if wanted.count("...") > 1:
        return expected
    if "..." in wanted:
        front = wanted.index("...")
        behind = len(wanted) - front - 1
        lines = [*lines[:front], "...", *lines[len(lines) - behind :]]
    return "".join(f"{line}\n" for line in lines)


def run_command(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """What a command prints on both streams; `echo` and `cat`, `>` into a file and `echo $?` are done here."""
    line, _, target = command.removeprefix("uv run ").replace(SERVER, "served.json").partition(" > ")
    words = shlex.split(line)
    if line in SAID:
        return SAID[line]
    if words[0] == "cat":
        return Path(words[1]).read_text()
    if words[0] == "echo":
        said, error = f"{' '.join(words[1:])}\n", ""
    else:
        assert words[0] == "tscg", command
        with pytest.raises(SystemExit):
            main(words[1:])
        captured = capsys.readouterr()
        said, error = captured.out, captured.err
    if target:
        Path(target.strip()).write_text(said)
        return error
    if SERVER in command:  # it reads the demo's tools alone, and a report of them takes seconds
        SAID[line] = said + error
    return said + error


def agrees(said: str, expected: str) -> bool:
    """Lines agree but for blanks and frames, `...` is any lines; counts of tokens need a vocabulary."""
    if "counted" in expected and not is_exact(tokenizer_of("o200k_base")):
        return "estimated" in said
    shown, wanted = ([" ".join(FRAME.sub("", line).split()) for line in text.splitlines()] for text in (said, expected))
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n" for line in wanted if line)
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in shown if line)) is not None


# --- errors ----------------------------------------------------------------------------------------------------------


def test_every_kind_of_fault_and_repair_is_named() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    assert {kind for kind in (*LINES, *REPAIR_KINDS) if f"`{kind}`" not in page} == set()


# --- the language ----------------------------------------------------------------------------------------------------


def again(text: str) -> str:
    return tscg.compile(tscg.decompile(text), profile="lossless", order="given").text


@pytest.mark.parametrize("text", blocks(LANGUAGE, "tscg") if TEXT else [], ids=lambda text: text.split("\n")[-2][:30])
def test_example_is_its_own_decompilation(text: str) -> None:
    assert again(text.rstrip("\n")) == text.rstrip("\n")


TYPES = [(code(a), code(b)) for a, b in rows(TEXT, 2) if code(b)[:1] in ("{", "f") and code(a)]
SIGNATURES = [code(a) for a, b in rows(TEXT, 2) if code(a).startswith("f(") and not code(b)]


@pytest.mark.parametrize(("parameter", "schema"), TYPES, ids=[parameter for parameter, _ in TYPES])
def test_type(parameter: str, schema: str) -> None:
    text = f"f({parameter})"
    read = tscg.decompile(text)
    required = ["a"] if read[0].params[0].required else []
    raw = {"type": "object", "properties": {"a": json.loads(schema)}, "required": required}
    given = tscg.Catalog.from_tools([{"name": "f", "inputSchema": raw}])
    assert read == given
    assert tscg.compile(given, profile="lossless").text == text


@pytest.mark.parametrize("text", SIGNATURES)
def test_signature(text: str) -> None:
    assert again(text) == text


def test_the_tables_of_the_language_were_found() -> None:
    assert len(TYPES) > 40
    assert len(SIGNATURES) > 6
    assert f"version {tscg.LANGUAGE_VERSION} of it" in TEXT


def test_formats_and_slots_are_those_of_the_code() -> None:
    words = {row[0]: row for row in rows(TEXT, 3)}
    assert set(re.findall(r"`([a-z0-9-]+)`", words["`FORMAT`"][1])) == FORMATS
    for slot, spellings in SLOTS.items():
        row = words[f"`{'LINES' if slot == 'lines' else slot.upper()}`"]
        assert re.findall(rf'{slot}="([^"]*)"', row[2]) == list(spellings[1:])


CONSTANTS = [row for row in rows(TEXT, 3) if code(row[0]).startswith("language.")]


@pytest.mark.parametrize(("constant", "value", "reason"), CONSTANTS, ids=[row[0] for row in CONSTANTS])
def test_constant(constant: str, value: str, reason: str) -> None:
    module, _, name = code(constant).rpartition(".")
    assert getattr(importlib.import_module(f"tscg.{module}"), name) == ast.literal_eval(value)
    assert reason


COUNTS = [row for row in rows(TEXT, 3) if row[1].isdigit() and row[2].isdigit()]


@pytest.mark.parametrize(("text", "characters", "tokens"), COUNTS, ids=[row[0] for row in COUNTS])
def test_counts(text: str, characters: str, tokens: str) -> None:
    assert len(code(text)) == int(characters)
    counter = tokenizer_of("o200k_base")
    if not is_exact(counter):
        pytest.skip("no vocabulary of o200k_base is installed")
    assert counter.count(code(text)) == int(tokens)


# --- the grammar -----------------------------------------------------------------------------------------------------

Ends = frozenset[int]
Match = Callable[[str, int], Ends]
TOKEN = re.compile(r"\s*(?:'([^']*)'|/((?:[^/\\\n]|\\.)+)/|(\w+)|([()|?*+]))")
WORD = r"[A-Za-z0-9_$]"


class Grammar:
    """A recogniser for the grammar of the page: each rule gives all places where it may end."""

    def __init__(self, source: str) -> None:
        self.rules: dict[str, Match] = {}
        self.used: set[str] = set()
        self.memo: dict[tuple[str, int], Ends] = {}
        self.text = ""
        for head, body in re.findall(r"^(\w+) +::= ((?:.*\n?)(?:^ +.*\n?)*)", source, re.MULTILINE):
            self.tokens = [match.groups() for match in TOKEN.finditer(body)]
            self.rules[head] = self.choice()
            assert not self.tokens, f"{head}: {self.tokens}"

    def takes(self, text: str, rule: str = "catalog") -> bool:
        self.text, self.memo = text, {}
        return len(text) in self.rule(rule)(text, 0)

    def next_mark(self, marks: str) -> str:
        mark = self.tokens[0][3] if self.tokens else None
        if mark is not None and mark in marks:
            self.tokens.pop(0)
            return mark
        return ""

    def choice(self) -> Match:
        options = [self.sequence()]
        while self.next_mark("|"):
            options.append(self.sequence())
        return options[0] if len(options) == 1 else lambda text, at: frozenset().union(*(o(text, at) for o in options))

    def sequence(self) -> Match:
        parts: list[Match] = []
        while self.tokens and self.tokens[0][3] not in ("|", ")"):
            parts.append(self.repeated())

        def match(text: str, at: int) -> Ends:
            ends: Ends = frozenset({at})
            for part in parts:
                ends = frozenset().union(*(part(text, end) for end in ends))
            return ends

        return match

    def repeated(self) -> Match:
        inner = self.single()
        mark = self.next_mark("?*+")
        if mark == "?":
            return lambda text, at: inner(text, at) | {at}

        def many(text: str, at: int) -> Ends:
            ends: set[int] = {at} if mark == "*" else set()
            todo = [at]
            while todo:
                for end in inner(text, todo.pop()):
                    if end not in ends:
                        ends.add(end)
                        todo.append(end)
            return frozenset(ends)

        return many if mark else inner

    def single(self) -> Match:
        if self.next_mark("("):
            inner = self.choice()
            assert self.next_mark(")")
            return inner
        literal, pattern, name, _ = self.tokens.pop(0)
        if literal is not None:
            return lambda text, at: frozenset({at + len(literal)}) if text.startswith(literal, at) else frozenset()
        if pattern is not None:
            return by_pattern(pattern)
        self.used.add(name)
        return TERMINALS.get(name) or self.rule(name)

    def rule(self, name: str) -> Match:
        def match(text: str, at: int) -> Ends:
            key = (name, at)
            if key not in self.memo:
                self.memo[key] = self.rules[name](text, at)
            return self.memo[key]

        return match


def by_pattern(pattern: str) -> Match:
    compiled = re.compile(pattern)

    def match(text: str, at: int) -> Ends:
        found = compiled.match(text, at)
        return frozenset({found.end()}) if found else frozenset()

    return match


def by_json(first: str) -> Match:
    def match(text: str, at: int) -> Ends:
        if first and not text.startswith(first, at):
            return frozenset()
        try:
            return frozenset({json.JSONDecoder().raw_decode(text, at)[1]})
        except ValueError:
            return frozenset()

    return match


TERMINALS: dict[str, Match] = {
    "NL": by_pattern(r"\n"),
    "JSON": by_json(""),
    "STRING": by_json('"'),
    "OBJECT": by_json("{"),
    "NUMBER": by_pattern(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?"),
    "FORMAT": by_pattern(rf"(?:{'|'.join(sorted(FORMATS, key=len, reverse=True))})(?!{WORD})"),
    "ENUM": by_pattern(" "),
    "GAP": by_pattern(" "),
    "NOTE": by_pattern(r"\^"),
    "LINES": by_pattern(r"\*"),
    "FLAG": by_pattern("boolean"),
}


@pytest.fixture(scope="module")
def grammar() -> Grammar:
    return Grammar(blocks(LANGUAGE, "ebnf")[0])


def test_every_rule_of_the_grammar_is_defined_and_used(grammar: Grammar) -> None:
    assert grammar.used - TERMINALS.keys() | {"catalog"} == grammar.rules.keys()
    assert TERMINALS.keys() <= grammar.used


def test_the_grammar_takes_the_examples(grammar: Grammar) -> None:
    for text in [*blocks(LANGUAGE, "tscg"), *SIGNATURES, *(f"f({parameter})" for parameter, _ in TYPES)]:
        assert grammar.takes(text.rstrip("\n")), text


def test_the_examples_use_every_rule(grammar: Grammar) -> None:
    used: set[str] = set()
    for text in [*blocks(LANGUAGE, "tscg"), *(f"f({parameter})" for parameter, _ in TYPES), "%closed\nf()\ng:$true"]:
        assert grammar.takes(text.rstrip("\n"))
        used |= {name for (name, _), ends in grammar.memo.items() if ends}
    assert grammar.rules.keys() - used - {"catalog", "slot"} == set()


@pytest.mark.parametrize("profile", ["lossless", "balanced", "signature"])
def test_the_grammar_takes_a_whole_catalog(grammar: Grammar, profile: str) -> None:
    text = tscg.compile([tool.to_mcp() for tool in TOOLS], profile=profile).text
    assert grammar.takes(text)


def test_the_grammar_takes_real_catalogs(grammar: Grammar, shared_catalogs: dict[str, list[dict[str, Any]]]) -> None:
    for name, tools in shared_catalogs.items():
        text = tscg.compile(tools, profile="lossless", on_error="passthrough").text
        # A recogniser that follows every reading is slow; the small catalogs have all constructs between them.
        assert len(text) > 20_000 or grammar.takes(text), name


BAD = [
    "f(a", "f(a:wat)", "f(a))", "f(a b:)", "f(:int)", "f(a:int=)", "f(a:{x)", "f(a:[num)", "f(a:<int)", "f(a:1..2..3)",
    "f(a()", "f(a:str/x)", "f(a:str{1})", "f(a:any$1)", "%closed,f()", "%shut\nf()", "f(a%new)", "f()x", "\nf()",
]  # fmt: skip


@pytest.mark.parametrize("text", BAD)
def test_the_grammar_refuses_what_the_parser_refuses(grammar: Grammar, text: str) -> None:
    assert not grammar.takes(text)
    with pytest.raises(tscg.ParseError):
        tscg.decompile(text)
