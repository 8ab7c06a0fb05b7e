"""What a provider bills beside what the text takes: read from the usage that it states, failures and all."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tscg_bench", reason="tscg-bench is not installed")
pytest.importorskip("scipy", reason="tscg-bench is not installed")

import tscg
from tscg.demo.models import Answer, Message, ModelError
from tscg_bench import usage
from tscg_bench.tune_models import InspectModel, model_of

TOOLS: list[dict[str, Any]] = [
    {
        "name": f"{verb}_order",
        "description": f"{verb.capitalize()} an order of the shop. The order must not have been sent yet.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "order_id": {"type": "string", "description": "The identifier of the order, as in ord-1."},
                "reason": {"type": "string", "enum": ["wish", "fraud", "stock"], "description": "Why it is done."},
            },
            "required": ["order_id"],
        },
    }
    for verb in ("cancel", "change", "repeat", "split")
]


@pytest.fixture(scope="module")
def catalog() -> tscg.Catalog:
    return tscg.Catalog.from_tools(TOOLS)


class Provider:
    """Bills ten tokens of its own, a token a word of the messages, and ten for each tool, however long it is."""

    label = "provider"
    catalog_model = None

    def __init__(self, *, counts: bool = True, most: int = 10_000) -> None:
        self.counts, self.most = counts, most

    def answer(self, messages: Sequence[Message], tools: Sequence[Message], stop: Sequence[str] = ()) -> Answer:
        tokens = 10 + sum(len(str(message["content"]).split()) for message in messages) + 10 * len(tools)
        if tokens > self.most:
            raise ModelError("too long")
        return Answer(output="OK", input_tokens=tokens) if self.counts else Answer(output="OK")


def test_both_figures(catalog: tscg.Catalog) -> None:
    native, text = usage.measure_usage(Provider(), catalog, ("native", "text/brief"))
    compiled = tscg.compile(catalog, profile="brief")
    assert (native.billed, text.billed) == (40, len(compiled.prompt.split()))
    assert (native.text, text.text) == (compiled.stats.baseline_tokens, compiled.stats.tokens)
    saved = text.saved(native)
    assert saved == pytest.approx((compiled.stats.saved, 1 - (text.billed or 0) / 40), abs=1e-6)


def test_a_condition_that_is_refused(catalog: tscg.Catalog) -> None:
    rows = usage.measure_usage(Provider(most=60), catalog, ("native", "json"))
    assert (rows[1].billed, rows[1].failure, rows[1].saved(rows[0])[1]) == (None, "too long", None)
    table = usage.usage_table(rows).splitlines()
    assert table[2].split("|")[4].strip() == "40"
    assert table[3].split("|")[4].strip() == "too long"


def test_a_provider_that_counts_nothing(catalog: tscg.Catalog) -> None:
    with pytest.raises(ModelError, match="does not say how many tokens"):
        usage.measure_usage(Provider(counts=False), catalog)


def test_wrong_options(tmp_path: Path) -> None:
    with pytest.raises(tscg.ConfigError, match="--model"):
        usage.main(["tools.json"])
    file = tmp_path / "tools.json"
    file.write_text(json.dumps(TOOLS))
    with pytest.raises(tscg.ConfigError, match="unknown condition 'nothing'"):
        usage.main([str(file), "--model", "ollama:x", "--conditions", "nothing"])


# A package below Inspect warns of another one of its own.
TENACITY = pytest.mark.filterwarnings("ignore:The 'initial' parameter is deprecated:DeprecationWarning")

# --- models of Inspect ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def inspect_model() -> InspectModel:
    """Inspect's own model of tests, which answers what it is given."""
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    from inspect_ai.model import ModelOutput, get_model
    from inspect_ai.model import ModelUsage as Counted

    first = ModelOutput.from_content("mockllm/model", "Hello")
    second = ModelOutput.for_tool_call("mockllm/model", "cancel_order", {"order_id": "ord-1"})
    third = ModelOutput.from_content("mockllm/model", "Cut", stop_reason="max_tokens")
    for output in (first, second, third):
        output.usage = Counted(input_tokens=7, output_tokens=2, total_tokens=109, input_tokens_cache_read=100)
    return InspectModel(spec="mockllm/model", model=get_model("mockllm/model", custom_outputs=[first, second, third]))


@TENACITY
def test_answers_through_inspect(catalog: tscg.Catalog, inspect_model: InspectModel) -> None:
    asked: list[Message] = [{"role": "system", "content": "S"}, {"role": "user", "content": "Hi"}]
    compiled = tscg.compile(catalog, "native")
    said = inspect_model.answer(asked, [])
    assert (said.output, said.input_tokens, said.output_tokens) == ("Hello", 107, 2)
    called = inspect_model.answer(asked, compiled.to_openai())
    assert isinstance(called.output, dict)
    (call,) = compiled.decode(called.output).calls
    assert (call.name, call.arguments) == ("cancel_order", {"order_id": "ord-1"})
    assert inspect_model.answer(asked, []).finish_reason == "length"
    result: Message = {"role": "tool", "tool_call_id": call.id, "content": "Cancelled."}
    with pytest.raises(ModelError, match="mockllm/model"):
        inspect_model.answer([*asked, called.output, result], [])  # it has no fourth answer


def test_models_by_name() -> None:
    assert model_of("ollama:phi4").label.startswith("phi4 at")
    with pytest.raises(tscg.ConfigError, match="unknown model 'phi4'"):
        model_of("phi4")
    with pytest.raises(tscg.ConfigError, match="no file"):
        model_of("absent.gguf")


def test_an_unknown_provider() -> None:
    pytest.importorskip("inspect_ai", reason="inspect-ai is not installed")
    with pytest.raises(tscg.ConfigError, match="nobody/model"):
        model_of("nobody/model")
