"""Which mode and profile fit a catalog: every candidate is compiled and counted, then a table of rules decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from tscg.errors import ConfigError
from tscg.ir import JSON, Catalog

__all__ = ["RULES", "Choice", "Facts", "Recommendation", "Rule", "advise", "recommend"]

SMALL = 1_500  # tokens of minified JSON: below it there is little to win
LEAST_SAVING = 0.10  # a smaller saving is not worth another form than the provider's own
NATIVE_TOKENS = 8_000  # most tokens of native tools, whatever the context
CONTEXT_SHARE = 0.10  # most of a known context that tools may take
SIGNATURE_SHARE = 0.03  # most of a known context for the richest map of dispatch
MOST_LOOKALIKES = 0.10  # share of a map's lines that may be told apart by a word of the name alone
DISPATCH = "Dispatch"  # the mode, advised where this `tscg` has it

# From the most prose to the least; the advice starts at the model's own profile and goes on until one fits.
LADDER = ("lossless", "conservative", "balanced", "brief", "signature")
# `signature` hides policy sentences, and native calls have no lookup to give them back.
NOT_NATIVE = frozenset({"signature"})

ENFORCED = {
    "passthrough": "what the provider does today",
    "native": "types, required, enums, nesting",
    "text": "nothing",
    "dispatch": "a string and an object",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One candidate: what it sends, in tokens, as a share of the context (None: not known) and against the baseline."""

    mode: str
    profile: str
    map: str = ""
    tokens: int
    share: float | None = None
    saved: float = 0.0
    enforced: str = ""
    lookalikes: int = 0
    lookups: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The advice: options for ``compile``, the reason with its figures, and every candidate that was counted.

    ``budget`` is set where no profile fits by itself; ``exact`` says whether the tokens are true counts.
    """

    mode: str
    profile: str
    map: str = ""
    budget: int | None = None
    reason: str = ""
    choices: tuple[Choice, ...] = ()
    exact: bool = True

    def to_dict(self) -> dict[str, JSON]:
        """The same as plain JSON values."""
        from dataclasses import asdict

        found: dict[str, JSON] = json.loads(json.dumps(asdict(self)))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the rules look at. ``native`` and ``text`` say which calls are possible, ``dispatches`` what is known of it.

    ``dispatches`` is False where the model does not do well with it, None where this version has no dispatch mode.
    """

    tools: int
    baseline: int
    profile: str
    choices: tuple[Choice, ...] = ()
    context: int | None = None
    tool_limit: int | None = None
    native: bool = True
    text: bool = True
    dispatches: bool | None = None
    exact: bool = True

    @property
    def limit(self) -> int:
        """Most tokens that tools may take."""
        share = NATIVE_TOKENS if self.context is None else int(self.context * CONTEXT_SHARE)
        return min(NATIVE_TOKENS, share)

    def of(self, mode: str) -> tuple[Choice, ...]:
        """The candidates of a mode, the most prose first."""
        return tuple(choice for choice in self.choices if choice.mode == mode)

    def fitting(self, mode: str, limit: int) -> Choice | None:
        """The candidate of a mode with the most prose that fits."""
        return next((choice for choice in self.of(mode) if choice.tokens < limit), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A row of the table of rules: applies where ``advice`` finds something to say."""

    number: int
    advice: Callable[[Facts], Recommendation | None]


def _nothing(facts: Facts) -> Recommendation | None:
    return None if facts.tools else Recommendation(mode="passthrough", profile=facts.profile, reason="nothing to send")


def _text_only(facts: Facts) -> Recommendation | None:
    if facts.native:
        return None
    return _bounded(facts, facts.of("text")[0], "no native calls")


def _small(facts: Facts) -> Recommendation | None:
    if facts.baseline >= SMALL or not facts.of("native"):
        return None
    given, native = facts.of("passthrough")[0], facts.of("native")[0]
    saved = 1 - native.tokens / given.tokens
    size = f"minified JSON takes {facts.baseline:,} tokens, under {SMALL:,}; native takes {native.tokens:,}"
    if saved < LEAST_SAVING:
        return _advice(given, f"{size}, which saves {saved:.1%}, under {LEAST_SAVING:.0%}")
    return _advice(native, f"{size}, which saves {saved:.1%}")


def _native(facts: Facts) -> Recommendation | None:
    found = facts.fitting("native", facts.limit)
    if found is None:
        return None
    return _advice(found, f"native in {found.profile} takes {found.tokens:,} tokens, under {_limit(facts)}")


def _unreliable(facts: Facts) -> Recommendation | None:
    if facts.dispatches is not False:
        return None
    possible = facts.of("native") or facts.of("text")
    return _bounded(facts, possible[0], "dispatch is unreliable with this model") if possible else None


def _dispatch(facts: Facts) -> Recommendation | None:
    if not facts.dispatches:
        return None
    hybrid, signature, names = (_mapped(facts, name) for name in ("hybrid", "signature", "names"))
    found = hybrid
    if facts.context is not None and signature.tokens <= facts.context * SIGNATURE_SHARE:
        found = signature
    elif hybrid.tokens >= facts.limit and names.lookalikes < facts.tools * MOST_LOOKALIKES:
        found = names
    price = f"the provider enforces {found.enforced} alone, and each lookup is a turn more ({found.lookups:g} expected)"
    return _advice(found, f"{_no_native(facts)}; dispatch with {found.map} takes {found.tokens:,}; its price: {price}")


def _large(facts: Facts) -> Recommendation:
    """The rule for all the rest, where this version has no dispatch mode."""
    why = f"{_no_native(facts)}; dispatch, made for this size, is not in this version"
    found = facts.fitting("text", facts.limit)
    if found is not None:
        takes = f"text in {found.profile} takes {found.tokens:,} tokens, and the provider enforces nothing"
        return _advice(found, f"{why}; {takes}")
    possible = facts.of("text") or facts.of("native")
    if not possible:
        raise ConfigError(
            f"{_no_native(facts)}, and text calls are not allowed", hint="allow text calls with text=True"
        )
    return _bounded(facts, possible[-1], why)


# First match wins.
RULES: tuple[Rule, ...] = (
    Rule(number=1, advice=_nothing),
    Rule(number=2, advice=_text_only),
    Rule(number=3, advice=_small),
    Rule(number=4, advice=_native),
    Rule(number=5, advice=_unreliable),
    Rule(number=6, advice=_dispatch),
    Rule(number=6, advice=_large),
)


def advise(facts: Facts) -> Recommendation:
    """The advice of the first rule that has one.

    >>> given = Choice(mode="passthrough", profile="balanced", tokens=900)
    >>> native = Choice(mode="native", profile="balanced", tokens=500)
    >>> advise(Facts(tools=6, baseline=900, profile="balanced", choices=(given, native))).reason
    'minified JSON takes 900 tokens, under 1,500; native takes 500, which saves 44.4%'
    """
    found = next(advice for rule in RULES if (advice := rule.advice(facts)) is not None)
    reason = found.reason if facts.exact or not facts.tools else f"{found.reason} (tokens are estimates)"
    return replace(found, reason=reason, choices=facts.choices, exact=facts.exact)


def _mapped(facts: Facts, name: str) -> Choice:
    return next(choice for choice in facts.of("dispatch") if choice.map == name)


def _no_native(facts: Facts) -> str:
    """Why native calls do not do."""
    native = facts.of("native")
    if not native:
        return f"{facts.tools} tools are over the provider's limit of {facts.tool_limit}"
    return f"native takes {native[-1].tokens:,} tokens at least, over {_limit(facts)}"


def _limit(facts: Facts) -> str:
    if facts.limit == NATIVE_TOKENS:
        return f"{NATIVE_TOKENS:,}"
    return f"{facts.limit:,}, {CONTEXT_SHARE:.0%} of the context"


def _advice(choice: Choice, reason: str, budget: int | None = None) -> Recommendation:
    return Recommendation(mode=choice.mode, profile=choice.profile, map=choice.map, reason=reason, budget=budget)


def _bounded(facts: Facts, choice: Choice, why: str) -> Recommendation:
    """A candidate, with a budget where it takes more than its share."""
    takes = f"{why}; {choice.mode} in {choice.profile} takes {choice.tokens:,} tokens"
    if choice.tokens < facts.limit:
        return _advice(choice, takes)
    return _advice(choice, f"{takes}, over {_limit(facts)}, hence the budget", facts.limit)


def recommend(
    tools: object, model: str | None = None, context: int | None = None, native: bool = True, text: bool = True
) -> Recommendation:
    """Compile every candidate that the flags allow, count real tokens, and say which to take and why.

    ``context`` is the model's context in tokens; the model's row is asked where none is given. ``native`` and ``text``
    say which calls the caller can make. Changes nothing. Raises ConfigError when neither is possible.

    >>> recommend([]).reason
    'nothing to send'
    """
    import tscg
    from tscg.models import choose_profile, row_of

    row = row_of(model)
    catalog = Catalog.from_tools(tools)
    native = native and row.native
    if not native and not text:
        reason = "" if row.native else f" with {model}"
        raise ConfigError(f"neither native nor text calls are possible{reason}", hint="allow text calls with text=True")
    facts = Facts(
        tools=len(catalog),
        baseline=0,
        profile=choose_profile(model, len(catalog), context)[0],
        context=context if context is not None else row.context,
        tool_limit=row.tool_limit,
        native=native,
        text=text,
        dispatches=False if not row.dispatch else True if hasattr(tscg, DISPATCH) else None,
    )
    return advise(_counted(facts, catalog, model) if catalog else facts)


def _counted(facts: Facts, catalog: Catalog, model: str | None) -> Facts:
    """The facts with every candidate compiled and counted."""
    import tscg

    choices = []
    for mode, profile, chosen in _candidates(facts):
        options: Any = getattr(tscg, DISPATCH)(map=chosen) if chosen else mode
        stats = tscg.compile(catalog, mode=options, profile=profile, model=model).stats
        share = None if facts.context is None else stats.tokens / facts.context
        choices.append(
            Choice(
                mode=mode, profile=profile, map=chosen, tokens=stats.tokens, share=share, saved=stats.saved,
                enforced=ENFORCED[mode], lookalikes=stats.lookalikes,
            )
        )  # fmt: skip
    return replace(facts, baseline=stats.baseline_tokens, choices=tuple(choices), exact=stats.exact)


def _candidates(facts: Facts) -> Iterator[tuple[str, str, str]]:
    """Mode, profile and map of each candidate, a mode's own from the most prose to the least."""
    start = LADDER.index(facts.profile) if facts.profile in LADDER else LADDER.index("balanced")
    profiles = (facts.profile, *(profile for profile in LADDER[start:] if profile != facts.profile))
    if facts.native and (facts.tool_limit is None or facts.tools <= facts.tool_limit):
        yield "passthrough", facts.profile, ""
        for profile in profiles:
            if profile not in NOT_NATIVE:
                yield "native", profile, ""
    if facts.text:
        for profile in profiles:
            yield "text", profile, ""
    if facts.dispatches:
        for name in ("hybrid", "signature", "names"):
            yield "dispatch", facts.profile, name
