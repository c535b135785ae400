"""GoCardless: gocardless-pro verifies and parses, openssl signs."""

from gocardless_pro import webhooks

from oracle.signers.cases import Case, Chance, run
from oracle.signers.raw_hmac import Event, RawHmac

EVENTS = {
    ("payments", "confirmed"): "paid",
    ("payments", "created"): "pending",
    ("payments", "submitted"): "pending",
    ("payments", "failed"): "failed",
    ("payments", "late_failure_settled"): "failed",
    ("payments", "cancelled"): "closed",
    ("payments", "charged_back"): "disputed",
    ("payments", "chargeback_cancelled"): "dispute_won",
    ("payments", "chargeback_settled"): "dispute_lost",
    ("payments", "paid_out"): "other",
    ("refunds", "paid"): "refunded",
    ("refunds", "failed"): "refund_failed",
    ("mandates", "created"): "other",
    ("payouts", "paid"): "other",
}


def event(chance: Chance) -> Event:
    """A batch of events."""
    events, says = [], []
    for _ in range(chance.choice([1, 2, 3, 7, 40])):
        resource, action = chance.choice(list(EVENTS))
        outcome = EVENTS[resource, action]
        links = {"payments": ["payment"], "refunds": ["refund", "payment"]}.get(
            resource, [resource[:-1]]
        )
        given = {name: f"{name[:2].upper()}{chance.word(12)}" for name in links}
        event_id = f"EV{chance.word(12)}"
        events.append(
            {
                "id": event_id,
                "created_at": "2026-01-01T00:00:00.000Z",
                "resource_type": resource,
                "action": action,
                "links": given,
                "details": {"origin": "bank", "description": chance.text()},
                "metadata": {},
            }
        )
        says.append(
            {
                "event_id": event_id,
                "event_type": f"{resource}.{action}",
                "outcome": outcome,
                "amount": None,
            }
        )
        if outcome != "other":
            says[-1]["provider_txn_id"] = given[links[0]]
    return {"events": events, "meta": {"webhook_id": f"WB{chance.word(12)}"}}, says


def same_as_parsed(case: Case) -> Case:
    """The case, once the SDK has read the same ids from it."""
    parsed = webhooks.parse(case.body, case.config["secrets"][-1], case.header("Webhook-Signature"))
    read = [(each.id, f"{each.resource_type}.{each.action}") for each in parsed]
    said = [(each["event_id"], each["event_type"]) for each in case.normalized]
    if read != said:
        raise AssertionError(f"the SDK reads {read}, which should be {said}")
    return case


def verified(body: bytes, signature: str | None, secret: str, _: str) -> bool:
    """The first half of the SDK's `parse`: whether the text is JSON is another question."""
    webhooks._verify_signature(body, secret, signature)  # noqa: SLF001
    return True


GOCARDLESS = RawHmac(
    provider="gocardless",
    tool="gocardless-pro",
    header="Webhook-Signature",
    event=event,
    verify=verified,
)

if __name__ == "__main__":
    run(GOCARDLESS.signer(parsed=lambda chance: same_as_parsed(GOCARDLESS.genuine(chance))))
