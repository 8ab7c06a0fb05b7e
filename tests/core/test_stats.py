from __future__ import annotations

import json
import pickle
import warnings
from collections.abc import Mapping

import pytest

from tscg.errors import TscgWarning
from tscg.ir import JSON, Catalog
from tscg.stats import Hidden, Stats, StatsInput, openai_form, stats_of
from tscg.tokenizers import Counted, is_exact, tokenizer_of

TOOLS: list[dict[str, JSON]] = [
    {"name": "ping", "description": "Checks  the\n server.", "inputSchema": {"type": "object", "properties": {}}},
    {
        "name": "greet",
        "inputSchema": {"type": "object", "properties": {"who": {"type": "string"}}, "required": ["who"]},
        "annotations": {"readOnlyHint": True},
    },
]
# What the baseline is by its definition: the tools field of OpenAI's chat form, the texts as they were given.
FORM = [
    {
        "type": "function",
        "function": {
            "name": tool["name"],
            "description": tool.get("description", ""),
            "parameters": tool["inputSchema"],
        },
    }
    for tool in TOOLS
]
CHARACTERS = tokenizer_of(len)


def count(prompt: str = "", text: str = "", wire: list[Mapping[str, JSON]] | None = None, **more: object) -> Stats:
    given: dict[str, object] = {"entries": {}, "catalog": Catalog.from_tools(TOOLS), "tokenizer": CHARACTERS, **more}
    return stats_of(StatsInput(prompt=prompt, text=text, wire=wire or [], **given))  # type: ignore[arg-type]


def test_the_baselines_are_the_whole_list_in_openai_form() -> None:
    stats = count()
    assert stats.baseline_tokens == len(json.dumps(FORM, separators=(",", ":")))
    assert stats.pretty_tokens == len(json.dumps(FORM, indent=2))
    assert [openai_form(tool) for tool in Catalog.from_tools(TOOLS)] == FORM
    assert {name: tool.baseline_tokens for name, tool in stats.per_tool.items()} == {
        entry["function"]["name"]: len(json.dumps(entry, separators=(",", ":")))  # type: ignore[index]
        for entry in FORM
    }


def test_tokens_are_the_prompt_and_the_minified_tools_field() -> None:
    wire: list[Mapping[str, JSON]] = [{"type": "function", "function": {"name": "ping", "parameters": {}}}]
    stats = count(prompt="how to call\nping()", text="ping()", wire=wire, fixed="how to call\n")
    assert stats.tokens == len("how to call\nping()") + len(json.dumps(wire, separators=(",", ":")))
    assert stats.fixed_tokens == len("how to call\n")
    assert stats.saved == pytest.approx(1 - stats.tokens / stats.baseline_tokens)


def test_a_tool_costs_its_entry_else_its_wire_tool() -> None:
    wire: list[Mapping[str, JSON]] = [{"type": "function", "function": {"name": "ping", "parameters": {}}}]
    stats = count(entries={"greet": "greet(who)"}, wire=wire, details={"greet": "full"})
    assert stats.per_tool["greet"].tokens == len("greet(who)")
    assert stats.per_tool["greet"].detail == "full"
    assert stats.per_tool["ping"].tokens == len(json.dumps(wire[0], separators=(",", ":")))


def test_hidden_sentences_are_counted_by_tool_and_in_all() -> None:
    stats = count(hidden={"ping": ("One.", "Two."), "greet": ("Three.",)})
    assert stats.per_tool["ping"].hidden == Hidden(sentences=2, tokens=len("One. Two."))
    assert stats.hidden == Hidden(sentences=3, tokens=len("One. Two.") + len("Three."))


def test_no_tools_save_nothing() -> None:
    stats = count(prompt="words", catalog=Catalog())
    assert (stats.saved, stats.baseline_tokens, stats.pretty_tokens, stats.per_tool) == (0.0, 0, 0, {})


def test_what_grew_has_a_negative_saving() -> None:
    assert count(prompt="x" * 10_000).saved < -10


def test_exactness_is_the_tokenizers() -> None:
    guess = Counted(name="guess", function=len, exact=False)
    assert (count(tokenizer=guess).exact, count(tokenizer=guess).tokenizer) == (False, "guess")
    assert count().exact


def test_stats_are_a_value_and_plain_json() -> None:
    stats = count(prompt="p", entries={"ping": "ping()"})
    assert pickle.loads(pickle.dumps(stats)) == stats
    plain = json.loads(json.dumps(stats.to_dict()))
    assert plain["saved"] == pytest.approx(stats.saved, abs=1e-6)
    assert set(plain["per_tool"]) == {"ping", "greet"}
    assert set(plain["per_tool"]["ping"]) == {"tokens", "baseline_tokens", "detail", "hidden", "saved"}


def test_baselines_agree_with_the_figures_of_the_samples(shared_catalogs: dict[str, list[dict[str, object]]]) -> None:
    """Two of the table that comes with the samples."""
    tokenizer = tokenizer_of("o200k_base")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TscgWarning)
        if not is_exact(tokenizer):
            pytest.skip("no vocabulary of o200k_base is installed")
    for name, tokens in (("github-mcp-server", 25_688), ("awslabs-eks", 9_767)):
        assert count(catalog=Catalog.from_tools(shared_catalogs[name]), tokenizer=tokenizer).baseline_tokens == tokens
