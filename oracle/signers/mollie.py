"""Mollie's next-gen webhooks: mollie-api-py signs and verifies."""

from dataclasses import replace

from mollie.utils.webhooks.signature_validator import SignatureValidator

from oracle.signers.cases import Case, Chance, Currency, run
from oracle.signers.raw_hmac import Event, RawHmac

CURRENCIES = (Currency("EUR", 2, 2), Currency("USD", 2, 2), Currency("JPY", 0, 0))
EVENTS = {
    "payment.paid": "paid",
    "payment.authorized": "authorised",
    "payment.failed": "failed",
    "payment.canceled": "closed",
    "payment.expired": "closed",
    "refund.refunded": "refunded",
    "refund.failed": "refund_failed",
    "profile.verified": "other",
}


def event(chance: Chance) -> Event:
    """A snapshot of a payment or a refund."""
    kind = chance.choice(list(EVENTS))
    currency = chance.choice(CURRENCIES)
    _, major = chance.amount(currency)
    thing = kind.split(".")[0]
    number, event_id = (
        f"{'tr' if thing == 'payment' else 're'}_{chance.word(22)}",
        f"event_{chance.word(21)}",
    )
    order, profile = chance.order_no(), f"pfl_{chance.word(10)}"
    entity = {
        "resource": thing,
        "id": number,
        "mode": "live",
        "amount": {"currency": currency.code, "value": major},
        "description": chance.text(),
        "metadata": {"order_id": order},
        "profileId": profile,
    }
    body = {
        "resource": "event",
        "id": event_id,
        "type": kind,
        "entityId": number,
        "createdAt": "2026-01-01T00:00:00+00:00",
        "_embedded": {"entity": entity},
    }
    says = {"event_id": event_id, "event_type": kind, "outcome": EVENTS[kind]}
    if EVENTS[kind] != "other":
        says |= {
            "provider_txn_id": number,
            "merchant_order_no": order,
            "amount": major,
            "currency": currency.code,
            "account": profile,
        }
    return body, says


def verified(body: bytes, signature: str | None, secret: str, _: str) -> bool:
    """The SDK's verdict; the signatures of several headers are joined by line ends here."""
    given = signature.split("\n") if signature else None
    return SignatureValidator(secret).validate_payload(body.decode(), given)


MOLLIE = RawHmac(
    provider="mollie_nextgen",
    tool="mollie-api-py",
    header="X-Mollie-Signature",
    prefix="sha256=",
    sign=lambda body, secret: (
        "sha256=" + SignatureValidator.create_signature(body.decode(), secret)
    ),
    event=event,
    verify=verified,
)


def bare(chance: Chance) -> Case:
    """Without the prefix, which the SDK does not ask for."""
    case = MOLLIE.genuine(chance)
    return MOLLIE.resigned(case, (case.header(MOLLIE.header) or "").removeprefix("sha256="))


def two_headers(chance: Chance) -> Case:
    """While a secret is changed: another secret's signature, and the right one."""
    case = MOLLIE.genuine(chance)
    others = [(MOLLIE.header, f"sha256={'0' * 64}")]
    headers = [*others, *case.headers] if chance.random() < 0.5 else [*case.headers, *others]
    given = [value for name, value in headers if name == MOLLIE.header]
    valid = verified(case.body, "\n".join(given), case.config["secrets"][0], "")
    return replace(case, headers=headers, verdict="valid" if valid else "invalid")


if __name__ == "__main__":
    run(MOLLIE.signer(bare=bare, two_headers=two_headers))
