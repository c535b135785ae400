"""The providers whose signature leaves something out, from their bytes to the order and back."""

import json
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final

import pytest
from django.http import HttpResponse
from django.test import Client

from orders.models import Order, OrderStatus
from payments.models import (
    Confirmation,
    Conflict,
    Delivery,
    ProviderAccount,
    ProviderTransaction,
    UnknownKeySighting,
)
from payments.providers.port import SignedRequest
from tests.books import books
from tests.factories import AccountKeyFactory, OrderFactory, ProviderAccountFactory
from tests.providers import weak_senders
from tests.providers.weak_senders import (
    ADYEN_ITEM,
    HINTS,
    PAYPAL_EVENT,
    SENDERS,
    Sender,
    as_form,
    as_json,
    braintree,
    midtrans,
    notification,
    paypal,
)

pytestmark = pytest.mark.django_db(transaction=True)
CURRENCIES: Final = {
    "adyen": "EUR",
    "braintree": "USD",
    "flutterwave_v3": "NGN",
    "midtrans": "IDR",
    "mollie_classic": "EUR",
    "paypal": "EUR",
    "xendit": "PHP",
}
MOVES_MONEY: Final = ("adyen", "braintree", "midtrans")


class Shop:
    """An account at one provider, and an order of 10.99 that its genuine payment is for."""

    def __init__(self, name: str, *, confirm: bool | None = None, **fields: Any) -> None:
        self.sender: Sender = weak_senders.sender(name)
        self.account: ProviderAccount = ProviderAccountFactory.create(
            provider=name,
            name="main",
            account_no=self.sender.account.account_no,
            confirm=confirm,
            **{"settings": self.sender.account.settings, **fields},
        )
        self.account.keys.all().delete()
        for key in self.sender.account.keys:
            AccountKeyFactory.create(
                account=self.account,
                key_id=key.key_id,
                purpose=key.purpose,
                secret=key.material.decode(),
            )
        self.order = OrderFactory.create(
            merchant=self.account.merchant,
            order_no="O-1",
            amount_minor=1099,
            currency=CURRENCIES[name],
        )

    def genuine(self) -> SignedRequest:
        return told(PAYPAL_EVENT) if self.sender.name == "paypal" else self.sender.genuine()

    def post(self, request: SignedRequest) -> HttpResponse:
        headers = dict(request.headers)
        response = Client().post(
            f"/callbacks/{self.sender.name}/main",
            data=request.body,
            content_type=headers.pop("content-type"),
            headers=headers,
        )
        assert isinstance(response, HttpResponse)
        return response

    def get(self, query: Mapping[str, str], *, head: bool = False) -> HttpResponse:
        ask = Client().head if head else Client().get
        response = ask(f"/callbacks/{self.sender.name}/main", query)
        assert isinstance(response, HttpResponse)
        return response

    def status(self) -> str:
        return Order.objects.get(pk=self.order.pk).status


def told(event: Mapping[str, Any]) -> SignedRequest:
    """PayPal's webhook about an event, sent now."""
    return paypal(event, now=datetime.fromtimestamp(time.time(), UTC))


def outcomes() -> list[tuple[str, str]]:
    return list(Delivery.objects.order_by("id").values_list("outcome", "reason"))


@pytest.mark.parametrize("name", MOVES_MONEY)
def test_a_payment_told_twice_pays_once(name: str) -> None:
    shop = Shop(name)
    answers = [shop.post(shop.genuine()) for _ in range(2)]

    body = b"[accepted]" if name == "adyen" else b"ok"
    assert [(answer.status_code, answer.content) for answer in answers] == [(200, body)] * 2
    assert outcomes() == [("APPLIED", ""), ("DUPLICATE", "")]
    assert (shop.status(), ProviderTransaction.objects.count()) == (OrderStatus.PAID, 1)
    assert Delivery.objects.values_list("assurance", flat=True).distinct().get() == (
        shop.sender.assurance
    )


@pytest.mark.parametrize("name", [name for name in SENDERS if name not in MOVES_MONEY])
def test_what_proves_too_little_waits_for_the_providers_api(name: str) -> None:
    shop = Shop(name)
    assert [shop.post(shop.genuine()).status_code for _ in range(2)] == [200, 200]
    assert outcomes() == [("HELD", "UNCONFIRMED")] * 2
    assert shop.status() == OrderStatus.WAIT_PAY
    assert not ProviderTransaction.objects.exists()
    assert Confirmation.objects.get().told_count == 2


@pytest.mark.parametrize("name", HINTS)
def test_no_setting_lets_a_hint_move_money(name: str) -> None:
    shop = Shop(name, confirm=False)
    shop.post(shop.genuine())
    assert outcomes() == [("HELD", "UNCONFIRMED")]


@pytest.mark.parametrize("name", MOVES_MONEY)
def test_an_account_may_ask_for_confirmation_where_a_signature_is_partial(name: str) -> None:
    shop = Shop(name, confirm=True)
    shop.post(shop.genuine())
    assert outcomes() == [("HELD", "UNCONFIRMED")]


@pytest.mark.parametrize("name", ["xendit", "flutterwave_v3"])
def test_a_token_that_is_the_secret_itself_is_not_kept_as_evidence(name: str) -> None:
    shop = Shop(name)
    shop.post(shop.genuine())
    (kept,) = Delivery.objects.values_list("headers", flat=True)
    assert weak_senders.SECRET.decode() not in json.dumps(kept)
    assert ["content-type", "application/json"] in kept


def test_a_stranger_fills_no_disk_with_the_evidence_of_a_hint() -> None:
    shop, genuine = Shop("mollie_classic"), weak_senders.sender("mollie_classic").genuine()
    long = tuple((f"x-{number}", "a" * 4000) for number in range(40))
    shop.post(replace(genuine, headers=(*genuine.headers, *long)))
    padded = shop.post(replace(genuine, body=genuine.body + b"&pad=" + b"a" * 2000))

    assert padded.status_code == 401
    (kept,) = Delivery.objects.values_list("headers", flat=True)
    assert sum(len(value) for _, value in kept) <= 16 * 1024


# Adyen.


def test_a_batch_with_one_forged_item_applies_nothing_until_it_is_sent_again_genuine() -> None:
    shop, before = Shop("adyen"), books()
    items = [ADYEN_ITEM, {**ADYEN_ITEM, "eventCode": "REFUND"}, ADYEN_ITEM]
    genuine = notification(*items)
    document = json.loads(genuine)
    document["notificationItems"][1]["NotificationRequestItem"]["amount"]["value"] = 1

    refused = shop.post(as_json(json.dumps(document).encode()))
    assert (refused.status_code, refused.content) == (401, b"not authentic")
    assert books() == before

    for _ in range(2):
        assert shop.post(as_json(genuine)).content == b"[accepted]"
    assert [outcome for outcome, _ in outcomes()] == [
        "APPLIED", "APPLIED", "DUPLICATE", "DUPLICATE", "DUPLICATE", "DUPLICATE",
    ]  # fmt: skip
    assert shop.status() == OrderStatus.REFUNDED


def test_a_notification_that_claims_the_other_mode_is_kept_apart() -> None:
    shop = Shop("adyen")
    answer = shop.post(as_json(notification(ADYEN_ITEM, live="false")))
    assert (answer.status_code, outcomes()) == (200, [("QUARANTINED", "WRONG_MODE")])
    assert shop.status() == OrderStatus.WAIT_PAY


def test_a_colon_moved_into_the_merchant_account_binds_no_transaction() -> None:
    shop = Shop("adyen")
    genuine = notification({**ADYEN_ITEM, "merchantReference": "O-1:O-1"})
    document = json.loads(genuine)
    item = document["notificationItems"][0]["NotificationRequestItem"]
    item |= {"merchantAccountCode": "ShopECOM:O-1", "merchantReference": "O-1"}

    assert shop.post(as_json(json.dumps(document).encode())).status_code == 200
    assert outcomes() == [("QUARANTINED", "UNREADABLE")]
    assert not ProviderTransaction.objects.exists()


def test_a_payment_to_another_merchant_account_is_a_conflict() -> None:
    shop = Shop("adyen")
    shop.post(as_json(notification({**ADYEN_ITEM, "merchantAccountCode": "ShopPOS"})))
    assert outcomes() == [("CONFLICT", "MERCHANT_MISMATCH")]
    assert shop.status() == OrderStatus.WAIT_PAY
    assert Conflict.objects.get().received["account_no"] == "ShopPOS"


def test_an_automatic_capture_that_is_told_too_is_the_same_payment() -> None:
    shop = Shop("adyen", settings={"auto_capture": True})
    authorisation = {
        **ADYEN_ITEM,
        "eventCode": "AUTHORISATION",
        "pspReference": ADYEN_ITEM["originalReference"],
        "originalReference": None,
    }
    for item in (authorisation, ADYEN_ITEM):
        shop.post(as_json(notification(item)))
    assert outcomes() == [("APPLIED", ""), ("DUPLICATE", "")]
    assert (shop.status(), ProviderTransaction.objects.count()) == (OrderStatus.PAID, 1)


# PayPal.


def test_a_pending_capture_keeps_the_order_payable_and_the_completed_one_pays_it() -> None:
    shop = Shop("paypal", confirm=False)
    shop.post(told({**PAYPAL_EVENT, "event_type": "PAYMENT.CAPTURE.PENDING"}))
    assert (outcomes(), shop.status()) == ([("RECORDED", "")], OrderStatus.WAIT_PAY)
    shop.post(told(PAYPAL_EVENT))
    assert (outcomes()[-1], shop.status()) == (("APPLIED", ""), OrderStatus.PAID)


def test_an_approved_order_is_not_paid() -> None:
    shop = Shop("paypal", confirm=False)
    unit = {"custom_id": "O-1", "amount": {"currency_code": "EUR", "value": "10.99"}}
    approved = {"id": "ORDER1", "purchase_units": [unit]}
    shop.post(told({**PAYPAL_EVENT, "event_type": "CHECKOUT.ORDER.APPROVED", "resource": approved}))
    assert (outcomes(), shop.status()) == ([("RECORDED", "")], OrderStatus.WAIT_PAY)


# Midtrans.


def test_a_replay_under_another_transaction_number_is_a_duplicate() -> None:
    shop = Shop("midtrans")
    for number in range(5):
        shop.post(midtrans({"transaction_id": f"forged-{number}"}))
    assert outcomes() == [("APPLIED", ""), *[("DUPLICATE", "")] * 4]
    assert not Conflict.objects.exists()


# Braintree.


def test_braintree_verifies_its_address_by_a_challenge() -> None:
    shop = Shop("braintree")
    answer = shop.get({"bt_challenge": "20f9f8ed05f77439fe955c977e4c8a53"})
    assert answer.status_code == 200
    assert answer.content.startswith(b"testspublickey01|")
    assert shop.get({"bt_challenge": "x"}).status_code == 405
    assert shop.get({}, head=True).status_code == 405
    assert not Delivery.objects.exists()


def test_a_key_that_is_not_configured_is_noted_and_called_again_for() -> None:
    shop = Shop("braintree")
    request = braintree(("transaction_settled", ""))
    other = request.body.replace(b"testspublickey01", b"newpublickey")
    assert shop.post(as_form(other)).status_code == 401
    assert UnknownKeySighting.objects.get().key_id == "newpublickey"
    assert not Delivery.objects.exists()
