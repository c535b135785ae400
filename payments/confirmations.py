"""Payments that wait for the provider's own word, because their signature vouches for too little.

`hold` remembers that somebody claimed a payment; nothing moves. When the provider's API has
answered, `confirmed` receives the answer like a callback, and that is the truth.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from django.db import connection

from payments.accounts import Endpoint
from payments.callback import Callback, Kind, Outcome
from payments.deliveries import API_KEY_ID, Intake
from payments.providers.port import Assurance, SignedRequest
from payments.receive import Verdict, receive

_CONFIRMED_SQL: Final = """
    UPDATE payments_confirmation SET status = 'CONFIRMED', confirmed_at = %s
     WHERE account_id = %s AND txn_no = %s AND status = 'WAITING'
"""


class NotAPayment(ValueError):
    """The provider's answer is of no payment, or states no amount: it confirms nothing."""


def confirmed(
    endpoint: Endpoint, answer: Callback, *, raw: Mapping[str, Any], now: datetime
) -> Verdict:
    """Receive what the provider's API said about a payment, as its raw answer reads.

    Raises NotAPayment if it says anything else than what was paid: the claim then waits on, for
    a payment may still follow. Raises OperationalError as `receive` does.
    """
    if answer.kind is not Kind.PAID or answer.money is None:
        raise NotAPayment(NotAPayment.__doc__)
    request = SignedRequest(headers=(), body=json.dumps(raw).encode())
    intake = Intake(
        endpoint=endpoint,
        request=request,
        key_id=API_KEY_ID,
        assurance=Assurance.WHOLE,
        from_api=True,
        received_at=now,
    )
    (verdict,) = receive(intake, [answer])
    if verdict.outcome is not Outcome.QUARANTINED:
        with connection.cursor() as cursor:
            cursor.execute(_CONFIRMED_SQL, [now, endpoint.account_id, answer.txn_no])
    return verdict
