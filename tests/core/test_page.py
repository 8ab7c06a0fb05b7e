"""The data of the report page, and that nothing of a catalog becomes HTML."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import zlib
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import tscg
from tscg import cli
from tscg.demo.tools import TOOLS
from tscg.fates import fate_of, said_by
from tscg.ir import Catalog
from tscg.modes.options import MODES, Dispatch
from tscg.page import data as page_module
from tscg.page import html_of
from tscg.page.choices import choices_of
from tscg.page.data import PageData, page_data
from tscg.page.spent import spent_of
from tscg.page.write import SCRIPTS
from tscg.pipeline import rewritten
from tscg.profiles import PROFILES
from tscg.stats import minified, openai_form

MCP = [tool.to_mcp() for tool in TOOLS]
SMALL = MCP[:7]
FEW = MCP[:3]
HOSTILE = {
    "script": "</script><script>window.hacked=1</script>",
    "comment": "<!--<script>",
    "image": "<img src=x onerror=window.hacked=1>",
    "slot": "{{script}} {{figures}} {{packed}}",
    "entity": "&lt;b&gt; &amp;",
    "right to left": "abc\u202egnp.exe",
    "zero width": "pay\u200bment",
    "line separator": "a\u2028b\u2029c",
    "half a pair": "x\ud800y",
    "quotes": "\"'`\\",
    "tags": "\U000e0041\U000e0042",
}


def built(tools: Any, **options: Any) -> PageData:
    catalog = Catalog.from_tools(tools)
    return page_data(catalog, tscg.compile(catalog, **options), options)


def page_of(tools: Any, **options: Any) -> str:
    catalog = Catalog.from_tools(tools)
    return html_of(catalog, tscg.compile(catalog, **options), options)


def hostile_tools() -> list[dict[str, Any]]:
    return [
        {
            "name": f"tool {text}",
            "description": f"Never run {text} twice. {text}",
            "inputSchema": {
                "type": "object",
                "properties": {text: {"type": "string", "description": text, "enum": [text, "b"]}},
            },
        }
        for text in HOSTILE.values()
    ]


@pytest.fixture(scope="module")
def small() -> PageData:
    return built(SMALL)


@pytest.fixture(scope="module")
def hostile() -> str:
    return page_of(hostile_tools(), tokenizer=len)


# --- figures ---------------------------------------------------------------------------------------------------------


def recompiled(choice: dict[str, Any], tools: Any, **options: Any) -> tscg.CompiledCatalog:
    mode = Dispatch(map=choice["map"]) if choice["map"] else choice["mode"]
    profile = choice["profile"] or "balanced"
    return tscg.compile(tools, **{**options, "mode": mode, "profile": profile, "budget": choice["budget"]})


@pytest.mark.parametrize("options", [{}, {"tokenizer": "cl100k_base"}], ids=["plain", "tokenizer"])
def test_every_choice_has_the_figures_of_its_compiled_catalog(options: dict[str, Any], small: PageData) -> None:
    tools = FEW if options else SMALL
    figures: Any = built(tools, **options).figures if options else small.figures
    names = figures["tools"]["name"]
    seen = 0
    for choice in figures["choices"]:
        if "error" in choice:
            continue
        compiled = recompiled(choice, tools, **options)
        stats = compiled.stats
        assert choice["tokens"] == stats.tokens, choice["mode"]
        assert choice["sent"] == [stats.per_tool[name].tokens for name in names]
        spent = choice["spent"]
        assert spent == {} or sum(spent.values()) == stats.tokens
        assert spent == {} or spent["fixed"] + spent.get("again", 0) == stats.fixed_tokens
        if "steps" in choice:
            shown = [(step.operator, step.before, step.after) for step in compiled.trace.steps]
            assert [(step["operator"], step["before"], step["after"]) for step in choice["steps"]] == shown
            assert choice["bound"]["result"] == compiled.trace.bound.result
        seen += 1
    assert seen > 3 * len(PROFILES)


def test_the_first_choice_is_that_of_the_options_and_every_mode_and_profile_is_there(small: PageData) -> None:
    choices: Any = small.figures["choices"]
    assert [(choices[0][key]) for key in ("mode", "profile", "budget")] == ["text", "balanced", None]
    named = [(one["mode"], one["profile"], one["map"]) for one in choices if one["budget"] is None]
    assert len(named) == len(set(named))
    assert {mode for mode, _, _ in named} == set(MODES)
    for mode in ("text", "native", "code"):
        assert {profile for other, profile, _ in named if other == mode} == set(PROFILES)
    assert {lines for mode, _, lines in named if mode == "dispatch"} == {"names", "hybrid", "signature"}


def test_budgets_say_what_each_tool_gets_down_to_the_first_that_names_do_not_fit(small: PageData) -> None:
    figures: Any = small.figures
    choices = [one for one in figures["choices"] if one["budget"]]
    rungs = [rung["name"] for rung in figures["rungs"]]
    names = figures["tools"]["name"]
    *fitting, last = choices
    assert len(fitting) > 3
    assert "names alone take" in last["error"]
    assert [one["budget"] for one in choices] == sorted((one["budget"] for one in choices), reverse=True)
    for one in fitting:
        assert one["tokens"] <= one["budget"]
        stats = recompiled(one, SMALL).stats
        got = one["rungs"] if isinstance(one["rungs"], list) else [one["rungs"]] * len(names)
        assert [rungs[place] for place in got] == [stats.per_tool[name].detail for name in names]


@pytest.mark.parametrize(
    "options",
    [
        {"mode": Dispatch(handles="codes", map="names"), "pin": (FEW[0]["name"],)},
        {"mode": "native", "budget": 800},
        {"mode": "passthrough"},
        {"profile": "aggressive", "model": "gpt-5.2"},
        {"mode": "auto", "profile": "auto"},
        {"profile": tscg.Profile(name="mine", sdm=True)},
    ],
    ids=["codes and a pin", "native in a budget", "passthrough", "aggressive", "auto", "a profile of one's own"],
)
def test_options_of_the_command_come_first_and_carry_over(options: dict[str, Any]) -> None:
    catalog = Catalog.from_tools(FEW)
    own = tscg.compile(catalog, **options)
    found = list(choices_of(catalog, own, options))
    assert found[0].compiled is own
    assert not [one.error for one in found if one.error and not one.budget]
    for one in found:
        if one.compiled is not None and one.mode not in ("native", "passthrough"):
            assert one.compiled.sent.native == frozenset(options.get("pin", ()))
    figures: Any = page_data(catalog, own, options).figures
    assert figures["choices"][0]["tokens"] == own.stats.tokens
    assert figures["baseline"] == own.stats.baseline_tokens
    assert figures["pretty"] == own.stats.pretty_tokens


def test_a_catalog_of_no_tools_has_a_page() -> None:
    figures: Any = built([]).figures
    assert figures["tools"]["name"] == []
    assert page_of([]).startswith("<!doctype html>")


def test_what_does_not_fit_the_page_is_left_out_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_module, "TEXTS", 12_000)
    data = built(SMALL)
    figures: Any = data.figures
    held = [one.get("texts") for one in figures["choices"]]
    assert held[0] is True
    assert False in held
    assert set(data.texts[0]) == {str(place) for place, one in enumerate(held) if one}


# --- where the tokens go ----------------------------------------------------------------------------------------------

OWNER = {"type": "string", "description": "Account that owns it."}
SPENT = {
    "a parameter said again": (
        [{"name": "a", "parameters": {"type": "object", "properties": {"owner": OWNER}}}] * 2,
        '"owner":' + json.dumps(OWNER, separators=(",", ":")),
    ),
    "a sentence said again": (
        [{"name": "a", "description": "One thing. Reads it all.", "parameters": {}},
         {"name": "b", "description": "Other thing. Reads it all.", "parameters": {}}],
        "Reads it all.",
    ),
    "short words": ([{"name": "a", "description": "Id.", "parameters": {}}] * 2, ""),
    "another type": (
        [{"name": "a", "parameters": {"type": "object", "properties": {"x": {"type": kind}}}} for kind in ("string", "integer")],
        "",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("tools", "again"), SPENT.values(), ids=SPENT)
def test_repeats_are_what_stood_earlier_word_for_word(tools: list[dict[str, Any]], again: str) -> None:
    catalog = Catalog.from_tools([{**tool, "name": f"t{place}"} for place, tool in enumerate(tools)])
    first, second = spent_of(catalog, len)
    assert (first.repeats, second.repeats) == (0, len(again))


def test_a_parameter_called_title_is_structure() -> None:
    properties = {"title": {"type": "string", "title": "Title", "description": "Shown to users."}}
    tool = {"name": "a", "parameters": {"type": "object", "properties": properties}}
    (found,) = spent_of(Catalog.from_tools([tool]), len)
    bare = {"name": "a", "parameters": {"type": "object", "properties": {"title": {"type": "string"}}}}
    assert found.structure == len(minified({"type": "function", "function": bare}))


def test_parts_add_up_to_the_json() -> None:
    catalog = Catalog.from_tools(MCP)
    for tool, found in zip(catalog, spent_of(catalog, len), strict=True):
        assert found.prose + found.structure + found.repeats == len(minified(openai_form(tool)))


# --- sentences --------------------------------------------------------------------------------------------------------


def proses(tool: tscg.Tool) -> str:
    """All that the tool says, a text a line."""
    found = [tool.description]

    def collect(value: object) -> None:
        if isinstance(value, dict):
            found.extend(text for key, text in value.items() if key == "description" and isinstance(text, str))
            for below in value.values():
                collect(below)
        elif isinstance(value, list):
            for below in value:
                collect(below)

    collect(tool.to_json_schema())
    return "\n".join(found)


@pytest.mark.parametrize("profile", PROFILES)
def test_states_of_sentences_are_those_of_the_compiled_catalog(profile: str) -> None:
    catalog = Catalog.from_tools(MCP)
    seen = set()
    for tool, shown in zip(catalog, rewritten(catalog, PROFILES[profile]), strict=True):
        said = said_by(tool)
        fate = fate_of(said, PROFILES[profile])
        text = proses(shown)
        for sentence, state in zip(said.counts, fate.states, strict=True):
            seen.add(state)
            if state in ".~":
                assert sentence in text
            if state == "x":
                assert f"\n{sentence}\n" not in f"\n{text}\n"
        assert len(fate.left) + fate.short <= said.counts.total()
    assert seen == {"lossless": {"."}, "conservative": {".", "r"}}.get(profile, seen)
    assert profile in ("lossless", "conservative") or "x" in seen


def test_balanced_and_brief_leave_no_policy_sentence_out(shared_catalogs: dict[str, list[dict[str, Any]]]) -> None:
    for name, tools in shared_catalogs.items():
        if name == "openapi-github-rest":
            continue  # as the others, and a third of the time
        for tool in Catalog.from_tools(tools):
            said = said_by(tool)
            for profile in ("balanced", "brief"):
                assert not said.policy.intersection(fate_of(said, PROFILES[profile]).left), (name, tool.name)


def test_signature_says_which_policy_it_leaves_out() -> None:
    tool = {"name": "close", "description": "Closes it. Never close it unasked.", "parameters": {}}
    rungs: Any = built([tool]).figures["rungs"]
    assert {rung["name"]: rung["lost"] for rung in rungs} == {
        "name": [1], "lossless": [0], "conservative": [0], "balanced": [0], "brief": [0], "signature": [1],
        "aggressive": [0],
    }  # fmt: skip


# --- the page as a text -----------------------------------------------------------------------------------------------


class Elements(HTMLParser):
    """Every element with its attributes, and the texts of those that are no markup."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.raw: list[str] = []
        self.inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        self.raw.append("")

        self.inside = True

    def handle_endtag(self, tag: str) -> None:
        self.inside = False

    def handle_data(self, data: str) -> None:
        if self.inside:
            self.raw[-1] += data

    def of(self, tag: str) -> Iterator[tuple[dict[str, str | None], str]]:
        return (
            (attributes, text) for (name, attributes), text in zip(self.found, self.raw, strict=True) if name == tag
        )


def elements(page: str) -> Elements:
    found = Elements()
    found.feed(page)
    found.close()
    return found


def unpacked(found: Elements, kind: str) -> list[Any]:
    groups = [text for attributes, text in found.of("script") if str(attributes.get("id")).startswith(f"{kind}-")]
    return [one for text in groups for one in json.loads(zlib.decompress(base64.b64decode(text)))]


def test_no_text_of_a_tool_is_markup(hostile: str) -> None:
    ours, theirs = elements(page_of(SMALL[:1], tokenizer=len)), elements(hostile)
    assert [tag for tag, _ in ours.found if tag != "script"] == [tag for tag, _ in theirs.found if tag != "script"]
    run = [attributes for attributes, _ in theirs.of("script") if "type" not in attributes]
    assert run == [{}]
    assert {attributes["type"] for attributes, _ in theirs.of("script") if attributes} == {
        "application/json", "application/octet-stream",
    }  # fmt: skip
    hostile.encode()  # half a surrogate pair too


def test_the_page_holds_the_texts_as_they_are(hostile: str) -> None:
    found = elements(hostile)
    (figures,) = [json.loads(text) for attributes, text in found.of("script") if attributes.get("id") == "figures"]
    catalog = sorted(Catalog.from_tools(hostile_tools()), key=lambda tool: tool.name)
    assert figures["tools"]["name"] == [tool.name for tool in catalog]
    sources, texts, around = (unpacked(found, kind) for kind in ("source", "text", "around"))
    assert [source["json"] for source in sources] == [minified(openai_form(tool)) for tool in catalog]
    assert len(around) == len(figures["choices"])
    for place, choice in enumerate(figures["choices"]):
        if "error" in choice or choice["mode"] not in ("text", "dispatch"):
            continue
        entries = recompiled(choice, hostile_tools(), tokenizer=len).entries
        assert [text[str(place)][0] for text in texts] == [entries[tool.name] for tool in catalog]


def test_the_policy_of_the_page_allows_its_own_script_and_style_alone(hostile: str) -> None:
    found = elements(hostile)
    (policy,) = [a["content"] or "" for a, _ in found.of("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    (script,) = [text for attributes, text in found.of("script") if not attributes]
    (style,) = [text for _, text in found.of("style")]
    for rule, text in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert rules["default-src"] == "'none'"
    assert rules["require-trusted-types-for"] == "'script'"


REQUESTS = re.compile(
    r"https?:|//[a-z]+\.|url\(|@import|\bimport\b|\bfetch\b|XMLHttpRequest|WebSocket|EventSource|sendBeacon|\.src\b"
)
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|Function\(|DOMParser|createContextual"
)


@pytest.mark.parametrize("name", ["page.html", "page.css", *SCRIPTS])
def test_the_sources_ask_for_nothing_and_write_no_markup(name: str) -> None:
    text = files("tscg.page").joinpath(name).read_text(encoding="utf-8")
    assert not REQUESTS.findall(text)
    assert not MARKUP.findall(text)
    assert len(text.splitlines()) < 400


def test_the_same_catalog_gives_the_same_page() -> None:
    tools = FEW
    page = page_of(tools, tokenizer=len)
    assert page_of(list(reversed(tools)), tokenizer=len) == page
    code = (
        "import sys, json, hashlib, tscg; from tscg.page import html_of\n"
        "catalog = tscg.Catalog.from_tools(json.load(sys.stdin)); options = {'tokenizer': len}\n"
        "page = html_of(catalog, tscg.compile(catalog, **options), options)\n"
        "print(hashlib.sha256(page.encode()).hexdigest())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(tools), capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )  # fmt: skip
    assert ran.stdout.strip() == hashlib.sha256(page.encode()).hexdigest()


# --- colours ----------------------------------------------------------------------------------------------------------

TEXT = [
    ("ink", "page"), ("ink", "card"), ("ink", "chosen"), ("soft", "page"), ("soft", "card"), ("accent", "card"),
    ("on-accent", "accent"), ("on-policy", "policy"), ("left", "page"), ("left", "card"), ("short", "page"),
    ("bad", "card"),
]  # fmt: skip
GRAPHIC = [
    (kind, ground)
    for kind in ("json", "accent", "prose", "structure", "repeats", "fixed", "left", "short", "edge")
    for ground in ("card",)
] + [("edge", "page"), ("accent", "page"), ("accent", "chosen")]


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_contrast_is_enough(theme: str) -> None:
    style = files("tscg.page").joinpath("page.css").read_text(encoding="utf-8")
    pairs = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)", style)
    colours = {name: luminance(light if theme == "light" else dark) for name, light, dark in pairs}
    for least, wanted in ((4.5, TEXT), (3.0, GRAPHIC)):
        for front, back in wanted:
            dark, bright = sorted((colours[front], colours[back]))
            assert (bright + 0.05) / (dark + 0.05) >= least, (front, back)


# --- the command ------------------------------------------------------------------------------------------------------


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        cli.main(arguments)
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "tools.json").write_text(json.dumps({"tools": FEW}))
    return tmp_path


def test_report_writes_the_page(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "report", "tools.json", "--html", "page.html", "--profile", "brief")
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert (code, out) == (0, "")
    assert f"wrote page.html, {len(page):,} bytes" in err
    assert page == page_of(FEW, profile="brief")


def test_report_writes_the_page_and_prints_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "report", "tools.json", "--html", "page.html", "--json")
    assert code == 0
    assert json.loads(out)["mode"] == "text"
    assert (folder / "page.html").is_file()


def test_report_says_that_a_file_cannot_be_written(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "report", "tools.json", "--html", str(folder / "no" / "page.html"))
    assert code == 2
    assert "cannot be written: No such file or directory" in err
