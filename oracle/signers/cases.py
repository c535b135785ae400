"""What the signers share: seeded chance, the lines they write, and how a run of N is put together.

Plain Python: this runs in every environment. A line is a document of the samples' format
(`tests/vectors`) with a single case.
"""

import base64
import json
import random
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from importlib.metadata import version
from typing import Any

#: The first second of 2026: certificates that are made here are valid around it.
EPOCH = 1767225600
URL = "https://pay.example.test/callbacks/acct1"
#: How many of a run's cases are plain and genuine, beside one of each kind.
GENUINE_SHARE = 0.4

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_TEXTS = (
    "",
    " ",
    "plain",
    "Café ☕",
    "订单 一千",
    "заказ",
    "مرحبا",
    "\u202eright",
    "e\u0301",
    "😀👩‍👩‍👧",
    "a&b=c%20+d",
    'say "hi"',
    "back\\slash",
    "tab\tand\nline",
    "</script>",
    "/path/",
    "\u2028",
    "\ufeff",
    "\x7f",
    "00042",
    "1e400",
)


@dataclass(frozen=True)
class Currency:
    """A currency, the decimals that the provider writes and those of ISO 4217."""

    code: str
    wire: int
    iso: int


@dataclass(frozen=True)
class Case:
    """One callback; `normalized` is what it says, where its signer says it can be read."""

    config: Mapping[str, Any]
    headers: Sequence[tuple[str, str]]
    body: bytes
    now: int
    normalized: Any = None
    url: str = URL
    kind: str = ""
    #: What the SDK said, where it was asked while the case was made.
    verdict: str = ""

    def with_headers(self, **changes: str | None) -> "Case":
        """Headers replaced by name (``_`` for ``-``), whatever the case; None removes one."""
        wanted = {name.replace("_", "-").lower(): value for name, value in changes.items()}
        kept = [(n, wanted.pop(n.lower(), v)) for n, v in self.headers]
        return replace(self, headers=[(n, v) for n, v in kept if v is not None])

    def header(self, name: str) -> str | None:
        """The header's value, or None."""
        return next((v for n, v in self.headers if n.lower() == name.lower()), None)


@dataclass(frozen=True)
class Signer:
    """One provider as one SDK speaks it."""

    provider: str
    #: "package" of the SDK, or what else judges.
    tool: str
    genuine: Callable[["Chance"], Case]
    #: The SDK's verdict: true, false, or it raises.
    verify: Callable[[Case], object]
    #: Other kinds of callbacks, by name: spoiled, or odd.
    kinds: Mapping[str, Callable[["Chance"], Case]] = field(default_factory=dict)


class Chance(random.Random):
    """Random values that callbacks are made of."""

    def word(self, length: int = 12) -> str:
        """Letters and digits."""
        return "".join(self.choices(_LETTERS, k=length))

    def digits(self, length: int) -> str:
        """Digits, the first of which is not 0."""
        return str(self.randrange(10 ** (length - 1), 10**length))

    def order_no(self) -> str:
        """An order number as merchants make them."""
        return self.choice(["ORDER-", "", "2026_", "so."]) + self.word(self.randint(1, 20))

    def text(self) -> str:
        """Any text at all that JSON can hold."""
        return "".join(self.choices(_TEXTS, k=self.randint(1, 4)))

    def time(self) -> int:
        """A second within a month of `EPOCH`."""
        return EPOCH + self.randint(-(30 * 86400), 30 * 86400)

    def amount(self, currency: Currency) -> tuple[int, str]:
        """An amount: in the provider's minor unit, and as ISO 4217 writes it."""
        units = self.choice(
            [1, 9, 99, 100, 101, 1099, self.randint(1, 10**4), self.randint(1, 10**9)]
        )
        places = min(currency.wire, currency.iso)
        exact = Decimal(units).scaleb(-places)
        return int(exact.scaleb(currency.wire)), f"{exact:.{currency.iso}f}"

    def dumps(self, value: Any) -> bytes:
        """JSON in one of the ways in which it is written."""
        if isinstance(value, dict) and self.random() < 0.5:
            value = {
                **value,
                f"x_{self.word(4)}": self.choice([None, True, 1.5, [], {}, self.text()]),
            }
        indent = self.choice([None, None, 2])
        separators = (",", ":") if indent is None and self.random() < 0.5 else None
        ascii_only = self.random() < 0.5
        text = json.dumps(value, ensure_ascii=ascii_only, indent=indent, separators=separators)
        return (text.replace("/", "\\/") if self.random() < 0.2 else text).encode()

    def flip(self, data: bytes, *apart: bytes) -> bytes:
        """The same but for one bit, which is in none of the parts that are to stay."""
        while True:
            changed = bytearray(data)
            changed[self.randrange(len(data))] ^= 1 << self.randrange(8)
            if all(part in changed for part in apart):
                return bytes(changed)

    def other(self, text: str) -> str:
        """The same but for one letter or digit.

        Not the one before the padding of base64: not all of its bits count.
        """
        counting = text.rstrip("=")[:-1] if text.endswith("=") else text
        places = [n for n, char in enumerate(counting) if char.isalnum()]
        at = self.choice(places)
        return (
            text[:at] + self.choice([c for c in "abcdef012345" if c != text[at]]) + text[at + 1 :]
        )


def reserialised(body: bytes) -> bytes:
    """The same JSON in other bytes."""
    value = json.loads(body)
    candidates = (json.dumps(value, indent=1), json.dumps(value, separators=(",", ":")))
    return next(text.encode() for text in candidates if text.encode() != body)


def verdict_of(call: Callable[[], object]) -> str:
    """What an SDK says, an exception of whatever kind included."""
    try:
        return "valid" if call() else "invalid"
    except Exception as error:  # noqa: BLE001 - SDKs raise what they like
        return f"error:{type(error).__name__}"


def run(*signers: Signer) -> None:
    """Write N cases of each signer, from the arguments: N and the seed."""
    count, seed = int(sys.argv[1]), sys.argv[2]
    for signer in signers:
        names = list(signer.kinds)
        for number in range(count):
            chance = Chance(f"{seed}/{signer.provider}/{signer.tool}/{number}")
            plain = number >= len(names) and chance.random() < GENUINE_SHARE
            name = (
                "genuine"
                if plain or not names
                else names[number]
                if number < len(names)
                else chance.choice(names)
            )
            make = signer.genuine if name == "genuine" else signer.kinds[name]
            print(json.dumps(_line(signer, replace(make(chance), kind=name), number)))


def tool_named(package: str) -> str:
    """The package with its version, or whatever else is named, as it is."""
    try:
        return f"{package} {version(package)}"
    except ModuleNotFoundError:
        return package


def _line(signer: Signer, case: Case, number: int) -> dict[str, Any]:
    verdict = case.verdict or verdict_of(lambda: signer.verify(case))
    valid = verdict == "valid"
    request = {
        "method": "POST",
        "url": case.url,
        "headers": [list(pair) for pair in case.headers],
        "body_b64": base64.b64encode(case.body).decode(),
    }
    return {
        "provider": signer.provider,
        "config": dict(case.config),
        "cases": [
            {
                "name": f"{case.kind}-{number}",
                "kind": case.kind,
                "request": request,
                "now": case.now,
                "expected": {
                    "verdict": "valid" if valid else "invalid",
                    "normalized": case.normalized if valid else None,
                },
                "oracle": {"tool": tool_named(signer.tool), "verdict": verdict},
            }
        ],
    }
