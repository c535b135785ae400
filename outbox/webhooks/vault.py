"""What encrypts the secrets of endpoints.

This package knows nobody, so the settings name it: `OUTBOX_VAULT` is the dotted path of a module
with `seal`, `unseal` and `reseal`.
"""

from importlib import import_module
from typing import Protocol, cast

from django.conf import settings


class Vault(Protocol):
    """Each takes and gives bytes, and raises an error of its own if it has lost the key."""

    def seal(self, material: bytes) -> bytes:
        """Encrypt."""

    def unseal(self, sealed: bytes) -> bytes:
        """Decrypt."""

    def reseal(self, sealed: bytes) -> bytes:
        """Encrypt anew, with the newest key."""


def vault() -> Vault:
    """What the settings name."""
    return cast("Vault", import_module(settings.OUTBOX_VAULT))
