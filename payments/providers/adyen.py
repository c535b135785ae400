"""Adyen: standard notifications, whose every item is signed by itself.

Signed: eight fields of each item (see `adyen_item`), with the hex key of the webhook. Not signed:
``live``, ``eventDate``, ``reason``, ``paymentMethod``, everything else in ``additionalData``, and
which items a notification holds; nothing that moves money is read from there. ``live`` counts
only against a notification: the key says which mode it is, and one that claims the other mode
is kept apart. There is no signed time of sending: a replay is told from news by the transaction.

A notification may hold several items. Is one of them not authentic, the whole is refused and
nothing of it is applied: Adyen sends the same items again, and those that were applied before
are then duplicates.

Settings: ``auto_capture`` says that the account captures automatically (without it an
authorisation is never a payment); ``merchant_accounts`` names merchant accounts besides the
account's number; ``webhooks`` is "standard", or "platform" for the webhooks of Adyen's platforms
and management, which sign the whole body and tell nothing that moves an order.

Queued notifications keep the signature of the key they were made with: keep the old key when a
new one is made. https://docs.adyen.com/development-resources/webhooks
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Final

from orders.money import NotMoney
from orders.strict_json import StrictJsonError, parse, text
from payments.callback import Invalid, Reading, Unreadable
from payments.providers.acknowledgement import BY_STATUS
from payments.providers.adyen_events import MEANINGS, callback_of, event_id_of
from payments.providers.adyen_item import SCHEME, items_in, signed_fields, signing_key, usable
from payments.providers.api_access import check_api_access
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap, paths
from payments.providers.hmac_verify import KEY_PURPOSE, verify
from payments.providers.options import Options
from payments.providers.port import (
    Account,
    Acknowledgement,
    Assurance,
    Misconfigured,
    Reason,
    Rejected,
    Reply,
    SignedRequest,
    Verified,
)
from payments.providers.stated_money import MINOR

FACTS: Final = Facts(
    title="Adyen",
    tier="first class",
    signature="HMAC-SHA256, base64, additionalData.hmacSignature of each item; hex key",
    signed="pspReference, originalReference, merchantAccountCode, merchantReference, amount,"
    " eventCode and success of each item",
    unsigned="live, eventDate, reason, paymentMethod, the rest of additionalData, the number and"
    " order of items",
    retries="9, 18, 27 seconds, then 2 minutes to 8 hours apart for 30 days; later notifications"
    " wait behind",
    acknowledgement="200 [accepted] within 10 s; 401 for the whole batch if one item is not"
    " authentic",
    order="merchantReference",
    amount="amount.value; minor units, of which CLP and ISK have 2 decimals, CVE and IDR none",
    refund="pspReference of the refund",
    settings="auto_capture, merchant_accounts, webhooks, live_prefix, api_url",
    source="https://docs.adyen.com/development-resources/webhooks",
    evidence="documentation; SDK 16 signs and verifies the samples; official samples",
    keys=(KeyFact("signature", "the webhook's HMAC key, hex"),),
    api_keys=(KeyFact("api", "the API key of a credential that may refund", needed=False),),
    assurance="PARTIAL",
    meanings=MEANINGS,
)

#: What Adyen puts before the host of a live account's API.
LIVE_PREFIX: Final = re.compile(r"[0-9a-f]{8,32}-[A-Za-z0-9]{1,60}", re.ASCII)
_PLATFORM_EVENT: Final = FieldMap(type=paths("/type"), amount_rule=MINOR, kinds={})
_MODES: Final[Mapping[str | None, bool | None]] = {"true": True, "false": False, None: None}
_REPLIES: Final[Mapping[Reply, Acknowledgement]] = {
    **BY_STATUS,
    Reply.ACCEPTED: Acknowledgement(200, b"[accepted]"),
}


class Adyen:
    """The provider; see the module."""

    confirmation_by_default = False
    facts = FACTS

    def check_settings(self, account: Account) -> None:
        """Refuse unknown settings, merchant accounts with a colon, and keys that are not hex."""
        options = Options(account.settings, "settings")
        options.flag("auto_capture", default=False)
        options.text("webhooks", "standard", choices=["standard", "platform"])
        for code in (account.account_no, *options.texts("merchant_accounts")):
            if ":" in code:
                raise Misconfigured(f"{code!r} is not the code of a merchant account")
        check_api_access(options, account)
        prefix = options.text("live_prefix", "", empty=True)
        if prefix and not LIVE_PREFIX.fullmatch(prefix):
            raise options.error("live_prefix", "is not like 1797a841fbb37ca7-AdyenDemo")
        options.finish()
        for key in account.keys:
            if key.purpose == KEY_PURPOSE:
                SCHEME.check_key(key)

    def authenticate(
        self, request: SignedRequest, account: Account, *, now: datetime
    ) -> Verified | Rejected:
        """Check the signature of every item; the first one's key is named."""
        if _is_platform(account):
            return verify(SCHEME, request, account, now=now)
        if not usable(account.keys, now=now):
            return Rejected(Reason.NO_KEY)
        try:
            signers = _signers(request.body, account, now)
        except StrictJsonError:
            return Rejected(Reason.BODY_MALFORMED)
        if isinstance(signers, Reason):
            return Rejected(signers)
        return Verified(signers[0], Assurance.PARTIAL)

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:
        """What each item says; one that cannot be read does not hide the others."""
        if _is_platform(account):
            return [_PLATFORM_EVENT.read(request.body)]
        digest = sha256(request.body).hexdigest()
        try:
            live = text(parse(request.body), "live")
            items = items_in(request.body)
        except StrictJsonError as error:
            return [Unreadable(str(error), digest)]
        return [_read(item, f"{digest}.{n}", account, live) for n, item in enumerate(items)]

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """This provider verifies no address."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """Any 2xx will do; the text is what Adyen asked for before."""
        return _REPLIES[reply]


def _is_platform(account: Account) -> bool:
    return account.settings.get("webhooks") == "platform"


def _signers(body: bytes, account: Account, now: datetime) -> list[str] | Reason:
    """The key of each item, or why one has none. Raises StrictJsonError."""
    if not body:
        return Reason.BODY_EMPTY
    items = items_in(body)
    if not all(text(item, "additionalData", "hmacSignature") for item in items):
        return Reason.SIGNATURE_MISSING
    signers = [signing_key(item, account, now=now) for item in items]
    known = [key_id for key_id in signers if key_id is not None]
    return known if len(known) == len(items) else Reason.SIGNATURE_WRONG


def _read(item: object, fallback_id: str, account: Account, stated_live: str | None) -> Reading:
    event_id = fallback_id
    try:
        fields = signed_fields(item)
        event_id = event_id_of(fields)
        return callback_of(fields, account, live=_mode(stated_live))
    except (StrictJsonError, NotMoney, Invalid) as error:
        return Unreadable(str(error), event_id)


def _mode(stated: str | None) -> bool | None:
    if stated not in _MODES:
        raise StrictJsonError("live is neither of the texts true and false")
    return _MODES[stated]
