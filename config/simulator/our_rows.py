"""What the database says of an account at the simulator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from config.simulator.predicted import Payment
from orders.models import Order
from payments.models import (
    Conflict,
    ConflictReason,
    ConflictStatus,
    ProviderAccount,
    ProviderTransaction,
    Refund,
    TransactionKind,
)

#: Open questions that explain amounts which do not agree yet.
_EXPLAINING: Final = (
    ConflictReason.AMOUNT_MISMATCH,
    ConflictReason.REFUND_IN_DOUBT,
    ConflictReason.REFUND_REVERSED,
    ConflictReason.REVERSAL_EXCEEDS_PAYMENT,
    ConflictReason.TRANSACTION_ALTERED,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OurRows:
    """Payments and refunds by their number, orders by theirs; `questions` name transactions."""

    endpoint: str
    payments: Mapping[str, ProviderTransaction]
    reversals: Sequence[ProviderTransaction]
    refunds: Mapping[str, Refund]
    orders: Mapping[str, Order]
    questions: frozenset[str]

    def asks_about(self, payment: Payment) -> bool:
        """Whether a person is asked about its amounts, or what has gone back of it."""
        numbers = {one.number for one in (payment.itself, *payment.refunds, *payment.disputes)}
        return not numbers.isdisjoint(self.questions)


def read(account: ProviderAccount) -> OurRows:
    """All rows of the account, and the orders that its payments name."""
    payments, reversals = {}, []
    for row in ProviderTransaction.objects.filter(account=account):
        if row.kind == TransactionKind.PAYMENT:
            payments[row.txn_no] = row
        else:
            reversals.append(row)
    numbers = {row.order_no for row in payments.values() if row.order_no}
    orders = Order.objects.filter(merchant_id=account.merchant_id, order_no__in=numbers)
    refunds = Refund.objects.filter(account=account)
    open_ = (ConflictStatus.OPEN, ConflictStatus.PROPOSED)
    questions = Conflict.objects.filter(
        transaction__account=account, status__in=open_, reason__in=_EXPLAINING
    )
    return OurRows(
        endpoint=account.endpoint,
        payments=payments,
        reversals=reversals,
        refunds={refund.refund_no: refund for refund in refunds},
        orders={order.order_no: order for order in orders},
        questions=frozenset(questions.values_list("transaction__txn_no", flat=True)),
    )
