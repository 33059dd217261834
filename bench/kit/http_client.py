"""A small HTTP/1.1 client for checking servers: sends octets exactly as told, takes nothing on trust."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit


class AnswerError(Exception):
    """The server did not answer as HTTP/1.1 asks; the text says how."""


@dataclass(frozen=True)
class Target:
    """Where a server listens and which path is asked for."""

    host: str
    port: int
    path: str = "/"

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}{self.path}"

    @property
    def authority(self) -> str:
        return self.url[len("http://") : -len(self.path)]


def parse_target(url: str) -> Target:
    parts = urlsplit(url)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Target(parts.hostname or "127.0.0.1", parts.port or 80, path)


@dataclass(frozen=True)
class Answer:
    """One response: names of fields in lower case."""

    status: int
    fields: dict[str, str]
    body: bytes
    size: int  # octets on the wire, head and framing included

    @property
    def media_type(self) -> str:
        return self.fields.get("content-type", "").partition(";")[0].strip().lower()

    @property
    def keeps_alive(self) -> bool:
        return "close" not in self.fields.get("connection", "").lower()


def request_octets(target: Target, method: str, body: bytes | None = None) -> bytes:
    head = f"{method} {target.path} HTTP/1.1\r\nHost: {target.authority}\r\n"
    if body is not None:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return head.encode() + b"\r\n" + (body or b"")


class Connection:
    """One kept connection. Every wait ends after `timeout_s`."""

    def __init__(self, target: Target, timeout_s: float = 5.0) -> None:
        self._socket = socket.create_connection((target.host, target.port), timeout=timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._unread = b""

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, pieces: Sequence[bytes], pause_s: float = 0.0) -> None:
        """Sends each piece as a packet of its own when there is a pause between them."""
        for index, piece in enumerate(pieces):
            if index and pause_s:
                time.sleep(pause_s)
            self._socket.sendall(piece)

    def receive(self) -> Answer:
        """Reads one answer, no more: its length comes from Content-Length or chunks."""
        head = self._take_until(b"\r\n\r\n")
        lines = head[:-4].decode("latin-1").split("\r\n")
        parts = lines[0].split(" ", 2)
        if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not parts[1].isdigit():
            raise AnswerError(f"the status line is {lines[0][:60]!r}")
        fields: dict[str, str] = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            fields[name.strip().lower()] = value.strip()
        size = len(head)
        if "chunked" in fields.get("transfer-encoding", "").lower():
            body, framing = self._take_chunks()
            size += framing
        elif fields.get("content-length", "").isdigit():
            body = self._take(int(fields["content-length"]))
        elif parts[1] in ("204", "304"):
            body = b""
        else:
            raise AnswerError("the answer has neither Content-Length nor chunks")
        return Answer(int(parts[1]), fields, body, size + len(body))

    def has_stray_octets(self, wait_s: float = 0.02) -> bool:
        """True when more octets came than the answers declared."""
        if self._unread:
            return True
        self._socket.settimeout(wait_s)
        try:
            self._unread = self._socket.recv(65536)
        except TimeoutError:
            return False
        return bool(self._unread)

    def _take_chunks(self) -> tuple[bytes, int]:
        """The content, and how many octets the chunk lines took."""
        body, framing = b"", 0
        while True:
            line = self._take_until(b"\r\n")
            try:
                length = int(line.partition(b";")[0].strip(), 16)
            except ValueError as error:
                raise AnswerError(f"a chunk-size line is {line[:20]!r}") from error
            framing += len(line)
            if length == 0:
                while (line := self._take_until(b"\r\n")) != b"\r\n":
                    framing += len(line)
                return body, framing + 2
            body += self._take(length)
            if self._take(2) != b"\r\n":
                raise AnswerError("a chunk does not end where its size says")
            framing += 2

    def _take(self, count: int) -> bytes:
        while len(self._unread) < count:
            self._fill(f"after {len(self._unread)} of {count} octets")
        taken, self._unread = self._unread[:count], self._unread[count:]
        return taken

    def _take_until(self, end: bytes) -> bytes:
        while end not in self._unread:
            if len(self._unread) > 65536:
                raise AnswerError("the head does not end")
            self._fill("before the answer was complete" if self._unread else "without an answer")
        return self._take(self._unread.index(end) + len(end))

    def _fill(self, where: str) -> None:
        try:
            received = self._socket.recv(262144)
        except TimeoutError as error:
            raise AnswerError(f"nothing came for {self._socket.gettimeout():g} s, {where}") from error
        if not received:
            raise AnswerError(f"the connection was closed {where}")
        self._unread += received
