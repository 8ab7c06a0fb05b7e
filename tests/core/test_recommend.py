from __future__ import annotations

from typing import Any

import pytest

from tscg.errors import ConfigError
from tscg.recommendation import NATIVE_TOKENS, Choice, Facts, Recommendation, advise


def choices(**tokens: int) -> tuple[Choice, ...]:
    """Candidates by ``mode_profile`` or ``dispatch_map``."""
    found = []
    for name, count in tokens.items():
        mode, _, rest = name.partition("_")
        profile, chosen = ("balanced", rest) if mode == "dispatch" else (rest, "")
        found.append(Choice(mode=mode, profile=profile, map=chosen, tokens=count, enforced=mode, lookalikes=3))
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


def large(found: tuple[Choice, ...] = LARGE, tools: int = 117, **more: Any) -> dict[str, Any]:
    return {"tools": tools, "baseline": 38_000, "choices": found, **more}


def mapped(tools: int = 117, **more: Any) -> dict[str, Any]:
    return large(LARGE + MAPS, tools, dispatches=True, **more)


ONLY_TEXT = choices(text_balanced=500)
ABSENT = "dispatch, made for this size, is not in this version"


@pytest.mark.parametrize(
    ("facts", "advice"),
    [
        pytest.param({"tools": 0, "baseline": 0}, ("passthrough", "balanced", "", None), id="nothing"),
        pytest.param(small(600), ("native", "balanced", "", None), id="small"),
        pytest.param(small(905), ("passthrough", "balanced", "", None), id="small, little saved"),
        pytest.param(middle(7_999, 6_000), ("native", "balanced", "", None), id="native"),
        pytest.param(middle(8_000, 6_000), ("native", "brief", "", None), id="native in brief"),
        pytest.param(middle(7_000, 6_400, context=65_000), ("native", "brief", "", None), id="small context"),
        pytest.param(large(), ("text", "brief", "", None), id="large"),
        pytest.param(large(context=32_000), ("text", "signature", "", 3_200), id="large, small context"),
        pytest.param(large(native=False), ("text", "balanced", "", NATIVE_TOKENS), id="no native calls"),
        pytest.param(large(ONLY_TEXT, 5, native=False), ("text", "balanced", "", None), id="no native calls, small"),
        pytest.param(large(LARGE[:3], text=False), ("native", "brief", "", NATIVE_TOKENS), id="no text calls"),
        pytest.param(large(dispatches=False), ("native", "balanced", "", NATIVE_TOKENS), id="dispatch unreliable"),
        pytest.param(
            large(LARGE[3:], 200, tool_limit=128, dispatches=False),
            ("text", "balanced", "", NATIVE_TOKENS),
            id="dispatch unreliable, too many",
        ),
        pytest.param(large(ONLY_TEXT, 200, tool_limit=128), ("text", "balanced", "", None), id="too many tools"),
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
            large(),
            f"native takes 15,000 tokens at least, over 8,000; {ABSENT}; "
            "text in brief takes 7,000 tokens, and the provider enforces nothing",
        ),
        (
            large(native=False, exact=False),
            "no native calls; text in balanced takes 11,000 tokens, over 8,000, hence the budget "
            "(tokens are estimates)",
        ),
        (
            large(ONLY_TEXT, 200, tool_limit=128),
            f"200 tools are over the provider's limit of 128; {ABSENT}; "
            "text in balanced takes 500 tokens, and the provider enforces nothing",
        ),
        (
            mapped(),
            "native takes 15,000 tokens at least, over 8,000; dispatch with hybrid takes 3,000; its price: "
            "the provider enforces dispatch alone, and each lookup is a turn more (0 expected)",
        ),
    ],
    ids=["nothing", "passthrough", "native", "context", "large", "text only", "too many", "dispatch"],
)
def test_a_reason_quotes_the_figures_it_stands_on(facts: dict[str, Any], says: str) -> None:
    assert reason(facts) == says


def test_a_way_out_is_named_where_none_is_left() -> None:
    with pytest.raises(ConfigError, match=r"200 tools are over .* allow text calls with text=True"):
        advise(Facts(tools=200, baseline=38_000, profile="balanced", tool_limit=128, text=False))


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
        (129, {"model": "gpt-5.2"}, "text"),
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
        stats = tscg.compile(tools, mode=choice.mode, profile=choice.profile, model=options.get("model")).stats
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
