"""The command line of bench/compare, and the run as seen from above."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shlex
import signal
import sys
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn

import psutil
from rich.console import Console
from rich.table import Table

from . import diff, machine, open_loop, quota, report, results, wrk
from .peers import (
    BENCH,
    CLASSES,
    PEERS,
    ROOT,
    WORKLOADS,
    Peer,
    PeerError,
    command_words,
    describe_lacking,
    find_lacking,
    needs_build,
    peer_from_command,
    peer_from_url,
    placeholders,
    read_peers,
)
from .progress import choose_progress
from .rounds import Session, Settings
from .statistics import ROUNDS_TO_TELL

# Seconds of load in all, when nothing else is asked for; starting, checking and warming up come on top.
ROUNDS_BUDGET_S, QUICK_ROUNDS_BUDGET_S, OPEN_LOOP_BUDGET_S = 140, 25, 70
EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 0, 1, 2, 130

_EXAMPLES = """
examples:
  bench/compare                                     every peer that is ready, about 5 minutes
  bench/compare --quick rest-echo node floor        under a minute
  bench/compare --server 'mine=./mine --port {port}'    your own server beside them
  bench/compare --url mine=http://127.0.0.1:8080/   one that runs already
  bench/compare --workload hello --workers 2        GET, "Hello World", two workers
  bench/compare --cpus 1                            under a quota of one CPU, as in a container
  bench/compare --list                              each peer: ready, or what to install
  bench/compare diff old.json new.json --fail-above 5%
  bench/compare report results.json --svg charts/   tables and charts again from a file

exit status: 0 all measured; 1 a server failed, or diff found a regression; 2 usage; 130 interrupted
"""


def main(arguments: Sequence[str]) -> int:
    """Entry point; the exit status."""
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # as nohup leaves it
        signal.signal(signal.SIGHUP, _interrupt)
    try:
        if arguments[:1] == ["diff"]:
            return run_diff(arguments[1:])
        if arguments[:1] == ["report"]:
            return run_report(arguments[1:])
        return run_compare(arguments)
    except (PeerError, results.ResultsError) as error:
        print(f"bench/compare: {error}", file=sys.stderr)
        return EXIT_USAGE
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read us has gone (`| head`). Python would complain once more when it closes standard output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED


def _interrupt(_signal: int, _frame: object) -> NoReturn:
    raise KeyboardInterrupt


# ------------------------------------------------------------------------------------------------- options


def _counts(text: str) -> tuple[int, ...]:
    try:
        counts = tuple(dict.fromkeys(int(part) for part in text.split(",")))
    except ValueError:
        counts = ()
    if not counts or min(counts) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is no list of numbers such as 10,64,256")
    return counts


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is no whole number from 1 on")
    return int(text)


def _share(text: str) -> float:
    """`5%` or `0.05`."""
    try:
        value = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        value = -1.0
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(f"`{text}` is no share such as 5% or 0.05")
    return value


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench/compare",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        description="Compares JSON servers on this machine: checked, in turns, with intervals and verdicts.",
    )
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help="peers to compare (default: all that are ready)"
    )
    which = parser.add_argument_group("what to compare")
    which.add_argument(
        "--server",
        action="append",
        default=[],
        metavar="NAME=COMMAND",
        help="your own server; {port} and {workers} are filled in",
    )
    which.add_argument(
        "--url", action="append", default=[], metavar="NAME=URL", help="a server that runs already"
    )
    which.add_argument(
        "--server-class",
        action="append",
        default=[],
        metavar="NAME=CLASS",
        help=f"class of your server: {', '.join(CLASSES)}",
    )
    which.add_argument(
        "--rest-echo", metavar="PATH", help="the rest-echo program (else $REST_ECHO, else build/)"
    )
    which.add_argument("--workload", choices=WORKLOADS, default="echo", help="default: echo")
    which.add_argument("--reference", metavar="NAME", help="ratios are to this one (default: rest-echo)")
    how = parser.add_argument_group("how to measure")
    how.add_argument("--quick", action="store_true", help="short rounds, no open loop, one start")
    how.add_argument(
        "--workers", type=_positive, default=1, metavar="N", help="workers of each server (default 1)"
    )
    how.add_argument("--cpus", type=float, metavar="N", help="quota of CPU time for each server, such as 1")
    how.add_argument("--connections", type=_counts, default=(64,), metavar="N[,N...]", help="default 64")
    how.add_argument(
        "--rounds", type=_positive, metavar="N", help="default 10, with --quick or many servers 5"
    )
    how.add_argument(
        "--duration",
        type=_positive,
        metavar="SECONDS",
        help="of each round; default 1 to 5, so that all servers take about 5 minutes",
    )
    how.add_argument(
        "--seed", type=int, metavar="N", help="of order, documents and bootstrap; default: a new one"
    )
    how.add_argument(
        "--open-loop",
        action=argparse.BooleanOptionalAction,
        help="also latency at fixed rates (default: if oha or vegeta is there, not with --quick)",
    )
    how.add_argument(
        "--rate",
        type=float,
        default=0.0,
        metavar="REQUESTS",
        help="the common rate of the open loop (default: half of the slowest server's capacity)",
    )
    how.add_argument(
        "--script", type=Path, default=ROOT / "post.lua", metavar="LUA", help="default: post.lua"
    )
    out = parser.add_argument_group("output")
    out.add_argument("--output", type=Path, metavar="FOLDER", help="default: bench/results/<time>/")
    out.add_argument("--json", type=Path, metavar="FILE", help="also write the record there")
    out.add_argument("--csv", type=Path, metavar="FILE", help="also write the rows there")
    out.add_argument("--markdown", type=Path, metavar="FILE", help="also write the report there")
    out.add_argument("--svg", type=Path, metavar="FOLDER", help="also write the charts there (SVG and PNG)")
    out.add_argument("--list", action="store_true", help="show every peer and whether it is ready, and end")
    out.add_argument("--dry-run", action="store_true", help="show what would be done, and end")
    return parser


# ---------------------------------------------------------------------------------------------- choosing


def gather_peers(options: argparse.Namespace) -> tuple[dict[str, Peer], list[str]]:
    """All peers by name, those of the command line included, and the names that were asked for by it."""
    if program := options.rest_echo or os.environ.get("REST_ECHO"):
        if not os.access(program, os.X_OK):
            raise PeerError(f"{'--rest-echo' if options.rest_echo else 'REST_ECHO'}: {program} is no program")
        os.environ["REST_ECHO"] = os.path.abspath(program)
    peers, complaints = read_peers(PEERS)
    for complaint in complaints:
        print(f"bench/compare: ignored: {complaint}", file=sys.stderr)
    classes = dict(text.partition("=")[::2] for text in options.server_class)
    for name, chosen in classes.items():
        if chosen not in CLASSES:
            raise PeerError(f"--server-class {name}={chosen}: not one of {', '.join(CLASSES)}")
    own = [
        *(peer_from_command(text, classes) for text in options.server),
        *(peer_from_url(text, classes) for text in options.url),
    ]
    for peer in own:
        if peer.name in peers:
            raise PeerError(f"there is a peer called {peer.name} already; give yours another name")
        peers[peer.name] = peer
    for name in classes.keys() - {peer.name for peer in own}:
        raise PeerError(f"--server-class {name}: there is no --server or --url of that name")
    return peers, [peer.name for peer in own]


def choose_peers(
    peers: dict[str, Peer],
    names: Sequence[str],
    own: Sequence[str],
    workload: str,
) -> tuple[list[Peer], list[dict[str, str]]]:
    """The servers to measure, and those left out with the reason.

    Names given are taken as they are; without any it is everybody, and the user's own in either case.
    """
    unknown = [name for name in names if name not in peers]
    if unknown:
        raise PeerError(f"no peer is called {', '.join(unknown)}; bench/compare --list shows them all")
    wanted = list(dict.fromkeys([*names, *own])) if names else list(peers)
    chosen, skipped = [], []
    for name in wanted:
        peer = peers[name]
        if workload not in peer.workloads:
            skipped.append({"name": name, "reason": f"has no workload {workload}"})
        elif lacking := find_lacking(peer):
            skipped.append({"name": name, "reason": describe_lacking(peer, lacking)})
        else:
            chosen.append(peer)
    return chosen, skipped


def make_settings(options: argparse.Namespace, servers: Sequence[Peer]) -> Settings:
    """Fills in what was left open, so that the whole stays within its time."""
    rounds, duration_s = fit_rounds(
        len(servers) * len(options.connections),
        QUICK_ROUNDS_BUDGET_S if options.quick else ROUNDS_BUDGET_S,
        options.rounds or (5 if options.quick else 10),
    )
    rounds, duration_s = options.rounds or rounds, options.duration or (1 if options.quick else duration_s)
    names = [peer.name for peer in servers]
    reference = options.reference or ("rest-echo" if "rest-echo" in names else names[0])
    if reference not in names:
        raise PeerError(f"--reference {reference}: it is not among {', '.join(names)}")
    open_loop_s, open_loop_turns = fit_open_loop(len(servers))
    with_open_loop = options.open_loop if options.open_loop is not None else not options.quick
    if with_open_loop and open_loop.find_tool() is None:
        if options.open_loop:
            raise PeerError("--open-loop needs oha or vegeta: bench/install-peers vegeta")
        with_open_loop = False
    return Settings(
        workload=options.workload,
        workers=options.workers,
        cpus=options.cpus,
        rounds=rounds,
        duration_s=duration_s,
        connections=options.connections,
        seed=secrets.randbelow(2**31) if options.seed is None else options.seed,
        reference=reference,
        startups=1 if options.quick else 3,
        warmup_max_s=3 if options.quick else 10,
        open_loop_s=open_loop_s if with_open_loop else 0,
        open_loop_turns=open_loop_turns,
        open_loop_rate=options.rate,
    )


def fit_open_loop(servers: int) -> tuple[int, int]:
    """Seconds of each run, and runs of each server at both of its rates; five of them rather than long ones."""
    seconds = min(5, max(2, OPEN_LOOP_BUDGET_S // (2 * 5 * servers)))
    return seconds, min(5, max(1, OPEN_LOOP_BUDGET_S // (2 * servers * seconds)))


def fit_rounds(cells: int, budget_s: float, rounds: int) -> tuple[int, int]:
    """Rounds and whole seconds of each, so that `cells` measurements a round stay within the budget.

    Rounds are given up only when they last a second each already, and never below what a ranking needs.
    """
    duration_s = min(5, max(1, int(budget_s / (rounds * cells))))
    if duration_s == 1:
        rounds = min(rounds, max(ROUNDS_TO_TELL, int(budget_s / cells)))
    return rounds, duration_s


# ------------------------------------------------------------------------------------------------ commands


def run_compare(arguments: Sequence[str]) -> int:
    options = make_parser().parse_args(arguments)
    if options.cpus is not None and not 0.01 <= options.cpus <= 4096:
        raise PeerError("--cpus wants a number from 0.01 to 4096")
    if not 0 <= options.rate <= 1e9:
        raise PeerError("--rate wants requests a second, up to 1e9")
    peers, own = gather_peers(options)
    if options.list:
        return list_peers(peers)
    chosen, skipped = choose_peers(peers, options.names, own, options.workload)
    for entry in skipped:
        print(f"skipped {entry['name']}: {entry['reason']}", file=sys.stderr)
    if not chosen:
        raise PeerError("nothing to measure; bench/compare --list says what each peer needs")
    wrk_version = wrk.version()
    if not wrk_version:
        raise PeerError("wrk is needed: apt-get install wrk")
    if options.workload == "echo" and not options.script.is_file():
        raise PeerError(f"{options.script}: no such script for wrk")
    settings = make_settings(options, chosen)
    if options.dry_run:
        return dry_run(settings, chosen)
    limit = quota.choose(options.cpus) if options.cpus else quota.Quota()
    plan = plan_for(settings, limit)
    busy = psutil.cpu_percent(interval=1.0) / 100
    host = machine.describe()
    warnings = machine.find_warnings(host, plan, busy, len(chosen))
    for warning in warnings:
        print(f"warning: {warning}", file=sys.stderr)
    out = options.output or BENCH / "results" / datetime.now().strftime("%Y-%m-%d-%H%M%S")
    out.mkdir(parents=True, exist_ok=True)
    body = (ROOT / "body.json").read_bytes()
    created = datetime.now().astimezone().isoformat(timespec="seconds")
    with pinned_to(plan.generator):
        session = Session(
            settings, chosen, plan, limit, out, options.script.resolve(), body, choose_progress()
        )
        session.run()
    tool = session.open_loop_tool
    record = results.make_record(
        session,
        {
            "created": created,
            "finished": datetime.now().astimezone().isoformat(timespec="seconds"),
            "command": shlex.join(["bench/compare", *arguments]),
            "machine": host,
            "busy_before": busy,
            "repository": machine.read_repository(),
            "warnings": warnings,
            "skipped": skipped,
            "tools": {
                "wrk": wrk_version,
                "open_loop": tool.version if tool else "",
                "wrk_command": shlex.join(wrk_words(session, settings)),
            },
        },
    )
    results.write_record(record, out / "results.json")  # at once: whatever happens to tables and charts
    show(record)
    write_outputs(record, out, options)
    if session.interrupted:
        return EXIT_INTERRUPTED
    failed = any(row["verdict"] == "failed" for row in record["rows"])
    return EXIT_FAILED if failed or any(entry["name"] in options.names for entry in skipped) else EXIT_OK


def wrk_words(session: Session, settings: Settings) -> list[str]:
    """The generator's command, with the script that its hook loads."""
    connections = settings.connections[0]
    words = wrk.command(
        "http://127.0.0.1:PORT/",
        threads=session.threads(connections),
        connections=connections,
        duration_s=settings.duration_s,
    )
    script = [f"KIT_SCRIPT={session.script.name}"] if session.script else []
    return script + [word if not word.endswith(".lua") else "bench/kit/wrk_report.lua" for word in words]


def plan_for(settings: Settings, limit: quota.Quota) -> machine.CpuPlan:
    affinity_only = max(1, round(settings.cpus or 1)) if limit.method == "affinity" else 0
    return machine.plan_cpus(settings.workers, quota=limit.method != "none", affinity_only=affinity_only)


@contextlib.contextmanager
def pinned_to(cpus: Sequence[int]) -> Any:
    """Keeps the kit itself off the server's CPUs."""
    before = os.sched_getaffinity(0)
    if cpus:
        os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def list_peers(peers: dict[str, Peer]) -> int:
    """Each peer: ready, to be built at first use, or what it needs."""
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False)
    for column in ("peer", "group", "class", "workloads", "state"):
        table.add_column(column, overflow="fold")
    lines = []
    for peer in peers.values():
        lacking = find_lacking(peer)
        state = (
            describe_lacking(peer, lacking)
            if lacking
            else "ready, built at first use"
            if needs_build(peer)
            else "ready"
        )
        line = (peer.name, peer.group, peer.peer_class or "–", ", ".join(peer.workloads), state)
        lines.append(list(line))
        table.add_row(*line, style="" if not lacking else "dim")
    if console.is_terminal:
        console.print(table)
    else:
        widths = [max(len(line[index]) for line in lines) for index in range(4)]
        for line in lines:
            print("  ".join([*(cell.ljust(width) for cell, width in zip(line, widths)), line[4]]))
    elsewhere = [peer for peer in peers.values() if peer.elsewhere and find_lacking(peer)]
    for peer in elsewhere:
        print(f"\n{peer.name}, elsewhere:")
        print("\n".join(f"  {line}" for line in peer.elsewhere.strip().splitlines()))
    print(
        "\nopen loop: "
        + (
            tool.version
            if (tool := open_loop.find_tool())
            else "needs oha or vegeta (bench/install-peers vegeta)"
        )
    )
    print("wrk: " + (wrk.version() or "missing (apt-get install wrk)"))
    return EXIT_OK


def dry_run(settings: Settings, chosen: Sequence[Peer]) -> int:
    """What a run would do, without starting anything; a quota is named but not made."""
    plan = machine.plan_cpus(settings.workers, quota=bool(settings.cpus))
    print(
        f"{settings.workload}, {settings.rounds} rounds of {settings.duration_s} s, connections "
        f"{', '.join(map(str, settings.connections))}, seed {settings.seed}, reference {settings.reference}"
    )
    print(plan.describe() + (f"; quota of {settings.cpus:g} CPU" if settings.cpus else ""))
    for peer in chosen:
        values = placeholders(peer, workers=peer.workers_for(settings.workers), workload=settings.workload)
        values["port"] = "PORT"
        command = (
            shlex.join(command_words(peer.command_for(settings.workload), values))
            if not peer.url
            else peer.url
        )
        built = "  (built first)" if needs_build(peer) else ""
        print(f"  {peer.name}: {command}{built}")
    minutes = settings.planned_s * len(chosen) / 60
    print(f"about {minutes:.1f} minutes")
    return EXIT_OK


def show(record: dict[str, Any]) -> None:
    """The tables on standard output: as wide as the terminal allows, plain when piped."""
    console = Console(highlight=False)
    for connections in record["settings"]["connections"]:
        for section in results.sections(record):
            title = report.table_title(record, connections, section)
            _show_table(
                console,
                title,
                report.table(record, connections, section),
                report.table(record, connections, section, wide=False),
                record,
            )
    if lines := report.open_loop_table(record):
        _show_table(console, "Open loop: latency from the moment a request was due", lines, lines, record)
    for remark in report.remarks_of(record):
        print(f"- {remark}")


def _show_table(
    console: Console, title: str, wide: list[list[str]], narrow: list[list[str]], record: dict[str, Any]
) -> None:
    if not console.is_terminal:
        print(f"\n{title}\n{report.plain_table(wide)}")
        return
    width = sum(max(len(line[index]) for line in wide) + 2 for index in range(len(wide[0])))
    lines = wide if width <= console.width else narrow
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in lines[0]:
        table.add_column(
            column, justify="left" if column in ("server", "class", "verdict") else "right", no_wrap=True
        )
    for line in lines[1:]:
        name = line[lines[0].index("server")].split(" ")[0]
        ours = record["servers"][name]["group"] == "ours"
        table.add_row(*line, style="bold" if ours else "")
    console.print()
    console.print(table)


def write_outputs(record: dict[str, Any], out: Path, options: argparse.Namespace) -> None:
    """results.csv, .md and the charts beside results.json in the output folder, and copies where asked for."""
    from . import charts  # late: matplotlib takes half a second to load, and nobody waits for it before

    if options.json:
        results.write_record(record, options.json)
    for folder in filter(None, (out, options.svg)):
        charts.draw_all(record, folder)
    for path in filter(None, (out / "results.csv", options.csv)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(report.csv_text(record), encoding="utf-8")
    for path in filter(None, (out / "results.md", options.markdown)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(report.markdown(record), encoding="utf-8")
    print(f"\nresults: {out / 'results.json'}, .csv, .md and charts beside it")


def run_report(arguments: Sequence[str]) -> int:
    """Tables and charts again, from a results.json."""
    parser = argparse.ArgumentParser(prog="bench/compare report", description="Shows a results.json again.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--output", type=Path, help="folder for all files again")
    for name in ("--json", "--csv", "--markdown", "--svg"):
        parser.add_argument(name, type=Path)
    options = parser.parse_args(arguments)
    record = results.read_record(options.file)
    results.summarise(record)
    out = options.output or options.file.parent
    results.write_record(record, out / "results.json")
    show(record)
    write_outputs(record, out, options)
    return EXIT_OK


def run_diff(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="bench/compare diff",
        description="Compares two results.json, row by row.",
        epilog="exit status: 1 only for a regression that was shown and is over the threshold, or a failure",
    )
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--fail-above", type=_share, default=0.05, metavar="SHARE", help="default 5%%")
    options = parser.parse_args(arguments)
    old, new = results.read_record(options.old), results.read_record(options.new)
    for mismatch in diff.find_mismatches(old, new):
        print(f"warning: not the same {mismatch}", file=sys.stderr)
    changes = diff.compare(old, new, options.fail_above)
    lines = [["server", "connections", "metric", "verdict", "new against old"]]
    lines += [
        [change.name, str(change.connections), change.metric, change.word, change.detail]
        for change in changes
    ]
    print(report.plain_table(lines), end="")
    return EXIT_FAILED if any(change.counts for change in changes) else EXIT_OK
