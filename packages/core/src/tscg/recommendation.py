"""Which mode and profile fit a catalog: every candidate is compiled and counted, then a table of rules decides."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tscg.errors import CompileError, ConfigError
from tscg.ir import Catalog
from tscg.rules import RULES, Choice, Facts, Recommendation, Rule, advise

if TYPE_CHECKING:
    from tscg.models import ModelRow
    from tscg.modes.options import Mode
    from tscg.policy import Policy
    from tscg.profiles import Profile

__all__ = ["RULES", "Choice", "Facts", "Recommendation", "Rule", "advise", "advise_on", "recommend"]

# From the most prose to the least; the advice starts at the model's own profile and goes on until one fits.
LADDER = ("lossless", "conservative", "balanced", "brief", "signature")
# `signature` hides policy sentences, and native calls have no lookup to give them back.
NOT_NATIVE = frozenset({"signature"})

ENFORCED = {
    "passthrough": "what the provider does today",
    "native": "types, required, enums, nesting",
    "text": "nothing",
    "dispatch": "a string and an object",
    "code": "nothing",
}


def recommend(
    tools: object,
    model: str | None = None,
    context: int | None = None,
    native: bool = True,
    text: bool = True,
    *,
    tokenizer: object = None,
    policy: Policy | None = None,
) -> Recommendation:
    """Compile every candidate that the flags allow, count real tokens, and say which to take and why.

    ``context`` is the model's context in tokens; the model's row is asked where none is given. ``native`` and ``text``
    say which calls the caller can make. ``tokenizer`` counts in place of the model's, ``policy`` holds rows of one's
    own. Changes nothing. Raises ConfigError when neither is possible.

    >>> recommend([]).reason
    'nothing to send'
    """
    size: object = context
    if size is not None and (not isinstance(size, int) or isinstance(size, bool) or size < 1):
        raise ConfigError(f"context is {context!r}", hint="it is the model's context in tokens, 1 or more")
    catalog = Catalog.from_tools(tools)
    return advise_on(catalog, model, context=context, native=native, text=text, tokenizer=tokenizer, policy=policy)


def advise_on(
    catalog: Catalog,
    model: str | None,
    *,
    context: int | None = None,
    native: bool = True,
    text: bool = True,
    tokenizer: object = None,
    policy: Policy | None = None,
    profile: str | Profile | None = None,
) -> Recommendation:
    """The same for a catalog; with a ``profile`` named, that one alone is a candidate."""
    from tscg.models import row_of

    row = row_of(model) if policy is None else policy.row(model)
    calls = native and row.native
    if not calls and not text:
        reason = "" if row.native else f" with {model}"
        raise ConfigError(f"neither native nor text calls are possible{reason}", hint="allow text calls with text=True")
    context = context if context is not None else row.context
    chosen = _profile(model, len(catalog), context, policy) if profile is None else profile
    facts = Facts(
        tools=len(catalog), baseline=0, profile=chosen if isinstance(chosen, str) else chosen.name, context=context,
        tool_limit=row.tool_limit, native=calls, text=text, dispatches=row.dispatch, mode=row.mode, map=row.map,
        handles=row.handles, found=row.reason, code=row.code,
    )  # fmt: skip
    if not len(catalog):
        return advise(facts)
    candidates = list(_candidates(facts, chosen, only=profile is not None))
    found = advise(_counted(facts, catalog, candidates, model=model, tokenizer=tokenizer, row=row))
    profiles = {name if isinstance(name, str) else name.name: name for _, name in candidates}
    return _fitting(found, catalog, model, tokenizer, profiles.get(found.profile, found.profile))


def _profile(model: str | None, tools: int, context: int | None, policy: Policy | None) -> str | Profile:
    if policy is not None:
        return policy.choose(model, tools, context)[0]
    from tscg.models import choose_profile

    return choose_profile(model, tools, context)[0]


def _candidates(facts: Facts, chosen: str | Profile, only: bool) -> Iterator[tuple[Mode, str | Profile]]:
    """Mode and profile of each candidate, a mode's own from the most prose to the least."""
    from tscg.modes.options import MAPS, Code, Dispatch, Native, Passthrough, Text

    start = LADDER.index(facts.profile) if facts.profile in LADDER else LADDER.index("balanced")
    less = () if only else LADDER[start:]
    profiles = (chosen, *(profile for profile in less if profile != facts.profile))
    if facts.native and (facts.tool_limit is None or facts.tools <= facts.tool_limit):
        yield Passthrough(), chosen
        for profile in profiles:
            if only or profile not in NOT_NATIVE:
                yield Native(), profile
    if facts.text:
        for profile in profiles:
            yield Text(), profile
    if facts.native and (facts.dispatches or facts.mode == "dispatch"):
        for name in MAPS:
            yield Dispatch(map=name, handles=facts.handles or Dispatch.handles), chosen
    if facts.native and (facts.code or facts.mode == "code"):
        yield Code(), chosen


def _counted(
    facts: Facts,
    catalog: Catalog,
    candidates: list[tuple[Mode, str | Profile]],
    *,
    model: str | None,
    tokenizer: object,
    row: ModelRow,
) -> Facts:
    """The facts with every candidate compiled and counted."""
    import tscg
    from tscg.stats import baseline_tokens, tokens_of
    from tscg.tokenizers import is_exact, tokenizer_of

    counter = tokenizer_of(tokenizer, model)
    baseline = baseline_tokens(catalog, counter)
    choices = []
    for mode, profile in candidates:
        compiled = tscg.compile(catalog, mode=mode, profile=profile, model=model, tokenizer=tokenizer)
        tokens = tokens_of(compiled.prompt, compiled.wire_tools, counter)
        chosen = str(getattr(mode, "lines", ""))
        choices.append(
            Choice(
                mode=mode.name, profile=compiled.profile, map=chosen, tokens=tokens, enforced=ENFORCED[mode.name],
                share=None if facts.context is None else tokens / facts.context, saved=1 - tokens / baseline,
                lookalikes=compiled.sent.lookalikes, lookups=row.expected_lookups(chosen) if chosen else 0.0,
            )
        )  # fmt: skip
    return replace(facts, baseline=baseline, choices=tuple(choices), exact=is_exact(counter))


def _fitting(
    found: Recommendation, catalog: Catalog, model: str | None, tokenizer: object, profile: str | Profile
) -> Recommendation:
    """The advice without a budget that not even the names fit into."""
    if found.budget is None:
        return found
    import tscg

    try:
        tscg.compile(
            catalog, mode=found.options, profile=profile, model=model, tokenizer=tokenizer, budget=found.budget
        )
    except CompileError:
        reason = f"{found.reason.removesuffix(', hence the budget')}, which not even the names of the tools fit into"
        return replace(found, budget=None, reason=reason)
    return found
