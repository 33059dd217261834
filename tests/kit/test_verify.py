"""Verification: honest servers pass in pieces, liars of each kind are caught and told why."""

import json
import random
import unittest

from fixtures import ROOT, running
from kit import verify
from kit.http_client import Answer, AnswerError, Connection, Target, parse_target, request_octets

REFERENCE = (ROOT / "body.json").read_bytes()

LIARS = [
    ("raw", "white space and all"),
    ("fixed", "differs from the document sent"),
    ("cached", "differs from the document sent"),
    ("nulls", "was added"),
    ("mistyped", "Content-Type"),
    ("short", "answer"),
]


def check(server, **changes):
    expectation = verify.Expectation(server.workload, **changes)
    return verify.verify(server.target, expectation, REFERENCE, random.Random(2))


class ServerTest(unittest.TestCase):
    def test_honest(self):
        with running("honest") as server:
            findings = check(server)
            self.assertEqual(findings.loose_octets, 0)
            self.assertTrue(findings.keeps_alive)
            compact = json.dumps(json.loads(REFERENCE), separators=(",", ":"))
            self.assertEqual(findings.body_octets, len(compact))
            self.assertGreater(findings.answer_octets, findings.body_octets)
            self.assertEqual(verify.try_malformed(server.target), "400")

    def test_hello(self):
        with running("hello") as server:
            self.assertEqual(check(server).body_octets, 11)

    def test_liars(self):
        for mode, why in LIARS:
            with self.subTest(mode), running(mode, checked=False) as server:
                with self.assertRaises(verify.WrongAnswer) as caught:
                    check(server)
                self.assertIn(why, str(caught.exception))

    def test_declared_nulls_are_allowed(self):
        with running("nulls", checked=False) as server:
            check(server, extra_nulls=True)

    def test_a_yardstick_only_has_to_answer(self):
        with running("fixed", checked=False) as server:
            check(server, fixed_answer=True)

    def test_squeezing_without_parsing_shows_in_a_malformed_document(self):
        with running("lazy", checked=False) as server:
            self.assertEqual(verify.try_malformed(server.target), "200")

    def test_a_silent_server_is_a_wrong_answer_and_no_hang(self):
        with running("slow") as server:
            with self.assertRaises(verify.WrongAnswer) as caught:
                verify.verify(server.target, server.expectation, REFERENCE, random.Random(1), timeout_s=0.02)
            self.assertIn("nothing came", str(caught.exception))


class DocumentTest(unittest.TestCase):
    def test_documents_have_the_reference_shape_and_differ(self):
        rng = random.Random(1)
        documents = [verify.random_document(rng) for _ in range(30)]
        self.assertEqual(len({json.dumps(document) for document in documents}), 30)
        for document in documents:
            for color in document["colors"]:
                self.assertLessEqual({"color", "category", "code"}, set(color))
                self.assertTrue(all(isinstance(number, int) for number in color["code"]["rgba"]))
                self.assertTrue(
                    all(
                        color["color"] and color["category"] and color["code"]["rgba"]
                        for color in document["colors"]
                    ),
                    "empty ones are dropped by typed peers",
                )

    def test_the_text_is_never_compact_and_means_the_document(self):
        rng = random.Random(4)
        for _ in range(20):
            document = verify.random_document(rng)
            text = verify.loose_text(document, rng)
            self.assertEqual(json.loads(text), document)
            self.assertGreater(verify.count_loose_octets(text), 10)

    def test_loose_octets(self):
        for text, count in (
            (b'{"a":1}', 0),
            (b'{"a": 1}\n', 2),
            (b'"a b\\" c"', 0),
            (b'["\\\\" , 1]', 2),
            (b"", 0),
        ):
            with self.subTest(text=text):
                self.assertEqual(verify.count_loose_octets(text), count)

    def test_split(self):
        rng = random.Random(1)
        for pieces in (1, 2, 5):
            parts = verify.split_randomly(b"0123456789", rng, pieces)
            self.assertEqual((len(parts), b"".join(parts)), (pieces, b"0123456789"))
            self.assertTrue(all(parts))

    def test_first_difference(self):
        rows = [
            ({"a": 1}, {"a": 2}, "/a is 2, not 1"),
            ({"a": [1, 2]}, {"a": [1, 3]}, "/a/1 is 3, not 2"),
            ({"a": [1, 2]}, {"a": [1]}, "/a has 1 elements, not 2"),
            ({"a": 1, "b": 2}, {"a": 1}, "/b is missing"),
            ({"a": 1}, {"a": 1, "b": 2}, "/b was added"),
        ]
        for expected, received, text in rows:
            with self.subTest(text):
                self.assertEqual(verify.first_difference(expected, received), text)

    def test_true_is_not_one(self):
        answer = Answer(200, {"content-type": "application/json"}, b'{"a":true}', 0)
        with self.assertRaises(verify.WrongAnswer):
            verify.check_answer(answer, b'{"a": 1}', verify.Expectation("echo"))


class ClientTest(unittest.TestCase):
    def test_target(self):
        for url, target, authority in (
            ("http://127.0.0.1:8080", Target("127.0.0.1", 8080), "127.0.0.1:8080"),
            ("http://127.0.0.1:8080/a?b=c", Target("127.0.0.1", 8080, "/a?b=c"), "127.0.0.1:8080"),
            ("http://[::1]:81/", Target("::1", 81), "[::1]:81"),
            ("http://host/x", Target("host", 80, "/x"), "host:80"),
        ):
            with self.subTest(url):
                self.assertEqual(parse_target(url), target)
                self.assertEqual(target.authority, authority)

    def test_chunked_answers_and_stray_octets(self):
        import socket
        import threading

        rows = [
            (
                b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
                b"abcde",
                False,
            ),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabcde", b"ab", True),
            (b"HTTP/1.1 200 OK\r\n\r\nabc", None, False),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", None, False),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc", None, False),
            (b"SSH-2.0\r\n\r\n", None, False),
            (b"", None, False),
        ]
        for octets, body, stray in rows:
            with self.subTest(octets=octets), socket.create_server(("127.0.0.1", 0)) as listener:

                def serve(octets=octets, listener=listener):
                    with listener.accept()[0] as peer:
                        peer.recv(1000)
                        peer.sendall(octets)

                thread = threading.Thread(target=serve)
                thread.start()
                target = Target("127.0.0.1", listener.getsockname()[1])
                with Connection(target, timeout_s=1) as connection:
                    connection.send([request_octets(target, "GET")])
                    if body is None:
                        with self.assertRaises(AnswerError):
                            connection.receive()
                    else:
                        self.assertEqual(connection.receive().body, body)
                        self.assertEqual(connection.has_stray_octets(), stray)
                thread.join()


if __name__ == "__main__":
    unittest.main()
