"""What a run's logs hold, as rows: one for each task in each condition, the newest finished one, never two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tscg import ConfigError
from tscg_bench.score import Score, Summary, summarize

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample

__all__ = ["Cell", "Row", "Run", "read_run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One task in one condition. ``score`` is None where the request failed, with the ``error`` that says why.

    ``catalog_tokens`` are those of what was sent of the catalog, by our tokenizer; ``input_tokens`` and
    ``output_tokens`` those that the provider counted over all requests of the task, ``first_input`` of the first one.
    """

    task: str
    category: str
    query: str
    expected: str
    answer: str = ""
    text: str = ""
    score: Score | None = None
    error: str = ""
    requests: int = 0
    tools: int = 0
    catalog_tokens: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    first_input: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One condition of one plan with one model."""

    plan: str
    condition: str
    model: str
    rows: Mapping[str, Row] = field(repr=False)

    @property
    def scored(self) -> list[Row]:
        """Rows whose requests did not fail."""
        return [row for row in self.rows.values() if row.score is not None]

    @property
    def failed(self) -> int:
        """Tasks whose request failed: they stand beside the result, not in it."""
        return len(self.rows) - len(self.scored)

    @property
    def summary(self) -> Summary:
        """The scores of all tasks."""
        return summarize(row.score for row in self.scored if row.score is not None)

    @property
    def exact(self) -> dict[str, float]:
        """1 or 0 for each task: whether all of it was right."""
        return {row.task: row.score.exact for row in self.scored if row.score is not None}

    def mean(self, name: str) -> float:
        """Mean of a figure over the tasks; 0 for none."""
        rows = self.scored
        return sum(getattr(row, name) for row in rows) / len(rows) if rows else 0.0

    @property
    def cost(self) -> float | None:
        """US dollars for all tasks by the list prices of genai-prices, None where the model has none."""
        from genai_prices import Usage, calc_price

        provider, _, name = self.model.partition("/")
        total = Usage(
            input_tokens=sum(row.input_tokens for row in self.scored),
            output_tokens=sum(row.output_tokens for row in self.scored),
        )
        try:
            return float(calc_price(total, model_ref=name.rpartition("/")[2], provider_id=provider).total_price)
        except LookupError:
            return None

    @property
    def cut(self) -> bool:
        """Did the provider count much less than was sent? Then its context was too small and the prompt was cut."""
        known = [row for row in self.scored if row.first_input]
        small = [row for row in known if row.first_input < 0.6 * row.catalog_tokens]
        return not self.model.startswith("mockllm/") and 2 * len(small) > len(known) > 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """All cells of a folder, in order of plan, model and condition as they were run."""

    folder: str
    cells: tuple[Cell, ...]

    def groups(self) -> Iterator[tuple[str, str, tuple[Cell, ...]]]:
        """Plan, model and the cells of both."""
        for plan, model in dict.fromkeys((cell.plan, cell.model) for cell in self.cells):
            yield plan, model, tuple(cell for cell in self.cells if (cell.plan, cell.model) == (plan, model))


def read_run(folder: str | Path) -> Run:
    """Read the logs of a folder, those of other machines that were laid beside included. ConfigError for none."""
    from inspect_ai.log import list_eval_logs, read_eval_log

    rows: dict[tuple[str, str, str], dict[str, Row]] = {}
    places: dict[tuple[str, str, str], int] = {}
    logs = sorted((read_eval_log(info) for info in list_eval_logs(str(folder))), key=lambda log: log.eval.created)
    for log in logs:
        held = log.eval.metadata or {}
        if "condition" not in held:
            continue
        key = (held["plan"], held["condition"], log.eval.model)
        places[key] = held.get("place", 0)
        cell = rows.setdefault(key, {})
        for row in _rows(log):
            if row.score is not None or row.task not in cell or cell[row.task].score is None:
                cell[row.task] = row
    if not rows:
        raise ConfigError(f"{folder} holds no logs of tscg bench")
    order = sorted(rows, key=lambda key: (places[key], key))
    cells = (Cell(plan=plan, condition=name, model=model, rows=rows[plan, name, model]) for plan, name, model in order)
    return Run(folder=str(folder), cells=tuple(cells))


def _rows(log: EvalLog) -> Iterable[Row]:
    return (_row(sample) for sample in log.samples or ())


def _row(sample: EvalSample) -> Row:
    given: dict[str, Any] = {
        "task": str(sample.id), "category": sample.metadata.get("category", ""), "query": str(sample.input),
        "expected": str(sample.target),
    }  # fmt: skip
    found = (sample.scores or {}).get("tab")
    if found is None or sample.error is not None:
        return Row(**given, error=sample.error.message if sample.error else "it was not scored")
    held = found.metadata or {}
    return Row(
        **given, answer=found.answer or "", text=found.explanation or "", score=Score(**held["score"]),
        requests=held["requests"], tools=held["tools"], catalog_tokens=held["catalog_tokens"],
        input_tokens=held["input"], output_tokens=held["output"], first_input=held["first_input"],
        seconds=held["seconds"],
    )  # fmt: skip
