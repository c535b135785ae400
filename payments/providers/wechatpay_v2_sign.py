"""Make WeChat Pay v2 notifications: payments signed with an API key, refunds encrypted by it."""

import base64
from collections.abc import Mapping
from xml.sax.saxutils import escape

from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.padding import PKCS7

from payments.providers.sorted_params import to_sign
from payments.providers.wechatpay_v2 import UNSIGNED, hmac_sha256, md5
from payments.providers.wechatpay_v2_refund import ROOT, cipher


def signed_xml(fields: Mapping[bytes, bytes], api_key: bytes, *, legacy_md5: bool = False) -> bytes:
    """The body of a payment's request: the fields and ``sign``."""
    text = to_sign(fields, without=UNSIGNED, drop_empty=True, suffix=b"&key=" + api_key)
    sign = (md5 if legacy_md5 else hmac_sha256)(text, api_key)
    return flat_xml({**fields, b"sign": sign}, root="xml")


def refund_xml(
    fields: Mapping[bytes, bytes], inside: Mapping[bytes, bytes], api_key: bytes
) -> bytes:
    """The body of a refund's request: the fields and, encrypted, those inside."""
    padder = PKCS7(AES256.block_size).padder()
    padded = padder.update(flat_xml(inside, root=ROOT)) + padder.finalize()
    encryptor = cipher(api_key).encryptor()
    req_info = base64.b64encode(encryptor.update(padded) + encryptor.finalize())
    return flat_xml({**fields, b"req_info": req_info}, root="xml")


def flat_xml(fields: Mapping[bytes, bytes], *, root: str) -> bytes:
    """The fields as elements below the root."""
    elements = (
        f"<{name.decode()}>{escape(value.decode())}</{name.decode()}>"
        for name, value in fields.items()
    )
    return f"<{root}>{''.join(elements)}</{root}>".encode()
