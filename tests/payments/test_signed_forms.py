"""Alipay, UnionPay and WeChat Pay over the whole road: from their bytes to the order and back."""

import json
import time
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from django.test import Client

from orders.models import OrderStatus
from payments.models import Conflict, Delivery, ProviderAccount, ProviderTransaction
from payments.providers.port import SignedRequest
from tests.factories import AccountKeyFactory, OrderFactory, ProviderAccountFactory
from tests.providers import rsa_senders
from tests.providers.rsa_senders import (
    SENDERS,
    WECHATPAY_V3_FIELDS,
    Sender,
    form,
    notification,
    wechatpay_v3_signed,
)

pytestmark = pytest.mark.django_db(transaction=True)
ACCEPTED: Final = {
    "alipay": b"success",
    "unionpay": b"ok",
    "wechatpay_v2": b"<xml><return_code><![CDATA[SUCCESS]]></return_code>"
    b"<return_msg><![CDATA[OK]]></return_msg></xml>",
    "wechatpay_v3": b"",
}


def account_of(sender: Sender) -> ProviderAccount:
    first, *others = sender.account.keys
    account = ProviderAccountFactory.create(
        provider=sender.name,
        name="main",
        account_no=sender.account.account_no,
        settings=sender.account.settings,
        secret="unused",
    )
    account.keys.all().delete()
    for key in (first, *others):
        AccountKeyFactory.create(
            account=account,
            key_id=key.key_id,
            purpose=key.purpose,
            secret=key.material.decode(),
        )
    return account


def order_of(account: ProviderAccount) -> Any:
    return OrderFactory.create(
        merchant=account.merchant, order_no="O-1", amount_minor=1099, currency="CNY"
    )


def post(client: Client, sender: Sender, request: SignedRequest, query: str = "") -> Any:
    headers = dict(request.headers)
    return client.post(
        f"/callbacks/{sender.name}/main{query}",
        data=request.body,
        content_type=headers.pop("content-type"),
        headers=headers,
    )


def genuine(sender: Sender) -> SignedRequest:
    if sender.name != "wechatpay_v3":
        return sender.genuine()
    fields = {name: WECHATPAY_V3_FIELDS[name] for name in WECHATPAY_V3_FIELDS if name != "id"}
    amount = {"total": 1099, "payer_total": 999, "currency": "CNY"}
    return wechatpay_v3_signed(
        notification({**fields, "amount": amount}), now=datetime.fromtimestamp(time.time(), UTC)
    )


@pytest.mark.parametrize("name", SENDERS)
def test_a_payment_pays_its_order_once_and_is_answered_alike_each_time(
    client: Client, name: str
) -> None:
    sender = rsa_senders.sender(name)
    order = order_of(account_of(sender))
    for _ in range(3):
        response = post(client, sender, genuine(sender), query="?PHPSESSID=1")
        assert (response.status_code, response.content) == (200, ACCEPTED[name])
    order.refresh_from_db()
    assert order.status == OrderStatus.PAID
    assert order.paid_at == datetime(2025, 12, 31, 16, 10, tzinfo=UTC)
    assert [row.outcome for row in Delivery.objects.order_by("id")] == [
        "APPLIED",
        "DUPLICATE",
        "DUPLICATE",
    ]
    assert Delivery.objects.order_by("id")[0].key_id == sender.account.keys[0].key_id


@pytest.mark.parametrize("name", SENDERS)
def test_an_altered_payment_is_refused_and_leaves_nothing(client: Client, name: str) -> None:
    sender = rsa_senders.sender(name)
    order = order_of(account_of(sender))
    request = genuine(sender)
    forged = SignedRequest(request.headers, request.body.replace(b"O-1", b"O-2") + b" ")
    response = post(client, sender, forged)
    assert response.status_code == 401
    assert response.content != ACCEPTED[name]
    order.refresh_from_db()
    assert order.status == OrderStatus.WAIT_PAY
    assert Delivery.objects.count() == 0


def test_a_trade_that_is_finished_later_pays_nothing_again(client: Client) -> None:
    sender = rsa_senders.sender("alipay")
    order_of(account_of(sender))
    for status, notify_id in (("TRADE_SUCCESS", "1"), ("TRADE_FINISHED", "2")):
        request = sender.signed({"trade_status": status, "notify_id": notify_id})
        assert post(client, sender, request).content == b"success"
    assert [row.outcome for row in Delivery.objects.order_by("id")] == ["APPLIED", "DUPLICATE"]
    assert ProviderTransaction.objects.count() == 1


def test_a_partial_refund_is_no_second_payment(client: Client) -> None:
    sender = rsa_senders.sender("alipay")
    order_of(account_of(sender))
    post(client, sender, sender.genuine())
    refund = sender.signed({"refund_fee": "5.00", "out_biz_no": "RF-1", "notify_id": "2"})
    assert post(client, sender, refund).content == b"success"
    assert [row.kind for row in Delivery.objects.order_by("id")] == ["PAID", "REFUNDED"]
    assert ProviderTransaction.objects.filter(kind="PAYMENT").count() == 1


def test_another_sellers_payment_is_a_conflict(client: Client) -> None:
    sender = rsa_senders.sender("alipay")
    order = order_of(account_of(sender))
    response = post(client, sender, sender.signed({"seller_id": "2088000000000000"}))
    assert response.content == b"success"
    row = Delivery.objects.get()
    assert (row.outcome, row.reason) == ("CONFLICT", "MERCHANT_MISMATCH")
    order.refresh_from_db()
    assert order.status == OrderStatus.WAIT_PAY


def test_a_nul_in_a_field_is_stored_as_it_came(client: Client) -> None:
    sender = rsa_senders.sender("alipay")
    order_of(account_of(sender))
    assert post(client, sender, sender.signed({"body": "A\x00B"})).content == b"success"
    strange = sender.signed({"out_trade_no": "O-\x001", "notify_id": "2"})
    assert post(client, sender, strange).content == b"success"
    assert [row.outcome for row in Delivery.objects.order_by("id")] == ["APPLIED", "QUARANTINED"]


def test_a_repeated_field_is_refused(client: Client) -> None:
    sender = rsa_senders.sender("alipay")
    account_of(sender)
    request = form(sender.genuine().body + b"&total_amount=9.00")
    response = post(client, sender, request)
    assert (response.status_code, response.content) == (401, b"fail")
    assert Delivery.objects.count() == 0


def test_wechats_own_probe_is_refused_as_it_must_be(client: Client) -> None:
    sender = rsa_senders.sender("wechatpay_v3")
    account_of(sender)
    request = genuine(sender)
    headers = {**dict(request.headers), "wechatpay-signature": "WECHATPAY/SIGNTEST/AAAA"}
    response = post(client, sender, SignedRequest(tuple(headers.items()), request.body))
    assert response.status_code == 401
    assert json.loads(response.content)["code"] == "FAIL"
    assert post(client, sender, request).status_code == 200


def test_an_unknown_serial_stores_no_callback(client: Client) -> None:
    sender = rsa_senders.sender("wechatpay_v3")
    account_of(sender)
    request = genuine(sender)
    headers = {**dict(request.headers), "wechatpay-serial": "5F00"}
    response = post(client, sender, SignedRequest(tuple(headers.items()), request.body))
    assert response.status_code == 401
    assert Delivery.objects.count() == 0
    asked = Conflict.objects.get()
    assert (asked.reason, asked.received["key_id"]) == ("UNKNOWN_KEY", "5F00")


def test_the_key_that_opened_a_notification_is_noted_beside_the_one_that_verified_it(
    client: Client,
) -> None:
    sender = rsa_senders.sender("wechatpay_v3")
    account = account_of(sender)
    unused = AccountKeyFactory.create(account=account, purpose="decryption", secret="0" * 32)
    post(client, sender, genuine(sender))

    used = account.keys.exclude(last_used_at=None).values_list("purpose", flat=True)
    assert sorted(used) == ["decryption", "signature"]
    unused.refresh_from_db()
    assert unused.last_used_at is None
