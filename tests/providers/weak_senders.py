"""The providers whose signature leaves something out, as senders: accounts and genuine payments.

Each payment is for order O-1 and, where its callback states an amount, of 10.99.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from payments.callback import Reading
from payments.providers import adyen_sign, braintree_sign, midtrans_sign, paypal_sign
from payments.providers.port import Account, Assurance, Key, Provider, SignedRequest, Verdict
from payments.providers.registry import PROVIDERS
from tests import signing
from tests.providers.rsa_senders import an_account, private_key

NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
ADYEN_KEY: Final = b"A1B2C3D4E5F60718293A4B5C6D7E8F90112233445566778899AABBCCDDEEFF00"
SECRET: Final = b"tests-only-Rz7pLw2nKq9x"
PUBLIC_KEY: Final = "testspublickey01"
WEBHOOK_ID: Final = "4JH86294D6297924G"
CERTIFICATE_URL: Final = "https://api.paypal.com/v1/notifications/certs/CERT-360caa42-1d93a270"
CERTIFICATE_NAME: Final = "messageverificationcerts.paypal.com"

Document = Mapping[str, Any]

ADYEN_ITEM: Final[Document] = {
    "additionalData": {"authCode": "033899"},
    "amount": {"currency": "EUR", "value": 1099},
    "eventCode": "CAPTURE",
    "eventDate": "2026-01-01T00:59:55+01:00",
    "merchantAccountCode": "ShopECOM",
    "merchantReference": "O-1",
    "originalReference": "PSP0000000000001",
    "paymentMethod": "visa",
    "pspReference": "PSP0000000000002",
    "reason": "",
    "success": "true",
}
MIDTRANS_NOTIFICATION: Final[Document] = {
    "transaction_time": "2026-01-01 06:59:00",
    "transaction_status": "settlement",
    "transaction_id": "57d5293c-e65f-4a29-95e4-5959c3fa335b",
    "status_code": "200",
    "payment_type": "bank_transfer",
    "order_id": "O-1",
    "merchant_id": "G000000001",
    "gross_amount": "10.99",
    "fraud_status": "accept",
    "currency": "IDR",
}
PAYPAL_EVENT: Final[Document] = {
    "id": "WH-58D329510W468432D-8HN650336L201105X",
    "create_time": "2025-12-31T23:59:55.000Z",
    "event_type": "PAYMENT.CAPTURE.COMPLETED",
    "resource": {
        "id": "42311647XV020574X",
        "status": "COMPLETED",
        "amount": {"currency_code": "EUR", "value": "10.99"},
        "custom_id": "O-1",
        "payee": {"merchant_id": "MERCHANT1"},
    },
}
XENDIT_INVOICE: Final[Document] = {
    "id": "579c8d61f23fa4ca35e52da4",
    "external_id": "O-1",
    "status": "PAID",
    "amount": 10.99,
    "paid_amount": 10.99,
    "currency": "PHP",
    "paid_at": "2025-12-31T23:59:50.000Z",
}
FLUTTERWAVE_EVENT: Final[Document] = {
    "event": "charge.completed",
    "data": {
        "id": 285959875,
        "tx_ref": "O-1",
        "flw_ref": "FLW1",
        "amount": 10.99,
        "charged_amount": 11.5,
        "currency": "NGN",
        "status": "successful",
    },
}


@dataclass(frozen=True)
class Sender:
    """A provider, an account of it, and how it sends a document (or a form, or XML)."""

    name: str
    account: Account
    assurance: Assurance
    sent: Callable[[Any], SignedRequest]
    usual: Any
    #: What of the document no signature covers, as paths; None where nothing is signed at all.
    unsigned: frozenset[str] | None = frozenset()
    key_id: str = "k0"

    @property
    def provider(self) -> Provider:
        return PROVIDERS[self.name]

    def genuine(self) -> SignedRequest:
        return self.sent(self.usual)

    def authenticate(self, request: SignedRequest, *, now: datetime = NOW) -> Verdict:
        return self.provider.authenticate(request, self.account, now=now)

    def read(self, document: Any, **settings: Any) -> list[Reading]:
        """What an authentic document says; `settings` are added to the account's."""
        account = replace(self.account, settings={**self.account.settings, **settings})
        self.provider.check_settings(account)
        request = self.sent(document)
        verdict = self.provider.authenticate(request, account, now=NOW)
        assert verdict.__class__.__name__ == "Verified", verdict
        return list(self.provider.read(request, account))

    def with_keys(self, *keys: Key) -> "Sender":
        return replace(self, account=replace(self.account, keys=keys))


def notification(*items: Document, live: Any = "true", key: bytes = ADYEN_KEY) -> bytes:
    """The body of an Adyen notification whose items are all signed."""
    signed = [{"NotificationRequestItem": adyen_sign.signed_item(item, key)} for item in items]
    return json.dumps({"live": live, "notificationItems": signed}).encode()


def adyen(document: Any) -> SignedRequest:
    """One item, or a list of them; each has these fields over the usual ones."""
    items = document if isinstance(document, list) else [document]
    return as_json(notification(*({**ADYEN_ITEM, **item} for item in items)))


def midtrans(document: Any) -> SignedRequest:
    signed = midtrans_sign.signed_notification({**MIDTRANS_NOTIFICATION, **document}, SECRET)
    return as_json(json.dumps(signed).encode())


def paypal(document: Any, *, key: str = "paypal", **headers: Any) -> SignedRequest:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    given = {
        "webhook_id": WEBHOOK_ID,
        "transmission_id": "69cd13f0-d67a-11e5-baa3-778b53f4ae55",
        "certificate_url": CERTIFICATE_URL,
        "now": NOW,
        **headers,
    }
    return signing.as_request(body, paypal_sign.signed_headers(body, private_key(key), **given))


def braintree(document: Any) -> SignedRequest:
    """The kind of a notification, and its subject in XML."""
    kind, subject = document
    xml = (
        f'<notification><timestamp type="datetime">2025-12-31T23:59:50Z</timestamp>'
        f"<kind>{kind}</kind><subject>{subject}</subject></notification>"
    )
    return as_form(braintree_sign.signed_form(xml.encode(), PUBLIC_KEY, SECRET))


BRAINTREE_TRANSACTION: Final = (
    "<transaction><id>txn1</id><amount>10.99</amount><order-id>O-1</order-id>"
    "<currency-iso-code>USD</currency-iso-code>"
    "<merchant-account-id>shop_usd</merchant-account-id></transaction>"
)


def as_json(body: bytes, **headers: str) -> SignedRequest:
    return signing.as_request(body, {"Content-Type": "application/json", **headers})


def as_form(body: bytes) -> SignedRequest:
    return signing.as_request(body, {"Content-Type": "application/x-www-form-urlencoded"})


def with_token(header: str) -> Callable[[Any], SignedRequest]:
    return lambda document: as_json(json.dumps(document).encode(), **{header: SECRET.decode()})


@cache
def web_certificate(
    name: str = CERTIFICATE_NAME,
    *,
    key: str = "paypal",
    issuer: str = "paypal root",
    years: tuple[int, int] = (2025, 2035),
    usage: x509.ObjectIdentifier = ExtendedKeyUsageOID.SERVER_AUTH,
) -> bytes:
    """A server's certificate in PEM, as public authorities issue them."""
    authority = private_key(issuer)
    builder = _builder(name, issuer, private_key(key), years)
    builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), True)
    builder = builder.add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), False)
    builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), False)
    builder = builder.add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_public_key(authority.public_key()), False
    )
    return builder.sign(authority, SHA256()).public_bytes(Encoding.PEM)


@cache
def web_root(name: str = "paypal root") -> bytes:
    """An authority's certificate in PEM."""
    key = private_key(name)
    builder = _builder(name, name, key, (2025, 2035))
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
    builder = builder.add_extension(
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False
    )
    builder = builder.add_extension(
        x509.KeyUsage(
            digital_signature=False,
            content_commitment=False,
            key_encipherment=False,
            data_encipherment=False,
            key_agreement=False,
            key_cert_sign=True,
            crl_sign=True,
            encipher_only=False,
            decipher_only=False,
        ),
        True,
    )
    return builder.sign(key, SHA256()).public_bytes(Encoding.PEM)


def _builder(
    name: str, issuer: str, key: RSAPrivateKey, years: tuple[int, int]
) -> x509.CertificateBuilder:
    return x509.CertificateBuilder(
        subject_name=x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]),
        issuer_name=x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]),
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=datetime(years[0], 1, 1, tzinfo=UTC),
        not_valid_after=datetime(years[1], 1, 1, tzinfo=UTC),
    )


def _in_items(*fields: str) -> set[str]:
    return {f"notificationItems.0.NotificationRequestItem.{field}" for field in fields}


@cache
def _senders() -> Mapping[str, Sender]:
    key = Key("k0", "signature", SECRET)
    senders = [
        Sender(
            "adyen",
            an_account("ShopECOM", Key("k0", "signature", ADYEN_KEY)),
            Assurance.PARTIAL,
            adyen,
            {},
            unsigned=frozenset(
                _in_items("additionalData.authCode", "eventDate", "paymentMethod", "reason")
                | {"live"}
            ),
        ),
        Sender(
            "midtrans",
            an_account("G000000001", key),
            Assurance.PARTIAL,
            midtrans,
            {},
            unsigned=frozenset(MIDTRANS_NOTIFICATION) - {"order_id", "status_code", "gross_amount"},
        ),
        # A flipped bit always changes a CRC32; several chosen ones do not (see the samples).
        Sender(
            "paypal",
            an_account(
                "MERCHANT1",
                Key("k0", "certificate", web_certificate()),
                webhook_ids=[WEBHOOK_ID],
            ),
            Assurance.PARTIAL,
            paypal,
            PAYPAL_EVENT,
        ),
        Sender(
            "braintree",
            an_account("synth", Key(PUBLIC_KEY, "signature", SECRET)),
            Assurance.WHOLE,
            braintree,
            ("transaction_settled", BRAINTREE_TRANSACTION),
            key_id=PUBLIC_KEY,
        ),
        Sender(
            "mollie_classic",
            an_account("pfl_1"),
            Assurance.NONE,
            as_form,
            b"id=tr_5B8cwPMGnU6qLbRvo7qEZo",
            unsigned=None,
            key_id="none",
        ),
        Sender(
            "xendit",
            an_account("5781d19b", key),
            Assurance.NONE,
            with_token("x-callback-token"),
            XENDIT_INVOICE,
            unsigned=None,
        ),
        Sender(
            "flutterwave_v3",
            an_account("flw", key),
            Assurance.NONE,
            with_token("verif-hash"),
            FLUTTERWAVE_EVENT,
            unsigned=None,
        ),
    ]
    return {sender.name: sender for sender in senders}


def sender(name: str) -> Sender:
    """The sender of that provider."""
    return _senders()[name]


HINTS: Final = ("flutterwave_v3", "mollie_classic", "xendit")
SENDERS: Final = ("adyen", "braintree", "midtrans", "paypal", *HINTS)
