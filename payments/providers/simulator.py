"""The simulator of `manage.py provider_simulator`: every unhappy path, and no money.

It signs as many providers do: ``Simulator-Signature: t=<seconds>,v1=<hex>`` over ``<t>.<body>``.
Only accounts in test mode may be opened at it, because whoever runs it makes its payments.
Its API and its switches: docs/simulator.md.
"""

from dataclasses import replace
from typing import Final

from payments.callback import Kind
from payments.providers.api_access import API_PURPOSE, API_URL, check_api_access
from payments.providers.facts import SIGNING_SECRET, Facts, KeyFact
from payments.providers.field_map import FieldMap, ModeRule, paths
from payments.providers.hmac_provider import HmacProvider
from payments.providers.hmac_scheme import HmacScheme, SignatureRule, TimestampRule
from payments.providers.mapped_events import MappedEvents
from payments.providers.options import Options
from payments.providers.port import Account, Misconfigured
from payments.providers.stated_money import MINOR

FACTS: Final = Facts(
    title="The provider simulator",
    tier="first class",
    signature="HMAC-SHA256, hex, items t and v1 of the header Simulator-Signature",
    signed="the time and the body",
    unsigned="other headers",
    retries="ten within five minutes",
    acknowledgement="any 2xx within 15 s",
    order="payment.order_no",
    amount="payment.amount_minor; minor units",
    refund="refund.id; ours is refund.refund_no",
    settings="order, api_url",
    source="https://www.rfc-editor.org/rfc/rfc2104",
    evidence="it is ours: its tests run both sides over HTTP",
    keys=SIGNING_SECRET,
    api_keys=(KeyFact(API_PURPOSE, "any secret; the simulator asks for the same", needed=False),),
)
SCHEME: Final = HmacScheme(
    signature=SignatureRule(header="simulator-signature", format="kv", key="v1"),
    message=("timestamp", b".", "body"),
    timestamp=TimestampRule(item="t"),
)
_PAYMENT: Final = FieldMap(
    type=paths("/type"),
    event_id=paths("/id"),
    transaction=paths("/payment/id"),
    order=paths("/payment/order_no"),
    amount=paths("/payment/amount_minor"),
    amount_rule=MINOR,
    currency=paths("/payment/currency"),
    account=paths("/account"),
    mode=ModeRule(paths("/live"), live=True, test=False),
    occurred_at=paths("/created_at"),
    kinds={
        "payment.pending": Kind.PENDING,
        "payment.succeeded": Kind.PAID,
        "payment.failed": Kind.FAILED,
    },
)
_REFUND: Final = replace(
    _PAYMENT,
    transaction=paths("/refund/id"),
    order=(),
    amount=paths("/refund/amount_minor"),
    currency=paths("/refund/currency"),
    reverses=paths("/refund/payment"),
    refund_no=paths("/refund/refund_no"),
    kinds={
        "refund.pending": Kind.PENDING,
        "refund.succeeded": Kind.REFUNDED,
        "refund.failed": Kind.REFUND_FAILED,
    },
)
_DISPUTE: Final = replace(
    _PAYMENT,
    transaction=paths("/dispute/id"),
    order=(),
    amount=paths("/dispute/amount_minor"),
    currency=paths("/dispute/currency"),
    reverses=paths("/dispute/payment"),
    kinds={
        "dispute.opened": Kind.DISPUTED,
        "dispute.won": Kind.DISPUTE_WON,
        "dispute.lost": Kind.DISPUTE_LOST,
    },
)


class Simulator(HmacProvider):
    """An HMAC provider whose API has an address that the account must name."""

    __slots__ = ()

    def check_settings(self, account: Account) -> None:
        """Refuse live accounts, unknown settings and unusable keys."""
        if account.live:
            raise Misconfigured("the simulator moves no money: its accounts are in test mode")
        check_api_access(Options({API_URL: account.settings.get(API_URL, "")}, "settings"), account)
        own = {name: value for name, value in account.settings.items() if name != API_URL}
        HmacProvider.check_settings(self, replace(account, settings=own))


SIMULATOR: Final = Simulator(
    facts=FACTS, scheme=SCHEME, events=MappedEvents(maps=(_PAYMENT, _REFUND, _DISPUTE))
)
