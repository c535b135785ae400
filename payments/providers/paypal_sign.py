"""Sign a webhook as PayPal does: for trying things out with a key pair of one's own."""

from datetime import UTC, datetime

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from payments.providers.paypal_signature import ALGORITHM, signed_text
from payments.providers.rsa_sign import signature


def signed_headers(
    body: bytes,
    key: RSAPrivateKey,
    *,
    webhook_id: str,
    transmission_id: str,
    certificate_url: str,
    now: datetime,
) -> dict[str, str]:
    """The headers, in lower case, with which PayPal would send this body at that time."""
    time = now.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    signed = signature(key, signed_text(transmission_id, time, webhook_id, body))
    return {
        "content-type": "application/json",
        "paypal-transmission-id": transmission_id,
        "paypal-transmission-time": time,
        "paypal-transmission-sig": signed.decode(),
        "paypal-cert-url": certificate_url,
        "paypal-auth-algo": ALGORITHM,
    }
