"""The signature of a PayPal webhook, and the certificate that must have made it.

Signed is ``<transmission id>|<transmission time>|<webhook id>|<CRC32 of the body>``, with RSA and
SHA-256. The request names the address of the certificate. It is asked for only at PayPal's own
addresses, those of the account's mode, and believed only if a public authority issued it to
PayPal's name for this purpose. An account that pins certificates never asks: a key with purpose
``certificate``, whatever its id is, unless the id is such an address.
"""

import re
import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from payments.providers.port import (
    CERTIFICATE_PURPOSE,
    Account,
    CertificateNeeded,
    Key,
    Misconfigured,
    Reason,
    Rejected,
    SignedRequest,
)
from payments.providers.public_certificate import public_roots, roots_in, vouched_key
from payments.providers.rsa_verify import is_signed, signing_key
from payments.providers.times import instant

ALGORITHM: Final = "SHA256withRSA"
CERTIFICATE_NAME: Final = "messageverificationcerts.paypal.com"
#: Retries go on for three days.
AGE_MAX: Final = timedelta(days=4)
AHEAD_MAX: Final = timedelta(minutes=5)

_PATH: Final = "/v1/notifications/certs/[A-Za-z0-9_-]{1,64}"
_LIVE: Final = re.compile(rf"https://api(?:-m)?\.paypal\.com{_PATH}", re.ASCII)
_SANDBOX: Final = re.compile(rf"https://api(?:-m)?\.sandbox\.paypal\.com{_PATH}", re.ASCII)
_ID: Final = re.compile(r"[A-Za-z0-9-]{1,64}", re.ASCII)
_SIGNATURE_LENGTH_MAX: Final = 2048


class _Stated(NamedTuple):
    """The headers, each of its form."""

    transmission_id: str
    time: str
    signature: str
    url: str


def signer(
    request: SignedRequest, account: Account, *, now: datetime
) -> str | Rejected | CertificateNeeded:
    """The id of the key that has signed the request, or what is missing. Never raises."""
    webhook_ids = account.settings.get("webhook_ids") or ()
    if not webhook_ids:
        return Rejected(Reason.MISCONFIGURED)
    stated = _stated(request, account, now)
    if isinstance(stated, Reason):
        return Rejected(stated)
    messages = [
        signed_text(stated.transmission_id, stated.time, webhook_id, request.body)
        for webhook_id in webhook_ids
    ]
    signature = stated.signature.encode("ascii", "replace")
    keys = [key for key in account.keys if key.purpose == CERTIFICATE_PURPOSE]
    fetched = next((key for key in keys if key.key_id == stated.url), None)
    if fetched is not None:
        return _signed_by_fetched(fetched, messages, signature, account, now)
    pins = [key for key in keys if not key.key_id.startswith("https://")]
    if not pins:
        return CertificateNeeded(stated.url)
    found = (signing_key(pins, message, signature, now=now) for message in messages)
    pinned = next(filter(None, found), None)
    return pinned.key_id if pinned else Rejected(Reason.SIGNATURE_WRONG)


def signed_text(transmission_id: str, time: str, webhook_id: str, body: bytes) -> bytes:
    """What is signed. Of the body that is no more than a checksum, which can be forged."""
    return f"{transmission_id}|{time}|{webhook_id}|{zlib.crc32(body)}".encode()


def _signed_by_fetched(
    key: Key, messages: Sequence[bytes], signature: bytes, account: Account, now: datetime
) -> str | Rejected:
    try:
        given = account.settings.get("trust_root_pem")
        roots = roots_in(given) if given else public_roots()
    except Misconfigured:  # check_settings reports it
        return Rejected(Reason.MISCONFIGURED)
    public_key = vouched_key(key.material, name=CERTIFICATE_NAME, roots=roots, now=now)
    if public_key is None:
        return Rejected(Reason.CERTIFICATE_UNTRUSTED)
    if any(is_signed(public_key, message, signature) for message in messages):
        return key.key_id
    return Rejected(Reason.SIGNATURE_WRONG)


def _stated(request: SignedRequest, account: Account, now: datetime) -> _Stated | Reason:
    transmission_id, time, signature, url, algorithm = (
        request.header(f"paypal-{name}") or ""
        for name in ("transmission-id", "transmission-time", "transmission-sig", "cert-url",
                     "auth-algo")
    )  # fmt: skip
    ours = _LIVE if account.live else _SANDBOX
    checks = (
        (bool(request.body), Reason.BODY_EMPTY),
        (bool(signature), Reason.SIGNATURE_MISSING),
        (len(signature) <= _SIGNATURE_LENGTH_MAX, Reason.TOO_LARGE),
        (algorithm == ALGORITHM, Reason.METHOD_UNSUPPORTED),
        # With a bar in it the id could end where the time begins.
        (_ID.fullmatch(transmission_id), Reason.ID_MALFORMED),
        ("T" in time and instant(time) is not None, Reason.TIMESTAMP_MALFORMED),
        (ours.fullmatch(url), Reason.CERTIFICATE_UNTRUSTED),
    )
    for holds, reason in checks:
        if not holds:
            return reason
    sent_at = instant(time)
    if sent_at is None or not now - AGE_MAX <= sent_at <= now + AHEAD_MAX:
        return Reason.TIMESTAMP_OUT_OF_TOLERANCE
    return _Stated(transmission_id, time, signature, url)
