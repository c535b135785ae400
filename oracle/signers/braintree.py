"""Braintree: the official SDK makes sample notifications, signs, verifies and parses."""

import base64
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs, urlencode

import braintree
from braintree.util.crypto import Crypto

from oracle.signers.cases import Case, Chance, Currency, Signer, run

CURRENCIES = (Currency("USD", 2, 2), Currency("EUR", 2, 2), Currency("JPY", 0, 0))
KIND = braintree.WebhookNotification.Kind
TRANSACTIONS = {
    KIND.TransactionSettled: "paid",
    KIND.TransactionSettlementDeclined: "failed",
    KIND.RefundFailed: "refund_failed",
}
#: Of these the SDK's own sample is sent, with whatever amounts it has.
SAMPLES = {
    **TRANSACTIONS,
    KIND.DisputeOpened: "disputed",
    KIND.DisputeWon: "dispute_won",
    KIND.DisputeLost: "dispute_lost",
    KIND.SubscriptionChargedSuccessfully: "paid",
    KIND.SubscriptionCanceled: "other",
    KIND.Disbursement: "other",
    KIND.Check: "other",
}


def account(chance: Chance) -> dict[str, str]:
    """A pair of keys."""
    return {"public_key": chance.word(16).lower(), "private_key": chance.word(32).lower()}


def gateway_of(keys: dict[str, str]) -> Any:
    """The SDK, for an account."""
    return braintree.BraintreeGateway(
        braintree.Configuration(braintree.Environment.Sandbox, merchant_id="synth", **keys)
    )


def case_of(chance: Chance, keys: dict[str, str], fields: dict[str, Any], says: Any = None) -> Case:
    """The form with these fields."""
    return Case(
        keys,
        [("Content-Type", "application/x-www-form-urlencoded")],
        urlencode(fields).encode(),
        chance.time(),
        says,
    )


def sample(chance: Chance) -> Case:
    """The SDK's sample notification, and what the SDK reads from it."""
    keys, kind, number = account(chance), chance.choice(list(SAMPLES)), chance.word(10)
    gateway = gateway_of(keys)
    made = gateway.webhook_testing.sample_notification(kind, number)
    read = gateway.webhook_notification.parse(made["bt_signature"], made["bt_payload"])
    says = {"event_id": None, "event_type": read.kind, "outcome": SAMPLES[kind]}
    outcome = SAMPLES[kind]
    if kind in TRANSACTIONS:
        subject = read.transaction
    elif outcome == "paid":
        subject = read.subscription.transactions[0]
    else:
        subject = None if outcome == "other" else read.dispute
    if subject is not None:
        says |= {"provider_txn_id": subject.id}
        if hasattr(subject, "currency_iso_code"):
            says |= {"amount": f"{subject.amount}", "currency": subject.currency_iso_code}
    return case_of(chance, keys, made, says)


def signed(keys: dict[str, str], payload: bytes) -> dict[str, Any]:
    """The fields, signed by the SDK."""
    mac = Crypto.sha1_hmac_hash(keys["private_key"], payload)
    return {"bt_signature": f"{keys['public_key']}|{mac}", "bt_payload": payload}


def genuine(chance: Chance) -> Case:
    """A transaction with values of our own."""
    keys, kind, currency = (
        account(chance),
        chance.choice(list(TRANSACTIONS)),
        chance.choice(CURRENCIES),
    )
    _, major = chance.amount(currency)
    number, order = chance.word(10).lower(), chance.order_no()
    note = "".join(char for char in chance.text() if char.isprintable() or char == "\n")
    for plain, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        note = note.replace(plain, escaped)
    xml = (
        '<notification><timestamp type="datetime">2026-01-01T00:00:00Z</timestamp>'
        f"<kind>{kind}</kind><subject><transaction><id>{number}</id><amount>{major}</amount>"
        f"<currency-iso-code>{currency.code}</currency-iso-code><order-id>{order}</order-id>"
        f"<note>{note}</note></transaction></subject></notification>"
    ).encode()
    payload = chance.choice([base64.encodebytes(xml), base64.b64encode(xml)])
    read = gateway_of(keys).webhook_notification.parse(
        **{n[3:]: v for n, v in signed(keys, payload).items()}
    )
    says = {
        "event_id": None,
        "event_type": read.kind,
        "outcome": TRANSACTIONS[kind],
        "provider_txn_id": read.transaction.id,
        "merchant_order_no": read.transaction.order_id,
        "amount": f"{read.transaction.amount}",
        "currency": read.transaction.currency_iso_code,
    }
    return case_of(chance, keys, signed(keys, payload), says)


def verified(case: Case) -> bool:
    """Whether the SDK takes it; it parses what it has verified."""
    fields = parse_qs(case.body.decode(), keep_blank_values=True)
    signature, payload = (fields.get(name, [None])[0] for name in ("bt_signature", "bt_payload"))
    gateway_of(dict(case.config)).webhook_notification.parse(signature, payload)
    return True


def spoiled(change: Callable[[Chance, dict[str, Any]], Any]) -> Callable[[Chance], Case]:
    """A kind of which a field is changed."""

    def kind(chance: Chance) -> Case:
        case = genuine(chance)
        fields = {name: values[0] for name, values in parse_qs(case.body.decode()).items()}
        change(chance, fields)
        return case_of(chance, dict(case.config), fields, case.normalized)

    return kind


def field(name: str, change: Callable[[Chance, str], str]) -> Callable[[Chance], Case]:
    """A kind of which one field is another text."""
    return spoiled(lambda chance, fields: fields.update({name: change(chance, fields[name])}))


def more_pairs(chance: Chance, signature: str) -> str:
    """Other keys' signatures around ours."""
    pairs = [signature, f"{chance.word(16).lower()}|{'0' * 40}", "odd"]
    chance.shuffle(pairs)
    return "&".join(pairs)


def challenge(chance: Chance) -> Case:
    """A payload that is the signature of a challenge."""
    keys = account(chance)
    text = chance.randbytes(chance.choice([10, 16])).hex()
    answer = gateway_of(keys).webhook_notification.verify(text)
    return case_of(chance, keys, {"bt_signature": answer, "bt_payload": text})


def xml_kind(xml: str) -> Callable[[Chance], Case]:
    """A payload with this XML, signed."""

    def kind(chance: Chance) -> Case:
        keys = account(chance)
        return case_of(chance, keys, signed(keys, base64.encodebytes(xml.encode())))

    return kind


KINDS = {
    "sample": sample,
    "sample_2": sample,
    "payload_without_line_end": field("bt_payload", lambda _, text: text.removesuffix("\n")),
    "payload_with_line_end": field("bt_payload", lambda _, text: text + "\n"),
    "payload_with_line_ends": field("bt_payload", lambda _, text: text + "\n\n"),
    "payload_other": field("bt_payload", lambda chance, text: chance.other(text)),
    "payload_rewrapped": field("bt_payload", lambda _, text: "".join(text.split()) + "\n\n\n"),
    "payload_carriage_returns": field(
        "bt_payload", lambda _, text: text.replace("\n", "\r\n") + "\r\n"
    ),
    "payload_illegal": field("bt_payload", lambda _, text: text + "-"),
    "payload_empty": field("bt_payload", lambda *_: ""),
    "payload_missing": spoiled(lambda _, fields: fields.pop("bt_payload")),
    "signature_missing": spoiled(lambda _, fields: fields.pop("bt_signature")),
    "signature_other": field(
        "bt_signature",
        lambda chance, text: text.split("|")[0] + "|" + chance.other(text.split("|")[1]),
    ),
    "signature_in_capitals": field(
        "bt_signature", lambda _, text: text.split("|")[0] + "|" + text.split("|")[1].upper()
    ),
    "signature_not_ascii": field("bt_signature", lambda _, text: text[:-1] + "é"),
    "public_key_other": field(
        "bt_signature", lambda chance, text: chance.word(16).lower() + "|" + text.split("|")[1]
    ),
    "public_key_in_capitals": field(
        "bt_signature", lambda _, text: text.split("|")[0].upper() + "|" + text.split("|")[1]
    ),
    "several_pairs": field("bt_signature", more_pairs),
    "bare_signature": field("bt_signature", lambda _, text: text.split("|")[1]),
    "ours_twice_first_wrong": field(
        "bt_signature", lambda _, text: text.split("|")[0] + "|" + "0" * 40 + "&" + text
    ),
    "ours_twice_last_wrong": field(
        "bt_signature", lambda _, text: text + "&" + text.split("|")[0] + "|" + "0" * 40
    ),
    "challenge": challenge,
    "xml_with_entity": xml_kind(
        '<!DOCTYPE a [<!ENTITY e "x">]><notification><kind>&e;</kind></notification>'
    ),
    "xml_unknown_kind": xml_kind(
        "<notification><kind>something_new</kind><subject/></notification>"
    ),
    "xml_broken": xml_kind("<notification><kind>"),
}

if __name__ == "__main__":
    run(Signer("braintree", "braintree", genuine, verified, KINDS))
