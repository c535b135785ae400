"""Paystack: pypaystack2 (not Paystack's own) verifies, openssl signs."""

from pypaystack2 import PaystackClient

from oracle.signers.cases import Chance, Currency, run
from oracle.signers.raw_hmac import Event, RawHmac

CURRENCIES = (
    Currency("NGN", 2, 2),
    Currency("GHS", 2, 2),
    Currency("ZAR", 2, 2),
    Currency("KES", 2, 2),
    Currency("XOF", 2, 0),
)
EVENTS = {
    "charge.success": "paid",
    "charge.failed": "failed",
    "refund.processed": "refunded",
    "refund.failed": "refund_failed",
    "transfer.success": "other",
}


def event(chance: Chance) -> Event:
    """A charge, or a refund, whose amount is text."""
    kind = chance.choice(list(EVENTS))
    currency = chance.choice(CURRENCIES)
    wire, major = chance.amount(currency)
    order, number = chance.order_no(), chance.digits(9)
    if kind.startswith("refund"):
        number = f"TRF_{chance.word(12)}"
        data = {"refund_reference": number, "transaction_reference": order, "amount": str(wire)}
    else:
        data = {
            "id": int(number),
            "reference": order,
            "amount": wire,
            "paid_at": "2026-01-01T00:00:00.000Z",
        }
    data |= {"currency": currency.code, "domain": "test", "metadata": {"note": chance.text()}}
    says = {"event_id": None, "event_type": kind, "outcome": EVENTS[kind]}
    if EVENTS[kind] != "other":
        says |= {
            "provider_txn_id": number,
            "merchant_order_no": order,
            "amount": major,
            "currency": currency.code,
        }
    return {"event": kind, "data": data}, says


PAYSTACK = RawHmac(
    provider="paystack",
    tool="pypaystack2",
    header="x-paystack-signature",
    algorithm="sha512",
    event=event,
    secret=lambda chance: f"sk_test_{chance.word(40)}",
    verify=lambda body, signature, secret, _: PaystackClient(
        secret_key=secret
    ).is_verified_webhook_payload(body, signature),
)

if __name__ == "__main__":
    run(PAYSTACK.signer())
