"""CPU time and memory of a server: the process that was started and everything it forked.

CPU time is the sum over living processes of their own time and of the children they have reaped (utime,
stime, cutime, cstime of /proc/PID/stat). When a child dies and is reaped, what it used moves from its own
line to its parent's, so the sum never falls and no work is lost between two readings. Memory is the
proportional set size (PSS): a page shared by four workers counts once, and the page cache does not count.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
_TICK_S = 1.0 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class ProcessLine:
    """What we read from one /proc/PID/stat."""

    pid: int
    parent: int
    session: int
    state: str
    start_tick: int
    cpu_s: float  # own and reaped children's, user and system


def parse_stat(text: str) -> ProcessLine:
    """Parses /proc/PID/stat; the command in parentheses may itself hold spaces and parentheses."""
    pid, _, rest = text.partition(" (")
    fields = rest[rest.rindex(")") + 2 :].split()
    ticks = sum(int(fields[index]) for index in (11, 12, 13, 14))
    return ProcessLine(
        pid=int(pid),
        parent=int(fields[1]),
        session=int(fields[3]),
        state=fields[0],
        start_tick=int(fields[19]),
        cpu_s=ticks * _TICK_S,
    )


def read_processes() -> dict[int, ProcessLine]:
    """One reading of every process we may see."""
    lines: dict[int, ProcessLine] = {}
    for entry in os.listdir(PROC):
        if entry.isdigit():
            try:
                line = parse_stat((PROC / entry / "stat").read_text())
            except (OSError, ValueError):
                continue  # it ended while we looked
            lines[line.pid] = line
    return lines


class ProcessTree:
    """The processes of one server: the roots, their descendants, and whoever shares a session we made for
    it.
    """

    def __init__(self, roots: Iterable[int], session: int | None = None) -> None:
        lines = read_processes()
        # A number can be given to a stranger once its process has ended; the start time tells them apart.
        self._root_starts = {pid: lines[pid].start_tick for pid in roots if pid in lines}
        self._session = session

    def members(self, lines: dict[int, ProcessLine] | None = None) -> list[ProcessLine]:
        """Everything that belongs to the server now; zombies too, since their time is not yet their
        parent's.
        """
        lines = read_processes() if lines is None else lines
        belongs = {
            pid for pid, start in self._root_starts.items() if pid in lines and lines[pid].start_tick == start
        }
        if self._session is not None and (self._session in belongs or self._session not in lines):
            belongs |= {pid for pid, line in lines.items() if line.session == self._session}
        grew = True
        while grew:
            children = {pid for pid, line in lines.items() if line.parent in belongs and pid not in belongs}
            belongs |= children
            grew = bool(children)
        return [lines[pid] for pid in sorted(belongs)]

    def cpu_s(self) -> float:
        """CPU seconds of the tree since it began, reaped children included."""
        return sum(line.cpu_s for line in self.members())

    def pss_bytes(self) -> int | None:
        """Proportional memory of the tree; None where the kernel does not let us read it."""
        sizes = [read_pss(line.pid) for line in self.members() if line.state != "Z"]
        known = [size for size in sizes if size is not None]
        return sum(known) if known else None

    def end(self, grace_s: float = 3.0) -> None:
        """Asks the tree to end, waits, then kills what is left. Only processes of this tree are signalled."""
        remembered = {line.pid: line.start_tick for line in self.members()}
        # The root first: a supervisor that is asked itself ends its workers in order.
        for pid in self._root_starts.keys() & remembered.keys():
            _signal(pid, signal.SIGTERM)
        asked_all = False
        deadline = time.monotonic() + grace_s
        while left := self._left(remembered):
            now = time.monotonic()
            if now >= deadline:
                for pid in left:
                    _signal(pid, signal.SIGKILL)
                if now >= deadline + 5.0:
                    return  # in an uninterruptible sleep: nobody can end it
            elif not asked_all and now >= deadline - grace_s / 2:
                asked_all = True
                for pid in left:
                    _signal(pid, signal.SIGTERM)
            time.sleep(0.02)

    def _left(self, remembered: dict[int, int]) -> list[int]:
        """Living members, and those seen before whose parent has gone; the start time guards against a
        reused pid.
        """
        lines = read_processes()
        for line in self.members(lines):
            remembered.setdefault(line.pid, line.start_tick)
        return [
            pid
            for pid, start in remembered.items()
            if pid in lines and lines[pid].start_tick == start and lines[pid].state not in "ZX"
        ]


def read_pss(pid: int) -> int | None:
    """Proportional set size in bytes, from smaps_rollup."""
    try:
        text = (PROC / str(pid) / "smaps_rollup").read_text()
    except OSError:
        return None
    for line in text.splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return None


def _signal(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
