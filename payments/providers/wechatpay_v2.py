"""WeChat Pay v2: flat XML, signed with the account's API key. Replaced by APIv3, still in use.

Signed (payments): every element that is not empty, but ``sign``. HMAC-SHA256 with the API key;
where setting ``legacy_md5`` is true, MD5 with the key at the end is accepted too. The message's
own ``sign_type`` chooses nothing. There is no signed time of sending: a replay is told from news
by the transaction alone.

Refund notices are **not signed**: ``req_info`` is merely encrypted (AES-256-ECB, by the MD5 of the
API key), and ECB lets whoever sees notices put new ones together. They are hints, nothing more:
assurance NONE.

The account's number is the ``mch_id``; setting ``appids`` binds the apps as well. A payment is
``return_code`` and ``result_code`` SUCCESS. ``total_fee``, the order's price in fen, is compared;
``cash_fee`` leaves out coupons. Times are Beijing's.

Sent again as by APIv3, for 24 hours, until the answer is an XML with SUCCESS.
https://pay.weixin.qq.com/wiki/doc/api/jsapi.php?chapter=9_7
"""

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Final

from orders.money import NotMoney
from payments.callback import Invalid, Reading, Unreadable
from payments.providers.facts import Facts, KeyFact
from payments.providers.flat_xml import NotFlatXml, parse_flat_xml
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.options import Options
from payments.providers.port import (
    Account,
    Acknowledgement,
    Assurance,
    Key,
    Misconfigured,
    Reason,
    Rejected,
    Reply,
    SignedRequest,
    Verified,
)
from payments.providers.sorted_params import NotParams, to_sign
from payments.providers.wechatpay_v2_notice import MEANINGS, payment, refund
from payments.providers.wechatpay_v2_refund import CannotOpen, opened

FACTS: Final = Facts(
    title="WeChat Pay v2",
    tier="second tier; refund notices are a hint",
    signature="HMAC-SHA256 (or MD5, where legacy_md5 allows it), upper-case hex, element sign",
    signed="all elements but sign and the empty ones; nothing of a refund notice",
    unsigned="refund notices, headers; no time of sending",
    retries="as APIv3, for 24 hours",
    acknowledgement="200 and an XML with SUCCESS",
    order="out_trade_no",
    amount="total_fee; fen",
    refund="refund_id; transaction_id and out_refund_no are linked",
    settings="legacy_md5, appids",
    source="https://pay.weixin.qq.com/wiki/doc/api/jsapi.php?chapter=9_7",
    evidence="a community SDK made the samples; the documentation was not read again",
    keys=(KeyFact("signature", "the API key, 32 letters and digits"),),
    assurance="WHOLE; refund notices NONE",
    meanings=MEANINGS,
)
UNSIGNED: Final = (b"sign",)
_API_KEY_BYTES: Final = 32
_ANSWER: Final = (
    "<xml><return_code><![CDATA[{}]]></return_code><return_msg><![CDATA[{}]]></return_msg></xml>"
)


def _xml(status: int, code: str, message: str) -> Acknowledgement:
    return Acknowledgement(status, _ANSWER.format(code, message).encode(), "text/xml")


_REPLIES: Final[Mapping[Reply, Acknowledgement]] = {
    Reply.ACCEPTED: _xml(200, "SUCCESS", "OK"),
    Reply.REJECTED: _xml(401, "FAIL", "not authentic"),
    Reply.UNKNOWN_KEY: _xml(401, "FAIL", "not authentic"),
    Reply.UNAVAILABLE: _xml(503, "FAIL", "try again later"),
}


class WechatPayV2:
    """The provider; see the module."""

    facts = FACTS
    confirmation_by_default = False

    def check_settings(self, account: Account) -> None:
        """Refuse unknown settings and keys that are not API keys."""
        options = Options(account.settings, "settings")
        options.flag("legacy_md5", default=False)
        options.texts("appids")
        options.finish()
        for key in account.keys:
            if key.purpose == KEY_PURPOSE and (
                len(key.material) != _API_KEY_BYTES or not key.material.isalnum()
            ):
                raise Misconfigured(
                    f"key {key.key_id!r} is not an API key: that one is {_API_KEY_BYTES} letters"
                    " and digits, which you have set in the merchant platform"
                )

    def authenticate(
        self, request: SignedRequest, account: Account, *, now: datetime
    ) -> Verified | Rejected:
        """Check ``sign``; or, for a refund notice, merely that a key opens it."""
        if not request.body:
            return Rejected(Reason.BODY_EMPTY)
        try:
            fields = parse_flat_xml(request.body, root="xml")
        except NotFlatXml:
            return Rejected(Reason.BODY_MALFORMED)
        keys = [key for key in account.keys if key.purpose == KEY_PURPOSE and key.valid_at(now)]
        if not keys:
            return Rejected(Reason.NO_KEY)
        if b"req_info" in fields:
            return _encrypted(fields, keys)
        return _signed(fields, keys, legacy_md5=account.settings.get("legacy_md5") is True)

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:
        """The one payment or refund in the request."""
        event_id = sha256(request.body).hexdigest()
        try:
            fields = parse_flat_xml(request.body, root="xml")
            event_id = sha256(to_sign(fields, without=UNSIGNED, drop_empty=True)).hexdigest()
            if b"req_info" in fields:
                return [refund(fields, opened(fields[b"req_info"], account.keys)[0], account)]
            return [payment(fields, account)]
        except (NotFlatXml, NotParams, NotMoney, Invalid, CannotOpen) as error:
            return [Unreadable(str(error), event_id)]

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """This provider verifies no address."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """A code and a message, in XML."""
        return _REPLIES[reply]


def hmac_sha256(text: bytes, secret: bytes) -> bytes:
    """The signature of the sorted fields, as it is written."""
    return hmac.digest(secret, text, "sha256").hex().upper().encode()


def md5(text: bytes, _: bytes) -> bytes:
    """The old signature; the secret stands in the text."""
    return hashlib.md5(text, usedforsecurity=False).hexdigest().upper().encode()


def _signed(
    fields: Mapping[bytes, bytes], keys: Sequence[Key], *, legacy_md5: bool
) -> Verified | Rejected:
    signature = fields.get(b"sign")
    if not signature:
        return Rejected(Reason.SIGNATURE_MISSING)
    methods: Sequence[Callable[[bytes, bytes], bytes]] = (
        (hmac_sha256, md5) if legacy_md5 else (hmac_sha256,)
    )
    for key in keys:
        if not key.material:  # check_settings reports it; an empty key proves nothing
            continue
        text = to_sign(fields, without=UNSIGNED, drop_empty=True, suffix=b"&key=" + key.material)
        if any(hmac.compare_digest(method(text, key.material), signature) for method in methods):
            return Verified(key.key_id)
    return Rejected(Reason.SIGNATURE_WRONG)


def _encrypted(fields: Mapping[bytes, bytes], keys: Sequence[Key]) -> Verified | Rejected:
    if b"sign" in fields:  # no such message exists: which part of it would count?
        return Rejected(Reason.BODY_MALFORMED)
    try:
        _, key = opened(fields[b"req_info"], keys)
    except CannotOpen:
        return Rejected(Reason.SIGNATURE_WRONG)
    return Verified(key.key_id, Assurance.NONE)
