"""Two results files compared: a word and a figure a row. A regression must be shown, and large, to count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .statistics import ROUNDS_TO_TELL, Estimate, differs, ratio_of_medians
from .verdicts import FAILED, GENERATOR_BOUND

_METRICS = (("rate", "req/s", True), ("cpu_us_per_request", "CPU µs/req", False))  # True: more is better
_SETTINGS = ("workload", "workers", "cpus", "duration_s")
_MACHINE = ("cpu", "cpus_allowed", "kernel", "governor", "virtual")


@dataclass(frozen=True)
class Change:
    """One metric of one row, new against old."""

    name: str
    connections: int
    metric: str
    word: str  # improved, regressed, within noise, gone, new, failed
    detail: str
    counts: bool  # a regression that was shown and is over the threshold


def compare(old: dict[str, Any], new: dict[str, Any], threshold: float) -> list[Change]:
    """Every row of either record. `threshold` is a share: 0.05 for 5 %."""
    before, after = (
        {(row["name"], row["connections"]): row for row in record["rows"]} for record in (old, new)
    )
    changes: list[Change] = []
    for key in [*before, *(key for key in after if key not in before)]:
        if key not in after:
            changes.append(Change(*key, "", "gone", "only in the old file", False))
        elif key not in before:
            changes.append(Change(*key, "", "new", "only in the new file", False))
        elif after[key]["verdict"] == FAILED:
            known = before[key]["verdict"] == FAILED
            changes.append(Change(*key, "", "failed", after[key]["reason"], not known))
        elif before[key]["verdict"] == FAILED:
            changes.append(Change(*key, "", "improved", "it failed before", False))
        else:
            changes += _compare_row(key, before[key], after[key], threshold, new["settings"]["seed"])
    return changes


def _compare_row(
    key: tuple[str, int],
    old: dict[str, Any],
    new: dict[str, Any],
    threshold: float,
    seed: int,
) -> list[Change]:
    changes = []
    for metric, label, more_is_better in _METRICS:
        former, fresh = (
            [sample[metric] for sample in row["samples"] if sample[metric]] for row in (old, new)
        )
        if not former or not fresh:
            continue
        ratio = ratio_of_medians(fresh, former, seed)
        word, counts = judge(ratio, threshold, more_is_better)
        # A rate that was the generator's own says nothing about the server.
        bound = metric == "rate" and GENERATOR_BOUND in (old["verdict"], new["verdict"])
        detail = _describe(ratio) + (", generator-bound" if bound else "")
        if ratio.count < ROUNDS_TO_TELL:
            detail += f", fewer than the {ROUNDS_TO_TELL} rounds it takes to tell"
        if word == "regressed" and not counts and not bound:
            detail += ", under the threshold"
        changes.append(Change(*key, label, word, detail, counts and not bound))
    return changes


def judge(ratio: Estimate, threshold: float, more_is_better: bool) -> tuple[str, bool]:
    """The word for new / old, and whether it is a regression that counts."""
    if not differs(ratio):
        return "within noise", False
    better = (ratio.median > 1.0) == more_is_better
    # Both directions as a loss of speed: 5 % fewer requests, or 5 % more CPU time for each.
    loss = 1.0 - ratio.median if more_is_better else ratio.median - 1.0
    return ("improved", False) if better else ("regressed", loss > threshold)


def _describe(ratio: Estimate) -> str:
    return f"{ratio.median - 1:+.1%} [{ratio.low - 1:+.1%} to {ratio.high - 1:+.1%}]"


def find_mismatches(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """Differences between the two runs that make their figures hard to compare."""
    found = []
    for where, keys in (("settings", _SETTINGS), ("machine", _MACHINE)):
        for key in keys:
            if old[where].get(key) != new[where].get(key):
                found.append(f"{key}: {old[where].get(key)} then, {new[where].get(key)} now")
    if old["cpu_plan"]["description"] != new["cpu_plan"]["description"]:
        found.append(f"CPUs: {old['cpu_plan']['description']} then, {new['cpu_plan']['description']} now")
    return found
