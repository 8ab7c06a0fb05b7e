"""TAB on Inspect: one Inspect task for each condition, one sample for each task, a log for each in one folder.

A run that was stopped goes on where it was: ``eval_set`` takes finished samples out of the logs of the same folder, and
nothing is asked or counted twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from inspect_ai import Task as InspectTask
from inspect_ai import eval_set
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig, Model, ModelOutput, get_model
from inspect_ai.scorer import Score as InspectScore
from inspect_ai.scorer import Scorer, Target, mean, scorer, stderr
from inspect_ai.solver import Generate, Solver, TaskState, solver
from inspect_ai.util import store

from tscg import ConfigError
from tscg_bench.bridge import model_for
from tscg_bench.catalogs import Context, Contexts
from tscg_bench.conditions import CONTROLS, DEFAULT, Condition, Prepared, condition_of
from tscg_bench.episode import Episode, begin
from tscg_bench.oracles import EPISODE
from tscg_bench.sampling import SAMPLING, Sampling
from tscg_bench.score import Attempt, Made, score_attempt
from tscg_bench.tasks import Task
from tscg_bench.wire import message_of, messages_of, tool_info

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog

__all__ = ["Plan", "run", "tab_task"]

ATTEMPT = "tscg:attempt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A run: tasks among tools, in every condition.

    ``label`` names what is asked in tables (``C@20``). The controls ``names`` and ``free`` are added to the
    ``conditions``, unless ``controls`` is False.
    """

    label: str
    tasks: Sequence[Task]
    contexts: Contexts
    conditions: Sequence[str] = DEFAULT
    controls: bool = True
    sampling: Sampling = SAMPLING
    tokenizer: str | None = None

    def all_conditions(self) -> tuple[Condition, ...]:
        """The conditions in order, each once."""
        names = (*self.conditions, *(CONTROLS if self.controls else ()))
        return tuple(map(condition_of, dict.fromkeys(names)))


def run(
    plans: Sequence[Plan],
    model: str | Model,
    log_dir: str | Path,
    *,
    display: str = "none",
    retries: int = 2,
    max_connections: int = 10,
    limit: int | None = None,
) -> tuple[bool, list[EvalLog]]:
    """Run plans, or go on with a run of the same folder; True where nothing is left to do.

    ``model`` is a name that :func:`tscg_bench.bridge.model_for` takes, or a model. A task whose request failed is tried
    again; one that fails for good is counted as failed, not as wrong.
    """
    chosen = model_for(model) if isinstance(model, str) else model
    name = chosen if isinstance(chosen, str) else str(chosen)
    cells = [(plan, condition) for plan in plans for condition in plan.all_conditions()]
    tasks = [tab_task(plan, condition, name, place) for place, (plan, condition) in enumerate(cells)]
    if not tasks:
        raise ConfigError("there is nothing to run")
    shown: Any = display
    if isinstance(chosen, Model) and not name.startswith("mockllm/"):
        max_connections = min(max_connections, chosen.api.max_connections())
    found: tuple[bool, list[EvalLog]] = eval_set(
        tasks, str(log_dir), model=[chosen] if isinstance(chosen, Model) else chosen, display=shown, limit=limit,
        retry_attempts=retries, retry_wait=1, retry_cleanup=True, fail_on_error=True, continue_on_fail=True,
        log_buffer=1,
        max_connections=max_connections, max_samples=max_connections, max_tasks=1, log_dir_allow_dirty=True,
    )  # fmt: skip
    return found


def tab_task(plan: Plan, condition: Condition, model: str, place: int = 0) -> InspectTask:
    """One condition of a plan as a task of Inspect."""
    work = _Work(plan, condition, model)
    return InspectTask(
        dataset=MemoryDataset([_sample(task) for task in plan.tasks], name=plan.label),
        solver=converse(work), scorer=tab(work), config=plan.sampling.config(),
        name=f"{plan.label}/{condition.name}".replace("/", "-").replace("@", "-at-"),
        metadata={
            "plan": plan.label, "condition": condition.name, "place": place, "num_ctx": plan.sampling.num_ctx,
            "context_seed": plan.contexts.seed,
        },
    )  # fmt: skip


class _Work:
    """Contexts and conditions of a task, made when first needed and shared between tasks of one catalog."""

    def __init__(self, plan: Plan, condition: Condition, model: str) -> None:
        self.plan, self.condition, self.model = plan, condition, model
        self.tasks = {task.id: task for task in plan.tasks}
        self._contexts: dict[str, Context] = {}
        self._prepared: dict[int, Prepared] = {}

    def context(self, name: str) -> Context:
        if name not in self._contexts:
            self._contexts[name] = self.plan.contexts.of(self.tasks[name])
        return self._contexts[name]

    def prepared(self, context: Context) -> Prepared:
        """The condition on the catalog; a catalog is kept by what was made of it, so its id stays its own."""
        key = id(context.catalog)
        if key not in self._prepared or self._prepared[key].compiled.catalog is not context.catalog:
            self._prepared[key] = self.condition.prepare(
                context.catalog, model=self.model, tokenizer=self.plan.tokenizer
            )
        return self._prepared[key]


def _sample(task: Task) -> Sample:
    expected = [{call.tool: dict(call.arguments)} for call in task.expected]
    return Sample(
        id=task.id, input=task.query, target=json.dumps(expected, ensure_ascii=False),
        metadata={"category": task.category, "scenario": task.scenario},
    )  # fmt: skip


@solver
def converse(work: _Work) -> Solver:
    """Works on one task until it has ended."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        context = work.context(str(state.sample_id))
        prepared = work.prepared(context)
        episode = begin(context.task, prepared)
        spent = {"input": 0, "output": 0, "seconds": 0.0, "first_input": 0}
        while episode.attempt is None:
            EPISODE.set(episode)
            output = await _answer(episode)
            if output.error or not output.choices:
                raise RuntimeError(output.error or "the model gave no answer")
            _add(spent, output)
            state.output = output
            episode = episode.take(message_of(output), "length" if output.stop_reason == "max_tokens" else None)
        state.messages = messages_of(episode.messages)
        state.messages.append(state.output.message)
        store().set(ATTEMPT, {"attempt": asdict(episode.attempt), "catalog_tokens": prepared.tokens, **spent})
        return state

    return solve


async def _answer(episode: Episode) -> ModelOutput:
    messages = messages_of(episode.messages)
    stops = list(episode.prepared.compiled.stop)
    return await get_model().generate(
        messages, tools=[tool_info(tool) for tool in episode.wire_tools],
        config=GenerateConfig(stop_seqs=stops) if stops else GenerateConfig(),
    )  # fmt: skip


def _add(spent: dict[str, Any], output: ModelOutput) -> None:
    usage = output.usage
    if usage is not None:
        billed = usage.input_tokens + (usage.input_tokens_cache_read or 0) + (usage.input_tokens_cache_write or 0)
        spent["first_input"] = spent["first_input"] or billed
        spent["input"] += billed
        spent["output"] += usage.output_tokens
    spent["seconds"] += output.time or 0.0


@scorer(metrics={"exact": [mean(), stderr()], "selection": [mean()], "overall": [mean()]})
def tab(work: _Work) -> Scorer:
    """The scores of one task; all that the report needs stands in the metadata."""

    async def score(state: TaskState, target: Target) -> InspectScore:
        held: Mapping[str, Any] = store().get(ATTEMPT)
        context = work.context(str(state.sample_id))
        found = held["attempt"]
        attempt = Attempt(**{**found, "calls": tuple(Made(**call) for call in found["calls"])})
        scored = score_attempt(context.task, attempt, context.catalog)
        made = [{call.name: dict(call.arguments), "valid": call.valid} for call in attempt.calls]
        return InspectScore(
            value={"exact": scored.exact, "selection": scored.selection, "overall": scored.overall},
            answer=json.dumps(made, ensure_ascii=False), explanation=attempt.failure or attempt.text,
            metadata={
                "score": asdict(scored), "requests": attempt.requests, "tools": len(context.catalog),
                **{key: held[key] for key in held if key != "attempt"},
            },
        )  # fmt: skip

    return score
