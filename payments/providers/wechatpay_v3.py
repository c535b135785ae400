"""WeChat Pay APIv3: notifications signed with RSA, their content encrypted with AES-256-GCM.

Signed: ``Wechatpay-Timestamp``, ``Wechatpay-Nonce`` and the body, each with a line feed after it;
then whether the time is within 300 seconds. Unsigned: the other headers and the address.

``Wechatpay-Serial`` selects among the configured keys, and only there. Both kinds are used at
once while a merchant moves from one to the other:

- purpose ``signature``, key id ``PUB_KEY_ID_..``: WeChat Pay's public key;
- purpose ``certificate``: a platform certificate, known by its own serial number.

Another serial, or an expired certificate, is an unknown key: WeChat sends again, and meanwhile
the new key can be added. So is an APIv3 key (purpose ``decryption``, 32 bytes) that is missing.
Every configured APIv3 key is tried, retired ones too: repeats after a reset still use the old.

SM2, SM3 and SM4 (accounts in Chinese-cryptography mode) are not supported and are refused.
Signatures beginning ``WECHATPAY/SIGNTEST/`` are WeChat's own test that wrong ones are refused;
the same notification then comes again, signed rightly.

Sent again after 15, 15, 30 seconds, 3, 10, 20, 30, 30, 30, 60 minutes, 3, 3, 3, 6 and 6 hours. An
answer must come within 5 seconds. https://pay.weixin.qq.com/doc/v3/merchant/4012791861
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Final

from orders.money import NotMoney
from orders.strict_json import StrictJsonError, identifier, parse, required
from payments.callback import PROVIDER_ID, Invalid, Reading, Unreadable
from payments.providers.api_access import check_api_access
from payments.providers.facts import Facts, KeyFact
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.options import Options
from payments.providers.port import (
    CERTIFICATE_PURPOSE,
    Account,
    Acknowledgement,
    Key,
    Misconfigured,
    Reason,
    Rejected,
    Reply,
    SignedRequest,
    UnknownKey,
    Verdict,
    Verified,
)
from payments.providers.rsa_verify import certificate, public_key
from payments.providers.wechatpay_v3_notice import MEANINGS, notice
from payments.providers.wechatpay_v3_resource import (
    DECRYPTION_PURPOSE,
    CannotOpen,
    OtherAlgorithm,
    check_decryption_key,
    opened,
)
from payments.providers.wechatpay_v3_signature import signer

FACTS: Final = Facts(
    title="WeChat Pay APIv3",
    tier="first class",
    signature="RSA (PKCS #1 v1.5, SHA-256), base64, key by Wechatpay-Serial; AES-256-GCM inside",
    signed="Wechatpay-Timestamp (300 s), Wechatpay-Nonce, the body",
    unsigned="other headers",
    retries="15, 15, 30 s, 3, 10, 20, 30, 30, 30, 60 minutes, 3, 3, 3, 6, 6 hours",
    acknowledgement="200, empty, within 5 s",
    order="out_trade_no",
    amount="amount.total; fen",
    refund="refund_id, amount.refund; transaction_id and out_refund_no are linked",
    settings="appids, api_url",
    source="https://pay.weixin.qq.com/doc/v3/merchant/4012791861",
    evidence="documentation; SDK 2.0 made the samples; one official sample",
    keys=(
        KeyFact("signature", "WeChat Pay's public key; the key id is PUB_KEY_ID_..", needed=False),
        KeyFact("certificate", "a platform certificate in PEM, until those end", needed=False),
        KeyFact("decryption", "the APIv3 key, 32 letters and digits"),
    ),
    meanings=MEANINGS,
    api_keys=(
        KeyFact(
            "api-private",
            "the merchant's RSA key in PEM; its id is the serial number of the API certificate",
            needed=False,
        ),
    ),
)

PUBLIC_KEY_PREFIX: Final = "PUB_KEY_ID_"
#: How the missing key is named: a notification does not say which one sealed it.
APIV3_KEY: Final = "APIv3 key"


def _fail(status: int, message: str) -> Acknowledgement:
    body = json.dumps({"code": "FAIL", "message": message}).encode()
    return Acknowledgement(status, body, "application/json")


_REPLIES: Final[Mapping[Reply, Acknowledgement]] = {
    Reply.ACCEPTED: Acknowledgement(200),
    Reply.REJECTED: _fail(401, "not authentic"),
    Reply.UNKNOWN_KEY: _fail(401, "not authentic"),
    Reply.UNAVAILABLE: _fail(503, "try again later"),
}


class WechatPayV3:
    """The provider; see the module."""

    facts = FACTS
    confirmation_by_default = False

    def check_settings(self, account: Account) -> None:
        """Refuse unknown settings and keys that cannot verify or decrypt anything."""
        options = Options(account.settings, "settings")
        options.texts("appids")
        check_api_access(options, account)
        options.finish()
        for key in account.keys:
            if key.purpose == DECRYPTION_PURPOSE:
                check_decryption_key(key)
            elif key.purpose == CERTIFICATE_PURPOSE:
                certificate(key)
                public_key(key)
            elif key.purpose == KEY_PURPOSE:
                public_key(key)
                if not key.key_id.upper().startswith(PUBLIC_KEY_PREFIX):
                    raise Misconfigured(
                        f"key {key.key_id!r} must have the id by which WeChat Pay names its public"
                        f" key ({PUBLIC_KEY_PREFIX}..); a certificate has purpose certificate"
                    )

    def authenticate(self, request: SignedRequest, account: Account, *, now: datetime) -> Verdict:
        """Check the signature by the key that the serial names, then that it can be opened."""
        key = signer(request, account, now=now)
        return _openable(request.body, account, key) if isinstance(key, Key) else key

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:
        """The one notification in the request."""
        event_id = None
        try:
            envelope = parse(request.body)
            event_id = required(identifier(envelope, "id"), "id")
            resource, _ = opened(envelope, account.keys)
            return [notice(envelope, resource, event_id, account)]
        except (StrictJsonError, NotMoney, Invalid, CannotOpen) as error:
            if event_id is None or not PROVIDER_ID.fullmatch(event_id):
                event_id = sha256(request.body).hexdigest()
            return [Unreadable(str(error), event_id)]

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """This provider verifies no address."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """An empty 200, or a code and a message."""
        return _REPLIES[reply]


def _openable(body: bytes, account: Account, key: Key) -> Verdict:
    """The verdict on a signed body; one that no APIv3 key opens must come again."""
    try:
        _, opener = opened(parse(body), account.keys)
    except OtherAlgorithm:
        return Rejected(Reason.METHOD_UNSUPPORTED)
    except CannotOpen:
        return UnknownKey(APIV3_KEY)
    except StrictJsonError:  # whoever reads it says what is wrong
        return Verified(key.key_id)
    return Verified(key.key_id, opened_by=opener.key_id)
