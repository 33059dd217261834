"""Latency under a fixed rate of arrivals, counted from the moment a request was due.

A closed loop stops asking while the server stalls and so hides the stall. Here requests are due at fixed
times; one that has to wait for its turn has its waiting counted. Two tools do that over HTTP/1.1: oha with
its latency correction, and vegeta, whose raw results hold each request's number and time, from which we
count ourselves.
"""

from __future__ import annotations

import csv
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy

from .http_client import Target
from .peers import find_command
from .process_tree import ProcessTree
from .server import on_cpus
from .wrk import LoadError, wait_for_usage

SHARES = (50.0, 90.0, 99.0, 99.9)
HELD = 0.97  # of the rate that was asked for, or the figures describe the tool and not the server


@dataclass(frozen=True)
class Tool:
    """The program found: oha or vegeta."""

    name: str
    path: str
    version: str
    json_option: tuple[str, ...] = ()


@dataclass(frozen=True)
class OpenLoopResult:
    """One run. Latencies in microseconds from the moment the request was due."""

    asked_rate: float
    reached_rate: float
    held: bool
    requests: int
    errors: int
    latency_us: dict[str, float]
    generator_cpus: float
    command: str


def find_tool() -> Tool | None:
    """oha where it is installed, else vegeta."""
    if path := find_command("oha"):
        text = _output([path, "--help"])
        option = ("--output-format", "json") if "--output-format" in text else ("--json",)
        return Tool("oha", path, _output([path, "--version"]).strip(), option)
    if path := find_command("vegeta"):
        return Tool("vegeta", path, f"vegeta {_vegeta_version(path)}".strip())
    return None


def _vegeta_version(path: str) -> str:
    """Its own word for it, or, when it was built by `go install`, what Go wrote into the program."""
    own = _output([path, "-version"]).partition("\n")[0].removeprefix("Version:").strip()
    if own:
        return own
    for line in _output([find_command("go") or "go", "version", "-m", path]).splitlines():
        words = line.split()
        if words[:1] == ["mod"] and len(words) > 2:
            return words[2]
    return ""


def _output(words: Sequence[str]) -> str:
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout + done.stderr


def run(
    tool: Tool,
    target: Target,
    *,
    rate: float,
    duration_s: int,
    connections: int,
    body: bytes | None,
    cpus: Sequence[int],
) -> OpenLoopResult:
    """One run of `tool`. Raises LoadError when the tool fails; a rate it cannot hold is no failure, but
    marked.
    """
    whole_rate = max(1, round(rate))
    with tempfile.TemporaryDirectory(prefix="compare-open-loop-") as name:
        folder = Path(name)
        body_file = folder / "body.json"
        if body is not None:
            body_file.write_bytes(body)
        words = (
            _oha_command(tool, target, whole_rate, duration_s, connections, body_file if body else None)
            if tool.name == "oha"
            else _vegeta_command(
                tool, target, whole_rate, duration_s, connections, body_file if body else None, folder
            )
        )
        cpu_s = _run(words, folder / "out", cpus, duration_s)
        command = " ".join([tool.name, *words[1:]]).replace(str(folder), "$TMP")
        if tool.name == "oha":
            return read_oha(json.loads((folder / "out").read_text()), whole_rate, cpu_s, command)
        encoded = _output([tool.path, "encode", "-to", "csv", str(folder / "results.bin")])
        return read_vegeta(encoded.splitlines(), whole_rate, cpu_s, duration_s, command)


def _run(words: Sequence[str], output: Path, cpus: Sequence[int], duration_s: int) -> float:
    """Runs the tool, output to a file; its CPU seconds."""
    errors = output.with_suffix(".errors")
    with on_cpus(cpus), output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            env={**os.environ, "NO_COLOR": "1"},
        )
    try:
        cpu_s = wait_for_usage(process, duration_s + 30)
    finally:
        if process.returncode is None:
            ProcessTree([process.pid], session=process.pid).end(grace_s=0.5)
            process.wait()
    if process.returncode != 0:
        lines = errors.read_text(errors="replace").strip().splitlines() or ["no output"]
        raise LoadError(f"{Path(words[0]).name}: {lines[-1]}")
    return cpu_s


def _oha_command(
    tool: Tool,
    target: Target,
    rate: int,
    duration_s: int,
    connections: int,
    body: Path | None,
) -> list[str]:
    words = [
        tool.path,
        "--no-tui",
        *tool.json_option,
        "-z",
        f"{duration_s}s",
        "-q",
        str(rate),
        "-c",
        str(connections),
        "--latency-correction",
    ]
    if body:
        words += ["-m", "POST", "-T", "application/json", "-D", str(body)]
    return [*words, target.url]


def read_oha(report: dict, rate: int, cpu_s: float, command: str) -> OpenLoopResult:
    """Reads oha's JSON; its latencies are in seconds and already corrected."""
    summary, shares = report["summary"], report["latencyPercentiles"]
    statuses = {int(status): count for status, count in report.get("statusCodeDistribution", {}).items()}
    answered = sum(statuses.values())
    # Requests that the deadline cut off are no fault of the server.
    faults = sum(
        count for text, count in report.get("errorDistribution", {}).items() if "deadline" not in text
    )
    reached = answered / summary["total"] if summary["total"] else 0.0
    return OpenLoopResult(
        asked_rate=rate,
        reached_rate=reached,
        held=reached >= HELD * rate,
        requests=answered,
        errors=faults + sum(count for status, count in statuses.items() if status != 200),
        latency_us={f"p{share:g}": (shares.get(f"p{share:g}") or 0.0) * 1e6 for share in SHARES},
        generator_cpus=cpu_s / summary["total"] if summary["total"] else 0.0,
        command=command,
    )


def _vegeta_command(
    tool: Tool, target: Target, rate: int, duration_s: int, connections: int, body: Path | None, folder: Path
) -> list[str]:
    targets = folder / "targets"
    text = f"{'POST' if body else 'GET'} {target.url}\n"
    if body:
        text += f"Content-Type: application/json\n@{body}\n"
    targets.write_text(text)
    return [
        tool.path,
        "attack",
        f"-targets={targets}",
        f"-rate={rate}/1s",
        f"-duration={duration_s}s",
        f"-workers={connections}",
        f"-max-workers={max(connections, 1024)}",
        f"-connections={connections}",
        "-timeout=10s",
        "-max-body=0",
        f"-output={folder / 'results.bin'}",
    ]


def read_vegeta(
    lines: Iterable[str], rate: int, cpu_s: float, duration_s: float, command: str
) -> OpenLoopResult:
    """Reads vegeta's CSV: time sent (ns), status, latency (ns), ..., sequence number in column 8.

    Request number i was due i / rate after the first one, whenever it was really sent.
    """
    rows = [(int(row[0]), int(row[1]), int(row[2]), int(row[8])) for row in csv.reader(lines) if len(row) > 8]
    if not rows:
        raise LoadError("vegeta recorded nothing")
    table = numpy.array(rows, dtype=numpy.int64)
    sent, status, took, number = table.T
    first = int((sent - (number * 1e9 / rate).astype(numpy.int64)).min())
    due = first + (number * 1e9 / rate).astype(numpy.int64)
    latency_us = (sent + took - due) / 1e3
    span_s = max(duration_s, float((sent + took).max() - first) / 1e9)
    reached = len(rows) / span_s
    return OpenLoopResult(
        asked_rate=rate,
        reached_rate=reached,
        held=reached >= HELD * rate,
        requests=len(rows),
        errors=int((status != 200).sum()),
        latency_us={f"p{share:g}": float(numpy.percentile(latency_us, share)) for share in SHARES},
        generator_cpus=cpu_s / duration_s,
        command=command,
    )
