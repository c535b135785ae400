"""WeChat Pay APIv3: wechatpayv3 (not Tencent's own) signs, verifies and decrypts, offline."""

import base64
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import wechatpayv3.core
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from wechatpayv3.utils import load_certificate, rsa_sign

from oracle.signers import openssl
from oracle.signers.cases import Case, Chance, Currency, Signer, reserialised, run

MERCHANT = "1900000001"
TOLERANCE = 300
TIMESTAMP, SERIAL = "Wechatpay-Timestamp", "Wechatpay-Serial"
SIGNATURE = "Wechatpay-Signature"
CNY = Currency("CNY", 2, 2)
TYPE = "WECHATPAY2-SHA256-RSA2048"
PUBLIC_KEY, OLD, NEW, STRANGER, MERCHANTS = (openssl.RsaKey() for _ in range(5))
PUBLIC_KEY_ID = "PUB_KEY_ID_0119000000012026010100000000"
CERTIFICATES = [openssl.certificate("/CN=Tenpay.com sign", key, ca=False) for key in (OLD, NEW)]
STATES = {
    "SUCCESS": "paid",
    "NOTPAY": "pending",
    "USERPAYING": "pending",
    "CLOSED": "closed",
    "REVOKED": "closed",
    "PAYERROR": "failed",
    "ACCEPT": "pending",
}
REFUNDS = {"SUCCESS": "refunded", "ABNORMAL": "refund_failed", "CLOSED": "refund_failed"}

# Checking a private key takes longer than all the rest.
load_private_key = cache(wechatpayv3.core.load_private_key)
wechatpayv3.core.load_private_key = load_private_key


def serial_of(pem: str) -> str:
    """The serial as it stands in the header."""
    return f"{load_certificate(pem).serial_number:040X}"


def event(chance: Chance) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    """An event's type, its resource's type, its resource and what it says."""
    wire, major = chance.amount(CNY)
    order, txn = chance.word(20), chance.digits(28)
    common = {
        "mchid": MERCHANT,
        "out_trade_no": order,
        "transaction_id": txn,
        "attach": chance.text(),
    }
    says = {"merchant_order_no": order, "amount": major, "currency": "CNY", "account": MERCHANT}
    if chance.random() < 0.35:
        status, refund = chance.choice(list(REFUNDS)), chance.digits(29)
        resource = {
            **common,
            "refund_id": refund,
            "out_refund_no": chance.word(20),
            "refund_status": status,
            "amount": {
                "total": wire + 7,
                "refund": wire,
                "payer_total": wire,
                "payer_refund": wire,
            },
        }
        return (
            f"REFUND.{status}",
            "refund",
            resource,
            {**says, "outcome": REFUNDS[status], "provider_txn_id": refund},
        )
    if chance.random() < 0.1:
        return (
            "COMPLAINT.CREATE",
            "complaint",
            {"complaint_id": chance.digits(20)},
            {"outcome": "other"},
        )
    state = chance.choice(["SUCCESS", "SUCCESS", *STATES])
    resource = {
        **common,
        "appid": "wx2421b1c4370ec43b",
        "trade_type": "JSAPI",
        "trade_state": state,
        "success_time": "2026-01-01T08:00:00+08:00",
        "amount": {
            "total": wire,
            "payer_total": max(wire - 3, 0),
            "currency": "CNY",
            "payer_currency": "CNY",
        },
    }
    return (
        "TRANSACTION.SUCCESS",
        "transaction",
        resource,
        {**says, "outcome": STATES[state], "provider_txn_id": txn},
    )


def encrypted(chance: Chance, resource: Any, kind: str, key: str, **more: Any) -> dict[str, Any]:
    """The resource, encrypted as the documentation says; the SDK decrypts it."""
    nonce, aad = chance.word(12), chance.choice([kind, kind, ""])
    text = resource if isinstance(resource, bytes) else chance.dumps(resource)
    sealed = AESGCM(key.encode()).encrypt(nonce.encode(), text, aad.encode())
    return {
        "algorithm": "AEAD_AES_256_GCM",
        "ciphertext": base64.b64encode(sealed).decode(),
        "nonce": nonce,
        "associated_data": aad,
        "original_type": kind,
        **more,
    }


def made(
    chance: Chance,
    *,
    age: int | None = None,
    by: openssl.RsaKey | None = None,
    serial: str = "",
    sealed_with: str = "",
    resource: Any = None,
    **more: Any,
) -> Case:
    """A genuine case, in public key or in certificate mode."""
    own, own_serial = chance.choice(
        [
            (PUBLIC_KEY, PUBLIC_KEY_ID),
            (OLD, serial_of(CERTIFICATES[0])),
            (NEW, serial_of(CERTIFICATES[1])),
        ]
    )
    event_type, kind, content, says = event(chance)
    apiv3_key, number = chance.word(32), f"EV-{chance.digits(19)}"
    body = chance.dumps(
        {
            "id": number,
            "create_time": "2026-01-01T08:00:00+08:00",
            "resource_type": "encrypt-resource",
            "event_type": event_type,
            "summary": chance.text(),
            "resource": encrypted(
                chance, resource or content, kind, sealed_with or apiv3_key, **more
            ),
        }
    )
    now = chance.time()
    at, nonce = (
        now - (chance.randint(-TOLERANCE, TOLERANCE) if age is None else age),
        chance.word(32),
    )
    config = {
        "mchid": MERCHANT,
        "apiv3_keys": [apiv3_key],
        "public_keys": {PUBLIC_KEY_ID: PUBLIC_KEY.public_pem},
        "platform_certificates_pem": CERTIFICATES,
    }
    case = Case(
        config,
        [
            ("Content-Type", "application/json"),
            ("Wechatpay-Timestamp", str(at)),
            ("Wechatpay-Nonce", nonce),
            ("Wechatpay-Signature", ""),
            ("Wechatpay-Serial", serial or own_serial),
            ("Wechatpay-Signature-Type", TYPE),
        ],
        body,
        now,
        {"event_id": number, "event_type": event_type, **says} if not (more or resource) else None,
    )
    return signed(case, by or own)


def signed(case: Case, key: openssl.RsaKey) -> Case:
    """The case with its signature by the SDK."""
    lines = (case.header(TIMESTAMP), case.header("Wechatpay-Nonce"), case.body.decode(), "")
    signature = rsa_sign(load_private_key(key.private_pem), "\n".join(lines))
    return case.with_headers(wechatpay_signature=signature)


class Offline(wechatpayv3.core.Core):
    """The SDK with its certificates at hand: it would fetch them."""

    def _update_certificates(self) -> None:
        pass


def decrypted(case: Case) -> Any:
    """What the SDK opens, or None where it does not take the signature."""
    failure = None
    for key in case.config["apiv3_keys"]:
        core = Offline(
            MERCHANT,
            "00",
            MERCHANTS.private_pem,
            key,
            public_key=PUBLIC_KEY.public_pem,
            public_key_id=PUBLIC_KEY_ID,
        )
        core._certificates = [load_certificate(pem) for pem in CERTIFICATES]  # noqa: SLF001
        try:
            opened = core.decrypt_callback(dict(case.headers), case.body.decode())
        except Exception as error:  # noqa: BLE001 - told below, unless another key fits
            failure = error
            continue
        if opened:
            return opened
    if failure:
        raise failure
    return None


def verified(case: Case) -> bool:
    """The SDK's verdict; of what can be read its values are the ones compared."""
    opened = decrypted(case)
    if opened is None:
        return False
    if case.normalized and "provider_txn_id" in case.normalized:
        resource = json.loads(opened)
        amount = resource["amount"]
        read = (
            resource.get("refund_id", resource["transaction_id"]),
            amount.get("refund", amount["total"]),
        )
        says = (case.normalized["provider_txn_id"], int(case.normalized["amount"].replace(".", "")))
        if read != says:
            raise AssertionError(f"the SDK reads {read}, which should be {says}")
    return True


def header(name: str, change: Callable[[Chance, str], str | None]) -> Callable[[Chance], Case]:
    """A kind with one header changed after it was signed."""

    def kind(chance: Chance) -> Case:
        case = made(chance)
        return case.with_headers(**{name: change(chance, case.header(name))})

    return kind


def resigned(name: str, change: Callable[[Chance, str], str]) -> Callable[[Chance], Case]:
    """A kind with one header changed before it was signed."""

    def kind(chance: Chance) -> Case:
        case = made(chance, by=PUBLIC_KEY, serial=PUBLIC_KEY_ID)
        return signed(case.with_headers(**{name: change(chance, case.header(name))}), PUBLIC_KEY)

    return kind


def body(change: Callable[[Chance, bytes], bytes]) -> Callable[[Chance], Case]:
    """A kind with the body changed."""

    def kind(chance: Chance) -> Case:
        case = made(chance)
        return replace(case, body=change(chance, case.body))

    return kind


def old_apiv3_key(chance: Chance) -> Case:
    """Sealed with a key that is configured beside the new one."""
    old = chance.word(32)
    case = made(chance, sealed_with=old)
    return replace(case, config={**case.config, "apiv3_keys": [*case.config["apiv3_keys"], old]})


KINDS = {
    "age_300": lambda chance: made(chance, age=TOLERANCE),
    "age_301": lambda chance: made(chance, age=TOLERANCE + 1),
    "age_days": lambda chance: made(chance, age=86400 * chance.randint(1, 30)),
    "ahead_301": lambda chance: made(chance, age=-TOLERANCE - 1),
    "other_key": lambda chance: made(chance, by=STRANGER),
    "key_of_other_serial": lambda chance: made(chance, by=OLD, serial=serial_of(CERTIFICATES[1])),
    "serial_unknown": lambda chance: made(chance, serial=f"{chance.getrandbits(160):040X}"),
    "serial_public_key_unknown": lambda chance: made(
        chance, serial="PUB_KEY_ID_" + chance.digits(28)
    ),
    "serial_in_small_letters": lambda chance: made(
        chance, by=NEW, serial=serial_of(CERTIFICATES[1]).lower()
    ),
    "serial_zeros": lambda chance: made(chance, by=NEW, serial="00" + serial_of(CERTIFICATES[1])),
    "serial_short": lambda chance: made(
        chance, by=NEW, serial=serial_of(CERTIFICATES[1]).lstrip("0")
    ),
    "serial_missing": header(SERIAL, lambda *_: None),
    "serial_odd": header(SERIAL, lambda *_: "not hex"),
    "time_other": header(TIMESTAMP, lambda chance, v: str(int(v) + chance.choice([1, -1]))),
    "time_missing": header(TIMESTAMP, lambda *_: None),
    "time_text": resigned(TIMESTAMP, lambda chance, v: chance.choice(["now", f"+{v}", f"{v}.0"])),
    "nonce_other": header("Wechatpay-Nonce", lambda chance, v: chance.other(v)),
    "nonce_missing": header("Wechatpay-Nonce", lambda *_: None),
    "nonce_with_line_feed": resigned("Wechatpay-Nonce", lambda _, v: v + "\nx"),
    "signature_other": header(SIGNATURE, lambda chance, v: chance.other(v)),
    "signature_missing": header(SIGNATURE, lambda *_: None),
    "signature_spaced": header(SIGNATURE, lambda _, v: v[:20] + " " + v[20:]),
    "signature_unpadded": header(SIGNATURE, lambda _, v: v.rstrip("=")),
    "signature_not_ascii": header(SIGNATURE, lambda _, v: v[:-3] + "é=="),
    "signature_probe": header(SIGNATURE, lambda _, v: "WECHATPAY/SIGNTEST/" + v[19:]),
    "type_missing": header("Wechatpay-Signature-Type", lambda *_: None),
    "type_empty": header("Wechatpay-Signature-Type", lambda *_: ""),
    "type_sm2": header("Wechatpay-Signature-Type", lambda *_: "WECHATPAY2-SM2-WITH-SM3"),
    "body_bit": body(lambda chance, text: chance.flip(text)),
    "body_longer": body(lambda _, text: text + b"\n"),
    "body_reserialised": body(lambda _, text: reserialised(text)),
    "apiv3_key_old": old_apiv3_key,
    "apiv3_key_other": lambda chance: made(chance, sealed_with=chance.word(32)),
    "algorithm_other": lambda chance: made(chance, algorithm="AEAD_SM4_GCM"),
    "ciphertext_cut": lambda chance: made(chance, ciphertext="AAAA"),
    "resource_not_json": lambda chance: made(chance, resource=b"plain text"),
    "aad_other": lambda chance: made(chance, associated_data="other"),
}

if __name__ == "__main__":
    run(Signer("wechatpay_v3", "wechatpayv3", made, verified, KINDS))
