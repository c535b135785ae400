"""Make a notification as Alipay would, signed with a private key of one's own."""

from collections.abc import Mapping
from urllib.parse import urlencode

from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from payments.providers.alipay import UNSIGNED
from payments.providers.rsa_sign import signature
from payments.providers.sorted_params import to_sign


def signed_form(fields: Mapping[bytes, bytes], key: RSAPrivateKey) -> bytes:
    """The body of the request: the fields, ``sign`` and ``sign_type``."""
    sign = signature(key, to_sign(fields, without=UNSIGNED))
    return urlencode({**fields, b"sign": sign, b"sign_type": b"RSA2"}).encode()
