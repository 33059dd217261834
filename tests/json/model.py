"""The semantics of the JSON echo in Python, independent of the server: a machine that takes one octet at a time finds
faults of the grammar, Python's own decoder does UTF-8 and strings, and a small tree gives types and output."""

import json
import re
from dataclasses import dataclass

DEPTH_MAX = 1024
WHITE_SPACE = b" \t\r\n"
DIGITS = b"0123456789"
HEX = b"0123456789abcdefABCDEF"
LITERALS = {b"t"[0]: b"true", b"f"[0]: b"false", b"n"[0]: b"null"}


@dataclass
class Fault(Exception):
    code: str
    offset: int
    pointer: str = ""
    lone_surrogate: bool = False

    def __str__(self):
        return f"{self.code} {self.offset}" + (f" {self.pointer}" if self.code == "type_mismatch" else "")


def find_grammar_fault(text):
    """The first octet that no valid document can have at its place, by a machine with a stack of open brackets."""
    stack = []
    state = "value"  # value, first_value, key, first_key, colon, after
    i = 0
    size = len(text)

    def fail(offset, **more):
        return Fault("invalid_json", offset, **more)

    while i < size:
        octet = text[i]
        if octet in WHITE_SPACE:
            i += 1
            continue
        if state == "after":
            if not stack:
                return fail(i)
            if octet == b","[0]:
                state = "value" if stack[-1] == "]" else "key"
            elif octet == ord(stack[-1]):
                stack.pop()
            else:
                return fail(i)
            i += 1
        elif state == "colon":
            if octet != b":"[0]:
                return fail(i)
            state = "value"
            i += 1
        elif octet == b'"'[0]:
            end = scan_string(text, i + 1)
            if isinstance(end, Fault):
                return end
            state = "colon" if state in ("key", "first_key") else "after"
            i = end
        elif state == "first_key" and octet == b"}"[0] or state == "first_value" and octet == b"]"[0]:
            stack.pop()
            state = "after"
            i += 1
        elif state in ("key", "first_key"):
            return fail(i)
        elif octet in b"[{":
            if len(stack) == DEPTH_MAX:
                return Fault("too_deep", i)
            stack.append("]" if octet == b"["[0] else "}")
            state = "first_value" if octet == b"["[0] else "first_key"
            i += 1
        elif octet in LITERALS:
            for wanted in LITERALS[octet]:
                if i == size or text[i] != wanted:
                    return fail(i)
                i += 1
            state = "after"
        else:
            end = scan_number(text, i)
            if isinstance(end, Fault):
                return end
            i = end
            state = "after"
    return None if state == "after" and not stack else fail(size)


def scan_string(text, i):
    size = len(text)
    while i < size:
        octet = text[i]
        if octet == b'"'[0]:
            return i + 1
        if octet < 0x20:
            return Fault("invalid_json", i)
        if octet != b"\\"[0]:
            i += 1
            continue
        backslash = i
        i += 1
        if i == size:
            break
        if text[i] in b'"\\/bfnrt':
            i += 1
            continue
        if text[i] != b"u"[0]:
            return Fault("invalid_json", i)
        for i in range(backslash + 2, backslash + 6):
            if i >= size or text[i] not in HEX:
                return Fault("invalid_json", min(i, size))
        unit = int(text[backslash + 2:backslash + 6], 16)
        i = backslash + 6
        if 0xDC00 <= unit <= 0xDFFF:
            return Fault("invalid_json", backslash, lone_surrogate=True)
        if 0xD800 <= unit <= 0xDBFF:
            for wanted in (b"\\", b"u", b"dD", b"cdefCDEF", HEX, HEX):
                if i == size:
                    return Fault("invalid_json", size, lone_surrogate=True)
                if text[i] not in wanted:
                    return Fault("invalid_json", backslash, lone_surrogate=True)
                i += 1
    return Fault("invalid_json", size)


def scan_number(text, i):
    """Follows -? (0|[1-9]d*) (.d+)? ([eE][-+]?d+)?, state by state."""
    size = len(text)
    state = "start"
    while i < size:
        octet = text[i]
        if state == "start" and octet == b"-"[0]:
            state = "minus"
        elif state in ("start", "minus") and octet in DIGITS:
            state = "zero" if octet == b"0"[0] else "integer"
        elif state in ("integer", "fraction", "exponent") and octet in DIGITS:
            pass
        elif state in ("zero", "integer") and octet == b"."[0]:
            state = "point"
        elif state == "point" and octet in DIGITS:
            state = "fraction"
        elif state in ("zero", "integer", "fraction") and octet in b"eE":
            state = "e"
        elif state == "e" and octet in b"+-":
            state = "sign"
        elif state in ("e", "sign") and octet in DIGITS:
            state = "exponent"
        else:
            break
        i += 1
    return i if state in ("zero", "integer", "fraction", "exponent") else Fault("invalid_json", i)


def find_fault(text):
    """The first fault that does not depend on types, or None."""
    if not text.strip(WHITE_SPACE):
        return Fault("empty_body", len(text))
    faults = []
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        faults.append(Fault("invalid_utf8", error.start))
    grammar_fault = find_grammar_fault(text)
    if grammar_fault:
        faults.append(grammar_fault)
    return min(faults, key=lambda fault: fault.offset, default=None)  # the first of equals is invalid_utf8


# Trees of well-formed documents


@dataclass
class Node:
    kind: str  # object, array, string, number, literal
    offset: int
    value: object  # [(key, Node)], [Node], str, or the text


TOKEN = re.compile(rb'[ \t\r\n]*(?:([\[\]{},:])|("(?:[^"\\]|\\.)*")|(-?[0-9][-+.eE0-9]*)|(true|false|null))', re.DOTALL)


def parse(text):
    """The tree of a document without a fault; iterative, for depth."""
    stack = []
    root = None
    key = None
    at = 0
    end = len(text.rstrip(WHITE_SPACE))
    while at < end:
        match = TOKEN.match(text, at)
        at = match.end()
        mark, string, number, literal = match.groups()
        if mark in (b",", b":"):
            continue
        if mark in (b"]", b"}"):
            stack.pop()
            continue
        if string is not None:
            node = Node("string", match.start(2), json.loads(string))
            if stack and stack[-1].kind == "object" and key is None:
                key = node.value
                continue
        elif number is not None:
            node = Node("number", match.start(3), number.decode())
        elif literal is not None:
            node = Node("literal", match.start(4), literal.decode())
        else:
            node = Node("array" if mark == b"[" else "object", match.start(1), [])
        if not stack:
            root = node
        elif stack[-1].kind == "array":
            stack[-1].value.append(node)
        else:
            stack[-1].value.append((key, node))
            key = None
        if node.kind in ("array", "object"):
            stack.append(node)
    return root


def quoted(string):
    return json.dumps(string, ensure_ascii=False)


def rewritten(node):
    """What generic mode writes."""
    if node.kind == "array":
        return "[" + ",".join(map(rewritten, node.value)) + "]"
    if node.kind == "object":
        return "{" + ",".join(f"{quoted(key)}:{rewritten(value)}" for key, value in node.value) + "}"
    return quoted(node.value) if node.kind == "string" else node.value


# Typed mode


def folded(key):
    return "".join(chr(ord(c) + 32) if "A" <= c <= "Z" else c for c in key)


def is_null(node):
    return node.kind == "literal" and node.value == "null"


def mismatch(node, pointer):
    return Fault("type_mismatch", node.offset, pointer)


class Body:
    """What typed mode makes of a tree; raises the first type_mismatch in document order."""

    def __init__(self, node):
        self.colors = None
        self.has_repeated_list = False  # for references that decode such a list over the one before
        self.has_long_s = False
        if not is_null(node):
            self.read_members(node, "", {"colors": self.read_colors})

    def read_members(self, node, pointer, readers):
        if node.kind != "object":
            raise mismatch(node, pointer)
        seen = set()
        for key, value in node.value:
            name = folded(key)
            self.has_long_s |= "\u017f" in key
            if name in readers:
                self.has_repeated_list |= name in ("colors", "rgba") and name in seen
                seen.add(name)
                readers[name](value, f"{pointer}/{key}")

    def read_colors(self, node, pointer):
        if is_null(node):
            self.colors = None
            return
        if node.kind != "array":
            raise mismatch(node, pointer)
        self.colors = []
        for index, element in enumerate(node.value):
            color = {"color": "", "category": "", "type": "", "code": {"rgba": [], "hex": ""}}
            self.colors.append(color)
            if not is_null(element):
                self.read_color(color, element, f"{pointer}/{index}")

    def read_color(self, color, node, pointer):
        readers = {name: self.string_reader(color, name) for name in ("color", "category", "type")}
        readers["code"] = lambda value, where: self.read_code(color["code"], value, where)
        self.read_members(node, pointer, readers)

    def read_code(self, code, node, pointer):
        if not is_null(node):
            self.has_repeated_list |= bool(code["rgba"]) and node.kind == "object"
            self.read_members(node, pointer, {"rgba": lambda value, where: self.read_rgba(code, value, where),
                                              "hex": self.string_reader(code, "hex")})

    @staticmethod
    def string_reader(owner, name):
        def read(node, pointer):
            if node.kind == "string":
                owner[name] = node.value
            elif not is_null(node):
                raise mismatch(node, pointer)
        return read

    @staticmethod
    def read_rgba(code, node, pointer):
        code["rgba"] = []
        if is_null(node):
            return
        if node.kind != "array":
            raise mismatch(node, pointer)
        for index, element in enumerate(node.value):
            if is_null(element):
                code["rgba"].append(0)
            elif element.kind == "number" and re.fullmatch("-?[0-9]+", element.value) \
                    and -2**63 <= int(element.value) < 2**63:
                code["rgba"].append(int(element.value))
            else:
                raise mismatch(element, f"{pointer}/{index}")

    def text(self):
        if self.colors is None:
            return '{"colors":null}'
        return '{"colors":[' + ",".join(map(self.color_text, self.colors)) + "]}"

    @staticmethod
    def color_text(color):
        code = []
        if color["code"]["rgba"]:
            code.append('"rgba":[' + ",".join(map(str, color["code"]["rgba"])) + "]")
        if color["code"]["hex"]:
            code.append('"hex":' + quoted(color["code"]["hex"]))
        members = [f'"{name}":{quoted(color[name])}' for name in ("color", "category", "type") if color[name]]
        return "{" + ",".join(members + ['"code":{' + ",".join(code) + "}"]) + "}"
