"""Requests as they were stored while an account was in the wrong mode, and its mending."""

import json
from typing import Any

from payments.accounts import find_endpoint
from payments.deliveries import Intake
from payments.models import Delivery, ProviderAccount
from payments.providers.port import SignedRequest
from payments.receive import receive
from tests.payments.telling import NOW


def body(number: int = 1, *, order_no: str = "1001", amount_minor: int = 1099) -> bytes:
    return json.dumps(
        {
            "id": f"evt_{number}",
            "type": "payment.succeeded",
            "live": False,
            "account": "acct_1",
            "created_at": "2026-03-01T11:59:00Z",
            "payment": {
                "id": f"pay_{number}",
                "order_no": order_no,
                "amount_minor": amount_minor,
                "currency": "USD",
            },
        }
    ).encode()


def deliver(account: ProviderAccount, raw: bytes, **values: Any) -> Delivery:
    """Store an authentic request as its endpoint would; its first delivery."""
    endpoint = find_endpoint(account.provider, account.name)
    assert endpoint is not None
    request = SignedRequest(headers=(("content-type", "application/json"),), body=raw)
    usual: dict[str, Any] = {"key_id": "first", "received_at": NOW}
    intake = Intake(endpoint=endpoint, request=request, **usual | values)
    verdicts = receive(intake, endpoint.provider.read(request, endpoint.account))
    return Delivery.objects.get(pk=verdicts[0].delivery_id)


def mend(account: ProviderAccount) -> None:
    ProviderAccount.objects.filter(pk=account.pk).update(live=False)
