"""Whether the certificate in a UnionPay message is UnionPay's, by the account's own pinned ones."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.x509.oid import NameOID

from payments.providers.port import Key, Misconfigured
from payments.providers.rsa_verify import certificate, strong, valid_at

NAME: Final = "中国银联股份有限公司"
TEST_NAME: Final = "00040000:SIGN"
_NAME_PART: Final = 2
_BYTES_MAX: Final = 8192
_CHAIN_MAX: Final = 4
_HASHES: Final = ("sha256", "sha384", "sha512")


class Signer(NamedTuple):
    """The key of a trusted certificate, and the pinned key that vouches for it."""

    public_key: RSAPublicKey
    key_id: str


class _Pinned(NamedTuple):
    certificate: x509.Certificate
    key: Key


def trusted(pem: bytes, keys: Sequence[Key], *, live: bool, now: datetime) -> Signer | None:
    """The signer, if the PEM is UnionPay's certificate and valid now. Never raises."""
    if len(pem) > _BYTES_MAX:
        return None
    pinned = list(_loaded(keys))
    try:
        leaf = x509.load_pem_x509_certificate(pem)
        key_id = _vouching(leaf, pinned, live=live, now=now)
        if key_id is None:
            return None
        return Signer(strong(leaf.public_key(), Key(key_id, "", b"")), key_id)
    except Exception:  # noqa: BLE001 - a stranger's certificate is parsed piece by piece, and each
        return None  # piece has errors of its own: versions, names, dates, algorithms, keys


def _vouching(
    leaf: x509.Certificate, pinned: Sequence[_Pinned], *, live: bool, now: datetime
) -> str | None:
    if not valid_at(leaf, now):
        return None
    for each in pinned:
        if each.certificate == leaf:
            return each.key.key_id
    if not _is_unionpay(leaf, live=live):
        return None
    issuer = first = _issuer(leaf, pinned, now)
    for _ in range(_CHAIN_MAX):
        if first is None or issuer is None:
            return None
        if issuer.certificate.subject == issuer.certificate.issuer:
            return first.key.key_id
        issuer = _issuer(issuer.certificate, pinned, now)
    return None


def _issuer(issued: x509.Certificate, pinned: Sequence[_Pinned], now: datetime) -> _Pinned | None:
    """The pinned certificate that has issued this one by a hash that holds, and is valid now."""
    issued_by = issued.signature_hash_algorithm
    if issued_by is None or issued_by.name not in _HASHES:
        return None
    for each in pinned:
        try:
            issued.verify_directly_issued_by(each.certificate)
        except (ValueError, TypeError, InvalidSignature):
            continue
        if valid_at(each.certificate, now):
            return each
    return None


def _is_unionpay(leaf: x509.Certificate, *, live: bool) -> bool:
    """Whether the third part of the common name (``041@..@name@..``) is UnionPay's."""
    names = leaf.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    parts = str(names[0].value).split("@") if len(names) == 1 else []
    allowed = (NAME,) if live else (NAME, TEST_NAME)
    return len(parts) > _NAME_PART and parts[_NAME_PART] in allowed


def _loaded(keys: Sequence[Key]) -> list[_Pinned]:
    loaded = []
    for key in keys:
        try:
            loaded.append(_Pinned(certificate(key), key))
        except Misconfigured:  # check_settings reports it; here it merely proves nothing
            continue
    return loaded
