"""Samples of the providers that sign the whole body, or nothing, with a shared secret."""

import json
from typing import Any, Final

from payments.callback import Kind
from payments.providers import custom, standardwebhooks
from payments.providers.custom import Custom
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_scheme import HmacScheme
from payments.providers.hmac_sign import sign
from payments.providers.port import SignedRequest
from payments.providers.samples.mapped import bodies
from payments.providers.samples.occurrence import Hand, Made, Occurrence
from payments.providers.standardwebhooks import StandardWebhooks
from payments.providers.stated_money import AmountRule
from payments.providers.static_token import StaticToken
from payments.providers.stripe import SCHEME
from payments.providers.stripe_events import EXPONENTS

_STRIPE_EVENTS: Final = {
    Kind.PAID: ("payment_intent.succeeded", {"object": "payment_intent", "status": "succeeded"}),
    Kind.AUTHORIZED: (
        "payment_intent.amount_capturable_updated",
        {"object": "payment_intent", "status": "requires_capture"},
    ),
    Kind.PENDING: ("payment_intent.processing", {"object": "payment_intent"}),
    Kind.FAILED: ("payment_intent.payment_failed", {"object": "payment_intent"}),
    Kind.CLOSED: ("payment_intent.canceled", {"object": "payment_intent"}),
    Kind.REFUNDED: ("refund.updated", {"object": "refund", "status": "succeeded"}),
    Kind.REFUND_FAILED: ("refund.failed", {"object": "refund", "status": "failed"}),
    Kind.DISPUTED: ("charge.dispute.created", {"object": "dispute", "status": "needs_response"}),
    Kind.DISPUTE_WON: ("charge.dispute.closed", {"object": "dispute", "status": "won"}),
    Kind.DISPUTE_LOST: ("charge.dispute.closed", {"object": "dispute", "status": "lost"}),
}


def declared(name: str, provider: HmacProvider, told: Occurrence, hand: Hand) -> Made:
    """Of a provider that is a declaration."""
    for body in bodies(name, provider.events.maps, told, hand):
        yield _signed(provider.scheme, body, told, hand)


def token(name: str, provider: StaticToken, told: Occurrence, hand: Hand) -> Made:
    """Of a provider that sends a token, and signs nothing."""
    for body in bodies(name, provider.events.maps, told, hand):
        yield hand.request(body, {provider.header: hand.secret().material.decode()})


def configured(
    name: str, provider: StandardWebhooks | Custom, told: Occurrence, hand: Hand
) -> Made:
    """Of a provider whose fields, or all of it, an account's settings describe."""
    if isinstance(provider, Custom):
        scheme, fields = custom.scheme_of(hand.account), custom.fields_of(hand.account)
    else:
        scheme, fields = provider.scheme, standardwebhooks.fields_of(hand.account)
    for body in bodies(name, [fields], told, hand):
        yield _signed(scheme, body, told, hand)


def stripe(told: Occurrence, hand: Hand) -> Made:
    """A snapshot event about a PaymentIntent, a refund or a dispute."""
    event_type, shape = _STRIPE_EVENTS[told.kind]
    amount = AmountRule("minor", EXPONENTS).written(told.money)
    order_key = hand.account.settings.get("order_key") or "order_id"
    thing: dict[str, Any] = {
        "id": told.txn_no,
        **shape,
        "amount": amount,
        "currency": told.money.currency.lower(),
        "metadata": {order_key: told.order_no},
    }
    if told.is_reversal:
        thing["payment_intent"] = told.payment_no
    event = {
        "id": told.event_id,
        "object": "event",
        "created": int(told.at.timestamp()),
        "livemode": hand.account.live,
        "type": event_type,
        "data": {"object": thing},
    }
    yield _signed(SCHEME, json.dumps(event).encode(), told, hand)


def _signed(scheme: HmacScheme, body: bytes, told: Occurrence, hand: Hand) -> SignedRequest:
    secret = hand.secret().material
    headers = sign(scheme, secret, body, now=told.at, message_id=told.event_id, url=hand.url)
    return hand.request(body, headers)
