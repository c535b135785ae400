"""What a stored request comes to when it is taken once more, in words that can be compared."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, NamedTuple

from outbox.models import Event
from payments.models import Confirmation, Delivery, ProviderTransaction

_DIGEST_HEX_LENGTH: Final = 16


class Result(StrEnum):
    """What came of one request."""

    CHANGES = "CHANGES"
    """Something would change; or, after it was carried out, has changed."""
    NOTHING = "NOTHING"
    """Nothing would change, and nothing was written."""
    DIFFERS = "DIFFERS"
    """By now something else would change than was seen; nothing was written."""
    CANNOT = "CANNOT"
    """It cannot be taken once more, or not now."""


class Said(NamedTuple):
    """A verdict on one callback, in words that can be compared."""

    outcome: str
    reason: str

    def __str__(self) -> str:
        return f"{self.outcome} {self.reason}".strip()


@dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One request: the verdicts that it was given, those of now, and the events of now."""

    first: Delivery
    result: Result
    was: Sequence[Said]
    now: Sequence[Said] = ()
    told: Sequence[str] = ()
    why: str = ""

    @property
    def digest(self) -> str:
        """What of it was seen, to be compared with what it comes to later."""
        seen = json.dumps([self.result, self.now, self.told]).encode()
        return hashlib.sha256(seen).hexdigest()[:_DIGEST_HEX_LENGTH]


@dataclass(frozen=True, slots=True)
class Standing:
    """All that a request can move: every move is told, is a fact of the ledger, or is a claim."""

    txn_nos: Sequence[str]
    events: dict[Any, str]
    money: list[dict[str, Any]]
    claims: list[tuple[Any, ...]]


def standing(first: Delivery, txn_nos: Sequence[str], now: datetime) -> Standing:
    """How all of that stands; the events are those of `now`."""
    told = Event.objects.filter(created_at=now).values_list("pk", "type", "aggregate_id")
    named = {"account": first.account_id, "txn_no__in": list(txn_nos)}
    facts = ProviderTransaction.objects.filter(**named)
    return Standing(
        txn_nos=txn_nos,
        events={pk: _named(name, about) for pk, name, about in told},
        money=[dict(row) for row in facts.order_by("pk").values()],
        claims=list(
            Confirmation.objects.filter(**named).order_by("pk").values_list("pk", "status")
        ),
    )


def _named(event_type: str, about: str) -> str:
    """The event, and what it tells of unless that is the number of a row that is made with it."""
    return f"{event_type} {about}" if "/" in about else event_type
