"""How far the comparison is: a live table with a bar on a terminal, one line an event elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from statistics import median

from rich.console import Console, Group
from rich.live import Live
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text


def _remaining(elapsed_s: float, done_s: float, total_s: float) -> str:
    """Time left at the pace so far; planned time counts until there is a pace."""
    if done_s <= 0:
        return f"about {_clock(total_s)} in all"
    return f"about {_clock(max(0.0, (total_s - done_s) * elapsed_s / done_s))} left"


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


class PlainProgress:
    """Lines on standard error, each with the time since the start."""

    def __init__(self) -> None:
        self._began, self._done_s, self._total_s = time.monotonic(), 0.0, 0.0
        self._last_step = ""

    def begin(self, names: Sequence[str], total_s: float) -> None:
        self._began, self._total_s = time.monotonic(), total_s
        self._say(f"{len(names)} servers: {', '.join(names)}; {_remaining(0, 0, total_s)}")

    def step(self, name: str, what: str) -> None:
        # Of the rounds one line each is enough; the rates follow it.
        if what.startswith("round"):
            if what == self._last_step:
                return
            self._last_step = what
            elapsed = time.monotonic() - self._began
            self._say(f"{what}, {_remaining(elapsed, self._done_s, self._total_s)}")
        else:
            self._say(f"{name}: {what}")

    def advance(self, seconds: float) -> None:
        self._done_s += seconds

    def measured(self, name: str, connections: int, rates: Sequence[float]) -> None:
        self._say(f"{name}, {connections} connections: {rates[-1]:,.0f} req/s")

    def failed(self, name: str, why: str) -> None:
        self._say(f"{name}: FAILED, {why}")

    def note(self, text: str) -> None:
        self._say(text)

    def end(self) -> None:
        pass

    def _say(self, text: str) -> None:
        print(f"[{_clock(time.monotonic() - self._began)}] {text}", file=sys.stderr, flush=True)


class LiveProgress:
    """A table that fills while the rounds go by. NO_COLOR is honoured by rich itself."""

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._states: dict[str, str] = {}
        self._rates: dict[str, dict[int, list[float]]] = {}
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TimeElapsedColumn(),
            TextColumn("{task.fields[left]}"),
            console=self._console,
            expand=True,
        )
        self._task = self._bar.add_task("starting", left="")
        self._began, self._done_s, self._total_s = time.monotonic(), 0.0, 0.0
        # Twice a second: redrawing takes CPU time on the generator's side.
        self._live = Live(console=self._console, refresh_per_second=2, get_renderable=self._render)

    def begin(self, names: Sequence[str], total_s: float) -> None:
        self._began, self._total_s = time.monotonic(), total_s
        self._states = dict.fromkeys(names, "waiting")
        self._bar.update(self._task, total=total_s, left=_remaining(0, 0, total_s))
        self._live.start()

    def step(self, name: str, what: str) -> None:
        for other, state in self._states.items():
            if state not in ("waiting",) and not state.startswith("failed"):
                self._states[other] = "ready"
        self._states[name] = what
        self._bar.update(self._task, description=f"{name}: {what}")

    def advance(self, seconds: float) -> None:
        self._done_s += seconds
        left = _remaining(time.monotonic() - self._began, self._done_s, self._total_s)
        self._bar.update(self._task, completed=self._done_s, left=left)

    def measured(self, name: str, connections: int, rates: Sequence[float]) -> None:
        self._rates.setdefault(name, {})[connections] = list(rates)

    def failed(self, name: str, why: str) -> None:
        self._states[name] = f"failed: {why}"

    def note(self, text: str) -> None:
        self._console.print(text, highlight=False)

    def end(self) -> None:
        self._live.stop()

    def _render(self) -> Group:
        table = Table(box=None, pad_edge=False)
        table.add_column("server", no_wrap=True)
        table.add_column("rounds", justify="right")
        table.add_column("req/s so far", justify="right", no_wrap=True)
        table.add_column("state", overflow="ellipsis", no_wrap=True)
        for name, state in self._states.items():
            by_connections = self._rates.get(name, {})
            rounds = max((len(rates) for rates in by_connections.values()), default=0)
            figures = " / ".join(f"{median(rates):,.0f}" for _, rates in sorted(by_connections.items()))
            style = (
                "red"
                if state.startswith("failed")
                else "bold"
                if state not in ("waiting", "ready")
                else "dim"
            )
            table.add_row(name, str(rounds or ""), figures, Text(state, style=style))
        return Group(table, self._bar)


def choose_progress() -> PlainProgress | LiveProgress:
    return LiveProgress() if sys.stderr.isatty() else PlainProgress()
