"""Alipay by python-alipay-sdk (not Alipay's own): it signs and verifies."""

from collections.abc import Mapping
from functools import cache
from urllib.parse import parse_qs

from alipay import AliPay

from oracle.signers import openssl
from oracle.signers.alipay_form import ALIPAYS, APP, Sdk
from oracle.signers.cases import run


@cache
def client(key: openssl.RsaKey) -> AliPay:
    """The SDK: it signs with the key as Alipay would, and verifies as a merchant."""
    return AliPay(APP, None, key.private_pem, ALIPAYS.public_pem, "RSA2")


def sign(fields: Mapping[str, str], key: openssl.RsaKey, charset: str) -> str:
    """The signature."""
    if charset != "utf-8":  # it knows only UTF-8
        text = "&".join(f"{name}={fields[name]}" for name in sorted(fields))
        return key.sign(text.encode(charset))
    return parse_qs(client(key).sign_data(dict(fields)))["sign"][0]


SDK = Sdk(
    "python-alipay-sdk",
    sign,
    lambda fields, signature, _: client(ALIPAYS).verify(fields, signature),
)

if __name__ == "__main__":
    run(SDK.signer())
