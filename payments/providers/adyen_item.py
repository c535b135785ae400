"""One item of an Adyen notification: the eight fields that are signed, and how.

Signed is ``pspReference:originalReference:merchantAccountCode:merchantReference:value:currency
:eventCode:success`` with an absent field as nothing between its colons, and nothing escaped. So
the same text can be cut into fields in several ways. It is cut in one way only if no other field
than the merchant's reference may hold a colon: a reference with one is refused here, a merchant
account with one is never read (see `adyen_events`).
"""

import hmac
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from orders.strict_json import JsonObject, StrictJsonError, at, mapping, parse, required, text
from payments.providers.hmac_scheme import HmacScheme, SignatureRule
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import Account, Key, Misconfigured

#: How the webhooks of Adyen's platforms sign the whole body, and with which kind of key.
SCHEME: Final = HmacScheme(
    signature=SignatureRule(header="hmacsignature", encoding="base64"), key_encoding="hex"
)
#: Adyen sends one to six; more than this is not a notification.
ITEMS_MAX: Final = 100

_NUMBER: Final = re.compile(r"[!-9;-~]{1,80}", re.ASCII)
_CURRENCY: Final = re.compile(r"[A-Z]{3}", re.ASCII)
_EVENT_CODE: Final = re.compile(r"[A-Z0-9_]{1,40}", re.ASCII)


class Item(NamedTuple):
    """The signed fields, in their order. `value` and `currency` are empty together."""

    psp_reference: str
    original_reference: str
    merchant_account: str
    merchant_reference: str
    value: str
    currency: str
    event_code: str
    success: str

    @property
    def signed_text(self) -> bytes:
        """What is signed."""
        return ":".join(self).encode()


def items_in(body: bytes) -> list[JsonObject]:
    """The items of a notification, at least one. Raises StrictJsonError."""
    document = parse(body)
    listed = at(document, "notificationItems")
    if not isinstance(listed, list) or not 1 <= len(listed) <= ITEMS_MAX:
        raise StrictJsonError(f"notificationItems is not a list of 1 to {ITEMS_MAX} items")
    return [
        required(mapping(entry, "NotificationRequestItem"), "NotificationRequestItem")
        for entry in listed
    ]


def signed_fields(item: object) -> Item:
    """The fields of an item, each of its form. Raises StrictJsonError."""
    value = at(item, "amount", "value")
    if value is not None and type(value) is not int:
        raise StrictJsonError("amount.value is not a whole number")
    fields = Item(
        psp_reference=required(text(item, "pspReference"), "pspReference"),
        original_reference=text(item, "originalReference") or "",
        merchant_account=required(text(item, "merchantAccountCode"), "merchantAccountCode"),
        merchant_reference=text(item, "merchantReference") or "",
        value="" if value is None else str(value),
        currency=text(item, "amount", "currency") or "",
        event_code=required(text(item, "eventCode"), "eventCode"),
        success=required(text(item, "success"), "success"),
    )
    _check(fields)
    return fields


def signing_key(item: object, account: Account, *, now: datetime) -> str | None:
    """The id of the key that signed the item; None if none did. Raises StrictJsonError."""
    signature = text(item, "additionalData", "hmacSignature") or ""
    signed_text = signed_fields(item).signed_text
    # Bytes, because compare_digest refuses non-ASCII text; "?" is not in base64's alphabet.
    stated = signature.encode("ascii", "replace")
    found = None
    for key_id, secret in usable(account.keys, now=now):
        if hmac.compare_digest(SCHEME.signature_of(secret, signed_text), stated) and found is None:
            found = key_id
    return found


def usable(keys: Sequence[Key], *, now: datetime) -> list[tuple[str, bytes]]:
    """The ids and secrets of the keys that are valid now."""
    ring = []
    for key in keys:
        if key.purpose == KEY_PURPOSE and key.valid_at(now):
            try:
                ring.append((key.key_id, SCHEME.secret(key)))
            except Misconfigured:  # check_settings reports it; here it merely proves nothing
                continue
    return ring


def _check(fields: Item) -> None:
    checks = (
        (_NUMBER.fullmatch(fields.psp_reference), "pspReference is not a reference"),
        (
            not fields.original_reference or _NUMBER.fullmatch(fields.original_reference),
            "originalReference is not a reference",
        ),
        (bool(fields.value) == bool(fields.currency), "an amount without currency, or the reverse"),
        (
            not fields.currency or _CURRENCY.fullmatch(fields.currency),
            "amount.currency is not three capitals",
        ),
        (_EVENT_CODE.fullmatch(fields.event_code), "eventCode is not a code"),
        (fields.success in {"true", "false"}, "success is neither of the texts true and false"),
    )
    for holds, problem in checks:
        if not holds:
            raise StrictJsonError(problem)
