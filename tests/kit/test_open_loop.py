"""Reading oha and vegeta: latency counts from the moment a request was due."""

import unittest

import fixtures  # noqa: F401
from kit import open_loop
from kit.wrk import LoadError

OHA = {
    "summary": {"total": 2.0},
    "latencyPercentiles": {"p50": 0.001, "p90": 0.002, "p99": 0.01, "p99.9": None},
    "statusCodeDistribution": {"200": 1990, "500": 2},
    "errorDistribution": {"aborted due to deadline": 5, "connection refused": 1},
}


def vegeta_line(due_ms, late_ms, took_ms, number, status=200):
    sent = 1_700_000_000_000_000_000 + int((due_ms + late_ms) * 1e6)
    return f"{sent},{status},{int(took_ms * 1e6)},0,100,,,,{number},GET,http://x,"


class OhaTest(unittest.TestCase):
    def test_figures(self):
        result = open_loop.read_oha(OHA, 1000, 0.5, "oha")
        self.assertEqual(result.latency_us, {"p50": 1000.0, "p90": 2000.0, "p99": 10000.0, "p99.9": 0.0})
        self.assertEqual((result.requests, result.errors, result.reached_rate), (1992, 3, 996.0))
        self.assertTrue(result.held)
        self.assertEqual(result.generator_cpus, 0.25)

    def test_a_rate_that_was_not_held_is_told(self):
        self.assertFalse(open_loop.read_oha(OHA, 2000, 0.5, "oha").held)


class VegetaTest(unittest.TestCase):
    def test_waiting_before_it_was_sent_counts(self):
        # 100 requests a second; a stall of 500 ms at number 50 makes all later ones late.
        lines = [vegeta_line(number * 10, 500 if number >= 50 else 0, 1, number) for number in range(100)]
        result = open_loop.read_vegeta(lines, 100, 0.1, 1, "vegeta")
        self.assertAlmostEqual(result.latency_us["p99"], 501_000, delta=1)
        self.assertAlmostEqual(result.latency_us["p50"], 251_000, delta=251_000)
        self.assertFalse(result.held, "it took half as long again")

    def test_in_time(self):
        lines = [vegeta_line(number * 10, 0, 2, number, 500 if number == 3 else 200) for number in range(100)]
        result = open_loop.read_vegeta(reversed(lines), 100, 0.1, 1, "vegeta")
        self.assertTrue(result.held)
        self.assertEqual(result.errors, 1)
        self.assertAlmostEqual(result.latency_us["p99.9"], 2000, delta=1)

    def test_nothing_recorded(self):
        with self.assertRaises(LoadError):
            open_loop.read_vegeta([], 100, 0.1, 1, "vegeta")


if __name__ == "__main__":
    unittest.main()
