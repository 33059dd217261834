"""What can be compared: the folders under bench/peers, and servers named on the command line."""

from __future__ import annotations

import difflib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from .http_client import parse_target

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
PEERS = BENCH / "peers"
INSTALLED = BENCH / ".peers"

CLASSES = ("engine", "http-library", "framework", "app-server", "infrastructure")
GROUPS = ("out-of-the-box", "tuned", "yardstick", "ours", "yours")
WORKLOADS = ("echo", "hello")


class PeerError(Exception):
    """A peer that is described wrongly, cannot be built or cannot be started; the text says which and why."""


@dataclass(frozen=True)
class Requirement:
    """One thing that must be there: exactly one of `command`, `file` and `python` is set."""

    hint: str = ""
    command: str = ""
    file: str = ""
    python: str = ""


@dataclass(frozen=True)
class Peer:
    """One `peer.toml`, field by field (bench/peers/README.md), or a server from the command line."""

    name: str
    title: str
    peer_class: str
    group: str
    run: str = ""
    run_hello: str = ""
    language: str = ""
    maintenance: str = ""
    licence: str = ""
    note: str = ""
    elsewhere: str = ""
    workloads: tuple[str, ...] = WORKLOADS
    version: tuple[str, ...] = ()
    requires: tuple[Requirement, ...] = ()
    extra_nulls: bool = False
    verify: bool = True
    max_workers: int = 0
    workers_by: str = "argument"
    ready_timeout_s: float = 10.0
    warmup_extra_s: float = 0.0
    build: tuple[str, ...] = ()
    built: tuple[str, ...] = ()
    sources: tuple[str, ...] = ("{dir}",)
    build_timeout_s: float = 600.0
    env: Mapping[str, str] = field(default_factory=dict)
    build_env: Mapping[str, str] = field(default_factory=dict)
    find: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    folder: Path = field(default_factory=Path.cwd)
    url: str = ""  # set for a server that runs already: nothing is started then

    def command_for(self, workload: str) -> str:
        """The start command; most peers have one for both workloads."""
        return (self.run_hello or self.run) if workload == "hello" else self.run

    def workers_for(self, workers: int) -> int:
        """How many workers this peer gets when `workers` are asked for."""
        return min(workers, self.max_workers) if self.max_workers else workers


# ------------------------------------------------------------------------------------------------ reading

_KEYS = {"class": "peer_class"}  # the key in TOML where it differs from the field's name
_FIELDS = {name for name in Peer.__dataclass_fields__ if name not in ("name", "peer_class", "folder", "url")}


def read_peer(folder: Path) -> Peer:
    """Reads `folder/peer.toml`. Every mistake names the file and the key."""
    path = folder / "peer.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PeerError(f"{path}: {error}") from error
    known = _FIELDS | set(_KEYS) | {"name"}
    for key in table:
        if key not in known:
            near = difflib.get_close_matches(key, known, n=1)
            raise PeerError(f"{path}: unknown key `{key}`" + (f"; did you mean `{near[0]}`?" if near else ""))
    if table.pop("name", folder.name) != folder.name:
        raise PeerError(f"{path}: `name` must be the folder's name, {folder.name}")
    for key in ("title", "class", "group", "run"):
        if not table.get(key):
            raise PeerError(f"{path}: `{key}` is missing")
    values = {_KEYS.get(key, key): value for key, value in table.items()}
    for key in ("version", "workloads", "build", "built", "sources"):
        if key in values:
            values[key] = (values[key],) if isinstance(values[key], str) else tuple(values[key])
    values["requires"] = tuple(_read_requirement(path, entry) for entry in values.get("requires", ()))
    values["find"] = {name: tuple(paths) for name, paths in values.get("find", {}).items()}
    for key in ("env", "build_env"):
        values[key] = {name: str(value) for name, value in values.get(key, {}).items()}
    _check_choice(path, "class", values["peer_class"], CLASSES)
    _check_choice(path, "group", values["group"], GROUPS)
    _check_choice(path, "workers_by", values.get("workers_by", "argument"), ("argument", "affinity"))
    for workload in values.get("workloads", ()):
        _check_choice(path, "workloads", workload, WORKLOADS)
    return Peer(name=folder.name, folder=folder.resolve(), **values)


def _read_requirement(path: Path, entry: Mapping[str, str]) -> Requirement:
    try:
        requirement = Requirement(**entry)
    except TypeError as error:
        raise PeerError(f"{path}: [[requires]] knows command, file, python and hint: {error}") from error
    if sum(map(bool, (requirement.command, requirement.file, requirement.python))) != 1:
        raise PeerError(f"{path}: each [[requires]] names one command, file or python module")
    return requirement


def _check_choice(path: Path, key: str, value: str, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise PeerError(f"{path}: `{key}` is `{value}`, not one of {', '.join(choices)}")


def read_peers(folder: Path = PEERS) -> tuple[dict[str, Peer], list[str]]:
    """Every peer below `folder` by name, and the complaints about those that could not be read."""
    peers: dict[str, Peer] = {}
    complaints: list[str] = []
    for path in sorted(folder.glob("*/peer.toml")):
        try:
            peers[path.parent.name] = read_peer(path.parent)
        except PeerError as error:
            complaints.append(str(error))
    return peers, complaints


def _own_name(text: str) -> str:
    """A name for tables, and for files."""
    name = text.strip()
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", name):
        raise PeerError(f"`{name}` is no name: up to 40 letters, digits, `.`, `_` and `-`")
    return name


def peer_from_command(text: str, classes: Mapping[str, str]) -> Peer:
    """`NAME=COMMAND` from --server; the command runs in the current directory."""
    name, separator, command = text.partition("=")
    if not separator or not name.strip() or not command.strip():
        raise PeerError(f"--server wants 'NAME=COMMAND {{port}}', not `{text}`")
    name = _own_name(name)
    try:
        shlex.split(command)
    except ValueError as error:
        raise PeerError(f"--server {name}: {error} in `{command}`") from error
    return Peer(
        name=name,
        title=name,
        peer_class=classes.get(name, ""),
        group="yours",
        run=command.strip(),
        env={"PORT": "{port}", "WORKERS": "{workers}"},
        ready_timeout_s=30.0,
    )


def peer_from_url(text: str, classes: Mapping[str, str]) -> Peer:
    """`NAME=URL` from --url: a server that runs already and is neither started nor ended."""
    name, separator, url = text.partition("=")
    if not separator or not name.strip() or not url.startswith("http://"):
        raise PeerError(f"--url wants 'NAME=http://HOST:PORT/PATH', not `{text}`")
    name = _own_name(name)
    try:
        parse_target(url)
    except ValueError as error:
        raise PeerError(f"--url {name}: {error}") from error
    return Peer(
        name=name,
        title=name,
        peer_class=classes.get(name, ""),
        group="yours",
        url=url,
    )


# ------------------------------------------------------------------------------------------- placeholders


def kit_python() -> str:
    """The Python for peers: the environment that install-peers made, else our own."""
    own = INSTALLED / "python" / "bin" / "python"
    return str(own) if own.exists() else sys.executable


def placeholders(peer: Peer, *, port: int = 0, workers: int = 1, workload: str = "echo") -> dict[str, str]:
    """The value of each `{placeholder}`; one from [find] that is nowhere keeps the path it is built to."""
    values = {
        "port": str(port),
        "workers": str(workers),
        "workload": workload,
        "dir": str(peer.folder),
        "out": str(INSTALLED / "build" / peer.name),
        "peers": str(INSTALLED),
        "python": kit_python(),
        "root": str(ROOT),
    }
    for name, candidates in peer.find.items():
        paths = [path for candidate in candidates if (path := _candidate_path(candidate, values))]
        found = next((path for path in paths if os.path.exists(path)), paths[0] if paths else "")
        values[name] = os.path.abspath(found) if found else ""
    return values


def _candidate_path(candidate: str, values: Mapping[str, str]) -> str:
    """`$NAME` is a variable of the environment, which may be unset; anything else is a path."""
    return os.environ.get(candidate[1:], "") if candidate.startswith("$") else fill(candidate, values)


def fill(text: str, values: Mapping[str, str]) -> str:
    """Fills in the placeholders we know and leaves every other brace alone."""
    for name, value in values.items():
        text = text.replace("{" + name + "}", value)
    return text


def command_words(command: str, values: Mapping[str, str]) -> list[str]:
    """Splits first and fills in afterwards, so that a path with spaces stays one word."""
    return [fill(word, values) for word in shlex.split(command)]


def environment(peer_env: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """Our own environment with bench/.peers/bin first on PATH, and what the peer asks for."""
    merged = dict(os.environ)
    merged.pop("PORT", None)
    merged["PATH"] = f"{INSTALLED / 'bin'}{os.pathsep}{merged.get('PATH', os.defpath)}"
    merged.update({name: fill(value, values) for name, value in peer_env.items()})
    return merged


def find_command(name: str, path: str | None = None) -> str | None:
    """A program on PATH, where bench/.peers/bin comes first."""
    return shutil.which(name, path=path or environment({}, {})["PATH"])


# ---------------------------------------------------------------------------------------------- readiness


def find_lacking(peer: Peer) -> list[Requirement]:
    """The requirements that are not met, in the order they are written."""
    values = placeholders(peer)
    path = environment(peer.env, values)["PATH"]
    return [requirement for requirement in peer.requires if not _is_met(requirement, values, path)]


def _is_met(requirement: Requirement, values: Mapping[str, str], path: str) -> bool:
    if requirement.command:
        return find_command(fill(requirement.command, values), path) is not None
    if requirement.file:
        return bool(name := fill(requirement.file, values)) and os.path.exists(name)
    return _has_module(values["python"], requirement.python)


def _has_module(python: str, module: str) -> bool:
    probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
    try:
        return (
            subprocess.run(
                [python, "-c", probe, module], capture_output=True, timeout=20, check=False
            ).returncode
            == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False


def describe_lacking(peer: Peer, lacking: list[Requirement]) -> str:
    """One line: what is not there and how to get it."""
    values = placeholders(peer)
    parts = []
    for requirement in lacking:
        what = requirement.command or requirement.file or f"Python module {requirement.python}"
        hint = f" ({fill(requirement.hint, values)})" if requirement.hint else ""
        parts.append(f"{_short_path(fill(what, values)) or requirement.file}{hint}")
    return "needs " + "; ".join(parts)


def _short_path(path: str) -> str:
    return os.path.relpath(path, ROOT) if path.startswith(str(ROOT) + os.sep) else path


def needs_build(peer: Peer) -> bool:
    """True when something built is missing or older than a source."""
    if not peer.build:
        return False
    values = placeholders(peer)
    built = [Path(fill(name, values)) for name in peer.built]
    if not built or not all(path.exists() for path in built):
        return True
    oldest = min(path.stat().st_mtime for path in built)
    return any(
        path.stat().st_mtime > oldest
        for name in peer.sources
        for path in _files_below(Path(fill(name, values)))
    )


def _files_below(path: Path) -> list[Path]:
    return [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]


def build(peer: Peer, log: Path) -> None:
    """Runs the build commands in the peer's folder; output goes to `log`. Raises PeerError."""
    values = placeholders(peer)
    Path(values["out"]).mkdir(parents=True, exist_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        for command in peer.build:
            words = command_words(command, values)
            output.write(f"$ {shlex.join(words)}\n".encode())
            output.flush()
            try:
                status = subprocess.run(
                    words,
                    cwd=peer.folder,
                    env=environment(peer.build_env, values),
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    timeout=peer.build_timeout_s,
                    check=False,
                ).returncode
            except (OSError, subprocess.TimeoutExpired) as error:
                raise PeerError(f"the build failed: {error}") from error
            if status != 0:
                raise PeerError(f"the build failed with status {status}, see {log}")


def read_version(peer: Peer) -> str:
    """First lines of the version commands' output, joined; empty when there is none to ask."""
    values = placeholders(peer)
    parts = []
    for command in peer.version:
        try:
            done = subprocess.run(
                command_words(command, values),
                cwd=peer.folder,
                timeout=30,
                check=False,
                env=environment({**peer.env, **peer.build_env}, values),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        lines = [line.strip() for line in done.stdout.decode(errors="replace").splitlines() if line.strip()]
        parts += lines[:1]
    return ", ".join(parts)
