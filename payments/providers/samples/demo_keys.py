"""Key pairs for test accounts at providers whose private key only they have."""

import secrets
import string
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import NameOID

from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import CERTIFICATE_PURPOSE, Key
from payments.providers.wechatpay_v3_resource import DECRYPTION_PURPOSE

#: Those that sign with RSA; others sign with a secret that the account has as well.
PROVIDERS: Final = ("alipay", "paypal", "unionpay", "wechatpay_v3")
_VALID_FOR: Final = timedelta(days=365)


class DemoKeys(NamedTuple):
    """What an account is given, and the PEM of the private key that nobody should need to keep."""

    keys: tuple[Key, ...]
    private_pem: bytes


def demo_keys(provider_name: str, *, now: datetime) -> DemoKeys:
    """A new pair, in the form in which this provider (one of `PROVIDERS`) publishes its half."""
    pair = generate_private_key(65537, 2048)
    pem = pair.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public = pair.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    match provider_name:
        case "alipay":
            keys = [Key("demo", KEY_PURPOSE, public)]
        case "wechatpay_v3":
            letters = string.ascii_letters + string.digits
            apiv3_key = "".join(secrets.choice(letters) for _ in range(32)).encode()
            keys = [
                Key("PUB_KEY_ID_0000000000000000000000000000", KEY_PURPOSE, public),
                Key("demo", DECRYPTION_PURPOSE, apiv3_key),
            ]
        case _:
            keys = [Key("demo", CERTIFICATE_PURPOSE, _certificate(pair, now))]
    return DemoKeys(tuple(keys), pem)


def _certificate(pair: RSAPrivateKey, now: datetime) -> bytes:
    """A certificate that nobody but this account trusts."""
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Demo, trusted by nobody")])
    builder = x509.CertificateBuilder(
        subject_name=name,
        issuer_name=name,
        public_key=pair.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - timedelta(days=1),
        not_valid_after=now + _VALID_FOR,
    )
    return builder.sign(pair, SHA256()).public_bytes(Encoding.PEM)
