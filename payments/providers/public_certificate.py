"""Whether a certificate was issued by a public authority for a name, and is valid now."""

import ssl
import warnings
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from functools import cache
from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.utils import CryptographyDeprecationWarning
from cryptography.x509.verification import PolicyBuilder, Store, VerificationError

from payments.providers.port import Key, Misconfigured
from payments.providers.rsa_verify import strong

_CHAIN_MAX: Final = 8


@cache
def public_roots() -> tuple[x509.Certificate, ...]:
    """The authorities that this computer trusts. Raises Misconfigured if it knows none."""
    roots = []
    with warnings.catch_warnings():
        # Some old authorities' certificates break today's rules; they vouch for nobody here.
        warnings.simplefilter("error", CryptographyDeprecationWarning)
        for der in ssl.create_default_context().get_ca_certs(binary_form=True):
            with suppress(ValueError, x509.InvalidVersion, CryptographyDeprecationWarning):
                roots.append(x509.load_der_x509_certificate(der))
    if not roots:
        raise Misconfigured(
            "this computer trusts no certificate authority: install its CA certificates, or give"
            " the root in settings.trust_root_pem"
        )
    return tuple(roots)


def roots_in(pem: str) -> tuple[x509.Certificate, ...]:
    """The certificates in a PEM text. Raises Misconfigured if there are none."""
    try:
        return tuple(x509.load_pem_x509_certificates(pem.encode()))
    except (ValueError, x509.InvalidVersion):
        raise Misconfigured("settings.trust_root_pem has no certificate in PEM") from None


def vouched_key(
    pem: bytes, *, name: str, roots: Sequence[x509.Certificate], now: datetime
) -> RSAPublicKey | None:
    """The key of the first certificate in the PEM, if a root vouches for it. Never raises.

    The others are what may stand between: a chain of RFC 5280 by the rules for servers on the
    web, to the DNS name.
    """
    try:
        leaf, *between = x509.load_pem_x509_certificates(pem)
        if len(between) > _CHAIN_MAX:
            return None
        verifier = (
            PolicyBuilder()
            .store(Store(list(roots)))
            .time(now)
            .build_server_verifier(x509.DNSName(name))
        )
        verifier.verify(leaf, between)
        return strong(leaf.public_key(), Key("fetched", "certificate", pem))
    except (
        ValueError,
        TypeError,
        UnsupportedAlgorithm,
        VerificationError,
        x509.InvalidVersion,
    ):
        return None
