"""A provider as a declaration: how it signs, what its events mean, how it wants to be answered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from payments.callback import Reading
from payments.providers.acknowledgement import BY_STATUS
from payments.providers.facts import Facts
from payments.providers.hmac_scheme import HmacScheme
from payments.providers.hmac_verify import KEY_PURPOSE, verify
from payments.providers.mapped_events import MappedEvents
from payments.providers.port import (
    Account,
    Acknowledgement,
    Rejected,
    Reply,
    SignedRequest,
    Verified,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HmacProvider:
    """One provider that signs the whole body with a shared secret.

    `scheme_of` is for a provider that signs in several ways and says in the request which one
    it was; the key and its algorithm stay the same.
    """

    facts: Facts
    scheme: HmacScheme
    events: MappedEvents
    scheme_of: Callable[[SignedRequest], HmacScheme] | None = None
    acknowledgements: Mapping[Reply, Acknowledgement] = field(default_factory=lambda: BY_STATUS)

    confirmation_by_default = False

    def check_settings(self, account: Account) -> None:
        """Refuse unknown settings, and keys that are unusable or could be guessed."""
        self.events.check(account.settings)
        for key in account.keys:
            if key.purpose == KEY_PURPOSE:
                self.scheme.check_key(key)

    def authenticate(
        self, request: SignedRequest, account: Account, *, now: datetime
    ) -> Verified | Rejected:
        """Check the signature by the provider's scheme."""
        scheme = self.scheme_of(request) if self.scheme_of else self.scheme
        return verify(scheme, request, account, now=now)

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:
        """The events in the request; nothing is read from headers, which are not signed."""
        return self.events.read(request.body, account.settings)

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """No provider of this kind verifies an address by GET or HEAD."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """The answer that this provider wants."""
        return self.acknowledgements[reply]
