"""Reading wrk: its report, its added samples, its threads, and the real program once."""

import json
import random
import unittest

from fixtures import needs_wrk, running
from kit import wrk


def correct_as_wrk_does(histogram, expected):
    """wrk's stats_correct, written out: what undo_correction has to take back."""
    counts = dict(histogram)
    for value in range(2 * expected, max(counts) + 1):
        count, lower = counts.get(value, 0), value - expected
        while count and lower > expected:
            counts[lower] = counts.get(lower, 0) + count
            lower -= expected
    return sorted(counts.items())


def make_report(histogram, requests, **changes):
    report = {
        "duration_us": 1_000_000,
        "requests": requests,
        "bytes": requests * 100,
        "errors": {"connect": 0, "read": 0, "write": 0, "status": 0, "timeout": 0},
        "body": None,
        "latency_us": histogram,
    }
    return report | changes


class CorrectionTest(unittest.TestCase):
    def test_undo_gives_back_what_was_measured(self):
        rng = random.Random(3)
        for trial in range(40):
            connections = rng.choice((1, 10, 64))
            histogram = {}
            for _ in range(rng.randint(100, 600)):
                value = rng.randint(50, 900) if rng.random() < 0.97 else rng.randint(2000, 90_000)
                histogram[value] = histogram.get(value, 0) + rng.randint(1, 3)
            requests = sum(histogram.values())
            if requests < connections:
                continue
            expected = 1_000_000 // (requests // connections)
            corrected = correct_as_wrk_does(histogram.items(), expected)
            with self.subTest(trial=trial):
                self.assertEqual(
                    wrk.undo_correction(corrected, 1_000_000, requests, connections),
                    sorted(histogram.items()),
                )

    def test_nothing_to_undo(self):
        histogram = [(100, 5), (120, 5)]
        self.assertEqual(wrk.undo_correction(histogram, 1_000_000, 10, 10), histogram)
        self.assertEqual(wrk.undo_correction(histogram, 1_000_000, 3, 10), histogram)

    def test_what_wrk_cannot_have_made_is_kept_and_marked(self):
        histogram = [[100, 1000], [50_000, 3]]  # the three would have left traces below them
        result = wrk.parse_report(make_report(histogram, 1003), connections=1)
        self.assertFalse(result.latency_is_raw)
        self.assertEqual(result.latency, ((100, 1000), (50_000, 3)))


class ReportTest(unittest.TestCase):
    def test_figures(self):
        report = make_report(
            [[200, 600], [400, 400]],
            1000,
            duration_us=2_000_000,
            body="{}",
            errors={"connect": 0, "read": 1, "write": 0, "status": 2, "timeout": 0},
        )
        result = wrk.parse_report(report, connections=10, generator_cpu_s=0.5)
        self.assertEqual(result.rate, 500.0)
        self.assertEqual(result.error_count, 3)
        self.assertAlmostEqual(result.mean_latency_s, 280e-6)
        self.assertEqual(result.received_octets, 100_000)
        self.assertEqual((result.generator_cpu_s, result.request_body), (0.5, "{}"))
        self.assertTrue(result.latency_is_raw)

    def test_no_answer_at_all(self):
        result = wrk.parse_report(make_report([], 0), connections=10)
        self.assertEqual((result.rate, result.mean_latency_s), (0.0, 0.0))

    def test_threads_divide_the_connections(self):
        for connections, cpus, threads in (
            (64, 1, 1),
            (64, 4, 4),
            (10, 4, 2),
            (7, 4, 1),
            (1, 8, 1),
            (9, 3, 3),
        ):
            with self.subTest(connections=connections, cpus=cpus):
                self.assertEqual(wrk.choose_threads(connections, cpus), threads)


@needs_wrk
class RealTest(unittest.TestCase):
    def test_one_run(self):
        script = wrk.Path(__file__).resolve().parents[2] / "post.lua"
        with (
            running("honest") as server,
            wrk.WrkRun(
                server.target.url, threads=1, connections=4, duration_s=1, cpus=(), script=script
            ) as load,
        ):
            result = load.collect()
        self.assertGreater(result.requests, 50)
        self.assertEqual(result.error_count, 0)
        self.assertTrue(result.latency_is_raw)
        self.assertEqual(sum(count for _, count in result.latency), result.requests)
        self.assertAlmostEqual(result.rate * result.mean_latency_s, 4, delta=1.0)  # Little's law
        self.assertGreater(result.generator_cpu_s, 0)
        self.assertEqual(len(json.loads(result.request_body)["colors"]), 24)

    def test_nobody_listens(self):
        with (
            self.assertRaises(wrk.LoadError),
            wrk.WrkRun(
                "http://127.0.0.1:1/", threads=1, connections=1, duration_s=1, cpus=(), script=None
            ) as load,
        ):
            load.collect()


if __name__ == "__main__":
    unittest.main()
