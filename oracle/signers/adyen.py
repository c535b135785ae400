"""Adyen: the official SDK signs and verifies."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from Adyen.util import (
    generate_notification_sig,
    generate_payload_sig,
    is_valid_hmac_notification,
    is_valid_hmac_payload,
)

from oracle.signers.cases import Case, Chance, Currency, Signer, reserialised, run

MERCHANT = "SynthMerchantECOM"
CURRENCIES = (
    Currency("EUR", 2, 2),
    Currency("USD", 2, 2),
    Currency("JPY", 0, 0),
    Currency("KWD", 3, 3),
    Currency("CLP", 2, 0),
    Currency("ISK", 2, 0),
    Currency("IDR", 0, 2),
    Currency("CVE", 0, 2),
)
#: By code: what success and failure say, and whether it is told of the payment itself.
EVENTS = {
    "AUTHORISATION": ("authorised", "failed", True),
    "CAPTURE": ("paid", "failed", True),
    "CAPTURE_FAILED": ("failed", "other", True),
    "CANCELLATION": ("closed", "other", True),
    "EXPIRE": ("closed", "other", True),
    "REFUND": ("refunded", "refund_failed", False),
    "REFUND_FAILED": ("refund_failed", "other", False),
    "CHARGEBACK": ("disputed", "other", False),
    "CHARGEBACK_REVERSED": ("dispute_won", "other", False),
    "SECOND_CHARGEBACK": ("dispute_lost", "other", False),
    "REPORT_AVAILABLE": ("other", "other", False),
}
SIGNED = (
    "pspReference",
    "originalReference",
    "merchantAccountCode",
    "merchantReference",
    "eventCode",
    "success",
)


def key_of(chance: Chance) -> str:
    """An HMAC key."""
    return chance.choice([str.upper, str.lower])(chance.randbytes(32).hex())


def item(chance: Chance, **fields: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """An item and what it says."""
    code, success = chance.choice(list(EVENTS)), chance.choice(["true", "true", "false"])
    done, failed, of_payment = EVENTS[code]
    currency = chance.choice(CURRENCIES)
    wire, major = chance.amount(currency)
    own, original, order = chance.word(16).upper(), chance.word(16).upper(), chance.order_no()
    modified = code not in {"AUTHORISATION", "REPORT_AVAILABLE"}
    made = {
        "amount": {"currency": currency.code, "value": wire},
        "eventCode": code,
        "pspReference": own,
        "eventDate": "2026-01-01T00:59:55+01:00",
        "merchantAccountCode": MERCHANT,
        "merchantReference": order,
        "reason": chance.text(),
        "success": success,
        **({"originalReference": original} if modified else {}),
        **fields,
    }
    outcome = done if success == "true" else failed
    says = {"event_id": f"{own}:{code}:{success}", "event_type": code, "outcome": outcome}
    if outcome != "other":
        txn = original if of_payment and modified else own
        says |= {
            "provider_txn_id": txn,
            "merchant_order_no": order,
            "amount": major,
            "currency": currency.code,
            "account": MERCHANT,
        }
    return made, says


def signed(chance: Chance, made: dict[str, Any], key: str) -> dict[str, Any]:
    """The item with its signature by the SDK."""
    signature = generate_notification_sig(made, key).decode()
    return {**made, "additionalData": {"hmacSignature": signature, "note": chance.text()}}


def case_of(chance: Chance, keys: list[str], items: list[dict[str, Any]], says: Any) -> Case:
    """The notification of these items."""
    body = {
        "live": "true",
        "notificationItems": [{"NotificationRequestItem": each} for each in items],
    }
    config = {"hmac_keys": keys, "merchant_accounts": [MERCHANT]}
    return Case(
        config, [("Content-Type", "application/json")], chance.dumps(body), chance.time(), says
    )


def made(chance: Chance, *, size: int = 0, by: str = "", **fields: Any) -> Case:
    """A genuine notification; with `fields` an item that is signed as it stands."""
    keys = [key_of(chance)]
    drawn = [item(chance, **fields) for _ in range(size or chance.choice([1, 1, 2, 6]))]
    items = [signed(chance, each, by or keys[0]) for each, _ in drawn]
    return case_of(chance, keys, items, None if fields else [says for _, says in drawn])


def verified(case: Case) -> bool:
    """The SDK's verdict on the whole notification, which is that on its first item."""
    document, keys = json.loads(case.body), case.config["hmac_keys"]
    verdicts = [is_valid_hmac_notification(document, key) for key in keys]
    return any(verdicts)


def spoiled(
    change: Callable[[Chance, dict[str, Any]], Any], at: int = 0, size: int = 1
) -> Callable[[Chance], Case]:
    """A kind of which one item is changed after it was signed."""

    def kind(chance: Chance) -> Case:
        case = made(chance, size=size)
        document = json.loads(case.body)
        change(chance, document["notificationItems"][at]["NotificationRequestItem"])
        return replace(case, body=chance.dumps(document), normalized=None)

    return kind


def signed_field(chance: Chance, fields: dict[str, Any]) -> None:
    """Change a field that is signed."""
    name = chance.choice([*(name for name in SIGNED if name in fields), "value", "currency"])
    if name == "value":
        fields["amount"]["value"] += chance.choice([1, -1, 1000])
    elif name == "currency":
        fields["amount"]["currency"] = "CHF"
    elif name == "success":
        fields["success"] = {"true": "false", "false": "true"}[fields["success"]]
    elif name == "eventCode":
        fields["eventCode"] = "CAPTURE" if fields["eventCode"] != "CAPTURE" else "REFUND"
    else:
        fields[name] = chance.other(fields[name])


def unsigned_field(chance: Chance, fields: dict[str, Any]) -> None:
    """Change a field that is not signed."""
    name = chance.choice(["eventDate", "reason", "paymentMethod", "operations"])
    fields[name] = chance.choice([chance.text(), None, [], 1])


def signature(change: Callable[[Chance, str], Any]) -> Callable[[Chance, dict[str, Any]], None]:
    """Change the signature."""

    def apply(chance: Chance, fields: dict[str, Any]) -> None:
        fields["additionalData"]["hmacSignature"] = change(
            chance, fields["additionalData"]["hmacSignature"]
        )

    return apply


def two_keys(chance: Chance) -> Case:
    """Of two configured keys either may have signed."""
    case = made(chance)
    keys = [*case.config["hmac_keys"], key_of(chance)]
    chance.shuffle(keys)
    return replace(case, config={**case.config, "hmac_keys": keys})


def platform(chance: Chance) -> Case:
    """The webhooks of platforms: the whole body, in a header; sometimes changed."""
    key, body = (
        key_of(chance),
        chance.dumps({"type": "balancePlatform.transfer.created", "data": {"id": chance.word()}}),
    )
    stated = generate_payload_sig(body, key).decode()
    sent = chance.choice([body, body, chance.flip(body), reserialised(body)])
    config = {"hmac_keys": [key], "merchant_accounts": [MERCHANT], "mode": "header"}
    headers = [("HmacSignature", stated), ("Protocol", "HmacSHA256")]
    verdict = "valid" if is_valid_hmac_payload(stated, key, sent) else "invalid"
    return Case(config, headers, sent, chance.time(), verdict=verdict)


def own_reading(chance: Chance) -> Case:
    """The body in other bytes: nothing signed has changed."""
    case = made(chance)
    return replace(case, body=reserialised(case.body))


def flipped(chance: Chance) -> Case:
    """One bit of the body is another: of what is signed, or not."""
    case = made(chance, size=1)
    return replace(case, body=chance.flip(case.body), normalized=None)


KINDS = {
    "platform": platform,
    "two_keys": two_keys,
    "other_key": lambda chance: made(chance, by=key_of(chance)),
    "reserialised": own_reading,
    "signed_field": spoiled(signed_field),
    "unsigned_field": spoiled(unsigned_field),
    "second_item_forged": spoiled(signed_field, at=1, size=2),
    "second_item_unsigned": spoiled(lambda _, f: f.pop("additionalData"), at=1, size=2),
    "second_item_repeats": spoiled(unsigned_field, at=1, size=2),
    "unsigned": spoiled(lambda _, f: f.pop("additionalData")),
    "signature_missing": spoiled(lambda _, f: f["additionalData"].pop("hmacSignature")),
    "signature_empty": spoiled(signature(lambda *_: "")),
    "signature_null": spoiled(signature(lambda *_: None)),
    "signature_number": spoiled(signature(lambda *_: 7)),
    "signature_list": spoiled(signature(lambda _, s: [s])),
    "signature_other": spoiled(signature(lambda chance, s: chance.other(s))),
    "signature_unpadded": spoiled(signature(lambda _, s: s.rstrip("="))),
    "signature_not_ascii": spoiled(signature(lambda _, s: s[:-1] + "é")),
    "body_bit": flipped,
    "order_not_ascii": lambda chance: made(chance, merchantReference="订单 ☕ é"),
    "order_with_colon": lambda chance: made(chance, merchantReference="A:B:1"),
    "order_with_backslash": lambda chance: made(chance, merchantReference="A\\B\\:1"),
    "order_missing": lambda chance: made(chance, merchantReference=""),
    "merchant_with_colon": lambda chance: made(chance, merchantAccountCode="Synth:ECOM"),
    "merchant_foreign": lambda chance: made(chance, merchantAccountCode="Other" + chance.word()),
    "success_boolean": lambda chance: made(chance, success=True),
    "success_capital": lambda chance: made(chance, success="True"),
    "value_text": lambda chance: made(chance, amount={"value": "1130", "currency": "EUR"}),
    "value_fraction": lambda chance: made(chance, amount={"value": 1130.5, "currency": "EUR"}),
    "value_negative": lambda chance: made(chance, amount={"value": -1, "currency": "EUR"}),
    "value_huge": lambda chance: made(chance, amount={"value": 10**20, "currency": "EUR"}),
    "currency_lower": lambda chance: made(chance, amount={"value": 1, "currency": "eur"}),
    "currency_unknown": lambda chance: made(chance, amount={"value": 1, "currency": "XYZ"}),
    "original_null": lambda chance: made(chance, originalReference=None),
    "reference_with_colon": lambda chance: made(chance, pspReference="ABC:DEF"),
    "event_unknown": lambda chance: made(chance, eventCode="SOMETHING_NEW"),
    "event_lower": lambda chance: made(chance, eventCode="authorisation"),
    "no_items": lambda chance: case_of(chance, [key_of(chance)], [], None),
}

if __name__ == "__main__":
    run(Signer("adyen", "Adyen", made, verified, KINDS))
