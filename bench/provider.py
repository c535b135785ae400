"""A pretend Stripe: signed requests, made before the clock runs."""

import hashlib
import hmac
import json
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from bench.placed import AMOUNT_MINOR, CURRENCY, MERCHANT, order_no
from orders.models import Merchant
from payments.opening import open_account
from payments.providers.port import Key

ACCOUNT: Final = "bench"


@dataclass(frozen=True, kw_only=True)
class PretendStripe:
    """The provider's side of one account."""

    port: int
    secret: bytes

    def requests(self, numbers: Iterable[int], *, now: int) -> list[bytes]:
        """For each order the HTTP request that says it is paid; `now` in seconds."""
        return [self.request(number, now=now) for number in numbers]

    def request(self, number: int, *, now: int) -> bytes:
        """The bytes of one request, headers and all."""
        body = json.dumps(_event(number, now), indent=2).encode()
        mac = hmac.digest(self.secret, b"%d." % now + body, hashlib.sha256).hex()
        head = (
            f"POST /callbacks/stripe/{ACCOUNT} HTTP/1.1\r\n"
            f"Host: 127.0.0.1:{self.port}\r\n"
            "User-Agent: Stripe/1.0 (+https://stripe.com/docs/webhooks)\r\n"
            "Accept: */*; q=0.5, application/xml\r\n"
            "Cache-Control: no-cache\r\n"
            "Content-Type: application/json; charset=utf-8\r\n"
            f"Content-Length: {len(body)}\r\n"
            f"Stripe-Signature: t={now},v1={mac}\r\n\r\n"
        )
        return head.encode() + body


def set_up(port: int) -> tuple[Merchant, PretendStripe]:
    """A merchant with one account at the pretend Stripe."""
    merchant = Merchant.objects.create(code=MERCHANT, name="Measured")
    secret = f"whsec_{secrets.token_urlsafe(24)}".encode()
    open_account(
        merchant=merchant,
        provider_name="stripe",
        name=ACCOUNT,
        account_no="acct_bench",
        live=False,
        settings={},
        keys=[Key("first", "signature", secret)],
    )
    return merchant, PretendStripe(port=port, secret=secret)


def _event(number: int, now: int) -> dict[str, object]:
    """A PaymentIntent's event with the fields and the length of a real one."""
    intent = {
        "id": f"pi_{number}",
        "object": "payment_intent",
        "amount": AMOUNT_MINOR,
        "amount_capturable": 0,
        "amount_details": {"tip": {}},
        "amount_received": AMOUNT_MINOR,
        "application": None,
        "automatic_payment_methods": {"allow_redirects": "always", "enabled": True},
        "canceled_at": None,
        "cancellation_reason": None,
        "capture_method": "automatic_async",
        "client_secret": f"pi_{number}_secret_of_nobody",
        "confirmation_method": "automatic",
        "created": now,
        "currency": CURRENCY.lower(),
        "customer": None,
        "description": "Order of the benchmark",
        "last_payment_error": None,
        "latest_charge": f"ch_{number}",
        "livemode": False,
        "metadata": {"order_id": order_no(number)},
        "next_action": None,
        "payment_method": f"pm_{number}",
        "payment_method_options": {"card": {"request_three_d_secure": "automatic"}},
        "payment_method_types": ["card", "link"],
        "processing": None,
        "receipt_email": None,
        "setup_future_usage": None,
        "shipping": None,
        "statement_descriptor": None,
        "status": "succeeded",
        "transfer_data": None,
        "transfer_group": None,
    }
    return {
        "id": f"evt_{number}",
        "object": "event",
        "api_version": "2025-09-30.clover",
        "created": now,
        "data": {"object": intent},
        "livemode": False,
        "pending_webhooks": 1,
        "request": {"id": f"req_{number}", "idempotency_key": None},
        "type": "payment_intent.succeeded",
    }
