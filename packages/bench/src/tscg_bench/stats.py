"""Statistics. The unit is the task: repeats of one task are averaged first, and pairs are of the same task."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats as scipy_stats

__all__ = [
    "Comparison", "Interval", "Oldham", "bca", "compare", "detectable", "family", "holm", "mcnemar", "oldham",
    "paired_interval", "sample_size", "wilson",
]  # fmt: skip

CONFIDENCE = 0.95
RESAMPLES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """An interval of confidence."""

    low: float
    high: float

    def holds(self, value: float) -> bool:
        """Is the value inside?"""
        return self.low <= value <= self.high


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two conditions on the same tasks: ``a`` minus ``b``.

    ``only_a`` and ``only_b`` count the discordant tasks, right in one alone. ``p`` is of the exact McNemar test,
    ``adjusted`` the same after Holm over its family (equal to ``p`` where it stands alone). ``detectable`` is the
    smallest difference that this many tasks show with power 0.8.
    """

    n: int
    difference: float
    interval: Interval
    only_a: int
    only_b: int
    p: float
    adjusted: float
    detectable: float

    @property
    def verdict(self) -> str:
        """``better``, ``worse`` or ``no difference found``, by the adjusted p and the interval together."""
        if self.adjusted < 1 - CONFIDENCE and not self.interval.holds(0.0):
            return "better" if self.difference > 0 else "worse"
        return "no difference found"


@dataclass(frozen=True, slots=True, kw_only=True)
class Oldham:
    """Does the gain depend on the level? ``r`` correlates difference and mean, which is free of the built-in
    correlation of difference and baseline: ``naive_r`` and, under no relation at all, ``null`` show that one."""

    n: int
    r: float
    p: float
    naive_r: float
    null: Interval


def wilson(successes: float, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Wilson's score interval of a share; of nothing it is the whole range.

    >>> found = wilson(8, 10)
    >>> round(found.low, 3), round(found.high, 3)
    (0.49, 0.943)
    """
    if n == 0:
        return Interval(low=0.0, high=1.0)
    z = float(scipy_stats.norm.ppf((1 + confidence) / 2))
    share = successes / n
    middle = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return Interval(low=max(0.0, middle - half), high=min(1.0, middle + half))


def mcnemar(only_a: int, only_b: int) -> float:
    """Two-sided p of the exact McNemar test on the discordant pairs.

    >>> round(mcnemar(9, 1), 4), mcnemar(0, 0)
    (0.0215, 1.0)
    """
    if only_a + only_b == 0:
        return 1.0
    return float(scipy_stats.binomtest(only_a, only_a + only_b, 0.5).pvalue)


def holm(pvalues: Sequence[float]) -> tuple[float, ...]:
    """The p values adjusted for their number, in the order given (Holm 1979).

    >>> tuple(round(p, 3) for p in holm([0.01, 0.04, 0.03]))
    (0.03, 0.06, 0.06)
    """
    order = sorted(range(len(pvalues)), key=pvalues.__getitem__)
    adjusted, floor = [1.0] * len(pvalues), 0.0
    for rank, place in enumerate(order):
        floor = max(floor, min(1.0, (len(pvalues) - rank) * pvalues[place]))
        adjusted[place] = floor
    return tuple(adjusted)


def bca(values: Sequence[float], *, confidence: float = CONFIDENCE, seed: int = 0) -> Interval:
    """Bias-corrected accelerated bootstrap of a mean, the same at every run.

    Values that are all equal have no spread to resample: their interval is the point. One value alone, or none, says
    nothing: the interval is infinite.

    >>> found = bca([0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0])
    >>> found.low < 0.625 < found.high
    True
    """
    if len(values) < 2:
        return Interval(low=-math.inf, high=math.inf)
    sample = np.asarray(values, dtype=float)
    if np.ptp(sample) == 0:
        return Interval(low=float(sample[0]), high=float(sample[0]))
    found = scipy_stats.bootstrap(
        (sample,), np.mean, confidence_level=confidence, method="BCa", n_resamples=RESAMPLES,
        rng=np.random.default_rng(seed), vectorized=True, batch=200,
    ).confidence_interval  # fmt: skip
    return Interval(low=float(found.low), high=float(found.high))


def paired_interval(a: Sequence[float], b: Sequence[float], *, seed: int = 0) -> Interval:
    """BCa interval of the mean difference of pairs.

    Pairs that all differ alike say little about the next one: the interval is then that of Wilson for "none of n".
    """
    differences = [x - y for x, y in zip(a, b, strict=True)]
    if len(differences) > 1 and max(differences) == min(differences):
        spread = wilson(0, len(differences)).high
        return Interval(low=differences[0] - spread, high=differences[0] + spread)
    return bca(differences, seed=seed)


def compare(a: Mapping[str, float], b: Mapping[str, float], *, seed: int = 0) -> Comparison:
    """Two conditions by task: a score of 1 is right, any lower one is not; tasks that one of them lacks are left out.

    >>> a, b = {"t1": 1.0, "t2": 1.0, "t3": 0.0}, {"t1": 1.0, "t2": 0.0, "t4": 1.0}
    >>> found = compare(a, b)
    >>> found.n, found.difference, found.only_a, found.only_b
    (2, 0.5, 1, 0)
    """
    shared = sorted(a.keys() & b.keys())
    first, second = [a[name] for name in shared], [b[name] for name in shared]
    only_a = sum(x >= 1 > y for x, y in zip(first, second, strict=True))
    only_b = sum(y >= 1 > x for x, y in zip(first, second, strict=True))
    p = mcnemar(only_a, only_b)
    n = len(shared)
    return Comparison(
        n=n,
        difference=(sum(first) - sum(second)) / n if n else 0.0,
        interval=paired_interval(first, second, seed=seed),
        only_a=only_a,
        only_b=only_b,
        p=p,
        adjusted=p,
        detectable=detectable(n, discordant=(only_a + only_b) / n if n else 1.0),
    )


def family(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The same comparisons with their p values adjusted for being looked at together."""
    from dataclasses import replace

    adjusted = holm([found.p for found in comparisons])
    return tuple(replace(found, adjusted=p) for found, p in zip(comparisons, adjusted, strict=True))


def sample_size(effect: float, discordant: float, *, alpha: float = 0.05, power: float = 0.8) -> int:
    """Tasks that are needed to see a paired difference, where a share of the tasks is discordant (Connor 1987).

    >>> sample_size(0.10, 0.15), sample_size(0.05, 0.10)
    (116, 312)
    """
    if not 0 < abs(effect) <= discordant:
        raise ValueError("the effect is at most the share of discordant tasks, and not 0")
    z_alpha, z_power = (float(scipy_stats.norm.ppf(q)) for q in (1 - alpha / 2, power))
    root = z_alpha * math.sqrt(discordant) + z_power * math.sqrt(discordant - effect * effect)
    return math.ceil((root / effect) ** 2)


def detectable(n: int, *, discordant: float, alpha: float = 0.05, power: float = 0.8) -> float:
    """The smallest difference that ``n`` tasks show with this power; 1 where not even that is seen.

    A difference larger than the share of discordant tasks needs as many of them as it is large. Fewer than 5 % of
    discordant tasks are taken as 5 %: so few say little of the next run.

    >>> [round(detectable(n, discordant=share), 2) for n, share in ((116, 0.15), (312, 0.10), (30, 0.0))]
    [0.1, 0.05, 0.24]
    """
    share = min(1.0, max(discordant, 0.05))

    def seen(effect: float) -> bool:
        return sample_size(effect, max(share, effect), alpha=alpha, power=power) <= n

    low, high = 0.0, 1.0
    if not seen(high):
        return 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (low, middle) if seen(middle) else (middle, high)
    return high


def oldham(a: Sequence[float], b: Sequence[float], *, seed: int = 0, rounds: int = 1_000) -> Oldham:
    """Oldham's method on the scores of models or cells, ``a`` compiled and ``b`` the baseline (Oldham 1962).

    ``null`` holds 95 % of what correlating ``a - b`` with ``b`` gives when the two are drawn apart from one another.

    >>> found = oldham([0.9, 0.8, 0.7, 0.9, 0.6], [0.8, 0.9, 0.6, 0.7, 0.7])
    >>> found.naive_r < found.r, found.null.low < -0.7
    (True, True)
    """
    first, second = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if len(first) < 3 or np.ptp(first) == 0 or np.ptp(second) == 0 or np.ptp(first - second) == 0:
        return Oldham(n=len(first), r=math.nan, p=math.nan, naive_r=math.nan, null=Interval(low=-1.0, high=1.0))
    found = scipy_stats.pearsonr(first - second, (first + second) / 2)
    naive = float(np.corrcoef(first - second, second)[0, 1])
    random = np.random.default_rng(seed)
    drawn = [(random.permutation(first), second) for _ in range(rounds)]
    null = [float(np.corrcoef(x - y, y)[0, 1]) for x, y in drawn if np.ptp(x - y) > 0]
    low, high = np.quantile(null, [0.025, 0.975])
    return Oldham(
        n=len(first), r=float(found.statistic), p=float(found.pvalue), naive_r=naive,
        null=Interval(low=float(low), high=float(high)),
    )  # fmt: skip
