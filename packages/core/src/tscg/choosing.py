"""Options that depend on the model: what ``"auto"`` stands for, and what is known of the combination."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tscg.errors import ConfigError
from tscg.models import active, choose_profile, known_bad, row_of
from tscg.modes.options import Mode, Native, Passthrough, mode_of
from tscg.modes.work import Choice
from tscg.policy import Policy
from tscg.profiles import Profile, profile_of

if TYPE_CHECKING:
    from tscg.ir import Catalog
    from tscg.rules import Recommendation

__all__ = ["choose"]


def choose(
    catalog: Catalog, mode: Any, profile: Any, model: str | None, *, tokenizer: object, budget: int | None,
    strict_policy: bool,
) -> Choice:  # fmt: skip
    """The options for a model. ConfigError for a wrong option, and under ``strict_policy`` for a combination that is
    known to be bad."""
    policy = profile if isinstance(profile, Policy) else None
    row = row_of(model) if policy is None else policy.row(model)
    own = policy is not None or profile == "auto"
    reasons: list[str] = []
    resolved: Profile
    if own:
        resolved, reason = _own(model, len(catalog), row.context, policy)
        reasons.append(reason)
    else:
        resolved = profile_of(profile)
    if mode == "auto":
        advice = _advice(catalog, model, tokenizer, policy, None if own else resolved)
        mode, reason = _with_budget(advice, budget)
        budget = advice.budget if budget is None else budget
        reasons.append(reason)
        if advice.profile != resolved.name:  # less prose than the row asks for, so that it fits
            resolved = profile_of(advice.profile)
    options = mode_of(mode)
    warnings = known_bad(row, model, options, resolved.name) if model else ()
    if warnings and strict_policy:
        raise ConfigError(warnings[0], hint="choose another mode or profile, or leave strict_policy out")
    asks = active(resolved.asks, row, len(catalog))
    return Choice(
        mode=options, profile=resolved, encoding=row.encoding, dialect=row.dialect, active=asks, budget=budget,
        before=_answer_tag(row, resolved), reasons=tuple(reasons), warnings=warnings,
    )  # fmt: skip


def _own(model: str | None, tools: int, context: int | None, policy: Policy | None) -> tuple[Profile, str]:
    """The profile of the model's row."""
    if policy is not None:
        return policy.choose(model, tools, context)
    name, reason = choose_profile(model, tools, context)
    return profile_of(name), reason


def _advice(
    catalog: Catalog, model: str | None, tokenizer: object, policy: Policy | None, profile: str | Profile | None
) -> Recommendation:
    from tscg.recommendation import advise_on

    return advise_on(catalog, model, tokenizer=tokenizer, policy=policy, profile=profile)


def _with_budget(advice: Recommendation, budget: int | None) -> tuple[Mode, str]:
    """The mode of the advice; passthrough takes no budget, and native has room for one."""
    options = advice.options
    if budget is None or not isinstance(options, Passthrough) or not advice.choices:
        return options, advice.reason
    return Native(), f"{advice.reason}; native, since a budget is given"


def _answer_tag(row: Any, profile: Profile) -> str:
    if not row.answer_tag or "cfl" not in profile.asks:
        return ""
    from tscg.operators.cfl import answer_tag

    return answer_tag(row)
