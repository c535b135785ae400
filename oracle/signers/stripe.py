"""Stripe: the official SDK signs, verifies and parses."""

from dataclasses import replace
from typing import Any

import stripe
from stripe import _webhook

from oracle.signers import openssl
from oracle.signers.cases import Case, Chance, Currency, Signer, reserialised, run

HEADER = "Stripe-Signature"
TOLERANCE = 300
CURRENCIES = (
    Currency("USD", 2, 2),
    Currency("EUR", 2, 2),
    Currency("JPY", 0, 0),
    Currency("KRW", 0, 0),
    Currency("KWD", 3, 3),
    Currency("ISK", 2, 0),
    Currency("UGX", 2, 0),
    Currency("MGA", 0, 2),
    Currency("XAF", 0, 0),
    Currency("HUF", 2, 2),
    Currency("TWD", 2, 2),
    Currency("CLP", 0, 0),
)
#: By type: what it tells, the object and its number's prefix, the amount's field, more fields.
EVENTS: dict[str, list[tuple[str, str, str, dict[str, Any]]]] = {
    "payment_intent.succeeded": [("paid", "pi", "amount_received", {"status": "succeeded"})],
    "payment_intent.payment_failed": [("failed", "pi", "amount", {"amount_received": 0})],
    "payment_intent.canceled": [("closed", "pi", "amount", {})],
    "payment_intent.processing": [("pending", "pi", "amount", {})],
    "payment_intent.amount_capturable_updated": [("authorised", "pi", "amount_capturable", {})],
    "charge.succeeded": [
        ("paid", "ch", "amount_captured", {"paid": True, "captured": True}),
        ("authorised", "ch", "amount", {"paid": True, "captured": False}),
    ],
    "charge.failed": [("failed", "ch", "amount", {"paid": False})],
    "charge.refunded": [("refunded", "ch", "amount_refunded", {})],
    "refund.updated": [
        ("refunded", "re", "amount", {"status": "succeeded"}),
        ("pending", "re", "amount", {"status": "requires_action"}),
        ("refund_failed", "re", "amount", {"status": "canceled"}),
    ],
    "refund.failed": [("refund_failed", "re", "amount", {"status": "failed"})],
    "charge.dispute.created": [("disputed", "dp", "amount", {"status": "needs_response"})],
    "charge.dispute.closed": [
        ("dispute_won", "dp", "amount", {"status": "won"}),
        ("dispute_lost", "dp", "amount", {"status": "lost"}),
    ],
    "checkout.session.completed": [
        ("paid", "cs", "amount_total", {"payment_status": "paid"}),
        ("pending", "cs", "amount_total", {"payment_status": "unpaid"}),
    ],
    "checkout.session.async_payment_succeeded": [("paid", "cs", "amount_total", {})],
    "checkout.session.expired": [("closed", "cs", "amount_total", {})],
    "customer.created": [("other", "cus", "balance", {})],
}


class Clock:
    """The clock that the SDK reads."""

    now = 0

    def time(self) -> float:
        """Seconds."""
        return self.now


CLOCK = Clock()
_webhook.time = CLOCK


def event(chance: Chance) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """An event, what the SDK must read from it as it is, and what it says."""
    kind = chance.choice(list(EVENTS))
    outcome, prefix, field, more = chance.choice(EVENTS[kind])
    currency = chance.choice(CURRENCIES)
    wire, major = chance.amount(currency)
    number, order, intent = (
        f"{prefix}_{chance.word(24)}",
        chance.order_no(),
        f"pi_{chance.word(24)}",
    )
    where = "client_reference_id" if prefix == "cs" else "metadata"
    thing = {
        "id": number,
        field: wire,
        "currency": currency.code.lower(),
        "description": chance.text(),
        where: order if prefix == "cs" else {chance.choice(["order_id", "order_no"]): order},
        **more,
    }
    belongs = prefix != "pi" and chance.random() < 0.8
    if belongs:
        thing["payment_intent"] = chance.choice(
            [intent, {"id": intent, "object": "payment_intent"}]
        )
    body = {
        "id": f"evt_{chance.word(24)}",
        "object": "event",
        "type": kind,
        "created": chance.time(),
        "livemode": True,
        "data": {"object": thing},
        "api_version": "2025-09-30.clover",
    }
    account = chance.choice([None, f"acct_{chance.word(16)}"])
    if account:
        body["account"] = account
    says = {"event_id": body["id"], "event_type": kind, "outcome": outcome}
    if outcome != "other":
        txn = intent if outcome == "paid" and belongs else number
        says |= {
            "provider_txn_id": txn,
            "merchant_order_no": order,
            "amount": major,
            "currency": currency.code,
            "account": account,
        }
    return body, {"field": field, "amount": wire, "id": number}, says


def signed(body: bytes, secret: str, at: int) -> str:
    """The header's value by the SDK."""
    return str(
        stripe.WebhookSignature.generate_signature_header(body.decode(), secret, timestamp=at)
    )


def secret_of(chance: Chance) -> str:
    """A signing secret."""
    return f"whsec_{chance.word(32)}"


def made(
    chance: Chance, age: int | None = None, by: str | None = None, text: bytes | None = None
) -> Case:
    """A genuine case; `text` is another body, `by` another secret."""
    content, _, says = event(chance)
    body = chance.dumps(content) if text is None else text
    secrets = [secret_of(chance)]
    now = chance.time()
    at = now - (chance.randint(0, TOLERANCE) if age is None else age)
    header = signed(body, by or secrets[0], at)
    headers = [("Content-Type", "application/json; charset=utf-8"), (HEADER, header)]
    return Case({"secrets": secrets}, headers, body, now, says if text is None else None)


def verified(case: Case) -> bool:
    """The SDK's verdict."""
    CLOCK.now = case.now
    verdicts = []
    for secret in case.config["secrets"]:
        try:
            header = case.header(HEADER)
            verdicts.append(
                stripe.WebhookSignature.verify_header(case.body.decode(), header, secret, TOLERANCE)
            )
        except stripe.SignatureVerificationError:
            verdicts.append(False)
    return any(verdicts)


def parsed(chance: Chance) -> Case:
    """A case whose values are those of the SDK's own parser."""
    content, raw, says = event(chance)
    secret, now = secret_of(chance), chance.time()
    body = chance.dumps(content)
    CLOCK.now = now
    header = signed(body, secret, now)
    read = stripe.Webhook.construct_event(body, header, secret)
    thing = read.data.object
    if (thing["id"], thing[raw["field"]]) != (raw["id"], raw["amount"]):
        raise AssertionError("the SDK reads something else")
    says |= {"event_id": read.id, "event_type": read.type}
    return Case({"secrets": [secret]}, [(HEADER, header)], body, now, says)


def header_kind(change: Any) -> Any:
    """A kind whose header is changed: a function of the chance and the value."""

    def kind(chance: Chance) -> Case:
        case = made(chance)
        return case.with_headers(**{HEADER: change(chance, case.header(HEADER))})

    return kind


def body_kind(change: Any) -> Any:
    """A kind whose body is changed."""

    def kind(chance: Chance) -> Case:
        case = made(chance)
        return replace(case, body=change(chance, case.body))

    return kind


def two_secrets(chance: Chance) -> Case:
    """Two configured secrets, of which one has signed."""
    case = made(chance)
    secrets = [*case.config["secrets"], secret_of(chance)]
    chance.shuffle(secrets)
    return replace(case, config={"secrets": secrets})


def rolled(chance: Chance) -> Case:
    """The provider signs with two secrets, and only one is configured."""
    case = made(chance)
    at, ours = (case.header(HEADER) or "").split(",")
    theirs = signed(case.body, secret_of(chance), case.now).split(",")[1]
    items = [ours, theirs, "v0=" + "0" * 64, "v2=x", "odd"]
    chance.shuffle(items)
    return case.with_headers(**{HEADER: ",".join([at, *items])})


def many_signatures(chance: Chance) -> Case:
    """More signatures than anybody has secrets."""
    case = made(chance)
    at, ours = (case.header(HEADER) or "").split(",")
    return case.with_headers(**{HEADER: ",".join([at, *[f"v1={'0' * 64}"] * 12, ours])})


def not_utf8(chance: Chance) -> Case:
    """Signed by openssl: the SDK signs only text."""
    case = made(chance, age=0)
    body = b'{"a":"\xff"}'
    mac = openssl.mac("sha256", case.config["secrets"][0].encode(), b"%d." % case.now + body)
    return replace(case, body=body, normalized=None).with_headers(
        **{HEADER: f"t={case.now},v1={mac.hex()}"}
    )


def repeated(header: str, change: Any) -> str:
    """The header with its time written otherwise."""
    at, ours = header.split(",")
    return f"{change(at[2:])},{ours}"


KINDS = {
    "parsed": parsed,
    "age_300": lambda chance: made(chance, age=TOLERANCE),
    "age_301": lambda chance: made(chance, age=TOLERANCE + 1),
    "age_days": lambda chance: made(chance, age=86400 * chance.randint(1, 400)),
    "ahead_300": lambda chance: made(chance, age=-TOLERANCE),
    "ahead_301": lambda chance: made(chance, age=-TOLERANCE - chance.randint(1, 10**6)),
    "other_secret": lambda chance: made(chance, by=secret_of(chance)),
    "two_secrets": two_secrets,
    "rolled": rolled,
    "many_signatures": many_signatures,
    "body_bit": body_kind(lambda chance, body: chance.flip(body)),
    "body_longer": body_kind(lambda chance, body: body + chance.choice([b"\n", b" ", b"\0"])),
    "body_reserialised": body_kind(lambda _, body: reserialised(body)),
    "body_not_utf8": not_utf8,
    "body_empty": lambda chance: made(chance, text=b""),
    "body_twice_named": lambda chance: made(chance, text=b'{"id":"evt_1","id":"evt_2","type":"a"}'),
    "signature_other": header_kind(
        lambda chance, v: v.split("v1=")[0] + "v1=" + chance.other(v.split("v1=")[1])
    ),
    "signature_shorter": header_kind(lambda _, v: v[:-1]),
    "signature_in_capitals": header_kind(
        lambda _, v: v.split("v1=")[0] + "v1=" + v.split("v1=")[1].upper()
    ),
    "signature_with_tail": header_kind(lambda _, v: v + "=tail"),
    "signature_missing": header_kind(lambda *_: None),
    "signature_empty": header_kind(lambda *_: ""),
    "signature_not_ascii": header_kind(lambda chance, v: v[:-1] + chance.choice("é٣")),
    "scheme_v0": header_kind(lambda _, v: v.replace("v1=", "v0=")),
    "spaced": header_kind(lambda _, v: v.replace(",", ", ")),
    "time_missing": header_kind(lambda _, v: v.split(",")[1]),
    "time_empty": header_kind(lambda _, v: repeated(v, lambda _: "t=")),
    "time_other": header_kind(
        lambda chance, v: repeated(v, lambda at: f"t={int(at) - chance.choice([1, -1])}")
    ),
    "time_text": header_kind(
        lambda chance, v: repeated(v, lambda at: f"t={chance.choice(['now', '1e9', at + '.5'])}")
    ),
    "time_odd": header_kind(
        lambda chance, v: repeated(
            v, lambda at: "t=" + chance.choice([f"+{at}", f"0{at}", f" {at}", f"{at[:3]}_{at[3:]}"])
        )
    ),
    "time_twice": header_kind(lambda _, v: repeated(v, lambda at: f"t={at},t={int(at) - 7}")),
}

if __name__ == "__main__":
    run(Signer("stripe", "stripe", made, verified, KINDS))
