"""The providers that sign with a shared secret, as senders: an account, and a genuine payment.

Each payment is for order O-1 and, where the provider's events state amounts, of 10.99.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Final

from payments.callback import Callback, Reading
from payments.providers.port import Account, Provider, SignedRequest, Verdict
from payments.providers.registry import PROVIDERS
from tests import signing

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
URL: Final = "https://pay.example.test/callbacks/square/main"
SECRET: Final = "tests-only-Jq8zT4mWn2Lc"

Headers = Mapping[str, str]


@dataclass(frozen=True)
class Sender:
    """A provider, an account of it, and how its callbacks are signed."""

    name: str
    account: Account
    body: bytes
    signature_header: str
    sign: Callable[[bytes, str], Headers]
    secret: str = SECRET
    #: Every instance of the header is a signature, so that a repeated one is no contradiction.
    raw: bool = True
    states_amounts: bool = True
    url: str = ""

    @property
    def provider(self) -> Provider:
        return PROVIDERS[self.name]

    def signed(self, body: bytes) -> SignedRequest:
        return signing.as_request(body, self.sign(body, self.secret), self.url)

    def genuine(self) -> SignedRequest:
        return self.signed(self.body)

    def authenticate(self, request: SignedRequest) -> Verdict:
        return self.provider.authenticate(request, self.account, now=NOW)


def read(
    sender: Sender, event: Any, *, headers: Headers | None = None, **settings: Any
) -> list[Reading]:
    """What an authentic event says; `settings` are the account's."""
    account = replace(sender.account, settings={**sender.account.settings, **settings})
    sender.provider.check_settings(account)
    request = signing.as_request(json.dumps(event).encode(), headers or {})
    return list(sender.provider.read(request, account))


def read_one(sender: Sender, event: Any, **settings: Any) -> Callback:
    """The one callback in an authentic event."""
    (reading,) = read(sender, event, **settings)
    assert isinstance(reading, Callback), reading
    return reading


def raw(name: str, event: Any, header: str, *, url: str = "", **signature: str) -> Sender:
    """A provider that signs the body (after the URL) and nothing else."""
    return Sender(
        name,
        signing.an_account(SECRET),
        json.dumps(event).encode(),
        header.lower(),
        lambda body, secret: signing.signed_raw(body, secret, header, url=url, **signature),
        url=url,
    )


def standard(name: str, family: str) -> Sender:
    body = (
        b'{"type":"payment.succeeded","timestamp":"2025-12-31T23:59:54Z",'
        b'"data":{"id":"pay_1","amount":"10.99","currency":"EUR","reference":"O-1"}}'
    )
    return Sender(
        name,
        signing.an_account(signing.STANDARD_SECRET),
        body,
        f"{family}-signature",
        lambda body, secret: signing.signed_standard_webhooks(body, secret, NOW, family=family),
        secret=signing.STANDARD_SECRET,
        raw=False,
    )


STANDARD: Final = standard("standardwebhooks", "webhook")
STRIPE: Final = Sender(
    "stripe",
    signing.an_account(signing.STRIPE_SECRET),
    signing.stripe_event(
        "payment_intent.succeeded",
        {
            "id": "pi_1",
            "amount": 1099,
            "amount_received": 1099,
            "currency": "usd",
            "metadata": {"order_id": "O-1"},
            "description": "Café ☕",
        },
    ),
    "stripe-signature",
    lambda body, secret: signing.signed_stripe(body, secret, NOW),
    secret=signing.STRIPE_SECRET,
    raw=False,
)
CUSTOM: Final = Sender(
    "custom",
    signing.an_account(signing.CUSTOM_SECRET, settings=signing.CUSTOM_SETTINGS),
    b'{"id": "e1",  "type":"paid","payment_id":7,"order":"O-1","amount":1099,"currency":"EUR",'
    b'"url":"a\\/b","n":"\\u00e9","amt":1.50,"mode":"test"}\n',
    "x-signature",
    signing.signed_custom,
    secret=signing.CUSTOM_SECRET,
)
SQUARE: Final = raw(
    "square",
    {
        "merchant_id": "ML1",
        "type": "payment.updated",
        "event_id": "e1",
        "created_at": "2025-12-31T23:59:50Z",
        "data": {
            "type": "payment",
            "id": "p1",
            "object": {
                "payment": {
                    "id": "p1",
                    "amount_money": {"amount": 1099, "currency": "USD"},
                    "status": "COMPLETED",
                    "order_id": "s1",
                    "reference_id": "O-1",
                }
            },
        },
    },
    "x-square-hmacsha256-signature",
    encoding="base64",
    url=URL,
)
RAZORPAY: Final = raw(
    "razorpay",
    {
        "account_id": "acc_1",
        "event": "payment.captured",
        "payload": {
            "payment": {
                "entity": {
                    "id": "pay_1",
                    "amount": 1099,
                    "currency": "INR",
                    "order_id": "O-1",
                    "captured": True,
                    "notes": {"note": "é"},
                }
            }
        },
        "created_at": 1767225591,
    },
    "X-Razorpay-Signature",
)
PAYSTACK: Final = raw(
    "paystack",
    {
        "event": "charge.success",
        "data": {
            "id": 302961,
            "domain": "test",
            "reference": "O-1",
            "amount": 1099,
            "currency": "NGN",
            "paid_at": "2025-12-31T23:59:50.000Z",
        },
    },
    "x-paystack-signature",
    algorithm="sha512",
)
CHECKOUTCOM: Final = raw(
    "checkoutcom",
    {
        "id": "evt_1",
        "type": "payment_captured",
        "created_on": "2025-12-31T23:59:50.1234567Z",
        "data": {
            "id": "pay_1",
            "action_id": "act_1",
            "reference": "O-1",
            "amount": 1099,
            "currency": "EUR",
        },
    },
    "Cko-Signature",
)
SHOPIFY: Final = raw(
    "shopify",
    {
        "id": 820982911946154508,
        "name": "#O-1",
        "financial_status": "paid",
        "total_price": "10.99",
        "currency": "USD",
        "test": True,
        "processed_at": "2025-12-31T18:59:50-05:00",
    },
    "X-Shopify-Hmac-SHA256",
    encoding="base64",
)
MOLLIE_NEXTGEN: Final = raw(
    "mollie_nextgen",
    {
        "id": "event_1",
        "type": "payment.paid",
        "entityId": "tr_1",
        "createdAt": "2025-12-31T23:59:50+00:00",
        "_embedded": {
            "entity": {
                "id": "tr_1",
                "mode": "test",
                "amount": {"currency": "EUR", "value": "10.99"},
                "metadata": {"order_id": "O-1"},
                "profileId": "pfl_1",
            }
        },
    },
    "X-Mollie-Signature",
    prefix="sha256=",
)
FLUTTERWAVE_V4: Final = raw(
    "flutterwave_v4",
    {
        "webhook_id": "wbk_1",
        "timestamp": 1767225594000,
        "type": "charge.completed",
        "data": {
            "id": "chg_1",
            "amount": 10.99,
            "currency": "NGN",
            "reference": "O-1",
            "status": "succeeded",
        },
    },
    "flutterwave-signature",
    encoding="base64",
)
GOCARDLESS: Final = Sender(
    "gocardless",
    signing.an_account(SECRET),
    json.dumps(
        {
            "events": [
                {
                    "id": "EV1",
                    "created_at": "2025-12-31T23:59:00.000Z",
                    "resource_type": "payments",
                    "action": "confirmed",
                    "links": {"payment": "PM1"},
                    "resource_metadata": {"order_no": "O-1"},
                }
            ],
            "meta": {"webhook_id": "WB1"},
        }
    ).encode(),
    "webhook-signature",
    lambda body, secret: signing.signed_raw(body, secret, "Webhook-Signature"),
    states_amounts=False,
)
COINBASE_BUSINESS: Final = Sender(
    "coinbase_business",
    signing.an_account(SECRET, settings={"usdc_is_usd": True}),
    json.dumps(
        {
            "id": "69163c762331ed43dc64a6ef",
            "amount": "10.99",
            "currency": "USDC",
            "eventType": "checkout.payment.success",
            "metadata": {"orderId": "O-1"},
            "status": "COMPLETED",
            "updatedAt": "2025-12-31T23:59:50.000Z",
        }
    ).encode(),
    "x-hook0-signature",
    lambda body, secret: signing.signed_hook0(body, secret, NOW),
    raw=False,
)
SIMULATOR: Final = Sender(
    "simulator",
    signing.an_account(SECRET),
    json.dumps(
        {
            "id": "evt_1",
            "type": "payment.succeeded",
            "created_at": "2025-12-31T23:59:50.000Z",
            "account": "acct_1",
            "live": False,
            "payment": {
                "id": "pay_1",
                "order_no": "O-1",
                "amount_minor": 1099,
                "currency": "EUR",
                "status": "succeeded",
            },
        }
    ).encode(),
    "simulator-signature",
    lambda body, secret: {
        "Content-Type": "application/json",
        "Simulator-Signature": signing.signed_stripe(body, secret, NOW)["Stripe-Signature"],
    },
    raw=False,
)

SENDERS: Final[Mapping[str, Sender]] = {
    sender.name: sender
    for sender in (
        CHECKOUTCOM,
        COINBASE_BUSINESS,
        CUSTOM,
        FLUTTERWAVE_V4,
        GOCARDLESS,
        MOLLIE_NEXTGEN,
        PAYSTACK,
        RAZORPAY,
        SHOPIFY,
        SIMULATOR,
        SQUARE,
        STANDARD,
        STRIPE,
        standard("svix", "svix"),
    )
}
