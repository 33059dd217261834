"""The figures' figures: medians with bootstrap intervals, paired ratios, ties.

One sample is one round. Every function is deterministic for a given seed, so a report can be made again
from the raw samples in results.json.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy

CONFIDENCE = 0.95
ROUNDS_TO_TELL = (
    5  # with fewer paired rounds even a perfect record may be luck (sign test: p > 0.05 for four)
)
_RESAMPLES = 4999


@dataclass(frozen=True)
class Estimate:
    """A median and its 95 % bootstrap interval; with one sample the interval is unknown (low = high =
    median).
    """

    median: float
    low: float
    high: float
    count: int

    @property
    def half_width(self) -> float:
        """Half the interval relative to the median: the `±` of the tables."""
        return (self.high - self.low) / 2 / self.median if self.median else 0.0

    def as_json(self) -> dict[str, float | int]:
        return {"median": self.median, "low": self.low, "high": self.high, "count": self.count}


def estimate(samples: Sequence[float], seed: int = 0) -> Estimate:
    """Median of the rounds with a percentile bootstrap interval."""
    values = numpy.asarray(samples, dtype=float)
    if values.size == 0:
        raise ValueError("no samples")
    median = float(numpy.median(values))
    if values.size == 1 or numpy.all(values == values[0]):
        return Estimate(median, median, median, int(values.size))
    low, high = _bootstrap((values,), lambda sample, axis=-1: numpy.median(sample, axis=axis), seed)
    return Estimate(median, low, high, int(values.size))


def paired_ratio(samples: Sequence[float], reference: Sequence[float], seed: int = 0) -> Estimate:
    """Median over rounds of sample / reference. A disturbance that hits both of a round cancels out."""
    pairs = [sample / other for sample, other in zip(samples, reference, strict=True) if other]
    return estimate(pairs, seed)


def ratio_of_medians(new: Sequence[float], old: Sequence[float], seed: int = 0) -> Estimate:
    """median(new) / median(old) for two runs that share no rounds, with its bootstrap interval."""
    fresh, former = numpy.asarray(new, dtype=float), numpy.asarray(old, dtype=float)
    middle = float(numpy.median(fresh) / numpy.median(former))
    count = int(min(fresh.size, former.size))
    if count < 2 or (numpy.ptp(fresh) == 0 and numpy.ptp(former) == 0):
        return Estimate(middle, middle, middle, count)

    def statistic(left: numpy.ndarray, right: numpy.ndarray, axis: int = -1) -> numpy.ndarray:
        return numpy.median(left, axis=axis) / numpy.median(right, axis=axis)

    low, high = _bootstrap((fresh, former), statistic, seed)
    return Estimate(middle, low, high, count)


def _bootstrap(data: tuple[numpy.ndarray, ...], statistic: object, seed: int) -> tuple[float, float]:
    from scipy import (
        stats,
    )  # late: it takes a second to load, and --list or a mistyped option need not wait for it

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy warns about samples that happen to be equal
        interval = stats.bootstrap(
            data,
            statistic,
            confidence_level=CONFIDENCE,
            n_resamples=_RESAMPLES,
            method="percentile",
            vectorized=True,
            random_state=numpy.random.default_rng(seed),
        ).confidence_interval
    return float(interval.low), float(interval.high)


def differs(ratio: Estimate) -> bool:
    """True when a difference was shown: enough rounds, and an interval that leaves out 1."""
    return ratio.count >= ROUNDS_TO_TELL and (ratio.low > 1.0 or ratio.high < 1.0)


def rank_with_ties(rounds: Sequence[Sequence[float]], seed: int = 0) -> list[int]:
    """Ranks rows (higher is better) that were measured in the same rounds; 1 is best.

    A row shares the rank of the best one of the group above it as long as no difference to that one was
    shown; the next row then gets the rank it would have without ties, as in sports.
    """
    medians = [float(numpy.median(samples)) for samples in rounds]
    order = sorted(range(len(rounds)), key=lambda index: -medians[index])
    ranks = [0] * len(rounds)
    leader = 0
    for place, index in enumerate(order):
        if place == 0 or differs(paired_ratio(rounds[index], rounds[order[leader]], seed)):
            leader = place
        ranks[index] = leader + 1
    return ranks


def percentile(histogram: Sequence[tuple[int, int]], share: float) -> float:
    """The smallest latency that at least `share` percent of the counted requests do not exceed."""
    total = sum(count for _, count in histogram)
    if total == 0:
        return 0.0
    needed, seen = total * share / 100.0, 0
    for value, count in histogram:
        seen += count
        if seen >= needed:
            return float(value)
    return float(histogram[-1][0])


def merge_histograms(histograms: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[int, int]]:
    """All rounds' latencies together, ascending."""
    merged: dict[int, int] = {}
    for histogram in histograms:
        for value, count in histogram:
            merged[value] = merged.get(value, 0) + count
    return sorted(merged.items())
