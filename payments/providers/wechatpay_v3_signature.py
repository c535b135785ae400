"""The signature of a WeChat Pay APIv3 notification, and which configured key must have made it."""

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import (
    CERTIFICATE_PURPOSE,
    Account,
    Key,
    Misconfigured,
    Reason,
    Rejected,
    SignedRequest,
    UnknownKey,
)
from payments.providers.rsa_verify import certificate, signing_key, valid_at

SIGNATURE_TYPE: Final = "WECHATPAY2-SHA256-RSA2048"
_TOLERANCE: Final = timedelta(seconds=300)
_PROBE: Final = "WECHATPAY/SIGNTEST/"
_TIMESTAMP: Final = re.compile(r"[0-9]{10}", re.ASCII)
_NONCE: Final = re.compile(r"[!-~]{1,128}", re.ASCII)
_SERIAL: Final = re.compile(r"[0-9A-Za-z_]{1,64}", re.ASCII)
_HEX: Final = re.compile(r"[0-9A-F]{1,64}", re.ASCII)


class _Stated(NamedTuple):
    """The headers, each of its form."""

    timestamp: str
    nonce: str
    serial: str
    signature: str


def signer(
    request: SignedRequest, account: Account, *, now: datetime
) -> Key | Rejected | UnknownKey:
    """The key that has signed the request, or why none has. Never raises."""
    ring = [key for key in account.keys if key.purpose in {KEY_PURPOSE, CERTIFICATE_PURPOSE}]
    if not ring:
        return Rejected(Reason.NO_KEY)
    stated = _stated(request)
    if isinstance(stated, Reason):
        return Rejected(stated)
    keys = [key for key in ring if _is_named(key, stated.serial, now)]
    if not keys:
        return UnknownKey(stated.serial)
    signature = stated.signature.encode("ascii", "replace")
    message = signed_text(stated.timestamp, stated.nonce, request.body)
    key = signing_key(keys, message, signature, now=now)
    if key is None:
        return Rejected(Reason.SIGNATURE_WRONG)
    if abs(now.timestamp() - int(stated.timestamp)) > _TOLERANCE.total_seconds():
        return Rejected(Reason.TIMESTAMP_OUT_OF_TOLERANCE)
    return key


def signed_text(timestamp: str, nonce: str, body: bytes) -> bytes:
    """What is signed; the last line feed belongs to it."""
    return b"%b\n%b\n%b\n" % (timestamp.encode(), nonce.encode(), body)


def _stated(request: SignedRequest) -> _Stated | Reason:
    timestamp, nonce, serial, signature = (
        request.header(f"wechatpay-{name}") or ""
        for name in ("timestamp", "nonce", "serial", "signature")
    )
    checks = (
        (bool(request.body), Reason.BODY_EMPTY),
        (bool(signature), Reason.SIGNATURE_MISSING),
        (not signature.startswith(_PROBE), Reason.PROBE),
        (_signature_type(request) == SIGNATURE_TYPE, Reason.METHOD_UNSUPPORTED),
        (_TIMESTAMP.fullmatch(timestamp), Reason.TIMESTAMP_MALFORMED),
        # With a line feed in it the nonce could end where the body begins.
        (_NONCE.fullmatch(nonce), Reason.SIGNATURE_MALFORMED),
        (_SERIAL.fullmatch(serial), Reason.SIGNATURE_MALFORMED),
    )
    for holds, reason in checks:
        if not holds:
            return reason
    return _Stated(timestamp, nonce, serial.upper(), signature)


def _signature_type(request: SignedRequest) -> str | None:
    """The stated type; where there is no such header, the only one there was before it."""
    stated = any(name == "wechatpay-signature-type" for name, _ in request.headers)
    return request.header("wechatpay-signature-type") if stated else SIGNATURE_TYPE


def _is_named(key: Key, serial: str, now: datetime) -> bool:
    """Whether the key is the one of that serial, and usable now."""
    if not key.valid_at(now):
        return False
    if key.purpose == KEY_PURPOSE:
        return key.key_id.upper() == serial
    if key.purpose != CERTIFICATE_PURPOSE or not _HEX.fullmatch(serial):
        return False
    try:
        shown = certificate(key)
    except Misconfigured:  # check_settings reports it
        return False
    # As numbers: a serial may be written with or without its leading zeros.
    return shown.serial_number == int(serial, 16) and valid_at(shown, now)
