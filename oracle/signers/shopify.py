"""Shopify: shopifyapp verifies, openssl signs."""

from shopify_app.verify.webhook import verify_webhook_req

from oracle.signers.cases import Chance, Currency, run
from oracle.signers.raw_hmac import Event, RawHmac

CURRENCIES = (
    Currency("USD", 2, 2),
    Currency("EUR", 2, 2),
    Currency("JPY", 0, 0),
    Currency("KWD", 3, 3),
)
STATUSES = {
    "paid": "paid",
    "authorized": "authorised",
    "pending": "pending",
    "voided": "closed",
    "refunded": "other",
}


def event(chance: Chance) -> Event:
    """An order in some state, or a refund of one or two transactions."""
    currency = chance.choice(CURRENCIES)
    _, major = chance.amount(currency)
    number, order = chance.digits(18), str(chance.randint(1001, 99999))
    if chance.random() < 0.3:
        parts = [
            {"kind": "refund", "status": "success", "amount": major, "currency": currency.code}
        ]
        refund = {
            "id": int(number),
            "order_id": int(chance.digits(15)),
            "note": chance.text(),
            "transactions": parts,
        }
        return refund, {
            "event_id": "(in a header)",
            "event_type": "refunds/create",
            "outcome": "refunded",
            "provider_txn_id": number,
            "amount": major,
            "currency": currency.code,
        }
    status = chance.choice(list(STATUSES))
    body = {
        "id": int(number),
        "name": f"#{order}",
        "financial_status": status,
        "total_price": major,
        "currency": currency.code,
        "note": chance.text(),
        "cancelled_at": None,
        "test": False,
    }
    says = {
        "event_id": "(in a header)",
        "event_type": f"orders/{status}",
        "outcome": STATUSES[status],
    }
    if says["outcome"] != "other":
        says |= {
            "provider_txn_id": number,
            "merchant_order_no": order,
            "amount": major,
            "currency": currency.code,
        }
    return body, says


def verified(body: bytes, signature: str | None, secret: str, _: str) -> bool:
    """The SDK's verdict."""
    headers = {"X-Shopify-Shop-Domain": "synth.myshopify.com"}
    if signature is not None:
        headers["X-Shopify-Hmac-SHA256"] = signature
    request = {
        "method": "POST",
        "url": "https://pay.example.test/",
        "headers": headers,
        "body": body.decode(),
    }
    return verify_webhook_req(request, {"client_id": "id", "client_secret": secret}).ok


SHOPIFY = RawHmac(
    provider="shopify",
    tool="shopifyapp",
    header="X-Shopify-Hmac-SHA256",
    encoding="base64",
    event=event,
    secret=lambda chance: f"shpss_{chance.word(32)}",
    headers=lambda chance: [
        ("X-Shopify-Topic", "orders/paid"),
        ("X-Shopify-Event-Id", chance.word(36)),
    ],
    verify=verified,
)

if __name__ == "__main__":
    run(SHOPIFY.signer())
