"""Mollie, classic webhooks: an id and nothing else, from anybody.

There is no signature and no secret. The form names a payment (``id=tr_..``) that something has
happened to; what, and how much, Mollie's API tells. So each is a hint that money may have come,
and waits for that answer. The same id is posted for refunds and chargebacks.

An id that we do not know is accepted like any other, so that nobody learns which ones we know;
what is no id at all is refused. https://docs.mollie.com/reference/webhooks
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Final

from payments.callback import Callback, Kind, Reading, Unreadable
from payments.providers.acknowledgement import BY_STATUS
from payments.providers.facts import Facts
from payments.providers.options import Options
from payments.providers.port import (
    Account,
    Acknowledgement,
    Assurance,
    Reason,
    Rejected,
    Reply,
    SignedRequest,
    Verified,
)
from payments.providers.sorted_params import NotParams, parse_form

FACTS: Final = Facts(
    title="Mollie classic",
    tier="hint",
    signature="none",
    signed="nothing",
    unsigned="everything",
    retries="10 over 26 hours",
    acknowledgement="200 within 15 s, for unknown ids too",
    order="none: asked from the API",
    amount="none: asked from the API",
    refund="none: asked from the API",
    source="https://docs.mollie.com/reference/webhooks",
    evidence="documentation; samples made by hand",
    keys=(),
    assurance="NONE",
    meanings={"tr": Kind.PAID},
)
#: What is recorded as the key, where there is none.
NO_KEY_ID: Final = "none"
_ID: Final = re.compile(rb"(tr|re|chb|ord|sub|pl)_[A-Za-z0-9]{1,64}")
_PAYMENT: Final = "tr"
#: Mollie sends the id alone. Anybody may send more, and it would be kept as evidence.
_BODY_LENGTH_MAX: Final = 512


class MollieClassic:
    """The provider; see the module."""

    confirmation_by_default = True
    facts = FACTS

    def check_settings(self, account: Account) -> None:
        """Refuse settings, of which there are none."""
        Options(account.settings, "settings").finish()

    def authenticate(
        self,
        request: SignedRequest,
        account: Account,  # noqa: ARG002 - there is nothing to check it with
        *,
        now: datetime,  # noqa: ARG002
    ) -> Verified | Rejected:
        """Anybody may have sent it; refuse only what names nothing."""
        if not request.body:
            return Rejected(Reason.BODY_EMPTY)
        if len(request.body) > _BODY_LENGTH_MAX:
            return Rejected(Reason.TOO_LARGE)
        if _id_in(request.body) is None:
            return Rejected(Reason.BODY_MALFORMED)
        return Verified(NO_KEY_ID, Assurance.NONE)

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:  # noqa: ARG002
        """A payment that may have been made; other ids tell nothing that could be asked for."""
        found = _id_in(request.body)
        if found is None:
            return [Unreadable("no id", sha256(request.body).hexdigest())]
        number, kind_of_id = found[0].decode(), found[1].decode()
        return [
            Callback(
                event_id=number,
                event_type=kind_of_id,
                kind=Kind.PAID if kind_of_id == _PAYMENT else Kind.IGNORED,
                txn_no=number,
            )
        ]

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """This provider verifies no address."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """Mollie looks at the status only."""
        return BY_STATUS[reply]


def _id_in(body: bytes) -> re.Match[bytes] | None:
    try:
        return _ID.fullmatch(parse_form(body).get(b"id", b""))
    except NotParams:
        return None
