from __future__ import annotations

from typing import Any

import pytest

from tscg.errors import ConfigError
from tscg.rules import NATIVE_TOKENS, Choice, Facts, Recommendation, advise


def choices(**tokens: int) -> tuple[Choice, ...]:
    """Candidates by ``mode_profile`` or ``dispatch_map``."""
    found = []
    for name, count in tokens.items():
        mode, _, rest = name.partition("_")
        profile, chosen = ("balanced", rest) if mode == "dispatch" else (rest, "")
        found.append(
            Choice(mode=mode, profile=profile, map=chosen, tokens=count, enforced=mode, lookalikes=3, lookups=0.77)
        )
    return tuple(found)


LARGE = choices(
    passthrough_balanced=38_000, native_balanced=20_000, native_brief=15_000, text_balanced=11_000, text_brief=7_000,
    text_signature=5_000,
)  # fmt: skip
MAPS = choices(dispatch_hybrid=3_000, dispatch_signature=4_500, dispatch_names=1_200)


def small(native: int) -> dict[str, Any]:
    found = choices(passthrough_balanced=1_000, native_balanced=native, text_balanced=500)
    return {"tools": 3, "baseline": 1_000, "choices": found}


def middle(balanced: int, brief: int, **more: Any) -> dict[str, Any]:
    found = choices(passthrough_balanced=9_000, native_balanced=balanced, native_brief=brief)
    return {"tools": 30, "baseline": 9_000, "choices": found, **more}


def large(given: tuple[Choice, ...] = LARGE, tools: int = 117, **more: Any) -> dict[str, Any]:
    return {"tools": tools, "baseline": 38_000, "choices": given, **more}


def mapped(tools: int = 117, **more: Any) -> dict[str, Any]:
    return large(LARGE + MAPS, tools, **more)


ONLY_TEXT = choices(text_balanced=500)


@pytest.mark.parametrize(
    ("facts", "advice"),
    [
        pytest.param({"tools": 0, "baseline": 0}, ("passthrough", "balanced", "", None), id="nothing"),
        pytest.param(small(600), ("native", "balanced", "", None), id="small"),
        pytest.param(small(905), ("passthrough", "balanced", "", None), id="small, little saved"),
        pytest.param(middle(7_999, 6_000), ("native", "balanced", "", None), id="native"),
        pytest.param(middle(8_000, 6_000), ("native", "brief", "", None), id="native in brief"),
        pytest.param(middle(7_000, 6_400, context=65_000), ("native", "brief", "", None), id="small context"),
        pytest.param(large(native=False), ("text", "balanced", "", NATIVE_TOKENS), id="no native calls"),
        pytest.param(large(ONLY_TEXT, 5, native=False), ("text", "balanced", "", None), id="no native calls, small"),
        pytest.param(large(dispatches=False), ("native", "balanced", "", NATIVE_TOKENS), id="dispatch unreliable"),
        pytest.param(
            large(LARGE[3:], 200, tool_limit=128, dispatches=False),
            ("text", "balanced", "", NATIVE_TOKENS),
            id="dispatch unreliable, too many",
        ),
        pytest.param(
            {"tools": 9, "baseline": 2_000, "choices": choices(passthrough_balanced=2_000, native_balanced=2_001)},
            ("passthrough", "balanced", "", None),
            id="native is larger",
        ),
        pytest.param(
            large(LARGE[3:] + MAPS, 200, tool_limit=128), ("dispatch", "balanced", "hybrid", None), id="too many tools"
        ),
        pytest.param(mapped(text=False), ("dispatch", "balanced", "hybrid", None), id="no text calls"),
        pytest.param(mapped(map="signature"), ("dispatch", "balanced", "signature", None), id="the row's map"),
        pytest.param(mapped(mode="text"), ("text", "balanced", "", None), id="the measured mode"),
        pytest.param(mapped(mode="dispatch", map="names"), ("dispatch", "balanced", "names", None), id="measured map"),
        pytest.param(mapped(mode="code"), ("dispatch", "balanced", "hybrid", None), id="the measured mode is absent"),
        pytest.param(mapped(), ("dispatch", "balanced", "hybrid", None), id="hybrid"),
        pytest.param(mapped(context=200_000), ("dispatch", "balanced", "signature", None), id="signature"),
        pytest.param(mapped(context=20_000), ("dispatch", "balanced", "names", None), id="names"),
        pytest.param(mapped(20, context=20_000), ("dispatch", "balanced", "hybrid", None), id="names with lookalikes"),
    ],
)
def test_the_table_of_rules(facts: dict[str, Any], advice: tuple[str, str, str, int | None]) -> None:
    found = advise(Facts(profile="balanced", **facts))
    assert (found.mode, found.profile, found.map, found.budget) == advice
    assert found.choices == facts.get("choices", ())


def reason(facts: dict[str, Any]) -> str:
    return advise(Facts(profile="balanced", **facts)).reason


@pytest.mark.parametrize(
    ("facts", "says"),
    [
        ({"tools": 0, "baseline": 0}, "nothing to send"),
        (small(905), "minified JSON takes 1,000 tokens, under 1,500; native takes 905, which saves 9.5%, under 10%"),
        (middle(7_999, 1), "native in balanced takes 7,999 tokens, under 8,000"),
        (middle(7_000, 6_400, context=65_000), "native in brief takes 6,400 tokens, under 6,500, 10% of the context"),
        (
            large(native=False, exact=False),
            "no native calls; text in balanced takes 11,000 tokens, over 8,000, hence the budget "
            "(tokens are estimates)",
        ),
        (
            large(MAPS, 200, tool_limit=128, code=True),
            "200 tools are over the provider's limit of 128; dispatch with hybrid takes 3,000 tokens, "
            "3 of whose lines differ from another by one word; its price: the provider enforces dispatch alone, and "
            "each lookup is a turn more (0.77 expected); programs (mode code) are an alternative with this model",
        ),
        (
            mapped(context=200_000),
            "native takes 15,000 tokens at least, over 8,000; dispatch with signature takes 4,500 tokens, "
            "3 of whose lines differ from another by one word; its price: the provider enforces dispatch alone, and "
            "each lookup is a turn more (0.77 expected)",
        ),
        (
            mapped(mode="native", found="the row of x in tscg.toml (n = 40)"),
            "the row of x in tscg.toml (n = 40) names native; in balanced it takes 20,000 tokens",
        ),
    ],
    ids=["nothing", "passthrough", "native", "context", "text only", "too many", "dispatch", "measured"],
)
def test_a_reason_quotes_the_figures_it_stands_on(facts: dict[str, Any], says: str) -> None:
    assert reason(facts) == says


def test_a_way_out_is_named_where_none_is_left() -> None:
    with pytest.raises(ConfigError, match=r"200 tools are over .* allow text calls with text=True"):
        advise(Facts(tools=200, baseline=38_000, profile="balanced", tool_limit=128, text=False, dispatches=False))


def tool(index: int) -> dict[str, Any]:
    properties = {
        "owner": {
            "type": "string",
            "description": "The account that owns the repository. The name is not case sensitive.",
        },
        "number": {
            "type": "integer",
            "minimum": 1,
            "description": "The number that identifies the record in its list.",
        },
    }
    text = f"Reads record {index} of a list. Use this tool when the record is known. Never call it for archived lists."
    return {"name": f"read_{index}", "description": text, "parameters": {"type": "object", "properties": properties}}


@pytest.mark.parametrize(
    ("count", "options", "mode"),
    [
        (0, {}, "passthrough"),
        (3, {}, "native"),
        (40, {}, "native"),
        (40, {"native": False}, "text"),
        (129, {"model": "gpt-5.2"}, "dispatch"),
        (129, {"model": "gpt-5.2", "text": False}, "dispatch"),
        (10, {"model": "ollama/phi4"}, "text"),
    ],
)
def test_real_catalogs_are_compiled_and_counted(count: int, options: dict[str, Any], mode: str) -> None:
    import tscg
    from tscg.recommendation import recommend

    tools = [tool(index) for index in range(count)]
    found = recommend(tools, **options)
    assert isinstance(found, Recommendation)
    assert found.mode == mode
    for choice in found.choices[:2]:
        chosen = tscg.Dispatch(map=choice.map) if choice.map else choice.mode
        stats = tscg.compile(tools, mode=chosen, profile=choice.profile, model=options.get("model")).stats
        assert (choice.tokens, choice.saved) == (stats.tokens, stats.saved)
    assert found.to_dict()["mode"] == mode
    if count == 0:
        assert found.choices == ()
        assert "%" not in found.reason


def test_neither_native_nor_text_is_refused() -> None:
    from tscg.recommendation import recommend

    with pytest.raises(ConfigError, match="neither native nor text calls are possible"):
        recommend([tool(1)], native=False, text=False)
    with pytest.raises(ConfigError, match="possible with ollama/phi4"):
        recommend([tool(1)], model="ollama/phi4", text=False)


# --- conformance: what the rules make of catalogs --------------------------------------------------------------------


def trivial(count: int) -> list[dict[str, Any]]:
    return [{"name": f"get_{index}", "parameters": {"type": "object", "properties": {}}} for index in range(count)]


def real(count: int, server: str = "") -> list[dict[str, Any]]:
    """Tools as large as those of real servers: each some 250 tokens of minified JSON."""
    text = "Reads one record of a list that the account may see, with all that belongs to it, newest first. " * 3
    properties = {
        f"field_{place}": {"type": "string", "description": f"Field {place}. {text}", "maxLength": 100 + place}
        for place in range(4)
    }
    schema = {"type": "object", "properties": properties, "required": ["field_0"]}
    return [{"name": f"{server}read_{index}", "description": text, "parameters": schema} for index in range(count)]


@pytest.mark.parametrize(
    ("tools", "mode", "chosen"),
    [
        pytest.param(real(149), "dispatch", "hybrid", id="c41-149-tools"),
        pytest.param(trivial(72), "passthrough", "", id="c41-72-trivial-tools"),
        pytest.param(real(14), "native", "", id="c41-14-real-tools"),
        pytest.param([*real(75, "a_"), *real(74, "b_")], "dispatch", "hybrid", id="c41-namespaces-play-no-part"),
    ],
)
def test_c41_recommend_without_a_known_context(tools: list[dict[str, Any]], mode: str, chosen: str) -> None:
    import tscg

    found = tscg.recommend(tools)
    assert (found.mode, found.map) == (mode, chosen)
    assert all(choice.share is None for choice in found.choices)


def test_c42_the_price_of_dispatch_is_stated_and_agrees_with_stats() -> None:
    import tscg

    tools = real(80)
    found = tscg.recommend(tools)
    assert found.mode == "dispatch"
    assert "the provider enforces a string and an object alone, and each lookup is a turn more (0.77 " in found.reason
    for choice in (one for one in found.choices if one.mode == "dispatch"):
        stats = tscg.compile(tools, mode=tscg.Dispatch(map=choice.map), profile=choice.profile).stats
        assert (choice.tokens, choice.saved, choice.lookalikes) == (stats.tokens, stats.saved, stats.lookalikes)
        assert choice.lookups == {"names": 0.77, "hybrid": 0.77, "signature": 0.31}[choice.map]
    assert f"takes {next(one.tokens for one in found.choices if one.map == 'hybrid'):,} tokens" in found.reason


@pytest.mark.parametrize("count", [1, 72, 149], ids=lambda count: f"c42-{count}")
@pytest.mark.parametrize("mode", ["native", "text", "dispatch", "passthrough"])
def test_c42_a_named_mode_stays_at_any_size(mode: str, count: int) -> None:
    import tscg

    assert tscg.compile(trivial(count), mode=mode).mode == mode


def test_c42_another_tokenizer_may_change_the_answer() -> None:
    import tscg

    tools = real(20)
    characters, words = (
        tscg.recommend(tools, tokenizer=len),
        tscg.recommend(tools, tokenizer=lambda text: len(text) // 9),
    )
    assert (characters.mode, words.mode) == ("dispatch", "native")
    assert characters.choices[0].tokens > words.choices[0].tokens


def test_c5_nothing_has_no_percentages() -> None:
    import tscg

    for options in ({}, {"model": "gpt-5.2"}, {"context": 1_000}):
        found = tscg.recommend([], **options)
        assert (found.mode, found.choices) == ("passthrough", ())
        assert "%" not in str(found.to_dict())


def test_mn_no_advice_that_is_nonsense() -> None:
    """No percentage below -100, no advice for a form that is larger than what was given."""
    import tscg

    for tools in (trivial(1), trivial(3), real(1), [tool(1)]):
        found = tscg.recommend(tools)
        chosen = next(one for one in found.choices if (one.mode, one.profile) == (found.mode, found.profile))
        assert chosen.saved >= 0 or found.mode == "passthrough"
        assert "-" not in found.reason.replace("-balanced", "")


@pytest.mark.parametrize(
    ("tools", "options", "sent"),
    [
        (real(80), {}, {"mode": "dispatch", "lines": "hybrid"}),
        (real(80), {"model": "gpt-5.2"}, {"mode": "dispatch", "lines": "hybrid"}),
        (real(80), {"model": "grok-4.5"}, {"mode": "dispatch", "lines": "hybrid", "handles": "codes"}),
        (real(40), {"model": "llama3.1:8b"}, {"mode": "native"}),
        (real(6), {"pin": ("read_1",)}, {"mode": "native"}),
        (trivial(2), {"budget": 300}, {"mode": "native"}),
        ([], {}, {"mode": "passthrough"}),
    ],
    ids=["dispatch", "model", "codes", "small model", "pin", "budget", "nothing"],
)
def test_auto_takes_the_advice(tools: list[dict[str, Any]], options: dict[str, Any], sent: dict[str, str]) -> None:
    import tscg

    compiled = tscg.compile(tools, mode="auto", profile="auto", **options)
    assert {"mode": compiled.mode, **{name: getattr(compiled.options, name) for name in sent if name != "mode"}} == sent
    advice = tscg.recommend(tools, model=options.get("model"))
    assert any(reason.startswith(advice.reason) for reason in compiled.reasons)
    if "budget" not in options:
        assert compiled.profile == advice.profile
        assert compiled.budget == advice.budget


def test_auto_keeps_a_named_profile() -> None:
    import tscg

    for profile in ("lossless", "brief", tscg.Profile(name="mine", sdm=True)):
        compiled = tscg.compile(real(8), mode="auto", profile=profile)
        assert compiled.profile_used == (tscg.PROFILES[profile] if isinstance(profile, str) else profile)
    assert tscg.compile(real(30), mode="auto", profile="lossless").mode == "dispatch"
    assert tscg.compile(real(30), mode="auto", profile="auto").mode == "native", "with less prose it fits"


def test_a_budget_is_only_advised_where_the_names_fit() -> None:
    import tscg

    tools = trivial(900)
    found = tscg.recommend(tools, native=False, context=9_000)
    assert (found.mode, found.budget) == ("text", None)
    assert "which not even the names of the tools fit into" in found.reason
    many = [tool(index) for index in range(80)]
    smaller = tscg.recommend(many, native=False, context=12_000)
    assert smaller.budget == 1_200
    assert tscg.compile(many, mode=smaller.options, profile=smaller.profile, budget=1_200).stats.tokens <= 1_200


@pytest.mark.parametrize("context", [0, -1, True, "1"])
def test_a_context_that_is_none_is_refused(context: Any) -> None:
    import tscg

    with pytest.raises(ConfigError, match="context is"):
        tscg.recommend([], context=context)


def test_c41_real_catalogs(shared_catalogs: dict[str, list[dict[str, Any]]]) -> None:
    import tscg

    found = {name: tscg.recommend(tools) for name, tools in shared_catalogs.items()}
    large = {name for name, tools in shared_catalogs.items() if len(tools) > 90}
    assert {name for name, advice in found.items() if advice.mode == "dispatch"} == large
    assert {found[name].map for name in large} == {"hybrid"}
    joined = tscg.Catalog.join(
        *(tscg.Catalog.from_tools(tools, server=name) for name, tools in shared_catalogs.items())
    )
    assert (tscg.recommend(joined).mode, tscg.recommend(joined).map) == ("dispatch", "hybrid")


def test_code_is_named_where_the_table_lists_it_and_never_advised() -> None:
    import tscg

    with_code, without = (tscg.recommend(real(80), model=name) for name in ("claude-opus-4-5", "claude-sonnet-4"))
    assert with_code.mode == without.mode == "dispatch"
    assert "; programs (mode code) are an alternative with this model (tokens are estimates)" in with_code.reason
    (choice,) = (one for one in with_code.choices if one.mode == "code")
    assert choice.tokens == tscg.compile(real(80), mode="code", model="claude-opus-4-5").stats.tokens
    assert "code" not in {one.mode for one in without.choices}
    assert "code" not in tscg.recommend(real(3), model="claude-opus-4-5").reason
