"""Servers with known faults, for the tests of the kit: honest, lying, slow, forking, crashing."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import signal
import socket
import sys

HELLO = b"Hello World"
first_answer = b""
kept: dict[bytes, bytes] = {}
answered = 0


def compact(body: bytes) -> bytes:
    return json.dumps(json.loads(body), separators=(",", ":"), ensure_ascii=False).encode()


def answer_body(mode: str, body: bytes) -> bytes:
    """What a server of this kind gives back; the honest one parses and serialises."""
    global first_answer
    if mode == "raw":
        return body
    if mode == "fixed":
        return b'{"colors":[{"color":"red","code":{"rgba":[1]}}]}'
    if mode == "cached":
        # Honest once in a while would not help it: the documents are new each time.
        first_answer = first_answer or compact(body)
        return first_answer
    if mode == "lazy":  # parses nothing, and squeezes white space out as if it had
        return re.sub(rb'("(?:[^"\\]|\\.)*")|\s+', lambda found: found[1] or b"", body)
    if (
        mode == "memo"
    ):  # works for each document once; the work is made large, as this interpreter is slow anyway
        if body not in kept:
            kept[body] = compact(body) if len(kept) < 100_000 else b""
            for _ in range(4):
                compact(body)
        return kept[body]
    if mode == "nulls":
        document = json.loads(body)
        for color in document["colors"]:
            color.setdefault("type", None)
        return json.dumps(document, separators=(",", ":")).encode()
    return compact(body)


class Connection(asyncio.Protocol):
    def __init__(self, mode: str) -> None:
        self.mode, self.unread = mode, b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.unread += data
        while (end := self.unread.find(b"\r\n\r\n")) != -1:
            head, length = self.unread[:end].lower(), 0
            if (at := head.find(b"content-length:")) != -1:
                length = int(head[at + 15 :].split(b"\r\n", 1)[0])
            if len(self.unread) < end + 4 + length:
                return
            body, self.unread = self.unread[end + 4 : end + 4 + length], self.unread[end + 4 + length :]
            if self.mode == "slow":
                asyncio.get_running_loop().call_later(0.05, self.answer, body)
            else:
                self.answer(body)

    def answer(self, body: bytes) -> None:
        global answered
        answered += 1
        if self.mode.startswith("crash") and answered > int(self.mode[5:]):
            print("giving up", flush=True)
            os._exit(3)
        if not body:
            content, media_type, status = HELLO, "text/plain", "200 OK"
        else:
            try:
                content, media_type, status = answer_body(self.mode, body), "application/json", "200 OK"
            except (ValueError, KeyError):
                content, media_type, status = b"no", "text/plain", "400 Bad Request"
        if self.mode == "mistyped":
            media_type = "text/html"
        length = len(content) - (3 if self.mode == "short" else 0)
        self.transport.write(
            f"HTTP/1.1 {status}\r\nContent-Type: {media_type}\r\nContent-Length: {length}\r\n\r\n".encode()
            + content
        )


def fork_workers(count: int) -> None:
    """The parent only waits; one child gives up at once, so that its time must be found with the parent."""
    doomed = os.fork()
    if doomed == 0:
        total = 0
        for number in range(3_000_000):
            total += number
        os._exit(0)
    os.waitpid(doomed, 0)
    children = []
    for _ in range(count):
        if (child := os.fork()) == 0:
            return
        children.append(child)

    def end(*_: object) -> None:
        for child in children:
            os.kill(child, signal.SIGTERM)
        sys.exit(0)

    signal.signal(signal.SIGTERM, end)
    while True:
        signal.pause()


async def serve(listener: socket.socket, mode: str) -> None:
    server = await asyncio.get_running_loop().create_server(lambda: Connection(mode), sock=listener)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--mode", default="honest")
    options = parser.parse_args()
    if options.mode == "deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.mode == "stillborn":
        sys.exit("no licence found")
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", options.port))
    listener.listen(1024)
    if options.mode == "forking":
        fork_workers(2)
    if options.mode == "restless" and os.fork() == 0:
        while True:
            pass
    asyncio.run(serve(listener, options.mode))


if __name__ == "__main__":
    main()
