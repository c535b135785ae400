"""Compare one payment, and what has gone back of it, with what the database says."""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from config.simulator.findings import Findings
from config.simulator.our_rows import OurRows
from config.simulator.predicted import Payment, Thing
from orders.models import PAID_STATUSES, Order, OrderStatus
from payments.models import Disposition, ProviderTransaction, RefundStatus

_NOT_USED: Final[AbstractSet[str]] = {Disposition.HELD, Disposition.RETURNED}
_REFUNDED: Final = frozenset({"succeeded"})
_CHARGED_BACK: Final = frozenset({"opened", "lost"})


class Comparison:
    """One payment with what belongs to it."""

    def __init__(self, findings: Findings, ours: OurRows, payment: Payment, *, final: bool) -> None:
        self._findings = findings
        self._ours = ours
        self._payment = payment
        self._final = final
        self._name = f"payment {payment.itself.number} of order {payment.order_no}"

    def run(self) -> None:
        """Compare it."""
        payment, row = self._payment, self._ours.payments.get(self._payment.itself.number)
        if payment.itself.status != "succeeded":
            if row is not None:
                self._differs(f"is {payment.itself.status}, and the database counts it")
            return
        if row is None:
            self._findings.missing(
                f"{self._name} is not in the database", is_told=self._is_due(payment.itself)
            )
            return
        self._compare_money(row)
        self._compare_place(row, self._ours.order_of(row, payment.order_no))
        self._compare_room(row)
        for refund in payment.refunds:
            self._compare_refund(refund)

    def _compare_money(self, row: ProviderTransaction) -> None:
        told = (self._payment.itself.money.amount_minor, self._payment.itself.money.currency)
        if (row.amount_minor, row.currency, row.order_no) != (*told, self._payment.order_no):
            self._differs(f"is {row.amount_minor} {row.currency} for {row.order_no} there")

    def _compare_place(self, row: ProviderTransaction, order: Order | None) -> None:
        """Whether the order was paid by it, if it should be, and by nothing that should not."""
        allowed: AbstractSet[str]
        if order is None:
            allowed = _NOT_USED | {Disposition.PARKED}
        elif not self._fits(order):
            allowed = _NOT_USED
        elif order.status in PAID_STATUSES:
            allowed = {Disposition.APPLIED} if order.paid_txn_no == row.txn_no else _NOT_USED
        elif order.status == OrderStatus.CLOSED:
            allowed = _NOT_USED
        else:
            allowed = frozenset()
        if row.disposition not in allowed:
            state = order.status if order else "unknown"
            self._differs(f"is {row.disposition} there, and the order is {state}")

    def _fits(self, order: Order) -> bool:
        money = self._payment.itself.money
        payable = order.payable_through in {"", self._ours.endpoint}
        return payable and (order.amount_minor, order.currency) == (
            money.amount_minor,
            money.currency,
        )

    def _compare_room(self, row: ProviderTransaction) -> None:
        """What has gone back must be what the books say, apart from what is open or on its way."""
        expected = (self._payment.refunded_minor, self._payment.charged_back_minor)
        found = (row.refunded_minor, row.charged_back_minor)
        if found == expected:
            return
        sentence = (
            f"{self._name} has {expected[0]} refunded and {expected[1]} charged back,"
            f" and there {found[0]} and {found[1]}"
        )
        asked = self._is_explained(row, self._ours.asks_about)
        if asked:
            self._findings.asked.append(sentence)
        else:
            open_ = self._is_explained(
                row, lambda one: self._ours.asks_about(one) or not self._is_due(one)
            )
            self._findings.missing(sentence, is_told=not open_)

    def _is_explained(self, row: ProviderTransaction, is_open: Callable[[Thing], bool]) -> bool:
        """Whether the amounts are right if each open thing counts or does not.

        A refund counts wholly or not at all; a dispute takes what there is of the payment.
        """
        refunds, disputes = self._payment.refunds, self._payment.disputes
        possible = {_certain(refunds, _REFUNDED, is_open)}
        for one in filter(is_open, refunds):
            possible |= {total + one.money.amount_minor for total in possible}
        least = _certain(disputes, _CHARGED_BACK, is_open)
        most = least + sum(one.money.amount_minor for one in filter(is_open, disputes))
        return row.refunded_minor in possible and least <= row.charged_back_minor <= most

    def _compare_refund(self, refund: Thing) -> None:
        ours = self._ours.refunds.get(refund.refund_no)
        if not refund.refund_no or refund.status == "pending":
            return
        if ours is None:
            self._differs(f"has refund {refund.refund_no}, which the database does not know")
            return
        wanted = RefundStatus.SUCCEEDED if refund.status == "succeeded" else RefundStatus.FAILED
        if ours.status == wanted and ours.money == refund.money:
            return
        sentence = f"refund {refund.refund_no} {refund.status}, and there it is {ours.status}"
        if self._ours.asks_about(refund):
            self._findings.asked.append(sentence)
        else:
            self._findings.missing(sentence, is_told=self._is_due(refund))

    def _is_due(self, thing: Thing) -> bool:
        return self._final or thing.is_told

    def _differs(self, sentence: str) -> None:
        self._findings.differences.append(f"{self._name} {sentence}")


def _certain(
    things: Sequence[Thing], counting: AbstractSet[str], is_open: Callable[[Thing], bool]
) -> int:
    """What those count for whose state is not open."""
    return sum(
        one.money.amount_minor for one in things if one.status in counting and not is_open(one)
    )
