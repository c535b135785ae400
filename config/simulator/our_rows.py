"""What the database says of an account at the simulator."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.db.models import QuerySet

from config.simulator.predicted import Thing
from orders.models import Order
from payments.models import (
    Conflict,
    ConflictReason,
    ConflictStatus,
    ProviderAccount,
    ProviderTransaction,
    Refund,
    Resolution,
    TransactionKind,
)

#: Open questions about a refund or dispute that explain that it does not count, or not wholly.
_ABOUT_ROWS: Final = (
    ConflictReason.CURRENCY_MISMATCH,
    ConflictReason.MERCHANT_MISMATCH,
    ConflictReason.REFUND_REVERSED,
    ConflictReason.REVERSAL_EXCEEDS_PAYMENT,
    ConflictReason.TRANSACTION_ALTERED,
)
#: Those about a refund that was asked for here; their subject begins with its id.
_ABOUT_REFUNDS: Final = (ConflictReason.AMOUNT_MISMATCH, ConflictReason.REFUND_IN_DOUBT)


@dataclass(frozen=True, slots=True, kw_only=True)
class OurRows:
    """Payments and refunds by their number, orders by theirs.

    `questioned` are the numbers of refunds and disputes that an open question explains, and
    `asked_about` the rows that a person was ever asked about. `elsewhere` are the numbers of
    payments of the merchant's other accounts that paid these orders. `matched` are the orders that
    people found for payments which name none, or another.
    """

    endpoint: str
    payments: Mapping[str, ProviderTransaction]
    reversals: Sequence[ProviderTransaction]
    refunds: Mapping[str, Refund]
    orders: Mapping[str, Order]
    questioned: frozenset[str]
    asked_about: frozenset[int]
    elsewhere: frozenset[str]
    matched: Mapping[int, Order]

    def order_of(self, row: ProviderTransaction, named: str) -> Order | None:
        """The order that a payment should pay: the one it was matched to, else the one it names."""
        return self.matched.get(row.pk) or self.orders.get(named)

    def asks_about(self, thing: Thing) -> bool:
        """Whether an open question explains what became of this refund or dispute."""
        return not {thing.number, thing.refund_no}.isdisjoint(self.questioned - {""})


def read(account: ProviderAccount, order_nos: Collection[str]) -> OurRows:
    """All rows of the account, and the orders that its payments or the books name."""
    payments, reversals = {}, []
    for row in ProviderTransaction.objects.filter(account=account).select_related("order"):
        if row.kind == TransactionKind.PAYMENT:
            payments[row.txn_no] = row
        else:
            reversals.append(row)
    numbers = {row.order_no for row in payments.values() if row.order_no}.union(order_nos)
    orders = Order.objects.filter(merchant_id=account.merchant_id, order_no__in=numbers)
    refunds = list(Refund.objects.filter(account=account))
    asked = Conflict.objects.filter(transaction__account=account)
    others = ProviderTransaction.objects.filter(
        merchant_id=account.merchant_id, kind=TransactionKind.PAYMENT, order__in=orders
    ).exclude(account=account)
    by_hand = frozenset(
        asked.filter(status=ConflictStatus.RESOLVED, decision=Resolution.MATCH).values_list(
            "transaction_id", flat=True
        )
    )
    return OurRows(
        endpoint=account.endpoint,
        payments=payments,
        reversals=reversals,
        refunds={refund.refund_no: refund for refund in refunds},
        orders={order.order_no: order for order in orders},
        questioned=frozenset(_questioned(asked, {refund.pk: refund for refund in refunds})),
        asked_about=frozenset(asked.values_list("transaction_id", flat=True)),
        elsewhere=frozenset(others.values_list("txn_no", flat=True)),
        matched={row.pk: row.order for row in payments.values() if row.order and row.pk in by_hand},
    )


def _questioned(asked: QuerySet[Conflict], refunds: Mapping[int, Refund]) -> Iterator[str]:
    open_ = asked.filter(status__in=(ConflictStatus.OPEN, ConflictStatus.PROPOSED))
    rows = open_.filter(reason__in=_ABOUT_ROWS).exclude(transaction__kind=TransactionKind.PAYMENT)
    yield from rows.values_list("transaction__txn_no", flat=True)
    doubts = open_.filter(reason__in=_ABOUT_REFUNDS, subject__startswith="refund:")
    for subject in doubts.values_list("subject", flat=True):
        yield refunds[int(subject.split(":")[1])].refund_no
