"""Hostile values, the same for the same seed: nearly ids of every scheme, and what is none."""

import datetime
import decimal
import uuid
from random import Random
from typing import Any

from django_sortable_ids.schemes import Scheme, TimeScheme, all_schemes

ALL = [scheme for scheme in all_schemes() if scheme.name != "uuid1"]
PREFIXES = ["prod_", "prod:", "ord_", "ord:", "bas_", "vou_", "code_", "pub_", "usr_", "_", ":"]
# ruff: noqa: RUF001 - characters that look like others are what this is about
CHARACTERS = [
    *("\x00", "\n", "\r\n", "\t", " ", "\u00a0", "\u2003", "\u2028", "\ufeff", "\u200b", "\x7f"),
    *("\u202e", "\u2066", "\u0301", "é", "ß", "ı", "ſ", "K", "🦄", "\U0010ffff", "\ufffe"),
    *("\ud800", "\udfff", "\ud83d", "٣", "१", "０", "²", "Ⅷ", "一", "%", "%00", "%ff", "%2F", "%s"),
    *"'\"`\\/.,;?#&=+-~",
    *("//", "..", "../"),
    *("<script>", "{}", "{0}", "${x}", "{{x}}", "[", "]", "(", ")", "*", "|", "^", "$", "@", "!"),
]
TEXTS = [
    *("", " ", "None", "null", "True", "nan", "NaN", "inf", "-inf", "Infinity", "1e400", "0x10"),
    *("1_0", "+1", "-1", "-0", "00", "1.0", "1e5", "٣٣٣", "2**64", "http://[", "https://[::1"),
    *("//", "/store/ulid/", "http://\ud800", "javascript:alert(1)", "file:///etc/passwd"),
    *("' OR 1=1 --", "'; DROP TABLE x; --", "%' OR '%", "$(reboot)", "../../etc/passwd"),
    *("2024-02-30", "0000-00-00", "9999-12-31", "10000-01-01", "2024-01-01T25:00", "24:00", "now"),
    *("urn:uuid:", "{}", "{00000000-0000-0000-0000-000000000000}", "0" * 32, "f" * 32, "z" * 26),
]
NUMBERS = [
    *(0, 1, -1, 2**31, 2**32, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 2**127, 2**128),
    *(10**18, 10**19, 10**400, 10**5000, -(10**5000), 1 << 100_000, True, False),
]
FLOATS = [0.0, -0.0, 1.5, 1e18, 1e308, -1e308, 5e-324, float("nan"), float("inf"), float("-inf")]


class Hostile:
    """One value after another."""

    def __init__(self, seed: object) -> None:
        self.random = Random(f"{seed}")

    def id(self) -> tuple[Scheme, Any]:
        """A right id of any scheme and of any time."""
        scheme = self.random.choice(ALL)
        if isinstance(scheme, TimeScheme):
            first, last = scheme.whole_range
            number = self.random.randint(first, last)
            if scheme.holds(number):
                return scheme, scheme.from_int(number)
        return scheme, scheme.example

    def spelling(self) -> str:
        """A right id in any of its spellings, perhaps with a prefix that it should not have."""
        scheme, value = self.id()
        encoding = self.random.choice([None, *scheme.encodings])
        text = scheme.format(value, encoding)
        if isinstance(value, uuid.UUID):
            text = self.random.choice([text, value.hex, f"{{{value}}}", value.urn])
        if self.random.random() < 0.4:
            text = self.random.choice(PREFIXES) + text
        return text

    def text(self) -> str:
        """Anything that can be typed, and what can't; up to 10,000 characters."""
        kind = self.random.random()
        if kind < 0.2:
            return self.spelling()
        if kind < 0.3:
            return self.random.choice(TEXTS)
        if kind < 0.33:
            return self.random.choice([*CHARACTERS, "x", "9", "0", "Z"]) * self.random.randint(
                1, 10_000 // 8
            )
        if kind < 0.4:
            letters = [*CHARACTERS, *"0129azAZ_-:"]
            return "".join(self.random.choices(letters, k=self.random.randint(1, 40)))
        return self.spoiled(self.spelling())

    def spoiled(self, text: str) -> str:
        """A text that is nearly an id."""
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            at = self.random.randrange(len(text) + 1)
            match self.random.randrange(9):
                case 0:
                    text = text[:at] + self.random.choice(CHARACTERS) + text[at:]
                case 1:
                    text = text[:at] + text[at + 1 :]
                case 2:
                    text = text[:at] + self.random.choice(CHARACTERS) + text[at + 1 :]
                case 3:
                    text = text.swapcase()
                case 4:
                    text = text[::-1]
                case 5:
                    text = text + text[: self.random.randrange(4) + 1]
                case 6:
                    text = self.random.choice(CHARACTERS) + text
                case 7:
                    text = text + self.random.choice(CHARACTERS)
                case 8:
                    text = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
        return text

    def json(self, depth: int = 0) -> Any:
        """Whatever JSON has, nested."""
        kind = self.random.random()
        if kind < 0.55 or depth > 4:
            return self.text()
        if kind < 0.7:
            return self.random.choice([*NUMBERS[:-5], *NUMBERS[-2:], None])
        if kind < 0.8:
            return self.random.choice(FLOATS)
        if kind < 0.9:
            return [self.json(depth + 1) for _ in range(self.random.randrange(4))]
        keys = [self.random.choice(["id", "pk", "", self.text()[:20]]) for _ in range(2)]
        return {key: self.json(depth + 1) for key in keys}

    def value(self) -> Any:
        """Whatever Python has."""
        kind = self.random.random()
        if kind < 0.5:
            return self.text()
        if kind < 0.7:
            return self.json()
        if kind < 0.8:
            return self.id()[1]
        if kind < 0.88:
            return self.random.choice([*NUMBERS, *FLOATS])
        size = self.random.choice([0, 1, 8, 12, 16, 20, 36, 10_000])
        data = self.random.randbytes(size)
        others = [data, bytearray(data), memoryview(data), uuid.uuid4(), uuid.UUID(int=0)]
        others += [uuid.UUID(int=self.random.getrandbits(128)), decimal.Decimal("NaN"), 1j]
        others += [decimal.Decimal(2) ** 70, object(), len, Hostile, range(3), {1, 2}, frozenset()]
        others += [
            datetime.date(2026, 1, 1),
            datetime.datetime.max,  # noqa: DTZ901
            datetime.timedelta(1),
        ]
        others += [datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC), (1, 2), iter([]), slice(1)]
        return self.random.choice(others)
