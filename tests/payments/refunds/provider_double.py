"""A provider's API, as far as refunds go: it keeps a ledger of its own, and misbehaves on request.

It is the provider's side: nothing of ours is replaced by it.
"""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date, timedelta

from orders.money import Money
from payments.clients.choice import Choice
from payments.clients.port import (
    Answer,
    PaymentAnswer,
    RefundAnswer,
    RefundOrder,
    StatementUnavailable,
)
from payments.models import ProviderAccount


@dataclass
class ProviderDouble:
    """Executes each refund number once, whatever is asked how often.

    `loses_reply`: it executes and the reply is lost. `refuses`: finally. `pends`: it accepts, and
    `finish` ends it. `lag`: so many questions about a refund are answered "not found" first.
    `is_spent`: it refuses a refund because nothing is left, unless it shows one of that number.
    `is_down`: nothing reaches it. `before` is called with each request before it is looked at.
    """

    loses_reply: bool = False
    refuses: bool = False
    is_spent: bool = False
    pends: bool = False
    is_down: bool = False
    breaks: bool = False
    tells_refunds: bool = True
    repeatable_for: timedelta = timedelta(days=1)
    lag: int = 0
    before: Callable[[RefundOrder], None] = lambda _: None
    executed: Counter[str] = field(default_factory=Counter)
    refunds: dict[str, RefundAnswer] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)
    questions: Counter[str] = field(default_factory=Counter)
    orders: list[RefundOrder] = field(default_factory=list)
    payments: dict[str, PaymentAnswer] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self, _: ProviderAccount) -> Choice:
        return Choice(self, "", self.repeatable_for, self.tells_refunds)

    def refund(self, order: RefundOrder) -> RefundAnswer:
        self.before(order)
        with self._lock:
            self.requests[order.refund_no] += 1
            self.orders.append(order)
            if self.breaks:
                raise ValueError("not what a client may do")
            if self.is_down:
                return RefundAnswer(answer=Answer.UNKNOWN, why="no connection")
            if self.is_spent:
                shown = self.refunds.get(order.refund_no)
                if shown is None or self.lag:
                    return RefundAnswer(answer=Answer.NOT_FOUND, why="spent", is_spent=True)
                return shown
            if order.refund_no not in self.refunds:
                self.refunds[order.refund_no] = self._execute(order)
            if self.loses_reply:
                return RefundAnswer(answer=Answer.UNKNOWN, why="timeout")
            return self.refunds[order.refund_no]

    def _execute(self, order: RefundOrder) -> RefundAnswer:
        if self.refuses:
            return RefundAnswer(answer=Answer.REFUSED, why="no balance")
        if not self.pends:
            self.executed[order.refund_no] += 1
        return RefundAnswer(
            answer=Answer.PENDING if self.pends else Answer.SUCCEEDED,
            provider_refund_no=f"re_{order.refund_no}",
            amount=order.amount,
        )

    def query_refund(self, order: RefundOrder, *, provider_refund_no: str) -> RefundAnswer:  # noqa: ARG002
        with self._lock:
            self.questions[order.refund_no] += 1
            if self.is_down or not self.tells_refunds:
                return RefundAnswer(answer=Answer.UNKNOWN, why="no connection")
            if self.questions[order.refund_no] <= self.lag:
                return RefundAnswer(answer=Answer.NOT_FOUND)
            return self.refunds.get(order.refund_no, RefundAnswer(answer=Answer.NOT_FOUND))

    def finish(self, refund_no: str, answer: Answer = Answer.SUCCEEDED) -> None:
        """End a refund that was accepted."""
        self.executed[refund_no] += answer is Answer.SUCCEEDED
        self.refunds[refund_no] = RefundAnswer(
            answer=answer,
            provider_refund_no=self.refunds[refund_no].provider_refund_no,
            amount=self.refunds[refund_no].amount,
        )

    @property
    def paid_out(self) -> int:
        """What it has refunded in all, in minor units."""
        amounts: dict[str, Money] = {order.refund_no: order.amount for order in self.orders}
        return sum(amounts[number].amount_minor * n for number, n in self.executed.items())

    def query_payment(self, *, txn_no: str, order_no: str) -> PaymentAnswer:
        with self._lock:
            self.questions[txn_no or order_no] += 1
            if self.is_down:
                return PaymentAnswer(answer=Answer.UNKNOWN)
            return self.payments.get(txn_no or order_no, PaymentAnswer(answer=Answer.NOT_FOUND))

    def fetch_statement(self, business_date: date) -> bytes:
        raise StatementUnavailable(str(business_date))
