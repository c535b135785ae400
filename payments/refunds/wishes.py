"""What is asked for when a refund is, and why it may not be had."""

from dataclasses import dataclass

from orders.money import Money
from payments.clients.port import NumberRule
from payments.models import Refund


class NoSuchOrder(LookupError):
    """The merchant has no order of this number."""


class NotRefundable(Exception):
    """There is no payment that this could give back; the message says why."""


class RefundNoNotTaken(ValueError):
    """The payment's provider takes no refund numbers of this form; nothing was recorded."""

    def __init__(self, endpoint: str, rule: NumberRule) -> None:
        super().__init__(f"{endpoint} takes {rule.words} only.")


class RefundExceeds(Exception):
    """More than is left of the payment; `left` is what could be refunded now."""

    def __init__(self, left: Money) -> None:
        super().__init__(f"{left} of the payment can be refunded")
        self.left = left


class RefundExists(Exception):
    """The number belongs to a refund with other content; `differing` names what differs."""

    def __init__(self, refund_no: str, differing: tuple[str, ...]) -> None:
        super().__init__(f"refund {refund_no} exists with other {', '.join(differing)}")
        self.differing = differing


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked for. Money None is all that is left; payment "" is the one that paid."""

    order_no: str
    refund_no: str
    money: Money | None
    payment: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Requested:
    """The refund as it stands, and whether an earlier call asked for it."""

    refund: Refund
    repeated: bool


def repeated(refund: Refund, asked: Asked) -> Requested:
    """The refund that has this number. Raises RefundExists if it is not what is asked for."""
    given = None if asked.money is None else asked.money.amount_minor
    currency = refund.currency if asked.money is None else asked.money.currency
    same = {
        "order_no": refund.order_no == asked.order_no,
        "amount": (refund.asked_minor, refund.currency) == (given, currency),
        "payment": asked.payment in ("", refund.payment.txn_no),
        "reason": refund.reason == asked.reason,
    }
    differing = tuple(name for name, is_same in same.items() if not is_same)
    if differing:
        raise RefundExists(refund.refund_no, differing)
    return Requested(refund, repeated=True)
