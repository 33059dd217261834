#!/usr/bin/env python3
"""Milliseconds from fork to the first answer of a server in an image's root: start_time.py ROOT ROUNDS.

The server runs as an image would run it (chroot, user 65532) without an engine around it, whose own time would count
otherwise. Prints the median and the largest.
"""

import os
import signal
import socket
import statistics
import sys
import time


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start(root: str, port: int) -> int:
    pid = os.fork()
    if pid != 0:
        return pid
    try:
        os.chroot(root)
        os.chdir("/")
        os.setgroups([])
        os.setgid(65532)
        os.setuid(65532)
        os.execve("/rest-echo", ["/rest-echo", "--quiet"], {"PORT": str(port)})
    finally:
        os._exit(127)


def first_answer_ms(root: str) -> float:
    port = free_port()
    started = time.perf_counter()
    pid = start(root, port)
    try:
        while time.perf_counter() - started < 5:
            with socket.socket() as client:
                if client.connect_ex(("127.0.0.1", port)) != 0:
                    time.sleep(0.0001)
                    continue
                client.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
                if client.recv(4096).startswith(b"HTTP/1.1 200 "):
                    return (time.perf_counter() - started) * 1000
        sys.exit("no answer within 5 s")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


root, rounds = sys.argv[1], int(sys.argv[2])
times = [first_answer_ms(root) for _ in range(rounds)]
print(f"{statistics.median(times):.1f} {max(times):.1f}")
