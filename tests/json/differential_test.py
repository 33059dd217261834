#!/usr/bin/env python3
"""Feeds random documents, many of them broken, to the server's JSON layer and to others, and compares the answers.

Against Python: a model of the semantics gives every answer octet by octet, and Python's json module must accept the
same documents and see the same values before and after. Against Go and Node: their own encoders, but for the deviations
that are named where they are skipped."""

import argparse
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile

import documents
import model

SKIPPED = 77
HERE = os.path.dirname(os.path.abspath(__file__))


def sized(octets):
    return struct.pack("<I", len(octets)) + octets


def ask(command, texts, answers_each):
    """The answers of a program that reads sized documents and writes sized answers."""
    run = subprocess.run(command, input=b"".join(map(sized, texts)), stdout=subprocess.PIPE, check=True)
    answers = []
    at = 0
    while at < len(run.stdout):
        (size,) = struct.unpack_from("<I", run.stdout, at)
        answers.append(run.stdout[at + 4:at + 4 + size])
        at += 4 + size
    if len(answers) != answers_each * len(texts):
        sys.exit(f"{command[0]}: {len(answers)} answers for {len(texts)} documents")
    return [answers[i:i + answers_each] for i in range(0, len(answers), answers_each)]


class Expected:
    """The model's answers to one document."""

    def __init__(self, text):
        self.fault = model.find_fault(text)
        self.body = None
        if self.fault:
            self.typed = self.generic = str(self.fault).encode()
            return
        self.tree = model.parse(text)
        self.generic = model.rewritten(self.tree).encode()
        try:
            self.body = model.Body(self.tree)
            self.typed = self.body.text().encode()
        except model.Fault as fault:
            self.typed = str(fault).encode()


class Failures:
    def __init__(self):
        self.count = 0

    def add(self, what, text, *answers):
        self.count += 1
        if self.count <= 10:
            print(f"FAILED {what}: {text!r}")
            for answer in answers:
                print(f"    {answer!r}")


def python_value(text):
    """A document as Python's json sees it, with members in order and numbers as text."""

    def refuse(constant):
        raise ValueError(f"{constant} is no JSON")

    return json.loads(text, object_pairs_hook=lambda pairs: ("object", pairs), parse_int=str, parse_float=str,
                      parse_constant=refuse)


def check_python(texts, answers, failures):
    for text, (typed, generic) in zip(texts, answers):
        expected = Expected(text)
        if typed != expected.typed:
            failures.add("typed", text, typed, expected.typed)
        if generic != expected.generic:
            failures.add("generic", text, generic, expected.generic)
        # Deviations of Python's json: it has no limit of 1024, and takes lone surrogates.
        if expected.fault and (expected.fault.code == "too_deep" or expected.fault.lone_surrogate):
            continue
        try:
            value = python_value(text.decode("utf-8"))
        except ValueError:
            value = None
            if not expected.fault:
                failures.add("Python's json refuses", text, generic)
        else:
            if expected.fault:
                failures.add("Python's json accepts", text, generic)
        if not expected.fault and python_value(generic.decode("utf-8")) != value:
            failures.add("Python's json sees another value", text, generic)
        if not expected.fault and len(generic) > len(text):
            failures.add("longer than the document", text, generic)


def check_go(texts, answers, failures):
    go = shutil.which("go")
    if not go:
        print("go was not found")
        sys.exit(SKIPPED)
    with tempfile.TemporaryDirectory() as directory:
        program = os.path.join(directory, "go_reference")
        environment = {**os.environ, "GO111MODULE": "off", "GOTOOLCHAIN": "local", "GOFLAGS": ""}
        subprocess.run([go, "build", "-o", program, os.path.join(HERE, "go_reference", "main.go")], check=True,
                       env=environment)
        references = ask([program], texts, 1)
    compared = 0
    for text, (typed, _), (reference,) in zip(texts, answers, references):
        expected = Expected(text)
        # Deviations of Go: ill-formed UTF-8 and lone surrogates become U+FFFD, 10000 levels; a repeated `colors` or
        # `rgba` is decoded over the one before; U+017F folds to s.
        if expected.fault and (expected.fault.code in ("invalid_utf8", "too_deep") or expected.fault.lone_surrogate):
            continue
        if expected.fault and (b"\\ud" in text.lower() or not is_utf8(text)):
            continue
        if expected.body and (expected.body.has_repeated_list or expected.body.has_long_s):
            continue
        if "\u017f" in text.decode("utf-8") or b"\\u017f" in text.lower():
            continue
        compared += 1
        if reference == b"type_mismatch":  # Go's offset is behind the value, and its pointer has no index
            if not typed.startswith(b"type_mismatch "):
                failures.add("Go finds a mismatch", text, typed, reference)
        elif typed == b"empty_body %d" % len(text) and reference == b"invalid_json %d" % len(text):
            pass  # to Go, nothing is an early end
        elif typed == b"invalid_json %d" % len(text) and reference == b"invalid_json %d" % (len(text) - 1):
            pass  # Go reports an end inside a literal, number or escape as a space in the place of its last octet
        elif typed != reference.replace("\\u2028".encode(), "\u2028".encode()).replace(b"\\u2029", "\u2029".encode()):
            failures.add("Go answers otherwise", text, typed, reference)
    print(f"{compared} documents compared with Go")


def is_utf8(text):
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def keeps_form_in_node(node):
    """Whether Node's JSON.stringify(JSON.parse(x)) keeps numbers, repeated keys and the order of keys."""
    if node.kind == "number":
        return node.value.lstrip("-").isdigit() and node.value != "-0" and abs(int(node.value)) < 2**53
    if node.kind == "array":
        return all(map(keeps_form_in_node, node.value))
    if node.kind == "object":
        keys = [key for key, _ in node.value]
        if len(set(keys)) < len(keys) or any(key.isdigit() or key == "__proto__" for key in keys):
            return False
        return all(keeps_form_in_node(value) for _, value in node.value)
    return True


def check_node(texts, answers, failures):
    node = shutil.which("node")
    if not node:
        print("node was not found")
        sys.exit(SKIPPED)
    # Deviations of Node: ill-formed UTF-8 becomes U+FFFD, lone surrogates stay, no limit of 1024, numbers are doubles, of
    # repeated keys the last stays, keys that are an index come first.
    compared = []
    for text, (_, generic) in zip(texts, answers):
        expected = Expected(text)
        if not is_utf8(text):
            continue
        if expected.fault and (expected.fault.code == "too_deep" or expected.fault.lone_surrogate):
            continue
        compared.append((text, generic, expected))
    references = ask([node, os.path.join(HERE, "node_reference.js")], [text for text, _, _ in compared], 1)
    rewritten = ask([node, os.path.join(HERE, "node_reference.js")],
                    [text if expected.fault else generic for text, generic, expected in compared], 1)
    for (text, generic, expected), (reference,), (again,) in zip(compared, references, rewritten):
        if (reference == b"refused") != bool(expected.fault):
            failures.add("Node", text, generic, reference)
        elif again != reference:
            failures.add("Node sees another value", text, generic, reference)
        elif not expected.fault and keeps_form_in_node(expected.tree) and generic != reference:
            failures.add("Node writes otherwise", text, generic, reference)
    print(f"{len(compared)} documents compared with Node")


def main():
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--driver", required=True, help="the json_driver program")
    arguments.add_argument("--reference", choices=["python", "go", "node"], default="python")
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--count", type=int, default=20000)
    options = arguments.parse_args()
    sys.setrecursionlimit(20000)
    sys.set_int_max_str_digits(0)

    source = documents.Documents(options.seed)
    texts = [source.next() for _ in range(options.count)]
    answers = ask([options.driver], texts, 2)
    accepted = sum(not answer[1].startswith((b"invalid_", b"too_deep", b"empty_body")) for answer in answers)
    failures = Failures()
    {"python": check_python, "go": check_go, "node": check_node}[options.reference](texts, answers, failures)
    print(f"seed {options.seed}: {options.count} documents, {accepted} of them JSON, {failures.count} failures")
    sys.exit(1 if failures.count else 0)


if __name__ == "__main__":
    main()
