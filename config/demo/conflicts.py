"""Conflicts of many kinds to practise on, each caused by what a provider may really send."""

import uuid
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Final, NamedTuple

from config.demo.practice import AMOUNT, Practice, payment_no
from config.demo.scenes import ServiceRefused
from config.demo.shop import MERCHANT
from payments import sweep
from payments.models import Conflict, Disposition, ProviderTransaction
from payments.refunds import sweep as refunds_sweep

CONFLICTS_MAX: Final = 200


class Made(NamedTuple):
    """One conflict: what happened in the field, and the row that asks about it."""

    title: str
    conflict: Conflict


Play = Callable[[Practice, str], None]


def make(practice: Practice, number: int) -> Iterator[Made]:
    """So many conflicts, of all kinds in turn. Raises ServiceRefused, httpx2.TransportError."""
    for title, play in islice(cycle(_SCENES), number):
        order_no = f"DEMO-{uuid.uuid4().hex[:8]}"
        before = _newest_id()
        play(practice, order_no)
        opened = Conflict.objects.filter(merchant__code=MERCHANT, pk__gt=before).order_by("pk")
        conflict = opened.first()
        if conflict is None:
            raise ServiceRefused(f"no conflict came of {title!r}; does a policy decide it?")
        yield Made(title, conflict)


def _newest_id() -> int:
    return Conflict.objects.order_by("-pk").values_list("pk", flat=True).first() or 0


def _too_little(practice: Practice, order_no: str) -> None:
    practice.stage.place(order_no)
    practice.pay(order_no, 1000)


def _too_much(practice: Practice, order_no: str) -> None:
    practice.stage.place(order_no)
    practice.pay(order_no, 10990)


def _other_currency(practice: Practice, order_no: str) -> None:
    practice.stage.place(order_no)
    practice.pay(order_no, currency="EUR")


def _late(practice: Practice, order_no: str) -> None:
    practice.stage.place(order_no)
    practice.stage.close(order_no)
    practice.pay(order_no)


def _twice(practice: Practice, order_no: str) -> None:
    practice.stage.place(order_no)
    practice.pay(order_no)
    practice.pay(order_no)


def _altered(practice: Practice, order_no: str) -> None:
    practice.stage.place(order_no)
    txn_no = payment_no()
    practice.tell_paid(order_no, txn_no=txn_no)
    practice.tell_paid(order_no, 1999, txn_no=txn_no)


def _refunded_elsewhere(practice: Practice, order_no: str) -> None:
    practice.stage.place(order_no)
    practice.refund(order_no, practice.pay(order_no), 500)


def _refunded_too_much(practice: Practice, order_no: str) -> None:
    practice.stage.place(order_no)
    txn_no = payment_no()
    practice.tell_paid(order_no, txn_no=txn_no)
    practice.tell_refunded(order_no, txn_no, 5000)


def _no_order(practice: Practice, order_no: str) -> None:
    practice.stage.place(order_no)
    _ask_now(practice, sweep.ask, txn_no=practice.pay(f"{order_no}0"))


def _refund_of_nothing(practice: Practice, order_no: str) -> None:
    txn_no = payment_no()
    practice.tell_refunded(order_no, txn_no, 500)
    _ask_now(practice, refunds_sweep.ask, reverses_no=txn_no)


def _told_twice(practice: Practice, order_no: str) -> None:
    practice.stage.place(order_no)
    for event in (
        practice.stripe.session_paid(order_no, AMOUNT),
        practice.stripe.payment_succeeded(order_no, AMOUNT),
    ):
        practice.taken(practice.stripe.send(event, client=practice.stage.sender))


def _ask_now(practice: Practice, ask: Callable[..., bool], **which: str) -> None:
    """What waits for its order or its payment is asked about without the time of grace."""
    found = ProviderTransaction.objects.filter(
        merchant__code=MERCHANT, disposition=Disposition.PARKED, **which
    )
    for row_id in found.values_list("pk", flat=True):
        ask(row_id, now=practice.clock())


_SCENES: Final[tuple[tuple[str, Play], ...]] = (
    ("The payer sent too little", _too_little),
    ("An amount that lost its decimal point", _too_much),
    ("Paid in another currency", _other_currency),
    ("Paid after the order was closed", _late),
    ("Paid twice", _twice),
    ("One payment, told again with another amount", _altered),
    ("Refunded at the provider by somebody there", _refunded_elsewhere),
    ("A payment whose order number has a digit too many", _no_order),
    ("Perhaps one payment, told under two numbers", _told_twice),
    ("More refunded than was paid", _refunded_too_much),
    ("A refund of a payment that nobody knows", _refund_of_nothing),
)
