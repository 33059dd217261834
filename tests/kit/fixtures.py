"""What the tests of the kit share: the way to its modules, fake servers, and a record made by hand."""

from __future__ import annotations

import contextlib
import copy
import os
import random
import shutil
import sys
import tempfile
import unittest
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parent
ROOT = TESTS.parent.parent
COMPARE = ROOT / "bench" / "compare"
FAKE = TESTS / "fake_server.py"
sys.path.insert(0, str(ROOT / "bench"))

from kit import results  # noqa: E402
from kit.machine import CpuPlan  # noqa: E402
from kit.peers import Peer  # noqa: E402
from kit.process_tree import parse_stat  # noqa: E402
from kit.quota import Quota  # noqa: E402
from kit.server import Server  # noqa: E402

needs_wrk = unittest.skipUnless(shutil.which("wrk"), "wrk is not installed")


def fake_command(mode: str) -> str:
    return f"{sys.executable} {FAKE} --port {{port}} --mode {mode}"


@contextlib.contextmanager
def running(mode: str, *, checked: bool = True) -> Iterator[Server]:
    """A fake server that has given its first correct answer, or any answer with `checked=False`; ended
    afterwards.
    """
    peer = Peer(
        name=mode,
        title=mode,
        peer_class="engine",
        group="yours",
        run=fake_command(mode),
        ready_timeout_s=5,
        verify=checked,
    )
    with tempfile.TemporaryDirectory() as folder:
        server = Server(
            peer,
            workload="hello" if mode == "hello" else "echo",
            workers=1,
            cpus=(),
            quota=Quota(),
            log=Path(folder) / "log",
        )
        try:
            server.start(random.Random(1))
            yield server
        finally:
            server.end()


def lives(pid: int) -> bool:
    """False for one that has ended, whether or not its parent has noticed."""
    try:
        return parse_stat(Path(f"/proc/{pid}/stat").read_text()).state not in "ZX"
    except OSError:
        return False


def find_fakes() -> list[int]:
    """Processes of fake servers that still run, of this user and this checkout."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                words = Path("/proc", entry, "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if str(FAKE).encode() in words:
                found.append(int(entry))
    return found


def make_sample(number: int, rate: float, **changes: Any) -> dict[str, Any]:
    sample = {
        "round": number,
        "place": 0,
        "rate": rate,
        "requests": int(rate),
        "duration_s": 1.0,
        "received_octets": int(rate) * 2300,
        "errors": {"status": 0, "timeout": 0},
        "server_cpus": 0.98,
        "generator_cpus": 0.4,
        "cpu_us_per_request": 0.98e6 / rate,
        "generator_us_per_request": 4.0,
        "others": 0.02,
        "interrupts": 0.0,
        "throttled_s": None,
        "memory_bytes": 9_000_000,
        "latency_is_raw": True,
        "latency_mean_us": 64e6 / rate,
        "latency_us": {
            name: 64e6 / rate * factor
            for name, factor in (
                ("p50", 1),
                ("p75", 1.1),
                ("p90", 1.3),
                ("p99", 2),
                ("p99.9", 4),
                ("p99.99", 8),
                ("p100", 9),
            )
        },
        "little": 1.0,
    }
    return sample | changes


def make_record(
    rates: dict[str, Sequence[float]],
    groups: dict[str, str] | None = None,
    changes: dict[str, dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """A record as a run with these rates in its rounds would have written it."""
    groups, changes = groups or {}, changes or {}
    server = {
        "title": "",
        "class": "engine",
        "group": "out-of-the-box",
        "language": "C",
        "maintenance": "active",
        "licence": "MIT",
        "note": "",
        "version": "1.0",
        "command": "server",
        "env": {},
        "workers": 1,
        "workers_by": "argument",
        "max_workers": 0,
        "verified": True,
        "failure": "",
        "startup_s": [0.1, 0.2, 0.3],
        "idle_bytes": 8_000_000,
        "peak_bytes": 9_000_000,
        "warmup_s": 2.0,
        "warmup_settled": True,
        "answer_octets": 2300,
        "body_octets": 2200,
        "loose_octets": 0,
        "keeps_alive": True,
        "checked_before": True,
        "checked_after": True,
        "malformed": "400",
    }
    plan = CpuPlan((0,), (1,), (0, 1))
    record: dict[str, Any] = {
        "schema": results.SCHEMA,
        "schema_version": results.SCHEMA_VERSION,
        "created": "2026-01-02T03:04:05+00:00",
        "finished": "2026-01-02T03:05:05+00:00",
        "command": "bench/compare",
        "busy_before": 0.0,
        "machine": {
            "cpu": "Some CPU",
            "cpus_allowed": [0, 1],
            "memory_bytes": 8e9,
            "kernel": "Linux 6",
            "distribution": "Some Linux",
            "virtual": "none",
            "governor": "performance",
            "load_average": [0.0, 0.0, 0.0],
        },
        "repository": {"commit": "0123456789abcdef", "dirty": False},
        "warnings": [],
        "skipped": [],
        "tools": {"wrk": "wrk 4.1.0", "open_loop": "", "wrk_command": "wrk"},
        "interrupted": False,
        "settings": {
            "workload": "echo",
            "workers": 1,
            "cpus": None,
            "rounds": 5,
            "duration_s": 1,
            "connections": [64],
            "seed": 1,
            "reference": next(iter(rates)),
        },
        "cpu_plan": {"server": [0], "generator": [1], "available": [0, 1], "description": plan.describe()},
        "quota": "no quota",
        "servers": {},
        "rows": [],
        "open_loop": [],
    }
    for name, series in rates.items():
        record["servers"][name] = copy.deepcopy(server) | {"group": groups.get(name, "out-of-the-box")}
        record["servers"][name] |= {
            key: value for key, value in changes.get(name, {}).items() if key in server
        }
        record["rows"].append(
            {
                "name": name,
                "connections": 64,
                "server_capacity": 1.0,
                "generator_threads": 1,
                "generator_capacity": 1.0,
                "shared_cpus": 0.0,
                "samples": [
                    make_sample(
                        number,
                        rate,
                        **{key: value for key, value in changes.get(name, {}).items() if key not in server},
                    )
                    for number, rate in enumerate(series, 1)
                ],
                "latency_curve_us": [
                    (50, 1000.0),
                    (90, 1500.0),
                    (99, 3000.0),
                    (99.9, 9000.0),
                    (99.99, 20000.0),
                ],
            }
        )
    results.summarise(record)
    return record
