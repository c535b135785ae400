"""What must be right before the service takes money's word: secrets, exposure, durability."""

from typing import Final

from cryptography.fernet import Fernet
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

SECRET_LENGTH_MIN: Final = 40
SECRET_SYMBOLS_MIN: Final = 10
#: Words that examples and tutorials use; none of them may guard anything.
DEFAULT_WORDS: Final = ("changeme", "change-me", "insecure", "secret-key", "example", "default")


def refuse_unsafe_settings() -> None:
    """Raise ImproperlyConfigured, naming every unsafe setting at once and its remedy."""
    _refuse([*_secret_problems(), *_vault_problems(), *_exposure_problems()])


def refuse_unsafe_database() -> None:
    """Raise ImproperlyConfigured if the database may forget a commit that it has confirmed.

    Needs the database; OperationalError when it is away.
    """
    _refuse(durability_problems())


def durability_problems() -> list[str]:
    """The database's settings under which a confirmed commit could be lost, with the remedy."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT name, setting FROM pg_settings"
            " WHERE name IN ('synchronous_commit', 'fsync', 'full_page_writes') AND setting = 'off'"
        )
        return [
            f"PostgreSQL runs with {name}=off: a confirmed callback could be lost in a crash. "
            f"Set {name}=on for this role, database and server."
            for name, _ in cursor.fetchall()
        ]


def _secret_problems() -> list[str]:
    secret = settings.SECRET_KEY
    if len(secret) < SECRET_LENGTH_MIN or len(set(secret)) < SECRET_SYMBOLS_MIN:
        return [f"SECRET_KEY is shorter than {SECRET_LENGTH_MIN} characters or hardly random."]
    if any(word in secret.lower() for word in DEFAULT_WORDS):
        return ["SECRET_KEY is an example's; make one of your own (see .env.example)."]
    return []


def _vault_problems() -> list[str]:
    if not settings.VAULT_KEYS:
        return ["VAULT_KEYS is empty: provider keys could not be encrypted at rest."]
    for position, key in enumerate(settings.VAULT_KEYS, start=1):
        try:
            Fernet(key)
        except ValueError:
            return [f"VAULT_KEYS: key {position} is not 32 bytes in URL-safe base64."]
        if len(set(key)) < SECRET_SYMBOLS_MIN:
            return [f"VAULT_KEYS: key {position} is hardly random."]
    return []


def _exposure_problems() -> list[str]:
    problems = []
    if settings.DEBUG:
        problems.append("DEBUG is on: error pages would show secrets. Unset DEBUG.")
    if "*" in settings.ALLOWED_HOSTS:
        problems.append("ALLOWED_HOSTS contains *: name the hosts that callbacks are sent to.")
    return problems


def _refuse(problems: list[str]) -> None:
    if problems:
        raise ImproperlyConfigured("Refusing to start. " + " ".join(problems))
