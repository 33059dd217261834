"""The whole kit from its command line, with servers of known faults; short runs on loopback."""

import contextlib
import io
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import matplotlib.image
from fixtures import COMPARE, FAKE, fake_command, find_fakes, needs_wrk, running
from kit.cli import fit_open_loop, fit_rounds, main


def compare(*words, cwd=None, timeout=120):
    """Runs bench/compare to its end; one that takes too long is asked to end, so that it can clean up."""
    with subprocess.Popen(
        [sys.executable, str(COMPARE), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=cwd,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.terminate()
            out, err = process.communicate(timeout=30)
            raise AssertionError(f"not done within {timeout} s\n{out}{err}") from None
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def own(name, mode):
    return ["--server", f"{name}={fake_command(mode)}"]


class CommandTest(unittest.TestCase):
    def test_list(self):
        done = compare("--list")
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("rest-echo", "floor"):
            self.assertRegex(done.stdout, rf"(?m)^{name} +\S+ +engine +echo, hello +(ready|needs )")

    @needs_wrk
    def test_dry_run_starts_nothing(self):
        done = compare("--dry-run", "--workers", "2", "--seed", "9", *own("mine", "honest"), "mine")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"mine: {shlex.quote(sys.executable)} {FAKE} --port PORT", done.stdout)
        self.assertIn("seed 9", done.stdout)
        self.assertEqual(find_fakes(), [])

    def test_rounds_fit_into_their_time(self):
        rows = [(1, 140, 10, (10, 5)), (3, 140, 10, (10, 4)), (10, 140, 10, (10, 1)), (18, 140, 10, (7, 1)),
                (40, 140, 10, (5, 1)), (3, 25, 5, (5, 1))]  # fmt: skip
        for cells, budget_s, rounds, expected in rows:
            with self.subTest(cells=cells):
                self.assertEqual(fit_rounds(cells, budget_s, rounds), expected)

    def test_the_open_loop_fits_into_its_time(self):
        for servers, expected in ((1, (5, 5)), (2, (3, 5)), (4, (2, 4)), (8, (2, 2)), (20, (2, 1))):
            with self.subTest(servers=servers):
                self.assertEqual(fit_open_loop(servers), expected)

    def test_wrong_use(self):
        rows = [
            (["nobody"], "no peer is called nobody"),
            (["--server", "x"], "--server wants"),
            (["--url", "x=ftp://a"], "--url wants"),
            (["--connections", "0"], "no list of numbers"),
            (["--cpus", "0"], "from 0.01"),
            (["--server-class", "x=engine"], "no --server"),
            ([*own("rest-echo", "honest")], "give yours another name"),
            (["--rest-echo", "/nowhere/rest-echo", "rest-echo"], "/nowhere/rest-echo is no program"),
            (["--server", "my server=./it {port}"], "`my server` is no name"),
            (["--server", "../it=./it {port}"], "`../it` is no name"),
            (["--server", "it=./it 'x {port}"], "No closing quotation"),
            (["--url", "it=http://127.0.0.1:99999/"], "--url it: Port"),
            (["--cpus", "nan"], "--cpus wants a number"),
            (["--rate", "-5"], "--rate wants requests a second"),
            (["--workload", "magic"], "invalid choice"),
        ]
        for words, text in rows:
            with self.subTest(words=words), contextlib.redirect_stderr(io.StringIO()) as err:
                try:
                    status = main(words)
                except SystemExit as end:  # how argparse leaves
                    status = end.code
                self.assertEqual(status, 2)
                self.assertIn(text, err.getvalue())


@needs_wrk
class RunTest(unittest.TestCase):
    """One run with everybody, looked at from several sides."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.out = Path(cls.folder.name) / "out"
        cls.done = compare(
            *own("good", "honest"),
            *own("liar", "cached"),
            *own("copier", "raw"),
            *own("squeezer", "lazy"),
            *own("fixed", "fixed"),
            *own("keeper", "memo"),
            *own("sleeper", "slow"),
            *own("dies", "crash2500"),
            *own("stillborn", "stillborn"),
            "--server-class",
            "good=http-library",
            "--quick",
            "--rounds",
            "2",
            "--connections",
            "4",
            "--seed",
            "7",
            "--output",
            str(cls.out),
            "--markdown",
            str(cls.out / "copy.md"),
            "good",
            cwd=cls.folder.name,
        )
        if not (cls.out / "results.json").exists():
            raise AssertionError(cls.done.stdout + cls.done.stderr)
        cls.record = json.loads((cls.out / "results.json").read_text())
        cls.rows = {row["name"]: row for row in cls.record["rows"]}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_a_failure_shows_in_the_exit_status(self):
        self.assertEqual(self.done.returncode, 1, self.done.stderr)

    def test_liars_fail_with_their_reason(self):
        for name, why in (
            ("liar", "differs"),
            ("copier", "received octets"),
            ("fixed", "differs"),
            ("squeezer", "malformed document"),
            ("keeper", "it keeps answers"),
            ("stillborn", "no licence found"),
        ):
            with self.subTest(name):
                if name == "keeper" and self.rows[name]["verdict"] == "noisy":
                    self.skipTest("the machine is too busy to tell a kept answer by its CPU time")
                self.assertEqual(self.rows[name]["verdict"], "failed")
                self.assertIn(why, self.rows[name]["reason"])
                self.assertEqual(self.rows[name]["ranks"], {})
                self.assertIn(f"{name}: FAILED", self.done.stderr)

    def test_one_that_dies_half_way_fails_and_the_others_go_on(self):
        self.assertEqual(self.rows["dies"]["verdict"], "failed")
        self.assertIn("status 3", self.rows["dies"]["reason"])
        self.assertIn("giving up", self.rows["dies"]["reason"])
        for name in ("good", "sleeper"):
            self.assertEqual(len(self.rows[name]["samples"]), 2, name)

    def test_a_sleeper_is_not_blamed_on_the_generator(self):
        row = self.rows["sleeper"]
        self.assertIn(row["verdict"], ("server-bound", "noisy"))
        self.assertLess(row["summary"]["rate"]["median"], 100)
        self.assertLess(row["summary"]["server_cpus"]["median"], 0.5)
        self.assertAlmostEqual(row["summary"]["little"], 1.0, delta=0.2)
        self.assertGreater(row["summary"]["latency_us"]["p50"]["median"], 49_000)

    def test_the_record_says_how_it_was_made(self):
        record = self.record
        self.assertEqual((record["schema_version"], record["settings"]["seed"]), (1, 7))
        for key in ("machine", "repository", "cpu_plan", "tools", "quota", "warnings", "command"):
            self.assertTrue(record[key] or key == "warnings", key)
        good = record["servers"]["good"]
        self.assertTrue(good["checked_before"] and good["checked_after"])
        self.assertEqual((good["malformed"], good["class"], good["group"]), ("400", "http-library", "yours"))
        self.assertEqual(len(good["startup_s"]), 1)
        sample = self.rows["good"]["samples"][0]
        self.assertAlmostEqual(sample["rate"], sample["requests"] / sample["duration_s"])
        self.assertTrue(sample["latency_is_raw"])

    def test_files(self):
        for name in (
            "results.csv",
            "results.md",
            "copy.md",
            "requests.svg",
            "requests.png",
            "cpu.png",
            "memory.png",
            "latency.svg",
            "logs/good.log",
        ):
            self.assertTrue((self.out / name).exists(), name)
        self.assertIn("| good (yours) |", (self.out / "results.md").read_text())
        self.assertIn("liar", self.done.stdout)

    def test_nobody_is_left(self):
        self.assertEqual(find_fakes(), [])

    def test_report_shows_it_again(self):
        done = compare("report", str(self.out / "results.json"), "--output", str(self.out / "again"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(
            (self.out / "again" / "results.md").read_text(), (self.out / "results.md").read_text()
        )


@needs_wrk
class HelloTest(unittest.TestCase):
    def test_url_of_a_running_server(self):
        with running("hello") as server, tempfile.TemporaryDirectory() as folder:
            done = compare(
                "--url",
                f"there={server.target.url}",
                "--workload",
                "hello",
                "--quick",
                "--rounds",
                "1",
                "--connections",
                "2",
                "--output",
                folder,
                "there",
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            record = json.loads((Path(folder) / "results.json").read_text())
            self.assertEqual(record["servers"]["there"]["body_octets"], 11)
            self.assertGreater(record["rows"][0]["summary"]["server_cpus"]["median"], 0, "found by its port")
            self.assertEqual(server.find_death(), "", "what we did not start, we do not end")


@needs_wrk
class RealServersTest(unittest.TestCase):
    """What a newcomer runs first, with the real servers."""

    NAMES = ("rest-echo", "node", "floor")

    def test_quick(self):
        listing = compare("--list").stdout
        lacking = [name for name in self.NAMES if not re.search(rf"(?m)^{name} .* ready$", listing)]
        if lacking:
            self.skipTest(f"not ready here: {', '.join(lacking)}")
        with tempfile.TemporaryDirectory() as folder:
            done = compare("--quick", "--rounds", "3", *self.NAMES, "--output", folder)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            record = json.loads((Path(folder) / "results.json").read_text())
            for name in ("requests", "cpu", "memory", "latency"):
                with self.subTest(name):
                    self.check_chart(Path(folder) / f"{name}.png")
        rows = {row["name"]: row for row in record["rows"]}
        self.assertEqual(rows.keys(), set(self.NAMES))
        for name, row in rows.items():
            self.assertNotEqual(row["verdict"], "failed", row["reason"])
            self.assertEqual([sample["round"] for sample in row["samples"]], [1, 2, 3], name)
        for name in ("rest-echo", "node"):
            server = record["servers"][name]
            self.assertTrue(server["verified"] and server["checked_before"] and server["checked_after"], name)
            self.assertEqual(server["malformed"], "400", name)
        self.assertFalse(record["servers"]["floor"]["verified"])
        cpu_us = {name: row["summary"]["cpu_us_per_request"]["median"] for name, row in rows.items()}
        self.assertLess(2 * cpu_us["rest-echo"], cpu_us["node"], "it takes a tenth on a quiet machine")

    def check_chart(self, path):
        pixels = matplotlib.image.imread(path)
        height, width = pixels.shape[:2]
        self.assertGreater(width, 600)
        self.assertGreater(height, 200)
        self.assertGreater(pixels[:, :, :3].std(), 0.01, "an empty picture")
        for edge in (pixels[0], pixels[-1], pixels[:, 0], pixels[:, -1]):
            self.assertTrue((edge[:, :3] == 1).all(), "something is cut off at the edge")


@needs_wrk
class RestlessTest(unittest.TestCase):
    def test_a_server_that_never_rests_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            done = compare(
                *own("spins", "restless"),
                *own("good", "honest"),
                "--quick",
                "--rounds",
                "1",
                "--connections",
                "2",
                "--output",
                folder,
                "good",
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertRegex(done.stdout, r"- spins: still used [01]\.\d CPUs 3 s after its turn")
            self.assertNotIn("good: still used", done.stdout)
            self.assertEqual(find_fakes(), [])


@needs_wrk
class InterruptTest(unittest.TestCase):
    def interrupt(self, number, line, wait_s):
        """Starts a run, waits for `line` on its standard error, sends the signal; the folder's record."""
        with tempfile.TemporaryDirectory() as folder:
            process = subprocess.Popen(
                [
                    sys.executable,
                    str(COMPARE),
                    *own("a", "forking"),
                    *own("b", "honest"),
                    "--quick",
                    "--rounds",
                    "50",
                    "--output",
                    folder,
                    "a",
                ],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
            )
            try:
                for text in process.stderr:
                    if line in text:
                        break
                time.sleep(wait_s)
                os.kill(process.pid, number)
                process.communicate(timeout=30)
            finally:
                if process.poll() is None:
                    process.kill()
                    process.wait()
            path = Path(folder) / "results.json"
            record = json.loads(path.read_text()) if path.exists() else None
        self.assertEqual(find_fakes(), [], "no child is left")
        self.assertEqual(process.returncode, 130)
        return record

    def test_ctrl_c_keeps_what_was_measured(self):
        record = self.interrupt(signal.SIGINT, "connections: ", 0.5)
        self.assertTrue(record["interrupted"])
        measured = {row["name"]: len(row["samples"]) for row in record["rows"]}
        self.assertGreaterEqual(sum(measured.values()), 1)
        forker = next(row for row in record["rows"] if row["name"] == "a")
        if forker["samples"]:
            self.assertGreater(
                forker["summary"]["cpu_us_per_request"]["median"], 20, "its workers are counted"
            )

    def test_sigterm_during_start(self):
        record = self.interrupt(signal.SIGTERM, "a: starting", 0.1)
        self.assertTrue(record["interrupted"])


if __name__ == "__main__":
    unittest.main()
