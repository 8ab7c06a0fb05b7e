"""The table of rules that chooses a mode, and the values it works on: candidates that were counted, and the advice."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tscg.errors import ConfigError

if TYPE_CHECKING:
    from tscg.ir import JSON
    from tscg.modes.options import Mode

__all__ = ["NATIVE_TOKENS", "RULES", "Choice", "Facts", "Recommendation", "Rule", "advise"]

SMALL_RULE = 3  # the rules up to it send little, and programs would win nothing
SMALL = 1_500  # tokens of minified JSON: below it there is little to win
LEAST_SAVING = 0.10  # a smaller saving is not worth another form than the provider's own
NATIVE_TOKENS = 8_000  # most tokens of native tools, whatever the context
CONTEXT_SHARE = 0.10  # most of a known context that tools may take
SIGNATURE_SHARE = 0.03  # most of a known context for the richest map of dispatch
MOST_LOOKALIKES = 0.10  # share of a map's lines that may be told apart by a word of the name alone


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """One candidate: what it sends, in tokens, as a share of the context (None: not known) and against the baseline.

    ``enforced`` is what the provider holds the model to, ``lookalikes`` counts map lines that another one differs from
    by a word of the name alone, ``lookups`` are those expected of a request.
    """

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

    ``map`` and ``handles`` are set for dispatch, ``budget`` where no profile fits by itself; ``exact`` says whether the
    tokens are true counts.
    """

    mode: str
    profile: str
    map: str = ""
    handles: str = ""
    budget: int | None = None
    reason: str = ""
    choices: tuple[Choice, ...] = ()
    exact: bool = True

    @property
    def options(self) -> Mode:
        """The mode with its map and handles, for ``compile(tools, mode=advice.options, profile=advice.profile)``.

        >>> Recommendation(mode="dispatch", profile="balanced", map="signature", handles="names").options
        Dispatch(map='signature')
        """
        from tscg.modes.options import Dispatch, mode_of

        if self.mode == "dispatch":
            return mode_of(Dispatch(map=self.map or None, handles=self.handles or Dispatch.handles))
        return mode_of(self.mode)

    def to_dict(self) -> dict[str, JSON]:
        """The same as plain JSON values."""
        from dataclasses import asdict

        found: dict[str, JSON] = json.loads(json.dumps(asdict(self)))
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What the rules look at. ``native`` and ``text`` say which calls are possible.

    ``dispatches`` is False where the model does not do well with a dispatcher. ``map`` and ``handles`` are those that
    the model's row prefers, ``mode`` the one that was found best for it, each "" for none; ``found`` says where.
    ``code`` says that programs are an alternative.
    """

    tools: int
    baseline: int
    profile: str
    choices: tuple[Choice, ...] = ()
    context: int | None = None
    tool_limit: int | None = None
    native: bool = True
    text: bool = True
    dispatches: bool = True
    mode: str = ""
    map: str = ""
    handles: str = ""
    found: str = ""
    code: bool = False
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

    def mapped(self, name: str) -> Choice:
        """The candidate of dispatch with a map."""
        return next(choice for choice in self.of("dispatch") if choice.map == name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A row of the table of rules: applies where ``advice`` finds something to say."""

    number: int
    advice: Callable[[Facts], Recommendation | None]


def _nothing(facts: Facts) -> Recommendation | None:
    return None if facts.tools else Recommendation(mode="passthrough", profile=facts.profile, reason="nothing to send")


def _measured(facts: Facts) -> Recommendation | None:
    """The mode that a measurement found, where it is possible."""
    possible = facts.of(facts.mode) if facts.mode else ()
    if not possible:
        return None
    if facts.mode == "dispatch":
        return _dispatched(facts, facts.mapped(facts.map or "hybrid"), facts.found)
    found = next((choice for choice in possible if choice.profile == facts.profile), possible[0])
    return _advice(found, f"{facts.found} names {found.mode}; in {found.profile} it takes {found.tokens:,} tokens")


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
        saves = f"which saves {saved:.1%}, under {LEAST_SAVING:.0%}" if saved > 0 else "which saves nothing"
        return _advice(given, f"{size}, {saves}")
    return _advice(native, f"{size}, which saves {saved:.1%}")


def _native(facts: Facts) -> Recommendation | None:
    found = facts.fitting("native", facts.limit)
    if found is None:
        return None
    takes = f"native in {found.profile} takes {found.tokens:,} tokens, under {_limit(facts)}"
    if found.tokens >= facts.baseline:
        return _advice(facts.of("passthrough")[0], f"{takes}, and minified JSON no more")
    return _advice(found, takes)


def _unreliable(facts: Facts) -> Recommendation | None:
    if facts.dispatches:
        return None
    possible = facts.of("native") or facts.of("text")
    if not possible:
        raise ConfigError(
            f"{_no_native(facts)}, dispatch is unreliable with this model, and text calls are not allowed",
            hint="allow text calls with text=True",
        )
    return _bounded(facts, possible[0], "dispatch is unreliable with this model")


def _dispatch(facts: Facts) -> Recommendation | None:
    hybrid, signature, names = (facts.mapped(name) for name in ("hybrid", "signature", "names"))
    room = facts.context
    if facts.map:
        return _dispatched(facts, facts.mapped(facts.map), f"{_no_native(facts)}; {facts.found} names the map")
    found = hybrid
    if room is not None and signature.tokens <= room * SIGNATURE_SHARE:
        found = signature
    elif room is not None and hybrid.tokens >= room * CONTEXT_SHARE and _told_apart(facts, names):
        found = names
    return _dispatched(facts, found, _no_native(facts))


# First match wins.
RULES: tuple[Rule, ...] = (
    Rule(number=1, advice=_nothing),
    Rule(number=2, advice=_text_only),
    Rule(number=0, advice=_measured),  # what was measured for one's own model goes before the rules of thumb
    Rule(number=3, advice=_small),
    Rule(number=4, advice=_native),
    Rule(number=5, advice=_unreliable),
    Rule(number=6, advice=_dispatch),
)


def advise(facts: Facts) -> Recommendation:
    """The advice of the first rule that has one.

    >>> given = Choice(mode="passthrough", profile="balanced", tokens=900)
    >>> native = Choice(mode="native", profile="balanced", tokens=500)
    >>> advise(Facts(tools=6, baseline=900, profile="balanced", choices=(given, native))).reason
    'minified JSON takes 900 tokens, under 1,500; native takes 500, which saves 44.4%'
    """
    rule, found = next((rule, advice) for rule in RULES if (advice := rule.advice(facts)) is not None)
    reason = found.reason
    if facts.code and rule.number > SMALL_RULE:
        reason += "; programs (mode code) are an alternative with this model"
    if facts.tools and not facts.exact:
        reason += " (tokens are estimates)"
    return replace(found, reason=reason, choices=facts.choices, exact=facts.exact)


def _told_apart(facts: Facts, choice: Choice) -> bool:
    return choice.lookalikes < facts.tools * MOST_LOOKALIKES


def _dispatched(facts: Facts, choice: Choice, why: str) -> Recommendation:
    """Dispatch with a map, and its price."""
    alike = f", {choice.lookalikes:,} of whose lines differ from another by one word" if choice.lookalikes else ""
    price = f"the provider enforces {choice.enforced} alone, and each lookup is a turn more"
    reason = f"{why}; dispatch with {choice.map} takes {choice.tokens:,} tokens{alike}"
    found = _advice(choice, f"{reason}; its price: {price} ({choice.lookups:g} expected)")
    return replace(found, handles=facts.handles or "names")


def _no_native(facts: Facts) -> str:
    """Why native calls do not do."""
    native = facts.of("native")
    if not native:
        return f"{facts.tools:,} tools are over the provider's limit of {facts.tool_limit}"
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
