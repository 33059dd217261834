"""The measurement: start everybody, check, warm up, measure in interleaved rounds, check again, end
everybody.

All servers stay up, idle except for their turn, so that every round sees the same machine and a disturbance
hits all alike. In each round the order is shuffled with the recorded seed, and a turn begins when the server
before has come to rest.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, Protocol

from . import machine, open_loop, verdicts, verify, wrk
from .machine import CpuPlan
from .peers import Peer, PeerError, build, needs_build, read_version
from .quota import Quota
from .server import Server
from .statistics import merge_histograms, percentile

PERCENTILES = (50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 100.0)
WARMUP_MIN_S, WARMUP_AGREE = 2, 0.05
REST_CPUS, REST_WINDOW_S, REST_MAX_S = 0.15, 0.1, 3.0  # a window has ten ticks
REPEAT_LIMIT = 1.3  # CPU time for a document never seen / for one seen before
CURVE_SHARES = (
    *range(0, 90, 5),
    90,
    92,
    94,
    95,
    96,
    97,
    98,
    99,
    99.2,
    99.4,
    99.6,
    99.8,
    99.9,
    99.95,
    99.98,
    99.99,
    100,
)


@dataclass(frozen=True)
class Settings:
    """What was asked for; recorded in results.json as it stands."""

    workload: str = "echo"
    workers: int = 1
    cpus: float | None = None  # a quota, see quota.py
    rounds: int = 10
    duration_s: int = 5
    connections: tuple[int, ...] = (64,)
    seed: int = 1
    reference: str = "rest-echo"
    startups: int = 3
    warmup_max_s: int = 10
    open_loop_s: int = 0  # seconds of each open-loop run, 0 for none
    open_loop_turns: int = 1  # runs of each server at each rate
    open_loop_rate: float = 0.0  # the common rate; 0 chooses one

    @property
    def planned_s(self) -> float:
        """Seconds one server takes, for the estimate of the time left."""
        per_round = self.rounds * len(self.connections) * (self.duration_s + 0.3)
        open_loop = 2 * self.open_loop_s * self.open_loop_turns
        return 1.0 + 0.5 * self.startups + (WARMUP_MIN_S + 1.5) + 1.5 + per_round + open_loop


class Progress(Protocol):
    """Who is told how far we are (progress.py)."""

    def begin(self, names: Sequence[str], total_s: float) -> None: ...
    def step(self, name: str, what: str) -> None: ...
    def advance(self, seconds: float) -> None: ...
    def measured(self, name: str, connections: int, rates: Sequence[float]) -> None: ...
    def failed(self, name: str, why: str) -> None: ...
    def note(self, text: str) -> None: ...
    def end(self) -> None: ...


@dataclass
class Contestant:
    """One server and what was found about it so far."""

    peer: Peer
    server: Server
    version: str = ""
    failure: str = ""
    startup_s: list[float] = field(default_factory=list)
    idle_bytes: int | None = None
    peak_bytes: int | None = None
    warmup_s: float = 0.0
    warmup_settled: bool = False
    before: verify.Findings | None = None
    checked_after: bool = False
    malformed: str = ""
    repeat_ratio: float | None = None
    restless_cpus: float = 0.0  # CPUs in use when we stopped waiting for it to come to rest
    samples: dict[int, list[dict[str, Any]]] = field(default_factory=dict)  # by connections
    histograms: dict[int, list[tuple[tuple[int, int], ...]]] = field(default_factory=dict)
    open_loop: list[dict[str, Any]] = field(default_factory=list)

    @property
    def alive(self) -> bool:
        return not self.failure


@dataclass(frozen=True)
class Reading:
    """Every counter of CPU time, at one moment."""

    at_s: float
    server_s: float | None  # None when nobody could look
    kit_s: float
    machine: machine.CpuCounters
    throttled_s: float | None


class Session:
    """One comparison. `run` never leaves a process behind, however it ends."""

    def __init__(
        self,
        settings: Settings,
        peers: Sequence[Peer],
        plan: CpuPlan,
        quota: Quota,
        out: Path,
        script: Path | None,
        reference_body: bytes,
        progress: Progress,
    ) -> None:
        self.settings = settings
        self.plan = plan
        self.quota = quota
        self.script = script if settings.workload == "echo" else None
        self.reference_body = reference_body
        self.progress = progress
        self.interrupted = False
        self._rng = random.Random(settings.seed)
        self.contestants = [
            Contestant(
                peer,
                Server(
                    peer,
                    workload=settings.workload,
                    workers=settings.workers,
                    cpus=plan.server,
                    quota=quota,
                    log=out / "logs" / f"{peer.name}.log",
                ),
            )
            for peer in peers
        ]
        self.open_loop_tool: open_loop.Tool | None = None

    def run(self) -> None:
        """Ctrl-C ends it early; what was measured stays."""
        settings = self.settings
        self.progress.begin(
            [one.peer.name for one in self.contestants], settings.planned_s * len(self.contestants)
        )
        try:
            for contestant in self.contestants:
                self._guard(contestant, self._prepare)
            for number in range(1, settings.rounds + 1):
                self._round(number)
            if settings.open_loop_s and (tool := open_loop.find_tool()):
                self.open_loop_tool = tool
                self._open_loop(tool)
            for contestant in self._alive():
                self._guard(contestant, self._check_after)
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            self.end()
            self.progress.end()

    def end(self) -> None:
        """Ends every server. A second Ctrl-C does not stop this from being finished."""
        for contestant in self.contestants:
            for _ in range(3):
                try:
                    contestant.server.end()
                    break
                except KeyboardInterrupt:
                    self.interrupted = True
        self.quota.remove()

    def _alive(self) -> Iterator[Contestant]:
        return (contestant for contestant in self.contestants if contestant.alive)

    def _guard(self, contestant: Contestant, work: Any, *arguments: Any) -> None:
        """Runs one step for one server; whatever goes wrong there fails that server and nobody else."""
        try:
            work(contestant, *arguments)
        except (PeerError, verify.WrongAnswer, wrk.LoadError, OSError) as error:
            contestant.failure = contestant.server.find_death() or str(error)
            self.progress.failed(contestant.peer.name, contestant.failure)
            contestant.server.end()

    # ------------------------------------------------------------------------------------- preparation

    def _prepare(self, contestant: Contestant) -> None:
        peer, server = contestant.peer, contestant.server
        if needs_build(peer):
            self.progress.step(peer.name, "building")
            build(peer, server.log.with_suffix(".build.log"))
        contestant.version = read_version(peer)
        self.progress.step(peer.name, "starting")
        repeats = 1 if peer.url else self.settings.startups
        for repeat in range(repeats):
            seconds = server.start(self._rng)
            if seconds is not None:
                contestant.startup_s.append(seconds)
            if repeat + 1 < repeats:
                server.end()
        self.progress.advance(1.0 + 0.5 * self.settings.startups)
        self.progress.step(peer.name, "checking")
        contestant.idle_bytes = contestant.peak_bytes = server.tree.pss_bytes() if server.tree else None
        contestant.before = verify.verify(server.target, server.expectation, self.reference_body, self._rng)
        self.progress.step(peer.name, "warming up")
        self._warm_up(contestant)
        self.progress.advance(WARMUP_MIN_S + 1.5)

    def _warm_up(self, contestant: Contestant) -> None:
        """One-second windows until two in a row agree, and at least the minimum; a runtime that compiles
        gets more.
        """
        extra = contestant.peer.warmup_extra_s
        rates: list[float] = []
        while len(rates) < self.settings.warmup_max_s + extra:
            rates.append(self._load(contestant, max(self.settings.connections), 1).rate)
            self._check_alive(contestant)
            if len(rates) >= max(2.0, WARMUP_MIN_S + extra) and abs(
                rates[-1] - rates[-2]
            ) <= WARMUP_AGREE * max(rates[-2:]):
                contestant.warmup_settled = True
                break
        self._await_rest(contestant)
        contestant.warmup_s = float(len(rates))

    def _load(self, contestant: Contestant, connections: int, duration_s: int) -> wrk.LoadResult:
        with self._start_load(contestant, connections, duration_s) as load:
            return load.collect()

    def _start_load(
        self,
        contestant: Contestant,
        connections: int,
        duration_s: int,
        unique: bool = False,
    ) -> wrk.WrkRun:
        return wrk.WrkRun(
            contestant.server.target.url,
            threads=self.threads(connections),
            connections=connections,
            duration_s=duration_s,
            cpus=self.plan.generator,
            script=self.script,
            unique=unique,
        )

    def threads(self, connections: int) -> int:
        """Threads of the generator: one for each CPU it has, if the connections divide evenly."""
        return wrk.choose_threads(connections, len(self.plan.generator or self.plan.available))

    @staticmethod
    def _check_alive(contestant: Contestant) -> None:
        if death := contestant.server.find_death():
            raise PeerError(death)

    # ------------------------------------------------------------------------------------------ rounds

    def _round(self, number: int) -> None:
        cells = [
            (contestant, connections)
            for contestant in self._alive()
            for connections in self.settings.connections
        ]
        self._rng.shuffle(cells)
        for place, (contestant, connections) in enumerate(cells):
            if not contestant.alive:
                continue
            self.progress.step(contestant.peer.name, f"round {number} of {self.settings.rounds}")
            self._guard(contestant, self._measure, connections, number, place)
            self.progress.advance(self.settings.duration_s + 0.3)
            if contestant.alive:
                rates = [sample["rate"] for sample in contestant.samples[connections]]
                self.progress.measured(contestant.peer.name, connections, rates)

    def _measure(self, contestant: Contestant, connections: int, number: int, place: int) -> None:
        """One window of load on one server, everything read before and after it."""
        tree, duration_s = contestant.server.tree, self.settings.duration_s
        before = self._read(contestant)
        with self._start_load(contestant, connections, duration_s) as load:
            time.sleep(duration_s * 0.6)
            memory = tree.pss_bytes() if tree else None
            self._check_under_load(contestant)
            result = load.collect()
        after = self._read(contestant)
        self._check_alive(contestant)
        if result.requests == 0:
            raise wrk.LoadError("not one answer arrived under load")
        if verdicts.too_many_errors(result.error_count, result.requests):
            kinds = ", ".join(f"{count} {kind}" for kind, count in result.errors.items() if count)
            raise wrk.LoadError(f"errors under load: {kinds} in {result.requests} requests")
        if memory is not None:
            contestant.peak_bytes = max(memory, contestant.peak_bytes or 0)
        sample = {
            "round": number,
            "place": place,
            **describe_load(result, connections),
            **describe_use(before, after, result, len(self.plan.available)),
            "memory_bytes": memory,
        }
        contestant.samples.setdefault(connections, []).append(sample)
        contestant.histograms.setdefault(connections, []).append(result.latency)
        self._await_rest(contestant)

    def _await_rest(self, contestant: Contestant) -> None:
        """A runtime may go on compiling or collecting after its turn; whoever comes next should not pay."""
        tree = contestant.server.tree
        if tree is None:
            return
        deadline = time.monotonic() + REST_MAX_S
        while True:
            before_s, since = tree.cpu_s(), time.monotonic()
            time.sleep(REST_WINDOW_S)
            cpus = (tree.cpu_s() - before_s) / (time.monotonic() - since)
            if cpus <= REST_CPUS:
                return
            if time.monotonic() > deadline:
                contestant.restless_cpus = max(cpus, contestant.restless_cpus)
                return

    def _read(self, contestant: Contestant) -> Reading:
        tree = contestant.server.tree
        return Reading(
            at_s=time.monotonic(),
            server_s=tree.cpu_s() if tree else None,
            kit_s=time.process_time(),
            machine=machine.read_cpu_counters(self.plan.available),
            throttled_s=self.quota.read_throttled_s(contestant.peer.name),
        )

    def _check_under_load(self, contestant: Contestant) -> None:
        """One random document while the generator is at work: a server must not become careless when it
        matters.
        """
        server = contestant.server
        try:
            verify.ask_once(server.target, server.expectation, self._rng, timeout_s=wrk.TIMEOUT_S)
        except (verify.WrongAnswer, verify.AnswerError, OSError) as error:
            raise verify.WrongAnswer(f"under load: {error}") from error

    # --------------------------------------------------------------------------- open loop and the end

    def _open_loop(self, tool: open_loop.Tool) -> None:
        """At half of each server's own capacity, and at one rate for all: half of the slowest one's."""
        connections = self.settings.connections[len(self.settings.connections) // 2]
        medians = {
            one.peer.name: median(sample["rate"] for sample in one.samples[connections])
            for one in self._alive()
            if one.samples.get(connections)
        }
        if not medians:
            return
        common = self.settings.open_loop_rate or 0.5 * min(medians.values())
        for turn in range(1, self.settings.open_loop_turns + 1):
            for kind in ("half of own", "common"):
                order = list(self._alive())
                self._rng.shuffle(order)
                for contestant in order:
                    rate = common if kind == "common" else 0.5 * medians.get(contestant.peer.name, 0.0)
                    if rate < 1:
                        continue
                    what = f"open loop, {kind}, turn {turn} of {self.settings.open_loop_turns}"
                    self.progress.step(contestant.peer.name, what)
                    self._guard(contestant, self._open_loop_run, tool, (turn, kind), rate, connections)
                    self.progress.advance(self.settings.open_loop_s)

    def _open_loop_run(
        self,
        contestant: Contestant,
        tool: open_loop.Tool,
        turn_and_kind: tuple[int, str],
        rate: float,
        connections: int,
    ) -> None:
        body = self.reference_body if self.settings.workload == "echo" else None
        result = open_loop.run(
            tool,
            contestant.server.target,
            rate=rate,
            duration_s=self.settings.open_loop_s,
            connections=connections,
            body=body,
            cpus=self.plan.generator,
        )
        self._check_alive(contestant)
        turn, kind = turn_and_kind
        contestant.open_loop.append({"turn": turn, "kind": kind, **asdict(result)})
        self._await_rest(contestant)

    def _check_after(self, contestant: Contestant) -> None:
        self.progress.step(contestant.peer.name, "checking again")
        server = contestant.server
        verify.verify(server.target, server.expectation, self.reference_body, self._rng)
        contestant.checked_after = True
        if self.settings.workload == "echo" and not server.expectation.fixed_answer:
            self._check_repeats(contestant)
            if contestant.peer.url:
                return  # a malformed document may end a server that is not ours to end
            contestant.malformed = verify.try_malformed(server.target)
            if contestant.malformed == "200":
                raise verify.WrongAnswer("a malformed document was answered with 200: it is not parsed")

    def _check_repeats(self, contestant: Contestant) -> None:
        """The load is one document again and again. A server that looks its answer up pays more for new
        ones.

        CPU time for each request is compared, which stays the same on a busy machine. One window settles it
        for the honest; suspicion needs three more, each beside a window of the old document. A server that
        hardly computes is let off: ticks of 10 ms would not tell.
        """
        connections = max(self.settings.connections)
        known = [
            sample["cpu_us_per_request"]
            for sample in contestant.samples.get(connections, [])
            if sample["cpu_us_per_request"]
        ]
        new = self._cpu_us(contestant, connections, unique=True)
        if not known or new is None:
            return
        ratios = [new / median(known)]
        while ratios[-1] > REPEAT_LIMIT and len(ratios) < 4:
            usual = self._cpu_us(contestant, connections, unique=False)
            new = self._cpu_us(contestant, connections, unique=True)
            if not usual or new is None:
                return
            ratios.append(new / usual)
        contestant.repeat_ratio = ratios[-1]
        if min(ratios) > REPEAT_LIMIT:
            raise verify.WrongAnswer(
                f"a new document costs {min(ratios):.2g} times the CPU time of a known one: it keeps answers"
            )

    def _cpu_us(self, contestant: Contestant, connections: int, *, unique: bool) -> float | None:
        """CPU microseconds of the server a request, from one second of load; None when too few to tell."""
        if contestant.server.tree is None:
            return None
        before = contestant.server.tree.cpu_s()
        with self._start_load(contestant, connections, 1, unique) as load:
            result = load.collect()
        self._check_alive(contestant)
        used_s = contestant.server.tree.cpu_s() - before
        return used_s / result.requests * 1e6 if result.requests and used_s >= 0.05 else None


def describe_load(result: wrk.LoadResult, connections: int) -> dict[str, Any]:
    """The part of a sample that the generator counted."""
    return {
        "rate": result.rate,
        "requests": result.requests,
        "duration_s": result.duration_s,
        "received_octets": result.received_octets,
        "errors": result.errors,
        "generator_cpus": result.generator_cpu_s / result.duration_s,
        "generator_us_per_request": result.generator_cpu_s / result.requests * 1e6,
        "latency_is_raw": result.latency_is_raw,
        "latency_mean_us": result.mean_latency_s * 1e6,
        "latency_us": {f"p{share:g}": percentile(result.latency, share) for share in PERCENTILES},
        "little": result.rate * result.mean_latency_s / connections,
    }


def describe_use(before: Reading, after: Reading, result: wrk.LoadResult, cpus: int) -> dict[str, Any]:
    """The part of a sample that says who used the machine meanwhile."""
    capacity_s = (after.at_s - before.at_s) * cpus
    interrupts_s = after.machine.interrupts_s - before.machine.interrupts_s
    throttled = None
    if before.throttled_s is not None and after.throttled_s is not None:
        throttled = after.throttled_s - before.throttled_s
    use = {"interrupts": interrupts_s / capacity_s, "throttled_s": throttled}
    if before.server_s is None or after.server_s is None:
        return use | {"server_cpus": None, "cpu_us_per_request": None, "others": None}
    server_s = after.server_s - before.server_s
    everybody_s = after.machine.processes_s - before.machine.processes_s
    stolen_s = after.machine.stolen_s - before.machine.stolen_s
    strangers_s = everybody_s + stolen_s - server_s - result.generator_cpu_s - (after.kit_s - before.kit_s)
    return use | {
        "server_cpus": server_s / result.duration_s,
        "cpu_us_per_request": server_s / result.requests * 1e6,
        "others": max(0.0, strangers_s / capacity_s),
    }


def latency_curve(histograms: Sequence[Sequence[tuple[int, int]]]) -> list[tuple[float, float]]:
    """(percent, microseconds) of all rounds together, dense enough to draw."""
    merged = merge_histograms(histograms)
    return [(float(share), percentile(merged, share)) for share in CURVE_SHARES]
