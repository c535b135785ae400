"""Stripe: snapshot events, signed with the endpoint's secret.

The key is the whole ``whsec_..`` text as bytes. While a secret is being rolled Stripe signs with
both, and either proves the event. Of the account's settings one is used: ``order_key``, the
metadata key that holds the merchant's order number (else ``order_id``, ``order_no``, or
Checkout's ``client_reference_id``).

Thin events (``v2.core.event``) carry no amounts and are ignored.

A Checkout Session of a subscription names its invoice and not its payment, and the payment names
no session; in newer API versions not the invoice either. So the session is a transaction of its
own (``cs_..``), which pays the order that it names. Its payment (``pi_..``) is a second one: if it
names the same order, or none, a person is asked whether both are the same money
(PERHAPS_TOLD_TWICE), with the session's number and order beside the payment's. To be asked
nothing, do not send that account ``payment_intent.succeeded`` and ``charge.succeeded`` for
subscriptions: give them an endpoint of their own that gets the session's events only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from hashlib import sha256
from typing import Final

from orders.money import NotMoney
from orders.strict_json import (
    StrictJsonError,
    at,
    boolean,
    identifier,
    mapping,
    parse,
    required,
    text,
)
from payments.callback import PROVIDER_ID, Callback, Invalid, Kind, Reading, Unreadable
from payments.providers.acknowledgement import BY_STATUS
from payments.providers.api_access import check_api_access
from payments.providers.facts import Facts, KeyFact
from payments.providers.hmac_scheme import HmacScheme, SignatureRule, TimestampRule
from payments.providers.hmac_verify import KEY_PURPOSE, verify
from payments.providers.options import Options
from payments.providers.port import (
    Account,
    Acknowledgement,
    Misconfigured,
    Rejected,
    Reply,
    SignedRequest,
    Verified,
)
from payments.providers.stated_money import AmountRule, Stated, json_amount
from payments.providers.stripe_events import (
    EXPONENTS,
    MEANINGS,
    linked_to,
    meaning_of,
    order_of,
    refund_no_of,
    reversed_by,
    transaction_of,
)
from payments.providers.times import instant

SECRET_PREFIX: Final = b"whsec_"
_AMOUNTS: Final = AmountRule("minor", EXPONENTS)
SCHEME: Final = HmacScheme(
    message=("timestamp", b".", "body"),
    signature=SignatureRule(header="stripe-signature", format="kv", key="v1"),
    timestamp=TimestampRule(item="t"),
)


FACTS: Final = Facts(
    title="Stripe",
    tier="first class",
    signature="HMAC-SHA256, hex, header Stripe-Signature (v1), within 5 minutes",
    signed="the time and the body",
    unsigned="headers",
    retries="live: for up to three days, at growing distances; test: three in a few hours",
    acknowledgement="any 2xx, at once",
    order="metadata order_id or order_no, or client_reference_id",
    amount="amount_received, amount_captured or amount_total; minor units, ISK and UGX in "
    "hundredths, MGA in whole units",
    refund="the refund's id; the charge's where only its total is told",
    settings="order_key, api_url",
    source="https://docs.stripe.com/webhooks",
    evidence="documentation; SDK 16 signs and verifies the samples",
    keys=(KeyFact("signature", "the endpoint's signing secret, with its whsec_"),),
    meanings=MEANINGS,
    nameless=("cs_",),
    api_keys=(KeyFact("api", "a secret or restricted API key", needed=False),),
)


class Stripe:
    """The provider; see the module."""

    facts = FACTS
    scheme = SCHEME
    confirmation_by_default = False

    def check_settings(self, account: Account) -> None:
        """Refuse a key that is not an endpoint's signing secret, and unknown settings."""
        options = Options(account.settings, "settings")
        options.text("order_key", "", empty=True)
        check_api_access(options, account)
        options.finish()
        for key in account.keys:
            if key.purpose != KEY_PURPOSE:
                continue
            if not key.material.startswith(SECRET_PREFIX):
                raise Misconfigured(
                    f"key {key.key_id!r} is not an endpoint's signing secret: that one begins with"
                    " whsec_ and is kept with that prefix"
                )
            # The prefix is part of the key, but nobody has to guess it.
            bare = replace(key, material=key.material.removeprefix(SECRET_PREFIX))
            SCHEME.check_key(bare)

    def authenticate(
        self, request: SignedRequest, account: Account, *, now: datetime
    ) -> Verified | Rejected:
        """Check ``Stripe-Signature``."""
        return verify(SCHEME, request, account, now=now)

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:
        """The one event in the request."""
        event_id = None
        try:
            event = parse(request.body)
            event_id = required(identifier(event, "id"), "id")
            return [callback_of(event, event_id, account)]
        except (StrictJsonError, NotMoney, Invalid) as error:
            if event_id is None or not PROVIDER_ID.fullmatch(event_id):
                event_id = sha256(request.body).hexdigest()
            return [Unreadable(str(error), event_id)]

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """This provider verifies no address."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """Stripe looks at the status only."""
        return BY_STATUS[reply]


def callback_of(event: object, event_id: str, account: Account) -> Callback:
    """The callback in an event. Raises StrictJsonError, NotMoney or Invalid."""
    event_type = required(text(event, "type"), "type")
    ignored = Callback(event_id=event_id, event_type=event_type, kind=Kind.IGNORED)
    if text(event, "object") == "v2.core.event":
        return ignored
    thing = mapping(event, "data", "object")
    kind, amounts, part, cumulative = meaning_of(event_type, thing)
    if kind is Kind.IGNORED:
        return ignored
    subject = mapping(thing, *part)
    money, words = _money(subject, amounts, kind)
    order_key = str(account.settings.get("order_key") or "")
    return Callback(
        event_id=event_id,
        event_type=event_type,
        kind=kind,
        txn_no=required(transaction_of(kind, subject), "data.object.id"),
        order_no=order_of(subject, order_key) or order_of(thing, order_key),
        money=money,
        stated_amount=words,
        account_no=identifier(event, "account"),
        live=boolean(event, "livemode"),
        occurred_at=instant(at(event, "created")),
        linked_nos=tuple(dict.fromkeys([*linked_to(subject), *linked_to(thing)])),
        reverses=reversed_by(kind, subject, thing),
        refund_no=refund_no_of(kind, subject, cumulative=cumulative),
        cumulative=cumulative,
    )


def _money(thing: object, names: tuple[str, ...], kind: Kind) -> Stated:
    amount = next(
        (found for name in names if (found := json_amount(thing, name)) is not None), None
    )
    currency = text(thing, "currency")
    if amount is not None and currency and currency.isascii():
        return _AMOUNTS.money(amount, currency.upper())
    if kind is Kind.PAID:
        raise NotMoney("a payment without an amount or without a currency")
    return Stated()
