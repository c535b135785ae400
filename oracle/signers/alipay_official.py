"""Alipay by its own SDK: it signs and verifies. It has no function for a whole notification."""

from collections.abc import Mapping

from alipay.aop.api.util.SignatureUtils import get_sign_content, sign_with_rsa2, verify_with_rsa

from oracle.signers import openssl
from oracle.signers.alipay_form import ALIPAYS, Sdk
from oracle.signers.cases import run


def bare(pem: str) -> str:
    """The base64 between a PEM's lines of dashes."""
    return "".join(pem.strip().splitlines()[1:-1])


def sign(fields: Mapping[str, str], key: openssl.RsaKey, charset: str) -> str:
    """The signature."""
    pkcs1 = openssl.run("rsa", "-in", key.path, "-traditional").decode()
    return str(sign_with_rsa2(bare(pkcs1), get_sign_content(dict(fields)), charset))


def verify(fields: dict[str, str], signature: str, charset: str) -> object:
    """Of a notification neither sign nor sign_type is signed."""
    fields.pop("sign_type", None)
    return verify_with_rsa(
        bare(ALIPAYS.public_pem), get_sign_content(fields).encode(charset), signature
    )


if __name__ == "__main__":
    run(Sdk("alipay-sdk-python", sign, verify).signer())
