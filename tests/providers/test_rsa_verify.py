"""RSA signatures and keys, honest and forged."""

import base64
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, padding
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, RSAPublicKey
from cryptography.hazmat.primitives.hashes import SHA1, SHA256, SHA512
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from payments.providers.port import Key, Misconfigured
from payments.providers.rsa_sign import signature
from payments.providers.rsa_verify import is_signed, public_key, signing_key
from tests.providers.rsa_senders import NOW, certificate, private_key, public_pem

MESSAGE = b"app_id=1&total_amount=10.99"
#: What stands before the digest in a PKCS #1 v1.5 signature with SHA-256, and the digest.
DIGEST_INFO = bytes.fromhex("3031300d060960864801650304020105000420") + sha256(MESSAGE).digest()


@pytest.fixture
def key() -> RSAPrivateKey:
    return private_key("alipay")


def written(number: int, length: int = 256) -> bytes:
    return base64.b64encode(number.to_bytes(length, "big"))


def raw_signature(key: RSAPrivateKey, block: bytes) -> bytes:
    """Any block "signed": what a broken signer, or nobody, would make."""
    numbers = key.private_numbers()
    modulus = numbers.public_numbers.n
    return written(pow(int.from_bytes(block, "big"), numbers.d, modulus))


def padded(
    tail: bytes, *, length: int = 256, head: bytes = b"\x00\x01", fill: bytes = b"\xff"
) -> bytes:
    return head + fill * (length - len(head) - 1 - len(tail)) + b"\x00" + tail


def test_an_honest_signature_is_accepted(key: RSAPrivateKey) -> None:
    assert is_signed(key.public_key(), MESSAGE, signature(key, MESSAGE))
    assert is_signed(key.public_key(), MESSAGE, raw_signature(key, padded(DIGEST_INFO)))


def test_the_message_and_the_key_matter(key: RSAPrivateKey) -> None:
    assert not is_signed(key.public_key(), MESSAGE + b" ", signature(key, MESSAGE))
    assert not is_signed(private_key("other").public_key(), MESSAGE, signature(key, MESSAGE))


@pytest.mark.parametrize("hashed", [SHA1(), SHA512()])  # noqa: S303 - refused here
def test_another_hash_is_refused(key: RSAPrivateKey, hashed: SHA1 | SHA512) -> None:
    given = base64.b64encode(key.sign(MESSAGE, padding.PKCS1v15(), hashed))
    assert not is_signed(key.public_key(), MESSAGE, given)


def test_another_padding_is_refused(key: RSAPrivateKey) -> None:
    pss = padding.PSS(padding.MGF1(SHA256()), padding.PSS.MAX_LENGTH)
    given = base64.b64encode(key.sign(MESSAGE, pss, SHA256()))
    assert not is_signed(key.public_key(), MESSAGE, given)


FORGED_BLOCKS = {
    "type 2": padded(DIGEST_INFO, head=b"\x00\x02"),
    "no leading zero byte": padded(DIGEST_INFO, head=b"\x00\x00\x01"),
    "other filling": padded(DIGEST_INFO, fill=b"\xfe"),
    "garbage at the end": b"\x00\x01" + b"\xff" * 8 + b"\x00" + DIGEST_INFO + b"\x00" * 194,
    "trailing byte in the digest info": padded(DIGEST_INFO + b"\x00"),
    "digest without its info": padded(sha256(MESSAGE).digest()),
    "parameters left out": padded(
        bytes.fromhex("302f300b0609608648016503040201" + "0420") + sha256(MESSAGE).digest()
    ),
}


@pytest.mark.parametrize("block", FORGED_BLOCKS.values(), ids=FORGED_BLOCKS.keys())
def test_a_block_that_is_padded_otherwise_is_refused(key: RSAPrivateKey, block: bytes) -> None:
    assert len(block) == 256
    assert not is_signed(key.public_key(), MESSAGE, raw_signature(key, block))


def test_numbers_that_sign_nothing_are_refused(key: RSAPrivateKey) -> None:
    modulus = key.public_key().public_numbers().n
    for number in (0, 1, modulus - 1, modulus, 2**2048 - 1):
        assert not is_signed(key.public_key(), MESSAGE, written(number))
    assert not is_signed(key.public_key(), MESSAGE, written(0, length=0))


def test_a_signature_has_one_spelling(key: RSAPrivateKey) -> None:
    given = signature(key, MESSAGE)
    assert given.endswith(b"==")
    alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    last = alphabet.index(given[-3])
    assert last % 16 == 0
    for spare in range(1, 16):
        spelled = given[:-3] + alphabet[last + spare : last + spare + 1] + b"=="
        assert base64.b64decode(spelled) == base64.b64decode(given)
        assert not is_signed(key.public_key(), MESSAGE, spelled)
    for spelled in (given[:-2], given + b"\n", b"!" + given, given[:4] + b"\r\n" + given[4:]):
        assert not is_signed(key.public_key(), MESSAGE, spelled)


def test_a_signature_plus_the_modulus_is_not_the_signature(key: RSAPrivateKey) -> None:
    honest = int.from_bytes(base64.b64decode(signature(key, MESSAGE)), "big")
    larger = honest + key.public_key().public_numbers().n
    length = (larger.bit_length() + 7) // 8
    assert not is_signed(key.public_key(), MESSAGE, written(larger, length))


def test_a_forged_cube_root_is_refused_even_by_a_key_with_exponent_three() -> None:
    weak = private_key("weak", exponent=3)
    prefix = b"\x00\x01" + b"\xff" * 8 + b"\x00" + DIGEST_INFO
    target = int.from_bytes(prefix + b"\xff" * (256 - len(prefix)), "big")
    root = cube_root(target)
    block = pow(root, 3).to_bytes(256, "big")
    assert block.startswith(prefix), "a reader that skips what follows would accept it"
    assert not is_signed(weak.public_key(), MESSAGE, written(root))


def test_weak_keys_are_refused_when_they_are_configured() -> None:
    weak = Key("k9", "signature", public_pem(private_key("weak", exponent=3)))
    with pytest.raises(Misconfigured, match="'k9' has a public exponent below 65537"):
        public_key(weak)
    short = Key("k9", "signature", public_pem(private_key("short", bits=1024)))
    with pytest.raises(Misconfigured, match="'k9' has 1024 bits; 2048 to 8192 are accepted"):
        public_key(short)
    certified = certificate("CN", private_key("short", bits=1024))
    with pytest.raises(Misconfigured, match="1024 bits"):
        public_key(Key("k9", "certificate", certified))


def test_other_keys_are_refused_when_they_are_configured(key: RSAPrivateKey) -> None:
    curve = ec.generate_private_key(ec.SECP256R1()).public_key()
    pem = curve.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    with pytest.raises(Misconfigured, match="'k9' is not an RSA key"):
        public_key(Key("k9", "signature", pem))
    bare = b"".join(public_pem(key).splitlines()[1:-1])
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    for material in (
        b"",
        b"x",
        b"MIIB",
        public_pem(key)[:-60],
        b"!" + bare,
        private,
        "密钥".encode(),
    ):
        with pytest.raises(Misconfigured, match="'k9' is not a public key") as caught:
            public_key(Key("k9", "signature", material))
        assert "PRIVATE" not in str(caught.value)
    with pytest.raises(Misconfigured, match="'k9' is not a certificate"):
        public_key(Key("k9", "signature", b"-----BEGIN CERTIFICATE-----\nAAAA\n"))


def test_a_key_may_be_pem_bare_base64_or_a_certificate(key: RSAPrivateKey) -> None:
    bare = b"".join(public_pem(key).splitlines()[1:-1])
    for material in (public_pem(key), bare, certificate("alipay", key)):
        loaded = public_key(Key("k0", "signature", material))
        assert isinstance(loaded, RSAPublicKey)
        assert loaded.public_numbers() == key.public_key().public_numbers()


def test_the_key_that_signed_is_named_among_those_that_are_valid_now(key: RSAPrivateKey) -> None:
    given = signature(key, MESSAGE)
    old = Key("old", "signature", public_pem(key), not_after=NOW - timedelta(seconds=1))
    wrong = Key("wrong", "signature", public_pem(private_key("other")))
    broken = Key("broken", "signature", b"")
    right = Key("right", "signature", public_pem(key), not_after=NOW)
    assert signing_key([old, wrong, broken, right], MESSAGE, given, now=NOW) == right
    assert signing_key([old, wrong, broken], MESSAGE, given, now=NOW) is None


def test_a_certificate_proves_something_only_while_it_is_valid(key: RSAPrivateKey) -> None:
    first, last = datetime(2025, 1, 1, tzinfo=UTC), datetime(2025, 6, 1, tzinfo=UTC)
    shown = Key("c", "signature", certificate("alipay", key, valid=(first, last)))
    given = signature(key, MESSAGE)
    for now, expected in (
        (first - timedelta(seconds=1), None),
        (first, shown),
        (last, shown),
        (last + timedelta(seconds=1), None),
    ):
        assert signing_key([shown], MESSAGE, given, now=now) == expected


def cube_root(number: int) -> int:
    """The largest number whose cube is not larger."""
    low, high = 0, 1 << (number.bit_length() // 3 + 2)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if middle**3 <= number else (low, middle - 1)
    return low
