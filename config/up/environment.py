"""What the processes of one machine are told: given from outside, else made here and kept."""

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from cryptography.fernet import Fernet

from config import runtime_env


def _secret_key() -> str:
    return secrets.token_urlsafe(64)


def _vault_key() -> str:
    return Fernet.generate_key().decode()


_SECRETS = {"SECRET_KEY": _secret_key, "VAULT_KEYS": _vault_key}


class MissingSecretError(RuntimeError):
    """The database is not ours, so its secrets cannot be made up here."""


def given() -> dict[str, str]:
    """The environment as it was given, without what a former run left word of."""
    return {name: value for name, value in os.environ.items() if name not in runtime_env.filled}


def with_secrets(variables: Mapping[str, str], var: Path) -> dict[str, str]:
    """Add the secrets that are not given: made on the first run, the same ever after.

    A database that comes from outside outlives this folder, so its secrets must too: then they
    have to be given. Raises MissingSecretError.
    """
    missing = [name for name in _SECRETS if not variables.get(name)]
    if not missing:
        return dict(variables)
    if variables.get("DATABASE_URL"):
        raise MissingSecretError(
            f"DATABASE_URL is set and {' and '.join(missing)} not. What a database of yours holds "
            "can only be read with your own secrets: set them too (.env.example says how to make "
            "them)."
        )
    path = var / "secrets.env"
    kept = runtime_env.read(path)
    if any(name not in kept for name in missing):
        kept |= {name: make() for name, make in _SECRETS.items() if name not in kept}
        runtime_env.write(path, kept)
    return {**variables, **{name: kept[name] for name in missing}}
