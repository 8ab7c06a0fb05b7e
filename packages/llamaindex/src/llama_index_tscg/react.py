"""A ReAct agent has no tools argument to compress: it takes a formatter of its prompt, and a parser of its answers."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict

from llama_index.core.agent.react.formatter import ReActChatFormatter
from llama_index.core.agent.react.output_parser import ReActOutputParser, extract_tool_use
from llama_index.core.agent.react.prompts import CONTEXT_REACT_CHAT_SYSTEM_HEADER
from llama_index.core.agent.react.types import ActionReasoningStep, BaseReasoningStep
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.tools import BaseTool
from pydantic import PrivateAttr

import tscg
from llama_index_tscg.approval import Approval
from llama_index_tscg.cache import Cache
from llama_index_tscg.convert import Snapshot, snapshot
from tscg.lock import approved

__all__ = ["CompressedReActFormatter", "CompressedReActParser", "ReActParts", "compress_react"]

KEPT = 64  # lists of tools
UNREADABLE = re.compile(r"[^A-Za-z0-9_.-]+")  # the pattern of ReActOutputParser ends a name at blanks and parentheses


class ReActParts(TypedDict):
    """The arguments of a ``ReActAgent`` that belong together: one pair for each agent."""

    formatter: CompressedReActFormatter
    output_parser: CompressedReActParser


def compress_react(
    profile: Any = "auto",
    *,
    tokenizer: object = None,
    lock: tscg.Lock | str | PathLike[str] | None = None,
    on_drift: str = "error",
) -> ReActParts:
    """Formatter and parser for ``ReActAgent(tools=tools, llm=llm, **compress_react())``.

    ``profile`` and ``tokenizer`` are those of :func:`tscg.compile`, ``lock`` and ``on_drift`` those of
    :class:`llama_index_tscg.CompressedLLM`. Raises :class:`tscg.ConfigError` for wrong ones.
    """
    tscg.compile([], profile=profile, tokenizer=tokenizer)
    shown = Shown(profile, tokenizer, Approval(approved(lock, on_drift), on_drift))
    formatter, parser = CompressedReActFormatter(), CompressedReActParser()
    formatter._shown = parser._shown = shown
    return ReActParts(formatter=formatter, output_parser=parser)


class Shown:
    """What the model was shown: the catalogs, under names that can be read back."""

    def __init__(self, profile: Any, tokenizer: object, approval: Approval) -> None:
        self.profile, self.tokenizer, self.approval = profile, tokenizer, approval
        self.tools = Cache[tuple[tscg.CompiledCatalog, Mapping[str, str]]](KEPT)
        self.by_alias: dict[str, tuple[tscg.CompiledCatalog, str]] = {}  # of each alias the newest catalog with it

    def show(self, tools: Sequence[BaseTool]) -> tuple[tscg.CompiledCatalog, Mapping[str, str]]:
        """The catalog of some tools, and their aliases by name. DriftError for what was not approved."""
        self.approval.check(tools)
        read = snapshot(tools)
        compiled, aliases = self.tools.get(id(read.catalog), read.catalog, lambda: self._compiled(read))
        self.by_alias.update({alias: (compiled, name) for name, alias in aliases.items()})
        return compiled, aliases

    def _compiled(self, read: Snapshot) -> tuple[tscg.CompiledCatalog, Mapping[str, str]]:
        aliases = _aliases([tool.name for tool in read.catalog])
        renamed = tscg.Catalog.from_tools(
            [{"name": aliases[one.name], "description": one.description, "inputSchema": one.schema}
             for one in read.catalog],
            on_error="passthrough",
        )  # fmt: skip
        return tscg.compile(renamed, profile=self.profile, tokenizer=self.tokenizer), aliases


class CompressedReActFormatter(ReActChatFormatter):
    """Writes the prompt of a ReAct agent with its tools in the language of tscg."""

    _shown: Shown = PrivateAttr()

    def format(
        self,
        tools: Sequence[BaseTool],
        chat_history: list[ChatMessage],
        current_reasoning: list[BaseReasoningStep] | None = None,
    ) -> list[ChatMessage]:
        """The messages of a step: the prompt, the conversation, and the reasoning so far."""
        compiled, aliases = self._shown.show(tools)
        header = {"tool_desc": compiled.text, "tool_names": ", ".join(aliases.values())}
        template = self.system_header
        if self.context:
            header["context"] = self.context
            # ReActAgent changes the template too, from some version of 0.14 on.
            template = template if "{context}" in template else CONTEXT_REACT_CHAT_SYSTEM_HEADER
        steps = [_aliased(step, aliases) for step in current_reasoning or ()]
        # The values that a template is filled with are not read as templates: braces of a catalog stay.
        bare = ReActChatFormatter(system_header="", observation_role=self.observation_role)
        _, *rest = bare.format([], chat_history, steps)
        return [ChatMessage(role="system", content=template.format(**header)), *rest]


class CompressedReActParser(ReActOutputParser):
    """Reads the answers of a ReAct agent: real names and valid arguments, or a ValueError with what is wrong, which the
    agent itself sends back to the model."""

    _shown: Shown | None = None

    def parse(self, output: str, is_streaming: bool = False) -> BaseReasoningStep:
        """One step. ValueError for a call that its tool would not take."""
        action, answer = output.find("Action:"), output.find("Answer:")
        if action < 0 or 0 <= answer < action:
            return super().parse(output, is_streaming)
        thought, alias, written = extract_tool_use(output)
        assert self._shown is not None
        compiled, name = self._shown.by_alias.get(alias) or self._known()
        item = compiled.resolve(alias, _first_object(written))
        if isinstance(item, tscg.CallError):
            raise ValueError(item.message)
        if not isinstance(item, tscg.Call):
            raise ValueError(f"There is no tool {alias}.")
        return ActionReasoningStep(thought=thought, action=name, action_input=item.arguments)

    def _known(self) -> tuple[tscg.CompiledCatalog, str]:
        """Any catalog that was shown: it tells the model which names there are."""
        assert self._shown is not None
        if not self._shown.by_alias:
            raise ValueError("No tools were shown.")
        return list(self._shown.by_alias.values())[-1]


def _aliases(names: Sequence[str]) -> dict[str, str]:
    """A name for each tool that the pattern of a step reads whole; most keep theirs.

    >>> _aliases(["ping", "with space", "with(space"])
    {'ping': 'ping', 'with space': 'with_space', 'with(space': 'with_space_2'}
    """
    taken = {name for name in names if not UNREADABLE.search(name)}
    aliases = {}
    for name in names:
        alias, number = name, 1
        if name not in taken:
            alias = short = UNREADABLE.sub("_", name)
            while alias in taken:
                number += 1
                alias = f"{short}_{number}"
            taken.add(alias)
        aliases[name] = alias
    return aliases


def _aliased(step: BaseReasoningStep, aliases: Mapping[str, str]) -> BaseReasoningStep:
    """A step as the model wrote it."""
    if isinstance(step, ActionReasoningStep) and step.action in aliases:
        return step.model_copy(update={"action": aliases[step.action]})
    return step


def _first_object(written: str) -> object:
    """The first JSON object of a text, without what a model adds to it; a text that begins with none as it is."""
    try:
        found, _ = json.JSONDecoder().raw_decode(written)
    except ValueError:
        return written
    return found
