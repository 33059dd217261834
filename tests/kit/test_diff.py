"""diff: words, figures, exit status."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path

from fixtures import make_record
from kit import diff, results
from kit.cli import main
from kit.statistics import Estimate

BASE = [100.0, 101, 99, 100, 102, 98]


def scaled(factor):
    return [value * factor for value in BASE]


ROWS = [
    ("the same", scaled(1.0), {}, "within noise", 0),
    ("faster", scaled(1.5), {}, "improved", 0),
    ("slower", scaled(0.8), {}, "regressed", 1),
    ("slower, under the threshold", scaled(0.96), {}, "regressed", 0),
    ("slower, but not shown", [60.0, 150, 99, 70, 140, 80], {}, "within noise", 0),
    ("failed now", BASE, {"failure": "died"}, "failed", 1),
]


class DiffTest(unittest.TestCase):
    def run_diff(self, old, new, *options):
        with tempfile.TemporaryDirectory() as folder:
            paths = [Path(folder) / name for name in ("old.json", "new.json")]
            for record, path in zip((old, new), paths):
                results.write_record(record, path)
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = main(["diff", *map(str, paths), *options])
            return status, out.getvalue(), err.getvalue()

    def test_rows(self):
        for name, rates, changes, word, expected in ROWS:
            with self.subTest(name):
                status, out, _ = self.run_diff(
                    make_record({"a": BASE}),
                    make_record({"a": rates}, changes={"a": changes}),
                    "--fail-above",
                    "5%",
                )
                self.assertIn(word, out)
                self.assertEqual(status, expected, out)

    def test_the_threshold_moves(self):
        old, new = make_record({"a": BASE}), make_record({"a": scaled(0.8)})
        self.assertEqual(self.run_diff(old, new, "--fail-above", "30%")[0], 0)
        self.assertEqual(self.run_diff(old, new, "--fail-above", "0.1")[0], 1)

    def test_a_generators_rate_is_no_regression(self):
        bound = {"server_cpus": 0.5, "generator_cpus": 0.99, "cpu_us_per_request": 5.0}
        status, out, _ = self.run_diff(
            make_record({"a": BASE}, changes={"a": bound}),
            make_record({"a": scaled(0.8)}, changes={"a": bound}),
        )
        self.assertEqual(status, 0)
        self.assertIn("generator-bound", out)

    def test_more_cpu_for_each_request_is_a_regression(self):
        changes = [
            diff.judge(Estimate(1.2, 1.15, 1.25, 10), 0.05, more_is_better=False),
            diff.judge(Estimate(0.8, 0.75, 0.85, 10), 0.05, more_is_better=False),
        ]
        self.assertEqual(changes, [("regressed", True), ("improved", False)])

    def test_rows_of_one_side_only(self):
        status, out, _ = self.run_diff(
            make_record({"a": BASE, "b": BASE}), make_record({"a": BASE, "c": BASE})
        )
        self.assertEqual(status, 0)
        self.assertRegex(out, r"b +64 +gone")
        self.assertRegex(out, r"c +64 +new")

    def test_another_machine_is_warned_of(self):
        new = make_record({"a": BASE})
        new["machine"]["cpu"] = "Another CPU"
        self.assertIn("Another CPU", self.run_diff(make_record({"a": BASE}), new)[2])

    def test_wrong_use(self):
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(main(["diff", "/no/such/file", "/no/such/file"]), 2)
            self.assertIn("/no/such/file", err.getvalue())
            for words in (["diff", "one"], ["diff", "a", "b", "--fail-above", "lots"]):
                with self.assertRaises(SystemExit) as caught:
                    main(words)
                self.assertEqual(caught.exception.code, 2)


if __name__ == "__main__":
    unittest.main()
