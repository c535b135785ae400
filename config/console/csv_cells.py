"""The cells of CSV files: exact values, and text that no spreadsheet takes for a formula."""

import csv
import io
import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from config.console import text
from orders.money import Money, NotMoney

#: What begins a formula, by itself or in a wider or narrower form of the letter; and what a
#: spreadsheet skips before one.
_BEGINS_FORMULA: Final = frozenset("=+-@\u2212")
_SKIPPED: Final = frozenset("\t\r\n")
#: Where a list is kept with semicolons or tabs, a spreadsheet begins another cell after one.
_APART: Final = re.compile(r"(?<=[;\t])(?=\s*(\S))")


def safe(value: str) -> str:
    """Text as it was, with what is invisible spelled out, and an apostrophe before a formula."""
    shown = text.visible(value)
    shown = _APART.sub(lambda found: "'" if _begins(found[1]) else "", shown)
    return f"'{shown}" if _begins(shown.lstrip()[:1]) or shown[:1] in _SKIPPED else shown


def _begins(letter: str) -> bool:
    return unicodedata.normalize("NFKC", letter)[:1] in _BEGINS_FORMULA


def cell(value: Any) -> str:
    """Times as ISO 8601 in UTC, digests in hex, what is not there as nothing."""
    match value:
        case None:
            return ""
        case bool() | int():
            return str(value).lower()
        case datetime():
            return value.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
        case bytes() | memoryview():
            return bytes(value).hex()
        case _:
            return safe(_words(value))


def _words(value: Any) -> str:
    if isinstance(value, list):
        return " ".join(str(part) for part in value)
    if isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False, sort_keys=True)
    return str(value)


def major(amount_minor: int | None, currency: str) -> str:
    """An amount in major units with all its decimals; nothing where its currency has no exponent.

    The cell beside it has the minor units in any case.
    """
    if amount_minor is None:
        return ""
    try:
        return Money(amount_minor, currency).major
    except NotMoney:
        return ""


def lines(rows: Iterable[Sequence[str]]) -> bytes:
    """Rows as RFC 4180 has them, in UTF-8."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue().encode()
