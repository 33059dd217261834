"""What this machine is, who may use which CPU, and what a reader should be warned of."""

from __future__ import annotations

import os
import platform
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from .peers import ROOT

_CPU = Path("/sys/devices/system/cpu")
BUSY_LIMIT = 0.10  # of all CPUs in use before we begin


@dataclass(frozen=True)
class CpuPlan:
    """CPUs for the server under test and for the load generator; empty lists mean: not pinned."""

    server: tuple[int, ...]
    generator: tuple[int, ...]
    available: tuple[int, ...]

    @property
    def disjoint(self) -> bool:
        return bool(self.server) and not set(self.server) & set(self.generator)

    def describe(self) -> str:
        """For the report: what was done, in words."""
        if self.disjoint:
            return f"server on CPU {_ranges(self.server)}, load generator on CPU {_ranges(self.generator)}"
        if self.server:
            return f"server on CPU {_ranges(self.server)}, load generator on the same and any other"
        return f"server and load generator share CPU {_ranges(self.available)}: not enough to keep them apart"


def plan_cpus(
    workers: int,
    *,
    quota: bool = False,
    affinity_only: int = 0,
    available: Sequence[int] | None = None,
    cores: dict[int, int] | None = None,
) -> CpuPlan:
    """Gives the server one CPU a worker and the generator the rest, on other physical cores where possible.

    Under a quota the server must see CPUs it cannot use up, so both share all of them, unless four are
    there. With `affinity_only` the affinity stands in for the quota, so the server gets exactly that many
    CPUs.
    """
    cpus = sorted(os.sched_getaffinity(0) if available is None else available)
    cores = _read_cores(cpus) if cores is None else cores
    if affinity_only:
        workers, quota = affinity_only, False
    if quota:
        if len(cpus) < 4:
            return CpuPlan((), (), tuple(cpus))
        half = len(cpus) // 2
        return CpuPlan(tuple(cpus[:half]), tuple(cpus[half:]), tuple(cpus))
    if workers >= len(cpus):
        pinned = tuple(cpus[:workers]) if affinity_only else ()
        return CpuPlan(pinned, (), tuple(cpus))
    # One thread of each core first, so that a server's worker has a core of its own while there are cores.
    seen: dict[int, int] = {}
    depth = {}
    for cpu in cpus:
        core = cores.get(cpu, cpu)
        depth[cpu] = seen[core] = seen.get(core, -1) + 1
    server = tuple(sorted(sorted(cpus, key=lambda cpu: (depth[cpu], cpu))[:workers]))
    busy_cores = {cores.get(cpu, cpu) for cpu in server}
    others = [cpu for cpu in cpus if cpu not in server]
    apart = [cpu for cpu in others if cores.get(cpu, cpu) not in busy_cores]
    return CpuPlan(server, tuple(apart or others), tuple(cpus))


def _read_cores(cpus: Sequence[int]) -> dict[int, int]:
    """The physical core of each CPU, named by its first thread."""
    cores = {}
    for cpu in cpus:
        text = _read(_CPU / f"cpu{cpu}/topology/thread_siblings_list")
        first = text.replace("-", ",").partition(",")[0]
        cores[cpu] = int(first) if first.isdigit() else cpu
    return cores


def _ranges(cpus: Sequence[int]) -> str:
    """0-3,8 for 0, 1, 2, 3, 8."""
    parts: list[list[int]] = []
    for cpu in sorted(cpus):
        if parts and cpu == parts[-1][1] + 1:
            parts[-1][1] = cpu
        else:
            parts.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def _read(path: Path | str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


# ------------------------------------------------------------------------------------------- CPU counters


@dataclass(frozen=True)
class CpuCounters:
    """CPU seconds of the whole machine (the CPUs given) since it started."""

    processes_s: float  # user, nice, system: what can be laid at a process's door
    interrupts_s: float  # irq and softirq, where the kernel counts them apart
    stolen_s: float  # taken by the hypervisor


def read_cpu_counters(cpus: Sequence[int]) -> CpuCounters:
    times = psutil.cpu_times(percpu=True)
    chosen = [times[cpu] for cpu in cpus if cpu < len(times)]
    return CpuCounters(
        processes_s=sum(line.user + line.nice + line.system for line in chosen),
        interrupts_s=sum(line.irq + line.softirq for line in chosen),
        stolen_s=sum(line.steal for line in chosen),
    )


# -------------------------------------------------------------------------------------------- description


def describe() -> dict[str, Any]:
    """The record of the machine for results.json: no host name, nothing personal."""
    memory = psutil.virtual_memory()
    return {
        "cpu": _cpu_model(),
        "cpus_online": os.cpu_count(),
        "cpus_allowed": sorted(os.sched_getaffinity(0)),
        "cores": psutil.cpu_count(logical=False),
        "architecture": platform.machine(),
        "memory_bytes": memory.total,
        "memory_available_bytes": memory.available,
        "kernel": f"{platform.system()} {platform.release()}",
        "distribution": _distribution(),
        "python": platform.python_version(),
        "virtual": detect_virtual(),
        "governor": _read(_CPU / "cpu0/cpufreq/scaling_governor") or "none visible",
        "boost": _boost(),
        "load_average": list(os.getloadavg()),
        "own_quota_cpus": read_own_quota(),
        "somaxconn": _read("/proc/sys/net/core/somaxconn"),
    }


def _cpu_model() -> str:
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith(("model name", "Model", "Hardware")):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _distribution() -> str:
    for line in _read("/etc/os-release").splitlines():
        if line.startswith("PRETTY_NAME="):
            return line.partition("=")[2].strip('"')
    return ""


def detect_virtual() -> str:
    """kvm, vmware, docker, ... or none; empty when nobody can say."""
    try:
        done = subprocess.run(["systemd-detect-virt"], capture_output=True, text=True, timeout=5, check=False)
        if done.stdout.strip():
            return done.stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        pass
    for line in _read("/proc/cpuinfo").splitlines():
        if line.startswith("flags"):
            return "yes" if " hypervisor" in line else "none"
    return ""


def _boost() -> str:
    if text := _read(_CPU / "cpufreq/boost"):
        return "on" if text == "1" else "off"
    if text := _read(_CPU / "intel_pstate/no_turbo"):
        return "off" if text == "1" else "on"
    return "not visible"


def read_own_quota() -> float | None:
    """CPUs that the kit itself may use when it runs in a container with a quota."""
    quota, _, period = _read("/sys/fs/cgroup/cpu.max").partition(" ")
    if quota.isdigit() and period.isdigit():
        return int(quota) / int(period)
    quota, period = (_read(f"/sys/fs/cgroup/cpu/cpu.cfs_{name}_us") for name in ("quota", "period"))
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


def read_repository() -> dict[str, Any]:
    """Commit and whether tracked files were changed since."""

    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(ROOT), *words], capture_output=True, text=True, timeout=20, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    commit, changes = git("rev-parse", "HEAD"), git("status", "--porcelain", "--untracked-files=no")
    return {"commit": commit, "dirty": None if changes is None else bool(changes)}


def find_warnings(record: dict[str, Any], plan: CpuPlan, busy: float, servers: int) -> list[str]:
    """What a reader must know before believing the figures. `busy` is the share of all CPUs in use
    beforehand.
    """
    found = []
    if busy > BUSY_LIMIT:
        found.append(
            f"the machine is busy: {busy:.0%} of its CPUs were in use before the first server started"
        )
    cpus = len(record["cpus_allowed"])
    if not plan.disjoint:
        found.append(
            f"{cpus} CPU{'s' * (cpus != 1)} here: server and load generator take time from each other; "
            "read CPU per request first"
        )
    elif cpus < 4:
        found.append(
            f"only {cpus} CPUs: the kernel's and everybody else's work lands on the two sides being measured"
        )
    if record["virtual"] not in ("none", ""):
        found.append(f"virtual machine or container ({record['virtual']}): its host may take CPU time unseen")
    if record["governor"] not in ("performance", "none visible"):
        found.append(f"frequency governor is {record['governor']}: rates move with the clock frequency")
    if record["boost"] == "on":
        found.append("turbo boost is on: the first rounds may be faster than the last")
    if record["own_quota_cpus"]:
        found.append(f"the kit itself has a CPU quota of {record['own_quota_cpus']:g}")
    if servers * 150e6 > record["memory_available_bytes"]:
        found.append(f"{servers} servers stay up together, and little memory is free: name fewer of them")
    return found
