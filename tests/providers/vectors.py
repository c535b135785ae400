"""Signed samples that were made by other people's code, as test cases."""

import base64
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs

from payments.callback import Callback, Kind, Reading
from payments.providers.port import (
    CERTIFICATE_PURPOSE,
    Account,
    CertificateNeeded,
    Key,
    Provider,
    SignedRequest,
    Verdict,
)
from tests.signing import an_account

#: The samples' words for what is told.
KINDS: Final[Mapping[str, Kind]] = {
    "paid": Kind.PAID,
    "authorised": Kind.AUTHORIZED,
    "pending": Kind.PENDING,
    "failed": Kind.FAILED,
    "closed": Kind.CLOSED,
    "refunded": Kind.REFUNDED,
    "refund_failed": Kind.REFUND_FAILED,
    "disputed": Kind.DISPUTED,
    "dispute_won": Kind.DISPUTE_WON,
    "dispute_lost": Kind.DISPUTE_LOST,
    "other": Kind.IGNORED,
}


@dataclass(frozen=True)
class Sample:
    """One signed sample: the request, the keys and the clock to judge it with, the verdict."""

    provider: str
    name: str
    request: SignedRequest
    configured: Account
    now: datetime
    valid: bool
    #: What must be read from it, one entry per callback; None where the sample does not say.
    normalized: list[dict[str, Any]] | None = field(repr=False)
    #: What is served at the addresses of certificates.
    certificates: Mapping[str, str] = field(repr=False)

    def account(self, settings: dict[str, Any] | None = None) -> Account:
        return self.configured if settings is None else replace(self.configured, settings=settings)

    def verdict(self, provider: Provider) -> Verdict:
        """What the provider says; a certificate that it asks for must be one of the sample's."""
        verdict = provider.authenticate(self.request, self.configured, now=self.now)
        if not isinstance(verdict, CertificateNeeded):
            return verdict
        fetched = Key(verdict.url, CERTIFICATE_PURPOSE, self.certificates[verdict.url].encode())
        account = replace(self.configured, keys=(*self.configured.keys, fetched))
        return provider.authenticate(self.request, account, now=self.now)


def samples_in(folder: Path) -> list[Sample]:
    """All samples of the folder's files."""
    return [
        sample
        for path in sorted(folder.glob("*.json"))
        for sample in samples_of(json.loads(path.read_text(encoding="utf-8")))
    ]


def samples_of(document: dict[str, Any]) -> list[Sample]:
    """The samples of one file's content."""
    return [_sample(document, case) for case in document["cases"]]


def normalized(reading: Reading, expected: Mapping[str, Any], provider: Provider) -> dict[str, Any]:
    """The reading in the words of the samples, as far as the sample has them."""
    assert isinstance(reading, Callback), reading
    words: dict[str, Any] = {
        "event_id": reading.event_id if expected.get("event_id") else None,
        "event_type": reading.event_type,
        "outcome": next(word for word, kind in KINDS.items() if kind is reading.kind),
        "provider_txn_id": reading.txn_no,
        "merchant_order_no": reading.order_no,
        "amount": reading.money.major if reading.money else None,
        "currency": reading.money.currency if reading.money else None,
        "account": reading.account_no,
        "must_not_be_trusted_without_api_refetch": provider.confirmation_by_default,
    }
    return {word: words[word] for word in expected}


def _sample(document: dict[str, Any], case: dict[str, Any]) -> Sample:
    config = {**document["config"], **(case.get("config_override") or {})}
    request, expected = case["request"], case["expected"]
    body = base64.b64decode(request["body_b64"])
    normalized = expected.get("normalized")
    return Sample(
        provider=document["provider"],
        name=case["name"],
        request=SignedRequest(
            headers=tuple((name.lower(), value) for name, value in request["headers"]),
            body=body,
            url=config.get("notification_url", request["url"]),
        ),
        configured=_ACCOUNTS.get(document["provider"], _shared_secrets)(config, body),
        now=datetime.fromtimestamp(case["now"], UTC),
        valid=expected["verdict"] == "valid",
        normalized=[normalized] if isinstance(normalized, dict) else normalized,
        certificates=config.get("certificates", {}),
    )


Config = Mapping[str, Any]


def _shared_secrets(config: Config, _: bytes) -> Account:
    return an_account(*config.get("secrets", ()))


def _custom(config: Config, _: bytes) -> Account:
    return an_account(*config["secrets"], settings=config["settings"])


def _keyed(account_no: str, settings: Config, *keys: tuple[str, str, str]) -> Account:
    """An account with keys of (key id, purpose, material)."""
    ring = tuple(Key(key_id, purpose, material.encode()) for key_id, purpose, material in keys)
    return Account(account_no=account_no, live=True, settings=settings, keys=ring)


def _alipay(config: Config, _: bytes) -> Account:
    public_key = ("k0", "signature", config["alipay_public_key_pem"])
    return _keyed(config["app_id"], {"seller_id": config["seller_id"]}, public_key)


def _wechatpay_v2(config: Config, _: bytes) -> Account:
    pinned = [config.get(name) for name in ("sign_type", "algorithm")]
    keys = [(f"k{n}", "signature", key) for n, key in enumerate(config["api_keys"])]
    settings = {"appids": [config["appid"]], "legacy_md5": "HMAC-SHA256" not in pinned}
    return _keyed(config["mch_id"], settings, *keys)


def _wechatpay_v3(config: Config, _: bytes) -> Account:
    certificates = config["platform_certificates_pem"]
    return _keyed(
        config["mchid"],
        {},
        *((key_id, "signature", pem) for key_id, pem in config["public_keys"].items()),
        *((f"c{n}", "certificate", pem) for n, pem in enumerate(certificates)),
        *((f"d{n}", "decryption", key) for n, key in enumerate(config["apiv3_keys"])),
    )


def _unionpay(config: Config, body: bytes) -> Account:
    pinned = [config["middle_pem"], config["root_pem"]]
    if config.get("skip_chain"):  # nothing but the leaf was published
        pinned = parse_qs(body.decode())["signPubKeyCert"]
    keys = ((f"c{n}", "certificate", pem) for n, pem in enumerate(pinned))
    return _keyed("700000000000001", {}, *keys)


def _adyen(config: Config, _: bytes) -> Account:
    (account_no,) = config["merchant_accounts"]
    settings = {"webhooks": "platform"} if config.get("mode") == "header" else {}
    keys = ((f"k{n}", "signature", key) for n, key in enumerate(config["hmac_keys"]))
    return _keyed(account_no, settings, *keys)


def _braintree(config: Config, _: bytes) -> Account:
    return _keyed("synth", {}, (config["public_key"], "signature", config["private_key"]))


def _midtrans(config: Config, _: bytes) -> Account:
    return _keyed("G000000001", {}, ("k0", "signature", config["server_key"]))


def _paypal(config: Config, _: bytes) -> Account:
    return _keyed("M1", {name: config[name] for name in ("webhook_ids", "trust_root_pem")})


#: How each provider's account is made of a file's `config`; others have shared secrets only.
_ACCOUNTS: Final[Mapping[str, Callable[[Config, bytes], Account]]] = {
    "adyen": _adyen,
    "alipay": _alipay,
    "braintree": _braintree,
    "custom": _custom,
    "midtrans": _midtrans,
    "paypal": _paypal,
    "unionpay": _unionpay,
    "wechatpay_v2": _wechatpay_v2,
    "wechatpay_v3": _wechatpay_v3,
}
