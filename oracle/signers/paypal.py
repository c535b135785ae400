"""PayPal: paypalrestsdk verifies, openssl signs with certificates that are made here."""

import contextlib
import io
import zlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from OpenSSL import crypto
from paypalrestsdk import WebhookEvent

from oracle.signers import openssl
from oracle.signers.cases import Case, Chance, Currency, Signer, reserialised, run

HOST = "https://api.paypal.com"
NAME = "messageverificationcerts.paypal.com"
CURRENCIES = (
    Currency("EUR", 2, 2),
    Currency("USD", 2, 2),
    Currency("JPY", 0, 0),
    Currency("TWD", 0, 2),
    Currency("HUF", 0, 2),
)
EVENTS = {
    "PAYMENT.CAPTURE.COMPLETED": "paid",
    "PAYMENT.CAPTURE.PENDING": "pending",
    "PAYMENT.CAPTURE.DENIED": "failed",
    "PAYMENT.AUTHORIZATION.CREATED": "authorised",
    "PAYMENT.AUTHORIZATION.VOIDED": "closed",
    "PAYMENT.CAPTURE.REFUNDED": "refunded",
    "CUSTOMER.DISPUTE.CREATED": "disputed",
    "CHECKOUT.ORDER.COMPLETED": "other",
    "BILLING.PLAN.CREATED": "other",
}

ROOT_KEY, KEY, OTHERS_KEY, STRANGERS_KEY = (openssl.RsaKey() for _ in range(4))
ROOT = openssl.certificate(
    "/CN=Synthetic Root", ROOT_KEY, ca=True, extensions=["keyUsage=critical,keyCertSign,cRLSign"]
)
STRANGERS_ROOT = openssl.certificate(
    "/CN=Stranger", STRANGERS_KEY, ca=True, extensions=["keyUsage=critical,keyCertSign"]
)


def leaf(name: str, key: openssl.RsaKey, issuer: tuple[str, openssl.RsaKey], **dates: Any) -> str:
    """A server's certificate."""
    extensions = ["extendedKeyUsage=serverAuth", f"subjectAltName=DNS:{name}"]
    return openssl.certificate(f"/CN={name}", key, issuer, ca=False, extensions=extensions, **dates)


PAST = {"dates": ("20240101000000Z", "20250101000000Z")}
CERTIFICATES = {
    f"{HOST}/v1/notifications/certs/{number}": pem
    for number, pem in {
        "CERT-good": leaf(NAME, KEY, (ROOT, ROOT_KEY)),
        "CERT-other": leaf("www.paypal.com", OTHERS_KEY, (ROOT, ROOT_KEY)),
        "CERT-lookalike": leaf(f"{NAME}.example.net", OTHERS_KEY, (ROOT, ROOT_KEY)),
        "CERT-stranger": leaf(NAME, STRANGERS_KEY, (STRANGERS_ROOT, STRANGERS_KEY)),
        "CERT-past": leaf(NAME, KEY, (ROOT, ROOT_KEY), **PAST),
    }.items()
}
GOOD = f"{HOST}/v1/notifications/certs/CERT-good"


def event(chance: Chance) -> tuple[dict[str, Any], dict[str, Any]]:
    """An event and what it says."""
    kind, currency = chance.choice(list(EVENTS)), chance.choice(CURRENCIES)
    wire, major = chance.amount(currency)
    written = str(wire) if currency.wire == 0 else major
    number, order, event_id = (
        chance.word(17).upper(),
        chance.order_no(),
        f"WH-{chance.word(17)}-{chance.word(17)}",
    )
    money = {"currency_code": currency.code, "value": written}
    if kind.startswith("CUSTOMER"):
        resource = {
            "dispute_id": number,
            "dispute_amount": money,
            "status": "OPEN",
            "disputed_transactions": [{"seller_transaction_id": chance.word(17), "custom": order}],
        }
    else:
        resource = {
            "id": number,
            "amount": money,
            "status": "COMPLETED",
            "custom_id": order,
            "note": chance.text(),
        }
    body = {
        "id": event_id,
        "event_version": "1.0",
        "create_time": "2026-01-01T00:00:00.000Z",
        "event_type": kind,
        "resource_type": "capture",
        "summary": chance.text(),
        "resource": resource,
        "links": [],
    }
    says = {"event_id": event_id, "event_type": kind, "outcome": EVENTS[kind]}
    if EVENTS[kind] != "other":
        says |= {
            "provider_txn_id": number,
            "merchant_order_no": order,
            "amount": major,
            "currency": currency.code,
        }
    return body, says


def made(
    chance: Chance,
    *,
    by: openssl.RsaKey = KEY,
    url: str = GOOD,
    crc: Callable[[int], str] = str,
    age: int | None = None,
    algorithm: str = "sha256",
    text: bytes | None = None,
) -> Case:
    """A genuine case."""
    content, says = event(chance)
    body = chance.dumps(content) if text is None else text
    webhook, number, now = chance.word(17).upper(), chance.word(36), chance.time()
    at = now - (chance.randint(0, 3 * 86400) if age is None else age)
    stated = datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    message = f"{number}|{stated}|{webhook}|{crc(zlib.crc32(body))}".encode()
    config = {
        "webhook_ids": [webhook],
        "trust_root_pem": ROOT,
        "certificates": {**CERTIFICATES, url: CERTIFICATES.get(url, CERTIFICATES[GOOD])},
    }
    headers = [
        ("Content-Type", "application/json"),
        ("PAYPAL-TRANSMISSION-ID", number),
        ("PAYPAL-TRANSMISSION-TIME", stated),
        ("PAYPAL-TRANSMISSION-SIG", by.sign(message, algorithm)),
        ("PAYPAL-CERT-URL", url),
        ("PAYPAL-AUTH-ALGO", f"{algorithm.upper()}withRSA"),
    ]
    return Case(config, headers, body, now, says if text is None else None)


def verified(case: Case) -> bool:
    """The SDK's verdict, with the root and the certificates that were made here."""

    def store(_: Any = None) -> crypto.X509Store:
        trusted = crypto.X509Store()
        trusted.add_cert(crypto.load_certificate(crypto.FILETYPE_PEM, ROOT.encode()))
        return trusted

    def fetched(url: str) -> crypto.X509:
        return crypto.load_certificate(
            crypto.FILETYPE_PEM, case.config["certificates"][url].encode()
        )

    WebhookEvent._get_certificate_store = store  # noqa: SLF001 - it has DigiCert's only
    WebhookEvent._get_cert = staticmethod(fetched)  # noqa: SLF001 - it fetches any address
    headers = {name.lower().removeprefix("paypal-"): value for name, value in case.headers}
    with contextlib.redirect_stdout(io.StringIO()):  # it prints its exceptions
        verdicts = [
            WebhookEvent.verify(
                headers["transmission-id"],
                headers["transmission-time"],
                webhook,
                case.body.decode(),
                headers["cert-url"],
                headers["transmission-sig"],
                headers["auth-algo"],
            )
            for webhook in case.config["webhook_ids"]
        ]
    return any(verdicts)


def header(name: str, change: Callable[[Chance, str], str | None]) -> Callable[[Chance], Case]:
    """A kind with one header changed."""

    def kind(chance: Chance) -> Case:
        case = made(chance)
        return case.with_headers(
            **{f"PAYPAL-{name}": change(chance, case.header(f"PAYPAL-{name}"))}
        )

    return kind


def body(change: Callable[[Chance, bytes], bytes]) -> Callable[[Chance], Case]:
    """A kind with the body changed."""

    def kind(chance: Chance) -> Case:
        case = made(chance)
        return replace(case, body=change(chance, case.body))

    return kind


def named(certificate: str, by: openssl.RsaKey) -> Callable[[Chance], Case]:
    """A kind with another certificate."""
    return lambda chance: made(chance, by=by, url=f"{HOST}/v1/notifications/certs/{certificate}")


def from_address(url: str) -> Callable[[Chance], Case]:
    """A kind whose certificate, a good one, is at another address."""
    return lambda chance: made(chance, url=url)


def webhooks(chance: Chance) -> Case:
    """Several webhook ids are configured."""
    case = made(chance)
    ids = [*case.config["webhook_ids"], chance.word(17).upper()]
    chance.shuffle(ids)
    return replace(case, config={**case.config, "webhook_ids": ids})


def other_webhook(chance: Chance) -> Case:
    """Signed for another webhook."""
    case = made(chance)
    return replace(case, config={**case.config, "webhook_ids": [chance.word(17).upper()]})


def forged(chance: Chance) -> Case:
    """Another body with the same checksum: who has seen one transmission can make it."""
    case = made(chance)
    wanted = zlib.crc32(case.body)
    content, _ = event(chance)
    text = chance.dumps(content).rstrip().removesuffix(b"}")
    # Before the last bracket any white space may stand. Whether each of 64 characters is a space
    # or a tab is chosen so that the checksums' difference, which is linear, is made up for.
    blank = b" " * 64
    base = zlib.crc32(text + blank + b"}")
    rows = []
    for place in range(64):
        changed = bytearray(blank)
        changed[place] = 9
        rows.append((zlib.crc32(text + bytes(changed) + b"}") ^ base, 1 << place))
    chosen = _solved(rows, wanted ^ base)
    spaces = bytes(9 if chosen >> place & 1 else 32 for place in range(64))
    return replace(case, body=text + spaces + b"}", normalized=None)


def _solved(rows: list[tuple[int, int]], wanted: int) -> int:
    """Which rows are needed for the wanted sum, by elimination over bits."""
    basis: dict[int, tuple[int, int]] = {}
    for row in rows:
        value, places = row
        while value and value.bit_length() in basis:
            known = basis[value.bit_length()]
            value, places = value ^ known[0], places ^ known[1]
        if value:
            basis[value.bit_length()] = (value, places)
    chosen = 0
    while wanted:
        value, places = basis[wanted.bit_length()]
        wanted, chosen = wanted ^ value, chosen ^ places
    return chosen


CERT = "/v1/notifications/certs/CERT-good"
KINDS: Mapping[str, Callable[[Chance], Case]] = {
    "webhooks": webhooks,
    "other_webhook": other_webhook,
    "checksum_forged": forged,
    "other_key": lambda chance: made(chance, by=OTHERS_KEY),
    "sha1": lambda chance: made(chance, algorithm="sha1"),
    "sha512": lambda chance: made(chance, algorithm="sha512"),
    "algorithm_missing": header("AUTH-ALGO", lambda *_: None),
    "checksum_signed": lambda chance: made(chance, crc=lambda crc: str(crc - 2**32)),
    "checksum_hex": lambda chance: made(chance, crc=hex),
    "age_4_days": lambda chance: made(chance, age=4 * 86400 + 1),
    "ahead": lambda chance: made(chance, age=-3600),
    "name_other": named("CERT-other", OTHERS_KEY),
    "name_lookalike": named("CERT-lookalike", OTHERS_KEY),
    "issuer_stranger": named("CERT-stranger", STRANGERS_KEY),
    "certificate_past": named("CERT-past", KEY),
    "address_of_stranger": from_address(f"https://paypal.example.net{CERT}"),
    "address_without_dot": from_address(f"https://apipaypal.com{CERT}"),
    "address_with_user": from_address(f"https://api.paypal.com@example.net{CERT}"),
    "address_with_port": from_address(f"https://api.paypal.com:8443{CERT}"),
    "address_plain": from_address(f"http://api.paypal.com{CERT}"),
    "address_sandbox": from_address(f"https://api.sandbox.paypal.com{CERT}"),
    "address_with_query": from_address(f"{HOST}{CERT}?a=1"),
    "address_other_path": from_address(f"{HOST}/v1/other/CERT-good"),
    "address_api_m": from_address(f"https://api-m.paypal.com{CERT}"),
    "id_other": header("TRANSMISSION-ID", lambda chance, v: chance.other(v)),
    "id_missing": header("TRANSMISSION-ID", lambda *_: None),
    "time_other": header("TRANSMISSION-TIME", lambda _, v: v.replace("Z", "+00:00")),
    "time_missing": header("TRANSMISSION-TIME", lambda *_: None),
    "signature_other": header("TRANSMISSION-SIG", lambda chance, v: chance.other(v)),
    "signature_missing": header("TRANSMISSION-SIG", lambda *_: None),
    "signature_empty": header("TRANSMISSION-SIG", lambda *_: ""),
    "signature_spaced": header("TRANSMISSION-SIG", lambda _, v: v[:9] + " " + v[9:]),
    "body_bit": body(lambda chance, text: chance.flip(text)),
    "body_longer": body(lambda _, text: text + b"\n"),
    "body_reserialised": body(lambda _, text: reserialised(text)),
    "body_empty": lambda chance: made(chance, text=b""),
    "body_not_utf8": lambda chance: made(chance, text=b'{"a":"\xff"}'),
}

if __name__ == "__main__":
    run(Signer("paypal", "paypalrestsdk", made, verified, KINDS))
