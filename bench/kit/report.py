"""Tables for people (terminal, Markdown) and for programs (CSV)."""

from __future__ import annotations

import csv
import io
from statistics import median
from typing import Any

from .results import median_of, rows_of, sections
from .rounds import REST_MAX_S
from .statistics import paired_ratio
from .verdicts import FAILED, GENERATOR_BOUND

_SECTION_TITLES = {"out-of-the-box": "Out of the box", "tuned": "Tuned", "": "Servers"}
_WIDE = (
    "rank",
    "server",
    "class",
    "workers",
    "req/s",
    "±",
    "ratio",
    "of floor",
    "p50",
    "p90",
    "p99",
    "p99.9",
    "CPUs server",
    "CPUs generator",
    "CPU µs/req",
    "idle MB",
    "peak MB",
    "octets",
    "start ms",
    "throttled",
    "errors",
    "verdict",
)
_NARROW = ("rank", "server", "req/s", "±", "ratio", "p99", "CPU µs/req", "peak MB", "verdict")
_LEFT = ("server", "class", "verdict")


# ------------------------------------------------------------------------------------------------- figures


def rate(value: float) -> str:
    """1,234 or 12.3: as many digits as can be trusted, no more than needed."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def microseconds(value: float) -> str:
    """870 µs, 1.23 ms, 2.1 s."""
    if value < 1000:
        return f"{value:.0f} µs"
    return f"{value / 1e3:.3g} ms" if value < 999_500 else f"{value / 1e6:.3g} s"


def megabytes(octets: float | None) -> str:
    return "–" if octets is None else f"{octets / 1e6:.1f}" if octets < 99.95e6 else f"{octets / 1e6:.0f}"


def ratio(figure: dict[str, float] | None) -> str:
    """0.25 [0.24–0.26]; nothing where there is nothing to compare with."""
    if figure is None:
        return "–"
    digits = 2 if figure["median"] >= 0.095 else 3
    return f"{figure['median']:.{digits}f} [{figure['low']:.{digits}f}–{figure['high']:.{digits}f}]"


def cells(record: dict[str, Any], row: dict[str, Any], section: str) -> dict[str, str]:
    """One row as text, by column."""
    server, summary = record["servers"][row["name"]], row["summary"]
    mark = {"ours": " ◂", "yardstick": " (yardstick)", "yours": " (yours)"}.get(server["group"], "")
    line = dict.fromkeys(_WIDE, "–")
    line |= {
        "rank": row["ranks"].get(section, ""),
        "server": row["name"] + mark,
        "class": server["class"] or "–",
        "workers": str(server["workers"]),
        "idle MB": megabytes(server["idle_bytes"]),
        "peak MB": megabytes(server["peak_bytes"]),
        "octets": str(server["answer_octets"] or "–"),
        "verdict": row["verdict"],
    }
    if server["startup_s"]:
        line["start ms"] = f"{sorted(server['startup_s'])[len(server['startup_s']) // 2] * 1e3:,.0f}"
    if not summary or row["verdict"] == FAILED:
        return line
    figure = summary["rate"]
    line |= {
        "req/s": ("≥ " if row["verdict"] == GENERATOR_BOUND else "") + rate(figure["median"]),
        "±": f"{(figure['high'] - figure['low']) / 2 / figure['median']:.1%}" if figure["count"] > 1 else "–",
        "ratio": "1" if row["name"] == record["settings"]["reference"] else ratio(row["ratio"]),
        "of floor": f"{row['of_floor']['median']:.0%}" if row["of_floor"] else "–",
        "CPUs generator": f"{median_of(row, 'generator_cpus'):.2f}/{row['generator_capacity']:g}",
        "errors": str(summary["errors"]),
    }
    for name in ("p50", "p90", "p99", "p99.9"):
        line[name] = microseconds(summary["latency_us"][name]["median"])
    if summary["throttled_s"] is not None:  # how much of the time a quota kept it standing still
        line["throttled"] = f"{summary['throttled_s'] / record['settings']['duration_s']:.0%}"
    if summary["server_cpus"]:
        line["CPUs server"] = f"{summary['server_cpus']['median']:.2f}/{row['server_capacity']:g}"
        line["CPU µs/req"] = f"{summary['cpu_us_per_request']['median']:.4g}"
    return line


def table(record: dict[str, Any], connections: int, section: str, *, wide: bool = True) -> list[list[str]]:
    """Header and rows."""
    columns = list(_WIDE if wide else _NARROW)
    lines = [cells(record, row, section) for row in rows_of(record, connections, section)]
    if wide:  # columns that say nothing here are left out: one number of workers, no yardstick, no errors
        columns = [
            column
            for column in columns
            if column not in ("of floor", "errors", "throttled")
            or any(line[column] not in ("–", "0") for line in lines)
        ]
    return [columns, *([line[column] for column in columns] for line in lines)]


def table_title(record: dict[str, Any], connections: int, section: str) -> str:
    settings = record["settings"]
    share = f"{settings['cpus']:g} CPU quota, " if settings["cpus"] else ""
    return (
        f"{_SECTION_TITLES[section]}: {settings['workload']}, {share}{settings['workers']} "
        f"worker{'s' * (settings['workers'] != 1)}, {connections} connections"
    )


# ------------------------------------------------------------------------------------------------ Markdown


def markdown(record: dict[str, Any]) -> str:
    """The whole report: tables, what is behind them, and what they do not say."""
    parts = [f"# Comparison of {record['created'][:10]}\n"]
    if record["interrupted"]:
        parts.append("**Interrupted: the figures are of the rounds until then.**\n")
    for connections in record["settings"]["connections"]:
        for section in sections(record):
            parts.append(f"## {table_title(record, connections, section)}\n")
            parts.append(markdown_table(table(record, connections, section)))
    parts += _markdown_open_loop(record)
    remarks = remarks_of(record)
    if remarks:
        parts.append("## Remarks\n\n" + "\n".join(f"- {remark}" for remark in remarks) + "\n")
    parts.append("## How this was measured\n\n" + "\n".join(f"- {line}" for line in method(record)) + "\n")
    parts.append(_markdown_versions(record))
    return "\n".join(parts)


def markdown_table(lines: list[list[str]]) -> str:
    rule = ["---" if column in _LEFT else "---:" for column in lines[0]]
    escaped = [[cell.replace("|", "\\|") for cell in line] for line in [lines[0], rule, *lines[1:]]]
    return "\n".join("| " + " | ".join(line) + " |" for line in escaped) + "\n"


def _markdown_open_loop(record: dict[str, Any]) -> list[str]:
    lines = open_loop_table(record)
    if not lines:
        return []
    return ["## Open loop: latency from the moment a request was due\n", markdown_table(lines)]


def open_loop_table(record: dict[str, Any]) -> list[list[str]]:
    """Latency under a fixed rate, medians of the turns. A rate that the tool did not hold tells nothing of the
    server.
    """
    if not record["open_loop"]:
        return []
    reference = record["settings"]["reference"]
    shares = ("p50", "p90", "p99", "p99.9")
    lines = [["server", "rate", "asked req/s", "reached req/s", *shares, f"p99 ÷ {reference}"]]
    for kind in ("half of own", "common"):
        for name in dict.fromkeys(run["name"] for run in record["open_loop"]):
            runs = [run for run in record["open_loop"] if (run["name"], run["kind"]) == (name, kind)]
            if not runs:
                continue
            held = [run["latency_us"] for run in runs if run["held"]]
            latency = [
                microseconds(median(latency_us[share] for latency_us in held)) if held else "not held"
                for share in shares
            ]
            reached = rate(median(run["reached_rate"] for run in runs))
            against = "1" if name == reference else ratio(_p99_ratio(record, kind, name, reference))
            lines.append([name, kind, rate(runs[0]["asked_rate"]), reached, *latency, against])
    return lines


def _p99_ratio(record: dict[str, Any], kind: str, name: str, reference: str) -> dict[str, float | int] | None:
    """Of the turns in which both held their rate; records of one turn for all have no number of it."""
    mine, theirs = (
        {
            run.get("turn", 1): run["latency_us"]["p99"]
            for run in record["open_loop"]
            if run["name"] == who and run["kind"] == kind and run["held"] and run["latency_us"]["p99"]
        }
        for who in (name, reference)
    )
    turns = sorted(mine.keys() & theirs.keys())
    if not turns:
        return None
    return paired_ratio([mine[turn] for turn in turns], [theirs[turn] for turn in turns]).as_json()


def remarks_of(record: dict[str, Any]) -> list[str]:
    """What a reader should know about single rows, and about the machine."""
    remarks = [f"Warning: {text}." for text in record["warnings"]]
    for row in record["rows"]:
        if row["verdict"] != "server-bound":
            where = (
                f" at {row['connections']} connections" if len(record["settings"]["connections"]) > 1 else ""
            )
            remarks.append(f"{row['name']}{where}: {row['verdict']}, {row['reason']}.")
    for name, server in record["servers"].items():
        if server["failure"]:
            continue
        if server["note"]:
            remarks.append(f"{name}: {server['note']}.")
        if server["maintenance"] not in ("", "active"):
            remarks.append(f"{name}: {server['maintenance']}.")
        if server["verified"] and not server["checked_after"]:
            remarks.append(f"{name}: not ranked, as it was not checked after the load.")
        elif server["verified"] and not server["malformed"] and record["settings"]["workload"] == "echo":
            remarks.append(f"{name}: no malformed document was tried on it, as it is not ours to end.")
        if not server["verified"]:
            remarks.append(f"{name}: not checked and not ranked, it is a yardstick and echoes nothing.")
        if restless := server.get("restless_cpus", 0):
            remarks.append(
                f"{name}: still used {restless:.1f} CPUs {REST_MAX_S:g} s after its turn; whoever came next paid."
            )
        if server["workers"] < record["settings"]["workers"]:
            remarks.append(f"{name}: runs {server['workers']} worker whatever it is asked for.")
        if (server["loose_octets"] or 0) > 1:  # one is the newline that some serialisers end with
            remarks.append(
                f"{name}: its answer is not compact, {server['loose_octets']} octets are white space."
            )
        if server["keeps_alive"] is False:
            remarks.append(f"{name}: closes the connection after an answer.")
        if server["malformed"] and not server["malformed"].startswith("4"):
            remarks.append(f"{name}: a malformed document gets: {server['malformed']}.")
        if server["warmup_s"] and not server["warmup_settled"]:
            remarks.append(f"{name}: did not settle within {server['warmup_s']:g} s of warm-up.")
    if any(not sample["latency_is_raw"] for row in record["rows"] for sample in row["samples"]):
        remarks.append(
            "Some latencies hold samples that wrk added by its own correction, which could not be undone."
        )
    remarks += [f"Skipped: {entry['name']}, {entry['reason']}." for entry in record["skipped"]]
    return remarks


def method(record: dict[str, Any]) -> list[str]:
    """What was done, in the words of this run."""
    settings, host, code = record["settings"], record["machine"], record["repository"]
    commit = (
        f"{code['commit'][:12]}{' with uncommitted changes' if code['dirty'] else ''}"
        if code["commit"]
        else "–"
    )
    checked = (
        "random documents were echoed correctly before, during and, where ranked, after the measurement"
        if settings["workload"] == "echo"
        else "the exact text came before, during and, where ranked, after the measurement"
    )
    return [
        f"`{record['command']}`, {record['created']}, seed {settings['seed']}, commit {commit}",
        f"{host['cpu']}, {len(host['cpus_allowed'])} CPUs, {host['memory_bytes'] / 1e9:.1f} GB, "
        f"{host['kernel']}, {host['distribution']}, virtual: {host['virtual'] or 'unknown'}, "
        f"governor: {host['governor']}, load average {host['load_average'][0]:.2f}",
        f"{record['cpu_plan']['description']}; {record['quota']}",
        f"{settings['rounds']} rounds of {settings['duration_s']} s, interleaved, shuffled in each round; "
        f"medians with 95 % bootstrap intervals; ratios to {settings['reference']} from paired rounds; "
        "= marks ties, where no difference was shown",
        f"closed loop: {record['tools']['wrk']}; keep-alive; percentiles are what wrk measured, its own "
        "correction taken out; they hide stalls (coordinated omission)",
        *([f"open loop: {record['tools']['open_loop']}"] if record["tools"].get("open_loop") else []),
        "CPU and memory are of the whole process tree; memory is proportional (PSS); 1 MB is 1,000,000 "
        "octets; octets are those of one answer on the wire, head included",
        f"{checked} by every server that is not marked as failed",
    ]


def _markdown_versions(record: dict[str, Any]) -> str:
    lines = [["server", "group", "class", "language", "version", "licence", "maintenance", "command"]]
    for name, server in record["servers"].items():
        lines.append(
            [
                name,
                server["group"],
                server["class"] or "–",
                server["language"] or "–",
                server["version"] or "–",
                server["licence"] or "–",
                server["maintenance"] or "–",
                f"`{server['command']}`",
            ]
        )
    rule = ["---"] * len(lines[0])
    text = "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"
        for line in [lines[0], rule, *lines[1:]]
    )
    return f"## Servers\n\n{text}\n"


# ----------------------------------------------------------------------------------------------------- CSV


def csv_text(record: dict[str, Any]) -> str:
    """One line a row, plain numbers with their units in the header."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = ("p50", "p75", "p90", "p99", "p99.9", "p99.99", "p100")
    writer.writerow(
        [
            "server",
            "group",
            "class",
            "version",
            "workload",
            "workers",
            "connections",
            "rounds",
            "verdict",
            "rank",
            "requests_per_s",
            "requests_per_s_low",
            "requests_per_s_high",
            "ratio",
            "ratio_low",
            "ratio_high",
            *(f"{name}_us" for name in names),
            "server_cpus",
            "generator_cpus",
            "cpu_us_per_request",
            "cpu_us_per_request_low",
            "cpu_us_per_request_high",
            "idle_bytes",
            "peak_bytes",
            "answer_octets",
            "startup_s",
            "errors",
            "littles_law",
        ]
    )
    for row in record["rows"]:
        server, summary = record["servers"][row["name"]], row["summary"]
        startup = sorted(server["startup_s"])

        def three(figure: dict[str, float] | None) -> list[Any]:
            return [figure["median"], figure["low"], figure["high"]] if figure else ["", "", ""]

        writer.writerow(
            [
                row["name"],
                server["group"],
                server["class"],
                server["version"],
                record["settings"]["workload"],
                server["workers"],
                row["connections"],
                len(row["samples"]),
                row["verdict"],
                next(iter(row["ranks"].values()), ""),
                *three(summary.get("rate")),
                *three(row["ratio"]),
                *(summary["latency_us"][name]["median"] if summary else "" for name in names),
                median_of(row, "server_cpus") or "",
                median_of(row, "generator_cpus") or "",
                *three(summary.get("cpu_us_per_request")),
                server["idle_bytes"],
                server["peak_bytes"],
                server["answer_octets"],
                startup[len(startup) // 2] if startup else "",
                summary.get("errors", ""),
                summary.get("little", ""),
            ]
        )
    return out.getvalue()


# -------------------------------------------------------------------------------------------- plain text


def plain_table(lines: list[list[str]]) -> str:
    """Aligned columns without frames, for pipes and files."""
    widths = [max(len(line[index]) for line in lines) for index in range(len(lines[0]))]
    text = []
    for line in lines:
        padded = [
            cell.ljust(width) if column in _LEFT else cell.rjust(width)
            for cell, width, column in zip(line, widths, lines[0])
        ]
        text.append("  ".join(padded).rstrip())
    return "\n".join(text) + "\n"
