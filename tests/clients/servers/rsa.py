"""RSA with SHA-256 for the servers, by the library alone."""

import base64

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA256


def sign(key: RSAPrivateKey, message: bytes) -> str:
    return base64.b64encode(key.sign(message, PKCS1v15(), SHA256())).decode()


def is_good(key: RSAPublicKey, message: bytes, signature: str) -> bool:
    try:
        key.verify(base64.b64decode(signature), message, PKCS1v15(), SHA256())
    except (InvalidSignature, ValueError):
        return False
    return True
