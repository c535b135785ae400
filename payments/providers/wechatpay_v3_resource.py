"""The encrypted part of a WeChat Pay APIv3 notification: AES-256-GCM with the APIv3 key.

The nonce is 12 ASCII characters, the associated data a text that may be empty, the ciphertext
base64 with the tag at its end.
"""

import base64
import binascii
from collections.abc import Iterable
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from orders.strict_json import StrictJsonError, mapping, parse, required, text
from payments.providers.port import Key, Misconfigured

DECRYPTION_PURPOSE: Final = "decryption"
ALGORITHM: Final = "AEAD_AES_256_GCM"
_KEY_BYTES: Final = 32
_NONCE_BYTES: Final = 12
_TAG_BYTES: Final = 16


class CannotOpen(ValueError):
    """No configured APIv3 key opens the resource."""


class OtherAlgorithm(CannotOpen):
    """The resource is encrypted by another algorithm."""


def check_decryption_key(key: Key) -> None:
    """Refuse what is not an APIv3 key. Raises Misconfigured."""
    if len(key.material) != _KEY_BYTES or not key.material.isalnum():
        raise Misconfigured(
            f"key {key.key_id!r} is not an APIv3 key: that one is {_KEY_BYTES} letters and digits,"
            " which you have set in the merchant platform"
        )


def opened(envelope: object, keys: Iterable[Key]) -> tuple[Any, Key]:
    """The decrypted resource as JSON, and the key that opened it.

    Raises StrictJsonError if the resource or its content has another form, OtherAlgorithm, and
    CannotOpen.
    """
    resource = required(mapping(envelope, "resource"), "resource")
    if text(resource, "algorithm") != ALGORITHM:
        raise OtherAlgorithm("the resource is encrypted by an algorithm that is not supported")
    nonce = (text(resource, "nonce") or "").encode()
    if len(nonce) != _NONCE_BYTES:
        raise StrictJsonError("resource.nonce is not 12 bytes")
    sealed = _base64(required(text(resource, "ciphertext"), "resource.ciphertext"))
    associated = (text(resource, "associated_data") or "").encode()
    for key in keys:
        if key.purpose != DECRYPTION_PURPOSE:
            continue
        try:
            plain = AESGCM(key.material).decrypt(nonce, sealed, associated)
        except (InvalidTag, ValueError):  # ValueError: not a key; check_settings reports it
            continue
        return parse(plain), key
    raise CannotOpen("no configured APIv3 key opens the resource")


def _base64(written: str) -> bytes:
    try:
        sealed = base64.b64decode(written, validate=True)
    except (binascii.Error, ValueError):
        raise StrictJsonError("resource.ciphertext is not base64") from None
    if len(sealed) < _TAG_BYTES:
        raise StrictJsonError("resource.ciphertext is too short")
    return sealed
