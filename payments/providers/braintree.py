"""Braintree: a form with a signed payload, which is XML in base64.

Signed: the payload, as text with its line breaks, by HMAC-SHA1 with the SHA-1 of the private key
as key. That is the protocol; nothing stronger is offered, and an HMAC does not fall with its
hash's collisions. ``bt_signature`` holds pairs of a public key and a signature; the public key
chooses among the configured ones, whose key id it is. There is no signed time of sending that
could be checked against retries, which go on for a day.

An address is verified by a GET with ``bt_challenge``, answered with the challenge's signature.
So that nobody can have a payload signed in this way, a payload that could be a challenge is
refused.

Settings: ``currency``, for events that do not state it (without it their amount is asked from
the API); ``merchant_accounts``, to bind them.

Sent hourly for 24 hours (sandbox 3). https://developer.paypal.com/braintree/docs/guides/webhooks
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Final

from orders.money import NotMoney, exponent_of
from payments.callback import Invalid, Reading, Unreadable
from payments.providers.acknowledgement import BY_STATUS
from payments.providers.braintree_notification import (
    MEANINGS,
    NotANotification,
    callback_of,
    opened,
)
from payments.providers.braintree_signature import PUBLIC_KEY, signature_of, verdict_on
from payments.providers.facts import Facts, KeyFact
from payments.providers.hmac_scheme import HmacScheme, SignatureRule
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.options import Options
from payments.providers.port import (
    Account,
    Acknowledgement,
    Misconfigured,
    Reason,
    Rejected,
    Reply,
    SignedRequest,
    UnknownKey,
    Verified,
)
from payments.providers.sorted_params import NotParams, parse_form

FACTS: Final = Facts(
    title="Braintree",
    tier="second tier",
    signature="HMAC-SHA1 with the SHA-1 of the private key, hex, field bt_signature",
    signed="the payload",
    unsigned="other fields and headers",
    retries="hourly for 24 hours; sandbox 3 hours",
    acknowledgement="any 2xx within 30 s; GET bt_challenge is answered with its signature",
    order="order-id",
    amount="amount; major units as text",
    refund="id of the refund transaction",
    settings="currency, merchant_accounts; the key id is the public key",
    source="https://developer.paypal.com/braintree/docs/guides/webhooks",
    evidence="documentation; SDK 4.48 makes and verifies the samples",
    keys=(KeyFact("signature", "the API's private key; the key id is its public key"),),
    meanings=MEANINGS,
)

_PAYLOAD: Final = re.compile(rb"[A-Za-z0-9+/=\n]+")
_CHALLENGE: Final = re.compile(r"[a-f0-9]{20,32}", re.ASCII)
# What a private key must be, is what any secret must be.
_SECRETS: Final = HmacScheme(signature=SignatureRule(header="-"))


class Braintree:
    """The provider; see the module."""

    confirmation_by_default = False
    facts = FACTS

    def check_settings(self, account: Account) -> None:
        """Refuse unknown settings, and keys that are not named by their public key."""
        options = Options(account.settings, "settings")
        options.texts("merchant_accounts")
        currency = options.text("currency", "", empty=True)
        options.finish()
        try:
            exponent_of(currency or "USD")
        except NotMoney as error:
            raise Misconfigured(f"settings.currency: {error}") from None
        for key in account.keys:
            if key.purpose != KEY_PURPOSE:
                continue
            if not PUBLIC_KEY.fullmatch(key.key_id):
                raise Misconfigured(
                    f"key {key.key_id!r}: its id must be the public key that belongs to it"
                )
            _SECRETS.check_key(key)

    def authenticate(
        self, request: SignedRequest, account: Account, *, now: datetime
    ) -> Verified | Rejected | UnknownKey:
        """Check ``bt_signature``."""
        if not request.body:
            return Rejected(Reason.BODY_EMPTY)
        keys = {
            key.key_id: key
            for key in reversed(account.keys)
            if key.purpose == KEY_PURPOSE and key.material and key.valid_at(now)
        }
        if not keys:
            return Rejected(Reason.NO_KEY)
        try:
            params = parse_form(request.body)
        except NotParams:
            return Rejected(Reason.BODY_MALFORMED)
        payload, stated = params.get(b"bt_payload", b""), params.get(b"bt_signature", b"")
        if not stated:
            return Rejected(Reason.SIGNATURE_MISSING)
        if not _PAYLOAD.fullmatch(payload) or _CHALLENGE.fullmatch(payload.decode().strip()):
            return Rejected(Reason.BODY_MALFORMED)
        return verdict_on(payload, stated, keys)

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:
        """The one notification in the payload."""
        event_id = sha256(request.body).hexdigest()
        try:
            payload = parse_form(request.body).get(b"bt_payload", b"")
            # The payload as it was signed, however the form is escaped.
            event_id = sha256(payload.rstrip(b"\n")).hexdigest()
            return [callback_of(opened(payload), account, event_id)]
        except (NotParams, NotANotification, NotMoney, Invalid) as error:
            return [Unreadable(str(error), event_id)]

    def probe(self, query: Mapping[str, str], account: Account) -> Acknowledgement | None:
        """Sign the challenge with the newest key."""
        challenge = query.get("bt_challenge", "")
        keys = [key for key in account.keys if key.purpose == KEY_PURPOSE and key.material]
        if not keys or not _CHALLENGE.fullmatch(challenge):
            return None
        answer = f"{keys[0].key_id}|".encode() + signature_of(challenge.encode(), keys[0].material)
        return Acknowledgement(200, answer)

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """Braintree looks at the status only."""
        return BY_STATUS[reply]
