"""Flutterwave, API v3: a hint, because its hash says nothing of the body.

The header ``verif-hash`` is the dashboard's secret hash itself. (v4 signs with it: another
provider, `flutterwave_v4`.) Flutterwave asks to verify each transaction by its API.

Amounts are JSON numbers in major units; ``charged_amount`` includes a fee that the customer
bears, ``amount`` does not. https://developer.flutterwave.com/v3.0/docs/webhooks
"""

from typing import Final

from payments.callback import Kind
from payments.providers.facts import Facts, KeyFact
from payments.providers.field_map import FieldMap, paths
from payments.providers.mapped_events import MappedEvents
from payments.providers.stated_money import MAJOR
from payments.providers.static_token import StaticToken

FACTS: Final = Facts(
    title="Flutterwave v3",
    tier="hint",
    signature="none: the hash in verif-hash is always the same",
    signed="nothing",
    unsigned="everything",
    retries="only if enabled in the dashboard: three, 30 minutes apart",
    acknowledgement="any 2xx within 60 s",
    order="data.tx_ref",
    amount="data.amount, not charged_amount; major units",
    refund="not told",
    settings="order",
    source="https://developer.flutterwave.com/v3.0/docs/webhooks",
    evidence="documentation; samples made by hand",
    keys=(KeyFact("signature", "the secret hash that was set in the dashboard"),),
    assurance="NONE",
)

FLUTTERWAVE_V3: Final = StaticToken(
    facts=FACTS,
    header="verif-hash",
    events=MappedEvents(
        maps=(
            FieldMap(
                type=paths("/event"),
                transaction=paths("/data/id"),
                order=paths("/data/tx_ref"),
                amount=paths("/data/amount"),
                amount_rule=MAJOR,
                currency=paths("/data/currency"),
                status=paths("/data/status"),
                occurred_at=paths("/data/created_at"),
                linked=paths("/data/flw_ref"),
                kinds={
                    "charge.completed": {
                        "successful": Kind.PAID,
                        "pending": Kind.PENDING,
                        "failed": Kind.FAILED,
                    }
                },
            ),
        )
    ),
)
