"""Standard Webhooks and Svix: standardwebhooks signs and verifies, svix verifies its own."""

import base64
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import standardwebhooks.webhooks
import svix

from oracle.signers.cases import Case, Chance, Currency, Signer, reserialised, run

TOLERANCE = 300
CURRENCIES = (Currency("USD", 2, 2), Currency("JPY", 0, 0), Currency("KWD", 3, 3))
EVENTS = {
    "payment.succeeded": "paid",
    "payment.authorized": "authorised",
    "payment.pending": "pending",
    "payment.failed": "failed",
    "payment.canceled": "closed",
    "refund.succeeded": "refunded",
    "refund.failed": "refund_failed",
    "dispute.created": "disputed",
    "invoice.created": "other",
}


class Frozen(datetime):
    """The clock that the SDK reads."""

    at = 0

    @classmethod
    def now(cls, tz: Any = None) -> "Frozen":
        """The frozen second."""
        return cls.fromtimestamp(cls.at, tz)


standardwebhooks.webhooks.datetime = Frozen


def secret_of(chance: Chance) -> str:
    """A secret, with or without prefix and padding."""
    text = base64.b64encode(chance.randbytes(chance.choice([24, 32, 33, 64]))).decode()
    return chance.choice(["whsec_", ""]) + chance.choice([text, text.rstrip("=")])


class Family:
    """One family of headers, and whoever verifies it."""

    def __init__(self, family: str, verifier: Callable[[str], Any]) -> None:
        self.family = family
        self.verifier = verifier

    def names(self) -> tuple[str, str, str]:
        """The three headers."""
        return tuple(f"{self.family}-{part}" for part in ("id", "timestamp", "signature"))

    def made(
        self,
        chance: Chance,
        *,
        age: int | None = None,
        by: str = "",
        text: bytes | None = None,
        number: str = "",
    ) -> Case:
        """A genuine case."""
        kind, currency = chance.choice(list(EVENTS)), chance.choice(CURRENCIES)
        _, major = chance.amount(currency)
        txn, order = f"pay_{chance.word(20)}", chance.order_no()
        content = {
            "type": kind,
            "timestamp": "2026-01-01T00:00:00Z",
            "data": {
                "id": txn,
                "amount": major,
                "currency": currency.code,
                "reference": order,
                "note": chance.text(),
            },
        }
        number = number or f"msg_{chance.word(27)}"
        says = {"event_id": number, "event_type": kind, "outcome": EVENTS[kind]}
        if EVENTS[kind] != "other":
            says |= {
                "provider_txn_id": txn,
                "merchant_order_no": order,
                "amount": major,
                "currency": currency.code,
            }
        body = chance.dumps(content) if text is None else text
        secret, now = secret_of(chance), chance.time()
        at = now - (chance.randint(-TOLERANCE, TOLERANCE) if age is None else age)
        signature = self.signature(by or secret, number, at, body)
        headers = list(zip(self.names(), (number, str(at), signature), strict=True))
        return Case({"secrets": [secret]}, headers, body, now, says if text is None else None)

    def signature(self, secret: str, number: str, at: int, body: bytes) -> str:
        """By the SDK."""
        signer = standardwebhooks.webhooks.Webhook(secret)
        return str(signer.sign(number, datetime.fromtimestamp(at, UTC), body.decode()))

    def verified(self, case: Case) -> bool:
        """The SDK's verdict; parsing is not part of it."""
        Frozen.at = case.now
        headers, failure = {name.lower(): value for name, value in case.headers}, None
        for secret in case.config["secrets"]:
            try:
                self.verifier(secret)(case.body, headers)
            except Exception as error:  # noqa: BLE001 - told below, unless another secret fits
                failure = error
            else:
                return True
        raise failure

    def spoiled(
        self, part: str, change: Callable[[Chance, str], str | None]
    ) -> Callable[[Chance], Case]:
        """A kind with one header changed."""

        def kind(chance: Chance) -> Case:
            case = self.made(chance)
            name = f"{self.family}-{part}"
            return case.with_headers(**{name: change(chance, case.header(name))})

        return kind

    def of_body(self, change: Callable[[Chance, bytes], bytes]) -> Callable[[Chance], Case]:
        """A kind with the body changed."""

        def kind(chance: Chance) -> Case:
            case = self.made(chance)
            return replace(case, body=change(chance, case.body))

        return kind

    def two_secrets(self, chance: Chance) -> Case:
        """One of two configured secrets has signed."""
        case = self.made(chance)
        secrets = [*case.config["secrets"], secret_of(chance)]
        chance.shuffle(secrets)
        return replace(case, config={"secrets": secrets})

    def signer(self, provider: str, tool: str) -> Signer:
        """The signer."""
        spoiled, of_body, made = self.spoiled, self.of_body, self.made
        kinds = {
            "age_300": lambda chance: made(chance, age=TOLERANCE),
            "age_301": lambda chance: made(chance, age=TOLERANCE + 1),
            "ahead_300": lambda chance: made(chance, age=-TOLERANCE),
            "ahead_301": lambda chance: made(chance, age=-TOLERANCE - 1),
            "other_secret": lambda chance: made(chance, by=secret_of(chance)),
            "two_secrets": self.two_secrets,
            "id_other": spoiled("id", lambda chance, v: chance.other(v)),
            "id_missing": spoiled("id", lambda *_: None),
            "id_empty": spoiled("id", lambda *_: ""),
            "id_with_space": lambda chance: made(chance, number=f"msg {chance.word()}"),
            "id_with_dot": lambda chance: made(chance, number=f"msg.{chance.word()}"),
            "id_not_ascii": lambda chance: made(chance, number=f"msg_é{chance.word()}"),
            "id_long": lambda chance: made(chance, number="m" * 129),
            "time_other": spoiled(
                "timestamp", lambda chance, v: str(int(v) + chance.choice([1, -1]))
            ),
            "time_missing": spoiled("timestamp", lambda *_: None),
            "time_text": spoiled("timestamp", lambda *_: "now"),
            "time_nan": spoiled(
                "timestamp", lambda chance, _: chance.choice(["nan", "inf", "1e400"])
            ),
            "time_odd": spoiled(
                "timestamp",
                lambda chance, v: chance.choice(
                    [f"{v}.0", f"+{v}", f"0{v}", f" {v}", f"{v[:3]}_{v[3:]}"]
                ),
            ),
            "signature_other": spoiled("signature", lambda chance, v: "v1," + chance.other(v[3:])),
            "signature_shorter": spoiled("signature", lambda _, v: v[:-2]),
            "signature_missing": spoiled("signature", lambda *_: None),
            "signature_empty": spoiled(
                "signature", lambda chance, _: chance.choice(["", "v1,", "v1"])
            ),
            "signature_unpadded": spoiled("signature", lambda _, v: v.rstrip("=")),
            "signature_lenient": spoiled(
                "signature",
                lambda chance, v: chance.choice([v[:9] + "!" + v[9:], v + "=", v + "\t"]),
            ),
            "signature_not_ascii": spoiled("signature", lambda _, v: v[:-1] + "é"),
            "version_2": spoiled("signature", lambda _, v: "v2" + v[2:]),
            "asymmetric_too": spoiled("signature", lambda _, v: f"v1a,{'A' * 86}== {v}"),
            "one_of_three": spoiled("signature", lambda _, v: f"v1,{'A' * 43}= {v} v1,{'B' * 43}="),
            "two_spaces": spoiled("signature", lambda _, v: f"v1,{'A' * 43}=  {v}"),
            "many_signatures": spoiled(
                "signature", lambda _, v: " ".join([f"v1,{'A' * 43}="] * 12 + [v])
            ),
            "body_bit": of_body(lambda chance, body: chance.flip(body)),
            "body_longer": of_body(lambda chance, body: body + chance.choice([b"\n", b" ", b"\0"])),
            "body_reserialised": of_body(lambda _, body: reserialised(body)),
            "body_empty": lambda chance: made(chance, text=b""),
        }
        return Signer(provider, tool, made, self.verified, kinds)


def standard(secret: str) -> Callable[[bytes, Any], object]:
    """The reference library."""
    verifier = standardwebhooks.webhooks.Webhook(secret)
    return lambda body, headers: verifier.verify(body, headers, json_parse=False)


def mixed(chance: Chance) -> Case:
    """Some headers of one family and some of the other."""
    case = SVIX.made(chance)
    return replace(
        case,
        headers=[(n.replace("svix-timestamp", "webhook-timestamp"), v) for n, v in case.headers],
    )


def unbranded(chance: Chance) -> Case:
    """Svix, by the standard's headers."""
    case = SVIX.made(chance)
    return replace(case, headers=[(n.replace("svix-", "webhook-"), v) for n, v in case.headers])


STANDARD = Family("webhook", standard)
SVIX = Family("svix", lambda secret: svix.Webhook(secret).verify)

if __name__ == "__main__":
    branded = SVIX.signer("svix", "svix")
    more = {**branded.kinds, "families_mixed": mixed, "unbranded": unbranded}
    run(STANDARD.signer("standardwebhooks", "standardwebhooks"), replace(branded, kinds=more))
