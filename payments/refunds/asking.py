"""Speak with a provider about one refund: outside every transaction, and whatever it answers."""

from collections.abc import Callable
from datetime import timedelta
from typing import NamedTuple

import structlog

from orders.money import Money
from payments.clients.choice import Choice
from payments.clients.port import Answer, Client, RefundAnswer, RefundOrder
from payments.models import Delivery, ProviderAccount, Refund
from payments.saying import in_english

log = structlog.get_logger(__name__)

#: Chooses the client of an account.
ClientFor = Callable[[ProviderAccount], Choice]


class Said(NamedTuple):
    """What the provider said, what its client promises, and whether it was reached for at all."""

    answer: RefundAnswer
    repeatable_for: timedelta = timedelta(0)
    tells_refunds: bool = True
    has_client: bool = True


def send(refund_id: int, client_for: ClientFor) -> Said:
    """Ask the provider to refund. What is not a clear answer is UNKNOWN, never an exception."""
    return _speak(refund_id, client_for, lambda client, _, order: client.refund(order))


def query(refund_id: int, client_for: ClientFor) -> Said:
    """Ask the provider what became of the refund. Never an exception, as above."""
    return _speak(
        refund_id,
        client_for,
        lambda client, refund, order: client.query_refund(
            order, provider_refund_no=refund.provider_refund_no
        ),
    )


def _speak(
    refund_id: int,
    client_for: ClientFor,
    ask: Callable[[Client, Refund, RefundOrder], RefundAnswer],
) -> Said:
    refund = Refund.objects.select_related("account", "payment").get(pk=refund_id)
    order = _order_of(refund)
    choice = client_for(refund.account)
    if choice.client is None:
        return Said(
            RefundAnswer(answer=Answer.UNKNOWN, why=in_english(choice.why)), has_client=False
        )
    try:
        answer = ask(choice.client, refund, order)
    except Exception as error:  # noqa: BLE001 - a client that breaks has told us nothing
        why = f"the client failed: {type(error).__name__}"
        log.error("provider's client failed", refund_id=refund_id, error=type(error).__name__)  # noqa: TRY400 - a trace would hold values
        answer = RefundAnswer(answer=Answer.UNKNOWN, why=why)
    return Said(answer, choice.repeatable_for, choice.tells_refunds)


def _order_of(refund: Refund) -> RefundOrder:
    payment = refund.payment
    told = Delivery.objects.filter(account_id=refund.account_id, txn_no=payment.txn_no)
    linked = told.order_by("pk").values_list("linked_nos", flat=True)[:5]
    numbers = dict.fromkeys(number for found in linked for number in found)
    return RefundOrder(
        refund_no=refund.refund_no,
        payment_txn_no=payment.txn_no,
        order_no=payment.order_no,
        linked_nos=tuple(number for number in numbers if number != payment.txn_no),
        amount=refund.money,
        payment_amount=Money(payment.amount_minor, payment.currency),
        reason=refund.reason,
    )
