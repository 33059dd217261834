"""Who gets which CPU, what is warned of, quotas."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import fixtures  # noqa: F401
from kit import machine, quota
from kit.machine import CpuPlan

NO_SMT = {cpu: cpu for cpu in range(8)}
SMT = {cpu: cpu % 4 for cpu in range(8)}  # CPU 0 and 4 are threads of one core

PLANS = [
    ("one CPU", [0], NO_SMT, {"workers": 1}, CpuPlan((), (), (0,))),
    ("two CPUs", [0, 1], NO_SMT, {"workers": 1}, CpuPlan((0,), (1,), (0, 1))),
    ("two CPUs, two workers", [0, 1], NO_SMT, {"workers": 2}, CpuPlan((), (), (0, 1))),
    ("four CPUs, two workers", [0, 1, 2, 3], NO_SMT, {"workers": 2}, CpuPlan((0, 1), (2, 3), (0, 1, 2, 3))),
    ("threads of other cores", range(8), SMT, {"workers": 2}, CpuPlan((0, 1), (2, 3, 6, 7), tuple(range(8)))),
    (
        "more workers than cores",
        range(8),
        SMT,
        {"workers": 6},
        CpuPlan((0, 1, 2, 3, 4, 5), (6, 7), tuple(range(8))),
    ),
    ("quota on two CPUs", [0, 1], NO_SMT, {"workers": 1, "quota": True}, CpuPlan((), (), (0, 1))),
    (
        "quota on four CPUs",
        [0, 1, 2, 3],
        NO_SMT,
        {"workers": 1, "quota": True},
        CpuPlan((0, 1), (2, 3), (0, 1, 2, 3)),
    ),
    (
        "affinity for a quota",
        [0, 1],
        NO_SMT,
        {"workers": 4, "quota": True, "affinity_only": 1},
        CpuPlan((0,), (1,), (0, 1)),
    ),
]


class PlanTest(unittest.TestCase):
    def test_plans(self):
        for name, cpus, cores, options, expected in PLANS:
            with self.subTest(name):
                plan = machine.plan_cpus(**options, available=list(cpus), cores=cores)
                self.assertEqual(plan, expected)
                self.assertTrue(plan.describe())

    def test_words(self):
        self.assertEqual(
            CpuPlan((0, 1, 2, 5), (3,), (0, 1, 2, 3, 5)).describe(),
            "server on CPU 0-2,5, load generator on CPU 3",
        )
        self.assertIn("share CPU 0-1", CpuPlan((), (), (0, 1)).describe())


class WarningTest(unittest.TestCase):
    def test_each_has_its_reason(self):
        calm = {
            "cpus_allowed": list(range(8)),
            "virtual": "none",
            "governor": "performance",
            "boost": "off",
            "own_quota_cpus": None,
            "memory_available_bytes": 8e9,
        }
        plan = CpuPlan((0,), (1,), tuple(range(8)))
        self.assertEqual(machine.find_warnings(calm, plan, 0.01, 3), [])
        rows = [
            ({}, plan, 0.5, 3, "busy"),
            ({"cpus_allowed": [0]}, CpuPlan((), (), (0,)), 0, 3, "from each other"),
            ({"cpus_allowed": [0, 1]}, plan, 0, 3, "only 2 CPUs"),
            ({"virtual": "kvm"}, plan, 0, 3, "virtual"),
            ({"governor": "powersave"}, plan, 0, 3, "governor"),
            ({"boost": "on"}, plan, 0, 3, "turbo"),
            ({"own_quota_cpus": 2.0}, plan, 0, 3, "quota"),
            ({}, plan, 0, 90, "memory"),
        ]
        for changes, cpus, busy, servers, word in rows:
            with self.subTest(word):
                found = machine.find_warnings(calm | changes, cpus, busy, servers)
                self.assertEqual(len(found), 1)
                self.assertIn(word, found[0])

    def test_the_record_of_this_machine(self):
        record = machine.describe()
        self.assertTrue(record["cpu"])
        self.assertGreater(record["memory_bytes"], 0)
        self.assertNotIn(os.uname().nodename, str(record), "a host's name is nobody's business")


class QuotaTest(unittest.TestCase):
    def test_a_container_gets_the_same_binary_and_its_variables(self):
        env = dict(os.environ) | {"PORT": "8080"}
        words = quota.container_command(
            "docker", 1.0, "box", [sys.executable, "server.py"], env, Path("/usr/share")
        )
        self.assertEqual(words[:2], ["docker", "run"])
        for expected in (
            "--cpus=1",
            "--network=host",
            "PORT=8080",
            "/usr:/usr:ro",
            "/etc:/etc:ro",
            "--workdir=/usr/share",
        ):
            self.assertIn(expected, words)
        self.assertEqual(words[-2:], [sys.executable, "server.py"])
        self.assertNotIn(f"HOME={os.environ.get('HOME')}", words, "only what is new is passed on")

    def test_affinity_is_the_last_resort(self):
        limit = quota.choose(1.0, methods=("affinity",))
        self.assertEqual(limit.method, "affinity")
        self.assertEqual(limit.wrap("x", ["a"], {}, Path()), ["a"])
        self.assertIn("no quota could be set", limit.describe())

    def test_an_engine_that_does_not_answer_is_passed_over(self):
        with tempfile.TemporaryDirectory() as folder:
            engine = Path(folder) / "docker"
            engine.write_text("#!/bin/sh\necho 'is the daemon running?' >&2\nexit 1\n")
            engine.chmod(0o755)
            before = os.environ["PATH"]
            os.environ["PATH"] = folder
            try:
                self.assertEqual(quota.choose(1.0, methods=("docker", "affinity")).method, "affinity")
            finally:
                os.environ["PATH"] = before

    def test_a_cgroup_limits_what_runs_in_it(self):
        limit = quota.choose(0.25, methods=("cgroup2", "cgroup1", "affinity"))
        if limit.method == "affinity":
            self.skipTest("no cgroup may be made here")
        try:
            burn = (
                "import time\nend = time.monotonic() + 1.0\nwhile time.monotonic() < end: pass\n"
                "print(time.process_time())"
            )
            words = limit.wrap("burner", [sys.executable, "-c", burn], {}, Path())
            done = subprocess.run(words, capture_output=True, text=True, check=True)
            self.assertLess(float(done.stdout), 0.45)
            self.assertGreater(limit.read_throttled_s("burner"), 0.1)
            self.assertTrue(limit.parent.exists())
        finally:
            limit.remove()
        self.assertFalse(limit.parent.exists(), "nothing is left")


if __name__ == "__main__":
    unittest.main()
