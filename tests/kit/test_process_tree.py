"""CPU and memory of whole process trees, and that nothing is left of them."""

import os
import subprocess
import sys
import time
import unittest

from fixtures import find_fakes, lives, running
from kit.process_tree import ProcessTree, parse_stat

BURN = "import os, sys, time\nend = time.process_time() + {seconds}\nwhile time.process_time() < end: pass\n"


class StatTest(unittest.TestCase):
    def test_command_with_spaces_and_parentheses(self):
        line = parse_stat("42 (a (b) c) S 7 42 41 0 -1 4194560 1 2 3 4 100 50 30 20 20 0 1 0 99999 1 1\n")
        self.assertEqual(
            (line.pid, line.parent, line.session, line.state, line.start_tick), (42, 7, 41, "S", 99999)
        )
        self.assertAlmostEqual(line.cpu_s, 200 / os.sysconf("SC_CLK_TCK"))


class ForkingTest(unittest.TestCase):
    def test_a_server_that_forks_is_counted_whole_and_ended_whole(self):
        with running("forking") as server:
            members = server.tree.members()
            self.assertEqual(len(members), 3, "the parent and two workers")
            self.assertGreater(server.tree.cpu_s(), 0.05, "with what the reaped child used")
            self.assertGreater(server.tree.pss_bytes(), 1_000_000)
            pids = [member.pid for member in members]
        self.assertFalse([pid for pid in pids if lives(pid)])
        self.assertEqual(find_fakes(), [])

    def test_no_time_is_lost_when_a_child_ends_between_two_readings(self):
        code = BURN.format(seconds=0.0) + (
            "child = os.fork()\n"
            "if child == 0:\n"
            "    end = time.process_time() + 0.3\n"
            "    while time.process_time() < end: pass\n"
            "    time.sleep(0.3)\n"
            "    os._exit(0)\n"
            "os.waitpid(child, 0)\n"
            "time.sleep(30)\n"
        )
        process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        tree = ProcessTree([process.pid], session=process.pid)
        try:
            readings = []
            deadline = time.monotonic() + 10
            while time.monotonic() < deadline and not (
                readings and readings[-1] >= 0.25 and len(tree.members()) == 1
            ):
                readings.append(tree.cpu_s())
                time.sleep(0.02)
            readings.append(tree.cpu_s())
        finally:
            tree.end(grace_s=1)
            process.wait()
        self.assertEqual(readings, sorted(readings), "the sum never falls")
        self.assertGreaterEqual(readings[-1], 0.25, "0.3 s, each part rounded down to ticks")

    def test_an_orphan_of_the_session_still_belongs(self):
        code = "import os, time\nif os.fork() == 0: time.sleep(30)\n"
        process = subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        tree = ProcessTree([process.pid], session=process.pid)
        process.wait()
        self.assertEqual(len(tree.members()), 1)
        tree.end(grace_s=0.5)
        self.assertEqual([line for line in tree.members() if line.state not in "ZX"], [])

    def test_a_server_that_does_not_listen_to_sigterm_is_killed(self):
        with running("deaf") as server:
            pid = server.tree.members()[0].pid
            began = time.monotonic()
        self.assertLess(time.monotonic() - began, 6)
        self.assertFalse(lives(pid))

    def test_a_stranger_with_a_reused_number_is_not_ours(self):
        process = subprocess.Popen([sys.executable, "-c", "pass"], start_new_session=True)
        tree = ProcessTree([process.pid], session=process.pid)
        process.wait()
        line = parse_stat(
            f"{process.pid} (stranger) S 1 {process.pid} {process.pid} "
            "0 -1 0 1 2 3 4 1 1 1 1 20 0 1 0 12345678901 1 1\n"
        )
        self.assertEqual(tree.members({line.pid: line}), [])


if __name__ == "__main__":
    unittest.main()
