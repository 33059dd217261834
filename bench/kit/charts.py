"""Charts of a record, each as SVG and PNG from one figure: bars with intervals, and latency curves."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault(
    "MPLCONFIGDIR", os.path.join(tempfile.gettempdir(), f"compare-matplotlib-{os.getuid()}")
)

import matplotlib  # noqa: E402

matplotlib.use("Agg")

from matplotlib import pyplot  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator  # noqa: E402

from . import report  # noqa: E402
from .verdicts import FAILED, GENERATOR_BOUND, SERVER_BOUND  # noqa: E402

# Distinguishable for the colour-blind (after Okabe and Ito); the group also stands in the legend.
_COLOURS = {
    "ours": "#D55E00",
    "out-of-the-box": "#0072B2",
    "tuned": "#009E73",
    "yours": "#CC79A7",
    "yardstick": "#999999",
}
_LEGEND = {
    "ours": "ours",
    "out-of-the-box": "out of the box",
    "tuned": "tuned",
    "yours": "yours",
    "yardstick": "yardstick (fixed answer, echoes nothing)",
}
_CURVE_COLOURS = ("#0072B2", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F5539", "#000000", "#8E44AD")
_DASHES: tuple[Any, ...] = ("-", "--", ":", (0, (6, 2, 1, 2)))


@dataclass(frozen=True)
class Bar:
    """One bar: a figure with its interval; low = high where there is none."""

    name: str
    group: str
    value: float
    low: float
    high: float
    remark: str = ""  # why this bar is not to be taken at its face value


def draw_all(record: dict[str, Any], folder: Path) -> list[Path]:
    """Draws every chart that has something to show; the files written."""
    folder.mkdir(parents=True, exist_ok=True)
    written: list[Path] = []
    several = len(record["settings"]["connections"]) > 1
    for connections in record["settings"]["connections"]:
        rows = [
            row
            for row in record["rows"]
            if row["connections"] == connections and row["summary"] and row["verdict"] != FAILED
        ]
        suffix = f"-c{connections}" if several else ""
        where = _subtitle(record, connections)
        # A yardstick's rate is a ceiling worth seeing; its CPU and memory belong there for the same reason.
        written += _save(
            _bars(
                _estimates(record, rows, "rate"),
                "Requests per second (more is better)",
                where,
                report.rate,
                most_first=True,
            ),
            folder / f"requests{suffix}",
        )
        written += _save(
            _bars(
                _estimates(record, rows, "cpu_us_per_request"),
                "CPU time per request, µs (less is better)",
                where,
                _one_decimal,
                most_first=False,
            ),
            folder / f"cpu{suffix}",
        )
        written += _save(
            _bars(
                _estimates(record, rows, "memory_bytes", 1e-6),
                "Memory under load, MB (proportional, whole process tree; less is better)",
                where,
                _one_decimal,
                most_first=False,
            ),
            folder / f"memory{suffix}",
        )
        written += _save(_latency_curves(record, rows, where), folder / f"latency{suffix}")
    return written


def _one_decimal(value: float) -> str:
    return f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def _subtitle(record: dict[str, Any], connections: int) -> str:
    settings = record["settings"]
    parts = [settings["workload"], f"{settings['workers']} worker{'s' * (settings['workers'] != 1)}"]
    parts += [f"{settings['cpus']:g} CPU quota"] if settings["cpus"] else []
    parts += [
        f"{connections} connections",
        f"{settings['rounds']} × {settings['duration_s']} s",
        record["machine"]["cpu"],
        record["created"][:10],
    ]
    return ", ".join(parts)


def _estimates(
    record: dict[str, Any], rows: Sequence[dict[str, Any]], key: str, factor: float = 1.0
) -> list[Bar]:
    bars = []
    for row in rows:
        if figure := row["summary"].get(key):
            remark = "" if row["verdict"] == SERVER_BOUND else row["verdict"]
            if key != "rate" and row["verdict"] == GENERATOR_BOUND:
                remark = ""  # the generator limits the rate, not what a request costs
            bars.append(
                Bar(
                    row["name"],
                    record["servers"][row["name"]]["group"],
                    figure["median"] * factor,
                    figure["low"] * factor,
                    figure["high"] * factor,
                    remark,
                )
            )
    return bars


def _bars(
    bars: Sequence[Bar],
    title: str,
    subtitle: str,
    text: Callable[[float], str],
    *,
    most_first: bool,
) -> Figure | None:
    """Horizontal bars, best on top, names at the bars; the legend only where groups differ."""
    if not bars:
        return None
    ordered = sorted(bars, key=lambda bar: bar.value, reverse=not most_first)  # drawn from the bottom up
    figure, axes = pyplot.subplots(figsize=(10, 1.7 + 0.36 * len(ordered)), layout="constrained")
    places = range(len(ordered))
    axes.barh(
        places,
        [bar.value for bar in ordered],
        height=0.68,
        color=[_COLOURS[bar.group] for bar in ordered],
        xerr=[[bar.value - bar.low for bar in ordered], [bar.high - bar.value for bar in ordered]],
        error_kw={"ecolor": "#222222", "elinewidth": 1.2, "capsize": 3},
    )
    axes.set_ylim(-0.6, len(ordered) - 0.4)
    axes.set_yticks(list(places), [bar.name for bar in ordered])
    for label, bar in zip(axes.get_yticklabels(), ordered):
        if bar.group == "ours":
            label.set(fontweight="bold", color=_COLOURS["ours"])
    longest = max(max(bar.high, bar.value) for bar in ordered)
    for place, bar in zip(places, ordered):
        remark = f"  ({bar.remark})" if bar.remark else ""
        axes.annotate(
            text(bar.value) + remark,
            (max(bar.high, bar.value), place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            fontsize=9,
        )
    # Room for the figure, and for a remark where a long bar has one.
    room = max(
        (bar.value / longest + 0.10 + 0.013 * (len(bar.remark) + 3 if bar.remark else 0)) for bar in ordered
    )
    axes.set_xlim(0, longest * max(1.1, room))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.set_title(title, loc="left", fontweight="bold", fontsize=12, pad=22)
    axes.text(
        0,
        1,
        subtitle,
        transform=axes.transAxes,
        fontsize=8.5,
        color="#555555",
        va="bottom",
        bbox={"facecolor": "none", "edgecolor": "none", "pad": 4},
    )
    axes.grid(axis="x", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    groups = [group for group in _COLOURS if any(bar.group == group for bar in ordered)]
    if len(groups) > 1:
        figure.legend(
            handles=[Patch(color=_COLOURS[group], label=_LEGEND[group]) for group in groups],
            loc="upper left",
            bbox_to_anchor=(0.0, 0.0),  # just below the figure, which grows when it is saved
            ncols=len(groups),
            frameon=False,
            fontsize=9,
        )
    return figure


def _latency_curves(record: dict[str, Any], rows: Sequence[dict[str, Any]], subtitle: str) -> Figure | None:
    """Latency by percentile: the slow tail gets as much room as the rest, both axes logarithmic."""
    curves = [
        (row["name"], record["servers"][row["name"]]["group"], row["latency_curve_us"])
        for row in rows
        if row["latency_curve_us"]
    ]
    if not curves:
        return None
    curves.sort(key=lambda curve: _value_at(curve[2], 99.99))
    figure, axes = pyplot.subplots(figsize=(10, max(5.0, 1.6 + 0.27 * len(curves))), layout="constrained")
    ends = []
    for index, (name, group, points) in enumerate(curves):
        shown = [(share, value) for share, value in points if 5 <= share <= 99.99]
        special = group in ("ours", "yardstick")
        colour = _COLOURS[group] if special else _CURVE_COLOURS[index % len(_CURVE_COLOURS)]
        ends.append((name, group, colour, max(shown[-1][1], 1) / 1e3))
        axes.plot(
            [100 / (100 - share) for share, _ in shown],
            [max(value, 1) / 1e3 for _, value in shown],
            color=colour,
            linestyle="-" if special else _DASHES[index // len(_CURVE_COLOURS) % len(_DASHES)],
            linewidth=2.8 if group == "ours" else 1.5,
            zorder=3 if group == "ours" else 2,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlim(1, 1e4)
    axes.xaxis.set_major_locator(FixedLocator([1, 2, 10, 100, 1000, 10000]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xticklabels(["0", "50", "90", "99", "99.9", "99.99"])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("percentile of requests")
    axes.set_ylabel("latency, ms")
    axes.set_title(
        "Latency in a closed loop (less is better)", loc="left", fontweight="bold", fontsize=12, pad=22
    )
    axes.text(
        0,
        1,
        subtitle,
        transform=axes.transAxes,
        fontsize=8.5,
        color="#555555",
        va="bottom",
        bbox={"facecolor": "none", "edgecolor": "none", "pad": 4},
    )
    axes.grid(which="major", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    _name_ends(axes, ends)
    return figure


def _name_ends(axes: Axes, ends: Sequence[tuple[str, str, str, float]]) -> None:
    """Writes each curve's name where the curve leaves the chart; names too close are moved apart, with a
    line.
    """
    low, high = (math.log(limit) for limit in axes.get_ylim())
    heights = [(math.log(value) - low) / (high - low) for *_, value in ends]
    gap = 0.16 / (
        axes.figure.get_figheight() - 1.2
    )  # inches of a line of text, as a share of the axes' height
    for (name, group, colour, _), height, place in zip(ends, heights, spread(heights, gap)):
        axes.annotate(
            name,
            (1.0, height),
            (1.035, place),
            xycoords="axes fraction",
            textcoords="axes fraction",
            va="center",
            fontsize=9,
            color=colour,
            fontweight="bold" if group == "ours" else "normal",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": colour,
                "linewidth": 0.7,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0, 0.5),
            },
        )


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Places for labels at ascending `heights`, at least `gap` apart and as near to them as that allows."""
    groups: list[list[float]] = []  # centre and number of labels that stand side by side
    for height in heights:
        groups.append([height, 1.0])
        while len(groups) > 1 and groups[-1][0] - groups[-2][0] < gap * (groups[-1][1] + groups[-2][1]) / 2:
            (centre, count), (other, others) = groups.pop(), groups.pop()
            groups.append([(centre * count + other * others) / (count + others), count + others])
    return [
        centre + (index - (count - 1) / 2) * gap for centre, count in groups for index in range(int(count))
    ]


def _value_at(points: Sequence[Sequence[float]], share: float) -> float:
    return next((value for percent, value in points if percent >= share), 0.0)


def _save(figure: Figure | None, stem: Path) -> list[Path]:
    if figure is None:
        return []
    paths = [stem.with_suffix(".svg"), stem.with_suffix(".png")]
    # Text stays text in the SVG, so that it can be searched, and no date, so that equal charts are equal
    # files.
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "rest-echo"}):
        figure.savefig(paths[0], metadata={"Date": None}, bbox_inches="tight")
    figure.savefig(paths[1], dpi=144, bbox_inches="tight")
    pyplot.close(figure)
    return paths
