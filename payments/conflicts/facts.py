"""What decides which resolutions fit: plain values, read from rows that somebody else found."""

from dataclasses import dataclass

from orders.models import Order, OrderStatus
from orders.money import Money, NotMoney
from payments.models import (
    Conflict,
    ConflictReason,
    ConflictStatus,
    Disposition,
    ProviderTransaction,
    TransactionKind,
)
from payments.refunds import room


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderFacts:
    """An order as it stands."""

    order_no: str
    status: OrderStatus
    amount_minor: int
    currency: str
    payable_through: str = ""

    @property
    def is_unpaid(self) -> bool:
        """Whether a decision may pay it."""
        return self.status in (OrderStatus.WAIT_PAY, OrderStatus.CLOSED)

    @property
    def shown(self) -> str:
        """What it costs, for people."""
        return shown(self.amount_minor, self.currency)


@dataclass(frozen=True, slots=True, kw_only=True)
class MoneyFacts:
    """A ledger row as it stands. `left_minor`: what of a payment could still be refunded."""

    txn_no: str
    kind: TransactionKind
    disposition: Disposition
    amount_minor: int
    currency: str
    left_minor: int
    endpoint: str

    @property
    def is_undecided(self) -> bool:
        """Whether it is a payment that pays no order and has not gone back."""
        waits = self.disposition in (Disposition.HELD, Disposition.PARKED)
        return self.kind == TransactionKind.PAYMENT and waits

    @property
    def is_untouched(self) -> bool:
        """Whether nothing of it was refunded, promised to a refund, or charged back."""
        return self.left_minor == self.amount_minor

    @property
    def shown(self) -> str:
        """How much it is, for people."""
        return shown(self.amount_minor, self.currency)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """A conflict with its order, its money, and the order to match it to if one is named."""

    reason: ConflictReason
    status: ConflictStatus
    order: OrderFacts | None = None
    money: MoneyFacts | None = None
    target_no: str = ""
    target: OrderFacts | None = None


def shown(amount_minor: int, currency: str) -> str:
    """An amount in major units; in minor ones if its currency is in use no more."""
    try:
        return str(Money(amount_minor, currency))
    except NotMoney:
        return f"{amount_minor} minor units of {currency}"


def of(
    conflict: Conflict,
    money: ProviderTransaction | None,
    order: Order | None,
    *,
    target_no: str = "",
    target: Order | None = None,
) -> Facts:
    """The facts that these rows show."""
    return Facts(
        reason=ConflictReason(conflict.reason),
        status=ConflictStatus(conflict.status),
        order=None if order is None else _order(order),
        money=None if money is None else _money(money),
        target_no=target_no,
        target=None if target is None else _order(target),
    )


def _order(order: Order) -> OrderFacts:
    return OrderFacts(
        order_no=order.order_no,
        status=OrderStatus(order.status),
        amount_minor=order.amount_minor,
        currency=order.currency,
        payable_through=order.payable_through,
    )


def _money(row: ProviderTransaction) -> MoneyFacts:
    return MoneyFacts(
        txn_no=row.txn_no,
        kind=TransactionKind(row.kind),
        disposition=Disposition(row.disposition),
        amount_minor=row.amount_minor,
        currency=row.currency,
        left_minor=room.left(row),
        endpoint=row.account.endpoint,
    )
