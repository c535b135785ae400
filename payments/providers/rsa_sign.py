"""Sign with RSA as a provider does: for trying things out with a key pair of one's own."""

import base64

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from payments.providers.port import Misconfigured


def private_key(pem: bytes) -> RSAPrivateKey:
    """The private key in a PEM file without a password. Raises Misconfigured."""
    try:
        loaded = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise Misconfigured("not a private key in PEM without a password") from None
    if not isinstance(loaded, RSAPrivateKey):
        raise Misconfigured("not an RSA key")
    return loaded


def signature(key: RSAPrivateKey, message: bytes) -> bytes:
    """The base64 text of the signature: PKCS #1 v1.5 with SHA-256."""
    return base64.b64encode(key.sign(message, PKCS1v15(), SHA256()))
