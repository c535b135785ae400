"""Settle a payment against the order it names: pay the order, or say why a person must look."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from orders import paying
from orders.lookup import OwedOrder, find_locked
from orders.models import OrderStatus
from payments import told_twice
from payments.ledger import Payment
from payments.models import ConflictReason


@dataclass(frozen=True, slots=True, kw_only=True)
class Payee:
    """Whom a callback pays by its endpoint: nothing that the message itself could choose."""

    merchant_id: int
    merchant_code: str
    account_no: str
    endpoint: str


class OrderVanished(RuntimeError):
    """The order was there a moment ago; orders are never deleted, so this is a fault of ours."""


def disagreement(payment: Payment, order: OwedOrder | None, payee: Payee) -> ConflictReason | None:
    """What of the payment does not fit the account and the order, whatever the order's status."""
    if payment.stated_account_no and payment.stated_account_no != payee.account_no:
        return ConflictReason.MERCHANT_MISMATCH
    if order is None:
        return None
    if order.payable_through and order.payable_through != payee.endpoint:
        return ConflictReason.MERCHANT_MISMATCH
    if payment.money.currency != order.money.currency:
        return ConflictReason.CURRENCY_MISMATCH
    if payment.money.amount_minor != order.money.amount_minor:
        return ConflictReason.AMOUNT_MISMATCH
    return None


def settle(
    payment: Payment, order: OwedOrder, payee: Payee, *, now: datetime
) -> ConflictReason | None:
    """Pay the order with a payment that agrees with it.

    Returns None if the order is PAID by it now, else why it could not be. Of two racing
    payments one gets None; the loser's reason is read under the order's lock.
    """
    if _pay(payment, order, payee, now=now):
        return None
    present = find_locked(payee.merchant_id, order.order_no)
    if present is None:
        raise OrderVanished(order.order_no)
    match present.status:
        case OrderStatus.CLOSED:
            return ConflictReason.LATE_PAYMENT
        case OrderStatus.PAID | OrderStatus.REFUNDED:
            if told_twice.may_be_one(
                payee.merchant_id, payee.endpoint, payment.txn_no, present.paid_txn_no
            ):
                return ConflictReason.PERHAPS_TOLD_TWICE
            return ConflictReason.DUPLICATE_PAYMENT
        case OrderStatus.WAIT_PAY:
            # The update saw an uncommitted row that came back to WAIT_PAY; the lock is ours now.
            if _pay(payment, order, payee, now=now):
                return None
            raise OrderVanished(order.order_no)


def expected_side(order: OwedOrder | None, payee: Payee) -> Mapping[str, Any]:
    """What we knew, for a person to hold beside what came."""
    ours: dict[str, Any] = {"merchant": payee.merchant_code, "account_no": payee.account_no}
    if order is not None:
        ours |= {
            "order_no": order.order_no,
            "amount_minor": order.money.amount_minor,
            "currency": order.money.currency,
            "order_status": order.status,
            "paid_txn_no": order.paid_txn_no,
            "payable_through": order.payable_through or "any account",
        }
    return ours


def received_side(payment: Payment, payee: Payee) -> Mapping[str, Any]:
    """What the provider said, in the same words as the expected side."""
    return {
        "endpoint": payee.endpoint,
        "account_no": payment.stated_account_no,
        "txn_no": payment.txn_no,
        "order_no": payment.order_no,
        "amount_minor": payment.money.amount_minor,
        "currency": payment.money.currency,
        "occurred_at": payment.occurred_at.isoformat(),
    }


def _pay(payment: Payment, order: OwedOrder, payee: Payee, *, now: datetime) -> bool:
    return paying.pay(
        order,
        merchant_code=payee.merchant_code,
        txn_no=payment.txn_no,
        paid_at=payment.occurred_at,
        now=now,
    )
