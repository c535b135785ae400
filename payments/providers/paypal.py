"""PayPal.

Signed: the id and the time of the transmission, the webhook's id, and a CRC32 of the body (see
`paypal_signature`). **A CRC32 can be forged**: whoever has seen one transmission can make another
body that fits its signature, with another amount and another order. So nothing moves before
PayPal's API has confirmed the payment, unless the account's owner decides otherwise.

Settings: ``webhook_ids``, the ids that PayPal gave the webhook (they are not in the request);
``order``; ``trust_root_pem``, the authority to trust instead of this computer's. A key with
purpose ``certificate`` pins a certificate, for installations that cannot reach PayPal; it then
must be replaced by hand, before it ends.

Sent up to 25 times over three days. https://developer.paypal.com/api/rest/webhooks/
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from payments.callback import Reading
from payments.providers.acknowledgement import BY_STATUS
from payments.providers.api_access import API_URL, check_api_access
from payments.providers.facts import Facts, KeyFact
from payments.providers.options import Options
from payments.providers.paypal_events import EVENTS
from payments.providers.paypal_signature import signer
from payments.providers.port import (
    CERTIFICATE_PURPOSE,
    Account,
    Acknowledgement,
    Assurance,
    CertificateNeeded,
    Rejected,
    Reply,
    SignedRequest,
    Verified,
)
from payments.providers.public_certificate import public_roots, roots_in
from payments.providers.rsa_verify import public_key

FACTS: Final = Facts(
    title="PayPal",
    tier="first class",
    signature="RSA with SHA-256, base64, header PAYPAL-TRANSMISSION-SIG; certificate fetched from"
    " PayPal or pinned",
    signed="transmission id and time, webhook id, CRC32 of the body",
    unsigned="the body, by whoever has seen one transmission: a CRC32 can be forged; the other"
    " headers",
    retries="up to 25 over 3 days",
    acknowledgement="any 2xx",
    order="resource.custom_id, else invoice_id",
    amount="resource.amount; major units as text",
    refund="resource.id of the refund",
    settings="webhook_ids, order, trust_root_pem, api_url",
    source="https://developer.paypal.com/api/rest/webhooks/",
    evidence="documentation; an older SDK verifies the samples, whose certificates are synthetic",
    keys=(
        KeyFact(
            "certificate", "a pinned certificate in PEM, else PayPal's is fetched", needed=False
        ),
    ),
    assurance="PARTIAL",
    meanings=EVENTS.meanings,
    api_keys=(
        KeyFact("api", "the app's client secret; the key id is its client id", needed=False),
    ),
)
_OWN_SETTINGS: Final = ("webhook_ids", "trust_root_pem", API_URL)


class PayPal:
    """The provider; see the module."""

    confirmation_by_default = True
    facts = FACTS
    events = EVENTS

    def check_settings(self, account: Account) -> None:
        """Refuse settings without a webhook id, and roots or certificates that are none."""
        options = Options(account.settings, "settings")
        if not options.texts("webhook_ids"):
            raise options.error("webhook_ids", "must name the ids that PayPal gave the webhook")
        given = options.text("trust_root_pem", "", empty=True)
        check_api_access(options, account)
        EVENTS.check({k: v for k, v in account.settings.items() if k not in _OWN_SETTINGS})
        pinned = [key for key in account.keys if key.purpose == CERTIFICATE_PURPOSE]
        for key in pinned:
            public_key(key)
        if given:
            roots_in(given)
        elif not pinned:
            public_roots()

    def authenticate(
        self, request: SignedRequest, account: Account, *, now: datetime
    ) -> Verified | Rejected | CertificateNeeded:
        """Check the signature, once its certificate is there."""
        found = signer(request, account, now=now)
        return Verified(found, Assurance.PARTIAL) if isinstance(found, str) else found

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:
        """The one event in the request."""
        return EVENTS.read(request.body, account.settings)

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """This provider verifies no address."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """PayPal looks at the status only."""
        return BY_STATUS[reply]
