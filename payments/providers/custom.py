"""Any provider that signs with an HMAC, as configuration of an account instead of code.

``settings["scheme"]`` says how it signs (`hmac_scheme_settings`), ``settings["fields"]`` where its
facts stand (`field_map_settings`).
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from hashlib import sha256
from typing import Final

from payments.callback import Reading, Unreadable
from payments.providers.acknowledgement import BY_STATUS
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap
from payments.providers.field_map_settings import field_map
from payments.providers.hmac_scheme import HmacScheme
from payments.providers.hmac_scheme_settings import hmac_scheme
from payments.providers.hmac_verify import KEY_PURPOSE, verify
from payments.providers.options import Options
from payments.providers.port import (
    Account,
    Acknowledgement,
    Misconfigured,
    Reason,
    Rejected,
    Reply,
    SignedRequest,
    Verified,
)

FACTS: Final = Facts(
    title="Any provider that signs with an HMAC",
    tier="first class",
    signature="HMAC-SHA256 or HMAC-SHA512, written and placed as scheme says",
    signed="the body; the time, the message id and the public URL, as scheme says",
    unsigned="everything else",
    retries="the provider's",
    acknowledgement="any 2xx",
    order="where fields says",
    amount="where fields says; minor or major units",
    refund="where fields says",
    settings="scheme, fields",
    source="https://www.rfc-editor.org/rfc/rfc2104",
    evidence="the samples of nine providers, judged by configuration alone",
    keys=(KeyFact("signature", "the secret, written as scheme.secret_encoding says"),),
)


class Custom:
    """The provider; see the module."""

    facts = FACTS
    confirmation_by_default = False

    def check_settings(self, account: Account) -> None:
        """Refuse a scheme or a map that is not safe or cannot work, and unusable keys."""
        options = Options(account.settings, "settings")
        scheme = hmac_scheme(options.section("scheme"))
        if not field_map(options.section("fields")).order:
            raise Misconfigured(
                "settings.fields.order is missing: say where the order number stands, for without"
                " it no payment finds its order"
            )
        options.finish()
        for key in account.keys:
            if key.purpose == KEY_PURPOSE:
                scheme.check_key(key)

    def authenticate(
        self, request: SignedRequest, account: Account, *, now: datetime
    ) -> Verified | Rejected:
        """Check the signature by the account's scheme."""
        try:
            return verify(scheme_of(account), request, account, now=now)
        except Misconfigured:
            return Rejected(Reason.MISCONFIGURED)

    def read(self, request: SignedRequest, account: Account) -> Sequence[Reading]:
        """The one event in the request."""
        try:
            id_header, fields = scheme_of(account).id_header, fields_of(account)
        except Misconfigured as error:
            return [Unreadable(str(error), sha256(request.body).hexdigest())]
        return [fields.read(request.body, signed_id=request.header(id_header) or "")]

    def probe(self, query: Mapping[str, str], account: Account) -> None:
        """This provider verifies no address."""

    def acknowledge(self, reply: Reply) -> Acknowledgement:
        """The status says it all."""
        return BY_STATUS[reply]


def scheme_of(account: Account) -> HmacScheme:
    """How the account's provider signs. Raises Misconfigured."""
    return hmac_scheme(Options(account.settings, "settings").section("scheme"))


def fields_of(account: Account) -> FieldMap:
    """The account's map of fields. Raises Misconfigured."""
    return field_map(Options(account.settings, "settings").section("fields"))
