"""Tables, CSV and charts of a record made by hand."""

import csv
import io
import tempfile
import unittest
from pathlib import Path

from fixtures import make_record
from kit import charts, report, results

RATES = {
    "rest-echo": [1000.0, 1010, 990, 1000, 1005],
    "plain": [250.0, 252, 248, 251, 250],
    "quick": [700.0, 704, 699, 700, 702],
    "floor": [1500.0, 1510, 1490, 1500, 1501],
    "liar": [9000.0, 9001, 9002, 9003, 9004],
}
GROUPS = {"rest-echo": "ours", "quick": "tuned", "floor": "yardstick"}


def sample_record():
    return make_record(
        RATES,
        GROUPS,
        {
            "liar": {"failure": "the answer differs"},
            "floor": {"verified": False, "server_cpus": 0.6, "generator_cpus": 0.99},
        },
    )


class FigureTest(unittest.TestCase):
    def test_texts(self):
        for function, value, text in (
            (report.rate, 123456.7, "123,457"),
            (report.rate, 12.345, "12.3"),
            (report.microseconds, 870.4, "870 µs"),
            (report.microseconds, 1234.0, "1.23 ms"),
            (report.microseconds, 2_100_000.0, "2.1 s"),
            (report.megabytes, 9_870_000, "9.9"),
            (report.megabytes, 123_456_000, "123"),
            (report.megabytes, None, "–"),
        ):
            with self.subTest(text):
                self.assertEqual(function(value), text)
        self.assertEqual(report.ratio({"median": 0.254, "low": 0.25, "high": 0.26}), "0.25 [0.25–0.26]")
        self.assertEqual(report.ratio(None), "–")


class OpenLoopTableTest(unittest.TestCase):
    @staticmethod
    def run_of(name, kind, turn, p99, held=True):
        latency_us = {"p50": 10.0, "p90": 20.0, "p99": p99, "p99.9": 2 * p99}
        return {
            "name": name,
            "kind": kind,
            "turn": turn,
            "held": held,
            "asked_rate": 500.0,
            "reached_rate": 499.0,
            "latency_us": latency_us,
        }

    def lines_of(self, *runs):
        record = make_record(RATES, GROUPS, {})
        record["open_loop"] = list(runs)
        return {(line[0], line[1]): line for line in report.open_loop_table(record)[1:]}

    def test_medians_of_the_turns_and_the_ratio_of_pairs(self):
        # The third turn was disturbed for both.
        p99s = [(1, 100.0), (2, 110.0), (3, 900.0)]
        ours = [self.run_of("rest-echo", "common", turn, p99) for turn, p99 in p99s]
        theirs = [self.run_of("plain", "common", turn, 2 * p99) for turn, p99 in p99s]
        lines = self.lines_of(*ours, *theirs)
        self.assertEqual(
            lines["rest-echo", "common"][2:], ["500", "499", "10 µs", "20 µs", "110 µs", "220 µs", "1"]
        )
        self.assertEqual(lines["plain", "common"][6], "220 µs")
        self.assertEqual(lines["plain", "common"][8], "2.00 [2.00–2.00]")

    def test_a_turn_that_did_not_hold_its_rate_tells_nothing(self):
        lines = self.lines_of(
            self.run_of("rest-echo", "common", 1, 100.0),
            self.run_of("plain", "common", 1, 9.0, held=False),
            self.run_of("plain", "half of own", 1, 9.0, held=False),
            self.run_of("plain", "half of own", 2, 50.0),
        )
        self.assertEqual(lines["plain", "common"][4:], ["not held"] * 4 + ["–"])
        self.assertEqual(lines["plain", "half of own"][6], "50 µs")


class TableTest(unittest.TestCase):
    def test_who_was_not_checked_after_the_load_has_no_rank(self):
        record = make_record(RATES, GROUPS, {"plain": {"checked_after": False}})
        ranks = {row["name"]: row["ranks"] for row in record["rows"]}
        self.assertEqual((ranks["plain"], ranks["rest-echo"]["out-of-the-box"]), ({}, "2"))
        self.assertIn("plain: not ranked, as it was not checked after the load.", report.remarks_of(record))

    def test_the_groups_have_tables_of_their_own(self):
        record = sample_record()
        self.assertEqual(results.sections(record), ["out-of-the-box", "tuned"])
        names = {
            section: [row["name"] for row in results.rows_of(record, 64, section)]
            for section in results.sections(record)
        }
        self.assertEqual(names["out-of-the-box"], ["floor", "rest-echo", "plain", "liar"])
        self.assertEqual(names["tuned"], ["floor", "rest-echo", "quick"])

    def test_cells(self):
        record = sample_record()
        by_name = {
            line["server"].split(" ")[0]: line
            for line in (report.cells(record, row, "out-of-the-box") for row in record["rows"])
        }
        ours, plain, floor, liar = (by_name[name] for name in ("rest-echo", "plain", "floor", "liar"))
        self.assertEqual(
            (ours["rank"], ours["req/s"], ours["ratio"], ours["server"]), ("1", "1,000", "1", "rest-echo ◂")
        )
        self.assertTrue(plain["ratio"].startswith("0.25 ["))
        self.assertEqual(
            (plain["CPUs server"], plain["CPUs generator"], plain["start ms"]), ("0.98/1", "0.40/1", "200")
        )
        self.assertEqual(
            (floor["rank"], floor["req/s"], floor["verdict"]), ("", "≥ 1,500", "generator-bound")
        )
        self.assertEqual((liar["rank"], liar["req/s"], liar["verdict"]), ("", "–", "failed"))

    def test_markdown(self):
        text = report.markdown(sample_record())
        for part in (
            "## Out of the box: echo, 1 worker, 64 connections",
            "## Tuned",
            "rest-echo ◂",
            "liar: failed, the answer differs.",
            "floor: not checked",
            "seed 1",
            "closed loop",
        ):
            self.assertIn(part, text)

    def test_csv(self):
        lines = list(csv.DictReader(io.StringIO(report.csv_text(sample_record()))))
        self.assertEqual([line["server"] for line in lines], list(RATES))
        self.assertEqual(float(lines[1]["requests_per_s"]), 250.0)
        self.assertEqual(lines[4]["verdict"], "failed")

    def test_plain_text_is_aligned(self):
        record = sample_record()
        text = report.plain_table(report.table(record, 64, "tuned", wide=False))
        self.assertEqual(len(text.splitlines()), 4)
        self.assertLessEqual(max(map(len, text.splitlines())), 110)


class RecordTest(unittest.TestCase):
    def test_written_and_read_again(self):
        record = sample_record()
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "deep" / "results.json"
            results.write_record(record, path)
            again = results.read_record(path)
            results.summarise(again)
            self.assertEqual(report.markdown(again), report.markdown(record))
            path.write_text('{"schema": "other"}')
            with self.assertRaises(results.ResultsError):
                results.read_record(path)


class ChartTest(unittest.TestCase):
    def test_labels_are_moved_apart(self):
        for heights, expected in (
            ([0.1, 0.5], [0.1, 0.5]),
            ([0.5, 0.5], [0.45, 0.55]),
            ([0.2, 0.5, 0.52, 0.54], [0.2, 0.42, 0.52, 0.62]),
            ([], []),
        ):
            with self.subTest(heights=heights):
                places = charts.spread(heights, 0.1)
                self.assertEqual([round(place, 6) for place in places], expected)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            written = charts.draw_all(sample_record(), Path(folder))
            self.assertEqual(
                {path.name for path in written},
                {
                    f"{stem}.{end}"
                    for stem in ("requests", "cpu", "memory", "latency")
                    for end in ("svg", "png")
                },
            )
            for path in written:
                start = path.read_bytes()[:300]
                self.assertTrue(start.startswith(b"\x89PNG") or b"<svg" in start or b"<?xml" in start, path)
            text = (Path(folder) / "requests.svg").read_text()
            for name in ("rest-echo", "plain", "quick", "floor", "generator-bound"):
                self.assertIn(name, text)
            self.assertNotIn("liar", text, "a failed server has no bar")


if __name__ == "__main__":
    unittest.main()
