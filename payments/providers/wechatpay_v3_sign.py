"""Make WeChat Pay APIv3 notifications with a private key and an APIv3 key of one's own."""

import base64
from datetime import datetime

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from payments.providers.rsa_sign import signature
from payments.providers.wechatpay_v3_resource import ALGORITHM
from payments.providers.wechatpay_v3_signature import SIGNATURE_TYPE, signed_text


def sealed(content: bytes, apiv3_key: bytes, *, nonce: str, associated_data: str) -> dict[str, str]:
    """The ``resource`` of a notification; the nonce has 12 characters."""
    ciphertext = AESGCM(apiv3_key).encrypt(nonce.encode(), content, associated_data.encode())
    return {
        "algorithm": ALGORITHM,
        "ciphertext": base64.b64encode(ciphertext).decode(),
        "nonce": nonce,
        "associated_data": associated_data,
    }


def signed_headers(
    body: bytes, key: RSAPrivateKey, *, serial: str, nonce: str, now: datetime
) -> dict[str, str]:
    """The headers, in lower case, with which WeChat Pay would send this body at that time."""
    timestamp = str(int(now.timestamp()))
    return {
        "content-type": "application/json",
        "wechatpay-timestamp": timestamp,
        "wechatpay-nonce": nonce,
        "wechatpay-serial": serial,
        "wechatpay-signature": signature(key, signed_text(timestamp, nonce, body)).decode(),
        "wechatpay-signature-type": SIGNATURE_TYPE,
    }
