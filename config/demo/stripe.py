"""A pretend Stripe: one payment that it tells as a session and once more as a payment."""

import hashlib
import hmac
import json
import secrets
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from orders.models import Merchant
from payments import vault
from payments.models import AccountKey, ProviderAccount
from payments.opening import open_account
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import Key

ACCOUNT: Final = "demo"


@dataclass(frozen=True, kw_only=True)
class PretendStripe:
    """Stripe's side of the demo shop's account in test mode."""

    url: str
    secret: bytes

    def session_paid(self, order_no: str, amount_minor: int) -> bytes:
        """The end of a subscription's checkout, which does not name its payment."""
        session: dict[str, Any] = {
            "id": f"cs_test_{uuid.uuid4().hex[:16]}",
            "object": "checkout.session",
            "mode": "subscription",
            "status": "complete",
            "payment_status": "paid",
            "payment_intent": None,
            "client_reference_id": order_no,
            "amount_total": amount_minor,
            "currency": "usd",
            "metadata": {},
        }
        return _event("checkout.session.completed", session)

    def payment_succeeded(self, order_no: str, amount_minor: int) -> bytes:
        """The payment of it, which does not name the session."""
        intent = {
            "id": f"pi_{uuid.uuid4().hex[:16]}",
            "object": "payment_intent",
            "amount": amount_minor,
            "amount_received": amount_minor,
            "currency": "usd",
            "status": "succeeded",
            "metadata": {"order_id": order_no},
        }
        return _event("payment_intent.succeeded", intent)

    def send(self, body: bytes, *, client: httpx2.Client) -> int:
        """Deliver it, signed now, and return the answer's status."""
        now = int(time.time())
        mac = hmac.digest(self.secret, b"%d." % now + body, hashlib.sha256).hex()
        headers = {"Content-Type": "application/json", "Stripe-Signature": f"t={now},v1={mac}"}
        return client.post(self.url, content=body, headers=headers).status_code


def open_at(base_url: str, merchant: Merchant) -> PretendStripe:
    """The merchant's account at it, made if it is not there yet."""
    if not ProviderAccount.objects.filter(provider="stripe", name=ACCOUNT).exists():
        open_account(
            merchant=merchant,
            provider_name="stripe",
            name=ACCOUNT,
            account_no="acct_demo",
            live=False,
            settings={},
            keys=[Key("first", KEY_PURPOSE, f"whsec_{secrets.token_urlsafe(24)}".encode())],
        )
    key = AccountKey.objects.filter(account__provider="stripe", account__name=ACCOUNT).latest("id")
    return PretendStripe(
        url=f"{base_url}/callbacks/stripe/{ACCOUNT}", secret=vault.unseal(bytes(key.material))
    )


def _event(kind: str, about: Mapping[str, Any]) -> bytes:
    event = {
        "id": f"evt_{uuid.uuid4().hex[:16]}",
        "object": "event",
        "created": int(time.time()),
        "livemode": False,
        "type": kind,
        "data": {"object": about},
    }
    return json.dumps(event).encode()
