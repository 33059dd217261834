"""Random documents for the differential tests: bodies, any other JSON, and broken ones made of both."""

import random

WHITE_SPACE = " \t\r\n"
PIECES = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\\u", b"\\ud800", b"\\udc00", b"\\u0000", b"null", b"true",
          b"false", b"-", b"0", b"1", b".", b"e", b"E", b"+", b" ", b"\n", b"\t", b"\x00", b"\x1f", b"\x7f", b"\xc3",
          b"\xc3\xa9", b"\xff", b"\xed\xa0\x80", b"\xf0\x9f\x98\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"'", b"/", b"*",
          b"NaN", b"Infinity", b'"colors":', b'"code":', b'"rgba":', b"9223372036854775808"]
CHARACTERS = list("abcdefgXYZ019 /<>&'~") + ["\x7f", "\u00e9", "\u017f", "\u2028", "\u2029", "\ufeff", "\ufffd",
                                             "\uffff", "\U0001f600", "\U0010ffff"]
ESCAPES = [r"\"", r"\\", r"\/", r"\b", r"\f", r"\n", r"\r", r"\t", r"\u0000", r"\u001F", r"\u0041", r"\u00e9", r"\uFFFF",
           r"\u2028", r"\ud83d\uDE00", r"\uDBFF\udfff", r"\u005c", r"\u0022", r"\u017F"]
LONE_SURROGATES = [r"\ud800", r"\udfff", r"\uDC00\uD800", r"\ud800\n"]
INTEGERS = ["0", "-0", "1", "9", "10", "99", "100", "255", "256", "-1", "1234567", "9223372036854775807",
            "-9223372036854775808"]
OTHER_NUMBERS = ["1.0", "0.5", "-0.0", "1e2", "1E+2", "1e400", "-1.5e-30", "9223372036854775808",
                 "-9223372036854775809", "18446744073709551617", "123456789012345678901234567890"]


class Documents:
    """An endless source of documents that depends on nothing but the seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def next(self):
        text = self.body() if self.chance(0.6) else self.value(0)
        if self.chance(0.02):
            text = self.deep()
        octets = (self.space() + text + self.space()).encode("utf-8", "surrogatepass")
        return self.mutated(octets) if self.chance(0.45) else octets

    def chance(self, probability):
        return self.random.random() < probability

    def space(self):
        if self.chance(0.8):
            return ""
        return "".join(self.random.choice(WHITE_SPACE) for _ in range(self.random.randint(1, 20)))

    def joined(self, items, left, right):
        inside = ",".join(self.space() + item + self.space() for item in items)
        return left + (inside or self.space()) + right

    def string(self):
        if self.chance(0.02):
            size = self.random.randint(10, 200)
        else:
            size = self.random.choice([0, 1, 2, 3, 5, 8, 14, 15, 16, 17, 30, 31, 32, 33])
        parts = []
        for _ in range(size):
            draw = self.random.random()
            if draw < 0.9:
                parts.append(self.random.choice(CHARACTERS[:16]))
            elif draw < 0.95:
                parts.append(self.random.choice(CHARACTERS))
            elif draw < 0.998:
                parts.append(self.random.choice(ESCAPES))
            else:
                parts.append(self.random.choice(LONE_SURROGATES))
        return '"' + "".join(parts) + '"'

    def scalar(self):
        draw = self.random.random()
        if draw < 0.4:
            return self.string()
        if draw < 0.6:
            return self.random.choice(INTEGERS)
        if draw < 0.75:
            return self.random.choice(OTHER_NUMBERS)
        return self.random.choice(["null", "true", "false"])

    def value(self, depth):
        draw = self.random.random()
        if depth > 6 or draw < 0.4:
            return self.scalar()
        count = self.random.choice([0, 1, 1, 2, 3, 5])
        if draw < 0.7:
            return self.joined([self.value(depth + 1) for _ in range(count)], "[", "]")
        return self.joined([self.member(self.string(), self.value(depth + 1)) for _ in range(count)], "{", "}")

    def member(self, key, value):
        return key + self.space() + ":" + self.space() + value

    def key(self, name):
        """A spelling of a member's name, and now and then another key."""
        draw = self.random.random()
        if draw < 0.85:
            return f'"{name}"'
        if draw < 0.92:
            return '"' + "".join(self.random.choice([c, c.upper()]) for c in name) + '"'
        if draw < 0.96:
            return '"' + "".join(self.random.choice([c, f"\\u{ord(c):04x}"]) for c in name) + '"'
        if draw < 0.97:
            return '"' + name.replace("s", "\u017f") + '"'
        return self.random.choice(['"colors"', '"color"', '"code"', '"rgba"', '"hex"', '"type "', '"\\/~"', self.string()])

    def due(self, make):
        """What is due at a place, now and then null or something else."""
        draw = self.random.random()
        if draw < 0.93:
            return make()
        return "null" if draw < 0.985 else self.value(4)

    def some(self, names_and_makers):
        members = [self.member(self.key(name), self.due(make)) for name, make in names_and_makers if self.chance(0.8)]
        if self.chance(0.1):
            members.append(self.member(self.string(), self.value(3)))
        if self.chance(0.1) and members:
            name, make = self.random.choice(names_and_makers)
            members.append(self.member(self.key(name), self.due(make)))
        if self.chance(0.1):
            self.random.shuffle(members)
        return self.joined(members, "{", "}")

    def rgba(self):
        count = self.random.choice([0, 1, 3, 4, 4, 4, 5, 6, 12])
        numbers = [self.random.choice(INTEGERS) if self.chance(0.9) else str(self.random.randint(0, 1200))
                   for _ in range(count)]
        return self.joined([number if self.chance(0.98) else self.scalar() for number in numbers], "[", "]")

    def code(self):
        return self.some([("rgba", self.rgba), ("hex", self.string)])

    def color(self):
        return self.some([("color", self.string), ("category", self.string), ("type", self.string), ("code", self.code)])

    def colors(self):
        return self.joined([self.due(self.color) for _ in range(self.random.choice([0, 1, 1, 2, 3, 6]))], "[", "]")

    def body(self):
        return self.some([("colors", self.colors)])

    def deep(self):
        count = self.random.choice([10, 500, 1020, 1021, 1022, 1023, 1024, 1025, 1030])
        unit, close = self.random.choice([("[", "]"), ('{"a":', "}"), ("[[", "]]"), ("[1,[", "]]")])
        count //= len(close)
        left, right = self.random.choice([("", ""), ('{"x":', "}"), ('{"colors":[{"x":', "}]}"), ('{"colors":', "}")])
        return left + unit * count + "0" + close * count + right

    def mutated(self, octets):
        octets = bytearray(octets)
        for _ in range(self.random.choice([1, 1, 1, 2, 4])):
            place = self.random.randint(0, len(octets))
            kind = self.random.randint(0, 5)
            if kind == 0:
                del octets[place:]
            elif kind == 1:
                del octets[place:place + self.random.randint(1, 3)]
            elif kind == 2:
                octets[place:place] = self.random.choice(PIECES)
            elif kind == 3:
                octets[place:place + 1] = self.random.choice(PIECES)
            elif kind == 4:
                octets[place:place + 1] = bytes([self.random.randint(0, 255)])
            else:
                start = self.random.randint(0, len(octets))
                octets[place:place] = octets[start:start + self.random.randint(1, 20)]
        return bytes(octets)
