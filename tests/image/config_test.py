#!/usr/bin/env python3
"""Checks an image's configuration, `buildah inspect --type image` on standard input, and prints its health check."""

import json
import re
import sys

config = json.load(sys.stdin)["Docker"]["config"]
faults = []


def expect(what: str, is_met: bool, found: object) -> None:
    if not is_met:
        faults.append(f"{what}: {found}")


user = config.get("User") or ""
expect("a numeric user other than root", bool(re.fullmatch(r"[1-9]\d*(:[1-9]\d*)?", user)), user)
expect("an entry point without a shell", config.get("Entrypoint") == ["/rest-echo"], config.get("Entrypoint"))
expect("port 3000 exposed", "3000/tcp" in (config.get("ExposedPorts") or {}), config.get("ExposedPorts"))
health = (config.get("Healthcheck") or {}).get("Test") or []
expect("a health check without a shell", health[:1] == ["CMD"] and "--healthcheck" in health, health)
expect("no stop signal but SIGTERM", config.get("StopSignal") in (None, "", "SIGTERM"), config.get("StopSignal"))
labels = config.get("Labels") or {}
for name in ("title", "description", "licenses", "version", "revision"):
    label = labels.get(f"org.opencontainers.image.{name}")
    expect(f"a label {name}", bool(label), labels)
if faults:
    sys.exit("\n".join(f"the image lacks {fault}" for fault in faults))
print(" ".join(health[1:]))
