"""Check RSA signatures: PKCS #1 v1.5 with SHA-256, and nothing else.

The padding and the hash are never taken from a message. A signature is accepted in one spelling
only: base64 with its padding, of exactly the key's length.
"""

import base64
import binascii
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from cryptography import x509
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_der_public_key, load_pem_public_key

from payments.providers.port import Key, Misconfigured

BITS_MIN: Final = 2048
_BITS_MAX: Final = 8192
_EXPONENT_MIN: Final = 65537
_CERTIFICATE: Final = b"-----BEGIN CERTIFICATE-----"


def public_key(key: Key) -> RSAPublicKey:
    """The public key: PEM, the bare base64 that consoles show, or a certificate's.

    Raises Misconfigured for anything else, and for a key that can be broken.
    """
    if _CERTIFICATE in key.material:
        return strong(certificate(key).public_key(), key)
    try:
        if b"-----BEGIN" in key.material:
            loaded = load_pem_public_key(key.material)
        else:
            loaded = load_der_public_key(base64.b64decode(key.material, validate=True))
    except (ValueError, UnsupportedAlgorithm):
        raise Misconfigured(
            f"key {key.key_id!r} is not a public key: give the provider's RSA public key as PEM or"
            " as the base64 text that its console shows"
        ) from None
    return strong(loaded, key)


def certificate(key: Key) -> x509.Certificate:
    """The certificate in a key's material. Raises Misconfigured if there is none."""
    try:
        return x509.load_pem_x509_certificate(key.material)
    except (ValueError, x509.InvalidVersion):
        raise Misconfigured(f"key {key.key_id!r} is not a certificate in PEM") from None


def strong(loaded: object, key: Key) -> RSAPublicKey:
    """The same key, if it is an RSA key that cannot be broken. Raises Misconfigured."""
    if not isinstance(loaded, RSAPublicKey):
        raise Misconfigured(f"key {key.key_id!r} is not an RSA key")
    if not BITS_MIN <= loaded.key_size <= _BITS_MAX:
        raise Misconfigured(
            f"key {key.key_id!r} has {loaded.key_size} bits; {BITS_MIN} to {_BITS_MAX} are accepted"
        )
    if loaded.public_numbers().e < _EXPONENT_MIN:
        raise Misconfigured(f"key {key.key_id!r} has a public exponent below {_EXPONENT_MIN}")
    return loaded


def is_signed(key: RSAPublicKey, message: bytes, signature: bytes) -> bool:
    """Whether that base64 text is the key's signature of the message. Never raises."""
    try:
        raw = base64.b64decode(signature, validate=True)
        # The decoder ignores the last character's spare bits; two spellings are one too many.
        if base64.b64encode(raw) != signature or len(raw) != key.key_size // 8:
            return False
        key.verify(raw, message, PKCS1v15(), SHA256())
    except (binascii.Error, InvalidSignature, ValueError):
        return False
    return True


def valid_at(shown: x509.Certificate, now: datetime) -> bool:
    """Whether the certificate is valid at that time; both ends are inclusive."""
    return shown.not_valid_before_utc <= now <= shown.not_valid_after_utc


def signing_key(
    keys: Iterable[Key], message: bytes, signature: bytes, *, now: datetime
) -> Key | None:
    """The first of the keys that is valid now and made the signature."""
    for key in keys:
        try:
            if not key.valid_at(now):
                continue
            if _CERTIFICATE in key.material and not valid_at(certificate(key), now):
                continue
            if is_signed(public_key(key), message, signature):
                return key
        except Misconfigured:  # check_settings reports it; here it merely proves nothing
            continue
    return None
