"""One server of a comparison while it lives: started, awaited, measured from outside, ended."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from . import verify
from .http_client import AnswerError, Target, parse_target
from .peers import Peer, PeerError, command_words, environment, placeholders
from .process_tree import ProcessTree
from .quota import Quota

_POLL_S = 0.002  # grain of the start-up time
_SECOND_CHANCE_S = 0.5


@contextlib.contextmanager
def on_cpus(cpus: Sequence[int]) -> Iterator[None]:
    """Children started inside inherit the affinity; ours is restored. An empty list changes nothing."""
    before = os.sched_getaffinity(0)
    if cpus:
        os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """Owns the process tree of one peer. `end` may be called at any time and more than once."""

    def __init__(
        self, peer: Peer, *, workload: str, workers: int, cpus: Sequence[int], quota: Quota, log: Path
    ) -> None:
        self.peer = peer
        self.workload = workload
        self.workers = peer.workers_for(workers)
        self.cpus = list(cpus)
        self.quota = quota
        self.log = log
        self.command: list[str] = []
        self.target = parse_target(peer.url) if peer.url else Target("127.0.0.1", 0)
        self.tree: ProcessTree | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._own: ProcessTree | None = None  # what we started; not always what serves, see containers

    @property
    def expectation(self) -> verify.Expectation:
        return verify.Expectation(self.workload, self.peer.extra_nulls, fixed_answer=not self.peer.verify)

    def start(self, rng: random.Random) -> float | None:
        """Starts the server and waits for its first correct answer: seconds it took, None for one that runs
        already.

        Raises PeerError with the end of the log when it does not get there in time.
        """
        if self.peer.url:
            self._wait(rng, time.monotonic())
            self.tree = find_listening_tree(self.target)
            return None
        port = free_port()
        self.target = Target("127.0.0.1", port)
        values = placeholders(self.peer, port=port, workers=self.workers, workload=self.workload)
        env = environment(self.peer.env, values)
        words = command_words(self.peer.command_for(self.workload), values)
        self.command = words
        self.log.parent.mkdir(parents=True, exist_ok=True)
        wrapped = self.quota.wrap(self.peer.name, words, env, self.peer.folder)
        with self.log.open("ab") as output, on_cpus(self.cpus):
            started = time.monotonic()
            try:
                self._process = subprocess.Popen(
                    wrapped,
                    cwd=self.peer.folder,
                    env=env,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
            except OSError as error:
                raise PeerError(f"could not be started: {error}") from error
        self.tree = self._own = ProcessTree([self._process.pid], session=self._process.pid)
        if pid := self.quota.container_pid(self.peer.name):
            self.tree = ProcessTree([pid])
        return self._wait(rng, started)

    def _wait(self, rng: random.Random, started: float) -> float:
        """Seconds from `started` to the first correct answer.

        Refused connections and statuses other than 200 are waited out; some servers listen before they are
        ready. A wrong answer with status 200 gets a short second chance only.
        """
        last, wrong_since = "it does not listen", None
        while (passed := time.monotonic() - started) < self.peer.ready_timeout_s:
            if self._process is not None and self._process.poll() is not None:
                raise PeerError(
                    f"ended at start with {describe_exit(self._process.returncode)}{self.log_tail()}"
                )
            try:
                verify.ask_once(
                    self.target, self.expectation, rng, timeout_s=self.peer.ready_timeout_s - passed
                )
                return time.monotonic() - started
            except ConnectionRefusedError:
                time.sleep(_POLL_S)
                continue
            except (verify.NotReady, AnswerError, OSError) as error:
                last = str(error)
            except verify.WrongAnswer as error:
                wrong_since = wrong_since or time.monotonic()
                if time.monotonic() - wrong_since > _SECOND_CHANCE_S:
                    raise PeerError(f"wrong answer: {error}") from error
            time.sleep(0.02)
        raise PeerError(f"no correct answer within {self.peer.ready_timeout_s:g} s: {last}{self.log_tail()}")

    def find_death(self) -> str:
        """How it ended, empty while it lives."""
        if self._process is None or self._process.poll() is None:
            return ""
        return f"ended with {describe_exit(self._process.returncode)}{self.log_tail()}"

    def log_tail(self) -> str:
        """The last line of its output, as an addition to a message."""
        try:
            lines = self.log.read_text(errors="replace").strip().splitlines()
        except OSError:
            lines = []
        return f" (last output: {lines[-1].strip()[:160]})" if lines else ""

    def end(self) -> None:
        """Ends what we started, all of it; leaves alone what ran before."""
        if self._process is None:
            return
        self.quota.end_container(self.peer.name)
        if self._own is not None:
            self._own.end()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=5)
        self.quota.end_container(self.peer.name)  # again, in case it only came up meanwhile
        self._process = self._own = None


def describe_exit(status: int) -> str:
    if status < 0:
        try:
            return signal.Signals(-status).name
        except ValueError:
            return f"signal {-status}"
    return f"status {status}"


def find_listening_tree(target: Target) -> ProcessTree | None:
    """The processes that listen on a local port; None when it is elsewhere or we may not see."""
    if target.host not in ("127.0.0.1", "::1", "localhost"):
        return None
    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.AccessDenied, OSError):
        return None
    pids = {
        connection.pid
        for connection in connections
        if connection.status == psutil.CONN_LISTEN and connection.pid and connection.laddr.port == target.port
    }
    return ProcessTree(pids) if pids else None
