"""``compile``: from tools to a compiled catalog."""

from __future__ import annotations

import gc
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from operator import attrgetter

from tscg.errors import ConfigError
from tscg.formats.read import read_catalog
from tscg.ir import Catalog
from tscg.language.spelling import SPELLINGS
from tscg.modes.compiled import CompiledCatalog
from tscg.modes.options import Dispatch, Mode, Native, Passthrough, Text, mode_of
from tscg.modes.work import Choice, Fitted, Work
from tscg.pipeline import arranged, led, rewritten
from tscg.profiles import Profile, profile_of
from tscg.record import replace
from tscg.taught import TAUGHT

TYPE_CHECKING = False  # `typing` is slow to import, and annotations alone need it
if TYPE_CHECKING:
    from typing import Any

    from tscg.decoding import Decoding
    from tscg.modes.append import Past
    from tscg.policy import Policy

__all__ = ["compile"]

KEPT = 64  # compiled forms kept beside each catalog
_NAME = attrgetter("name")
_lock = threading.Lock()


def compile(
    tools: Any,
    mode: str | Mode = "text",
    profile: str | Profile | Policy = "balanced",
    *,
    model: str | None = None,
    tokenizer: object = None,
    budget: int | None = None,
    order: str | None = None,
    on_error: str = "raise",
    on_duplicate: str = "prefix",
    pin: Sequence[str] = (),
    notes: Mapping[str, object] | None = None,
    previous: CompiledCatalog | None = None,
    must_call: bool = False,
    parallel: bool = True,
    decoding: str | Decoding = "safe",
    uses: Mapping[str, int] | None = None,
    strict_policy: bool = False,
) -> CompiledCatalog:
    """Compile tools for a model.

    ``tools`` is a list in any mix of the accepted forms, or a :class:`tscg.Catalog`. ``mode`` is a name or an options
    object, ``profile`` a name, ``"auto"`` (chosen by model and size), a :class:`tscg.Profile` or a
    :class:`tscg.Policy`. ``budget`` is the most tokens that prompt and wire tools may take. ``order="given"`` keeps the
    order of the tools (else by server and name). ``pin`` names tools that get a wire tool of their own beside the
    prompt of ``text``, ``dispatch`` or ``code``. ``notes`` are lines for the map of ``dispatch`` by tool. ``previous``
    is an earlier compilation to go on from: its text stays a prefix, byte for byte, and what is new goes behind it.
    ``must_call`` and ``parallel=False`` add the sentence that a call is required, or only one allowed. ``uses`` are use
    counts by tool for the profiles that order tools. ``strict_policy`` refuses what the table of models knows to do
    badly, which is a warning else.

    The same input gives the same bytes everywhere. Raises :class:`tscg.CompileError` for tools that cannot be compiled
    and :class:`tscg.ConfigError` for wrong options.

    >>> compiled = compile([{"name": "ping", "description": "Health check"}])
    >>> compiled.text
    'ping() Health check'
    """
    with _Uncollected():
        catalog = (
            tools if isinstance(tools, Catalog) else read_catalog(tools, on_error=on_error, on_duplicate=on_duplicate)
        )
        pinned = (pin,) if isinstance(pin, str) else tuple(pin)
        counts = None if uses is None else tuple(sorted(uses.items()))
        said = None if notes is None else tuple(sorted(notes.items()))
        key = (
            mode,
            profile,
            model,
            tokenizer,
            budget,
            order,
            pinned,
            said,
            previous,
            must_call,
            parallel,
            decoding,
            counts,
            strict_policy,
        )
        kept: OrderedDict[Any, CompiledCatalog] = catalog.__dict__.setdefault("_compiled", OrderedDict())

        def compiled() -> CompiledCatalog:
            return _compile(
                catalog, mode, profile, model, tokenizer, budget=budget, order=order, pin=pinned, notes=notes,
                previous=previous, must_call=must_call, parallel=parallel, decoding=decoding, uses=uses,
                strict_policy=strict_policy,
            )  # fmt: skip

        try:
            found = kept.get(key)
        except TypeError:  # something unhashable, such as a wrong option: it is judged below
            return compiled()
        if found is None:
            found = compiled()
            with _lock:
                kept[key] = found
                while len(kept) > KEPT:
                    kept.popitem(last=False)
        return found


class _Uncollected:
    """A block without garbage collection: what a compilation makes it keeps, so that a collection finds nothing."""

    def __enter__(self) -> None:
        self.collects = gc.isenabled()
        gc.disable()

    def __exit__(self, *_: object) -> None:
        if self.collects:
            gc.enable()


def _compile(
    catalog: Catalog, mode: Any, profile: Any, model: str | None, tokenizer: object, *, budget: Any,
    order: str | None, pin: tuple[str, ...], notes: Mapping[str, object] | None,
    previous: CompiledCatalog | None, must_call: bool, parallel: bool, decoding: Any, uses: Mapping[str, int] | None,
    strict_policy: bool,
) -> CompiledCatalog:  # fmt: skip
    if order not in (None, "given"):
        raise ConfigError(
            f"unknown order {order!r}", allowed=("given",), hint="leave it out to order by server and name"
        )
    if budget is not None and (not isinstance(budget, int) or isinstance(budget, bool) or budget < 1):
        raise ConfigError(
            f"budget is {budget!r}", hint="it is the most tokens that prompt and wire tools may take, 1 or more"
        )
    chosen = _choose(catalog, mode, profile, model, tokenizer, budget=budget, strict_policy=strict_policy)
    budget = chosen.budget
    if mode == "auto" and isinstance(chosen.mode, Native | Passthrough):
        pin = ()  # all tools are native
    if budget is not None and isinstance(chosen.mode, Passthrough):
        raise ConfigError(
            "passthrough sends the tools as they are and takes no budget", hint="use mode='text' or 'native'"
        )
    _check_pins(catalog, pin, chosen.mode)
    if notes is not None and not isinstance(chosen.mode, Dispatch):
        raise ConfigError(
            f"notes are lines of a map, and {chosen.mode.name} mode has none", allowed=("mode='dispatch'",)
        )
    past = None
    if previous is None:
        ordered = arranged(catalog, chosen.active, given=order == "given", uses=uses)
    else:
        past = _past(catalog, previous, chosen, budget)
        ordered = past.catalog
        if not isinstance(chosen.mode, Native | Passthrough):  # a wire tool that was sent stays one
            pin = (*pin, *(tool.name for tool in ordered if tool.name in previous.sent.native))
    work = Work(
        catalog=ordered, chosen=chosen, model=model, counting=tokenizer, pin=frozenset(pin), notes=notes, past=past,
        budget=budget, must_call=must_call, parallel=parallel, uses=uses,
    )  # fmt: skip
    reasons = chosen.reasons
    if isinstance(chosen.mode, Dispatch | Passthrough):
        fitted = Fitted(shown=work.pinned_alone(ordered), rungs={})
    elif budget is None:
        shown = led(rewritten(ordered, chosen.profile), chosen.active)
        fitted = Fitted(shown=shown, rungs=dict.fromkeys(map(_NAME, shown.tools), chosen.profile.name))
    else:
        fitted = work.fitted(budget)
        fitted = Fitted(shown=led(fitted.shown, chosen.active), rungs=fitted.rungs)
        reasons = (*reasons, f"budget {budget}: what each tool got is in stats.per_tool")
    return work.compiled(fitted, _checked(decoding), reasons, budget, order == "given")


def _choose(
    catalog: Catalog, mode: Any, profile: Any, model: str | None, tokenizer: object, *, budget: int | None,
    strict_policy: bool,
) -> Choice:  # fmt: skip
    encoding = tokenizer if isinstance(tokenizer, str) and tokenizer in SPELLINGS else "o200k_base"
    named = isinstance(profile, str | Profile) and profile not in ("auto", "aggressive")
    if model is None and mode != "auto" and named and not getattr(profile, "cfl", False):
        resolved = profile_of(profile)
        chosen = Choice(
            mode=mode_of(mode), profile=resolved, encoding=encoding, dialect="tool_call", active=resolved.asks,
            budget=budget,
        )  # fmt: skip
    else:
        from tscg.choosing import choose

        chosen = choose(catalog, mode, profile, model, tokenizer=tokenizer, budget=budget, strict_policy=strict_policy)
        if tokenizer is not None or chosen.encoding not in SPELLINGS:
            chosen = replace(chosen, encoding=encoding)
    options = chosen.mode
    if not isinstance(options, Text):
        return chosen
    dialect = options.dialect if options.dialect is not None else chosen.dialect
    if dialect != "tool_call" and dialect not in TAUGHT:
        raise ConfigError(f"the dialect {dialect!r} is not taught", allowed=tuple(TAUGHT))
    return replace(chosen, dialect=dialect)


def _past(catalog: Catalog, previous: CompiledCatalog, chosen: Choice, budget: object) -> Past:
    """The past of a catalog that goes on from an earlier one; ConfigError where that one had other options."""
    if budget is not None:
        raise ConfigError("previous and budget are given together", hint="what was sent already cannot be made smaller")
    was = (previous.options, previous.profile_used, previous.encoding, previous.dialect)
    now = (chosen.mode, chosen.profile, chosen.encoding, chosen.dialect)
    for name, old, new in zip(("mode", "profile", "encoding", "dialect"), was, now, strict=True):
        if old != new:
            raise ConfigError(
                f"previous was compiled with another {name}: {old!r}, not {new!r}", hint="compile anew without previous"
            )
    from tscg.modes.append import past_of

    return past_of(catalog, previous)


def _check_pins(catalog: Catalog, pin: tuple[str, ...], mode: Mode) -> None:
    if not pin:
        return
    if isinstance(mode, Native | Passthrough):
        raise ConfigError(
            f"pin is given and {mode.name} mode sends every tool natively", allowed=("text", "dispatch", "code")
        )
    names = {tool.name for tool in catalog}
    for name in pin:
        if name not in names:
            raise ConfigError(f"pin names {name!r}, which is no tool of the catalog", allowed=tuple(sorted(names)[:20]))


def _checked(decoding: Any) -> str | Decoding:
    """The options of decoding, as given; the default is not even loaded here."""
    if decoding == "safe":
        return "safe"
    from tscg.decoding import decoding_of

    return decoding_of(decoding)
