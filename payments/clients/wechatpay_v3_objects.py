"""Read what WeChat Pay's APIv3 answers: payments as notifications, and refunds."""

from collections.abc import Mapping
from typing import Any, Final

from orders.money import Money
from orders.strict_json import JsonObject, StrictJsonError, identifier, required, text
from payments.callback import Kind
from payments.clients.answers import PAYMENT_ANSWERS, payment_answer
from payments.clients.port import Answer, PaymentAnswer, RefundAnswer, RefundOrder
from payments.clients.units import money_in
from payments.clients.wire import Impossible
from payments.providers.port import Account
from payments.providers.stated_money import MINOR
from payments.providers.wechatpay_v3_notice import DEFAULT_CURRENCY, TRADE_STATES, notice

_STATES: Final[Mapping[str, Answer]] = {
    "SUCCESS": Answer.SUCCEEDED,
    "PROCESSING": Answer.PENDING,
    "ABNORMAL": Answer.REFUSED,
    "CLOSED": Answer.REFUSED,
}


def payment_in(found: Any, raw: bytes, account: Account) -> PaymentAnswer:
    """The state of a payment. Raises StrictJsonError, NotMoney or Invalid."""
    state = required(text(found, "trade_state"), "trade_state")
    # It was paid; what has been refunded of it since is told by the refunds.
    told = "SUCCESS" if state == "REFUND" else state
    kind = TRADE_STATES.get(told)
    if kind is None:
        raise StrictJsonError("trade_state is not known")
    number = identifier(found, "transaction_id")
    if number is None and kind is not Kind.PAID:
        return PaymentAnswer(answer=PAYMENT_ANSWERS[kind], raw=raw)
    event = JsonObject([("event_type", "TRANSACTION.SUCCESS")])
    resource = JsonObject([*{**found, "trade_state": told}.items()])
    return payment_answer(notice(event, resource, f"api:{number}:{state}", account), raw)


def refund_in(found: Any, order: RefundOrder) -> RefundAnswer:
    """The state of that refund. Raises StrictJsonError or NotMoney."""
    require_same(found, "out_refund_no", order.refund_no)
    status = text(found, "status") or ""
    currency = text(found, "amount", "currency") or DEFAULT_CURRENCY
    return RefundAnswer(
        answer=_STATES.get(status, Answer.UNKNOWN),
        provider_refund_no=required(identifier(found, "refund_id"), "refund_id"),
        amount=money_in(MINOR, found, "amount", "refund", currency=currency),
        why="" if status == "SUCCESS" else f"its status is {status[:40]}",
    )


def require_same(found: Any, name: str, asked: str) -> None:
    """A signature does not bind an answer to its question. Raises StrictJsonError."""
    if identifier(found, name) != asked:
        raise StrictJsonError(f"the answer is about another {name}")


def fen(money: Money) -> int:
    """The amount in fen. Raises Impossible for another currency."""
    if money.currency != DEFAULT_CURRENCY:
        raise Impossible(f"WeChat Pay refunds in {DEFAULT_CURRENCY} only")
    return money.amount_minor
