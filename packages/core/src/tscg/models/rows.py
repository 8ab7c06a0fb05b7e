"""The rows of the policy table as data; the first that fits is taken."""

from __future__ import annotations

from dataclasses import replace

from tscg.models.table import OPENAI_STRICT, Bad, Evidence, ModelRow

__all__ = ["BAD_SMALL", "ROWS", "SMALL_MODELS"]

# --- evidence ---------------------------------------------------------------------------------------------------------

_PAPER = "Sakizli 2026, arXiv 2605.04107"
_FINDINGS = "github.com/SKZL-AI/tscg, findings/tscg-master-empirical-report-v1.4.2.md"

HUNGRY = Evidence(
    of=("archetype", "profile", "cfl", "cfo", "cas", "sad", "ccp", "answer_tag"),
    kind="paper",
    source=_PAPER,
    date="2026-05",
    says="operator-hungry: every operator contributes, and all eight together are best",
)
HUNGRY_AGAIN = Evidence(
    of=("ccp",),
    kind="report",
    source=_FINDINGS,
    date="2026-04",
    n=20,
    effect=0.2,
    says="43 tools: closure alone gains 20 points",
)
SENSITIVE = Evidence(
    of=("archetype", "cfo"), kind="paper", source=_PAPER, date="2026-05", effect=-0.05,
    says="operator-sensitive: causal order loses 5 points",
)  # fmt: skip
SENSITIVE_AGAIN = Evidence(
    of=("cfo",), kind="report", source=_FINDINGS, date="2026-04", n=40, effect=-0.05,
    says="43 tools: 67.5 % without causal order (as without compression), 62.5 % with it",
)  # fmt: skip
ROBUST = Evidence(
    of=("archetype",),
    kind="paper",
    source=_PAPER,
    date="2026-05",
    says="operator-robust: the choice of operators makes no difference",
)
SMALL_MODELS = Evidence(
    of=("profile", "dispatch", "bad"), kind="paper", source=_PAPER, date="2026-05",
    says="models below 10 B parameters, and all Qwen: filler out and structure in, no reordering, no repetition",
)  # fmt: skip
_TIKTOKEN = Evidence(
    of=("encoding",),
    kind="vendor",
    source="github.com/openai/tiktoken, tiktoken/model.py",
    says="the encoding of the model",
)
_OPENAI_TOOLS = Evidence(
    of=("tool_limit",),
    kind="vendor",
    source="github.com/openai/openai-openapi, pull request 76; error array_above_max_length",
    says="at most 128 tools in a request",
)
_GEMMA_TOOLS = Evidence(
    of=("native", "bad"), kind="seen", source="github.com/ollama/ollama, issue 9680", date="2025-03",
    says="gemma3 does not support tools: its template has no place for them",
)  # fmt: skip
_PHI_TOOLS = Evidence(
    of=("native", "bad"), kind="seen", source="github.com/ollama/ollama, issue 9647", date="2025-03",
    says="phi4 was not trained in tool use and its template takes no tools; phi4-mini does",
)  # fmt: skip


def _card(source: str, *of: str, says: str) -> Evidence:
    return Evidence(of=of, kind="vendor", source=source, says=says)


_QWEN_CARD = _card(
    "model cards of Qwen", "reasoning", "context", says="context without extension; thoughts between <think> tags"
)
_R1_CARD = _card("model card of DeepSeek-R1", "reasoning", says="the chat template itself opens <think>")
_LLAMA_CARD = _card(
    "model card of Llama 3.1", "context", "size", says="context of 128 K; an id without a size means 8 B"
)
_MISTRAL_CARD = _card(
    "model card of Mistral 7B v0.3", "context", "size", says="context of 32 K; an id without a size means 7 B"
)
_GEMMA_CARD = _card("model card of Gemma 3", "context", "size", says="context of 128 K; an id without a size means 4 B")
_PHI_CARD = _card("model card of Phi-4", "context", "size", says="context of 16 K, 14 B parameters")

_OPENAI_DESCRIPTIONS = Evidence(
    of=("description_limit",), kind="seen", source="github.com/getsentry/sentry-mcp, issue 106", date="2025-04",
    says="error string_above_max_length: a description takes at most 1,024 characters",
)  # fmt: skip
_OPENAI_STRICT_KEYWORDS = Evidence(
    of=("strict_keywords",), kind="vendor", source="platform.openai.com/docs, Structured Outputs, Supported schemas",
    says="what strict mode enforces; allOf, not, if and dependentRequired are not taken",
)  # fmt: skip
_CLAUDE_STRICT = Evidence(
    of=("strict_keywords",), kind="vendor",
    source="platform.claude.com/docs, Structured outputs, JSON Schema limitations",
    says="what strict tools enforce, from Claude 4.5 on: no bounds of numbers and lengths, no recursion",
)  # fmt: skip
_CLAUDE_45 = Evidence(
    of=("defer", "code"), kind="vendor", date="2025-11",
    source="anthropic.com/engineering/advanced-tool-use; docs.litellm.ai, Tool Search",
    says="tool search with deferred tools and programmatic tool calling, in Opus 4.5 and Sonnet 4.5",
)  # fmt: skip
_TOOLGZ = "github.com/dperussina/toolgz"
_HAIKU_DEFER = Evidence(
    of=("defer",), kind="report", source=f"{_TOOLGZ}, docs/RESULTS.md, round 3", date="2026-07", n=30, effect=-0.8,
    says="with deferred tools 6 of 30 tasks, 30 of 30 with all tools in the request: it answers without searching",
)  # fmt: skip
_GROK_CODES = Evidence(
    of=("handles", "bad"), kind="report", source=f"{_TOOLGZ}, specs/002-per-model-defaults", date="2026-07", n=36,
    effect=-0.19, says="a map of names without codes: 19 % of the runs ended without any call",
)  # fmt: skip
_GEMINI_SCHEMA = Evidence(
    of=("schema",), kind="vendor", source="ai.google.dev/api/caching, FunctionDeclaration",
    says="parameters takes a subset of OpenAPI; parametersJsonSchema, for JSON Schema, came with Gemini 2.5",
)  # fmt: skip

# What is known to do badly with every model below 10 B parameters, and with every Qwen.
BAD_SMALL = (
    Bad(
        modes=("dispatch",), source=_PAPER, date="2026-05",
        says="models below 10 B parameters, and all Qwen, need the schema in front of them",
    ),
    Bad(
        profile="aggressive", source=_PAPER, date="2026-05",
        says="models below 10 B parameters, and all Qwen: no reordering and no repetition",
    ),
)  # fmt: skip
NO_NATIVE = ("native", "dispatch", "passthrough")
CLAUDE_STRICT_KEYWORDS = frozenset("anyOf allOf $ref $defs const default format pattern minItems".split())

# --- rows: the first that fits is taken -------------------------------------------------------------------------------

OPENAI = ModelRow(
    tool_limit=128, description_limit=1_024, strict_keywords=OPENAI_STRICT,
    evidence=(_TIKTOKEN, _OPENAI_TOOLS, _OPENAI_DESCRIPTIONS, _OPENAI_STRICT_KEYWORDS),
)  # fmt: skip
CLAUDE_STRICT = ModelRow(strict_keywords=CLAUDE_STRICT_KEYWORDS, evidence=(_CLAUDE_STRICT,))

ROWS: tuple[ModelRow, ...] = (
    replace(
        CLAUDE_STRICT,
        id="claude-opus-4-7",
        family="claude-opus",
        version="4.7",
        archetype="hungry",
        profile="aggressive",
        cfl=True,
        cfo=True,
        cas=True,
        sad=True,
        ccp=True,
        answer_tag=True,
        evidence=(HUNGRY, HUNGRY_AGAIN, _CLAUDE_STRICT),
    ),
    ModelRow(id="claude-sonnet-4", family="claude-sonnet", version="4", archetype="robust", evidence=(ROBUST,)),
    replace(
        OPENAI,
        id="gpt-5.2",
        family="gpt",
        version="5.2",
        archetype="sensitive",
        cfo=False,
        evidence=(SENSITIVE, SENSITIVE_AGAIN, *OPENAI.evidence),
    ),
    ModelRow(
        id="grok-4.5",
        family="grok",
        version="4.5",
        handles="codes",
        evidence=(_GROK_CODES,),
        bad=(
            Bad(
                modes=("dispatch",),
                map="names",
                handles="names",
                n=36,
                date="2026-07",
                says="19 % of the runs ended without any call, where codes had none such",
                source=_TOOLGZ,
            ),
        ),
    ),
    replace(
        CLAUDE_STRICT, family="claude-opus", version="4.5", defer=True, code=True, evidence=(_CLAUDE_STRICT, _CLAUDE_45)
    ),
    replace(
        CLAUDE_STRICT,
        family="claude-sonnet",
        version="4.5",
        defer=True,
        code=True,
        evidence=(_CLAUDE_STRICT, _CLAUDE_45),
    ),
    replace(CLAUDE_STRICT, family="claude-opus", version="4.6..6"),
    replace(CLAUDE_STRICT, family="claude-sonnet", version="4.6..6"),
    replace(CLAUDE_STRICT, family="claude-haiku", version="4.5", evidence=(_CLAUDE_STRICT, _HAIKU_DEFER)),
    ModelRow(family="claude-opus", variants=True),
    ModelRow(family="claude-sonnet", variants=True),
    ModelRow(family="claude-haiku", variants=True),
    replace(OPENAI, family="gpt-4o", variants=True),
    ModelRow(family="gpt-oss", encoding="o200k_harmony", variants=True, evidence=(_TIKTOKEN,)),
    replace(OPENAI, family="gpt", version="4.1..6", variants=True),
    replace(OPENAI, family="gpt", version="35", encoding="cl100k_base", variants=True),  # as one provider spells 3.5
    replace(OPENAI, family="gpt", version="3.5..4.1", encoding="cl100k_base", variants=True),
    replace(OPENAI, family="o", version="1..5", variants=True),
    ModelRow(family="gemini", version="2.5..4", variants=True),
    ModelRow(family="gemini", schema="openapi", variants=True, evidence=(_GEMINI_SCHEMA,)),
    ModelRow(family="grok", variants=True),
    ModelRow(
        family="qwen",
        version="3..4",
        profile="conservative",
        dispatch=False,
        reasoning="tags",
        context=32_768,
        variants=True,
        bad=BAD_SMALL,
        evidence=(SMALL_MODELS, _QWEN_CARD),
    ),
    ModelRow(
        family="qwen", profile="conservative", dispatch=False, variants=True, bad=BAD_SMALL, evidence=(SMALL_MODELS,)
    ),
    ModelRow(family="llama", version="3.1..3.2", context=131_072, size=8.0, variants=True, evidence=(_LLAMA_CARD,)),
    ModelRow(family="llama", variants=True),
    ModelRow(family="mistral", version="0.3", context=32_768, size=7.0, evidence=(_MISTRAL_CARD,)),
    ModelRow(family="mistral", size=7.0, evidence=(_MISTRAL_CARD,)),
    ModelRow(family="mistral", variants=True),
    ModelRow(
        family="gemma",
        version="3..4",
        native=False,
        context=131_072,
        size=4.0,
        variants=True,
        bad=(
            Bad(
                modes=NO_NATIVE,
                says="its template has no place for tools",
                source=_GEMMA_TOOLS.source,
                date="2025-03",
            ),
        ),
        evidence=(_GEMMA_TOOLS, _GEMMA_CARD),
    ),
    ModelRow(
        family="phi",
        version="4",
        native=False,
        context=16_384,
        size=14.0,
        evidence=(_PHI_TOOLS, _PHI_CARD),
        bad=(Bad(modes=NO_NATIVE, says="its template takes no tools", source=_PHI_TOOLS.source, date="2025-03"),),
    ),
    ModelRow(family="phi", variants=True),
    ModelRow(family="deepseek-r1", reasoning="prefilled", variants=True, evidence=(_R1_CARD,)),
    ModelRow(family="deepseek", variants=True),
)
