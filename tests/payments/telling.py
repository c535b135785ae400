"""Tell the service a callback as its endpoint would, without the HTTP around it."""

import itertools
from datetime import UTC, datetime
from typing import Any

from django.db import connection

from orders.money import Money
from payments.accounts import find_endpoint
from payments.callback import Callback, Kind, Reading
from payments.deliveries import Intake
from payments.held import WAITING_MAX
from payments.models import ProviderAccount
from payments.providers.port import SignedRequest
from payments.receive import Verdict, receive

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

_numbers = itertools.count(1)


def intake(account: ProviderAccount, *, body: bytes = b"{}", now: datetime = NOW) -> Intake:
    """An authentic request to this account, as far as anybody here can tell."""
    endpoint = find_endpoint(account.provider, account.name)
    assert endpoint is not None
    request = SignedRequest(headers=(("content-type", "application/json"),), body=body)
    return Intake(endpoint=endpoint, request=request, key_id="test", received_at=now)


def callback(
    kind: Kind = Kind.PAID, *, amount_minor: int = 1099, currency: str = "USD", **values: Any
) -> Callback:
    """A callback with an event and a transaction of its own, unless told otherwise."""
    number = next(_numbers)
    usual: dict[str, Any] = {
        "event_id": f"evt_{number}",
        "event_type": f"payment.{kind.lower()}",
        "kind": kind,
        "txn_no": f"txn_{number}",
        "order_no": "1001",
        "money": Money(amount_minor, currency),
        "occurred_at": NOW,
    }
    return Callback(**usual | values)


def tell(account: ProviderAccount, *readings: Reading, now: datetime = NOW) -> list[Verdict]:
    """Deliver one request that carries these readings."""
    return receive(intake(account, now=now), readings)


def tell_one(account: ProviderAccount, reading: Reading, *, now: datetime = NOW) -> Verdict:
    """Deliver one request that carries one reading."""
    (verdict,) = tell(account, reading, now=now)
    return verdict


def fill(account: ProviderAccount) -> None:
    """As many hints as may wait, `tr_waits1` and so on."""
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO payments_confirmation (account_id, merchant_id, txn_no, order_no, status,"
            " told_count, first_told_at, last_told_at, waiting_since)"
            " SELECT %s, %s, 'tr_waits' || n, '', 'WAITING', 1, %s, %s, %s"
            " FROM generate_series(1, %s) n",
            [account.pk, account.merchant_id, NOW, NOW, NOW, WAITING_MAX],
        )
