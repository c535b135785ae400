"""Standard Webhooks 1.0.0, symmetric signatures (``v1``), and Svix, which is the same.

The message id is signed and is the event's id. The secret is base64 after ``whsec_``. The
standard fixes the envelope (``type``, ``timestamp``, ``data``) but not what a payment looks
like: the map below is the default, and an account's ``settings["fields"]`` replaces parts of
it by the same names (`payments/providers/field_map_settings.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from payments.callback import Reading, Unreadable
from payments.providers.acknowledgement import BY_STATUS
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap
from payments.providers.field_map_settings import field_map
from payments.providers.hmac_scheme import HmacScheme, SignatureRule, TimestampRule
from payments.providers.hmac_verify import KEY_PURPOSE, verify
from payments.providers.options import Options
from payments.providers.port import (
    Account,
    Acknowledgement,
    Misconfigured,
    Rejected,
    Reply,
    SignedRequest,
    Verified,
)

DEFAULT_FIELDS: Final[Mapping[str, Any]] = {
    "type": "/type",
    "transaction": "/data/id",
    "order": "/data/reference",
    "amount": {"at": "/data/amount", "unit": "major"},
    "currency": "/data/currency",
    "occurred_at": "/timestamp",
    "kinds": {
        "payment.succeeded": "PAID",
        "payment.authorized": "AUTHORIZED",
        "payment.pending": "PENDING",
        "payment.failed": "FAILED",
        "payment.canceled": "CLOSED",
        "payment.expired": "CLOSED",
        "refund.succeeded": "REFUNDED",
        "refund.failed": "REFUND_FAILED",
        "dispute.created": "DISPUTED",
        "dispute.won": "DISPUTE_WON",
        "dispute.lost": "DISPUTE_LOST",
    },
}
_DEFAULT_MAP: Final = field_map(Options(DEFAULT_FIELDS, "fields"))


FACTS: Final = Facts(
    title="Standard Webhooks",
    tier="first class",
    signature="HMAC-SHA256, base64, header webhook-signature (v1), within 5 minutes",
    signed="the message id, the time and the body",
    unsigned="other headers",
    retries="recommended to senders: nine in 75 hours",
    acknowledgement="any 2xx within 15 s",
    order="data.reference; any place by fields",
    amount="data.amount, major units; any place by fields",
    refund="data.id; any place by fields",
    settings="fields",
    source="https://www.standardwebhooks.com",
    evidence="specification 1.0.0; SDK 1.1 signs and verifies the samples; one official sample",
    keys=(KeyFact("signature", "the endpoint's secret: whsec_ and base64"),),
    meanings=_DEFAULT_MAP.kinds,
)
SVIX_FACTS: Final = replace(
    FACTS,
    title="Svix",
    signature="HMAC-SHA256, base64, header svix-signature (v1), within 5 minutes",
    source="https://docs.svix.com/receiving/verifying-payloads/how-manual",
    evidence="documentation; SDK 2 signs and verifies the samples",
)


class StandardWebhooks:
    """The provider, for one or more families of headers (``webhook-id``, ``webhook-..``)."""

    confirmation_by_default = False

    def __init__(self, *families: str, facts: Facts = FACTS) -> None:
        self.facts = facts
        self._schemes = tuple(_scheme(family) for family in families)
        self.scheme = self._schemes[0]

    def check_settings(self, account: Account) -> None:
        """Refuse a map that cannot work, and keys that are not base64 or too short."""
        fields_of(account)
        for key in account.keys:
            if key.purpose == KEY_PURPOSE:
                self.scheme.check_key(key)

    def authenticate(
        self, request: SignedRequest, account: Account, *, now: datetime
    ) -> Verified | Rejected:
        """Check the ``..-signature`` header with the other two that it covers."""
        return verify(self._scheme_of(request), request, account, now=now)

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:
        """The one event in the request."""
        signed_id = request.header(self._scheme_of(request).id_header) or ""
        try:
            return [fields_of(account).read(request.body, signed_id=signed_id)]
        except Misconfigured as error:
            return [Unreadable(str(error), signed_id)]

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """This provider verifies no address."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """The standard looks at the status only."""
        return BY_STATUS[reply]

    def _scheme_of(self, request: SignedRequest) -> HmacScheme:
        """The first family of which any header is there; its rules then hold for all three."""
        given = {name for name, _ in request.headers}
        for scheme in self._schemes:
            if given & {scheme.id_header, scheme.signature.header}:
                return scheme
        return self._schemes[-1]


def _scheme(family: str) -> HmacScheme:
    return HmacScheme(
        key_encoding="base64",
        key_prefix="whsec_",
        message=("id", b".", "timestamp", b".", "body"),
        signature=SignatureRule(
            header=f"{family}-signature",
            format="versioned",
            item_separator=" ",
            version="v1",
            encoding="base64",
        ),
        timestamp=TimestampRule(header=f"{family}-timestamp"),
        id_header=f"{family}-id",
    )


def fields_of(account: Account) -> FieldMap:
    """The account's map of fields. Raises Misconfigured."""
    if not account.settings:
        return _DEFAULT_MAP
    options = Options(account.settings, "settings")
    given = options.value("fields", {})
    options.finish()
    if not isinstance(given, Mapping):
        raise options.error("fields", "must be an object")
    return field_map(Options({**DEFAULT_FIELDS, **given}, "settings.fields"))
