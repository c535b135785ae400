"""Make a notice as UnionPay would, signed with a key and a certificate of one's own."""

from collections.abc import Mapping
from urllib.parse import urlencode

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from payments.providers.rsa_sign import signature
from payments.providers.unionpay import SIGN_METHOD, VERSION, digest_to_sign


def signed_form(fields: Mapping[bytes, bytes], key: RSAPrivateKey, certificate_pem: bytes) -> bytes:
    """The body of the request: the fields, and those that carry the signature."""
    whole = {
        b"version": VERSION,
        b"signMethod": SIGN_METHOD,
        b"signPubKeyCert": certificate_pem,
        **fields,
    }
    return urlencode({**whole, b"signature": signature(key, digest_to_sign(whole))}).encode()
