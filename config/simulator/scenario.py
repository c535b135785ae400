"""What shall go wrong: said per payment, per call, or for the next calls of an account.

`LIMITS` has every switch with its smallest and largest value; times are in seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Final
from urllib.parse import parse_qsl

#: A switch per line: what it does stands in docs/simulator.md.
LIMITS: Final[Mapping[str, tuple[float, float]]] = {
    "drop_reply": (0, 1),
    "lag": (0, 120),
    "status": (400, 599),
    "not_found": (0, 1),
    "decline": (0, 1),
    "wrong_amount": (1, 10**15),
    "pending": (0, 86_400),
    "fail": (0, 86_400),
    "reverse": (0, 86_400),
    "hidden": (0, 86_400),
    "duplicates": (0, 50),
    "delay": (0, 86_400),
    "reorder": (0, 1),
    "drop_callback": (0, 1),
    "forged": (0, 1),
}
_IN_SECONDS: Final = frozenset({"lag", "pending", "fail", "reverse", "hidden", "delay"})


class BadScenario(ValueError):
    """A switch that does not exist, or a value that it cannot have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """The switches that are on. Where None differs from 0, None is off and 0 is "at once"."""

    drop_reply: int = 0
    lag: float = 0
    status: int = 0
    not_found: int = 0
    decline: int = 0
    wrong_amount: int = 0
    pending: float | None = None
    fail: float | None = None
    reverse: float | None = None
    hidden: float = 0
    duplicates: int = 0
    delay: float = 0
    reorder: int = 0
    drop_callback: int = 0
    forged: int = 0
    given: Mapping[str, str] = field(default_factory=dict, compare=False)


def scenario(*sources: Mapping[str, str]) -> Scenario:
    """The scenario of these switches; later sources go before earlier ones. Raises BadScenario."""
    given = {name: value for source in sources for name, value in source.items()}
    values: dict[str, Any] = {name: _value(name, value) for name, value in given.items()}
    return Scenario(**values, given=given)


def switches(given: Mapping[str, str]) -> dict[str, str]:
    """Those of the values that are switches."""
    known = {each.name for each in fields(Scenario)} & LIMITS.keys()
    return {name: value for name, value in given.items() if name in known and value != ""}


def from_header(header: str) -> dict[str, str]:
    """The switches in ``drop_reply, lag=2``; a switch without a value is 1."""
    parts = [part.strip() for part in header.split(",") if part.strip()]
    return {
        name: value or "1"
        for part in parts
        for name, value in parse_qsl(part, keep_blank_values=True) or [(part, "1")]
    }


def _value(name: str, written: str) -> float | int:
    if name not in LIMITS:
        raise BadScenario(f"{name[:40]!r} is no switch; there are: {', '.join(LIMITS)}")
    low, high = LIMITS[name]
    try:
        value = float(written) if name in _IN_SECONDS else int(written)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise BadScenario(f"{name} must be a number from {low:g} to {high:g}")
    return value
