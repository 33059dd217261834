"""Is this an echo server at all? Asked before and after measuring, and once under load in every round.

A server that keeps answers, returns the octets it got, or always says the same would look very fast. So it
must give back random documents it has never seen, which arrive in pieces, and none of which is written
compactly.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from .http_client import Answer, AnswerError, Connection, Target, request_octets

HELLO = b"Hello World"
MALFORMED = (
    b'{"colors":[{"color":"red",]}',
    b'{"colors":[{"color":"red" "type":"primary"}]}',
    b'{"colors":[{"color":red}]}',
)
_ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_.,:;/<>&'\"\\\t\nåßçé€漢字🎨"


class WrongAnswer(Exception):
    """The server gave an answer that an honest echo server does not give; the text says what was wrong."""


class NotReady(WrongAnswer):
    """A status other than 200: while a server starts, that may still change."""


@dataclass(frozen=True)
class Expectation:
    """What a server must do to count as correct."""

    workload: str
    extra_nulls: bool = False  # absent members may come back as null
    fixed_answer: bool = False  # a yardstick: only has to answer 200


# ---------------------------------------------------------------------------------------------- documents


def random_document(rng: random.Random) -> dict[str, Any]:
    """A document of the reference's shape (colors, code, rgba, hex), never twice the same, members
    sometimes absent.
    """
    return {"colors": [_random_color(rng) for _ in range(rng.randint(1, 40))]}


def _random_color(rng: random.Random) -> dict[str, Any]:
    color: dict[str, Any] = {"color": _random_text(rng), "category": _random_text(rng)}
    if rng.random() < 0.6:  # as in body.json, where it is sometimes left out
        color["type"] = _random_text(rng)
    rgba = [
        rng.choice((rng.randint(0, 255), rng.randint(-(2**31), 2**31 - 1))) for _ in range(rng.randint(1, 6))
    ]
    color["code"] = {"rgba": rgba, "hex": f"#{rng.randrange(16**6):06X}"}
    return color


def _random_text(rng: random.Random) -> str:
    return "".join(rng.choices(_ALPHABET, k=rng.randint(1, 24)))  # never empty: Go's omitempty would drop it


def loose_text(document: Any, rng: random.Random) -> bytes:
    """The document as JSON text with white space that a compact serialiser never writes."""
    indent = rng.choice((1, 2, 4, "\t"))
    text = json.dumps(document, indent=indent, ensure_ascii=rng.random() < 0.5, separators=(" ,", " : "))
    return f" \n{text}\r\n ".encode()


def without_nulls(value: Any) -> Any:
    """The value without the members that are null."""
    if isinstance(value, dict):
        return {key: without_nulls(member) for key, member in value.items() if member is not None}
    if isinstance(value, list):
        return [without_nulls(element) for element in value]
    return value


def count_loose_octets(text: bytes) -> int:
    """White space outside strings: what a compact text would not have."""
    count, in_string, escaped = 0, False, False
    for octet in text:
        if in_string:
            in_string = escaped or octet != 0x22
            escaped = octet == 0x5C and not escaped
        elif octet == 0x22:
            in_string = True
        elif octet in b" \t\r\n":
            count += 1
    return count


def split_randomly(octets: bytes, rng: random.Random, pieces: int) -> list[bytes]:
    cuts = sorted(rng.sample(range(1, len(octets)), min(pieces - 1, len(octets) - 1)))
    return [octets[start:end] for start, end in zip([0, *cuts], [*cuts, len(octets)])]


# ------------------------------------------------------------------------------------------------- checks


def check_answer(answer: Answer, sent: bytes | None, expectation: Expectation) -> None:
    """Raises WrongAnswer unless `answer` is right for the request body `sent` (None for a GET)."""
    if answer.status != 200:
        raise NotReady(f"status {answer.status}: {answer.body[:80]!r}")
    if expectation.fixed_answer:
        return
    if sent is None:
        if answer.body != HELLO:
            raise WrongAnswer(f"the text is {answer.body[:40]!r}, not 'Hello World'")
        if not answer.media_type.startswith("text/"):
            raise WrongAnswer(f"Content-Type is {answer.media_type!r}, not text")
        return
    if answer.media_type != "application/json":
        raise WrongAnswer(f"Content-Type is {answer.media_type!r}, not application/json")
    if answer.body == sent:
        raise WrongAnswer("the received octets came back, white space and all: nothing was serialised")
    try:
        received = json.loads(answer.body)
    except ValueError as error:
        raise WrongAnswer(f"the answer is not JSON: {error}") from error
    expected = json.loads(sent)
    if expectation.extra_nulls:
        received = without_nulls(received)
    if not same(expected, received):
        raise WrongAnswer(
            f"the answer differs from the document sent: {first_difference(expected, received)}"
        )


def same(expected: Any, received: Any) -> bool:
    """Equal as JSON: the order of members is free, 1 and 1.0 are one number, and true is none (in Python it
    is 1).
    """
    if isinstance(expected, dict) and isinstance(received, dict):
        return expected.keys() == received.keys() and all(
            same(expected[key], received[key]) for key in expected
        )
    if isinstance(expected, list) and isinstance(received, list):
        return len(expected) == len(received) and all(map(same, expected, received))
    return expected == received and isinstance(expected, bool) == isinstance(received, bool)


def first_difference(expected: Any, received: Any, pointer: str = "") -> str:
    """Where two documents first differ, for the person who has to find out."""
    if isinstance(expected, dict) and isinstance(received, dict):
        for key in [*expected, *(key for key in received if key not in expected)]:
            if key not in received:
                return f"{pointer}/{key} is missing"
            if key not in expected:
                return f"{pointer}/{key} was added"
            if not same(expected[key], received[key]):
                return first_difference(expected[key], received[key], f"{pointer}/{key}")
    if isinstance(expected, list) and isinstance(received, list):
        for index, (left, right) in enumerate(zip(expected, received)):
            if not same(left, right):
                return first_difference(left, right, f"{pointer}/{index}")
        return f"{pointer or 'the document'} has {len(received)} elements, not {len(expected)}"
    return f"{pointer or 'the document'} is {_shorten(received)}, not {_shorten(expected)}"


def _shorten(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def ask_once(target: Target, expectation: Expectation, rng: random.Random, timeout_s: float = 5.0) -> Answer:
    """One correct answer on a connection of its own; raises WrongAnswer, AnswerError or OSError."""
    body = loose_text(random_document(rng), rng) if expectation.workload == "echo" else None
    with Connection(target, timeout_s) as connection:
        connection.send([request_octets(target, "POST" if body is not None else "GET", body)])
        answer = connection.receive()
    check_answer(answer, body, expectation)
    return answer


@dataclass(frozen=True)
class Findings:
    """What verification saw of a correct server."""

    answer_octets: int  # on the wire, for the reference document
    body_octets: int
    loose_octets: int  # white space in that body: zero when it is compact
    keeps_alive: bool


def verify(
    target: Target,
    expectation: Expectation,
    reference: bytes,
    rng: random.Random,
    documents: int = 12,
    timeout_s: float = 5.0,
) -> Findings:
    """Asks `documents` random documents on kept connections, half of them split. Raises WrongAnswer.

    A yardstick answers whatever arrives with the same octets, so it is only asked once, whole.
    """
    try:
        if expectation.fixed_answer:
            answer = ask_once(target, expectation, rng, timeout_s)
            return Findings(answer.size, len(answer.body), 0, answer.keeps_alive)
        return _verify(target, expectation, reference, rng, documents, timeout_s)
    except (AnswerError, OSError) as error:
        raise WrongAnswer(str(error)) from error


def _verify(
    target: Target,
    expectation: Expectation,
    reference: bytes,
    rng: random.Random,
    documents: int,
    timeout_s: float,
) -> Findings:
    echo = expectation.workload == "echo"
    connection, keeps_alive = Connection(target, timeout_s), True
    try:
        for number in range(documents):
            body = loose_text(random_document(rng), rng) if echo else None
            octets = request_octets(target, "POST" if echo else "GET", body)
            pieces = split_randomly(octets, rng, rng.randint(2, 5)) if number % 2 else [octets]
            connection.send(pieces, pause_s=0.003)
            answer = connection.receive()
            check_answer(answer, body, expectation)
            if not answer.keeps_alive:
                keeps_alive = False
                connection.__exit__()
                connection = Connection(target, timeout_s)
        body = reference if echo else None
        connection.send([request_octets(target, "POST" if echo else "GET", body)])
        answer = connection.receive()
        check_answer(answer, body, expectation)
        if answer.keeps_alive and connection.has_stray_octets():
            raise WrongAnswer("more octets came than Content-Length says")
    finally:
        connection.__exit__()
    loose = count_loose_octets(answer.body) if echo else 0
    return Findings(answer.size, len(answer.body), loose, keeps_alive)


def try_malformed(target: Target, timeout_s: float = 3.0) -> str:
    """What a document that is not JSON gets: `400`, another status, or how the server took it. Asked last
    of all.
    """
    try:
        for document in MALFORMED:
            with Connection(target, timeout_s) as connection:
                connection.send([request_octets(target, "POST", document)])
                status = str(connection.receive().status)
            if not status.startswith("4"):
                break
        return status
    except (AnswerError, OSError) as error:
        return str(error)
