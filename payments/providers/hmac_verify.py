"""Check an HMAC signature by an HmacScheme. Nothing that is sent can make this raise.

The order matters: sizes, then forms, then the signature, and only then whether the signed time
is near. All valid keys are tried on all candidates, so that the time taken does not tell which.
"""

import hmac
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from payments.callback import PROVIDER_ID
from payments.providers.hmac_scheme import HmacScheme, SignatureRule, TimestampRule
from payments.providers.port import (
    Account,
    Key,
    Misconfigured,
    Reason,
    Rejected,
    SignedRequest,
    Verified,
)

KEY_PURPOSE: Final = "signature"
_TIMESTAMP_DIGITS_MAX: Final = 13
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def verify(
    scheme: HmacScheme, request: SignedRequest, account: Account, *, now: datetime
) -> Verified | Rejected:
    """Say whether a key of the account that is valid now has signed this request."""
    try:
        return _verify(scheme, request, account, now)
    except _Refused as refused:
        return Rejected(refused.reason)


class _Refused(Exception):
    def __init__(self, reason: Reason) -> None:
        super().__init__(reason)
        self.reason = reason


def _verify(
    scheme: HmacScheme, request: SignedRequest, account: Account, now: datetime
) -> Verified:
    secrets = _secrets(scheme, account.keys, now)
    if not request.body:
        raise _Refused(Reason.BODY_EMPTY)
    candidates, items = _candidates(scheme.signature, request)
    timestamp = _timestamp_text(scheme, request, items)
    message_id = _message_id(scheme, request)
    message = scheme.signed_text(
        request.body, timestamp=timestamp, message_id=message_id, url=request.url
    )
    key_id = _signing_key(scheme, secrets, message, candidates)
    if key_id is None:
        raise _Refused(Reason.SIGNATURE_WRONG)
    if scheme.timestamp:
        _check_age(scheme.timestamp, timestamp, now)
    return Verified(key_id)


def _secrets(scheme: HmacScheme, keys: Sequence[Key], now: datetime) -> list[tuple[str, bytes]]:
    secrets = []
    for key in keys:
        if key.purpose != KEY_PURPOSE or not key.valid_at(now):
            continue
        try:
            secrets.append((key.key_id, scheme.secret(key)))
        except Misconfigured:  # check_settings reports it; here it merely proves nothing
            continue
    if not secrets:
        raise _Refused(Reason.NO_KEY)
    return secrets


def _candidates(
    rule: SignatureRule, request: SignedRequest
) -> tuple[list[str], list[tuple[str, str]]]:
    """The signatures to try, and the header's items where it has any."""
    values = [value for name, value in request.headers if name == rule.header]
    if not any(values):
        raise _Refused(Reason.SIGNATURE_MISSING)
    if sum(map(len, values)) > rule.max_header_bytes or len(values) > rule.max_candidates:
        raise _Refused(Reason.TOO_LARGE)
    items: list[tuple[str, str]] = []
    if rule.format != "raw":
        if len(values) != 1:
            raise _Refused(Reason.SIGNATURE_MALFORMED)
        wanted, separator = (
            (rule.key, "=") if rule.format == "kv" else (rule.version, rule.version_separator)
        )
        pieces = values[0].split(rule.item_separator)
        if len(pieces) > rule.max_items:
            raise _Refused(Reason.TOO_LARGE)
        items = [(name, value) for name, _, value in (p.partition(separator) for p in pieces)]
        values = [value for name, value in items if name == wanted]
    if len(values) > rule.max_candidates:
        raise _Refused(Reason.TOO_LARGE)
    candidates = [bare for bare in (_without_prefix(rule, value) for value in values) if bare]
    if not candidates:
        raise _Refused(Reason.SIGNATURE_MALFORMED)
    return candidates, items


def _without_prefix(rule: SignatureRule, value: str) -> str:
    """The bare signature, or nothing where an obligatory prefix is missing."""
    if rule.prefix and rule.prefix_required and not value.startswith(rule.prefix):
        return ""
    return value.removeprefix(rule.prefix)


def _timestamp_text(
    scheme: HmacScheme, request: SignedRequest, items: list[tuple[str, str]]
) -> str:
    rule = scheme.timestamp
    if rule is None:
        return ""
    if rule.header:
        text = request.header(rule.header) or ""
    else:
        values = [value for name, value in items if name == rule.item]
        text = values[0] if len(values) == 1 else ""
    # int() would also take spaces, underscores and other alphabets' digits.
    digits = text.isascii() and text.isdigit() and len(text) <= _TIMESTAMP_DIGITS_MAX
    if not digits or not rule.pattern.fullmatch(text):
        raise _Refused(Reason.TIMESTAMP_MALFORMED)
    return text


def _message_id(scheme: HmacScheme, request: SignedRequest) -> str:
    if not scheme.id_header:
        return ""
    message_id = request.header(scheme.id_header) or ""
    if not PROVIDER_ID.fullmatch(message_id) or scheme.id_separator in message_id.encode():
        raise _Refused(Reason.ID_MALFORMED)
    return message_id


def _signing_key(
    scheme: HmacScheme, secrets: list[tuple[str, bytes]], message: bytes, candidates: list[str]
) -> str | None:
    # Bytes, because compare_digest refuses non-ASCII text; "?" is in no encoding's alphabet.
    stated = [candidate.encode("ascii", "replace") for candidate in candidates]
    found: str | None = None
    for key_id, secret in secrets:
        expected = scheme.signature_of(secret, message)
        for candidate in stated:
            if hmac.compare_digest(candidate, expected) and found is None:
                found = key_id
    return found


def _check_age(rule: TimestampRule, timestamp: str, now: datetime) -> None:
    signed_at = int(timestamp) / (1000 if rule.unit == "ms" else 1)
    age = (now - _EPOCH).total_seconds() - signed_at
    if not -rule.tolerance_future_seconds <= age <= rule.tolerance_past_seconds:
        raise _Refused(Reason.TIMESTAMP_OUT_OF_TOLERANCE)
