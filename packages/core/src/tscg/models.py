"""What is known of models, as data: a row per model or family, with the source of each figure.

A row is found by the exact id of a model, else by its family and version; parts of names are never guessed at ("opus"
in a name says nothing). A variant (mini, codex, a fine-tuned one) is another model than the one that was tested: it
takes the row of its family and not the row of the tested model. What no row says has its default, and the reason says
so.

Findings on the operators come from others' measurements (kind ``paper`` and ``report``); they choose defaults and
nothing else. A row of one's own measurements goes before them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

__all__ = [
    "CAUSAL_TOOLS",
    "MIN_EFFECT",
    "MIN_RUNS",
    "ROWS",
    "SMALL",
    "Evidence",
    "ModelRow",
    "Spoken",
    "active",
    "choose_profile",
    "read_id",
    "row_of",
]

CAUSAL_TOOLS = 30
"""From this number of tools on CFL and CFO are off: the paper found them harmful with 43 tools, and not with 20."""
SMALL = 10.0
"""Billions of parameters below which a model is small: it gets ``conservative``, since it copies values out of the
prose."""
TIGHT = 0.25
"""Share of a known context that the catalog should not exceed; beyond it ``auto`` takes ``brief``."""
TOKENS_PER_TOOL = 84
"""Tokens of a tool in ``balanced``: 300 in minified JSON over catalogs of 18 real servers, of which 28 % stay."""
MIN_RUNS = 36
"""Runs that a finding of one's own needs to be a row: fewer say nothing about differences of a few points."""
MIN_EFFECT = 0.05
"""Effect (share of tasks) that such a finding needs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Where figures of a row come from. ``of`` names the fields; ``n`` runs per condition and ``effect`` where it is a
    finding.

    ``paper`` and ``report`` are findings that others published, ``vendor`` what the maker says, ``seen`` an error that
    users reported, ``measured`` a finding of one's own with its ``record``.
    """

    of: tuple[str, ...]
    kind: Literal["paper", "report", "vendor", "seen", "measured"]
    source: str
    says: str
    n: int = 0
    effect: float = 0.0
    date: str = ""
    record: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One row. ``id`` is an exact id, or ``family`` with ``version`` ("" any, "4.7" that one, "3..4" from 3 to before
    4).

    ``variants`` says that mini, codex and the like take the row too. ``encoding`` is the tokenizer whose table of
    spellings is taken (o200k_base where the model's own is not published). Of ``cfl`` ... ``ccp``, True asks for an
    operator, False forbids it, None leaves it to the profile. ``native``: tools go into a field of the request.
    ``dispatch``: calls through a dispatcher are reliable. ``tool_limit``: most tools that the provider takes.
    ``dialect``: the call syntax that the prompt teaches. ``reasoning``: how thoughts show in the text. ``context``:
    tokens, None where unknown. ``size``: billions of parameters where the id gives none.
    """

    id: str = ""
    family: str = ""
    version: str = ""
    variants: bool = False
    archetype: str = ""
    encoding: str = "o200k_base"
    profile: str = "balanced"
    cfl: bool | None = None
    cfo: bool | None = None
    cas: bool | None = None
    sad: bool | None = None
    ccp: bool | None = None
    answer_tag: bool = False
    native: bool = True
    dispatch: bool = True
    tool_limit: int | None = None
    dialect: str = "tool_call"
    reasoning: Literal["none", "tags", "prefilled"] = "none"
    context: int | None = None
    size: float | None = None
    evidence: tuple[Evidence, ...] = ()
    reason: str = ""


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
    of=("profile", "dispatch"), kind="paper", source=_PAPER, date="2026-05",
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
    of=("native",), kind="seen", source="github.com/ollama/ollama, issue 9680", date="2025-03",
    says="gemma3 does not support tools: its template has no place for them",
)  # fmt: skip
_PHI_TOOLS = Evidence(
    of=("native",), kind="seen", source="github.com/ollama/ollama, issue 9647", date="2025-03",
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

# --- rows: the first that fits is taken -------------------------------------------------------------------------------

ROWS: tuple[ModelRow, ...] = (
    ModelRow(
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
        evidence=(HUNGRY, HUNGRY_AGAIN),
    ),
    ModelRow(id="claude-sonnet-4", family="claude-sonnet", version="4", archetype="robust", evidence=(ROBUST,)),
    ModelRow(
        id="gpt-5.2",
        family="gpt",
        version="5.2",
        archetype="sensitive",
        cfo=False,
        tool_limit=128,
        evidence=(SENSITIVE, SENSITIVE_AGAIN, _TIKTOKEN, _OPENAI_TOOLS),
    ),
    ModelRow(family="claude-opus", variants=True),
    ModelRow(family="claude-sonnet", variants=True),
    ModelRow(family="claude-haiku", variants=True),
    ModelRow(family="gpt-4o", tool_limit=128, variants=True, evidence=(_TIKTOKEN, _OPENAI_TOOLS)),
    ModelRow(family="gpt-oss", encoding="o200k_harmony", variants=True, evidence=(_TIKTOKEN,)),
    ModelRow(family="gpt", version="4.1..6", tool_limit=128, variants=True, evidence=(_TIKTOKEN, _OPENAI_TOOLS)),
    ModelRow(
        family="gpt",
        version="35",
        encoding="cl100k_base",
        tool_limit=128,
        variants=True,
        evidence=(_TIKTOKEN, _OPENAI_TOOLS),
    ),  # gpt-35-turbo, as one provider spells it
    ModelRow(
        family="gpt",
        version="3.5..4.1",
        encoding="cl100k_base",
        tool_limit=128,
        variants=True,
        evidence=(_TIKTOKEN, _OPENAI_TOOLS),
    ),
    ModelRow(family="o", version="1..5", tool_limit=128, variants=True, evidence=(_TIKTOKEN, _OPENAI_TOOLS)),
    ModelRow(family="gemini", variants=True),
    ModelRow(
        family="qwen",
        version="3..4",
        profile="conservative",
        dispatch=False,
        reasoning="tags",
        context=32_768,
        variants=True,
        evidence=(SMALL_MODELS, _QWEN_CARD),
    ),
    ModelRow(family="qwen", profile="conservative", dispatch=False, variants=True, evidence=(SMALL_MODELS,)),
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
        evidence=(_GEMMA_TOOLS, _GEMMA_CARD),
    ),
    ModelRow(family="phi", version="4", native=False, context=16_384, size=14.0, evidence=(_PHI_TOOLS, _PHI_CARD)),
    ModelRow(family="phi", variants=True),
    ModelRow(family="deepseek-r1", reasoning="prefilled", variants=True, evidence=(_R1_CARD,)),
    ModelRow(family="deepseek", variants=True),
)

#: Words that begin the ids of a family, the longest first; a second name of a family stands beside it.
FAMILIES: dict[tuple[str, ...], str] = {
    ("claude", "opus"): "claude-opus", ("claude", "sonnet"): "claude-sonnet", ("claude", "haiku"): "claude-haiku",
    ("gpt", "4o"): "gpt-4o", ("chatgpt", "4o"): "gpt-4o", ("gpt", "oss"): "gpt-oss", ("gpt",): "gpt", ("o",): "o",
    ("gemini",): "gemini", ("qwen",): "qwen", ("meta", "llama"): "llama", ("llama",): "llama", ("mistral",): "mistral",
    ("gemma",): "gemma", ("phi",): "phi", ("deepseek", "r1"): "deepseek-r1", ("deepseek",): "deepseek",
}  # fmt: skip
#: Words of an id that make no other model: how it was packed, and that it was trained to answer.
PLAIN = frozenset(
    "instruct it chat latest preview v hf gguf awq gptq mlx fp8 fp16 bf16 int4 int8 q2 q3 q4 q5 q6 q8 k s m l 0 "
    "1".split()
)


# --- ids --------------------------------------------------------------------------------------------------------------


class Spoken(NamedTuple):
    """What the id of a model says: family ("" for one that is not known), version, billions of parameters, is it a
    variant."""

    family: str
    version: tuple[int, ...]
    size: float | None
    variant: bool


def read_id(model: str) -> Spoken:
    """Read an id, with or without the prefix of a provider.

    >>> read_id("ollama/qwen3:4b"), read_id("claude-3-5-sonnet-20241022").version
    (Spoken(family='qwen', version=(3,), size=4.0, variant=False), (3, 5))
    >>> read_id("openai:gpt-5.2-2025-12-11") == read_id("gpt-5.2"), read_id("gpt-5.2-mini").variant
    (True, True)
    """
    name = model.strip().lower().rpartition("/")[2]
    behind = name.partition(":")[2]
    if behind and (found := _read(behind)).family:  # openai:gpt-5.2; in qwen3:4b no family stands behind the colon
        return found
    return _read(name)


def _read(name: str) -> Spoken:
    parts = _parts(name)
    names = [part for part in parts if not _is_number(part) and _size(part) is None]
    key = next((key for length in (2, 1) if (key := tuple(names[:length])) in FAMILIES), ())
    size = next((found for part in parts if (found := _size(part)) is not None), None)
    rest = [part for part in names[len(key) :] if part not in PLAIN]
    return Spoken(FAMILIES.get(key, ""), _version(parts), size, bool(rest))


def _parts(name: str) -> list[str]:
    """The words of an id; the first one, and a ``v`` before a number, are cut from the number that is glued to them."""
    for mark in "-_:@ ":
        name = name.replace(mark, " ")
    parts: list[str] = []
    for i, part in enumerate(name.split()):
        letters = part.rstrip("0123456789.")
        glued = letters != part and letters.isalpha() and (i == 0 or letters == "v")
        parts += [letters, part[len(letters) :]] if glued else [part]
    return parts


def _is_number(part: str) -> bool:
    return part.replace(".", "").isdecimal()


def _version(parts: Sequence[str]) -> tuple[int, ...]:
    """The first numbers in a row, without dates: claude-opus-4-7, gpt-5.2, qwen3."""
    found: list[int] = []
    for part in parts:
        if not _is_number(part) or len(part) > 4:
            if found:
                break
            continue
        numbers = [int(number) for number in part.split(".") if number]
        if max(numbers) > 99:  # a year, or a month and day
            break
        found += numbers
        if "." in part:
            break
    while len(found) > 1 and found[-1] == 0:
        found.pop()
    return tuple(found[:3])


def _size(part: str) -> float | None:
    """Billions of parameters of a word like 4b or 1.5b."""
    number = part[:-1]
    return float(number) if part.endswith("b") and _is_number(number) and number.count(".") < 2 else None


def _fits(row: ModelRow, spoken: Spoken) -> bool:
    if row.family != spoken.family or (spoken.variant and not row.variants):
        return False
    if not row.version:
        return True
    low, ranged, high = row.version.partition("..")
    if not ranged:
        return spoken.version == _numbers(low)
    return bool(spoken.version) and _numbers(low) <= spoken.version < _numbers(high)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split("."))


# --- choice -----------------------------------------------------------------------------------------------------------


def row_of(model: str | None, rows: Sequence[ModelRow] = ()) -> ModelRow:
    """The row of a model, with the reason in words; ``rows`` of one's own go before those of the package.

    >>> row_of("openai/gpt-5.2").cfo, row_of("gpt-5.2-mini").cfo, row_of("my-gpt-5.2-clone").reason
    (False, None, "no row for the model 'my-gpt-5.2-clone': defaults")
    """
    if not model:
        return ModelRow(reason="no model named: defaults")
    every = (*rows, *ROWS)
    last = model.rpartition("/")[2]
    exact = next((row for row in every if row.id and row.id in (model, last, last.partition(":")[2])), None)
    spoken = read_id(model)
    if exact is not None:
        return _sized(replace(exact, reason=f"the row of {exact.id}"), spoken.size)
    found = next((row for row in every if row.family and spoken.family and _fits(row, spoken)), None)
    if found is None:
        return _sized(ModelRow(reason=f"no row for the model {model!r}: defaults"), spoken.size)
    if found.id and not spoken.variant:
        return _sized(replace(found, reason=f"the row of {found.id}"), spoken.size)
    version = f" {found.version}" if found.version else ""
    return _sized(replace(found, reason=f"the row of the family {found.family}{version}"), spoken.size)


def _sized(row: ModelRow, size: float | None) -> ModelRow:
    """The row for a size: a small model is treated as one, whatever its family."""
    size = row.size if size is None else size
    if size is None or size >= SMALL or any(one.kind == "measured" for one in row.evidence):
        return replace(row, size=size)
    known = row.evidence if SMALL_MODELS in row.evidence else (*row.evidence, SMALL_MODELS)
    reason = f"{row.reason}; {size:g} B parameters, below {SMALL:g} B"
    return replace(row, size=size, profile="conservative", dispatch=False, evidence=known, reason=reason)


def choose_profile(
    model: str | None, tools: int, context: int | None = None, rows: Sequence[ModelRow] = ()
) -> tuple[str, str]:
    """The profile of ``auto`` for a model and a number of tools, and the reason in words.

    ``context`` is the tokens that the model reads, where they are known.

    >>> choose_profile(None, 10)
    ('balanced', 'no model named: defaults')
    >>> choose_profile("ollama/llama3.1:8b", 10)[0], choose_profile("claude-opus-4-7", 10)[0]
    ('conservative', 'aggressive')
    """
    row = row_of(model, rows)
    name, reason = row.profile, row.reason
    if name == "aggressive" and tools >= CAUSAL_TOOLS:
        reason += f"; {tools} tools: no CFL and CFO from {CAUSAL_TOOLS} on"
    if name == "balanced" and context and tools * TOKENS_PER_TOOL > context * TIGHT:
        share = f"{TIGHT:.0%}".replace("%", " %")
        return (
            "brief",
            f"{reason}; about {tools * TOKENS_PER_TOOL:,} tokens are more than {share} of a context of {context:,}",
        )
    return name, reason


def active(asked: frozenset[str], row: ModelRow, tools: int) -> frozenset[str]:
    """Of the operators that a profile asks for (``"cfl"``, ``"cfo"``, ``"cas"``, ``"sad"``, ``"ccp"`` ...) those that
    run.

    Left out are those that the model's row forbids, and CFL and CFO from 30 tools on.

    >>> sorted(active(frozenset({"sdm", "cfl", "cfo"}), row_of("gpt-5.2"), tools=12))
    ['cfl', 'sdm']
    """
    forbidden = {name for name in ("cfl", "cfo", "cas", "sad", "ccp") if getattr(row, name) is False}
    if tools >= CAUSAL_TOOLS:
        forbidden |= {"cfl", "cfo"}
    return asked - forbidden
