"""A provider that sends a shared token beside the body: a hint, whatever the body says.

The token proves that whoever sends it has seen it; it says nothing of the body, which anybody
could write who has seen one request. So the assurance is NONE, and nothing moves before the
provider's API has confirmed it.
"""

import hmac
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from payments.callback import Reading
from payments.providers.acknowledgement import BY_STATUS
from payments.providers.facts import Facts
from payments.providers.hmac_scheme import HmacScheme, SignatureRule
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.mapped_events import MappedEvents
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

_TOKEN: Final = re.compile(r"[!-~]{1,256}", re.ASCII)
# What a token must be, is what any secret must be.
_SECRETS: Final = HmacScheme(signature=SignatureRule(header="-"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StaticToken:
    """One provider; `header`, in lower case, carries the token."""

    facts: Facts
    header: str
    events: MappedEvents

    confirmation_by_default = True

    def check_settings(self, account: Account) -> None:
        """Refuse unknown settings, and tokens that are unusable or could be guessed."""
        self.events.check(account.settings)
        for key in account.keys:
            if key.purpose != KEY_PURPOSE:
                continue
            _SECRETS.check_key(key)
            if not _TOKEN.fullmatch(key.material.decode("latin-1")):
                raise Misconfigured(f"key {key.key_id!r} cannot be sent in a header")

    def authenticate(
        self, request: SignedRequest, account: Account, *, now: datetime
    ) -> Verified | Rejected:
        """Check the token; that is all there is."""
        keys = [key for key in account.keys if key.purpose == KEY_PURPOSE and key.valid_at(now)]
        if not any(key.material for key in keys):
            return Rejected(Reason.NO_KEY)
        if not request.body:
            return Rejected(Reason.BODY_EMPTY)
        token = request.header(self.header) or ""
        if not token:
            return Rejected(Reason.SIGNATURE_MISSING)
        if not _TOKEN.fullmatch(token):
            return Rejected(Reason.SIGNATURE_MALFORMED)
        for key in keys:
            if hmac.compare_digest(key.material, token.encode()):
                return Verified(key.key_id, Assurance.NONE)
        return Rejected(Reason.SIGNATURE_WRONG)

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:
        """What the body claims."""
        return self.events.read(request.body, account.settings)

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """No provider of this kind verifies an address by GET or HEAD."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """They look at the status only."""
        return BY_STATUS[reply]
