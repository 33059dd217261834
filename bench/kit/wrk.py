"""Runs wrk once and reads what it counted.

wrk has no machine-readable output, so `wrk_report.lua` writes one at the end of the run. Before it hands
its latencies over, wrk adds samples that it thinks were missed during stalls (its `stats_correct`), and
derives their spacing from the run's own average: neither what was measured nor an open loop. That addition
is exactly reversible, and is reversed here; what remains must add up to the number of answers, or the
histogram is kept as wrk gave it and marked so.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .peers import find_command
from .process_tree import ProcessTree
from .server import on_cpus

_HOOK = Path(__file__).with_name("wrk_report.lua")
TIMEOUT_S = 5


class LoadError(Exception):
    """The load generator could not do its work; the text is its own."""


@dataclass(frozen=True)
class LoadResult:
    """One run of the generator. Times in seconds, latencies in microseconds."""

    duration_s: float
    requests: int
    received_octets: int
    errors: dict[str, int]
    latency: tuple[tuple[int, int], ...]  # (microseconds, count), ascending
    latency_is_raw: bool  # wrk's added samples could be taken out
    generator_cpu_s: float
    request_body: str | None = None

    @property
    def rate(self) -> float:
        return self.requests / self.duration_s if self.duration_s else 0.0

    @property
    def error_count(self) -> int:
        return sum(self.errors.values())

    @property
    def mean_latency_s(self) -> float:
        total = sum(count for _, count in self.latency)
        return sum(value * count for value, count in self.latency) / total / 1e6 if total else 0.0


def version() -> str:
    """wrk's own first words, empty when it is not there."""
    path = find_command("wrk")
    if path is None:
        return ""
    done = subprocess.run([path, "-v"], capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr).strip().partition(" Copyright")[0]


def choose_threads(connections: int, cpus: int) -> int:
    """wrk gives each thread the same number of connections, so the threads must divide them, or some are
    not opened.
    """
    return max(count for count in range(1, max(1, min(cpus, connections)) + 1) if connections % count == 0)


def command(url: str, *, threads: int, connections: int, duration_s: int) -> list[str]:
    return [
        "wrk",
        f"-t{threads}",
        f"-c{connections}",
        f"-d{duration_s}s",
        f"--timeout={TIMEOUT_S}s",
        "-s",
        str(_HOOK),
        url,
    ]


class WrkRun:
    """One running wrk: start it, look at the server meanwhile, collect it. Leaving the `with` ends it.

    With `unique` no document is sent twice; making them costs the generator time, so this is for checking
    only.
    """

    def __init__(
        self,
        url: str,
        *,
        threads: int,
        connections: int,
        duration_s: int,
        cpus: Sequence[int],
        script: Path | None,
        unique: bool = False,
    ) -> None:
        self._duration_s = duration_s
        self._connections = connections
        self._report = _temporary(".json")
        self._output = _temporary(".txt")
        env = {**os.environ, "KIT_SCRIPT": str(script) if script else "", "KIT_REPORT": str(self._report)}
        if unique:
            env["KIT_UNIQUE"] = "1"
        words = command(url, threads=threads, connections=connections, duration_s=duration_s)
        words[0] = find_command("wrk") or "wrk"
        with on_cpus(cpus), self._output.open("wb") as output:
            self._process = subprocess.Popen(
                words,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __enter__(self) -> WrkRun:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.returncode is None:
            ProcessTree([self._process.pid], session=self._process.pid).end(grace_s=0.5)
            self._process.wait()
        self._report.unlink(missing_ok=True)
        self._output.unlink(missing_ok=True)

    def collect(self) -> LoadResult:
        """Waits for the end of the run. Raises LoadError."""
        cpu_s = wait_for_usage(self._process, self._duration_s + TIMEOUT_S + 10)
        text = self._report.read_text(errors="replace")
        if self._process.returncode != 0 or not text:
            lines = self._output.read_text(errors="replace").strip().splitlines() or ["no output"]
            raise LoadError(f"wrk: {lines[-1]}")
        return parse_report(json.loads(text), self._connections, cpu_s)


def wait_for_usage(process: subprocess.Popen[bytes], timeout_s: float) -> float:
    """Waits for a child and gives the CPU seconds of this one alone. Raises LoadError when time is up."""
    deadline = time.monotonic() + timeout_s
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage.ru_utime + usage.ru_stime
        if time.monotonic() > deadline:
            raise LoadError("the load generator did not end in time")
        time.sleep(0.005)


def _temporary(suffix: str) -> Path:
    handle, name = tempfile.mkstemp(prefix="compare-", suffix=suffix)
    os.close(handle)
    return Path(name)


def parse_report(report: dict[str, Any], connections: int, generator_cpu_s: float = 0.0) -> LoadResult:
    """Turns the hook's JSON into a result, without the samples that wrk added."""
    histogram = [(int(value), int(count)) for value, count in report["latency_us"]]
    raw = undo_correction(histogram, report["duration_us"], report["requests"], connections)
    answered = int(report["requests"]) - int(report["errors"]["timeout"])
    is_raw = raw is not None and abs(sum(count for _, count in raw) - answered) <= max(2, answered // 1000)
    latency = raw if raw is not None and is_raw else histogram
    return LoadResult(
        duration_s=report["duration_us"] / 1e6,
        requests=int(report["requests"]),
        received_octets=int(report["bytes"]),
        errors={key: int(value) for key, value in report["errors"].items()},
        latency=tuple(latency),
        latency_is_raw=is_raw,
        generator_cpu_s=generator_cpu_s,
        request_body=report.get("body"),
    )


def undo_correction(
    histogram: Sequence[tuple[int, int]],
    duration_us: float,
    requests: int,
    connections: int,
) -> list[tuple[int, int]] | None:
    """The histogram before wrk's stats_correct; None when it cannot have been made by it.

    For every latency n of at least twice the expected spacing e, wrk adds n's count at n - e, n - 2e, ...
    above e. Additions only go downwards, so taking them back from the top meets each original count before
    it is used.
    """
    if requests < connections:
        return list(histogram)  # wrk corrects nothing then
    expected = int(duration_us) // (int(requests) // connections)
    counts = dict(histogram)
    for value in sorted(counts, reverse=True):
        if value < 2 * expected:
            break
        count = counts[value]
        if count < 0:
            return None
        lower = value - expected
        while count and lower > expected:
            if lower not in counts:
                return None
            counts[lower] -= count
            lower -= expected
    if any(count < 0 for count in counts.values()):
        return None
    return sorted((value, count) for value, count in counts.items() if count)
