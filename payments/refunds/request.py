"""Ask for a refund: the room is reserved and the refund recorded, or neither."""

from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import Q
from django.utils.translation import gettext_noop as _

from orders.models import Merchant, Order
from orders.money import Money
from payments.clients.choice import Choice
from payments.models import (
    Disposition,
    ProviderAccount,
    ProviderTransaction,
    Refund,
    TransactionKind,
)
from payments.refunds import events, room, wishes
from payments.refunds.asking import ClientFor
from payments.refunds.wishes import (
    Asked,
    NoSuchOrder,
    NotRefundable,
    RefundExceeds,
    RefundExists,
    RefundNoNotTaken,
    Requested,
)
from payments.saying import says

__all__ = [
    "Asked",
    "NoSuchOrder",
    "NotRefundable",
    "RefundExceeds",
    "RefundExists",
    "RefundNoNotTaken",
    "Requested",
    "enter",
    "give_back",
    "request",
]

# Inserted without its amount's room first: the unique number decides who asks, then the room.
_INSERT_SQL: Final = """
    INSERT INTO payments_refund
           (merchant_id, account_id, payment_id, order_id, refund_no, amount_minor, asked_minor,
            currency, reason, status, provider_refund_no, fence, asks, why, due_at, requested_at,
            version)
    VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, 'REQUESTED', '', 0, 0, '', clock_timestamp(), %s,
            1)
        ON CONFLICT (merchant_id, refund_no) DO NOTHING
 RETURNING id
"""


def _any_client(_: ProviderAccount) -> Choice:
    return Choice(None)


@transaction.atomic(durable=True)
def request(
    *, merchant: Merchant, asked: Asked, now: datetime, client_for: ClientFor = _any_client
) -> Requested:
    """`enter` in a transaction of its own."""
    return enter(merchant=merchant, asked=asked, now=now, client_for=client_for)


def enter(
    *, merchant: Merchant, asked: Asked, now: datetime, client_for: ClientFor = _any_client
) -> Requested:
    """Reserve the room and record the refund, in the caller's transaction; it is sent later.

    The same number with the same content is the same refund. `client_for` says why refunds of an
    account cannot be sent, and which numbers they may have. Raises NoSuchOrder, NotRefundable,
    RefundNoNotTaken, RefundExceeds, and RefundExists.
    """
    known = _find(merchant, asked.refund_no)
    if known is not None:
        return wishes.repeated(known, asked)
    order = Order.objects.filter(merchant=merchant, order_no=asked.order_no).first()
    if order is None:
        raise NoSuchOrder(asked.order_no)
    payment = room.lock(_payment_id(merchant, order, asked))
    return _enter(payment, asked, now=now, client_for=client_for)


def give_back(
    payment: ProviderTransaction,
    *,
    refund_no: str,
    reason: str,
    now: datetime,
    part: Money | None = None,
    client_for: ClientFor = _any_client,
) -> Requested:
    """As `enter`, for a payment that the caller holds, with or without order.

    `part` None is all that is left of it.

    Raises NotRefundable, RefundNoNotTaken, RefundExceeds, and RefundExists.
    """
    asked = Asked(
        order_no=payment.order_no,
        refund_no=refund_no,
        money=part,
        reason=reason,
        payment=payment.txn_no,
    )
    return _enter(payment, asked, now=now, client_for=client_for)


def _enter(
    payment: ProviderTransaction, asked: Asked, *, now: datetime, client_for: ClientFor
) -> Requested:
    merchant = payment.merchant
    known = _find(merchant, asked.refund_no)
    if known is not None:  # Asked for by whoever held the payment until now: its room is taken.
        return wishes.repeated(known, asked)
    way = client_for(payment.account)
    if way.why:
        raise NotRefundable(
            says(_("%(account)s: %(why)s."), account=payment.account.endpoint, why=way.why)
        )
    if not way.refund_no.allows(asked.refund_no):
        raise RefundNoNotTaken(payment.account.endpoint, way.refund_no)
    money = _money(payment, asked)
    refund_id = _insert(payment, asked, money, now=now)
    if refund_id is None:
        found = _find(merchant, asked.refund_no)
        assert found is not None  # noqa: S101 - the insert has waited for its commit
        return wishes.repeated(found, asked)
    if not room.move(payment, reserved=money.amount_minor, at=now, now=now):
        raise RefundExceeds(_left(payment))
    refund = Refund.objects.get(pk=refund_id)
    events.tell_refund("requested", refund, payment, now=now)
    return Requested(refund, repeated=False)


def _find(merchant: Merchant, refund_no: str) -> Refund | None:
    refunds = Refund.objects.select_related("payment", "order")
    return refunds.filter(merchant=merchant, refund_no=refund_no).first()


def _payment_id(merchant: Merchant, order: Order, asked: Asked) -> int:
    # Those it was paid with or that name it; a payment may have been matched to another order.
    payments = ProviderTransaction.objects.filter(
        Q(order=order) | Q(order=None, order_no=order.order_no),
        merchant=merchant,
        kind=TransactionKind.PAYMENT,
    )
    if asked.payment:
        found = payments.filter(txn_no=asked.payment)
    else:
        found = payments.filter(order=order, disposition=Disposition.APPLIED)
    ids = list(found.values_list("pk", flat=True)[:2])
    if not ids:
        named = f"{asked.payment} is no payment of" if asked.payment else "no payment has paid"
        raise NotRefundable(f"{named} order {order.order_no}.")
    if len(ids) > 1:
        raise NotRefundable(f"{asked.payment} is a payment of several accounts.")
    return ids[0]


def _money(payment: ProviderTransaction, asked: Asked) -> Money:
    left = _left(payment)
    money = left if asked.money is None else asked.money
    if money.currency != payment.currency:
        raise NotRefundable(f"The payment is in {payment.currency}.")
    if not 0 < money.amount_minor <= left.amount_minor:
        raise RefundExceeds(left)
    return money


def _left(payment: ProviderTransaction) -> Money:
    return Money(room.left(payment), payment.currency)


def _insert(
    payment: ProviderTransaction, asked: Asked, money: Money, *, now: datetime
) -> int | None:
    given = None if asked.money is None else asked.money.amount_minor
    with connection.cursor() as cursor:
        cursor.execute(
            _INSERT_SQL,
            [
                *(payment.merchant_id, payment.account_id, payment.pk),
                payment.order_id,
                *(asked.refund_no, money.amount_minor, given, money.currency, asked.reason),
                now,
            ],
        )
        row = cursor.fetchone()
    return None if row is None else int(row[0])
