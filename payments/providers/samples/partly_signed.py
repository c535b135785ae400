"""Samples of Adyen, Midtrans, PayPal, who sign a part, and classic Mollie, who signs nothing."""

import json
from typing import Any, Final

from payments.callback import Kind
from payments.providers.adyen_events import EXPONENTS
from payments.providers.adyen_sign import signed_item
from payments.providers.midtrans_sign import signed_notification
from payments.providers.midtrans_status import CURRENCY
from payments.providers.paypal_events import EVENTS
from payments.providers.paypal_sign import signed_headers
from payments.providers.samples.mapped import bodies
from payments.providers.samples.occurrence import CannotTell, Hand, Made, Occurrence
from payments.providers.stated_money import MAJOR, AmountRule

#: Where PayPal keeps the certificates of its sandbox. With a pinned one nothing is asked there.
_CERTIFICATE_URL: Final = "https://api.sandbox.paypal.com/v1/notifications/certs/CERT-sample"
_ADYEN_EVENTS: Final = {
    Kind.PAID: ("CAPTURE", "true"),
    Kind.AUTHORIZED: ("AUTHORISATION", "true"),
    Kind.PENDING: ("PENDING", "true"),
    Kind.FAILED: ("AUTHORISATION", "false"),
    Kind.CLOSED: ("CANCELLATION", "true"),
    Kind.REFUNDED: ("REFUND", "true"),
    Kind.REFUND_FAILED: ("REFUND_FAILED", "true"),
    Kind.DISPUTED: ("CHARGEBACK", "true"),
    Kind.DISPUTE_WON: ("CHARGEBACK_REVERSED", "true"),
    Kind.DISPUTE_LOST: ("SECOND_CHARGEBACK", "true"),
}
_MIDTRANS_STATUSES: Final = {
    Kind.PAID: ("settlement", "200"),
    Kind.AUTHORIZED: ("authorize", "200"),
    Kind.PENDING: ("pending", "201"),
    Kind.FAILED: ("deny", "202"),
    Kind.CLOSED: ("expire", "202"),
    Kind.REFUNDED: ("refund", "200"),
    Kind.DISPUTED: ("chargeback", "200"),
}


def adyen(told: Occurrence, hand: Hand) -> Made:
    """A notification of one item."""
    event_code, success = _ADYEN_EVENTS[told.kind]
    if told.kind is Kind.PAID and hand.account.settings.get("auto_capture"):
        event_code = "AUTHORISATION"
    begins = event_code in {"AUTHORISATION", "PENDING"}
    item = {
        "amount": {
            "currency": told.money.currency,
            "value": AmountRule("minor", EXPONENTS).written(told.money),
        },
        "eventCode": event_code,
        "eventDate": told.at.isoformat(),
        "merchantAccountCode": hand.account.account_no,
        "merchantReference": told.order_no,
        "pspReference": told.txn_no if begins or told.is_reversal else told.event_id,
        "success": success,
    }
    if not begins:
        item["originalReference"] = told.payment_no
    signed = {"NotificationRequestItem": signed_item(item, hand.secret().material)}
    live = "true" if hand.account.live else "false"
    notification = {"live": live, "notificationItems": [signed]}
    yield hand.request(json.dumps(notification).encode())


def midtrans(told: Occurrence, hand: Hand) -> Made:
    """A notification; its transaction is known by the order's number."""
    if told.kind not in _MIDTRANS_STATUSES:
        return
    if told.money.currency != CURRENCY:
        raise CannotTell(f"amounts are {CURRENCY}")
    status, code = _MIDTRANS_STATUSES[told.kind]
    fields: dict[str, Any] = {
        "currency": CURRENCY,
        "gross_amount": MAJOR.written(told.money),
        "merchant_id": hand.account.account_no,
        "order_id": told.order_no,
        "status_code": code,
        "transaction_id": told.payment_no,
        "transaction_status": status,
    }
    if told.kind is Kind.REFUNDED:
        fields["refund_amount"] = fields["gross_amount"]
    yield hand.request(json.dumps(signed_notification(fields, hand.secret().material)).encode())


def paypal(told: Occurrence, hand: Hand) -> Made:
    """An event, under a certificate that the account pins."""
    if hand.account.live:
        raise CannotTell("only PayPal has the keys of its live certificates")
    hand.counterpart()
    for body in bodies("paypal", EVENTS.maps, told, hand):
        headers = signed_headers(
            body,
            hand.rsa(),
            webhook_id=hand.account.settings["webhook_ids"][0],
            transmission_id=told.event_id,
            certificate_url=_CERTIFICATE_URL,
            now=told.at,
        )
        yield hand.request(body, headers)


def mollie_classic(told: Occurrence, hand: Hand) -> Made:
    """The payment's id, and nothing else."""
    body = f"id=tr_{told.payment_no.removeprefix('tr_')}".encode()
    yield hand.request(body, content_type="application/x-www-form-urlencoded")
