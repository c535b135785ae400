"""The addresses and secrets of the servers that `manage.py up` runs, for commands beside it.

`up` writes `var/runtime.env`; the settings read it where the environment names no database. So
`manage.py demo` in another terminal finds the database without being told.
"""

import os
from collections.abc import Mapping
from pathlib import Path

from config.embedded import private_file

#: What is left word of: whatever the service was given, so that a command beside it decides as it
#: does. `RELAY` or `EVENT_SOURCE` known to the service alone would make events of two kinds.
NAMES = (
    *("DATABASE_URL", "BROKER_URL", "SECRET_KEY", "VAULT_KEYS"),
    *("PORT", "PUBLIC_URL", "SIMULATOR_PORT", "ALLOWED_HOSTS", "TRUSTED_PROXY", "HTTPS_ONLY"),
    *("AMQP_URL", "AMQP_EXCHANGE", "AMQP_QUEUE"),
    *("EVENT_STREAM", "EVENT_STREAM_URL", "EVENT_STREAM_LENGTH_MAX"),
    *("KAFKA_SERVERS", "KAFKA_TOPIC", "KAFKA_OPTIONS"),
    *("EVENT_SOURCE", "RELAY", "CDC_SLOT_BYTES_MAX", "METRICS_TOKEN"),
    *("OUTBOX_KEPT_DAYS", "OUTBOX_FOLLOWERS_PASS", "OUTBOX_WEBHOOK_ALLOW_PRIVATE"),
    *("INBOX_KEPT_DAYS", "PARKED_GRACE_MINUTES"),
    *("CONSOLE_IDLE_MINUTES", "CONSOLE_SESSION_HOURS"),
    *("CONSOLE_SECOND_FACTOR", "CONSOLE_SECOND_FACTOR_ROLES"),
    *("NOTIFY_EVERY_MINUTES", "NOTIFY_FROM"),
    *("EMAIL_HOST", "EMAIL_PORT", "EMAIL_HOST_USER", "EMAIL_HOST_PASSWORD", "EMAIL_SAFETY"),
    *("IDEMPOTENCY_KEPT_DAYS", "IDEMPOTENCY_FRONT_URL", "IDEMPOTENCY_KEYS_PER_DAY"),
    *("API_CALLS_PER_MINUTE", "DATABASE_CONN_MAX_AGE", "DATABASE_PREPARE_AFTER"),
    *("DATABASE_STATEMENT_TIMEOUT_MS", "DATABASE_LOCK_TIMEOUT_MS"),
)
#: What each process may have as it likes.
NOT_SHARED = ("LOG_LEVEL", "DEBUG")

#: What this process was not given and found in the file.
filled: set[str] = set()


def load(base_dir: Path) -> None:
    """Fill in what the environment does not say, unless it names a database of its own."""
    if os.environ.get("DATABASE_URL"):
        return
    for name, value in read(runtime_file(base_dir)).items():
        if name not in os.environ:
            os.environ[name] = value
            filled.add(name)


def read(path: Path) -> dict[str, str]:
    """The variables in a file of `NAME=value` lines; none if there is no such file."""
    try:
        lines = path.read_text().splitlines()
    except FileNotFoundError:
        return {}
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name: value for name, _, value in pairs}


def write(path: Path, variables: Mapping[str, str]) -> None:
    """Keep these variables where only this user can read them."""
    private_file.write(path, "".join(f"{name}={value}\n" for name, value in variables.items()))


def runtime_file(base_dir: Path) -> Path:
    """Where `up` leaves word."""
    return base_dir / "var" / "runtime.env"
