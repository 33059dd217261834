"""peer.toml: every one of ours reads, and mistakes are told."""

import os
import sys
import tempfile
import unittest
from pathlib import Path

import fixtures  # noqa: F401
from kit import peers
from kit.peers import PeerError

GOOD = """
title = "Some server"
class = "engine"
group = "tuned"
run = "{dir}/server --port {port} -w {workers} {unknown}"
version = ["echo one", "echo two"]
max_workers = 2
[env]
PORT = "{port}"
[find]
program = ["$KIT_TEST_PROGRAM", "{dir}/here", "{dir}/there"]
"""


class PeerFolder(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="with space ")
        self.folder = Path(self._folder.name) / "some"
        self.folder.mkdir()

    def tearDown(self):
        self._folder.cleanup()

    def read(self, text):
        (self.folder / "peer.toml").write_text(text)
        return peers.read_peer(self.folder)


class ReadTest(PeerFolder):
    def test_ours(self):
        found, complaints = peers.read_peers()
        self.assertEqual(complaints, [])
        self.assertLessEqual({"rest-echo", "floor"}, set(found))
        for peer in found.values():
            with self.subTest(peer.name):
                self.assertTrue(peer.licence)
                self.assertTrue(
                    all(requirement.hint for requirement in peer.requires), "each says how to get it"
                )

    def test_good(self):
        peer = self.read(GOOD)
        self.assertEqual((peer.name, peer.peer_class, peer.group), ("some", "engine", "tuned"))
        self.assertEqual([peer.workers_for(count) for count in (1, 2, 8)], [1, 2, 2])
        self.assertEqual(peers.read_version(peer), "one, two")

    def test_mistakes_are_named(self):
        rows = [
            ("title = ", "peer.toml"),
            (GOOD.replace("title", "titel"), "did you mean `title`"),
            (GOOD.replace('run = "', 'run_hello = "'), "`run` is missing"),
            (GOOD.replace('"engine"', '"motor"'), "not one of engine"),
            (GOOD.replace('"tuned"', '"fast"'), "not one of out-of-the-box"),
            (GOOD + '[[requires]]\nhint = "x"\n', "one command, file or python"),
            (GOOD + '[[requires]]\nprogram = "x"\n', "knows command"),
            ('name = "other"\n' + GOOD, "folder's name"),
        ]
        for text, expected in rows:
            with self.subTest(expected), self.assertRaises(PeerError) as caught:
                self.read(text)
            self.assertIn(expected, str(caught.exception))


class CommandTest(PeerFolder):
    def test_placeholders_keep_paths_with_spaces_whole(self):
        peer = self.read(GOOD)
        values = peers.placeholders(peer, port=99, workers=2)
        self.assertEqual(
            peers.command_words(peer.run, values),
            [f"{self.folder.resolve()}/server", "--port", "99", "-w", "2", "{unknown}"],
        )
        self.assertEqual(peers.environment(peer.env, values)["PORT"], "99")

    def test_find_takes_the_first_that_is_there(self):
        peer = self.read(GOOD)
        self.assertTrue(peers.placeholders(peer)["program"].endswith("/here"), "else the first")
        (self.folder / "there").touch()
        self.assertTrue(peers.placeholders(peer)["program"].endswith("/there"))
        os.environ["KIT_TEST_PROGRAM"] = sys.executable
        try:
            self.assertEqual(peers.placeholders(peer)["program"], sys.executable)
        finally:
            del os.environ["KIT_TEST_PROGRAM"]

    def test_what_is_lacking_is_named_with_its_hint(self):
        peer = self.read(
            GOOD
            + """
[[requires]]
command = "sh"
hint = "a shell"
[[requires]]
command = "no-such-program"
hint = "apt-get install nothing"
[[requires]]
python = "no_such_module"
hint = "bench/install-peers some"
[[requires]]
file = "{program}"
hint = "build it"
"""
        )
        text = peers.describe_lacking(peer, peers.find_lacking(peer))
        for part in (
            "no-such-program (apt-get install nothing)",
            "no_such_module (bench/install-peers some)",
            "here (build it)",
        ):
            self.assertIn(part, text)
        self.assertNotIn("a shell", text)

    def test_build_when_missing_or_older(self):
        peer = self.read(
            GOOD.replace(
                "[env]",
                'build = "cp {dir}/source {dir}/built"\nbuilt = "{dir}/built"\n'
                'sources = ["{dir}/source"]\n[env]',
            )
        )
        source, built = self.folder / "source", self.folder / "built"
        source.write_text("x")
        self.assertTrue(peers.needs_build(peer))
        peers.build(peer, self.folder / "log")
        self.assertTrue(built.exists())
        self.assertFalse(peers.needs_build(peer))
        os.utime(built, (1, 1))
        self.assertTrue(peers.needs_build(peer))
        source.unlink()
        with self.assertRaises(PeerError) as caught:
            peers.build(peer, self.folder / "log")
        self.assertIn("failed with status", str(caught.exception))

    def test_from_the_command_line(self):
        peer = peers.peer_from_command("mine=./mine --port {port}", {"mine": "engine"})
        self.assertEqual(
            (peer.name, peer.run, peer.group, peer.peer_class),
            ("mine", "./mine --port {port}", "yours", "engine"),
        )
        self.assertEqual(peers.peer_from_url("x=http://127.0.0.1:8/", {}).url, "http://127.0.0.1:8/")
        for make, text in (
            (peers.peer_from_command, "./mine"),
            (peers.peer_from_command, "=x"),
            (peers.peer_from_url, "x=https://a"),
            (peers.peer_from_url, "http://a"),
        ):
            with self.subTest(text), self.assertRaises(PeerError):
                make(text, {})


if __name__ == "__main__":
    unittest.main()
