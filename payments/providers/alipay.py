"""Alipay: asynchronous notifications of trades, signed with RSA2.

Signed: every field of the form but ``sign`` and ``sign_type``, empty and unknown ones included,
as bytes in whatever charset. Unsigned: those two, the headers, the address and its query, and how
the form is escaped. The algorithm is RSA2 (SHA-256) whatever ``sign_type`` says. There is no
signed time of sending: a replay is told from news by the transaction alone.

The account's number is the ``app_id``; setting ``seller_id`` binds the seller as well. A key is
Alipay's public key, or the Alipay public key certificate (``alipayCertPublicKey_RSA2.crt``) of an
app in certificate mode. ``alipay_cert_sn`` chooses nothing: each configured key is tried.

Sent again after 4, 10, 10 minutes, 1, 2, 6 and 15 hours, until the answer is ``success``, with the
same ``notify_id``. https://opendocs.alipay.com/open/203/105286
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Final

from orders.money import NotMoney
from payments.callback import PROVIDER_ID, Invalid, Reading, Unreadable
from payments.providers.alipay_trade import MEANINGS, trade
from payments.providers.api_access import check_api_access
from payments.providers.facts import Facts, KeyFact
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.options import Options
from payments.providers.port import (
    Account,
    Acknowledgement,
    Reason,
    Rejected,
    Reply,
    SignedRequest,
    Verified,
)
from payments.providers.rsa_verify import public_key, signing_key
from payments.providers.sorted_params import (
    NotParams,
    ascii_required,
    parse_form,
    to_sign,
)

FACTS: Final = Facts(
    title="Alipay",
    tier="first class",
    signature="RSA2 (PKCS #1 v1.5, SHA-256), base64, field sign",
    signed="all fields but sign and sign_type, empty and unknown ones too, as bytes",
    unsigned="sign_type, headers, how the form is escaped; no time of sending",
    retries="4, 10, 10 minutes, 1, 2, 6, 15 hours",
    acknowledgement="200 and the body success",
    order="out_trade_no",
    amount="total_amount; yuan, two decimals",
    refund="trade_no: refund_fee is the trade's total so far; out_biz_no is linked",
    settings="seller_id, api_url",
    source="https://opendocs.alipay.com/open/203/105286",
    evidence="sources of the official SDKs; two SDKs made the samples; retries as others quote the"
    " documentation",
    keys=(KeyFact("signature", "Alipay's public key (not the app's), or its certificate"),),
    meanings=MEANINGS,
    api_keys=(KeyFact("api-private", "the app's RSA key in PEM", needed=False),),
)
UNSIGNED: Final = (b"sign", b"sign_type")
_REPLIES: Final[Mapping[Reply, Acknowledgement]] = {
    Reply.ACCEPTED: Acknowledgement(200, b"success"),
    Reply.REJECTED: Acknowledgement(401, b"fail"),
    Reply.UNKNOWN_KEY: Acknowledgement(401, b"fail"),
    Reply.UNAVAILABLE: Acknowledgement(503, b"fail"),
}


class Alipay:
    """The provider; see the module."""

    facts = FACTS
    confirmation_by_default = False

    def check_settings(self, account: Account) -> None:
        """Refuse unknown settings, another algorithm than RSA2, and keys that are none."""
        options = Options(account.settings, "settings")
        options.text("seller_id", "", empty=True)
        options.text("sign_type", "RSA2", choices=["RSA2"])
        check_api_access(options, account)
        options.finish()
        for key in account.keys:
            if key.purpose == KEY_PURPOSE:
                public_key(key)

    def authenticate(
        self, request: SignedRequest, account: Account, *, now: datetime
    ) -> Verified | Rejected:
        """Check the form's ``sign``."""
        if not request.body:
            return Rejected(Reason.BODY_EMPTY)
        try:
            params = parse_form(request.body)
        except NotParams:
            return Rejected(Reason.BODY_MALFORMED)
        signature = params.get(b"sign")
        if not signature:
            return Rejected(Reason.SIGNATURE_MISSING)
        keys = [key for key in account.keys if key.purpose == KEY_PURPOSE and key.valid_at(now)]
        if not keys:
            return Rejected(Reason.NO_KEY)
        signer = signing_key(keys, to_sign(params, without=UNSIGNED), signature, now=now)
        return Verified(signer.key_id) if signer else Rejected(Reason.SIGNATURE_WRONG)

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:
        """The one trade in the form."""
        event_id = sha256(request.body).hexdigest()
        try:
            params = parse_form(request.body)
            # Without a notify_id: not the body's digest, which an unsigned field changes.
            event_id = sha256(to_sign(params, without=UNSIGNED)).hexdigest()
            stated = ascii_required(params, "notify_id")
            event_id = stated if PROVIDER_ID.fullmatch(stated) else event_id
            return [trade(params, stated, account)]
        except (NotParams, NotMoney, Invalid) as error:
            return [Unreadable(str(error), event_id)]

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """This provider verifies no address."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """``success`` and nothing else, or it comes again."""
        return _REPLIES[reply]
