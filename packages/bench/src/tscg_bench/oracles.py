"""Models whose answers are known: what every condition must score with them is known too, so they test the harness.

=============  =====================================================================================================
``right``      makes every expected call, one after the other: 100 in every condition
``wrong``      calls something where nothing fits, and nothing where something does: 0
``blind``      guesses from question and bare names (:func:`tscg_bench.leak.solve`): the figure of the control
``breaking``   knows what is right and spells it wrong, see :func:`breaks`: the share that can be mended
=============  =====================================================================================================

They are models of Inspect's ``mockllm``, named ``oracle/NAME`` in the command.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from tscg import Call, CompiledCatalog, ConfigError
from tscg_bench.accept import is_optional, one_accepted
from tscg_bench.episode import Episode
from tscg_bench.leak import solve
from tscg_bench.tasks import Expected, Task

if TYPE_CHECKING:
    from inspect_ai.model import Model, ModelOutput

__all__ = ["EPISODE", "ORACLES", "answer_of", "breaks", "oracle"]

EPISODE: ContextVar[Episode] = ContextVar("episode")
"""The task that the harness is at: an oracle knows what is asked of it."""

UNKNOWN = "nothing_of_that_kind"
BREAKS = ("loose", "once", "ever")


def oracle(name: str) -> Model:
    """A model of Inspect that answers as the oracle of that name does; ConfigError for an unknown one."""
    if name not in ORACLES:
        raise ConfigError(f"unknown oracle {name!r}", allowed=tuple(ORACLES))
    from inspect_ai.model import get_model

    def answer(*_: Any) -> ModelOutput:
        return _output(answer_of(name, EPISODE.get()))

    return get_model("mockllm/" + name, custom_outputs=answer, memoize=False)


def answer_of(name: str, episode: Episode) -> str | dict[str, Any]:
    """What the oracle says next: a text, or a message with native calls."""
    return ORACLES[name](episode)


def breaks(task: Task) -> str:
    """What ``breaking`` does wrong in a task, by its id.

    ``loose`` spells the call in a way that safe repairs mend, ``once`` names an unknown tool and corrects itself when
    told, ``ever`` names it always. A task without a call is answered rightly, which is ``loose`` too.
    """
    if not task.expected:
        return BREAKS[0]
    return BREAKS[sha256(task.id.encode()).digest()[0] % len(BREAKS)]


def _right(episode: Episode) -> str | dict[str, Any]:
    expected = _next(episode)
    if expected is None:
        return "Done."
    return _spelled(episode.prepared.compiled, expected.tool, _arguments(expected))


def _wrong(episode: Episode) -> str | dict[str, Any]:
    if episode.task.expected:
        return "I cannot do that."
    return _spelled(episode.prepared.compiled, UNKNOWN, {})


def _blind(episode: Episode) -> str | dict[str, Any]:
    compiled = episode.prepared.compiled
    names = [] if episode.prepared.name == "free" else [tool.name for tool in compiled.catalog]
    calls = solve(episode.task, names).calls
    if not calls or episode.calls:
        return "I cannot do that."
    return _spelled(compiled, calls[0].name, dict(calls[0].arguments))


def _breaking(episode: Episode) -> str | dict[str, Any]:
    expected = _next(episode)
    if expected is None:
        return "Done."
    compiled, arguments = episode.prepared.compiled, _arguments(expected)
    kind = breaks(episode.task)
    if kind == "loose":
        return _loose(compiled, expected.tool, arguments)
    if kind == "ever" or episode.requests == 0:
        return _spelled(compiled, UNKNOWN, arguments)
    return _spelled(compiled, expected.tool, arguments)


ORACLES: Mapping[str, Callable[[Episode], str | dict[str, Any]]] = {
    "right": _right, "wrong": _wrong, "blind": _blind, "breaking": _breaking,
}  # fmt: skip


# --- calls as the mode spells them ------------------------------------------------------------------------------------


def _next(episode: Episode) -> Expected | None:
    made, expected = episode.calls, episode.task.expected
    return expected[len(made)] if len(made) < len(expected) else None


def _arguments(expected: Expected) -> dict[str, Any]:
    held = expected.arguments.items()
    return {key: one_accepted(one) for key, one in held if not is_optional(one)}


def _spelled(compiled: CompiledCatalog, name: str, arguments: dict[str, Any]) -> str | dict[str, Any]:
    if compiled.mode == "code" and name == UNKNOWN:
        return _message(compiled.surface.run_tool, {"code": f"{UNKNOWN}()"})
    if name == UNKNOWN:
        return _unknown(compiled, arguments)
    return _said(compiled.encode_call(Call(id="call_1", name=name, arguments=arguments)))


def _said(written: Any) -> str | dict[str, Any]:
    return written if isinstance(written, str) else _message(written["name"], written["arguments"])


def _unknown(compiled: CompiledCatalog, arguments: dict[str, Any]) -> str | dict[str, Any]:
    if compiled.mode == "text":
        from tscg.taught import written

        return written(compiled.surface, [(UNKNOWN, arguments)])
    if compiled.mode == "dispatch":
        return _message(compiled.surface.call_tool, {"tool": UNKNOWN, "args": arguments})
    return _message(UNKNOWN, arguments)


def _loose(compiled: CompiledCatalog, name: str, arguments: dict[str, Any]) -> str | dict[str, Any]:
    """A trailing comma in text, the arguments as JSON text in a dispatcher, another spelling of the name in native."""
    right = _spelled(compiled, name, arguments)
    if isinstance(right, str):
        return right.replace("}</tool_call>", ",}</tool_call>")
    if compiled.mode == "dispatch":
        call = json.loads(right["tool_calls"][0]["function"]["arguments"])
        return _message(compiled.surface.call_tool, {**call, "args": json.dumps(call["args"])})
    if compiled.mode == "code":
        return right
    return _message(right["tool_calls"][0]["function"]["name"].replace("_", "-"), arguments)


def _message(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "call_1", "type": "function", "function": function}],
    }


def _output(said: str | dict[str, Any]) -> ModelOutput:
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput, ModelUsage
    from inspect_ai.tool import ToolCall

    if isinstance(said, str):
        message = ChatMessageAssistant(content=said)
    else:
        calls = [
            ToolCall(
                id=call["id"], function=call["function"]["name"], arguments=json.loads(call["function"]["arguments"])
            )
            for call in said["tool_calls"]
        ]
        message = ChatMessageAssistant(content="", tool_calls=calls)
    reason: Any = "stop" if isinstance(said, str) else "tool_calls"
    # Without a usage of its own Inspect counts tokens with a vocabulary that it would fetch.
    return ModelOutput(
        model="mockllm", choices=[ChatCompletionChoice(message=message, stop_reason=reason)],
        usage=ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2),
    )  # fmt: skip
