"""The record of one comparison: what results.json holds, and every figure derived from its raw samples.

Tables, charts and `diff` read this record and nothing else, so they can be made again from the file.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

from . import verdicts
from .peers import ROOT
from .rounds import Contestant, Session, latency_curve
from .statistics import estimate, paired_ratio, rank_with_ties

SCHEMA, SCHEMA_VERSION = "rest-echo-compare", 1
SECTIONS = ("out-of-the-box", "tuned")
_ESTIMATED = (
    "rate",
    "cpu_us_per_request",
    "generator_us_per_request",
    "server_cpus",
    "generator_cpus",
    "memory_bytes",
)


class ResultsError(Exception):
    """A file that is no record of ours, or one of another schema."""


def make_record(session: Session, context: dict[str, Any]) -> dict[str, Any]:
    """Everything about this run; `context` is what the caller knows (command, machine, warnings, skipped)."""
    record = {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        **context,
        "interrupted": session.interrupted,
        "settings": asdict(session.settings),
        "cpu_plan": {**asdict(session.plan), "description": session.plan.describe()},
        "quota": session.quota.describe(),
        "servers": {one.peer.name: _describe(one) for one in session.contestants},
        "rows": [
            _make_row(session, one, connections)
            for one in session.contestants
            for connections in session.settings.connections
        ],
        "open_loop": [{"name": one.peer.name, **run} for one in session.contestants for run in one.open_loop],
    }
    summarise(record)
    return record


def _describe(one: Contestant) -> dict[str, Any]:
    peer, before = one.peer, one.before
    return {
        "title": peer.title,
        "class": peer.peer_class,
        "group": peer.group,
        "language": peer.language,
        "maintenance": peer.maintenance,
        "licence": peer.licence,
        "note": peer.note,
        "version": one.version,
        "command": shlex.join(one.server.command).replace(f"{ROOT}/", "") if one.server.command else peer.url,
        "env": dict(peer.env),
        "workers": one.server.workers,
        "workers_by": peer.workers_by,
        "max_workers": peer.max_workers,
        "verified": peer.verify,
        "failure": one.failure,
        "startup_s": one.startup_s,
        "idle_bytes": one.idle_bytes,
        "peak_bytes": one.peak_bytes,
        "warmup_s": one.warmup_s,
        "warmup_settled": one.warmup_settled,
        "answer_octets": before.answer_octets if before else None,
        "body_octets": before.body_octets if before else None,
        "loose_octets": before.loose_octets if before else None,
        "keeps_alive": before.keeps_alive if before else None,
        "checked_before": before is not None,
        "checked_after": one.checked_after,
        "malformed": one.malformed,
        "repeat_ratio": one.repeat_ratio,
        "restless_cpus": one.restless_cpus,
    }


def _make_row(session: Session, one: Contestant, connections: int) -> dict[str, Any]:
    plan, settings, peer = session.plan, session.settings, one.peer
    capacity = float(len(plan.server or plan.available))
    if settings.cpus:
        capacity = min(capacity, settings.cpus)
    # A server from the command line got its number of workers only if its command asks for it.
    if peer.group != "yours" or "{workers}" in peer.run:
        capacity = min(capacity, float(one.server.workers))
    threads = session.threads(connections)
    return {
        "name": peer.name,
        "connections": connections,
        "server_capacity": capacity,
        "generator_threads": threads,
        "generator_capacity": float(min(threads, len(plan.generator or plan.available))),
        "shared_cpus": 0.0 if plan.disjoint else float(len(plan.available)),
        "samples": one.samples.get(connections, []),
        "latency_curve_us": latency_curve(one.histograms[connections])
        if one.histograms.get(connections)
        else [],
    }


# ------------------------------------------------------------------------------------------------ summary


def summarise(record: dict[str, Any]) -> None:
    """Adds to each row: estimates, ratios, verdict and ranks, all from raw samples and the recorded seed."""
    seed, reference = record["settings"]["seed"], record["settings"]["reference"]
    for row in record["rows"]:
        row["summary"] = _summarise_samples(row["samples"], seed)
        row["verdict"], row["reason"] = _judge(row, record["servers"][row["name"]])
    for row in record["rows"]:
        row["ratio"] = _ratio(record, row, reference, "rate", seed)
        row["cpu_ratio"] = _ratio(record, row, reference, "cpu_us_per_request", seed)
        floor = next(
            (name for name, server in record["servers"].items() if server["group"] == "yardstick"), ""
        )
        row["of_floor"] = _ratio(record, row, floor, "rate", seed)
        row["ranks"] = {}
    for connections in record["settings"]["connections"]:
        for section in sections(record):
            _rank(record, connections, section, seed)


def _summarise_samples(samples: Sequence[dict[str, Any]], seed: int) -> dict[str, Any]:
    if not samples:
        return {}
    summary: dict[str, Any] = {}
    for key in _ESTIMATED:
        values = [sample[key] for sample in samples if sample[key] is not None]
        summary[key] = estimate(values, seed).as_json() if values else None
    summary["latency_us"] = {
        name: estimate([sample["latency_us"][name] for sample in samples], seed).as_json()
        for name in samples[0]["latency_us"]
    }
    summary["errors"] = sum(sum(sample["errors"].values()) for sample in samples)
    summary["requests"] = sum(sample["requests"] for sample in samples)
    summary["little"] = median(sample["little"] for sample in samples)
    for key in ("others", "throttled_s"):
        values = [sample[key] for sample in samples if sample[key] is not None]
        summary[key] = median(values) if values else None
    return summary


def _judge(row: dict[str, Any], server: dict[str, Any]) -> tuple[str, str]:
    if server["failure"]:
        return verdicts.FAILED, server["failure"]
    summary = row["summary"]
    if not summary:
        return verdicts.FAILED, "not measured"
    rate, used = summary["rate"], summary["server_cpus"]
    return verdicts.judge(
        verdicts.Load(
            server_cpus=used["median"] if used else None,
            server_capacity=row["server_capacity"],
            generator_cpus=summary["generator_cpus"]["median"],
            generator_capacity=row["generator_capacity"],
            others=summary["others"] or 0.0,
            spread=(rate["high"] - rate["low"]) / 2 / rate["median"],
            little=summary["little"],
            shared_cpus=row["shared_cpus"],
        )
    )


def _ratio(
    record: dict[str, Any],
    row: dict[str, Any],
    reference: str,
    key: str,
    seed: int,
) -> dict[str, float | int] | None:
    """This row against the reference, round by round; None without rounds in common."""
    other = next(
        (
            candidate
            for candidate in record["rows"]
            if candidate["name"] == reference and candidate["connections"] == row["connections"]
        ),
        None,
    )
    if other is None or other is row:
        return None
    mine, theirs = (
        {sample["round"]: sample[key] for sample in chosen["samples"] if sample[key]}
        for chosen in (row, other)
    )
    common = sorted(mine.keys() & theirs.keys())
    if not common:
        return None
    return paired_ratio(
        [mine[number] for number in common], [theirs[number] for number in common], seed
    ).as_json()


def sections(record: dict[str, Any]) -> list[str]:
    """The tables of this record: one for each kind of peer that is there, one without a name when neither
    is.
    """
    groups = {server["group"] for server in record["servers"].values()}
    return [section for section in SECTIONS if section in groups] or [""]


def rows_of(record: dict[str, Any], connections: int, section: str) -> list[dict[str, Any]]:
    """The rows of one table, best first, failed ones last. Our server, the user's and the yardstick stand in every table."""
    rows = [
        row
        for row in record["rows"]
        if row["connections"] == connections
        and record["servers"][row["name"]]["group"] in (section, "ours", "yours", "yardstick")
    ]
    return sorted(rows, key=lambda row: (row["verdict"] == verdicts.FAILED, -median_of(row, "rate")))


def median_of(row: dict[str, Any], key: str) -> float:
    figure = row["summary"].get(key)
    return figure["median"] if figure else 0.0


def _rank(record: dict[str, Any], connections: int, section: str, seed: int) -> None:
    """Ranks the server-bound rows of one table over the rounds that all of them have."""
    ranked = [
        row
        for row in rows_of(record, connections, section)
        if row["verdict"] == verdicts.SERVER_BOUND
        and record["servers"][row["name"]]["group"] != "yardstick"
        and record["servers"][row["name"]]["checked_after"]
    ]
    rates = [{sample["round"]: sample["rate"] for sample in row["samples"]} for row in ranked]
    common = sorted(set.intersection(*(set(rounds) for rounds in rates))) if rates else []
    if common:
        ranks = rank_with_ties([[rounds[number] for number in common] for rounds in rates], seed)
        for row, rank in zip(ranked, ranks):
            tied = ranks.count(rank) > 1
            row["ranks"][section] = f"{rank}=" if tied else str(rank)


# -------------------------------------------------------------------------------------------------- files


def write_record(record: dict[str, Any], path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def read_record(path: Path) -> dict[str, Any]:
    """Reads a results.json. Raises ResultsError."""
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ResultsError(f"{path}: {error}") from error
    if not isinstance(record, dict) or record.get("schema") != SCHEMA:
        raise ResultsError(f"{path}: not a results.json of bench/compare")
    if record.get("schema_version") != SCHEMA_VERSION:
        raise ResultsError(
            f"{path}: schema version {record.get('schema_version')}, this kit reads {SCHEMA_VERSION}"
        )
    return record
