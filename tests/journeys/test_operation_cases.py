"""How the service stands in the world: replies, addresses, browsers."""

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from payments.models import ProviderAccount
from tests.journeys.shop import Shop, outcomes
from tests.payments.over_http import call, custom_body, number, standard_paid, stripe_paid
from tests.processes import Web
from tests.wire import request, send


def _bodies(order_no: str) -> dict[str, tuple[bytes, bytes]]:
    """For each provider a payment, and a body that says nothing it knows."""
    return {
        "stripe": (stripe_paid(order_no), stripe_paid(order_no, event_type="product.updated")),
        "custom": (custom_body(order_no), custom_body(order_no, type="ping")),
        "standardwebhooks": (standard_paid(order_no), b'{"type": "ping", "data": {}}'),
    }


@pytest.mark.parametrize("provider", ["stripe", "custom", "standardwebhooks"])
def test_every_acknowledgement_is_the_same_plain_200(shop: Shop, provider: str) -> None:
    account: ProviderAccount = {
        "stripe": shop.stripe,
        "custom": shop.custom,
        "standardwebhooks": shop.standard,
    }[provider]
    shop.place("O-33")
    paid, ignored = _bodies("O-33")[provider]
    surplus, _ = _bodies("O-33")[provider]
    waiting, _ = _bodies("NONE")[provider]
    answers = [
        send(shop.url, call(account, body))
        for body in (paid, paid, surplus, waiting, ignored, b"[]")
    ]

    assert outcomes() == [
        *("APPLIED", "DUPLICATE", "CONFLICT DUPLICATE_PAYMENT", "PARKED", "IGNORED"),
        "QUARANTINED UNREADABLE",
    ]
    told = {(a.status, a.body, a.headers["content-type"], "location" in a.headers) for a in answers}
    assert told == {(200, b"ok", "text/plain", False)}


def test_both_forms_of_the_address_are_the_same_place(shop: Shop) -> None:
    for slash in ("", "/"):
        raw = call(shop.stripe, stripe_paid("X"), path=f"/callbacks/{shop.stripe.endpoint}{slash}")
        assert send(shop.url, raw).status == 200

    assert outcomes() == ["PARKED"] * 2


def test_an_admin_who_is_logged_in_lends_a_callback_nothing_and_takes_nothing(shop: Shop) -> None:
    user = get_user_model().objects.create_superuser(f"admin-{number()}", password="x" * 20)
    browser = Client()
    browser.force_login(user)
    cookie = f"sessionid={browser.cookies['sessionid'].value}"
    headers = {"Cookie": cookie, "Origin": "https://evil.test"}

    assert send(shop.url, call(shop.stripe, stripe_paid("X"), headers=headers)).status == 200
    forged = headers | {"Stripe-Signature": "t=1,v1=00"}
    assert send(shop.url, call(shop.stripe, stripe_paid("X"), headers=forged)).status == 401
    # The same browser's own forms do need their token.
    form = {**headers, "Host": "localhost", "Content-Length": "0", "Connection": "close"}
    assert send(shop.url, request("POST", "/admin/logout/", form)).status == 403
    assert outcomes() == ["PARKED"]


def test_each_answer_can_be_found_in_the_log(shop: Shop, live_web: Web) -> None:
    answer = send(shop.url, call(shop.stripe, stripe_paid("X")))
    request_id = answer.headers["x-request-id"]

    lines = [line for line in live_web.output().splitlines() if request_id in line]
    assert len(lines) == 2
    assert '"outcome": "PARKED"' in lines[0]
    assert '"status": 200' in lines[1]
