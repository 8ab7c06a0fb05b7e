"""Tuning: a sweep over a synthetic model finds what is true of it, resumes, asks first, and writes what the core reads."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("tscg_bench", reason="tscg-bench is not installed")
pytest.importorskip("scipy", reason="tscg-bench is not installed")
pytest.importorskip("tomlkit", reason="tscg-bench is not installed")

import tscg
from tscg.demo.models import Answer, Message, ModelError
from tscg.demo.tools import TOOLS
from tscg.demo.tools.orders import ORDERS
from tscg_bench import tune as command
from tscg_bench.score import Attempt, Made
from tscg_bench.stats import Comparison, Interval, compare
from tscg_bench.tasks import Expected, Task
from tscg_bench.tune import Tuning, plan_of, tune
from tscg_bench.tune_arms import SWITCHED, Arm, Shown, arm_of, effect_arms, prepare
from tscg_bench.tune_command import plan_lines, price
from tscg_bench.tune_decide import archetype
from tscg_bench.tune_report import as_dict, report_lines
from tscg_bench.tune_run import Log, Runner, Scores, attempter_of
from tscg_bench.tune_tasks import halves, make_tasks
from tscg_bench.tune_write import TunedRow, write_row

N = 400


@pytest.fixture(scope="module")
def catalog() -> tscg.Catalog:
    """Tools that give every operator something to do: below 30 of them, so that CFL and CFO run."""
    return tscg.Catalog.from_tools([tool.to_mcp() for tool in ORDERS])


def plain_tasks(n: int) -> tuple[Task, ...]:
    return tuple(
        Task(
            id=f"q{place}", scenario="own", category="single", query=f"question {place}", expected=(Expected(tool="t"),)
        )
        for place in range(n)
    )


def uniform(*parts: object) -> float:
    """A number from 0 to 1 that depends on its parts alone."""
    return int.from_bytes(hashlib.sha256(repr(parts).encode()).digest()[:8]) / 2**64


@dataclass(frozen=True, kw_only=True)
class Synthetic:
    """A model that is right with a probability that is a sum: of a base, and of what its arm adds.

    Seven tasks in ten are as hard in every arm; the others fall out anew in each.
    """

    base: float = 0.6
    operators: Mapping[str, float] = field(default_factory=dict)
    levels: Mapping[str, float] = field(default_factory=dict)
    modes: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0

    def chance(self, arm: Arm) -> float:
        on = arm.resolved.asks
        return (
            self.base + self.levels.get(arm.profile, 0.0) + self.modes.get(arm.mode, 0.0)
            + sum(effect for name, effect in self.operators.items() if name in on)
        )  # fmt: skip

    def __call__(self, task: Task, shown: Shown) -> Attempt:
        shared = uniform(self.seed, task.id, "shared") < 0.7
        drawn = uniform(self.seed, task.id) if shared else uniform(self.seed, task.id, shown.arm.name)
        return Attempt(calls=(Made(name="t"),) if drawn < self.chance(shown.arm) else ())


def run(
    catalog: tscg.Catalog, model: Callable[[Task, Shown], Attempt], *stages: str, n: int = N, **options: Any
) -> Tuning:
    plan = plan_of(catalog, plain_tasks(n), stages=stages, modes=("text", "native", "dispatch"))
    return tune(plan, Runner(attempt=model, model="synthetic", log=Log(), **options))


# --- what is true of a model is found ---------------------------------------------------------------------------------

TRUTHS: Mapping[str, tuple[Mapping[str, float], str]] = {
    "sensitive": ({"cfo": -0.20, "sad": 0.16}, "sensitive"),
    "hungry": ({"cas": 0.20, "dro": 0.18}, "hungry"),
    "robust": ({}, "robust"),
}


@pytest.mark.parametrize(("effects", "named"), TRUTHS.values(), ids=TRUTHS)
def test_effects_of_operators(catalog: tscg.Catalog, effects: Mapping[str, float], named: str) -> None:
    result = run(catalog, Synthetic(base=0.45, operators=effects), "operators")
    assert result.archetype == named
    within = 0
    for found in result.found:
        true = effects.get(found.effect.operator, 0.0)
        assert found.comparison is not None
        within += found.comparison.interval.holds(true)
        expected = "better" if true > 0 else "worse" if true < 0 else "no difference found"
        assert found.verdict == expected, found.effect.operator
        if true:
            assert found.comparison.interval.holds(true)
    assert len(result.found) == 2 * len(SWITCHED)
    assert within >= 13  # of 14 intervals of 95 %
    on = result.searched.resolved.asks
    assert {name for name, effect in effects.items() if effect > 0} <= on
    assert not {name for name, effect in effects.items() if effect < 0} & on


def test_no_difference_is_an_answer(catalog: tscg.Catalog) -> None:
    result = run(catalog, Synthetic(), "levels", "operators")
    assert result.searched.profile == "signature"  # all are tied, and it sends the fewest tokens
    assert {found.verdict for found in result.found} <= {"no difference found", "changes nothing here"}
    assert result.confirmation.verdict == "no difference found"
    assert 0.0 < result.detectable < 0.1
    assert result.archetype == "robust"
    assert any("no difference found at n = 240" in line for line in report_lines(result))


def test_an_operator_that_has_nothing_to_do() -> None:
    """From 30 tools on CFL and CFO are off: what is sent is the same, and no request is made for it."""
    every = tscg.Catalog.from_tools([tool.to_mcp() for tool in TOOLS])
    result = run(every, Synthetic(), "operators", n=60)
    idle = {found.effect.operator for found in result.found if found.verdict == "changes nothing here"}
    assert idle == {"cfl", "cfo"}


def test_levels(catalog: tscg.Catalog) -> None:
    result = run(catalog, Synthetic(levels={"signature": -0.25, "brief": -0.15}), "levels")
    choice = result.choices["levels"]
    assert result.winner == Arm(profile="balanced")
    assert set(choice.tied) == {Arm(profile=name) for name in ("lossless", "conservative", "balanced")}
    worst = choice.against_best[Arm(profile="signature")]
    assert worst.verdict == "worse"
    assert worst.interval.holds(-0.25)
    assert result.reference == Arm(profile="lossless")  # the default won, so it is held against all prose


def test_modes(catalog: tscg.Catalog) -> None:
    result = run(catalog, Synthetic(modes={"native": 0.25}), "modes")
    assert (result.winner, result.confirmed) == (Arm(mode="native"), True)
    assert result.confirmation.verdict == "better"
    assert result.confirmation.interval.holds(0.25)
    assert result.confirmation.n == 0.4 * N
    assert {arm.name for arm in result.choices["modes"].tokens} >= {"dispatch/names", "dispatch/signature"}


def test_a_winner_that_held_out_tasks_speak_against(catalog: tscg.Catalog) -> None:
    tasks = plain_tasks(N)
    lucky = {task.id for task in halves(tasks)[0]}

    def model(task: Task, shown: Shown) -> Attempt:
        right = shown.arm.mode != "native" if task.id not in lucky else shown.arm.mode == "native"
        return Attempt(calls=(Made(name="t"),) if right else ())

    result = run(catalog, model, "modes")
    assert result.searched == Arm(mode="native")
    assert (result.confirmed, result.winner) == (False, Arm())
    assert "was worse on held-out tasks" in report_lines(result)[-1]


def test_what_cannot_be_shown_is_left_out(catalog: tscg.Catalog) -> None:
    shown, impossible = prepare([Arm(), Arm(mode="dispatch", map="nothing")], catalog)
    assert list(shown) == [Arm()]
    assert "nothing" in impossible[Arm(mode="dispatch", map="nothing")]


def test_an_arm_is_what_a_policy_says(catalog: tscg.Catalog) -> None:
    for effect in effect_arms(Arm(profile="brief")):
        on, off = effect.on.resolved.asks, effect.off.resolved.asks
        assert on - off == {effect.operator}
        assert off <= on
    assert arm_of(Arm(), SWITCHED).resolved.asks >= set(SWITCHED)
    assert archetype([]) == "robust"


# --- going on after an interruption -----------------------------------------------------------------------------------


class Counting:
    """A model that counts, and is stopped after some attempts."""

    def __init__(self, stop_after: int | None = None) -> None:
        self.seen: list[tuple[str, str]] = []
        self.stop_after = stop_after

    def __call__(self, task: Task, shown: Shown) -> Attempt:
        if len(self.seen) == self.stop_after:
            raise KeyboardInterrupt
        self.seen.append((shown.fingerprint, task.id))
        return Synthetic()(task, shown)


def levels(catalog: tscg.Catalog, model: Counting, log: Path) -> Tuning:
    plan = plan_of(catalog, plain_tasks(60), stages=("levels",))
    return tune(plan, Runner(attempt=model, model="m", log=Log(log)))


@pytest.mark.parametrize("stop_after", [0, 1, 100, 179, 181, 200])
def test_nothing_is_lost_or_counted_twice(catalog: tscg.Catalog, tmp_path: Path, stop_after: int) -> None:
    whole = Counting()
    expected = levels(catalog, whole, tmp_path / "whole.jsonl")
    log = tmp_path / "log.jsonl"
    first, second = Counting(stop_after), Counting()
    with pytest.raises(KeyboardInterrupt):
        levels(catalog, first, log)
    if stop_after:  # killed while it wrote: half a line
        with log.open("a") as file:
            file.write('{"key": "ab')
    assert levels(catalog, second, log) == expected
    assert first.seen + second.seen == whole.seen
    keys = [json.loads(line)["key"] for line in log.read_text().splitlines() if line.endswith("}")]
    assert len(keys) == len(set(keys)) == len(whole.seen)
    third = Counting()
    assert levels(catalog, third, log) == expected
    assert third.seen == []


def test_another_model_or_catalog_starts_anew(catalog: tscg.Catalog) -> None:
    runner = Runner(attempt=Synthetic(), model="a", log=Log())
    other = Runner(attempt=Synthetic(), model="b", log=Log())
    fewer = tscg.Catalog.from_tools([tool.to_mcp() for tool in TOOLS[:2]])
    (task,) = plain_tasks(1)
    (one,), (less,) = (prepare([Arm()], which)[0].values() for which in (catalog, fewer))
    keys = {runner.key(one.fingerprint, task), other.key(one.fingerprint, task), runner.key(less.fingerprint, task)}
    assert len(keys) == 3


def test_many_at_a_time_give_the_same(catalog: tscg.Catalog) -> None:
    alone = run(catalog, Synthetic(), "levels", n=100)
    assert run(catalog, Synthetic(), "levels", n=100, parallel=4) == alone


def test_failed_requests_are_no_scores(catalog: tscg.Catalog) -> None:
    def broken(task: Task, shown: Shown) -> Attempt:
        if task.id.endswith("7"):
            raise ModelError("no answer")
        return Synthetic()(task, shown)

    runner = Runner(attempt=broken, model="m", log=Log())
    shown, _ = prepare([Arm()], catalog)
    (scores,) = runner.run(shown.values(), plain_tasks(30)).values()
    assert (runner.made, runner.failed, len(scores)) == (27, 3, 27)


def test_a_model_out_of_reach_stops_it(catalog: tscg.Catalog) -> None:
    def dead(task: Task, shown: Shown) -> Attempt:
        raise ModelError("connection refused")

    runner = Runner(attempt=dead, model="m", log=Log())
    shown, _ = prepare([Arm()], catalog)
    with pytest.raises(ModelError, match="stopped after 5 requests without an answer: connection refused"):
        runner.run(shown.values(), plain_tasks(30))


# --- tasks ------------------------------------------------------------------------------------------------------------


def test_made_tasks_are_valid_and_distinct(catalog: tscg.Catalog) -> None:
    tasks = make_tasks(catalog, 120)
    assert tasks == make_tasks(catalog, 120) != make_tasks(catalog, 120, seed=1)
    assert len(tasks) == len({task.query for task in tasks}) == len({task.id for task in tasks}) == 120
    compiled = tscg.compile(catalog, "passthrough")
    for task in tasks:
        for call in task.expected:
            found = compiled.resolve(call.tool, dict(call.arguments))
            assert isinstance(found, tscg.Call)
            assert found.repairs == ()
            assert call.tool not in task.query
    assert sum(not task.expected for task in tasks) == 8


def test_halves_share_nothing(catalog: tscg.Catalog) -> None:
    tasks = make_tasks(catalog, 50)
    search, held_out = halves(tasks)
    assert (len(search), len(held_out)) == (30, 20)
    assert {task.id for task in search} | {task.id for task in held_out} == {task.id for task in tasks}


# --- the policy file --------------------------------------------------------------------------------------------------

EVEN: Scores = {f"t{place}": float(place % 3 > 0) for place in range(48)}


def row(arm: Arm, model: str = "in-house-7b") -> TunedRow:
    found = compare(EVEN, {name: float(place % 2) for place, name in enumerate(EVEN)})
    return TunedRow(
        model=model, arm=arm, source="tscg tune, a test", date="2026-11-30", comparison=found, notes=("a\nnote",)
    )


ARMS = {
    "text": Arm(profile="brief"),
    "dispatch": Arm(mode="dispatch", map="signature"),
    "native": Arm(mode="native", profile="conservative"),
    "code": Arm(mode="code"),
    "operators": arm_of(Arm(profile="brief"), ("sdm", "cas", "ccp")),
    "no operator": arm_of(Arm(), ()),
}


@pytest.mark.parametrize("arm", ARMS.values(), ids=ARMS)
def test_the_core_reads_what_is_written(tmp_path: Path, catalog: tscg.Catalog, arm: Arm) -> None:
    path = tmp_path / "tscg.toml"
    write_row(path, row(arm))
    policy = tscg.Policy.load(path)
    (found,) = policy.rows
    assert (found.id, found.mode, found.map, found.profile, found.operators) == (
        "in-house-7b", arm.mode, arm.map, arm.profile, arm.operators
    )  # fmt: skip
    assert found.evidence is not None
    assert (found.evidence.n, found.evidence.date, found.evidence.effect) == (48, "2026-11-30", 0.1667)
    assert found.interval is not None
    assert found.interval[0] < 0.1667 < found.interval[1]
    assert "# a note\n" in path.read_text()
    chosen, reason = policy.choose("in-house-7b", len(catalog))
    assert chosen == arm.resolved
    assert "n = 48, 2026-11-30" in reason
    compiled = tscg.compile(catalog, mode="auto", profile=policy, model="in-house-7b")
    assert compiled.mode == arm.mode


def test_a_row_stands_beside_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "tscg.toml"
    path.write_text('# mine\n[defaults]\nmode = "text" # stays\n\n[[model]]\nid = "other"\nprofile = "brief"\n')
    write_row(path, row(Arm(profile="brief")))
    write_row(path, row(Arm(profile="signature")))
    text = path.read_text()
    assert text.startswith('# mine\n[defaults]\nmode = "text" # stays\n')
    assert [(one.id, one.profile) for one in tscg.Policy.load(path).rows] == [
        ("other", "brief"), ("in-house-7b", "signature")
    ]  # fmt: skip
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_that_is_wrong_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "tscg.toml"
    path.write_text('[[model]]\nid = "x"\nunknown = 1\n')
    with pytest.raises(tscg.ConfigError, match="unknown"):
        write_row(path, row(Arm()))
    assert "in-house" not in path.read_text()
    path.write_text("[[")
    with pytest.raises(tscg.ConfigError, match="cannot be read"):
        write_row(path, row(Arm()))


def test_too_few_for_an_interval(tmp_path: Path) -> None:
    found = compare({"a": 1.0}, {"a": 0.0})
    assert isinstance(found, Comparison)
    assert found.interval == Interval(low=float("-inf"), high=float("inf"))
    with pytest.raises(tscg.ConfigError, match="n = 1 is too small"):
        write_row(tmp_path / "t.toml", TunedRow(model="m", arm=Arm(), source="s", date="", comparison=found))


# --- a whole conversation, and the command ----------------------------------------------------------------------------

HINT = "The code of the colour is written in the manual of the shop, on page nine."
LAMPS: list[dict[str, Any]] = [
    {
        "name": f"{verb}_lamp",
        "description": f"{says} the lamp of a room. {HINT}",
        "inputSchema": {
            "type": "object",
            "properties": {
                "room": {"enum": ["kitchen", "hall", "attic", "cellar", "study"]},
                "minutes": {"type": "integer", "minimum": 1, "maximum": 90},
            },
            "required": ["room", "minutes"],
        },
    }
    for verb, says in (("dim", "Dims"), ("light", "Turns on"), ("paint", "Paints"))
]


class Reader:
    """A model that makes the right call where the prompt holds a sentence, and else an empty one; in text mode alone."""

    label = "reader"
    catalog_model = "reader"

    def __init__(self, tasks: Sequence[Task]) -> None:
        self.expected = {task.query: task.expected for task in tasks}

    def answer(self, messages: Sequence[Message], tools: Sequence[Message], stop: Sequence[str] = ()) -> Answer:
        system = str(messages[0]["content"])
        if sum(message["role"] == "assistant" for message in messages):
            return Answer(output="Done.")
        expected = self.expected[str(messages[-1]["content"])]
        if not expected:
            return Answer(output="No tool does that.")
        arguments = dict(expected[0].arguments) if "page nine" in system else {}
        call = json.dumps({"name": expected[0].tool, "arguments": arguments})
        return Answer(output=f"<tool_call>{call}</tool_call>")


@pytest.fixture(scope="module")
def lamps() -> tscg.Catalog:
    return tscg.Catalog.from_tools(LAMPS)


def test_a_conversation(lamps: tscg.Catalog) -> None:
    tasks = make_tasks(lamps, 60)
    runner = Runner(attempt=attempter_of(Reader(tasks)), model="reader", log=Log())
    result = tune(plan_of(lamps, tasks, stages=("levels",)), runner)
    shown, _ = prepare(list(result.choices["levels"].tokens), lamps)
    said = {arm.profile: "page nine" in one.prepared.system for arm, one in shown.items()}
    assert set(said.values()) == {True, False}
    tied = {arm.profile for arm in result.choices["levels"].tied}
    assert tied == {profile for profile, shows in said.items() if shows}
    assert result.confirmed


@pytest.fixture
def endpoint(lamps: tscg.Catalog) -> Iterator[str]:
    """OpenAI's chat API on this machine, answered by the reader."""
    reader = Reader(make_tasks(lamps, 60))

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = reader.answer(body["messages"], body.get("tools", ()))
            choice = {"message": {"role": "assistant", "content": answer.output}, "finish_reason": "stop"}
            data = json.dumps({"choices": [choice]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def given(tmp_path: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("tools.json").write_text(json.dumps(LAMPS))
    return [
        "tools.json", "--model", "ollama:reader", "--base-url", endpoint, "--tasks", "60", "--stages", "levels",
        "--parallel", "2",
    ]  # fmt: skip


def test_command(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(given) == 0
    shown = capsys.readouterr()
    assert "about 156 attempts" in shown.err
    assert "nothing was sent; --yes starts without asking" in shown.err
    assert not Path("tscg.toml").exists()
    assert not Path("tscg-tune.jsonl").exists()
    assert command.main([*given, "--yes"]) == 0
    told = capsys.readouterr()
    (row_,) = tscg.Policy.load("tscg.toml").rows
    assert row_.id == "reader"
    assert row_.profile in ("conservative", "lossless")
    assert f"use text/{row_.profile}" in told.out
    assert command.main([*given, "--yes", "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert (again["attempts"], again["failed"], again["confirmed"]) == (0, 0, True)
    assert again["winner"]["profile"] == row_.profile


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--stages", "nothing"], "unknown stage 'nothing'"),
        (["--modes", "telepathy"], "unknown mode 'telepathy'"),
        (["--tasks", "5"], "10 are the least"),
        (["--tasks", "x"], "--tasks"),
        (["--parallel", "0"], "1 or more"),
        (["--given", "absent.jsonl"], "absent.jsonl"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_wrong_options(given: list[str], more: list[str], says: str) -> None:
    with pytest.raises(tscg.ConfigError, match=says):
        command.main([*given, *more])


def test_own_tasks(given: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        json.dumps(
            {
                "id": task.id,
                "category": task.category,
                "query": task.query,
                "expect": [{one.tool: dict(one.arguments)} for one in task.expected],
            }
        )
        for task in make_tasks(tscg.Catalog.from_tools(LAMPS), 60)
    ]
    Path("own.jsonl").write_text("\n".join(lines[:40]))
    assert command.main([*given, "--given", "own.jsonl", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n"] == 24


def test_what_it_costs(lamps: tscg.Catalog) -> None:
    pytest.importorskip("genai_prices", reason="genai-prices is not installed")
    plan = plan_of(lamps, make_tasks(lamps, 60), model="openai/gpt-4o")
    assert plan.attempts > 300
    cost = price("openai/gpt-4o", 1_000_000, 0)
    assert cost is not None
    assert 1.0 < cost < 10.0
    assert any("US dollars" in line for line in plan_lines(plan, "openai/gpt-4o", 3))
    assert plan_lines(plan, "openai/gpt-4o", 3)[-1] == "3 attempts are in the log"


def test_result_as_json(lamps: tscg.Catalog) -> None:
    result = run(lamps, Synthetic(), *command.STAGES, n=60)
    assert json.loads(json.dumps(as_dict(result)))["stages"].keys() == {"modes", "levels"}
