"""What one model call sends: the compiled catalog, what is bound to the model, and what the answer must hold."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from langchain_core.language_models import BaseChatModel
from langchain_core.runnables import Runnable, RunnableBinding

import tscg
from tscg.errors import ConfigError, TscgWarning

if TYPE_CHECKING:
    from tscg.tokenizers import Tokenizer

__all__ = ["Choice", "Plan", "Target", "chat_form", "choice_of", "note"]

ANY = frozenset({"any", "required"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the caller asks for: ``kind`` is ``auto``, ``none``, ``any``, ``tool`` with its ``name``, or ``other``,
    which the provider may know; ``given`` is how it was said."""

    kind: str = "auto"
    name: str = ""
    given: Any = None

    def renamed(self, name: str) -> Any:
        """The choice of a tool under another name."""
        if not isinstance(self.given, dict):
            return name
        inner = self.given.get("function")
        if isinstance(inner, dict):
            return {**self.given, "function": {**inner, "name": name}}
        return {**self.given, "name": name}


def choice_of(given: Any, names: Mapping[str, object]) -> Choice:
    """A tool choice in any of the forms that integrations take; what is not known is passed on as it is.

    >>> choice_of({"type": "function", "function": {"name": "ping"}}, {"ping": 1}).name, choice_of(True, {}).kind
    ('ping', 'any')
    """
    if given is None or given is False or given == "auto":
        return Choice(given=None if given is False else given)
    if given is True:
        return Choice(kind="any", given=given)
    if isinstance(given, str):
        kind = "any" if given in ANY else given if given == "none" else "tool" if given in names else "other"
        return Choice(kind=kind, name=given if kind == "tool" else "", given=given)
    if isinstance(given, Mapping):
        kind = str(given.get("type"))
        inner = given.get("function")
        name = inner.get("name") if isinstance(inner, Mapping) else given.get("name")
        if kind in ("function", "tool") and name in names:
            return Choice(kind="tool", name=str(name), given=dict(given))
        return Choice(kind="any" if kind in ANY else kind if kind in ("none", "auto") else "other", given=dict(given))
    raise ConfigError(
        f"tool_choice is {given!r}", allowed=("a tool's name", "auto", "none", "any", "required", "the provider's dict")
    )


@dataclass(slots=True, kw_only=True)
class Target:
    """What is called: the model with keywords, or what its ``bind_tools`` gave where that is no plain binding.

    ``tokens`` are those of the definitions in such a request, in the prompt and among the tools.
    """

    model: BaseChatModel
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    runnable: Runnable[Any, Any] | None = None
    tokens: int = 0


@dataclass(slots=True, kw_only=True)
class Plan:
    """One way to send a set of tools.

    ``compiled`` is what is sent, None where there are no tools; ``reads`` says whether it reads the answers too, which
    else are handed over as they are. ``whole`` is the catalog that ``compiled`` is a part of, where a tool is forced.
    ``writer`` writes the history (None: as it is). ``prompt`` goes into the system message. ``given`` are the objects
    to bind in place of the wire tools, ``forms`` what they are in OpenAI's chat form; ``beside`` are bound with them.
    ``choice`` and ``options`` are further arguments of ``bind_tools``.
    """

    compiled: tscg.CompiledCatalog | None = None
    whole: tscg.CompiledCatalog | None = None
    reads: bool = True
    writer: tscg.CompiledCatalog | None = None
    prompt: str = ""
    given: tuple[Any, ...] | None = None
    forms: tuple[Mapping[str, Any], ...] = ()
    beside: tuple[Any, ...] = ()
    choice: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)
    must_call: bool | str = False
    parallel: bool = True
    targets: dict[bool, Target] = field(default_factory=dict)

    def target(self, inner: BaseChatModel, turn: tscg.Turn | None) -> Target:
        """What is called in a round; the last one goes without the lookup tool."""
        looks_up = turn is None or turn.may_look_up
        found = self.targets.get(looks_up)
        if found is None:
            wire = () if self.given is not None or turn is None else turn.wire_tools
            tools = wire if self.given is None else self.given
            found = _bound(inner, [*tools, *self.beside], self.choice, self.options)
            if self.compiled is not None:
                forms = self.forms or tuple(map(chat_form, wire))
                found.tokens = _tokens(self.compiled.tokenizer, self.prompt, found, forms)
            self.targets[looks_up] = found
        return found


def _bound(inner: BaseChatModel, tools: list[Any], choice: Any, options: Mapping[str, Any]) -> Target:
    """The model with its tools in its own form, as its `bind_tools` writes them."""
    chosen = {} if choice is None else {"tool_choice": choice}
    if not tools:  # `strict` is for `bind_tools` alone
        return Target(
            model=inner, kwargs={name: one for name, one in {**options, **chosen}.items() if name != "strict"}
        )
    try:
        bound = inner.bind_tools(tools, **chosen, **options)
    except NotImplementedError as error:
        raise ConfigError(f"{type(inner).__name__} takes no tools natively", hint="use mode='text'") from error
    if isinstance(bound, RunnableBinding) and bound.bound is inner:
        return Target(model=inner, kwargs=dict(bound.kwargs))
    note(
        f"{type(inner).__name__}.bind_tools gives no plain binding of the model, so it is called as a whole: its own "
        "run shows in traces, and its usage is counted twice"
    )
    return Target(model=inner, runnable=bound)


def chat_form(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A neutral tool in OpenAI's chat form."""
    return {"type": "function", "function": tool}


def _tokens(tokenizer: Tokenizer, prompt: str, target: Target, forms: Sequence[Mapping[str, Any]]) -> int:
    """Tokens of a prompt and of tools as the integration wrote them, whatever its dialect, in OpenAI's chat form; of
    ``forms`` where its own cannot be read."""
    from tscg.stats import minified

    written = [found for found in map(_written, target.kwargs.get("tools") or ()) if found is not None]
    tools = written if len(written) == len(forms) else forms
    return tokenizer.count(prompt) + (tokenizer.count(minified(list(tools))) if tools else 0)


def _written(tool: Any) -> Mapping[str, Any] | None:
    """A tool as it is bound in OpenAI's chat form; None for a provider's own one and for shapes that are not known.

    >>> _written({"name": "ping", "input_schema": {"type": "object", "properties": {}}})["function"]["description"]
    ''
    """
    if not isinstance(tool, Mapping) or isinstance(tool.get("function"), Mapping):
        return tool if isinstance(tool, Mapping) else None
    schema = tool.get("parameters", tool.get("input_schema"))
    if "name" not in tool or not isinstance(schema, Mapping):
        return None
    strict = {"strict": tool["strict"]} if "strict" in tool else {}
    named = {"name": tool["name"], "description": tool.get("description", ""), "parameters": schema}
    return chat_form({**named, **strict})


def note(message: str) -> None:
    """Tell the developer."""
    warnings.warn(message, TscgWarning, stacklevel=2)
