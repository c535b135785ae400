"""Providers whose SDKs verify nothing offline: openssl signs, and signs again to verify."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from oracle.signers import openssl
from oracle.signers.cases import URL, Case, Chance, Currency, Signer, reserialised, run
from oracle.signers.raw_hmac import Event, RawHmac

TOLERANCE = 300
CHECKOUT_CURRENCIES = (
    Currency("EUR", 2, 2),
    Currency("JPY", 0, 0),
    Currency("KWD", 3, 3),
    Currency("CLP", 2, 0),
    Currency("CLF", 0, 4),
)
CHECKOUT_EVENTS = {
    "payment_captured": "paid",
    "payment_approved": "authorised",
    "payment_pending": "pending",
    "payment_declined": "failed",
    "payment_voided": "closed",
    "payment_expired": "closed",
    "payment_refunded": "refunded",
    "payment_refund_declined": "refund_failed",
    "dispute_received": "disputed",
    "dispute_won": "dispute_won",
    "dispute_lost": "dispute_lost",
    "card_verified": "other",
}
MAJOR_CURRENCIES = (Currency("NGN", 2, 2), Currency("USD", 2, 2), Currency("UGX", 0, 0))


def checkout_event(chance: Chance) -> Event:
    """A payment, a refund or a dispute."""
    kind, currency = chance.choice(list(CHECKOUT_EVENTS)), chance.choice(CHECKOUT_CURRENCIES)
    wire, major = chance.amount(currency)
    number, action, order = f"pay_{chance.word(26)}", f"act_{chance.word(26)}", chance.order_no()
    event_id = f"evt_{chance.word(26)}"
    data = {
        "id": number,
        "action_id": action,
        "reference": order,
        "amount": wire,
        "currency": currency.code,
        "description": chance.text(),
    }
    says = {"event_id": event_id, "event_type": kind, "outcome": CHECKOUT_EVENTS[kind]}
    if CHECKOUT_EVENTS[kind] != "other":
        says |= {
            "provider_txn_id": action if "refund" in kind else number,
            "merchant_order_no": order,
            "amount": major,
            "currency": currency.code,
        }
    body = {
        "id": event_id,
        "type": kind,
        "version": "1.0.0",
        "created_on": "2026-01-01T00:00:00.1234567Z",
        "data": data,
    }
    return body, says


def flutterwave_event(chance: Chance) -> Event:
    """A charge, whose amount is a number in major units."""
    status, outcome = chance.choice(
        [("succeeded", "paid"), ("pending", "pending"), ("failed", "failed"), ("voided", "closed")]
    )
    currency = chance.choice(MAJOR_CURRENCIES)
    _, major = chance.amount(currency)
    number, order, event_id = f"chg_{chance.word(10)}", chance.order_no(), f"wbk_{chance.word(20)}"
    amount = json.loads(major.rstrip("0").rstrip(".") if "." in major else major)
    body = {
        "webhook_id": event_id,
        "timestamp": chance.time() * 1000,
        "type": "charge.completed",
        "data": {
            "id": number,
            "amount": amount,
            "currency": currency.code,
            "reference": order,
            "status": status,
            "note": chance.text(),
        },
    }
    return body, {
        "event_id": event_id,
        "event_type": "charge.completed",
        "outcome": outcome,
        "provider_txn_id": number,
        "merchant_order_no": order,
        "amount": major,
        "currency": currency.code,
    }


def raw(provider: str, header: str, event: Callable[[Chance], Event], encoding: str) -> Signer:
    """A provider that signs the body alone."""

    def verify(body: bytes, signature: str | None, secret: str, _: str) -> bool:
        return signature == openssl.hex_or_base64(
            openssl.mac("sha256", secret.encode(), body), encoding
        )

    return RawHmac(provider, "openssl", header, event, verify, encoding=encoding).signer()


# hook0


COINBASE = {
    "checkout.payment.success": "paid",
    "checkout.payment.failed": "failed",
    "checkout.payment.expired": "closed",
    "payment_link.payment.success": "paid",
    "onchain.activity": "other",
}


def coinbase(chance: Chance, *, version: str = "", age: int | None = None, by: str = "") -> Case:
    """A payment; v0 signs the body, v1 some headers too."""
    kind, currency = chance.choice(list(COINBASE)), Currency("USD", 2, 2)
    _, major = chance.amount(currency)
    number, order, secret, now = chance.word(24), chance.order_no(), chance.word(32), chance.time()
    body = chance.dumps(
        {
            "eventType": kind,
            "id": number,
            "amount": major,
            "currency": "USD",
            "metadata": {"orderId": order},
        }
    )
    says = {"event_type": kind, "outcome": COINBASE[kind]}
    if COINBASE[kind] != "other":
        says |= {
            "provider_txn_id": number,
            "merchant_order_no": order,
            "amount": major,
            "currency": "USD",
        }
    at = now - (chance.randint(-TOLERANCE, TOLERANCE) if age is None else age)
    headers = [("Content-Type", "application/json"), ("X-Hook0-Id", chance.word())]
    case = Case({"secrets": [secret]}, headers, body, now, says)
    stated = ",".join(
        [
            f"t={at}",
            *signatures(case, by or secret, at, version or chance.choice(["v0", "v1", "v0,v1"])),
        ]
    )
    return replace(case, headers=[*headers, ("X-Hook0-Signature", stated)])


def signatures(case: Case, secret: str, at: int, versions: str) -> list[str]:
    """The items of the header after the time."""
    items, names = [], "content-type x-hook0-id"
    for version in versions.split(","):
        values = ".".join(case.header(name) or "" for name in names.split(" "))
        covered = f"{at}." if version == "v0" else f"{at}.{names}.{values}."
        made = openssl.mac("sha256", secret.encode(), covered.encode() + case.body).hex()
        items += [f"v0={made}"] if version == "v0" else [f"h={names}", f"v1={made}"]
    return items


def coinbase_verified(case: Case) -> bool:
    """Either version proves it, within the time."""
    items = [
        item.partition("=")[::2] for item in (case.header("X-Hook0-Signature") or "").split(",")
    ]
    stated = dict(items)
    at = int(stated["t"])
    if len(stated) != len(items) or abs(case.now - at) > TOLERANCE:
        return False
    secret = case.config["secrets"][0]
    made = dict(item.split("=", 1) for item in signatures(case, secret, at, "v0,v1"))
    if "v0" in stated:
        return stated["v0"] == made["v0"]
    return stated.get("h") == made["h"] and stated["v1"] == made["v1"]


def changed(
    change: Callable[[Chance, Case], Case], make: Callable[[Chance], Case] = coinbase
) -> Callable[[Chance], Case]:
    """A kind of which something is changed after it was signed."""
    return lambda chance: change(chance, make(chance))


def stated(
    change: Callable[[Chance, str], str | None],
    header: str = "X-Hook0-Signature",
    make: Callable[[Chance], Case] = coinbase,
) -> Callable[[Chance], Case]:
    """A kind with another signature."""
    return changed(
        lambda chance, case: case.with_headers(**{header: change(chance, case.header(header))}),
        make,
    )


COINBASE_KINDS = {
    "v0": lambda chance: coinbase(chance, version="v0"),
    "v1": lambda chance: coinbase(chance, version="v1"),
    "age_300": lambda chance: coinbase(chance, age=TOLERANCE),
    "age_301": lambda chance: coinbase(chance, age=TOLERANCE + 1),
    "ahead_301": lambda chance: coinbase(chance, age=-TOLERANCE - 1),
    "other_secret": lambda chance: coinbase(chance, by=chance.word(32)),
    "covered_header_other": changed(
        lambda chance, case: case.with_headers(x_hook0_id=chance.word()),
        lambda chance: coinbase(chance, version="v1"),
    ),
    "uncovered_header_other": changed(
        lambda chance, case: case.with_headers(x_hook0_id=chance.word()),
        lambda chance: coinbase(chance, version="v0"),
    ),
    "body_bit": changed(lambda chance, case: replace(case, body=chance.flip(case.body))),
    "body_longer": changed(lambda _, case: replace(case, body=case.body + b"\n")),
    "body_reserialised": changed(lambda _, case: replace(case, body=reserialised(case.body))),
    "time_other": stated(lambda _, v: "t=" + str(int(v[2:12]) + 1) + v[12:]),
    "time_missing": stated(lambda _, v: v.partition(",")[2]),
    "signature_shorter": stated(lambda _, v: v[:-1]),
    "signature_missing": stated(lambda *_: None),
    "signature_empty": stated(lambda *_: ""),
    "spaced": stated(lambda _, v: v.replace(",", ", ")),
}


# Midtrans


STATUSES = {
    "settlement": ("200", "paid"),
    "capture": ("200", "paid"),
    "authorize": ("200", "authorised"),
    "pending": ("201", "pending"),
    "deny": ("202", "failed"),
    "failure": ("202", "failed"),
    "cancel": ("200", "closed"),
    "expire": ("407", "closed"),
    "refund": ("200", "refunded"),
    "partial_refund": ("200", "refunded"),
    "chargeback": ("200", "disputed"),
}
IDR = Currency("IDR", 2, 2)


def midtrans(chance: Chance, *, by: str = "", key: str = "", **fields: Any) -> Case:
    """A notification; `fields` are changed before it is signed."""
    status = chance.choice(list(STATUSES))
    code, outcome = STATUSES[status]
    _, gross = chance.amount(IDR)
    order, key = chance.order_no(), key or f"SB-Mid-server-{chance.word(24)}"
    content = {
        "transaction_time": "2026-01-01 06:59:00",
        "transaction_status": status,
        "transaction_id": chance.word(36),
        "status_message": chance.text(),
        "status_code": code,
        "payment_type": "credit_card",
        "order_id": order,
        "merchant_id": "G000000001",
        "gross_amount": gross,
        "fraud_status": "accept",
        "currency": "IDR",
    }
    amount = gross
    if "refund" in status:
        _, amount = chance.amount(IDR)
        content["refund_amount"] = amount
    content |= fields
    says = {
        "event_id": None,
        "event_type": status,
        "outcome": outcome,
        "provider_txn_id": content["transaction_id"],
        "merchant_order_no": order,
        "amount": amount,
        "currency": "IDR",
        "account": "G000000001",
    }
    content["signature_key"] = midtrans_signature(content, by or key)
    headers = [("Content-Type", "application/json")]
    return Case(
        {"server_key": key}, headers, chance.dumps(content), chance.time(), None if fields else says
    )


def midtrans_signature(content: Mapping[str, Any], key: str) -> str:
    """The digest of three fields and the key."""
    signed = "".join(str(content[name]) for name in ("order_id", "status_code", "gross_amount"))
    return openssl.digest("sha512", (signed + key).encode()).hex()


def midtrans_verified(case: Case) -> bool:
    """The digest, as documented; nothing else is looked at."""
    content = json.loads(case.body)
    return content["signature_key"] == midtrans_signature(content, case.config["server_key"])


def field(**changes: Callable[[Chance, Any], Any]) -> Callable[[Chance], Case]:
    """A kind with fields changed after it was signed."""

    def kind(chance: Chance) -> Case:
        case = midtrans(chance)
        content = json.loads(case.body)
        for name, change in changes.items():
            content[name] = change(chance, content[name])
        return replace(case, body=chance.dumps(content), normalized=None)

    return kind


def shifted(chance: Chance) -> Case:
    """The three signed fields, cut otherwise."""
    case = midtrans(chance)
    content = json.loads(case.body)
    content["order_id"] += content["status_code"][:1]
    content["status_code"] = content["status_code"][1:] + content["gross_amount"][:1]
    content["gross_amount"] = content["gross_amount"][1:]
    return replace(case, body=chance.dumps(content), normalized=None)


def told_as_settled(chance: Chance) -> Case:
    """A pending transaction whose unsigned status is made another."""
    case = midtrans(chance, transaction_status="pending", status_code="201")
    content = {**json.loads(case.body), "transaction_status": "settlement"}
    return replace(case, body=chance.dumps(content))


MIDTRANS_KINDS = {
    "other_key": lambda chance: midtrans(chance, by=f"SB-Mid-server-{chance.word(24)}"),
    "order_other": field(order_id=lambda chance, v: chance.other(v)),
    "amount_other": field(gross_amount=lambda _, v: "1" + v),
    "amount_written_otherwise": field(gross_amount=lambda _, v: v.replace(".", ".0")[:-1] + "00"),
    "code_other": field(status_code=lambda _, v: "201" if v != "201" else "200"),
    "pending_told_as_settled": told_as_settled,
    "transaction_other": field(transaction_id=lambda chance, _: chance.word(36)),
    "amount_number": lambda chance: midtrans(chance, gross_amount=chance.randint(1, 10**6)),
    "amount_bare": lambda chance: midtrans(chance, gross_amount=str(chance.randint(1, 10**6))),
    "order_not_ascii": lambda chance: midtrans(chance, order_id="订单-1"),
    "cut_otherwise": shifted,
    "signature_other": field(signature_key=lambda chance, v: chance.other(v)),
    "signature_in_capitals": field(signature_key=lambda _, v: v.upper()),
    "signature_empty": field(signature_key=lambda *_: ""),
    "signature_null": field(signature_key=lambda *_: None),
    "signature_not_ascii": field(signature_key=lambda _, v: v[:-1] + "é"),
    "body_reserialised": changed(
        lambda _, case: replace(case, body=reserialised(case.body)), midtrans
    ),
}


# Any provider, by configuration


def custom(chance: Chance, *, age: int = 0, by: str = "") -> Case:
    """A scheme of chance, and an event in it."""
    algorithm, encoding = (
        chance.choice(["sha256", "sha512"]),
        chance.choice(["hex", "base64", "base64url"]),
    )
    form, prefix = chance.choice(["raw", "kv", "versioned"]), chance.choice(["", "sha=", "x:"])
    template = chance.choice(
        [
            "{body}",
            "{timestamp}.{body}",
            "{url}|{timestamp}\n{body}",
            "{id}.{timestamp}.{body}",
            "{url}{body}",
        ]
    )
    unit = chance.choice(["s", "ms"])
    signature = {
        "header": "X-Sig",
        "format": form,
        "encoding": encoding,
        "prefix": prefix if form == "raw" else "",
    }
    signature |= {
        "kv": {"key": "s"},
        "versioned": {"version": "v1", "version_separator": ",", "item_separator": " "},
    }.get(form, {})
    scheme = {"algorithm": algorithm, "message": template, "signature": signature}
    secret, now, number = chance.word(32), chance.time(), chance.word(20)
    stamp = str((now - age) * (1000 if unit == "ms" else 1))
    headers = [("Content-Type", "application/json")]
    if "{timestamp}" in template:
        headers.append(("X-Time", stamp))
        scheme["timestamp"] = {"source": "header:X-Time", "unit": unit}
    if "{id}" in template:
        headers.append(("X-Id", number))
        scheme["id"] = {"header": "X-Id"}
    currency = chance.choice(MAJOR_CURRENCIES)
    wire, major = chance.amount(currency)
    order, txn, minor = chance.order_no(), chance.word(20), chance.random() < 0.5
    body = chance.dumps(
        {
            "n": number,
            "p": {"id": txn, "amt": wire if minor else major},
            "cur": currency.code,
            "ref": order,
            "e": "OK",
        }
    )
    text = template.replace("{url}", URL).replace("{timestamp}", stamp).replace("{id}", number)
    mac = openssl.mac(
        algorithm, (by or secret).encode(), text.removesuffix("{body}").encode() + body
    )
    written = openssl.hex_or_base64(mac, "hex" if encoding == "hex" else "base64")
    written = written.replace("+", "-").replace("/", "_") if encoding == "base64url" else written
    stated = {
        "raw": signature["prefix"] + written,
        "kv": f"a=1,s={written}",
        "versioned": f"v0,x v1,{written}",
    }[form]
    fields = {
        "event_id": "/n",
        "type": "/e",
        "transaction": "/p/id",
        "order": "/ref",
        "amount": {"at": "/p/amt", "unit": "minor" if minor else "major"},
        "currency": "/cur",
        "kinds": {"OK": "PAID"},
    }
    says = {
        "event_id": number,
        "event_type": "OK",
        "outcome": "paid",
        "provider_txn_id": txn,
        "merchant_order_no": order,
        "amount": major,
        "currency": currency.code,
    }
    config = {"secrets": [secret], "settings": {"scheme": scheme, "fields": fields}}
    fresh = not scheme.get("timestamp") or -TOLERANCE <= age <= TOLERANCE
    verdict = "valid" if fresh and by in {"", secret} else "invalid"
    return Case(config, [*headers, ("X-Sig", stated)], body, now, says, verdict=verdict)


def invalid(change: Callable[[Chance, Case], Case]) -> Callable[[Chance], Case]:
    """A kind that is spoiled: whatever the scheme, nobody signed it."""
    return changed(lambda chance, case: replace(change(chance, case), verdict="invalid"), custom)


CUSTOM_KINDS = {
    "age_300": lambda chance: custom(chance, age=TOLERANCE),
    "age_301": lambda chance: custom(chance, age=TOLERANCE + 1),
    "ahead_301": lambda chance: custom(chance, age=-TOLERANCE - 1),
    "other_secret": lambda chance: custom(chance, by=chance.word(32)),
    "body_bit": invalid(lambda chance, case: replace(case, body=chance.flip(case.body))),
    "body_longer": invalid(lambda _, case: replace(case, body=case.body + b" ")),
    "body_reserialised": invalid(lambda _, case: replace(case, body=reserialised(case.body))),
    "signature_shorter": invalid(
        lambda _, case: case.with_headers(x_sig=(case.header("X-Sig") or "")[:-1])
    ),
    "signature_missing": invalid(lambda _, case: case.with_headers(x_sig=None)),
    "signature_empty": invalid(lambda _, case: case.with_headers(x_sig="")),
}

if __name__ == "__main__":
    run(
        raw("checkoutcom", "Cko-Signature", checkout_event, "hex"),
        raw("flutterwave_v4", "flutterwave-signature", flutterwave_event, "base64"),
        Signer("coinbase_business", "openssl", coinbase, coinbase_verified, COINBASE_KINDS),
        Signer("midtrans", "openssl", midtrans, midtrans_verified, MIDTRANS_KINDS),
        Signer("custom", "openssl", custom, lambda case: case.verdict, CUSTOM_KINDS),
    )
