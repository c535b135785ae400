"""Each declared provider over real HTTP: from its bytes to the order, and the exact answer back."""

from collections.abc import Mapping
from datetime import UTC, datetime
from time import time

import pytest

from orders.models import Order
from payments.callback import Callback
from payments.models import Delivery, ProviderAccount, ProviderTransaction
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_sign import sign
from payments.providers.port import Acknowledgement, Reply
from tests import wire
from tests.books import books
from tests.factories import OrderFactory, ProviderAccountFactory
from tests.processes import Web
from tests.providers.hmac_senders import SENDERS, Sender

DECLARED = sorted(name for name in SENDERS if isinstance(SENDERS[name].provider, HmacProvider))
#: What a sender at the door may say of itself.
FORGED: Mapping[str, str] = {
    "X-Forwarded-Host": "evil.example",
    "X-Forwarded-Proto": "gopher",
    "X-Shopify-Topic": "refunds/create",
    "x-razorpay-event-id": "evt_forged",
}


class Shop:
    """An account at one provider, and an order that its genuine payment is for."""

    def __init__(self, web: Web, sender: Sender) -> None:
        (told,) = sender.provider.read(sender.genuine(), sender.account)
        assert isinstance(told, Callback)
        self.web, self.sender, self.told = web, sender, told
        self.account = self._account()
        currency = told.money.currency if told.money else "EUR"
        self.order = OrderFactory.create(
            merchant=self.account.merchant, order_no="O-1", amount_minor=1099, currency=currency
        )

    def _account(self) -> ProviderAccount:
        return ProviderAccountFactory.create(
            provider=self.sender.name,
            account_no=self.told.account_no or "at-the-provider",
            live=bool(self.told.live),
            settings=dict(self.sender.account.settings),
            secret=self.sender.secret,
        )

    def deliver(
        self, body: bytes = b"", *, sent: bytes | None = None, signed_url: str = ""
    ) -> wire.Answer:
        """Sign a body now, the genuine one or this, and send it, or other bytes in its place."""
        provider, body = self.sender.provider, body or self.sender.body
        assert isinstance(provider, HmacProvider)
        path = f"/callbacks/{self.account.endpoint}"
        headers = sign(
            provider.scheme,
            self.sender.secret.encode(),
            body,
            now=datetime.fromtimestamp(time(), UTC),
            url=signed_url or self.web.url + path,
        )
        sent = body if sent is None else sent
        named = {
            "Host": "localhost",
            "Connection": "close",
            "Content-Length": str(len(sent)),
            **FORGED,
            **headers,
        }
        return wire.send(self.web.url, wire.request("POST", path, named, sent))

    def outcomes(self) -> list[str]:
        deliveries = Delivery.objects.filter(account=self.account).order_by("id")
        return list(deliveries.values_list("outcome", flat=True))


@pytest.fixture(params=DECLARED)
def shop(request: pytest.FixtureRequest, live_web: Web, transactional_db: None) -> Shop:
    return Shop(live_web, SENDERS[request.param])


def assert_answered(answer: wire.Answer, expected: Acknowledgement) -> None:
    assert (answer.status, answer.body) == (expected.status, expected.body)
    if expected.body:
        assert answer.headers["content-type"].split(";")[0] == expected.content_type
    assert "location" not in answer.headers


def test_a_payment_and_its_repeat_are_answered_alike_and_pay_once(shop: Shop) -> None:
    accepted = shop.sender.provider.acknowledge(Reply.ACCEPTED)
    assert_answered(shop.deliver(), accepted)
    assert_answered(shop.deliver(), accepted)
    order = Order.objects.get(id=shop.order.id)
    if shop.sender.states_amounts:
        assert shop.outcomes() == ["APPLIED", "DUPLICATE"]
        assert (order.status, order.paid_txn_no) == ("PAID", shop.told.txn_no)
    else:
        assert set(shop.outcomes()) <= {"HELD", "DUPLICATE"}
        assert order.status == "WAIT_PAY"


def test_a_body_that_was_changed_is_refused_and_leaves_no_row(shop: Shop) -> None:
    before = books()
    answer = shop.deliver(sent=shop.sender.body.replace(b"O-1", b"O-2"))
    assert_answered(answer, shop.sender.provider.acknowledge(Reply.REJECTED))
    assert books() == before


def test_two_event_types_for_one_payment_are_one_transaction(
    live_web: Web, transactional_db: None
) -> None:
    shop = Shop(live_web, SENDERS["razorpay"])
    for event_type in (b"order.paid", b"payment.captured", b"payment_link.paid"):
        body = shop.sender.body.replace(b"payment.captured", event_type)
        assert shop.deliver(body).status == 200
    assert shop.outcomes() == ["APPLIED", "DUPLICATE", "DUPLICATE"]
    assert ProviderTransaction.objects.filter(account=shop.account).count() == 1


def test_a_signature_for_another_address_is_refused(live_web: Web, transactional_db: None) -> None:
    shop = Shop(live_web, SENDERS["square"])
    path = f"/callbacks/{shop.account.endpoint}"
    for registered in (f"{live_web.url}{path}/", f"https://evil.example{path}"):
        assert shop.deliver(signed_url=registered).status == 401
    assert shop.outcomes() == []


@pytest.mark.parametrize("name", ["paystack", "shopify", "mollie_nextgen"])
def test_a_test_payment_never_pays_a_live_order(
    name: str, live_web: Web, transactional_db: None
) -> None:
    shop = Shop(live_web, SENDERS[name])
    ProviderAccount.objects.filter(id=shop.account.id).update(live=True)
    assert shop.deliver().status == 200
    assert shop.outcomes() == ["QUARANTINED"]
    assert Order.objects.get(id=shop.order.id).status == "WAIT_PAY"
