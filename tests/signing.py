"""Sign callbacks as providers do, without the code that verifies them."""

import base64
import hashlib
import hmac
import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from payments.providers.port import Account, Key, SignedRequest

STRIPE_SECRET: Final = "whsec_tests_0Zp3LwT9vXq5RyKc"
STANDARD_SECRET: Final = "whsec_" + base64.b64encode(bytes(range(40, 72))).decode()
CUSTOM_SECRET: Final = "tests-only-6kP0sVbX2mQd"

#: The simplest custom account: hex of the body's HMAC, amounts in minor units.
CUSTOM_SETTINGS: Final[Mapping[str, Any]] = {
    "scheme": {
        "algorithm": "sha256",
        "signature": {"header": "X-Signature", "encoding": "hex"},
    },
    "fields": {
        "event_id": "/id",
        "type": "/type",
        "transaction": "/payment_id",
        "order": "/order",
        "amount": {"at": "/amount", "unit": "minor"},
        "currency": "/currency",
        "account": "/merchant",
        "live": {"at": "/mode", "live": "live", "test": "test"},
        "occurred_at": "/at",
        "kinds": {"paid": "PAID", "failed": "FAILED", "closed": "CLOSED"},
    },
}


def signed_stripe(body: bytes, secret: str, now: datetime) -> dict[str, str]:
    """The headers of a Stripe callback that was signed at that time."""
    timestamp = int(now.timestamp())
    mac = hmac.digest(secret.encode(), f"{timestamp}.".encode() + body, hashlib.sha256).hex()
    return {"Content-Type": "application/json", "Stripe-Signature": f"t={timestamp},v1={mac}"}


def signed_standard_webhooks(
    body: bytes,
    secret: str,
    now: datetime,
    *,
    message_id: str = "msg_1",
    family: str = "webhook",
) -> dict[str, str]:
    """The headers of a Standard Webhooks message; Svix is family "svix"."""
    timestamp = int(now.timestamp())
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{message_id}.{timestamp}.".encode() + body
    mac = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    return {
        "Content-Type": "application/json",
        f"{family}-id": message_id,
        f"{family}-timestamp": str(timestamp),
        f"{family}-signature": f"v1,{mac}",
    }


def signed_custom(body: bytes, secret: str = CUSTOM_SECRET) -> dict[str, str]:
    """The headers of a callback for an account with CUSTOM_SETTINGS."""
    mac = hmac.digest(secret.encode(), body, hashlib.sha256).hex()
    return {"Content-Type": "application/json", "X-Signature": mac}


def signed_raw(
    body: bytes,
    secret: str,
    header: str,
    *,
    algorithm: str = "sha256",
    encoding: str = "hex",
    prefix: str = "",
    url: str = "",
) -> dict[str, str]:
    """The headers of a callback whose only signature is the MAC of the body (after the URL)."""
    mac = hmac.digest(secret.encode(), url.encode() + body, algorithm)
    written = mac.hex() if encoding == "hex" else base64.b64encode(mac).decode()
    return {"Content-Type": "application/json", header: prefix + written}


def signed_hook0(body: bytes, secret: str, now: datetime) -> dict[str, str]:
    """The headers of a hook0 message that signs its time and body (``v0``)."""
    timestamp = int(now.timestamp())
    mac = hmac.digest(secret.encode(), f"{timestamp}.".encode() + body, "sha256").hex()
    return {"Content-Type": "application/json", "X-Hook0-Signature": f"t={timestamp},v0={mac}"}


def stripe_event(
    event_type: str, thing: Mapping[str, Any], *, event_id: str = "evt_1", **fields: Any
) -> bytes:
    """The body of a Stripe event about `thing`, which stands in `data.object`."""
    event = {
        "id": event_id,
        "object": "event",
        "created": 1767225594,
        "livemode": False,
        "type": event_type,
        "data": {"object": thing},
        **fields,
    }
    return json.dumps(event, indent=2).encode()


def as_request(body: bytes, headers: Mapping[str, str], url: str = "") -> SignedRequest:
    """The request as an adapter sees it."""
    return SignedRequest(tuple((name.lower(), value) for name, value in headers.items()), body, url)


def an_account(*secrets: str, settings: Mapping[str, Any] | None = None) -> Account:
    """A test-mode account with these secrets as keys k0, k1, .."""
    keys = tuple(
        Key(f"k{number}", "signature", secret.encode()) for number, secret in enumerate(secrets)
    )
    return Account(account_no="acct_1", live=False, settings=settings or {}, keys=keys)
