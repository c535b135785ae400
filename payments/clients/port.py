"""The port to a provider's API: four questions, and answers that never confuse unknown with failed.

A client does no more than one request (or one and its retries where a repeat is harmless), with
bounded time, and never inside a database transaction. It raises nothing for what the provider
or the network does: a lost reply is UNKNOWN, which is not REFUSED.
"""

import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from enum import StrEnum
from typing import Final, Protocol

from orders.money import Money
from payments.callback import Callback

#: Within this time every provider shows what it has accepted: earlier, NOT_FOUND proves nothing.
VISIBILITY_WINDOW: Final = timedelta(minutes=10)


class Answer(StrEnum):
    """What a provider said, or did not say."""

    SUCCEEDED = "SUCCEEDED"
    PENDING = "PENDING"
    """Accepted; the end comes later, by callback or when asked again."""
    REFUSED = "REFUSED"
    """Finally: asking again with the same number changes nothing."""
    NOT_FOUND = "NOT_FOUND"
    """The provider knows of no such thing; for a while after a lost request this proves nothing."""
    UNKNOWN = "UNKNOWN"
    """No answer, or one that says nothing: it may or may not have happened. Ask."""


class FoundBy(StrEnum):
    """By what a provider's API finds a payment."""

    TXN_NO = "TXN_NO"
    """The provider's own number for it."""
    ORDER_NO = "ORDER_NO"
    """The merchant's number of the order."""


@dataclass(frozen=True, slots=True)
class NumberRule:
    """Which numbers of ours a provider takes, and the same in words for people."""

    pattern: re.Pattern[str]
    words: str

    def allows(self, number: str) -> bool:
        """Whether the provider takes it."""
        return self.pattern.fullmatch(number) is not None


#: Any number that the service itself takes; every provider without a rule of its own takes these.
ANY_NUMBER: Final = NumberRule(
    re.compile(r"[A-Za-z0-9_.:-]{1,64}", re.ASCII), "1 to 64 characters of A-Z a-z 0-9 _ . : -"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundOrder:
    """What is asked of the provider. `refund_no` is ours, and its idempotency key there."""

    refund_no: str
    payment_txn_no: str
    order_no: str
    linked_nos: tuple[str, ...] = ()
    amount: Money
    payment_amount: Money
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefundAnswer:
    """The state of one refund at the provider. `why` is for people and holds no secret.

    `is_spent`: it was refused because nothing is left to refund, and no refund of this number is
    shown. That is NOT_FOUND while ours may not be shown yet, and a refusal after that.
    """

    answer: Answer
    provider_refund_no: str = ""
    amount: Money | None = None
    why: str = ""
    is_spent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PaymentAnswer:
    """The state of a payment at the provider, in the words of a callback where it has one.

    `raw` is the answer as it came, kept as the evidence of a delivery.
    """

    answer: Answer
    callback: Callback | None = None
    raw: bytes = field(default=b"", repr=False)
    why: str = ""


class StatementUnavailable(RuntimeError):
    """The provider has no statement for that day yet, or could not be asked; try again later."""


class Client(Protocol):
    """One account's access to its provider's API."""

    def query_payment(self, *, txn_no: str, order_no: str) -> PaymentAnswer:
        """Ask for a payment by the provider's number, or by ours where `txn_no` is empty.

        Only by what `Choice.found_by` names; else the answer is UNKNOWN.
        """

    def refund(self, order: RefundOrder) -> RefundAnswer:
        """Ask for a refund. The same `refund_no` again is the same refund."""

    def query_refund(self, order: RefundOrder, *, provider_refund_no: str) -> RefundAnswer:
        """Ask what became of a refund, by its own number at the provider if that is known."""

    def fetch_statement(self, business_date: date) -> bytes:
        """The provider's statement of that day in the account's zone, as it is delivered.

        Raises StatementUnavailable.
        """
