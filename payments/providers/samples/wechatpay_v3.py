"""Samples of WeChat Pay APIv3: an encrypted resource in a signed envelope."""

import json
from typing import Any, Final

from payments.callback import Kind
from payments.providers.port import CERTIFICATE_PURPOSE, Key
from payments.providers.rsa_verify import certificate
from payments.providers.samples.occurrence import Hand, Made, Occurrence
from payments.providers.stated_money import MINOR
from payments.providers.wechatpay_v3_resource import DECRYPTION_PURPOSE
from payments.providers.wechatpay_v3_sign import sealed, signed_headers

_TRADES: Final = {
    Kind.PAID: ("TRANSACTION.SUCCESS", "SUCCESS"),
    Kind.PENDING: ("TRANSACTION.SUCCESS", "USERPAYING"),
    Kind.FAILED: ("TRANSACTION.FAIL", "PAYERROR"),
    Kind.CLOSED: ("TRANSACTION.FAIL", "CLOSED"),
}
_REFUNDS: Final = {
    Kind.REFUNDED: ("REFUND.SUCCESS", "SUCCESS"),
    Kind.REFUND_FAILED: ("REFUND.ABNORMAL", "ABNORMAL"),
}


def wechatpay_v3(told: Occurrence, hand: Hand) -> Made:
    """A notification, under the serial of the account's key that the private key belongs to."""
    event_type, state = {**_TRADES, **_REFUNDS}.get(told.kind, ("", ""))
    if not event_type:
        return
    resource = json.dumps(_resource(told, hand, state)).encode()
    original = "refund" if told.is_reversal else "transaction"
    envelope = {
        "id": told.event_id,
        "create_time": told.at.isoformat(),
        "event_type": event_type,
        "resource_type": "encrypt-resource",
        "resource": {
            "original_type": original,
            **sealed(
                resource,
                hand.secret(DECRYPTION_PURPOSE).material,
                nonce=told.event_id[:12].rjust(12, "0"),
                associated_data=original,
            ),
        },
    }
    body = json.dumps(envelope).encode()
    serial = _serial(hand.counterpart())
    headers = signed_headers(body, hand.rsa(), serial=serial, nonce=told.event_id, now=told.at)
    yield hand.request(body, headers)


def _resource(told: Occurrence, hand: Hand, state: str) -> dict[str, Any]:
    partner, _, merchant = hand.account.account_no.partition("/")
    who = {"sp_mchid": partner, "sub_mchid": merchant} if merchant else {"mchid": partner}
    amount = MINOR.written(told.money)
    resource = {
        **who,
        "out_trade_no": told.order_no,
        "success_time": told.at.isoformat(),
        "transaction_id": told.payment_no,
    }
    if told.is_reversal:
        refund = {"refund_id": told.txn_no, "out_refund_no": told.txn_no, "refund_status": state}
        stated = {"total": amount, "refund": amount, "currency": told.money.currency}
        return {**resource, **refund, "amount": stated}
    appids = hand.account.settings.get("appids")
    app = {"appid": appids[0]} if appids else {}
    stated = {"total": amount, "payer_total": amount, "currency": told.money.currency}
    return {**resource, **app, "trade_state": state, "amount": stated}


def _serial(key: Key) -> str:
    if key.purpose == CERTIFICATE_PURPOSE:
        return format(certificate(key).serial_number, "X")
    return key.key_id
