"""`compile`: options, caches, immutability, threads, processes, figures."""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

import tscg
from tests.conftest import read_tools, shared_catalog_paths
from tests.strategies import catalogs
from tscg.ir import Catalog

WEATHER: dict[str, Any] = {
    "name": "get_weather", "description": "Forecast for a city. Never guess the city.",
    "inputSchema": {"type": "object", "properties": {"city": {"type": "string", "description": "City, ST"}, "days": {"type": "integer"}}, "required": ["city"]},
}  # fmt: skip
PING: dict[str, Any] = {"name": "ping", "description": "Health check"}
DEMO = [WEATHER, PING]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"mode": "txt"}, "text"),
        ({"profile": "tiny"}, "balanced"),
        ({"profile": tscg.Profile(name="mine", keep="nothing")}, "brief"),
        ({"order": "random"}, "given"),
        ({"budget": 0}, "1 or more"),
        ({"budget": True}, "1 or more"),
        ({"mode": "passthrough", "budget": 100}, "takes no budget"),
        ({"on_error": "ignore"}, "passthrough"),
        ({"on_duplicate": "last"}, "prefix"),
        ({"decoding": "loose"}, "strict"),
        ({"mode": tscg.Text(dialect="nothing")}, "tool_call"),
    ],
    ids=lambda value: json.dumps(value, default=str)[:40] if isinstance(value, dict) else "",
)
def test_a_wrong_option_is_the_developers_turn(options: dict[str, Any], says: str) -> None:
    with pytest.raises(tscg.ConfigError, match=says):
        tscg.compile(DEMO, **options)


def test_what_is_not_tools_is_refused() -> None:
    for wrong in (3, "tools", None, [3]):
        with pytest.raises(tscg.ConfigError):
            tscg.compile(wrong)


def test_the_prompt_holds_the_text_and_how_to_call() -> None:
    compiled = tscg.compile(DEMO)
    assert compiled.text in compiled.prompt
    assert "<tool_call>" in compiled.prompt
    assert compiled.wire_tools == ()
    assert compiled.stop == ("<tool_response>",)
    assert (compiled.mode, compiled.profile, compiled.lookup_tool, dict(compiled.codes)) == ("text", "balanced", "", {})


def test_no_tools_compile_in_every_mode() -> None:
    for mode in ("text", "native", "passthrough"):
        compiled = tscg.compile([], mode=mode)
        assert (compiled.prompt, compiled.text, compiled.wire_tools, compiled.stats.saved) == ("", "", (), 0)
        assert compiled.system("anthropic") is None


def test_equal_tools_again_are_known_and_a_changed_one_is_seen() -> None:
    first = tscg.compile(DEMO)
    assert tscg.compile(json.loads(json.dumps(DEMO))) is first
    for changed in (1, 1.0, True):
        other = json.loads(json.dumps(DEMO))
        other[0]["inputSchema"]["properties"]["days"]["default"] = changed
        assert f"days={json.dumps(changed)}" in tscg.compile(other).text.replace(":num", "").replace(":int", "")


def test_compiled_catalogs_pickle() -> None:
    for mode in ("text", "native", "passthrough"):
        compiled = tscg.compile(DEMO, mode=mode)
        again = pickle.loads(pickle.dumps(compiled))
        assert (again.prompt, again.fingerprint, again.wire_tools) == (
            compiled.prompt,
            compiled.fingerprint,
            compiled.wire_tools,
        )
        assert again.resolve("get_weather", {"city": "Oslo"}) == compiled.resolve("get_weather", {"city": "Oslo"})


def test_writing_into_what_was_given_changes_nothing() -> None:
    tools = json.loads(json.dumps(DEMO))
    compiled = tscg.compile(tools, mode="native")
    before = (compiled.wire_tools, compiled.fingerprint)
    tools[0]["inputSchema"]["properties"].clear()
    for rendered in (
        compiled.to_openai(),
        compiled.to_openai_responses(),
        compiled.to_anthropic(),
        compiled.to_gemini(),
        list(compiled.wire_tools),
    ):
        rendered[0].clear()
    compiled.catalog[0].schema.clear()
    assert (compiled.wire_tools, compiled.fingerprint) == before
    assert compiled.catalog[0].schema["properties"] == {
        "city": {"type": "string", "description": "City, ST"},
        "days": {"type": "integer"},
    }


def test_eight_threads_get_what_one_gets() -> None:
    wanted = [tscg.compile(DEMO, mode=mode).fingerprint for mode in ("text", "native")]
    found: list[list[str]] = []

    def work() -> None:
        for i in range(20):
            tools = [*json.loads(json.dumps(DEMO)), {"name": f"t{i}"}]
            tscg.compile(tools)
            found.append(
                [tscg.compile(json.loads(json.dumps(DEMO)), mode=mode).fingerprint for mode in ("text", "native")]
            )

    workers = [threading.Thread(target=work) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(found) == 160
    assert all(one == wanted for one in found)


SCRIPT = """
import json, sys, tscg
tools = json.load(open(sys.argv[1], encoding="utf-8"))
print([tscg.compile(tools, mode=m, profile=p).fingerprint for m in ("text", "native") for p in ("lossless", "balanced", "aggressive")])
"""


def test_other_processes_give_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(DEMO * 1 + [{**WEATHER, "name": f"w{i}"} for i in range(5)]), encoding="utf-8")
    found = set()
    for seed, locale in (("0", "C"), ("1", "C.UTF-8"), ("4242", "POSIX")):
        env = {**os.environ, "PYTHONHASHSEED": seed, "LC_ALL": locale}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT, str(path)], capture_output=True, text=True, env=env, check=True
        )
        found.add(done.stdout)
    assert len(found) == 1


# --- figures ----------------------------------------------------------------------------------------------------------------


def test_stats_count_what_is_sent() -> None:
    compiled = tscg.compile(DEMO, tokenizer=len)
    stats = compiled.stats
    assert stats.tokens == len(compiled.prompt)
    assert stats.fixed_tokens == len(compiled.prompt) - len(compiled.text)
    assert stats.saved == pytest.approx(1 - stats.tokens / stats.baseline_tokens)
    assert set(stats.per_tool) == {"get_weather", "ping"}
    native = tscg.compile(DEMO, mode="native", tokenizer=len)
    assert native.stats.tokens == len(json.dumps(native.to_openai(), ensure_ascii=False, separators=(",", ":")))


def test_what_a_profile_hides_is_counted_and_named() -> None:
    tool = {
        "name": "a",
        "description": "Reads a file. It was written in 2019 by the platform group. Never call it twice.",
    }
    compiled = tscg.compile([tool], profile="balanced", tokenizer=len)
    assert compiled.stats.hidden.sentences == 1
    assert compiled.trace.shortened == ("a",)
    assert "Never call it twice." in compiled.text
    signature = tscg.compile([tool], profile="signature", tokenizer=len)
    assert signature.trace.hidden_policy == {"a": ("Never call it twice.",)}
    assert "%rules" in signature.text
    assert tscg.decompile(signature.text)[0].hides_policy


@pytest.mark.parametrize("path", shared_catalog_paths(), ids=lambda path: path.stem)
def test_the_bound_of_the_paper_holds_on_real_catalogs(path: Path) -> None:
    compiled = tscg.compile(read_tools(path))
    trace = compiled.trace
    assert trace.bound.holds, trace.bound
    assert 0 < trace.bound.sum_rf < 1
    assert [step.operator for step in trace.steps] == ["parse and emit", "TAS", "SDM", "DRO", "detail", "CSE"]
    for step in trace.steps:
        assert step.after <= step.before, step


@settings(max_examples=max(settings().max_examples // 2, 1))
@given(catalogs)
def test_no_entry_is_larger_than_its_json(raw: list[dict[str, Any]]) -> None:
    """By characters here; by tokens on real catalogs."""
    catalog = Catalog.from_tools(raw, on_error="passthrough")
    compiled = tscg.compile(catalog, profile="lossless", tokenizer=len)
    for name, figures in compiled.stats.per_tool.items():
        assert figures.tokens <= figures.baseline_tokens + 40, name


# --- budget ---------------------------------------------------------------------------------------------------------------------

MANY = [
    {
        **WEATHER,
        "name": f"get_weather_{i}",
        "description": f"Forecast number {i} for a city. Never guess. It is cached for {i} hours.",
    }
    for i in range(30)
]


def test_a_budget_is_kept_and_told() -> None:
    whole = tscg.compile(MANY, tokenizer=len).stats.tokens
    seen = []
    for budget in (whole, whole * 3 // 4, whole // 2):
        compiled = tscg.compile(MANY, tokenizer=len, budget=budget)
        assert compiled.stats.tokens <= budget
        assert [tool.name for tool in tscg.decompile(compiled.text)] == sorted(tool["name"] for tool in MANY)
        seen.append(sorted({figures.detail for figures in compiled.stats.per_tool.values()}))
        assert tscg.compile(json.loads(json.dumps(MANY)), tokenizer=len, budget=budget).text == compiled.text
    assert seen[0] == ["balanced"]
    assert "name" in seen[2] or "signature" in seen[2]


def test_a_cut_tool_takes_anything_in_the_text_and_nothing_wrong_in_a_call() -> None:
    least = len(tscg.compile(MANY, tokenizer=len, budget=1_200).text)
    compiled = tscg.compile(MANY, tokenizer=len, budget=1_200)
    assert least < 1_200
    cut = [name for name, figures in compiled.stats.per_tool.items() if figures.detail == "name"]
    assert cut
    assert tscg.decompile(compiled.text).by_name[cut[0]].opaque
    assert isinstance(compiled.resolve(cut[0], {}), tscg.CallError)


def test_a_budget_for_less_than_the_names_says_what_is_missing() -> None:
    with pytest.raises(tscg.CompileError, match="more than the budget of 60"):
        tscg.compile(MANY, tokenizer=len, budget=60)


def test_native_takes_a_budget_too() -> None:
    whole = tscg.compile(MANY, mode="native", tokenizer=len).stats.tokens
    compiled = tscg.compile(MANY, mode="native", tokenizer=len, budget=whole - 500)
    assert compiled.stats.tokens <= whole - 500
    assert len(compiled.wire_tools) == len(MANY)
