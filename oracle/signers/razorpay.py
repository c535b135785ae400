"""Razorpay: razorpay verifies, openssl signs."""

import razorpay

from oracle.signers.cases import Chance, Currency, run
from oracle.signers.raw_hmac import Event, RawHmac

CURRENCIES = (Currency("INR", 2, 2), Currency("USD", 2, 2), Currency("JPY", 0, 0))
EVENTS = {
    "payment.captured": "paid",
    "order.paid": "paid",
    "payment.authorized": "authorised",
    "payment.failed": "failed",
    "refund.processed": "refunded",
    "refund.failed": "refund_failed",
    "payment.dispute.created": "disputed",
    "payment.dispute.won": "dispute_won",
    "payment.dispute.lost": "dispute_lost",
    "settlement.processed": "other",
}
VERIFIER = razorpay.Client(auth=("id", "secret")).utility


def event(chance: Chance) -> Event:
    """A payment, a refund or a dispute, with the entities that come along."""
    kind = chance.choice(list(EVENTS))
    currency = chance.choice(CURRENCIES)
    wire, major = chance.amount(currency)
    order, account = f"order_{chance.word(14)}", f"acc_{chance.word(14)}"
    payment = {
        "id": f"pay_{chance.word(14)}",
        "entity": "payment",
        "amount": wire,
        "currency": currency.code,
        "order_id": order,
        "captured": True,
        "notes": {"note": chance.text()},
        "fee": 17,
    }
    payload, number = {"payment": {"entity": payment}}, payment["id"]
    for thing, prefix in (("refund", "rfnd"), ("dispute", "disp")):
        if thing in kind:
            wire, major = chance.amount(currency)
            number = f"{prefix}_{chance.word(14)}"
            payload[thing] = {
                "entity": {
                    "id": number,
                    "amount": wire,
                    "currency": currency.code,
                    "payment_id": payment["id"],
                }
            }
    body = {
        "entity": "event",
        "account_id": account,
        "event": kind,
        "contains": list(payload),
        "payload": payload,
        "created_at": chance.time(),
    }
    says = {"event_id": "(in a header)", "event_type": kind, "outcome": EVENTS[kind]}
    if says["outcome"] != "other":
        says |= {
            "provider_txn_id": number,
            "merchant_order_no": order,
            "amount": major,
            "currency": currency.code,
            "account": account,
        }
    return body, says


RAZORPAY = RawHmac(
    provider="razorpay",
    tool="razorpay",
    header="X-Razorpay-Signature",
    event=event,
    headers=lambda chance: [("x-razorpay-event-id", chance.word(14))],
    verify=lambda body, signature, secret, _: VERIFIER.verify_webhook_signature(
        body.decode(), signature, secret
    ),
)

if __name__ == "__main__":
    run(RAZORPAY.signer())
