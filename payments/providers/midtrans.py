"""Midtrans: HTTP notifications with a digest of three fields.

Signed: ``order_id``, ``status_code`` and ``gross_amount``, put together without anything between
them and followed by the server key, by SHA-512. Not signed: everything else, the status, the
transaction's number, the currency and the merchant among them. What is made of it:

- the status must fit the signed code: what is pending (201) cannot become settled (200). Statuses
  with the same code are not told apart: whoever has seen an authorisation, a denial or a
  cancellation that came with 200 can tell it as a settlement, and a settlement as a refund.
  Where that is not enough, the account can require confirmation by the API.
- the three can be cut in several ways, so each must have its exact form, and the code be one of
  those that are sent. What remains is another order whose price would have to fit as well.
- a transaction is known by the order number, which Midtrans takes once per payment; its own
  number could be changed, and a replay would look like a second payment. It is linked.
- amounts are rupiah. Another currency is not read at all.

The key is the server key, or the separate signature secret where the dashboard has one.

How often it is sent again depends on our answer: 500 once, 503 four times, 502 five times.
https://docs.midtrans.com/docs/https-notification-webhooks
"""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Final, NamedTuple

from orders.money import NotMoney
from orders.strict_json import JsonObject, StrictJsonError, mapping, parse, required, text
from payments.callback import Invalid, Reading, Unreadable
from payments.providers.acknowledgement import BY_STATUS
from payments.providers.facts import Facts, KeyFact
from payments.providers.hmac_scheme import HmacScheme, SignatureRule
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.midtrans_status import MEANINGS, callback_of, fits
from payments.providers.options import Options
from payments.providers.port import (
    Account,
    Acknowledgement,
    Assurance,
    Key,
    Reason,
    Rejected,
    Reply,
    SignedRequest,
    Verified,
)

FACTS: Final = Facts(
    title="Midtrans",
    tier="second tier",
    signature="SHA-512 of the signed fields and the server key, hex, field signature_key",
    signed="order_id, status_code, gross_amount",
    unsigned="transaction_status (it must fit status_code), transaction_id, fraud_status,"
    " currency, merchant_id, refund_amount and all else",
    retries="by our answer: 502 five times over 3.5 hours, 503 four times, 500 once",
    acknowledgement="any 2xx; temporary failure 502",
    order="order_id",
    amount="gross_amount; for refunds refund_amount; rupiah with two decimals, as text",
    refund="order_id: the total refunded so far",
    source="https://docs.midtrans.com/docs/https-notification-webhooks",
    evidence="documentation; samples made with sha512sum",
    keys=(KeyFact("signature", "the server key, or the signature secret if there is one"),),
    assurance="PARTIAL",
    meanings=MEANINGS,
)
_FORMS: Final = (
    re.compile(r"[A-Za-z0-9._~:-]{1,64}", re.ASCII),
    re.compile(r"[2-5][0-9]{2}", re.ASCII),
    re.compile(r"(?:0|[1-9][0-9]{0,14})(?:\.[0-9]{2})?", re.ASCII),
)
_REPLIES: Final[Mapping[Reply, Acknowledgement]] = {
    **BY_STATUS,
    Reply.UNAVAILABLE: Acknowledgement(502, b"try again later"),
}
# What a server key must be, is what any secret must be.
_SECRETS: Final = HmacScheme(signature=SignatureRule(header="-"))


class Signed(NamedTuple):
    """The signed fields, in their order."""

    order_id: str
    status_code: str
    gross_amount: str

    def digest(self, server_key: bytes) -> bytes:
        """The signature as it is written."""
        return hashlib.sha512("".join(self).encode() + server_key).hexdigest().encode()


class Midtrans:
    """The provider; see the module."""

    confirmation_by_default = False
    facts = FACTS

    def check_settings(self, account: Account) -> None:
        """Refuse settings, of which there are none, and keys that could be guessed."""
        Options(account.settings, "settings").finish()
        for key in account.keys:
            if key.purpose == KEY_PURPOSE:
                _SECRETS.check_key(key)

    def authenticate(
        self, request: SignedRequest, account: Account, *, now: datetime
    ) -> Verified | Rejected:
        """Check ``signature_key``, and that the status fits the signed code."""
        try:
            found = _signer(request.body, account, now)
        except StrictJsonError:
            return Rejected(Reason.BODY_MALFORMED)
        if isinstance(found, Reason):
            return Rejected(found)
        return Verified(found.key_id, Assurance.PARTIAL)

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:  # noqa: ARG002
        """The one transaction in the request."""
        event_id = sha256(request.body).hexdigest()
        try:
            document: JsonObject = required(mapping(parse(request.body)))
            event_id = sha256("\0".join(signed_fields(document)).encode()).hexdigest()
            return [callback_of(document, event_id)]
        except (StrictJsonError, NotMoney, Invalid) as error:
            return [Unreadable(str(error), event_id)]

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """This provider verifies no address."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """Midtrans counts its retries by the status."""
        return _REPLIES[reply]


def signed_fields(document: object) -> Signed:
    """The signed fields, each of its form. Raises StrictJsonError."""
    signed = Signed(*(required(text(document, name), name) for name in Signed._fields))
    for name, value, form in zip(Signed._fields, signed, _FORMS, strict=True):
        if not form.fullmatch(value):
            raise StrictJsonError(f"{name} has another form")
    return signed


def _signer(body: bytes, account: Account, now: datetime) -> Key | Reason:
    """The key that made the digest, or why none did. Raises StrictJsonError."""
    keys = [
        key
        for key in account.keys
        if key.purpose == KEY_PURPOSE and key.material and key.valid_at(now)
    ]
    if not keys:
        return Reason.NO_KEY
    if not body:
        return Reason.BODY_EMPTY
    document = parse(body)
    stated = text(document, "signature_key")
    if not stated:
        return Reason.SIGNATURE_MISSING
    signed = signed_fields(document)
    if not fits(document):
        return Reason.BODY_MALFORMED
    # Bytes, because compare_digest refuses non-ASCII text.
    signature = stated.encode("ascii", "replace")
    found = (k for k in keys if hmac.compare_digest(signed.digest(k.material), signature))
    return next(found, Reason.SIGNATURE_WRONG)
