"""Square: squareup verifies, openssl signs."""

from square.utils.webhooks_helper import verify_signature

from oracle.signers.cases import Chance, Currency, run
from oracle.signers.raw_hmac import Event, RawHmac

CURRENCIES = (
    Currency("USD", 2, 2),
    Currency("JPY", 0, 0),
    Currency("GBP", 2, 2),
    Currency("EUR", 2, 2),
)
PAYMENTS = {
    "COMPLETED": "paid",
    "APPROVED": "authorised",
    "PENDING": "pending",
    "CANCELED": "closed",
    "FAILED": "failed",
}
REFUNDS = {
    "COMPLETED": "refunded",
    "PENDING": "pending",
    "FAILED": "refund_failed",
    "REJECTED": "refund_failed",
}
DISPUTES = {"EVIDENCE_REQUIRED": "disputed", "WON": "dispute_won", "LOST": "dispute_lost"}


def event(chance: Chance) -> Event:
    """A payment, a refund or a dispute in some state."""
    currency = chance.choice(CURRENCIES)
    wire, major = chance.amount(currency)
    money = {"amount": wire, "currency": currency.code}
    number, order, merchant, event_id = (
        chance.word(20),
        chance.order_no(),
        chance.word(13),
        chance.word(36),
    )
    thing = chance.choice(["payment", "payment", "refund", "dispute"])
    states = {"payment": PAYMENTS, "refund": REFUNDS, "dispute": DISPUTES}[thing]
    state = chance.choice(list(states))
    named = {
        "payment": (
            "payment.updated",
            {"status": state, "reference_id": order, "note": chance.text()},
        ),
        "refund": ("refund.updated", {"status": state, "payment_id": chance.word(20)}),
        "dispute": ("dispute.state.updated", {"state": state}),
    }[thing]
    body = {
        "merchant_id": merchant,
        "type": named[0],
        "event_id": event_id,
        "created_at": "2026-01-01T00:00:00Z",
        "data": {
            "type": thing,
            "id": number,
            "object": {thing: {"id": number, "amount_money": money, **named[1]}},
        },
    }
    return body, {
        "event_id": event_id,
        "event_type": named[0],
        "outcome": states[state],
        "provider_txn_id": number,
        "merchant_order_no": order if thing == "payment" else None,
        "amount": major,
        "currency": currency.code,
        "account": merchant,
    }


SQUARE = RawHmac(
    provider="square",
    tool="squareup",
    header="x-square-hmacsha256-signature",
    encoding="base64",
    signs_url=True,
    event=event,
    verify=lambda body, signature, secret, url: verify_signature(
        request_body=body.decode(),
        signature_header=signature,
        signature_key=secret,
        notification_url=url,
    ),
)

if __name__ == "__main__":
    run(SQUARE.signer())
