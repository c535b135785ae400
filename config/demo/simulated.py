"""The demo shop's account at the simulator: payments that can be asked about and sent back."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from config.demo.scenes import ServiceRefused
from config.demo.shop import ACCOUNT
from config.simulator.our_accounts import PROVIDER
from payments import vault
from payments.models import AccountKey, ProviderTransaction
from payments.providers.api_access import API_PURPOSE

_WAIT_SECONDS: Final = 10.0


@dataclass(frozen=True, kw_only=True)
class SimulatedPayers:
    """Those who pay there, and the people who refund on its pages."""

    url: str
    api_key: str
    client: httpx2.Client

    def pay(self, order_no: str, amount_minor: int, currency: str) -> str:
        """Pay, and wait until the service was told; the payment's number. Raises ServiceRefused."""
        money = {"amount_minor": amount_minor, "currency": currency}
        return self._moved("payment", "/api/payments", {"order_no": order_no, **money})

    def refund(self, txn_no: str, amount_minor: int, currency: str) -> str:
        """Send money back behind the service's back; the refund's number. Raises as `pay`."""
        money = {"amount_minor": amount_minor, "currency": currency}
        return self._moved("refund", "/api/refunds", {"payment": txn_no, **money})

    def _moved(self, what: str, path: str, content: Mapping[str, Any]) -> str:
        access = {"Authorization": f"Bearer {self.api_key}"}
        answer = self.client.post(f"{self.url}{path}", json=content, headers=access)
        if not answer.is_success:
            raise ServiceRefused(f"{path} answered {answer.status_code}: {answer.text[:200]}")
        number = str(answer.json()[what]["id"])
        _wait_until_told(number)
        return number


def find(url: str, client: httpx2.Client) -> SimulatedPayers | None:
    """Those of the account that `shop.set_up` opened; None where no simulator runs."""
    keys = AccountKey.objects.filter(
        account__provider=PROVIDER, account__name=ACCOUNT, purpose=API_PURPOSE
    )
    key = keys.order_by("-pk").first()
    if not url or key is None:
        return None
    return SimulatedPayers(
        url=url, api_key=vault.unseal(bytes(key.material)).decode(), client=client
    )


def _wait_until_told(number: str) -> None:
    deadline = time.monotonic() + _WAIT_SECONDS
    while not ProviderTransaction.objects.filter(txn_no=number).exists():
        if time.monotonic() > deadline:
            raise ServiceRefused(f"the simulator's callback about {number} has not come")
        time.sleep(0.05)
