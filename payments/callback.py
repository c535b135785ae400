"""The vocabulary of callbacks: what a provider can tell us, free of any provider's format.

A `Callback` that exists is valid. What is authentic but cannot become one is `Unreadable`,
and is kept for a person instead of being refused.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Final

from orders.money import Money

#: Ids of providers and merchants: printable ASCII without spaces, compared as bytes.
PROVIDER_ID: Final = re.compile(r"[!-~]{1,128}", re.ASCII)
ORDER_NO: Final = re.compile(r"[A-Za-z0-9_.:-]{1,64}", re.ASCII)
EVENT_TYPE_LENGTH_MAX: Final = 100
STATED_AMOUNT_LENGTH_MAX: Final = 60
LINKED_NOS_MAX: Final = 8


class Kind(StrEnum):
    """What a callback says happened."""

    PAID = "PAID"
    AUTHORIZED = "AUTHORIZED"
    PENDING = "PENDING"
    FAILED = "FAILED"
    CLOSED = "CLOSED"
    REFUNDED = "REFUNDED"
    REFUND_FAILED = "REFUND_FAILED"
    DISPUTED = "DISPUTED"
    DISPUTE_WON = "DISPUTE_WON"
    DISPUTE_LOST = "DISPUTE_LOST"
    IGNORED = "IGNORED"


class Invalid(ValueError):
    """The values cannot be a callback; the message says which one and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """One fact told by a provider.

    `order_no` and `account_no` are None where this provider's event does not state them.
    `live` is None where the provider has no test mode in the message. `money` is None for
    events without an amount, and for a stated amount that no whole number of minor units
    can express: `stated_amount` then holds the provider's own words. A payment with neither is
    one whose amount only the provider's API tells.

    A refund or a dispute `reverses` the payment of that number. `refund_no` is the number that
    the merchant gave the refund. `cumulative`: the money is all that was refunded so far.
    """

    event_id: str
    event_type: str
    kind: Kind
    txn_no: str = ""
    order_no: str | None = None
    money: Money | None = None
    stated_amount: str = ""
    account_no: str | None = None
    live: bool | None = None
    occurred_at: datetime | None = None
    linked_nos: tuple[str, ...] = ()
    reverses: str = ""
    refund_no: str = ""
    cumulative: bool = False

    @property
    def needs_api(self) -> bool:
        """Whether only the provider's API can tell how much was paid."""
        return self.kind is Kind.PAID and self.money is None and not self.stated_amount

    def __post_init__(self) -> None:
        _require_id("event id", self.event_id)
        if (
            not 0 < len(self.event_type) <= EVENT_TYPE_LENGTH_MAX
            or not self.event_type.isprintable()
        ):
            raise Invalid("the event type is empty, too long or not printable")
        if self.kind is Kind.IGNORED:
            return
        _require_id("transaction number", self.txn_no)
        if self.order_no is not None and not ORDER_NO.fullmatch(self.order_no):
            raise Invalid("the order number is not 1 to 64 characters of A-Z a-z 0-9 _ . : -")
        if self.account_no is not None:
            _require_id("account number", self.account_no)
        if len(self.stated_amount) > STATED_AMOUNT_LENGTH_MAX:
            raise Invalid("the stated amount is too long")
        if self.occurred_at is not None and self.occurred_at.tzinfo is None:
            raise Invalid("a time without a zone")
        if len(self.linked_nos) > LINKED_NOS_MAX:
            raise Invalid("too many linked ids")
        for number in (*self.linked_nos, *filter(None, (self.reverses, self.refund_no))):
            _require_id("linked id", number)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """An authentic item that cannot become a Callback: `why` is shown to people, never secret."""

    why: str
    event_id: str = ""


Reading = Callback | Unreadable


class Outcome(StrEnum):
    """What became of an authentic delivery; every delivery has exactly one."""

    APPLIED = "APPLIED"
    DUPLICATE = "DUPLICATE"
    CONFLICT = "CONFLICT"
    PARKED = "PARKED"
    HELD = "HELD"
    QUARANTINED = "QUARANTINED"
    RECORDED = "RECORDED"
    IGNORED = "IGNORED"


def _require_id(name: str, value: str) -> None:
    if not PROVIDER_ID.fullmatch(value):
        raise Invalid(f"the {name} is not 1 to 128 printable ASCII characters without spaces")
