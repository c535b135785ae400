"""UnionPay 5.1.0: backend notices (form), signed by the certificate that they carry.

Signed: every field but ``signature``, the certificate (``signPubKeyCert``) and empty ones
included. What RSA signs is the hex text of the sorted fields' SHA-256. Unsigned: the headers and
the address. There is no signed time of sending.

Anybody can send a certificate of his own, so it counts only when it is trusted: issued, through
certificates configured for the account (purpose ``certificate``: CFCA's middle and root), to
UnionPay, and valid now. A leaf certificate that is configured itself is trusted as it stands;
test accounts may also use UnionPay's test name. Version 5.0.0 (SHA-1) and the other ``signMethod``
values are refused.

The account's number is the ``merId``. UnionPay asks merchants to query before they deliver goods
for fund transactions: an account can require that confirmation. Sent about five times within
minutes. https://open.unionpay.com/tjweb/acproduct/APIList?apiservId=448
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Final

from orders.money import NotMoney
from payments.callback import Invalid, Reading, Unreadable
from payments.providers.acknowledgement import BY_STATUS
from payments.providers.facts import Facts, KeyFact
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.options import Options
from payments.providers.port import (
    CERTIFICATE_PURPOSE,
    Account,
    Acknowledgement,
    Misconfigured,
    Reason,
    Rejected,
    Reply,
    SignedRequest,
    Verified,
)
from payments.providers.rsa_verify import certificate, is_signed
from payments.providers.sorted_params import NotParams, parse_form, to_sign
from payments.providers.unionpay_certificate import trusted
from payments.providers.unionpay_notice import MEANINGS, notice

FACTS: Final = Facts(
    title="UnionPay 5.1.0",
    tier="second tier",
    signature="RSA (PKCS #1 v1.5, SHA-256) of the fields' SHA-256 in hex; certificate in the form",
    signed="all fields but signature, the certificate too, as bytes",
    unsigned="headers, how the form is escaped; no time of sending",
    retries="about five within minutes",
    acknowledgement="200",
    order="orderId",
    amount="txnAmt; minor units, numeric currency",
    refund="queryId of the refund; origQryId is linked",
    source="https://open.unionpay.com/tjweb/acproduct/APIList?apiservId=448",
    evidence="one published sandbox message with its certificate; the retries are hearsay",
    keys=(KeyFact("certificate", "CFCA's middle and root certificate in PEM, a key each"),),
    meanings=MEANINGS,
)
UNSIGNED: Final = (b"signature",)
VERSION: Final = b"5.1.0"
SIGN_METHOD: Final = b"01"


class UnionPay:
    """The provider; see the module."""

    facts = FACTS
    confirmation_by_default = False

    def check_settings(self, account: Account) -> None:
        """Refuse settings, of which there are none, and certificates that are none."""
        Options(account.settings, "settings").finish()
        for key in account.keys:
            if key.purpose == CERTIFICATE_PURPOSE:
                certificate(key)
            elif key.purpose == KEY_PURPOSE:
                raise Misconfigured(
                    f"key {key.key_id!r} would verify nothing: UnionPay's messages bring their key"
                    f" along; give the certificates that vouch for it, as {CERTIFICATE_PURPOSE}"
                )

    def authenticate(
        self, request: SignedRequest, account: Account, *, now: datetime
    ) -> Verified | Rejected:
        """Check ``signature`` by the certificate in the form, and that certificate."""
        if not request.body:
            return Rejected(Reason.BODY_EMPTY)
        try:
            params = parse_form(request.body)
        except NotParams:
            return Rejected(Reason.BODY_MALFORMED)
        if not params.get(b"signature"):
            return Rejected(Reason.SIGNATURE_MISSING)
        if (params.get(b"version"), params.get(b"signMethod")) != (VERSION, SIGN_METHOD):
            return Rejected(Reason.METHOD_UNSUPPORTED)
        return _verified(params, account, now)

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:  # noqa: ARG002
        """The one transaction in the form."""
        event_id = sha256(request.body).hexdigest()
        try:
            params = parse_form(request.body)
            event_id = sha256(to_sign(params, without=UNSIGNED)).hexdigest()
            return [notice(params)]
        except (NotParams, NotMoney, Invalid) as error:
            return [Unreadable(str(error), event_id)]

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """This provider verifies no address."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """UnionPay looks at the status only."""
        return BY_STATUS[reply]


def digest_to_sign(params: Mapping[bytes, bytes]) -> bytes:
    """What RSA signs: the sorted fields' SHA-256 as lower-case hex."""
    return sha256(to_sign(params, without=UNSIGNED)).hexdigest().encode()


def _verified(
    params: Mapping[bytes, bytes], account: Account, now: datetime
) -> Verified | Rejected:
    pinned = [
        key for key in account.keys if key.purpose == CERTIFICATE_PURPOSE and key.valid_at(now)
    ]
    if not pinned:
        return Rejected(Reason.NO_KEY)
    signer = trusted(params.get(b"signPubKeyCert", b""), pinned, live=account.live, now=now)
    if signer is None:
        return Rejected(Reason.CERTIFICATE_UNTRUSTED)
    if not is_signed(signer.public_key, digest_to_sign(params), params[b"signature"]):
        return Rejected(Reason.SIGNATURE_WRONG)
    return Verified(signer.key_id)
