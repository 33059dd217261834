"""Who was the bottleneck? One verdict for each row, with its reason.

A closed loop keeps every connection busy, so something is always at its limit. If the generator used up its
CPUs and the server did not, the rate is the generator's: a lower bound for the server. So it is if both did,
but connections were idle meanwhile (Little's law): they waited for the generator. If neither did, the
generator waited for the server, which is the server's own doing (it sleeps, locks, or uses fewer CPUs than
it may). Row and round are called noisy when somebody else used the CPUs, or the rounds do not agree.
"""

from __future__ import annotations

from dataclasses import dataclass

SATURATED = 0.90  # of the CPU time that was there for it
OTHERS_LIMIT = 0.15  # of all CPUs, used by processes that are neither server nor generator
SPREAD_LIMIT = 0.10  # half of the interval, relative to the median
LITTLE_LOW, LITTLE_HIGH = 0.85, 1.15  # rate x mean latency / connections
ERROR_LIMIT = 0.001  # of the requests

SERVER_BOUND, GENERATOR_BOUND, NOISY, FAILED = "server-bound", "generator-bound", "noisy", "failed"


@dataclass(frozen=True)
class Load:
    """Medians over the rounds of one row."""

    server_cpus: float | None  # CPUs in use on average; None when nobody could look (--url elsewhere)
    server_capacity: float  # CPUs it could have used
    generator_cpus: float
    generator_capacity: float
    others: float = 0.0  # share of all CPUs used by strangers
    spread: float = 0.0
    little: float = 1.0
    shared_cpus: float = 0.0  # CPUs that server and generator share; 0 when they have their own


def judge(load: Load) -> tuple[str, str]:
    """The verdict and, in a few words, why."""
    generator = load.generator_cpus / load.generator_capacity if load.generator_capacity else 0.0
    server = (
        load.server_cpus / load.server_capacity
        if load.server_cpus is not None and load.server_capacity
        else 0.0
    )
    waits_for_generator = load.little < LITTLE_LOW and load.server_cpus is not None
    if generator >= SATURATED and (server < SATURATED or waits_for_generator):
        return GENERATOR_BOUND, (
            f"the generator used {generator:.0%} of its CPUs, "
            f"the server {_share(load, server)}: the true rate may be higher"
        )
    if load.others > OTHERS_LIMIT:
        return NOISY, f"other processes used {load.others:.0%} of the CPUs"
    if load.spread > SPREAD_LIMIT:
        return NOISY, f"the rounds do not agree: ±{load.spread:.0%}"
    server_cpus = load.server_cpus or 0.0
    is_crowded = 0 < SATURATED * load.shared_cpus <= server_cpus + load.generator_cpus
    if is_crowded and server < SATURATED and load.generator_cpus > server_cpus:
        return GENERATOR_BOUND, "server and generator share the CPUs, and the generator used more of them"
    if not LITTLE_LOW <= load.little <= LITTLE_HIGH:
        return NOISY, (
            f"Little's law fails: rate x mean latency accounts for {load.little:.0%} of the connections"
        )
    if load.server_cpus is None:
        return SERVER_BOUND, "the generator had CPU time left; the server's CPU could not be read"
    if server >= SATURATED:
        return SERVER_BOUND, f"the server used {server:.0%} of its CPUs"
    if is_crowded:
        return SERVER_BOUND, "server and generator share the CPUs, and the server used more of them"
    return SERVER_BOUND, f"the generator waited for the server, which used {_share(load, server)} of its CPUs"


def _share(load: Load, server: float) -> str:
    return "an unknown share" if load.server_cpus is None else f"{server:.0%}"


def too_many_errors(errors: int, requests: int) -> bool:
    return errors > 0 and errors > ERROR_LIMIT * requests
