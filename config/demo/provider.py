"""A pretend payment provider: signs callbacks as `custom` accounts verify them, and sends them."""

import hashlib
import hmac
import json
import uuid
from dataclasses import dataclass
from typing import Any, Final

import httpx2

from payments.providers.port import SignedRequest
from payments.sending import curl

SIGNATURE_HEADER: Final = "X-Demo-Signature"
#: The settings of the account that understands this provider: a provider without code.
ACCOUNT_SETTINGS: Final[dict[str, Any]] = {
    "scheme": {
        "algorithm": "sha256",
        "message": "{body}",
        "signature": {"header": SIGNATURE_HEADER, "format": "raw", "encoding": "hex"},
    },
    "fields": {
        "event_id": "/id",
        "type": "/type",
        "transaction": ["/refund/id", "/payment/id"],
        "reverses": "/refund/payment",
        "order": "/payment/order",
        "amount": {"at": ["/refund/amount", "/payment/amount"], "unit": "minor"},
        "currency": "/payment/currency",
        "kinds": {
            "payment.succeeded": "PAID",
            "payment.failed": "FAILED",
            "refund.succeeded": "REFUNDED",
        },
    },
}


@dataclass(frozen=True, kw_only=True)
class PretendProvider:
    """The provider's side of one account: where it calls, and the secret it signs with."""

    url: str
    secret: bytes

    def body(
        self,
        *,
        order_no: str,
        amount_minor: int,
        currency: str = "USD",
        txn_no: str = "",
        kind: str = "payment.succeeded",
    ) -> bytes:
        """The bytes of one callback, with an event id of its own."""
        payment = {
            "id": txn_no or f"pay_{uuid.uuid4().hex[:16]}",
            "order": order_no,
            "amount": amount_minor,
            "currency": currency,
        }
        event = {"id": f"evt_{uuid.uuid4().hex[:16]}", "type": kind, "payment": payment}
        return json.dumps(event).encode()

    def refund_body(self, *, order_no: str, txn_no: str, amount_minor: int) -> bytes:
        """The bytes of a callback that tells a refund which somebody made at the provider."""
        event = {
            "id": f"evt_{uuid.uuid4().hex[:16]}",
            "type": "refund.succeeded",
            "payment": {"order": order_no, "currency": "USD"},
            "refund": {
                "id": f"ref_{uuid.uuid4().hex[:16]}",
                "payment": txn_no,
                "amount": amount_minor,
            },
        }
        return json.dumps(event).encode()

    def send(self, body: bytes, *, client: httpx2.Client, signature: str | None = None) -> int:
        """Deliver the callback, signed unless told otherwise, and return the answer's status."""
        request = self._request(body, signature)
        answer = client.post(self.url, content=body, headers=list(request.headers))
        return answer.status_code

    def curl(self, body: bytes) -> str:
        """The same delivery as a command to paste into a shell."""
        return curl(self._request(body), self.url)

    def _request(self, body: bytes, signature: str | None = None) -> SignedRequest:
        if signature is None:
            signature = hmac.new(self.secret, body, hashlib.sha256).hexdigest()
        headers = (("Content-Type", "application/json"), (SIGNATURE_HEADER, signature))
        return SignedRequest(headers, body)
