"""A shop that places orders through the API and is told of payments, all over real HTTP."""

import json
import uuid
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2

from orders.models import Order
from outbox.models import Event
from payments.models import Conflict, Delivery, ProviderAccount, ProviderTransaction
from tests.factories import ApiKeyFactory, MerchantFactory, ProviderAccountFactory, api_token
from tests.payments.over_http import signed
from tests.signing import CUSTOM_SECRET, CUSTOM_SETTINGS, STANDARD_SECRET


def custom_settings(**fields: Any) -> dict[str, Any]:
    """CUSTOM_SETTINGS with other fields."""
    return {**CUSTOM_SETTINGS, "fields": {**CUSTOM_SETTINGS["fields"], **fields}}


MAJOR_UNITS = custom_settings(amount={"at": "/amount", "unit": "major"})


class Shop:
    """A merchant, its API key, and its accounts at payment providers."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.merchant = MerchantFactory.create(code="shop")
        token = api_token(ApiKeyFactory.create(merchant=self.merchant))
        self._client = httpx2.Client(base_url=url, headers={"Authorization": f"Bearer {token}"})
        self._provider = httpx2.Client(base_url=url, timeout=15)
        self.stripe = self.account("stripe")
        self.custom = self.account("custom", settings=CUSTOM_SETTINGS, secret=CUSTOM_SECRET)
        self.standard = self.account("standardwebhooks", secret=STANDARD_SECRET)

    def close(self) -> None:
        self._client.close()
        self._provider.close()

    def account(self, provider: str, **values: Any) -> ProviderAccount:
        values = {"merchant": self.merchant, "provider": provider, **values}
        return ProviderAccountFactory.create(**values)

    def api(self, method: str, path: str, content: Any = None) -> httpx2.Response:
        """A call of the merchants' API; bytes go as they are."""
        body = content if isinstance(content, bytes) else json.dumps(content).encode()
        headers = {"Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
        return self._client.request(method, path, content=body, headers=headers)

    def place(self, order_no: str, amount_minor: Any = 1099, currency: str = "USD") -> str:
        """Place an order; the status that the merchant is answered."""
        content = {
            "order_no": order_no,
            "amount": {"amount_minor": amount_minor, "currency": currency},
        }
        answer = self.api("POST", "/v1/orders", content)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["status"])

    def read(self, order_no: str) -> dict[str, Any]:
        return dict(self.api("GET", f"/v1/orders/{order_no}").json())

    def post(
        self,
        body: bytes,
        account: ProviderAccount | None = None,
        *,
        headers: Mapping[str, str] | Mapping[bytes, bytes] | None = None,
    ) -> httpx2.Response:
        """Deliver a callback, signed unless other headers are given."""
        account = account or self.stripe
        return self._provider.post(
            f"/callbacks/{account.endpoint}",
            content=body,
            headers=signed(account, body) if headers is None else headers,
        )

    def tell(self, body: bytes, account: ProviderAccount | None = None) -> str:
        """Deliver a callback that is acknowledged, and say what became of it."""
        answer = self.post(body, account)
        assert (answer.status_code, answer.content) == (200, b"ok")
        return outcomes()[-1]

    def status(self, order_no: str) -> str:
        return Order.objects.get(merchant=self.merchant, order_no=order_no).status


def outcomes() -> list[str]:
    """What became of each delivery, in order: "APPLIED", "CONFLICT LATE_PAYMENT" .."""
    rows = Delivery.objects.order_by("id").values_list("outcome", "reason")
    return [f"{outcome} {reason}".strip() for outcome, reason in rows]


def events() -> list[str]:
    return sorted(Event.objects.values_list("type", flat=True))


def conflicts() -> list[str]:
    return list(Conflict.objects.order_by("id").values_list("reason", flat=True))


def transactions() -> list[tuple[str, int, str, str]]:
    """The ledger: number, amount, currency, and where the money stands."""
    return list(
        ProviderTransaction.objects.order_by("id").values_list(
            "txn_no", "amount_minor", "currency", "disposition"
        )
    )


def at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Make all calls at the same time; their results."""
    with ThreadPoolExecutor(len(calls)) as callers:
        return [future.result() for future in [callers.submit(call) for call in calls]]
