"""Samples of the providers that post forms: Alipay, UnionPay, Braintree."""

from datetime import timedelta, timezone
from typing import Final
from xml.sax.saxutils import escape

from payments.callback import Kind
from payments.providers.alipay_sign import signed_form as alipay_form
from payments.providers.braintree_sign import signed_form as braintree_form
from payments.providers.samples.occurrence import CannotTell, Hand, Made, Occurrence
from payments.providers.stated_money import MAJOR, MINOR
from payments.providers.unionpay_notice import CURRENCIES
from payments.providers.unionpay_sign import signed_form as unionpay_form

FORM: Final = "application/x-www-form-urlencoded"
YUAN: Final = "CNY"
BEIJING: Final = timezone(timedelta(hours=8))
_ALIPAY_STATUSES: Final = {
    Kind.PAID: ("TRADE_SUCCESS", "gmt_payment"),
    Kind.PENDING: ("WAIT_BUYER_PAY", "gmt_create"),
    Kind.CLOSED: ("TRADE_CLOSED", "gmt_close"),
    Kind.REFUNDED: ("TRADE_SUCCESS", "gmt_refund"),
}
_UNIONPAY_TYPES: Final = {
    Kind.PAID: ("01", "00"),
    Kind.AUTHORIZED: ("02", "00"),
    Kind.PENDING: ("01", "A6"),
    Kind.FAILED: ("01", "05"),
    Kind.REFUNDED: ("04", "00"),
    Kind.REFUND_FAILED: ("04", "05"),
}
_BRAINTREE_KINDS: Final = {
    Kind.PAID: "transaction_settled",
    Kind.FAILED: "transaction_settlement_declined",
    Kind.REFUND_FAILED: "refund_failed",
    Kind.DISPUTED: "dispute_opened",
    Kind.DISPUTE_WON: "dispute_won",
    Kind.DISPUTE_LOST: "dispute_lost",
}


def alipay(told: Occurrence, hand: Hand) -> Made:
    """A notification of a trade; a refund states what the trade has refunded in total."""
    if told.kind not in _ALIPAY_STATUSES:
        return
    only_yuan(told)
    hand.counterpart()
    status, time_name = _ALIPAY_STATUSES[told.kind]
    amount = str(MAJOR.written(told.money))
    fields = {
        "app_id": hand.account.account_no,
        "charset": "utf-8",
        "notify_id": told.event_id,
        "notify_type": "trade_status_sync",
        "out_trade_no": told.order_no,
        "seller_id": hand.account.settings.get("seller_id", ""),
        "total_amount": amount,
        "trade_no": told.payment_no,
        "trade_status": status,
        time_name: f"{told.at.astimezone(BEIJING):%Y-%m-%d %H:%M:%S}",
    }
    if told.is_reversal:
        fields |= {"refund_fee": amount, "out_biz_no": told.txn_no}
    yield hand.request(alipay_form(encoded(fields), hand.rsa()), content_type=FORM)


def unionpay(told: Occurrence, hand: Hand) -> Made:
    """A backend notice, with the certificate that the private key belongs to."""
    if told.kind not in _UNIONPAY_TYPES:
        return
    numbers = {code: number for number, code in CURRENCIES.items()}
    if told.money.currency not in numbers:
        raise CannotTell(f"amounts are of: {', '.join(sorted(numbers))}")
    txn_type, code = _UNIONPAY_TYPES[told.kind]
    fields = {
        "currencyCode": numbers[told.money.currency],
        "merId": hand.account.account_no,
        "orderId": told.order_no,
        "queryId": told.txn_no,
        "respCode": code,
        "txnAmt": str(MINOR.written(told.money)),
        "txnTime": f"{told.at.astimezone(BEIJING):%Y%m%d%H%M%S}",
        "txnType": txn_type,
    }
    if told.is_reversal:
        fields["origQryId"] = told.payment_no
    body = unionpay_form(encoded(fields), hand.rsa(), hand.counterpart().material)
    yield hand.request(body, content_type=FORM)


def braintree(told: Occurrence, hand: Hand) -> Made:
    """A form with a signed XML document about a transaction or a dispute."""
    if told.kind not in _BRAINTREE_KINDS:
        return
    kind = _BRAINTREE_KINDS[told.kind]
    money = {"amount": told.money.major, "currency-iso-code": told.money.currency}
    ours = hand.account.settings.get("merchant_accounts")
    bound = {"merchant-account-id": ours[0]} if ours else {}
    order = {"order-id": told.order_no}
    if kind.startswith("dispute"):
        payment = _element("transaction", _elements({"id": told.payment_no, **order}))
        subject = _element("dispute", _elements({"id": told.txn_no, **money, **bound}) + payment)
    else:
        refunded = {"refunded-transaction-id": told.payment_no} if told.is_reversal else {}
        facts = {"id": told.txn_no, **order, **money, **bound, **refunded}
        subject = _element("transaction", _elements(facts))
    about = _elements({"kind": kind, "timestamp": f"{told.at:%Y-%m-%dT%H:%M:%SZ}"})
    document = _element("notification", about + _element("subject", subject))
    key = hand.secret()
    yield hand.request(
        braintree_form(document.encode(), key.key_id, key.material), content_type=FORM
    )


def encoded(fields: dict[str, str]) -> dict[bytes, bytes]:
    """The fields as bytes."""
    return {name.encode(): value.encode() for name, value in fields.items()}


def only_yuan(told: Occurrence) -> None:
    """Raise CannotTell for another currency."""
    if told.money.currency != YUAN:
        raise CannotTell(f"amounts are {YUAN}")


def _elements(values: dict[str, str]) -> str:
    return "".join(_element(name, escape(value)) for name, value in values.items())


def _element(name: str, content: str) -> str:
    return f"<{name}>{content}</{name}>"
