"""Callbacks as bytes on the wire, signed now, and the bodies that say a payment was made."""

import itertools
import json
import time
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from payments.models import ProviderAccount
from tests.factories import STRIPE_SECRET
from tests.signing import (
    CUSTOM_SECRET,
    STANDARD_SECRET,
    signed_custom,
    signed_standard_webhooks,
    signed_stripe,
    stripe_event,
)
from tests.wire import Header, request

_numbers = itertools.count(1)


def number() -> int:
    """A number that no other callback of this run has."""
    return next(_numbers)


def signed(
    account: ProviderAccount, body: bytes, *, secret: str = "", age_seconds: float = 0
) -> dict[str, str]:
    """The headers that prove the body to this account."""
    at = datetime.fromtimestamp(time.time(), UTC) - timedelta(seconds=age_seconds)
    if account.provider == "stripe":
        return signed_stripe(body, secret or STRIPE_SECRET, at)
    if account.provider == "custom":
        return signed_custom(body, secret or CUSTOM_SECRET)
    return signed_standard_webhooks(
        body, secret or STANDARD_SECRET, at, message_id=f"msg_{number()}"
    )


def call(
    account: ProviderAccount,
    body: bytes,
    *,
    sent: bytes | None = None,
    method: str = "POST",
    path: str = "",
    headers: Mapping[str, str] | None = None,
    without: Iterable[str] = (),
    extra: Iterable[Header] = (),
) -> bytes:
    """A callback whose signature is right for `body`; what else is wrong with it, the rest says.

    `sent` goes over the wire instead of the body, `headers` replace, `extra` come in addition.
    """
    sent = body if sent is None else sent
    named = {
        "Host": "localhost",
        "Connection": "close",
        "Content-Length": str(len(sent)),
        **signed(account, body),
        **(headers or {}),
    }
    kept = [(name, value) for name, value in named.items() if name not in set(without)]
    return request(method, path or f"/callbacks/{account.endpoint}", [*kept, *extra], sent)


def stripe_paid(
    order_no: str | None,
    amount: Any = 1099,
    currency: Any = "usd",
    *,
    txn_no: str = "",
    thing: Mapping[str, Any] | None = None,
    **fields: Any,
) -> bytes:
    """Stripe says that an intent was paid."""
    intent = {
        "id": txn_no or f"pi_{number()}",
        "object": "payment_intent",
        "amount_received": amount,
        "currency": currency,
        "metadata": {} if order_no is None else {"order_id": order_no},
        **(thing or {}),
    }
    event_id = fields.pop("event_id", f"evt_{number()}")
    kind = fields.pop("event_type", "payment_intent.succeeded")
    return stripe_event(kind, intent, event_id=event_id, **{"livemode": True} | fields)


def custom_paid(order_no: str, **fields: Any) -> dict[str, Any]:
    """What an account with CUSTOM_SETTINGS is told about a payment."""
    return {
        "id": f"evt_{number()}",
        "type": "paid",
        "payment_id": f"pay_{number()}",
        "order": order_no,
        "amount": 1099,
        "currency": "USD",
        "mode": "live",
        **fields,
    }


def custom_body(order_no: str, **fields: Any) -> bytes:
    return json.dumps(custom_paid(order_no, **fields)).encode()


def standard_paid(order_no: str, amount: str = '"10.99"', currency: str = '"USD"') -> bytes:
    """A Standard Webhooks payment, whose amount is given as JSON text."""
    return (
        f'{{"type": "payment.succeeded", "timestamp": "2026-03-01T12:00:00Z", "data": {{'
        f'"id": "pay_{number()}", "reference": {json.dumps(order_no)}, '
        f'"amount": {amount}, "currency": {currency}}}}}'
    ).encode()
