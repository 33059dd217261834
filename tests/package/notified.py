#!/usr/bin/env python3
"""Stands in for a service manager: notified.py PATH STATE takes datagrams at PATH until one has the line STATE."""

import os
import socket
import sys

path, state = sys.argv[1:]
with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as receiver:
    receiver.bind(path)
    os.chmod(path, 0o666)
    receiver.settimeout(10)
    try:
        while state not in receiver.recv(4096).decode().splitlines():
            pass
    except TimeoutError:
        sys.exit(f"nobody said {state} within 10 s")
