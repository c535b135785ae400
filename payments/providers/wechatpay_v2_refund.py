"""The encrypted part of a WeChat Pay v2 refund notice. Encryption here proves no sender."""

import base64
import binascii
import hashlib
from collections.abc import Iterable
from typing import Final

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES256
from cryptography.hazmat.primitives.ciphers.modes import ECB
from cryptography.hazmat.primitives.padding import PKCS7

from payments.providers.flat_xml import NotFlatXml, parse_flat_xml
from payments.providers.hmac_verify import KEY_PURPOSE
from payments.providers.port import Key

ROOT: Final = "root"


class CannotOpen(ValueError):
    """No API key makes XML of ``req_info``."""


def cipher(api_key: bytes) -> Cipher[ECB]:
    """WeChat's own choice of cipher: AES-256-ECB by the lower-case hex of the key's MD5."""
    secret = hashlib.md5(api_key, usedforsecurity=False).hexdigest().encode()
    return Cipher(AES256(secret), ECB())  # noqa: S305 - the protocol's mode


def opened(req_info: bytes, keys: Iterable[Key]) -> tuple[dict[bytes, bytes], Key]:
    """The fields inside, and the key that opened them. Raises CannotOpen."""
    try:
        sealed = base64.b64decode(req_info, validate=True)
    except binascii.Error:
        raise CannotOpen("req_info is not base64") from None
    for key in keys:
        if key.purpose != KEY_PURPOSE or not key.material:
            continue
        try:
            decryptor = cipher(key.material).decryptor()
            padded = decryptor.update(sealed) + decryptor.finalize()
            unpadder = PKCS7(AES256.block_size).unpadder()
            return parse_flat_xml(unpadder.update(padded) + unpadder.finalize(), root=ROOT), key
        except (ValueError, NotFlatXml):
            continue
    raise CannotOpen("no configured key opens req_info")
