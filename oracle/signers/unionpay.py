"""UnionPay 5.1.0: no SDK for Python; openssl makes certificates, signs and verifies."""

import base64
import binascii
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import parse_qsl, quote_plus

from oracle.signers import openssl
from oracle.signers.cases import Case, Chance, Currency, Signer, run

MERCHANT = "700000000000001"
CURRENCIES = {"156": Currency("CNY", 2, 2), "344": Currency("HKD", 2, 2)}
TYPES = {
    "01": ("paid", "failed"),
    "02": ("authorised", "failed"),
    "04": ("refunded", "refund_failed"),
    "31": ("refunded", "refund_failed"),
    "99": ("other", "other"),
}
NAME = "/C=CN/CN=041@8310000000083040@{}@00016494"

ROOT_KEY, MIDDLE_KEY, KEY, STRANGERS_KEY = (openssl.RsaKey() for _ in range(4))
ROOT = openssl.certificate("/C=CN/CN=Synthetic Root", ROOT_KEY, ca=True)
MIDDLE = openssl.certificate("/C=CN/CN=Synthetic OCA1", MIDDLE_KEY, (ROOT, ROOT_KEY), ca=True)
STRANGER = openssl.certificate("/C=CN/CN=Synthetic OCA1", STRANGERS_KEY, ca=True)
OURS = NAME.format("中国银联股份有限公司")
LEAF = openssl.certificate(OURS, KEY, (MIDDLE, MIDDLE_KEY), ca=False)
LEAVES = {
    "past": openssl.certificate(
        OURS, KEY, (MIDDLE, MIDDLE_KEY), ca=False, dates=("20230101000000Z", "20250101000000Z")
    ),
    "of_stranger": openssl.certificate(OURS, KEY, (STRANGER, STRANGERS_KEY), ca=False),
    "of_itself": openssl.certificate(OURS, KEY, ca=False),
    "of_root": openssl.certificate(OURS, KEY, (ROOT, ROOT_KEY), ca=False),
    "of_other_name": openssl.certificate(
        NAME.format("某某公司"), KEY, (MIDDLE, MIDDLE_KEY), ca=False
    ),
}
CONFIG = {"middle_pem": MIDDLE, "root_pem": ROOT}


def notice(chance: Chance) -> tuple[dict[str, str], dict[str, Any]]:
    """A transaction's fields and what they say."""
    kind, code = chance.choice(list(TYPES)), chance.choice(["00", "00", "A6", "01"])
    outcome = {"00": TYPES[kind][0], "A6": "pending"}.get(code, TYPES[kind][1])
    number, currency = chance.choice(list(CURRENCIES.items()))
    wire, major = chance.amount(currency)
    order, query = chance.word(20), chance.digits(21)
    fields = {
        "version": "5.1.0",
        "encoding": "UTF-8",
        "signMethod": "01",
        "txnType": kind,
        "bizType": "000201",
        "accessType": "0",
        "merId": MERCHANT,
        "orderId": order,
        "txnTime": "20260101075950",
        "txnAmt": str(wire),
        "currencyCode": number,
        "queryId": query,
        "respCode": code,
        "respMsg": "成功[0000000]",
        "settleAmt": str(wire),
        "reqReserved": chance.text(),
    }
    says = {"event_id": query, "event_type": kind, "outcome": outcome if kind != "99" else "other"}
    if kind != "99":
        says |= {
            "provider_txn_id": query,
            "merchant_order_no": order,
            "amount": major,
            "currency": currency.code,
            "account": MERCHANT,
        }
    return fields, says


def made(
    chance: Chance,
    *,
    leaf: str = LEAF,
    by: openssl.RsaKey = KEY,
    charset: str = "utf-8",
    hashed: bool = True,
    algorithm: str = "sha256",
    **fields: str,
) -> Case:
    """A genuine notice."""
    given, says = notice(chance)
    if charset != "utf-8":
        given |= {"encoding": charset.upper(), "reqReserved": "订单"}
    given |= {"signPubKeyCert": leaf.replace("\n", chance.choice(["\r\n", "\n"])), **fields}
    values = {name: value.encode(charset) for name, value in given.items()}
    given_bytes = to_sign(values)
    text = openssl.digest("sha256", given_bytes).hex().encode() if hashed else given_bytes
    values["signature"] = by.sign(text, algorithm).encode()
    items = list(values.items())
    chance.shuffle(items)
    body = "&".join(f"{name}={quote_plus(value)}" for name, value in items).encode()
    return Case(
        CONFIG,
        [("Content-Type", "application/x-www-form-urlencoded")],
        body,
        chance.time(),
        None if fields else says,
    )


def to_sign(values: Mapping[str, bytes]) -> bytes:
    """The sorted fields."""
    return b"&".join(
        name.encode() + b"=" + values[name] for name in sorted(values) if name != "signature"
    )


def verified(case: Case) -> bool:
    """Chain, name and signature, all by openssl."""
    pairs = parse_qsl(
        case.body.decode(), keep_blank_values=True, strict_parsing=True, encoding="latin-1"
    )
    values = {name: value.encode("latin-1") for name, value in pairs}
    if len(values) != len(pairs) or (values.get("version"), values.get("signMethod")) != (
        b"5.1.0",
        b"01",
    ):
        return False
    leaf = values["signPubKeyCert"].decode()
    if not openssl.vouches(case.config["root_pem"], case.config["middle_pem"], leaf, case.now):
        return False
    subject = openssl.run(
        "x509", "-noout", "-subject", "-nameopt", "multiline,utf8,-esc_msb", data=leaf.encode()
    )
    if subject.decode().rpartition("= ")[2].strip().split("@")[2] != "中国银联股份有限公司":
        return False
    public = openssl.run("x509", "-noout", "-pubkey", data=leaf.encode()).decode()
    try:
        signature = base64.b64decode(values["signature"], validate=True)
    except binascii.Error:
        return False
    return openssl.is_signed(
        public, openssl.digest("sha256", to_sign(values)).hex().encode(), signature
    )


def spoiled(change: Callable[[Chance, dict[str, str]], Any]) -> Callable[[Chance], Case]:
    """A kind with fields changed after they were signed."""

    def kind(chance: Chance) -> Case:
        case = made(chance)
        fields = dict(parse_qsl(case.body.decode(), keep_blank_values=True))
        change(chance, fields)
        return replace(
            case, body="&".join(f"{n}={quote_plus(v)}" for n, v in fields.items()).encode()
        )

    return kind


def of_leaf(name: str) -> Callable[[Chance], Case]:
    """A kind with another certificate."""
    return lambda chance: made(chance, leaf=LEAVES[name])


def of_body(change: Callable[[Chance, bytes], bytes]) -> Callable[[Chance], Case]:
    """A kind with the bytes changed."""

    def kind(chance: Chance) -> Case:
        case = made(chance)
        return replace(case, body=change(chance, case.body))

    return kind


def signed_bit(chance: Chance, body: bytes) -> bytes:
    """The same but for one bit of what is signed."""
    pieces = body.split(b"&")
    return chance.flip(body, *(piece for piece in pieces if piece.startswith(b"signature=")))


def signature(change: Callable[[Chance, str], str]) -> Callable[[Chance], Case]:
    """A kind with another signature."""
    return spoiled(
        lambda chance, fields: fields.update(signature=change(chance, fields["signature"]))
    )


KINDS = {
    "gbk": lambda chance: made(chance, charset="gbk"),
    "empty_field": lambda chance: made(chance, x_blank=""),
    "other_key": lambda chance: made(chance, by=STRANGERS_KEY),
    "hashed_once": lambda chance: made(chance, hashed=False),
    "sha1": lambda chance: made(chance, algorithm="sha1"),
    "version_5.0.0": lambda chance: made(chance, version="5.0.0"),
    "method_other": lambda chance: made(chance, signMethod="11"),
    **{f"certificate_{name}": of_leaf(name) for name in LEAVES},
    "certificate_missing": spoiled(lambda _, fields: fields.pop("signPubKeyCert")),
    "certificate_of_other_line_ends": spoiled(
        lambda _, f: f.update(signPubKeyCert=f["signPubKeyCert"] + "\n")
    ),
    "amount_other": spoiled(lambda chance, fields: fields.update(txnAmt=chance.digits(6) + "0")),
    "field_added": spoiled(lambda _, fields: fields.update(x="1")),
    "empty_field_added": spoiled(lambda _, fields: fields.update(x="")),
    "field_removed": spoiled(lambda _, fields: fields.pop("settleAmt")),
    "field_twice": of_body(lambda _, body: body + b"&txnAmt=1"),
    "bit": of_body(signed_bit),
    "signature_missing": spoiled(lambda _, fields: fields.pop("signature")),
    "signature_empty": signature(lambda *_: ""),
    "signature_other": signature(lambda chance, made: chance.other(made)),
    "signature_decoded_twice": signature(lambda _, made: made.replace("+", " ")),
    "signature_not_ascii": signature(lambda _, made: "é" + made[1:]),
}

if __name__ == "__main__":
    run(Signer("unionpay", "openssl", made, verified, KINDS))
