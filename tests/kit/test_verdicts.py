"""Who was the bottleneck: one named row for each case."""

import unittest

from fixtures import make_record
from kit.verdicts import FAILED, GENERATOR_BOUND, NOISY, SERVER_BOUND, Load, judge, too_many_errors

ROWS = [
    ("server at its limit", {}, SERVER_BOUND),
    ("both at their limit", {"generator_cpus": 0.97}, SERVER_BOUND),
    (
        "both at their limit, and connections wait for the generator",
        {"generator_cpus": 0.97, "little": 0.7},
        GENERATOR_BOUND,
    ),
    ("generator at its limit, server not", {"server_cpus": 0.6, "generator_cpus": 0.97}, GENERATOR_BOUND),
    (
        "the same, though the machine was busy",
        {"server_cpus": 0.6, "generator_cpus": 0.97, "others": 0.4},
        GENERATOR_BOUND,
    ),
    (
        "generator of two threads at its limit",
        {"server_cpus": 0.6, "generator_cpus": 1.95, "generator_capacity": 2.0},
        GENERATOR_BOUND,
    ),
    ("a server that sleeps", {"server_cpus": 0.05, "generator_cpus": 0.1}, SERVER_BOUND),
    ("a server that uses one of two CPUs", {"server_cpus": 1.0, "server_capacity": 2.0}, SERVER_BOUND),
    ("strangers took CPU time", {"others": 0.2}, NOISY),
    ("rounds disagree", {"spread": 0.12}, NOISY),
    ("connections not in use", {"little": 0.5}, NOISY),
    ("server elsewhere, generator idle", {"server_cpus": None}, SERVER_BOUND),
    (
        "server elsewhere, generator at its limit",
        {"server_cpus": None, "generator_cpus": 0.95},
        GENERATOR_BOUND,
    ),
    (
        "shared CPUs, server used more",
        {
            "server_cpus": 1.3,
            "server_capacity": 2.0,
            "generator_cpus": 0.65,
            "generator_capacity": 2.0,
            "shared_cpus": 2.0,
        },
        SERVER_BOUND,
    ),
    (
        "shared CPUs, generator used more",
        {
            "server_cpus": 0.6,
            "server_capacity": 2.0,
            "generator_cpus": 1.3,
            "generator_capacity": 2.0,
            "shared_cpus": 2.0,
        },
        GENERATOR_BOUND,
    ),
    (
        "the same, and connections wait for it",
        {
            "server_cpus": 0.82,
            "server_capacity": 2.0,
            "generator_cpus": 1.08,
            "generator_capacity": 2.0,
            "shared_cpus": 2.0,
            "little": 0.73,
        },
        GENERATOR_BOUND,
    ),
    (
        "shared CPUs, server at its quota",
        {
            "server_cpus": 0.99,
            "server_capacity": 1.0,
            "generator_cpus": 1.0,
            "generator_capacity": 2.0,
            "shared_cpus": 2.0,
        },
        SERVER_BOUND,
    ),
]


class JudgeTest(unittest.TestCase):
    def test_rows(self):
        for name, changes, expected in ROWS:
            load = {
                "server_cpus": 0.98,
                "server_capacity": 1.0,
                "generator_cpus": 0.4,
                "generator_capacity": 1.0,
            }
            with self.subTest(name):
                verdict, reason = judge(Load(**(load | changes)))
                self.assertEqual(verdict, expected, reason)
                self.assertTrue(reason)

    def test_errors(self):
        for errors, requests, expected in (
            (0, 0, False),
            (1, 10_000, False),
            (11, 10_000, True),
            (5, 0, True),
        ):
            self.assertEqual(too_many_errors(errors, requests), expected)


class RankedTest(unittest.TestCase):
    """Only a server-bound row gets a rank."""

    def test_generator_bound_row_is_marked_and_not_ranked(self):
        record = make_record(
            {"fast": [900, 901, 899, 900, 902], "slow": [100, 101, 99, 100, 102]},
            changes={"fast": {"server_cpus": 0.5, "generator_cpus": 0.99}},
        )
        fast, slow = record["rows"]
        self.assertEqual((fast["verdict"], fast["ranks"]), (GENERATOR_BOUND, {}))
        self.assertEqual((slow["verdict"], slow["ranks"]), (SERVER_BOUND, {"out-of-the-box": "1"}))

    def test_yardstick_and_failed_are_not_ranked(self):
        record = make_record(
            {"mine": [100] * 5, "floor": [200] * 5, "liar": [300] * 5},
            groups={"mine": "ours", "floor": "yardstick"},
            changes={"liar": {"failure": "lied"}},
        )
        mine, floor, liar = record["rows"]
        self.assertEqual(mine["ranks"], {"out-of-the-box": "1"})
        self.assertEqual(floor["ranks"], {})
        self.assertEqual((liar["verdict"], liar["ranks"]), (FAILED, {}))
        self.assertEqual(mine["of_floor"]["median"], 0.5)

    def test_ties_are_marked(self):
        record = make_record({"a": [100, 104, 98, 103, 99, 101], "b": [102, 99, 101, 100, 103, 98]})
        self.assertEqual([row["ranks"]["out-of-the-box"] for row in record["rows"]], ["1=", "1="])

    def test_the_two_classes_are_ranked_apart(self):
        record = make_record(
            {"ours": [300] * 5, "plain": [100] * 5, "tuned": [200] * 5},
            groups={"ours": "ours", "tuned": "tuned"},
        )
        ours, plain, tuned = record["rows"]
        self.assertEqual(ours["ranks"], {"out-of-the-box": "1", "tuned": "1"})
        self.assertEqual(plain["ranks"], {"out-of-the-box": "2"})
        self.assertEqual(tuned["ranks"], {"tuned": "2"})


if __name__ == "__main__":
    unittest.main()
