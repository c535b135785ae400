"""The providers of China as senders: keys made here, accounts, and how each signs a callback."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from cryptography.x509.oid import NameOID

from payments.providers import (
    alipay_sign,
    unionpay_sign,
    wechatpay_v2_sign,
    wechatpay_v3_sign,
)
from payments.providers.port import Account, Key, Provider, SignedRequest, Verdict
from payments.providers.registry import PROVIDERS
from tests import signing

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
API_KEY: Final = b"192006250b4c09247ec02edce69f6a2d"
APIV3_KEY: Final = b"0123456789abcdef0123456789ABCDEF"
PUBLIC_KEY_ID: Final = "PUB_KEY_ID_0114232134912410000000000000"
UNIONPAY_NAME: Final = "041@8310000000083040@中国银联股份有限公司@00016494"

Fields = Mapping[str, str]


@cache
def private_key(name: str, bits: int = 2048, exponent: int = 65537) -> rsa.RSAPrivateKey:
    """One key for each name, made once for all tests."""
    assert name
    return rsa.generate_private_key(exponent, bits)


def public_pem(key: rsa.RSAPrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)


def certificate(
    common_name: str,
    key: rsa.RSAPrivateKey,
    issuer: tuple[str, rsa.RSAPrivateKey] | None = None,
    *,
    serial: int = 0x0A1B2C3D,
    valid: tuple[datetime, datetime] = (
        datetime(2025, 1, 1, tzinfo=UTC),
        datetime(2030, 1, 1, tzinfo=UTC),
    ),
) -> bytes:
    """A certificate in PEM; self-signed without an issuer."""
    issuer_name, issuer_key = issuer or (common_name, key)
    builder = x509.CertificateBuilder(
        subject_name=_name(common_name),
        issuer_name=_name(issuer_name),
        public_key=key.public_key(),
        serial_number=serial,
        not_valid_before=valid[0],
        not_valid_after=valid[1],
    )
    return builder.sign(issuer_key, SHA256()).public_bytes(Encoding.PEM)


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def an_account(account_no: str, *keys: Key, **settings: Any) -> Account:
    return Account(account_no=account_no, live=True, settings=settings, keys=keys)


@dataclass(frozen=True)
class Sender:
    """A provider, an account of it, and a genuine payment of 10.99 CNY for order O-1."""

    name: str
    account: Account
    #: A callback with these fields over the usual ones, signed.
    signed: Callable[[Fields], SignedRequest]
    usual: Fields

    @property
    def provider(self) -> Provider:
        return PROVIDERS[self.name]

    def genuine(self) -> SignedRequest:
        return self.signed({})

    def authenticate(self, request: SignedRequest, now: datetime = NOW) -> Verdict:
        return self.provider.authenticate(request, self.account, now=now)

    def with_keys(self, *keys: Key) -> "Sender":
        return replace(self, account=replace(self.account, keys=keys))


ALIPAY_FIELDS: Final = {
    "app_id": "2014072300007148",
    "body": "100% +plus & more=stuff",
    "charset": "utf-8",
    "fund_bill_list": '[{"amount":"10.99","fundChannel":"ALIPAYACCOUNT"}]',
    "gmt_create": "2026-01-01 00:09:50",
    "gmt_payment": "2026-01-01 00:10:00",
    "notify_id": "ac05099524730693a8b330c5ecf72da9786",
    "notify_type": "trade_status_sync",
    "out_trade_no": "O-1",
    "passback_params": "",
    "seller_id": "2088102119685838",
    "total_amount": "10.99",
    "trade_no": "2026010122001400000000000001",
    "trade_status": "TRADE_SUCCESS",
}
UNIONPAY_FIELDS: Final = {
    "accessType": "0",
    "currencyCode": "156",
    "encoding": "UTF-8",
    "merId": "700000000000001",
    "orderId": "O-1",
    "queryId": "902601010759500000018",
    "respCode": "00",
    "respMsg": "成功[0000000]",
    "txnAmt": "1099",
    "txnTime": "20260101001000",
    "txnType": "01",
}
WECHATPAY_V2_FIELDS: Final = {
    "appid": "wx2421b1c4370ec43b",
    "attach": "支付 & <测试>",
    "device_info": "",
    "fee_type": "CNY",
    "mch_id": "10000100",
    "out_trade_no": "O-1",
    "result_code": "SUCCESS",
    "return_code": "SUCCESS",
    "time_end": "20260101001000",
    "total_fee": "1099",
    "transaction_id": "1004400740201409030005092168",
}
#: Names with a dot are inside `amount`; `event_type` and `id` are outside the resource.
WECHATPAY_V3_FIELDS: Final = {
    "id": "EV-2018022511223320873",
    "event_type": "TRANSACTION.SUCCESS",
    "mchid": "1900000001",
    "appid": "wx2421b1c4370ec43b",
    "out_trade_no": "O-1",
    "transaction_id": "4200000000202601010000000001",
    "trade_state": "SUCCESS",
    "success_time": "2026-01-01T00:10:00+08:00",
}


def _encoded(usual: Fields, given: Fields) -> dict[bytes, bytes]:
    return {name.encode(): value.encode() for name, value in {**usual, **given}.items()}


def form(body: bytes) -> SignedRequest:
    return signing.as_request(body, {"Content-Type": "application/x-www-form-urlencoded"})


def xml(body: bytes) -> SignedRequest:
    return signing.as_request(body, {"Content-Type": "text/xml"})


def alipay(given: Fields) -> SignedRequest:
    fields = _encoded(ALIPAY_FIELDS, given)
    return form(alipay_sign.signed_form(fields, private_key("alipay")))


@cache
def unionpay_chain() -> tuple[bytes, bytes, bytes]:
    """The leaf, the middle and the root, in PEM."""
    root, middle, leaf = (private_key(f"unionpay {name}") for name in ("root", "middle", "leaf"))
    return (
        certificate(UNIONPAY_NAME, leaf, ("Test OCA", middle)).replace(b"\n", b"\r\n"),
        certificate("Test OCA", middle, ("Test CA", root)),
        certificate("Test CA", root),
    )


def unionpay(given: Fields) -> SignedRequest:
    fields = _encoded(UNIONPAY_FIELDS, given)
    leaf = unionpay_chain()[0]
    return form(unionpay_sign.signed_form(fields, private_key("unionpay leaf"), leaf))


def wechatpay_v2(given: Fields) -> SignedRequest:
    return xml(wechatpay_v2_sign.signed_xml(_encoded(WECHATPAY_V2_FIELDS, given), API_KEY))


def notification(resource: Mapping[str, Any], **outer: Any) -> bytes:
    """The body of an APIv3 notification around an encrypted resource."""
    sealed = wechatpay_v3_sign.sealed(
        json.dumps(resource).encode(),
        APIV3_KEY,
        nonce="nonce-of-12-",
        associated_data="transaction",
    )
    envelope = {
        "id": WECHATPAY_V3_FIELDS["id"],
        "create_time": "2026-01-01T00:10:01+08:00",
        "resource_type": "encrypt-resource",
        "event_type": WECHATPAY_V3_FIELDS["event_type"],
        "resource": {"original_type": "transaction", **sealed},
        **outer,
    }
    return json.dumps(envelope).encode()


def wechatpay_v3_signed(
    body: bytes, *, serial: str = PUBLIC_KEY_ID, key: str = "wechatpay", now: datetime = NOW
) -> SignedRequest:
    headers = wechatpay_v3_sign.signed_headers(
        body, private_key(key), serial=serial, nonce="n0nce", now=now
    )
    return signing.as_request(body, headers)


def wechatpay_v3(given: Fields) -> SignedRequest:
    fields = {**WECHATPAY_V3_FIELDS, **given}
    outer = {name: fields.pop(name) for name in ("id", "event_type")}
    resource = {**fields, "amount": {"total": 1099, "payer_total": 999, "currency": "CNY"}}
    return wechatpay_v3_signed(notification(resource, **outer))


@cache
def sender(name: str) -> Sender:
    """The sender of that provider."""
    match name:
        case "alipay":
            key = Key("k0", "signature", public_pem(private_key("alipay")))
            account = an_account(ALIPAY_FIELDS["app_id"], key, seller_id="2088102119685838")
            return Sender(name, account, alipay, ALIPAY_FIELDS)
        case "unionpay":
            _, middle, root = unionpay_chain()
            keys = (Key("k0", "certificate", middle), Key("k1", "certificate", root))
            account = an_account(UNIONPAY_FIELDS["merId"], *keys)
            return Sender(name, account, unionpay, UNIONPAY_FIELDS)
        case "wechatpay_v2":
            account = an_account(
                WECHATPAY_V2_FIELDS["mch_id"],
                Key("k0", "signature", API_KEY),
                appids=[WECHATPAY_V2_FIELDS["appid"]],
            )
            return Sender(name, account, wechatpay_v2, WECHATPAY_V2_FIELDS)
        case _:
            account = an_account(
                WECHATPAY_V3_FIELDS["mchid"],
                Key(PUBLIC_KEY_ID, "signature", public_pem(private_key("wechatpay"))),
                Key("d0", "decryption", APIV3_KEY),
                appids=[WECHATPAY_V3_FIELDS["appid"]],
            )
            return Sender(name, account, wechatpay_v3, WECHATPAY_V3_FIELDS)


SENDERS: Final = ("alipay", "unionpay", "wechatpay_v2", "wechatpay_v3")
