"""Runs arms on tasks and keeps every score in a log, so that an interrupted sweep goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from tscg import ConfigError
from tscg.demo.models import ChatModel, ModelError
from tscg_bench.conditions import Prepared
from tscg_bench.episode import begin
from tscg_bench.score import Attempt, score_attempt
from tscg_bench.tasks import Task
from tscg_bench.tune_arms import Shown

__all__ = ["Attempter", "Log", "Runner", "Scores", "attempter_of"]

Attempter: TypeAlias = "Callable[[Task, Shown], Attempt]"
"""Works on one task with an arm; raises ModelError where the request itself failed."""
Scores: TypeAlias = "Mapping[str, float]"
"""1 or 0 by the id of the task: whether every call was right in name and arguments."""
GIVE_UP = 5  # requests that fail one after the other: the model cannot be reached


def attempter_of(model: ChatModel) -> Attempter:
    """Converses with a model until the task has ended."""

    def attempt(task: Task, shown: Shown) -> Attempt:
        prepared = shown.prepared
        episode = begin(task, prepared)
        while episode.attempt is None:
            tools = [{"type": "function", "function": tool} for tool in episode.wire_tools]
            answer = model.answer(episode.messages, tools, _stop(prepared))
            episode = episode.take(answer.output, answer.finish_reason)
        return episode.attempt

    return attempt


def _stop(prepared: Prepared) -> tuple[str, ...]:
    return prepared.compiled.stop if not prepared.wire_tools else ()


class Log:
    """A file of finished attempts, a JSON object a line. A line that was cut off by a kill is passed over.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "log.jsonl"
    ...     Log(path).add("a", 1.0)
    ...     _ = path.write_text(path.read_text() + '{"key": "b", "sc')
    ...     log = Log(path)
    ...     log.add("c", 0.0)
    ...     Log(path).scores
    {'a': 1.0, 'c': 0.0}
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        self.scores: dict[str, float] = {}
        self._lock = threading.Lock()
        if path is None or not path.exists():
            return
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path} cannot be read: {error}") from error
        for line in text.splitlines():
            try:
                found = json.loads(line)
                self.scores[found["key"]] = float(found["score"])
            except (ValueError, KeyError, TypeError):
                continue
        if text and not text.endswith("\n"):
            with path.open("a", encoding="utf-8") as file:
                file.write("\n")

    def add(self, key: str, score: float, **beside: object) -> None:
        """Keep a score; it is on the disk when this returns."""
        with self._lock:
            self.scores[key] = score
            if self.path is not None:
                with self.path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"key": key, "score": score, **beside}, ensure_ascii=False) + "\n")
                    file.flush()
                    os.fsync(file.fileno())


@dataclass(slots=True, kw_only=True)
class Runner:
    """Scores arms on tasks, each pair once. ``failed`` counts requests that gave no answer: they are no scores."""

    attempt: Attempter
    model: str
    log: Log
    parallel: int = 1
    told: Callable[[str], None] = field(default=lambda line: None)
    made: int = 0
    failed: int = 0
    _in_a_row: int = 0

    def run(self, shown: Iterable[Shown], tasks: Sequence[Task]) -> Mapping[str, Scores]:
        """Scores by the fingerprint of what was sent; arms that send the same are run once."""
        distinct: dict[str, Shown] = {}
        for one in shown:
            distinct.setdefault(one.fingerprint, one)
        keys = {(name, task.id): self.key(name, task) for name in distinct for task in tasks}
        work = [
            (one, task, key)
            for task in tasks
            for name, one in distinct.items()
            if (key := keys[name, task.id]) not in self.log.scores
        ]
        known = f", {len(keys) - len(work)} known" if len(work) < len(keys) else ""
        self.told(f"{len(distinct)} arms, {len(tasks)} tasks: {len(work)} attempts{known}")
        with ThreadPoolExecutor(self.parallel) as pool:
            for _ in pool.map(lambda one: self._one(*one), work):
                pass
        found: dict[str, dict[str, float]] = {name: {} for name in distinct}
        for (name, task), key in keys.items():
            if key in self.log.scores:
                found[name][task] = self.log.scores[key]
        return found

    def key(self, fingerprint: str, task: Task) -> str:
        """What a score belongs to: the model, all that is sent of the catalog, and the whole task."""
        said = repr((self.model, fingerprint, task))
        return hashlib.sha256(said.encode()).hexdigest()[:24]

    def _one(self, shown: Shown, task: Task, key: str) -> None:
        if self._in_a_row >= GIVE_UP:
            return
        try:
            attempt = self.attempt(task, shown)
        except ModelError as error:
            self.failed, self._in_a_row = self.failed + 1, self._in_a_row + 1
            self.told(str(error))
            if self._in_a_row >= GIVE_UP:
                raise ModelError(f"stopped after {GIVE_UP} requests without an answer: {error}") from error
            return
        self._in_a_row = 0
        self.made += 1
        score = score_attempt(task, attempt, shown.prepared.compiled.catalog)
        self.log.add(key, score.exact, arm=shown.arm.name, task=task.id, requests=attempt.requests)
