"""The `--cpus` scenario: a server that may use a share of the machine's CPU time and sees all of its CPUs.

That is how a container with `--cpus=1` runs, and where a runtime that counts CPUs starts too many threads.
The first way that works is taken: docker, podman, a cgroup (version 2, then 1), systemd's user scope,
affinity to one CPU.
"""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from .peers import INSTALLED

CGROUP = Path("/sys/fs/cgroup")
PERIOD_US = 100_000
_NOT_MOUNTED = (
    "proc",
    "sys",
    "dev",
    "run",
    "tmp",
    "boot",
    "lost+found",
)  # the container has its own, or needs none
_IMAGE = "rest-echo-compare-empty"


@dataclass
class Quota:
    """How the share is enforced. `method` is none, docker, podman, cgroup2, cgroup1, systemd or affinity."""

    method: str = "none"
    cpus: float = 0.0
    parent: Path | None = None  # the cgroup below which each server gets its own
    engine: str = ""
    _made: list[Path] = field(default_factory=list)

    def describe(self) -> str:
        """For the report: what was done, in words."""
        share = f"{self.cpus:g} CPU"
        return {
            "none": "no quota",
            "docker": f"docker --cpus={self.cpus:g}, host network, the machine's own folders mounted; "
            "start-up times include the engine's",
            "podman": f"podman --cpus={self.cpus:g}, host network, the machine's own folders mounted; "
            "start-up times include the engine's",
            "cgroup2": f"cgroup v2 quota of {share} (cpu.max)",
            "cgroup1": f"cgroup v1 quota of {share} (cpu.cfs_quota_us)",
            "systemd": f"systemd scope with CPUQuota={self.cpus * 100:.0f}%",
            "affinity": f"affinity to {max(1, math.ceil(self.cpus))} CPU, as no quota could be set: "
            "runtimes see fewer CPUs than under a quota",
        }[self.method]

    def wrap(self, name: str, words: list[str], env: dict[str, str], folder: Path) -> list[str]:
        """The command that starts `words` under the quota."""
        if self.method in ("cgroup1", "cgroup2"):
            group = self._make_group(name)
            return ["/bin/sh", "-c", 'echo $$ > "$0" && exec "$@"', str(group / "cgroup.procs"), *words]
        if self.method == "systemd":
            return [
                "systemd-run",
                "--user",
                "--scope",
                "--quiet",
                "--collect",
                f"--property=CPUQuota={self.cpus * 100:.0f}%",
                "--",
                *words,
            ]
        if self.method in ("docker", "podman"):
            return container_command(self.engine, self.cpus, container_name(name), words, env, folder)
        return words

    def _make_group(self, name: str) -> Path:
        assert self.parent is not None
        group = self.parent / name.replace("/", "_")
        if not group.exists():
            group.mkdir()
            self._made.append(group)
        if self.method == "cgroup2":
            (group / "cpu.max").write_text(f"{round(self.cpus * PERIOD_US)} {PERIOD_US}")
        else:
            (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
            (group / "cpu.cfs_quota_us").write_text(str(round(self.cpus * PERIOD_US)))
        return group

    def read_throttled_s(self, name: str) -> float | None:
        """Seconds this server stood still because its share was used up; None where nobody counts them."""
        if self.method not in ("cgroup1", "cgroup2") or self.parent is None:
            return None
        try:
            text = (self.parent / name.replace("/", "_") / "cpu.stat").read_text()
        except OSError:
            return None
        values = dict(line.split() for line in text.splitlines() if len(line.split()) == 2)
        if "throttled_usec" in values:
            return int(values["throttled_usec"]) / 1e6
        return int(values["throttled_time"]) / 1e9 if "throttled_time" in values else None

    def container_pid(self, name: str, timeout_s: float = 10.0) -> int | None:
        """The process that the engine started; it is no child of ours."""
        if self.method not in ("docker", "podman"):
            return None
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            done = self._engine("inspect", "--format", "{{.State.Pid}}", container_name(name))
            if done.returncode == 0 and done.stdout.strip().isdigit() and int(done.stdout) > 0:
                return int(done.stdout)
            time.sleep(0.02)
        return None

    def _engine(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([self.engine, *words], capture_output=True, text=True, check=False)

    def end_container(self, name: str) -> None:
        """Ends the container, if there is one."""
        if self.method in ("docker", "podman"):
            # Killed first: as process 1 of its container a program without a handler ignores SIGTERM, and
            # `rm` would wait for it.
            for words in (["kill"], ["rm", "--force"]):
                self._engine(*words, container_name(name))

    def remove(self) -> None:
        """Removes the groups or the image we made; groups are empty once their servers have ended."""
        if self.method in ("docker", "podman"):
            self._engine("rmi", _IMAGE)
        groups = [*reversed(self._made), *([self.parent] if self.parent else [])]
        for group in groups:
            for _ in range(50):
                try:
                    group.rmdir()
                    break
                except FileNotFoundError:
                    break
                except OSError:
                    time.sleep(0.02)  # the kernel lets the last process go a moment after it was reaped
        self._made.clear()


def container_name(name: str) -> str:
    return f"rest-echo-compare-{os.getpid()}-{name}"


def container_command(
    engine: str, cpus: float, container: str, words: list[str], env: dict[str, str], folder: Path
) -> list[str]:
    """An empty image in which the machine's own folders stand: the same binaries as outside, only the quota
    is new.
    """
    program = shutil.which(words[0], path=env.get("PATH")) or words[0]
    folders = [f"/{name}" for name in sorted(os.listdir("/")) if name not in _NOT_MOUNTED]
    command = [
        engine,
        "run",
        "--rm",
        "--name",
        container,
        f"--cpus={cpus:g}",
        "--network=host",
        "--tmpfs=/tmp",
        f"--workdir={folder}",
    ]
    for path in folders:
        if os.path.isdir(path):
            command += ["--volume", f"{path}:{path}:ro"]
    for path in {str(folder), os.path.dirname(os.path.abspath(program))}:
        if path.startswith("/tmp/"):
            command += ["--volume", f"{path}:{path}:ro"]
    if INSTALLED.is_dir():  # some peers write their state beside what they were built to
        command += ["--volume", f"{INSTALLED}:{INSTALLED}"]
    for key, value in env.items():
        if os.environ.get(key) != value:
            command += ["--env", f"{key}={value}"]
    return [*command, _IMAGE, program, *words[1:]]


def choose(
    cpus: float,
    methods: tuple[str, ...] = ("docker", "podman", "cgroup2", "cgroup1", "systemd", "affinity"),
) -> Quota:
    """The first of `methods` that works here."""
    for method in methods:
        if quota := _try(method, cpus):
            return quota
    return Quota("affinity", cpus)


def _try(method: str, cpus: float) -> Quota | None:
    if method in ("docker", "podman"):
        return _try_engine(method, cpus)
    if method == "cgroup2":
        for mount in (CGROUP, CGROUP / "unified"):
            if quota := _try_cgroup2(mount, cpus):
                return quota
        return None
    if method == "cgroup1":
        return _try_cgroup1(CGROUP / "cpu", cpus) or _try_cgroup1(CGROUP / "cpu,cpuacct", cpus)
    if method == "systemd":
        return _try_systemd(cpus)
    return Quota("affinity", cpus)


def _try_engine(engine: str, cpus: float) -> Quota | None:
    """An engine counts only when a program really starts in our image."""
    path = shutil.which(engine)
    if path is None:
        return None
    try:
        if subprocess.run([path, "info"], capture_output=True, timeout=20, check=False).returncode != 0:
            return None
        # Two empty records of 512 octets are an archive without files: an image that needs no registry.
        imported = subprocess.run(
            [path, "import", "-", _IMAGE], input=bytes(1024), capture_output=True, timeout=60, check=False
        )
        if imported.returncode != 0:
            return None
        probe = container_command(
            path, cpus, container_name("probe"), ["true"], dict(os.environ), Path("/usr")
        )
        works = subprocess.run(probe, capture_output=True, timeout=60, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Quota(engine, cpus, engine=path) if works else None


def _try_cgroup2(mount: Path, cpus: float) -> Quota | None:
    try:
        if "cpu" not in (mount / "cgroup.controllers").read_text().split():
            return None
        if "cpu" not in (mount / "cgroup.subtree_control").read_text().split():
            (mount / "cgroup.subtree_control").write_text("+cpu")
        parent = mount / f"rest-echo-compare-{os.getpid()}"
        parent.mkdir()
    except OSError:
        return None
    try:
        (parent / "cgroup.subtree_control").write_text("+cpu")
    except OSError:
        parent.rmdir()
        return None
    return Quota("cgroup2", cpus, parent, _made=[])


def _try_cgroup1(mount: Path, cpus: float) -> Quota | None:
    if not (mount / "cpu.cfs_quota_us").exists():
        return None
    parent = mount / f"rest-echo-compare-{os.getpid()}"
    try:
        parent.mkdir()
    except OSError:
        return None
    return Quota("cgroup1", cpus, parent)


def _try_systemd(cpus: float) -> Quota | None:
    if shutil.which("systemd-run") is None:
        return None
    try:
        works = (
            subprocess.run(
                [
                    "systemd-run",
                    "--user",
                    "--scope",
                    "--quiet",
                    "--collect",
                    "--property=CPUQuota=50%",
                    "--",
                    "true",
                ],
                capture_output=True,
                timeout=10,
                check=False,
            ).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return Quota("systemd", cpus) if works else None
